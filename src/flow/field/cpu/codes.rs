//! The codes of next cells, from final distances.

use crate::cell::Cell;
use crate::flow::field::cpu::masks::MoveMask;
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::rows;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::{Corners, NEXT_NONE};

/// What is counted while the codes of a field are written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodeCounts {
    /// One more than the largest distance of a reached cell; 0 if no cell is reached.
    pub(crate) distance_end: u32,
    /// The number of reached cells.
    pub(crate) reached: usize,
    /// The number of cells without a code.
    pub(crate) uncoded: usize,
}

/// What tells the moves that a cell allows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moves<'a, M> {
    /// All steps are 1 and orthogonal, in two dimensions: the distances.
    Unit,
    /// The distances too, in grids that [`moves_show_in_distances`] names. `is_whole`: every cell is reached from which a goal
    /// can be.
    Distances { is_whole: bool },
    /// A mask for each cell, in any grid.
    Masks(&'a [M], CostRange),
}

/// The least width for which the moves of cells may be read off their distances: those of the first and the last column are
/// looked up one by one.
const MIN_WIDTH: usize = 64;

/// Whether distances tell the moves that cells allow, in a field that is whole or not: an obstacle has no distance, and in a
/// whole field a free cell beside a reached one has one.
pub(crate) fn moves_show_in_distances(grid: &Grid, costs: CostRange, is_whole: bool) -> bool {
    let has_diagonals = grid.connectivity().neighbour_count() > 4;
    grid.width() >= MIN_WIDTH && is_flat(grid, costs) && (is_whole || !has_diagonals)
}

/// Whether the codes come with those of obstacles beside a reached cell.
pub(crate) fn has_first_escapes(grid: &Grid, costs: CostRange) -> bool {
    is_flat(grid, costs) && grid.connectivity().neighbour_count() == 4
}

/// Whether rows are vectors of cells in two dimensions: they are wide enough, and 32 bits hold every step times its cost.
fn is_flat(grid: &Grid, costs: CostRange) -> bool {
    grid.width() > 2 && grid.connectivity().dimension() == 2 && costs.longest_step(grid) < 1 << 32
}

/// The code of each cell's next cell; in grids that [`has_first_escapes`] names and where all steps are 1, also those of
/// obstacles beside a reached cell. `spare` is written over and returned.
pub(crate) fn codes<M: MoveMask>(
    grid: &Grid,
    moves: Moves<'_, M>,
    distances: &[u32],
    spare: Vec<u8>,
) -> (Vec<u8>, CodeCounts) {
    let mut codes = rows::resized(spare, distances.len());
    let width = grid.width();
    let chunk_rows = rows::rows_per_chunk(width);
    let height = grid.size()[1] as usize;
    // Outside the grid.
    let outside = vec![UNREACHABLE; width];
    let counts = rows::map_chunks(&mut codes, chunk_rows * width, |number, chunk| {
        let mut counts = CodeCounts::default();
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            let row = number * chunk_rows + row;
            let has_escapes = match moves {
                Moves::Unit => {
                    unit_row::<true>(width, height, row, distances, codes);
                    true
                }
                Moves::Distances { is_whole } => {
                    flat_row::<M>(grid, None, row, distances, &outside, codes);
                    !is_whole
                }
                Moves::Masks(masks, costs) if is_flat(grid, costs) => {
                    flat_row(grid, Some(masks), row, distances, &outside, codes);
                    has_first_escapes(grid, costs)
                }
                Moves::Masks(masks, _) => {
                    any_row(grid, masks, row, distances, codes);
                    false
                }
            };
            if has_escapes {
                let blocked = &grid.blocked_words()[row * grid.row_words()..];
                for ((codes, distances), &blocked) in
                    codes.chunks_mut(64).zip(row_of(distances, width, row).chunks(64)).zip(blocked)
                {
                    // With a largest distance, free cells beyond it may be beside reached ones. They must have no code.
                    clear_unreached(codes, distances, !blocked);
                }
            }
            count(row_of(distances, width, row), codes, &mut counts);
        }
        counts
    });
    let sum = counts.into_iter().fold(CodeCounts::default(), |sum, part| CodeCounts {
        distance_end: sum.distance_end.max(part.distance_end),
        reached: sum.reached + part.reached,
        uncoded: sum.uncoded + part.uncoded,
    });
    (codes, sum)
}

