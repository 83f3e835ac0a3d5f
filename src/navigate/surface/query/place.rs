//! The places where queries begin and end: positions, and named triangles, faces and vertices.

use glam::DVec3;

use crate::error::{Error, Location, Result};
use crate::navigate::surface::mesh::build::ModelFace;
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::mesh::tree::nearest_on_triangle;
use crate::navigate::surface::query::path::Point;
use crate::navigate::surface::query::surface::{ON_EDGE, Surface};
use crate::order::sort_ids;

/// Where a query on a surface begins or ends: near a position, or on a triangle, a face or a vertex by its number.
///
/// Queries accept all that converts into a place: `[f64; 3]`, a [`Point`] (its triangle and position), or `(ModelFace, [f64; 3])`.
///
/// Surfaces may coincide or cross. Then a position alone does not say on which of them it is (see [`Surface::locate_all`]), but a name
/// does: the query begins only on those triangles at the place that edges connect with the named one.
///
/// ```
/// use hullfield::navigate::surface::{Model, ModelFace, Options, PathOptions, Place, Surface};
///
/// // Two floors at one height that share no edge: the first lies on a part of the second.
/// let floor = |[from, to]: [f64; 2]| vec![[from, 0.0, 0.0], [to, 0.0, 0.0], [to, 1.0, 0.0], [from, 1.0, 0.0]];
/// let surface = Surface::new(&[[0.5, 4.0], [0.0, 8.0]].map(|ends| Model::polygons(floor(ends), [[0, 1, 2, 3]])), Options::default())?;
/// let (start, goal) = ([1.0, 0.2, 0.0], [6.0, 0.2, 0.0]);
/// let path = surface.path(start, goal, &PathOptions::default())?;
/// assert!(path.is_reached() && path.ambiguous == [true, false]);
/// let on_first = Place::Face { face: ModelFace { model: 0, face: 0 }, position: start };
/// let path = surface.path(on_first, goal, &PathOptions::default())?;
/// assert!(!path.is_reached() && path.ambiguous == [false, false]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Place {
    /// The walkable point nearest to a position, on all triangles on which that point lies. Where that point is a vertex, bit for bit, the
    /// place is that vertex, and no other vertex however near.
    Near([f64; 3]),
    /// The point of a triangle nearest to a position.
    Triangle {
        /// The triangle, as an index into [`Surface::triangles`].
        triangle: u32,
        /// The position, in the surface's frame.
        position: [f64; 3],
    },
    /// The walkable point of a face of a model nearest to a position.
    Face {
        /// The face.
        face: ModelFace,
        /// The position, in the surface's frame.
        position: [f64; 3],
    },
    /// A vertex, as an index into [`Surface::vertices`], on all walkable triangles of which it is a corner.
    Vertex(u32),
}

impl From<[f64; 3]> for Place {
    fn from(position: [f64; 3]) -> Self {
        Self::Near(position)
    }
}

impl From<Point> for Place {
    fn from(point: Point) -> Self {
        Self::Triangle { triangle: point.triangle, position: point.position }
    }
}

impl From<(ModelFace, [f64; 3])> for Place {
    fn from((face, position): (ModelFace, [f64; 3])) -> Self {
        Self::Face { face, position }
    }
}

/// Which of the walkable triangles at a point a query may use.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sheets {
    /// All of them.
    All,
    /// Those that edges connect there with the point's own triangle.
    Own,
    /// Those of which this vertex is a corner.
    At(u32),
}

/// A place of a query, resolved to a point of the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ResolvedPlace {
    pub(crate) point: Point,
    sheets: Sheets,
}

impl ResolvedPlace {
    /// A point of the surface, on all triangles at it.
    pub(crate) fn at(point: Point) -> Self {
        Self { point, sheets: Sheets::All }
    }

    /// A point of a triangle, on the triangles at it that edges connect with that triangle.
    pub(crate) fn on(point: Point) -> Self {
        Self { point, sheets: Sheets::Own }
    }

    pub(crate) fn position(&self) -> DVec3 {
        self.point.position.into()
    }
}

/// In units of rounding: triangles that are further away than the nearest by no more may connect triangles at a place.
const NEIGHBOURHOOD: f64 = 16.0;

