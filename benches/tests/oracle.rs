//! The oracle's distances against parry3d's in f64.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{Kind, Near, convex_set, round_pairs};
use hullfield_oracle::{Placed, Pose, Shape, gap, whole_truths};
use parry3d_f64::math::{Pose as Isometry, Rotation, Vector};
use parry3d_f64::query::{distance, intersection_test};
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, RoundConvexPolyhedron, Shape as ParryShape};

#[test]
fn distances_equal_parry() {
    let mut random = Random::new(44);
    let mut compared = 0;
    for _ in 0..300 {
        let sets = [Kind::Ball, Kind::Ellipsoid].map(|kind| convex_set(&mut random, kind, 20));
        let shapes = sets.each_ref().map(|s| Shape::new(s));
        let position = (random.direction() * random.between(0.5, 3.5)).as_vec3().to_array();
        let pose = Pose::at(position);
        let found = gap(&shapes[0], &Pose::default(), &shapes[1], &pose).gap;
        let hulls = sets.each_ref().map(|s| {
            let points: Vec<Vector> =
                s.iter().map(|p| Vector::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))).collect();
            ConvexPolyhedron::from_convex_hull(&points)
        });
        let [Some(a), Some(b)] = hulls else { continue };
        let [x, y, z] = position.map(f64::from);
        let (here, there) = (Isometry::identity(), Isometry::translation(x, y, z));
        if found.abs() > 1e-6 {
            let hit = intersection_test(&here, &a, &there, &b).expect("supported").intersecting;
            assert_eq!(hit, found < 0.0, "{found}");
        }
        let d = distance(&here, &a, &there, &b).expect("supported").distance;
        assert!((d - found.max(0.0)).abs() < 1e-7, "{d} {found}");
        compared += usize::from(found > 0.0);
    }
    assert!(compared > 100, "{compared}");
}

/// Distances of rounded, rotated and scaled shapes.
#[test]
fn rounded_distances_equal_parry() {
    let near = Near { count: 1200, rounded: 0.2, seed: 3, ..Near::default() };
    let scene = round_pairs(near);
    let shapes = scene.shapes();
    let vector = |p: [f32; 3]| Vector::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]));
    let parry = |placed: &Placed| -> Option<(Box<dyn ParryShape>, Isometry)> {
        let shape = &shapes[placed.hull as usize];
        let rounding = shape.rounding() + f64::from(placed.pose.radius);
        let points: Vec<Vector> = scene.hulls[placed.hull as usize].iter().map(|&p| vector(p)).collect();
        let made: Box<dyn ParryShape> = match shape.dimension() {
            0 => Box::new(Ball::new(rounding)),
            1 => Box::new(Capsule::new(points[0], points[1], rounding)),
            3 if rounding > 0.0 => Box::new(RoundConvexPolyhedron {
                inner_shape: ConvexPolyhedron::from_convex_hull(&points)?,
                border_radius: rounding,
            }),
            3 => Box::new(ConvexPolyhedron::from_convex_hull(&points)?),
            _ => return None,
        };
        let rotation = placed.pose.rotation64();
        let turn = Rotation::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w);
        Some((made, Isometry::from_parts(vector(placed.pose.position), turn)))
    };
    let mut compared = 0;
    for (pair, truth) in scene.pairs.iter().zip(whole_truths(&shapes, &scene.bodies, &scene.pairs)) {
        let [a, b] = pair.map(|k| &scene.bodies[k as usize]);
        let (Some((a, at_a)), Some((b, at_b))) = (parry(a), parry(b)) else { continue };
        let found = distance(&at_a, &*a, &at_b, &*b).expect("supported").distance;
        if truth.gap > 1e-3 * truth.radius {
            assert!((found - truth.gap).abs() <= 1e-6 * truth.radius_sum, "{pair:?}: {found} {truth:?}");
            compared += 1;
        }
    }
    assert!(compared > 120, "{compared}");
}
