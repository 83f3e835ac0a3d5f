//! Checks of a room's arguments, and the errors of its construction.

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::arrangement::CuttingError;
use crate::navigate::room::build::triangulate::Failure;
use crate::navigate::shared::predicate::MAX_COORDINATE;

/// Refuses a point of a query that is not finite or too large. It need not be in the room.
pub(crate) fn check_query_point(field: &'static str, point: [f64; 2]) -> Result<()> {
    if !point.iter().all(|x| x.is_finite() && x.abs() <= MAX_COORDINATE) {
        let value = shown_point(&point);
        return Err(Error::value(
            Location::Argument,
            field,
            value,
            "its coordinates must be finite and at most 1e60",
        ));
    }
    Ok(())
}

/// Refuses a radius that is negative, not finite or larger than any room.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if !(0.0..=MAX_COORDINATE).contains(&radius) {
        return Err(Error::value(Location::Argument, "radius", shown(radius), "it must be from 0 to 1e60"));
    }
    Ok(())
}

/// The error of edges that can't be cut where they meet.
pub(crate) fn not_cut(error: CuttingError) -> Error {
    let message = match error {
        CuttingError::Dense(place) => format!(
            "edges cross too densely at {} for f64 to separate them; leave out points that are closer together than the coordinates' rounding",
            shown_point(&place.to_array())
        ),
        CuttingError::Crowded(limit) => {
            format!(
                "edges meet in more than {limit} places, too many for rings of so few points; mend the rings"
            )
        }
    };
    Error::invalid(Location::Argument, message)
}

/// The error of a triangulation that could not be made.
pub(crate) fn triangulation_failed(failure: Failure) -> Error {
    let message = match failure {
        Failure::Crossing(place) => {
            format!("two edges still cross at {} after they were cut", shown_point(&place.to_array()))
        }
        Failure::Refused => "the constrained triangulation refused its points".to_owned(),
    };
    Error::internal("navigate::room::triangulate", message)
}
