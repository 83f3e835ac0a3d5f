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

/// The row of one pair with the points of its contact, as a query leaves it on the device, 112 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ManifoldRow {
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
    /// How many points there are: 1 to 4, and 0 where the pair is not settled.
    pub point_count: u32,
    /// Points on the surface of `a`, relative to the mean of the vertices of the anchor's hull, world axes. The fourth number is the signed gap
    /// there: the point on `b` is that far away along the normal. The deepest point is the first.
    pub points: [[f32; 4]; 4],
    /// From which body the points are measured: 0 for `a`, 1 for `b` where `a` is a half-space.
    pub anchor: u32,
    /// Bound of the error of the gap, in world units.
    pub error: f32,
    /// Keeps the size a multiple of 16.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: [u32; 2],
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

/// The row of a pair of moving bodies, as a query leaves it on the device, 32 bytes.
///
/// The time of impact is `time + rest`: the sum in f64, or `time` alone where f32 will do. A body that moves at v is then where it meets
/// the other to within 6e-8 of the way that it has come.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SweptRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 miss, 1 touching at the start, 2 hit, 3 not settled: only f64 can decide.
    pub outcome: u32,
    /// When they first meet, in seconds: 0 where they touch at the start, the duration where they miss, 0 where it is not known.
    pub time: f32,
    /// Unit vector from `a` to `b` at that time, world frame; 0 for a miss and where it is not known.
    pub normal: [f32; 3],
    /// What rounding took off the time, in seconds.
    pub rest: f32,
}

/// The counts of a query whose results stay on the device, and whether its capacity sufficed. Where rows lie in several parts, each part
/// has its own.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceCounts {
    /// Rows of this part. In the last part, which mostly is the only one, those that there is no room for count too.
    pub row_count: u32,
    /// Capacity of this part for rows.
    pub row_room: u32,
    /// Pairs to examine, whether they fit or not. Where some were not even counted, a capacity that will do.
    pub pair_count: u32,
    /// Capacity for pairs: no more are examined.
    pub pair_room: u32,
    /// 0 where both capacities suffice, 1 where there are too many rows, 2 where there are too many pairs, 3 for both. The same in all
    /// parts.
    pub overflow: u32,
    /// Rows of this part with status or outcome 3.
    pub unsettled_count: u32,
    /// Keeps the size a multiple of 16.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: [u32; 2],
}
