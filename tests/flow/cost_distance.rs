//! Cost distances against Dijkstra, within the bound that the report states.

use std::ops::ControlFlow;

use hullfield::Error;
use hullfield::flow::{
    Cell, Connectivity, Corners, CostDistance, CostDistanceOptions, CostDistanceProgress, CostRule,
    Ellipsoid, Geographic, MemoryRaster, MemoryTiles, NEXT_NONE, NO_TARGET, Raster, RasterOptions,
    RasterWindow, Slope, StepLengths, allocation, cost_distance, solve_raster,
};
use hullfield_oracle::friction::{Ground, Rule};
use hullfield_oracle::globe;
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::friction_tiles::compare_with_raster;
use crate::scenes;

/// What rounding to f32 adds to the bound.
pub(crate) const F32: f64 = 1.0 / (1 << 24) as f64;

/// By how much lengths of the oracle's globe may be off.
pub(crate) const GLOBE: f64 = 4e-8;

pub(crate) const CONNECTIVITIES: [Connectivity; 4] = [
    Connectivity::Four,
    Connectivity::Eight(Corners::BothFree),
    Connectivity::Eight(Corners::OneFree),
    Connectivity::Eight(Corners::Any),
];

pub(crate) fn go_on(_: CostDistanceProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) size: [usize; 2],
    pub(crate) friction: Vec<f64>,
    pub(crate) targets: Vec<Cell>,
    pub(crate) options: CostDistanceOptions,
    /// The oracle's lengths of steps of each row, if the options have a globe.
    pub(crate) rows: Vec<[f64; 3]>,
}

impl Scene {
    pub(crate) fn new(
        name: String,
        size: [usize; 2],
        friction: Vec<f64>,
        targets: Vec<Cell>,
        options: CostDistanceOptions,
    ) -> Self {
        let rows = options.geographic.map_or_else(Vec::new, |at| {
            let Ellipsoid { semi_major_axis, flattening } = at.ellipsoid;
            globe::step_lengths([semi_major_axis, flattening], at.latitudes, at.cell_width, size[1])
        });
        Self { name, size, friction, targets, options, rows }
    }

    fn index(&self, [x, y]: [i32; 2]) -> Option<usize> {
        let [width, height] = self.size.map(|length| length as i32);
        ((0..width).contains(&x) && (0..height).contains(&y)).then_some((y * width + x) as usize)
    }

    pub(crate) fn cell(&self, index: usize) -> [i32; 2] {
        [(index % self.size[0]) as i32, (index / self.size[0]) as i32]
    }

    /// The scene in the oracle's terms.
    pub(crate) fn ground(&self) -> Ground<'_> {
        let slope = self.options.slope.as_ref();
        Ground {
            size: self.size,
            friction: &self.friction,
            elevation: slope.map_or(&[], |slope| &slope.elevation),
            factors: slope.map_or(&[], |slope| &slope.factors),
            is_outward: slope.is_some_and(|slope| slope.is_outward),
            cell_size: self.options.cell_size,
            rows: &self.rows,
            neighbours: scenes::neighbours(self.options.connectivity),
            rule: match self.options.cost_rule {
                CostRule::Entry => Rule::Entry,
                CostRule::Exit => Rule::Exit,
                CostRule::Mean => Rule::Mean,
            },
        }
    }

    pub(crate) fn sources(&self) -> Vec<usize> {
        let on_map = self.targets.iter().map(|cell| [cell.x, cell.y]);
        let ground = self.ground();
        on_map.filter(|&cell| ground.is_free(cell)).filter_map(|cell| self.index(cell)).collect()
    }

    /// What the oracle may be off.
    pub(crate) fn slack(&self) -> f64 {
        if self.rows.is_empty() { 1e-12 } else { GLOBE }
    }

    pub(crate) fn solve(&self) -> CostDistance {
        let size = self.size.map(|length| length as u32);
        cost_distance(size, &self.friction, &self.targets, &self.options, go_on).unwrap()
    }
}

