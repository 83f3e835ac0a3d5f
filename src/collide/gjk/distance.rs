//! GJK until the distance is known: the closest points of two hulls, with bounds of the error.
//!
//! Gilbert, Johnson, Keerthi 1988, stopped on the duality gap. Written once for f32 and f64, like
//! [`gjk`](crate::collide::gjk::verdict), but it goes on after a verdict would be certain. For the difference `D = A − B`:
//!
//! * every direction `n` bounds the distance from below by `s(n) = min over D of n·x`,
//! * every convex combination of points of `D` bounds it from above by its length.
//!
//! Both bounds hold for any direction and any weights, so rounding on the way does not matter.
//!
//! Near the surface the closest point is a small difference of large numbers, and rounding spoils its direction before its length.
//! So the next direction comes from the closest feature: a triangle's normal, a segment's perpendicular, or a point.
//!
//! [`lanes`](crate::collide::gjk::lanes) has the f32 form for eight pairs at a time, `shaders/collide/gjk/distance.wgsl` is the GPU's form,
//! and says where its loop differs.

use crate::collide::gjk::vector::{Real, Vector};
use crate::collide::gjk::verdict::Difference;

/// A support point of `D`, and the vertex of `A` that it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner<V> {
    /// Point of `D`.
    pub(crate) point: V,
    /// Point of `A`.
    pub(crate) on_a: V,
}

/// A [`Difference`] that also returns the points of `A` behind its support points.
pub(crate) trait Witness: Difference {
    /// As [`Difference::support`].
    fn corner(&self, direction: Self::Vector) -> Corner<Self::Vector>;
}

/// One to four corners and the weights of a point in their convex hull; the rest of the arrays is unused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedSimplex<V: Vector> {
    pub(crate) corners: [Corner<V>; 4],
    /// At least 0, together 1.
    pub(crate) weights: [V::Scalar; 4],
    pub(crate) len: usize,
}

impl<V: Vector> WeightedSimplex<V> {
    /// The corners' points.
    #[inline(always)]
    pub(crate) fn points(&self) -> [V; 4] {
        let [p, q, r, s] = self.corners;
        [p.point, q.point, r.point, s.point]
    }

    /// The weighted point of `D` and of `A`.
    #[inline(always)]
    pub(crate) fn witness(&self) -> Corner<V> {
        let mut point = self.corners[0].point * self.weights[0];
        let mut on_a = self.corners[0].on_a * self.weights[0];
        for at in 1..self.len {
            point = point + self.corners[at].point * self.weights[at];
            on_a = on_a + self.corners[at].on_a * self.weights[at];
        }
        Corner { point, on_a }
    }
}

/// When to stop, in the pair's unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal<R> {
    /// The search stops at a lower bound above this: the pair is farther apart than the query asks.
    pub(crate) beyond: R,
    /// The search stops at an upper bound of at most this.
    pub(crate) within: R,
    /// The bounds may differ by this much.
    pub(crate) slack: R,
    /// The same, relative to the distance.
    pub(crate) relative: R,
    /// Directions to try at most.
    pub(crate) iteration_limit: u32,
    /// How many directions the search may try after the upper bound stops falling. It then returns the best lower bound, not the last.
    pub(crate) stall_limit: u32,
}

impl Goal<f64> {
    /// The search runs until the bounds are close. No distance ends it early.
    pub(crate) const fn converge(slack: f64, relative: f64) -> Self {
        let (beyond, within) = (f64::INFINITY, -1.0);
        Self { beyond, within, slack, relative, iteration_limit: 512, stall_limit: 0 }
    }
}

/// Why the search stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The lower bound is above [`Goal::beyond`].
    Beyond,
    /// The upper bound is no more than [`Goal::within`].
    Within,
    /// The bounds are close enough.
    Converged,
    /// A tetrahedron, as computed, holds the origin.
    Inside,
    /// Rounding, or the limit of directions, stopped it.
    Stalled,
}

