//! The contents of a map file: the obstacles, and the frame of the grid.

use std::path::Path;

use hullfield::flow::{Cell, Connectivity, Grid, GridFrame, GridOptions};

use crate::failure::{Failure, Result};
use crate::read::raster::Georeference;

/// A map: row-major cells, the top row first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
    /// Columns, rows and layers.
    pub(crate) size: [u32; 3],
    /// Whether the file has an axis for layers, even for a single one. Its arrays then have three axes.
    pub(crate) is_volume: bool,
    /// Which cells are obstacles.
    pub(crate) obstacles: Vec<bool>,
    /// Cells that are neither free nor occupied in the file. They are obstacles.
    pub(crate) unknown_count: usize,
    /// The frame of the grid in the world.
    pub(crate) frame: GridFrame,
}

impl Map {
    /// A flat map whose units are cells.
    pub(super) fn flat(width: usize, height: usize, obstacles: Vec<bool>) -> Self {
        let size = [width as u32, height as u32, 1];
        Self { size, is_volume: false, obstacles, unknown_count: 0, frame: GridFrame::default() }
    }

    /// The grid with these costs; an empty list makes all costs 1.
    pub(crate) fn grid(&self, connectivity: Connectivity, costs: Vec<u32>) -> Result<Grid, hullfield::Error> {
        let options = GridOptions { connectivity, costs, frame: self.frame, ..GridOptions::default() };
        Grid::new(self.size, &self.obstacles, options)
    }

    /// The georeference of a map; none where its units are cells.
    pub(crate) fn place(&self) -> Option<Georeference> {
        let GridFrame { origin: [x, y, _], cell_size, axes: [columns, rows, _] } = self.frame;
        (self.frame != GridFrame::default()).then(|| {
            let [along, down] = [columns, rows].map(|axis| axis.map(|part| part * cell_size));
            Georeference::with_corner([along[0], along[1]], [down[0], down[1]], [x, y])
        })
    }

    /// The coordinates of a cell, as many as the map's arrays have axes.
    pub(crate) fn coordinates(&self, cell: Cell) -> Vec<i32> {
        if self.is_volume { vec![cell.x, cell.y, cell.z] } else { vec![cell.x, cell.y] }
    }

    /// The shape of the map's arrays: `[height, width]` or `[depth, height, width]`.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let [width, height, depth] = self.size.map(|length| length as usize);
        if self.is_volume { vec![depth, height, width] } else { vec![height, width] }
    }
}

/// Refuses a map without cells, and one that is too long.
pub(crate) fn check_size(path: &Path, size: [usize; 3]) -> Result<()> {
    let [width, height, depth] = size;
    if size.contains(&0) {
        let layers = if depth == 1 { String::new() } else { format!(" x {depth}") };
        return Err(Failure::file(path, format!("the map is {width} x {height}{layers}, it has no cells")));
    }
    if let Some(length) = size.iter().find(|&&length| length > i32::MAX as usize) {
        return Err(Failure::file(
            path,
            format!("the map is {length} cells long, at most {} are allowed", i32::MAX),
        ));
    }
    Ok(())
}
