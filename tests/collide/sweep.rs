//! Sweeps: known answers, claims checked by the oracle over thousands of pairs, properties, and bad input.

use glam::DVec3;
use hullfield::collide::{
    Arena, Body, Hull, Motion, Options, Pairs, Precision, Sweep, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::Shape;
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near};
use hullfield_oracle::sweep::Claim;

use crate::answers::{bodies, engines, scene_hulls as hulls};
use crate::sweep_scenes::{claim, in_motion, pair_count, scenes};

fn cuboid(half: [f32; 3]) -> Hull {
    Hull::cuboid(half).unwrap()
}

fn moving(velocity: [f32; 3]) -> Motion {
    Motion { velocity, ..Motion::default() }
}

/// One pair's answers from each engine at both precisions.
fn answers(hulls: &[Hull], bodies: [Body; 2], motions: [Motion; 2], duration: f32) -> Vec<Sweep> {
    let mut rows = Vec::new();
    for (_, engine) in engines() {
        for precision in [Precision::Fast, Precision::Exact] {
            let arena = Arena::new(&engine, hulls, Options { precision, ..Default::default() }).unwrap();
            for pairs in [Pairs::Given(&[[0, 1]]), Pairs::BroadPhase, Pairs::Exhaustive] {
                let found = arena
                    .sweeps(&bodies, &motions, pairs, &SweepOptions { duration, ..Default::default() })
                    .unwrap()
                    .wait()
                    .unwrap();
                assert!(found.rows.len() <= 1);
                match found.rows.first() {
                    Some(row) => {
                        assert_eq!((row.a, row.b), (0, 1));
                        assert!(pairs == Pairs::Given(&[[0, 1]]) || row.outcome != SweepOutcome::Miss);
                        rows.push(*row);
                    }
                    None => assert_ne!(pairs, Pairs::Given(&[[0, 1]])),
                }
            }
        }
    }
    rows
}

#[track_caller]
fn hits(rows: &[Sweep], time: f64, slack: f64, normal: [f64; 3], tilt: f64) {
    assert!(rows.len().is_multiple_of(6), "not every query finds it: {rows:?}");
    for row in rows {
        assert_eq!(row.outcome, SweepOutcome::Hit, "{row:?}");
        assert!((row.time - time).abs() <= slack, "{row:?}, expected {time} ± {slack}");
        let found = DVec3::from(row.normal.unwrap());
        assert!((found - DVec3::from(normal)).length() <= tilt, "{row:?}, expected {normal:?}");
    }
}

#[track_caller]
fn misses(rows: &[Sweep], duration: f64) {
    assert!(rows.len().is_multiple_of(2) && !rows.is_empty());
    assert!(rows.iter().all(|row| row.outcome == SweepOutcome::Miss && row.time == duration), "{rows:?}");
}

#[track_caller]
fn touches(rows: &[Sweep], normal: [f64; 3]) {
    assert!(rows.len().is_multiple_of(6), "not every query finds it: {rows:?}");
    for row in rows {
        assert_eq!((row.outcome, row.time), (SweepOutcome::Touching, 0.0), "{row:?}");
        assert!((DVec3::from(row.normal.unwrap()) - DVec3::from(normal)).length() <= 1e-5, "{row:?}");
    }
}

