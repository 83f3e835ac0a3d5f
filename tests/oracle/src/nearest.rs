//! The nearest points of two placed hulls, by exhaustive search over pairs of features (Ericson 2005, "Real-Time
//! Collision Detection", §5.1).

use glam::DVec3;

use crate::body64::{Body64, Edge};

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

/// The point of a triangle nearest to p (Ericson 2005, §5.1.5).
pub(crate) fn nearest_of_triangle([a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
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

/// The nearest points over all feature pairs of two hulls; meaningless where the hulls overlap by more than rounding.
pub(crate) fn nearest(a: &Body64, b: &Body64) -> Nearest {
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
