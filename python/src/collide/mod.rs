//! `hullfield.collide`.

pub(crate) mod arena;
pub(crate) mod bodies;
pub(crate) mod columns;
pub(crate) mod compounds;
pub(crate) mod hull;
pub(crate) mod pair;
pub(crate) mod robot;
pub(crate) mod robot_files;
mod rows;
