//! `hullfield.collide`.

pub(crate) mod arena;
pub(crate) mod columns;
pub(crate) mod hull;
pub(crate) mod pair;
pub(crate) mod robot;
mod rows;
