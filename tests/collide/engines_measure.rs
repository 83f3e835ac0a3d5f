//! Distances, contacts and manifolds of the GPU engine, compared with f64 and with the CPU engine.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Batch, Body, Contact, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Options, Pairs,
    Status,
};
use hullfield_oracle::measure::{Accuracy, Judge, Precision, listed};
use hullfield_oracle::scenes::{self, Kind, Near, Scene};
use hullfield_oracle::{pick, random, whole_truths};

use crate::answers::{arena, bodies, contact_rows, distance_rows, manifold_rows, shapes};
use crate::common;

/// Scenes of all kinds, and the largest share of pairs that may go to f64. Where gaps are chosen near zero, f32's error bound reaches across
/// ¾ of the tolerance for one pair in ten.
fn all_scenes() -> Vec<(&'static str, Scene, f64)> {
    let near = |count, stretch, seed| Near { count, stretch, seed, ..Near::default() };
    let sets = scenes::convex_sets(48, 1.0, 2);
    let plain = scenes::near_pairs(&sets, near(1500, 1.0, 3));
    vec![
        ("1e-5", plain.scaled(1e-5), 0.11),
        ("1e-2", plain.scaled(1e-2), 0.11),
        ("1e3", plain.scaled(1e3), 0.11),
        ("1e5", plain.scaled(1e5), 0.11),
        ("near", plain, 0.11),
        ("stretched", scenes::near_pairs(&sets, near(500, 30.0, 5)), 0.1),
        ("rounded", scenes::near_pairs(&sets, Near { rounded: 1.0, ..near(1000, 1.0, 6) }), 0.12),
        ("round", scenes::round_pairs(near(1000, 1.0, 7)), 0.1),
        ("slender", scenes::slender(near(300, 1.0, 8)), 0.4),
        ("large", scenes::large(128, near(60, 1.0, 9)), 0.1),
        ("far", scenes::far(500, 8), 0.01),
        ("on the ground", scenes::ground(&sets, 300, false, 10), 0.07),
        ("on slopes", scenes::ground(&sets, 300, true, 11), 1.0),
        ("debris", scenes::debris(500, true, 9), 0.13),
        ("kissing boxes", scenes::kissing_boxes(400, 10), 0.22),
        ("coincident", scenes::coincident(&sets[..24], 12), 0.3),
        ("stacked cubes", scenes::stacked_cubes(4), 0.02),
        ("boxes in boxes", scenes::box_in_box(200, 13), 0.15),
        ("a pile", scenes::pile(scenes::Pile::Pyramid, 300, 14), 0.04),
    ]
}

#[test]
fn what_the_gpu_measures_is_true() {
    let Some(gpu) = common::gpu() else { return };
    for (name, scene, share) in all_scenes() {
        let placed = bodies(&scene.bodies);
        let arena = arena(&gpu, &scene);
        let shapes = shapes(arena.hulls());
        let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
        let judge = Judge { shapes: &shapes, bodies: &scene.bodies, precision: Precision::Fast };
        let given = Pairs::Given(&scene.pairs);
        let passed = |what: &str, accuracy: Accuracy| {
            println!("{name}, {what}: {accuracy}");
            accuracy.passed().unwrap_or_else(|text| panic!("{name}, {what}: {text}"));
        };

        let found =
            arena.distances(&placed, given, &DistanceOptions { margin: 0.0 }).unwrap().wait().unwrap();
        let rows = distance_rows(&found);
        passed("distances", judge.distances(&scene.pairs, &rows, &truths));
        let distances_settled = found.stats.settled_count;

        let found = arena.contacts(&placed, given, &ContactOptions { margin: 0.0 }).unwrap().wait().unwrap();
        let rows = contact_rows(&found);
        passed("contacts", judge.contacts(&scene.pairs, &rows, &truths));
        let settled = found.stats.settled_count.max(distances_settled);
        println!("{name}: {} of {} to EPA, {settled} settled", found.stats.refined_count, rows.len());
        assert!(settled as f64 <= 1.0 + share * rows.len() as f64, "{name}: {settled} of {}", rows.len());

        // Control: one depth wrong by three times the tolerance must be found.
        let mut wrong = rows.clone();
        wrong[0].depth += 3.0 * truths[0].tau;
        assert!(judge.contacts(&scene.pairs, &wrong, &truths).passed().is_err(), "{name}");
    }
}

