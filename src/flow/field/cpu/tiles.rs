//! A wave over tiles of 16 × 16 cells, a bit a cell: all steps 1, four neighbours.
//!
//! A level of the wave is a few words in each tile that it crosses, moved on by shifts. The levels of a tile's cells are kept
//! from the one at which the tile was entered on, as eight planes of bits, so that a level is written down in the same few
//! operations however many cells it has; they are made distances at the end.

use crate::flow::field::cpu::codes::bare_of;
use crate::flow::field::cpu::limits::Limits;
use crate::flow::field::cpu::masks::{FreeRows, transposed};
use crate::flow::field::cpu::rows;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::parallel::{for_each_mut, map, thread_count};
use crate::pending::Awaited;

/// Cells along the edge of a tile.
const EDGE: usize = 16;
/// Levels from the first of its tile on that a byte holds; what is later is kept apart.
const SPAN: u32 = 255;
/// The planes that hold all levels of a tile that lies in the open, which a wave crosses in 31.
const OPEN_PLANE_COUNT: usize = 5;
/// Cells from which on a grid is cut in strips for threads, and rows of tiles of a strip at least.
const STRIPS_WORTH_COUNT: usize = 1 << 20;
const STRIP_ROWS: usize = 4;
/// Tiles with a front from which on threads are called for them.
const FRONT_WORTH_COUNT: usize = 64;
const WEST: u64 = 0x0001_0001_0001_0001;
const EAST: u64 = WEST << 15;

/// A bit for each cell of a tile: `x, y` is the bit `16 (y % 4) + x` of the word `y / 4`.
type Cells = [u64; 4];

/// A tile of the wave.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Tile {
    /// Cells that are free and not reached yet.
    open: Cells,
    /// Cells of the level on hand and of the next, by the level's parity.
    fronts: [Cells; 2],
    /// One more than the level for which the tile was last put on a list.
    listed: u32,
    /// The level at which the tile was entered; without meaning before.
    base: u32,
    is_entered: bool,
}

/// The levels of a tile's cells, counted from its base on as 1: their bit `k` in plane `k`. 0 of those never reached.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Planes([Cells; 8]);

/// Rows of a grid's tiles, with a border around: beside the grid it holds no cell, beside other rows a copy of the nearest.
struct Tiles {
    tiles: Vec<Tile>,
    levels: Vec<Planes>,
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

/// The distances from the goals, up to the limits. The array `reused` is written over and returned.
pub(crate) fn solve(grid: &Grid, goals: &[u32], limits: &mut Limits, reused: Vec<u32>) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let strip_count = if limits.is_until { 1 } else { strip_count(grid) };
    solve_in(grid, goals, limits, rows.div_ceil(strip_count), reused)
}

/// How many steps through obstacles lead from those that have no code to one that has: 0 of those that have, none of cells
/// that are no obstacles.
pub(crate) fn solve_exits(grid: &Grid, codes: &[u8]) -> Vec<u32> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let strip_rows = rows.div_ceil(strip_count(grid));
    let free = FreeRows::new(grid);
    let width = grid.width();
    let mut strips = strips(grid, strip_rows, |word, y| {
        let inside = free.inside(word as isize);
        let from = y * width + word * 64;
        let bare = bare_of(&codes[from..from + inside.count_ones() as usize]);
        let blocked = inside & !free.word(word as isize, y as isize, 0);
        [blocked & bare, blocked & !bare]
    });
    // The last wave of a field is soon over.
    spread_strips(&mut strips, UNREACHABLE - 1, &Awaited::default());
    distances(&strips, grid, strip_rows, Vec::new())
}

/// How many strips to cut the grid in: some for each thread, so that they find enough to do.
fn strip_count(grid: &Grid) -> usize {
    let thread_count = thread_count();
    if thread_count == 1 || grid.cell_count() < STRIPS_WORTH_COUNT {
        return 1;
    }
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    (2 * thread_count).min(rows / STRIP_ROWS).max(1)
}

