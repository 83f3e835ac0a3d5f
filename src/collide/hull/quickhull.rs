//! Solid hulls: quickhull with exact decisions.
//!
//! Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex hulls" (1996), with the globally furthest
//! point first. A face sees a point that lies strictly above its plane; an f64 distance with an error bound decides
//! almost always, and the exact predicate decides the rest. So the triangles are the exact boundary of the hull at each
//! step, and a point above no new face stays inside. Adjacent triangles may be coplanar, and points added early may end up
//! inside a facet or an edge: [`facets`](crate::collide::hull::facets) merges the triangles and drops the points.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::collide::hull::predicate::{above, cross, dot, projection_axes, subtract, to_f64};

/// No face.
const NONE: u32 = u32::MAX;

/// The dimension of a point cloud, with a simplex or axes to start from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// All points are equal to this one.
    Point(u32),
    /// All points lie on one line, not all on one point.
    Segment,
    /// All points lie in one plane, on which the projection to these axes is one to one.
    Polygon([usize; 2]),
    /// Four points that are not coplanar, the last one below the others' counter-clockwise side.
    Solid([u32; 4]),
}

/// The index of the point with the largest key; of equal ones the first.
fn largest(points: &[[f32; 3]], key: impl Fn([f64; 3]) -> f64) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, &p) in points.iter().enumerate() {
        let k = key(to_f64(p));
        if k > best.1 {
            best = (i, k);
        }
    }
    best.0
}

/// Finds a large simplex, or proves that there is none. At least one point; at most 2^30.
pub(super) fn start(points: &[[f32; 3]]) -> Start {
    let mut a = 0;
    for (i, p) in points.iter().enumerate() {
        if *p < points[a] {
            a = i;
        }
    }
    let origin = to_f64(points[a]);
    let b = largest(points, |p| dot(subtract(p, origin), subtract(p, origin)));
    if points[a] == points[b] {
        return Start::Point(a as u32);
    }
    let along = subtract(to_f64(points[b]), origin);
    let area = |p| {
        let n = cross(along, subtract(p, origin));
        dot(n, n)
    };
    // The point with the largest area in f64 is not collinear, unless all are nearly so. Then any point that is not collinear is taken.
    let two = |c: usize| projection_axes(points[a], points[b], points[c]);
    let with_axes = |c: usize| two(c).map(|axes| (c, axes));
    let Some((c, axes)) = with_axes(largest(points, area)).or_else(|| (0..points.len()).find_map(with_axes))
    else {
        return Start::Segment;
    };
    let normal = cross(along, subtract(to_f64(points[c]), origin));
    let side = |d: usize| above(points[a], points[b], points[c], points[d]);
    let d = Some(largest(points, |p| dot(normal, subtract(p, origin)).abs())).filter(|&d| side(d) != 0.0);
    let Some(d) = d.or_else(|| (0..points.len()).find(|&d| side(d) != 0.0)) else {
        return Start::Polygon(axes);
    };
    let (b, c) = if side(d) > 0.0 { (c, b) } else { (b, c) };
    Start::Solid([a, b, c, d].map(|i| i as u32))
}

/// One triangle of the hull so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Face {
    /// Its corners, counter-clockwise seen from outside.
    pub(super) corners: [u32; 3],
    /// The face across the edge from corner i to corner i + 1.
    pub(super) across: [u32; 3],
    /// Points strictly above this face. Each point is kept by one face only.
    pub(super) outside: Vec<u32>,
    /// False once the face is removed.
    pub(super) alive: bool,
    origin: [f64; 3],
    /// Not of unit length.
    normal: [f64; 3],
    inverse_length: f64,
    /// Bound of the error of `normal · (p - origin)`, for every point of the cloud.
    slack: f64,
    /// The point of `outside` that is furthest away, and how far.
    furthest: (u32, f64),
    /// Distinguishes the faces that used this slot one after another.
    generation: u32,
    /// `2 · step` where the point of that step does not see the face, `2 · step + 1` where it does.
    mark: u64,
}

