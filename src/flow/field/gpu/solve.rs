//! A field or a batch, from its goals to the answer.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, Job, field_state, split};
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::{FIELD_WORDS, HEADER, PENDING};
use crate::flow::field::gpu::rounds::{Begin, EXIT, ROUND_LIMIT, Rounds, WAVE};
use crate::flow::field::gpu::small;
use crate::flow::field::gpu::strips::{Kind, Layout};
use crate::flow::field::gpu::work::Work;
use crate::flow::field::options::Reach;
use crate::flow::field::solved::{Field, batch};
use crate::flow::field::stats::{Batch, Stopwatch};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::gpu::buffer::chunk_len;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::{Pending, WasmNotSend};

/// Rounds more than the last field took that are encoded for the next one.
const SPARE_ROUNDS: u32 = 4;
/// Rounds out of obstacles that are encoded at first.
const EXIT_ROUNDS: u32 = 6;
/// Steps that a cell is reckoned at where its code is found (see `Context::pieces`), a move.
const MOVE_STEPS: u64 = 2;

/// What the fields of a job are made to.
type Answer<T> = fn(Batch<Field>) -> Result<T>;

/// A batch that is under way.
#[derive(Debug)]
struct Run {
    job: Job,
    work: Work,
    goals: Vec<FieldInfo>,
    /// Rounds encoded so far, of each phase.
    rounds_done: [u32; 2],
    wave: Rounds,
    exit: Option<Rounds>,
    state: Read<u32>,
}

/// Starts to solve a field.
///
/// # Errors
/// Of the device.
pub(crate) fn solve(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    goals: Goals,
    reach: Reach,
) -> Result<Pending<Field>> {
    start(device, grid, vec![(goals, reach)], false, |fields| {
        let none =
            || Error::internal("flow::field::gpu::solve::solve", "a job of one field ended without it");
        fields.rows.into_iter().next().ok_or_else(none)
    })
}

/// Starts to solve a field for each of these goals over one grid; the largest distance is that of the first.
///
/// # Errors
/// Of the device.
pub(crate) fn solve_batch(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    asked: Vec<(Goals, Reach)>,
) -> Result<Pending<Batch<Field>>> {
    start(device, grid, asked, true, Ok)
}

fn start<T: WasmNotSend + 'static>(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    asked: Vec<(Goals, Reach)>,
    is_batch: bool,
    answer: Answer<T>,
) -> Result<Pending<T>> {
    let until_count = asked.iter().map(|(_, reach)| reach.until.len()).max().unwrap_or(0);
    let is_small = small::is_small(device, grid, until_count);
    let batch_len =
        if is_small { small::batch_len(device, grid) } else { batch_len(device, grid, until_count) };
    let job = Job {
        device: device.clone(),
        grid: Arc::clone(grid),
        max_distance: asked.first().and_then(|(_, reach)| reach.max_distance),
        waiting: asked.into_iter(),
        batch_len,
        is_small,
        fields: Vec::new(),
        is_batch,
        watch: Stopwatch::device(),
    };
    let context = device.context.clone();
    match job.begin(answer)? {
        Next::Answer(answer) => {
            Frame::new(&context, "hullfield.flow.none")?.submit(move |_| Ok(Next::Answer(answer)))
        }
        Next::Frame(frame, then) => frame.submit(move |results| then.run(results)),
    }
}

/// The kernels that fields over a grid may need, after edits too; those of fields that may end early, or of all others.
pub(crate) fn kernels_of(device: &DeviceGrid, grid: &Grid, has_until: bool) -> Vec<&'static Kernel> {
    if !has_until && small::is_small(device, grid, 0) {
        return vec![&kernels::SMALL];
    }
    let mut all = vec![&kernels::FILL, &kernels::GATE, &kernels::CODES, &kernels::RESET];
    all.extend(match device.kind(grid) {
        Kind::Wave => vec![&kernels::PLANES, &kernels::SEED_PLANES, &kernels::WAVE, &kernels::EXIT_PLANES],
        Kind::Flat => vec![&kernels::SEED, &kernels::RELAX_FLAT, &kernels::EXIT_TILES],
        Kind::Solid => vec![&kernels::SEED, &kernels::RELAX_SOLID, &kernels::EXIT_TILES],
    });
    if device.strips.cells.len() > 1 {
        all.push(&kernels::HALO);
    }
    if has_until {
        all.extend([&kernels::UNTIL, &kernels::SETTLE, &kernels::CUT]);
    }
    all
}

