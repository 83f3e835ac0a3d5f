//! Fields over rasters, tile by tile, each cell compared with the oracle: whatever the tiles, and wherever the work was broken off.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hullfield::flow::{
    Cell, Connectivity, Flow, MemoryRaster, MemoryTiles, NEXT_NONE, Raster, RasterField, RasterOptions,
    RasterProgress, RasterReport, RasterSolver, RasterWindow, StepLengths, TileFiles, TileStore, TileTask,
    solve_raster,
};
use hullfield::{Engine, Error, Location, Result};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick, seed};

use crate::scenes::{self, CONNECTIVITIES_2D, Scene, exact_distances};

/// A folder of a test, removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("hullfield-{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn raster(scene: &Scene) -> MemoryRaster {
    let cost =
        |index: usize| if scene.blocked[index] { 0 } else { scene.costs.get(index).map_or(1, |&cost| cost) };
    let costs = (0..scene.blocked.len()).map(cost).collect();
    MemoryRaster::new([scene.size[0], scene.size[1]].map(|length| length as u32), costs).unwrap()
}

pub(crate) fn options(scene: &Scene, edge: u32) -> RasterOptions {
    RasterOptions {
        connectivity: scene.connectivity,
        tile_edge: Some(edge),
        max_distance: scene.options.max_distance.map(u64::from),
        ..RasterOptions::default()
    }
}

