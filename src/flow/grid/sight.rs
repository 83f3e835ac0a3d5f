//! Lines of sight between cells.

use crate::cell::Cell;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::{Connectivity, Corners, passes};

impl Grid {
    /// Whether the straight line between the centres of two cells crosses free cells only. Where it passes exactly
    /// through a corner or an edge the corner rule of the grid decides; without diagonal moves that is
    /// [`Corners::BothFree`].
    ///
    /// Computed exactly in integers, so the result is the same in both directions. From a cell to itself the result is
    /// whether the cell is free. A cell outside the grid is not free. Takes time linear in the number of cells crossed.
    ///
    /// ```
    /// use hullfield::flow::{Cell, Connectivity, Grid};
    ///
    /// let grid = Grid::new([3, 2, 1], &[false, true, false, false, false, false], Connectivity::Four.into())?;
    /// assert!(!grid.sees(Cell::from([0, 0]), Cell::from([2, 0])));
    /// assert!(grid.sees(Cell::from([0, 1]), Cell::from([2, 1])));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn sees(&self, from: Cell, to: Cell) -> bool {
        is_seen(self, [from.x, from.y, from.z].map(|at| 2 * i64::from(at) + 1), to, 2)
    }
}

/// Whether the line from a point to the centre of a cell crosses free cells only. `from` is in cell units times
/// `parts`, an even number.
pub(crate) fn is_seen(grid: &Grid, from: [i64; 3], to: Cell, parts: i64) -> bool {
    let [x, y, z] = from.map(|part| part.div_euclid(parts) as i32);
    let mut cell = Cell { x, y, z };
    if !(grid.is_free(cell) && grid.is_free(to)) {
        return false;
    }
    let corners = match grid.connectivity() {
        Connectivity::Four | Connectivity::Six => Corners::BothFree,
        Connectivity::Eight(corners) | Connectivity::TwentySix(corners) => corners,
    };
    let target = [to.x, to.y, to.z].map(|at| i64::from(at) * parts + parts / 2);
    let delta: [i64; 3] = std::array::from_fn(|k| target[k] - from[k]);
    // For each axis: the distance to the next face of a cell, and how many faces lie before the target.
    let mut to_face: [i64; 3] = std::array::from_fn(|k| {
        let within = from[k].rem_euclid(parts);
        if delta[k] < 0 { within } else { parts - within }
    });
    let mut faces_left = [to.x - cell.x, to.y - cell.y, to.z - cell.z].map(i32::abs);
    while faces_left != [0; 3] {
        let is_before = |a: usize, b: usize| {
            i128::from(to_face[a]) * i128::from(delta[b].abs())
                < i128::from(to_face[b]) * i128::from(delta[a].abs())
        };
        let has_faces = |k: &usize| faces_left[*k] > 0;
        let Some(first) = (0..3).filter(has_faces).reduce(|a, b| if is_before(b, a) { b } else { a }) else {
            return false;
        };
        let mut offset = [0; 3];
        for k in (0..3).filter(has_faces) {
            if !is_before(first, k) {
                offset[k] = delta[k].signum() as i32;
            }
        }
        for k in (0..3).filter(|&k| offset[k] != 0) {
            to_face[k] += parts;
            faces_left[k] -= 1;
        }
        let neighbour = |[x, y, z]: [i32; 3]| Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z };
        if !(grid.is_free(neighbour(offset))
            && passes(corners, offset, |offset| grid.is_free(neighbour(offset))))
        {
            return false;
        }
        cell = neighbour(offset);
    }
    true
}
