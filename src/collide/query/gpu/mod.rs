//! The GPU engine's frame: bodies up, bounds, candidate pairs, GJK, EPA on the near ones, rows back.
//! A sweep cuts its pairs' ways down first and casts them instead (`sweeps`).
//!
//! A job is a chain of frames. The first one uploads and works through as many pairs as the engine has room
//! for (the high-water mark of earlier jobs); when its results arrive they say exactly how many pairs and
//! rows there are, and what did not fit is done in further frames: nothing is lost, and a coherent stream of
//! jobs needs one frame each. Pairs are worked through in windows of bounded size, so memory does not grow
//! with their number. Bodies and hulls that do not fit in one binding are asked about part by part (`parts`).
//!
//! Memory of a frame: 180 bytes a body (`PackedBody` 80, `Aabb` 32, tree 68) and 28 a candidate
//! pair (pair 8, verdict 4, list entry of the pairs to refine 4, row 12) plus a quarter (counts of the
//! compaction); with given pairs instead of the row an axis of 12. Where it measures or sweeps, a pair takes 32 more, and
//! a row is 48; a sweep's motions take 32 a body.

pub(crate) mod arena;
pub(crate) mod broad;
pub(crate) mod candidates;
pub(crate) mod device;
pub(crate) mod hulls;
pub(crate) mod measures;
pub(crate) mod narrow;
pub(crate) mod parts;
pub(crate) mod prepare;
pub(crate) mod statics;
pub(crate) mod sweeps;
pub(crate) mod verdicts;
