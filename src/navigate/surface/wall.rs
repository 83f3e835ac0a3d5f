//! How near the nearest wall is, over the surface.
//!
//! Windows as in `window.rs`, but towards no goal: what they light of a wall is a way there, the nearest window comes first, and
//! the search ends with the first that is further than a wall is known to be. So it sees no more of the surface than that.

use std::collections::HashMap;

use glam::{DVec2, DVec3};

use super::mesh::{MANY, Mesh};
use super::weld::Mixing;
use super::{Surface, check};
use crate::error::Result;
use crate::navigate::heap::Heap;

/// The wall nearest to a point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceWall {
    /// How far it is over the surface, in its units.
    pub distance: f64,
    /// Its nearest point.
    pub point: [f64; 3],
    /// The edge that it is.
    pub wall: u32,
    /// The walkable triangle at it.
    pub triangle: u32,
}

/// Of a distance: what is longer by less is not dropped.
const MARGIN: f64 = 1e-12;

/// Of an edge: what is nearer to its line lies on it.
const GRAZING: f64 = 1e-13;

/// Marks a heap's entry that is a corner.
const CORNER: u32 = 1 << 31;

/// Straight ways through an interval of a side, into its triangle.
#[derive(Debug, Clone, Copy)]
struct Window {
    entry: u32,
    from: f64,
    to: f64,
    /// Where they begin: along the side and below it, after how much way.
    source: DVec2,
    behind: f64,
}

/// A search.
struct Quest<'a, F> {
    mesh: &'a Mesh,
    is_open: F,
    heap: Heap,
    windows: Vec<Window>,
    /// How far corners are, all of one vertex alike.
    corners: HashMap<u32, f64, Mixing>,
    /// For each side the nearest way through it to the far corner, and where it crosses.
    nearest: HashMap<u32, [f64; 2], Mixing>,
    best: Option<(f64, DVec3, u32)>,
}

impl Surface {
    /// The wall nearest to a point: the nearest place where walkable triangles end, be it at a boundary of the surface or at
    /// triangles that are not walkable, and how far it is over the walkable ones. The point is first moved to the nearest
    /// walkable one. None where no wall can be reached, as on a closed surface, or the point is further from every walkable
    /// triangle than [`with_max_snap`](Self::with_max_snap) allows.
    ///
    /// The distance is that of the exact geodesic, within 1e-9, relative to it; its first piece is straight, but it may bend at
    /// vertices with more than a full turn around them. Only what is nearer than the wall is searched; but that
    /// took 0.6 s where the wall was half the size of a scan of 69,000 triangles away.
    ///
    /// ```
    /// use hullfield::{Model, Surface};
    ///
    /// // A floor, and a wall at right angles to it, on which one walks too.
    /// let points = vec![
    ///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
    ///     [4.0, 0.0, 1.0], [4.0, 4.0, 1.0],
    /// ];
    /// let surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]])])?;
    /// let wall = surface.distance_to_wall([3.75, 2.0, 0.0])?.expect("the floor ends somewhere");
    /// assert_eq!((wall.distance, wall.point), (1.25, [4.0, 2.0, 1.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::SurfaceField`](crate::Error::SurfaceField) where a coordinate is not finite.
    pub fn distance_to_wall(&self, point: [f64; 3]) -> Result<Option<SurfaceWall>> {
        check("point", point)?;
        let Some((triangle, from)) = self.stand(point) else { return Ok(None) };
        let is_open = |triangle: u32| self.walkable[triangle as usize];
        let firsts = self.held(from, triangle);
        let mut quest = Quest {
            mesh: &self.mesh,
            is_open,
            heap: Heap::default(),
            windows: Vec::new(),
            corners: HashMap::default(),
            nearest: HashMap::default(),
            best: None,
        };
        if quest.has_walls(&firsts, self.mesh.triangle_count()) {
            quest.start(&firsts, from);
            quest.spread();
        }
        Ok(quest.best.map(|(distance, point, side)| SurfaceWall {
            distance,
            point: point.to_array(),
            wall: self.mesh.edge_of[side as usize],
            triangle: side / 3,
        }))
    }
}

