//! NextCells out of obstacles: a wave from all reached cells through obstacles alone, all steps one long and without a corner
//! rule.

use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::codes::bare_of;
use crate::flow::field::cpu::moves::strides;
use crate::flow::field::cpu::{rows, tiles};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::NEXT_NONE;
use crate::parallel::map;

/// Marks a code that has been found in the level on hand.
const FRESH: u8 = 0x40;

/// Adds the codes of obstacles to those of other cells; obstacles have none yet. Of grids of four neighbours they are found
/// with those of other cells: see [`add_deep`].
pub(crate) fn add(grid: &Grid, distances: &[u32], codes: &mut [u8]) {
    if grid.obstacle_count() == 0 {
        return;
    }
    if grid.connectivity().offsets().len() == 8 {
        by_tiles(grid, distances, codes);
    } else {
        let deep = first_level(grid, distances, codes);
        deeper_levels(grid, deep, codes);
    }
}

/// One in so many cells may be an obstacle that no reached cell is beside, so that they are better found one by one.
const LIST_SHARE: usize = 64;

/// Adds the codes of the obstacles that no reached cell is beside, `count` of them, where all others have theirs: of a grid of
/// four neighbours.
pub(crate) fn add_deep(grid: &Grid, count: usize, codes: &mut [u8]) {
    if count == 0 {
        return;
    }
    if count > codes.len() / LIST_SHARE {
        deep_by_wave(grid, codes);
    } else {
        deep_by_list(grid, codes);
    }
}

/// The same by another wave, through obstacles: its levels lead out.
fn deep_by_wave(grid: &Grid, codes: &mut [u8]) {
    let levels = tiles::solve_exits(grid, codes);
    codes::add_exits(grid, &levels, codes);
}

/// The same one by one.
fn deep_by_list(grid: &Grid, codes: &mut [u8]) {
    let (width, row_words) = (grid.width(), grid.row_words());
    let row_count = rows::rows_at_a_time(width);
    let bands: Vec<(usize, &[u8])> = codes.chunks(row_count * width).enumerate().collect();
    let deep = map(&bands, |&(band, codes)| {
        let mut deep = Vec::new();
        for (row, codes) in codes.chunks(width).enumerate() {
            let row = band * row_count + row;
            let blocked = &grid.blocked_words()[row * row_words..];
            for (word, (codes, &blocked)) in codes.chunks(64).zip(blocked).enumerate() {
                let mut bare = if blocked == 0 { 0 } else { bare_of(codes) & blocked };
                while bare != 0 {
                    deep.push((row * width + word * 64) as u32 + bare.trailing_zeros());
                    bare &= bare - 1;
                }
            }
        }
        deep
    });
    deeper_levels(grid, deep.concat(), codes);
}

/// A tile of 8 × 8 cells; cell `x, y` of it is bit `8 y + x`.
#[derive(Debug, Clone, Copy, Default)]
struct Tile {
    /// Obstacles without a code.
    open: u64,
    /// Cells that are reached, and obstacles that have a code since the level before or longer. What is beside one that is
    /// older has its code as well.
    done: u64,
    /// Obstacles found in the level on hand.
    found: u64,
    /// The level that has this tile in its list.
    level: u32,
}

const WEST: u64 = 0x0101_0101_0101_0101;
const EAST: u64 = WEST << 7;

