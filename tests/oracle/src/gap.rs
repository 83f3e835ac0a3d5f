//! The signed gap of two placed shapes, in f64, by exhaustive search over features: no GJK, no EPA.
//!
//! The gap is the largest separation that any unit axis shows: the distance where the hulls are apart, minus the
//! penetration depth where they overlap (Cameron and Culley 1986). Where they overlap, the largest separation is
//! shown by the normal of a facet of the Minkowski difference: a face normal of either hull or the cross product of
//! an edge of each (Gottschalk 1996, "Separating Axis Theorem for Oriented Bounding Boxes"); all of them are tried.
//! Where they are apart, the distance is that of the nearest pair of features: vertex and triangle, or edge and edge
//! (Ericson 2005, "Real-Time Collision Detection", §5.1); all of them are tried.
//!
//! A rounding grows a shape by a ball: it takes its radius off the gap, whatever the sign.
//!
//! Why the accuracy of 1e-9 S (S: the sum of the bounding radii) is within f64: positions are subtracted first, face
//! normals come from exact differences of f32s, and every axis tried, however noisy, shows a separation that is a true
//! lower bound of the gap. A noisy axis is one of a sliver of a facet, across which the nearest point hardly moves.

use glam::DVec3;
use rayon::prelude::*;

use crate::body64::{Body64, Edge, separation};
use crate::nearest::nearest;
use crate::{Placed, Pose, Shape};

/// The signed gap of two placed hulls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Distance where apart (> 0), minus the penetration depth where overlapping (< 0), in world units.
    pub gap: f64,
    /// Unit axis of the world frame from the first to the second that shows the gap, to within
    /// [`slack`](Self::slack); moving the second along it by minus a negative gap makes the two just touch. Zero where the hulls touch in a way that no axis tried shows (two equal points).
    pub axis: [f64; 3],
    /// Where apart: the distance of two points, one in each hull, minus the best separation an axis showed, in world
    /// units. Both bound the true distance, so this bounds the error. 0 where overlapping.
    pub slack: f64,
}

/// The signed gap of two placed hulls together with what its tolerance follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// The signed gap, in world units; if not [`exact`](Self::exact) a lower bound of it.
    pub gap: f64,
    /// The tolerance τ of the pair, in world units ([`tolerance`]).
    pub tau: f64,
    /// The sum of the two bounding radii S, in world units.
    pub radius_sum: f64,
    /// The smaller of the two bounding radii R, in world units.
    pub radius: f64,
    /// Unit axis from the first to the second that shows the gap.
    pub axis: [f64; 3],
    /// False where the bounding spheres alone are further apart than a tenth of S: the sign is then beyond doubt and
    /// the gap was not computed.
    pub exact: bool,
}

/// The tolerance τ = max(1e-5 R, 4e-6 (S + d)) of a pair of hulls, in world units: R the smaller and S the sum of the
/// bounding radii about the mean of the hulls' vertices, d ≥ 0 the distance (a negative one counts as 0).
pub fn tolerance(radius: f64, radius_sum: f64, distance: f64) -> f64 {
    (1e-5 * radius).max(4e-6 * (radius_sum + distance.max(0.0)))
}

/// The axis of largest separation among face normals and edge × edge.
///
/// `pruned` skips an edge pair if its own points, or the centres, already show that its axis can't win, or if the
/// axis points into one of the solids at its own edge: then the pair spans no facet of the Minkowski difference
/// (Gregorius 2013, "The Separating Axis Test between Convex Polyhedra", GDC). It skips an edge of a solid as a whole if
/// no axis between the normals of its two faces can win. `stops` ends the search where the bodies are seen to be apart.
fn best_axis(a: &Body64, b: &Body64, pruned: bool, stops: bool) -> Option<(f64, DVec3)> {
    let mut best: Option<(f64, DVec3)> = None;
    let consider = |best: &mut Option<(f64, DVec3)>, n: DVec3| {
        let s = separation(a, b, n);
        if best.is_none_or(|(t, _)| s > t) {
            *best = Some((s, n));
        }
    };
    for &n in &a.normals {
        consider(&mut best, n);
    }
    for &n in &b.normals {
        consider(&mut best, -n);
    }
    let between = b.centre - a.centre;
    let reach = a.radius + b.radius;
    let apart = |best: &Option<(f64, DVec3)>| stops && best.is_some_and(|(s, _)| s > 1e-6 * reach);
    // The separation along n changes by at most |n − m| times the length of the longest vector between the two.
    let longest = between.length() + reach;
    let may_win = |edge: &Edge, sign: f64, other: usize, best: &Option<(f64, DVec3)>| {
        let (Some((middle, half)), Some((s, _))) = (edge.arc(), best) else { return true };
        !pruned || other < 32 || separation(a, b, sign * middle) + half * longest > *s - 1e-9 * reach
    };
    let edges_b: Vec<&Edge> = b.edges.iter().filter(|f| may_win(f, -1.0, a.edges.len(), &best)).collect();
    for e in &a.edges {
        if apart(&best) {
            break;
        }
        if !may_win(e, 1.0, edges_b.len(), &best) {
            continue;
        }
        for f in &edges_b {
            let n = e.along.cross(f.along);
            let square = n.length_squared();
            let product = e.along.length_squared() * f.along.length_squared();
            // Parallel to the last bits: their sliver of a facet has no width.
            if square <= 1e-30 * product {
                continue;
            }
            let length = square.sqrt();
            let n = n / length;
            let own = n.dot(f.ends[0] - e.ends[0]);
            let central = n.dot(between);
            // How far rounding may lift a wing: the nearer the edges to parallel, the less is known of the axis.
            let rounding = reach * (1e-12 + 1e-14 * product.sqrt() / length);
            let tops =
                |edge: &Edge, n: DVec3| edge.wings.is_none_or(|w| w.iter().all(|w| n.dot(*w) <= rounding));
            for sign in [1.0, -1.0] {
                let bound = (sign * own).min(sign * central);
                if pruned && best.is_some_and(|(t, _)| bound <= t) {
                    continue;
                }
                let n = sign * n;
                if pruned && !(tops(e, n) && tops(f, -n)) {
                    continue;
                }
                consider(&mut best, n);
            }
        }
    }
    best
}

