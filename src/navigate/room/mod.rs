//! Rooms in two dimensions: paths between walls, either the true shortest path or the shortest within one strip of cells.

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
