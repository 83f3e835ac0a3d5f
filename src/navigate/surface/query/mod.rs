//! The handle [`Surface`](crate::navigate::surface::Surface) and its queries.

pub(crate) mod cost;
pub(crate) mod field;
pub(crate) mod file;
pub(crate) mod link;
pub(crate) mod path;
pub(crate) mod paths;
pub(crate) mod place;
pub(crate) mod random;
pub(crate) mod raycast;
pub(crate) mod scratch;
pub(crate) mod surface;
pub(crate) mod wall;
#[cfg(feature = "serde")]
mod wire;
