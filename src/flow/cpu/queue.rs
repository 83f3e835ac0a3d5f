//! A wave cell by cell, a queue of them: all steps 1, four neighbours, in corridors and small grids.

use super::Limits;
use super::masks::FreeRows;
use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;

/// Cells up to which all that a queue needs lies near enough to the core.
const SMALL_COUNT: usize = 3 << 17;

/// Whether a queue does better than tiles: the grid is small, or so few cells lie in the open that a wave has but a cell or
/// two in each tile.
pub(super) fn is_better(grid: &Grid) -> bool {
    if grid.cell_count() <= SMALL_COUNT {
        return true;
    }
    let free = FreeRows::new(grid);
    let height = grid.size()[1] as isize;
    let (mut free_count, mut square_count) = (0u64, 0u64);
    // Every seventh row tells enough.
    for y in (0..height).step_by(7) {
        for word in 0..grid.row_words() as isize {
            let (here, below) = (free.word(word, y, 0), free.word(word, y + 1, 0));
            let both = here & below;
            free_count += u64::from(here.count_ones());
            square_count += u64::from((both & both >> 1).count_ones());
        }
    }
    16 * square_count < free_count
}

/// The distances from the goals, up to the limits.
pub(super) fn solve(grid: &Grid, goals: &[u32], limits: &mut Limits) -> Vec<u32> {
    let width = grid.width();
    // A border around, so that no neighbour need be looked for. Obstacles are nearer than all: no wave enters them.
    let across = width + 2;
    let height = grid.size()[1] as usize;
    let mut levels = vec![0; across * (height + 2)];
    let rows = |row: usize| (row + 1) * across + 1..(row + 1) * across + 1 + width;
    let (blocked, row_words) = (grid.blocked_words(), grid.row_words());
    let mark_obstacles = |levels: &mut [u32], row: usize, mark: u32| {
        for (cells, &word) in levels.chunks_mut(64).zip(&blocked[row * row_words..]) {
            let mut bits = word;
            while bits != 0 {
                cells[bits.trailing_zeros() as usize] = mark;
                bits &= bits - 1;
            }
        }
    };
    for row in 0..height {
        let levels = &mut levels[rows(row)];
        levels.fill(UNREACHABLE);
        mark_obstacles(levels, row, 0);
    }
    let inner = |index: usize| (index / width + 1) * across + index % width + 1;
    let mut queue = Vec::with_capacity(grid.cell_count() - grid.obstacle_count());
    queue.extend(goals.iter().map(|&goal| inner(goal as usize) as u32));
    queue.iter().for_each(|&goal: &u32| levels[goal as usize] = 0);
    let mut head = 0;
    let mut level = 0;
    while head < queue.len() {
        // All cells of a level are in the queue when its turn comes.
        let end = queue.len();
        if level == limits.most
            || limits.are_settled(|cell| levels[inner(cell)] <= level && grid.is_free(grid.cell(cell)))
        {
            break;
        }
        level += 1;
        for place in head..end {
            let at = queue[place] as usize;
            for near in [at - across, at + 1, at + across, at - 1] {
                if levels[near] == UNREACHABLE {
                    levels[near] = level;
                    queue.push(near as u32);
                }
            }
        }
        head = end;
    }
    let mut distances = Vec::with_capacity(width * height);
    for row in 0..height {
        distances.extend_from_slice(&levels[rows(row)]);
        mark_obstacles(&mut distances[row * width..], row, UNREACHABLE);
    }
    distances
}