#[test]
fn boxes_meet_when_they_should() {
    for scale in [1e-5f32, 1e-2, 1.0, 1e3, 1e5] {
        let hulls = [cuboid([0.5 * scale; 3]), cuboid([scale, 2.0 * scale, 0.5 * scale])];
        let still = Motion::default();
        let at = |x: f32, y: f32, z: f32| [x * scale, y * scale, z * scale];
        let slack = 2e-5;
        // Face on, straight and off the middle; the gap is 3.5, the speed 2.
        for y in [0.0, 0.3, -2.4] {
            let pair = [Body::new(0), Body::new(1).at(at(5.0, y, 0.2))];
            let motions = [moving(at(2.0, 0.0, 0.0)), still];
            hits(&answers(&hulls, pair, motions, 2.0), 1.75, slack, [1.0, 0.0, 0.0], 1e-5);
            misses(&answers(&hulls, pair, motions, 1.7), f64::from(1.7f32));
            // Both moving, the other way round, and together.
            let motions = [moving(at(0.5, 3.0, 0.0)), moving(at(-1.5, 3.0, 0.0))];
            hits(&answers(&hulls, pair, motions, 2.0), 1.75, slack, [1.0, 0.0, 0.0], 1e-5);
            let swapped = [Body { hull: 0, ..pair[0] }, pair[1]];
            let motions = [still, moving(at(-2.0, 0.0, 0.0))];
            hits(&answers(&hulls, swapped, motions, 2.0), 1.75, slack, [1.0, 0.0, 0.0], 1e-5);
        }
        // Past it.
        let pair = [Body::new(0), Body::new(1).at(at(5.0, 2.6, 0.0))];
        misses(&answers(&hulls, pair, [moving(at(2.0, 0.0, 0.0)), still], 10.0), 10.0);
        // Obliquely: the face x first reached where y already overlaps.
        let pair = [Body::new(0), Body::new(1).at(at(3.5, 4.0, 0.0))];
        hits(
            &answers(&hulls, pair, [moving(at(1.0, 1.0, 0.0)), still], 10.0),
            2.0,
            slack,
            [1.0, 0.0, 0.0],
            1e-5,
        );
        // Moving apart, and alongside.
        let pair = [Body::new(0), Body::new(1).at(at(5.0, 0.0, 0.0))];
        misses(&answers(&hulls, pair, [moving(at(-2.0, 0.0, 0.0)), still], 10.0), 10.0);
        misses(&answers(&hulls, pair, [moving(at(0.0, 7.0, 3.0)), moving(at(0.0, 7.0, 3.0))], 10.0), 10.0);
        let pair = [Body::new(0), Body::new(1).at(at(1.6, 0.0, 0.0))];
        misses(&answers(&hulls, pair, [moving(at(0.0, 0.1, 0.0)), still], 10.0), 10.0);
    }
}

#[test]
fn a_corner_meets_a_face() {
    // A cube on its corner above a slab: half of its diagonal is √¾.
    let axis = DVec3::ONE.normalize();
    let turn = glam::DQuat::from_rotation_arc(axis, DVec3::NEG_Y).as_quat().to_array();
    let hulls = [cuboid([0.5; 3]), cuboid([5.0, 0.5, 5.0])];
    let pair = [Body::new(0).at([0.3, 4.0, 0.7]).rotated(turn), Body::new(1)];
    let motions = [moving([0.0, -3.0, 0.0]), Motion::default()];
    let time = (4.0 - 0.5 - 0.75f64.sqrt()) / 3.0;
    hits(&answers(&hulls, pair, motions, 5.0), time, 1e-5, [0.0, -1.0, 0.0], 1e-5);
}

#[test]
fn balls_meet_faces_edges_and_corners() {
    let hulls = [
        Hull::ball(0.5).unwrap(),
        cuboid([1.0; 3]),
        Hull::ball(1.0).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
    ];
    let motions = [moving([2.0, 0.0, 0.0]), Motion::default()];
    let body = |hull: u32, at: [f32; 3]| Body::new(hull).at(at);
    let tilt = 4e-3;
    // On a face; on an edge, whose line is 0.3 above the ball's; on a corner 0.3 above and 0.2 beside.
    hits(
        &answers(&hulls, [body(0, [-5.0, 0.2, 0.0]), body(1, [0.0; 3])], motions, 4.0),
        1.75,
        1e-5,
        [1.0, 0.0, 0.0],
        tilt,
    );
    let x = (0.25 - 0.09f64).sqrt();
    hits(
        &answers(&hulls, [body(0, [-5.0, 1.3, 0.0]), body(1, [0.0; 3])], motions, 4.0),
        (4.0 - x) / 2.0,
        2e-5,
        [x / 0.5, -0.6, 0.0],
        tilt,
    );
    let x = (0.25 - 0.09 - 0.04f64).sqrt();
    hits(
        &answers(&hulls, [body(0, [-5.0, 1.3, 1.2]), body(1, [0.0; 3])], motions, 4.0),
        (4.0 - x) / 2.0,
        2e-5,
        [x / 0.5, -0.6, -0.4],
        tilt,
    );
    // Two balls off their line of centres.
    let x = (2.25 - 1.0f64).sqrt();
    hits(
        &answers(&hulls, [body(0, [-5.0, 0.0, 0.0]), body(2, [0.0, 1.0, 0.0])], motions, 4.0),
        (5.0 - x) / 2.0,
        2e-5,
        [x / 1.5, 1.0 / 1.5, 0.0],
        tilt,
    );
    // A capsule's side, and its cap.
    hits(
        &answers(&hulls, [body(0, [-5.0, 0.8, 0.0]), body(3, [0.0; 3])], motions, 4.0),
        (5.0 - 0.75) / 2.0,
        2e-5,
        [1.0, 0.0, 0.0],
        tilt,
    );
    let x = (0.5625 - 0.25f64).sqrt();
    hits(
        &answers(&hulls, [body(0, [-5.0, 1.5, 0.0]), body(3, [0.0; 3])], motions, 4.0),
        (5.0 - x) / 2.0,
        2e-5,
        [x / 0.75, -0.5 / 0.75, 0.0],
        tilt,
    );
}

