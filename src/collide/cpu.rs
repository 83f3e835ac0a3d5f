//! The CPU engine: the same stages as the GPU's, on all cores, with the same rows as a result.

use web_time::Instant;

use super::foresight::{foresee, foresee_every};
use super::measure::{Row, measure};
use super::measured::Outcome;
use super::narrow::{Unsettled, narrow};
use super::pose::Placed;
use super::query::{Intersection, Intersections, Precision, Stats};
use super::scene::{Job, OwnedPairs, Scene};
use super::settle::{Ask, Measures, Rows, TASK, finish, finish_measures, milliseconds};
use super::status::Status;
use super::tally::Tally;
use super::{bounds, broad, exact};
use crate::error::Result;
use crate::parallel::{each, map_chunks, map_range};
use crate::pending::Awaited;

/// Pairs that are measured before their rows are written.
const MEASURED: usize = 1024;

/// All candidate pairs, sorted.
pub(crate) fn candidates(scene: &Scene, job: &mut Job, spare: &broad::Spare) -> Result<Vec<[u32; 2]>> {
    let mut all = Vec::new();
    let mut total = 0;
    let tally = Tally::new::<[u32; 2]>(job.answer_limit).asked_by(&job.awaited);
    for_candidates(
        (scene, spare),
        job,
        0.0,
        &tally,
        |_, pairs| pairs.len(),
        |_, pairs| {
            total += pairs.len() as u64;
            broad::check_total(total)?;
            tally.add(pairs.len());
            tally.check()?;
            all.extend_from_slice(pairs);
            Ok(())
        },
    )?;
    Ok(all)
}

/// Hands out the sorted pairs whose boxes are within a margin of one another, a window at a time; returns how many. Where
/// they are very many, `hits` of some of them, the rows that those have, say beforehand whether there is room for all.
fn for_candidates(
    (scene, spare): (&Scene, &broad::Spare),
    job: &mut Job,
    margin: f64,
    tally: &Tally,
    hits: impl Fn(&Job, &[[u32; 2]]) -> usize + Sync,
    mut each: impl FnMut(&Job, &[[u32; 2]]) -> Result<()>,
) -> Result<u64> {
    let mut search = spare.take();
    let grow = half(margin);
    let statics = job.statics.clone();
    let none = broad::Still::default();
    let still = statics.as_ref().map_or(&none, |statics| &statics.still);
    bounds::aabbs_into(&mut search.boxes, &job.packed, &scene.supports.records, grow);
    search.begin(still, grow);
    let mut count = 0;
    let mut done = foresee(&search, still, grow, tally, |pairs| hits(job, pairs));
    while done.is_ok() {
        let Some(pairs) = search.next(still, grow) else { break };
        count += pairs.len() as u64;
        done = each(job, pairs);
    }
    spare.give_back(search);
    done.map(|()| count)
}

/// Half of a margin, by which every box is made wider.
pub(crate) fn half(margin: f64) -> f32 {
    (0.5 * margin.min(f64::from(f32::MAX))) as f32
}

/// Answers a query.
///
/// # Errors
/// [`Error::MemoryLimit`](crate::Error::MemoryLimit) where the rows are more than the host has room for.
pub(crate) fn intersections(scene: &Scene, mut job: Job, spare: &broad::Spare) -> Result<Intersections> {
    let begin = Instant::now();
    let tally = Tally::new::<Intersection>(job.answer_limit).asked_by(&job.awaited);
    let (rows, candidate_count) = match &job.pairs {
        OwnedPairs::Near => {
            let mut windows = Vec::new();
            let hits = |job: &Job, pairs: &[[u32; 2]]| hit_count(scene, job, pairs);
            let count = for_candidates((scene, spare), &mut job, 0.0, &tally, hits, |job, pairs| {
                let found = examine_for_hits(scene, &job.placed, pairs, &job.awaited);
                tally.add(found.rows.len());
                windows.push(found);
                tally.check()
            })?;
            (Rows::join(windows), count)
        }
        OwnedPairs::Given(pairs) => {
            (examine_all(scene, &job.placed, pairs, &job.awaited), pairs.len() as u64)
        }
        OwnedPairs::Every => (examine_every(scene, &job, &tally)?, job.pair_total()),
    };
    tally.check()?;
    let mut stats = Stats { candidate_count, ..Stats::default() };
    stats.times.kernels_ms = milliseconds(begin);
    let answer = finish(scene, &job, rows, stats, begin);
    scene.give_back(job);
    Ok(answer)
}

