//! A grid on an engine, and the questions it answers.

use std::sync::Arc;

use crate::cell::Cell;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::flow::field::cpu;
use crate::flow::field::gpu;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::options::{FieldOptions, Reach};
use crate::flow::field::solved::{Field, batch, single};
use crate::flow::field::stats::{Batch, Stopwatch};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::edit::Edit;
use crate::flow::grid::goals::Goals;
use crate::gpu::context::Context;
use crate::observe::span;
use crate::pending::Pending;

/// A grid handed to an engine: fields are solved over it, as many as wanted.
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
/// // N is 0, E 1, S 2, W 3; the obstacle points to the first of its three ways out.
/// assert_eq!(field.next_codes()?.wait()?, [255, 1, 2, 0, 3, 3]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flow {
    engine: Engine,
    pub(crate) grid: Arc<Grid>,
    /// The grid on the device; none on the CPU engine, and where the device has no room for it in one binding.
    device: Option<DeviceGrid>,
}

impl Flow {
    /// Hands a grid to an engine.
    ///
    /// A device takes grids of which 66 rows of cells (10 layers, in three dimensions), and the obstacles at a bit a cell, fit into one of
    /// its bindings: with the least that WebGPU promises, 128 MiB, up to 508,000 columns, layers of 3.3 million cells and 2³⁰ cells
    /// in all; most devices have more. The rest is solved by the CPU, on any engine, and is then in the host's memory.
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

    /// The engine that does the work.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The grid on the device; none on the CPU engine.
    pub(crate) fn device(&self) -> Option<&DeviceGrid> {
        self.device.as_ref()
    }

    /// The device that holds the grid; none on the CPU engine.
    pub(crate) fn device_context(&self) -> Option<&Context> {
        self.device.as_ref().map(DeviceGrid::context)
    }

    /// The grid as it is.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Starts to solve the field of these goals, in any order and as often as they are given.
    ///
    /// Goals on obstacles or beside the grid are left out and reported: see [`Field::goals`].
    ///
    /// # Errors
    /// [`Error::NoGoals`] where no goal is left, [`Error::Value`] for a cell of [`FieldOptions::until`] beside the
    /// grid; of the device [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`]. The answer itself may be
    /// [`Error::DistanceOverflow`], where a cell can be reached but its distance is 2³² − 1 or more.
    pub fn solve(&self, goals: &[Cell], options: &FieldOptions) -> Result<Pending<Field>> {
        span!("hullfield.flow.solve");
        let reach = options.each(&self.grid, 1)?.pop().unwrap_or_default();
        self.solve_goals(Goals::new(&self.grid, goals)?, reach)
    }

    /// The same, for goals that have been checked.
    pub(crate) fn solve_goals(&self, goals: Goals, reach: Reach) -> Result<Pending<Field>> {
        if let Some(device) = &self.device {
            return gpu::solve(device, &self.grid, goals, reach);
        }
        let (grid, watch) = (Arc::clone(&self.grid), Stopwatch::host());
        Ok(Pending::spawn(move |awaited| Ok(single(cpu::solve(&grid, goals, reach, awaited)?, &watch))))
    }

    /// Starts to solve many fields over the grid at once, one for each list of goals. On a GPU they share every dispatch, so
    /// that many small fields take hardly longer than one; on the CPU each is solved on a thread of its own.
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
    /// // Each field ends where the starts of its own are reached.
    /// let until_each = vec![vec![Cell::from([2, 0])], vec![Cell::from([7, 0])]];
    /// let fields = flow.fields(&goals, &FieldOptions { until_each, ..Default::default() })?.wait()?;
    /// assert_eq!(fields.rows[0].distance_at([2, 0].into())?.wait()?, 2);
    /// assert_eq!(fields.rows[1].stats().reached_count, 2);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve`](Self::solve), of the first field that has one, with its number as the location; [`Error::Count`] where there
    /// are other than as many lists of [`FieldOptions::until_each`] as of goals.
    pub fn fields(
        &self,
        goals: &[impl AsRef<[Cell]>],
        options: &FieldOptions,
    ) -> Result<Pending<Batch<Field>>> {
        self.solve_all(&goals.iter().map(AsRef::as_ref).collect::<Vec<_>>(), options)
    }

    /// [`Self::fields`] without its generic parameter. A caller's crate compiles what is generic, and the bounds of this body exceed the
    /// default recursion limit there.
    fn solve_all(&self, goals: &[&[Cell]], options: &FieldOptions) -> Result<Pending<Batch<Field>>> {
        span!("hullfield.flow.fields");
        let reaches = options.each(&self.grid, goals.len())?;
        let one = |(row, (goals, reach)): (usize, (&&[Cell], Reach))| {
            let goals = Goals::new(&self.grid, goals).map_err(|error| error.in_query(row))?;
            Ok((goals, reach))
        };
        let asked = goals.iter().zip(reaches).enumerate().map(one).collect::<Result<Vec<_>>>()?;
        if let Some(device) = &self.device {
            return gpu::solve_batch(device, &self.grid, asked);
        }
        let (grid, watch) = (Arc::clone(&self.grid), Stopwatch::host());
        Ok(Pending::spawn(move |awaited| Ok(batch(cpu::solve_batch(&grid, asked, awaited)?, &watch))))
    }

    /// Changes the grid, in the order given. Fields solved before stay as they are. Where one change is refused none is
    /// made.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell beside the grid and for a cost of 0, with the edit's number as the location.
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
