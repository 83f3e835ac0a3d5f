//! Next cells, from final distances.

use crate::cell::Cell;
use crate::flow::field::cpu::masks::Moves;
use crate::flow::field::cpu::rows;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::NEXT_NONE;

/// What is known of a field once its next cells are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// One more than the largest distance that is reached; 0 where none is.
    pub(crate) past_most: u32,
    /// Cells that are reached.
    pub(crate) reached: usize,
    /// Cells without a code.
    pub(crate) bare: usize,
}

/// The code of each cell's next one along the way, where it has one; without masks the steps are all 1 and orthogonal, and
/// obstacles beside a reached cell have theirs too. The array `reused` is written over and returned.
pub(crate) fn codes<M: Moves>(
    grid: &Grid,
    masks: Option<&[M]>,
    distances: &[u32],
    reused: Vec<u8>,
) -> (Vec<u8>, Counts) {
    let mut codes = rows::sized(reused, distances.len());
    let width = grid.width();
    let chunk_rows = rows::rows_at_a_time(width);
    let height = grid.size()[1] as usize;
    let counts = rows::for_chunks(&mut codes, chunk_rows * width, |number, chunk| {
        let mut counts = Counts::default();
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            let row = number * chunk_rows + row;
            match masks {
                None => {
                    row_of_units::<true>(width, height, row, distances, codes);
                    let blocked = &grid.blocked_words()[row * grid.row_words()..];
                    for ((codes, distances), &blocked) in
                        codes.chunks_mut(64).zip(row_of(distances, width, row).chunks(64)).zip(blocked)
                    {
                        // Beyond a limit there are free cells beside reached ones.
                        strip(codes, distances, !blocked);
                    }
                }
                Some(masks) => row_of_any(grid, masks, row, distances, codes),
            }
            count(row_of(distances, width, row), codes, &mut counts);
        }
        counts
    });
    let sum = counts.into_iter().fold(Counts::default(), |sum, part| Counts {
        past_most: sum.past_most.max(part.past_most),
        reached: sum.reached + part.reached,
        bare: sum.bare + part.bare,
    });
    (codes, sum)
}

/// Takes the codes away of cells that are not reached and whose bit is set, of at most 64.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn strip(codes: &mut [u8], distances: &[u32], bits: u64) {
    for (half, (codes, distances)) in codes.chunks_mut(32).zip(distances.chunks(32)).enumerate() {
        let bits = (bits >> (32 * half)) as u32;
        for (x, (code, &distance)) in codes.iter_mut().zip(distances).enumerate() {
            let is_bare = bits >> (x & 31) & u32::from(distance == UNREACHABLE) & 1;
            *code |= is_bare.wrapping_neg() as u8;
        }
    }
}

/// Adds the codes of the obstacles whose level is 1 or more; they have none yet. `levels` are those of a wave through
/// obstacles, from those of level 0 that have their codes.
pub(crate) fn add_exits(grid: &Grid, levels: &[u32], codes: &mut [u8]) {
    let (width, height) = (grid.width(), grid.size()[1] as usize);
    let chunk_rows = rows::rows_at_a_time(width);
    rows::for_chunks(codes, chunk_rows * width, |number, chunk| {
        let mut found = vec![0; width];
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            row_of_units::<false>(width, height, number * chunk_rows + row, levels, &mut found);
            // No code is the largest.
            codes.iter_mut().zip(&found).for_each(|(code, &found)| *code = found.min(*code));
        }
    });
}

/// Adds what a row has.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn count(distances: &[u32], codes: &[u8], counts: &mut Counts) {
    // Shorter than what 32 bits count.
    let (mut most, mut unreached, mut bare) = (counts.past_most, 0, 0);
    for (&distance, &code) in distances.iter().zip(codes) {
        // UNREACHABLE and one is 0.
        most = most.max(distance.wrapping_add(1));
        unreached += u32::from(distance == UNREACHABLE);
        bare += u32::from(code == NEXT_NONE);
    }
    counts.past_most = most;
    counts.reached += distances.len() - unreached as usize;
    counts.bare += bare as usize;
}

/// The cells without a code of at most 64, a bit each.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn bare_of(codes: &[u8]) -> u64 {
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

