//! Engines: which one there is, what it costs, how its pipelines are prepared, how work ends that nobody waits for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

// Without threads a call does the work itself.
#[cfg(feature = "threads")]
mod cancel;
#[path = "../../src/testing.rs"]
mod common;
mod kinds;
#[cfg(feature = "tracing")]
mod observed;
#[cfg(feature = "gpu")]
mod prepare;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
