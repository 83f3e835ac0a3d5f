//! A room: what is built once, and asked many times.

use std::sync::{Mutex, PoisonError};

use glam::DVec2;

use super::arrange::{Arrangement, DOORS};
use super::blocks::Blocks;
use super::cells::{Cells, NONE};
use super::edit::Edits;
use super::funnel::{FunnelMove, Strip, StripSearch};
use super::grid::{Grid, Place, place};
use super::path::{Crossing, PathEnd, Reach, RoomPath, gate};
use super::predicate::nearest_on_segment;
use super::rings::{Repair, RepairKind};
use super::search::{Floor, Search};
use super::triangulate::{Failure, triangulate};
use super::{mesh_file, offset, rings};
use crate::error::{Error, Result};

/// Cells of a mesh may be as much out of convex as rounding makes them, in units of their size squared.
const DENT: f64 = 1e-12;

/// What is nearer to the room than this, in units of its largest coordinate, counts as in it: what a caller computed
/// to be on a wall is so, whatever the rounding.
const SNAP: f64 = 1.0 / (1_u64 << 40) as f64;

/// How a room is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomOptions {
    /// Radius of the agents that walk in it, in the room's units: walls are moved into the room by it. 0 leaves them
    /// where they are. Paths keep at least this far from every wall; around a corner their rim is a chain of tangents
    /// to the circle, at most 0.09 % of the radius too far. What is left may be several islands, or nothing.
    pub radius: f64,
    /// Whether a path may pass through a single point in which walls touch. Without it nothing squeezes through.
    pub squeeze: bool,
    /// Whether triangles are merged into larger convex cells: quicker to search. Without it the cells are the triangles
    /// of a constrained Delaunay triangulation.
    pub merge: bool,
    /// Whether rings that cross or touch are repaired (see [`Room::repairs`]); otherwise the first such place is an error.
    pub repair: bool,
}

impl Default for RoomOptions {
    /// Radius 0, nothing squeezes through, cells merged, rings repaired.
    fn default() -> Self {
        Self { radius: 0.0, squeeze: false, merge: true, repair: true }
    }
}

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The true shortest path (Polyanya: Cui, Harabor, Grastien 2017).
    #[default]
    Optimal,
    /// The shortest path within one strip of cells: quick to explain, longer than [`Method::Optimal`] where the best path
    /// goes through other cells.
    Funnel(Strip),
}

/// A polygon with holes, or a mesh of convex cells, in which shortest paths are asked for.
///
/// Coordinates are f64 in the caller's units, x to the right and y up (nothing depends on handedness but the words left
/// and right). Walls belong to the room: a path runs along them, never through them.
///
/// ```
/// use hullfield::Room;
///
/// // A square with a pillar in the middle.
/// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
/// let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
/// let room = Room::new(&outer, &[&pillar])?;
///
/// let path = room.path([1.0, 5.0], [9.0, 5.0])?;
/// assert!(path.is_reached());
/// assert_eq!(path.points.len(), 4); // two bends, both at corners of the pillar
/// let detour = 2.0 * 10.0_f64.sqrt() + 2.0;
/// assert!((path.length - detour).abs() < 1e-12);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct Room {
    pub(super) cells: Cells,
    pub(super) blocks: Blocks,
    pub(super) grid: Grid,
    pub(super) squeeze: bool,
    /// How many vertices there are, sectors' copies not counted.
    pub(super) vertex_count: usize,
    /// The sums of the areas of the cells up to each.
    pub(super) areas: Vec<f64>,
    pub(super) snap: f64,
    pub(super) edits: Option<Box<Edits>>,
    repairs: Vec<Repair>,
    finders: Mutex<Vec<Memory>>,
}

/// What a finder keeps from query to query.
#[derive(Debug, Default)]
struct Memory {
    search: Search,
    strip: StripSearch,
    start_cells: Vec<u32>,
    goal_cells: Vec<u32>,
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
    pub path: RoomPath,
}

