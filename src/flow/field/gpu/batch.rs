//! A batch of fields on the device: its buffers, what they hold at first, and the fields in them at the end.

use crate::error::{Error, Result};
use crate::flow::field::gpu::device_field::{DeviceField, DeviceStrip};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, SolveJob, upload_state};
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::{FIELD_WORDS, HEADER};
use crate::flow::field::gpu::strips::{Layout, TileMethod};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

/// The arrays of a queue, each with a word for every tile: see `shaders/flow/field/queue.wgsl` and `changed_tiles.wgsl`.
pub(crate) const QUEUE_ARRAYS: usize = 5;

/// The fields that are solved together, and their buffers.
#[derive(Debug)]
pub(crate) struct FieldBatch {
    pub(crate) device: DeviceGrid,
    pub(crate) layout: Layout,
    /// The distances of each strip.
    pub(crate) distances: Vec<Buffer<u32>>,
    /// The codes of each strip; none for distances alone.
    pub(crate) codes: Vec<Buffer<u32>>,
    /// The bit planes of even rounds and of odd rounds.
    pub(crate) planes: Option<[Buffer<[u32; 2]>; 2]>,
    pub(crate) queue: Buffer<u32>,
    pub(crate) state: Buffer<u32>,
    /// The targets of the fields, and room for their distances.
    pub(crate) targets: Option<(Buffer<u32>, Buffer<u32>)>,
    pub(crate) has_obstacles: bool,
}

impl FieldBatch {
    /// Makes the buffers of a batch, and uploads their initial state.
    pub(crate) fn new(
        frame: &mut Frame,
        job: &SolveJob,
        requests: &[FieldInfo],
        method: TileMethod,
    ) -> Result<Self> {
        let target_count =
            requests.iter().map(|(request, _)| request.limits.targets.len()).max().unwrap_or(0);
        let layout = Layout::new(&job.grid, &job.device.strips, method, requests.len(), target_count);
        let mut batch = Self::without_codes(frame, &job.device, layout, job.max_distance)?;
        let make = |label, len: usize| Buffer::<u32>::new(&job.device.context, label, len);
        let strips = 0..batch.layout.strips.cells.len();
        let codes = strips.map(|strip| make("hullfield.flow.codes", batch.layout.code_words(strip)));
        batch.codes = codes.collect::<Result<_>>()?;
        if target_count > 0 {
            let cells = target_cells(&job.grid, requests, target_count)?;
            let buffer = make("hullfield.flow.targets", cells.len())?;
            frame.upload(&buffer, 0, &cells)?;
            batch.targets = Some((buffer, make("hullfield.flow.gathered", cells.len())?));
        }
        batch.has_obstacles = job.grid.obstacle_count() > 0;
        Ok(batch)
    }

    /// A batch for distances alone, without targets: [`encode_finish`](Self::encode_finish) must not follow its rounds.
    pub(crate) fn without_codes(
        frame: &mut Frame,
        device: &DeviceGrid,
        layout: Layout,
        max_distance: Option<u32>,
    ) -> Result<Self> {
        let context: &Context = &device.context;
        let make = |label, len: usize| Buffer::<u32>::new(context, label, len);
        let strips = 0..layout.strips.cells.len();
        let distances = strips.map(|strip| make("hullfield.flow.distances", layout.distances_len(strip)));
        let plane = |label| Buffer::<[u32; 2]>::new(context, label, layout.plane_words());
        let planes = match layout.method {
            TileMethod::BitWave => {
                Some([plane("hullfield.flow.planes_even")?, plane("hullfield.flow.planes_odd")?])
            }
            TileMethod::Relax2d | TileMethod::Relax3d => None,
        };
        let state = make("hullfield.flow.state", HEADER + layout.field_count * FIELD_WORDS)?;
        upload_state(frame, &state, layout.field_count, max_distance)?;
        Ok(Self {
            distances: distances.collect::<Result<_>>()?,
            codes: Vec::new(),
            queue: make("hullfield.flow.queue", QUEUE_ARRAYS * layout.tile_count())?,
            device: device.clone(),
            has_obstacles: false,
            layout,
            planes,
            state,
            targets: None,
        })
    }

    /// Sets all cells to unreached and all tiles to inactive.
    pub(crate) fn encode_clear(&self, frame: &mut Frame) -> Result<()> {
        frame.clear(&self.queue);
        for distances in &self.distances {
            let groups = kernels::FILL.groups(distances.len() as u64);
            frame.dispatch(&kernels::FILL, &[distances.bind()], groups)?;
        }
        if let Some(planes) = &self.planes {
            let params = frame.uniform(&self.layout.params[0])?;
            let bound = [params, self.device.blocked.bind(), planes[0].bind(), planes[1].bind()];
            let groups = kernels::INIT_PLANES.groups(self.layout.plane_words() as u64);
            frame.dispatch(&kernels::INIT_PLANES, &bound, groups)?;
        }
        Ok(())
    }

    /// One field of the batch.
    pub(crate) fn field(&self, field: usize) -> DeviceField {
        let strip = |(strip, cells): (usize, &std::ops::Range<usize>)| DeviceStrip {
            cells: cells.clone(),
            distances: self.distances[strip].clone(),
            first_distance: field * self.layout.field_pitch + self.layout.strips.halo,
            codes: self.codes[strip].clone(),
            first_word: field * self.layout.field_pitch / 4,
        };
        let strips = self.layout.strips.cells.iter().enumerate().map(strip).collect();
        let (context, blocked) = (self.device.context.clone(), self.device.blocked.clone());
        DeviceField { context, strips, blocked }
    }
}

/// The targets of each field, padded to the same number for all: a field with fewer repeats its last target. A field
/// without targets has [`UNREACHABLE`], which is no cell.
fn target_cells(grid: &Grid, requests: &[FieldInfo], target_count: usize) -> Result<Vec<u32>> {
    let mut cells = Vec::with_capacity(requests.len() * target_count);
    for (request, _) in requests {
        let mut last = UNREACHABLE;
        for &cell in &request.limits.targets {
            let outside = || {
                Error::internal(
                    "flow::field::gpu::batch::target_cells",
                    format!("cell {cell} is outside the grid"),
                )
            };
            last = grid.index(cell).ok_or_else(outside)? as u32;
            cells.push(last);
        }
        cells.extend(std::iter::repeat_n(last, target_count - request.limits.targets.len()));
    }
    Ok(cells)
}
