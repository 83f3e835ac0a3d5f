//! The nearest wall of a point, over the surface.
//!
//! A search by windows (`propagate.rs`), nearest first, whose paths end at walls: the nearest wall so far is its bound. A wall nearby is
//! found quickly. Otherwise a path to some wall is found first. Its length is the bound of a second search, which uses straight distances to
//! the boxes around walls as lower bounds.

use glam::DVec3;

use crate::error::Result;
use crate::navigate::surface::geodesic::wall_boxes::WallBoxes;
use crate::navigate::surface::geodesic::window::{CORNER, SearchMode, WallHit, WindowQuery};
use crate::navigate::surface::mesh::walkable::Walkable;
use crate::navigate::surface::query::path::{Path, Point};
use crate::navigate::surface::query::paths::Method;
use crate::navigate::surface::query::place::{Place, ResolvedPlace};
use crate::navigate::surface::query::scratch::Scratch;
use crate::navigate::surface::query::surface::Surface;

/// The wall nearest to a point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WallDistance {
    /// How far away it is over the surface, in the surface's units.
    pub distance: f64,
    /// Its nearest point.
    pub point: [f64; 3],
    /// The edge of the wall.
    pub wall: u32,
    /// The walkable triangle at that edge.
    pub triangle: u32,
}

/// Relative to the length of a known path: by how much a search may find the same path longer.
const BOUND_SLACK: f64 = 1e-9;

/// The limit of windows of the first search, which has no bound.
const FIRST_WINDOW_LIMIT: u32 = 3000;

impl Surface {
    /// The wall nearest to a point, and its distance over the walkable triangles. A wall is where walkable triangles end: a boundary of the
    /// surface, or triangles that are not walkable. The point is first moved to the nearest walkable point. `None` where no wall can be
    /// reached, as on a closed surface, and where the point is further from every walkable triangle than
    /// [`max_snap`](crate::navigate::surface::Options::max_snap).
    ///
    /// Tolerance: the distance is that of the exact geodesic, within 1e-9 relative to it.
    ///
    /// Cost: a search of what is nearer than the wall; where that is much, only of what may lie on a shortest path to a wall.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // A floor, and a wall at right angles to it that is walkable too.
    /// let points = vec![
    ///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
    ///     [4.0, 0.0, 1.0], [4.0, 4.0, 1.0],
    /// ];
    /// let surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]])], Options::default())?;
    /// let wall = surface.distance_to_wall([3.75, 2.0, 0.0])?.expect("the floor ends somewhere");
    /// assert_eq!((wall.distance, wall.point), (1.25, [4.0, 2.0, 1.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a coordinate that is not finite or larger than 1e150, and for a [place](Place) that names
    /// nothing; [`Error::TooMany`](crate::Error::TooMany) where more than 2³¹ windows are needed.
    pub fn distance_to_wall(&self, point: impl Into<Place>) -> Result<Option<WallDistance>> {
        self.distance_to_wall_inner(point.into())
    }

    fn distance_to_wall_inner(&self, point: Place) -> Result<Option<WallDistance>> {
        let Some(end) = self.resolve_within_snap("point", point)? else { return Ok(None) };
        if self.report.boundary_edge_count == 0 && self.walkable.iter().all(|&walkable| walkable) {
            return Ok(None);
        }
        let start_triangles = self.end_triangles(&end);
        let found = self.with_scratch(|scratch| self.wall(scratch, &start_triangles, &end))?;
        Ok(found.map(|WallHit { distance, point, side }| WallDistance {
            distance,
            point: point.to_array(),
            wall: self.mesh.edge_of[side as usize],
            triangle: side / 3,
        }))
    }

    /// The nearest wall of a point that lies on these triangles.
    fn wall(
        &self,
        scratch: &mut Scratch,
        start_triangles: &[u32],
        end: &ResolvedPlace,
    ) -> Result<Option<WallHit>> {
        let start = end.position();
        let walkable = Walkable(&self.walkable);
        let mesh = &*self.mesh;
        let search = |scratch: &mut Scratch, boxes: Option<&WallBoxes>, bound: f64, limit: u32| {
            let nodes = self.nodes();
            let mode = SearchMode::Wall { boxes, limit };
            let (goal_triangles, goal, heuristic) = (&[][..], DVec3::ZERO, None);
            let query = WindowQuery {
                mesh,
                nodes,
                walkable,
                start_triangles,
                start,
                goal_triangles,
                goal,
                bound,
                mode,
                heuristic,
            };
            scratch.windows.nearest_wall(&query)
        };
        if let Ok(found) = search(scratch, None, f64::INFINITY, FIRST_WINDOW_LIMIT) {
            return Ok(found);
        }
        let boxes = WallBoxes::new(mesh, walkable, start_triangles);
        let known_path =
            if boxes.is_empty() { None } else { boxes.path_to_wall(mesh, walkable, start_triangles, start) };
        let Some(known_path) = known_path else { return Ok(None) };
        let bound = self.tighten_bound(scratch, start_triangles, end, known_path);
        let found = search(scratch, Some(&boxes), bound * (1.0 + BOUND_SLACK), CORNER)?;
        // There is a path of the bound's length. If rounding hides it, search without a bound.
        if found.is_some() { Ok(found) } else { search(scratch, None, f64::INFINITY, CORNER) }
    }

    /// The length of a geodesic to the midpoint of a wall, or the known length if that is less.
    fn tighten_bound(
        &self,
        scratch: &mut Scratch,
        start_triangles: &[u32],
        from: &ResolvedPlace,
        (known, side): (f64, u32),
    ) -> f64 {
        let [a, b] = self.mesh.ends(side).map(|vertex| self.mesh.points[vertex as usize]);
        let middle = (0.5 * (a + b)).to_array();
        let middle = ResolvedPlace::on(Point { triangle: side / 3, position: middle, distance: 0.0 });
        let mut path = Path::default();
        // Any path will do.
        let method = Method::Geodesic { tolerance: f64::INFINITY };
        let found = self.find(scratch, method, &[*from, middle], &mut path);
        // Where three triangles meet at the wall's edge, the path may end on another triangle.
        let (first, last) = (path.triangles.first(), path.triangles.last());
        let is_ours = found.is_ok()
            && first.is_some_and(|first| start_triangles.contains(first))
            && last.is_some_and(|&last| last == side / 3);
        if is_ours { known.min(path.length) } else { known }
    }
}
