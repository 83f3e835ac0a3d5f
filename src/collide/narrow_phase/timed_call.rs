//! The time of a query, from the call to its answer.

use web_time::Instant;

use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::settle::milliseconds;
use crate::error::Result;
use crate::pending::{Pending, WasmNotSend};

/// Asks, and sets [`Times::total_ms`](crate::collide::Times::total_ms) of the answer. Whatever a query does belongs into `ask`. A query that
/// asks others sets the time anew.
pub(crate) fn timed_call<R: WasmNotSend + 'static>(
    ask: impl FnOnce() -> Result<Pending<Batch<R>>>,
) -> Result<Pending<Batch<R>>> {
    let begin = Instant::now();
    let found = ask()?;
    Ok(found.map(move |mut batch| {
        batch.stats.times.total_ms = milliseconds(begin);
        batch
    }))
}
