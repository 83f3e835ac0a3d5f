//! Shortest paths: rooms in two dimensions and surfaces in three, each in a folder of its own.
//!
//! What rooms and surfaces share is in `shared`. Nothing here knows of a GPU.

pub mod room;
pub(crate) mod shared;
pub mod surface;

pub use shared::path_end::PathEnd;
