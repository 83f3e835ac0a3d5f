//! From models to a mesh: points are placed and welded, faces are triangulated and checked, edges are found.

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

/// The largest magnitude of a coordinate: fourth powers of lengths stay finite.
pub(crate) const MAX_COORDINATE: f64 = 1e75;

/// The smallest magnitude of the largest coordinate: its fourth power does not underflow.
const MIN_SIZE: f64 = 1e-70;

/// How a surface is built.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Options {
    /// The welding distance, in the surface's units: each point joins the first earlier point that is no further away and has not joined
    /// another. 0 joins only equal points.
    pub weld: f64,
    /// The largest length of an edge, in the surface's units. Longer edges are cut into equal parts, as few as possible, and triangles into
    /// smaller ones to match; the surface stays the same. `None` cuts none.
    pub interval: Option<f64>,
    /// The largest distance by which a query moves a point to the surface, in the surface's units. A point further from every walkable
    /// triangle is off the mesh. `None` allows any distance.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_snap: Option<f64>,
    /// Whether landmarks are measured: 16 vertices whose distances from all vertices guide searches by
    /// [`Method::Geodesic`](crate::navigate::surface::Method::Geodesic) (the ALT heuristic). With an infinite tolerance, such searches are
    /// about three times as fast on large meshes. The heuristic is not a strict bound, so a search that guarantees a tolerance gains
    /// nothing.
    ///
    /// Cost: about as much time as six [fields](crate::navigate::surface::Surface::field), on all cores, so they pay after some hundreds of
    /// paths; 64 bytes a vertex. Walkable triangles may still be changed.
    pub landmarks: bool,
}

/// How a saved surface is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct LoadOptions {
    /// As [`Options::max_snap`], but `None` keeps the saved value, and infinity allows any distance.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_snap: Option<f64>,
    /// As [`Options::landmarks`], because landmarks are not saved.
    pub landmarks: bool,
}

/// Checks a `max_snap`. Returns infinity for `None`.
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

/// What the build of a surface found and changed. Faces are listed in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Report {
    /// How many points were joined to others.
    pub welded_count: usize,
    /// How many points no triangle uses; they are left out.
    pub unused_count: usize,
    /// Faces that are not simple polygons, seen along their normals: their outlines meet themselves. If an outline only touches itself,
    /// for example where a cut joins a hole to the outside, the face becomes the triangles of what it winds around, which may be none. If it
    /// crosses itself, or has two corners above one another, the face becomes the fan from its first corner, which may cover too much.
    pub not_simple: Vec<ModelFace>,
    /// Triangles with the same corner twice: the face of each. They are left out.
    pub collapsed: Vec<ModelFace>,
    /// Triangles with the same corners as an earlier one: the face of each. They are left out. Pieces that a cut at a
    /// [`zero_area`](Self::zero_area) triangle makes count too.
    pub duplicates: Vec<ModelFace>,
    /// Triangles whose three corners are collinear, up to rounding: the face of each. They are left out. To keep their neighbours
    /// connected, each triangle across the longest side of one is cut in two at the third corner; the surface stays the same. A triangle of
    /// which two corners nearly coincide, within 1e-7 of the longest side, is kept unless it connects nothing.
    pub zero_area: Vec<ModelFace>,
    /// How many edges have one triangle.
    pub boundary_edge_count: usize,
    /// How many edges have three triangles or more. A path may go from any of these to any other.
    pub non_manifold_edge_count: usize,
    /// How many edges have two triangles of opposite orientation.
    pub turned_edge_count: usize,
    /// The number of islands: parts that no edge connects.
    pub island_count: usize,
}

