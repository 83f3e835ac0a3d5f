//! The GPU engine's frame: upload of bodies, boxes, candidate pairs, GJK, EPA on pairs near the surface, readback of rows.
//! A sweep cuts the paths of its pairs down first, and then casts them (`sweeps`).
//!
//! A query is a chain of frames. The first frame uploads the bodies and processes as many pairs as earlier queries needed (the
//! high-water mark). Its results say exactly how many pairs and rows there are, and further frames process the rest. So nothing is
//! lost, and in a coherent stream each query needs one frame. Pairs are processed in windows of bounded size, so memory does not
//! grow with their number. Bodies and hulls that do not fit in one binding are processed part by part (`parts`).
//!
//! Memory of a frame: 180 bytes for each body (`PackedBody` 80, `Aabb` 32, tree 68) and 28 for each candidate pair (pair 8, verdict
//! 4, entry in the refine list 4, row 12) plus a quarter byte (counts of the compaction). A given pair has an axis of 12 bytes
//! instead of the row. Measuring queries and sweeps take 32 more for each pair, and their rows are 48 bytes. A sweep's motions take 32
//! for each body.

pub(crate) mod arena;
pub(crate) mod broad;
pub(crate) mod candidates;
pub(crate) mod device;
pub(crate) mod features;
pub(crate) mod hulls;
pub(crate) mod measures;
pub(crate) mod narrow;
pub(crate) mod parts;
pub(crate) mod prepare;
pub(crate) mod statics;
pub(crate) mod sweeps;
pub(crate) mod verdicts;
