//! Intersections against an independent f64 oracle: the documented accuracy, on every engine.

use hullfield::collide::{Arena, Body, Hull, Options, Pairs, Status};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::compare::{self, Hit, Verdict};
use hullfield_oracle::scenes::{self, Near, Pile, Scene};
use hullfield_oracle::{Shape, Truth, corpus, extent, seed};

use crate::answers::{
    ask, bodies, check_every_verdict, check_verdicts as check, engines, extreme, hits, hulls, judged_places,
    verdicts,
};

#[test]
fn corpus_pairs_near_each_other() {
    let corpus = corpus::hulls().unwrap();
    let sets = extreme(&corpus.sets);
    let scene =
        scenes::near_pairs(&sets, Near { count: extent(6_000, 20_000), seed: seed(41), ..Near::default() });
    check("corpus", &scene);
}

#[test]
fn corpus_pairs_stretched() {
    let sets = extreme(&corpus::hulls().unwrap().sets);
    let near = Near { count: extent(2_500, 10_000), stretch: 10.0, seed: seed(42), ..Near::default() };
    check("stretched", &scenes::near_pairs(&sets, near));
}

#[test]
fn kissing_boxes() {
    check("kissing boxes", &scenes::kissing_boxes(extent(5_000, 20_000), seed(43)));
}

#[test]
fn tiny_hulls() {
    for radius in [0.01, 0.001, 1e-5] {
        check(&format!("hulls of radius {radius}"), &scenes::tiny(radius, extent(2_500, 10_000), seed(44)));
    }
}

#[test]
fn huge_hulls() {
    check("hulls of radius 1e5", &scenes::tiny(1e5, extent(2_500, 10_000), seed(45)));
}

#[test]
fn debris_on_a_floor() {
    for tilted in [false, true] {
        check("debris", &scenes::debris(extent(2_500, 10_000), tilted, seed(46)));
    }
}

#[test]
fn far_from_the_origin() {
    check("far", &scenes::far(extent(2_500, 10_000), seed(47)));
}

#[test]
fn coincident_nested_and_stacked() {
    let sets = extreme(&corpus::hulls().unwrap().sets);
    check("coincident", &scenes::coincident(&sets, seed(48)));
    check("box in box", &scenes::box_in_box(2_000, seed(49)));
    check("stacked cubes", &scenes::stacked_cubes(6));
}

#[test]
fn a_resting_pile_stays_in_f32() {
    for kind in [Pile::Wall, Pile::Pyramid, Pile::Heap] {
        let scene = scenes::pile(kind, 1_000, 50);
        for found in check_every_verdict("pile", &scene) {
            let share = found.stats.settled_count as f64 / found.rows.len() as f64;
            println!("{kind:?}: {:.3} % of {} pairs settled in f64", 100.0 * share, found.rows.len());
            assert!(share < 0.05, "{kind:?}: {share}");
        }
    }
}

#[test]
fn all_bodies_are_the_given_pairs_that_hit() {
    // Few bodies on both engines, and many on the CPU engine.
    all_bodies(600, 20, engines());
    all_bodies(2_000, 100, engines().into_iter().take(1).collect());
}

fn all_bodies(count: usize, least_hits: u64, engines: Vec<(&'static str, Engine)>) {
    let sets = extreme(&corpus::hulls().unwrap().sets);
    let scene = scenes::tumbling(&sets[..60], count, 20.0, 51).scene;
    let candidates: Vec<[u32; 2]> = scenes::overlapping_boxes(&scene, 1e-5);
    let scene = Scene { pairs: candidates, ..scene };
    let truths = scene.truths();
    let mut first: Option<Vec<[u32; 2]>> = None;
    for (name, engine) in engines {
        let near = ask(&engine, &scene, Pairs::BroadPhase);
        compare::hits_against_truth(&hits(&near), &scene.pairs, &truths).assert_passed();
        assert!(near.stats.hit_count > least_hits, "{name}: {:?}", near.stats);
        let every = ask(&engine, &scene, Pairs::Exhaustive);
        assert_eq!(every.rows, near.rows, "{name}: without a broad phase");
        assert_eq!(every.stats.candidate_count, (count * (count - 1) / 2) as u64);
        let again = ask(&engine, &scene, Pairs::BroadPhase);
        assert_eq!(again.rows, near.rows, "{name}: run again");
        let arena = Arena::new(&engine, &hulls(&scene.hulls), Options::default()).unwrap();
        let found = arena.candidates(&bodies(&scene.bodies)).unwrap().wait().unwrap();
        compare::complete(&found, &near.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>()).unwrap();
        assert_eq!(found.len() as u64, near.stats.candidate_count);
        match &first {
            None => first = Some(found),
            Some(first) => compare::same_pairs(first, &found).unwrap(),
        }
    }
}

/// 4.5 million pairs, more than 65,535 workgroups of 64.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn every_pair_of_three_thousand_bodies() {
    let sets = extreme(&corpus::hulls().unwrap().sets);
    let scene = scenes::tumbling(&sets[..200], 3_000, 20.0, 52).scene;
    let shapes: Vec<Shape> = scene.shapes();
    let truth = |a: u32, b: u32| -> Truth {
        let [a, b] = [a, b].map(|body| &scene.bodies[body as usize]);
        hullfield_oracle::truth(&shapes[a.hull as usize], &a.pose, &shapes[b.hull as usize], &b.pose)
    };
    let mut first: Option<Vec<Hit>> = None;
    for (name, engine) in engines() {
        let found = ask(&engine, &scene, Pairs::Exhaustive);
        assert_eq!(found.stats.candidate_count, 4_498_500);
        assert!(found.stats.hit_count > 100, "{name}: {:?}", found.stats);
        let found = hits(&found);
        match &first {
            None => first = Some(found),
            Some(first) => {
                let report = compare::between_hits(first, &found, truth);
                println!("every pair, cpu against {name}: {report}");
                report.assert_passed();
            }
        }
    }
}

