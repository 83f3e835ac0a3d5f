//! Next cells and paths of agents that follow a field from cell to cell.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::agents::gpu::paths::DeviceNextCells;
use crate::flow::agents::paths::{Path, Paths, path_offsets, reached_count};
use crate::flow::field::solved::{Field, UNREACHABLE};
use crate::flow::field::stats::{Batch, CallTimer};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::NEXT_NONE;
use crate::observe::span;
use crate::parallel::{for_each_share, map_shares};
use crate::pending::{Pending, WasmNotSend};

/// The number of agents that one thread takes at a time.
const SHARE: usize = 4096;

/// The next cells of a field in the host's memory.
#[derive(Debug)]
pub(crate) struct NextCells<'a> {
    pub(crate) distances: &'a [u32],
    next: &'a [u8],
    /// What each code adds to the index of a cell.
    strides: Vec<isize>,
}

impl<'a> NextCells<'a> {
    pub(crate) fn new(grid: &Grid, distances: &'a [u32], next: &'a [u8]) -> Self {
        let [width, height, _] = grid.size().map(|length| length as isize);
        let stride = |&[x, y, z]: &[i32; 3]| (z as isize * height + y as isize) * width + x as isize;
        Self { distances, next, strides: grid.connectivity().offsets().iter().map(stride).collect() }
    }

    /// The next cell of a cell; the cell itself if it has none.
    pub(crate) fn after(&self, index: usize) -> usize {
        match self.strides.get(usize::from(self.next[index])) {
            Some(&stride) => index.wrapping_add_signed(stride),
            None => index,
        }
    }

    /// Replaces each cell by its next cell; a cell outside the grid stays.
    fn step(&self, grid: &Grid, cells: &mut [Cell]) {
        let offsets = grid.connectivity().offsets();
        for cell in cells {
            let code = grid.index(*cell).map_or(NEXT_NONE, |index| self.next[index]);
            if let Some(&[x, y, z]) = offsets.get(usize::from(code)) {
                *cell = Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z };
            }
        }
    }

    /// The cell after so many steps, or at the end of the path.
    pub(crate) fn after_steps(&self, start: usize, step_count: u32) -> usize {
        let mut index = start;
        for _ in 0..step_count {
            let after = self.after(index);
            if after == index {
                break;
            }
            index = after;
        }
        index
    }

    /// The number of steps to the end of the path, and the distance of its first cell that is not an obstacle.
    fn measure(&self, start: usize) -> (usize, u32) {
        let (mut index, mut count, mut length) = (start, 0, UNREACHABLE);
        loop {
            if length == UNREACHABLE {
                length = self.distances[index];
            }
            let after = self.after(index);
            if after == index {
                return (count, length);
            }
            (index, count) = (after, count + 1);
        }
    }

    /// Writes the cells of a path.
    fn write(&self, start: usize, path: &mut [u32]) {
        let mut index = start;
        for cell in path {
            *cell = index as u32;
            index = self.after(index);
        }
    }
}

impl Field {
    /// The next cell of a cell on the way to a goal. At a goal, and where no goal is reached, it is the cell itself.
    /// For an obstacle it is the next cell on the shortest way out of obstacles.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid; of the device, if the field is stored there.
    pub fn next_cell(&self, cell: Cell) -> Result<Pending<Cell>> {
        self.grid().require(Location::Argument, "cell", cell)?;
        let first = |cells: Batch<Cell>| cells.rows.into_iter().next();
        single_row(self.next_cells(&[cell])?, "flow::agents::next_cells::next_cell", first)
    }

