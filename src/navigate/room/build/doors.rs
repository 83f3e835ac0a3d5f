//! Doors of rings: each must cross the floor from one wall to another.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::arrangement::{Arrangement, FIRST_DOOR_LAYER};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::grid::{Containment, Grid, contains};
use crate::navigate::shared::predicate::{nearest_on_segment, orient};

/// An end of a door that is nearer to a wall than this share of the door's length, but not on it, is taken for a mistake.
const NEAR_MISS: f64 = 0.01;

/// By how many tolerances a door is lengthened beyond a wall on which its end lies but for rounding.
const STUB: f64 = 4.0;

/// An end of a door that is on no wall: agents can walk around it while the door is shut.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FreeDoorEnd {
    /// The number of the door.
    pub door: u32,
    /// The end, in the room's frame.
    pub end: [f64; 2],
    /// How far it is from the nearest wall, in the room's units.
    pub distance: f64,
}

/// A piece beyond the end of a door, and the door.
pub(crate) type Stub = (u32, [DVec2; 2]);

/// The doors of a room's options.
#[derive(Debug)]
pub(crate) struct Doors<'a> {
    pub(crate) doors: &'a [[[f64; 2]; 2]],
    /// Pieces that lengthen doors whose ends lie on walls but for rounding.
    pub(crate) stubs: Vec<Stub>,
    pub(crate) free_ends: Vec<FreeDoorEnd>,
}

impl<'a> Doors<'a> {
    pub(crate) fn new(doors: &'a [[[f64; 2]; 2]]) -> Self {
        Self { doors, stubs: Vec::new(), free_ends: Vec::new() }
    }

    /// Adds the doors to an arrangement.
    pub(crate) fn add_to(&self, arrangement: &mut Arrangement) {
        let doors = (0..).zip(self.doors).map(|(door, ends)| (door, ends.map(DVec2::from)));
        for (door, ends) in doors.chain(self.stubs.iter().copied()) {
            let [from, to] = ends.map(|end| arrangement.point(end));
            arrangement.add(from, to, FIRST_DOOR_LAYER + door);
        }
    }

    /// Checks the doors against the floor that they were added to, and returns whether stubs were added. `sides` has a side and a door each.
    ///
    /// # Errors
    /// A door that lies off the floor, and a door that misses its walls.
    pub(crate) fn check(&mut self, cells: &Cells, sides: &[(u32, u32)], tolerance: f64) -> Result<bool> {
        if self.doors.is_empty() {
            return Ok(false);
        }
        let grid = Grid::new(cells);
        let mut sides = sides.to_vec();
        sides.sort_unstable();
        let mut is_on_floor = vec![false; self.doors.len()];
        for &(_, door) in &sides {
            is_on_floor[door as usize] = true;
        }
        let stub_count = self.stubs.len();
        let is_first = stub_count == 0;
        self.free_ends.clear();
        for (door, ends) in (0..).zip(self.doors) {
            let [from, to] = ends.map(DVec2::from);
            let refuse = |why: String| {
                let [from, to] = [shown_point(&ends[0]), shown_point(&ends[1])];
                Err(Error::invalid(Location::Argument, format!("door {door} from {from} to {to} {why}")))
            };
            if !is_on_floor[door as usize] {
                return refuse(
                    "crosses no floor: a door leads from one wall of the room to another".to_owned(),
                );
            }
            let mut free = Vec::new();
            for end in [from, to] {
                match self.attachment(cells, &grid, &sides, door, end, tolerance) {
                    Attachment::Fast => {}
                    Attachment::Near(stub) if is_first => self.stubs.push((door, stub)),
                    Attachment::Near(_) => {}
                    Attachment::Free(distance) => {
                        free.push(FreeDoorEnd { door, end: end.to_array(), distance });
                    }
                }
            }
            let is_miss = |end: &&FreeDoorEnd| end.distance <= NEAR_MISS * from.distance(to);
            if let Some(end) = free.iter().find(is_miss).or((free.len() == 2).then(|| &free[0])) {
                return refuse(format!(
                    "misses its walls: its end {} is {} away from the nearest one, so agents could walk around it",
                    shown_point(&end.end),
                    shown(end.distance)
                ));
            }
            self.free_ends.append(&mut free);
        }
        Ok(self.stubs.len() > stub_count)
    }

    /// How an end of a door is attached to a wall or to another door.
    fn attachment(
        &self,
        cells: &Cells,
        grid: &Grid,
        sides: &[(u32, u32)],
        door: u32,
        end: DVec2,
        tolerance: f64,
    ) -> Attachment {
        let holds = |&cell: &u32| contains(cells, cell, end) != Containment::Outside;
        if !grid.candidates(end).iter().any(holds) {
            // The door goes on beyond a wall.
            return Attachment::Fast;
        }
        let mut best = (f64::INFINITY, [DVec2::ZERO; 2]);
        grid.visit_outwards(end, |cell| {
            for side in cells.range(cell).filter(|&side| cells.sides[side].twin == NONE) {
                let [a, b] = cells.ends(side);
                let distance = nearest_on_segment(a, b, end).distance(end);
                if distance < best.0 {
                    best = (distance, [a, b]);
                }
            }
            best.0
        });
        let (distance, [a, b]) = best;
        // A wall is cut where a door ends on it exactly.
        if a == end || b == end {
            return Attachment::Fast;
        }
        if distance <= tolerance {
            let outwards = -(b - a).normalize_or_zero().perp();
            return Attachment::Near([end, end + outwards * (STUB * tolerance)]);
        }
        for other in doors_near(cells, grid, sides, end, 2.0 * tolerance).into_iter().filter(|&o| o != door) {
            let [a, b] = self.doors[other as usize].map(DVec2::from);
            let height = orient(a, b, end);
            if height == 0.0 && (end.cmpge(a.min(b)) & end.cmple(a.max(b))).all() {
                return Attachment::Fast;
            }
            if nearest_on_segment(a, b, end).distance(end) <= tolerance {
                let beyond = (b - a).normalize_or_zero().perp() * -height.signum();
                return Attachment::Near([end, end + beyond * (STUB * tolerance)]);
            }
        }
        Attachment::Free(distance)
    }
}

/// The doors of which a piece is near a point, ascending. `sides` has a side and a door each, sorted.
fn doors_near(cells: &Cells, grid: &Grid, sides: &[(u32, u32)], point: DVec2, reach: f64) -> Vec<u32> {
    let mut near = Vec::new();
    grid.visit_outwards(point, |cell| {
        let range = cells.range(cell);
        let [begin, end] =
            [range.start, range.end].map(|at| sides.partition_point(|&(side, _)| (side as usize) < at));
        for &(side, door) in &sides[begin..end] {
            let [a, b] = cells.ends(side as usize);
            if nearest_on_segment(a, b, point).distance(point) <= reach {
                near.push(door);
            }
        }
        reach
    });
    near.sort_unstable();
    near.dedup();
    near
}

/// How an end of a door is attached.
enum Attachment {
    /// It is on a wall or on another door, or beyond a wall.
    Fast,
    /// But for rounding; the piece makes up for that.
    Near([DVec2; 2]),
    /// It is on nothing, and so far from the nearest wall.
    Free(f64),
}
