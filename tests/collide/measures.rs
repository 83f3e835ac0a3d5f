//! Distances, contacts and manifolds against an independent f64 oracle: every kind of scene, at every scale, on every
//! engine there is, fast and exact.
//!
//! Each row is judged part by part: the number within its tolerance, the points on their bodies and as far apart as it
//! says, the axis or normal by f64 projection of all vertices, the verdict by the rule of the tolerance band.

use hullfield::Engine;
use hullfield::collide::{ContactOptions, DistanceOptions, ManifoldOptions, Precision, Stats};
use hullfield_oracle::measure::percentile_99;
use hullfield_oracle::scenes::{self, Near, Pile, Scene};
use hullfield_oracle::{Placed, Pose, corpus, extent, random::Random, seed};

use crate::answers;
use crate::answers::{JudgedScene, MeasureQuery, engines, extreme};

/// Every engine's answers to every query hold what is promised.
fn check(name: &str, scene: Scene) -> Vec<Stats> {
    JudgedScene::new(name, scene).check()
}

fn corpus_sets() -> Vec<Vec<[f32; 3]>> {
    extreme(&corpus::hulls().unwrap().sets)
}

#[test]
fn corpus_pairs_at_five_scales() {
    // `hullfield-bench accuracy` does this with 100,000 pairs.
    let near = Near { count: 1_000, seed: seed(61), ..Near::default() };
    let scene = scenes::near_pairs(&corpus_sets(), near);
    for scale in scenes::SCALES {
        let known = JudgedScene::new(format!("corpus at {scale:e}"), scene.scaled(scale));
        known.check();
        for (name, engine) in engines() {
            let part = known.part_for(&engine);
            let known = part.as_ref().unwrap_or(&known);
            let (accuracy, ..) = known.answer(&known.arena(&engine, Precision::Fast), MeasureQuery::Contacts);
            let depth = percentile_99(&accuracy.depth_errors);
            assert!(
                depth <= 1e-5,
                "{} on {name}: the 99th percentile of the depth error is {depth:e} R",
                known.name
            );
        }
    }
}

#[test]
fn stretched_and_rounded_corpus_pairs() {
    let sets = corpus_sets();
    let near = Near { count: extent(300, 1_500), stretch: 10.0, seed: seed(62), ..Near::default() };
    check("stretched", scenes::near_pairs(&sets, near));
    let near =
        Near { count: extent(300, 1_500), stretch: 3.0, rounded: 0.5, seed: seed(63), ..Near::default() };
    let scene = scenes::near_pairs(&sets, near);
    for scale in [1e-5, 1.0, 1e5] {
        check(&format!("rounded at {scale:e}"), scene.scaled(scale));
    }
}

#[test]
fn balls_capsules_and_rounded_boxes() {
    check(
        "round",
        scenes::round_pairs(Near { count: extent(750, 3_000), seed: seed(64), ..Near::default() }),
    );
    let near =
        Near { count: extent(500, 2_000), rounded: 1.0, stretch: 4.0, seed: seed(65), ..Near::default() };
    check("round, bodies rounded too", scenes::round_pairs(near));
}

#[test]
fn far_from_the_origin() {
    check("far", scenes::far(extent(250, 1_000), seed(66)));
    let sets = corpus_sets();
    let scene = scenes::near_pairs(
        &sets,
        Near { count: extent(120, 400), rounded: 0.2, seed: seed(67), ..Near::default() },
    );
    for reach in [1e3, 1e6] {
        check(&format!("corpus about {reach:e}"), scene.moved([reach, -reach, reach]));
        check(&format!("corpus of 1e3 about {reach:e}"), scene.scaled(1e3).moved([reach, -reach, reach]));
        check(&format!("corpus of 1e-2 about {reach:e}"), scene.scaled(1e-2).moved([reach, -reach, reach]));
    }
}

/// parry3d in f32 calls 4,330 of 5,000 boxes apart at a gap of 1e-4 of their size the wrong way.
#[test]
fn kissing_boxes() {
    check("kissing boxes", scenes::kissing_boxes(extent(1_000, 4_000), seed(68)));
}

/// parry3d in f32 says that 1,953 of 13,644 separated hulls of radius 0.01 intersect, and its `contact` finds none of
/// 6,356 overlaps of hulls of radius 0.001.
#[test]
fn tiny_and_huge_hulls() {
    for radius in [0.01, 0.001, 1e-5, 1e5] {
        check(&format!("hulls of radius {radius}"), scenes::tiny(radius, extent(400, 1_500), seed(69)));
    }
}

#[test]
fn debris_on_a_floor() {
    for tilted in [false, true] {
        check("debris", scenes::debris(extent(400, 1_500), tilted, seed(70)));
    }
}

#[test]
fn hulls_on_the_ground() {
    let mut sets = corpus_sets();
    sets.truncate(400);
    // A point, a segment and a polygon on the ground.
    sets.extend([
        vec![[0.0; 3]],
        vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        scenes::stacked_cubes(1).hulls[0][..4].to_vec(),
    ]);
    for tilted in [false, true] {
        check("ground", scenes::ground(&sets, extent(400, 1_500), tilted, seed(71)));
    }
}

/// A box and its copy offset by 1e-3 and 1e-7, and bodies in the very same place: EPA gave wrong depths there.
#[test]
fn coincident_bodies() {
    let mut sets = corpus_sets();
    sets.truncate(600);
    sets.push(scenes::stacked_cubes(1).hulls[0].clone());
    check("coincident", scenes::coincident(&sets, seed(72)));
}

#[test]
fn boxes_in_boxes() {
    check("box in box", scenes::box_in_box(extent(250, 1_000), seed(73)));
}

