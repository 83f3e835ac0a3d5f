//! What a room refuses, and the errors that say so.

use glam::DVec2;

use crate::error::{Error, Result};
use crate::navigate::room::build::triangulate::Failure;
use crate::navigate::shared::predicate::MAX_COORDINATE;

/// A point that is asked about may be anywhere, but somewhere.
pub(crate) fn check_end(field: &'static str, point: [f64; 2]) -> Result<()> {
    if !point.iter().all(|x| x.is_finite() && x.abs() <= MAX_COORDINATE) {
        let value = format!("({}, {})", point[0], point[1]);
        return Err(Error::RoomField { field, value, expected: "it must be finite and at most 1e60" });
    }
    Ok(())
}

/// Refuses a radius that no agent has.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if !(0.0..f64::INFINITY).contains(&radius) {
        return Err(Error::RoomField {
            field: "radius",
            value: radius.to_string(),
            expected: "it must be finite and at least 0",
        });
    }
    Ok(())
}

/// The error of an arrangement whose segments cross too densely at a place.
pub(crate) fn endless(place: DVec2) -> Error {
    let message = "its crossings are too dense for f64: they can't be cut apart".into();
    Error::RoomRing { ring: 0, place: place.to_array(), message }
}

/// The error of a triangulation that could not be made.
pub(crate) fn failed(failure: Failure) -> Error {
    let (place, message) = match failure {
        Failure::Crossing(place) => (place.to_array(), "two edges cross that could not be cut"),
        Failure::Refused => ([f64::NAN; 2], "the triangulation refused its points"),
    };
    Error::RoomRing { ring: 0, place, message: message.into() }
}
