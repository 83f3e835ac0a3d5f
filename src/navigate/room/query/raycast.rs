//! Straight lines through a room: rays, and moves that slide along walls.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::build::check::check_query_point;
use crate::navigate::room::build::grid::{Containment, contains};
use crate::navigate::room::query::place::Point;
use crate::navigate::room::query::room::Room;
use crate::navigate::shared::predicate::{crossing, nearest_on_segment, orient};

/// Where a ray ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RayHit {
    /// The end: the point where the ray meets a wall, or else its point at `max_distance`.
    pub point: [f64; 2],
    /// The cell that holds the end.
    pub cell: u32,
    /// How far the end is from the start, in the room's units.
    pub distance: f64,
    /// The two vertices of the wall that the ray meets. From the first to the second, the room lies on the left. `None` where the ray
    /// meets no wall.
    pub wall: Option<[u32; 2]>,
}

/// How many walls a move may slide along.
const MAX_SLIDES: u32 = 32;

/// Relative: a `max_distance` that differs from the direction's own length by no more counts as that length.
const SAME_LENGTH: f64 = 4.0 * f64::EPSILON;

/// A segment from `start` to `goal` on the line through `start` and `through`.
#[derive(Debug, Clone, Copy)]
struct Ray {
    start: DVec2,
    /// A point of the line ahead of the start: the goal, or a point further away whose coordinates are rounded less.
    through: DVec2,
    goal: DVec2,
}

impl Ray {
    /// From a point to another.
    fn between(start: DVec2, goal: DVec2) -> Self {
        Self { start, through: goal, goal }
    }

    /// From a point in a direction, as far as `max_distance`; `None` for a direction without length.
    ///
    /// The line scales the direction by a power of two, which rounds none of its coordinates. The goal scales it by the quotient of the
    /// lengths.
    fn along(start: DVec2, direction: DVec2, max_distance: f64) -> Option<Self> {
        let unit = power_of_two(direction.abs().max_element());
        let direction = direction / unit;
        let length = direction.length();
        if !(length > 0.0) {
            return None;
        }
        let is_same = (max_distance - length * unit).abs() <= SAME_LENGTH * max_distance;
        let parts = if is_same { unit } else { max_distance / length };
        let goal = start + direction * parts;
        let through = if is_same { goal } else { start + direction * (2.0 * power_of_two(parts)) };
        Some(Self { start, through, goal })
    }
}

/// The largest power of two that is at most `number`; the smallest positive f64 for a subnormal one.
fn power_of_two(number: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if number < f64::MIN_POSITIVE { f64::from_bits(1) } else { f64::from_bits(number.to_bits() & EXPONENT) }
}

impl Room {
    /// Casts a ray from `start` and returns where it meets a wall, or its point at `max_distance`. A ray may run along a wall. It does not
    /// pass through a wall, nor through a point in which walls touch. `None` where the start is off the room.
    ///
    /// The direction's length does not matter. A ray that meets no wall ends at `start + direction * (max_distance / length)`, each
    /// operation rounded once; where `max_distance` is the direction's own length, it ends at `start + direction`.
    ///
    /// Exact predicates on the line through `start` and `start + direction * 2^k` decide which walls the ray meets. That line is exact for
    /// a direction along an axis, and for integer starts and directions.
    ///
    /// Cost: O(1) for each cell that the ray crosses.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    /// let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
    /// let room = Room::new(&outer, &[pillar], Options::default())?;
    /// let hit = room.raycast([1.0, 5.0], [1.0, 0.0], 8.0)?.expect("the start is in the room");
    /// assert_eq!((hit.point, hit.distance), ([4.0, 5.0], 3.0));
    /// let hit = room.raycast([1.0, 4.0], [1.0, 0.0], 8.0)?.expect("the start is in the room");
    /// assert_eq!((hit.point, hit.wall), ([9.0, 4.0], None)); // along the wall
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a start that is not finite or larger than 1e60, a direction that is not finite or has no length, and a
    /// `max_distance` that is negative or not finite.
    pub fn raycast(&self, start: [f64; 2], direction: [f64; 2], max_distance: f64) -> Result<Option<RayHit>> {
        check_query_point("start", start)?;
        let refuse =
            |field, value, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
        if !direction.iter().all(|x| x.is_finite()) {
            return refuse("direction", shown_point(&direction), "it must be finite");
        }
        if !(max_distance >= 0.0 && max_distance.is_finite()) {
            return refuse("max_distance", shown(max_distance), "it must be 0 or more and finite");
        }
        // Twice the room's diagonal is further away than any wall.
        let [low, high] = self.grid.bounds();
        let farthest = 2.0 * (low.distance(high) + self.snap);
        let Some(ray) = Ray::along(start.into(), direction.into(), max_distance.min(farthest)) else {
            return refuse("direction", shown_point(&direction), "it must have a length");
        };
        let mut cells = Vec::new();
        self.cells_at(start.into(), &mut cells);
        if cells.is_empty() {
            return Ok(None);
        }
        self.cast(ray, &cells).map(Some)
    }

