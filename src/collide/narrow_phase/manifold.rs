//! Contact manifolds: up to four points that hold a body at rest.
//!
//! Along the contact's normal each body has a highest feature: the face or edge at its highest vertex that is level to within one
//! degree, or the vertex itself. The two features are projected along the normal and clipped against each other (Sutherland and
//! Hodgman 1974). The corners of the result are contact points, each with its own depth. Of more than four points these are kept: the
//! deepest, the one furthest from it, and the two that span the most area with these. All of it is computed in f64 from the bodies as
//! stored, so that the points lie on the surfaces.

use glam::{DVec2, DVec3};

use crate::collide::gjk::pose::{ExactPlaced, Placement};
use crate::collide::gjk::tolerance::tolerance;
use crate::collide::hull::Dimension;
use crate::collide::hull::faces::FaceTable;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Manifold, ManifoldPoint};
use crate::collide::scene::body::Body;
use crate::collide::scene::query_input::Scene;

/// A face or an edge counts as level up to an angle of this sine: one degree.
pub(crate) const LEVEL: f64 = 0.017_452_4;

/// Most corners of a face; of a face with more, evenly chosen ones are used.
const CORNERS: usize = 32;

/// The highest feature of a body along a direction, rounding included, relative to an origin near the bodies.
enum Feature {
    /// A vertex: the contact's own point is used.
    Vertex,
    Edge([DVec3; 2]),
    /// Corners in the face's plane, counter-clockwise about the direction.
    Face(Vec<DVec3>),
    /// The plane of a half-space, unbounded.
    Plane,
}

/// A corner of a feature projected along the normal: its position across the normal, and its height along it.
#[derive(Debug, Clone, Copy)]
struct ProjectedPoint {
    across: DVec2,
    height: f64,
}

/// The manifold of a measured pair.
pub(crate) fn manifold(
    scene: &Scene,
    bodies: &[Body],
    [a, b]: [u32; 2],
    measured: &Measured,
    margin: f64,
) -> Manifold {
    let pair = [&bodies[a as usize], &bodies[b as usize]];
    let placements = pair.map(|body| Placement::new(&scene.hulls[body.hull as usize], body));
    let tables = pair.map(|body| scene.faces.of(&scene.hulls, body.hull));
    manifold_of(placements, tables, [a, b], measured, margin)
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
            feature(&placements[k], tables[k], &placed[k], at(k), direction)
        }
    });
    let depth = -measured.gap;
    let base = measured.on_a - origin[0] - origin[1];
    let frame = ContactFrame { normal, across: [normal.any_orthonormal_vector(); 2] };
    let frame = ContactFrame { across: [frame.across[0], normal.cross(frame.across[0])], ..frame };
    let ground = frame.project(base).height;
    let [on_a, on_b] = &features;
    let mut found = frame.overlap(on_a, on_b, [ground, ground - depth], 0.1 * tolerance);
    // Points that are farther apart than the margin, and than the nearest point, are no contacts.
    let least = depth.min(-margin) - tolerance;
    found.retain(|point| point.depth >= least);
    let deepest = found.iter().map(|point| point.depth).fold(f64::NEG_INFINITY, f64::max);
    if deepest < depth - 0.25 * tolerance {
        let projected = frame.project(base);
        found.insert(0, Overlap { across: projected.across, height: projected.height, depth });
    }
    let kept = reduce_to_four(found, tolerance);
    let mut points = [ManifoldPoint::default(); 4];
    for (point, overlap) in points.iter_mut().zip(&kept) {
        let on_a = frame.unproject(overlap.across, overlap.height) + origin[1] + origin[0];
        let on_b = frame.unproject(overlap.across, overlap.height - overlap.depth) + origin[1] + origin[0];
        *point = ManifoldPoint { on_a: on_a.to_array(), on_b: on_b.to_array(), separation: -overlap.depth };
    }
    Manifold {
        a,
        b,
        status: measured.status,
        separation: measured.gap,
        normal: normal.to_array(),
        points,
        point_count: kept.len() as u32,
    }
}

