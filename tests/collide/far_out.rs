//! Positions in f64: bodies far from the world's origin are judged as those near it.
//!
//! Positions are multiples of a power of two, and shifts are integers, so that a shifted scene is the same scene exactly: statuses must be
//! equal, not only near.

use glam::DVec3;
use hullfield::collide::{
    Arena, Bodies, Body, BodyColumns, Contact, ContactOptions, DistanceOptions, GradientOptions, Hull,
    ManifoldOptions, Motion, Options, Pairs, PointColumns, PointOptions, Pose, Precision, Ray, RayColumns,
    RayOptions, Status, Sweep, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
#[cfg(feature = "gpu")]
use crate::common;

/// Where scenes are shifted to, all integers.
pub(crate) const SHIFTS: [[f64; 3]; 9] = [
    [1e5, 0.0, 0.0],
    [-7e4, 9e4, 1e5],
    [0.0, 1e7, 0.0],
    [0.0, 0.0, -1e7],
    [1e7, -1e7, 1e7],
    [3.0, 1_234_567.0, 9_999_999.0],
    [1e9, 0.0, 0.0],
    [-1e9, -1e9, 1e9],
    [17.0, -999_999_937.0, 0.0],
];

/// Sizes of the bodies, powers of two: about 1e-3, 1 and 1e3.
pub(crate) const SIZES: [f64; 3] = [1.0 / 1024.0, 1.0, 1024.0];

/// A scene about the world's origin.
pub(crate) struct Crowd {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) bodies: Vec<Body>,
    /// Exact in f32 too.
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) size: f64,
}

const GROUND: u32 = 5;

impl Crowd {
    /// Bodies of this size, some of which touch to within the tolerance, or nearly.
    pub(crate) fn new(size: f64, count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let lump = [[1.0, 2.0, 3.0], [4.0, 2.5, 3.0], [1.5, 6.0, 3.5], [2.0, 3.0, 9.0], [3.0, 3.0, 3.0]];
        let hulls = vec![
            Hull::cuboid([0.5; 3]).unwrap(),
            Hull::ball(0.5).unwrap(),
            Hull::capsule([0.0, -0.25, 0.0], [0.0, 0.5, 0.0], 0.25).unwrap(),
            Hull::from_points(&lump.map(|point: [f32; 3]| point.map(|x| 0.125 * x))).unwrap(),
            Hull::cuboid([0.25, 0.5, 0.125]).unwrap().rounded(0.125).unwrap(),
            Hull::half_space(),
        ];
        // Half of the bodies are at random, and half are cubes in a row that kiss, overlap or just miss.
        let (grid, wide) = (size / 1024.0, (count as f64).cbrt() * 0.6);
        let mut bodies = Vec::new();
        let mut positions = Vec::new();
        for at in 0..count {
            let k = at / 2;
            if at % 2 == 0 {
                let scale = size * random.log_between(if at % 10 == 0 { 0.01 } else { 0.5 }, 1.0);
                bodies
                    .push(Body::new(random.below(5) as u32).rotated(random.rotation()).scaled(scale as f32));
                let along = |random: &mut Random| grid * (1024.0 * random.between(-wide, wide)).round();
                positions.push([along(&mut random), along(&mut random), along(&mut random)]);
            } else {
                let off = [0.0, 3e-6, -3e-6, 8e-6, -8e-6, 1e-4, -1e-4][k % 7];
                bodies.push(Body::new(0).scaled((size * (1.0 + off)) as f32));
                let row = [k % 5, k / 5 % 5, k / 25].map(|x| size * (x as f64 - 2.0));
                positions.push([row[0], row[1], row[2] + 0.25 * size]);
            }
        }
        Self { hulls, bodies, positions, size }
    }

    fn at(&self, shift: [f64; 3]) -> Vec<[f64; 3]> {
        let moved: Vec<[f64; 3]> =
            self.positions.iter().map(|position| [0, 1, 2].map(|k| position[k] + shift[k])).collect();
        for (there, here) in moved.iter().zip(&self.positions) {
            assert_eq!([0, 1, 2].map(|k| there[k] - shift[k]), *here, "the shift is exact");
        }
        moved
    }

    /// The bodies with their positions in f32.
    fn rounded(&self, shift: [f64; 3]) -> Vec<Body> {
        self.bodies
            .iter()
            .zip(self.at(shift))
            .map(|(body, position)| body.at(position.map(|x| x as f32)))
            .collect()
    }

    pub(crate) fn arena(&self, engine: &Engine, precision: Precision) -> Arena {
        Arena::new(engine, &self.hulls, Options { precision, ..Options::default() }).unwrap()
    }
}

/// An upper bound of τ of bodies about this large.
fn tolerance(size: f64, distance: f64) -> f64 {
    (2e-5 * size).max(4e-6 * (4.0 * size + distance))
}

/// What rounding to f64 there takes off a point.
pub(crate) fn rounding(shift: [f64; 3]) -> f64 {
    4e-16 * DVec3::from(shift).abs().max_element()
}

fn statuses<'a>(
    arena: &Arena,
    columns: impl Into<BodyColumns<'a>>,
    pairs: Pairs<'_>,
) -> Vec<([u32; 2], Status)> {
    let found = arena.intersections(columns, pairs).unwrap().wait().unwrap();
    found.rows.iter().map(|row| ([row.a, row.b], row.status)).collect()
}

pub(crate) fn far<'a>(bodies: &'a [Body], positions: &'a [[f64; 3]]) -> BodyColumns<'a> {
    BodyColumns { positions, ..BodyColumns::new(bodies) }
}

