//! Small grids of four neighbours and unit costs: a workgroup solves a field, and a batch is one dispatch.

use crate::error::{Error, Result};
use crate::flow::field::gpu::device_field::{DeviceField, DeviceStrip};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, SolveJob, field_state, split_request, upload_state};
use crate::flow::field::gpu::kernels::{FIELD_WORDS, HEADER, RoundParams, SMALL, SmallParams};
use crate::flow::field::gpu::strips::{Layout, TileMethod};
use crate::flow::field::options::FieldLimits;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::chunk_len;
use crate::gpu::dispatches::Dispatch;
use crate::gpu::dispatches::Groups;
use crate::gpu::frame::Frame;
use crate::gpu::pool::Use;
use crate::gpu::readback::{Read, Results};
use crate::gpu::timing::FrameTimes;

/// The longest side of a small grid.
const MAX_SIDE: u32 = 256;
/// The cells of the block of an invocation, along each axis.
const BLOCK: [u32; 2] = [32, 8];
/// The words that a field saves between dispatches, its entries in the two lists included.
const SAVED_FIELD_WORDS: usize = 32 * 256 + 2;
/// The levels of one dispatch: on a rasteriser on the CPU, which ends loops after about 65,000 iterations, and on other
/// devices.
const LEVEL_LIMITS: [usize; 2] = [2048, 16_384];
/// Spare levels: each of the two waves checks only at every eighth level whether it is finished.
const SPARE_LEVELS: usize = 16;
/// Words of a slot: see `shaders/flow/field/queue.wgsl`.
const SLOT: usize = 4;
/// The most workgroups along x of an indirect dispatch: `GROUPS_X` in `shaders/flow/field/small.wgsl`.
const GROUPS_X: u32 = 32_768;
/// The cost of a field in steps (see `Context::pieces`), per cell.
const CELL_STEPS: u64 = 1;

/// Whether fields over a grid are solved by one workgroup each. Fields with targets are not.
pub(crate) fn is_small(device: &DeviceGrid, grid: &Grid, target_count: usize) -> bool {
    let [width, height, _] = grid.size();
    device.tile_method(grid) == TileMethod::BitWave
        && width.max(height) <= MAX_SIDE
        && target_count == 0
        && device.strips.cells.len() == 1
        && SAVED_FIELD_WORDS <= chunk_len::<u32>(&device.context)
}

/// How many such fields fit into one binding together, and into the time of one dispatch.
pub(crate) fn batch_len(device: &DeviceGrid, grid: &Grid) -> usize {
    let context = &device.context;
    let max_len = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
    let pitch = Layout::new(grid, &device.strips, TileMethod::BitWave, 1, 0).field_pitch;
    let in_time = context.steps_per_dispatch() / (CELL_STEPS * grid.cell_count() as u64);
    (max_len.saturating_sub(HEADER) / pitch.max(SAVED_FIELD_WORDS)).min(in_time as usize).max(1)
}

/// How many of the remaining requests have goals that fit into one binding together.
pub(crate) fn fitting_count(
    device: &DeviceGrid,
    remaining: &[(Goals, FieldLimits)],
    batch_len: usize,
) -> usize {
    let max_len = chunk_len::<u32>(&device.context);
    // Each goal takes a word, and so does the start of each list; one more is the end of the last.
    let mut words = 1;
    let fits = |(goals, _): &&(Goals, FieldLimits)| {
        words += goals.cells.len() + 1;
        words <= max_len
    };
    remaining.iter().take(batch_len).take_while(fits).count().max(1)
}

/// A batch of small fields on its way.
#[derive(Debug)]
pub(crate) struct SmallBatch {
    job: SolveJob,
    field_infos: Vec<FieldInfo>,
    layout: Layout,
    distances: Buffer<u32>,
    codes: Buffer<u32>,
    state: Read<u32>,
    /// How many fields are not finished.
    unfinished_count: Read<u32>,
}

