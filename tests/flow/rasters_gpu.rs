//! Fields over rasters whose tiles the GPU engine solves, each cell compared with the oracle. The tests pass without a check if there is no adapter.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use hullfield::flow::{
    Connectivity, CostRule, MemoryRaster, MemoryTiles, RasterOptions, RasterProgress, RasterReport,
    RasterSolver, RasterWindow, StepLengths, TileStore, solve_raster, solve_raster_on,
};
use hullfield::{Engine, EngineOptions, Error, Result};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick};

use crate::common::{gpu_with, own_gpu};
use crate::rasters::{
    barrier_scenes, broken_off_scenes, far_apart_scenes, go_on, judge, long_scenes, options, raster, wanted,
    whole,
};
use crate::scenes::{self, CONNECTIVITIES_2D, Scene};

/// Submissions for each visit of a tile that the device solves: the grid goes there, rounds run, distances come back.
const SUBMISSIONS: u64 = 3;

/// The largest cost whose longest step is not too long for the device: 2²⁴ over 577.
const MAX_COST: u32 = 29_076;

/// One in `every`, twice as many with `--all`.
fn sampled<T>(items: Vec<T>, every: usize) -> Vec<T> {
    items.into_iter().step_by(extent(every, every.div_ceil(2))).collect()
}

/// Tiles, and how often the distances of one were lowered. A visit that nothing leads to lowers none, and needs no device.
#[derive(Default)]
struct CountedTiles(MemoryTiles, AtomicU64);

impl TileStore for CountedTiles {
    fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
        self.0.read(tile, window, distances)
    }

    fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
        let mut before = vec![u64::MAX; distances.len()];
        self.0.read(tile, window, &mut before)?;
        self.1.fetch_add(u64::from(before != distances), Ordering::Relaxed);
        self.0.write(tile, window, distances)
    }
}

/// A solved scene.
#[derive(Debug)]
struct Solved {
    report: RasterReport,
    /// How often the distances of a tile were lowered.
    lowered_count: u64,
    submissions: u64,
}

impl Solved {
    /// Whether the device has solved all tiles.
    fn is_on_device(&self) -> bool {
        self.lowered_count > 0 && self.submissions >= SUBMISSIONS * self.lowered_count
    }
}

/// Solves a scene in tiles, and compares it with the oracle.
fn solve_with(engine: &Engine, scene: &Scene, options: &RasterOptions) -> Solved {
    let (before, tiles) = (engine.counters(), CountedTiles::default());
    let field = solve_raster_on(engine, &raster(scene), &scene.goals, &tiles, options, go_on)
        .unwrap_or_else(|error| panic!("{}: {error}", scene.name));
    judge(scene, &wanted(scene), &field).unwrap_or_else(|message| panic!("{options:?}: {message}"));
    let after = engine.counters();
    let submissions = after.submissions - before.submissions;
    assert_eq!(submissions > 0, after.dispatches > before.dispatches);
    let lowered_count = tiles.1.load(Ordering::Relaxed);
    Solved { report: field.report().clone(), lowered_count, submissions }
}

/// The same with tiles of this edge, all of which the device must solve.
fn check(engine: &Engine, scene: &Scene, edge: u32) {
    let solved = solve_with(engine, scene, &options(scene, edge));
    assert!(solved.is_on_device(), "{}: {solved:?}", scene.name);
}

#[test]
fn small_rasters_equal_the_oracle() {
    let Some(engine) = own_gpu() else { return };
    for connectivity in CONNECTIVITIES_2D {
        // One for every second size.
        let scenes = scenes::one_of(extent(64, 32), &scenes::small_scenes(connectivity));
        for (number, scene) in scenes.iter().enumerate() {
            let edge = [17, 33, 64, 100][number % 4];
            if scene.costs.iter().all(|&cost| cost <= MAX_COST) {
                check(&engine, scene, edge);
            } else {
                solve_with(&engine, scene, &options(scene, edge));
            }
        }
    }
}

