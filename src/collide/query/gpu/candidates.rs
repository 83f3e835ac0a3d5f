//! Candidate pairs for the host: see [`Arena::candidates`](crate::collide::query::arena::Arena::candidates).

use std::sync::Arc;

use crate::collide::broad_phase::estimate::{CountedSoFar, SampleBodies, is_large};
use crate::collide::narrow_phase::kernels::VERDICTS;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::broad::{CountReads, Counted, GpuBroadPhase};
use crate::collide::query::gpu::narrow::check_row_count_unmoved;
use crate::collide::query::gpu::parts::{LoadedPart, Part, PartOptions, Parts};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::order::sort_pairs;
use crate::pending::Pending;

const LABEL: &str = "hullfield.collide.candidates";

/// The sorted candidate pairs.
pub(crate) fn candidates(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    input: QueryInput,
) -> Result<Pending<Vec<[u32; 2]>>> {
    let parts = Parts::of(arena, scene, &input);
    let budget = RowBudget::new::<[u32; 2]>(input.answer_limit);
    let mut remaining =
        RemainingParts { arena: Arc::clone(arena), scene: Arc::clone(scene), input, parts, part: None };
    let mut frame = Frame::new(&arena.context, LABEL)?;
    match remaining.next(&mut frame)? {
        Some((arena, broad)) => {
            let search = CandidateQuery {
                arena,
                broad,
                found: Vec::new(),
                begin: 0,
                total: 0,
                budget,
                is_row_count_checked: false,
                remaining: Some(remaining),
            };
            search.start(frame)
        }
        None => Ok(Pending::ready(Vec::new())),
    }
}

/// The candidate pairs of a broad phase that is already encoded in a frame.
#[cfg(test)]
pub(crate) fn candidates_of(
    arena: &Arc<GpuArena>,
    broad: GpuBroadPhase,
    frame: Frame,
) -> Result<Pending<Vec<[u32; 2]>>> {
    let arena = Arc::clone(arena);
    let budget = RowBudget::new::<[u32; 2]>(u64::MAX);
    CandidateQuery {
        arena,
        broad,
        found: Vec::new(),
        begin: 0,
        total: 0,
        budget,
        is_row_count_checked: false,
        remaining: None,
    }
    .start(frame)
}

/// The current part, and those after it.
struct RemainingParts {
    arena: Arc<GpuArena>,
    scene: Arc<Scene>,
    input: QueryInput,
    parts: Parts,
    part: Option<Part>,
}

impl RemainingParts {
    /// Encodes the broad phase of the next part.
    fn next(&mut self, frame: &mut Frame) -> Result<Option<(Arc<GpuArena>, GpuBroadPhase)>> {
        let Some(part) = self.parts.next() else { return Ok(None) };
        let options = PartOptions { grow: 0.0, motions: None };
        let loaded =
            LoadedPart::new(frame, &self.arena, &self.scene, &self.input, options, part, &self.parts.order)?;
        self.part = Some(loaded.part);
        let error = || Error::internal("collide::gpu::candidates::next", "a part without a broad phase");
        Ok(Some((loaded.arena, loaded.broad.ok_or_else(error)?)))
    }
}

/// A running query for candidate pairs, which reads back a window at a time.
struct CandidateQuery {
    arena: Arc<GpuArena>,
    broad: GpuBroadPhase,
    found: Vec<[u32; 2]>,
    /// Where the pairs of this part begin in `found`, and how many there are.
    begin: usize,
    total: usize,
    /// Pairs counted so far.
    budget: RowBudget,
    /// Whether a sample was checked.
    is_row_count_checked: bool,
    remaining: Option<RemainingParts>,
}

impl CandidateQuery {
    /// Encodes the first window, sized by the high-water mark.
    fn encode_first(&self, frame: &mut Frame) -> Result<(CountReads, Read<[u32; 2]>)> {
        let total = self.broad.read(frame)?;
        let capacity = self.arena.candidate_capacity(self.broad.column_count());
        Ok((total, self.encode_window(frame, capacity)?))
    }

