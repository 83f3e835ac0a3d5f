//! EPA in f32 until the depth is known to within its own rounding: the fast path of the pairs that overlap.
//!
//! van den Bergen 2001. The polytope lies inside of the difference `D = A − B` and grows at the face nearest to the
//! origin. Each direction tried bounds the depth from above. The nearest face bounds it from below, less the rounding error of
//! the face's plane. The depth returned is always an upper bound: moving the pair apart by it along its direction separates it.
//! EPA may start from a simplex of one to four corners. The polytope need not hold the origin, because face distances are signed.
//!
//! Faces are stored in groups of four, one array for each component, and tested as vectors: sixteen faces without a branch. An
//! iteration mostly adds one group. A removed face stays in its place with an infinite distance. Space is fixed: where it is
//! full, or rounding has made the surface inconsistent, the bounds so far are returned, and
//! [`exact_depth`](crate::collide::epa::exact_depth) finds the depth in f64.

use glam::{BVec3, BVec4A, Mat4, Vec3, Vec4};

use crate::collide::gjk::distance::{Corner, Nearest, WeightedSimplex, Witness};
use crate::collide::gjk::vec3x4::{LANES, Vec3x4, sqrt};
use crate::collide::gjk::verdict::triangle_distance_squared;

/// Most corners of the polytope.
const POINTS: usize = 64;
/// Most faces at a time: a closed surface of `n` corners has `2 n − 4`.
const FACES: usize = 128;

/// Length of the corner arrays: a power of two, so that indices wrap without a branch. So are the lengths below.
const CORNERS: usize = 64;
/// Most groups of four faces, removed faces included.
const GROUPS: usize = 128;
/// Length of the lists of faces and edges.
const LIST: usize = 256;
/// Groups that are tested together.
const RUN_LEN: usize = 4;

/// Half a unit in the last place of 1.
const ROUNDING: f32 = 1.0 / 16_777_216.0;

/// Bounds of the signed gap of the cores, in the pair's unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DepthBounds {
    /// The gap is at least this, along `normal`: minus the depth.
    pub(crate) lower: f32,
    /// The gap is at most this.
    pub(crate) upper: f32,
    /// Unit vector from `a` to `b`.
    pub(crate) normal: Vec3,
    /// The point of `D` at the depth, and the point of `A` that it came from.
    pub(crate) witness: Corner<Vec3>,
}

/// Four faces.
#[derive(Debug, Clone, Copy)]
struct FaceGroup {
    x: [f32; LANES],
    y: [f32; LANES],
    z: [f32; LANES],
    /// Signed distances of the planes; positive where the origin is inside. Infinite where there is no face.
    distance: [f32; LANES],
    /// The nearest face has the least key: the distance of its plane. The plane of a sliver is noise, so its key is the distance
    /// of the triangle itself.
    key: [f32; LANES],
    /// The same, less its rounding error.
    bound: [f32; LANES],
}

const FAR: [f32; LANES] = [f32::INFINITY; LANES];

/// The memory of a polytope, reused from pair to pair.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Points of `D`; fourth component 0.
    points: [Vec4; CORNERS],
    on_a: [Vec3; CORNERS],
    point_count: usize,
    groups: [FaceGroup; GROUPS],
    corners: [[[u8; 4]; LANES]; GROUPS],
    group_count: usize,
    /// Faces that are not removed.
    face_count: usize,
    /// For each corner, a bit for each corner to which an edge of a visible face leads; all 0 between iterations.
    edges: [u64; CORNERS],
    /// Faces that the new point sees.
    seen: [u16; LIST],
    /// Edges around them, from corner to corner.
    horizon: [[u8; 2]; LIST],
}

impl Scratch {
    pub(crate) const fn new() -> Self {
        const NONE: FaceGroup = FaceGroup { x: FAR, y: FAR, z: FAR, distance: FAR, key: FAR, bound: FAR };
        Self {
            points: [Vec4::ZERO; CORNERS],
            on_a: [Vec3::ZERO; CORNERS],
            point_count: 0,
            groups: [NONE; GROUPS],
            corners: [[[0; 4]; LANES]; GROUPS],
            group_count: 0,
            face_count: 0,
            edges: [0; CORNERS],
            seen: [0; LIST],
            horizon: [[0; 2]; LIST],
        }
    }

