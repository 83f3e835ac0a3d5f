//! The rows of a sweep.

use crate::collide::narrow_phase::measured::Measured;
#[cfg(doc)]
use crate::collide::narrow_phase::rows::Contact;

/// Whether the bodies of a pair meet during a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Sweep {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
    /// Whether they meet.
    pub outcome: SweepOutcome,
    /// When they first meet, in seconds; 0 where they touch at the start, the duration where they miss.
    pub time: f64,
    /// The contact's unit normal from `a` to `b` at that time, world frame; `None` where they miss.
    pub normal: Option<[f64; 3]>,
    /// The points of `a` and of `b` that meet, at that time, world frame. The second minus the first is `separation` times the contact's
    /// normal there. `None` where they miss, and without
    /// [`SweepOptions::witness`](crate::collide::SweepOptions::witness).
    pub points: Option<[[f64; 3]; 2]>,
    /// The signed distance of the bodies at that time, in world units, as [`Contact::separation`]: within the tolerance of 0 for a hit,
    /// and minus the depth where they overlap at the start. `None` where `points` is.
    pub separation: Option<f64>,
}

impl Sweep {
    /// Sets the points and the separation measured at the time of impact.
    pub(crate) fn set_witness(&mut self, measured: Option<&Measured>) {
        self.points = measured.map(|found| [found.on_a.to_array(), found.on_b().to_array()]);
        self.separation = measured.map(|found| found.gap);
    }
}
