//! Path queries: one or many, by either method. Their memory is reused from query to query.

use std::sync::PoisonError;

use glam::DVec2;
use web_time::Instant;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::build::check::check_query_point;
use crate::navigate::room::query::room::Room;
use crate::navigate::room::search::funnel::{FunnelMove, Strip};
use crate::navigate::room::search::path::{Crossing, Path, portal};
use crate::navigate::room::search::polyanya::NavMesh;
use crate::navigate::room::search::scratch::Scratch;
use crate::navigate::shared::reach::{PathEnd, Reach};
use crate::navigate::shared::stats::Stats;
use crate::observe::span;
use crate::parallel::try_chunks_mut;

/// Queries a task. So many make the cost of taking a finder negligible.
const CHUNK: usize = 16;

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Method {
    /// The true shortest path (Polyanya: Cui, Harabor, Grastien 2017).
    #[default]
    Optimal,
    /// The shortest path within one strip of cells (the funnel algorithm: Lee and Preparata 1984). It is longer than that of
    /// [`Method::Optimal`] where the shortest path goes through other cells. A strip leads across edges, so this method never
    /// squeezes through a point.
    Funnel(Strip),
}

/// How a path query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PathOptions {
    /// How a path is found.
    pub method: Method,
    /// Whether a path to a goal that can't be reached leads to the reachable point nearest to it, in a straight line. A start or a goal
    /// off the room is first moved to the nearest point of the room. With this option there is always a path, unless obstacles leave no
    /// room at all.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let options = PathOptions { to_nearest: true, ..PathOptions::default() };
    /// let path = room.path([1.0, 1.0], [1.0, 9.0], &options)?;
    /// assert_eq!(path.points, [[1.0, 1.0], [1.0, 4.0]]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub to_nearest: bool,
}

impl From<Method> for PathOptions {
    fn from(method: Method) -> Self {
        Self { method, ..Self::default() }
    }
}

/// The funnel algorithm step by step: every state that one query went through.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FunnelSteps {
    /// The cells of the strip, in order.
    pub strip: Vec<u32>,
    /// The left vertex of each edge that the strip crosses.
    pub left: Vec<[f64; 2]>,
    /// The right vertex of each edge that the strip crosses.
    pub right: Vec<[f64; 2]>,
    /// The funnel after each edge.
    pub moves: Vec<FunnelMove>,
    /// The path.
    pub path: Path,
}

impl Room {
    /// The shortest path between two points.
    ///
    /// Cost: by [`Method::Optimal`] that of a search over the cells between start and goal, mostly microseconds; by [`Method::Funnel`] a
    /// search over cells, then O(n) in the cells of the strip.
    ///
    /// ```
    /// use hullfield::navigate::room::{Method, Options, PathOptions, Room, Strip};
    ///
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    /// let pillar = [[4.0, 1.0], [6.0, 1.0], [6.0, 9.5], [4.0, 9.5]];
    /// let room = Room::new(&outer, &[pillar], Options::default())?;
    /// let (start, goal) = ([3.0, 6.0], [7.0, 6.0]);
    /// let shortest = room.path(start, goal, &PathOptions::default())?;
    /// let method = Method::Funnel(Strip::BreadthFirst);
    /// let funnel = room.path(start, goal, &PathOptions { method, ..PathOptions::default() })?;
    /// assert!(funnel.length >= shortest.length);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a coordinate that is not finite or larger than 1e60. A point off the room and a goal
    /// that can't be reached are no errors: [`Path::reach`] reports them.
    pub fn path(&self, start: [f64; 2], goal: [f64; 2], options: &PathOptions) -> Result<Path> {
        span!("hullfield.room.path");
        let mut path = Path::default();
        self.finder().path_into(start, goal, options, &mut path)?;
        Ok(path)
    }

