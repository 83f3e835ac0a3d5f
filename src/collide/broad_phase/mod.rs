//! The broad phase: the pairs of bodies whose world boxes overlap. `cpu` is the CPU's, `kernels` has the GPU's kernels.

pub(crate) mod cpu;
pub(crate) mod estimate;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod search;
pub(crate) mod search_pool;
pub(crate) mod small_worlds;