/// Builds the mesh, and the report except its islands.
pub(crate) fn build(
    models: &[Model],
    options: &Options,
    progress: &mut ProgressReporter<'_>,
) -> Result<(Mesh, Report)> {
    if !(options.weld >= 0.0 && options.weld.is_finite()) {
        let allowed = "it must be 0 or more and finite";
        return Err(Error::value(Location::Argument, "weld", shown(options.weld), allowed));
    }
    let points = place_points(models, progress)?;
    progress.report(BuildStage::Weld, 0, points.len())?;
    let representatives = weld(&points, options.weld);
    progress.report(BuildStage::Weld, points.len(), points.len())?;
    let mut report = Report {
        welded_count: representatives
            .iter()
            .zip(0..)
            .filter(|&(&representative, index)| representative != index)
            .count(),
        ..Report::default()
    };
    let mut mesh = Mesh::default();
    triangulate(models, &points, &representatives, &mut mesh, &mut report, progress)?;
    drop_duplicates(&mut mesh, points.len(), &mut report);
    let face_count = models.iter().map(Model::face_count).sum();
    let check_cancel = || progress.report_now(BuildStage::Triangles, face_count, face_count);
    let Dissolved { flat, duplicates } = dissolve(&mut mesh, &points, check_cancel)?;
    report.zero_area = flat.into_iter().map(source).collect();
    report.duplicates.extend(duplicates.into_iter().map(source));
    report.duplicates.sort_unstable();
    if mesh.triangles.is_empty() {
        let count: usize = models.iter().map(Model::face_count).sum();
        let message = format!("a surface needs at least one triangle, of {count} faces none is left");
        return Err(Error::invalid(Location::Argument, message));
    }
    keep_used(&points, &representatives, &mut mesh, &mut report);
    drop((points, representatives));
    let size = mesh.points.iter().fold(0.0, |most: f64, point| most.max(point.abs().max_element()));
    if size < MIN_SIZE {
        let allowed = "it must be at least 1e-70; scale the models up";
        return Err(Error::value(Location::Argument, "the largest coordinate", shown(size), allowed));
    }
    if let Some(interval) = options.interval {
        refine(&mut mesh, interval, progress)?;
        if join_rounded(&mut mesh) {
            let mut ignored = Report::default();
            let points = std::mem::take(&mut mesh.points);
            drop_duplicates(&mut mesh, points.len(), &mut ignored);
            keep_used(&points, &[], &mut mesh, &mut ignored);
        }
    }
    progress.report(BuildStage::Edges, 0, mesh.triangle_count())?;
    mesh.connect();
    mesh.measure();
    progress.report(BuildStage::Edges, mesh.triangle_count(), mesh.triangle_count())?;
    count_edges(&mesh, &mut report);
    Ok((mesh, report))
}

/// Counts the edges of the report.
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
fn place_points(models: &[Model], progress: &mut ProgressReporter<'_>) -> Result<Vec<DVec3>> {
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
            progress.report(BuildStage::Points, points.len(), total)?;
        }
    }
    Ok(points)
}

/// Triangulates the faces over welded points. Triangles that lose a corner are left out.
fn triangulate(
    models: &[Model],
    points: &[DVec3],
    representatives: &[u32],
    mesh: &mut Mesh,
    report: &mut Report,
    progress: &mut ProgressReporter<'_>,
) -> Result<()> {
    let total: usize = models.iter().map(Model::face_count).sum();
    let (mut base, mut done_count, mut outline) = (0, 0, Vec::new());
    let faces = models.iter().flat_map(|model| (0..model.face_count()).map(|face| model.face(face).len()));
    let capacity = count_triangles(faces)?;
    mesh.triangles.reserve_exact(capacity);
    mesh.sources.reserve_exact(capacity);
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
            let at = |corner: usize| representatives[base + corners[corner] as usize];
            let face_cut = if corners.len() > 3 {
                outline.clear();
                outline.extend((0..corners.len()).map(at));
                polygon::cut(&outline, |corner| points[corner as usize])
            } else {
                Cut::Fan
            };
            if let Cut::Triangles { corners: triangles, is_simple } = face_cut {
                let doubled = (0..outline.len()).filter(|&i| outline[i] == outline[(i + 1) % outline.len()]);
                report.collapsed.extend(doubled.map(|_| from));
                if !is_simple {
                    report.not_simple.push(from);
                }
                mesh.sources.extend(triangles.iter().map(|_| [from.model, from.face]));
                mesh.triangles.extend(triangles);
            } else {
                if face_cut == Cut::Crossed {
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
            done_count += 1;
            progress.report(BuildStage::Triangles, done_count, total)?;
        }
        base += point_count;
    }
    // A side that runs through a corner makes one more triangle.
    count_triangles([mesh.triangles.len().saturating_add(2)].into_iter())?;
    Ok(())
}