#[test]
fn swapping_and_moving_change_nothing() {
    let near = Near { count: 5_000, seed: seed(53), ..Near::default() };
    let mut scene = scenes::near_pairs(&extreme(&scenes::convex_sets(48, 1.0, seed(53))), near);
    // On a grid that f32 holds out to 4096, so that the move below is exact.
    for body in &mut scene.bodies {
        body.pose.position = body.pose.position.map(|x| (x * 4096.0).round() / 4096.0);
    }
    let truths = scene.truths();
    let mut moved = scene.clone();
    let mut turned = scene.clone();
    for (body, (moved, turned)) in scene.bodies.iter().zip(moved.bodies.iter_mut().zip(&mut turned.bodies)) {
        moved.pose.position = body.pose.position.map(|x| x + 1024.0);
        assert_eq!(moved.pose.position.map(|x| x - 1024.0), body.pose.position);
        // Half a turn about z, by signs and places alone.
        let ([x, y, z], [i, j, k, w]) = (body.pose.position, body.pose.rotation);
        turned.pose.position = [-x, -y, z];
        turned.pose.rotation = [-j, i, w, -k];
    }
    for (truth, again) in truths.iter().zip(moved.truths()).chain(truths.iter().zip(turned.truths())) {
        let error = 1e-9 * truth.radius_sum;
        assert!(!truth.exact || (truth.gap - again.gap).abs() <= error, "the scene did not move as one");
    }
    for (name, engine) in engines() {
        let places = judged_places(&engine, truths.len());
        let pairs: Vec<[u32; 2]> = places.iter().map(|&k| scene.pairs[k]).collect();
        let swapped: Vec<[u32; 2]> = pairs.iter().map(|&[a, b]| [b, a]).collect();
        let here = verdicts(&ask(&engine, &scene, Pairs::Given(&pairs)));
        let others = [
            ("swapped", ask(&engine, &scene, Pairs::Given(&swapped))),
            ("moved", ask(&engine, &moved, Pairs::Given(&pairs))),
            ("turned", ask(&engine, &turned, Pairs::Given(&pairs))),
        ];
        for (change, found) in others {
            let report = compare::between(&pairs, &here, &verdicts(&found), |k| truths[places[k]]);
            println!("{change} on {name}: {report}");
            report.passed().unwrap_or_else(|text| panic!("{change} on {name}: {text}"));
        }
    }
}

#[test]
fn a_flipped_verdict_is_noticed() {
    let scene = scenes::kissing_boxes(200, seed(54));
    let truths = scene.truths();
    for (_, engine) in engines() {
        let found = ask(&engine, &scene, Pairs::Given(&scene.pairs));
        let good = verdicts(&found);
        compare::against_truth(&scene.pairs, &good, &truths).assert_passed();
        let far = truths.iter().position(|truth| truth.gap.abs() > truth.tau).unwrap();
        let mut bad = good.clone();
        bad[far] = if good[far] == Verdict::Separated { Verdict::Penetrating } else { Verdict::Separated };
        assert!(compare::against_truth(&scene.pairs, &bad, &truths).passed().is_err());
        assert!(compare::between(&scene.pairs, &good, &bad, |k| truths[k]).passed().is_err());
    }
}