/// The signed gap of the cores less both roundings: the difference of the bodies is the difference of their cores,
/// grown by the sum of the roundings, inside as well as outside.
fn gap_of(a: &Body64, b: &Body64, pruned: bool) -> Gap {
    let core = match (a.plane, b.plane) {
        (None, None) => gap_of_cores(a, b, pruned),
        (Some(n), None) => above(a, b, n, 1.0),
        (None, Some(n)) => above(b, a, n, -1.0),
        (Some(_), Some(_)) => panic!("two half-spaces have no gap"),
    };
    Gap { gap: core.gap - (a.rounding + b.rounding), ..core }
}

/// How high a core stands above a half-space of outward normal `n`; `sign` is 1 where the half-space is the first.
fn above(half_space: &Body64, body: &Body64, n: DVec3, sign: f64) -> Gap {
    Gap { gap: body.low(n) - n.dot(half_space.points[0]), axis: (sign * n).to_array(), slack: 0.0 }
}

/// The separation of the rounded shapes that a unit axis shows. To a half-space only its own normal shows any: an axis
/// that is the normal to 1e-5 is taken for it, and another shows −∞.
pub(crate) fn shown(a: &Body64, b: &Body64, axis: DVec3) -> f64 {
    let core = match (a.plane, b.plane) {
        (None, None) => separation(a, b, axis),
        (Some(n), _) if (n - axis).length() <= 1e-5 => above(a, b, n, 1.0).gap,
        (_, Some(n)) if (n + axis).length() <= 1e-5 => above(b, a, n, -1.0).gap,
        _ => f64::NEG_INFINITY,
    };
    core - (a.rounding + b.rounding)
}

fn gap_of_cores(a: &Body64, b: &Body64, pruned: bool) -> Gap {
    let quick = pruned.then(|| gap_by(a, b, pruned, true));
    match quick {
        Some(gap) if gap.slack <= 1e-11 * (a.radius + b.radius) => gap,
        _ => gap_by(a, b, pruned, false),
    }
}

fn gap_by(a: &Body64, b: &Body64, pruned: bool, stops: bool) -> Gap {
    let sum = a.radius + b.radius;
    let axis = best_axis(a, b, pruned, stops);
    let (facet, facet_axis) = axis.unwrap_or((f64::NEG_INFINITY, DVec3::ZERO));
    if axis.is_some() && facet < -1e-13 * sum {
        return Gap { gap: facet, axis: facet_axis.to_array(), slack: 0.0 };
    }
    // Apart, or touching to the last bits. Two hulls that overlap by some depth have features no further apart than
    // that depth, so the nearest features are right to rounding here even if they just overlap.
    let nearest = nearest(a, b, pruned.then_some(facet_axis));
    let distance = nearest.square.sqrt();
    let mut shown = (facet, facet_axis);
    if distance > 0.0 {
        let n = nearest.on_b - nearest.on_a;
        let mut show = |n: DVec3| {
            let Some(n) = n.try_normalize() else { return };
            let s = separation(a, b, n);
            if s > shown.0 {
                shown = (s, n);
            }
        };
        show(n);
        // A nearest point on an edge was rounded along it, which tilts the axis of a small gap: set it square again.
        for (body, point) in [(a, nearest.on_a), (b, nearest.on_b)] {
            for edge in &body.edges {
                let unit = edge.along.normalize();
                let aside = (point - edge.ends[0]).reject_from_normalized(unit).length();
                if aside <= 1e-13 * sum && n.dot(unit).abs() <= 1e-13 * sum {
                    show(n.reject_from_normalized(unit));
                }
            }
        }
    }
    let (shown, shown_axis) = shown;
    if shown > 0.0 {
        return Gap { gap: distance, axis: shown_axis.to_array(), slack: (distance - shown).max(0.0) };
    }
    // A difference that is a segment or a point has no facet: then no axis shows an overlap, and the gap is 0.
    let gap = if axis.is_some() { shown } else { 0.0 };
    Gap { gap, axis: shown_axis.to_array(), slack: 0.0 }
}