    fn encode_window(&self, frame: &mut Frame, len: usize) -> Result<Read<[u32; 2]>> {
        let pairs: Buffer<[u32; 2]> =
            Buffer::new(&self.arena.context, "hullfield.collide.pairs", GpuBroadPhase::room(len))?;
        let begin = (self.found.len() - self.begin) as u32;
        // Its second word becomes their number, for kernels that read the pairs. None does here.
        let counted = Buffer::new(&self.arena.context, "hullfield.collide.pair_count", 2)?;
        self.broad.write(frame, begin..begin + len as u32, &pairs, &counted)?;
        frame.read(&pairs, 0..len)
    }

    fn start(self, mut frame: Frame) -> Result<Pending<Vec<[u32; 2]>>> {
        let (total, window) = self.encode_first(&mut frame)?;
        frame.submit(move |results| self.on_readback(&results, &total, &window))
    }

    /// Encodes the first window again, or that of the next part.
    fn restart(self, mut frame: Frame) -> Result<Next<Vec<[u32; 2]>>> {
        let (total, window) = self.encode_first(&mut frame)?;
        Ok(Next::frame(frame, move |results| self.on_readback(&results, &total, &window)))
    }

    fn on_readback(
        mut self,
        results: &Results,
        total: &CountReads,
        window: &Read<[u32; 2]>,
    ) -> Result<Next<Vec<[u32; 2]>>> {
        match self.broad.counted(results, total, &self.arena)? {
            Counted::Total(total) => {
                let count = self.begin as u64 + total;
                if is_large(count) && self.budget.is_at_risk(count) {
                    self.check_row_count(CountedSoFar::Pairs)?;
                }
                // Pairs are counted before they are found, so their memory is checked first.
                self.total = total as usize;
                self.budget.add(self.total);
                self.budget.check()?;
                self.take(results, window)
            }
            Counted::HeavyOverflow { heavy, tests } => {
                if is_large(tests) {
                    self.check_row_count(CountedSoFar::BoxTests)?;
                }
                let mut frame = Frame::new(&self.arena.context, LABEL)?;
                self.broad.recount(&mut frame, &self.arena, heavy)?;
                self.restart(frame)
            }
        }
    }

    /// Fails where a sample shows far more rows than the budget allows; checks only once.
    fn check_row_count(&mut self, counted_so_far: CountedSoFar) -> Result<()> {
        if let (false, Some(remaining)) = (self.is_row_count_checked, &self.remaining) {
            let all = |_: &SampleBodies, pairs: &[[u32; 2]]| pairs.len();
            self.is_row_count_checked = check_row_count_unmoved(
                &remaining.scene,
                &remaining.input,
                counted_so_far,
                0.0,
                &self.budget,
                &all,
            )?;
        }
        Ok(())
    }

    /// Takes a window of pairs, and encodes the next where there are more.
    fn take(mut self, results: &Results, window: &Read<[u32; 2]>) -> Result<Next<Vec<[u32; 2]>>> {
        let pairs = results.get(window)?;
        let end = self.begin + self.total;
        self.found.extend_from_slice(&pairs[..pairs.len().min(end - self.found.len())]);
        drop(pairs);
        if self.found.len() == end {
            return self.next_window();
        }
        let limit = self.arena.window_limit(self.broad.column_count(), &VERDICTS);
        let mut frame = Frame::new(&self.arena.context, LABEL)?;
        let window = self.encode_window(&mut frame, (end - self.found.len()).min(limit))?;
        Ok(Next::frame(frame, move |results| self.take(&results, &window)))
    }

    /// The next part, or the answer.
    fn next_window(mut self) -> Result<Next<Vec<[u32; 2]>>> {
        let Some(mut remaining) = self.remaining.take() else { return Ok(Next::Answer(self.found)) };
        if let Some(part) = &remaining.part {
            for pair in &mut self.found[self.begin..] {
                *pair = pair.map(|place| part.id(place));
            }
        }
        let mut frame = Frame::new(&self.arena.context, LABEL)?;
        if let Some((arena, broad)) = remaining.next(&mut frame)? {
            (self.arena, self.broad, self.begin) = (arena, broad, self.found.len());
            self.remaining = Some(remaining);
            return self.restart(frame);
        }
        if remaining.parts.is_cut {
            sort_pairs(&mut self.found);
        }
        remaining.scene.give_back(remaining.input);
        Ok(Next::Answer(self.found))
    }
}
