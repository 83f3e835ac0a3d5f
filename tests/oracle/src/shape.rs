//! The convex hull of a point set, built with exact predicates.

use std::collections::{HashMap, HashSet};

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

use crate::memo::Memo;

/// The convex hull of a point set with a rounding, of any dimension from a point to a solid, in the hull's own frame; or a
/// half-space.
///
/// It is built by incremental insertion with the exact orientation predicates of Shewchuk (1997, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates"). Coplanar, collinear and repeated points, needles and plates
/// need no tolerance. A scale per axis is affine and does not change the combinatorics.
#[derive(Debug, Clone)]
pub struct Shape {
    /// All given points, in order.
    pub(crate) points: Vec<DVec3>,
    /// The indices of the points in the hull's triangulation.
    pub(crate) corners: Vec<u32>,
    /// Counter-clockwise from outside. A polygon has one side only, a segment or point none.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The largest triangle of each face, which may have several coplanar triangles.
    pub(crate) faces: Vec<[u32; 3]>,
    /// The edges between faces that are not coplanar; of a polygon its boundary, of a segment the segment.
    pub(crate) edges: Vec<[u32; 2]>,
    /// For each edge of a solid the third corners of its two triangles; else empty.
    pub(crate) wings: Vec<[u32; 2]>,
    /// The strict vertices of the hull, ascending.
    extreme: Vec<u32>,
    dimension: u8,
    mean: DVec3,
    /// In the shape's own units.
    rounding: f64,
    half_space: bool,
}

fn coord(p: DVec3) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

/// The side of the plane a, b, c that p is on: < 0 on the side from which a, b, c run counter-clockwise, exactly 0 on the plane.
fn side(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    orient3d(coord(a), coord(b), coord(c), coord(p))
}

fn collinear(a: DVec3, b: DVec3, c: DVec3) -> bool {
    (0..3).all(|drop| turn(drop, a, b, c) == 0.0)
}

/// The orientation of a, b, c projected along the axis `drop`, exact in sign.
fn turn(drop: usize, a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let flat = |p: DVec3| Coord { x: p[(drop + 1) % 3], y: p[(drop + 2) % 3] };
    orient2d(flat(a), flat(b), flat(c))
}

impl Shape {
    /// The hull of `points`, in the units of the points.
    ///
    /// The bounding radius and the mean are those of the given points. If they matter, give the hull's vertices, or use
    /// [`Shape::of_cloud`].
    ///
    /// # Panics
    /// If there are no points or one is not finite.
    pub fn new(points: &[[f32; 3]]) -> Self {
        assert!(!points.is_empty(), "a shape needs a point");
        assert!(points.iter().flatten().all(|x| x.is_finite()), "a point is not finite");
        static SHAPES: Memo<Shape> = Memo::new();
        SHAPES.get(points, || Self::from_scratch(points))
    }

    fn from_scratch(points: &[[f32; 3]]) -> Self {
        let points: Vec<DVec3> = points.iter().map(|p| DVec3::from(p.map(f64::from))).collect();
        let mean = points.iter().sum::<DVec3>() / points.len() as f64;
        let mut shape = Self {
            points,
            corners: Vec::new(),
            triangles: Vec::new(),
            faces: Vec::new(),
            edges: Vec::new(),
            wings: Vec::new(),
            extreme: Vec::new(),
            dimension: 0,
            mean,
            rounding: 0.0,
            half_space: false,
        };
        shape.build();
        shape
    }

    /// The half-space y ≤ 0 of its own frame.
    pub fn half_space() -> Self {
        Self { dimension: 3, half_space: true, ..Self::new(&[[0.0; 3]]) }
    }

    /// The shape with a rounding of `radius` ≥ 0 in its own units. A pose scales it by the least of its scales.
    ///
    /// # Panics
    /// If the radius is negative or not finite.
    pub fn rounded(self, radius: f32) -> Self {
        assert!(radius >= 0.0 && radius.is_finite(), "a rounding of {radius}");
        Self { rounding: f64::from(radius), ..self }
    }

    /// The radius of the rounding, in the shape's own units.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Whether this is [`Shape::half_space`].
    pub fn is_half_space(&self) -> bool {
        self.half_space
    }

    /// The hull of `points`, reduced to the strict vertices, so that the mean and the bounding radius are those of the hull's
    /// vertices.
    ///
    /// # Panics
    /// If there are no points or one is not finite.
    pub fn of_cloud(points: &[[f32; 3]]) -> Self {
        let shape = Self::new(points);
        let kept: Vec<[f32; 3]> = shape.extreme.iter().map(|&i| points[i as usize]).collect();
        Self::new(&kept)
    }

