//! Exact predicates on f32 points.
//!
//! `robust` (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997)
//! is exact as long as nothing over- or underflows. Widened f32 coordinates and their differences are multiples of
//! 2^-149 below 2^129, so that products of three of them stay within 2^-447 and 2^390: always exact in f64. Two faster tests come first: f64 with an
//! error bound, then 128-bit integers. Both are exact too.

use robust::{Coord, Coord3D};

/// A point widened to f64.
#[inline]
pub(super) fn to_f64([x, y, z]: [f32; 3]) -> [f64; 3] {
    [f64::from(x), f64::from(y), f64::from(z)]
}

/// Positive where `d` lies strictly above the plane through `a`, `b`, `c`, seen counter-clockwise from above;
/// zero exactly where the four are coplanar. Only the sign is exact.
pub(super) fn above(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f64 {
    let origin = to_f64(d);
    let from_origin = |p: [f32; 3]| subtract(to_f64(p), origin);
    let (u, v, w) = (from_origin(a), from_origin(b), from_origin(c));
    let term = |i: usize, j: usize, k: usize| (w[i] * (u[j] * v[k]), w[i] * (u[k] * v[j]));
    let terms = [term(0, 1, 2), term(1, 2, 0), term(2, 0, 1)];
    let height: f64 = terms.iter().map(|(plus, minus)| plus - minus).sum();
    let magnitude: f64 = terms.iter().map(|(plus, minus)| plus.abs() + minus.abs()).sum();
    // Eight roundings of 2^-53 a term, and twice that for those of the bound itself.
    if height.abs() > 2f64.powi(-49) * magnitude {
        return -height;
    }
    above_exactly(a, b, c, d)
}

#[inline(never)]
fn above_exactly(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f64 {
    if let Some(height) = above_in_integers(a, b, c, d) {
        return height;
    }
    let coord = |p: [f32; 3]| Coord3D { x: p[0], y: p[1], z: p[2] };
    -robust::orient3d(coord(a), coord(b), coord(c), coord(d))
}

/// The same in integers; `None` where the coordinates along an axis span more than 40 bits. Most points that are coplanar as stored span
/// fewer, and these are the points that the f64 test leaves open.
fn above_in_integers(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> Option<f64> {
    let mut rows = [[0i64; 3]; 3];
    for axis in 0..3 {
        // A power of two for each axis changes no sign.
        let [a, b, c, d] = as_integers([a[axis], b[axis], c[axis], d[axis]])?;
        for (row, x) in rows.iter_mut().zip([a, b, c]) {
            row[axis] = x - d;
        }
    }
    // 41 bits each: 3 × 41 of their products and 3 of the sum of six stay below 127.
    let [u, v, w] = rows;
    let product = |x: i64, y: i64| i128::from(x) * i128::from(y);
    let minor = |j: usize, k: usize| product(u[j], v[k]) - product(u[k], v[j]);
    let term = |i: usize, j: usize, k: usize| i128::from(w[i]) * minor(j, k);
    let height = term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1);
    Some(-height.signum() as f64)
}

/// The four numbers as multiples of a power of two, each within 40 bits; `None` where there is no such power.
fn as_integers(numbers: [f32; 4]) -> Option<[i64; 4]> {
    let part = |x: f32| {
        let bits = x.to_bits();
        let (exponent, fraction) = (bits >> 23 & 0xff, i64::from(bits & 0x7f_ffff));
        let mantissa = if exponent == 0 { fraction } else { fraction | 0x80_0000 };
        let zeros = mantissa.trailing_zeros() % 64;
        let sign = if x < 0.0 { -1 } else { 1 };
        (sign * (mantissa >> zeros), exponent.max(1) + zeros)
    };
    let [a, b, c, d] = numbers;
    let parts = [part(a), part(b), part(c), part(d)];
    let least = parts.iter().filter(|part| part.0 != 0).map(|part| part.1).min().unwrap_or(0);
    let mut integers = [0; 4];
    for (integer, (mantissa, exponent)) in integers.iter_mut().zip(parts) {
        if mantissa != 0 {
            let shift = exponent - least;
            let bits = 64 - mantissa.unsigned_abs().leading_zeros();
            if shift + bits > 40 {
                return None;
            }
            *integer = mantissa << shift;
        }
    }
    Some(integers)
}

/// Positive where `c` lies strictly to the left of the line from `a` to `b`, in the coordinates `axes` of the points.
pub(super) fn left(a: [f32; 3], b: [f32; 3], c: [f32; 3], axes: [usize; 2]) -> f64 {
    let coord = |p: [f32; 3]| Coord { x: p[axes[0]], y: p[axes[1]] };
    robust::orient2d(coord(a), coord(b), coord(c))
}

/// As [`left`], but with an error of a few roundings of the value itself: twice the area of the projected triangle, negative where it is
/// clockwise. Only the sign is exact where the points are so many magnitudes apart that f64 does not hold their differences.
pub(super) fn area(a: [f32; 3], b: [f32; 3], c: [f32; 3], axes: [usize; 2]) -> f64 {
    let [a2, b2, c2] = [a, b, c].map(|p| axes.map(|axis| f64::from(p[axis])));
    let [u, v] = [a2, b2].map(|p| [0, 1].map(|k| p[k] - c2[k]));
    // A difference of two f32 is exact exactly where adding and subtracting it gives both of them back.
    let exact = [(a2, u), (b2, v)]
        .into_iter()
        .all(|(p, d)| (0..2).all(|k| d[k] + c2[k] == p[k] && p[k] - d[k] == c2[k]));
    if !exact {
        return left(a, b, c, axes);
    }
    let (plus, plus_rest) = product(u[0], v[1]);
    let (minus, minus_rest) = product(u[1], v[0]);
    (plus - minus) + (plus_rest - minus_rest)
}

/// A product and its rounding error (Dekker 1971).
fn product(x: f64, y: f64) -> (f64, f64) {
    let halves = |x: f64| {
        let large = 134_217_729.0 * x;
        let high = large - (large - x);
        (high, x - high)
    };
    let ((x1, x2), (y1, y2)) = (halves(x), halves(y));
    let rounded = x * y;
    (rounded, x2 * y2 - (((rounded - x1 * y1) - x2 * y1) - x1 * y2))
}

/// Two axes such that the projections of the three points are not collinear; `None` exactly where the points are collinear.
pub(super) fn projection_axes(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> Option<[usize; 2]> {
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
    fn integers_agree_with_expansions() {
        let mut state = 1u32;
        let mut next = |range: i32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as i32 % range
        };
        let mut signs = [0; 3];
        for round in 0..30_000 {
            let range = [2, 3, 20, 10_000][round % 4];
            let scale = [0.1, 1.0, 1e-38, 3e30][round / 4 % 4];
            let [a, b, c, mut d] = [0; 4].map(|_| [0; 3].map(|_| (next(range) - range / 2) as f32 * scale));
            if round % 3 == 0 {
                d = [0, 1, 2].map(|k| a[k] + b[k] - c[k]);
                d[0] = [d[0].next_down(), d[0], d[0].next_up()][next(3) as usize];
            }
            let coord = |p: [f32; 3]| Coord3D { x: p[0], y: p[1], z: p[2] };
            let exact = -robust::orient3d(coord(a), coord(b), coord(c), coord(d));
            let sign = if exact == 0.0 { 0.0 } else { exact.signum() };
            signs[(sign + 1.0) as usize] += 1;
            if let Some(height) = above_in_integers(a, b, c, d) {
                assert_eq!(height, sign, "{a:?} {b:?} {c:?} {d:?}");
            }
            let height = above(a, b, c, d);
            assert_eq!(if height == 0.0 { 0.0 } else { height.signum() }, sign, "{a:?} {b:?} {c:?} {d:?}");
        }
        assert!(signs.iter().all(|&count| count > 1000), "{signs:?}");
        assert_eq!(as_integers([1.0, -0.5, 0.0, 3.0]), Some([2, -1, 0, 6]));
        assert_eq!(as_integers([1e38, 1e-40, 0.0, 0.0]), None);
        assert_eq!(as_integers([f32::from_bits(1), 0.0, -0.0, f32::MIN_POSITIVE]), Some([1, 0, 0, 1 << 23]));
    }

    /// Against integers: triangles whose area is a small part of the products that it is the difference of.
    #[test]
    fn areas_of_needles_keep_their_digits() {
        let mut state = 7u64;
        let mut next = |bits: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % (1 << bits) - (1 << (bits - 1))
        };
        let mut coarse_count = 0;
        for _ in 0..20_000 {
            // Two points far out and one near the origin, on the line through them as f32 rounds it.
            let p = [next(24) << 12, next(24) << 12];
            let q = p.map(|x| (-(x as f64) * 3e-5) as f32 as i64);
            let r = [next(11), next(11)];
            let (u, v) =
                ([p[0] - r[0], p[1] - r[1]].map(i128::from), [q[0] - r[0], q[1] - r[1]].map(i128::from));
            let exact = (u[0] * v[1] - u[1] * v[0]) as f64;
            let [p, q, r] = [p, q, r].map(|p| [p[0] as f32, 0.0, p[1] as f32]);
            let found = area(p, q, r, [0, 2]);
            assert!((found - exact).abs() <= 1e-15 * exact.abs(), "{p:?} {q:?} {r:?}: {found}, {exact}");
            coarse_count += usize::from((left(p, q, r, [0, 2]) - exact).abs() > 1e-14 * exact.abs());
        }
        // Negative control: the difference of two rounded products is not that good.
        assert!(coarse_count > 100, "{coarse_count}");
    }

    #[test]
    fn collinear_is_exact() {
        assert_eq!(projection_axes([0.1; 3], [0.2; 3], [0.4; 3]), None);
        assert!(projection_axes([0.1; 3], [0.2; 3], [0.4, 0.4, 0.4f32.next_up()]).is_some());
        // 1e30 ± 1 is 1e30 in f64: only the tails of the differences tell these apart.
        assert!(projection_axes([1e30, 0.0, 0.0], [-1e30, 0.0, 0.0], [0.0, 1e-40, 0.0]).is_some());
        assert_eq!(projection_axes([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [7.0, 0.0, 0.0]), None);
    }
}
