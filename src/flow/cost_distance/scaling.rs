//! How friction becomes whole weights: over flat ground or over slopes.

use crate::flow::cost_distance::friction;
use crate::flow::cost_distance::friction::{FrictionCounts, FrictionValue};
use crate::flow::cost_distance::scale::FrictionScale;
use crate::flow::cost_distance::slope_scale::SlopeScale;
use crate::flow::weighted::costs::TileCosts;
use crate::flow::weighted::weights::Weighing;
use crate::flow::weighted::window::FAR;

/// How friction becomes whole weights.
#[derive(Clone, Copy)]
pub(crate) enum Scaling<'a> {
    Flat(FrictionScale),
    Slope(SlopeScale<'a>),
}

impl<'a> Scaling<'a> {
    /// Weights so coarse that no path that visits each cell once comes to 2⁶⁰.
    pub(crate) fn coarser(self, counts: &FrictionCounts, cell_count: usize) -> Self {
        // A cell is entered and left once. A cost or a weight is at least 1.
        let longest = match self {
            Self::Flat(scale) => {
                let costs = counts.sum * scale.factor() + cell_count as f64;
                2.0 * f64::from(scale.step_lengths().longest(scale.moves.connectivity)) * costs
            }
            Self::Slope(scale) => 2.0 * (scale.longest_weight(counts.sum) + cell_count as f64),
        };
        let bits = ((longest / FAR as f64).log2() + 1.0).ceil().clamp(1.0, 1000.0) as u32;
        match self {
            Self::Flat(scale) => Self::Flat(scale.coarser(bits)),
            Self::Slope(scale) => Self::Slope(scale.coarser(bits)),
        }
    }

    /// The costs of all cells, in tiles. Also the rounding that [`bound`](Self::bound) is asked with.
    pub(crate) fn costs<F: FrictionValue>(self, size: [usize; 2], friction: &[F]) -> (TileCosts, f64) {
        let width = size[0];
        let row = |y: usize| &friction[y * width..(y + 1) * width];
        match self {
            Self::Flat(scale) => {
                TileCosts::new(size, |y, costs| friction::scale_row(row(y), scale.factor(), costs))
            }
            Self::Slope(scale) => {
                TileCosts::new(size, |y, costs| friction::narrow_row(row(y), scale.factor, costs))
            }
        }
    }

    pub(crate) fn weighing(self) -> Weighing<'a> {
        match self {
            Self::Flat(scale) => Weighing::Costs(scale.moves),
            Self::Slope(scale) => Weighing::Slope(scale.costs),
        }
    }

    /// The weight of a step along an axis between cells of this friction.
    pub(crate) fn typical_weight(self, friction: f64) -> u64 {
        match self {
            Self::Flat(scale) => {
                let cost = (friction * scale.factor()) as u32;
                scale.moves.weight(0, cost, cost).max(scale.moves.weight(1, cost, cost))
            }
            Self::Slope(scale) => scale.typical_weight(friction) as u64,
        }
    }

    /// At least the largest weight of a move between cells of this friction.
    pub(crate) fn longest_weight(self, friction: f64) -> u64 {
        match self {
            Self::Flat(scale) => scale.moves.longest_weight(scale.cost(friction)),
            Self::Slope(scale) => scale.longest_weight(friction) as u64,
        }
    }

    /// What one unit of whole distances is, in the units of the map times those of friction.
    pub(crate) fn unit(self) -> f64 {
        match self {
            Self::Flat(scale) => scale.unit(),
            Self::Slope(scale) => scale.unit(),
        }
    }

    /// The largest relative error of a path's cost.
    pub(crate) fn bound(self, rounding: f64) -> f64 {
        match self {
            Self::Flat(scale) => scale.bound(rounding),
            Self::Slope(scale) => scale.bound(rounding),
        }
    }
}
