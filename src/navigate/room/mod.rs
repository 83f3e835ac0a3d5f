//! Rooms in two dimensions: shortest paths between walls, by the true shortest path or by the funnel within one strip.

mod arrange;
mod blocks;
mod build;
mod cells;
mod dents;
mod edit;
mod finder;
mod funnel;
mod grid;
mod mesh_file;
mod offset;
mod patch;
mod path;
mod rings;
mod search;
mod squeeze;
mod triangulate;
mod walls;

use std::sync::Mutex;

use glam::DVec2;

use crate::navigate::predicate::nearest_on_segment;
use blocks::Blocks;
use cells::{Cells, NONE};
use edit::Edits;
use finder::Memory;
use grid::{Grid, Place, place};

pub use finder::{Finder, FunnelSteps, Method};
pub use funnel::{FunnelMove, Strip};
pub use path::{Crossing, PathEnd, Reach, RoomPath};
pub use rings::{Repair, RepairKind};
pub use walls::{RayHit, WallDistance};

/// How a room is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomOptions {
    /// Radius of the agents that walk in it, in the room's units: walls are moved into the room by it. 0 leaves them
    /// where they are. Paths keep at least this far from every wall; around a corner their rim is a chain of tangents
    /// to the circle, at most 0.09 % of the radius too far. What is left may be several islands, or nothing.
    pub radius: f64,
    /// Whether a path may pass through a single point in which walls touch. Without it nothing squeezes through; with it
    /// nothing squeezes past the end of a shut door or of another wall without thickness.
    pub squeeze: bool,
    /// Whether triangles are merged into larger convex cells: quicker to search. Without it the cells are the triangles
    /// of a constrained Delaunay triangulation.
    pub merge: bool,
    /// Whether rings that cross, repeat points or hold nothing are repaired (see [`Room::repairs`]); otherwise the first such
    /// place is an error. Rings may touch in either case.
    pub repair: bool,
}

impl Default for RoomOptions {
    /// Radius 0, nothing squeezes through, cells merged, rings repaired.
    fn default() -> Self {
        Self { radius: 0.0, squeeze: false, merge: true, repair: true }
    }
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
    cells: Cells,
    blocks: Blocks,
    grid: Grid,
    squeeze: bool,
    /// The radius that the walls were moved by.
    radius: f64,
    /// How many vertices there are, sectors' copies not counted.
    vertex_count: usize,
    /// The sums of the areas of the cells up to each.
    areas: Vec<f64>,
    snap: f64,
    edits: Option<Box<Edits>>,
    repairs: Vec<Repair>,
    finders: Mutex<Vec<Memory>>,
}
impl Room {
    /// Works out again what follows from the cells and their links, in one pass.
    fn refresh(&mut self) {
        self.blocks = Blocks::find(&mut self.cells, self.squeeze);
        let mut sum = 0.0;
        self.areas.clear();
        for cell in 0..self.cells.len() as u32 {
            sum += 0.5 * self.cells.double_area(cell).max(0.0);
            self.areas.push(sum);
        }
    }

    /// What was put right in the rings that were given.
    ///
    /// ```
    /// use hullfield::{RepairKind, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let bow_tie = Room::new(&[[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]], &none)?;
    /// assert_eq!(bow_tie.repairs()[0].kind, RepairKind::Crossing);
    /// assert_eq!(bow_tie.repairs()[0].place, [2.0, 2.0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
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

    /// All cells that hold a point, or else, and then it answers false, those that it is within rounding of.
    fn hold(&self, point: DVec2, found: &mut Vec<u32>) -> bool {
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
                        return true;
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
        if !found.is_empty() {
            return true;
        }
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
        false
    }

    /// [`Room::hold`] for a point that was found to be the nearest of a cell, though rounding may have put it into others.
    fn hold_with(&self, point: DVec2, cell: u32, found: &mut Vec<u32>) -> bool {
        let is_exact = self.hold(point, found);
        if found.contains(&cell) {
            return is_exact;
        }
        found.clear();
        found.push(cell);
        false
    }

    /// A point within a cell that is as near to a point of its rim as f64 has it.
    fn within(&self, cell: u32, rim: DVec2) -> DVec2 {
        let corners = self.cells.sides_of(cell).iter().map(|side| side.point);
        let middle = corners.sum::<DVec2>() / self.cells.count[cell as usize].max(1) as f64;
        let mut part = f64::EPSILON;
        while part < 1.0 {
            let point = rim + (middle - rim) * part;
            if place(&self.cells, cell, point) != Place::Outside {
                return point;
            }
            part *= 4.0;
        }
        // No coordinates lie within a cell of a few ulps, but its corners are its own.
        let corners = self.cells.sides_of(cell).iter().map(|side| side.point);
        corners.min_by(|a, b| a.distance(rim).total_cmp(&b.distance(rim))).unwrap_or(rim)
    }

    /// Calls `visit` with the cells near a point, outwards, until what is left is further away than it answered last.
    fn outwards(&self, point: DVec2, mut visit: impl FnMut(u32) -> f64) {
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
    fn nearest(&self, point: DVec2, wanted: impl Fn(u32) -> bool, reach: f64) -> (u32, DVec2) {
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
