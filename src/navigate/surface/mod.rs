//! Surfaces of 3D models: paths over them, walls and ceilings too.

pub(crate) mod geodesic;
pub(crate) mod mesh;
pub(crate) mod query;

pub use mesh::build::{ModelFace, SurfaceOptions, SurfaceReport};
pub use mesh::model::Model;
pub use mesh::progress::{BuildProgress, BuildStage};
pub use query::cost::CostPath;
pub use query::field::SurfaceField;
pub use query::path::{PathLink, PathPlace, SurfacePath, SurfacePoint, SurfaceReach};
pub use query::paths::SurfaceMethod;
pub use query::place::SurfacePlace;
pub use query::surface::{Surface, SurfaceLink};
pub use query::walk::SurfaceHit;
pub use query::wall::SurfaceWall;
