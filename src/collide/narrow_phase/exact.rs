//! The exact path: verdicts and measurements in f64 from the inputs as stored, for pairs that f32 could not settle.

use glam::DVec3;

use crate::collide::epa::exact_depth::{Depth, exact_depth};
use crate::collide::epa::verdict::{Decision, epa_verdict};
use crate::collide::gjk::distance::{Corner, Goal, Nearest, StopReason, Witness, distance};
use crate::collide::gjk::pose::{ExactPlaced, ExactRelative, Placement, furthest};
use crate::collide::gjk::tolerance::{TOUCHING_SHARE, tolerance, touching_limit};
use crate::collide::gjk::verdict::{Difference, Limits, Outcome, Simplex, gjk, simplex_distance};
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::status::{Status, status_of_gap};
use crate::collide::scene::stored::Stored;

/// Most corners and faces of the polytope for verdicts.
const POINTS: usize = 192;
const FACES: usize = 2 * POINTS;

/// A verdict; for a separated pair also a separating axis, a unit vector from `a` to `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settled {
    pub(crate) status: Status,
    pub(crate) axis: Option<[f32; 3]>,
}

impl Settled {
    fn hit(status: Status) -> Self {
        Self { status, axis: None }
    }

    fn separated(axis: DVec3) -> Self {
        Self { status: Status::Separated, axis: Some((-axis).normalize_or_zero().as_vec3().to_array()) }
    }
}

/// The status of a pair of body ids, with an axis where it is separated. Both bodies must have been checked.
///
/// The status is that of [`measure`]. A search that ends earlier gives the same one, because it only decides what is clear of the
/// thresholds by [`MEASURE_ERROR`].
pub(crate) fn settle(hulls: &[Hull], stored: Stored<'_>, pair: [u32; 2]) -> Settled {
    let settled = settle_placed(&in_order(hulls, stored, pair));
    let axis =
        if stored.is_reversed(pair) { settled.axis.map(|axis| axis.map(|x| -x)) } else { settled.axis };
    Settled { axis, ..settled }
}

/// The placements of a pair, the lower body id first: the bits of an f64 gap may depend on the order.
pub(crate) fn in_order<'a>(hulls: &'a [Hull], stored: Stored<'_>, pair: [u32; 2]) -> [Placement<'a>; 2] {
    placements(hulls, stored, stored.in_order(pair))
}

/// The placements of a pair, relative to its [`base`](Stored::base).
pub(crate) fn placements<'a>(hulls: &'a [Hull], stored: Stored<'_>, pair: [u32; 2]) -> [Placement<'a>; 2] {
    let base = stored.base(hulls, pair);
    pair.map(|id| {
        let body = &stored.bodies[id as usize];
        let hull = &hulls[body.hull as usize];
        match base {
            None => Placement::new(hull, body),
            Some(base) => Placement::at(hull, body, stored.positions[id as usize] - base),
        }
    })
}