/// Mazes, terrain, walls along the borders of tiles, passages of one cell, and rasters a cell wide.
#[test]
fn mazes_and_barriers_equal_the_oracle() {
    let Some(engine) = own_gpu() else { return };
    // The device relaxes tiles of 32 cells. Smaller ones of the raster have many more visits, each of a few kernels.
    let wide = |scenes: Vec<(Scene, u32)>| scenes.into_iter().filter(|(_, edge)| *edge >= 32).collect();
    let scenes = sampled(wide(broken_off_scenes()), extent(2, 8))
        .into_iter()
        .chain(sampled(wide(barrier_scenes()), 3));
    scenes.for_each(|(scene, edge)| check(&engine, &scene, edge));
}

/// Windows with edges one cell more and less than the tiles of 32 cells in which the device relaxes them, and thinner ones.
#[test]
fn windows_of_any_size_equal_the_oracle() {
    let Some(engine) = own_gpu() else { return };
    let random = &mut Random::new(12);
    let shapes = [
        ([1, 90], 40),
        ([90, 1], 40),
        ([2, 2], 1),
        ([33, 31], 40),
        ([65, 63], 64),
        ([70, 129], 63),
        ([95, 66], 31),
    ];
    for (number, ([width, height], edge)) in shapes.into_iter().enumerate() {
        for connectivity in CONNECTIVITIES_2D.into_iter().skip(number % 2).step_by(extent(2, 1)) {
            let size = [width, height, 1];
            let blocked = scenes::noise(size, 0.05, random);
            let scene = Scene::new(&format!("{size:?}"), size, connectivity, blocked).random_goals(2, random);
            check(&engine, &scene, edge);
            check(&engine, &scene.random_costs(3000, random), edge);
        }
    }
}

#[test]
fn maps_equal_the_oracle() {
    let Some(engine) = own_gpu() else { return };
    let flat = scenes::map_scenes().into_iter().filter(|scene| scene.connectivity.dimension() == 2);
    scenes::one_of(extent(28, 14), &flat.collect::<Vec<_>>())
        .iter()
        .for_each(|scene| check(&engine, scene, 150));
}

#[test]
fn limits_hold() {
    let Some(engine) = own_gpu() else { return };
    // Rasters have no targets.
    let is_flat = |scene: &Scene| scene.connectivity.dimension() == 2 && scene.options.until.is_empty();
    let flat: Vec<Scene> = scenes::limited_scenes().into_iter().filter(is_flat).collect();
    for scene in scenes::one_of_each(scenes::MAX_DISTANCES, &flat) {
        assert!(scene.options.max_distance.is_some(), "{}", scene.name);
        check(&engine, &scene, 50);
    }
}

/// Tiles whose distances begin beyond 2³² are the device's. What needs more than 32 bits within a tile is the CPU's, whether that is known before or only after.
#[test]
fn distances_have_64_bits() {
    let Some(engine) = own_gpu() else { return };
    let (mut on_device, mut on_host) = (0, 0);
    for scene in long_scenes() {
        let far = wanted(&scene).iter().filter(|&&at| at != u64::MAX && at > u64::from(u32::MAX)).count();
        for edge in [33, 200] {
            let solved = solve_with(&engine, &scene, &options(&scene, edge));
            println!("{:?}, edge {edge}: {far} far, {solved:?}", scene.connectivity);
            on_device += usize::from(far > 0 && solved.is_on_device());
            on_host += usize::from(solved.submissions == 0);
        }
    }
    assert!(on_device >= 3 && on_host >= 2, "{on_device} on the device, {on_host} on the host");
    for scene in scenes::overflowing_scenes() {
        if scene.connectivity.dimension() == 2 {
            [5, 64].into_iter().for_each(|edge| _ = solve_with(&engine, &scene, &options(&scene, edge)));
        }
    }
    // A tile of two parts that are far apart.
    for scene in far_apart_scenes() {
        [128, 40].into_iter().for_each(|edge| _ = solve_with(&engine, &scene, &options(&scene, edge)));
    }
}

