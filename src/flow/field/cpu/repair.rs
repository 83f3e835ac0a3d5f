//! Incremental repair of a field after its grid or its goals have changed (Ramalingam and Reps 1996, "An Incremental
//! Algorithm for a Generalization of the Shortest-Path Problem").
//!
//! First the distances that no neighbour supports any more are invalidated, nearest first; each takes the cells along
//! whose next cell it is. Then new distances spread from the remaining ones into these cells and around what changed,
//! nearest first. The equation of distances has one solution, so the result equals a field solved afresh. Codes are
//! found again around changed cells, and escape codes in each connected component of obstacles that a change touches.

use std::sync::Arc;

use crate::error::Result;
use crate::flow::field::cpu::escape;
use crate::flow::field::cpu::escape::Neighbours;
use crate::flow::field::cpu::move_lookup::MoveLookup;
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::radix::RadixHeap;
use crate::flow::field::cpu::solve::{SpareArrays, solve, solve_into};
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{FieldCells, FieldData, UNREACHABLE};
use crate::flow::field::stats::Stats;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::change::changed_cells;
use crate::flow::grid::goals::Goals;
use crate::flow::grid::moves::NEXT_NONE;
use crate::parallel::map;
use crate::pending::Awaited;

/// If more than one cell in this many changes, a fresh solve is quicker.
const CHANGE_SHARE: usize = 96;
/// If more than one cell in this many is an obstacle whose escape code may have changed, all escape codes are found
/// afresh.
const ESCAPE_SHARE: usize = 16;

/// Updates a field to a grid of the same shape and to these goals, in place; solves it afresh where that is quicker. The
/// field must have no targets. Where the update fails the field is as it was.
pub(crate) fn update(
    grid: &Arc<Grid>,
    field: &mut Arc<FieldData>,
    goals: Goals,
    awaited: &Awaited,
) -> Result<()> {
    awaited.check()?;
    let Some(goals) = repaired(grid, field, goals) else { return Ok(()) };
    let limits = field.request.limits.clone();
    let solved = match Arc::get_mut(field) {
        // Nothing can fail once it has begun, as it does not ask whether anybody waits. So the arrays are written over.
        Some(data) if never_overflows(grid, &limits) => {
            let spare = SpareArrays::of(&mut data.cells);
            solve_into(grid, goals, limits, spare, &Awaited::default())?
        }
        _ => solve(grid, goals, limits, awaited)?,
    };
    *field = solved.into_data();
    Ok(())
}

/// Whether no shortest path can be longer than the largest distance, or such paths are left out.
fn never_overflows(grid: &Grid, limits: &FieldLimits) -> bool {
    let longest_step = CostRange::new(grid).longest_step(grid);
    let bound = longest_step.checked_mul(grid.cell_count() as u64);
    limits.max_distance.is_some() || bound.is_some_and(|bound| bound < u64::from(UNREACHABLE))
}

/// Repairs a field in place. Where too much has changed it leaves the field as it was and gives the goals back.
fn repaired(grid: &Arc<Grid>, field: &mut Arc<FieldData>, goals: Goals) -> Option<Goals> {
    let change_limit = grid.cell_count() / CHANGE_SHARE + 64;
    let old_goals = Goals::new(&field.grid, &field.request.goals);
    let (Ok(old_goals), Some(edited)) = (old_goals, changed_cells(&field.grid, grid, change_limit)) else {
        return Some(goals);
    };
    let Some(data) = own(field) else { return Some(goals) };
    let FieldCells::Host { distances, next } = &mut data.cells else { return Some(goals) };
    let limits = &data.request.limits;
    let max_distance = limits.max_distance.unwrap_or(UNREACHABLE).min(UNREACHABLE - 1);
    let mut repair = Repair {
        grid,
        moves: MoveLookup::new(grid),
        neighbours: Neighbours::new(grid),
        distances,
        next,
        goals: &goals.cells,
        distance_end: max_distance + 1,
        recorded: BitSet::new(grid.cell_count()),
        changed: Vec::new(),
        change_limit,
    };
    let (removed, added) = (old_goals.without(&goals), goals.without(&old_goals));
    if repair.run(&edited, &removed, &added, limits.max_distance.is_some()).is_none() {
        repair.undo();
        return Some(goals);
    }
    repair.update_stats(&mut data.stats);
    data.grid = Arc::clone(grid);
    data.request.goals = goals.given;
    data.goals = goals.report;
    None
}

