//! A breadth-first wave over tiles of 16 × 16 cells, one bit per cell, for grids of four neighbours in which all steps
//! are 1.
//!
//! In each tile that it crosses, a level of the wave is a few words, which shifts move on by one cell. The levels of a
//! tile's cells are stored relative to the level at which the wave entered the tile, in eight bit planes. So a level is
//! written in the same few operations however many cells it has. At the end the planes are converted to distances.

use crate::flow::field::cpu::codes::uncoded_bits;
use crate::flow::field::cpu::masks::{FreeRows, transposed};
use crate::flow::field::cpu::rows;
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::parallel::{for_each_mut, map, thread_count};
use crate::pending::Awaited;

/// Cells along the edge of a tile.
const EDGE: usize = 16;
/// The largest level, relative to that of its tile, that the planes hold. Later levels are stored apart.
const MAX_PLANE_LEVEL: u32 = 255;
/// The planes that hold the levels of a tile without obstacles, which a wave crosses in 31 levels.
const OPEN_TILE_PLANES: usize = 5;
/// The fewest cells of a grid that is cut into strips for threads, and the fewest rows of tiles in a strip.
const STRIPS_MIN_CELLS: usize = 1 << 20;
const STRIP_MIN_ROWS: usize = 4;
/// The fewest tiles with a front for which threads pay off.
const PARALLEL_MIN_TILES: usize = 64;
const WEST: u64 = 0x0001_0001_0001_0001;
const EAST: u64 = WEST << 15;

/// One bit per cell of a tile: the cell `x, y` is bit `16 (y % 4) + x` of the word `y / 4`.
type TileBits = [u64; 4];

/// The state of the wave in one tile.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct WaveTile {
    /// Cells that are free and not reached yet.
    open: TileBits,
    /// The cells of the current level and of the next one, indexed by the parity of the level.
    fronts: [TileBits; 2],
    /// One more than the last level for which the tile was put on a list.
    listed_at: u32,
    /// The level at which the wave entered the tile; meaningless before.
    first_level: u32,
    is_entered: bool,
}

/// The levels of the cells of a tile, where the level at which the wave entered counts as 1. Plane `k` holds bit `k`.
/// Cells that were never reached have 0.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct LevelPlanes([TileBits; 8]);

/// A strip of the grid: some rows of tiles, with a border of tiles around. At the border of the grid that border is
/// empty; next to another strip it is the halo, a copy of that strip's nearest row of tiles.
struct TileStrip {
    tiles: Vec<WaveTile>,
    levels: Vec<LevelPlanes>,
    /// Cells whose level the planes of their tile do not hold: index and level.
    late_cells: Vec<(u32, u32)>,
    /// Tiles in a row, borders included.
    pitch: usize,
    width: usize,
    /// The first row of tiles within the borders, and the number of such rows.
    first_row: usize,
    row_count: usize,
    /// The active tiles, those with a front: the first `count` of `current`. `next` is room for those of the next
    /// level.
    current: Vec<u32>,
    count: usize,
    next: Vec<u32>,
}

/// The distances from the goals, up to the stop conditions. `spare` is written over and returned.
pub(crate) fn solve(grid: &Grid, goals: &[u32], stop: &mut StopConditions, spare: Vec<u32>) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let strip_count = if stop.has_targets { 1 } else { strip_count(grid) };
    solve_in_strips(grid, goals, stop, rows.div_ceil(strip_count), spare)
}

/// For each obstacle without a code, the number of moves through obstacles to one that has a code; obstacles with a
/// code have 0. Cells that are not obstacles stay unreachable.
pub(crate) fn escape_levels(grid: &Grid, codes: &[u8]) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let strip_rows = rows.div_ceil(strip_count(grid));
    let free = FreeRows::new(grid);
    let width = grid.width();
    let mut strips = strips(grid, strip_rows, |word, y| {
        let inside = free.inside(word as isize);
        let first_cell = y * width + word * 64;
        let uncoded = uncoded_bits(&codes[first_cell..first_cell + inside.count_ones() as usize]);
        let blocked = inside & !free.word(word as isize, y as isize, 0);
        [blocked & uncoded, blocked & !uncoded]
    });
    // This is the last wave of a field and soon over, so it does not check whether anybody waits.
    run_strips(&mut strips, UNREACHABLE - 1, &Awaited::default());
    distances(&strips, grid, strip_rows, Vec::new())
}