/// The row of an array of rows, where it is in the layer of that height.
fn row_of(items: &[u32], width: usize, row: usize) -> &[u32] {
    items.get(row * width..(row + 1) * width).unwrap_or(&[])
}

/// The codes of a row where all steps are 1 and orthogonal in two dimensions; `EXITS`, and a cell that is not reached has that of
/// a neighbour that is.
fn row_of_units<const EXITS: bool>(
    width: usize,
    height: usize,
    row: usize,
    distances: &[u32],
    codes: &mut [u8],
) {
    let here = row_of(distances, width, row);
    // Beside the grid is as far as the cell itself: no next cell.
    let north = if row > 0 { row_of(distances, width, row - 1) } else { here };
    let south = if row + 1 < height { row_of(distances, width, row + 1) } else { here };
    let code = |distance: u32, near: [u32; 4]| code_of::<EXITS>(distance, near) as u8;
    if width < 3 {
        for x in 0..width {
            let east = if x + 1 < width { here[x + 1] } else { here[x] };
            codes[x] = code(here[x], [north[x], east, south[x], here[x.saturating_sub(1)]]);
        }
        return;
    }
    let last = width - 1;
    codes[0] = code(here[0], [north[0], here[1], south[0], here[0]]);
    codes[last] = code(here[last], [north[last], here[last], south[last], here[last - 1]]);
    inner_units::<EXITS>(&mut codes[1..last], here, &north[1..last], &south[1..last]);
}

/// Finds the codes again of the free cells among the 64 of a word of a row, where all steps are 1 and orthogonal.
pub(crate) fn refresh(grid: &Grid, distances: &[u32], row: usize, word: usize, codes: &mut [u8]) {
    let (width, height) = (grid.width(), grid.size()[1] as usize);
    let blocked = grid.blocked_words()[row * grid.row_words() + word];
    let (from, to) = (64 * word, width.min(64 * word + 64));
    let part = |row: usize, from: usize, to: usize| &distances[row * width + from..row * width + to];
    let mut found = [NEXT_NONE; 64];
    let (north, south) = (row.saturating_sub(1), (row + 1).min(height - 1));
    if from > 0 && to < width {
        let here = part(row, from - 1, to + 1);
        inner_units::<false>(&mut found[..to - from], here, part(north, from, to), part(south, from, to));
    } else {
        for (found, x) in found.iter_mut().zip(from..to) {
            let at = |row: usize, x: usize| distances[row * width + x];
            let near =
                [at(north, x), at(row, (x + 1).min(width - 1)), at(south, x), at(row, x.saturating_sub(1))];
            *found = code_of::<false>(at(row, x), near) as u8;
        }
    }
    for (x, code) in codes[row * width + from..row * width + to].iter_mut().enumerate() {
        *code = if blocked >> x & 1 == 1 { *code } else { found[x] };
    }
}

/// The code of a cell with that distance, by those of its neighbours.
#[inline(always)]
fn code_of<const EXITS: bool>(distance: u32, [north, east, south, west]: [u32; 4]) -> u32 {
    let is_lost = EXITS & (distance == UNREACHABLE);
    // Of a goal it would be that of an unreachable cell.
    let wanted = if is_lost { UNREACHABLE } else { distance.wrapping_sub(1) };
    let leads = |near: u32| (near == wanted) ^ is_lost;
    let mut code = u32::from(NEXT_NONE);
    code = if leads(west) { 3 } else { code };
    code = if leads(south) { 2 } else { code };
    code = if leads(east) { 1 } else { code };
    code = if leads(north) { 0 } else { code };
    if distance == 0 { u32::from(NEXT_NONE) } else { code }
}

/// The codes of all cells of a row but its ends.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn inner_units<const EXITS: bool>(codes: &mut [u8], here: &[u32], north: &[u32], south: &[u32]) {
    let count = codes.len();
    let (west, middle, east) = (&here[..count], &here[1..=count], &here[2..count + 2]);
    let (north, south) = (&north[..count], &south[..count]);
    for x in 0..count {
        codes[x] = code_of::<EXITS>(middle[x], [north[x], east[x], south[x], west[x]]) as u8;
    }
}

