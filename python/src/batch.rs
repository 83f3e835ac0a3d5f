//! Batches of queries that have no `Pending` of their own: shared among threads, and ended where nobody waits any more.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hullfield::{Error, Location, Result};

/// How long a piece of a batch should take: between two pieces the batch can be ended.
const PIECE: Duration = Duration::from_millis(30);

/// Answers a batch in pieces, one after the other. The pieces grow until they take long enough.
///
/// # Errors
/// [`Error::Cancelled`] where the flag is set; else the first of the pieces' errors, with the number of its query in the whole batch.
pub(crate) fn in_pieces(
    count: usize,
    cancel: &AtomicBool,
    mut answer: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mut from, mut len) = (0, 4 * hullfield::thread_count());
    while from < count {
        check(cancel)?;
        let begun = Instant::now();
        let to = (from + len).min(count);
        answer(from..to).map_err(|error| moved(error, from))?;
        if begun.elapsed() < PIECE {
            len = len.saturating_mul(2);
        }
        from = to;
    }
    Ok(())
}

/// Maps `0..count`, in order, on as many threads as the library uses. `grain` items are taken at a time.
///
/// # Errors
/// [`Error::Cancelled`] where the flag is set; else the error of the first item that has one.
pub(crate) fn map<U: Send>(
    count: usize,
    grain: usize,
    cancel: &AtomicBool,
    answer: impl Fn(usize) -> Result<U> + Sync,
) -> Result<Vec<U>> {
    let grain = grain.max(1);
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Vec<U>>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let from = next.fetch_add(grain, Ordering::Relaxed);
            if from >= count {
                break;
            }
            let rows = (from..(from + grain).min(count))
                .map(|item| {
                    check(cancel)?;
                    answer(item).map_err(|error| in_query(error, item))
                })
                .collect::<Result<Vec<U>>>();
            let is_failed = rows.is_err();
            found.lock().unwrap_or_else(PoisonError::into_inner).push((from, rows));
            if is_failed {
                // Later items need no answer, earlier ones are taken already.
                next.store(count, Ordering::Relaxed);
            }
        }
    };
    let thread_count = hullfield::thread_count().min(count.div_ceil(grain));
    if thread_count < 2 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 1..thread_count {
                // Where no thread can be made, this one does all the work.
                drop(
                    std::thread::Builder::new().name("hullfield batch".to_owned()).spawn_scoped(scope, work),
                );
            }
            work();
        });
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable_by_key(|(from, _)| *from);
    let mut all = Vec::with_capacity(count);
    for (_, rows) in found {
        all.extend(rows?);
    }
    Ok(all)
}

fn check(cancel: &AtomicBool) -> Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

/// The same error, at a row of the batch.
pub(crate) fn in_query(error: Error, row: usize) -> Error {
    at(error, |location| if location == Location::Argument { Location::Query(row) } else { location })
}

/// The same error, in a piece that begins at a row.
fn moved(error: Error, from: usize) -> Error {
    at(error, |location| match location {
        Location::Query(row) => Location::Query(row + from),
        other => other,
    })
}

fn at(mut error: Error, to: impl Fn(Location) -> Location) -> Error {
    if let Error::Value { at, .. }
    | Error::Missing { at, .. }
    | Error::Count { at, .. }
    | Error::Invalid { at, .. }
    | Error::NoGoals { at, .. }
    | Error::DistanceOverflow { at, .. } = &mut error
    {
        *at = to(*at);
    }
    error
}
