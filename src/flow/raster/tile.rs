//! Solves one tile in memory.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::relax;
use crate::flow::grid::cells::{Grid, GridOptions};
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::heap;
use crate::flow::raster::source::RasterWindow;

/// Bytes a cell while a tile is solved: costs as read (4) and in the grid (4), obstacles (1 and a quarter), distances (8), distances in
/// 32 bits (4), masks of the heap (1) or tiles of the relaxation, and as much again as a store may take to write them (8).
pub(crate) const BYTES_A_CELL: u64 = 32;

/// The window of a tile: costs, and distances that the cells `seeds` have lowered.
#[derive(Debug)]
pub(crate) struct TileWindow {
    pub(crate) window: RasterWindow,
    /// 0 for obstacles.
    pub(crate) costs: Vec<u32>,
    pub(crate) distances: Vec<u64>,
    /// Positions in the window.
    pub(crate) seeds: Vec<u32>,
}

impl TileWindow {
    /// Lowers distances from the seeds until no move within the window lowers any; none beyond `max_distance`. Returns the distances.
    ///
    /// # Errors
    /// [`Error::Invalid`] at a cell whose distance does not fit in 64 bits.
    pub(crate) fn solve(self, connectivity: Connectivity, max_distance: u64) -> Result<Vec<u64>> {
        let Self { window, mut costs, mut distances, seeds } = self;
        let obstacles: Vec<bool> = costs.iter().map(|&cost| cost == 0).collect();
        costs.iter_mut().for_each(|cost| *cost = (*cost).max(1));
        let options = GridOptions { connectivity, costs, ..GridOptions::default() };
        let grid = Grid::new([window.width, window.height, 1], &obstacles, options)?;
        drop(obstacles);
        let costs = CostRange::new(&grid);
        if relax::suits(&grid, costs) && relax::improve(&grid, costs, &mut distances, &seeds, max_distance) {
            return Ok(distances);
        }
        heap::improve(&grid, &mut distances, &seeds, max_distance).map_err(|index| {
            let (x, y) = (index as u32 % window.width, index as u32 / window.width);
            let cell = Cell::from([(window.x + x) as i32, (window.y + y) as i32]);
            let message =
                "the distance of this cell, which can be reached, does not fit in 64 bits: lower the costs";
            Error::invalid(Location::Cell(cell), message)
        })?;
        Ok(distances)
    }
}
