//! The rounds of a phase: of the wave from the goals, or of the wave out of obstacles.

use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::{chunk_len, chunks};
use crate::gpu::dispatches::Groups;
use crate::gpu::dispatches::{BoundKernel, Dispatch};
use crate::gpu::frame::Frame;
use crate::gpu::pool::BoundRange;
use crate::gpu::pool::Use;

use crate::flow::field::gpu::batch::FieldBatch;
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::RoundParams;
use crate::flow::field::gpu::strips::TileMethod;

/// The phase of the wave from the goals.
pub(crate) const GOAL_PHASE: usize = 0;
/// The phase of the wave out of obstacles.
pub(crate) const ESCAPE_PHASE: usize = 1;
/// The phase in which an update invalidates distances.
pub(crate) const INVALIDATION_PHASE: usize = 2;

/// The most rounds of one frame; even, so that every frame starts with the even queue.
pub(crate) const MAX_ROUNDS: u32 = 256;
/// The number of rounds between two checks whether all targets are reached.
const TARGET_CHECK_ROUNDS: u32 = 4;
/// Words of a slot: the workgroup counts x, y, z of a round's dispatch, and its number of active tiles.
const SLOT: usize = 4;

/// The rounds of one frame: the slots of the even rounds and of the odd ones.
#[derive(Debug)]
pub(crate) struct Rounds {
    counts: [Buffer<u32>; 2],
    round_count: u32,
}

