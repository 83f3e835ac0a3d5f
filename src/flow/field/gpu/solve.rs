//! Solves a field or many, from goals to the answer.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::flow::field::gpu::batch::{FieldBatch, QUEUE_ARRAYS};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, SolveJob, field_state, split_request};
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::{ACTIVE_COUNT, FIELD_WORDS, HEADER};
use crate::flow::field::gpu::rounds::{ESCAPE_PHASE, GOAL_PHASE, MAX_ROUNDS, Rounds, Start};
use crate::flow::field::gpu::small;
use crate::flow::field::gpu::strips::{Layout, TileMethod};
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{Field, timed_batch};
use crate::flow::field::stats::{Batch, CallTimer};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::gpu::buffer::chunk_len;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::{Pending, WasmNotSend};

/// Rounds encoded for a field beyond those that the last one took.
pub(crate) const SPARE_ROUNDS: u32 = 4;
/// Rounds of the wave out of obstacles that are encoded for the first field.
pub(crate) const ESCAPE_ROUNDS: u32 = 6;
/// The cost of finding the code of a cell in steps (see `Context::pieces`), per move.
const MOVE_STEPS: u64 = 2;

/// Turns the fields of a call into its answer.
pub(crate) type MakeAnswer<T> = fn(Batch<Field>) -> Result<T>;

/// A batch of fields on its way.
#[derive(Debug)]
pub(crate) struct RunningBatch {
    pub(crate) job: SolveJob,
    pub(crate) batch: FieldBatch,
    pub(crate) field_infos: Vec<FieldInfo>,
    /// The rounds encoded so far in each phase.
    pub(crate) rounds_done: [u32; 2],
    pub(crate) goal_rounds: Rounds,
    pub(crate) escape_rounds: Option<Rounds>,
    pub(crate) state: Read<u32>,
    /// Where the number of rounds is kept for the next field; none for the wave out of obstacles of an update, whose tiles may differ.
    pub(crate) recorded_as: [Option<usize>; 2],
}

/// Starts to solve a field.
///
/// # Errors
/// Of the device.
pub(crate) fn solve(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    goals: Goals,
    limits: FieldLimits,
) -> Result<Pending<Field>> {
    start(device, grid, vec![(goals, limits)], false, only_field)
}

/// The answer of a call for one field.
pub(crate) fn only_field(fields: Batch<Field>) -> Result<Field> {
    let none = || {
        Error::internal("flow::field::gpu::solve::only_field", "a call for one field ended without a field")
    };
    fields.rows.into_iter().next().ok_or_else(none)
}

/// Starts to solve a field for each request; the largest distance is that of the first request.
///
/// # Errors
/// Of the device.
pub(crate) fn solve_batch(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    requests: Vec<(Goals, FieldLimits)>,
) -> Result<Pending<Batch<Field>>> {
    start(device, grid, requests, true, Ok)
}

fn start<T: WasmNotSend + 'static>(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    requests: Vec<(Goals, FieldLimits)>,
    is_batch: bool,
    answer: MakeAnswer<T>,
) -> Result<Pending<T>> {
    let target_count = requests.iter().map(|(_, limits)| limits.targets.len()).max().unwrap_or(0);
    let is_small = small::is_small(device, grid, target_count);
    let batch_len =
        if is_small { small::batch_len(device, grid) } else { batch_len(device, grid, target_count) };
    let job = SolveJob {
        device: device.clone(),
        grid: Arc::clone(grid),
        max_distance: requests.first().and_then(|(_, limits)| limits.max_distance),
        remaining: requests.into_iter(),
        batch_len,
        is_small,
        fields: Vec::new(),
        is_batch,
        timer: CallTimer::device(),
    };
    job.next_frame(answer)?.start()
}

/// The kernels that fields over a grid may need, after edits too: those of fields with targets, or of all others.
pub(crate) fn kernels_of(device: &DeviceGrid, grid: &Grid, has_targets: bool) -> Vec<&'static Kernel> {
    if !has_targets && small::is_small(device, grid, 0) {
        return vec![&kernels::SMALL];
    }
    let mut all = vec![&kernels::FILL, &kernels::COUNT_ACTIVE, &kernels::CODES, &kernels::RESET_OBSTACLES];
    all.extend(match device.tile_method(grid) {
        TileMethod::BitWave => {
            vec![&kernels::INIT_PLANES, &kernels::SEED_PLANES, &kernels::WAVE, &kernels::ESCAPE_PLANES]
        }
        TileMethod::Relax2d => vec![&kernels::SEED, &kernels::RELAX_2D, &kernels::ESCAPE_TILES],
        TileMethod::Relax3d => vec![&kernels::SEED, &kernels::RELAX_3D, &kernels::ESCAPE_TILES],
    });
    if device.strips.cells.len() > 1 {
        all.push(&kernels::HALO);
    }
    if has_targets {
        all.extend([&kernels::GATHER_TARGETS, &kernels::LIMIT_BY_TARGETS, &kernels::APPLY_LIMIT]);
    }
    all
}

