//! Whole costs for friction, and the error that they make.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::cost_distance::friction::{FrictionSlice, FrictionValue};
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::source::RasterWindow;
use crate::flow::weighted::distance::{exponent, power_of_two};
use crate::flow::weighted::rule::{CostRule, MoveCosts, StepLengths};

/// The most units in the length of the shortest step.
const MAX_UNITS: u32 = 1 << 14;
/// The largest ratio of the sizes of a cell.
const MAX_RATIO: f64 = 1000.0;
/// A move weighs less than two to this power.
const WEIGHT_BITS: i32 = 47;
/// The least friction becomes a cost of at least two to this power, unless the largest one would become too large. Then all bits of an f32 are kept.
const MIN_COST_BITS: i32 = 23;

/// Whole numbers for friction: costs for a [`Raster`](crate::flow::Raster), and distances back.
///
/// A cost is `factor` times the friction, rounded; `factor` is a power of two. The lengths of steps are the whole numbers that
/// fit the cell's sizes and its diagonal best. The cost of any path, so computed, is off by no more than [`error_bound`](Self::error_bound) times itself.
///
/// A scale is fixed by the range of friction alone, so the tiles of a raster can be scaled one at a time.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{Connectivity, CostRule, FrictionScale, MemoryRaster, MemoryTiles};
/// use hullfield::flow::{RasterOptions, RasterWindow, solve_raster};
///
/// // Friction of three cells, each 30 m by 30 m.
/// let scale = FrictionScale::new([0.5, 2.0], Connectivity::Four, CostRule::Mean, [30.0, 30.0])?;
/// let window = RasterWindow { x: 0, y: 0, width: 3, height: 1 };
/// let mut costs = vec![0; 3];
/// scale.costs(&[1.0_f32, 2.0, 0.5], window, &mut costs)?;
///
/// let raster = MemoryRaster::new([3, 1], costs)?;
/// let (tiles, options) = (MemoryTiles::default(), scale.raster_options());
/// let field = solve_raster(&raster, &[[0, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
/// let distances = field.distances(window)?;
/// assert_eq!(distances.iter().map(|&distance| scale.distance(distance)).collect::<Vec<_>>(), [0.0, 45.0, 82.5]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrictionScale {
    pub(crate) moves: MoveCosts,
    /// The least and the largest friction.
    range: [f64; 2],
    /// What friction is multiplied by: a power of two.
    factor: f64,
    /// The length of one unit of the steps, in the units of the map.
    length_unit: f64,
    /// The least and the largest relative error of a step's length.
    length_errors: [f64; 2],
}

impl FrictionScale {
    /// The scale for friction from `range[0]` to `range[1]`, for cells of this size along x and y, in the units of the map.
    ///
    /// # Errors
    /// [`Error::Value`] for a range that is not positive, finite and in order, for a size that is not positive, finite and within 1,000 times the other,
    /// and for a connectivity of three dimensions.
    pub fn new(
        range: [f64; 2],
        connectivity: Connectivity,
        cost_rule: CostRule,
        cell_size: [f64; 2],
    ) -> Result<Self> {
        let refuse = |field, value: String, allowed: &str| {
            Err(Error::value(Location::Argument, field, value, allowed))
        };
        if !(range[0] > 0.0 && range[0] <= range[1] && range[1] < f64::INFINITY) {
            let allowed = "it must be the least and the largest friction, both finite and more than 0";
            return refuse("range", format!("{range:?}"), allowed);
        }
        check_moves(connectivity, cell_size)?;
        let (lengths, length_unit, length_errors) = step_lengths(cell_size, connectivity);
        let moves = MoveCosts { connectivity, rule: cost_rule, lengths };
        let [least, most] = range.map(exponent);
        let longest = lengths.longest(connectivity).next_power_of_two().ilog2() as i32;
        let max_cost_bits = 32.min(WEIGHT_BITS - 1 - longest);
        let power = (MIN_COST_BITS - least).min(max_cost_bits - 1 - most);
        Ok(Self { moves, range, factor: power_of_two(power), length_unit, length_errors })
    }

