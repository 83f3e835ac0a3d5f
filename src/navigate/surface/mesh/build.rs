//! From models to a mesh: placed, welded, cut into triangles, checked and connected.

use glam::DVec3;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::surface::mesh::degenerate::{Dissolved, dissolve};
use crate::navigate::surface::mesh::model::Model;
use crate::navigate::surface::mesh::polygon;
use crate::navigate::surface::mesh::polygon::Cut;
use crate::navigate::surface::mesh::progress::{BuildStage, ProgressReporter};
use crate::navigate::surface::mesh::refine::refine;
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD, NONE};
use crate::navigate::surface::mesh::weld::weld;

/// The most that a coordinate may be: squares of squares of lengths stay finite.
pub(crate) const MAX_COORDINATE: f64 = 1e75;

/// The least that the largest coordinate may be: their squares of squares do not vanish.
const MIN_SIZE: f64 = 1e-70;

/// How a surface is built.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Options {
    /// Points within this distance of one another become one, in the surface's units: each joins the first before it that
    /// is as near and has joined none. 0 joins equal points only.
    pub weld: f64,
    /// No edge is longer than this, in the surface's units: longer ones are cut into equal parts, as few as need be, and triangles to
    /// match, in smaller ones whose edges are no longer either, so that the surface is the same. `None` leaves them as they are.
    pub interval: Option<f64>,
    /// A start, a goal or another point of a query that is further than this from every walkable triangle is off the mesh, in the
    /// surface's units. `None` moves a point from any distance.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_snap: Option<f64>,
    /// Whether landmarks are measured, whose distances from everywhere draw searches by
    /// [`Method::Geodesic`](crate::navigate::surface::Method::Geodesic) to their goals: on large meshes about three times as fast, where
    /// its tolerance is infinite. They are no bounds, so what guarantees a tolerance is not quicker by them.
    ///
    /// They take about as long as six [fields](crate::navigate::surface::Surface::field), on all cores, so they pay after some
    /// hundreds of paths; and 64 bytes a vertex. Walkable triangles may still be changed.
    pub landmarks: bool,
}

/// What is said of a surface as it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct LoadOptions {
    /// As [`Options::max_snap`]; `None` keeps what was saved, infinity allows any distance.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_snap: Option<f64>,
    /// As [`Options::landmarks`]; they are not saved.
    pub landmarks: bool,
}

/// The greatest snap as a number.
pub(crate) fn check_max_snap(max_snap: Option<f64>) -> Result<f64> {
    let max_snap = max_snap.unwrap_or(f64::INFINITY);
    if max_snap >= 0.0 {
        return Ok(max_snap);
    }
    Err(Error::value(Location::Argument, "max_snap", shown(max_snap), "it must be 0 or more"))
}

/// A face of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ModelFace {
    /// Which model, from 0.
    pub model: u32,
    /// Which of its faces, from 0.
    pub face: u32,
}

/// What was found while a surface was built. Faces are told in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Report {
    /// Points that were joined to others.
    pub welded_count: usize,
    /// Points that no triangle uses; they are left out.
    pub unused_count: usize,
    /// Faces that are no simple polygons, seen along their normals: outlines that meet themselves. One that only touches itself, as
    /// where a cut joins a hole to the outside, is cut into the triangles of what it winds around, which may be none. One that crosses
    /// itself, or has two corners above one another, is kept as the fan from its first corner, which may cover what is no part of it.
    pub not_simple: Vec<ModelFace>,
    /// Triangles with twice the same corner, left out: the face of each.
    pub collapsed: Vec<ModelFace>,
    /// Triangles over the corners of an earlier one, and halves of one cut at a [`zero_area`](Self::zero_area) over those of another, left
    /// out: the face of each.
    pub duplicates: Vec<ModelFace>,
    /// Triangles whose three corners are in one line, up to rounding: the face of each. They are left out, and every triangle beyond
    /// the longest side of one is cut in two from its third corner, so that what is beyond the two others stays connected: the surface
    /// is the same. Those of which two corners nearly are one, within 1e-7 of the longest side, are kept, but for those that connect
    /// nothing.
    pub zero_area: Vec<ModelFace>,
    /// Edges with one triangle.
    pub boundary_edge_count: usize,
    /// Edges with three triangles or more: a path may go from any of them to any other.
    pub non_manifold_edge_count: usize,
    /// Edges whose two triangles are turned opposite ways.
    pub turned_edge_count: usize,
    /// Parts that no edge connects.
    pub island_count: usize,
}

