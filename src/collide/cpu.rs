//! The CPU engine: the same stages as the GPU's, on all cores, with the same rows as a result.

use web_time::Instant;

use super::narrow::{Unsettled, narrow};
use super::pose::Placed;
use super::query::{Intersection, Intersections, Stats};
use super::scene::{Job, OwnedPairs, Scene};
use super::status::Status;
use super::{bounds, broad, exact};

/// Pairs that one task examines.
const TASK: usize = 1024;

/// Rows on their way to the answer; those at `open` have no verdict yet.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Intersection>,
    /// Indices into `rows`, ascending.
    pub(crate) open: Vec<usize>,
    /// Pairs that EPA saw.
    pub(crate) refined_count: u64,
}

/// Sorted pairs whose boxes overlap.
pub(crate) fn candidates(scene: &Scene, job: &Job) -> Vec<[u32; 2]> {
    broad::candidates(&bounds::aabbs(&job.packed, &scene.supports.records))
}

/// Answers a query.
pub(crate) fn intersections(scene: &Scene, job: Job) -> Intersections {
    let begin = Instant::now();
    let placed = &job.placed[..];
    let (rows, candidate_count) = match &job.pairs {
        OwnedPairs::Near => {
            let pairs = candidates(scene, &job);
            (examine_for_hits(scene, placed, &pairs), pairs.len() as u64)
        }
        OwnedPairs::Given(pairs) => (examine_all(scene, placed, pairs), pairs.len() as u64),
        OwnedPairs::Every => {
            let count = placed.len() as u64;
            (examine_every(scene, placed), count * count.saturating_sub(1) / 2)
        }
    };
    let mut stats = Stats { candidate_count, ..Stats::default() };
    stats.times.kernels_ms = milliseconds(begin);
    let answer = finish(scene, &job, rows, stats, begin);
    scene.give_back(job);
    answer
}

/// Settles what f32 left open, and completes the answer; the last step of both engines.
pub(crate) fn finish(
    scene: &Scene,
    job: &Job,
    mut rows: Rows,
    mut stats: Stats,
    begin: Instant,
) -> Intersections {
    let settle_begin = Instant::now();
    let settled = map(&rows.open, |&index| {
        let row = rows.rows[index];
        exact::settle(&scene.hulls, &job.bodies[row.a as usize], &job.bodies[row.b as usize])
    });
    for (&index, settled) in rows.open.iter().zip(&settled) {
        rows.rows[index].status = settled.status;
        rows.rows[index].axis = settled.axis;
    }
    if !rows.open.is_empty() && !matches!(job.pairs, OwnedPairs::Given(_)) {
        rows.rows.retain(|row| row.status.is_hit());
    }
    stats.refined_count = rows.refined_count;
    stats.settled_count = rows.open.len() as u64;
    stats.hit_count = rows.rows.iter().filter(|row| row.status.is_hit()).count() as u64;
    stats.times.upload_ms += job.upload_ms;
    stats.times.settle_ms = milliseconds(settle_begin);
    stats.times.total_ms = job.upload_ms + milliseconds(begin);
    Intersections { rows: rows.rows, stats }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// One row for each pair, in order.
fn examine_all(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]]) -> Rows {
    let mut rows = vec![BLANK; pairs.len()];
    let task = |(index, (pairs, rows)): (usize, (&[[u32; 2]], &mut [Intersection]))| {
        let mut part = Unsettled::default();
        narrow(&scene.supports, placed, pairs, true, rows, &mut part);
        part.open.iter_mut().for_each(|at| *at += index * TASK);
        part
    };
    #[cfg(feature = "threads")]
    let parts: Vec<Unsettled> = {
        use rayon::prelude::*;
        pairs.par_chunks(TASK).zip(rows.par_chunks_mut(TASK)).enumerate().map(task).collect()
    };
    #[cfg(not(feature = "threads"))]
    let parts: Vec<Unsettled> = pairs.chunks(TASK).zip(rows.chunks_mut(TASK)).enumerate().map(task).collect();
    let refined_count = parts.iter().map(|part| part.refined_count).sum();
    let open = parts.into_iter().flat_map(|part| part.open).collect();
    Rows { rows, open, refined_count }
}

/// Rows of the hits alone, in order.
fn examine_for_hits(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]]) -> Rows {
    let task = |pairs: &[[u32; 2]]| {
        let mut part = Rows::default();
        part.examine(scene, placed, pairs);
        part
    };
    #[cfg(feature = "threads")]
    let parts: Vec<Rows> = {
        use rayon::prelude::*;
        pairs.par_chunks(TASK).map(task).collect()
    };
    #[cfg(not(feature = "threads"))]
    let parts: Vec<Rows> = pairs.chunks(TASK).map(task).collect();
    Rows::join(parts)
}

/// All pairs, a body's partners at a time.
fn examine_every(scene: &Scene, placed: &[Placed]) -> Rows {
    let task = |a: u32| {
        let mut part = Rows::default();
        let mut pairs = Vec::with_capacity(TASK);
        let mut next = a + 1;
        while (next as usize) < placed.len() {
            let end = (next as usize + TASK).min(placed.len()) as u32;
            pairs.clear();
            pairs.extend((next..end).map(|b| [a, b]));
            part.examine(scene, placed, &pairs);
            next = end;
        }
        part
    };
    #[cfg(feature = "threads")]
    let parts: Vec<Rows> = {
        use rayon::prelude::*;
        (0..placed.len() as u32).into_par_iter().map(task).collect()
    };
    #[cfg(not(feature = "threads"))]
    let parts: Vec<Rows> = (0..placed.len() as u32).map(task).collect();
    Rows::join(parts)
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

    fn join(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        all.rows.reserve_exact(parts.iter().map(|part| part.rows.len()).sum());
        for part in parts {
            let base = all.rows.len();
            all.open.extend(part.open.iter().map(|index| base + index));
            all.rows.extend(part.rows);
            all.refined_count += part.refined_count;
        }
        all
    }
}

/// Maps in order, on all cores where there are threads.
fn map<T: Sync, U: Send>(items: &[T], f: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        // On the thread that waits for the device the pool is not this thread's own.
        if items.len() > 1 {
            return crate::pending::in_pool(|| items.par_iter().map(f).collect());
        }
        items.iter().map(f).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        items.iter().map(f).collect()
    }
}
