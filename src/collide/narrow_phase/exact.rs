//! The exact path: a verdict in f64 from the inputs as stored, for the pairs that f32 could not settle.

use glam::DVec3;

use crate::collide::epa::exact_depth::{Depth, depth};
use crate::collide::epa::verdict::{Decision, epa};
use crate::collide::gjk::distance::{Corner, End, Goal, Nearest, Witness, distance};
use crate::collide::gjk::pose::{ExactPlaced, ExactRelative, Placement, furthest};
use crate::collide::gjk::verdict::{Difference, Limits, Outcome, Simplex, gjk, reach};
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::tolerance::{tolerance, verdict};
use crate::collide::scene::body::Body;

/// Relative error of f64 support points against the sum of the bounding radii and the distance of the centres.
const SUPPORT_ERROR: f64 = 4e-15;

/// Corners and faces that the exact path's polytope may have.
const POINTS: usize = 192;
const FACES: usize = 2 * POINTS;

/// A verdict, and for a separated pair the unit axis from `a` to `b` that shows it.
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
    settle_placed([a, b].map(|body| Placement::new(&hulls[body.hull as usize], body)))
}

/// [`settle`] of two placements.
pub(crate) fn settle_placed(placements: [Placement<'_>; 2]) -> Settled {
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

/// Bounds of the distance need not be nearer than this times the sum of the bounding radii; rounding leaves a
/// hundredth of it, and the promise is a hundred times that.
const SLACK: f64 = 1e-11;

/// Bounds that are this near need no second search.
const GOOD: f64 = 2e-10;

/// Measures one pair in f64. Both bodies must have been checked, and be no two half-spaces.
pub(crate) fn measure(hulls: &[Hull], a: &Body, b: &Body) -> Measured {
    measure_placed([a, b].map(|body| Placement::new(&hulls[body.hull as usize], body)))
}

/// [`measure`] of two placements.
pub(crate) fn measure_placed([a, b]: [Placement<'_>; 2]) -> Measured {
    if is_half_space(&a) {
        return above_half_space(&a, &b);
    }
    if is_half_space(&b) {
        let turned = above_half_space(&b, &a);
        return Measured { normal: -turned.normal, on_a: turned.on_b(), ..turned };
    }
    let pair = ExactRelative::of([a, b]);
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
    Measured { status: verdict(gap, tolerance), gap, normal: best.normal, on_a }
}

/// What one search found of the cores, in the pair's unit.
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
    if nearest.end != End::Inside && upper > noise.max(slack) {
        let witness = simplex.witness();
        // Where the bounds meet, the axis is as good as the witness' direction, and better where both are small.
        let found = CoreGap { lower, upper, gap: upper, normal: -axis, on_a: witness.on_a };
        if upper - lower <= GOOD * (pair.sum + lower.max(0.0)) {
            return found;
        }
        // Of bodies that all but touch the axis is that of a small difference: seen from further off it is plainer.
        let mut sharp = Depth { lower, upper, normal: -axis, witness };
        polish(pair, &mut sharp);
        let meets = (witness.point + sharp.normal * upper).length() <= slack;
        if sharp.lower > lower && sharp.lower <= upper + noise && meets {
            return CoreGap { lower: sharp.lower, normal: sharp.normal, ..found };
        }
        return found;
    }
    let mut found = depth(pair, &nearest, slack);
    polish(pair, &mut found);
    CoreGap {
        lower: found.lower,
        upper: found.upper,
        gap: found.lower,
        normal: found.normal,
        on_a: found.witness.on_a,
    }
}

/// `D` seen from another origin.
struct Shifted<'a> {
    pair: &'a ExactRelative,
    origin: DVec3,
}

impl Difference for Shifted<'_> {
    type Vector = DVec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.pair.support(direction) - self.origin
    }
}

impl Witness for Shifted<'_> {
    fn corner(&self, direction: DVec3) -> Corner<DVec3> {
        let Corner { point, on_a } = self.pair.corner(direction);
        Corner { point: point - self.origin, on_a }
    }
}

