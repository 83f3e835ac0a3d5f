//! What rooms and surfaces share: the heap, exact predicates, and the status types.

pub(crate) mod heap;
pub(crate) mod predicate;
pub(crate) mod reach;
pub(crate) mod stats;