/// How many fields fit into one binding together, and their tiles under one index.
fn batch_len(device: &DeviceGrid, grid: &Grid, until_count: usize) -> usize {
    let context = &device.context;
    if device.strips.cells.len() > 1 {
        return 1;
    }
    let one = Layout::new(grid, &device.strips, device.kind(grid), 1, until_count);
    let most = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
    let plane_words = if one.kind == Kind::Wave { 2 * one.plane_words() } else { 0 };
    let largest =
        one.field_pitch.max(plane_words).max(4 * one.tile_count()).max(until_count).max(FIELD_WORDS);
    (most.saturating_sub(HEADER) / largest).max(1)
}

impl Job {
    /// The first frame of the next batch, or the answer.
    fn begin<T: WasmNotSend + 'static>(mut self, answer: Answer<T>) -> Result<Next<T>> {
        let batch_len = if self.is_small {
            small::fitting(&self.device, self.waiting.as_slice(), self.batch_len)
        } else {
            self.batch_len
        };
        let taken: Vec<(Goals, Reach)> = self.waiting.by_ref().take(batch_len).collect();
        if taken.is_empty() {
            return Ok(Next::Answer(answer(batch(self.fields, &self.watch))?));
        }
        if self.is_small {
            let (frame, run) = small::begin(self, taken)?;
            return Ok(Next::frame(frame, move |results| run.landed(&results)?.begin(answer)));
        }
        let (cells, goals): (Vec<Vec<u32>>, Vec<FieldInfo>) = taken.into_iter().map(split).unzip();
        let mut frame = Frame::new(&self.device.context, "hullfield.flow.field")?;
        let work = Work::new(&mut frame, &self, &goals)?;
        work.clear(&mut frame)?;
        let wave_count = self.first_rounds(&work.layout);
        let wave = work.rounds(&mut frame, WAVE, wave_count, 0, &Begin::Goals(&cells))?;
        let exit_count = match self.device.guess.get(EXIT) {
            0 => EXIT_ROUNDS,
            last => last + SPARE_ROUNDS,
        };
        let exit = work.finish(&mut frame, exit_count, 0, &Begin::Exits)?;
        let state = frame.read(&work.state, 0..work.state.len())?;
        let rounds_done = [wave.round_count(), exit.as_ref().map_or(0, Rounds::round_count)];
        let run = Box::new(Run { job: self, work, goals, rounds_done, wave, exit, state });
        Ok(Next::frame(frame, move |results| run.landed(&results, answer)))
    }

    /// Rounds that a field may take, by the last one or by the size of the grid; it is no harm to be wrong.
    fn first_rounds(&self, layout: &Layout) -> u32 {
        let guess = match self.device.guess.get(WAVE) {
            0 => {
                let [x, y, z] = layout.params[0].tiles;
                2 * (x + y + z) + 2 * SPARE_ROUNDS
            }
            last => last + last / 8 + SPARE_ROUNDS,
        };
        // A wave that ends at a distance takes no more rounds than there are levels, and one to notice.
        let most = match self.max_distance {
            Some(limit) if layout.kind == Kind::Wave => limit.div_ceil(32).saturating_add(2),
            _ => ROUND_LIMIT,
        };
        guess.min(most).min(ROUND_LIMIT)
    }
}

