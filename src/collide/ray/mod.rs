//! Rays and points against bodies.
//!
//! What is hit, and where, f64 says on the host, with either engine. On a GPU engine a kernel finds which body that is first ([`kernels`],
//! `query/gpu/rays.rs`), and leaves rays open where f32 can't tell. Points have no shader.

pub(crate) mod cast;
pub(crate) mod clip;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod measure;
pub(crate) mod query;
pub(crate) mod rows;
pub(crate) mod search;