#[test]
fn manifolds_of_the_gpu_are_true() {
    let Some(gpu) = common::gpu() else { return };
    for (name, scene) in [
        ("kissing boxes", scenes::kissing_boxes(200, 20)),
        ("a pile", scenes::pile(scenes::Pile::Pyramid, 200, 21)),
        ("round", scenes::round_pairs(Near { count: 200, seed: 22, ..Near::default() })),
    ] {
        let placed = bodies(&scene.bodies);
        let arena = arena(&gpu, &scene);
        let shapes = shapes(arena.hulls());
        let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
        let judge = Judge { shapes: &shapes, bodies: &scene.bodies, precision: Precision::Fast };
        let found = arena
            .manifolds(&placed, Pairs::Given(&scene.pairs), &ManifoldOptions { margin: 0.0 })
            .unwrap()
            .wait()
            .unwrap();
        let accuracy = judge.manifolds(&scene.pairs, &manifold_rows(&found), &truths);
        accuracy.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
    }
}

/// A crowd, and the truth of all its pairs.
fn crowd(count: usize, seed: u64) -> Scene {
    let mut scene = scenes::tumbling(&scenes::convex_sets(24, 1.0, seed), count, 20.0, seed + 1).scene;
    scene.roundings = (0..24).map(|k| if k % 3 == 0 { 0.1 } else { 0.0 }).collect();
    let count = scene.bodies.len() as u32;
    scene.pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect();
    scene
}

#[test]
fn broad_phase_and_exhaustive_search_list_pairs_within_the_margin() {
    let Some(gpu) = common::gpu() else { return };
    let scene = crowd(120, 31);
    let placed = bodies(&scene.bodies);
    let arena = arena(&gpu, &scene);
    let shapes = shapes(arena.hulls());
    let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
    for margin in [0.0_f32, 0.3, 5.0, f32::INFINITY] {
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let found = arena.distances(&placed, pairs, &DistanceOptions { margin }).unwrap().wait().unwrap();
            let listed_pairs: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
            // Touching pairs are listed whatever the margin.
            let within = f64::from(margin.min(1e9)).max(1e-9);
            listed(&listed_pairs, &scene.pairs, &truths, within)
                .unwrap_or_else(|text| panic!("{pairs:?} {margin}: {text}"));
            let of_listed: Vec<_> = found
                .rows
                .iter()
                .map(|row| truths[scene.pairs.binary_search(&[row.a, row.b]).unwrap()])
                .collect();
            let judge = Judge { shapes: &shapes, bodies: &scene.bodies, precision: Precision::Fast };
            judge
                .distances(&listed_pairs, &distance_rows(&found), &of_listed)
                .passed()
                .unwrap_or_else(|text| panic!("{pairs:?} {margin}: {text}"));
            // Control: a missing row must be found.
            let fewer = &listed_pairs[1..];
            assert!(listed(fewer, &scene.pairs, &truths, within).is_err() || truths[0].gap.abs() < 1e-3);
        }
    }
}

fn contacts(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>, margin: f32) -> Batch<Contact> {
    arena.contacts(bodies, pairs, &ContactOptions { margin }).unwrap().wait().unwrap()
}

#[test]
fn many_windows_are_as_one() {
    // A window of the small bindings holds 768 pairs, of 11,175.
    let (Some(gpu), Some(cut)) = (common::gpu(), common::gpu_of_bindings(40 << 10)) else { return };
    let scene = crowd(150, 41);
    let placed = bodies(&scene.bodies);
    let whole = arena(&gpu, &scene);
    let kinds = [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&scene.pairs)];
    let at_once = kinds.map(|pairs| contacts(&whole, &placed, pairs, 0.2).rows);
    let cut = arena(&cut, &scene);
    for (pairs, at_once) in kinds.into_iter().zip(&at_once) {
        let found = contacts(&cut, &placed, pairs, 0.2);
        assert!(found.rows.len() > 300, "{pairs:?}: {}", found.rows.len());
        assert_eq!(&found.rows, at_once, "{pairs:?}");
    }
}

