//! Relaxation of tiles of 16 × 16 cells, for any steps and costs in two dimensions.
//!
//! A tile is relaxed row by row: a row takes the distances over the row above it or below it, for all its columns at
//! once, and then those along itself. Rows whose neighbours changed are relaxed again, until no row of the tile changes.
//! A tile whose neighbour changed at their common border is relaxed again too. The tiles wait in buckets by the least
//! distance that changed at their border. Distances only ever fall, to lengths of real paths, so any order gives the
//! same field: the one that no move can lower. An order close to that of the distances takes the fewest visits.
//!
//! Source: the fast iterative method (Jeong and Whitaker 2008), on tiles. The GPU's form is
//! `shaders/flow/field/relax_2d.wgsl`.

use crate::flow::field::cpu::masks::FreeRows;
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::radix::RadixHeap;
use crate::flow::field::cpu::rows;
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::cpu::wave_method::WaveMethod;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::Corners;

/// Cells along the edge of a tile.
pub(crate) const EDGE: usize = 16;
/// Cells along the edge of a window: a tile with one cell of its neighbours on each side.
const WINDOW: usize = EDGE + 2;
/// The cells in memory before the first column and after the last; a tile's row is then a line of the cache.
pub(crate) const MARGIN: usize = EDGE;
/// The bits of the rows of a tile; bit 0 is the row above the tile.
const TILE_ROWS: u32 = 0x1_fffe;
/// The longest step times cost that tiles are relaxed with: longer ones come too close to what 32 bits hold.
pub(crate) const MAX_STEP: u64 = 1 << 24;
/// The width of a bucket, in steps along an axis of the mean cost: about one tile.
const BUCKET_STEPS: u64 = 16;
/// How often a row is relaxed by a single step along itself before it is relaxed from end to end.
const SINGLE_STEPS: usize = 3;
/// The number of tiles after which the search checks whether anybody still waits for it.
const CHECK_INTERVAL: usize = 1 << 10;

/// A row of a tile.
type Row = [u32; EDGE];

/// What keeps a diagonal move from being allowed.
const NO_DIAGONALS: u8 = 0;
const BOTH_FREE: u8 = 1;
/// By [`Window::corners`]: two obstacles, or nothing.
const LOOSE: u8 = 2;

/// Whether tiles suit a grid: few corridors, and steps that are not too long.
pub(crate) fn suits(grid: &Grid, costs: CostRange) -> bool {
    let is_flat = grid.connectivity().dimension() == 2;
    is_flat && costs.longest_step(grid) <= MAX_STEP && WaveMethod::of(grid) == WaveMethod::Tiles
}

/// The distances from the goals, up to the stop conditions, or `None` if some come too close to what 32 bits hold.
/// Distances beyond the stop conditions may be too large. `spare` is written over and returned.
pub(crate) fn solve(
    grid: &Grid,
    costs: CostRange,
    goals: &[u32],
    stop: &mut StopConditions,
    spare: Vec<u32>,
) -> Option<Vec<u32>> {
    let mut tiles = Tiles::new(grid, costs, spare);
    goals.iter().for_each(|&goal| tiles.add_goal(goal as usize));
    tiles.run(stop);
    tiles.distances(stop.max_distance)
}

/// What is to be done in a tile, one bit per row of its window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tile {
    /// The rows to relax over the row above them.
    from_above: u32,
    /// The rows to relax over the row below them.
    from_below: u32,
    /// The rows to relax along themselves.
    along: u32,
    /// One more than the bucket in which the tile waits; 0 if it is in none.
    waits_in: u32,
}

impl Tile {
    pub(crate) const ALL: Self =
        Self { from_above: TILE_ROWS, from_below: TILE_ROWS, along: TILE_ROWS, waits_in: 0 };
}

/// An array of the cells of a window, three times: each row one column to the west, as it is, and one column to the east. So
/// rows are loaded as they were stored, which a processor does much sooner than parts of two stored rows.
#[repr(C, align(64))]
struct Shifted {
    /// The cells to the west of those of the tile.
    west: [Row; WINDOW],
    own: [Row; WINDOW],
    /// The cells to the east of those of the tile.
    east: [Row; WINDOW],
}

