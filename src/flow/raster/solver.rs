//! Which tiles of a raster are to be solved next: the part of the work that solves none itself.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{self, Write as _};

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::goals;
use crate::flow::grid::goals::{GoalReport, Place};
use crate::flow::raster::borders::Borders;
use crate::flow::raster::field::RasterField;
use crate::flow::raster::friction;
use crate::flow::raster::friction::{FrictionOptions, FrictionReport};
use crate::flow::raster::options::{RasterOptions, RasterProgress, RasterReport, check};
use crate::flow::raster::plan::{on_device, plan};
use crate::flow::raster::source::{Raster, RasterWindow};
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};
use crate::flow::raster::task::{TileAnswer, TileCounts, TileTask};
use crate::flow::raster::tile::{BYTES_A_CELL, FRICTION_BYTES_A_CELL, WEIGHTED_BYTES_A_CELL};
use crate::flow::raster::tiling::{Tiling, ring};
use crate::flow::weighted::rule::MoveCosts;

/// Solves a field over a raster a tile at a time, wherever the caller has the tiles solved: on other machines, say.
/// [`solve_raster`](crate::flow::solve_raster) does it on the threads of this process.
///
/// The caller takes [`tasks`](Self::tasks), has each solved by [`TileTask::solve`] in any order and anywhere that has the raster and the store, and gives
/// each answer to [`note`](Self::note), until the solver [is done](Self::is_done). The field is the same whatever the order.
///
/// ```
/// use hullfield::flow::{MemoryRaster, MemoryTiles, RasterOptions, RasterSolver, RasterWindow};
///
/// let raster = MemoryRaster::new([4, 1], vec![1, 2, 3, 4])?;
/// let (tiles, options) = (MemoryTiles::default(), RasterOptions { tile_edge: Some(2), ..Default::default() });
/// let mut solver = RasterSolver::new(&raster, &[[0, 0].into()], &tiles, &options, 1)?;
/// while !solver.is_done() {
///     for task in solver.tasks(8) {
///         solver.note(&task.solve(&raster, &tiles)?)?;
///     }
/// }
/// let field = solver.finish(&tiles)?;
/// let distances = field.distances(RasterWindow { x: 0, y: 0, width: 4, height: 1 })?;
/// assert_eq!(distances, [0, 408, 3 * 408, 6 * 408]);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub struct RasterSolver {
    tiling: Tiling,
    /// The tiles that one process solves at once, by the memory limit.
    at_once: usize,
    moves: MoveCosts,
    friction: Option<FrictionOptions>,
    max_distance: u64,
    goals: HashMap<usize, Vec<[u32; 2]>>,
    goal_report: GoalReport,
    borders: Borders,
    /// The tiles that wait, by the least distance that may change in them.
    waiting: BTreeSet<(u64, usize)>,
    /// The distance by which a tile waits; `RASTER_UNREACHABLE` if it doesn't.
    waits_at: Vec<u64>,
    /// The tiles that are being solved. None of them is given out again before its answer is here: two would write one tile.
    given_out: HashSet<usize>,
    /// Of the tiles that have been solved.
    counts: HashMap<usize, TileCounts>,
    visit_count: usize,
    resumed_count: usize,
}

