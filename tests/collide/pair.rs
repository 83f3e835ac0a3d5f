//! One pair of hulls without an arena: against the oracle, against an exact arena, from matrices, and of bad input.

use glam::{DQuat, DVec3, Mat4, Quat, Vec3};
use hullfield::collide::{
    self, Arena, Body, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Motion, Options, Pairs, Pose,
    Precision, Status, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Scene};
use hullfield_oracle::{Shape, gap, seed, sweep};

use crate::answers::{bodies, engines, extreme, scene_hulls, shapes};

/// Rounded hulls of all kinds at all gaps, some on a half-space.
fn pairs() -> Scene {
    let mut random = Random::new(seed(161));
    let kinds = scenes::Kind::ALL;
    let sets: Vec<Vec<[f32; 3]>> =
        (0..60).map(|k| scenes::convex_set(&mut random, kinds[k % kinds.len()], 8 + k)).collect();
    let near = scenes::Near {
        count: 600,
        placed: 0.5,
        stretch: 10.0,
        seed: seed(162),
        rounded: 0.1,
        ..Default::default()
    };
    scenes::near_pairs(&extreme(&sets), near)
}

fn pose(body: &Body) -> Pose {
    body.pose()
}

#[test]
fn one_pair_is_within_a_billionth_of_the_oracle() {
    let mut scene = pairs();
    // A pose has no padding.
    scene.bodies.iter_mut().for_each(|placed| placed.pose.radius = 0.0);
    let hulls = scene_hulls(&scene);
    let shapes = shapes(&hulls);
    let rows = bodies(&scene.bodies);
    let mut seen = [0; 3];
    for &[a, b] in &scene.pairs {
        let [one, other] = [a, b].map(|body| &rows[body as usize]);
        let [hull_a, hull_b] = [one, other].map(|body| &hulls[body.hull as usize]);
        let [at, bt] = [a, b].map(|body| &scene.bodies[body as usize]);
        let [shape_a, shape_b] = [at, bt].map(|placed| &shapes[placed.hull as usize]);
        let truth = gap::gap(shape_a, &at.pose, shape_b, &bt.pose);
        let size = shape_a.radius(at.pose.scale) + shape_b.radius(bt.pose.scale);
        let within = 1e-9 * size + truth.slack;
        let contact = collide::contact(hull_a, pose(one), hull_b, pose(other)).unwrap();
        assert!((contact.separation - truth.gap).abs() <= within, "{contact:?} against {truth:?}");
        assert_eq!(contact.depth(), -contact.separation);
        let [p, q] = contact.points.map(DVec3::from);
        assert!(
            (q - p - DVec3::from(contact.normal) * contact.separation).length()
                <= 1e-12 * (size + p.length())
        );
        let distance = collide::distance(hull_a, pose(one), hull_b, pose(other)).unwrap();
        assert!(distance.separation >= 0.0 && (distance.separation - truth.gap.max(0.0)).abs() <= within);
        assert_eq!(distance.points.is_some(), distance.status != Status::Penetrating);
        let bound = collide::distance_lower_bound(hull_a, pose(one), hull_b, pose(other)).unwrap();
        assert!(bound >= 0.0 && bound <= truth.gap.max(0.0) + within, "{bound} against {truth:?}");
        let touches = collide::intersects(hull_a, pose(one), hull_b, pose(other)).unwrap();
        assert_eq!(touches, contact.status.is_hit());
        seen[contact.status as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn one_pair_is_equal_to_the_bit_to_an_exact_arena() {
    let scene = pairs();
    let hulls = scene_hulls(&scene);
    let mut rows = bodies(&scene.bodies);
    rows.iter_mut().for_each(|body| body.padding = 0.0);
    let options = Options { precision: Precision::Exact, ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &hulls, options).unwrap();
    let given = Pairs::Given(&scene.pairs);
    let verdicts = arena.intersections(&rows, given).unwrap().wait().unwrap().rows;
    let distances = arena.distances(&rows, given, &DistanceOptions::default()).unwrap().wait().unwrap().rows;
    let contacts = arena.contacts(&rows, given, &ContactOptions::default()).unwrap().wait().unwrap().rows;
    let options = ManifoldOptions { margin: 0.01 };
    let manifolds = arena.manifolds(&rows, given, &options).unwrap().wait().unwrap().rows;
    for (k, &[a, b]) in scene.pairs.iter().enumerate() {
        let [one, other] = [a, b].map(|body| &rows[body as usize]);
        let [hull_a, hull_b] = [one, other].map(|body| &hulls[body.hull as usize]);
        macro_rules! same {
            ($name:ident, $rows:ident $(, $options:expr)?) => {
                let mut found = collide::$name(hull_a, pose(one), hull_b, pose(other) $(, $options)?).unwrap();
                assert_eq!((found.a, found.b), (0, 1));
                (found.a, found.b) = (a, b);
                assert_eq!(found, $rows[k]);
            };
        }
        same!(intersection, verdicts);
        same!(distance, distances);
        same!(contact, contacts);
        same!(manifold, manifolds, &options);
    }
}

#[test]
fn a_pair_on_a_half_space_is_measured_along_its_normal() {
    let (ground, ball) = (Hull::half_space(), Hull::ball(0.5).unwrap());
    let tilted = Pose::IDENTITY.rotated([0.0, 0.0, 0.5_f32.sqrt(), 0.5_f32.sqrt()]);
    let row = collide::contact(&ball, Pose::at([-2.0, 7.0, 3.0]), &ground, tilted).unwrap();
    assert!((row.separation - 1.5).abs() < 1e-6 && (row.normal[0] - 1.0).abs() < 1e-6, "{row:?}");
    let bound = collide::distance_lower_bound(&ball, Pose::at([-2.0, 7.0, 3.0]), &ground, tilted).unwrap();
    assert_eq!(bound, row.separation);
    let error = collide::distance(&ground, tilted, &ground, Pose::IDENTITY).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("half-spaces"), "{error}");
}

#[test]
fn a_lower_bound_is_good_where_hulls_are_far_apart() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    for far in [10.0, 1e3, 1e6, 1e12] {
        let there = Pose::at([far, 0.25 * far, 0.0]);
        let exact = collide::distance(&cube, Pose::IDENTITY, &cube, there).unwrap().separation;
        let bound = collide::distance_lower_bound(&cube, Pose::IDENTITY, &cube, there).unwrap();
        assert!(bound <= exact && bound >= exact - 1.0, "{bound} of {exact}");
    }
}

#[test]
fn a_sweep_of_one_pair_tells_time_points_and_the_depth_at_the_start() {
    let (ball, cube) = (Hull::ball(1.0).unwrap(), Hull::cuboid([0.5; 3]).unwrap());
    let moving = Motion { velocity: [2.0, 0.0, 0.0], ..Motion::default() };
    let still = Motion::default();
    let options = SweepOptions { duration: 3.0, ..SweepOptions::default() };
    let at = |x: f32| Pose::at([x, 0.0, 0.0]);
    let hit = collide::sweep(&ball, at(-5.0), moving, &cube, at(0.0), still, &options).unwrap();
    assert_eq!(hit.outcome, SweepOutcome::Hit);
    assert!((hit.time - 1.75).abs() < 1e-8, "{hit:?}");
    let [p, q] = hit.points.unwrap().map(DVec3::from);
    assert!((p - DVec3::new(-0.5, 0.0, 0.0)).length() < 1e-7 && (q - p).length() < 1e-7, "{hit:?}");
    assert!(hit.separation.unwrap().abs() < 1e-7);
    let miss = collide::sweep(&ball, at(-5.0), still, &cube, at(0.0), still, &options).unwrap();
    assert_eq!((miss.outcome, miss.time, miss.points), (SweepOutcome::Miss, 3.0, None));
    let start = collide::sweep(&ball, at(-1.25), moving, &cube, at(0.0), still, &options).unwrap();
    assert_eq!((start.outcome, start.time), (SweepOutcome::Touching, 0.0));
    assert!((start.separation.unwrap() + 0.25).abs() < 1e-9, "{start:?}");
    // A body that turns: a bar a unit away is met by the corner of a square of half its diagonal.
    let spin = Motion { angular_velocity: [0.0, 0.0, 1.0], ..Motion::default() };
    let wall = Hull::cuboid([0.1, 5.0, 5.0]).unwrap();
    let far = 0.1 + 0.25 + 0.25 * 2_f32.sqrt();
    let found = collide::sweep(&cube, at(0.0), spin, &wall, at(far), still, &options).unwrap();
    assert_eq!(found.outcome, SweepOutcome::Hit);
    let reach = f64::from(far) - f64::from(0.1_f32);
    let angle = std::f64::consts::FRAC_PI_4 - (reach / 0.5_f64.sqrt()).acos();
    assert!((found.time - angle).abs() < 1e-7, "{found:?} against {angle}");
}

#[test]
fn witnesses_of_sweeps_are_measured_where_the_oracle_measures() {
    let mut random = Random::new(seed(163));
    let sets: Vec<Vec<[f32; 3]>> =
        (0..8).map(|_| scenes::convex_set(&mut random, scenes::Kind::Ellipsoid, 12)).collect();
    let hulls: Vec<Hull> =
        sets.iter().map(|set| Hull::from_points(set).unwrap().rounded(0.05).unwrap()).collect();
    let shapes: Vec<Shape> = hulls.iter().map(|hull| Shape::new(hull.vertices()).rounded(0.05)).collect();
    let (mut rows, mut motions) = (Vec::new(), Vec::new());
    for k in 0..60 {
        let place = (random.direction() * random.between(0.0, 5.0)).as_vec3().to_array();
        rows.push(Body::new(k % 8).at(place).rotated(random.rotation()));
        motions.push(Motion {
            velocity: (random.direction() * 3.0).as_vec3().to_array(),
            angular_velocity: if k % 3 == 0 {
                (random.direction() * 2.0).as_vec3().to_array()
            } else {
                [0.0; 3]
            },
        });
    }
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let ask = |witness| {
            let options = SweepOptions { duration: 1.0, witness };
            arena.sweeps(&rows, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows
        };
        let (with, without) = (ask(true), ask(false));
        assert_eq!(with.len(), without.len());
        let (mut hits, mut starts) = (0, 0);
        for (row, bare) in with.iter().zip(&without) {
            assert_eq!((bare.points, bare.separation), (None, None), "{name}");
            assert_eq!((row.a, row.b, row.outcome, row.time), (bare.a, bare.b, bare.outcome, bare.time));
            let [a, b] = [row.a, row.b].map(|body| body as usize);
            let moved = [a, b]
                .map(|k| sweep::Motion { velocity: motions[k].velocity, spin: motions[k].angular_velocity });
            let poses = [a, b].map(|k| hullfield_oracle::Pose {
                position: rows[k].position,
                rotation: rows[k].rotation,
                ..Default::default()
            });
            let pair = sweep::Pair { shapes: [a, b].map(|k| &shapes[k % 8]), poses, motions: moved };
            let truth = pair.gap(row.time);
            let separation = row.separation.unwrap();
            assert!((separation - truth).abs() < 1e-8, "{name}: {row:?} against {truth}");
            let [p, q] = row.points.unwrap().map(DVec3::from);
            assert!(((q - p).length() - separation.abs()).abs() < 1e-8, "{name}: {row:?}");
            match row.outcome {
                SweepOutcome::Hit => {
                    assert!(separation.abs() < 1e-4, "{name}: {row:?}");
                    hits += 1;
                }
                _ => starts += 1,
            }
        }
        assert!(hits > 20 && starts > 5, "{name}: {hits} hits, {starts} starts");
    }
}

#[test]
fn a_matrix_becomes_the_pose_that_places_points_alike() {
    let mut random = Random::new(seed(164));
    for _ in 0..500 {
        let scale = Vec3::from_array([0; 3].map(|_| random.log_between(1e-3, 1e3) as f32));
        let rotation = Quat::from_array(random.rotation()).normalize();
        let place = (random.direction() * 10.0).as_vec3();
        // glam is the oracle.
        let matrix = Mat4::from_scale_rotation_translation(scale, rotation, place);
        let columns = Pose::from_columns(matrix.to_cols_array_2d()).unwrap();
        let rows = matrix.transpose().to_cols_array_2d();
        assert_eq!(Pose::from_rows([rows[0], rows[1], rows[2]]).unwrap(), columns);
        for point in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.3, -0.7, 0.9)] {
            let turn = DQuat::from_array(columns.rotation.map(f64::from)).normalize();
            let stretched = DVec3::from(columns.scale.map(f64::from)) * point.as_dvec3();
            let found = DVec3::from(columns.position.map(f64::from)) + turn * stretched;
            let expected = matrix.as_dmat4().transform_point3(point.as_dvec3());
            let size = (scale * point).as_dvec3().length();
            assert!((found - expected).length() <= 2e-6 * size, "{found} {expected}");
        }
    }
}