impl Shifted {
    #[inline(never)]
    fn filled(value: u32) -> Self {
        let rows = [[0; EDGE]; WINDOW];
        let mut filled = Self { west: rows, own: rows, east: rows };
        for rows in [&mut filled.west, &mut filled.own, &mut filled.east] {
            rows.as_flattened_mut().fill(value);
        }
        filled
    }

    /// The cell in this row and column of the window. In the columns next to its own a row may be out of date.
    #[inline(always)]
    fn at(&self, [row, x]: [usize; 2]) -> u32 {
        match x {
            0 => self.west[row][0],
            1..=EDGE => self.own[row][x - 1],
            _ => self.east[row][EDGE - 1],
        }
    }
}

/// The window of the tile that is relaxed.
struct Window {
    /// Without diagonals the shifted rows are brought up to date only where they leave the tile.
    distances: Shifted,
    /// `far` for obstacles, and 0 for other cells.
    walls: Shifted,
    /// The length of a step along an axis into each cell, and of a diagonal step.
    steps: Shifted,
    diagonals: Shifted,
    /// All ones where a diagonal move needs a free cell beside it, 0 where it needs none.
    corners: u32,
}

/// The distances, with margins around the grid, and the tiles.
pub(crate) struct Tiles<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) distances: Vec<u32>,
    /// The cells from one row of `distances` to the next.
    pub(crate) pitch: usize,
    /// One bit per cell, set for obstacles and outside the grid: column `x` of row `y` is bit `x + 1` of row `y + 1`.
    walls: Vec<u64>,
    wall_pitch: usize,
    pub(crate) tiles: Vec<Tile>,
    /// The tiles along x and y.
    pub(crate) tile_counts: [usize; 2],
    heap: RadixHeap,
    /// The logarithm of the width of a bucket.
    shift: u32,
    /// The distance of cells that are not reached, and of obstacles. One more step does not exceed 32 bits.
    pub(crate) far: u32,
    window: Window,
}

impl<'a> Tiles<'a> {
    pub(crate) fn new(grid: &'a Grid, costs: CostRange, spare: Vec<u32>) -> Self {
        let (width, height) = (grid.width(), grid.size()[1] as usize);
        let tile_counts = [width.div_ceil(EDGE), height.div_ceil(EDGE)];
        let far = u32::MAX - costs.longest_step(grid) as u32;
        let mut pitch = tile_counts[0] * EDGE + 2 * MARGIN;
        if pitch.is_multiple_of(256) {
            // The rows of a tile would share few lines of the cache.
            pitch += EDGE;
        }
        let row_count = tile_counts[1] * EDGE + 2;
        let mut distances = spare;
        distances.clear();
        distances.resize(pitch * row_count, far);

        let free = FreeRows::new(grid);
        let wall_pitch = grid.row_words() + 1;
        let mut walls = vec![u64::MAX; wall_pitch * row_count];
        for (y, walls) in walls[wall_pitch..].chunks_mut(wall_pitch).take(height).enumerate() {
            for (word, walls) in walls.iter_mut().enumerate() {
                let [before, own] =
                    [word as isize - 1, word as isize].map(|word| free.word(word, y as isize, 0));
                *walls = !(own << 1 | before >> 63);
            }
        }
        let unit = grid.connectivity().unit();
        let diagonal = grid.connectivity().step(4);
        Self {
            grid,
            distances,
            pitch,
            walls,
            wall_pitch,
            tiles: vec![Tile::default(); tile_counts[0] * tile_counts[1]],
            tile_counts,
            heap: RadixHeap::new(),
            shift: (BUCKET_STEPS * u64::from(unit) * costs.mean).ilog2(),
            far,
            window: Window {
                distances: Shifted::filled(far),
                walls: Shifted::filled(0),
                steps: Shifted::filled(unit),
                diagonals: Shifted::filled(diagonal),
                corners: if grid.connectivity().corners() == Corners::Any { 0 } else { u32::MAX },
            },
        }
    }

    /// The position of a cell in `distances`, by its index in the grid.
    fn padded_index(&self, index: usize) -> usize {
        let width = self.grid.width();
        (index / width + 1) * self.pitch + index % width + MARGIN
    }