    /// Appends a corner.
    #[inline(always)]
    fn push(&mut self, corner: &Corner<Vec3>) {
        let at = self.point_count % CORNERS;
        self.points[at] = corner.point.extend(0.0);
        self.on_a[at] = corner.on_a;
        self.point_count += 1;
    }

    #[inline(always)]
    fn point(&self, at: usize) -> Vec3 {
        self.points[at % CORNERS].truncate()
    }

    /// Four points side by side.
    #[inline(always)]
    fn gather(&self, at: [u8; LANES]) -> Vec3x4 {
        let [p, q, r, s] = at.map(|at| self.points[at as usize % CORNERS]);
        let Mat4 { x_axis, y_axis, z_axis, .. } = Mat4::from_cols(p, q, r, s).transpose();
        Vec3x4 { x: x_axis, y: y_axis, z: z_axis }
    }

    /// Indices of the corners of a face.
    #[inline(always)]
    fn triangle(&self, face: usize) -> [usize; 3] {
        let [a, b, c, _] = self.corners[face / LANES % GROUPS][face % LANES];
        [a as usize % CORNERS, b as usize % CORNERS, c as usize % CORNERS]
    }

    /// The unit normal of a face.
    #[inline(always)]
    fn face_normal(&self, face: usize) -> Vec3 {
        let group = &self.groups[face / LANES % GROUPS];
        Vec3::new(group.x[face % LANES], group.y[face % LANES], group.z[face % LANES])
    }

    /// Adds up to four faces; `false` where three corners are in line. A face is a sliver where its plane may be off by more than
    /// `sliver`.
    #[inline(always)]
    fn add(
        &mut self,
        [a, b, c]: [Vec3x4; 3],
        corners: [[u8; 4]; LANES],
        is_face: BVec4A,
        sliver: f32,
    ) -> bool {
        if self.group_count == GROUPS {
            return false;
        }
        if self.group_count.is_multiple_of(RUN_LEN) {
            for at in 0..RUN_LEN {
                let group = &mut self.groups[(self.group_count + at) % GROUPS];
                (group.distance, group.key, group.bound) = (FAR, FAR, FAR);
            }
        }
        let (ab, ac) = (b - a, c - a);
        let cross = ab.cross(ac);
        let squared = cross.dot(cross);
        if !squared.cmpgt(Vec4::ZERO).all() {
            return false;
        }
        let inverse = Vec4::ONE / sqrt(squared);
        let normal = cross.scaled(inverse);
        let distance = normal.dot(a);
        // As `face_error`.
        let lengths = a.dot(a) * ab.dot(ab) * ac.dot(ac);
        let error = sqrt(lengths) * inverse * Vec4::splat(16.0 * ROUNDING);
        let face = |value: Vec4| Vec4::select(is_face, value, Vec4::INFINITY).to_array();
        let [x, y, z] = normal.store();
        let key = face(distance);
        let bound = face(distance - error);
        let at = self.group_count % GROUPS;
        self.groups[at] = FaceGroup { x, y, z, distance: key, key, bound };
        self.corners[at] = corners;
        self.group_count += 1;
        let mut slivers =
            (is_face & error.cmpgt(Vec4::splat(sliver)) & distance.cmpgt(error)).bitmask() as usize;
        while slivers != 0 {
            let lane = slivers.trailing_zeros() as usize % LANES;
            slivers &= slivers - 1;
            let [a, b, c] = self.triangle(at * LANES + lane).map(|at| self.point(at));
            let distance_to_origin = triangle_distance_squared(a, b, c).sqrt();
            let group = &mut self.groups[at];
            group.key[lane] = key[lane].max(distance_to_origin);
            group.bound[lane] = bound[lane].max(distance_to_origin - sliver);
        }
        true
    }