/// Encodes the frame of a batch, and what its results need.
pub(crate) fn start_batch(job: SolveJob, requests: Vec<(Goals, FieldLimits)>) -> Result<(Frame, SmallBatch)> {
    let context = job.device.context.clone();
    let grid = &job.grid;
    let field_count = requests.len();
    let layout = Layout::new(grid, &job.device.strips, TileMethod::BitWave, field_count, 0);
    let mut frame = Frame::new(&context, "hullfield.flow.small")?;
    let make = |label, len| Buffer::<u32>::new(&context, label, len);
    let distances = make("hullfield.flow.distances", layout.distances_len(0))?;
    let codes = make("hullfield.flow.codes", layout.code_words(0))?;
    let saved = make("hullfield.flow.saved", field_count * SAVED_FIELD_WORDS)?;
    let state = make("hullfield.flow.state", HEADER + field_count * FIELD_WORDS)?;
    upload_state(&mut frame, &state, field_count, job.max_distance)?;

    // First where the goals of each field start, then the goals of all fields.
    let mut lists = vec![0_u32];
    let (cells, field_infos): (Vec<Vec<u32>>, Vec<FieldInfo>) =
        requests.into_iter().map(split_request).unzip();
    for cells in &cells {
        lists.push(lists[lists.len() - 1] + cells.len() as u32);
    }
    cells.iter().for_each(|cells| lists.extend_from_slice(cells));
    let goal_lists = make("hullfield.flow.goal_lists", lists.len())?;
    frame.upload(&goal_lists, 0, &lists)?;

    let level_limit = LEVEL_LIMITS[usize::from(!context.is_software())];
    // Each level reaches at least one cell.
    let round_count = (grid.cell_count() + SPARE_LEVELS).div_ceil(level_limit);
    let count = field_count as u32;
    let slot_count = round_count / 2 + 1;
    let mut counts = Vec::with_capacity(2);
    for label in ["hullfield.flow.small_even", "hullfield.flow.small_odd"] {
        let mut slots = [0, 1, 1, 0].repeat(slot_count);
        if counts.is_empty() {
            slots[..SLOT].copy_from_slice(&[count.min(GROUPS_X), count.div_ceil(GROUPS_X), 1, count]);
        }
        let buffer = Buffer::with_use(&context, label, slots.len(), Use::Indirect)?;
        frame.upload(&buffer, 0, &slots)?;
        counts.push(buffer);
    }
    let [width, height, _] = grid.size();
    let params = SmallParams {
        width,
        height,
        row_words: 2 * grid.row_words() as u32,
        columns: width.div_ceil(BLOCK[0]),
        blocks: height.div_ceil(BLOCK[1]),
        field_count: count,
        field_pitch: layout.field_pitch as u32,
        level_limit: level_limit as u32,
        limit: job.max_distance.unwrap_or(u32::MAX),
        has_obstacles: (grid.obstacle_count() > 0).into(),
        padding_0: 0,
        padding_1: 0,
    };
    let round_params: Vec<RoundParams> = (0..round_count as u32)
        .map(|round| RoundParams { round, slot: round / 2, next_slot: round.div_ceil(2), phase: 0 })
        .collect();
    let uniforms = frame.dynamic_uniforms("hullfield.flow.rounds", &round_params)?;
    let params = frame.uniform(&params)?;
    let mut bound = Vec::with_capacity(2);
    for parity in 0..2 {
        let ends = [counts[parity].bind(), counts[1 - parity].bind(), state.bind()];
        let parts = [
            params.clone(),
            uniforms.clone(),
            job.device.blocked.bind(),
            goal_lists.bind(),
            distances.bind(),
            codes.bind(),
            saved.bind(),
        ];
        bound.push(frame.bind_kernel(&SMALL, &[&parts[..], &ends].concat())?);
    }
    let all: Vec<Dispatch<'_>> = (0..round_count)
        .map(|round| Dispatch {
            kernel: &bound[round % 2],
            uniform: Some(round),
            groups: Groups::At(&counts[round % 2], round / 2 * SLOT),
        })
        .collect();
    frame.dispatch_all(SMALL.label, &all)?;
    let state = frame.read(&state, 0..state.len())?;
    let count_word = round_count / 2 * SLOT + SLOT - 1;
    let unfinished_count = frame.read(&counts[round_count % 2], count_word..count_word + 1)?;
    let batch = SmallBatch { job, field_infos, layout, distances, codes, state, unfinished_count };
    Ok((frame, batch))
}

impl SmallBatch {
    /// Adds the fields of the batch to the job, once the frame has run.
    pub(crate) fn on_results(self, results: &Results) -> Result<SolveJob> {
        let Self { mut job, field_infos, layout, distances, codes, state, unfinished_count } = self;
        let unfinished_count = results.first(&unfinished_count)?;
        if unfinished_count != 0 {
            // This cannot happen: a wave has no more levels than there are cells.
            let message = format!("{unfinished_count} fields were not finished on the device");
            return Err(Error::internal("flow::field::gpu::small::on_results", message));
        }
        let state = results.get(&state)?;
        let FrameTimes { kernels_ms, compile_ms, .. } = results.times();
        job.timer.add_frame(kernels_ms, compile_ms);
        for (field, info) in field_infos.into_iter().enumerate() {
            let strip = DeviceStrip {
                cells: 0..job.grid.cell_count(),
                distances: distances.clone(),
                first_distance: field * layout.field_pitch,
                codes: codes.clone(),
                first_word: field * layout.field_pitch / 4,
            };
            let (context, blocked) = (job.device.context.clone(), job.device.blocked.clone());
            let cells = DeviceField { context, strips: vec![strip], blocked };
            job.add_field(&field_state(&state, field), state[0], info, cells)?;
        }
        Ok(job)
    }
}
