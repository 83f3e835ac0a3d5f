//! A hull as both engines read it.
//!
//! `shaders/collide/hull/record.wgsl` has the same struct; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

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
    /// Half the extents of that box, rounded up, and 4e-30 more: what boxes of bodies lose where they take small numbers as 0.
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
    /// A lower bound of how far every support plane of the hull without its rounding is from `mean`, in the hull's units: the radius of a
    /// ball inside a solid. Negative for all other hulls.
    pub(crate) inner_radius: f32,
    /// Keeps the size a multiple of 16.
    pub(crate) padding: [u32; 3],
}

impl HullRecord {
    /// The record of a removed hull: its radius is NaN, so that no body with it passes the checks.
    pub(crate) fn removed(self) -> Self {
        Self { radius: f32::NAN, ..self }
    }

    /// Whether the hull was removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.radius.is_nan()
    }
}

const _: () = assert!(size_of::<HullRecord>() == 80);
