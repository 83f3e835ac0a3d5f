//! The handle: its cells, what follows from them, and point location.

use std::sync::Mutex;

use glam::DVec2;

use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::doors::FreeDoorEnd;
use crate::navigate::room::build::grid::{Containment, Grid, contains};
use crate::navigate::room::build::rings::Repair;
use crate::navigate::room::build::source::Source;
use crate::navigate::room::edit::edits::Edits;
use crate::navigate::room::search::scratch::Scratch;
use crate::navigate::shared::predicate::nearest_on_segment;

/// A polygon with holes, several polygons, or a mesh of convex cells, in which shortest paths are found.
///
/// Coordinates are f64 in the caller's units, x to the right and y up. Only the words left and right, clockwise and counter-clockwise
/// depend on that. Walls belong to the room: a path runs along them, never through them.
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
    /// The agents' radius, by which the walls were moved.
    pub(crate) radius: f64,
    /// How many vertices there are, without the copies that sectors have.
    pub(crate) vertex_count: usize,
    /// Prefix sums of the cells' areas.
    pub(crate) area_sums: Vec<f64>,
    /// A point no further from the room than this counts as in it.
    pub(crate) snap: f64,
    pub(crate) edits: Option<Box<Edits>>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) free_door_ends: Vec<FreeDoorEnd>,
    #[cfg_attr(not(feature = "serde"), allow(dead_code))]
    pub(crate) source: Source,
    pub(crate) scratches: Mutex<Vec<Scratch>>,
}

impl Room {
    /// Recomputes what follows from the cells and their links, in one pass.
    pub(crate) fn refresh(&mut self) {
        self.blocks = Blocks::find(&mut self.cells, self.squeeze);
        let mut sum = 0.0;
        self.area_sums.clear();
        for cell in 0..self.cells.len() as u32 {
            sum += 0.5 * self.cells.double_area(cell).max(0.0);
            self.area_sums.push(sum);
        }
    }

    /// What was repaired in the rings.
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

