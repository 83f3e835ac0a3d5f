//! Rooms: the true length of a shortest path, by a visibility graph, and seeded rooms.
//!
//! It uses exact predicates on the rings' coordinates and no triangulation. It takes O(n³), for up to a few hundred corners.

use robust::{Coord, orient2d};

use crate::random::Random;

/// A polygon with holes that do not touch: ring 0 is the outer one, counter-clockwise; the others are clockwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Rings {
    /// The rings, without a repeated closing point.
    pub rings: Vec<Vec<[f64; 2]>>,
}

fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    let coord = |p: [f64; 2]| Coord { x: p[0], y: p[1] };
    orient2d(coord(a), coord(b), coord(c))
}

fn dot(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1])
}

/// Whether `p` is on the segment from `a` to `b`, with its ends.
fn on_segment(a: [f64; 2], b: [f64; 2], p: [f64; 2]) -> bool {
    turn(a, b, p) == 0.0
        && p[0] >= a[0].min(b[0])
        && p[0] <= a[0].max(b[0])
        && p[1] >= a[1].min(b[1])
        && p[1] <= a[1].max(b[1])
}

impl Rings {
    /// Edges as (before, from, to, after).
    fn edges(&self) -> impl Iterator<Item = [[f64; 2]; 4]> + '_ {
        self.rings.iter().flat_map(|ring| {
            let n = ring.len();
            (0..n).map(move |i| [ring[(i + n - 1) % n], ring[i], ring[(i + 1) % n], ring[(i + 2) % n]])
        })
    }

    /// Whether a point is in the room, walls included.
    pub fn holds(&self, p: [f64; 2]) -> bool {
        let mut is_inside = false;
        for [_, a, b, _] in self.edges() {
            if on_segment(a, b, p) {
                return true;
            }
            if (a[1] > p[1]) != (b[1] > p[1]) {
                let height = turn(a, b, p);
                is_inside ^= if b[1] > a[1] { height > 0.0 } else { height < 0.0 };
            }
        }
        is_inside
    }

    /// Whether the segment between two points of the room stays in it. It may run along walls.
    pub fn sees(&self, p: [f64; 2], q: [f64; 2]) -> bool {
        if p == q {
            return true;
        }
        // At a corner a direction leads into the room if it is in the closed angle to the left of the two walls.
        let leads_in = |before: [f64; 2], corner: [f64; 2], after: [f64; 2], to: [f64; 2]| {
            let (from_wall, to_wall) = (turn(corner, after, to), turn(corner, before, to));
            let bend = turn(before, corner, after);
            if bend > 0.0 {
                from_wall >= 0.0 && to_wall <= 0.0
            } else if bend < 0.0 {
                from_wall >= 0.0 || to_wall <= 0.0
            } else {
                from_wall >= 0.0
            }
        };
        for [before, a, b, _] in self.edges() {
            let (ha, hb) = (turn(p, q, a), turn(p, q, b));
            let (hp, hq) = (turn(a, b, p), turn(a, b, q));
            if ha * hb < 0.0 && hp * hq < 0.0 {
                return false;
            }
            // The walls have the room on their left.
            if hp == 0.0 && on_segment(a, b, p) && p != a && p != b && hq < 0.0 {
                return false;
            }
            if hq == 0.0 && on_segment(a, b, q) && q != a && q != b && hp < 0.0 {
                return false;
            }
            if ha == 0.0 && on_segment(p, q, a) {
                let after = b;
                if (a != q && !leads_in(before, a, after, q)) || (a != p && !leads_in(before, a, after, p)) {
                    return false;
                }
            }
        }
        true
    }

    /// The length of the shortest path between two points of the room; infinite without one.
    pub fn shortest(&self, start: [f64; 2], goal: [f64; 2]) -> f64 {
        // Paths bend at reflex corners.
        let mut points = vec![start, goal];
        for [a, b, c, _] in self.edges() {
            if turn(a, b, c) < 0.0 || (turn(a, b, c) == 0.0 && dot(b, a, c) > 0.0) {
                points.push(b);
            }
        }
        let n = points.len();
        let mut length = vec![f64::INFINITY; n];
        let mut is_done = vec![false; n];
        length[0] = 0.0;
        loop {
            let open = (0..n).filter(|&i| !is_done[i] && length[i] < f64::INFINITY);
            let Some(i) = open.min_by(|&i, &j| length[i].total_cmp(&length[j])) else { break };
            if i == 1 {
                break;
            }
            is_done[i] = true;
            for j in 0..n {
                let [dx, dy] = [points[j][0] - points[i][0], points[j][1] - points[i][1]];
                let new = length[i] + dx.hypot(dy);
                if !is_done[j] && new < length[j] && self.sees(points[i], points[j]) {
                    length[j] = new;
                }
            }
        }
        length[1]
    }

    /// A seeded room: a rectangle with notches, and holes in the squares of a grid. `kind` 0 has integer coordinates and many
    /// collinear corners, 1 has any coordinates, 2 is kind 0 rotated.
    pub fn random(random: &mut Random, kind: u32) -> Self {
        let columns = 1 + random.below(4);
        let rows = 1 + random.below(4);
        let pitch = 12.0;
        let (width, height) = (columns as f64 * pitch, rows as f64 * pitch);
        let place = |random: &mut Random, low: f64, high: f64| {
            let x = random.between(low, high);
            if kind == 1 { x } else { x.round() }
        };
        // Notches reach into a margin of 3 around the holes.
        let mut outer = Vec::new();
        let sides = [
            ([-4.0, -4.0], [1.0, 0.0], [0.0, 1.0], width + 8.0),
            ([width + 4.0, -4.0], [0.0, 1.0], [-1.0, 0.0], height + 8.0),
            ([width + 4.0, height + 4.0], [-1.0, 0.0], [0.0, -1.0], width + 8.0),
            ([-4.0, height + 4.0], [0.0, -1.0], [1.0, 0.0], height + 8.0),
        ];
        for (corner, along, inwards, length) in sides {
            let at = |s: f64, t: f64| [0, 1].map(|k: usize| corner[k] + s * along[k] + t * inwards[k]);
            outer.push(corner);
            let mut s = 5.0;
            while s + 4.0 < length - 5.0 {
                if random.chance(0.5) {
                    let depth = place(random, 1.0, 4.0);
                    let (a, b) = (place(random, 0.0, 1.0), place(random, 2.0, 3.0));
                    outer.push(at(s + a, 0.0));
                    outer.push(at(s + place(random, a, b), depth));
                    if random.chance(0.5) {
                        outer.push(at(s + b, depth));
                    }
                    outer.push(at(s + b + 1.0, 0.0));
                }
                s += 5.0;
            }
        }
        outer.dedup();
        let mut rings = vec![outer];
        for column in 0..columns {
            for row in 0..rows {
                if random.chance(0.2) {
                    continue;
                }
                let centre = [(column as f64 + 0.5) * pitch, (row as f64 + 0.5) * pitch];
                let mut ring: Vec<[f64; 2]> = Vec::new();
                if random.chance(0.4) {
                    let (a, b) = (place(random, 1.0, 5.0), place(random, 1.0, 5.0));
                    ring.extend([[-a, -b], [-a, b], [a, b], [a, -b]]);
                } else {
                    // Star-shaped around the centre, clockwise.
                    let count = 3 + random.below(8);
                    for k in 0..count {
                        let angle = -std::f64::consts::TAU * (k as f64 + 0.8 * random.unit()) / count as f64;
                        let reach = random.between(1.5, 5.4);
                        let point = [reach * angle.cos(), reach * angle.sin()];
                        ring.push(if kind == 1 { point } else { point.map(f64::round) });
                    }
                    ring.dedup();
                }
                for point in &mut ring {
                    *point = [point[0] + centre[0], point[1] + centre[1]];
                }
                if is_simple(&ring) && area(&ring) < 0.0 {
                    rings.push(ring);
                }
            }
        }
        if kind == 2 {
            let (sin, cos) = random.between(0.0, 6.0).sin_cos();
            for point in rings.iter_mut().flatten() {
                let [x, y] = *point;
                *point = [cos * x - sin * y, sin * x + cos * y];
            }
        }
        Self { rings }
    }

    /// A random point of the room: inside, on a wall or at a corner.
    pub fn random_point(&self, random: &mut Random) -> [f64; 2] {
        let ring = &self.rings[random.below(self.rings.len())];
        let i = random.below(ring.len());
        let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
        match random.below(5) {
            0 => return a,
            1 => {
                let middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
                if self.holds(middle) {
                    return middle;
                }
            }
            _ => {}
        }
        let outer = &self.rings[0];
        let range = |k: usize| {
            outer.iter().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[k]), high.max(p[k])))
        };
        let (x, y) = (range(0), range(1));
        loop {
            let mut p = [random.between(x.0, x.1), random.between(y.0, y.1)];
            if random.chance(0.3) {
                p = p.map(f64::round);
            }
            if self.holds(p) {
                return p;
            }
        }
    }
}