/// A field that no other handle has: itself, or a copy. None where it is on the device.
fn own(field: &mut Arc<FieldData>) -> Option<&mut FieldData> {
    if Arc::get_mut(field).is_none() {
        let FieldCells::Host { distances, next } = &field.cells else { return None };
        let cells = FieldCells::Host { distances: distances.clone(), next: next.clone() };
        let (grid, request) = (Arc::clone(&field.grid), field.request.clone());
        *field = Arc::new(FieldData { grid, request, goals: field.goals.clone(), stats: field.stats, cells });
    }
    Arc::get_mut(field)
}

/// A set of cells, one bit each.
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    pub(crate) fn new(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)] }
    }

    /// Inserts a cell; `true` if it was not in the set.
    pub(crate) fn insert(&mut self, cell: usize) -> bool {
        let (word, bit) = (&mut self.words[cell / 64], 1 << (cell % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// A field under repair.
pub(crate) struct Repair<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) moves: MoveLookup<'a>,
    neighbours: Neighbours<'a>,
    pub(crate) distances: &'a mut [u32],
    pub(crate) next: &'a mut [u8],
    /// Indices of the goal cells, ascending.
    pub(crate) goals: &'a [u32],
    /// One more than the largest distance allowed.
    pub(crate) distance_end: u32,
    /// The cells that are in `changed`.
    recorded: BitSet,
    /// The cells whose distance was set, with the distance that they had before.
    pub(crate) changed: Vec<(u32, u32)>,
    /// The most cells that may change before a fresh solve is quicker.
    pub(crate) change_limit: usize,
}

impl Repair<'_> {
    /// Repairs the field; `None` if too much changes, or if a distance is too large for 32 bits: then no code has been
    /// changed yet.
    fn run(&mut self, edited: &[u32], removed: &[u32], added: &[u32], is_limited: bool) -> Option<()> {
        // A move may have changed if an edited cell is its start, its target or between them.
        let mut seeds = edited.to_vec();
        for &cell in edited {
            seeds.extend(self.neighbours.around(cell as usize).map(|(_, neighbour)| neighbour as u32));
        }
        if self.grid.has_unit_steps() {
            self.invalidate_unit(&seeds, removed)?;
            self.spread_unit(&seeds, added)?;
        } else {
            self.invalidate(&seeds, removed)?;
            let is_cut = self.spread(&seeds, added)?;
            if is_cut && !is_limited {
                return None;
            }
        }
        let distances = &*self.distances;
        self.changed.retain(|&(cell, before)| distances[cell as usize] != before);
        if self.grid.has_unit_steps() {
            self.find_unit_codes(&seeds);
        } else {
            self.find_codes(&seeds);
        }
        self.find_escape_codes(edited);
        Some(())
    }

    /// Gives cells the distances that they had before.
    fn undo(&mut self) {
        for &(cell, before) in &self.changed {
            self.distances[cell as usize] = before;
        }
    }

    pub(crate) fn set(&mut self, index: usize, distance: u32) {
        if self.recorded.insert(index) {
            self.changed.push((index as u32, self.distances[index]));
        }
        self.distances[index] = distance;
    }

    fn cost(&self, index: usize) -> u32 {
        self.grid.costs().get(index).map_or(1, |&cost| cost)
    }

    pub(crate) fn is_free(&self, index: usize) -> bool {
        self.moves.is_free(index)
    }

    /// The least distance over a neighbour that has one, and the code of the first move that attains it. A distance too
    /// large for 32 bits becomes `UNREACHABLE`.
    fn best_move(&self, index: usize) -> (u32, u8) {
        let mut best = (UNREACHABLE, NEXT_NONE);
        let mut mask = self.moves.mask(index);
        while mask != 0 {
            let code = mask.trailing_zeros();
            mask &= mask - 1;
            let (neighbour, step) = self.moves.target(index, code);
            let distance = self.distances[neighbour];
            if distance < best.0 {
                let distance_via = distance.saturating_add(step.saturating_mul(self.cost(neighbour)));
                if distance_via < best.0 || best.1 == NEXT_NONE {
                    best = (distance_via, code as u8);
                }
            }
        }
        best
    }

    /// Invalidates the distances that nothing supports.
    fn invalidate(&mut self, seeds: &[u32], removed: &[u32]) -> Option<()> {
        let mut heap = RadixHeap::new();
        for &cell in seeds.iter().chain(removed) {
            let distance = self.distances[cell as usize];
            if distance != UNREACHABLE {
                heap.push(distance, cell);
            }
        }
        while let Some((distance, cell)) = heap.pop() {
            let index = cell as usize;
            // All nearer cells are done, so a neighbour that supports this cell keeps its distance.
            let is_kept = self.distances[index] != distance
                || self.is_free(index)
                    && if distance == 0 {
                        self.goals.binary_search(&cell).is_ok()
                    } else {
                        self.best_move(index).0 <= distance
                    };
            if is_kept {
                continue;
            }
            self.set(index, UNREACHABLE);
            let mut mask = self.moves.inside(index);
            while mask != 0 {
                let code = mask.trailing_zeros();
                mask &= mask - 1;
                let (neighbour, _) = self.moves.target(index, code);
                let neighbour_distance = self.distances[neighbour];
                // The code of an obstacle is an escape code, not a support; obstacles have no distance.
                let leads_here = self.next[neighbour] == self.neighbours.opposite(code as u8);
                if leads_here && neighbour_distance != UNREACHABLE && neighbour_distance > distance {
                    heap.push(neighbour_distance, neighbour as u32);
                }
            }
            if self.changed.len() > self.change_limit {
                return None;
            }
        }
        Some(())
    }

    /// Spreads the remaining distances. Returns whether a distance was too large.
    fn spread(&mut self, seeds: &[u32], added: &[u32]) -> Option<bool> {
        let mut heap = RadixHeap::new();
        let mut is_cut = false;
        for &cell in added {
            self.set(cell as usize, 0);
            heap.push(0, cell);
        }
        let invalidated: Vec<u32> = self.changed.iter().map(|&(cell, _)| cell).collect();
        for cell in invalidated.into_iter().chain(seeds.iter().copied()) {
            let index = cell as usize;
            if self.distances[index] == 0 || !self.is_free(index) {
                continue;
            }
            let (new_distance, code) = self.best_move(index);
            is_cut |= code != NEXT_NONE && new_distance >= self.distance_end;
            if new_distance < self.distances[index].min(self.distance_end) {
                self.set(index, new_distance);
                heap.push(new_distance, cell);
            }
        }
        while let Some((distance, cell)) = heap.pop() {
            let index = cell as usize;
            if self.distances[index] != distance {
                continue;
            }
            let cost = self.cost(index);
            let mut mask = self.moves.mask(index);
            while mask != 0 {
                let code = mask.trailing_zeros();
                mask &= mask - 1;
                let (target, step) = self.moves.target(index, code);
                let new_distance = distance.saturating_add(step.saturating_mul(cost));
                is_cut |= new_distance >= self.distance_end;
                if new_distance < self.distances[target].min(self.distance_end) && self.is_free(target) {
                    self.set(target, new_distance);
                    heap.push(new_distance, target as u32);
                }
            }
            if self.changed.len() > self.change_limit {
                return None;
            }
        }
        Some(is_cut)
    }

    /// Finds the codes again that may have changed.
    fn find_codes(&mut self, seeds: &[u32]) {
        let mut visited = BitSet::new(self.next.len());
        let mut find = |this: &mut Self, index: usize| {
            if visited.insert(index) && this.is_free(index) {
                let has_next = this.distances[index] != UNREACHABLE && this.distances[index] != 0;
                this.next[index] = if has_next { this.best_move(index).1 } else { NEXT_NONE };
            }
        };
        for &cell in seeds {
            find(self, cell as usize);
        }
        let changed = std::mem::take(&mut self.changed);
        for &(cell, _) in &changed {
            find(self, cell as usize);
            // Allowed moves are symmetric, so this cell's mask leads to all cells that may move here.
            let mut mask = self.moves.mask(cell as usize);
            while mask != 0 {
                let (neighbour, _) = self.moves.target(cell as usize, mask.trailing_zeros());
                mask &= mask - 1;
                find(self, neighbour);
            }
        }
        self.changed = changed;
    }

    /// Finds the escape codes again in all connected components of obstacles that a change touches.
    fn find_escape_codes(&mut self, edited: &[u32]) {
        let mut visited = BitSet::new(self.next.len());
        let mut walls: Vec<u32> = Vec::new();
        let reached = self.changed.iter().filter(|&&(cell, before)| {
            (before == UNREACHABLE) != (self.distances[cell as usize] == UNREACHABLE)
        });
        for cell in reached.map(|&(cell, _)| cell).chain(edited.iter().copied()) {
            let index = cell as usize;
            for neighbour in self.neighbours.around(index).map(|(_, neighbour)| neighbour).chain([index]) {
                if self.neighbours.is_obstacle(neighbour) && visited.insert(neighbour) {
                    walls.push(neighbour as u32);
                }
            }
        }
        let limit = self.next.len() / ESCAPE_SHARE + ESCAPE_SHARE;
        let mut next_wall = 0;
        while let Some(&wall) = walls.get(next_wall) {
            next_wall += 1;
            for (_, neighbour) in self.neighbours.around(wall as usize) {
                if self.neighbours.is_obstacle(neighbour) && visited.insert(neighbour) {
                    walls.push(neighbour as u32);
                }
            }
            if walls.len() > limit {
                for index in (0..self.next.len()).filter(|&index| self.neighbours.is_obstacle(index)) {
                    self.next[index] = NEXT_NONE;
                }
                escape::add(self.grid, self.distances, self.next);
                return;
            }
        }
        let mut deep = Vec::new();
        for &wall in &walls {
            let found = self
                .neighbours
                .around(wall as usize)
                .find(|&(_, neighbour)| self.distances[neighbour] != UNREACHABLE);
            self.next[wall as usize] = found.map_or(NEXT_NONE, |(code, _)| code);
            if found.is_none() {
                deep.push(wall);
            }
        }
        escape::add_deeper_levels(self.grid, deep, self.next);
    }

    /// Brings the statistics of the field up to date.
    fn update_stats(&self, stats: &mut Stats) {
        let unit = self.grid.connectivity().unit();
        let level = |distance: u32| if distance == UNREACHABLE { 0 } else { distance / unit + 1 };
        let (mut new_levels, mut has_farthest_changed) = (0, false);
        for &(cell, before) in &self.changed {
            let now = self.distances[cell as usize];
            new_levels = new_levels.max(level(now));
            has_farthest_changed |= level(before) == stats.levels;
            stats.reached_count += usize::from(now != UNREACHABLE);
            stats.reached_count -= usize::from(before != UNREACHABLE);
        }
        if new_levels >= stats.levels {
            stats.levels = new_levels;
        } else if has_farthest_changed {
            stats.levels = farthest(self.distances) / unit + 1;
        }
        stats.rounds = stats.levels;
    }
}

