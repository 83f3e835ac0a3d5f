//! The input and output of encoded queries.

use std::sync::Arc;

use crate::collide::query::device_rows::DeviceCounts;
#[cfg(doc)]
use crate::collide::query::device_rows::{IntersectionRow, MeasuredRow};
use crate::collide::scene::body::Body;
use crate::gpu::buffer::Buffer;
use crate::gpu::pool::PooledBuffer;

/// WGSL to prepend to the caller's own kernels: the structs `PackedBody`,
/// `IntersectionRow`, `MeasuredRow` and `DeviceCounts`, and the constants `STATUS_…`.
pub const DEVICE_WGSL: &str = concat!(
    include_str!("../../../shaders/collide/scene/packed_body.wgsl"),
    include_str!("../../../shaders/collide/query/device_rows.wgsl")
);

/// Where the bodies of an encoded query come from.
#[derive(Debug, Clone, Copy)]
pub enum DeviceBodies<'a> {
    /// Bodies in host memory: they are checked, packed and uploaded.
    Host(&'a [Body]),
    /// [`PackedBody`](crate::collide::PackedBody)s in a buffer of usage `STORAGE`, read when the encoder runs. They are not
    /// checked: a hull that does not exist, or a radius that is too small, gives wrong rows.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// How many bodies it holds, from its beginning.
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
/// The buffers may be larger than their content: bind the ranges that [`rows`](Self::rows), [`counts`](Self::counts) and
/// [`unsettled`](Self::unsettled) return. The buffers come from a pool. When this value is dropped, later queries reuse them, so keep it
/// until your own kernels that read them are submitted.
#[derive(Debug)]
pub struct DeviceRows {
    pub(crate) rows: Buffer<u32>,
    pub(crate) counts: Buffer<DeviceCounts>,
    pub(crate) unsettled: Buffer<u32>,
    /// In a browser the other buffers of the query, which must live until the encoder is submitted.
    pub(crate) _kept: Vec<Arc<PooledBuffer>>,
}

impl DeviceRows {
    /// The rows: [`IntersectionRow`]s or [`MeasuredRow`]s, as many as the capacity; those past
    /// [`DeviceCounts::row_count`] are undefined.
    pub fn rows(&self) -> wgpu::BufferBinding<'_> {
        self.rows.binding()
    }

    /// One [`DeviceCounts`].
    pub fn counts(&self) -> wgpu::BufferBinding<'_> {
        self.counts.binding()
    }

    /// Indices of the rows with status 3, [`DeviceCounts::unsettled_count`] of them, in no particular order.
    pub fn unsettled(&self) -> wgpu::BufferBinding<'_> {
        self.unsettled.binding()
    }
}
