//! One status and the same rows on every engine where sizes, distances and places are as extreme as bodies may be. Each test once failed.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Options, Pairs, Precision, Status,
};
use hullfield_oracle::random::Random;

use crate::answers::engines;

fn arena(engine: &Engine, hulls: &[Hull], precision: Precision) -> Arena {
    Arena::new(engine, hulls, Options { precision, ..Options::default() }).unwrap()
}

/// Pairs with their statuses.
type Listed = Vec<([u32; 2], Status)>;

/// Compares every query on every engine with what `Precision::Exact` measures: the statuses of `pairs`, and with these margins the rows of all
/// pairs. Returns the statuses.
fn one_answer(
    name: &str,
    hulls: &[Hull],
    bodies: &[Body],
    pairs: &[[u32; 2]],
    margins: &[f32],
) -> Vec<Status> {
    let exact = arena(&Engine::cpu(), hulls, Precision::Exact);
    let options = ContactOptions { margin: f32::INFINITY };
    let measured = |pairs: &[[u32; 2]]| {
        exact.contacts(bodies, Pairs::Given(pairs), &options).unwrap().wait().unwrap().rows
    };
    let expected: Vec<Status> = measured(pairs).iter().map(|row| row.status).collect();
    for (engine_name, engine) in engines() {
        let fast = arena(&engine, hulls, Precision::Fast);
        let turned: Vec<[u32; 2]> = pairs.iter().map(|&[a, b]| [b, a]).collect();
        for given in [pairs, &turned] {
            let given = Pairs::Given(given);
            let verdicts = fast.intersections(bodies, given).unwrap().wait().unwrap().rows;
            let contacts =
                fast.contacts(bodies, given, &ContactOptions::default()).unwrap().wait().unwrap().rows;
            let distances =
                fast.distances(bodies, given, &DistanceOptions::default()).unwrap().wait().unwrap().rows;
            let manifolds =
                fast.manifolds(bodies, given, &ManifoldOptions::default()).unwrap().wait().unwrap().rows;
            let all: [(&str, Vec<Status>); 4] = [
                ("intersections", verdicts.iter().map(|row| row.status).collect()),
                ("contacts", contacts.iter().map(|row| row.status).collect()),
                ("distances", distances.iter().map(|row| row.status).collect()),
                ("manifolds", manifolds.iter().map(|row| row.status).collect()),
            ];
            for (query, found) in all {
                let wrong = (0..found.len()).find(|&k| found[k] != expected[k]);
                assert!(
                    wrong.is_none(),
                    "{name}, {query}, {engine_name}: {:?}",
                    wrong.map(|k| (found[k], expected[k], pairs[k].map(|body| bodies[body as usize])))
                );
            }
        }
        if margins.is_empty() {
            continue;
        }
        let count = bodies.len() as u32;
        let every: Vec<[u32; 2]> = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect();
        let truths = measured(&every);
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let hits: Listed = truths
                .iter()
                .filter(|row| row.status.is_hit())
                .map(|row| ([row.a, row.b], row.status))
                .collect();
            let found = fast.intersections(bodies, pairs).unwrap().wait().unwrap().rows;
            let found: Listed = found.iter().map(|row| ([row.a, row.b], row.status)).collect();
            assert_eq!(found, hits, "{name}, {engine_name}, {pairs:?}");
            for &margin in margins {
                let near: Listed = truths
                    .iter()
                    .filter(|row| row.status.is_hit() || row.separation <= f64::from(margin))
                    .map(|row| ([row.a, row.b], row.status))
                    .collect();
                let found =
                    fast.contacts(bodies, pairs, &ContactOptions { margin }).unwrap().wait().unwrap().rows;
                let found: Listed = found.iter().map(|row| ([row.a, row.b], row.status)).collect();
                assert_eq!(found, near, "{name}, {engine_name}, {pairs:?}, margin {margin:e}");
            }
        }
    }
    expected
}

/// Hulls of 1e33 and of 1e-33, scaled to about 1 and 1e-15: the boxes took one of the two factors as 0, and the broad phase lost the pairs.
#[test]
fn hulls_and_scales_that_cancel() {
    for size in [1e33_f32, 1e-33] {
        let plate = Hull::cuboid([size, size, 0.25 * size]).unwrap();
        let hulls = [Hull::cuboid([size; 3]).unwrap(), plate];
        let scale = if size > 1.0 { 1e-33 } else { 1e18 };
        let body = |hull, x: f32| Body::new(hull).scaled(scale).at([x * (size * scale), 0.0, 0.0]);
        let bodies = [body(0, 0.0), body(1, 1.9), body(0, 4.5), body(1, 6.5)];
        let pairs = [[0, 1], [1, 2], [2, 3], [0, 3]];
        let found = one_answer("hulls and scales", &hulls, &bodies, &pairs, &[0.0, size * scale]);
        assert_eq!(found[..2], [Status::Penetrating, Status::Separated]);
    }
}

