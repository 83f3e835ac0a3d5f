//! Cost distances that were solved: arrays, report and paths.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::goals::GoalReport;
use crate::flow::grid::moves::Connectivity;
use crate::flow::weighted::codes;

/// The allocation of cells from which no target is reached, and of barriers.
pub const NO_TARGET: u32 = u32::MAX;

/// The cost distances of a raster. Arrays are row-major, `[height, width]`; those that were not asked for are empty.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CostDistance {
    /// Columns and rows.
    pub size: [u32; 2],
    /// The neighbours of a cell, whose order the codes in `next` follow.
    pub connectivity: Connectivity,
    /// The least cost of a path from each cell to a target, in the units of the map times those of friction, rounded to f32: 0 at targets, infinite
    /// for barriers, where no target is reached, and for what f32 can't hold (3.4e38).
    pub distances: Vec<f32>,
    /// The target that each cell's path leads to, by its number in the caller's list; [`NO_TARGET`] where there is none. Of several targets in one
    /// cell it is the first. Of several equally near the one to which the path by `next` leads.
    pub allocation: Vec<u32>,
    /// The code of each cell's next cell on its path, in the order of [`Connectivity`]; [`NEXT_NONE`](crate::flow::NEXT_NONE) at targets, barriers, and where no target is
    /// reached. Of several equally good it is the first in this order.
    pub next: Vec<u8>,
    /// What was solved, and how.
    pub report: CostDistanceReport,
}

/// What was solved, and how.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CostDistanceReport {
    /// Which targets were used, and which were left out: on barriers, or outside the raster.
    pub targets: GoalReport,
    /// Cells from which a target is reached, targets included.
    pub reached_count: u64,
    /// The largest distance of a reached cell.
    pub farthest: f64,
    /// Barriers: cells whose friction is not a number, or infinite.
    pub not_finite_count: u64,
    /// Barriers: cells whose friction is 0 or negative.
    pub not_positive_count: u64,
    /// The largest relative error of any distance, but for the rounding to f32 (6e-8): that of adding up the steps of a path in f64. About 1e-16 for each step.
    pub error_bound: f64,
    /// Tiles of 16 × 16 cells that were solved, each as often as it was.
    pub visit_count: u64,
}

impl CostDistance {
    /// The cells of the path from a cell to its target, both included; the cell alone where no target is reached, and where it is one itself. Takes a step for each cell of the path.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the raster; [`Error::Invalid`] if [`next`](Self::next) was not asked for.
    pub fn path(&self, cell: Cell) -> Result<Vec<Cell>> {
        let [width, height] = self.size.map(|length| length as i32);
        if !((0..width).contains(&cell.x) && (0..height).contains(&cell.y) && cell.z == 0) {
            let allowed = format!("it must be in the raster of {width} x {height} cells");
            return Err(Error::value(Location::Argument, "cell", cell, allowed));
        }
        if self.next.is_empty() {
            return Err(Error::invalid(Location::Argument, "paths need the next cells: set the option next"));
        }
        let mut path = vec![cell];
        let mut cell = cell;
        loop {
            let code = self.next[cell.y as usize * width as usize + cell.x as usize];
            let Some(&[x, y, _]) = self.connectivity.offsets().get(usize::from(code)) else { break };
            cell = Cell::from([cell.x + x, cell.y + y]);
            path.push(cell);
        }
        Ok(path)
    }
}

/// The target that the next cells of each cell lead to, by its number in `targets`; [`NO_TARGET`] where they lead to none. Of several targets in one cell it is the
/// first.
///
/// `next` are codes of next cells in the order of [`Connectivity`], row-major, one for each of `size` columns × rows: those of a
/// [`Field`](crate::flow::Field), of [`RasterField::next_codes`](crate::flow::RasterField::next_codes), or of a [`CostDistance`], which can return its allocation by itself.
/// Takes time and memory that grow with the number of cells.
///
/// # Errors
/// [`Error::Count`] unless `next` has a code for each cell; [`Error::Value`] for a target outside the raster and for a connectivity of three dimensions;
/// [`Error::Invalid`] at a cell from which the next cells leave the raster, or form a cycle.
///
/// ```
/// use hullfield::flow::{Connectivity, NO_TARGET, allocation};
///
/// // East, east, a target; a barrier; a target, west.
/// let next = [1, 1, 255, 255, 255, 3];
/// let found = allocation([6, 1], Connectivity::Four, &next, &[[4, 0].into(), [2, 0].into()])?;
/// assert_eq!(found, [1, 1, 1, NO_TARGET, 0, 0]);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn allocation(
    size: [u32; 2],
    connectivity: Connectivity,
    next: &[u8],
    targets: &[Cell],
) -> Result<Vec<u32>> {
    let [width, height] = size;
    if connectivity.dimension() != 2 {
        let allowed = "a raster has two dimensions: 4 or 8 of them";
        return Err(Error::value(Location::Argument, "connectivity", connectivity, allowed));
    }
    let cell_count = u64::from(width) * u64::from(height);
    if next.len() as u64 != cell_count {
        let allowed = format!("the raster has {cell_count} cells");
        let given = next.len() as u64;
        return Err(Error::Count { at: Location::Argument, what: "next cells", given, allowed });
    }
    let inside = |at: i32, length: u32| u32::try_from(at).is_ok_and(|at| at < length);
    let mut known = Vec::with_capacity(targets.len());
    for (number, &target) in targets.iter().enumerate().rev() {
        if !(inside(target.x, width) && inside(target.y, height) && target.z == 0) {
            let allowed = format!("it must be in the raster of {width} x {height} cells");
            return Err(Error::value(Location::Argument, "target", target, allowed));
        }
        known.push((target.y as usize * width as usize + target.x as usize, number as u32));
    }
    let size = size.map(|length| length as usize);
    codes::sources(size, next, connectivity.offsets(), known.into_iter(), NO_TARGET).map_err(|cell| {
        let at = Location::Cell(Cell::from([(cell % size[0]) as i32, (cell / size[0]) as i32]));
        Error::invalid(at, "its next cells leave the raster, or form a cycle")
    })
}
