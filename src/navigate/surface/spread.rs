//! The search for geodesics: windows are led from triangle to triangle.
//!
//! Windows that can hold no shortest path any more are dropped by what is known of the triangle's corners (Xin, Wang 2009,
//! "Improving Chen and Han's algorithm on the discrete geodesic problem", §3), and of two that see the same corner through the
//! same edge only the nearer one goes on to both sides (Chen, Han 1990). Paths bend at vertices with more than a full turn
//! around them and at the rim; from there new windows spread.
//!
//! A coarse search keeps the best few windows of each side, each without the part of its interval where another is nearer: what
//! is lost is made good by laying out the strip that it finds.

use std::f64::consts::PI;

use glam::DVec3;

use super::landmark::Guide;
use super::mesh::{MANY, Mesh, NONE, ROUND, next, previous};
use super::window::{Aim, CORNER, Entrance, Fan, Known, Last, Quest, SLOT, Slot, Way, Window, Windows};

/// Of a distance: what is longer by less is not dropped, so that rounding alone drops nothing.
const MARGIN: f64 = 1e-12;

/// Of an edge: what is nearer to its line lies on it.
const GRAZING: f64 = 1e-13;

/// Of an edge: of two ways that cross it no further apart it is not certain which one is to the left.
const APART: f64 = 1e-6;

/// Of an edge: a coarse search drops windows whose share is less.
const SLIVER: f64 = 0.1;

/// A coarse search of fewer windows than that keeps more of them: on few large triangles each of them counts.
const FEW: u32 = 400;

/// With how many of a side's last windows an exact search compares a new one.
const RIVALS: usize = 2;

/// A quest under way.
pub(super) struct Run<'a, 'b, F> {
    quest: &'a Quest<'b, F>,
    state: &'a mut Windows,
    /// What draws a coarse search towards the goal.
    guide: Option<&'b Guide<'b>>,
    is_coarse: bool,
    /// Whether windows are taken by the least length of a path through them to the goal, not by their distance.
    is_drawn: bool,
    best: f64,
    last: Last,
}

impl<'a, 'b, F: Fn(u32) -> bool> Run<'a, 'b, F> {
    pub(super) fn new(quest: &'a Quest<'b, F>, state: &'a mut Windows) -> Self {
        let (guide, is_drawn) = match quest.aim {
            Aim::Coarse(guide) => (guide, true),
            _ => (None, false),
        };
        let (best, last) = (quest.bound, Last::Nothing);
        Self { quest, state, guide, is_coarse: quest.is_coarse(), is_drawn, best, last }
    }

    /// Searches; where the best path to the goal comes from.
    pub(super) fn search(mut self) -> Last {
        self.start();
        self.spread();
        self.last
    }

    #[inline]
    fn distance(&self, corner: u32) -> f64 {
        self.state.found.distance(corner)
    }

    /// How far the goal is at least from a corner, roughly where there is a guide.
    fn ahead(&self, corner: u32) -> f64 {
        let straight = self.place(corner).distance(self.quest.goal);
        let mesh = self.quest.mesh;
        let vertex = mesh.triangles[corner as usize / 3][corner as usize % 3];
        self.guide.map_or(straight, |guide| straight.max(guide.ahead(vertex)))
    }

    /// What the start sees.
    fn start(&mut self) {
        let Quest { mesh, firsts, start, lasts, goal, .. } = *self.quest;
        for &triangle in firsts {
            if lasts.contains(&triangle) {
                self.offer(start.distance(goal), Last::Straight(triangle));
            }
            for corner in 3 * triangle..3 * triangle + 3 {
                let distance = start.distance(self.place(corner));
                self.reach(corner, distance, NONE, NONE);
            }
        }
        for &triangle in firsts {
            for exit in 3 * triangle..3 * triangle + 3 {
                let frame = Frame::new(mesh, exit);
                let (along, above) = frame.local(start);
                let ahead = Ahead { before: NONE, along, above, behind: 0.0 };
                self.send(exit, [0.0, frame.width], &ahead, true);
            }
        }
    }

    /// Takes what is nearest, until nothing is left that could be shorter.
    fn spread(&mut self) {
        while let Some(entry) = self.state.open.pop() {
            if entry.key > self.best {
                continue;
            }
            if entry.index & CORNER != 0 {
                self.bend(entry.index & !CORNER);
            } else {
                self.cross(entry.index);
            }
        }
    }

