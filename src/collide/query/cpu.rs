//! The CPU engine: the same stages as the GPU engine's, on all cores, with the same rows.

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::narrow_phase::cpu::{
    examine_all, examine_for_hits, hit_count, listed_count, measure_listed,
};
use crate::collide::scene::bounds::half;
use std::sync::Arc;
use web_time::Instant;

use crate::collide::broad_phase::cpu;
use crate::collide::broad_phase::estimate::{check_row_count, check_row_count_exhaustive};
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Intersection, Stats};
use crate::collide::narrow_phase::settle::{
    MeasureRequest, Measures, Rows, TASK, finish, finish_measures, milliseconds,
};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::placed_bounds::placed_aabbs_into;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::Result;
use crate::parallel::map_range;

/// All candidate pairs, sorted.
pub(crate) fn candidates(scene: &Scene, input: &mut QueryInput, pool: &SearchPool) -> Result<Vec<[u32; 2]>> {
    let mut all = Vec::new();
    let mut total = 0;
    let budget = RowBudget::new::<[u32; 2]>(input.answer_limit).awaited_by(&input.awaited);
    for_candidates(
        (scene, pool),
        input,
        0.0,
        &budget,
        |_, pairs| pairs.len(),
        |_, pairs| {
            total += pairs.len() as u64;
            cpu::check_total(total)?;
            budget.add(pairs.len());
            budget.check()?;
            all.extend_from_slice(pairs);
            Ok(())
        },
    )?;
    Ok(all)
}

/// Calls `each` with the sorted candidate pairs within a margin, a window at a time, and returns their number. Where there are very many,
/// a sample is checked against the budget first; `hits` counts the rows of its pairs.
fn for_candidates(
    (scene, pool): (&Scene, &SearchPool),
    input: &mut QueryInput,
    margin: f64,
    budget: &RowBudget,
    hits: impl Fn(&QueryInput, &[[u32; 2]]) -> usize + Sync,
    mut each: impl FnMut(&QueryInput, &[[u32; 2]]) -> Result<()>,
) -> Result<u64> {
    // A GPU engine hands such a query over with bodies that are not placed.
    if input.is_empty() {
        return Ok(0);
    }
    let mut search = pool.take();
    let grow = half(margin);
    let statics = input.statics.clone();
    let none = StaticBoxes::default();
    let static_boxes = statics.as_ref().map_or(&none, |statics| &statics.boxes);
    let movers = 0..input.mover_count;
    let (bodies, placed) = (&input.bodies[movers.clone()], &input.placed[movers]);
    search.rules = Arc::clone(&input.rules);
    match input.tree.as_ref().filter(|_| grow == 0.0) {
        Some(movers) => {
            search.movers = Arc::clone(movers);
            search.begin_built(static_boxes, grow);
        }
        None => {
            placed_aabbs_into(search.boxes(), bodies, placed, &scene.supports.records, grow);
            search.begin(static_boxes, grow);
        }
    }
    let mut count = 0;
    let mut done = check_row_count(&search, static_boxes, grow, budget, &|pairs| hits(input, pairs));
    while done.is_ok() {
        let Some(pairs) = search.next(static_boxes, grow) else { break };
        count += pairs.len() as u64;
        done = each(input, pairs);
    }
    pool.give_back(search);
    done.map(|()| count)
}

/// Answers a query.
///
/// # Errors
/// [`Error::MemoryLimit`](crate::Error::MemoryLimit) where the answer has more rows than its limit or the host's memory allows.
pub(crate) fn intersections(
    scene: &Scene,
    mut input: QueryInput,
    pool: &SearchPool,
) -> Result<Batch<Intersection>> {
    let begin = Instant::now();
    let budget = RowBudget::new::<Intersection>(input.answer_limit).awaited_by(&input.awaited);
    let (rows, candidate_count) = match &input.pairs {
        OwnedPairs::BroadPhase => {
            let mut windows = Vec::new();
            let hits = |input: &QueryInput, pairs: &[[u32; 2]]| hit_count(scene, input, pairs);
            let count = for_candidates((scene, pool), &mut input, 0.0, &budget, hits, |input, pairs| {
                let found = examine_for_hits(scene, &input.placed, pairs, &input.awaited);
                budget.add(found.rows.len());
                windows.push(found);
                budget.check()
            })?;
            (Rows::join(windows), count)
        }
        OwnedPairs::Given(pairs) if input.is_listing => {
            (examine_for_hits(scene, &input.placed, pairs, &input.awaited), pairs.len() as u64)
        }
        OwnedPairs::Given(pairs) => {
            (examine_all(scene, &input.placed, pairs, &input.awaited), pairs.len() as u64)
        }
        OwnedPairs::Exhaustive => (examine_exhaustive(scene, &input, &budget)?, input.pair_total()),
    };
    budget.check()?;
    let mut stats = Stats { candidate_count, ..Stats::default() };
    stats.times.kernels_ms = milliseconds(begin);
    let answer = finish(scene, &input, rows, stats);
    scene.give_back(input);
    Ok(answer)
}

