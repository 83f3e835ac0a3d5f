//! The navigation mesh of a room: convex cells made from rings or given, and what follows from them.

pub(crate) mod arrangement;
pub(crate) mod blocks;
pub(crate) mod candidates;
pub(crate) mod cells;
pub(crate) mod check;
pub(crate) mod convex;
pub(crate) mod doors;
pub(crate) mod grid;
pub(crate) mod nonconvex;
pub(crate) mod offset;
pub(crate) mod options;
pub(crate) mod polyanya_mesh;
pub(crate) mod rings;
pub(crate) mod source;
pub(crate) mod triangulate;
