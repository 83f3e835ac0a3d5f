//! EPA, the expanding polytope algorithm. `verdict` decides pairs near the surface, `depth` measures overlaps in f32, `exact_depth`
//! in f64.

pub(crate) mod depth;
#[cfg(test)]
mod entry_tests;
pub(crate) mod exact_depth;
pub(crate) mod verdict;
