//! Agents that follow a field from cell to cell.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::field::{Field, UNREACHABLE};
use crate::flow::gpu::agents::DeviceWays;
use crate::flow::grid::Grid;
use crate::flow::moves::NEXT_NONE;
use crate::flow::paths::{Paths, path_offsets};
use crate::parallel::{for_each_share, map_shares};
use crate::pending::Pending;

/// Agents that one thread takes at a time.
const SHARE: usize = 4096;

/// The ways through a grid, as steps in row-major arrays.
#[derive(Debug)]
pub(super) struct Ways<'a> {
    pub(super) distances: &'a [u32],
    next: &'a [u8],
    /// What each code adds to an index.
    strides: Vec<isize>,
}

impl<'a> Ways<'a> {
    pub(super) fn new(grid: &Grid, distances: &'a [u32], next: &'a [u8]) -> Self {
        let [width, height, _] = grid.size().map(|length| length as isize);
        let stride = |&[x, y, z]: &[i32; 3]| (z as isize * height + y as isize) * width + x as isize;
        Self { distances, next, strides: grid.connectivity().offsets().iter().map(stride).collect() }
    }

    /// The next cell; the same where there is none.
    pub(super) fn after(&self, index: usize) -> usize {
        match self.strides.get(usize::from(self.next[index])) {
            Some(&stride) => index.wrapping_add_signed(stride),
            None => index,
        }
    }

    /// Moves each one cell on; a cell beside the grid stays.
    fn step(&self, grid: &Grid, cells: &mut [Cell]) {
        let offsets = grid.connectivity().offsets();
        for cell in cells {
            let code = grid.index(*cell).map_or(NEXT_NONE, |at| self.next[at]);
            if let Some(&[x, y, z]) = offsets.get(usize::from(code)) {
                *cell = Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z };
            }
        }
    }

    /// The cell so many steps on, or where they end before.
    pub(super) fn after_steps(&self, start: usize, step_count: u32) -> usize {
        let mut at = start;
        for _ in 0..step_count {
            let after = self.after(at);
            if after == at {
                break;
            }
            at = after;
        }
        at
    }

    /// Steps from there to the goal, and the distance of the first cell that is no obstacle.
    fn measure(&self, start: usize) -> (usize, u32) {
        let (mut at, mut count, mut length) = (start, 0, UNREACHABLE);
        loop {
            if length == UNREACHABLE {
                length = self.distances[at];
            }
            let after = self.after(at);
            if after == at {
                return (count, length);
            }
            (at, count) = (after, count + 1);
        }
    }

    fn write(&self, start: usize, path: &mut [u32]) {
        let mut at = start;
        for cell in path {
            *cell = at as u32;
            at = self.after(at);
        }
    }
}

