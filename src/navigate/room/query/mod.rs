//! The handle [`Room`](crate::navigate::room::Room), its construction, its edits and its queries.

pub(crate) mod construct;
pub(crate) mod edit;
pub(crate) mod paths;
pub(crate) mod place;
pub(crate) mod raycast;
pub(crate) mod room;
pub(crate) mod wall;
#[cfg(feature = "serde")]
mod wire;