    /// Moves an agent by `displacement`; it slides along the walls that it meets. At a wall it slides to the point of the wall that is
    /// nearest to the goal, `start + displacement`. [`Point::distance`] is the distance left to the goal. `None` where the start is off
    /// the room.
    ///
    /// The agent never leaves the room. It moves no further than the displacement is long, and slides along at most 32 walls.
    ///
    /// Cost: O(1) for each cell that it crosses.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let moved = room.move_along([1.0, 1.0], [2.0, -2.0])?.expect("the start is in the room");
    /// assert_eq!((moved.position, moved.distance), ([3.0, 0.0], 1.0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e60.
    pub fn move_along(&self, start: [f64; 2], displacement: [f64; 2]) -> Result<Option<Point>> {
        check_query_point("start", start)?;
        check_query_point("displacement", displacement)?;
        let mut cells = Vec::new();
        let mut at = DVec2::from(start);
        let goal = at + DVec2::from(displacement);
        let mut remaining = at.distance(goal);
        self.cells_at(at, &mut cells);
        if cells.is_empty() {
            return Ok(None);
        }
        for _ in 0..MAX_SLIDES {
            // Straight on, as far as the walls and the remaining length allow.
            let target = towards(at, goal, remaining);
            let Some(hit) = self.step(&mut at, &mut remaining, target, &mut cells)? else { break };
            let Some(wall) = hit.wall else { break };
            // Then along the wall to where it is nearest to the goal.
            let [a, b] = wall.map(|v| self.cells.points[v as usize]);
            let target = towards(at, nearest_on_segment(a, b, goal), remaining);
            if target.distance(at) <= self.snap
                || self.step(&mut at, &mut remaining, target, &mut cells)?.is_none()
            {
                break;
            }
        }
        let cell = cells.iter().copied().min().unwrap_or(NONE);
        Ok(Some(Point { cell, position: at.to_array(), distance: at.distance(goal) }))
    }

    /// Moves along one straight piece; `None` where no length remains after it.
    fn step(
        &self,
        at: &mut DVec2,
        remaining: &mut f64,
        target: DVec2,
        cells: &mut Vec<u32>,
    ) -> Result<Option<RayHit>> {
        let hit = self.cast(Ray::between(*at, target), cells)?;
        let point = DVec2::from(hit.point);
        *remaining -= point.distance(*at);
        *at = point;
        cells.clear();
        self.cells_at(*at, cells);
        if cells.is_empty() {
            cells.push(hit.cell);
        }
        Ok((*remaining > 0.0).then_some(hit))
    }

