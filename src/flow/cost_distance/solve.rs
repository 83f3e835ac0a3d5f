//! Solves cost distances.

use std::ops::ControlFlow;

use crate::account::available_bytes;
use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};
use crate::flow::cost_distance::friction;
use crate::flow::cost_distance::friction::{FrictionCounts, FrictionSlice, FrictionValue};
use crate::flow::cost_distance::options::{CostDistanceOptions, CostDistanceProgress};
use crate::flow::cost_distance::slope;
use crate::flow::cost_distance::solved::{CostDistance, CostDistanceReport, NO_TARGET};
use crate::flow::grid::cells::check_size;
use crate::flow::grid::goals;
use crate::flow::grid::goals::{GoalReport, Place};
use crate::flow::grid::moves::Connectivity;
use crate::flow::weighted::codes;
use crate::flow::weighted::costs::TileCosts;
use crate::flow::weighted::distance::Cost;
use crate::flow::weighted::lengths::{Lengths, check_moves};
use crate::flow::weighted::slope::{FactorTable, SlopeWeights};
use crate::flow::weighted::tiles::{State, Tiles};
use crate::flow::weighted::weights::{FlatWeights, TileWeights};
use crate::flow::weighted::window::{EDGE, TileCells};
use crate::parallel;

/// Bytes a cell for distances while it works.
const DISTANCE_BYTES: u64 = 8;
/// Relative errors of one rounding to f64.
const ROUNDING: f64 = f64::EPSILON / 2.0;
/// Roundings in the weight of a move: of its length and its factor, and of their products with friction.
const WEIGHT_ROUNDINGS: f64 = 16.0;
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
/// Distances are added up in f64, whatever the range of friction: one cell of 1e30 changes nothing elsewhere. Each is the least of the sums along all paths, rounded at each
/// step from the target outward, so the result is equal bit for bit for any number of threads. It differs from the least cost by no more than the report's `error_bound`,
/// relative to itself (1e-16 for each step of a path), and by the rounding to f32 (6e-8). Lengths on a globe ([`Geographic`](crate::flow::Geographic)) add 1e-9.
///
/// # Method
/// Tiles of 16 × 16 cells are relaxed until no move lowers a distance, the nearest first, on all cores. Source: the fast iterative
/// method (Jeong and Whitaker 2008), on tiles.
///
/// # Cost
/// Memory: 14 bytes a cell while it works (19 for friction in f64), beside what is returned: 4 bytes a cell for distances, 4 for the allocation, 1 for the
/// next cells.
///
/// # Errors
/// [`Error::Count`] unless `friction` has a value for each cell; [`Error::Value`] for a size with a 0, for an option outside its range, for a connectivity of three dimensions, and
/// for friction in f64 whose largest value is over 1e559 times the least;
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
/// assert!(solved.report.error_bound < 1e-14);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn cost_distance<F: FrictionValue>(
    size: [u32; 2],
    friction: &[F],
    targets: &[Cell],
    options: &CostDistanceOptions,
    mut on_progress: impl FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    cost_distance_inner(size, F::slice(friction), targets, options, &mut on_progress)
}

fn cost_distance_inner(
    size: [u32; 2],
    friction: FrictionSlice<'_>,
    targets: &[Cell],
    options: &CostDistanceOptions,
    on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    match friction {
        FrictionSlice::Single(friction) => cost_distance_of(size, friction, targets, options, on_progress),
        FrictionSlice::Double(friction) => cost_distance_of(size, friction, targets, options, on_progress),
    }
}

fn cost_distance_of<F: FrictionValue + Cost<f64>>(
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
            let sizes = options.geographic.map_or(options.cell_size, |_| [1.0; 2]);
            slope::check(slope, sizes, friction.len())?;
            solve(size, &friction::on_ground(friction, &slope.elevation), targets, options, on_progress)
        }
        None => solve(size, friction, targets, options, on_progress),
    }
}

/// The same where barriers are barriers by their friction alone.
fn solve<F: FrictionValue + Cost<f64>>(
    size: [u32; 2],
    friction: &[F],
    targets: &[Cell],
    options: &CostDistanceOptions,
    on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
) -> Result<CostDistance> {
    let size = size.map(|length| length as usize);
    let counts = FrictionCounts::new(friction);
    let (sources, targets) = sort_out(size, friction, targets)?;
    let factor = friction::factor([counts.min, counts.max])?;
    let width = size[0];
    let costs = TileCosts::new(size, |y, costs| {
        friction::cost_row(&friction[y * width..(y + 1) * width], factor, costs);
    });
    let job = Job { size, counts, factor, sources, targets, options };
    let CostDistanceOptions { connectivity, cost_rule: rule, cell_size, .. } = *options;
    let row_count = size[1] as u32;
    let lengths = Lengths::new(cell_size, options.geographic.as_ref(), 0..row_count, row_count);
    let Some(slope) = &options.slope else {
        let ([entry_lengths, exit_lengths], rows) = lengths.shares(rule);
        let weights = FlatWeights { costs: &costs, connectivity, entry_lengths, exit_lengths, rows: &rows };
        return job.solve(&weights, &lengths, 1.0, on_progress);
    };
    let runs = &lengths.in_map_units(cell_size);
    let (elevation, is_outward) = (&slope.elevation[..], slope.is_outward);
    let factors = &FactorTable::new(&slope.factors);
    let least_factor = slope.factors.iter().map(|&[_, factor]| factor).reduce(f64::min).unwrap_or(1.0);
    let weights = SlopeWeights { friction: &costs, connectivity, rule, elevation, runs, factors, is_outward };
    job.solve(&weights, runs, least_factor, on_progress)
}

