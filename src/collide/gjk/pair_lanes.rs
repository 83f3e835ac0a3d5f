//! The Minkowski differences of eight pairs, one in each lane, and their support points.
//!
//! All that is done lane by lane is one loop over the lanes without a branch, written so that the compiler makes vector instructions of
//! it, as wide as the machine has them. Only the vertices are scanned pair by pair, without branches between the scans, so that these
//! overlap.

use glam::Vec3;

use crate::collide::gjk::distance::Corner;
use crate::collide::gjk::pose::Relative;
use crate::collide::hull::blocks::HullBlocks;
use crate::collide::hull::support::Supports;

/// Number of lanes.
pub(crate) const LANES: usize = 8;

/// One number for each lane.
pub(crate) type Scalars = [f32; LANES];

/// One vector for each lane.
pub(crate) type Vectors = [Scalars; 3];

pub(crate) const NONE: Scalars = [0.0; LANES];
pub(crate) const ZERO: Vectors = [NONE; 3];

#[inline(always)]
pub(crate) fn lane(stored: &Vectors, at: usize) -> Vec3 {
    Vec3::new(stored[0][at], stored[1][at], stored[2][at])
}

#[inline(always)]
pub(crate) fn set_lane(stored: &mut Vectors, at: usize, v: Vec3) {
    stored[0][at] = v.x;
    stored[1][at] = v.y;
    stored[2][at] = v.z;
}

#[inline(always)]
pub(crate) fn select(mask: bool, yes: f32, no: f32) -> f32 {
    if mask { yes } else { no }
}

#[inline(always)]
pub(crate) fn select_wide(mask: bool, yes: Vec3, no: Vec3) -> Vec3 {
    Vec3::new(select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z))
}

#[inline(always)]
pub(crate) fn least(one: f32, other: f32) -> f32 {
    select(one < other, one, other)
}

/// Eight differences `D = A − B`, and the direction that each tries next.
#[repr(C, align(32))]
pub(crate) struct PairLanes<'a> {
    stretch_a: Vectors,
    stretch_b: Vectors,
    turn: [Vectors; 3],
    offset: Vectors,
    /// The next directions in the frames of `a` and `b`, as their stored vertices take them.
    to_a: Vectors,
    to_b: Vectors,
    /// The vertices furthest along these, as stored.
    on_a: Vectors,
    on_b: Vectors,
    hulls: [[HullBlocks<'a>; 2]; LANES],
}

impl<'a> PairLanes<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            stretch_a: ZERO,
            stretch_b: ZERO,
            turn: [ZERO; 3],
            offset: ZERO,
            to_a: ZERO,
            to_b: ZERO,
            on_a: ZERO,
            on_b: ZERO,
            hulls: [[HullBlocks::NONE; 2]; LANES],
        }
    }

    /// Puts a pair into a lane, and returns the direction to begin with: the line of the centres, or any.
    #[inline(always)]
    pub(crate) fn start(&mut self, supports: &'a Supports, at: usize, pair: &Relative<'_>) -> Vec3 {
        let Relative { hulls, stretch_a, stretch_b, turn, offset, .. } = *pair;
        self.hulls[at] = [supports.blocks(hulls[0]), supports.blocks(hulls[1])];
        set_lane(&mut self.stretch_a, at, stretch_a);
        set_lane(&mut self.stretch_b, at, stretch_b);
        for (stored, axis) in self.turn.iter_mut().zip([turn.x_axis, turn.y_axis, turn.z_axis]) {
            set_lane(stored, at, axis);
        }
        set_lane(&mut self.offset, at, offset);
        let start = select_wide(offset.dot(offset) > 0.0, offset, Vec3::X);
        self.aim(at, start);
        start
    }

    /// Finds the vertices furthest along the next direction of each lane.
    #[inline(always)]
    pub(crate) fn scan(&mut self) {
        for at in 0..LANES {
            let [hull_a, hull_b] = &self.hulls[at];
            let on_a = hull_a.furthest(lane(&self.to_a, at));
            let on_b = hull_b.furthest(lane(&self.to_b, at));
            set_lane(&mut self.on_a, at, on_a);
            set_lane(&mut self.on_b, at, on_b);
        }
    }

    /// The support point of one lane, from the vertices that were found. The roundings of a component: one of each stretch product, three
    /// products and two sums of the rotation, a difference and a sum.
    #[inline(always)]
    pub(crate) fn corner(&self, at: usize) -> Corner<Vec3> {
        let on_a = lane(&self.on_a, at) * lane(&self.stretch_a, at);
        let b = lane(&self.on_b, at) * lane(&self.stretch_b, at);
        let [x, y, z] = &self.turn;
        let b = lane(x, at) * b.x + lane(y, at) * b.y + lane(z, at) * b.z;
        Corner { point: on_a - b + lane(&self.offset, at), on_a }
    }

    /// Sets the next direction of one lane: from the origin to a point of `D`; the support point against it is wanted.
    #[inline(always)]
    pub(crate) fn aim(&mut self, at: usize, direction: Vec3) {
        let [x, y, z] = &self.turn;
        let (x, y, z) = (lane(x, at), lane(y, at), lane(z, at));
        let back = Vec3::new(x.dot(direction), y.dot(direction), z.dot(direction));
        set_lane(&mut self.to_a, at, -direction * lane(&self.stretch_a, at));
        set_lane(&mut self.to_b, at, back * lane(&self.stretch_b, at));
    }
}
