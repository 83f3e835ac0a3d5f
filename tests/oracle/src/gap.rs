//! The signed gap of two placed shapes, in f64, by exhaustive search over features: no GJK, no EPA.
//!
//! The gap is the largest separation along any unit axis: the distance of separated hulls, minus the penetration depth of
//! overlapping ones (Cameron and Culley 1986). For overlapping hulls the axis is the normal of a facet of the Minkowski
//! difference: a face normal of either hull, or the cross product of an edge of each (Gottschalk 1996, "Separating Axis Theorem
//! for Oriented Bounding Boxes"). All of these are tried. For separated hulls the distance is that of the nearest pair of
//! features: vertex and triangle, or edge and edge (Ericson 2005, "Real-Time Collision Detection", §5.1). All of these are
//! tried.
//!
//! A rounding grows a shape by a ball and reduces the gap by its radius, whatever the sign.
//!
//! f64 suffices for an accuracy of 1e-9 S (S: the sum of the bounding radii). Positions are subtracted first, face normals come
//! from exact differences of f32s, and the separation along any axis, even a noisy one, is a true lower bound of the gap. A
//! noisy axis belongs to a sliver facet, across which the nearest point hardly moves.

use glam::DVec3;
use rayon::prelude::*;

use crate::body64::{Body64, Edge, separation};
use crate::nearest::nearest;
use crate::{Placed, Pose, Shape};

/// The signed gap of two placed hulls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The distance (> 0) or minus the penetration depth (< 0), in world units.
    pub gap: f64,
    /// The unit axis of the world frame from the first to the second along which the separation is the gap, to within
    /// [`slack`](Self::slack). Moving the second along it by minus a negative gap makes the two just touch. Zero if no axis shows
    /// how the hulls touch (two equal points).
    pub axis: [f64; 3],
    /// For separated hulls: the distance of the nearest points found minus the largest separation found, in world units. These
    /// bound the true distance from both sides, so this bounds the error. 0 for overlapping hulls.
    pub slack: f64,
}

/// The signed gap of two placed hulls, with the tolerance and the radii that it follows from.
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
    /// The unit axis from the first to the second along which the separation is the gap.
    pub axis: [f64; 3],
    /// The true gap may be smaller by this, in world units ([`Gap::slack`]).
    pub slack: f64,
    /// False if the bounding spheres are further apart than a tenth of S. The sign is then certain, and the gap is not computed.
    pub exact: bool,
}

/// The tolerance τ = max(1e-5 R, 4e-6 (S + d)) of a pair of hulls, in world units. R is the smaller bounding radius around the
/// mean of the vertices, S the sum of both, and d the distance (a negative one counts as 0).
pub fn tolerance(radius: f64, radius_sum: f64, distance: f64) -> f64 {
    (1e-5 * radius).max(4e-6 * (radius_sum + distance.max(0.0)))
}

/// The axis of the largest separation among face normals and cross products of edges.
///
/// `is_is_pruned` skips an edge pair if its points, or the centres, show that its axis is not the best, or if the axis points into
/// one of the solids at its edge: then the pair spans no facet of the Minkowski difference (Gregorius 2013, "The Separating Axis
/// Test between Convex Polyhedra", GDC). It skips an edge of a solid if no axis between the normals of its two faces can be the
/// best. `stops_early` ends the search once the bodies are known to be separated.
fn best_axis(a: &Body64, b: &Body64, is_pruned: bool, stops_early: bool) -> Option<(f64, DVec3)> {
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
    let apart = |best: &Option<(f64, DVec3)>| stops_early && best.is_some_and(|(s, _)| s > 1e-6 * reach);
    // Between axes n and m the separation changes by at most |n − m| times the longest vector between the two.
    let longest = between.length() + reach;
    let can_be_best = |edge: &Edge, sign: f64, other: usize, best: &Option<(f64, DVec3)>| {
        let (Some((middle, half)), Some((s, _))) = (edge.arc(), best) else { return true };
        !is_pruned || other < 32 || separation(a, b, sign * middle) + half * longest > *s - 1e-9 * reach
    };
    let edges_b: Vec<&Edge> = b.edges.iter().filter(|f| can_be_best(f, -1.0, a.edges.len(), &best)).collect();
    for e in &a.edges {
        if apart(&best) {
            break;
        }
        if !can_be_best(e, 1.0, edges_b.len(), &best) {
            continue;
        }
        for f in &edges_b {
            let n = e.along.cross(f.along);
            let square = n.length_squared();
            let product = e.along.length_squared() * f.along.length_squared();
            // Parallel but for rounding: their facet has no width.
            if square <= 1e-30 * product {
                continue;
            }
            let length = square.sqrt();
            let n = n / length;
            let own = n.dot(f.ends[0] - e.ends[0]);
            let central = n.dot(between);
            // The error of a projection: the nearer to parallel the edges are, the less certain is the axis.
            let rounding = reach * (1e-12 + 1e-14 * product.sqrt() / length);
            let is_highest =
                |edge: &Edge, n: DVec3| edge.wings.is_none_or(|w| w.iter().all(|w| n.dot(*w) <= rounding));
            for sign in [1.0, -1.0] {
                let bound = (sign * own).min(sign * central);
                if is_pruned && best.is_some_and(|(t, _)| bound <= t) {
                    continue;
                }
                let n = sign * n;
                if is_pruned && !(is_highest(e, n) && is_highest(f, -n)) {
                    continue;
                }
                consider(&mut best, n);
            }
        }
    }
    best
}

