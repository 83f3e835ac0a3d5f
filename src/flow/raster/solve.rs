//! Solves a field over a raster, tile by tile.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::goals;
use crate::flow::grid::goals::{GoalReport, Place};
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::borders::Borders;
use crate::flow::raster::plan::plan;
use crate::flow::raster::source::{Raster, RasterWindow};
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};
use crate::flow::raster::tile::TileArrays;
use crate::flow::raster::tiling::{Tiling, ring};
use crate::flow::weighted::rule::{CostRule, MoveCosts, StepLengths};
use crate::lock::lock;
use crate::parallel;

/// How a field over a raster is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RasterOptions {
    /// The neighbours of a cell: [`Connectivity::Four`], or [`Connectivity::Eight`], the default.
    pub connectivity: Connectivity,
    /// The most bytes that the work may take, beside what the raster and the store hold themselves. It decides the size of the tiles.
    /// `None`: what the host has free.
    pub memory_limit: Option<u64>,
    /// Cells along the edge of a tile, 1 to 32,768. `None`: the largest up to 4,096 that the memory limit allows.
    pub tile_edge: Option<u32>,
    /// The largest distance, as a whole number like all distances. Cells farther than this are left unreachable. `None`: no limit.
    pub max_distance: Option<u64>,
    /// Which cells' costs a move pays. By default [`CostRule::Entry`], as in all fields.
    pub cost_rule: CostRule,
    /// The lengths of steps, each up to 2²⁴. `None`: those of [`Connectivity`].
    pub step_lengths: Option<StepLengths>,
}

impl RasterOptions {
    /// The moves, and what they cost.
    fn moves(&self) -> MoveCosts {
        let lengths = self.step_lengths.unwrap_or_else(|| StepLengths::of(self.connectivity));
        MoveCosts { connectivity: self.connectivity, rule: self.cost_rule, lengths }
    }
}

/// How far the work is. No count ever falls but that of the tiles that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RasterProgress {
    /// Tiles of the raster.
    pub tile_count: usize,
    /// Tiles that have been solved at least once.
    pub solved_count: usize,
    /// Tiles solved so far, each as often as it was.
    pub visit_count: usize,
    /// Tiles that wait to be solved, for the first time or again.
    pub waiting_count: usize,
}

/// What was solved, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RasterReport {
    /// Which goals were used, and which were left out.
    pub goals: GoalReport,
    /// Cells from which a goal is reached, goals included.
    pub reached_count: u64,
    /// The largest distance of a reached cell.
    pub farthest: u64,
    /// Cells along the edge of a tile.
    pub tile_edge: u32,
    /// Tiles of the raster.
    pub tile_count: usize,
    /// Tiles solved by this call, each as often as it was.
    pub visit_count: usize,
    /// Tiles that an earlier call for the same job had left in the store.
    pub resumed_count: usize,
}

/// A solved field over a raster, whose distances are in a store.
pub struct RasterField<'a, S> {
    store: &'a S,
    tiling: Tiling,
    /// The tiles that the store has.
    solved: HashSet<usize>,
    report: RasterReport,
    /// The distances of the tile that was last read: memory for the next.
    spare: Mutex<Vec<u64>>,
}

impl<S> fmt::Debug for RasterField<'_, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RasterField").field("report", &self.report).finish_non_exhaustive()
    }
}

