//! Eight verdicts side by side: [`gjk`](crate::collide::gjk::verdict::gjk) in f32, with one pair in each lane.
//!
//! A search takes few directions, and each ends in decisions that no branch predictor can learn. Here none of them is a branch: all
//! edges and faces of the simplex at the newest corner are tried, and the nearest is selected. A lane whose search has ended takes the next pair, so no lane waits for another.
//!
//! Lanes do not affect one another, so the result of a pair does not depend on the pairs beside it.

use glam::Vec3;

use crate::collide::gjk::pair_lanes::{
    LANES, NONE, PairLanes, Scalars, Vectors, ZERO, lane, least, select, select_wide, set_lane,
};
use crate::collide::gjk::pose::Relative;
use crate::collide::gjk::verdict::{ITERATION_LIMIT, Simplex, enclosure};
use crate::collide::hull::support::Supports;

/// How a search stands after a round.
const RUNS: u32 = 0;
const SEPARATED: u32 = 1;
const INSIDE: u32 = 2;
const NEAR: u32 = 3;

/// Eight searches for a verdict.
#[repr(C, align(64))]
pub(crate) struct VerdictLanes<'a> {
    pairs: PairLanes<'a>,
    /// Squares of the thresholds of verdicts.
    separated_squared: Scalars,
    near_squared: Scalars,
    touching_squared: Scalars,
    penetrating: Scalars,
    /// Directions left to try.
    left: Scalars,
    /// The point of the simplex closest to the origin, and its squared length; at first the direction to begin with.
    closest: Vectors,
    squared: Scalars,
    /// The squared length that the next point must fall below.
    upper: Scalars,
    /// Up to three corners, the newest first, and how many there are.
    corners: [Vectors; 3],
    count: Scalars,
    /// The newest point.
    newest: Vectors,
    /// 1 where a direction has shown that `D` is shallow at the origin, else 0.
    shallow: Scalars,
    state: [u32; LANES],
    /// One bit for each lane with a running search.
    active: u32,
}

impl<'a> VerdictLanes<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            pairs: PairLanes::new(),
            separated_squared: NONE,
            near_squared: NONE,
            touching_squared: NONE,
            penetrating: NONE,
            left: NONE,
            closest: ZERO,
            squared: NONE,
            upper: NONE,
            corners: [ZERO; 3],
            count: NONE,
            newest: ZERO,
            shallow: NONE,
            state: [RUNS; LANES],
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
    pub(crate) fn start(&mut self, supports: &'a Supports, at: usize, pair: &Relative<'_>) {
        self.active |= 1 << at;
        let start = self.pairs.start(supports, at, pair);
        let limits = &pair.limits;
        self.separated_squared[at] = limits.separated * limits.separated;
        self.near_squared[at] = limits.near * limits.near;
        self.touching_squared[at] = limits.touching * limits.touching;
        self.penetrating[at] = limits.penetrating;
        set_lane(&mut self.closest, at, start);
        self.squared[at] = start.dot(start);
        self.upper[at] = f32::INFINITY;
        self.left[at] = ITERATION_LIMIT as f32;
        self.count[at] = 0.0;
        self.shallow[at] = 0.0;
    }

    /// Tries one direction in each lane. Returns one bit for each search that ended.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> u32 {
        self.pairs.scan();
        for at in 0..LANES {
            self.advance(at);
        }
        let mut ended = 0;
        for at in 0..LANES {
            ended |= u32::from(self.state[at] != RUNS) << at;
        }
        ended & self.active
    }

    /// One round of one lane, without a branch.
    #[inline(always)]
    fn advance(&mut self, at: usize) {
        let newest = self.pairs.corner(at).point;
        let closest = lane(&self.closest, at);
        let squared = self.squared[at];
        let along = closest.dot(newest);
        let along_squared = along * along;
        let is_separated = (along > 0.0) & (along_squared > self.separated_squared[at] * squared);
        let is_shallow = (along >= 0.0) | (along_squared <= self.touching_squared[at] * squared);

        let step = reduce(
            newest,
            [lane(&self.corners[0], at), lane(&self.corners[1], at), lane(&self.corners[2], at)],
            self.count[at],
        );
        let next = step.point.dot(step.point);
        let left = self.left[at] - 1.0;
        let is_stuck = !(next < self.upper[at]) | !(left > 0.0);
        let is_near = (next <= self.near_squared[at]) | is_stuck;
        let state = if is_near { NEAR } else { RUNS };
        let state = if step.is_inside { INSIDE } else { state };
        let state = if is_separated { SEPARATED } else { state };
        // The corners of a tetrahedron that holds the origin stay, and so does the axis that separates.
        let is_kept = is_separated | step.is_inside;

        let next_closest = select_wide(is_kept, closest, step.point);
        set_lane(&mut self.newest, at, newest);
        set_lane(&mut self.closest, at, next_closest);
        self.squared[at] = next;
        self.upper[at] = next;
        self.left[at] = left;
        self.shallow[at] = select(is_shallow, 1.0, self.shallow[at]);
        for k in 0..3 {
            let old = lane(&self.corners[k], at);
            set_lane(&mut self.corners[k], at, select_wide(is_kept, old, step.corners[k]));
        }
        self.count[at] = select(is_kept, self.count[at], step.count);
        self.state[at] = state;
        self.pairs.aim(at, next_closest);
    }

    /// The result of a search that ended in the last round. Frees its lane.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: usize) -> End {
        self.active &= !(1 << at);
        let [p, q, r] = &self.corners;
        let mut points = [lane(p, at), lane(q, at), lane(r, at), lane(&self.newest, at)];
        let is_shallow = self.shallow[at] > 0.0;
        match self.state[at] {
            SEPARATED => End::Separated { axis: lane(&self.closest, at) },
            INSIDE => End::Inside { points, is_shallow, penetrating: self.penetrating[at] },
            _ => {
                points[3] = points[0];
                End::Near { simplex: Simplex { points, len: self.count[at] as usize }, is_shallow }
            }
        }
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// As [`Outcome::Separated`](crate::collide::gjk::verdict::Outcome::Separated).
    Separated { axis: Vec3 },
    /// A tetrahedron, as computed, holds the origin: [`Tetrahedra`] tell how deep.
    Inside { points: [Vec3; 4], is_shallow: bool, penetrating: f32 },
    /// As [`Outcome::Near`](crate::collide::gjk::verdict::Outcome::Near). `is_shallow`: one of the directions tried shows that `D` extends
    /// past the origin by at most [`Limits::touching`](crate::collide::gjk::verdict::Limits::touching).
    Near { simplex: Simplex<Vec3>, is_shallow: bool },
}

