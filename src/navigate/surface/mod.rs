//! Surfaces of 3D models: paths over floors, walls and ceilings.

pub(crate) mod geodesic;
pub(crate) mod mesh;
pub(crate) mod query;

pub use mesh::build::{LoadOptions, ModelFace, Options, Report};
pub use mesh::model::Model;
pub use mesh::progress::{BuildProgress, BuildStage};
pub use query::cost::CostPath;
pub use query::field::Field;
pub use query::path::{Path, PathLink, PathPlace, Point};
pub use query::paths::{Method, PathOptions};
pub use query::place::Place;
pub use query::raycast::RayHit;
pub use query::surface::{Link, Surface};
pub use query::wall::WallDistance;
