//! Whole weights for moves over ground that rises and falls, and the error that they make.

use crate::error::{Error, Location, Result, shown};
use crate::flow::cost_distance::friction;
use crate::flow::cost_distance::friction::{FrictionCounts, FrictionValue};
use crate::flow::cost_distance::options::{CostDistanceOptions, Slope};
use crate::flow::cost_distance::scale::{exponent, power_of_two};
use crate::flow::weighted::slope::{FactorTable, SlopeCosts};
use crate::flow::weighted::window::FAR;
use crate::parallel;

/// A move weighs less than two to this power.
const MAX_WEIGHT_BITS: i32 = 51;
/// Sizes of cells whose squares f64 holds.
const SIZES: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// Rows for one thread at a time.
const PASS_ROWS: usize = 64;

/// The scale of the weights over some ground.
#[derive(Clone, Copy)]
pub(crate) struct SlopeScale<'a> {
    pub(crate) costs: SlopeCosts<'a>,
    /// What friction is multiplied by so that the largest is from 1 to 2: a power of two.
    pub(crate) factor: f64,
    /// The least and the largest friction, so multiplied.
    range: [f64; 2],
    /// The least and the largest length of a step, times its factor.
    lengths: [f64; 2],
}

impl<'a> SlopeScale<'a> {
    /// The scale for friction over some ground.
    pub(crate) fn new<F: FrictionValue>(
        size: [usize; 2],
        friction: &[F],
        counts: &FrictionCounts,
        options: &CostDistanceOptions,
        slope: &'a Slope,
        table: &'a FactorTable,
    ) -> Self {
        let [x, y] = options.cell_size;
        let runs = [x, y, (x * x + y * y).sqrt()];
        let rise = largest_rise(size, friction, &slope.elevation);
        let has_diagonals = options.connectivity.neighbour_count() > 4;
        let longest_run = if has_diagonals { runs[2] } else { x.max(y) };
        let factors = || slope.factors.iter().map(|&[_, factor]| factor);
        let (least, most) = (factors().reduce(f64::min), factors().reduce(f64::max));
        let longest = (longest_run * longest_run + rise * rise).sqrt() * most.unwrap_or(1.0);
        let lengths = [x.min(y) * least.unwrap_or(1.0), longest];
        let factor = power_of_two(-exponent(counts.max));
        let range = [counts.min, counts.max].map(|friction| friction * factor);
        let shares = options.cost_rule.cell_count() as f64;
        // A path across the raster, as long as its sides, comes to a quarter of `FAR`, and the largest weight to what `SlopeCosts` can round.
        let typical_factor = (least.unwrap_or(1.0) * most.unwrap_or(1.0)).sqrt();
        let across =
            (size[0] + size[1]) as f64 * shares * counts.typical() * factor * x.max(y) * typical_factor;
        let power = (MAX_WEIGHT_BITS - 1 - exponent(shares * 2.0 * longest))
            .min(FAR.ilog2() as i32 - 3 - exponent(across));
        let costs = SlopeCosts {
            connectivity: options.connectivity,
            rule: options.cost_rule,
            size,
            elevation: &slope.elevation,
            runs,
            factors: table,
            is_outward: slope.is_outward,
            scale: power_of_two(power),
        };
        Self { costs, factor, range, lengths }
    }

    /// The same with weights that are smaller by `2^bits`.
    pub(crate) fn coarser(self, bits: u32) -> Self {
        let scale = self.costs.scale * power_of_two(-(bits as i32));
        Self { costs: SlopeCosts { scale, ..self.costs }, ..self }
    }

    /// What one unit of whole distances is.
    pub(crate) fn unit(&self) -> f64 {
        1.0 / (self.costs.scale * self.factor * self.shares())
    }

    fn shares(&self) -> f64 {
        self.costs.rule.cell_count() as f64
    }

    /// At least the largest weight of a move, where cells have the friction `friction`.
    pub(crate) fn longest_weight(&self, friction: f64) -> f64 {
        (friction * self.factor * self.shares() * self.lengths[1] * self.costs.scale).ceil() + 1.0
    }

    /// The weight of a step along an axis on flat ground, between cells of this friction.
    pub(crate) fn typical_weight(&self, friction: f64) -> f64 {
        let [x, y, _] = self.costs.runs;
        friction * self.factor * self.shares() * x.max(y) * self.costs.scale
    }

    /// The largest relative error of a path's cost, where friction is off by no more than `rounding` of itself.
    pub(crate) fn bound(&self, rounding: f64) -> f64 {
        let least = self.range[0] * self.shares() * self.lengths[0] * self.costs.scale;
        // Half a unit; a weight that would be 0 is 1. The arithmetic of lengths and factors rounds a few times.
        let weight_error = if least < 1.0 { 1.0 / least } else { 0.5 / least };
        (1.0 + rounding) * (1.0 + weight_error) - 1.0 + 32.0 * f64::EPSILON
    }
}

/// # Errors
/// [`Error::Count`] unless there is a height for each cell; [`Error::Value`] for sizes of cells, slopes and factors outside their range.
pub(crate) fn check(slope: &Slope, cell_size: [f64; 2], cell_count: usize) -> Result<()> {
    let given = slope.elevation.len();
    if given != cell_count {
        let allowed = format!("the raster has {cell_count} cells");
        return Err(Error::Count { at: Location::Argument, what: "heights", given: given as u64, allowed });
    }
    if cell_size.iter().any(|size| !SIZES.contains(size)) {
        let allowed = "over slopes both must be from 1e-100 to 1e100";
        return Err(Error::value(Location::Argument, "cell_size", format!("{cell_size:?}"), allowed));
    }
    for &[slope, factor] in &slope.factors {
        if !(factor > 0.0 && factor < f64::INFINITY) {
            return Err(Error::value(
                Location::Argument,
                "factor",
                shown(factor),
                "factors of slopes are finite and more than 0",
            ));
        }
        if !slope.is_finite() {
            return Err(Error::value(Location::Argument, "slope", shown(slope), "slopes are finite"));
        }
    }
    if let Some(pair) = slope.factors.windows(2).find(|pair| !(pair[0][0] < pair[1][0])) {
        let allowed = format!("slopes ascend, and the one before is {}", pair[0][0]);
        return Err(Error::value(Location::Argument, "slope", shown(pair[1][0]), allowed));
    }
    Ok(())
}

/// The largest difference in height between two neighbours that are no barriers.
fn largest_rise<F: FrictionValue>([width, height]: [usize; 2], friction: &[F], elevation: &[f32]) -> f64 {
    let height_of =
        |index: usize| friction::is_free(friction[index].into()).then_some(f64::from(elevation[index]));
    let rows: Vec<usize> = (0..height).collect();
    let parts = parallel::map_shares(&rows, PASS_ROWS, |&y| {
        let mut largest = 0.0_f64;
        for x in 0..width {
            let at = y * width + x;
            let Some(own) = height_of(at) else { continue };
            let beside = [
                (x + 1 < width).then_some(at + 1),
                (y + 1 < height).then_some(at + width),
                (y + 1 < height && x > 0).then(|| at + width - 1),
                (y + 1 < height && x + 1 < width).then_some(at + width + 1),
            ];
            for other in beside.into_iter().flatten().filter_map(height_of) {
                largest = largest.max((own - other).abs());
            }
        }
        largest
    });
    parts.into_iter().fold(0.0, f64::max)
}