/// All pairs of some bodies.
fn all_pairs(count: usize) -> Vec<[u32; 2]> {
    (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| [a, b])).collect()
}

#[test]
fn statuses_are_those_at_the_origin() {
    let shifts = &SHIFTS[..extent(SHIFTS.len(), SHIFTS.len())];
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 120, 71 + case as u64);
        let pairs = all_pairs(120);
        let mut seen = [0; 3];
        for (name, engine) in engines() {
            for precision in [Precision::Fast, Precision::Exact] {
                let arena = crowd.arena(&engine, precision);
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&pairs)] {
                    let expected = statuses(&arena, &crowd.rounded([0.0; 3]), pairs);
                    for &shift in [[0.0; 3]].iter().chain(shifts) {
                        let positions = crowd.at(shift);
                        let found = statuses(&arena, far(&crowd.bodies, &positions), pairs);
                        assert_eq!(found, expected, "{name} {precision:?} {size} {shift:?}");
                    }
                    for (_, status) in expected {
                        seen[status as usize] += 1;
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 30), "{seen:?}");
    }
}

/// A control: f32 positions do not hold the scene there.
#[test]
fn positions_in_f32_lose_the_scene() {
    let crowd = Crowd::new(SIZES[0], 60, 5);
    let arena = crowd.arena(&Engine::cpu(), Precision::Fast);
    let pairs = all_pairs(60);
    let near = statuses(&arena, &crowd.rounded([0.0; 3]), Pairs::Given(&pairs));
    for shift in SHIFTS {
        let there = statuses(&arena, &crowd.rounded(shift), Pairs::Given(&pairs));
        assert_ne!(there, near, "{shift:?}");
    }
}

#[test]
fn candidates_are_as_few_as_at_the_origin() {
    for size in SIZES {
        let crowd = Crowd::new(size, 2_000, 19);
        let mut first: Option<Vec<usize>> = None;
        for (name, engine) in engines() {
            let arena = crowd.arena(&engine, Precision::Fast);
            let plain = arena.candidates(&crowd.rounded([0.0; 3])).unwrap().wait().unwrap();
            let counts: Vec<usize> = SHIFTS
                .into_iter()
                .map(|shift| {
                    let positions = crowd.at(shift);
                    let found = arena.candidates(far(&crowd.bodies, &positions)).unwrap().wait().unwrap();
                    let [few, many] = [plain.len().min(found.len()), plain.len().max(found.len())];
                    assert!(many as f64 <= 1.01 * few as f64, "{name} {size} {shift:?}: {few} {many}");
                    found.len()
                })
                .collect();
            match &first {
                None => first = Some(counts),
                Some(first) => assert_eq!(first, &counts, "{name}"),
            }
        }
    }
}

#[test]
fn measurements_are_those_at_the_origin() {
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 80, 171 + case as u64);
        let margin = (0.5 * size) as f32;
        for (name, engine) in engines() {
            for precision in [Precision::Fast, Precision::Exact] {
                let arena = crowd.arena(&engine, precision);
                let plain = crowd.rounded([0.0; 3]);
                let here = measured(&arena, BodyColumns::new(&plain), margin);
                for shift in SHIFTS {
                    let positions = crowd.at(shift);
                    let there = measured(&arena, far(&crowd.bodies, &positions), margin);
                    let name = format!("{name} {precision:?} {size} {shift:?}");
                    here.compare(&there, shift, &crowd, precision, &name);
                }
            }
        }
    }
}

/// What the measuring queries say of a scene.
struct MeasuredScene {
    distances: Vec<hullfield::collide::Distance>,
    contacts: Vec<Contact>,
    manifolds: Vec<hullfield::collide::Manifold>,
    gradients: Vec<hullfield::collide::Gradient>,
}

fn measured(arena: &Arena, columns: BodyColumns<'_>, margin: f32) -> MeasuredScene {
    let near = Pairs::BroadPhase;
    MeasuredScene {
        distances: arena.distances(columns, near, &DistanceOptions { margin }).unwrap().wait().unwrap().rows,
        contacts: arena.contacts(columns, near, &ContactOptions { margin }).unwrap().wait().unwrap().rows,
        manifolds: arena.manifolds(columns, near, &ManifoldOptions { margin }).unwrap().wait().unwrap().rows,
        gradients: arena.gradients(columns, near, &GradientOptions { margin }).unwrap().wait().unwrap().rows,
    }
}