impl<S: TileStore> RasterField<'_, S> {
    /// What was solved, and how.
    pub fn report(&self) -> &RasterReport {
        &self.report
    }

    /// The windows of the tiles, in the order of their rows: read in this order each tile is read once.
    pub fn windows(&self) -> impl Iterator<Item = RasterWindow> {
        let tiling = self.tiling;
        (0..tiling.tile_count()).map(move |number| tiling.cells(number))
    }

    /// The distances of a window, row-major, in the units of [`Connectivity`]; `u64::MAX` for obstacles and where no goal is reached.
    ///
    /// Reads all tiles that the window meets.
    ///
    /// # Errors
    /// [`Error::Value`] for a window that is empty or not in the raster; what the store gives; [`Error::Io`] where a tile
    /// was lost since.
    pub fn distances(&self, window: RasterWindow) -> Result<Vec<u64>> {
        self.check(window)?;
        let mut distances = vec![RASTER_UNREACHABLE; window.cell_count()];
        self.read(window, &mut distances)?;
        Ok(distances)
    }

    /// Writes the distances of a window to `distances`, which has one entry for each of its cells: [`Self::distances`] without new memory.
    ///
    /// # Errors
    /// Those of [`Self::distances`]; [`Error::Count`] where `distances` has another length.
    pub fn read(&self, window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        self.check(window)?;
        if distances.len() != window.cell_count() {
            let allowed = format!("the window has {} cells", window.cell_count());
            let given = distances.len() as u64;
            return Err(Error::Count { at: Location::Argument, what: "distances", given, allowed });
        }
        distances.fill(RASTER_UNREACHABLE);
        let [first, last] =
            [[window.x, window.y], [window.x + window.width - 1, window.y + window.height - 1]]
                .map(|cell| cell.map(|at| at / self.tiling.edge));
        for tile in (first[1]..=last[1]).flat_map(|y| (first[0]..=last[0]).map(move |x| [x, y])) {
            self.read_part(tile, window, distances)?;
        }
        Ok(())
    }

    fn check(&self, window: RasterWindow) -> Result<()> {
        let [width, height] = self.tiling.size;
        let ends = |start: u32, length: u32, most: u32| {
            length > 0 && start.checked_add(length).is_some_and(|end| end <= most)
        };
        if ends(window.x, window.width, width) && ends(window.y, window.height, height) {
            return Ok(());
        }
        let allowed = format!("it must have cells, all in the raster of {width} x {height}");
        Err(Error::value(Location::Argument, "window", format!("{window:?}"), allowed))
    }

    /// Reads what a tile has of a window.
    fn read_part(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        let number = self.tiling.number(tile);
        let (cells, stored) = (self.tiling.cells(number), self.tiling.window(number));
        if !self.solved.contains(&number) {
            // No cell of it is reached.
            return Ok(());
        }
        let mut tile_distances = std::mem::take(&mut *lock(&self.spare));
        tile_distances.resize(stored.cell_count(), RASTER_UNREACHABLE);
        if !self.store.read(tile, stored, &mut tile_distances)? {
            let [x, y] = tile;
            let message = "it was solved, but the store has lost or damaged it since: solve again".to_owned();
            return Err(Error::Io { what: format!("tile {x}, {y} of the field"), message });
        }
        let columns = cells.x.max(window.x)..(cells.x + cells.width).min(window.x + window.width);
        for y in cells.y.max(window.y)..(cells.y + cells.height).min(window.y + window.height) {
            let start = [columns.start, y];
            if let (Some(from), Some(to)) = (stored.index(start), window.index(start)) {
                distances[to..to + columns.len()]
                    .copy_from_slice(&tile_distances[from..from + columns.len()]);
            }
        }
        *lock(&self.spare) = tile_distances;
        Ok(())
    }
}

