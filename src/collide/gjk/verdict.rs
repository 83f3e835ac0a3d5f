//! GJK on the Minkowski difference, until a verdict is certain. It computes no exact distance.
//!
//! Gilbert, Johnson, Keerthi 1988, with the closest-point step over the regions that the newest vertex can lie in
//! (Ericson 2005, §5.1). Written once for f32 and f64; `shaders/collide/gjk/verdict.wgsl` is the f32 form
//! for the GPU, and says where its loop differs.
//!
//! Lengths are in units of the pair (see [`Relative`](crate::collide::gjk::pose::Relative)), the difference `D = A − B` in the
//! frame of `a`. Every direction tried bounds the signed gap from below: `gap ≥ s(n) = min over D of n·x`.
//! Every point of `D` bounds it from above. The search stops when the bounds allow a verdict:
//!
//! * `s(n)` above [`Limits::separated`]: separated, `n` is the certificate;
//! * a tetrahedron in `D` that holds the origin deeper than [`Limits::penetrating`], its own rounding error
//!   included: penetrating;
//! * a point of `D` within [`Limits::near`] of the origin, a thinner tetrahedron, or no more progress: near, which
//!   EPA decides.

use crate::collide::gjk::vector::{Real, Vector};

/// Iterations before a pair is left to EPA.
pub(crate) const ITERATION_LIMIT: u32 = 32;

/// The convex set `D = A − B`, known by its support mapping.
pub(crate) trait Difference {
    /// f32 or f64 vector.
    type Vector: Vector;
    /// The point of `D` furthest along `direction`, which need not be of unit length.
    fn support(&self, direction: Self::Vector) -> Self::Vector;
}

/// The thresholds of verdicts, in the pair's unit. Each includes the error of the support points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<R> {
    /// A lower bound of the gap above this is a separation.
    pub(crate) separated: R,
    /// A gap touches that is known to be at least minus this and at most [`Self::near`].
    pub(crate) touching: R,
    /// A point of `D` within this of the origin shows that.
    pub(crate) near: R,
    /// A depth known to be above this is a penetration.
    pub(crate) penetrating: R,
}

/// One to four points of `D`; the rest of the array is unused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simplex<V> {
    /// The points.
    pub(crate) points: [V; 4],
    /// How many of them count.
    pub(crate) len: usize,
}

/// The result of GJK.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome<V> {
    /// No point of `D` has `axis · x` below [`Limits::separated`] times the axis' length. Not of unit length; from
    /// `b` to `a`.
    Separated { axis: V },
    /// A tetrahedron encloses the origin deeper than [`Limits::penetrating`].
    Penetrating,
    /// The origin is within [`Limits::near`] of the simplex, or inside of it but not deep enough, or rounding
    /// stopped the descent: EPA continues from here.
    Near { simplex: Simplex<V> },
}

/// Runs GJK from the direction `start`, of any length. The direction from `b`'s centre to `a`'s is a good one. `visit` is called with
/// every simplex, newest point last, and its point closest to the origin.
#[inline(always)]
pub(crate) fn gjk<D: Difference>(
    difference: &D,
    start: D::Vector,
    limits: &Limits<<D::Vector as Vector>::Scalar>,
    mut visit: impl FnMut(&Simplex<D::Vector>, D::Vector),
) -> Outcome<D::Vector> {
    let zero = Real::from_f64(0.0);
    let separated_squared = limits.separated * limits.separated;
    let near_squared = limits.near * limits.near;
    let mut closest = start;
    let mut closest_squared = start.dot(start);
    if !(closest_squared > zero) {
        closest = Vector::new(Real::from_f64(1.0), zero, zero);
        closest_squared = Real::from_f64(1.0);
    }
    let mut simplex = Simplex { points: [closest; 4], len: 0 };
    for iteration in 0..ITERATION_LIMIT {
        let newest = difference.support(-closest);
        let along = closest.dot(newest);
        simplex.points[simplex.len] = newest;
        simplex.len += 1;
        if along > zero && along * along > separated_squared * closest_squared {
            // Where the first direction already separates, its one point is the only simplex.
            if iteration == 0 {
                visit(&simplex, newest);
            }
            return Outcome::Separated { axis: closest };
        }
        let step = reduce(&mut simplex);
        let Some(point) = step else {
            visit(&simplex, Vector::new(zero, zero, zero));
            return if enclosure(&simplex.points) > limits.penetrating {
                Outcome::Penetrating
            } else {
                Outcome::Near { simplex }
            };
        };
        visit(&simplex, point);
        let squared = point.dot(point);
        if squared <= near_squared {
            return Outcome::Near { simplex };
        }
        // The first direction is a guess, not a point of D. The distance must fall only from then on.
        if iteration > 0 && !(squared < closest_squared) {
            return Outcome::Near { simplex };
        }
        closest = point;
        closest_squared = squared;
    }
    Outcome::Near { simplex }
}