pub(crate) fn go_on(_: RasterProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn whole([width, height]: [u32; 2]) -> RasterWindow {
    RasterWindow { x: 0, y: 0, width, height }
}

/// The distances that a field must have: the oracle's, up to the limit.
pub(crate) fn wanted(scene: &Scene) -> Vec<u64> {
    let limit = scene.options.max_distance.map_or(u64::MAX - 1, u64::from);
    let mut distances = exact_distances(scene);
    distances.iter_mut().filter(|distance| **distance > limit).for_each(|distance| *distance = u64::MAX);
    distances
}

/// Compares a field with the distances that it must have, and its report.
pub(crate) fn judge(
    scene: &Scene,
    wanted: &[u64],
    field: &RasterField<'_, impl TileStore>,
) -> Result<(), String> {
    let size = [scene.size[0], scene.size[1]].map(|length| length as u32);
    let found = field.distances(whole(size)).map_err(|error| error.to_string())?;
    if let Some(index) = (0..wanted.len()).find(|&index| found[index] != wanted[index]) {
        let cell = scene.cell(index);
        return Err(format!("{}: {cell} has {}, expected {}", scene.name, found[index], wanted[index]));
    }
    let reached = || wanted.iter().filter(|&&distance| distance != u64::MAX);
    let RasterReport { reached_count, farthest, .. } = *field.report();
    assert_eq!(
        (reached_count, farthest),
        (reached().count() as u64, *reached().max().unwrap()),
        "{}",
        scene.name
    );
    Ok(())
}

fn check(scene: &Scene, edge: u32) -> usize {
    let tiles = MemoryTiles::default();
    let field = solve_raster(&raster(scene), &scene.goals, &tiles, &options(scene, edge), go_on)
        .unwrap_or_else(|error| panic!("{}: {error}", scene.name));
    judge(scene, &wanted(scene), &field).unwrap_or_else(|message| panic!("tiles of {edge}: {message}"));
    field.report().visit_count
}

#[test]
fn small_rasters_equal_the_oracle() {
    for connectivity in CONNECTIVITIES_2D {
        let scenes = scenes::one_of(4, &scenes::small_scenes(connectivity));
        for (number, scene) in scenes.iter().enumerate() {
            let edges = [[3, 17], [9, 64], [16, 100], [33, 7]][number % 4];
            edges[..extent(1, 2)].iter().for_each(|&edge| _ = check(scene, edge));
        }
    }
}

#[test]
fn unusual_rasters_equal_the_oracle() {
    for scene in scenes::unusual_scenes() {
        if scene.size[2] == 1 && scene.connectivity.dimension() == 2 {
            [15, 64].into_iter().for_each(|edge| _ = check(&scene, edge));
        }
    }
}

#[test]
fn limits_hold() {
    for mut scene in scenes::limited_scenes() {
        if scene.connectivity.dimension() == 2 {
            scene.options.until.clear();
            check(&scene, 40);
        }
    }
}

#[test]
fn maps_equal_the_oracle() {
    for scene in scenes::map_scenes().into_iter().filter(|scene| scene.connectivity.dimension() == 2) {
        check(&scene, 128);
    }
}

/// What does not fit in 32 bits is no error here.
#[test]
fn distances_have_64_bits() {
    let mut far_count = 0;
    for scene in scenes::overflowing_scenes() {
        if scene.connectivity.dimension() == 2 {
            far_count +=
                wanted(&scene).iter().filter(|&&at| at != u64::MAX && at > u64::from(u32::MAX)).count();
            [1, 5, 16, 64].into_iter().for_each(|edge| _ = check(&scene, edge));
        }
    }
    assert!(far_count > 1000, "{far_count}");
    // In one tile, distances that differ by more than 32 bits hold.
    for scene in long_scenes() {
        [33, 200].into_iter().for_each(|edge| _ = check(&scene, edge));
    }
}

/// Serpentines of steps up to and beyond the longest that are relaxed in 32 bits. Many distances within tiles of 33 cells fit into 32 bits, those of the whole
/// scene don't.
pub(crate) fn long_scenes() -> Vec<Scene> {
    let random = &mut Random::new(seed(5));
    let scene = |(connectivity, most_cost)| {
        let size = [150, 140, 1];
        let scene = Scene::new("far", size, connectivity, scenes::serpentine(150, 140));
        scene.goals(&[[0, 0, 0]]).random_costs(most_cost, random)
    };
    let others = [(CONNECTIVITIES_2D[0], 3_000_000), (CONNECTIVITIES_2D[3], 29_000)];
    CONNECTIVITIES_2D.into_iter().zip([40_000, 29_000, 41_000, 3_000_000]).chain(others).map(scene).collect()
}

/// Two parts of a tile, on both sides of a wall, that one neighbour reaches at once, with distances that differ by more than 32 bits hold. The right
/// tile of two that are 128 cells wide is open and has unit costs.
pub(crate) fn far_apart_scenes() -> Vec<Scene> {
    let [width, height] = [256, 100];
    let part = |wall_row: usize| {
        // A wall from side to side, with a gap in the first tile, and there what lies below it is far.
        let blocked = (0..width * height).map(|at| at / width == wall_row && at % width != 3).collect();
        let scene = Scene::new("far apart", [width, height, 1], Connectivity::Four, blocked);
        let mut costs = vec![1; width * height];
        costs[wall_row * width + 3] = u32::MAX;
        costs[(wall_row + 1) * width..][..9].fill(u32::MAX - 7);
        (wall_row + 1..height).for_each(|y| costs[y * width + 9] = u32::MAX - 9);
        Scene { costs, ..scene }
    };
    vec![part(1).goals(&[[0, 0, 0]]), part(50).goals(&[[5, 0, 0], [7, 49, 0]])]
}

#[test]
fn parts_of_a_tile_may_be_far_apart() {
    for scene in far_apart_scenes() {
        [128, 40].into_iter().for_each(|edge| _ = check(&scene, edge));
    }
}

/// Steps of any length are relaxed in 60 bits, which do not hold both parts either.
#[test]
fn parts_of_a_tile_may_be_far_apart_by_long_steps() {
    let step_lengths = Some(StepLengths { x: 1 << 24, y: 1 << 24, diagonal: 1 });
    for (mut scene, wall_row) in far_apart_scenes().into_iter().zip([1, 50]) {
        for row in scene.costs.chunks_mut(scene.size[0]).skip(wall_row + 1) {
            row[9..29].fill(u32::MAX - 9);
        }
        let long = |&distance: &u64| if distance == u64::MAX { distance } else { distance << 24 };
        let wanted: Vec<u64> = wanted(&scene).iter().map(long).collect();
        assert!(wanted.iter().any(|&distance| distance > 1 << 60 && distance != u64::MAX));
        for edge in [128, 40] {
            let (tiles, options) =
                (MemoryTiles::default(), RasterOptions { step_lengths, ..options(&scene, edge) });
            let field = solve_raster(&raster(&scene), &scene.goals, &tiles, &options, go_on).unwrap();
            judge(&scene, &wanted, &field).unwrap_or_else(|message| panic!("tiles of {edge}: {message}"));
        }
    }
}

#[test]
fn a_distance_beyond_64_bits_is_an_error() {
    // 577 times the largest cost is less than 2⁴², so no raster of a test gets there: a store claims a far tile.
    struct Far(MemoryTiles);
    impl TileStore for Far {
        fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
            if tile == [0, 0] && !self.0.read(tile, window, distances)? {
                distances.fill(u64::MAX - 3);
                return Ok(true);
            }
            self.0.read(tile, window, distances)
        }
        fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
            self.0.write(tile, window, distances)
        }
    }
    let raster = MemoryRaster::new([8, 1], vec![9; 8]).unwrap();
    let options =
        RasterOptions { tile_edge: Some(4), connectivity: Connectivity::Four, ..Default::default() };
    let blocked = [Cell::from([0, 0])];
    let error = solve_raster(&raster, &blocked, &Far(MemoryTiles::default()), &options, go_on).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Cell(_), .. }), "{error}");
    assert!(error.to_string().contains("does not fit in 64 bits"), "{error}");
}

