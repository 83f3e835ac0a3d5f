//! Distances and contacts of random shapes: points from a coarse lattice or a box, any scale, any rounding.
//!
//! A lattice makes faces that are parallel, edges that cross and vertices that meet exactly.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Options, Pairs, Precision,
};
use hullfield_oracle::measure::{self, Accuracy, Judge};
use hullfield_oracle::{Placed, Pose, extent, seed, whole_truths};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::answers;
use crate::answers::{contact_rows, distance_rows, manifold_rows, shapes};

type Point = [f32; 3];

fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![3 => (-2i8..=2).prop_map(f32::from), 1 => -2.0f32..2.0]
}

fn cloud() -> impl Strategy<Value = Vec<Point>> {
    prop::collection::vec(prop::array::uniform3(coordinate()), 1..12)
}

fn quaternion() -> impl Strategy<Value = [f32; 4]> {
    let half = 0.5f32.sqrt();
    let any = prop::array::uniform4(-1.0f32..1.0).prop_filter_map("too short to turn", |q| {
        let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
        (length > 0.1).then(|| q.map(|x| x / length))
    });
    prop_oneof![
        2 => Just([0.0, 0.0, 0.0, 1.0]),
        1 => prop::sample::select(vec![[half, 0.0, 0.0, half], [0.0, half, 0.0, half], [0.0, 0.0, 1.0, 0.0]]),
        2 => any,
    ]
}

fn placed(hull: u32) -> impl Strategy<Value = Placed> {
    let rounding = prop_oneof![2 => Just(0.0f32), 1 => 0.0f32..1.0];
    let scale = prop_oneof![3 => Just([1.0f32; 3]), 1 => prop::array::uniform3(0.25f32..4.0)];
    (prop::array::uniform3(coordinate()), quaternion(), scale, rounding).prop_map(
        move |(position, rotation, scale, radius)| Placed {
            hull,
            pose: Pose { position, rotation, scale, radius },
        },
    )
}

fn passed(name: &str, accuracy: &Accuracy) -> Result<(), TestCaseError> {
    accuracy.passed().map_err(|text| TestCaseError::fail(format!("{name}: {text}")))
}

fn check(clouds: [&Vec<Point>; 2], bodies: [Placed; 2], size: f32) -> Result<(), TestCaseError> {
    let hulls = clouds.map(|cloud| {
        let points: Vec<Point> = cloud.iter().map(|p| p.map(|x| x * size)).collect();
        Hull::from_points(&points).unwrap()
    });
    let placed = bodies.map(|body| {
        let Pose { position, rotation, scale, radius } = body.pose;
        let pose = Pose { position: position.map(|x| x * size), rotation, scale, radius: radius * size };
        Placed { hull: body.hull, pose }
    });
    let shapes = shapes(&hulls);
    let bodies: Vec<Body> = answers::bodies(&placed);
    let pairs = [[0, 1], [1, 0]];
    let truths = whole_truths(&shapes, &placed, &pairs);
    // Two points have no size for errors to be relative to.
    prop_assume!(truths[0].radius_sum > 0.0);
    for precision in [Precision::Fast, Precision::Exact] {
        let arena = Arena::new(&Engine::cpu(), &hulls, Options { precision, ..Default::default() }).unwrap();
        let promised = match precision {
            Precision::Fast => measure::Precision::Fast,
            Precision::Exact => measure::Precision::Exact,
        };
        let judge = Judge { shapes: &shapes, bodies: &placed, precision: promised };
        let given = Pairs::Given(&pairs);
        let distances = distance_rows(
            &arena.distances(&bodies, given, &DistanceOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        let contacts = contact_rows(
            &arena.contacts(&bodies, given, &ContactOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        let manifolds = manifold_rows(
            &arena.manifolds(&bodies, given, &ManifoldOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        passed("distances", &judge.distances(&pairs, &distances, &truths))?;
        passed("contacts", &judge.contacts(&pairs, &contacts, &truths))?;
        passed("manifolds", &judge.manifolds(&pairs, &manifolds, &truths))?;
        let permitted = match precision {
            Precision::Fast => truths[0].tau,
            Precision::Exact => 1e-9 * truths[0].radius_sum,
        };
        prop_assert!((distances[0].distance - distances[1].distance).abs() <= permitted, "{distances:?}");
        prop_assert!((contacts[0].depth - contacts[1].depth).abs() <= permitted, "{contacts:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: extent(1_500, 3_000), failure_persistence: None, rng_seed: RngSeed::Fixed(seed(3)), ..ProptestConfig::default() })]

    #[test]
    fn any_two_shapes_are_measured_right(
        one in cloud(), other in cloud(), a in placed(0), b in placed(1), size in prop::sample::select(vec![1e-5f32, 1.0, 1e5]),
    ) {
        check([&one, &other], [a, b], size)?;
    }
}
