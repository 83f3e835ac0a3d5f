//! Friction in floats: how it is read, and what distances over it are.
//!
//! A distance in a tile is the bits of a float: those of numbers that are not negative sort like them, so stores, borders and queues hold whole numbers of 64 bits all the same.
//! Each is the least of the sums along all paths, rounded step by step from the goal outward. Rounding keeps the order of two numbers, so neither tiles nor threads change it.

use std::ops::Range;

use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::source::{Raster, RasterWindow};
use crate::flow::raster::store::RASTER_UNREACHABLE;
use crate::flow::weighted::distance::power_of_two;
use crate::flow::weighted::geographic::Geographic;
use crate::flow::weighted::lengths::{Lengths, check_moves};

/// What friction is multiplied by, as a power of two: then no sum along a path overflows, not even where fill values are the largest number that there is.
const FACTOR_POWER: i32 = -123;
/// Friction of less than two to this power would lose bits.
const LEAST_POWER: i32 = -837;

/// Friction in floats, and cells of any width and height: then distances are floats too.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct FrictionOptions {
    /// The size of a cell along x and y, in the units of the map, each more than 0. By default 1, and distances are in cells.
    pub cell_size: [f64; 2],
    /// Where cells lie on a globe, if columns are meridians and rows parallels: then lengths are in metres, and [`cell_size`](Self::cell_size) is not looked at.
    pub geographic: Option<Geographic>,
    /// The largest distance, in the units of the map times those of friction. Cells farther than this are left unreachable. `None`: no limit.
    pub max_distance: Option<f64>,
}

impl Default for FrictionOptions {
    fn default() -> Self {
        Self { cell_size: [1.0; 2], geographic: None, max_distance: None }
    }
}

/// What was solved over friction in floats.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FrictionReport {
    /// The largest distance of a reached cell, in the units of the map times those of friction.
    pub farthest: f64,
    /// The largest relative error of any distance: that of adding up the steps of a path in f64, of which there may be as many as there are reached cells. Lengths on a globe add
    /// 1e-9.
    pub error_bound: f64,
}

impl FrictionReport {
    pub(crate) fn new(options: &FrictionOptions, farthest: u64, reached_count: u64) -> Self {
        /// Roundings in the weight of a move.
        const WEIGHT_ROUNDINGS: f64 = 16.0;
        let roundings = reached_count as f64 + WEIGHT_ROUNDINGS;
        Self { farthest: options.to_map(farthest), error_bound: 1.01 * roundings * (f64::EPSILON / 2.0) }
    }
}

impl FrictionOptions {
    /// # Errors
    /// [`Error::Value`] for an option outside its range.
    pub(crate) fn check(&self, connectivity: Connectivity, size: [u32; 2]) -> Result<()> {
        check_moves(connectivity, self.cell_size, self.geographic.as_ref(), size[1])?;
        match self.max_distance {
            Some(distance) if !(distance >= 0.0) => {
                let allowed = "it must be 0 or more";
                Err(Error::value(Location::Argument, "max_distance", shown(distance), allowed))
            }
            _ => Ok(()),
        }
    }

    /// The lengths of the steps of some rows, of as many as the raster has.
    pub(crate) fn lengths(&self, rows: Range<u32>, row_count: u32) -> Lengths {
        Lengths::new(self.cell_size, self.geographic.as_ref(), rows, row_count)
    }

    /// The unit of lengths.
    fn unit(&self) -> f64 {
        self.lengths(0..0, 1).unit
    }

    /// The largest distance, as tiles hold it.
    pub(crate) fn limit(&self) -> u64 {
        // The factor allows for the rounding of a distance that is exactly the limit.
        let limit =
            |distance: f64| distance / self.unit() * power_of_two(FACTOR_POWER) * (1.0 + 8.0 * f64::EPSILON);
        self.max_distance.map_or(f64::MAX, limit).min(f64::MAX).to_bits()
    }

    /// A distance that a tile holds, in the units of the map; infinite where none is reached.
    pub(crate) fn to_map(self, distance: u64) -> f64 {
        float_of(distance) / power_of_two(FACTOR_POWER) * self.unit()
    }
}

/// A distance that a tile holds, as a float; infinite where none is reached.
pub(crate) fn float_of(distance: u64) -> f64 {
    if distance == RASTER_UNREACHABLE { f64::INFINITY } else { f64::from_bits(distance) }
}

/// Reads the friction of a window as tiles are solved with it: times a power of two, and 0 for barriers.
///
/// # Errors
/// What the raster gives; [`Error::Value`] at a cell whose friction is too small to keep its bits.
pub(crate) fn read(raster: &dyn Raster, window: RasterWindow, friction: &mut Vec<f64>) -> Result<()> {
    friction.clear();
    friction.resize(window.cell_count(), 0.0);
    raster.read_friction(window, friction)?;
    let (factor, least) = (power_of_two(FACTOR_POWER), power_of_two(LEAST_POWER));
    let mut too_small = None;
    for (index, value) in friction.iter_mut().enumerate() {
        let is_free = *value > 0.0 && *value < f64::INFINITY;
        if is_free && *value < least {
            too_small = too_small.or(Some((index, *value)));
        }
        *value = if is_free { *value * factor } else { 0.0 };
    }
    let Some((index, value)) = too_small else { return Ok(()) };
    let (x, y) = (index as u32 % window.width, index as u32 / window.width);
    let cell = Cell::from([(window.x + x) as i32, (window.y + y) as i32]);
    let allowed = "in tiles it must be 1e-251 or more, or a barrier: 0, negative, or not a number";
    Err(Error::value(Location::Cell(cell), "friction", shown(value), allowed))
}
