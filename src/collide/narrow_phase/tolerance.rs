//! The tolerance τ of a pair, and the status of an exact gap.

use crate::collide::narrow_phase::status::Status;

/// The tolerance τ of a pair at a signed gap, from the smaller and the sum of its bounding radii.
pub(crate) fn tolerance(smaller: f64, sum: f64, gap: f64) -> f64 {
    (1e-5 * smaller).max(4e-6 * (sum + gap.max(0.0)))
}

/// The status of a gap whose error is far below the tolerance. The thresholds are in the middle of the band where either status is
/// allowed.
pub(crate) fn status_of_gap(gap: f64, tolerance: f64) -> Status {
    if gap > 0.5 * tolerance {
        Status::Separated
    } else if gap < -0.5 * tolerance {
        Status::Penetrating
    } else {
        Status::Touching
    }
}
