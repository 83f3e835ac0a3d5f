//! A breadth-first wave through a queue of cells, for grids of four neighbours in which all steps are 1: in corridors,
//! thickets and small grids.

use crate::flow::field::cpu::rows;
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::pending::Awaited;

/// The number of cells that the queue has room for at first.
const START_LEN: usize = 1 << 13;
/// The number of cells after which the wave checks whether anybody still waits for it.
const CHECK_INTERVAL: usize = 1 << 16;

/// The distances from the goals, up to the stop conditions. `is_corridor` says that most cells lead on to one other
/// cell.
pub(crate) fn solve(grid: &Grid, goals: &[u32], stop: &mut StopConditions, is_corridor: bool) -> Vec<u32> {
    let mut wave = QueueWave::new(grid, goals);
    if stop.has_targets || stop.max_distance < UNREACHABLE - 1 {
        wave.run_until(grid, stop);
    } else if is_corridor {
        wave.run_in_corridors(&stop.awaited);
    } else {
        wave.run(&stop.awaited);
    }
    wave.distances(grid)
}

struct QueueWave {
    /// The levels, with a border around the grid, so neighbours need no bounds check. Obstacles and the border hold 0,
    /// less than any new level, so the wave never enters them.
    levels: Vec<u32>,
    pitch: usize,
    width: usize,
    queue: Queue,
}

/// The cells that the wave has reached but not expanded, in order. Expanded cells are dropped, so the queue holds a few
/// thousand cells and stays in the cache.
#[derive(Default)]
struct Queue {
    /// The queued cells are those from `head` to `tail`.
    cells: Vec<u32>,
    head: usize,
    tail: usize,
}

impl Queue {
    /// The queue with room for five more cells. It is taken by value so that a wave keeps its fields in registers.
    #[cold]
    #[inline(never)]
    fn grown(mut self) -> Self {
        self.cells.copy_within(self.head..self.tail, 0);
        (self.head, self.tail) = (0, self.tail - self.head);
        // At least half stays free, so this is seldom called.
        self.cells.resize(self.cells.len().max(2 * self.tail + 10), 0);
        self
    }

    fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Removes the first cell, if there is one, and makes room for five more.
    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        if self.head == self.tail {
            return None;
        }
        if self.tail + 5 > self.cells.len() {
            *self = std::mem::take(self).grown();
        }
        self.head += 1;
        Some(self.cells[self.head - 1] as usize)
    }

    /// Writes a cell past the end, and appends it if `is_kept`. There must be room.
    #[inline(always)]
    fn push(&mut self, cell: usize, is_kept: bool) {
        self.cells[self.tail] = cell as u32;
        self.tail += usize::from(is_kept);
    }
}

impl QueueWave {
    fn new(grid: &Grid, goals: &[u32]) -> Self {
        let width = grid.width();
        let pitch = width + 2;
        let height = grid.size()[1] as usize;
        let mut levels = vec![0; pitch * (height + 2)];
        let rows = levels[pitch..].chunks_exact_mut(pitch);
        for (levels, blocked) in rows.zip(grid.blocked_words().chunks(grid.row_words())) {
            for (levels, &blocked) in levels[1..=width].chunks_mut(64).zip(blocked) {
                init_levels(levels, !blocked);
            }
        }
        let cells = vec![0; START_LEN.max(2 * goals.len())];
        let mut wave = Self { levels, pitch, width, queue: Queue { cells, head: 0, tail: 0 } };
        for &goal in goals {
            let cell = wave.padded_index(goal as usize);
            wave.levels[cell] = 0;
            wave.queue.push(cell, true);
        }
        wave
    }

    /// The position of a cell in `levels`, by its index in the grid.
    fn padded_index(&self, index: usize) -> usize {
        index / self.width * self.pitch + index % self.width + self.pitch + 1
    }

    /// Runs the wave to its end.
    fn run(&mut self, awaited: &Awaited) {
        let Self { levels, pitch, .. } = self;
        let mut queue = std::mem::take(&mut self.queue);
        while !queue.is_empty() && awaited.is_awaited() {
            for _ in 0..CHECK_INTERVAL {
                let Some(cell) = queue.pop() else { break };
                let level = levels[cell] + 1;
                // A branch on whether the cell is new would be mispredicted too often, so the cell is always written.
                for neighbour in [cell - *pitch, cell + 1, cell + *pitch, cell - 1] {
                    let old_level = levels[neighbour];
                    queue.push(neighbour, old_level == UNREACHABLE);
                    levels[neighbour] = old_level.min(level);
                }
            }
        }
    }

    /// The same for corridors: there branches are predicted well, and cost less than writing every cell.
    fn run_in_corridors(&mut self, awaited: &Awaited) {
        let Self { levels, pitch, .. } = self;
        let mut queue = std::mem::take(&mut self.queue);
        while !queue.is_empty() && awaited.is_awaited() {
            for _ in 0..CHECK_INTERVAL {
                let Some(cell) = queue.pop() else { break };
                let level = levels[cell] + 1;
                for neighbour in [cell - *pitch, cell + 1, cell + *pitch, cell - 1] {
                    if levels[neighbour] == UNREACHABLE {
                        levels[neighbour] = level;
                        queue.push(neighbour, true);
                    }
                }
            }
        }
    }

    /// Runs the wave level by level, up to the stop conditions.
    fn run_until(&mut self, grid: &Grid, stop: &mut StopConditions) {
        let mut level = 0;
        while self.queue.head < self.queue.tail {
            let is_settled = |target: usize| {
                self.levels[self.padded_index(target)] <= level && grid.is_free(grid.cell(target))
            };
            if level == stop.max_distance || stop.should_stop(is_settled) {
                break;
            }
            level += 1;
            // The queue now holds exactly the cells of one level.
            for _ in self.queue.head..self.queue.tail {
                let Some(cell) = self.queue.pop() else { break };
                for neighbour in [cell - self.pitch, cell + 1, cell + self.pitch, cell - 1] {
                    let old_level = self.levels[neighbour];
                    self.queue.push(neighbour, old_level == UNREACHABLE);
                    self.levels[neighbour] = old_level.min(level);
                }
            }
        }
    }

    /// Removes the border, in place, and makes obstacles unreachable.
    fn distances(self, grid: &Grid) -> Vec<u32> {
        let Self { levels: mut distances, pitch, width, .. } = self;
        for (row, blocked) in grid.blocked_words().chunks(grid.row_words()).enumerate() {
            let (row_start, padded_start) = (row * width, (row + 1) * pitch + 1);
            distances.copy_within(padded_start..padded_start + width, row_start);
            for (distances, &blocked) in distances[row_start..row_start + width].chunks_mut(64).zip(blocked) {
                set_unreachable(distances, blocked);
            }
        }
        distances.truncate(grid.cell_count());
        rows::shrink_narrow(&mut distances);
        distances
    }
}

/// Sets the cells whose bit is set to unreachable, and the others to 0.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn init_levels(cells: &mut [u32], bits: u64) {
    for (half, cells) in cells.chunks_mut(32).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, cell) in cells.iter_mut().enumerate() {
            *cell = (bits >> (x & 31) & 1).wrapping_neg();
        }
    }
}

/// Sets the cells whose bit is set to unreachable.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn set_unreachable(cells: &mut [u32], bits: u64) {
    for (half, cells) in cells.chunks_mut(32).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, cell) in cells.iter_mut().enumerate() {
            *cell |= (bits >> (x & 31) & 1).wrapping_neg();
        }
    }
}
