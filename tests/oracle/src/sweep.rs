//! Checks of claimed first times of impact, in f64, by nothing but gaps and projections at single times.
//!
//! Bodies that do not turn: their gap is a convex function of time, and along one axis their separation is linear. So a hit
//! is proved by the gap at its time and an axis that shows no overlap both there and at the start; and for a miss the
//! least gap is found by golden section. Bodies that turn: no point of them moves faster along any line than the
//! relative velocity and each spin times the distance from its axis allow, so the gap at one time bounds it for a while
//! after, and steps of such whiles cover the time up to the claim.

use glam::{DQuat, DVec3};

use crate::body64::Body64;
use crate::gap::{Gap, gap64};
use crate::{Pose, Shape, tolerance};

/// How a body moves: its position goes on by `velocity` each second, its rotation turns about world axes by `spin`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// World units a second.
    pub velocity: [f32; 3],
    /// Radians a second.
    pub spin: [f32; 3],
}

/// What is claimed of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// They first meet at this time, in seconds; the unit normal from the first to the second.
    Hit(f64, [f64; 3]),
    /// They don't meet.
    Miss,
    /// They touch at the start; the contact's normal.
    Touching([f64; 3]),
}

/// Two moving bodies.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The hulls.
    pub shapes: [&'a Shape; 2],
    /// Where they start.
    pub poses: [Pose; 2],
    /// How they move.
    pub motions: [Motion; 2],
}

fn vector(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

impl Pair<'_> {
    /// Both bodies at a time, relative to the first's position.
    fn at(&self, time: f64) -> [Body64; 2] {
        let between = self.poses[1].position64() - self.poses[0].position64() - self.velocity() * time;
        let body = |k: usize, offset: DVec3| {
            let (pose, spin) = (&self.poses[k], vector(self.motions[k].spin));
            let turn = DQuat::from_scaled_axis(spin * time) * pose.rotation64();
            Body64::new(self.shapes[k], turn, pose.scale64(), f64::from(pose.radius), offset)
        };
        [body(0, DVec3::ZERO), body(1, between)]
    }

    /// Of the first less that of the second.
    fn velocity(&self) -> DVec3 {
        vector(self.motions[0].velocity) - vector(self.motions[1].velocity)
    }

    fn turns(&self) -> bool {
        self.motions.iter().any(|motion| motion.spin != [0.0; 3])
    }

    /// The signed gap at a time.
    pub fn gap(&self, time: f64) -> f64 {
        let [a, b] = self.at(time);
        gap64(&a, &b).gap
    }

    /// What an axis from the first to the second shows at a time: their separation along it.
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
            let (shape, pose) = (self.shapes[k], &self.poses[k]);
            shape.radius(pose.scale)
                + shape.rounding() * pose.scale64().min_element()
                + f64::from(pose.radius)
        });
        match self.shapes.map(Shape::is_half_space) {
            [true, _] => [b, b],
            [_, true] => [a, a],
            _ => [a.min(b), a + b],
        }
    }

    /// τ of the pair when the gap is `gap`, and what times held in f64 are off by over a way of `duration`; with `exact`
    /// 1e-9 S instead of τ.
    pub fn tolerance(&self, gap: f64, duration: f64, exact: bool) -> f64 {
        let [smaller, sum] = self.radii();
        let way = self.velocity().length() * duration;
        let tau = if exact { 1e-9 * sum } else { tolerance(smaller, sum, gap) };
        tau + 2e-15 * (way + (self.poses[0].position64() - self.poses[1].position64()).length())
    }

    /// The fastest that any two points of the bodies can near one another.
    fn fastest(&self) -> f64 {
        let turning = |k: usize| {
            let (pose, spin) = (&self.poses[k], vector(self.motions[k].spin));
            let still = Body64::new(self.shapes[k], pose.rotation64(), pose.scale64(), 0.0, DVec3::ZERO);
            still.points.iter().map(|p| spin.cross(*p).length()).fold(0.0, f64::max)
        };
        self.velocity().length() + turning(0) + turning(1)
    }

    /// The least gap of bodies that do not turn, up to `duration`.
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
            // Convex: no lower than the chords continued.
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
            // No point nears the other faster than the bodies do.
            if least - speed * (high - low) > -tau {
                break;
            }
        }
        least
    }

    /// Steps over the time before `end`; whether all of it is covered within `limit` steps, or where the gap is below −τ.
    fn march(&self, end: f64, tau: f64, limit: usize) -> Result<bool, String> {
        let fastest = self.fastest();
        let mut time = 0.0;
        for _ in 0..limit {
            let gap = self.gap(time);
            if gap < -tau {
                return Err(format!("at {time} already a gap of {gap:e}, tolerance {tau:e}"));
            }
            time += (gap + 1.25 * tau) / fastest;
            if time >= end {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks a claim about the time up to `duration`. `Ok` says whether all of it was proved; only slow turning past one
    /// another may leave it open.
    ///
    /// # Errors
    /// Says what is wrong with the claim.
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
                return Err(format!("the normal shows {shown:e} of {start:e}, tolerance {tau:e}"));
            }
            return Ok(true);
        }
        // Certainly touching: within a tenth of the tolerance, or overlapping.
        if start < -tau || start.abs() <= 0.099 * tau {
            return Err(format!("{claim:?} at a gap of {start:e} at the start, tolerance {tau:e}"));
        }
        // At an impact the distance is 0.
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
                // Between needles and slivers the oracle is no better than its own bounds.
                if gap.abs() - slack > tau {
                    return Err(format!(
                        "a hit at {time} with a gap of {gap:e} less {slack:e}, tolerance {tau:e}"
                    ));
                }
                let shown = self.separation(time, normal);
                if shown < -tau {
                    return Err(format!("at {time} the normal shows {shown:e}, tolerance {tau:e}"));
                }
                if self.turns() {
                    return self.march(time, tau, limit);
                }
                let before = self.separation(0.0, normal);
                if before < -tau {
                    return Err(format!("the normal shows {before:e} at the start, tolerance {tau:e}"));
                }
                Ok(true)
            }
            _ if self.turns() => self.march(duration, tau, limit),
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
