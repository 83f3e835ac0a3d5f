//! The input and output of encoded queries.

use std::sync::Arc;

use crate::collide::query::device_rows::DeviceCounts;
#[cfg(doc)]
use crate::collide::query::device_rows::{IntersectionRow, ManifoldRow, MeasuredRow, SweptRow};
use crate::collide::query::laid_out::LaidOutBodies;
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::pool::PooledBuffer;
use crate::gpu::submit::Next;
use crate::gpu::wgsl::wgsl;
use crate::pending::Pending;

/// WGSL to prepend to the caller's own kernels: the structs `PackedBody`, `PackedMotion`, `BodyPose`, `IntersectionRow`, `MeasuredRow`, `ManifoldRow`, `SweptRow`,
/// `DeviceCounts`, `EventRow` and `EventCounts`, and the constants `STATUS_…`, `OUTCOME_…` and `PHASE_…`.
pub const DEVICE_WGSL: &str = wgsl!(
    "../../../shaders/collide/scene/packed_body.wgsl",
    "../../../shaders/collide/scene/packed_motion.wgsl",
    "../../../shaders/collide/scene/body_pose.wgsl",
    "../../../shaders/collide/query/device_rows.wgsl",
    "../../../shaders/collide/query/device_events.wgsl"
);

/// Where the bodies of an encoded query come from.
#[derive(Debug, Clone, Copy)]
pub enum DeviceBodies<'a> {
    /// Bodies in host memory: they are checked, packed and uploaded.
    Host(&'a [Body]),
    /// The same with positions in f64: see [`BodyColumns::positions`](crate::collide::BodyColumns::positions). The points of rows are relative to
    /// the bodies, so they lose no digits far from the world's origin.
    HostF64 {
        /// The bodies.
        bodies: &'a [Body],
        /// World position of each body's hull's origin, in world units, in place of [`Body::position`].
        positions: &'a [[f64; 3]],
    },
    /// [`PackedBody`](crate::collide::PackedBody)s in a buffer of usage `STORAGE`, read when the encoder runs. They are not
    /// checked: a hull that does not exist, or a radius that is too small, gives wrong rows. Their positions may be relative to any origin
    /// that they share, as rows are relative to the bodies: see [`Arena::pack_about`](crate::collide::Arena::pack_about). Where the arena has
    /// statics that origin is the world's, and the buffer needs the usage `COPY_SRC` too.
    ///
    /// The host does not know which of them are half-spaces. So where the arena has the hull of one, the broad phase compares all pairs
    /// of boxes, without a tree. [`Self::Poses`] has none of these limits.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many bodies it holds, from its beginning.
        count: u32,
    },
    /// Bodies that are laid out on the device once, at poses in a buffer of usage `STORAGE`, read when the encoder runs: a
    /// [`BodyPose`](crate::collide::BodyPose) for each of them, in their order. They get the bytes that [`Arena::pack`](crate::collide::Arena::pack)
    /// gives the same bodies on the host, so that rows are the same, bit for bit.
    ///
    /// A pose that the host would refuse (a coordinate that is not finite or above 1e18, a rotation whose length is not within 1e-3 of 1) is no
    /// error. Its row is listed: see [`DeviceRows::invalid_poses`]. Such a body meets nothing. If it is in a given pair, that
    /// pair's row is unsettled.
    Poses {
        /// The bodies, of the arena of the query.
        bodies: &'a LaidOutBodies,
        /// The poses.
        poses: &'a wgpu::Buffer,
    },
}

/// Where the motions of an encoded sweep come from: one for each body of [`DeviceBodies`], in their order. Statics do not move.
#[derive(Debug, Clone, Copy)]
pub enum DeviceMotions<'a> {
    /// Motions in host memory: they are checked, packed and uploaded.
    Host(&'a [Motion]),
    /// [`PackedMotion`](crate::collide::PackedMotion)s in a buffer of usage `STORAGE`, read when the encoder runs. They are not checked: a
    /// number that is not finite, or a way of more than 1e18, gives wrong rows.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many motions it holds, from its beginning.
        count: u32,
    },
}

/// Which pairs an encoded query examines.
#[derive(Debug, Clone, Copy)]
pub enum DevicePairs<'a> {
    /// As [`Pairs::BroadPhase`](crate::collide::Pairs::BroadPhase): rows are sorted by `(a, b)`, `a < b`.
    BroadPhase,
    /// As [`Pairs::Exhaustive`](crate::collide::Pairs::Exhaustive): rows with `a < b` in a fixed order, but not sorted.
    Exhaustive,
    /// As [`Pairs::Given`](crate::collide::Pairs::Given): one row for each pair, in their order.
    Given(&'a [[u32; 2]]),
    /// The same for pairs (two u32 each) in a buffer of usage `STORAGE`, read when the encoder runs. They are not checked: a body that does
    /// not exist, or that is paired with itself, gives a wrong row.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many pairs it holds, from its beginning.
        count: u32,
    },
}

