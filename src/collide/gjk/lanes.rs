//! Four distance searches side by side: [`distance`](crate::collide::gjk::distance) with one pair in each vector lane.
//!
//! A search takes few directions, each with several decisions that no branch predictor can learn. Here none of them is a branch: all
//! edges and faces of the simplex at the newest corner are tried, and masks select the nearest. A lane whose search has ended takes
//! the next pair, so no lane waits for another. Only the vertices are scanned pair by pair, without branches between the scans, so
//! that these overlap.
//!
//! Lanes do not affect one another, so the result of a pair does not depend on the pairs beside it.

use glam::{BVec4A, Vec3, Vec4};

use crate::collide::gjk::distance::{Corner, Goal, Nearest, StopReason, WeightedSimplex};
use crate::collide::gjk::pose::Relative;
use crate::collide::gjk::vec3x4::{LANES, LaneScalars, LaneVectors, Vec3x4, lane, set_lane, sqrt};
use crate::collide::hull::support::{BlockRange, Supports};

/// Most directions that a lane tries, and corners that are stored.
pub(crate) const ROUNDS: usize = 64;

/// No corner.
const NONE: f32 = -1.0;

/// Four distance searches.
pub(crate) struct Lanes {
    /// One bit for each lane with a running search.
    active: u32,
    hulls: [[u32; 2]; LANES],
    /// The vertex blocks to scan; where a hull has a support table, those of the last direction.
    spans: [[BlockRange; 2]; LANES],
    has_table: [bool; LANES],
    stretch_a: LaneVectors,
    stretch_b: LaneVectors,
    turn: [LaneVectors; 3],
    offset: LaneVectors,
    beyond: LaneScalars,
    within: LaneScalars,
    slack: LaneScalars,
    relative: LaneScalars,
    /// Directions left to try.
    left: LaneScalars,
    /// The direction to try next.
    direction: LaneVectors,
    /// The direction tried last, of unit length, and its lower bound.
    axis: LaneVectors,
    lower: LaneScalars,
    /// Length of the witness.
    upper: LaneScalars,
    /// Corners of the simplex, the newest first, and the round in which each was found, or [`NONE`].
    corners: [LaneVectors; 3],
    found: [LaneScalars; 3],
    /// Weights of the second and the third corner.
    weights: [LaneScalars; 2],
    /// The newest corner where a search ended with the origin inside.
    newest: LaneVectors,
    /// Rounds so far, and the points of `A` of each.
    round: usize,
    on_a: [LaneVectors; ROUNDS],
    /// Lanes that ended in the last round, and why.
    beyond_bits: u32,
    converged_bits: u32,
    inside_bits: u32,
    within_bits: u32,
}

impl Lanes {
    pub(crate) const fn new() -> Self {
        let zero = [[0.0; LANES]; 3];
        Self {
            active: 0,
            hulls: [[0; 2]; LANES],
            spans: [const { [0..1, 0..1] }; LANES],
            has_table: [false; LANES],
            stretch_a: zero,
            stretch_b: zero,
            turn: [zero; 3],
            offset: zero,
            beyond: [0.0; LANES],
            within: [0.0; LANES],
            slack: [0.0; LANES],
            relative: [0.0; LANES],
            left: [0.0; LANES],
            direction: [[1.0; LANES]; 3],
            axis: zero,
            lower: [0.0; LANES],
            upper: [0.0; LANES],
            corners: [zero; 3],
            found: [[NONE; LANES]; 3],
            weights: [[0.0; LANES]; 2],
            newest: zero,
            round: 0,
            on_a: [zero; ROUNDS],
            beyond_bits: 0,
            converged_bits: 0,
            inside_bits: 0,
            within_bits: 0,
        }
    }