/// Solves the field of some goals over a raster that need not fit into memory.
///
/// The distance of a cell is that of [`Flow::solve`](crate::flow::Flow::solve): the least sum of steps to a goal, each times the cost of the cell
/// entered; here in 64 bits. The field is equal bit for bit to that of one piece, whatever the tiles, the memory limit and the number of threads.
///
/// `on_progress` is called after each round of tiles, and may end the work.
///
/// # Method
/// Tiles wait by the least distance that may change in them. In each round as many as there are threads are read with their halos, relaxed
/// until no move lowers a distance, and written. A neighbour waits again only if a distance along its edge was lowered. Source: the fast iterative
/// method (Jeong and Whitaker 2008), on tiles.
///
/// # Going on after an end
/// What the store holds of an earlier call for the same job is taken up. Each tile is a checkpoint of its own: nothing but the tiles that were
/// being solved is lost, whatever ended the call.
///
/// # Cost
/// A tile is read and written once for each time that a shorter way enters it: over open terrain about once, in mazes more often. Memory: 32 bytes for each cell of a tile, a
/// tile for each thread (fewer tiles at once where the limit asks for it), and 32 bytes for each row of each tile.
///
/// # Errors
/// [`Error::Value`] for a raster without cells, one larger than 2³¹ − 1 along an axis, a connectivity of three dimensions, or an edge of tiles
/// outside its range; [`Error::MemoryLimit`] where the smallest tiles don't fit; [`Error::NoGoals`]; [`Error::Invalid`] at a cell whose distance does not fit
/// in 64 bits; [`Error::Cancelled`] where `on_progress` said so; what the raster and the store give.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{Connectivity, MemoryRaster, MemoryTiles, RasterOptions, RasterWindow, solve_raster};
///
/// // A wall in the middle, and a costly cell below it.
/// let raster = MemoryRaster::new([3, 2], vec![1, 0, 1, 1, 7, 1])?;
/// let options = RasterOptions { connectivity: Connectivity::Four, ..Default::default() };
/// let tiles = MemoryTiles::default();
/// let field = solve_raster(&raster, &[[2, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
/// let all = RasterWindow { x: 0, y: 0, width: 3, height: 2 };
/// assert_eq!(field.distances(all)?, [10, u64::MAX, 0, 9, 2, 1]);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn solve_raster<'a, S: TileStore>(
    raster: &impl Raster,
    goals: &[Cell],
    store: &'a S,
    options: &RasterOptions,
    mut on_progress: impl FnMut(RasterProgress) -> ControlFlow<()>,
) -> Result<RasterField<'a, S>> {
    let size = raster.size();
    check(size, options)?;
    let thread_count = parallel::in_pool(parallel::thread_count);
    let (tiling, at_once) = plan(size, options.tile_edge, options.memory_limit, thread_count)?;
    let (goal_cells, goals) = sort_out(raster, goals)?;
    store.begin(&job(raster, tiling, options, &goal_cells))?;
    let mut solver = Solver::new(raster, store, tiling, options, &goal_cells);
    let resumed_count = solver.resume()?;
    loop {
        let progress = RasterProgress {
            tile_count: tiling.tile_count(),
            solved_count: solver.counts.len(),
            visit_count: solver.visit_count,
            waiting_count: solver.waiting.len(),
        };
        if on_progress(progress).is_break() {
            return Err(Error::Cancelled);
        }
        if !solver.advance(at_once)? {
            break;
        }
    }
    let (reached_count, farthest) = solver
        .counts
        .values()
        .fold((0, 0), |(sum, most), counts| (sum + counts.reached, counts.farthest.max(most)));
    let report = RasterReport {
        goals,
        reached_count,
        farthest,
        tile_edge: tiling.edge,
        tile_count: tiling.tile_count(),
        visit_count: solver.visit_count,
        resumed_count,
    };
    let solved = solver.counts.into_keys().collect();
    Ok(RasterField { store, tiling, solved, report, spare: Mutex::default() })
}

fn check(size: [u32; 2], options: &RasterOptions) -> Result<()> {
    let refuse =
        |field, value: String, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
    if size.iter().any(|length| !(1..=i32::MAX as u32).contains(length)) {
        return refuse("size", format!("{size:?}"), "a raster has 1 to 2,147,483,647 cells along each axis");
    }
    if options.connectivity.dimension() != 2 {
        return refuse(
            "connectivity",
            format!("{:?}", options.connectivity),
            "a raster has two dimensions: Four or Eight",
        );
    }
    options.step_lengths.map_or(Ok(()), StepLengths::check)
}

/// The goals that can be used, sorted and each once, and what became of all.
fn sort_out(raster: &impl Raster, goals: &[Cell]) -> Result<(Vec<[u32; 2]>, GoalReport)> {
    let size = raster.size();
    let (cells, report) = goals::sort_out(goals, |goal| {
        let inside = |at: i32, length: u32| u32::try_from(at).ok().filter(|&at| at < length);
        let (Some(x), Some(y), 0) = (inside(goal.x, size[0]), inside(goal.y, size[1]), goal.z) else {
            return Ok(Place::Outside);
        };
        let mut cost = [0];
        raster.read(RasterWindow { x, y, width: 1, height: 1 }, &mut cost)?;
        Ok(if cost == [0] { Place::Blocked } else { Place::Free([y, x]) })
    })?;
    Ok((cells.into_iter().map(|[y, x]| [x, y]).collect(), report))
}

