//! Small grids with steps of 1 and four neighbours: a group solves a field, and a batch of them is one dispatch.

use crate::error::{Error, Result};
use crate::flow::field::gpu::arrays::{DeviceField, DeviceStrip};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, Job, field_state, split, upload_state};
use crate::flow::field::gpu::kernels::{FIELD_WORDS, HEADER, RoundParams, SMALL, SmallParams};
use crate::flow::field::gpu::strips::{Kind, Layout};
use crate::flow::field::options::Reach;
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

/// Longest side of a grid that one group solves.
const SIDE: u32 = 256;
/// Cells of a block of an invocation along each axis.
const BLOCK: [u32; 2] = [32, 8];
/// Words that are kept of a field from dispatch to dispatch, its places in the two lists among them.
const KEPT_WORDS: usize = 32 * 256 + 2;
/// Levels of one dispatch, on a rasteriser on the CPU, which ends a loop after some 65,000 turns, and on other devices.
const LEVEL_LIMITS: [usize; 2] = [2048, 16_384];
/// Levels that a wave may take more than it has cells: it is looked every eighth whether it is at its end, of both waves.
const SPARE_LEVELS: usize = 16;
/// Words of one slot: see `shaders/flow/field/queue.wgsl`.
const SLOT: usize = 4;
/// Most groups along x of a dispatch whose count is made on the device: `GROUPS_X` in `shaders/flow/field/small.wgsl`.
const GROUPS_X: u32 = 32_768;
/// Steps that a field is reckoned at (see `Context::pieces`), of its cells.
const CELL_STEPS: u64 = 1;

/// Whether fields over a grid are solved by a group each. Those that end early are not.
pub(crate) fn is_small(device: &DeviceGrid, grid: &Grid, until_count: usize) -> bool {
    let [width, height, _] = grid.size();
    device.kind(grid) == Kind::Wave
        && width.max(height) <= SIDE
        && until_count == 0
        && device.strips.cells.len() == 1
        && KEPT_WORDS <= chunk_len::<u32>(&device.context)
}

/// How many of them fit into one binding together, and are done in time by one dispatch.
pub(crate) fn batch_len(device: &DeviceGrid, grid: &Grid) -> usize {
    let context = &device.context;
    let most = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
    let pitch = Layout::new(grid, &device.strips, Kind::Wave, 1, 0).field_pitch;
    let in_time = context.steps_per_dispatch() / (CELL_STEPS * grid.cell_count() as u64);
    (most.saturating_sub(HEADER) / pitch.max(KEPT_WORDS)).min(in_time as usize).max(1)
}

/// How many of those that wait have goals that fit into one binding together.
pub(crate) fn fitting(device: &DeviceGrid, waiting: &[(Goals, Reach)], batch_len: usize) -> usize {
    let most = chunk_len::<u32>(&device.context);
    // A cell each, and where each list begins; all end somewhere.
    let mut words = 1;
    let fits = |(goals, _): &&(Goals, Reach)| {
        words += goals.cells.len() + 1;
        words <= most
    };
    waiting.iter().take(batch_len).take_while(fits).count().max(1)
}

/// A batch that is under way.
#[derive(Debug)]
pub(crate) struct Run {
    job: Job,
    goals: Vec<FieldInfo>,
    layout: Layout,
    distances: Buffer<u32>,
    codes: Buffer<u32>,
    state: Read<u32>,
    /// How many fields are not results.
    left: Read<u32>,
}

/// The frame of a batch, and what is to be done when it has ended.
pub(crate) fn begin(job: Job, batch: Vec<(Goals, Reach)>) -> Result<(Frame, Run)> {
    let context = job.device.context.clone();
    let grid = &job.grid;
    let field_count = batch.len();
    let layout = Layout::new(grid, &job.device.strips, Kind::Wave, field_count, 0);
    let mut frame = Frame::new(&context, "hullfield.flow.small")?;
    let make = |label, len| Buffer::<u32>::new(&context, label, len);
    let distances = make("hullfield.flow.distances", layout.distances_len(0))?;
    let codes = make("hullfield.flow.codes", layout.code_words(0))?;
    let saved = make("hullfield.flow.saved", field_count * KEPT_WORDS)?;
    let state = make("hullfield.flow.state", HEADER + field_count * FIELD_WORDS)?;
    upload_state(&mut frame, &state, field_count, job.max_distance)?;

    // Where the goals of each field begin, and all of them.
    let mut lists = vec![0_u32];
    let (cells, goals): (Vec<Vec<u32>>, Vec<FieldInfo>) = batch.into_iter().map(split).unzip();
    for cells in &cells {
        lists.push(lists[lists.len() - 1] + cells.len() as u32);
    }
    cells.iter().for_each(|cells| lists.extend_from_slice(cells));
    let held_goals = make("hullfield.flow.goal_lists", lists.len())?;
    frame.upload(&held_goals, 0, &lists)?;

    let level_limit = LEVEL_LIMITS[usize::from(!context.is_software())];
    // Each level reaches a cell.
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
    let turns: Vec<RoundParams> = (0..round_count as u32)
        .map(|round| RoundParams { round, slot: round / 2, next_slot: round.div_ceil(2), phase: 0 })
        .collect();
    let uniforms = frame.dynamic_uniforms("hullfield.flow.rounds", &turns)?;
    let params = frame.uniform(&params)?;
    let mut bound = Vec::with_capacity(2);
    for parity in 0..2 {
        let ends = [counts[parity].bind(), counts[1 - parity].bind(), state.bind()];
        let parts = [
            params.clone(),
            uniforms.clone(),
            job.device.blocked.bind(),
            held_goals.bind(),
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
    let behind = round_count / 2 * SLOT + SLOT - 1;
    let left = frame.read(&counts[round_count % 2], behind..behind + 1)?;
    let run = Run { job, goals, layout, distances, codes, state, left };
    Ok((frame, run))
}

impl Run {
    /// Takes the fields of the batch; what is left of the job.
    pub(crate) fn landed(self, results: &Results) -> Result<Job> {
        let Self { mut job, goals, layout, distances, codes, state, left } = self;
        let left = results.first(&left)?;
        if left != 0 {
            // A wave takes no more levels than there are cells.
            let message = format!("{left} fields did not come to their end on the device");
            return Err(Error::internal("flow::field::gpu::small::landed", message));
        }
        let state = results.get(&state)?;
        let FrameTimes { kernels_ms, compile_ms, .. } = results.times();
        job.watch.add(kernels_ms, compile_ms);
        for (field, goals) in goals.into_iter().enumerate() {
            let strip = DeviceStrip {
                cells: 0..job.grid.cell_count(),
                distances: distances.clone(),
                first_distance: field * layout.field_pitch,
                codes: codes.clone(),
                first_word: field * layout.field_pitch / 4,
            };
            let (context, blocked) = (job.device.context.clone(), job.device.blocked.clone());
            let cells = DeviceField { context, strips: vec![strip], blocked };
            job.take(&field_state(&state, field), state[0], goals, cells)?;
        }
        Ok(job)
    }
}