/// Cells from their corners, checked and joined.
pub(super) fn join(points: Vec<DVec2>, corners: &[u32], counts: &[u32]) -> Result<Cells> {
    let laid_out = Cells::lay_out(points, corners, counts);
    for cell in 0..laid_out.len() as u32 {
        let fault = |side: usize, message: &str| {
            let place = laid_out.sides[side].point.to_array();
            Err(Error::RoomCell { cell: cell as usize, place, message: message.into() })
        };
        let range = laid_out.range(cell);
        if laid_out.double_area(cell) <= 0.0 {
            return fault(range.start, "its corners must run counter-clockwise round some area");
        }
        if let Some(side) = laid_out.dent(cell, DENT) {
            return fault(side, "it is not convex");
        }
        // With convex corners, going round once is what is left to ask.
        let turns = range.clone().filter(|&side| {
            let [a, b] = laid_out.ends(side);
            let [_, c] = laid_out.ends(laid_out.after(side));
            (a.y < b.y || (a.y == b.y && a.x < b.x)) && !(b.y < c.y || (b.y == c.y && b.x < c.x))
        });
        if turns.count() > 1 {
            return fault(range.start, "its corners go round more than once");
        }
    }
    let Cells { points, .. } = laid_out;
    Cells::join(points, corners, counts).map_err(|[a, b]| Error::RoomCell {
        cell: b as usize,
        place: [f64::NAN; 2],
        message: format!("it has an edge in the same direction as cell {a}: they overlap"),
    })
}

impl Room {
    /// A room from its outer ring and its holes, each in either direction, closed (the first point again at the end) or not.
    ///
    /// # Errors
    /// A coordinate that is not finite or out of range; an outer ring without area; no room left. Rings that cross, touch
    /// or repeat points are repaired, and [`Room::repairs`] says where.
    pub fn new(outer: &[[f64; 2]], holes: &[impl AsRef<[[f64; 2]]>]) -> Result<Self> {
        Self::with_options(outer, holes, RoomOptions::default())
    }

    /// [`Room::new`] with options.
    ///
    /// # Errors
    /// As [`Room::new`]; a radius that is negative or not finite; without `repair`, the first place to repair.
    pub fn with_options(
        outer: &[[f64; 2]],
        holes: &[impl AsRef<[[f64; 2]]>],
        options: RoomOptions,
    ) -> Result<Self> {
        Self::with_doors(outer, holes, &[], options)
    }

    /// [`Room::with_options`] with doors, each a segment from one wall to another, called by their numbers from 0. They are
    /// open at first; [`Room::set_doors`] shuts them.
    ///
    /// # Errors
    /// As [`Room::with_options`]; a door's coordinate that can't be used.
    pub fn with_doors(
        outer: &[[f64; 2]],
        holes: &[impl AsRef<[[f64; 2]]>],
        doors: &[[[f64; 2]; 2]],
        options: RoomOptions,
    ) -> Result<Self> {
        check_radius(options.radius)?;
        for &[from, to] in doors {
            check_end("door", from)?;
            check_end("door", to)?;
        }
        let add_doors = |arrangement: &mut Arrangement| {
            for (door, ends) in doors.iter().enumerate() {
                let [from, to] = ends.map(|end| arrangement.point(end.into()));
                arrangement.add(from, to, DOORS + door as u32);
            }
        };
        let mut repairs = Vec::new();
        let mut arrangement = Arrangement::default();
        let all = std::iter::once(outer).chain(holes.iter().map(AsRef::as_ref));
        rings::add_rings(&mut arrangement, all, &mut repairs)?;
        add_doors(&mut arrangement);
        let meetings = arrangement.arrange().map_err(endless)?;
        rings::report(&meetings, &mut repairs);
        let stray = std::cell::Cell::new(None);
        let triangles = triangulate(&arrangement, |winding| {
            if let Some(ring) = rings::is_stray(winding) {
                stray.set(Some(ring));
            }
            rings::is_free(winding)
        })
        .map_err(failed)?;
        if let Some(ring) = stray.get() {
            let place = holes
                .get(ring as usize - 1)
                .and_then(|hole| hole.as_ref().first().copied())
                .unwrap_or_default();
            repairs.push(Repair { ring: ring as usize, kind: RepairKind::HoleOutside, place });
        }
        if !options.repair {
            // A touch of two corners is no fault, and what is touched is only cut.
            if let Some(repair) = repairs.iter().find(|repair| repair.kind != RepairKind::Touch) {
                return Err(Error::RoomRing {
                    ring: repair.ring,
                    place: repair.place,
                    message: format!("needs a repair: {}", repair.kind.name()),
                });
            }
        }
        if triangles.corners.is_empty() {
            return Err(Error::RoomRing {
                ring: 0,
                place: outer.first().copied().unwrap_or_default(),
                message: "no room is left: the rings hold no area".into(),
            });
        }
        let (cells, door_sides) = triangles.cells(options.merge);
        Self::finish(cells, doors.len(), door_sides, add_doors, options, repairs)
    }