/// The number of strips to cut the grid into: a few per thread, to balance their work.
fn strip_count(grid: &Grid) -> usize {
    let thread_count = thread_count();
    if thread_count == 1 || grid.cell_count() < STRIPS_MIN_CELLS {
        return 1;
    }
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    (2 * thread_count).min(rows / STRIP_MIN_ROWS).max(1)
}

/// The same in strips of `strip_rows` rows of tiles.
pub(crate) fn solve_in_strips(
    grid: &Grid,
    goals: &[u32],
    stop: &mut StopConditions,
    strip_rows: usize,
    spare: Vec<u32>,
) -> Vec<u32> {
    let free = FreeRows::new(grid);
    let mut strips = strips(grid, strip_rows, |word, y| [free.word(word as isize, y as isize, 0), 0]);
    for &goal in goals {
        let row = goal as usize / grid.width() / EDGE;
        strips[row / strip_rows].add_goal(goal as usize);
    }
    if let [strip] = &mut strips[..] {
        strip.run_alone(grid, stop);
    } else {
        run_strips(&mut strips, stop.max_distance, &stop.awaited);
    }
    distances(&strips, grid, strip_rows, spare)
}

/// Makes the strips, of `strip_rows` rows of tiles each. `cells` gives the open cells and those of the first front for
/// 64 cells of a row, by the number of their word and of the row.
fn strips(
    grid: &Grid,
    strip_rows: usize,
    cells: impl Fn(usize, usize) -> [u64; 2] + Sync + Send,
) -> Vec<TileStrip> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let first_rows: Vec<usize> = (0..rows).step_by(strip_rows).collect();
    map(&first_rows, |&first_row| TileStrip::new(grid, first_row, strip_rows.min(rows - first_row), &cells))
}

/// Runs the wave on all cores. Each strip advances 16 levels by itself. In 16 levels nothing beyond the halo reaches a
/// strip's own tiles, so they are exact (temporal blocking). Then the halos are copied anew.
fn run_strips(strips: &mut [TileStrip], max_level: u32, awaited: &Awaited) {
    let mut level = 0;
    loop {
        for below_index in 1..strips.len() {
            let (above, below) = strips.split_at_mut(below_index);
            if let (Some(above), Some(below)) = (above.last_mut(), below.first_mut()) {
                copy_halos(above, below);
            }
        }
        let level_count = (max_level - level).min(EDGE as u32);
        let active_count: usize = strips.iter().map(|strip| strip.count).sum();
        let advance = |strip: &mut TileStrip| strip.advance(level, level_count);
        if active_count >= PARALLEL_MIN_TILES {
            for_each_mut(strips, advance);
        } else {
            strips.iter_mut().for_each(advance);
        }
        level += level_count;
        if strips.iter().all(|strip| strip.count == 0) || !awaited.is_awaited() {
            return;
        }
        if level == max_level {
            strips.iter_mut().for_each(|strip| strip.write_last_level(level));
            return;
        }
    }
}

/// Copies the rows of tiles at which two strips meet into each other's halo.
fn copy_halos(above: &mut TileStrip, below: &mut TileStrip) {
    if above.count == 0 && below.count == 0 {
        return;
    }
    let pitch = above.pitch;
    let last_own_tile = above.row_count * pitch;
    above.tiles[last_own_tile + pitch..].copy_from_slice(&below.tiles[pitch..2 * pitch]);
    below.tiles[..pitch].copy_from_slice(&above.tiles[last_own_tile..last_own_tile + pitch]);
    for (strip, halo_start) in [(above, last_own_tile + pitch), (below, 0)] {
        for index in halo_start..halo_start + pitch {
            // The front of the level before has been taken, so any front is that of the current level.
            if strip.tiles[index].fronts != [[0; 4]; 2] {
                strip.current[strip.count] = index as u32;
                strip.count += 1;
            }
        }
    }
}