impl<F: Fn(u32) -> bool> Quest<'_, F> {
    fn is_wall(&self, side: u32) -> bool {
        !self.mesh.beyond(side).any(|other| (self.is_open)(other / 3))
    }

    /// Whether a wall can be reached at all.
    fn has_walls(&self, firsts: &[u32], triangle_count: usize) -> bool {
        let mut seen = vec![false; triangle_count];
        let mut stack = firsts.to_vec();
        while let Some(triangle) = stack.pop() {
            if std::mem::replace(&mut seen[triangle as usize], true) {
                continue;
            }
            for side in 3 * triangle..3 * triangle + 3 {
                let before = stack.len();
                stack.extend(
                    self.mesh.beyond(side).map(|other| other / 3).filter(|&next| (self.is_open)(next)),
                );
                if stack.len() == before {
                    return true;
                }
            }
        }
        false
    }

    fn is_far(&self, distance: f64) -> bool {
        self.best.is_some_and(|best| distance > best.0)
    }

    fn offer(&mut self, distance: f64, point: DVec3, side: u32) {
        // Of equally near ones that of the lowest side, so that the order of the search does not show.
        if self.best.is_none_or(|best| distance < best.0 || (distance == best.0 && side < best.2)) {
            self.best = Some((distance, point, side));
        }
    }

    fn place(&self, corner: u32) -> DVec3 {
        self.mesh.points[self.mesh.triangles[corner as usize / 3][corner as usize % 3] as usize]
    }

    fn distance(&self, corner: u32) -> f64 {
        self.corners.get(&corner).copied().unwrap_or(f64::INFINITY)
    }

    fn start(&mut self, firsts: &[u32], from: DVec3) {
        for &triangle in firsts {
            for corner in 3 * triangle..3 * triangle + 3 {
                self.reach(corner, from.distance(self.place(corner)));
            }
        }
        for &triangle in firsts {
            for side in 3 * triangle..3 * triangle + 3 {
                let frame = Frame::new(self.mesh, side);
                let local = frame.local(from);
                let source = DVec2::new(local.x, -local.y);
                self.send(side, &frame, [0.0, frame.width], source, 0.0, firsts);
            }
        }
    }

    fn spread(&mut self) {
        while let Some(entry) = self.heap.pop() {
            if self.is_far(entry.key) {
                break;
            }
            if entry.index & CORNER != 0 {
                self.bend(entry.index & !CORNER, entry.key);
            } else {
                self.cross(self.windows[entry.index as usize]);
            }
        }
    }

    /// The corners around a corner's vertex that edges connect, a wall there, and whether ways may bend there.
    fn around(&self, corner: u32) -> (Vec<u32>, Option<u32>, bool) {
        let mut found = vec![corner];
        let (mut wall, mut is_split, mut turn) = (None, false, 0.0);
        let mut at = 0;
        while let Some(&corner) = found.get(at) {
            at += 1;
            turn += self.mesh.angle(corner);
            let triangle = corner / 3;
            let vertex = self.mesh.triangles[triangle as usize][corner as usize % 3];
            for side in [corner, 3 * triangle + (corner + 2 - 3 * triangle) % 3] {
                is_split |= self.mesh.across[side as usize] == MANY;
                if self.is_wall(side) {
                    wall = Some(wall.map_or(side, |wall: u32| wall.min(side)));
                }
                for other in self.mesh.beyond(side).filter(|other| (self.is_open)(other / 3)) {
                    let corners = self.mesh.triangles[other as usize / 3];
                    let own = corners.iter().position(|&v| v == vertex).unwrap_or(0);
                    let next = other / 3 * 3 + own as u32;
                    if !found.contains(&next) {
                        found.push(next);
                    }
                }
            }
        }
        (found, wall, is_split || turn > std::f64::consts::TAU - 1e-9)
    }

    /// A way to a corner.
    fn reach(&mut self, corner: u32, distance: f64) {
        if !(distance < self.distance(corner)) || self.is_far(distance) {
            return;
        }
        let (around, wall, _) = self.around(corner);
        for &other in &around {
            self.corners.insert(other, distance);
        }
        match wall {
            Some(side) => self.offer(distance, self.place(corner), side),
            None => self.heap.push(distance, corner | CORNER),
        }
    }

    /// Ways on from a corner.
    fn bend(&mut self, corner: u32, distance: f64) {
        if self.distance(corner) != distance {
            return;
        }
        let (around, _, may_bend) = self.around(corner);
        let place = self.place(corner);
        for &corner in &around {
            let triangle = corner / 3;
            let [next, after] = [1, 2].map(|k| 3 * triangle + (corner + k - 3 * triangle) % 3);
            for other in [next, after] {
                self.reach(other, distance + place.distance(self.place(other)));
            }
            if may_bend {
                let frame = Frame::new(self.mesh, next);
                let local = frame.local(place);
                self.send(next, &frame, [0.0, frame.width], DVec2::new(local.x, -local.y), distance, &[]);
            }
        }
    }

    /// Ways out of a triangle by a side: to it where it is a wall, else beyond, but for `barred` triangles. The source lies
    /// below the side, in its triangle.
    fn send(
        &mut self,
        exit: u32,
        frame: &Frame,
        [from, to]: [f64; 2],
        source: DVec2,
        behind: f64,
        barred: &[u32],
    ) {
        if !(to >= from) {
            return;
        }
        let nearest = source.x.clamp(from, to);
        let least = behind + source.distance(DVec2::new(nearest, 0.0));
        if self.is_far(least) {
            return;
        }
        if self.is_wall(exit) {
            return self.offer(least, frame.origin + frame.direction * nearest, exit);
        }
        if !(to - from > 1e-15 * frame.width) {
            return;
        }
        // Along the edge there is nothing to see, but from within it everything beyond, as from the corner of a triangle
        // without area: as good as from a little before it.
        let mut source = source;
        if !(-source.y > GRAZING * frame.width) {
            if !(source.x > from && source.x < to) {
                return;
            }
            source.y = -GRAZING * frame.width;
        }
        // Ways along the side from its ends may be shorter than all of these.
        let next = exit / 3 * 3 + (exit + 1 - exit / 3 * 3) % 3;
        let to_end = |at: f64| source.distance(DVec2::new(at, 0.0));
        let is_longer = |path: f64, other: f64| path > other + MARGIN * path;
        if is_longer(behind + to_end(to), self.distance(exit) + to)
            || is_longer(behind + to_end(from), self.distance(next) + (frame.width - from))
        {
            return;
        }
        // More windows than the heap can tell apart would take 100 GB.
        if self.windows.len() >= CORNER as usize {
            return;
        }
        for entry in self.mesh.beyond(exit) {
            if !(self.is_open)(entry / 3) || barred.contains(&(entry / 3)) {
                continue;
            }
            let window = if self.mesh.agree(exit, entry) {
                let source = DVec2::new(frame.width - source.x, source.y);
                Window { entry, from: frame.width - to, to: frame.width - from, source, behind }
            } else {
                Window { entry, from, to, source, behind }
            };
            self.heap.push(least, self.windows.len() as u32);
            self.windows.push(window);
        }
    }

    /// Leads a window's ways across its triangle.
    fn cross(&mut self, window: Window) {
        let Window { entry, from, to, source, behind } = window;
        let triangle = entry / 3;
        let [a, b, c] = [0, 1, 2].map(|k| 3 * triangle + (entry + k - 3 * triangle) % 3);
        let frame = Frame::new(self.mesh, entry);
        let [start, end] = [DVec2::ZERO, DVec2::new(frame.width, 0.0)];
        let far = frame.local(self.place(c));
        let is_longer = |path: f64, other: f64| path > other + MARGIN * path;
        let along = |at: f64| DVec2::new(at, 0.0);
        if is_longer(behind + source.distance(along(to)), self.distance(a) + to)
            || is_longer(behind + source.distance(along(from)), self.distance(b) + (frame.width - from))
        {
            return;
        }
        // Where the way to the far corner crosses the side.
        let at = source.x + (far.x - source.x) * (-source.y / (far.y - source.y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        if to_left && to_right {
            let distance = behind + source.distance(far);
            let known = self.nearest.entry(entry).or_insert([f64::INFINITY, at]);
            if distance < known[0] {
                *known = [distance, at];
            } else if is_longer(distance, known[0]) {
                // What the nearer way sees beyond its own way to the corner it sees nearer.
                if at <= known[1] {
                    to_right = false;
                } else {
                    to_left = false;
                }
            }
            self.reach(c, distance);
        }
        let sees_far = at > from && at < to;
        // Where the ray over a place of the side comes out on the line from one point to another, 0 to 1.
        let out = |at: f64, [p, q]: [DVec2; 2]| {
            let ray = along(at) - source;
            let (right, left) = (ray.perp_dot(p - source), ray.perp_dot(q - source));
            let part = right / (right - left);
            if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
        };
        for (is_wanted, exit, line, third, third_place) in
            [(to_left, c, [far, start], b, end), (to_right, b, [end, far], a, start)]
        {
            if !is_wanted {
                continue;
            }
            let side = Frame::new(self.mesh, exit);
            let parts = if exit == c {
                [if sees_far { 0.0 } else { out(to, line) }, out(from, line)]
            } else {
                [out(to, line), if sees_far { 1.0 } else { out(from, line) }]
            };
            let direction = (line[1] - line[0]).normalize_or(DVec2::X);
            let offset = source - line[0];
            let own = DVec2::new(offset.dot(direction), -direction.perp_dot(offset).max(0.0));
            let interval = parts.map(|part| part * side.width);
            // The third corner's ways to the near end of the interval cross all of these.
            let near = if exit == c { interval[1] } else { interval[0] };
            let path = behind + own.distance(along(near));
            let other = self.distance(third) + (line[0] + direction * near).distance(third_place);
            if !is_longer(path, other) {
                self.send(exit, &side, interval, own, behind, &[]);
            }
        }
    }
}

/// The frame of a side: along it, and up into its triangle.
struct Frame {
    origin: DVec3,
    direction: DVec3,
    width: f64,
}

impl Frame {
    fn new(mesh: &Mesh, side: u32) -> Self {
        let [origin, end] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let width = origin.distance(end);
        Self { origin, direction: (end - origin) / width, width }
    }

    /// A point of the side's triangle.
    fn local(&self, point: DVec3) -> DVec2 {
        let offset = point - self.origin;
        DVec2::new(offset.dot(self.direction), offset.cross(self.direction).length())
    }
}