/// 4,300,000 given pairs exceed 65,535 workgroups of 64, and their rows exceed 128 MiB. Spheres are fast, and the gap between two has a
/// formula. A run measures contacts or distances.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn rows_past_one_binding_and_past_65535_groups_are_right() {
    let Some(gpu) = common::own_gpu() else { return };
    let placed: Vec<Body> =
        (0..3_000).map(|k| Body::new(0).at([(k % 3) as f32, (k / 3 % 10) as f32, (k / 30) as f32])).collect();
    let pairs: Vec<[u32; 2]> =
        (0..4_300_000_u32).map(|k| [k % 3_000, (k % 3_000 + 1 + k / 3_000) % 3_000]).collect();
    assert!(pairs.len() > 65_535 * 64);
    assert!(pairs.len() * 32 > 128 << 20);
    let arena = Arena::new(&gpu, &[Hull::ball(0.625).unwrap()], Options::default()).unwrap();
    let given = Pairs::Given(&pairs);
    let gap = |[a, b]: [u32; 2]| {
        let ([x, y, z], [u, v, w]) = (placed[a as usize].position, placed[b as usize].position);
        f64::from((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w)).sqrt() - 1.25
    };
    let (mut row_count, mut hit_count) = (0, 0);
    let mut judge = |row: [u32; 2], status: Status, found: f64, is_signed: bool| {
        let gap = gap(row);
        let expected = if is_signed { gap } else { gap.max(0.0) };
        // No two are so near that f32 may decide either way.
        let is_right = row == pairs[row_count]
            && status.is_hit() == (gap < 0.0)
            && (found - expected).abs() <= 1e-5 * (1.25 + gap.abs());
        assert!(is_right, "row {row_count}: {row:?} {status:?} {found}, not {expected}");
        row_count += 1;
        hit_count += usize::from(gap < 0.0);
    };
    if pick(71, &[false, true], 1)[0] {
        let found = arena.distances(&placed, given, &DistanceOptions { margin: 0.0 });
        for row in &found.unwrap().wait().unwrap().rows {
            judge([row.a, row.b], row.status, row.separation, false);
        }
    } else {
        for row in &contacts(&arena, &placed, given, 0.0).rows {
            judge([row.a, row.b], row.status, -row.depth(), true);
        }
    }
    assert_eq!(row_count, pairs.len());
    assert!(hit_count > 1_000, "{hit_count}");
}

#[test]
fn a_steady_state_of_contacts_allocates_nothing() {
    let Some(gpu) = common::own_gpu() else { return };
    let crowd = scenes::tumbling(&scenes::convex_sets(24, 1.0, 51), 400, 20.0, 52);
    let arena = arena(&gpu, &crowd.scene);
    let frames: Vec<Vec<Body>> = (0..5).map(|i| bodies(&crowd.at(f64::from(i) * 0.01))).collect();
    let run = || {
        for frame in &frames {
            let given: Vec<[u32; 2]> = contacts(&arena, frame, Pairs::BroadPhase, 0.0)
                .rows
                .iter()
                .map(|row| [row.a, row.b])
                .collect();
            arena
                .distances(frame, Pairs::BroadPhase, &DistanceOptions { margin: 0.1 })
                .unwrap()
                .wait()
                .unwrap();
            contacts(&arena, frame, Pairs::Given(&given[..200]), 0.0);
        }
    };
    run();
    run();
    let high = gpu.counters();
    run();
    let low = gpu.counters();
    assert!(low.submissions > high.submissions);
    assert_eq!(
        (low.buffers_created, low.staging_created, low.pipelines_built, low.buffer_bytes),
        (high.buffers_created, high.staging_created, high.pipelines_built, high.buffer_bytes)
    );
}

#[test]
fn both_engines_say_the_same_from_run_to_run() {
    let Some(gpu) = common::gpu() else { return };
    let round = scenes::convex_set(&mut random::Random::new(61), Kind::Ball, 40);
    let scene = scenes::near_pairs(&[round], Near { count: 300, seed: 62, ..Near::default() });
    let placed = bodies(&scene.bodies);
    let [on_gpu, on_cpu] = [arena(&gpu, &scene), arena(&Engine::cpu(), &scene)];
    let given = Pairs::Given(&scene.pairs);
    let first = contacts(&on_gpu, &placed, given, 0.0).rows;
    assert_eq!(first, contacts(&on_gpu, &placed, given, 0.0).rows);
    let shapes = shapes(on_gpu.hulls());
    let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
    for ((row, other), truth) in first.iter().zip(contacts(&on_cpu, &placed, given, 0.0).rows).zip(&truths) {
        assert!((row.depth() - other.depth()).abs() <= 2.0 * truth.tau, "{row:?} {other:?}");
        assert!(row.status == other.status || truth.gap.abs() <= truth.tau, "{row:?} {other:?}");
    }
}
