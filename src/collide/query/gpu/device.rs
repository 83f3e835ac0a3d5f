//! Queries in the caller's own encoder: one window of pairs, with rows that stay on the device.

use bytemuck::Zeroable;

use crate::collide::narrow_phase::kernels::{DEVICE_COUNTS, DeviceParams, NarrowParams, SPHERES, Stages};
use crate::collide::query::encoded::{Capacity, DeviceBodies, DevicePairs, DeviceRows};
use crate::collide::query::gpu::arena::{FAR_PAIRS, GpuArena};
use crate::collide::query::gpu::broad::{BroadPhaseInput, GpuBroadPhase, encode_per_body, upload_bodies};
use crate::collide::query::gpu::narrow::{PairBuffer, Window, encode_counts, encode_rows, encode_stage};
use crate::collide::query::gpu::parts::exhaustive_total;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::scene::packed_body::PackedBody;
use crate::error::{Error, Location, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;

/// A query to encode.
pub(crate) struct EncodedQuery<'a> {
    pub(crate) stages: &'static Stages,
    pub(crate) margin: f32,
    pub(crate) with_depth: bool,
    pub(crate) bodies: DeviceBodies<'a>,
    /// The packed bodies, where they come from the host.
    pub(crate) packed: &'a [PackedBody],
    pub(crate) statics: Option<&'a GpuStatics>,
    /// Ids of the half-spaces, where they are known.
    pub(crate) planes: Option<&'a [u32]>,
    pub(crate) pairs: DevicePairs<'a>,
    pub(crate) capacity: Capacity,
}

