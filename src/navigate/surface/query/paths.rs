//! Queries: one path or many, in memory that is kept from query to query.

use std::sync::PoisonError;

use glam::DVec3;

use crate::error::{Error, Result};
use crate::navigate::shared::path_end::PathEnd;
use crate::navigate::surface::geodesic::unfold::cross;
use crate::navigate::surface::geodesic::window::{Aim, Quest};
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::query::memory::Memory;
use crate::navigate::surface::query::path::{Path, Point, Reach};
use crate::navigate::surface::query::place::{End, Place};
use crate::navigate::surface::query::surface::Surface;
use crate::observe::span;
use crate::parallel::map_singly;

/// How a path over a surface is found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// The shortest path within one strip of triangles: that of Dijkstra's search from middle to middle of their edges. Quick,
    /// and a few percent longer than the shortest path.
    Funnel,
    /// A path that is locally shortest, and no more than `tolerance` longer than the shortest, relative to it: within 1e-9, that is
    /// guaranteed.
    ///
    /// Few windows of each edge are propagated towards the goal (as those of [`Exact`](Self::Exact), of which there are
    /// many), and the path within the strip that they find is led around the other side of each vertex that it need not bend
    /// at (Sharp, Crane 2020). [`with_landmarks`](Surface::with_landmarks) makes that quicker. Where the path is longer than the straight
    /// line by more than the tolerance, all windows that may hold a path shorter than its length / (1 + `tolerance`) are propagated
    /// then: there is none, or the shortest path is found.
    ///
    /// That takes about as long as [`Exact`](Self::Exact): one and a half to three times as long as the first path does, which
    /// an infinite tolerance takes as it is. How much longer that is than the shortest, on average, at worst, and how many by more than
    /// 0.1 %, on 75 to 400 paths of each mesh of the tests:
    ///
    /// | mesh | mean | worst | more than 0.1 % |
    /// |---|---|---|---|
    /// | wallhole (66 triangles) | 0.013 % | 2.3 % | 1.3 % |
    /// | featuretype (a CAD part) | 0.032 % | 1.7 % | 5.3 % |
    /// | suzanne | 0.008 % | 1.3 % | 2.2 % |
    /// | dungeon | 0.007 % | 0.36 % | 1.2 % |
    /// | undulating (terrain) | 0.005 % | 0.22 % | 1.7 % |
    /// | stanford-bunny (a scan) | 0.004 % | 0.19 % | 0.2 % |
    /// | teapot | 0.003 % | 0.19 % | 1.7 % |
    /// | spot | 0.001 % | 0.12 % | 0.2 % |
    /// | moebius | 0.0001 % | 0.03 % | 0 |
    /// | nav_test, fan3 | 0 | 0 | 0 |
    Geodesic {
        /// From 0, for the shortest path, to infinity, for the first path that is found, with no guarantee.
        tolerance: f64,
    },
    /// The shortest path of all: its length is within 1e-9 of the shortest, relative to it.
    ///
    /// Windows are propagated in the order of their distance (Mitchell, Mount, Papadimitriou 1987; Chen, Han 1990; Xin, Wang
    /// 2009), no further than the path of [`Geodesic`](Self::Geodesic) is long. Much slower than the others on large meshes.
    Exact,
}

impl Default for Method {
    /// [`Geodesic`](Self::Geodesic) with a tolerance of 0.1 %.
    fn default() -> Self {
        Self::Geodesic { tolerance: 1e-3 }
    }
}

impl Method {
    /// Refuses a tolerance that is none.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Geodesic { tolerance } if !(tolerance >= 0.0) => {
                let expected = "it must be 0 or more";
                Err(Error::SurfaceField { field: "tolerance", value: tolerance.to_string(), expected })
            }
            _ => Ok(()),
        }
    }

    /// By how much its path may be longer than the shortest, relative to that; none where no geodesic is asked for.
    fn tolerance(self) -> Option<f64> {
        match self {
            Self::Funnel => None,
            Self::Geodesic { tolerance } => Some(tolerance),
            Self::Exact => Some(0.0),
        }
    }
}

impl Surface {
    /// A path from any point of the surface to any other by [`Method::Geodesic`]. Points off the surface are moved to its
    /// nearest walkable point.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Surface};
    ///
    /// // A cube: from the middle of one face to the middle of the opposite one.
    /// let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    /// let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    /// let surface = Surface::new(&[Model::polygons(points, faces)])?;
    /// let path = surface.path([0.5, 0.5, 0.0], [0.5, 0.5, 1.0])?;
    /// assert!((path.length - 2.0).abs() < 1e-12);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`funnel`](Self::funnel).
    pub fn path(&self, start: impl Into<Place>, goal: impl Into<Place>) -> Result<Path> {
        span!("hullfield.surface.path");
        self.path_by(Method::default(), start, goal)
    }

