//! What a query refuses.

use crate::error::{Error, Result};

/// A point that a query was given.
pub(crate) fn check(field: &'static str, point: [f64; 3]) -> Result<()> {
    // Squares of distances must be finite.
    if point.iter().all(|part| part.abs() <= 1e150) {
        return Ok(());
    }
    let expected = "its coordinates must be finite, and at most 1e150";
    Err(Error::SurfaceField { field, value: format!("{point:?}"), expected })
}