/// The normal of a sliver is noise, and a facet's nearest point may lie in any of its triangles. Seen from a point well
/// outside, above where the facet is nearest to the origin, both are plain: the direction to the nearest point, and
/// that point.
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
        let nearest = distance(&Shifted { pair, origin }, -found.normal, &goal);
        if nearest.end == End::Inside || !(nearest.upper > 0.5 * height) {
            return;
        }
        let witness = nearest.simplex.witness();
        let normal = -witness.point.normalize_or_zero();
        let lower = -normal.dot(pair.support(normal));
        let gain = lower - found.lower;
        let point = witness.point + origin;
        let before = astray(found.witness.point, found.normal, found.lower);
        let after = astray(point, normal, lower);
        // The foot of that point is the depth's only where it was seen along the normal that came of it.
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

/// Measures `b` above the half-space `a`: one support point says it all.
fn above_half_space(a: &Placement<'_>, b: &Placement<'_>) -> Measured {
    let normal = a.rotation.y_axis.normalize();
    let placed = ExactPlaced::new(b);
    let ground = a.position;
    let lowest = furthest(&placed.points, -normal);
    let height = normal.dot((placed.center[0] - ground) + placed.center[1] + lowest);
    let gap = height - placed.rounding - ExactPlaced::new(a).rounding;
    let radius = placed.radius;
    let on_a = placed.center[0] + placed.center[1] + lowest - normal * (placed.rounding + gap);
    Measured { status: verdict(gap, tolerance(radius, radius, gap)), gap, normal, on_a }
}

/// Thresholds well inside of the band from τ / 10 to τ in which either verdict may be given.
pub(crate) fn exact_limits(pair: &ExactRelative) -> Limits<f64> {
    let tolerance = (1e-5 * pair.smaller).max(4e-6 * pair.sum);
    let error = SUPPORT_ERROR * (pair.sum + pair.offset.length());
    Limits {
        separated: 0.3 * tolerance + error,
        touching: 0.6 * tolerance,
        penetrating: 0.3 * tolerance + error,
    }
}

/// [`settle`], showing every simplex on the way.
///
/// Should the search get stuck, which no test has seen, it starts again from other directions, and if none leads to
/// an end the bounds of the gap that were found decide.
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
        // Without a direction that shows it, the line of the centres is as good as any.
        Settled::separated(pair.offset)
    } else if middle < -limits.penetrating {
        Settled::hit(Status::Penetrating)
    } else {
        Settled::hit(Status::Touching)
    }
}

