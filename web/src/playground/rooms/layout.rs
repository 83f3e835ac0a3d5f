//! The rooms of the tab: a polygon with pillars and walls in it. Units are metres, x to the right, y up.

use crate::playground::seed::Random;

/// Width and height of the rectangle that holds every room.
pub(super) const SIZE: [f64; 2] = [100.0, 70.0];
/// The radius of the obstacle.
pub(super) const OBSTACLE_RADIUS: f64 = 5.0;
/// Where the wall with doors is, how wide each of its doors is, and how far it goes up.
const DIVIDER: f64 = 36.0;
const DOOR_WIDTH: f64 = 5.0;
/// How thick the wall with doors is.
const THICKNESS: f64 = 1.2;
/// Parts that each side of the outer ring is bent into.
const PARTS: usize = 5;

/// The rings of a room.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) outer: Vec<[f64; 2]>,
    /// Pillars and walls.
    pub(super) holes: Vec<Vec<[f64; 2]>>,
    /// The doors of the wall across the room, from below: segments between walls.
    pub(super) doors: Vec<[[f64; 2]; 2]>,
}

impl Layout {
    /// The room of a seed, with at most this many pillars and walls: as many as there is space for. From three on two of them are a wall across the
    /// room, with three doors.
    pub(super) fn new(seed: u64, count: usize) -> Self {
        let mut random = Random::new(seed);
        let outer = outer(&mut random);
        let largest = (30.0 / (count.max(1) as f64).sqrt()).clamp(1.2, 6.0);
        let (mut holes, doors) = if count > 2 { divider(&outer) } else { Default::default() };
        let mut taken: Vec<([f64; 2], f64)> = Vec::new();
        for _ in 0..30 * count {
            if holes.len() == count {
                break;
            }
            let is_wall = random.below(4) == 0;
            let radius = random.between(0.5, 1.0) * largest * if is_wall { 1.8 } else { 1.0 };
            let at = [0, 1].map(|axis| random.between(9.0 + radius, SIZE[axis] - 9.0 - radius));
            let is_free = |(other, far): &([f64; 2], f64)| {
                (at[0] - other[0]).hypot(at[1] - other[1]) > radius + far + 1.5
            };
            let is_at_doors = !doors.is_empty() && (at[0] - DIVIDER).abs() < radius + 2.0;
            if is_at_doors || !taken.iter().all(is_free) {
                continue;
            }
            taken.push((at, radius));
            let turn = random.between(0.0, std::f64::consts::TAU);
            holes.push(if is_wall {
                wall(at, radius, turn)
            } else {
                polygon(at, radius, turn, 3 + random.below(6))
            });
        }
        Self { outer, holes, doors }
    }
}

/// Where a vertical line crosses a ring, lowest first.
fn crossings(ring: &[[f64; 2]], x: f64) -> Vec<f64> {
    let next = ring.iter().cycle().skip(1);
    let sides = ring.iter().zip(next).filter(|(a, b)| (a[0] <= x) != (b[0] <= x));
    let mut all: Vec<f64> = sides.map(|(a, b)| a[1] + (b[1] - a[1]) * ((x - a[0]) / (b[0] - a[0]))).collect();
    all.sort_by(f64::total_cmp);
    all
}

type Divider = (Vec<Vec<[f64; 2]>>, Vec<[[f64; 2]; 2]>);

/// A wall across the room in two pieces, and the doors below, between and above them.
fn divider(outer: &[[f64; 2]]) -> Divider {
    let ys = crossings(outer, DIVIDER);
    let (Some(&low), Some(&high)) = (ys.first(), ys.last()) else { return Divider::default() };
    let length = (high - low - 3.0 * DOOR_WIDTH) / 2.0;
    let pieces = [0.0, 1.0].map(|piece| {
        let from = low + DOOR_WIDTH + piece * (length + DOOR_WIDTH);
        [from, from + length]
    });
    let [left, right] = [-0.5, 0.5].map(|side| DIVIDER + side * THICKNESS);
    let holes = pieces.map(|[from, to]| vec![[left, from], [right, from], [right, to], [left, to]]);
    let ends = [[low, pieces[0][0]], [pieces[0][1], pieces[1][0]], [pieces[1][1], high]];
    (holes.to_vec(), ends.map(|ends| ends.map(|y| [DIVIDER, y])).to_vec())
}

/// A rectangle whose sides are bent inwards.
fn outer(random: &mut Random) -> Vec<[f64; 2]> {
    let [width, height] = SIZE;
    let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
    let mut ring = Vec::new();
    for side in 0..4 {
        let (from, to): ([f64; 2], [f64; 2]) = (corners[side], corners[(side + 1) % 4]);
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        let inward = [-(to[1] - from[1]) / length, (to[0] - from[0]) / length];
        for part in 0..PARTS {
            let share = part as f64 / PARTS as f64;
            // The corners move along the diagonal.
            let depth = random.between(0.0, 7.0);
            let along = if part == 0 { depth / length } else { share };
            ring.push([0, 1].map(|axis| from[axis] + along * (to[axis] - from[axis]) + depth * inward[axis]));
        }
    }
    ring
}

/// A regular polygon.
pub(super) fn polygon(at: [f64; 2], radius: f64, turn: f64, corner_count: usize) -> Vec<[f64; 2]> {
    let corner = |index: usize| {
        let (sin, cos) = (turn + index as f64 / corner_count as f64 * std::f64::consts::TAU).sin_cos();
        [at[0] + radius * cos, at[1] + radius * sin]
    };
    (0..corner_count).map(corner).collect()
}

/// A wall about a point: a thin rectangle.
fn wall(at: [f64; 2], radius: f64, turn: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = turn.sin_cos();
    let half = (0.15 * radius).min(0.7);
    let corner = |x: f64, y: f64| [at[0] + x * cos - y * sin, at[1] + x * sin + y * cos];
    vec![corner(-radius, -half), corner(radius, -half), corner(radius, half), corner(-radius, half)]
}

/// The ring of the obstacle about a point.
pub(super) fn obstacle(at: [f64; 2]) -> Vec<[f64; 2]> {
    polygon(at, OBSTACLE_RADIUS, 0.3, 6)
}

#[cfg(test)]
mod tests {
    use hullfield::navigate::room::{Options, Room};

    use super::*;

    #[test]
    fn rooms_follow_their_seed_and_need_no_repair() {
        for (seed, count) in [(1, 0), (1, 24), (2, 24), (3, 120), (4, 300)] {
            let layout = Layout::new(seed, count);
            assert_eq!(layout, Layout::new(seed, count));
            assert!(layout.holes.len() * 2 >= count, "{} of {count}", layout.holes.len());
            let doors = layout.doors.clone();
            let options = Options { repair: false, doors, ..Options::default() };
            let mut room = Room::new(&layout.outer, &layout.holes, options).unwrap();
            assert_eq!((room.island_count(), room.door_count()), (1, if count > 2 { 3 } else { 0 }));
            if count > 2 {
                room.set_doors(&[(0, false), (1, false)]).unwrap();
                assert_eq!(room.island_count(), 1);
                room.set_doors(&[(2, false)]).unwrap();
                assert_eq!(room.island_count(), 2);
                room.set_doors(&[(0, true), (1, true), (2, true)]).unwrap();
            }
            assert!(room.area() > 0.4 * SIZE[0] * SIZE[1]);
        }
        assert_ne!(Layout::new(1, 24), Layout::new(2, 24));
    }
}
