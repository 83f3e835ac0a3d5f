//! The nearest reached cell, for agents whose goal cannot be reached.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::agents::next_cells::NextCells;
use crate::flow::agents::paths::Path;
use crate::flow::field::handle::Flow;
use crate::flow::field::options::FieldOptions;
use crate::flow::field::solved::{Field, UNREACHABLE};
use crate::flow::grid::cells::Grid;
use crate::pending::Pending;

impl Field {
    /// The reached cell nearest to a given cell, by the Euclidean distance between centres: one from which a goal is
    /// reached. Of several as near it is the first, row-major. A reached cell is its own nearest.
    ///
    /// In a field whose goal is an agent's own cell, this is the place nearest to `cell` that the agent can get to: see
    /// [`Flow::path_to_nearest`].
    ///
    /// Searches growing shells around `cell`, so the cost grows with the distance of the result. A field on a device is
    /// read back whole.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid; of the device, if the field is stored there.
    pub fn nearest_reached(&self, cell: Cell) -> Result<Pending<Cell>> {
        self.grid().require(Location::Argument, "cell", cell)?;
        self.read(move |grid, next_cells, _| nearest(grid, next_cells, cell))
    }
}

impl Flow {
    /// The path of one agent from `start` to `goal`. If the goal cannot be reached, the path ends at the reachable cell
    /// nearest to it; of several as near at the first, row-major. The last cell of the path tells where it ends.
    ///
    /// Solves one field; if there are costs, two.
    ///
    /// # Errors
    /// [`Error::NoGoals`] if `start` is an obstacle or outside the grid; [`Error::Value`] if `goal` is outside the
    /// grid; of the device. Waiting may give [`Error::DistanceOverflow`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, Flow, Grid};
    ///
    /// let grid = Grid::new([5, 1, 1], &[false, false, false, true, false], Connectivity::Four.into())?;
    /// let flow = Flow::new(&Engine::cpu(), grid)?;
    /// let path = flow.path_to_nearest([0, 0].into(), [4, 0].into())?.wait()?;
    /// assert_eq!((path.cells, path.length), ([[0, 0], [1, 0], [2, 0]].map(Cell::from).to_vec(), 2));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn path_to_nearest(&self, start: Cell, goal: Cell) -> Result<Pending<Path>> {
        self.grid().require(Location::Argument, "goal", goal)?;
        let options = FieldOptions { until: vec![goal], ..FieldOptions::default() };
        let (flow, field) = (self.clone(), self.solve(&[start], &options)?);
        Ok(field.chain(move |field| {
            if flow.grid().costs().is_empty() {
                // Without costs a path back is as long as the path there, so this field's path is reversed.
                return field.read(move |grid, next_cells, _| {
                    path(grid, next_cells, nearest(grid, next_cells, goal)?, true)
                });
            }
            // Costs are paid on entering a cell, so the way there needs a field of its own.
            Ok(field.nearest_reached(goal)?.chain(move |last| {
                let options = FieldOptions { until: vec![start], ..FieldOptions::default() };
                let field = flow.solve(&[last], &options)?;
                Ok(field.chain(move |field| {
                    field.read(move |grid, next_cells, _| path(grid, next_cells, start, false))
                }))
            }))
        }))
    }
}

/// The cells from `from` to the goal of the field, or in reverse.
fn path(grid: &Grid, next_cells: &NextCells<'_>, from: Cell, is_reversed: bool) -> Result<Path> {
    let outside =
        || Error::internal("flow::agents::nearest::path", format!("cell {from} is outside the grid"));
    let mut index = grid.index(from).ok_or_else(outside)?;
    let length = next_cells.distances[index];
    let mut cells = vec![from];
    while next_cells.after(index) != index {
        index = next_cells.after(index);
        cells.push(grid.cell(index));
    }
    if is_reversed {
        cells.reverse();
    }
    Ok(Path { cells, length })
}

/// Searches shells around the cell, each one cell further out, until no further shell can hold a nearer cell.
fn nearest(grid: &Grid, next_cells: &NextCells<'_>, cell: Cell) -> Result<Cell> {
    let size = grid.size().map(i64::from);
    let centre = [cell.x, cell.y, cell.z].map(i64::from);
    let mut best: Option<(i64, usize)> = None;
    for radius in 0..*size.iter().max().unwrap_or(&0) {
        if best.is_some_and(|(square, _)| radius * radius > square) {
            break;
        }
        let span = |k: usize| (centre[k] - radius).max(0)..=(centre[k] + radius).min(size[k] - 1);
        for z in span(2) {
            for y in span(1) {
                // Only the shell: unless y or z is at its end, x must be.
                let is_face = (z - centre[2]).abs() == radius || (y - centre[1]).abs() == radius;
                let end_columns = [centre[0] - radius, centre[0] + radius];
                let end_columns = end_columns.into_iter().filter(|x| !is_face && (0..size[0]).contains(x));
                for x in span(0).filter(|_| is_face).chain(end_columns) {
                    let index = ((z * size[1] + y) * size[0] + x) as usize;
                    if next_cells.distances[index] != UNREACHABLE {
                        let square = (x - centre[0]).pow(2) + (y - centre[1]).pow(2) + (z - centre[2]).pow(2);
                        let candidate = (square, index);
                        best = Some(best.map_or(candidate, |best| best.min(candidate)));
                    }
                }
            }
        }
    }
    let none =
        || Error::internal("flow::agents::nearest::nearest", "a field reaches no cell, not even a goal");
    best.map(|(_, index)| grid.cell(index)).ok_or_else(none)
}
