//! The report of `path`: the surface and the answers.

use std::io::{self, Write};
use std::path::Path;

use hullfield::navigate::surface::{
    ModelFace, Path as SurfacePath, Point as SurfacePoint, Surface, TJunction,
};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::places::Places;
use crate::command::status;
use crate::table::Table;

/// Answers that are printed for people.
const MAX_PRINTED: usize = 20;

/// Faces that are named for each finding.
const MAX_FACES: usize = 3;

/// The times of the stages, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) read_ms: f64,
    pub(super) build_ms: f64,
    pub(super) paths_ms: f64,
}

/// The queries and their answers.
pub(super) struct Answers<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) face_counts: Vec<usize>,
    pub(super) surface: &'a Surface,
    pub(super) queries: &'a [Places],
    pub(super) paths: &'a [SurfacePath],
    /// The distance of each start and goal from the nearest walkable point, if there is one.
    pub(super) snaps: Vec<[Option<f64>; 2]>,
    /// The distance of each vertex from the source of `--field-from`.
    pub(super) distances: Option<&'a [f64]>,
    /// The source of `--field-from` on the surface.
    pub(super) source: Option<SurfacePoint>,
    pub(super) t_junctions: Vec<TJunction>,
    pub(super) times: Times,
}

/// The extent of a field of distances.
struct FieldExtent {
    reached_count: usize,
    farthest: Option<f64>,
}