    /// A path for each query `[start, goal]`, in the order of the queries. The queries run on all cores. Each row equals that of
    /// [`Room::path`] bit for bit.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let queries = [[[1.0, 1.0], [1.0, 3.0]], [[1.0, 1.0], [9.0, 9.0]]];
    /// let paths = room.paths(&queries, &PathOptions::default())?;
    /// assert_eq!((paths.rows[0].length, paths.stats.reached_count), (2.0, 1));
    /// assert!(!paths.rows[1].is_reached()); // the goal is off the room
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::path`], with the index of the query.
    pub fn paths(&self, queries: &[[[f64; 2]; 2]], options: &PathOptions) -> Result<Batch<Path, Stats>> {
        span!("hullfield.room.paths");
        let mut paths = Vec::new();
        let stats = self.paths_into(queries, options, &mut paths)?;
        Ok(Batch::new(paths, stats))
    }

    /// [`Room::paths`] into paths that are reused: `paths` becomes as long as `queries`. Once their memory has grown, a query allocates
    /// nothing.
    ///
    /// # Errors
    /// As [`Room::paths`].
    pub fn paths_into(
        &self,
        queries: &[[[f64; 2]; 2]],
        options: &PathOptions,
        paths: &mut Vec<Path>,
    ) -> Result<Stats> {
        let begun = Instant::now();
        paths.resize_with(queries.len(), Path::default);
        let answer = |finder: &mut Finder<'_>, query: usize, path: &mut Path| {
            let [start, goal] = queries[query];
            finder.path_into(start, goal, options, path).map_err(|error| error.in_query(query))
        };
        try_chunks_mut(paths, CHUNK, |chunk, paths| {
            let mut finder = self.finder();
            let mut paths = paths.iter_mut().enumerate();
            paths.try_for_each(|(i, path)| answer(&mut finder, CHUNK * chunk + i, path))
        })?;
        Ok(Stats::since(begun, paths.iter().filter(|path| path.is_reached()).count()))
    }

    /// A finder: it answers one query after another in its own memory, which returns to the room when the finder is dropped.
    pub fn finder(&self) -> Finder<'_> {
        let scratch = self.scratches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Finder { room: self, scratch: scratch.unwrap_or_default() }
    }

    /// Answers a query by [`Method::Funnel`] and records each state of the funnel, to draw or to teach. It is slower than
    /// [`Room::path`]: each state is copied, so O(n²) in the cells of the strip at worst.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room, Strip};
    ///
    /// let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 4.0], [0.0, 4.0]];
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let options = Options { merge: false, ..Options::default() }; // keep the triangles
    /// let room = Room::new(&outer, &none, options)?;
    /// let steps = room.funnel_steps(Strip::Dijkstra, [3.5, 0.5], [0.5, 3.5])?;
    /// assert_eq!(steps.left.len(), steps.strip.len() - 1); // an edge between each two triangles
    /// assert_eq!(steps.moves.len(), steps.left.len());
    /// assert_eq!(steps.path.points[1], [1.0, 1.0]); // around the corner
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn funnel_steps(&self, strip: Strip, start: [f64; 2], goal: [f64; 2]) -> Result<FunnelSteps> {
        let mut steps = FunnelSteps::default();
        let mut path = Path::default();
        let mut finder = self.finder();
        finder.path_into(start, goal, &Method::Funnel(strip).into(), &mut path)?;
        if path.is_reached() {
            let cells = &self.cells;
            let found = &mut finder.scratch.strip;
            steps.strip.clone_from(&path.cells);
            for &side in &found.sides {
                let [left, right] = portal(cells, side).map(|v| cells.points[v as usize].to_array());
                steps.left.push(left);
                steps.right.push(right);
            }
            let mut corners = Vec::new();
            let moves = &mut steps.moves;
            found.pull(cells, start.into(), goal.into(), &mut corners, |edge_count, passed, funnel| {
                let mut path = vec![start];
                path.extend(passed.iter().map(|&v| cells.points[v as usize].to_array()));
                let apex = funnel.apex().to_array();
                if path.last() != Some(&apex) {
                    path.push(apex);
                }
                moves.push(FunnelMove { edge_count, path, left: funnel.left(), right: funnel.right() });
            });
        }
        steps.path = path;
        Ok(steps)
    }
}

/// Answers path queries one after another; made by [`Room::finder`].
///
/// After the first few queries it allocates nothing.
///
/// ```
/// use hullfield::navigate::room::{Options, Path, PathOptions, Room};
///
/// let none: [[[f64; 2]; 0]; 0] = [];
/// let room = Room::new(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]], &none, Options::default())?;
/// let mut finder = room.finder();
/// let mut path = Path::default();
/// for x in 1..9 {
///     finder.path_into([0.0, 0.0], [f64::from(x), 0.0], &PathOptions::default(), &mut path)?;
///     assert_eq!(path.length, f64::from(x));
/// }
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct Finder<'a> {
    room: &'a Room,
    scratch: Scratch,
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        self.room.scratches.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

impl Finder<'_> {
    /// Finds a path and writes it into `path`; what was in it is overwritten.
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn path_into(
        &mut self,
        start: [f64; 2],
        goal: [f64; 2],
        options: &PathOptions,
        path: &mut Path,
    ) -> Result<()> {
        path.clear();
        check_query_point("start", start)?;
        check_query_point("goal", goal)?;
        let room = self.room;
        let (mut from, mut to) = (DVec2::from(start), DVec2::from(goal));
        let Scratch { start_cells, goal_cells, are_exact, .. } = &mut self.scratch;
        *are_exact = [room.cells_at(from, start_cells), room.cells_at(to, goal_cells)];
        let ends = [(PathEnd::Start, &mut from, start_cells), (PathEnd::Goal, &mut to, goal_cells)];
        for ((end, point, cells), is_exact) in ends.into_iter().zip(are_exact) {
            if !cells.is_empty() {
                continue;
            }
            let (cell, nearest) = room.nearest(*point, |_| true, f64::INFINITY);
            if cell == NONE {
                path.reach = Reach::Off { end, nearest: None, distance: f64::INFINITY };
                return Ok(());
            }
            if !options.to_nearest {
                let distance = nearest.distance(*point);
                path.reach = Reach::Off { end, nearest: Some(nearest.to_array()), distance };
                return Ok(());
            }
            *is_exact = room.cells_at_including(nearest, cell, cells);
            *point = nearest;
        }
        if self.search(options.method, from, to, path) {
            return Ok(());
        }
        let (cell, nearest) = self.nearest_reachable(options.method, from, goal.into());
        if cell == NONE {
            return Err(Error::internal("navigate::room::paths", "the start does not reach its own cell"));
        }
        if !options.to_nearest {
            path.reach = Reach::Unreachable { nearest: nearest.to_array() };
            return Ok(());
        }
        self.scratch.are_exact[1] = room.cells_at_including(nearest, cell, &mut self.scratch.goal_cells);
        if self.search(options.method, from, nearest, path) {
            return Ok(());
        }
        Err(Error::internal("navigate::room::paths", "no path leads to a point that can be reached"))
    }

