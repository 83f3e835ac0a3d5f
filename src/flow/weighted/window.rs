//! The window of a tile, and its relaxation.

use crate::flow::grid::moves::NEXT_NONE;
use crate::flow::weighted::distance::Distance;

/// Cells along the edge of a tile.
pub(crate) const EDGE: usize = 16;
/// Cells along the edge of a window: a tile with one cell of its neighbours on each side.
pub(crate) const WINDOW: usize = EDGE + 2;
/// The bits of the rows of a tile; bit 0 is the row above the tile.
pub(crate) const TILE_ROWS: u32 = 0x1_fffe;
/// How often a row is relaxed by a single step along itself before it is relaxed from end to end.
const SINGLE_STEPS: usize = 3;

/// A row of a tile.
pub(crate) type Row<D> = [D; EDGE];
/// The distances of the cells of a tile.
pub(crate) type TileCells<D> = [Row<D>; EDGE];

/// The costs of the cells of a window; 0 for obstacles, and outside the grid.
pub(crate) type WindowCosts<C> = [[C; WINDOW]; WINDOW];

/// What is to be done in a tile, one bit per row of its window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// The rows to relax over the row above them.
    pub(crate) from_above: u32,
    /// The rows to relax over the row below them.
    pub(crate) from_below: u32,
    /// The rows to relax along themselves.
    pub(crate) along: u32,
}

impl Work {
    pub(crate) const ALL: Self = Self { from_above: TILE_ROWS, from_below: TILE_ROWS, along: TILE_ROWS };
}

/// The weights of moves in a window.
#[repr(C, align(64))]
pub(crate) struct Weights<D> {
    /// For each move, in the order of its code: the weight for each cell in the tile's columns. Moves that leave the window have any.
    pub(crate) moves: [[Row<D>; WINDOW]; 8],
    /// For the cells to the west of the tile, and those to the east: the weights of their moves into the tile, upward, along the row and
    /// downward.
    pub(crate) sides: [[[D; WINDOW]; 3]; 2],
}

/// The window of the tile that is relaxed. Rows are held three times: one column to the west, as they are, and one column to the
/// east. So they are loaded as they were stored, which a processor does much sooner than parts of two stored rows.
#[repr(C, align(64))]
pub(crate) struct Window<D> {
    west: [Row<D>; WINDOW],
    own: [Row<D>; WINDOW],
    east: [Row<D>; WINDOW],
    pub(crate) weights: Weights<D>,
}

/// What changed at the border of a tile: what the cells beside it would get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changes<D> {
    /// In the row above and the row below: the least distance that lowers the cell before the first column, one of the tile's columns,
    /// the cell after the last; [`Distance::FAR`] if none is lowered.
    pub(crate) rows: [[D; 3]; 2],
    /// In the columns to the west and to the east.
    pub(crate) columns: [Column<D>; 2],
}

/// What would change in a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<D> {
    /// The rows of the cells, one bit each.
    pub(crate) rows: u32,
    /// The least distance that they would get.
    pub(crate) least: D,
}

impl<D: Distance> Window<D> {
    pub(crate) fn new() -> Box<Self> {
        // Zeros first: a constant of this size would be written by a thousand stores.
        let rows = [[D::default(); EDGE]; WINDOW];
        let weights = Weights { moves: [rows; 8], sides: [[[D::default(); WINDOW]; 3]; 2] };
        let mut window = Box::new(Self { west: rows, own: rows, east: rows, weights });
        let Self { west, own, east, weights: Weights { moves, sides } } = &mut *window;
        for cells in [west, own, east].into_iter().chain(moves) {
            cells.as_flattened_mut().fill(D::FAR);
        }
        sides.as_flattened_mut().as_flattened_mut().fill(D::FAR);
        window
    }

    /// Loads distances.
    pub(crate) fn load(&mut self, cells: &[[D; WINDOW]; WINDOW]) {
        shift_rows(cells, self);
    }

    /// The distance of the cell in this row and column of the window.
    #[inline(always)]
    fn at(&self, row: usize, x: usize) -> D {
        match x {
            0 => self.west[row][0],
            1..=EDGE => self.own[row][x - 1],
            _ => self.east[row][EDGE - 1],
        }
    }

    /// Relaxes the rows of the tile until none changes. Writes `cells` that changed; `None` if none did.
    pub(crate) fn relax(
        &mut self,
        work: Work,
        has_diagonals: bool,
        cells: &mut TileCells<D>,
    ) -> Option<Changes<D>> {
        if has_diagonals { relax::<D, true>(self, work, cells) } else { relax::<D, false>(self, work, cells) }
    }

    /// The code of the next cell of each cell in a row of the tile: that of the first move, in the order of codes, that leads to its distance.
    pub(crate) fn next(&self, row: usize, has_diagonals: bool) -> [u8; EDGE] {
        if has_diagonals { next_codes::<D, 8>(self, row + 1) } else { next_codes::<D, 4>(self, row + 1) }
    }