/// A comparator that can't fail proves nothing.
#[test]
fn one_wrong_distance_is_found() {
    struct Wrong(MemoryTiles, AtomicUsize);
    impl TileStore for Wrong {
        fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
            let is_stored = self.0.read(tile, window, distances)?;
            if is_stored && self.1.load(Ordering::Relaxed) == 1 && tile == [1, 1] {
                distances[40] += 1;
            }
            Ok(is_stored)
        }
        fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
            self.0.write(tile, window, distances)
        }
    }
    let scene = Scene::new("open", [40, 40, 1], Connectivity::Four, vec![false; 1600]).goals(&[[0, 0, 0]]);
    let store = Wrong(MemoryTiles::default(), AtomicUsize::new(0));
    let field = solve_raster(&raster(&scene), &scene.goals, &store, &options(&scene, 16), go_on).unwrap();
    judge(&scene, &wanted(&scene), &field).unwrap();
    store.1.store(1, Ordering::Relaxed);
    assert!(judge(&scene, &wanted(&scene), &field).is_err());
}

/// Mazes, terrain, walls along the borders of tiles and passages of one cell.
pub(crate) fn broken_off_scenes() -> Vec<(Scene, u32)> {
    let random = &mut Random::new(seed(77));
    let mut scenes = Vec::new();
    for number in 0..extent(12, 50) {
        let connectivity = CONNECTIVITIES_2D[number % 4];
        let edge = [16, 23, 32, 40][number / 4 % 4];
        let [width, height] = [90 + 7 * (number % 9), 150 - 8 * (number % 7)];
        let size = [width, height, 1];
        let blocked = match number % 5 {
            0 => scenes::maze(width, height, random),
            1 => scenes::noise(size, 0.2, random),
            2 => scenes::caves(size, random),
            // Walls along both sides of the tiles' borders, with a gap of a cell in each.
            3 => (0..width * height)
                .map(|at| [at % width, at / width])
                .map(|[x, y]| {
                    let [in_x, in_y] = [x, y].map(|at| at % edge as usize);
                    let is_gap = in_x == 5 || in_y == 7;
                    let is_wall = in_x == 0 || in_y == 0 || in_x == edge as usize - 1;
                    is_wall && !is_gap
                })
                .collect(),
            _ => scenes::serpentine(width, height),
        };
        let scene =
            Scene::new(&format!("scene {number}"), size, connectivity, blocked).random_goals(2, random);
        let scene = if number % 3 == 0 { scene } else { scene.random_costs(1 + number * 50, random) };
        scenes.push((scene, edge));
    }
    scenes
}