/// Shrinks the simplex, whose last point is the newest, to the face that holds the point closest to the origin, and
/// returns that point; `None` where a tetrahedron holds the origin. The newest point is always kept.
#[inline(always)]
pub(crate) fn reduce<V: Vector>(simplex: &mut Simplex<V>) -> Option<V> {
    let [p, q, r, s] = simplex.points;
    match simplex.len {
        1 => Some(p),
        2 => Some(segment(simplex, q, p)),
        3 => Some(triangle(simplex, r, q, p)),
        _ => tetrahedron(simplex, s, r, q, p),
    }
}

/// Closest point on the segment `a b`, of which `a` is the newest.
#[inline(always)]
fn segment<V: Vector>(simplex: &mut Simplex<V>, a: V, b: V) -> V {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let t = -a.dot(ab);
    if t <= zero {
        return keep1(simplex, a);
    }
    let squared = ab.dot(ab);
    if t >= squared {
        // Only rounding leads here, because the older end was already the closest point.
        return keep1(simplex, b);
    }
    simplex.points[0] = b;
    simplex.points[1] = a;
    simplex.len = 2;
    a + ab * t.divided_by(squared)
}

#[inline(always)]
fn keep1<V: Vector>(simplex: &mut Simplex<V>, a: V) -> V {
    simplex.points[0] = a;
    simplex.len = 1;
    a
}

/// Closest point on the triangle `a b c`, of which `a` is the newest: inside, on `ab`, on `ac` or at `a`.
#[inline(always)]
fn triangle<V: Vector>(simplex: &mut Simplex<V>, a: V, b: V, c: V) -> V {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let ac = c - a;
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    // Areas: the weights of b and c, times `squared`.
    let weight_b = ac.cross(a).dot(normal);
    let weight_c = a.cross(ab).dot(normal);
    if weight_b > zero && weight_c > zero && weight_b + weight_c < squared {
        simplex.points[0] = c;
        simplex.points[1] = b;
        simplex.points[2] = a;
        simplex.len = 3;
        return normal * a.dot(normal).divided_by(squared);
    }
    if weight_c <= zero && -a.dot(ab) > zero {
        return segment(simplex, a, b);
    }
    if -a.dot(ac) > zero {
        return segment(simplex, a, c);
    }
    if -a.dot(ab) > zero {
        return segment(simplex, a, b);
    }
    keep1(simplex, a)
}

