//! The exact path's penetration depth: EPA in f64 on a polytope of any size.
//!
//! van den Bergen 2001. As in [`epa_verdict`](crate::collide::epa::verdict::epa_verdict), each face of the polytope bounds the depth
//! from below and each direction tried bounds it from above. Here the search runs until the two meet. Shewchuk's exact orientation
//! test decides which faces a new point sees. So the visible faces are always one disk, found from neighbour to neighbour, and the
//! polytope stays convex and closed. A heap gives the nearest face: a round hull deep inside another needs thousands of faces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::take;

use glam::DVec3;

use crate::collide::gjk::distance::{Corner, Nearest, WeightedSimplex, Witness};
use crate::collide::gjk::verdict::face_error;

/// Most points of a polytope; after that the best bounds so far are the result.
const POINT_LIMIT: usize = 20_000;

/// Most faces that are tried, once the depth is known, for the witness point at that depth.
const WITNESS_TRIES: u32 = 64;

/// The signed gap of two overlapping or touching hulls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
    /// The gap is at least this: minus the depth.
    pub(crate) lower: f64,
    /// The gap is at most this.
    pub(crate) upper: f64,
    /// Unit vector from `a` to `b`, the direction of the depth.
    pub(crate) normal: DVec3,
    /// The point of `D` at the depth, and the point of `A` that it came from.
    pub(crate) witness: Corner<DVec3>,
}

/// No neighbour yet.
const NONE: u32 = u32::MAX;

struct ExactFace {
    /// Counter-clockwise from outside.
    corners: [u32; 3],
    /// Across the edges from each corner to the next.
    neighbours: [u32; 3],
    /// Outward, unit.
    normal: DVec3,
    /// Signed distance of its plane from the origin; positive where the origin is inside.
    distance: f64,
    alive: bool,
    seen: bool,
}

/// A face in the queue of nearest faces.
#[derive(PartialEq)]
struct QueuedFace {
    distance: f64,
    face: u32,
}

impl Eq for QueuedFace {}

impl Ord for QueuedFace {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.face.cmp(&other.face))
    }
}

impl PartialOrd for QueuedFace {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// An edge from corner to corner, and the face beyond it.
type HorizonEdge = (u32, u32, u32);

struct ExactPolytope<'a, D: Witness<Vector = DVec3>> {
    difference: &'a D,
    points: Vec<Corner<DVec3>>,
    faces: Vec<ExactFace>,
    queue: BinaryHeap<Reverse<QueuedFace>>,
    /// For each corner on the horizon, the new face whose edge starts there.
    fan: Vec<u32>,
    /// Buffers that [`add_point`](Self::add_point) uses again: the faces that the new corner sees, and their horizon.
    visible: Vec<u32>,
    horizon: Vec<HorizonEdge>,
    /// The greatest lower bound of the gap, and its direction.
    lower: f64,
    axis: DVec3,
}

/// Runs EPA from GJK's simplex, until the bounds differ by at most `slack` or no direction improves them.
pub(crate) fn exact_depth<D: Witness<Vector = DVec3>>(
    difference: &D,
    nearest: &Nearest<DVec3>,
    slack: f64,
) -> Depth {
    let mut polytope = ExactPolytope::new(difference, nearest);
    // Where the origin is not known to be inside, GJK's nearest point bounds the gap.
    let outside = nearest.simplex.len < 4;
    let upper = if outside { nearest.upper } else { f64::INFINITY };
    if outside && upper - polytope.lower <= slack
        || !polytope.make_tetrahedron(&nearest.simplex, upper, slack)
    {
        let mut simplex = nearest.simplex;
        if !outside {
            simplex = WeightedSimplex { len: 1, weights: [1.0, 0.0, 0.0, 0.0], ..simplex };
        }
        return Depth {
            lower: polytope.lower,
            upper: upper.min(simplex.witness().point.length()),
            normal: polytope.axis,
            witness: simplex.witness(),
        };
    }
    polytope.grow(&nearest.simplex, upper, slack)
}

