//! The contents of a mesh file: points, faces and objects.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::faces::Faces;

/// How many objects without points are kept with their names; the rest is counted.
const LISTED_EMPTY_OBJECTS: usize = 64;

/// One mesh file.
#[derive(Debug)]
pub struct Mesh {
    /// The points in the file's order and units, with the file's transforms applied.
    pub(crate) points: Vec<[f64; 3]>,
    /// The vertices of all faces, lines and points, as valid indices of `points`.
    pub(crate) corners: Vec<u32>,
    /// The range of each face's corners, at least three.
    pub(crate) faces: Vec<Range<usize>>,
    /// The objects that have points or corners.
    pub(crate) objects: Vec<Object>,
    /// What belongs to the objects, those of one object beside one another.
    pub(crate) pieces: Vec<Piece>,
    /// The name of objects without a name: that of the file.
    unnamed: String,
    empty: Vec<EmptyObject>,
    empty_count: u64,
    notes: Vec<String>,
}

/// The points of one object of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPoints {
    /// The object's name, or the file's if it has none.
    pub name: String,
    /// Its first line, in a text file.
    pub line: Option<u64>,
    /// The points in the file's order and units, with the file's transforms applied; at least one.
    pub points: Vec<[f64; 3]>,
}

/// An object of a file that has no points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmptyObject {
    /// The object's name, or the file's if it has none.
    pub name: String,
    /// Its first line, in a text file.
    pub line: Option<u64>,
}

/// A named part of a file.
#[derive(Debug)]
pub(crate) struct Object {
    /// None for the file's name.
    name: Option<Box<str>>,
    /// Its first line, in a text file.
    line: Option<u64>,
    /// Its pieces.
    pieces: Range<usize>,
}

/// A part of an object that stands in one place of the file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The points listed in it.
    pub(crate) points: Range<usize>,
    /// The corners of its faces, lines and points. They may use points of other objects.
    pub(crate) corners: Range<usize>,
}

impl Piece {
    fn is_empty(&self) -> bool {
        self.points.is_empty() && self.corners.is_empty()
    }
}

impl Mesh {
    /// An empty mesh. Objects without a name are called `unnamed`.
    pub(crate) fn new(unnamed: String) -> Self {
        Self {
            points: Vec::new(),
            corners: Vec::new(),
            faces: Vec::new(),
            objects: Vec::new(),
            pieces: Vec::new(),
            unnamed,
            empty: Vec::new(),
            empty_count: 0,
            notes: Vec::new(),
        }
    }

    /// Begins an object: points and corners that follow belong to it. Without a name it has that of the file.
    pub(crate) fn begin(&mut self, name: Option<&str>, line: Option<u64>) {
        self.end();
        let (points, corners) = (self.points.len(), self.corners.len());
        let piece = self.pieces.len();
        self.pieces.push(Piece { points: points..points, corners: corners..corners });
        self.objects.push(Object { name: name.map(Into::into), line, pieces: piece..piece + 1 });
    }

    /// Ends the last object.
    pub(crate) fn end(&mut self) {
        let Some(piece) = self.pieces.last_mut() else { return };
        piece.points.end = self.points.len();
        piece.corners.end = self.corners.len();
        if piece.is_empty() {
            self.pieces.pop();
            if let Some(Object { name, line, .. }) = self.objects.pop() {
                self.leave_out(name.as_deref(), line);
            }
        }
    }

    /// Notes an object without points.
    pub(crate) fn leave_out(&mut self, name: Option<&str>, line: Option<u64>) {
        self.empty_count += 1;
        if self.empty.len() < LISTED_EMPTY_OBJECTS {
            let name = name.unwrap_or(&self.unnamed).to_owned();
            self.empty.push(EmptyObject { name, line });
        }
    }

    /// Gives the last object another name.
    pub(crate) fn rename(&mut self, name: &str) {
        if let Some(object) = self.objects.last_mut() {
            object.name = Some(name.into());
        }
    }

    /// Removes the first object, if others follow and it has no corners.
    pub(crate) fn remove_first_without_corners(&mut self) {
        let has_corners = |object: &Object| {
            self.pieces[object.pieces.clone()].iter().any(|piece| !piece.corners.is_empty())
        };
        let others = self.objects.len() as u64 + self.empty_count > 1;
        if others && self.objects.first().is_some_and(|object| !has_corners(object)) {
            self.objects.remove(0);
        }
    }

    /// Replaces all objects by one more: the object of these pieces.
    pub(crate) fn add_object(
        &mut self,
        name: Option<&str>,
        line: Option<u64>,
        pieces: impl IntoIterator<Item = Piece>,
    ) {
        let begin = self.pieces.len();
        self.pieces.extend(pieces);
        self.objects.push(Object { name: name.map(Into::into), line, pieces: begin..self.pieces.len() });
    }

    /// Adds a face.
    pub(crate) fn face(&mut self, corners: impl IntoIterator<Item = u32>) {
        let begin = self.corners.len();
        self.corners.extend(corners);
        self.faces.push(begin..self.corners.len());
    }

    /// Adds a note: what of the file was not read, though nothing that a shape needs is missing.
    pub(crate) fn note(&mut self, name: &str, message: impl std::fmt::Display) {
        self.notes.push(Error::file(name, message).to_string());
    }

    /// What of the file was not read, though nothing that a shape needs is missing: a line each, with the file's name.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The objects without points, which are left out: the first 64 of them.
    pub fn empty_objects(&self) -> &[EmptyObject] {
        &self.empty
    }

    /// How many objects have no points.
    pub fn empty_object_count(&self) -> u64 {
        self.empty_count
    }

    /// The points of each object: those that its faces, lines and points use, or all that are listed in it if it has none of
    /// these.
    pub fn point_sets(self) -> Vec<ObjectPoints> {
        let Self { points, corners, objects, pieces, unnamed, .. } = self;
        let point_set = |object: Object| {
            let pieces = &pieces[object.pieces];
            let used: Vec<u32> =
                pieces.iter().flat_map(|piece| &corners[piece.corners.clone()]).copied().collect();
            let points = if used.is_empty() {
                pieces.iter().flat_map(|piece| &points[piece.points.clone()]).copied().collect()
            } else {
                used_points(&points, used)
            };
            let name = object.name.map_or_else(|| unnamed.clone(), String::from);
            ObjectPoints { name, line: object.line, points }
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
fn used_points(points: &[[f64; 3]], mut corners: Vec<u32>) -> Vec<[f64; 3]> {
    corners.sort_unstable();
    corners.dedup();
    corners.iter().filter_map(|&index| points.get(index as usize).copied()).collect()
}
