//! The grid: which cells are road, what entering them costs, and where it lies in the world.

use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};
use crate::flow::grid::clearance;
use crate::flow::grid::clearance::Border;
use crate::flow::grid::edit::Edit;
use crate::flow::grid::frame::GridFrame;
use crate::flow::grid::moves::{Connectivity, passes};

/// A grid of cells in two or three dimensions, on the host: [`Flow::new`](crate::flow::Flow::new) hands it to an engine.
///
/// Arrays of cells are row-major, `[height, width]` or `[depth, height, width]`: the cell `x, y, z` is at
/// `(z * height + y) * width + x`.
///
/// ```
/// use hullfield::flow::{Cell, Grid, GridOptions};
///
/// // Two rows of three; the middle of the upper row is an obstacle.
/// let obstacles = [false, true, false, false, false, false];
/// let grid = Grid::new([3, 2, 1], &obstacles, GridOptions::default())?;
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

/// What a [`Grid`] is made with, beside its size and its obstacles.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct GridOptions {
    /// Which neighbours a cell has. [`Connectivity::Eight`] without cutting corners by default; a grid of several layers needs
    /// [`Connectivity::Six`] or [`Connectivity::TwentySix`].
    pub connectivity: Connectivity,
    /// What entering each cell costs, as a multiple of the step's length: row-major, 1 or more each. Empty: 1 everywhere.
    pub costs: Vec<u32>,
    /// Where the grid lies in the world. Cells of size 1 from the origin on by default.
    pub frame: GridFrame,
    /// The radius of the agents, in the world's units, from 0 to 32,767 cells. Every cell whose centre is nearer to an obstacle's
    /// cell than that becomes an obstacle as well (see [`Grid::clearances`]). The fields of such a grid keep agents off the walls,
    /// by that much at the centres of cells; between two centres, past a corner, by up to a quarter of a cell less. An agent that
    /// is nearer follows the shortest way out of obstacles.
    pub clearance: f64,
    /// Whether `clearance` is kept from the grid's border too.
    pub border: Border,
}

impl From<Connectivity> for GridOptions {
    /// These neighbours, and everything else by default.
    fn from(connectivity: Connectivity) -> Self {
        Self { connectivity, ..Self::default() }
    }
}

