//! Relaxation of grids of two dimensions whose moves have weights: what a move costs may depend on both of its cells.
//!
//! Tiles of 16 × 16 cells are relaxed row by row, as in `field/cpu/relax.rs`. Here a window holds the weight of each move of each
//! cell, so one kernel serves every rule: walls and corner rules are weights too large to lower a distance. Weights and distances
//! are whole numbers of 64 bits or f64 (`distance.rs`), and every distance is the length of a real path, so any order of the work, and any number of
//! threads, gives the same field.

pub(crate) mod codes;
pub(crate) mod costs;
pub(crate) mod distance;
pub(crate) mod geographic;
pub(crate) mod improve;
pub(crate) mod lengths;
pub(crate) mod rule;
pub(crate) mod slope;
pub(crate) mod tiles;
pub(crate) mod weights;
pub(crate) mod window;
