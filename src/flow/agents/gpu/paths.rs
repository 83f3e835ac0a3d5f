//! Agents that follow a field on the device.

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

/// Most steps of one agent in one dispatch: software drivers end a loop after some 65,000 turns.
const STEP_LIMIT: usize = 4096;
/// Most dispatches of one frame, a strip.
const ROUND_LIMIT: usize = 256;
/// Dispatches of the first frame of paths, a strip: how long they are is not known. Each frame after it has four times as
/// many.
const FIRST_ROUNDS: usize = 4;
/// Cells of paths that come back in one frame: 64 MiB.
const WINDOW_LEN: usize = 1 << 24;
/// Agents whose paths are measured together.
const MEASURED_LEN: usize = 1 << 22;

/// The next cells of a field on the device. Cloning it clones handles.
#[derive(Debug, Clone)]
pub(crate) struct DeviceNextCells {
    context: Context,
    strips: Vec<DeviceStrip>,
    strides: [[u32; 4]; 7],
    /// No path is longer: each step out of obstacles leads to another obstacle, each after it a level down at least, and to
    /// another cell.
    most_steps: usize,
}

/// What one dispatch does with the agents.
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
            most_steps: steps + grid.obstacle_count(),
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Steps of each agent that one dispatch may do in time.
    fn step_limit(&self, agent_count: usize) -> usize {
        let all = self.context.steps_per_dispatch() / agent_count.max(1) as u64;
        (all as usize).clamp(16, STEP_LIMIT)
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

    /// Moves the agents of a buffer on by so many steps.
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
        let step_count = step_count.min(self.most_steps);
        let is_one = self.strips.len() == 1;
        let stamp_count = if is_one { 1 } else { cells.len() };
        let stamps = Buffer::<u32>::new(context, "hullfield.flow.stamps", stamp_count)?;
        if !is_one {
            frame.clear(&stamps);
        }
        for agents in chunks(cells.len(), chunk_len::<u32>(context)) {
            let agent_count = agents.len();
            // From strip to strip each step is a round of its own.
            let limit = if is_one { self.step_limit(agent_count) } else { 1 };
            let held = cells.bind_range(agents.clone());
            let stamped = if is_one { stamps.bind() } else { stamps.bind_range(agents) };
            for (round, first) in (1..).zip((0..step_count).step_by(limit)) {
                let step_limit = limit.min(step_count - first);
                let stamp = if is_one { 0 } else { round };
                let plan = StepPlan { agent_count, step_limit, stamp, is_counted: false, window_len: 0 };
                for strip in &self.strips {
                    let params = frame.uniform(&self.params(strip, plan))?;
                    let bound = [params, strip.codes.bind(), held.clone(), stamped.clone()];
                    frame.dispatch(&STEP, &bound, STEP.groups(agent_count as u64))?;
                }
            }
        }
        Ok(())
    }

    /// Moves agents one step on, and goes on with where they are.
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
        let asked = Buffer::<u32>::new(context, "hullfield.flow.agents", cells.len())?;
        let found = Buffer::<u32>::new(context, "hullfield.flow.found", cells.len())?;
        frame.upload(&asked, 0, cells)?;
        for part in chunks(cells.len(), chunk_len::<u32>(context)) {
            let agent_count = part.len();
            let plan = StepPlan { agent_count, step_limit: 0, stamp: 0, is_counted: false, window_len: 0 };
            for strip in &self.strips {
                let params = frame.uniform(&self.params(strip, plan))?;
                let ends = [asked.bind_range(part.clone()), found.bind_range(part.clone())];
                let bound = [&[params, strip.distances.bind()][..], &ends].concat();
                frame.dispatch(&GATHER, &bound, GATHER.groups(agent_count as u64))?;
            }
        }
        read_all(frame, vec![(found, 0..cells.len())], timer, |rows, timer| {
            let stats = timer.stats(reached_count(&rows));
            Ok(Batch::new(rows, stats))
        })
    }

    /// The whole path of each agent: its steps are counted first, then there is room for its cells.
    ///
    /// # Errors
    /// Of the device; [`Error::MemoryLimit`] where the host has no room for so many cells.
    pub(crate) fn paths(self, starts: Vec<u32>) -> Result<Pending<Paths>> {
        let context = self.context.clone();
        let walk = PathJob {
            next_cells: self,
            starts,
            step_counts: Vec::new(),
            found: Paths::default(),
            timer: CallTimer::device(),
        };
        match walk.next()? {
            Next::Answer(found) => {
                Frame::new(&context, "hullfield.flow.none")?.submit(move |_| Ok(Next::Answer(found)))
            }
            Next::Frame(frame, then) => frame.submit(move |results| then.run(results)),
        }
    }
}

/// A call for paths, on its way.
struct PathJob {
    next_cells: DeviceNextCells,
    starts: Vec<u32>,
    /// Steps of each path, one fewer than cells.
    step_counts: Vec<u32>,
    found: Paths,
    timer: CallTimer,
}

