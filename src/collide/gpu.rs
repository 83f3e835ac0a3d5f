//! The GPU engine's frame: bodies up, bounds, candidate pairs, GJK, EPA on the near ones, rows back.
//!
//! A job is a chain of frames. The first one uploads and works through as many pairs as the engine has room
//! for (the high-water mark of earlier jobs); when its results arrive they say exactly how many pairs and
//! rows there are, and what did not fit is done in further frames: nothing is lost, and a coherent stream of
//! jobs needs one frame each. Pairs are worked through in windows of bounded size, so memory does not grow
//! with their number.
//!
//! Memory of a frame: 128 bytes a body (`PackedBody` 64, `Aabb` 32, segment counts 32) and 28 a candidate
//! pair (pair 8, verdict 4, list entry of the pairs to refine 4, row 12) plus a quarter (counts of the
//! compaction); with given pairs instead of the row an axis of 12.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytemuck::Pod;
use web_time::Instant;

use super::bounds::Aabb;
use super::cpu::{self, Rows};
use super::kernels::{
    BOUNDS, BROAD_COUNT, BROAD_WRITE, BoundsParams, BroadParams, EPA, EPA_EVERY, GJK, GJK_EVERY, HIT_COUNT,
    HIT_WRITE, HIT_WRITE_EVERY, NarrowParams, RUN, SPHERES,
};
use super::layout::{HullRecord, PackedBody};
use super::narrow::Verdict;
use super::query::{Estimate, Intersections, Pairs, Stats};
use super::scene::{Job, OwnedPairs, Scene};
use super::status::Status;
use crate::gpu::{Bound, Buffer, Context, Done, Frame, Kernel, Read, Step, scan};
use crate::{Error, Pending, Result};

/// Parts that the columns of the broad phase are cut into: as many threads a row.
const SEGMENT_COUNT: u32 = 8;
/// Most pairs of one window.
const WINDOW_LIMIT: u64 = 1 << 22;
/// Bytes that a body takes, staging included.
const STAGED_BODY_BYTES: u64 = 160;
/// Bytes that a pair of a window takes at most under a memory limit: 28 and staging of 12, with room to grow,
/// for two windows, as one is encoded while the last one's results are read.
const STAGED_PAIR_BYTES: u64 = 128;
/// Uniforms, staging of small uploads, and what scans need.
const SMALL_BYTES: u64 = 2 << 20;
/// Most bytes that a pair takes in any one buffer: its row, or its axis.
const PAIR_BYTES_LIMIT: u64 = 12;
/// Steps that the box or sphere of a body is reckoned at (see `Context::pieces`).
const BODY_STEPS: u64 = 20;
/// Supports that a pair is reckoned at, of each of its hulls.
const SUPPORTS: u64 = 10;
/// Of how many pairs of all pairs one is reckoned to come as far as a support.
const FAR_PAIRS: u64 = 20;
/// Turns that all loops of an invocation may take together on a software rasteriser: Mesa's llvmpipe ends every
/// loop after 65,535 turns in all, without a word. Left over is what the loops beside the supports' take.
const SOFTWARE_TURNS: u64 = 45_000;
/// Supports of each hull that one invocation is reckoned to ask for at most: GJK twice, and EPA.
const SUPPORT_LIMIT: u64 = 60;
/// Candidate pairs a body that the engine starts with.
const FIRST_CANDIDATES: usize = 16;

/// An arena on a device, and what its jobs have learnt about their sizes.
#[derive(Debug)]
pub(crate) struct GpuArena {
    context: Context,
    hulls: Buffer<HullRecord>,
    vertices: Buffer<[f32; 4]>,
    cells: Buffer<u32>,
    /// Steps that GJK or EPA of a pair is reckoned at: vertices looked at.
    pair_steps: u64,
    /// Most candidate pairs, rows, and pairs that EPA refined, of any job so far.
    candidate_mark: AtomicUsize,
    hit_mark: AtomicUsize,
    refine_mark: AtomicUsize,
}

