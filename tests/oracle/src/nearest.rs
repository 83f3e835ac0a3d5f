//! The nearest points of two placed hulls, by exhaustive search over pairs of features.

use glam::DVec3;

use crate::body64::{Body64, Edge, separation};
use crate::primitive::{nearest_of_segments, nearest_of_triangle};

pub(crate) struct Nearest {
    pub(crate) square: f64,
    pub(crate) on_a: DVec3,
    pub(crate) on_b: DVec3,
}

impl Nearest {
    fn offer(&mut self, on_a: DVec3, on_b: DVec3) {
        let square = on_a.distance_squared(on_b);
        if square < self.square {
            *self = Self { square, on_a, on_b };
        }
    }
}

/// The features of a hull that may hold the nearest point.
struct Features<'a> {
    points: Vec<DVec3>,
    /// Each with its outward normal, for a solid.
    triangles: Vec<(&'a [DVec3; 3], Option<DVec3>)>,
    /// Each with its middle and half its length.
    edges: Vec<(&'a Edge, DVec3, f64)>,
}

impl<'a> Features<'a> {
    /// The features that reach at least `least` along `n`.
    fn new(body: &'a Body64, n: DVec3, least: f64) -> Self {
        let reaches = |p: &DVec3| n.dot(*p) >= least;
        let with_normal = |(k, t)| (t, body.outward.get(k).copied());
        let with_ball = |e: &'a Edge| (e, (e.ends[0] + e.ends[1]) * 0.5, e.along.length() * 0.5);
        Self {
            points: body.points.iter().copied().filter(reaches).collect(),
            triangles: body
                .triangles
                .iter()
                .enumerate()
                .map(with_normal)
                .filter(|(t, _)| t.iter().any(reaches))
                .collect(),
            edges: body.edges.iter().filter(|e| e.ends.iter().any(reaches)).map(with_ball).collect(),
        }
    }
}

/// A pair of near points, by alternating projections between the hulls, starting from the first's point furthest along `axis`.
fn alternating_projections(a: &Body64, b: &Body64, axis: DVec3) -> Nearest {
    let mut best = Nearest { square: f64::INFINITY, on_a: a.points[0], on_b: b.points[0] };
    let start = a.points.iter().copied().max_by(|p, q| axis.dot(*p).total_cmp(&axis.dot(*q)));
    let mut on_a = start.unwrap_or(a.points[0]);
    for _ in 0..6 {
        let on_b = b.nearest_surface_point(on_a);
        best.offer(on_a, on_b);
        on_a = a.nearest_surface_point(on_b);
        best.offer(on_a, on_b);
    }
    best
}

/// The nearest points over all feature pairs of two hulls. Meaningless if the hulls overlap by more than rounding.
///
/// With an axis to start from, features that cannot have the nearest points are skipped. For two points at a distance of at most
/// d, each is at most d − s below the top of its hull along an axis of separation s.
pub(crate) fn nearest(a: &Body64, b: &Body64, start: Option<DVec3>) -> Nearest {
    let mut best = Nearest { square: f64::INFINITY, on_a: a.points[0], on_b: b.points[0] };
    let sum = a.radius + b.radius;
    let (mut axis, mut slack) = (DVec3::ZERO, f64::INFINITY);
    if let Some(start) = start {
        best = alternating_projections(a, b, start);
        let distance = best.square.sqrt();
        for n in [start, (best.on_b - best.on_a).normalize_or_zero()] {
            let own = distance - separation(a, b, n) + 1e-9 * (sum + distance);
            if n != DVec3::ZERO && own < slack {
                (axis, slack) = (n, own);
            }
        }
    }
    let below = |high: f64| if slack.is_finite() { high - slack } else { f64::NEG_INFINITY };
    let features_a = Features::new(a, axis, below(a.high(axis)));
    let features_b = Features::new(b, -axis, below(b.high(-axis)));
    for &p in &features_a.points {
        for &q in &features_b.points {
            best.offer(p, q);
        }
    }
    // A triangle with the point behind its plane, by more than rounding, is not the nearest one.
    let rounding = 1e-9 * sum;
    let faces_away =
        |(t, n): &(&[DVec3; 3], Option<DVec3>), p: DVec3| n.is_some_and(|n| n.dot(p - t[0]) < -rounding);
    for t in &features_a.triangles {
        for &q in &features_b.points {
            if !faces_away(t, q) {
                best.offer(nearest_of_triangle(t.0, q), q);
            }
        }
    }
    for t in &features_b.triangles {
        for &p in &features_a.points {
            if !faces_away(t, p) {
                best.offer(p, nearest_of_triangle(t.0, p));
            }
        }
    }
    for (e, middle_a, half_a) in &features_a.edges {
        for (f, middle_b, half_b) in &features_b.edges {
            let reach = half_a + half_b + best.square.sqrt();
            if middle_a.distance_squared(*middle_b) <= reach * reach * (1.0 + 1e-12) {
                let (p, q) = nearest_of_segments(&e.ends, &f.ends);
                best.offer(p, q);
            }
        }
    }
    // A hull without triangles needs its edges compared with the other's vertices.
    for (e, ..) in features_a.edges.iter().filter(|_| a.triangles.is_empty()) {
        for &q in &features_b.points {
            let (p, q) = nearest_of_segments(&e.ends, &[q, q]);
            best.offer(p, q);
        }
    }
    for (f, ..) in features_b.edges.iter().filter(|_| b.triangles.is_empty()) {
        for &p in &features_a.points {
            let (p, q) = nearest_of_segments(&[p, p], &f.ends);
            best.offer(p, q);
        }
    }
    best
}