/// Directions that differ by less than this, in radians, count as one: the normal of a thin triangle is no more exact.
const SAME_DIRECTION: f64 = 1e-4;

/// Whether all facets of `D` whose distance from the origin is within `within` of the least have one direction. The origin must be inside
/// `D`, as GJK's simplex shows. `false` also where `D` is flat, or has too many facets to tell.
pub(crate) fn is_depth_unique<D: Witness<Vector = DVec3>>(
    difference: &D,
    nearest: &Nearest<DVec3>,
    slack: f64,
    within: f64,
) -> bool {
    let mut polytope = ExactPolytope::new(difference, nearest);
    polytope.make_tetrahedron(&nearest.simplex, f64::INFINITY, slack)
        && polytope.has_one_direction(slack, within)
}

impl<'a, D: Witness<Vector = DVec3>> ExactPolytope<'a, D> {
    fn new(difference: &'a D, nearest: &Nearest<DVec3>) -> Self {
        Self {
            difference,
            points: Vec::new(),
            faces: Vec::new(),
            queue: BinaryHeap::new(),
            fan: Vec::new(),
            visible: Vec::new(),
            horizon: Vec::new(),
            lower: nearest.lower,
            axis: -nearest.axis,
        }
    }

    /// Expands all faces that are within `within` of the depth, until they are facets of `D` or their directions differ.
    fn has_one_direction(mut self, slack: f64, within: f64) -> bool {
        let mut found: Option<(f64, DVec3)> = None;
        while let Some(Reverse(QueuedFace { distance, face })) = self.queue.pop() {
            if !self.faces[face as usize].alive {
                continue;
            }
            if found.is_some_and(|(least, _)| distance > least + within) {
                return true;
            }
            if self.points.len() >= POINT_LIMIT {
                return false;
            }
            let direction = self.faces[face as usize].normal;
            if direction == DVec3::ZERO {
                continue;
            }
            let corner = self.difference.corner(direction);
            let along = direction.dot(corner.point);
            if along - distance > slack {
                self.add_point(face, corner);
                continue;
            }
            match found {
                None => found = Some((along, direction)),
                Some((least, first)) => {
                    let differs =
                        first.cross(direction).length() > SAME_DIRECTION || first.dot(direction) < 0.0;
                    if differs && along <= least + within {
                        return false;
                    }
                }
            }
        }
        found.is_some()
    }

    /// The point of `D` furthest along a direction of any length; keeps the best bound.
    fn probe(&mut self, direction: DVec3) -> Corner<DVec3> {
        let corner = self.difference.corner(direction);
        let unit = direction.normalize_or_zero();
        let lower = -unit.dot(corner.point);
        if lower > self.lower && unit != DVec3::ZERO {
            self.lower = lower;
            self.axis = unit;
        }
        corner
    }

