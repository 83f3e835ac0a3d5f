//! What an encoded query takes and leaves on the device.

use std::sync::Arc;

use crate::collide::query::device_rows::DeviceCounts;
#[cfg(doc)]
use crate::collide::query::device_rows::{IntersectionRow, MeasuredRow};
use crate::collide::scene::body::Body;
use crate::gpu::buffer::Buffer;
use crate::gpu::pool::PooledBuffer;

/// WGSL of what stays on the device, to be put before a kernel of the caller's: the structs `PackedBody`,
/// `IntersectionRow`, `MeasuredRow` and `DeviceCounts`, and the constants `STATUS_…`.
pub const DEVICE_WGSL: &str = concat!(
    include_str!("../../../shaders/collide/scene/packed_body.wgsl"),
    include_str!("../../../shaders/collide/query/device_rows.wgsl")
);

/// Where the bodies of an encoded query come from.
#[derive(Debug, Clone, Copy)]
pub enum DeviceBodies<'a> {
    /// Checked, packed and uploaded.
    Host(&'a [Body]),
    /// [`PackedBody`](crate::collide::PackedBody)s in a buffer of usage `STORAGE`, read when the encoder is run. Nothing checks
    /// them: a hull that does not exist or a radius that is too small gives wrong rows.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many bodies it holds, from its beginning.
        count: u32,
    },
}

/// Which pairs an encoded query is about.
#[derive(Debug, Clone, Copy)]
pub enum DevicePairs<'a> {
    /// As [`Pairs::BroadPhase`](crate::collide::Pairs::BroadPhase): rows are sorted by `(a, b)`, `a < b`.
    BroadPhase,
    /// As [`Pairs::Exhaustive`](crate::collide::Pairs::Exhaustive): rows `a < b` in an order that is fixed, but not sorted.
    Exhaustive,
    /// As [`Pairs::Given`](crate::collide::Pairs::Given): a row for each pair, in their order.
    Given(&'a [[u32; 2]]),
    /// The same of pairs (two u32 each) in a buffer of usage `STORAGE`, read when the encoder is run. Nothing checks them:
    /// a body that does not exist, or twice the same, gives a wrong row.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many pairs it holds, from its beginning.
        count: u32,
    },
}

/// How much an encoded query has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Capacity {
    /// Pairs that are examined: candidates of the broad phase, or all pairs. Where pairs are given it does not matter.
    pub pairs: u32,
    /// Rows that are kept.
    pub rows: u32,
}

/// What an encoded query leaves on the device once its encoder has been run.
///
/// The buffers may be larger than what stands in them: bind the parts that [`rows`](Self::rows) and its like give. They
/// are lent: when this is dropped, later queries use them again, so keep it until your own kernels that read them have
/// been submitted.
#[derive(Debug)]
pub struct DeviceRows {
    pub(crate) rows: Buffer<u32>,
    pub(crate) counts: Buffer<DeviceCounts>,
    pub(crate) unsettled: Buffer<u32>,
    /// In a browser what else the encoder needs, until it is submitted.
    pub(crate) _kept: Vec<Arc<PooledBuffer>>,
}

impl DeviceRows {
    /// The rows: [`IntersectionRow`]s or [`MeasuredRow`]s, as many as there was room for; those past
    /// [`DeviceCounts::row_count`] are of no meaning.
    pub fn rows(&self) -> wgpu::BufferBinding<'_> {
        self.rows.binding()
    }

    /// One [`DeviceCounts`].
    pub fn counts(&self) -> wgpu::BufferBinding<'_> {
        self.counts.binding()
    }

    /// Indices of the rows that f32 cannot promise, [`DeviceCounts::unsettled_count`] of them, in no certain order.
    pub fn unsettled(&self) -> wgpu::BufferBinding<'_> {
        self.unsettled.binding()
    }
}
