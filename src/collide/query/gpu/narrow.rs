//! The narrow phase on the device: windows of pairs, GJK, EPA on pairs near the surface, and readback of rows.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use web_time::Instant;

use bytemuck::Zeroable;

use crate::collide::broad_phase::estimate::{CountedSoFar, SampleBodies, check_row_count_on_host, is_large};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::narrow_phase::kernels::{HIT_COUNT, NarrowParams, ROW_SUMS, RUN, Stages};
use crate::collide::narrow_phase::rows::Stats;
use crate::collide::query::gpu::arena::{FAR_PAIRS, GpuArena, MOTION_STEPS, total_of};
use crate::collide::query::gpu::broad::{CountReads, Counted, GpuBroadPhase};
use crate::collide::query::gpu::parts::{LoadedPart, PartOptions, Parts};
use crate::collide::query::gpu::tree::MotionBuffer;
use crate::collide::scene::bounds::aabbs_into;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::gpu::timing::milliseconds;
use crate::pending::Pending;

/// A kind of query on the device: its kernels, and how it decodes the words read back.
pub(crate) trait DeviceQuery: Send + Sized + 'static {
    /// The answer for the caller.
    type Answer: Send + 'static;
    /// The label of its frames.
    const LABEL: &'static str;
    /// Bytes of a row of the answer.
    const ROW_BYTES: usize;

    /// The kernels that answer it.
    fn stages(&self) -> &'static Stages;
    /// Pairs farther apart than this are not listed, in world units.
    fn margin(&self) -> f32;
    /// Whether kernels measure the depth of pairs that overlap.
    fn with_depth(&self) -> bool;
    /// How much boxes are widened on every side.
    fn grow(&self) -> f32 {
        0.5 * self.margin().min(f32::MAX)
    }
    /// How the bodies move, and for how many seconds; `None` where they do not.
    fn motions(&self) -> Option<(&[PackedMotion], f32)> {
        None
    }
    /// Takes rows, [`Stages::row_words`] each.
    fn take_rows(&mut self, words: &[u32]);
    /// Takes verdicts and data of given pairs, [`Stages::data_words`] each.
    fn take_given(&mut self, pairs: &[[u32; 2]], verdicts: &[u32], data: &[u32]);
    /// Rows so far.
    fn len(&self) -> usize;
    /// Fails where a sample shows far more rows than the budget allows. Returns whether a sample was checked.
    fn check_row_count(
        &self,
        scene: &Scene,
        input: &QueryInput,
        counted_so_far: CountedSoFar,
        budget: &RowBudget,
    ) -> Result<bool>;
    /// Settles open rows and makes the answer; `sorted` says whether the rows are in order.
    fn finish(
        self,
        scene: &Scene,
        input: &QueryInput,
        refined: u64,
        stats: Stats,
        sorted: bool,
    ) -> Result<Self::Answer>;
}

/// [`check_row_count_on_host`] for bodies without motions.
pub(crate) fn check_row_count_unmoved(
    scene: &Scene,
    input: &QueryInput,
    counted_so_far: CountedSoFar,
    grow: f32,
    budget: &RowBudget,
    hits: &(dyn Fn(&SampleBodies, &[[u32; 2]]) -> usize + Sync),
) -> Result<bool> {
    let boxes = || {
        let mut boxes: Vec<Aabb> = Vec::new();
        aabbs_into(&mut boxes, &input.packed, &scene.supports.records, grow);
        boxes
    };
    check_row_count_on_host(scene, input, counted_so_far, grow, &boxes, budget, hits)
}

/// A running query: a chain of frames.
struct RunningQuery<Q> {
    query: Q,
    arena: Arc<GpuArena>,
    scene: Arc<Scene>,
    input: QueryInput,
    /// The current part, and those after it.
    loaded: LoadedPart,
    parts: Parts,
    /// The results of given pairs, where the query is split into parts.
    given_results: Option<GivenResults>,
    /// Pairs of the finished parts.
    candidates: u64,
    /// Pairs that went to EPA.
    refined: u64,
    stats: Stats,
    /// The budget for rows, and how many rows it has counted.
    budget: RowBudget,
    budgeted_count: usize,
    /// Whether a sample was checked.
    is_row_count_checked: bool,
    /// The window after the current one, which the device works on meanwhile.
    ahead: Option<WindowAhead>,
    /// When the results of the previous window were there.
    landed: Option<Instant>,
}