/// Compares distances, paths and allocation with the oracle. `Err` says what is wrong.
fn judge(scene: &Scene, solved: &CostDistance) -> Result<(), String> {
    let (ground, sources) = (scene.ground(), scene.sources());
    let expected = ground.costs(&sources);
    let bound = solved.report.error_bound + F32 + scene.slack();
    let near = |found: f64, wanted: f64| (found - wanted).abs() <= bound * wanted;
    let limit = scene.options.max_distance.unwrap_or(f64::INFINITY);
    let mut reached_count = 0;
    let mut farthest = 0.0_f64;
    for (index, &wanted) in expected.iter().enumerate() {
        let name = || format!("{}, cell {:?}", scene.name, scene.cell(index));
        let found = f64::from(solved.distances[index]);
        let is_reached = found.is_finite();
        // Close to the limit either is right.
        let may_differ = near(limit, wanted) || near(found, limit);
        if is_reached != (wanted <= limit && wanted.is_finite()) && !may_differ {
            return Err(format!("{}: {found}, expected {wanted}, limit {limit}", name()));
        }
        let (next, allocation) = (solved.next[index], solved.allocation[index]);
        if !is_reached {
            if next != NEXT_NONE || allocation != NO_TARGET {
                return Err(format!(
                    "{}: next {next}, allocation {allocation} where nothing is reached",
                    name()
                ));
            }
            continue;
        }
        reached_count += 1;
        farthest = farthest.max(found);
        if !near(found, wanted) {
            return Err(format!("{}: {found}, expected {wanted}, bound {bound}", name()));
        }
        // Every seventh path, or some hundred: its moves are allowed, its cost is the distance, its end is the target of the allocation.
        if index % (expected.len() / 300).max(7) != 0 && wanted > 0.0 {
            continue;
        }
        let path = solved.path(Cell::from(scene.cell(index))).map_err(|error| error.to_string())?;
        let mut cost = 0.0;
        for step in path.windows(2) {
            let [from, to] = [step[0], step[1]].map(|cell| [cell.x, cell.y]);
            cost += ground.move_cost(from, to).ok_or_else(|| format!("{}: {from:?} to {to:?}", name()))?;
        }
        if !near(found, cost) {
            return Err(format!("{}: {found}, its path costs {cost}", name()));
        }
        let end = path[path.len() - 1];
        let first = scene.targets.iter().position(|&target| target == end);
        if first != Some(allocation as usize) {
            return Err(format!("{}: allocation {allocation}, the path ends at {end}", name()));
        }
    }
    // The distance to the allocated target alone is that of the cell.
    for (number, target) in scene.targets.iter().enumerate() {
        let Some(source) = scene.index([target.x, target.y]).filter(|source| sources.contains(source)) else {
            if solved.allocation.contains(&(number as u32)) {
                return Err(format!("{}: target {number} can't be used", scene.name));
            }
            continue;
        };
        let alone = ground.costs(&[source]);
        for (index, _) in solved.allocation.iter().enumerate().filter(|(_, found)| **found == number as u32) {
            if !near(f64::from(solved.distances[index]), alone[index]) {
                let (cell, distance) = (scene.cell(index), solved.distances[index]);
                return Err(format!("{}: {cell:?} has {distance}, {} to {number}", scene.name, alone[index]));
            }
        }
    }
    let report = &solved.report;
    let counts = (report.reached_count, report.farthest as f32);
    if counts != (reached_count, farthest as f32) {
        return Err(format!("{}: counts {counts:?}, expected {reached_count}, {farthest}", scene.name));
    }
    let barrier_count = (0..expected.len()).filter(|&index| !ground.is_free(scene.cell(index))).count();
    if report.not_finite_count + report.not_positive_count != barrier_count as u64 {
        return Err(format!("{}: {barrier_count} barriers, {report:?}", scene.name));
    }
    Ok(())
}

/// Kinds of friction.
const KINDS: usize = 9;

pub(crate) fn friction(kind: usize, [width, height]: [usize; 2], random: &mut Random) -> Vec<f64> {
    let mut friction = Vec::with_capacity(width * height);
    for at in 0..width * height {
        let (x, y) = (at % width, at / width);
        let smooth = 2.0 + (x as f64 * 0.11).sin() + (y as f64 * 0.07).cos() * 0.9;
        friction.push(match kind {
            0 => 1.0,
            1 => f64::from(random.between(1.0, 10.0) as f32),
            2 => smooth,
            // Barriers of all kinds.
            3 if random.chance(0.3) => [f64::NAN, f64::INFINITY, 0.0, -3.0][random.below(4)],
            // Barriers one cell wide, with a gap each.
            4 if y % 6 == 3 && x != (y * 31) % width => f64::NAN,
            4 if x % 9 == 4 && y % 6 != 1 => 0.0,
            // A serpentine.
            5 if y % 2 == 1 && x != if y % 4 == 1 { width - 1 } else { 0 } => f64::NAN,
            6 => random.log_between(1e-3, 1.0),
            7 => random.log_between(1e-3, 1e3),
            // Diagonal barriers, which only a cut corner crosses.
            8 if (x + y) % 8 == 3 => f64::NAN,
            3 | 4 => smooth,
            _ => random.between(0.5, 3.0),
        });
    }
    friction
}

