//! Fields over grids, and the agents that follow them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod edits;
mod fields;
mod fields_gpu;
mod scenes;