/// Tetrahedra that hold the origin, collected until there are as many as lanes.
#[repr(C, align(64))]
pub(crate) struct Tetrahedra {
    corners: [Vectors; 4],
    penetrating: Scalars,
    enclosures: Scalars,
    is_shallow: [bool; LANES],
    pairs: [usize; LANES],
    len: usize,
}

/// One of the [`Tetrahedra`], measured.
pub(crate) struct Enclosed {
    /// What [`Tetrahedra::push`] was given.
    pub(crate) pair: usize,
    /// Whether the origin is deeper in it than [`Limits::penetrating`](crate::collide::gjk::verdict::Limits::penetrating).
    pub(crate) is_deep: bool,
    pub(crate) simplex: Simplex<Vec3>,
    pub(crate) is_shallow: bool,
}

impl Tetrahedra {
    pub(crate) const fn new() -> Self {
        Self {
            corners: [ZERO; 4],
            penetrating: NONE,
            enclosures: NONE,
            is_shallow: [false; LANES],
            pairs: [0; LANES],
            len: 0,
        }
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no room for another.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len == LANES
    }

    /// Adds one that is not full.
    #[inline(always)]
    pub(crate) fn push(&mut self, pair: usize, points: &[Vec3; 4], is_shallow: bool, penetrating: f32) {
        let at = self.len % LANES;
        self.len = at + 1;
        for (stored, point) in self.corners.iter_mut().zip(points) {
            set_lane(stored, at, *point);
        }
        self.is_shallow[at] = is_shallow;
        self.penetrating[at] = penetrating;
        self.pairs[at] = pair;
    }

    /// Measures all of them, gives them to `each`, and forgets them.
    #[inline(always)]
    pub(crate) fn drain(&mut self, mut each: impl FnMut(Enclosed)) {
        for at in 0..LANES {
            self.enclosures[at] = enclosure(&self.points(at));
        }
        for at in 0..self.len.min(LANES) {
            each(Enclosed {
                pair: self.pairs[at],
                is_deep: self.enclosures[at] > self.penetrating[at],
                simplex: Simplex { points: self.points(at), len: 4 },
                is_shallow: self.is_shallow[at],
            });
        }
        self.len = 0;
    }

