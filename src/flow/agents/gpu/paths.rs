//! Agents that follow a field on the device: steps, distances and paths.

use crate::error::{Error, Result};
use crate::flow::agents::gpu::kernels;
use crate::flow::agents::gpu::kernels::{AgentParams, GATHER, MEASURE, STEP, TRACE, Walker};
use crate::flow::agents::paths::{Paths, path_offsets, reached_count};
use crate::flow::field::gpu::device_field::{DeviceField, DeviceStrip, read_all};
use crate::flow::field::solved::{Field, UNREACHABLE};
use crate::flow::field::stats::{Batch, CallTimer};
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::{chunk_len, chunks};
use crate::gpu::context::Context;
use crate::gpu::dispatches::Dispatch;
use crate::gpu::dispatches::Groups;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::{Pending, WasmNotSend};

/// The most steps of one agent in one dispatch: software drivers end loops after about 65,000 iterations.
const MAX_STEPS: usize = 4096;
/// The most dispatches of one frame, per strip.
const MAX_ROUNDS: usize = 256;
/// The dispatches of the first frame of paths, per strip: the lengths of paths are not known. Each later frame has four
/// times as many.
const FIRST_ROUND_COUNT: usize = 4;
/// The most cells of paths that one frame reads back: 64 MiB.
const MAX_WINDOW_LEN: usize = 1 << 24;
/// The most agents whose paths are measured together.
const MAX_MEASURED: usize = 1 << 22;

/// The next cells of a field on the device. Cloning it clones handles.
#[derive(Debug, Clone)]
pub(crate) struct DeviceNextCells {
    context: Context,
    strips: Vec<DeviceStrip>,
    strides: [[u32; 4]; 7],
    /// No path has more steps: each step out of obstacles leads to another obstacle, and each later step leads to a new
    /// cell at least one level lower.
    max_steps: usize,
}

/// The agents and steps of one dispatch.
#[derive(Debug, Clone, Copy)]
struct StepPlan {
    agent_count: usize,
    step_limit: usize,
    stamp: u32,
    is_counted: bool,
    window_len: usize,
}

impl DeviceNextCells {
    pub(crate) fn new(field: &Field, device: &DeviceField) -> Self {
        let (stats, grid) = (field.stats(), field.grid());
        let steps = (stats.levels as usize).min(stats.reached_count);
        Self {
            context: device.context.clone(),
            strips: device.strips.clone(),
            strides: kernels::strides(grid),
            max_steps: steps + grid.obstacle_count(),
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The steps of each agent that fit into the time of one dispatch.
    fn step_limit(&self, agent_count: usize) -> usize {
        let cell_total = self.context.steps_per_dispatch() / agent_count.max(1) as u64;
        (cell_total as usize).clamp(16, MAX_STEPS)
    }

    fn params(&self, strip: &DeviceStrip, plan: StepPlan) -> AgentParams {
        AgentParams {
            first_cell: strip.cells.start as u32,
            cell_count: strip.cells.len() as u32,
            first_distance: strip.first_distance as u32,
            first_word: strip.first_word as u32,
            agent_count: plan.agent_count as u32,
            step_limit: plan.step_limit as u32,
            stamp: plan.stamp,
            is_counted: plan.is_counted.into(),
            window_len: plan.window_len as u32,
            strides: self.strides,
            ..AgentParams::default()
        }
    }

    /// Encodes `step_count` steps of the agents in a buffer.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn encode_steps(
        &self,
        frame: &mut Frame,
        cells: &Buffer<u32>,
        step_count: usize,
    ) -> Result<()> {
        let context = &self.context;
        let step_count = step_count.min(self.max_steps);
        let is_one_strip = self.strips.len() == 1;
        let stamp_count = if is_one_strip { 1 } else { cells.len() };
        let stamps = Buffer::<u32>::new(context, "hullfield.flow.stamps", stamp_count)?;
        if !is_one_strip {
            frame.clear(&stamps);
        }
        for agents in chunks(cells.len(), chunk_len::<u32>(context)) {
            let agent_count = agents.len();
            // With several strips each step is a round of its own.
            let limit = if is_one_strip { self.step_limit(agent_count) } else { 1 };
            let agent_cells = cells.bind_range(agents.clone());
            let stamped = if is_one_strip { stamps.bind() } else { stamps.bind_range(agents) };
            for (round, first) in (1..).zip((0..step_count).step_by(limit)) {
                let step_limit = limit.min(step_count - first);
                let stamp = if is_one_strip { 0 } else { round };
                let plan = StepPlan { agent_count, step_limit, stamp, is_counted: false, window_len: 0 };
                for strip in &self.strips {
                    let params = frame.uniform(&self.params(strip, plan))?;
                    let bound = [params, strip.codes.bind(), agent_cells.clone(), stamped.clone()];
                    frame.dispatch(&STEP, &bound, STEP.groups(agent_count as u64))?;
                }
            }
        }
        Ok(())
    }

    /// Moves agents one step on, and calls `then` with their cells.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn step<T: WasmNotSend + 'static>(
        &self,
        starts: &[u32],
        then: impl FnOnce(Vec<u32>, CallTimer) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let timer = CallTimer::device();
        let mut frame = Frame::new(&self.context, "hullfield.flow.step")?;
        let cells = Buffer::<u32>::new(&self.context, "hullfield.flow.agents", starts.len())?;
        frame.upload(&cells, 0, starts)?;
        self.encode_steps(&mut frame, &cells, 1)?;
        read_all(frame, vec![(cells, 0..starts.len())], timer, then)
    }