impl Face {
    fn height(&self, p: [f64; 3]) -> f64 {
        dot(self.normal, subtract(p, self.origin))
    }
}

/// A face in the queue, ordered by the height of its furthest point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QueuedPoint {
    distance: f64,
    face: u32,
    generation: u32,
}

impl Eq for QueuedPoint {}

impl PartialOrd for QueuedPoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedPoint {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(other.face.cmp(&self.face))
    }
}

/// The hull so far.
#[derive(Debug)]
pub(super) struct HullBuilder<'a> {
    pub(super) points: &'a [[f32; 3]],
    pub(super) faces: Vec<Face>,
    free: Vec<u32>,
    queue: BinaryHeap<QueuedPoint>,
    extent: [f64; 3],
    step: u64,
    /// For each point, the new face whose edge on the horizon starts there.
    fan: Vec<u32>,
    visible: Vec<u32>,
    new_faces: Vec<u32>,
    unassigned: Vec<u32>,
}

impl<'a> HullBuilder<'a> {
    /// The tetrahedron of a [`Start::Solid`], with all other points assigned to its faces.
    pub(super) fn new(points: &'a [[f32; 3]], [a, b, c, d]: [u32; 4]) -> Self {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for &p in points {
            for axis in 0..3 {
                low[axis] = low[axis].min(f64::from(p[axis]));
                high[axis] = high[axis].max(f64::from(p[axis]));
            }
        }
        let mut builder = Self {
            points,
            faces: Vec::new(),
            free: Vec::new(),
            queue: BinaryHeap::new(),
            extent: subtract(high, low),
            step: 0,
            fan: vec![NONE; points.len()],
            visible: Vec::new(),
            new_faces: Vec::new(),
            unassigned: Vec::new(),
        };
        let tetrahedron =
            [([a, b, c], [1, 2, 3]), ([a, d, b], [3, 2, 0]), ([b, d, c], [1, 3, 0]), ([c, d, a], [2, 1, 0])];
        for (corners, across) in tetrahedron {
            let face = builder.add_face(corners);
            builder.faces[face as usize].across = across;
            builder.new_faces.push(face);
        }
        builder.unassigned.extend(0..points.len() as u32);
        builder.assign_points();
        builder
    }

    /// Adds points, the globally furthest one first, until none is outside or the hull has `limit` corners.
    pub(super) fn grow(&mut self, limit: usize) {
        let mut corner_count = 4;
        while corner_count < limit {
            let Some(next) = self.queue.pop() else { return };
            let face = &self.faces[next.face as usize];
            if face.alive && face.generation == next.generation {
                self.add_point(next.face, face.furthest.0);
                corner_count += 1;
            }
        }
    }

    /// Whether point `p` lies strictly above face `f`: exact.
    pub(super) fn sees(&self, f: u32, p: u32) -> bool {
        self.side(f, p) > 0.0
    }

    /// Whether point `p` lies in the plane of face `f`: exact.
    pub(super) fn coplanar(&self, f: u32, p: u32) -> bool {
        self.side(f, p) == 0.0
    }

    /// Height of `p` above face `f`, not in units of length; its sign is exact.
    #[inline]
    fn side(&self, f: u32, p: u32) -> f64 {
        let face = &self.faces[f as usize];
        let point = self.points[p as usize];
        let height = face.height(to_f64(point));
        if height.abs() > face.slack {
            return height;
        }
        let [a, b, c] = face.corners.map(|i| self.points[i as usize]);
        above(a, b, c, point)
    }

    fn add_face(&mut self, corners: [u32; 3]) -> u32 {
        let [a, b, c] = corners.map(|i| to_f64(self.points[i as usize]));
        let (ab, ac) = (subtract(b, a), subtract(c, a));
        let normal = cross(ab, ac);
        let size = |i: usize, j: usize| (ab[i] * ac[j]).abs() + (ab[j] * ac[i]).abs();
        let magnitude = [size(1, 2), size(2, 0), size(0, 1)];
        let length = dot(normal, normal).sqrt();
        let place = self.free.pop().unwrap_or_else(|| {
            self.faces.push(Face::default());
            (self.faces.len() - 1) as u32
        });
        let face = &mut self.faces[place as usize];
        face.corners = corners;
        face.across = [NONE; 3];
        face.alive = true;
        face.origin = a;
        face.normal = normal;
        face.inverse_length = if length > 0.0 { length.recip() } else { 0.0 };
        // Each term of the height passes 8 roundings of 2^-53 at most; twice that covers those of the bound itself.
        face.slack = 2f64.powi(-49) * dot(magnitude, self.extent);
        face.furthest = (NONE, 0.0);
        face.generation = face.generation.wrapping_add(1);
        place
    }

    /// Replaces the faces that `p` sees, `first` among them, by the fan from `p` to their horizon.
    fn add_point(&mut self, first: u32, p: u32) {
        self.step += 1;
        let (hidden, seen) = (2 * self.step, 2 * self.step + 1);
        self.visible.clear();
        self.visible.push(first);
        self.faces[first as usize].mark = seen;
        let mut next = 0;
        while let Some(&f) = self.visible.get(next) {
            next += 1;
            for g in self.faces[f as usize].across {
                if self.faces[g as usize].mark < hidden {
                    let sees = self.sees(g, p);
                    self.faces[g as usize].mark = if sees { seen } else { hidden };
                    if sees {
                        self.visible.push(g);
                    }
                }
            }
        }
        // The visible faces form a disk, so each corner of their horizon starts one of its edges.
        self.new_faces.clear();
        for next in 0..self.visible.len() {
            let f = self.visible[next] as usize;
            let (corners, across) = (self.faces[f].corners, self.faces[f].across);
            for side in 0..3 {
                let g = across[side];
                if self.faces[g as usize].mark != hidden {
                    continue;
                }
                let (from, to) = (corners[side], corners[(side + 1) % 3]);
                let new = self.add_face([from, to, p]);
                self.faces[new as usize].across[0] = g;
                self.faces[new as usize].mark = 0;
                let beyond = &mut self.faces[g as usize];
                for back in 0..3 {
                    if beyond.corners[back] == to {
                        beyond.across[back] = new;
                    }
                }
                self.fan[from as usize] = new;
                self.new_faces.push(new);
            }
        }
        for next in 0..self.new_faces.len() {
            let new = self.new_faces[next];
            let after = self.fan[self.faces[new as usize].corners[1] as usize];
            self.faces[new as usize].across[1] = after;
            self.faces[after as usize].across[2] = new;
        }
        self.unassigned.clear();
        for &f in &self.visible {
            let face = &mut self.faces[f as usize];
            self.unassigned.append(&mut face.outside);
            face.alive = false;
            self.free.push(f);
        }
        self.assign_points();
    }

    /// Assigns each unassigned point to the new face that it is furthest above, and drops points above none.
    fn assign_points(&mut self) {
        for next in 0..self.unassigned.len() {
            let p = self.unassigned[next];
            let point = self.points[p as usize];
            let widened = to_f64(point);
            let mut best = (NONE, f64::NEG_INFINITY);
            for &f in &self.new_faces {
                let face = &self.faces[f as usize];
                let height = face.height(widened);
                if height < -face.slack || height * face.inverse_length <= best.1 {
                    continue;
                }
                // The face's own corners lie in its plane. The exact test would find that too, slowly.
                if height > face.slack || !face.corners.contains(&p) && self.sees(f, p) {
                    best = (f, height * face.inverse_length);
                }
            }
            if best.0 != NONE {
                let face = &mut self.faces[best.0 as usize];
                if face.outside.is_empty() || best.1 > face.furthest.1 {
                    face.furthest = (p, best.1);
                }
                face.outside.push(p);
            }
        }
        for &f in &self.new_faces {
            let face = &self.faces[f as usize];
            if !face.outside.is_empty() {
                self.queue.push(QueuedPoint {
                    distance: face.furthest.1,
                    face: f,
                    generation: face.generation,
                });
            }
        }
    }
}
