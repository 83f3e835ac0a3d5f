//! What agents ask of the walls around them: where am I, what do I see, how near is a wall, where do I end up.

use glam::DVec2;

use crate::error::{Error, Result};
use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::build::check::check_end;
use crate::navigate::room::build::grid::{Place, place};
use crate::navigate::room::query::room::Room;
use crate::navigate::shared::predicate::{crossing, nearest_on_segment, orient};

/// Where a ray ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The end: the target where nothing is in the way, else the point of the wall.
    pub point: [f64; 2],
    /// The wall's vertices, with the room on the left from the first to the second; none where the target is seen.
    pub wall: Option<[u32; 2]>,
    /// The cell that holds the end.
    pub cell: u32,
}

/// The wall nearest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallDistance {
    /// How far it is, in the room's units.
    pub distance: f64,
    /// Its nearest point.
    pub point: [f64; 2],
    /// Its vertices, with the room on the left from the first to the second.
    pub wall: [u32; 2],
}

/// How often a move may turn along another wall.
const MAX_SLIDES: u32 = 32;

impl Room {
    /// The cell that holds a point, the least where several do; none off the room. Walls belong to the room.
    ///
    /// A point within 2⁻⁴⁰ of the room's largest coordinate of it counts as in it.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], &[[[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]])?;
    /// assert!(room.locate([0.5, 0.5])?.is_some() && room.locate([1.0, 1.0])?.is_some());
    /// assert_eq!(room.locate([1.2, 1.2])?, None); // in the hole
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn locate(&self, point: [f64; 2]) -> Result<Option<u32>> {
        check_end("point", point)?;
        let mut cells = Vec::new();
        self.hold(point.into(), &mut cells);
        Ok(cells.into_iter().min())
    }