/// One pass over some of the agents: counting or writing.
struct Pass {
    kernel: &'static Kernel,
    walkers: Buffer<Walker>,
    /// The distances, where steps are counted; where cells are written to.
    end: Option<Buffer<u32>>,
    pending: Buffer<u32>,
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
    fn next(mut self) -> Result<Next<Paths>> {
        let context = self.next_cells.context.clone();
        let measured_count = self.step_counts.len();
        let len = (self.starts.len() - measured_count).min(MEASURED_LEN).min(chunk_len::<Walker>(&context));
        if len > 0 {
            let walker = |&at: &u32| Walker { at, step_count: 0, slot: UNREACHABLE, left: 0 };
            let walkers: Vec<Walker> =
                self.starts[measured_count..measured_count + len].iter().map(walker).collect();
            return self.begin(&MEASURE, &walkers, None, FIRST_ROUNDS);
        }
        if self.found.offsets.is_empty() {
            let counts = self.step_counts.iter().map(|&count| count as usize);
            (self.found.offsets, self.found.cells) = path_offsets(counts)?;
        }
        let (from, offsets) = (self.found.cells.len(), &self.found.offsets);
        let fault = |message| Error::internal("flow::agents::gpu::paths::next", message);
        let all = *offsets.last().ok_or_else(|| fault("the list of offsets is empty"))?;
        let window_len = (all - from).min(WINDOW_LEN).min(chunk_len::<u32>(&context));
        if window_len == 0 {
            self.found.stats = self.timer.stats(reached_count(&self.found.lengths));
            return Ok(Next::Answer(self.found));
        }
        // The paths that have cells there: some may begin before it, or end behind.
        let first = offsets.partition_point(|&offset| offset <= from) - 1;
        let behind = offsets.partition_point(|&offset| offset < from + window_len).min(self.starts.len());
        let behind = behind.min(first + chunk_len::<Walker>(&context));
        let window_len = window_len.min(offsets[behind] - from);
        let walker = |row: usize| Walker {
            at: self.starts[row],
            step_count: 0,
            slot: (offsets[row] as u32).wrapping_sub(from as u32),
            left: self.step_counts[row] + 1,
        };
        let walkers: Vec<Walker> = (first..behind).map(walker).collect();
        let longest = walkers.iter().map(|walker| walker.left as usize).max();
        let longest = longest.ok_or_else(|| fault("cells are left to be written, but no path has them"))?;
        let round_count = longest.div_ceil(self.next_cells.step_limit(walkers.len()));
        let cells = Buffer::new(&context, "hullfield.flow.path_cells", window_len)?;
        self.begin(&TRACE, &walkers, Some(cells), round_count)
    }

    fn begin(
        self,
        kernel: &'static Kernel,
        walkers: &[Walker],
        end: Option<Buffer<u32>>,
        round_count: usize,
    ) -> Result<Next<Paths>> {
        let context = &self.next_cells.context;
        let mut frame = Frame::new(context, "hullfield.flow.paths")?;
        let held = Buffer::new(context, "hullfield.flow.walkers", walkers.len())?;
        frame.upload(&held, 0, walkers)?;
        let pending = Buffer::new(context, "hullfield.flow.pending", 1)?;
        self.encode_rounds(frame, kernel, held, end, pending, round_count)
    }

    /// Encodes rounds, and what comes back after them.
    fn encode_rounds(
        self,
        mut frame: Frame,
        kernel: &'static Kernel,
        walkers: Buffer<Walker>,
        end: Option<Buffer<u32>>,
        pending: Buffer<u32>,
        round_count: usize,
    ) -> Result<Next<Paths>> {
        let round_count = round_count.clamp(1, ROUND_LIMIT);
        frame.clear(&pending);
        let plan = StepPlan {
            agent_count: walkers.len(),
            step_limit: self.next_cells.step_limit(walkers.len()),
            stamp: 0,
            is_counted: false,
            window_len: end.as_ref().map_or(0, Buffer::len),
        };
        // Of the last round it is counted who is not there yet.
        let mut bound = Vec::new();
        for strip in &self.next_cells.strips {
            let end = end.as_ref().unwrap_or(&strip.distances);
            let ends = [strip.codes.bind(), walkers.bind(), pending.bind(), end.bind()];
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
        let count = frame.read(&pending, 0..1)?;
        let result = match &end {
            None => Readback::Measured(frame.read(&walkers, 0..walkers.len())?),
            Some(cells) => Readback::Traced(frame.read(cells, 0..cells.len())?),
        };
        let pass = Pass { kernel, walkers, end, pending, round_count, count, result };
        Ok(Next::frame(frame, move |results| self.landed(pass, &results)))
    }

    /// Continues when a frame has ended.
    fn landed(mut self, pass: Pass, results: &Results) -> Result<Next<Paths>> {
        self.timer.add_frame(results.times().kernels_ms, results.times().compile_ms);
        if results.first(&pass.count)? != 0 {
            let frame = Frame::new(&self.next_cells.context, "hullfield.flow.paths")?;
            let Pass { kernel, walkers, end, pending, round_count, .. } = pass;
            return self.encode_rounds(frame, kernel, walkers, end, pending, 4 * round_count);
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
        self.next()
    }
}
