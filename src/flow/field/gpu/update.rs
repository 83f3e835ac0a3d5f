//! Updates a field on the device after its grid or its goals have changed.
//!
//! Ramalingam and Reps 1996 ("An Incremental Algorithm for a Generalization of the Shortest-Path Problem") in rounds over tiles. First
//! the distances that nothing supports any more are invalidated, from the changed cells on (`shaders/flow/field/invalidate.wgsl`).
//! What is left are lengths of real paths or more, and relaxing the changed tiles lowers them to the one fixed point. Codes are found
//! afresh, for all cells. Where there are too many changes or rounds, the field is solved afresh.

use std::sync::Arc;

use crate::error::Result;
use crate::flow::field::gpu::batch::FieldBatch;
use crate::flow::field::gpu::device_field::DeviceField;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{SolveJob, split_request};
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::ACTIVE_COUNT;
use crate::flow::field::gpu::rounds::{
    ESCAPE_PHASE, GOAL_PHASE, INVALIDATION_PHASE, MAX_ROUNDS, Rounds, Start,
};
use crate::flow::field::gpu::small;
use crate::flow::field::gpu::solve::{
    ESCAPE_ROUNDS, RunningBatch, SPARE_ROUNDS, kernels_of, only_field, solve,
};
use crate::flow::field::gpu::strips::TileMethod;
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{Field, FieldCells, FieldData};
use crate::flow::field::stats::CallTimer;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::change::changed_cells;
use crate::flow::grid::goals::Goals;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::readback::Results;
use crate::gpu::submit::Next;
use crate::pending::Pending;

/// Where the rounds of an update are kept for the next one (see `LastRounds`): those that invalidate, and those that relax.
const INVALIDATION_ROUNDS: usize = INVALIDATION_PHASE;
const RELAXATION_ROUNDS: usize = 3;

/// Rounds that are encoded for the first update, of either kind.
const FIRST_ROUNDS: u32 = 12;
/// Tiles for each changed cell: with more changes a fresh solve is quicker.
const TILES_PER_CHANGE: usize = 8;
/// Changes of a grid of few tiles.
const FEW_CHANGES: usize = 8;
/// Goals for each goal that is one no longer: the cells nearest to it lose their distances, of fewer goals too large a part.
const GOALS_PER_REMOVED: usize = 8;

/// What happened to a cell: see `shaders/flow/field/seed_changes.wgsl`.
const EDITED: u32 = 0;
const GOAL_REMOVED: u32 = 1;
const GOAL_ADDED: u32 = 2;

/// The kernels that an update over a grid needs; those of a fresh solve where it is one.
pub(crate) fn kernels_of_update(device: &DeviceGrid, grid: &Grid) -> Vec<&'static Kernel> {
    if small::is_small(device, grid, 0) {
        return kernels_of(device, grid, false);
    }
    let relax = match relaxation(device, grid) {
        TileMethod::Relax3d => &kernels::RELAX_3D,
        _ => &kernels::RELAX_2D,
    };
    let mut all = vec![&kernels::SEED_CHANGES, &kernels::INVALIDATE, &kernels::ACTIVATE_CHANGED, relax];
    all.extend([&kernels::COUNT_ACTIVE, &kernels::ESCAPE_TILES, &kernels::CODES, &kernels::RESET_OBSTACLES]);
    if device.strips.cells.len() > 1 {
        all.push(&kernels::HALO);
    }
    all
}

/// How an update lowers distances. They change at few tiles only, and relaxing needs no bit planes.
fn relaxation(device: &DeviceGrid, grid: &Grid) -> TileMethod {
    match device.tile_method(grid) {
        TileMethod::BitWave | TileMethod::Relax2d => TileMethod::Relax2d,
        TileMethod::Relax3d => TileMethod::Relax3d,
    }
}

/// Starts to update a field to a grid of the same shape and to these goals. The field must have no targets.
///
/// # Errors
/// Of the device.
pub(crate) fn update(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    field: &FieldData,
    goals: Goals,
    limits: FieldLimits,
) -> Result<Pending<Field>> {
    let FieldCells::Device(old) = &field.cells else {
        return solve(device, grid, goals, limits);
    };
    let method = relaxation(device, grid);
    let is_alike = old.context.is_same(&device.context)
        && old.strips.iter().map(|strip| &strip.cells).eq(&device.strips.cells)
        && !small::is_small(device, grid, 0);
    let [width, height, depth] = method.tile_size().map(|edge| edge as usize);
    let change_limit = grid.cell_count() / (width * height * depth * TILES_PER_CHANGE) + FEW_CHANGES;
    let changes = if is_alike { changes(field, grid, &goals, change_limit) } else { None };
    let Some(changes) = changes else {
        return solve(device, grid, goals, limits);
    };

    let request = (goals, limits);
    let (_, field_info) = split_request(request.clone());
    let job = SolveJob {
        device: device.clone(),
        grid: Arc::clone(grid),
        max_distance: request.1.max_distance,
        remaining: Vec::new().into_iter(),
        batch_len: 1,
        is_small: false,
        fields: Vec::new(),
        is_batch: false,
        timer: CallTimer::device(),
    };
    let mut frame = Frame::new(&device.context, "hullfield.flow.update")?;
    let batch = FieldBatch::new(&mut frame, &job, std::slice::from_ref(&field_info), method)?;
    batch.encode_old(&mut frame, old)?;
    let rounds = batch.encode_update(&mut frame, 0, &Start::Changes(&changes))?;
    let state = frame.read(&batch.state, 0..batch.state.len())?;
    let running = Box::new(RunningUpdate {
        invalidated: rounds.invalidated,
        rounds_done: 0,
        request,
        rest: RunningBatch {
            rounds_done: [
                rounds.relaxed.round_count(),
                rounds.escaped.as_ref().map_or(0, Rounds::round_count),
            ],
            job,
            batch,
            field_infos: vec![field_info],
            goal_rounds: rounds.relaxed,
            escape_rounds: rounds.escaped,
            state,
            recorded_as: [Some(RELAXATION_ROUNDS), None],
        },
    });
    frame.submit(move |results| running.on_results(&results))
}