    /// The distances of cells.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn distances_at(&self, cells: &[u32]) -> Result<Pending<Batch<u32>>> {
        let (context, timer) = (&self.context, CallTimer::device());
        let mut frame = Frame::new(context, "hullfield.flow.gather")?;
        let cell_buffer = Buffer::<u32>::new(context, "hullfield.flow.agents", cells.len())?;
        let found = Buffer::<u32>::new(context, "hullfield.flow.found", cells.len())?;
        frame.upload(&cell_buffer, 0, cells)?;
        for part in chunks(cells.len(), chunk_len::<u32>(context)) {
            let agent_count = part.len();
            let plan = StepPlan { agent_count, step_limit: 0, stamp: 0, is_counted: false, window_len: 0 };
            for strip in &self.strips {
                let params = frame.uniform(&self.params(strip, plan))?;
                let ends = [cell_buffer.bind_range(part.clone()), found.bind_range(part.clone())];
                let bound = [&[params, strip.distances.bind()][..], &ends].concat();
                frame.dispatch(&GATHER, &bound, GATHER.groups(agent_count as u64))?;
            }
        }
        read_all(frame, vec![(found, 0..cells.len())], timer, |rows, timer| {
            let stats = timer.stats(reached_count(&rows));
            Ok(Batch::new(rows, stats))
        })
    }

    /// The whole path of each agent. Its steps are counted first, then its cells are written into memory of that size.
    ///
    /// # Errors
    /// Of the device; [`Error::MemoryLimit`] if the host has no memory for that many cells.
    pub(crate) fn paths(self, starts: Vec<u32>) -> Result<Pending<Paths>> {
        let job = PathJob {
            next_cells: self,
            starts,
            step_counts: Vec::new(),
            found: Paths::default(),
            timer: CallTimer::device(),
        };
        job.next_frame()?.start()
    }
}

/// A call for paths, on its way.
struct PathJob {
    next_cells: DeviceNextCells,
    starts: Vec<u32>,
    /// The steps of each path, one fewer than its cells.
    step_counts: Vec<u32>,
    found: Paths,
    timer: CallTimer,
}

/// One pass over some of the agents, which counts their steps or writes their cells.
struct WalkPass {
    kernel: &'static Kernel,
    walkers: Buffer<Walker>,
    /// The buffer that cells are written to; `None` while steps are counted.
    path_cells: Option<Buffer<u32>>,
    unfinished: Buffer<u32>,
    round_count: usize,
    count: Read<u32>,
    result: Readback,
}

/// What a pass reads back.
enum Readback {
    Measured(Read<Walker>),
    Traced(Read<u32>),
}

impl PathJob {
    /// The next frame, or the answer.
    fn next_frame(mut self) -> Result<Next<Paths>> {
        let context = self.next_cells.context.clone();
        let measured_count = self.step_counts.len();
        let len = (self.starts.len() - measured_count).min(MAX_MEASURED).min(chunk_len::<Walker>(&context));
        if len > 0 {
            let walker = |&cell: &u32| Walker { cell, step_count: 0, slot: UNREACHABLE, cells_left: 0 };
            let walkers: Vec<Walker> =
                self.starts[measured_count..measured_count + len].iter().map(walker).collect();
            return self.start_pass(&MEASURE, &walkers, None, FIRST_ROUND_COUNT);
        }
        if self.found.offsets.is_empty() {
            let counts = self.step_counts.iter().map(|&count| count as usize);
            (self.found.offsets, self.found.cells) = path_offsets(counts)?;
        }
        let (window_start, offsets) = (self.found.cells.len(), &self.found.offsets);
        let internal_error = |message| Error::internal("flow::agents::gpu::paths::next_frame", message);
        let cell_total = *offsets.last().ok_or_else(|| internal_error("the list of offsets is empty"))?;
        let window_len = (cell_total - window_start).min(MAX_WINDOW_LEN).min(chunk_len::<u32>(&context));
        if window_len == 0 {
            self.found.stats = self.timer.stats(reached_count(&self.found.lengths));
            return Ok(Next::Answer(self.found));
        }
        // The paths with cells in this window; some start before it or end after it.
        let first = offsets.partition_point(|&offset| offset <= window_start) - 1;
        let end_row =
            offsets.partition_point(|&offset| offset < window_start + window_len).min(self.starts.len());
        let end_row = end_row.min(first + chunk_len::<Walker>(&context));
        let window_len = window_len.min(offsets[end_row] - window_start);
        let walker = |row: usize| Walker {
            cell: self.starts[row],
            step_count: 0,
            slot: (offsets[row] as u32).wrapping_sub(window_start as u32),
            cells_left: self.step_counts[row] + 1,
        };
        let walkers: Vec<Walker> = (first..end_row).map(walker).collect();
        let longest = walkers.iter().map(|walker| walker.cells_left as usize).max();
        let longest =
            longest.ok_or_else(|| internal_error("cells are left to be written, but no path has them"))?;
        let round_count = longest.div_ceil(self.next_cells.step_limit(walkers.len()));
        let cells = Buffer::new(&context, "hullfield.flow.path_cells", window_len)?;
        self.start_pass(&TRACE, &walkers, Some(cells), round_count)
    }

