//! Exact predicates on f32 points.
//!
//! `robust` (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997)
//! is exact as long as nothing over- or underflows. Widened f32 coordinates and their differences are multiples of
//! 2^-149 below 2^129, so that products of three of them stay within 2^-447 and 2^390: always exact in f64.

use robust::{Coord, Coord3D};

/// A point widened to f64.
pub(super) fn wide(p: [f32; 3]) -> [f64; 3] {
    p.map(f64::from)
}

/// Positive where `d` lies strictly above the plane through `a`, `b`, `c`, seen counter-clockwise from above;
/// zero exactly where the four are coplanar. Only the sign is exact.
pub(super) fn above(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f64 {
    let coord = |p: [f32; 3]| Coord3D { x: p[0], y: p[1], z: p[2] };
    -robust::orient3d(coord(a), coord(b), coord(c), coord(d))
}

/// Positive where `c` lies strictly to the left of the line from `a` to `b`, in the coordinates `axes` of the points.
pub(super) fn left(a: [f32; 3], b: [f32; 3], c: [f32; 3], axes: [usize; 2]) -> f64 {
    let coord = |p: [f32; 3]| Coord { x: p[axes[0]], y: p[axes[1]] };
    robust::orient2d(coord(a), coord(b), coord(c))
}

/// Two axes along which the projections of the three points are not collinear; none exactly where the points are.
pub(super) fn spread(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> Option<[usize; 2]> {
    [[0, 1], [1, 2], [2, 0]].into_iter().find(|&axes| left(a, b, c, axes) != 0.0)
}

pub(super) fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_exact_at_the_ends_of_f32() {
        let tiny = f32::from_bits(1);
        let (o, x, y) = ([0.0; 3], [tiny, 0.0, 0.0], [0.0, tiny, 0.0]);
        assert!(above(o, x, y, [0.0, 0.0, tiny]) > 0.0);
        assert!(above(o, x, y, [0.0, 0.0, -tiny]) < 0.0);
        assert_eq!(above(o, x, y, [f32::MAX, -f32::MAX, 0.0]), 0.0);
        let (o, x, y) = ([-f32::MAX; 3], [f32::MAX, -f32::MAX, -f32::MAX], [-f32::MAX, f32::MAX, -f32::MAX]);
        assert!(above(o, x, y, [0.0, 0.0, f32::MAX]) > 0.0);
        assert!(above(o, x, y, [0.0, 0.0, (-f32::MAX).next_up()]) > 0.0);
        assert_eq!(above(o, x, y, [0.0, tiny, -f32::MAX]), 0.0);
    }

    #[test]
    fn collinear_is_exact() {
        assert_eq!(spread([0.1; 3], [0.2; 3], [0.4; 3]), None);
        assert!(spread([0.1; 3], [0.2; 3], [0.4, 0.4, 0.4f32.next_up()]).is_some());
        // 1e30 ± 1 is 1e30 in f64: only the tails of the differences tell these apart.
        assert!(spread([1e30, 0.0, 0.0], [-1e30, 0.0, 0.0], [0.0, 1e-40, 0.0]).is_some());
        assert_eq!(spread([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [7.0, 0.0, 0.0]), None);
    }
}