    /// For each cell in a row of the tile one bit for each move that leads to its distance from an equal one: its step is lost in rounding.
    pub(crate) fn ties(&self, row: usize, has_diagonals: bool) -> [u8; EDGE] {
        let row = row + 1;
        let own = &self.own[row];
        let mut ties = [0; EDGE];
        for code in 0..if has_diagonals { 8 } else { 4 } {
            let (near, weights) = (self.beside(row, code), &self.weights.moves[code][row]);
            for x in 0..EDGE {
                let is_tied = near[x] + weights[x] == own[x] && near[x] == own[x];
                ties[x] |= u8::from(is_tied) << code;
            }
        }
        ties
    }

    /// The cells that a move leads to from the cells of a row.
    #[inline(always)]
    fn beside(&self, row: usize, code: usize) -> &Row<D> {
        let (dx, dy) = [(0, -1), (1, 0), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, 1), (-1, -1)][code];
        let row = row.wrapping_add_signed(dy);
        match dx {
            -1 => &self.west[row],
            0 => &self.own[row],
            _ => &self.east[row],
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn shift_rows<D: Distance>(cells: &[[D; WINDOW]; WINDOW], window: &mut Window<D>) {
    for (row, cells) in cells.iter().enumerate() {
        window.west[row].copy_from_slice(&cells[..EDGE]);
        window.own[row].copy_from_slice(&cells[1..=EDGE]);
        window.east[row].copy_from_slice(&cells[2..]);
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"), attrs(inline(never)))]
fn relax<D: Distance, const DIAGONALS: bool>(
    window: &mut Window<D>,
    work: Work,
    cells: &mut TileCells<D>,
) -> Option<Changes<D>> {
    let changed = relax_rows::<D, DIAGONALS>(window, work);
    (changed != 0).then(|| store_rows::<D, DIAGONALS>(window, changed, cells))
}

/// Relaxes the rows of a window until none changes, and returns those that changed, one bit each.
#[inline(always)]
fn relax_rows<D: Distance, const DIAGONALS: bool>(window: &mut Window<D>, work: Work) -> u32 {
    let Work { mut from_above, mut from_below, mut along } = work;
    let mut all_changed = 0;
    loop {
        // Downward: a row that changes wakes the next one.
        while (from_above | along) & TILE_ROWS != 0 {
            let row = ((from_above | along) & TILE_ROWS).trailing_zeros();
            let bit = 1 << row;
            let (is_over, is_along) = (from_above & bit != 0, along & bit != 0);
            let has_changed = relax_row::<D, DIAGONALS, false>(window, row as usize, is_over, is_along);
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
            if relax_row::<D, DIAGONALS, true>(window, row as usize, true, false) {
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

/// Relaxes a row over the row below it, or above it, if `is_over`, and along itself, if it changed or `is_along`. Returns whether it
/// changed.
#[inline(always)]
fn relax_row<D: Distance, const DIAGONALS: bool, const OVER_BELOW: bool>(
    window: &mut Window<D>,
    row: usize,
    is_over: bool,
    is_along: bool,
) -> bool {
    let before = window.own[row];
    let mut own = before;
    if is_over {
        let over = row_over::<D, DIAGONALS, OVER_BELOW>(window, row);
        for x in 0..EDGE {
            own[x] = over[x].least(before[x]);
        }
    }
    let has_changed = differ(&own, &before);
    if !has_changed && !is_along {
        return false;
    }
    let ends = [window.west[row][0], window.east[row][EDGE - 1]];
    let own = relax_along(own, ends, row, window);
    if !has_changed && !differ(&own, &before) {
        return false;
    }
    window.own[row] = own;
    [window.west[row], window.east[row]] = beside_of(&own, ends);
    true
}

/// The lengths of the paths from the cells of a row over the row below it, or above it; at least [`Distance::FAR`] where there is none.
#[inline(always)]
fn row_over<D: Distance, const DIAGONALS: bool, const OVER_BELOW: bool>(
    window: &Window<D>,
    row: usize,
) -> Row<D> {
    let moves = &window.weights.moves;
    let beside = if OVER_BELOW { row + 1 } else { row - 1 };
    let [straight, to_east, to_west] =
        if OVER_BELOW { [2, 5, 6] } else { [0, 4, 7] }.map(|code: usize| &moves[code][row]);
    let (near, near_west, near_east) = (&window.own[beside], &window.west[beside], &window.east[beside]);
    let mut over = [D::default(); EDGE];
    for x in 0..EDGE {
        over[x] = near[x] + straight[x];
        if DIAGONALS {
            over[x] = over[x].least(near_west[x] + to_west[x]).least(near_east[x] + to_east[x]);
        }
    }
    over
}

/// Whether two rows differ.
#[inline(always)]
fn differ<D: Distance>(one: &Row<D>, other: &Row<D>) -> bool {
    let mut is_different = false;
    for x in 0..EDGE {
        is_different |= one[x] != other[x];
    }
    is_different
}

/// The cells to the west of those of a row, and those to the east. `ends` are the cells beyond it.
#[inline(always)]
fn beside_of<D: Distance>(own: &Row<D>, ends: [D; 2]) -> [Row<D>; 2] {
    let west = std::array::from_fn(|x| if x == 0 { ends[0] } else { own[x - 1] });
    let east = std::array::from_fn(|x| if x + 1 == EDGE { ends[1] } else { own[x + 1] });
    [west, east]
}

/// A row relaxed along itself. `ends` are the cells beyond it.
#[inline(always)]
fn relax_along<D: Distance>(row: Row<D>, ends: [D; 2], number: usize, window: &Window<D>) -> Row<D> {
    let (to_west, to_east) = (&window.weights.moves[3][number], &window.weights.moves[1][number]);
    let mut own = row;
    for _ in 0..SINGLE_STEPS {
        let [west, east] = beside_of(&own, ends);
        let mut new = own;
        for x in 0..EDGE {
            new[x] = (west[x] + to_west[x]).least(east[x] + to_east[x]).least(own[x]);
        }
        if !differ(&new, &own) {
            return own;
        }
        own = new;
    }
    // From end to end in both directions at once.
    let [mut left, mut right] = ends;
    let mut from_left = [D::default(); EDGE];
    let mut from_right = [D::default(); EDGE];
    for x in 0..EDGE {
        left = (left + to_west[x]).least(own[x]);
        from_left[x] = left;
        let x = EDGE - 1 - x;
        right = (right + to_east[x]).least(own[x]);
        from_right[x] = right;
    }
    std::array::from_fn(|x| from_left[x].least(from_right[x]))
}

/// Writes the changed rows of a window to `cells`, and returns what changed at the border of the tile.
#[inline(always)]
fn store_rows<D: Distance, const DIAGONALS: bool>(
    window: &Window<D>,
    changed: u32,
    cells: &mut TileCells<D>,
) -> Changes<D> {
    let mut rows = [[D::FAR; 3]; 2];
    // `way`: the place in `Weights::sides` of moves from the row beside to the tile's row.
    for (changes, (row, beside, way)) in rows.iter_mut().zip([(1, 0, 2), (EDGE, EDGE + 1, 0)]) {
        if changed >> row & 1 == 0 {
            continue;
        }
        let over = if beside == 0 {
            row_over::<D, DIAGONALS, true>(window, beside)
        } else {
            row_over::<D, DIAGONALS, false>(window, beside)
        };
        let mut least = D::FAR;
        for x in 0..EDGE {
            least = least.least(if over[x] < window.own[beside][x] { over[x] } else { D::FAR });
        }
        let corner = |side: usize, x: usize, to_x: usize| {
            let lowered = window.at(row, x) + window.weights.sides[side][way][beside];
            if DIAGONALS && lowered < window.at(beside, to_x) { lowered } else { D::FAR }
        };
        *changes = [corner(0, 1, 0), least, corner(1, EDGE, EDGE + 1)];
    }
    let mut columns = [Column { rows: 0, least: D::FAR }; 2];
    let mut rows_left = changed;
    while rows_left != 0 {
        let row = rows_left.trailing_zeros() as usize;
        rows_left &= rows_left - 1;
        let (line, before) = (&window.own[row], &mut cells[row - 1]);
        for (side, (column, (x, beside))) in columns.iter_mut().zip([(1, 0), (EDGE, EDGE + 1)]).enumerate() {
            if line[x - 1] == before[x - 1] {
                continue;
            }
            // A cell below moves upward.
            for (way, to_row) in [(2, row - 1), (1, row), (0, row + 1)] {
                let lowered = line[x - 1] + window.weights.sides[side][way][to_row];
                if (DIAGONALS || way == 1) && lowered < window.at(to_row, beside) {
                    column.rows |= 1 << to_row;
                    column.least = column.least.least(lowered);
                }
            }
        }
        *before = *line;
    }
    // The corners belong to other tiles.
    columns.iter_mut().for_each(|column| column.rows &= TILE_ROWS);
    Changes { rows, columns }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn next_codes<D: Distance, const MOVES: usize>(window: &Window<D>, row: usize) -> [u8; EDGE] {
    let own = &window.own[row];
    let mut found = [i64::from(NEXT_NONE); EDGE];
    // The first code wins, so the moves are tried in reverse order.
    for code in (0..MOVES).rev() {
        let near = window.beside(row, code);
        let weights = &window.weights.moves[code][row];
        for x in 0..EDGE {
            // A step that is too short to change the distance leads nowhere yet.
            let leads = (near[x] + weights[x] == own[x]) & (near[x] < own[x]) & (own[x] < D::FAR);
            found[x] = if leads { code as i64 } else { found[x] };
        }
    }
    found.map(|code| code as u8)
}