    /// A path by a method of choice.
    ///
    /// # Errors
    /// As [`funnel`](Self::funnel), and [`Error::SurfaceField`] for a tolerance that is negative or NaN.
    pub fn path_by(&self, method: Method, start: impl Into<Place>, goal: impl Into<Place>) -> Result<Path> {
        method.check()?;
        let mut path = Path::default();
        let ends = [start.into(), goal.into()];
        self.with_memory(|memory| self.answer(memory, method, ends, self.max_snap, &mut path))?;
        Ok(path)
    }

    /// The article's way from any point of the surface to any other: Dijkstra over triangles, from middle to middle of
    /// their edges, then the shortest path within the strip found: laid out in the plane, pulled tight by the funnel
    /// algorithm and folded back. Points off the surface are moved to its nearest walkable point.
    ///
    /// # Errors
    /// [`Error::SurfaceField`] where a coordinate is not finite, or a [place](Place) names a triangle, a face or a vertex that
    /// does not exist or was left out. A point off the mesh, a name of nothing walkable and a goal that can't be reached are no
    /// errors: [`Path::reach`] says so.
    pub fn funnel(&self, start: impl Into<Place>, goal: impl Into<Place>) -> Result<Path> {
        self.path_by(Method::Funnel, start, goal)
    }

    /// A path for each query `[start, goal]`, on all cores, in their order: bit for bit what one at a time
    /// gives. Queries are positions, `[[f64; 3]; 2]`, or `[Place; 2]`.
    ///
    /// # Errors
    /// As [`funnel`](Self::funnel), with the query's row, and [`Error::SurfaceField`] for a tolerance that is negative or NaN.
    pub fn paths<P: Into<Place> + Copy + Sync>(
        &self,
        method: Method,
        queries: &[[P; 2]],
    ) -> Result<Vec<Path>> {
        span!("hullfield.surface.paths");
        method.check()?;
        let answer = |memory: &mut Memory, query: usize| {
            let mut path = Path::default();
            let refused = |cause| Error::Query { query, cause: Box::new(cause) };
            let found = self.answer(memory, method, queries[query].map(P::into), self.max_snap, &mut path);
            found.map_err(refused).map(|()| path)
        };
        // Collected whole, so that of several errors the first is told.
        let answers = map_singly(queries.len(), |query| self.with_memory(|memory| answer(memory, query)));
        answers.into_iter().collect()
    }

    /// The shortest path within a strip of triangles of the caller's, each of which shares an edge with the next, from the
    /// nearest point of the first to the nearest point of the last. Whether they are walkable does not matter.
    ///
    /// # Errors
    /// [`Error::SurfaceStrip`] where the strip is empty, names a triangle that does not exist, or has two neighbours that share
    /// no edge; [`Error::SurfaceField`] where a coordinate is not finite.
    pub fn funnel_along(&self, strip: &[u32], start: [f64; 3], goal: [f64; 3]) -> Result<Path> {
        check("start", start)?;
        check("goal", goal)?;
        let refuse = |row, message: String| Err(Error::SurfaceStrip { row, message });
        if strip.is_empty() {
            return refuse(0, "a strip needs at least one triangle".to_owned());
        }
        for (row, &triangle) in strip.iter().enumerate() {
            if !self.is_known(triangle) {
                let count = self.mesh.triangle_count();
                return refuse(row, format!("triangle {triangle} does not exist, there are {count}"));
            }
        }
        let mut sides: Vec<[u32; 2]> = Vec::with_capacity(strip.len());
        for (row, pair) in strip.windows(2).enumerate() {
            let Some(edge) = self.common_edge(pair[0], pair[1]) else {
                let message = format!("triangles {} and {} share no edge", pair[0], pair[1]);
                return refuse(row + 1, message);
            };
            let side_of = |triangle: u32| {
                let own = |&side: &u32| self.mesh.edge_of[side as usize] == edge;
                (3 * triangle..3 * triangle + 3).find(own).unwrap_or(3 * triangle)
            };
            cross(&mut sides, [side_of(pair[0]), side_of(pair[1])]);
        }
        let end = |triangle: u32, point: [f64; 3]| {
            let on =
                crate::navigate::surface::mesh::tree::nearest_of(self.mesh.corners(triangle), point.into());
            Point { triangle, position: on.to_array(), distance: on.distance(point.into()) }
        };
        let (start, goal) = (end(strip[0], start), end(strip[strip.len() - 1], goal));
        let mut path = Path::default();
        self.with_memory(|memory| {
            memory.sides = sides;
            self.pull(memory, &start, &goal, &mut path);
        });
        Ok(path)
    }

