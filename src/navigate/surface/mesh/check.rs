//! Checks of points, and the tolerance for degenerate triangles.

use crate::error::{Error, Location, Result, shown_point};

/// Relative to the longest side: the height that the rounding of lengths alone gives a degenerate triangle.
const LENGTH_ROUNDING: f64 = 1e-14;

/// Relative to the largest coordinate: the height that the rounding of its corners gives a degenerate triangle.
const CORNER_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Relative to the longest side: a triangle of this height has an area, however coarsely its corners are rounded.
const MAX_TOLERANCE: f64 = 0.1;

/// Relative to the longest side: a triangle of no greater height is degenerate, given the rounding of its corners.
pub(crate) fn height_tolerance(max_coordinate: f64, longest_side: f64) -> f64 {
    (CORNER_ROUNDING * (max_coordinate / longest_side)).clamp(LENGTH_ROUNDING, MAX_TOLERANCE)
}

/// Refuses a point whose coordinates are not finite or too large.
pub(crate) fn check(at: Location, field: &'static str, point: [f64; 3]) -> Result<()> {
    // Squared distances must stay finite.
    if point.iter().all(|part| part.abs() <= 1e150) {
        return Ok(());
    }
    let allowed = "its coordinates must be finite and at most 1e150";
    Err(Error::value(at, field, shown_point(&point), allowed))
}