#[test]
fn grazing_is_told_ten_tolerances_off() {
    for scale in [1e-5f32, 1.0, 1e5] {
        let hulls = [cuboid([scale; 3]), Hull::ball(scale).unwrap()];
        let still = Motion::default();
        let motions = [moving([3.0 * scale, 0.0, 0.0]), still];
        for (hull, radius_sum, radius) in [(0, 3f64.sqrt() * 2.0, 3f64.sqrt()), (1, 2.0, 1.0)] {
            let tau = (1e-5 * radius).max(4e-6 * radius_sum);
            let rows = |off: f64| {
                let at = [5.0 * scale, ((2.0 + off) * f64::from(scale)) as f32, 0.0];
                answers(&hulls, [Body::new(hull), Body::new(hull).at(at)], motions, 5.0)
            };
            misses(&rows(10.0 * tau), 5.0);
            let inside = rows(-10.0 * tau);
            assert!(
                inside.len().is_multiple_of(6) && inside.iter().all(|row| row.outcome == SweepOutcome::Hit),
                "{inside:?}"
            );
        }
    }
}

#[test]
fn touching_at_the_start_is_touching_wherever_they_go() {
    let hulls = [cuboid([0.5; 3]), cuboid([2.0, 1.0, 2.0])];
    for velocity in [[0.0; 3], [0.0, 5.0, 0.0], [0.0, -5.0, 0.0], [3.0, 0.0, 0.0]] {
        for y in [1.5, 1.25] {
            let pair = [Body::new(0).at([0.25, y, 0.0]), Body::new(1)];
            touches(&answers(&hulls, pair, [moving(velocity), Motion::default()], 1.0), [0.0, -1.0, 0.0]);
        }
    }
    // Duration 0: touching or a miss.
    let pair = [Body::new(0).at([0.0, 1.5, 0.0]), Body::new(1)];
    touches(&answers(&hulls, pair, [moving([0.0, 1.0, 0.0]), Motion::default()], 0.0), [0.0, -1.0, 0.0]);
    let pair = [Body::new(0).at([0.0, 1.6, 0.0]), Body::new(1)];
    misses(&answers(&hulls, pair, [moving([0.0, -1e6, 0.0]), Motion::default()], 0.0), 0.0);
}

#[test]
fn bullets_do_not_tunnel() {
    // A bullet of 1e-2 through a plate of 1e-3, both moving: 1e4 bullet sizes a frame.
    let hulls =
        [Hull::capsule([0.0, -0.01, 0.0], [0.0, 0.01, 0.0], 0.003).unwrap(), cuboid([2.0, 2.0, 5e-4])];
    for speed in [1e1f32, 1e3, 1e5] {
        for offset in [[0.0f32; 3], [1e3, -1e3, 1e3], [1048576.0, 1048576.0, -1048576.0]] {
            let duration = 1.0 / 64.0;
            let way = speed * duration;
            if offset[2].abs() * 1e-6 > way {
                continue;
            }
            let at = [offset[0] + 0.25, offset[1] - 0.5, offset[2] - 0.75 * way];
            let begin = f64::from(offset[2]) - f64::from(at[2]);
            let turn = std::f32::consts::FRAC_1_SQRT_2;
            let pair = [Body::new(0).at(at).rotated([turn, 0.0, 0.0, turn]), Body::new(1).at(offset)];
            let motions = [moving([0.0, 0.0, 2.0 * speed]), moving([3.0, 1.0, -0.5 * speed])];
            let time = (begin - 5e-4 - 0.013) / (2.5 * f64::from(speed));
            let slack = 2e-5 / f64::from(speed);
            hits(&answers(&hulls, pair, motions, duration), time, slack, [0.0, 0.0, 1.0], 1e-5);
        }
    }
}