/// The codes of obstacles in two dimensions with diagonals, 64 cells at a time.
fn by_tiles(grid: &Grid, distances: &[u32], codes: &mut [u8]) {
    let width = grid.width();
    let across = width.div_ceil(8) + 2;
    let mut tiles = tiles_of(grid, distances);
    // The first level is all over the grid, and so on all cores.
    rows::for_chunks(codes, 8 * width, |band, codes| {
        for at in (band + 1) * across + 1..(band + 2) * across - 1 {
            if tiles[at].open != 0 {
                exits_of(&tiles, at, across, |bit, code| {
                    codes[bit / 8 * width + (at % across - 1) * 8 + bit % 8] = code;
                });
            }
        }
    });
    let mut list: Vec<u32> = (0..tiles.len()).filter(|&at| tiles[at].open != 0).map(|at| at as u32).collect();
    let mut level = 0;
    while !list.is_empty() {
        level += 1;
        for &at in &list {
            let at = at as usize;
            let from = (at / across - 1) * 8 * width + (at % across - 1) * 8;
            tiles[at].found = exits_of(&tiles, at, across, |bit, code| {
                // The first level has its codes.
                if level > 1 {
                    codes[from + bit / 8 * width + bit % 8] = code;
                }
            });
        }
        list = ahead_of(&mut tiles, &list, across, level);
    }
}

/// The tiles of a grid, with a border of empty ones around.
fn tiles_of(grid: &Grid, distances: &[u32]) -> Vec<Tile> {
    let width = grid.width();
    let height = grid.size()[1] as usize;
    let (across, down) = (width.div_ceil(8) + 2, height.div_ceil(8) + 2);
    let mut tiles = vec![Tile::default(); across * down];
    let (blocked, row_words) = (grid.blocked_words(), grid.row_words());
    rows::for_chunks(&mut tiles, across, |tile_row, tiles| {
        if tile_row == 0 || tile_row + 1 == down {
            return;
        }
        let tiles = &mut tiles[1..across - 1];
        for (bits, row) in ((tile_row - 1) * 8..height).take(8).enumerate() {
            let words = &blocked[row * row_words..][..row_words];
            for (tiles, word) in tiles.chunks_mut(8).zip(words) {
                for (byte, tile) in tiles.iter_mut().enumerate() {
                    tile.open |= (word >> (8 * byte) & 0xff) << (8 * bits);
                }
            }
            mark_reached(tiles, &distances[row * width..][..width], 8 * bits as u32);
        }
    });
    tiles
}

/// Marks the reached cells of a row in its tiles, from the bit on that the row has there.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn mark_reached(tiles: &mut [Tile], distances: &[u32], from: u32) {
    for (tile, cells) in tiles.iter_mut().zip(distances.chunks(8)) {
        let mut bits = 0;
        if let Ok(cells) = <&[u32; 8]>::try_from(cells) {
            for (x, &distance) in cells.iter().enumerate() {
                bits |= u32::from(distance != UNREACHABLE) << x;
            }
        } else {
            for (x, &distance) in cells.iter().enumerate() {
                bits |= u32::from(distance != UNREACHABLE) << x;
            }
        }
        tile.done |= u64::from(bits) << from;
    }
}

/// Makes what was found in a level done; the tiles that the next level looks at.
fn ahead_of(tiles: &mut [Tile], list: &[u32], across: usize, level: u32) -> Vec<u32> {
    let mut ahead = Vec::new();
    for &at in list {
        let tile = &mut tiles[at as usize];
        tile.done |= tile.found;
        tile.open &= !tile.found;
    }
    for &at in list {
        let at = at as usize;
        let found = std::mem::take(&mut tiles[at].found);
        if found == 0 {
            continue;
        }
        // Where it touches a border of the tile, what is beyond it is looked at too.
        let rows = [found & 0xff != 0, true, found >> 56 != 0];
        let columns = [found & WEST != 0, true, found & EAST != 0];
        for (dy, _) in rows.iter().enumerate().filter(|&(_, &is_on)| is_on) {
            for (dx, _) in columns.iter().enumerate().filter(|&(_, &is_on)| is_on) {
                let near = at + dy * across + dx - across - 1;
                let tile = &mut tiles[near];
                if tile.level != level && tile.open != 0 {
                    tile.level = level;
                    ahead.push(near as u32);
                }
            }
        }
    }
    ahead
}