/// Hills, some cliffs and holes without a height.
fn slope([width, height]: [usize; 2], random: &mut Random) -> Slope {
    let steepness = random.log_between(0.001, 10.0);
    let elevation = (0..width * height).map(|at| {
        let (x, y) = ((at % width) as f64, (at / width) as f64);
        let hill = 3.0 * (x * 0.2).sin() * (y * 0.3).cos() + random.between(0.0, 0.3);
        if random.chance(0.02) { f32::NAN } else { (steepness * hill) as f32 }
    });
    let elevation = elevation.collect();
    let factors = match random.below(3) {
        0 => Vec::new(),
        1 => Slope::tobler(),
        _ => vec![[-1.0, 2.5], [-0.1, 0.7], [0.0, 1.0], [0.6, 3.0]],
    };
    Slope { elevation, factors, is_outward: random.chance(0.5) }
}

/// A place on some globe, with rows in either direction, away from the poles by two cells.
fn globe_of(row_count: usize, random: &mut Random) -> Geographic {
    let cell = random.log_between(1e-5, 0.4);
    let height = cell * row_count as f64;
    let first = random.between(-89.0 + height.min(80.0), 89.0 - height.min(80.0));
    let last = if random.chance(0.5) { first + height } else { first - height };
    let moon = Ellipsoid { semi_major_axis: 1_737_400.0, flattening: 0.0 };
    let ellipsoid = if random.chance(0.8) { Ellipsoid::WGS84 } else { moon };
    Geographic { latitudes: [first, last], cell_width: cell * random.between(0.5, 2.0), ellipsoid }
}

const SIZES: [[usize; 2]; 10] =
    [[1, 1], [1, 40], [37, 1], [2, 3], [15, 17], [16, 16], [17, 15], [32, 33], [50, 34], [64, 65]];

pub(crate) fn scenes(random: &mut Random) -> Vec<Scene> {
    let mut scenes = Vec::new();
    let sizes = [[1.0, 1.0], [30.0, 30.0], [1.0, 2.5], [0.01, 0.003]];
    for number in 0..extent(180, 360) {
        let kind = number % KINDS;
        let size = SIZES[random.below(SIZES.len())];
        let friction = friction(kind, size, random);
        let mut targets: Vec<Cell> = (0..1 + random.below(4))
            .map(|_| Cell::from([random.below(size[0]) as i32, random.below(size[1]) as i32]))
            .collect();
        targets.push(targets[0]);
        targets.push(Cell::from([-1, 0]));
        let geographic = random.chance(0.3).then(|| globe_of(size[1], random));
        let unit = geographic.map_or(1.0, |at| at.step_lengths(1, size[1] as u32)[2]);
        let options = CostDistanceOptions {
            connectivity: CONNECTIVITIES[number % 4],
            cost_rule: [CostRule::Mean, CostRule::Entry, CostRule::Exit][number / 4 % 3],
            cell_size: sizes[random.below(sizes.len())],
            geographic,
            max_distance: random.chance(0.3).then(|| unit * random.between(0.0, 60.0)),
            distances: true,
            allocation: true,
            next: true,
            slope: random.chance(0.4).then(|| slope(size, random)),
        };
        let name = format!("scene {number} of {size:?}, {:?}", (options.connectivity, options.cost_rule));
        let scene = Scene::new(name, size, friction, targets, options);
        if !scene.sources().is_empty() {
            scenes.push(scene);
        }
    }
    scenes
}

#[test]
fn distances_paths_and_allocation_are_those_of_dijkstra() {
    let scenes = scenes(&mut Random::new(seed(5)));
    assert!(scenes.len() > 100, "{}", scenes.len());
    for scene in &scenes {
        let solved = scene.solve();
        judge(scene, &solved).unwrap();
        let report = &solved.report;
        assert_eq!(report.targets.outside.len(), 1);
        assert!((1e-16..1e-12).contains(&report.error_bound), "{}: {}", scene.name, report.error_bound);
    }
    let globe_count = scenes.iter().filter(|scene| scene.options.geographic.is_some()).count();
    assert!(globe_count > 20 && scenes.len() - globe_count > 20, "{globe_count}");
    let slope_count = scenes.iter().filter(|scene| scene.options.slope.is_some()).count();
    assert!(slope_count > 20 && scenes.len() - slope_count > 20, "{slope_count}");
}

