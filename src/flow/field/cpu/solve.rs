//! A field or many, from goals to codes.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::field::cpu::buckets;
use crate::flow::field::cpu::buckets::Ring;
use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::codes::Counts;
use crate::flow::field::cpu::limits::Limits;
use crate::flow::field::cpu::masks;
use crate::flow::field::cpu::masks::Moves;
use crate::flow::field::cpu::search::Wave;
use crate::flow::field::cpu::{exits, queue, radix, tiles};
use crate::flow::field::options::Reach;
use crate::flow::field::solved::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::field::stats::Stats;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::pending::Awaited;

/// Solves a field, as long as somebody waits for it.
pub(crate) fn solve(grid: &Arc<Grid>, goals: Goals, reach: Reach, awaited: &Awaited) -> Result<Field> {
    solve_in(grid, goals, reach, Reused::default(), awaited)
}

/// Arrays of a field that is no longer needed. Writing over them is faster than new memory: the system takes a quarter of the
/// time of a solve to hand out its pages.
#[derive(Debug, Default)]
pub(crate) struct Reused {
    pub(crate) distances: Vec<u32>,
    pub(crate) next: Vec<u8>,
}

impl From<FieldCells> for Reused {
    fn from(cells: FieldCells) -> Self {
        match cells {
            FieldCells::Host { distances, next } => Self { distances, next },
            FieldCells::Device(_) => Self::default(),
        }
    }
}

/// The same in arrays that are there.
pub(crate) fn solve_in(
    grid: &Arc<Grid>,
    goals: Goals,
    reach: Reach,
    reused: Reused,
    awaited: &Awaited,
) -> Result<Field> {
    let mut limits = Limits { awaited: awaited.clone(), ..Limits::new(grid, &reach) };
    awaited.check()?;
    let (distances, next, counts) = if grid.has_unit_steps() {
        let distances = match Wave::of(grid) {
            Wave::Tiles => tiles::solve(grid, &goals.cells, &mut limits, reused.distances),
            wave => queue::solve(grid, &goals.cells, &mut limits, wave == Wave::Straight),
        };
        awaited.check()?;
        finish_units(grid, goals.cells.len(), distances, reused.next)
    } else if grid.connectivity().dimension() == 2 {
        by_masks::<u8>(grid, &goals.cells, &reach, &mut limits, reused.next)?
    } else {
        by_masks::<u32>(grid, &goals.cells, &reach, &mut limits, reused.next)?
    };
    let levels = counts.past_most.saturating_sub(1) / grid.connectivity().unit() + 1;
    let stats = Stats { levels, rounds: levels, reached_count: counts.reached, ..Stats::default() };
    let cells = FieldCells::Host { distances, next };
    let request = FieldRequest { goals: goals.given, reach };
    Ok(Field {
        shared: Arc::new(FieldData { grid: Arc::clone(grid), request, goals: goals.report, stats, cells }),
    })
}

/// Solves many fields, each on a thread of its own where there are threads.
pub(crate) fn solve_batch(
    grid: &Arc<Grid>,
    asked: Vec<(Goals, Reach)>,
    awaited: &Awaited,
) -> Result<Vec<Field>> {
    let one = |(row, (goals, reach)): (usize, (Goals, Reach))| {
        solve(grid, goals, reach, awaited).map_err(|error| error.in_query(row))
    };
    let asked: Vec<_> = asked.into_iter().enumerate().collect();
    // In a browser what may be on the device stays on its thread.
    #[cfg(target_arch = "wasm32")]
    let fields: Vec<Result<Field>> = asked.into_iter().map(one).collect();
    #[cfg(not(target_arch = "wasm32"))]
    let fields = crate::parallel::each(asked, one);
    fields.into_iter().collect()
}

/// Solves a field by the moves that each cell allows.
fn by_masks<M: Moves>(
    grid: &Grid,
    goals: &[u32],
    reach: &Reach,
    limits: &mut Limits,
    reused: Vec<u8>,
) -> Result<(Vec<u32>, Vec<u8>, Counts)> {
    let masks = masks::masks::<M>(grid);
    let (mut distances, is_cut) = match Ring::new(grid) {
        Some(ring) => buckets::solve(grid, &masks, goals, ring, limits),
        None => radix::solve(grid, &masks, goals, limits),
    };
    limits.awaited.check()?;
    if let Some(limit) = until(grid, &distances, reach) {
        distances
            .iter_mut()
            .filter(|distance| **distance > limit)
            .for_each(|distance| *distance = UNREACHABLE);
    } else if is_cut
        && reach.max_distance.is_none()
        && let Some(cell) = codes::overflowing(grid, &distances)
    {
        return Err(Error::DistanceOverflow { at: Location::Argument, cell });
    }
    let (mut next, counts) = codes::codes(grid, Some(&masks), &distances, reused);
    exits::add(grid, &distances, &mut next);
    Ok((distances, next, counts))
}