impl GpuArena {
    /// Uploads the hulls.
    pub(crate) fn new(context: &Context, scene: &Scene) -> Result<Self> {
        let supports = &scene.supports;
        let hulls = buffer(context, "hullfield.collide.hulls", supports.records.len())?;
        let vertices = buffer(context, "hullfield.collide.vertices", supports.vertices.len())?;
        let cells = buffer(context, "hullfield.collide.cells", supports.cells.len())?;
        let mut frame = Frame::new(context, "hullfield.collide.arena")?;
        frame.upload(&hulls, 0, &supports.records)?;
        frame.upload(&vertices, 0, &supports.vertices)?;
        frame.upload(&cells, 0, &supports.cells)?;
        // The queue runs in order, so nobody need wait for it.
        drop(frame.submit(|_| Ok(Step::Done(())))?);
        Ok(Self {
            context: context.clone(),
            hulls,
            vertices,
            cells,
            pair_steps: 2
                * SUPPORTS
                * supports.records.iter().map(|hull| reach(hull, &supports.cells)).max().unwrap_or(1),
            candidate_mark: AtomicUsize::new(0),
            hit_mark: AtomicUsize::new(0),
            refine_mark: AtomicUsize::new(0),
        })
    }

    /// Pairs in one window at most, as bindings and what the memory limit leaves for them allow.
    fn window_limit(&self, body_count: usize) -> usize {
        let in_binding = self.context.binding_limit() / PAIR_BYTES_LIMIT;
        let limit = self.context.account().limit_bytes.load(Relaxed);
        let fixed = self.hull_bytes() + STAGED_BODY_BYTES * body_count as u64 + SMALL_BYTES;
        let in_memory = limit.saturating_sub(fixed) / STAGED_PAIR_BYTES;
        (in_binding.min(in_memory).min(WINDOW_LIMIT) / 256 * 256).max(256) as usize
    }

    fn hull_bytes(&self) -> u64 {
        self.hulls.bind().bytes + self.vertices.bind().bytes + self.cells.bind().bytes
    }

    fn candidate_capacity(&self, body_count: usize) -> usize {
        let mark = self.candidate_mark.load(Relaxed);
        let wanted = if mark == 0 { body_count.saturating_mul(FIRST_CANDIDATES) } else { headroom(mark) };
        wanted
            .max(1024)
            .min(pair_total(body_count).try_into().unwrap_or(usize::MAX))
            .min(self.window_limit(body_count))
    }

    fn hit_capacity(&self, window_len: usize) -> usize {
        headroom(self.hit_mark.load(Relaxed)).max(4096).min(window_len)
    }

    fn refine_capacity(&self, window_len: usize) -> usize {
        headroom(self.refine_mark.load(Relaxed)).max(1024).min(window_len)
    }

    /// What a query will take.
    pub(crate) fn estimate(&self, body_count: usize, pairs: &Pairs<'_>) -> Estimate {
        let window = match pairs {
            Pairs::Near => self.candidate_capacity(body_count),
            Pairs::Every => {
                self.window_limit(body_count).min(pair_total(body_count).try_into().unwrap_or(usize::MAX))
            }
            Pairs::Given(pairs) => pairs.len().min(self.window_limit(body_count)),
        };
        let bodies = body_count as u64;
        let hits = self.hit_capacity(window) as u64;
        let window = window as u64;
        let runs = window.div_ceil(RUN as u64);
        let body = size_of::<PackedBody>() as u64;
        let (body_bytes, candidate_bytes, staging_bytes) = match pairs {
            Pairs::Near => {
                ((body + 64) * bodies, 16 * window + 12 * hits + 4 * runs, body * bodies + 12 * hits)
            }
            Pairs::Every => {
                ((body + 16) * bodies, 8 * window + 12 * hits + 4 * runs, body * bodies + 12 * hits)
            }
            Pairs::Given(_) => (body * bodies, 28 * window, body * bodies + 24 * window),
        };
        Estimate { hull_bytes: self.hull_bytes(), body_bytes, candidate_bytes, staging_bytes }
    }

