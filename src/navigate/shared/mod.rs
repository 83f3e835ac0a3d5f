//! What rooms and surfaces share.

pub(crate) mod heap;
pub(crate) mod path_end;
pub(crate) mod predicate;