    /// The next cells of many cells, in the order given: see [`next_cell`](Self::next_cell).
    /// [`Agents`](crate::flow::Agents) stay on the device between steps.
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell outside the grid; of the device, if the field is stored there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let cells = field.next_cells(&[[3, 0].into(), [0, 0].into()])?.wait()?;
    /// assert_eq!(cells.rows, [Cell::from([2, 0]), Cell::from([0, 0])]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn next_cells(&self, cells: &[Cell]) -> Result<Pending<Batch<Cell>>> {
        let starts = self.grid().require_all(cells)?;
        if let Some(next_cells) = self.device_next_cells() {
            let shared = Arc::clone(self.data());
            let cell = move |at: u32| shared.grid.cell(at as usize);
            return next_cells.step(&starts, move |cells, timer| {
                Ok(Batch::new(cells.into_iter().map(cell).collect(), timer.stats(0)))
            });
        }
        let mut cells = cells.to_vec();
        self.read(move |grid, next_cells, timer| {
            for_each_share(cells.chunks_mut(SHARE).collect(), 1, |cells| next_cells.step(grid, cells));
            Ok(Batch::new(cells, timer.stats(0)))
        })
    }

    /// The whole path of one agent, from its cell to the goal that the field leads it to. An agent on an obstacle first
    /// leaves it by the shortest way.
    ///
    /// # Errors
    /// As [`paths`](Self::paths).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let path = field.path([2, 0].into())?.wait()?;
    /// assert_eq!((path.cells, path.length), ([[2, 0], [1, 0], [0, 0]].map(Cell::from).to_vec(), 2));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn path(&self, start: Cell) -> Result<Pending<Path>> {
        self.grid().require(Location::Argument, "start", start)?;
        let shared = Arc::clone(self.data());
        single_row(self.paths(&[start])?, "flow::agents::next_cells::path", move |paths| {
            let cells = paths.path(0).iter().map(|&cell| shared.grid.cell(cell as usize)).collect();
            Some(Path { cells, length: *paths.lengths.first()? })
        })
    }

    /// The whole path of each agent, in the order given: see [`path`](Self::path). Linear in the cells of all paths.
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell outside the grid; [`Error::MemoryLimit`] if the host has no memory for that
    /// many cells; of the device, if the field is stored there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let paths = field.paths(&[[3, 0].into(), [1, 0].into()])?.wait()?;
    /// assert_eq!(paths.lengths, [3, 1]);
    /// assert_eq!((paths.path(0), paths.path(1)), (&[3, 2, 1, 0][..], &[1, 0][..]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn paths(&self, starts: &[Cell]) -> Result<Pending<Paths>> {
        span!("hullfield.flow.paths");
        let starts = self.grid().require_all(starts)?;
        if let Some(next_cells) = self.device_next_cells() {
            return next_cells.paths(starts);
        }
        self.read(move |_, next_cells, timer| paths(next_cells, &starts, &timer))
    }

    /// The distance of a cell, in the units of [`Connectivity`](crate::flow::Connectivity); [`UNREACHABLE`] for an
    /// obstacle, and where no goal is reached. Of a field on the device only this value is read back.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid; of the device, if the field is stored there.
    pub fn distance_at(&self, cell: Cell) -> Result<Pending<u32>> {
        let index = self.grid().require(Location::Argument, "cell", cell)?;
        if let Some((distances, _)) = self.host() {
            return Ok(Pending::ready(distances[index]));
        }
        single_row(self.distances_at(&[cell])?, "flow::agents::next_cells::distance_at", |found| {
            found.rows.first().copied()
        })
    }

    /// The distances of many cells, in the order given: see [`distance_at`](Self::distance_at).
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell outside the grid; of the device, if the field is stored there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// assert_eq!(field.distances_at(&[[3, 0].into(), [0, 0].into()])?.wait()?.rows, [3, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn distances_at(&self, cells: &[Cell]) -> Result<Pending<Batch<u32>>> {
        span!("hullfield.flow.distances_at");
        let cells = self.grid().require_all(cells)?;
        if let Some(next_cells) = self.device_next_cells() {
            return next_cells.distances_at(&cells);
        }
        self.read(move |_, next_cells, timer| {
            let rows: Vec<u32> = cells.iter().map(|&cell| next_cells.distances[cell as usize]).collect();
            let stats = timer.stats(reached_count(&rows));
            Ok(Batch::new(rows, stats))
        })
    }

    /// The next cells of a field on the device; `None` if it is in the host's memory.
    pub(crate) fn device_next_cells(&self) -> Option<DeviceNextCells> {
        self.device().map(|device| DeviceNextCells::new(self, device))
    }

    /// Runs `work` on the next cells of the field, on the host. A field on the device is read back first.
    pub(crate) fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Grid, &NextCells<'_>, CallTimer) -> Result<R> + Send + 'static,
    ) -> Result<Pending<R>> {
        self.with_cells(move |grid, distances, next, timer| {
            work(grid, &NextCells::new(grid, distances, next), timer)
        })
    }
}

/// The only result of a call for many that was made with one.
pub(crate) fn single_row<B: WasmNotSend + 'static, R: WasmNotSend + 'static>(
    batch: Pending<B>,
    place: &'static str,
    first: impl FnOnce(B) -> Option<R> + WasmNotSend + 'static,
) -> Result<Pending<R>> {
    Ok(batch.chain(move |batch| {
        let missing = || Error::internal(place, "a call for one ended without a result");
        Ok(Pending::ready(first(batch).ok_or_else(missing)?))
    }))
}

fn paths(next_cells: &NextCells<'_>, starts: &[u32], timer: &CallTimer) -> Result<Paths> {
    // Each path is followed twice: first to count its cells, then to write them.
    let measures = map_shares(starts, 64, |&start| next_cells.measure(start as usize));
    let (offsets, mut cells) = path_offsets(measures.iter().map(|&(step_count, _)| step_count))?;
    let none = || Error::internal("flow::agents::next_cells::paths", "the list of offsets is empty");
    cells.resize(*offsets.last().ok_or_else(none)?, 0);
    let mut rest = cells.as_mut_slice();
    let mut parts = Vec::with_capacity(starts.len());
    for (&start, (step_count, _)) in starts.iter().zip(&measures) {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(step_count + 1);
        parts.push((start, part));
        rest = after;
    }
    for_each_share(parts, 64, |(start, path)| next_cells.write(start as usize, path));
    let lengths: Vec<u32> = measures.iter().map(|&(_, length)| length).collect();
    let stats = timer.stats(reached_count(&lengths));
    Ok(Paths { offsets, cells, lengths, stats })
}
