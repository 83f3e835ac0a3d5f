//! The hulls of an arena on a device, and the capacities of its queries.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::collide::hull::record::HullRecord;
use crate::collide::narrow_phase::kernels::{Stages, VERDICTS};
use crate::collide::query::gpu::hulls::Hulls;
use crate::collide::query::gpu::ray_hulls::RayHulls;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::ray::kernels::DeviceRay;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::query_input::Scene;
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::readback::{Read, Results};

/// Parts that the columns of the tiled broad phase are split into: one thread for each row and part.
pub(crate) const SEGMENT_COUNT: u32 = 8;
/// Most pairs of one window.
const WINDOW_LIMIT: u64 = 1 << 22;
/// Most rays of one window.
const RAY_LIMIT: u64 = 1 << 20;
/// Bytes of the tree for each body: leaf (32), nodes (32 / 3), counts (4), digits of the sort (1), and a little more.
const TREE_BYTES: u64 = 48;
/// Most bytes for each body, a box for heavy rows, its motion and staging included.
const STAGED_BODY_BYTES: u64 = 80 + 80 + 32 + 32 + 32 + TREE_BYTES;
/// A memory limit must allow the bytes of a pair this many times: for two windows, because the next is on the device while the host takes
/// the rows of one, and for growth.
const STAGED_TIMES: u64 = 3;
/// Uniforms, staging of small uploads, and what scans need.
const SMALL_BYTES: u64 = 2 << 20;
/// Estimated steps for cutting down the path of a pair (see `Context::pieces`).
pub(crate) const MOTION_STEPS: u64 = 20;
/// Estimated calls of each hull's support mapping for a pair.
const SUPPORT_CALLS: u64 = 10;
/// Where all pairs are examined, an estimated one in so many needs the support mapping.
pub(crate) const FAR_PAIRS: u64 = 20;
/// Most iterations of the loops over vertices in one invocation on a software rasteriser. Mesa's llvmpipe silently ends all loops of an
/// invocation after 65,535 iterations together; the other loops need the rest.
const SOFTWARE_ITERATIONS: u64 = 45_000;
/// Most calls of each hull's support mapping in one invocation: GJK twice, and EPA.
const SUPPORT_LIMIT: u64 = 60;
/// The same for a measuring query: GJK twice, and EPA with a larger polytope, whose own loops take [`POLYTOPE_ITERATIONS`].
const MEASURE_LIMIT: u64 = 120;
const POLYTOPE_ITERATIONS: u64 = 14_000;
/// Candidate pairs for each body that the engine starts with.
const FIRST_CANDIDATES: usize = 16;

/// An arena on a device, with the sizes that its queries have needed.
#[derive(Debug)]
pub(crate) struct GpuArena {
    pub(crate) context: Context,
    /// `None` where one binding does not hold them.
    pub(crate) hulls: Option<Hulls>,
    /// Bytes of the largest of these bindings.
    pub(crate) needed_bytes: u64,
    /// Estimated steps of GJK or EPA for a pair, in vertices scanned.
    pub(crate) pair_steps: u64,
    pub(crate) high_water: Arc<HighWaterMarks>,
    /// The faces and edges of all hulls, once a query has asked for them.
    pub(crate) features: Arc<OnceLock<Buffer<u32>>>,
    /// The planes of all hulls, once a query with rays has asked for them.
    pub(crate) ray_hulls: Arc<OnceLock<RayHulls>>,
    /// The statics. They are not part of the data that the CPU's threads share, because a browser's buffers cannot be shared.
    pub(crate) statics: Option<GpuStatics>,
}

/// The most that any query so far has needed.
#[derive(Debug, Default)]
pub(crate) struct HighWaterMarks {
    pub(crate) candidates: AtomicUsize,
    pub(crate) hits: AtomicUsize,
    /// Pairs that EPA refined.
    pub(crate) refined: AtomicUsize,
    /// Heavy rows: too long for one thread.
    pub(crate) heavy: AtomicUsize,
}