    /// A room from a ready mesh of convex cells, each its corners' indices, counter-clockwise. Cells are neighbours where they
    /// share an edge.
    ///
    /// ```
    /// use hullfield::{Room, RoomOptions};
    ///
    /// let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]];
    /// let room = Room::from_cells(&points, &[[0, 1, 2, 3], [1, 4, 5, 2]], RoomOptions::default())?;
    /// assert_eq!(room.path([0.0, 0.5], [4.0, 0.5])?.length, 4.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that can't be used; a cell that is not convex, not counter-clockwise, names a vertex that does not exist,
    /// or shares an edge with two others.
    pub fn from_cells(
        points: &[[f64; 2]],
        cells: &[impl AsRef<[u32]>],
        options: RoomOptions,
    ) -> Result<Self> {
        check_radius(options.radius)?;
        let points = points
            .iter()
            .enumerate()
            .map(|(index, &point)| Ok(rings::check_point(0, index, point)? + DVec2::ZERO))
            .collect::<Result<Vec<_>>>()?;
        let mut corners = Vec::new();
        let mut counts = Vec::new();
        for (cell, own) in cells.iter().enumerate() {
            let own = own.as_ref();
            if let Some(vertex) = own.iter().find(|&&vertex| vertex as usize >= points.len()) {
                return Err(Error::RoomCell {
                    cell,
                    place: [f64::NAN; 2],
                    message: format!("vertex {vertex} does not exist, there are {}", points.len()),
                });
            }
            if own.len() < 3 {
                let message = format!("it has {} corners, it needs three", own.len());
                return Err(Error::RoomCell { cell, place: [f64::NAN; 2], message });
            }
            corners.extend_from_slice(own);
            counts.push(own.len() as u32);
        }
        Self::finish(join(points, &corners, &counts)?, 0, Vec::new(), |_| {}, options, Vec::new())
    }

    /// A room from the text of a `.mesh` file (version 2, as Polyanya's authors publish them).
    ///
    /// # Errors
    /// What [`Room::from_cells`] refuses, and text that is not such a file, with its line.
    pub fn from_mesh(text: &str, options: RoomOptions) -> Result<Self> {
        check_radius(options.radius)?;
        Self::finish(mesh_file::read(text)?, 0, Vec::new(), |_| {}, options, Vec::new())
    }

    fn finish(
        mut cells: Cells,
        door_count: usize,
        mut door_sides: Vec<(u32, u32)>,
        add_doors: impl Fn(&mut Arrangement),
        options: RoomOptions,
        repairs: Vec<Repair>,
    ) -> Result<Self> {
        let vertex_count = cells.points.len();
        cells.survey(vertex_count);
        if options.radius > 0.0 {
            let mut arrangement = Arrangement::default();
            offset::add_swept(&mut arrangement, &cells, options.radius);
            add_doors(&mut arrangement);
            arrangement.arrange().map_err(endless)?;
            let triangles = triangulate(&arrangement, offset::is_free).map_err(failed)?;
            (cells, door_sides) = triangles.cells(options.merge);
            if cells.len() == 0 {
                return Err(Error::RoomField {
                    field: "radius",
                    value: options.radius.to_string(),
                    expected: "an agent of that size has no room left",
                });
            }
            let vertex_count = cells.points.len();
            cells.survey(vertex_count);
        }
        if cells.len() == 0 {
            let message = "the mesh has no cells".into();
            return Err(Error::RoomCell { cell: 0, place: [f64::NAN; 2], message });
        }
        let vertex_count = cells.points.len() - cells.copy_of.len();
        let grid = Grid::new(&cells);
        let [low, high] = grid.bounds();
        let mut room = Self {
            cells,
            blocks: Blocks::default(),
            grid,
            squeeze: options.squeeze,
            vertex_count,
            areas: Vec::new(),
            snap: SNAP * low.abs().max(high.abs()).max_element(),
            edits: None,
            repairs,
            finders: Mutex::default(),
        };
        room.refresh();
        room.set_up_doors(door_count, &door_sides);
        Ok(room)
    }

