//! How near the nearest wall is, over the surface.
//!
//! Windows as in `window.rs`, but towards no goal: what they light of a wall is a way there, the nearest window comes first, and
//! what is further than a wall is known to be is left alone. A wall nearby is found so in no time. Where none is, a way to some wall is
//! found first: then windows are led only where a wall may be reached on a shorter one, as the crow flies from there.

use glam::DVec3;

use super::calendar::Calendar;
use super::fan::{Fan, Walk};
use super::mesh::{Mesh, NONE, next, previous};
use super::path::SurfacePath;
use super::query::{Memory, SurfaceMethod};
use super::rim::{Rim, is_wall};
use super::spread::{Frame, length};
use super::{Surface, check};
use crate::error::Result;

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

/// Of a distance to a wall: what the search may find it longer by than the way that is known.
const SLACK: f64 = 1e-9;

/// Of an edge: what is nearer to its line lies on it.
const GRAZING: f64 = 1e-13;

/// Of an edge: of two ways that cross it no further apart it is not certain which one is to the left.
const APART: f64 = 1e-6;

/// Of the mean edge: windows are taken in the order of their distance up to that.
const DAY: f64 = 0.25;

/// Marks an entry of the open list that is a corner, and more windows than there can be.
const CORNER: u32 = 1 << 31;

/// A search of fewer windows than that asks for no bound.
const FEW: usize = 3000;

/// Straight ways through an interval of a side, into its triangle.
#[derive(Debug, Clone, Copy)]
struct Window {
    entry: u32,
    from: f64,
    to: f64,
    /// Where they begin: along the side and below it, after how much way.
    along: f64,
    below: f64,
    behind: f64,
}

/// What is known of a side.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// How far the corner is that it begins at, all of one vertex alike.
    distance: f64,
    /// The nearest way through it to the far corner, and where it crosses.
    seen: f64,
    at: f64,
    /// The searches that wrote them.
    distance_round: u32,
    seen_round: u32,
}

/// What a search keeps for the next one.
#[derive(Debug, Clone, Default)]
pub(super) struct WallMemory {
    windows: Vec<Window>,
    sides: Vec<Side>,
    round: u32,
    /// How far each vertex is from the walls at least; NaN where that was not asked yet.
    gaps: Vec<f64>,
    open: Calendar,
    walk: Walk,
}

/// A search.
struct Quest<'a, F> {
    mesh: &'a Mesh,
    is_open: F,
    state: &'a mut WallMemory,
    rim: Rim,
    /// Ways that are longer are of no use.
    bound: f64,
    best: Option<(f64, DVec3, u32)>,
}

