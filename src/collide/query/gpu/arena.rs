//! The hulls on a device, and how much room its queries need.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::collide::hull::record::HullRecord;
use crate::collide::narrow_phase::kernels::{RUN, Stages, VERDICTS};
use crate::collide::query::estimate::Estimate;
use crate::collide::query::gpu::hulls::Hulls;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::scene::motion::PackedMotion;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::Scene;
use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::readback::{Read, Results};

/// Parts that the columns of the broad phase are cut into: as many threads a row.
pub(crate) const SEGMENT_COUNT: u32 = 8;
/// Most pairs of one window.
const WINDOW_LIMIT: u64 = 1 << 22;
/// Bytes that the tree takes a body: its nodes (32 and a third), keys and values twice (16), counts (4), and a little.
const TREE_BYTES: u64 = 68;
/// Bytes that a body takes, its motion and staging included.
const STAGED_BODY_BYTES: u64 = 80 + 80 + 32 + 32 + 32 + TREE_BYTES;
/// How many times the bytes of a pair a memory limit must leave room for: two windows, because one is encoded while the
/// results of the one before are read, and some room to grow.
const STAGED_TIMES: u64 = 3;
/// Uniforms, staging of small uploads, and what scans need.
const SMALL_BYTES: u64 = 2 << 20;
/// Steps that the box or the sphere of a body takes, as an estimate (see `Context::pieces`).
pub(crate) const BODY_STEPS: u64 = 20;
/// Steps that cutting down the way of a pair takes, as an estimate.
pub(crate) const MOTION_STEPS: u64 = 20;
/// Support points of each hull that a pair asks for, as an estimate.
const SUPPORT_CALLS: u64 = 10;
/// Where every pair is looked at, one of so many gets as far as a support point, as an estimate.
pub(crate) const FAR_PAIRS: u64 = 20;
/// Turns that the loops over support points may take in one invocation on a software rasteriser. Mesa's llvmpipe ends all
/// loops of an invocation after 65,535 turns together, and reports nothing; the other loops take the rest.
const SOFTWARE_ITERATIONS: u64 = 45_000;
/// Support points of each hull that one invocation asks for at most: GJK twice, and EPA.
const SUPPORT_LIMIT: u64 = 60;
/// The same of a query that measures: GJK twice, and EPA with a larger polytope, whose own loops take [`POLYTOPE_ITERATIONS`].
const MEASURE_LIMIT: u64 = 120;
const POLYTOPE_ITERATIONS: u64 = 14_000;
/// Candidate pairs a body that the engine starts with.
const FIRST_CANDIDATES: usize = 16;

/// An arena on a device, and what its jobs have learnt about their sizes.
#[derive(Debug)]
pub(crate) struct GpuArena {
    pub(crate) context: Context,
    /// None where they are more than one binding holds.
    pub(crate) hulls: Option<Hulls>,
    /// Of that binding.
    pub(crate) needed_bytes: u64,
    /// Steps that GJK or EPA of a pair is reckoned at: vertices looked at.
    pub(crate) pair_steps: u64,
    pub(crate) high_water: Arc<HighWaterMarks>,
    /// The bodies that do not move: here, and not with what the CPU's threads share, which buffers of a browser cannot
    /// be.
    pub(crate) statics: Option<GpuStatics>,
}

/// What the jobs so far have needed at most.
#[derive(Debug, Default)]
pub(crate) struct HighWaterMarks {
    pub(crate) candidates: AtomicUsize,
    pub(crate) hits: AtomicUsize,
    /// Pairs that EPA refined.
    pub(crate) refined: AtomicUsize,
    /// Rows that one thread could not see to.
    pub(crate) heavy: AtomicUsize,
}

impl GpuArena {
    /// Uploads the hulls where they fit in one binding. Where they do not, each part of a query uploads those that it needs.
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

    /// The same with some hulls, in the order of the list, ascending.
    pub(crate) fn with_hulls(&self, scene: &Scene, hulls: &[u32]) -> Result<Self> {
        Ok(Self {
            context: self.context.clone(),
            hulls: Some(Hulls::of_some(&self.context, &scene.supports, hulls)?),
            needed_bytes: self.needed_bytes,
            pair_steps: self.pair_steps,
            high_water: Arc::clone(&self.high_water),
            statics: None,
        })
    }

    /// The bodies that do not move.
    pub(crate) fn statics(&self) -> Option<&GpuStatics> {
        self.statics.as_ref()
    }