impl Answers<'_> {
    fn walkable_count(&self) -> usize {
        (0..self.surface.triangles().len() as u32)
            .filter(|&triangle| self.surface.is_walkable(triangle))
            .count()
    }

    fn reached_count(&self) -> usize {
        self.paths.iter().filter(|path| path.is_reached()).count()
    }

    /// The findings of the build: name, count and faces.
    fn findings(&self) -> Vec<(&'static str, usize, &[ModelFace])> {
        let report = self.surface.report();
        let all: [(_, _, &[ModelFace]); 10] = [
            ("points joined", report.welded_count, &[]),
            ("points unused", report.unused_count, &[]),
            ("boundary edges", report.boundary_edge_count, &[]),
            ("non-manifold edges", report.non_manifold_edge_count, &[]),
            ("turned edges", report.turned_edge_count, &[]),
            ("vertices on edges that they are not joined to", self.t_junctions.len(), &[]),
            ("faces that are not simple polygons", report.not_simple.len(), &report.not_simple),
            ("collapsed triangles, left out", report.collapsed.len(), &report.collapsed),
            ("duplicate triangles, left out", report.duplicates.len(), &report.duplicates),
            ("zero-area triangles", report.zero_area.len(), &report.zero_area),
        ];
        all.into_iter().filter(|&(_, count, _)| count > 0).collect()
    }

    /// The extent of the field, with `--field-from`.
    fn field(&self) -> Option<FieldExtent> {
        let reached =
            || self.distances.unwrap_or_default().iter().copied().filter(|distance| distance.is_finite());
        self.distances
            .map(|_| FieldExtent { reached_count: reached().count(), farthest: reached().reduce(f64::max) })
    }

    /// The face and the vertex that the source of `--field-from` is on: model, face, and the vertex if it is one.
    fn source(&self) -> Option<(ModelFace, Option<u32>)> {
        let point = self.source?;
        Some((self.surface.source(point.triangle)?, self.surface.vertex_at(&point)))
    }

    /// The vertices that the start and the goal of a path are, where they are some.
    fn end_vertices(&self, path: &SurfacePath) -> [Option<u32>; 2] {
        let vertex = |position: Option<&[f64; 3]>, triangle: Option<&u32>| {
            let (&position, &triangle) = (position?, triangle?);
            self.surface.vertex_at(&SurfacePoint { triangle, position, distance: 0.0 })
        };
        [
            vertex(path.points.first(), path.triangles.first()),
            vertex(path.points.last(), path.triangles.last()),
        ]
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let surface = self.surface;
        let mut table =
            Table::new(&["models", "faces", "vertices", "edges", "triangles", "walkable", "islands", "area"]);
        table.row(vec![
            self.face_counts.len().to_string(),
            self.face_counts.iter().sum::<usize>().to_string(),
            surface.vertices().len().to_string(),
            surface.edges().len().to_string(),
            surface.triangles().len().to_string(),
            self.walkable_count().to_string(),
            surface.report().island_count.to_string(),
            format!("{:.6}", surface.area()),
        ]);
        table.write(writer)?;
        let findings = self.findings();
        if !findings.is_empty() {
            writeln!(writer)?;
            let mut table = Table::new(&["found", "count", "faces"]);
            for (what, count, faces) in findings {
                table.row(vec![what.to_owned(), count.to_string(), self.first_faces(faces)]);
            }
            table.write(writer)?;
        }
        writeln!(writer, "\nread {:.1} ms, built {:.1} ms", self.times.read_ms, self.times.build_ms)?;
        if let Some(field) = self.field() {
            let farthest = field.farthest.map_or("-".to_owned(), short);
            writeln!(
                writer,
                "exact distances of {} of {} vertices, the farthest {farthest}: {:.1} ms",
                field.reached_count,
                surface.vertices().len(),
                self.times.paths_ms
            )?;
            if let Some((face, vertex)) = self.source() {
                let vertex = vertex.map_or_else(String::new, |vertex| format!(", vertex {vertex}"));
                writeln!(writer, "the source is on face {}{vertex}", self.first_faces(&[face]))?;
            }
        }
        if self.paths.is_empty() {
            return Ok(());
        }
        let [count, ms] = [self.paths.len() as f64, self.times.paths_ms];
        writeln!(
            writer,
            "{} of {} goals reached: {ms:.1} ms, {:.3} ms each\n",
            self.reached_count(),
            self.paths.len(),
            ms / count
        )?;
        if self.arguments.out.is_some() {
            return Ok(());
        }
        let mut table = Table::new(&["query", "length", "status", "snap0", "snap1", "ambiguous", "points"]);
        for (query, (path, snaps)) in self.paths.iter().zip(&self.snaps).enumerate().take(MAX_PRINTED) {
            let [start, goal] = snaps.map(|snap| snap.map_or("-".to_owned(), short));
            let length = path.length.to_string();
            let row = [query.to_string(), length, status(&path.reach, "mesh"), start, goal];
            let ambiguous = match path.ambiguous {
                [false, false] => "-",
                [true, false] => "start",
                [false, true] => "goal",
                [true, true] => "both",
            };
            table.row(row.into_iter().chain([ambiguous.to_owned(), path.points.len().to_string()]).collect());
        }
        table.write(writer)?;
        if self.paths.len() > MAX_PRINTED {
            writeln!(writer, "… and {} more: --out writes them all", self.paths.len() - MAX_PRINTED)?;
        }
        Ok(())
    }

    fn first_faces(&self, faces: &[ModelFace]) -> String {
        let name = |face: &ModelFace| match self.face_counts.len() {
            1 => face.face.to_string(),
            _ => format!("{}:{}", face.model, face.face),
        };
        let mut text = faces.iter().take(MAX_FACES).map(name).collect::<Vec<_>>().join(" ");
        if faces.len() > MAX_FACES {
            text.push_str(" …");
        }
        text
    }

    /// The counts of the JSON answer.
    pub(super) fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("models", self.face_counts.len() as u64),
            ("faces", self.face_counts.iter().sum::<usize>() as u64),
            ("triangles", self.surface.triangles().len() as u64),
            ("queries", self.queries.len() as u64),
            ("reached", self.reached_count() as u64),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let surface = self.surface;
        let report = surface.report();
        let faces = |list: &[ModelFace]| {
            json!(list.iter().map(|face| [face.model, face.face]).collect::<Vec<[u32; 2]>>())
        };
        let junction = |found: &TJunction| {
            json!({
                "vertex": found.vertex,
                "edge": surface.edges()[found.edge as usize],
                "distance": found.distance,
            })
        };
        // A saved surface is one file with several models.
        let file = |model: usize| self.arguments.meshes.get(model).or(self.arguments.meshes.last());
        let models: Vec<Value> = self
            .face_counts
            .iter()
            .enumerate()
            .map(|(model, count)| {
                json!({ "file": file(model).map(|file| Path::display(file).to_string()), "faces": count })
            })
            .collect();
        let mut value = json!({
            "models": models,
            "surface": {
                "vertices": surface.vertices().len(),
                "edges": surface.edges().len(),
                "triangles": surface.triangles().len(),
                "walkable": self.walkable_count(),
                "islands": report.island_count,
                "area": surface.area(),
                "bounds": surface.bounds(),
            },
            "found": {
                "welded": report.welded_count,
                "unused": report.unused_count,
                "boundary_edges": report.boundary_edge_count,
                "non_manifold_edges": report.non_manifold_edge_count,
                "turned_edges": report.turned_edge_count,
                "t_junctions": self.t_junctions.iter().map(junction).collect::<Vec<_>>(),
                "not_simple": faces(&report.not_simple),
                "collapsed": faces(&report.collapsed),
                "duplicates": faces(&report.duplicates),
                "zero_area": faces(&report.zero_area),
            },
        });
        if let Some(field) = self.field() {
            let source = self
                .source()
                .map(|(face, vertex)| json!({ "model": face.model, "face": face.face, "vertex": vertex }));
            value["field"] = json!({
                "reached_vertices": field.reached_count,
                "farthest": field.farthest,
                "source": source,
            });
        }
        if self.arguments.out.is_none() {
            let row = |(path, snaps): (&hullfield::navigate::surface::Path, &[Option<f64>; 2])| {
                let faces: Vec<[u32; 2]> =
                    (0..path.points.len()).map(|i| face_at(surface, path, i)).collect();
                json!({
                    "length": path.is_reached().then_some(path.length),
                    "status": status(&path.reach, "mesh"),
                    "snaps": snaps,
                    "ambiguous": path.ambiguous,
                    "points": path.points,
                    "normals": path.normals,
                    "faces": faces,
                    "end_vertices": self.end_vertices(path),
                    "links": path.links.iter().map(|taken| json!({
                        "piece": taken.piece,
                        "link": taken.link,
                        "reversed": taken.reversed,
                    })).collect::<Vec<_>>(),
                })
            };
            value["paths"] = json!(self.paths.iter().zip(&self.snaps).map(row).collect::<Vec<_>>());
        }
        value
    }
}

/// A distance in six digits, for people.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if (1e-3..1e6).contains(&value) => format!("{value:.6}"),
        _ => format!("{value:.5e}"),
    }
}

/// The model and the face that a path crosses after one of its points; for the last point, before it.
pub(super) fn face_at(surface: &Surface, path: &SurfacePath, point: usize) -> [u32; 2] {
    let triangle = path.triangles.get(point).or(path.triangles.last());
    let source = triangle.and_then(|&triangle| surface.source(triangle));
    source.map_or([0; 2], |source| [source.model, source.face])
}
