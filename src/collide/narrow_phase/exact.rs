//! The exact path: verdicts and measurements in f64 from the inputs as stored, for pairs that f32 could not settle.

use glam::DVec3;

use crate::collide::epa::exact_depth::{Depth, exact_depth};
use crate::collide::epa::verdict::{Decision, epa_verdict};
use crate::collide::gjk::distance::{Corner, Goal, Nearest, StopReason, Witness, distance};
use crate::collide::gjk::pose::{ExactPlaced, ExactRelative, Placement, furthest};
use crate::collide::gjk::verdict::{Difference, Limits, Outcome, Simplex, gjk, simplex_distance};
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::tolerance::{status_of_gap, tolerance};
use crate::collide::scene::body::Body;

/// Relative error of f64 support points against the sum of the bounding radii and the distance of the centres.
const SUPPORT_ERROR: f64 = 4e-15;

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

/// Settles one pair. Both bodies must have been checked.
pub(crate) fn settle(hulls: &[Hull], a: &Body, b: &Body) -> Settled {
    settle_placed(&[a, b].map(|body| Placement::new(&hulls[body.hull as usize], body)))
}

/// [`settle`] for two placements.
pub(crate) fn settle_placed(placements: &[Placement<'_>; 2]) -> Settled {
    let pair = ExactRelative::of(placements);
    if pair.rounding != [0.0; 2] || placements.iter().any(is_half_space) {
        let measured = measure_placed(placements);
        return match measured.status {
            Status::Separated => Settled::separated(-measured.normal),
            status => Settled::hit(status),
        };
    }
    let limits = exact_limits(&pair);
    trace_exact(&pair, &limits, |_, _| ())
}

fn is_half_space(placement: &Placement<'_>) -> bool {
    placement.hull.dimension() == Dimension::HalfSpace
}

/// The search stops at bounds of the distance that differ by this times the sum of the bounding radii. Rounding is a hundredth of it,
/// the documented error a hundred times it.
const SLACK: f64 = 1e-11;

/// Bounds that differ by less than this need no second search.
const GOOD: f64 = 2e-10;

/// Measures one pair in f64. Both bodies must have been checked, and not both be half-spaces.
pub(crate) fn measure(hulls: &[Hull], a: &Body, b: &Body) -> Measured {
    measure_placed(&[a, b].map(|body| Placement::new(&hulls[body.hull as usize], body)))
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
    let goal = Goal { beyond: f64::INFINITY, within: -1.0, slack, relative: 1e-13, iteration_limit: 512 };
    let nearest = distance(pair, start, &goal);
    let Nearest { lower, upper, axis, ref simplex, .. } = nearest;
    let noise = 64.0 * f64::EPSILON * (pair.sum + pair.offset.length());
    if nearest.stop != StopReason::Inside && upper > noise.max(slack) {
        let witness = simplex.witness();
        // Where the bounds meet, the axis is as exact as the witness' direction, and more exact where the gap is small.
        let found = CoreGap { lower, upper, gap: upper, normal: -axis, on_a: witness.on_a };
        if upper - lower <= GOOD * (pair.sum + lower.max(0.0)) {
            return found;
        }
        // Near contact the axis comes from a small difference. Seen from a farther origin it is sharper.
        let mut sharp = Depth { lower, upper, normal: -axis, witness };
        polish(pair, &mut sharp);
        let meets = (witness.point + sharp.normal * upper).length() <= slack;
        if sharp.lower > lower && sharp.lower <= upper + noise && meets {
            return CoreGap { lower: sharp.lower, normal: sharp.normal, ..found };
        }
        return found;
    }
    let mut found = exact_depth(pair, &nearest, slack);
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
    let goal = Goal {
        beyond: f64::INFINITY,
        within: -1.0,
        slack: SLACK * height,
        relative: 0.0,
        iteration_limit: 512,
    };
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
        // The foot of that point is the witness only where the new normal is the direction that it was seen along.
        if !(gain > slack || gain > -slack && after < before) {
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

/// Thresholds well inside the band from τ / 10 to τ, where either verdict is allowed.
pub(crate) fn exact_limits(pair: &ExactRelative) -> Limits<f64> {
    let tolerance = (1e-5 * pair.smaller).max(4e-6 * pair.sum);
    let error = SUPPORT_ERROR * (pair.sum + pair.offset.length());
    Limits {
        separated: 0.3 * tolerance + error,
        touching: 0.6 * tolerance,
        penetrating: 0.3 * tolerance + error,
    }
}

/// [`settle`], with a callback for every simplex.
///
/// A search that gets stuck is restarted from other directions. No test has seen this. If all get stuck, the bounds of the gap decide.
pub(crate) fn trace_exact(
    pair: &ExactRelative,
    limits: &Limits<f64>,
    mut visit: impl FnMut(&Simplex<DVec3>, DVec3),
) -> Settled {
    let mut lower = f64::NEG_INFINITY;
    let mut upper = f64::INFINITY;
    for start in std::iter::once(pair.offset).chain(RESTARTS.map(DVec3::from)) {
        match search(pair, start, limits, &mut visit) {
            Ok(settled) => return settled,
            Err(bounds) => {
                lower = lower.max(bounds[0]);
                upper = upper.min(bounds[1]);
            }
        }
    }
    let middle = 0.5 * (lower + upper.max(lower));
    if middle > limits.separated {
        // No direction shows the separation, so the line of the centres stands in.
        Settled::separated(pair.offset)
    } else if middle < -limits.penetrating {
        Settled::hit(Status::Penetrating)
    } else {
        Settled::hit(Status::Touching)
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

/// One search; `Err` carries a lower and an upper bound of the gap.
fn search(
    pair: &ExactRelative,
    start: DVec3,
    limits: &Limits<f64>,
    visit: impl FnMut(&Simplex<DVec3>, DVec3),
) -> Result<Settled, [f64; 2]> {
    match gjk(pair, start, limits, visit) {
        Outcome::Separated { axis } => Ok(Settled::separated(axis)),
        Outcome::Penetrating => Ok(Settled::hit(Status::Penetrating)),
        Outcome::Near { simplex, .. } => {
            let upper = simplex_distance(&simplex);
            match epa_verdict::<_, POINTS, FACES>(pair, &simplex, upper <= limits.touching, limits) {
                Decision::Separated { axis } => Ok(Settled::separated(axis)),
                Decision::Touching => Ok(Settled::hit(Status::Touching)),
                Decision::Penetrating => Ok(Settled::hit(Status::Penetrating)),
                Decision::Undecided { lower } => Err([lower, upper]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::test_pairs::all_kinds;

    /// [`trace_exact`] restarts a search that gets stuck; none of these does.
    #[test]
    fn the_first_search_ends() {
        for test in all_kinds(4_000, 1000.0) {
            for pair in test.bodies.chunks_exact(2) {
                let exact = ExactRelative::new(&test.hulls, &pair[0], &pair[1]);
                let found = search(&exact, exact.offset, &exact_limits(&exact), |_, _| ());
                assert!(found.is_ok(), "{}: stuck at {found:?}: {pair:?}", test.name);
            }
        }
    }
}
