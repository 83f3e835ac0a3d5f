//! Path queries: one or many. Their memory is reused from query to query.

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
use crate::navigate::surface::mesh::walkable::Walkable;
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
    /// The shortest path within one strip of triangles, which an A* search over edge midpoints finds. It is quick, and a few percent longer
    /// than the shortest path.
    Funnel,
    /// A locally shortest path that is at most `tolerance` longer than the shortest, relative to it. That is guaranteed, within 1e-9.
    ///
    /// A first path comes from a coarse search: it propagates a few windows of each edge towards the goal, where
    /// [`Exact`](Self::Exact) propagates many. The strip that it finds is rerouted around each vertex at which the path need not bend
    /// (Sharp, Crane 2020). [Landmarks](crate::navigate::surface::Options::landmarks) make this quicker.
    ///
    /// If the first path is longer than the straight line by more than the tolerance, an exact search looks for a path shorter than its
    /// length / (1 + `tolerance`). It finds the shortest path, or proves that there is none so short.
    ///
    /// Cost: both searches together take about as long as [`Exact`](Self::Exact), and one and a half to three times as long as the first.
    /// An infinite tolerance always returns the first path. The table says how much longer that path is than the shortest, over 75 to 400
    /// paths of each mesh of the tests: on average, at worst, and for how many paths it is more than 0.1 %.
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
        /// From 0, for the shortest path, to infinity, for the first path without a guarantee.
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
        tolerance: f64,
    },
    /// The shortest path: its length is within 1e-9 of the shortest, relative to it.
    ///
    /// Windows are propagated roughly in the order of their distance (Mitchell, Mount, Papadimitriou 1987; Chen, Han 1990; Xin, Wang 2009),
    /// as far as the first path of [`Geodesic`](Self::Geodesic) is long. It is much slower than the other methods on large meshes.
    Exact,
}

impl Default for Method {
    /// [`Geodesic`](Self::Geodesic) with a tolerance of 0.1 %.
    fn default() -> Self {
        Self::Geodesic { tolerance: 1e-3 }
    }
}

impl Method {
    /// Refuses a tolerance that is negative or NaN.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Geodesic { tolerance } if !(tolerance >= 0.0) => {
                let expected = "it must be 0 or more";
                Err(Error::value(Location::Argument, "tolerance", shown(tolerance), expected))
            }
            _ => Ok(()),
        }
    }

    /// By how much its path may be longer than the shortest, relative to that; `None` for a method that searches no geodesic.
    fn tolerance(self) -> Option<f64> {
        match self {
            Self::Funnel => None,
            Self::Geodesic { tolerance } => Some(tolerance),
            Self::Exact => Some(0.0),
        }
    }
}

/// How a path query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PathOptions {
    /// How a path is found.
    pub method: Method,
    /// Whether a path to a goal that can't be reached leads to the reachable point nearest to it, in a straight line. A start or a goal off
    /// the surface is first moved to the nearest walkable point, however far away. With this option there is always a path, unless no
    /// triangle is walkable, or none of those that an end names. [`Path::snaps`] says how far the path ends from the goal.
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

/// The status of a path whose end is off the mesh; `found` is the nearest point to which it could be moved.
pub(crate) fn off_mesh(end: PathEnd, found: Option<ResolvedPlace>) -> Reach<Point> {
    let nearest = found.map(|end| end.point);
    let distance = nearest.map_or(f64::INFINITY, |point| point.distance);
    Reach::Off { end, nearest, distance }
}

/// The paths with their statistics, or the first error.
pub(crate) fn batch(paths: Vec<Result<Path>>, begun: Instant) -> Result<Batch<Path, Stats>> {
    let rows: Vec<Path> = paths.into_iter().collect::<Result<_>>()?;
    let reached_count = rows.iter().filter(|path| path.is_reached()).count();
    Ok(Batch::new(rows, Stats::since(begun, reached_count)))
}

impl Surface {
    /// A path between two points of the surface. Points off the surface are moved to the nearest walkable point.
    ///
    /// Cost: that of the [`Method`].
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
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e150, for a [place](Place) that names a triangle, a face or a
    /// vertex that does not exist or was left out, and for a tolerance that is negative or NaN; [`Error::TooMany`] where more than 2³¹
    /// windows, or walks between links, are needed. A point off the mesh, a name of nothing walkable and a goal that can't be reached are no errors:
    /// [`Path::reach`] reports them.
    pub fn path(
        &self,
        start: impl Into<Place>,
        goal: impl Into<Place>,
        options: &PathOptions,
    ) -> Result<Path> {
        self.path_inner(start.into(), goal.into(), options)
    }

    fn path_inner(&self, start: Place, goal: Place, options: &PathOptions) -> Result<Path> {
        span!("hullfield.surface.path");
        options.method.check()?;
        let ends = [start, goal];
        self.with_scratch(|scratch| self.path_of(scratch, ends, options))
    }

