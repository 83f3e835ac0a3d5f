//! What doors and obstacles change: the record of the edits, and the cells that stand in for others meanwhile.

pub(crate) mod changes;
pub(crate) mod local_mesh;