/// All that the distances in a store depend on, a line each.
fn job(raster: &impl Raster, tiling: Tiling, options: &RasterOptions, goals: &[[u32; 2]]) -> String {
    let [width, height] = tiling.size;
    let mut goal_hash = crc32fast::Hasher::new();
    goals.iter().flatten().for_each(|at| goal_hash.update(&at.to_le_bytes()));
    let mut job = format!("raster {width} x {height} {}\n", raster.identity().replace(['\n', '\r'], " "));
    // Writing to a string does not fail.
    let _ = writeln!(job, "tiles of {}, halos of {}", tiling.edge, tiling.halo);
    let _ = writeln!(job, "neighbours {:?}", options.connectivity);
    let _ = writeln!(job, "max_distance {:?}", options.max_distance);
    let MoveCosts { rule, lengths, .. } = options.moves();
    if (rule, lengths) != (CostRule::Entry, StepLengths::of(options.connectivity)) {
        let _ = writeln!(job, "cost rule {rule:?}, {lengths:?}");
    }
    let _ = writeln!(job, "goals {} {:08x}", goals.len(), goal_hash.finalize());
    job
}

/// What is known of the cells of a tile.
#[derive(Debug, Clone, Copy)]
struct TileCounts {
    reached: u64,
    farthest: u64,
}

/// A solved tile: what it tells the others.
struct Visit {
    number: usize,
    counts: TileCounts,
    /// The distances along the edge of the tile, and those along edges of others in its halo.
    edge: Vec<([u32; 2], u64)>,
    halo: Vec<([u32; 2], u64)>,
}

struct Solver<'a, R, S> {
    raster: &'a R,
    store: &'a S,
    tiling: Tiling,
    moves: MoveCosts,
    max_distance: u64,
    goals: HashMap<usize, Vec<[u32; 2]>>,
    borders: Borders,
    /// The tiles that wait, by the least distance that may change in them.
    waiting: BTreeSet<(u64, usize)>,
    /// The distance by which a tile waits; `RASTER_UNREACHABLE` if it doesn't.
    waits_at: Vec<u64>,
    /// Of the tiles that have been solved.
    counts: HashMap<usize, TileCounts>,
    visit_count: usize,
    /// The arrays of the tiles that are not being solved: as many as are solved at once.
    spare: Mutex<Vec<TileArrays>>,
}

impl<'a, R: Raster, S: TileStore> Solver<'a, R, S> {
    fn new(raster: &'a R, store: &'a S, tiling: Tiling, options: &RasterOptions, goals: &[[u32; 2]]) -> Self {
        let mut by_tile: HashMap<usize, Vec<[u32; 2]>> = HashMap::new();
        for &goal in goals {
            by_tile.entry(tiling.tile_of(goal)).or_default().push(goal);
        }
        Self {
            raster,
            store,
            tiling,
            moves: options.moves(),
            max_distance: options.max_distance.unwrap_or(u64::MAX).min(RASTER_UNREACHABLE - 1),
            goals: by_tile,
            borders: Borders::new(tiling),
            waiting: BTreeSet::new(),
            waits_at: vec![RASTER_UNREACHABLE; tiling.tile_count()],
            counts: HashMap::new(),
            visit_count: 0,
            spare: Mutex::default(),
        }
    }

    /// Takes up the tiles that the store holds already, and returns their number.
    fn resume(&mut self) -> Result<usize> {
        let (store, tiling) = (self.store, self.tiling);
        let mut distances = Vec::new();
        let stored = |number: usize, distances: &mut Vec<u64>| {
            let window = tiling.window(number);
            distances.resize(window.cell_count(), RASTER_UNREACHABLE);
            store.read(tiling.tile(number), window, distances)
        };
        for number in 0..tiling.tile_count() {
            if stored(number, &mut distances)? {
                let Visit { counts, edge, halo, .. } = Visit::new(tiling, number, &distances);
                self.counts.insert(number, counts);
                for (cell, distance) in edge.into_iter().chain(halo) {
                    self.borders.lower(cell, distance);
                }
            }
        }
        // A stored tile may not have seen what its neighbours found since, or what they found in it.
        for number in 0..tiling.tile_count() {
            let window = tiling.window(number);
            let is_stored = self.counts.contains_key(&number) && stored(number, &mut distances)?;
            let seen = |cell: [u32; 2]| match window.index(cell) {
                Some(index) if is_stored => distances[index],
                _ => RASTER_UNREACHABLE,
            };
            let around = ring(tiling.cells(number)).chain(tiling.seen_edges(number));
            let news =
                around.map(|cell| (self.borders.at(cell), seen(cell))).filter(|(known, seen)| known < seen);
            let is_first = !is_stored && self.goals.contains_key(&number);
            let least = news.map(|(known, _)| known).chain(is_first.then_some(0)).min();
            if let Some(least) = least {
                self.wait(number, least);
            }
        }
        Ok(self.counts.len())
    }

