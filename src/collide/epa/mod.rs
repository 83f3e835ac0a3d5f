//! EPA, the expanding polytope algorithm: the verdict of a pair near the surface, and how deep an overlap is.

pub(crate) mod depth;
#[cfg(test)]
mod entry_tests;
pub(crate) mod exact_depth;
pub(crate) mod verdict;
