//! Trees of world boxes in Morton order: pure geometry, which knows no bodies.

pub(crate) mod aabb;
pub(crate) mod morton;
pub(crate) mod near_first;
pub(crate) mod packing;
pub(crate) mod static_tree;
pub(crate) mod tree;