/// The distances of all cells, row-major.
fn distances(strips: &[TileStrip], grid: &Grid, strip_rows: usize, spare: Vec<u32>) -> Vec<u32> {
    let mut distances = rows::resized(spare, grid.cell_count());
    let width = grid.width();
    rows::map_chunks(&mut distances, EDGE * width, |band, distances| {
        let strip = &strips[band / strip_rows];
        let first_tile = (band % strip_rows + 1) * strip.pitch + 1;
        let tiles = first_tile..first_tile + strip.pitch - 2;
        band_distances(&strip.tiles[tiles.clone()], &strip.levels[tiles], distances, width);
    });
    for &(index, level) in strips.iter().flat_map(|strip| &strip.late_cells) {
        distances[index as usize] = level;
    }
    distances
}

impl TileStrip {
    fn new(
        grid: &Grid,
        first_row: usize,
        row_count: usize,
        cells: impl Fn(usize, usize) -> [u64; 2] + Sync + Send,
    ) -> Self {
        let (width, height) = (grid.width(), grid.size()[1] as usize);
        let pitch = width.div_ceil(EDGE) + 2;
        let mut tiles = vec![WaveTile::default(); pitch * (row_count + 2)];
        let inner = pitch..pitch * (row_count + 1);
        rows::map_chunks(&mut tiles[inner.clone()], pitch, |tile_row, tiles| {
            let top = (first_row + tile_row) * EDGE;
            for (row, y) in (top..height.min(top + EDGE)).enumerate() {
                for (word, tiles) in tiles[1..pitch - 1].chunks_mut(4).enumerate() {
                    let [open, front] = cells(word, y);
                    for (part, tile) in tiles.iter_mut().enumerate() {
                        let placed = |cells: u64| (cells >> (EDGE * part) & 0xffff) << (EDGE * (row % 4));
                        tile.open[row / 4] |= placed(open);
                        tile.fronts[0][row / 4] |= placed(front);
                    }
                }
            }
        });
        let levels = vec![LevelPlanes::default(); tiles.len()];
        let mut current = vec![0; tiles.len() + 1];
        let next = current.clone();
        let mut count = 0;
        for index in inner.filter(|&index| tiles[index].fronts[0] != [0; 4]) {
            current[count] = index as u32;
            count += 1;
        }
        Self {
            tiles,
            levels,
            late_cells: Vec::new(),
            pitch,
            width,
            first_row,
            row_count,
            current,
            count,
            next,
        }
    }

    /// The tile of a cell, and its word and bit there.
    fn locate(&self, index: usize) -> (usize, usize, u64) {
        let (x, y) = (index % self.width, index / self.width);
        let tile_index = (y / EDGE + 1 - self.first_row) * self.pitch + x / EDGE + 1;
        (tile_index, y % EDGE / 4, 1 << (y % 4 * EDGE + x % EDGE))
    }

    fn add_goal(&mut self, goal: usize) {
        let (tile_index, word, bit) = self.locate(goal);
        let tile = &mut self.tiles[tile_index];
        if tile.fronts[0] == [0; 4] {
            self.current[self.count] = tile_index as u32;
            self.count += 1;
        }
        tile.fronts[0][word] |= bit;
        tile.open[word] &= !bit;
    }

    /// Runs the wave in a grid that is one strip.
    fn run_alone(&mut self, grid: &Grid, stop: &mut StopConditions) {
        let mut level = 0;
        while self.count > 0 {
            let is_settled = |cell| {
                let (tile_index, word, bit) = self.locate(cell);
                self.tiles[tile_index].open[word] & bit == 0 && grid.is_free(grid.cell(cell))
            };
            if level == stop.max_distance || stop.should_stop(is_settled) {
                return self.write_last_level(level);
            }
            advance_level(self, level);
            level += 1;
        }
    }

