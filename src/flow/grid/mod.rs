//! Grids: cells, moves, obstacles, costs, and their place in the world. Plain data that knows no engine.

pub(crate) mod cells;
pub(crate) mod change;
pub(crate) mod clearance;
pub(crate) mod edit;
pub(crate) mod frame;
pub(crate) mod goals;
pub(crate) mod moves;
pub(crate) mod sight;
#[cfg(feature = "serde")]
mod wire;
