//! The nearest points of two placed hulls, by exhaustive search over pairs of features (Ericson 2005, "Real-Time
//! Collision Detection", §5.1).

use glam::DVec3;

use crate::body64::{Body64, Edge, separation};

/// The nearest point of segment p to segment q, and of q to p (Ericson 2005, §5.1.9).
pub(crate) fn nearest_of_segments(p: &[DVec3; 2], q: &[DVec3; 2]) -> (DVec3, DVec3) {
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

/// The point of a triangle nearest to p: of its edges', or where p projects inside.
///
/// Every candidate is a convex combination of the corners, so none lies outside of the triangle, however thin. Ericson's
/// regions (2005, §5.1.5) divide by differences of products that for a triangle as thin as f32's rounding are noise in
/// f64 too, and so may leave it by a part of its length.
pub(crate) fn nearest_of_triangle([a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
    let mut best = (f64::INFINITY, *a);
    let mut offer = |q: DVec3| {
        let square = q.distance_squared(p);
        if square < best.0 {
            best = (square, q);
        }
    };
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let along = *to - *from;
        let square = along.length_squared();
        let t = if square > 0.0 { (along.dot(p - *from) / square).clamp(0.0, 1.0) } else { 0.0 };
        offer(*from + along * t);
    }
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if square > 0.0 {
        let (of_b, of_c) = (ap.cross(ac).dot(normal) / square, ab.cross(ap).dot(normal) / square);
        if of_b >= 0.0 && of_c >= 0.0 && of_b + of_c <= 1.0 {
            offer(*a + ab * of_b + ac * of_c);
        }
    }
    best.1
}

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
    /// With the outward normal, of a solid.
    triangles: Vec<(&'a [DVec3; 3], Option<DVec3>)>,
    /// With the middle and half the length.
    edges: Vec<(&'a Edge, DVec3, f64)>,
}

impl<'a> Features<'a> {
    /// Those that reach as high as `least` along `n`.
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

/// A pair of points near one another, by going to and fro between the hulls from where they lie nearest along `axis`.
fn to_and_fro(a: &Body64, b: &Body64, axis: DVec3) -> Nearest {
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

/// The nearest points over all feature pairs of two hulls; meaningless where the hulls overlap by more than rounding.
///
/// With an axis to start from, features that can't hold the nearest points are skipped: of a pair of points no further
/// apart than some d, none lies deeper than d − s below the top of its hull, s the separation along the same axis.
pub(crate) fn nearest(a: &Body64, b: &Body64, start: Option<DVec3>) -> Nearest {
    let mut best = Nearest { square: f64::INFINITY, on_a: a.points[0], on_b: b.points[0] };
    let sum = a.radius + b.radius;
    let (mut axis, mut slack) = (DVec3::ZERO, f64::INFINITY);
    if let Some(start) = start {
        best = to_and_fro(a, b, start);
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
    // A triangle behind whose plane the point lies, by more than rounding, is not the nearest one.
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
    // Segments have no triangles to meet the other's vertices.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Ericson's regions put the nearest point of this needle, as thin as f32's rounding makes three points in line,
    /// a part of its length away.
    #[test]
    fn the_nearest_point_of_a_needle_is_on_it() {
        let mut random = crate::random::Random::new(9);
        for _ in 0..10_000 {
            let (a, along) = (random.direction(), random.direction());
            let aside = along.any_orthonormal_vector() * 10_f64.powf(random.between(-9.0, 0.0));
            let triangle = [a, a + along, a + along * random.unit() + aside];
            let p =
                a + along * random.between(-0.2, 1.2) + random.direction() * random.log_between(1e-3, 1.0);
            let found = nearest_of_triangle(&triangle, p);
            // In the triangle's own frame, where the needle is a plain one.
            let (x, y) = (along, aside.normalize());
            let z = x.cross(y);
            let flat = found - a;
            let on_edge = |from: DVec3, to: DVec3| {
                let along = to - from;
                let t = (along.dot(p - from) / along.length_squared()).clamp(0.0, 1.0);
                (from + along * t).distance(p)
            };
            let [a, b, c] = triangle;
            let edges = on_edge(a, b).min(on_edge(b, c)).min(on_edge(c, a));
            assert!(found.distance(p) <= edges * (1.0 + 1e-12), "{triangle:?} {p}");
            assert!(flat.dot(z).abs() <= 1e-12);
            assert!((-1e-9..=1.0 + 1e-9).contains(&flat.dot(x)), "{triangle:?} {p}: {found}");
            let height = flat.dot(y);
            assert!(height >= -1e-12 && height <= aside.length() + 1e-12, "{triangle:?} {p}: {found}");
            // Nearer than any edge only right above the inside.
            assert!(edges - found.distance(p) <= aside.length() + 1e-12);
        }
    }
}
