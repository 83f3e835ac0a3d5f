//! Warm start: what one frame learns and the next ones need not find out again.
//!
//! Two things are kept from frame to frame.
//!
//! * **A list of neighbours** (Verlet 1967): the pairs whose boxes overlap when each is made wider by a margin of its
//!   body. While no body has moved further than its margin, every other pair is apart, and there is no broad phase.
//! * **A lower bound of the gap of each pair.** A gap shrinks at most by what both bodies move: each body has an
//!   odometer, an upper bound of how far any of its points has gone, and a pair stores the sum of its two odometers at
//!   which its bound is used up. Until then one comparison is all that the pair costs.
//!
//! A bound is what is left of the gap after the pair's tolerance τ (see [`bound`]), so what it decides is beyond the
//! tolerance, where no engine may come to another verdict. What no bound decides goes through the same narrow phase as
//! without a warm start, from the same numbers, so its rows are the same to the bit.

pub(crate) mod bound;
pub(crate) mod bound_requests;
pub(crate) mod cache;
pub(crate) mod given;
pub(crate) mod list;
pub(crate) mod motion;
pub(crate) mod near_pairs;
pub(crate) mod tasks;
