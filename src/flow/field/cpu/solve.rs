//! Solves one field or many, from goals to codes.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::field::cpu::buckets;
use crate::flow::field::cpu::buckets::BucketRing;
use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::codes::{CodeCounts, Moves};
use crate::flow::field::cpu::masks;
use crate::flow::field::cpu::masks::MoveMask;
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::cpu::wave_method::WaveMethod;
use crate::flow::field::cpu::{escape, queue, radix, relax, tiles};
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::field::stats::Stats;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::pending::Awaited;

/// Solves a field; gives up once nobody waits for it.
pub(crate) fn solve(grid: &Arc<Grid>, goals: Goals, limits: FieldLimits, awaited: &Awaited) -> Result<Field> {
    solve_into(grid, goals, limits, SpareArrays::default(), awaited)
}

/// Arrays of a field that is no longer needed, to be written over. Fresh memory is slower: the system takes a quarter
/// of the time of a solve to hand out its pages.
#[derive(Debug, Default)]
pub(crate) struct SpareArrays {
    pub(crate) distances: Vec<u32>,
    pub(crate) next: Vec<u8>,
}

impl SpareArrays {
    /// Takes the arrays of a field.
    pub(crate) fn of(cells: &mut FieldCells) -> Self {
        match cells {
            FieldCells::Host { distances, next } => {
                Self { distances: std::mem::take(distances), next: std::mem::take(next) }
            }
            FieldCells::Device(_) => Self::default(),
        }
    }
}

/// Solves a field into spare arrays.
pub(crate) fn solve_into(
    grid: &Arc<Grid>,
    goals: Goals,
    limits: FieldLimits,
    spare: SpareArrays,
    awaited: &Awaited,
) -> Result<Field> {
    let mut stop = StopConditions { awaited: awaited.clone(), ..StopConditions::new(grid, &limits) };
    awaited.check()?;
    let (distances, next, counts) = if grid.has_unit_steps() {
        let distances = match WaveMethod::of(grid) {
            WaveMethod::Tiles => tiles::solve(grid, &goals.cells, &mut stop, spare.distances),
            wave => queue::solve(grid, &goals.cells, &mut stop, wave == WaveMethod::CorridorQueue),
        };
        awaited.check()?;
        add_unit_codes(grid, goals.cells.len(), distances, spare.next)
    } else if grid.connectivity().dimension() == 2 {
        solve_by_masks::<u8>(grid, &goals.cells, &limits, &mut stop, spare)?
    } else {
        solve_by_masks::<u32>(grid, &goals.cells, &limits, &mut stop, spare)?
    };
    let levels = counts.distance_end.saturating_sub(1) / grid.connectivity().unit() + 1;
    let stats = Stats { levels, rounds: levels, reached_count: counts.reached, ..Stats::default() };
    let cells = FieldCells::Host { distances, next };
    let request = FieldRequest { goals: goals.given, limits };
    Ok(Field::from(FieldData { grid: Arc::clone(grid), request, goals: goals.report, stats, cells }))
}

/// Solves many fields, each on a thread of its own if there are threads.
pub(crate) fn solve_batch(
    grid: &Arc<Grid>,
    requests: Vec<(Goals, FieldLimits)>,
    awaited: &Awaited,
) -> Result<Vec<Field>> {
    let solve_one = |(row, (goals, limits)): (usize, (Goals, FieldLimits))| {
        solve(grid, goals, limits, awaited).map_err(|error| error.in_query(row))
    };
    let requests: Vec<_> = requests.into_iter().enumerate().collect();
    // In a browser, types that may hold device handles cannot move to another thread.
    #[cfg(target_arch = "wasm32")]
    let fields: Vec<Result<Field>> = requests.into_iter().map(solve_one).collect();
    #[cfg(not(target_arch = "wasm32"))]
    let fields = crate::parallel::each(requests, solve_one);
    fields.into_iter().collect()
}