    /// Whether a query is for the device: a software rasteriser gets none that its loops would end too early in; it
    /// is the CPU's anyway.
    pub(crate) fn takes(&self, body_count: usize, pairs: Pairs<'_>) -> bool {
        let turns = self.pair_steps / SUPPORTS * SUPPORT_LIMIT;
        !(self.context.is_software() && turns > SOFTWARE_TURNS)
            && (pairs != Pairs::Near || self.takes_candidates(body_count))
    }

    /// The same for the broad phase alone, whose loops run over columns.
    pub(crate) fn takes_candidates(&self, body_count: usize) -> bool {
        let turns = body_count as u64 / u64::from(SEGMENT_COUNT);
        !(self.context.is_software() && turns > SOFTWARE_TURNS)
    }

    fn check_bodies(&self, body_count: usize) -> Result<()> {
        let needed_bytes = (body_count * size_of::<PackedBody>()) as u64;
        let limit_bytes = self.context.binding_limit();
        if needed_bytes > limit_bytes {
            return Err(Error::MemoryLimit { what: "one binding of all bodies", needed_bytes, limit_bytes });
        }
        Ok(())
    }
}

/// Vertices that the support mapping of a hull looks at, at most.
fn reach(hull: &HullRecord, cells: &[u32]) -> u64 {
    let cell_count = (6 * hull.cell_side * hull.cell_side) as usize;
    let begin = hull.cell_offset as usize;
    let lists = cells.get(begin..=begin + cell_count).unwrap_or_default();
    let longest =
        lists.windows(2).map(|ends| if ends[0] < ends[1] { ends[1] - ends[0] } else { hull.vertex_count });
    longest.max().unwrap_or(hull.vertex_count).into()
}

fn buffer<T: Pod>(context: &Context, label: &'static str, len: usize) -> Result<Buffer<T>> {
    Buffer::new(context, label, len)
}

/// Room for what there was at most, and a little more, so that a crowd which moves needs no second frame.
fn headroom(mark: usize) -> usize {
    mark + mark / 8
}

/// Number of pairs of `count` bodies.
fn pair_total(count: usize) -> u64 {
    let count = count as u64;
    count * count.saturating_sub(1) / 2
}

/// The sum of a scan, which arrives as two words.
fn total_of(done: &Done, read: &Read<u32>) -> u64 {
    match done.get(read)[..] {
        [low, high, ..] => u64::from(high) << 32 | u64::from(low),
        _ => 0,
    }
}

/// Encodes a kernel that makes one value of each body: its box or its sphere.
fn of_bodies<T: Pod>(
    frame: &mut Frame,
    kernel: &'static Kernel,
    hulls: &Buffer<HullRecord>,
    bodies: &Buffer<PackedBody>,
    label: &'static str,
) -> Result<Buffer<T>> {
    let context = frame.context().clone();
    let made = buffer(&context, label, bodies.len())?;
    for piece in context.pieces(bodies.len() as u64, BODY_STEPS, kernel.workgroup_size.into()) {
        let params = frame.uniform(&BoundsParams {
            body_count: piece.end as u32,
            zero: 0,
            first: piece.start as u32,
            padding: 0,
        })?;
        let bound = [params, bodies.bind(), hulls.bind(), made.bind()];
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(made)
}

/// The broad phase of one job: boxes and scanned counts stay on the device for all of its windows.
#[derive(Debug, Clone)]
struct Broad {
    body_count: u32,
    boxes: Buffer<Aabb>,
    /// Of each row and segment, where its pairs begin.
    offsets: Buffer<u32>,
    /// Number of candidate pairs, low and high word.
    total: Buffer<u32>,
}

impl Broad {
    /// Encodes bounds, counts and their scan.
    fn encode(frame: &mut Frame, arena: &GpuArena, bodies: &Buffer<PackedBody>) -> Result<Self> {
        let context = arena.context.clone();
        let body_count = bodies.len() as u32;
        let boxes = of_bodies(frame, &BOUNDS, &arena.hulls, bodies, "hullfield.collide.boxes")?;
        let counts = buffer(&context, "hullfield.collide.counts", bodies.len() * SEGMENT_COUNT as usize)?;
        let mut broad = Self {
            body_count,
            boxes,
            offsets: counts,
            total: buffer(&context, "hullfield.collide.none", 2)?,
        };
        broad.rows(frame, &BROAD_COUNT, 0..0, |params, broad| {
            vec![params, broad.boxes.bind(), broad.offsets.bind()]
        })?;
        broad.total = scan(frame, &broad.offsets)?;
        Ok(broad)
    }

    /// Encodes the pairs of one window of their order.
    fn write(&self, frame: &mut Frame, window: Range<u32>, pairs: &Buffer<[u32; 2]>) -> Result<()> {
        self.rows(frame, &BROAD_WRITE, window, |params, broad| {
            vec![params, broad.boxes.bind(), broad.offsets.bind(), pairs.bind()]
        })
    }

    /// Runs a kernel over all rows, in pieces.
    fn rows(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        window: Range<u32>,
        bind: impl Fn(Bound, &Self) -> Vec<Bound>,
    ) -> Result<()> {
        let count = u64::from(self.body_count);
        let context = frame.context().clone();
        for piece in context.pieces(count, count, kernel.workgroup_size.into()) {
            let params = frame.uniform(&BroadParams {
                body_count: self.body_count,
                segment_count: SEGMENT_COUNT,
                row_begin: piece.start as u32,
                row_end: piece.end as u32,
                window_begin: window.start,
                window_len: window.end - window.start,
                padding: [0; 2],
            })?;
            let groups = kernel.groups(piece.end - piece.start) * u64::from(SEGMENT_COUNT);
            frame.dispatch(kernel, &bind(params, self), groups)?;
        }
        Ok(())
    }
}

fn check_total(total: u64) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if total > limit {
        return Err(Error::TooMany { what: "candidate pairs", count: total, limit });
    }
    Ok(())
}

