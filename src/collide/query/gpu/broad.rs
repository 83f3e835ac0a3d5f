//! The broad phase on the device: world boxes, and the pairs of those that overlap.
//!
//! Few bodies are tested all against all, in tiles. More bodies use an implicit tree over their Morton order: keys, radix sort,
//! leaves, boxes merged four to a node (`tree`). Then one thread for each row walks the tree to count its partners. A scan of the counts
//! gives each row its place, and the threads walk again to write and sort the pairs. Rows that are too long for one thread (a floor,
//! a half-space, everything at one place) go on a list of heavy rows, for which groups of threads test all columns. The list's
//! capacity is its high-water mark. Where it overflows, the count runs again with more capacity. The order of results never depends
//! on an atomic.

use std::{ops::Range, sync::atomic::Ordering::Relaxed};

use bytemuck::Zeroable;

use std::sync::Arc;

use crate::collide::broad_phase::cpu::check_total;
use crate::collide::broad_phase::kernels::{
    HEAVY_COUNT, HEAVY_COUNT_RULES, HEAVY_SUM, HEAVY_WRITE, HEAVY_WRITE_RULES, ROW_LIMIT, TILED_COUNT,
    TILED_WRITE, TREE_COUNT, TREE_COUNT_RULES, TREE_WRITE, TREE_WRITE_RULES, TileParams, TreeParams,
    WORLD_COUNT, WORLD_WRITE,
};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::query::gpu::arena::{GpuArena, SEGMENT_COUNT, headroom, total_of};
use crate::collide::query::gpu::rules::{RuleTables, WorldTables};
use crate::collide::query::gpu::statics::{GpuStatics, StaticBoxes};
use crate::collide::query::gpu::tree::{Boxes, MotionBuffer, TreeBuffers, levels_of};
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::readback::{Read, Results};
use crate::gpu::scan;

/// The labels of the leaves of a tree, and of a list of boxes beside a tree.
const LEAVES: &str = "hullfield.collide.leaves";
const BOXES: &str = "hullfield.collide.boxes";
/// Up to so many bodies all pairs are tested, in tiles.
pub(crate) const TILE_LIMIT: usize = 2048;
/// Estimated nodes that a row's walk visits.
const WALK_STEPS: u64 = 150;
/// Estimated boxes that a row of a small world is tested with.
const WORLD_STEPS: u64 = 30;
/// First capacity for heavy rows.
const FIRST_HEAVY: usize = 32;
/// Columns of a heavy row that one group tests, where there are few heavy rows.
const SEGMENT_LEN: usize = 1 << 14;
/// Most segments of all heavy rows together.
const SEGMENT_LIMIT: usize = 1 << 20;

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
        let count = packed.len();
        let bodies = Buffer::new(context, "hullfield.collide.static_bodies", count)?;
        frame.upload(&bodies, 0, packed)?;
        let mut made = Self { bodies, boxed: None };
        if has_tree {
            let moves = match motions {
                Some((motions, duration)) => {
                    let held = Buffer::new(context, "hullfield.collide.static_motions", motions.len())?;
                    frame.upload(&held, 0, motions)?;
                    Some(MotionBuffer { motions: held, duration })
                }
                None => None,
            };
            let source = Boxes::of(&arena.hulls()?.records, &made.bodies, moves.as_ref(), 0.0);
            let boxes = Buffer::new(context, "hullfield.collide.static_boxes", count)?;
            let labels = ["hullfield.collide.static_leaves", "hullfield.collide.static_nodes"];
            let tree = TreeBuffers::new(context, labels, count, levels_of(0, count).2, count)?;
            tree.build(&mut frame, &source, count, Some(&boxes))?;
            made.boxed = Some(StaticBoxes { boxes, tree });
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
            ray_hulls: Arc::clone(&self.ray_hulls),
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
    /// Which pairs may meet, behind the half-spaces; `None` where all may.
    pub(crate) rules: Option<&'a RuleTables>,
    /// The half-spaces and these tables, where they are on the device already.
    pub(crate) uploaded: Option<&'a Buffer<u32>>,
    /// Half the margin.
    pub(crate) grow: f32,
    /// For swept boxes: how the bodies move.
    pub(crate) moves: Option<&'a MotionBuffer>,
    /// Capacity for pairs of a frame that can't run again.
    pub(crate) room: Option<usize>,
    /// Whether two movers may be a pair.
    pub(crate) pairs_own_rows: bool,
}

