//! Fields: the handle, its options and statistics, and a solver for each engine.

pub(crate) mod above;
pub(crate) mod cpu;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub(crate) mod gpu;
pub(crate) mod handle;
pub(crate) mod options;
pub(crate) mod solved;
pub(crate) mod stats;
pub(crate) mod update;
