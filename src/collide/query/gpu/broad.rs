//! The broad phase on the device: world boxes, and the pairs of those that overlap.
//!
//! Few bodies are tested all against all, in tiles. More bodies use an implicit tree over their Morton order: keys, radix sort,
//! boxes gathered and merged four to a node. Then one thread for each row walks the tree to count its partners. A scan of the counts
//! gives each row its place, and the threads walk again to write and sort the pairs. Rows that are too long for one thread (a floor,
//! a half-space, everything at one place) go on a list of heavy rows, for which groups of threads test all columns. The list's
//! capacity is its high-water mark. Where it overflows, the count runs again with more capacity. The order of results never depends
//! on an atomic.

use std::{ops::Range, sync::atomic::Ordering::Relaxed};

use bytemuck::{Pod, Zeroable};

use std::sync::Arc;

use crate::collide::broad_phase::cpu::check_total;
use crate::collide::broad_phase::kernels::BoundsParams;
use crate::collide::broad_phase::kernels::{
    BOUNDS, BUILD_LEVELS, BuildParams, GRID_WORDS, HEAVY_COUNT, HEAVY_SUM, HEAVY_WRITE, KEY_BITS, Levels,
    MORTON_FRAME, MORTON_KEYS, MORTON_RUNS, MortonParams, ROW_LIMIT, TILED_COUNT, TILED_WRITE, TREE_BUILD,
    TREE_COUNT, TREE_WRITE, TileParams, TreeParams, WIDTH,
};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::record::HullRecord;
use crate::collide::query::gpu::arena::{BODY_STEPS, GpuArena, SEGMENT_COUNT, headroom, total_of};
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::sweep::kernels::SWEEP_BOUNDS;
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::readback::{Read, Results};
use crate::gpu::scan;
use crate::gpu::sort::{self, Keyed, RUN_LEN};

/// Up to so many bodies all pairs are tested, in tiles.
const TILE_LIMIT: usize = 2048;
/// Most nodes of the topmost level.
const TOP_LIMIT: usize = 16;
/// Estimated steps for a body's key and its place in a sorted run.
const RUN_STEPS: u64 = 100;
/// Estimated nodes that a row's walk visits.
const WALK_STEPS: u64 = 150;
/// First capacity for heavy rows.
const FIRST_HEAVY: usize = 32;
/// Columns of a heavy row that one group tests, where there are few heavy rows.
const SEGMENT_LEN: usize = 1 << 14;
/// Most segments of all heavy rows together.
const SEGMENT_LIMIT: usize = 1 << 20;

/// Encodes a kernel that computes one value for each body in `range`: its box or its sphere.
pub(crate) fn encode_per_body<T: Pod>(
    frame: &mut Frame,
    kernel: &'static Kernel,
    hulls: &Buffer<HullRecord>,
    bodies: &Buffer<PackedBody>,
    made: &Buffer<T>,
    range: Range<usize>,
    grow: f32,
) -> Result<()> {
    let context = frame.context().clone();
    for piece in context.pieces(range.len() as u64, BODY_STEPS, kernel.workgroup_size.into()) {
        let params = frame.uniform(&BoundsParams {
            body_count: range.start as u32 + piece.end as u32,
            first: range.start as u32 + piece.start as u32,
            grow,
            ..BoundsParams::zeroed()
        })?;
        let bound = [params, bodies.bind(), hulls.bind(), made.bind()];
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(())
}

/// How the bodies move, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct MotionBuffer {
    /// One for each mover.
    pub(crate) motions: Buffer<PackedMotion>,
    /// Seconds.
    pub(crate) duration: f32,
}

