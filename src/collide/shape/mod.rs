//! Shapes against a scene: shape casts, nearest bodies, and which bodies are hit.
//!
//! A stage without a shader: the GPU engine runs the same code on the host.

pub(crate) mod cast;
pub(crate) mod crowd;
pub(crate) mod hits;
pub(crate) mod nearest;
pub(crate) mod query;
pub(crate) mod rows;