/// The codes of a row of any grid.
fn row_of_any<M: Moves>(grid: &Grid, masks: &[M], row: usize, distances: &[u32], codes: &mut [u8]) {
    let width = grid.width();
    let height = grid.size()[1] as usize;
    let depth = grid.size()[2] as usize;
    codes.fill(NEXT_NONE);
    let connectivity = grid.connectivity();
    let here = row_of(distances, width, row);
    let masks = &masks[row * width..(row + 1) * width];
    let (y, z) = ((row % height) as i64, (row / height) as i64);
    // The last that fits stays.
    for (code, &[dx, dy, dz]) in connectivity.offsets().iter().enumerate().rev() {
        let (y, z) = (y + i64::from(dy), z + i64::from(dz));
        if y < 0 || z < 0 || y >= height as i64 || z >= depth as i64 {
            continue;
        }
        let other = z as usize * height + y as usize;
        let near = row_of(distances, width, other);
        let costs = row_of(grid.costs(), width, other);
        let (from, to) = (usize::from(dx < 0), width - usize::from(dx > 0));
        let part = |items: &'_ [u32]| -> std::ops::Range<usize> {
            let shift = |at: usize| at.saturating_add_signed(dx as isize);
            if items.is_empty() || from >= to { 0..0 } else { shift(from)..shift(to) }
        };
        if from >= to {
            continue;
        }
        let step = connectivity.step(code as u8);
        let (codes, here, masks) = (&mut codes[from..to], &here[from..to], &masks[from..to]);
        let (near, costs) = (&near[part(near)], &costs[part(costs)]);
        if costs.is_empty() {
            mark_units(codes, here, masks, near, step, code as u8);
        } else {
            mark(codes, here, masks, near, costs, step, code as u8);
        }
    }
}

/// Sets the code of the cells whose distance is that of their neighbour and the step.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn mark_units<M: Moves>(codes: &mut [u8], here: &[u32], masks: &[M], near: &[u32], step: u32, code: u8) {
    let count = codes.len();
    let (here, masks, near) = (&here[..count], &masks[..count], &near[..count]);
    for x in 0..count {
        let mask: u32 = masks[x].into();
        let is_open = mask >> (code & 31) & 1 == 1;
        let fits = (here[x] > near[x]) & (here[x].wrapping_sub(near[x]) == step) & (here[x] != UNREACHABLE);
        codes[x] = if is_open & fits { code } else { codes[x] };
    }
}

/// The same with costs.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn mark<M: Moves>(
    codes: &mut [u8],
    here: &[u32],
    masks: &[M],
    near: &[u32],
    costs: &[u32],
    step: u32,
    code: u8,
) {
    let count = codes.len();
    let (here, masks, near, costs) = (&here[..count], &masks[..count], &near[..count], &costs[..count]);
    for x in 0..count {
        let mask: u32 = masks[x].into();
        let is_open = mask >> (code & 31) & 1 == 1;
        let is_near = (here[x] > near[x]) & (here[x] != UNREACHABLE);
        let fits = u64::from(here[x].wrapping_sub(near[x])) == u64::from(step) * u64::from(costs[x]);
        codes[x] = if is_open & is_near & fits { code } else { codes[x] };
    }
}

/// The distance by way of the cell `to`, entered by the move `code`; past 2³² where it is not reached.
fn sum(grid: &Grid, distances: &[u32], to: Cell, code: u8) -> u64 {
    match grid.index(to).map(|to| distances[to]) {
        Some(distance) if distance != UNREACHABLE => {
            u64::from(distance) + u64::from(grid.connectivity().step(code)) * u64::from(grid.cost(to))
        }
        _ => u64::MAX,
    }
}

/// The first free cell, row-major, that has no distance which 32 bits hold but a move to one that has.
pub(crate) fn overflowing(grid: &Grid, distances: &[u32]) -> Option<Cell> {
    let reaches = |cell: Cell| {
        let codes = 0..grid.connectivity().neighbour_count() as u8;
        codes
            .filter_map(|code| Some((code, grid.neighbour(cell, code)?)))
            .any(|(code, to)| sum(grid, distances, to, code) != u64::MAX)
    };
    let open = (0..distances.len()).filter(|&index| distances[index] == UNREACHABLE);
    open.map(|index| grid.cell(index)).find(|&cell| grid.is_free(cell) && reaches(cell))
}
