//! Surfaces of 3D models: their construction and their queries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod costs;
mod exact;
mod file;
mod flat;
mod funnel;
mod links;
mod models;
mod needles;
mod places;
mod polygons;
mod refine;
#[cfg(feature = "serde")]
mod serde;
mod slender;
mod t_junctions;
mod tolerance;
mod vertices;
mod walk;
mod wall;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
