//! Where to go when the goal is cut off.

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
    /// The cell from which a goal is reached that is nearest to a given one, from centre to centre; the first of those
    /// that are as near, row-major. The cell itself, where it is reached.
    ///
    /// Over the field of an agent's own cell that is the place nearest to where it wants to go that it can get to: see
    /// [`Flow::path_to_nearest`].
    ///
    /// # Errors
    /// [`Error::Value`] for a cell beside the grid; of the device, where the field is there.
    pub fn nearest_reached(&self, cell: Cell) -> Result<Pending<Cell>> {
        self.grid().require(Location::Argument, "cell", cell)?;
        self.read(move |grid, next_cells, _| nearest(grid, next_cells, cell))
    }
}

impl Flow {
    /// The path of one agent to a goal or, where the goal is cut off, to the cell nearest to it that the agent can get to; of
    /// several that are as near, the first row-major. The path's last cell tells which it is.
    ///
    /// # Errors
    /// [`Error::NoGoals`] where `start` is an obstacle or beside the grid, [`Error::Value`] where `goal` is beside
    /// it; of the device. The answer itself may be [`Error::DistanceOverflow`].
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
                // Moves lead both ways, so the path is that of this field, turned round.
                return field.read(move |grid, next_cells, _| {
                    path(grid, next_cells, nearest(grid, next_cells, goal)?, true)
                });
            }
            // But costs are paid on entering: another path may be shorter the other way.
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

/// The cells from one to the goal.
fn path(grid: &Grid, next_cells: &NextCells<'_>, from: Cell, is_turned: bool) -> Result<Path> {
    let outside =
        || Error::internal("flow::agents::nearest::path", format!("cell {from} is beside the grid"));
    let mut at = grid.index(from).ok_or_else(outside)?;
    let length = next_cells.distances[at];
    let mut cells = vec![from];
    while next_cells.after(at) != at {
        at = next_cells.after(at);
        cells.push(grid.cell(at));
    }
    if is_turned {
        cells.reverse();
    }
    Ok(Path { cells, length })
}

/// By squares around the cell, each one larger than the one before, until none can hold a nearer one.
fn nearest(grid: &Grid, next_cells: &NextCells<'_>, cell: Cell) -> Result<Cell> {
    let size = grid.size().map(i64::from);
    let here = [cell.x, cell.y, cell.z].map(i64::from);
    let mut best: Option<(i64, usize)> = None;
    for ring in 0..*size.iter().max().unwrap_or(&0) {
        if best.is_some_and(|(square, _)| ring * ring > square) {
            break;
        }
        let span = |k: usize| (here[k] - ring).max(0)..=(here[k] + ring).min(size[k] - 1);
        for z in span(2) {
            for y in span(1) {
                // Only the shell: where neither is at its end, x is.
                let is_face = (z - here[2]).abs() == ring || (y - here[1]).abs() == ring;
                let ends = [here[0] - ring, here[0] + ring];
                let ends = ends.into_iter().filter(|x| !is_face && (0..size[0]).contains(x));
                for x in span(0).filter(|_| is_face).chain(ends) {
                    let index = ((z * size[1] + y) * size[0] + x) as usize;
                    if next_cells.distances[index] != UNREACHABLE {
                        let square = (x - here[0]).pow(2) + (y - here[1]).pow(2) + (z - here[2]).pow(2);
                        let found = (square, index);
                        best = Some(best.map_or(found, |best| best.min(found)));
                    }
                }
            }
        }
    }
    let none =
        || Error::internal("flow::agents::nearest::nearest", "a field reaches no cell, not even a goal");
    best.map(|(_, index)| grid.cell(index)).ok_or_else(none)
}