    /// Advances the wave by `level_count` levels, and drops tiles of the border from the active ones.
    fn advance(&mut self, level: u32, level_count: u32) {
        for offset in 0..level_count {
            if self.count > 0 {
                advance_level(self, level + offset);
            }
        }
        let own_tiles = self.pitch..self.pitch * (self.row_count + 1);
        let mut kept_count = 0;
        for slot in 0..self.count {
            let tile = self.current[slot];
            self.current[kept_count] = tile;
            kept_count += usize::from(own_tiles.contains(&(tile as usize)));
        }
        self.count = kept_count;
    }

    /// Writes the last level.
    fn write_last_level(&mut self, level: u32) {
        for slot in 0..self.count {
            let tile = self.current[slot] as usize;
            let (front, is_late) = take_front(&mut self.tiles[tile], &mut self.levels[tile], level);
            if is_late {
                self.store_late_cells(tile, front, level);
            }
        }
    }

    /// Stores the cells of a front whose level the planes of their tile do not hold.
    #[cold]
    fn store_late_cells(&mut self, tile_index: usize, front: TileBits, level: u32) {
        let (column, row) = (tile_index % self.pitch, tile_index / self.pitch);
        // The cells of a halo belong to another strip.
        if row == 0 || row > self.row_count {
            return;
        }
        let (x, y) = ((column - 1) * EDGE, (self.first_row + row - 1) * EDGE);
        for (word, mut cells) in front.into_iter().enumerate() {
            while cells != 0 {
                let bit = cells.trailing_zeros() as usize;
                let cell = (y + 4 * word + bit / EDGE) * self.width + x + bit % EDGE;
                self.late_cells.push((cell as u32, level));
                cells &= cells - 1;
            }
        }
    }
}

/// Removes the front of a tile, and writes its level. Returns the front, and whether the level is too high for the planes.
#[inline(always)]
fn take_front(tile: &mut WaveTile, LevelPlanes(planes): &mut LevelPlanes, level: u32) -> (TileBits, bool) {
    let front = std::mem::take(&mut tile.fronts[(level & 1) as usize]);
    if !tile.is_entered {
        tile.is_entered = true;
        tile.first_level = level;
    }
    let plane_level = level - tile.first_level + 1;
    if plane_level > MAX_PLANE_LEVEL {
        return (front, true);
    }
    if plane_level >> OPEN_TILE_PLANES == 0 {
        write_level(&mut planes[..OPEN_TILE_PLANES], front, plane_level);
    } else {
        write_level(planes, front, plane_level);
    }
    (front, false)
}

/// Writes a number into the planes of cells that have none yet.
#[inline(always)]
fn write_level(planes: &mut [TileBits], cells: TileBits, plane_level: u32) {
    for (bit, plane) in planes.iter_mut().enumerate() {
        let is_set = u64::from(plane_level >> bit & 1).wrapping_neg();
        for word in 0..4 {
            plane[word] |= cells[word] & is_set;
        }
    }
}

/// Advances the wave by one level.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn advance_level(strip: &mut TileStrip, level: u32) {
    // Taken out of the strip, so that a store to a tile does not make the compiler load the lists' addresses again.
    let (current, mut next) = (std::mem::take(&mut strip.current), std::mem::take(&mut strip.next));
    let (mut tiles, mut levels) = (std::mem::take(&mut strip.tiles), std::mem::take(&mut strip.levels));
    let (pitch, last) = (strip.pitch, tiles.len() - 1);
    let next_parity = (level & 1 ^ 1) as usize;
    let mut list = NextTiles { next: &mut next, count: 0, next_parity, level: level + 1 };
    for &tile in &current[..strip.count] {
        let tile = tile as usize;
        let (front, is_late) = take_front(&mut tiles[tile], &mut levels[tile], level);
        if is_late {
            strip.store_late_cells(tile, front, level);
        }
        let [a, b, c, d] = front;
        let above = [a << 16, b << 16 | a >> 48, c << 16 | b >> 48, d << 16 | c >> 48];
        let below = [a >> 16 | b << 48, b >> 16 | c << 48, c >> 16 | d << 48, d >> 16];
        let mut inner = [0; 4];
        for word in 0..4 {
            let beside = (front[word] & !EAST) << 1 | (front[word] & !WEST) >> 1;
            inner[word] = above[word] | below[word] | beside;
        }
        list.add(&mut tiles, tile, inner);
        list.add(&mut tiles, tile - 1, front.map(|cells| (cells & WEST) << 15));
        list.add(&mut tiles, tile + 1, front.map(|cells| (cells & EAST) >> 15));
        // The first and last row are border, whose fronts need go no further.
        let (north, south) = (tile.saturating_sub(pitch), (tile + pitch).min(last));
        list.add(&mut tiles, north, [0, 0, 0, a << 48]);
        list.add(&mut tiles, south, [d >> 48, 0, 0, 0]);
    }
    strip.count = list.count;
    (strip.current, strip.next) = (next, current);
    (strip.tiles, strip.levels) = (tiles, levels);
}

