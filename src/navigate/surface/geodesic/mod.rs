//! Shortest paths over triangles: windows (Mitchell, Mount and Papadimitriou 1987), strips, and strips pulled tight.

pub(crate) mod approximate;
pub(crate) mod calendar_queue;
pub(crate) mod guide;
pub(crate) mod landmark;
pub(crate) mod nodes;
pub(crate) mod propagate;
pub(crate) mod straighten;
pub(crate) mod strip;
pub(crate) mod unfold;
pub(crate) mod wall_boxes;
pub(crate) mod window;
