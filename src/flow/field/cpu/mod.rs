//! Fields on the CPU.
//!
//! The grid decides how distances are found. Where all steps are 1, in two dimensions, it is a breadth-first wave: over
//! tiles of bits, or cell by cell through a queue. Other grids of two dimensions are relaxed in tiles, except in
//! corridors. What remains takes Dial's buckets where the longest step is not too long for the shortest, and otherwise a
//! radix heap. Next cells and escape codes follow from the distances alone.

pub(crate) mod buckets;
pub(crate) mod codes;
pub(crate) mod escape;
pub(crate) mod improve;
pub(crate) mod masks;
pub(crate) mod move_lookup;
pub(crate) mod moves;
pub(crate) mod queue;
pub(crate) mod radix;
pub(crate) mod relax;
pub(crate) mod repair;
pub(crate) mod repair_unit;
pub(crate) mod rows;
pub(crate) mod solve;
pub(crate) mod stop;
pub(crate) mod tiles;
pub(crate) mod wave_method;

pub(crate) use repair::update;
pub(crate) use solve::{solve, solve_batch};