    /// The nearest face, and the least bound of any.
    #[inline(always)]
    fn nearest(&self) -> (usize, f32) {
        let mut least = Vec4::INFINITY;
        // The bits of these floats are indices.
        let mut which = Vec4::ZERO;
        let mut bound = Vec4::INFINITY;
        for (run, groups) in
            self.groups.chunks_exact(RUN_LEN).take(self.group_count.div_ceil(RUN_LEN)).enumerate()
        {
            for (at, group) in groups.iter().enumerate() {
                let key = Vec4::from_array(group.key);
                let index = Vec4::splat(f32::from_bits((run * RUN_LEN + at) as u32));
                which = Vec4::select(key.cmplt(least), index, which);
                least = key.min(least);
                bound = Vec4::from_array(group.bound).min(bound);
            }
        }
        let lane = least.cmpeq(Vec4::splat(least.min_element())).bitmask().trailing_zeros() as usize % LANES;
        (which.to_array()[lane].to_bits() as usize * LANES + lane, bound.min_element())
    }

    /// Replaces the faces that the corner sees by a fan from the corner to their horizon; `false` where that fails.
    #[inline(always)]
    fn add_point(&mut self, corner: &Corner<Vec3>, noise: f32, sliver: f32) -> bool {
        if self.point_count == POINTS {
            return false;
        }
        let noise = Vec4::splat(noise);
        let apex = Vec3x4 {
            x: Vec4::splat(corner.point.x),
            y: Vec4::splat(corner.point.y),
            z: Vec4::splat(corner.point.z),
        };
        let mut seen_count = 0;
        for run in 0..self.group_count.div_ceil(RUN_LEN) {
            let mut above = 0_u32;
            for at in 0..RUN_LEN {
                let group = &self.groups[(run * RUN_LEN + at) % GROUPS];
                let normal = Vec3x4::load(&[group.x, group.y, group.z]);
                let height = normal.dot(apex) - Vec4::from_array(group.distance);
                above |= height.cmpgt(noise).bitmask() << (LANES * at);
            }
            while above != 0 {
                let face = run * RUN_LEN * LANES + above.trailing_zeros() as usize;
                above &= above - 1;
                self.seen[seen_count % LIST] = face as u16;
                seen_count += 1;
                let [a, b, c] = self.triangle(face);
                self.edges[a] |= 1 << b;
                self.edges[b] |= 1 << c;
                self.edges[c] |= 1 << a;
            }
        }
        let mut horizon_len = 0;
        for at in 0..seen_count {
            let [a, b, c] = self.triangle(self.seen[at % LIST] as usize);
            // A branch on whether an edge is on the horizon could not be predicted. So each edge is written, and the counter moves
            // on only for those on the horizon.
            for [from, to] in [[a, b], [b, c], [c, a]] {
                // An edge between two visible faces comes twice, once each way.
                self.horizon[horizon_len % LIST] = [from as u8, to as u8];
                horizon_len += usize::from(self.edges[to] >> from & 1 == 0);
            }
        }
        // A disk of n triangles has n + 2 edges around it, and two fewer for each corner inside. A closed surface of triangles has
        // 2 V − 4 faces, and two fewer for each corner that is no longer on it.
        let face_count = (self.face_count + horizon_len).wrapping_sub(seen_count);
        let is_disk = seen_count > 0
            && seen_count < self.face_count
            && horizon_len >= 3
            && horizon_len <= seen_count + 2
            && face_count.is_multiple_of(2)
            && face_count <= 2 * (self.point_count + 1) - 4
            && face_count <= FACES;
        for at in 0..seen_count {
            let face = self.seen[at % LIST] as usize;
            for corner in self.triangle(face) {
                self.edges[corner] = 0;
            }
            if is_disk {
                let group = &mut self.groups[face / LANES % GROUPS];
                group.distance[face % LANES] = f32::INFINITY;
                group.key[face % LANES] = f32::INFINITY;
                group.bound[face % LANES] = f32::INFINITY;
            }
        }
        if !is_disk {
            return false;
        }
        self.face_count = face_count;
        let index = self.point_count as u8;
        self.push(corner);
        let lanes = Vec4::new(0.0, 1.0, 2.0, 3.0);
        for first in (0..horizon_len).step_by(LANES) {
            // Lanes past the last edge repeat it and make no face.
            let edges = [0, 1, 2, 3].map(|lane| self.horizon[(first + lane).min(horizon_len - 1) % LIST]);
            let from = self.gather(edges.map(|[from, _]| from));
            let to = self.gather(edges.map(|[_, to]| to));
            let is_face = lanes.cmplt(Vec4::splat((horizon_len - first) as f32));
            let corners = edges.map(|[from, to]| [index, from, to, 0]);
            if !self.add([apex, from, to], corners, is_face, sliver) {
                return false;
            }
        }
        true
    }