    fn place(&self, corner: u32) -> DVec3 {
        let mesh = self.quest.mesh;
        mesh.points[mesh.triangles[corner as usize / 3][corner as usize % 3] as usize]
    }

    /// A path to the goal.
    fn offer(&mut self, length: f64, last: Last) {
        if length < self.best {
            (self.best, self.last) = (length, last);
        }
    }

    /// A path to a corner: all corners of its vertex that edges connect learn of it.
    fn reach(&mut self, corner: u32, distance: f64, window: u32, along_edge: u32) {
        if !(distance < self.distance(corner)) || distance > self.best {
            return;
        }
        let Quest { mesh, ref is_open, lasts, goal, .. } = *self.quest;
        self.state.walk_around(mesh, is_open, corner);
        let (round, way) = (self.state.found.round, self.state.found.ways.len() as u32);
        self.state.found.ways.push(Way { corner, window, along_edge, is_passed: false });
        for i in 0..self.state.around.len() {
            let other = self.state.around[i];
            self.state.found.known[other as usize] = Known { distance, way, round };
            if lasts.contains(&(other / 3)) {
                self.offer(distance + self.place(other).distance(goal), Last::Corner(other));
            }
        }
        if distance > 0.0 {
            let key = if self.is_drawn { distance + self.ahead(corner) } else { distance };
            self.state.open.push(key, corner | CORNER);
        }
    }

    /// Lets paths bend at a vertex, where they may.
    fn bend(&mut self, corner: u32) {
        let Quest { mesh, ref is_open, .. } = *self.quest;
        let Known { distance, way, .. } = self.state.found.known[corner as usize];
        if std::mem::replace(&mut self.state.found.ways[way as usize].is_passed, true) {
            return;
        }
        let fan = self.state.walk_around(mesh, is_open, corner);
        let around = std::mem::take(&mut self.state.around);
        // Every edge from here, be the vertex one to bend at or not: edges are paths too, and whatever a coarse search drops, its
        // path is no longer than the shortest along edges.
        let vertex = mesh.triangles[corner as usize / 3][corner as usize % 3];
        // A shortest path has at least half a turn on either side of a bend, but for a side that is the rim. Along a straight rim
        // the edges lead.
        let may_bend = match fan {
            Fan::Closed => mesh.bends[vertex as usize],
            Fan::Open => around.iter().map(|&corner| mesh.turn(corner)).sum::<f64>() > PI + ROUND,
            Fan::Many => true,
        };
        for &corner in &around {
            let (next, before) = (next(corner), previous(corner));
            let [width, along, above] = mesh.frames[next as usize];
            self.reach(next, distance + mesh.frames[corner as usize][0], NONE, corner);
            self.reach(before, distance + mesh.frames[before as usize][0], NONE, corner);
            if may_bend {
                let ahead = Ahead { before: corner | CORNER, along, above, behind: distance };
                self.send(next, [0.0, width], &ahead, false);
            }
        }
        self.state.around = around;
    }

    /// Sends paths out of a triangle by one of its sides, into all open triangles beyond.
    #[inline(always)]
    fn send(&mut self, exit: u32, [from, to]: [f64; 2], ahead: &Ahead, from_start: bool) {
        let Quest { mesh, goal, .. } = *self.quest;
        let width = mesh.frames[exit as usize][0];
        if !(to - from > 1e-15 * width) {
            return;
        }
        // Along the edge there is nothing to see, but from within it everything beyond, as from the corner of a triangle
        // without area: as good as from a little before it.
        let above = if ahead.above > GRAZING * width {
            ahead.above
        } else if ahead.along > from && ahead.along < to {
            GRAZING * width
        } else {
            return;
        };
        let ahead = Ahead { above, ..*ahead };
        // The corners of the side: a path along it may be shorter than any of these.
        let (start, end) = (self.distance(exit), self.distance(next(exit)));
        if is_longer(ahead.behind + ahead.to(to), start + to)
            || is_longer(ahead.behind + ahead.to(from), end + (width - from))
        {
            return;
        }
        let nearest = ahead.behind + ahead.to(ahead.along.clamp(from, to));
        let mut key = nearest;
        if self.is_drawn || self.best < f64::INFINITY {
            let [a, b] = mesh.ends(exit);
            let (origin, end) = (mesh.points[a as usize], mesh.points[b as usize]);
            let part = 0.5 * (from + to) / width;
            let mut to_goal = (origin + (end - origin) * part).distance(goal);
            if let Some(guide) = self.guide {
                to_goal = to_goal.max(guide.ahead(a) * (1.0 - part) + guide.ahead(b) * part);
            }
            let least = nearest + (to_goal - 0.5 * (to - from)).max(0.0);
            if least > self.best {
                return;
            }
            if self.is_drawn {
                key = least;
            }
        }
        let across = mesh.across[exit as usize];
        if across < MANY {
            self.enter(exit, across, [from, to], &ahead, key, from_start);
        } else if across == MANY {
            for entry in mesh.beyond(exit) {
                self.enter(exit, entry, [from, to], &ahead, key, from_start);
            }
        }
    }

