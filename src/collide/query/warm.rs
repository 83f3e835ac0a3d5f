//! Warm-started queries of the CPU engine.

use crate::collide::narrow_phase::cpu::{examine_for_hits, measure_listed};
use web_time::Instant;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Intersection, Stats};
use crate::collide::narrow_phase::settle;
use crate::collide::narrow_phase::settle::{MeasureRequest, Rows};
use crate::collide::query::cpu;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::warm::cache::{Cache, WarmStart};
use crate::collide::warm::given::UnsettledRows;
use crate::collide::warm::list::is_row;
use crate::collide::warm::near_pairs::{NearQuery, drop_rows};
use crate::error::Result;
use crate::pending::Awaited;

/// Answers a query over the broad phase's or given pairs: see [`Options::warm_start`](crate::collide::Options::warm_start).
pub(crate) fn intersections(
    scene: &Scene,
    mut input: QueryInput,
    warm: &WarmStart,
    pool: &SearchPool,
) -> Result<Batch<Intersection>> {
    let begin = Instant::now();
    if let Some(mut guard) = warm.try_lock().filter(|_| !input.is_empty()) {
        let upload_ms = input.upload_ms;
        let found = match &input.pairs {
            OwnedPairs::BroadPhase => guard.cache.near_rows(scene, &mut input)?,
            OwnedPairs::Given(_) => Some(guard.cache.given_rows(scene, &mut input)?),
            OwnedPairs::Exhaustive => None,
        };
        if let Some(UnsettledRows { rows, mut stats }) = found {
            let late_ms = input.upload_ms - upload_ms;
            stats.times.kernels_ms = (settle::milliseconds(begin) - late_ms).max(0.0);
            let answer = settle::finish(scene, &input, rows, stats);
            if input.pairs == OwnedPairs::BroadPhase {
                guard.cache.learn_rows(&answer.rows);
            }
            guard.cache.give_back(&mut input);
            scene.give_back(input);
            return Ok(answer);
        }
    }
    input.complete(scene, Layout { packed: false, placed: true })?;
    cpu::intersections(scene, input, pool)
}

/// Answers a measuring query over the broad phase's pairs.
pub(crate) fn measures<R: Row>(
    scene: &Scene,
    mut input: QueryInput,
    request: MeasureRequest,
    warm: &WarmStart,
    pool: &SearchPool,
) -> Result<Batch<R>> {
    let begin = Instant::now();
    if let Some(mut guard) =
        warm.try_lock().filter(|_| !input.is_empty() && input.pairs == OwnedPairs::BroadPhase)
    {
        let query = NearQuery { margin: request.margin, hits_only: false };
        if let Some(remaining) = guard.cache.near_pairs(scene, &mut input, query)? {
            let mut found =
                measure_listed::<R>(scene, &input, &remaining.pairs, request, &Awaited::default());
            let rows = found.rows.iter().map(|row| (row.pair(), row.status(), row.gap()));
            let not_listed = guard.cache.rows_not_listed(scene, &input, request.margin, &found.open, rows)?;
            drop_rows(&mut found.rows, &mut found.open, &not_listed);
            let budget = RowBudget::new::<R>(input.answer_limit);
            budget.add(found.rows.len());
            budget.check()?;
            let mut stats = Stats {
                candidate_count: remaining.candidate_count,
                skipped_count: remaining.skipped_count,
                ..Stats::default()
            };
            stats.times.kernels_ms = settle::milliseconds(begin);
            let answer = settle::finish_measures(scene, &input, request, found, stats);
            guard.cache.learn_listed(answer.rows.iter().map(Row::pair), request.margin);
            guard.cache.give_back(&mut input);
            scene.give_back(input);
            return Ok(answer);
        }
    }
    input.complete(scene, Layout { packed: false, placed: true })?;
    cpu::measures(scene, input, request, pool)
}

impl Cache {
    /// Rows of the broad phase's pairs; `None` where the frame must run without a warm start.
    fn near_rows(&mut self, scene: &Scene, input: &mut QueryInput) -> Result<Option<UnsettledRows>> {
        let Some(remaining) = self.near_pairs(scene, input, NearQuery { margin: 0.0, hits_only: true })?
        else {
            return Ok(None);
        };
        let mut rows = examine_for_hits(scene, &input.placed, &remaining.pairs, &Awaited::default());
        let told = rows.rows.iter().map(|row| ([row.a, row.b], row.status, None));
        let not_listed = self.rows_not_listed(scene, input, 0.0, &rows.open, told)?;
        drop_rows(&mut rows.rows, &mut rows.open, &not_listed);
        let budget = RowBudget::new::<Intersection>(input.answer_limit);
        budget.add(rows.rows.len() + remaining.asleep.len());
        budget.check()?;
        let pairs = &self.neighbours.pairs;
        let asleep: Vec<Intersection> = remaining
            .asleep
            .iter()
            .map(|&[a, entry]| Intersection {
                a,
                b: pairs.second(entry),
                part_a: 0,
                part_b: 0,
                status: pairs.status(entry),
                axis: None,
            })
            .collect();
        let stats = Stats {
            candidate_count: remaining.candidate_count,
            skipped_count: remaining.skipped_count,
            ..Stats::default()
        };
        Ok(Some(UnsettledRows { rows: merged(rows, &asleep), stats }))
    }

