//! Shortest paths: rooms in two dimensions, in a folder of their own.
//!
//! What rooms and surfaces share is `heap.rs` and `predicate.rs`. Nothing here knows of a GPU.

mod heap;
mod predicate;
mod room;

pub use room::{
    Crossing, Finder, FunnelMove, FunnelSteps, Method, PathEnd, RayHit, Reach, Repair, RepairKind, Room,
    RoomOptions, RoomPath, Strip, WallDistance,
};