/// The broad phase of one query: what it searches and scanned counts stay on the device for all windows.
#[derive(Debug, Clone)]
pub(crate) struct GpuBroadPhase {
    bodies: Buffer<PackedBody>,
    source: Boxes,
    static_boxes: Option<Buffer<Aabb>>,
    /// World boxes by id, for tiles and for heavy rows; otherwise those of the statics, which the half-spaces among them need.
    boxes: Option<Buffer<Aabb>>,
    /// Where the pairs of each row begin; with tiles, of each row and segment.
    offsets: Buffer<u32>,
    /// Number of candidate pairs, low and high word.
    pub(crate) total: Buffer<u32>,
    params: TreeParams,
    /// Least capacity for heavy rows.
    heavy_room: usize,
    tree: Option<DeviceTree>,
    kernels: &'static WalkKernels,
}

/// The kernels that find pairs in a tree.
#[derive(Debug)]
struct WalkKernels {
    count: &'static Kernel,
    write: &'static Kernel,
    heavy_count: &'static Kernel,
    heavy_write: &'static Kernel,
    /// Whether those of heavy rows read the tables of [`RuleTables`].
    has_rules: bool,
}

/// Those where all pairs may meet.
static OF_ALL: WalkKernels = WalkKernels {
    count: &TREE_COUNT,
    write: &TREE_WRITE,
    heavy_count: &HEAVY_COUNT,
    heavy_write: &HEAVY_WRITE,
    has_rules: false,
};

static OF_RULES: WalkKernels = WalkKernels {
    count: &TREE_COUNT_RULES,
    write: &TREE_WRITE_RULES,
    heavy_count: &HEAVY_COUNT_RULES,
    heavy_write: &HEAVY_WRITE_RULES,
    has_rules: true,
};

/// Those where all worlds are small: no mover is in a tree.
static OF_SMALL_WORLDS: WalkKernels = WalkKernels {
    count: &WORLD_COUNT,
    write: &WORLD_WRITE,
    heavy_count: &HEAVY_COUNT_RULES,
    heavy_write: &HEAVY_WRITE_RULES,
    has_rules: true,
};

