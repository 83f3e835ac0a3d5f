//! Shortest paths in rooms with walls, doors and obstacles.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod doors;
mod edits;
mod hostile;
mod paths;
mod places;
mod polygons;
#[cfg(feature = "serde")]
mod serde;
mod spikes;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
