//! Casting a convex set along a line: the first time at which the Minkowski difference `D + t v` reaches the origin.
//!
//! GJK-based ray casting (van den Bergen 2004, "Ray Casting against General Convex Objects with Application to
//! Continuous Collision Detection"): each direction `n` tried gives a plane that separates the bodies until it passes the
//! origin. The signed gap is a convex function of time, and each plane is a tangent of it or below it. So the times never
//! exceed the first impact. A plane that moves away, or that passes after the end, proves a miss. The points of `D` found so
//! far move with `t` and bound the gap from above.
//!
//! Written once for f32 and f64; `shaders/collide/sweep/cast.wgsl` is the f32 form for the GPU, and says where it
//! differs.

use crate::collide::gjk::vector::{Real, Vector};
use crate::collide::gjk::verdict::{Difference, Simplex, simplex_distance};

/// Most directions before a pair is left to the exact path.
pub(crate) const CAST_LIMIT: u32 = 40;

/// The thresholds of impacts, in the pair's unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CastLimits<R> {
    /// The sum of the rounding radii: `D` is larger by it on all sides.
    pub(crate) rounding: R,
    /// A gap of at most this is an impact. It includes the error of the points of `D`.
    pub(crate) near: R,
    /// A gap above this at the start shows that the bodies do not touch there.
    pub(crate) parted: R,
    /// A gap above this throughout is a clear miss.
    pub(crate) clear: R,
}

/// The result of a cast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cast<V: Vector> {
    /// At `time` the gap is at most [`CastLimits::near`], and until then planes separate the bodies. The last plane has the normal `axis`,
    /// from `b` to `a`, of any length.
    Hit { time: V::Scalar, axis: V },
    /// Planes separate the bodies up to the end. `is_clear` where one plane does so by more than [`CastLimits::clear`]. The last plane has
    /// the normal `axis`.
    Miss { is_clear: bool, axis: V },
    /// No direction tried separates the bodies at the start by more than [`CastLimits::parted`].
    Start,
    /// Planes separate the bodies until `time`, the last one with the normal `axis`. Then rounding or the limit of directions stopped the
    /// search.
    Stalled { time: V::Scalar, axis: V },
}

/// Casts `D + t velocity`, for `t` from 0 to `end`, at the origin. `start` is the first direction that is tried, of any
/// length, from `b` to `a`.
#[inline(always)]
pub(crate) fn cast<D: Difference>(
    difference: &D,
    start: D::Vector,
    velocity: D::Vector,
    end: <D::Vector as Vector>::Scalar,
    limits: &CastLimits<<D::Vector as Vector>::Scalar>,
) -> Cast<D::Vector> {
    let zero = Real::from_f64(0.0);
    let bound = limits.rounding + limits.near;
    let mut time: <D::Vector as Vector>::Scalar = zero;
    let mut parted = false;
    let mut closest = start;
    let mut closest_squared = start.dot(start);
    if !(closest_squared > zero) {
        closest = Vector::new(Real::from_f64(1.0), zero, zero);
        closest_squared = Real::from_f64(1.0);
    }
    let mut axis = closest;
    // Points of `D` at time 0.
    let mut simplex = Simplex { points: [closest; 4], len: 0 };
    for iteration in 0..CAST_LIMIT {
        let newest = difference.support(-closest);
        let rate = closest.dot(velocity);
        let length = closest_squared.sqrt();
        // The plane's distance to the origin at time 0, times the length of `closest`.
        let ahead = closest.dot(newest) - limits.rounding * length;
        let mut moved = false;
        let least = if parted { zero } else { limits.parted * length };
        if ahead + rate * time > least {
            parted = true;
            let next = (-ahead).divided_by(rate);
            if rate >= zero || next > end {
                // Planes that were used up at their ends did not separate the bodies clearly there.
                let least = if rate >= zero { ahead } else { ahead + rate * end };
                let is_clear = !(time > zero) && least > limits.clear * length;
                return Cast::Miss { is_clear, axis: closest };
            }
            if next > time {
                time = next;
                axis = closest;
                moved = true;
            }
        }
        simplex.points[simplex.len] = newest;
        simplex.len += 1;
        let mut now = simplex;
        for point in &mut now.points {
            *point = *point + velocity * time;
        }
        let found = nearest_point(&now);
        let squared = found.point.dot(found.point);
        simplex = found.select(&simplex);
        if squared <= bound * bound || found.len == 4 {
            // A sliver's computed nearest point may be nearer than the sliver. Clamped weights give a certain distance.
            if parted && simplex_distance(&found.select(&now)) <= bound {
                if limits.rounding > limits.near && found.len < 4 {
                    // For rounded bodies the nearest points give a sharper normal than the last plane, unless they are too far off
                    // it, or the bodies do not approach along it.
                    let point = found.point;
                    let length = squared.sqrt();
                    let shown = point.dot(difference.support(-point) + velocity * time);
                    if shown >= (limits.rounding - limits.near) * length && point.dot(velocity) < zero {
                        axis = point;
                    }
                }
                return Cast::Hit { time, axis };
            }
            break;
        }
        // The first direction is a guess, not a point of D. The distance must fall only from then on.
        if iteration > 0 && !moved && !(squared < closest_squared) {
            break;
        }
        closest = found.point;
        closest_squared = squared;
    }
    if parted { Cast::Stalled { time, axis } } else { Cast::Start }
}