impl Surface {
    /// Locates a point: the nearest point of a walkable triangle. Of equally near points it is that of the lowest triangle;
    /// [`locate_all`](Self::locate_all) returns the others. `None` where no point is within
    /// [`max_snap`](crate::navigate::surface::Options::max_snap).
    ///
    /// For a [place](Place) with a name, only the named triangles count; `None` where none of them is walkable.
    ///
    /// Cost: O(log n) in the number of triangles, mostly.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2]])], Options::default())?;
    /// let point = surface.locate([1.0, 1.0, 2.0])?.expect("a point above the floor snaps down");
    /// assert_eq!((point.triangle, point.position, point.distance), (0, [1.0, 1.0, 0.0], 2.0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e150, and for a name of nothing.
    pub fn locate(&self, point: impl Into<Place>) -> Result<Option<Point>> {
        Ok(self.nearest_point(point)?.filter(|found| found.distance <= self.max_snap))
    }

    /// [`locate`](Self::locate), however far away the nearest point is. `None` where no triangle is walkable.
    ///
    /// # Errors
    /// As [`locate`](Self::locate).
    pub fn nearest_point(&self, point: impl Into<Place>) -> Result<Option<Point>> {
        Ok(self.resolve("point", point.into())?.map(|end| end.point))
    }

    /// The nearest walkable points on all surfaces that are equally near to a point: first that of [`locate`](Self::locate), then one for
    /// each other surface, in the order of their lowest triangles. Empty where no point is within
    /// [`max_snap`](crate::navigate::surface::Options::max_snap).
    ///
    /// Mostly there is one. There are several where the nearest point lies on walkable triangles that no edges connect around it: surfaces
    /// that coincide or cross, the two sides of a wall without thickness or of a seam that is not welded, a vertex in which only corners
    /// touch. There are also several where several points are equally near, as half way between two floors. An edge of three triangles or
    /// more connects all of them.
    ///
    /// Tolerance: distances are equal if they differ by at most 1e-13 of the largest coordinate of the surface and the point.
    ///
    /// A query with only the position uses all surfaces at the point that [`locate`](Self::locate) returns, and takes the best path;
    /// [`Path::ambiguous`](crate::navigate::surface::query::path::Path::ambiguous) reports that. A query with one of these points keeps to
    /// its surface.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
    ///
    /// // Two floors, and a point half way between them.
    /// let floor = |z: f64| vec![[0.0, 0.0, z], [4.0, 0.0, z], [4.0, 4.0, z], [0.0, 4.0, z]];
    /// let surface = Surface::new(&[0.0, 3.0].map(|z| Model::polygons(floor(z), [[0, 1, 2, 3]])), Options::default())?;
    /// let found = surface.locate_all([1.0, 2.0, 1.5])?;
    /// assert_eq!(found.len(), 2);
    /// assert_eq!((found[0].position, found[1].position), ([1.0, 2.0, 0.0], [1.0, 2.0, 3.0]));
    /// let path = surface.path(found[1], [3.0, 2.0, 3.0], &PathOptions::default())?;
    /// assert_eq!((path.length, path.ambiguous), (2.0, [false, false]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e150.
    pub fn locate_all(&self, point: [f64; 3]) -> Result<Vec<Point>> {
        let Some(first) = self.locate(point)? else { return Ok(Vec::new()) };
        let mut found = vec![first];
        found.extend(self.further_points(point.into(), &first, |_| true, usize::MAX));
        Ok(found)
    }

    /// The triangles into which a face of a model was cut, ascending. Empty for a face that does not exist or was left out (see
    /// [`Report`](crate::navigate::surface::mesh::build::Report)).
    ///
    /// Cost: O(log n) in the number of triangles; the first call sorts all triangles by their faces.
    pub fn triangles_of(&self, face: ModelFace) -> &[u32] {
        let sources = &self.mesh.sources;
        let sorted = self.by_face.get_or_init(|| {
            let mut sorted: Vec<u32> = (0..sources.len() as u32).collect();
            sort_ids(&mut sorted, &|a, b| sources[a as usize].cmp(&sources[b as usize]));
            sorted
        });
        let wanted = [face.model, face.face];
        let begin = sorted.partition_point(|&triangle| sources[triangle as usize] < wanted);
        let count = sorted[begin..].partition_point(|&triangle| sources[triangle as usize] == wanted);
        &sorted[begin..begin + count]
    }

    /// The position of a place, before it is moved to the surface.
    pub(crate) fn position_of(&self, place: Place) -> DVec3 {
        match place {
            Place::Near(position) | Place::Triangle { position, .. } | Place::Face { position, .. } => {
                position.into()
            }
            Place::Vertex(vertex) => self.mesh.points[vertex as usize],
        }
    }

