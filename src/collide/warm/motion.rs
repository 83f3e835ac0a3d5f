//! How far bodies have moved: an upper bound for any of their points, and the sum of it over all frames.
//!
//! With `c = |q₁ − q₂|` for unit quaternions, the angle `θ` between two rotations has `2 sin(θ/2) ≤ 4 sin(θ/4) = 2c`, so
//! that no point within `reach` of the hull's origin goes further than `|Δp| + 2 c · reach`. A body whose hull, scale or
//! radius is another one has gone infinitely far.

use super::super::Body;
use super::super::support::Supports;
use glam::{DQuat, DVec3};

/// What rounding in f64 may take off a step, relative.
const SLACK: f64 = 1.0 + 1e-12;

/// How far any point of a body may have gone between two poses, in world units. `reach` is the distance from the hull's
/// origin to its furthest point.
#[inline(always)]
pub(super) fn step(before: &Body, now: &Body, reach: f64) -> f64 {
    if before.hull != now.hull
        || before.scale != now.scale
        || before.radius != now.radius
        || before.group != now.group
        || before.mask != now.mask
    {
        return f64::INFINITY;
    }
    let mut step = 0.0;
    if before.position != now.position {
        let [p, q] = [before, now].map(|body| DVec3::from(body.position.map(f64::from)));
        step = (p - q).length();
    }
    if before.rotation != now.rotation {
        let [p, q] = [before, now].map(|body| DQuat::from_array(body.rotation.map(f64::from)).normalize());
        let chord = (p - q).length_squared().min((p + q).length_squared()).sqrt();
        // Normalising leaves each of them off by some 1e-16.
        step += 2.0 * reach * (chord + 1e-15);
    }
    step * SLACK
}

/// Distance from the hull's origin to the furthest point of the body, rounding included, at most; infinite for a
/// half-space.
#[inline(always)]
pub(super) fn reach(body: &Body, radius: f32, supports: &Supports) -> f64 {
    let record = &supports.records[body.hull as usize];
    if record.half_space != 0 {
        return f64::INFINITY;
    }
    let [x, y, z] = record.mean;
    let mean = if [x, y, z] == [0.0; 3] {
        0.0
    } else {
        (DVec3::from(record.mean.map(f64::from)) * DVec3::from(body.scale.map(f64::from))).length()
    };
    // The radius is rounded to f32.
    (mean + f64::from(radius)) * (1.0 + 1e-6)
}
