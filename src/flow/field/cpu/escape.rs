//! Escape codes: the way out of obstacles, for agents that were pushed into one. A wave from all reached cells goes
//! through obstacles alone; each move counts as 1, and corner rules do not apply.

use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::codes::uncoded_bits;
use crate::flow::field::cpu::moves::strides;
use crate::flow::field::cpu::{rows, tiles};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::NEXT_NONE;
use crate::parallel::map;

/// Flag of a code that was found in the current level.
const NEW_IN_LEVEL: u8 = 0x40;

/// Adds the codes of obstacles to those of the other cells. In grids of four neighbours the codes of the first level
/// come with those of the other cells: see [`add_deep`].
pub(crate) fn add(grid: &Grid, distances: &[u32], codes: &mut [u8]) {
    if grid.obstacle_count() == 0 {
        return;
    }
    if grid.connectivity().offsets().len() == 8 {
        add_by_tiles(grid, distances, codes);
    } else {
        let deep = add_first_level(grid, distances, codes);
        add_deeper_levels(grid, deep, codes);
    }
}

/// If fewer than one cell in this many is a deep obstacle, these are found one by one.
const LIST_SHARE: usize = 64;

/// Adds the codes of the `count` deep obstacles, those that no reached cell is beside, in a grid of four neighbours.
/// All other obstacles have theirs.
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

/// Finds deep codes by a wave through the obstacles, whose levels lead out.
fn deep_by_wave(grid: &Grid, codes: &mut [u8]) {
    let levels = tiles::escape_levels(grid, codes);
    codes::add_escape_codes(grid, &levels, codes);
}

/// Finds deep codes one by one.
fn deep_by_list(grid: &Grid, codes: &mut [u8]) {
    let (width, row_words) = (grid.width(), grid.row_words());
    let row_count = rows::rows_per_chunk(width);
    let bands: Vec<(usize, &[u8])> = codes.chunks(row_count * width).enumerate().collect();
    let deep = map(&bands, |&(band, codes)| {
        let mut deep = Vec::new();
        for (row, codes) in codes.chunks(width).enumerate() {
            let row = band * row_count + row;
            let blocked = &grid.blocked_words()[row * row_words..];
            for (word, (codes, &blocked)) in codes.chunks(64).zip(blocked).enumerate() {
                let mut uncoded = if blocked == 0 { 0 } else { uncoded_bits(codes) & blocked };
                while uncoded != 0 {
                    deep.push((row * width + word * 64) as u32 + uncoded.trailing_zeros());
                    uncoded &= uncoded - 1;
                }
            }
        }
        deep
    });
    add_deeper_levels(grid, deep.concat(), codes);
}

/// A tile of 8 × 8 cells; its cell `x, y` is bit `8 y + x`.
#[derive(Debug, Clone, Copy, Default)]
struct EscapeTile {
    /// Obstacles without a code.
    open: u64,
    /// Reached cells, and obstacles that had their code before the current level.
    done: u64,
    /// Obstacles that got their code in the current level.
    found: u64,
    /// The last level for which this tile was put on the list.
    level: u32,
}

const WEST: u64 = 0x0101_0101_0101_0101;
const EAST: u64 = WEST << 7;

/// Adds the codes of obstacles in two dimensions with diagonals, 64 cells at a time.
fn add_by_tiles(grid: &Grid, distances: &[u32], codes: &mut [u8]) {
    let width = grid.width();
    let pitch = width.div_ceil(8) + 2;
    let mut tiles = make_tiles(grid, distances);
    // The first level is spread over the whole grid, so all cores work on it.
    rows::map_chunks(codes, 8 * width, |band, codes| {
        for tile_index in (band + 1) * pitch + 1..(band + 2) * pitch - 1 {
            if tiles[tile_index].open != 0 {
                find_codes(&tiles, tile_index, pitch, |bit, code| {
                    codes[bit / 8 * width + (tile_index % pitch - 1) * 8 + bit % 8] = code;
                });
            }
        }
    });
    let mut list: Vec<u32> =
        (0..tiles.len()).filter(|&index| tiles[index].open != 0).map(|index| index as u32).collect();
    let mut level = 0;
    while !list.is_empty() {
        level += 1;
        for &tile_index in &list {
            let tile_index = tile_index as usize;
            let first_cell = (tile_index / pitch - 1) * 8 * width + (tile_index % pitch - 1) * 8;
            tiles[tile_index].found = find_codes(&tiles, tile_index, pitch, |bit, code| {
                // The codes of the first level are written already.
                if level > 1 {
                    codes[first_cell + bit / 8 * width + bit % 8] = code;
                }
            });
        }
        list = next_tiles(&mut tiles, &list, pitch, level);
    }
}

