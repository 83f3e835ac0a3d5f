//! The signed gap of two placed hulls, in f64, by exhaustive search over features: no GJK, no EPA.
//!
//! The gap is the largest separation that any unit axis shows: the distance where the hulls are apart, minus the
//! penetration depth where they overlap (Cameron and Culley 1986). Where they overlap, the largest separation is
//! shown by the normal of a facet of the Minkowski difference: a face normal of either hull or the cross product of
//! an edge of each (Gottschalk 1996, "Separating Axis Theorem for Oriented Bounding Boxes"); all of them are tried.
//! Where they are apart, the distance is that of the nearest pair of features: vertex and triangle, or edge and edge
//! (Ericson 2005, "Real-Time Collision Detection", §5.1); all of them are tried.
//!
//! Why the accuracy of 1e-9 S (S: the sum of the bounding radii) is within f64: positions are subtracted first, face
//! normals come from exact differences of f32s, and every axis tried, however noisy, shows a separation that is a true
//! lower bound of the gap. A noisy axis is one of a sliver of a facet, across which the nearest point hardly moves.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

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

/// An edge in world axes.
struct Edge {
    ends: [DVec3; 2],
    /// From the first end to the second; from the exact difference, so that a short edge's direction is right too.
    along: DVec3,
    /// Of a solid: from the first end to the third corners of the two triangles at the edge.
    wings: Option<[DVec3; 2]>,
}

/// A shape in world axes, relative to some origin near by.
pub(crate) struct Body64 {
    points: Vec<DVec3>,
    /// Unit outward normals; of a polygon both.
    normals: Vec<DVec3>,
    edges: Vec<Edge>,
    triangles: Vec<[DVec3; 3]>,
    /// Unit outward normals of `triangles`; empty for a polygon, which has no inside.
    outward: Vec<DVec3>,
    centre: DVec3,
    radius: f64,
}

impl Body64 {
    pub(crate) fn new(shape: &Shape, rotation: DQuat, scale: DVec3, offset: DVec3) -> Self {
        let place = |p: DVec3| rotation * (scale * p) + offset;
        let at = |i: u32| place(shape.points[i as usize]);
        // Normals turn with the rotation and take the inverse of the scale.
        let turn = |n: DVec3| rotation * (n / scale);
        let mut normals: Vec<DVec3> =
            shape.faces.iter().map(|&f| turn(shape.normal(f)).normalize()).collect();
        let solid = shape.dimension() == 3;
        if !solid {
            normals.extend(normals.clone().into_iter().map(|n| -n));
        }
        let points: Vec<DVec3> = shape.corners.iter().map(|&i| at(i)).collect();
        let centre = points.iter().sum::<DVec3>() / points.len() as f64;
        let radius = points.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        let from_to =
            |u: u32, v: u32| rotation * (scale * (shape.points[v as usize] - shape.points[u as usize]));
        let edge = |(k, &[u, v]): (usize, &[u32; 2])| Edge {
            ends: [at(u), at(v)],
            along: from_to(u, v),
            wings: shape.wings.get(k).map(|w| w.map(|i| from_to(u, i))),
        };
        Self {
            points,
            normals,
            edges: shape.edges.iter().enumerate().map(edge).collect(),
            triangles: shape.triangles.iter().map(|t| t.map(at)).collect(),
            outward: if solid {
                shape.triangles.iter().map(|&t| turn(shape.normal(t)).normalize()).collect()
            } else {
                Vec::new()
            },
            centre,
            radius,
        }
    }

    /// Mean of the points that lie furthest along `n`, to within 1e-5 of the radius.
    pub(crate) fn feature(&self, n: DVec3) -> DVec3 {
        let high = self.high(n) - 1e-5 * self.radius;
        let furthest: Vec<DVec3> = self.points.iter().copied().filter(|p| n.dot(*p) >= high).collect();
        furthest.iter().sum::<DVec3>() / furthest.len() as f64
    }

