//! The input and output of encoded queries.

use std::sync::Arc;

use crate::collide::query::device_rows::DeviceCounts;
#[cfg(doc)]
use crate::collide::query::device_rows::{IntersectionRow, ManifoldRow, MeasuredRow, SweptRow};
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;
use crate::gpu::buffer::Buffer;
use crate::gpu::pool::PooledBuffer;

/// WGSL to prepend to the caller's own kernels: the structs `PackedBody`, `PackedMotion`, `IntersectionRow`, `MeasuredRow`, `ManifoldRow`, `SweptRow` and
/// `DeviceCounts`, and the constants `STATUS_…` and `OUTCOME_…`.
pub const DEVICE_WGSL: &str = concat!(
    include_str!("../../../shaders/collide/scene/packed_body.wgsl"),
    include_str!("../../../shaders/collide/scene/packed_motion.wgsl"),
    include_str!("../../../shaders/collide/query/device_rows.wgsl")
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
    /// that they share, as rows are relative to the bodies: see [`Arena::pack_about`](crate::collide::Arena::pack_about).
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many bodies it holds, from its beginning.
        count: u32,
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
