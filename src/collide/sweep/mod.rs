//! Sweeps: the first time of impact of moving bodies.
//!
//! A pair whose bodies do not rotate is cast in f32 ([`pair`]), and in f64 where f32 leaves it open. A pair with a body that rotates
//! is advanced step by step in f64 ([`exact`]), unless a cast of thickened bodies shows a miss. A part of a compound turns about the position
//! of its body: what bounds its rotation is about that point ([`query::Moves`]). On a GPU engine the cast is a kernel
//! ([`kernels`], `query/gpu/sweeps.rs`), and the pairs that it leaves open come back to the host.

pub(crate) mod cast;
pub(crate) mod exact;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod outcome;
pub(crate) mod pair;
pub(crate) mod query;
pub(crate) mod rows;
