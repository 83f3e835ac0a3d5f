//! A solved field: how far each cell is from the nearest goal, and which way leads there.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::field::gpu::arrays::DeviceField;
use crate::flow::field::options::Reach;
use crate::flow::field::stats::{Batch, Stats, Stopwatch};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::GoalReport;
use crate::pending::{Pending, WasmNotSend};

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
    pub(crate) goals: GoalReport,
    pub(crate) stats: Stats,
    pub(crate) cells: FieldCells,
}

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct FieldRequest {
    /// The goals as given.
    pub(crate) goals: Vec<Cell>,
    pub(crate) reach: Reach,
}

/// Where the distances and codes are.
#[derive(Debug)]
pub(crate) enum FieldCells {
    /// In the host's memory, row-major.
    Host { distances: Vec<u32>, next: Vec<u8> },
    /// On the device.
    Device(DeviceField),
}

impl Field {
    /// The grid that it was solved for, as it was.
    pub fn grid(&self) -> &Grid {
        &self.shared.grid
    }

    /// What it took. The wave has always run to its end: a field that did not would be an error.
    pub fn stats(&self) -> &Stats {
        &self.shared.stats
    }

    /// What became of the goals.
    pub fn goals(&self) -> &GoalReport {
        &self.shared.goals
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
    pub(crate) fn with_cells<T: WasmNotSend + 'static>(
        &self,
        work: impl FnOnce(&Grid, &[u32], &[u8], Stopwatch) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let shared = Arc::clone(&self.shared);
        match &self.shared.cells {
            FieldCells::Host { .. } => {
                let watch = Stopwatch::host();
                Ok(Pending::spawn(move |_| match &shared.cells {
                    FieldCells::Host { distances, next } => work(&shared.grid, distances, next, watch),
                    FieldCells::Device(_) => {
                        let message = "a field in the host's memory has its cells on the device";
                        Err(Error::internal("flow::field::solved::with_cells", message))
                    }
                }))
            }
            FieldCells::Device(device) => {
                let grid = Arc::clone(&self.shared.grid);
                device.with_cells(move |distances, next, watch| work(&grid, distances, next, watch))
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

    /// Gives it the times of the call that it is an answer of.
    fn set_times(&mut self, times: Stats) {
        if let Some(data) = Arc::get_mut(&mut self.shared) {
            let Stats { reached_count, levels, rounds, .. } = data.stats;
            data.stats = Stats { reached_count, levels, rounds, ..times };
        }
    }
}

/// The fields that one call has solved, with what it took.
pub(crate) fn batch(mut fields: Vec<Field>, watch: &Stopwatch) -> Batch<Field> {
    let times = watch.stop(0);
    fields.iter_mut().for_each(|field| field.set_times(times));
    let each = || fields.iter().map(Field::stats);
    let stats = Stats {
        reached_count: each().map(|stats| stats.reached_count).sum(),
        levels: each().map(|stats| stats.levels).max().unwrap_or(0),
        rounds: each().map(|stats| stats.rounds).max().unwrap_or(0),
        ..times
    };
    Batch::new(fields, stats)
}

/// The field that a call for one has solved, with what it took.
pub(crate) fn single(mut field: Field, watch: &Stopwatch) -> Field {
    field.set_times(watch.stop(0));
    field
}