impl Field {
    /// Moves each agent one cell on: to the next one of its cell, or nowhere at a goal and where none is reached. An
    /// agent on an obstacle goes towards the nearest way out.
    ///
    /// # Errors
    /// [`Error::CellOutside`] for the first cell beside the grid; of the device, where the field is there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::open([4, 1, 1], Connectivity::Four)?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let cells = field.step(&[[3, 0].into(), [0, 0].into()])?.wait()?;
    /// assert_eq!(cells, [Cell::from([2, 0]), Cell::from([0, 0])]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn step(&self, cells: &[Cell]) -> Result<Pending<Vec<Cell>>> {
        if let Some(ways) = self.device_ways() {
            let starts = indices(self.grid(), cells)?;
            let shared = Arc::clone(&self.shared);
            let cell = move |at: u32| shared.grid.cell(at as usize);
            return ways.step(&starts, move |cells| Ok(cells.into_iter().map(cell).collect()));
        }
        check(self.grid(), cells)?;
        let mut cells = cells.to_vec();
        self.ask(move |grid, ways| {
            for_each_share(cells.chunks_mut(SHARE).collect(), 1, |cells| ways.step(grid, cells));
            Ok(cells)
        })
    }

    /// The whole path of each agent, from its cell to the goal that the field leads it to. An agent on an obstacle
    /// first goes out of it.
    ///
    /// # Errors
    /// [`Error::CellOutside`] for the first cell beside the grid; [`Error::MemoryLimit`] where the host has no room for
    /// that many cells; of the device, where the field is there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::open([4, 1, 1], Connectivity::Four)?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let paths = field.paths(&[[3, 0].into(), [1, 0].into()])?.wait()?;
    /// assert_eq!(paths.lengths, [3, 1]);
    /// assert_eq!((paths.path(0), paths.path(1)), (&[3, 2, 1, 0][..], &[1, 0][..]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn paths(&self, starts: &[Cell]) -> Result<Pending<Paths>> {
        let starts = indices(self.grid(), starts)?;
        if let Some(ways) = self.device_ways() {
            return ways.paths(starts);
        }
        self.ask(move |_, ways| paths(ways, &starts))
    }

    /// The distance of each of these cells, in the units of [`Connectivity`](crate::flow::Connectivity);
    /// [`UNREACHABLE`] of obstacles and where no goal is reached. Of a field on the device only these come to the
    /// host.
    ///
    /// # Errors
    /// [`Error::CellOutside`] for the first cell beside the grid; of the device, where the field is there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::open([4, 1, 1], Connectivity::Four)?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// assert_eq!(field.distances_at(&[[3, 0].into(), [0, 0].into()])?.wait()?, [3, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn distances_at(&self, cells: &[Cell]) -> Result<Pending<Vec<u32>>> {
        let cells = indices(self.grid(), cells)?;
        if let Some(ways) = self.device_ways() {
            return ways.distances_at(&cells);
        }
        self.ask(move |_, ways| Ok(cells.iter().map(|&cell| ways.distances[cell as usize]).collect()))
    }

    /// The field's ways on the device, where it is there.
    pub(super) fn device_ways(&self) -> Option<DeviceWays> {
        self.device().map(|device| DeviceWays::new(self, device))
    }

    /// Asks about the field's ways, on the host. Where it is on the device it is read back.
    pub(super) fn ask<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Grid, &Ways<'_>) -> Result<R> + Send + 'static,
    ) -> Result<Pending<R>> {
        self.with_cells(move |grid, distances, next| work(grid, &Ways::new(grid, distances, next)))
    }
}

/// That all cells are in the grid.
fn check(grid: &Grid, cells: &[Cell]) -> Result<()> {
    match cells.iter().find(|&&cell| !grid.contains(cell)) {
        Some(&cell) => Err(Error::CellOutside { cell, size: grid.size() }),
        None => Ok(()),
    }
}

/// The cells as indices of row-major arrays.
pub(super) fn indices(grid: &Grid, cells: &[Cell]) -> Result<Vec<u32>> {
    let index = |&cell: &Cell| match grid.index(cell) {
        Some(index) => Ok(index as u32),
        None => Err(Error::CellOutside { cell, size: grid.size() }),
    };
    cells.iter().map(index).collect()
}

fn paths(ways: &Ways<'_>, starts: &[u32]) -> Result<Paths> {
    // Twice over the ways: the first time tells how much room each needs.
    let measures = map_shares(starts, 64, |&start| ways.measure(start as usize));
    let (offsets, mut cells) = path_offsets(measures.iter().map(|&(step_count, _)| step_count))?;
    let none = || Error::internal("flow::agents::paths", "the list of offsets is empty");
    cells.resize(*offsets.last().ok_or_else(none)?, 0);
    let mut rest = cells.as_mut_slice();
    let mut parts = Vec::with_capacity(starts.len());
    for (&start, (step_count, _)) in starts.iter().zip(&measures) {
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(step_count + 1);
        parts.push((start, part));
        rest = behind;
    }
    for_each_share(parts, 64, |(start, path)| ways.write(start as usize, path));
    Ok(Paths { offsets, cells, lengths: measures.iter().map(|&(_, length)| length).collect() })
}
