//! A wave over tiles of 8 × 8 cells, a bit a cell: all steps 1, four neighbours.
//!
//! A level of the wave is a word in each tile that it crosses, moved on by shifts. The levels of a tile's cells are kept as
//! bytes past the level at which the tile was entered, one line of memory a tile, and made distances at the end.

use super::{Limits, rows};
use crate::flow::grid::Grid;

/// Cells along the edge of a tile.
const EDGE: usize = 8;
/// The level of a cell that the wave has not reached.
const NEVER: u8 = 255;
/// Levels past the first of its tile that a byte holds; what is later is kept apart.
const SPAN: u32 = 254;
/// Cells from which on a grid is cut in strips for threads, and rows of tiles of a strip at least.
#[cfg(feature = "threads")]
const STRIPS_WORTH_COUNT: usize = 1 << 20;
#[cfg(feature = "threads")]
const STRIP_ROWS: usize = 8;
/// Tiles with a front from which on threads are called for them.
const FRONT_WORTH_COUNT: usize = 256;
const WEST: u64 = 0x0101_0101_0101_0101;
const EAST: u64 = WEST << 7;

/// A tile of the wave; cell `x, y` of it is bit `8 y + x`.
#[derive(Debug, Clone, Copy, Default)]
struct Tile {
    /// Cells that are free and not reached yet.
    open: u64,
    /// Cells of the level on hand and of the next, by the level's parity.
    fronts: [u64; 2],
    /// The level at which the tile was entered; without meaning before.
    base: u32,
    is_entered: bool,
}

/// Rows of a grid's tiles, with a border around: beside the grid it holds no cell, beside other rows a copy of the nearest.
struct Tiles {
    tiles: Vec<Tile>,
    /// Levels of each tile's cells past its base.
    levels: Vec<[u8; 64]>,
    /// Cells whose level is too far past its tile's base: index and level.
    far: Vec<(u32, u32)>,
    /// Tiles in a row, borders included.
    across: usize,
    width: usize,
    /// The first row of tiles that is not the border, and how many there are.
    first: usize,
    row_count: usize,
    /// The tiles that have a front, `count` of them, and room for those that will have one.
    now: Vec<u32>,
    count: usize,
    ahead: Vec<u32>,
}

/// The distances from the goals, up to the limits.
pub(super) fn solve(grid: &Grid, goals: &[u32], limits: &mut Limits) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let strip_count = if limits.is_until { 1 } else { strip_count(grid) };
    solve_in(grid, goals, limits, rows.div_ceil(strip_count))
}

/// How many strips to cut the grid in: some for each thread, so that they find enough to do.
fn strip_count(grid: &Grid) -> usize {
    #[cfg(feature = "threads")]
    if grid.cell_count() >= STRIPS_WORTH_COUNT {
        let thread_count = rayon::current_num_threads();
        let rows = (grid.size()[1] as usize).div_ceil(EDGE);
        return if thread_count == 1 { 1 } else { (2 * thread_count).min(rows / STRIP_ROWS).max(1) };
    }
    let _ = grid;
    1
}

/// The same in strips of so many rows of tiles.
pub(super) fn solve_in(grid: &Grid, goals: &[u32], limits: &mut Limits, strip_rows: usize) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let firsts: Vec<usize> = (0..rows).step_by(strip_rows).collect();
    let mut strips = rows::map(&firsts, |&first| Tiles::new(grid, first, strip_rows.min(rows - first)));
    if let [tiles] = &mut strips[..] {
        tiles.spread(grid, goals, limits);
    } else {
        spread_strips(&mut strips, goals, limits.most, strip_rows);
    }
    distances(&strips, grid, strip_rows)
}

/// Lets the wave run from the goals, on all cores: for eight levels each strip goes on by itself, as what is beyond the
/// nearest row of tiles of another takes nine to come in. Then that row is copied anew.
fn spread_strips(strips: &mut [Tiles], goals: &[u32], most: u32, strip_rows: usize) {
    for &goal in goals {
        let row = goal as usize / strips[0].width / EDGE;
        strips[row / strip_rows].add_goal(goal as usize);
    }
    let mut level = 0;
    loop {
        for at in 1..strips.len() {
            let (above, below) = strips.split_at_mut(at);
            if let (Some(above), Some(below)) = (above.last_mut(), below.first_mut()) {
                share_rows(above, below);
            }
        }
        let step_count = (most - level).min(EDGE as u32);
        let front_count: usize = strips.iter().map(|strip| strip.count).sum();
        let run = |strip: &mut Tiles| strip.run(level, step_count);
        rows::for_each(strips, front_count >= FRONT_WORTH_COUNT, run);
        level += step_count;
        if strips.iter().all(|strip| strip.count == 0) {
            return;
        }
        if level == most {
            strips.iter_mut().for_each(|strip| strip.end(level));
            return;
        }
    }
}