/// A window larger than a binding is cut into strips; one of which no row of tiles fits is solved on the CPU.
#[test]
fn windows_larger_than_a_binding_are_solved() {
    let Some(engine) = own_gpu() else { return };
    let random = &mut Random::new(8);
    let size = [140, 160, 1];
    let scene = |connectivity| {
        let scene = Scene::new("strips", size, connectivity, scenes::caves(size, random));
        scene.random_goals(1, random).random_costs(50, random)
    };
    let scenes: Vec<Scene> = CONNECTIVITIES_2D.into_iter().map(scene).collect();
    let engine = engine.with_binding_limit(64 << 10);
    pick(8, &scenes, 2).iter().for_each(|scene| check(&engine, scene, 250));
    let engine = engine.with_binding_limit(16 << 10);
    assert_eq!(solve_with(&engine, &scenes[0], &options(&scenes[0], 250)).submissions, 0);
}

/// The engine's limit decides the size of the tiles; an edge that is too long for it is an error.
#[test]
fn device_memory_is_limited() {
    let size = [400, 350, 1];
    let random = &mut Random::new(2);
    let scene = Scene::new("limited", size, Connectivity::default(), scenes::noise(size, 0.2, random));
    let scene = scene.random_goals(2, random).random_costs(60, random);
    let plain = RasterOptions { connectivity: scene.connectivity, ..RasterOptions::default() };
    let mut edges = Vec::new();
    // A raster that fits into none of the limits in one piece.
    let large = MemoryRaster::new([1000, 1000], vec![1; 1_000_000]).unwrap();
    for limit in [10 << 20, 14 << 20] {
        let Some(engine) = gpu_with(EngineOptions { memory_limit: Some(limit), ..Default::default() }) else {
            return;
        };
        let solved = solve_with(&engine, &scene, &plain);
        let held = engine.counters().buffer_bytes;
        println!("limit {limit}: {solved:?}, {held} bytes held");
        assert!(solved.is_on_device() && held <= limit, "{solved:?}");
        edges.push(solved.report.tile_edge);
        let tiles = MemoryTiles::default();
        let options = RasterOptions { tile_edge: Some(4096), ..plain };
        let error = solve_raster_on(&engine, &large, &[[0, 0].into()], &tiles, &options, go_on).unwrap_err();
        assert!(matches!(error, Error::MemoryLimit { limit_bytes, .. } if limit_bytes == limit), "{error}");
    }
    assert!(edges[0] < edges[1] && edges[1] < 400, "{edges:?}");
    let Some(engine) = gpu_with(EngineOptions { memory_limit: Some(1 << 20), ..Default::default() }) else {
        return;
    };
    let tiles = MemoryTiles::default();
    let error = solve_raster_on(&engine, &raster(&scene), &scene.goals, &tiles, &plain, go_on).unwrap_err();
    assert!(error.to_string().contains("a tile of a raster on the device"), "{error}");
}