/// Directions to start from again.
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
            let upper = reach(&simplex);
            match epa::<_, POINTS, FACES>(pair, &simplex, upper <= limits.touching, limits) {
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
    use hullfield_oracle::{corpus, scenes};

    use super::*;

    fn body(placed: &hullfield_oracle::Placed) -> Body {
        Body {
            hull: placed.hull,
            position: placed.pose.position,
            rotation: placed.pose.rotation,
            scale: placed.pose.scale,
            ..Body::new(0)
        }
    }

    fn vertices(hulls: &[Hull], body: &Body) -> Vec<DVec3> {
        let placed = ExactPlaced::new(&Placement::new(&hulls[body.hull as usize], body));
        placed.points.iter().map(|v| *v + placed.center[1] + placed.center[0]).collect()
    }

    /// Against exhaustive separating axes, over the scenes that are hardest on it.
    #[test]
    fn measures_to_a_billionth() {
        let sets = corpus::hulls().unwrap().sets;
        let near = |count, placed, stretch, seed| {
            scenes::near_pairs(&sets, scenes::Near { count, placed, stretch, seed, ..Default::default() })
        };
        let round =
            scenes::convex_set(&mut hullfield_oracle::random::Random::new(81), scenes::Kind::Ball, 128);
        let scenes = [
            ("near", near(4_000, 0.5, 1.0, 1)),
            ("stretched", near(2_000, 0.5, 1000.0, 2)),
            ("kissing", scenes::kissing_boxes(1_000, 78)),
            ("debris", scenes::debris(1_000, true, 79)),
            ("coincident", scenes::coincident(&sets[..300], 80)),
            ("stacked", scenes::stacked_cubes(3)),
            ("boxed", scenes::box_in_box(500, 83)),
            (
                "round",
                scenes::near_pairs(
                    std::slice::from_ref(&round),
                    scenes::Near { count: 50, placed: 1.0, seed: 82, ..Default::default() },
                ),
            ),
            ("concentric", scenes::coincident(&[round], 84)),
        ];
        for (name, scene) in scenes {
            let hulls: Vec<Hull> =
                scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
            let shapes = scene.shapes();
            let begin = std::time::Instant::now();
            let mut worst = [0.0_f64; 4];
            for &[a, b] in &scene.pairs {
                let [at, bt] = [a, b].map(|row| &scene.bodies[row as usize]);
                let truth = hullfield_oracle::gap::gap(
                    &shapes[at.hull as usize],
                    &at.pose,
                    &shapes[bt.hull as usize],
                    &bt.pose,
                );
                let (a, b) = (body(at), body(bt));
                let measured = measure(&hulls, &a, &b);
                let radius =
                    |body: &Body| ExactPlaced::new(&Placement::new(&hulls[body.hull as usize], body)).radius;
                let sum = radius(&a) + radius(&b);
                let n = measured.normal;
                // Along the normal the projections must be that far apart.
                let shown = vertices(&hulls, &b).iter().map(|v| n.dot(*v)).fold(f64::INFINITY, f64::min)
                    - vertices(&hulls, &a).iter().map(|v| n.dot(*v)).fold(f64::NEG_INFINITY, f64::max);
                let size = sum + at.pose.position64().length() * 1e-7;
                let errors = [
                    ((measured.gap - truth.gap).abs() - truth.slack).max(0.0) / sum,
                    (shown - measured.gap).abs() / size,
                    (n.length() - 1.0).abs(),
                    // The point on a is on a, and that on b on b.
                    [
                        (&shapes[at.hull as usize], at, measured.on_a),
                        (&shapes[bt.hull as usize], bt, measured.on_b()),
                    ]
                    .map(|(shape, placed, point)| {
                        if shape.dimension() < 3 {
                            return 0.0;
                        }
                        let local = (placed.pose.rotation64().inverse() * (point - placed.pose.position64()))
                            / placed.pose.scale64();
                        shape.outside(local.as_vec3().to_array()) / shape.radius([1.0; 3])
                    })
                    .into_iter()
                    .fold(0.0, f64::max),
                ];
                if errors[3] > 1e-1 {
                    println!("{errors:?} {measured:?} {truth:?}");
                }
                for (worst, error) in worst.iter_mut().zip(errors) {
                    *worst = worst.max(error);
                }
                assert!(
                    errors[0] <= 1e-9 && errors[1] <= 1e-9 && errors[2] <= 1e-12,
                    "{name}: {errors:?}: {measured:?} against {truth:?} at {a:?} {b:?}"
                );
            }
            println!("{name}: {worst:?} {} pairs {:?}", scene.pairs.len(), begin.elapsed());
        }
    }

    /// How often `search` gets stuck, over the scenes that are hardest on it.
    #[test]
    fn the_first_search_ends() {
        let sets = corpus::hulls().unwrap().sets;
        let near =
            scenes::Near { count: 20_000, placed: 1.0, stretch: 1000.0, seed: 77, ..Default::default() };
        let mut scenes = vec![
            scenes::near_pairs(&sets, near),
            scenes::kissing_boxes(5_000, 78),
            scenes::debris(5_000, true, 79),
            scenes::coincident(&sets[..500], 80),
            scenes::stacked_cubes(4),
        ];
        let round =
            scenes::convex_set(&mut hullfield_oracle::random::Random::new(81), scenes::Kind::Ball, 128);
        scenes.push(scenes::near_pairs(
            &[round],
            scenes::Near { count: 200, placed: 1.0, seed: 82, ..Default::default() },
        ));
        for scene in scenes {
            let hulls: Vec<Hull> =
                scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
            for &[a, b] in &scene.pairs {
                let [a, b] = [a, b].map(|body| {
                    let placed = &scene.bodies[body as usize];
                    Body {
                        hull: placed.hull,
                        position: placed.pose.position,
                        rotation: placed.pose.rotation,
                        scale: placed.pose.scale,
                        ..Body::new(0)
                    }
                });
                let pair = ExactRelative::new(&hulls, &a, &b);
                let found = search(&pair, pair.offset, &exact_limits(&pair), |_, _| ());
                assert!(found.is_ok(), "stuck at {found:?}: {a:?} {b:?}");
            }
        }
    }
}
