//! The last step of both engines: pairs that f32 left open are settled in f64, and the rows become the answer.

use web_time::Instant;

use crate::collide::narrow_phase::exact;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Intersection, Precision, Stats};
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::observe::event;
use crate::parallel::{fill, map};

/// Pairs that one task examines.
pub(crate) const TASK: usize = 1024;

/// Emits an event with the number of pairs settled in f64, unless there are none.
pub(crate) fn log_settled(stats: &Stats) {
    if stats.settled_count > 0 {
        event!(pairs = stats.settled_count, "pairs were settled in f64");
    }
}

/// Rows of intersections; those at `open` have no verdict yet.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Intersection>,
    /// Indices into `rows`, ascending.
    pub(crate) open: Vec<usize>,
    /// Pairs that went to EPA.
    pub(crate) refined_count: u64,
}

impl Rows {
    /// The rows of all parts, in order.
    pub(crate) fn join(parts: Vec<Self>) -> Self {
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

/// The parameters of a measuring query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasureRequest {
    /// Pairs farther apart than this are not listed, unless they were given.
    pub(crate) margin: f64,
    pub(crate) precision: Precision,
}

/// Rows of a measuring query; those at `open` are not measured yet.
#[derive(Debug)]
pub(crate) struct Measures<R> {
    pub(crate) rows: Vec<R>,
    /// Indices into `rows`, ascending.
    pub(crate) open: Vec<usize>,
    /// Pairs that went to EPA.
    pub(crate) refined_count: u64,
    /// Pairs measured in f64 already, besides the open ones.
    pub(crate) settled_count: u64,
}

impl<R: Row> Measures<R> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { rows: Vec::with_capacity(capacity), open: Vec::new(), refined_count: 0, settled_count: 0 }
    }

    /// The rows of all parts, in order.
    pub(crate) fn join(parts: Vec<Self>) -> Self {
        let mut all = Self::new(0);
        let mut base = 0;
        for part in &parts {
            all.open.extend(part.open.iter().map(|index| base + index));
            all.refined_count += part.refined_count;
            all.settled_count += part.settled_count;
            base += part.rows.len();
        }
        // Where every part but the last has `TASK` rows, as with given pairs, the position of a row is known, and all cores copy.
        if let Some((last, full)) = parts.split_last()
            && full.iter().all(|part| part.rows.len() == TASK)
            && last.rows.len() <= TASK
        {
            fill(&mut all.rows, base, 4 * TASK, |at| parts[at / TASK].rows[at % TASK]);
            return all;
        }
        all.rows.reserve_exact(base);
        for part in parts {
            all.rows.extend(part.rows);
        }
        all
    }
}

/// Settles the open rows and completes the answer: the last step of both engines.
pub(crate) fn finish(
    scene: &Scene,
    input: &QueryInput,
    mut rows: Rows,
    mut stats: Stats,
) -> Batch<Intersection> {
    let settle_begin = Instant::now();
    let settled = map(&rows.open, |&index| {
        let row = rows.rows[index];
        exact::settle(&scene.hulls, input.stored(), [row.a, row.b])
    });
    for (&index, settled) in rows.open.iter().zip(&settled) {
        rows.rows[index].status = settled.status;
        rows.rows[index].axis = settled.axis;
    }
    if !rows.open.is_empty() && !input.keeps_all() {
        rows.rows.retain(|row| row.status.is_hit());
    }
    stats.refined_count = rows.refined_count;
    stats.settled_count = rows.open.len() as u64;
    log_settled(&stats);
    stats.hit_count = rows.rows.iter().filter(|row| row.status.is_hit()).count() as u64;
    stats.times.upload_ms += input.upload_ms;
    stats.times.settle_ms = milliseconds(settle_begin);
    Batch::new(rows.rows, stats)
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Measures the open rows in f64 and completes the answer: the last step of both engines.
pub(crate) fn finish_measures<R: Row>(
    scene: &Scene,
    input: &QueryInput,
    request: MeasureRequest,
    mut found: Measures<R>,
    mut stats: Stats,
) -> Batch<R> {
    let settle_begin = Instant::now();
    let given = input.keeps_all();
    let settled = map(&found.open, |&index| {
        let pair = found.rows[index].pair();
        let measured = exact::measure(&scene.hulls, input.stored(), pair);
        (given || measured.is_within(request.margin))
            .then(|| R::of_stored(scene, input.stored(), pair, &measured, request.margin))
    });
    let mut left_out = false;
    for (&index, settled) in found.open.iter().zip(&settled) {
        match settled {
            Some(row) => found.rows[index] = *row,
            None => left_out = true,
        }
    }
    if left_out {
        let mut out =
            found.open.iter().zip(&settled).filter(|(_, row)| row.is_none()).map(|(&at, _)| at).peekable();
        let mut index = 0;
        found.rows.retain(|_| {
            let keep = out.next_if_eq(&index).is_none();
            index += 1;
            keep
        });
    }
    stats.refined_count = found.refined_count;
    stats.settled_count = found.settled_count + found.open.len() as u64;
    log_settled(&stats);
    stats.hit_count = found.rows.iter().filter(|row| row.status().is_hit()).count() as u64;
    stats.times.upload_ms += input.upload_ms;
    stats.times.settle_ms = milliseconds(settle_begin);
    Batch::new(found.rows, stats)
}

/// Removes the rows at these ascending indices, and updates the ascending indices of the open rows.
pub(crate) fn remove_rows<R: Copy>(rows: &mut Vec<R>, open: &mut Vec<usize>, indices: &[usize]) {
    let mut kept = 0;
    let mut still_open = Vec::with_capacity(open.len());
    let mut out = indices.iter().peekable();
    let mut was_open = open.iter().peekable();
    for at in 0..rows.len() {
        let is_open = was_open.next_if_eq(&&at).is_some();
        if out.next_if_eq(&&at).is_some() {
            continue;
        }
        if is_open {
            still_open.push(kept);
        }
        rows[kept] = rows[at];
        kept += 1;
    }
    rows.truncate(kept);
    *open = still_open;
}
