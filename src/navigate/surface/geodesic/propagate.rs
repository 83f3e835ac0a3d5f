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

use crate::navigate::surface::geodesic::nodes::Fan;
use crate::navigate::surface::geodesic::wall_boxes::is_wall;
use crate::navigate::surface::geodesic::window::{
    Aim, CORNER, COUNT, Entered, Known, LATEST, Last, NEAREST, Quest, SLOT, Wall, Way, Window, Windows,
    is_no_longer, length,
};
use crate::navigate::surface::mesh::topology::{Face, MANY, Mesh, NONE, ROUND, next, previous};

/// Of a distance: what is longer by less is not dropped, so that rounding alone drops nothing.
const MARGIN: f64 = 1e-12;

/// Of an edge: what is nearer to its line lies on it.
const GRAZING: f64 = 1e-13;

/// Of an edge: of two ways that cross it no further apart it is not certain which one is to the left.
const APART: f64 = 1e-6;

/// Of an edge: what is left of a window beside a nearer one, and is no more than that, is given up. What is reached through it is reached
/// as well through the nearer one, longer by some square of that.
const BIT: f64 = 1e-7;

/// Of an edge: where it need not be exact a search drops windows whose share is less.
const SLIVER: f64 = 0.1;

/// A coarse search of fewer windows than that keeps all it may: on few large triangles each of them counts.
const FEW: u32 = 400;

/// Of the mean edge: longer sides, as those of floors beside fine detail, are crossed by many windows, of which each counts.
const LONG: f64 = 1.5;

/// How many windows of each side a coarse search keeps after that, where nothing draws it to the goal better than the straight
/// line and it sees much of the surface.
const UNGUIDED: usize = 3;

/// How many crossed windows a search for distances keeps, for new ones are compared with the last of their side.
const REST: usize = 4096;

/// With how many of a side's last windows an exact search compares a new one.
const RIVALS: usize = 2;

/// After so many windows of a side a new one is compared with more of them: paths may go around slender triangles again and again, each
/// hardly longer than the one before, until one of them is found to be.
const CROWD: u32 = 128;

/// With how many.
const CROWD_RIVALS: usize = 64;

/// A quest under way, for the nearest wall or for something else: that is known when it is compiled, so that what is asked for walls
/// alone costs other searches nothing.
pub(crate) struct Run<'a, 'b, F, const TO_WALL: bool> {
    quest: &'a Quest<'b, F>,
    nodes: &'b [[u32; 3]],
    state: &'a mut Windows,
    /// Few windows of each side are kept, and taken by the least length of a path through them to the goal, not by their
    /// distance.
    is_coarse: bool,
    /// How many windows of each side a coarse search keeps.
    most: usize,
    /// There is something to reach, and from where on paths are too long to be of use is known.
    has_goal: bool,
    /// There are edges with three triangles or more.
    has_many: bool,
    /// How many windows there may be.
    limit: u32,
    best: f64,
    last: Last,
}

/// What a search knows of a corner.
#[derive(Clone, Copy)]
struct Corner {
    distance: f64,
    /// How far the goal is at least from there.
    ahead: f64,
}

impl<'a, 'b, F: Fn(u32) -> bool, const TO_WALL: bool> Run<'a, 'b, F, TO_WALL> {
    pub(crate) fn new(quest: &'a Quest<'b, F>, state: &'a mut Windows) -> Self {
        let is_coarse = matches!(quest.aim, Aim::Coarse);
        let has_goal = !matches!(quest.aim, Aim::Paths | Aim::Distances);
        let limit = if let Aim::Wall { most, .. } = quest.aim { most } else { CORNER };
        let nodes = quest.nodes.of(quest.mesh);
        let most = if quest.guide.is_some() { SLOT } else { UNGUIDED };
        let has_many = !quest.mesh.many.is_empty();
        let (best, last) = (quest.bound, Last::Nothing);
        Self { quest, nodes, state, is_coarse, most, has_goal, has_many, limit, best, last }
    }