impl fmt::Debug for RasterSolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RasterSolver").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl RasterSolver {
    /// A solver of the field of some goals, which takes up what the store has of an earlier one for the same job. `thread_count` tiles at
    /// once share the memory limit.
    ///
    /// # Errors
    /// Those of [`solve_raster`](crate::flow::solve_raster).
    pub fn new(
        raster: &impl Raster,
        goals: &[Cell],
        store: &impl TileStore,
        options: &RasterOptions,
        thread_count: usize,
    ) -> Result<Self> {
        Self::within(raster, goals, store, options, thread_count, u64::MAX)
    }

    /// The same with tiles that also fit into `device_limit` bytes of a device's memory.
    pub(crate) fn within(
        raster: &dyn Raster,
        goals: &[Cell],
        store: &dyn TileStore,
        options: &RasterOptions,
        thread_count: usize,
        device_limit: u64,
    ) -> Result<Self> {
        let size = raster.size();
        check(size, options)?;
        let (edge, memory_limit) = (options.tile_edge, options.memory_limit);
        let bytes_a_cell = match options.friction {
            Some(_) => FRICTION_BYTES_A_CELL,
            None if options.moves().are_plain() => BYTES_A_CELL,
            None => WEIGHTED_BYTES_A_CELL,
        };
        let (tiling, at_once) =
            plan(size, edge, memory_limit, thread_count.max(1), bytes_a_cell, device_limit)?;
        on_device(tiling, device_limit)?;
        let (goal_cells, goal_report) = sort_out(raster, goals, options.friction.is_some())?;
        store.begin(&job(raster, tiling, options, &goal_cells))?;
        let mut goals: HashMap<usize, Vec<[u32; 2]>> = HashMap::new();
        for goal in goal_cells {
            goals.entry(tiling.tile_of(goal)).or_default().push(goal);
        }
        let mut solver = Self {
            tiling,
            at_once,
            moves: options.moves(),
            friction: options.friction,
            max_distance: match &options.friction {
                Some(friction) => friction.limit(),
                None => options.max_distance.unwrap_or(u64::MAX).min(RASTER_UNREACHABLE - 1),
            },
            goals,
            goal_report,
            borders: Borders::new(tiling),
            waiting: BTreeSet::new(),
            waits_at: vec![RASTER_UNREACHABLE; tiling.tile_count()],
            given_out: HashSet::new(),
            counts: HashMap::new(),
            visit_count: 0,
            resumed_count: 0,
        };
        solver.resume(store)?;
        Ok(solver)
    }

    /// The tiles that one process solves at once, so that the memory limit holds: as many as there are threads, or fewer.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// The tiles that go to a device at once, so that its limit of memory holds.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`] where not even one fits.
    pub(crate) fn on_device(&self, device_limit: u64) -> Result<u64> {
        on_device(self.tiling, device_limit)
    }

    /// How far the work is.
    pub fn progress(&self) -> RasterProgress {
        RasterProgress {
            tile_count: self.tiling.tile_count(),
            solved_count: self.counts.len(),
            visit_count: self.visit_count,
            waiting_count: self.waiting.len(),
        }
    }

    /// Whether no tile waits and all answers are here.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.given_out.is_empty()
    }

    /// Gives out up to `count` tiles, the nearest to goals first. There may be none while answers are missing.
    pub fn tasks(&mut self, count: usize) -> Vec<TileTask> {
        let free = self.waiting.iter().filter(|(_, number)| !self.given_out.contains(number));
        let chosen: Vec<(u64, usize)> = free.take(count).copied().collect();
        let give = |(distance, number): (u64, usize)| {
            self.waiting.remove(&(distance, number));
            self.waits_at[number] = RASTER_UNREACHABLE;
            self.given_out.insert(number);
            self.task(number)
        };
        chosen.into_iter().map(give).collect()
    }

    fn task(&self, number: usize) -> TileTask {
        let (tiling, window) = (self.tiling, self.tiling.window(number));
        let around = ring(tiling.cells(number)).chain(tiling.seen_edges(number));
        let bordering = around.map(|cell| (cell, self.borders.at(cell)));
        let goals = self.goals.get(&number).into_iter().flatten().map(|&goal| (goal, 0));
        let known = bordering.filter(|&(_, distance)| distance != RASTER_UNREACHABLE).chain(goals);
        let known =
            known.filter_map(|(cell, distance)| Some((window.index(cell)? as u32, distance))).collect();
        let Self { moves, friction, max_distance, .. } = *self;
        TileTask { tiling, number, moves, friction, max_distance, known }
    }

    /// Takes the answer of a task, and lets neighbours wait whose edges the tile has lowered.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an answer to no task that was given out.
    pub fn note(&mut self, answer: &TileAnswer) -> Result<()> {
        let tiling = self.tiling;
        let is_known = self.given_out.contains(&answer.number);
        let is_inside = |&([x, y], _): &([u32; 2], u64)| x < tiling.size[0] && y < tiling.size[1];
        if !is_known || !answer.edge.iter().chain(&answer.halo).all(is_inside) {
            return Err(Error::invalid(
                Location::Argument,
                "this is an answer to no task that was given out",
            ));
        }
        self.given_out.remove(&answer.number);
        self.visit_count += 1;
        for &(cell, distance) in &answer.edge {
            self.borders.lower(cell, distance);
        }
        self.counts.insert(answer.number, answer.counts);
        for &(cell, distance) in &answer.halo {
            if self.borders.lower(cell, distance) {
                self.wait(tiling.tile_of(cell), distance);
            }
        }
        Ok(())
    }

    /// The field, whose distances are in the store.
    ///
    /// # Errors
    /// [`Error::Invalid`] before the solver [is done](Self::is_done).
    pub fn finish<S: TileStore>(self, store: &S) -> Result<RasterField<'_, S>> {
        let (tiling, moves, friction) = (self.tiling, self.moves, self.friction);
        let (solved, report) = self.outcome()?;
        Ok(RasterField::new(store, tiling, moves, friction, solved, report))
    }

    /// The tiles that were solved, and the report.
    fn outcome(self) -> Result<(HashSet<usize>, RasterReport)> {
        if !self.is_done() {
            return Err(Error::invalid(Location::Argument, "tiles still wait, or are being solved"));
        }
        let (reached_count, farthest) = self
            .counts
            .values()
            .fold((0, 0), |(sum, most), counts| (sum + counts.reached, counts.farthest.max(most)));
        let report = RasterReport {
            goals: self.goal_report,
            reached_count,
            farthest: if self.friction.is_some() { 0 } else { farthest },
            friction: self.friction.map(|options| FrictionReport::new(&options, farthest, reached_count)),
            tile_edge: self.tiling.edge,
            tile_count: self.tiling.tile_count(),
            visit_count: self.visit_count,
            resumed_count: self.resumed_count,
        };
        Ok((self.counts.into_keys().collect(), report))
    }

    /// Takes up the tiles that the store holds already.
    fn resume(&mut self, store: &dyn TileStore) -> Result<()> {
        let tiling = self.tiling;
        let mut distances = Vec::new();
        let stored = |number: usize, distances: &mut Vec<u64>| {
            let window = tiling.window(number);
            distances.resize(window.cell_count(), RASTER_UNREACHABLE);
            store.read(tiling.tile(number), window, distances)
        };
        for number in 0..tiling.tile_count() {
            if stored(number, &mut distances)? {
                let TileAnswer { counts, edge, halo, .. } = TileAnswer::new(tiling, number, &distances);
                self.counts.insert(number, counts);
                for (cell, distance) in edge.into_iter().chain(halo) {
                    self.borders.lower(cell, distance);
                }
            }
        }
        // A stored tile may not have seen what its neighbours found in it since. What they found along their own edges needs no look: where that
        // leads to a shorter way into the tile, the neighbour, who sees the cells beyond its edge, has found it too.
        for number in 0..tiling.tile_count() {
            let window = tiling.window(number);
            let is_stored = self.counts.contains_key(&number) && stored(number, &mut distances)?;
            let seen = |cell: [u32; 2]| match window.index(cell) {
                Some(index) if is_stored => distances[index],
                _ => RASTER_UNREACHABLE,
            };
            let edge = ring(tiling.cells(number)).map(|cell| (self.borders.at(cell), seen(cell)));
            let news = edge.filter(|(known, seen)| known < seen);
            let is_first = !is_stored && self.goals.contains_key(&number);
            let least = news.map(|(known, _)| known).chain(is_first.then_some(0)).min();
            if let Some(least) = least {
                self.wait(number, least);
            }
        }
        self.resumed_count = self.counts.len();
        Ok(())
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
}

