//! A crowd of agents that the engine keeps: on a GPU their cells stay in a buffer on the device.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::agents::gpu::paths::DeviceNextCells;
use crate::flow::agents::next_cells::NextCells;
use crate::flow::field::gpu::device_field::{READ_LABEL, read_all};
use crate::flow::field::handle::Flow;
use crate::flow::field::solved::{Field, FieldCells};
use crate::flow::field::stats::CallTimer;
use crate::flow::grid::cells::Grid;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::pool::PooledBuffer;
use crate::parallel::map_shares;
use crate::pending::Pending;

/// The number of agents that one thread takes at a time.
const SHARE: usize = 4096;

/// A crowd of agents that stand in the cells of a grid and follow fields over it, each step a different field if need
/// be. It is uploaded once; on a GPU it then stays on the device, and no step waits for it.
///
/// On a GPU each agent is a u32, the row-major index of its cell (see [`Grid::cell`](crate::flow::Grid::cell)), in a
/// buffer that the caller's own kernels may read and write: see [`binding`](Self::binding). A number that is not a cell
/// of the grid stays as it is.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
///
/// let flow = Flow::new(&Engine::auto()?, Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
/// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
/// let mut agents = flow.agents(&[[3, 0].into(), [1, 0].into()])?;
/// agents.step(&field, 2)?;
/// assert_eq!(agents.cells()?.wait()?, [Cell::from([1, 0]), Cell::from([0, 0])]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct Agents {
    pub(super) grid: Arc<Grid>,
    pub(super) cells: Cells,
}

#[derive(Debug)]
pub(super) enum Cells {
    Host(Vec<u32>),
    Device {
        context: Context,
        cells: Buffer<u32>,
        /// In a browser: what the last encoder needs until it is submitted.
        kept: Vec<Arc<PooledBuffer>>,
    },
}

impl Flow {
    /// Puts agents on the engine that stand in these cells.
    ///
    /// # Errors
    /// [`Error::Value`] for the first cell outside the grid; of the device [`Error::MemoryLimit`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn agents(&self, cells: &[Cell]) -> Result<Agents> {
        let grid = Arc::clone(&self.grid);
        let starts = grid.require_all(cells)?;
        let Some(context) = self.device_context() else {
            return Ok(Agents { grid, cells: Cells::Host(starts) });
        };
        let mut frame = Frame::new(context, "hullfield.flow.agents")?;
        // A label of its own, so that the pool does not mix this long-lived buffer with those of single calls.
        let cells = Buffer::new(context, "hullfield.flow.crowd", starts.len())?;
        frame.upload(&cells, 0, &starts)?;
        frame.send()?;
        context.flush_for_caller();
        Ok(Agents { grid, cells: Cells::Device { context: context.clone(), cells, kept: Vec::new() } })
    }
}

impl Agents {
    /// The number of agents.
    pub fn count(&self) -> usize {
        match &self.cells {
            Cells::Host(cells) => cells.len(),
            Cells::Device { cells, .. } => cells.len(),
        }
    }

    /// Moves each agent `step_count` cells on, one cell a step as [`Field::next_cells`](crate::flow::Field::next_cells)
    /// does. An agent stops early at a goal, and stays where no goal is reached. On a GPU the work is submitted and not
    /// waited for.
    ///
    /// # Errors
    /// [`Error::Value`] for a field over a grid of another size or of another engine; of the device.
    pub fn step(&mut self, field: &Field, step_count: u32) -> Result<()> {
        let (cells, next_cells) = match (&mut self.cells, field.device_next_cells()) {
            (Cells::Host(cells), None) => {
                check_size(&self.grid, field)?;
                let FieldCells::Host { distances, next } = &field.data().cells else {
                    let message = "a field that is not on the device has its cells there";
                    return Err(Error::internal("flow::agents::crowd::step", message));
                };
                let next_cells = NextCells::new(field.grid(), distances, next);
                *cells = map_shares(cells, SHARE, |&cell| {
                    next_cells.after_steps(cell as usize, step_count) as u32
                });
                return Ok(());
            }
            (Cells::Device { cells, .. }, Some(next_cells)) => (cells.clone(), next_cells),
            _ => return Err(other_engine()),
        };
        self.check(field, &next_cells)?;
        let mut frame = Frame::new(next_cells.context(), "hullfield.flow.step")?;
        next_cells.encode_steps(&mut frame, &cells, step_count as usize)?;
        frame.send()?;
        next_cells.context().flush_for_caller();
        Ok(())
    }

    /// The cells of the agents after all steps so far.
    ///
    /// # Errors
    /// Of the device.
    pub fn cells(&self) -> Result<Pending<Vec<Cell>>> {
        let grid = Arc::clone(&self.grid);
        let to_cells = move |cells: Vec<u32>, _: CallTimer| {
            Ok(cells.into_iter().map(|cell| grid.cell(cell as usize)).collect())
        };
        match &self.cells {
            Cells::Host(cells) => Ok(Pending::ready(to_cells(cells.clone(), CallTimer::host())?)),
            Cells::Device { context, cells, .. } => {
                let frame = Frame::new(context, READ_LABEL)?;
                let read =
                    read_all(frame, vec![(cells.clone(), 0..cells.len())], CallTimer::device(), to_cells)?;
                context.flush_for_caller();
                Ok(read)
            }
        }
    }

    pub(super) fn check(&self, field: &Field, next_cells: &DeviceNextCells) -> Result<()> {
        match &self.cells {
            Cells::Device { context, .. } if context.is_same(next_cells.context()) => {
                check_size(&self.grid, field)
            }
            _ => Err(other_engine()),
        }
    }
}

fn check_size(grid: &Grid, field: &Field) -> Result<()> {
    if field.grid().size() == grid.size() {
        return Ok(());
    }
    let [width, height, depth] = field.grid().size();
    let value = format!("over a grid of {width} x {height} x {depth} cells");
    let [width, height, depth] = grid.size();
    let allowed = format!("the agents stand in a grid of {width} x {height} x {depth} cells");
    Err(Error::value(Location::Argument, "field", value, allowed))
}

pub(super) fn other_engine() -> Error {
    Error::value(Location::Argument, "field", "of another engine", "it must be of the agents' engine")
}