/// The same in strips of so many rows of tiles.
pub(crate) fn solve_in(
    grid: &Grid,
    goals: &[u32],
    limits: &mut Limits,
    strip_rows: usize,
    reused: Vec<u32>,
) -> Vec<u32> {
    let free = FreeRows::new(grid);
    let mut strips = strips(grid, strip_rows, |word, y| [free.word(word as isize, y as isize, 0), 0]);
    for &goal in goals {
        let row = goal as usize / grid.width() / EDGE;
        strips[row / strip_rows].add_goal(goal as usize);
    }
    if let [tiles] = &mut strips[..] {
        tiles.spread(grid, limits);
    } else {
        spread_strips(&mut strips, limits.most, &limits.awaited);
    }
    distances(&strips, grid, strip_rows, reused)
}

/// Strips of so many rows of tiles; `cells` tells of 64 cells of a row, by the number of their word and of the row, which are open
/// and which the wave begins with.
fn strips(
    grid: &Grid,
    strip_rows: usize,
    cells: impl Fn(usize, usize) -> [u64; 2] + Sync + Send,
) -> Vec<Tiles> {
    let rows = (grid.size()[1] as usize).div_ceil(EDGE);
    let firsts: Vec<usize> = (0..rows).step_by(strip_rows).collect();
    map(&firsts, |&first| Tiles::new(grid, first, strip_rows.min(rows - first), &cells))
}

/// Lets the wave run on, on all cores: for sixteen levels each strip goes on by itself, as what is beyond the nearest row of
/// tiles of another takes one more to come in. Then that row is copied anew.
fn spread_strips(strips: &mut [Tiles], most: u32, awaited: &Awaited) {
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
        if front_count >= FRONT_WORTH_COUNT {
            for_each_mut(strips, run);
        } else {
            strips.iter_mut().for_each(run);
        }
        level += step_count;
        if strips.iter().all(|strip| strip.count == 0) || !awaited.is_awaited() {
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
            if strip.tiles[at].fronts != [[0; 4]; 2] {
                strip.now[strip.count] = at as u32;
                strip.count += 1;
            }
        }
    }
}

/// The distances of all cells, row-major.
fn distances(strips: &[Tiles], grid: &Grid, strip_rows: usize, reused: Vec<u32>) -> Vec<u32> {
    let mut distances = rows::sized(reused, grid.cell_count());
    let width = grid.width();
    rows::for_chunks(&mut distances, EDGE * width, |band, distances| {
        let strip = &strips[band / strip_rows];
        let from = (band % strip_rows + 1) * strip.across + 1;
        let tiles = from..from + strip.across - 2;
        band_distances(&strip.tiles[tiles.clone()], &strip.levels[tiles], distances, width);
    });
    for &(index, level) in strips.iter().flat_map(|strip| &strip.far) {
        distances[index as usize] = level;
    }
    distances
}

impl Tiles {
    fn new(
        grid: &Grid,
        first: usize,
        row_count: usize,
        cells: impl Fn(usize, usize) -> [u64; 2] + Sync + Send,
    ) -> Self {
        let (width, height) = (grid.width(), grid.size()[1] as usize);
        let across = width.div_ceil(EDGE) + 2;
        let mut tiles = vec![Tile::default(); across * (row_count + 2)];
        let inner = across..across * (row_count + 1);
        rows::for_chunks(&mut tiles[inner.clone()], across, |tile_row, tiles| {
            let top = (first + tile_row) * EDGE;
            for (row, y) in (top..height.min(top + EDGE)).enumerate() {
                for (word, tiles) in tiles[1..across - 1].chunks_mut(4).enumerate() {
                    let [open, front] = cells(word, y);
                    for (part, tile) in tiles.iter_mut().enumerate() {
                        let placed = |cells: u64| (cells >> (EDGE * part) & 0xffff) << (EDGE * (row % 4));
                        tile.open[row / 4] |= placed(open);
                        tile.fronts[0][row / 4] |= placed(front);
                    }
                }
            }
        });
        let levels = vec![Planes::default(); tiles.len()];
        let mut now = vec![0; tiles.len() + 1];
        let ahead = now.clone();
        let mut count = 0;
        for at in inner.filter(|&at| tiles[at].fronts[0] != [0; 4]) {
            now[count] = at as u32;
            count += 1;
        }
        Self { tiles, levels, far: Vec::new(), across, width, first, row_count, now, count, ahead }
    }

