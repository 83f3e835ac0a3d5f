//! What changes of a field when its grid or its goals do.
//!
//! First the cells whose distance nothing supports any more lose it, nearest first, each taking along those whose next cell
//! it is; then these, and the cells around what changed, are relaxed from what is left, nearest first (Ramalingam and Reps
//! 1996, "An Incremental Algorithm for a Generalization of the Shortest-Path Problem"). As the fixpoint is unique the distances
//! are those of a field solved afresh; next cells are found again around those that changed, and exits in the lumps of
//! obstacles that a change touches.

use std::sync::Arc;

use crate::error::Result;
use crate::flow::field::cpu::exits;
use crate::flow::field::cpu::exits::Around;
use crate::flow::field::cpu::near::Near;
use crate::flow::field::cpu::radix::RadixHeap;
use crate::flow::field::cpu::solve::{Reused, solve, solve_in};
use crate::flow::field::solved::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::field::stats::Stats;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::flow::grid::moves::NEXT_NONE;
use crate::parallel::map;
use crate::pending::Awaited;

/// One in so many cells may change before it is quicker to solve all afresh.
const SHARE: usize = 96;
/// The same of obstacles whose exits are found again one by one.
const EXIT_SHARE: usize = 16;

/// Solves a field of a grid of the same shape again, the whole way where that is less work. Without cells to end at.
pub(crate) fn update(grid: &Arc<Grid>, field: Field, goals: Goals, awaited: &Awaited) -> Result<Field> {
    let request = FieldRequest { goals: goals.given.clone(), reach: field.shared.request.reach.clone() };
    let limit = grid.cell_count() / SHARE + 64;
    let before = Goals::new(&field.shared.grid, &field.shared.request.goals);
    let (Ok(before), Some(edited)) = (before, edited_cells(&field.shared.grid, grid, limit)) else {
        let reused = Arc::try_unwrap(field.shared).map(|data| data.cells.into()).unwrap_or_default();
        return solve_in(grid, goals, request.reach, reused, awaited);
    };
    let (mut stats, distances, next) = match Arc::try_unwrap(field.shared) {
        Ok(data) => match data.cells {
            FieldCells::Host { distances, next } => (data.stats, distances, next),
            FieldCells::Device(_) => return solve(grid, goals, request.reach, awaited),
        },
        Err(shared) => match &shared.cells {
            FieldCells::Host { distances, next } => (shared.stats, distances.clone(), next.clone()),
            FieldCells::Device(_) => return solve(grid, goals, request.reach, awaited),
        },
    };
    let most = request.reach.max_distance.unwrap_or(UNREACHABLE).min(UNREACHABLE - 1);
    let mut repair = Repair {
        grid,
        near: Near::new(grid),
        around: Around::new(grid),
        distances,
        next,
        goals: &goals.cells,
        bound: most + 1,
        touched: Marks::new(grid.cell_count()),
        changed: Vec::new(),
        limit,
    };
    let missing = |of: &[u32], from: &[u32]| -> Vec<u32> {
        of.iter().copied().filter(|goal| from.binary_search(goal).is_err()).collect()
    };
    let (removed, added) = (missing(&before.cells, &goals.cells), missing(&goals.cells, &before.cells));
    match repair.run(&edited, &removed, &added, request.reach.max_distance.is_some()) {
        None => {
            let reused = Reused { distances: repair.distances, next: repair.next };
            solve_in(grid, goals, request.reach, reused, awaited)
        }
        Some(()) => {
            repair.sum_up(&mut stats);
            let cells = FieldCells::Host { distances: repair.distances, next: repair.next };
            Ok(Field {
                shared: Arc::new(FieldData {
                    grid: Arc::clone(grid),
                    request,
                    goals: goals.report,
                    stats,
                    cells,
                }),
            })
        }
    }
}