/// How many fields fit into one binding together, with the numbers of their tiles.
fn batch_len(device: &DeviceGrid, grid: &Grid, target_count: usize) -> usize {
    let context = &device.context;
    if device.strips.cells.len() > 1 {
        return 1;
    }
    let one = Layout::new(grid, &device.strips, device.tile_method(grid), 1, target_count);
    let max_len = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
    let plane_words = if one.method == TileMethod::BitWave { 2 * one.plane_words() } else { 0 };
    let largest = one
        .field_pitch
        .max(plane_words)
        .max(QUEUE_ARRAYS * one.tile_count())
        .max(target_count)
        .max(FIELD_WORDS);
    (max_len.saturating_sub(HEADER) / largest).max(1)
}

impl SolveJob {
    /// The first frame of the next batch, or the answer.
    pub(crate) fn next_frame<T: WasmNotSend + 'static>(mut self, answer: MakeAnswer<T>) -> Result<Next<T>> {
        let batch_len = if self.is_small {
            small::fitting_count(&self.device, self.remaining.as_slice(), self.batch_len)
        } else {
            self.batch_len
        };
        let requests: Vec<(Goals, FieldLimits)> = self.remaining.by_ref().take(batch_len).collect();
        if requests.is_empty() {
            return Ok(Next::Answer(answer(timed_batch(self.fields, &self.timer))?));
        }
        if self.is_small {
            let (frame, running) = small::start_batch(self, requests)?;
            return Ok(Next::frame(frame, move |results| running.on_results(&results)?.next_frame(answer)));
        }
        let (cells, field_infos): (Vec<Vec<u32>>, Vec<FieldInfo>) =
            requests.into_iter().map(split_request).unzip();
        let mut frame = Frame::new(&self.device.context, "hullfield.flow.field")?;
        let method = self.device.tile_method(&self.grid);
        let batch = FieldBatch::new(&mut frame, &self, &field_infos, method)?;
        batch.encode_clear(&mut frame)?;
        let wave_round_count = self.first_rounds(&batch.layout);
        let goal_rounds =
            batch.encode_rounds(&mut frame, GOAL_PHASE, wave_round_count, 0, &Start::Goals(&cells))?;
        let escape_round_count = match self.device.last_rounds.get(ESCAPE_PHASE) {
            0 => ESCAPE_ROUNDS,
            last => last + SPARE_ROUNDS,
        };
        let escape_rounds = batch.encode_finish(&mut frame, escape_round_count, 0, &Start::Obstacles)?;
        let state = frame.read(&batch.state, 0..batch.state.len())?;
        let rounds_done = [goal_rounds.round_count(), escape_rounds.as_ref().map_or(0, Rounds::round_count)];
        let running = Box::new(RunningBatch {
            job: self,
            batch,
            field_infos,
            rounds_done,
            goal_rounds,
            escape_rounds,
            state,
            recorded_as: [Some(GOAL_PHASE), Some(ESCAPE_PHASE)],
        });
        Ok(Next::frame(frame, move |results| running.on_results(&results, answer)))
    }

    /// An estimate of the rounds that a field takes, by the last field or by the size of the grid. A wrong estimate
    /// costs time only.
    fn first_rounds(&self, layout: &Layout) -> u32 {
        let estimate = match self.device.last_rounds.get(GOAL_PHASE) {
            0 => {
                let [x, y, z] = layout.params[0].tiles;
                2 * (x + y + z) + 2 * SPARE_ROUNDS
            }
            last => last + last / 8 + SPARE_ROUNDS,
        };
        // A wave that stops at a distance takes no more rounds than its levels need, and one to notice.
        let max_rounds = match self.max_distance {
            Some(limit) if layout.method == TileMethod::BitWave => limit.div_ceil(32).saturating_add(2),
            _ => MAX_ROUNDS,
        };
        estimate.min(max_rounds).min(MAX_ROUNDS)
    }
}