/// Flat ground costs what no ground does, and a factor of 1 changes nothing. A walk outward is the walk home downhill.
#[test]
fn slopes_are_walked_one_way() {
    let mut random = Random::new(seed(21));
    let size = [30, 20];
    let targets = vec![Cell::from([3, 4])];
    let solve = |friction: &[f64], slope: Option<Slope>| {
        let options = CostDistanceOptions { slope, ..Default::default() };
        cost_distance([30, 20], friction, &targets, &options, go_on).unwrap().distances
    };
    let friction = friction(1, size, &mut random);
    let flat = Slope { elevation: vec![7.0; 600], ..Default::default() };
    let tilted = |factors: &[[f64; 2]], is_outward: bool| {
        let elevation = (0..600).map(|at| (at % 30) as f32).collect();
        Some(Slope { elevation, factors: factors.to_vec(), is_outward })
    };
    let close = |one: &[f32], other: &[f32]| one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 3e-7 * b);
    let plain = solve(&friction, None);
    assert!(close(&solve(&friction, Some(flat)), &plain));
    let even = [[-1.0, 1.0], [1.0, 1.0]];
    assert_eq!(solve(&friction, tilted(&[], false)), solve(&friction, tilted(&even, false)));
    let [climb, descend] = [[[-1.0, 1.0], [1.0, 5.0]], [[-1.0, 5.0], [1.0, 1.0]]];
    assert_eq!(solve(&friction, tilted(&climb, true)), solve(&friction, tilted(&descend, false)));
    assert!(!close(&solve(&friction, tilted(&climb, true)), &solve(&friction, tilted(&climb, false))));
    assert!(!close(&solve(&friction, tilted(&[], false)), &plain));
    // Tobler's walker is fastest at a slope of -0.05, and needs exp(3.5 * 0.05) times as long where it is flat.
    let table = Slope::tobler();
    assert!(table.iter().all(|row| row[1] >= (-0.175_f64).exp() - 1e-12));
    assert_eq!((table[780][0], table[800]), (-0.05, [0.0, 1.0]));
}

/// The allocation of any next cells is that which the cost distance returns; codes that lead nowhere are errors.
#[test]
fn allocation_follows_next_cells() {
    let mut random = Random::new(seed(19));
    for scene in scenes(&mut random) {
        let solved = scene.solve();
        if solved.next.is_empty() || solved.allocation.is_empty() || solved.distances.is_empty() {
            continue;
        }
        let [width, height] = solved.size.map(|length| length as i32);
        let is_used = |cell: &Cell| {
            (0..width).contains(&cell.x)
                && (0..height).contains(&cell.y)
                && cell.z == 0
                && solved.distances[(cell.y * width + cell.x) as usize] == 0.0
        };
        let used: Vec<usize> = (0..scene.targets.len()).filter(|&at| is_used(&scene.targets[at])).collect();
        let targets: Vec<Cell> = used.iter().map(|&at| scene.targets[at]).collect();
        let found = allocation(solved.size, solved.connectivity, &solved.next, &targets).unwrap();
        let found: Vec<u32> =
            found.iter().map(|&at| used.get(at as usize).map_or(NO_TARGET, |&at| at as u32)).collect();
        assert_eq!(found, solved.allocation, "{}", scene.name);
    }
    // East and west of one another, in a circle, and out of the raster on each side.
    for (next, cell) in [
        ([1, 3, 255, 255], "cell (0, 0)"),
        ([5, 255, 255, 7], "cell (0, 0)"),
        ([0, 255, 255, 255], "cell (0, 0)"),
        ([255, 1, 255, 255], "cell (1, 0)"),
        ([255, 255, 3, 255], "cell (0, 1)"),
        ([255, 255, 255, 2], "cell (1, 1)"),
    ] {
        let error = allocation([2, 2], CONNECTIVITIES[3], &next, &[]).unwrap_err().to_string();
        assert!(error.contains(cell) && error.contains("or form a cycle"), "{error}");
    }
    let error = |next: &[u8], connectivity, target: [i32; 2]| {
        allocation([2, 2], connectivity, next, &[target.into()]).unwrap_err().to_string()
    };
    assert!(error(&[255; 3], Connectivity::Four, [0, 0]).contains("the raster has 4 cells"));
    assert!(error(&[255; 4], Connectivity::Four, [0, 2]).contains("must be in the raster of 2 x 2"));
    assert!(error(&[255; 4], Connectivity::Six, [0, 0]).contains("two dimensions"));
    assert_eq!(allocation([0, 0], Connectivity::Four, &[], &[]).unwrap(), [0; 0]);
}