/// The result of a search for the distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearest<V: Vector> {
    pub(crate) stop: StopReason,
    /// The distance is at least this, along `axis`, which is the direction of the witness; may be negative.
    pub(crate) lower: V::Scalar,
    /// The distance is at most this: the length of the witness.
    pub(crate) upper: V::Scalar,
    /// Unit vector from `b` to `a`.
    pub(crate) axis: V,
    /// The corners whose weighted point is the witness; the tetrahedron where the origin is inside.
    pub(crate) simplex: WeightedSimplex<V>,
}

/// Searches from the direction `start`, of any length. The direction from `b`'s centre to `a`'s is a good one.
#[inline(always)]
pub(crate) fn distance<D: Witness>(
    difference: &D,
    start: D::Vector,
    goal: &Goal<<D::Vector as Vector>::Scalar>,
) -> Nearest<D::Vector> {
    let zero = Real::from_f64(0.0);
    let one = <D::Vector as Vector>::Scalar::from_f64(1.0);
    let mut direction = start;
    let mut squared = start.dot(start);
    if !(squared > zero) {
        direction = Vector::new(one, zero, zero);
        squared = one;
    }
    let blank = Corner { point: direction, on_a: direction };
    let mut simplex = WeightedSimplex { corners: [blank; 4], weights: [one, zero, zero, zero], len: 0 };
    let mut nearest = Nearest {
        stop: StopReason::Stalled,
        lower: Real::from_f64(-1e30),
        upper: Real::from_f64(1e30),
        axis: direction,
        simplex,
    };
    let mut stalls = 0;
    // The best lower bound, and its axis.
    let mut best = (nearest.lower, nearest.axis);
    for _ in 0..goal.iteration_limit {
        let inverse = one.divided_by(squared.sqrt());
        let corner = difference.corner(-direction);
        let along = direction.dot(corner.point) * inverse;
        nearest.lower = along;
        nearest.axis = direction * inverse;
        if goal.stall_limit > 0 {
            if along > best.0 {
                best = (along, nearest.axis);
            }
            if stalls > 0 {
                (nearest.lower, nearest.axis) = best;
            }
        }
        if along > goal.beyond {
            nearest.stop = StopReason::Beyond;
            return nearest;
        }
        if nearest.upper - nearest.lower <= goal.slack + goal.relative * nearest.upper {
            nearest.stop = StopReason::Converged;
            return nearest;
        }
        simplex.corners[simplex.len] = corner;
        simplex.len += 1;
        let Some(step) = reduce(&mut simplex) else {
            if stalls > 0 {
                return nearest;
            }
            nearest.stop = StopReason::Inside;
            nearest.simplex = simplex;
            return nearest;
        };
        let length = step.point.dot(step.point).sqrt();
        if length < nearest.upper {
            nearest.upper = length;
            nearest.simplex = simplex;
        } else if stalls < goal.stall_limit {
            stalls += 1;
        } else {
            return nearest;
        }
        if length <= goal.within {
            nearest.stop = StopReason::Within;
            return nearest;
        }
        direction = step.direction;
        squared = direction.dot(direction);
        if !(squared > zero) {
            return nearest;
        }
    }
    nearest
}

/// The point of a simplex closest to the origin.
struct Closest<V> {
    /// The point, a convex combination of the corners.
    point: V,
    /// The next direction: parallel to the point in exact arithmetic, and perpendicular to the closest feature to within rounding. Any
    /// length.
    direction: V,
}

/// Shrinks the simplex, whose last corner is the newest, to the feature that holds the point closest to the origin;
/// `None` where a tetrahedron holds it.
#[inline(always)]
fn reduce<V: Vector>(simplex: &mut WeightedSimplex<V>) -> Option<Closest<V>> {
    let [p, q, r, s] = simplex.corners;
    match simplex.len {
        1 => Some(keep(simplex, p)),
        2 => Some(segment(simplex, q, p)),
        3 => Some(triangle(simplex, r, q, p)),
        _ => tetrahedron(simplex, s, r, q, p),
    }
}

#[inline(always)]
fn keep<V: Vector>(simplex: &mut WeightedSimplex<V>, a: Corner<V>) -> Closest<V> {
    simplex.corners[0] = a;
    simplex.weights[0] = Real::from_f64(1.0);
    simplex.len = 1;
    Closest { point: a.point, direction: a.point }
}

