//! The triangles of a surface: made of models, welded, cut, and found by position.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod degenerate;
pub(crate) mod model;
pub(crate) mod polygon;
pub(crate) mod progress;
pub(crate) mod refine;
pub(crate) mod topology;
pub(crate) mod tree;
pub(crate) mod weld;
