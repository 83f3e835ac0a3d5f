//! Events: what became of the touching pairs of a scene since the last answer.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::collide::bodies::events::Phase;
use crate::collide::handle::id::BodyId;
use crate::collide::handle::rows::PairRow;
use crate::collide::handle::slots::Slots;
use crate::error::{Error, Location, Result};
use crate::lock::lock;

/// Most answers that are in flight, or whose events may still be taken.
const LIMIT: usize = 64;

/// Queries of this process so far.
static QUERIES: AtomicU64 = AtomicU64::new(0);

/// One event: a pair, and what happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PairEvent {
    /// The body of the lower row. It is stale where the body was removed.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// What happened.
    pub phase: Phase,
}

/// The queries whose events may be taken: their numbers, and the ids of the bodies at the call.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<VecDeque<(u64, Slots)>>);

impl Asked {
    /// Notes a query, and returns its number.
    pub(crate) fn add(&self, slots: &Slots) -> u64 {
        let number = QUERIES.fetch_add(1, Relaxed) + 1;
        let mut asked = lock(&self.0);
        if asked.len() == LIMIT {
            asked.pop_front();
        }
        asked.push_back((number, slots.snapshot()));
        number
    }

    /// The ids at the call of a query. It and earlier ones are forgotten.
    fn take(&self, number: u64) -> Option<Slots> {
        let mut asked = lock(&self.0);
        let at = asked.iter().position(|(other, _)| *other == number)?;
        asked.drain(..=at).next_back().map(|(_, slots)| slots)
    }
}

/// The pairs that touched when events were last taken, sorted, none twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Touching(Vec<[BodyId; 2]>);

impl Touching {
    /// These pairs, in any order.
    pub(crate) fn restored(mut pairs: Vec<[BodyId; 2]>) -> Self {
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
        Self(pairs)
    }

    pub(crate) fn pairs(&self) -> &[[BodyId; 2]] {
        &self.0
    }

    /// Replaces the pairs by those of an answer, of bodies that are there now, and returns what changed, sorted by ids.
    pub(crate) fn advance<R: PairRow>(
        &mut self,
        rows: &[R],
        number: u64,
        asked: &Asked,
        slots: &Slots,
    ) -> Result<Vec<PairEvent>> {
        let Some(then) = asked.take(number) else {
            let message = "the answer is none of the last queries of pairs of this scene, or its events were taken: hand each answer in once, in the order of the queries";
            return Err(Error::invalid(Location::Argument, message));
        };
        let ids = |row: &R| {
            let [a, b] = row.bodies().map(|row| then.id_at(row));
            a.zip(b).map(|(a, b)| if a < b { [a, b] } else { [b, a] })
        };
        let is_there = |pair: &[BodyId; 2]| pair.iter().all(|&id| slots.holds(id));
        let mut now: Vec<[BodyId; 2]> =
            rows.iter().filter(|row| row.is_hit()).filter_map(ids).filter(is_there).collect();
        now.sort_unstable();
        now.dedup();
        let mut events = Vec::with_capacity(now.len().max(self.0.len()));
        let mut push = |[a, b]: [BodyId; 2], phase| events.push(PairEvent { a, b, phase });
        let mut before = self.0.iter().copied().peekable();
        for &pair in &now {
            while let Some(gone) = before.next_if(|gone| *gone < pair) {
                push(gone, Phase::End);
            }
            let phase = if before.next_if_eq(&pair).is_some() { Phase::Stay } else { Phase::Begin };
            push(pair, phase);
        }
        before.for_each(|gone| push(gone, Phase::End));
        self.0 = now;
        Ok(events)
    }
}