/// Friction in f32 gives what the same friction in f64 does.
#[test]
fn friction_may_have_either_width() {
    let mut random = Random::new(8);
    let friction: Vec<f32> = (0..60 * 40).map(|_| random.between(0.1, 20.0) as f32).collect();
    let wide: Vec<f64> = friction.iter().map(|&value| value.into()).collect();
    let (targets, options) = ([Cell::from([30, 20])], CostDistanceOptions::default());
    let solved = cost_distance([60, 40], &friction, &targets, &options, go_on).unwrap();
    assert_eq!(solved, cost_distance([60, 40], &wide, &targets, &options, go_on).unwrap());
    assert!(solved.report.error_bound < 1e-12, "{}", solved.report.error_bound);
    assert!(solved.allocation.is_empty() && solved.next.is_empty());
    assert!(solved.path(Cell::from([0, 0])).unwrap_err().to_string().contains("set the option next"));
}

/// Whatever the number of threads, and tile by tile.
#[test]
fn threads_and_tiles_change_nothing() {
    let mut random = Random::new(seed(12));
    for scene in scenes(&mut random).iter().step_by(extent(4, 1)) {
        let solved = scene.solve();
        for thread_count in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().unwrap();
            let other = pool.install(|| scene.solve());
            assert_eq!(solved.report.error_bound, other.report.error_bound);
            assert_eq!(
                (&solved.distances, &solved.next, &solved.allocation),
                (&other.distances, &other.next, &other.allocation),
                "{}, {thread_count} threads",
                scene.name
            );
        }
        if scene.options.slope.is_none() {
            compare_with_raster(scene, &solved, [7, 16, 23][random.below(3)]).unwrap();
        }
    }
}

/// Small tiles are solved by a heap and large ones relaxed, with weights of 47 bits and more, and distances beyond 2^60.
#[test]
fn rasters_hold_long_steps() {
    let mut random = Random::new(seed(31));
    let mut farthest = 0;
    let sizes = [([50, 40], 16), ([190, 130], 110)];
    for ((size, tile_edge), connectivity) in
        sizes.into_iter().flat_map(|size| CONNECTIVITIES.map(|connectivity| (size, connectivity)))
    {
        for cost_rule in [CostRule::Mean, CostRule::Entry, CostRule::Exit] {
            let [width, height] = size;
            let cost = |random: &mut Random| if random.chance(0.15) { 0 } else { 1 + random.below(9) as u32 };
            let costs: Vec<u32> = (0..width * height).map(|_| cost(&mut random)).collect();
            let plain = MemoryRaster::new(size, costs.clone()).unwrap();
            let large =
                MemoryRaster::new(size, costs.iter().map(|&cost| cost * 400_000_000).collect()).unwrap();
            let lengths = |bits: u32| Some(StepLengths { x: 3 << bits, y: 5 << bits, diagonal: 7 << bits });
            let goal = [Cell::from([costs.iter().position(|&cost| cost > 0).unwrap() as i32, 0])];
            let solve = |raster: &MemoryRaster, bits: u32| {
                let tile_edge = Some(tile_edge);
                let step_lengths = lengths(bits);
                let options =
                    RasterOptions { connectivity, cost_rule, step_lengths, tile_edge, ..Default::default() };
                let tiles = MemoryTiles::default();
                let field = solve_raster(raster, &goal, &tiles, &options, |_| ControlFlow::Continue(()))?;
                field.distances(RasterWindow { x: 0, y: 0, width, height })
            };
            let small = solve(&plain, 0).unwrap();
            // The same distances in other units.
            let times = |factor: u64| -> Vec<u64> {
                small.iter().map(|&at| if at == u64::MAX { at } else { at * factor }).collect()
            };
            assert_eq!(solve(&large, 0).unwrap(), times(400_000_000), "{size:?} {connectivity:?}");
            let bits = if width == 50 { 21 } else { 19 };
            let far = times(400_000_000 << bits);
            assert_eq!(solve(&large, bits).unwrap(), far, "{size:?} {connectivity:?}");
            farthest = farthest.max(far.into_iter().filter(|&at| at != u64::MAX).max().unwrap());
            // The same in one piece.
            let friction = costs.iter().map(|&cost| f64::from(cost)).collect();
            let options = CostDistanceOptions { connectivity, cost_rule, ..Default::default() };
            let name = format!("{size:?} {connectivity:?} {cost_rule:?}");
            let scene = Scene::new(name, size.map(|at| at as usize), friction, goal.to_vec(), options);
            if tile_edge == 110 && connectivity != Connectivity::Eight(Corners::Any) {
                compare_with_raster(&scene, &scene.solve(), tile_edge).unwrap();
            }
        }
    }
    assert!(farthest > 1 << 60, "{farthest:e}");
    let raster = MemoryRaster::new([2, 1], vec![1, 1]).unwrap();
    let lengths = StepLengths { x: 1, y: 0, diagonal: 1 };
    let options = RasterOptions { step_lengths: Some(lengths), ..RasterOptions::default() };
    let tiles = MemoryTiles::default();
    let error = solve_raster(&raster, &[Cell::from([0, 0])], &tiles, &options, |_| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("each length must be from 1 to 2^24"));
    assert_eq!(raster.size(), [2, 1]);
}