/// A window submitted before the results of the previous one are there.
struct WindowAhead {
    encoded: EncodedWindow,
    results: Pending<Results>,
}

/// Verdicts and data of given pairs, in the order of the pairs, which differs from that of the parts.
struct GivenResults {
    verdicts: Vec<u32>,
    data: Vec<u32>,
}

/// One window of pairs on the device.
pub(crate) struct Window {
    pub(crate) len: usize,
    /// Pairs of the window, or the spheres of all bodies where pairs are not listed.
    pub(crate) pairs: PairBuffer,
    pub(crate) refine: Buffer<u32>,
    /// Entries of the refine list that EPA has processed.
    pub(crate) refined: usize,
    pub(crate) verdicts: Buffer<u32>,
    /// Further data of each pair: see [`Stages::data_words`].
    pub(crate) data: Buffer<u32>,
    pub(crate) params: NarrowParams,
}

/// The buffer from which kernels find the pair of an index.
#[derive(Clone)]
pub(crate) enum PairBuffer {
    Listed(Buffer<[u32; 2]>),
    /// A part of a list.
    Range(BoundRange),
    Exhaustive(Buffer<[f32; 4]>),
}

impl PairBuffer {
    fn bind(&self) -> BoundRange {
        match self {
            Self::Listed(pairs) => pairs.bind(),
            Self::Range(pairs) => pairs.clone(),
            Self::Exhaustive(spheres) => spheres.bind(),
        }
    }

    /// Which kernel of a stage reads it: the first of [`Stages::search`] and its like, or the second.
    pub(crate) fn kind(&self) -> usize {
        match self {
            Self::Listed(_) | Self::Range(_) => 0,
            Self::Exhaustive(_) => 1,
        }
    }
}

/// The readbacks of a window.
enum WindowReads {
    /// Rows that are not separated, where they begin for each run of pairs, and their number.
    Hits { rows: Read<u32>, counts: HitCounts, total: Read<u32> },
    /// A verdict and data for every pair.
    All { verdicts: Read<u32>, data: Read<u32> },
}

/// Answers a query.
pub(crate) fn start<Q: DeviceQuery>(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    input: QueryInput,
    query: Q,
) -> Result<Pending<Q::Answer>> {
    let mut parts = Parts::of(arena, scene, &input);
    let Some(part) = parts.next() else {
        let found = query.finish(scene, &input, 0, Stats::default(), true)?;
        return Ok(Pending::ready(found));
    };
    let mut frame = Frame::new(&arena.context, Q::LABEL)?;
    let options = PartOptions { grow: query.grow(), motions: query.motions() };
    let loaded = LoadedPart::new(&mut frame, arena, scene, &input, options, part, &parts.order)?;
    let given_results = parts.order.len();
    let given_results = (given_results > 0).then(|| GivenResults {
        verdicts: vec![0; given_results],
        data: vec![0; given_results * query.stages().data_words],
    });
    let stats = Stats::default();
    let budget = RowBudget::of_bytes(Q::ROW_BYTES, input.answer_limit);
    let mut running = RunningQuery {
        query,
        arena: Arc::clone(arena),
        scene: Arc::clone(scene),
        input,
        loaded,
        parts,
        given_results,
        candidates: 0,
        refined: 0,
        stats,
        budget,
        budgeted_count: 0,
        is_row_count_checked: false,
        ahead: None,
        landed: None,
    };
    let encoded = running.encode_window(&mut frame)?;
    running.launch(frame, encoded)?.start()
}

/// A window encoded in the current frame, with its readbacks.
struct EncodedWindow {
    window: Window,
    /// Entries of the list of pairs to refine.
    refined: Read<u32>,
    /// Candidates of the broad phase.
    total: Option<CountReads>,
    reads: WindowReads,
}

impl<Q: DeviceQuery> RunningQuery<Q> {
    fn keep_all(&self) -> bool {
        matches!(self.input.pairs, OwnedPairs::Given(_))
    }

