//! Queries: one path or many, by either method, in memory that is kept from query to query.

use std::sync::PoisonError;

use glam::DVec2;

use crate::error::{Error, Result};
use crate::navigate::room::build::check::check_end;
use crate::navigate::room::query::room::Room;
use crate::navigate::room::search::funnel::{FunnelMove, Strip};
use crate::navigate::room::search::path::{Crossing, Path, Reach, gate};
use crate::navigate::room::search::polyanya::Floor;
use crate::navigate::room::search::scratch::Memory;
use crate::navigate::shared::path_end::PathEnd;
use crate::observe::span;
use crate::parallel::try_chunks_mut;

/// Queries that one task answers: enough that taking a finder for them is nothing.
const PIECE: usize = 16;

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The true shortest path (Polyanya: Cui, Harabor, Grastien 2017).
    #[default]
    Optimal,
    /// The shortest path within one strip of cells: quick to explain, longer than [`Method::Optimal`] where the best path
    /// goes through other cells. A strip leads over edges: this method never squeezes through a point.
    Funnel(Strip),
}

/// The article's method, step by step: everything that one query went through.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// # Errors
    /// A coordinate that is not finite. A point off the room and a goal that can't be reached are no errors:
    /// [`Path::reach`] says so.
    pub fn path(&self, start: [f64; 2], goal: [f64; 2]) -> Result<Path> {
        span!("hullfield.room.path");
        let mut path = Path::default();
        self.finder().find(Method::Optimal, start, goal, &mut path)?;
        Ok(path)
    }

    /// A path by a method of choice.
    ///
    /// ```
    /// use hullfield::navigate::room::{Method, Room, Strip};
    ///
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    /// let room = Room::new(&outer, &[[[4.0, 1.0], [6.0, 1.0], [6.0, 9.5], [4.0, 9.5]]])?;
    /// let (start, goal) = ([3.0, 6.0], [7.0, 6.0]);
    /// let funnel = room.path_by(Method::Funnel(Strip::BreadthFirst), start, goal)?;
    /// assert!(funnel.length >= room.path(start, goal)?.length);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn path_by(&self, method: Method, start: [f64; 2], goal: [f64; 2]) -> Result<Path> {
        let mut path = Path::default();
        self.finder().find(method, start, goal, &mut path)?;
        Ok(path)
    }

    /// The shortest path to the goal or, where it can't be reached, to the point nearest to it that can; a start or goal off
    /// the room is first moved to the room's nearest point. The path is always reached.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// let path = room.path_to_nearest([1.0, 1.0], [1.0, 9.0])?;
    /// assert_eq!(path.points, [[1.0, 1.0], [1.0, 4.0]]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn path_to_nearest(&self, start: [f64; 2], goal: [f64; 2]) -> Result<Path> {
        let mut path = Path::default();
        self.finder().find_nearest(start, goal, &mut path)?;
        Ok(path)
    }

    /// A path for each query `[start, goal]`, on all cores, in their order: bit for bit what one at a time gives.
    ///
    /// ```
    /// use hullfield::navigate::room::{Method, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// let paths = room.paths(Method::Optimal, &[[[1.0, 1.0], [1.0, 3.0]], [[1.0, 1.0], [9.0, 9.0]]])?;
    /// assert_eq!(paths[0].length, 2.0);
    /// assert!(!paths[1].is_reached()); // the goal is off the room
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::path`], with the query's row.
    pub fn paths(&self, method: Method, queries: &[[[f64; 2]; 2]]) -> Result<Vec<Path>> {
        span!("hullfield.room.paths");
        let mut paths = Vec::new();
        self.paths_into(method, queries, &mut paths)?;
        Ok(paths)
    }

    /// [`Room::paths`] into the memory of earlier answers: after the first call of a kind nothing is allocated for a query.
    ///
    /// # Errors
    /// As [`Room::paths`].
    pub fn paths_into(&self, method: Method, queries: &[[[f64; 2]; 2]], paths: &mut Vec<Path>) -> Result<()> {
        paths.resize_with(queries.len(), Path::default);
        let answer = |finder: &mut Finder<'_>, query: usize, path: &mut Path| {
            let [start, goal] = queries[query];
            finder
                .find(method, start, goal, path)
                .map_err(|cause| Error::Query { query, cause: Box::new(cause) })
        };
        try_chunks_mut(paths, PIECE, |piece, paths| {
            let mut finder = self.finder();
            let mut paths = paths.iter_mut().enumerate();
            paths.try_for_each(|(i, path)| answer(&mut finder, PIECE * piece + i, path))
        })
    }

    /// Something that answers one query after another in memory of its own, which goes back to the room in the end.
    pub fn finder(&self) -> Finder<'_> {
        let memory = self.finders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Finder { room: self, memory: memory.unwrap_or_default() }
    }

    /// The funnel method's way to an answer, step by step.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room, Strip};
    ///
    /// let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 4.0], [0.0, 4.0]];
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let options = Options { merge: false, ..Options::default() }; // triangles, as the article has them
    /// let room = Room::with_options(&outer, &none, options)?;
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
        finder.find(Method::Funnel(strip), start, goal, &mut path)?;
        if path.is_reached() {
            let cells = &self.cells;
            let found = &mut finder.memory.strip;
            steps.strip.clone_from(&path.cells);
            for &side in &found.sides {
                let [left, right] = gate(cells, side).map(|v| cells.points[v as usize].to_array());
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

/// Answers queries one after another; made by [`Room::finder`].
///
/// After the first few queries nothing is allocated.
///
/// ```
/// use hullfield::navigate::room::{Method, Path, Room};
///
/// let none: [[[f64; 2]; 0]; 0] = [];
/// let room = Room::new(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]], &none)?;
/// let mut finder = room.finder();
/// let mut path = Path::default();
/// for x in 1..9 {
///     finder.find(Method::Optimal, [0.0, 0.0], [f64::from(x), 0.0], &mut path)?;
///     assert_eq!(path.length, f64::from(x));
/// }
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct Finder<'a> {
    room: &'a Room,
    memory: Memory,
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        self.room.finders.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