/// A path that is long and costly beside cells that cost a thousandth.
#[test]
fn a_serpentine_over_costly_cells_is_right() {
    let (width, height) = (500, 201);
    let friction: Vec<f64> = (0..width * height)
        .map(|at| (at % width, at / width))
        .map(|(x, y)| match (x, y) {
            (1, 0) => 1.0,
            _ if y % 2 == 1 && x != if y % 4 == 1 { width - 1 } else { 0 } => f64::NAN,
            _ => 1e3 + (x % 7) as f64,
        })
        .collect();
    let elevation = (0..width * height).map(|at| (at % 13) as f32).collect();
    let hills = Slope { elevation, ..Default::default() };
    for slope in [None, Some(hills)] {
        let name = format!("serpentine, slope {}", slope.is_some());
        let options = CostDistanceOptions { allocation: true, next: true, slope, ..Default::default() };
        let targets = vec![Cell::from([0, 0])];
        let scene = Scene::new(name, [width, height], friction.clone(), targets, options);
        let solved = scene.solve();
        assert!(solved.report.error_bound < 1e-10, "{}", solved.report.error_bound);
        judge(&scene, &solved).unwrap();
    }
}

/// More tiles in a bucket than are relaxed between two calls that tell progress.
#[test]
fn many_targets_are_solved_step_by_step() {
    let mut random = Random::new(seed(3));
    let size = [960, 700];
    let friction = friction(1, size, &mut random);
    let targets: Vec<Cell> =
        (0..size[0] * size[1]).step_by(7).map(|at| [(at % 960) as i32, (at / 960) as i32].into()).collect();
    let name = "many targets".to_owned();
    let scene = Scene::new(name, size, friction, targets, CostDistanceOptions::default());
    let wanted = scene.ground().costs(&scene.sources());
    for thread_count in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().unwrap();
        let mut calls: Vec<CostDistanceProgress> = Vec::new();
        let tell = |progress| {
            calls.push(progress);
            ControlFlow::Continue(())
        };
        let solve = || cost_distance([960, 700], &scene.friction, &scene.targets, &scene.options, tell);
        let solved = pool.install(solve).unwrap();
        for (index, (&found, wanted)) in solved.distances.iter().zip(&wanted).enumerate() {
            let error = (f64::from(found) - wanted).abs();
            assert!(error <= (solved.report.error_bound + 2.0 * F32) * wanted, "{:?}", scene.cell(index));
        }
        assert!(calls.len() > 1 && calls.is_sorted_by_key(|call| call.visit_count), "{calls:?}");
        let last = calls[calls.len() - 1];
        assert_eq!((last.tile_count, last.solved_count), (60 * 44, 60 * 44));
        assert_eq!(last.visit_count, solved.report.visit_count);
    }
}

/// One cell, however costly, changes nothing where no path enters it. Files fill with such numbers what has no value.
#[test]
fn one_costly_cell_changes_nothing_elsewhere() {
    let mut random = Random::new(seed(61));
    let (size, at) = ([40, 30], 17 * 40 + 23);
    for (number, fill) in [1e9, 9.969_21e36, f64::from(f32::MAX), 1e300, f64::MAX].into_iter().enumerate() {
        let mut friction = friction(1, size, &mut random);
        let elevation = (0..friction.len()).map(|at| (at % 7) as f32).collect();
        let slope = (number % 2 == 1).then(|| Slope { elevation, ..Default::default() });
        let options = CostDistanceOptions { allocation: true, next: true, slope, ..Default::default() };
        let targets = vec![Cell::from([3, 4])];
        let mut solve = |value: f64| {
            friction[at] = value;
            let name = format!("one cell of {value:e}");
            let (friction, targets, options) = (friction.clone(), targets.clone(), options.clone());
            let scene = Scene::new(name, size, friction, targets, options);
            let solved = scene.solve();
            // Distances beyond f32 are infinite.
            if value < 1e38 {
                judge(&scene, &solved).unwrap();
            }
            solved
        };
        let [costly, walled] = [fill, f64::NAN].map(&mut solve);
        for (index, distance) in costly.distances.iter().enumerate() {
            if index != at {
                assert_eq!(*distance, walled.distances[index], "cell {index} beside one of {fill:e}");
            }
        }
        assert_ne!(costly.next[at], NEXT_NONE);
        let mean_step = f64::from(costly.distances[at]) / (0.5 * fill);
        let is_right =
            if fill < 1e38 { (0.99..1.5).contains(&mean_step) } else { costly.distances[at] > 1e38 };
        assert!(is_right, "{mean_step} for {fill:e}");
        assert_eq!(costly.report.reached_count, walled.report.reached_count + 1);
    }
}

