//! Events: what became of the touching pairs of a set since the last answer.
//!
//! The memory is one sorted list of the pairs that touched, 8 bytes each. A pair is kept by slots. The generation that a slot had is its
//! generation now, unless its body was removed since: such removals are kept until the next events.

use std::collections::BTreeMap;

use crate::collide::bodies::id::{BodyId, BodyRef};
use crate::collide::bodies::slots::{SLOT_LIMIT, Slots};

/// What happened to a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Phase {
    /// The pair did not touch before, and does now.
    Begin,
    /// The pair touched before, and still does.
    Stay,
    /// The pair touched before, and no longer does, or one of its bodies was removed.
    End,
}

/// One event: a pair, and what happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PairEvent {
    /// The first body. It is stale where the body was removed.
    pub a: BodyId,
    /// The second body, or a static.
    pub b: BodyRef,
    /// What happened.
    pub phase: Phase,
}

/// A pair of slots. The second is a static's index with the highest bit set where it is one, so that statics come last.
pub(crate) type SlotPair = [u32; 2];

/// The pair of slots of two sides.
pub(crate) fn slot_pair(a: BodyId, b: BodyRef) -> SlotPair {
    match b {
        BodyRef::Body(b) => [a.index(), b.index()],
        BodyRef::Static(b) => [a.index(), SLOT_LIMIT | b],
    }
}

/// The pairs that touched when events were last taken.
#[derive(Debug, Default)]
pub(crate) struct TouchingPairs {
    /// Sorted, none twice.
    pairs: Vec<SlotPair>,
    /// Memory for the next ones.
    spare: Vec<SlotPair>,
    /// For each slot whose body was removed since: the generation of the first such body.
    removed: BTreeMap<u32, u32>,
}

impl TouchingPairs {
    /// The pairs, by ids.
    pub(crate) fn iter<'a, T>(
        &'a self,
        slots: &'a Slots<T>,
    ) -> impl ExactSizeIterator<Item = (BodyId, BodyRef)> + use<'a, T> {
        let names = Names { removed: &self.removed, generations: slots.generations() };
        self.pairs.iter().map(move |&pair| names.of(pair))
    }

    /// Notes that a body is removed. Its pairs end with the next events.
    pub(crate) fn remove(&mut self, id: BodyId) {
        if !self.pairs.is_empty() {
            self.removed.entry(id.index()).or_insert(id.generation());
        }
    }

    /// Replaces the pairs by those that touch now, of bodies that are there now, and returns what changed, sorted by `(a, b)`.
    pub(crate) fn advance<T>(
        &mut self,
        now: impl Iterator<Item = SlotPair>,
        slots: &Slots<T>,
    ) -> Vec<PairEvent> {
        let mut next = std::mem::take(&mut self.spare);
        next.clear();
        next.extend(now);
        // The answer is sorted, but the caller may have changed it.
        if !next.is_sorted_by(|p, q| p < q) {
            next.sort_unstable();
            next.dedup();
        }
        let before = Names { removed: &self.removed, generations: slots.generations() };
        let none = BTreeMap::new();
        let after = Names { removed: &none, generations: slots.generations() };
        let mut events = Vec::with_capacity(next.len().max(self.pairs.len()));
        let mut push = |(a, b), phase| events.push(PairEvent { a, b, phase });
        let mut old = self.pairs.iter().copied().peekable();
        for &pair in &next {
            while let Some(gone) = old.next_if(|&gone| gone < pair) {
                push(before.of(gone), Phase::End);
            }
            let is_old = old.next_if_eq(&pair).is_some();
            if is_old && before.of(pair) == after.of(pair) {
                push(after.of(pair), Phase::Stay);
                continue;
            }
            if is_old {
                push(before.of(pair), Phase::End);
            }
            push(after.of(pair), Phase::Begin);
        }
        for gone in old {
            push(before.of(gone), Phase::End);
        }
        if !self.removed.is_empty() {
            // Pairs of one slot may be of two generations.
            events.sort_unstable_by_key(|event| (event.a, event.b));
            self.removed.clear();
        }
        self.spare = std::mem::replace(&mut self.pairs, next);
        events
    }
}

/// The ids that slots stand for.
#[derive(Clone, Copy)]
struct Names<'a> {
    removed: &'a BTreeMap<u32, u32>,
    generations: &'a [u32],
}

impl Names<'_> {
    fn id(&self, slot: u32) -> BodyId {
        let generation = match self.removed.get(&slot) {
            Some(&generation) => generation,
            None => self.generations.get(slot as usize).copied().unwrap_or_default(),
        };
        BodyId::new(slot, generation)
    }

    fn of(&self, [a, b]: SlotPair) -> (BodyId, BodyRef) {
        let b =
            if b & SLOT_LIMIT != 0 { BodyRef::Static(b & !SLOT_LIMIT) } else { BodyRef::Body(self.id(b)) };
        (self.id(a), b)
    }
}
