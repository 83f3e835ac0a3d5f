//! Estimates the size of an answer by a sample of its pairs: a million bodies at one place make 5e11 pairs, and counting them takes
//! minutes on either engine.
//!
//! Both engines use the same sample with the same limits, and so give the same error. The host takes the sample. The CPU engine takes
//! it from the search that it is about to run. The GPU engine searches on the device, so boxes and a tree are made here for the
//! sample alone, and only once the device has counted enough to make it worth the time.

use crate::collide::broad_phase::cpu;
use crate::collide::broad_phase::cpu::{SampledRow, check_total};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::{RowBudget, estimated_total};
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::{Error, Result};
use crate::parallel::{in_pool, map};

/// Up to so many pairs, or tests of boxes, no sample is taken.
const SMALL: u64 = cpu::WINDOW as u64;

/// Whether so many pairs, or tests of boxes, call for a sample first.
pub(crate) fn is_large(count: u64) -> bool {
    count > SMALL
}

/// Fails where a search will find far more rows than the budget allows. `hits` counts the rows of some pairs.
pub(crate) fn check_row_count(
    search: &cpu::BroadPhase,
    static_boxes: &StaticBoxes,
    grow: f32,
    budget: &RowBudget,
    hits: &(dyn Fn(&[[u32; 2]]) -> usize + Sync),
) -> Result<()> {
    let Some(sample) = search.sample(static_boxes, grow) else { return Ok(()) };
    check_sample(&sample, search.movers.boxes.len(), budget, hits)
}

/// The same for [`Pairs::Exhaustive`].
pub(crate) fn check_row_count_exhaustive(
    scene: &Scene,
    input: &QueryInput,
    budget: &RowBudget,
    hits: &(dyn Fn(&[[u32; 2]]) -> usize + Sync),
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
    hits: &(dyn Fn(&[[u32; 2]]) -> usize + Sync),
) -> Result<()> {
    let rows = map(sample, |row| {
        let share = hits(&row.pairs) as f64 / row.pairs.len().max(1) as f64;
        row.count as f64 * share
    });
    budget.check_row_count(rows, row_count)
}

/// The bodies of a sample, laid out for the CPU, in the order of their ids.
pub(crate) struct SampleBodies {
    pub(crate) input: QueryInput,
    /// Their ids in the query's input.
    pub(crate) ids: Vec<u32>,
}

/// What the device has counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedSoFar {
    /// The pairs.
    Pairs,
    /// Only how many tests of boxes it will take to count the pairs.
    BoxTests,
}

/// [`check_row_count`] and [`check_row_count_exhaustive`] where the search runs on the device. `boxes` makes the movers'
/// boxes. Returns whether the sample was checked.
///
/// # Errors
/// [`Error::MemoryLimit`] as on the CPU engine, and [`Error::TooMany`] where the device can certainly not number the pairs.
pub(crate) fn check_row_count_on_host(
    scene: &Scene,
    input: &QueryInput,
    counted_so_far: CountedSoFar,
    grow: f32,
    boxes: &(dyn Fn() -> Vec<Aabb> + Sync),
    budget: &RowBudget,
    hits: &(dyn Fn(&SampleBodies, &[[u32; 2]]) -> usize + Sync),
) -> Result<bool> {
    // The thread that waits for the device is not part of the pool.
    in_pool(|| check_sample_on_host(scene, input, counted_so_far, grow, boxes, budget, hits))
}

fn check_sample_on_host(
    scene: &Scene,
    input: &QueryInput,
    counted_so_far: CountedSoFar,
    grow: f32,
    boxes: &(dyn Fn() -> Vec<Aabb> + Sync),
    budget: &RowBudget,
    hits: &(dyn Fn(&SampleBodies, &[[u32; 2]]) -> usize + Sync),
) -> Result<bool> {
    let is_near = input.pairs == OwnedPairs::BroadPhase;
    let mut sample = if is_near {
        let none = StaticBoxes::default();
        let static_boxes = input.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        cpu::BroadPhase::sample_of(boxes(), &input.rules, static_boxes, grow)
    } else {
        sample_all_pairs(scene, input)
    };
    let counts: Vec<f64> = sample.iter().map(|row| row.count as f64).collect();
    let pairs: f64 = counts.iter().sum::<f64>() / counts.len().max(1) as f64 * input.mover_count as f64;
    if counted_so_far == CountedSoFar::BoxTests && pairs <= SMALL as f64 {
        return Ok(false);
    }
    let bodies_of_sample = sample_bodies(scene, input, &mut sample)?;
    let judged = check_sample(&sample, input.mover_count, budget, &|pairs| hits(&bodies_of_sample, pairs));
    scene.give_back(bodies_of_sample.input);
    judged?;
    let least = estimated_total(counts, input.mover_count) / 2.0;
    if is_near && check_total(least as u64).is_err() {
        let what = "candidate pairs, by a sample of them,";
        return Err(Error::TooMany { what, count: 2 * least as u64, limit: u32::MAX.into() });
    }
    Ok(true)
}

/// The bodies of a sample. Its pairs then name positions among them.
fn sample_bodies(scene: &Scene, input: &QueryInput, sample: &mut [SampledRow]) -> Result<SampleBodies> {
    let mut ids: Vec<u32> = sample.iter().flat_map(|row| row.pairs.iter().flatten().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    let bodies: Vec<Body> = ids.iter().map(|&id| input.bodies[id as usize]).collect();
    let positions: Vec<[f64; 3]> = match input.is_far() {
        true => ids.iter().map(|&id| input.positions[id as usize].to_array()).collect(),
        false => Vec::new(),
    };
    for pair in sample.iter_mut().flat_map(|row| &mut row.pairs) {
        *pair = pair.map(|id| ids.partition_point(|&other| other < id) as u32);
    }
    let input = QueryInput::new(
        scene,
        BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) },
        None,
        Pairs::BroadPhase,
        Layout { packed: false, placed: true },
    )?;
    Ok(SampleBodies { input, ids })
}

/// A sample of the rows of all pairs, with some pairs of each. Counts are estimated from the share that groups accept.
fn sample_all_pairs(scene: &Scene, input: &QueryInput) -> Vec<SampledRow> {
    let row = |a: u32| {
        let [movers, statics] = input.partners(a);
        let all = movers.len() + statics.len();
        let step = all.div_ceil(cpu::SAMPLE_PAIRS).max(1);
        let drawn_count = all.div_ceil(step).max(1);
        let drawn = movers.chain(statics).step_by(step);
        let pairs: Vec<[u32; 2]> = drawn.filter(|&b| input.accepts(scene, a, b)).map(|b| [a, b]).collect();
        let count = (all * pairs.len()).div_ceil(drawn_count);
        SampledRow { count, pairs }
    };
    cpu::sample_row_ids(input.mover_count).map(row).collect()
}