    /// Whether any lane has a running search.
    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        self.active != 0
    }

    /// A lane without a search.
    #[inline(always)]
    pub(crate) fn free(&self) -> Option<usize> {
        let free = (!self.active).trailing_zeros() as usize;
        (free < LANES).then_some(free)
    }

    /// Starts a search in a lane, from the line of the centres.
    #[inline(always)]
    pub(crate) fn start(&mut self, supports: &Supports, at: usize, pair: &Relative<'_>, goal: &Goal<f32>) {
        self.active |= 1 << at;
        self.hulls[at] = pair.hulls;
        let [hull_a, hull_b] = pair.hulls;
        self.has_table[at] = !(supports.is_scanned(hull_a) & supports.is_scanned(hull_b));
        if !self.has_table[at] {
            self.spans[at] = [supports.span(hull_a, Vec3::X), supports.span(hull_b, Vec3::X)];
        }
        set_lane(&mut self.stretch_a, at, pair.stretch_a);
        set_lane(&mut self.stretch_b, at, pair.stretch_b);
        for (stored, axis) in self.turn.iter_mut().zip([pair.turn.x_axis, pair.turn.y_axis, pair.turn.z_axis])
        {
            set_lane(stored, at, axis);
        }
        set_lane(&mut self.offset, at, pair.offset);
        let start = if pair.offset.dot(pair.offset) > 0.0 { pair.offset } else { Vec3::X };
        set_lane(&mut self.direction, at, start);
        self.beyond[at] = goal.beyond;
        self.within[at] = goal.within;
        self.slack[at] = goal.slack;
        self.relative[at] = goal.relative;
        self.left[at] = goal.iteration_limit.min(ROUNDS as u32) as f32;
        self.upper[at] = 1e30;
        for found in &mut self.found {
            found[at] = NONE;
        }
        // Where the first round ends the search, the result has no witness, and this takes its place.
        set_lane(&mut self.corners[0], at, start);
    }

    /// Tries one direction in each lane. Returns one bit for each search that ended.
    #[inline(always)]
    pub(crate) fn step(&mut self, supports: &Supports) -> u32 {
        let direction = Vec3x4::load(&self.direction);
        let inverse = Vec4::ONE / sqrt(direction.dot(direction));
        let turn = [Vec3x4::load(&self.turn[0]), Vec3x4::load(&self.turn[1]), Vec3x4::load(&self.turn[2])];
        let (stretch_a, stretch_b) = (Vec3x4::load(&self.stretch_a), Vec3x4::load(&self.stretch_b));
        let to_a = (-direction).times(stretch_a).store();
        let back = Vec3x4 { x: turn[0].dot(direction), y: turn[1].dot(direction), z: turn[2].dot(direction) };
        let to_b = back.times(stretch_b).store();
        let mut a = [[0.0; LANES]; 3];
        let mut b = [[0.0; LANES]; 3];
        for at in 0..LANES {
            let along = [lane(&to_a, at), lane(&to_b, at)];
            if self.has_table[at] {
                let [hull_a, hull_b] = self.hulls[at];
                self.spans[at] = [supports.span(hull_a, along[0]), supports.span(hull_b, along[1])];
            }
            let [span_a, span_b] = &self.spans[at];
            set_lane(&mut a, at, supports.furthest_of(span_a, along[0]));
            set_lane(&mut b, at, supports.furthest_of(span_b, along[1]));
        }
        let on_a = Vec3x4::load(&a).times(stretch_a);
        let b = Vec3x4::load(&b).times(stretch_b);
        let b = turn[0].scaled(b.x) + turn[1].scaled(b.y) + turn[2].scaled(b.z);
        let newest = on_a - b + Vec3x4::load(&self.offset);
        let round = self.round % ROUNDS;
        self.round += 1;
        self.on_a[round] = on_a.store();
        self.newest = newest.store();

        let lower = direction.dot(newest) * inverse;
        let upper = Vec4::from_array(self.upper);
        self.lower = lower.to_array();
        self.axis = direction.scaled(inverse).store();
        let is_beyond = lower.cmpgt(Vec4::from_array(self.beyond));
        let slack = Vec4::from_array(self.slack) + Vec4::from_array(self.relative) * upper;
        let is_converged = (upper - lower).cmple(slack);

        let [first, second, third] = self.found;
        let found = [Vec4::from_array(first), Vec4::from_array(second), Vec4::from_array(third)];
        let [first, second, third] = &self.corners;
        let corners = [Vec3x4::load(first), Vec3x4::load(second), Vec3x4::load(third)];
        let step = reduce(newest, corners, found, round as f32);
        let length = sqrt(step.point.dot(step.point));
        let goes_on = length.cmplt(upper) & !step.inside;
        let is_within = length.cmple(Vec4::from_array(self.within));
        let is_zero = !step.direction.dot(step.direction).cmpgt(Vec4::ZERO);
        let left = Vec4::from_array(self.left) - Vec4::ONE;
        let commits = goes_on & !(is_beyond | is_converged);
        let keep =
            |new: Vec4, old: &LaneScalars| Vec4::select(commits, new, Vec4::from_array(*old)).to_array();
        let keep_wide =
            |new: Vec3x4, old: &LaneVectors| Vec3x4::select(commits, new, Vec3x4::load(old)).store();
        self.left = left.to_array();
        self.upper = keep(length, &self.upper);
        self.direction = keep_wide(step.direction, &self.direction);
        for at in 0..3 {
            self.corners[at] = keep_wide(step.corners[at], &self.corners[at]);
            self.found[at] = keep(step.found[at], &self.found[at]);
        }
        for at in 0..2 {
            self.weights[at] = keep(step.weights[at], &self.weights[at]);
        }
        let ends = !commits | is_within | is_zero | !left.cmpgt(Vec4::ZERO);
        self.beyond_bits = is_beyond.bitmask();
        self.converged_bits = is_converged.bitmask();
        self.inside_bits = step.inside.bitmask();
        self.within_bits = (commits & is_within).bitmask();
        ends.bitmask() & self.active
    }

    /// The result of a search that ended in the last round. Frees its lane.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: usize) -> Nearest<Vec3> {
        self.active &= !(1 << at);
        let is = |bits: u32| bits >> at & 1 != 0;
        let is_inside = !is(self.beyond_bits) && !is(self.converged_bits) && is(self.inside_bits);
        let end = if is(self.beyond_bits) {
            StopReason::Beyond
        } else if is(self.converged_bits) {
            StopReason::Converged
        } else if is_inside {
            StopReason::Inside
        } else if is(self.within_bits) {
            StopReason::Within
        } else {
            StopReason::Stalled
        };
        let first = Corner { point: lane(&self.corners[0], at), on_a: Vec3::ZERO };
        let mut simplex = WeightedSimplex { corners: [first; 4], weights: [1.0, 0.0, 0.0, 0.0], len: 1 };
        for k in 0..3 {
            let round = self.found[k][at];
            if round >= 0.0 {
                let on_a = lane(&self.on_a[round as usize % ROUNDS], at);
                simplex.corners[k] = Corner { point: lane(&self.corners[k], at), on_a };
                simplex.len = k + 1;
            }
        }
        let (second, third) = (self.weights[0][at], self.weights[1][at]);
        simplex.weights = [1.0 - second - third, second, third, 0.0];
        if is_inside {
            let on_a = lane(&self.on_a[(self.round - 1) % ROUNDS], at);
            simplex.corners[simplex.len.min(3)] = Corner { point: lane(&self.newest, at), on_a };
            simplex.len = 4;
        }
        Nearest {
            stop: end,
            lower: self.lower[at],
            upper: self.upper[at],
            axis: lane(&self.axis, at),
            simplex,
        }
    }
}

