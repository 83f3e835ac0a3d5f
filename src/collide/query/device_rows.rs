//! Rows and counts that a query leaves on the device.
//!
//! The same structs stand in `shaders/collide/query/device_rows.wgsl`; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

/// One pair as a measuring query leaves it on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MeasuredRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 separated, 1 touching, 2 penetrating, 3 not settled: f32 cannot promise it.
    pub status: u32,
    /// Signed, in world units: the distance, or minus the depth.
    pub gap: f32,
    /// Unit vector from `a` to `b`, world frame.
    pub normal: [f32; 3],
    /// Whose surface `point` is on: 0 for `a`, 1 for `b`. The point of the other body is `gap` along the normal away.
    pub anchor: u32,
    /// A point on that body's surface, along the world's axes from the mean of its hull's vertices.
    pub point: [f32; 3],
    /// By how much the gap may be off, in world units.
    pub error: f32,
}

/// A pair that touches or overlaps, as a query leaves it on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IntersectionRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 separated, 1 touching, 2 penetrating, 3 not settled: f32 cannot promise it.
    pub status: u32,
}

/// How much a frame that stays on the device found, and whether there was room for it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceCounts {
    /// Rows of the pairs examined, whether they fit or not.
    pub row_count: u32,
    /// Rows that there is room for.
    pub row_room: u32,
    /// Pairs to examine, whether they fit or not.
    pub pair_count: u32,
    /// Pairs that there is room for: no more are examined.
    pub pair_room: u32,
    /// 0 where all is there; 1: more rows than room, 2: more pairs, 3: both.
    pub overflow: u32,
    /// Rows of status 3.
    pub unsettled_count: u32,
    /// Keeps the size a multiple of 16.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: [u32; 2],
}
