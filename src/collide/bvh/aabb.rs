//! A world box, or the plane of a half-space in the same bytes, and the one test of the broad phase.

use bytemuck::{Pod, Zeroable};

use crate::rounding::{add, add3, dot, mul};

/// Padding of a half-space per unit of position, its own and that of the box tested against it (`67u`).
pub(crate) const PAD_PLANE: f32 = 4e-6;
/// Padding of a box that is grown, per unit of its coordinates (`4u`).
pub(crate) const PAD_GROWN: f32 = 2.5e-7;
/// Marks the record of a half-space: greater than every coordinate of a box.
pub(crate) const PLANE: f32 = f32::MAX;

/// A box along the world's axes, both ends included, or the plane of a half-space; the bytes that both engines read.
///
/// A half-space's record has `min[0] = PLANE` and `max[0] = -PLANE`, so that as a box it overlaps nothing; its unit normal
/// is `min[1], min[2], max[1]`, its offset along the normal, padded, `max[2]`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct Aabb {
    /// Least corner, world units.
    pub(crate) min: [f32; 3],
    /// Groups that the body belongs to.
    pub(crate) group: u32,
    /// Greatest corner, world units.
    pub(crate) max: [f32; 3],
    /// Groups that the body meets.
    pub(crate) mask: u32,
}

const _: () = assert!(size_of::<Aabb>() == 32);

impl Aabb {
    /// The box between two corners, of a body that meets all others.
    pub(crate) fn new(min: [f32; 3], max: [f32; 3]) -> Self {
        Self { min, group: u32::MAX, max, mask: u32::MAX }
    }

    /// Whether the closed boxes share a point.
    #[inline(always)]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Whether this is a half-space.
    #[inline(always)]
    pub(crate) fn is_plane(&self) -> bool {
        self.min[0] == PLANE
    }

    /// Whether the body is in all groups and meets all.
    #[inline(always)]
    pub(crate) fn meets_all(&self) -> bool {
        self.group & self.mask == u32::MAX
    }

    /// Whether the groups and masks of two bodies accept each other.
    #[inline(always)]
    pub(crate) fn accepts(&self, other: &Self) -> bool {
        (self.group & other.mask) != 0 && (other.group & self.mask) != 0
    }

    /// The box with `grow` more on all sides; half-spaces stay.
    #[inline(always)]
    pub(crate) fn grown(&self, grow: f32) -> Self {
        if grow == 0.0 || self.is_plane() {
            return *self;
        }
        let less = |x: f32| add(x, -add(grow, mul(PAD_GROWN, x.abs())));
        Self { min: self.min.map(less), max: self.max.map(|x| -less(-x)), ..*self }
    }

    /// Whether the box reaches into the half-space of `plane`, moved out by `grow`.
    #[inline(always)]
    pub(crate) fn reaches(&self, plane: &Self, grow: f32) -> bool {
        let n = [plane.min[1], plane.min[2], plane.max[1]];
        // The corner that lies deepest.
        let corner = |i: usize| if n[i] > 0.0 { self.min[i] } else { self.max[i] };
        let c = [corner(0), corner(1), corner(2)];
        let pad = mul(PAD_PLANE, add3(c[0].abs(), c[1].abs(), c[2].abs()));
        dot(n, c) <= add3(plane.max[2], grow, pad)
    }

    /// Whether two bodies are a candidate pair; `grow` is the part of the margin that neither box includes.
    #[inline(always)]
    pub(crate) fn meets(&self, other: &Self, grow: f32) -> bool {
        self.accepts(other)
            && match (self.is_plane(), other.is_plane()) {
                (true, true) => false,
                (true, false) => other.reaches(self, grow),
                (false, true) => self.reaches(other, grow),
                (false, false) => self.grown(grow).overlaps(other),
            }
    }
}
