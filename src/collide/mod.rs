//! Collision of convex hulls: which pairs of bodies touch, how deep, where, and when.
//!
//! A folder is a stage. From the ground up: `hull`, `bvh`, `scene`, `gjk`, `epa`, `broad_phase`, `narrow_phase`, `ray`, `sweep`, `shape`
//! and `joint_path`, `warm`, `query`, `bodies` and `compound`, `handle`. Imports run downward only.

mod bodies;
mod broad_phase;
mod bvh;
mod compound;
mod epa;
mod gjk;
mod handle;
mod hull;
mod joint_path;
mod narrow_phase;
mod query;
mod ray;
mod scene;
mod shape;
mod sweep;
mod warm;

/// One scene, whatever its bodies are made of: what takes the place of [`Arena`], [`Compounds`] and [`Bodies`].
pub mod next {
    pub use super::compound::height_field::HeightField;
    pub use super::compound::part::{Compound, Part};
    pub use super::handle::body::{Body, Pose};
    pub use super::handle::events::PairEvent;
    pub use super::handle::id::BodyId;
    pub use super::handle::options::{PairOptions, RowsPer, SceneOptions, SweepOptions};
    pub use super::handle::probe::{Point, Ray, ShapeCast};
    pub use super::handle::robots::Robot;
    pub use super::handle::rows::PairRow;
    pub use super::handle::scene::Scene;
    pub use super::handle::shape::Shape;
    pub use super::handle::shapes::Shapes;
    pub use super::handle::state::SceneState;
    pub use super::hull::Hull;
}

pub use bodies::events::{PairEvent, Phase};
pub use bodies::id::{BodyId, BodyRef};
pub use bodies::rows::{BodyPair, Found};
pub use bodies::set::Bodies;
pub use compound::body::CompoundBody;
pub use compound::columns::CompoundColumns;
pub use compound::compounds::Compounds;
pub use compound::height_field::HeightField;
pub use compound::part::{Compound, Part};
pub use compound::rows::{PartPair, PartRow};
pub use hull::{Dimension, Hull, Plane};
pub use joint_path::deviation::{JointStep, joint_deviation};
pub use joint_path::rows::{PathCheck, PathOutcome, PostureCheck};
pub use narrow_phase::rows::{
    Batch, Contact, Degeneracy, Distance, FeatureId, Gradient, Intersection, Manifold, ManifoldPoint,
    Precision, Stats, Times,
};
pub use narrow_phase::status::Status;
pub use narrow_phase::trace::{Trace, TraceStep};
pub use query::arena::Arena;
#[cfg(feature = "gpu")]
pub use query::device_events::{EventCounts, EventRow};
#[cfg(feature = "gpu")]
pub use query::device_rows::{DeviceCounts, IntersectionRow, ManifoldRow, MeasuredRow, SweptRow};
#[cfg(feature = "gpu")]
pub use query::encoded::{
    Capacity, DEVICE_WGSL, DeviceBodies, DeviceMotions, DevicePairs, DevicePart, DeviceRows,
};
pub use query::estimate::Estimate;
#[cfg(feature = "gpu")]
pub use query::events::{DeviceEvents, DeviceTouchingPairs};
pub use query::kinds::Query;
#[cfg(feature = "gpu")]
pub use query::laid_out::LaidOutBodies;
pub use query::options::{
    ContactOptions, DistanceOptions, GradientOptions, ManifoldOptions, NearestOptions, Options, PathOptions,
    PointOptions, RayOptions, ShapeCastOptions, SweepOptions,
};
pub use query::pair::{
    contact, distance, distance_lower_bound, gradient, intersection, intersects, manifold, nearest_point,
    raycast, sweep,
};
pub use ray::rows::{Containment, NearestPoint, Occlusion, PointHit, RayHit, Raycast};
pub use scene::body::Body;
pub use scene::body_pose::BodyPose;
pub use scene::columns::BodyColumns;
pub use scene::exclusions::Exclusions;
pub use scene::joint_path::{JointPath, LinkPose};
pub use scene::motion::Motion;
pub use scene::packed_body::PackedBody;
pub use scene::packed_motion::PackedMotion;
pub use scene::pairs::Pairs;
pub use scene::pose::Pose;
pub use scene::ray::Ray;
pub use scene::ray_columns::{PointColumns, RayColumns};
pub use scene::shape_cast::{ShapeCast, ShapeCastColumns};
pub use shape::rows::{NearestBody, ShapeCastAny, ShapeCastFirst, ShapeCastHit};
pub use sweep::rows::{Sweep, SweepOutcome};
#[cfg(all(feature = "gpu", any(feature = "inspect", test)))]
pub(crate) use {
    broad_phase::kernels::KERNELS as BROAD_KERNELS, narrow_phase::kernels::KERNELS,
    query::gpu::events::KERNELS as EVENT_KERNELS, query::gpu::poses::KERNELS as POSE_KERNELS,
    ray::kernels::KERNELS as RAY_KERNELS, sweep::kernels::KERNELS as SWEEP_KERNELS,
};