    fn add_goal(&mut self, goal: usize) {
        let at = self.padded_index(goal);
        self.distances[at] = 0;
        let width = self.grid.width();
        let (tile_x, tile_y) = (goal % width / EDGE, goal / width / EDGE);
        for y in tile_y.saturating_sub(1)..(tile_y + 2).min(self.tile_counts[1]) {
            for x in tile_x.saturating_sub(1)..(tile_x + 2).min(self.tile_counts[0]) {
                self.wake([x as isize, y as isize], 0, Tile::ALL);
            }
        }
    }

    /// Adds work to a tile, if it is in the grid. `distance` is the least that changed at the tile's border.
    pub(crate) fn wake(&mut self, [x, y]: [isize; 2], distance: u32, work: Tile) {
        let [across, down] = self.tile_counts.map(|count| count as isize);
        if x < 0 || y < 0 || x >= across || y >= down {
            return;
        }
        let index = (y * across + x) as usize;
        let bucket = distance >> self.shift;
        let tile = &mut self.tiles[index];
        tile.from_above |= work.from_above;
        tile.from_below |= work.from_below;
        tile.along |= work.along;
        if tile.waits_in == 0 || tile.waits_in > bucket + 1 {
            tile.waits_in = bucket + 1;
            self.heap.push(bucket, index as u32);
        }
    }

    /// Relaxes tiles up to the stop conditions.
    pub(crate) fn run(&mut self, stop: &mut StopConditions) {
        let connectivity = self.grid.connectivity();
        match (connectivity.neighbour_count(), connectivity.corners()) {
            (4, _) => self.run_by::<NO_DIAGONALS>(stop),
            (_, Corners::BothFree) => self.run_by::<BOTH_FREE>(stop),
            (_, Corners::OneFree | Corners::Any) => self.run_by::<LOOSE>(stop),
        }
    }

    fn run_by<const CORNERS: u8>(&mut self, stop: &mut StopConditions) {
        let mut bucket_tiles = Vec::new();
        while let Some(bucket) = self.heap.pop_bucket(&mut bucket_tiles) {
            // No later change is nearer than the bucket, so the cells that are as near are final.
            let settled = bucket << self.shift;
            let padded_index = |cell| self.padded_index(cell);
            if settled > stop.max_distance
                || stop.should_stop(|cell| self.distances[padded_index(cell)] <= settled)
            {
                return;
            }
            for (number, &(_, index)) in bucket_tiles.iter().enumerate() {
                let tile = &mut self.tiles[index as usize];
                // A tile that has waited in several buckets was relaxed in the first of them.
                if tile.waits_in == bucket + 1 {
                    let work = std::mem::take(tile);
                    self.relax::<CORNERS>(index as usize, work);
                }
                if number % CHECK_INTERVAL == CHECK_INTERVAL - 1 && !stop.awaited.is_awaited() {
                    return;
                }
            }
        }
    }

    /// Relaxes a tile, and wakes the neighbours that see a change.
    fn relax<const CORNERS: u8>(&mut self, index: usize, work: Tile) {
        let (x, y) = (index % self.tile_counts[0], index / self.tile_counts[0]);
        let first = y * EDGE * self.pitch + x * EDGE + MARGIN - 1;
        self.load_walls(x, y);
        if !self.grid.costs().is_empty() {
            self.load_costs(x, y);
        }
        let cells = &mut self.distances[first..first + (WINDOW - 1) * self.pitch + WINDOW];
        let changes = relax_window::<CORNERS>(&mut self.window, work, cells, self.pitch);
        let Some(Changes { rows, columns }) = changes else { return };
        let (x, y) = (x as isize, y as isize);
        for (changes, y, work) in [
            (rows[0], y - 1, Tile { from_below: 1 << EDGE, ..Tile::default() }),
            (rows[1], y + 1, Tile { from_above: 1 << 1, ..Tile::default() }),
        ] {
            for (distance, x) in changes.into_iter().zip([x - 1, x, x + 1]) {
                if distance != UNREACHABLE {
                    self.wake([x, y], distance, work);
                }
            }
        }
        for (column, x) in columns.into_iter().zip([x - 1, x + 1]) {
            let Column { rows, least } = column;
            if rows != 0 {
                let diagonal = if CORNERS == NO_DIAGONALS { 0 } else { rows };
                let work = Tile { from_above: diagonal, from_below: diagonal, along: rows, waits_in: 0 };
                self.wake([x, y], least, work);
            }
        }
    }