/// The largest distance of a reached cell; 0 if no cell is reached.
fn farthest(distances: &[u32]) -> u32 {
    let chunks: Vec<&[u32]> = distances.chunks(1 << 16).collect();
    // `UNREACHABLE` wraps to 0, so it never wins.
    let ends = map(&chunks, |cells| cells.iter().fold(0, |end, &distance| end.max(distance.wrapping_add(1))));
    ends.into_iter().max().unwrap_or(0).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::cells::GridOptions;
    use crate::flow::grid::moves::Connectivity;

    /// Behind a cell that is blocked at the side of an open grid, paths go around it. No other distance is set.
    #[test]
    fn only_cells_whose_distance_changes_are_solved_again() {
        for cost in [1, 3] {
            let costs = if cost == 1 { Vec::new() } else { vec![cost; 27] };
            let options = || GridOptions { costs: costs.clone(), ..Connectivity::Four.into() };
            let (open, mut blocked) = (Arc::new(Grid::new([9, 3, 1], &[], options()).unwrap()), [false; 27]);
            blocked[4] = true;
            let grid = Grid::new([9, 3, 1], &blocked, options()).unwrap();
            let goals = |grid: &Grid| Goals::new(grid, &[[0, 0].into()]).unwrap();
            let field = solve(&open, goals(&open), FieldLimits::default(), &Awaited::default()).unwrap();
            let mut data = Arc::try_unwrap(field.into_data()).unwrap();
            let FieldCells::Host { distances, next } = &mut data.cells else {
                panic!("the field is not on the host")
            };
            let goals = goals(&grid);
            let mut repair = Repair {
                grid: &grid,
                moves: MoveLookup::new(&grid),
                neighbours: Neighbours::new(&grid),
                distances,
                next,
                goals: &goals.cells,
                distance_end: UNREACHABLE,
                recorded: BitSet::new(27),
                changed: Vec::new(),
                change_limit: 27,
            };
            assert_eq!(repair.run(&[4], &[], &[], false), Some(()));
            repair.changed.sort_unstable();
            assert_eq!(repair.changed, [4, 5, 6, 7, 8].map(|cell| (cell, cell * cost)));
            let ahead = [0, 1, 2, 3].map(|distance| distance * cost);
            let behind = [7, 8, 9, 10].map(|distance| distance * cost);
            assert_eq!((&repair.distances[..4], &repair.distances[5..9]), (&ahead[..], &behind[..]));
        }
    }
}
