//! The contents of a mesh file: points, faces and objects.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::faces::Faces;

/// One mesh file.
#[derive(Debug)]
pub struct Mesh {
    /// The points in the file's order and units, with the file's transforms applied.
    pub(crate) points: Vec<[f64; 3]>,
    /// The vertices of all faces, lines and points, as valid indices of `points`.
    pub(crate) corners: Vec<u32>,
    /// The range of each face's corners, at least three.
    pub(crate) faces: Vec<Range<usize>>,
    /// The objects, at least one.
    pub(crate) objects: Vec<Object>,
}

/// The points of one object of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPoints {
    /// The object's name, or the file's if it has none.
    pub name: String,
    /// Its first line, in a text file.
    pub line: Option<u64>,
    /// The points in the file's order and units, with the file's transforms applied.
    pub points: Vec<[f64; 3]>,
}

/// A named part of a file.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) name: String,
    /// Its first line, in a text file.
    pub(crate) line: Option<u64>,
    /// The points listed in it.
    pub(crate) points: Range<usize>,
    /// The corners of its faces, lines and points. They may use points of other objects.
    pub(crate) corners: Range<usize>,
}

impl Mesh {
    /// An empty mesh.
    pub(crate) fn new() -> Self {
        Self { points: Vec::new(), corners: Vec::new(), faces: Vec::new(), objects: Vec::new() }
    }

    /// Begins an object: points and corners that follow belong to it.
    pub(crate) fn begin(&mut self, name: String, line: Option<u64>) {
        self.end();
        let points = self.points.len()..self.points.len();
        self.objects.push(Object { name, line, points, corners: self.corners.len()..self.corners.len() });
    }

    /// Ends the last object.
    pub(crate) fn end(&mut self) {
        if let Some(object) = self.objects.last_mut() {
            object.points.end = self.points.len();
            object.corners.end = self.corners.len();
        }
    }

    /// Adds a face.
    pub(crate) fn face(&mut self, corners: impl IntoIterator<Item = u32>) {
        let begin = self.corners.len();
        self.corners.extend(corners);
        self.faces.push(begin..self.corners.len());
    }

    /// The points of each object: those that its faces, lines and points use, or all that are listed in it if it has none of
    /// these. A set may be empty.
    pub fn point_sets(self) -> Vec<ObjectPoints> {
        let Self { points, corners, objects, .. } = self;
        let point_set = |object: Object| {
            let points = match &corners[object.corners] {
                [] => points[object.points].to_vec(),
                corners => used_points(&points, corners),
            };
            ObjectPoints { name: object.name, line: object.line, points }
        };
        objects.into_iter().map(point_set).collect()
    }

    /// How many triangles its faces are cut into.
    pub fn triangle_count(&self) -> usize {
        self.faces.iter().map(|face| face.len().saturating_sub(2)).sum()
    }

    /// All faces, in the file's order. `name` is the file's name in messages.
    ///
    /// # Errors
    /// A file without faces.
    pub fn faces(self, name: &str) -> Result<Faces> {
        let Self { points, corners, faces, .. } = self;
        if faces.is_empty() {
            return Err(Error::file(name, "it has no faces"));
        }
        let are_triangles = faces.iter().all(|face| face.len() == 3);
        let sizes =
            if are_triangles { Vec::new() } else { faces.iter().map(|face| face.len() as u32).collect() };
        // Corners of lines and points are between those of faces.
        let corners = faces.into_iter().flat_map(|face| corners[face].iter().copied()).collect();
        Ok(Faces { points, corners, sizes })
    }
}

/// The points that are corners, each once, in the order of `points`.
fn used_points(points: &[[f64; 3]], corners: &[u32]) -> Vec<[f64; 3]> {
    let mut sorted = corners.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.iter().filter_map(|&index| points.get(index as usize).copied()).collect()
}