    /// Works out again what follows from the cells and their links, in one pass.
    pub(super) fn refresh(&mut self) {
        self.blocks = Blocks::find(&mut self.cells, self.squeeze);
        let mut sum = 0.0;
        self.areas.clear();
        for cell in 0..self.cells.len() as u32 {
            sum += 0.5 * self.cells.double_area(cell).max(0.0);
            self.areas.push(sum);
        }
    }

    /// What was put right in the rings that were given.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// The corners of a cell, counter-clockwise, as indices of vertices; none where there is no such cell.
    pub fn cell(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        let sides = if (cell as usize) < self.cells.len() { self.cells.sides_of(cell) } else { &[] };
        sides.iter().map(|side| self.cells.original(side.vertex))
    }

    /// The neighbours of a cell across the edge from each corner to the next; none at a wall.
    pub fn neighbours(&self, cell: u32) -> impl Iterator<Item = Option<u32>> + '_ {
        let sides = if (cell as usize) < self.cells.len() { self.cells.sides_of(cell) } else { &[] };
        sides.iter().map(|side| Some(side.beyond).filter(|&beyond| beyond != NONE))
    }

    /// The vertices.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = [f64; 2]> + '_ {
        self.cells.points[..self.vertex_count].iter().map(DVec2::to_array)
    }

    /// How many islands there are: parts between which there is no way.
    pub fn island_count(&self) -> usize {
        self.blocks.island_count as usize
    }

    /// The island of a cell, from 0; none where there is no such cell.
    pub fn island(&self, cell: u32) -> Option<u32> {
        if (cell as usize) < self.cells.len() {
            Some(self.blocks.island[cell as usize]).filter(|&island| island != NONE)
        } else {
            None
        }
    }

    /// The area of the room, in its units squared.
    pub fn area(&self) -> f64 {
        self.areas.last().copied().unwrap_or(0.0)
    }

    /// The shortest path between two points.
    ///
    /// # Errors
    /// A coordinate that is not finite. A point off the room and a goal that can't be reached are no errors:
    /// [`RoomPath::reach`] says so.
    pub fn path(&self, start: [f64; 2], goal: [f64; 2]) -> Result<RoomPath> {
        let mut path = RoomPath::default();
        self.finder().find(Method::Optimal, start, goal, &mut path)?;
        Ok(path)
    }

    /// A path by a method of choice.
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn path_by(&self, method: Method, start: [f64; 2], goal: [f64; 2]) -> Result<RoomPath> {
        let mut path = RoomPath::default();
        self.finder().find(method, start, goal, &mut path)?;
        Ok(path)
    }

    /// The shortest path to the goal or, where it can't be reached, to the point nearest to it that can; a start or goal off
    /// the room is first moved to the room's nearest point. The path is always reached.
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn path_to_nearest(&self, start: [f64; 2], goal: [f64; 2]) -> Result<RoomPath> {
        let mut path = RoomPath::default();
        self.finder().find_nearest(start, goal, &mut path)?;
        Ok(path)
    }

    /// A path for each query `[start, goal]`, on all cores, in their order: bit for bit what one at a time gives.
    ///
    /// ```
    /// use hullfield::{Method, Room};
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
    pub fn paths(&self, method: Method, queries: &[[[f64; 2]; 2]]) -> Result<Vec<RoomPath>> {
        let mut paths = Vec::new();
        self.paths_into(method, queries, &mut paths)?;
        Ok(paths)
    }

    /// [`Room::paths`] into the memory of earlier answers: after the first call of a kind nothing is allocated for a query.
    ///
    /// # Errors
    /// As [`Room::paths`].
    pub fn paths_into(
        &self,
        method: Method,
        queries: &[[[f64; 2]; 2]],
        paths: &mut Vec<RoomPath>,
    ) -> Result<()> {
        paths.resize_with(queries.len(), RoomPath::default);
        let answer = |finder: &mut Finder<'_>, query: usize, path: &mut RoomPath| {
            let [start, goal] = queries[query];
            finder
                .find(method, start, goal, path)
                .map_err(|cause| Error::RoomQuery { query, cause: Box::new(cause) })
        };
        #[cfg(feature = "threads")]
        {
            use rayon::prelude::*;
            /// Queries to a piece: enough that taking a finder for them is nothing.
            const PIECE: usize = 16;
            let failed = paths
                .par_chunks_mut(PIECE)
                .enumerate()
                .filter_map(|(piece, paths)| {
                    let mut finder = self.finder();
                    paths.iter_mut().enumerate().find_map(|(i, path)| {
                        Some((piece, answer(&mut finder, PIECE * piece + i, path).err()?))
                    })
                })
                .min_by_key(|failed| failed.0);
            failed.map_or(Ok(()), |failed| Err(failed.1))
        }
        #[cfg(not(feature = "threads"))]
        {
            let mut finder = self.finder();
            paths.iter_mut().enumerate().try_for_each(|(query, path)| answer(&mut finder, query, path))
        }
    }

    /// Something that answers one query after another in memory of its own, which goes back to the room in the end.
    pub fn finder(&self) -> Finder<'_> {
        let memory = self.finders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Finder { room: self, memory: memory.unwrap_or_default() }
    }

    /// The funnel method's way to an answer, step by step.
    ///
    /// # Errors
    /// As [`Room::path`].
    pub fn funnel_steps(&self, strip: Strip, start: [f64; 2], goal: [f64; 2]) -> Result<FunnelSteps> {
        let mut steps = FunnelSteps::default();
        let mut path = RoomPath::default();
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

    /// All cells that hold a point, or else the one that it is within rounding of.
    pub(super) fn hold(&self, point: DVec2, found: &mut Vec<u32>) {
        found.clear();
        for &listed in self.grid.candidates(point) {
            let is_replaced = self.cells.count[listed as usize] == 0;
            let own = std::slice::from_ref(&listed);
            for &cell in if is_replaced { self.stand_ins(listed) } else { own } {
                match place(&self.cells, cell, point) {
                    Place::Outside => {}
                    Place::Inside => {
                        found.clear();
                        found.push(cell);
                        return;
                    }
                    Place::OnEdge => {
                        // Two replaced cells of one bucket have the same stand-ins.
                        if !(is_replaced && found.contains(&cell)) {
                            found.push(cell);
                        }
                    }
                }
            }
        }
        if found.is_empty() {
            self.outwards(point, |cell| {
                let is_near = |side| {
                    let [a, b] = self.cells.ends(side);
                    nearest_on_segment(a, b, point).distance(point) <= self.snap
                };
                if !found.contains(&cell) && self.cells.range(cell).any(is_near) {
                    found.push(cell);
                }
                self.snap
            });
        }
    }

    /// Calls `visit` with the cells near a point, outwards, until what is left is further away than it answered last.
    pub(super) fn outwards(&self, point: DVec2, mut visit: impl FnMut(u32) -> f64) {
        let mut reach = f64::INFINITY;
        self.grid.outwards(point, |listed| {
            if self.cells.count[listed as usize] > 0 {
                reach = visit(listed);
            } else {
                for &cell in self.stand_ins(listed) {
                    reach = visit(cell);
                }
            }
            reach
        });
    }

    /// The nearest point of the cells that `wanted` allows, and its cell; within `reach`.
    pub(super) fn nearest(&self, point: DVec2, wanted: impl Fn(u32) -> bool, reach: f64) -> (u32, DVec2) {
        let mut best = (NONE, DVec2::NAN);
        let mut least = reach;
        self.outwards(point, |cell| {
            if wanted(cell) {
                if place(&self.cells, cell, point) != Place::Outside {
                    if least > 0.0 || best.0 == NONE {
                        best = (cell, point);
                        least = 0.0;
                    }
                } else {
                    for side in self.cells.range(cell) {
                        let [a, b] = self.cells.ends(side);
                        let nearest = nearest_on_segment(a, b, point);
                        let distance = nearest.distance(point);
                        if distance < least || (distance == least && best.0 == NONE) {
                            least = distance;
                            best = (cell, nearest);
                        }
                    }
                }
            }
            least
        });
        best
    }
}

