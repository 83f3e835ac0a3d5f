//! Shortest paths on the CPU: in rooms, which are two-dimensional ([`room`]), and over surfaces of 3D models ([`surface`]).

pub mod room;
pub(crate) mod shared;
pub mod surface;

pub use shared::reach::{PathEnd, Reach};
pub use shared::stats::Stats;

/// The paths of a batch, one row a query in the order of the queries, and its statistics.
pub type Batch<R> = crate::batch::Batch<R, Stats>;