impl MeasuredScene {
    fn compare(&self, there: &Self, shift: [f64; 3], crowd: &Crowd, precision: Precision, name: &str) {
        let slack = match precision {
            Precision::Fast => 2.0 * tolerance(crowd.size, crowd.size),
            Precision::Exact => 2e-9 * crowd.size,
        };
        let gap = |here: f64, there: f64, what: &str| {
            assert!((here - there).abs() <= slack, "{name}: {what} {here} {there}");
        };
        // A point lies on its body; where the witness is not unique it may be another one.
        assert_eq!(self.distances.len(), there.distances.len(), "{name}");
        for (one, other) in self.distances.iter().zip(&there.distances) {
            assert_eq!((one.a, one.b, one.status), (other.a, other.b, other.status), "{name}");
            gap(one.separation, other.separation, "a distance of");
            assert_eq!(one.points.is_some(), other.points.is_some(), "{name}");
        }
        assert_eq!(self.contacts.len(), there.contacts.len(), "{name}");
        for (one, other) in self.contacts.iter().zip(&there.contacts) {
            assert_eq!((one.a, one.b, one.status), (other.a, other.b, other.status), "{name}");
            gap(one.separation, other.separation, "a contact of");
            let [on_a, on_b] = other.points.map(DVec3::from);
            let apart = (on_b - on_a).dot(DVec3::from(other.normal));
            // The normal is a unit vector to within f32.
            let off = (apart - other.separation).abs();
            assert!(
                off <= 1e-6 * other.separation.abs() + 2.0 * rounding(shift) + 1e-12 * crowd.size,
                "{name}"
            );
            if precision == Precision::Exact {
                // The same numbers, moved.
                assert_eq!((one.separation, one.normal), (other.separation, other.normal), "{name}");
                let moved = DVec3::from(one.points[0]) + DVec3::from(shift);
                let off = (moved - on_a).abs().max_element();
                assert!(off <= 1e-12 * crowd.size + rounding(shift), "{name}: {off:e}");
            } else {
                // Both points are about the bodies: a point in the wrong frame would be far off.
                let body = DVec3::from(crowd.positions[other.a as usize]);
                let off = (on_a - DVec3::from(shift) - body).length();
                let here = (DVec3::from(one.points[0]) - body).length();
                assert!((off - here).abs() <= crowd.size && off <= 3.0 * crowd.size, "{name}: {off}");
            }
        }
        assert_eq!(self.manifolds.len(), there.manifolds.len(), "{name}");
        for (one, other) in self.manifolds.iter().zip(&there.manifolds) {
            assert_eq!((one.a, one.b, one.status), (other.a, other.b, other.status), "{name}");
            gap(one.separation, other.separation, "a manifold of");
            if precision == Precision::Exact {
                assert_eq!(one.point_count, other.point_count, "{name}");
                for (p, q) in one.points().iter().zip(other.points()) {
                    assert_eq!(p.features, q.features, "{name}");
                    gap(p.separation, q.separation, "a point of");
                    let off = DVec3::from(p.on_b) + DVec3::from(shift) - DVec3::from(q.on_b);
                    assert!(off.length() <= 1e-6 * crowd.size + 2.0 * rounding(shift), "{name}: {off}");
                }
            }
        }
        // Gradients are always f64: equal to the bit where positions are.
        assert_eq!(self.gradients.len(), there.gradients.len(), "{name}");
        for (one, other) in self.gradients.iter().zip(&there.gradients) {
            assert_eq!((one.a, one.b, one.status), (other.a, other.b, other.status), "{name}");
            assert_eq!((one.separation, one.position_a), (other.separation, other.position_a), "{name}");
            let off = DVec3::from(one.rotation_a) - DVec3::from(other.rotation_a);
            assert!(off.length() <= 1e-12 * crowd.size, "{name}: {off}");
            assert_eq!(one.degeneracy, other.degeneracy, "{name}");
        }
    }
}

/// The first half of the bodies, and the options of an arena with the other half and a half-space as statics.
pub(crate) fn with_statics(
    crowd: &Crowd,
    shift: [f64; 3],
    precision: Precision,
) -> (Vec<Body>, Vec<[f64; 3]>, Options) {
    let half = crowd.bodies.len() / 2;
    let positions = crowd.at(shift);
    let mut statics = crowd.bodies[half..].to_vec();
    let mut static_positions = positions[half..].to_vec();
    // A tilted ground under the scene: its position is in its plane.
    let ground = Pose::of_half_space([0.6, 0.8, 0.0], 0.0).unwrap();
    statics.push(Body::new(GROUND).posed(ground));
    static_positions.push([0, 1, 2].map(|k| shift[k] - [0.0, crowd.size, 0.0][k]));
    let options = Options { precision, statics, static_positions, ..Options::default() };
    (crowd.bodies[..half].to_vec(), positions[..half].to_vec(), options)
}

#[test]
fn statics_and_half_spaces_are_met_as_at_the_origin() {
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 160, 271 + case as u64);
        for (name, engine) in engines() {
            for precision in [Precision::Fast, Precision::Exact] {
                let base = crowd.arena(&engine, precision);
                let (bodies, positions, options) = with_statics(&crowd, [0.0; 3], precision);
                // At the origin f32 holds the scene.
                let statics: Vec<Body> = (options.statics.iter().zip(&options.static_positions))
                    .map(|(body, position)| body.at(position.map(|x| x as f32)))
                    .collect();
                let plain: Vec<Body> = (bodies.iter().zip(&positions))
                    .map(|(body, position)| body.at(position.map(|x| x as f32)))
                    .collect();
                let near = Options { statics, precision, ..Options::default() };
                let near = base.with_options(near).unwrap();
                let expected = statuses(&near, &plain, Pairs::BroadPhase);
                let candidates = near.candidates(&plain).unwrap().wait().unwrap().len();
                assert!(
                    expected.iter().any(|([_, b], _)| *b as usize == crowd.bodies.len()),
                    "the ground is met"
                );
                let margin = (0.25 * size) as f32;
                let options = ContactOptions { margin };
                let contacts =
                    near.contacts(&plain, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows;
                for shift in [[0.0; 3]].into_iter().chain(SHIFTS) {
                    let name = format!("{name} {precision:?} {size} {shift:?}");
                    let (bodies, positions, there) = with_statics(&crowd, shift, precision);
                    let arena = base.with_options(there).unwrap();
                    let columns = far(&bodies, &positions);
                    assert_eq!(statuses(&arena, columns, Pairs::BroadPhase), expected, "{name}");
                    assert_eq!(statuses(&arena, columns, Pairs::Exhaustive), expected, "{name}");
                    let count = arena.candidates(columns).unwrap().wait().unwrap().len();
                    assert!(count as f64 <= 1.1 * candidates as f64, "{name}: {count} {candidates}");
                    let found = arena.contacts(columns, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
                    assert_eq!(found.rows.len(), contacts.len(), "{name}");
                    for (row, other) in found.rows.iter().zip(&contacts) {
                        assert_eq!((row.a, row.b, row.status), (other.a, other.b, other.status), "{name}");
                        let off = (row.separation - other.separation).abs();
                        assert!(off <= 2.0 * tolerance(size, size), "{name}: {off:e}");
                        let at = DVec3::from(row.points[1]) - DVec3::from(shift);
                        // Not the same point where it is not unique, but one of the same two bodies.
                        let off = (at - DVec3::from(other.points[1])).length();
                        assert!(off <= 2.0 * size, "{name}: {off}");
                    }
                }
            }
        }
    }
}