    /// Completes the simplex to a tetrahedron; `false` where the bounds meet first, or `D` is flat.
    fn make_tetrahedron(&mut self, simplex: &WeightedSimplex<DVec3>, upper: f64, slack: f64) -> bool {
        let mut points: Vec<Corner<DVec3>> = Vec::with_capacity(4);
        // A corner that is off the span of the others only by rounding is left out.
        const FLAT: f64 = 1e-13;
        for corner in &simplex.corners[..simplex.len] {
            let offset = |at: usize| points[at].point - points[0].point;
            let of_corner = |first: &Corner<DVec3>| corner.point - first.point;
            let adds = match points.len() {
                0 => true,
                1 => of_corner(&points[0]).length_squared() > 0.0,
                2 => {
                    let (edge, other) = (offset(1), of_corner(&points[0]));
                    edge.cross(other).length() > FLAT * edge.length() * other.length()
                }
                _ => {
                    let normal = offset(1).cross(offset(2));
                    let other = of_corner(&points[0]);
                    normal.dot(other).abs() > FLAT * normal.length() * other.length()
                }
            };
            if adds {
                points.push(*corner);
            }
        }
        while points.len() < 4 {
            let first = points[0].point;
            let directions: Vec<DVec3> = match points.len() {
                1 => [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|axis| [axis, -axis]).collect(),
                2 => {
                    let edge = (points[1].point - first).normalize_or_zero();
                    let side = edge.any_orthonormal_vector();
                    let other = edge.cross(side);
                    vec![side, -side, other, -other]
                }
                _ => {
                    let normal = plane_normal(first, points[1].point, points[2].point);
                    vec![normal, -normal]
                }
            };
            let mut most = 0.0;
            let mut best = None;
            for direction in directions {
                let corner = self.probe(direction);
                if upper - self.lower <= slack {
                    return false;
                }
                let offset = corner.point - first;
                let gain = match points.len() {
                    1 => offset.length(),
                    2 => (points[1].point - first).cross(offset).length(),
                    _ => direction.dot(offset),
                };
                if gain > most {
                    most = gain;
                    best = Some(corner);
                }
            }
            let Some(best) = best else { return false };
            points.push(best);
        }
        let [p, q, r, s] = [0, 1, 2, 3].map(|at| points[at].point);
        let side = orientation(p, q, r, s);
        if side == 0.0 {
            return false;
        }
        // Positive: `s` is below the face p q r, which is counter-clockwise from outside.
        if side < 0.0 {
            points.swap(1, 2);
        }
        self.points = points;
        // Those of two boxes, mostly: growing step by step takes longer.
        self.points.reserve(28);
        self.fan.reserve(32);
        self.faces.reserve(64);
        self.queue.reserve(64);
        self.visible.reserve(16);
        self.horizon.reserve(16);
        for (corners, neighbours) in
            [([0, 1, 2], [1, 2, 3]), ([0, 3, 1], [3, 2, 0]), ([1, 3, 2], [1, 3, 0]), ([2, 3, 0], [2, 1, 0])]
        {
            self.add(corners, neighbours);
        }
        true
    }

    fn add(&mut self, corners: [u32; 3], neighbours: [u32; 3]) {
        let [a, b, c] = corners.map(|corner| self.points[corner as usize].point);
        let (ab, ac) = (b - a, c - a);
        let cross = ab.cross(ac);
        let normal = unit_normal(cross, [ab, ac, c - b]);
        let distance = normal.dot(a);
        let mut key = distance;
        if distance >= 0.0 {
            // The plane of a sliver is noise, but the distance of its points is not.
            let scale = a.length() + ab.length() + ac.length();
            if !(face_error(a, ab, ac) <= 1e-12 * scale * cross.length()) {
                let weights = closest_weights(a, b, c);
                key = (a * weights[0] + b * weights[1] + c * weights[2]).length();
            }
        }
        let face = self.faces.len() as u32;
        self.faces.push(ExactFace { corners, neighbours, normal, distance, alive: true, seen: false });
        self.queue.push(Reverse(QueuedFace { distance: key, face }));
    }

