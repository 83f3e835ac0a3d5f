//! Exact predicates in the plane: a fast floating-point filter, and Shewchuk's expansions where the filter can't decide.

use glam::DVec2;

/// The largest magnitude of a coordinate. Products of two differences stay far from overflow, and it is within the limit of the
/// triangulation (`spade`: 2²⁰¹).
pub(crate) const MAX_COORDINATE: f64 = 1e60;

/// The smallest magnitude of a coordinate other than 0. Products don't underflow, and it is within the limit of the triangulation
/// (`spade`: 2⁻¹⁴²).
pub(crate) const MIN_COORDINATE: f64 = 1e-42;

/// Shewchuk's `ccwerrboundA`.
const CCW_ERROR_BOUND_A: f64 = 3.330_669_073_875_471_6e-16;

/// Twice the signed area of the triangle `a`, `b`, `c`: positive where `c` lies left of the line from `a` to `b`.
///
/// The sign is exact; the value is good to a few ulps of the larger product (Shewchuk 1997, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates", §4.2).
#[inline]
pub(crate) fn orient(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let left = (a.x - c.x) * (b.y - c.y);
    let right = (a.y - c.y) * (b.x - c.x);
    let area = left - right;
    if area.abs() > CCW_ERROR_BOUND_A * (left.abs() + right.abs()) { area } else { orient_exact(a, b, c) }
}

#[cold]
fn orient_exact(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| robust::Coord { x: p.x, y: p.y };
    robust::orient2d(coord(a), coord(b), coord(c))
}

/// Where the segment from `a` to `b` meets a line. The heights say how far to the left of the line each end lies, in any common unit.
///
/// The heights differ in sign, or one of them is 0.
#[inline]
pub(crate) fn crossing(a: DVec2, b: DVec2, height_a: f64, height_b: f64) -> DVec2 {
    let fraction = height_a / (height_a - height_b);
    a + (b - a) * fraction
}

/// The point of the segment from `a` to `b` that is nearest to `p`.
#[inline]
pub(crate) fn nearest_on_segment(a: DVec2, b: DVec2, p: DVec2) -> DVec2 {
    let edge = b - a;
    let length_squared = edge.length_squared();
    if length_squared == 0.0 {
        return a;
    }
    let fraction = (p - a).dot(edge) / length_squared;
    if fraction <= 0.0 {
        a
    } else if fraction >= 1.0 {
        b
    } else {
        a + edge * fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_is_exact_where_rounding_hides_it() {
        // A point one ulp beside a line through points far away.
        let (a, b) = (DVec2::new(12.0, 12.0), DVec2::new(24.0, 24.0));
        let on = DVec2::new(0.5, 0.5);
        let above = DVec2::new(0.5, 0.5 + f64::EPSILON);
        assert_eq!(orient(a, b, on), 0.0);
        assert!(orient(a, b, above) > 0.0);
        assert!(orient(b, a, above) < 0.0);
    }
}
