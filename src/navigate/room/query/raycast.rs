//! Straight ways through a room: rays, and moves that slide along walls.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::build::check::check_end;
use crate::navigate::room::build::grid::{Place, place};
use crate::navigate::room::query::place::Point;
use crate::navigate::room::query::room::Room;
use crate::navigate::shared::predicate::{crossing, nearest_on_segment, orient};

/// Where a ray ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RayHit {
    /// The end: the point of the wall that is in the way, else the point as far away as was asked for.
    pub point: [f64; 2],
    /// The cell that holds the end.
    pub cell: u32,
    /// How far it is from the start.
    pub distance: f64,
    /// The vertices of the wall that is in the way, with the room on the left from the first to the second; none where the
    /// ray is as long as was asked for.
    pub wall: Option<[u32; 2]>,
}

/// How often a move may turn along another wall.
const MAX_SLIDES: u32 = 32;

/// A `max_distance` counts as the direction's own length where it is so but for rounding, relative to it.
const SAME_LENGTH: f64 = 4.0 * f64::EPSILON;

/// A segment that is cast from its start: on the line through `start` and `through`, up to `goal`.
#[derive(Debug, Clone, Copy)]
struct Ray {
    start: DVec2,
    /// A point of the line beyond the start. It is the goal, or a point that is further from the start and known more exactly.
    through: DVec2,
    goal: DVec2,
}

impl Ray {
    /// From a point to another.
    fn between(start: DVec2, goal: DVec2) -> Self {
        Self { start, through: goal, goal }
    }

    /// From a point in a direction, as far as `max_distance`; none where the direction has no length.
    ///
    /// The direction is scaled by a power of two for the line, which rounds no coordinate of it, and by the quotient of the
    /// lengths for the goal.
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

/// The largest power of two that is not more than a number; the least number where that is subnormal.
fn power_of_two(number: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if number < f64::MIN_POSITIVE { f64::from_bits(1) } else { f64::from_bits(number.to_bits() & EXPONENT) }
}

impl Room {
    /// How far one sees from `start` in a direction, at most as far as `max_distance`: the line of sight runs along walls, not
    /// through them, and not through a point in which walls touch. None where the start is off the room.
    ///
    /// The direction's length does not matter. The ray ends at `start + direction * (max_distance / length)`, each operation
    /// rounded once; where `max_distance` is the direction's own length, at `start + direction`. Exact predicates decide
    /// which walls the ray meets, on the line through the start and `start + direction * 2^k`: a direction along an axis, or one of
    /// whole numbers from a start of whole numbers, is met to the bit.
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
    /// [`Error::Value`] where a coordinate of the start is not finite or past 1e60, the direction is not finite or has no length, or
    /// `max_distance` is negative or not finite.
    pub fn raycast(&self, start: [f64; 2], direction: [f64; 2], max_distance: f64) -> Result<Option<RayHit>> {
        check_end("start", start)?;
        let refuse =
            |field, value, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
        if !direction.iter().all(|x| x.is_finite()) {
            return refuse("direction", shown_point(&direction), "it must be finite");
        }
        if !(max_distance >= 0.0 && max_distance.is_finite()) {
            return refuse("max_distance", shown(max_distance), "it must be 0 or more and finite");
        }
        // What is further than any wall is as far as twice the room.
        let [low, high] = self.grid.bounds();
        let farthest = 2.0 * (low.distance(high) + self.snap);
        let Some(ray) = Ray::along(start.into(), direction.into(), max_distance.min(farthest)) else {
            return refuse("direction", shown_point(&direction), "it must have a length");
        };
        let mut held = Vec::new();
        self.hold(start.into(), &mut held);
        if held.is_empty() {
            return Ok(None);
        }
        self.cast(ray, &held).map(Some)
    }

    /// Where an agent ends that moves by `displacement` and slides along walls. At a wall it slides to the point of the wall that is
    /// nearest to the goal, `start + displacement`. [`Point::distance`] is the distance left to the goal. None where the start is off
    /// the room.
    ///
    /// The agent never leaves the room. Its way is no longer than the displacement.
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
    /// [`Error::Value`] where a coordinate is not finite or past 1e60.
    pub fn move_along(&self, start: [f64; 2], displacement: [f64; 2]) -> Result<Option<Point>> {
        check_end("start", start)?;
        check_end("displacement", displacement)?;
        let mut held = Vec::new();
        let mut at = DVec2::from(start);
        let goal = at + DVec2::from(displacement);
        let mut rest = at.distance(goal);
        self.hold(at, &mut held);
        if held.is_empty() {
            return Ok(None);
        }
        for _ in 0..MAX_SLIDES {
            // Straight on, as far as the walls and the way that is left allow.
            let target = towards(at, goal, rest);
            let Some(hit) = self.step(&mut at, &mut rest, target, &mut held)? else { break };
            let Some(wall) = hit.wall else { break };
            // Then along the wall to where it is nearest to the goal.
            let [a, b] = wall.map(|v| self.cells.points[v as usize]);
            let target = towards(at, nearest_on_segment(a, b, goal), rest);
            if target.distance(at) <= self.snap || self.step(&mut at, &mut rest, target, &mut held)?.is_none()
            {
                break;
            }
        }
        let cell = held.iter().copied().min().unwrap_or(NONE);
        Ok(Some(Point { cell, position: at.to_array(), distance: at.distance(goal) }))
    }