    /// The exact dimension: 0 for a point, 1 for a segment, 2 for a polygon, 3 for a solid.
    pub fn dimension(&self) -> u8 {
        self.dimension
    }

    /// The indices of the strict vertices among the given points, ascending; one for equal points. A point inside an edge or a face is
    /// not a strict vertex.
    pub fn extreme(&self) -> &[u32] {
        &self.extreme
    }

    /// The number of given points.
    pub fn point_count(&self) -> usize {
        self.points.len()
    }

    /// The number of faces, with coplanar triangles as one; 0 for a segment or a point.
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// The number of edges, without those between coplanar triangles.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The mean of the given points, in the hull's own frame.
    pub fn mean(&self) -> [f64; 3] {
        self.mean.to_array()
    }

    /// The largest distance of a given point from the mean after scaling along the hull's own axes, in world units, without the
    /// rounding.
    pub fn radius(&self, scale: [f32; 3]) -> f64 {
        let scale = DVec3::from(scale.map(f64::from));
        self.points.iter().map(|&p| (scale * (p - self.mean)).length()).fold(0.0, f64::max)
    }

    /// The largest signed distance of `point` (in the hull's own frame) from a face's plane: ≤ 0 inside, else a lower bound of the
    /// distance. For solids only, without the rounding.
    ///
    /// # Panics
    /// If the hull is not a solid.
    pub fn outside(&self, point: [f32; 3]) -> f64 {
        assert_eq!(self.dimension, 3, "only a solid has an inside");
        if self.half_space {
            return f64::from(point[1]);
        }
        let p = DVec3::from(point.map(f64::from));
        self.faces
            .iter()
            .map(|&f| self.normal(f).normalize().dot(p - self.points[f[0] as usize]))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The outward normal of a triangle, not of unit length. Its components come from the exact predicate, so that the direction is right
    /// even for a sliver as thin as the rounding of f32, whose cross product in f64 may be 0.
    pub(crate) fn normal(&self, [a, b, c]: [u32; 3]) -> DVec3 {
        let [a, b, c] = [a, b, c].map(|i| self.points[i as usize]);
        DVec3::from([0, 1, 2].map(|drop| turn(drop, a, b, c)))
    }

    fn build(&mut self) {
        let p = &self.points;
        let count = p.len();
        let first = 0;
        let Some(second) = (0..count).find(|&i| p[i] != p[first]) else {
            self.corners = vec![0];
            self.extreme = vec![0];
            return;
        };
        let Some(third) = (0..count).find(|&i| !collinear(p[first], p[second], p[i])) else {
            self.dimension = 1;
            // Points on a line are ordered by the coordinate that varies most.
            let axis = (p[second] - p[first]).abs().max_position();
            let low = (0..count).min_by(|&i, &j| p[i][axis].total_cmp(&p[j][axis])).unwrap_or(0) as u32;
            let high = (0..count).max_by(|&i, &j| p[i][axis].total_cmp(&p[j][axis])).unwrap_or(0) as u32;
            self.corners = vec![low, high];
            self.edges = vec![[low, high]];
            self.extreme = vec![low.min(high), low.max(high)];
            return;
        };
        let Some(fourth) = (0..count).find(|&i| side(p[first], p[second], p[third], p[i]) != 0.0) else {
            self.dimension = 2;
            self.build_polygon();
            return;
        };
        self.dimension = 3;
        let first = [first, second, third, fourth].map(|i| i as u32);
        let all: Vec<u32> = (0..count as u32).collect();
        self.build_solid(first, &all);
        if self.extreme.len() < self.corners.len() {
            // Build again from the strict vertices, so that no edge or face has a point inside.
            let extreme = self.extreme.clone();
            let at = |i: u32| self.points[i as usize];
            let [a, b] = [extreme[0], extreme[1]];
            let third = extreme.iter().copied().find(|&i| !collinear(at(a), at(b), at(i)));
            let c = third.unwrap_or(extreme[2]);
            let fourth = extreme.iter().copied().find(|&i| side(at(a), at(b), at(c), at(i)) != 0.0);
            self.build_solid([a, b, c, fourth.unwrap_or(extreme[3])], &extreme);
        }
    }

    /// Andrew's monotone chain (1979), in a projection that is not degenerate.
    fn build_polygon(&mut self) {
        let p = &self.points;
        let mut order: Vec<u32> = (0..p.len() as u32).collect();
        let second = (0..p.len()).find(|&k| p[k] != p[0]).unwrap_or(0);
        let is_proper = |drop: usize| p.iter().any(|&q| turn(drop, p[0], p[second], q) != 0.0);
        let drop = (0..3).find(|&drop| is_proper(drop)).unwrap_or(0);
        let key = |i: u32| (p[i as usize][(drop + 1) % 3], p[i as usize][(drop + 2) % 3]);
        order.sort_by(|&i, &j| {
            let (a, b) = (key(i), key(j));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(i.cmp(&j))
        });
        order.dedup_by(|a, b| key(*a) == key(*b));
        let chain = |order: &mut dyn Iterator<Item = u32>| {
            let mut chain: Vec<u32> = Vec::new();
            for i in order {
                while let [.., u, v] = chain[..] {
                    if turn(drop, p[u as usize], p[v as usize], p[i as usize]) > 0.0 {
                        break;
                    }
                    chain.pop();
                }
                chain.push(i);
            }
            chain.pop();
            chain
        };
        let mut ring = chain(&mut order.iter().copied());
        ring.extend(chain(&mut order.iter().rev().copied()));
        let ring_count = ring.len();
        self.triangles = (1..ring_count - 1).map(|k| [ring[0], ring[k], ring[k + 1]]).collect();
        self.edges = (0..ring_count).map(|k| [ring[k], ring[(k + 1) % ring_count]]).collect();
        let largest = self.largest(&self.triangles);
        self.faces = vec![largest];
        self.corners = ring.clone();
        ring.sort_unstable();
        self.extreme = ring;
    }

    fn largest(&self, triangles: &[[u32; 3]]) -> [u32; 3] {
        let area = |&t: &[u32; 3]| self.normal(t).length_squared();
        triangles.iter().copied().max_by(|s, t| area(s).total_cmp(&area(t))).unwrap_or([0; 3])
    }

    /// Builds the hull of the points `indices` from a tetrahedron of four of them with a volume.
    fn build_solid(&mut self, [a, b, c, d]: [u32; 4], indices: &[u32]) {
        let p = &self.points;
        let at = |i: u32| p[i as usize];
        let [a, b] = if side(at(a), at(b), at(c), at(d)) > 0.0 { [a, b] } else { [b, a] };
        let mut triangles = vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        for &i in indices {
            // A triangle whose plane contains the point is kept. Then no new triangle is degenerate, because an edge of a visible
            // triangle is not collinear with the point.
            let (visible, kept): (Vec<_>, Vec<_>) =
                triangles.iter().copied().partition(|&[u, v, w]| side(at(u), at(v), at(w), at(i)) < 0.0);
            if visible.is_empty() {
                continue;
            }
            let seen: HashSet<[u32; 2]> =
                visible.iter().flat_map(|&[u, v, w]| [[u, v], [v, w], [w, u]]).collect();
            triangles = kept;
            for &[u, v, w] in &visible {
                for [s, t] in [[u, v], [v, w], [w, u]] {
                    if !seen.contains(&[t, s]) {
                        triangles.push([s, t, i]);
                    }
                }
            }
        }

        let mut owner: HashMap<[u32; 2], usize> = HashMap::new();
        for (k, &[u, v, w]) in triangles.iter().enumerate() {
            for edge in [[u, v], [v, w], [w, u]] {
                let before = owner.insert(edge, k);
                assert!(before.is_none(), "an edge has two triangles on one side");
            }
        }
        // Flood fill over coplanar neighbours finds the faces.
        let mut face_of = vec![usize::MAX; triangles.len()];
        let mut faces: Vec<Vec<[u32; 3]>> = Vec::new();
        for start in 0..triangles.len() {
            if face_of[start] != usize::MAX {
                continue;
            }
            let mut stack = vec![start];
            face_of[start] = faces.len();
            let mut members = Vec::new();
            while let Some(k) = stack.pop() {
                members.push(triangles[k]);
                let [u, v, w] = triangles[k];
                for [s, t] in [[u, v], [v, w], [w, u]] {
                    let other = owner[&[t, s]];
                    let across = triangles[other].into_iter().find(|&i| i != s && i != t).unwrap_or(s);
                    if face_of[other] == usize::MAX && side(at(u), at(v), at(w), at(across)) == 0.0 {
                        face_of[other] = faces.len();
                        stack.push(other);
                    }
                }
            }
            faces.push(members);
        }
        let mut edges = Vec::new();
        let mut around: HashMap<u32, HashSet<usize>> = HashMap::new();
        for (k, &[u, v, w]) in triangles.iter().enumerate() {
            for [s, t] in [[u, v], [v, w], [w, u]] {
                around.entry(s).or_default().insert(face_of[k]);
                if s < t && face_of[k] != face_of[owner[&[t, s]]] {
                    edges.push([s, t]);
                }
            }
        }
        edges.sort_unstable();
        let opposite =
            |[u, v]: [u32; 2]| triangles[owner[&[u, v]]].into_iter().find(|&i| i != u && i != v).unwrap_or(u);
        self.wings = edges.iter().map(|&[u, v]| [opposite([u, v]), opposite([v, u])]).collect();
        let mut corners: Vec<u32> = around.keys().copied().collect();
        corners.sort_unstable();
        self.extreme = corners.iter().copied().filter(|i| around[i].len() >= 3).collect();
        self.faces = faces.iter().map(|members| self.largest(members)).collect();
        self.corners = corners;
        self.triangles = triangles;
        self.edges = edges;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn grid(counts: [usize; 3]) -> Vec<[f32; 3]> {
        let mut points = Vec::new();
        for x in 0..counts[0] {
            for y in 0..counts[1] {
                for z in 0..counts[2] {
                    points.push([x as f32, y as f32, z as f32]);
                }
            }
        }
        points
    }

    #[test]
    fn grids_of_every_dimension_have_exact_hulls() {
        for (counts, dimension, extreme, edges, faces) in [
            ([1, 1, 1], 0, 1, 0, 0),
            ([1, 5, 1], 1, 2, 1, 0),
            ([4, 1, 5], 2, 4, 4, 1),
            ([1, 3, 3], 2, 4, 4, 1),
            ([3, 3, 3], 3, 8, 12, 6),
            ([2, 5, 3], 3, 8, 12, 6),
        ] {
            let shape = Shape::new(&grid(counts));
            let found = (shape.dimension(), shape.extreme().len(), shape.edge_count(), shape.face_count());
            assert_eq!(found, (dimension, extreme, edges, faces), "{counts:?}");
        }
    }

    #[test]
    fn repeated_points_change_nothing() {
        let mut points = grid([2, 2, 2]);
        points.extend(points.clone());
        let shape = Shape::of_cloud(&points);
        assert_eq!((shape.point_count(), shape.face_count()), (8, 6));
        assert_eq!(shape.mean(), [0.5; 3]);
    }

    #[test]
    fn random_solids_are_closed_and_contain_every_point() {
        let mut random = Random::new(11);
        for round in 0..200 {
            let count = 4 + random.below(60);
            // Every fourth is a plate of 1:1e-5, every fourth a needle.
            let thin = [[1.0, 1.0, 1.0], [1.0, 1.0, 1e-5], [1e-5, 1e-5, 1.0], [1.0, 1.0, 1.0]][round % 4];
            let points: Vec<[f32; 3]> = (0..count)
                .map(|_| {
                    let d = random.direction() * random.unit().cbrt() * DVec3::from(thin);
                    d.as_vec3().to_array()
                })
                .collect();
            let shape = Shape::new(&points);
            assert_eq!(shape.dimension(), 3);
            // Euler's formula of the triangulation: V − E + F = 2.
            assert_eq!(shape.corners.len() * 2 - 4, shape.triangles.len());
            for &p in &points {
                assert!(shape.outside(p) <= 1e-12, "round {round}: {}", shape.outside(p));
            }
        }
    }

    /// A tetrahedron of size 1e-5 with a point in the middle of each edge, rounded to f32. Some of its slivers have a cross product
    /// of 0 in f64.
    #[test]
    fn slivers_have_normals() {
        let points = [
            [6.96958e-6, 1.1577309e-5, 5.660728e-6],
            [6.96958e-6, -1.729267e-6, -7.645848e-6],
            [-6.3369957e-6, 1.1577309e-5, -7.645848e-6],
            [-6.3369957e-6, -1.729267e-6, 5.660728e-6],
            [6.96958e-6, 4.924021e-6, -9.925596e-7],
            [3.6429362e-6, 1.597377e-6, -9.925596e-7],
            [-3.0103517e-6, -1.729267e-6, 2.3340845e-6],
            [-6.3369957e-6, 4.924021e-6, -9.925596e-7],
            [3.162922e-7, 4.924021e-6, -7.645848e-6],
        ];
        let shape = Shape::new(&points);
        assert_eq!((shape.dimension(), shape.face_count()), (3, 14));
        let cross = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| shape.points[i as usize]);
            (b - a).cross(c - a)
        };
        assert!(shape.faces.iter().any(|f| cross(f) == DVec3::ZERO));
        assert!(shape.faces.iter().all(|&f| shape.normal(f).normalize().is_normalized()));
    }

    #[test]
    fn the_caps_of_a_cylinder_are_polygons() {
        let points: Vec<[f32; 3]> = (0..16)
            .flat_map(|k| {
                let angle = f64::from(k) * std::f64::consts::TAU / 16.0;
                [
                    [angle.cos() as f32, angle.sin() as f32, -1.0],
                    [angle.cos() as f32, angle.sin() as f32, 1.0],
                ]
            })
            .collect();
        let shape = Shape::new(&points);
        assert_eq!((shape.face_count(), shape.extreme().len()), (18, 32));
    }
}