    /// The point nearest to the origin on all triangles no farther than `reach`, and the normal of its triangle: a facet of `D`
    /// may be many triangles.
    #[inline(always)]
    fn witness(&self, reach: f32) -> Option<(Corner<Vec3>, Vec3)> {
        let mut least = f32::INFINITY;
        let mut best = None;
        for (at, group) in self.groups[..self.group_count.min(GROUPS)].iter().enumerate() {
            let mut near = Vec4::from_array(group.key).cmple(Vec4::splat(reach)).bitmask();
            while near != 0 {
                let face = at * LANES + near.trailing_zeros() as usize;
                near &= near - 1;
                let triangle = self.triangle(face);
                let [a, b, c] = triangle.map(|at| self.point(at));
                let weights = closest_weights(a, b, c);
                let sum = |[a, b, c]: [Vec3; 3]| a * weights[0] + b * weights[1] + c * weights[2];
                let point = sum([a, b, c]);
                let squared = point.dot(point);
                if squared < least {
                    least = squared;
                    let on_a = sum(triangle.map(|at| self.on_a[at]));
                    best = Some((Corner { point, on_a }, self.face_normal(face)));
                }
            }
        }
        best
    }
}

/// The polytope and the best bound so far.
struct DepthPolytope<'a, D: Witness<Vector = Vec3>> {
    difference: &'a D,
    scratch: &'a mut Scratch,
    /// A face whose plane may be off by more than this is a sliver.
    sliver: f32,
    /// The least height of `D` along a direction tried, and that direction.
    height: f32,
    normal: Vec3,
}

/// Runs EPA from GJK's simplex, until the bounds differ by at most `slack` or no direction improves them.
#[inline(always)]
pub(crate) fn epa_depth<D: Witness<Vector = Vec3>>(
    difference: &D,
    nearest: &Nearest<Vec3>,
    slack: f32,
    scratch: &mut Scratch,
) -> DepthBounds {
    scratch.point_count = 0;
    scratch.group_count = 0;
    let mut polytope =
        DepthPolytope { difference, scratch, sliver: slack, height: -nearest.lower, normal: -nearest.axis };
    // Where the origin is not inside, the point that GJK found bounds the gap.
    let outside = nearest.simplex.len < 4;
    let upper = if outside { nearest.upper } else { f32::INFINITY };
    let mut simplex = nearest.simplex;
    let is_grown =
        !(upper + polytope.height <= slack) && polytope.make_tetrahedron(&mut simplex, upper, slack);
    if !is_grown {
        return polytope.bounds_of_simplex(&nearest.simplex, upper);
    }
    polytope.grow(&nearest.simplex, upper, slack)
}

