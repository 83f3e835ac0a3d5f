//! Rooms in two dimensions: shortest paths between walls, by the true shortest path or by the funnel within one strip.

mod arrange;
mod blocks;
mod build;
mod cells;
mod changes;
mod check;
mod convex;
mod dents;
mod edit;
mod finder;
mod funnel;
mod grid;
mod memory;
mod mesh_file;
mod offset;
mod options;
mod patch;
mod path;
mod rings;
mod search;
mod squeeze;
mod state;
mod triangulate;
mod walls;

pub use finder::{Finder, FunnelSteps, Method};
pub use funnel::{FunnelMove, Strip};
pub use options::RoomOptions;
pub use path::{Crossing, PathEnd, Reach, RoomPath};
pub use rings::{Repair, RepairKind};
pub use state::Room;
pub use walls::{RayHit, WallDistance};