/// Clears the codes of at most 64 cells: of those that are not reached and whose bit is set.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn clear_unreached(codes: &mut [u8], distances: &[u32], bits: u64) {
    for (half, (codes, distances)) in codes.chunks_mut(32).zip(distances.chunks(32)).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, (code, &distance)) in codes.iter_mut().zip(distances).enumerate() {
            let is_cleared = bits >> (x & 31) & u32::from(distance == UNREACHABLE) & 1;
            *code |= is_cleared.wrapping_neg() as u8;
        }
    }
}

/// Adds the codes of the obstacles whose level is 1 or more; they have no code yet. `levels` are those of a wave
/// through obstacles that starts from the obstacles that have codes, at level 0.
pub(crate) fn add_escape_codes(grid: &Grid, levels: &[u32], codes: &mut [u8]) {
    let (width, height) = (grid.width(), grid.size()[1] as usize);
    let chunk_rows = rows::rows_per_chunk(width);
    rows::map_chunks(codes, chunk_rows * width, |number, chunk| {
        let mut found = vec![0; width];
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            unit_row::<false>(width, height, number * chunk_rows + row, levels, &mut found);
            // `NEXT_NONE` is the largest code, so the least of both is the one that exists.
            codes.iter_mut().zip(&found).for_each(|(code, &found)| *code = found.min(*code));
        }
    });
}

/// Adds the counts of a row.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn count(distances: &[u32], codes: &[u8], counts: &mut CodeCounts) {
    // A row is shorter than 2³², so these counts fit.
    let (mut distance_end, mut unreached, mut uncoded) = (counts.distance_end, 0, 0);
    for (&distance, &code) in distances.iter().zip(codes) {
        // `UNREACHABLE` wraps to 0, so it never wins.
        distance_end = distance_end.max(distance.wrapping_add(1));
        unreached += u32::from(distance == UNREACHABLE);
        uncoded += u32::from(code == NEXT_NONE);
    }
    counts.distance_end = distance_end;
    counts.reached += distances.len() - unreached as usize;
    counts.uncoded += uncoded as usize;
}

/// The cells without a code, of at most 64, one bit each.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn uncoded_bits(codes: &[u8]) -> u64 {
    let mut bits = 0;
    for (group, codes) in codes.chunks(8).enumerate() {
        let mut part = 0;
        for (x, &code) in codes.iter().enumerate() {
            part |= u32::from(code == NEXT_NONE) << x;
        }
        bits |= u64::from(part) << (8 * group);
    }
    bits
}

/// A row of an array of rows; empty where the array has no such row.
fn row_of(items: &[u32], width: usize, row: usize) -> &[u32] {
    items.get(row * width..(row + 1) * width).unwrap_or(&[])
}

/// The codes of a row where all steps are 1 and orthogonal, in two dimensions. With `ESCAPES`, a cell that is not
/// reached gets the code of its first reached neighbour.
fn unit_row<const ESCAPES: bool>(
    width: usize,
    height: usize,
    row: usize,
    distances: &[u32],
    codes: &mut [u8],
) {
    let own = row_of(distances, width, row);
    // Outside the grid the own distance stands in: it is never the next smaller one.
    let north = if row > 0 { row_of(distances, width, row - 1) } else { own };
    let south = if row + 1 < height { row_of(distances, width, row + 1) } else { own };
    let code = |distance: u32, neighbours: [u32; 4]| code_of::<ESCAPES>(distance, neighbours) as u8;
    if width < 3 {
        for x in 0..width {
            let east = if x + 1 < width { own[x + 1] } else { own[x] };
            codes[x] = code(own[x], [north[x], east, south[x], own[x.saturating_sub(1)]]);
        }
        return;
    }
    let last = width - 1;
    codes[0] = code(own[0], [north[0], own[1], south[0], own[0]]);
    codes[last] = code(own[last], [north[last], own[last], south[last], own[last - 1]]);
    unit_inner_row::<ESCAPES>(&mut codes[1..last], own, &north[1..last], &south[1..last]);
}

