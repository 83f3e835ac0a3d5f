//! What is still to do of some fields, and what is done.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::field::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::goals::{GoalReport, Goals};
use crate::flow::gpu::field::DeviceField;
use crate::flow::gpu::grid::DeviceGrid;
use crate::flow::gpu::kernels::{FIELD_WORDS, FieldState, HEADER};
use crate::flow::grid::Grid;
use crate::flow::options::Reach;
use crate::flow::stats::{Stats, Stopwatch};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;

/// What is still to do.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) device: DeviceGrid,
    pub(super) grid: Arc<Grid>,
    /// Of all its fields.
    pub(super) max_distance: Option<u32>,
    pub(super) waiting: std::vec::IntoIter<(Goals, Reach)>,
    /// Most fields at once.
    pub(super) batch_len: usize,
    /// Whether a group solves a field.
    pub(super) is_small: bool,
    pub(super) fields: Vec<Field>,
    /// Whether the caller knows the fields by their numbers.
    pub(super) is_batch: bool,
    pub(super) watch: Stopwatch,
}

/// What was asked of a field, and what became of its goals.
pub(super) type Sorted = (FieldRequest, GoalReport);

impl Job {
    /// Takes a field that is solved.
    ///
    /// # Errors
    /// [`Error::DistanceOverflow`].
    pub(super) fn take(
        &mut self,
        found: &FieldState,
        rounds: u32,
        (request, goals): Sorted,
        cells: DeviceField,
    ) -> Result<()> {
        let is_whole = self.max_distance.is_none();
        if is_whole && found.settled == 0 && found.overflow != UNREACHABLE {
            let at = if self.is_batch { Location::Query(self.fields.len()) } else { Location::Argument };
            return Err(Error::DistanceOverflow { at, cell: self.grid.cell(found.overflow as usize) });
        }
        let stats = Stats {
            levels: found.farthest / self.grid.connectivity().unit() + 1,
            rounds,
            reached_count: found.reached as usize,
            ..Stats::default()
        };
        let grid = Arc::clone(&self.grid);
        let cells = FieldCells::Device(cells);
        self.fields.push(Field { shared: Arc::new(FieldData { grid, request, goals, stats, cells }) });
        Ok(())
    }
}

/// The cells of a field's goals, and the rest.
pub(super) fn sorted((goals, reach): (Goals, Reach)) -> (Vec<u32>, Sorted) {
    (goals.cells, (FieldRequest { goals: goals.given, reach }, goals.report))
}

/// What the device says of a field of a batch.
pub(super) fn field_state(state: &[u32], field: usize) -> FieldState {
    let first = HEADER + field * FIELD_WORDS;
    bytemuck::cast::<[u32; FIELD_WORDS], _>(std::array::from_fn(|word| state[first + word]))
}

/// The state that a batch begins with.
pub(super) fn upload_state(
    frame: &mut Frame,
    state: &Buffer<u32>,
    field_count: usize,
    max_distance: Option<u32>,
) -> Result<()> {
    let limit = max_distance.unwrap_or(UNREACHABLE - 1).min(UNREACHABLE - 1);
    let one =
        FieldState { limit, reached: 0, farthest: 0, overflow: UNREACHABLE, settled: 0, unused: [0; 3] };
    frame.upload(state, 0, &[0; HEADER])?;
    frame.upload(state, HEADER, bytemuck::cast_slice(&vec![one; field_count]))
}
