//! What a mesh file holds: points, what joins them, and the objects that both belong to.

use std::ops::Range;
use std::path::Path;

use hullfield::navigate::surface::Model;

use super::point_set::PointSet;
use crate::failure::{Failure, Result};

/// One mesh file.
#[derive(Debug)]
pub(super) struct Mesh {
    /// The points in the file's order, world transforms of the file applied, in the file's units.
    pub(super) points: Vec<[f64; 3]>,
    /// The vertices of all faces, lines and points, as indices that are all known.
    pub(super) corners: Vec<u32>,
    /// The corners of each face, three at least.
    pub(super) faces: Vec<Range<usize>>,
    /// Its objects; one at least.
    pub(super) objects: Vec<Object>,
}

/// A part of a file that has a name.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) name: String,
    /// The line it begins on, where the file has lines.
    pub(super) line: Option<u64>,
    /// The points that stand in it.
    pub(super) points: Range<usize>,
    /// The corners of what stands in it, which may be points of other objects.
    pub(super) corners: Range<usize>,
}

impl Mesh {
    /// A mesh without anything.
    pub(super) fn new() -> Self {
        Self { points: Vec::new(), corners: Vec::new(), faces: Vec::new(), objects: Vec::new() }
    }

    /// Begins an object that has what is added from now on.
    pub(super) fn begin(&mut self, name: String, line: Option<u64>) {
        self.end();
        let points = self.points.len()..self.points.len();
        self.objects.push(Object { name, line, points, corners: self.corners.len()..self.corners.len() });
    }

    /// Gives the last object what was added since it began.
    pub(super) fn end(&mut self) {
        if let Some(object) = self.objects.last_mut() {
            object.points.end = self.points.len();
            object.corners.end = self.corners.len();
        }
    }

    /// Adds a face.
    pub(super) fn face(&mut self, corners: impl IntoIterator<Item = u32>) {
        let begin = self.corners.len();
        self.corners.extend(corners);
        self.faces.push(begin..self.corners.len());
    }

    /// The points of each object: those that its faces, lines and points use, or all that stand in it where it has none of
    /// these; there may be none.
    pub(super) fn point_sets(self, file: &Path) -> Vec<PointSet> {
        let Self { points, corners, objects, .. } = self;
        let of = |object: Object| {
            let points = match &corners[object.corners] {
                [] => points[object.points].to_vec(),
                corners => used(&points, corners),
            };
            PointSet { name: object.name, points, file: file.to_owned(), line: object.line }
        };
        objects.into_iter().map(of).collect()
    }

    /// All its faces, those of one object after those of another, as the file has them.
    pub(super) fn model(self, file: &Path) -> Result<Model> {
        if self.faces.is_empty() {
            return Err(Failure::file(file, "it has no faces"));
        }
        let Self { points, corners, faces, .. } = self;
        if faces.iter().all(|face| face.len() == 3) {
            let triangle = |face: &Range<usize>| [0, 1, 2].map(|k| corners[face.start + k]);
            return Ok(Model::triangles(points, &faces.iter().map(triangle).collect::<Vec<_>>()));
        }
        Ok(Model::polygons(points, faces.iter().map(|face| &corners[face.clone()])))
    }
}

/// The points that are used, each once, in their order.
fn used(points: &[[f64; 3]], corners: &[u32]) -> Vec<[f64; 3]> {
    let mut sorted = corners.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.iter().filter_map(|&index| points.get(index as usize).copied()).collect()
}