    /// Lets paths into a triangle, if it is open.
    #[inline(always)]
    fn enter(
        &mut self,
        exit: u32,
        entry: u32,
        [from, to]: [f64; 2],
        ahead: &Ahead,
        key: f64,
        from_start: bool,
    ) {
        let Quest { mesh, ref is_open, firsts, lasts, goal, .. } = *self.quest;
        let triangle = entry / 3;
        if !is_open(triangle) || (from_start && firsts.contains(&triangle)) {
            return;
        }
        let Ahead { before, along, above, behind } = *ahead;
        let width = mesh.frames[entry as usize][0];
        // Sides of triangles that are turned the same way round run against one another.
        let (from, to, along) = if mesh.agree(exit, entry) {
            (width - to, width - from, width - along)
        } else {
            (from, to, along)
        };
        let index = self.state.found.windows.len() as u32;
        if index >= CORNER {
            self.state.is_full = true;
            return;
        }
        let mut window = Window { entry, exit, before, older: NONE, from, to, along, below: above, behind };
        let is_kept = if self.is_coarse {
            self.claim(&mut window, index, width)
        } else {
            self.trim(&mut window, index, width)
        };
        if !is_kept {
            return;
        }
        self.state.found.windows.push(window);
        if lasts.contains(&triangle) {
            let (at, height) = Frame::new(mesh, entry).local(goal);
            self.offer(window.through(at, height), Last::Window(index));
        }
        self.state.open.push(key, index);
    }

    /// Takes away what the last windows of the side see no further away; false where nothing is left.
    #[inline]
    fn trim(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let found = &mut self.state.found;
        let entrance = &mut found.entrances[window.entry as usize];
        if entrance.round != found.round {
            *entrance = Entrance::new(found.round);
        }
        window.older = entrance.latest;
        let mut next = entrance.latest;
        for _ in 0..RIVALS {
            let Some(rival) = found.windows.get(next as usize) else { break };
            next = rival.older;
            let (from, to) = (window.from.max(rival.from), window.to.min(rival.to));
            if !(from < to && rival.is_nearer(window, from, to)) {
                continue;
            }
            // A little is left, so that by rounding nothing falls between the two.
            if from <= window.from {
                window.from = window.from.max(to - APART * width);
            } else if to >= window.to {
                window.to = window.to.min(from + APART * width);
            }
            if window.to - window.from <= APART * width {
                return false;
            }
        }
        entrance.latest = index;
        true
    }

    /// A place among the windows of a side that a coarse search keeps, for the part of the interval where no other is nearer;
    /// false where there is none.
    #[inline]
    fn claim(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let slot = &mut self.state.slots[window.entry as usize];
        if slot.round != self.state.found.round {
            *slot = Slot { windows: [NONE; SLOT], round: self.state.found.round };
        }
        // The place of the window whose nearest point is furthest.
        let mut last = (0.0, 0);
        let most = if index < FEW { SLOT } else { SLOT / 2 };
        for (i, &kept) in slot.windows[..most].iter().enumerate() {
            if kept == NONE {
                last = (f64::INFINITY, i);
                break;
            }
            let kept = &self.state.found.windows[kept as usize];
            let (from, to) = (window.from.max(kept.from), window.to.min(kept.to));
            let middle = 0.5 * (from + to);
            if from < to && kept.distance(middle) <= window.distance(middle) {
                // The larger of what is left on either side.
                if from - window.from >= window.to - to {
                    window.to = from
                } else {
                    window.from = to
                }
                if window.to - window.from <= SLIVER * width {
                    return false;
                }
            }
            let nearest = kept.nearest();
            if nearest > last.0 {
                last = (nearest, i);
            }
        }
        if window.nearest() >= last.0 {
            return false;
        }
        slot.windows[last.1] = index;
        true
    }