    /// Resolves a place of a query; `None` where no triangle that it names is walkable. The caller checks the distance.
    pub(crate) fn resolve(&self, field: &'static str, place: Place) -> Result<Option<ResolvedPlace>> {
        let refuse =
            |value: String, allowed: String| Err(Error::value(Location::Argument, field, value, allowed));
        match place {
            Place::Near(position) => {
                check(Location::Argument, field, position)?;
                Ok(self
                    .nearest(position, &|triangle| self.walkable[triangle as usize])
                    .map(ResolvedPlace::at))
            }
            Place::Triangle { triangle, position } => {
                check(Location::Argument, field, position)?;
                if !self.is_known(triangle) {
                    let count = self.mesh.triangle_count();
                    let allowed = format!("the surface has {count} triangles, counted from 0");
                    return refuse(format!("triangle {triangle}"), allowed);
                }
                let point = self.point_on(triangle, position.into());
                Ok(self.is_walkable(triangle).then(|| ResolvedPlace::on(point)))
            }
            Place::Face { face, position } => {
                check(Location::Argument, field, position)?;
                let triangles = self.triangles_of(face);
                if triangles.is_empty() {
                    let value = format!("face {} of model {}", face.face, face.model);
                    return refuse(value, self.reason_missing(face).to_owned());
                }
                let open = triangles.iter().filter(|&&triangle| self.is_walkable(triangle));
                let points = open.map(|&triangle| self.point_on(triangle, position.into()));
                // Of equally near points, the first.
                Ok(points.min_by(|a, b| a.distance.total_cmp(&b.distance)).map(ResolvedPlace::on))
            }
            Place::Vertex(vertex) => {
                let Some(&position) = self.mesh.points.get(vertex as usize) else {
                    let count = self.mesh.points.len();
                    let allowed = format!("the surface has {count} vertices, counted from 0");
                    return refuse(format!("vertex {vertex}"), allowed);
                };
                Ok(self.triangles_around(vertex).first().map(|&triangle| {
                    let point = Point { triangle, position: position.to_array(), distance: 0.0 };
                    ResolvedPlace { point, sheets: Sheets::At(vertex) }
                }))
            }
        }
    }

    /// Whether a place may be on any of several surfaces.
    pub(crate) fn is_ambiguous(&self, place: Place, end: &ResolvedPlace) -> bool {
        match place {
            Place::Near(position) => {
                // A vertex at the very same place is a surface of its own; one beside it is another place.
                let vertex = self.vertex_at(&end.point);
                let is_here = |&corner: &u32| self.mesh.points[corner as usize] == end.position();
                let is_own = |triangle: u32| {
                    vertex.is_none_or(|own| !self.is_at_other_corner(triangle, own))
                        || self.mesh.triangles[triangle as usize].iter().any(is_here)
                };
                !self.further_points(position.into(), &end.point, is_own, 1).is_empty()
            }
            Place::Triangle { .. } => false,
            Place::Face { face, position } => {
                let own = self.triangles_of(face);
                let is_own = |triangle: u32| own.binary_search(&triangle).is_ok();
                !self.further_points(position.into(), &end.point, is_own, 1).is_empty()
            }
            Place::Vertex(vertex) => {
                let around = self.triangles_around(vertex);
                let mut is_taken = vec![false; around.len()];
                self.mark_connected(&around, &mut is_taken, end.point.triangle);
                is_taken.contains(&false)
            }
        }
    }

    /// The walkable triangles on which a query begins or ends, ascending.
    pub(crate) fn end_triangles_into(&self, end: &ResolvedPlace, on: &mut Vec<u32>) {
        self.triangles_on(&end.point, on);
        match (end.sheets, self.vertex_at(&end.point)) {
            (Sheets::All, None) => {}
            // Nothing else lies here, as at nearly all vertices.
            (Sheets::All, Some(vertex)) if on.iter().all(|&triangle| self.has_corner(triangle, vertex)) => {}
            (Sheets::All, Some(vertex)) => {
                // What edges connect with the vertex's own triangles lies at the vertex only by rounding. So does what is at another vertex.
                let mut near = Vec::new();
                self.triangles_near(end.position(), NEIGHBOURHOOD * self.rounding(), &mut near);
                let mut is_taken = vec![false; near.len()];
                for &triangle in &near {
                    if self.has_corner(triangle, vertex) || self.is_at_other_corner(triangle, vertex) {
                        self.mark_connected(&near, &mut is_taken, triangle);
                    }
                }
                let is_taken = |triangle: u32| near.binary_search(&triangle).is_ok_and(|at| is_taken[at]);
                on.retain(|&triangle| self.has_corner(triangle, vertex) || !is_taken(triangle));
            }
            (Sheets::Own, vertex) => {
                if let Some(vertex) = vertex {
                    on.retain(|&triangle| self.has_corner(triangle, vertex));
                }
                let mut is_taken = vec![false; on.len()];
                self.mark_connected(on, &mut is_taken, end.point.triangle);
                let mut taken = is_taken.into_iter();
                on.retain(|_| taken.next().unwrap_or(false));
            }
            (Sheets::At(vertex), _) => on.retain(|&triangle| self.has_corner(triangle, vertex)),
        }
    }