/// Finds the codes of the free cells in one word of a row again, where all steps are 1 and orthogonal.
pub(crate) fn refresh_word(grid: &Grid, distances: &[u32], row: usize, word: usize, codes: &mut [u8]) {
    let (width, height) = (grid.width(), grid.size()[1] as usize);
    let blocked = grid.blocked_words()[row * grid.row_words() + word];
    let (start, end) = (64 * word, width.min(64 * word + 64));
    let part = |row: usize, start: usize, end: usize| &distances[row * width + start..row * width + end];
    let mut found = [NEXT_NONE; 64];
    let (north, south) = (row.saturating_sub(1), (row + 1).min(height - 1));
    if start > 0 && end < width {
        let own = part(row, start - 1, end + 1);
        unit_inner_row::<false>(
            &mut found[..end - start],
            own,
            part(north, start, end),
            part(south, start, end),
        );
    } else {
        for (found, x) in found.iter_mut().zip(start..end) {
            let distance_at = |row: usize, x: usize| distances[row * width + x];
            let neighbours = [
                distance_at(north, x),
                distance_at(row, (x + 1).min(width - 1)),
                distance_at(south, x),
                distance_at(row, x.saturating_sub(1)),
            ];
            *found = code_of::<false>(distance_at(row, x), neighbours) as u8;
        }
    }
    for (x, code) in codes[row * width + start..row * width + end].iter_mut().enumerate() {
        *code = if blocked >> x & 1 == 1 { *code } else { found[x] };
    }
}

/// The code of a cell with this distance, from the distances of its four neighbours.
#[inline(always)]
fn code_of<const ESCAPES: bool>(distance: u32, [north, east, south, west]: [u32; 4]) -> u32 {
    let is_escape = ESCAPES & (distance == UNREACHABLE);
    // For a goal this wraps to `UNREACHABLE`; the last line puts that right.
    let next_distance = if is_escape { UNREACHABLE } else { distance.wrapping_sub(1) };
    let leads = |neighbour: u32| (neighbour == next_distance) ^ is_escape;
    let mut code = u32::from(NEXT_NONE);
    code = if leads(west) { 3 } else { code };
    code = if leads(south) { 2 } else { code };
    code = if leads(east) { 1 } else { code };
    code = if leads(north) { 0 } else { code };
    if distance == 0 { u32::from(NEXT_NONE) } else { code }
}

/// The codes of all cells of a row except the first and the last.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn unit_inner_row<const ESCAPES: bool>(codes: &mut [u8], own: &[u32], north: &[u32], south: &[u32]) {
    let count = codes.len();
    let (west, middle, east) = (&own[..count], &own[1..=count], &own[2..count + 2]);
    let (north, south) = (&north[..count], &south[..count]);
    for x in 0..count {
        codes[x] = code_of::<ESCAPES>(middle[x], [north[x], east[x], south[x], west[x]]) as u8;
    }
}