/// The sorted candidate pairs: see [`Arena::candidates`](super::Arena::candidates).
pub(crate) fn candidates(arena: &Arc<GpuArena>, scene: &Scene, job: Job) -> Result<Pending<Vec<[u32; 2]>>> {
    let count = job.packed.len();
    arena.check_bodies(count)?;
    let context = &arena.context;
    let mut frame = Frame::new(context, "hullfield.collide.candidates")?;
    let bodies = buffer(context, "hullfield.collide.bodies", count)?;
    frame.upload(&bodies, 0, &job.packed)?;
    scene.give_back(job);
    let broad = Broad::encode(&mut frame, arena, &bodies)?;
    let total = frame.read(&broad.total, 0..2)?;
    let capacity = arena.candidate_capacity(count);
    let window = 0..capacity as u32;
    let pairs = buffer(context, "hullfield.collide.pairs", capacity)?;
    broad.write(&mut frame, window, &pairs)?;
    let pairs = frame.read(&pairs, 0..capacity)?;
    let arena = Arc::clone(arena);
    frame.submit(move |done| {
        let total = total_of(&done, &total);
        check_total(total)?;
        arena.candidate_mark.fetch_max(total as usize, Relaxed);
        more_candidates(arena, broad, Vec::new(), &done, &pairs, total as usize)
    })
}

/// Takes a window of pairs, and asks for the next where there are more.
fn more_candidates(
    arena: Arc<GpuArena>,
    broad: Broad,
    mut found: Vec<[u32; 2]>,
    done: &Done,
    window: &Read<[u32; 2]>,
    total: usize,
) -> Result<Step<Vec<[u32; 2]>>> {
    let window = done.get(window);
    found.extend_from_slice(&window[..window.len().min(total - found.len())]);
    if found.len() == total {
        return Ok(Step::Done(found));
    }
    let capacity = (total - found.len()).min(arena.window_limit(broad.body_count as usize));
    let begin = found.len() as u32;
    let mut frame = Frame::new(&arena.context, "hullfield.collide.candidates")?;
    let pairs = buffer(&arena.context, "hullfield.collide.pairs", capacity)?;
    broad.write(&mut frame, begin..begin + capacity as u32, &pairs)?;
    let window = frame.read(&pairs, 0..capacity)?;
    Ok(Step::again(frame, move |done| more_candidates(arena, broad, found, &done, &window, total)))
}