/// Encodes the swept boxes of the first `count` bodies.
fn swept_boxes(
    frame: &mut Frame,
    hulls: &Buffer<HullRecord>,
    bodies: &Buffer<PackedBody>,
    moves: &MotionBuffer,
    boxes: &Buffer<Aabb>,
    count: usize,
) -> Result<()> {
    let context = frame.context().clone();
    for piece in context.pieces(count as u64, BODY_STEPS, SWEEP_BOUNDS.workgroup_size.into()) {
        let params = frame.uniform(&BoundsParams {
            body_count: piece.end as u32,
            first: piece.start as u32,
            duration: moves.duration,
            ..BoundsParams::zeroed()
        })?;
        let bound = [params, bodies.bind(), hulls.bind(), moves.motions.bind(), boxes.bind()];
        frame.dispatch(&SWEEP_BOUNDS, &bound, SWEEP_BOUNDS.groups(piece.end - piece.start))?;
    }
    Ok(())
}

/// The levels of a tree over `count` boxes that begins at `begin`: where each lies, the topmost, and where the last ends.
fn levels_of(begin: usize, count: usize) -> (Levels, usize, usize) {
    let mut levels = [[0; 4]; 5];
    let (mut begin, mut len, mut top) = (begin, count, 0);
    loop {
        levels[top / 4][top % 4] = begin as u32;
        begin += len;
        levels[(top + 1) / 4][(top + 1) % 4] = begin as u32;
        if len <= TOP_LIMIT {
            return (levels, top, begin);
        }
        len = len.div_ceil(WIDTH);
        top += 1;
    }
}

/// Encodes the tree over the first `count` of `boxes`, to the front of `nodes`.
fn build_tree(frame: &mut Frame, boxes: &Buffer<Aabb>, count: usize, nodes: &Buffer<Aabb>) -> Result<()> {
    let context = frame.context().clone();
    let keyed = || {
        Result::Ok(Keyed {
            keys: Buffer::new(&context, "hullfield.collide.keys", count)?,
            values: Buffer::new(&context, "hullfield.collide.values", count)?,
        })
    };
    let (list, spare) = (keyed()?, keyed()?);
    let params = |piece: Range<u64>| MortonParams {
        count: count as u32,
        begin: piece.start as u32,
        end: piece.end as u32,
        zero: 0,
    };
    let order = if sort::is_short(&context, count) {
        for piece in context.pieces(count as u64, RUN_STEPS, RUN_LEN as u64) {
            let groups = (piece.end - piece.start).div_ceil(RUN_LEN as u64);
            let bound = [frame.uniform(&params(piece))?, boxes.bind(), list.keys.bind(), list.values.bind()];
            frame.dispatch(&MORTON_RUNS, &bound, groups)?;
        }
        sort::merge_runs(frame, list, spare)?
    } else {
        // A smaller crowd later needs these kernels. Built now, they cost that frame no time.
        frame.pipeline(&MORTON_RUNS)?;
        frame.pipeline(&sort::SORT_MERGE)?;
        let grid: Buffer<u32> = Buffer::new(&context, "hullfield.collide.grid", GRID_WORDS)?;
        let bound = [frame.uniform(&params(0..0))?, boxes.bind(), grid.bind()];
        frame.dispatch(&MORTON_FRAME, &bound, 1)?;
        for piece in context.pieces(count as u64, BODY_STEPS, MORTON_KEYS.workgroup_size.into()) {
            let groups = MORTON_KEYS.groups(piece.end - piece.start);
            let params = frame.uniform(&params(piece))?;
            let bound = [params, boxes.bind(), grid.bind(), list.keys.bind(), list.values.bind()];
            frame.dispatch(&MORTON_KEYS, &bound, groups)?;
        }
        sort::sort(frame, list, spare, KEY_BITS)?
    };
    let order = order.values;
    let (levels, top, _) = levels_of(0, count);
    let level = |level: usize| levels[level / 4][level % 4];
    for lowest in (0..top.max(1)).step_by(BUILD_LEVELS) {
        let per_group = TREE_BUILD.workgroup_size * WIDTH as u32;
        let group_count = u64::from((level(lowest + 1) - level(lowest)).div_ceil(per_group));
        for piece in context.pieces(group_count, per_group.into(), 1) {
            let mut here = [[0; 4]; 2];
            for k in 0..8.min(20 - lowest) {
                here[k / 4][k % 4] = level(lowest + k);
            }
            let params = frame.uniform(&BuildParams {
                levels: here,
                gathers: u32::from(lowest == 0),
                first: piece.start as u32,
                level_count: (top - lowest).min(BUILD_LEVELS) as u32,
                zero: 0,
            })?;
            let bound = [params, boxes.bind(), order.bind(), nodes.bind()];
            frame.dispatch(&TREE_BUILD, &bound, piece.end - piece.start)?;
        }
    }
    Ok(())
}

