//! Exact predicates in the plane: a fast filter, and Shewchuk's expansions where it can't decide.

use glam::DVec2;

/// The most that a coordinate may be: products of two differences stay far from overflow, and it is within the range
/// of the triangulation's own predicates (2²⁰¹).
pub(crate) const MAX_COORDINATE: f64 = 1e60;

/// The least that a coordinate other than 0 may be, so that products don't underflow (the triangulation's limit is
/// 2⁻¹⁴²).
pub(crate) const MIN_COORDINATE: f64 = 1e-42;

/// Shewchuk's `ccwerrboundA`.
const FILTER: f64 = 3.330_669_073_875_471_6e-16;

/// Twice the signed area of the triangle `a`, `b`, `c`: positive where `c` lies left of the line from `a` to `b`.
///
/// The sign is exact; the value is good to a few ulps of the larger product (Shewchuk 1997, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates", §4.2).
#[inline]
pub(crate) fn orient(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let left = (a.x - c.x) * (b.y - c.y);
    let right = (a.y - c.y) * (b.x - c.x);
    let area = left - right;
    if area.abs() > FILTER * (left.abs() + right.abs()) { area } else { orient_exact(a, b, c) }
}

#[cold]
fn orient_exact(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| robust::Coord { x: p.x, y: p.y };
    robust::orient2d(coord(a), coord(b), coord(c))
}

/// Where the segment from `a` to `b` meets a line, from how far to the line's left either end lies.
///
/// Both heights are in the same units; they differ in sign, or one of them is 0.
#[inline]
pub(crate) fn crossing(a: DVec2, b: DVec2, height_a: f64, height_b: f64) -> DVec2 {
    let part = height_a / (height_a - height_b);
    a + (b - a) * part
}

/// The point of the segment from `a` to `b` that is nearest to `p`.
#[inline]
pub(crate) fn nearest_on_segment(a: DVec2, b: DVec2, p: DVec2) -> DVec2 {
    let edge = b - a;
    let length_squared = edge.length_squared();
    if length_squared == 0.0 {
        return a;
    }
    let part = (p - a).dot(edge) / length_squared;
    if part <= 0.0 {
        a
    } else if part >= 1.0 {
        b
    } else {
        a + edge * part
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
