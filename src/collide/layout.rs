//! The bytes that both engines read: one record a body, one record a hull.
//!
//! The same structs stand in `shaders/collide/types.wgsl`, `packed_body.wgsl`, `device_rows.wgsl` and `sweep_motion.wgsl`; a test
//! compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

/// A body as both engines read it, 80 bytes: checked, its rotation normalised in f32, its bounding radius known.
///
/// [`Arena::pack`](super::Arena::pack) makes it; [`DEVICE_WGSL`](crate::DEVICE_WGSL) has the same struct for kernels. A
/// simulation on the device changes `position` and `rotation` (and sets `remainder` to 0, or keeps there what rounding
/// took off the position), the rest stays as long as scale and shape do.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PackedBody {
    /// World position of the mean of the hull's vertices, rounded; [`Self::remainder`] has the rest.
    pub position: [f32; 3],
    /// Index of the hull.
    pub hull: u32,
    /// Unit quaternion, x y z w.
    pub rotation: [f32; 4],
    /// Scale along the hull's axes.
    pub scale: [f32; 3],
    /// Bounding radius in world units about the mean of the hull's vertices, scale and rounding included.
    pub radius: f32,
    /// What rounding took off the position, itself rounded: at most half a unit in the last place of it.
    pub remainder: [f32; 3],
    /// By how much τ may come out too large because the hull's mean was rounded to f32, in world units.
    pub excess: f32,
    /// Rounding radius in world units: the hull's times the least scale, and the body's own.
    pub rounding: f32,
    /// Groups that the body belongs to, a bit each.
    pub group: u32,
    /// Groups that it meets, a bit each.
    pub mask: u32,
    /// Keeps the size a multiple of 16.
    pub padding: u32,
}

/// A hull as both engines read it. Vertices are stored apart, about `mean` and in units of `radius`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct HullRecord {
    /// Mean of the vertices, in the hull's own frame and units.
    pub(crate) mean: [f32; 3],
    /// Largest distance of a vertex from `mean`, in the hull's units.
    pub(crate) radius: f32,
    /// Middle of the hull's box along its own axes, from `mean`, in the hull's frame and units.
    pub(crate) middle: [f32; 3],
    /// First vertex in the arena.
    pub(crate) vertex_offset: u32,
    /// Half the extents of that box, rounded up.
    pub(crate) half: [f32; 3],
    /// Number of vertices.
    pub(crate) vertex_count: u32,
    /// First word of the hull's direction-cell table, where it has one.
    pub(crate) cell_offset: u32,
    /// Cells along one side of a face of the direction cube; 0: no table, all vertices are scanned.
    pub(crate) cell_side: u32,
    /// Rounding radius, in the hull's units; not part of `radius` and `half`.
    pub(crate) rounding: f32,
    /// 1 for a half-space, else 0.
    pub(crate) half_space: u32,
}

/// How a body moves, as the device reads it; the same struct stands in `shaders/collide/sweep_motion.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PackedMotion {
    /// World units a second.
    pub(crate) velocity: [f32; 3],
    pub(crate) padding_0: u32,
    /// Radians a second about the world's axes, through the hull's origin.
    pub(crate) angular_velocity: [f32; 3],
    pub(crate) padding_1: u32,
}

/// One pair as a measuring query leaves it on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
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
    pub padding: [u32; 2],
}

const _: () = assert!(size_of::<PackedBody>() == 80 && size_of::<HullRecord>() == 64);