    /// Encodes the next window: pairs, GJK, EPA, and the compaction of rows.
    fn encode_window(&mut self, frame: &mut Frame) -> Result<EncodedWindow> {
        let arena = Arc::clone(&self.loaded.arena);
        let context = &arena.context;
        let stages = self.query.stages();
        let loaded = &self.loaded;
        let limit = arena.window_limit(loaded.bodies.len(), stages);
        let len = match loaded.total {
            Some(total) => usize::try_from(total - loaded.encoded).unwrap_or(usize::MAX).min(limit),
            None => arena.candidate_capacity(loaded.searching_count()).min(limit),
        };
        let keep_all = self.keep_all();
        let body_count = loaded.row_count as u32;
        let mut params = NarrowParams {
            zero: 0,
            first: 0,
            window_begin: 0,
            window_len: len as u32,
            body_count,
            exhaustive_row: 0,
            exhaustive_column: 0,
            write_axes: keep_all.into(),
            margin: if keep_all { f32::MAX } else { self.query.margin().min(f32::MAX) },
            with_depth: self.query.with_depth().into(),
            keep_all: 0,
            duration: loaded.moves.as_ref().map_or(0.0, |moves| moves.duration),
            column_count: loaded.column_count as u32,
            ..NarrowParams::zeroed()
        };
        let refine: Buffer<u32> = Buffer::new(context, "hullfield.collide.refine", 2 + len)?;
        let verdicts = Buffer::new(context, "hullfield.collide.verdicts", len)?;
        let data_len = if keep_all || stages.rows_have_data { stages.data_words * len } else { 4 };
        let data = Buffer::new(context, stages.data_label, data_len)?;
        let accepted = loaded.partners.as_ref().map(|partners| {
            let window = loaded.encoded..loaded.encoded + len as u64;
            partners.list(&self.scene, &self.input, &loaded.part, window)
        });
        // Where the broad phase finds the pairs, its kernel writes their number.
        let listed = match &accepted {
            Some(accepted) => accepted.len(),
            None => {
                if loaded.broad.is_some() {
                    0
                } else {
                    len
                }
            }
        };
        frame.upload(&refine, 0, &[0, listed as u32])?;
        let mut total = None;
        let pairs = if let Some(spheres) = &loaded.spheres {
            let columns =
                if loaded.column_count > 0 { loaded.column_count as u64 } else { (body_count | 1).into() };
            params.exhaustive_row = (loaded.encoded / columns) as u32;
            params.exhaustive_column = (loaded.encoded % columns) as u32;
            PairBuffer::Exhaustive(spheres.clone())
        } else {
            let room = if loaded.broad.is_some() { GpuBroadPhase::room(len) } else { len };
            let pairs = Buffer::new(context, "hullfield.collide.pairs", room)?;
            if let Some(accepted) = accepted {
                frame.upload(&pairs, 0, &accepted)?;
            } else if let OwnedPairs::Given(given) = &self.input.pairs {
                let begin = loaded.encoded as usize;
                let given = loaded.listed.as_ref().unwrap_or(given);
                frame.upload(&pairs, 0, &given[begin..begin + len])?;
            } else if let Some(broad) = &loaded.broad {
                let begin = loaded.encoded as u32;
                params.window_begin = begin;
                broad.write(frame, begin..begin + len as u32, &pairs, &refine)?;
                total = Some(broad.read(frame)?);
            } else {
                return Err(Error::internal(
                    "collide::gpu::narrow::encode_window",
                    "pairs come from nowhere",
                ));
            }
            PairBuffer::Listed(pairs)
        };
        let mut window = Window { len, pairs, refine, refined: 0, verdicts, data, params };
        let steps = match window.pairs {
            // In sweeps all pairs may get that far.
            PairBuffer::Exhaustive(_) if params.margin == 0.0 => {
                (arena.pair_steps / FAR_PAIRS).max(FAR_PAIRS)
            }
            _ => arena.pair_steps * stages.effort,
        };
        if let (Some(kernels), Some(moves)) = (stages.prepare, &loaded.moves) {
            let kernel = kernels[window.pairs.kind()];
            encode_preparation(frame, &self.loaded.arena, &self.loaded.bodies, &window, kernel, moves)?;
        }
        let kind = if self.loaded.is_plain { 2 } else { window.pairs.kind() };
        self.encode_narrow(frame, &window, stages.search[kind], steps, 0..len)?;
        self.encode_refinement(frame, &mut window, arena.refine_capacity(len))?;
        let refined = frame.read(&window.refine, 0..1)?;
        let reads = self.encode_results(frame, &window)?;
        self.loaded.encoded += len as u64;
        Ok(EncodedWindow { window, refined, total, reads })
    }

