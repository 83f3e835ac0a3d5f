//! A room as it stands: its cells, and what follows from them.

use std::sync::Mutex;

use glam::DVec2;

use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::grid::{Grid, Place, place};
use crate::navigate::room::build::rings::Repair;
use crate::navigate::room::edit::changes::Edits;
use crate::navigate::room::search::scratch::Scratch;
use crate::navigate::shared::predicate::nearest_on_segment;

/// A polygon with holes, or a mesh of convex cells, in which shortest paths are asked for.
///
/// Coordinates are f64 in the caller's units, x to the right and y up (nothing depends on handedness but the words left
/// and right). Walls belong to the room: a path runs along them, never through them.
///
/// ```
/// use hullfield::navigate::room::{Options, PathOptions, Room};
///
/// // A square with a pillar in the middle.
/// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
/// let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
/// let room = Room::new(&outer, &[&pillar], Options::default())?;
///
/// let path = room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default())?;
/// assert!(path.is_reached());
/// assert_eq!(path.points.len(), 4); // two bends, both at corners of the pillar
/// let detour = 2.0 * 10.0_f64.sqrt() + 2.0;
/// assert!((path.length - detour).abs() < 1e-12);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct Room {
    pub(crate) cells: Cells,
    pub(crate) blocks: Blocks,
    pub(crate) grid: Grid,
    pub(crate) squeeze: bool,
    /// The radius that the walls were moved by.
    pub(crate) radius: f64,
    /// How many vertices there are, sectors' copies not counted.
    pub(crate) vertex_count: usize,
    /// The sums of the areas of the cells up to each.
    pub(crate) areas: Vec<f64>,
    pub(crate) snap: f64,
    pub(crate) edits: Option<Box<Edits>>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) scratches: Mutex<Vec<Scratch>>,
}

impl Room {
    /// Works out again what follows from the cells and their links, in one pass.
    pub(crate) fn refresh(&mut self) {
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
    /// use hullfield::navigate::room::{Options, RepairKind, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let bow_tie = Room::new(&[[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]], &none, Options::default())?;
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

    /// The cells that stand where a cell of the base stood.
    fn stand_ins(&self, cell: u32) -> &[u32] {
        let Some(edits) = &self.edits else { return &[] };
        match edits.patch_of.get(cell as usize) {
            Some(&patch) if patch != NONE => &edits.patches[patch as usize].cells,
            _ => &[],
        }
    }

    /// All cells that hold a point, or else, and then it answers false, those that it is within rounding of.
    pub(crate) fn hold(&self, point: DVec2, found: &mut Vec<u32>) -> bool {
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
    pub(crate) fn hold_with(&self, point: DVec2, cell: u32, found: &mut Vec<u32>) -> bool {
        let is_exact = self.hold(point, found);
        if found.contains(&cell) {
            return is_exact;
        }
        found.clear();
        found.push(cell);
        false
    }

    /// A point within a cell that is as near to a point of its rim as f64 has it.
    pub(crate) fn within(&self, cell: u32, rim: DVec2) -> DVec2 {
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
    pub(crate) fn outwards(&self, point: DVec2, mut visit: impl FnMut(u32) -> f64) {
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
    pub(crate) fn nearest(&self, point: DVec2, wanted: impl Fn(u32) -> bool, reach: f64) -> (u32, DVec2) {
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