/// The obstacles of a tile that are beside a cell that is reached or has its code, each told with its own.
#[inline(always)]
fn exits_of(tiles: &[Tile], at: usize, across: usize, mut tell: impl FnMut(usize, u8)) -> u64 {
    let mut open = tiles[at].open;
    let (north, south) = (at - across, at + across);
    let west_of = |row: usize| tiles[row - 1].done;
    let east_of = |row: usize| tiles[row + 1].done;
    // The rows above, of the tile and below, as seen from a cell: then what is west and east of those.
    let upper = |this: u64, above: u64| this << 8 | above >> 56;
    let lower = |this: u64, below: u64| this >> 8 | below << 56;
    let from_east = |this: u64, east: u64| (this & !WEST) >> 1 | (east & WEST) << 7;
    let from_west = |this: u64, west: u64| (this & !EAST) << 1 | (west & EAST) >> 7;
    let here = tiles[at].done;
    let (up, down) = (upper(here, tiles[north].done), lower(here, tiles[south].done));
    let (east, west) = (east_of(at), west_of(at));
    let (up_east, up_west) = (upper(east, east_of(north)), upper(west, west_of(north)));
    let (down_east, down_west) = (lower(east, east_of(south)), lower(west, west_of(south)));
    let near = [
        up,
        from_east(here, east),
        down,
        from_west(here, west),
        from_east(up, up_east),
        from_east(down, down_east),
        from_west(down, down_west),
        from_west(up, up_west),
    ];
    let mut found = 0;
    for (code, near) in near.into_iter().enumerate() {
        let mut cells = open & near;
        open ^= cells;
        found |= cells;
        while cells != 0 {
            tell(cells.trailing_zeros() as usize, code as u8);
            cells &= cells - 1;
        }
    }
    found
}

/// The codes of obstacles beside a reached cell; the others.
fn first_level(grid: &Grid, distances: &[u32], codes: &mut [u8]) -> Vec<u32> {
    let [width, height, depth] = grid.size().map(|length| length as usize);
    let (blocked, row_words) = (grid.blocked_words(), grid.row_words());
    let offsets = grid.connectivity().offsets();
    let strides = strides(grid);
    let chunk_rows = rows::rows_at_a_time(width);
    let deep = rows::for_chunks(codes, chunk_rows * width, |number, chunk| {
        let mut deep = Vec::new();
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            let row = number * chunk_rows + row;
            let (y, z) = (row % height, row / height);
            let is_border_row =
                y == 0 || y + 1 == height || (offsets.len() > 8 || depth > 1) && (z == 0 || z + 1 == depth);
            for (word, &bits) in blocked[row * row_words..][..row_words].iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    let x = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let at = row * width + x;
                    let found = if is_border_row || x == 0 || x + 1 == width {
                        let inside = |part: usize, by: i32, length: usize| {
                            part.checked_add_signed(by as isize).is_some_and(|part| part < length)
                        };
                        offsets.iter().zip(&strides).position(|(&[dx, dy, dz], &(ahead, _))| {
                            let is_inside =
                                inside(x, dx, width) && inside(y, dy, height) && inside(z, dz, depth);
                            is_inside && distances[at.wrapping_add_signed(ahead)] != UNREACHABLE
                        })
                    } else {
                        let near = strides.iter().take(offsets.len());
                        near.map(|&(ahead, _)| distances[at.wrapping_add_signed(ahead)])
                            .position(|distance| distance != UNREACHABLE)
                    };
                    match found {
                        Some(code) => codes[x] = code as u8,
                        None => deep.push(at as u32),
                    }
                }
            }
        }
        deep
    });
    deep.concat()
}

