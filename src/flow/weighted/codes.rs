//! Next cells, and the source that they lead to, from final distances.

use crate::flow::grid::moves::NEXT_NONE;
use crate::flow::weighted::distance::Distance;
use crate::flow::weighted::tiles::Tiles;
use crate::flow::weighted::window::{EDGE, Window};
use crate::parallel;

/// The code of each cell's next cell, row-major: that of the first move, in the order of codes, that attains the least distance.
/// [`NEXT_NONE`] for cells of distance 0, cells beyond `max_distance`, cells that are not reached, and obstacles.
pub(crate) fn next<D: Distance>(
    [width, height]: [usize; 2],
    tiles: &Tiles<'_, D>,
    strides: &[isize; 8],
    max_distance: D,
) -> Vec<u8> {
    let across = tiles.tile_counts[0];
    let mut codes = vec![NEXT_NONE; width * height];
    let are_tied = parallel::map_chunks_mut(&mut codes, width * EDGE, |tile_y, codes| {
        let mut window = Window::new();
        let mut is_tied = false;
        for tile_x in 0..across {
            let index = tile_y * across + tile_x;
            tiles.load(index, &mut window);
            let first = tile_x * EDGE;
            for (row, codes) in codes.chunks_mut(width).enumerate() {
                let found = window.next(row, tiles.has_diagonals());
                let distances = &tiles.distances[index][row];
                for ((code, &found), &distance) in codes[first..].iter_mut().zip(&found).zip(distances) {
                    *code = if distance <= max_distance { found } else { NEXT_NONE };
                    is_tied |= *code == NEXT_NONE && is_on_the_way(distance, max_distance);
                }
            }
        }
        is_tied
    });
    if are_tied.contains(&true) {
        lead_over_ties([width, height], tiles, strides, max_distance, &mut codes);
    }
    codes
}

/// Whether a cell with this distance is reached and is not a source.
fn is_on_the_way<D: Distance>(distance: D, max_distance: D) -> bool {
    distance > D::default() && distance < D::FAR && distance <= max_distance
}

/// Gives codes to cells that are as far as their next cell: rounding has lost the step between them. The code leads to the
/// nearest cell that has one, counted in steps. Whole distances have no such cells.
fn lead_over_ties<D: Distance>(
    [width, height]: [usize; 2],
    tiles: &Tiles<'_, D>,
    strides: &[isize; 8],
    max_distance: D,
    codes: &mut [u8],
) {
    let across = tiles.tile_counts[0];
    // Cells without a code, by their index, each with one bit for each code that leads to an equal distance.
    let mut tied: Vec<(usize, u8)> = Vec::new();
    let mut window = Window::new();
    for (index, cells) in tiles.distances.iter().enumerate() {
        let (first_x, first_y) = (index % across * EDGE, index / across * EDGE);
        let is_tied = |x: usize, y: usize| {
            let is_inside = first_x + x < width && first_y + y < height;
            is_inside
                && is_on_the_way(cells[y][x], max_distance)
                && codes[(first_y + y) * width + first_x + x] == NEXT_NONE
        };
        let mut is_loaded = false;
        for y in 0..EDGE {
            if !(0..EDGE).any(|x| is_tied(x, y)) {
                continue;
            }
            if !is_loaded {
                tiles.load(index, &mut window);
                is_loaded = true;
            }
            let ties = window.ties(y, tiles.has_diagonals());
            let cells = (0..EDGE).filter(|&x| is_tied(x, y));
            tied.extend(cells.map(|x| ((first_y + y) * width + first_x + x, ties[x])));
        }
    }
    tied.sort_unstable();
    let ties_of = |cell: usize| tied.binary_search_by_key(&cell, |&(cell, _)| cell).ok().map(|at| tied[at].1);
    // The first code that leads to a cell with a code.
    let lead = |codes: &[u8], cell: usize, ties: u8| {
        let leads = |&code: &usize| {
            ties >> code & 1 == 1 && codes[cell.wrapping_add_signed(strides[code])] != NEXT_NONE
        };
        (0..8).find(leads).map(|code| (cell, code as u8))
    };
    let mut found: Vec<(usize, u8)> =
        tied.iter().filter_map(|&(cell, ties)| lead(codes, cell, ties)).collect();
    while !found.is_empty() {
        found.iter().for_each(|&(cell, code)| codes[cell] = code);
        let mut waiting = Vec::new();
        for &(cell, _) in &found {
            for &stride in strides {
                let before = cell.wrapping_add_signed(-stride);
                if codes.get(before) == Some(&NEXT_NONE)
                    && let Some(ties) = ties_of(before)
                {
                    waiting.push((before, ties));
                }
            }
        }
        waiting.sort_unstable();
        waiting.dedup();
        found = waiting.into_iter().filter_map(|(cell, ties)| lead(codes, cell, ties)).collect();
    }
}

/// The source of each cell, row-major: the one that its next cells lead to. `known` are those of the sources themselves; `none` is that of
/// cells without one.
///
/// # Errors
/// The first cell from which the codes lead out of the grid, or around in a circle.
pub(crate) fn sources(
    [width, height]: [usize; 2],
    next: &[u8],
    offsets: &[[i32; 3]],
    known: impl Iterator<Item = (usize, u32)>,
    none: u32,
) -> Result<Vec<u32>, usize> {
    let mut sources = vec![none; next.len()];
    known.for_each(|(cell, source)| sources[cell] = source);
    let mut trail = Vec::new();
    for start in 0..next.len() {
        let (mut cell, mut x, mut y) = (start, start % width, start / width);
        while sources[cell] == none
            && let Some(&[dx, dy, _]) = offsets.get(usize::from(next[cell]))
        {
            trail.push(cell);
            (x, y) = (x.wrapping_add_signed(dx as isize), y.wrapping_add_signed(dy as isize));
            if x >= width || y >= height || trail.len() > next.len() {
                return Err(start);
            }
            cell = y * width + x;
        }
        let source = sources[cell];
        trail.drain(..).for_each(|cell| sources[cell] = source);
    }
    Ok(sources)
}
