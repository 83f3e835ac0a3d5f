//! Queries in the caller's own encoder: windows of pairs, one after the other, with rows that stay on the device.
//!
//! All windows use the same buffers. Rows are written behind those of the windows before: the compaction begins with the number of
//! rows so far, which only the device knows. Rows that one binding can't hold lie in several buffers.

use std::ops::Range;

use bytemuck::Zeroable;

use crate::collide::broad_phase::kernels::ROW_LIMIT;
use crate::collide::narrow_phase::kernels::{
    DEVICE_COUNTS, DeviceParams, MANIFOLD, ManifoldParams, NarrowParams, REFINE_GROUPS, RefineGroupsParams,
    Stages,
};
use crate::collide::query::device_rows::ManifoldRow;
use crate::collide::query::encoded::{
    Capacity, DeviceBodies, DeviceMotions, DevicePairs, DevicePart, DeviceRows,
};
use crate::collide::query::gpu::arena::{FAR_PAIRS, GpuArena, pair_total};
use crate::collide::query::gpu::broad::{BroadPhaseInput, GpuBroadPhase, upload_bodies};
use crate::collide::query::gpu::narrow::{
    HitCounts, PairBuffer, Window, encode_counts, encode_preparation, encode_rows, encode_stage,
    stage_bindings,
};
use crate::collide::query::gpu::parts::exhaustive_total;
use crate::collide::query::gpu::poses::GpuLayout;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::query::gpu::tree::{MotionBuffer, encode_spheres};
use crate::collide::query::laid_out::LaidOutBodies;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::error::{Error, Location, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::dispatches::{Dispatch, Groups};
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::Use;

/// A query to encode.
pub(crate) struct EncodedQuery<'a> {
    pub(crate) stages: &'static Stages,
    pub(crate) margin: f32,
    pub(crate) with_depth: bool,
    pub(crate) bodies: DeviceBodies<'a>,
    /// The packed bodies, where they come from the host.
    pub(crate) packed: &'a [PackedBody],
    pub(crate) moves: Option<EncodedMotions<'a>>,
    /// The faces and edges of all hulls, where the rows are to have the points of manifolds.
    pub(crate) features: Option<Buffer<u32>>,
    pub(crate) statics: Option<&'a GpuStatics>,
    /// Ids of the half-spaces, where they are known.
    pub(crate) planes: Option<&'a [u32]>,
    pub(crate) pairs: DevicePairs<'a>,
    pub(crate) capacity: Capacity,
}

/// How the bodies of a sweep move, and for how long.
pub(crate) struct EncodedMotions<'a> {
    pub(crate) motions: DeviceMotions<'a>,
    /// The packed motions, where they come from the host.
    pub(crate) packed: &'a [PackedMotion],
    /// Seconds.
    pub(crate) duration: f32,
}

/// The pairs of an encoded query, before they are split into windows.
struct EncodedPairs {
    source: Source,
    /// Most pairs that are examined.
    len: usize,
    /// The number of pairs, low and high word.
    total: Buffer<u32>,
    /// The number of heavy rows, and how many are listed at most.
    heavy_rows: (Buffer<u32>, u32),
}

/// Where the pairs of a window come from.
enum Source {
    /// The broad phase writes them to this buffer.
    Near(Box<GpuBroadPhase>, Buffer<[u32; 2]>),
    /// Spheres of all bodies.
    Exhaustive(Buffer<[f32; 4]>),
    /// They are given.
    Given(Buffer<[u32; 2]>),
}