    /// What friction is multiplied by.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The lengths of steps, in [`length_unit`](Self::length_unit)s.
    pub fn step_lengths(&self) -> StepLengths {
        self.moves.lengths
    }

    /// The length of one unit of the steps, in the units of the map.
    pub fn length_unit(&self) -> f64 {
        self.length_unit
    }

    /// What one unit of whole distances is, in the units of the map times those of friction.
    pub fn unit(&self) -> f64 {
        self.length_unit / self.factor / self.moves.rule.cell_count() as f64
    }

    /// A whole distance in the units of the map times those of friction; infinite for
    /// [`RASTER_UNREACHABLE`](crate::flow::RASTER_UNREACHABLE).
    pub fn distance(&self, distance: u64) -> f64 {
        if distance == u64::MAX { f64::INFINITY } else { distance as f64 * self.unit() }
    }

    /// The largest whole distance that is no more than `distance`.
    pub fn whole_distance(&self, distance: f64) -> u64 {
        // The factor allows for the rounding of a quotient that is a whole number.
        (distance / self.unit() * (1.0 + 8.0 * f64::EPSILON)) as u64
    }

    /// The cost of a friction: 1 or more; 0 for a barrier, which is friction that is not a number, infinite, 0 or negative.
    pub fn cost(&self, friction: f64) -> u32 {
        let mut cost = [0];
        scale_row(&[friction], self.factor, &mut cost);
        cost[0]
    }

    /// Writes the costs of the friction of a window, row-major, as [`Raster::read`](crate::flow::Raster::read) is asked to.
    ///
    /// # Errors
    /// [`Error::Count`] if the lengths are not those of the window; [`Error::Value`] at the first cell whose friction is outside the range of the scale.
    pub fn costs<F: FrictionValue>(
        &self,
        friction: &[F],
        window: RasterWindow,
        costs: &mut [u32],
    ) -> Result<()> {
        self.costs_inner(F::slice(friction), window, costs)
    }

    fn costs_inner(
        &self,
        friction: FrictionSlice<'_>,
        window: RasterWindow,
        costs: &mut [u32],
    ) -> Result<()> {
        match friction {
            FrictionSlice::Single(friction) => self.costs_of(friction, window, costs),
            FrictionSlice::Double(friction) => self.costs_of(friction, window, costs),
        }
    }

    fn costs_of<F: FrictionValue>(
        &self,
        friction: &[F],
        window: RasterWindow,
        costs: &mut [u32],
    ) -> Result<()> {
        for (what, given) in [("values of friction", friction.len()), ("costs", costs.len())] {
            if given != window.cell_count() {
                let allowed = format!("the window has {} cells", window.cell_count());
                return Err(Error::Count { at: Location::Argument, what, given: given as u64, allowed });
            }
        }
        scale_row(friction, self.factor, costs);
        let [least, most] = self.range;
        let is_outside = |value: &F| {
            let value: f64 = (*value).into();
            value > 0.0 && value < f64::INFINITY && !(least..=most).contains(&value)
        };
        let Some(index) = friction.iter().position(is_outside) else { return Ok(()) };
        let (x, y) = (index as u32 % window.width, index as u32 / window.width);
        let cell = Cell::from([(window.x + x) as i32, (window.y + y) as i32]);
        let value: f64 = friction[index].into();
        let allowed = format!("the scale was made for friction from {least} to {most}");
        Err(Error::value(Location::Cell(cell), "friction", value, allowed))
    }

    /// The options that [`solve_raster`](crate::flow::solve_raster) needs for these costs.
    pub fn raster_options(&self) -> crate::flow::raster::options::RasterOptions {
        crate::flow::raster::options::RasterOptions {
            connectivity: self.moves.connectivity,
            cost_rule: self.moves.rule,
            step_lengths: Some(self.moves.lengths),
            ..Default::default()
        }
    }

