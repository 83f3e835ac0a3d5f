//! Warm start: results of earlier frames that still hold.
//!
//! Two things are kept.
//!
//! * **A neighbour list** (Verlet 1967): the pairs whose boxes overlap when each box is widened by a margin. While no body has
//!   moved further than its margin, every other pair is separated, and no broad phase is needed.
//! * **A lower bound of the gap of each pair.** A gap shrinks at most by how far both bodies move. Each body has an odometer: an
//!   upper bound of how far any of its points has moved. A pair stores the sum of its two odometers at which its bound is used up.
//!   Until then the pair costs one comparison.
//!
//! A bound is the gap minus the pair's tolerance τ (see [`bound`]). So it decides only pairs beyond the tolerance, where every engine
//! gives the same verdict. All other pairs go through the same narrow phase as without a warm start, with the same numbers, so
//! their rows are equal to the bit.

pub(crate) mod bound;
pub(crate) mod bound_requests;
pub(crate) mod cache;
pub(crate) mod given;
pub(crate) mod list;
pub(crate) mod motion;
pub(crate) mod near_pairs;
pub(crate) mod tasks;
