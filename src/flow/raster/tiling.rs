//! How a raster is cut into tiles, and what a tile sees of its neighbours.

use crate::flow::raster::source::RasterWindow;

/// A raster cut into square tiles; those of the last column and row may be smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Tiling {
    /// Columns and rows of the raster.
    pub(crate) size: [u32; 2],
    /// Cells along the edge of a tile.
    pub(crate) edge: u32,
    /// Cells that a tile sees beyond each of its edges.
    pub(crate) halo: u32,
}

impl Tiling {
    /// Whether the numbers are those of a raster and its tiles, so that no sum of them overflows and a window's cells can be counted in 32 bits.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self) -> bool {
        let Self { size, edge, halo } = *self;
        size.iter().all(|length| (1..=i32::MAX as u32).contains(length))
            && (1..=1 << 15).contains(&edge)
            && (1..=edge).contains(&halo)
    }

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

    /// The cells of a tile and its halo: the cells around it, as far as the raster goes.
    pub(crate) fn window(&self, number: usize) -> RasterWindow {
        let cells = self.cells(number);
        let [x, y] = [cells.x, cells.y].map(|at| at.saturating_sub(self.halo));
        let end = |start: u32, length: u32, most: u32| (start + length).saturating_add(self.halo).min(most);
        let width = end(cells.x, cells.width, self.size[0]) - x;
        let height = end(cells.y, cells.height, self.size[1]) - y;
        RasterWindow { x, y, width, height }
    }

    /// The cells along the edges of other tiles that lie in a tile's halo.
    pub(crate) fn seen_edges(self, number: usize) -> impl Iterator<Item = [u32; 2]> {
        let window = self.window(number);
        let last = [window.x + window.width - 1, window.y + window.height - 1];
        let ([left, top], [right, bottom]) =
            ([window.x, window.y].map(|at| at / self.edge), last.map(|at| at / self.edge));
        let tiles = (top..=bottom).flat_map(move |y| (left..=right).map(move |x| self.number([x, y])));
        let others = tiles.filter(move |&tile| tile != number);
        others.flat_map(move |tile| ring(self.cells(tile))).filter(move |&cell| window.index(cell).is_some())
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

    fn all(window: RasterWindow) -> impl Iterator<Item = [u32; 2]> {
        (window.y..window.y + window.height)
            .flat_map(move |y| (window.x..window.x + window.width).map(move |x| [x, y]))
    }

    #[test]
    fn tiles_cover_a_raster_and_see_the_edges_around_them() {
        for size in [[1, 1], [1, 9], [7, 1], [2, 2], [8, 4], [9, 5], [13, 17]] {
            for (edge, halo) in [(1, 1), (1, 3), (2, 1), (4, 1), (4, 2), (5, 7), (64, 2)] {
                let tiling = Tiling { size, edge, halo };
                let mut seen = HashSet::new();
                let edges: HashSet<_> =
                    (0..tiling.tile_count()).flat_map(|number| ring(tiling.cells(number))).collect();
                for number in 0..tiling.tile_count() {
                    assert_eq!(tiling.number(tiling.tile(number)), number);
                    let (cells, window) = (tiling.cells(number), tiling.window(number));
                    for cell in all(cells) {
                        assert_eq!(tiling.tile_of(cell), number);
                        assert!(seen.insert(cell));
                    }
                    // The window has the cells as near as the halo is wide, and no others.
                    let away = |at: u32, start: u32, length: u32| {
                        start.saturating_sub(at).max(at.saturating_sub(start + length - 1))
                    };
                    let whole = RasterWindow { x: 0, y: 0, width: size[0], height: size[1] };
                    for [x, y] in all(whole) {
                        let far = away(x, cells.x, cells.width).max(away(y, cells.y, cells.height));
                        assert_eq!(window.index([x, y]).is_some(), far <= halo, "{size:?} {edge} {number}");
                    }
                    let found: Vec<_> = tiling.seen_edges(number).collect();
                    let expected: HashSet<_> = all(window)
                        .filter(|&cell| cells.index(cell).is_none() && edges.contains(&cell))
                        .collect();
                    assert_eq!(found.len(), expected.len());
                    assert_eq!(
                        found.into_iter().collect::<HashSet<_>>(),
                        expected,
                        "{size:?} {edge} {number}"
                    );
                    let ring: Vec<_> = ring(cells).collect();
                    assert_eq!(ring.len(), ring.iter().collect::<HashSet<_>>().len());
                }
                assert_eq!(seen.len() as u32, size[0] * size[1]);
            }
        }
    }
}
