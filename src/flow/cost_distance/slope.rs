//! What is allowed of ground that rises and falls.

use crate::error::{Error, Location, Result, shown};
use crate::flow::cost_distance::options::Slope;

/// Sizes of cells whose squares f64 holds.
const SIZES: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

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