fn area(ring: &[[f64; 2]]) -> f64 {
    (0..ring.len())
        .map(|i| {
            let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
            a[0] * b[1] - b[0] * a[1]
        })
        .sum()
}

fn is_simple(ring: &[[f64; 2]]) -> bool {
    let n = ring.len();
    n >= 3
        && (0..n).all(|i| {
            let (a, b) = (ring[i], ring[(i + 1) % n]);
            a != b
                && (0..n).all(|j| {
                    let (c, d) = (ring[j], ring[(j + 1) % n]);
                    let is_next = (i + 1) % n == j;
                    let is_same = i == j;
                    let is_before = (j + 1) % n == i;
                    if is_same {
                        true
                    } else if is_next {
                        !on_segment(a, b, d) && !on_segment(c, d, a)
                    } else if is_before {
                        !on_segment(a, b, c) && !on_segment(c, d, b)
                    } else {
                        let crosses =
                            turn(a, b, c) * turn(a, b, d) < 0.0 && turn(c, d, a) * turn(c, d, b) < 0.0;
                        !crosses
                            && !on_segment(a, b, c)
                            && !on_segment(a, b, d)
                            && !on_segment(c, d, a)
                            && !on_segment(c, d, b)
                    }
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortest_path_goes_around_a_pillar() {
        let rings = vec![
            vec![[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]],
            vec![[4.0, 4.0], [4.0, 6.0], [6.0, 6.0], [6.0, 4.0]],
        ];
        let room = Rings { rings };
        assert!(room.sees([4.0, 0.0], [4.0, 10.0]), "along a wall");
        assert!(!room.sees([3.0, 5.0], [7.0, 5.0]));
        assert!(!room.sees([4.0, 4.0], [6.0, 6.0]), "through the corners");
        assert!(!room.holds([5.0, 5.0]) && room.holds([4.0, 5.0]) && !room.holds([11.0, 5.0]));
        let length = room.shortest([1.0, 5.0], [9.0, 5.0]);
        assert!((length - (2.0 * 10f64.sqrt() + 2.0)).abs() < 1e-12);
    }
}