impl RunningBatch {
    /// Continues after a frame has run: with more rounds, or with the answer and the next batch.
    pub(crate) fn on_results<T: WasmNotSend + 'static>(
        mut self: Box<Self>,
        results: &Results,
        answer: MakeAnswer<T>,
    ) -> Result<Next<T>> {
        let state = results.get(&self.state)?.into_owned();
        self.job.timer.add_frame(results.times().kernels_ms, results.times().compile_ms);
        let context = self.job.device.context.clone();
        if state[ACTIVE_COUNT + GOAL_PHASE] == 0 && state[ACTIVE_COUNT + ESCAPE_PHASE] == 0 {
            return self.answer(&state, answer);
        }
        let mut frame = Frame::new(&context, "hullfield.flow.field")?;
        let Self { batch, rounds_done, goal_rounds, escape_rounds, .. } = &mut *self;
        if state[ACTIVE_COUNT + GOAL_PHASE] != 0 {
            *goal_rounds = batch.encode_rounds(
                &mut frame,
                GOAL_PHASE,
                MAX_ROUNDS,
                rounds_done[GOAL_PHASE],
                &Start::Resume(goal_rounds),
            )?;
            rounds_done[GOAL_PHASE] += goal_rounds.round_count();
            // The wave out of obstacles that was encoded before did nothing, because this one was not finished.
            *escape_rounds = batch.encode_finish(&mut frame, ESCAPE_ROUNDS, 0, &Start::Obstacles)?;
            rounds_done[ESCAPE_PHASE] = escape_rounds.as_ref().map_or(0, Rounds::round_count);
        } else if let Some(earlier) = escape_rounds {
            let more = batch.encode_finish(
                &mut frame,
                MAX_ROUNDS,
                rounds_done[ESCAPE_PHASE],
                &Start::Resume(earlier),
            )?;
            rounds_done[ESCAPE_PHASE] += more.as_ref().map_or(0, Rounds::round_count);
            *escape_rounds = more;
        }
        self.state = frame.read(&self.batch.state, 0..self.batch.state.len())?;
        Ok(Next::frame(frame, move |results| self.on_results(&results, answer)))
    }

    /// Adds the fields of this batch to the job, and starts the next batch.
    fn answer<T: WasmNotSend + 'static>(
        self: Box<Self>,
        state: &[u32],
        answer: MakeAnswer<T>,
    ) -> Result<Next<T>> {
        let Self { mut job, batch, field_infos, recorded_as, .. } = *self;
        for (phase, slot) in recorded_as.into_iter().enumerate() {
            if let Some(slot) = slot {
                job.device.last_rounds.set(slot, state[phase]);
            }
        }
        for (field, info) in field_infos.into_iter().enumerate() {
            job.add_field(&field_state(state, field), state[GOAL_PHASE], info, batch.field(field))?;
        }
        drop(batch);
        job.next_frame(answer)
    }
}

impl FieldBatch {
    /// Encodes what follows the wave from the goals: the limit by the targets, the wave out of obstacles, and the
    /// codes. Its kernels do nothing while an earlier wave is not finished.
    pub(crate) fn encode_finish(
        &self,
        frame: &mut Frame,
        escape_round_count: u32,
        rounds_done: u32,
        start: &Start<'_>,
    ) -> Result<Option<Rounds>> {
        let params = self.bind_params(frame, GOAL_PHASE)?;
        if self.targets.is_some() && rounds_done == 0 {
            for (params, distances) in params.iter().zip(&self.distances) {
                let groups = kernels::APPLY_LIMIT.groups(distances.len() as u64);
                frame.dispatch(
                    &kernels::APPLY_LIMIT,
                    &[params.clone(), distances.bind(), self.state.bind()],
                    groups,
                )?;
            }
        }
        let escape_rounds = if self.has_obstacles {
            Some(self.encode_rounds(frame, ESCAPE_PHASE, escape_round_count, rounds_done, start)?)
        } else {
            None
        };
        self.encode_halo_copies(frame)?;
        for (strip, params) in params.iter().enumerate() {
            let (distances, blocked) = (self.distances[strip].bind(), self.device.blocked.bind());
            let costs = self.device.costs[strip].bind();
            let codes = [costs, self.codes[strip].bind(), self.state.bind()];
            let bound = [&[params.clone()][..], &[distances, blocked], &codes].concat();
            let steps = 4 * MOVE_STEPS * u64::from(self.layout.params[strip].move_count);
            self.encode_in_pieces(frame, &kernels::CODES, &bound, self.codes[strip].len(), steps)?;
        }
        if self.has_obstacles {
            for (strip, params) in params.iter().enumerate() {
                let distances = self.distances[strip].bind();
                let bound = [params.clone(), distances, self.device.blocked.bind(), self.state.bind()];
                let cells = self.layout.distances_len(strip) - 2 * self.layout.strips.halo;
                self.encode_in_pieces(frame, &kernels::RESET_OBSTACLES, &bound, cells, 1)?;
            }
        }
        Ok(escape_rounds)
    }

    /// Encodes a kernel over items, in pieces small enough for one dispatch. The piece is the second binding; `bound`
    /// has the others.
    fn encode_in_pieces(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        bound: &[BoundRange],
        items: usize,
        steps: u64,
    ) -> Result<()> {
        for piece in self.device.context.pieces(items as u64, steps, kernel.workgroup_size.into()) {
            let mut bound = bound.to_vec();
            bound.insert(1, frame.uniform(&[piece.start as u32, piece.end as u32, 0, 0])?);
            frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
        }
        Ok(())
    }
}