/// How many of some pairs are rows, those included that f32 leaves open.
pub(crate) fn hit_count(scene: &Scene, job: &Job, pairs: &[[u32; 2]]) -> usize {
    let mut part = Rows::default();
    part.examine(scene, &job.placed, pairs);
    part.rows.len()
}

/// The same of a query that measures.
pub(crate) fn listed_count<R: Row>(scene: &Scene, job: &Job, pairs: &[[u32; 2]], ask: Ask) -> usize {
    let mut part = Measures::<R>::new(0);
    part.examine(scene, job, pairs, ask);
    part.rows.len()
}

/// One row for each pair, in order; of pairs that nobody waits for any more none that means anything.
pub(crate) fn examine_all(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]], awaited: &Awaited) -> Rows {
    let mut rows = vec![BLANK; pairs.len()];
    let task = |(index, (pairs, rows)): (usize, (&[[u32; 2]], &mut [Intersection]))| {
        let mut part = Unsettled::default();
        if awaited.is_awaited() {
            narrow(&scene.supports, placed, pairs, true, rows, &mut part);
        }
        part.open.iter_mut().for_each(|at| *at += index * TASK);
        part
    };
    let parts = each(pairs.chunks(TASK).zip(rows.chunks_mut(TASK)).enumerate().collect(), task);
    let refined_count = parts.iter().map(|part| part.refined_count).sum();
    let open = parts.into_iter().flat_map(|part| part.open).collect();
    Rows { rows, open, refined_count }
}

/// Rows of the hits alone, in order; where nobody waits any more some are missing.
pub(crate) fn examine_for_hits(
    scene: &Scene,
    placed: &[Placed],
    pairs: &[[u32; 2]],
    awaited: &Awaited,
) -> Rows {
    let task = |pairs: &[[u32; 2]]| {
        let mut part = Rows::default();
        if awaited.is_awaited() {
            part.examine(scene, placed, pairs);
        }
        part
    };
    Rows::join(map_chunks(pairs, TASK, task))
}

/// All pairs that groups and masks accept, a body's partners at a time.
fn examine_every(scene: &Scene, job: &Job, tally: &Tally) -> Result<Rows> {
    foresee_every(scene, job, tally, |pairs| hit_count(scene, job, pairs))?;
    let accepts_all = job.accepts_all();
    let task = |a: u32| {
        let mut part = Rows::default();
        for_partners(scene, job, accepts_all, a, |pairs| {
            let before = part.rows.len();
            part.examine(scene, &job.placed, pairs);
            tally.add(part.rows.len() - before)
        });
        part
    };
    let parts = map_range(job.mover_count as u32, task);
    tally.check()?;
    Ok(Rows::join(parts))
}

/// Hands out all pairs of `a` and a body after it, some at a time, until told `false`.
fn for_partners(
    scene: &Scene,
    job: &Job,
    accepts_all: bool,
    a: u32,
    mut each: impl FnMut(&[[u32; 2]]) -> bool,
) {
    let count = job.bodies.len() as u32;
    let mut pairs = Vec::with_capacity(TASK);
    let mut next = a + 1;
    while next < count {
        let end = count.min(next.saturating_add(TASK as u32));
        pairs.clear();
        if accepts_all {
            pairs.extend((next..end).map(|b| [a, b]));
        } else {
            pairs.extend((next..end).filter(|&b| job.accepts(scene, a, b)).map(|b| [a, b]));
        }
        if !each(&pairs) {
            return;
        }
        next = end;
    }
}

/// Answers a query that measures: distances, contacts, manifolds.
///
/// # Errors
/// As [`intersections`].
pub(crate) fn measures<R: Row>(
    scene: &Scene,
    mut job: Job,
    ask: Ask,
    spare: &broad::Spare,
) -> Result<(Vec<R>, Stats)> {
    let begin = Instant::now();
    let tally = Tally::new::<R>(job.answer_limit).asked_by(&job.awaited);
    let (found, candidate_count) = match &job.pairs {
        OwnedPairs::Near => {
            let mut windows = Vec::new();
            let hits = |job: &Job, pairs: &[[u32; 2]]| listed_count::<R>(scene, job, pairs, ask);
            let count = for_candidates((scene, spare), &mut job, ask.margin, &tally, hits, |job, pairs| {
                let found = measure_listed(scene, job, pairs, ask, &job.awaited);
                tally.add(found.rows.len());
                windows.push(found);
                tally.check()
            })?;
            (Measures::join(windows), count)
        }
        OwnedPairs::Given(pairs) => {
            (measure_listed(scene, &job, pairs, ask, &job.awaited), pairs.len() as u64)
        }
        OwnedPairs::Every => (measure_every(scene, &job, ask, &tally)?, job.pair_total()),
    };
    tally.check()?;
    let mut stats = Stats { candidate_count, ..Stats::default() };
    stats.times.kernels_ms = milliseconds(begin);
    let answer = finish_measures(scene, &job, ask, found, stats, begin);
    scene.give_back(job);
    Ok(answer)
}