    /// Searches; where the best path to the goal comes from.
    pub(crate) fn search(mut self) -> Last {
        self.start();
        self.spread();
        self.last
    }

    /// What is known of a node, which lies at a vertex.
    #[inline(always)]
    fn known(&mut self, node: u32, vertex: u32) -> &mut Known {
        let round = self.state.found.round;
        if self.state.found.known[node as usize].round != round {
            let ahead = self.ahead(vertex);
            self.state.found.known[node as usize] = Known::new(ahead, round);
        }
        &mut self.state.found.known[node as usize]
    }

    /// What is known of the corners of a triangle.
    #[inline]
    fn corners(&mut self, triangle: u32) -> [Corner; 3] {
        let [i, j, k] = self.quest.mesh.triangles[triangle as usize];
        let [a, b, c] = self.nodes[triangle as usize];
        [self.corner(a, i), self.corner(b, j), self.corner(c, k)]
    }

    #[inline]
    fn corner(&mut self, node: u32, vertex: u32) -> Corner {
        let known = self.known(node, vertex);
        Corner { distance: known.distance, ahead: known.ahead }
    }

    /// How far the goal is at least from a vertex.
    #[inline(never)]
    fn ahead(&self, vertex: u32) -> f64 {
        if !self.has_goal {
            return 0.0;
        }
        let place = self.quest.mesh.points[vertex as usize];
        if let Aim::Wall { rim, .. } = self.quest.aim {
            return rim.map_or(0.0, |rim| rim.gap(place));
        }
        let straight = place.distance(self.quest.goal) * (1.0 - MARGIN);
        self.quest.guide.map_or(straight, |guide| straight.max(guide.ahead(vertex)))
    }

