//! The queries of an arena: the handle, its CPU and its GPU engine, and what stays on the device.

pub(crate) mod arena;
pub(crate) mod cpu;
pub(crate) mod device;
pub(crate) mod device_rows;
pub(crate) mod encoded;
pub(crate) mod estimate;
pub(crate) mod gpu;
pub(crate) mod prepare;
pub(crate) mod warm;