/// The codes of obstacles that are not beside a reached cell, of any grid.
pub(crate) fn deeper_levels(grid: &Grid, deep: Vec<u32>, codes: &mut [u8]) {
    let around = Around::new(grid);
    // The second level looks for the first, which has its codes; all others are looked for from the level before.
    let mut front = Vec::new();
    for index in deep {
        let at = index as usize;
        let found = around.of(at).find(|&(_, near)| around.is_obstacle(near) && codes[near] < FRESH);
        if let Some((code, _)) = found {
            codes[at] = FRESH | code;
            front.push(index);
        }
    }
    while !front.is_empty() {
        front.iter().for_each(|&index| codes[index as usize] &= !FRESH);
        let mut ahead = Vec::new();
        for &index in &front {
            for (code, near) in around.of(index as usize) {
                // The way back: the first of all that lead into this front.
                let back = FRESH | around.opposite(code);
                if codes[near] == NEXT_NONE && around.is_obstacle(near) {
                    codes[near] = back;
                    ahead.push(near as u32);
                } else if codes[near] & FRESH != 0 && codes[near] != NEXT_NONE {
                    codes[near] = codes[near].min(back);
                }
            }
        }
        front = ahead;
    }
}

/// The cells around a cell, whatever they are.
pub(crate) struct Around<'a> {
    grid: &'a Grid,
    offsets: &'static [[i32; 3]],
    opposites: [u8; 32],
}

impl<'a> Around<'a> {
    pub(crate) fn new(grid: &'a Grid) -> Self {
        let offsets = grid.connectivity().offsets();
        let mut opposites = [0; 32];
        for (opposite, offset) in opposites.iter_mut().zip(offsets) {
            let back = offset.map(|part| -part);
            *opposite = offsets.iter().position(|&offset| offset == back).map_or(0, |code| code as u8);
        }
        Self { grid, offsets, opposites }
    }

    /// Codes and indices.
    pub(crate) fn of(&self, at: usize) -> impl Iterator<Item = (u8, usize)> {
        let [width, height, depth] = self.grid.size().map(|length| length as usize);
        let row = at / width;
        let (x, y, z) = (at % width, row % height, row / height);
        self.offsets.iter().enumerate().filter_map(move |(code, &[dx, dy, dz])| {
            let x = x.checked_add_signed(dx as isize).filter(|&x| x < width)?;
            let y = y.checked_add_signed(dy as isize).filter(|&y| y < height)?;
            let z = z.checked_add_signed(dz as isize).filter(|&z| z < depth)?;
            Some((code as u8, (z * height + y) * width + x))
        })
    }

    pub(crate) fn is_obstacle(&self, at: usize) -> bool {
        self.grid.is_obstacle(self.grid.cell(at))
    }

    pub(crate) fn opposite(&self, code: u8) -> u8 {
        self.opposites[usize::from(code) & 31]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::moves::Connectivity;

    /// Thick walls, by both ways: what lies in them comes out the same.
    #[test]
    fn deep_exits_are_found_both_ways() {
        for (size, seed) in
            [([1, 1, 1], 1), ([70, 1, 1], 2), ([130, 90, 1], 3), ([257, 33, 1], 4), ([64, 64, 1], 5)]
        {
            let count = size.iter().product::<u32>();
            let is_wall =
                |at: u32| (at / 7 + at / size[0] / 5 * 31 + seed).wrapping_mul(2_654_435_761) >> 30 != 0;
            let blocked: Vec<bool> = (0..count).map(is_wall).collect();
            let grid = Grid::new(size, &blocked, Connectivity::Four.into()).unwrap();
            // As after the first level: some obstacles have a code, no other cell matters.
            let first = |at: usize| if at.is_multiple_of(97) { 2 } else { NEXT_NONE };
            let codes: Vec<u8> = (0..blocked.len()).map(first).collect();
            let (mut list, mut wave) = (codes.clone(), codes.clone());
            deep_by_list(&grid, &mut list);
            deep_by_wave(&grid, &mut wave);
            assert_eq!(list, wave, "{size:?}");
            let found_count = list.iter().zip(&codes).filter(|(now, before)| now != before).count();
            assert!(count < 1000 || found_count > count as usize / 4, "{found_count} of {count}");
        }
    }
}