    /// Submits an encoded window, and where there are more the one after it: the device works on that while the host takes the results
    /// of the first.
    fn launch(mut self, frame: Frame, encoded: EncodedWindow) -> Result<Next<Q::Answer>> {
        if !self.has_more_windows() {
            return Ok(Next::frame(frame, move |results| self.on_readback(results, encoded)));
        }
        let results = frame.submit_ahead()?;
        self.ahead = self.submit_ahead();
        Ok(Next::ahead(results, move |results| self.on_readback(results, encoded)))
    }

    /// Whether the current part is known to have windows that are not encoded yet.
    fn has_more_windows(&self) -> bool {
        self.loaded.total.is_some_and(|total| self.loaded.encoded < total)
    }

    /// Encodes and submits the next window, if there is one. Where that fails (memory may be short) there is none ahead: it is encoded
    /// again when its turn comes, and what is wrong is said then.
    fn submit_ahead(&mut self) -> Option<WindowAhead> {
        if !self.has_more_windows() {
            return None;
        }
        let begin = self.loaded.encoded;
        let mut submit = || -> Result<WindowAhead> {
            let mut frame = self.frame()?;
            let encoded = self.encode_window(&mut frame)?;
            Ok(WindowAhead { encoded, results: frame.submit_ahead()? })
        };
        let ahead = submit().ok();
        if ahead.is_none() {
            self.loaded.encoded = begin;
        }
        ahead
    }

    /// Encodes EPA for the remaining entries of the refine list up to `end`.
    fn encode_refinement(&self, frame: &mut Frame, window: &mut Window, end: usize) -> Result<()> {
        let stages = self.query.stages();
        let steps = self.loaded.arena.pair_steps * stages.effort;
        self.encode_narrow(frame, window, stages.refine[window.pairs.kind()], steps, window.refined..end)?;
        window.refined = end;
        Ok(())
    }

    fn encode_narrow(
        &self,
        frame: &mut Frame,
        window: &Window,
        kernel: &'static Kernel,
        steps: u64,
        range: Range<usize>,
    ) -> Result<()> {
        encode_stage(frame, &self.loaded.arena, &self.loaded.bodies, window, kernel, steps, range)
    }

    /// Encodes the readbacks of a window: everything for given pairs, otherwise the rows of pairs that have one.
    fn encode_results(&self, frame: &mut Frame, window: &Window) -> Result<WindowReads> {
        let len = window.len;
        if self.keep_all() {
            let verdicts = frame.read(&window.verdicts, 0..len)?;
            return Ok(WindowReads::All { verdicts, data: frame.read(&window.data, 0..window.data.len())? });
        }
        let counts = HitCounts::new(frame.context(), len)?;
        encode_counts(frame, window, &counts)?;
        let rows = self.encode_rows(frame, window, &counts, self.arena.hit_capacity(len))?;
        let total = frame.read(&counts.row_sums, 0..2)?;
        Ok(WindowReads::Hits { rows, counts, total })
    }

    /// Encodes the compaction and readback of at most `capacity` rows.
    fn encode_rows(
        &self,
        frame: &mut Frame,
        window: &Window,
        counts: &HitCounts,
        capacity: usize,
    ) -> Result<Read<u32>> {
        let stages = self.query.stages();
        let rows = Buffer::new(frame.context(), stages.row_label, stages.row_words * capacity)?;
        encode_rows(frame, stages, window, counts, &rows)?;
        frame.read(&rows, 0..rows.len())
    }