    fn grow(mut self, simplex: &WeightedSimplex<DVec3>, upper: f64, slack: f64) -> Depth {
        let mut floor = f64::NEG_INFINITY;
        let mut best = f64::INFINITY;
        let mut normal = self.axis;
        let mut nearest = 0;
        while let Some(Reverse(QueuedFace { distance, face })) = self.queue.pop() {
            if !self.faces[face as usize].alive {
                continue;
            }
            floor = floor.max(distance);
            if floor >= best - slack || self.points.len() >= POINT_LIMIT {
                break;
            }
            let direction = self.faces[face as usize].normal;
            let corner = self.probe(direction);
            let along = direction.dot(corner.point);
            if upper - self.lower <= slack {
                let witness = simplex.witness();
                return Depth { lower: self.lower, upper, normal: self.axis, witness };
            }
            if along < best {
                best = along;
                normal = direction;
                nearest = face;
            }
            if along - distance > slack {
                self.add_point(face, corner);
            }
        }
        if !best.is_finite() {
            best = -self.lower;
        }
        // A facet of `D` may be many triangles: find the one that holds the foot of the origin on the facet with this normal.
        // Another facet may be just as deep, for example on the opposite side of a body and its copy.
        let deepest = normal * best;
        let mut witness = self.nearest_on(nearest);
        let mut least = (witness.point - deepest).length_squared();
        for face in 0..self.faces.len() as u32 {
            let ExactFace { alive, distance, .. } = self.faces[face as usize];
            if alive && distance <= best + 4.0 * slack {
                let other = self.nearest_on(face);
                let squared = (other.point - deepest).length_squared();
                if squared < least {
                    least = squared;
                    witness = other;
                }
            }
        }
        // Where the foot of the origin is outside the facet, another face is as deep to within the slack and holds its own foot.
        // Where that face is not on the surface of `D`, expand it and look again.
        for _ in 0..WITNESS_TRIES {
            if least <= slack * slack {
                break;
            }
            let mut own_face = None;
            let mut least_own = least;
            for face in 0..self.faces.len() as u32 {
                let ExactFace { alive, distance, normal, .. } = self.faces[face as usize];
                if alive && distance <= best + 4.0 * slack {
                    let other = self.nearest_on(face);
                    let squared = (other.point - normal * distance).length_squared();
                    if squared < least_own {
                        least_own = squared;
                        own_face = Some((face, other));
                    }
                }
            }
            let Some((face, point)) = own_face else { break };
            let direction = self.faces[face as usize].normal;
            let corner = self.difference.corner(direction);
            let along = direction.dot(corner.point);
            if along <= best + slack {
                best = along;
                normal = direction;
                witness = point;
                break;
            }
            self.add_point(face, corner);
            if self.faces[face as usize].alive {
                break;
            }
        }
        let inside = if floor >= 0.0 { -floor } else { f64::INFINITY };
        Depth { lower: -best, upper: upper.min(inside).max(-best), normal, witness }
    }

    /// The point of a face nearest to the origin.
    fn nearest_on(&self, face: u32) -> Corner<DVec3> {
        let corners = self.faces[face as usize].corners.map(|corner| self.points[corner as usize]);
        let [a, b, c] = corners.map(|corner| corner.point);
        let weights = closest_weights(a, b, c);
        let sum = |of: fn(&Corner<DVec3>) -> DVec3| {
            of(&corners[0]) * weights[0] + of(&corners[1]) * weights[1] + of(&corners[2]) * weights[2]
        };
        Corner { point: sum(|corner| corner.point), on_a: sum(|corner| corner.on_a) }
    }

    fn is_above(&self, face: u32, point: DVec3) -> bool {
        let [a, b, c] = self.faces[face as usize].corners.map(|corner| self.points[corner as usize].point);
        orientation(a, b, c, point) < 0.0
    }

    /// Replaces the faces that the new corner sees, `first` among them, by a fan from the corner to their horizon.
    fn add_point(&mut self, first: u32, apex: Corner<DVec3>) {
        if !self.is_above(first, apex.point) {
            return;
        }
        let (mut seen, mut horizon) = (take(&mut self.visible), take(&mut self.horizon));
        seen.clear();
        horizon.clear();
        seen.push(first);
        self.faces[first as usize].seen = true;
        let mut at = 0;
        while at < seen.len() {
            let face = seen[at];
            at += 1;
            for edge in 0..3 {
                let ExactFace { corners, neighbours, .. } = &self.faces[face as usize];
                let (from, to, beyond) = (corners[edge], corners[(edge + 1) % 3], neighbours[edge]);
                if self.faces.get(beyond as usize).is_none_or(|beyond| beyond.seen) {
                    continue;
                }
                if self.is_above(beyond, apex.point) {
                    self.faces[beyond as usize].seen = true;
                    seen.push(beyond);
                } else {
                    horizon.push((from, to, beyond));
                }
            }
        }
        for &face in &seen {
            self.faces[face as usize].alive = false;
        }
        let point = self.points.len() as u32;
        self.points.push(apex);
        self.fan.resize(self.points.len(), NONE);
        let base = self.faces.len() as u32;
        for (at, &(from, _, _)) in horizon.iter().enumerate() {
            self.fan[from as usize] = base + at as u32;
        }
        for (at, &(from, to, beyond)) in horizon.iter().enumerate() {
            let face = base + at as u32;
            let next = self.fan[to as usize];
            self.add([from, to, point], [beyond, next, NONE]);
            let outer = &mut self.faces[beyond as usize];
            for edge in 0..3 {
                if outer.corners[edge] == to && outer.corners[(edge + 1) % 3] == from {
                    outer.neighbours[edge] = face;
                }
            }
        }
        for face in base..self.faces.len() as u32 {
            let next = self.faces[face as usize].neighbours[1];
            if let Some(next) = self.faces.get_mut(next as usize) {
                next.neighbours[2] = face;
            }
        }
        (self.visible, self.horizon) = (seen, horizon);
    }
}

