//! Lower bounds of the gap or the depth of one pair, large enough to hold for several frames.

use glam::Vec3;

use crate::collide::gjk::pose::{Lengths, Relative, Spheres, gap_error, larger_first};
use crate::collide::gjk::verdict::{Difference, Outcome, Simplex, enclosure, gjk, reduce};
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::measure::{PLANE_ERROR, RADIUS_ERROR, UP_ERROR};
use crate::collide::scene::placed::Placed;

/// Most directions that are tried.
const DIRECTION_LIMIT: u32 = 8;
/// A bound of this share of the distance ends the search.
const GOOD_SHARE: f32 = 0.8;
/// Bounds are multiplied by this: the tolerance may grow while a bound holds, by 4e-6 of the motion.
pub(crate) const SHRINKING: f64 = 1.0 - 1e-5;

/// A bound and the axis that shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    /// The gap exceeds this by at least the pair's tolerance τ; world units, above zero.
    pub(crate) gap: f64,
    /// Unit, from `a` to `b`, world frame.
    pub(crate) axis: [f32; 3],
    /// The gap between the bodies' projections on the stored axis exceeds this by at least the tolerance of two bodies in touch;
    /// world units.
    pub(crate) along: f64,
}

/// Which bounds are useful, in world units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundGoal {
    /// A bound must exceed this.
    pub(crate) least: f64,
    /// A bound of this size along the axis of an earlier frame ends the search.
    pub(crate) enough_on_known_axis: f64,
    /// A bound of this size ends the search.
    pub(crate) enough: f64,
}

/// Finds a lower bound of the gap above `goal.least`: along the axis of an earlier frame (0 if there is none), then along GJK's
/// directions.
///
/// The error of support points and the largest tolerance (`d` is at most the distance of the centres) are subtracted. So a pair
/// with a bound is beyond the tolerance, and every engine must call it separated.
#[inline(always)]
pub(crate) fn gap_bound(
    supports: &Supports,
    a: &Placed,
    b: &Placed,
    axis: [f32; 3],
    goal: BoundGoal,
) -> Option<Bound> {
    if a.is_half_space() | b.is_half_space() {
        return above_ground(supports, a, b).filter(|found| found.gap > goal.least);
    }
    let ([a, b], is_swapped) = larger_first(a, b);
    let sign = if is_swapped { -1.0 } else { 1.0 };
    let turned = |axis: [f32; 3]| axis.map(|x| sign * x);
    let spheres = Spheres::new(a, b);
    let lengths = spheres.lengths();
    let unit = f64::from(lengths.unit);
    let error = error_of(&lengths, lengths.distance);
    let rounding = a.rounding() + b.rounding();
    let remaining_gap = |gap: f32, less: f64| (f64::from(gap - error) * unit - less) * SHRINKING;
    // The axis in world coordinates is off by 4e-7, which counts for both bodies.
    let axis_error = 1.5e-6 * f64::from(lengths.sum + lengths.distance) * unit;
    let shown = |gap: f32, less: f64| f64::from(gap - error) * unit - less - axis_error;
    let by_spheres = remaining_gap(lengths.distance - lengths.sum, 0.0);
    let mut best = None;
    if by_spheres > goal.least && by_spheres.is_finite() {
        let along = shown(lengths.distance - lengths.sum, 0.0);
        best = Some(Bound { gap: by_spheres, axis: turned(spheres.axis()), along });
        if by_spheres >= goal.enough {
            return best;
        }
    }
    let pair = Relative::new(supports, a, b, &spheres);
    let is_known = axis != [0.0; 3];
    let mut closest = if is_known { pair.local(-Vec3::from(turned(axis))) } else { pair.offset };
    let mut squared = closest.length_squared();
    if !(squared > 0.0 && squared.is_finite()) {
        return best;
    }
    let mut simplex = Simplex { points: [closest; 4], len: 0 };
    for attempt in 0..DIRECTION_LIMIT {
        let newest = pair.support(-closest);
        let along = closest.dot(newest) / squared.sqrt();
        let gap = remaining_gap(along, rounding);
        if gap > best.map_or(goal.least, |best| best.gap) {
            best = Some(Bound { gap, axis: turned(pair.world_axis(closest)), along: shown(along, rounding) });
            if gap >= goal.enough || (is_known && attempt == 0 && gap >= goal.enough_on_known_axis) {
                break;
            }
        }
        simplex.points[simplex.len] = newest;
        simplex.len += 1;
        let point: Option<Vec3> = reduce(&mut simplex);
        let Some(point) = point else { break };
        let next = point.length_squared();
        let most = next.sqrt();
        if remaining_gap(most, rounding) <= goal.least
            || along >= GOOD_SHARE * most
            || !(next > 0.0)
            || (attempt > 0 && !(next < squared))
        {
            break;
        }
        closest = point;
        squared = next;
    }
    best
}

/// The largest tolerance of a pair up to a distance, and the error of a bound of its gap; in the pair's unit.
#[inline(always)]
fn error_of(lengths: &Lengths, distance: f32) -> f32 {
    let &Lengths { smaller, sum, .. } = lengths;
    (1e-5 * smaller).max(4e-6 * (sum + distance)) + gap_error(smaller, sum, lengths.distance)
}

/// The bound of a body above a half-space, along the half-space's normal.
#[inline(never)]
fn above_ground(supports: &Supports, a: &Placed, b: &Placed) -> Option<Bound> {
    let (ground, body) = if a.is_half_space() { (a, b) } else { (b, a) };
    if body.is_half_space() {
        return None;
    }
    let up = ground.up();
    let radius = body.radius();
    let apart = body.center() - ground.center();
    let height = up.dot(apart);
    let lowest = up.dot(body.furthest(supports, -up.as_vec3()).as_dvec3());
    let gap = height + lowest - body.rounding() - ground.rounding();
    let error = (1e-5 * radius).max(4e-6 * (radius + height.abs()))
        + PLANE_ERROR * radius
        + UP_ERROR * apart.length()
        + RADIUS_ERROR * ground.rounding();
    let sign = if a.is_half_space() { 1.0 } else { -1.0 };
    // A half-space is unbounded along any other axis, even one that is off by one unit in the last place.
    let (axis, along) = ((up * sign).as_vec3().to_array(), f64::NEG_INFINITY);
    Some(Bound { gap: (gap - error) * SHRINKING, axis, along })
}

/// A lower bound of the depth beyond the tolerance, in world units; `None` where GJK alone gives none. Every engine must call a
/// pair with such a bound penetrating.
#[inline(always)]
pub(crate) fn depth_bound(supports: &Supports, a: &Placed, b: &Placed) -> Option<f64> {
    if a.is_half_space() | b.is_half_space() {
        return None;
    }
    let ([a, b], _) = larger_first(a, b);
    let spheres = Spheres::new(a, b);
    let lengths = spheres.lengths();
    let error = error_of(&lengths, 0.0);
    let pair = Relative::new(supports, a, b, &spheres);
    let mut last = None;
    let outcome = gjk(&pair, pair.offset, &pair.limits, |simplex, _| last = Some(*simplex));
    let (Outcome::Penetrating, Some(simplex)) = (outcome, last) else { return None };
    let deep = f64::from(enclosure(&simplex.points) - error) * f64::from(lengths.unit) * SHRINKING;
    (deep > 0.0).then_some(deep)
}