impl GpuArena {
    /// Uploads the hulls where one binding holds them. Otherwise each part of a query uploads the hulls that it needs.
    pub(crate) fn new(context: &Context, scene: &Scene) -> Result<Self> {
        let supports = &scene.supports;
        let mut longest = 1;
        for hull in &supports.records {
            longest = longest.max(longest_scan(hull, &supports.cells)?);
        }
        Ok(Self {
            context: context.clone(),
            hulls: Hulls::of_all(context, supports)?,
            needed_bytes: Hulls::largest_bytes(supports),
            pair_steps: 2 * SUPPORT_CALLS * longest,
            high_water: Arc::default(),
            features: Arc::default(),
            ray_hulls: Arc::default(),
            statics: None,
        })
    }

    /// The hulls on the device.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`] where they do not fit.
    pub(crate) fn hulls(&self) -> Result<&Hulls> {
        let (needed_bytes, limit_bytes) = (self.needed_bytes, self.context.binding_limit());
        let what = "one binding of the vertices or tables of all hulls";
        self.hulls.as_ref().ok_or(Error::MemoryLimit { what, needed_bytes, limit_bytes })
    }

    /// The same arena with only some hulls; their ids are ascending.
    pub(crate) fn with_hulls(&self, scene: &Scene, hulls: &[u32]) -> Result<Self> {
        Ok(Self {
            context: self.context.clone(),
            hulls: Some(Hulls::of_some(&self.context, &scene.supports, hulls)?),
            needed_bytes: self.needed_bytes,
            pair_steps: self.pair_steps,
            high_water: Arc::clone(&self.high_water),
            features: Arc::default(),
            ray_hulls: Arc::default(),
            statics: None,
        })
    }

    /// The statics on the device.
    pub(crate) fn statics(&self) -> Option<&GpuStatics> {
        self.statics.as_ref()
    }

    /// Most pairs in one window, as bindings and the memory limit allow.
    pub(crate) fn window_limit(&self, body_count: usize, stages: &Stages) -> usize {
        let in_binding = self.context.binding_limit() / (4 * stages.row_words.max(stages.data_words) as u64);
        let limit = self.context.account().limit_bytes;
        let fixed = self.hull_bytes() + STAGED_BODY_BYTES * body_count as u64 + SMALL_BYTES;
        let in_memory = limit.saturating_sub(fixed) / (STAGED_TIMES * pair_bytes(stages));
        (in_binding.min(in_memory).min(WINDOW_LIMIT) / 256 * 256).max(256) as usize
    }

    /// Most rays in one window, as bindings and the memory limit allow.
    pub(crate) fn ray_window(&self, body_count: usize) -> usize {
        let in_binding = self.context.binding_limit() / size_of::<DeviceRay>() as u64;
        let limit = self.context.account().limit_bytes;
        let fixed = self.hull_bytes() + STAGED_BODY_BYTES * body_count as u64 + SMALL_BYTES;
        // A ray and its code, each once more in staging.
        let ray_bytes = 2 * (size_of::<DeviceRay>() as u64 + 4);
        let in_memory = limit.saturating_sub(fixed) / (2 * ray_bytes);
        (in_binding.min(in_memory).min(RAY_LIMIT) / 64 * 64).max(64) as usize
    }

    pub(crate) fn hull_bytes(&self) -> u64 {
        // Hulls that do not fit take up to this much for two blocks.
        self.hulls.as_ref().map_or(3 * self.context.binding_limit(), Hulls::bytes)
    }

    pub(crate) fn candidate_capacity(&self, body_count: usize) -> usize {
        let mark = self.high_water.candidates.load(Relaxed);
        let wanted = if mark == 0 { body_count.saturating_mul(FIRST_CANDIDATES) } else { headroom(mark) };
        wanted
            .max(1024)
            .min(pair_total(body_count).try_into().unwrap_or(usize::MAX))
            .min(self.window_limit(body_count, &VERDICTS))
    }

