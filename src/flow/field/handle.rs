//! A grid on an engine, which solves fields over it.

use std::sync::Arc;

use crate::cell::Cell;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::flow::field::cpu;
use crate::flow::field::gpu;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::options::{FieldLimits, FieldOptions};
use crate::flow::field::solved::{Field, timed_batch, timed_field};
use crate::flow::field::stats::{Batch, CallTimer};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::edit::Edit;
use crate::flow::grid::goals::Goals;
use crate::gpu::context::Context;
use crate::observe::span;
use crate::pending::Pending;

/// A grid on an engine. Any number of fields can be solved over it.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
///
/// let obstacles = [false, true, false, false, false, false];
/// let grid = Grid::new([3, 2, 1], &obstacles, Connectivity::Four.into())?;
/// let flow = Flow::new(&Engine::auto()?, grid)?;
/// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
/// assert_eq!(field.distances()?.wait()?, [0, u32::MAX, 4, 1, 2, 3]);
/// // N is 0, E 1, S 2, W 3; the obstacle points to the first of its three free neighbours.
/// assert_eq!(field.next_codes()?.wait()?, [255, 1, 2, 0, 3, 3]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flow {
    engine: Engine,
    pub(crate) grid: Arc<Grid>,
    /// The grid on the device; `None` on the CPU engine, and for a grid that does not fit into one binding.
    device: Option<DeviceGrid>,
}

impl Flow {
    /// Puts a grid on an engine.
    ///
    /// A GPU engine solves a grid on its device if 66 rows of cells (in three dimensions, 10 layers) fit into one of
    /// its bindings, and all obstacles too, at one bit per cell. The smallest binding that WebGPU allows, 128 MiB,
    /// takes up to 508,000 columns, layers of up to 3.3 million cells, and 2³⁰ cells in all. Most devices allow more.
    /// Larger grids are solved on the CPU, whatever the engine; such a field is in the host's memory.
    ///
    /// # Errors
    /// Of the device: [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn new(engine: &Engine, grid: Grid) -> Result<Self> {
        let device = match engine.context() {
            Some(context) => DeviceGrid::new(context, &grid)?,
            None => None,
        };
        Ok(Self { engine: engine.clone(), grid: Arc::new(grid), device })
    }

    /// The engine that solves the fields.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The grid on the device; `None` if fields are solved on the CPU.
    pub(crate) fn device(&self) -> Option<&DeviceGrid> {
        self.device.as_ref()
    }

    /// The device that holds the grid; `None` if fields are solved on the CPU.
    pub(crate) fn device_context(&self) -> Option<&Context> {
        self.device.as_ref().map(DeviceGrid::context)
    }

    /// The grid with all edits so far.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Starts to solve the field of these goals. Their order does not matter, nor does a goal that is given twice.
    ///
    /// Goals on obstacles or outside the grid are left out and reported: see [`Field::goals`].
    ///
    /// A field takes 5 bytes of memory per cell, 4 for its distance and 1 for its code.
    ///
    /// # Errors
    /// [`Error::NoGoals`] if no goal is left; [`Error::Value`] for a cell of [`FieldOptions::until`] outside the grid;
    /// of the device [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`]. Waiting may give
    /// [`Error::DistanceOverflow`], if a cell can be reached but its distance is 2³² − 1 or more.
    pub fn solve(&self, goals: &[Cell], options: &FieldOptions) -> Result<Pending<Field>> {
        span!("hullfield.flow.solve");
        let limits = options.per_field(&self.grid, 1)?.pop().unwrap_or_default();
        self.solve_goals(Goals::new(&self.grid, goals)?, limits)
    }

    /// Solves the field of goals that have been checked.
    pub(crate) fn solve_goals(&self, goals: Goals, limits: FieldLimits) -> Result<Pending<Field>> {
        if let Some(device) = &self.device {
            return gpu::solve(device, &self.grid, goals, limits);
        }
        let (grid, timer) = (Arc::clone(&self.grid), CallTimer::host());
        Ok(Pending::spawn(move |awaited| Ok(timed_field(cpu::solve(&grid, goals, limits, awaited)?, &timer))))
    }

    /// Starts to solve many fields over the grid, one for each list of goals. On a GPU they share every dispatch, so
    /// many small fields take hardly longer than one. On the CPU each field has a thread of its own.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::auto()?, Grid::new([9, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let goals = [[Cell::from([0, 0])], [Cell::from([8, 0])]];
    /// let fields = flow.fields(&goals, &FieldOptions::default())?.wait()?;
    /// assert_eq!(fields.rows[1].distance_at([1, 0].into())?.wait()?, 7);
    /// assert_eq!(fields.stats.reached_count, 18);
    ///
    /// // Each field is solved only as far as its own start.
    /// let until_each = vec![vec![Cell::from([2, 0])], vec![Cell::from([7, 0])]];
    /// let fields = flow.fields(&goals, &FieldOptions { until_each, ..Default::default() })?.wait()?;
    /// assert_eq!(fields.rows[0].distance_at([2, 0].into())?.wait()?, 2);
    /// assert_eq!(fields.rows[1].stats().reached_count, 2);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve`](Self::solve), for the first field with an error, whose number is the location; [`Error::Count`] if
    /// [`FieldOptions::until_each`] does not have one list per list of goals.
    pub fn fields(
        &self,
        goals: &[impl AsRef<[Cell]>],
        options: &FieldOptions,
    ) -> Result<Pending<Batch<Field>>> {
        self.solve_all(&goals.iter().map(AsRef::as_ref).collect::<Vec<_>>(), options)
    }

    /// [`Self::fields`] without its generic parameter. A generic function is compiled in the caller's crate, where the
    /// bounds of this body exceed the default recursion limit.
    fn solve_all(&self, goals: &[&[Cell]], options: &FieldOptions) -> Result<Pending<Batch<Field>>> {
        span!("hullfield.flow.fields");
        let all_limits = options.per_field(&self.grid, goals.len())?;
        let request = |(row, (goals, limits)): (usize, (&&[Cell], FieldLimits))| {
            let goals = Goals::new(&self.grid, goals).map_err(|error| error.in_query(row))?;
            Ok((goals, limits))
        };
        let requests = goals.iter().zip(all_limits).enumerate().map(request).collect::<Result<Vec<_>>>()?;
        if let Some(device) = &self.device {
            return gpu::solve_batch(device, &self.grid, requests);
        }
        let (grid, timer) = (Arc::clone(&self.grid), CallTimer::host());
        Ok(Pending::spawn(move |awaited| {
            Ok(timed_batch(cpu::solve_batch(&grid, requests, awaited)?, &timer))
        }))
    }

    /// Changes the grid, one edit after the other. Fields solved before keep the old grid. If one edit is refused, none
    /// is made.
    ///
    /// Copies the grid, so one call with many edits is cheaper than many calls.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid and for a cost of 0, with the number of the edit as the location;
    /// of the device.
    pub fn edit(&mut self, edits: &[Edit]) -> Result<()> {
        let mut edited = Arc::clone(&self.grid);
        let grid = Arc::make_mut(&mut edited);
        for (row, &edit) in edits.iter().enumerate() {
            grid.apply(row, edit)?;
        }
        if let Some(device) = &mut self.device {
            *device = device.edited(&self.grid, &edited, edits)?;
        }
        self.grid = edited;
        Ok(())
    }
}