    /// What the start sees.
    fn start(&mut self) {
        let Quest { mesh, firsts, start, lasts, goal, .. } = *self.quest;
        for &triangle in lasts {
            let round = self.state.found.round;
            let entered = Entered { is_at_goal: true, ..Entered::new(round) };
            self.state.found.entered[triangle as usize] = entered;
            for k in 0..3 {
                let (node, vertex) = (self.nodes[triangle as usize][k], mesh.triangles[triangle as usize][k]);
                self.known(node, vertex).is_at_goal = true;
            }
        }
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
            let (face, corners) = (&mesh.faces[triangle as usize], self.corners(triangle));
            for exit in 3 * triangle..3 * triangle + 3 {
                let frame = Frame::new(mesh, exit);
                let (along, above) = frame.local(start);
                let source = Source { before: NONE, along, above, behind: 0.0 };
                self.send(exit, face, &corners, [0.0, frame.width], source, true);
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
                if matches!(self.quest.aim, Aim::Distances) {
                    self.state.free.push_back(entry.index);
                }
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

    /// A path to a wall.
    #[inline(never)]
    fn touch(&mut self, distance: f64, side: u32, point: DVec3) {
        // Of equally near ones that of the lowest side, so that the order of the search does not show.
        let is_lower = matches!(self.last, Last::Wall(wall) if distance == wall.distance && side < wall.side);
        if distance < self.best || is_lower {
            (self.best, self.last) = (distance, Last::Wall(Wall { distance, point, side }));
        }
    }

    /// A path to a corner, and with that to its node.
    #[inline]
    fn reach(&mut self, corner: u32, distance: f64, window: u32, along_edge: u32) {
        if distance > self.best {
            return;
        }
        let (triangle, k) = (corner as usize / 3, corner as usize % 3);
        let way = self.state.found.ways.len() as u32;
        let known = self.known(self.nodes[triangle][k], self.quest.mesh.triangles[triangle][k]);
        if !(distance < known.distance) {
            return;
        }
        (known.distance, known.way) = (distance, way);
        let ahead = known.ahead;
        self.state.found.ways.push(Way { corner, window, along_edge, is_passed: false });
        let key = if self.is_coarse { distance + ahead } else { distance };
        self.state.open.push(key, corner | CORNER);
    }

    /// Lets paths bend at a vertex, where they may.
    fn bend(&mut self, corner: u32) {
        let Quest { mesh, ref is_open, lasts, goal, .. } = *self.quest;
        let node = self.nodes[corner as usize / 3][corner as usize % 3];
        let Known { distance, ahead, way, is_at_goal, .. } = self.state.found.known[node as usize];
        let was_passed = std::mem::replace(&mut self.state.found.ways[way as usize].is_passed, true);
        if was_passed || distance + ahead > self.best {
            return;
        }
        let fan = self.state.walk.around(mesh, is_open, corner);
        let around = std::mem::take(&mut self.state.walk.corners);
        for &other in around.iter().filter(|&other| is_at_goal && lasts.contains(&(other / 3))) {
            self.offer(distance + self.place(other).distance(goal), Last::Corner(other));
        }
        if TO_WALL && fan != Fan::Closed {
            let walls = around.iter().flat_map(|&other| [other, previous(other)]);
            if let Some(wall) = walls.filter(|&side| is_wall(mesh, is_open, side)).min() {
                self.state.walk.corners = around;
                return self.touch(distance, wall, self.place(corner));
            }
        }
        // The start sees for itself what there is around it.
        if distance == 0.0 {
            self.state.walk.corners = around;
            return;
        }
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
            let (triangle, k) = (corner / 3, corner as usize % 3);
            let face = &mesh.faces[triangle as usize];
            let (next, before) = (next(corner), previous(corner));
            self.reach(next, distance + face.widths[k], NONE, corner);
            // Where the neighbour there runs the same way round, that edge is its next.
            if fan != Fan::Closed || face.agrees >> (before % 3) & 1 == 0 {
                self.reach(before, distance + face.widths[before as usize % 3], NONE, corner);
            }
            if may_bend {
                let across = next as usize % 3;
                let (along, above) = (face.along[across], face.height(across));
                let source = Source { before: corner | CORNER, along, above, behind: distance };
                let corners = self.corners(triangle);
                self.send(next, face, &corners, [0.0, face.widths[across]], source, false);
            }
        }
        self.state.walk.corners = around;
    }

    /// Sends paths out of a triangle by one of its sides, into all open triangles beyond.
    #[inline(always)]
    fn send(
        &mut self,
        exit: u32,
        face: &Face,
        corners: &[Corner; 3],
        [from, to]: [f64; 2],
        mut source: Source,
        from_start: bool,
    ) {
        let (k, l) = (exit as usize % 3, next(exit) as usize % 3);
        let width = face.widths[k];
        if TO_WALL && is_wall(self.quest.mesh, &self.quest.is_open, exit) {
            if to >= from {
                let place = source.along.clamp(from, to);
                let [a, b] = self.quest.mesh.ends(exit).map(|vertex| self.quest.mesh.points[vertex as usize]);
                self.touch(source.behind + source.to(place), exit, a + (b - a) * (place / width));
            }
            return;
        }
        if !(to - from > 1e-15 * width) {
            return;
        }
        // Along the edge there is nothing to see, but from within it everything beyond, as from the corner of a triangle
        // without area: as good as from a little before it.
        if !(source.above > GRAZING * width) {
            if !(source.along > from && source.along < to) {
                return;
            }
            source.above = GRAZING * width;
        }
        // The corners of the side: a path along it may be shorter than any of these.
        let (to_from, to_to) = (source.to(from), source.to(to));
        if is_longer(source.behind + to_to, corners[k].distance + to)
            || is_longer(source.behind + to_from, corners[l].distance + (width - from))
        {
            return;
        }
        let nearest = source.behind + source.to(source.along.clamp(from, to));
        let mut key = nearest;
        if self.has_goal {
            let (at_start, at_end) = (corners[k].ahead, corners[l].ahead);
            // From the middle of the interval (Stewart's theorem), and from there to its ends.
            let part = 0.5 * (from + to) / width;
            let middle = at_start * at_start * (1.0 - part) + at_end * at_end * part
                - part * (1.0 - part) * width * width;
            let ahead = middle.max(0.0).sqrt() - 0.5 * (to - from);
            let least = nearest + ahead.max(0.0);
            if least > self.best {
                return;
            }
            if self.is_coarse {
                key = least;
            }
        }
        let across = face.across[k];
        if across < MANY {
            let agrees = face.agrees >> k & 1 == 1;
            self.enter([exit, across], agrees, width, [from, to], &source, key, from_start);
        } else if across == MANY {
            let mesh = self.quest.mesh;
            for entry in mesh.beyond(exit) {
                let agrees = mesh.agree(exit, entry);
                self.enter([exit, entry], agrees, width, [from, to], &source, key, from_start);
            }
        }
    }

    /// Lets paths into a triangle, if it is open.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn enter(
        &mut self,
        [exit, entry]: [u32; 2],
        agrees: bool,
        width: f64,
        [from, to]: [f64; 2],
        source: &Source,
        key: f64,
        from_start: bool,
    ) {
        let Quest { mesh, ref is_open, firsts, goal, aim, .. } = *self.quest;
        let triangle = entry / 3;
        if !is_open(triangle) || (from_start && firsts.contains(&triangle)) {
            return;
        }
        let Source { before, along, above, behind } = *source;
        // Sides of triangles that are turned the same way round run against one another.
        let (from, to, along) =
            if agrees { (width - to, width - from, width - along) } else { (from, to, along) };
        let reused = match aim {
            Aim::Distances if self.state.free.len() > REST => self.state.free.pop_front(),
            _ => None,
        };
        let index = reused.unwrap_or(self.state.found.windows.len() as u32);
        if index >= self.limit {
            // What is left need not be looked at.
            self.state.is_full = true;
            self.best = f64::NEG_INFINITY;
            return;
        }
        let round = self.state.found.round;
        if self.state.found.entered[triangle as usize].round != round {
            self.state.found.entered[triangle as usize] = Entered::new(round);
        }
        let mut window = Window { entry, exit, before, older: NONE, from, to, along, below: above, behind };
        let is_kept = if self.is_coarse {
            self.claim(&mut window, index, width)
        } else {
            self.trim(&mut window, index, width)
        };
        if !is_kept {
            self.state.free.extend(reused);
            return;
        }
        match reused {
            Some(index) => self.state.found.windows[index as usize] = window,
            None => self.state.found.windows.push(window),
        }
        if self.state.found.entered[triangle as usize].is_at_goal {
            let (at, height) = Frame::new(mesh, entry).local(goal);
            self.offer(window.through(at, height), Last::Window(index));
        }
        self.state.open.push(key, index);
    }

