//! The costs of the cells of a grid, cut into the windows of tiles.

use crate::flow::weighted::window::{EDGE, WINDOW, WindowCosts};
use crate::parallel;

/// The costs of a grid, one window for each tile; so the weights of a tile are found in one place in memory.
#[derive(Debug)]
pub(crate) struct TileCosts<C> {
    /// Columns and rows of the grid.
    pub(crate) size: [usize; 2],
    /// Columns and rows of tiles.
    pub(crate) tile_counts: [usize; 2],
    /// Row-major.
    pub(crate) windows: Vec<WindowCosts<C>>,
}

impl<C: Copy + Default + Send + Sync> TileCosts<C> {
    /// Cuts up the costs of a grid of `size` columns and rows. `read` writes the costs of a row, 0 for obstacles; it is called up to three times for a row.
    pub(crate) fn new(size: [usize; 2], read: impl Fn(usize, &mut [C]) + Sync + Send) -> Self {
        let tile_counts = size.map(|length| length.div_ceil(EDGE));
        let [across, down] = tile_counts;
        let mut windows = vec![[[C::default(); WINDOW]; WINDOW]; across * down];
        parallel::for_each_chunk(&mut windows, across, |(tile_y, windows)| {
            let mut line = vec![C::default(); across * EDGE + 2];
            for row in 0..WINDOW {
                let Some(y) = (tile_y * EDGE + row).checked_sub(1).filter(|&y| y < size[1]) else { continue };
                read(y, &mut line[1..=size[0]]);
                for (window, costs) in windows.iter_mut().zip(line.windows(WINDOW).step_by(EDGE)) {
                    window[row].copy_from_slice(costs);
                }
            }
        });
        Self { size, tile_counts, windows }
    }
}