/// A ground whose position is far from the bodies on it, and bodies in f32 with statics in f64.
#[test]
fn a_half_space_may_be_far_from_its_bodies() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space()];
    let bodies = [Body::new(0), Body::new(0), Body::new(0), Body::new(1)];
    let heights = [0.5, 0.501, 0.499, 0.0];
    for x in [0.0, 1e7, 1e12] {
        let mut positions = heights.map(|y| [x, y, 0.0]);
        (0..3).for_each(|at| positions[at][2] = 4.0 * at as f64);
        positions[3] = [0.0; 3];
        for (name, engine) in engines() {
            let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
            let found = statuses(&arena, far(&bodies, &positions), Pairs::BroadPhase);
            let expected = [([0, 3], Status::Touching), ([2, 3], Status::Penetrating)];
            assert_eq!(found, expected, "{name} {x}");
            // The same with the ground as a static, once with f32 bodies.
            let options =
                Options { statics: vec![bodies[3]], static_positions: vec![[0.0; 3]], ..Options::default() };
            let arena = arena.with_options(options).unwrap();
            let found = statuses(&arena, far(&bodies[..3], &positions[..3]), Pairs::BroadPhase);
            assert_eq!(found, expected, "{name} {x}");
            // Statics in f32 with bodies in f64.
            let options = Options { statics: vec![bodies[3]], ..Options::default() };
            let plain = arena.with_options(options).unwrap();
            let found = statuses(&plain, far(&bodies[..3], &positions[..3]), Pairs::BroadPhase);
            assert_eq!(found, expected, "{name} {x}");
            let exact = [0, 2].map(|at| bodies[at].at(positions[at].map(|x| x as f32)));
            let found = statuses(&arena, &exact, Pairs::BroadPhase);
            assert_eq!(found[0], ([0, 2], Status::Touching), "{name} {x}");
        }
    }
}

fn swept(arena: &Arena, columns: BodyColumns<'_>, motions: &[Motion], pairs: Pairs<'_>) -> Vec<Sweep> {
    let options = SweepOptions { duration: 2.0, witness: true };
    arena.sweeps(columns, motions, pairs, &options).unwrap().wait().unwrap().rows
}

