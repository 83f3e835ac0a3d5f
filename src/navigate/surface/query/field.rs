//! Fields: exact distances from one source to everywhere, and paths traced back through them.

use glam::DVec3;
use web_time::Instant;

use crate::batch::Batch;
use crate::error::Result;
use crate::navigate::shared::reach::{PathEnd, Reach};
use crate::navigate::shared::stats::Stats;
use crate::navigate::surface::geodesic::window::{
    Arrival, SearchMode, SearchState, WindowQuery, WindowSearch,
};
use crate::navigate::surface::mesh::walkable::Walkable;
use crate::navigate::surface::query::path::{Path, Point};
use crate::navigate::surface::query::paths::{batch, off_mesh};
use crate::navigate::surface::query::place::{Place, ResolvedPlace};
use crate::navigate::surface::query::surface::Surface;
use crate::observe::span;
use crate::parallel::map_singly;

/// The exact distances from one source to all points of a surface, and the shortest paths to them. Made by [`Surface::field`].
///
/// Memory: it keeps all windows of its search, on scanned meshes about 20 for each edge, of 56 bytes each. For the distances of vertices
/// alone, [`Surface::distances`] takes far less.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    surface: &'a Surface,
    /// The source on the surface, or why there is none.
    source: std::result::Result<Point, Reach<Point>>,
    is_ambiguous: bool,
    /// The triangles on which the source lies.
    start_triangles: Vec<u32>,
    state: SearchState,
}

impl Surface {
    /// Computes the exact distances from a point to all points that walkable triangles lead to, as
    /// [`Method::Exact`](crate::navigate::surface::Method::Exact) does for one goal. A source off the surface is moved to the nearest
    /// walkable point. Links are not used.
    ///
    /// Cost: one exact search over the whole island, on one core; then each distance or path takes only the windows of its goal's triangle.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    /// let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    /// let surface = Surface::new(&[Model::polygons(points, faces)], Options::default())?;
    /// let field = surface.field([0.5, 0.5, 0.0])?;
    /// assert!(field.distance([0.5, 0.5, 1.0])?.is_some_and(|distance| (distance - 2.0).abs() < 1e-12));
    /// let path = field.path([0.5, 0.5, 1.0])?;
    /// assert!((path.length - 2.0).abs() < 1e-12);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a coordinate that is not finite or larger than 1e150, and for a [place](Place) that names
    /// nothing; [`Error::TooMany`](crate::Error::TooMany) where more than 2³¹ windows are needed. A source off the mesh is no error: each
    /// path reports it.
    pub fn field(&self, source: impl Into<Place>) -> Result<Field<'_>> {
        self.field_inner(source.into())
    }

    fn field_inner(&self, place: Place) -> Result<Field<'_>> {
        span!("hullfield.surface.field");
        let mut windows = WindowSearch::default();
        let mut field = self.search_field(place, SearchMode::Paths, &mut windows)?;
        field.state = windows.state;
        field.state.windows.shrink_to_fit();
        field.state.predecessors.shrink_to_fit();
        Ok(field)
    }

    /// The exact distance of each vertex from a point: [`Field::at_vertices`] of [`field`](Self::field), equal bit for bit.
    ///
    /// Memory: about a twentieth of a field's. It keeps only the windows around the wavefront, and 0.1 kB for each triangle.
    ///
    /// Cost: as a field.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Place, Surface};
    ///
    /// let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    /// let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    /// let surface = Surface::new(&[Model::polygons(points, faces)], Options::default())?;
    /// let distances = surface.distances(Place::Vertex(0))?;
    /// assert_eq!(distances[0], 0.0);
    /// assert!((distances[7] - 5_f64.sqrt()).abs() < 1e-12);
    /// assert_eq!(distances, surface.field(Place::Vertex(0))?.at_vertices());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`field`](Self::field). From a source off the mesh all distances are infinite.
    pub fn distances(&self, source: impl Into<Place>) -> Result<Vec<f64>> {
        self.distances_inner(source.into(), SearchMode::vertices(&self.mesh))
    }

    fn distances_inner(&self, place: Place, mode: SearchMode<'_>) -> Result<Vec<f64>> {
        span!("hullfield.surface.distances");
        let mut windows = WindowSearch::default();
        let mut field = self.search_field(place, mode, &mut windows)?;
        if windows.is_released_early {
            return Ok(self.field_inner(place)?.at_vertices());
        }
        // No windows are left: these are the distances straight from the source and over corners.
        field.state = windows.state;
        let mut distances = field.at_vertices();
        for (distance, &through_windows) in distances.iter_mut().zip(&windows.at_vertices) {
            *distance = distance.min(through_windows);
        }
        Ok(distances)
    }

    /// Searches from a source to everywhere. The field has no state yet: it is that of `windows`.
    fn search_field(
        &self,
        place: Place,
        mode: SearchMode<'_>,
        windows: &mut WindowSearch,
    ) -> Result<Field<'_>> {
        let walkable = Walkable(&self.walkable);
        let found = self.resolve("source", place)?;
        let mut field = Field {
            surface: self,
            source: Err(off_mesh(PathEnd::Start, found)),
            is_ambiguous: false,
            start_triangles: Vec::new(),
            state: SearchState::default(),
        };
        let Some(end) = found.filter(|end| end.point.distance <= self.max_snap) else { return Ok(field) };
        field.source = Ok(end.point);
        field.is_ambiguous = self.is_ambiguous(place, &end);
        self.end_triangles_into(&end, &mut field.start_triangles);
        let query = WindowQuery {
            mesh: &self.mesh,
            nodes: self.nodes(),
            walkable,
            start_triangles: &field.start_triangles,
            start: end.position(),
            goal_triangles: &[],
            goal: DVec3::ZERO,
            bound: f64::INFINITY,
            mode,
            heuristic: None,
        };
        windows.search(&query)?;
        Ok(field)
    }
}