impl EncodedQuery<'_> {
    /// Encodes the query into the caller's encoder.
    pub(crate) fn run(&self, arena: &GpuArena, encoder: &mut wgpu::CommandEncoder) -> Result<DeviceRows> {
        let label = "hullfield.collide.encoded";
        let ((parts, invalid), kept) =
            Frame::encode_into(&arena.context, label, encoder, |frame| self.encode(arena, frame))?;
        let is_sorted = matches!(self.pairs, DevicePairs::BroadPhase) && self.moves.is_none();
        Ok(DeviceRows { parts, invalid, is_sorted, context: arena.context.clone(), _kept: kept })
    }

    /// Whether each pair has a row.
    fn keep_all(&self) -> bool {
        matches!(self.pairs, DevicePairs::Given(_) | DevicePairs::Buffer { .. })
    }

    /// Returns the results, and the list of invalid poses.
    fn encode(&self, arena: &GpuArena, frame: &mut Frame) -> Result<(Vec<DevicePart>, Option<Buffer<u32>>)> {
        let context = &arena.context;
        let (bodies, invalid) = self.encode_bodies(arena, frame)?;
        let moves = self.moves.as_ref().map(|moves| moves.encode(arena, frame)).transpose()?;
        let pairs = self.encode_pairs(arena, frame, &bodies, moves.as_ref())?;
        let row_room = if self.keep_all() { pairs.len } else { self.capacity.rows as usize };
        let parts = self.parts(arena, row_room)?;
        // Manifolds are made of measured rows.
        let stages = self.stages;
        let stage_rows: Vec<Buffer<u32>> = parts
            .iter()
            .map(|part| match self.features {
                None => Ok(part.rows.clone()),
                Some(_) => Buffer::new(context, stages.row_label, stages.row_words * part.unsettled.len()),
            })
            .collect::<Result<_>>()?;
        let row_total = self.encode_windows(arena, frame, &bodies, moves.as_ref(), &pairs, &stage_rows)?;
        let mut begin = 0;
        for (part, rows) in parts.iter().zip(&stage_rows) {
            let room = part.unsettled.len();
            frame.clear(&part.counts);
            let params = frame.uniform(&DeviceParams {
                row_words: self.stages.row_words as u32,
                row_room: room as u32,
                row_begin: begin,
                total_room: row_room as u32,
                pair_room: pairs.len as u32,
                heavy_room: pairs.heavy_rows.1,
                row_limit: ROW_LIMIT as u32,
                padding: 0,
            })?;
            let bound = [
                params,
                pairs.total.bind(),
                pairs.heavy_rows.0.bind(),
                row_total.bind(),
                rows.bind(),
                part.counts.bind(),
                part.unsettled.bind(),
            ];
            frame.dispatch(&DEVICE_COUNTS, &bound, DEVICE_COUNTS.groups(room as u64).max(1))?;
            if let Some(features) = &self.features {
                self.encode_manifolds(arena, frame, &bodies, features, rows, part)?;
            }
            begin += room as u32;
        }
        Ok((parts, invalid))
    }

    /// The bodies, statics last, and the list of invalid poses.
    fn encode_bodies(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
    ) -> Result<(Buffer<PackedBody>, Option<Buffer<u32>>)> {
        let limit = Some(arena.context.binding_limit());
        let static_count = self.statics.map_or(0, GpuStatics::len);
        let room = |count: usize| {
            arena.check_bodies(count + static_count)?;
            Buffer::<PackedBody>::new(&arena.context, "hullfield.collide.bodies", count + static_count)
        };
        let (count, bodies, invalid) = match self.bodies {
            DeviceBodies::Host(_) | DeviceBodies::HostF64 { .. } => {
                return Ok((upload_bodies(frame, arena, self.packed, self.statics)?, None));
            }
            DeviceBodies::Buffer { buffer, count } => {
                let bodies: Buffer<PackedBody> = given(arena, "bodies of the caller", buffer, count, limit)?;
                if self.statics.is_none() {
                    return Ok((bodies, None));
                }
                if !buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
                    let message = format!(
                        "bodies of the caller: the arena has statics, so the buffer must have the usage COPY_SRC, it has {:?}",
                        buffer.usage()
                    );
                    return Err(Error::invalid(Location::Argument, message));
                }
                let joined = room(bodies.len())?;
                frame.copy(&bodies, 0..bodies.len(), &joined, 0)?;
                (bodies.len(), joined, None)
            }
            DeviceBodies::Poses { bodies: LaidOutBodies { layout, .. }, poses } => {
                let count = layout.bodies.len();
                let poses = given(arena, "poses of the caller", poses, count as u32, limit)?;
                let placed = room(count)?;
                let invalid = layout.place(arena, frame, &poses, &placed)?;
                (count, placed, Some(invalid))
            }
        };
        if let Some(statics) = self.statics {
            frame.copy(&statics.bodies, 0..static_count, &bodies, count)?;
        }
        Ok((bodies, invalid))
    }

    /// What is known of bodies that come with poses.
    fn layout(&self) -> Option<&GpuLayout> {
        match self.bodies {
            DeviceBodies::Poses { bodies, .. } => Some(&bodies.layout),
            _ => None,
        }
    }

    /// The buffers for the results: one for each binding that the rows need, at least one.
    fn parts(&self, arena: &GpuArena, row_room: usize) -> Result<Vec<DevicePart>> {
        let context = &arena.context;
        let (label, row_words) = match self.features {
            Some(_) => ("hullfield.collide.manifolds", size_of::<ManifoldRow>() / 4),
            None => (self.stages.row_label, self.stages.row_words),
        };
        let row_bytes = 4 * row_words as u64;
        let longest = usize::try_from(context.binding_limit() / row_bytes).unwrap_or(usize::MAX).max(1);
        (0..row_room.div_ceil(longest).max(1))
            .map(|part| {
                let room = (row_room - part * longest).min(longest);
                Ok(DevicePart {
                    rows: Buffer::new(context, label, row_words * room)?,
                    counts: Buffer::new(context, "hullfield.collide.device_counts", 1)?,
                    unsettled: Buffer::new(context, "hullfield.collide.unsettled", room)?,
                })
            })
            .collect()
    }

    /// Encodes what comes before the windows: the upload of pairs, or the broad phase and its count.
    fn encode_pairs(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
        bodies: &Buffer<PackedBody>,
        moves: Option<&MotionBuffer>,
    ) -> Result<EncodedPairs> {
        let context = &arena.context;
        let capacity = self.capacity.pairs as usize;
        let label = "hullfield.collide.pairs";
        let (source, total) = match self.pairs {
            DevicePairs::Given(pairs) => {
                let listed = Buffer::new(context, label, pairs.len())?;
                frame.upload(&listed, 0, pairs)?;
                (Source::Given(listed), pairs.len() as u64)
            }
            DevicePairs::Buffer { buffer, count } => {
                (Source::Given(given(arena, "pairs of the caller", buffer, count, None)?), count.into())
            }
            DevicePairs::Exhaustive => {
                let spheres = encode_spheres(frame, &arena.hulls()?.records, bodies)?;
                (Source::Exhaustive(spheres), exhaustive_total(bodies.len()))
            }
            DevicePairs::BroadPhase => {
                // There are no more pairs than this, so a larger capacity would be of no use.
                let most = usize::try_from(pair_total(bodies.len())).unwrap_or(usize::MAX);
                let len = capacity.min(most);
                let broad_input = BroadPhaseInput {
                    bodies,
                    statics: self.statics,
                    planes: self.planes,
                    rules: self.layout().and_then(|layout| layout.tables.as_ref()),
                    uploaded: self.layout().map(|layout| &layout.words),
                    grow: if moves.is_some() { 0.0 } else { 0.5 * self.margin.min(f32::MAX) },
                    moves,
                    room: Some(len),
                    pairs_own_rows: true,
                };
                let broad = GpuBroadPhase::encode(frame, arena, broad_input)?;
                let longest = len.min(arena.window_limit(bodies.len(), self.stages));
                let listed = Buffer::new(context, label, GpuBroadPhase::room(longest))?;
                let (total, heavy_rows) = (broad.total.clone(), broad.heavy_rows());
                let source = Source::Near(Box::new(broad), listed);
                return Ok(EncodedPairs { source, len, total, heavy_rows });
            }
        };
        let len = usize::try_from(total).unwrap_or(usize::MAX);
        let len = if self.keep_all() { len } else { len.min(capacity) };
        if u32::try_from(len).is_err() {
            let (count, limit) = (len as u64, u32::MAX.into());
            return Err(Error::TooMany { what: "pairs of an encoded query", count, limit });
        }
        let words: Buffer<u32> = Buffer::new(context, "hullfield.collide.pair_total", 2)?;
        frame.upload(&words, 0, &[total as u32, (total >> 32) as u32])?;
        // No number of rows is more than that.
        Ok(EncodedPairs { source, len, heavy_rows: (words.clone(), u32::MAX), total: words })
    }

    /// Encodes all windows, and returns the number of rows, low and high word.
    fn encode_windows(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
        bodies: &Buffer<PackedBody>,
        moves: Option<&MotionBuffer>,
        pairs: &EncodedPairs,
        parts: &[Buffer<u32>],
    ) -> Result<Buffer<u32>> {
        let (context, stages) = (&arena.context, self.stages);
        let limit = arena.window_limit(bodies.len(), stages);
        let longest = pairs.len.min(limit);
        // The first two words of the list of pairs to refine, as each window begins: none, and the number of all pairs. Indices past
        // the capacity are no pairs of any window. Where the broad phase finds the pairs, its kernel writes their number.
        let is_near = matches!(pairs.source, Source::Near(..));
        let head = [0, if is_near { 0 } else { pairs.len as u32 }];
        let refine: Buffer<u32> = Buffer::new(context, "hullfield.collide.refine", 2 + longest)?;
        frame.upload(&refine, 0, &head)?;
        // Uploads come before all kernels, so later windows copy it.
        let later_head: Buffer<u32> = Buffer::new(context, "hullfield.collide.refine_head", 2)?;
        if pairs.len > limit {
            frame.upload(&later_head, 0, &head)?;
        }
        let verdicts = Buffer::new(context, "hullfield.collide.verdicts", longest)?;
        let data_len = if stages.rows_have_data { stages.data_words * longest } else { 4 };
        let data = Buffer::new(context, stages.data_label, data_len)?;
        let counts = HitCounts::new(context, longest)?;
        if pairs.len == 0 {
            // No window counts the rows.
            frame.clear(&counts.row_sums);
        }
        for begin in (0..pairs.len).step_by(limit) {
            let len = limit.min(pairs.len - begin);
            if begin > 0 {
                frame.copy(&later_head, 0..2, &refine, 0)?;
            }
            let mut window = Window {
                len,
                pairs: pairs.source.window(frame, begin..begin + len, &refine)?,
                refine: refine.clone(),
                refined: len,
                verdicts: verdicts.clone(),
                data: data.clone(),
                params: self.params(bodies.len(), moves, begin, len),
            };
            self.encode_narrow(arena, frame, bodies, moves, &window)?;
            encode_counts(frame, &window, &counts)?;
            let mut row_begin = 0;
            for part in parts {
                let rows = row_begin..row_begin + part.len() / stages.row_words;
                // A row's number is at most that of its pair.
                let may_have_rows = rows.start < begin + len && (!self.keep_all() || rows.end > begin);
                if may_have_rows {
                    window.params.row_begin = rows.start as u32;
                    encode_rows(frame, stages, &window, &counts, part)?;
                }
                row_begin = rows.end;
            }
        }
        Ok(counts.row_sums)
    }

    /// Encodes the rows of manifolds from the measured rows of a part.
    fn encode_manifolds(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
        bodies: &Buffer<PackedBody>,
        features: &Buffer<u32>,
        measured: &Buffer<u32>,
        part: &DevicePart,
    ) -> Result<()> {
        let hulls = arena.hulls()?;
        let room = part.unsettled.len();
        let params = frame.uniform(&ManifoldParams {
            margin: self.margin.min(f32::MAX),
            row_room: room as u32,
            padding_0: 0,
            padding_1: 0,
        })?;
        let bound = [
            params,
            bodies.bind(),
            hulls.records.bind(),
            hulls.vertices.bind(),
            features.bind(),
            measured.bind(),
            part.counts.bind(),
            part.rows.bind(),
        ];
        frame.dispatch(&MANIFOLD, &bound, MANIFOLD.groups(room as u64))
    }

    /// The parameters of a window.
    fn params(
        &self,
        body_count: usize,
        moves: Option<&MotionBuffer>,
        begin: usize,
        len: usize,
    ) -> NarrowParams {
        // As long as a row of the walk over all pairs (shaders/collide/narrow_phase/pair_exhaustive.wgsl).
        let columns = body_count | 1;
        NarrowParams {
            window_begin: begin as u32,
            window_len: len as u32,
            body_count: body_count as u32,
            exhaustive_row: (begin / columns) as u32,
            exhaustive_column: (begin % columns) as u32,
            margin: if self.keep_all() { f32::MAX } else { self.margin.min(f32::MAX) },
            with_depth: self.with_depth.into(),
            keep_all: self.keep_all().into(),
            duration: moves.map_or(0.0, |moves| moves.duration),
            is_later_window: (begin > 0).into(),
            ..NarrowParams::zeroed()
        }
    }

    /// Encodes GJK and EPA of a window.
    fn encode_narrow(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
        bodies: &Buffer<PackedBody>,
        moves: Option<&MotionBuffer>,
        window: &Window,
    ) -> Result<()> {
        let (stages, kind) = (self.stages, window.pairs.kind());
        if let (Some(kernels), Some(moves)) = (stages.prepare, moves) {
            encode_preparation(frame, arena, bodies, window, kernels[kind], moves)?;
        }
        let steps = arena.pair_steps * stages.effort;
        let far =
            if kind == 1 && window.params.margin == 0.0 { (steps / FAR_PAIRS).max(FAR_PAIRS) } else { steps };
        encode_stage(frame, arena, bodies, window, stages.search[kind], far, 0..window.len)?;
        encode_refinement(frame, arena, bodies, window, stages.refine[kind], steps)
    }
}