    /// Stores which pairs were hits. A frame that fails before this leaves the entries of the last successful frame, which
    /// `last_odometers` belongs to.
    fn learn_rows(&mut self, rows: &[Intersection]) {
        self.neighbours.last_odometers.clone_from(&self.odometers);
        let mut rows = rows.iter().peekable();
        for &[a, entry] in &self.neighbours.examined {
            let pair = (a, self.neighbours.pairs.second(entry));
            while rows.next_if(|row| (row.a, row.b) < pair).is_some() {}
            match rows.next_if(|row| (row.a, row.b) == pair) {
                Some(row) => self.neighbours.pairs.set_row(entry, row.status),
                None if is_row(self.neighbours.pairs.limits[entry as usize]) => {
                    self.neighbours.pairs.forget(entry)
                }
                None => (),
            }
        }
    }

    /// Stores which pairs a query with a margin listed.
    fn learn_listed(&mut self, rows: impl Iterator<Item = [u32; 2]>, margin: f64) {
        let mut rows = rows.peekable();
        for &[a, entry] in &self.neighbours.examined {
            let pair = [a, self.neighbours.pairs.second(entry)];
            while rows.next_if(|row| *row < pair).is_some() {}
            let is_listed = rows.next_if_eq(&pair).is_some();
            self.neighbours.pairs.set_listed(entry, is_listed.then_some(margin as f32));
        }
    }
}

/// Merges rows with those of pairs at rest, in order.
fn merged(rows: Rows, asleep: &[Intersection]) -> Rows {
    if asleep.is_empty() {
        return rows;
    }
    let mut all = Rows { refined_count: rows.refined_count, ..Rows::default() };
    all.rows.reserve_exact(rows.rows.len() + asleep.len());
    let mut asleep = asleep.iter().peekable();
    let mut open = rows.open.iter().peekable();
    for (at, row) in rows.rows.iter().enumerate() {
        while let Some(other) = asleep.next_if(|other| (other.a, other.b) < (row.a, row.b)) {
            all.rows.push(*other);
        }
        if open.next_if(|&&index| index == at).is_some() {
            all.open.push(all.rows.len());
        }
        all.rows.push(*row);
    }
    all.rows.extend(asleep);
    all
}

#[cfg(test)]
mod tests {
    use crate::collide::hull::Hull;

    use super::*;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::pairs::Pairs;

    fn input(scene: &Scene, bodies: &[Body]) -> QueryInput {
        QueryInput::new(scene, bodies.into(), None, Pairs::BroadPhase, Layout { packed: true, placed: true })
            .unwrap()
    }

    /// A row of cubes that close in on one another.
    fn cubes(gap: f32) -> Vec<Body> {
        (0..50).map(|k| Body::new(0).at([(1.0 + gap) * k as f32, 0.0, 0.0])).collect()
    }

    /// Negative control: a wrong bound must make a warm frame differ from a cold one.
    #[test]
    fn a_poisoned_bound_is_seen() {
        let scene = Scene::new(&[Hull::cuboid([0.5; 3]).unwrap()]).unwrap();
        for is_poisoned in [false, true] {
            let warm = WarmStart::default();
            let pool = SearchPool::default();
            let mut differs = false;
            for frame in 0..40 {
                let bodies = cubes(0.02 - 0.001 * frame as f32);
                let found = intersections(&scene, input(&scene, &bodies), &warm, &pool).unwrap();
                let cold = cpu::intersections(&scene, input(&scene, &bodies), &pool).unwrap();
                differs |= found.rows != cold.rows;
                if is_poisoned && frame == 10 {
                    let mut guard = warm.try_lock().unwrap();
                    assert!(guard.cache.neighbours.pairs.len() >= 49);
                    guard.cache.neighbours.pairs.limits.fill(1e3);
                }
                assert!(is_poisoned || frame < 4 || found.stats.skipped_count > 0 || frame > 15, "{frame}");
            }
            assert_eq!(differs, is_poisoned);
        }
    }
}
