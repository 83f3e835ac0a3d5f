//! Splits a query into parts where one binding of the device does not hold its bodies.
//!
//! Bodies are split by id into blocks, of which two fit in a binding: first the movers, then the statics. A part is one block alone, or
//! one block against a later one, which then takes the place of the statics. So every pair is in exactly one part, the body with the
//! lower id comes first, and kernels need not know of parts. Parts run one after the other in the same buffers. Bodies that fit are
//! one part, with the statics already on the device.

use std::{borrow::Cow, collections::VecDeque, ops::Range, sync::Arc};

use bytemuck::Zeroable;

use crate::collide::query::gpu::arena::{GpuArena, pair_total};
use crate::collide::query::gpu::broad::{BroadPhaseInput, GpuBroadPhase, upload_bodies};
use crate::collide::query::gpu::hulls::HullBytes;
use crate::collide::query::gpu::rules::{DeviceIds, RuleTables};
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::query::gpu::tree::{MotionBuffer, encode_spheres};
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::placed::center_at;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::parallel::map_chunks;

/// Rows of which one task lists the pairs.
const ROWS_PER_TASK: usize = 64;

/// A part of a query: one block of bodies, or two blocks against each other.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Ids of the bodies that come first on the device.
    rows: Range<usize>,
    /// Ids of the bodies behind them.
    columns: Range<usize>,
    /// Whether two of `rows` may be a pair.
    pairs_own_rows: bool,
    /// Whether this part is the whole query, and `columns` are the arena's statics on the device.
    is_whole: bool,
    /// For given pairs: their range in [`Parts::order`]. Empty for the whole query, whose pairs keep their order.
    given: Range<usize>,
}

/// All parts of a query.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    left: VecDeque<Part>,
    /// Indices of the given pairs, part by part.
    pub(crate) order: Vec<usize>,
    /// Whether there is more than one.
    pub(crate) is_cut: bool,
}

impl Parts {
    /// Splits a query that has pairs to examine.
    pub(crate) fn of(arena: &GpuArena, scene: &Scene, input: &QueryInput) -> Self {
        let (movers, all) = (input.mover_count, input.bodies.len());
        let whole =
            Part { rows: 0..movers, columns: movers..all, pairs_own_rows: true, is_whole: true, given: 0..0 };
        let fits = arena.fits(all) && arena.statics().map_or(0, GpuStatics::len) == all - movers;
        // Kernels make the pairs of movers and statics apart. Where rules forbid pairs the host lists the others.
        let is_listed = input.pairs != OwnedPairs::Exhaustive || !input.rules.allow_all();
        if fits && (is_listed || movers == all) {
            return Self { left: [whole].into(), ..Self::default() };
        }
        let blocks = if fits {
            vec![0..movers, movers..all]
        } else {
            [blocks(arena, scene, input, 0..movers), blocks(arena, scene, input, movers..all)].concat()
        };
        if let OwnedPairs::Given(pairs) = &input.pairs {
            return Self::given(pairs, &blocks);
        }
        let mut left = VecDeque::new();
        for (at, rows) in blocks.iter().enumerate().take_while(|(_, rows)| rows.start < movers) {
            let part = |columns: Range<usize>, pairs_own_rows| Part {
                rows: rows.clone(),
                columns,
                pairs_own_rows,
                is_whole: false,
                given: 0..0,
            };
            if rows.len() > 1 {
                left.push_back(part(0..0, true));
            }
            let meet = |columns: &&Range<usize>| {
                let world = |id: usize| input.rules.world_of.get(id);
                columns.start >= movers || world(rows.end - 1) == world(columns.start)
            };
            left.extend(blocks[at + 1..].iter().filter(meet).map(|columns| part(columns.clone(), false)));
        }
        Self { left, order: Vec::new(), is_cut: true }
    }

    /// Splits given pairs by the blocks of their bodies.
    fn given(pairs: &[[u32; 2]], blocks: &[Range<usize>]) -> Self {
        let block = |id: u32| blocks.partition_point(|block| block.end <= id as usize);
        let key = |&at: &usize| {
            let [a, b] = pairs[at].map(block);
            (a.min(b), a.max(b))
        };
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_cached_key(key);
        let mut left = VecDeque::new();
        let mut begin = 0;
        for same in order.chunk_by(|one, other| key(one) == key(other)) {
            let (low, high) = key(&same[0]);
            let columns = if low == high { 0..0 } else { blocks[high].clone() };
            let given = begin..begin + same.len();
            begin = given.end;
            left.push_back(Part {
                rows: blocks[low].clone(),
                columns,
                pairs_own_rows: true,
                is_whole: false,
                given,
            });
        }
        Self { left, order, is_cut: true }
    }

