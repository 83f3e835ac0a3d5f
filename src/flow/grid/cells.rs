//! The grid: its obstacles, the cost of entering each cell, and its place in the world.

use crate::account::available_bytes;
use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};
use crate::flow::grid::clearance;
use crate::flow::grid::clearance::Border;
use crate::flow::grid::edit::Edit;
use crate::flow::grid::frame::GridFrame;
use crate::flow::grid::moves::{Connectivity, passes};

/// A grid of cells in two or three dimensions, in the host's memory. [`Flow::new`](crate::flow::Flow::new) puts it on
/// an engine.
///
/// Arrays of cells are row-major, `[height, width]` or `[depth, height, width]`: the cell `x, y, z` has the index `(z *
/// height + y) * width + x`.
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
    /// One bit per cell, set for obstacles. Each row starts a new word; bits past the end of a row are 0.
    blocked: Vec<u64>,
    /// Cost of entering each cell; empty if all are 1.
    costs: Vec<u32>,
    frame: GridFrame,
}

/// What [`Grid::new`] takes beside the size and the obstacles.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct GridOptions {
    /// The neighbours of a cell. By default [`Connectivity::Eight`], and no move cuts a corner. A grid of several
    /// layers needs [`Connectivity::Six`] or [`Connectivity::TwentySix`].
    pub connectivity: Connectivity,
    /// The cost of entering each cell, as a multiple of the step's length: row-major, 1 or more each. Empty: 1
    /// everywhere.
    pub costs: Vec<u32>,
    /// The place of the grid in the world. By default cells have edges of length 1, and the grid starts at the origin.
    pub frame: GridFrame,
    /// The radius of the agents in the units of the world, from 0 to 32,767 cells. A cell becomes an obstacle if its
    /// centre is nearer than this to the square (the cube) of an obstacle's cell: see [`Grid::clearances`]. Paths over
    /// such a grid keep this distance from walls at the centres of cells, and up to a quarter of a cell less between
    /// two centres, past a corner. An agent that is nearer to a wall follows the shortest way out of obstacles.
    pub clearance: f64,
    /// Whether agents keep `clearance` from the grid's border too.
    pub border: Border,
}

impl From<Connectivity> for GridOptions {
    /// Options with this connectivity and the defaults for everything else.
    fn from(connectivity: Connectivity) -> Self {
        Self { connectivity, ..Self::default() }
    }
}

/// The arrays of a grid that is made again and again: memory that is written over costs less than new memory.
#[derive(Debug, Default)]
pub(crate) struct GridArrays {
    /// The cost of entering each cell.
    pub(crate) costs: Vec<u32>,
    blocked: Vec<u64>,
}