    /// Loads the walls of a window.
    fn load_walls(&mut self, x: usize, y: usize) {
        let (word, shift) = (x * EDGE / 64, x * EDGE % 64);
        let rows = self.walls[y * EDGE * self.wall_pitch..].chunks(self.wall_pitch);
        let mut bits = [0; WINDOW];
        for (bits, row) in bits.iter_mut().zip(rows) {
            let next = row.get(word + 1).map_or(u64::MAX, |&next| next);
            *bits = (row[word] >> shift | if shift > 64 - WINDOW { next << (64 - shift) } else { 0 }) as u32;
        }
        spread_walls(&bits, self.far, &mut self.window.walls);
    }

    /// Loads the steps into the cells of a window. Those outside the grid keep old ones, which do not matter.
    fn load_costs(&mut self, x: usize, y: usize) {
        let (width, height) = (self.grid.width(), self.grid.size()[1] as usize);
        let lengths = [0, 4].map(|code| self.grid.connectivity().step(code));
        let first_row = (y * EDGE).max(1) - 1;
        let row_count = (y * EDGE + WINDOW - 1).min(height) - first_row;
        let first_line = usize::from(y == 0);
        // Columns left of the window's first cell are outside the grid.
        let first_column = (x * EDGE).max(1) - 1;
        let column_count = (x * EDGE + WINDOW - 1).min(width) - first_column;
        let costs = &self.grid.costs()[first_row * width + first_column..];
        let rows = first_line..first_line + row_count;
        scale_costs(costs, width, usize::from(x == 0), column_count, lengths, rows, &mut self.window);
    }

    /// The distances without the margins, or `None` if some come too close to what 32 bits hold.
    fn distances(self, max_distance: u32) -> Option<Vec<u32>> {
        let Self { mut distances, pitch, far, grid, .. } = self;
        let width = grid.width();
        // One step from any nearer cell stays below `far`.
        let end = far - (u32::MAX - far);
        let mut farthest = 0;
        for row in 0..grid.size()[1] as usize {
            let padded_start = (row + 1) * pitch + MARGIN;
            distances.copy_within(padded_start..padded_start + width, row * width);
            farthest =
                farthest.max(finish_row(&mut distances[row * width..(row + 1) * width], max_distance, far));
        }
        distances.truncate(grid.cell_count());
        rows::shrink_narrow(&mut distances);
        (farthest < end).then_some(distances)
    }
}

/// What changed at the border of a tile.
struct Changes {
    /// In the first and the last row: the least distance of the changed cells, in the first column, in all columns, and
    /// in the last column; `UNREACHABLE` if none changed.
    rows: [[u32; 3]; 2],
    /// In the first and the last column.
    columns: [Column; 2],
}

/// What changed in a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// The rows of the changed cells, one bit each.
    rows: u32,
    /// The least distance of the changed cells.
    least: u32,
}

/// Relaxes the rows of a window until none changes. `cells` are the distances from the window's first cell on, `pitch`
/// from row to row. Writes those that changed; `None` if none did.
#[multiversion::multiversion(targets("x86_64+avx2"), attrs(inline(never)))]
fn relax_window<const CORNERS: u8>(
    window: &mut Window,
    work: Tile,
    cells: &mut [u32],
    pitch: usize,
) -> Option<Changes> {
    for (row, cells) in cells.chunks(pitch).take(WINDOW).enumerate() {
        let Some(cells) = cells.first_chunk::<WINDOW>() else { continue };
        shifted_row(cells, row, &mut window.distances);
    }
    let changed = relax_rows::<CORNERS>(window, work);
    (changed != 0).then(|| store_rows::<CORNERS>(window, changed, cells, pitch))
}