impl GpuStatics {
    /// Uploads the bodies and, for a broad phase, builds their tree. Bodies of another block, which a part treats like statics, may have
    /// motions.
    pub(crate) fn new(
        arena: &GpuArena,
        packed: &[PackedBody],
        motions: Option<(&[PackedMotion], f32)>,
        has_tree: bool,
    ) -> Result<Self> {
        arena.check_bodies(packed.len())?;
        let context = &arena.context;
        let mut frame = Frame::new(context, "hullfield.collide.statics")?;
        let (count, boxed) = (packed.len(), if has_tree { packed.len() } else { 0 });
        let made = Self {
            bodies: Buffer::new(context, "hullfield.collide.static_bodies", count)?,
            boxes: Buffer::new(context, "hullfield.collide.static_boxes", boxed)?,
            nodes: Buffer::new(context, "hullfield.collide.static_nodes", levels_of(0, boxed).2)?,
        };
        frame.upload(&made.bodies, 0, packed)?;
        if has_tree {
            if let Some((motions, duration)) = motions {
                let held = Buffer::new(context, "hullfield.collide.static_motions", motions.len())?;
                frame.upload(&held, 0, motions)?;
                let moves = MotionBuffer { motions: held, duration };
                swept_boxes(&mut frame, &arena.hulls()?.records, &made.bodies, &moves, &made.boxes, count)?;
            } else {
                encode_per_body(
                    &mut frame,
                    &BOUNDS,
                    &arena.hulls()?.records,
                    &made.bodies,
                    &made.boxes,
                    0..count,
                    0.0,
                )?;
            }
            build_tree(&mut frame, &made.boxes, count, &made.nodes)?;
        }
        // The queue runs in order, so nothing needs to wait for this.
        frame.send()?;
        Ok(made)
    }
}

impl GpuArena {
    /// The same arena with other statics. Statics that do not fit in one binding are uploaded part by part.
    pub(crate) fn with_statics(&self, packed: &[PackedBody]) -> Result<Self> {
        self.with_other_bodies(if self.fits(packed.len()) { packed } else { &[] }, None, true)
    }

    /// The same arena with other bodies in the place of the statics.
    pub(crate) fn with_other_bodies(
        &self,
        packed: &[PackedBody],
        motions: Option<(&[PackedMotion], f32)>,
        has_tree: bool,
    ) -> Result<Self> {
        let statics =
            if packed.is_empty() { None } else { Some(GpuStatics::new(self, packed, motions, has_tree)?) };
        Ok(Self {
            context: self.context.clone(),
            hulls: self.hulls.clone(),
            needed_bytes: self.needed_bytes,
            pair_steps: self.pair_steps,
            high_water: Arc::clone(&self.high_water),
            features: Arc::clone(&self.features),
            statics,
        })
    }
}

/// The input of the broad phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BroadPhaseInput<'a> {
    /// The movers, then the statics.
    pub(crate) bodies: &'a Buffer<PackedBody>,
    pub(crate) statics: Option<&'a GpuStatics>,
    /// Ids of the half-spaces, where they are known.
    pub(crate) planes: Option<&'a [u32]>,
    /// Half the margin.
    pub(crate) grow: f32,
    /// For swept boxes: how the bodies move.
    pub(crate) moves: Option<&'a MotionBuffer>,
    /// Capacity for pairs of a frame that can't run again.
    pub(crate) room: Option<usize>,
    /// Whether two movers may be a pair.
    pub(crate) pairs_own_rows: bool,
}

