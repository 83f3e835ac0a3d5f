//! The broad phase: which bodies' world boxes overlap. `cpu` finds them on the CPU; the kernels of the GPU are in `kernels`.

pub(crate) mod cpu;
pub(crate) mod estimate;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod search;
pub(crate) mod search_pool;