    /// Whether all pairs are examined and so many of those so far have rows that the total may exceed the budget.
    fn is_hopeless(&self) -> bool {
        let (done, all) = (self.candidates + self.loaded.next, self.input.pair_total());
        if self.input.pairs != OwnedPairs::Exhaustive || !is_large(all) {
            return false;
        }
        let rows = self.query.len() as f64 / done.max(1) as f64 * all as f64;
        self.budget.is_at_risk(rows as u64)
    }

    /// Fails where a sample shows far more rows than the budget allows; checks only once.
    fn check_row_count(&mut self, counted_so_far: CountedSoFar) -> Result<()> {
        if !self.is_row_count_checked {
            self.is_row_count_checked =
                self.query.check_row_count(&self.scene, &self.input, counted_so_far, &self.budget)?;
        }
        Ok(())
    }

    /// Pairs of the current part: known once its first window is read back.
    fn total(&self) -> Result<u64> {
        let error = || Error::internal("collide::gpu::narrow::total", "the pairs have not been counted");
        self.loaded.total.ok_or_else(error)
    }

    /// Another frame of the same query.
    fn frame(&mut self) -> Result<Frame> {
        Frame::new(&self.arena.context, Q::LABEL)
    }

    /// Takes the results of a window.
    fn on_readback(mut self, results: Results, encoded: EncodedWindow) -> Result<Next<Q::Answer>> {
        self.add_times(&results);
        let EncodedWindow { mut window, refined, total, reads } = encoded;
        let counted = match (&total, &self.loaded.broad) {
            (Some(total), Some(broad)) => Some(broad.counted(&results, total, &self.arena)?),
            _ => None,
        };
        match counted {
            Some(Counted::HeavyOverflow { heavy, tests }) => {
                if is_large(tests) {
                    self.check_row_count(CountedSoFar::BoxTests)?;
                }
                self.stats.rerun_count += 1;
                let mut frame = self.frame()?;
                let Some(broad) = &mut self.loaded.broad else {
                    return Err(Error::internal(
                        "collide::gpu::narrow::land",
                        "counted without a broad phase",
                    ));
                };
                broad.recount(&mut frame, &self.loaded.arena, heavy)?;
                self.loaded.encoded = self.loaded.next;
                let encoded = self.encode_window(&mut frame)?;
                return Ok(Next::frame(frame, move |results| self.on_readback(results, encoded)));
            }
            Some(Counted::Total(total)) => {
                self.loaded.total = Some(total);
                let count = self.candidates + total;
                if is_large(count) && self.budget.is_at_risk(count) {
                    self.check_row_count(CountedSoFar::Pairs)?;
                }
            }
            None => (),
        }
        let refined = results.first(&refined)? as usize;
        self.refined += refined as u64;
        self.arena.high_water.refined.fetch_max(self.refined as usize, Relaxed);
        if refined > window.refined {
            self.stats.rerun_count += 1;
            let mut frame = self.frame()?;
            self.encode_refinement(&mut frame, &mut window, refined)?;
            let reads = self.encode_results(&mut frame, &window)?;
            return Ok(Next::frame(frame, move |results| {
                self.add_times(&results);
                self.take(results, window, reads)
            }));
        }
        self.take(results, window, reads)
    }

