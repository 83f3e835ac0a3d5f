//! The distances along the edges of all tiles: what a tile tells its neighbours.

use crate::flow::raster::source::RasterWindow;
use crate::flow::raster::store::RASTER_UNREACHABLE;
use crate::flow::raster::tiling::{Tiling, ring};

/// The least distances known of the cells along the edges of tiles: found by the tile itself, or by a neighbour that sees the cell in
/// its halo.
#[derive(Debug)]
pub(crate) struct Borders {
    tiling: Tiling,
    /// One list a tile, in the order of [`ring`]; empty where no cell is reached.
    rings: Vec<Vec<u64>>,
}

impl Borders {
    pub(crate) fn new(tiling: Tiling) -> Self {
        Self { tiling, rings: vec![Vec::new(); tiling.tile_count()] }
    }

    /// The distance of a cell along the edge of its tile.
    pub(crate) fn at(&self, cell: [u32; 2]) -> u64 {
        let tile = self.tiling.tile_of(cell);
        let place = place(self.tiling.cells(tile), cell);
        self.rings[tile].get(place).map_or(RASTER_UNREACHABLE, |&distance| distance)
    }

    /// Lowers the distance of a cell along the edge of its tile; returns whether it was larger.
    pub(crate) fn lower(&mut self, cell: [u32; 2], distance: u64) -> bool {
        let tile = self.tiling.tile_of(cell);
        let cells = self.tiling.cells(tile);
        let known = &mut self.rings[tile];
        if known.is_empty() {
            known.resize(ring(cells).count(), RASTER_UNREACHABLE);
        }
        match known.get_mut(place(cells, cell)) {
            Some(known) if distance < *known => {
                *known = distance;
                true
            }
            _ => false,
        }
    }
}

/// The place of a cell of a window's edge in the order of [`ring`].
fn place(window: RasterWindow, [x, y]: [u32; 2]) -> usize {
    let [x, y, width, height] =
        [x - window.x, y - window.y, window.width, window.height].map(|at| at as usize);
    if y == 0 {
        x
    } else if y == height - 1 {
        width + x
    } else if x == 0 {
        2 * width + y - 1
    } else {
        2 * width + height - 2 + y - 1
    }
}

/// The bytes of the distances along the edges of all tiles, and of what is kept of a tile beside them.
pub(crate) fn border_bytes(tiling: Tiling) -> u64 {
    let tile_count = tiling.counts().into_iter().map(u64::from).fold(1, u64::saturating_mul);
    tile_count.saturating_mul(4 * u64::from(tiling.edge) * 8 + 128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_a_ring_has_its_place() {
        for [width, height] in [[1, 1], [1, 2], [1, 7], [6, 1], [2, 2], [2, 5], [5, 2], [4, 7]] {
            let window = RasterWindow { x: 3, y: 4, width, height };
            let places: Vec<usize> = ring(window).map(|cell| place(window, cell)).collect();
            assert_eq!(places, (0..places.len()).collect::<Vec<_>>(), "{width} {height}");
        }
    }
}
