//! EPA in f32 until the depth is known to within its own rounding: the fast path of the pairs that overlap.
//!
//! van den Bergen 2001. The polytope lies inside of the difference `D = A − B` and grows at the face nearest to the
//! origin; each direction tried bounds the depth from above, the nearest face, less what rounding may have made of
//! its plane, from below. The depth that is told is always an upper bound, and its direction parts the pair by it.
//! It may start from a simplex of one to four corners and need not hold the origin: face distances are signed.
//!
//! Arrays are bounded and one a component, so that four faces are made or tested at a time; where they are full or rounding
//! has made the surface inconsistent, the bounds so far are told, and [`depth`](super::depth) does the rest in f64.

use glam::{BVec3, Vec3, Vec4};

use super::distance::{Corner, Nearest, Weighted, Witness};
use super::gjk::reach_triangle;
use super::wide::{LANES, Wide, root, set_lane};

/// Corners of the polytope.
pub(crate) const POINTS: usize = 48;
/// Faces: `2 n − 4` for a closed surface of `n` corners, and a few more.
pub(crate) const FACES: usize = 96;

/// Room in a list of faces or edges; a power of two, so that places are found without a branch.
const LIST: usize = 128;

/// Half a unit in the last place of 1.
const ROUNDING: f32 = 1.0 / 16_777_216.0;

/// What is known of the signed gap of the cores, in the pair's unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expanded {
    /// The gap is at least this, along `normal`: minus the depth.
    pub(crate) lower: f32,
    /// The gap is at most this.
    pub(crate) upper: f32,
    /// Unit vector from `a` to `b`.
    pub(crate) normal: Vec3,
    /// The point of `D` that is as deep as the depth, and where on `A` it came from.
    pub(crate) witness: Corner<Vec3>,
}

/// A growing polytope; faces by component.
struct Polytope<'a, D: Witness<Vector = Vec3>> {
    difference: &'a D,
    points: [Corner<Vec3>; POINTS],
    point_count: usize,
    x: [f32; FACES],
    y: [f32; FACES],
    z: [f32; FACES],
    /// Signed distances of the planes; positive where the origin is inside. Infinite past the last face.
    distance: [f32; FACES],
    /// What orders the faces: the distance of the plane, or of a sliver, whose plane is noise, that of the triangle.
    key: [f32; FACES],
    /// The same, less its rounding error.
    bound: [f32; FACES],
    corners: [[u8; 3]; FACES],
    face_count: usize,
    /// A face whose plane may be off by more than this is a sliver.
    sliver: f32,
    /// The least height of `D` along a direction tried, and that direction.
    height: f32,
    normal: Vec3,
}

/// Goes on from where GJK stopped, until the bounds differ by `slack` or nothing more can be learnt.
#[inline(always)]
pub(crate) fn expand<D: Witness<Vector = Vec3>>(
    difference: &D,
    nearest: &Nearest<Vec3>,
    slack: f32,
) -> Expanded {
    let blank = nearest.simplex.corners[0];
    let mut polytope = Polytope {
        difference,
        points: [blank; POINTS],
        point_count: 0,
        x: [0.0; FACES],
        y: [0.0; FACES],
        z: [0.0; FACES],
        distance: [f32::INFINITY; FACES],
        key: [f32::INFINITY; FACES],
        bound: [f32::INFINITY; FACES],
        corners: [[0; 3]; FACES],
        face_count: 0,
        sliver: slack,
        height: -nearest.lower,
        normal: -nearest.axis,
    };
    // Where the origin is not inside, the point that GJK found bounds the gap.
    let outside = nearest.simplex.len < 4;
    let upper = if outside { nearest.upper } else { f32::INFINITY };
    let mut simplex = nearest.simplex;
    let is_grown = !(upper + polytope.height <= slack) && polytope.start(&mut simplex, upper, slack);
    if !is_grown {
        return polytope.flat(&nearest.simplex, upper);
    }
    polytope.grow(&nearest.simplex, upper, slack)
}