    /// Lets a tile wait, unless it does already by a distance that is no larger.
    fn wait(&mut self, number: usize, distance: u64) {
        let waits_at = &mut self.waits_at[number];
        if distance < *waits_at {
            self.waiting.remove(&(*waits_at, number));
            *waits_at = distance;
            self.waiting.insert((distance, number));
        }
    }

    /// Solves the nearest tiles that wait, up to `count` at once. Returns false if none does.
    fn advance(&mut self, count: usize) -> Result<bool> {
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count
            && let Some((_, number)) = self.waiting.pop_first()
        {
            self.waits_at[number] = RASTER_UNREACHABLE;
            numbers.push(number);
        }
        if numbers.is_empty() {
            return Ok(false);
        }
        let visits = parallel::map(&numbers, |&number| self.visit(number));
        let visits: Vec<Visit> = visits.into_iter().collect::<Result<_>>()?;
        self.visit_count += visits.len();
        visits.iter().for_each(|visit| self.note(visit));
        Ok(true)
    }

    /// Reads a tile, solves it and writes it.
    fn visit(&self, number: usize) -> Result<Visit> {
        let mut arrays = lock(&self.spare).pop().unwrap_or_default();
        let visit = self.visit_in(number, &mut arrays);
        lock(&self.spare).push(arrays);
        visit
    }

    fn visit_in(&self, number: usize, arrays: &mut TileArrays) -> Result<Visit> {
        let (tiling, tile) = (self.tiling, self.tiling.tile(number));
        let (cells, window) = (tiling.cells(number), tiling.window(number));
        arrays.grid.costs.clear();
        arrays.grid.costs.resize(window.cell_count(), 0);
        self.raster.read(window, &mut arrays.grid.costs)?;
        let TileArrays { distances, seeds, .. } = &mut *arrays;
        distances.clear();
        distances.resize(window.cell_count(), RASTER_UNREACHABLE);
        let is_solved = self.store.read(tile, window, distances)?;
        seeds.clear();
        let mut lower = |cell: [u32; 2], distance: u64| {
            if let Some(index) = window.index(cell)
                && distance < distances[index]
            {
                distances[index] = distance;
                seeds.push(index as u32);
            }
        };
        for cell in ring(cells).chain(tiling.seen_edges(number)) {
            lower(cell, self.borders.at(cell));
        }
        if !is_solved && let Some(goals) = self.goals.get(&number) {
            goals.iter().for_each(|&goal| lower(goal, 0));
        }
        arrays.solve(window, &self.moves, self.max_distance)?;
        self.store.write(tile, window, &arrays.distances)?;
        Ok(Visit::new(tiling, number, &arrays.distances))
    }

    /// Takes over what a tile tells, and lets neighbours wait whose edges it has lowered.
    fn note(&mut self, visit: &Visit) {
        for &(cell, distance) in &visit.edge {
            self.borders.lower(cell, distance);
        }
        self.counts.insert(visit.number, visit.counts);
        for &(cell, distance) in &visit.halo {
            if self.borders.lower(cell, distance) {
                self.wait(self.tiling.tile_of(cell), distance);
            }
        }
    }
}

impl Visit {
    /// What a solved tile tells the others, from the distances of its window.
    fn new(tiling: Tiling, number: usize, distances: &[u64]) -> Self {
        let (cells, window) = (tiling.cells(number), tiling.window(number));
        let reached = |cell: [u32; 2]| {
            let distance = distances[window.index(cell)?];
            (distance != RASTER_UNREACHABLE).then_some((cell, distance))
        };
        let mut counts = TileCounts { reached: 0, farthest: 0 };
        for y in cells.y..cells.y + cells.height {
            let Some(start) = window.index([cells.x, y]) else { continue };
            for &distance in &distances[start..start + cells.width as usize] {
                if distance != RASTER_UNREACHABLE {
                    counts.reached += 1;
                    counts.farthest = counts.farthest.max(distance);
                }
            }
        }
        let edge = ring(cells).filter_map(reached).collect();
        let halo = tiling.seen_edges(number).filter_map(reached).collect();
        Self { number, counts, edge, halo }
    }
}
