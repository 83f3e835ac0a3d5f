//! Eight distance searches side by side: [`distance`](crate::collide::gjk::distance) with one pair in each lane.
//!
//! A search takes few directions, each with several decisions that no branch predictor can learn. Here none of them is a branch: all
//! edges and faces of the simplex at the newest corner are tried, and the nearest is selected. A lane whose search has ended takes
//! the next pair, so no lane waits for another.
//!
//! Lanes do not affect one another, so the result of a pair does not depend on the pairs beside it.

use glam::Vec3;

use crate::collide::gjk::distance::{Corner, Goal, Nearest, StopReason, WeightedSimplex};
use crate::collide::gjk::pair_lanes::{
    LANES, NONE, PairLanes, Scalars, Vectors, ZERO, lane, least, select, select_wide, set_lane,
};
use crate::collide::gjk::pose::Relative;
use crate::collide::hull::support::Supports;

/// Most directions that a lane tries, and corners that are stored.
pub(crate) const ROUNDS: usize = 64;

/// No corner.
const MISSING: f32 = -1.0;

/// How a search stands after a round.
const RUNS: u32 = 0;
const BEYOND: u32 = 1;
const CONVERGED: u32 = 2;
const INSIDE: u32 = 3;
const WITHIN: u32 = 4;
const STALLED: u32 = 5;

/// Eight distance searches.
#[repr(C, align(64))]
pub(crate) struct Lanes<'a> {
    pairs: PairLanes<'a>,
    beyond: Scalars,
    within: Scalars,
    slack: Scalars,
    relative: Scalars,
    /// Directions left to try.
    left: Scalars,
    /// The direction to try next.
    direction: Vectors,
    /// The direction tried last, of unit length, and its lower bound.
    axis: Vectors,
    lower: Scalars,
    /// Length of the witness.
    upper: Scalars,
    /// Corners of the simplex, the newest first, and the round in which each was found, or [`MISSING`].
    corners: [Vectors; 3],
    found: [Scalars; 3],
    /// Weights of the second and the third corner.
    weights: [Scalars; 2],
    /// The newest corner where a search ended with the origin inside.
    newest: Vectors,
    state: [u32; LANES],
    /// The points of `A` of each round.
    on_a: [Vectors; ROUNDS],
    /// Rounds so far.
    round: usize,
    /// One bit for each lane with a running search.
    active: u32,
}

