//! What agents ask of a field: next cells, paths, directions; and crowds that stay on the device.

pub(crate) mod crowd;
#[cfg(feature = "gpu")]
pub(crate) mod device;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub(crate) mod gpu;
pub(crate) mod nearest;
pub(crate) mod next_cells;
pub(crate) mod paths;
pub(crate) mod steer;
