//! Fields on the CPU.
//!
//! Distances come from what suits the grid: tiles of bits or a queue where all steps are 1 in two dimensions, buckets where
//! steps and costs are not too far apart, else a heap. Next cells and exits come from the distances alone.

pub(crate) mod buckets;
pub(crate) mod codes;
pub(crate) mod exits;
pub(crate) mod limits;
pub(crate) mod masks;
pub(crate) mod moves;
pub(crate) mod near;
pub(crate) mod queue;
pub(crate) mod radix;
pub(crate) mod repair;
pub(crate) mod repair_units;
pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod solve;
pub(crate) mod tiles;

pub(crate) use repair::update;
pub(crate) use solve::{solve, solve_batch};