impl<'a> Lanes<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            pairs: PairLanes::new(),
            beyond: NONE,
            within: NONE,
            slack: NONE,
            relative: NONE,
            left: NONE,
            direction: [[1.0; LANES]; 3],
            axis: ZERO,
            lower: NONE,
            upper: NONE,
            corners: [ZERO; 3],
            found: [[MISSING; LANES]; 3],
            weights: [NONE; 2],
            newest: ZERO,
            state: [RUNS; LANES],
            on_a: [ZERO; ROUNDS],
            round: 0,
            active: 0,
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
    pub(crate) fn start(&mut self, supports: &'a Supports, at: usize, pair: &Relative<'_>, goal: &Goal<f32>) {
        self.active |= 1 << at;
        let start = self.pairs.start(supports, at, pair);
        set_lane(&mut self.direction, at, start);
        self.beyond[at] = goal.beyond;
        self.within[at] = goal.within;
        self.slack[at] = goal.slack;
        self.relative[at] = goal.relative;
        self.left[at] = goal.iteration_limit.min(ROUNDS as u32) as f32;
        self.upper[at] = 1e30;
        for found in &mut self.found {
            found[at] = MISSING;
        }
        // Where the first round ends the search, the result has no witness, and this takes its place.
        set_lane(&mut self.corners[0], at, start);
    }

    /// Tries one direction in each lane. Returns one bit for each search that ended.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> u32 {
        self.pairs.scan();
        let round = self.round % ROUNDS;
        self.round += 1;
        for at in 0..LANES {
            self.advance(at, round);
        }
        let mut ended = 0;
        for at in 0..LANES {
            ended |= u32::from(self.state[at] != RUNS) << at;
        }
        ended & self.active
    }

    /// One round of one lane, without a branch.
    #[inline(always)]
    fn advance(&mut self, at: usize, round: usize) {
        let Corner { point: newest, on_a } = self.pairs.corner(at);
        set_lane(&mut self.on_a[round], at, on_a);
        set_lane(&mut self.newest, at, newest);

        let direction = lane(&self.direction, at);
        let inverse = 1.0 / direction.dot(direction).sqrt();
        let lower = direction.dot(newest) * inverse;
        let upper = self.upper[at];
        self.lower[at] = lower;
        set_lane(&mut self.axis, at, direction * inverse);
        let is_beyond = lower > self.beyond[at];
        let is_converged = upper - lower <= self.slack[at] + self.relative[at] * upper;

        let found = [self.found[0][at], self.found[1][at], self.found[2][at]];
        let corners = [lane(&self.corners[0], at), lane(&self.corners[1], at), lane(&self.corners[2], at)];
        let step = reduce(newest, corners, found, round as f32);
        let length = step.point.dot(step.point).sqrt();
        let left = self.left[at] - 1.0;
        let is_within = length <= self.within[at];
        let is_over = is_within | !(step.direction.dot(step.direction) > 0.0) | !(left > 0.0);
        let commits = (length < upper) & !step.is_inside & !is_beyond & !is_converged;

        let state = if is_within { WITHIN } else { STALLED };
        let state = if commits & !is_over { RUNS } else { state };
        let state = if commits | step.is_inside { state } else { STALLED };
        let state = if step.is_inside { INSIDE } else { state };
        let state = if is_converged { CONVERGED } else { state };
        self.state[at] = if is_beyond { BEYOND } else { state };
        self.left[at] = left;
        self.upper[at] = select(commits, length, upper);
        let next = select_wide(commits, step.direction, direction);
        set_lane(&mut self.direction, at, next);
        for k in 0..3 {
            set_lane(&mut self.corners[k], at, select_wide(commits, step.corners[k], corners[k]));
            self.found[k][at] = select(commits, step.found[k], found[k]);
        }
        for k in 0..2 {
            self.weights[k][at] = select(commits, step.weights[k], self.weights[k][at]);
        }
        self.pairs.aim(at, next);
    }

    /// The result of a search that ended in the last round. Frees its lane.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: usize) -> Nearest<Vec3> {
        self.active &= !(1 << at);
        let stop = match self.state[at] {
            BEYOND => StopReason::Beyond,
            CONVERGED => StopReason::Converged,
            INSIDE => StopReason::Inside,
            WITHIN => StopReason::Within,
            _ => StopReason::Stalled,
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
        if stop == StopReason::Inside {
            let on_a = lane(&self.on_a[(self.round - 1) % ROUNDS], at);
            simplex.corners[simplex.len.min(3)] = Corner { point: lane(&self.newest, at), on_a };
            simplex.len = 4;
        }
        Nearest { stop, lower: self.lower[at], upper: self.upper[at], axis: lane(&self.axis, at), simplex }
    }
}

/// The point of a simplex closest to the origin.
struct Closest {
    /// Whether a tetrahedron holds the origin; then the rest means nothing.
    is_inside: bool,
    /// The point, a convex combination of the corners.
    point: Vec3,
    /// The next direction: parallel to the point in exact arithmetic, and perpendicular to the closest feature to within rounding. Any
    /// length.
    direction: Vec3,
    corners: [Vec3; 3],
    found: [f32; 3],
    weights: [f32; 2],
}