/// Encodes EPA of the pairs that GJK has listed: as many workgroups as the list needs, which only the device knows.
fn encode_refinement(
    frame: &mut Frame,
    arena: &GpuArena,
    bodies: &Buffer<PackedBody>,
    window: &Window,
    kernel: &'static Kernel,
    steps: u64,
) -> Result<()> {
    let context = &arena.context;
    let pieces: Vec<Range<u64>> =
        context.pieces(window.len as u64, steps, kernel.workgroup_size.into()).collect();
    let Some(first) = pieces.first() else { return Ok(()) };
    let groups: Buffer<u32> =
        Buffer::with_use(context, "hullfield.collide.refine_groups", 3 * pieces.len(), Use::Indirect)?;
    let params = frame.uniform(&RefineGroupsParams {
        piece_len: (first.end - first.start) as u32,
        piece_count: pieces.len() as u32,
        group_size: kernel.workgroup_size,
        padding: 0,
    })?;
    let bound = [params, window.refine.bind(), groups.bind()];
    frame.dispatch(&REFINE_GROUPS, &bound, REFINE_GROUPS.groups(pieces.len() as u64))?;
    for (at, piece) in pieces.iter().enumerate() {
        let params = NarrowParams { first: piece.start as u32, ..window.params };
        let bound = stage_bindings(frame, arena, bodies, window, &params)?;
        let kernel = frame.bind_kernel(kernel, &bound)?;
        let groups = Groups::At(&groups, 3 * at);
        frame.dispatch_all(kernel.label(), &[Dispatch { kernel: &kernel, uniform: None, groups }])?;
    }
    Ok(())
}