/// Both bodies in world axes, relative to the first's position.
pub(crate) fn bodies64(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (Body64, Body64) {
    let origin = pose_a.position64();
    (Body64::placed(a, pose_a, origin), Body64::placed(b, pose_b, origin))
}

/// The signed gap of two placed shapes, right to 1e-9 S (S: the sum of their bounding radii), in world units.
///
/// # Panics
/// If both are half-spaces.
pub fn gap(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Gap {
    let (a, b) = bodies64(a, pose_a, b, pose_b);
    gap_of(&a, &b, true)
}

/// [`gap`] for rotations, scales and an offset from the first position to the second that are not rounded to f32.
pub(crate) fn gap64(a: &Body64, b: &Body64) -> Gap {
    gap_of(a, b, true)
}

/// The signed gap of two placed shapes and the tolerance of the pair; the gap itself is skipped where the bounding
/// spheres are further apart than a tenth of the sum of their radii. [`whole_truth`] never skips it.
///
/// The bounding radii are about the mean of the points the shapes were made from: give shapes made from the hulls'
/// vertices. A half-space has no radius: R is the other's, and so is S.
///
/// # Panics
/// If both are half-spaces.
pub fn truth(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Truth {
    let (radius, radius_sum) = radii(a, pose_a, b, pose_b);
    let centre =
        |shape: &Shape, pose: &Pose| pose.rotation64() * (pose.scale64() * DVec3::from(shape.mean()));
    let between = pose_b.position64() - pose_a.position64() + (centre(b, pose_b) - centre(a, pose_a));
    let apart = between.length() - radius_sum;
    if apart > 0.1 * radius_sum && !a.is_half_space() && !b.is_half_space() {
        let axis = between.normalize_or_zero().to_array();
        return Truth {
            gap: apart,
            tau: tolerance(radius, radius_sum, apart),
            radius_sum,
            radius,
            axis,
            exact: false,
        };
    }
    whole_truth(a, pose_a, b, pose_b)
}

/// R and S of the pair.
fn radii(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (f64, f64) {
    let radius = |shape: &Shape, pose: &Pose| {
        let least = pose.scale64().min_element();
        shape.radius(pose.scale) + shape.rounding() * least + f64::from(pose.radius)
    };
    match (a.is_half_space(), b.is_half_space()) {
        (true, _) => (radius(b, pose_b), radius(b, pose_b)),
        (_, true) => (radius(a, pose_a), radius(a, pose_a)),
        _ => {
            let radii = [radius(a, pose_a), radius(b, pose_b)];
            (radii[0].min(radii[1]), radii[0] + radii[1])
        }
    }
}

/// As [`truth`], but the gap is worked out however far the bodies are apart.
///
/// # Panics
/// If both are half-spaces.
pub fn whole_truth(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Truth {
    let (radius, radius_sum) = radii(a, pose_a, b, pose_b);
    let Gap { gap, axis, .. } = gap(a, pose_a, b, pose_b);
    Truth { gap, tau: tolerance(radius, radius_sum, gap), radius_sum, radius, axis, exact: true }
}

type Measure = fn(&Shape, &Pose, &Shape, &Pose) -> Truth;

fn of_all(measure: Measure, shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    pairs
        .par_iter()
        .map(|&[i, j]| {
            let (a, b) = (&bodies[i as usize], &bodies[j as usize]);
            measure(&shapes[a.hull as usize], &a.pose, &shapes[b.hull as usize], &b.pose)
        })
        .collect()
}

/// [`truth`] of many pairs of bodies, in the order of the pairs, on all cores.
///
/// # Panics
/// If a pair's or a body's index is out of range, or both of a pair are half-spaces.
pub fn truths(shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    of_all(truth, shapes, bodies, pairs)
}

/// [`whole_truth`] of many pairs of bodies, in the order of the pairs, on all cores.
///
/// # Panics
/// As [`truths`].
pub fn whole_truths(shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    of_all(whole_truth, shapes, bodies, pairs)
}

#[cfg(test)]
mod tests;