    /// Takes away what the last windows of the side see no further away; false where nothing is left.
    #[inline]
    fn trim(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let found = &mut self.state.found;
        let side = &mut found.entered[window.entry as usize / 3].windows[window.entry as usize % 3];
        window.older = side[LATEST];
        let mut next = side[LATEST];
        // Where windows are forgotten, the older ones of a side may be anything.
        let count = side[COUNT].wrapping_add(1);
        let is_crowded =
            count > 0 && count.is_multiple_of(CROWD) && !matches!(self.quest.aim, Aim::Distances);
        let rivals = if is_crowded { CROWD_RIVALS } else { RIVALS };
        // What no rival sees nearer.
        let (mut from, mut to) = (window.from, window.to);
        for _ in 0..rivals {
            let Some(rival) = found.windows.get(next as usize) else { break };
            if rival.entry != window.entry {
                // One that was forgotten, whose place another has.
                break;
            }
            next = rival.older;
            let (begin, end) = (from.max(rival.from), to.min(rival.to));
            if !(begin < end && rival.is_nearer(window, [begin, end], width)) {
                continue;
            }
            match (begin <= from + BIT * width, end >= to - BIT * width) {
                (true, true) => return false,
                (true, false) => from = end,
                (false, true) => to = begin,
                (false, false) => {}
            }
        }
        // A little more is kept, so that by rounding nothing falls between the windows.
        window.from = window.from.max(from - APART * width);
        window.to = window.to.min(to + APART * width);
        if matches!(self.quest.aim, Aim::Distances) && window.to - window.from <= SLIVER * width {
            return false;
        }
        side[LATEST] = index;
        side[COUNT] = count;
        true
    }