/// Builds the mesh; the report lacks nothing but the islands.
pub(crate) fn build(
    models: &[Model],
    options: &Options,
    watch: &mut ProgressReporter<'_>,
) -> Result<(Mesh, Report)> {
    if !(options.weld >= 0.0 && options.weld.is_finite()) {
        let allowed = "it must be 0 or more and finite";
        return Err(Error::value(Location::Argument, "weld", shown(options.weld), allowed));
    }
    let points = place(models, watch)?;
    watch.at(BuildStage::Weld, 0, points.len())?;
    let stands = weld(&points, options.weld);
    watch.at(BuildStage::Weld, points.len(), points.len())?;
    let mut report = Report {
        welded_count: stands.iter().zip(0..).filter(|&(&stands, index)| stands != index).count(),
        ..Report::default()
    };
    let mut mesh = Mesh::default();
    triangulate(models, &points, &stands, &mut mesh, &mut report, watch)?;
    drop_duplicates(&mut mesh, points.len(), &mut report);
    let face_count = models.iter().map(Model::face_count).sum();
    let look = || watch.tell(BuildStage::Triangles, face_count, face_count);
    let Dissolved { flat, duplicates } = dissolve(&mut mesh, &points, look)?;
    report.zero_area = flat.into_iter().map(source).collect();
    report.duplicates.extend(duplicates.into_iter().map(source));
    report.duplicates.sort_unstable();
    if mesh.triangles.is_empty() {
        let count: usize = models.iter().map(Model::face_count).sum();
        let message = format!("a surface needs at least one triangle, of {count} faces none is left");
        return Err(Error::invalid(Location::Argument, message));
    }
    keep_used(&points, &stands, &mut mesh, &mut report);
    drop((points, stands));
    let size = mesh.points.iter().fold(0.0, |most: f64, point| most.max(point.abs().max_element()));
    if size < MIN_SIZE {
        let allowed = "it must be at least 1e-70; scale the models up";
        return Err(Error::value(Location::Argument, "the largest coordinate", shown(size), allowed));
    }
    if let Some(interval) = options.interval {
        refine(&mut mesh, interval, watch)?;
        if join_rounded(&mut mesh) {
            let mut besides = Report::default();
            let points = std::mem::take(&mut mesh.points);
            drop_duplicates(&mut mesh, points.len(), &mut besides);
            keep_used(&points, &[], &mut mesh, &mut besides);
        }
    }
    watch.at(BuildStage::Edges, 0, mesh.triangle_count())?;
    mesh.connect();
    mesh.measure();
    watch.at(BuildStage::Edges, mesh.triangle_count(), mesh.triangle_count())?;
    count_edges(&mesh, &mut report);
    Ok((mesh, report))
}

/// What there is to report of edges.
pub(crate) fn count_edges(mesh: &Mesh, report: &mut Report) {
    for side in 0..3 * mesh.triangle_count() as u32 {
        match mesh.twin(side) {
            NONE => report.boundary_edge_count += 1,
            NON_MANIFOLD => {}
            other => report.turned_edge_count += usize::from(side < other && !mesh.is_opposed(side, other)),
        }
    }
    report.non_manifold_edge_count =
        mesh.first_sides.iter().filter(|&&side| mesh.twin(side) == NON_MANIFOLD).count();
}

fn source([model, face]: [u32; 2]) -> ModelFace {
    ModelFace { model, face }
}

/// All points of all models in the surface's frame.
fn place(models: &[Model], watch: &mut ProgressReporter<'_>) -> Result<Vec<DVec3>> {
    let total: usize = models.iter().map(|model| model.points().len()).sum();
    let limit = u64::from(u32::MAX) / 4;
    if total as u64 > limit {
        return Err(Error::TooMany { what: "points", count: total as u64, limit });
    }
    let mut points = Vec::with_capacity(total);
    for (model_index, model) in models.iter().enumerate() {
        for (index, &point) in model.points().iter().enumerate() {
            let placed = model.place(point);
            if !placed.iter().all(|part| part.abs() <= MAX_COORDINATE) {
                return Err(Error::value(
                    Location::ModelPoint { model: model_index, point: index },
                    "position",
                    shown_point(&placed),
                    "its coordinates, placed by the model's transform, must be finite and at most 1e75",
                ));
            }
            points.push(DVec3::from(placed));
            watch.at(BuildStage::Points, points.len(), total)?;
        }
    }
    Ok(points)
}

