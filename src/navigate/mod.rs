//! Shortest paths: rooms in two dimensions and surfaces in three, each in a folder of its own.
//!
//! What rooms and surfaces share is in `shared`. Nothing here knows of a GPU.

pub(crate) mod room;
pub(crate) mod shared;
pub(crate) mod surface;

pub use room::{
    Crossing, Finder, FunnelMove, FunnelSteps, Method, RayHit, Reach, Repair, RepairKind, Room, RoomOptions,
    RoomPath, Strip, WallDistance,
};
pub use shared::path_end::PathEnd;
pub use surface::{
    BuildProgress, BuildStage, CostPath, Model, ModelFace, PathLink, PathPlace, Surface, SurfaceField,
    SurfaceHit, SurfaceLink, SurfaceMethod, SurfaceOptions, SurfacePath, SurfacePlace, SurfacePoint,
    SurfaceReach, SurfaceReport, SurfaceWall,
};