/// Answers queries one after another; made by [`Room::finder`].
///
/// After the first few queries nothing is allocated.
///
/// ```
/// use hullfield::{Method, Room, RoomPath};
///
/// let none: [[[f64; 2]; 0]; 0] = [];
/// let room = Room::new(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]], &none)?;
/// let mut finder = room.finder();
/// let mut path = RoomPath::default();
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
    pub fn find(
        &mut self,
        method: Method,
        start: [f64; 2],
        goal: [f64; 2],
        path: &mut RoomPath,
    ) -> Result<()> {
        path.clear();
        check_ends(start, goal)?;
        let room = self.room;
        let (from, to) = (DVec2::from(start), DVec2::from(goal));
        room.hold(from, &mut self.memory.start_cells);
        room.hold(to, &mut self.memory.goal_cells);
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
    pub fn find_nearest(&mut self, start: [f64; 2], goal: [f64; 2], path: &mut RoomPath) -> Result<()> {
        path.clear();
        check_ends(start, goal)?;
        let room = self.room;
        let (mut from, mut to) = (DVec2::from(start), DVec2::from(goal));
        room.hold(from, &mut self.memory.start_cells);
        if self.memory.start_cells.is_empty() {
            let (cell, nearest) = room.nearest(from, |_| true, f64::INFINITY);
            self.memory.start_cells.push(cell);
            from = nearest;
        }
        room.hold(to, &mut self.memory.goal_cells);
        let islands = &room.blocks.island;
        let start_cells = &self.memory.start_cells;
        let is_reachable =
            |cell: u32| start_cells.iter().any(|&own| islands[own as usize] == islands[cell as usize]);
        if !self.memory.goal_cells.iter().any(|&cell| is_reachable(cell)) {
            let (cell, nearest) = room.nearest(to, is_reachable, f64::INFINITY);
            self.memory.goal_cells.clear();
            self.memory.goal_cells.push(cell);
            to = nearest;
        }
        if !self.search(Method::Optimal, from, to, path) {
            path.reach = Reach::Unreachable { nearest: from.to_array() };
        }
        Ok(())
    }

    fn search(&mut self, method: Method, from: DVec2, to: DVec2, path: &mut RoomPath) -> bool {
        let Memory { search, strip, start_cells, goal_cells } = &mut self.memory;
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
        path.string(cells, from, to);
        true
    }
}