/// Balls of 1e18, 1.5e18 apart: the exhaustive search on the GPU took them for apart. With an infinite margin it left out pairs that are farther
/// apart than 1e18.
#[test]
fn the_largest_bodies() {
    let hulls = [Hull::ball(1.0).unwrap()];
    let ball = |x: f32, radius: f32| Body::new(0).scaled(radius).at([x, 0.0, 0.0]);
    let bodies = [ball(-0.75e18, 1e18), ball(0.75e18, 1e18), ball(-1e18, 1.0), ball(1e18, 1.0)];
    let pairs = [[0, 1], [2, 3], [0, 3]];
    let found = one_answer("large", &hulls, &bodies, &pairs, &[0.0, 1e18, f32::MAX, f32::INFINITY]);
    assert_eq!(found, [Status::Penetrating, Status::Separated, Status::Separated]);
}

/// More than 1e18 of their radii apart, but within the margin: the GPU left out the rows.
#[test]
fn specks_within_a_margin() {
    let hulls = [Hull::ball(1.0).unwrap()];
    let speck = |x: f32, radius: f32| Body::new(0).scaled(radius).at([x, 0.5 * x, 0.0]);
    let bodies = [speck(0.0, 1e-18), speck(4e5, 2e-18), speck(1e18, 1e-18), speck(-3e5, 1e-15)];
    let pairs = [[0, 1], [1, 2], [2, 3]];
    one_answer("specks", &hulls, &bodies, &pairs, &[0.0, 1e5, 6e5, f32::MAX, f32::INFINITY]);
}

/// Two points touch where they are at one place. Squares of distances below 1e-22 are 0 in f32, and both engines took such points
/// for touching. So did the GPU a point that is a denormal above a plane.
#[test]
fn points_next_to_each_other() {
    let point = |at| Hull::from_points(&[at]).unwrap();
    let hulls = [point([0.0; 3]), point([3.0, -2.0, 1.0]), Hull::half_space()];
    let (mut bodies, mut pairs) = (Vec::new(), Vec::new());
    for power in 4..46 {
        let size = 10.0_f64.powi(-power);
        for direction in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.48, 0.64]] {
            let at = direction.map(|x: f64| (x * size) as f32);
            for rotation in [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1e-40, -1.0005], [1e-30, 0.0, 1e-25, 1.0]] {
                for [a, b] in [[0, 0], [1, 1], [0, 2], [2, 0]] {
                    pairs.push([bodies.len() as u32, bodies.len() as u32 + 1]);
                    bodies.push(Body::new(a).rotated(rotation));
                    bodies.push(Body::new(b).rotated(rotation).at(at));
                }
            }
        }
    }
    let found = one_answer("points", &hulls, &bodies, &pairs, &[]);
    let count = |status| found.iter().filter(|&&found| found == status).count();
    assert!(count(Status::Separated) > 500 && count(Status::Touching) > 200, "{found:?}");
}

/// Bodies 1e10 to 1e12 times as far from the world's origin as they are large, whose hulls are not about their own origins: f64 rounds their
/// centres by up to the tolerance. Statuses of the f32 paths differed from those of f64 on both engines.
#[test]
fn small_bodies_far_away() {
    let mut random = Random::new(340);
    let cube = |x: f64| {
        let corner =
            |i: u32| [x + f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)].map(|x| x as f32);
        Hull::from_points(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
    };
    let tolerance = 1e-5 * 0.75_f64.sqrt();
    let shares = [-1.0, -0.76, -0.75, -0.74, -0.4, 0.0, 0.4, 0.74, 0.75, 0.76, 1.0];
    let hulls: Vec<Hull> =
        std::iter::once(cube(0.0)).chain(shares.map(|share| cube(1.0 + share * tolerance))).collect();
    let (mut bodies, mut pairs) = (Vec::new(), Vec::new());
    for _ in 0..1_500 {
        let scale = random.log_between(1e-6, 1.0);
        let far = scale * random.log_between(1e8, 1e12);
        let at = (random.direction() * far).as_vec3().to_array();
        let place = Body::new(0).at(at).scaled(scale as f32).rotated(random.rotation());
        pairs.push([bodies.len() as u32, bodies.len() as u32 + 1]);
        bodies.extend([place, Body { hull: 1 + random.below(shares.len()) as u32, ..place }]);
    }
    let found = one_answer("far", &hulls, &bodies, &pairs, &[]);
    for status in [Status::Separated, Status::Touching, Status::Penetrating] {
        assert!(found.iter().filter(|&&found| found == status).count() > 150, "{status:?}");
    }
}
