//! The searches for a path: Polyanya, and the funnel within one strip of cells.

pub(crate) mod funnel;
pub(crate) mod path;
pub(crate) mod polyanya;
pub(crate) mod scratch;
pub(crate) mod squeeze;
pub(crate) mod successors;
