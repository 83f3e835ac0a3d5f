//! Next cells, and the source that they lead to, from final distances.

use crate::flow::grid::moves::NEXT_NONE;
use crate::flow::weighted::tiles::Tiles;
use crate::flow::weighted::window::{EDGE, Window};
use crate::parallel;

/// The code of each cell's next cell, row-major: that of the first move, in the order of codes, that attains the least distance.
/// [`NEXT_NONE`] for cells of distance 0, cells beyond `max_distance`, cells that are not reached, and obstacles.
pub(crate) fn next(tiles: &Tiles<'_>, max_distance: i64) -> Vec<u8> {
    let [width, height] = tiles.costs.size;
    let across = tiles.costs.tile_counts[0];
    let mut codes = vec![NEXT_NONE; width * height];
    parallel::for_each_chunk(&mut codes, width * EDGE, |(tile_y, codes)| {
        let mut window = Window::new();
        for tile_x in 0..across {
            let index = tile_y * across + tile_x;
            tiles.load(index, &mut window);
            let first = tile_x * EDGE;
            for (row, codes) in codes.chunks_mut(width).enumerate() {
                let found = window.next(row, tiles.has_diagonals());
                let distances = &tiles.distances[index][row];
                for ((code, &found), &distance) in codes[first..].iter_mut().zip(&found).zip(distances) {
                    *code = if distance <= max_distance { found } else { NEXT_NONE };
                }
            }
        }
    });
    codes
}

/// The source of each cell, row-major: the one that its next cells lead to. `known` are those of the sources themselves; `none` is that of
/// cells without one.
pub(crate) fn sources(
    next: &[u8],
    strides: &[isize; 8],
    known: impl Iterator<Item = (usize, u32)>,
    none: u32,
) -> Vec<u32> {
    let mut sources = vec![none; next.len()];
    known.for_each(|(cell, source)| sources[cell] = source);
    let mut trail = Vec::new();
    for start in 0..next.len() {
        let mut cell = start;
        while sources[cell] == none
            && let Some(&stride) = strides.get(usize::from(next[cell]))
        {
            trail.push(cell);
            cell = cell.wrapping_add_signed(stride);
        }
        let source = sources[cell];
        trail.drain(..).for_each(|cell| sources[cell] = source);
    }
    sources
}
