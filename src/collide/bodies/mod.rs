//! Bodies over time: a set with stable ids, and events of its pairs, on top of the queries of an arena.

pub(crate) mod events;
pub(crate) mod id;
pub(crate) mod rows;
pub(crate) mod set;
pub(crate) mod slots;
