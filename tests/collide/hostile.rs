//! Difficult scenes: every kind of shape against every other, of very different sizes, stretched, rounded,
//! far away, at the same place, in no group, with statics and no bodies; against the oracle, on every engine.

use hullfield::collide::{Arena, Body, ContactOptions, Hull, ManifoldOptions, Options, Pairs, Precision};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Kind, Scene};
use hullfield_oracle::{Placed, Pose};

use crate::answers::{JudgedScene, engines, extreme};

/// Points, segments, needles, plates, polygons, solids; the last is a half-space.
fn zoo() -> Vec<Vec<[f32; 3]>> {
    let mut random = Random::new(31);
    let cube = scenes::stacked_cubes(1).hulls[0].clone();
    let squeezed = |by: [f32; 3]| cube.iter().map(|p| [0, 1, 2].map(|k| p[k] * by[k])).collect::<Vec<_>>();
    let sets = vec![
        vec![[0.0; 3]],
        vec![[3.0, -2.0, 1.0]],
        vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        vec![[0.0; 3], [1.0, 0.0, 0.0], [0.3, 0.7, 0.0]],
        vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1e-6, 0.0]],
        squeezed([1.0, 1.0, 1e-5]),
        squeezed([1e-5, 1.0, 1e-5]),
        squeezed([1.0, 1.0, 1.0]),
        cube.iter().map(|p| [p[0] + 50.0, p[1] - 50.0, p[2]]).collect(),
        scenes::convex_set(&mut random, Kind::Ball, 12),
        scenes::convex_set(&mut random, Kind::Ball, 100),
    ];
    let mut sets = extreme(&sets);
    sets.push(Vec::new());
    sets
}

fn odd_pairs(count: usize, ratio: f64, far: f64, seed: u64) -> Scene {
    let hulls = zoo();
    let shapes: Vec<Hull> = hulls
        .iter()
        .map(|set| if set.is_empty() { Hull::half_space() } else { Hull::from_points(set).unwrap() })
        .collect();
    let mut random = Random::new(seed);
    let ground = hulls.len() - 1;
    let mut scene = Scene { hulls, ..Scene::default() };
    scene.roundings = scene.hulls.iter().enumerate().map(|(k, _)| [0.0, 0.2, 1e-4][k % 3]).collect();
    while scene.pairs.len() < count {
        let [a, b] = [0; 2].map(|_| random.below(ground + 1));
        if a == ground && b == ground {
            continue;
        }
        let size = random.log_between(1e-5, 1e5);
        let at = random.direction() * far * random.unit();
        let mut placed = [a, b].map(|hull| {
            let scale = [0; 3].map(|_| (size * random.log_between(1.0 / ratio, ratio)) as f32);
            let radius =
                if random.below(3) == 0 { (size * random.log_between(1e-4, 1.0)) as f32 } else { 0.0 };
            let pose = Pose { position: at.as_vec3().to_array(), rotation: random.rotation(), scale, radius };
            Placed { hull: hull as u32, pose }
        });
        let reach: f64 = placed
            .iter()
            .map(|body| {
                let largest = body.pose.scale.iter().copied().fold(0.0, f32::max);
                f64::from(largest) * shapes[body.hull as usize].radius() + f64::from(body.pose.radius)
            })
            .sum();
        // A third in one place, a third near, a third about as far as they reach.
        let away = [0.0, 0.3, 1.1][random.below(3)] * reach * random.unit();
        let moved = at + random.direction() * away;
        placed[1].pose.position = moved.as_vec3().to_array();
        let first = scene.bodies.len() as u32;
        scene.bodies.extend(placed);
        scene.pairs.push([first, first + 1]);
    }
    scene
}

#[test]
fn every_shape_against_every_other() {
    JudgedScene::new("odd", odd_pairs(2_000, 1.0, 0.0, 32)).check();
    JudgedScene::new("odd, stretched", odd_pairs(2_000, 30.0, 0.0, 33)).check();
}

#[test]
fn every_shape_far_off() {
    JudgedScene::new("odd, far", odd_pairs(1_500, 3.0, 1e6, 34)).check();
}

/// Bodies without a group or a mask, or only statics: nothing is found, without an error.
#[test]
fn nobody_meets_nobody() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space()];
    let body = Body::new(0);
    let still = [body, body, Body::new(1)];
    for (_, engine) in engines() {
        for precision in [Precision::Fast, Precision::Exact] {
            let arena = Arena::new(&engine, &hulls, Options { precision, ..Default::default() }).unwrap();
            let with =
                arena.with_options(Options { statics: still.to_vec(), ..arena.options().clone() }).unwrap();
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[])] {
                for margin in [0.0, 1.0, f32::MAX, f32::INFINITY] {
                    for (arena, bodies) in [
                        (&with, vec![]),
                        (&arena, vec![]),
                        (&arena, vec![body]),
                        (&arena, vec![body.grouped(0, u32::MAX); 3]),
                        (&with, vec![body.grouped(u32::MAX, 0); 3]),
                        (&with, vec![Body::new(1).grouped(0, 2); 2]),
                        (&arena, vec![Body::new(1); 3]),
                    ] {
                        let found = arena
                            .contacts(&bodies, pairs, &ContactOptions { margin })
                            .unwrap()
                            .wait()
                            .unwrap();
                        assert_eq!(found.rows, [], "{pairs:?} {margin} {bodies:?}");
                        let found = arena
                            .manifolds(&bodies, pairs, &ManifoldOptions { margin })
                            .unwrap()
                            .wait()
                            .unwrap();
                        assert_eq!(found.rows, [], "{pairs:?} {margin} {bodies:?}");
                    }
                }
            }
            // A body on its own copy among the statics, and on the ground there: it meets each once.
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                let found = with
                    .contacts(&[body], pairs, &ContactOptions { margin: f32::INFINITY })
                    .unwrap()
                    .wait()
                    .unwrap();
                let met: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
                assert_eq!(met, [[0, 1], [0, 2], [0, 3]], "{precision:?} {pairs:?}");
                assert!(
                    (found.rows[0].depth() - 1.0).abs() < 1e-5 && (found.rows[2].depth() - 0.5).abs() < 1e-5
                );
            }
        }
    }
}
