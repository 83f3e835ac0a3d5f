//! Trees of world boxes in Morton order: pure geometry, which knows no bodies.

pub(crate) mod aabb;
pub(crate) mod kept_tree;
pub(crate) mod morton;
pub(crate) mod near_first;
pub(crate) mod packing;
mod refit;
pub(crate) mod static_tree;
pub(crate) mod tree;
mod tree_cost;