/// Cuts the faces into triangles over welded points. Triangles that lose a corner are left out.
fn triangulate(
    models: &[Model],
    points: &[DVec3],
    stands: &[u32],
    mesh: &mut Mesh,
    report: &mut Report,
    watch: &mut ProgressReporter<'_>,
) -> Result<()> {
    let total: usize = models.iter().map(Model::face_count).sum();
    let (mut base, mut done, mut outline) = (0, 0, Vec::new());
    let faces = models.iter().flat_map(|model| (0..model.face_count()).map(|face| model.face(face).len()));
    let most = fan_count(faces)?;
    mesh.triangles.reserve_exact(most);
    mesh.sources.reserve_exact(most);
    for (model_index, model) in models.iter().enumerate() {
        let point_count = model.points().len();
        for face in 0..model.face_count() {
            let corners = model.face(face);
            let at = Location::ModelFace { model: model_index, face };
            if corners.len() < 3 {
                let allowed = "a face needs three".to_owned();
                return Err(Error::Count { at, what: "corners", given: corners.len() as u64, allowed });
            }
            if let Some(&corner) = corners.iter().find(|&&corner| corner as usize >= point_count) {
                let (index, count) = (u64::from(corner), point_count as u64);
                return Err(Error::Missing { at, what: "point", index, count });
            }
            let from = ModelFace { model: model_index as u32, face: face as u32 };
            let at = |corner: usize| stands[base + corners[corner] as usize];
            let cut = if corners.len() > 3 {
                outline.clear();
                outline.extend((0..corners.len()).map(at));
                polygon::cut(&outline, |corner| points[corner as usize])
            } else {
                Cut::Fan
            };
            if let Cut::Triangles { corners: triangles, is_simple } = cut {
                let doubled = (0..outline.len()).filter(|&i| outline[i] == outline[(i + 1) % outline.len()]);
                report.collapsed.extend(doubled.map(|_| from));
                if !is_simple {
                    report.not_simple.push(from);
                }
                mesh.sources.extend(triangles.iter().map(|_| [from.model, from.face]));
                mesh.triangles.extend(triangles);
            } else {
                if cut == Cut::Crossed {
                    report.not_simple.push(from);
                }
                for i in 1..corners.len() - 1 {
                    let triangle = [at(0), at(i), at(i + 1)];
                    if triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]
                    {
                        report.collapsed.push(from);
                        continue;
                    }
                    mesh.triangles.push(triangle);
                    mesh.sources.push([from.model, from.face]);
                }
            }
            done += 1;
            watch.at(BuildStage::Triangles, done, total)?;
        }
        base += point_count;
    }
    // Where a side runs through a corner there is a triangle more.
    fan_count([mesh.triangles.len().saturating_add(2)].into_iter())?;
    Ok(())
}

/// How many triangles faces of so many corners are cut into: no more than sides can be numbered in 32 bits, so that faces, which have
/// one at least, can be too.
fn fan_count(corner_counts: impl Iterator<Item = usize>) -> Result<usize> {
    let count: u64 = corner_counts.map(|corners| (corners as u64).saturating_sub(2)).sum();
    let limit = u64::from(NON_MANIFOLD / 3) - 1;
    if count > limit {
        return Err(Error::TooMany { what: "triangles", count, limit });
    }
    Ok(count as usize)
}

