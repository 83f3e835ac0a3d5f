//! EPA, the expanding polytope algorithm, until a verdict is certain: for pairs near the surface, which GJK leaves open.
//!
//! van den Bergen 2001. The polytope lies inside of `D = A − B` and grows at the face nearest to the origin; each
//! direction tried bounds the depth from above, each face from below. EPA may start from a simplex of any size. The
//! polytope need not hold the origin, because face distances are signed. A verdict takes a few expansions; `shaders/collide/epa/verdict.wgsl` is the f32 form for the GPU, and says where it differs.

use std::convert::Infallible;

use crate::collide::gjk::vector::{Real, Vector};
use crate::collide::gjk::verdict::{
    Difference, Limits, Simplex, enclosure_around, enclosure_of_two, face_error, triangle_distance_squared,
};

/// The result of EPA.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision<V: Vector> {
    /// As in [`Outcome::Separated`](crate::collide::gjk::verdict::Outcome::Separated).
    Separated { axis: V },
    /// The gap is within ± [`Limits::touching`].
    Touching,
    /// The depth is above [`Limits::penetrating`].
    Penetrating,
    /// The polytope is full, or rounding made it inconsistent.
    Undecided,
}

/// A face of the polytope.
#[derive(Debug, Clone, Copy)]
struct Face<V: Vector> {
    /// Indices of its corners, counter-clockwise from outside.
    corners: [u8; 3],
    /// Outward unit normal.
    normal: V,
    /// Signed distance of its plane from the origin; positive where the origin is inside.
    distance: V::Scalar,
    /// The same, less the rounding error that the plane may have.
    bound: V::Scalar,
}

/// Runs EPA from a simplex of one to four points of `D`. `is_near` says that a point of `D` within
/// [`Limits::touching`] of the origin is known; without it a touch cannot be certified.
///
/// `POINTS` and `FACES` bound the polytope; the search ends undecided when either is full.
#[inline(always)]
pub(crate) fn epa_verdict<D: Difference, const POINTS: usize, const FACES: usize>(
    difference: &D,
    simplex: &Simplex<D::Vector>,
    is_near: bool,
    limits: &Limits<<D::Vector as Vector>::Scalar>,
) -> Decision<D::Vector> {
    let mut search = VerdictSearch { difference, limits, is_near };
    let stop = match search.make_tetrahedron(simplex) {
        // Many pairs are decided before there is a polytope, and need no arrays.
        Ok(corners) => {
            Polytope::<D, POINTS, FACES>::new(&mut search, corners).and_then(|mut grown| grown.grow())
        }
        Err(stop) => Err(stop),
    };
    match stop {
        Ok(never) => match never {},
        Err(Stop::Decided(decision)) => decision,
        Err(Stop::Stuck) => Decision::Undecided,
    }
}

/// Why the search ends.
enum Stop<V: Vector> {
    Decided(Decision<V>),
    /// The polytope is full, flat or inconsistent.
    Stuck,
}

struct VerdictSearch<'a, D: Difference> {
    difference: &'a D,
    limits: &'a Limits<<D::Vector as Vector>::Scalar>,
    is_near: bool,
}

struct Polytope<'s, 'a, D: Difference, const POINTS: usize, const FACES: usize> {
    search: &'s mut VerdictSearch<'a, D>,
    points: [D::Vector; POINTS],
    point_count: usize,
    faces: [Face<D::Vector>; FACES],
    face_count: usize,
}

/// `Err` ends the search.
type OrStop<T, V> = Result<T, Stop<V>>;