/// Closest point on the tetrahedron `a b c d`, of which `a` is the newest; `None` where it holds the origin.
#[inline(always)]
fn tetrahedron<V: Vector>(simplex: &mut Simplex<V>, a: V, b: V, c: V, d: V) -> Option<V> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let ac = c - a;
    let ad = d - a;
    let abc = ab.cross(ac);
    let volume = abc.dot(ad);
    // Outside of a face: on the other side of it than the fourth point.
    let outside = |normal: V| {
        let side = -a.dot(normal);
        if volume > zero { side < zero } else { side > zero }
    };
    let mut best = None;
    for (beyond, p, q) in [(outside(abc), b, c), (outside(ac.cross(ad)), c, d), (outside(ad.cross(ab)), d, b)]
    {
        if !beyond {
            continue;
        }
        let Some((least, point)) = best else {
            // Mostly there is only one such face, and its simplex can be used directly.
            let point = triangle(simplex, a, p, q);
            best = Some((point.dot(point), point));
            continue;
        };
        let mut part = *simplex;
        let other = triangle(&mut part, a, p, q);
        let squared = other.dot(other);
        if squared < least {
            *simplex = part;
            best = Some((squared, other));
        } else {
            best = Some((least, point));
        }
    }
    best.map(|(_, point)| point)
}

/// A lower bound of the distance from the origin to the faces of a tetrahedron that holds it, rounding included;
/// at most zero where it may not hold it.
#[inline(always)]
pub(crate) fn enclosure<V: Vector>(points: &[V; 4]) -> V::Scalar {
    let zero = V::Scalar::from_f64(0.0);
    let [p, q, r, s] = *points;
    let volume = (q - p).cross(r - p).dot(s - p);
    let error = volume_error(q - p, r - p, s - p);
    let (r, s) = if volume < zero { (s, r) } else { (r, s) };
    let least = least_face_bound([[p, r, q], [p, s, r], [p, q, s], [q, r, s]]);
    // Otherwise the tetrahedron may be inside out.
    let is_sure = (volume > error) | (-volume > error);
    if is_sure & (least > zero) { least } else { zero }
}

/// The same for two tetrahedra on either side of a triangle: a lower bound of the distance to their six outer faces. A point inside all
/// six planes is in one of the two, even where their union is not convex. The first apex is above the triangle, seen from where its corners
/// are counter-clockwise, the second below.
#[inline(always)]
pub(crate) fn enclosure_of_two<V: Vector>([p, q, r]: [V; 3], [above, below]: [V; 2]) -> V::Scalar {
    let zero = V::Scalar::from_f64(0.0);
    let (pq, pr) = (q - p, r - p);
    let normal = pq.cross(pr);
    let is_apex = |height: V::Scalar, arm: V| height > zero && height > volume_error(pq, pr, arm);
    if !(is_apex(normal.dot(above - p), above - p) && is_apex(-normal.dot(below - p), below - p)) {
        return zero;
    }
    least_face_bound([
        [p, q, above],
        [q, r, above],
        [r, p, above],
        [q, p, below],
        [r, q, below],
        [p, r, below],
    ])
}

/// The same for the four tetrahedra around an edge, each with two consecutive points of four; 0 where the points do not go around the
/// edge exactly once.
#[inline(always)]
pub(crate) fn enclosure_around<V: Vector>([p, q]: [V; 2], around: [V; 4]) -> V::Scalar {
    let zero = V::Scalar::from_f64(0.0);
    let edge = q - p;
    let mut least = V::Scalar::from_f64(1e30);
    for at in 0..4 {
        let (r, s) = (around[at], around[(at + 1) % 4]);
        // Consecutive points are certainly less than half a turn apart.
        let turn = edge.cross(r - p).dot(s - p);
        if !(turn > zero && turn > volume_error(edge, r - p, s - p)) {
            return zero;
        }
        let bound = least_face_bound([[p, s, r], [q, r, s]]);
        if !(bound >= least) {
            least = bound;
        }
    }
    least
}

/// The least of the bounds of some faces; NaN where one is.
#[inline(always)]
fn least_face_bound<V: Vector, const N: usize>(faces: [[V; 3]; N]) -> V::Scalar {
    let mut least = V::Scalar::from_f64(1e30);
    for [a, b, c] in faces {
        let bound = face_bound(a, b, c);
        if !(bound >= least) {
            least = bound;
        }
    }
    least
}

