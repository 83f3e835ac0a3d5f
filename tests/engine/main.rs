//! Engines: adapters and options, memory, prepared pipelines, dropped queries, serde.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod adapters;
#[path = "../../src/testing.rs"]
mod common;
// Without threads a query runs in its call and cannot be dropped before it ends.
#[cfg(feature = "threads")]
mod dropped;
#[cfg(feature = "gpu")]
mod prepare;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
