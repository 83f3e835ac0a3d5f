//! What a query refuses.

use crate::error::{Error, Location, Result, shown_point};

/// Refuses a point whose coordinates are not finite or too large.
pub(crate) fn check(at: Location, field: &'static str, point: [f64; 3]) -> Result<()> {
    // Squares of distances must be finite.
    if point.iter().all(|part| part.abs() <= 1e150) {
        return Ok(());
    }
    let allowed = "its coordinates must be finite and at most 1e150";
    Err(Error::value(at, field, shown_point(&point), allowed))
}
