//! Solves cost distances.

use std::ops::ControlFlow;

use crate::account::available_bytes;
use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};
use crate::flow::cost_distance::friction;
use crate::flow::cost_distance::friction::{FrictionCounts, FrictionSlice, FrictionValue};
use crate::flow::cost_distance::options::{CostDistanceOptions, CostDistanceProgress};
use crate::flow::cost_distance::scale::{FrictionScale, check_moves};
use crate::flow::cost_distance::scaling::Scaling;
use crate::flow::cost_distance::slope_scale;
use crate::flow::cost_distance::slope_scale::SlopeScale;
use crate::flow::cost_distance::solved::{CostDistance, CostDistanceReport, NO_TARGET};
use crate::flow::grid::cells::check_size;
use crate::flow::grid::goals;
use crate::flow::grid::goals::{GoalReport, Place};
use crate::flow::grid::moves::Connectivity;
use crate::flow::weighted::codes;
use crate::flow::weighted::slope::FactorTable;
use crate::flow::weighted::tiles::{State, Tiles};
use crate::flow::weighted::window::{EDGE, FAR, Row, TileCells};
use crate::parallel;

/// Bytes a cell while it works: distances (8), and costs in the windows of tiles (5).
const WORK_BYTES_A_CELL: u64 = 13;
/// The tiles after which progress is told.
const PROGRESS_INTERVAL: u64 = 1 << 11;
/// Tiles that one thread takes at a time in a pass over all of them.
const PASS_TILES: usize = 1 << 10;

/// The least cost of a path from each cell of a raster to the nearest of some targets.
///
/// `friction` is what a move costs for each unit of length, row-major, one value for each of `size` columns × rows. A cell whose friction is not a number, infinite, 0
/// or negative is a barrier. A move costs its length times the mean friction of both its cells, or that of one of them ([`CostRule`](crate::flow::CostRule)).
/// (GRASS's `r.cost` takes 0 for free cells; here, as in xarray-spatial, it is a barrier. The report counts both kinds.) Over ground with
/// heights the length is that over the ground, times a factor for the slope ([`Slope`](crate::flow::Slope)).
///
/// `on_progress` is called every few thousand tiles, and may end the work.
///
/// # Accuracy
/// Friction is scaled to whole numbers ([`FrictionScale`]), and distances are whole numbers below 2⁶⁰. So the result is equal bit for bit for any number of threads, and
/// equal to that of [`solve_raster`](crate::flow::solve_raster) with [`FrictionScale::raster_options`].
/// The report says by how much the cost of any path may be off, relative to itself: about 1e-9 for friction in f32 whose
/// largest value is up to 64 times the least, no more than 1e-6 over three decades of friction, and 1e-3 over six. Where a distance outgrows 2⁶⁰
/// (in a maze over many decades of friction) the field is solved again with coarser costs; the report says so.
///
/// # Method
/// Tiles of 16 × 16 cells are relaxed until no move lowers a distance, the nearest first, on all cores. Source: the fast iterative
/// method (Jeong and Whitaker 2008), on tiles.
///
/// # Cost
/// Memory: 13 bytes a cell while it works, beside what is returned: 4 bytes a cell for distances, 4 for the allocation, 1 for the
/// next cells.
///
/// # Errors
/// [`Error::Count`] unless `friction` has a value for each cell; [`Error::Value`] for a size with a 0, for an option outside its range, and for a connectivity of three dimensions;
/// [`Error::TooMany`] for 2³² − 1 cells or more; [`Error::MemoryLimit`] where the host has too little memory free (for a larger raster there is
/// [`solve_raster`](crate::flow::solve_raster)); [`Error::NoGoals`] where every target is on a barrier or outside;
/// [`Error::Cancelled`] where `on_progress` said so.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{CostDistanceOptions, cost_distance};
///
/// // A barrier in the middle of the upper row, and a costly cell below it. Cells are 10 m wide.
/// let friction = [1.0_f32, f32::NAN, 1.0, 1.0, 3.0, 1.0];
/// let options = CostDistanceOptions { cell_size: [10.0, 10.0], next: true, ..Default::default() };
/// let solved = cost_distance([3, 2], &friction, &[[2, 0].into()], &options, |_| ControlFlow::Continue(()))?;
/// assert_eq!(solved.distances, [56.568_542, f32::INFINITY, 0.0, 48.284_27, 28.284_271, 10.0]);
/// assert_eq!(solved.path([0, 0].into())?.len(), 3);
/// assert!(solved.report.error_bound < 1e-8);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn cost_distance<F: FrictionValue>(
    size: [u32; 2],
    friction: &[F],
    targets: &[Cell],
    options: &CostDistanceOptions,
    mut on_progress: impl FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    match F::slice(friction) {
        FrictionSlice::Single(friction) => {
            cost_distance_of(size, friction, targets, options, &mut on_progress)
        }
        FrictionSlice::Double(friction) => {
            cost_distance_of(size, friction, targets, options, &mut on_progress)
        }
    }
}

