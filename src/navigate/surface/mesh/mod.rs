//! The triangle mesh of a surface: built from models, welded, refined, and indexed by position.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod degenerate;
pub(crate) mod model;
pub(crate) mod polygon;
pub(crate) mod progress;
pub(crate) mod refine;
pub(crate) mod t_junctions;
pub(crate) mod topology;
pub(crate) mod tree;
pub(crate) mod walkable;
pub(crate) mod weld;
