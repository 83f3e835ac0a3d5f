//! The rounds of a phase: the wave from the goals, or that out of obstacles.

use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::{chunk_len, chunks};
use crate::gpu::dispatches::Groups;
use crate::gpu::dispatches::{BoundKernel, Dispatch};
use crate::gpu::frame::Frame;
use crate::gpu::pool::BoundRange;
use crate::gpu::pool::Use;

use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::RoundParams;
use crate::flow::field::gpu::strips::Kind;
use crate::flow::field::gpu::work::Work;

/// The wave from the goals.
pub(crate) const WAVE: usize = 0;
/// The wave out of obstacles.
pub(crate) const EXIT: usize = 1;

/// Most rounds of one frame: an even number, so that every frame begins with the even queue.
pub(crate) const ROUND_LIMIT: u32 = 256;
/// Rounds after which it is looked whether all cells are reached that a field need only reach.
const UNTIL_ROUNDS: u32 = 4;
/// Words of one slot: the groups x, y, z of a round's dispatch, and how many tiles there are.
const SLOT: usize = 4;

/// The rounds of one frame: how many tiles each had, of the even ones and of the odd ones.
#[derive(Debug)]
pub(crate) struct Rounds {
    counts: [Buffer<u32>; 2],
    round_count: u32,
}

