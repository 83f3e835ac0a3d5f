//! Which cells see one another.

use crate::cell::Cell;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::{Connectivity, Corners, passes};

impl Grid {
    /// Whether the straight line between the centres of two cells runs through free cells alone. Where it passes
    /// exactly through a corner or an edge the rule for diagonal moves holds, [`Corners::BothFree`] where there are
    /// none.
    ///
    /// Decided in whole numbers, so it is the same from either end. From one cell to itself it asks whether that one is
    /// free; no cell beside the grid is.
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

/// Whether the line from a place to the centre of a cell runs through free cells alone. The place is in cells times
/// `fine`, an even number.
pub(crate) fn is_seen(grid: &Grid, from: [i64; 3], to: Cell, fine: i64) -> bool {
    let [x, y, z] = from.map(|part| part.div_euclid(fine) as i32);
    let mut at = Cell { x, y, z };
    if !(grid.is_free(at) && grid.is_free(to)) {
        return false;
    }
    let corners = match grid.connectivity() {
        Connectivity::Four | Connectivity::Six => Corners::BothFree,
        Connectivity::Eight(corners) | Connectivity::TwentySix(corners) => corners,
    };
    let target = [to.x, to.y, to.z].map(|at| i64::from(at) * fine + fine / 2);
    let way: [i64; 3] = std::array::from_fn(|k| target[k] - from[k]);
    // How much of the way along each axis there is to the next face, and how many faces.
    let mut ahead: [i64; 3] = std::array::from_fn(|k| {
        let within = from[k].rem_euclid(fine);
        if way[k] < 0 { within } else { fine - within }
    });
    let mut left = [to.x - at.x, to.y - at.y, to.z - at.z].map(i32::abs);
    while left != [0; 3] {
        let is_before = |a: usize, b: usize| {
            i128::from(ahead[a]) * i128::from(way[b].abs()) < i128::from(ahead[b]) * i128::from(way[a].abs())
        };
        let open = |k: &usize| left[*k] > 0;
        let Some(first) = (0..3).filter(open).reduce(|a, b| if is_before(b, a) { b } else { a }) else {
            return false;
        };
        let mut offset = [0; 3];
        for k in (0..3).filter(open) {
            if !is_before(first, k) {
                offset[k] = way[k].signum() as i32;
            }
        }
        for k in (0..3).filter(|&k| offset[k] != 0) {
            ahead[k] += fine;
            left[k] -= 1;
        }
        let beside = |[x, y, z]: [i32; 3]| Cell { x: at.x + x, y: at.y + y, z: at.z + z };
        if !(grid.is_free(beside(offset)) && passes(corners, offset, |offset| grid.is_free(beside(offset)))) {
            return false;
        }
        at = beside(offset);
    }
    true
}
