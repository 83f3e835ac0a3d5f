//! Shortest paths: rooms in two dimensions and surfaces in three, each in a folder of its own.
//!
//! What rooms and surfaces share is `heap.rs` and `predicate.rs`. Nothing here knows of a GPU.

mod heap;
mod predicate;
mod room;
mod surface;

pub use room::{
    Crossing, Finder, FunnelMove, FunnelSteps, Method, PathEnd, RayHit, Reach, Repair, RepairKind, Room,
    RoomOptions, RoomPath, Strip, WallDistance,
};
pub use surface::{
    BuildProgress, BuildStage, CostPath, Model, ModelFace, PathLink, PathPlace, Surface, SurfaceField,
    SurfaceHit, SurfaceLink, SurfaceMethod, SurfaceOptions, SurfacePath, SurfacePlace, SurfacePoint,
    SurfaceReach, SurfaceReport, SurfaceWall,
};
