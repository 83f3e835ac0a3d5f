//! A placed shape in world axes, in f64.

use glam::{DQuat, DVec3};

use crate::primitive::{nearest_of_segments, nearest_of_triangle};
use crate::{Pose, Shape};

/// An edge in world axes.
pub(crate) struct Edge {
    pub(crate) ends: [DVec3; 2],
    /// From the first end to the second. It comes from the exact difference, so that the direction of a short edge is right.
    pub(crate) along: DVec3,
    /// For a solid: from the first end to the third corners of the edge's two triangles.
    pub(crate) wings: Option<[DVec3; 2]>,
}

impl Edge {
    /// The middle of the arc between the normals of the edge's two faces, and the length of the chord from it to either. None
    /// without an arc, or if a face is a sliver with an uncertain normal.
    pub(crate) fn arc(&self) -> Option<(DVec3, f64)> {
        let [v, w] = self.wings?;
        let normal = |wing: DVec3, other: DVec3| {
            let n = self.along.cross(wing);
            let is_certain = n.length_squared() > 1e-12 * self.along.length_squared() * wing.length_squared();
            let n = n.normalize_or_zero();
            (is_certain && n != DVec3::ZERO).then(|| if n.dot(other) > 0.0 { -n } else { n })
        };
        let (n, m) = (normal(v, w)?, normal(w, v)?);
        let middle = (n + m).try_normalize()?;
        // For nearly opposite normals, as at the rim of a plate, the middle is uncertain.
        (n.dot(m) > -0.9).then(|| (middle, n.distance(middle) + 1e-6))
    }
}

/// A shape in world axes, relative to a nearby origin: its core (points, faces, edges) and its rounding.
pub(crate) struct Body64 {
    pub(crate) points: Vec<DVec3>,
    /// Unit outward normals; both for a polygon.
    pub(crate) normals: Vec<DVec3>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) triangles: Vec<[DVec3; 3]>,
    /// Unit outward normals of `triangles`; empty for a polygon, which has no interior.
    pub(crate) outward: Vec<DVec3>,
    pub(crate) centre: DVec3,
    /// The radius of the core around `centre`.
    pub(crate) radius: f64,
    /// In world units.
    pub(crate) rounding: f64,
    /// The outward normal of a half-space. `points` is then a point of its plane.
    pub(crate) plane: Option<DVec3>,
}

impl Body64 {
    /// `extra` is the rounding that the pose adds to the shape's, in world units.
    pub(crate) fn new(shape: &Shape, rotation: DQuat, scale: DVec3, extra: f64, offset: DVec3) -> Self {
        let rounding = shape.rounding() * scale.min_element() + extra;
        if shape.is_half_space() {
            return Self::half_space(rotation * DVec3::Y, rounding, offset);
        }
        let place = |p: DVec3| rotation * (scale * p) + offset;
        let at = |i: u32| place(shape.points[i as usize]);
        // Normals transform with the rotation and the inverse scale.
        let turn = |n: DVec3| rotation * (n / scale);
        let mut normals: Vec<DVec3> =
            shape.faces.iter().map(|&f| turn(shape.normal(f)).normalize()).collect();
        let solid = shape.dimension() == 3;
        if !solid {
            normals.extend(normals.clone().into_iter().map(|n| -n));
        }
        let points: Vec<DVec3> = shape.corners.iter().map(|&i| at(i)).collect();
        let centre = points.iter().sum::<DVec3>() / points.len() as f64;
        let radius = points.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        let from_to =
            |u: u32, v: u32| rotation * (scale * (shape.points[v as usize] - shape.points[u as usize]));
        let edge = |(k, &[u, v]): (usize, &[u32; 2])| Edge {
            ends: [at(u), at(v)],
            along: from_to(u, v),
            wings: shape.wings.get(k).map(|w| w.map(|i| from_to(u, i))),
        };
        Self {
            points,
            normals,
            edges: shape.edges.iter().enumerate().map(edge).collect(),
            triangles: shape.triangles.iter().map(|t| t.map(at)).collect(),
            outward: if solid {
                shape.triangles.iter().map(|&t| turn(shape.normal(t)).normalize()).collect()
            } else {
                Vec::new()
            },
            centre,
            radius,
            rounding,
            plane: None,
        }
    }

    /// `shape` as `pose` places it, relative to `origin` (world units).
    pub(crate) fn placed(shape: &Shape, pose: &Pose, origin: DVec3) -> Self {
        let offset = pose.position64() - origin;
        Self::new(shape, pose.rotation64(), pose.scale64(), f64::from(pose.radius), offset)
    }

    fn half_space(normal: DVec3, rounding: f64, offset: DVec3) -> Self {
        Self {
            points: vec![offset],
            normals: vec![normal],
            edges: Vec::new(),
            triangles: Vec::new(),
            outward: Vec::new(),
            centre: offset,
            radius: 0.0,
            rounding,
            plane: Some(normal),
        }
    }

    /// The signed distance of a point to the rounded shape, in world units. Inside a solid it is minus the distance to the nearest
    /// face's plane.
    pub(crate) fn outside(&self, p: DVec3) -> f64 {
        if let Some(n) = self.plane {
            return n.dot(p - self.points[0]) - self.rounding;
        }
        if !self.outward.is_empty() {
            let above = self.triangles.iter().zip(&self.outward).map(|(t, n)| n.dot(p - t[0]));
            let highest = above.fold(f64::NEG_INFINITY, f64::max);
            if highest <= 0.0 {
                return highest - self.rounding;
            }
        }
        self.nearest_surface_point(p).distance(p) - self.rounding
    }

    /// The point of the core's triangles nearest to `p`; without triangles, of its edges; without edges, the core's point.
    pub(crate) fn nearest_surface_point(&self, p: DVec3) -> DVec3 {
        let mut best = (f64::INFINITY, self.points[0]);
        let mut offer = |q: DVec3| {
            let square = q.distance_squared(p);
            if square < best.0 {
                best = (square, q);
            }
        };
        self.triangles.iter().for_each(|t| offer(nearest_of_triangle(t, p)));
        if self.triangles.is_empty() {
            self.edges.iter().for_each(|e| offer(nearest_of_segments(&e.ends, &[p, p]).0));
        }
        best.1
    }

    /// The mean of the points furthest along `n`, to within 1e-5 of the radius.
    pub(crate) fn feature(&self, n: DVec3) -> DVec3 {
        let high = self.high(n) - 1e-5 * self.radius;
        let furthest: Vec<DVec3> = self.points.iter().copied().filter(|p| n.dot(*p) >= high).collect();
        furthest.iter().sum::<DVec3>() / furthest.len() as f64
    }

    /// The lowest projection of the core on `n`.
    pub(crate) fn low(&self, n: DVec3) -> f64 {
        self.points.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min)
    }

    /// The highest projection of the core on `n`.
    pub(crate) fn high(&self, n: DVec3) -> f64 {
        self.points.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The separation of the cores along a unit axis. Not for half-spaces.
pub(crate) fn separation(a: &Body64, b: &Body64, n: DVec3) -> f64 {
    b.low(n) - a.high(n)
}
