//! The two engines against each other, and the GPU's against the oracle.

use hullfield::collide::{Arena, Batch, Body, Intersection, Pairs};
use hullfield::{Engine, EngineOptions, Error};
use hullfield_oracle::compare::{Report, against_truth, between, between_hits, same_pairs};
use hullfield_oracle::scenes::{self, Near, Scene};
use hullfield_oracle::{Truth, Verdict, truth, truths};

use crate::answers::{arena, bodies, certified, hits, shapes, verdicts};
use crate::common;

fn find(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>) -> Batch<Intersection> {
    arena.intersections(bodies, pairs).unwrap().wait().unwrap()
}

/// Scenes of all kinds that the engines must agree on, by name.
fn all_scenes() -> Vec<(&'static str, Scene)> {
    let near = |count, stretch, seed| Near { count, stretch, seed, ..Near::default() };
    vec![
        ("near", scenes::near_pairs(&scenes::convex_sets(48, 1.0, 2), near(4000, 1.0, 3))),
        ("stretched", scenes::near_pairs(&scenes::convex_sets(48, 1.0, 4), near(1000, 30.0, 5))),
        ("tiny", scenes::tiny(1e-5, 1000, 6)),
        ("huge", scenes::tiny(1e5, 1000, 7)),
        ("far", scenes::far(1000, 8)),
        ("debris", scenes::debris(500, true, 9)),
        ("kissing boxes", scenes::kissing_boxes(400, 10)),
        ("coincident", scenes::coincident(&scenes::convex_sets(24, 1.0, 11), 12)),
        ("stacked cubes", scenes::stacked_cubes(5)),
        ("boxes in boxes", scenes::box_in_box(200, 13)),
        ("a pile", scenes::pile(scenes::Pile::Pyramid, 500, 14)),
    ]
}

#[test]
fn candidates_are_equal_on_both_engines() {
    let Some(gpu) = common::gpu() else { return };
    for (name, scene) in all_scenes() {
        let placed = bodies(&scene.bodies);
        for count in [0, 1, 2, 127, 128, 129, placed.len()] {
            let placed = &placed[..count.min(placed.len())];
            let [on_gpu, on_cpu] = [&gpu, &Engine::cpu()]
                .map(|engine| arena(engine, &scene).candidates(placed).unwrap().wait().unwrap());
            same_pairs(&on_gpu, &on_cpu).unwrap_or_else(|text| panic!("{name}, {count} bodies: {text}"));
        }
    }
}

#[test]
fn candidates_past_one_window_are_equal_too() {
    // 250 bodies at one place are 31,125 pairs; a window of these bindings holds 3,328.
    let Some(gpu) = common::gpu_of_bindings(40 << 10) else { return };
    let scene = Scene { hulls: vec![scenes::stacked_cubes(1).hulls[0].clone()], ..Scene::default() };
    let bodies = vec![Body::new(0); 250];
    let [on_gpu, on_cpu] = [&gpu, &Engine::cpu()].map(|engine| {
        let arena = arena(engine, &scene);
        let pairs = arena.candidates(&bodies).unwrap().wait().unwrap();
        let found = find(&arena, &bodies, Pairs::BroadPhase);
        assert_eq!(found.stats.candidate_count, 31_125);
        assert_eq!(found.rows.len(), 31_125);
        let every = find(&arena, &bodies, Pairs::Exhaustive);
        assert_eq!(every.rows, found.rows);
        let given = find(&arena, &bodies, Pairs::Given(&pairs));
        assert_eq!(given.rows, found.rows);
        pairs
    });
    same_pairs(&on_gpu, &on_cpu).unwrap();
    let last: Vec<_> = on_gpu[..on_gpu.len() - 1].to_vec();
    assert!(same_pairs(&last, &on_cpu).is_err());
}