#[test]
fn equal_velocities_far_off_change_nothing() {
    let hulls = [cuboid([0.5; 3])];
    let far = [1048576.0f32, -2097152.0, 1048576.0];
    let at = |x: f32, y: f32| Body::new(0).at([far[0] + x, far[1] + y, far[2]]);
    let fast = [3.0e6f32, 7.0e6, -2.0e6];
    misses(&answers(&hulls, [at(0.0, 0.0), at(1.5, 0.0)], [moving(fast); 2], 100.0), 100.0);
    let motions = [moving(fast), moving([fast[0] - 1.0, fast[1], fast[2]])];
    hits(&answers(&hulls, [at(0.0, 0.0), at(1.5, 0.25)], motions, 100.0), 0.5, 1e-4, [1.0, 0.0, 0.0], 1e-5);
}

#[test]
fn the_ground_is_reached() {
    let hulls = [Hull::half_space(), cuboid([1.0, 0.5, 1.0]), Hull::ball(0.25).unwrap()];
    let motions = [Motion::default(), moving([100.0, -4.0, 0.0])];
    let pair = [Body::new(0), Body::new(1).at([7.0, 2.5, 1e3])];
    hits(&answers(&hulls, pair, motions, 1.0), 0.5, 1e-5, [0.0, 1.0, 0.0], 1e-9);
    misses(&answers(&hulls, pair, motions, 0.49), f64::from(0.49f32));
    let pair = [Body::new(0), Body::new(2).at([7.0, 2.25, 1e3])];
    hits(&answers(&hulls, pair, motions, 1.0), 0.5, 1e-5, [0.0, 1.0, 0.0], 1e-9);
    // A ball thrown up by the ground's own motion, and one that leaves it.
    let motions = [moving([0.0, 4.0, 0.0]), Motion::default()];
    hits(&answers(&hulls, pair, motions, 1.0), 0.5, 1e-5, [0.0, 1.0, 0.0], 1e-9);
    misses(&answers(&hulls, pair, [moving([0.0, -4.0, 0.0]), Motion::default()], 1.0), 1.0);
    touches(
        &answers(&hulls, [Body::new(0), Body::new(2).at([7.0, 0.25, 1e3])], motions, 1.0),
        [0.0, 1.0, 0.0],
    );
    // The ground swings up about its origin: 10 away, it is there when tan ωt = 2 / 10.
    let motions = [Motion { angular_velocity: [0.0, 0.0, 0.5], ..Motion::default() }, Motion::default()];
    let point = Hull::from_points(&[[0.0; 3]]).unwrap();
    let rows = answers(
        &[Hull::half_space(), point.rounded(1e-3).unwrap()],
        [Body::new(0), Body::new(1).at([10.0, 2.0, 0.0])],
        motions,
        1.0,
    );
    let angle = 0.2f64.atan() - (1e-3 / 104f64.sqrt()).asin();
    hits(&rows, angle / 0.5, 1e-6, [-angle.sin(), angle.cos(), 0.0], 1e-6);
}

#[test]
fn a_turning_rod_hits_a_box() {
    // A rod of half length 5 and half width 0.1 turns about z; its lower side reaches the box' corner (4, −1), whose angle
    // is atan(1 / 4), when that is asin(0.1 / √17) from the rod's middle.
    let hulls = [cuboid([5.0, 0.1, 0.1]), cuboid([1.0, 1.0, 1.0])];
    let pair = [Body::new(0), Body::new(1).at([3.0, -2.0, 0.0])];
    let spin = |z: f32| Motion { angular_velocity: [0.0, 0.0, z], ..Motion::default() };
    let angle = 0.25f64.atan() - (0.1 / 17f64.sqrt()).asin();
    let normal = [-angle.sin(), -angle.cos(), 0.0];
    hits(&answers(&hulls, pair, [spin(-2.0), Motion::default()], 1.0), angle / 2.0, 2e-5, normal, 1e-4);
    // Turning the other way its other end is still short of the box; and the box may be gone in time.
    let rows = answers(&hulls, pair, [spin(2.0), Motion::default()], 1.0);
    misses(&rows, 1.0);
    let rows =
        answers(&hulls, pair, [spin(-2.0), Motion { velocity: [40.0, 0.0, 0.0], ..Motion::default() }], 1.0);
    misses(&rows, 1.0);
    // A ball may rotate freely.
    let hulls = [Hull::ball(1.0).unwrap(), cuboid([1.0; 3])];
    let motions =
        [Motion { velocity: [1.0, 0.0, 0.0], angular_velocity: [1.0, 500.0, 3.0] }, Motion::default()];
    hits(
        &answers(&hulls, [Body::new(0).at([-4.0, 0.0, 0.0]), Body::new(1)], motions, 5.0),
        2.0,
        2e-5,
        [1.0, 0.0, 0.0],
        1e-5,
    );
}

