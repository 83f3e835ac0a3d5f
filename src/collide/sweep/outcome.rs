//! The result of a sweep for one pair.

use glam::DVec3;

use crate::collide::sweep::rows::{Sweep, SweepOutcome};

/// The result of a sweep for one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Swept {
    pub(crate) outcome: SweepOutcome,
    /// Time of impact in seconds; 0 unless it is a hit.
    pub(crate) time: f64,
    /// Unit normal from `a` to `b`; 0 for a miss.
    pub(crate) normal: DVec3,
}

impl Swept {
    pub(crate) const MISS: Self = Self { outcome: SweepOutcome::Miss, time: 0.0, normal: DVec3::ZERO };

    /// Marks a pair whose start is still to be measured.
    pub(crate) const START: Self = Self { outcome: SweepOutcome::Touching, time: 0.0, normal: DVec3::ZERO };

    pub(crate) fn is_start(&self) -> bool {
        *self == Self::START
    }

    pub(crate) fn hit(time: f64, normal: DVec3) -> Self {
        Self { outcome: SweepOutcome::Hit, time, normal }
    }

    pub(crate) fn touching(normal: DVec3) -> Self {
        Self { outcome: SweepOutcome::Touching, time: 0.0, normal }
    }

    pub(crate) fn row(&self, a: u32, b: u32, duration: f64) -> Sweep {
        let missed = self.outcome == SweepOutcome::Miss;
        Sweep {
            a,
            b,
            part_a: 0,
            part_b: 0,
            outcome: self.outcome,
            time: if missed { duration } else { self.time },
            normal: (!missed).then_some(self.normal.to_array()),
            points: None,
            separation: None,
        }
    }
}
