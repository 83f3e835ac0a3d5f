//! A solved field: how far each cell is from the nearest goal, and which way leads there.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::goals::GoalReport;
use crate::flow::gpu::field::DeviceField;
use crate::flow::grid::Grid;
use crate::flow::options::FieldOptions;
use crate::pending::{MaySend, Pending};

/// Distance of a cell from which no goal is reached, and of obstacles.
pub const UNREACHABLE: u32 = u32::MAX;

/// A field over a grid: for each cell the distance to the nearest goal and the code of the next cell on the way.
///
/// A cell's distance is 0 at goals, else the least sum over the moves to a goal of the step's length times the cost of the
/// cell entered, goals included: see [`Connectivity`](crate::flow::Connectivity) for the lengths. The next cell is
/// the first neighbour in the order told there that attains it. Obstacles have the distance [`UNREACHABLE`], and point along
/// the fewest steps through obstacles, each one long and without a corner rule, to a cell that is reached: so whoever has
/// been pushed into a wall gets out. Both engines give the same field, bit for bit.
///
/// Cloning it clones a handle.
#[derive(Debug, Clone)]
pub struct Field {
    pub(crate) shared: Arc<FieldData>,
}

/// What a [`Field`] is made of.
#[derive(Debug)]
pub(crate) struct FieldData {
    /// The grid as it was.
    pub(crate) grid: Arc<Grid>,
    pub(crate) request: FieldRequest,
    pub(crate) summary: FieldSummary,
    pub(crate) cells: FieldCells,
}

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct FieldRequest {
    /// The goals as given.
    pub(crate) goals: Vec<Cell>,
    pub(crate) options: FieldOptions,
}

/// Where the distances and codes are.
#[derive(Debug)]
pub(crate) enum FieldCells {
    /// In the host's memory, row-major.
    Host { distances: Vec<u32>, next: Vec<u8> },
    /// On the device.
    Device(DeviceField),
}

/// What a field took, and what became of its goals. The wave has always run to its end: a field that did not would be an
/// error.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct FieldSummary {
    /// Different distances that there are, 0 included, as far as the engine tells them apart: of grids where all steps are 1
    /// the largest distance and one.
    pub levels: u32,
    /// Rounds that the engine took: of the CPU engine as many as levels. On a GPU, of fields whose steps are not all 1 or that
    /// have costs, it may differ from run to run, which the field does not.
    pub rounds: u32,
    /// Cells from which a goal is reached, goals included.
    pub reached_count: usize,
    /// The goals.
    pub goals: GoalReport,
}

impl Field {
    /// The grid that it was solved for, as it was.
    pub fn grid(&self) -> &Grid {
        &self.shared.grid
    }

    /// What it took, and what became of the goals.
    pub fn summary(&self) -> &FieldSummary {
        &self.shared.summary
    }

    /// The distance of each cell, row-major: `[height, width]` or `[depth, height, width]`. In the units of
    /// [`Connectivity`](crate::flow::Connectivity).
    ///
    /// # Errors
    /// Of the device, where the field is there.
    pub fn distances(&self) -> Result<Pending<Vec<u32>>> {
        match &self.shared.cells {
            FieldCells::Host { distances, .. } => Ok(Pending::ready(distances.clone())),
            FieldCells::Device(device) => device.distances(),
        }
    }

    /// The code of each cell's next one, of the shape of [`distances`](Self::distances):
    /// [`NEXT_NONE`](crate::flow::NEXT_NONE) at goals and where none is reached.
    ///
    /// # Errors
    /// Of the device, where the field is there.
    pub fn next_codes(&self) -> Result<Pending<Vec<u8>>> {
        match &self.shared.cells {
            FieldCells::Host { next, .. } => Ok(Pending::ready(next.clone())),
            FieldCells::Device(device) => device.next_codes(),
        }
    }

    /// Distances and codes without a copy, where the field is in the host's memory: on the CPU engine, and where the
    /// grid has a shape that the device does not take, see [`Flow::new`](crate::flow::Flow::new).
    pub fn host(&self) -> Option<(&[u32], &[u8])> {
        match &self.shared.cells {
            FieldCells::Host { distances, next } => Some((distances, next)),
            FieldCells::Device(_) => None,
        }
    }

    /// Does something with distances and codes in the host's memory, where a field on the device is read to first.
    pub(crate) fn with_cells<T: MaySend + 'static>(
        &self,
        work: impl FnOnce(&Grid, &[u32], &[u8]) -> Result<T> + MaySend + 'static,
    ) -> Result<Pending<T>> {
        let shared = Arc::clone(&self.shared);
        match &self.shared.cells {
            FieldCells::Host { .. } => Ok(Pending::spawn(move |_| match &shared.cells {
                FieldCells::Host { distances, next } => work(&shared.grid, distances, next),
                FieldCells::Device(_) => {
                    let message = "a field in the host's memory has its cells on the device";
                    Err(Error::internal("flow::field::with_cells", message))
                }
            })),
            FieldCells::Device(device) => {
                let grid = Arc::clone(&self.shared.grid);
                device.with_cells(move |distances, next| work(&grid, distances, next))
            }
        }
    }

    /// The field's arrays on the device; none on the CPU engine.
    pub(crate) fn device(&self) -> Option<&DeviceField> {
        match &self.shared.cells {
            FieldCells::Device(device) => Some(device),
            FieldCells::Host { .. } => None,
        }
    }

    /// What the device says that its kernels took, in milliseconds: of a batch, all of its fields together. None on the CPU
    /// engine, and where the device has no timestamps.
    pub fn kernels_ms(&self) -> Option<f64> {
        self.device().and_then(|device| device.kernels_ms)
    }

    /// How long it took to build the pipelines that this field was the first to need, or to wait for those that were being built,
    /// in milliseconds: see [`Flow::prepare`](crate::flow::Flow::prepare). Of a batch, of all of its fields together; 0 on the CPU
    /// engine.
    pub fn compile_ms(&self) -> f64 {
        self.device().map_or(0.0, |device| device.compile_ms)
    }
}