/// One query on its way through its frames.
struct Query {
    arena: Arc<GpuArena>,
    scene: Arc<Scene>,
    job: Job,
    begin: Instant,
    bodies: Buffer<PackedBody>,
    /// Where candidates come from, for [`Pairs::Near`](super::Pairs::Near).
    broad: Option<Broad>,
    /// World spheres of the bodies, for [`Pairs::Every`].
    spheres: Option<Buffer<[f32; 4]>>,
    /// All pairs; for the broad phase unknown before the first frame is back.
    total: Option<u64>,
    /// Pairs done.
    next: u64,
    rows: Rows,
    stats: Stats,
}

/// One window of pairs on the device.
struct Window {
    len: usize,
    /// Pairs of the window, or the spheres of all bodies where pairs are not listed.
    pairs: Source,
    refine: Buffer<u32>,
    /// Entries of the list in `refine` that EPA has seen to.
    refined: usize,
    verdicts: Buffer<u32>,
    axes: Buffer<f32>,
    params: NarrowParams,
}

/// Where the kernels find the pair of an index.
#[derive(Clone)]
enum Source {
    Listed(Buffer<[u32; 2]>),
    Every(Buffer<[f32; 4]>),
}

impl Source {
    fn bind(&self) -> Bound {
        match self {
            Self::Listed(pairs) => pairs.bind(),
            Self::Every(spheres) => spheres.bind(),
        }
    }
}

/// What is read of a window.
enum Reads {
    /// Rows that are not separated, where they begin for each run of pairs, and their number.
    Hits { rows: Read<u32>, offsets: Buffer<u32>, total: Read<u32> },
    /// A verdict and an axis for every pair.
    All { verdicts: Read<u32>, axes: Read<f32> },
}

/// Answers a query: see [`Arena::intersections`](super::Arena::intersections).
pub(crate) fn intersections(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    job: Job,
) -> Result<Pending<Intersections>> {
    let begin = Instant::now();
    let count = job.packed.len();
    arena.check_bodies(count)?;
    let context = &arena.context;
    let mut frame = Frame::new(context, "hullfield.collide.intersections")?;
    let bodies = buffer(context, "hullfield.collide.bodies", count)?;
    frame.upload(&bodies, 0, &job.packed)?;
    let (mut broad, mut spheres, mut total) = (None, None, None);
    match &job.pairs {
        OwnedPairs::Near => broad = Some(Broad::encode(&mut frame, arena, &bodies)?),
        OwnedPairs::Every => {
            spheres =
                Some(of_bodies(&mut frame, &SPHERES, &arena.hulls, &bodies, "hullfield.collide.spheres")?);
            total = Some(every_total(count));
        }
        OwnedPairs::Given(pairs) => total = Some(pairs.len() as u64),
    }
    let stats = Stats::default();
    let mut query = Query {
        arena: Arc::clone(arena),
        scene: Arc::clone(scene),
        job,
        begin,
        bodies,
        broad,
        spheres,
        total,
        next: 0,
        rows: Rows::default(),
        stats,
    };
    let encoded = query.encode_window(&mut frame)?;
    frame.submit(move |done| query.land(done, encoded))
}

/// Places in the walk over every pair; a few of them may be no pairs (see `shaders/collide/pair_every.wgsl`).
fn every_total(count: usize) -> u64 {
    pair_total(count | 1)
}

/// A window and what is read of it in the frame that is under way.
struct Encoded {
    window: Window,
    /// Entries of the list of pairs to refine.
    refined: Read<u32>,
    /// Candidates of the broad phase.
    total: Option<Read<u32>>,
    reads: Reads,
}

impl Query {
    fn keeps_all(&self) -> bool {
        matches!(self.job.pairs, OwnedPairs::Given(_))
    }