    fn low(&self, n: DVec3) -> f64 {
        self.points.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min)
    }

    fn high(&self, n: DVec3) -> f64 {
        self.points.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The separation that one unit axis shows.
pub(crate) fn separation(a: &Body64, b: &Body64, n: DVec3) -> f64 {
    b.low(n) - a.high(n)
}

/// The axis of largest separation among face normals and edge × edge.
///
/// `pruned` skips an edge pair if its own points, or the centres, already show that its axis can't win, or if the
/// axis points into one of the solids at its own edge: then the pair spans no facet of the Minkowski difference
/// (Gregorius 2013, "The Separating Axis Test between Convex Polyhedra", GDC).
fn best_axis(a: &Body64, b: &Body64, pruned: bool) -> Option<(f64, DVec3)> {
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
    for e in &a.edges {
        for f in &b.edges {
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

/// The nearest point of segment p to segment q, and of q to p (Ericson 2005, §5.1.9).
fn nearest_of_segments(p: &[DVec3; 2], q: &[DVec3; 2]) -> (DVec3, DVec3) {
    let (d1, d2, r) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    if a == 0.0 && e == 0.0 {
        return (p[0], q[0]);
    }
    let (s, t);
    if a == 0.0 {
        s = 0.0;
        t = (f / e).clamp(0.0, 1.0);
    } else {
        let c = d1.dot(r);
        if e == 0.0 {
            t = 0.0;
            s = (-c / a).clamp(0.0, 1.0);
        } else {
            let b = d1.dot(d2);
            let cross = d1.cross(d2);
            let denominator = cross.length_squared();
            let mut u = 0.0;
            if denominator > 0.0 {
                u = ((b * f - c * e) / denominator).clamp(0.0, 1.0);
            }
            let v = (b * u + f) / e;
            if v < 0.0 {
                t = 0.0;
                s = (-c / a).clamp(0.0, 1.0);
            } else if v > 1.0 {
                t = 1.0;
                s = ((b - c) / a).clamp(0.0, 1.0);
            } else {
                t = v;
                s = u;
            }
        }
    }
    (p[0] + d1 * s, q[0] + d2 * t)
}

/// The point of a triangle nearest to p (Ericson 2005, §5.1.5).
fn nearest_of_triangle([a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + ab * (d1 / (d1 - d3));
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return *b + (*c - *b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    *a + ab * (vb / sum) + ac * (vc / sum)
}

struct Nearest {
    square: f64,
    on_a: DVec3,
    on_b: DVec3,
}

impl Nearest {
    fn offer(&mut self, on_a: DVec3, on_b: DVec3) {
        let square = on_a.distance_squared(on_b);
        if square < self.square {
            *self = Self { square, on_a, on_b };
        }
    }
}

/// The nearest points over all feature pairs of two hulls; meaningless where the hulls overlap by more than rounding.
fn nearest(a: &Body64, b: &Body64) -> Nearest {
    let mut best = Nearest { square: f64::INFINITY, on_a: a.points[0], on_b: b.points[0] };
    for &p in &a.points {
        for &q in &b.points {
            best.offer(p, q);
        }
    }
    // A triangle behind whose plane the point lies, by more than rounding, is not the nearest one.
    let rounding = 1e-9 * (a.radius + b.radius);
    let faces_away = |body: &Body64, k: usize, p: DVec3| {
        body.outward.get(k).is_some_and(|n| n.dot(p - body.triangles[k][0]) < -rounding)
    };
    for (k, t) in a.triangles.iter().enumerate() {
        for &q in &b.points {
            if !faces_away(a, k, q) {
                best.offer(nearest_of_triangle(t, q), q);
            }
        }
    }
    for (k, t) in b.triangles.iter().enumerate() {
        for &p in &a.points {
            if !faces_away(b, k, p) {
                best.offer(p, nearest_of_triangle(t, p));
            }
        }
    }
    let with_ball = |edges: &[Edge]| -> Vec<(DVec3, f64)> {
        edges.iter().map(|e| ((e.ends[0] + e.ends[1]) * 0.5, e.along.length() * 0.5)).collect()
    };
    let (balls_a, balls_b) = (with_ball(&a.edges), with_ball(&b.edges));
    for (e, (middle_a, half_a)) in a.edges.iter().zip(&balls_a) {
        for (f, (middle_b, half_b)) in b.edges.iter().zip(&balls_b) {
            let reach = half_a + half_b + best.square.sqrt();
            if middle_a.distance_squared(*middle_b) <= reach * reach * (1.0 + 1e-12) {
                let (p, q) = nearest_of_segments(&e.ends, &f.ends);
                best.offer(p, q);
            }
        }
    }
    // Segments have no triangles to meet the other's vertices.
    for e in a.edges.iter().filter(|_| a.triangles.is_empty()) {
        for &q in &b.points {
            let (p, q) = nearest_of_segments(&e.ends, &[q, q]);
            best.offer(p, q);
        }
    }
    for f in b.edges.iter().filter(|_| b.triangles.is_empty()) {
        for &p in &a.points {
            let (p, q) = nearest_of_segments(&[p, p], &f.ends);
            best.offer(p, q);
        }
    }
    best
}

fn gap_of(a: &Body64, b: &Body64, pruned: bool) -> Gap {
    let sum = a.radius + b.radius;
    let axis = best_axis(a, b, pruned);
    let (facet, facet_axis) = axis.unwrap_or((f64::NEG_INFINITY, DVec3::ZERO));
    if axis.is_some() && facet < -1e-13 * sum {
        return Gap { gap: facet, axis: facet_axis.to_array(), slack: 0.0 };
    }
    // Apart, or touching to the last bits. Two hulls that overlap by some depth have features no further apart than
    // that depth, so the nearest features are right to rounding here even if they just overlap.
    let nearest = nearest(a, b);
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
fn bodies64(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (Body64, Body64) {
    let between = pose_b.position64() - pose_a.position64();
    (
        Body64::new(a, pose_a.rotation64(), pose_a.scale64(), DVec3::ZERO),
        Body64::new(b, pose_b.rotation64(), pose_b.scale64(), between),
    )
}

/// The signed gap of two placed hulls, right to 1e-9 S (S: the sum of their bounding radii), in world units.
pub fn gap(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Gap {
    let (a, b) = bodies64(a, pose_a, b, pose_b);
    gap_of(&a, &b, true)
}

/// [`gap`] for rotations, scales and an offset from the first position to the second that are not rounded to f32.
pub(crate) fn gap64(a: &Body64, b: &Body64) -> Gap {
    gap_of(a, b, true)
}

/// The signed gap of two placed hulls and the tolerance of the pair; the gap itself is skipped where the bounding
/// spheres are further apart than a tenth of the sum of their radii.
///
/// The bounding radii are about the mean of the points the shapes were made from: give shapes made from the hulls'
/// vertices.
pub fn truth(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Truth {
    let radii = [a.radius(pose_a.scale), b.radius(pose_b.scale)];
    let (radius, radius_sum) = (radii[0].min(radii[1]), radii[0] + radii[1]);
    let centre =
        |shape: &Shape, pose: &Pose| pose.rotation64() * (pose.scale64() * DVec3::from(shape.mean()));
    let between = pose_b.position64() - pose_a.position64() + (centre(b, pose_b) - centre(a, pose_a));
    let apart = between.length() - radius_sum;
    if apart > 0.1 * radius_sum {
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
    let Gap { gap, axis, .. } = gap(a, pose_a, b, pose_b);
    Truth { gap, tau: tolerance(radius, radius_sum, gap), radius_sum, radius, axis, exact: true }
}

/// [`truth`] of many pairs of bodies, in the order of the pairs, on all cores.
///
/// # Panics
/// If a pair's or a body's index is out of range.
pub fn truths(shapes: &[Shape], bodies: &[Placed], pairs: &[[u32; 2]]) -> Vec<Truth> {
    pairs
        .par_iter()
        .map(|&[i, j]| {
            let (a, b) = (&bodies[i as usize], &bodies[j as usize]);
            truth(&shapes[a.hull as usize], &a.pose, &shapes[b.hull as usize], &b.pose)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::scenes::{Kind, convex_set};

    fn cuboid(half: [f32; 3]) -> Shape {
        let mut points = Vec::new();
        for k in 0..8u8 {
            points.push([0, 1, 2].map(|i| if k >> i & 1 == 0 { -half[i] } else { half[i] }));
        }
        Shape::new(&points)
    }

    fn gap_at(a: &Shape, b: &Shape, position: [f32; 3]) -> f64 {
        gap(a, &Pose::default(), b, &Pose::at(position)).gap
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
            "{found:e}, expected {expected:e}"
        );
    }

    #[test]
    fn known_answers_for_cubes() {
        let cube = cuboid([0.5; 3]);
        near(gap_at(&cube, &cube, [2.0, 0.0, 0.0]), 1.0);
        near(gap_at(&cube, &cube, [0.0, -1.5, 0.25]), 0.5);
        // Face to face at exactly 0, edge to edge, corner to corner.
        near(gap_at(&cube, &cube, [1.0, 0.0, 0.0]), 0.0);
        near(gap_at(&cube, &cube, [1.0, 1.0, 0.0]), 0.0);
        near(gap_at(&cube, &cube, [2.0, 2.0, 0.0]), 2f64.sqrt());
        near(gap_at(&cube, &cube, [2.0, 2.0, 2.0]), 3f64.sqrt());
        near(gap_at(&cube, &cube, [0.0, 0.75, 0.0]), -0.25);
        near(gap_at(&cube, &cube, [0.0; 3]), -1.0);
        // Box in box.
        near(gap_at(&cuboid([2.0; 3]), &cube, [0.5, 0.0, 0.0]), -2.0);
        // A box and its copy moved by 2⁻¹⁰ and 2⁻²³.
        near(gap_at(&cube, &cube, [2f32.powi(-10), 0.0, 0.0]), 2f64.powi(-10) - 1.0);
        near(gap_at(&cube, &cube, [2f32.powi(-23), 0.0, 0.0]), 2f64.powi(-23) - 1.0);
    }

    #[test]
    fn known_answers_for_crossing_edges() {
        // Two cubes turned 45° about x and y, so that an edge along x meets one along y: reach √½ each.
        let cube = cuboid([0.5; 3]);
        let half = (std::f64::consts::PI / 8.0).sin_cos();
        let turned =
            |x: f64, y: f64| Pose { rotation: [x as f32, y as f32, 0.0, half.1 as f32], ..Pose::default() };
        let (a, mut b) = (turned(half.0, 0.0), turned(0.0, half.0));
        for (z, tolerance) in [(1.5f32, 1e-6), (1.4, 1e-6), (1.25, 1e-6)] {
            b.position = [0.0, 0.0, z];
            let found = gap(&cube, &a, &cube, &b);
            let expected = f64::from(z) - 2f64.sqrt();
            assert!((found.gap - expected).abs() < tolerance, "{} {expected}", found.gap);
            assert!(found.axis[2] > 0.999_999);
        }
    }

    #[test]
    fn known_answers_for_flat_shapes() {
        let point = Shape::new(&[[0.0; 3]]);
        let segment = Shape::new(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
        let across = Shape::new(&[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]);
        let square = Shape::new(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]);
        let upright = Shape::new(&[[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]]);
        let cube = cuboid([1.0; 3]);
        // Equal points, a point on a segment, beyond its end, beside it.
        near(gap_at(&point, &point, [0.0; 3]), 0.0);
        near(gap_at(&point, &point, [0.0, 3.0, 4.0]), 5.0);
        near(gap_at(&point, &segment, [0.5, 0.0, 0.0]), 0.0);
        near(gap_at(&point, &segment, [3.0, 0.0, 0.0]), 2.0);
        near(gap_at(&segment, &point, [0.0, 3.0, 0.0]), 3.0);
        // Segments: on one line overlapping and apart, parallel, crossing, skew, the end of one on the other.
        near(gap_at(&segment, &segment, [0.5, 0.0, 0.0]), 0.0);
        near(gap_at(&segment, &segment, [2.5, 0.0, 0.0]), 0.5);
        near(gap_at(&segment, &segment, [0.5, 0.25, 0.0]), 0.25);
        near(gap_at(&segment, &across, [0.5, 0.0, 0.0]), 0.0);
        near(gap_at(&segment, &across, [0.5, 0.5, 0.75]), 0.75);
        near(gap_at(&segment, &across, [0.0, 1.0, 0.0]), 0.0);
        near(gap_at(&segment, &across, [0.0, 1.5, 0.0]), 0.5);
        // Polygons: in one plane overlapping, nested, apart; parallel; one through the other; touching in an edge.
        near(gap_at(&square, &square, [0.5, 0.25, 0.0]), 0.0);
        near(gap_at(&square, &square, [0.0; 3]), 0.0);
        near(gap_at(&square, &square, [3.0, 0.0, 0.0]), 1.0);
        near(gap_at(&square, &square, [0.0, 0.0, 0.5]), 0.5);
        near(gap_at(&square, &upright, [0.0; 3]), -1.0);
        near(gap_at(&square, &upright, [0.75, 0.0, 0.0]), -0.25);
        near(gap_at(&square, &upright, [1.0, 0.0, 0.0]), 0.0);
        near(gap_at(&square, &upright, [0.0, 0.0, 1.5]), 0.5);
        near(gap_at(&square, &point, [0.5, 0.5, 0.0]), 0.0);
        near(gap_at(&square, &point, [0.5, 0.5, -0.5]), 0.5);
        near(gap_at(&square, &segment, [0.25, 0.0, 0.0]), 0.0);
        near(gap_at(&segment, &upright, [0.25, 0.0, 0.0]), -0.75);
        // Against a solid.
        near(gap_at(&cube, &point, [0.75, 0.0, 0.0]), -0.25);
        near(gap_at(&cube, &point, [1.0, 1.0, 1.0]), 0.0);
        near(gap_at(&cube, &segment, [2.5, 0.0, 0.0]), 0.5);
        near(gap_at(&cube, &segment, [0.0; 3]), -1.0);
        near(gap_at(&cube, &square, [0.0, 0.0, 0.75]), -0.25);
        near(gap_at(&cube, &square, [0.0, 0.0, 1.0]), 0.0);
    }

    #[test]
    fn icospheres_are_nearly_balls() {
        let mut random = Random::new(5);
        let points: Vec<[f32; 3]> = (0..400).map(|_| random.direction().as_vec3().to_array()).collect();
        let ball = Shape::new(&points);
        for d in [3.0f32, 2.0, 1.5] {
            let found = gap_at(&ball, &ball, [0.0, d, 0.0]);
            assert!((found - (f64::from(d) - 2.0)).abs() < 0.06, "{d} {found}");
        }
    }

    fn random_pose(random: &mut Random, reach: f64) -> Pose {
        let position = (random.direction() * reach * random.unit()).as_vec3().to_array();
        let scale = [0; 3].map(|_| random.between(0.5, 2.0) as f32);
        Pose { position, rotation: random.rotation(), scale }
    }

    #[test]
    fn pruning_swapping_and_moving_together_change_nothing() {
        let mut random = Random::new(21);
        let mut seen = [0; 2];
        for round in 0..400 {
            let kinds = Kind::ALL;
            let count = 4 + random.below(20);
            let a = Shape::new(&convex_set(&mut random, kinds[round % kinds.len()], count));
            let b = Shape::new(&convex_set(&mut random, kinds[(round / kinds.len()) % kinds.len()], count));
            let (pose_a, pose_b) = (random_pose(&mut random, 1.0), random_pose(&mut random, 3.0));
            let (body_a, body_b) = bodies64(&a, &pose_a, &b, &pose_b);
            let sum = body_a.radius + body_b.radius;
            let found = gap_of(&body_a, &body_b, true);
            seen[usize::from(found.gap > 0.0)] += 1;
            assert!(found.slack <= 1e-9 * sum, "round {round}: {found:?}");
            assert!((found.gap - gap_of(&body_a, &body_b, false).gap).abs() <= 1e-12 * sum);
            assert!((found.gap - gap(&b, &pose_b, &a, &pose_a).gap).abs() <= 1e-12 * sum);
            let turn = random.rotation64();
            let shift = random.direction() * 10.0;
            let moved = |shape: &Shape, pose: &Pose| {
                let offset = turn * pose.position64() + shift;
                Body64::new(shape, turn * pose.rotation64(), pose.scale64(), offset)
            };
            let again = gap_of(&moved(&a, &pose_a), &moved(&b, &pose_b), true);
            assert!(
                (found.gap - again.gap).abs() <= 1e-12 * (sum + 20.0),
                "round {round}: {found:?} {again:?}"
            );
            // Moving b along the axis by −gap makes the two touch.
            let place = |by: f64| {
                let offset = pose_b.position64() - pose_a.position64() + DVec3::from(found.axis) * by;
                gap_of(&body_a, &Body64::new(&b, pose_b.rotation64(), pose_b.scale64(), offset), true).gap
            };
            assert!(
                place(-found.gap).abs() <= 1e-9 * sum,
                "round {round}: {found:?} {:e}",
                place(-found.gap)
            );
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
    }

    /// Over every kind of scene: where apart, the two bounds of the distance meet; where overlapping, moving by the
    /// depth leaves features that meet, so no axis was missed.
    #[test]
    fn every_scene_is_certified() {
        use crate::scenes::*;
        let mut flat = convex_sets(12, 1.0, 5);
        flat.extend(
            flat.clone().into_iter().map(|set| set.into_iter().map(|[x, y, _]| [x, y, 0.0]).collect()),
        );
        flat.extend([vec![[0.25, 0.5, 0.75]], vec![[-1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]]);
        for (name, scene) in [
            (
                "near",
                near_pairs(&convex_sets(48, 1.0, 2), Near { count: COUNT, stretch: 20.0, ..Near::default() }),
            ),
            (
                "corpus",
                near_pairs(&crate::corpus::stand_ins(400, 4), Near { count: COUNT, ..Near::default() }),
            ),
            ("flat", near_pairs(&flat, Near { count: COUNT, ..Near::default() })),
            ("kissing", kissing_boxes(COUNT, 1)),
            ("tiny", tiny(1e-5, COUNT, 1)),
            ("far", far(COUNT, 1)),
            ("debris", debris(COUNT, false, 1)),
            ("tilted", debris(COUNT, true, 1)),
            ("coincident", coincident(&flat, 1)),
            ("nested", box_in_box(COUNT, 1)),
            ("lattice", stacked_cubes(4)),
            ("pyramid", pile(Pile::Pyramid, 150, 1)),
            ("heap", pile(Pile::Heap, 150, 1)),
        ] {
            let shapes = scene.shapes();
            for [i, j] in &scene.pairs {
                let (a, b) = (&scene.bodies[*i as usize], &scene.bodies[*j as usize]);
                let (shape_a, shape_b) = (&shapes[a.hull as usize], &shapes[b.hull as usize]);
                let (body_a, body_b) = bodies64(shape_a, &a.pose, shape_b, &b.pose);
                let sum = body_a.radius + body_b.radius;
                // The centres' part is for points, which have no size of their own.
                let permitted = 1e-9 * sum + 1e-15 * (body_a.centre.length() + body_b.centre.length());
                let found = gap_of(&body_a, &body_b, true);
                assert!(found.slack <= permitted, "{name} ({i}, {j}): {found:?} of {sum}");
                if found.gap >= 0.0 {
                    continue;
                }
                let offset = b.pose.position64() - a.pose.position64() - DVec3::from(found.axis) * found.gap;
                let moved = Body64::new(shape_b, b.pose.rotation64(), b.pose.scale64(), offset);
                let rest = gap_of(&body_a, &moved, true);
                assert!(rest.gap.abs() <= permitted, "{name} ({i}, {j}): {found:?}, then {rest:?} of {sum}");
            }
        }
    }

    /// Pairs of each scene above.
    const COUNT: usize = 300;

    /// No axis of a dense sample, refined by small steps, shows more than the gap found.
    #[test]
    fn no_sampled_axis_beats_the_gap() {
        let mut random = Random::new(33);
        for round in 0..60 {
            let kinds = Kind::ALL;
            let a = Shape::new(&convex_set(&mut random, kinds[round % kinds.len()], 16));
            let b = Shape::new(&convex_set(&mut random, kinds[(round * 7 + 3) % kinds.len()], 12));
            let (pose_a, pose_b) = (Pose::default(), random_pose(&mut random, 2.5));
            let (body_a, body_b) = bodies64(&a, &pose_a, &b, &pose_b);
            let found = gap_of(&body_a, &body_b, true).gap;
            let mut best = (f64::NEG_INFINITY, DVec3::X);
            for _ in 0..2000 {
                let n = random.direction();
                best = [best, (separation(&body_a, &body_b, n), n)]
                    [usize::from(separation(&body_a, &body_b, n) > best.0)];
            }
            let mut step = 0.3;
            while step > 1e-10 {
                for _ in 0..12 {
                    let n = (best.1 + random.direction() * step).normalize();
                    let s = separation(&body_a, &body_b, n);
                    if s > best.0 {
                        best = (s, n);
                    }
                }
                step *= 0.8;
            }
            let sum = body_a.radius + body_b.radius;
            assert!(best.0 <= found + 1e-12 * sum, "round {round}: {} beats {found}", best.0);
            // And the sample comes near, so that a gap reported too large is seen as well.
            assert!(best.0 >= found - 0.05 * sum, "round {round}: {} far below {found}", best.0);
        }
    }

    #[test]
    fn distances_equal_parry() {
        use parry3d_f64::math::{Pose as Isometry, Vector};
        use parry3d_f64::query::{distance, intersection_test};
        use parry3d_f64::shape::ConvexPolyhedron;
        let mut random = Random::new(44);
        let mut compared = 0;
        for _ in 0..300 {
            let sets = [Kind::Ball, Kind::Ellipsoid].map(|kind| convex_set(&mut random, kind, 20));
            let shapes = sets.each_ref().map(|s| Shape::new(s));
            let position = (random.direction() * random.between(0.5, 3.5)).as_vec3().to_array();
            let pose = Pose::at(position);
            let found = gap(&shapes[0], &Pose::default(), &shapes[1], &pose).gap;
            let hulls = sets.each_ref().map(|s| {
                let points: Vec<Vector> = s
                    .iter()
                    .map(|p| Vector::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2])))
                    .collect();
                ConvexPolyhedron::from_convex_hull(&points)
            });
            let [Some(a), Some(b)] = hulls else { continue };
            let [x, y, z] = position.map(f64::from);
            let (here, there) = (Isometry::identity(), Isometry::translation(x, y, z));
            if found.abs() > 1e-6 {
                let hit = intersection_test(&here, &a, &there, &b).expect("supported").intersecting;
                assert_eq!(hit, found < 0.0, "{found}");
            }
            let d = distance(&here, &a, &there, &b).expect("supported").distance;
            assert!((d - found.max(0.0)).abs() < 1e-7, "{d} {found}");
            compared += usize::from(found > 0.0);
        }
        assert!(compared > 100, "{compared}");
    }

    #[test]
    fn tolerance_is_the_larger_of_its_terms() {
        assert_eq!(tolerance(1.0, 2.0, 0.0), 1e-5);
        assert_eq!(tolerance(1.0, 1001.0, 0.0), 4e-6 * 1001.0);
        assert_eq!(tolerance(1.0, 2.0, -5.0), 1e-5);
    }

    #[test]
    fn far_pairs_are_told_without_the_gap() {
        let cube = cuboid([0.5; 3]);
        let far = truth(&cube, &Pose::default(), &cube, &Pose::at([5.0, 0.0, 0.0]));
        assert!(!far.exact && far.gap > 3.0 && far.gap <= 4.0);
        let near = truth(&cube, &Pose::default(), &cube, &Pose::at([1.5, 0.0, 0.0]));
        assert!(near.exact && near.gap == 0.5);
    }
}