/// Rows of listed pairs, in order: of all where they were given, else of those within the margin. Where nobody waits any
/// more some are missing.
pub(crate) fn measure_listed<R: Row>(
    scene: &Scene,
    job: &Job,
    pairs: &[[u32; 2]],
    ask: Ask,
    awaited: &Awaited,
) -> Measures<R> {
    let task = |pairs: &[[u32; 2]]| {
        let mut part = Measures::new(pairs.len());
        if awaited.is_awaited() {
            part.examine(scene, job, pairs, ask);
        }
        part
    };
    Measures::join(map_chunks(pairs, TASK, task))
}

/// All pairs, a body's partners at a time.
fn measure_every<R: Row>(scene: &Scene, job: &Job, ask: Ask, tally: &Tally) -> Result<Measures<R>> {
    foresee_every(scene, job, tally, |pairs| listed_count::<R>(scene, job, pairs, ask))?;
    let count = job.mover_count as u32;
    let accepts_all = job.accepts_all();
    let task = |a: u32| {
        let mut part = Measures::new(0);
        for_partners(scene, job, accepts_all, a, |pairs| {
            let before = part.rows.len();
            part.examine(scene, job, pairs, ask);
            tally.add(part.rows.len() - before)
        });
        part
    };
    let parts = map_range(count, task);
    tally.check()?;
    Ok(Measures::join(parts))
}

impl<R: Row> Measures<R> {
    /// Appends the rows of the pairs that the query lists.
    fn examine(&mut self, scene: &Scene, job: &Job, pairs: &[[u32; 2]], ask: Ask) {
        let given = matches!(job.pairs, OwnedPairs::Given(_));
        let beyond = if given { f64::INFINITY } else { ask.margin };
        let mut outcomes = [Outcome::Open; MEASURED];
        for pairs in pairs.chunks(MEASURED) {
            let outcomes = &mut outcomes[..pairs.len()];
            match ask.precision {
                Precision::Fast => {
                    self.refined_count +=
                        measure(&scene.supports, job, pairs, beyond, R::WITH_DEPTH, outcomes);
                }
                Precision::Exact => {
                    let body = |row: u32| &job.bodies[row as usize];
                    for (&[a, b], outcome) in pairs.iter().zip(&mut *outcomes) {
                        *outcome = Outcome::Measured(exact::measure(&scene.hulls, body(a), body(b)));
                    }
                    self.settled_count += pairs.len() as u64;
                }
            }
            for (&pair, outcome) in pairs.iter().zip(outcomes) {
                match outcome {
                    Outcome::Measured(measured) if given || measured.is_within(ask.margin) => {
                        self.rows.push(R::of(scene, &job.bodies, pair, measured, ask.margin));
                    }
                    Outcome::Measured(_) | Outcome::Beyond => (),
                    Outcome::Open => {
                        self.open.push(self.rows.len());
                        self.rows.push(R::open(pair[0], pair[1]));
                    }
                }
            }
        }
    }
}

/// A row that is not written yet.
const BLANK: Intersection = Intersection { a: 0, b: 0, status: Status::Touching, axis: None };

impl Rows {
    /// Appends the rows of the pairs that are not separated.
    fn examine(&mut self, scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]]) {
        let mut rows = [BLANK; TASK];
        for pairs in pairs.chunks(TASK) {
            let rows = &mut rows[..pairs.len()];
            let mut part = Unsettled::default();
            narrow(&scene.supports, placed, pairs, false, rows, &mut part);
            self.refined_count += part.refined_count;
            let mut open = part.open.iter().peekable();
            for (at, row) in rows.iter().enumerate() {
                if open.next_if(|&&index| index == at).is_some() {
                    self.open.push(self.rows.len());
                } else if row.status == Status::Separated {
                    continue;
                }
                self.rows.push(*row);
            }
        }
    }
}
