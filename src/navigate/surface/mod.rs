//! Surfaces of 3D models: paths over floors, walls and ceilings.
//!
//! A [`Surface`] is built from one or several [`Model`]s, which are points and faces ([`Surface::new`]), or loaded from bytes
//! ([`Surface::from_bytes`]). All triangles are walkable at first; [`Surface::set_walkable_slope`] and its like change that. Queries need no
//! engine and no GPU. Coordinates are f64 in units of the caller's choice.
//!
//! ```
//! use hullfield::navigate::surface::{Method, Model, Options, PathOptions, Surface};
//!
//! // A floor and a ramp that share an edge: points, and faces as indices of points.
//! let points = vec![
//!     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
//!     [8.0, 0.0, 3.0], [8.0, 4.0, 3.0],
//! ];
//! let mut surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]])], Options::default())?;
//! surface.set_walkable_slope([0.0, 0.0, 1.0], 50.0)?;
//!
//! // One path; where there is none, `reach` says why. Ends are moved to the nearest walkable point.
//! let path = surface.path([1.0, 2.0, 0.0], [8.0, 2.0, 3.0], &PathOptions::from(Method::Exact))?;
//! assert!((path.length - 8.0).abs() < 1e-12); // three over the floor, five up the ramp
//!
//! // Many paths, on all cores.
//! let queries = [[[1.0, 2.0, 0.0], [8.0, 2.0, 3.0]], [[1.0, 2.0, 0.0], [3.0, 2.0, 0.0]]];
//! let paths = surface.paths(&queries, &PathOptions::default())?;
//! assert_eq!(paths.stats.reached_count, 2);
//! # Ok::<(), hullfield::Error>(())
//! ```

pub(crate) mod geodesic;
pub(crate) mod mesh;
pub(crate) mod query;

pub use mesh::build::{LoadOptions, ModelFace, Options, Report};
pub use mesh::model::Model;
pub use mesh::progress::{BuildProgress, BuildStage};
pub use mesh::t_junctions::TJunction;
pub use query::cost::CostPath;
pub use query::field::Field;
pub use query::path::{Path, PathLink, PathPlace, Point};
pub use query::paths::{Method, PathOptions};
pub use query::place::Place;
pub use query::raycast::RayHit;
pub use query::surface::{Link, Surface};
pub use query::wall::WallDistance;
