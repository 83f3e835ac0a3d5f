//! What a map file holds: which cells are obstacles, and where they lie.

use std::path::Path;

use hullfield::flow::{Connectivity, Grid, GridFrame, GridOptions};

use crate::failure::{Failure, Result};

/// A map as it was read: row-major cells, the upper row first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
    /// Columns, rows and layers.
    pub(crate) size: [u32; 3],
    /// Whether the file says that it has layers, be it one: its arrays then have three axes.
    pub(crate) is_volume: bool,
    /// Which cells are obstacles.
    pub(crate) obstacles: Vec<bool>,
    /// Cells that the file calls neither free nor occupied, which are obstacles here.
    pub(crate) unknown_count: usize,
    /// Where it lies in the world.
    pub(crate) frame: GridFrame,
}

impl Map {
    /// A flat map in a world whose units are cells.
    pub(super) fn flat(width: usize, height: usize, obstacles: Vec<bool>) -> Self {
        let size = [width as u32, height as u32, 1];
        Self { size, is_volume: false, obstacles, unknown_count: 0, frame: GridFrame::default() }
    }

    /// The grid, with these costs; none, and all are 1.
    pub(crate) fn grid(&self, connectivity: Connectivity, costs: Vec<u32>) -> Result<Grid, hullfield::Error> {
        let options = GridOptions { connectivity, costs, frame: self.frame, ..GridOptions::default() };
        Grid::new(self.size, &self.obstacles, options)
    }

    /// The shape of its arrays: `[height, width]` or `[depth, height, width]`.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let [width, height, depth] = self.size.map(|length| length as usize);
        if self.is_volume { vec![depth, height, width] } else { vec![height, width] }
    }
}

/// A grid without cells is no grid, whatever it is read from.
pub(super) fn check_size(path: &Path, size: [usize; 3]) -> Result<()> {
    let [width, height, depth] = size;
    if size.contains(&0) {
        let layers = if depth == 1 { String::new() } else { format!(" x {depth}") };
        return Err(Failure::file(path, format!("the map is {width} x {height}{layers}, it has no cells")));
    }
    if let Some(length) = size.iter().find(|&&length| length > i32::MAX as usize) {
        return Err(Failure::file(
            path,
            format!("the map is {length} cells long, {} are the most", i32::MAX),
        ));
    }
    Ok(())
}