/// The broad phase of one query: boxes and scanned counts stay on the device for all windows.
#[derive(Debug, Clone)]
pub(crate) struct GpuBroadPhase {
    pub(crate) boxes: Buffer<Aabb>,
    /// Where the pairs of each row begin; with tiles, of each row and segment.
    offsets: Buffer<u32>,
    /// Number of candidate pairs, low and high word.
    pub(crate) total: Buffer<u32>,
    params: TreeParams,
    /// Least capacity for heavy rows.
    heavy_room: usize,
    tree: Option<DeviceTree>,
}

/// The tree, the half-spaces, and the heavy rows.
#[derive(Debug, Clone)]
struct DeviceTree {
    nodes: Buffer<Aabb>,
    planes: Buffer<u32>,
    /// The number of heavy rows, then their ids.
    heavy: Buffer<u32>,
    /// Partners of each heavy row in each segment of the columns; later their prefix sums.
    sums: Buffer<u32>,
}

/// The readback of the count.
#[derive(Debug)]
pub(crate) struct CountReads {
    /// Number of candidate pairs, low and high word.
    total: Read<u32>,
    /// Number of heavy rows; none with tiles.
    heavy: Option<Read<u32>>,
}

/// The result of the count.
pub(crate) enum Counted {
    /// All candidate pairs are counted: their number.
    Total(u64),
    /// The list of heavy rows overflowed, so [`GpuBroadPhase::recount`] is needed: the number of heavy rows, and of the tests of boxes that
    /// the count takes.
    HeavyOverflow { heavy: usize, tests: u64 },
}

impl GpuBroadPhase {
    /// Encodes boxes, counts and their scan.
    pub(crate) fn encode(
        frame: &mut Frame,
        arena: &GpuArena,
        broad_input: BroadPhaseInput<'_>,
    ) -> Result<Self> {
        let context = arena.context.clone();
        let (columns, static_count) =
            (broad_input.bodies.len(), broad_input.statics.map_or(0, GpuStatics::len));
        let count = columns - static_count;
        let boxes = Buffer::new(&context, "hullfield.collide.boxes", columns)?;
        match broad_input.moves {
            Some(moves) => {
                swept_boxes(frame, &arena.hulls()?.records, broad_input.bodies, moves, &boxes, count)?
            }
            None => encode_per_body(
                frame,
                &BOUNDS,
                &arena.hulls()?.records,
                broad_input.bodies,
                &boxes,
                0..count,
                broad_input.grow,
            )?,
        }
        if let Some(statics) = broad_input.statics {
            frame.copy(&statics.boxes, 0..static_count, &boxes, count)?;
        }
        Self::over(frame, arena, boxes, broad_input)
    }

