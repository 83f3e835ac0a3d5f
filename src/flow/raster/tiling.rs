//! How a raster is cut into tiles, and what a tile sees of its neighbours.

use crate::flow::raster::source::RasterWindow;

/// A raster cut into square tiles; those of the last column and row may be smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tiling {
    /// Columns and rows of the raster.
    pub(crate) size: [u32; 2],
    /// Cells along the edge of a tile.
    pub(crate) edge: u32,
}

impl Tiling {
    /// Columns and rows of tiles.
    pub(crate) fn counts(&self) -> [u32; 2] {
        self.size.map(|length| length.div_ceil(self.edge))
    }

    pub(crate) fn tile_count(&self) -> usize {
        let [across, down] = self.counts();
        across as usize * down as usize
    }

    /// The column and the row of a tile, by its number.
    pub(crate) fn tile(&self, number: usize) -> [u32; 2] {
        let across = self.counts()[0] as usize;
        [(number % across) as u32, (number / across) as u32]
    }

    pub(crate) fn number(&self, [x, y]: [u32; 2]) -> usize {
        y as usize * self.counts()[0] as usize + x as usize
    }

    /// The number of the tile that holds a cell.
    pub(crate) fn tile_of(&self, cell: [u32; 2]) -> usize {
        self.number(cell.map(|at| at / self.edge))
    }

    /// The cells of a tile.
    pub(crate) fn cells(&self, number: usize) -> RasterWindow {
        let [x, y] = self.tile(number).map(|at| at * self.edge);
        let [width, height] = [self.size[0] - x, self.size[1] - y].map(|length| length.min(self.edge));
        RasterWindow { x, y, width, height }
    }

    /// The cells of a tile and its halo: the cells beside it, as far as the raster goes.
    pub(crate) fn window(&self, number: usize) -> RasterWindow {
        let cells = self.cells(number);
        let [x, y] = [cells.x, cells.y].map(|at| at.saturating_sub(1));
        let width = (cells.x + cells.width).saturating_add(1).min(self.size[0]) - x;
        let height = (cells.y + cells.height).saturating_add(1).min(self.size[1]) - y;
        RasterWindow { x, y, width, height }
    }

    /// The cells of a tile's halo.
    pub(crate) fn halo(&self, number: usize) -> impl Iterator<Item = [u32; 2]> {
        let (cells, window) = (self.cells(number), self.window(number));
        ring(window).filter(move |&cell| cells.index(cell).is_none())
    }
}

/// The cells along the edges of a window, each once.
pub(crate) fn ring(window: RasterWindow) -> impl Iterator<Item = [u32; 2]> {
    let RasterWindow { x, y, width, height } = window;
    let (right, bottom) = (x + width - 1, y + height - 1);
    let rows = [y, bottom].into_iter().take(if height > 1 { 2 } else { 1 });
    let columns = [x, right].into_iter().take(if width > 1 { 2 } else { 1 });
    let inner_rows = y + 1..bottom.max(y + 1);
    let along_rows = rows.flat_map(move |y| (x..=right).map(move |x| [x, y]));
    along_rows.chain(columns.flat_map(move |x| inner_rows.clone().map(move |y| [x, y])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tiles_cover_a_raster_and_halos_lie_around_them() {
        for size in [[1, 1], [1, 9], [7, 1], [2, 2], [8, 4], [9, 5], [13, 17]] {
            for edge in [1, 2, 4, 5, 64] {
                let tiling = Tiling { size, edge };
                let mut seen = HashSet::new();
                for number in 0..tiling.tile_count() {
                    assert_eq!(tiling.number(tiling.tile(number)), number);
                    let cells = tiling.cells(number);
                    let all = |window: RasterWindow| {
                        (window.y..window.y + window.height)
                            .flat_map(move |y| (window.x..window.x + window.width).map(move |x| [x, y]))
                    };
                    for cell in all(cells) {
                        assert_eq!(tiling.tile_of(cell), number);
                        assert!(seen.insert(cell));
                    }
                    let halo: Vec<_> = tiling.halo(number).collect();
                    let around: HashSet<_> =
                        all(tiling.window(number)).filter(|&cell| cells.index(cell).is_none()).collect();
                    assert_eq!(halo.len(), around.len());
                    assert_eq!(halo.into_iter().collect::<HashSet<_>>(), around, "{size:?} {edge} {number}");
                    let ring: Vec<_> = ring(cells).collect();
                    assert_eq!(ring.len(), ring.iter().collect::<HashSet<_>>().len());
                }
                assert_eq!(seen.len() as u32, size[0] * size[1]);
            }
        }
    }
}
