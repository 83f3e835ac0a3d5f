//! The nearest points of segments and triangles (Ericson 2005, "Real-Time Collision Detection", §5.1).

use glam::DVec3;

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

/// The point of a triangle nearest to p: the nearest of its edges, or the projection of p if that is inside.
///
/// Every candidate is a convex combination of the corners, so it is in the triangle, however thin this is. Ericson's regions (2005,
/// §5.1.5) divide by differences of products. For a triangle as thin as the rounding of f32 these are noise even in f64, and the
/// result may be outside by a part of the triangle's length.
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
        let weights = |v: DVec3| (v.cross(ac).dot(normal) / square, ab.cross(v).dot(normal) / square);
        let (rough_b, rough_c) = weights(ap);
        // Rounding spoils these weights for a thin triangle. A second pass over the remainder corrects them (iterative refinement).
        let (rest_b, rest_c) = weights(ap - ab * rough_b - ac * rough_c);
        let (of_b, of_c) = (rough_b + rest_b, rough_c + rest_c);
        if of_b >= 0.0 && of_c >= 0.0 && of_b + of_c <= 1.0 {
            offer(*a + ab * of_b + ac * of_c);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of the rim of a plate, 8.5 long and 2e-6 thick, is on it. Without the second pass the result was 1e-8 off.
    #[test]
    fn a_point_of_a_thin_triangle_is_on_it() {
        let mut random = crate::random::Random::new(10);
        for _ in 0..10_000 {
            let along = random.direction() * random.between(1.0, 20.0);
            let aside = along.any_orthonormal_vector() * random.log_between(1e-7, 1e-5);
            let a = random.direction() * 10.0;
            let triangle = [a, a + along + aside, a + aside];
            let (mut u, mut v) = (random.unit(), random.unit());
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            let p = a + (triangle[1] - a) * u + (triangle[2] - a) * v;
            let off = nearest_of_triangle(&triangle, p).distance(p);
            assert!(off <= 2e-14, "{triangle:?} {p}: {off:e}");
        }
    }

    /// Ericson's regions put the nearest point of a needle, as thin as three collinear points rounded to f32, off by a part of its
    /// length.
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
            // In the triangle's own frame.
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
            // The point is nearer than the edges only above the interior.
            assert!(edges - found.distance(p) <= aside.length() + 1e-12);
        }
    }
}