/// Relaxes the rows of a window until none changes, and returns those that changed, one bit each.
#[inline(always)]
fn relax_rows<const CORNERS: u8>(window: &mut Window, work: Tile) -> u32 {
    let Tile { mut from_above, mut from_below, mut along, .. } = work;
    let mut all_changed = 0;
    loop {
        // Downward: a row that changes wakes the next one.
        while (from_above | along) & TILE_ROWS != 0 {
            let row = ((from_above | along) & TILE_ROWS).trailing_zeros();
            let bit = 1 << row;
            let (is_over, is_along) = (from_above & bit != 0, along & bit != 0);
            let row_above = row as usize - 1;
            let has_changed = relax_row::<CORNERS>(window, row as usize, row_above, is_over, is_along);
            from_above &= !bit;
            along &= !bit;
            let changed = u32::from(has_changed) << row;
            all_changed |= changed;
            from_above |= changed << 1;
            from_below |= changed >> 1;
        }
        // Upward.
        while from_below & TILE_ROWS != 0 {
            let row = 31 - (from_below & TILE_ROWS).leading_zeros();
            from_below &= !(1 << row);
            if relax_row::<CORNERS>(window, row as usize, row as usize + 1, true, false) {
                all_changed |= 1 << row;
                from_above |= 1 << (row + 1);
                from_below |= 1 << (row - 1);
            }
        }
        if from_above & TILE_ROWS == 0 {
            return all_changed;
        }
    }
}

/// Relaxes a row over its neighbour `beside`, if `is_over`, and along itself, if it changed or `is_along`. Returns whether it
/// changed.
#[inline(always)]
fn relax_row<const CORNERS: u8>(
    window: &mut Window,
    row: usize,
    beside: usize,
    is_over: bool,
    is_along: bool,
) -> bool {
    let before = window.distances.own[row];
    let mut own = before;
    if is_over {
        let over = row_over::<CORNERS>(window, row, beside);
        for x in 0..EDGE {
            own[x] = over[x].min(before[x]);
        }
    }
    let has_changed = differ(&own, &before);
    if !has_changed && !is_along {
        return false;
    }
    let ends = [window.distances.west[row][0], window.distances.east[row][EDGE - 1]];
    let own = relax_along(own, ends, row, window);
    if !has_changed && !differ(&own, &before) {
        return false;
    }
    let distances = &mut window.distances;
    distances.own[row] = own;
    if CORNERS != NO_DIAGONALS {
        [distances.west[row], distances.east[row]] = beside_of(&own, ends);
    }
    true
}

/// The lengths of the paths from the cells of a row over its neighbour `beside`; at least `far` where there is none.
#[inline(always)]
fn row_over<const CORNERS: u8>(window: &Window, row: usize, beside: usize) -> Row {
    let Window { distances, walls, steps, diagonals, corners } = window;
    let (near, step) = (&distances.own[beside], &steps.own[beside]);
    let (near_west, near_east) = (&distances.west[beside], &distances.east[beside]);
    let (step_west, step_east) = (&diagonals.west[beside], &diagonals.east[beside]);
    let (wall, wall_west, wall_east) = (&walls.own[row], &walls.west[row], &walls.east[row]);
    let wall_between = &walls.own[beside];
    let mut over = [0; EDGE];
    for x in 0..EDGE {
        let mut least = near[x] + step[x];
        if CORNERS != NO_DIAGONALS {
            // A diagonal crosses two cells: one in the own row, one in the row beside.
            let [between_west, between_east] = [wall_west[x], wall_east[x]].map(|wall| match CORNERS {
                BOTH_FREE => wall.max(wall_between[x]),
                _ => wall.min(wall_between[x]) & corners,
            });
            let west = near_west[x].max(between_west) + step_west[x];
            let east = near_east[x].max(between_east) + step_east[x];
            least = least.min(west).min(east);
        }
        over[x] = least.max(wall[x]);
    }
    over
}

/// Whether two rows differ.
#[inline(always)]
fn differ(one: &Row, other: &Row) -> bool {
    let mut difference = 0;
    for x in 0..EDGE {
        difference |= one[x] ^ other[x];
    }
    difference != 0
}

