//! What is still to do of some fields, and what is done.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::field::gpu::arrays::DeviceField;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::kernels::{FIELD_WORDS, FieldState, HEADER};
use crate::flow::field::options::Reach;
use crate::flow::field::solved::{Field, FieldCells, FieldData, FieldRequest, UNREACHABLE};
use crate::flow::field::stats::{Stats, Stopwatch};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::{GoalReport, Goals};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;

/// What is still to do.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) device: DeviceGrid,
    pub(crate) grid: Arc<Grid>,
    /// Of all its fields.
    pub(crate) max_distance: Option<u32>,
    pub(crate) waiting: std::vec::IntoIter<(Goals, Reach)>,
    /// Most fields at once.
    pub(crate) batch_len: usize,
    /// Whether a group solves a field.
    pub(crate) is_small: bool,
    pub(crate) fields: Vec<Field>,
    /// Whether the caller knows the fields by their numbers.
    pub(crate) is_batch: bool,
    pub(crate) watch: Stopwatch,
}

/// What was asked of a field, and what became of its goals.
pub(crate) type FieldInfo = (FieldRequest, GoalReport);

impl Job {
    /// Takes a field that is solved.
    ///
    /// # Errors
    /// [`Error::DistanceOverflow`].
    pub(crate) fn take(
        &mut self,
        found: &FieldState,
        rounds: u32,
        (request, goals): FieldInfo,
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
pub(crate) fn split((goals, reach): (Goals, Reach)) -> (Vec<u32>, FieldInfo) {
    (goals.cells, (FieldRequest { goals: goals.given, reach }, goals.report))
}

/// What the device says of a field of a batch.
pub(crate) fn field_state(state: &[u32], field: usize) -> FieldState {
    let first = HEADER + field * FIELD_WORDS;
    bytemuck::cast::<[u32; FIELD_WORDS], _>(std::array::from_fn(|word| state[first + word]))
}

/// The state that a batch begins with.
pub(crate) fn upload_state(
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