    /// Encodes the next window: pairs, GJK, EPA, and the compaction of what they say.
    fn encode_window(&mut self, frame: &mut Frame) -> Result<Encoded> {
        let arena = Arc::clone(&self.arena);
        let context = &arena.context;
        let limit = arena.window_limit(self.job.packed.len());
        let len = match self.total {
            Some(total) => usize::try_from(total - self.next).unwrap_or(usize::MAX).min(limit),
            None => arena.candidate_capacity(self.job.packed.len()),
        };
        let keeps_all = self.keeps_all();
        let body_count = self.job.packed.len() as u32;
        let mut params = NarrowParams {
            zero: 0,
            first: 0,
            window_begin: 0,
            window_len: len as u32,
            body_count,
            every_row: 0,
            every_column: 0,
            write_axes: keeps_all.into(),
        };
        let refine: Buffer<u32> = buffer(context, "hullfield.collide.refine", 2 + len)?;
        let verdicts = buffer(context, "hullfield.collide.verdicts", len)?;
        let axes = buffer(context, "hullfield.collide.axes", if keeps_all { 3 * len } else { 1 })?;
        frame.upload(&refine, 0, &[0, len as u32])?;
        let mut total = None;
        let pairs = if let Some(spheres) = &self.spheres {
            let columns = u64::from(body_count | 1);
            params.every_row = (self.next / columns) as u32;
            params.every_column = (self.next % columns) as u32;
            Source::Every(spheres.clone())
        } else {
            let pairs = buffer(context, "hullfield.collide.pairs", len)?;
            if let OwnedPairs::Given(given) = &self.job.pairs {
                let begin = self.next as usize;
                frame.upload(&pairs, 0, &given[begin..begin + len])?;
            }
            if let Some(broad) = &self.broad {
                let begin = self.next as u32;
                params.window_begin = begin;
                broad.write(frame, begin..begin + len as u32, &pairs)?;
                frame.copy(&broad.total, 0..1, &refine, 1)?;
                total = Some(frame.read(&broad.total, 0..2)?);
            }
            Source::Listed(pairs)
        };
        let mut window = Window { len, pairs, refine, refined: 0, verdicts, axes, params };
        let (gjk, steps) = match window.pairs {
            Source::Listed(_) => (&GJK, arena.pair_steps),
            Source::Every(_) => (&GJK_EVERY, (arena.pair_steps / FAR_PAIRS).max(FAR_PAIRS)),
        };
        self.encode_narrow(frame, &window, gjk, steps, 0..len)?;
        self.encode_refinement(frame, &mut window, arena.refine_capacity(len))?;
        let refined = frame.read(&window.refine, 0..1)?;
        let reads = self.encode_results(frame, &window)?;
        Ok(Encoded { window, refined, total, reads })
    }

    /// Encodes EPA for the entries of the list up to `end` that it has not seen.
    fn encode_refinement(&self, frame: &mut Frame, window: &mut Window, end: usize) -> Result<()> {
        let epa = match window.pairs {
            Source::Listed(_) => &EPA,
            Source::Every(_) => &EPA_EVERY,
        };
        self.encode_narrow(frame, window, epa, self.arena.pair_steps, window.refined..end)?;
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
        let arena = &self.arena;
        for piece in arena.context.pieces(range.len() as u64, steps, kernel.workgroup_size.into()) {
            let params = NarrowParams { first: (range.start as u64 + piece.start) as u32, ..window.params };
            let bound = [
                frame.uniform(&params)?,
                self.bodies.bind(),
                arena.hulls.bind(),
                arena.vertices.bind(),
                arena.cells.bind(),
                window.pairs.bind(),
                window.refine.bind(),
                window.verdicts.bind(),
                window.axes.bind(),
            ];
            frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
        }
        Ok(())
    }

    /// Encodes what is read of a window: everything for given pairs, otherwise the rows that are not
    /// separated.
    fn encode_results(&self, frame: &mut Frame, window: &Window) -> Result<Reads> {
        let len = window.len;
        if self.keeps_all() {
            let verdicts = frame.read(&window.verdicts, 0..len)?;
            return Ok(Reads::All { verdicts, axes: frame.read(&window.axes, 0..3 * len)? });
        }
        let runs = len.div_ceil(RUN);
        let offsets = buffer(frame.context(), "hullfield.collide.hit_counts", runs)?;
        let params = frame.uniform(&window.params)?;
        let bound = [params, window.refine.bind(), window.verdicts.bind(), offsets.bind()];
        frame.dispatch(&HIT_COUNT, &bound, HIT_COUNT.groups(runs as u64))?;
        let total = scan(frame, &offsets)?;
        let total = frame.read(&total, 0..2)?;
        let rows = self.encode_rows(frame, window, &offsets, self.arena.hit_capacity(len))?;
        Ok(Reads::Hits { rows, offsets, total })
    }