    /// The ends of [doors](crate::navigate::room::Options::doors) that are on no wall, so that agents can walk around them.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// // A door half across a room.
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let options = Options { doors: vec![[[5.0, 0.0], [5.0, 2.0]]], ..Options::default() };
    /// let mut room = Room::new(&[[0.0, 0.0], [10.0, 0.0], [10.0, 4.0], [0.0, 4.0]], &none, options)?;
    /// assert_eq!((room.free_door_ends()[0].end, room.free_door_ends()[0].distance), ([5.0, 2.0], 2.0));
    /// room.set_doors(&[(0, false)])?;
    /// assert!(room.path([1.0, 1.0], [9.0, 1.0], &PathOptions::default())?.length > 8.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn free_door_ends(&self) -> &[FreeDoorEnd] {
        &self.free_door_ends
    }

    /// The number of cells. Cells that obstacles have replaced count too; they have no corners.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// The corners of a cell, counter-clockwise, as indices of vertices. Empty for a cell that does not exist or was replaced.
    pub fn cell(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        let sides = if (cell as usize) < self.cells.len() { self.cells.sides_of(cell) } else { &[] };
        sides.iter().map(|side| self.cells.original(side.vertex))
    }

    /// The neighbours of a cell: for each corner the cell across the edge to the next corner, `None` at a wall.
    pub fn neighbours(&self, cell: u32) -> impl Iterator<Item = Option<u32>> + '_ {
        let sides = if (cell as usize) < self.cells.len() { self.cells.sides_of(cell) } else { &[] };
        sides.iter().map(|side| Some(side.neighbour).filter(|&neighbour| neighbour != NONE))
    }

    /// The vertices, in the room's frame.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = [f64; 2]> + '_ {
        self.cells.points[..self.vertex_count].iter().map(DVec2::to_array)
    }

    /// The number of islands. No path leads from one island to another.
    pub fn island_count(&self) -> usize {
        self.blocks.island_count as usize
    }

    /// The island of a cell, from 0; `None` for a cell that does not exist or was replaced.
    pub fn island(&self, cell: u32) -> Option<u32> {
        if (cell as usize) < self.cells.len() {
            Some(self.blocks.island[cell as usize]).filter(|&island| island != NONE)
        } else {
            None
        }
    }

    /// The area of the room, in its units squared.
    pub fn area(&self) -> f64 {
        self.area_sums.last().copied().unwrap_or(0.0)
    }

    /// The cells that replace a base cell.
    fn replacements(&self, cell: u32) -> &[u32] {
        let Some(edits) = &self.edits else { return &[] };
        match edits.local_mesh_of.get(cell as usize) {
            Some(&local_mesh) if local_mesh != NONE => &edits.local_meshes[local_mesh as usize].cells,
            _ => &[],
        }
    }

    /// Finds all cells that hold a point and returns true. Where none does, finds those within rounding of it and returns false.
    pub(crate) fn cells_at(&self, point: DVec2, found: &mut Vec<u32>) -> bool {
        found.clear();
        for &listed in self.grid.candidates(point) {
            let is_replaced = self.cells.count[listed as usize] == 0;
            let own = std::slice::from_ref(&listed);
            for &cell in if is_replaced { self.replacements(listed) } else { own } {
                match contains(&self.cells, cell, point) {
                    Containment::Outside => {}
                    Containment::Inside => {
                        found.clear();
                        found.push(cell);
                        return true;
                    }
                    Containment::OnEdge => {
                        // Two replaced cells of one bucket may have the same replacements.
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
        self.visit_cells_outwards(point, |cell| {
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

    /// [`Room::cells_at`] for the nearest point of a cell, which rounding may have put into other cells: `cell` is always found.
    pub(crate) fn cells_at_including(&self, point: DVec2, cell: u32, found: &mut Vec<u32>) -> bool {
        let is_exact = self.cells_at(point, found);
        if found.contains(&cell) {
            return is_exact;
        }
        found.clear();
        found.push(cell);
        false
    }

    /// A point inside a cell, as near to a point of its boundary as f64 allows.
    pub(crate) fn nudge_into(&self, cell: u32, boundary_point: DVec2) -> DVec2 {
        let corners = self.cells.sides_of(cell).iter().map(|side| side.point);
        let centroid = corners.sum::<DVec2>() / self.cells.count[cell as usize].max(1) as f64;
        let mut fraction = f64::EPSILON;
        while fraction < 1.0 {
            let point = boundary_point + (centroid - boundary_point) * fraction;
            if contains(&self.cells, cell, point) != Containment::Outside {
                return point;
            }
            fraction *= 4.0;
        }
        // A cell of a few ulps has no f64 point inside. Its corners do belong to it.
        let corners = self.cells.sides_of(cell).iter().map(|side| side.point);
        corners
            .min_by(|a, b| a.distance(boundary_point).total_cmp(&b.distance(boundary_point)))
            .unwrap_or(boundary_point)
    }

    /// Calls `visit` with the cells near a point, nearest buckets first, until all others are further away than `visit` returned last.
    pub(crate) fn visit_cells_outwards(&self, point: DVec2, mut visit: impl FnMut(u32) -> f64) {
        let mut reach = f64::INFINITY;
        self.grid.visit_outwards(point, |listed| {
            if self.cells.count[listed as usize] > 0 {
                reach = visit(listed);
            } else {
                for &cell in self.replacements(listed) {
                    reach = visit(cell);
                }
            }
            reach
        });
    }

    /// The nearest point of the allowed cells that is within `reach`, and its cell; [`NONE`] where there is none.
    pub(crate) fn nearest(&self, point: DVec2, is_allowed: impl Fn(u32) -> bool, reach: f64) -> (u32, DVec2) {
        let mut best = (NONE, DVec2::NAN);
        let mut least = reach;
        self.visit_cells_outwards(point, |cell| {
            if is_allowed(cell) {
                if contains(&self.cells, cell, point) != Containment::Outside {
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