#[test]
fn sweeps_are_those_at_the_origin() {
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 60, 371 + case as u64);
        let mut random = Random::new(9);
        let motions: Vec<Motion> = (0..60)
            .map(|at| Motion {
                velocity: [0; 3].map(|_| (size * random.between(-2.0, 2.0)) as f32),
                angular_velocity: if at % 3 == 0 {
                    [0; 3].map(|_| random.between(-1.0, 1.0) as f32)
                } else {
                    [0.0; 3]
                },
            })
            .collect();
        let pairs = all_pairs(60);
        for (name, engine) in engines() {
            for precision in [Precision::Fast, Precision::Exact] {
                let arena = crowd.arena(&engine, precision);
                let plain = crowd.rounded([0.0; 3]);
                for pairs in [Pairs::BroadPhase, Pairs::Given(&pairs)] {
                    let here = swept(&arena, BodyColumns::new(&plain), &motions, pairs);
                    let at_origin = swept(&arena, far(&crowd.bodies, &crowd.positions), &motions, pairs);
                    for outcome in [SweepOutcome::Hit, SweepOutcome::Touching] {
                        assert!(here.iter().filter(|row| row.outcome == outcome).count() > 20, "{outcome:?}");
                    }
                    for shift in SHIFTS {
                        let positions = crowd.at(shift);
                        let there = swept(&arena, far(&crowd.bodies, &positions), &motions, pairs);
                        let name = format!("{name} {precision:?} {size} {shift:?}");
                        assert_eq!(here.len(), there.len(), "{name}");
                        for ((one, other), unmoved) in here.iter().zip(&there).zip(&at_origin) {
                            assert_eq!(
                                (one.a, one.b, one.outcome),
                                (other.a, other.b, other.outcome),
                                "{name}"
                            );
                            if precision == Precision::Exact {
                                assert_eq!((one.time, one.normal), (other.time, other.normal), "{name}");
                                let off = one.separation.unwrap_or(0.0) - other.separation.unwrap_or(0.0);
                                assert!(off.abs() <= 1e-12 * size, "{name}: {off:e}");
                            }
                            let (Some(gap), Some(points)) = (other.separation, other.points) else {
                                continue;
                            };
                            assert!(
                                other.outcome != SweepOutcome::Hit || gap.abs() <= 2.0 * tolerance(size, 0.0),
                                "{name}: {gap:e}"
                            );
                            let off = |row: &Sweep| {
                                let near = DVec3::from(row.points.unwrap()[0]) + DVec3::from(shift);
                                (near - DVec3::from(points[0])).length()
                            };
                            // Where it is not unique, rounding chooses the point.
                            assert!(off(one) <= 2.0 * size + rounding(shift), "{name}: {:e}", off(one));
                            if precision == Precision::Exact {
                                assert_eq!(unmoved.separation, other.separation, "{name}");
                                let off = off(unmoved);
                                assert!(off <= 1e-12 * size + 2.0 * rounding(shift), "{name}: {off:e}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn rays_hit_what_they_hit_at_the_origin() {
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 300, 471 + case as u64);
        let mut random = Random::new(29);
        let count = extent(600, 6_000);
        let grid = size / 1024.0;
        let point = |random: &mut Random| [0; 3].map(|_| grid * (1024.0 * random.between(-6.0, 6.0)).round());
        let starts: Vec<[f64; 3]> = (0..count).map(|_| point(&mut random)).collect();
        let rays: Vec<Ray> = (0..count)
            .map(|at| {
                let direction = if at % 5 == 0 { DVec3::Y } else { random.direction() };
                let end = if at % 3 == 0 { 4.0 * size as f32 } else { f32::INFINITY };
                Ray::new([f32::NAN; 3], direction.to_array().map(|x| x as f32)).up_to(end)
            })
            .collect();
        let plain_rays: Vec<Ray> = (rays.iter().zip(&starts))
            .map(|(ray, start)| Ray { origin: start.map(|x| x as f32), ..*ray })
            .collect();
        let plain_points: Vec<[f32; 3]> = starts.iter().map(|start| start.map(|x| x as f32)).collect();
        let options = RayOptions::default();
        let nearest = PointOptions::default();
        for (name, engine) in engines() {
            let base = crowd.arena(&engine, Precision::Fast);
            let (bodies, positions, near) = with_statics(&crowd, [0.0; 3], Precision::Fast);
            let statics = (near.statics.iter().zip(&near.static_positions))
                .map(|(body, position)| body.at(position.map(|x| x as f32)))
                .collect();
            let plain: Vec<Body> = (bodies.iter().zip(&positions))
                .map(|(body, position)| body.at(position.map(|x| x as f32)))
                .collect();
            let arena = base.with_options(Options { statics, ..Options::default() }).unwrap();
            let here = arena.raycasts(&plain, &plain_rays, &options).unwrap().wait().unwrap();
            let all_here = arena.raycasts_all(&plain, &plain_rays, &options).unwrap().wait().unwrap();
            let points_here = arena.nearest_points(&plain, &plain_points, &nearest).unwrap().wait().unwrap();
            let inside_here = arena.containments(&plain, &plain_points).unwrap().wait().unwrap();
            assert!(here.stats.hit_count > 200 && inside_here.rows.len() > 30, "{name}");
            for shift in [[0.0; 3]].into_iter().chain(SHIFTS) {
                let name = format!("{name} {size} {shift:?}");
                let (bodies, positions, there) = with_statics(&crowd, shift, Precision::Fast);
                let arena = base.with_options(there).unwrap();
                let columns = far(&bodies, &positions);
                let origins: Vec<[f64; 3]> =
                    starts.iter().map(|start| [0, 1, 2].map(|k| start[k] + shift[k])).collect();
                let far_rays = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
                let found = arena.raycasts(columns, far_rays, &options).unwrap().wait().unwrap();
                for (one, other) in here.rows.iter().zip(&found.rows) {
                    assert_eq!(
                        one.hit.map(|hit| (hit.body, hit.distance, hit.normal, hit.face)),
                        other.hit.map(|hit| (hit.body, hit.distance, hit.normal, hit.face)),
                        "{name}"
                    );
                    let (Some(one), Some(other)) = (one.hit, other.hit) else { continue };
                    let off = DVec3::from(one.point) + DVec3::from(shift) - DVec3::from(other.point);
                    assert!(off.abs().max_element() <= 1e-14 * size + rounding(shift), "{name}: {off}");
                }
                let all = arena.raycasts_all(columns, far_rays, &options).unwrap().wait().unwrap();
                assert_eq!(
                    all.rows.iter().map(|hit| (hit.ray, hit.body)).collect::<Vec<_>>(),
                    all_here.rows.iter().map(|hit| (hit.ray, hit.body)).collect::<Vec<_>>(),
                    "{name}"
                );
                let dark = arena.occlusions(columns, far_rays, &options).unwrap().wait().unwrap();
                for (one, other) in here.rows.iter().zip(&dark.rows) {
                    assert_eq!(one.hit.is_some(), other.occluded, "{name}");
                }
                let points = PointColumns::new_f64(&origins);
                let found = arena.nearest_points(columns, points, &nearest).unwrap().wait().unwrap();
                for (one, other) in points_here.rows.iter().zip(&found.rows) {
                    let [one, other] =
                        [one, other].map(|row| row.hit.map(|hit| (hit.body, hit.distance, hit.normal)));
                    assert_eq!(one, other, "{name}");
                }
                let found = arena.containments(columns, points).unwrap().wait().unwrap();
                assert_eq!(inside_here.rows, found.rows, "{name}");
            }
        }
    }
}

#[test]
fn far_rays_and_points_meet_bodies_in_f32() {
    let arena = Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
    let bodies: Vec<Body> = (0..100).map(|at| Body::new(0).at([4.0 * at as f32, 0.0, 0.0])).collect();
    // 1e9 away f32 has steps of 64: only f64 starts beside a body.
    let origins = [[20.25, -1e9 - 0.125, 0.25], [22.0, 1e9 + 0.5, 0.0], [-1e9 - 0.25, 0.25, 0.0]];
    let rays = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]].map(|way| Ray::new([0.0; 3], way));
    let columns = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
    let found = arena.raycasts(&bodies, columns, &RayOptions::default()).unwrap().wait().unwrap();
    let hits: Vec<_> = found.rows.iter().map(|row| row.hit.map(|hit| (hit.body, hit.distance))).collect();
    assert_eq!(hits, [Some((5, 1e9 - 0.375)), None, Some((0, 1e9 - 0.25))]);
    let points = [[20.0 + 1e-12, 0.5 + 1e-9, 0.0]];
    let points = PointColumns::new_f64(&points);
    let found = arena.nearest_points(&bodies, points, &PointOptions::default()).unwrap().wait().unwrap();
    let hit = found.rows[0].hit.unwrap();
    assert!(hit.body == 5 && (hit.distance - 1e-9).abs() < 1e-15, "{hit:?}");
}

/// A crowd as wide as f64 allows: statuses are those of pairs alone.
#[test]
fn wide_scenes_are_judged_pair_by_pair() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.5).unwrap()];
    let mut random = Random::new(77);
    let (mut bodies, mut positions) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let far = random.log_between(1.0, 1e13);
        let at = [0; 3].map(|_| far * random.between(-1.0, 1.0));
        let size = random.log_between(1e-3, 1e3);
        for k in 0..2 {
            bodies.push(Body::new(random.below(2) as u32).scaled(size as f32));
            let gap = [1e-3, -1e-3, 1e-6, -1e-6, 0.0][random.below(5)];
            positions.push([at[0] + f64::from(k) * size * (1.0 + gap), at[1], at[2]]);
        }
    }
    let pairs: Vec<[u32; 2]> = (0..200).map(|k| [2 * k, 2 * k + 1]).collect();
    let mut all: Option<Vec<([u32; 2], Status)>> = None;
    for (name, engine) in engines() {
        for precision in [Precision::Fast, Precision::Exact] {
            let arena = Arena::new(&engine, &hulls, Options { precision, ..Options::default() }).unwrap();
            let whole = statuses(&arena, far(&bodies, &positions), Pairs::Given(&pairs));
            for (row, &[a, b]) in whole.iter().zip(&pairs) {
                let both = [a, b].map(|id| id as usize);
                let (two, at) = (both.map(|id| bodies[id]), both.map(|id| positions[id]));
                let alone = statuses(&arena, far(&two, &at), Pairs::Given(&[[0, 1]]));
                assert_eq!(row.1, alone[0].1, "{name} {precision:?} {a} {at:?}");
            }
            let hits: Vec<_> = whole.iter().filter(|row| row.1 != Status::Separated).copied().collect();
            let near = statuses(&arena, far(&bodies, &positions), Pairs::BroadPhase);
            assert!(hits.iter().all(|row| near.contains(row)), "{name} {precision:?}");
            assert_eq!(all.get_or_insert_with(|| whole.clone()), &whole, "{name} {precision:?}");
            // Sweeps and rays too.
            let sizes = bodies.iter().map(|body| body.scale[0]);
            let motions: Vec<Motion> = sizes
                .enumerate()
                .map(|(at, size)| Motion {
                    velocity: [if at % 2 == 0 { size * 0.002 } else { 0.0 }, 0.0, 0.0],
                    angular_velocity: [if at % 8 == 0 { 0.01 } else { 0.0 }; 3],
                })
                .collect();
            let options = SweepOptions::default();
            let columns = far(&bodies, &positions);
            let given = Pairs::Given(&pairs);
            let moved = arena.sweeps(columns, &motions, given, &options).unwrap().wait().unwrap().rows;
            let near = arena.sweeps(columns, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
            let starts: Vec<[f64; 3]> = (0..200)
                .map(|k| {
                    let [x, y, z] = positions[2 * k];
                    let size = f64::from(bodies[2 * k].scale[0]);
                    // The start is as far off as the ray is long.
                    [x - [3.0 * size, 1e3 * size, 1e9][k % 3], y + 0.25 * size, z]
                })
                .collect();
            let rays = vec![Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 200];
            let found = arena.raycasts_all(
                columns,
                RayColumns { origins: &starts, ..RayColumns::new(&rays) },
                &RayOptions::default(),
            );
            let found = found.unwrap().wait().unwrap().rows;
            let mut hit_count = 0;
            for (row, &[a, b]) in moved.iter().zip(&pairs) {
                let both = [a, b].map(|id| id as usize);
                let (two, at) = (both.map(|id| bodies[id]), both.map(|id| positions[id]));
                let motions = both.map(|id| motions[id]);
                let columns = far(&two, &at);
                let alone = arena.sweeps(columns, &motions, Pairs::Given(&[[0, 1]]), &options);
                assert_eq!(row.outcome, alone.unwrap().wait().unwrap().rows[0].outcome, "{name} {a}: {at:?}");
                let is_listed = near.rows.iter().any(|row| (row.a, row.b) == (a, b));
                assert_eq!(is_listed, row.outcome != SweepOutcome::Miss, "{name} {a}: {at:?}");
                let k = a as usize / 2;
                let ray = RayColumns { origins: &starts[k..=k], ..RayColumns::new(&rays[..1]) };
                let alone = arena.raycasts_all(columns, ray, &RayOptions::default()).unwrap().wait().unwrap();
                for hit in alone.rows {
                    let same = |other: &&hullfield::collide::RayHit| {
                        (other.ray as usize, other.body) == (k, a + hit.body)
                    };
                    let other = found.iter().find(same).unwrap();
                    assert_eq!(
                        (hit.distance, hit.normal),
                        (other.distance, other.normal),
                        "{name} {a}: {at:?}"
                    );
                    hit_count += 1;
                }
            }
            assert!(hit_count > 150, "{hit_count}");
        }
    }
}

