//! Bodies of several hulls.

pub(crate) mod body;
pub(crate) mod boxes;
pub(crate) mod columns;
pub(crate) mod compounds;
pub(crate) mod crowd;
pub(crate) mod field;
pub(crate) mod field_casts;
pub(crate) mod field_nearest;
pub(crate) mod field_rays;
pub(crate) mod field_rows;
pub(crate) mod field_scenes;
pub(crate) mod field_set;
pub(crate) mod height_field;
pub(crate) mod hits;
pub(crate) mod job;
pub(crate) mod layout;
pub(crate) mod nearest;
pub(crate) mod part;
pub(crate) mod rays;
pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod shape;
pub(crate) mod shapes;
pub(crate) mod statics;
pub(crate) mod sweeps;
pub(crate) mod whole;
