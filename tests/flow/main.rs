//! Tests of fields over grids, and of the agents that follow them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
#[path = "../../src/testing.rs"]
mod common;
mod cost_distance;
#[cfg(feature = "gpu")]
mod crowd;
mod edits;
#[cfg(feature = "gpu")]
mod edits_gpu;
mod fields;
#[cfg(feature = "gpu")]
mod fields_gpu;
mod friction_tiles;
mod rasters;
#[cfg(feature = "gpu")]
mod rasters_gpu;
mod scenes;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "gpu")]
mod trusted;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