impl Grid {
    /// A grid of `size` columns, rows and layers. `obstacles` says of each cell, row-major, whether it is one; empty: no cell is.
    /// A grid for a [`Connectivity`] of two dimensions has one layer.
    ///
    /// Costs a pass over the cells; with a [`clearance`](GridOptions::clearance) a distance transform more, on all cores.
    ///
    /// # Errors
    /// [`Error::Value`] for a size with a 0, for layers in two dimensions, for a cost of 0, and for a frame or a clearance that
    /// can't be used; [`Error::TooMany`] past 2³² − 2 cells or 2³¹ − 1 along an axis; [`Error::Count`] where `obstacles` or the
    /// costs are neither empty nor one a cell.
    ///
    /// ```
    /// use hullfield::flow::{Cell, Connectivity, Grid, GridOptions};
    ///
    /// // Agents of radius 1 in a corridor of five cells whose first is a wall.
    /// let row = [true, false, false, false, false];
    /// let options = GridOptions { connectivity: Connectivity::Four, clearance: 1.0, ..Default::default() };
    /// let grid = Grid::new([5, 1, 1], &row, options)?;
    /// assert!(grid.is_obstacle(Cell::from([1, 0])) && grid.is_free(Cell::from([2, 0])));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn new(size: [u32; 3], obstacles: &[bool], options: GridOptions) -> Result<Self> {
        let GridOptions { connectivity, costs, frame, clearance, border } = options;
        check_size(size, connectivity)?;
        frame.check()?;
        let row_words = (size[0] as usize).div_ceil(64);
        let row_count = size[1] as usize * size[2] as usize;
        let blocked = vec![0; row_words * row_count];
        let mut grid = Self { size, connectivity, blocked, costs: Vec::new(), frame };
        if !obstacles.is_empty() {
            grid.check_count("obstacles", obstacles.len())?;
            grid.block(obstacles);
        }
        if !costs.is_empty() {
            grid.check_count("costs", costs.len())?;
            if let Some(index) = costs.iter().position(|&cost| cost == 0) {
                return Err(zero_cost(Location::Cell(grid.cell(index))));
            }
            if costs.iter().any(|&cost| cost != 1) {
                grid.costs = costs;
            }
        }
        let diameter = 2.0 * clearance / frame.cell_size;
        if !(clearance >= 0.0 && diameter < 65534.0) {
            let allowed = "it must be from 0 to 32,767 cells";
            return Err(Error::value(Location::Argument, "clearance", shown(clearance), allowed));
        }
        if clearance > 0.0 {
            grid.keep_clear(diameter, border);
        }
        Ok(grid)
    }

    /// How far it is from the centre of each cell to the nearest point of an obstacle's cell, row-major, in the world's units: 0 on
    /// obstacles, half a cell beside one. Infinite where there is no obstacle, and from 32,767 cells on.
    ///
    /// ```
    /// use hullfield::flow::{Border, Connectivity, Grid};
    ///
    /// let grid = Grid::new([4, 1, 1], &[true, false, false, false], Connectivity::Four.into())?;
    /// assert_eq!(grid.clearances(Border::Open), [0.0, 0.5, 1.5, 2.5]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn clearances(&self, border: Border) -> Vec<f32> {
        let half = self.frame.cell_size * 0.5;
        let length = |&square: &u32| match square {
            clearance::FAR => f32::INFINITY,
            square => (f64::from(square).sqrt() * half) as f32,
        };
        self.squared_clearances(border).iter().map(length).collect()
    }

    /// The squares of the clearances, in half cells.
    fn squared_clearances(&self, border: Border) -> Vec<u32> {
        let axis_count = self.connectivity.dimension() as usize;
        clearance::squares(self.size, axis_count, |index| self.bit(self.cell(index)), border)
    }

    /// Makes every cell an obstacle that is nearer to one than half a diameter, in cells.
    fn keep_clear(&mut self, diameter: f64, border: Border) {
        // What is as far as the radius says, but for the rounding of a cell size such as 0.05, is far enough.
        let least = diameter * diameter * (1.0 - 1e-12);
        let squares = self.squared_clearances(border);
        let obstacles: Vec<bool> =
            squares.iter().map(|&square| square == 0 || f64::from(square) < least).collect();
        self.block(&obstacles);
    }

    /// Makes these cells the obstacles.
    fn block(&mut self, obstacles: &[bool]) {
        let (width, row_words) = (self.width(), self.row_words());
        for (row, cells) in obstacles.chunks(width).enumerate() {
            for (word, cells) in self.blocked[row * row_words..].iter_mut().zip(cells.chunks(64)) {
                *word = cells.iter().rev().fold(0, |word, &is_obstacle| word << 1 | u64::from(is_obstacle));
            }
        }
    }

    fn check_count(&self, what: &'static str, given: usize) -> Result<()> {
        let cell_count = self.cell_count();
        if given == cell_count {
            return Ok(());
        }
        let allowed = format!("the grid has {cell_count} cells");
        Err(Error::Count { at: Location::Argument, what, given: given as u64, allowed })
    }

    /// The cell in which a point of the world lies; a point on the face between two cells is in the higher one. `None` beside the
    /// grid and for a point that is not finite. In two dimensions it does not matter how far above or below the grid the point is.
    /// [`GridFrame::cell_at`] goes on past the border.
    ///
    /// ```
    /// use hullfield::flow::{Cell, Connectivity, Grid, GridFrame, GridOptions};
    ///
    /// let frame = GridFrame { origin: [-1.0, 0.0, 0.0], cell_size: 0.5, ..Default::default() };
    /// let grid = Grid::new([4, 2, 1], &[], GridOptions { frame, ..Default::default() })?;
    /// assert_eq!(grid.locate([0.1, 0.7, 3.0]), Some(Cell::from([2, 1])));
    /// assert_eq!(grid.locate([1.1, 0.7, 0.0]), None);
    /// assert_eq!(grid.centre(Cell::from([2, 1])), [0.25, 0.75, 0.25]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn locate(&self, point: [f64; 3]) -> Option<Cell> {
        let [x, y, z] = self.place_of(point)?.map(|part| part as i32);
        Some(Cell { x, y, z })
    }

    /// The world's point at the centre of a cell, which may be beside the grid.
    pub fn centre(&self, cell: Cell) -> [f64; 3] {
        self.frame.centre(cell)
    }

    /// A point of the world in units of cells, on the middle of the layer in two dimensions; `None` beside the grid.
    pub(crate) fn place_of(&self, point: [f64; 3]) -> Option<[f64; 3]> {
        if point.iter().any(|part| !part.is_finite()) {
            return None;
        }
        let mut place = self.frame.place_of(point);
        if self.connectivity.dimension() == 2 {
            place[2] = 0.5;
        }
        (0..3).all(|k| place[k] >= 0.0 && place[k] < f64::from(self.size[k])).then_some(place)
    }

    /// Columns, rows and layers.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.size.iter().map(|&length| length as usize).product()
    }

    /// Which cells are obstacles, row-major.
    pub fn obstacles(&self) -> Vec<bool> {
        (0..self.cell_count()).map(|index| self.bit(self.cell(index))).collect()
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

    /// A cell's index in row-major arrays.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell beside the grid.
    pub(crate) fn require(&self, at: Location, field: &'static str, cell: Cell) -> Result<usize> {
        self.index(cell).ok_or_else(|| self.outside(at, field, cell))
    }

    /// The indices of many cells, those of a query each.
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell beside the grid.
    pub(crate) fn require_all(&self, cells: &[Cell]) -> Result<Vec<u32>> {
        let one = |(row, &cell)| Ok(self.require(Location::Query(row), "cell", cell)? as u32);
        cells.iter().enumerate().map(one).collect()
    }

    fn outside(&self, at: Location, field: &'static str, cell: Cell) -> Error {
        Error::value(at, field, cell, self.must_be_inside())
    }

    /// What is allowed for a place in the grid, as a half sentence.
    pub(crate) fn must_be_inside(&self) -> String {
        let [width, height, depth] = self.size;
        format!("it must be in the grid of {width} x {height} x {depth} cells")
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

    /// Holds a cost for each cell, as after an edit, also where all are 1.
    #[cfg(feature = "serde")]
    pub(crate) fn hold_costs(&mut self) {
        if self.costs.is_empty() {
            self.costs = vec![1; self.cell_count()];
        }
    }

    /// Makes one change.
    pub(crate) fn apply(&mut self, row: usize, edit: Edit) -> Result<()> {
        let cell = edit.cell();
        let Some(index) = self.index(cell) else {
            return Err(self.outside(Location::Edit(row), "cell", cell));
        };
        let (word, bit) = self.word_of(cell);
        match edit {
            Edit::Block(_) => self.blocked[word] |= bit,
            Edit::Free(_) => self.blocked[word] &= !bit,
            Edit::Cost(_, 0) => return Err(zero_cost(Location::Edit(row))),
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

/// Whether a grid may have so many columns, rows and layers.
pub(crate) fn check_size(size: [u32; 3], connectivity: Connectivity) -> Result<()> {
    let refuse = |allowed: &str| Err(Error::value(Location::Argument, "size", format!("{size:?}"), allowed));
    if size.contains(&0) {
        return refuse("it must be 1 or more along each axis");
    }
    if connectivity.dimension() == 2 && size[2] != 1 {
        return refuse(
            "a grid of two dimensions has one layer; several need the connectivity Six or TwentySix",
        );
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
    Ok(())
}

fn zero_cost(at: Location) -> Error {
    Error::value(at, "cost", 0, "it must be 1 or more")
}