    /// Follows a ray from cell to cell; `cells` hold its start.
    fn cast(&self, ray: Ray, cells: &[u32]) -> Result<RayHit> {
        const PLACE: &str = "navigate::room::raycast::cast";
        let Ray { start, through, goal } = ray;
        let Some(&first) = cells.first() else {
            return Err(Error::internal(PLACE, "no cell holds the start of the ray"));
        };
        let hit = |point: DVec2, cell: u32, wall: Option<usize>| RayHit {
            point: point.to_array(),
            cell,
            distance: ray.start.distance(point),
            wall: wall.map(|side| self.wall(side)),
        };
        if start == goal {
            return Ok(hit(start, first, None));
        }
        // The start may lie on the edge of several cells. The ray goes on in any cell that it points into.
        let given = start;
        let mut start = start;
        let mut cell = NONE;
        let mut wall_ahead = None;
        for &candidate in cells {
            // The start must lie in the cell exactly, or the ray might find no edge to leave it by.
            start = given;
            if contains(&self.cells, candidate, start) == Containment::Outside {
                start = self.nudge_into(candidate, start);
            }
            let out = self.cells.range(candidate).find(|&side| {
                let [a, b] = self.cells.ends(side);
                orient(a, b, start) <= 0.0 && orient(a, b, goal) < 0.0
            });
            match out {
                None => {
                    cell = candidate;
                    break;
                }
                Some(side) if self.cells.sides[side].twin == NONE => wall_ahead = Some((candidate, side)),
                Some(_) => {}
            }
        }
        if cell == NONE {
            // The start is at a wall and the ray points into the wall.
            let (cell, side) = wall_ahead.unwrap_or((first, self.cells.range(first).start));
            return Ok(hit(given, cell, Some(side)));
        }
        // A line crosses each convex cell once.
        for _ in 0..=self.cells.len() {
            // The ray leaves the cell by the edge whose ends lie on different sides of it, with the goal beyond the edge.
            let mut exit = None;
            let mut corner = None;
            for side in self.cells.range(cell) {
                let [a, b] = self.cells.ends(side);
                if orient(a, b, goal) >= 0.0 {
                    continue;
                }
                let (ha, hb) = (orient(start, through, a), orient(start, through, b));
                // Counter-clockwise around the cell, the exit edge runs from the ray's right to its left.
                if ha <= 0.0 && hb >= 0.0 {
                    exit = Some((side, ha, hb));
                    if ha == 0.0 {
                        corner = Some(a);
                    } else if hb == 0.0 {
                        corner = Some(b);
                    }
                    break;
                }
            }
            let Some((side, ha, hb)) = exit else {
                // The goal is in this cell.
                return Ok(hit(goal, cell, None));
            };
            let side_of = self.cells.sides[side];
            if let Some(corner) = corner {
                // Through a corner: the ray goes on in the cell of the same sector that it points into.
                let vertex = if ha == 0.0 { side_of.vertex } else { self.cells.end_vertices(side)[1] };
                let next = self.cells.around(vertex).iter().copied().find(|&outgoing| {
                    let outgoing = outgoing as usize;
                    if self.cells.sides[outgoing].vertex != vertex || self.cells.cell_of[outgoing] == cell {
                        return false;
                    }
                    let after = self.cells.ends(outgoing)[1];
                    let before = self.cells.sides[self.cells.before(outgoing)].point;
                    // A ray along the edge between two cells may go on in either.
                    orient(corner, after, through) >= 0.0 && orient(corner, before, through) <= 0.0
                });
                match next {
                    Some(outgoing) => cell = self.cells.cell_of[outgoing as usize],
                    None => return Ok(hit(corner, cell, Some(side))),
                }
            } else if side_of.twin == NONE {
                let [a, b] = self.cells.ends(side);
                // For a ray along the wall, rounding could put the point anywhere on the wall. Clamp it between the ray's ends.
                let point = crossing(a, b, ha, hb);
                let (displacement, along) = (goal - start, (point - start).dot(goal - start));
                let point = if along <= 0.0 {
                    nearest_on_segment(a, b, start)
                } else if along >= displacement.length_squared() {
                    nearest_on_segment(a, b, goal)
                } else {
                    point
                };
                // A coordinate that does not change along the ray is exact; the quotient of two heights is not.
                let is_kept = ray.start.cmpeq(ray.goal);
                return Ok(hit(DVec2::select(is_kept, ray.start, point), cell, Some(side)));
            } else {
                cell = side_of.neighbour;
            }
        }
        Err(Error::internal(PLACE, "a ray crossed more cells than there are"))
    }
}

/// The target, or the point `reach` away on the line to it.
fn towards(from: DVec2, target: DVec2, reach: f64) -> DVec2 {
    if from.distance(target) <= reach { target } else { from + (target - from).clamp_length_max(reach) }
}