impl<D: Difference> VerdictSearch<'_, D> {
    /// The support point along a direction, or the verdict that it decides.
    #[inline(always)]
    fn probe(&mut self, direction: D::Vector) -> OrStop<D::Vector, D::Vector> {
        let point = self.difference.support(direction);
        let along = direction.dot(point);
        let length = direction.dot(direction).sqrt();
        if -along > self.limits.separated * length {
            return Err(Stop::Decided(Decision::Separated { axis: -direction }));
        }
        if self.is_near && along <= self.limits.touching * length {
            return Err(Stop::Decided(Decision::Touching));
        }
        Ok(point)
    }

    /// Completes the simplex to a tetrahedron whose last corner is below the face of the others.
    #[inline(always)]
    fn make_tetrahedron(&mut self, simplex: &Simplex<D::Vector>) -> OrStop<[D::Vector; 4], D::Vector> {
        let zero = Real::from_f64(0.0);
        let one = Real::from_f64(1.0);
        let axes: [D::Vector; 3] =
            [Vector::new(one, zero, zero), Vector::new(zero, one, zero), Vector::new(zero, zero, one)];
        let [p, mut q, mut r, mut s] = simplex.points;
        let mut len = simplex.len;
        // A simplex that is flat to within rounding has no inside to grow from, so corners are dropped.
        let flat = <D::Vector as Vector>::Scalar::from_f64(32.0) * <D::Vector as Vector>::Scalar::ROUNDING;
        let flat = flat * flat;
        let squared = |v: D::Vector| v.dot(v);
        let normal = (q - p).cross(r - p);
        if len == 4 {
            let height = normal.dot(s - p);
            if !(height * height > flat * squared(normal) * squared(s - p)) {
                len = 3;
                if squared((q - p).cross(s - p)) > squared(normal) {
                    r = s;
                }
            }
        }
        if len == 3 && !(squared((q - p).cross(r - p)) > flat * squared(q - p) * squared(r - p)) {
            len = 2;
            if squared(r - p) > squared(q - p) {
                q = r;
            }
        }
        if len == 2 && !(squared(q - p) > zero) {
            len = 1;
        }
        if len < 2 {
            let mut most = zero;
            for axis in axes {
                for direction in [axis, -axis] {
                    let point = self.probe(direction)?;
                    let offset = point - p;
                    let squared = offset.dot(offset);
                    if squared > most {
                        most = squared;
                        q = point;
                    }
                }
            }
            if !(most > zero) {
                return Err(Stop::Stuck);
            }
        }
        if len < 3 {
            let edge = q - p;
            let [x, y, z] = edge.components();
            let [x, y, z] = [x * x, y * y, z * z];
            let axis = if x <= y && x <= z {
                axes[0]
            } else if y <= z {
                axes[1]
            } else {
                axes[2]
            };
            let side = edge.cross(axis);
            let other = edge.cross(side) * one.divided_by(edge.dot(edge).sqrt());
            let around = [self.probe(side)?, self.probe(other)?, self.probe(-side)?, self.probe(-other)?];
            if enclosure_around([p, q], around) > self.limits.penetrating {
                return Err(Stop::Decided(Decision::Penetrating));
            }
            let mut most = zero;
            for point in around {
                let area = edge.cross(point - p);
                let squared = area.dot(area);
                if squared > most {
                    most = squared;
                    r = point;
                }
            }
            if !(most > zero) {
                return Err(Stop::Stuck);
            }
        }
        if len < 4 {
            let normal = (q - p).cross(r - p);
            let apexes = [self.probe(normal)?, self.probe(-normal)?];
            let heights = [normal.dot(apexes[0] - p), -normal.dot(apexes[1] - p)];
            // For two bodies at the same place the origin is on the triangle: the tetrahedra on both sides show that it is deep.
            if enclosure_of_two([p, q, r], apexes) > self.limits.penetrating {
                return Err(Stop::Decided(Decision::Penetrating));
            }
            let higher = usize::from(heights[1] > heights[0]);
            if !(heights[higher] > zero) {
                return Err(Stop::Stuck);
            }
            s = apexes[higher];
        }
        if (q - p).cross(r - p).dot(s - p) > zero {
            std::mem::swap(&mut q, &mut r);
        }
        Ok([p, q, r, s])
    }
}

