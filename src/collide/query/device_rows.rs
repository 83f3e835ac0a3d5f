//! Rows and counts that a query leaves on the device.
//!
//! `shaders/collide/query/device_rows.wgsl` has the same structs; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

/// The row of one pair that a measuring query leaves on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MeasuredRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 separated, 1 touching, 2 penetrating, 3 not settled: f32 cannot decide.
    pub status: u32,
    /// Signed, in world units: the distance, or minus the depth.
    pub gap: f32,
    /// Unit vector from `a` to `b`, world frame.
    pub normal: [f32; 3],
    /// Which body's surface `point` is on: 0 for `a`, 1 for `b`. The other body's point is `gap` away along the normal.
    pub anchor: u32,
    /// The point on that body's surface, relative to the mean of its hull's vertices, world axes.
    pub point: [f32; 3],
    /// Bound of the error of the gap, in world units.
    pub error: f32,
}

/// The row of a pair that touches or overlaps, as a query leaves it on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IntersectionRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 separated, 1 touching, 2 penetrating, 3 not settled: f32 cannot decide.
    pub status: u32,
}

/// The counts of a query whose results stay on the device, and whether its capacity sufficed.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceCounts {
    /// Rows of the pairs examined, whether they fit or not.
    pub row_count: u32,
    /// Capacity for rows.
    pub row_room: u32,
    /// Pairs to examine, whether they fit or not.
    pub pair_count: u32,
    /// Capacity for pairs: no more are examined.
    pub pair_room: u32,
    /// 0 where both capacities suffice, 1 where there are too many rows, 2 where there are too many pairs, 3 for both.
    pub overflow: u32,
    /// Rows of status 3.
    pub unsettled_count: u32,
    /// Keeps the size a multiple of 16.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: [u32; 2],
}