    /// The largest relative error of a path's cost, for any friction in the range of the scale: of the rounding of friction and of the lengths
    /// of steps together.
    pub fn error_bound(&self) -> f64 {
        // Half a unit; a cost that would be 0 is 1.
        let rounding = if self.range[0] * self.factor < 0.5 { 1.0 } else { 0.5 };
        let cost_error = rounding / (self.range[0] * self.factor);
        let [shortest, longest] = self.length_errors;
        let longest = (1.0 + longest) * (1.0 + cost_error) - 1.0;
        let shortest = 1.0 - (1.0 + shortest) * (1.0 - cost_error).max(0.0);
        // This arithmetic rounds too.
        longest.max(shortest).max(0.0) + 4.0 * f64::EPSILON
    }
}

/// # Errors
/// [`Error::Value`] for a connectivity of three dimensions, and for a size outside its range.
pub(crate) fn check_moves(connectivity: Connectivity, cell_size: [f64; 2]) -> Result<()> {
    let refuse =
        |field, value: String, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
    if connectivity.dimension() != 2 {
        let allowed = "a raster has two dimensions: Four or Eight";
        return refuse("connectivity", format!("{connectivity:?}"), allowed);
    }
    let [width, height] = cell_size;
    if !(width > 0.0 && height > 0.0 && width.max(height) < f64::INFINITY) {
        return refuse("cell_size", format!("{cell_size:?}"), "both must be finite and more than 0");
    }
    if width.max(height) > MAX_RATIO * width.min(height) {
        return refuse("cell_size", format!("{cell_size:?}"), "one may be up to 1,000 times the other");
    }
    Ok(())
}

/// Whole lengths of steps: the unit along the shorter side is such that the others are nearly whole too. Also the length of a unit, and the
/// least and the largest relative error of a length.
fn step_lengths(cell_size: [f64; 2], connectivity: Connectivity) -> (StepLengths, f64, [f64; 2]) {
    let shorter = cell_size[0].min(cell_size[1]);
    let longer = cell_size[0].max(cell_size[1]) / shorter;
    let diagonal = (1.0 + longer * longer).sqrt();
    let has_diagonals = connectivity.neighbour_count() > 4;
    let mut best = (f64::INFINITY, 1, [0.0; 2]);
    for units in 1..=MAX_UNITS {
        let error = |length: f64| (length * f64::from(units)).round() / (length * f64::from(units)) - 1.0;
        let errors = [error(longer), if has_diagonals { error(diagonal) } else { 0.0 }];
        let largest = errors[0].abs().max(errors[1].abs());
        // Errors below this are those of f64.
        if largest < best.0 && best.0 > 1e-14 {
            best = (largest, units, [errors[0].min(errors[1]).min(0.0), errors[0].max(errors[1]).max(0.0)]);
        }
    }
    let (_, units, errors) = best;
    let whole = |length: f64| (length * f64::from(units)).round() as u32;
    let [x, y] = if cell_size[0] <= cell_size[1] { [units, whole(longer)] } else { [whole(longer), units] };
    (StepLengths { x, y, diagonal: whole(diagonal) }, shorter / f64::from(units), errors)
}

/// Added to a number from 0 to 2³², it leaves the nearest whole number in the lowest bits.
const TO_WHOLE: f64 = (1_u64 << 52) as f64;

/// Writes `factor` times friction, rounded to whole numbers from 1 to 2³² − 1; 0 for barriers.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn scale_row<F: FrictionValue>(friction: &[F], factor: f64, costs: &mut [u32]) {
    for (cost, &value) in costs.iter_mut().zip(friction) {
        let value: f64 = value.into();
        let is_free = (value > 0.0) & (value < f64::INFINITY);
        let scaled = if is_free { value * factor } else { 0.0 };
        let most = if scaled < f64::from(u32::MAX) { scaled } else { f64::from(u32::MAX) };
        let least = if (most < 1.0) & is_free { 1.0 } else { most };
        *cost = (least + TO_WHOLE).to_bits() as u32;
    }
}
