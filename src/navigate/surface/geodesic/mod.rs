//! Shortest paths over triangles: windows (Mitchell, Mount, Papadimitriou 1987), strips of triangles, and the funnel within a strip.

pub(crate) mod bucket_queue;
pub(crate) mod landmark;
pub(crate) mod landmark_heuristic;
pub(crate) mod nodes;
pub(crate) mod propagate;
pub(crate) mod prune;
pub(crate) mod release;
pub(crate) mod search;
pub(crate) mod side_frame;
pub(crate) mod straighten;
pub(crate) mod strip;
pub(crate) mod unfold;
pub(crate) mod wall_boxes;
pub(crate) mod window;