/// Points have no size, so no tolerance either: they meet only what they reach.
#[test]
fn turning_points_meet_what_they_reach() {
    let spin = Motion { angular_velocity: [0.0, 0.0, 1.0], ..Motion::default() };
    let hulls = [[1.0, 0.0, 0.0], [0.0; 3]].map(|at| Hull::from_points(&[at]).unwrap());
    // Two points on one circle, a quarter of a turn apart. A third point is 0.1 % outside of the circle.
    let target = |y: f32| [Body::new(0), Body::new(1).at([0.0, y, 0.0])];
    let motions = [spin, Motion::default()];
    let quarter = std::f64::consts::FRAC_PI_2;
    hits(&answers(&hulls, target(1.0), motions, 2.0), quarter, 1e-9, [-1.0, 0.0, 0.0], 1e-5);
    misses(&answers(&hulls, target(1.0), motions, 1.5), 1.5);
    misses(&answers(&hulls, target(1.001), motions, 2.0), 2.0);
    // A point half as high above the ground as its arm is long reaches it after a twelfth of a turn.
    let hulls = [Hull::half_space(), Hull::from_points(&[[-1.0, 0.0, 0.0]]).unwrap()];
    let above = |y: f32| [Body::new(0), Body::new(1).at([0.0, y, 0.0])];
    let motions = [Motion::default(), spin];
    let twelfth = std::f64::consts::FRAC_PI_6;
    hits(&answers(&hulls, above(0.5), motions, 2.0), twelfth, 1e-9, [0.0, 1.0, 0.0], 1e-9);
    misses(&answers(&hulls, above(0.5), motions, 0.5), 0.5);
    misses(&answers(&hulls, above(1.001), motions, 2.0), 2.0);
}

/// Cubes that do not turn and hit each other fully, not only graze, need no f64.
#[test]
fn clear_hits_are_decided_in_f32() {
    let mut random = Random::new(301);
    let (mut bodies, mut motions) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let at = (random.direction() * 4.0).as_vec3().to_array();
        bodies.push(Body::new(0).rotated(random.rotation()));
        bodies.push(Body::new(0).at(at).rotated(random.rotation()));
        motions.extend([Motion::default(), moving(at.map(|x| -x))]);
    }
    let pairs: Vec<[u32; 2]> = (0..100).map(|k| [2 * k, 2 * k + 1]).collect();
    let arena = Arena::new(&Engine::cpu(), &[cuboid([0.5; 3])], Options::default()).unwrap();
    let found = arena.sweeps(&bodies, &motions, Pairs::Given(&pairs), &SweepOptions::default());
    let stats = found.unwrap().wait().unwrap().stats;
    assert_eq!((stats.hit_count, stats.settled_count), (100, 0));
}

#[test]
fn no_answer_is_wrong() {
    let mut total = [0; 4];
    for (at, (name, scene)) in scenes(pair_count()).into_iter().enumerate() {
        for (way, duration) in [(3.0, 1.0), (1e4, 1.0 / 60.0), (100.0, 1e3)] {
            let moving = in_motion(scene.clone(), duration, way, 0.0, 300 + at as u64);
            for (engine_name, engine) in engines() {
                for precision in [Precision::Fast, Precision::Exact] {
                    // f64 cannot represent the times of long motions more exactly.
                    let exact = precision == Precision::Exact;
                    // The exact path is the same on every engine.
                    if exact && engine_name != "cpu" {
                        continue;
                    }
                    let found = moving.find(&engine, precision);
                    let label = format!("{name} on {engine_name}, ways to {way}, {precision:?}");
                    let counts = moving.check(&label, &found.rows, exact);
                    if std::env::var("HULLFIELD_VERBOSE").is_ok() {
                        eprintln!(
                            "{label}: {counts:?}, {} refined, {} settled",
                            found.stats.refined_count, found.stats.settled_count
                        );
                    }
                    (0..4).for_each(|i| total[i] += counts[i]);
                }
            }
        }
    }
    assert!(total[..3].iter().all(|&count| count > 200), "{total:?}");
    assert_eq!(total[3], 0);
}