#[test]
fn bad_positions_are_one_clear_error() {
    let hulls = [Hull::ball(1.0).unwrap()];
    let bodies = [Body::new(0).at([f32::NAN; 3]), Body::new(0), Body::new(0)];
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.000_001e18, -1e300] {
            let mut positions = [[1e18, -1e18, 0.0]; 3];
            // The bodies' own positions are not read.
            assert!(arena.intersections(far(&bodies, &positions), Pairs::BroadPhase).is_ok(), "{name}");
            positions[1][2] = bad;
            let columns = far(&bodies, &positions);
            let options = Options {
                statics: bodies.to_vec(),
                static_positions: positions.to_vec(),
                ..Options::default()
            };
            let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 3];
            let starts = RayColumns { origins: &positions, ..RayColumns::new(&rays) };
            let ray_options = RayOptions::default();
            for error in [
                arena.intersections(columns, Pairs::BroadPhase).err(),
                arena.contacts(columns, Pairs::Exhaustive, &ContactOptions::default()).err(),
                arena.candidates(columns).err(),
                arena.raycasts(columns, &[], &ray_options).err(),
                arena
                    .sweeps(columns, &[Motion::default(); 3], Pairs::BroadPhase, &SweepOptions::default())
                    .err(),
                arena.with_options(options).err(),
            ] {
                let Some(Error::Value { at, field, .. }) = &error else { panic!("{name}: {error:?}") };
                assert_eq!((at, *field), (&Location::Body(1), "position"), "{name}");
                let text = error.unwrap().to_string();
                assert!(text.contains("each must be finite and at most 1e18 in magnitude"), "{text}");
            }
            let error = arena.raycasts(&bodies[1..], starts, &ray_options).unwrap_err();
            assert!(matches!(error, Error::Value { at: Location::Ray(1), field: "origin", .. }), "{error:?}");
            let points = PointColumns::new_f64(&positions);
            let error = arena.containments(&bodies[1..], points).unwrap_err();
            assert!(matches!(error, Error::Value { at: Location::Point(1), .. }), "{error:?}");
        }
        let short = far(&bodies, &[[0.0; 3]]);
        let error = arena.intersections(short, Pairs::BroadPhase).unwrap_err().to_string();
        assert!(
            error.contains("positions") && error.contains("none or one for each of the 3 bodies"),
            "{error}"
        );
        let options = Options { static_positions: vec![[0.0; 3]], ..Options::default() };
        let error = arena.with_options(options).unwrap_err().to_string();
        assert!(error.contains("static_positions") && error.contains("of the 0 statics"), "{error}");
        let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 3];
        let starts = RayColumns { origins: &[[0.0; 3]], ..RayColumns::new(&rays) };
        let error = arena.raycasts(&bodies[1..], starts, &RayOptions::default()).unwrap_err().to_string();
        assert!(error.contains("origins") && error.contains("of the 3 rays"), "{error}");
        let both = PointColumns { positions: &[[0.0; 3]], ..PointColumns::new(&[[0.0; 3]]) };
        let error = arena.containments(&bodies[1..], both).unwrap_err().to_string();
        assert!(error.contains("points") && error.contains("positions in f64"), "{error}");
    }
}

