//! Queries: one path or many, in memory that is kept from query to query.

use std::sync::PoisonError;

use glam::DVec3;
use web_time::Instant;

use crate::batch::Batch;
use crate::error::{Error, Location, Result, shown};
use crate::navigate::shared::reach::{PathEnd, Reach};
use crate::navigate::shared::stats::Stats;
use crate::navigate::surface::geodesic::unfold::push_crossing;
use crate::navigate::surface::geodesic::window::{SearchMode, WindowQuery};
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::query::path::{Path, Point};
use crate::navigate::surface::query::place::{Place, ResolvedPlace};
use crate::navigate::surface::query::scratch::Scratch;
use crate::navigate::surface::query::surface::Surface;
use crate::observe::span;
use crate::parallel::map_singly;

/// How a path over a surface is found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
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
    /// at (Sharp, Crane 2020). [Landmarks](crate::navigate::surface::Options::landmarks) make that quicker. Where the path is longer than the straight
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
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
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
                Err(Error::value(Location::Argument, "tolerance", shown(tolerance), expected))
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

/// How a query of paths is answered.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PathOptions {
    /// How a path is found.
    pub method: Method,
    /// Whether a path leads to the point nearest to the goal that can be reached, in a straight line, where the goal can't be reached;
    /// a start or a goal off the surface is first moved to the nearest walkable point, however far it is. Then there is always
    /// a path, unless no triangle is walkable, or none of those that an end names; how far its end is from the goal is in
    /// [`Path::snaps`].
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
    ///
    /// // Two squares, with a gap between them.
    /// let square = |x: f64| vec![[x, 0.0, 0.0], [x + 2.0, 0.0, 0.0], [x + 2.0, 2.0, 0.0], [x, 2.0, 0.0]];
    /// let models = [0.0, 3.0].map(|x| Model::polygons(square(x), [[0, 1, 2, 3]]));
    /// let surface = Surface::new(&models, Options::default())?;
    /// let (start, goal) = ([1.0, 1.0, 0.0], [4.0, 1.0, 0.0]);
    /// assert!(!surface.path(start, goal, &PathOptions::default())?.is_reached());
    /// let path = surface.path(start, goal, &PathOptions { to_nearest: true, ..PathOptions::default() })?;
    /// assert!(path.is_reached() && path.points.last() == Some(&[2.0, 1.0, 0.0]));
    /// assert_eq!(path.snaps, [0.0, 2.0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub to_nearest: bool,
}

impl From<Method> for PathOptions {
    fn from(method: Method) -> Self {
        Self { method, ..Self::default() }
    }
}

/// That an end is off the mesh; `found` is the nearest point that it could be moved to.
pub(crate) fn off_mesh(end: PathEnd, found: Option<ResolvedPlace>) -> Reach<Point> {
    let nearest = found.map(|end| end.point);
    let distance = nearest.map_or(f64::INFINITY, |point| point.distance);
    Reach::Off { end, nearest, distance }
}

/// Paths with what they took, or the first error.
pub(crate) fn batch(paths: Vec<Result<Path>>, begun: Instant) -> Result<Batch<Path, Stats>> {
    let rows: Vec<Path> = paths.into_iter().collect::<Result<_>>()?;
    let reached_count = rows.iter().filter(|path| path.is_reached()).count();
    Ok(Batch::new(rows, Stats::since(begun, reached_count)))
}

impl Surface {
    /// A path from any point of the surface to any other. Points off the surface are moved to its nearest walkable point.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
    ///
    /// // A cube: from the middle of one face to the middle of the opposite one.
    /// let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    /// let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    /// let surface = Surface::new(&[Model::polygons(points, faces)], Options::default())?;
    /// let path = surface.path([0.5, 0.5, 0.0], [0.5, 0.5, 1.0], &PathOptions::default())?;
    /// assert!((path.length - 2.0).abs() < 1e-12);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] where a coordinate is not finite, a [place](Place) names a triangle, a face or a vertex that does not exist or
    /// was left out, or the method's tolerance is negative or NaN; [`Error::TooMany`] where more than 2³¹ windows are needed. A point
    /// off the mesh, a name of nothing walkable and a goal that can't be reached are no errors: [`Path::reach`] says so.
    pub fn path(
        &self,
        start: impl Into<Place>,
        goal: impl Into<Place>,
        options: &PathOptions,
    ) -> Result<Path> {
        span!("hullfield.surface.path");
        options.method.check()?;
        let ends = [start.into(), goal.into()];
        self.with_scratch(|scratch| self.path_of(scratch, ends, options))
    }