/// Behind a wall that costs 1e30, steps of 1 are lost in the rounding of f64. Each cell still has a next one, and each path ends at the target.
#[test]
fn paths_over_steps_that_rounding_loses_end_at_the_target() {
    let (width, height) = (70, 50);
    let friction: Vec<f32> = (0..width * height)
        .map(|at| (at % width, at / width))
        .map(|(x, y)| match (x, y) {
            (35, _) => 1e30,
            // Barriers, so that paths behind the wall turn.
            (50, y) if y > 3 => f32::NAN,
            _ => 1.0,
        })
        .collect();
    for connectivity in CONNECTIVITIES {
        let options =
            CostDistanceOptions { connectivity, allocation: true, next: true, ..Default::default() };
        let size = [width as u32, height as u32];
        let solved = cost_distance(size, &friction, &[Cell::from([2, 2])], &options, go_on).unwrap();
        let behind = [[69, 49], [36, 0], [51, 30], [40, 49]];
        for at in behind {
            let path = solved.path(Cell::from(at)).unwrap();
            assert_eq!(path[path.len() - 1], Cell::from([2, 2]), "{connectivity:?}, from {at:?}");
            // No detour: the ways around the barriers are shorter than this.
            assert!(path.len() < 200, "{}", path.len());
        }
        for (index, value) in friction.iter().enumerate() {
            let is_free = value.is_finite();
            assert_eq!(solved.allocation[index], if is_free { 0 } else { NO_TARGET }, "cell {index}");
        }
    }
}

/// Friction at the ends of f64, and over many decades.
#[test]
fn any_range_of_friction_is_exact_or_an_error() {
    let options = CostDistanceOptions { cost_rule: CostRule::Entry, ..Default::default() };
    let solve = |friction: &[f64]| {
        let size = [friction.len() as u32, 1];
        cost_distance(size, friction, &[Cell::from([0, 0])], &options, go_on)
    };
    let solved = solve(&[1e-12, 1e-12, 1e-12, 1.0]).unwrap();
    assert!(solved.report.error_bound < 1e-14);
    let expected = [0.0, 1e-12, 2e-12, 3e-12_f64];
    assert!(solved.distances.iter().zip(expected).all(|(&found, wanted)| found == wanted as f32));
    // The first has room for no factor, so its far end is rounded to f32's infinity alone.
    for friction in [[5e-324, 5e-324], [f64::MAX, f64::MAX], [1e-310, 1.0], [1.0, f64::MAX]] {
        let solved = solve(&friction).unwrap();
        assert_eq!(solved.report.reached_count, 2);
        let error = (solved.report.farthest - friction[0]).abs() / friction[0];
        assert!(
            error <= solved.report.error_bound.max(f64::EPSILON),
            "{friction:?}: {}",
            solved.report.farthest
        );
    }
    let found = solve(&[f64::MIN_POSITIVE, f64::MAX]).unwrap_err().to_string();
    assert_eq!(
        found,
        "the least friction is 2.2250738585072014e-308, the largest friction is 1.7976931348623157e308, and one may be up to 1e559 times the other"
    );
}

/// Over slopes too.
#[test]
fn friction_over_slopes_keeps_all_its_bits() {
    let least = (1.0 + F32) / f64::from(1 << 20);
    let friction = [1.0, f64::NAN, least, least, least, least];
    let slope = Slope { elevation: vec![0.0; friction.len()], ..Default::default() };
    let options = CostDistanceOptions { slope: Some(slope), ..Default::default() };
    let report = cost_distance([6, 1], &friction, &[Cell::from([2, 0])], &options, go_on).unwrap().report;
    let error = (report.farthest - 3.0 * least).abs() / (3.0 * least);
    assert!(error <= report.error_bound && report.error_bound < 1e-14, "{error} {}", report.error_bound);
}