    /// The point nearest to the goal that a method can reach from the start's cells, and its cell.
    fn nearest_reachable(&mut self, method: Method, from: DVec2, goal: DVec2) -> (u32, DVec2) {
        let room = self.room;
        let Scratch { strip, start_cells, .. } = &mut self.scratch;
        if let (Method::Funnel(strip_kind), true) = (method, room.squeeze) {
            // The optimal method squeezes from island to island where they touch in a point. A strip can't: it leads across edges.
            strip.find(&room.cells, strip_kind, from, start_cells, goal, &[]);
            return room.nearest(goal, |cell| strip.has_reached(cell), f64::INFINITY);
        }
        let islands = &room.blocks.island;
        let is_reachable =
            |cell: u32| start_cells.iter().any(|&own| islands[own as usize] == islands[cell as usize]);
        room.nearest(goal, is_reachable, f64::INFINITY)
    }

    /// Searches for a path between ends that are in the room; false where there is none.
    fn search(&mut self, method: Method, from: DVec2, to: DVec2, path: &mut Path) -> bool {
        let (given_from, given_to) = (from, to);
        let (from, to) = self.move_ends_into_cells(from, to);
        let Scratch { search, strip, start_cells, goal_cells, .. } = &mut self.scratch;
        let cells = &self.room.cells;
        let (start_cells, goal_cells) = (start_cells.as_slice(), goal_cells.as_slice());
        match method {
            Method::Optimal => {
                let mesh = NavMesh { cells, blocks: &self.room.blocks, squeeze: self.room.squeeze };
                let Some(found) = search.find(mesh, from, start_cells, to, goal_cells) else { return false };
                search.trace(cells, found, path);
            }
            Method::Funnel(strip_kind) => {
                let islands = &self.room.blocks.island;
                let meets = |a: &u32| goal_cells.iter().any(|&b| islands[*a as usize] == islands[b as usize]);
                if !start_cells.iter().any(meets)
                    || !strip.find(cells, strip_kind, from, start_cells, to, goal_cells)
                {
                    return false;
                }
                strip.pull(cells, from, to, &mut path.corners, |_, _, _| {});
                path.cells.extend_from_slice(&strip.cells);
                path.crossings.extend(
                    strip.sides.iter().map(|&side| Crossing { edge: portal(cells, side), point: [0.0; 2] }),
                );
            }
        }
        path.fill_from_corners(cells, given_from, given_to);
        true
    }

    /// Moves ends that rounding has put beyond a wall into the cell beside it. Seen from beyond, the wall's own corners would hide one
    /// another.
    fn move_ends_into_cells(&mut self, from: DVec2, to: DVec2) -> (DVec2, DVec2) {
        let room = self.room;
        let Scratch { start_cells, goal_cells, are_exact, .. } = &mut self.scratch;
        let move_into_cell = |point: DVec2, own: &mut Vec<u32>, others: &[u32]| {
            let islands = &room.blocks.island;
            let meets = |a: u32| others.iter().any(|&b| islands[a as usize] == islands[b as usize]);
            let cell = own.iter().copied().find(|&cell| meets(cell)).or(own.first().copied());
            cell.map_or(point, |cell| {
                let nudged = room.nudge_into(cell, point);
                // The moved point may be a corner, which other cells hold too.
                room.cells_at_including(nudged, cell, own);
                nudged
            })
        };
        let from = if are_exact[0] { from } else { move_into_cell(from, start_cells, goal_cells) };
        let to = if are_exact[1] { to } else { move_into_cell(to, goal_cells, start_cells) };
        (from, to)
    }
}