#[test]
fn a_memory_limit_is_obeyed_by_smaller_windows() {
    let limit = 6 << 20;
    let limits = EngineOptions { memory_limit: Some(limit), ..Default::default() };
    let Some(gpu) = common::gpu_with(limits) else { return };
    let scene = Scene { hulls: vec![scenes::stacked_cubes(1).hulls[0].clone()], ..Scene::default() };
    let bodies = vec![Body::new(0); 700];
    let arena = arena(&gpu, &scene);
    for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
        let found = find(&arena, &bodies, pairs);
        assert_eq!(found.rows.len(), 244_650);
        assert!(found.rows.is_sorted_by_key(|row| (row.a, row.b)));
        assert!(gpu.counters().buffer_bytes <= limit, "{}", gpu.counters().buffer_bytes);
    }
    // A limit that the bodies alone exceed is an error.
    let crowd = vec![Body::new(0); 100_000];
    let refused = arena.intersections(&crowd, Pairs::BroadPhase).map(drop);
    assert!(
        matches!(refused, Err(Error::MemoryLimit { limit_bytes, .. }) if limit_bytes == limit),
        "{refused:?}"
    );
}

#[test]
fn sizes_and_distances_at_the_ends_of_f32() {
    let Some(gpu) = common::gpu() else { return };
    let scene = Scene { hulls: vec![scenes::stacked_cubes(1).hulls[0].clone()], ..Scene::default() };
    let bodies = [
        Body::new(0).scaled(1e-17),
        Body::new(0).scaled(1e-17).at([1e18, -1e18, 1e18]),
        Body::new(0).scaled(1e17).at([-1e17, 0.0, 0.0]),
        Body::new(0).scaled(1e17).at([-1e17, 1e12, 0.0]),
        Body::new(0).scaled(1e-17).at([0.9e-17, 0.0, 0.0]),
    ];
    let pairs: Vec<[u32; 2]> = (0..5).flat_map(|a| (a + 1..5).map(move |b| [a, b])).collect();
    let [on_gpu, on_cpu] = [&gpu, &Engine::cpu()].map(|engine| {
        let arena = arena(engine, &scene);
        let rows = find(&arena, &bodies, Pairs::Given(&pairs)).rows;
        assert_eq!(
            find(&arena, &bodies, Pairs::BroadPhase).rows.len(),
            rows.iter().filter(|r| r.status.is_hit()).count()
        );
        rows.iter().map(|row| row.status).collect::<Vec<_>>()
    });
    assert_eq!(on_gpu, on_cpu);
    assert_eq!(on_gpu.iter().filter(|status| status.is_hit()).count(), 2);
}

#[test]
fn gpu_verdicts_are_the_truth_and_the_cpus() {
    let Some(gpu) = common::gpu() else { return };
    for (name, scene) in all_scenes() {
        let placed = bodies(&scene.bodies);
        let arenas = [arena(&gpu, &scene), arena(&Engine::cpu(), &scene)];
        let [on_gpu, on_cpu] =
            arenas.each_ref().map(|arena| find(arena, &placed, Pairs::Given(&scene.pairs)));
        let truths = truths(&shapes(arenas[0].hulls()), &scene.bodies, &scene.pairs);
        let order: Vec<[u32; 2]> = on_gpu.rows.iter().map(|row| [row.a, row.b]).collect();
        assert_eq!(order, scene.pairs, "{name}");
        let passed = |report: Report| report.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
        passed(against_truth(&scene.pairs, &verdicts(&on_gpu), &truths));
        passed(between(&scene.pairs, &verdicts(&on_gpu), &verdicts(&on_cpu), |k| truths[k]));
        certified(name, &shapes(arenas[0].hulls()), &scene.bodies, &on_gpu);
        let share = on_gpu.stats.settled_count as f64 / scene.pairs.len() as f64;
        assert!(share < 0.2, "{name}: {} of {} settled", on_gpu.stats.settled_count, scene.pairs.len());
        // Control: one verdict flipped must be found.
        let mut flipped = verdicts(&on_gpu);
        let Some(clear) = truths.iter().position(|truth| truth.gap.abs() > 2.0 * truth.tau) else { continue };
        flipped[clear] = match flipped[clear] {
            Verdict::Separated => Verdict::Penetrating,
            _ => Verdict::Separated,
        };
        assert!(against_truth(&scene.pairs, &flipped, &truths).passed().is_err(), "{name}");
        assert!(
            between(&scene.pairs, &flipped, &verdicts(&on_cpu), |k| truths[k]).passed().is_err(),
            "{name}"
        );
    }
}