/// The point of a simplex nearest to the origin.
#[derive(Debug, Clone, Copy)]
struct NearestPoint<V> {
    point: V,
    /// Indices of the corners that it is a combination of.
    corners: [u8; 4],
    /// How many corners; 4 where the simplex holds the origin.
    len: usize,
}

impl<V: Vector> NearestPoint<V> {
    /// The face that contains the point.
    #[inline(always)]
    fn select(&self, simplex: &Simplex<V>) -> Simplex<V> {
        let points = self.corners.map(|corner| simplex.points[(corner & 3) as usize]);
        Simplex { points, len: self.len }
    }
}

/// The point of a simplex nearest to the origin. Unlike GJK's own step it does not assume that the newest vertex is part of the nearest
/// face: after the simplex has moved, any face may be the nearest.
#[inline(always)]
fn nearest_point<V: Vector>(simplex: &Simplex<V>) -> NearestPoint<V> {
    let [p, q, r, s] = simplex.points;
    match simplex.len {
        1 => NearestPoint { point: p, corners: [0; 4], len: 1 },
        2 => on_segment([p, q], [0, 1]),
        3 => on_triangle([p, q, r], [0, 1, 2]),
        _ => on_tetrahedron([p, q, r, s]),
    }
}

#[inline(always)]
fn on_segment<V: Vector>([a, b]: [V; 2], [i, j]: [u8; 2]) -> NearestPoint<V> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let t = -a.dot(ab);
    if !(t > zero) {
        return NearestPoint { point: a, corners: [i; 4], len: 1 };
    }
    let squared = ab.dot(ab);
    if t >= squared {
        return NearestPoint { point: b, corners: [j; 4], len: 1 };
    }
    NearestPoint { point: a + ab * t.divided_by(squared), corners: [i, j, i, i], len: 2 }
}

/// Ericson 2005, §5.1.5, about the origin.
#[inline(always)]
fn on_triangle<V: Vector>([a, b, c]: [V; 3], [i, j, k]: [u8; 3]) -> NearestPoint<V> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b - a;
    let ac = c - a;
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    let weight_b = ac.cross(a).dot(normal);
    let weight_c = a.cross(ab).dot(normal);
    let weight_a = squared - weight_b - weight_c;
    if weight_a > zero && weight_b > zero && weight_c > zero {
        return NearestPoint {
            point: normal * a.dot(normal).divided_by(squared),
            corners: [i, j, k, i],
            len: 3,
        };
    }
    // Outside the triangle: on the nearest of the edges that may contain the point.
    let mut best: Option<(V::Scalar, NearestPoint<V>)> = None;
    let mut consider = |found: NearestPoint<V>| {
        let squared = found.point.dot(found.point);
        if best.is_none_or(|(least, _)| squared < least) {
            best = Some((squared, found));
        }
    };
    if !(weight_c > zero) {
        consider(on_segment([a, b], [i, j]));
    }
    if !(weight_b > zero) {
        consider(on_segment([a, c], [i, k]));
    }
    if !(weight_a > zero) {
        consider(on_segment([b, c], [j, k]));
    }
    match best {
        Some((_, found)) => found,
        None => NearestPoint { point: a, corners: [i; 4], len: 1 },
    }
}

#[inline(always)]
fn on_tetrahedron<V: Vector>(points: [V; 4]) -> NearestPoint<V> {
    let zero = V::Scalar::from_f64(0.0);
    let mut best: Option<(V::Scalar, NearestPoint<V>)> = None;
    for face in FACES {
        let [a, b, c, d] = face.map(|corner| points[corner as usize]);
        let normal = (b - a).cross(c - a);
        let side = -a.dot(normal);
        let inner = (d - a).dot(normal);
        // The origin counts as outside all faces of a flat tetrahedron.
        let outside = if inner > zero {
            side <= zero
        } else if inner < zero {
            side >= zero
        } else {
            true
        };
        if outside {
            let found = on_triangle([a, b, c], [face[0], face[1], face[2]]);
            let squared = found.point.dot(found.point);
            if best.is_none_or(|(least, _)| squared < least) {
                best = Some((squared, found));
            }
        }
    }
    match best {
        Some((_, found)) => found,
        None => NearestPoint { point: V::new(zero, zero, zero), corners: [0, 1, 2, 3], len: 4 },
    }
}

/// The faces of a tetrahedron, and the corner opposite to each.
const FACES: [[u8; 4]; 4] = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]];