/// The tree, the half-spaces, and the heavy rows.
#[derive(Debug, Clone)]
struct DeviceTree {
    buffers: TreeBuffers,
    /// Where all worlds are small, which bodies behind each mover it meets; then the tree is that of the statics alone.
    masks: Option<Buffer<u32>>,
    /// The half-spaces, and behind them the tables of [`RuleTables`].
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
        let BroadPhaseInput { bodies, moves, grow, .. } = broad_input;
        let source = Boxes::of(&arena.hulls()?.records, bodies, moves, grow);
        Self::over(frame, arena, source, broad_input)
    }

    /// Encodes counts and their scan for these boxes.
    fn over(
        frame: &mut Frame,
        arena: &GpuArena,
        source: Boxes,
        broad_input: BroadPhaseInput<'_>,
    ) -> Result<Self> {
        let context = arena.context.clone();
        let statics = broad_input.statics.and_then(|statics| statics.boxed.as_ref());
        let (columns, static_count) =
            (broad_input.bodies.len(), broad_input.statics.map_or(0, GpuStatics::len));
        let count = columns - static_count;
        let params = TreeParams {
            body_count: count as u32,
            static_count: static_count as u32,
            plane_count: broad_input.planes.map_or(0, <[u32]>::len) as u32,
            static_grow: broad_input.grow,
            column_begin: if broad_input.pairs_own_rows { 0 } else { count as u32 },
            ..TreeParams::zeroed()
        };
        let none = Buffer::new(&context, "hullfield.collide.none", 2)?;
        let mut broad = Self {
            bodies: broad_input.bodies.clone(),
            source,
            static_boxes: statics.map(|statics| statics.boxes.clone()),
            boxes: None,
            offsets: none.clone(),
            total: none.clone(),
            params,
            heavy_room: 0,
            tree: None,
            kernels: &OF_ALL,
        };
        // Tiles find half-spaces by themselves.
        let rules = broad_input.rules;
        let Some(list) = broad_input.planes.filter(|_| columns > TILE_LIMIT || rules.is_some()) else {
            broad.list_boxes(frame)?;
            broad.recount(frame, arena, 0)?;
            return Ok(broad);
        };
        // A smaller crowd later needs the tiled kernels. Built now, they cost that frame no time.
        if rules.is_none() {
            frame.pipeline(broad.source.kernels.bounds)?;
            frame.pipeline(&TILED_COUNT)?;
            frame.pipeline(&TILED_WRITE)?;
        }
        // A row is heavy where it is a half-space, where it has many pairs, or (rarely) where its walk is long. Few crowds have any,
        // and their kernels are three dispatches and a list of all boxes: they run where a half-space or an earlier query needs them,
        // or where the frame can't run again.
        let moving_planes = list.iter().filter(|&&id| (id as usize) < count).count();
        if moving_planes > 0 || broad_input.room.is_some() {
            broad.heavy_room = FIRST_HEAVY + moving_planes + broad_input.room.unwrap_or(0) / ROW_LIMIT;
        }
        let is_small = rules.is_some_and(|rules| rules.has_small_worlds_only);
        if is_small {
            broad.list_boxes(frame)?;
        } else if broad.heavy_capacity(arena) > 0 {
            broad.boxes = Some(Buffer::new(&context, BOXES, columns)?);
        }
        let (mover_levels, mover_top, end) = if is_small { Default::default() } else { levels_of(0, count) };
        let (static_levels, static_top, end) = levels_of(end, static_count);
        broad.params = TreeParams {
            mover_levels,
            static_levels,
            mover_top: mover_top as u32,
            static_top: static_top as u32,
            moving_plane_count: moving_planes as u32,
            ..params
        };
        let planes = match broad_input.uploaded {
            Some(uploaded) => uploaded.clone(),
            None => {
                let words = rules.map_or(list, |rules| &rules.words[..]);
                let planes = Buffer::new(&context, "hullfield.collide.planes", words.len())?;
                frame.upload(&planes, 0, words)?;
                planes
            }
        };
        if let Some(&RuleTables { world_begin, start_begin, owner_begin, list_begin, .. }) = rules {
            broad.params = TreeParams { world_begin, start_begin, owner_begin, list_begin, ..broad.params };
            broad.source.worlds =
                (world_begin > 0).then(|| WorldTables { words: planes.bind(), world_begin, start_begin });
            broad.kernels = if is_small { &OF_SMALL_WORLDS } else { &OF_RULES };
        }
        if is_small {
            let masks = Some(Buffer::new(&context, "hullfield.collide.masks", count)?);
            let nothing = Buffer::new(&context, "hullfield.collide.no_boxes", 1)?;
            let buffers = match statics {
                Some(StaticBoxes { tree, .. }) => tree.clone(),
                None => TreeBuffers { leaves: nothing.clone(), nodes: nothing },
            };
            broad.tree = Some(DeviceTree { buffers, masks, planes, heavy: none.clone(), sums: none });
            broad.recount(frame, arena, 0)?;
            return Ok(broad);
        }
        let labels = [LEAVES, "hullfield.collide.nodes"];
        let buffers = TreeBuffers::new(&context, labels, columns, end, count)?;
        buffers.build(frame, &broad.source, count, broad.boxes.as_ref())?;
        if let Some(StaticBoxes { boxes, tree }) = statics {
            let begin = static_levels[0][0] as usize;
            frame.copy(&tree.leaves, 0..static_count, &buffers.leaves, count)?;
            frame.copy(&tree.nodes, 0..end - begin, &buffers.nodes, begin)?;
            match &broad.boxes {
                Some(listed) => frame.copy(boxes, 0..static_count, listed, count)?,
                None => {
                    broad.boxes = Some(boxes.clone());
                    broad.params.boxes_begin = count as u32;
                }
            }
        }
        broad.tree = Some(DeviceTree { buffers, masks: None, planes, heavy: none.clone(), sums: none });
        broad.recount(frame, arena, 0)?;
        Ok(broad)
    }

    /// Encodes the list of all boxes.
    fn list_boxes(&mut self, frame: &mut Frame) -> Result<()> {
        let (columns, count) = (self.column_count(), self.params.body_count as usize);
        // A crowd small enough for tiles has no tree, whose memory an earlier and larger one has left.
        let label = if self.tree.is_none() { LEAVES } else { BOXES };
        let boxes = Buffer::new(frame.context(), label, columns)?;
        self.source.encode(frame, count, &boxes)?;
        if let Some(static_boxes) = &self.static_boxes {
            frame.copy(static_boxes, 0..columns - count, &boxes, count)?;
        }
        self.boxes = Some(boxes);
        self.params.boxes_begin = 0;
        Ok(())
    }

    /// Number of bodies that rows are paired with, movers and statics.
    pub(crate) fn column_count(&self) -> usize {
        self.bodies.len()
    }

    /// Number of heavy rows that there is room for.
    fn heavy_capacity(&self, arena: &GpuArena) -> usize {
        let mark = headroom(arena.high_water.heavy.load(Relaxed));
        mark.max(self.heavy_room).min(self.params.body_count as usize)
    }

    /// The list of boxes. Where there is none, no kernel reads it; another list takes its place, as a binding can't be empty.
    fn listed_boxes(&self) -> BoundRange {
        match (&self.boxes, &self.tree) {
            (Some(boxes), _) => boxes.bind(),
            (None, Some(tree)) => tree.buffers.leaves.bind(),
            (None, None) => self.total.bind(),
        }
    }

    /// Encodes the count and its scan, with capacity for so many heavy rows, or for the high-water mark.
    pub(crate) fn recount(&mut self, frame: &mut Frame, arena: &GpuArena, heavy: usize) -> Result<()> {
        let context = &arena.context;
        arena.high_water.heavy.fetch_max(heavy, Relaxed);
        let count = self.params.body_count as usize;
        let capacity = self.heavy_capacity(arena);
        if self.tree.is_some() && capacity > 0 && (self.boxes.is_none() || self.params.boxes_begin > 0) {
            self.list_boxes(frame)?;
        }
        let columns = self.column_count();
        let Some(tree) = &mut self.tree else {
            // One more than there are rows and segments: where the last one ends.
            let len = count * SEGMENT_COUNT as usize + 1;
            self.offsets = Buffer::new(context, "hullfield.collide.counts", len)?;
            if count == 0 {
                // No kernel writes where the rows end.
                frame.clear(&self.offsets);
            }
            self.tiles(frame, &TILED_COUNT, 0..0, |params, broad| {
                vec![params, broad.listed_boxes(), broad.offsets.bind()]
            })?;
            self.total = scan(frame, &self.offsets)?;
            return Ok(());
        };
        let segments = columns.div_ceil(SEGMENT_LEN).min(SEGMENT_LIMIT / capacity.max(1)).max(1);
        self.params.heavy_capacity = capacity as u32;
        self.params.segment_count = segments as u32;
        // One more than there are rows: where the last one ends.
        self.offsets = Buffer::new(context, "hullfield.collide.counts", count + 1)?;
        tree.heavy = Buffer::new(context, "hullfield.collide.heavy", 1 + capacity)?;
        tree.sums = Buffer::new(context, "hullfield.collide.heavy_sums", capacity * segments)?;
        // No row is heavy so far.
        frame.upload(&tree.heavy, 0, &[0])?;
        let tree = tree.clone();
        let steps = if tree.masks.is_some() { WORLD_STEPS } else { WALK_STEPS };
        self.pieces(frame, self.kernels.count, count, steps, 1, 0..0, |params, broad| {
            let DeviceTree { buffers: TreeBuffers { leaves, nodes }, masks, planes, heavy, .. } = &tree;
            let (boxes, offsets) = (broad.listed_boxes(), broad.offsets.bind());
            let (leaves, nodes, planes) = (leaves.bind(), nodes.bind(), planes.bind());
            match masks {
                Some(masks) => {
                    vec![params, boxes, leaves, nodes, planes, offsets, heavy.bind(), masks.bind()]
                }
                None => {
                    vec![params, broad.bodies.bind(), leaves, nodes, planes, boxes, offsets, heavy.bind()]
                }
            }
        })?;
        self.heavy_pieces(frame, self.kernels.heavy_count, 0..0, |params, broad| {
            let mut bound = vec![params, broad.listed_boxes()];
            bound.extend(broad.heavy_tables());
            bound.extend([tree.heavy.bind(), tree.sums.bind()]);
            bound
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
            return Ok(Counted::HeavyOverflow { heavy, tests: heavy as u64 * self.column_count() as u64 });
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
                vec![params, broad.listed_boxes(), broad.offsets.bind(), pairs.bind(), refine.bind()]
            });
        };
        let count = self.params.body_count as usize;
        let steps = if tree.masks.is_some() { WORLD_STEPS } else { WALK_STEPS };
        self.pieces(frame, self.kernels.write, count, steps, 1, window.clone(), |params, broad| {
            let TreeBuffers { leaves, nodes } = &tree.buffers;
            let (leaves, nodes, planes) = (leaves.bind(), nodes.bind(), tree.planes.bind());
            let (boxes, offsets) = (broad.listed_boxes(), broad.offsets.bind());
            let (pairs, refine) = (pairs.bind(), refine.bind());
            match &tree.masks {
                Some(masks) => {
                    vec![params, boxes, leaves, nodes, planes, offsets, masks.bind(), pairs, refine]
                }
                None => {
                    vec![params, broad.bodies.bind(), leaves, nodes, planes, boxes, offsets, pairs, refine]
                }
            }
        })?;
        self.heavy_pieces(frame, self.kernels.heavy_write, window, |params, broad| {
            let mut bound = vec![params, broad.listed_boxes()];
            bound.extend(broad.heavy_tables());
            bound.extend([tree.heavy.bind(), tree.sums.bind(), broad.offsets.bind(), pairs.bind()]);
            bound
        })
    }

    /// What the kernels of heavy rows read of the rules.
    fn heavy_tables(&self) -> Option<BoundRange> {
        self.tree.as_ref().filter(|_| self.kernels.has_rules).map(|tree| tree.planes.bind())
    }

    /// Encodes a kernel with one group for each heavy row and segment, in pieces.
    fn heavy_pieces(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        window: Range<u32>,
        bind: impl Fn(BoundRange, &Self) -> Vec<BoundRange>,
    ) -> Result<()> {
        let (capacity, columns) = (self.params.heavy_capacity as usize, self.column_count() as u64);
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
        let (count, columns) = (u64::from(self.params.body_count), self.column_count() as u64);
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
    use crate::collide::broad_phase::kernels;
    use crate::collide::broad_phase::kernels::{BoxKernels, BoxSource};
    use crate::collide::query::gpu::candidates::candidates_of;
    use crate::collide::scene::query_input::Scene;
    use crate::engine::Engine;
    use crate::gpu::context::Context;
    use crate::gpu::kernel::read;
    use crate::testing;
    use std::sync::Arc;

    fn engine() -> Option<(Engine, Context)> {
        let engine = testing::gpu()?;
        let context = engine.context()?.clone();
        Some((engine, context))
    }

    /// Boxes in a list.
    const GIVEN: BoxSource = BoxSource {
        sources: &["fn box_at(index: u32) -> Aabb { return given[index]; }"],
        bindings: &[read("given", "array<Aabb>")],
    };
    static OF_GIVEN: BoxKernels = BoxKernels {
        bounds: &GIVEN_BOUNDS,
        frame: &GIVEN_FRAME,
        keys: &GIVEN_KEYS,
        runs: &GIVEN_RUNS,
        world_keys: &GIVEN_KEYS,
        world_runs: &GIVEN_RUNS,
        leaves: &GIVEN_LEAVES,
    };
    static GIVEN_BOUNDS: Kernel = kernels::bounds("hullfield.test.bounds", GIVEN);
    static GIVEN_FRAME: Kernel = kernels::morton_frame("hullfield.test.morton_frame", GIVEN);
    static GIVEN_KEYS: Kernel = kernels::morton_keys("hullfield.test.morton_keys", GIVEN);
    static GIVEN_RUNS: Kernel = kernels::morton_runs("hullfield.test.morton_runs", GIVEN);
    static GIVEN_LEAVES: Kernel = kernels::tree_leaves("hullfield.test.tree_leaves", GIVEN);

    /// The pairs of these boxes, found on the device.
    fn pairs_of(arena: &Arc<GpuArena>, boxes: &[Aabb]) -> Vec<[u32; 2]> {
        let planes: Vec<u32> =
            (0..).zip(boxes).filter(|(_, aabb)| aabb.is_plane()).map(|(id, _)| id).collect();
        let mut frame = Frame::new(&arena.context, "hullfield.test").unwrap();
        let held = Buffer::new(&arena.context, "hullfield.test.boxes", boxes.len()).unwrap();
        frame.upload(&held, 0, boxes).unwrap();
        let of = |aabb: &Aabb| PackedBody { group: aabb.group, mask: aabb.mask, ..PackedBody::zeroed() };
        let packed: Vec<PackedBody> = boxes.iter().map(of).collect();
        let bodies = Buffer::new(&arena.context, "hullfield.collide.bodies", boxes.len()).unwrap();
        frame.upload(&bodies, 0, &packed).unwrap();
        let broad_input = BroadPhaseInput {
            bodies: &bodies,
            statics: None,
            planes: Some(&planes),
            rules: None,
            uploaded: None,
            grow: 0.0,
            moves: None,
            room: None,
            pairs_own_rows: true,
        };
        let source =
            Boxes { kernels: &OF_GIVEN, bound: vec![held.bind()], grow: 0.0, duration: 0.0, worlds: None };
        let broad = GpuBroadPhase::over(&mut frame, arena, source, broad_input).unwrap();
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
        for count in [3_000, 33_000] {
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