#[test]
fn no_answer_is_wrong_where_bodies_turn() {
    let mut total = [0; 4];
    for (at, (name, scene)) in scenes(pair_count() / 4).into_iter().enumerate() {
        for (way, spin) in [(3.0, 0.5), (0.1, 3.0), (100.0, 30.0)] {
            let moving = in_motion(scene.clone(), 0.5, way, spin, 500 + at as u64);
            for (engine_name, engine) in engines() {
                let found = moving.find(&engine, Precision::Fast);
                let label = format!("{name} on {engine_name}, ways to {way}, turns to {spin}");
                let counts = moving.check(&label, &found.rows, false);
                if std::env::var("HULLFIELD_VERBOSE").is_ok() {
                    eprintln!(
                        "{label}: {counts:?}, {} refined, {} settled, {} ms",
                        found.stats.refined_count, found.stats.settled_count, found.stats.times.total_ms
                    );
                }
                (0..4).for_each(|i| total[i] += counts[i]);
            }
        }
    }
    assert!(total[..2].iter().all(|&count| count > 30), "{total:?}");
    // For bodies that rotate near each other for long, the proof covers only a part of the motion.
    assert!(total[3] * 20 < total[0] + total[1], "{total:?}");
}

/// The oracle's checks must detect wrong claims.
#[test]
fn wrong_claims_are_found() {
    let scene = scenes::near_pairs(
        &scenes::convex_sets(48, 1.0, 6),
        Near { count: 60, seed: 120, ..Near::default() },
    );
    for spin in [0.0, 0.5] {
        let moving = in_motion(scene.clone(), 1.0, 3.0, spin, 121);
        let rows = moving.find(&Engine::cpu(), Precision::Fast).rows;
        let shapes: Vec<Shape> =
            hulls(&moving.scene).iter().map(|hull| Shape::new(hull.vertices())).collect();
        let (mut seen, mut deep) = (0, 0);
        for row in rows.iter().filter(|row| row.outcome == SweepOutcome::Hit && row.time > 1e-3) {
            let pair = moving.pair(&shapes, row.a, row.b);
            let tau = pair.tolerance(0.0, 1.0, false);
            let refused = |claim: Claim| pair.check(1.0, claim, false).is_err();
            let normal = row.normal.unwrap();
            assert!(!refused(Claim::Hit(row.time, normal)));
            assert!(refused(Claim::Touching(normal)), "{row:?}");
            assert!(refused(Claim::Hit(row.time, normal.map(|x| -x))), "{row:?}");
            // Where they go on into one another, a miss and a later hit are wrong; an earlier hit wherever it is not near.
            if pair.gap((row.time + 1e-3).min(1.0)) < -2.0 * tau {
                assert!(refused(Claim::Miss), "{row:?}");
                assert!(refused(Claim::Hit((row.time + 1e-3).min(1.0), normal)), "{row:?}");
                deep += 1;
            }
            if pair.gap(row.time - 1e-3) > 2.0 * tau {
                assert!(refused(Claim::Hit(row.time - 1e-3, normal)), "{row:?}");
                seen += 1;
            }
        }
        assert!(seen > 3 && deep > 3, "{seen} {deep}");
    }
}

