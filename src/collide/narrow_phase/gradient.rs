//! How the separation of a pair changes with the poses of its bodies.
//!
//! The separation is the greatest gap over all directions, `max over n of min over p, q of n · (q − p)`, with points `p` of `a` and `q` of
//! `b`. At the best direction and its nearest points only the bodies' motion counts, not how direction and points change (the envelope
//! theorem; Danskin 1967): the rate is that of `n · (q − p)` with `n` fixed and the points carried along by their bodies. It holds for a
//! depth too, where `q − p` is the foot of the origin on the nearest facet of the Minkowski difference, as `n` is then held by several
//! points whose weighted mean is the foot (Montaut et al. 2023, "Differentiable Collision Detection: a Randomized Smoothing Approach", §III).
//!
//! Where several points or several directions are equally good, each has its own rates, and the separation has a kink there: see
//! [`Degeneracy`].

use glam::DVec3;

use crate::collide::epa::exact_depth::is_depth_unique;
use crate::collide::gjk::distance::{Goal, StopReason, distance};
use crate::collide::gjk::pose::{ExactPlaced, ExactRelative, Placement};
use crate::collide::gjk::tolerance::tolerance;
use crate::collide::hull::Dimension;
use crate::collide::narrow_phase::exact;
use crate::collide::narrow_phase::manifold::{Corner, convex};
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Degeneracy, Gradient};
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::stored::Stored;

/// Two edges whose directions have at least this sine cross in one point.
const CROSSING: f64 = 0.01;

/// The search for the depth's directions stops at this share of the pair's unit.
const SLACK: f64 = 1e-11;

impl Row for Gradient {
    const WITH_DEPTH: bool = true;

    fn open(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status: Status::Touching,
            separation: 0.0,
            position_a: [0.0; 3],
            rotation_a: [0.0; 3],
            position_b: [0.0; 3],
            rotation_b: [0.0; 3],
            degeneracy: None,
        }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn gap(&self) -> Option<f64> {
        Some(self.separation)
    }

    /// The measurement is taken again in f64: the direction of a small gap in f32 may be off by more than a gradient can bear.
    fn of(scene: &Scene, stored: Stored<'_>, pair: [u32; 2], _: &Measured, _: f64) -> Self {
        let [a, b] = exact::in_order(&scene.hulls, stored, pair);
        if stored.is_reversed(pair) {
            gradient([pair[1], pair[0]], &[a, b]).swapped()
        } else {
            gradient(pair, &[a, b])
        }
    }

    fn shift(&mut self, _: DVec3) {}
}

impl Gradient {
    /// The gradient of the same pair in the other order.
    fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            position_a: self.position_b,
            rotation_a: self.rotation_b,
            position_b: self.position_a,
            rotation_b: self.rotation_a,
            ..self
        }
    }
}

