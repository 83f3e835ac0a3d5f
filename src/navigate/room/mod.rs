//! Rooms in two dimensions: shortest paths between walls, by the true shortest path or by the funnel within one strip.

pub(crate) mod arrange;
pub(crate) mod blocks;
pub(crate) mod build;
pub(crate) mod cells;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod convex;
pub(crate) mod dents;
pub(crate) mod edit;
pub(crate) mod finder;
pub(crate) mod funnel;
pub(crate) mod grid;
pub(crate) mod memory;
pub(crate) mod mesh_file;
pub(crate) mod offset;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod path;
pub(crate) mod rings;
pub(crate) mod search;
pub(crate) mod squeeze;
pub(crate) mod state;
pub(crate) mod triangulate;
pub(crate) mod walls;

pub use finder::{Finder, FunnelSteps, Method};
pub use funnel::{FunnelMove, Strip};
pub use options::Options;
pub use path::{Crossing, Path, Reach};
pub use rings::{Repair, RepairKind};
pub use state::Room;
pub use walls::{RayHit, WallDistance};