/// The tiles of a grid, with a border of empty tiles.
fn make_tiles(grid: &Grid, distances: &[u32]) -> Vec<EscapeTile> {
    let width = grid.width();
    let height = grid.size()[1] as usize;
    let (pitch, down) = (width.div_ceil(8) + 2, height.div_ceil(8) + 2);
    let mut tiles = vec![EscapeTile::default(); pitch * down];
    let (blocked, row_words) = (grid.blocked_words(), grid.row_words());
    rows::map_chunks(&mut tiles, pitch, |tile_row, tiles| {
        if tile_row == 0 || tile_row + 1 == down {
            return;
        }
        let tiles = &mut tiles[1..pitch - 1];
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

/// Marks the reached cells of a row in the tiles it crosses; `first_bit` is the bit at which the row starts in each
/// tile.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn mark_reached(tiles: &mut [EscapeTile], distances: &[u32], first_bit: u32) {
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
        tile.done |= u64::from(bits) << first_bit;
    }
}

/// Marks the obstacles found in a level as done, and returns the tiles to look at in the next level.
fn next_tiles(tiles: &mut [EscapeTile], list: &[u32], pitch: usize, level: u32) -> Vec<u32> {
    let mut next_list = Vec::new();
    for &tile_index in list {
        let tile = &mut tiles[tile_index as usize];
        tile.done |= tile.found;
        tile.open &= !tile.found;
    }
    for &tile_index in list {
        let tile_index = tile_index as usize;
        let found = std::mem::take(&mut tiles[tile_index].found);
        if found == 0 {
            continue;
        }
        // Cells found at the edge of the tile may have neighbours in the tile beyond it.
        let rows = [found & 0xff != 0, true, found >> 56 != 0];
        let columns = [found & WEST != 0, true, found & EAST != 0];
        for (dy, _) in rows.iter().enumerate().filter(|&(_, &is_on)| is_on) {
            for (dx, _) in columns.iter().enumerate().filter(|&(_, &is_on)| is_on) {
                let neighbour = tile_index + dy * pitch + dx - pitch - 1;
                let tile = &mut tiles[neighbour];
                if tile.level != level && tile.open != 0 {
                    tile.level = level;
                    next_list.push(neighbour as u32);
                }
            }
        }
    }
    next_list
}

/// Finds the open obstacles of a tile that have a done neighbour. `write` gets the bit of each and its code.
#[inline(always)]
fn find_codes(
    tiles: &[EscapeTile],
    tile_index: usize,
    pitch: usize,
    mut write: impl FnMut(usize, u8),
) -> u64 {
    let mut open = tiles[tile_index].open;
    let (north, south) = (tile_index - pitch, tile_index + pitch);
    let west_of = |tile_row: usize| tiles[tile_row - 1].done;
    let east_of = |tile_row: usize| tiles[tile_row + 1].done;
    // Each helper shifts a bit plane by one cell, so that a bit tells whether the neighbour in that direction is done.
    let upper = |this: u64, above: u64| this << 8 | above >> 56;
    let lower = |this: u64, below: u64| this >> 8 | below << 56;
    let from_east = |this: u64, east: u64| (this & !WEST) >> 1 | (east & WEST) << 7;
    let from_west = |this: u64, west: u64| (this & !EAST) << 1 | (west & EAST) >> 7;
    let middle = tiles[tile_index].done;
    let (up, down) = (upper(middle, tiles[north].done), lower(middle, tiles[south].done));
    let (east, west) = (east_of(tile_index), west_of(tile_index));
    let (up_east, up_west) = (upper(east, east_of(north)), upper(west, west_of(north)));
    let (down_east, down_west) = (lower(east, east_of(south)), lower(west, west_of(south)));
    let neighbours = [
        up,
        from_east(middle, east),
        down,
        from_west(middle, west),
        from_east(up, up_east),
        from_east(down, down_east),
        from_west(down, down_west),
        from_west(up, up_west),
    ];
    let mut found = 0;
    for (code, neighbours) in neighbours.into_iter().enumerate() {
        let mut cells = open & neighbours;
        open ^= cells;
        found |= cells;
        while cells != 0 {
            write(cells.trailing_zeros() as usize, code as u8);
            cells &= cells - 1;
        }
    }
    found
}

/// Adds the codes of the obstacles beside a reached cell, and returns the others.
fn add_first_level(grid: &Grid, distances: &[u32], codes: &mut [u8]) -> Vec<u32> {
    let [width, height, depth] = grid.size().map(|length| length as usize);
    let (blocked, row_words) = (grid.blocked_words(), grid.row_words());
    let offsets = grid.connectivity().offsets();
    let strides = strides(grid);
    let chunk_rows = rows::rows_per_chunk(width);
    let deep = rows::map_chunks(codes, chunk_rows * width, |number, chunk| {
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
                    let index = row * width + x;
                    let found = if is_border_row || x == 0 || x + 1 == width {
                        let inside = |part: usize, offset: i32, length: usize| {
                            part.checked_add_signed(offset as isize).is_some_and(|part| part < length)
                        };
                        offsets.iter().zip(&strides).position(|(&[dx, dy, dz], &(stride, _))| {
                            let is_inside =
                                inside(x, dx, width) && inside(y, dy, height) && inside(z, dz, depth);
                            is_inside && distances[index.wrapping_add_signed(stride)] != UNREACHABLE
                        })
                    } else {
                        let neighbours = strides.iter().take(offsets.len());
                        neighbours
                            .map(|&(stride, _)| distances[index.wrapping_add_signed(stride)])
                            .position(|distance| distance != UNREACHABLE)
                    };
                    match found {
                        Some(code) => codes[x] = code as u8,
                        None => deep.push(index as u32),
                    }
                }
            }
        }
        deep
    });
    deep.concat()
}

