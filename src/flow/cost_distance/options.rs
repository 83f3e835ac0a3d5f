//! What a cost distance is asked for.

use crate::flow::grid::moves::{Connectivity, Corners};
use crate::flow::weighted::rule::CostRule;

/// How cost distances are computed, and what is returned.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct CostDistanceOptions {
    /// The neighbours of a cell: [`Connectivity::Four`] or [`Connectivity::Eight`]. By default eight, and moves cut corners
    /// ([`Corners::Any`]), as in GRASS's `r.cost` and in xarray-spatial.
    pub connectivity: Connectivity,
    /// Which cells' friction a move pays. By default [`CostRule::Mean`].
    pub cost_rule: CostRule,
    /// The size of a cell along x and y, in the units of the map, each more than 0. By default 1, and distances are in cells.
    pub cell_size: [f64; 2],
    /// The largest distance, in the units of the map times those of friction. Cells farther than this are not reached. `None`: no limit.
    pub max_distance: Option<f64>,
    /// Whether [`CostDistance::distances`](crate::flow::CostDistance::distances) are returned. By default they are.
    pub distances: bool,
    /// Whether [`CostDistance::allocation`](crate::flow::CostDistance::allocation) is returned.
    pub allocation: bool,
    /// Whether [`CostDistance::next`](crate::flow::CostDistance::next) is returned, which paths are read from.
    pub next: bool,
}

impl Default for CostDistanceOptions {
    fn default() -> Self {
        Self {
            connectivity: Connectivity::Eight(Corners::Any),
            cost_rule: CostRule::Mean,
            cell_size: [1.0; 2],
            max_distance: None,
            distances: true,
            allocation: false,
            next: false,
        }
    }
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostDistanceProgress {
    /// Tiles of 16 × 16 cells.
    pub tile_count: u64,
    /// Tiles that have been solved at least once.
    pub solved_count: u64,
    /// Tiles solved so far, each as often as it was.
    pub visit_count: u64,
}
