//! Rows that stay from answer to answer: those of pairs in which neither body has changed.
//!
//! A scene counts its changes, and lists the rows that moved. An answer is kept with the count at its call, from the second query of its kind on: a
//! scene that is asked once keeps nothing.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::collide::narrow_phase::rows::Precision;
use crate::lock::lock;

/// Up to this share of the parts that may move, pairs of those that moved are searched for one by one.
const SHARE: usize = 4;

/// A kind of query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    row: TypeId,
    margin: u64,
    exact: bool,
}

impl Kind {
    pub(crate) fn of<R: 'static>(margin: f64, precision: Precision) -> Self {
        Self { row: TypeId::of::<R>(), margin: margin.to_bits(), exact: precision == Precision::Exact }
    }
}

/// The rows of an answer.
#[derive(Debug)]
pub(crate) struct Answer<R> {
    /// Of parts that are hulls, by places, sorted.
    pub(crate) parts: Vec<R>,
    /// Of triangles, by rows.
    pub(crate) triangles: Vec<R>,
}

/// An answer, with the number of changes before it.
pub(crate) type Earlier<R> = (u64, Arc<Answer<R>>);

/// An answer, and the number of changes before it.
#[derive(Debug, Clone)]
struct Entry {
    changes: u64,
    /// `None` where a query of the kind was asked once.
    answer: Option<Arc<dyn Any + Send + Sync>>,
}

/// The answers that a scene keeps.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Answers>);

#[derive(Debug, Clone, Default)]
struct Answers {
    /// How often all were forgotten. What was asked before is not kept.
    epoch: u64,
    of_kinds: HashMap<Kind, Entry>,
}

/// A place for the next answer of a kind.
#[derive(Debug, Clone)]
pub(crate) struct Keep {
    kept: Arc<Kept>,
    kind: Kind,
    epoch: u64,
    /// The number of changes before the answer.
    changes: u64,
}

impl Keep {
    /// Keeps an answer, unless there is a later one.
    pub(crate) fn put<R: Send + Sync + 'static>(&self, answer: &Arc<Answer<R>>) {
        let mut all = lock(&self.kept.0);
        let is_next = |entry: &Entry| entry.answer.is_none() || entry.changes <= self.changes;
        if all.epoch == self.epoch && all.of_kinds.get(&self.kind).is_some_and(is_next) {
            let answer: Arc<dyn Any + Send + Sync> = Arc::<Answer<R>>::clone(answer);
            all.of_kinds.insert(self.kind, Entry { changes: self.changes, answer: Some(answer) });
        }
    }
}

impl Kept {
    /// The same answers, for a copy of the scene.
    pub(crate) fn copied(&self) -> Self {
        Self(Mutex::new(lock(&self.0).clone()))
    }

    /// Forgets all answers.
    pub(crate) fn clear(&self) {
        let mut all = lock(&self.0);
        all.epoch += 1;
        all.of_kinds.clear();
    }

    /// The last answer of a kind, with the number of changes before it, and the place of the next one, which is asked for after so many changes.
    pub(crate) fn get<R: Send + Sync + 'static>(
        self: &Arc<Self>,
        kind: Kind,
        changes: u64,
    ) -> (Option<Earlier<R>>, Option<Keep>) {
        let mut all = lock(&self.0);
        let Some(entry) = all.of_kinds.get(&kind) else {
            all.of_kinds.insert(kind, Entry { changes: 0, answer: None });
            return (None, None);
        };
        let answer = entry.answer.clone().and_then(|answer| answer.downcast().ok());
        let found = answer.map(|answer| (entry.changes, answer));
        let keep = Keep { kept: Arc::clone(self), kind, epoch: all.epoch, changes };
        (found, Some(keep))
    }
}

/// Which bodies moved, in the order of the changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Changes before the first listed one.
    begin: u64,
    rows: Vec<u32>,
}