    /// Uploads the agents of a pass, and encodes its first rounds.
    fn start_pass(
        self,
        kernel: &'static Kernel,
        walkers: &[Walker],
        path_cells: Option<Buffer<u32>>,
        round_count: usize,
    ) -> Result<Next<Paths>> {
        let context = &self.next_cells.context;
        let mut frame = Frame::new(context, "hullfield.flow.paths")?;
        let walker_buffer = Buffer::new(context, "hullfield.flow.walkers", walkers.len())?;
        frame.upload(&walker_buffer, 0, walkers)?;
        let unfinished = Buffer::new(context, "hullfield.flow.unfinished", 1)?;
        self.encode_rounds(frame, kernel, walker_buffer, path_cells, unfinished, round_count)
    }

    /// Encodes rounds, and the readback after them.
    fn encode_rounds(
        self,
        mut frame: Frame,
        kernel: &'static Kernel,
        walkers: Buffer<Walker>,
        path_cells: Option<Buffer<u32>>,
        unfinished: Buffer<u32>,
        round_count: usize,
    ) -> Result<Next<Paths>> {
        let round_count = round_count.clamp(1, MAX_ROUNDS);
        frame.clear(&unfinished);
        let plan = StepPlan {
            agent_count: walkers.len(),
            step_limit: self.next_cells.step_limit(walkers.len()),
            stamp: 0,
            is_counted: false,
            window_len: path_cells.as_ref().map_or(0, Buffer::len),
        };
        // The last round counts the agents that are not finished.
        let mut bound = Vec::new();
        for strip in &self.next_cells.strips {
            let path_cells = path_cells.as_ref().unwrap_or(&strip.distances);
            let ends = [strip.codes.bind(), walkers.bind(), unfinished.bind(), path_cells.bind()];
            for is_counted in [false, true] {
                let params =
                    frame.uniform(&self.next_cells.params(strip, StepPlan { is_counted, ..plan }))?;
                bound.push(frame.bind_kernel(kernel, &[&[params][..], &ends].concat())?);
            }
        }
        let mut rounds = Vec::new();
        for round in 1..=round_count {
            for pair in bound.chunks(2) {
                let bound_kernel = &pair[usize::from(round == round_count)];
                let groups = Groups::Count(kernel.groups(walkers.len() as u64));
                rounds.push(Dispatch { kernel: bound_kernel, uniform: None, groups });
            }
        }
        frame.dispatch_all(kernel.label, &rounds)?;
        let count = frame.read(&unfinished, 0..1)?;
        let result = match &path_cells {
            None => Readback::Measured(frame.read(&walkers, 0..walkers.len())?),
            Some(cells) => Readback::Traced(frame.read(cells, 0..cells.len())?),
        };
        let pass = WalkPass { kernel, walkers, path_cells, unfinished, round_count, count, result };
        Ok(Next::frame(frame, move |results| self.on_results(pass, &results)))
    }

    /// Continues after a frame has run.
    fn on_results(mut self, pass: WalkPass, results: &Results) -> Result<Next<Paths>> {
        self.timer.add_frame(results.times().kernels_ms, results.times().compile_ms);
        if results.first(&pass.count)? != 0 {
            let frame = Frame::new(&self.next_cells.context, "hullfield.flow.paths")?;
            let WalkPass { kernel, walkers, path_cells, unfinished, round_count, .. } = pass;
            return self.encode_rounds(frame, kernel, walkers, path_cells, unfinished, 4 * round_count);
        }
        match &pass.result {
            Readback::Measured(read) => {
                for walker in results.get(read)?.iter() {
                    self.step_counts.push(walker.step_count);
                    self.found.lengths.push(walker.slot);
                }
            }
            Readback::Traced(read) => self.found.cells.extend_from_slice(&results.get(read)?),
        }
        drop(pass);
        self.next_frame()
    }
}