    pub(crate) fn next(&mut self) -> Option<Part> {
        self.left.pop_front()
    }
}

/// Splits bodies into blocks, each with at most half a binding of bodies and, where not all hulls fit, of hulls.
fn blocks(arena: &GpuArena, scene: &Scene, input: &QueryInput, ids: Range<usize>) -> Vec<Range<usize>> {
    let (len, half) = (arena.block_len(), arena.context.binding_limit() / 2);
    let mut made = Vec::new();
    if arena.hulls.is_some() {
        let mut begin = ids.start;
        while begin < ids.end {
            let mut end = (begin + len).min(ids.end);
            if end < ids.end && input.rules.has_worlds() && ids.end <= input.mover_count {
                // Blocks of whole worlds have no pairs with one another.
                let world_begin = input.rules.begin_of(end as u32) as usize;
                end = if world_begin > begin { world_begin } else { end };
            }
            made.push(begin..end);
            begin = end;
        }
        return made;
    }
    let supports = &scene.supports;
    // For each hull, the last block that uses it.
    let mut met = vec![usize::MAX; supports.records.len()];
    let (mut begin, mut held) = (ids.start, HullBytes::default());
    for id in ids.clone() {
        let hull = input.bodies[id].hull as usize;
        if met[hull] == made.len() && id - begin < len {
            continue;
        }
        let own = HullBytes::of(supports, hull);
        let both = if met[hull] == made.len() { held } else { held.plus(own) };
        if id > begin && (id - begin == len || !both.fits(half)) {
            made.push(begin..id);
            (begin, held) = (id, own);
        } else {
            held = both;
        }
        met[hull] = made.len();
    }
    if begin < ids.end {
        made.push(begin..ids.end);
    }
    made
}

impl Part {
    /// The bodies of the part that a row may meet, as far as worlds decide.
    fn partners(&self, input: &QueryInput, a: u32) -> [Range<u32>; 2] {
        let all = input.partners(a);
        if self.is_whole {
            return all;
        }
        let own = if self.pairs_own_rows { &self.rows } else { &self.columns };
        all.map(|ids| {
            let start = ids.start.max(own.start as u32);
            start..ids.end.min(own.end as u32).max(start)
        })
    }

    /// The id of the body at a position on the device.
    pub(crate) fn id(&self, place: u32) -> u32 {
        let (place, rows) = (place as usize, self.rows.len());
        let id = if place < rows { self.rows.start + place } else { self.columns.start + place - rows };
        id as u32
    }

    /// The position of a body on the device.
    fn place(&self, id: u32) -> u32 {
        let (id, rows) = (id as usize, &self.rows);
        let place = if rows.contains(&id) { id - rows.start } else { id - self.columns.start + rows.len() };
        place as u32
    }

    /// Replaces the positions in the first two words of each row by ids.
    pub(crate) fn with_ids<'a>(&self, words: &'a [u32], row_words: usize) -> Cow<'a, [u32]> {
        if self.rows.start == 0 && (self.columns.is_empty() || self.columns.start == self.rows.len()) {
            return Cow::Borrowed(words);
        }
        let mut words = words.to_vec();
        for row in words.chunks_exact_mut(row_words) {
            (row[0], row[1]) = (self.id(row[0]), self.id(row[1]));
        }
        Cow::Owned(words)
    }
}

/// The pairs of a part's bodies that are in one world, by indices: how many each row has.
#[derive(Debug)]
pub(crate) struct PartnerCounts {
    /// The index of the first pair of each row, and one past the last pair.
    starts: Vec<u64>,
}

impl PartnerCounts {
    fn new(input: &QueryInput, part: &Part) -> Self {
        let mut starts = Vec::with_capacity(part.rows.len() + 1);
        let mut total = 0;
        starts.push(total);
        starts.extend(part.rows.clone().map(|row| {
            total += part.partners(input, row as u32).iter().map(|ids| ids.len() as u64).sum::<u64>();
            total
        }));
        Self { starts }
    }

    fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The pairs of some indices that groups, owners and exclusions accept, by positions on the device.
    pub(crate) fn list(
        &self,
        scene: &Scene,
        input: &QueryInput,
        part: &Part,
        window: Range<u64>,
    ) -> Vec<[u32; 2]> {
        let first = self.starts.partition_point(|&start| start <= window.start).saturating_sub(1);
        let rows: Vec<usize> =
            (first..part.rows.len()).take_while(|&row| self.starts[row] < window.end).collect();
        let found = map_chunks(&rows, ROWS_PER_TASK, |rows| {
            let mut pairs = Vec::new();
            for &row in rows {
                let a = (part.rows.start + row) as u32;
                let skipped = window.start.saturating_sub(self.starts[row]) as usize;
                let left = (window.end - self.starts[row]) as usize;
                let partners = part.partners(input, a).into_iter().flatten().take(left).skip(skipped);
                let accepted = partners.filter(|&b| input.accepts(scene, a, b));
                pairs.extend(accepted.map(|b| [part.place(a), part.place(b)]));
            }
            pairs
        });
        found.concat()
    }
}

/// Options that all parts of a query share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartOptions<'a> {
    /// What boxes are wider by on every side.
    pub(crate) grow: f32,
    /// How the movers move, and for how many seconds.
    pub(crate) motions: Option<(&'a [PackedMotion], f32)>,
}

/// A part, uploaded to the device.
#[derive(Debug)]
pub(crate) struct LoadedPart {
    pub(crate) part: Part,
    pub(crate) arena: Arc<GpuArena>,
    pub(crate) bodies: Buffer<PackedBody>,
    /// Number of bodies that come first, the rows.
    pub(crate) row_count: usize,
    /// Where candidates come from, for [`Pairs::BroadPhase`](crate::collide::scene::pairs::Pairs::BroadPhase).
    pub(crate) broad: Option<GpuBroadPhase>,
    pub(crate) moves: Option<MotionBuffer>,
    /// World spheres of the bodies, for [`Pairs::Exhaustive`](crate::collide::scene::pairs::Pairs::Exhaustive).
    pub(crate) spheres: Option<Buffer<[f32; 4]>>,
    /// Number of columns where each row is paired with each column; otherwise 0.
    pub(crate) column_count: usize,
    /// Whether all pairs are examined, and no body has groups or is a half-space.
    pub(crate) is_plain: bool,
    /// The pairs of a query over all of them, where rules forbid some.
    pub(crate) partners: Option<PartnerCounts>,
    /// Given pairs by positions on the device, where these differ from the ids.
    pub(crate) listed: Option<Vec<[u32; 2]>>,
    /// Number of pairs; for the broad phase unknown before the first readback.
    pub(crate) total: Option<u64>,
    /// Pairs done.
    pub(crate) next: u64,
    /// Pairs that are done or in windows on the device.
    pub(crate) encoded: u64,
}

impl LoadedPart {
    /// Encodes uploads and the broad phase.
    pub(crate) fn new(
        frame: &mut Frame,
        arena: &Arc<GpuArena>,
        scene: &Scene,
        input: &QueryInput,
        options: PartOptions<'_>,
        part: Part,
        order: &[usize],
    ) -> Result<Self> {
        let context = &arena.context;
        let is_near = input.pairs == OwnedPairs::BroadPhase;
        let moves = match options.motions {
            Some((motions, duration)) => {
                let of =
                    |ids: &Range<usize>| if ids.end <= motions.len() { &motions[ids.clone()] } else { &[] };
                let (rows, columns) = (of(&part.rows), of(&part.columns));
                // A part of statics alone gets one zero motion, because a binding can't be empty.
                let rows = if rows.is_empty() { &[PackedMotion::zeroed()] } else { rows };
                let held = Buffer::new(context, "hullfield.collide.motions", rows.len() + columns.len())?;
                frame.upload(&held, 0, rows)?;
                frame.upload(&held, rows.len(), columns)?;
                Some(MotionBuffer { motions: held, duration })
            }
            None => None,
        };
        let mut rows = packed(scene, input, part.rows.clone())?;
        let mut arena = Arc::clone(arena);
        if !part.is_whole {
            let mut columns = packed(scene, input, part.columns.clone())?;
            if arena.hulls.is_none() {
                let hulls = renumber(&mut [rows.to_mut(), columns.to_mut()], scene.hulls.len());
                arena = Arc::new(arena.with_hulls(scene, &hulls)?);
            }
            let motions = options.motions.filter(|(motions, _)| part.columns.end <= motions.len());
            let motions = motions.map(|(motions, duration)| (&motions[part.columns.clone()], duration));
            arena = Arc::new(arena.with_other_bodies(&columns, motions, is_near)?);
        }
        let bodies = upload_bodies(frame, &arena, &rows, arena.statics())?;
        let row_count = part.rows.len();
        let mut loaded = Self {
            row_count,
            bodies,
            broad: None,
            moves,
            spheres: None,
            column_count: if part.pairs_own_rows { 0 } else { part.columns.len() },
            is_plain: input.pairs == OwnedPairs::Exhaustive
                && input.accepts_all()
                && !input.rules.has_worlds(),
            partners: None,
            listed: None,
            total: None,
            next: 0,
            encoded: 0,
            arena,
            part,
        };
        loaded.encode_pairs(frame, input, options.grow, order)?;
        Ok(loaded)
    }