    /// A path for each query `[start, goal]`, in the order of the queries, computed on all cores. Queries are positions, `[[f64; 3]; 2]`, or
    /// `[Place; 2]`. Each row equals that of [`path`](Self::path) bit for bit.
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
    /// As [`path`](Self::path), with the index of the query.
    pub fn paths<P: Into<Place> + Copy + Sync>(
        &self,
        queries: &[[P; 2]],
        options: &PathOptions,
    ) -> Result<Batch<Path, Stats>> {
        self.paths_inner(queries.len(), &|query| queries[query].map(P::into), options)
    }

    fn paths_inner(
        &self,
        count: usize,
        ends: &(dyn Fn(usize) -> [Place; 2] + Sync),
        options: &PathOptions,
    ) -> Result<Batch<Path, Stats>> {
        span!("hullfield.surface.paths");
        let begun = Instant::now();
        options.method.check()?;
        let answer = |query: usize| {
            self.with_scratch(|scratch| self.path_of(scratch, ends(query), options))
                .map_err(|error| error.in_query(query))
        };
        // All results are collected first, so that of several errors the first is returned.
        batch(map_singly(count, answer), begun)
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

    /// The status of a path whose goal can't be reached, with the nearest point that can.
    pub(crate) fn unreachable(&self, goal: &Point, is_reached: &dyn Fn(u32) -> bool) -> Result<Reach<Point>> {
        match self.nearest(goal.position, is_reached) {
            Some(nearest) => Ok(Reach::Unreachable { nearest }),
            None => {
                Err(Error::internal("navigate::surface::paths", "the start does not reach its own triangle"))
            }
        }
    }

    /// The shortest path within a given strip of triangles, each of which shares an edge with the next. It leads from the first triangle's
    /// point nearest to `start` to the last triangle's point nearest to `goal`. The triangles need not be walkable.
    ///
    /// Cost: O(n) in the number of triangles (Lee, Preparata 1984).
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // A floor of two triangles.
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2], [0, 2, 3]])], Options::default())?;
    /// let path = surface.funnel_along(&[0, 1], [3.0, 1.0, 0.0], [1.0, 3.0, 0.0])?;
    /// assert!((path.length - 8.0_f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Missing`] for a triangle that does not exist; [`Error::Invalid`] for an empty strip, and for two successive triangles that
    /// share no edge; [`Error::Value`] for a coordinate that is not finite or larger than 1e150.
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

    /// Resolves the start and the goal of a query. Returns `None` where one is off the mesh, which the path then reports. The path also gets
    /// whether each is ambiguous.
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
        let walkable = Walkable(&self.walkable);
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
            walkable,
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
        // The coarse search may have dropped the only path.
        if found.is_none() {
            found = strip_search.find(
                &self.mesh,
                walkable,
                (start_triangles, ends[0]),
                (goal_triangles, ends[1]),
                sides,
            );
        }
        let Some(strip) = found else {
            path.reach = self.unreachable(&goal, &|triangle| strip_search.has_reached(triangle))?;
            return Ok(());
        };
        [start.triangle, goal.triangle] = strip;
        if let Some(tolerance) = tolerance {
            unfolded.lay_out(&self.mesh, ends[0], ends[1], sides);
            let length = unfolded.pull();
            let length = straightener.straighten(&self.mesh, walkable, ends, sides, unfolded, length);
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

    /// The walkable triangles no further from a point than `reach`, ascending.
    pub(crate) fn triangles_near(&self, point: DVec3, reach: f64, found: &mut Vec<u32>) {
        let walkable = Walkable(&self.walkable);
        self.tree.within(&self.mesh, point, reach, &|triangle| walkable.holds(triangle), found);
    }

    /// The walkable triangles on which a point of the surface lies.
    pub(crate) fn triangles_on(&self, point: &Point, on: &mut Vec<u32>) {
        self.triangles_near(point.position.into(), self.rounding(), on);
        // A point computed on a needle can be further from it than the rounding elsewhere.
        if let Err(place) = on.binary_search(&point.triangle) {
            on.insert(place, point.triangle);
        }
    }

    /// Writes the shortest path within the strip `scratch.sides`.
    pub(crate) fn pull(&self, scratch: &mut Scratch, start: &Point, goal: &Point, path: &mut Path) {
        path.clear();
        path.snaps = [start.distance, goal.distance];
        let (from, to) = (DVec3::from(start.position), DVec3::from(goal.position));
        scratch.unfolded.lay_out(&self.mesh, from, to, &scratch.sides);
        scratch.unfolded.pull();
        scratch.unfolded.crossings(&mut scratch.crossings);
        path.fold_from_strip(&self.mesh, (start.triangle, from), to, &scratch.sides, &scratch.crossings);
    }

    pub(crate) fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let kept = self.scratches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = kept.unwrap_or_default();
        let answer = work(&mut scratch);
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        answer
    }
}