impl<'s, 'a, D: Difference, const POINTS: usize, const FACES: usize> Polytope<'s, 'a, D, POINTS, FACES> {
    /// The tetrahedron, whose first three corners are counter-clockwise from outside.
    #[inline(always)]
    fn new(search: &'s mut VerdictSearch<'a, D>, corners: [D::Vector; 4]) -> OrStop<Self, D::Vector> {
        let zero = Real::from_f64(0.0);
        let none = Face { corners: [0; 3], normal: corners[0], distance: zero, bound: zero };
        let mut polytope = Self {
            search,
            points: [corners[0]; POINTS],
            point_count: 4,
            faces: [none; FACES],
            face_count: 0,
        };
        polytope.points[..4].copy_from_slice(&corners);
        for corners in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
            polytope.add(corners)?;
        }
        Ok(polytope)
    }

    #[inline(always)]
    fn corners(&self, [a, b, c]: [u8; 3]) -> [D::Vector; 3] {
        [self.points[a as usize], self.points[b as usize], self.points[c as usize]]
    }

    #[inline(always)]
    fn add(&mut self, corners: [u8; 3]) -> OrStop<(), D::Vector> {
        if self.face_count == FACES {
            return Err(Stop::Stuck);
        }
        let [a, b, c] = self.corners(corners);
        let ab = b - a;
        let ac = c - a;
        let cross = ab.cross(ac);
        let length = cross.dot(cross).sqrt();
        if !(length > Real::from_f64(0.0)) {
            return Err(Stop::Stuck);
        }
        let inverse = <D::Vector as Vector>::Scalar::from_f64(1.0).divided_by(length);
        let normal = cross * inverse;
        let distance = normal.dot(a);
        let bound = distance - face_error(a, ab, ac) * inverse;
        self.faces[self.face_count] = Face { corners, normal, distance, bound };
        self.face_count += 1;
        Ok(())
    }

    #[inline(always)]
    fn grow(&mut self) -> OrStop<Infallible, D::Vector> {
        loop {
            let mut nearest = 0;
            let mut bound = self.faces[0].bound;
            for (index, face) in self.faces[..self.face_count].iter().enumerate() {
                if face.distance < self.faces[nearest].distance {
                    nearest = index;
                }
                if !(face.bound >= bound) {
                    bound = face.bound;
                }
            }
            if bound > self.search.limits.penetrating {
                return Err(Stop::Decided(Decision::Penetrating));
            }
            let face = self.faces[nearest];
            let point = self.search.probe(face.normal)?;
            let slack = self.slack(point);
            let along = face.normal.dot(point);
            if !(along - face.distance > slack) || self.point_count == POINTS {
                // The polytope may have come near the origin since the start.
                let [a, b, c] = self.corners(face.corners);
                let Limits { touching, near, .. } = *self.search.limits;
                return Err(if along <= touching && triangle_distance_squared(a, b, c) <= near * near {
                    Stop::Decided(Decision::Touching)
                } else {
                    Stop::Stuck
                });
            }
            self.add_point(point, slack)?;
        }
    }

    /// Bound of the rounding error of the distance from a plane to `point`.
    #[inline(always)]
    fn slack(&self, point: D::Vector) -> <D::Vector as Vector>::Scalar {
        <D::Vector as Vector>::Scalar::from_f64(4.0)
            * <D::Vector as Vector>::Scalar::ROUNDING
            * point.dot(point).sqrt()
    }

    /// Replaces the faces that `point` sees by a fan from the point to their horizon.
    #[inline(always)]
    fn add_point(&mut self, point: D::Vector, slack: <D::Vector as Vector>::Scalar) -> OrStop<(), D::Vector> {
        let mut horizon = [[0_u8; 2]; FACES];
        let mut horizon_len = 0;
        let mut kept = 0;
        for index in 0..self.face_count {
            let face = self.faces[index];
            let [a, b, c] = face.corners;
            let plane = self.corners(face.corners);
            if point.is_above(plane, face.normal.dot(point) - face.distance, slack) {
                for [from, to] in [[a, b], [b, c], [c, a]] {
                    // An edge between two visible faces comes twice, once each way.
                    if let Some(twin) = horizon[..horizon_len].iter().position(|&edge| edge == [to, from]) {
                        horizon_len -= 1;
                        horizon[twin] = horizon[horizon_len];
                    } else {
                        if horizon_len == FACES {
                            return Err(Stop::Stuck);
                        }
                        horizon[horizon_len] = [from, to];
                        horizon_len += 1;
                    }
                }
            } else {
                self.faces[kept] = face;
                kept += 1;
            }
        }
        if kept == 0 || horizon_len < 3 {
            return Err(Stop::Stuck);
        }
        self.face_count = kept;
        let apex = self.point_count as u8;
        self.points[self.point_count] = point;
        self.point_count += 1;
        for &[from, to] in &horizon[..horizon_len] {
            self.add([from, to, apex])?;
        }
        // A closed surface of triangles has 2 V − 4 faces, and two fewer for each corner that is no longer on it. More faces, or
        // an odd number, mean that the visible faces were not one disk.
        if !self.face_count.is_multiple_of(2) || self.face_count > 2 * self.point_count - 4 {
            return Err(Stop::Stuck);
        }
        Ok(())
    }
}