    /// A place among the windows of a side that a coarse search keeps, for the part of the interval where no other is nearer;
    /// false where there is none.
    #[inline]
    fn claim(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let found = &mut self.state.found;
        let slot = &mut found.entered[window.entry as usize / 3].windows[window.entry as usize % 3];
        // The place of the window whose nearest point is furthest.
        let mut last = (0.0, 0);
        let is_long = width > LONG * self.quest.mesh.mean_edge;
        let most = if index < FEW || is_long { SLOT } else { self.most };
        for (i, &kept) in slot[..most].iter().enumerate() {
            if kept == NONE {
                last = (f64::INFINITY, i);
                break;
            }
            let kept = &found.windows[kept as usize];
            let (from, to) = (window.from.max(kept.from), window.to.min(kept.to));
            let middle = 0.5 * (from + to);
            // On a short side, nearer in the middle is nearly nearer everywhere.
            let is_nearer = if is_long {
                from < to && kept.is_nearer(window, [from, to], width)
            } else {
                from < to && is_no_longer(kept.distance(middle), window.distance(middle), width)
            };
            if is_nearer {
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
        if is_no_longer(last.0, window.nearest(), width) {
            return false;
        }
        slot[last.1] = index;
        true
    }

    /// Leads a window's paths across the triangle that they entered.
    fn cross(&mut self, index: u32) {
        let mesh = self.quest.mesh;
        let Window { entry, from, to, along, below, behind, .. } = self.state.found.windows[index as usize];
        // The frame of the entry: a at 0, b at its end, c above.
        let (a, b, c) = (entry, next(entry), previous(entry));
        let [i, j, k] = [a, b, c].map(|corner| corner as usize % 3);
        let face = &mesh.faces[entry as usize / 3];
        let mut corners = self.corners(entry / 3);
        let (width, x, y) = (face.widths[i], face.along[i], face.height(i));
        let (to_a, to_b) = (corners[i].distance, corners[j].distance);
        // What has been learnt of the edge's ends since.
        let source = Source { before: index, along, above: below, behind };
        if is_longer(behind + source.to(to), to_a + to)
            || is_longer(behind + source.to(from), to_b + (width - from))
        {
            return;
        }
        // Where the path to the far corner crosses the edge.
        let at = along + (x - along) * (below / (below + y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        let sees_corner = to_left && to_right;
        // What goes to the left crosses the edge up to there, and to the right from there.
        let (mut left_to, mut right_from) = if sees_corner { (at, at) } else { (to, from) };
        if sees_corner {
            let distance = behind + length(x - along, y + below);
            if !self.is_coarse {
                // What the nearest one sees beyond its own way to the corner it sees nearer. Where an edge has three triangles it
                // may come from another one than this window, and be nearer only where their ways cross.
                match self.nearest_to_see(index, distance, (x, y)) {
                    Some(nearest) if at - nearest < -APART * width => {
                        right_from = nearest;
                        to_right = self.has_many && nearest < to;
                    }
                    Some(nearest) if at - nearest > APART * width => {
                        left_to = nearest;
                        to_left = self.has_many && nearest > from;
                    }
                    _ => {}
                }
            }
            if distance < corners[k].distance {
                self.reach(c, distance, index, NONE);
                corners[k].distance = distance;
            }
        } else if at > from - APART * width && at < to + APART * width {
            // Straight through a vertex there is no window but those on either side, each of which sees by rounding alone what is ahead:
            // along the end of its interval.
            let end = at.clamp(from, to);
            let distance = behind + source.to(end) + length(x - end, y);
            if distance < corners[k].distance {
                self.reach(c, distance, index, NONE);
                corners[k].distance = distance;
            }
        }
        // The part of the far side, from the edge's end at 0, where the ray over `at` comes out.
        let part = |at: f64, along: f64, x: f64| {
            let part = below * at / (below * x + (along - at) * y);
            if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
        };
        if to_left {
            // From c to a.
            let side = face.widths[k];
            let near = part(from, along, x);
            let far = if left_to == at { 1.0 } else { part(left_to, along, x) };
            // The third corner, b: its paths to the near end of the interval cross all of these.
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_b + length(near * x - width, near * y)) {
                let source = Source {
                    along: (x * (x - along) + y * (y + below)) / side,
                    above: (x * below + y * along) / side,
                    before: index,
                    behind,
                };
                let interval = [side * (1.0 - far), side * (1.0 - near)];
                self.send(c, face, &corners, interval, source, false);
            }
        }
        if to_right {
            // From b to c, seen in the mirror. Where c is near b the difference of two long sides would tell little of the angle at b, and
            // where paths begin far away they would be led astray.
            let side = face.widths[j];
            let cosine = face.along[j] / width;
            let (x, along) = (cosine * side, width - along);
            let near = part(width - to, along, x);
            let far = if right_from == at { 1.0 } else { part(width - right_from, along, x) };
            let path = behind + length(near * x - along, near * y + below);
            if !is_longer(path, to_a + length(near * x - width, near * y)) {
                let sine = y / side;
                let source = Source {
                    along: side - (cosine * (x - along) + sine * (y + below)),
                    above: cosine * below + sine * along,
                    before: index,
                    behind,
                };
                self.send(b, face, &corners, [side * near, side * far], source, false);
            }
        }
    }

    /// Where the path of a nearer window to the corner across, at `(x, y)`, crosses their side; none where this window is the
    /// nearest from now on, or as near.
    #[inline]
    fn nearest_to_see(&mut self, index: u32, distance: f64, (x, y): (f64, f64)) -> Option<f64> {
        let found = &mut self.state.found;
        let entry = found.windows[index as usize].entry;
        let nearest = &mut found.entered[entry as usize / 3].windows[entry as usize % 3][NEAREST];
        let rival = found.windows.get(*nearest as usize).filter(|rival| rival.entry == entry);
        if let Some(rival) = rival {
            let at = rival.along + (x - rival.along) * (rival.below / (rival.below + y));
            // Another has its place where it was forgotten, which may not see the corner.
            if at > rival.from && at < rival.to {
                let to_rival = rival.behind + length(x - rival.along, y + rival.below);
                if !(distance < to_rival) {
                    return is_longer(distance, to_rival).then_some(at);
                }
            }
        }
        *nearest = index;
        None
    }
}

/// Whether a path is longer than another by more than rounding.
#[inline]
fn is_longer(path: f64, other: f64) -> bool {
    path > other + MARGIN * path
}

/// Where paths begin, in the frame of the side that they leave by.
#[derive(Clone, Copy)]
struct Source {
    before: u32,
    along: f64,
    above: f64,
    behind: f64,
}

impl Source {
    /// How far a place of the side is from where the paths begin.
    #[inline]
    fn to(&self, place: f64) -> f64 {
        length(place - self.along, self.above)
    }
}

/// The frame of a side: along it, and up into its triangle.
pub(crate) struct Frame {
    origin: DVec3,
    direction: DVec3,
    width: f64,
}

impl Frame {
    pub(crate) fn new(mesh: &Mesh, side: u32) -> Self {
        let [origin, end] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let width = origin.distance(end);
        Self { origin, direction: (end - origin) / width, width }
    }

    /// A point of the side's triangle.
    pub(crate) fn local(&self, point: DVec3) -> (f64, f64) {
        let offset = point - self.origin;
        (offset.dot(self.direction), offset.cross(self.direction).length())
    }
}