impl Changes {
    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        self.begin + self.rows.len() as u64
    }

    /// Notes that a body moved, one of `count`.
    pub(crate) fn moved(&mut self, row: u32, count: usize) {
        if self.rows.len() >= 2 * count + 1024 {
            self.all();
        }
        self.rows.push(row);
    }

    /// Notes that anything may have changed.
    pub(crate) fn all(&mut self) {
        self.begin = self.count() + 1;
        self.rows.clear();
    }

    /// The rows that moved since there were so many changes, some perhaps more than once; `None` where more may have changed.
    pub(crate) fn since(&self, changes: u64) -> Option<&[u32]> {
        self.rows.get(usize::try_from(changes.checked_sub(self.begin)?).ok()?..)
    }
}

/// What moved since an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moved {
    /// Places of parts, ascending.
    pub(crate) places: Vec<u32>,
    /// A bit for each place.
    of_places: Vec<u64>,
    /// Rows, ascending.
    rows: Vec<u32>,
}

impl Moved {
    /// The rows that moved, in any order, and the places of each.
    pub(crate) fn new(rows: &[u32], places_of: impl Fn(u32) -> Range<u32>, place_count: usize) -> Self {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let mut places: Vec<u32> = rows.iter().flat_map(|&row| places_of(row)).collect();
        places.sort_unstable();
        let mut of_places = vec![0; place_count.div_ceil(64)];
        places.iter().for_each(|&place| of_places[place as usize / 64] |= 1 << (place % 64));
        Self { places, of_places, rows }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn place_count(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(crate) fn has_place(&self, place: u32) -> bool {
        self.of_places.get(place as usize / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    pub(crate) fn has_row(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }
}

/// Whether it pays to search for the pairs of `moved` parts alone, of `count` that may move.
pub(crate) fn is_few(moved: usize, count: usize) -> bool {
    moved * SHARE <= count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_listed_until_all_may_have_changed() {
        let mut changes = Changes::default();
        let first = changes.count();
        changes.moved(3, 10);
        let second = changes.count();
        changes.moved(4, 10);
        assert_eq!(changes.since(first), Some(&[3, 4][..]));
        assert_eq!((changes.since(second), changes.since(changes.count())), (Some(&[4][..]), Some(&[][..])));
        assert_eq!(changes.since(changes.count() + 1), None);
        changes.all();
        assert_eq!((changes.since(second), changes.since(changes.count())), (None, Some(&[][..])));
        for _ in 0..5_000 {
            changes.moved(1, 10);
        }
        assert!(changes.rows.len() < 2_000 && changes.since(second).is_none());
    }

    #[test]
    fn an_answer_is_kept_from_the_second_query_of_its_kind_on() {
        let kept = Arc::new(Kept::default());
        let kind = Kind::of::<u8>(0.5, Precision::Fast);
        let answer = |row: u8| Arc::new(Answer { parts: vec![row], triangles: vec![] });
        assert!(matches!(kept.get::<u8>(kind, 1), (None, None)));
        let (_, early) = kept.get::<u8>(kind, 6);
        let (found, keep) = kept.get::<u8>(kind, 7);
        assert!(found.is_none());
        keep.unwrap().put(&answer(1));
        // A later answer stays.
        early.as_ref().unwrap().put(&answer(2));
        let (changes, found) = kept.get::<u8>(kind, 9).0.unwrap();
        assert_eq!((changes, &found.parts[..]), (7, &[1][..]));
        assert!(kept.get::<u8>(Kind::of::<u8>(0.5, Precision::Exact), 9).1.is_none());
        assert!(Arc::new(kept.copied()).get::<u8>(kind, 9).0.is_some());
        kept.clear();
        assert!(kept.get::<u8>(kind, 9).0.is_none());
        // What was asked before all was forgotten is not kept.
        early.unwrap().put(&answer(3));
        assert!(kept.get::<u8>(kind, 9).0.is_none());
    }
}