    /// Encodes counts and their scan for these boxes.
    fn over(
        frame: &mut Frame,
        arena: &GpuArena,
        boxes: Buffer<Aabb>,
        broad_input: BroadPhaseInput<'_>,
    ) -> Result<Self> {
        let context = arena.context.clone();
        let (columns, static_count) = (boxes.len(), broad_input.statics.map_or(0, GpuStatics::len));
        let count = columns - static_count;
        let mut params = TreeParams {
            body_count: count as u32,
            static_count: static_count as u32,
            plane_count: broad_input.planes.map_or(0, <[u32]>::len) as u32,
            static_grow: broad_input.grow,
            column_begin: if broad_input.pairs_own_rows { 0 } else { count as u32 },
            ..TreeParams::zeroed()
        };
        let none = Buffer::new(&context, "hullfield.collide.none", 2)?;
        let mut broad = Self { boxes, offsets: none.clone(), total: none, params, heavy_room: 0, tree: None };
        // Tiles find half-spaces by themselves.
        if let Some(list) = broad_input.planes.filter(|_| columns > TILE_LIMIT) {
            // A smaller crowd later needs the tiled kernels. Built now, they cost that frame no time.
            frame.pipeline(&TILED_COUNT)?;
            frame.pipeline(&TILED_WRITE)?;
            let (mover_levels, mover_top, end) = levels_of(0, count);
            let (static_levels, static_top, end) = levels_of(end, static_count);
            (params.mover_levels, params.static_levels) = (mover_levels, static_levels);
            (params.mover_top, params.static_top) = (mover_top as u32, static_top as u32);
            let nodes = Buffer::new(&context, "hullfield.collide.nodes", end)?;
            build_tree(frame, &broad.boxes, count, &nodes)?;
            if let Some(statics) = broad_input.statics {
                let begin = static_levels[0][0] as usize;
                frame.copy(&statics.nodes, 0..statics.nodes.len(), &nodes, begin)?;
            }
            let planes = Buffer::new(&context, "hullfield.collide.planes", list.len())?;
            frame.upload(&planes, 0, list)?;
            let none = broad.total.clone();
            broad.params = params;
            broad.tree = Some(DeviceTree { nodes, planes, heavy: none.clone(), sums: none });
        }
        // A row is heavy where it is a half-space, where it has many pairs, or (rarely) where its walk is long. Few crowds have any,
        // and their kernels are three dispatches: they run where a half-space or an earlier query needs them, or where the frame
        // can't run again.
        let planes = broad_input.planes.map_or(0, <[u32]>::len);
        if planes > 0 || broad_input.room.is_some() {
            broad.heavy_room = FIRST_HEAVY + planes + broad_input.room.unwrap_or(0) / ROW_LIMIT;
        }
        broad.recount(frame, arena, 0)?;
        Ok(broad)
    }

    /// Encodes the count and its scan, with capacity for so many heavy rows, or for the high-water mark.
    pub(crate) fn recount(&mut self, frame: &mut Frame, arena: &GpuArena, heavy: usize) -> Result<()> {
        let context = &arena.context;
        arena.high_water.heavy.fetch_max(heavy, Relaxed);
        let count = self.params.body_count as usize;
        let Some(tree) = &mut self.tree else {
            // One more than there are rows and segments: where the last one ends.
            let len = count * SEGMENT_COUNT as usize + 1;
            self.offsets = Buffer::new(context, "hullfield.collide.counts", len)?;
            if count == 0 {
                // No kernel writes where the rows end.
                frame.clear(&self.offsets);
            }
            self.tiles(frame, &TILED_COUNT, 0..0, |params, broad| {
                vec![params, broad.boxes.bind(), broad.offsets.bind()]
            })?;
            self.total = scan(frame, &self.offsets)?;
            return Ok(());
        };
        let capacity = headroom(arena.high_water.heavy.load(Relaxed)).max(self.heavy_room).min(count);
        let segments = self.boxes.len().div_ceil(SEGMENT_LEN).min(SEGMENT_LIMIT / capacity.max(1)).max(1);
        self.params.heavy_capacity = capacity as u32;
        self.params.segment_count = segments as u32;
        // One more than there are rows: where the last one ends.
        self.offsets = Buffer::new(context, "hullfield.collide.counts", count + 1)?;
        tree.heavy = Buffer::new(context, "hullfield.collide.heavy", 1 + capacity)?;
        tree.sums = Buffer::new(context, "hullfield.collide.heavy_sums", capacity * segments)?;
        // No row is heavy so far.
        frame.upload(&tree.heavy, 0, &[0])?;
        let tree = tree.clone();
        self.pieces(frame, &TREE_COUNT, count, WALK_STEPS, 1, 0..0, |params, broad| {
            let DeviceTree { nodes, planes, heavy, .. } = &tree;
            vec![params, broad.boxes.bind(), nodes.bind(), planes.bind(), broad.offsets.bind(), heavy.bind()]
        })?;
        self.heavy_pieces(frame, &HEAVY_COUNT, 0..0, |params, broad| {
            vec![params, broad.boxes.bind(), tree.heavy.bind(), tree.sums.bind()]
        })?;
        self.pieces(frame, &HEAVY_SUM, capacity, segments as u64, 1, 0..0, |params, broad| {
            vec![params, tree.heavy.bind(), tree.sums.bind(), broad.offsets.bind()]
        })?;
        self.total = scan(frame, &self.offsets)?;
        Ok(())
    }