/// Leaves out triangles over the corners of earlier ones.
fn drop_duplicates(mesh: &mut Mesh, point_count: usize, report: &mut Report) {
    // By the least corner first, then each corner's few triangles by the other two.
    let sorted = |triangle: &[u32; 3]| {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        sorted
    };
    let mut starts = vec![0u32; point_count + 1];
    for triangle in &mesh.triangles {
        starts[sorted(triangle)[0] as usize + 1] += 1;
    }
    for point in 0..point_count {
        starts[point + 1] += starts[point];
    }
    let mut places = starts.clone();
    let mut listed = vec![[0u32; 3]; mesh.triangles.len()];
    for (triangle, index) in mesh.triangles.iter().zip(0..) {
        let [low, middle, high] = sorted(triangle);
        let place = &mut places[low as usize];
        listed[*place as usize] = [middle, high, index];
        *place += 1;
    }
    let mut dropped = Vec::new();
    for point in 0..point_count {
        let bucket = &mut listed[starts[point] as usize..starts[point + 1] as usize];
        bucket.sort_unstable();
        let same = |a: &[u32; 3], b: &[u32; 3]| a[..2] == b[..2];
        dropped.extend(bucket.chunk_by(same).flat_map(|group| &group[1..]).map(|entry| entry[2]));
    }
    dropped.sort_unstable();
    report.duplicates = dropped.iter().map(|&index| source(mesh.sources[index as usize])).collect();
    let mut index = 0;
    let mut keep = || {
        index += 1;
        dropped.binary_search(&(index - 1)).is_err()
    };
    if !dropped.is_empty() {
        mesh.triangles.retain(|_| keep());
        index = 0;
        let mut keep = || {
            index += 1;
            dropped.binary_search(&(index - 1)).is_err()
        };
        mesh.sources.retain(|_| keep());
    }
    // Corners of collapsed triangles were counted too.
    mesh.triangles.shrink_to_fit();
    mesh.sources.shrink_to_fit();
}

/// Joins corners of triangles that rounding put in one place, as where both long sides of a needle are cut, and leaves out the triangles
/// that lose one; whether there were any.
fn join_rounded(mesh: &mut Mesh) -> bool {
    let mut stands: Vec<u32> = Vec::new();
    let stand = |stands: &[u32], mut vertex: u32| {
        while stands[vertex as usize] != vertex {
            vertex = stands[vertex as usize];
        }
        vertex
    };
    for triangle in &mesh.triangles {
        for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(a, b)| (triangle[a], triangle[b])) {
            if mesh.points[a as usize] != mesh.points[b as usize] {
                continue;
            }
            if stands.is_empty() {
                stands = (0..mesh.points.len() as u32).collect();
            }
            let (a, b) = (stand(&stands, a), stand(&stands, b));
            stands[a.max(b) as usize] = a.min(b);
        }
    }
    if stands.is_empty() {
        return false;
    }
    let triangles = std::mem::take(&mut mesh.triangles);
    let sources = std::mem::take(&mut mesh.sources);
    for (corners, source) in triangles.into_iter().zip(sources) {
        let [a, b, c] = corners.map(|corner| stand(&stands, corner));
        if a != b && b != c && c != a {
            mesh.triangles.push([a, b, c]);
            mesh.sources.push(source);
        }
    }
    true
}

/// Keeps the points that triangles use, in their order, and numbers them anew.
fn keep_used(points: &[DVec3], stands: &[u32], mesh: &mut Mesh, report: &mut Report) {
    let mut number = vec![NONE; points.len()];
    for &corner in mesh.triangles.as_flattened() {
        number[corner as usize] = 0;
    }
    mesh.points.reserve_exact(number.iter().filter(|&&number| number != NONE).count());
    for (point, index) in points.iter().zip(0usize..) {
        if number[index] != NONE {
            number[index] = mesh.points.len() as u32;
            mesh.points.push(*point);
        }
    }
    for corner in mesh.triangles.as_flattened_mut() {
        *corner = number[*corner as usize];
    }
    report.unused_count = stands.iter().filter(|&&stands| number[stands as usize] == NONE).count();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_triangles_as_sides_can_be_numbered() {
        let limit = (NON_MANIFOLD / 3 - 1) as usize;
        assert_eq!(fan_count([3, 5, 2, 0, 3].into_iter()), Ok(5));
        assert_eq!(fan_count([limit + 1, 3].into_iter()), Ok(limit));
        // Past what 32 bits count, in one face, and face by face.
        for faces in [vec![usize::MAX / 8], vec![limit + 1, 3, 3], vec![1 << 30; 4]] {
            let count = faces.iter().map(|corners| *corners as u64 - 2).sum();
            let refused = Err(Error::TooMany { what: "triangles", count, limit: limit as u64 });
            assert_eq!(fan_count(faces.into_iter()), refused);
        }
    }
}