fn cost_distance_of<F: FrictionValue>(
    size: [u32; 2],
    friction: &[F],
    targets: &[Cell],
    options: &CostDistanceOptions,
    on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    check(size, friction.len(), options)?;
    check_memory(friction, options)?;
    match &options.slope {
        Some(slope) => {
            slope_scale::check(slope, options.cell_size, friction.len())?;
            solve(size, &friction::on_ground(friction, &slope.elevation), targets, options, on_progress)
        }
        None => solve(size, friction, targets, options, on_progress),
    }
}

/// The same where barriers are barriers by their friction alone.
fn solve<F: FrictionValue>(
    size: [u32; 2],
    friction: &[F],
    targets: &[Cell],
    options: &CostDistanceOptions,
    on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    let size = size.map(|length| length as usize);
    let counts = FrictionCounts::new(friction);
    let (sources, targets) = sort_out(size, friction, targets)?;
    let CostDistanceOptions { connectivity, cost_rule, cell_size, .. } = *options;
    let table = options.slope.as_ref().map(|slope| FactorTable::new(&slope.factors));
    let scaling = match options.slope.as_ref().zip(table.as_ref()) {
        Some((slope, table)) => {
            Scaling::Slope(SlopeScale::new(size, friction, &counts, options, slope, table))
        }
        None => {
            let range = [counts.min, counts.max];
            Scaling::Flat(FrictionScale::new(range, connectivity, cost_rule, cell_size)?)
        }
    };
    let job = Job { size, friction, counts, sources, targets, options };
    if let Some(solved) = job.solve(scaling, 1, on_progress)? {
        return Ok(solved);
    }
    let solved = job.solve(scaling.coarser(&counts, friction.len()), 2, on_progress)?;
    solved.ok_or_else(|| {
        Error::internal("flow::cost_distance::solve", "coarse weights were too large".to_owned())
    })
}

fn check(size: [u32; 2], friction_count: usize, options: &CostDistanceOptions) -> Result<()> {
    let CostDistanceOptions { connectivity, cell_size, max_distance, .. } = *options;
    check_moves(connectivity, cell_size)?;
    check_size([size[0], size[1], 1], connectivity)?;
    let cell_count = u64::from(size[0]) * u64::from(size[1]);
    if friction_count as u64 != cell_count {
        let allowed = format!("the raster has {cell_count} cells");
        let (what, given) = ("values of friction", friction_count as u64);
        return Err(Error::Count { at: Location::Argument, what, given, allowed });
    }
    if let Some(distance) = max_distance.filter(|&distance| !(distance >= 0.0)) {
        let allowed = "it must be 0 or more";
        return Err(Error::value(Location::Argument, "max_distance", shown(distance), allowed));
    }
    Ok(())
}

/// Refuses work for which the host has too little memory.
fn check_memory<F>(friction: &[F], options: &CostDistanceOptions) -> Result<()> {
    let CostDistanceOptions { distances, allocation, next, slope, .. } = options;
    let of_array = |is_made: bool, bytes: u64| if is_made { bytes } else { 0 };
    let bytes_a_cell = WORK_BYTES_A_CELL
        + of_array(*distances, 4)
        + of_array(*next || *allocation, 1)
        + of_array(slope.is_some(), size_of::<F>() as u64);
    let (needed_bytes, limit_bytes) = (friction.len() as u64 * bytes_a_cell, available_bytes());
    if needed_bytes > limit_bytes {
        return Err(Error::MemoryLimit { what: "a cost distance", needed_bytes, limit_bytes });
    }
    Ok(())
}

/// The cells of the targets that can be used, each with the number of its target, and what became of all. Of several targets in one cell the first comes
/// last.
fn sort_out<F: FrictionValue>(
    [width, height]: [usize; 2],
    friction: &[F],
    targets: &[Cell],
) -> Result<(Vec<(usize, u32)>, GoalReport)> {
    let index = |cell: Cell| {
        let inside = |at: i32, length: usize| usize::try_from(at).ok().filter(|&at| at < length);
        (cell.z == 0).then_some(inside(cell.y, height)? * width + inside(cell.x, width)?)
    };
    let place = |cell: Cell| {
        Ok(index(cell).map_or(Place::Outside, |index| {
            let friction: f64 = friction[index].into();
            if friction::is_free(friction) { Place::Free(index) } else { Place::Blocked }
        }))
    };
    let (cells, report) = goals::sort_out(targets, place)?;
    let used = |cell: Cell| index(cell).filter(|index| cells.binary_search(index).is_ok());
    let numbered = targets.iter().enumerate().rev();
    Ok((numbered.filter_map(|(number, &cell)| Some((used(cell)?, number as u32))).collect(), report))
}

/// What is to be solved.
struct Job<'a, F> {
    size: [usize; 2],
    friction: &'a [F],
    counts: FrictionCounts,
    /// Cells of targets, with the numbers of their targets.
    sources: Vec<(usize, u32)>,
    targets: GoalReport,
    options: &'a CostDistanceOptions,
}