    /// The number of heavy rows (its first word), and how many are listed at most: the pairs of others are missing. With tiles there
    /// are none, whatever the first word is.
    pub(crate) fn heavy_rows(&self) -> (Buffer<u32>, u32) {
        match &self.tree {
            Some(tree) => (tree.heavy.clone(), self.params.heavy_capacity),
            None => (self.total.clone(), u32::MAX),
        }
    }

    /// Encodes the readback of the counts.
    pub(crate) fn read(&self, frame: &mut Frame) -> Result<CountReads> {
        let heavy = match &self.tree {
            Some(tree) => Some(frame.read(&tree.heavy, 0..1)?),
            None => None,
        };
        Ok(CountReads { total: frame.read(&self.total, 0..2)?, heavy })
    }

    /// The counts that were read back.
    pub(crate) fn counted(&self, results: &Results, read: &CountReads, arena: &GpuArena) -> Result<Counted> {
        let CountReads { total: read, heavy } = read;
        let heavy = match heavy {
            Some(heavy) => results.first(heavy)? as usize,
            None => 0,
        };
        if heavy > self.params.heavy_capacity as usize {
            return Ok(Counted::HeavyOverflow { heavy, tests: heavy as u64 * self.boxes.len() as u64 });
        }
        arena.high_water.heavy.fetch_max(heavy, Relaxed);
        let total = total_of(results, read)?;
        check_total(total)?;
        arena.high_water.candidates.fetch_max(total as usize, Relaxed);
        Ok(Counted::Total(total))
    }

    /// Pairs that the buffer for a window of `len` pairs must hold: rows that the window cuts are sorted behind it.
    pub(crate) fn room(len: usize) -> usize {
        len + 2 * ROW_LIMIT
    }

    /// Encodes the pairs of one window of their order; `pairs` has [`room`](Self::room) for them. The second word of `refine`
    /// becomes the number of all pairs, its low word, where there are bodies.
    pub(crate) fn write(
        &self,
        frame: &mut Frame,
        window: Range<u32>,
        pairs: &Buffer<[u32; 2]>,
        refine: &Buffer<u32>,
    ) -> Result<()> {
        let Some(tree) = &self.tree else {
            return self.tiles(frame, &TILED_WRITE, window, |params, broad| {
                vec![params, broad.boxes.bind(), broad.offsets.bind(), pairs.bind(), refine.bind()]
            });
        };
        let count = self.params.body_count as usize;
        self.pieces(frame, &TREE_WRITE, count, WALK_STEPS, 1, window.clone(), |params, broad| {
            let (nodes, planes) = (tree.nodes.bind(), tree.planes.bind());
            vec![params, broad.boxes.bind(), nodes, planes, broad.offsets.bind(), pairs.bind(), refine.bind()]
        })?;
        self.heavy_pieces(frame, &HEAVY_WRITE, window, |params, broad| {
            let (heavy, sums) = (tree.heavy.bind(), tree.sums.bind());
            vec![params, broad.boxes.bind(), heavy, sums, broad.offsets.bind(), pairs.bind()]
        })
    }

    /// Encodes a kernel with one group for each heavy row and segment, in pieces.
    fn heavy_pieces(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        window: Range<u32>,
        bind: impl Fn(BoundRange, &Self) -> Vec<BoundRange>,
    ) -> Result<()> {
        let (capacity, columns) = (self.params.heavy_capacity as usize, self.boxes.len() as u64);
        let groups = u64::from(self.params.segment_count * kernel.workgroup_size);
        self.pieces(frame, kernel, capacity, columns, groups, window, bind)
    }

