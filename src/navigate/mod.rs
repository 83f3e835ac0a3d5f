//! Shortest paths: rooms in two dimensions, by the true shortest path or by the funnel within one strip.
//!
//! What rooms and surfaces share is `heap.rs` and `predicate.rs`. Nothing here knows of a GPU.

mod arrange;
mod blocks;
mod build;
mod cells;
mod dents;
mod edit;
mod finder;
mod funnel;
mod grid;
mod heap;
mod mesh_file;
mod offset;
mod patch;
mod path;
mod predicate;
mod rings;
mod room;
mod search;
mod squeeze;
mod triangulate;
mod walls;

pub use finder::{Finder, FunnelSteps, Method};
pub use funnel::{FunnelMove, Strip};
pub use path::{Crossing, PathEnd, Reach, RoomPath};
pub use rings::{Repair, RepairKind};
pub use room::{Room, RoomOptions};
pub use walls::{RayHit, WallDistance};