/// A lower bound of how far the origin is below the plane `a b c`, counter-clockwise seen from above.
#[inline(always)]
fn face_bound<V: Vector>(a: V, b: V, c: V) -> V::Scalar {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let ac = c - a;
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    if !(squared > zero) {
        return zero;
    }
    (normal.dot(a) - face_error(a, ab, ac)).divided_by(squared.sqrt())
}

/// Bound of the error of `(ab × ac) · a` as the height of a plane, times the computed length of `ab × ac`.
///
/// `u` is one rounding. The differences are off by `u` each, the cross product by another `2√2 u`, the scalar product by `4u`: together
/// `8.9 u |a| |ab| |ac|`. The computed length of the cross product may be too short by `4.9 u |ab| |ac|`. A height is at most `|a|`, so this
/// makes it too great by `4.9 u |a| |ab| |ac|` at most, over that length. The sum is less than `14 u`.
#[inline(always)]
pub(crate) fn face_error<V: Vector>(a: V, ab: V, ac: V) -> V::Scalar {
    let squared = a.dot(a) * ab.dot(ab) * ac.dot(ac);
    V::Scalar::from_f64(16.0) * V::Scalar::ROUNDING * squared.sqrt()
}

/// Bound of the error of `(a × b) · c`, where all three are differences: that of [`face_error`] without the length, and `u` for `c`.
#[inline(always)]
fn volume_error<V: Vector>(a: V, b: V, c: V) -> V::Scalar {
    let squared = a.dot(a) * b.dot(b) * c.dot(c);
    V::Scalar::from_f64(12.0) * V::Scalar::ROUNDING * squared.sqrt()
}

/// Distance from the origin to a point that is certainly on the simplex, as its weights are clamped. For a tetrahedron, to the nearest
/// of its faces.
#[inline(always)]
pub(crate) fn simplex_distance<V: Vector>(simplex: &Simplex<V>) -> V::Scalar {
    let [p, q, r, s] = simplex.points;
    let squared = match simplex.len {
        1 => p.dot(p),
        2 => triangle_distance_squared(p, q, q),
        3 => triangle_distance_squared(p, q, r),
        _ => {
            let mut least = triangle_distance_squared(p, q, r);
            for other in [
                triangle_distance_squared(p, r, s),
                triangle_distance_squared(p, s, q),
                triangle_distance_squared(q, s, r),
            ] {
                if other < least {
                    least = other;
                }
            }
            least
        }
    };
    squared.sqrt()
}

/// Squared distance from the origin to the nearest of four points of a triangle: the projection with its weights
/// clamped, and the projections on its edges.
#[inline(always)]
pub(crate) fn triangle_distance_squared<V: Vector>(a: V, b: V, c: V) -> V::Scalar {
    let zero = V::Scalar::from_f64(0.0);
    let one = V::Scalar::from_f64(1.0);
    let at_most_one = |weight: V::Scalar| if weight < one { weight } else { one };
    let ab = b - a;
    let ac = c - a;
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    let mut least = a.dot(a);
    let weight_b = ac.cross(a).dot(normal);
    let weight_c = a.cross(ab).dot(normal);
    if squared > zero && weight_b > zero && weight_c > zero && weight_b + weight_c < squared {
        let weight_b = at_most_one(weight_b.divided_by(squared));
        let rest = one - weight_b;
        let weight_c = weight_c.divided_by(squared);
        let point = a + ab * weight_b + ac * if weight_c < rest { weight_c } else { rest };
        let other = point.dot(point);
        if other < least {
            least = other;
        }
    }
    for (from, edge) in [(a, ab), (a, ac), (b, c - b)] {
        let length = edge.dot(edge);
        let t = -from.dot(edge);
        let point = if t <= zero || !(length > zero) {
            from
        } else if t >= length {
            from + edge
        } else {
            from + edge * at_most_one(t.divided_by(length))
        };
        let other = point.dot(point);
        if other < least {
            least = other;
        }
    }
    least
}
