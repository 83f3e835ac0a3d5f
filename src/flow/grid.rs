//! The grid: which cells are road, what entering them costs, and where it lies in the world.

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::edit::Edit;
use crate::flow::moves::{Connectivity, passes};

/// A grid of cells in two or three dimensions, on the host: [`Flow::new`](crate::flow::Flow::new) hands it to an engine.
///
/// Arrays of cells are row-major, `[height, width]` or `[depth, height, width]`: the cell `x, y, z` is at
/// `(z * height + y) * width + x`.
///
/// ```
/// use hullfield::flow::{Cell, Connectivity, Corners, Grid};
///
/// // Two rows of three; the middle of the upper row is an obstacle.
/// let grid = Grid::new([3, 2, 1], Connectivity::Eight(Corners::BothFree), &[false, true, false, false, false, false])?;
/// assert!(grid.is_obstacle(Cell::from([1, 0])));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    size: [u32; 3],
    connectivity: Connectivity,
    /// A bit a cell, set where it is an obstacle: each row begins with a new word, bits past its end are 0.
    blocked: Vec<u64>,
    /// Cost of entering each cell; empty where all are 1.
    costs: Vec<u32>,
    frame: GridFrame,
}

/// Where a grid lies in the world.
///
/// The point `origin` is the outer corner of the cell (0, 0, 0), from which the rows of `axes` lead along its columns, rows
/// and layers: unit vectors at right angles. Cells are cubes of `cell_size`, in the world's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridFrame {
    /// The outer corner of the cell (0, 0, 0).
    pub origin: [f64; 3],
    /// Edge of a cell.
    pub cell_size: f64,
    /// The world's directions of growing `x`, `y` and `z` of cells.
    pub axes: [[f64; 3]; 3],
}

impl Default for GridFrame {
    fn default() -> Self {
        Self { origin: [0.0; 3], cell_size: 1.0, axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] }
    }
}

impl GridFrame {
    /// The cell in which a point of the world lies, which may be beside the grid: a point on the face between two cells is
    /// in the higher one. `None` where a coordinate is not finite or past what a [`Cell`] holds.
    pub fn cell_at(&self, point: [f64; 3]) -> Option<Cell> {
        let place = self.place_of(point);
        let whole = |at: f64| {
            let floor = at.floor();
            (floor >= f64::from(i32::MIN) && floor <= f64::from(i32::MAX)).then_some(floor as i32)
        };
        Some(Cell { x: whole(place[0])?, y: whole(place[1])?, z: whole(place[2])? })
    }

    /// The world's point at the middle of a cell.
    pub fn centre_of(&self, cell: Cell) -> [f64; 3] {
        self.point_at([cell.x, cell.y, cell.z].map(|at| f64::from(at) + 0.5))
    }

    /// A point of the world in units of cells: the cell `x, y, z` spans from `x, y, z` to `x + 1, y + 1, z + 1`.
    pub fn place_of(&self, point: [f64; 3]) -> [f64; 3] {
        let from: [f64; 3] = std::array::from_fn(|axis| point[axis] - self.origin[axis]);
        self.axes.map(|axis| (axis[0] * from[0] + axis[1] * from[1] + axis[2] * from[2]) / self.cell_size)
    }

    /// The point of the world at a place in units of cells: what [`place_of`](Self::place_of) undoes.
    pub fn point_at(&self, place: [f64; 3]) -> [f64; 3] {
        let along = |axis: usize| (0..3).map(|row| self.axes[row][axis] * place[row]).sum::<f64>();
        std::array::from_fn(|axis| self.origin[axis] + self.cell_size * along(axis))
    }

    fn check(&self) -> Result<()> {
        let refuse = |field, value: String, expected| Err(Error::GridField { field, value, expected });
        if self.origin.iter().any(|part| !part.is_finite()) {
            return refuse("origin", format!("{:?}", self.origin), "it must be finite");
        }
        if !(self.cell_size > 0.0 && self.cell_size.is_finite()) {
            return refuse("cell_size", self.cell_size.to_string(), "it must be positive and finite");
        }
        for (row, axis) in self.axes.iter().enumerate() {
            for (other_row, other) in self.axes.iter().enumerate() {
                let dot: f64 = (0..3).map(|part| axis[part] * other[part]).sum();
                let wanted = if row == other_row { 1.0 } else { 0.0 };
                if !((dot - wanted).abs() <= 1e-6) {
                    let expected = "they must be unit vectors at right angles, within 1e-6";
                    return refuse("axes", format!("{:?}", self.axes), expected);
                }
            }
        }
        Ok(())
    }
}

