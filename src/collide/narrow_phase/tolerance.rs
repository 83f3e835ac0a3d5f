//! The tolerance τ of a pair, and the verdict of a gap that is known to far less.

use crate::collide::narrow_phase::status::Status;

/// The tolerance τ of a pair at a signed gap.
pub(crate) fn tolerance(smaller: f64, sum: f64, gap: f64) -> f64 {
    (1e-5 * smaller).max(4e-6 * (sum + gap.max(0.0)))
}

/// The verdict of a gap known to far less than the tolerance: in the middle of the band that either may be given in.
pub(crate) fn status_of_gap(gap: f64, tolerance: f64) -> Status {
    if gap > 0.5 * tolerance {
        Status::Separated
    } else if gap < -0.5 * tolerance {
        Status::Penetrating
    } else {
        Status::Touching
    }
}