/// Work that ends in the middle goes on, on either engine.
#[test]
fn work_that_was_broken_off_goes_on() {
    let Some(gpu) = own_gpu() else { return };
    let engines = [gpu, Engine::cpu()];
    let random = &mut Random::new(31);
    let (mut cancelled, mut resumed) = (0, 0);
    for (scene, edge) in sampled(broken_off_scenes(), extent(3, 9)) {
        let (wanted, raster, options) = (wanted(&scene), raster(&scene), options(&scene, edge));
        let tiles = MemoryTiles::default();
        for turn in 0.. {
            let most = 1 + random.below(9);
            let stop = |progress: RasterProgress| match progress.visit_count >= most && turn < 3 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let engine = &engines[turn % 2];
            match solve_raster_on(engine, &raster, &scene.goals, &tiles, &options, stop) {
                Ok(field) => {
                    judge(&scene, &wanted, &field).unwrap();
                    resumed += field.report().resumed_count;
                    break;
                }
                Err(Error::Cancelled) => cancelled += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(cancelled > 3 && resumed > 10, "cancelled {cancelled} times, {resumed} tiles resumed");
}

/// Tasks that workers with a GPU and workers without one take in turns leave the same tiles.
#[test]
fn tasks_are_equal_on_both_engines() {
    let Some(gpu) = own_gpu() else { return };
    let before = gpu.counters().submissions;
    let mut task_count = 0;
    for (number, scene) in sampled(scenes::small_scenes(Connectivity::default()), 25).iter().enumerate() {
        let (raster, options) = (raster(scene), options(scene, [17, 33, 50][number % 3]));
        let stores = [MemoryTiles::default(), MemoryTiles::default()];
        let mut solver = RasterSolver::new(&raster, &scene.goals, &stores[0], &options, 1).unwrap();
        while !solver.is_done() {
            for task in solver.tasks(1 + number % 3) {
                let answers = [
                    task.solve_on(&gpu, &raster, &stores[0]).unwrap(),
                    task.solve_on(&Engine::cpu(), &raster, &stores[1]).unwrap(),
                ];
                assert_eq!(answers[0], answers[1], "{}", scene.name);
                solver.note(&answers[0]).unwrap();
                task_count += 1;
            }
        }
        judge(scene, &wanted(scene), &solver.finish(&stores[0]).unwrap()).unwrap();
    }
    // But for scenes of large costs and visits that nothing leads to.
    let submissions = gpu.counters().submissions - before;
    assert!(submissions > SUBMISSIONS * task_count / 2, "{submissions} submissions for {task_count} tasks");
    let other = MemoryRaster::new([5, 5], vec![1; 25]).unwrap();
    let tiles = MemoryTiles::default();
    let mut solver = RasterSolver::new(&other, &[[0, 0].into()], &tiles, &Default::default(), 1).unwrap();
    let wrong = MemoryRaster::new([5, 6], vec![1; 30]).unwrap();
    let error = solver.tasks(1)[0].solve_on(&gpu, &wrong, &tiles).unwrap_err();
    assert!(error.to_string().contains("the task is for a raster of 5 x 5"), "{error}");
}

/// Other cost rules and lengths of steps are solved on the CPU, whatever the engine and its limit.
#[test]
fn other_moves_are_solved_on_the_cpu() {
    let Some(engine) = gpu_with(EngineOptions { memory_limit: Some(1000), ..Default::default() }) else {
        return;
    };
    let random = &mut Random::new(6);
    let costs: Vec<u32> = (0..100 * 90).map(|_| random.below(9) as u32).collect();
    let raster = MemoryRaster::new([100, 90], costs).unwrap();
    let goal = (0..100).find(|&x| raster_cost(&raster, x) > 0).unwrap();
    let edge = Some(64);
    for options in [
        RasterOptions { cost_rule: CostRule::Mean, tile_edge: edge, ..Default::default() },
        RasterOptions { cost_rule: CostRule::Exit, tile_edge: edge, ..Default::default() },
        RasterOptions {
            step_lengths: Some(StepLengths { x: 2, y: 3, diagonal: 4 }),
            tile_edge: edge,
            ..Default::default()
        },
    ] {
        let goals = [[goal as i32, 0].into()];
        let stores = [MemoryTiles::default(), MemoryTiles::default()];
        let on_engine = solve_raster_on(&engine, &raster, &goals, &stores[0], &options, go_on).unwrap();
        let on_cpu = solve_raster(&raster, &goals, &stores[1], &options, go_on).unwrap();
        let [found, expected] = [on_engine, on_cpu].map(|field| field.distances(whole([100, 90])).unwrap());
        assert!(found == expected && found.iter().any(|&at| at != u64::MAX && at > 0));
        assert_eq!(engine.counters().dispatches, 0);
    }
}

fn raster_cost(raster: &MemoryRaster, x: u32) -> u32 {
    use hullfield::flow::{Raster, RasterWindow};
    let mut cost = [0];
    raster.read(RasterWindow { x, y: 0, width: 1, height: 1 }, &mut cost).unwrap();
    cost[0]
}
