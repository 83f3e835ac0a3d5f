//! The input of queries: bodies, poses and pairs, as plain data that knows no engine.

pub(crate) mod body;
pub(crate) mod body_pose;
pub(crate) mod bounds;
pub(crate) mod budget;
pub(crate) mod columns;
pub(crate) mod exclusions;
pub(crate) mod far;
pub(crate) mod frame;
pub(crate) mod joint_path;
pub(crate) mod layout;
pub(crate) mod motion;
pub(crate) mod packed_body;
pub(crate) mod packed_motion;
pub(crate) mod pairs;
pub(crate) mod placed;
pub(crate) mod pose;
pub(crate) mod quads;
pub(crate) mod query_input;
pub(crate) mod ray;
pub(crate) mod ray_columns;
pub(crate) mod rigid;
pub(crate) mod rules;
pub(crate) mod shape_cast;
pub(crate) mod statics;
pub(crate) mod stored;
pub(crate) mod world_ranges;
