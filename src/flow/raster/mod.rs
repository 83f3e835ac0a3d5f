//! Distance fields over rasters larger than memory.
//!
//! The raster is cut into tiles. A tile is solved in memory, with the cells around it (its halo), and written to a
//! store. A tile is solved again only where a neighbour found a shorter way into it. The sum of steps along a path from a goal is the same in all tiles
//! (whole, or rounded step by step), so the field that no move can lower is the only one: it is equal bit for bit to the field solved in one piece, whatever the size of the tiles, the number of
//! threads and the order of the work.

pub(crate) mod borders;
pub(crate) mod device;
pub(crate) mod field;
// A browser has no files.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod files;
pub(crate) mod friction;
pub(crate) mod heap;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod solve;
pub(crate) mod solver;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod surroundings;
pub(crate) mod task;
pub(crate) mod tile;
pub(crate) mod tiling;
