//! Solves one tile in memory.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::wave_method::WaveMethod;
use crate::flow::field::cpu::{improve, relax};
use crate::flow::grid::cells::{Grid, GridArrays};
use crate::flow::raster::device::TileDevice;
use crate::flow::raster::friction::FrictionOptions;
use crate::flow::raster::heap;
use crate::flow::raster::source::RasterWindow;
use crate::flow::weighted::improve as weighted;
use crate::flow::weighted::rule::MoveCosts;

/// Bytes a cell while a tile is solved: costs (4), obstacles (a bit), distances (8), distances in 32 bits with their margins (4) or masks of
/// the heap (1) and the heap, tiles of the relaxation (less than 1), and half as much for what the raster and the store take to read and write.
pub(crate) const BYTES_A_CELL: u64 = 24;
/// The same where moves have weights of their own: costs again, in the windows of tiles (5), and distances in tiles (8) for those in 32 bits.
pub(crate) const WEIGHTED_BYTES_A_CELL: u64 = 34;
/// The same with friction in floats: 8 bytes for each number.
pub(crate) const FRICTION_BYTES_A_CELL: u64 = 48;

/// The arrays of the windows that a thread solves one after the other. New memory for each would cost as much as half of the solve:
/// the system clears each page of it when it is first written.
#[derive(Debug, Default)]
pub(crate) struct TileArrays {
    /// The costs are 0 for obstacles until the window is solved, and then 1 there.
    pub(crate) grid: GridArrays,
    /// Friction in place of costs, as it is read for tiles: 0 for barriers.
    pub(crate) friction: Vec<f64>,
    pub(crate) distances: Vec<u64>,
    /// Positions in the window of cells whose distances have been lowered.
    pub(crate) seeds: Vec<u32>,
    /// Distances in 32 bits.
    spare: Vec<u32>,
}

impl TileArrays {
    /// Lowers the distances of a window from the seeds until no move within the window lowers any; none beyond `max_distance`. On the device where
    /// there is one and moves are plain, but for what needs more than 32 bits.
    ///
    /// # Errors
    /// [`Error::Invalid`] at a cell whose distance does not fit in 64 bits; of the device.
    pub(crate) fn solve(
        &mut self,
        window: RasterWindow,
        moves: &MoveCosts,
        max_distance: u64,
        device: Option<&TileDevice>,
    ) -> Result<()> {
        let Self { grid: arrays, distances, seeds, spare, .. } = self;
        let connectivity = moves.connectivity;
        let grid = Grid::from_costs([window.width, window.height], connectivity, arrays)?;
        let costs = CostRange::new(&grid);
        let is_solved = if !moves.are_plain() {
            WaveMethod::of(&grid) == WaveMethod::Tiles
                && weighted::improve(moves, &grid, distances, seeds, max_distance)
        } else if let Some(device) = device {
            device.improve(&grid, costs, distances, seeds, max_distance, spare)?
        } else {
            relax::suits(&grid, costs)
                && improve::improve(&grid, costs, distances, seeds, max_distance, spare)
        };
        let solved =
            if is_solved { Ok(()) } else { heap::improve(&grid, moves, distances, seeds, max_distance) };
        grid.return_arrays(arrays);
        solved.map_err(|index| {
            let (x, y) = (index as u32 % window.width, index as u32 / window.width);
            let cell = Cell::from([(window.x + x) as i32, (window.y + y) as i32]);
            let message =
                "the distance of this cell, which can be reached, does not fit in 64 bits: lower the costs";
            Error::invalid(Location::Cell(cell), message)
        })
    }

    /// The same over friction, in a raster that has this many rows.
    pub(crate) fn solve_over_friction(
        &mut self,
        window: RasterWindow,
        moves: &MoveCosts,
        options: &FrictionOptions,
        row_count: u32,
        max_distance: u64,
    ) {
        let lengths = options.lengths(window.y..window.y + window.height, row_count);
        let size = [window.width as usize, window.height as usize];
        let ground = weighted::Ground { size, friction: &self.friction, moves, lengths: &lengths };
        weighted::improve_floats(&ground, &mut self.distances, &self.seeds, max_distance);
    }
}
