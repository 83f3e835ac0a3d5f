//! The CPU engine: the same stages as the GPU's, on all cores, with the same rows as a result.

use web_time::Instant;

use super::layout::PackedBody;
use super::narrow::{Verdict, narrow};
use super::pose::Placed;
use super::query::{Intersection, Intersections, Stats};
use super::scene::{Job, OwnedPairs, Scene};
use super::status::Status;
use super::{bounds, broad, exact};

/// Pairs that one task examines.
const TASK: usize = 1024;

/// A row before it is settled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) verdict: Verdict,
}

/// Sorted pairs whose boxes overlap.
pub(crate) fn candidates(scene: &Scene, packed: &[PackedBody]) -> Vec<[u32; 2]> {
    broad::candidates(&bounds::aabbs(packed, &scene.supports.records))
}

/// Answers a query.
pub(crate) fn intersections(scene: &Scene, job: &Job) -> Intersections {
    let begin = Instant::now();
    let placed: Vec<Placed> = map(&job.packed, |body| Placed::new(body, &scene.supports));
    let (rows, candidate_count, refined_count) = match &job.pairs {
        OwnedPairs::Near => {
            let pairs = candidates(scene, &job.packed);
            examine(scene, &placed, &pairs, true)
        }
        OwnedPairs::Given(pairs) => examine(scene, &placed, pairs, false),
        OwnedPairs::Every => examine_every(scene, &placed),
    };
    let mut stats = Stats { candidate_count, refined_count, ..Stats::default() };
    stats.times.upload_ms = job.upload_ms;
    stats.times.kernels_ms = milliseconds(begin);
    finish(scene, job, rows, stats, begin)
}

/// Settles what f32 left open and makes the answer of the rows; the last step of both engines.
pub(crate) fn finish(
    scene: &Scene,
    job: &Job,
    rows: Vec<Row>,
    mut stats: Stats,
    begin: Instant,
) -> Intersections {
    let settle_begin = Instant::now();
    let keep_all = matches!(job.pairs, OwnedPairs::Given(_));
    let settled = map(&rows, |row| match row.verdict.status {
        Some(Status::Separated) => (Status::Separated, Some(row.verdict.axis)),
        Some(status) => (status, None),
        None => {
            let settled =
                exact::settle(&scene.hulls, &job.bodies[row.a as usize], &job.bodies[row.b as usize]);
            (settled.status, settled.axis)
        }
    });
    stats.settled_count = rows.iter().filter(|row| row.verdict.status.is_none()).count() as u64;
    let rows: Vec<Intersection> = rows
        .iter()
        .zip(settled)
        .filter(|(_, (status, _))| keep_all || status.is_hit())
        .map(|(row, (status, axis))| Intersection { a: row.a, b: row.b, status, axis })
        .collect();
    stats.hit_count = rows.iter().filter(|row| row.status.is_hit()).count() as u64;
    stats.times.settle_ms = milliseconds(settle_begin);
    stats.times.total_ms = stats.times.upload_ms + milliseconds(begin);
    Intersections { rows, stats }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Rows of one task, and how many pairs EPA saw.
type Part = (Vec<Row>, u64);

fn examine(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]], hits_only: bool) -> (Vec<Row>, u64, u64) {
    let task = |chunk: &[[u32; 2]]| part(scene, placed, chunk, hits_only);
    #[cfg(feature = "threads")]
    let parts: Vec<Part> = {
        use rayon::prelude::*;
        pairs.par_chunks(TASK).map(task).collect()
    };
    #[cfg(not(feature = "threads"))]
    let parts: Vec<Part> = pairs.chunks(TASK).map(task).collect();
    join(parts, pairs.len() as u64)
}

/// All pairs, a body's partners at a time.
fn examine_every(scene: &Scene, placed: &[Placed]) -> (Vec<Row>, u64, u64) {
    let count = placed.len() as u64;
    let task = |a: u32| {
        let mut rows = Vec::new();
        let mut refined = 0;
        let mut pairs = Vec::with_capacity(TASK);
        let mut next = a + 1;
        while (next as usize) < placed.len() {
            let end = (next as usize + TASK).min(placed.len()) as u32;
            pairs.clear();
            pairs.extend((next..end).map(|b| [a, b]));
            let (more, more_refined) = part(scene, placed, &pairs, true);
            rows.extend(more);
            refined += more_refined;
            next = end;
        }
        (rows, refined)
    };
    #[cfg(feature = "threads")]
    let parts: Vec<Part> = {
        use rayon::prelude::*;
        (0..placed.len() as u32).into_par_iter().map(task).collect()
    };
    #[cfg(not(feature = "threads"))]
    let parts: Vec<Part> = (0..placed.len() as u32).map(task).collect();
    join(parts, count * count.saturating_sub(1) / 2)
}

fn part(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]], hits_only: bool) -> Part {
    let mut verdicts = Vec::with_capacity(pairs.len());
    narrow(&scene.supports, placed, pairs, &mut verdicts);
    let refined = verdicts.iter().filter(|v| v.refined).count() as u64;
    let rows = pairs
        .iter()
        .zip(verdicts)
        .filter(|(_, verdict)| !hits_only || verdict.status != Some(Status::Separated))
        .map(|(&[a, b], verdict)| Row { a, b, verdict })
        .collect();
    (rows, refined)
}

fn join(parts: Vec<Part>, candidate_count: u64) -> (Vec<Row>, u64, u64) {
    let refined = parts.iter().map(|(_, refined)| refined).sum();
    let mut rows = Vec::with_capacity(parts.iter().map(|(rows, _)| rows.len()).sum());
    for (part, _) in parts {
        rows.extend(part);
    }
    (rows, candidate_count, refined)
}

/// Maps in order, on all cores where there are threads.
fn map<T: Sync, U: Send>(items: &[T], f: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        items.par_iter().with_min_len(256).map(f).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        items.iter().map(f).collect()
    }
}
