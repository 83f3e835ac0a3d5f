//! A grid on an engine, and the questions it answers.

use std::sync::Arc;

use crate::cell::Cell;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::flow::cpu;
use crate::flow::edit::Edit;
use crate::flow::field::Field;
use crate::flow::goals::Goals;
use crate::flow::gpu;
use crate::flow::gpu::grid::DeviceGrid;
use crate::flow::grid::Grid;
use crate::flow::options::FieldOptions;
use crate::gpu::context::Context;
use crate::pending::Pending;

/// A grid handed to an engine: fields are solved over it, as many as wanted.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
///
/// let grid = Grid::new([3, 2, 1], Connectivity::Four, &[false, true, false, false, false, false])?;
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
    pub(super) grid: Arc<Grid>,
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
    pub(super) fn device(&self) -> Option<&DeviceGrid> {
        self.device.as_ref()
    }

    /// The device that holds the grid; none on the CPU engine.
    pub(super) fn device_context(&self) -> Option<&Context> {
        self.device.as_ref().map(DeviceGrid::context)
    }

    /// The grid as it is.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Starts to solve the field of these goals, in any order and as often as they are given.
    ///
    /// Goals on obstacles or beside the grid are left out and reported: see
    /// [`FieldSummary::goals`](crate::flow::FieldSummary::goals).
    ///
    /// # Errors
    /// [`Error::NoGoals`] where no goal is left, [`Error::CellOutside`] for a cell of [`FieldOptions::until`] beside the
    /// grid; of the device [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`]. The answer itself may be
    /// [`Error::DistanceOverflow`], where a cell can be reached but its distance is 2³² − 1 or more.
    pub fn solve(&self, goals: &[Cell], options: &FieldOptions) -> Result<Pending<Field>> {
        let goals = Goals::new(&self.grid, goals)?;
        self.check(options)?;
        if let Some(device) = &self.device {
            return gpu::solve(device, &self.grid, goals, options);
        }
        let (grid, options) = (Arc::clone(&self.grid), options.clone());
        Ok(Pending::spawn(move |awaited| cpu::solve(&grid, goals, &options, awaited)))
    }

    /// Starts to solve many fields over the grid at once, one for each list of goals. On a GPU they share every dispatch, so
    /// that many small fields take hardly longer than one; on the CPU each is solved on a thread of its own.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::auto()?, Grid::open([3, 1, 1], Connectivity::Four)?)?;
    /// let goals = [Cell::from([0, 0]), Cell::from([2, 0])];
    /// let fields = flow.solve_batch(&[&goals[..1], &goals[1..]], &FieldOptions::default())?.wait()?;
    /// assert_eq!(fields[0].distances()?.wait()?, [0, 1, 2]);
    /// assert_eq!(fields[1].distances()?.wait()?, [2, 1, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Self::solve), of the first field that has one.
    pub fn solve_batch(&self, goals: &[&[Cell]], options: &FieldOptions) -> Result<Pending<Vec<Field>>> {
        let goals = goals.iter().map(|goals| Goals::new(&self.grid, goals)).collect::<Result<Vec<_>>>()?;
        self.check(options)?;
        let asked = goals.into_iter().map(|goals| (goals, options.clone())).collect();
        self.solve_all(asked)
    }

    /// Does what [`solve_batch`](Self::solve_batch) does, where each field need only reach cells of its own: `until` has a list
    /// for each list of goals, which takes the place of [`FieldOptions::until`]. A field whose list is empty is whole. It is how
    /// many pairs of starts and goals are measured: a field for each goal, with its starts as `until`.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::auto()?, Grid::open([9, 1, 1], Connectivity::Four)?)?;
    /// let (goals, starts) = ([[Cell::from([0, 0])], [[8, 0].into()]], [[Cell::from([2, 0])], [[7, 0].into()]]);
    /// let [goals, starts] = [[&goals[0][..], &goals[1]], [&starts[0], &starts[1]]];
    /// let fields = flow.solve_batch_until(&goals, &starts, &FieldOptions::default())?.wait()?;
    /// assert_eq!(fields[0].distances_at(starts[0])?.wait()?, [2]);
    /// assert_eq!(fields[1].distances_at(starts[1])?.wait()?, [1]);
    /// // What is farther than the starts is not reached.
    /// assert_eq!(fields[1].summary().reached_count, 2);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Self::solve), of the first field that has one; [`Error::QueryField`] where there are not as many lists of
    /// `until` as of goals.
    pub fn solve_batch_until(
        &self,
        goals: &[&[Cell]],
        until: &[&[Cell]],
        options: &FieldOptions,
    ) -> Result<Pending<Vec<Field>>> {
        if goals.len() != until.len() {
            let value = format!("{} lists, there are {} of goals", until.len(), goals.len());
            return Err(Error::QueryField {
                field: "until",
                value,
                expected: "it must have a list for each field",
            });
        }
        let one = |(goals, until): (&&[Cell], &&[Cell])| {
            let options = FieldOptions { until: until.to_vec(), ..*options };
            self.check(&options)?;
            Ok((Goals::new(&self.grid, goals)?, options))
        };
        self.solve_all(goals.iter().zip(until).map(one).collect::<Result<_>>()?)
    }

    /// Starts to solve fields, each with options of its own; the largest distance is the same for all.
    fn solve_all(&self, asked: Vec<(Goals, FieldOptions)>) -> Result<Pending<Vec<Field>>> {
        if let Some(device) = &self.device {
            return gpu::solve_batch(device, &self.grid, asked);
        }
        let grid = Arc::clone(&self.grid);
        Ok(Pending::spawn(move |awaited| cpu::solve_batch(&grid, asked, awaited)))
    }

    fn check(&self, options: &FieldOptions) -> Result<()> {
        match options.until.iter().find(|&&cell| !self.grid.contains(cell)) {
            Some(&cell) => Err(Error::CellOutside { cell, size: self.grid.size() }),
            None => Ok(()),
        }
    }

    /// Changes the grid, in the order given. Fields solved before stay as they are. Where one change is refused none is
    /// made.
    ///
    /// # Errors
    /// [`Error::EditOutside`] for a cell beside the grid, [`Error::CellField`] for a cost of 0.
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