    /// Encodes the rows that are not separated, as many as `capacity`.
    fn encode_rows(
        &self,
        frame: &mut Frame,
        window: &Window,
        offsets: &Buffer<u32>,
        capacity: usize,
    ) -> Result<Read<u32>> {
        let hits = buffer(frame.context(), "hullfield.collide.hits", 3 * capacity)?;
        let kernel = match window.pairs {
            Source::Listed(_) => &HIT_WRITE,
            Source::Every(_) => &HIT_WRITE_EVERY,
        };
        let bound = [
            frame.uniform(&window.params)?,
            window.refine.bind(),
            window.verdicts.bind(),
            window.pairs.bind(),
            offsets.bind(),
            hits.bind(),
        ];
        frame.dispatch(kernel, &bound, kernel.groups(offsets.len() as u64))?;
        frame.read(&hits, 0..3 * capacity)
    }

    /// Another frame of the same query.
    fn frame(&mut self) -> Result<Frame> {
        Frame::new(&self.arena.context, "hullfield.collide.intersections")
    }

    /// Takes the results of a window.
    fn land(mut self, done: Done, encoded: Encoded) -> Result<Step<Intersections>> {
        self.clock(&done);
        let Encoded { mut window, refined, total, reads } = encoded;
        if let Some(total) = &total {
            let total = total_of(&done, total);
            check_total(total)?;
            self.total = Some(total);
            self.arena.candidate_mark.fetch_max(total as usize, Relaxed);
        }
        let refined = done.first(&refined) as usize;
        self.rows.refined_count += refined as u64;
        self.arena.refine_mark.fetch_max(self.rows.refined_count as usize, Relaxed);
        if refined > window.refined {
            self.stats.rerun_count += 1;
            let mut frame = self.frame()?;
            self.encode_refinement(&mut frame, &mut window, refined)?;
            let reads = self.encode_results(&mut frame, &window)?;
            return Ok(Step::again(frame, move |done| {
                self.clock(&done);
                self.take(&done, window, reads)
            }));
        }
        self.take(&done, window, reads)
    }

    fn take(mut self, done: &Done, window: Window, reads: Reads) -> Result<Step<Intersections>> {
        let len = window.len.min(usize::try_from(self.total.unwrap_or(0) - self.next).unwrap_or(usize::MAX));
        match reads {
            Reads::All { verdicts, axes } => {
                self.take_all(&done.get(&verdicts)[..len], &done.get(&axes));
                self.go_on(len)
            }
            Reads::Hits { rows, offsets, total } => {
                let hits = total_of(done, &total) as usize;
                self.arena.hit_mark.fetch_max(self.rows.rows.len() + hits, Relaxed);
                let words = done.get(&rows);
                if words.len() >= 3 * hits {
                    self.take_hits(&words[..3 * hits]);
                    return self.go_on(len);
                }
                self.stats.rerun_count += 1;
                let mut frame = self.frame()?;
                let rows = self.encode_rows(&mut frame, &window, &offsets, hits)?;
                Ok(Step::again(frame, move |done| {
                    self.clock(&done);
                    self.take_hits(&done.get(&rows)[..3 * hits]);
                    self.go_on(len)
                }))
            }
        }
    }

    fn take_hits(&mut self, words: &[u32]) {
        self.rows.rows.reserve(words.len() / 3);
        for row in words.chunks_exact(3) {
            self.push(row[0], row[1], row[2], [0.0; 3]);
        }
    }

    fn take_all(&mut self, verdicts: &[u32], axes: &[f32]) {
        for (&code, axis) in verdicts.iter().zip(axes.chunks_exact(3)) {
            let OwnedPairs::Given(pairs) = &self.job.pairs else { return };
            let [a, b] = pairs[self.rows.rows.len()];
            self.push(a, b, code, [axis[0], axis[1], axis[2]]);
        }
    }

