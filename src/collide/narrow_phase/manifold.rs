//! Contact manifolds: up to four points that hold a body at rest.
//!
//! Along the contact's normal each body has a highest feature: the face or edge at its highest vertex that is level to within one
//! degree, or the vertex itself. The two features are projected along the normal and clipped against each other (Sutherland and
//! Hodgman 1974). The corners of the result are contact points, each with its own depth. Of more than four points these are kept: the
//! deepest, the one furthest from it, and the two that span the most area with these. All of it is computed in f64 from the bodies as
//! stored, so that the points lie on the surfaces.
//!
//! Each point knows the features that it comes from, as in Box2D and PhysX: a corner of one polygon in the other, or a crossing of two
//! edges. So clipping carries, beside each corner, what it is, and whose edge leads on from it. No position depends on that.

use glam::{DVec2, DVec3};

use crate::collide::gjk::pose::{ExactPlaced, Placement};
use crate::collide::gjk::tolerance::tolerance;
use crate::collide::hull::Dimension;
use crate::collide::hull::faces::FaceTable;
use crate::collide::narrow_phase::exact::placements;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{FeatureId, Manifold, ManifoldPoint};
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::stored::Stored;

/// A face or an edge counts as level up to an angle of this sine: one degree.
pub(crate) const LEVEL: f64 = 0.017_452_4;

/// Most corners of a face; of a face with more, evenly chosen ones are used.
const CORNERS: usize = 32;

/// The highest feature of a body along a direction, rounding included, relative to an origin near the bodies.
enum Feature {
    /// A vertex: the contact's own point is used.
    Vertex(u32),
    Edge([Corner; 2]),
    /// A face. Faces that are coplanar with it up to rounding belong to it.
    Face(Face),
    /// The plane of a half-space, unbounded.
    Plane,
}

/// The face of a feature.
struct Face {
    /// Counter-clockwise about the direction. A corner may lie below the plane by up to 1e-6 of the body's radius.
    corners: Vec<Corner>,
    number: u32,
    normal: DVec3,
    /// A point of the plane. No point of the body is above it.
    on_plane: DVec3,
}

impl Feature {
    fn id(&self) -> FeatureId {
        match self {
            Self::Vertex(vertex) => FeatureId::Vertex(*vertex),
            Self::Edge([p, q]) => edge_id(p.vertex, q.vertex),
            Self::Face(face) => FeatureId::Face(face.number),
            Self::Plane => FeatureId::Face(0),
        }
    }
}

fn edge_id(p: u32, q: u32) -> FeatureId {
    FeatureId::Edge([p.min(q), p.max(q)])
}

/// A corner of an edge or a face, and which vertex of the hull it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    pub(crate) point: DVec3,
    pub(crate) vertex: u32,
}

/// A corner of a feature projected along the normal: its position across the normal.
#[derive(Debug, Clone, Copy)]
struct ProjectedPoint {
    across: DVec2,
    vertex: u32,
}

/// The manifold of a measured pair.
pub(crate) fn manifold(
    scene: &Scene,
    stored: Stored<'_>,
    [a, b]: [u32; 2],
    measured: &Measured,
    margin: f64,
) -> Manifold {
    let tables = [a, b].map(|body| scene.faces.of(&scene.hulls, stored.bodies[body as usize].hull));
    manifold_of(placements(&scene.hulls, stored, [a, b]), tables, [a, b], measured, margin)
}

