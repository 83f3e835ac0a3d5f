//! The measurement of one pair.

use glam::DVec3;

use crate::collide::narrow_phase::status::Status;

/// The measurement of one pair, rounding included, in world units and axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) status: Status,
    /// Signed: the distance, or minus the depth.
    pub(crate) gap: f64,
    /// Unit vector from `a` to `b`.
    pub(crate) normal: DVec3,
    /// The witness point on the surface of `a`.
    pub(crate) on_a: DVec3,
}

impl Measured {
    /// The witness point on the surface of `b`: the other one moved by the gap along the normal.
    #[inline(always)]
    pub(crate) fn on_b(&self) -> DVec3 {
        self.on_a + self.normal * self.gap
    }

    /// The measurement of the same pair in the other order.
    #[inline(always)]
    pub(crate) fn swapped(&self) -> Self {
        Self { normal: -self.normal, on_a: self.on_b(), ..*self }
    }

    /// Whether a query with a margin lists the pair. Pairs that touch are always listed.
    #[inline(always)]
    pub(crate) fn is_within(&self, margin: f64) -> bool {
        self.gap <= margin || self.status.is_hit()
    }
}

/// The result of the f32 measurement of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Measured(Measured),
    /// Farther apart than the query lists.
    Beyond,
    /// Only f64 can decide.
    Open,
}
