//! `hullfield.navigate.room`.

pub(crate) mod handle;
mod paths;
mod query;
mod rows;
mod shared;

pub(crate) use paths::room_path_at;