/// What makes the first active tiles of a frame.
#[derive(Debug)]
pub(crate) enum Start<'a> {
    /// The goals of each field.
    Goals(&'a [Vec<u32>]),
    /// The obstacles: the wave out of them starts.
    Obstacles,
    /// What changed, of an update: indices of cells in the grid, ascending, and what happened to each (see
    /// `shaders/flow/field/seed_changes.wgsl`).
    Changes(&'a [[u32; 2]]),
    /// The tiles that are marked as changed: by the kernels of an update, or by the host.
    ChangedTiles,
    /// The active tiles that the last round of an earlier frame left.
    Resume(&'a Rounds),
}

impl Rounds {
    pub(crate) fn round_count(&self) -> u32 {
        self.round_count
    }
}

impl FieldBatch {
    /// Encodes `round_count` rounds, rounded up to an even number, after the `rounds_done` rounds of earlier frames.
    /// Then the tiles that are still active are counted.
    pub(crate) fn encode_rounds(
        &self,
        frame: &mut Frame,
        phase: usize,
        round_count: u32,
        rounds_done: u32,
        start: &Start<'_>,
    ) -> Result<Rounds> {
        let round_count = round_count.next_multiple_of(2).min(MAX_ROUNDS);
        let strip_count = self.layout.strips.cells.len();
        let slots = [round_count / 2 + 1, (round_count / 2).max(1)];
        let labels = [
            ["hullfield.flow.wave_even", "hullfield.flow.wave_odd"],
            ["hullfield.flow.escape_even", "hullfield.flow.escape_odd"],
            ["hullfield.flow.invalidate_even", "hullfield.flow.invalidate_odd"],
        ][phase];
        let mut make_slots = |parity: usize| {
            let len = slots[parity] as usize * strip_count * SLOT;
            let buffer = Buffer::with_use(&self.device.context, labels[parity], len, Use::Indirect)?;
            frame.upload(&buffer, 0, &[0, 1, 1, 0].repeat(len / SLOT))?;
            Ok(buffer)
        };
        let counts = [make_slots(0)?, make_slots(1)?];
        // The first slot of a round, in the buffer of its parity.
        let slot = |round: u32| round / 2 * strip_count as u32;
        // Seeding activates tiles as a round before the first one would.
        let seed_params = RoundParams { round: 1, slot: 0, next_slot: 0, phase: phase as u32 };
        let round_params = |round: u32| RoundParams {
            round: rounds_done + round,
            slot: slot(round),
            next_slot: slot(round + 1),
            phase: phase as u32,
        };
        let all_params: Vec<RoundParams> =
            std::iter::once(seed_params).chain((0..=round_count).map(round_params)).collect();
        let uniforms = frame.dynamic_uniforms("hullfield.flow.rounds", &all_params)?;
        let params = self.bind_params(frame, phase)?;

        match start {
            Start::Goals(goals) => self.encode_seeds(frame, &params, &uniforms, &counts[0], goals)?,
            Start::Obstacles => self.encode_escape_start(frame, &params, &uniforms, &counts[0])?,
            Start::Changes(changes) => {
                self.encode_changes(frame, &params, &uniforms, &counts[0], changes)?;
            }
            Start::ChangedTiles => self.encode_changed_tiles(frame, &params, &uniforms, &counts[0])?,
            Start::Resume(earlier) => {
                let first = earlier.round_count as usize / 2 * strip_count * SLOT;
                frame.copy(&earlier.counts[0], first..first + strip_count * SLOT, &counts[0], 0)?;
            }
        }
        self.encode_halo_copies(frame)?;

        let mut round_kernels = Vec::with_capacity(2 * strip_count);
        for strip in 0..strip_count {
            for parity in 0..2 {
                round_kernels.push(self.bind_round(
                    frame,
                    &params[strip],
                    &uniforms,
                    [phase, strip, parity],
                    &counts,
                )?);
            }
        }
        let target_checks =
            if phase == GOAL_PHASE { self.bind_target_checks(frame, &params)? } else { Vec::new() };
        let halos = self.bind_halos(frame)?;
        let mut dispatches = Vec::new();
        for round in 0..round_count {
            for strip in 0..strip_count {
                let parity = round as usize % 2;
                let word = (slot(round) as usize + strip) * SLOT;
                dispatches.push(Dispatch {
                    kernel: &round_kernels[2 * strip + parity],
                    uniform: Some(round as usize + 1),
                    groups: Groups::At(&counts[parity], word),
                });
            }
            if round % TARGET_CHECK_ROUNDS == TARGET_CHECK_ROUNDS - 1 || round + 1 == round_count {
                dispatches.extend(plain_dispatches(&target_checks));
            }
            if self.layout.method != TileMethod::BitWave {
                dispatches.extend(plain_dispatches(&halos));
            }
        }
        let count_active = [params[0].clone(), uniforms, counts[0].bind(), self.state.bind()];
        let count_active = frame.bind_kernel(&kernels::COUNT_ACTIVE, &count_active)?;
        let last = Some(round_count as usize + 1);
        dispatches.push(Dispatch { kernel: &count_active, uniform: last, groups: Groups::Count(1) });
        frame.dispatch_all("hullfield.flow.rounds", &dispatches)?;
        Ok(Rounds { counts, round_count })
    }

    /// The parameters of each strip, for a phase.
    pub(crate) fn bind_params(&self, frame: &mut Frame, phase: usize) -> Result<Vec<BoundRange>> {
        let phase_params =
            |params: &kernels::FlowParams| if phase == ESCAPE_PHASE { params.for_escape() } else { *params };
        self.layout.params.iter().map(|params| frame.uniform(&phase_params(params))).collect()
    }

    /// Binds the kernel of a round of a phase for one strip and one of the two queues.
    fn bind_round(
        &self,
        frame: &mut Frame,
        params: &BoundRange,
        uniforms: &BoundRange,
        [phase, strip, parity]: [usize; 3],
        counts: &[Buffer<u32>; 2],
    ) -> Result<BoundKernel> {
        let (params, uniforms) = (params.clone(), uniforms.clone());
        let distances = self.distances[strip].bind();
        let lists = [self.queue.bind(), counts[parity].bind(), counts[1 - parity].bind(), self.state.bind()];
        match (&self.planes, self.layout.method) {
            (Some(planes), _) => {
                let [planes_in, planes_out] = [planes[parity].bind(), planes[1 - parity].bind()];
                let bound = [&[params, uniforms, planes_in, planes_out, distances][..], &lists].concat();
                frame.bind_kernel(&kernels::WAVE, &bound)
            }
            (None, method) => {
                let (blocked, costs) = (self.device.blocked.bind(), self.device.costs[strip].bind());
                let bound = [&[params, uniforms, distances, blocked, costs][..], &lists].concat();
                let kernel = match method {
                    _ if phase == INVALIDATION_PHASE => &kernels::INVALIDATE,
                    TileMethod::Relax3d => &kernels::RELAX_3D,
                    _ => &kernels::RELAX_2D,
                };
                frame.bind_kernel(kernel, &bound)
            }
        }
    }

    /// Binds the kernels that check the targets, with their workgroup counts; none if the fields have no targets.
    fn bind_target_checks(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
    ) -> Result<Vec<(BoundKernel, u64)>> {
        let Some((targets, gathered)) = &self.targets else { return Ok(Vec::new()) };
        let mut dispatches = Vec::new();
        for (params, distances) in params.iter().zip(&self.distances) {
            let bound = [params.clone(), targets.bind(), distances.bind(), gathered.bind()];
            let group_count = kernels::GATHER_TARGETS.groups(gathered.len() as u64);
            dispatches.push((frame.bind_kernel(&kernels::GATHER_TARGETS, &bound)?, group_count));
        }
        let bound = [params[0].clone(), gathered.bind(), self.state.bind()];
        dispatches
            .push((frame.bind_kernel(&kernels::LIMIT_BY_TARGETS, &bound)?, self.layout.field_count as u64));
        Ok(dispatches)
    }

    /// Encodes the seeding of the goals, strip by strip.
    fn encode_seeds(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
        uniforms: &BoundRange,
        counts: &Buffer<u32>,
        goals: &[Vec<u32>],
    ) -> Result<()> {
        let context = &self.device.context;
        for (strip, cells) in self.layout.strips.cells.iter().enumerate() {
            let strip_goals = |(field, goals): (u32, &Vec<u32>)| {
                let first = goals.partition_point(|&goal| (goal as usize) < cells.start);
                let to = goals.partition_point(|&goal| (goal as usize) < cells.end);
                goals[first..to].iter().map(|&goal| [field, goal]).collect::<Vec<_>>()
            };
            let seeds: Vec<[u32; 2]> = (0..).zip(goals).flat_map(strip_goals).collect();
            if seeds.is_empty() {
                continue;
            }
            let buffer = Buffer::new(context, "hullfield.flow.goals", seeds.len())?;
            frame.upload(&buffer, 0, &seeds)?;
            for range in chunks(seeds.len(), chunk_len::<[u32; 2]>(context)) {
                let count = range.len() as u64;
                let mut bound = vec![params[strip].clone(), uniforms.clone(), buffer.bind_range(range)];
                bound.extend([self.distances[strip].bind(), self.queue.bind(), counts.bind()]);
                let kernel = match &self.planes {
                    Some(planes) => {
                        bound.extend(planes.iter().map(Buffer::bind));
                        &kernels::SEED_PLANES
                    }
                    None => &kernels::SEED,
                };
                let groups = Groups::Count(kernel.groups(count));
                let label = kernel.label;
                let kernel = frame.bind_kernel(kernel, &bound)?;
                frame.dispatch_all(label, &[Dispatch { kernel: &kernel, uniform: Some(0), groups }])?;
            }
        }
        Ok(())
    }

    /// Encodes the seeding of an update, strip by strip.
    fn encode_changes(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
        uniforms: &BoundRange,
        counts: &Buffer<u32>,
        changes: &[[u32; 2]],
    ) -> Result<()> {
        let context = &self.device.context;
        for (strip, cells) in self.layout.strips.cells.iter().enumerate() {
            let first = changes.partition_point(|&[cell, _]| (cell as usize) < cells.start);
            let to = changes.partition_point(|&[cell, _]| (cell as usize) < cells.end);
            if first == to {
                continue;
            }
            let buffer = Buffer::new(context, "hullfield.flow.changes", to - first)?;
            frame.upload(&buffer, 0, &changes[first..to])?;
            for range in chunks(to - first, chunk_len::<[u32; 2]>(context)) {
                let groups = Groups::Count(kernels::SEED_CHANGES.groups(range.len() as u64));
                let mut bound = vec![params[strip].clone(), uniforms.clone(), buffer.bind_range(range)];
                bound.extend([self.distances[strip].bind(), self.device.blocked.bind()]);
                bound.extend([self.queue.bind(), counts.bind()]);
                let kernel = frame.bind_kernel(&kernels::SEED_CHANGES, &bound)?;
                let dispatch = Dispatch { kernel: &kernel, uniform: Some(0), groups };
                frame.dispatch_all(kernels::SEED_CHANGES.label, &[dispatch])?;
            }
        }
        Ok(())
    }

    /// Encodes the start of an update's wave: changed tiles become active.
    fn encode_changed_tiles(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
        uniforms: &BoundRange,
        counts: &Buffer<u32>,
    ) -> Result<()> {
        let bound =
            [params[0].clone(), uniforms.clone(), self.queue.bind(), counts.bind(), self.state.bind()];
        let kernel = frame.bind_kernel(&kernels::ACTIVATE_CHANGED, &bound)?;
        let groups = Groups::Count(kernels::ACTIVATE_CHANGED.groups(self.layout.tile_count() as u64));
        let dispatch = Dispatch { kernel: &kernel, uniform: Some(0), groups };
        frame.dispatch_all(kernels::ACTIVATE_CHANGED.label, &[dispatch])
    }

    /// Encodes the start of the wave out of obstacles: tiles with obstacles become active.
    fn encode_escape_start(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
        uniforms: &BoundRange,
        counts: &Buffer<u32>,
    ) -> Result<()> {
        let blocked = self.device.blocked.bind();
        let ends = [self.queue.bind(), counts.bind(), self.state.bind()];
        if let Some(planes) = &self.planes {
            let words = self.layout.plane_words() as u64;
            for (strip, params) in params.iter().enumerate() {
                let begins =
                    [params.clone(), uniforms.clone(), blocked.clone(), self.distances[strip].bind()];
                let bound = [&begins[..], &[planes[0].bind(), planes[1].bind()], &ends].concat();
                let kernel = frame.bind_kernel(&kernels::ESCAPE_PLANES, &bound)?;
                let groups = Groups::Count(kernels::ESCAPE_PLANES.groups(words));
                let dispatch = Dispatch { kernel: &kernel, uniform: Some(0), groups };
                frame.dispatch_all(kernels::ESCAPE_PLANES.label, &[dispatch])?;
            }
            return Ok(());
        }
        let words = self.device.blocked.len() as u64 * self.layout.field_count as u64;
        let bound = [&[params[0].clone(), uniforms.clone(), blocked][..], &ends].concat();
        let kernel = frame.bind_kernel(&kernels::ESCAPE_TILES, &bound)?;
        let groups = Groups::Count(kernels::ESCAPE_TILES.groups(words));
        frame.dispatch_all(
            kernels::ESCAPE_TILES.label,
            &[Dispatch { kernel: &kernel, uniform: Some(0), groups }],
        )
    }

    /// Encodes copies of all halos.
    pub(crate) fn encode_halo_copies(&self, frame: &mut Frame) -> Result<()> {
        let halos = self.bind_halos(frame)?;
        if halos.is_empty() {
            Ok(())
        } else {
            frame.dispatch_all(kernels::HALO.label, &plain_dispatches(&halos))
        }
    }

    /// Binds the kernels that copy halos, one for each two neighbouring strips, with their workgroup counts. Buffer
    /// copies would end the compute pass, once per round.
    fn bind_halos(&self, frame: &mut Frame) -> Result<Vec<(BoundKernel, u64)>> {
        let strips = &self.layout.strips;
        let mut dispatches = Vec::new();
        for strip in 1..strips.cells.len() {
            let end = strips.halo + strips.cells[strip - 1].len();
            let piece = frame.uniform(&[strips.halo as u32, end as u32, 0, 0])?;
            let bound = [piece, self.distances[strip - 1].bind(), self.distances[strip].bind()];
            let group_count = kernels::HALO.groups(strips.halo as u64);
            dispatches.push((frame.bind_kernel(&kernels::HALO, &bound)?, group_count));
        }
        Ok(dispatches)
    }
}

/// Dispatches of kernels that need no uniform of their own.
fn plain_dispatches(bound: &[(BoundKernel, u64)]) -> Vec<Dispatch<'_>> {
    bound
        .iter()
        .map(|(kernel, count)| Dispatch { kernel, uniform: None, groups: Groups::Count(*count) })
        .collect()
}
