//! Who touches whom: convex hulls, bodies, broad phase, GJK.

mod arena;
mod body;
mod bounds;
mod broad;
mod broad_kernels;
mod cpu;
mod depth;
mod device;
mod distance;
mod encoded;
#[cfg(test)]
mod entry_tests;
mod epa;
mod exact;
mod expand;
mod faces;
mod foresight;
mod gjk;
mod gpu;
mod hull;
mod kernels;
mod lanes;
mod lay_out;
mod layout;
mod manifold;
mod measure;
mod measured;
mod morton;
mod narrow;
mod pack;
mod pose;
mod prepare;
mod query;
mod scene;
mod settle;
mod statics;
mod status;
mod support;
mod sweep;
mod tally;
mod tolerance;
mod trace;
mod vector;
mod warm;
mod wide;

pub use arena::Arena;
pub use body::Body;
pub use encoded::{Capacity, DEVICE_WGSL, DeviceBodies, DevicePairs, DeviceRows};
pub use hull::{Dimension, Hull};
pub use layout::{DeviceCounts, IntersectionRow, MeasuredRow, PackedBody};
pub use prepare::ArenaQuery;
pub use query::{
    Contact, Contacts, Distance, Distances, Estimate, Intersection, Intersections, Manifold, ManifoldPoint,
    Manifolds, Motion, Pairs, Precision, Stats, Sweep, SweepOutcome, Sweeps, Times,
};
pub use status::Status;
pub use trace::{Trace, TraceStep};
#[cfg(test)]
pub(crate) use {
    broad_kernels::KERNELS as BROAD_KERNELS, kernels::KERNELS, sweep::kernels::KERNELS as SWEEP_KERNELS,
};