fn check_ends(start: [f64; 2], goal: [f64; 2]) -> Result<()> {
    check_end("start", start)?;
    check_end("goal", goal)
}

/// A point that is asked about may be anywhere, but somewhere.
pub(super) fn check_end(field: &'static str, point: [f64; 2]) -> Result<()> {
    if !point.iter().all(|x| x.is_finite() && x.abs() <= super::predicate::MAX_COORDINATE) {
        let value = format!("({}, {})", point[0], point[1]);
        return Err(Error::RoomField { field, value, expected: "it must be finite and at most 1e60" });
    }
    Ok(())
}

fn check_radius(radius: f64) -> Result<()> {
    if !(0.0..f64::INFINITY).contains(&radius) {
        return Err(Error::RoomField {
            field: "radius",
            value: radius.to_string(),
            expected: "it must be finite and at least 0",
        });
    }
    Ok(())
}

pub(super) fn endless(place: DVec2) -> Error {
    let message = "its crossings are too dense for f64: they can't be cut apart".into();
    Error::RoomRing { ring: 0, place: place.to_array(), message }
}

pub(super) fn failed(failure: Failure) -> Error {
    let (place, message) = match failure {
        Failure::Crossing(place) => (place.to_array(), "two edges cross that could not be cut"),
        Failure::Refused => ([f64::NAN; 2], "the triangulation refused its points"),
    };
    Error::RoomRing { ring: 0, place, message: message.into() }
}
