//! Rays and points against bodies.
//!
//! A stage without a shader: the GPU engine runs the same code on the host.

pub(crate) mod cast;
pub(crate) mod clip;
pub(crate) mod measure;
pub(crate) mod query;
pub(crate) mod rows;
pub(crate) mod search;
