//! The tolerance τ of a pair, and the gap up to which it touches.

/// A pair whose gap is at most this share of τ, in either direction, touches.
pub(crate) const TOUCHING_SHARE: f64 = 0.75;

/// The tolerance τ of a pair at a signed gap, from the smaller and the sum of its bounding radii.
pub(crate) fn tolerance(smaller: f64, sum: f64, gap: f64) -> f64 {
    (1e-5 * smaller).max(4e-6 * (sum + gap.max(0.0)))
}

/// An upper bound of the greatest gap at which a pair touches: τ grows with the gap.
pub(crate) fn touching_limit(smaller: f64, sum: f64) -> f64 {
    TOUCHING_SHARE * tolerance(smaller, sum, 0.0) * (1.0 + 4e-6)
}
