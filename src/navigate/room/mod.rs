//! Rooms in two dimensions: paths between walls, either the true shortest path or the shortest within one strip of cells.
//!
//! A [`Room`] is made from a polygon with holes ([`Room::new`]), from a navigation mesh ([`Room::from_cells`]), or from a `.mesh` file
//! ([`Room::from_polyanya_mesh`]). Queries need no engine and no GPU. Coordinates are f64 in units of the caller's choice.
//!
//! ```
//! use hullfield::navigate::room::{Options, PathOptions, Room};
//!
//! // A navigation mesh: vertices, and convex cells as counter-clockwise indices. Cells that share an edge are connected.
//! let vertices = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0], [8.0, 2.0], [8.0, 6.0], [4.0, 6.0]];
//! let cells: [&[u32]; 2] = [&[0, 1, 2, 3], &[3, 2, 4, 5, 6]];
//! let room = Room::from_cells(&vertices, &cells, Options::default())?;
//!
//! // One path; where there is none, `reach` says why.
//! let path = room.path([1.0, 1.0], [7.0, 3.0], &PathOptions::default())?;
//! assert!(path.is_reached());
//! assert_eq!(path.cells, [0, 1]);
//!
//! // Many paths, on all cores.
//! let queries = [[[1.0, 1.0], [7.0, 3.0]], [[1.0, 1.0], [5.0, 5.0]]];
//! let paths = room.paths(&queries, &PathOptions::default())?;
//! assert_eq!(paths.stats.reached_count, 2);
//! # Ok::<(), hullfield::Error>(())
//! ```

pub(crate) mod build;
pub(crate) mod edit;
pub(crate) mod query;
pub(crate) mod search;

pub use build::doors::FreeDoorEnd;
pub use build::options::Options;
pub use build::rings::{Repair, RepairKind};
pub use query::paths::{Finder, FunnelSteps, Method, PathOptions};
pub use query::place::Point;
pub use query::raycast::RayHit;
pub use query::room::Room;
pub use query::wall::WallDistance;
pub use search::funnel::{FunnelMove, Strip};
pub use search::path::{Crossing, Path, PathPlace};
