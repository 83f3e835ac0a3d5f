//! What a cost distance is asked for.

use crate::flow::grid::moves::{Connectivity, Corners};
use crate::flow::weighted::geographic::Geographic;
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
    /// Where cells lie on a globe, if columns are meridians and rows parallels: then lengths are in metres, and [`cell_size`](Self::cell_size) is not looked at.
    pub geographic: Option<Geographic>,
    /// The largest distance, in the units of the map times those of friction. Cells farther than this are not reached. `None`: no limit.
    pub max_distance: Option<f64>,
    /// Whether [`CostDistance::distances`](crate::flow::CostDistance::distances) are returned. By default they are.
    pub distances: bool,
    /// Whether [`CostDistance::allocation`](crate::flow::CostDistance::allocation) is returned.
    pub allocation: bool,
    /// Whether [`CostDistance::next`](crate::flow::CostDistance::next) is returned, which paths are read from.
    pub next: bool,
    /// The heights of the ground: then the length of a step is that over the ground. `None`: the ground is flat.
    pub slope: Option<Slope>,
}

/// Ground that rises and falls. The length of a step is √(run² + rise²), times a factor that depends on the slope.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{CostDistanceOptions, Slope, cost_distance};
///
/// // Up 3 on a run of 4, where climbing costs twice as much; the target is on top.
/// let slope = Slope { elevation: vec![0.0, 3.0], factors: vec![[0.0, 1.0], [0.75, 2.0]], ..Default::default() };
/// let options = CostDistanceOptions { cell_size: [4.0, 4.0], slope: Some(slope), ..Default::default() };
/// let solved = cost_distance([2, 1], &[1.0_f32; 2], &[[1, 0].into()], &options, |_| ControlFlow::Continue(()))?;
/// assert_eq!(solved.distances, [10.0, 0.0]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Slope {
    /// The height of each cell, row-major, in the units of [`cell_size`](CostDistanceOptions::cell_size), on a globe in metres. A cell whose height is not finite is a barrier.
    pub elevation: Vec<f32>,
    /// Slopes (rise over run along the path; 1 is 45° up, −1 is 45° down), ascending, each with the factor of a step of this slope, more than 0. Between two of them the
    /// factor is linear, beyond the first and the last it is theirs. Empty: 1 everywhere. [`tobler`](Self::tobler) is one such table.
    pub factors: Vec<[f64; 2]>,
    /// Whether paths are walked from the target to the cell; by default they are walked from the cell to the target. What is uphill one way is downhill the
    /// other.
    pub is_outward: bool,
}

impl Slope {
    /// Factors of Tobler's hiking function (1993): the time for a step on a slope over that for one on flat ground. A walker is fastest at a slope of −0.05.
    /// From −2 to 2, in steps of 1/400; between these the table is within 1e-5 of the function.
    ///
    /// With a friction of 1 / 5.037 everywhere and lengths in kilometres, distances are hours.
    pub fn tobler() -> Vec<[f64; 2]> {
        let factor = |slope: f64| libm::exp(3.5 * ((slope + 0.05).abs() - 0.05));
        (-800..=800).map(|step| f64::from(step) / 400.0).map(|slope| [slope, factor(slope)]).collect()
    }
}

impl Default for CostDistanceOptions {
    fn default() -> Self {
        Self {
            connectivity: Connectivity::Eight(Corners::Any),
            cost_rule: CostRule::Mean,
            cell_size: [1.0; 2],
            geographic: None,
            max_distance: None,
            distances: true,
            allocation: false,
            next: false,
            slope: None,
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