    /// Leads a window's paths across the triangle that they entered.
    fn cross(&mut self, index: u32) {
        let Quest { mesh, .. } = *self.quest;
        let Window { entry, from, to, along, below, behind, .. } = self.state.found.windows[index as usize];
        // The frame of the entry: a at 0, b at its end, c above.
        let (a, b, c) = (entry, next(entry), previous(entry));
        let [width, x, y] = mesh.frames[entry as usize];
        let (to_a, to_b) = (self.distance(a), self.distance(b));
        // What has been learnt of the edge's ends since.
        let far = Ahead { before: index, along, above: below, behind };
        if is_longer(behind + far.to(to), to_a + to)
            || is_longer(behind + far.to(from), to_b + (width - from))
        {
            return;
        }
        // Where the path to the far corner crosses the edge.
        let at = along + (x - along) * (below / (below + y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        let sees_corner = to_left && to_right;
        if sees_corner {
            let distance = behind + length(x - along, y + below);
            if !self.is_coarse && self.is_seen_nearer(entry, distance, at) {
                // What the nearer one sees beyond its own way to the corner it sees nearer.
                let beside = at - self.state.found.entrances[entry as usize].at;
                if beside < -APART * width {
                    to_right = false;
                } else if beside > APART * width {
                    to_left = false;
                }
            }
            self.reach(c, distance, index, NONE);
        }
        // The part of the far side, from the edge's end at 0, where the ray over `at` comes out.
        let part = |at: f64, along: f64, x: f64| {
            let part = below * at / (below * x + (along - at) * y);
            if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
        };
        if to_left {
            // From c to a.
            let side = mesh.frames[c as usize][0];
            let near = part(from, along, x);
            let far = if sees_corner { 1.0 } else { part(to, along, x) };
            // The third corner, b: its paths to the near end of the interval cross all of these.
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_b + length(near * x - width, near * y)) {
                let ahead = Ahead {
                    along: (x * (x - along) + y * (y + below)) / side,
                    above: (x * below + y * along) / side,
                    before: index,
                    behind,
                };
                self.send(c, [side * (1.0 - far), side * (1.0 - near)], &ahead, false);
            }
        }
        if to_right {
            // From b to c, seen in the mirror.
            let side = mesh.frames[b as usize][0];
            let (x, along) = (width - x, width - along);
            let near = part(width - to, along, x);
            let far = if sees_corner { 1.0 } else { part(width - from, along, x) };
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_a + length(near * x - width, near * y)) {
                let ahead = Ahead {
                    along: side - (x * (x - along) + y * (y + below)) / side,
                    above: (x * below + y * along) / side,
                    before: index,
                    behind,
                };
                self.send(b, [side * near, side * far], &ahead, false);
            }
        }
    }

    /// Whether a nearer window sees the corner across from a side; otherwise this one is the nearest from now on.
    #[inline]
    fn is_seen_nearer(&mut self, entry: u32, distance: f64, at: f64) -> bool {
        let entrance = &mut self.state.found.entrances[entry as usize];
        if distance < entrance.distance {
            (entrance.distance, entrance.at) = (distance, at);
            return false;
        }
        is_longer(distance, entrance.distance)
    }
}

/// Whether a path is longer than another by more than rounding.
#[inline]
fn is_longer(path: f64, other: f64) -> bool {
    path > other + MARGIN * path
}

#[inline]
pub(super) fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Where paths begin, in the frame of the side that they leave by.
struct Ahead {
    before: u32,
    along: f64,
    above: f64,
    behind: f64,
}

impl Ahead {
    /// How far a place of the side is from where the paths begin.
    #[inline]
    fn to(&self, place: f64) -> f64 {
        length(place - self.along, self.above)
    }
}

/// The frame of a side: along it, and up into its triangle.
pub(super) struct Frame {
    origin: DVec3,
    direction: DVec3,
    width: f64,
}

impl Frame {
    pub(super) fn new(mesh: &Mesh, side: u32) -> Self {
        let [origin, end] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let width = origin.distance(end);
        Self { origin, direction: (end - origin) / width, width }
    }

    /// A point of the side's triangle.
    pub(super) fn local(&self, point: DVec3) -> (f64, f64) {
        let offset = point - self.origin;
        (offset.dot(self.direction), offset.cross(self.direction).length())
    }
}