/// The gradient of two placed hulls, not both half-spaces.
pub(crate) fn gradient([a, b]: [u32; 2], placements: &[Placement<'_>; 2]) -> Gradient {
    let measured = exact::measure_placed(placements);
    let normal = measured.normal;
    let arms = [measured.on_a - placements[0].position, measured.on_b() - placements[1].position];
    Gradient {
        a,
        b,
        part_a: 0,
        part_b: 0,
        status: measured.status,
        separation: measured.gap,
        position_a: (-normal).to_array(),
        rotation_a: normal.cross(arms[0]).to_array(),
        position_b: normal.to_array(),
        rotation_b: arms[1].cross(normal).to_array(),
        degeneracy: degeneracy(placements, &measured),
    }
}

/// Whether another direction or other points are as good as those measured, to within the pair's tolerance.
fn degeneracy(placements: &[Placement<'_>; 2], measured: &Measured) -> Option<Degeneracy> {
    let is_half_space = placements.map(|placement| placement.hull.dimension() == Dimension::HalfSpace);
    let placed = [0, 1].map(|k| ExactPlaced::new(&placements[k]));
    if let [true, false] | [false, true] = is_half_space {
        let body = usize::from(is_half_space[0]);
        let down = if body == 0 { measured.normal } else { -measured.normal };
        let radius = placed[body].radius;
        let lowest = support_set(&placed[body], down, tolerance(radius, radius, measured.gap));
        return (lowest.len() > 1).then_some(Degeneracy::Points);
    }
    let radii = [placed[0].radius, placed[1].radius];
    let tolerance = tolerance(radii[0].min(radii[1]), radii[0] + radii[1], measured.gap);
    let sets = [
        support_set(&placed[0], measured.normal, tolerance),
        support_set(&placed[1], -measured.normal, tolerance),
    ];
    let core_gap = measured.gap + placed[0].rounding + placed[1].rounding;
    let is_normal_certain = if core_gap > tolerance {
        true
    } else if core_gap >= -tolerance {
        is_inside_facet(&placed, &sets, measured.normal, tolerance)
    } else {
        is_normal_unique(placements, tolerance)
    };
    if !is_normal_certain {
        return Some(Degeneracy::Normal);
    }
    let edge = |set: &[DVec3]| (set[1] - set[0]).normalize_or_zero();
    let is_one_point = match [sets[0].len(), sets[1].len()] {
        [1, _] | [_, 1] => true,
        [2, 2] => edge(&sets[0]).cross(edge(&sets[1])).length() > CROSSING,
        _ => false,
    };
    (!is_one_point).then_some(Degeneracy::Points)
}

/// Whether the origin is above the facet that two sets of vertices make of the Minkowski difference, further than `tolerance` from its
/// edges: the direction of a touch is then that of the facet.
fn is_inside_facet(placed: &[ExactPlaced; 2], sets: &[Vec<DVec3>; 2], normal: DVec3, tolerance: f64) -> bool {
    let [a, b] = placed;
    let offset = (a.center[0] - b.center[0]) + (a.center[1] - b.center[1]);
    let points = sets[0].iter().flat_map(|p| sets[1].iter().map(move |q| *p - *q + offset));
    // Which vertices the corners are of does not matter here.
    let polygon = convex(points.map(|point| Corner { point, vertex: 0 }), normal);
    let is_inside = |k: usize| {
        let (from, to) = (polygon[k].point, polygon[(k + 1) % polygon.len()].point);
        normal.dot((to - from).cross(-from)) >= tolerance * (to - from).length()
    };
    polygon.len() >= 3 && (0..polygon.len()).all(is_inside)
}

/// The vertices of a core that are within `tolerance` of the highest along a unit direction.
fn support_set(placed: &ExactPlaced, direction: DVec3, tolerance: f64) -> Vec<DVec3> {
    let heights = placed.points.iter().map(|point| point.dot(direction));
    let top = heights.fold(f64::NEG_INFINITY, f64::max);
    placed.points.iter().copied().filter(|point| point.dot(direction) >= top - tolerance).collect()
}

/// Whether cores that touch or overlap have one direction of least depth.
fn is_normal_unique(placements: &[Placement<'_>; 2], tolerance: f64) -> bool {
    let pair = ExactRelative::of(placements);
    let slack = SLACK * pair.sum;
    let goal = Goal::converge(slack, 1e-13);
    let nearest = distance(&pair, pair.offset, &goal);
    nearest.stop == StopReason::Inside && is_depth_unique(&pair, &nearest, slack, tolerance / pair.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::narrow_phase::test_pairs::all_kinds;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::placed::turn;

    /// Share of the sum of the bounding radii by which a difference moves a body, or radians by which it turns it: less than τ, so that no
    /// kink that is not flagged is between.
    const STEP: f64 = 1e-6;

    fn moved<'a>(placements: &[Placement<'a>; 2], of: usize, by: DVec3) -> [Placement<'a>; 2] {
        let mut moved = *placements;
        moved[of].position += by;
        moved
    }

    fn turned<'a>(placements: &[Placement<'a>; 2], of: usize, by: DVec3) -> [Placement<'a>; 2] {
        let mut turned = *placements;
        turned[of].rotation = turn(by.normalize(), by.length()) * turned[of].rotation;
        turned
    }

    /// The rates of the gap by central differences: position and rotation of `a`, then of `b`. The rotations' rates are per radian.
    fn differences(placements: &[Placement<'_>; 2], sum: f64) -> [[f64; 3]; 4] {
        let gap = |placements: &[Placement<'_>; 2]| exact::measure_placed(placements).gap;
        [(0, false), (0, true), (1, false), (1, true)].map(|(of, is_turn)| {
            [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
                let step = if is_turn { STEP } else { STEP * sum };
                let change = if is_turn { turned } else { moved };
                let ends = [axis * step, -axis * step].map(|by| gap(&change(placements, of, by)));
                (ends[0] - ends[1]) / (2.0 * step)
            })
        })
    }

    /// The greatest difference of two lists of rates, with lengths in units of `sum`.
    fn distance_of(found: &Gradient, expected: &[[f64; 3]; 4], sum: f64) -> f64 {
        let rows = [found.position_a, found.rotation_a, found.position_b, found.rotation_b];
        let units = [1.0, sum, 1.0, sum];
        let of = |k: usize| (DVec3::from(rows[k]) - DVec3::from(expected[k])).length() / units[k];
        (0..4).map(of).fold(0.0, f64::max)
    }

    /// The test pairs nearly touch. Moved along their normals by these shares of the sum of the radii, they overlap or are apart.
    const SHIFTS: [f64; 5] = [0.0, 0.02, 0.3, -0.02, -0.15];

    #[test]
    fn rates_are_those_of_central_differences() {
        let (mut smooth, mut all) = ([0; SHIFTS.len()], 0);
        for test in all_kinds(400, 30.0) {
            for (at, pair) in test.pairs().into_iter().enumerate() {
                let [a, b] = pair.map(|body| &test.bodies[body as usize]);
                let placements = [a, b].map(|body| Placement::new(&test.hulls[body.hull as usize], body));
                let shift = at % SHIFTS.len();
                let scale = ExactRelative::of(&placements);
                let away = exact::measure_placed(&placements).normal * SHIFTS[shift] * scale.sum * scale.unit;
                let placements = moved(&placements, 1, away);
                let exact = ExactRelative::of(&placements);
                let found = gradient(pair, &placements);
                // Nearer than this the direction turns within a step.
                let turns_within = found.separation.abs() < 300.0 * STEP * exact.sum * exact.unit;
                all += 1;
                if found.degeneracy.is_some() || turns_within {
                    continue;
                }
                smooth[shift] += 1;
                let arm = (placements[0].position - exact.center).length().max(exact.sum * exact.unit);
                let expected = differences(&placements, exact.sum * exact.unit);
                let off = distance_of(&found, &expected, arm);
                assert!(off < 1e-3, "{}: off by {off:e}: {found:?} {expected:?} {a:?} {b:?}", test.name);
                let wrong = Gradient { rotation_a: found.position_a.map(|x| 0.01 * x * arm), ..found };
                assert!(distance_of(&wrong, &expected, arm) > 1e-3, "the comparison finds wrong rates");
            }
        }
        println!("{smooth:?} of {all} pairs are smooth");
        assert!(smooth.iter().all(|count| 20 * count > all / SHIFTS.len()), "{smooth:?} of {all}");
    }

    #[test]
    fn kinks_are_flagged() {
        let cube = Hull::cuboid([0.5; 3]).unwrap();
        let ball = Hull::ball(0.5).unwrap();
        let capsule = Hull::capsule([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.25).unwrap();
        let ground = Hull::half_space();
        let of = |a: &Hull, b: &Hull, at: [f32; 3]| {
            let bodies = [Body::new(0), Body::new(0).at(at)];
            gradient([0, 1], &[Placement::new(a, &bodies[0]), Placement::new(b, &bodies[1])]).degeneracy
        };
        // Faces that rest on each other, apart and overlapping.
        assert_eq!(of(&cube, &cube, [0.0, 0.0, 1.5]), Some(Degeneracy::Points));
        assert_eq!(of(&cube, &cube, [0.1, 0.2, 0.9]), Some(Degeneracy::Points));
        // Two and six directions are as deep.
        assert_eq!(of(&cube, &cube, [0.5, 0.5, 0.0]), Some(Degeneracy::Normal));
        assert_eq!(of(&cube, &cube, [0.0; 3]), Some(Degeneracy::Normal));
        // Corner on corner, and concentric balls.
        assert_eq!(of(&cube, &cube, [1.0; 3]), Some(Degeneracy::Normal));
        assert_eq!(of(&ball, &ball, [0.0; 3]), Some(Degeneracy::Normal));
        // Parallel capsules, crossed ones need another pose.
        assert_eq!(of(&capsule, &capsule, [0.0, 1.0, 0.0]), Some(Degeneracy::Points));
        // Balls that overlap have one direction as long as their centres differ.
        assert_eq!(of(&ball, &ball, [0.3, 0.0, 0.0]), None);
        assert_eq!(of(&cube, &ball, [0.2, 0.1, 1.5]), None);
        assert_eq!(of(&cube, &ball, [0.2, 0.1, 0.3]), None);
        assert_eq!(of(&cube, &ball, [0.1, 0.1, 0.1]), Some(Degeneracy::Normal));
        // A cube lies on the ground; a ball does so on one point.
        assert_eq!(of(&ground, &cube, [0.0, 0.5, 0.0]), Some(Degeneracy::Points));
        assert_eq!(of(&ground, &ball, [0.0, 0.5, 0.0]), None);
    }
}