#[test]
fn broad_phase_and_exhaustive_search_find_the_same_hits_on_both_engines() {
    let Some(gpu) = common::gpu() else { return };
    let crowd = scenes::tumbling(&scenes::convex_sets(24, 1.0, 21), 1501, 20.0, 22).scene;
    for (name, scene) in [("crowd", crowd), ("cubes", scenes::stacked_cubes(8))] {
        let placed = bodies(&scene.bodies);
        let arenas = [arena(&gpu, &scene), arena(&Engine::cpu(), &scene)];
        let shapes = shapes(arenas[0].hulls());
        let truth_of = |a: u32, b: u32| -> Truth {
            let [a, b] = [a, b].map(|k| &scene.bodies[k as usize]);
            truth(&shapes[a.hull as usize], &a.pose, &shapes[b.hull as usize], &b.pose)
        };
        let [near, near_cpu] = arenas.each_ref().map(|arena| find(arena, &placed, Pairs::BroadPhase));
        let every = find(&arenas[0], &placed, Pairs::Exhaustive);
        assert_eq!(every.stats.candidate_count, (placed.len() * (placed.len() - 1) / 2) as u64);
        assert!(near.rows.is_sorted_by_key(|row| (row.a, row.b)), "{name}");
        assert!(every.rows.is_sorted_by_key(|row| (row.a, row.b)), "{name}");
        assert_eq!(near.stats.candidate_count, near_cpu.stats.candidate_count, "{name}");
        assert!(near.rows.len() > 100, "{name}");
        for other in [&every, &near_cpu] {
            between_hits(&hits(&near), &hits(other), truth_of)
                .passed()
                .unwrap_or_else(|text| panic!("{name}: {text}"));
        }
    }
}

#[test]
fn a_steady_state_allocates_nothing_and_builds_no_pipeline() {
    let Some(gpu) = common::own_gpu() else { return };
    let crowd = scenes::tumbling(&scenes::convex_sets(24, 1.0, 31), 1000, 20.0, 32);
    let arena = arena(&gpu, &crowd.scene);
    let frames: Vec<Vec<Body>> = (0..6).map(|i| bodies(&crowd.at(f64::from(i) * 0.01))).collect();
    for frame in &frames {
        find(&arena, frame, Pairs::BroadPhase);
        arena.candidates(frame).unwrap().wait().unwrap();
    }
    let two = |first: &[Body], second: &[Body]| {
        let both = [first, second].map(|bodies| arena.intersections(bodies, Pairs::BroadPhase).unwrap());
        both.map(|pending| pending.wait().unwrap())
    };
    for pair in frames.windows(2) {
        two(&pair[0], &pair[1]);
    }
    let high = gpu.counters();
    for pair in frames.windows(2) {
        let [first, second] = two(&pair[0], &pair[1]);
        assert_eq!(first.stats.rerun_count + second.stats.rerun_count, 0);
        arena.candidates(&pair[0]).unwrap().wait().unwrap();
    }
    let low = gpu.counters();
    assert!(low.submissions > high.submissions);
    assert_eq!(
        (low.buffers_created, low.staging_created, low.pipelines_built, low.buffer_bytes),
        (high.buffers_created, high.staging_created, high.pipelines_built, high.buffer_bytes)
    );
}

#[test]
fn frames_in_flight_and_dropped_ones_do_no_harm() {
    let Some(gpu) = common::gpu() else { return };
    let crowd = scenes::tumbling(&scenes::convex_sets(24, 1.0, 41), 300, 20.0, 42);
    let arena = arena(&gpu, &crowd.scene);
    let frames: Vec<Vec<Body>> = (0..8).map(|i| bodies(&crowd.at(f64::from(i)))).collect();
    let alone: Vec<_> = frames.iter().map(|frame| find(&arena, frame, Pairs::BroadPhase).rows).collect();
    let pending: Vec<_> =
        frames.iter().map(|frame| arena.intersections(frame, Pairs::BroadPhase).unwrap()).collect();
    for (k, (pending, alone)) in pending.into_iter().zip(alone).enumerate().rev() {
        if k % 3 != 1 {
            assert_eq!(pending.wait().unwrap().rows, alone, "frame {k}");
        }
    }
}
