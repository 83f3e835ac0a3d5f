//! A wave over tiles of 8 × 8 cells, a bit a cell: all steps 1, four neighbours.
//!
//! A level of the wave is a word in each tile that it crosses, moved on by shifts. The levels of a tile's cells are kept as
//! bytes past the level at which the tile was entered, one line of memory a tile, and made distances at the end.

use super::{Limits, rows};
use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;

/// Cells along the edge of a tile.
const EDGE: usize = 8;
/// The level of a cell that the wave has not reached.
const NEVER: u8 = 255;
/// Levels past the first of its tile that a byte holds; what is later is kept apart.
const SPAN: u32 = 254;
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

/// The tiles of a grid, with a border of tiles around that hold no cell.
struct Tiles {
    tiles: Vec<Tile>,
    /// Levels of each tile's cells past its base.
    levels: Vec<[u8; 64]>,
    /// Cells whose level is too far past its tile's base: index and level.
    far: Vec<(u32, u32)>,
    /// Tiles in a row, borders included.
    across: usize,
    width: usize,
}

/// The distances from the goals, up to the limits.
pub(super) fn solve(grid: &Grid, goals: &[u32], limits: &mut Limits) -> Vec<u32> {
    let mut tiles = Tiles::new(grid);
    tiles.spread(grid, goals, limits);
    tiles.distances(grid.cell_count())
}

impl Tiles {
    fn new(grid: &Grid) -> Self {
        let [width, height, _] = grid.size().map(|length| length as usize);
        let (across, down) = (width.div_ceil(EDGE) + 2, height.div_ceil(EDGE) + 2);
        let mut tiles = vec![Tile::default(); across * down];
        let free = super::masks::FreeRows::new(grid);
        rows::for_chunks(&mut tiles, across, |tile_row, tiles| {
            if tile_row == 0 || tile_row + 1 == down {
                return;
            }
            for row in 0..EDGE {
                let y = ((tile_row - 1) * EDGE + row) as isize;
                for (word, tiles) in tiles[1..across - 1].chunks_mut(8).enumerate() {
                    let cells = free.word(word as isize, y, 0);
                    for (byte, tile) in tiles.iter_mut().enumerate() {
                        tile.open |= (cells >> (8 * byte) & 0xff) << (8 * row);
                    }
                }
            }
        });
        let levels = vec![[NEVER; 64]; tiles.len()];
        Self { tiles, levels, far: Vec::new(), across, width }
    }

    /// The tile and the bit of a cell.
    fn place(&self, index: usize) -> (usize, u64) {
        let (x, y) = (index % self.width, index / self.width);
        ((y / EDGE + 1) * self.across + x / EDGE + 1, 1 << (y % EDGE * EDGE + x % EDGE))
    }

    /// Lets the wave run from the goals.
    fn spread(&mut self, grid: &Grid, goals: &[u32], limits: &mut Limits) {
        let mut now = vec![0; self.tiles.len()];
        let mut ahead = now.clone();
        let mut count = 0;
        for &goal in goals {
            let (at, bit) = self.place(goal as usize);
            let tile = &mut self.tiles[at];
            if tile.fronts[0] == 0 {
                now[count] = at as u32;
                count += 1;
            }
            tile.fronts[0] |= bit;
            tile.open &= !bit;
        }
        let mut level = 0;
        while count > 0 {
            let is_settled = |cell| {
                let (at, bit) = self.place(cell);
                self.tiles[at].open & bit == 0 && grid.is_free(grid.cell(cell))
            };
            if level == limits.most || limits.are_settled(is_settled) {
                for &at in &now[..count] {
                    self.enter(at as usize, level);
                }
                break;
            }
            count = self.step(level, &now[..count], &mut ahead);
            std::mem::swap(&mut now, &mut ahead);
            level += 1;
        }
    }

    /// Moves the wave on by one level: from the tiles `now` to those `ahead`, how many is told.
    fn step(&mut self, level: u32, now: &[u32], ahead: &mut [u32]) -> usize {
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
        for &at in now {
            let at = at as usize;
            let front = self.enter(at, level);
            let inner = front << EDGE | front >> EDGE | (front & !EAST) << 1 | (front & !WEST) >> 1;
            reach(&mut self.tiles[at], at, inner);
            let (north, south) = (at - self.across, at + self.across);
            reach(&mut self.tiles[north], north, front << 56);
            reach(&mut self.tiles[south], south, front >> 56);
            reach(&mut self.tiles[at - 1], at - 1, (front & WEST) << 7);
            reach(&mut self.tiles[at + 1], at + 1, (front & EAST) >> 7);
        }
        count
    }

    /// Takes the front of a tile, and writes down its level.
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
            let (x, y) = ((at % self.across - 1) * EDGE, (at / self.across - 1) * EDGE);
            while cells != 0 {
                let bit = cells.trailing_zeros() as usize;
                self.far.push((((y + bit / EDGE) * self.width + x + bit % EDGE) as u32, level));
                cells &= cells - 1;
            }
        }
        front
    }

    /// The distances of all cells, row-major.
    fn distances(&self, cell_count: usize) -> Vec<u32> {
        let mut distances = vec![0; cell_count];
        let width = self.width;
        rows::for_chunks(&mut distances, EDGE * width, |band, distances| {
            let from = (band + 1) * self.across + 1;
            let tiles = from..from + self.across - 2;
            for (row, distances) in distances.chunks_mut(width).enumerate() {
                row_distances(&self.tiles[tiles.clone()], &self.levels[tiles.clone()], row, distances);
            }
        });
        for &(index, level) in &self.far {
            distances[index as usize] = level;
        }
        distances
    }
}

/// The distances of a row of cells, of the row `row` of its tiles.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn row_distances(tiles: &[Tile], levels: &[[u8; 64]], row: usize, distances: &mut [u32]) {
    for ((tile, levels), cells) in tiles.iter().zip(levels).zip(distances.chunks_mut(EDGE)) {
        let levels = &levels[row % EDGE * EDGE..][..EDGE];
        for (cell, &past) in cells.iter_mut().zip(levels) {
            *cell = if past == NEVER { UNREACHABLE } else { tile.base + u32::from(past) };
        }
    }
}
