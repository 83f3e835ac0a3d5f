//! Sweeps: when bodies that move first meet.
//!
//! A pair whose bodies do not turn is cast in f32 ([`pair`]) and, where that can't promise its answer, in f64; one with a
//! body that turns goes step by step in f64 ([`exact`]), unless a cast of thicker bodies shows a miss. On a GPU engine the
//! cast is a kernel ([`kernels`], `query/gpu/sweeps.rs`), and what it leaves open comes back here.

pub(crate) mod cast;
pub(crate) mod exact;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod outcome;
pub(crate) mod pair;
pub(crate) mod query;
pub(crate) mod rows;