/// What changed from the field's grid and goals to these: indices of cells, ascending, and what happened to each. `None` if there are
/// too many.
fn changes(old: &FieldData, grid: &Grid, goals: &Goals, limit: usize) -> Option<Vec<[u32; 2]>> {
    let old_goals = Goals::new(&old.grid, &old.request.goals).ok()?;
    let edited = changed_cells(&old.grid, grid, limit)?;
    let (removed, added) = (old_goals.without(goals), goals.without(&old_goals));
    if removed.len() * GOALS_PER_REMOVED > old_goals.cells.len() {
        return None;
    }
    let mut changes = Vec::with_capacity(edited.len() + removed.len() + added.len());
    for (cells, what) in [(edited, EDITED), (removed, GOAL_REMOVED), (added, GOAL_ADDED)] {
        changes.extend(cells.into_iter().map(|cell| [cell, what]));
    }
    changes.sort_unstable();
    (changes.len() <= limit).then_some(changes)
}

/// An update on its way.
#[derive(Debug)]
struct RunningUpdate {
    /// The rounds of the last frame that invalidate distances.
    invalidated: Rounds,
    /// Such rounds of the frames before.
    rounds_done: u32,
    /// What is solved afresh if there are too many rounds.
    request: (Goals, FieldLimits),
    /// What follows.
    rest: RunningBatch,
}

/// The rounds of one frame of an update.
struct UpdateRounds {
    invalidated: Rounds,
    relaxed: Rounds,
    escaped: Option<Rounds>,
}

impl RunningUpdate {
    /// Continues after a frame has run: with more rounds, with a fresh solve, or with what follows.
    fn on_results(mut self: Box<Self>, results: &Results) -> Result<Next<Field>> {
        let state = results.get(&self.rest.state)?.into_owned();
        self.rounds_done += self.invalidated.round_count();
        if state[ACTIVE_COUNT + INVALIDATION_PHASE] == 0 {
            let last_rounds = &self.rest.job.device.last_rounds;
            last_rounds.set(INVALIDATION_ROUNDS, state[INVALIDATION_PHASE]);
            return Box::new(self.rest).on_results(results, only_field);
        }
        let RunningBatch { job, batch, .. } = &mut self.rest;
        job.timer.add_frame(results.times().kernels_ms, results.times().compile_ms);
        // A fresh solve takes about as many rounds as there are tiles from side to side.
        let [x, y, z] = batch.layout.params[0].tiles;
        if self.rounds_done > (x + y + z).max(FIRST_ROUNDS) {
            let mut job = self.rest.job;
            job.remaining = vec![self.request].into_iter();
            return job.next_frame(only_field);
        }
        let mut frame = Frame::new(&job.device.context, "hullfield.flow.update")?;
        let rounds = batch.encode_update(&mut frame, self.rounds_done, &Start::Resume(&self.invalidated))?;
        self.rest.state = frame.read(&batch.state, 0..batch.state.len())?;
        self.rest.rounds_done =
            [rounds.relaxed.round_count(), rounds.escaped.as_ref().map_or(0, Rounds::round_count)];
        (self.rest.goal_rounds, self.rest.escape_rounds) = (rounds.relaxed, rounds.escaped);
        self.invalidated = rounds.invalidated;
        Ok(Next::frame(frame, move |results| self.on_results(&results)))
    }
}

impl FieldBatch {
    /// Encodes a copy of an old field's distances, and sets all tiles to inactive and unchanged.
    fn encode_old(&self, frame: &mut Frame, old: &DeviceField) -> Result<()> {
        frame.clear(&self.queue);
        let halo = self.layout.strips.halo;
        for (distances, strip) in self.distances.iter().zip(&old.strips) {
            let first = strip.first_distance - halo;
            frame.copy(&strip.distances, first..first + distances.len(), distances, 0)?;
        }
        Ok(())
    }

    /// Encodes the rounds that invalidate distances, and those that lower them again. What follows an unfinished phase does nothing,
    /// or is encoded again.
    fn encode_update(&self, frame: &mut Frame, rounds_done: u32, start: &Start<'_>) -> Result<UpdateRounds> {
        let last_rounds = &self.device.last_rounds;
        let estimate = |slot: usize| match last_rounds.get(slot) {
            0 => FIRST_ROUNDS,
            last => last + last / 8 + SPARE_ROUNDS,
        };
        // An unfinished phase needs many more.
        let first = if rounds_done == 0 { estimate(INVALIDATION_ROUNDS) } else { 2 * rounds_done };
        let invalidated =
            self.encode_rounds(frame, INVALIDATION_PHASE, first.min(MAX_ROUNDS), rounds_done, start)?;
        let count = estimate(RELAXATION_ROUNDS).min(MAX_ROUNDS);
        let relaxed = self.encode_rounds(frame, GOAL_PHASE, count, 0, &Start::ChangedTiles)?;
        let escape_rounds = ESCAPE_ROUNDS.max(last_rounds.get(ESCAPE_PHASE));
        let escaped = self.encode_finish(frame, escape_rounds, 0, &Start::Obstacles)?;
        Ok(UpdateRounds { invalidated, relaxed, escaped })
    }
}
