//! `hullfield.navigate.surface`.

pub(crate) mod field;
pub(crate) mod handle;
mod paths;
pub(crate) mod places;
pub(crate) mod query;
mod rows;
mod topology;

pub(crate) use paths::path_at;
