//! What rooms and surfaces share.

pub(crate) mod heap;
pub(crate) mod predicate;
pub(crate) mod reach;
pub(crate) mod stats;
