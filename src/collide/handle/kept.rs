//! Rows that stay from answer to answer: those of pairs in which neither body has changed.
//!
//! A scene counts its changes, and lists the rows that moved. An answer is kept with the count at its call, from the second query of its kind on: a
//! scene that is asked once keeps nothing.

use std::any::{Any, TypeId};
use std::collections::HashMap;
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

/// An answer, and the number of changes before it.
#[derive(Debug, Clone)]
struct Entry {
    changes: u64,
    /// `None` where a query of the kind was asked once.
    answer: Option<Arc<dyn Any + Send + Sync>>,
}

/// The answers that a scene keeps.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<HashMap<Kind, Entry>>);

impl Kept {
    /// The same answers, for a copy of the scene.
    pub(crate) fn copied(&self) -> Self {
        Self(Mutex::new(lock(&self.0).clone()))
    }

    /// Forgets all answers.
    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// The last answer of a kind, and the number of changes before it. And whether the next one should be kept.
    pub(crate) fn get<R: Send + Sync + 'static>(&self, kind: Kind) -> (Option<(u64, Arc<Answer<R>>)>, bool) {
        let mut all = lock(&self.0);
        let Some(entry) = all.get(&kind) else {
            all.insert(kind, Entry { changes: 0, answer: None });
            return (None, false);
        };
        let answer = entry.answer.clone().and_then(|answer| answer.downcast().ok());
        (answer.map(|answer| (entry.changes, answer)), true)
    }

    /// Keeps an answer, unless there is a later one.
    pub(crate) fn put<R: Send + Sync + 'static>(&self, kind: Kind, changes: u64, answer: Arc<Answer<R>>) {
        let mut all = lock(&self.0);
        if all.get(&kind).is_some_and(|entry| entry.answer.is_none() || entry.changes <= changes) {
            all.insert(kind, Entry { changes, answer: Some(answer) });
        }
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
        let kept = Kept::default();
        let kind = Kind::of::<u8>(0.5, Precision::Fast);
        let answer = |row: u8| Arc::new(Answer { parts: vec![row], triangles: vec![] });
        assert!(matches!(kept.get::<u8>(kind), (None, false)));
        assert!(matches!(kept.get::<u8>(kind), (None, true)));
        kept.put(kind, 7, answer(1));
        kept.put(kind, 6, answer(2));
        let (found, _) = kept.get::<u8>(kind);
        let (changes, found) = found.unwrap();
        assert_eq!((changes, &found.parts[..]), (7, &[1][..]));
        assert!(matches!(kept.get::<u8>(Kind::of::<u8>(0.5, Precision::Exact)), (None, false)));
        assert!(kept.copied().get::<u8>(kind).0.is_some());
        kept.clear();
        assert!(kept.get::<u8>(kind).0.is_none());
    }
}