    /// A path for each query `[start, goal]`, on all cores, in their order: bit for bit what one at a time
    /// gives. Queries are positions, `[[f64; 3]; 2]`, or `[Place; 2]`.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2]])], Options::default())?;
    /// let queries = [[[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]];
    /// let paths = surface.paths(&queries, &PathOptions::default())?;
    /// assert_eq!((paths.rows[0].length, paths.rows[1].length, paths.stats.reached_count), (3.0, 2.0, 2));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`path`](Self::path), at the query's row.
    pub fn paths<P: Into<Place> + Copy + Sync>(
        &self,
        queries: &[[P; 2]],
        options: &PathOptions,
    ) -> Result<Batch<Path, Stats>> {
        span!("hullfield.surface.paths");
        let begun = Instant::now();
        options.method.check()?;
        let answer = |query: usize| {
            let ends = queries[query].map(P::into);
            self.with_scratch(|scratch| self.path_of(scratch, ends, options))
                .map_err(|error| error.in_query(query))
        };
        // Collected whole, so that of several errors the first is told.
        batch(map_singly(queries.len(), answer), begun)
    }

    /// Answers one query.
    fn path_of(&self, scratch: &mut Scratch, ends: [Place; 2], options: &PathOptions) -> Result<Path> {
        let mut path = Path::default();
        let max_snap = if options.to_nearest { f64::INFINITY } else { self.max_snap };
        self.answer(scratch, options.method, ends, max_snap, &mut path)?;
        if let (true, Reach::Unreachable { nearest }) = (options.to_nearest, path.reach) {
            let [start, goal] = ends;
            let ambiguous = path.ambiguous;
            let ends = [start, nearest.position.into()];
            self.answer(scratch, options.method, ends, f64::INFINITY, &mut path)?;
            path.snaps[1] = self.position_of(goal).distance(nearest.position.into());
            path.ambiguous = ambiguous;
        }
        Ok(path)
    }

    /// That a goal can't be reached, with the nearest point that can.
    pub(crate) fn unreachable(&self, goal: &Point, is_reached: impl Fn(u32) -> bool) -> Result<Reach<Point>> {
        match self.nearest(goal.position, is_reached) {
            Some(nearest) => Ok(Reach::Unreachable { nearest }),
            None => Err(Error::internal("navigate::surface::paths", "the start reaches not even itself")),
        }
    }

    /// The shortest path within a strip of triangles of the caller's, each of which shares an edge with the next, from the
    /// nearest point of the first to the nearest point of the last. Whether they are walkable does not matter.
    ///
    /// # Errors
    /// [`Error::Missing`] where the strip names a triangle that does not exist; [`Error::Invalid`] where it is empty or has two
    /// neighbours that share no edge; [`Error::Value`] where a coordinate is not finite.
    pub fn funnel_along(&self, strip: &[u32], start: [f64; 3], goal: [f64; 3]) -> Result<Path> {
        check(Location::Argument, "start", start)?;
        check(Location::Argument, "goal", goal)?;
        if strip.is_empty() {
            return Err(Error::invalid(
                Location::Argument,
                "the strip is empty, it needs at least one triangle",
            ));
        }
        for (row, &triangle) in strip.iter().enumerate() {
            if !self.is_known(triangle) {
                let (index, count) = (u64::from(triangle), self.mesh.triangle_count() as u64);
                return Err(Error::Missing { at: Location::Strip(row), what: "triangle", index, count });
            }
        }
        let mut sides: Vec<[u32; 2]> = Vec::with_capacity(strip.len());
        for (row, pair) in strip.windows(2).enumerate() {
            let Some(edge) = self.common_edge(pair[0], pair[1]) else {
                let message = format!("triangles {} and {} share no edge", pair[0], pair[1]);
                return Err(Error::invalid(Location::Strip(row + 1), message));
            };
            let side_of = |triangle: u32| {
                let own = |&side: &u32| self.mesh.edge_of[side as usize] == edge;
                (3 * triangle..3 * triangle + 3).find(own).unwrap_or(3 * triangle)
            };
            push_crossing(&mut sides, [side_of(pair[0]), side_of(pair[1])]);
        }
        let end = |triangle: u32, point: [f64; 3]| {
            let on = crate::navigate::surface::mesh::tree::nearest_on_triangle(
                self.mesh.corners(triangle),
                point.into(),
            );
            Point { triangle, position: on.to_array(), distance: on.distance(point.into()) }
        };
        let (start, goal) = (end(strip[0], start), end(strip[strip.len() - 1], goal));
        let mut path = Path::default();
        self.with_scratch(|scratch| {
            scratch.sides = sides;
            self.pull(scratch, &start, &goal, &mut path);
        });
        Ok(path)
    }

