//! Fields on the GPU.
//!
//! A field is solved in rounds over active tiles, those that the wave may change. Each round is one indirect dispatch,
//! with one workgroup for each tile that the round before put on the list. So the host reads no counts back between
//! rounds: it encodes up to 256 rounds, and reads a few words when they have run. Rounds after the last active tile
//! have no workgroups. Two solvers share the lists:
//!
//! - four neighbours and unit costs: bit planes, 32 levels a round (`shaders/flow/field/wave.wgsl`);
//! - all other grids: tiles relaxed until nothing changes (`shaders/flow/field/relax_2d.wgsl`, `relax_3d.wgsl`).
//!
//! Then the same solver runs once more, through the obstacles and out of them. A last kernel writes the codes from
//! final distances. The fields of a batch lie one after the other and share every round. A grid larger than a binding
//! is cut into strips, and a round is then one dispatch per strip.
//!
//! After edits a field is updated: `update.rs` keeps the distances that still hold, and the same kernels lower the others. They also lower the
//! distances of a raster's tile from some of its cells (`improve.rs`).
//!
//! Small grids of the first kind need no lists: one workgroup solves a field (`shaders/flow/field/small.wgsl`).
//!
//! A field takes 4 bytes per cell for distances and 1 for codes. While it is solved it also takes half a byte per cell
//! for bit planes, and 20 bytes per tile.

pub(crate) mod batch;
pub(crate) mod device_field;
pub(crate) mod grid;
// In a browser nothing may wait for the device.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod improve;
pub(crate) mod job;
pub(crate) mod kernels;
pub(crate) mod rounds;
pub(crate) mod small;
pub(crate) mod solve;
pub(crate) mod strips;
pub(crate) mod update;

pub(crate) use solve::{solve, solve_batch};
pub(crate) use update::update;