impl Surface {
    /// The wall nearest to a point: the nearest place where walkable triangles end, be it at a boundary of the surface or at
    /// triangles that are not walkable, and how far it is over the walkable ones. The point is first moved to the nearest
    /// walkable one. None where no wall can be reached, as on a closed surface, or the point is further from every walkable
    /// triangle than [`with_max_snap`](Self::with_max_snap) allows.
    ///
    /// The distance is that of the exact geodesic, within 1e-9, relative to it; its first piece is straight, but it may bend at
    /// vertices with more than a full turn around them. Only what is nearer than the wall is searched, and where that is much, only
    /// what may lie on the way to it.
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
        if self.report.boundary_edge_count == 0 && self.walkable.iter().all(|&walkable| walkable) {
            return Ok(None);
        }
        let firsts = self.held(from, triangle);
        let found = self.with_memory(|memory| self.wall(memory, &firsts, from));
        Ok(found.map(|(distance, point, side)| SurfaceWall {
            distance,
            point: point.to_array(),
            wall: self.mesh.edge_of[side as usize],
            triangle: side / 3,
        }))
    }

    /// The nearest wall from a point that lies on these triangles: how far and where it is, and its side.
    fn wall(&self, memory: &mut Memory, firsts: &[u32], from: DVec3) -> Option<(f64, DVec3, u32)> {
        let mut state = memory.walls.take().unwrap_or_default();
        let is_open = |triangle: u32| self.walkable[triangle as usize];
        let mesh = &*self.mesh;
        let mut search = |rim: Rim, bound: f64, most: usize| {
            let mut quest = Quest { mesh, is_open, state: &mut state, rim, bound, best: None };
            quest.begin();
            quest.start(firsts, from);
            quest.spread(most).then_some(quest.best)
        };
        let mut found = search(Rim::default(), f64::INFINITY, FEW);
        if found.is_none() {
            let rim = Rim::new(mesh, is_open, firsts);
            if rim.is_empty() {
                found = Some(None);
            } else if let Some(way) = rim.way(mesh, is_open, firsts, from) {
                let bound = self.shorter(memory, firsts, from, way);
                found = search(rim, bound * (1.0 + SLACK), CORNER as usize);
            }
        }
        // A bound has a way of its length; but whatever rounding does, there is a wall.
        let found = match found {
            Some(found) => found,
            None => search(Rim::default(), f64::INFINITY, CORNER as usize).flatten(),
        };
        memory.walls = Some(state);
        found
    }

    /// The length of a way to the middle of a wall, no longer than one that is known.
    fn shorter(&self, memory: &mut Memory, firsts: &[u32], from: DVec3, (known, side): (f64, u32)) -> f64 {
        let [a, b] = self.mesh.ends(side).map(|vertex| self.mesh.points[vertex as usize]);
        let ends = [from, 0.5 * (a + b)].map(|end| end.to_array());
        let mut path = SurfacePath::default();
        let found = self.find(memory, SurfaceMethod::Geodesic, ends, f64::INFINITY, &mut path);
        // Where surfaces lie on one another its ends may be moved to another one.
        let (first, last) = (path.triangles.first(), path.triangles.last());
        let is_ours = found.is_ok()
            && first.is_some_and(|first| firsts.contains(first))
            && last.is_some_and(|&last| last == side / 3);
        if is_ours { known.min(path.length + path.snaps[0] + path.snaps[1]) } else { known }
    }
}

