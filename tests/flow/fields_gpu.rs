//! Fields of the GPU engine, each cell compared with the oracle: a plain queue or heap. The tests pass without a check
//! if there is no adapter.

use hullfield::flow::{Cell, Connectivity, Corners, Edit, FieldOptions, Flow, Grid, GridOptions};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::common::{gpu, gpu_of_bindings, own_gpu};
use crate::scenes::{self, CONNECTIVITIES_2D, CONNECTIVITIES_3D, Scene, compare, expected, judge};

fn check_all(scenes: &[Scene]) {
    let Some(engine) = gpu() else { return };
    scenes.iter().for_each(|scene| scene.check(&engine));
}

/// One of every `count` scenes in a row, twice as many with `--all`, others in each run: software drivers take a tenth of a second for one.
fn sampled(scenes: Vec<Scene>, count: usize) -> Vec<Scene> {
    scenes::one_of(extent(count, count.div_ceil(2)), &scenes)
}

#[test]
fn maps_are_solved() {
    check_all(&sampled(scenes::map_scenes(), 28));
}

#[test]
fn small_flat_grids_are_solved() {
    for connectivity in CONNECTIVITIES_2D {
        // One for every second size.
        check_all(&sampled(scenes::small_scenes(connectivity), 64));
    }
}

#[test]
fn small_volumes_are_solved() {
    for connectivity in CONNECTIVITIES_3D {
        // One for each size.
        check_all(&sampled(scenes::small_scenes(connectivity), 32));
    }
}

#[test]
fn unusual_grids_are_solved() {
    check_all(&sampled(scenes::unusual_scenes(), 6));
}

#[test]
fn max_distance_and_until_limit_fields() {
    check_all(&scenes::one_of_each(scenes::LIMITS, &scenes::limited_scenes()));
}

#[test]
fn distances_that_overflow_are_reported() {
    check_all(&scenes::overflowing_scenes());
}

