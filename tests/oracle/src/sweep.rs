//! Checks claimed times of impact in f64, by gaps and projections at single times.
//!
//! For bodies that do not rotate the gap is a convex function of time, and the separation along an axis is linear. So a hit is
//! proved by the gap at its time and an axis without overlap both then and at the start. For a miss the least gap is found by
//! golden-section search. For bodies that rotate, the speed of any point is bounded by the relative velocity and each spin times
//! the distance from its axis. So the gap at a time bounds it for some time after, and such steps cover the time up to the claim
//! (conservative advancement).

use glam::{DQuat, DVec3};

use crate::body64::Body64;
use crate::gap::{Gap, gap64};
use crate::{Pose, Shape, tolerance};

/// The motion of a body: its velocity, and its spin about world axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// World units a second.
    pub velocity: [f32; 3],
    /// Radians a second.
    pub spin: [f32; 3],
}

/// A claim about a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// The time of impact in seconds, and the unit normal from the first to the second.
    Hit(f64, [f64; 3]),
    /// They do not touch.
    Miss,
    /// They touch at the start, with this normal.
    Touching([f64; 3]),
}

/// Two moving bodies.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The hulls.
    pub shapes: [&'a Shape; 2],
    /// Their poses at the start.
    pub poses: [Pose; 2],
    /// Their motions.
    pub motions: [Motion; 2],
}

/// Two moving bodies that turn about other points than their positions, as parts of bodies do.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// The hulls, their poses at the start without their positions, and their motions: the velocities are those of the points that the bodies
    /// turn about.
    pub pair: Pair<'a>,
    /// From the first's position at the start to the second's.
    pub between: DVec3,
    /// From the point that each turns about to its position at the start, world axes.
    pub arms: [DVec3; 2],
}

fn vector(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

impl<'a> Pair<'a> {
    /// Both turn about their positions.
    fn carried(&self) -> Carried<'a> {
        let between = self.poses[1].position64() - self.poses[0].position64();
        Carried { pair: *self, between, arms: [DVec3::ZERO; 2] }
    }

    /// The signed gap at a time.
    pub fn gap(&self, time: f64) -> f64 {
        self.carried().gap(time)
    }

    /// The separation along an axis from the first to the second, at a time.
    pub fn separation(&self, time: f64, axis: [f64; 3]) -> f64 {
        self.carried().separation(time, axis)
    }

    /// The tolerance: τ of the pair at this gap, or 1e-9 S if `exact`, plus the rounding of times in f64 over the distance moved.
    pub fn tolerance(&self, gap: f64, duration: f64, exact: bool) -> f64 {
        self.carried().tolerance(gap, duration, exact)
    }

    /// Checks a claim: see [`Carried::check`].
    ///
    /// # Errors
    /// A message about the wrong claim.
    pub fn check(&self, duration: f64, claim: Claim, exact: bool) -> Result<bool, String> {
        self.carried().check(duration, claim, exact)
    }
}