/// Positive where `d` is below the plane through `a b c`, counter-clockwise from above. Exact.
fn orientation(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    // A side of a box along the axes. The general test takes its longest way where the points are in one plane.
    let is_shared = |axis: usize| a[axis] == b[axis] && a[axis] == c[axis] && a[axis] == d[axis];
    if is_shared(0) || is_shared(1) || is_shared(2) {
        return 0.0;
    }
    let coordinates = |v: DVec3| robust::Coord3D { x: v.x, y: v.y, z: v.z };
    robust::orient3d(coordinates(a), coordinates(b), coordinates(c), coordinates(d))
}

/// The unit normal of the plane through `a b c`, counter-clockwise from outside, or 0 if the triangle has no area. Rounding tilts the normal
/// of a sliver most along its longest edge, so that component is removed.
fn plane_normal(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    unit_normal(ab.cross(ac), [ab, ac, c - b])
}

/// [`plane_normal`] of the cross product of the first two edges: `a b`, `a c`, `b c`.
#[inline]
fn unit_normal(cross: DVec3, [ab, ac, bc]: [DVec3; 3]) -> DVec3 {
    let normal = cross.normalize_or_zero();
    let [ab2, ac2, bc2] = [ab, ac, bc].map(DVec3::length_squared);
    let (longest, squared) = if ab2 >= ac2 && ab2 >= bc2 {
        (ab, ab2)
    } else if ac2 >= bc2 {
        (ac, ac2)
    } else {
        (bc, bc2)
    };
    if normal == DVec3::ZERO {
        return normal;
    }
    (normal - longest * (normal.dot(longest) / squared)).normalize_or_zero()
}

/// Weights of the point of a triangle closest to the origin (Ericson 2005, §5.1.5).
fn closest_weights(a: DVec3, b: DVec3, c: DVec3) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let squared = normal.length_squared();
    if squared > 0.0 {
        let weight_b = ac.cross(a).dot(normal) / squared;
        let weight_c = a.cross(ab).dot(normal) / squared;
        if weight_b >= 0.0 && weight_c >= 0.0 && weight_b + weight_c <= 1.0 {
            return [1.0 - weight_b - weight_c, weight_b, weight_c];
        }
    }
    let along = |from: DVec3, edge: DVec3| {
        let length = edge.length_squared();
        let t = if length > 0.0 { (-from.dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
        (t, (from + edge * t).length_squared())
    };
    let (on_ab, on_ac, on_bc) = (along(a, ab), along(a, ac), along(b, c - b));
    if on_ab.1 <= on_ac.1 && on_ab.1 <= on_bc.1 {
        [1.0 - on_ab.0, on_ab.0, 0.0]
    } else if on_ac.1 <= on_bc.1 {
        [1.0 - on_ac.0, 0.0, on_ac.0]
    } else {
        [0.0, 1.0 - on_bc.0, on_bc.0]
    }
}