    /// Encodes a kernel over `count` rows, with `invocations` for each, in pieces.
    #[expect(clippy::too_many_arguments, reason = "these differ between four kernels")]
    fn pieces(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        count: usize,
        steps: u64,
        invocations: u64,
        window: Range<u32>,
        bind: impl Fn(BoundRange, &Self) -> Vec<BoundRange>,
    ) -> Result<()> {
        let context = frame.context().clone();
        let granule = if invocations == 1 { kernel.workgroup_size.into() } else { 1 };
        for piece in context.pieces(count as u64, steps, granule) {
            let params = frame.uniform(&TreeParams {
                begin: piece.start as u32,
                end: piece.end as u32,
                window_begin: window.start,
                window_len: window.end - window.start,
                ..self.params
            })?;
            let groups = kernel.groups((piece.end - piece.start) * invocations);
            frame.dispatch(kernel, &bind(params, self), groups)?;
        }
        Ok(())
    }

    /// Encodes a tiled kernel over all rows and columns, in pieces.
    fn tiles(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        window: Range<u32>,
        bind: impl Fn(BoundRange, &Self) -> Vec<BoundRange>,
    ) -> Result<()> {
        let (count, columns) = (u64::from(self.params.body_count), self.boxes.len() as u64);
        let context = frame.context().clone();
        for piece in context.pieces(count, columns, kernel.workgroup_size.into()) {
            let params = frame.uniform(&TileParams {
                body_count: self.params.body_count,
                segment_count: SEGMENT_COUNT,
                row_begin: piece.start as u32,
                row_end: piece.end as u32,
                window_begin: window.start,
                window_len: window.end - window.start,
                zero: 0,
                column_count: columns as u32,
                static_grow: self.params.static_grow,
                column_begin: self.params.column_begin,
                ..TileParams::zeroed()
            })?;
            let groups = kernel.groups(piece.end - piece.start) * u64::from(SEGMENT_COUNT);
            frame.dispatch(kernel, &bind(params, self), groups)?;
        }
        Ok(())
    }
}