/// Solves a field of any steps and costs, by a mask of the moves that each cell allows.
fn solve_by_masks<M: MoveMask>(
    grid: &Grid,
    goals: &[u32],
    limits: &FieldLimits,
    stop: &mut StopConditions,
    spare: SpareArrays,
) -> Result<(Vec<u32>, Vec<u8>, CodeCounts)> {
    let costs = CostRange::new(grid);
    let relaxed = if relax::suits(grid, costs) {
        relax::solve(grid, costs, goals, &mut stop.clone(), spare.distances)
    } else {
        None
    };
    stop.awaited.check()?;
    let is_whole = limits.max_distance.is_none() && limits.targets.is_empty();
    let show_moves = codes::moves_show_in_distances(grid, costs, is_whole);
    let masks = if relaxed.is_some() && show_moves { Vec::new() } else { masks::masks::<M>(grid) };
    let moves = if masks.is_empty() { Moves::Distances { is_whole } } else { Moves::Masks(&masks, costs) };
    let (mut distances, is_cut) = match (relaxed, BucketRing::new(grid, costs)) {
        (Some(distances), _) => (distances, false),
        (None, Some(ring)) => buckets::solve(grid, &masks, goals, ring, stop),
        (None, None) => radix::solve(grid, &masks, goals, stop),
    };
    stop.awaited.check()?;
    if let Some(limit) = farthest_target(grid, &distances, limits) {
        distances
            .iter_mut()
            .filter(|distance| **distance > limit)
            .for_each(|distance| *distance = UNREACHABLE);
    } else if is_cut
        && limits.max_distance.is_none()
        && let Some(cell) = codes::first_overflow(grid, &distances)
    {
        return Err(Error::DistanceOverflow { at: Location::Argument, cell });
    }
    let (mut next, counts) = codes::codes(grid, moves, &distances, spare.next);
    if codes::has_first_escapes(grid, costs) {
        add_deep_codes(grid, goals.len(), counts, &mut next);
    } else {
        escape::add(grid, &distances, &mut next);
    }
    Ok((distances, next, counts))
}

/// Adds the codes where all steps are 1 and orthogonal.
fn add_unit_codes(
    grid: &Grid,
    goal_count: usize,
    distances: Vec<u32>,
    spare: Vec<u8>,
) -> (Vec<u32>, Vec<u8>, CodeCounts) {
    let (mut next, counts) = codes::codes::<u8>(grid, Moves::Unit, &distances, spare);
    add_deep_codes(grid, goal_count, counts, &mut next);
    (distances, next, counts)
}

/// Adds the codes of obstacles that no reached cell is beside, in a grid of four neighbours.
fn add_deep_codes(grid: &Grid, goal_count: usize, counts: CodeCounts, next: &mut [u8]) {
    // The free cells without a code are the goals and the cells that are not reached. The other cells without one are
    // deep obstacles.
    let free_count = grid.cell_count() - grid.obstacle_count();
    escape::add_deep(grid, counts.uncoded - goal_count - (free_count - counts.reached), next);
}

