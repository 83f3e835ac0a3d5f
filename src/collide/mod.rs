//! Who touches whom: convex hulls, bodies, broad phase, GJK.

mod arena;
mod body;
mod bounds;
mod broad;
mod cpu;
mod epa;
mod exact;
mod gjk;
mod gpu;
mod hull;
mod layout;
mod narrow;
mod pose;
mod query;
mod scene;
mod status;
mod support;
mod trace;
mod vector;

pub use arena::Arena;
pub use body::Body;
#[cfg(test)]
pub(crate) use gpu::KERNELS;
pub use hull::{Dimension, Hull};
pub use query::{Estimate, Intersection, Intersections, Pairs, Stats, Times};
pub use status::Status;
pub use trace::{Trace, TraceStep};