/// Copies the rows of tiles in which two strips meet into one another's border.
fn share_rows(above: &mut Tiles, below: &mut Tiles) {
    if above.count == 0 && below.count == 0 {
        return;
    }
    let across = above.across;
    let last = above.row_count * across;
    above.tiles[last + across..].copy_from_slice(&below.tiles[across..2 * across]);
    below.tiles[..across].copy_from_slice(&above.tiles[last..last + across]);
    for (strip, from) in [(above, last + across), (below, 0)] {
        for at in from..from + across {
            // Of the level that is over nothing is left.
            if strip.tiles[at].fronts != [0; 2] {
                strip.now[strip.count] = at as u32;
                strip.count += 1;
            }
        }
    }
}

/// The distances of all cells, row-major.
fn distances(strips: &[Tiles], grid: &Grid, strip_rows: usize) -> Vec<u32> {
    let mut distances = vec![0; grid.cell_count()];
    let width = grid.width();
    rows::for_chunks(&mut distances, EDGE * width, |band, distances| {
        let strip = &strips[band / strip_rows];
        let from = (band % strip_rows + 1) * strip.across + 1;
        let tiles = from..from + strip.across - 2;
        for (row, distances) in distances.chunks_mut(width).enumerate() {
            row_distances(&strip.tiles[tiles.clone()], &strip.levels[tiles.clone()], row, distances);
        }
    });
    for &(index, level) in strips.iter().flat_map(|strip| &strip.far) {
        distances[index as usize] = level;
    }
    distances
}

impl Tiles {
    fn new(grid: &Grid, first: usize, row_count: usize) -> Self {
        let width = grid.width();
        let across = width.div_ceil(EDGE) + 2;
        let mut tiles = vec![Tile::default(); across * (row_count + 2)];
        let free = super::masks::FreeRows::new(grid);
        rows::for_chunks(&mut tiles, across, |tile_row, tiles| {
            if tile_row == 0 || tile_row > row_count {
                return;
            }
            for row in 0..EDGE {
                let y = ((first + tile_row - 1) * EDGE + row) as isize;
                for (word, tiles) in tiles[1..across - 1].chunks_mut(8).enumerate() {
                    let cells = free.word(word as isize, y, 0);
                    for (byte, tile) in tiles.iter_mut().enumerate() {
                        tile.open |= (cells >> (8 * byte) & 0xff) << (8 * row);
                    }
                }
            }
        });
        let levels = vec![[NEVER; 64]; tiles.len()];
        let now = vec![0; tiles.len() + 1];
        let ahead = now.clone();
        Self { tiles, levels, far: Vec::new(), across, width, first, row_count, now, count: 0, ahead }
    }

    /// The tile and the bit of a cell.
    fn place(&self, index: usize) -> (usize, u64) {
        let (x, y) = (index % self.width, index / self.width);
        ((y / EDGE + 1 - self.first) * self.across + x / EDGE + 1, 1 << (y % EDGE * EDGE + x % EDGE))
    }

    fn add_goal(&mut self, goal: usize) {
        let (at, bit) = self.place(goal);
        let tile = &mut self.tiles[at];
        if tile.fronts[0] == 0 {
            self.now[self.count] = at as u32;
            self.count += 1;
        }
        tile.fronts[0] |= bit;
        tile.open &= !bit;
    }

    /// Lets the wave run from the goals, where these rows are all there are.
    fn spread(&mut self, grid: &Grid, goals: &[u32], limits: &mut Limits) {
        goals.iter().for_each(|&goal| self.add_goal(goal as usize));
        let mut level = 0;
        while self.count > 0 {
            let is_settled = |cell| {
                let (at, bit) = self.place(cell);
                self.tiles[at].open & bit == 0 && grid.is_free(grid.cell(cell))
            };
            if level == limits.most || limits.are_settled(is_settled) {
                return self.end(level);
            }
            self.step(level);
            level += 1;
        }
    }

