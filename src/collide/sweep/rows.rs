//! The rows of a sweep.

use crate::collide::narrow_phase::rows::Stats;
#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;

/// Whether a pair meets during a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SweepOutcome {
    /// The bodies meet after the start.
    Hit,
    /// They do not meet.
    Miss,
    /// They touch or overlap at the start.
    Touching,
}

/// The first time of impact of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweep {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// Whether they meet.
    pub outcome: SweepOutcome,
    /// When they first meet, in seconds; 0 where they touch at the start, the duration where they miss.
    pub time: f64,
    /// The contact's unit normal from `a` to `b` at that time, world frame; `None` where they miss.
    pub normal: Option<[f64; 3]>,
}

/// The first times of impact of all pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweeps {
    /// For [`Pairs::Near`] and [`Pairs::Every`] the pairs that meet alone, `a < b`, sorted by `(a, b)`; for
    /// [`Pairs::Given`] one row for each pair, in their order.
    pub rows: Vec<Sweep>,
    /// What it took.
    pub stats: Stats,
}