    /// The start and the goal of a query; or none, and the path says which of them is off the mesh. It says of both whether they
    /// are ambiguous.
    pub(crate) fn settle_both(
        &self,
        places: [Place; 2],
        max_snap: f64,
        path: &mut Path,
    ) -> Result<Option<[End; 2]>> {
        path.clear();
        let [start, goal] = [self.settle("start", places[0])?, self.settle("goal", places[1])?];
        let near = |end: &End| end.point.distance <= max_snap;
        let ends = [start.filter(near), goal.filter(near)];
        for (told, (&place, end)) in path.ambiguous.iter_mut().zip(places.iter().zip(&ends)) {
            *told = end.is_some_and(|end| self.is_ambiguous(place, &end));
        }
        if let [Some(start), Some(goal)] = ends {
            return Ok(Some([start, goal]));
        }
        let (end, off) = if ends[0].is_none() { (PathEnd::Start, start) } else { (PathEnd::Goal, goal) };
        path.reach = Reach::OffMesh { end, nearest: off.map(|end| end.point) };
        Ok(None)
    }

    /// Answers one query without links.
    pub(crate) fn find(
        &self,
        memory: &mut Memory,
        method: Method,
        [start, goal]: &[End; 2],
        path: &mut Path,
    ) -> Result<()> {
        path.clear();
        let is_open = |triangle: u32| self.walkable[triangle as usize];
        for (on, end) in memory.on.iter_mut().zip([start, goal]) {
            self.triangles_at_end(end, on);
        }
        let ends = [start.position(), goal.position()];
        let (mut start, mut goal) = (start.point, goal.point);
        let [firsts, lasts] = &memory.on;
        let island = |triangle: &u32| self.islands[*triangle as usize];
        let may_reach = firsts.iter().any(|first| lasts.iter().any(|last| island(first) == island(last)));
        let landmarks = self.landmarks.as_ref();
        let guide = landmarks.map(|landmarks| landmarks.guide(&self.mesh, lasts[0], ends[1]));
        let mut quest = Quest {
            mesh: &self.mesh,
            nodes: self.nodes(),
            is_open,
            firsts,
            start: ends[0],
            lasts,
            goal: ends[1],
            bound: f64::INFINITY,
            aim: Aim::Coarse,
            guide: guide.as_ref(),
        };
        let Memory { search, windows, straightener, unfolded, sides, .. } = memory;
        let mut found = None;
        let tolerance = method.tolerance();
        if tolerance.is_some() && may_reach {
            found = windows.strip(&quest, sides)?;
        }
        // What a coarse search dropped may have been the only way.
        if found.is_none() {
            found = search.strip(&self.mesh, is_open, (firsts, ends[0]), (lasts, ends[1]), sides);
        }
        let Some(strip) = found else {
            let reached = |triangle| search.has_reached(triangle);
            if let Some(nearest) = self.nearest(goal.position, reached) {
                path.reach = Reach::Unreachable { nearest };
            }
            return Ok(());
        };
        [start.triangle, goal.triangle] = strip;
        if let Some(tolerance) = tolerance {
            unfolded.lay_out(&self.mesh, ends[0], ends[1], sides);
            let length = unfolded.pull();
            let length = straightener.straighten(&self.mesh, is_open, ends, sides, unfolded, length);
            // No path is shorter than the straight line.
            let least = length / (1.0 + tolerance);
            if least > ends[0].distance(ends[1]) {
                (quest.bound, quest.aim, quest.guide) = (least, Aim::Exact, None);
                if let Some(strip) = windows.strip(&quest, &mut memory.exact)? {
                    [start.triangle, goal.triangle] = strip;
                    std::mem::swap(sides, &mut memory.exact);
                }
            }
        }
        self.pull(memory, &start, &goal, path);
        Ok(())
    }

    /// The walkable triangles that a point of the surface lies on.
    pub(crate) fn triangles_on(&self, point: &Point, on: &mut Vec<u32>) {
        let is_open = |triangle: u32| self.walkable[triangle as usize];
        self.tree.within(&self.mesh, point.position.into(), self.rounding(), is_open, on);
        // A place on a needle can be further from it than rounding elsewhere.
        if let Err(place) = on.binary_search(&point.triangle) {
            on.insert(place, point.triangle);
        }
    }

    /// The shortest path within `memory.sides`.
    pub(crate) fn pull(&self, memory: &mut Memory, start: &Point, goal: &Point, path: &mut Path) {
        path.clear();
        path.snaps = [start.distance, goal.distance];
        let (from, to) = (DVec3::from(start.position), DVec3::from(goal.position));
        memory.unfolded.lay_out(&self.mesh, from, to, &memory.sides);
        memory.unfolded.pull();
        memory.unfolded.crossings(&mut memory.crossings);
        path.fold(&self.mesh, (start.triangle, from), to, &memory.sides, &memory.crossings);
    }

    pub(crate) fn with_memory<R>(&self, work: impl FnOnce(&mut Memory) -> R) -> R {
        let kept = self.finders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memory = kept.unwrap_or_default();
        let answer = work(&mut memory);
        self.finders.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        answer
    }
}