#[test]
fn swapping_and_moving_together_change_nothing() {
    let scene = scenes::near_pairs(
        &scenes::convex_sets(48, 1.0, 7),
        Near { count: 300, seed: 130, ..Near::default() },
    );
    for spin in [0.0, 0.5] {
        let moving = in_motion(scene.clone(), 1.0, 3.0, spin, 131);
        let shapes: Vec<Shape> =
            hulls(&moving.scene).iter().map(|hull| Shape::new(hull.vertices())).collect();
        for (name, engine) in engines() {
            let arena = Arena::new(&engine, &hulls(&moving.scene), Options::default()).unwrap();
            let (bodies, motions) = (bodies(&moving.scene.bodies), moving.motions());
            let find = |bodies: &[Body], motions: &[Motion], pairs: &[[u32; 2]]| {
                arena
                    .sweeps(
                        bodies,
                        motions,
                        Pairs::Given(pairs),
                        &SweepOptions { duration: 1.0, ..Default::default() },
                    )
                    .unwrap()
                    .wait()
                    .unwrap()
                    .rows
            };
            let plain = find(&bodies, &motions, &moving.scene.pairs);
            let turned: Vec<[u32; 2]> = moving.scene.pairs.iter().map(|&[a, b]| [b, a]).collect();
            let swapped = find(&bodies, &motions, &turned);
            // Another frame that moves: velocities on a coarse grid, so that sums are exact.
            let coarse = |motion: &Motion| motion.velocity.map(|x| (x * 1024.0).round() / 1024.0);
            let gridded: Vec<Motion> = motions.iter().map(|m| Motion { velocity: coarse(m), ..*m }).collect();
            let carried: Vec<Motion> = gridded
                .iter()
                .map(|m| Motion {
                    velocity: [m.velocity[0] + 64.0, m.velocity[1] - 32.0, m.velocity[2] + 8.0],
                    ..*m
                })
                .collect();
            let still = find(&bodies, &gridded, &moving.scene.pairs);
            let carried = find(&bodies, &carried, &moving.scene.pairs);
            for (pairs, one, other, sign) in
                [("swap", &plain, &swapped, -1.0), ("carry", &still, &carried, 1.0)]
            {
                for (row, twin) in one.iter().zip(other) {
                    let pair = moving.pair(&shapes, row.a, row.b);
                    let tau = pair.tolerance(0.0, 1.0, false);
                    if row.outcome == twin.outcome {
                        // Times may differ by what closes the tolerance, so the gap at both is within it.
                        if pairs == "swap" && row.outcome == SweepOutcome::Hit {
                            assert!(pair.gap(twin.time).abs() <= tau, "{name} {pairs}: {row:?} {twin:?}");
                        }
                        if row.outcome == SweepOutcome::Touching {
                            let [n, m] = [row, twin].map(|row| DVec3::from(row.normal.unwrap()));
                            assert!(
                                pair.separation(0.0, (m * sign).to_array()) >= pair.gap(0.0) - tau,
                                "{n} {m}"
                            );
                        }
                        continue;
                    }
                    // Only grazing or nearly touching pairs may differ, which the claims' own check allows.
                    let of = |row: &Sweep, normal: Option<[f64; 3]>| {
                        let mut row = *row;
                        row.normal = normal;
                        claim(&row)
                    };
                    if pairs == "swap" {
                        let normal = twin.normal.map(|n| n.map(|x| -x));
                        pair.check(1.0, of(twin, normal), false).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn every_query_finds_the_same() {
    // A crowd that moves fast enough for each body to meet a few.
    let tumbling = scenes::tumbling(&scenes::convex_sets(24, 1.0, 8), 300, 2.0, 140);
    let mut random = Random::new(141);
    let scene = tumbling.scene;
    for spin in [0.0, 2.0] {
        let motions: Vec<Motion> = scene
            .bodies
            .iter()
            .map(|_| Motion {
                velocity: (random.direction() * random.log_between(0.1, 30.0)).as_vec3().to_array(),
                angular_velocity: (random.direction() * spin).as_vec3().to_array(),
            })
            .collect();
        let bodies = bodies(&scene.bodies);
        let pairs: Vec<[u32; 2]> =
            (0..bodies.len() as u32).flat_map(|a| (a + 1..300).map(move |b| [a, b])).collect();
        for (name, engine) in engines() {
            let arena = Arena::new(&engine, &hulls(&scene), Options::default()).unwrap();
            let find = |pairs| {
                arena
                    .sweeps(&bodies, &motions, pairs, &SweepOptions { duration: 0.25, ..Default::default() })
                    .unwrap()
                    .wait()
                    .unwrap()
            };
            let given = find(Pairs::Given(&pairs));
            let expected: Vec<Sweep> =
                given.rows.iter().filter(|row| row.outcome != SweepOutcome::Miss).copied().collect();
            assert!(expected.len() > 100, "{name}: {}", expected.len());
            assert_eq!(find(Pairs::Exhaustive).rows, expected, "{name}");
            let near = find(Pairs::BroadPhase);
            assert_eq!(near.rows, expected, "{name}");
            assert_eq!(near.stats.hit_count, expected.len() as u64);
            assert!(near.stats.candidate_count < pairs.len() as u64);
        }
    }
}

#[test]
fn groups_are_obeyed_but_by_given_pairs() {
    let hulls = [cuboid([0.5; 3])];
    let bodies = [
        Body::new(0).grouped(1, 2),
        Body::new(0).at([3.0, 0.0, 0.0]).grouped(1, 3),
        Body::new(0).at([0.0, 3.0, 0.0]).grouped(2, 1),
    ];
    let motions = [Motion::default(), moving([-4.0, 0.0, 0.0]), moving([0.0, -4.0, 0.0])];
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let find = |pairs| {
            arena
                .sweeps(&bodies, &motions, pairs, &SweepOptions { duration: 1.0, ..Default::default() })
                .unwrap()
                .wait()
                .unwrap()
                .rows
        };
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let found: Vec<_> = find(pairs).iter().map(|row| [row.a, row.b]).collect();
            assert_eq!(found, [[0, 2], [1, 2]]);
        }
        assert_eq!(find(Pairs::Given(&[[1, 0]]))[0].outcome, SweepOutcome::Hit);
    }
}

#[test]
fn bad_input_is_named() {
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &[cuboid([0.5; 3])], Options::default()).unwrap();
        let bodies = [Body::new(0), Body::new(0)];
        let still = [Motion::default(); 2];
        let error = |motions: &[Motion], duration: f32| {
            arena
                .sweeps(&bodies, motions, Pairs::BroadPhase, &SweepOptions { duration, ..Default::default() })
                .unwrap_err()
        };
        assert_eq!(error(&still, -1.0).to_string(), "duration is -1.0, it must be finite and zero or more");
        for duration in [f32::NAN, f32::INFINITY, -f32::INFINITY] {
            assert!(matches!(error(&still, duration), Error::Value { field: "duration", .. }));
        }
        assert_eq!(
            error(&still[..1], 1.0).to_string(),
            "1 motions were given, there must be one for each of the 2 bodies"
        );
        for (bad, duration) in [(f32::NAN, 1.0), (f32::INFINITY, 0.0), (1e18, 2.0), (-3e38, 1.0)] {
            let found = error(&[Motion::default(), moving([0.0, bad, 0.0])], duration);
            assert!(
                matches!(found, Error::Value { at: Location::Motion(1), field: "velocity", .. }),
                "{found}"
            );
            let spun = Motion { angular_velocity: [bad, 0.0, 0.0], ..Motion::default() };
            let found = error(&[spun, Motion::default()], duration);
            assert!(
                matches!(found, Error::Value { at: Location::Motion(0), field: "angular_velocity", .. }),
                "{found}"
            );
        }
        // An empty query is no error.
        assert!(
            arena
                .sweeps(&[], &[], Pairs::BroadPhase, &SweepOptions { duration: 1.0, ..Default::default() })
                .unwrap()
                .wait()
                .unwrap()
                .rows
                .is_empty()
        );
        assert!(
            arena
                .sweeps(
                    &bodies,
                    &still,
                    Pairs::Given(&[]),
                    &SweepOptions { duration: 1.0, ..Default::default() }
                )
                .unwrap()
                .wait()
                .unwrap()
                .rows
                .is_empty()
        );
    }
}

#[test]
fn statics_stand_still() {
    let hulls = [cuboid([0.5; 3]), Hull::half_space(), Hull::ball(0.25).unwrap()];
    let statics = [Body::new(1), Body::new(0).at([3.0, 2.0, 0.0]), Body::new(0).at([3.0, 2.25, 0.25])];
    let bodies = [Body::new(2).at([0.0, 2.0, 0.0]), Body::new(2).at([-2.0, 1.25, 0.0])];
    let motions = [moving([9.0, 0.0, 0.0]), moving([0.0, -4.0, 0.0])];
    for (name, engine) in engines() {
        let arena =
            Arena::new(&engine, &hulls, Options { statics: statics.to_vec(), ..Default::default() }).unwrap();
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let rows = arena
                .sweeps(&bodies, &motions, pairs, &SweepOptions { duration: 1.0, ..Default::default() })
                .unwrap()
                .wait()
                .unwrap()
                .rows;
            let found: Vec<_> = rows.iter().map(|row| [row.a, row.b]).collect();
            assert_eq!(found, [[0, 3], [0, 4], [1, 2]], "{name} {pairs:?}");
            for (row, time) in rows.iter().zip([0.25, 0.25, 0.25]) {
                assert_eq!(row.outcome, SweepOutcome::Hit);
                assert!((row.time - time).abs() < 1e-5, "{name} {row:?}");
            }
        }
        // Given pairs may name two of them: they overlap.
        let pairs = Pairs::Given(&[[3, 4], [0, 2]]);
        let rows = arena
            .sweeps(&bodies, &motions, pairs, &SweepOptions { duration: 1.0, ..Default::default() })
            .unwrap()
            .wait()
            .unwrap()
            .rows;
        assert_eq!(rows[0].outcome, SweepOutcome::Touching);
        assert_eq!(rows[1].outcome, SweepOutcome::Miss);
    }
}
