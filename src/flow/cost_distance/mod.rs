//! Cost distances over rasters of friction: floating-point friction, distances in the units of the map, allocation and paths.

pub(crate) mod friction;
pub(crate) mod options;
pub(crate) mod slope;
pub(crate) mod solve;
pub(crate) mod solved;