/// Adds the next cells where the steps are all 1 and orthogonal.
fn finish_units(
    grid: &Grid,
    goal_count: usize,
    distances: Vec<u32>,
    reused: Vec<u8>,
) -> (Vec<u32>, Vec<u8>, Counts) {
    let (mut next, counts) = codes::codes::<u8>(grid, None, &distances, reused);
    // Of free cells goals have no code, and those that are not reached.
    let free_count = grid.cell_count() - grid.obstacle_count();
    exits::add_deep(grid, counts.bare - goal_count - (free_count - counts.reached), &mut next);
    (distances, next, counts)
}

/// The largest distance of the cells that the field need only reach; none where it is to be whole.
fn until(grid: &Grid, distances: &[u32], reach: &Reach) -> Option<u32> {
    let farthest = reach.until.iter().filter_map(|&cell| grid.index(cell)).map(|at| distances[at]).max();
    farthest.filter(|&distance| distance != UNREACHABLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;
    use crate::flow::field::cpu::repair::update;
    use crate::flow::grid::cells::GridOptions;
    use crate::flow::grid::moves::{Connectivity, Corners};
    use crate::pending::Pending;

    /// A grid with obstacles at random, as many in 256 as told.
    fn grid(size: [u32; 3], connectivity: Connectivity, in_256: u32, seed: u32) -> Grid {
        let count = size.iter().product::<u32>();
        let mixed =
            |at: u32| (at ^ seed << 20).wrapping_add(seed).wrapping_mul(2_654_435_761).rotate_left(13);
        let is_wall = |at| mixed(mixed(at)).wrapping_mul(2_246_822_519) >> 24 < in_256;
        let blocked: Vec<bool> = (0..count).map(is_wall).collect();
        Grid::new(size, &blocked, connectivity.into()).unwrap()
    }

    fn goals(grid: &Grid, every: usize) -> Vec<u32> {
        let free = (0..grid.cell_count()).filter(|&at| grid.is_free(grid.cell(at)));
        free.skip(every / 2).step_by(every).map(|at| at as u32).collect()
    }

    /// Tiles, queue, buckets and heap do not differ, whichever of them a grid would be given to.
    #[test]
    fn engines_are_equal() {
        let mut settled_early = 0;
        for (seed, size) in [
            [1, 1, 1],
            [1, 90, 1],
            [77, 1, 1],
            [8, 8, 1],
            [9, 17, 1],
            [64, 63, 1],
            [130, 71, 1],
            [300, 257, 1],
        ]
        .into_iter()
        .enumerate()
        {
            for in_256 in [0, 20, 60, 100, 140] {
                let grid = grid(size, Connectivity::Four, in_256, seed as u32);
                for every in [3, 50, usize::MAX] {
                    let goals = goals(&grid, every.min(1 + grid.cell_count() / 2));
                    let far = grid.cell(grid.cell_count() / 3);
                    for (max_distance, until) in [
                        (None, vec![]),
                        (Some(7), vec![]),
                        (Some(8), vec![]),
                        (Some(0), vec![]),
                        (None, vec![far, Cell::default()]),
                    ] {
                        let reach = Reach { max_distance, until };
                        let limits = || Limits::new(&grid, &reach);
                        let mut early = limits();
                        let tiles = tiles::solve(&grid, &goals, &mut early, vec![7; 3]);
                        settled_early += usize::from(early.is_until && early.until.is_empty());
                        for is_straight in [false, true] {
                            let queue = queue::solve(&grid, &goals, &mut limits(), is_straight);
                            assert_eq!(tiles, queue, "{size:?} {in_256} {reach:?}");
                        }
                        for strip_rows in if reach.until.is_empty() { 1..4 } else { 0..0 } {
                            let strips = tiles::solve_in(&grid, &goals, &mut limits(), strip_rows, vec![]);
                            assert_eq!(strips, tiles, "{size:?} {in_256} {reach:?} {strip_rows}");
                        }
                        let masks = masks::masks::<u8>(&grid);
                        let heap = radix::solve(&grid, &masks, &goals, &mut limits()).0;
                        let ring = Ring::new(&grid).unwrap();
                        let buckets = buckets::solve(&grid, &masks, &goals, ring, &mut limits()).0;
                        // Those may go on past the last cell that they need reach.
                        let most = until_of(&grid, &heap, &reach);
                        let cut = |mut cells: Vec<u32>| {
                            cells
                                .iter_mut()
                                .filter(|cell| **cell > most)
                                .for_each(|cell| *cell = UNREACHABLE);
                            cells
                        };
                        assert_eq!(cut(heap), tiles, "{size:?} {in_256} {reach:?}");
                        assert_eq!(cut(buckets), tiles, "{size:?} {in_256} {reach:?}");
                    }
                }
            }
        }
        assert!(settled_early > 20, "{settled_early} fields ended early");
    }

    fn until_of(grid: &Grid, distances: &[u32], reach: &Reach) -> u32 {
        until(grid, distances, reach).unwrap_or(UNREACHABLE)
    }

    #[test]
    fn a_field_that_nobody_waits_for_is_not_solved() {
        let (promise, pending) = Pending::<()>::channel();
        let awaited = promise.awaited();
        let costly = |size: [u32; 3], connectivity| {
            let costs = (0..size.iter().product::<u32>()).map(|at| at % 3 * 40_000 + 1).collect();
            Grid::new(size, &[], GridOptions { connectivity, costs, ..Default::default() }).unwrap()
        };
        let grids = [
            grid([300, 300, 1], Connectivity::Four, 0, 0),
            grid([300, 1, 1], Connectivity::Four, 0, 0),
            grid([30, 30, 1], Connectivity::Eight(Corners::BothFree), 0, 0),
            grid([9, 9, 9], Connectivity::Six, 0, 0),
            costly([30, 30, 1], Connectivity::Four),
        ]
        .map(Arc::new);
        let solve = |grid: &Arc<Grid>| {
            let goals = Goals::new(grid, &[Cell::default()]).unwrap();
            super::solve(grid, goals, Reach::default(), &awaited)
        };
        let fields: Vec<Field> = grids.iter().map(|grid| solve(grid).unwrap()).collect();
        drop(pending);
        for (grid, field) in grids.iter().zip(fields) {
            assert!(matches!(solve(grid), Err(Error::Cancelled)));
            let goals = Goals::new(grid, &[grid.cell(grid.cell_count() - 1)]).unwrap();
            // Another goal: nearly all of it changes.
            assert!(matches!(update(grid, field, goals, &awaited), Err(Error::Cancelled)));
        }
    }

    /// Levels more than 254 past the first of their tile: long ways within a few tiles.
    #[test]
    fn tiles_hold_long_ways() {
        let size = [600, 40, 1];
        let blocked: Vec<bool> = (0..600 * 40)
            .map(|at| (at % 600, at / 600))
            .map(|(x, y)| y % 2 == 1 && x != if y % 4 == 1 { 599 } else { 0 })
            .collect();
        let grid = Grid::new(size, &blocked, Connectivity::Four.into()).unwrap();
        let limits = || Limits::new(&grid, &Reach::default());
        let distances = tiles::solve(&grid, &[0], &mut limits(), vec![5; 30_000]);
        assert_eq!(distances, queue::solve(&grid, &[0], &mut limits(), true));
        assert_eq!(distances, tiles::solve_in(&grid, &[0], &mut limits(), 1, vec![]));
        assert!(distances.iter().any(|&distance| distance != UNREACHABLE && distance > 10_000));
    }

    #[test]
    fn buckets_and_heap_are_equal() {
        for (seed, connectivity) in [
            Connectivity::Four,
            Connectivity::Eight(Corners::BothFree),
            Connectivity::Six,
            Connectivity::TwentySix(Corners::OneFree),
        ]
        .into_iter()
        .enumerate()
        {
            let size = if connectivity.dimension() == 2 { [61, 47, 1] } else { [17, 13, 11] };
            let grid = grid(size, connectivity, 50, seed as u32);
            for most_cost in [1, 2, 40] {
                let costs: Vec<u32> = (0..grid.cell_count() as u32)
                    .map(|at| at.wrapping_mul(2_654_435_761) % most_cost + 1)
                    .collect();
                let options = GridOptions { connectivity, costs, ..Default::default() };
                let grid = Grid::new(size, &grid.obstacles(), options).unwrap();
                let (goals, masks) = (goals(&grid, 900), masks::masks::<u32>(&grid));
                let mut limits = Limits::new(&grid, &Reach::default());
                let ring = Ring::new(&grid).unwrap();
                let buckets = buckets::solve(&grid, &masks, &goals, ring, &mut limits);
                assert_eq!(
                    buckets,
                    radix::solve(&grid, &masks, &goals, &mut limits),
                    "{connectivity:?} {most_cost}"
                );
            }
        }
    }
}
