//! Next cells, from final distances.

use super::masks::Moves;
use super::rows;
use crate::flow::cell::Cell;
use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;
use crate::flow::moves::NEXT_NONE;

/// The code of each cell's next one along the way, where it has one; without masks the steps are all 1 and orthogonal.
pub(super) fn codes<M: Moves>(grid: &Grid, masks: Option<&[M]>, distances: &[u32]) -> Vec<u8> {
    let mut codes = vec![0; distances.len()];
    let width = grid.width();
    let chunk_rows = rows::rows_at_a_time(width);
    let height = grid.size()[1] as usize;
    rows::for_chunks(&mut codes, chunk_rows * width, |number, chunk| {
        for (row, codes) in chunk.chunks_mut(width).enumerate() {
            let row = number * chunk_rows + row;
            match masks {
                None => row_of_units(width, height, row, distances, codes),
                Some(masks) => row_of_any(grid, masks, row, distances, codes),
            }
        }
    });
    codes
}

/// The row of an array of rows, where it is in the layer of that height.
fn row_of(items: &[u32], width: usize, row: usize) -> &[u32] {
    items.get(row * width..(row + 1) * width).unwrap_or(&[])
}

/// The codes of a row where all steps are 1 and orthogonal in two dimensions.
fn row_of_units(width: usize, height: usize, row: usize, distances: &[u32], codes: &mut [u8]) {
    let here = row_of(distances, width, row);
    // Beside the grid is as far as the cell itself: no next cell.
    let north = if row > 0 { row_of(distances, width, row - 1) } else { here };
    let south = if row + 1 < height { row_of(distances, width, row + 1) } else { here };
    let code = |distance: u32, [north, east, south, west]: [u32; 4]| {
        // Of a goal it would be that of an unreachable cell.
        let wanted = distance.wrapping_sub(1);
        let mut code = NEXT_NONE;
        code = if west == wanted { 3 } else { code };
        code = if south == wanted { 2 } else { code };
        code = if east == wanted { 1 } else { code };
        code = if north == wanted { 0 } else { code };
        if distance == 0 { NEXT_NONE } else { code }
    };
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
    inner_units(&mut codes[1..last], here, &north[1..last], &south[1..last]);
}

/// The codes of all cells of a row but its ends.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn inner_units(codes: &mut [u8], here: &[u32], north: &[u32], south: &[u32]) {
    let count = codes.len();
    let (west, middle, east) = (&here[..count], &here[1..=count], &here[2..count + 2]);
    let (north, south) = (&north[..count], &south[..count]);
    for x in 0..count {
        let wanted = middle[x].wrapping_sub(1);
        let mut code = u32::from(NEXT_NONE);
        code = if west[x] == wanted { 3 } else { code };
        code = if south[x] == wanted { 2 } else { code };
        code = if east[x] == wanted { 1 } else { code };
        code = if north[x] == wanted { 0 } else { code };
        codes[x] = (if middle[x] == 0 { u32::from(NEXT_NONE) } else { code }) as u8;
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
pub(super) fn overflowing(grid: &Grid, distances: &[u32]) -> Option<Cell> {
    let reaches = |cell: Cell| {
        let codes = 0..grid.connectivity().neighbour_count() as u8;
        codes
            .filter_map(|code| Some((code, grid.neighbour(cell, code)?)))
            .any(|(code, to)| sum(grid, distances, to, code) != u64::MAX)
    };
    let open = (0..distances.len()).filter(|&index| distances[index] == UNREACHABLE);
    open.map(|index| grid.cell(index)).find(|&cell| grid.is_free(cell) && reaches(cell))
}