/// Bodies and statics that exceed a binding are split into blocks: with the same rows.
#[cfg(feature = "gpu")]
#[test]
fn blocks_are_laid_out_about_the_same_origin() {
    let Some(small) = common::gpu_of_bindings(crate::parts::LIMIT) else { return };
    let crowd = Crowd::new(1.0, 1_400, 571);
    for shift in [SHIFTS[4], SHIFTS[6]] {
        let answers = [Engine::cpu(), small.clone()].map(|engine| {
            let (bodies, positions, options) = with_statics(&crowd, shift, Precision::Fast);
            let arena = crowd.arena(&engine, Precision::Fast).with_options(options).unwrap();
            let columns = far(&bodies, &positions);
            let near = arena.candidates(columns).unwrap().wait().unwrap();
            (statuses(&arena, columns, Pairs::BroadPhase), near)
        });
        assert_eq!(answers[0], answers[1], "{shift:?}");
        assert!(answers[0].0.len() > 1_000);
    }
}

#[cfg(feature = "gpu")]
#[test]
fn encoded_queries_take_positions_in_f64() {
    use hullfield::collide::{DeviceBodies, DevicePairs, MeasuredRow};
    use wgpu::BufferUsages;

    use crate::encoded::{CAPACITY, encoder, filled, run};

    let Some(engine) = common::gpu() else { return };
    let crowd = Crowd::new(1.0 / 1024.0, 300, 671);
    let arena = crowd.arena(&engine, Precision::Fast);
    let plain = crowd.rounded([0.0; 3]);
    let ask_of = |arena: &Arena, bodies: DeviceBodies<'_>| {
        let mut encoder = encoder(&engine);
        let options = ContactOptions { margin: 1e-4 };
        let found =
            arena.encode_contacts(&mut encoder, bodies, DevicePairs::BroadPhase, &options, CAPACITY).unwrap();
        run::<MeasuredRow>(&engine, encoder, &found).0
    };
    let ask = |bodies: DeviceBodies<'_>| ask_of(&arena, bodies);
    let here = ask(DeviceBodies::Host(&plain));
    assert!(here.len() > 300);
    let settled = |row: &MeasuredRow| row.status < 3;
    assert!(here.iter().filter(|row| settled(row)).count() > 200);
    for shift in SHIFTS {
        let positions = crowd.at(shift);
        let middle = [0, 1, 2].map(|k| shift[k] + 1e-3);
        let packed = arena.pack_about(far(&crowd.bodies, &positions), middle).unwrap();
        let buffer = filled(&engine, &packed, BufferUsages::STORAGE);
        for bodies in [
            DeviceBodies::HostF64 { bodies: &crowd.bodies, positions: &positions },
            DeviceBodies::Buffer { buffer: &buffer, count: packed.len() as u32 },
        ] {
            let there = ask(bodies);
            assert_eq!(here.len(), there.len(), "{shift:?}");
            for (one, other) in here.iter().zip(&there) {
                assert_eq!((one.a, one.b), (other.a, other.b), "{shift:?}");
                if settled(one) && settled(other) {
                    assert_eq!(one.status, other.status, "{shift:?}");
                    let off = f64::from(one.gap - other.gap).abs();
                    assert!(off <= 2.0 * tolerance(crowd.size, crowd.size), "{shift:?}: {off:e}");
                }
                // Points are relative to the bodies.
                assert!(other.point.iter().all(|x| x.abs() <= 4.0 * crowd.size as f32), "{other:?}");
            }
        }
        // Statics are uploaded about the origin of the query.
        let (bodies, positions_of_half, options) = with_statics(&crowd, shift, Precision::Fast);
        let still = arena.with_options(options).unwrap();
        let source = DeviceBodies::HostF64 { bodies: &bodies, positions: &positions_of_half };
        let rows = ask_of(&still, source);
        let columns = far(&bodies, &positions_of_half);
        let options = ContactOptions { margin: 1e-4 };
        let settled_rows = still.contacts(columns, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows;
        let mut seen = 0;
        for row in rows.iter().filter(|row| settled(row)) {
            let other = settled_rows.iter().find(|other| (other.a, other.b) == (row.a, row.b)).unwrap();
            assert_eq!(crate::encoded::code(other.status), row.status, "{shift:?}");
            seen += usize::from(row.b >= 150);
        }
        assert!(seen > 50, "{seen}");
        // The world's coordinates in the packed bodies' f32: about as many digits as 48 bits give.
        let far_packed = arena.pack_about(far(&crowd.bodies, &positions), [0.0; 3]).unwrap();
        for (body, position) in far_packed.iter().zip(&positions).filter(|(body, _)| body.hull == 0) {
            for k in 0..3 {
                let sum = f64::from(body.position[k]) + f64::from(body.remainder[k]);
                let off = (sum - position[k]).abs();
                assert!(off <= 4e-15 * position[k].abs() && off <= f64::from(body.excess), "{body:?}");
            }
        }
    }
    let error = arena.pack_about(&plain, [0.0, f64::NAN, 0.0]).unwrap_err().to_string();
    assert!(error.contains("origin") && error.contains("at most 1e18"), "{error}");
}

