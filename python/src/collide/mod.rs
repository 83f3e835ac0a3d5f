//! `hullfield.collide`.

pub(crate) mod arena;
pub(crate) mod columns;
pub(crate) mod hull;
mod rows;