    /// The start and the goal of a query; or none, and the path says which of them is off the mesh. It says of both whether they
    /// are ambiguous.
    pub(crate) fn resolve_both(
        &self,
        places: [Place; 2],
        max_snap: f64,
        path: &mut Path,
    ) -> Result<Option<[ResolvedPlace; 2]>> {
        path.clear();
        let [start, goal] = [self.resolve("start", places[0])?, self.resolve("goal", places[1])?];
        let near = |end: &ResolvedPlace| end.point.distance <= max_snap;
        let ends = [start.filter(near), goal.filter(near)];
        for (told, (&place, end)) in path.ambiguous.iter_mut().zip(places.iter().zip(&ends)) {
            *told = end.is_some_and(|end| self.is_ambiguous(place, &end));
        }
        if let [Some(start), Some(goal)] = ends {
            return Ok(Some([start, goal]));
        }
        let (end, off) = if ends[0].is_none() { (PathEnd::Start, start) } else { (PathEnd::Goal, goal) };
        path.reach = off_mesh(end, off);
        Ok(None)
    }

    /// Answers one query without links.
    pub(crate) fn find(
        &self,
        scratch: &mut Scratch,
        method: Method,
        [start, goal]: &[ResolvedPlace; 2],
        path: &mut Path,
    ) -> Result<()> {
        path.clear();
        let is_walkable = |triangle: u32| self.walkable[triangle as usize];
        for (on, end) in scratch.end_triangles.iter_mut().zip([start, goal]) {
            self.end_triangles_into(end, on);
        }
        let ends = [start.position(), goal.position()];
        let (mut start, mut goal) = (start.point, goal.point);
        let [start_triangles, goal_triangles] = &scratch.end_triangles;
        let island = |triangle: &u32| self.islands[*triangle as usize];
        let may_reach = start_triangles
            .iter()
            .any(|first| goal_triangles.iter().any(|last| island(first) == island(last)));
        let landmarks = self.landmarks.as_ref();
        let heuristic =
            landmarks.map(|landmarks| landmarks.heuristic(&self.mesh, goal_triangles[0], ends[1]));
        let mut query = WindowQuery {
            mesh: &self.mesh,
            nodes: self.nodes(),
            is_walkable,
            start_triangles,
            start: ends[0],
            goal_triangles,
            goal: ends[1],
            bound: f64::INFINITY,
            mode: SearchMode::Coarse,
            heuristic: heuristic.as_ref(),
        };
        let Scratch { strip: strip_search, windows, straightener, unfolded, sides, .. } = scratch;
        let mut found = None;
        let tolerance = method.tolerance();
        if tolerance.is_some() && may_reach {
            found = windows.find_strip(&query, sides)?;
        }
        // What a coarse search dropped may have been the only way.
        if found.is_none() {
            found = strip_search.find(
                &self.mesh,
                is_walkable,
                (start_triangles, ends[0]),
                (goal_triangles, ends[1]),
                sides,
            );
        }
        let Some(strip) = found else {
            path.reach = self.unreachable(&goal, |triangle| strip_search.has_reached(triangle))?;
            return Ok(());
        };
        [start.triangle, goal.triangle] = strip;
        if let Some(tolerance) = tolerance {
            unfolded.lay_out(&self.mesh, ends[0], ends[1], sides);
            let length = unfolded.pull();
            let length = straightener.straighten(&self.mesh, is_walkable, ends, sides, unfolded, length);
            // No path is shorter than the straight line.
            let least = length / (1.0 + tolerance);
            if least > ends[0].distance(ends[1]) {
                (query.bound, query.mode, query.heuristic) = (least, SearchMode::Exact, None);
                if let Some(strip) = windows.find_strip(&query, &mut scratch.exact_sides)? {
                    [start.triangle, goal.triangle] = strip;
                    std::mem::swap(sides, &mut scratch.exact_sides);
                }
            }
        }
        self.pull(scratch, &start, &goal, path);
        Ok(())
    }

    /// The walkable triangles that a point of the surface lies on.
    pub(crate) fn triangles_on(&self, point: &Point, on: &mut Vec<u32>) {
        let is_walkable = |triangle: u32| self.walkable[triangle as usize];
        self.tree.within(&self.mesh, point.position.into(), self.rounding(), is_walkable, on);
        // A place on a needle can be further from it than rounding elsewhere.
        if let Err(place) = on.binary_search(&point.triangle) {
            on.insert(place, point.triangle);
        }
    }

    /// The shortest path within `scratch.sides`.
    pub(crate) fn pull(&self, scratch: &mut Scratch, start: &Point, goal: &Point, path: &mut Path) {
        path.clear();
        path.snaps = [start.distance, goal.distance];
        let (from, to) = (DVec3::from(start.position), DVec3::from(goal.position));
        scratch.unfolded.lay_out(&self.mesh, from, to, &scratch.sides);
        scratch.unfolded.pull();
        scratch.unfolded.crossings(&mut scratch.crossings);
        path.fold(&self.mesh, (start.triangle, from), to, &scratch.sides, &scratch.crossings);
    }

    pub(crate) fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let kept = self.scratches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = kept.unwrap_or_default();
        let answer = work(&mut scratch);
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        answer
    }
}