    /// Takes the rows of a window. Its buffers are given back before the next window is encoded.
    fn take(mut self, results: Results, window: Window, reads: WindowReads) -> Result<Next<Q::Answer>> {
        let left = self.total()? - self.loaded.next;
        let len = window.len.min(usize::try_from(left).unwrap_or(usize::MAX));
        match reads {
            WindowReads::All { verdicts, data } => {
                let OwnedPairs::Given(pairs) = &self.input.pairs else {
                    return Err(Error::internal("collide::gpu::narrow::take", "verdicts of pairs not given"));
                };
                let from = self.loaded.next as usize;
                let words = self.query.stages().data_words;
                let (verdicts, data) = (results.get(&verdicts)?, results.get(&data)?);
                let (verdicts, data) = (&verdicts[..len], &data[..words * len]);
                if let Some(given_results) = &mut self.given_results {
                    let order = &self.parts.order[self.loaded.given()][from..from + len];
                    for ((&at, &verdict), data) in order.iter().zip(verdicts).zip(data.chunks(words)) {
                        given_results.verdicts[at] = verdict;
                        given_results.data[words * at..words * (at + 1)].copy_from_slice(data);
                    }
                } else {
                    self.query.take_given(&pairs[from..from + len], verdicts, data);
                }
            }
            WindowReads::Hits { rows, counts, total } => {
                let hits = total_of(&results, &total)? as usize;
                self.arena.high_water.hits.fetch_max(self.query.len() + hits, Relaxed);
                let row_words = self.query.stages().row_words;
                let words = results.get(&rows)?;
                if words.len() < row_words * hits {
                    self.stats.rerun_count += 1;
                    let mut frame = self.frame()?;
                    let rows = self.encode_rows(&mut frame, &window, &counts, hits)?;
                    return Ok(Next::frame(frame, move |results| {
                        self.add_times(&results);
                        let words = results.get(&rows)?;
                        let rows = self.loaded.part.with_ids(&words[..row_words * hits], row_words);
                        self.query.take_rows(&rows);
                        drop(words);
                        drop((results, window, counts));
                        self.next_window(len)
                    }));
                }
                let rows = self.loaded.part.with_ids(&words[..row_words * hits], row_words);
                self.query.take_rows(&rows);
            }
        }
        drop((results, window));
        self.next_window(len)
    }

    /// The next window, or the answer.
    fn next_window(mut self, len: usize) -> Result<Next<Q::Answer>> {
        self.loaded.next += len as u64;
        let total = self.total()?;
        // Checked before the budget is exceeded, so that the error is the same as the CPU engine's.
        if self.loaded.next < total && self.is_hopeless() {
            self.check_row_count(CountedSoFar::Pairs)?;
        }
        if !self.keep_all() {
            let count = self.query.len();
            self.budget.add(count - self.budgeted_count);
            self.budget.check()?;
            self.budgeted_count = count;
        }
        if self.loaded.next < total {
            self.stats.rerun_count += u32::from(self.loaded.broad.is_some());
            if let Some(WindowAhead { encoded, results }) = self.ahead.take() {
                self.ahead = self.submit_ahead();
                return Ok(Next::ahead(results, move |results| self.on_readback(results, encoded)));
            }
            let mut frame = self.frame()?;
            let encoded = self.encode_window(&mut frame)?;
            return self.launch(frame, encoded);
        }
        self.candidates += total;
        if let Some(part) = self.parts.next() {
            let mut frame = self.frame()?;
            let options = PartOptions { grow: self.query.grow(), motions: self.query.motions() };
            let (arena, scene, order) = (&self.arena, &self.scene, &self.parts.order);
            self.loaded = LoadedPart::new(&mut frame, arena, scene, &self.input, options, part, order)?;
            let encoded = self.encode_window(&mut frame)?;
            return self.launch(frame, encoded);
        }
        if let (OwnedPairs::Given(pairs), Some(given_results)) = (&self.input.pairs, &self.given_results) {
            self.query.take_given(pairs, &given_results.verdicts, &given_results.data);
        }
        let every = matches!(self.input.pairs, OwnedPairs::Exhaustive);
        self.stats.candidate_count = if every { self.input.pair_total() } else { self.candidates };
        // Windows over all pairs have an order of their own, and so do parts.
        let sorted = !every && (!self.parts.is_cut || self.given_results.is_some());
        let Self { query, scene, input, refined, stats, .. } = self;
        let found = query.finish(&scene, &input, refined, stats, sorted)?;
        scene.give_back(input);
        Ok(Next::Answer(found))
    }

    fn add_times(&mut self, results: &Results) {
        let times = results.times();
        // A window that was submitted ahead waited for the one before it, whose time is counted already.
        let since_landed = self.landed.map_or(f64::INFINITY, milliseconds);
        self.landed = Some(Instant::now());
        let round_trip_ms = times.round_trip_ms.min(since_landed);
        let kernels_ms = times.kernels_ms.unwrap_or(round_trip_ms);
        self.stats.times.upload_ms += times.encode_ms;
        self.stats.times.compile_ms += times.compile_ms;
        self.stats.times.kernels_ms += kernels_ms;
        self.stats.times.readback_ms += (round_trip_ms - kernels_ms).max(0.0);
    }
}