/// Examines all pairs that groups and masks accept, a body's partners at a time.
fn examine_exhaustive(scene: &Scene, input: &QueryInput, budget: &RowBudget) -> Result<Rows> {
    check_row_count_exhaustive(scene, input, budget, &|pairs| hit_count(scene, input, pairs))?;
    let accepts_all = input.accepts_all();
    let task = |a: u32| {
        let mut part = Rows::default();
        if !budget.goes_on() {
            return part;
        }
        for_partners(scene, input, accepts_all, a, |pairs| {
            let before = part.rows.len();
            part.examine(scene, &input.placed, pairs);
            budget.add(part.rows.len() - before)
        });
        part
    };
    let parts = map_range(input.mover_count as u32, task);
    budget.check()?;
    Ok(Rows::join(parts))
}

/// Calls `each` with the pairs of `a` and each later body, some at a time, until it returns `false`.
fn for_partners(
    scene: &Scene,
    input: &QueryInput,
    accepts_all: bool,
    a: u32,
    mut each: impl FnMut(&[[u32; 2]]) -> bool,
) {
    let mut pairs = Vec::with_capacity(TASK);
    for partners in input.partners(a) {
        let mut next = partners.start;
        while next < partners.end {
            let end = partners.end.min(next.saturating_add(TASK as u32));
            pairs.clear();
            if accepts_all {
                pairs.extend((next..end).map(|b| [a, b]));
            } else {
                pairs.extend((next..end).filter(|&b| input.accepts(scene, a, b)).map(|b| [a, b]));
            }
            if !each(&pairs) {
                return;
            }
            next = end;
        }
    }
}

/// Answers a query that measures: distances, contacts, manifolds.
///
/// # Errors
/// As [`intersections`].
pub(crate) fn measures<R: Row>(
    scene: &Scene,
    mut input: QueryInput,
    request: MeasureRequest,
    pool: &SearchPool,
) -> Result<Batch<R>> {
    let begin = Instant::now();
    let budget = RowBudget::new::<R>(input.answer_limit).awaited_by(&input.awaited);
    let (found, candidate_count) = match &input.pairs {
        OwnedPairs::BroadPhase => {
            let mut windows = Vec::new();
            let hits =
                |input: &QueryInput, pairs: &[[u32; 2]]| listed_count::<R>(scene, input, pairs, request);
            let count =
                for_candidates((scene, pool), &mut input, request.margin, &budget, hits, |input, pairs| {
                    let found = measure_listed(scene, input, pairs, request, &input.awaited);
                    budget.add(found.rows.len());
                    windows.push(found);
                    budget.check()
                })?;
            (Measures::join(windows), count)
        }
        OwnedPairs::Given(pairs) => {
            (measure_listed(scene, &input, pairs, request, &input.awaited), pairs.len() as u64)
        }
        OwnedPairs::Exhaustive => (measure_exhaustive(scene, &input, request, &budget)?, input.pair_total()),
    };
    budget.check()?;
    let mut stats = Stats { candidate_count, ..Stats::default() };
    stats.times.kernels_ms = milliseconds(begin);
    let answer = finish_measures(scene, &input, request, found, stats);
    scene.give_back(input);
    Ok(answer)
}

/// Measures all pairs, a body's partners at a time.
fn measure_exhaustive<R: Row>(
    scene: &Scene,
    input: &QueryInput,
    request: MeasureRequest,
    budget: &RowBudget,
) -> Result<Measures<R>> {
    check_row_count_exhaustive(scene, input, budget, &|pairs| {
        listed_count::<R>(scene, input, pairs, request)
    })?;
    let count = input.mover_count as u32;
    let accepts_all = input.accepts_all();
    let task = |a: u32| {
        let mut part = Measures::new(0);
        if !budget.goes_on() {
            return part;
        }
        for_partners(scene, input, accepts_all, a, |pairs| {
            let before = part.rows.len();
            part.examine(scene, input, pairs, request);
            budget.add(part.rows.len() - before)
        });
        part
    };
    let parts = map_range(count, task);
    budget.check()?;
    Ok(Measures::join(parts))
}
