//! Rooms in two dimensions: shortest paths between walls, by the true shortest path or by the funnel within one strip.

pub(crate) mod build;
pub(crate) mod edit;
pub(crate) mod query;
pub(crate) mod search;

pub use build::options::Options;
pub use build::rings::{Repair, RepairKind};
pub use query::paths::{Finder, FunnelSteps, Method, PathOptions};
pub use query::place::Point;
pub use query::raycast::RayHit;
pub use query::room::Room;
pub use query::wall::WallDistance;
pub use search::funnel::{FunnelMove, Strip};
pub use search::path::{Crossing, Path};