/// [`settle`] for two placements.
pub(crate) fn settle_placed(placements: &[Placement<'_>; 2]) -> Settled {
    let pair = ExactRelative::of(placements);
    if pair.rounding != [0.0; 2] || placements.iter().any(is_half_space) {
        return settled(&measure_placed(placements));
    }
    let limits = exact_limits(&pair);
    search(&pair, pair.offset, &limits, &mut |_, _| ())
        .unwrap_or_else(|| settled(&measure_placed(placements)))
}

/// The status and the axis of a measurement.
fn settled(measured: &Measured) -> Settled {
    match measured.status {
        Status::Separated => Settled::separated(-measured.normal),
        status => Settled::hit(status),
    }
}

fn is_half_space(placement: &Placement<'_>) -> bool {
    placement.hull.dimension() == Dimension::HalfSpace
}

/// The search stops at bounds of the distance that differ by this times the sum of the bounding radii. Rounding is a hundredth of it,
/// the documented error a hundred times it.
const SLACK: f64 = 1e-11;

/// How many more directions the search tries once the distance no longer falls. Two facets of `D` whose normals differ by 1e-8 can be
/// equally far in f64. The measured normal must be that of the nearer one.
const STALLS: u32 = 16;

/// Bounds that differ by less than this need no second search.
const GOOD: f64 = 2e-10;

/// A witness that is this far from the foot of the origin, relative to the sum of the bounding radii, is good.
const GOOD_WITNESS: f64 = 1e-9;

/// Bound of the error of a measured gap against the sum of the bounding radii and the distance of the centres: the documented one.
pub(crate) const MEASURE_ERROR: f64 = 1e-9;

/// Measures a pair of body ids in f64: the gap that decides its status. Both bodies must have been checked, and not both be half-spaces. The
/// point is relative to the pair's [`base`](Stored::base).
pub(crate) fn measure(hulls: &[Hull], stored: Stored<'_>, pair: [u32; 2]) -> Measured {
    let measured = measure_placed(&in_order(hulls, stored, pair));
    if stored.is_reversed(pair) { measured.swapped() } else { measured }
}

/// [`measure`] for two placements.
pub(crate) fn measure_placed(placements: &[Placement<'_>; 2]) -> Measured {
    let [a, b] = placements;
    if is_half_space(a) {
        return above_half_space(a, b);
    }
    if is_half_space(b) {
        let turned = above_half_space(b, a);
        return Measured { normal: -turned.normal, on_a: turned.on_b(), ..turned };
    }
    let pair = ExactRelative::of(placements);
    let slack = SLACK * pair.sum;
    let mut best = search_distance(&pair, pair.offset, slack);
    for start in RESTARTS {
        if best.upper - best.lower <= GOOD * (pair.sum + best.lower.max(0.0)) {
            break;
        }
        let other = search_distance(&pair, DVec3::from(start), slack);
        if other.upper - other.lower < best.upper - best.lower {
            best = other;
        }
    }
    let gap = (best.gap - pair.rounding[0] - pair.rounding[1]) * pair.unit;
    let tolerance = tolerance(pair.smaller, pair.sum, gap / pair.unit) * pair.unit;
    let on_a = pair.center + (best.on_a + best.normal * pair.rounding[0]) * pair.unit;
    Measured { status: status_of_gap(gap, tolerance), gap, normal: best.normal, on_a }
}

/// The signed gap of the cores, in the pair's unit.
#[derive(Debug)]
struct CoreGap {
    lower: f64,
    upper: f64,
    gap: f64,
    normal: DVec3,
    on_a: DVec3,
}

fn search_distance(pair: &ExactRelative, start: DVec3, slack: f64) -> CoreGap {
    let goal = Goal { stall_limit: STALLS, ..Goal::converge(slack, 1e-13) };
    let nearest = distance(pair, start, &goal);
    let Nearest { lower, upper, axis, ref simplex, .. } = nearest;
    let noise = 64.0 * f64::EPSILON * (pair.sum + pair.offset.length());
    if nearest.stop != StopReason::Inside && upper > noise.max(slack) {
        let witness = simplex.witness();
        // Where the bounds meet, the axis is as exact as the witness' direction, and more exact where the gap is small.
        let found = CoreGap { lower, upper, gap: upper, normal: -axis, on_a: witness.on_a };
        let is_good = |found: &CoreGap| found.upper - found.lower <= GOOD * (pair.sum + found.lower.max(0.0));
        if is_good(&found) {
            return found;
        }
        // Near contact the axis comes from a small difference. Seen from a farther origin it is sharper.
        let mut sharp = Depth { lower, upper, normal: -axis, witness };
        polish(pair, &mut sharp);
        let meets = (witness.point + sharp.normal * upper).length() <= slack;
        let sharper = if sharp.lower > lower && sharp.lower <= upper + noise && meets {
            CoreGap { lower: sharp.lower, normal: sharp.normal, ..found }
        } else {
            found
        };
        if is_good(&sharper) {
            return sharper;
        }
        // The bodies may overlap by less than GJK can tell.
        let deep = search_depth(pair, &nearest, slack);
        return if deep.upper - deep.lower < sharper.upper - sharper.lower { deep } else { sharper };
    }
    search_depth(pair, &nearest, slack)
}

/// The gap of cores that overlap or touch, from GJK's simplex.
fn search_depth(pair: &ExactRelative, nearest: &Nearest<DVec3>, slack: f64) -> CoreGap {
    let mut found = exact_depth(pair, nearest, slack);
    polish(pair, &mut found);
    CoreGap {
        lower: found.lower,
        upper: found.upper,
        gap: found.lower,
        normal: found.normal,
        on_a: found.witness.on_a,
    }
}

/// The difference `D` relative to another origin.
struct ShiftedDifference<'a> {
    pair: &'a ExactRelative,
    origin: DVec3,
}

impl Difference for ShiftedDifference<'_> {
    type Vector = DVec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.pair.support(direction) - self.origin
    }
}