/// Rasters a cell wide, barriers a cell wide on either side of the tiles' borders and across them, with one gap or none, mazes and terrain.
pub(crate) fn barrier_scenes() -> Vec<(Scene, u32)> {
    let random = &mut Random::new(seed(91));
    let mut scenes = Vec::new();
    for number in 0..50 {
        let connectivity = CONNECTIVITIES_2D[number % 4];
        let edge = [8, 13, 16, 32][number / 4 % 4];
        let [width, height] = match number % 7 {
            5 => [1, 30 + 11 * number],
            6 => [30 + 11 * number, 1],
            _ => [50 + number, 95 - number],
        };
        let blocked = match number % 7 {
            0 => scenes::maze(width, height, random),
            1 => scenes::noise([width, height, 1], 0.25, random),
            5 | 6 => (0..width * height).map(|at| number < 25 && at == 3 * edge + 1).collect(),
            kind => (0..width * height)
                .map(|at| [at % width, at / width])
                .map(|[x, y]| match kind {
                    // The last column of a tile, the first row of the next, and a stair across both.
                    2 => x % edge == edge - 1 && y != x % 29,
                    3 => y % edge == 0 && x != (7 * y) % 31,
                    _ => x.abs_diff(y) % edge == 3 && (x + y) % 40 != 5,
                })
                .collect(),
        };
        let scene = Scene::new(&format!("barriers {number}"), [width, height, 1], connectivity, blocked);
        let scene = scene.random_goals(1 + number % 3, random);
        let scene = if number % 2 == 0 { scene } else { scene.random_costs(2 + number * 40, random) };
        scenes.push((scene, edge as u32));
    }
    scenes
}

#[test]
fn barriers_along_borders_equal_the_oracle() {
    barrier_scenes().iter().for_each(|(scene, edge)| _ = check(scene, *edge));
}