/// The cells to the west of those of a row, and those to the east. `ends` are the cells beyond it.
#[inline(always)]
fn beside_of(own: &Row, ends: [u32; 2]) -> [Row; 2] {
    let west = std::array::from_fn(|x| if x == 0 { ends[0] } else { own[x - 1] });
    let east = std::array::from_fn(|x| if x + 1 == EDGE { ends[1] } else { own[x + 1] });
    [west, east]
}

/// A row relaxed along itself. `ends` are the cells beyond it.
#[inline(always)]
fn relax_along(row: Row, ends: [u32; 2], number: usize, window: &Window) -> Row {
    let walls = &window.walls.own[number];
    let (west_steps, east_steps) = (&window.steps.west[number], &window.steps.east[number]);
    let mut own = row;
    for _ in 0..SINGLE_STEPS {
        let [west, east] = beside_of(&own, ends);
        let mut new = own;
        for x in 0..EDGE {
            let least = (west[x] + west_steps[x]).min(east[x] + east_steps[x]);
            new[x] = least.max(walls[x]).min(own[x]);
        }
        if !differ(&new, &own) {
            return own;
        }
        own = new;
    }
    // From end to end in both directions at once. 64 bits hold a wall as a long step.
    let mut left_steps = [0; EDGE];
    let mut right_steps = [0; EDGE];
    for x in 0..EDGE {
        let wall = u64::from(walls[x]) << 8;
        left_steps[x] = u64::from(west_steps[x]) + wall;
        right_steps[x] = u64::from(east_steps[x]) + wall;
    }
    let [mut left, mut right] = ends.map(u64::from);
    let mut from_left = [0; EDGE];
    let mut from_right = [0; EDGE];
    for x in 0..EDGE {
        left = (left + left_steps[x]).min(own[x].into());
        from_left[x] = left as u32;
        let x = EDGE - 1 - x;
        right = (right + right_steps[x]).min(own[x].into());
        from_right[x] = right as u32;
    }
    std::array::from_fn(|x| from_left[x].min(from_right[x]))
}

/// Writes the changed rows of a window to `cells`, and returns what changed at the border of the tile.
#[inline(always)]
fn store_rows<const CORNERS: u8>(window: &Window, changed: u32, cells: &mut [u32], pitch: usize) -> Changes {
    // What each changed cell at the border gives to the cells of the neighbours, which are in the window too.
    let least_to = |row: usize, x: usize, to_row: usize, to_x: usize| {
        let to = entered::<CORNERS>(window, [row, x], [to_row, to_x]);
        if to < window.distances.at([to_row, to_x]) { to } else { UNREACHABLE }
    };
    let mut rows = [[UNREACHABLE; 3]; 2];
    for (changes, (row, beside)) in rows.iter_mut().zip([(1, 0), (EDGE, EDGE + 1)]) {
        if changed >> row & 1 == 1 {
            let improved = improved_from::<CORNERS>(window, beside, row);
            let corner = |x: usize, to_x: usize| {
                if CORNERS == NO_DIAGONALS { UNREACHABLE } else { least_to(row, x, beside, to_x) }
            };
            *changes = [corner(1, 0), improved, corner(EDGE, EDGE + 1)];
        }
    }
    let mut columns = [Column { rows: 0, least: UNREACHABLE }; 2];
    let mut rows_left = changed;
    while rows_left != 0 {
        let row = rows_left.trailing_zeros() as usize;
        rows_left &= rows_left - 1;
        let line = &window.distances.own[row];
        let Some(before) = cells[row * pitch + 1..].first_chunk_mut::<EDGE>() else { continue };
        for (column, (x, beside)) in columns.iter_mut().zip([(1, 0), (EDGE, EDGE + 1)]) {
            if line[x - 1] == before[x - 1] {
                continue;
            }
            let to_rows = if CORNERS == NO_DIAGONALS { row..row + 1 } else { row - 1..row + 2 };
            for to_row in to_rows {
                let to = least_to(row, x, to_row, beside);
                column.rows |= u32::from(to != UNREACHABLE) << to_row;
                column.least = column.least.min(to);
            }
        }
        *before = *line;
    }
    // The corners belong to other tiles.
    columns.iter_mut().for_each(|column| column.rows &= TILE_ROWS);
    Changes { rows, columns }
}