/// The codes of a row in any grid.
fn any_row<M: MoveMask>(grid: &Grid, masks: &[M], row: usize, distances: &[u32], codes: &mut [u8]) {
    let width = grid.width();
    let height = grid.size()[1] as usize;
    let depth = grid.size()[2] as usize;
    codes.fill(NEXT_NONE);
    let connectivity = grid.connectivity();
    let own = row_of(distances, width, row);
    let masks = &masks[row * width..(row + 1) * width];
    let (y, z) = ((row % height) as i64, (row / height) as i64);
    // Later writes win, so the moves are tried in reverse order of their codes.
    for (code, &[dx, dy, dz]) in connectivity.offsets().iter().enumerate().rev() {
        let (y, z) = (y + i64::from(dy), z + i64::from(dz));
        if y < 0 || z < 0 || y >= height as i64 || z >= depth as i64 {
            continue;
        }
        let neighbour_row = z as usize * height + y as usize;
        let neighbours = row_of(distances, width, neighbour_row);
        let costs = row_of(grid.costs(), width, neighbour_row);
        let (start, end) = (usize::from(dx < 0), width - usize::from(dx > 0));
        let shifted_range = |items: &'_ [u32]| -> std::ops::Range<usize> {
            let shift = |x: usize| x.saturating_add_signed(dx as isize);
            if items.is_empty() || start >= end { 0..0 } else { shift(start)..shift(end) }
        };
        if start >= end {
            continue;
        }
        let step = connectivity.step(code as u8);
        let (codes, own, masks) = (&mut codes[start..end], &own[start..end], &masks[start..end]);
        let (neighbours, costs) = (&neighbours[shifted_range(neighbours)], &costs[shifted_range(costs)]);
        if costs.is_empty() {
            set_codes_without_costs(codes, own, masks, neighbours, step, code as u8);
        } else {
            set_codes_with_costs(codes, own, masks, neighbours, costs, step, code as u8);
        }
    }
}

/// One of two codes, without a branch: it would be mispredicted too often.
#[inline(always)]
fn selected(is_first: bool, first: u8, second: u8) -> u8 {
    let mask = u8::from(is_first).wrapping_neg();
    first & mask | second & !mask
}

/// The rows of an array that the codes of a row depend on: the row above it, itself, and the row below.
#[derive(Clone, Copy)]
struct ThreeRows<'a> {
    north: &'a [u32],
    own: &'a [u32],
    south: &'a [u32],
}

impl<'a> ThreeRows<'a> {
    /// The rows of an array of a flat grid; empty if the array is. `outside` is the row outside the grid.
    fn new(items: &'a [u32], width: usize, height: usize, row: usize, outside: &'a [u32]) -> Self {
        let outside = if items.is_empty() { items } else { outside };
        Self {
            north: if row > 0 { row_of(items, width, row - 1) } else { outside },
            own: row_of(items, width, row),
            south: if row + 1 < height { row_of(items, width, row + 1) } else { outside },
        }
    }

    /// The neighbours of the inner cells, in the order of the moves. `count`: the number of inner cells.
    #[inline(always)]
    fn neighbours(&self, count: usize) -> [&'a [u32]; 8] {
        let Self { north, own, south } = *self;
        let shifted =
            |row: &'a [u32], from: usize| if row.is_empty() { row } else { &row[from..from + count] };
        [
            shifted(north, 1),
            shifted(own, 2),
            shifted(south, 1),
            shifted(own, 0),
            shifted(north, 2),
            shifted(south, 2),
            shifted(south, 0),
            shifted(north, 0),
        ]
    }
}

/// What shows that a diagonal move is allowed.
const NO_DIAGONALS: u8 = 0;
const BOTH_REACHED: u8 = 1;
const ONE_REACHED: u8 = 2;
const ALWAYS: u8 = 3;
const MASKS: u8 = 4;