/// Work that ends in the middle goes on from its files, also where some of them are damaged.
#[test]
fn work_that_was_broken_off_goes_on() {
    let random = &mut Random::new(seed(3));
    let (mut resumed, mut saved) = (0, 0);
    for (scene, edge) in broken_off_scenes() {
        let (wanted, raster, options) = (wanted(&scene), raster(&scene), options(&scene, edge));
        let tiles = MemoryTiles::default();
        let in_one_go = solve_raster(&raster, &scene.goals, &tiles, &options, go_on).unwrap();
        judge(&scene, &wanted, &in_one_go).unwrap();
        let folder = Folder::new("broken-off");
        let mut visit_counts = Vec::new();
        loop {
            let store = TileFiles::open(&folder.0).unwrap();
            let most = 1 + random.below(12);
            let stop = |progress: RasterProgress| match progress.visit_count >= most {
                true if visit_counts.len() < 4 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            match solve_raster(&raster, &scene.goals, &store, &options, stop) {
                Ok(field) => {
                    judge(&scene, &wanted, &field).unwrap();
                    // What is finished is solved no more.
                    let again = solve_raster(&raster, &scene.goals, &store, &options, go_on).unwrap();
                    judge(&scene, &wanted, &again).unwrap();
                    assert_eq!(again.report().visit_count, 0, "{}", scene.name);
                    resumed += field.report().resumed_count;
                    saved += usize::from(field.report().visit_count < in_one_go.report().visit_count);
                    break;
                }
                Err(Error::Cancelled) => visit_counts.push(most),
                Err(error) => panic!("{error}"),
            }
            // A process that ends while it writes, and a disk that loses bytes.
            fs::write(folder.0.join("tile-0-0.unfinished"), b"half a tile").unwrap();
            let files: Vec<PathBuf> = fs::read_dir(&folder.0)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
                .collect();
            let file = &files[random.below(files.len())];
            let mut bytes = fs::read(file).unwrap();
            let at = random.below(bytes.len());
            if random.chance(0.5) {
                bytes.truncate(at)
            } else {
                bytes[at] ^= 16
            }
            fs::write(file, bytes).unwrap();
        }
        // A finished field is taken up too, and a file that is cut short afterwards is an error.
        let store = TileFiles::open(&folder.0).unwrap();
        let field = solve_raster(&raster, &scene.goals, &store, &options, go_on).unwrap();
        judge(&scene, &wanted, &field).unwrap();
        let [x, y] = [scene.goals[0].x, scene.goals[0].y].map(|at| at as u32 / edge);
        let file = folder.0.join(format!("tile-{y}-{x}.bin"));
        fs::write(&file, &fs::read(&file).unwrap()[..50]).unwrap();
        let size = [scene.size[0], scene.size[1]].map(|length| length as u32);
        let error = field.distances(whole(size)).unwrap_err();
        assert!(
            matches!(error, Error::Io { .. }) && error.to_string().contains("lost or damaged"),
            "{error}"
        );
        store.remove().unwrap();
        assert!(!folder.0.exists());
    }
    assert!(resumed > 20 && saved > 3, "{resumed} tiles resumed, work saved {saved} times");
}

#[test]
fn tiles_of_another_job_are_refused() {
    struct Named(MemoryRaster, &'static str);
    impl Raster for Named {
        fn size(&self) -> [u32; 2] {
            self.0.size()
        }
        fn identity(&self) -> String {
            self.1.to_owned()
        }
        fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()> {
            self.0.read(window, costs)
        }
    }
    let raster = |size: [u32; 2], name| {
        Named(MemoryRaster::new(size, vec![1; (size[0] * size[1]) as usize]).unwrap(), name)
    };
    let folder = Folder::new("other-job");
    let solve = |raster: &Named, goal: [i32; 2], options: RasterOptions| {
        let store = TileFiles::open(&folder.0)?;
        solve_raster(raster, &[goal.into()], &store, &options, go_on).map(|_| ())
    };
    let options = RasterOptions { tile_edge: Some(8), ..RasterOptions::default() };
    let first = raster([20, 20], "one");
    solve(&first, [3, 4], options).unwrap();
    solve(&first, [3, 4], options).unwrap();
    for (other, goal, options) in [
        (raster([20, 20], "two"), [3, 4], options),
        (raster([20, 21], "one"), [3, 4], options),
        (raster([20, 20], "one"), [4, 3], options),
        (raster([20, 20], "one"), [3, 4], RasterOptions { tile_edge: Some(9), ..options }),
        (raster([20, 20], "one"), [3, 4], RasterOptions { connectivity: Connectivity::Four, ..options }),
        (raster([20, 20], "one"), [3, 4], RasterOptions { max_distance: Some(9), ..options }),
    ] {
        let error = solve(&other, goal, options).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("tiles of another job"), "{error}");
    }
    solve(&first, [3, 4], options).unwrap();
    // A folder of something else, and a file.
    let strange = Folder::new("strange");
    fs::create_dir_all(&strange.0).unwrap();
    fs::write(strange.0.join("holiday.jpg"), b"").unwrap();
    let error = TileFiles::open(&strange.0).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    let error = TileFiles::open(strange.0.join("holiday.jpg")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    // A folder in use.
    let first = TileFiles::open(&folder.0).unwrap();
    let error = TileFiles::open(&folder.0).unwrap_err();
    assert!(error.to_string().contains("is in use"), "{error}");
    drop(first);
    TileFiles::open(&folder.0).unwrap();
}

#[test]
fn bad_input_is_one_clear_error() {
    let raster = MemoryRaster::new([4, 3], vec![1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]).unwrap();
    let tiles = MemoryTiles::default();
    let solve = |goals: &[[i32; 2]], options: RasterOptions| {
        let goals: Vec<Cell> = goals.iter().map(|&goal| goal.into()).collect();
        solve_raster(&raster, &goals, &tiles, &options, go_on).map(|field| field.report().clone())
    };
    let plain = RasterOptions::default();
    let error = solve(&[[2, 0], [4, 0], [-1, 0]], plain).unwrap_err();
    assert!(
        matches!(error, Error::NoGoals { given_count: 3, blocked_count: 1, outside_count: 2, .. }),
        "{error}"
    );
    let report = solve(&[[2, 0], [1, 1], [1, 1], [0, 3]], plain).unwrap();
    assert_eq!((report.goals.used_count, report.goals.blocked.len(), report.goals.outside.len()), (1, 1, 1));
    for (options, text) in [
        (RasterOptions { tile_edge: Some(0), ..plain }, "tile_edge is 0"),
        (RasterOptions { tile_edge: Some(40_000), ..plain }, "tile_edge is 40000"),
        (RasterOptions { memory_limit: Some(10), ..plain }, "the limit is 10"),
        (RasterOptions { connectivity: Connectivity::Six, ..plain }, "connectivity is 6 neighbours"),
    ] {
        let error = solve(&[[0, 0]], options).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let error = MemoryRaster::new([4, 3], vec![1; 11]).unwrap_err().to_string();
    assert_eq!(error, "11 costs were given, the raster has 12 cells");
    struct Empty;
    impl Raster for Empty {
        fn size(&self) -> [u32; 2] {
            [0, 5]
        }
        fn read(&self, _: RasterWindow, _: &mut [u32]) -> Result<()> {
            Ok(())
        }
    }
    let error = solve_raster(&Empty, &[], &tiles, &plain, go_on).unwrap_err().to_string();
    assert!(error.contains("size is [0, 5]"), "{error}");
    let field = solve_raster(&raster, &[[0, 0].into()], &tiles, &plain, go_on).unwrap();
    for window in [[0, 0, 0, 1], [0, 0, 5, 1], [3, 2, 1, 2], [u32::MAX, 0, 2, 1]] {
        let [x, y, width, height] = window;
        let error = field.distances(RasterWindow { x, y, width, height }).unwrap_err();
        assert!(matches!(error, Error::Value { field: "window", .. }), "{error}");
    }
    let window = RasterWindow { x: 1, y: 0, width: 3, height: 2 };
    let mut distances = [7; 6];
    field.read(window, &mut distances).unwrap();
    assert_eq!(distances.to_vec(), field.distances(window).unwrap());
    let error = field.read(window, &mut distances[..5]).unwrap_err().to_string();
    assert_eq!(error, "5 distances were given, the window has 6 cells");
}

/// A raster that fails, a store that is full: the error comes back, and what was written before serves the next call.
#[test]
fn errors_of_rasters_and_stores_come_back() {
    struct Failing<'a>(&'a MemoryRaster, AtomicUsize);
    impl Raster for Failing<'_> {
        fn size(&self) -> [u32; 2] {
            self.0.size()
        }
        fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()> {
            if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
                return Err(Error::Io {
                    what: "terrain.npy".to_owned(),
                    message: "it was cut short".to_owned(),
                });
            }
            self.0.read(window, costs)
        }
    }
    let scene =
        Scene::new("open", [60, 50, 1], Connectivity::default(), vec![false; 3000]).goals(&[[7, 8, 0]]);
    let (raster, options) = (raster(&scene), options(&scene, 16));
    let folder = Folder::new("errors");
    for reads in 1..6 {
        let store = TileFiles::open(&folder.0).unwrap();
        let failing = Failing(&raster, AtomicUsize::new(reads));
        let error = solve_raster(&failing, &scene.goals, &store, &options, go_on).unwrap_err();
        assert_eq!(error.to_string(), "terrain.npy: it was cut short");
    }
    // A disk that is full after some tiles.
    struct Full(TileFiles, AtomicUsize);
    impl TileStore for Full {
        fn begin(&self, job: &str) -> Result<()> {
            self.0.begin(job)
        }
        fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
            self.0.read(tile, window, distances)
        }
        fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
            if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
                return Err(Error::Io { what: "tile".to_owned(), message: "no space left".to_owned() });
            }
            self.0.write(tile, window, distances)
        }
    }
    let full = Full(TileFiles::open(&folder.0).unwrap(), AtomicUsize::new(1));
    let error = solve_raster(&raster, &scene.goals, &full, &options, go_on).unwrap_err();
    assert_eq!(error.to_string(), "tile: no space left");
    drop(full);
    let store = TileFiles::open(&folder.0).unwrap();
    let field = solve_raster(&raster, &scene.goals, &store, &options, go_on).unwrap();
    assert!(field.report().resumed_count > 0);
    judge(&scene, &wanted(&scene), &field).unwrap();
}