/// Small grids with targets are solved by the lists of tiles, as large grids are. With a target on an obstacle the
/// field is whole.
#[test]
fn small_grids_with_targets_are_solved() {
    let Some(engine) = gpu() else { return };
    let mut count = 0;
    for mut scene in sampled(scenes::small_scenes(Connectivity::Four), 5) {
        let Some(wall) = scene.blocked.iter().position(|&is_blocked| is_blocked) else { continue };
        scene.options.until = vec![scene.cell(wall)];
        scene.check(&engine);
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// Grids of several strips: each has buffers of its own, and the wave crosses between them in both directions.
#[test]
fn grids_of_several_strips_are_solved() {
    let Some(engine) = gpu_of_bindings(64 << 10) else { return };
    let random = &mut Random::new(3);
    let flat = |size: [usize; 2], connectivity, blocked| {
        Scene::new(&format!("{size:?}, {connectivity:?}"), [size[0], size[1], 1], connectivity, blocked)
    };
    let mut scenes = Vec::new();
    for connectivity in CONNECTIVITIES_2D {
        let size = [130, 140];
        let blocked = scenes::caves([size[0], size[1], 1], random);
        let scene = flat(size, connectivity, blocked).random_goals(2, random);
        scenes.push(scene.clone().random_costs(9, random));
        let until = vec![scene.cell(0), scene.goals[0]];
        scenes.push(Scene { options: FieldOptions { until, ..FieldOptions::default() }, ..scene.clone() });
        let max_distance = Some(100 * connectivity.unit());
        scenes.push(Scene {
            options: FieldOptions { max_distance, ..FieldOptions::default() },
            ..scene.clone()
        });
        scenes.push(scene);
    }
    let serpentine = scenes::serpentine(130, 140);
    scenes.push(flat([130, 140], Connectivity::Four, serpentine).goals(&[[0, 138, 0]]));
    for connectivity in CONNECTIVITIES_3D {
        let size = [20, 31, 28];
        let blocked = scenes::caves(size, random);
        let scene = Scene::new(&format!("{connectivity:?}"), size, connectivity, blocked);
        scenes.push(scene.clone().random_goals(2, random));
        scenes.push(scene.random_goals(2, random).random_costs(70_000, random));
    }
    for scene in &sampled(scenes, 7) {
        scene.check(&engine);
    }
}

/// Grids too large for the device are solved in the host's memory: a row (or layer) of tiles, or the obstacles, do not
/// fit into a binding.
#[test]
fn grids_larger_than_a_binding_are_solved_on_the_host() {
    let Some(engine) = gpu_of_bindings(16 << 10) else { return };
    let random = &mut Random::new(31);
    for (connectivity, size) in [
        (Connectivity::Four, [300, 70, 1]),
        (Connectivity::Eight(Corners::BothFree), [400, 20, 1]),
        (Connectivity::Six, [30, 31, 9]),
        (Connectivity::Four, [1, 20_000, 1]),
    ] {
        let scene = Scene::new(&format!("{size:?}"), size, connectivity, scenes::noise(size, 0.2, random));
        let scene = scene.random_goals(3, random);
        let mut flow = Flow::new(&engine, scene.grid()).unwrap();
        let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        assert!(field.host().is_some(), "{size:?}");
        judge(&scene, &expected(&scene), Ok(field.clone())).unwrap();
        let mut agents = flow.agents(&scene.goals).unwrap();
        agents.step(&field, 3).unwrap();
        assert_eq!(agents.cells().unwrap().wait().unwrap(), scene.goals);
        flow.edit(&[Edit::Cost(scene.goals[0], 3)]).unwrap();
        let scene = Scene { costs: flow.grid().costs().to_vec(), ..scene };
        flow.update(&mut field).unwrap().wait().unwrap();
        judge(&scene, &expected(&scene), Ok(field)).unwrap();
    }
    // Control: a grid that fits is solved on the device.
    let scene = Scene::new("", [40, 60, 1], Connectivity::Four, vec![false; 2400]).goals(&[[0, 0, 0]]);
    assert!(scene.solve(&engine).unwrap().host().is_none());
}

/// Fields solved together equal those solved one by one, also if a binding holds only a few of them.
#[test]
fn batches_are_solved() {
    let (Some(engine), Some(few), Some(more)) =
        (gpu(), gpu_of_bindings(100 << 10), gpu_of_bindings(300 << 10))
    else {
        return;
    };
    let random = &mut Random::new(9);
    for (connectivity, size) in [
        (Connectivity::Four, [70, 65, 1]),
        (Connectivity::Eight(Corners::BothFree), [33, 50, 1]),
        (Connectivity::Six, [9, 17, 10]),
        (Connectivity::TwentySix(Corners::OneFree), [8, 9, 5]),
    ] {
        let scene = Scene::new("batch", size, connectivity, scenes::caves(size, random));
        let scenes: Vec<Scene> = (0..4).map(|at| scene.clone().random_goals(1 + at % 3, random)).collect();
        let goals: Vec<&[Cell]> = scenes.iter().map(|scene| &scene.goals[..]).collect();
        let solve = |engine: &Engine, count: usize, options: FieldOptions| {
            let flow = Flow::new(engine, scene.grid()).unwrap();
            let fields = flow.fields(&goals[..count], &options).unwrap().wait().unwrap();
            assert_eq!(fields.rows.len(), count);
            for (scene, field) in scenes.iter().zip(fields) {
                let scene = Scene { options: options.clone(), ..scene.clone() };
                judge(&scene, &expected(&scene), Ok(field)).unwrap();
            }
        };
        solve(&engine, scenes.len(), FieldOptions::default());
        solve(&engine, 0, FieldOptions::default());
        solve(&engine, 1, FieldOptions::default());
        solve(&few, scenes.len(), FieldOptions::default());
        let until = vec![scenes[0].goals[0], scenes[1].goals[0]];
        solve(
            &engine,
            extent(2, 3),
            FieldOptions { until, max_distance: Some(60 * connectivity.unit()), ..FieldOptions::default() },
        );
    }
    // Each field has targets of its own.
    for (connectivity, size) in [
        (Connectivity::Four, [70, 65, 1]),
        (Connectivity::Eight(Corners::BothFree), [90, 70, 1]),
        (Connectivity::TwentySix(Corners::OneFree), [18, 14, 12]),
    ] {
        let scene = Scene::new("until", size, connectivity, scenes::noise(size, 0.2, random));
        for engine in [&engine, &more] {
            let flow = Flow::new(engine, scene.grid()).unwrap();
            scenes::judge_batch_until(&flow, &scene, extent(3, 4), random);
        }
    }
    // A field without a goal is an error, and so is a distance that overflows.
    let flow = Flow::new(&engine, Grid::new([5, 1, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
    let goals: [&[Cell]; 2] = [&[[0, 0].into()], &[]];
    assert!(matches!(
        flow.fields(&goals, &FieldOptions::default()),
        Err(Error::NoGoals { at: Location::Query(1), .. })
    ));
    let options = GridOptions { costs: vec![1, u32::MAX, 1], ..Connectivity::Four.into() };
    let costly = Grid::new([3, 1, 1], &[], options).unwrap();
    let flow = Flow::new(&engine, costly).unwrap();
    let goals: [&[Cell]; 2] = [&[[1, 0].into()], &[[0, 0].into()]];
    let failed = flow.fields(&goals, &FieldOptions::default()).unwrap().wait();
    assert!(
        matches!(failed, Err(Error::DistanceOverflow { at: Location::Query(0), cell }) if cell == Cell::from([0, 0])),
        "{failed:?}"
    );
}

/// With unit costs there is one round per 32 levels, and the host reads back once per 256 rounds.
#[test]
fn rounds_and_readbacks_are_few() {
    let Some(engine) = own_gpu() else { return };
    let random = &mut Random::new(4);
    let scenes = [
        Scene::new("open", [500, 300, 1], Connectivity::Four, vec![false; 150_000]),
        Scene::new("maze", [255, 257, 1], Connectivity::Four, scenes::maze(255, 257, random)),
        Scene::new("serpentine", [200, 200, 1], Connectivity::Four, scenes::serpentine(200, 200)),
    ];
    for scene in sampled(scenes.into(), 2) {
        let scene = scene.goals(&[[0, 0, 0]]);
        let flow = Flow::new(&engine, scene.grid()).unwrap();
        for _ in 0..extent(1, 2) {
            let before = engine.counters().submissions;
            let field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
            let frames = engine.counters().submissions - before;
            let stats = *field.stats();
            println!("{}: {stats:?}, {frames} frames", scene.name);
            assert!(stats.levels > 2 && stats.rounds <= stats.levels / 32 + 8, "{stats:?}");
            // The first frame may have fewer rounds.
            assert!(frames <= u64::from(stats.rounds) / 256 + 2, "{frames} frames for {stats:?}");
            judge(&scene, &expected(&scene), Ok(field)).unwrap();
        }
    }
}

/// A path of 131,000 steps takes 4,100 rounds; the host reads back once per 256 of them.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn the_longest_path_is_solved() {
    let Some(engine) = own_gpu() else { return };
    let scene = Scene::new("serpentine", [512, 512, 1], Connectivity::Four, scenes::serpentine(512, 512));
    let scene = scene.goals(&[[0, 0, 0]]);
    let flow = Flow::new(&engine, scene.grid()).unwrap();
    let before = engine.counters().submissions;
    let field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    let frames = engine.counters().submissions - before;
    let stats = *field.stats();
    assert!(stats.levels > 131_000 && stats.rounds <= stats.levels / 32 + 8, "{stats:?}");
    assert!(frames <= u64::from(stats.rounds) / 256 + 2, "{frames} frames for {stats:?}");
    judge(&scene, &expected(&scene), Ok(field)).unwrap();
}

/// A steady stream of fields allocates nothing.
#[test]
fn a_steady_state_allocates_nothing() {
    let Some(engine) = own_gpu() else { return };
    let scene = Scene::new("", [120, 120, 1], Connectivity::Four, scenes::serpentine(120, 120));
    let flow = Flow::new(&engine, scene.grid()).unwrap();
    let solve = |goal: [i32; 2]| {
        let field = flow.solve(&[goal.into()], &FieldOptions::default()).unwrap().wait().unwrap();
        field.distances().unwrap().wait().unwrap()
    };
    solve([0, 0]);
    solve([0, 118]);
    let before = engine.counters();
    for goal in [[5, 0], [0, 118], [119, 60]] {
        solve(goal);
    }
    let after = engine.counters();
    assert_eq!(
        (after.buffers_created, after.pipelines_built),
        (before.buffers_created, before.pipelines_built)
    );
}

/// More active tiles at once than one dimension of a dispatch has workgroups.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn more_tiles_than_one_dimension_of_workgroups_are_solved() {
    let Some(engine) = gpu() else { return };
    // 33,000 tiles of 64 x 64 in one row, so two rows of workgroups; a goal every few cells, so that the wave ends soon.
    let (width, height, apart) = (64 * 33_000, 2, 4);
    let grid = Grid::new([width as u32, height as u32, 1], &[], Connectivity::Four.into()).unwrap();
    let goals: Vec<Cell> = (0..width as i32).step_by(apart).map(|x| Cell::from([x, 1])).collect();
    let field =
        Flow::new(&engine, grid).unwrap().solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    let distances = field.distances().unwrap().wait().unwrap();
    let next = field.next_codes().unwrap().wait().unwrap();
    for (at, &distance) in distances.iter().enumerate() {
        let (x, above) = (at % width, u32::from(at < width));
        // There is no goal right of the last one.
        let to_right = if x > width - apart { u32::MAX } else { (apart - x % apart) as u32 };
        let along = to_right.min((x % apart) as u32);
        assert_eq!(distance, along + above, "cell {at}");
        // Codes in order: east, then south, then west.
        let code = match (along, above) {
            (0, 0) => u8::MAX,
            (0, _) => 2,
            _ if to_right == along => 1,
            (_, 1) => 2,
            _ => 3,
        };
        assert_eq!(next[at], code, "cell {at}");
    }
}

/// Fields after edits equal those of a fresh grid. Fields solved or started before keep the old grid.
#[test]
fn edits_reach_the_device() {
    let random = &mut Random::new(21);
    for (connectivity, size, limit) in [
        (Connectivity::Four, [100, 90, 1], None),
        (Connectivity::Eight(Corners::BothFree), [100, 200, 1], Some(64 << 10)),
        (Connectivity::TwentySix(Corners::BothFree), [12, 9, 40], Some(16 << 10)),
    ] {
        let Some(engine) = limit.map_or_else(gpu, gpu_of_bindings) else { return };
        let mut scene =
            Scene::new("edits", size, connectivity, scenes::noise(size, 0.3, random)).random_goals(2, random);
        let goals: Vec<usize> = scene.goals.iter().filter_map(|&goal| scene.index(goal)).collect();
        let mut flow = Flow::new(&engine, scene.grid()).unwrap();
        for (round, &count) in [3, 2000].iter().enumerate() {
            let before = scene.clone();
            let started = flow.solve(&scene.goals, &scene.options).unwrap();
            let mut edits = Vec::new();
            for _ in 0..count {
                let index = random.below(scene.blocked.len());
                if goals.contains(&index) {
                    continue;
                }
                let cell = scene.cell(index);
                // The first costs come with the second round.
                match random.below(if round == 0 { 2 } else { 3 }) {
                    0 => {
                        scene.blocked[index] = true;
                        edits.push(Edit::Block(cell));
                    }
                    1 => {
                        scene.blocked[index] = false;
                        edits.push(Edit::Free(cell));
                    }
                    _ => {
                        if scene.costs.is_empty() {
                            scene.costs = vec![1; scene.blocked.len()];
                        }
                        scene.costs[index] = random.below(50) as u32 + 1;
                        edits.push(Edit::Cost(cell, scene.costs[index]));
                    }
                }
            }
            flow.edit(&edits).unwrap();
            let field = flow.solve(&scene.goals, &scene.options).unwrap().wait();
            judge(&scene, &expected(&scene), field)
                .unwrap_or_else(|message| panic!("edit {round}: {message}"));
            if round % 2 == 0 {
                let mut updated = started.wait().unwrap();
                flow.update(&mut updated).unwrap().wait().unwrap();
                judge(&scene, &expected(&scene), Ok(updated))
                    .unwrap_or_else(|message| panic!("update {round}: {message}"));
                continue;
            }
            judge(&before, &expected(&before), started.wait())
                .unwrap_or_else(|message| panic!("before edit {round}: {message}"));
        }
    }
}

/// Control: the comparison that these tests rest on finds one wrong cell of a field from the device.
#[test]
fn the_comparison_finds_a_wrong_cell() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(5);
    let blocked = scenes::caves([90, 70, 1], random);
    let scene = Scene::new("", [90, 70, 1], Connectivity::Four, blocked).random_goals(1, random);
    let field = scene.solve(&engine).unwrap();
    let distances = field.distances().unwrap().wait().unwrap();
    let next = field.next_codes().unwrap().wait().unwrap();
    let right = expected(&scene).unwrap();
    compare(&scene, &right, &distances, &next).unwrap();
    for index in (0..distances.len()).step_by(97) {
        let mut wrong = distances.clone();
        wrong[index] ^= 1;
        assert!(compare(&scene, &right, &wrong, &next).is_err());
        let mut wrong = next.clone();
        wrong[index] ^= 1;
        assert!(compare(&scene, &right, &distances, &wrong).is_err());
    }
    assert!(engine.backend() == hullfield::Backend::Gpu && field.host().is_none());
    // Both engines report the same goals, and reach as many cells.
    let on_cpu = scene.solve(&Engine::cpu()).unwrap();
    assert_eq!(on_cpu.stats().reached_count, field.stats().reached_count);
    assert_eq!(on_cpu.stats().levels, field.stats().levels);
    assert_eq!(on_cpu.goals(), field.goals());
}