impl Grid {
    /// A grid of `size` columns, rows and layers. `obstacles` has one entry per cell, row-major, `true` for an
    /// obstacle; if it is empty all cells are free. With a two-dimensional [`Connectivity`] the grid must have one
    /// layer.
    ///
    /// Takes one pass over the cells. With a [`clearance`](GridOptions::clearance) it also takes a distance transform,
    /// linear in the number of cells up to a logarithm, on all cores.
    ///
    /// # Errors
    /// [`Error::Value`] for a size with a 0, for several layers in two dimensions, for a cost of 0, and for a frame or
    /// a clearance outside its range; [`Error::TooMany`] for more than 2³² − 2 cells or more than 2³¹ − 1 along an
    /// axis; [`Error::MemoryLimit`] where the obstacles do not fit into memory; [`Error::Count`] if `obstacles` or the costs are not empty and do not have one entry per cell.
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
        for (what, given) in [("obstacles", obstacles.len()), ("costs", costs.len())] {
            check_count(size, what, given)?;
        }
        let blocked = open_rows(size)?;
        let mut grid = Self { size, connectivity, blocked, costs: Vec::new(), frame };
        grid.block(obstacles);
        if !costs.is_empty() {
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

    /// A grid of one layer over the costs of its cells, 0 for obstacles, in the arrays of [`GridArrays`] and nothing else.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::TooMany`] as [`Grid::new`].
    pub(crate) fn from_costs(
        [width, height]: [u32; 2],
        connectivity: Connectivity,
        arrays: &mut GridArrays,
    ) -> Result<Self> {
        let size = [width, height, 1];
        check_size(size, connectivity)?;
        let GridArrays { costs, blocked } = arrays;
        blocked.clear();
        let mut has_costs = false;
        for row in costs.chunks_mut(width as usize) {
            for cells in row.chunks_mut(64) {
                let mut word = 0;
                for (bit, cost) in cells.iter_mut().enumerate() {
                    word |= u64::from(*cost == 0) << bit;
                    has_costs |= *cost > 1;
                    *cost = (*cost).max(1);
                }
                blocked.push(word);
            }
        }
        let blocked = std::mem::take(blocked);
        let costs = if has_costs { std::mem::take(costs) } else { Vec::new() };
        Ok(Self { size, connectivity, blocked, costs, frame: GridFrame::default() })
    }

    /// Gives the arrays back that [`Self::from_costs`] took.
    pub(crate) fn return_arrays(self, arrays: &mut GridArrays) {
        arrays.blocked = self.blocked;
        if !self.costs.is_empty() {
            arrays.costs = self.costs;
        }
    }

    /// The distance from the centre of each cell to the nearest point of an obstacle's cell, row-major, in the units of
    /// the world: 0 for obstacles, half a cell for cells beside one. Infinite if there is no obstacle, and from 32,767
    /// cells on. Exact but for the rounding of a square root to f32.
    ///
    /// Takes a Euclidean distance transform on all cores (Meijster, Roerdink and Hesselink 2000).
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

    /// The squared clearances, in half cells.
    fn squared_clearances(&self, border: Border) -> Vec<u32> {
        let axis_count = self.connectivity.dimension() as usize;
        clearance::squared_distances(self.size, axis_count, |index| self.is_blocked(self.cell(index)), border)
    }

    /// Makes every cell an obstacle whose clearance is less than half of `diameter`, in cells.
    fn keep_clear(&mut self, diameter: f64, border: Border) {
        // A clearance that equals the radius is enough; the factor allows for the rounding of a cell size such as 0.05.
        let min_square = diameter * diameter * (1.0 - 1e-12);
        let squares = self.squared_clearances(border);
        let obstacles: Vec<bool> =
            squares.iter().map(|&square| square == 0 || f64::from(square) < min_square).collect();
        self.block(&obstacles);
    }

    /// Sets the obstacles.
    fn block(&mut self, obstacles: &[bool]) {
        let (width, row_words) = (self.width(), self.row_words());
        for (row, cells) in obstacles.chunks(width).enumerate() {
            for (word, cells) in self.blocked[row * row_words..].iter_mut().zip(cells.chunks(64)) {
                *word = cells.iter().rev().fold(0, |word, &is_obstacle| word << 1 | u64::from(is_obstacle));
            }
        }
    }

    /// The cell of the grid that contains a point of the world. A point on the face between two cells belongs to the
    /// higher one. `None` for a point outside the grid or not finite. In two dimensions the height of the point above
    /// or below the grid does not matter. [`GridFrame::cell_at`] also gives cells outside the grid.
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

    /// The centre of a cell, in the world. The cell may lie outside the grid.
    pub fn centre(&self, cell: Cell) -> [f64; 3] {
        self.frame.centre(cell)
    }

    /// Converts a point of the world to cell units; in two dimensions to the middle of the layer. `None` outside the
    /// grid.
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

    /// The number of columns, rows and layers.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// The number of cells.
    pub fn cell_count(&self) -> usize {
        self.size.iter().map(|&length| length as usize).product()
    }

    /// Whether each cell is an obstacle, row-major.
    pub fn obstacles(&self) -> Vec<bool> {
        (0..self.cell_count()).map(|index| self.is_blocked(self.cell(index))).collect()
    }

    /// The number of obstacles.
    pub fn obstacle_count(&self) -> usize {
        self.blocked.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The cost of entering each cell, row-major; empty if all costs are 1.
    pub fn costs(&self) -> &[u32] {
        &self.costs
    }

    /// The neighbours of a cell.
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }

    /// The place of the grid in the world.
    pub fn frame(&self) -> &GridFrame {
        &self.frame
    }

    /// Whether a cell is in the grid.
    pub fn contains(&self, cell: Cell) -> bool {
        let inside = |at: i32, length: u32| at >= 0 && (at as u32) < length;
        inside(cell.x, self.size[0]) && inside(cell.y, self.size[1]) && inside(cell.z, self.size[2])
    }

    /// The index of a cell in row-major arrays; `None` outside the grid.
    pub fn index(&self, cell: Cell) -> Option<usize> {
        let [width, height, _] = self.size.map(|length| length as usize);
        self.contains(cell).then(|| (cell.z as usize * height + cell.y as usize) * width + cell.x as usize)
    }

    /// The index of a cell in row-major arrays. `at` and `field` name the cell in the error.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid.
    pub(crate) fn require(&self, at: Location, field: &'static str, cell: Cell) -> Result<usize> {
        self.index(cell).ok_or_else(|| self.outside(at, field, cell))
    }

    /// The indices of many cells, one per query.
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell outside the grid.
    pub(crate) fn require_all(&self, cells: &[Cell]) -> Result<Vec<u32>> {
        let index = |(row, &cell)| Ok(self.require(Location::Query(row), "cell", cell)? as u32);
        cells.iter().enumerate().map(index).collect()
    }

    fn outside(&self, at: Location, field: &'static str, cell: Cell) -> Error {
        Error::value(at, field, cell, self.must_be_inside())
    }

    /// The range of a cell or point, as the second half of an error message.
    pub(crate) fn must_be_inside(&self) -> String {
        let [width, height, depth] = self.size;
        format!("it must be in the grid of {width} x {height} x {depth} cells")
    }

    /// The cell with this index in row-major arrays.
    pub fn cell(&self, index: usize) -> Cell {
        let [width, height, _] = self.size.map(|length| length as usize);
        let (row, x) = (index / width, index % width);
        Cell { x: x as i32, y: (row % height) as i32, z: (row / height) as i32 }
    }

    /// Whether a cell is an obstacle; `false` outside the grid.
    pub fn is_obstacle(&self, cell: Cell) -> bool {
        self.contains(cell) && self.is_blocked(cell)
    }

    /// Whether a cell is in the grid and not an obstacle.
    pub fn is_free(&self, cell: Cell) -> bool {
        self.contains(cell) && !self.is_blocked(cell)
    }

    /// The cost of entering a cell, as a multiple of the step's length; 1 outside the grid.
    pub fn cost(&self, cell: Cell) -> u32 {
        self.index(cell).and_then(|index| self.costs.get(index)).copied().unwrap_or(1)
    }

    /// The cell that a move leads to. `code` is the number of the move in the order of [`Connectivity`]. `None` if the
    /// target is outside the grid or an obstacle, or if the corner rule forbids the move. Whether `cell` itself is free
    /// does not matter.
    pub fn neighbour(&self, cell: Cell, code: u8) -> Option<Cell> {
        let &offset = self.connectivity.offsets().get(usize::from(code))?;
        let moved = |[x, y, z]: [i32; 3]| {
            Some(Cell { x: cell.x.checked_add(x)?, y: cell.y.checked_add(y)?, z: cell.z.checked_add(z)? })
        };
        let is_free = |offset| moved(offset).is_some_and(|cell| self.is_free(cell));
        let target = moved(offset)?;
        (self.is_free(target) && passes(self.connectivity.corners(), offset, is_free)).then_some(target)
    }

    /// Stores a cost for each cell, as an edit may, even if all costs are 1.
    #[cfg(feature = "serde")]
    pub(crate) fn hold_costs(&mut self) {
        if self.costs.is_empty() {
            self.costs = vec![1; self.cell_count()];
        }
    }

    /// Applies one edit; `row` is its number, for the error.
    pub(crate) fn apply(&mut self, row: usize, edit: Edit) -> Result<()> {
        let cell = edit.cell();
        let Some(index) = self.index(cell) else {
            return Err(self.outside(Location::Edit(row), "cell", cell));
        };
        let (word, bit) = self.word_and_bit(cell);
        match edit {
            Edit::Block(_) => self.blocked[word] |= bit,
            Edit::Free(_) => self.blocked[word] &= !bit,
            Edit::Cost(_, 0) => return Err(zero_cost(Location::Edit(row))),
            Edit::Cost(_, cost) => {
                if self.costs.is_empty() && cost != 1 {
                    self.costs = vec![1; self.cell_count()];
                }
                if let Some(old_cost) = self.costs.get_mut(index) {
                    *old_cost = cost;
                }
            }
        }
        Ok(())
    }

    /// Whether this is a grid of four neighbours in which all steps cost 1: then the field is a breadth-first wave.
    pub(crate) fn has_unit_steps(&self) -> bool {
        self.connectivity == Connectivity::Four && self.costs.is_empty()
    }

    /// One bit per cell, set for obstacles, in [`row_words`](Self::row_words) words per row; 0 past the end of a row.
    pub(crate) fn blocked_words(&self) -> &[u64] {
        &self.blocked
    }

    pub(crate) fn width(&self) -> usize {
        self.size[0] as usize
    }

    /// The number of words per row of [`Self::blocked_words`].
    pub(crate) fn row_words(&self) -> usize {
        self.width().div_ceil(64)
    }

    /// The word index and the bit of a cell in the grid.
    fn word_and_bit(&self, cell: Cell) -> (usize, u64) {
        let row = cell.z as usize * self.size[1] as usize + cell.y as usize;
        (row * self.row_words() + cell.x as usize / 64, 1 << (cell.x % 64))
    }

    fn is_blocked(&self, cell: Cell) -> bool {
        let (word, bit) = self.word_and_bit(cell);
        self.blocked[word] & bit != 0
    }
}

/// Checks the number of columns, rows and layers.
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

/// Checks that a list has an element for each cell, or none.
fn check_count(size: [u32; 3], what: &'static str, given: usize) -> Result<()> {
    let cell_count: u64 = size.iter().map(|&length| u64::from(length)).product();
    if given == 0 || given as u64 == cell_count {
        return Ok(());
    }
    let allowed = format!("the grid has {cell_count} cells");
    Err(Error::Count { at: Location::Argument, what, given: given as u64, allowed })
}

/// The words of a grid without obstacles. Each row has words of its own.
fn open_rows([width, height, depth]: [u32; 3]) -> Result<Vec<u64>> {
    let word_count = u64::from(width.div_ceil(64)) * u64::from(height) * u64::from(depth);
    let (needed_bytes, limit_bytes) = (8 * word_count, available_bytes());
    let is_refused = || Vec::<u64>::new().try_reserve_exact(word_count as usize).is_err();
    if needed_bytes > limit_bytes || is_refused() {
        return Err(Error::MemoryLimit { what: "the obstacles of the grid", needed_bytes, limit_bytes });
    }
    // The system hands out zeroed pages when they are first used.
    Ok(vec![0; word_count as usize])
}

fn zero_cost(at: Location) -> Error {
    Error::value(at, "cost", 0, "it must be 1 or more")
}