/// Tasks that are solved one by one, in any order, with answers that come late, twice or from a process that joined the folder.
#[test]
fn tasks_may_be_solved_anywhere_in_any_order() {
    let mut random = Random::new(seed(19));
    for (number, scene) in
        scenes::small_scenes(Connectivity::default()).iter().step_by(extent(20, 8)).enumerate()
    {
        let folder = Folder::new("tasks");
        let tiles = TileFiles::open(&folder.0).unwrap();
        let (raster, options) = (raster(scene), options(scene, [17, 33, 64][number % 3]));
        let mut solver = RasterSolver::new(&raster, &scene.goals, &tiles, &options, 1).unwrap();
        let helper = TileFiles::join(&folder.0).unwrap();
        let mut out: Vec<TileTask> = Vec::new();
        while !solver.is_done() {
            out.extend(solver.tasks(3));
            let mut tiles_out: Vec<_> = out.iter().map(TileTask::tile).collect();
            tiles_out.sort_unstable();
            tiles_out.dedup();
            assert_eq!(tiles_out.len(), out.len(), "{}: a tile was given out twice at once", scene.name);
            let task = out.swap_remove(random.below(out.len()));
            let answer = task.solve(&raster, &helper).unwrap();
            // A worker that was thought dead solved it too.
            assert_eq!(task.solve(&raster, &helper).unwrap(), answer);
            solver.note(&answer).unwrap();
            assert!(matches!(solver.note(&answer), Err(Error::Invalid { .. })));
        }
        let field = solver.finish(&tiles).unwrap();
        judge(scene, &wanted(scene), &field).unwrap();
    }
}