/// A bit a cell.
pub(crate) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub(crate) fn new(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)] }
    }

    /// Marks a cell; true where it was not marked.
    pub(crate) fn mark(&mut self, at: usize) -> bool {
        let (word, bit) = (&mut self.words[at / 64], 1 << (at % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// The cells that differ: whether they are obstacles, or in their cost. None where there are more than the limit.
fn edited_cells(before: &Grid, grid: &Grid, limit: usize) -> Option<Vec<u32>> {
    let mut edited = Vec::new();
    let (width, row_words) = (grid.width(), grid.row_words());
    let words = before.blocked_words().iter().zip(grid.blocked_words()).enumerate();
    for (at, (before, word)) in words.filter(|(_, (before, word))| before != word) {
        let mut bits = before ^ word;
        while bits != 0 {
            let x = at % row_words * 64 + bits.trailing_zeros() as usize;
            edited.push((at / row_words * width + x) as u32);
            bits &= bits - 1;
        }
        if edited.len() > limit {
            return None;
        }
    }
    let costs = [before.costs(), grid.costs()];
    if costs.iter().any(|costs| !costs.is_empty()) {
        let unit = [1; 1024];
        for from in (0..grid.cell_count()).step_by(unit.len()) {
            let to = (from + unit.len()).min(grid.cell_count());
            let [before, after] = costs.map(|costs| costs.get(from..to).unwrap_or(&unit[..to - from]));
            if before != after {
                let differ = (from..to).filter(|at| before[at - from] != after[at - from]);
                edited.extend(differ.map(|at| at as u32));
                if edited.len() > limit {
                    return None;
                }
            }
        }
    }
    Some(edited)
}

/// A field that is being changed.
pub(crate) struct Repair<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) near: Near<'a>,
    around: Around<'a>,
    pub(crate) distances: Vec<u32>,
    pub(crate) next: Vec<u8>,
    /// Ascending.
    pub(crate) goals: &'a [u32],
    /// One past the largest distance.
    pub(crate) bound: u32,
    touched: Marks,
    /// The cells whose distance was set, with what it was before.
    pub(crate) changed: Vec<(u32, u32)>,
    pub(crate) limit: usize,
}

impl Repair<'_> {
    /// Does it all; none where too much changes, or a sum is too large.
    fn run(&mut self, edited: &[u32], removed: &[u32], added: &[u32], is_limited: bool) -> Option<()> {
        // A move may have changed where it begins, ends or passes at a cell that was edited.
        let mut seeds = edited.to_vec();
        for &cell in edited {
            seeds.extend(self.around.of(cell as usize).map(|(_, near)| near as u32));
        }
        if self.grid.has_unit_steps() {
            self.raise_units(&seeds, removed)?;
            self.lower_units(&seeds, added)?;
        } else {
            self.raise(&seeds, removed)?;
            let is_cut = self.lower(&seeds, added)?;
            if is_cut && !is_limited {
                return None;
            }
        }
        let distances = &self.distances;
        self.changed.retain(|&(cell, before)| distances[cell as usize] != before);
        if self.grid.has_unit_steps() {
            self.find_codes_of_units(&seeds);
        } else {
            self.find_codes(&seeds);
        }
        self.find_exits(edited);
        Some(())
    }

    pub(crate) fn set(&mut self, at: usize, distance: u32) {
        if self.touched.mark(at) {
            self.changed.push((at as u32, self.distances[at]));
        }
        self.distances[at] = distance;
    }

    fn cost(&self, at: usize) -> u32 {
        self.grid.costs().get(at).map_or(1, |&cost| cost)
    }

    pub(crate) fn is_free(&self, at: usize) -> bool {
        self.near.is_free(at)
    }

    /// The least sum by way of a neighbour that has a distance, and its code; the first of those that attain it. A sum past
    /// what is held is the largest number.
    fn best(&self, at: usize) -> (u32, u8) {
        let mut best = (UNREACHABLE, NEXT_NONE);
        let mut rest = self.near.mask(at);
        while rest != 0 {
            let code = rest.trailing_zeros();
            rest &= rest - 1;
            let (near, step) = self.near.to(at, code);
            let distance = self.distances[near];
            if distance < best.0 {
                let sum = distance.saturating_add(step.saturating_mul(self.cost(near)));
                if sum < best.0 || best.1 == NEXT_NONE {
                    best = (sum, code as u8);
                }
            }
        }
        best
    }

    /// Takes the distances away that nothing supports.
    fn raise(&mut self, seeds: &[u32], removed: &[u32]) -> Option<()> {
        let mut heap = RadixHeap::new();
        for &cell in seeds.iter().chain(removed) {
            let distance = self.distances[cell as usize];
            if distance != UNREACHABLE {
                heap.push(distance, cell);
            }
        }
        while let Some((distance, cell)) = heap.pop() {
            let at = cell as usize;
            // All that is nearer has been looked at: what supports this cell stays.
            let is_supported = self.distances[at] != distance
                || self.is_free(at)
                    && if distance == 0 {
                        self.goals.binary_search(&cell).is_ok()
                    } else {
                        self.best(at).0 <= distance
                    };
            if is_supported {
                continue;
            }
            self.set(at, UNREACHABLE);
            let mut rest = self.near.inside(at);
            while rest != 0 {
                let code = rest.trailing_zeros();
                rest &= rest - 1;
                let (near, _) = self.near.to(at, code);
                let farther = self.distances[near];
                // Obstacles have no distance, whatever they point to.
                let leads_here = self.next[near] == self.around.opposite(code as u8);
                if leads_here && farther != UNREACHABLE && farther > distance {
                    heap.push(farther, near as u32);
                }
            }
            if self.changed.len() > self.limit {
                return None;
            }
        }
        Some(())
    }

    /// Lets the distances that are left flow on; whether a sum was past the limit.
    fn lower(&mut self, seeds: &[u32], added: &[u32]) -> Option<bool> {
        let mut heap = RadixHeap::new();
        let mut is_cut = false;
        for &cell in added {
            self.set(cell as usize, 0);
            heap.push(0, cell);
        }
        let raised: Vec<u32> = self.changed.iter().map(|&(cell, _)| cell).collect();
        for cell in raised.into_iter().chain(seeds.iter().copied()) {
            let at = cell as usize;
            if self.distances[at] == 0 || !self.is_free(at) {
                continue;
            }
            let (sum, code) = self.best(at);
            is_cut |= code != NEXT_NONE && sum >= self.bound;
            if sum < self.distances[at].min(self.bound) {
                self.set(at, sum);
                heap.push(sum, cell);
            }
        }
        while let Some((distance, cell)) = heap.pop() {
            let at = cell as usize;
            if self.distances[at] != distance {
                continue;
            }
            let cost = self.cost(at);
            let mut rest = self.near.mask(at);
            while rest != 0 {
                let code = rest.trailing_zeros();
                rest &= rest - 1;
                let (to, step) = self.near.to(at, code);
                let sum = distance.saturating_add(step.saturating_mul(cost));
                is_cut |= sum >= self.bound;
                if sum < self.distances[to].min(self.bound) && self.is_free(to) {
                    self.set(to, sum);
                    heap.push(sum, to as u32);
                }
            }
            if self.changed.len() > self.limit {
                return None;
            }
        }
        Some(is_cut)
    }

    /// Finds the next cells again that may have changed.
    fn find_codes(&mut self, seeds: &[u32]) {
        let mut seen = Marks::new(self.next.len());
        let mut find = |this: &mut Self, at: usize| {
            if seen.mark(at) && this.is_free(at) {
                let has_next = this.distances[at] != UNREACHABLE && this.distances[at] != 0;
                this.next[at] = if has_next { this.best(at).1 } else { NEXT_NONE };
            }
        };
        for &cell in seeds {
            find(self, cell as usize);
        }
        let changed = std::mem::take(&mut self.changed);
        for &(cell, _) in &changed {
            find(self, cell as usize);
            // The mask of the one is the other's way back.
            let mut rest = self.near.mask(cell as usize);
            while rest != 0 {
                let (near, _) = self.near.to(cell as usize, rest.trailing_zeros());
                rest &= rest - 1;
                find(self, near);
            }
        }
        self.changed = changed;
    }

    /// Finds the exits again of all obstacles that hang together with one that a change touches.
    fn find_exits(&mut self, edited: &[u32]) {
        let mut seen = Marks::new(self.next.len());
        let mut walls: Vec<u32> = Vec::new();
        let reached = self.changed.iter().filter(|&&(cell, before)| {
            (before == UNREACHABLE) != (self.distances[cell as usize] == UNREACHABLE)
        });
        for cell in reached.map(|&(cell, _)| cell).chain(edited.iter().copied()) {
            let at = cell as usize;
            for near in self.around.of(at).map(|(_, near)| near).chain([at]) {
                if self.around.is_obstacle(near) && seen.mark(near) {
                    walls.push(near as u32);
                }
            }
        }
        let limit = self.next.len() / EXIT_SHARE + EXIT_SHARE;
        let mut place = 0;
        while let Some(&wall) = walls.get(place) {
            place += 1;
            for (_, near) in self.around.of(wall as usize) {
                if self.around.is_obstacle(near) && seen.mark(near) {
                    walls.push(near as u32);
                }
            }
            if walls.len() > limit {
                for at in (0..self.next.len()).filter(|&at| self.around.is_obstacle(at)) {
                    self.next[at] = NEXT_NONE;
                }
                exits::add(self.grid, &self.distances, &mut self.next);
                return;
            }
        }
        let mut deep = Vec::new();
        for &wall in &walls {
            let found = self.around.of(wall as usize).find(|&(_, near)| self.distances[near] != UNREACHABLE);
            self.next[wall as usize] = found.map_or(NEXT_NONE, |(code, _)| code);
            if found.is_none() {
                deep.push(wall);
            }
        }
        exits::deeper_levels(self.grid, deep, &mut self.next);
    }

    /// What the field's statistics become.
    fn sum_up(&self, stats: &mut Stats) {
        let unit = self.grid.connectivity().unit();
        let level = |distance: u32| if distance == UNREACHABLE { 0 } else { distance / unit + 1 };
        let (mut most, mut is_last_lost) = (0, false);
        for &(cell, before) in &self.changed {
            let now = self.distances[cell as usize];
            most = most.max(level(now));
            is_last_lost |= level(before) == stats.levels;
            stats.reached_count += usize::from(now != UNREACHABLE);
            stats.reached_count -= usize::from(before != UNREACHABLE);
        }
        if most >= stats.levels {
            stats.levels = most;
        } else if is_last_lost {
            stats.levels = reach(&self.distances).0 / unit + 1;
        }
        stats.rounds = stats.levels;
    }
}

/// The largest distance that is reached, and how many cells are.
fn reach(distances: &[u32]) -> (u32, usize) {
    let chunks: Vec<&[u32]> = distances.chunks(1 << 16).collect();
    let reached = map(&chunks, |cells| {
        // UNREACHABLE and one is 0.
        let most = cells.iter().fold(0, |most, &distance| most.max(distance.wrapping_add(1)));
        let count: u32 = cells.iter().map(|&distance| u32::from(distance != UNREACHABLE)).sum();
        (most, count as usize)
    });
    let (past, count) =
        reached.into_iter().fold((0, 0), |(most, sum), (next, count)| (next.max(most), sum + count));
    (past.saturating_sub(1), count)
}
