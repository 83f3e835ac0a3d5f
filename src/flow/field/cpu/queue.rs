//! A wave cell by cell, a queue of them: all steps 1, four neighbours, in corridors and small grids.

use crate::flow::field::cpu::limits::Limits;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::pending::Awaited;

/// Cells that the queue has room for at first.
const START_COUNT: usize = 1 << 13;
/// Cells after which a wave looks whether anybody still waits for it.
const PART_COUNT: usize = 1 << 16;

/// The distances from the goals, up to the limits.
/// `is_straight` says that most cells lead on to one other.
pub(crate) fn solve(grid: &Grid, goals: &[u32], limits: &mut Limits, is_straight: bool) -> Vec<u32> {
    let mut wave = Wave::new(grid, goals);
    if limits.is_until || limits.most < UNREACHABLE - 1 {
        wave.spread_to(grid, limits);
    } else if is_straight {
        wave.spread_straight(&limits.awaited);
    } else {
        wave.spread(&limits.awaited);
    }
    wave.distances(grid)
}

struct Wave {
    /// With a border around, so that no neighbour need be looked for. Obstacles are nearer than all: no wave enters them.
    levels: Vec<u32>,
    across: usize,
    width: usize,
    queue: Queue,
}

/// Cells that the wave has come to, in its order. Those that it has gone on from are forgotten: a few thousand are left, which
/// stay near the core.
#[derive(Default)]
struct Queue {
    /// The cells are from `head` to `tail`.
    cells: Vec<u32>,
    head: usize,
    tail: usize,
}

impl Queue {
    /// The same with room for five more. By value, so that a wave keeps all of it in registers.
    #[cold]
    #[inline(never)]
    fn with_room(mut self) -> Self {
        self.cells.copy_within(self.head..self.tail, 0);
        (self.head, self.tail) = (0, self.tail - self.head);
        // Half of it at least is free, so that this is seldom.
        self.cells.resize(self.cells.len().max(2 * self.tail + 10), 0);
        self
    }

    fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The first cell, where there is one; there is room for five more then.
    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        if self.head == self.tail {
            return None;
        }
        if self.tail + 5 > self.cells.len() {
            *self = std::mem::take(self).with_room();
        }
        self.head += 1;
        Some(self.cells[self.head - 1] as usize)
    }

    /// Writes a cell past the end, and keeps it there where told. There must be room.
    #[inline(always)]
    fn push(&mut self, at: usize, is_kept: bool) {
        self.cells[self.tail] = at as u32;
        self.tail += usize::from(is_kept);
    }
}

impl Wave {
    fn new(grid: &Grid, goals: &[u32]) -> Self {
        let width = grid.width();
        let across = width + 2;
        let height = grid.size()[1] as usize;
        let mut levels = vec![0; across * (height + 2)];
        let rows = levels[across..].chunks_exact_mut(across);
        for (levels, blocked) in rows.zip(grid.blocked_words().chunks(grid.row_words())) {
            for (levels, &blocked) in levels[1..=width].chunks_mut(64).zip(blocked) {
                fill(levels, !blocked);
            }
        }
        let cells = vec![0; START_COUNT.max(2 * goals.len())];
        let mut wave = Self { levels, across, width, queue: Queue { cells, head: 0, tail: 0 } };
        for &goal in goals {
            let at = wave.place(goal as usize);
            wave.levels[at] = 0;
            wave.queue.push(at, true);
        }
        wave
    }

    /// Of a cell's index, its place among the levels.
    fn place(&self, index: usize) -> usize {
        index / self.width * self.across + index % self.width + self.across + 1
    }

    /// Lets the wave run to its end.
    fn spread(&mut self, awaited: &Awaited) {
        let Self { levels, across, .. } = self;
        let mut queue = std::mem::take(&mut self.queue);
        while !queue.is_empty() && awaited.is_awaited() {
            for _ in 0..PART_COUNT {
                let Some(at) = queue.pop() else { break };
                let level = levels[at] + 1;
                // Whether the cell is new is no branch: nobody could foresee it.
                for near in [at - *across, at + 1, at + *across, at - 1] {
                    let held = levels[near];
                    queue.push(near, held == UNREACHABLE);
                    levels[near] = held.min(level);
                }
            }
        }
    }

    /// The same where one cell is followed by one other mostly: branches are foreseen then, and nobody waits for their answers.
    fn spread_straight(&mut self, awaited: &Awaited) {
        let Self { levels, across, .. } = self;
        let mut queue = std::mem::take(&mut self.queue);
        while !queue.is_empty() && awaited.is_awaited() {
            for _ in 0..PART_COUNT {
                let Some(at) = queue.pop() else { break };
                let level = levels[at] + 1;
                for near in [at - *across, at + 1, at + *across, at - 1] {
                    if levels[near] == UNREACHABLE {
                        levels[near] = level;
                        queue.push(near, true);
                    }
                }
            }
        }
    }

    /// Lets the wave run level by level, up to the limits.
    fn spread_to(&mut self, grid: &Grid, limits: &mut Limits) {
        let mut level = 0;
        while self.queue.head < self.queue.tail {
            let is_settled =
                |cell: usize| self.levels[self.place(cell)] <= level && grid.is_free(grid.cell(cell));
            if level == limits.most || limits.are_settled(is_settled) {
                break;
            }
            level += 1;
            // All cells of a level are in the queue when its turn comes.
            for _ in self.queue.head..self.queue.tail {
                let Some(at) = self.queue.pop() else { break };
                for near in [at - self.across, at + 1, at + self.across, at - 1] {
                    let held = self.levels[near];
                    self.queue.push(near, held == UNREACHABLE);
                    self.levels[near] = held.min(level);
                }
            }
        }
    }

    /// The levels without their border.
    fn distances(self, grid: &Grid) -> Vec<u32> {
        let Self { levels: mut distances, across, width, .. } = self;
        for (row, blocked) in grid.blocked_words().chunks(grid.row_words()).enumerate() {
            let (to, from) = (row * width, (row + 1) * across + 1);
            distances.copy_within(from..from + width, to);
            for (distances, &blocked) in distances[to..to + width].chunks_mut(64).zip(blocked) {
                raise(distances, blocked);
            }
        }
        distances.truncate(grid.cell_count());
        // What the border leaves is little, but for grids that are little else.
        if distances.capacity() / 8 > distances.len() / 7 {
            distances.shrink_to_fit();
        }
        distances
    }
}

/// Makes those cells unreachable whose bit is set, and the others 0.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn fill(cells: &mut [u32], bits: u64) {
    for (half, cells) in cells.chunks_mut(32).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, cell) in cells.iter_mut().enumerate() {
            *cell = (bits >> (x & 31) & 1).wrapping_neg();
        }
    }
}

/// Makes those cells unreachable whose bit is set.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn raise(cells: &mut [u32], bits: u64) {
    for (half, cells) in cells.chunks_mut(32).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, cell) in cells.iter_mut().enumerate() {
            *cell |= (bits >> (x & 31) & 1).wrapping_neg();
        }
    }
}