    /// One straight piece of a move; none where nothing of the way is left after it.
    fn step(
        &self,
        at: &mut DVec2,
        rest: &mut f64,
        target: DVec2,
        held: &mut Vec<u32>,
    ) -> Result<Option<RayHit>> {
        let hit = self.cast(Ray::between(*at, target), held)?;
        let point = DVec2::from(hit.point);
        *rest -= point.distance(*at);
        *at = point;
        held.clear();
        self.hold(*at, held);
        if held.is_empty() {
            held.push(hit.cell);
        }
        Ok((*rest > 0.0).then_some(hit))
    }

    /// Follows a ray from cell to cell; its start is held by some.
    fn cast(&self, ray: Ray, held: &[u32]) -> Result<RayHit> {
        const PLACE: &str = "navigate::room::raycast::cast";
        let Ray { start, through, goal } = ray;
        let Some(&first) = held.first() else {
            return Err(Error::internal(PLACE, "no cell holds the start"));
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
        // The start may be on the edge of several cells: the ray goes on in any that it points into.
        let given = start;
        let mut start = start;
        let mut cell = NONE;
        let mut blocked = None;
        for &candidate in held {
            // From a point that is in the cell exactly, or no edge might be found through which the ray leaves it.
            start = given;
            if place(&self.cells, candidate, start) == Place::Outside {
                start = self.within(candidate, start);
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
                Some(side) if self.cells.sides[side].twin == NONE => blocked = Some((candidate, side)),
                Some(_) => {}
            }
        }
        if cell == NONE {
            // At a wall, and into it.
            let (cell, side) = blocked.unwrap_or((first, self.cells.range(first).start));
            return Ok(hit(given, cell, Some(side)));
        }
        // Each cell is met once.
        for _ in 0..=self.cells.len() {
            // Left through the edge whose ends are on either side of the ray, with the goal beyond it.
            let mut exit = None;
            let mut corner = None;
            for side in self.cells.range(cell) {
                let [a, b] = self.cells.ends(side);
                if orient(a, b, goal) >= 0.0 {
                    continue;
                }
                let (ha, hb) = (orient(start, through, a), orient(start, through, b));
                // Counter-clockwise round the cell: the ray's exit edge runs from its right to its left.
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
                // Through a corner: on in the cell around it, within this sector, that the ray points into.
                let vertex = if ha == 0.0 { side_of.vertex } else { self.cells.end_vertices(side)[1] };
                let next = self.cells.around(vertex).iter().copied().find(|&spoke| {
                    let spoke = spoke as usize;
                    if self.cells.sides[spoke].vertex != vertex || self.cells.cell_of[spoke] == cell {
                        return false;
                    }
                    let after = self.cells.ends(spoke)[1];
                    let before = self.cells.sides[self.cells.before(spoke)].point;
                    // A ray along the edge between two cells is taken by either.
                    orient(corner, after, through) >= 0.0 && orient(corner, before, through) <= 0.0
                });
                match next {
                    Some(spoke) => cell = self.cells.cell_of[spoke as usize],
                    None => return Ok(hit(corner, cell, Some(side))),
                }
            } else if side_of.twin == NONE {
                let [a, b] = self.cells.ends(side);
                // Of a ray along the wall rounding could put it anywhere on the wall: it is between the ray's ends.
                let point = crossing(a, b, ha, hb);
                let (way, part) = (goal - start, (point - start).dot(goal - start));
                let point = if part <= 0.0 {
                    nearest_on_segment(a, b, start)
                } else if part >= way.length_squared() {
                    nearest_on_segment(a, b, goal)
                } else {
                    point
                };
                // What does not change along the ray is known better than the quotient of two heights knows it.
                let is_kept = ray.start.cmpeq(ray.goal);
                return Ok(hit(DVec2::select(is_kept, ray.start, point), cell, Some(side)));
            } else {
                cell = side_of.beyond;
            }
        }
        Err(Error::internal(PLACE, "a ray met more cells than there are"))
    }
}

/// The target, or as far on the way to it as is allowed.
fn towards(from: DVec2, target: DVec2, reach: f64) -> DVec2 {
    if from.distance(target) <= reach { target } else { from + (target - from).clamp_length_max(reach) }
}