/// The nearest feature at the newest corner `a`: the corner, an edge or a face.
#[inline(always)]
fn reduce(a: Vec3, corners: [Vec3; 3], found: [f32; 3], round: f32) -> Closest {
    let is_there = [found[0] >= 0.0, found[1] >= 0.0, found[2] >= 0.0];
    // An edge to a missing corner has no length, and is never the nearest.
    let b = select_wide(is_there[0], corners[0], a);
    let c = select_wide(is_there[1], corners[1], a);
    let d = select_wide(is_there[2], corners[2], a);
    let (ab, ac, ad) = (b - a, c - a, d - a);

    let edge = |ab: Vec3| {
        let along = -a.dot(ab);
        let squared = ab.dot(ab);
        let weight = along / squared;
        let point = a + ab * weight;
        let is_on = (along > 0.0) & (along < squared);
        (select(is_on, point.dot(point), f32::INFINITY), weight)
    };
    let ((on_b, weight_b), (on_c, weight_c), (on_d, weight_d)) = (edge(ab), edge(ac), edge(ad));

    let (abc, acd, adb) = (ab.cross(ac), ac.cross(ad), ad.cross(ab));
    let (across_b, across_c, across_d) = (ab.cross(a), ac.cross(a), ad.cross(a));
    let (side_bc, side_cd, side_db) = (a.dot(abc), a.dot(acd), a.dot(adb));
    let face = |normal: Vec3, side: f32, first: Vec3, second: Vec3| {
        let squared = normal.dot(normal);
        // Areas: the weights of the two older corners, times `squared`.
        let one = second.dot(normal);
        let other = -first.dot(normal);
        let is_on = (one > 0.0) & (other > 0.0) & (one + other < squared);
        let inverse = 1.0 / squared;
        (select(is_on, side * side * inverse, f32::INFINITY), [one * inverse, other * inverse])
    };
    let (on_bc, weights_bc) = face(abc, side_bc, across_b, across_c);
    let (on_cd, weights_cd) = face(acd, side_cd, across_c, across_d);
    let (on_db, weights_db) = face(adb, side_db, across_d, across_b);

    // Outside of a face: on the other side of it than the fourth point.
    let volume = abc.dot(ad);
    let sign = select(volume > 0.0, 1.0, -1.0);
    let is_outside = (side_bc * sign > 0.0) | (side_cd * sign > 0.0) | (side_db * sign > 0.0);
    let is_inside = is_there[0] & is_there[1] & is_there[2] & !is_outside;

    let least_edge = least(least(on_b, on_c), on_d);
    let least_face = least(least(on_bc, on_cd), on_db);
    let is_face = (least_face <= least_edge) & (least_face < f32::INFINITY);
    let is_edge = (least_edge < a.dot(a)) & !is_face;
    let is_bc = on_bc <= least_face;
    let is_cd = on_cd <= least_face;
    let is_b = (is_face & is_bc) | (!is_face & (on_b <= least_edge));
    let is_c = (is_face & is_cd) | (!is_face & (on_c <= least_edge));
    let pick = |b: f32, c: f32, d: f32| select(is_b, b, select(is_c, c, d));
    let pick_second = |b: f32, c: f32, d: f32| select(is_bc, c, select(is_cd, d, b));
    let first = select_wide(is_b, b, select_wide(is_c, c, d));
    let second = select_wide(is_bc, c, select_wide(is_cd, d, b));
    let found_first = select(is_face | is_edge, pick(found[0], found[1], found[2]), MISSING);
    let found_second = select(is_face, pick_second(found[0], found[1], found[2]), MISSING);
    let of_face = |at: usize| pick(weights_bc[at], weights_cd[at], weights_db[at]);
    let of_edge = select(is_edge, pick(weight_b, weight_c, weight_d), 0.0);
    let weight_first = select(is_face, of_face(0), of_edge);
    let weight_second = select(is_face, of_face(1), 0.0);

    let (to_first, to_second) = (first - a, second - a);
    let point = a + to_first * weight_first + to_second * weight_second;
    let normal = to_first.cross(to_second);
    let outward = select_wide(a.dot(normal) < 0.0, -normal, normal);
    // The point's remaining component along a segment is rounding. Subtracting it leaves only the rounding of a small number.
    let rest = select(is_edge, point.dot(to_first) / to_first.dot(to_first), 0.0);
    Closest {
        is_inside,
        point,
        direction: select_wide(is_face, outward, point - to_first * rest),
        corners: [a, first, second],
        found: [round, found_first, found_second],
        weights: [weight_first, weight_second],
    }
}