/// The codes of a row of a grid for which [`is_flat`] holds. `outside` is a row that is not reached.
fn flat_row<M: MoveMask>(
    grid: &Grid,
    masks: Option<&[M]>,
    row: usize,
    distances: &[u32],
    outside: &[u32],
    codes: &mut [u8],
) {
    let (width, height) = (grid.width(), grid.size()[1] as usize);
    let rows = ThreeRows::new(distances, width, height, row, outside);
    // A step to outside the grid leads nowhere, whatever it costs.
    let costs = ThreeRows::new(grid.costs(), width, height, row, row_of(grid.costs(), width, row));
    let connectivity = grid.connectivity();
    let steps = [connectivity.step(0), connectivity.step(4)];
    let row_masks = masks.map_or(&[][..], |masks| &masks[row * width..(row + 1) * width]);
    let inner = &mut codes[1..width - 1];
    let rule = match (connectivity.neighbour_count(), masks, connectivity.corners()) {
        (4, ..) => NO_DIAGONALS,
        (_, Some(_), _) => MASKS,
        (_, None, Corners::BothFree) => BOTH_REACHED,
        (_, None, Corners::OneFree) => ONE_REACHED,
        (_, None, Corners::Any) => ALWAYS,
    };
    match (rule, costs.own.is_empty()) {
        (NO_DIAGONALS, true) => {
            flat_inner_row::<M, 4, NO_DIAGONALS, false>(inner, rows, costs, row_masks, steps)
        }
        (NO_DIAGONALS, false) => {
            flat_inner_row::<M, 4, NO_DIAGONALS, true>(inner, rows, costs, row_masks, steps)
        }
        (BOTH_REACHED, true) => {
            flat_inner_row::<M, 8, BOTH_REACHED, false>(inner, rows, costs, row_masks, steps)
        }
        (BOTH_REACHED, false) => {
            flat_inner_row::<M, 8, BOTH_REACHED, true>(inner, rows, costs, row_masks, steps)
        }
        (ONE_REACHED, true) => {
            flat_inner_row::<M, 8, ONE_REACHED, false>(inner, rows, costs, row_masks, steps)
        }
        (ONE_REACHED, false) => {
            flat_inner_row::<M, 8, ONE_REACHED, true>(inner, rows, costs, row_masks, steps)
        }
        (ALWAYS, true) => flat_inner_row::<M, 8, ALWAYS, false>(inner, rows, costs, row_masks, steps),
        (ALWAYS, false) => flat_inner_row::<M, 8, ALWAYS, true>(inner, rows, costs, row_masks, steps),
        (_, true) => flat_inner_row::<M, 8, MASKS, false>(inner, rows, costs, row_masks, steps),
        (_, false) => flat_inner_row::<M, 8, MASKS, true>(inner, rows, costs, row_masks, steps),
    }
    for x in [0, width - 1] {
        codes[x] = end_code(grid, row_masks.get(x).map(|&mask| mask.into()), row * width + x, distances);
    }
}

/// The code of a cell at an end of a row, where [`is_flat`] holds. `mask` are the moves that it allows, if they are known.
fn end_code(grid: &Grid, mask: Option<u32>, index: usize, distances: &[u32]) -> u8 {
    let (cell, connectivity) = (grid.cell(index), grid.connectivity());
    let distance_at = |at: Cell| grid.index(at).map_or(UNREACHABLE, |index| distances[index]);
    let own = distances[index];
    let neighbours = connectivity.offsets().iter().map(|&[dx, dy, _]| Cell::from([cell.x + dx, cell.y + dy]));
    let code = if own == UNREACHABLE {
        // The way out of an obstacle.
        let is_escape = connectivity.neighbour_count() == 4;
        neighbours.map(distance_at).position(|distance| is_escape && distance != UNREACHABLE)
    } else {
        neighbours.enumerate().position(|(code, to)| {
            let step = connectivity.step(code as u8);
            let is_allowed = || match mask {
                Some(mask) => mask >> code & 1 == 1,
                None => grid.neighbour(cell, code as u8).is_some(),
            };
            let distance = distance_at(to);
            distance < own
                && distance.saturating_add(step.saturating_mul(grid.cost(to))) == own
                && is_allowed()
        })
    };
    code.map_or(NEXT_NONE, |code| code as u8)
}