impl<F: Fn(u32) -> bool> Quest<'_, F> {
    fn begin(&mut self) {
        let (state, mesh) = (&mut *self.state, self.mesh);
        state.windows.clear();
        state.open.begin(DAY * mesh.mean_edge);
        state.round = state.round.wrapping_add(1);
        if state.sides.len() != 3 * mesh.triangle_count() || state.round == 0 {
            state.sides.clear();
            state.sides.resize(3 * mesh.triangle_count(), Side::default());
            state.round = 1;
        }
        state.gaps.clear();
        if !self.rim.is_empty() {
            state.gaps.resize(mesh.points.len(), f64::NAN);
        }
    }

    fn is_far(&self, distance: f64) -> bool {
        distance > self.bound
    }

    fn offer(&mut self, distance: f64, point: DVec3, side: u32) {
        // Of equally near ones that of the lowest side, so that the order of the search does not show.
        if self.best.is_none_or(|best| distance < best.0 || (distance == best.0 && side < best.2)) {
            self.best = Some((distance, point, side));
            self.bound = self.bound.min(distance);
        }
    }

    fn vertex(&self, corner: u32) -> u32 {
        self.mesh.triangles[corner as usize / 3][corner as usize % 3]
    }

    fn place(&self, corner: u32) -> DVec3 {
        self.mesh.points[self.vertex(corner) as usize]
    }

    #[inline]
    fn distance(&self, corner: u32) -> f64 {
        let side = &self.state.sides[corner as usize];
        if side.distance_round == self.state.round { side.distance } else { f64::INFINITY }
    }

    /// How far the walls are from a corner at least; 0 where they are not known.
    fn gap(&mut self, corner: u32) -> f64 {
        let vertex = self.vertex(corner) as usize;
        let Some(&gap) = self.state.gaps.get(vertex) else { return 0.0 };
        if !gap.is_nan() {
            return gap;
        }
        let gap = self.rim.gap(self.mesh.points[vertex]);
        self.state.gaps[vertex] = gap;
        gap
    }

    fn start(&mut self, firsts: &[u32], from: DVec3) {
        for &triangle in firsts {
            for corner in 3 * triangle..3 * triangle + 3 {
                self.reach(corner, from.distance(self.place(corner)));
            }
        }
        for &triangle in firsts {
            for exit in 3 * triangle..3 * triangle + 3 {
                let (along, above) = Frame::new(self.mesh, exit).local(from);
                let width = self.mesh.width(exit);
                self.send(exit, [0.0, width], [along, above], 0.0, firsts);
            }
        }
    }

    /// Whether all that may be nearer was looked at before there were more windows than `most`.
    fn spread(&mut self, most: usize) -> bool {
        while let Some(entry) = self.state.open.pop() {
            if self.is_far(entry.key) {
                continue;
            }
            if entry.index & CORNER != 0 {
                self.bend(entry.index & !CORNER, entry.key);
            } else {
                self.cross(self.state.windows[entry.index as usize]);
            }
            if self.state.windows.len() > most {
                return false;
            }
        }
        true
    }

    /// A way to a corner: all corners of its vertex that edges connect learn of it, and a wall there is a way to a wall.
    fn reach(&mut self, corner: u32, distance: f64) {
        if !(distance < self.distance(corner)) || self.is_far(distance) {
            return;
        }
        let gap = self.gap(corner);
        if self.is_far(distance + gap) {
            return;
        }
        let (mesh, round) = (self.mesh, self.state.round);
        let fan = self.state.walk.around(mesh, &self.is_open, corner);
        let mut wall = NONE;
        for i in 0..self.state.walk.corners.len() {
            let other = self.state.walk.corners[i];
            let side = &mut self.state.sides[other as usize];
            (side.distance, side.distance_round) = (distance, round);
            if fan != Fan::Closed {
                let walls = [other, previous(other)];
                let walls = walls.into_iter().filter(|&side| is_wall(mesh, &self.is_open, side));
                wall = walls.fold(wall, u32::min);
            }
        }
        if wall != NONE {
            self.offer(distance, self.place(corner), wall);
        } else if distance > 0.0 {
            self.state.open.push(distance, corner | CORNER);
        }
    }

    /// Ways on from a corner that is at no wall.
    fn bend(&mut self, corner: u32, distance: f64) {
        if self.distance(corner) != distance {
            return;
        }
        let mesh = self.mesh;
        let fan = self.state.walk.around(mesh, &self.is_open, corner);
        let may_bend = fan != Fan::Closed || mesh.bends[self.vertex(corner) as usize];
        let around = std::mem::take(&mut self.state.walk.corners);
        for &corner in &around {
            let (next, before) = (next(corner), previous(corner));
            let [width, along, above] = mesh.frame(next);
            self.reach(next, distance + mesh.width(corner));
            self.reach(before, distance + mesh.width(before));
            if may_bend {
                self.send(next, [0.0, width], [along, above], distance, &[]);
            }
        }
        self.state.walk.corners = around;
    }

    /// Ways out of a triangle by a side: to it where it is a wall, else beyond, but for `barred` triangles. They begin above the side,
    /// in its triangle.
    fn send(
        &mut self,
        exit: u32,
        [from, to]: [f64; 2],
        [along, above]: [f64; 2],
        behind: f64,
        barred: &[u32],
    ) {
        if !(to >= from) {
            return;
        }
        let mesh = self.mesh;
        let width = mesh.width(exit);
        let nearest = along.clamp(from, to);
        let least = behind + length(nearest - along, above);
        if self.is_far(least) {
            return;
        }
        if is_wall(mesh, &self.is_open, exit) {
            let [a, b] = mesh.ends(exit).map(|vertex| mesh.points[vertex as usize]);
            return self.offer(least, a + (b - a) * (nearest / width), exit);
        }
        if !(to - from > 1e-15 * width) {
            return;
        }
        // Along the edge there is nothing to see, but from within it everything beyond, as from the corner of a triangle
        // without area: as good as from a little before it.
        let above = if above > GRAZING * width {
            above
        } else if along > from && along < to {
            GRAZING * width
        } else {
            return;
        };
        // Ways along the side from its ends may be shorter than all of these.
        let (start, end) = (self.distance(exit), self.distance(next(exit)));
        if is_longer(behind + length(to - along, above), start + to)
            || is_longer(behind + length(from - along, above), end + (width - from))
        {
            return;
        }
        // A place of the interval is no nearer to the walls than an end of the side less the way there.
        let gap = (self.gap(exit) - to).max(self.gap(next(exit)) - (width - from));
        if self.is_far(least + gap.max(0.0)) {
            return;
        }
        // More windows than the open list can tell apart would take 100 GB.
        if self.state.windows.len() >= CORNER as usize {
            return;
        }
        for entry in mesh.beyond(exit) {
            if !(self.is_open)(entry / 3) || barred.contains(&(entry / 3)) {
                continue;
            }
            let window = if mesh.agree(exit, entry) {
                let (from, to, along) = (width - to, width - from, width - along);
                Window { entry, from, to, along, below: above, behind }
            } else {
                Window { entry, from, to, along, below: above, behind }
            };
            self.state.open.push(least, self.state.windows.len() as u32);
            self.state.windows.push(window);
        }
    }

    /// Leads a window's ways across its triangle.
    fn cross(&mut self, window: Window) {
        let Window { entry, from, to, along, below, behind } = window;
        // The frame of the entry: a at 0, b at its end, c above.
        let (a, b, c) = (entry, next(entry), previous(entry));
        let [width, x, y] = self.mesh.frame(entry);
        let (to_a, to_b) = (self.distance(a), self.distance(b));
        if is_longer(behind + length(to - along, below), to_a + to)
            || is_longer(behind + length(from - along, below), to_b + (width - from))
        {
            return;
        }
        // Where the way to the far corner crosses the side.
        let at = along + (x - along) * (below / (below + y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        let sees_corner = to_left && to_right;
        if sees_corner {
            let distance = behind + length(x - along, y + below);
            let round = self.state.round;
            let known = &mut self.state.sides[entry as usize];
            if known.seen_round != round || distance < known.seen {
                (known.seen, known.at, known.seen_round) = (distance, at, round);
            } else if is_longer(distance, known.seen) {
                // What the nearer way sees beyond its own way to the corner it sees nearer.
                let beside = at - known.at;
                if beside < -APART * width {
                    to_right = false;
                } else if beside > APART * width {
                    to_left = false;
                }
            }
            self.reach(c, distance);
        }
        // The part of the far side, from the edge's end at 0, where the ray over `at` comes out.
        let part = |at: f64, along: f64, x: f64| {
            let part = below * at / (below * x + (along - at) * y);
            if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
        };
        if to_left {
            // From c to a.
            let side = self.mesh.width(c);
            let near = part(from, along, x);
            let far = if sees_corner { 1.0 } else { part(to, along, x) };
            // The third corner's ways to the near end of the interval cross all of these.
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_b + length(near * x - width, near * y)) {
                let begin = [(x * (x - along) + y * (y + below)) / side, (x * below + y * along) / side];
                self.send(c, [side * (1.0 - far), side * (1.0 - near)], begin, behind, &[]);
            }
        }
        if to_right {
            // From b to c, seen in the mirror.
            let side = self.mesh.width(b);
            let (x, along) = (width - x, width - along);
            let near = part(width - to, along, x);
            let far = if sees_corner { 1.0 } else { part(width - from, along, x) };
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_a + length(near * x - width, near * y)) {
                let begin =
                    [side - (x * (x - along) + y * (y + below)) / side, (x * below + y * along) / side];
                self.send(b, [side * near, side * far], begin, behind, &[]);
            }
        }
    }
}

/// Whether a way is longer than another by more than rounding.
#[inline]
fn is_longer(way: f64, other: f64) -> bool {
    way > other + MARGIN * way
}