/// The length of the path from a cell of the window over the cell `from` beside it; at least `far` if there is none.
#[inline(always)]
fn entered<const CORNERS: u8>(window: &Window, from: [usize; 2], to: [usize; 2]) -> u32 {
    let Window { distances, walls, steps, diagonals, corners } = window;
    let via = if CORNERS == NO_DIAGONALS || from[0] == to[0] || from[1] == to[1] {
        distances.at(from) + steps.at(from)
    } else {
        let between = [walls.at([from[0], to[1]]), walls.at([to[0], from[1]])];
        let wall = match CORNERS {
            BOTH_FREE => between[0].max(between[1]),
            _ => between[0].min(between[1]) & corners,
        };
        distances.at(from).max(wall) + diagonals.at(from)
    };
    via.max(walls.at(to))
}

/// The least distance that a row would get over its neighbour `beside` where it is less than its own.
#[inline(always)]
fn improved_from<const CORNERS: u8>(window: &Window, row: usize, beside: usize) -> u32 {
    let own = &window.distances.own[row];
    let over = row_over::<CORNERS>(window, row, beside);
    let mut least = UNREACHABLE;
    for x in 0..EDGE {
        least = least.min(if over[x] < own[x] { over[x] } else { UNREACHABLE });
    }
    least
}

/// Writes a row of cells and its shifted copies.
#[inline(always)]
fn shifted_row(cells: &[u32; WINDOW], row: usize, to: &mut Shifted) {
    to.west[row].copy_from_slice(&cells[..EDGE]);
    to.own[row].copy_from_slice(&cells[1..=EDGE]);
    to.east[row].copy_from_slice(&cells[2..]);
}

/// Spreads the walls of a window, one bit per cell, to `far` for walls and 0 for others.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn spread_walls(bits: &[u32; WINDOW], far: u32, walls: &mut Shifted) {
    for (row, &bits) in bits.iter().enumerate() {
        for x in 0..EDGE {
            walls.west[row][x] = (bits >> x & 1).wrapping_neg() & far;
            walls.own[row][x] = (bits >> (x + 1) & 1).wrapping_neg() & far;
            walls.east[row][x] = (bits >> (x + 2) & 1).wrapping_neg() & far;
        }
    }
}

/// Multiplies the costs of a window with the lengths of the steps, along an axis and diagonal. `costs` are those from
/// its first cell in the grid on, which is in the column `first` of the window; `width` from row to row.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn scale_costs(
    costs: &[u32],
    width: usize,
    first: usize,
    count: usize,
    lengths: [u32; 2],
    rows: std::ops::Range<usize>,
    window: &mut Window,
) {
    let mut padded = [1; WINDOW];
    for (costs, row) in costs.chunks(width).zip(rows) {
        let costs = if count == WINDOW {
            let Some(costs) = costs.first_chunk::<WINDOW>() else { return };
            costs
        } else {
            padded[first..first + count].copy_from_slice(&costs[..count]);
            &padded
        };
        scaled_row(costs, lengths[0], row, &mut window.steps);
        // Without diagonals their lengths are 0.
        if lengths[1] != 0 {
            scaled_row(costs, lengths[1], row, &mut window.diagonals);
        }
    }
}

/// Writes a row of costs, times the length of a step, and its shifted copies.
#[inline(always)]
fn scaled_row(costs: &[u32; WINDOW], length: u32, row: usize, steps: &mut Shifted) {
    for x in 0..EDGE {
        steps.west[row][x] = costs[x] * length;
    }
    for x in 0..EDGE {
        steps.own[row][x] = costs[x + 1] * length;
    }
    for x in 0..EDGE {
        steps.east[row][x] = costs[x + 2] * length;
    }
}

/// Makes cells beyond `max_distance` unreachable. Returns the largest distance left.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn finish_row(distances: &mut [u32], max_distance: u32, far: u32) -> u32 {
    let mut farthest = 0;
    for distance in distances {
        let is_reached = (*distance <= max_distance) & (*distance < far);
        farthest = farthest.max(if is_reached { *distance } else { 0 });
        *distance = if is_reached { *distance } else { UNREACHABLE };
    }
    farthest
}