impl<D: Witness<Vector = Vec3>> DepthPolytope<'_, D> {
    /// The bounds without a polytope: those of GJK's simplex and of the directions tried.
    #[inline(always)]
    fn bounds_of_simplex(&self, simplex: &WeightedSimplex<Vec3>, upper: f32) -> DepthBounds {
        DepthBounds { lower: -self.height, upper, normal: self.normal, witness: simplex.witness() }
    }

    /// The point of `D` furthest along a direction, which must not be 0; keeps the best bound.
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

    /// Completes the simplex to a tetrahedron; `false` where the bounds meet first, or `D` is flat.
    #[inline(always)]
    fn make_tetrahedron(&mut self, simplex: &mut WeightedSimplex<Vec3>, upper: f32, slack: f32) -> bool {
        drop_degenerate_corners(simplex);
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
        if (q - p).cross(r - p).dot(s - p) > 0.0 {
            simplex.corners.swap(1, 2);
        }
        // Corner 3 is below the face 0 1 2, which is counter-clockwise seen from outside.
        let scratch = &mut *self.scratch;
        for corner in &simplex.corners {
            scratch.push(corner);
        }
        scratch.face_count = 4;
        let faces = [[0, 1, 2, 0], [3, 1, 0, 0], [3, 2, 1, 0], [3, 0, 2, 0]];
        let column = |corner: usize| scratch.gather(faces.map(|face: [u8; 4]| face[corner]));
        let columns = [column(0), column(1), column(2)];
        let every = Vec4::ZERO.cmpeq(Vec4::ZERO);
        scratch.add(columns, faces, every, self.sliver)
    }

    #[inline(always)]
    fn grow(&mut self, simplex: &WeightedSimplex<Vec3>, upper: f32, slack: f32) -> DepthBounds {
        let mut floor = f32::NEG_INFINITY;
        loop {
            let (nearest, least_bound) = self.scratch.nearest();
            floor = floor.max(least_bound);
            if self.height - least_bound <= slack {
                break;
            }
            let normal = self.scratch.face_normal(nearest);
            let distance = self.scratch.groups[nearest / LANES % GROUPS].distance[nearest % LANES];
            let corner = self.difference.corner(normal);
            let height = normal.dot(corner.point);
            let is_less = height < self.height;
            self.normal = Vec3::select(BVec3::splat(is_less), normal, self.normal);
            self.height = if is_less { height } else { self.height };
            if upper + self.height <= slack {
                return self.bounds_of_simplex(simplex, upper);
            }
            if self.height - floor <= slack {
                break;
            }
            let noise = 4.0 * ROUNDING * corner.point.dot(corner.point).sqrt();
            if !(height - distance > noise) || !self.scratch.add_point(&corner, noise, self.sliver) {
                break;
            }
        }
        // Where the origin may be outside, a point of the surface near it is good enough.
        let first = Corner { point: self.scratch.point(0), on_a: self.scratch.on_a[0] };
        let (witness, face_normal) =
            self.scratch.witness(self.height + slack).unwrap_or((first, self.normal));
        // Several facets may be equally deep, and the normal may belong to another facet than the point. Then the facet of the
        // point gives the normal, if it is as deep.
        let off = witness.point - self.normal * self.height;
        if off.dot(off) > slack * slack {
            let height = face_normal.dot(self.difference.corner(face_normal).point);
            if height <= self.height + slack {
                self.height = height;
                self.normal = face_normal;
            }
        }
        let inside = if floor >= 0.0 { -floor } else { witness.point.dot(witness.point).sqrt() };
        DepthBounds { lower: -self.height, upper: upper.min(inside), normal: self.normal, witness }
    }
}

/// Drops corners of a simplex that is flat to within rounding: it has no inside to grow from.
#[inline(always)]
fn drop_degenerate_corners(simplex: &mut WeightedSimplex<Vec3>) {
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

/// The coordinate axis with the largest angle to a vector.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_nearest_to_the_origin_may_be_in_any_part_of_a_triangle() {
        let corners = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
        // The origin projected onto the triangle's plane, and the weights of the nearest point.
        for (foot, weights) in [
            ([1.0, 1.0], [0.5, 0.25, 0.25]),
            ([-1.0, -1.0], [1.0, 0.0, 0.0]),
            ([6.0, -1.0], [0.0, 1.0, 0.0]),
            ([-1.0, 6.0], [0.0, 0.0, 1.0]),
            ([1.0, -2.0], [0.75, 0.25, 0.0]),
            ([-2.0, 3.0], [0.25, 0.0, 0.75]),
            ([3.0, 5.0], [0.0, 0.25, 0.75]),
        ] {
            let [a, b, c] = corners.map(|[x, y]| Vec3::new(x - foot[0], y - foot[1], 1.0));
            assert_eq!(closest_weights(a, b, c), weights, "{foot:?}");
        }
        // Without an area.
        let [a, b, c] = [-1.0, 1.0, 3.0].map(|x| Vec3::new(x, 1.0, 0.0));
        assert_eq!(closest_weights(a, b, c), [0.5, 0.5, 0.0]);
    }
}