/// The highest feature of a body along a unit direction, relative to the origin that `center` is relative to.
fn feature(
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
    for &face in &table.at[first..last] {
        let (normal, area) = table.faces[face as usize];
        let normal = turn * (normal / scale).normalize();
        if normal.dot(direction) > 0.0 && normal.cross(direction).length() <= LEVEL && area > widest {
            widest = area;
            level = Some(normal);
        }
    }
    if let Some(normal) = level {
        // Faces that are coplanar up to rounding count as one.
        let plane = normal.dot(points[top]) - 1e-6 * placed.radius;
        let corners = points.iter().copied().filter(|point| normal.dot(*point) >= plane);
        let polygon = convex(corners, normal);
        if polygon.len() >= 3 {
            let shift = center + normal * rounding;
            return Feature::Face(polygon.into_iter().map(|corner| corner + shift).collect());
        }
    }
    let mut flattest = LEVEL;
    let mut edge = None;
    for &other in hull.neighbours(top as u32) {
        let along = points[other as usize] - points[top];
        let slope = (highest - points[other as usize].dot(direction)) / along.length();
        if slope <= flattest {
            flattest = slope;
            edge = Some((points[other as usize], along));
        }
    }
    match edge {
        Some((other, along)) => {
            let along = along.normalize();
            let up = (direction - along * direction.dot(along)).normalize();
            let shift = center + up * rounding;
            Feature::Edge([points[top] + shift, other + shift])
        }
        None => Feature::Vertex,
    }
}