/// The capacity of an encoded query.
///
/// Memory and time grow with it, whether it is used or not: pairs are examined in windows of what one binding holds (some millions), one
/// after the other and in the same memory, and each window that the capacity allows is encoded. Rows take as much memory as their capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Capacity {
    /// Most pairs that are examined, candidates of the broad phase or all pairs. Given pairs ignore it.
    pub pairs: u32,
    /// Most rows that are kept. Given pairs ignore it.
    pub rows: u32,
}

/// The results that an encoded query leaves on the device once its encoder has run.
///
/// Nearly always there is one part, and [`rows`](Self::rows), [`counts`](Self::counts) and [`unsettled`](Self::unsettled) are its buffers.
/// A capacity for more rows than one binding of the device holds (128 MiB by WebGPU's default: 11 million [`IntersectionRow`]s, 2.8 million
/// [`MeasuredRow`]s, 4.2 million [`SweptRow`]s, 1.2 million [`ManifoldRow`]s) has several [`parts`](Self::parts).
///
/// The buffers may be larger than their content: bind the ranges that these functions return. The buffers come from a pool. When this
/// value is dropped, later queries reuse them, so keep it until your own kernels that read them are submitted.
#[derive(Debug)]
pub struct DeviceRows {
    /// At least one.
    pub(crate) parts: Vec<DevicePart>,
    /// The number of invalid poses, then their rows, where the query has poses.
    pub(crate) invalid: Option<Buffer<u32>>,
    /// Whether they are sorted by pair and have statuses.
    pub(crate) is_sorted: bool,
    pub(crate) context: Context,
    /// In a browser the other buffers of the query, which must live until the encoder is submitted.
    pub(crate) _kept: Vec<Arc<PooledBuffer>>,
}

/// The rows that one binding holds, with counts of their own.
#[derive(Debug)]
pub struct DevicePart {
    pub(crate) rows: Buffer<u32>,
    pub(crate) counts: Buffer<DeviceCounts>,
    pub(crate) unsettled: Buffer<u32>,
}

impl DeviceRows {
    /// The parts, in the order of their rows: all but the last are filled before the next has any. A kernel that reads one part reads all of
    /// them, one dispatch for each.
    pub fn parts(&self) -> &[DevicePart] {
        &self.parts
    }

    /// [`DevicePart::rows`] of the first part.
    pub fn rows(&self) -> wgpu::BufferBinding<'_> {
        self.parts[0].rows()
    }

    /// [`DevicePart::counts`] of the first part.
    pub fn counts(&self) -> wgpu::BufferBinding<'_> {
        self.parts[0].counts()
    }

    /// [`DevicePart::unsettled`] of the first part.
    pub fn unsettled(&self) -> wgpu::BufferBinding<'_> {
        self.parts[0].unsettled()
    }

    /// The invalid poses of [`DeviceBodies::Poses`], for kernels: an `array<u32>` with their number, then their rows in no particular order.
    /// There is room for all rows; those past the number are undefined. `None` for other bodies.
    pub fn invalid_poses(&self) -> Option<wgpu::BufferBinding<'_>> {
        self.invalid.as_ref().map(Buffer::binding)
    }

    /// The same for the host: the rows of invalid poses, ascending. Call it once the encoder is submitted. None for other bodies.
    ///
    /// # Cost
    /// A readback of 4 bytes; where there are invalid poses, one more of 4 bytes each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::DeviceLost`](crate::Error::DeviceLost).
    pub fn read_invalid_poses(&self) -> Result<Pending<Vec<u32>>> {
        match &self.invalid {
            Some(invalid) => read_list(&self.context, invalid.clone()),
            None => Ok(Pending::ready(Vec::new())),
        }
    }
}

/// Reads a list that begins with its length, sorted.
fn read_list(context: &Context, list: Buffer<u32>) -> Result<Pending<Vec<u32>>> {
    let label = "hullfield.collide.invalid_poses";
    let mut frame = Frame::new(context, label)?;
    let count = frame.read(&list, 0..1)?;
    frame.submit(move |results| {
        let count = (results.first(&count)? as usize).min(list.len().saturating_sub(1));
        if count == 0 {
            return Ok(Next::Answer(Vec::new()));
        }
        let mut frame = Frame::new(results.context(), label)?;
        let rows = frame.read(&list, 1..1 + count)?;
        Ok(Next::frame(frame, move |results| {
            let mut rows = results.get(&rows)?.into_owned();
            rows.sort_unstable();
            Ok(Next::Answer(rows))
        }))
    })
}

impl DevicePart {
    /// The rows: [`IntersectionRow`]s, [`MeasuredRow`]s, [`ManifoldRow`]s or [`SweptRow`]s, as many as the capacity of this part; those past
    /// [`DeviceCounts::row_count`] are undefined.
    pub fn rows(&self) -> wgpu::BufferBinding<'_> {
        self.rows.binding()
    }

    /// One [`DeviceCounts`].
    pub fn counts(&self) -> wgpu::BufferBinding<'_> {
        self.counts.binding()
    }

    /// Indices, in this part, of the rows with status or outcome 3: [`DeviceCounts::unsettled_count`] of them, in no particular order.
    pub fn unsettled(&self) -> wgpu::BufferBinding<'_> {
        self.unsettled.binding()
    }
}