/// The distance of the farthest target; `None` if a target is not reached or there is none, as then the field is whole.
fn farthest_target(grid: &Grid, distances: &[u32], limits: &FieldLimits) -> Option<u32> {
    let farthest =
        limits.targets.iter().filter_map(|&cell| grid.index(cell)).map(|index| distances[index]).max();
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

    /// A grid with random obstacles: `in_256` of 256 cells.
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

    /// Tiles, queue, buckets and heap give the same field, whichever of them the grid would be given to.
    #[test]
    fn waves_buckets_and_heap_are_equal() {
        let mut early_count = 0;
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
                    for (max_distance, targets) in [
                        (None, vec![]),
                        (Some(7), vec![]),
                        (Some(8), vec![]),
                        (Some(0), vec![]),
                        (None, vec![far, Cell::default()]),
                    ] {
                        let limits = FieldLimits { max_distance, targets };
                        let stop = || StopConditions::new(&grid, &limits);
                        let mut tile_stop = stop();
                        let tiles = tiles::solve(&grid, &goals, &mut tile_stop, vec![7; 3]);
                        early_count +=
                            usize::from(tile_stop.has_targets && tile_stop.open_targets.is_empty());
                        for is_corridor in [false, true] {
                            let queue = queue::solve(&grid, &goals, &mut stop(), is_corridor);
                            assert_eq!(tiles, queue, "{size:?} {in_256} {limits:?}");
                        }
                        for strip_rows in if limits.targets.is_empty() { 1..4 } else { 0..0 } {
                            let strips =
                                tiles::solve_in_strips(&grid, &goals, &mut stop(), strip_rows, vec![]);
                            assert_eq!(strips, tiles, "{size:?} {in_256} {limits:?} {strip_rows}");
                        }
                        let masks = masks::masks::<u8>(&grid);
                        let heap = radix::solve(&grid, &masks, &goals, &mut stop()).0;
                        let ring = BucketRing::new(&grid, CostRange::new(&grid)).unwrap();
                        let buckets = buckets::solve(&grid, &masks, &goals, ring, &mut stop()).0;
                        // Buckets and heap may go on past the last target.
                        let most = limit_of(&grid, &heap, &limits);
                        let cut = |mut cells: Vec<u32>| {
                            cells
                                .iter_mut()
                                .filter(|cell| **cell > most)
                                .for_each(|cell| *cell = UNREACHABLE);
                            cells
                        };
                        assert_eq!(cut(heap), tiles, "{size:?} {in_256} {limits:?}");
                        assert_eq!(cut(buckets), tiles, "{size:?} {in_256} {limits:?}");
                    }
                }
            }
        }
        assert!(early_count > 20, "{early_count} fields ended early");
    }

    fn limit_of(grid: &Grid, distances: &[u32], limits: &FieldLimits) -> u32 {
        farthest_target(grid, distances, limits).unwrap_or(UNREACHABLE)
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
            super::solve(grid, goals, FieldLimits::default(), &awaited)
        };
        let fields: Vec<Field> = grids.iter().map(|grid| solve(grid).unwrap()).collect();
        drop(pending);
        for (grid, field) in grids.iter().zip(fields) {
            assert!(matches!(solve(grid), Err(Error::Cancelled)));
            let goals = Goals::new(grid, &[grid.cell(grid.cell_count() - 1)]).unwrap();
            // With another goal nearly all distances change.
            assert!(matches!(update(grid, &mut field.into_data(), goals, &awaited), Err(Error::Cancelled)));
        }
    }

    /// Levels that planes do not hold: long paths within a few tiles.
    #[test]
    fn tiles_hold_long_paths() {
        let size = [600, 40, 1];
        let blocked: Vec<bool> = (0..600 * 40)
            .map(|at| (at % 600, at / 600))
            .map(|(x, y)| y % 2 == 1 && x != if y % 4 == 1 { 599 } else { 0 })
            .collect();
        let grid = Grid::new(size, &blocked, Connectivity::Four.into()).unwrap();
        let stop = || StopConditions::new(&grid, &FieldLimits::default());
        let distances = tiles::solve(&grid, &[0], &mut stop(), vec![5; 30_000]);
        assert_eq!(distances, queue::solve(&grid, &[0], &mut stop(), true));
        assert_eq!(distances, tiles::solve_in_strips(&grid, &[0], &mut stop(), 1, vec![]));
        assert!(distances.iter().any(|&distance| distance != UNREACHABLE && distance > 10_000));
    }

    const FLAT: [Connectivity; 4] = [
        Connectivity::Four,
        Connectivity::Eight(Corners::BothFree),
        Connectivity::Eight(Corners::OneFree),
        Connectivity::Eight(Corners::Any),
    ];

    /// Tiles that are relaxed give the field of the heap, for all steps, corner rules, costs and limits, in grids of all
    /// sizes around those of tiles.
    #[test]
    fn relaxed_tiles_and_heap_are_equal() {
        let mut early_count = 0;
        for (seed, size) in [
            [1, 1, 1],
            [1, 90, 1],
            [77, 1, 1],
            [2, 33, 1],
            [15, 17, 1],
            [16, 16, 1],
            [17, 15, 1],
            [65, 64, 1],
            [130, 71, 1],
            // With margins a row would have a multiple of 256 cells.
            [224, 40, 1],
        ]
        .into_iter()
        .enumerate()
        {
            for (connectivity, most_cost) in
                FLAT.into_iter().flat_map(|at| [1, 9, 20_000].map(|cost| (at, cost)))
            {
                for in_256 in [0, 20, 60, 110, 256] {
                    let grid = weighted_grid(size, connectivity, in_256, seed as u32, most_cost);
                    let costs = CostRange::new(&grid);
                    let masks = masks::masks::<u8>(&grid);
                    for every in [3, 50, usize::MAX] {
                        let goals = goals(&grid, every.min(1 + grid.cell_count() / 2));
                        let far = grid.cell(grid.cell_count() / 3);
                        for (max_distance, targets) in [
                            (None, vec![]),
                            (Some(0), vec![]),
                            (Some(4000), vec![]),
                            (None, vec![far, Cell::default()]),
                        ] {
                            let limits = FieldLimits { max_distance, targets };
                            let stop = || StopConditions::new(&grid, &limits);
                            let mut relax_stop = stop();
                            let relaxed =
                                relax::solve(&grid, costs, &goals, &mut relax_stop, vec![7; 3]).unwrap();
                            let heap = radix::solve(&grid, &masks, &goals, &mut stop()).0;
                            let most = limit_of(&grid, &heap, &limits);
                            early_count += usize::from(relaxed.contains(&UNREACHABLE) && most < UNREACHABLE);
                            let cut = |cells: &[u32]| -> Vec<u32> {
                                cells
                                    .iter()
                                    .map(|&cell| if cell > most { UNREACHABLE } else { cell })
                                    .collect()
                            };
                            assert_eq!(
                                cut(&relaxed),
                                cut(&heap),
                                "{size:?} {connectivity:?} {most_cost} {in_256} {limits:?}"
                            );
                        }
                    }
                }
            }
        }
        assert!(early_count > 20, "{early_count} fields ended early");
    }

    /// Paths that wind through tiles, and walls between them.
    #[test]
    fn relaxed_tiles_hold_winding_paths() {
        for (across, size) in [(false, [90, 60, 1]), (true, [60, 90, 1])] {
            let blocked: Vec<bool> = (0..90 * 60)
                .map(|at| (at % size[0], at / size[0]))
                .map(|(x, y)| if across { (x, y, size[1]) } else { (y, x, size[0]) })
                .map(|(row, at, length)| row % 2 == 1 && at != if row % 4 == 1 { length - 1 } else { 0 })
                .collect();
            for connectivity in FLAT {
                for costs in [vec![], (0..90 * 60).map(|at| at % 7 + 1).collect()] {
                    let options = GridOptions { connectivity, costs, ..Default::default() };
                    let grid = Grid::new(size, &blocked, options).unwrap();
                    let stop = || StopConditions::new(&grid, &FieldLimits::default());
                    let relaxed =
                        relax::solve(&grid, CostRange::new(&grid), &[0], &mut stop(), vec![]).unwrap();
                    let masks = masks::masks::<u8>(&grid);
                    assert_eq!(relaxed, radix::solve(&grid, &masks, &[0], &mut stop()).0, "{connectivity:?}");
                }
            }
        }
    }

    /// Where distances come close to what 32 bits hold, tiles give up, and the field is still right.
    #[test]
    fn relaxed_tiles_give_up_before_an_overflow() {
        let size = [400, 3, 1];
        let mut outcomes = [0; 3];
        for connectivity in FLAT {
            // The length of the path to the farthest cell, the corner opposite to the goal.
            let longest_path = match connectivity.step(4) {
                0 => 401,
                diagonal => 397 * connectivity.unit() + 2 * diagonal,
            };
            let largest = (UNREACHABLE - 1) / longest_path;
            for cost in [largest / 10 * 9, largest, largest + 1] {
                let options = GridOptions { connectivity, costs: vec![cost; 1200], ..Default::default() };
                let grid = Grid::new(size, &[], options).unwrap();
                let limits = FieldLimits::default();
                let stop = || StopConditions::new(&grid, &limits);
                let costs = CostRange::new(&grid);
                let relaxed = relax::solve(&grid, costs, &[0], &mut stop(), vec![]);
                let masks = masks::masks::<u8>(&grid);
                let heap = radix::solve(&grid, &masks, &[0], &mut stop()).0;
                let is_cut = heap.contains(&UNREACHABLE);
                assert!(relaxed.is_none() || !is_cut, "{connectivity:?} {cost}");
                outcomes[usize::from(relaxed.is_none()) + usize::from(is_cut)] += 1;
                if let Some(relaxed) = relaxed {
                    assert_eq!(relaxed, heap);
                }
                // A limit makes tiles enough.
                let limits = FieldLimits { max_distance: Some(1 << 31), ..limits };
                let stop = || StopConditions::new(&grid, &limits);
                let relaxed = relax::solve(&grid, costs, &[0], &mut stop(), vec![]);
                assert_eq!(relaxed.unwrap(), radix::solve(&grid, &masks, &[0], &mut stop()).0);
            }
        }
        assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
    }

    /// A grid with random obstacles and costs.
    fn weighted_grid(
        size: [u32; 3],
        connectivity: Connectivity,
        in_256: u32,
        seed: u32,
        most_cost: u32,
    ) -> Grid {
        let obstacles = grid(size, connectivity, in_256, seed).obstacles();
        let cost = |at: u32| (at ^ seed).wrapping_mul(2_654_435_761).rotate_left(11) % most_cost + 1;
        let costs = (0..obstacles.len() as u32).map(cost).collect();
        Grid::new(size, &obstacles, GridOptions { connectivity, costs, ..Default::default() }).unwrap()
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
                let mut stop = StopConditions::new(&grid, &FieldLimits::default());
                let ring = BucketRing::new(&grid, CostRange::new(&grid)).unwrap();
                let buckets = buckets::solve(&grid, &masks, &goals, ring, &mut stop);
                assert_eq!(
                    buckets,
                    radix::solve(&grid, &masks, &goals, &mut stop),
                    "{connectivity:?} {most_cost}"
                );
            }
        }
    }
}