#[test]
fn a_matrix_that_is_no_pose_is_refused() {
    let refused = |matrix: Mat4, word: &str| {
        let error = Pose::from_columns(matrix.to_cols_array_2d()).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    };
    let sheared = Mat4::from_cols_array(&[1., 0., 0., 0., 0.01, 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.]);
    refused(sheared, "shears");
    // A rotation between two non-uniform scales is a shear too.
    let uneven = Mat4::from_scale(Vec3::new(2.0, 1.0, 1.0));
    refused(uneven * Mat4::from_rotation_z(0.5) * uneven, "shears");
    refused(Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0)), "mirrors");
    refused(Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0)), "y axis");
    refused(Mat4::from_translation(Vec3::new(0.0, f32::NAN, 0.0)), "NaN");
    refused(Mat4::from_scale(Vec3::splat(f32::INFINITY)), "finite");
    refused(Mat4::from_translation(Vec3::ONE).transpose(), "transposed");
    let perspective =
        Mat4::from_cols_array(&[1., 0., 0., 0., 0., 1., 0., 0., 0., 0., -1., -1., 0., 0., -0.2, 0.]);
    refused(perspective, "0, 0, 0, 1");
}

#[test]
fn a_bad_pose_is_one_error_that_names_the_hull_and_the_field() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    let good = Pose::IDENTITY;
    let bad = [
        ("position", Pose::at([f32::NAN, 0.0, 0.0])),
        ("position", Pose::at([0.0, f32::INFINITY, 0.0])),
        ("position", Pose::at([1e30, 0.0, 0.0])),
        ("rotation", good.rotated([f32::NAN; 4])),
        ("rotation", good.rotated([0.0; 4])),
        ("scale", good.scaled(0.0)),
        ("scale", good.scaled(-1.0)),
        ("scale", good.scaled(f32::NAN)),
        ("scale", good.scaled(1e30)),
        ("scale", good.scaled(1e-30)),
    ];
    let still = Motion::default();
    for (field, pose) in bad {
        for row in 0..2 {
            let [a, b] = if row == 0 { [pose, good] } else { [good, pose] };
            let errors = [
                collide::intersects(&cube, a, &cube, b).unwrap_err(),
                collide::intersection(&cube, a, &cube, b).unwrap_err(),
                collide::distance(&cube, a, &cube, b).unwrap_err(),
                collide::distance_lower_bound(&cube, a, &cube, b).unwrap_err(),
                collide::contact(&cube, a, &cube, b).unwrap_err(),
                collide::manifold(&cube, a, &cube, b, &ManifoldOptions::default()).unwrap_err(),
                collide::sweep(&cube, a, still, &cube, b, still, &SweepOptions::default()).unwrap_err(),
            ];
            for error in errors {
                let is_named = matches!(&error, Error::Value { at, field: named, .. } if *at == Location::Body(row) && *named == field);
                assert!(is_named, "{field}, {row}: {error}");
            }
        }
    }
    for margin in [f32::NAN, -1.0] {
        let error = collide::manifold(&cube, good, &cube, good, &ManifoldOptions { margin }).unwrap_err();
        assert!(matches!(error, Error::Value { field: "margin", .. }), "{error}");
    }
    for duration in [f32::NAN, -1.0, f32::INFINITY] {
        let options = SweepOptions { duration, ..SweepOptions::default() };
        let error = collide::sweep(&cube, good, still, &cube, good, still, &options).unwrap_err();
        assert!(matches!(error, Error::Value { field: "duration", .. }), "{error}");
    }
    let wild = Motion { velocity: [0.0, f32::NAN, 0.0], ..still };
    let error = collide::sweep(&cube, good, still, &cube, good, wild, &SweepOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Motion(1), field: "velocity", .. }), "{error}");
}