impl Grid {
    /// A grid of `size` columns, rows and layers; `obstacles` says of each cell, row-major, whether it is one. A grid
    /// for a [`Connectivity`] of two dimensions has one layer.
    ///
    /// # Errors
    /// [`Error::GridField`] where the size has a 0, or layers in two dimensions; [`Error::TooMany`] past 2³² − 2 cells or
    /// 2³¹ − 1 along an axis; [`Error::CellCount`] where `obstacles` is of another length.
    pub fn new(size: [u32; 3], connectivity: Connectivity, obstacles: &[bool]) -> Result<Self> {
        let mut grid = Self::open(size, connectivity)?;
        let cell_count = grid.cell_count();
        if obstacles.len() != cell_count {
            return Err(Error::CellCount { what: "obstacles", given_count: obstacles.len(), cell_count });
        }
        let (width, row_words) = (grid.width(), grid.row_words());
        for (row, cells) in obstacles.chunks(width).enumerate() {
            for (word, cells) in grid.blocked[row * row_words..].iter_mut().zip(cells.chunks(64)) {
                *word = cells.iter().rev().fold(0, |word, &is_obstacle| word << 1 | u64::from(is_obstacle));
            }
        }
        Ok(grid)
    }

    /// A grid without obstacles.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn open(size: [u32; 3], connectivity: Connectivity) -> Result<Self> {
        let refuse = |expected| Err(Error::GridField { field: "size", value: format!("{size:?}"), expected });
        if size.contains(&0) {
            return refuse("it must be 1 or more along each axis");
        }
        if connectivity.dimension() == 2 && size[2] != 1 {
            return refuse("a grid of two dimensions has one layer");
        }
        for length in size {
            let limit = i32::MAX as u64;
            if u64::from(length) > limit {
                return Err(Error::TooMany { what: "cells along an axis", count: length.into(), limit });
            }
        }
        let count = size.iter().map(|&length| u128::from(length)).product::<u128>();
        let limit = u64::from(u32::MAX) - 1;
        if count > limit.into() {
            let count = count.try_into().unwrap_or(u64::MAX);
            return Err(Error::TooMany { what: "cells", count, limit });
        }
        let row_words = (size[0] as usize).div_ceil(64);
        let row_count = size[1] as usize * size[2] as usize;
        let blocked = vec![0; row_words * row_count];
        Ok(Self { size, connectivity, blocked, costs: Vec::new(), frame: GridFrame::default() })
    }

    /// The same grid, where entering a cell costs as many times a step as `costs` says, row-major, 1 or more each.
    ///
    /// # Errors
    /// [`Error::CellCount`] where `costs` is of another length, [`Error::CellField`] where one is 0.
    pub fn with_costs(mut self, costs: &[u32]) -> Result<Self> {
        let cell_count = self.cell_count();
        if costs.len() != cell_count {
            return Err(Error::CellCount { what: "costs", given_count: costs.len(), cell_count });
        }
        if let Some(index) = costs.iter().position(|&cost| cost == 0) {
            return Err(zero_cost(self.cell(index)));
        }
        self.costs = if costs.iter().all(|&cost| cost == 1) { Vec::new() } else { costs.to_vec() };
        Ok(self)
    }

    /// The same grid elsewhere in the world.
    ///
    /// # Errors
    /// [`Error::GridField`] where a number is not finite, the cell size not positive, or the axes are no unit vectors at
    /// right angles.
    pub fn with_frame(mut self, frame: GridFrame) -> Result<Self> {
        frame.check()?;
        self.frame = frame;
        Ok(self)
    }

    /// Columns, rows and layers.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.size.iter().map(|&length| length as usize).product()
    }

    /// How many cells are obstacles.
    pub fn obstacle_count(&self) -> usize {
        self.blocked.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// What entering each cell costs, row-major; empty where all costs are 1.
    pub fn costs(&self) -> &[u32] {
        &self.costs
    }

    /// Its moves.
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }

    /// Where it lies in the world.
    pub fn frame(&self) -> &GridFrame {
        &self.frame
    }

    /// Whether a cell is in the grid.
    pub fn contains(&self, cell: Cell) -> bool {
        let inside = |at: i32, length: u32| at >= 0 && (at as u32) < length;
        inside(cell.x, self.size[0]) && inside(cell.y, self.size[1]) && inside(cell.z, self.size[2])
    }

    /// A cell's index in row-major arrays; `None` beside the grid.
    pub fn index(&self, cell: Cell) -> Option<usize> {
        let [width, height, _] = self.size.map(|length| length as usize);
        self.contains(cell).then(|| (cell.z as usize * height + cell.y as usize) * width + cell.x as usize)
    }

    /// The cell at an index of row-major arrays.
    pub fn cell(&self, index: usize) -> Cell {
        let [width, height, _] = self.size.map(|length| length as usize);
        let (row, x) = (index / width, index % width);
        Cell { x: x as i32, y: (row % height) as i32, z: (row / height) as i32 }
    }

    /// Whether a cell is an obstacle; no cell beside the grid is.
    pub fn is_obstacle(&self, cell: Cell) -> bool {
        self.contains(cell) && self.bit(cell)
    }

    /// Whether a cell is in the grid and no obstacle.
    pub fn is_free(&self, cell: Cell) -> bool {
        self.contains(cell) && !self.bit(cell)
    }

    /// What entering a cell costs, times a step; 1 beside the grid.
    pub fn cost(&self, cell: Cell) -> u32 {
        self.index(cell).and_then(|index| self.costs.get(index)).copied().unwrap_or(1)
    }

    /// Where the move with that code leads from a cell, be it free or not, or `None` where the grid ends, the target is
    /// an obstacle or the corner rule forbids it.
    pub fn neighbour(&self, cell: Cell, code: u8) -> Option<Cell> {
        let &offset = self.connectivity.offsets().get(usize::from(code))?;
        let beside = |[x, y, z]: [i32; 3]| {
            Some(Cell { x: cell.x.checked_add(x)?, y: cell.y.checked_add(y)?, z: cell.z.checked_add(z)? })
        };
        let is_free = |offset| beside(offset).is_some_and(|cell| self.is_free(cell));
        let to = beside(offset)?;
        (self.is_free(to) && passes(self.connectivity.corners(), offset, is_free)).then_some(to)
    }

    /// Makes one change.
    pub(crate) fn apply(&mut self, row: usize, edit: Edit) -> Result<()> {
        let cell = edit.cell();
        let Some(index) = self.index(cell) else {
            return Err(Error::EditOutside { row, cell, size: self.size });
        };
        let (word, bit) = self.word_of(cell);
        match edit {
            Edit::Block(_) => self.blocked[word] |= bit,
            Edit::Free(_) => self.blocked[word] &= !bit,
            Edit::Cost(_, 0) => return Err(zero_cost(cell)),
            Edit::Cost(_, cost) => {
                if self.costs.is_empty() && cost != 1 {
                    self.costs = vec![1; self.cell_count()];
                }
                if let Some(held) = self.costs.get_mut(index) {
                    *held = cost;
                }
            }
        }
        Ok(())
    }

    /// Whether all steps are 1, in two dimensions.
    pub(crate) fn has_unit_steps(&self) -> bool {
        self.connectivity == Connectivity::Four && self.costs.is_empty()
    }

    /// A bit a cell, set where it is an obstacle, in [`row_words`](Self::row_words) words a row; 0 past a row's end.
    pub(crate) fn blocked_words(&self) -> &[u64] {
        &self.blocked
    }

    pub(crate) fn width(&self) -> usize {
        self.size[0] as usize
    }

    /// Words of [`Self::blocked`] that a row takes.
    pub(crate) fn row_words(&self) -> usize {
        self.width().div_ceil(64)
    }

    /// The word and the bit of a cell that is in the grid.
    fn word_of(&self, cell: Cell) -> (usize, u64) {
        let row = cell.z as usize * self.size[1] as usize + cell.y as usize;
        (row * self.row_words() + cell.x as usize / 64, 1 << (cell.x % 64))
    }

    fn bit(&self, cell: Cell) -> bool {
        let (word, bit) = self.word_of(cell);
        self.blocked[word] & bit != 0
    }
}

fn zero_cost(cell: Cell) -> Error {
    Error::CellField { cell, field: "cost", value: "0".to_owned(), expected: "it must be 1 or more" }
}