    fn push(&mut self, a: u32, b: u32, code: u32, axis: [f32; 3]) {
        let verdict = verdict_of(code, axis);
        if verdict.status.is_none() {
            self.rows.open.push(self.rows.rows.len());
        }
        self.rows.rows.push(verdict.row(a, b));
    }

    /// The next window, or the answer.
    fn go_on(mut self, len: usize) -> Result<Step<Intersections>> {
        self.next += len as u64;
        let total = self.total.unwrap_or(0);
        if self.next < total {
            self.stats.rerun_count += u32::from(self.broad.is_some());
            let mut frame = self.frame()?;
            let encoded = self.encode_window(&mut frame)?;
            return Ok(Step::again(frame, move |done| self.land(done, encoded)));
        }
        let every = matches!(self.job.pairs, OwnedPairs::Every);
        self.stats.candidate_count = if every { pair_total(self.job.packed.len()) } else { total };
        let mut found = cpu::finish(&self.scene, &self.job, self.rows, self.stats, self.begin);
        if every {
            // Windows walk over every pair in an order of their own.
            found.rows.sort_unstable_by_key(|row| (row.a, row.b));
        }
        self.scene.give_back(self.job);
        Ok(Step::Done(found))
    }

    fn clock(&mut self, done: &Done) {
        let times = done.times();
        let kernels_ms = times.kernels_ms.unwrap_or(times.flight_ms);
        self.stats.times.upload_ms += times.encode_ms;
        self.stats.times.kernels_ms += kernels_ms;
        self.stats.times.readback_ms += (times.flight_ms - kernels_ms).max(0.0);
    }
}

/// A verdict's code in `shaders/collide/narrow.wgsl`.
fn verdict_of(code: u32, axis: [f32; 3]) -> Verdict {
    let status = match code {
        0 => Some(Status::Separated),
        1 => Some(Status::Touching),
        2 => Some(Status::Penetrating),
        _ => None,
    };
    Verdict { status, refined: false, axis }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::{self, tests::Random};
    use super::*;
    use crate::{Engine, common};

    fn engine() -> Option<(Engine, Context)> {
        let engine = common::gpu()?;
        let context = engine.context()?.clone();
        Some((engine, context))
    }

    fn on_device<T: Pod>(context: &Context, label: &'static str, values: &[T]) -> Buffer<T> {
        let buffer = Buffer::new(context, label, values.len()).unwrap();
        let mut frame = Frame::new(context, "hullfield.test").unwrap();
        frame.upload(&buffer, 0, values).unwrap();
        frame.submit(|_| Ok(Step::Done(()))).unwrap().wait().unwrap();
        buffer
    }

    #[test]
    fn boxes_are_those_of_the_cpu_bit_for_bit() {
        let Some((_engine, context)) = engine() else { return };
        let mut random = Random(11);
        let hulls = bounds::tests::hulls(&mut random, 64);
        let mut bodies = bounds::tests::bodies(&mut random, &hulls, 50_000);
        bodies.extend([1e35, f32::MAX, 1e-38].map(|scale| PackedBody { scale: [scale; 3], ..bodies[0] }));
        let device_hulls = on_device(&context, "hullfield.collide.hulls", &hulls);
        let device_bodies = on_device(&context, "hullfield.collide.bodies", &bodies);
        let mut frame = Frame::new(&context, "hullfield.test").unwrap();
        let boxes =
            of_bodies::<Aabb>(&mut frame, &BOUNDS, &device_hulls, &device_bodies, "hullfield.collide.boxes")
                .unwrap();
        let read = frame.read(&boxes, 0..bodies.len()).unwrap();
        let found: Vec<Aabb> =
            frame.submit(move |done| Ok(Step::Done(done.get(&read).into_owned()))).unwrap().wait().unwrap();
        for ((body, found), expected) in bodies.iter().zip(&found).zip(bounds::aabbs(&bodies, &hulls)) {
            assert_eq!(
                bytemuck::bytes_of(found),
                bytemuck::bytes_of(&expected),
                "{body:?}: {found:?} {expected:?}"
            );
        }
    }
}
