//! Fields on the CPU.
//!
//! Distances come from what suits the grid: tiles of bits or a queue where all steps are 1 in two dimensions, buckets where
//! steps and costs are not too far apart, else a heap. Next cells and exits come from the distances alone.

mod buckets;
mod choice;
mod exits;
mod limits;
mod masks;
mod near;
mod next;
mod queue;
mod radix;
mod repair;
mod repair_units;
mod rows;
mod solve;
mod tiles;
mod ways;

pub(crate) use repair::update;
pub(crate) use solve::{solve, solve_batch};
