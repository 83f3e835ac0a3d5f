//! The rows of a query over a set of bodies.

use crate::collide::bodies::id::{BodyId, BodyRef};
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::status::Status;

/// A pair of bodies that a query lists, by ids.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BodyPair<R> {
    /// The first body, as it was when the query was submitted.
    pub a: BodyId,
    /// The second body, or a static.
    pub b: BodyRef,
    /// The verdict, the same as in `row`.
    pub status: Status,
    /// The row as the arena gives it. There `a` and `b` are rows of [`Bodies::rows`](crate::collide::Bodies::rows), followed by the
    /// statics; normals point from `a` to `b`.
    pub row: R,
}

/// The answer of a query over a set of bodies.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found<R> {
    /// The pairs, sorted by `(a, b)`.
    pub rows: Vec<BodyPair<R>>,
    /// Statistics of the query. Times are in milliseconds.
    pub stats: Stats,
    /// Which query it was, for its events.
    pub(crate) query: QueryNumber,
}

/// Names a query of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueryNumber {
    /// The set.
    pub(crate) set: u64,
    /// The query, in the order of the calls, from 1.
    pub(crate) query: u64,
}

/// Names the bodies of rows, by the generations of the slots when the query was submitted.
pub(crate) fn name<R: Row>(batch: Batch<R>, generations: &[u32], query: QueryNumber) -> Found<R> {
    let slot_count = generations.len() as u32;
    let id = |slot: u32| BodyId::new(slot, generations.get(slot as usize).copied().unwrap_or_default());
    let of = |row: R| {
        // Statics are not paired with one another, so `a` is a body.
        let [a, b] = row.pair();
        let b = if b < slot_count { BodyRef::Body(id(b)) } else { BodyRef::Static(b - slot_count) };
        BodyPair { a: id(a), b, status: row.status(), row }
    };
    Found { rows: batch.rows.into_iter().map(of).collect(), stats: batch.stats, query }
}