/// The manifold of a measured pair, from the placements and face tables of its hulls.
pub(crate) fn manifold_of(
    placements: [Placement<'_>; 2],
    tables: [&FaceTable; 2],
    [a, b]: [u32; 2],
    measured: &Measured,
    margin: f64,
) -> Manifold {
    let placed = [0, 1].map(|k| ExactPlaced::new(&placements[k]));
    let is_half_space = placements.map(|placement| placement.hull.dimension() == Dimension::HalfSpace);
    // Relative to a bounded body: a half-space's origin may be far away.
    let origin = placed[usize::from(is_half_space[0])].center;
    let radii = [0, 1].map(|k| if is_half_space[k] { placed[1 - k].radius } else { placed[k].radius });
    let tolerance = tolerance(radii[0].min(radii[1]), radii[0] + radii[1], measured.gap);
    let normal = measured.normal;
    let at = |k: usize| (placed[k].center[0] - origin[0]) + (placed[k].center[1] - origin[1]);
    let features = [0, 1].map(|k| {
        let direction = if k == 0 { normal } else { -normal };
        if is_half_space[k] {
            Feature::Plane
        } else {
            highest_feature(&placements[k], tables[k], &placed[k], at(k), direction)
        }
    });
    let depth = -measured.gap;
    let base = measured.on_a - origin[0] - origin[1];
    let frame = ContactFrame { normal, across: [normal.any_orthonormal_vector(); 2] };
    let frame = ContactFrame { across: [frame.across[0], normal.cross(frame.across[0])], ..frame };
    let (across, ground) = frame.project(base);
    let [on_a, on_b] = &features;
    let mut found = frame.overlap(on_a, on_b, [ground, ground - depth], 0.1 * tolerance);
    // Points that are farther apart than the margin, and than the nearest point, are no contacts.
    let least = depth.min(-margin) - tolerance;
    found.retain(|point| point.depth >= least);
    let deepest = found.iter().map(|point| point.depth).fold(f64::NEG_INFINITY, f64::max);
    if deepest < depth - 0.25 * tolerance {
        let features = [on_a.id(), on_b.id()];
        found.insert(0, Overlap { across, height: ground, depth, features });
    }
    let kept = reduce_to_four(found, tolerance);
    let mut points = [ManifoldPoint::default(); 4];
    for (point, overlap) in points.iter_mut().zip(&kept) {
        let on_a = frame.unproject(overlap.across, overlap.height) + origin[1] + origin[0];
        let on_b = frame.unproject(overlap.across, overlap.height - overlap.depth) + origin[1] + origin[0];
        *point = ManifoldPoint {
            on_a: on_a.to_array(),
            on_b: on_b.to_array(),
            separation: -overlap.depth,
            features: overlap.features,
        };
    }
    Manifold {
        a,
        b,
        part_a: 0,
        part_b: 0,
        status: measured.status,
        separation: measured.gap,
        normal: normal.to_array(),
        points,
        point_count: kept.len() as u32,
    }
}

/// The highest feature of a body along a unit direction, relative to the origin that `center` is relative to.
fn highest_feature(
    placement: &Placement<'_>,
    table: &FaceTable,
    placed: &ExactPlaced,
    center: DVec3,
    direction: DVec3,
) -> Feature {
    let &Placement { hull, rotation: turn, scale, .. } = placement;
    let points = &placed.points;
    let heights = points.iter().map(|point| point.dot(direction));
    let (top, highest) = heights.enumerate().fold((0, f64::NEG_INFINITY), |best, (index, height)| {
        if height > best.1 { (index, height) } else { best }
    });
    let rounding = placed.rounding;
    let [first, last] = [table.starts[top], table.starts[top + 1]].map(|at| at as usize);
    let mut widest = 0.0;
    let mut level = None;
    let facing = |face: u32| turn * (table.faces[face as usize].0 / scale).normalize();
    for &face in &table.at[first..last] {
        let (normal, area) = (facing(face), table.faces[face as usize].1);
        if normal.dot(direction) > 0.0 && normal.cross(direction).length() <= LEVEL && area > widest {
            widest = area;
            level = Some((normal, face));
        }
    }
    if let Some((normal, face)) = level {
        // Faces that are coplanar up to rounding count as one.
        let plane = normal.dot(points[top]) - 1e-6 * placed.radius;
        let is_level = |vertex: u32| normal.dot(points[vertex as usize]) >= plane;
        let all = (0..).zip(points).map(|(vertex, &point)| Corner { point, vertex });
        let level: Vec<Corner> = all.filter(|corner| is_level(corner.vertex)).collect();
        // Of faces that count as one the first gives its number, whichever vertex is the highest.
        let face = if level.len() == hull.face(face).len() {
            face
        } else {
            let faces_at = |corner: &Corner| {
                let [from, to] = [0, 1].map(|k| table.starts[corner.vertex as usize + k] as usize);
                table.at[from..to].iter().copied()
            };
            let is_part = |face: &u32| {
                facing(*face).dot(normal) > 0.0 && hull.face(*face).iter().all(|&vertex| is_level(vertex))
            };
            level.iter().flat_map(faces_at).filter(is_part).min().unwrap_or(face)
        };
        let polygon = convex(level.into_iter(), normal);
        if polygon.len() >= 3 {
            let shift = center + normal * rounding;
            let moved = |corner: Corner| Corner { point: corner.point + shift, ..corner };
            let corners = polygon.into_iter().map(moved).collect();
            return Feature::Face(Face { corners, number: face, normal, on_plane: points[top] + shift });
        }
    }
    let mut flattest = LEVEL;
    let mut edge = None;
    for &other in hull.neighbours(top as u32) {
        let along = points[other as usize] - points[top];
        let slope = (highest - points[other as usize].dot(direction)) / along.length();
        if slope <= flattest {
            flattest = slope;
            edge = Some((other, along));
        }
    }
    match edge {
        Some((other, along)) => {
            let along = along.normalize();
            let up = (direction - along * direction.dot(along)).normalize();
            let shift = center + up * rounding;
            let corner = |vertex: u32| Corner { point: points[vertex as usize] + shift, vertex };
            Feature::Edge([corner(top as u32), corner(other)])
        }
        None => Feature::Vertex(top as u32),
    }
}

/// The convex polygon of points of a plane, counter-clockwise seen against `normal` (Andrew 1979), thinned to
/// [`CORNERS`] corners.
pub(crate) fn convex(points: impl Iterator<Item = Corner>, normal: DVec3) -> Vec<Corner> {
    let right = normal.any_orthonormal_vector();
    let up = normal.cross(right);
    let flatten = |point: DVec3| DVec2::new(point.dot(right), point.dot(up));
    let mut flat: Vec<(DVec2, Corner)> = points.map(|corner| (flatten(corner.point), corner)).collect();
    flat.sort_by(|(p, _), (q, _)| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    let half = |points: &mut dyn Iterator<Item = (DVec2, Corner)>| {
        let mut chain: Vec<(DVec2, Corner)> = Vec::new();
        for point in points {
            while let [.., (a, _), (b, _)] = chain[..] {
                if (b - a).perp_dot(point.0 - b) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut polygon: Vec<Corner> =
        half(&mut flat.iter().copied()).into_iter().map(|(_, corner)| corner).collect();
    polygon.extend(half(&mut flat.iter().rev().copied()).into_iter().map(|(_, corner)| corner));
    if polygon.len() > CORNERS {
        let count = polygon.len();
        polygon = (0..CORNERS).map(|k| polygon[k * count / CORNERS]).collect();
    }
    polygon
}

/// The corners of each face of a hull at scale 1, as indices of vertices, counter-clockwise; with those of faces that are coplanar with it
/// up to rounding, and thinned to [`CORNERS`]. `radius` is the hull's bounding radius.
#[cfg(feature = "gpu")]
pub(crate) fn joined_faces(
    hull: &crate::collide::hull::Hull,
    table: &FaceTable,
    radius: f64,
) -> Vec<Vec<u32>> {
    let points: Vec<DVec3> = hull.vertices().iter().map(|point| DVec3::from(point.map(f64::from))).collect();
    let of = |(corners, &(normal, _)): (&[u32], &(DVec3, f64))| {
        let plane = normal.dot(points[corners[0] as usize]) - 1e-6 * radius;
        let level: Vec<u32> =
            (0..points.len() as u32).filter(|&vertex| normal.dot(points[vertex as usize]) >= plane).collect();
        if level.len() == corners.len() && corners.len() <= CORNERS {
            return corners.to_vec();
        }
        let corner = |&vertex: &u32| Corner { point: points[vertex as usize], vertex };
        convex(level.iter().map(corner), normal).iter().map(|corner| corner.vertex).collect()
    };
    hull.faces().zip(&table.faces).map(of).collect()
}

/// A point where the projected features overlap.
#[derive(Debug, Clone, Copy)]
struct Overlap {
    across: DVec2,
    /// Height of the surface of `a` along the normal.
    height: f64,
    depth: f64,
    features: [FeatureId; 2],
}

/// A corner of an overlap: its position across the normal, and the features of `a` and of `b` that it lies on.
type Clipped = (DVec2, [FeatureId; 2]);

/// The frame of a contact: the normal, and two directions across it.
struct ContactFrame {
    normal: DVec3,
    across: [DVec3; 2],
}

impl ContactFrame {
    /// The position across the normal, and the height along it.
    fn project(&self, point: DVec3) -> (DVec2, f64) {
        let [right, up] = self.across;
        (DVec2::new(point.dot(right), point.dot(up)), point.dot(self.normal))
    }

    /// The height of a feature's plane or line along the normal, as a function of the position across the normal.
    fn height_over(&self, feature: &Feature, ground: f64) -> impl Fn(DVec2) -> f64 + use<> {
        let (base, slope) = match feature {
            // The widest face gives the plane. Rounding would tilt a plane through the corners of slender faces.
            Feature::Face(face) => {
                let (across, upward) = self.project(face.normal);
                (self.project(face.on_plane), -across / upward)
            }
            Feature::Edge([p, q]) => {
                let (base, end) = (self.project(p.point), self.project(q.point));
                let along = end.0 - base.0;
                (base, along * ((end.1 - base.1) / along.length_squared()))
            }
            Feature::Vertex(_) | Feature::Plane => ((DVec2::ZERO, ground), DVec2::ZERO),
        };
        move |across: DVec2| base.1 + slope.dot(across - base.0)
    }

    fn unproject(&self, across: DVec2, height: f64) -> DVec3 {
        self.across[0] * across.x + self.across[1] * across.y + self.normal * height
    }

    /// The corners of the overlap of two projected features. `ground` has the height of each body's plane, for half-spaces.
    fn overlap(&self, a: &Feature, b: &Feature, ground: [f64; 2], slack: f64) -> Vec<Overlap> {
        let project_all = |corners: &[Corner]| -> Vec<ProjectedPoint> {
            let project =
                |&Corner { point, vertex }: &Corner| ProjectedPoint { across: self.project(point).0, vertex };
            corners.iter().map(project).collect()
        };
        let corners = |feature: &Feature| match feature {
            Feature::Vertex(_) | Feature::Plane => Vec::new(),
            Feature::Edge(ends) => project_all(ends),
            Feature::Face(face) => project_all(&face.corners),
        };
        let (projected_a, projected_b) = (corners(a), corners(b));
        let (id_a, id_b) = (a.id(), b.id());
        let vertex = |corner: &ProjectedPoint| FeatureId::Vertex(corner.vertex);
        // Both polygons are made counter-clockwise in this projection; b's face looks the other way.
        let turned = |projected: &[ProjectedPoint]| -> Vec<ProjectedPoint> {
            projected.iter().rev().copied().collect()
        };
        let swapped = |clipped: Vec<Clipped>| -> Vec<Clipped> {
            clipped.into_iter().map(|(across, [of_b, of_a])| (across, [of_a, of_b])).collect()
        };
        let clipped: Vec<Clipped> = match (a, b) {
            (Feature::Plane, Feature::Edge(_) | Feature::Face(_)) => {
                projected_b.iter().map(|corner| (corner.across, [id_a, vertex(corner)])).collect()
            }
            (Feature::Edge(_) | Feature::Face(_), Feature::Plane) => {
                projected_a.iter().map(|corner| (corner.across, [vertex(corner), id_b])).collect()
            }
            (Feature::Face(_), Feature::Face(_)) => {
                clip_polygon(&projected_a, &turned(&projected_b), [id_a, id_b])
            }
            (Feature::Edge(_), Feature::Face(_)) => clip_segment(&projected_a, &turned(&projected_b), id_b),
            (Feature::Face(_), Feature::Edge(_)) => swapped(clip_segment(&projected_b, &projected_a, id_a)),
            (Feature::Edge(_), Feature::Edge(_)) => common_segment(&projected_a, &projected_b, slack),
            _ => Vec::new(),
        };
        let (over_a, over_b) = (self.height_over(a, ground[0]), self.height_over(b, ground[1]));
        let point = |(across, features)| {
            let height = over_a(across);
            Overlap { across, height, depth: height - over_b(across), features }
        };
        clipped.into_iter().map(point).collect()
    }
}

/// An edge of a polygon that is being clipped: one of the polygon's own, or one of the polygon that clips it, by its first corner.
#[derive(Debug, Clone, Copy)]
enum Side {
    Own(usize),
    Clip(usize),
}

/// A corner of a polygon that is being clipped, and the edge that leads on from it.
#[derive(Debug, Clone, Copy)]
struct ClippedCorner {
    across: DVec2,
    features: [FeatureId; 2],
    side: Side,
}

/// The part of a convex polygon inside another, both counter-clockwise. Each corner comes with its features: a corner of one polygon lies in
/// the other's `faces`, a crossing on two edges.
fn clip_polygon(own: &[ProjectedPoint], by: &[ProjectedPoint], faces: [FeatureId; 2]) -> Vec<Clipped> {
    let edge_of = |corners: &[ProjectedPoint], k: usize| {
        edge_id(corners[k].vertex, corners[(k + 1) % corners.len()].vertex)
    };
    let mut polygon: Vec<ClippedCorner> = own
        .iter()
        .enumerate()
        .map(|(k, corner)| ClippedCorner {
            across: corner.across,
            features: [FeatureId::Vertex(corner.vertex), faces[1]],
            side: Side::Own(k),
        })
        .collect();
    for (k, from) in by.iter().enumerate() {
        let from = from.across;
        let edge = by[(k + 1) % by.len()].across - from;
        let side = |point: DVec2| edge.perp_dot(point - from);
        let crossing = |on: Side| match on {
            Side::Own(i) => [edge_of(own, i), edge_of(by, k)],
            // Two edges of the other polygon meet in its corner.
            Side::Clip(j) => {
                let corner = if (k + 1) % by.len() == j { j } else { k };
                [faces[0], FeatureId::Vertex(by[corner].vertex)]
            }
        };
        let mut inside = Vec::with_capacity(polygon.len() + 1);
        for (k_p, &corner) in polygon.iter().enumerate() {
            let (p, q) = (corner.across, polygon[(k_p + 1) % polygon.len()].across);
            let (at_p, at_q) = (side(p), side(q));
            if at_p >= 0.0 {
                let is_left = at_p == 0.0 && at_q < 0.0;
                inside.push(ClippedCorner {
                    side: if is_left { Side::Clip(k) } else { corner.side },
                    ..corner
                });
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                inside.push(ClippedCorner {
                    across: p + (q - p) * (at_p / (at_p - at_q)),
                    features: crossing(corner.side),
                    side: if at_q < 0.0 { Side::Clip(k) } else { corner.side },
                });
            }
        }
        polygon = inside;
    }
    polygon.into_iter().map(|corner| (corner.across, corner.features)).collect()
}

/// The ends of the part of a segment inside a counter-clockwise convex polygon, with the features of the segment and of the polygon.
fn clip_segment(segment: &[ProjectedPoint], by: &[ProjectedPoint], face: FeatureId) -> Vec<Clipped> {
    let [p, q] = [segment[0].across, segment[1].across];
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    let mut features = [segment[0], segment[1]].map(|corner| [FeatureId::Vertex(corner.vertex), face]);
    for (k, corner) in by.iter().enumerate() {
        let (corner, next) = (corner, &by[(k + 1) % by.len()]);
        let edge = next.across - corner.across;
        let (at_p, at_q) = (edge.perp_dot(p - corner.across), edge.perp_dot(q - corner.across));
        if at_p < 0.0 && at_q < 0.0 {
            return Vec::new();
        }
        let crossing =
            || [edge_id(segment[0].vertex, segment[1].vertex), edge_id(corner.vertex, next.vertex)];
        if at_p < 0.0 {
            let at = at_p / (at_p - at_q);
            if at > from {
                (from, features[0]) = (at, crossing());
            }
        } else if at_q < 0.0 {
            let at = at_p / (at_p - at_q);
            if at < to {
                (to, features[1]) = (at, crossing());
            }
        }
    }
    if from > to {
        return Vec::new();
    }
    vec![(p + (q - p) * from, features[0]), (p + (q - p) * to, features[1])]
}

/// The ends of the common part of two segments, where they are collinear to within `slack`: each is an end of one, on the other.
fn common_segment(a: &[ProjectedPoint], b: &[ProjectedPoint], slack: f64) -> Vec<Clipped> {
    let from = a[0].across;
    let along = a[1].across - from;
    let length = along.length();
    let along = along / length;
    let place = |point: DVec2| ((point - from).dot(along), (point - from).perp_dot(along));
    let [p, q] = [place(b[0].across), place(b[1].across)];
    let (low, high) = (p.0.min(q.0).max(0.0), p.0.max(q.0).min(length));
    let steep = (p.1 - q.1) / (p.0 - q.0);
    let off = |at: f64| (p.1 + steep * (at - p.0)).abs();
    if low < high && off(low) <= slack && off(high) <= slack {
        let [edge_a, edge_b] = [a, b].map(|ends| edge_id(ends[0].vertex, ends[1].vertex));
        let (first, last) = if p.0 < q.0 { (b[0], b[1]) } else { (b[1], b[0]) };
        let of_a = |corner: &ProjectedPoint| [FeatureId::Vertex(corner.vertex), edge_b];
        let of_b = |corner: ProjectedPoint| [edge_a, FeatureId::Vertex(corner.vertex)];
        let begin = if low > 0.0 { of_b(first) } else { of_a(&a[0]) };
        let end = if high < length { of_b(last) } else { of_a(&a[1]) };
        vec![(from + along * low, begin), (from + along * high, end)]
    } else {
        Vec::new()
    }
}

/// At most four of the points, no two nearer than `near`: the deepest first.
fn reduce_to_four(mut points: Vec<Overlap>, near: f64) -> Vec<Overlap> {
    let mut apart: Vec<Overlap> = Vec::with_capacity(points.len());
    for point in points.drain(..) {
        if apart.iter().all(|other| other.across.distance(point.across) > near) {
            apart.push(point);
        }
    }
    let most = |score: &dyn Fn(&Overlap) -> f64| {
        let better = |best: (usize, f64), (index, score): (usize, f64)| {
            if score > best.1 { (index, score) } else { best }
        };
        apart.iter().map(score).enumerate().fold((0, f64::NEG_INFINITY), better)
    };
    if apart.is_empty() {
        return apart;
    }
    let (deepest, _) = most(&|point| point.depth);
    let first = apart[deepest].across;
    let mut chosen = vec![deepest];
    if apart.len() > 1 {
        let (furthest, _) = most(&|point| point.across.distance_squared(first));
        let line = apart[furthest].across - first;
        chosen.push(furthest);
        let side = |point: &Overlap| line.perp_dot(point.across - first);
        for sign in [1.0, -1.0] {
            let (widest, area) = most(&|point| sign * side(point));
            if area > near * line.length() && !chosen.contains(&widest) {
                chosen.push(widest);
            }
        }
    }
    chosen.into_iter().map(|index| apart[index]).collect()
}
