//! Shortest paths: rooms in two dimensions and surfaces in three, each in a folder of its own.
//!
//! What rooms and surfaces share is in `shared`. Nothing here knows of a GPU.

pub mod room;
pub(crate) mod shared;
pub mod surface;

pub use shared::reach::{PathEnd, Reach};
pub use shared::stats::Stats;

/// Paths, a row for each query in the order of the queries, and what they took.
pub type Batch<R> = crate::batch::Batch<R, Stats>;