    /// The tile of a cell, the word and the bit there.
    fn place(&self, index: usize) -> (usize, usize, u64) {
        let (x, y) = (index % self.width, index / self.width);
        let at = (y / EDGE + 1 - self.first) * self.across + x / EDGE + 1;
        (at, y % EDGE / 4, 1 << (y % 4 * EDGE + x % EDGE))
    }

    fn add_goal(&mut self, goal: usize) {
        let (at, word, bit) = self.place(goal);
        let tile = &mut self.tiles[at];
        if tile.fronts[0] == [0; 4] {
            self.now[self.count] = at as u32;
            self.count += 1;
        }
        tile.fronts[0][word] |= bit;
        tile.open[word] &= !bit;
    }

    /// Lets the wave run, where these rows are all there are.
    fn spread(&mut self, grid: &Grid, limits: &mut Limits) {
        let mut level = 0;
        while self.count > 0 {
            let is_settled = |cell| {
                let (at, word, bit) = self.place(cell);
                self.tiles[at].open[word] & bit == 0 && grid.is_free(grid.cell(cell))
            };
            if level == limits.most || limits.are_settled(is_settled) {
                return self.end(level);
            }
            step(self, level);
            level += 1;
        }
    }

    /// Moves the wave on by as many levels; tiles of the border are no longer among those that have a front.
    fn run(&mut self, level: u32, step_count: u32) {
        for past in 0..step_count {
            if self.count > 0 {
                step(self, level + past);
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
            enter(self, self.now[place] as usize, level);
        }
    }

    /// Keeps the cells apart whose level is too far past their tile's base.
    #[cold]
    fn keep_far(&mut self, at: usize, front: Cells, level: u32) {
        let (column, row) = (at % self.across, at / self.across);
        // The border's cells are another strip's.
        if row == 0 || row > self.row_count {
            return;
        }
        let (x, y) = ((column - 1) * EDGE, (self.first + row - 1) * EDGE);
        for (word, mut cells) in front.into_iter().enumerate() {
            while cells != 0 {
                let bit = cells.trailing_zeros() as usize;
                let cell = (y + 4 * word + bit / EDGE) * self.width + x + bit % EDGE;
                self.far.push((cell as u32, level));
                cells &= cells - 1;
            }
        }
    }
}

/// Takes the front of a tile, and writes down its level.
#[inline(always)]
fn enter(this: &mut Tiles, at: usize, level: u32) -> Cells {
    let tile = &mut this.tiles[at];
    let front = std::mem::take(&mut tile.fronts[(level & 1) as usize]);
    if !tile.is_entered {
        tile.is_entered = true;
        tile.base = level;
    }
    let count = level - tile.base + 1;
    if count <= SPAN {
        let Planes(planes) = &mut this.levels[at];
        if count >> OPEN_PLANE_COUNT == 0 {
            write_down(&mut planes[..OPEN_PLANE_COUNT], front, count);
        } else {
            write_down(planes, front, count);
        }
    } else {
        this.keep_far(at, front, level);
    }
    front
}

/// Writes a number into the planes of those cells, which have none yet.
#[inline(always)]
fn write_down(planes: &mut [Cells], cells: Cells, count: u32) {
    for (bit, plane) in planes.iter_mut().enumerate() {
        let is_set = u64::from(count >> bit & 1).wrapping_neg();
        for word in 0..4 {
            plane[word] |= cells[word] & is_set;
        }
    }
}

/// Moves the wave on by one level.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn step(this: &mut Tiles, level: u32) {
    let now = std::mem::take(&mut this.now);
    let mut ahead = std::mem::take(&mut this.ahead);
    let last = this.tiles.len() - 1;
    let later = (level & 1 ^ 1) as usize;
    let mut list = List { ahead: &mut ahead, count: 0, later, level: level + 1 };
    for &at in &now[..this.count] {
        let at = at as usize;
        let front = enter(this, at, level);
        let [a, b, c, d] = front;
        let above = [a << 16, b << 16 | a >> 48, c << 16 | b >> 48, d << 16 | c >> 48];
        let below = [a >> 16 | b << 48, b >> 16 | c << 48, c >> 16 | d << 48, d >> 16];
        let mut inner = [0; 4];
        for word in 0..4 {
            let beside = (front[word] & !EAST) << 1 | (front[word] & !WEST) >> 1;
            inner[word] = above[word] | below[word] | beside;
        }
        list.reach(&mut this.tiles, at, inner);
        list.reach(&mut this.tiles, at - 1, front.map(|cells| (cells & WEST) << 15));
        list.reach(&mut this.tiles, at + 1, front.map(|cells| (cells & EAST) >> 15));
        // From the border it does not matter where else it would go.
        let (north, south) = (at.saturating_sub(this.across), (at + this.across).min(last));
        list.reach(&mut this.tiles, north, [0, 0, 0, a << 48]);
        list.reach(&mut this.tiles, south, [d >> 48, 0, 0, 0]);
    }
    let count = list.count;
    (this.now, this.ahead, this.count) = (ahead, now, count);
}