/// Uploads the bodies, with the statics behind them.
pub(crate) fn upload_bodies(
    frame: &mut Frame,
    arena: &GpuArena,
    packed: &[PackedBody],
    statics: Option<&GpuStatics>,
) -> Result<Buffer<PackedBody>> {
    let static_count = statics.map_or(0, GpuStatics::len);
    arena.check_bodies(packed.len() + static_count)?;
    let bodies = Buffer::new(&arena.context, "hullfield.collide.bodies", packed.len() + static_count)?;
    frame.upload(&bodies, 0, packed)?;
    if let Some(statics) = statics {
        frame.copy(&statics.bodies, 0..static_count, &bodies, packed.len())?;
    }
    Ok(bodies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::broad_phase::cpu;
    use crate::collide::query::gpu::candidates::candidates_of;
    use crate::collide::scene::bounds;
    use crate::collide::scene::bounds::tests::Random;
    use crate::collide::scene::query_input::Scene;
    use crate::engine::Engine;
    use crate::gpu::context::Context;
    use crate::gpu::submit::Next;
    use crate::testing;
    use std::sync::Arc;

    fn engine() -> Option<(Engine, Context)> {
        let engine = testing::gpu()?;
        let context = engine.context()?.clone();
        Some((engine, context))
    }

    fn on_device<T: Pod>(context: &Context, label: &'static str, values: &[T]) -> Buffer<T> {
        let buffer = Buffer::new(context, label, values.len()).unwrap();
        let mut frame = Frame::new(context, "hullfield.test").unwrap();
        frame.upload(&buffer, 0, values).unwrap();
        frame.submit(|_| Ok(Next::Answer(()))).unwrap().wait().unwrap();
        buffer
    }

    #[test]
    fn boxes_are_those_of_the_cpu_bit_for_bit() {
        let Some((_engine, context)) = engine() else { return };
        let mut random = Random(11);
        let mut hulls = bounds::tests::hulls(&mut random, 64);
        hulls[7].half_space = 1;
        hulls[8].half_space = 1;
        let mut bodies = bounds::tests::bodies(&mut random, &hulls, 50_000);
        bodies.extend([1e35, f32::MAX, 1e-38].map(|scale| PackedBody { scale: [scale; 3], ..bodies[0] }));
        let device_hulls = on_device(&context, "hullfield.collide.hulls", &hulls);
        let device_bodies = on_device(&context, "hullfield.collide.bodies", &bodies);
        let boxes = Buffer::new(&context, "hullfield.collide.boxes", bodies.len()).unwrap();
        for grow in [0.0, 0.125, 3e-5, 1e37] {
            let mut frame = Frame::new(&context, "hullfield.test").unwrap();
            let all = 0..bodies.len();
            encode_per_body::<Aabb>(&mut frame, &BOUNDS, &device_hulls, &device_bodies, &boxes, all, grow)
                .unwrap();
            let read = frame.read(&boxes, 0..bodies.len()).unwrap();
            let found: Vec<Aabb> = frame
                .submit(move |results| Ok(Next::Answer(results.get(&read)?.into_owned())))
                .unwrap()
                .wait()
                .unwrap();
            for ((body, found), expected) in
                bodies.iter().zip(&found).zip(bounds::aabbs(&bodies, &hulls, grow))
            {
                assert_eq!(
                    bytemuck::bytes_of(found),
                    bytemuck::bytes_of(&expected),
                    "{body:?}: {found:?} {expected:?}"
                );
            }
        }
    }

    /// The pairs of these boxes, found on the device.
    fn pairs_of(arena: &Arc<GpuArena>, boxes: &[Aabb]) -> Vec<[u32; 2]> {
        let planes: Vec<u32> =
            (0..).zip(boxes).filter(|(_, aabb)| aabb.is_plane()).map(|(id, _)| id).collect();
        let mut frame = Frame::new(&arena.context, "hullfield.test").unwrap();
        let held = Buffer::new(&arena.context, "hullfield.collide.boxes", boxes.len()).unwrap();
        frame.upload(&held, 0, boxes).unwrap();
        let bodies = Buffer::new(&arena.context, "hullfield.collide.bodies", 0).unwrap();
        let broad_input = BroadPhaseInput {
            bodies: &bodies,
            statics: None,
            planes: Some(&planes),
            grow: 0.0,
            moves: None,
            room: None,
            pairs_own_rows: true,
        };
        let broad = GpuBroadPhase::over(&mut frame, arena, held, broad_input).unwrap();
        candidates_of(arena, broad, frame).unwrap().wait().unwrap()
    }

    fn arena(context: &Context) -> Arc<GpuArena> {
        let scene = Scene::new(&[crate::collide::Hull::cuboid([1.0; 3]).unwrap()]).unwrap();
        Arc::new(GpuArena::new(context, &scene).unwrap())
    }

    #[test]
    fn pairs_are_those_of_the_cpu() {
        let Some((_engine, context)) = engine() else { return };
        let arena = arena(&context);
        for count in [2, 63, 64, 65, 2048, 2049] {
            for (name, boxes) in cpu::tests::scenes(count) {
                let (found, expected) = (pairs_of(&arena, &boxes), cpu::candidates(&boxes));
                assert!(found == expected, "{name}, {count} bodies: {} {}", found.len(), expected.len());
            }
        }
        // Control.
        let mut wrong = cpu::candidates(&cpu::tests::scenes(2100)[2].1);
        wrong.pop();
        assert!(wrong != pairs_of(&arena, &cpu::tests::scenes(2100)[2].1));
    }

    #[test]
    fn pairs_of_many_are_those_of_the_cpu() {
        let Some((_engine, context)) = engine() else { return };
        let arena = arena(&context);
        for count in [3_000, 100_000] {
            for (name, boxes) in cpu::tests::scenes(count) {
                // The pairs of the others grow faster than the count.
                if count > 3_000 && !["points", "lattice", "floor", "one far off"].contains(&name) {
                    continue;
                }
                let (found, expected) = (pairs_of(&arena, &boxes), cpu::candidates(&boxes));
                assert!(found == expected, "{name}, {count} bodies: {} {}", found.len(), expected.len());
            }
        }
    }
}