    pub(crate) fn hit_capacity(&self, window_len: usize) -> usize {
        headroom(self.high_water.hits.load(Relaxed)).max(4096).min(window_len)
    }

    pub(crate) fn refine_capacity(&self, window_len: usize) -> usize {
        headroom(self.high_water.refined.load(Relaxed)).max(1024).min(window_len)
    }

    /// Whether the device can run a query. On a software rasteriser the loops may end too early ([`SOFTWARE_ITERATIONS`]). Then the CPU
    /// engine answers.
    pub(crate) fn can_run(&self, measured: bool) -> bool {
        let support = self.pair_steps / SUPPORT_CALLS;
        let turns = match measured {
            true => support * MEASURE_LIMIT + POLYTOPE_ITERATIONS,
            false => support * SUPPORT_LIMIT,
        };
        !(self.context.is_software() && turns > SOFTWARE_ITERATIONS)
    }

    /// Whether one binding holds so many bodies, and the hulls fit too. All other buffers with one element for each body are smaller.
    pub(crate) fn fits(&self, body_count: usize) -> bool {
        self.hulls.is_some() && (body_count * size_of::<PackedBody>()) as u64 <= self.context.binding_limit()
    }

    /// Most bodies of a block: half as many as fit in one binding.
    pub(crate) fn block_len(&self) -> usize {
        (self.context.binding_limit() as usize / size_of::<PackedBody>() / 2).max(1)
    }

    pub(crate) fn check_bodies(&self, body_count: usize) -> Result<()> {
        let needed_bytes = (body_count * size_of::<PackedBody>()) as u64;
        let limit_bytes = self.context.binding_limit();
        if needed_bytes > limit_bytes {
            return Err(Error::MemoryLimit { what: "one binding of all bodies", needed_bytes, limit_bytes });
        }
        Ok(())
    }
}

/// Most vertices that the support mapping of a hull scans.
fn longest_scan(hull: &HullRecord, cells: &[u32]) -> Result<u64> {
    if hull.cell_side == 0 {
        return Ok(hull.vertex_count.into());
    }
    let cell_count = (6 * hull.cell_side * hull.cell_side) as usize;
    let begin = hull.cell_offset as usize;
    let Some(lists) = cells.get(begin..=begin + cell_count) else {
        let message = format!("a table of {cell_count} cells at {begin} of {} words", cells.len());
        return Err(Error::internal("collide::gpu::reach", message));
    };
    let longest =
        lists.windows(2).map(|ends| if ends[0] < ends[1] { ends[1] - ends[0] } else { hull.vertex_count });
    Ok(longest.max().unwrap_or(hull.vertex_count).into())
}

/// Most bytes for each pair of a window, staging included: the pair, its verdict, its entry in the refine list, counts of the
/// compaction, data, and its row twice.
fn pair_bytes(stages: &Stages) -> u64 {
    let data = if stages.rows_have_data { stages.data_words } else { 0 };
    18 + 4 * (data + 2 * stages.row_words) as u64
}

/// The high-water mark and an eighth more, so that a moving crowd needs no second frame.
pub(crate) fn headroom(mark: usize) -> usize {
    mark + mark / 8
}

/// Number of pairs of `count` bodies.
pub(crate) fn pair_total(count: usize) -> u64 {
    let count = count as u64;
    count * count.saturating_sub(1) / 2
}

/// The sum of a scan, read back as two words.
pub(crate) fn total_of(results: &Results, read: &Read<u32>) -> Result<u64> {
    let words = results.get(read)?;
    match words[..] {
        [low, high, ..] => Ok(u64::from(high) << 32 | u64::from(low)),
        _ => {
            Err(Error::internal("collide::gpu::total_of", format!("{} words for a sum of two", words.len())))
        }
    }
}