impl EncodedQuery<'_> {
    /// Encodes the query into the caller's encoder.
    pub(crate) fn run(&self, arena: &GpuArena, encoder: &mut wgpu::CommandEncoder) -> Result<DeviceRows> {
        let label = "hullfield.collide.encoded";
        let (mut rows, kept) =
            Frame::encode_into(&arena.context, label, encoder, |frame| self.encode(arena, frame))?;
        rows._kept = kept;
        Ok(rows)
    }

    fn encode(&self, arena: &GpuArena, frame: &mut Frame) -> Result<DeviceRows> {
        let context = &arena.context;
        let bodies = match self.bodies {
            DeviceBodies::Host(_) => upload_bodies(frame, arena, self.packed, self.statics)?,
            DeviceBodies::Buffer { buffer, count } => given(arena, "bodies of the caller", buffer, count)?,
        };
        let body_count = bodies.len();
        let keep_all = matches!(self.pairs, DevicePairs::Given(_) | DevicePairs::Buffer { .. });
        let (len, total) = match self.pairs {
            DevicePairs::Given(pairs) => (pairs.len(), pairs.len() as u64),
            DevicePairs::Buffer { count, .. } => (count as usize, count.into()),
            DevicePairs::Exhaustive => {
                let total = exhaustive_total(body_count);
                (usize::try_from(total).unwrap_or(usize::MAX).min(self.capacity.pairs as usize), total)
            }
            DevicePairs::BroadPhase => (self.capacity.pairs as usize, 0),
        };
        let limit = arena.window_limit(body_count, self.stages);
        if len > limit {
            let (count, limit) = (len as u64, limit as u64);
            return Err(Error::TooMany { what: "pairs of an encoded query", count, limit });
        }
        let row_room = if keep_all { len } else { self.capacity.rows as usize };
        let refine: Buffer<u32> = Buffer::new(context, "hullfield.collide.refine", 2 + len)?;
        let mut pair_total: Buffer<u32> = Buffer::new(context, "hullfield.collide.pair_total", 2)?;
        frame.upload(&refine, 0, &[0, total.min(u32::MAX.into()) as u32])?;
        frame.upload(&pair_total, 0, &[total as u32, (total >> 32) as u32])?;
        let pairs = match self.pairs {
            DevicePairs::Exhaustive => {
                let spheres = Buffer::new(context, "hullfield.collide.spheres", body_count)?;
                encode_per_body(
                    frame,
                    &SPHERES,
                    &arena.hulls()?.records,
                    &bodies,
                    &spheres,
                    0..body_count,
                    0.0,
                )?;
                PairBuffer::Exhaustive(spheres)
            }
            DevicePairs::Given(pairs) => {
                let listed = Buffer::new(context, "hullfield.collide.pairs", len)?;
                frame.upload(&listed, 0, pairs)?;
                PairBuffer::Listed(listed)
            }
            DevicePairs::Buffer { buffer, count } => {
                PairBuffer::Listed(given(arena, "pairs of the caller", buffer, count)?)
            }
            DevicePairs::BroadPhase => {
                let broad_input = BroadPhaseInput {
                    bodies: &bodies,
                    statics: self.statics,
                    planes: self.planes,
                    grow: 0.5 * self.margin.min(f32::MAX),
                    moves: None,
                    room: Some(len),
                    pairs_own_rows: true,
                };
                let broad = GpuBroadPhase::encode(frame, arena, broad_input)?;
                let listed = Buffer::new(context, "hullfield.collide.pairs", GpuBroadPhase::room(len))?;
                broad.write(frame, 0..len as u32, &listed, &refine)?;
                pair_total = broad.total;
                PairBuffer::Listed(listed)
            }
        };
        let stages = self.stages;
        let margin = if keep_all { f32::MAX } else { self.margin.min(f32::MAX) };
        let window = Window {
            len,
            pairs,
            refine,
            refined: len,
            verdicts: Buffer::new(context, "hullfield.collide.verdicts", len)?,
            data: Buffer::new(
                context,
                stages.data_label,
                if stages.rows_have_data { stages.data_words * len } else { 4 },
            )?,
            params: NarrowParams {
                window_len: len as u32,
                body_count: body_count as u32,
                margin,
                with_depth: self.with_depth.into(),
                keep_all: keep_all.into(),
                ..NarrowParams::zeroed()
            },
        };
        let kind = window.pairs.kind();
        let steps = arena.pair_steps * stages.effort;
        let far = if kind == 1 && self.margin == 0.0 { (steps / FAR_PAIRS).max(FAR_PAIRS) } else { steps };
        encode_stage(frame, arena, &bodies, &window, stages.search[kind], far, 0..len)?;
        encode_stage(frame, arena, &bodies, &window, stages.refine[kind], steps, 0..len)?;
        let hits = encode_counts(frame, &window)?;
        let rows = encode_rows(frame, stages, &window, &hits, row_room)?;

        let counts = Buffer::new(context, "hullfield.collide.device_counts", 1)?;
        let unsettled = Buffer::new(context, "hullfield.collide.unsettled", row_room)?;
        frame.clear(&counts);
        let params = frame.uniform(&DeviceParams {
            row_words: stages.row_words as u32,
            row_room: row_room as u32,
            pair_room: len as u32,
            padding: 0,
        })?;
        let bound =
            [params, pair_total.bind(), hits.row_sums.bind(), rows.bind(), counts.bind(), unsettled.bind()];
        frame.dispatch(&DEVICE_COUNTS, &bound, DEVICE_COUNTS.groups(row_room as u64).max(1))?;
        Ok(DeviceRows { rows, counts, unsettled, _kept: Vec::new() })
    }
}

/// A buffer of the caller's.
fn given<T: bytemuck::Pod>(
    arena: &GpuArena,
    what: &'static str,
    buffer: &wgpu::Buffer,
    count: u32,
) -> Result<Buffer<T>> {
    let needed = u64::from(count) * size_of::<T>() as u64;
    if needed > buffer.size() {
        let message = format!("{what}: {count} need {needed} bytes, the buffer has {}", buffer.size());
        return Err(Error::invalid(Location::Argument, message));
    }
    let limit_bytes = arena.context.binding_limit();
    if needed > limit_bytes {
        return Err(Error::MemoryLimit { what, needed_bytes: needed, limit_bytes });
    }
    if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        let message = format!("{what}: the buffer must have the usage STORAGE, it has {:?}", buffer.usage());
        return Err(Error::invalid(Location::Argument, message));
    }
    Ok(Buffer::given(&arena.context, what, buffer, count as usize))
}