impl<D: Witness<Vector = Vec3>> Polytope<'_, D> {
    /// The answer where there is no polytope, or where the point that GJK found is near enough.
    #[inline(always)]
    fn flat(&self, simplex: &Weighted<Vec3>, upper: f32) -> Expanded {
        Expanded { lower: -self.height, upper, normal: self.normal, witness: simplex.witness() }
    }

    /// The point furthest along a direction of any length but 0.
    #[inline(always)]
    fn probe(&mut self, direction: Vec3) -> Corner<Vec3> {
        let corner = self.difference.corner(direction);
        let unit = direction * (1.0 / direction.dot(direction).sqrt());
        let height = unit.dot(corner.point);
        if height < self.height {
            self.height = height;
            self.normal = unit;
        }
        corner
    }

    /// Blows the simplex up to a tetrahedron; `false` where the bounds meet before, or `D` is flat.
    #[inline(always)]
    fn start(&mut self, simplex: &mut Weighted<Vec3>, upper: f32, slack: f32) -> bool {
        drop_flat(simplex);
        while simplex.len < 4 {
            let [p, q, r, _] = simplex.points();
            let edge = q - p;
            let (directions, count) = match simplex.len {
                1 => ([Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z], 6),
                2 => {
                    let side = edge.cross(least_axis(edge));
                    let other = edge.cross(side) * (1.0 / edge.dot(edge).sqrt());
                    ([side, -side, other, -other, side, side], 4)
                }
                _ => {
                    let normal = edge.cross(r - p);
                    ([normal, -normal, normal, normal, normal, normal], 2)
                }
            };
            let mut most = 0.0;
            let mut best = simplex.corners[0];
            for &direction in &directions[..count] {
                let corner = self.probe(direction);
                if upper + self.height <= slack {
                    return false;
                }
                let offset = corner.point - p;
                let gain = match simplex.len {
                    1 => offset.dot(offset),
                    2 => edge.cross(offset).length_squared(),
                    _ => direction.dot(offset),
                };
                if gain > most {
                    most = gain;
                    best = corner;
                }
            }
            if !(most > 0.0) {
                return false;
            }
            simplex.corners[simplex.len] = best;
            simplex.len += 1;
        }
        let [p, q, r, s] = simplex.points();
        self.points[..4].copy_from_slice(&simplex.corners);
        self.point_count = 4;
        if (q - p).cross(r - p).dot(s - p) > 0.0 {
            self.points.swap(1, 2);
        }
        // Now the last is below the face 0 1 2, which is counter-clockwise from outside.
        self.face_count = 4;
        self.set(&[0, 1, 2, 3], &[[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    }

    /// Writes up to four faces, at the places given; `false` where corners are in line.
    #[inline(always)]
    fn set(&mut self, faces: &[u8], corners: &[[u8; 3]; LANES]) -> bool {
        let mut stored = [[[0.0; LANES]; 3]; 3];
        for at in 0..LANES {
            let [a, b, c] = corners[at];
            set_lane(&mut stored[0], at, self.points[a as usize].point);
            set_lane(&mut stored[1], at, self.points[b as usize].point);
            set_lane(&mut stored[2], at, self.points[c as usize].point);
        }
        let a = Wide::load(&stored[0]);
        let ab = Wide::load(&stored[1]) - a;
        let ac = Wide::load(&stored[2]) - a;
        let cross = ab.cross(ac);
        let squared = cross.dot(cross);
        if !squared.cmpgt(Vec4::ZERO).all() {
            return false;
        }
        let inverse = Vec4::ONE / root(squared);
        let normal = cross.scaled(inverse);
        let distance = normal.dot(a);
        // As `face_error`.
        let lengths = a.dot(a) * ab.dot(ab) * ac.dot(ac);
        let error = root(lengths) * inverse * Vec4::splat(8.0 * ROUNDING);
        let sliver = Vec4::splat(self.sliver);
        let slivers = (error.cmpgt(sliver) & distance.cmpgt(error)).bitmask();
        let normal = normal.store();
        let bound = (distance - error).to_array();
        let distance = distance.to_array();
        for (at, &face) in faces.iter().enumerate() {
            let face = face as usize;
            self.x[face] = normal[0][at];
            self.y[face] = normal[1][at];
            self.z[face] = normal[2][at];
            self.distance[face] = distance[at];
            self.key[face] = distance[at];
            self.bound[face] = bound[at];
            self.corners[face] = corners[at];
            if slivers >> at & 1 != 0 {
                let [a, b, c] = corners[at];
                let [a, b, c] = [self.points[a as usize], self.points[b as usize], self.points[c as usize]];
                let reach = reach_triangle(a.point, b.point, c.point).sqrt();
                self.key[face] = distance[at].max(reach);
                self.bound[face] = bound[at].max(reach - self.sliver);
            }
        }
        true
    }

    #[inline(always)]
    fn grow(&mut self, simplex: &Weighted<Vec3>, upper: f32, slack: f32) -> Expanded {
        let mut floor = f32::NEG_INFINITY;
        loop {
            let (nearest, least_bound) = self.nearest();
            floor = floor.max(least_bound);
            if self.height - least_bound <= slack {
                break;
            }
            let normal = Vec3::new(self.x[nearest], self.y[nearest], self.z[nearest]);
            let distance = self.distance[nearest];
            let corner = self.difference.corner(normal);
            let height = normal.dot(corner.point);
            let is_less = height < self.height;
            self.normal = Vec3::select(BVec3::splat(is_less), normal, self.normal);
            self.height = if is_less { height } else { self.height };
            if upper + self.height <= slack {
                return self.flat(simplex, upper);
            }
            let noise = 4.0 * ROUNDING * corner.point.dot(corner.point).sqrt();
            if !(height - distance > noise) || !self.replace(corner, noise) {
                break;
            }
        }
        // Where the origin may be outside, a point of the surface that is near it will do.
        let (witness, facing) = self.witness(slack);
        // Of several facets as deep, the direction told may be another's, or one that was tried but never became a face:
        // the point's own facet then tells it, if it is as deep.
        let off = witness.point - self.normal * self.height;
        if off.dot(off) > slack * slack {
            let height = facing.dot(self.difference.corner(facing).point);
            if height <= self.height + slack {
                self.height = height;
                self.normal = facing;
            }
        }
        let inside = if floor >= 0.0 { -floor } else { witness.point.dot(witness.point).sqrt() };
        Expanded { lower: -self.height, upper: upper.min(inside), normal: self.normal, witness }
    }

    /// The nearest face, and the least bound of any.
    #[inline(always)]
    fn nearest(&self) -> (usize, f32) {
        let mut least = Vec4::INFINITY;
        let mut which = Vec4::ZERO;
        let mut bound = Vec4::INFINITY;
        for first in (0..self.face_count).step_by(LANES) {
            let distance = four(&self.key, first);
            which = Vec4::select(distance.cmplt(least), Vec4::splat(first as f32), which);
            least = distance.min(least);
            bound = four(&self.bound, first).min(bound);
        }
        let lane = least.cmpeq(Vec4::splat(least.min_element())).bitmask().trailing_zeros() as usize % LANES;
        (which.to_array()[lane] as usize + lane, bound.min_element())
    }

    /// Replaces the faces that the corner sees by a fan from it to their horizon; `false` where it can't.
    #[inline(always)]
    fn replace(&mut self, corner: Corner<Vec3>, noise: f32) -> bool {
        if self.point_count == POINTS {
            return false;
        }
        let point = corner.point;
        // What is seen is a matter of luck, so nothing branches on it: each candidate is written, and counted or not.
        let mut seen = [0_u8; LIST];
        let mut seen_count = 0;
        let (x, y, z) = (Vec4::splat(point.x), Vec4::splat(point.y), Vec4::splat(point.z));
        for first in (0..self.face_count).step_by(LANES) {
            let height = four(&self.x, first) * x + four(&self.y, first) * y + four(&self.z, first) * z;
            let above = (height - four(&self.distance, first)).cmpgt(Vec4::splat(noise)).bitmask() as usize;
            for lane in 0..LANES {
                seen[seen_count % LIST] = (first + lane) as u8;
                seen_count += above >> lane & 1;
            }
        }
        if seen_count == 0 || seen_count == self.face_count {
            return false;
        }
        // One bit an edge of a face that is seen, from a corner to a corner.
        let mut edges = [0_u64; POINTS];
        for &face in &seen[..seen_count] {
            let [a, b, c] = self.corners[face as usize];
            edges[a as usize] |= 1 << b;
            edges[b as usize] |= 1 << c;
            edges[c as usize] |= 1 << a;
        }
        let mut horizon = [[0_u8; 2]; LIST];
        let mut horizon_len = 0;
        for &face in &seen[..seen_count] {
            let [a, b, c] = self.corners[face as usize];
            for [from, to] in [[a, b], [b, c], [c, a]] {
                // An edge between two faces that are seen comes twice, once each way.
                horizon[horizon_len % LIST] = [from, to];
                horizon_len += usize::from(edges[to as usize] >> from & 1 == 0);
            }
        }
        if horizon_len > FACES {
            return false;
        }
        let face_count = self.face_count - seen_count + horizon_len;
        let apex = self.point_count as u8;
        self.points[self.point_count] = corner;
        self.point_count += 1;
        // A closed surface of triangles has 2 V − 4 faces; points that were swallowed make it fewer. More, or an odd
        // number, means that the faces seen were not one disk.
        if horizon_len < 3
            || !face_count.is_multiple_of(2)
            || face_count > 2 * self.point_count - 4
            || face_count > FACES
        {
            return false;
        }
        for at in (0..horizon_len).step_by(LANES) {
            let mut faces = [0; LANES];
            let mut corners = [[0; 3]; LANES];
            for lane in 0..LANES {
                // Past the last one, that one again.
                let at = (at + lane).min(horizon_len - 1);
                let [from, to] = horizon[at % LIST];
                let added = (self.face_count + at).wrapping_sub(seen_count) as u8;
                faces[lane] = if at < seen_count { seen[at % LIST] } else { added };
                corners[lane] = [from, to, apex];
            }
            if !self.set(&faces[..(horizon_len - at).min(LANES)], &corners) {
                return false;
            }
        }
        // Where fewer come than go, the last faces move into the holes, from the last hole down.
        let mut count = self.face_count.max(face_count);
        for at in (horizon_len..seen_count).rev() {
            count -= 1;
            self.shift(count, seen[at] as usize);
        }
        self.face_count = face_count;
        true
    }

    /// Moves a face, and leaves none where it was.
    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        self.x[to] = self.x[from];
        self.y[to] = self.y[from];
        self.z[to] = self.z[from];
        self.distance[to] = self.distance[from];
        self.key[to] = self.key[from];
        self.bound[to] = self.bound[from];
        self.corners[to] = self.corners[from];
        self.x[from] = 0.0;
        self.y[from] = 0.0;
        self.z[from] = 0.0;
        self.distance[from] = f32::INFINITY;
        self.key[from] = f32::INFINITY;
        self.bound[from] = f32::INFINITY;
    }

    /// A facet of `D` may be many triangles: the point of those at the depth that is nearest to the origin, and the
    /// normal of its triangle.
    #[inline(always)]
    fn witness(&self, slack: f32) -> (Corner<Vec3>, Vec3) {
        let mut least = f32::INFINITY;
        let mut best = (self.points[0], self.normal);
        for face in 0..self.face_count {
            if self.key[face] <= self.height + slack {
                let [a, b, c] = self.corners[face];
                let corners = [self.points[a as usize], self.points[b as usize], self.points[c as usize]];
                let [a, b, c] = [corners[0].point, corners[1].point, corners[2].point];
                let weights = closest_weights(a, b, c);
                let sum = |of: fn(&Corner<Vec3>) -> Vec3| {
                    of(&corners[0]) * weights[0] + of(&corners[1]) * weights[1] + of(&corners[2]) * weights[2]
                };
                let point = sum(|corner| corner.point);
                let squared = point.dot(point);
                if squared < least {
                    least = squared;
                    let normal = Vec3::new(self.x[face], self.y[face], self.z[face]);
                    best = (Corner { point, on_a: sum(|corner| corner.on_a) }, normal);
                }
            }
        }
        best
    }
}

#[inline(always)]
fn four(of: &[f32; FACES], first: usize) -> Vec4 {
    Vec4::new(of[first], of[first + 1], of[first + 2], of[first + 3])
}

/// Takes a simplex that is flat to within rounding for a smaller one: it has no inside to grow from.
#[inline(always)]
fn drop_flat(simplex: &mut Weighted<Vec3>) {
    const FLAT: f32 = 32.0 * ROUNDING;
    let [p, q, r, s] = simplex.points();
    let squared = |v: Vec3| v.dot(v);
    let normal = (q - p).cross(r - p);
    if simplex.len == 4 {
        let height = normal.dot(s - p);
        if !(height * height > FLAT * FLAT * squared(normal) * squared(s - p)) {
            simplex.len = 3;
            if squared((q - p).cross(s - p)) > squared(normal) {
                simplex.corners[2] = simplex.corners[3];
            }
        }
    }
    let [p, q, r, _] = simplex.points();
    if simplex.len == 3 && !(squared((q - p).cross(r - p)) > FLAT * FLAT * squared(q - p) * squared(r - p)) {
        simplex.len = 2;
        if squared(r - p) > squared(q - p) {
            simplex.corners[1] = simplex.corners[2];
        }
    }
    let [p, q, _, _] = simplex.points();
    if simplex.len == 2 && !(squared(q - p) > 0.0) {
        simplex.len = 1;
    }
}

/// The axis that a vector is furthest from.
#[inline(always)]
fn least_axis(v: Vec3) -> Vec3 {
    let Vec3 { x, y, z } = v.abs();
    if x <= y && x <= z {
        Vec3::X
    } else if y <= z {
        Vec3::Y
    } else {
        Vec3::Z
    }
}

/// Weights of the point of a triangle closest to the origin (Ericson 2005, §5.1.5).
#[inline(always)]
fn closest_weights(a: Vec3, b: Vec3, c: Vec3) -> [f32; 3] {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let squared = normal.dot(normal);
    if squared > 0.0 {
        let weight_b = ac.cross(a).dot(normal) / squared;
        let weight_c = a.cross(ab).dot(normal) / squared;
        if weight_b >= 0.0 && weight_c >= 0.0 && weight_b + weight_c <= 1.0 {
            return [1.0 - weight_b - weight_c, weight_b, weight_c];
        }
    }
    let along = |from: Vec3, edge: Vec3| {
        let length = edge.dot(edge);
        let t = if length > 0.0 { (-from.dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
        let point = from + edge * t;
        (t, point.dot(point))
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