    /// Pairs in one window at most, as bindings and what the memory limit leaves for them allow.
    pub(crate) fn window_limit(&self, body_count: usize, stages: &Stages) -> usize {
        let in_binding = self.context.binding_limit() / (4 * stages.row_words.max(stages.data_words) as u64);
        let limit = self.context.account().limit_bytes;
        let fixed = self.hull_bytes() + STAGED_BODY_BYTES * body_count as u64 + SMALL_BYTES;
        let in_memory = limit.saturating_sub(fixed) / (STAGED_TIMES * pair_bytes(stages));
        (in_binding.min(in_memory).min(WINDOW_LIMIT) / 256 * 256).max(256) as usize
    }

    pub(crate) fn hull_bytes(&self) -> u64 {
        // Of those that do not fit what two halves may take.
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

    /// What a query will take.
    pub(crate) fn estimate(&self, body_count: usize, pairs: &Pairs<'_>) -> Estimate {
        let window = match pairs {
            Pairs::BroadPhase => self.candidate_capacity(body_count),
            Pairs::Exhaustive => self
                .window_limit(body_count, &VERDICTS)
                .min(pair_total(body_count).try_into().unwrap_or(usize::MAX)),
            Pairs::Given(pairs) => pairs.len().min(self.window_limit(body_count, &VERDICTS)),
        };
        let bodies = body_count as u64;
        let hits = self.hit_capacity(window) as u64;
        let window = window as u64;
        let runs = window.div_ceil(RUN as u64);
        // Of what does not fit in one binding two blocks lie on the device at a time. A sweep's motions are reckoned in.
        let bodies = if self.fits(body_count) { bodies } else { bodies.min(2 * self.block_len() as u64) };
        let motion = size_of::<PackedMotion>() as u64;
        let body = size_of::<PackedBody>() as u64 + motion;
        let (body_bytes, candidate_bytes, staging_bytes) = match pairs {
            Pairs::BroadPhase => (
                (body + 32 + TREE_BYTES) * bodies,
                16 * window + 12 * hits + 4 * runs,
                body * bodies + 12 * hits,
            ),
            Pairs::Exhaustive => {
                ((body + 16) * bodies, 8 * window + 12 * hits + 4 * runs, body * bodies + 12 * hits)
            }
            Pairs::Given(_) => (body * bodies, 28 * window, body * bodies + 24 * window),
        };
        Estimate { hull_bytes: self.hull_bytes(), body_bytes, candidate_bytes, staging_bytes }
    }

    /// Whether the device may answer a query. A software rasteriser must not where its loops would end too early
    /// ([`SOFTWARE_ITERATIONS`]): the CPU engine answers then.
    pub(crate) fn can_run(&self, measured: bool) -> bool {
        let support = self.pair_steps / SUPPORT_CALLS;
        let turns = match measured {
            true => support * MEASURE_LIMIT + POLYTOPE_ITERATIONS,
            false => support * SUPPORT_LIMIT,
        };
        !(self.context.is_software() && turns > SOFTWARE_ITERATIONS)
    }

    /// Whether so many bodies fit in one binding, and the hulls: all else that there is one of a body takes less.
    pub(crate) fn fits(&self, body_count: usize) -> bool {
        self.hulls.is_some() && (body_count * size_of::<PackedBody>()) as u64 <= self.context.binding_limit()
    }

    /// Bodies of which twice as many fit in one binding.
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

/// Vertices that the support mapping of a hull looks at, at most.
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

/// Bytes that a pair of a window takes at most, staging included: itself, its verdict, its place in the list of the
/// near ones, counts of the compaction, data, and its row twice.
fn pair_bytes(stages: &Stages) -> u64 {
    let data = if stages.rows_have_data { stages.data_words } else { 0 };
    18 + 4 * (data + 2 * stages.row_words) as u64
}

/// Room for what there was at most, and a little more, so that a crowd which moves needs no second frame.
pub(crate) fn headroom(mark: usize) -> usize {
    mark + mark / 8
}

/// Number of pairs of `count` bodies.
pub(crate) fn pair_total(count: usize) -> u64 {
    let count = count as u64;
    count * count.saturating_sub(1) / 2
}

/// The sum of a scan, which arrives as two words.
pub(crate) fn total_of(results: &Results, read: &Read<u32>) -> Result<u64> {
    let words = results.get(read)?;
    match words[..] {
        [low, high, ..] => Ok(u64::from(high) << 32 | u64::from(low)),
        _ => {
            Err(Error::internal("collide::gpu::total_of", format!("{} words for a sum of two", words.len())))
        }
    }
}