    /// The vertex that a point of the surface is, as an index into [`vertices`](Self::vertices); `None` for a point that is no corner of its
    /// triangle, bit for bit. 0 equals −0.
    ///
    /// So [`locate`](Self::locate) says which vertex it took where several vertices that no edge joins lie at one place, or almost.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2]])], Options::default())?;
    /// let vertex = |at: [f64; 3]| Ok::<_, hullfield::Error>(surface.locate(at)?.and_then(|point| surface.vertex_at(&point)));
    /// assert_eq!((vertex([4.0, 0.0, 1.0])?, vertex([1.0, 1.0, 0.0])?), (Some(1), None));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn vertex_at(&self, point: &Point) -> Option<u32> {
        let corners = self.mesh.triangles.get(point.triangle as usize)?;
        let position = DVec3::from(point.position);
        corners.iter().copied().find(|&corner| self.mesh.points[corner as usize] == position)
    }

    fn has_corner(&self, triangle: u32, vertex: u32) -> bool {
        self.mesh.triangles[triangle as usize].contains(&vertex)
    }

    /// Whether a triangle has no corner at this vertex, but one within rounding of it.
    fn is_at_other_corner(&self, triangle: u32, vertex: u32) -> bool {
        let (position, rounding) = (self.mesh.points[vertex as usize], self.rounding());
        let is_near = |&corner: &u32| self.mesh.points[corner as usize].distance(position) <= rounding;
        !self.has_corner(triangle, vertex) && self.mesh.triangles[triangle as usize].iter().any(is_near)
    }

    /// The point of a triangle nearest to a position.
    fn point_on(&self, triangle: u32, position: DVec3) -> Point {
        let on = nearest_on_triangle(self.mesh.corners(triangle), position);
        Point { triangle, position: on.to_array(), distance: on.distance(position) }
    }

    /// The walkable triangles of which a vertex is a corner, ascending.
    fn triangles_around(&self, vertex: u32) -> Vec<u32> {
        let mut around = Vec::new();
        let triangles = &self.mesh.triangles;
        let wanted = |triangle: u32| {
            self.walkable[triangle as usize] && triangles[triangle as usize].contains(&vertex)
        };
        let position = self.mesh.points[vertex as usize];
        self.tree.within(&self.mesh, position, self.rounding(), &wanted, &mut around);
        around
    }

    /// One point on each further surface, as [`locate_all`](Self::locate_all) finds them: at most `limit`, on candidate triangles only.
    fn further_points(
        &self,
        point: DVec3,
        first: &Point,
        is_candidate: impl Fn(u32) -> bool,
        limit: usize,
    ) -> Vec<Point> {
        let rounding = self.rounding().max(ON_EDGE * point.abs().max_element());
        let mut near = Vec::new();
        self.triangles_near(point, first.distance + NEIGHBOURHOOD * rounding, &mut near);
        let mut is_taken = vec![false; near.len()];
        self.mark_connected(&near, &mut is_taken, first.triangle);
        let mut found = Vec::new();
        for at in 0..near.len() {
            if is_taken[at] || !is_candidate(near[at]) {
                continue;
            }
            let other = self.point_on(near[at], point);
            if other.distance > first.distance + rounding {
                continue;
            }
            found.push(other);
            if found.len() >= limit {
                break;
            }
            self.mark_connected(&near, &mut is_taken, near[at]);
        }
        found
    }

    /// Marks those of the given triangles, which ascend, that edges among them connect with `first`.
    fn mark_connected(&self, among: &[u32], is_taken: &mut [bool], first: u32) {
        let mut stack = vec![first];
        while let Some(triangle) = stack.pop() {
            if let Ok(at) = among.binary_search(&triangle)
                && std::mem::replace(&mut is_taken[at], true)
            {
                continue;
            }
            let beyond = (3 * triangle..3 * triangle + 3).flat_map(|side| self.mesh.twins(side));
            let is_new = |next: &u32| among.binary_search(next).is_ok_and(|at| !is_taken[at]);
            stack.extend(beyond.map(|side| side / 3).filter(is_new));
        }
    }

    /// Why a face has no triangles, as the end of a sentence.
    fn reason_missing(&self, face: ModelFace) -> &'static str {
        let report = &self.report;
        if report.zero_area.contains(&face) || report.collapsed.contains(&face) {
            "which has no area and is left out"
        } else if report.duplicates.contains(&face) {
            "which has the corners of another face and is left out"
        } else {
            "which no triangle comes from"
        }
    }
}
