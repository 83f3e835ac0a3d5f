//! The queries of an arena: the handle, its CPU and its GPU engine, and results that stay on the device.

pub(crate) mod arena;
pub(crate) mod cpu;
mod deepest;
#[cfg(feature = "gpu")]
pub(crate) mod device;
#[cfg(feature = "gpu")]
pub(crate) mod device_events;
#[cfg(feature = "gpu")]
pub(crate) mod device_rows;
#[cfg(feature = "gpu")]
pub(crate) mod encoded;
pub(crate) mod estimate;
#[cfg(feature = "gpu")]
pub(crate) mod events;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub(crate) mod gpu;
pub(crate) mod joint_paths;
pub(crate) mod kinds;
#[cfg(feature = "gpu")]
pub(crate) mod laid_out;
mod lever_sweeps;
pub(crate) mod options;
mod order;
pub(crate) mod pair;
pub(crate) mod prepare;
mod rays;
pub(crate) mod shapes;
pub(crate) mod warm;