impl Carried<'_> {
    /// Both bodies at a time, relative to where the first would be if it did not turn.
    fn at(&self, time: f64) -> [Body64; 2] {
        let body = |k: usize, offset: DVec3| {
            let (pose, spin) = (&self.pair.poses[k], vector(self.pair.motions[k].spin));
            let since = DQuat::from_scaled_axis(spin * time);
            let offset = offset + (since * self.arms[k] - self.arms[k]);
            let turn = since * pose.rotation64();
            Body64::new(self.pair.shapes[k], turn, pose.scale64(), f64::from(pose.radius), offset)
        };
        [body(0, DVec3::ZERO), body(1, self.between - self.velocity() * time)]
    }

    /// The velocity of the first relative to the second.
    fn velocity(&self) -> DVec3 {
        vector(self.pair.motions[0].velocity) - vector(self.pair.motions[1].velocity)
    }

    fn rotates(&self) -> bool {
        self.pair.motions.iter().any(|motion| motion.spin != [0.0; 3])
    }

    /// The signed gap at a time.
    pub fn gap(&self, time: f64) -> f64 {
        let [a, b] = self.at(time);
        gap64(&a, &b).gap
    }

    /// The separation along an axis from the first to the second, at a time.
    pub fn separation(&self, time: f64, axis: [f64; 3]) -> f64 {
        let n = DVec3::from(axis);
        let [a, b] = self.at(time);
        if a.plane.is_some_and(|plane| plane.dot(n) < 1.0 - 1e-12)
            || b.plane.is_some_and(|plane| plane.dot(-n) < 1.0 - 1e-12)
        {
            return f64::NEG_INFINITY;
        }
        b.low(n) - a.high(n) - a.rounding - b.rounding
    }

    /// R and S.
    fn radii(&self) -> [f64; 2] {
        let [a, b] = [0, 1].map(|k| {
            let (shape, pose) = (self.pair.shapes[k], &self.pair.poses[k]);
            shape.radius(pose.scale)
                + shape.rounding() * pose.scale64().min_element()
                + f64::from(pose.radius)
        });
        match self.pair.shapes.map(Shape::is_half_space) {
            [true, _] => [b, b],
            [_, true] => [a, a],
            _ => [a.min(b), a + b],
        }
    }

    /// The tolerance: τ of the pair at this gap, or 1e-9 S if `exact`, plus the rounding of times in f64 over the distance moved.
    pub fn tolerance(&self, gap: f64, duration: f64, exact: bool) -> f64 {
        let [smaller, sum] = self.radii();
        let distance = self.velocity().length() * duration;
        let tau = if exact { 1e-9 * sum } else { tolerance(smaller, sum, gap) };
        let arms = self.arms[0].length() + self.arms[1].length();
        tau + 2e-15 * (distance + self.between.length() + arms)
    }

    /// An upper bound of the speed at which points of the bodies approach each other.
    fn max_speed(&self) -> f64 {
        let spin_speed = |k: usize| {
            let (pose, spin) = (&self.pair.poses[k], vector(self.pair.motions[k].spin));
            let body = Body64::new(self.pair.shapes[k], pose.rotation64(), pose.scale64(), 0.0, DVec3::ZERO);
            body.points.iter().map(|p| spin.cross(*p + self.arms[k]).length()).fold(0.0, f64::max)
        };
        self.velocity().length() + spin_speed(0) + spin_speed(1)
    }

    /// The least gap up to `duration`, for bodies that do not rotate.
    fn least_gap(&self, duration: f64, tau: f64) -> f64 {
        let speed = self.velocity().length();
        if speed * duration <= 1e-3 * tau {
            return self.gap(0.0).min(self.gap(duration));
        }
        let share = 0.5 * (5f64.sqrt() - 1.0);
        let [mut low, mut high] = [0.0, duration];
        let mut inner = [high - share * (high - low), low + share * (high - low)];
        let mut gaps = inner.map(|time| self.gap(time));
        let mut least = self.gap(0.0).min(self.gap(duration)).min(gaps[0]).min(gaps[1]);
        while (high - low) * speed > 0.05 * tau {
            // The gap is convex, so the minimum is on the side of the lower value.
            if gaps[0] < gaps[1] {
                high = inner[1];
                inner = [high - share * (high - low), inner[0]];
                gaps = [self.gap(inner[0]), gaps[0]];
            } else {
                low = inner[0];
                inner = [inner[1], low + share * (high - low)];
                gaps = [gaps[1], self.gap(inner[1])];
            }
            least = least.min(gaps[0]).min(gaps[1]);
            // The gap cannot fall faster than the relative speed.
            if least - speed * (high - low) > -tau {
                break;
            }
        }
        least
    }

    /// Covers the time before `end` in steps. Returns whether `limit` steps suffice. A gap below −τ is an error.
    fn advance(&self, end: f64, tau: f64, limit: usize) -> Result<bool, String> {
        let max_speed = self.max_speed();
        let mut time = 0.0;
        for _ in 0..limit {
            let gap = self.gap(time);
            if gap < -tau {
                return Err(format!("at {time} already a gap of {gap:e}, tolerance {tau:e}"));
            }
            time += (gap + 1.25 * tau) / max_speed;
            if time >= end {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks a claim about the time up to `duration`. `Ok` says whether it was proved completely; it may stay open only for bodies
    /// that rotate closely past each other.
    ///
    /// # Errors
    /// A message about the wrong claim.
    pub fn check(&self, duration: f64, claim: Claim, exact: bool) -> Result<bool, String> {
        let start = self.gap(0.0);
        let tau = self.tolerance(start, duration, false);
        let unit = |n: [f64; 3]| {
            let length = DVec3::from(n).length();
            if (length - 1.0).abs() < 1e-5 { Ok(()) } else { Err(format!("a normal of length {length}")) }
        };
        if let Claim::Touching(normal) = claim {
            unit(normal)?;
            if start > tau {
                return Err(format!("touching at a gap of {start:e}, tolerance {tau:e}"));
            }
            let shown = self.separation(0.0, normal);
            if shown < start - tau {
                return Err(format!(
                    "the separation along the normal is {shown:e}, the gap {start:e}, tolerance {tau:e}"
                ));
            }
            return Ok(true);
        }
        // The pair certainly touches: it is within a tenth of the tolerance, or overlaps.
        if start < -tau || start.abs() <= 0.099 * tau {
            return Err(format!("{claim:?} at a gap of {start:e} at the start, tolerance {tau:e}"));
        }
        // The tolerance for a distance of 0, as at an impact.
        let tau = self.tolerance(0.0, duration, exact);
        let limit = 4000;
        match claim {
            Claim::Hit(time, normal) => {
                unit(normal)?;
                if !(time >= 0.0 && time <= duration) {
                    return Err(format!("a hit at {time} of {duration}"));
                }
                let [a, b] = self.at(time);
                let Gap { gap, slack, .. } = gap64(&a, &b);
                // Between needles and slivers the oracle is only as accurate as its slack.
                if gap.abs() - slack > tau {
                    return Err(format!(
                        "a hit at {time} with a gap of {gap:e} less {slack:e}, tolerance {tau:e}"
                    ));
                }
                let shown = self.separation(time, normal);
                if shown < -tau {
                    return Err(format!(
                        "at {time} the separation along the normal is {shown:e}, tolerance {tau:e}"
                    ));
                }
                if self.rotates() {
                    return self.advance(time, tau, limit);
                }
                let before = self.separation(0.0, normal);
                if before < -tau {
                    return Err(format!(
                        "at the start the separation along the normal is {before:e}, tolerance {tau:e}"
                    ));
                }
                Ok(true)
            }
            _ if self.rotates() => self.advance(duration, tau, limit),
            _ => {
                let least = self.least_gap(duration, tau);
                if least < -tau {
                    return Err(format!("a miss with a gap of {least:e}, tolerance {tau:e}"));
                }
                Ok(true)
            }
        }
    }
}
