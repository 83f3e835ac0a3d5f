//! `hullfield.flow`.

pub(crate) mod agents;
pub(crate) mod cells;
pub(crate) mod field;
pub(crate) mod friction;
pub(crate) mod grid;
pub(crate) mod handle;
pub(crate) mod raster;
pub(crate) mod raster_tasks;