#[test]
fn tasks_and_folders_that_do_not_fit_are_errors() {
    let raster = MemoryRaster::new([9, 9], vec![1; 81]).unwrap();
    let folder = Folder::new("join");
    let error = TileFiles::join(&folder.0).unwrap_err();
    assert!(error.to_string().contains("holds no tiles of hullfield"), "{error}");
    let tiles = TileFiles::open(&folder.0).unwrap();
    let options = RasterOptions { tile_edge: Some(4), ..RasterOptions::default() };
    let mut solver = RasterSolver::new(&raster, &[[0, 0].into()], &tiles, &options, 1).unwrap();
    let joined = TileFiles::join(&folder.0).unwrap();
    let error = RasterSolver::new(&raster, &[[0, 0].into()], &joined, &options, 1).unwrap_err();
    assert!(error.to_string().contains("solve tasks only"), "{error}");
    let tasks = solver.tasks(9);
    assert_eq!(tasks.len(), 1);
    assert!(solver.tasks(9).is_empty() && !solver.is_done());
    let other = MemoryRaster::new([9, 8], vec![1; 72]).unwrap();
    let error = tasks[0].solve(&other, &joined).unwrap_err();
    assert!(error.to_string().contains("the task is for a raster of 9 x 9"), "{error}");
    let error = solver.finish(&tiles).unwrap_err();
    assert!(error.to_string().contains("tiles still wait"), "{error}");
}