    /// Moves the wave on by as many levels; tiles of the border are no longer among those that have a front.
    fn run(&mut self, level: u32, step_count: u32) {
        for step in 0..step_count {
            if self.count > 0 {
                self.step(level + step);
            }
        }
        let own = self.across..self.across * (self.row_count + 1);
        let mut kept_count = 0;
        for place in 0..self.count {
            let at = self.now[place];
            self.now[kept_count] = at;
            kept_count += usize::from(own.contains(&(at as usize)));
        }
        self.count = kept_count;
    }

    /// Writes down the last level.
    fn end(&mut self, level: u32) {
        for place in 0..self.count {
            self.enter(self.now[place] as usize, level);
        }
    }

    /// Moves the wave on by one level.
    fn step(&mut self, level: u32) {
        let now = std::mem::take(&mut self.now);
        let mut ahead = std::mem::take(&mut self.ahead);
        let last = self.tiles.len() - 1;
        let later = (level & 1 ^ 1) as usize;
        let mut count = 0;
        let mut reach = |tile: &mut Tile, at: usize, cells: u64| {
            let found = cells & tile.open;
            // Written past the end of the list, and kept where the tile is new there: without a branch.
            ahead[count] = at as u32;
            count += usize::from((found != 0) & (tile.fronts[later] == 0));
            tile.open ^= found;
            tile.fronts[later] |= found;
        };
        for &at in &now[..self.count] {
            let at = at as usize;
            let front = self.enter(at, level);
            let inner = front << EDGE | front >> EDGE | (front & !EAST) << 1 | (front & !WEST) >> 1;
            reach(&mut self.tiles[at], at, inner);
            // From the border it does not matter where else it would go.
            let (north, south) = (at.saturating_sub(self.across), (at + self.across).min(last));
            reach(&mut self.tiles[north], north, front << 56);
            reach(&mut self.tiles[south], south, front >> 56);
            reach(&mut self.tiles[at - 1], at - 1, (front & WEST) << 7);
            reach(&mut self.tiles[at + 1], at + 1, (front & EAST) >> 7);
        }
        (self.now, self.ahead, self.count) = (ahead, now, count);
    }

    /// Takes the front of a tile, and writes down its level.
    #[inline(always)]
    fn enter(&mut self, at: usize, level: u32) -> u64 {
        let tile = &mut self.tiles[at];
        let front = std::mem::take(&mut tile.fronts[(level & 1) as usize]);
        if !tile.is_entered {
            tile.is_entered = true;
            tile.base = level;
        }
        let past = level - tile.base;
        let mut cells = front;
        if past < SPAN {
            let levels = &mut self.levels[at];
            while cells != 0 {
                levels[(cells.trailing_zeros() & 63) as usize] = past as u8;
                cells &= cells - 1;
            }
        } else {
            let (column, row) = (at % self.across, at / self.across);
            // The border's cells are another strip's.
            if row == 0 || row > self.row_count {
                return front;
            }
            let (x, y) = ((column - 1) * EDGE, (self.first + row - 1) * EDGE);
            while cells != 0 {
                let bit = cells.trailing_zeros() as usize;
                self.far.push((((y + bit / EDGE) * self.width + x + bit % EDGE) as u32, level));
                cells &= cells - 1;
            }
        }
        front
    }
}

/// The distances of a row of cells, of the row `row` of its tiles.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn row_distances(tiles: &[Tile], levels: &[[u8; 64]], row: usize, distances: &mut [u32]) {
    let from = row % EDGE * EDGE;
    let full = distances.len() / EDGE * EDGE;
    let (full, rest) = distances.split_at_mut(full);
    // A branch on each cell would cost more than the sum: what was never reached has all bits set.
    let distance =
        |base: u32, past: u8| base.wrapping_add(past.into()) | u32::from(past == NEVER).wrapping_neg();
    for ((tile, levels), cells) in tiles.iter().zip(levels).zip(full.chunks_exact_mut(EDGE)) {
        for x in 0..EDGE {
            cells[x] = distance(tile.base, levels[from + x]);
        }
    }
    if let (Some(tile), Some(levels)) = (tiles.last(), levels.last()) {
        let levels = &levels[from..];
        rest.iter_mut().zip(levels).for_each(|(cell, &past)| *cell = distance(tile.base, past));
    }
}