impl Finder<'_> {
    /// Finds a path and writes it into `path`, whatever was in it.
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn find(&mut self, method: Method, start: [f64; 2], goal: [f64; 2], path: &mut Path) -> Result<()> {
        path.clear();
        check_ends(start, goal)?;
        let room = self.room;
        let (from, to) = (DVec2::from(start), DVec2::from(goal));
        let memory = &mut self.memory;
        memory.are_exact = [room.hold(from, &mut memory.start_cells), room.hold(to, &mut memory.goal_cells)];
        for (end, point, cells) in
            [(PathEnd::Start, from, &self.memory.start_cells), (PathEnd::Goal, to, &self.memory.goal_cells)]
        {
            if cells.is_empty() {
                let (_, nearest) = room.nearest(point, |_| true, f64::INFINITY);
                path.reach =
                    Reach::OffRoom { end, nearest: nearest.to_array(), distance: nearest.distance(point) };
                return Ok(());
            }
        }
        if !self.search(method, from, to, path) {
            let islands = &room.blocks.island;
            let start_cells = &self.memory.start_cells;
            let is_reachable =
                |cell: u32| start_cells.iter().any(|&own| islands[own as usize] == islands[cell as usize]);
            let (_, nearest) = room.nearest(to, is_reachable, f64::INFINITY);
            path.reach = Reach::Unreachable { nearest: nearest.to_array() };
        }
        Ok(())
    }

    /// [`Room::path_to_nearest`] into `path`.
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn find_nearest(&mut self, start: [f64; 2], goal: [f64; 2], path: &mut Path) -> Result<()> {
        path.clear();
        check_ends(start, goal)?;
        let room = self.room;
        let (mut from, mut to) = (DVec2::from(start), DVec2::from(goal));
        self.memory.are_exact[0] = room.hold(from, &mut self.memory.start_cells);
        if self.memory.start_cells.is_empty() {
            let (cell, nearest) = room.nearest(from, |_| true, f64::INFINITY);
            self.memory.are_exact[0] = room.hold_with(nearest, cell, &mut self.memory.start_cells);
            from = nearest;
        }
        self.memory.are_exact[1] = room.hold(to, &mut self.memory.goal_cells);
        let islands = &room.blocks.island;
        let start_cells = &self.memory.start_cells;
        let is_reachable =
            |cell: u32| start_cells.iter().any(|&own| islands[own as usize] == islands[cell as usize]);
        if !self.memory.goal_cells.iter().any(|&cell| is_reachable(cell)) {
            let (cell, nearest) = room.nearest(to, is_reachable, f64::INFINITY);
            self.memory.are_exact[1] = room.hold_with(nearest, cell, &mut self.memory.goal_cells);
            to = nearest;
        }
        if !self.search(Method::Optimal, from, to, path) {
            path.reach = Reach::Unreachable { nearest: from.to_array() };
        }
        Ok(())
    }

    fn search(&mut self, method: Method, from: DVec2, to: DVec2, path: &mut Path) -> bool {
        let (given_from, given_to) = (from, to);
        let (from, to) = self.settle(from, to);
        let Memory { search, strip, start_cells, goal_cells, .. } = &mut self.memory;
        let cells = &self.room.cells;
        let (start_cells, goal_cells) = (start_cells.as_slice(), goal_cells.as_slice());
        match method {
            Method::Optimal => {
                let floor = Floor { cells, blocks: &self.room.blocks, squeeze: self.room.squeeze };
                let Some(found) = search.run(floor, from, start_cells, to, goal_cells) else { return false };
                search.trace(cells, found, path);
            }
            Method::Funnel(kind) => {
                let islands = &self.room.blocks.island;
                let meets = |a: &u32| goal_cells.iter().any(|&b| islands[*a as usize] == islands[b as usize]);
                if !start_cells.iter().any(meets)
                    || !strip.find(cells, kind, from, start_cells, to, goal_cells)
                {
                    return false;
                }
                strip.pull(cells, from, to, &mut path.corners, |_, _, _| {});
                path.cells.extend_from_slice(&strip.cells);
                path.crossings.extend(
                    strip.sides.iter().map(|&side| Crossing { edge: gate(cells, side), point: [0.0; 2] }),
                );
            }
        }
        path.string(cells, given_from, given_to);
        true
    }

    /// The ends as they are searched from. Seen from a point that rounding has put beyond a wall, that wall's own corners
    /// hide one another: such a point is taken from within a cell beside it.
    fn settle(&mut self, from: DVec2, to: DVec2) -> (DVec2, DVec2) {
        let room = self.room;
        let Memory { start_cells, goal_cells, are_exact, .. } = &mut self.memory;
        let settle = |point: DVec2, own: &mut Vec<u32>, others: &[u32]| {
            let islands = &room.blocks.island;
            let meets = |a: u32| others.iter().any(|&b| islands[a as usize] == islands[b as usize]);
            let cell = own.iter().copied().find(|&cell| meets(cell)).or(own.first().copied());
            cell.map_or(point, |cell| {
                let within = room.within(cell, point);
                // That may be a corner, and then others hold it too.
                room.hold_with(within, cell, own);
                within
            })
        };
        let from = if are_exact[0] { from } else { settle(from, start_cells, goal_cells) };
        let to = if are_exact[1] { to } else { settle(to, goal_cells, start_cells) };
        (from, to)
    }
}

fn check_ends(start: [f64; 2], goal: [f64; 2]) -> Result<()> {
    check_end("start", start)?;
    check_end("goal", goal)
}