/// The codes of all cells of a row except the first and the last, for grids of `MOVES` moves. A cell gets the first
/// code whose step leads to its distance. Without diagonals a cell that is not reached gets the code of its first reached
/// neighbour. `steps`: along an axis, and diagonal. `masks` are used by the rule `MASKS` only.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn flat_inner_row<M: MoveMask, const MOVES: usize, const RULE: u8, const COSTS: bool>(
    codes: &mut [u8],
    rows: ThreeRows<'_>,
    costs: ThreeRows<'_>,
    masks: &[M],
    steps: [u32; 2],
) {
    let count = codes.len();
    let (neighbours, costs) = (rows.neighbours(count), costs.neighbours(count));
    let own = &rows.own[1..=count];
    let masks = if RULE == MASKS { &masks[1..=count] } else { masks };
    for x in 0..count {
        let mask: u32 = if RULE == MASKS { masks[x].into() } else { 0 };
        let is_reached = |code: usize| neighbours[code % 4][x] != UNREACHABLE;
        let is_escape = (RULE == NO_DIAGONALS) & (own[x] == UNREACHABLE);
        let mut found = u32::from(NEXT_NONE);
        // The first code wins, so the moves are tried in reverse order.
        for code in (0..MOVES).rev() {
            let step = steps[code / 4] * if COSTS { costs[code][x] } else { 1 };
            // Over a neighbour that is not reached this is `UNREACHABLE`.
            let leads = neighbours[code][x].saturating_add(step) == own[x];
            let leads = leads & !is_escape | is_reached(code) & is_escape;
            // A diagonal move crosses the two cells to its sides.
            let is_open = match RULE {
                MASKS => mask >> code & 1 == 1,
                BOTH_REACHED if code >= 4 => is_reached(code) & is_reached(code + 1),
                ONE_REACHED if code >= 4 => is_reached(code) | is_reached(code + 1),
                _ => true,
            };
            found = if leads & is_open { code as u32 } else { found };
        }
        let is_closed = RULE != NO_DIAGONALS && own[x] == UNREACHABLE;
        found = if is_closed { u32::from(NEXT_NONE) } else { found };
        codes[x] = found as u8;
    }
}

/// Sets the code of the cells whose distance is that of their neighbour plus the step.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn set_codes_without_costs<M: MoveMask>(
    codes: &mut [u8],
    own: &[u32],
    masks: &[M],
    neighbours: &[u32],
    step: u32,
    code: u8,
) {
    let count = codes.len();
    let (own, masks, neighbours) = (&own[..count], &masks[..count], &neighbours[..count]);
    for x in 0..count {
        let mask: u32 = masks[x].into();
        let is_open = mask >> (code & 31) & 1 == 1;
        let fits =
            (own[x] > neighbours[x]) & (own[x].wrapping_sub(neighbours[x]) == step) & (own[x] != UNREACHABLE);
        codes[x] = selected(is_open & fits, code, codes[x]);
    }
}

/// The same for cells with costs.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn set_codes_with_costs<M: MoveMask>(
    codes: &mut [u8],
    own: &[u32],
    masks: &[M],
    neighbours: &[u32],
    costs: &[u32],
    step: u32,
    code: u8,
) {
    let count = codes.len();
    let (own, masks, neighbours, costs) =
        (&own[..count], &masks[..count], &neighbours[..count], &costs[..count]);
    for x in 0..count {
        let mask: u32 = masks[x].into();
        let is_open = mask >> (code & 31) & 1 == 1;
        let is_farther = (own[x] > neighbours[x]) & (own[x] != UNREACHABLE);
        let fits = u64::from(own[x].wrapping_sub(neighbours[x])) == u64::from(step) * u64::from(costs[x]);
        codes[x] = selected(is_open & is_farther & fits, code, codes[x]);
    }
}

/// The distance over the cell `target`, which the move `code` enters; `u64::MAX` if the target is not reached.
fn distance_via(grid: &Grid, distances: &[u32], target: Cell, code: u8) -> u64 {
    match grid.index(target).map(|target| distances[target]) {
        Some(distance) if distance != UNREACHABLE => {
            u64::from(distance) + u64::from(grid.connectivity().step(code)) * u64::from(grid.cost(target))
        }
        _ => u64::MAX,
    }
}

/// The first free cell, row-major, whose distance 32 bits do not hold, though it has a move to a reached cell.
pub(crate) fn first_overflow(grid: &Grid, distances: &[u32]) -> Option<Cell> {
    let has_reached_neighbour = |cell: Cell| {
        let codes = 0..grid.connectivity().neighbour_count() as u8;
        codes
            .filter_map(|code| Some((code, grid.neighbour(cell, code)?)))
            .any(|(code, target)| distance_via(grid, distances, target, code) != u64::MAX)
    };
    let open = (0..distances.len()).filter(|&index| distances[index] == UNREACHABLE);
    open.map(|index| grid.cell(index)).find(|&cell| grid.is_free(cell) && has_reached_neighbour(cell))
}