    fn encode_pairs(
        &mut self,
        frame: &mut Frame,
        input: &QueryInput,
        grow: f32,
        order: &[usize],
    ) -> Result<()> {
        let (arena, part) = (&self.arena, &self.part);
        match &input.pairs {
            OwnedPairs::BroadPhase => {
                let held = |id: &&u32| {
                    part.rows.contains(&(**id as usize)) || part.columns.contains(&(**id as usize))
                };
                let planes: Vec<u32> = input.planes.iter().filter(held).map(|&id| part.place(id)).collect();
                let ids = DeviceIds { rows: part.rows.clone(), columns: part.columns.clone() };
                let rules = (!input.rules.allow_all()).then(|| RuleTables::new(&input.rules, &planes, &ids));
                let broad_input = BroadPhaseInput {
                    bodies: &self.bodies,
                    statics: arena.statics(),
                    planes: Some(&planes),
                    rules: rules.as_ref(),
                    uploaded: None,
                    grow,
                    moves: self.moves.as_ref(),
                    room: None,
                    pairs_own_rows: part.pairs_own_rows,
                };
                self.broad = Some(GpuBroadPhase::encode(frame, arena, broad_input)?);
            }
            OwnedPairs::Exhaustive if !input.rules.allow_all() => {
                let found = PartnerCounts::new(input, part);
                self.total = Some(found.total());
                self.partners = Some(found);
            }
            OwnedPairs::Exhaustive => {
                self.spheres = Some(encode_spheres(frame, &arena.hulls()?.records, &self.bodies)?);
                self.total = Some(match self.column_count {
                    0 => exhaustive_total(self.row_count),
                    columns => self.row_count as u64 * columns as u64,
                });
            }
            OwnedPairs::Given(pairs) => {
                if part.is_whole {
                    self.total = Some(pairs.len() as u64);
                } else {
                    let listed =
                        order[part.given.clone()].iter().map(|&at| pairs[at].map(|id| part.place(id)));
                    let listed: Vec<[u32; 2]> = listed.collect();
                    self.total = Some(listed.len() as u64);
                    self.listed = Some(listed);
                }
            }
        }
        Ok(())
    }

    /// Number of bodies that estimates the number of candidate pairs.
    pub(crate) fn searching_count(&self) -> usize {
        if self.part.pairs_own_rows { self.row_count } else { self.bodies.len() }
    }

    /// The range in [`Parts::order`] of this part's given pairs.
    pub(crate) fn given(&self) -> Range<usize> {
        self.part.given.clone()
    }
}

/// Indices in the walk over all pairs; a few of them may be no pairs (see `shaders/collide/narrow_phase/pair_exhaustive.wgsl`).
pub(crate) fn exhaustive_total(count: usize) -> u64 {
    pair_total(count | 1)
}

/// Renumbers the hulls of some bodies from 0, and returns their old ids, ascending.
fn renumber(bodies: &mut [&mut Vec<PackedBody>], hull_count: usize) -> Vec<u32> {
    let mut places = vec![u32::MAX; hull_count];
    for body in bodies.iter().flat_map(|bodies| bodies.iter()) {
        places[body.hull as usize] = 0;
    }
    let hulls: Vec<u32> =
        (0..).zip(&places).filter(|&(_, &place)| place == 0).map(|(hull, _)| hull).collect();
    for (place, &hull) in (0..).zip(&hulls) {
        places[hull as usize] = place;
    }
    for body in bodies.iter_mut().flat_map(|bodies| bodies.iter_mut()) {
        body.hull = places[body.hull as usize];
    }
    hulls
}

/// Packed bodies of a query.
fn packed<'a>(scene: &Scene, input: &'a QueryInput, range: Range<usize>) -> Result<Cow<'a, [PackedBody]>> {
    if range.end <= input.packed.len() {
        return Ok(Cow::Borrowed(&input.packed[range]));
    }
    let supports = &scene.supports;
    let pack = |row: usize| {
        let body = &input.bodies[row];
        if !input.is_far() {
            return body.pack(row, supports);
        }
        let radius = body.radius(row, supports)?;
        let record = &supports.records[body.hull as usize];
        Ok(body.packed(radius, &center_at(body, input.position(row as u32), false, record), supports))
    };
    range.map(pack).collect::<Result<Vec<_>>>().map(Cow::Owned)
}
