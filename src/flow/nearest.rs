//! Where to go when the goal is cut off.

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::agents::Ways;
use crate::flow::field::{Field, UNREACHABLE};
use crate::flow::grid::Grid;
use crate::flow::options::FieldOptions;
use crate::flow::solve::Flow;
use crate::pending::Pending;

impl Field {
    /// The cell from which a goal is reached that is nearest to a given one, from centre to centre; the first of those
    /// that are as near, row-major. The cell itself, where it is reached.
    ///
    /// Over the field of an agent's own cell that is the place nearest to where it wants to go that it can get to: see
    /// [`Flow::path_to_nearest`].
    ///
    /// # Errors
    /// [`Error::CellOutside`] for a cell beside the grid; of the device, where the field is there.
    pub fn nearest_reached(&self, cell: Cell) -> Result<Pending<Cell>> {
        if !self.grid().contains(cell) {
            return Err(Error::CellOutside { cell, size: self.grid().size() });
        }
        self.ask(move |grid, ways| nearest(grid, ways, cell))
    }
}

impl Flow {
    /// The path of one agent to a goal, or to the nearest place that it can get to where the goal is cut off: cells
    /// from `from` on. Where it is as far as another, the first row-major.
    ///
    /// # Errors
    /// [`Error::NoGoals`] where `from` is an obstacle or beside the grid, [`Error::CellOutside`] where `to` is beside
    /// it; of the device. The answer itself may be [`Error::DistanceOverflow`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, Flow, Grid};
    ///
    /// let grid = Grid::new([5, 1, 1], Connectivity::Four, &[false, false, false, true, false])?;
    /// let flow = Flow::new(&Engine::cpu(), grid)?;
    /// let path = flow.path_to_nearest([0, 0].into(), [4, 0].into())?.wait()?;
    /// assert_eq!(path, [[0, 0], [1, 0], [2, 0]].map(Cell::from));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn path_to_nearest(&self, from: Cell, to: Cell) -> Result<Pending<Vec<Cell>>> {
        let options = FieldOptions { until: vec![to], ..FieldOptions::default() };
        let (flow, field) = (self.clone(), self.solve(&[from], &options)?);
        Ok(field.chain(move |field| {
            if flow.grid().costs().is_empty() {
                // Moves lead both ways, so the path is that of this field, turned round.
                return field.ask(move |grid, ways| path(grid, ways, nearest(grid, ways, to)?, true));
            }
            // But costs are paid on entering: another path may be shorter the other way.
            Ok(field.nearest_reached(to)?.chain(move |last| {
                let options = FieldOptions { until: vec![from], ..FieldOptions::default() };
                let field = flow.solve(&[last], &options)?;
                Ok(field.chain(move |field| field.ask(move |grid, ways| path(grid, ways, from, false))))
            }))
        }))
    }
}

/// The cells from one to the goal.
fn path(grid: &Grid, ways: &Ways<'_>, from: Cell, is_turned: bool) -> Result<Vec<Cell>> {
    let outside = || Error::internal("flow::nearest::path", format!("cell {from} is beside the grid"));
    let mut at = grid.index(from).ok_or_else(outside)?;
    let mut path = vec![from];
    while ways.after(at) != at {
        at = ways.after(at);
        path.push(grid.cell(at));
    }
    if is_turned {
        path.reverse();
    }
    Ok(path)
}

/// By squares around the cell, each one larger than the one before, until none can hold a nearer one.
fn nearest(grid: &Grid, ways: &Ways<'_>, cell: Cell) -> Result<Cell> {
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
                    if ways.distances[index] != UNREACHABLE {
                        let square = (x - here[0]).pow(2) + (y - here[1]).pow(2) + (z - here[2]).pow(2);
                        let found = (square, index);
                        best = Some(best.map_or(found, |best| best.min(found)));
                    }
                }
            }
        }
    }
    let none = || Error::internal("flow::nearest::nearest", "a field reaches no cell, not even a goal");
    best.map(|(_, index)| grid.cell(index)).ok_or_else(none)
}
