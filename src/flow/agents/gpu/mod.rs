//! Agents on the device: steps, paths, distances and directions.

pub(crate) mod kernels;
pub(crate) mod paths;
pub(crate) mod steer;