#[test]
fn bad_input_is_named() {
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
        let good = Body::new(0);
        let refused =
            |bodies: &[Body], pairs: Pairs<'_>| arena.intersections(bodies, pairs).map(|_| ()).unwrap_err();
        let body = |bad: Body| refused(&[good, bad], Pairs::BroadPhase);
        let unknown = Error::Missing { at: Location::Body(1), what: "hull", index: 7, count: 1 };
        assert_eq!(body(Body::new(7)), unknown, "{name}");
        let field = |error: Error| match error {
            Error::Value { at: Location::Body(1), field, .. } => field,
            other => panic!("{name}: {other}"),
        };
        assert_eq!(field(body(good.at([f32::NAN, 0.0, 0.0]))), "position");
        assert_eq!(field(body(good.at([0.0, f32::INFINITY, 0.0]))), "position");
        assert_eq!(field(body(good.rotated([0.0, 0.0, 0.0, 1.01]))), "rotation");
        assert_eq!(field(body(good.rotated([0.0; 4]))), "rotation");
        assert_eq!(field(body(good.rotated([f32::NAN; 4]))), "rotation");
        assert_eq!(field(body(good.scaled(0.0))), "scale");
        assert_eq!(field(body(good.scaled(-1.0))), "scale");
        assert_eq!(field(body(good.scaled(f32::NAN))), "scale");
        assert_eq!(field(body(good.scaled(1e30))), "scale");
        assert_eq!(field(body(good.scaled(1e-30))), "scale");
        let pairs = |pair| refused(&[good, good], Pairs::Given(&[[0, 1], pair]));
        let missing = Error::Missing { at: Location::Pair(1), what: "body", index: 2, count: 2 };
        assert_eq!(pairs([0, 2]), missing);
        let itself = pairs([1, 1]);
        assert!(matches!(itself, Error::Invalid { at: Location::Pair(1), .. }), "{itself}");
    }
}

#[test]
fn no_bodies_one_body_no_pairs() {
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
        for bodies in [vec![], vec![Body::new(0)]] {
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[])] {
                let found = arena.intersections(&bodies, pairs).unwrap().wait().unwrap();
                assert!(found.rows.is_empty(), "{name}");
            }
        }
        let none = Arena::new(&engine, &[], Options::default()).unwrap();
        assert!(none.intersections(&[], Pairs::BroadPhase).unwrap().wait().unwrap().rows.is_empty());
    }
}

/// Every query counts the same pairs, and none that is far from the surface.
#[test]
fn pairs_that_epa_decides_are_counted() {
    let scene = scenes::kissing_boxes(200, seed(52));
    let arena = Arena::new(&Engine::cpu(), &hulls(&scene.hulls), Options::default()).unwrap();
    let placed = bodies(&scene.bodies);
    let near = arena.candidates(&placed).unwrap().wait().unwrap();
    let count = placed.len() as u32;
    let every: Vec<[u32; 2]> = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect();
    for (pairs, listed) in [(Pairs::BroadPhase, &near), (Pairs::Exhaustive, &every)] {
        let [found, expected] = [pairs, Pairs::Given(listed)]
            .map(|pairs| arena.intersections(&placed, pairs).unwrap().wait().unwrap().stats.refined_count);
        assert!(expected > 10, "{expected} of {}", near.len());
        assert_eq!(found, expected, "{pairs:?}");
    }
    // Two long boxes overlap by 0.76. That is far from the surface, whatever their rounding.
    for rounding in [0.0, 1e-7, 1e-3] {
        let hull = Hull::cuboid([2.0, 0.5, 0.4]).unwrap().rounded(rounding).unwrap();
        let arena = Arena::new(&Engine::cpu(), &[hull], Options::default()).unwrap();
        let other = Body::new(0).at([1.9, 1.8, 0.03]).rotated([0.0, 0.0, 0.6, 0.8]);
        let bodies = [Body::new(0), other];
        for pairs in [Pairs::BroadPhase, Pairs::Given(&[[0, 1]])] {
            let found = arena.intersections(&bodies, pairs).unwrap().wait().unwrap();
            assert_eq!(found.rows[0].status, Status::Penetrating, "{rounding}");
            assert_eq!(found.stats.refined_count, 0, "{rounding}");
        }
    }
}

#[test]
fn flat_hulls_touch_and_never_penetrate_each_other() {
    // Two points, segments and squares in one plane: their difference is flat, so an overlap has depth 0.
    let flat = [
        vec![[0.0, 0.0, 0.0]],
        vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
    ];
    let count = flat.len() as u32;
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &hulls(&flat), Options::default()).unwrap();
        for rotation in [[0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.927_361_85]] {
            for a in 0..count {
                for b in 0..count {
                    let place = |hull| Body::new(hull).rotated(rotation).at([3.0, -2.0, 5.0]);
                    let found = arena
                        .intersections(&[place(a), place(b)], Pairs::Given(&[[0, 1]]))
                        .unwrap()
                        .wait()
                        .unwrap();
                    assert_eq!(found.rows[0].status, Status::Touching, "{name}: {a} {b} {rotation:?}");
                }
            }
        }
    }
}