/// Encodes a stage of the narrow phase for some invocations.
pub(crate) fn encode_stage(
    frame: &mut Frame,
    arena: &GpuArena,
    bodies: &Buffer<PackedBody>,
    window: &Window,
    kernel: &'static Kernel,
    steps: u64,
    range: Range<usize>,
) -> Result<()> {
    for piece in arena.context.pieces(range.len() as u64, steps, kernel.workgroup_size.into()) {
        let params = NarrowParams { first: (range.start as u64 + piece.start) as u32, ..window.params };
        let bound = stage_bindings(frame, arena, bodies, window, &params)?;
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(())
}

/// What a stage of the narrow phase binds.
pub(crate) fn stage_bindings(
    frame: &mut Frame,
    arena: &GpuArena,
    bodies: &Buffer<PackedBody>,
    window: &Window,
    params: &NarrowParams,
) -> Result<[BoundRange; 9]> {
    let hulls = arena.hulls()?;
    Ok([
        frame.uniform(params)?,
        bodies.bind(),
        hulls.records.bind(),
        hulls.vertices.bind(),
        hulls.cells.bind(),
        window.pairs.bind(),
        window.refine.bind(),
        window.verdicts.bind(),
        window.data.bind(),
    ])
}

/// Encodes the kernel that runs before GJK and reads motions.
pub(crate) fn encode_preparation(
    frame: &mut Frame,
    arena: &GpuArena,
    bodies: &Buffer<PackedBody>,
    window: &Window,
    kernel: &'static Kernel,
    moves: &MotionBuffer,
) -> Result<()> {
    for piece in arena.context.pieces(window.len as u64, MOTION_STEPS, kernel.workgroup_size.into()) {
        let params = NarrowParams { first: piece.start as u32, ..window.params };
        let bound = [
            frame.uniform(&params)?,
            bodies.bind(),
            arena.hulls()?.records.bind(),
            window.pairs.bind(),
            window.refine.bind(),
            moves.motions.bind(),
            window.verdicts.bind(),
            window.data.bind(),
        ];
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(())
}

/// How many rows a window has, for its compaction. Windows that have the same of these put their rows one behind the other.
pub(crate) struct HitCounts {
    /// For each run of pairs, the rows before it in its workgroup.
    offsets: Buffer<u32>,
    /// The number of all rows so far (low and high word), which [`encode_rows`] writes; the rows of earlier windows; then the rows of
    /// each workgroup.
    pub(crate) row_sums: Buffer<u32>,
}

impl HitCounts {
    /// For windows of at most `len` pairs.
    pub(crate) fn new(context: &Context, len: usize) -> Result<Self> {
        let runs = len.div_ceil(RUN);
        let groups = HIT_COUNT.groups(runs as u64) as usize;
        Ok(Self {
            offsets: Buffer::new(context, "hullfield.collide.hit_counts", runs)?,
            row_sums: Buffer::new(context, "hullfield.collide.row_sums", ROW_SUMS + groups)?,
        })
    }

    /// Those of the runs of a window.
    fn offsets_of(&self, window: &Window) -> BoundRange {
        self.offsets.bind_range(0..window.len.div_ceil(RUN))
    }
}

/// Encodes the count of the rows of a window.
pub(crate) fn encode_counts(frame: &mut Frame, window: &Window, counts: &HitCounts) -> Result<()> {
    let groups = HIT_COUNT.groups(window.len.div_ceil(RUN) as u64);
    if groups == 0 {
        frame.clear(&counts.row_sums);
    }
    let bound = [
        frame.uniform(&window.params)?,
        window.refine.bind(),
        window.verdicts.bind(),
        counts.offsets_of(window),
        counts.row_sums.bind(),
    ];
    frame.dispatch(&HIT_COUNT, &bound, groups)
}

/// Encodes the compaction of rows, and the number of all rows so far. `rows` gets those that it has room for, from
/// `window.params.row_begin` on.
pub(crate) fn encode_rows(
    frame: &mut Frame,
    stages: &Stages,
    window: &Window,
    counts: &HitCounts,
    rows: &Buffer<u32>,
) -> Result<()> {
    let kernel = stages.write[window.pairs.kind()];
    let mut bound = vec![
        frame.uniform(&window.params)?,
        window.refine.bind(),
        window.verdicts.bind(),
        window.pairs.bind(),
        counts.offsets_of(window),
        counts.row_sums.bind(),
    ];
    if stages.rows_have_data {
        bound.push(window.data.bind());
    }
    bound.push(rows.bind());
    frame.dispatch(kernel, &bound, kernel.groups(window.len.div_ceil(RUN) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    use crate::account::Account;
    use crate::collide::narrow_phase::rows::{Batch, Intersection};
    use crate::collide::narrow_phase::settle::Rows;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::layout::Layout;
    use crate::collide::scene::pairs::Pairs;
    use crate::lock::lock;
    use crate::testing;

    /// Intersections that note how many frames had been submitted whenever rows are taken.
    struct Noted {
        rows: Rows,
        account: Arc<Account>,
        submissions: Arc<Mutex<Vec<u64>>>,
    }

    impl Noted {
        fn note(&self) {
            lock(&self.submissions).push(self.account.counters().submissions);
        }
    }

    impl DeviceQuery for Noted {
        type Answer = Batch<Intersection>;
        const LABEL: &'static str = "hullfield.test.noted";
        const ROW_BYTES: usize = Rows::ROW_BYTES;

        fn stages(&self) -> &'static Stages {
            self.rows.stages()
        }

        fn margin(&self) -> f32 {
            self.rows.margin()
        }

        fn with_depth(&self) -> bool {
            self.rows.with_depth()
        }

        fn take_rows(&mut self, words: &[u32]) {
            self.note();
            self.rows.take_rows(words);
        }

        fn take_given(&mut self, pairs: &[[u32; 2]], verdicts: &[u32], data: &[u32]) {
            self.note();
            self.rows.take_given(pairs, verdicts, data);
        }

        fn len(&self) -> usize {
            DeviceQuery::len(&self.rows)
        }

        fn check_row_count(
            &self,
            scene: &Scene,
            input: &QueryInput,
            counted_so_far: CountedSoFar,
            budget: &RowBudget,
        ) -> Result<bool> {
            self.rows.check_row_count(scene, input, counted_so_far, budget)
        }

        fn finish(
            self,
            scene: &Scene,
            input: &QueryInput,
            refined: u64,
            stats: Stats,
            sorted: bool,
        ) -> Result<Self::Answer> {
            DeviceQuery::finish(self.rows, scene, input, refined, stats, sorted)
        }
    }

    #[test]
    fn a_window_is_on_its_way_while_the_rows_of_the_one_before_are_taken() {
        let Some(engine) = testing::own_gpu() else { return };
        // 100 boxes in a row have 4,950 pairs; a window of these bindings holds 1,280.
        let engine = engine.with_binding_limit(16 << 10);
        let context = engine.context().unwrap();
        let scene = Arc::new(Scene::new(&[crate::collide::Hull::cuboid([1.0; 3]).unwrap()]).unwrap());
        let arena = Arc::new(GpuArena::new(context, &scene).unwrap());
        let bodies: Vec<Body> =
            (0..100).map(|at| Body { position: [1.5 * at as f32, 0.0, 0.0], ..Body::new(0) }).collect();
        let given: Vec<[u32; 2]> = (0..100).flat_map(|a| (a + 1..100).map(move |b| [a, b])).collect();
        for pairs in [Pairs::Given(&given), Pairs::Exhaustive] {
            let layout = Layout { packed: true, placed: false };
            let input = QueryInput::new(&scene, (&bodies).into(), None, pairs, layout).unwrap();
            let (submissions, account) = (Arc::default(), Arc::clone(context.account()));
            let before = account.counters().submissions;
            let query = Noted { rows: Rows::default(), account, submissions: Arc::clone(&submissions) };
            let found = start(&arena, &scene, input, query).unwrap().wait().unwrap();
            let hits = found.rows.iter().filter(|row| row.status.is_hit());
            assert!(hits.map(|row| [row.a, row.b]).eq((0..99).map(|a| [a, a + 1])), "{pairs:?}");
            let submissions: Vec<u64> = lock(&submissions).iter().map(|at| at - before).collect();
            assert_eq!(submissions, [2, 3, 4, 4], "{pairs:?}");
        }
    }
}