fn check(size: [u32; 2], friction_count: usize, options: &CostDistanceOptions) -> Result<()> {
    let CostDistanceOptions { connectivity, cell_size, max_distance, .. } = *options;
    check_moves(connectivity, cell_size, options.geographic.as_ref(), size[1])?;
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
    // The windows of tiles overlap by a fifth to a quarter.
    let bytes_a_cell = DISTANCE_BYTES
        + (size_of::<F>() as u64 * 13).div_ceil(10)
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
struct Job<'a> {
    size: [usize; 2],
    counts: FrictionCounts,
    /// What friction was multiplied by.
    factor: f64,
    /// Cells of targets, with the numbers of their targets.
    sources: Vec<(usize, u32)>,
    targets: GoalReport,
    options: &'a CostDistanceOptions,
}

impl Job<'_> {
    /// Solves the field. No step's length is multiplied by less than `least_factor`.
    fn solve(
        &self,
        weights: &dyn TileWeights<f64>,
        lengths: &Lengths,
        least_factor: f64,
        on_progress: &mut dyn FnMut(CostDistanceProgress) -> ControlFlow<()>,
    ) -> Result<CostDistance> {
        let Self { size, counts, factor, .. } = *self;
        let (width, length_unit, shortest) = (size[0], lengths.unit, lengths.shortest * least_factor);
        // The factor allows for the rounding of a distance that is exactly the limit.
        let limit = |distance: f64| distance / length_unit * factor * (1.0 + 8.0 * f64::EPSILON);
        let max_distance = self.options.max_distance.map_or(f64::MAX, limit).min(f64::MAX);
        let to_map = |distance: f64| distance / factor * length_unit;
        let mut tiles = Tiles::new(weights, counts.typical() * factor * lengths.typical * least_factor);
        tiles.add_seeds(self.sources.iter().map(|&(cell, _)| ([cell % width, cell / width], 0.0)));
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
        let CostDistanceOptions { connectivity, distances, allocation, next, .. } = *self.options;
        let distances = if distances { rounded(size, &tiles, max_distance, to_map) } else { Vec::new() };
        let mut next_codes = Vec::new();
        let strides = strides(connectivity, width);
        if next || allocation {
            next_codes = codes::next(size, &tiles, &strides, max_distance);
        }
        let visit_count = tiles.visit_count;
        drop(tiles);
        let allocation = if allocation {
            let (offsets, sources) = (connectivity.offsets(), self.sources.iter().copied());
            codes::sources(size, &next_codes, offsets, sources, NO_TARGET).map_err(|cell| {
                let message = format!("the next cells of cell {cell} lead to no target");
                Error::internal("flow::cost_distance::solve", message)
            })?
        } else {
            Vec::new()
        };
        if !next {
            next_codes = Vec::new();
        }
        // No more steps than cells, and no more than the shortest ones between the cheapest cells.
        let step_count = (farthest / (counts.min * factor * shortest)).min(reached_count as f64);
        let report = CostDistanceReport {
            targets: self.targets.clone(),
            reached_count,
            farthest: to_map(farthest),
            not_finite_count: counts.not_finite,
            not_positive_count: counts.not_positive,
            error_bound: 1.01 * (step_count + WEIGHT_ROUNDINGS) * ROUNDING,
            visit_count,
        };
        let size = size.map(|length| length as u32);
        Ok(CostDistance { size, connectivity, distances, allocation, next: next_codes, report })
    }
}

/// The number of cells that are reached within a distance, and the largest of their distances.
fn reached(tiles: &Tiles<'_, f64>, max_distance: f64) -> (u64, f64) {
    let parts = parallel::map_chunks(&tiles.distances, PASS_TILES, |tiles| {
        tiles.iter().fold((0, 0.0_f64), |(count, farthest), cells| {
            let (added, largest) = reached_in(cells, max_distance);
            (count + added, farthest.max(largest))
        })
    });
    parts.into_iter().fold((0, 0.0_f64), |(sum, most), (count, farthest)| (sum + count, most.max(farthest)))
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn reached_in(cells: &TileCells<f64>, max_distance: f64) -> (u64, f64) {
    let (mut count, mut farthest) = (0, 0.0);
    for row in cells {
        for &distance in row {
            let is_reached = distance <= max_distance;
            count += u64::from(is_reached);
            farthest = if is_reached & (distance > farthest) { distance } else { farthest };
        }
    }
    (count, farthest)
}

/// The distances as `to_map` gives them, row-major; infinite beyond `max_distance`.
fn rounded(
    [width, height]: [usize; 2],
    tiles: &Tiles<'_, f64>,
    max_distance: f64,
    to_map: impl Fn(f64) -> f64 + Sync,
) -> Vec<f32> {
    let across = tiles.tile_counts[0];
    let mut distances = vec![0.0; width * height];
    parallel::for_each_chunk(&mut distances, width * EDGE, |(tile_y, distances)| {
        let tiles = &tiles.distances[tile_y * across..(tile_y + 1) * across];
        for (row, distances) in distances.chunks_mut(width).enumerate() {
            for (distances, tile) in distances.chunks_mut(EDGE).zip(tiles) {
                for (distance, &sum) in distances.iter_mut().zip(&tile[row]) {
                    *distance = if sum <= max_distance { to_map(sum) as f32 } else { f32::INFINITY };
                }
            }
        }
    });
    distances
}

/// What each move adds to the index of a cell.
fn strides(connectivity: Connectivity, width: usize) -> [isize; 8] {
    let mut strides = [0; 8];
    for (stride, &[x, y, _]) in strides.iter_mut().zip(connectivity.offsets()) {
        *stride = y as isize * width as isize + x as isize;
    }
    strides
}