    /// The point of the room nearest to a point, the point itself where it is in the room, and its cell.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// assert_eq!(room.nearest_point([5.0, 2.0])?.0, [4.0, 2.0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn nearest_point(&self, point: [f64; 2]) -> Result<([f64; 2], u32)> {
        check_end("point", point)?;
        let (cell, nearest) = self.nearest(point.into(), |_| true, f64::INFINITY);
        Ok((nearest.to_array(), cell))
    }

    /// How far one sees from `start` towards `goal`: the line of sight runs along walls, not through them, and not
    /// through a point in which walls touch. None where the start is off the room.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    /// let room = Room::new(&outer, &[[[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]]])?;
    /// let hit = room.raycast([1.0, 5.0], [9.0, 5.0])?.expect("the start is in the room");
    /// assert_eq!(hit.point, [4.0, 5.0]);
    /// assert!(room.raycast([1.0, 4.0], [9.0, 4.0])?.is_some_and(|hit| hit.wall.is_none()));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn raycast(&self, start: [f64; 2], goal: [f64; 2]) -> Result<Option<RayHit>> {
        check_end("start", start)?;
        check_end("goal", goal)?;
        let mut held = Vec::new();
        self.hold(start.into(), &mut held);
        Ok(self.cast(start.into(), goal.into(), &held))
    }

    /// The wall nearest to a point, on either side of it; none in a room without walls, which there is not.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// let wall = room.distance_to_wall([1.0, 2.0])?.expect("a room has walls");
    /// assert_eq!((wall.distance, wall.point), (1.0, [0.0, 2.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn distance_to_wall(&self, point: [f64; 2]) -> Result<Option<WallDistance>> {
        check_end("point", point)?;
        let from = DVec2::from(point);
        let mut best: Option<(f64, DVec2, usize)> = None;
        self.outwards(from, |cell| {
            for side in self.cells.range(cell) {
                if self.cells.sides[side].twin == NONE {
                    let [a, b] = self.cells.ends(side);
                    let nearest = nearest_on_segment(a, b, from);
                    let distance = nearest.distance(from);
                    let is_better = |&(least, _, other): &(f64, DVec2, usize)| {
                        distance < least || (distance == least && side < other)
                    };
                    if best.as_ref().is_none_or(is_better) {
                        best = Some((distance, nearest, side));
                    }
                }
            }
            best.map_or(f64::INFINITY, |best| best.0)
        });
        Ok(best.map(|(distance, nearest, side)| WallDistance {
            distance,
            point: nearest.to_array(),
            wall: self.wall(side),
        }))
    }

    /// Where an agent ends up that moves straight from `start` towards `goal` and slides along each wall in its way to where
    /// that wall is nearest to the goal. None where the start is off the room.
    ///
    /// The end is in the room, nowhere on the way was the agent outside of it, and the way was no longer than the straight
    /// one.
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// assert_eq!(room.move_along([1.0, 1.0], [3.0, -1.0])?, Some([3.0, 0.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that is not finite.
    pub fn move_along(&self, start: [f64; 2], goal: [f64; 2]) -> Result<Option<[f64; 2]>> {
        check_end("start", start)?;
        check_end("goal", goal)?;
        let mut held = Vec::new();
        let (mut at, goal) = (DVec2::from(start), DVec2::from(goal));
        let mut rest = at.distance(goal);
        self.hold(at, &mut held);
        if held.is_empty() {
            return Ok(None);
        }
        for _ in 0..MAX_SLIDES {
            // Straight on, as far as the walls and the way that is left allow.
            let aim = towards(at, goal, rest);
            let Some(hit) = self.step(&mut at, &mut rest, aim, &mut held) else { break };
            let Some(wall) = hit.wall else { break };
            // Then along the wall to where it is nearest to the goal.
            let [a, b] = wall.map(|v| self.cells.points[v as usize]);
            let aim = towards(at, nearest_on_segment(a, b, goal), rest);
            if aim.distance(at) <= self.snap || self.step(&mut at, &mut rest, aim, &mut held).is_none() {
                break;
            }
        }
        Ok(Some(at.to_array()))
    }

    /// One straight piece of a move; none where it got nowhere at all.
    fn step(&self, at: &mut DVec2, rest: &mut f64, aim: DVec2, held: &mut Vec<u32>) -> Option<RayHit> {
        let hit = self.cast(*at, aim, held)?;
        let point = DVec2::from(hit.point);
        *rest -= point.distance(*at);
        *at = point;
        held.clear();
        self.hold(*at, held);
        if held.is_empty() {
            held.push(hit.cell);
        }
        (*rest > 0.0).then_some(hit)
    }

    /// A point of the room, uniform by area, from three numbers uniform in [0, 1).
    ///
    /// ```
    /// use hullfield::navigate::room::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none)?;
    /// let [x, y] = room.random_point([0.3, 0.6, 0.9])?;
    /// assert!((0.0..=4.0).contains(&x) && (0.0..=4.0).contains(&y));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number out of [0, 1).
    pub fn random_point(&self, uniform: [f64; 3]) -> Result<[f64; 2]> {
        if let Some(value) = uniform.iter().find(|&&u| !(0.0..1.0).contains(&u)) {
            let value = value.to_string();
            return Err(Error::RoomField { field: "uniform", value, expected: "it must be in [0, 1)" });
        }
        let wanted = uniform[0] * self.area();
        let cell = self.areas.partition_point(|&sum| sum <= wanted).min(self.areas.len() - 1);
        // The triangle of the cell's fan that the rest of the area falls into.
        let sides = self.cells.sides_of(cell as u32);
        let before = if cell == 0 { 0.0 } else { self.areas[cell - 1] };
        let mut rest = 2.0 * (wanted - before);
        let mut k = 1;
        while k + 2 < sides.len() {
            let area = orient(sides[0].point, sides[k].point, sides[k + 1].point);
            if rest < area {
                break;
            }
            rest -= area;
            k += 1;
        }
        let (a, b, c) = (sides[0].point, sides[k].point, sides[k + 1].point);
        let (u, v) = (uniform[1].sqrt(), uniform[2]);
        Ok((a * (1.0 - u) + b * (u * (1.0 - v)) + c * (u * v)).to_array())
    }

    /// The vertices of a side, as they were given.
    fn wall(&self, side: usize) -> [u32; 2] {
        self.cells.end_vertices(side).map(|v| self.cells.original(v))
    }

    /// From cell to cell along a segment.
    fn cast(&self, start: DVec2, goal: DVec2, held: &[u32]) -> Option<RayHit> {
        let &first = held.first()?;
        if start == goal {
            return Some(RayHit { point: start.to_array(), wall: None, cell: first });
        }
        // The start may be on the rim of several cells: the way leads on in any that it points into.
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
            return Some(RayHit { point: given.to_array(), wall: Some(self.wall(side)), cell });
        }
        // Each cell is met once.
        for _ in 0..=self.cells.len() {
            // Left through the edge whose ends are on either side of the ray, with the goal beyond it.
            let mut exit = None;
            let mut through = None;
            for side in self.cells.range(cell) {
                let [a, b] = self.cells.ends(side);
                if orient(a, b, goal) >= 0.0 {
                    continue;
                }
                let (ha, hb) = (orient(start, goal, a), orient(start, goal, b));
                // Counter-clockwise round the cell: the ray's exit edge runs from its right to its left.
                if ha <= 0.0 && hb >= 0.0 {
                    exit = Some((side, ha, hb));
                    if ha == 0.0 {
                        through = Some(a);
                    } else if hb == 0.0 {
                        through = Some(b);
                    }
                    break;
                }
            }
            let Some((side, ha, hb)) = exit else {
                // The goal is in this cell.
                return Some(RayHit { point: goal.to_array(), wall: None, cell });
            };
            let side_of = self.cells.sides[side];
            if let Some(corner) = through {
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
                    orient(corner, after, goal) >= 0.0 && orient(corner, before, goal) <= 0.0
                });
                match next {
                    Some(spoke) => cell = self.cells.cell_of[spoke as usize],
                    None => {
                        let wall = self.wall(side);
                        return Some(RayHit { point: corner.to_array(), wall: Some(wall), cell });
                    }
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
                return Some(RayHit { point: point.to_array(), wall: Some(self.wall(side)), cell });
            } else {
                cell = side_of.beyond;
            }
        }
        Some(RayHit { point: start.to_array(), wall: None, cell: first })
    }
}

/// The target, or as far on the way to it as is allowed.
fn towards(from: DVec2, target: DVec2, reach: f64) -> DVec2 {
    if from.distance(target) <= reach { target } else { from + (target - from).clamp_length_max(reach) }
}
