//! Doors and obstacles: the record of the edits, and the local meshes that replace cells around obstacles.

pub(crate) mod edits;
pub(crate) mod local_mesh;