/// What the first round of a frame works through.
#[derive(Debug)]
pub(crate) enum Begin<'a> {
    /// The goals of each field.
    Goals(&'a [Vec<u32>]),
    /// The obstacles.
    Exits,
    /// What the last round of an earlier frame left.
    Rest(&'a Rounds),
}

impl Rounds {
    pub(crate) fn round_count(&self) -> u32 {
        self.round_count
    }
}

impl Work {
    /// Encodes rounds, as many as said (made even), after the `done` rounds of earlier frames; then what is left is counted.
    pub(crate) fn rounds(
        &self,
        frame: &mut Frame,
        phase: usize,
        round_count: u32,
        done: u32,
        begin: &Begin<'_>,
    ) -> Result<Rounds> {
        let round_count = round_count.next_multiple_of(2).min(ROUND_LIMIT);
        let strip_count = self.layout.strips.cells.len();
        let slots = [round_count / 2 + 1, (round_count / 2).max(1)];
        let labels = [
            ["hullfield.flow.wave_even", "hullfield.flow.wave_odd"],
            ["hullfield.flow.exit_even", "hullfield.flow.exit_odd"],
        ][phase];
        let mut make = |parity: usize| {
            let len = slots[parity] as usize * strip_count * SLOT;
            let buffer = Buffer::with_use(&self.device.context, labels[parity], len, Use::Indirect)?;
            frame.upload(&buffer, 0, &[0, 1, 1, 0].repeat(len / SLOT))?;
            Ok(buffer)
        };
        let counts = [make(0)?, make(1)?];
        // The slot of a round, in the buffer of its parity.
        let slot = |round: u32| round / 2 * strip_count as u32;
        // Seeds go where a round before the first one would put them.
        let seed = RoundParams { round: 1, slot: 0, next_slot: 0, phase: phase as u32 };
        let round_params = |round: u32| RoundParams {
            round: done + round,
            slot: slot(round),
            next_slot: slot(round + 1),
            phase: phase as u32,
        };
        let rounds: Vec<RoundParams> =
            std::iter::once(seed).chain((0..=round_count).map(round_params)).collect();
        let uniforms = frame.dynamic_uniforms("hullfield.flow.rounds", &rounds)?;
        let params = self.bind_params(frame, phase)?;

        match begin {
            Begin::Goals(goals) => self.seed(frame, &params, &uniforms, &counts[0], goals)?,
            Begin::Exits => self.begin_exits(frame, &params, &uniforms, &counts[0])?,
            Begin::Rest(rest) => {
                let from = rest.round_count as usize / 2 * strip_count * SLOT;
                frame.copy(&rest.counts[0], from..from + strip_count * SLOT, &counts[0], 0)?;
            }
        }
        self.copy_halos(frame)?;

        let mut sets = Vec::with_capacity(2 * strip_count);
        for strip in 0..strip_count {
            for parity in 0..2 {
                sets.push(self.bind_round(frame, &params[strip], &uniforms, strip, parity, &counts)?);
            }
        }
        let until = if phase == WAVE { self.bind_until(frame, &params)? } else { Vec::new() };
        let halos = self.bind_halos(frame)?;
        let mut all = Vec::new();
        for round in 0..round_count {
            for strip in 0..strip_count {
                let parity = round as usize % 2;
                let word = (slot(round) as usize + strip) * SLOT;
                all.push(Dispatch {
                    kernel: &sets[2 * strip + parity],
                    uniform: Some(round as usize + 1),
                    groups: Groups::At(&counts[parity], word),
                });
            }
            if round % UNTIL_ROUNDS == UNTIL_ROUNDS - 1 || round + 1 == round_count {
                all.extend(plain_turns(&until));
            }
            if self.layout.kind != Kind::Wave {
                all.extend(plain_turns(&halos));
            }
        }
        let gate = [params[0].clone(), uniforms, counts[0].bind(), self.state.bind()];
        let gate = frame.bind_kernel(&kernels::GATE, &gate)?;
        let last = Some(round_count as usize + 1);
        all.push(Dispatch { kernel: &gate, uniform: last, groups: Groups::Count(1) });
        frame.dispatch_all("hullfield.flow.rounds", &all)?;
        Ok(Rounds { counts, round_count })
    }

    /// The parameters of each strip.
    pub(crate) fn bind_params(&self, frame: &mut Frame, phase: usize) -> Result<Vec<BoundRange>> {
        let of = |params: &kernels::FlowParams| if phase == EXIT { params.for_exits() } else { *params };
        self.layout.params.iter().map(|params| frame.uniform(&of(params))).collect()
    }

    /// The kernel of a round, on one strip, with one of the two queues.
    fn bind_round(
        &self,
        frame: &mut Frame,
        params: &BoundRange,
        uniforms: &BoundRange,
        strip: usize,
        parity: usize,
        counts: &[Buffer<u32>; 2],
    ) -> Result<BoundKernel> {
        let (params, uniforms) = (params.clone(), uniforms.clone());
        let distances = self.distances[strip].bind();
        let lists = [self.queue.bind(), counts[parity].bind(), counts[1 - parity].bind(), self.state.bind()];
        match (&self.planes, self.layout.kind) {
            (Some(planes), _) => {
                let [from, to] = [planes[parity].bind(), planes[1 - parity].bind()];
                let bound = [&[params, uniforms, from, to, distances][..], &lists].concat();
                frame.bind_kernel(&kernels::WAVE, &bound)
            }
            (None, kind) => {
                let (blocked, costs) = (self.device.blocked.bind(), self.device.costs[strip].bind());
                let bound = [&[params, uniforms, distances, blocked, costs][..], &lists].concat();
                let kernel = if kind == Kind::Solid { &kernels::RELAX_SOLID } else { &kernels::RELAX_FLAT };
                frame.bind_kernel(kernel, &bound)
            }
        }
    }

    /// The kernels that end a field early, with their groups; none where it is to be whole.
    fn bind_until(&self, frame: &mut Frame, params: &[BoundRange]) -> Result<Vec<(BoundKernel, u64)>> {
        let Some((until, gathered)) = &self.until else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (params, distances) in params.iter().zip(&self.distances) {
            let bound = [params.clone(), until.bind(), distances.bind(), gathered.bind()];
            let group_count = kernels::UNTIL.groups(gathered.len() as u64);
            all.push((frame.bind_kernel(&kernels::UNTIL, &bound)?, group_count));
        }
        let bound = [params[0].clone(), gathered.bind(), self.state.bind()];
        all.push((frame.bind_kernel(&kernels::SETTLE, &bound)?, self.layout.field_count as u64));
        Ok(all)
    }

    /// Sets the goals, strip by strip.
    fn seed(
        &self,
        frame: &mut Frame,
        params: &[BoundRange],
        uniforms: &BoundRange,
        counts: &Buffer<u32>,
        goals: &[Vec<u32>],
    ) -> Result<()> {
        let context = &self.device.context;
        for (strip, cells) in self.layout.strips.cells.iter().enumerate() {
            let held = |(field, goals): (u32, &Vec<u32>)| {
                let from = goals.partition_point(|&goal| (goal as usize) < cells.start);
                let to = goals.partition_point(|&goal| (goal as usize) < cells.end);
                goals[from..to].iter().map(|&goal| [field, goal]).collect::<Vec<_>>()
            };
            let seeds: Vec<[u32; 2]> = (0..).zip(goals).flat_map(held).collect();
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

    /// Wakes the tiles that have obstacles.
    fn begin_exits(
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
                let kernel = frame.bind_kernel(&kernels::EXIT_PLANES, &bound)?;
                let groups = Groups::Count(kernels::EXIT_PLANES.groups(words));
                let dispatch = Dispatch { kernel: &kernel, uniform: Some(0), groups };
                frame.dispatch_all(kernels::EXIT_PLANES.label, &[dispatch])?;
            }
            return Ok(());
        }
        let words = self.device.blocked.len() as u64 * self.layout.field_count as u64;
        let bound = [&[params[0].clone(), uniforms.clone(), blocked][..], &ends].concat();
        let kernel = frame.bind_kernel(&kernels::EXIT_TILES, &bound)?;
        let groups = Groups::Count(kernels::EXIT_TILES.groups(words));
        frame.dispatch_all(
            kernels::EXIT_TILES.label,
            &[Dispatch { kernel: &kernel, uniform: Some(0), groups }],
        )
    }

    /// Brings the halos of all strips up to date: each has the next row (or layer) of both neighbours.
    pub(crate) fn copy_halos(&self, frame: &mut Frame) -> Result<()> {
        let halos = self.bind_halos(frame)?;
        if halos.is_empty() { Ok(()) } else { frame.dispatch_all(kernels::HALO.label, &plain_turns(&halos)) }
    }

    /// The kernels that do so, with their groups: of each two neighbouring strips. Copies would end the pass, of which there
    /// would be one a round.
    fn bind_halos(&self, frame: &mut Frame) -> Result<Vec<(BoundKernel, u64)>> {
        let strips = &self.layout.strips;
        let mut all = Vec::new();
        for strip in 1..strips.cells.len() {
            let end = strips.halo + strips.cells[strip - 1].len();
            let piece = frame.uniform(&[strips.halo as u32, end as u32, 0, 0])?;
            let bound = [piece, self.distances[strip - 1].bind(), self.distances[strip].bind()];
            let group_count = kernels::HALO.groups(strips.halo as u64);
            all.push((frame.bind_kernel(&kernels::HALO, &bound)?, group_count));
        }
        Ok(all)
    }
}

/// Kernels that need no uniform of their own, as turns.
fn plain_turns(bound: &[(BoundKernel, u64)]) -> Vec<Dispatch<'_>> {
    bound
        .iter()
        .map(|(kernel, count)| Dispatch { kernel, uniform: None, groups: Groups::Count(*count) })
        .collect()
}