/// The signed gap of the cores minus both roundings. The Minkowski difference of the bodies is that of the cores, grown by the
/// sum of the roundings.
fn gap_of(a: &Body64, b: &Body64, is_pruned: bool) -> Gap {
    let core = match (a.plane, b.plane) {
        (None, None) => gap_of_cores(a, b, is_pruned),
        (Some(n), None) => gap_to_half_space(a, b, n, 1.0),
        (None, Some(n)) => gap_to_half_space(b, a, n, -1.0),
        (Some(_), Some(_)) => panic!("two half-spaces have no gap"),
    };
    Gap { gap: core.gap - (a.rounding + b.rounding), ..core }
}

/// The gap of a core above a half-space with outward normal `n`. `sign` is 1 if the half-space is the first body, else −1.
fn gap_to_half_space(half_space: &Body64, body: &Body64, n: DVec3, sign: f64) -> Gap {
    Gap { gap: body.low(n) - n.dot(half_space.points[0]), axis: (sign * n).to_array(), slack: 0.0 }
}

/// The separation of the rounded shapes along a unit axis. For a half-space an axis must be its normal to within 1e-5; any other
/// gives −∞.
pub(crate) fn rounded_separation(a: &Body64, b: &Body64, axis: DVec3) -> f64 {
    let core = match (a.plane, b.plane) {
        (None, None) => separation(a, b, axis),
        (Some(n), _) if (n - axis).length() <= 1e-5 => gap_to_half_space(a, b, n, 1.0).gap,
        (_, Some(n)) if (n + axis).length() <= 1e-5 => gap_to_half_space(b, a, n, -1.0).gap,
        _ => f64::NEG_INFINITY,
    };
    core - (a.rounding + b.rounding)
}

fn gap_of_cores(a: &Body64, b: &Body64, is_pruned: bool) -> Gap {
    let quick = is_pruned.then(|| gap_by(a, b, is_pruned, true));
    match quick {
        Some(gap) if gap.slack <= 1e-11 * (a.radius + b.radius) => gap,
        _ => gap_by(a, b, is_pruned, false),
    }
}

fn gap_by(a: &Body64, b: &Body64, is_pruned: bool, stops_early: bool) -> Gap {
    let sum = a.radius + b.radius;
    let axis = best_axis(a, b, is_pruned, stops_early);
    let (facet, facet_axis) = axis.unwrap_or((f64::NEG_INFINITY, DVec3::ZERO));
    if axis.is_some() && facet < -1e-13 * sum {
        return Gap { gap: facet, axis: facet_axis.to_array(), slack: 0.0 };
    }
    // Separated, or touching but for rounding. Hulls that overlap by some depth have features at most that depth apart, so the
    // nearest features are accurate to rounding even if the hulls just overlap.
    let nearest = nearest(a, b, is_pruned.then_some(facet_axis));
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
        // A nearest point on an edge is rounded along it, which tilts the axis of a small gap: make it perpendicular again.
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
    // A Minkowski difference that is a segment or a point has no facet. Then there is no overlap, and the gap is 0.
    let gap = if axis.is_some() { shown } else { 0.0 };
    Gap { gap, axis: shown_axis.to_array(), slack: 0.0 }
}

/// Both bodies in world axes, relative to the first's position.
pub(crate) fn bodies64(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (Body64, Body64) {
    let origin = pose_a.position64();
    (Body64::placed(a, pose_a, origin), Body64::placed(b, pose_b, origin))
}

/// The signed gap of two placed shapes in world units, accurate to 1e-9 S (S: the sum of the bounding radii).
///
/// # Panics
/// If both are half-spaces.
pub fn gap(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Gap {
    let (a, b) = bodies64(a, pose_a, b, pose_b);
    gap_of(&a, &b, true)
}

/// [`gap`] for poses that are not rounded to f32.
pub(crate) fn gap64(a: &Body64, b: &Body64) -> Gap {
    gap_of(a, b, true)
}

/// The signed gap of two placed shapes and the tolerance of the pair. The gap is not computed if the bounding spheres are further
/// apart than a tenth of the sum of their radii; [`whole_truth`] always computes it.
///
/// The bounding radii are around the mean of the points that the shapes were made from, so make them from the hulls' vertices. A
/// half-space has no radius: R and S are both the other's radius.
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
            slack: 0.0,
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

/// As [`truth`], but the gap is always computed.
///
/// # Panics
/// If both are half-spaces.
pub fn whole_truth(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Truth {
    let (radius, radius_sum) = radii(a, pose_a, b, pose_b);
    let Gap { gap, axis, slack } = gap(a, pose_a, b, pose_b);
    Truth { gap, tau: tolerance(radius, radius_sum, gap), radius_sum, radius, axis, slack, exact: true }
}

type TruthOf = fn(&Shape, &Pose, &Shape, &Pose) -> Truth;

fn for_all(truth_of: TruthOf, shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    pairs
        .par_iter()
        .map(|&[i, j]| {
            let (a, b) = (&bodies[i as usize], &bodies[j as usize]);
            truth_of(&shapes[a.hull as usize], &a.pose, &shapes[b.hull as usize], &b.pose)
        })
        .collect()
}

/// [`truth`] of many pairs of bodies, in the order of the pairs, on all cores.
///
/// # Panics
/// If a pair's or a body's index is out of range, or both of a pair are half-spaces.
pub fn truths(shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    for_all(truth, shapes, bodies, pairs)
}

/// [`whole_truth`] of many pairs of bodies, in the order of the pairs, on all cores.
///
/// # Panics
/// As [`truths`].
pub fn whole_truths(shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    for_all(whole_truth, shapes, bodies, pairs)
}

#[cfg(test)]
mod tests;