impl Witness for ShiftedDifference<'_> {
    fn corner(&self, direction: DVec3) -> Corner<DVec3> {
        let Corner { point, on_a } = self.pair.corner(direction);
        Corner { point: point - self.origin, on_a }
    }
}

/// Sharpens normal and witness. The normal of a sliver is noise, and a facet's nearest point may be in any of its triangles. Seen from
/// a point well outside, above the foot of the origin on the facet, both are sharp: GJK finds the nearest point and its direction.
fn polish(pair: &ExactRelative, found: &mut Depth) {
    let height = 0.1 * pair.sum;
    let goal = Goal { stall_limit: STALLS, ..Goal::converge(SLACK * height, 0.0) };
    let slack = SLACK * pair.sum;
    let astray = |point: DVec3, normal: DVec3, lower: f64| (point + normal * lower).length();
    for _ in 0..4 {
        let origin = found.normal * (height - found.lower);
        let nearest = distance(&ShiftedDifference { pair, origin }, -found.normal, &goal);
        if nearest.stop == StopReason::Inside || !(nearest.upper > 0.5 * height) {
            return;
        }
        let witness = nearest.simplex.witness();
        let normal = -witness.point.normalize_or_zero();
        let lower = -normal.dot(pair.support(normal));
        let gain = lower - found.lower;
        let point = witness.point + origin;
        let before = astray(found.witness.point, found.normal, found.lower);
        let after = astray(point, normal, lower);
        // The foot of that point is the witness only where the new normal is the direction that it was seen along. So a small gain must not
        // be paid for with a witness that is off.
        let gains = gain > GOOD * pair.sum || gain > slack && after <= GOOD_WITNESS * pair.sum;
        if !(gains || gain > -slack && after < before) {
            return;
        }
        found.lower = lower;
        found.upper = found.upper.max(lower);
        found.normal = normal;
        found.witness = Corner { point, on_a: witness.on_a };
        if after <= slack && gain <= slack {
            return;
        }
    }
}

/// Measures `b` above the half-space `a`, from one support point.
fn above_half_space(a: &Placement<'_>, b: &Placement<'_>) -> Measured {
    let normal = a.rotation.y_axis.normalize();
    let placed = ExactPlaced::new(b);
    let ground = a.position;
    let lowest = furthest(&placed.points, -normal);
    let height = normal.dot((placed.center[0] - ground) + placed.center[1] + lowest);
    let gap = height - placed.rounding - ExactPlaced::new(a).rounding;
    let radius = placed.radius;
    let on_a = placed.center[0] + placed.center[1] + lowest - normal * (placed.rounding + gap);
    Measured { status: status_of_gap(gap, tolerance(radius, radius, gap)), gap, normal, on_a }
}