/// The convex polygon of points of a plane, counter-clockwise seen against `normal` (Andrew 1979), thinned to
/// [`CORNERS`] corners.
fn convex(points: impl Iterator<Item = DVec3>, normal: DVec3) -> Vec<DVec3> {
    let right = normal.any_orthonormal_vector();
    let up = normal.cross(right);
    let mut flat: Vec<(DVec2, DVec3)> =
        points.map(|point| (DVec2::new(point.dot(right), point.dot(up)), point)).collect();
    flat.sort_by(|(p, _), (q, _)| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    let half = |points: &mut dyn Iterator<Item = (DVec2, DVec3)>| {
        let mut chain: Vec<(DVec2, DVec3)> = Vec::new();
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
    let mut polygon: Vec<DVec3> =
        half(&mut flat.iter().copied()).into_iter().map(|(_, point)| point).collect();
    polygon.extend(half(&mut flat.iter().rev().copied()).into_iter().map(|(_, point)| point));
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
        let polygon = convex(level.iter().map(|&vertex| points[vertex as usize]), normal);
        let vertex =
            |corner: &DVec3| level.iter().copied().find(|&vertex| points[vertex as usize] == *corner);
        polygon.iter().filter_map(vertex).collect()
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
}

/// The frame of a contact: the normal, and two directions across it.
struct ContactFrame {
    normal: DVec3,
    across: [DVec3; 2],
}

impl ContactFrame {
    fn project(&self, point: DVec3) -> ProjectedPoint {
        let [right, up] = self.across;
        ProjectedPoint { across: DVec2::new(point.dot(right), point.dot(up)), height: point.dot(self.normal) }
    }

    fn unproject(&self, across: DVec2, height: f64) -> DVec3 {
        self.across[0] * across.x + self.across[1] * across.y + self.normal * height
    }

    /// The corners of the overlap of two projected features. `ground` has the height of each body's plane, for half-spaces.
    fn overlap(&self, a: &Feature, b: &Feature, ground: [f64; 2], slack: f64) -> Vec<Overlap> {
        let project_all = |corners: &[DVec3]| -> Vec<ProjectedPoint> {
            corners.iter().map(|&corner| self.project(corner)).collect()
        };
        let corners = |feature: &Feature| match feature {
            Feature::Vertex | Feature::Plane => Vec::new(),
            Feature::Edge(ends) => project_all(ends),
            Feature::Face(corners) => project_all(corners),
        };
        let (projected_a, projected_b) = (corners(a), corners(b));
        let heights =
            |clipped: Vec<DVec2>, height_a: &dyn Fn(DVec2) -> f64, height_b: &dyn Fn(DVec2) -> f64| {
                let point = |across| {
                    let height = height_a(across);
                    Overlap { across, height, depth: height - height_b(across) }
                };
                clipped.into_iter().map(point).collect()
            };
        let of = |projected: &[ProjectedPoint]| -> Vec<DVec2> {
            projected.iter().map(|projected| projected.across).collect()
        };
        // Both polygons are made counter-clockwise in this projection; b's face looks the other way.
        let turned = |projected: &[ProjectedPoint]| -> Vec<DVec2> {
            projected.iter().rev().map(|projected| projected.across).collect()
        };
        match (a, b) {
            (Feature::Plane, Feature::Edge(_) | Feature::Face(_)) => {
                heights(of(&projected_b), &|_| ground[0], &height_over(&projected_b))
            }
            (Feature::Edge(_) | Feature::Face(_), Feature::Plane) => {
                heights(of(&projected_a), &height_over(&projected_a), &|_| ground[1])
            }
            (Feature::Face(_), Feature::Face(_)) => heights(
                clip_polygon(of(&projected_a), &turned(&projected_b)),
                &height_over(&projected_a),
                &height_over(&projected_b),
            ),
            (Feature::Edge(_), Feature::Face(_)) => heights(
                clip_segment(&projected_a, &turned(&projected_b)),
                &height_over(&projected_a),
                &height_over(&projected_b),
            ),
            (Feature::Face(_), Feature::Edge(_)) => heights(
                clip_segment(&projected_b, &of(&projected_a)),
                &height_over(&projected_a),
                &height_over(&projected_b),
            ),
            (Feature::Edge(_), Feature::Edge(_)) => heights(
                common_segment(&projected_a, &projected_b, slack),
                &height_over(&projected_a),
                &height_over(&projected_b),
            ),
            _ => Vec::new(),
        }
    }
}

/// The height of a projected feature above a point across: that of its plane or line.
fn height_over(projected: &[ProjectedPoint]) -> impl Fn(DVec2) -> f64 + use<> {
    let origin = projected[0];
    let mut slope = DVec2::ZERO;
    if let [a, b] = projected {
        let along = b.across - a.across;
        slope = along * ((b.height - a.height) / along.length_squared());
    } else {
        // Newell's normal uses all corners, so that nearly collinear ones do no harm.
        let mut normal = DVec3::ZERO;
        for (k, p) in projected.iter().enumerate() {
            let q = projected[(k + 1) % projected.len()];
            let [p, q] = [p, &q].map(|at| (at.across - origin.across).extend(at.height - origin.height));
            normal += p.cross(q);
        }
        if normal.z != 0.0 {
            slope = DVec2::new(-normal.x, -normal.y) / normal.z;
        }
    }
    move |across: DVec2| origin.height + slope.dot(across - origin.across)
}

/// The part of a convex polygon inside another, both counter-clockwise.
fn clip_polygon(mut polygon: Vec<DVec2>, by: &[DVec2]) -> Vec<DVec2> {
    for (k, &from) in by.iter().enumerate() {
        let edge = by[(k + 1) % by.len()] - from;
        let side = |point: DVec2| edge.perp_dot(point - from);
        let mut inside = Vec::with_capacity(polygon.len() + 1);
        for (k, &p) in polygon.iter().enumerate() {
            let q = polygon[(k + 1) % polygon.len()];
            let (at_p, at_q) = (side(p), side(q));
            if at_p >= 0.0 {
                inside.push(p);
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                inside.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
        polygon = inside;
    }
    polygon
}

/// The ends of the part of a segment inside a counter-clockwise convex polygon.
fn clip_segment(segment: &[ProjectedPoint], by: &[DVec2]) -> Vec<DVec2> {
    let [p, q] = [segment[0].across, segment[1].across];
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (k, &corner) in by.iter().enumerate() {
        let edge = by[(k + 1) % by.len()] - corner;
        let (at_p, at_q) = (edge.perp_dot(p - corner), edge.perp_dot(q - corner));
        if at_p < 0.0 && at_q < 0.0 {
            return Vec::new();
        }
        if at_p < 0.0 {
            from = from.max(at_p / (at_p - at_q));
        } else if at_q < 0.0 {
            to = to.min(at_p / (at_p - at_q));
        }
    }
    if from > to { Vec::new() } else { vec![p + (q - p) * from, p + (q - p) * to] }
}

/// The ends of the common part of two segments, where they are collinear to within `slack`.
fn common_segment(a: &[ProjectedPoint], b: &[ProjectedPoint], slack: f64) -> Vec<DVec2> {
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
        vec![from + along * low, from + along * high]
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