/// The active tiles of the next level.
struct NextTiles<'a> {
    next: &'a mut [u32],
    count: usize,
    next_parity: usize,
    level: u32,
}

impl NextTiles<'_> {
    /// Adds cells to the next front of a tile, as far as they are open.
    #[inline(always)]
    fn add(&mut self, tiles: &mut [WaveTile], tile_index: usize, cells: TileBits) {
        let tile = &mut tiles[tile_index];
        let mut found = [0; 4];
        for word in 0..4 {
            found[word] = cells[word] & tile.open[word];
            tile.open[word] ^= found[word];
            tile.fronts[self.next_parity][word] |= found[word];
        }
        // Writes the tile past the end of the list, and keeps it there if it is new: without a branch.
        self.next[self.count] = tile_index as u32;
        let is_found = found[0] | found[1] | found[2] | found[3] != 0;
        self.count += usize::from(is_found & (tile.listed_at != self.level));
        tile.listed_at = if is_found { self.level } else { tile.listed_at };
    }
}

/// The distances of a row of tiles. `distances` holds rows of `width` cells.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn band_distances(tiles: &[WaveTile], levels: &[LevelPlanes], distances: &mut [u32], width: usize) {
    let levels: Vec<[u8; EDGE * EDGE]> = levels.iter().map(level_bytes).collect();
    // For cells that were never reached the `or` sets all bits. A branch per cell would be slower.
    let distance = |base: u32, count: u8| {
        base.wrapping_add(count.into()).wrapping_sub(1) | u32::from(count == 0).wrapping_neg()
    };
    for (row, distances) in distances.chunks_mut(width).enumerate() {
        let full = distances.len() / EDGE * EDGE;
        let (full, rest) = distances.split_at_mut(full);
        for ((tile, levels), cells) in tiles.iter().zip(&levels).zip(full.chunks_exact_mut(EDGE)) {
            for x in 0..EDGE {
                cells[x] = distance(tile.first_level, levels[EDGE * row + x]);
            }
        }
        if let (Some(tile), Some(levels)) = (tiles.last(), levels.last()) {
            let levels = &levels[EDGE * row..];
            rest.iter_mut().zip(levels).for_each(|(cell, &count)| *cell = distance(tile.first_level, count));
        }
    }
}

/// The levels of the cells of a tile, one byte each.
#[inline(always)]
fn level_bytes(LevelPlanes(planes): &LevelPlanes) -> [u8; EDGE * EDGE] {
    let mut levels = [0; EDGE * EDGE];
    for (word, levels) in levels.chunks_exact_mut(64).enumerate() {
        // For each group of eight cells: their bits of the eight planes, one byte per plane.
        let mut groups = [0; 8];
        for (bit, plane) in planes.iter().enumerate() {
            for (group_index, group) in groups.iter_mut().enumerate() {
                *group |= (plane[word] >> (8 * group_index) & 0xff) << (8 * bit);
            }
        }
        for (levels, group) in levels.chunks_exact_mut(8).zip(groups) {
            levels.copy_from_slice(&transposed(group).to_le_bytes());
        }
    }
    levels
}
