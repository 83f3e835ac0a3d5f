//! What an answer will take, told by a sample of its pairs before all of them are looked at: a million bodies at one place
//! make 5e11 pairs, which neither engine can even count while somebody waits.
//!
//! Both engines ask the same sample, with the same limits, and so give the same error. It is the host's: no shader has a
//! part in it. The CPU engine asks the search that it is about to run; for the GPU engine, whose search is on the device,
//! boxes and a tree are made here for the sample alone, and only once the device has counted so much that it is worth it.

use crate::collide::broad_phase::cpu;
use crate::collide::broad_phase::cpu::{SampledRow, check_total};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::{RowBudget, estimated_total};
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::{Error, Result};
use crate::parallel::{in_pool, map};

/// Pairs, or tests of boxes, that are done without a sample.
const SMALL: u64 = cpu::WINDOW as u64;

/// Whether so many pairs, or tests that lead to them, are worth a sample first.
pub(crate) fn is_large(count: u64) -> bool {
    count > SMALL
}

/// Fails where what a search will find has far more rows than there is room for: `hits` of some pairs are rows.
pub(crate) fn check_row_count(
    search: &cpu::BroadPhase,
    static_boxes: &StaticBoxes,
    grow: f32,
    budget: &RowBudget,
    hits: impl Fn(&[[u32; 2]]) -> usize + Sync,
) -> Result<()> {
    let Some(sample) = search.sample(static_boxes, grow) else { return Ok(()) };
    check_sample(&sample, search.boxes.len(), budget, hits)
}

/// The same for [`Pairs::Exhaustive`].
pub(crate) fn check_row_count_exhaustive(
    scene: &Scene,
    input: &QueryInput,
    budget: &RowBudget,
    hits: impl Fn(&[[u32; 2]]) -> usize + Sync,
) -> Result<()> {
    if !is_large(input.pair_total()) {
        return Ok(());
    }
    check_sample(&sample_all_pairs(scene, input), input.mover_count, budget, hits)
}

fn check_sample(
    sample: &[SampledRow],
    row_count: usize,
    budget: &RowBudget,
    hits: impl Fn(&[[u32; 2]]) -> usize + Sync,
) -> Result<()> {
    let rows = map(sample, |row| {
        let share = hits(&row.pairs) as f64 / row.pairs.len().max(1) as f64;
        row.count as f64 * share
    });
    budget.check_row_count(rows, row_count)
}

/// Some bodies of a job, laid out for the CPU, in the order of their ids.
pub(crate) struct SampleBodies {
    pub(crate) input: QueryInput,
    /// Their ids in the job that they are of.
    pub(crate) ids: Vec<u32>,
}

/// What the device knows of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedSoFar {
    /// How many pairs there are, by far enough.
    Pairs,
    /// That it will take many tests to count them.
    BoxTests,
}

/// [`check_row_count`] and [`check_row_count_exhaustive`] where the search is on the device; whether the sample had a say. `boxes` makes those
/// of the bodies that move.
///
/// # Errors
/// [`Error::MemoryLimit`] as on the CPU engine, and [`Error::TooMany`] where the pairs are sure to be more than the device
/// can number.
pub(crate) fn check_row_count_on_host(
    scene: &Scene,
    input: &QueryInput,
    counted_so_far: CountedSoFar,
    grow: f32,
    boxes: impl FnOnce() -> Vec<Aabb> + Send,
    budget: &RowBudget,
    hits: impl Fn(&SampleBodies, &[[u32; 2]]) -> usize + Sync + Send,
) -> Result<bool> {
    // On the thread that waits for the device the pool is not this thread's own.
    in_pool(|| check_sample_on_host(scene, input, counted_so_far, grow, boxes, budget, hits))
}

fn check_sample_on_host(
    scene: &Scene,
    input: &QueryInput,
    counted_so_far: CountedSoFar,
    grow: f32,
    boxes: impl FnOnce() -> Vec<Aabb>,
    budget: &RowBudget,
    hits: impl Fn(&SampleBodies, &[[u32; 2]]) -> usize + Sync,
) -> Result<bool> {
    let is_near = input.pairs == OwnedPairs::BroadPhase;
    let mut sample = if is_near {
        let none = StaticBoxes::default();
        let static_boxes = input.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        cpu::BroadPhase::sample_of(boxes(), static_boxes, grow)
    } else {
        sample_all_pairs(scene, input)
    };
    let counts: Vec<f64> = sample.iter().map(|row| row.count as f64).collect();
    let pairs: f64 = counts.iter().sum::<f64>() / counts.len().max(1) as f64 * input.mover_count as f64;
    if counted_so_far == CountedSoFar::BoxTests && pairs <= SMALL as f64 {
        return Ok(false);
    }
    let bodies_of_sample = sample_bodies(scene, input, &mut sample)?;
    let judged = check_sample(&sample, input.mover_count, budget, |pairs| hits(&bodies_of_sample, pairs));
    scene.give_back(bodies_of_sample.input);
    judged?;
    let least = estimated_total(counts, input.mover_count) / 2.0;
    if is_near && check_total(least as u64).is_err() {
        let what = "candidate pairs, by a sample of them,";
        return Err(Error::TooMany { what, count: 2 * least as u64, limit: u32::MAX.into() });
    }
    Ok(true)
}

/// The bodies of a sample, whose pairs then name their places.
fn sample_bodies(scene: &Scene, input: &QueryInput, sample: &mut [SampledRow]) -> Result<SampleBodies> {
    let mut ids: Vec<u32> = sample.iter().flat_map(|row| row.pairs.iter().flatten().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    let bodies: Vec<Body> = ids.iter().map(|&id| input.bodies[id as usize]).collect();
    for pair in sample.iter_mut().flat_map(|row| &mut row.pairs) {
        *pair = pair.map(|id| ids.partition_point(|&other| other < id) as u32);
    }
    let input =
        QueryInput::new(scene, &bodies, None, Pairs::BroadPhase, Layout { packed: false, placed: true })?;
    Ok(SampleBodies { input, ids })
}

/// Rows of the triangle of all pairs, drawn evenly, and some pairs of each: what stands for others is what groups allow.
fn sample_all_pairs(scene: &Scene, input: &QueryInput) -> Vec<SampledRow> {
    let all = input.bodies.len() as u32;
    let row = |a: u32| {
        let first = a + 1;
        let step = (all - first).div_ceil(cpu::SAMPLE_PAIRS as u32).max(1);
        let drawn = (first..all).step_by(step as usize);
        let drawn_count = drawn.len().max(1);
        let pairs: Vec<[u32; 2]> = drawn.filter(|&b| input.accepts(scene, a, b)).map(|b| [a, b]).collect();
        let count = ((all - first) as usize * pairs.len()).div_ceil(drawn_count);
        SampledRow { count, pairs }
    };
    cpu::sample_row_ids(input.mover_count).map(row).collect()
}
