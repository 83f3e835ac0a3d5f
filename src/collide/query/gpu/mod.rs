//! The GPU engine's frame: upload of bodies, boxes, candidate pairs, GJK, EPA on pairs near the surface, readback of rows.
//! A sweep cuts the paths of its pairs down first, and then casts them (`sweeps`).
//!
//! A query is a chain of frames. The first frame uploads the bodies and processes as many pairs as earlier queries needed (the
//! high-water mark). Its results say exactly how many pairs and rows there are, and further frames process the rest. So nothing is
//! lost, and in a coherent stream each query needs one frame. Pairs are processed in windows of bounded size, so memory does not
//! grow with their number. Bodies and hulls that do not fit in one binding are processed part by part (`parts`).
//!
//! Memory of a frame, staging apart. A body takes 128 bytes with the tree: `PackedBody` 80, leaf 32, nodes 32 / 3, count 4, digits of the
//! sort 1 past 32,768 bodies. Below 2,049 bodies, where there is no tree, it takes 144: `PackedBody` 80, `Aabb` 32, counts 32. A box more, 32,
//! is kept where heavy rows are searched, and a sweep's motion takes 32. A candidate pair takes 28: pair 8, verdict 4, entry in the refine list
//! 4, row 12, and a quarter (counts of the compaction). A given pair has an axis of 12 bytes instead of the row. Measuring queries and sweeps
//! take 32 more for each pair, and their rows are 48 bytes. Lists of pairs have room for an eighth more than the last query needed, and for 16 a
//! body in the first. `memory` has the sum for each query; its tests compare it with what frames take.

pub(crate) mod arena;
pub(crate) mod broad;
pub(crate) mod candidates;
pub(crate) mod device;
pub(crate) mod events;
pub(crate) mod features;
pub(crate) mod hulls;
pub(crate) mod measures;
pub(crate) mod memory;
pub(crate) mod narrow;
pub(crate) mod parts;
pub(crate) mod poses;
pub(crate) mod prepare;
pub(crate) mod ray_hulls;
pub(crate) mod rays;
pub(crate) mod rules;
pub(crate) mod statics;
pub(crate) mod sweeps;
pub(crate) mod tree;
pub(crate) mod verdicts;