/// Paths and next cells over a raster in tiles are those of the field in one piece, cell for cell.
#[test]
fn paths_are_those_of_one_piece() {
    let mut lengths = 0;
    for connectivity in CONNECTIVITIES_2D {
        // One for each size.
        let scenes = scenes::one_of(16, &scenes::small_scenes(connectivity));
        for (number, scene) in scenes.iter().enumerate() {
            let options = options(scene, [3, 7, 16][number % 3]);
            let (raster, tiles) = (raster(scene), MemoryTiles::default());
            let field = solve_raster(&raster, &scene.goals, &tiles, &options, go_on).unwrap();
            let flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
            let whole = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
            let next = whole.next_codes().unwrap().wait().unwrap();
            for window in field.windows() {
                let found = field.next_codes(&raster, window).unwrap();
                for (place, &code) in found.iter().enumerate() {
                    let (x, y) = (place as u32 % window.width, place as u32 / window.width);
                    let index = (window.y + y) as usize * scene.size[0] + (window.x + x) as usize;
                    // The codes of one piece also lead out of obstacles.
                    let expected = if scene.blocked[index] { NEXT_NONE } else { next[index] };
                    assert_eq!(code, expected, "{}: cell {index}", scene.name);
                }
            }
            let free = (0..scene.blocked.len()).filter(|&index| !scene.blocked[index]);
            let free: Vec<Cell> = free.map(|index| scene.cell(index)).collect();
            let starts = pick(number as u64, &free, extent(300, 1000));
            let paths = whole.paths(&starts).unwrap().wait().unwrap();
            for (&start, ends) in starts.iter().zip(paths.offsets.windows(2)) {
                let path = field.path(&raster, start).unwrap();
                let expected = paths.cells[ends[0]..ends[1]].iter().map(|&cell| scene.cell(cell as usize));
                assert!(path.iter().copied().eq(expected), "{}: from {start}", scene.name);
                lengths += path.len();
            }
        }
    }
    assert!(lengths > 10_000, "{lengths}");
}

#[test]
fn a_path_over_a_changed_raster_is_an_error() {
    let costs: Vec<u32> = (0..81).map(|cell| 1 + cell % 7).collect();
    let raster = MemoryRaster::new([9, 9], costs.clone()).unwrap();
    let tiles = MemoryTiles::default();
    let options = RasterOptions { tile_edge: Some(4), ..RasterOptions::default() };
    let field = solve_raster(&raster, &[[0, 0].into()], &tiles, &options, go_on).unwrap();
    for (size, cell, part) in [
        ([9, 9], [9, 0], "it must be in the raster of 9 x 9"),
        ([9, 9], [0, -1], "it must be in the raster"),
        ([3, 27], [0, 0], "the field is over a raster of 9 x 9"),
    ] {
        let other = MemoryRaster::new(size, costs.clone()).unwrap();
        let error = field.path(&other, cell.into()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let other = MemoryRaster::new([9, 9], costs.iter().map(|cost| cost + 1).collect()).unwrap();
    let error = field.path(&other, [8, 8].into()).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Cell(_), .. }), "{error}");
    let all = RasterWindow { x: 0, y: 0, width: 9, height: 9 };
    let error = field.next_codes(&other, all).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Cell(_), .. }), "{error}");
    let error = field.next_codes(&raster, RasterWindow { width: 10, ..all }).unwrap_err().to_string();
    assert!(error.contains("all in the raster of 9 x 9"), "{error}");
    let other = MemoryRaster::new([3, 27], costs.clone()).unwrap();
    let error = field.next_codes(&other, all).unwrap_err().to_string();
    assert!(error.contains("the field is over a raster of 9 x 9"), "{error}");
}