/// On the segment `a b`, of which `a` is the newest.
#[inline(always)]
fn segment<V: Vector>(simplex: &mut WeightedSimplex<V>, a: Corner<V>, b: Corner<V>) -> Closest<V> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b.point - a.point;
    let t = -a.point.dot(ab);
    if t <= zero {
        return keep(simplex, a);
    }
    let squared = ab.dot(ab);
    if t >= squared {
        return keep(simplex, b);
    }
    let inverse = V::Scalar::from_f64(1.0).divided_by(squared);
    let weight = t * inverse;
    let point = a.point + ab * weight;
    // The point's remaining component along the segment is rounding. Subtracting it leaves only the rounding of a small number.
    let direction = point - ab * (point.dot(ab) * inverse);
    simplex.corners[0] = b;
    simplex.corners[1] = a;
    simplex.weights[0] = weight;
    simplex.weights[1] = V::Scalar::from_f64(1.0) - weight;
    simplex.len = 2;
    Closest { point, direction }
}

/// On the triangle `a b c`, of which `a` is the newest: inside, on `ab`, on `ac` or at `a`.
#[inline(always)]
fn triangle<V: Vector>(
    simplex: &mut WeightedSimplex<V>,
    a: Corner<V>,
    b: Corner<V>,
    c: Corner<V>,
) -> Closest<V> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b.point - a.point;
    let ac = c.point - a.point;
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    // Areas: the weights of b and c, times `squared`.
    let weight_b = ac.cross(a.point).dot(normal);
    let weight_c = a.point.cross(ab).dot(normal);
    if weight_b > zero && weight_c > zero && weight_b + weight_c < squared {
        let inverse = V::Scalar::from_f64(1.0).divided_by(squared);
        let weight_b = weight_b * inverse;
        let weight_c = weight_c * inverse;
        simplex.corners[0] = c;
        simplex.corners[1] = b;
        simplex.corners[2] = a;
        simplex.weights[0] = weight_c;
        simplex.weights[1] = weight_b;
        simplex.weights[2] = V::Scalar::from_f64(1.0) - weight_b - weight_c;
        simplex.len = 3;
        let direction = if a.point.dot(normal) < zero { -normal } else { normal };
        return Closest { point: a.point + ab * weight_b + ac * weight_c, direction };
    }
    let toward_b = -a.point.dot(ab) > zero;
    let toward_c = -a.point.dot(ac) > zero;
    if weight_c <= zero && toward_b {
        segment(simplex, a, b)
    } else if toward_c {
        segment(simplex, a, c)
    } else if toward_b {
        segment(simplex, a, b)
    } else {
        keep(simplex, a)
    }
}

/// On the tetrahedron `a b c d`, of which `a` is the newest; `None` where it holds the origin.
#[inline(always)]
fn tetrahedron<V: Vector>(
    simplex: &mut WeightedSimplex<V>,
    a: Corner<V>,
    b: Corner<V>,
    c: Corner<V>,
    d: Corner<V>,
) -> Option<Closest<V>> {
    let zero = V::Scalar::from_f64(0.0);
    let ab = b.point - a.point;
    let ac = c.point - a.point;
    let ad = d.point - a.point;
    let abc = ab.cross(ac);
    let volume = abc.dot(ad);
    // Outside of a face: on the other side of it than the fourth point.
    let outside = |normal: V| {
        let side = -a.point.dot(normal);
        if volume > zero { side < zero } else { side > zero }
    };
    let mut best: Option<(V::Scalar, Closest<V>)> = None;
    for (beyond, p, q) in [(outside(abc), b, c), (outside(ac.cross(ad)), c, d), (outside(ad.cross(ab)), d, b)]
    {
        if !beyond {
            continue;
        }
        let Some((least, _)) = &best else {
            // Mostly there is only one such face, and its simplex can be used directly.
            let step = triangle(simplex, a, p, q);
            best = Some((step.point.dot(step.point), step));
            continue;
        };
        let mut part = *simplex;
        let step = triangle(&mut part, a, p, q);
        let squared = step.point.dot(step.point);
        if squared < *least {
            *simplex = part;
            best = Some((squared, step));
        }
    }
    best.map(|(_, step)| step)
}