/// The number of triangles of faces with these numbers of corners. The limit is that all sides can be numbered in 32 bits; so can all
/// faces, each of which has at least one triangle.
fn count_triangles(corner_counts: impl Iterator<Item = usize>) -> Result<usize> {
    let count: u64 = corner_counts.map(|corners| (corners as u64).saturating_sub(2)).sum();
    let limit = u64::from(NON_MANIFOLD / 3) - 1;
    if count > limit {
        return Err(Error::TooMany { what: "triangles", count, limit });
    }
    Ok(count as usize)
}

/// Leaves out triangles with the same corners as earlier ones.
fn drop_duplicates(mesh: &mut Mesh, point_count: usize, report: &mut Report) {
    // A counting sort by the lowest corner, then each corner's few triangles by the other two.
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
    let mut next_free = starts.clone();
    let mut by_low = vec![[0u32; 3]; mesh.triangles.len()];
    for (triangle, index) in mesh.triangles.iter().zip(0..) {
        let [low, middle, high] = sorted(triangle);
        let slot = &mut next_free[low as usize];
        by_low[*slot as usize] = [middle, high, index];
        *slot += 1;
    }
    let mut dropped = Vec::new();
    for point in 0..point_count {
        let bucket = &mut by_low[starts[point] as usize..starts[point + 1] as usize];
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
    // The reserved capacity counted collapsed triangles too.
    mesh.triangles.shrink_to_fit();
    mesh.sources.shrink_to_fit();
}

/// Joins corners of triangles that rounding put at the same position, for example where both long sides of a needle are cut, and leaves out
/// the triangles that lose one. Returns whether there were any.
fn join_rounded(mesh: &mut Mesh) -> bool {
    let mut representatives: Vec<u32> = Vec::new();
    let find = |representatives: &[u32], mut vertex: u32| {
        while representatives[vertex as usize] != vertex {
            vertex = representatives[vertex as usize];
        }
        vertex
    };
    for triangle in &mesh.triangles {
        for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(a, b)| (triangle[a], triangle[b])) {
            if mesh.points[a as usize] != mesh.points[b as usize] {
                continue;
            }
            if representatives.is_empty() {
                representatives = (0..mesh.points.len() as u32).collect();
            }
            let (a, b) = (find(&representatives, a), find(&representatives, b));
            representatives[a.max(b) as usize] = a.min(b);
        }
    }
    if representatives.is_empty() {
        return false;
    }
    let triangles = std::mem::take(&mut mesh.triangles);
    let sources = std::mem::take(&mut mesh.sources);
    for (corners, source) in triangles.into_iter().zip(sources) {
        let [a, b, c] = corners.map(|corner| find(&representatives, corner));
        if a != b && b != c && c != a {
            mesh.triangles.push([a, b, c]);
            mesh.sources.push(source);
        }
    }
    true
}

/// Keeps only the points that triangles use, in their order, and renumbers them.
fn keep_used(points: &[DVec3], representatives: &[u32], mesh: &mut Mesh, report: &mut Report) {
    let mut new_index = vec![NONE; points.len()];
    for &corner in mesh.triangles.as_flattened() {
        new_index[corner as usize] = 0;
    }
    mesh.points.reserve_exact(new_index.iter().filter(|&&new_index| new_index != NONE).count());
    for (point, index) in points.iter().zip(0usize..) {
        if new_index[index] != NONE {
            new_index[index] = mesh.points.len() as u32;
            mesh.points.push(*point);
        }
    }
    for corner in mesh.triangles.as_flattened_mut() {
        *corner = new_index[*corner as usize];
    }
    report.unused_count =
        representatives.iter().filter(|&&representative| new_index[representative as usize] == NONE).count();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_limited_by_the_numbers_of_their_sides() {
        let limit = (NON_MANIFOLD / 3 - 1) as usize;
        assert_eq!(count_triangles([3, 5, 2, 0, 3].into_iter()), Ok(5));
        assert_eq!(count_triangles([limit + 1, 3].into_iter()), Ok(limit));
        // Beyond 32 bits, in one face and over several faces.
        for faces in [vec![usize::MAX / 8], vec![limit + 1, 3, 3], vec![1 << 30; 4]] {
            let count = faces.iter().map(|corners| *corners as u64 - 2).sum();
            let refused = Err(Error::TooMany { what: "triangles", count, limit: limit as u64 });
            assert_eq!(count_triangles(faces.into_iter()), refused);
        }
    }
}