/// The points of four simplices closest to the origin.
struct ClosestLanes {
    /// Whether a tetrahedron holds the origin.
    inside: BVec4A,
    /// The point, a convex combination of the corners.
    point: Vec3x4,
    /// The next direction: parallel to the point in exact arithmetic, and perpendicular to the closest feature to within rounding. Any
    /// length.
    direction: Vec3x4,
    corners: [Vec3x4; 3],
    found: [Vec4; 3],
    weights: [Vec4; 2],
}

/// The nearest feature at the newest corner: the corner, an edge or a face.
#[inline(always)]
fn reduce(a: Vec3x4, corners: [Vec3x4; 3], found: [Vec4; 3], round: f32) -> ClosestLanes {
    let zero = Vec4::ZERO;
    let is_there = [found[0].cmpge(zero), found[1].cmpge(zero), found[2].cmpge(zero)];
    // An edge to a missing corner has no length, and is never the nearest.
    let b = Vec3x4::select(is_there[0], corners[0], a);
    let c = Vec3x4::select(is_there[1], corners[1], a);
    let d = Vec3x4::select(is_there[2], corners[2], a);
    let [ab, ac, ad] = [b - a, c - a, d - a];

    let edge = |ab: Vec3x4| {
        let along = -a.dot(ab);
        let squared = ab.dot(ab);
        let weight = along / squared;
        let point = a + ab.scaled(weight);
        let is_on = along.cmpgt(zero) & along.cmplt(squared);
        (Vec4::select(is_on, point.dot(point), Vec4::INFINITY), weight)
    };
    let [(on_b, weight_b), (on_c, weight_c), (on_d, weight_d)] = [edge(ab), edge(ac), edge(ad)];

    let [abc, acd, adb] = [ab.cross(ac), ac.cross(ad), ad.cross(ab)];
    let [across_b, across_c, across_d] = [ab.cross(a), ac.cross(a), ad.cross(a)];
    let [side_bc, side_cd, side_db] = [a.dot(abc), a.dot(acd), a.dot(adb)];
    let face = |normal: Vec3x4, side: Vec4, first: Vec3x4, second: Vec3x4| {
        let squared = normal.dot(normal);
        // Areas: the weights of the two older corners, times `squared`.
        let one = second.dot(normal);
        let other = -first.dot(normal);
        let is_on = one.cmpgt(zero) & other.cmpgt(zero) & (one + other).cmplt(squared);
        let inverse = Vec4::ONE / squared;
        (Vec4::select(is_on, side * side * inverse, Vec4::INFINITY), [one * inverse, other * inverse])
    };
    let (on_bc, weights_bc) = face(abc, side_bc, across_b, across_c);
    let (on_cd, weights_cd) = face(acd, side_cd, across_c, across_d);
    let (on_db, weights_db) = face(adb, side_db, across_d, across_b);

    // Outside of a face: on the other side of it than the fourth point.
    let volume = abc.dot(ad);
    let is_positive = volume.cmpgt(zero);
    let outside = |side: Vec4| (is_positive & side.cmpgt(zero)) | (!is_positive & side.cmplt(zero));
    let inside =
        is_there[0] & is_there[1] & is_there[2] & !(outside(side_bc) | outside(side_cd) | outside(side_db));

    let least_edge = on_b.min(on_c).min(on_d);
    let least_face = on_bc.min(on_cd).min(on_db);
    let is_face = least_face.cmple(least_edge) & least_face.cmplt(Vec4::INFINITY);
    let is_edge = least_edge.cmplt(a.dot(a)) & !is_face;
    let is_bc = on_bc.cmple(least_face);
    let is_cd = on_cd.cmple(least_face);
    let is_b = (is_face & is_bc) | (!is_face & on_b.cmple(least_edge));
    let is_c = (is_face & is_cd) | (!is_face & on_c.cmple(least_edge));
    let pick = |b: Vec4, c: Vec4, d: Vec4| Vec4::select(is_b, b, Vec4::select(is_c, c, d));
    let pick_second = |b: Vec4, c: Vec4, d: Vec4| Vec4::select(is_bc, c, Vec4::select(is_cd, d, b));
    let first = Vec3x4 { x: pick(b.x, c.x, d.x), y: pick(b.y, c.y, d.y), z: pick(b.z, c.z, d.z) };
    let second = Vec3x4 {
        x: pick_second(b.x, c.x, d.x),
        y: pick_second(b.y, c.y, d.y),
        z: pick_second(b.z, c.z, d.z),
    };
    let none = Vec4::splat(NONE);
    let found_first = Vec4::select(is_face | is_edge, pick(found[0], found[1], found[2]), none);
    let found_second = Vec4::select(is_face, pick_second(found[0], found[1], found[2]), none);
    let of_face = |at: usize| pick(weights_bc[at], weights_cd[at], weights_db[at]);
    let of_edge = Vec4::select(is_edge, pick(weight_b, weight_c, weight_d), zero);
    let weight_first = Vec4::select(is_face, of_face(0), of_edge);
    let weight_second = Vec4::select(is_face, of_face(1), zero);

    let (to_first, to_second) = (first - a, second - a);
    let point = a + to_first.scaled(weight_first) + to_second.scaled(weight_second);
    let normal = to_first.cross(to_second);
    let outward = Vec3x4::select(a.dot(normal).cmplt(zero), -normal, normal);
    // The point's remaining component along a segment is rounding. Subtracting it leaves only the rounding of a small number.
    let rest = Vec4::select(is_edge, point.dot(to_first) / to_first.dot(to_first), zero);
    let direction = Vec3x4::select(is_face, outward, point - to_first.scaled(rest));
    ClosestLanes {
        inside,
        point,
        direction,
        corners: [a, first, second],
        found: [Vec4::splat(round), found_first, found_second],
        weights: [weight_first, weight_second],
    }
}