/// The tiles that the next level begins with.
struct List<'a> {
    ahead: &'a mut [u32],
    count: usize,
    later: usize,
    level: u32,
}

impl List<'_> {
    /// Lets the wave come to cells of a tile, as far as they are open.
    #[inline(always)]
    fn reach(&mut self, tiles: &mut [Tile], at: usize, cells: Cells) {
        let tile = &mut tiles[at];
        let mut found = [0; 4];
        for word in 0..4 {
            found[word] = cells[word] & tile.open[word];
            tile.open[word] ^= found[word];
            tile.fronts[self.later][word] |= found[word];
        }
        // Written past the end of the list, and kept where the tile is new there: without a branch.
        self.ahead[self.count] = at as u32;
        let is_found = found[0] | found[1] | found[2] | found[3] != 0;
        self.count += usize::from(is_found & (tile.listed != self.level));
        tile.listed = if is_found { self.level } else { tile.listed };
    }
}

/// The distances of a row of tiles, whose cells lie in rows of `width`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn band_distances(tiles: &[Tile], levels: &[Planes], distances: &mut [u32], width: usize) {
    let levels: Vec<[u8; EDGE * EDGE]> = levels.iter().map(bytes).collect();
    // A branch on each cell would cost more than the sum: what was never reached has all bits set.
    let distance = |base: u32, count: u8| {
        base.wrapping_add(count.into()).wrapping_sub(1) | u32::from(count == 0).wrapping_neg()
    };
    for (row, distances) in distances.chunks_mut(width).enumerate() {
        let full = distances.len() / EDGE * EDGE;
        let (full, rest) = distances.split_at_mut(full);
        for ((tile, levels), cells) in tiles.iter().zip(&levels).zip(full.chunks_exact_mut(EDGE)) {
            for x in 0..EDGE {
                cells[x] = distance(tile.base, levels[EDGE * row + x]);
            }
        }
        if let (Some(tile), Some(levels)) = (tiles.last(), levels.last()) {
            let levels = &levels[EDGE * row..];
            rest.iter_mut().zip(levels).for_each(|(cell, &count)| *cell = distance(tile.base, count));
        }
    }
}

/// The levels of a tile's cells.
#[inline(always)]
fn bytes(Planes(planes): &Planes) -> [u8; EDGE * EDGE] {
    let mut levels = [0; EDGE * EDGE];
    for (word, levels) in levels.chunks_exact_mut(64).enumerate() {
        // Of eight cells each the eight planes, a byte each.
        let mut groups = [0; 8];
        for (bit, plane) in planes.iter().enumerate() {
            for (at, group) in groups.iter_mut().enumerate() {
                *group |= (plane[word] >> (8 * at) & 0xff) << (8 * bit);
            }
        }
        for (levels, group) in levels.chunks_exact_mut(8).zip(groups) {
            levels.copy_from_slice(&transposed(group).to_le_bytes());
        }
    }
    levels
}