impl<F: FrictionValue> Job<'_, F> {
    /// Solves the field; `None` if a distance outgrows 2⁶⁰.
    fn solve(
        &self,
        scaling: Scaling<'_>,
        solve_count: u32,
        on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
    ) -> Result<Option<CostDistance>> {
        let Self { size, friction, counts, .. } = *self;
        let width = size[0];
        let (costs, rounding) = scaling.costs(size, friction);
        let unit = scaling.unit();
        // The factor allows for the rounding of a quotient that is a whole number.
        let whole = |distance: f64| (distance / unit * (1.0 + 8.0 * f64::EPSILON)) as i64;
        let max_distance = self.options.max_distance.map_or(FAR, whole).min(FAR - 1);
        let weighing = scaling.weighing();
        let mut tiles = Tiles::new(&costs, &weighing, scaling.typical_weight(counts.typical()));
        tiles.add_seeds(self.sources.iter().map(|&(cell, _)| ([cell % width, cell / width], 0)));
        loop {
            let state = tiles.run(PROGRESS_INTERVAL, max_distance);
            let progress = CostDistanceProgress {
                tile_count: tiles.distances.len() as u64,
                solved_count: tiles.solved_count,
                visit_count: tiles.visit_count,
            };
            if on_progress(progress).is_break() {
                return Err(Error::Cancelled);
            }
            if state == State::Done {
                break;
            }
        }
        let (reached_count, farthest) = reached(&tiles, max_distance);
        // One step from any nearer cell stays below `FAR`.
        if farthest >= FAR - scaling.longest_weight(counts.max) as i64 {
            return Ok(None);
        }
        let CostDistanceOptions { connectivity, distances, allocation, next, .. } = *self.options;
        let distances = if distances { rounded(&tiles, max_distance, unit) } else { Vec::new() };
        let mut next_codes = Vec::new();
        if next || allocation {
            next_codes = codes::next(&tiles, max_distance);
        }
        let visit_count = tiles.visit_count;
        drop(tiles);
        drop(costs);
        let allocation = if allocation {
            codes::sources(
                &next_codes,
                &strides(connectivity, width),
                self.sources.iter().copied(),
                NO_TARGET,
            )
        } else {
            Vec::new()
        };
        if !next {
            next_codes = Vec::new();
        }
        let report = CostDistanceReport {
            targets: self.targets.clone(),
            reached_count,
            farthest: farthest as f64 * unit,
            not_finite_count: counts.not_finite,
            not_positive_count: counts.not_positive,
            scale: if let Scaling::Flat(scale) = scaling { Some(scale) } else { None },
            unit,
            error_bound: scaling.bound(rounding),
            distance_bits: i64::BITS,
            solve_count,
            visit_count,
        };
        let size = size.map(|length| length as u32);
        Ok(Some(CostDistance { size, connectivity, distances, allocation, next: next_codes, report }))
    }
}

/// The number of cells that are reached within a distance, and the largest of their distances.
fn reached(tiles: &Tiles<'_>, max_distance: i64) -> (u64, i64) {
    let parts = parallel::map_chunks(&tiles.distances, PASS_TILES, |tiles| {
        tiles.iter().fold((0, 0), |(count, farthest), cells| {
            let (added, largest) = reached_in(cells, max_distance);
            (count + added, farthest.max(largest))
        })
    });
    parts.into_iter().fold((0, 0), |(sum, most), (count, farthest)| (sum + count, most.max(farthest)))
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn reached_in(cells: &TileCells, max_distance: i64) -> (u64, i64) {
    let (mut count, mut farthest) = (0, 0);
    for row in cells {
        for &distance in row {
            let is_reached = distance <= max_distance;
            count += u64::from(is_reached);
            farthest = farthest.max(if is_reached { distance } else { 0 });
        }
    }
    (count, farthest)
}

/// The distances in units, row-major; infinite beyond `max_distance`.
fn rounded(tiles: &Tiles<'_>, max_distance: i64, unit: f64) -> Vec<f32> {
    let [width, height] = tiles.costs.size;
    let across = tiles.costs.tile_counts[0];
    let mut distances = vec![0.0; width * height];
    parallel::for_each_chunk(&mut distances, width * EDGE, |(tile_y, distances)| {
        let tiles = &tiles.distances[tile_y * across..(tile_y + 1) * across];
        for (row, distances) in distances.chunks_mut(width).enumerate() {
            for (distances, tile) in distances.chunks_mut(EDGE).zip(tiles) {
                round_row(&tile[row], max_distance, unit, distances);
            }
        }
    });
    distances
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn round_row(row: &Row, max_distance: i64, unit: f64, distances: &mut [f32]) {
    for (distance, &whole) in distances.iter_mut().zip(row) {
        *distance = if whole <= max_distance { (whole as f64 * unit) as f32 } else { f32::INFINITY };
    }
}

/// What each move adds to the index of a cell.
fn strides(connectivity: Connectivity, width: usize) -> [isize; 8] {
    let mut strides = [0; 8];
    for (stride, &[x, y, _]) in strides.iter_mut().zip(connectivity.offsets()) {
        *stride = y as isize * width as isize + x as isize;
    }
    strides
}
