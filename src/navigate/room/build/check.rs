//! Checks of a room's arguments, and the errors of its construction.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
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

/// Refuses a radius that is negative or not finite.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if !(0.0..f64::INFINITY).contains(&radius) {
        return Err(Error::value(
            Location::Argument,
            "radius",
            shown(radius),
            "it must be 0 or more and finite",
        ));
    }
    Ok(())
}

/// The error of an arrangement whose segments cross too densely at a place.
pub(crate) fn too_dense(place: DVec2) -> Error {
    let at = shown_point(&place.to_array());
    Error::invalid(
        Location::Argument,
        format!(
            "edges cross too densely at {at} for f64 to separate them; leave out points that are closer together than the coordinates' rounding"
        ),
    )
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
