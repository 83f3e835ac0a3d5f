//! A call that solves fields: the requests that remain, and the fields that are done.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::field::gpu::device_field::DeviceField;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::kernels::{FIELD_WORDS, FieldState, HEADER};
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::field::stats::{CallTimer, Stats};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::{GoalReport, Goals};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;

/// A call that solves fields, on its way.
#[derive(Debug)]
pub(crate) struct SolveJob {
    pub(crate) device: DeviceGrid,
    pub(crate) grid: Arc<Grid>,
    /// The largest distance, the same for all fields.
    pub(crate) max_distance: Option<u32>,
    pub(crate) remaining: std::vec::IntoIter<(Goals, FieldLimits)>,
    /// The most fields of one batch.
    pub(crate) batch_len: usize,
    /// Whether the grid is small: then a workgroup solves a whole field.
    pub(crate) is_small: bool,
    pub(crate) fields: Vec<Field>,
    /// Whether the call was for many fields: then errors name the number of the field.
    pub(crate) is_batch: bool,
    pub(crate) timer: CallTimer,
}

/// The request of a field, and which of its goals were used.
pub(crate) type FieldInfo = (FieldRequest, GoalReport);

impl SolveJob {
    /// Adds a field that is solved.
    ///
    /// # Errors
    /// [`Error::DistanceOverflow`].
    pub(crate) fn add_field(
        &mut self,
        state: &FieldState,
        rounds: u32,
        (request, goals): FieldInfo,
        cells: DeviceField,
    ) -> Result<()> {
        let is_whole = self.max_distance.is_none();
        if is_whole && state.settled == 0 && state.overflow != UNREACHABLE {
            let at = if self.is_batch { Location::Query(self.fields.len()) } else { Location::Argument };
            return Err(Error::DistanceOverflow { at, cell: self.grid.cell(state.overflow as usize) });
        }
        let stats = Stats {
            levels: state.farthest / self.grid.connectivity().unit() + 1,
            rounds,
            reached_count: state.reached as usize,
            ..Stats::default()
        };
        let grid = Arc::clone(&self.grid);
        let cells = FieldCells::Device(cells);
        self.fields.push(Field::from(FieldData { grid, request, goals, stats, cells }));
        Ok(())
    }
}

/// Splits a request into the goal cells and what the field keeps of it.
pub(crate) fn split_request((goals, limits): (Goals, FieldLimits)) -> (Vec<u32>, FieldInfo) {
    (goals.cells, (FieldRequest { goals: goals.given, limits }, goals.report))
}

/// The state of one field of a batch, as read back.
pub(crate) fn field_state(state: &[u32], field: usize) -> FieldState {
    let first = HEADER + field * FIELD_WORDS;
    bytemuck::cast::<[u32; FIELD_WORDS], _>(std::array::from_fn(|word| state[first + word]))
}

/// Uploads the initial state of a batch.
pub(crate) fn upload_state(
    frame: &mut Frame,
    state: &Buffer<u32>,
    field_count: usize,
    max_distance: Option<u32>,
) -> Result<()> {
    let limit = max_distance.unwrap_or(UNREACHABLE - 1).min(UNREACHABLE - 1);
    let initial =
        FieldState { limit, reached: 0, farthest: 0, overflow: UNREACHABLE, settled: 0, unused: [0; 3] };
    frame.upload(state, 0, &[0; HEADER])?;
    frame.upload(state, HEADER, bytemuck::cast_slice(&vec![initial; field_count]))
}