/// libccd answers with NaN.
#[test]
fn stacked_cubes() {
    check("stacked cubes", scenes::stacked_cubes(5));
}

#[test]
fn needles_and_plates() {
    check("slender", scenes::slender(Near { count: extent(500, 2_000), seed: seed(74), ..Near::default() }));
    // With the last seed a witness that fitted was given up for a normal that was sharper by the rounding.
    for seed in [seed(75), 17_984_791_583_839_414_668] {
        let near = Near { count: extent(250, 1_000), stretch: 10.0, seed, ..Near::default() };
        check("slender, stretched", scenes::slender(near));
    }
}

/// Nine slender faces of this needle count as one. A plane through their outer corners was 1.1e-6 of S below the surface.
#[test]
fn points_lie_on_a_side_of_many_slender_faces() {
    let near = Near { count: 1_000, stretch: 10.0, seed: 12_864_139_364_537_196_120, ..Near::default() };
    let scene = scenes::slender(near);
    check("needle", Scene { pairs: vec![scene.pairs[393]], ..scene });
}

/// Two needles of length 2 that are 7e-8 apart. The first points found for this gap are not opposite each other, which puts one of them 4e-8
/// outside of its body.
#[test]
fn exact_points_lie_on_both_of_two_needles() {
    let needle = vec![
        [0.62340206, -0.6470359, -1.0672485],
        [1.8595417, 0.58910376, 0.16889116],
        [1.5505068, 0.28006884, -0.14014375],
        [1.3187306, 0.04829265, -0.37191993],
        [0.93243694, -0.33800098, -0.7582136],
        [0.97106636, -0.29937163, -0.7195842],
        [1.1448984, -0.1255395, -0.5457521],
    ];
    let rotation = [0.91004115, 0.32516003, 0.17244117, -0.19068314];
    let placed = |position| Placed { hull: 0, pose: Pose { rotation, ..Pose::at(position) } };
    let bodies = vec![placed([0.0; 3]), placed([-9.613262e-8, 3.40873e-8, -5.141146e-8])];
    let scene = Scene { hulls: vec![needle], bodies, pairs: vec![[0, 1]], ..Scene::default() };
    let known = JudgedScene::new("needles", scene);
    for query in [MeasureQuery::Distances, MeasureQuery::Contacts] {
        let (accuracy, ..) = known.answer(&known.arena(&Engine::cpu(), Precision::Exact), query);
        accuracy.passed().unwrap();
    }
}

#[test]
fn hulls_of_many_vertices() {
    for &(point_count, count) in extent(&[(128, 80), (512, 12)][..], &[(128, 160), (512, 20), (2_048, 3)]) {
        let near = Near { count, seed: seed(76), ..Near::default() };
        check(&format!("{point_count} vertices"), scenes::large(point_count, near));
    }
}

#[test]
fn resting_piles_stay_in_f32() {
    for kind in [Pile::Wall, Pile::Pyramid, Pile::Heap] {
        let scene = scenes::pile(kind, 600, 77);
        for stats in JudgedScene::new(format!("{kind:?}"), scene).check_every() {
            let share = stats.settled_count as f64 / stats.candidate_count as f64;
            // Bricks that lie askew by 1e-5 to 1e-4: gaps near ¾ τ, and slivers of faces, which f32 can't promise the depth of.
            assert!(share < 0.08, "{kind:?}: {share} of the pairs settled in f64");
        }
    }
}

/// What is asserted of whole scenes can fail: a random part of one random row changed is found.
#[test]
fn a_changed_row_is_noticed() {
    use answers::{contact_rows, distance_rows, manifold_rows};
    use hullfield::collide::Pairs;
    let known = JudgedScene::new("control", scenes::kissing_boxes(300, 78));
    let (pairs, truths) = (&known.scene.pairs, &known.truths);
    let judge = known.judge(Precision::Fast);
    let mut random = Random::new(78);
    for (_, engine) in engines() {
        let arena = known.arena(&engine, Precision::Fast);
        let given = Pairs::Given(pairs);
        let distances = distance_rows(
            &arena.distances(&known.bodies, given, &DistanceOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        let contacts = contact_rows(
            &arena.contacts(&known.bodies, given, &ContactOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        let manifolds = manifold_rows(
            &arena.manifolds(&known.bodies, given, &ManifoldOptions { margin: 0.0 }).unwrap().wait().unwrap(),
        );
        assert!(judge.distances(pairs, &distances, truths).failures.is_empty());
        assert!(judge.contacts(pairs, &contacts, truths).failures.is_empty());
        assert!(judge.manifolds(pairs, &manifolds, truths).failures.is_empty());
        for _ in 0..20 {
            let k = random.below(pairs.len());
            let by = 3.0 * truths[k].tau;
            let mut changed = distances.clone();
            changed[k].distance += by;
            assert_eq!(judge.distances(pairs, &changed, truths).failures.len(), 1);
            let mut changed = contacts.clone();
            match random.below(4) {
                0 => changed[k].depth += by,
                1 => changed[k].normal = changed[k].normal.map(|x| -x),
                2 => changed[k].points[0][random.below(3)] += by,
                _ => changed[k].points.swap(0, 1),
            }
            // Points that touch are the same either way round.
            let same = contacts[k].depth.abs() < by && changed[k].normal == contacts[k].normal;
            if !same || changed[k].depth != contacts[k].depth {
                assert_eq!(judge.contacts(pairs, &changed, truths).failures.len(), 1, "{:?}", changed[k]);
            }
            let mut changed = manifolds.clone();
            let place = random.below(changed[k].points.len());
            changed[k].points[place].on_b[random.below(3)] += by;
            assert_eq!(judge.manifolds(pairs, &changed, truths).failures.len(), 1);
        }
    }
}