impl Field<'_> {
    /// The source on the surface; `None` where it is off the mesh.
    pub fn source(&self) -> Option<Point> {
        self.source.ok()
    }

    /// Whether the source may be on any of several surfaces (see [`Path::ambiguous`]).
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// The distance of each vertex, in the order of [`Surface::vertices`], in the surface's units. It is infinite where no walkable
    /// triangles lead to a walkable triangle of which the vertex is a corner.
    ///
    /// A value belongs to its vertex, not to the place: a vertex that lies on another triangle, or beside another vertex, without an edge
    /// between them has a distance of its own. The distances equal those of [`distance`](Self::distance) for [`Place::Vertex`] bit for bit.
    ///
    /// Cost: O(n) in the windows of the field.
    pub fn at_vertices(&self) -> Vec<f64> {
        let mesh = &self.surface.mesh;
        let mut distances = vec![f64::INFINITY; mesh.points.len()];
        if self.source.is_err() {
            return distances;
        }
        let walkable = Walkable(&self.surface.walkable);
        for (corners, triangle) in
            mesh.triangles.iter().zip(0..).filter(|&(_, triangle)| walkable.holds(triangle))
        {
            self.for_each_path(triangle, mesh.corners(triangle), |corner, length, _| {
                let distance = &mut distances[corners[corner] as usize];
                *distance = distance.min(length);
            });
        }
        distances
    }

    /// The distance of the walkable point nearest to `point`, in the surface's units. `None` where no walkable triangles lead there, and
    /// where the point or the source is off the mesh.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a coordinate that is not finite or larger than 1e150, and for a [place](Place) that names
    /// nothing.
    pub fn distance(&self, point: impl Into<Place>) -> Result<Option<f64>> {
        let goal = self.resolve_goal(self.surface.resolve("point", point.into())?);
        let (Ok(_), Ok(goal)) = (self.source, goal) else { return Ok(None) };
        let mut goal_triangles = Vec::new();
        self.surface.end_triangles_into(&goal, &mut goal_triangles);
        let (length, arrival) = self.best_arrival(&goal_triangles, goal.position());
        Ok((arrival != Arrival::Nothing).then_some(length))
    }

    /// The shortest path from the source to a point.
    ///
    /// # Errors
    /// As [`distance`](Self::distance). A goal that can't be reached is no error: [`Path::reach`] reports it.
    pub fn path(&self, goal: impl Into<Place>) -> Result<Path> {
        self.path_inner(goal.into())
    }

    fn path_inner(&self, place: Place) -> Result<Path> {
        span!("hullfield.surface.field.path");
        let goal = self.resolve_goal(self.surface.resolve("goal", place)?);
        let mut path = Path::default();
        path.clear();
        let is_ambiguous = goal.is_ok_and(|goal| self.surface.is_ambiguous(place, &goal));
        let ambiguous = [self.is_ambiguous, is_ambiguous];
        path.ambiguous = ambiguous;
        let (start, goal) = match (self.source, goal) {
            (Ok(start), Ok(goal)) => (start, goal),
            (Err(reach), _) | (_, Err(reach)) => {
                path.reach = reach;
                return Ok(path);
            }
        };
        self.surface.with_scratch(|scratch| {
            let surface = self.surface;
            surface.end_triangles_into(&goal, &mut scratch.end_triangles[1]);
            let (_, arrival) = self.best_arrival(&scratch.end_triangles[1], goal.position());
            let walkable = Walkable(&surface.walkable);
            let nodes = surface.nodes();
            let Some([first, arrival]) =
                self.state.trace(&surface.mesh, nodes, walkable, arrival, &mut scratch.sides)
            else {
                let nodes = nodes.of(&surface.mesh);
                let distance = |triangle: u32| self.state.distance(nodes[triangle as usize][0]);
                let reached = |triangle: u32| walkable.holds(triangle) && distance(triangle) < f64::INFINITY;
                path.reach = surface.unreachable(&goal.point, &reached)?;
                return Ok(());
            };
            let start = Point { triangle: first, ..start };
            let goal = Point { triangle: arrival, ..goal.point };
            surface.pull(scratch, &start, &goal, &mut path);
            path.ambiguous = ambiguous;
            Ok(())
        })?;
        Ok(path)
    }

    /// A path for each goal, in the order of the goals, computed on all cores. Each row equals that of [`path`](Self::path) bit for bit.
    ///
    /// # Errors
    /// As [`path`](Self::path), with the index of the goal.
    pub fn paths<P: Into<Place> + Copy + Sync>(&self, goals: &[P]) -> Result<Batch<Path, Stats>> {
        self.paths_inner(goals.len(), &|query| goals[query].into())
    }

    fn paths_inner(
        &self,
        count: usize,
        goal: &(dyn Fn(usize) -> Place + Sync),
    ) -> Result<Batch<Path, Stats>> {
        span!("hullfield.surface.field.paths");
        let begun = Instant::now();
        let answer = |query: usize| self.path_inner(goal(query)).map_err(|error| error.in_query(query));
        // All results are collected first, so that of several errors the first is returned.
        batch(map_singly(count, answer), begun)
    }

    fn resolve_goal(&self, found: Option<ResolvedPlace>) -> std::result::Result<ResolvedPlace, Reach<Point>> {
        let on = found.filter(|end| end.point.distance <= self.surface.max_snap);
        on.ok_or(off_mesh(PathEnd::Goal, found))
    }

    /// The length of the shortest path to a point on these triangles, and how it arrives.
    fn best_arrival(&self, goal_triangles: &[u32], goal: DVec3) -> (f64, Arrival) {
        let mut best = (f64::INFINITY, Arrival::Nothing);
        for &triangle in goal_triangles {
            self.for_each_path(triangle, [goal], |_, length, arrival| {
                if length < best.0 {
                    best = (length, arrival);
                }
            });
        }
        best
    }

    /// Calls `visit` with the length of each candidate path to points of a triangle, and how it arrives: straight from the source, from a
    /// corner, or through a window.
    fn for_each_path<const N: usize>(
        &self,
        triangle: u32,
        goals: [DVec3; N],
        mut visit: impl FnMut(usize, f64, Arrival),
    ) {
        let (mesh, nodes) = (&self.surface.mesh, self.surface.nodes());
        if let (Ok(source), Ok(_)) = (self.source, self.start_triangles.binary_search(&triangle)) {
            let source = DVec3::from(source.position);
            for (i, goal) in goals.iter().enumerate() {
                visit(i, source.distance(*goal), Arrival::Straight(triangle));
            }
        }
        for side in 3 * triangle..3 * triangle + 3 {
            let corner = mesh.triangles[triangle as usize][(side - 3 * triangle) as usize];
            let node = nodes.of(mesh)[triangle as usize][(side - 3 * triangle) as usize];
            let (place, base_distance) = (mesh.points[corner as usize], self.state.distance(node));
            for (i, goal) in goals.iter().enumerate() {
                visit(i, base_distance + place.distance(*goal), Arrival::Corner(side));
            }
            let mut through = |i, length, window| visit(i, length, Arrival::Window(window));
            self.state.for_each_through(mesh, side, goals, &mut through);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigate::surface::mesh::build::Options;
    use crate::navigate::surface::mesh::model::Model;

    /// A sheet of 2 n² triangles with hills on it.
    fn hills(n: u32) -> Surface {
        let place = |at: u32| [at % (n + 1), at / (n + 1)].map(f64::from);
        let lift = |[x, y]: [f64; 2]| [x, y, 2.0 * (0.9 * x).sin() * (0.7 * y).cos()];
        let points = (0..(n + 1) * (n + 1)).map(|at| lift(place(at))).collect();
        let squares = (0..n).flat_map(|y| (0..n).map(move |x| y * (n + 1) + x));
        let faces: Vec<[u32; 3]> =
            squares.flat_map(|a| [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]).collect();
        Surface::new(&[Model::triangles(points, &faces)], Options::default()).unwrap()
    }

    #[test]
    fn windows_that_are_given_back_too_early_are_noticed() {
        let surface = hills(40);
        let expected = surface.field(Place::Vertex(7)).unwrap().at_vertices();
        for (slack, is_early) in [(f64::NEG_INFINITY, true), (-1e3, true), (0.25, false), (1e9, false)] {
            let mode = SearchMode::Vertices { slack };
            let mut windows = WindowSearch::default();
            surface.search_field(Place::Vertex(7), mode, &mut windows).unwrap();
            assert_eq!(windows.is_released_early, is_early, "slack {slack}");
            assert_eq!(surface.distances_inner(Place::Vertex(7), mode).unwrap(), expected, "slack {slack}");
        }
    }

    #[test]
    fn few_windows_are_kept_for_the_distances_of_vertices() {
        let surface = hills(120);
        let kept = |mode| {
            let mut windows = WindowSearch::default();
            surface.search_field(Place::Vertex(0), mode, &mut windows).unwrap();
            windows.state.windows.len()
        };
        let [all, few] = [SearchMode::Paths, SearchMode::vertices(&surface.mesh)].map(kept);
        assert!(5 * few < all, "{few} of {all}");
    }
}