    #[inline(always)]
    fn points(&self, at: usize) -> [Vec3; 4] {
        let [p, q, r, s] = &self.corners;
        [lane(p, at), lane(q, at), lane(r, at), lane(s, at)]
    }
}

/// The point of a simplex closest to the origin.
struct Closest {
    /// Whether a tetrahedron holds the origin; then the rest means nothing.
    is_inside: bool,
    point: Vec3,
    corners: [Vec3; 3],
    count: f32,
}

/// The nearest feature at the newest corner `a`: the corner, an edge or a face.
#[inline(always)]
fn reduce(a: Vec3, corners: [Vec3; 3], count: f32) -> Closest {
    // An edge to a missing corner has no length, and is never the nearest.
    let b = select_wide(count > 0.0, corners[0], a);
    let c = select_wide(count > 1.0, corners[1], a);
    let d = select_wide(count > 2.0, corners[2], a);
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let (across_b, across_c, across_d) = (ab.cross(a), ac.cross(a), ad.cross(a));

    // The squared distance of the edge's line, and where on it the nearest point is.
    let edge = |ab: Vec3, across: Vec3| {
        let along = -a.dot(ab);
        let squared = ab.dot(ab);
        let inverse = 1.0 / squared;
        let is_on = (along > 0.0) & (along < squared);
        (select(is_on, across.dot(across) * inverse, f32::INFINITY), along * inverse)
    };
    let ((on_b, weight_b), (on_c, weight_c), (on_d, weight_d)) =
        (edge(ab, across_b), edge(ac, across_c), edge(ad, across_d));

    // The squared distance of the face's plane, and the factor that makes its normal the nearest point.
    let face = |normal: Vec3, side: f32, first: Vec3, second: Vec3| {
        let squared = normal.dot(normal);
        // Areas: the weights of the two older corners, times `squared`.
        let one = second.dot(normal);
        let other = -first.dot(normal);
        let factor = side / squared;
        let is_on = (one > 0.0) & (other > 0.0) & (one + other < squared);
        (select(is_on, side * factor, f32::INFINITY), factor)
    };
    let (abc, acd, adb) = (ab.cross(ac), ac.cross(ad), ad.cross(ab));
    let (side_bc, side_cd, side_db) = (a.dot(abc), a.dot(acd), a.dot(adb));
    let (on_bc, factor_bc) = face(abc, side_bc, across_b, across_c);
    let (on_cd, factor_cd) = face(acd, side_cd, across_c, across_d);
    let (on_db, factor_db) = face(adb, side_db, across_d, across_b);

    // Outside of a face: on the other side of it than the fourth point.
    let volume = abc.dot(ad);
    let sign = select(volume > 0.0, 1.0, -1.0);
    let is_inside =
        (count > 2.0) & (side_bc * sign <= 0.0) & (side_cd * sign <= 0.0) & (side_db * sign <= 0.0);

    let least_edge = least(least(on_b, on_c), on_d);
    let least_face = least(least(on_bc, on_cd), on_db);
    let is_face = (least_face <= least_edge) & (least_face < f32::INFINITY);
    let is_edge = (least_edge < a.dot(a)) & !is_face;
    let is_bc = on_bc <= least_face;
    let is_cd = on_cd <= least_face;
    let is_b = (is_face & is_bc) | (!is_face & (on_b <= least_edge));
    let is_c = (is_face & is_cd) | (!is_face & (on_c <= least_edge));
    let first = select_wide(is_b, b, select_wide(is_c, c, d));
    let second = select_wide(is_bc, c, select_wide(is_cd, d, b));
    let normal = select_wide(is_bc, abc, select_wide(is_cd, acd, adb));
    let factor = select(is_bc, factor_bc, select(is_cd, factor_cd, factor_db));
    let weight = select(is_edge, select(is_b, weight_b, select(is_c, weight_c, weight_d)), 0.0);
    let on_edge = a + (first - a) * weight;
    Closest {
        is_inside,
        point: select_wide(is_face, normal * factor, on_edge),
        corners: [a, first, second],
        count: select(is_face, 3.0, select(is_edge, 2.0, 1.0)),
    }
}