#[test]
fn bodies_of_a_set_may_have_positions_in_f64() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
    for (name, engine) in engines() {
        let mut set = Bodies::new(&Arena::new(&engine, &hulls, Options::default()).unwrap());
        let places = [1e9, 1e9 + 1.0, 1e9 + 2.25, 1e9 + 3.0];
        let ids = places.map(|x| {
            let id = set.insert(Body::new(0), ()).unwrap();
            set.set_position_f64(id, [x, -1e9, 3.0]).unwrap();
            assert_eq!(set.position_f64(id), Some([x, -1e9, 3.0]));
            id
        });
        let found = set.intersections().unwrap().wait().unwrap();
        let rows: Vec<_> = found.rows.iter().map(|row| (row.row.a, row.row.b, row.status)).collect();
        assert_eq!(rows, [(0, 1, Status::Touching), (2, 3, Status::Penetrating)], "{name}");
        assert_eq!(set.positions().len(), 4);
        // An empty slot is where another body is; a new body in it has its own position.
        set.remove(ids[1]).unwrap();
        assert!(set.positions().iter().all(|position| position[1] == -1e9));
        assert_eq!(set.position_f64(ids[1]), None);
        let id = set.insert(Body::new(0).at([7.0, 0.0, 0.0]), ()).unwrap();
        assert_eq!(set.position_f64(id), Some([7.0, 0.0, 0.0]));
        let error = set.set_position_f64(id, [0.0, f64::NAN, 0.0]).unwrap_err();
        assert!(matches!(error, Error::Value { at: Location::Body(1), field: "position", .. }), "{error:?}");
        assert!(set.set_position_f64(ids[1], [0.0; 3]).is_err());
        // A whole body has its position with it.
        for id in [ids[0], ids[2], ids[3]] {
            set.set(id, Body::new(0)).unwrap();
        }
        assert!(set.positions().is_empty());
        assert_eq!(set.intersections().unwrap().wait().unwrap().rows.len(), 3, "{name}");
    }
}

/// A ray that starts far off is first moved close to the body. A second move corrects the rounding of the first.
#[test]
fn rays_that_start_far_off_are_exact() {
    let hulls = [Hull::cuboid([1.0; 3]).unwrap(), Hull::ball(1.0).unwrap()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
    for far in [1e9, 12_345_678_901.5, 1_099_511_627_775.5] {
        for hull in [0, 1] {
            let columns = RayColumns { origins: &[[-far, 0.25, 0.0]], ..RayColumns::new(&rays) };
            let bodies = [Body::new(hull)];
            let found = arena.raycasts(&bodies, columns, &RayOptions::default()).unwrap().wait().unwrap();
            let half = if hull == 0 { 1.0 } else { 0.9375_f64.sqrt() };
            let distance = found.rows[0].hit.map(|hit| hit.distance);
            assert!(
                distance.is_some_and(|distance| (distance - (far - half)).abs() <= 2.0 * f64::EPSILON * far),
                "{far} {hull}: {distance:?}"
            );
        }
    }
}