/// The thresholds of a status, wider by the error of a measured gap.
pub(crate) fn exact_limits(pair: &ExactRelative) -> Limits<f64> {
    let error = MEASURE_ERROR * (pair.sum + pair.offset.length());
    let least = TOUCHING_SHARE * tolerance(pair.smaller, pair.sum, 0.0);
    let most = touching_limit(pair.smaller, pair.sum);
    Limits {
        separated: most + error,
        touching: least - error,
        near: least - error,
        penetrating: least + error,
    }
}

/// Start directions of restarted searches.
const RESTARTS: [[f64; 3]; 7] = [
    [0.83, 0.41, -0.37],
    [-0.29, 0.91, 0.31],
    [0.13, -0.47, 0.87],
    [-0.71, -0.67, 0.23],
    [-0.43, 0.19, -0.89],
    [0.59, -0.73, -0.53],
    [0.97, 0.11, 0.17],
];

/// The search for a status that is clear of the thresholds; `None` where it finds none. `visit` is called with every simplex of GJK.
pub(crate) fn search(
    pair: &ExactRelative,
    start: DVec3,
    limits: &Limits<f64>,
    visit: &mut dyn FnMut(&Simplex<DVec3>, DVec3),
) -> Option<Settled> {
    match gjk(pair, start, limits, |simplex, closest| visit(simplex, closest)) {
        Outcome::Separated { axis } => Some(Settled::separated(axis)),
        Outcome::Penetrating => Some(Settled::hit(Status::Penetrating)),
        Outcome::Near { simplex, .. } => {
            let is_near = simplex_distance(&simplex) <= limits.near;
            match epa_verdict::<_, POINTS, FACES>(pair, &simplex, is_near, limits) {
                Decision::Separated { axis } => Some(Settled::separated(axis)),
                Decision::Touching => Some(Settled::hit(Status::Touching)),
                Decision::Penetrating => Some(Settled::hit(Status::Penetrating)),
                Decision::Undecided => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::test_pairs::all_kinds;

    /// The search for a status fails only where the gap is too close to a threshold; then the pair is measured, which costs more. Elsewhere
    /// both find the same status.
    #[test]
    fn the_search_for_a_status_agrees_with_the_measurement() {
        let (mut found_count, mut close_count) = (0, 0);
        for test in all_kinds(4_000, 1000.0) {
            for pair in test.bodies.chunks_exact(2) {
                let exact = ExactRelative::new(&test.hulls, &pair[0], &pair[1]);
                let found = search(&exact, exact.offset, &exact_limits(&exact), &mut |_, _| ());
                let measured = measure(&test.hulls, pair.into(), [0, 1]);
                let gap = measured.gap / exact.unit;
                let limit = TOUCHING_SHARE * tolerance(exact.smaller, exact.sum, gap);
                let is_close =
                    (gap.abs() - limit).abs() <= 2.0 * MEASURE_ERROR * (exact.sum + exact.offset.length());
                match found {
                    Some(found) => assert_eq!(found.status, measured.status, "{}: {pair:?}", test.name),
                    None => assert!(is_close, "{}: stuck at a gap of {gap:e}: {pair:?}", test.name),
                }
                found_count += usize::from(found.is_some());
                close_count += usize::from(is_close);
            }
        }
        assert!(found_count >= 19_900 && close_count > 0, "{found_count} {close_count}");
    }

    /// The order of a pair's ids does not matter, to the bit.
    #[test]
    fn a_pair_has_the_same_measurement_in_both_orders() {
        for test in all_kinds(300, 30.0) {
            for pair in test.pairs() {
                let forward = measure(&test.hulls, (&test.bodies[..]).into(), pair);
                let back = measure(&test.hulls, (&test.bodies[..]).into(), [pair[1], pair[0]]);
                assert_eq!((forward.gap, forward.status), (back.gap, back.status), "{}", test.name);
                assert_eq!(forward.normal, -back.normal, "{}", test.name);
            }
        }
    }
}