impl Source {
    /// The pairs of a window. Where the broad phase finds them, it writes their number to `refine`.
    fn window(&self, frame: &mut Frame, range: Range<usize>, refine: &Buffer<u32>) -> Result<PairBuffer> {
        Ok(match self {
            Self::Near(broad, listed) => {
                broad.write(frame, range.start as u32..range.end as u32, listed, refine)?;
                PairBuffer::Listed(listed.clone())
            }
            Self::Exhaustive(spheres) => PairBuffer::Exhaustive(spheres.clone()),
            Self::Given(listed) => PairBuffer::Range(listed.bind_range(range)),
        })
    }
}

impl EncodedMotions<'_> {
    /// The motions on the device.
    fn encode(&self, arena: &GpuArena, frame: &mut Frame) -> Result<MotionBuffer> {
        let motions = match self.motions {
            DeviceMotions::Host(_) => {
                // A binding can't be empty.
                let none = [PackedMotion::default()];
                let packed = if self.packed.is_empty() { &none } else { self.packed };
                let held = Buffer::new(&arena.context, "hullfield.collide.motions", packed.len())?;
                frame.upload(&held, 0, packed)?;
                held
            }
            DeviceMotions::Buffer { buffer, count } => {
                let limit = Some(arena.context.binding_limit());
                given(arena, "motions of the caller", buffer, count, limit)?
            }
        };
        Ok(MotionBuffer { motions, duration: self.duration })
    }
}

/// A buffer of the caller's; with a limit, one binding must hold it.
fn given<T: bytemuck::Pod>(
    arena: &GpuArena,
    what: &'static str,
    buffer: &wgpu::Buffer,
    count: u32,
    limit: Option<u64>,
) -> Result<Buffer<T>> {
    let needed = u64::from(count) * size_of::<T>() as u64;
    if needed > buffer.size() {
        let message = format!("{what}: {count} need {needed} bytes, the buffer has {}", buffer.size());
        return Err(Error::invalid(Location::Argument, message));
    }
    if let Some(limit_bytes) = limit.filter(|&limit| needed > limit) {
        return Err(Error::MemoryLimit { what, needed_bytes: needed, limit_bytes });
    }
    if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        let message = format!("{what}: the buffer must have the usage STORAGE, it has {:?}", buffer.usage());
        return Err(Error::invalid(Location::Argument, message));
    }
    Ok(Buffer::given(&arena.context, what, buffer, count as usize))
}