#[test]
fn bad_input_is_one_clear_error() {
    let nan = f32::NAN;
    let friction = [1.0, nan, 0.0, 1.0, -1.0, f32::INFINITY];
    let plain = CostDistanceOptions::default();
    let error = |size: [u32; 2], targets: &[[i32; 2]], options: &CostDistanceOptions| {
        let targets: Vec<Cell> = targets.iter().map(|&cell| cell.into()).collect();
        cost_distance(size, &friction, &targets, options, go_on).unwrap_err().to_string()
    };
    let barriers = [[1, 0], [2, 0], [1, 1], [2, 1], [3, 0], [0, -1]];
    let found = error([3, 2], &barriers, &plain);
    assert!(found.contains("of 6 given, 4 are on obstacles, 2 off the grid"), "{found}");
    let found = error([3, 3], &[[0, 0]], &plain);
    assert_eq!(found, "6 values of friction were given, the raster has 9 cells");
    let ground = |factors: &[[f64; 2]]| {
        Some(Slope { elevation: vec![0.0; 6], factors: factors.to_vec(), ..Default::default() })
    };
    let with = |change: &dyn Fn(&mut CostDistanceOptions)| {
        let mut options = plain.clone();
        change(&mut options);
        error([3, 2], &[[0, 0]], &options)
    };
    for (found, text) in [
        (error([0, 2], &[[0, 0]], &plain), "size is [0, 2, 1]"),
        (with(&|options| options.cell_size = [0.0, 1.0]), "cell_size is [0.0, 1.0], both must be finite"),
        (with(&|options| options.cell_size = [1.0, f64::NAN]), "cell_size is [1.0, NaN]"),
        (with(&|options| options.cell_size = [1.0, 1001.0]), "up to 1,000 times the other"),
        (
            with(&|options| {
                let latitudes = [100.0, 90.0];
                options.geographic =
                    Some(Geographic { latitudes, cell_width: 1.0, ellipsoid: Ellipsoid::WGS84 });
            }),
            "latitudes is [100, 90], the centres of rows must lie from -90 to 90 degrees",
        ),
        (with(&|options| options.max_distance = Some(-1.0)), "max_distance is -1"),
        (with(&|options| options.max_distance = Some(f64::NAN)), "max_distance is NaN"),
        (with(&|options| options.connectivity = Connectivity::Six), "connectivity is 6 neighbours"),
        (
            with(&|options| options.slope = Some(Slope::default())),
            "0 heights were given, the raster has 6 cells",
        ),
        (with(&|options| options.slope = ground(&[[0.0, -1.0]])), "factor is -1"),
        (
            with(&|options| (options.slope, options.cell_size) = (ground(&[]), [1e101, 1e101])),
            "over slopes both must be from 1e-100 to 1e100",
        ),
        (with(&|options| options.slope = ground(&[[0.0, 1.0], [0.0, 2.0]])), "slope is 0"),
        (with(&|options| options.slope = ground(&[[f64::NAN, 1.0]])), "slope is NaN"),
    ] {
        assert!(found.contains(text), "{found}");
    }
    let targets = [Cell::from([0, 0])];
    let stopped = cost_distance([3, 2], &friction, &targets, &plain, |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Cancelled)));
    let solved = cost_distance([3, 2], &friction, &targets, &plain, go_on).unwrap();
    assert_eq!((solved.report.not_finite_count, solved.report.not_positive_count), (2, 2));
}

/// A comparator that can't fail proves nothing.
#[test]
fn one_wrong_cell_is_found() {
    let mut random = Random::new(seed(99));
    let size = [40, 30];
    let options = CostDistanceOptions { allocation: true, next: true, ..Default::default() };
    let targets = vec![Cell::from([3, 4]), Cell::from([30, 20])];
    let friction = friction(1, size, &mut random);
    let scene = Scene::new("one wrong cell".to_owned(), size, friction, targets, options);
    let solved = scene.solve();
    judge(&scene, &solved).unwrap();
    compare_with_raster(&scene, &solved, 16).unwrap();
    let spoil = |change: &dyn Fn(&mut CostDistance)| {
        let mut wrong = solved.clone();
        change(&mut wrong);
        (judge(&scene, &wrong).is_err(), compare_with_raster(&scene, &wrong, 16).is_err())
    };
    // A relative error of 1e-6.
    assert!(spoil(&|wrong| wrong.distances[700] *= 1.000_001).0);
    assert!(spoil(&|wrong| wrong.distances[700] = wrong.distances[700].next_up()).1);
    assert_eq!(spoil(&|wrong| wrong.distances[700] *= 1.000_01), (true, true));
    assert_eq!(spoil(&|wrong| wrong.distances[700] = f32::INFINITY), (true, true));
    assert!(spoil(&|wrong| wrong.next[700] = (wrong.next[700] + 4) % 8).0);
    assert!(spoil(&|wrong| wrong.allocation[700] = 1 - wrong.allocation[700]).0);
    assert!(spoil(&|wrong| wrong.report.reached_count -= 1).0);
}