/// The goals that can be used, sorted and each once, and what became of all.
fn sort_out(raster: &dyn Raster, goals: &[Cell], has_friction: bool) -> Result<(Vec<[u32; 2]>, GoalReport)> {
    let size = raster.size();
    let (cells, report) = goals::sort_out(goals, |goal| {
        let inside = |at: i32, length: u32| u32::try_from(at).ok().filter(|&at| at < length);
        let (Some(x), Some(y), 0) = (inside(goal.x, size[0]), inside(goal.y, size[1]), goal.z) else {
            return Ok(Place::Outside);
        };
        let window = RasterWindow { x, y, width: 1, height: 1 };
        let is_blocked = if has_friction {
            let mut found = Vec::new();
            friction::read(raster, window, &mut found)?;
            found == [0.0]
        } else {
            let mut cost = [0];
            raster.read(window, &mut cost)?;
            cost == [0]
        };
        Ok(if is_blocked { Place::Blocked } else { Place::Free([y, x]) })
    })?;
    Ok((cells.into_iter().map(|[y, x]| [x, y]).collect(), report))
}

/// All that the distances in a store depend on, a line each.
fn job(raster: &dyn Raster, tiling: Tiling, options: &RasterOptions, goals: &[[u32; 2]]) -> String {
    let [width, height] = tiling.size;
    let mut goal_hash = crc32fast::Hasher::new();
    goals.iter().flatten().for_each(|at| goal_hash.update(&at.to_le_bytes()));
    let mut job = format!("raster {width} x {height} {}\n", raster.identity().replace(['\n', '\r'], " "));
    // Writing to a string does not fail.
    let _ = writeln!(job, "tiles of {}, halos of {}", tiling.edge, tiling.halo);
    let _ = writeln!(job, "neighbours {:?}", options.connectivity);
    let _ = writeln!(job, "max_distance {:?}", options.max_distance);
    let moves = options.moves();
    if let Some(friction) = &options.friction {
        let _ = writeln!(job, "cost rule {:?}, {friction:?}", moves.rule);
    } else if !moves.are_plain() {
        let _ = writeln!(job, "cost rule {:?}, {:?}", moves.rule, moves.lengths);
    }
    let _ = writeln!(job, "goals {} {:08x}", goals.len(), goal_hash.finalize());
    job
}
