//! Sweeps: when bodies that move first meet.
//!
//! A pair whose bodies do not turn is cast in f32 ([`pair`]) and, where that can't promise its answer, in f64; one with a
//! body that turns goes step by step in f64 ([`turn`]), unless a cast of thicker bodies shows a miss. On a GPU engine the
//! cast is a kernel ([`kernels`], `gpu/sweeps.rs`), and what it leaves open comes back here.

mod cast;
mod job;
pub(crate) mod kernels;
mod pair;
mod turn;

use glam::DVec3;

use super::query::{Sweep, SweepOutcome};
pub(crate) use job::{Query, check, sweeps};

/// The answer for one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Swept {
    pub(crate) outcome: SweepOutcome,
    /// Seconds; 0 but for a hit.
    time: f64,
    /// Unit normal from `a` to `b`; 0 for a miss.
    normal: DVec3,
}

impl Swept {
    pub(crate) const MISS: Self = Self { outcome: SweepOutcome::Miss, time: 0.0, normal: DVec3::ZERO };

    /// Stands for a pair whose start is to be looked at.
    const START: Self = Self { outcome: SweepOutcome::Touching, time: 0.0, normal: DVec3::ZERO };

    fn is_start(&self) -> bool {
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
            outcome: self.outcome,
            time: if missed { duration } else { self.time },
            normal: (!missed).then_some(self.normal.to_array()),
        }
    }
}