impl Run {
    /// Goes on where a frame has ended: more rounds, or the answer and the next batch.
    fn landed<T: WasmNotSend + 'static>(
        mut self: Box<Self>,
        results: &Results,
        answer: Answer<T>,
    ) -> Result<Next<T>> {
        let state = results.get(&self.state)?.into_owned();
        self.job.watch.add(results.times().kernels_ms, results.times().compile_ms);
        let context = self.job.device.context.clone();
        if state[PENDING + WAVE] == 0 && state[PENDING + EXIT] == 0 {
            return self.answer(&state, answer);
        }
        let mut frame = Frame::new(&context, "hullfield.flow.field")?;
        let Self { work, rounds_done, wave, exit, .. } = &mut *self;
        if state[PENDING + WAVE] != 0 {
            *wave = work.rounds(&mut frame, WAVE, ROUND_LIMIT, rounds_done[WAVE], &Begin::Rest(wave))?;
            rounds_done[WAVE] += wave.round_count();
            // The one that was encoded before did nothing.
            *exit = work.finish(&mut frame, EXIT_ROUNDS, 0, &Begin::Exits)?;
            rounds_done[EXIT] = exit.as_ref().map_or(0, Rounds::round_count);
        } else if let Some(rest) = exit {
            let more = work.finish(&mut frame, ROUND_LIMIT, rounds_done[EXIT], &Begin::Rest(rest))?;
            rounds_done[EXIT] += more.as_ref().map_or(0, Rounds::round_count);
            *exit = more;
        }
        self.state = frame.read(&self.work.state, 0..self.work.state.len())?;
        Ok(Next::frame(frame, move |results| self.landed(&results, answer)))
    }

    /// The fields of this batch, and the next one.
    fn answer<T: WasmNotSend + 'static>(
        self: Box<Self>,
        state: &[u32],
        answer: Answer<T>,
    ) -> Result<Next<T>> {
        let Self { mut job, work, goals, .. } = *self;
        job.device.guess.set(WAVE, state[WAVE]);
        job.device.guess.set(EXIT, state[EXIT]);
        for (field, goals) in goals.into_iter().enumerate() {
            job.take(&field_state(state, field), state[WAVE], goals, work.field(field))?;
        }
        drop(work);
        job.begin(answer)
    }
}

impl Work {
    /// What comes after the wave from the goals: the limit by the cells that are enough, the way out of obstacles, and the codes. All
    /// of it does nothing where a wave before it is not finished.
    fn finish(
        &self,
        frame: &mut Frame,
        exit_count: u32,
        rounds_done: u32,
        begin: &Begin<'_>,
    ) -> Result<Option<Rounds>> {
        let params = self.bind_params(frame, WAVE)?;
        if self.until.is_some() && rounds_done == 0 {
            for (params, distances) in params.iter().zip(&self.distances) {
                let groups = kernels::CUT.groups(distances.len() as u64);
                frame.dispatch(
                    &kernels::CUT,
                    &[params.clone(), distances.bind(), self.state.bind()],
                    groups,
                )?;
            }
        }
        let exit = if self.has_obstacles {
            Some(self.rounds(frame, EXIT, exit_count, rounds_done, begin)?)
        } else {
            None
        };
        self.copy_halos(frame)?;
        for (strip, params) in params.iter().enumerate() {
            let (distances, blocked) = (self.distances[strip].bind(), self.device.blocked.bind());
            let costs = self.device.costs[strip].bind();
            let codes = [costs, self.codes[strip].bind(), self.state.bind()];
            let bound = [&[params.clone()][..], &[distances, blocked], &codes].concat();
            let steps = 4 * MOVE_STEPS * u64::from(self.layout.params[strip].move_count);
            self.in_pieces(frame, &kernels::CODES, &bound, self.codes[strip].len(), steps)?;
        }
        if self.has_obstacles {
            for (strip, params) in params.iter().enumerate() {
                let distances = self.distances[strip].bind();
                let bound = [params.clone(), distances, self.device.blocked.bind(), self.state.bind()];
                let cells = self.layout.distances_len(strip) - 2 * self.layout.strips.halo;
                self.in_pieces(frame, &kernels::RESET, &bound, cells, 1)?;
            }
        }
        Ok(exit)
    }

    /// Runs a kernel over items in pieces that one dispatch may do; `bound` lacks the piece, which is its second binding.
    fn in_pieces(
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