/// Adds the codes of the obstacles in `deep`, level by level, in any grid.
pub(crate) fn add_deeper_levels(grid: &Grid, deep: Vec<u32>, codes: &mut [u8]) {
    let neighbours = Neighbours::new(grid);
    // The obstacles of the second level look for neighbours that have a code. Each later level is found from the front
    // before it.
    let mut front = Vec::new();
    for index in deep {
        let cell = index as usize;
        let found = neighbours
            .around(cell)
            .find(|&(_, neighbour)| neighbours.is_obstacle(neighbour) && codes[neighbour] < NEW_IN_LEVEL);
        if let Some((code, _)) = found {
            codes[cell] = NEW_IN_LEVEL | code;
            front.push(index);
        }
    }
    while !front.is_empty() {
        front.iter().for_each(|&index| codes[index as usize] &= !NEW_IN_LEVEL);
        let mut next_front = Vec::new();
        for &index in &front {
            for (code, neighbour) in neighbours.around(index as usize) {
                // The code of the move back to the front. If a cell has several neighbours in the front, the least code
                // is kept.
                let back = NEW_IN_LEVEL | neighbours.opposite(code);
                if codes[neighbour] == NEXT_NONE && neighbours.is_obstacle(neighbour) {
                    codes[neighbour] = back;
                    next_front.push(neighbour as u32);
                } else if codes[neighbour] & NEW_IN_LEVEL != 0 && codes[neighbour] != NEXT_NONE {
                    codes[neighbour] = codes[neighbour].min(back);
                }
            }
        }
        front = next_front;
    }
}

/// Lists the neighbours of a cell, obstacles or not, under the moves of a grid.
pub(crate) struct Neighbours<'a> {
    grid: &'a Grid,
    offsets: &'static [[i32; 3]],
    opposites: [u8; 32],
}

impl<'a> Neighbours<'a> {
    pub(crate) fn new(grid: &'a Grid) -> Self {
        let offsets = grid.connectivity().offsets();
        let mut opposites = [0; 32];
        for (opposite, offset) in opposites.iter_mut().zip(offsets) {
            let back = offset.map(|part| -part);
            *opposite = offsets.iter().position(|&offset| offset == back).map_or(0, |code| code as u8);
        }
        Self { grid, offsets, opposites }
    }

    /// The code of the move to each neighbour in the grid, and the index of that neighbour.
    pub(crate) fn around(&self, index: usize) -> impl Iterator<Item = (u8, usize)> {
        let [width, height, depth] = self.grid.size().map(|length| length as usize);
        let row = index / width;
        let (x, y, z) = (index % width, row % height, row / height);
        self.offsets.iter().enumerate().filter_map(move |(code, &[dx, dy, dz])| {
            let x = x.checked_add_signed(dx as isize).filter(|&x| x < width)?;
            let y = y.checked_add_signed(dy as isize).filter(|&y| y < height)?;
            let z = z.checked_add_signed(dz as isize).filter(|&z| z < depth)?;
            Some((code as u8, (z * height + y) * width + x))
        })
    }

    pub(crate) fn is_obstacle(&self, index: usize) -> bool {
        self.grid.is_obstacle(self.grid.cell(index))
    }

    pub(crate) fn opposite(&self, code: u8) -> u8 {
        self.opposites[usize::from(code) & 31]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::moves::Connectivity;

    /// Deep codes of thick walls are the same by both methods.
    #[test]
    fn deep_codes_are_equal_by_wave_and_list() {
        for (size, seed) in
            [([1, 1, 1], 1), ([70, 1, 1], 2), ([130, 90, 1], 3), ([257, 33, 1], 4), ([64, 64, 1], 5)]
        {
            let count = size.iter().product::<u32>();
            let is_wall =
                |at: u32| (at / 7 + at / size[0] / 5 * 31 + seed).wrapping_mul(2_654_435_761) >> 30 != 0;
            let blocked: Vec<bool> = (0..count).map(is_wall).collect();
            let grid = Grid::new(size, &blocked, Connectivity::Four.into()).unwrap();
            // As after the first level: some obstacles have a code, and other cells do not matter.
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
