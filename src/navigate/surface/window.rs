//! The exact geodesic: windows, propagated from triangle to triangle in the order of their distance.
//!
//! All shortest paths that go through the same edges from the same point make up a window: an interval of an edge, and the
//! point, laid out in the plane of the triangle that the window leads into (Mitchell, Mount, Papadimitriou 1987). Those that
//! can hold no shortest path any more are dropped by what is known of the triangle's corners (Xin, Wang 2009, "Improving Chen
//! and Han's algorithm on the discrete geodesic problem", §3), and of two that see the same corner through the same edge only the
//! nearer one goes on to both sides (Chen, Han 1990). Paths bend at vertices with more than a full turn around them and at the
//! rim; from there new windows spread.

use glam::DVec3;

use super::mesh::{MANY, Mesh, NONE};
use crate::navigate::heap::Heap;

/// Of a distance: what is longer by less is not dropped, so that rounding alone drops nothing.
const MARGIN: f64 = 1e-12;

/// Of an edge: what is nearer to its line lies on it.
const GRAZING: f64 = 1e-13;

/// Marks a heap's entry that is a corner, not a window.
const CORNER: u32 = 1 << 31;

/// An interval of an edge that a bundle of straight paths crosses.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// The side that the paths enter by, of the triangle that they lead into.
    entry: u32,
    /// The side that they left the triangle before by; the same edge.
    exit: u32,
    /// The window before, or [`NONE`] where the paths begin in the triangle before.
    before: u32,
    /// The corner that they begin at, or [`NONE`] for the start itself or where there is a window before.
    origin: u32,
    /// The interval along the entry side.
    from: f64,
    to: f64,
    /// Where the paths begin: along the entry side, and how far below it.
    along: f64,
    below: f64,
    /// The distance that they have come when they begin.
    behind: f64,
}

/// The best that is known of a corner of a triangle; all corners of one vertex that edges connect have the same.
#[derive(Debug, Clone, Copy)]
struct Corner {
    distance: f64,
    /// The window that it was seen through, or [`NONE`].
    window: u32,
    /// The corner of the same vertex that was reached first, and, where no window leads there, the corner of the same
    /// triangle from which an edge does; [`NONE`] for the start itself.
    reached: u32,
    along_edge: u32,
    round: u32,
    /// The walk around the vertex that was here last.
    walk: u32,
}

/// The nearest window that sees the far corner through a side.
#[derive(Debug, Clone, Copy)]
struct Occupant {
    distance: f64,
    /// Where the path to the corner crosses the side.
    at: f64,
    round: u32,
}

/// Where the best path to the goal comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    Nothing,
    /// Straight from the start, within one triangle.
    Straight(u32),
    Window(u32),
    Corner(u32),
}

/// A search and its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows {
    heap: Heap,
    windows: Vec<Window>,
    corners: Vec<Corner>,
    occupants: Vec<Occupant>,
    round: u32,
    walk: u32,
    around: Vec<u32>,
}

/// A query.
pub(super) struct Quest<'a, F> {
    pub(super) mesh: &'a Mesh,
    pub(super) is_open: F,
    /// The triangles that the start lies on.
    pub(super) firsts: &'a [u32],
    pub(super) start: DVec3,
    /// The triangles that the goal lies on.
    pub(super) lasts: &'a [u32],
    pub(super) goal: DVec3,
    /// The length of a path that is known: longer ones are not looked for.
    pub(super) bound: f64,
}

/// A quest under way.
struct Run<'a, 'b, F> {
    quest: &'a Quest<'b, F>,
    state: &'a mut Windows,
    best: f64,
    last: Last,
}

impl Windows {
    /// Finds the strip of the shortest path, as [`Unfolded::lay_out`](super::unfold::Unfolded::lay_out) takes it, and its first
    /// and last triangle; none where no path is shorter than the bound.
    pub(super) fn strip<F: Fn(u32) -> bool>(
        &mut self,
        quest: &Quest<'_, F>,
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        self.begin(quest.mesh);
        let mut run = Run { quest, state: self, best: quest.bound, last: Last::Nothing };
        run.start();
        run.spread();
        let last = run.last;
        self.trace(quest.mesh, &quest.is_open, last, sides)
    }

    fn begin(&mut self, mesh: &Mesh) {
        self.heap.clear();
        self.windows.clear();
        self.round = self.round.wrapping_add(1);
        let count = 3 * mesh.triangle_count();
        if self.corners.len() != count || self.round == 0 || self.walk > u32::MAX / 2 {
            let corner = Corner { distance: 0.0, window: 0, reached: 0, along_edge: 0, round: 0, walk: 0 };
            self.corners.clear();
            self.corners.resize(count, corner);
            self.occupants.clear();
            self.occupants.resize(count, Occupant { distance: 0.0, at: 0.0, round: 0 });
            (self.round, self.walk) = (1, 0);
        }
    }

    /// How far a corner is, as far as is known.
    fn distance(&self, corner: u32) -> f64 {
        let corner = &self.corners[corner as usize];
        if corner.round == self.round { corner.distance } else { f64::INFINITY }
    }

    /// Finds the corners of a corner's vertex that edges of open triangles connect; true where they go all around, with two
    /// triangles to an edge.
    fn walk_around(&mut self, mesh: &Mesh, is_open: impl Fn(u32) -> bool, corner: u32) -> bool {
        self.walk += 1;
        let walk = self.walk;
        let mut is_closed = true;
        self.around.clear();
        self.around.push(corner);
        self.corners[corner as usize].walk = walk;
        let mut at = 0;
        while let Some(&corner) = self.around.get(at) {
            at += 1;
            let triangle = corner / 3;
            let vertex = mesh.triangles[triangle as usize][corner as usize % 3];
            // The side that begins at the corner, and the one that ends there.
            for side in [corner, 3 * triangle + (corner + 2 - 3 * triangle) % 3] {
                is_closed &= mesh.across[side as usize] < MANY;
                for other in mesh.beyond(side) {
                    if !is_open(other / 3) {
                        is_closed = false;
                        continue;
                    }
                    let own =
                        mesh.triangles[other as usize / 3].iter().position(|&v| v == vertex).unwrap_or(0);
                    let next = other / 3 * 3 + own as u32;
                    if std::mem::replace(&mut self.corners[next as usize].walk, walk) != walk {
                        self.around.push(next);
                    }
                }
            }
        }
        is_closed
    }

    /// Follows the windows back from the goal.
    fn trace(
        &mut self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        last: Last,
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        sides.clear();
        // From the goal to the start: the sides are turned round at the end.
        let (mut window, mut corner, end) = match last {
            Last::Nothing => return None,
            Last::Straight(triangle) => return Some([triangle; 2]),
            Last::Window(window) => (window, NONE, self.windows[window as usize].entry / 3),
            Last::Corner(corner) => (NONE, corner, corner / 3),
        };
        let mut first;
        // Each turn goes back by a window or a corner, whose distance is less.
        loop {
            if window != NONE {
                let here = self.windows[window as usize];
                sides.push([here.exit, here.entry]);
                first = here.exit / 3;
                (window, corner) = (here.before, here.origin);
                if window == NONE && corner == NONE {
                    break;
                }
                continue;
            }
            // Around the vertex, to where it was reached first.
            let here = self.corners[corner as usize];
            self.turn(mesh, &is_open, here.reached, corner, sides);
            let reached = self.corners[here.reached as usize];
            first = here.reached / 3;
            (window, corner) = (reached.window, reached.along_edge);
            if window == NONE && corner == NONE {
                break;
            }
        }
        sides.reverse();
        Some([first, end])
    }

    /// The sides crossed from corner to corner of one vertex, backwards.
    fn turn(
        &mut self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        from: u32,
        to: u32,
        sides: &mut Vec<[u32; 2]>,
    ) {
        if from == to {
            return;
        }
        // Breadth first, so that the way around is one of the shortest.
        let vertex = mesh.triangles[from as usize / 3][from as usize % 3];
        let mut found: Vec<(u32, [u32; 2], usize)> = vec![(from, [NONE; 2], 0)];
        let mut at = 0;
        while at < found.len() {
            let corner = found[at].0;
            if corner == to {
                let mut step = at;
                while step > 0 {
                    sides.push(found[step].1);
                    step = found[step].2;
                }
                return;
            }
            let triangle = corner / 3;
            for side in [corner, 3 * triangle + (corner + 2 - 3 * triangle) % 3] {
                for other in mesh.beyond(side).filter(|other| is_open(other / 3)) {
                    let own =
                        mesh.triangles[other as usize / 3].iter().position(|&v| v == vertex).unwrap_or(0);
                    let next = other / 3 * 3 + own as u32;
                    if !found.iter().any(|step| step.0 == next) {
                        found.push((next, [side, other], at));
                    }
                }
            }
            at += 1;
        }
    }
}

impl<F: Fn(u32) -> bool> Run<'_, '_, F> {
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
                let ahead = Ahead { before: NONE, origin: NONE, along, above, behind: 0.0 };
                self.send(exit, &frame, [0.0, frame.width], &ahead, true);
            }
        }
    }

    /// Takes what is nearest, until nothing is left that could be shorter.
    fn spread(&mut self) {
        while let Some(entry) = self.state.heap.pop() {
            if entry.key > self.best {
                break;
            }
            if entry.index & CORNER != 0 {
                self.bend(entry.index & !CORNER, entry.key);
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
        if !(distance < self.state.distance(corner)) || distance > self.best {
            return;
        }
        let Quest { mesh, ref is_open, lasts, goal, .. } = *self.quest;
        self.state.walk_around(mesh, is_open, corner);
        let (round, walk) = (self.state.round, self.state.walk);
        for i in 0..self.state.around.len() {
            let other = self.state.around[i];
            let reached = corner;
            self.state.corners[other as usize] =
                Corner { distance, window, reached, along_edge, round, walk };
            if lasts.contains(&(other / 3)) {
                self.offer(distance + self.place(other).distance(goal), Last::Corner(other));
            }
        }
        if distance > 0.0 {
            self.state.heap.push(distance, corner | CORNER);
        }
    }

    /// Lets paths bend at a vertex, where they may.
    fn bend(&mut self, corner: u32, distance: f64) {
        let Quest { mesh, ref is_open, .. } = *self.quest;
        if self.state.distance(corner) != distance {
            return;
        }
        let is_closed = self.state.walk_around(mesh, is_open, corner);
        let around = std::mem::take(&mut self.state.around);
        // Every edge from here, be the vertex one to bend at or not: edges are paths too.
        let turn: f64 = around.iter().map(|&corner| mesh.angle(corner)).sum();
        let may_bend = !is_closed || turn > std::f64::consts::TAU - 1e-9;
        for &corner in &around {
            let triangle = corner / 3;
            let next = 3 * triangle + (corner + 1 - 3 * triangle) % 3;
            let after = 3 * triangle + (corner + 2 - 3 * triangle) % 3;
            let place = self.place(corner);
            for other in [next, after] {
                let length = place.distance(self.place(other));
                self.reach(other, distance + length, NONE, corner);
            }
            if may_bend {
                let frame = Frame::new(mesh, next);
                let (along, above) = frame.local(place);
                let ahead = Ahead { before: NONE, origin: corner, along, above, behind: distance };
                self.send(next, &frame, [0.0, frame.width], &ahead, false);
            }
        }
        self.state.around = around;
    }

    /// Sends paths out of a triangle by one of its sides, into all open triangles beyond.
    fn send(&mut self, exit: u32, frame: &Frame, [from, to]: [f64; 2], ahead: &Ahead, from_start: bool) {
        let Quest { mesh, ref is_open, firsts, lasts, goal, .. } = *self.quest;
        if !(to - from > 1e-15 * frame.width) {
            return;
        }
        // Along the edge there is nothing to see, but from within it everything beyond, as from the corner of a triangle
        // without area: as good as from a little before it.
        let above = if ahead.above > GRAZING * frame.width {
            ahead.above
        } else if ahead.along > from && ahead.along < to {
            GRAZING * frame.width
        } else {
            return;
        };
        let ahead = &Ahead { above, ..*ahead };
        let to_end = |at: f64| (ahead.along - at).hypot(ahead.above);
        // The corners of the side: a path along it may be shorter than any of these.
        let [start, end] =
            [exit, exit / 3 * 3 + (exit + 1 - exit / 3 * 3) % 3].map(|corner| self.state.distance(corner));
        let is_longer = |path: f64, other: f64| path > other + MARGIN * path;
        if is_longer(ahead.behind + to_end(to), start + to)
            || is_longer(ahead.behind + to_end(from), end + (frame.width - from))
        {
            return;
        }
        let nearest = ahead.behind + to_end(ahead.along.clamp(from, to));
        let middle = frame.origin + frame.direction * (0.5 * (from + to));
        let least = nearest + (middle.distance(goal) - 0.5 * (to - from)).max(0.0);
        if least > self.best {
            return;
        }
        for entry in mesh.beyond(exit) {
            let triangle = entry / 3;
            if !is_open(triangle) || (from_start && firsts.contains(&triangle)) {
                continue;
            }
            // Sides of triangles that are turned the same way round run against one another.
            let (from, to, along) = if mesh.agree(exit, entry) {
                (frame.width - to, frame.width - from, frame.width - ahead.along)
            } else {
                (from, to, ahead.along)
            };
            let index = self.state.windows.len() as u32;
            let Ahead { before, origin, above, behind, .. } = *ahead;
            let window = Window { entry, exit, before, origin, from, to, along, below: above, behind };
            self.state.windows.push(window);
            if lasts.contains(&triangle) {
                let (at, height) = Frame::new(mesh, entry).local(goal);
                // Where the straight way crosses the edge, or the nearest place of the interval: a path in either case.
                let crossing = along + (at - along) * (above / (above + height));
                let crossing = if crossing.is_nan() { from } else { crossing.clamp(from, to) };
                let length = (crossing - along).hypot(above) + (at - crossing).hypot(height);
                self.offer(behind + length, Last::Window(index));
            }
            self.state.heap.push(nearest, index);
        }
    }

    /// Leads a window's paths across the triangle that they entered.
    fn cross(&mut self, index: u32) {
        let Quest { mesh, .. } = *self.quest;
        let window = self.state.windows[index as usize];
        let Window { entry, from, to, along, below, behind, .. } = window;
        let triangle = entry / 3;
        let [a, b, c] = [0, 1, 2].map(|i| 3 * triangle + (entry + i - 3 * triangle) % 3);
        let frame = Frame::new(mesh, entry);
        let width = frame.width;
        // What has been learnt of the edge's ends since.
        let to_end = |at: f64| (along - at).hypot(below);
        let is_longer = |path: f64, other: f64| path > other + MARGIN * path;
        if is_longer(behind + to_end(to), self.state.distance(a) + to)
            || is_longer(behind + to_end(from), self.state.distance(b) + (width - from))
        {
            return;
        }
        let (x, y) = frame.local(self.place(c));
        // Where the path to the far corner crosses the edge.
        let at = along + (x - along) * (below / (below + y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        if to_left && to_right {
            let distance = behind + (x - along).hypot(y + below);
            let occupant = &mut self.state.occupants[entry as usize];
            if occupant.round != self.state.round || distance < occupant.distance {
                *occupant = Occupant { distance, at, round: self.state.round };
            } else if is_longer(distance, occupant.distance) {
                // What the nearer one sees beyond its own way to the corner it sees nearer.
                if at <= occupant.at {
                    to_right = false;
                } else {
                    to_left = false;
                }
            }
            self.reach(c, distance, index, NONE);
        }
        // A part of the far side at which the ray over `at` comes out, from the edge's end `0`, the far corner at x, y.
        let part = |at: f64, along: f64, x: f64| {
            let part = below * at / (below * x + (along - at) * y);
            if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
        };
        let sees_corner = at > from && at < to;
        let source = [along, -below];
        if to_left {
            // From c to a: its frame runs from c.
            let far = Frame::new(mesh, c);
            let near_part = part(from, along, x);
            let far_part = if sees_corner { 1.0 } else { part(to, along, x) };
            let interval = [far.width * (1.0 - far_part), far.width * (1.0 - near_part)];
            self.follow(c, &far, interval, [a, b], (index, source, [x, y], width), true);
        }
        if to_right {
            let far = Frame::new(mesh, b);
            let near_part = part(width - to, width - along, width - x);
            let far_part = if sees_corner { 1.0 } else { part(width - from, width - along, width - x) };
            let interval = [far.width * near_part, far.width * far_part];
            self.follow(b, &far, interval, [a, b], (index, source, [x, y], width), false);
        }
    }

    /// Sends a window's paths on by one of the two far sides.
    fn follow(
        &mut self,
        exit: u32,
        far: &Frame,
        interval: [f64; 2],
        [a, b]: [u32; 2],
        (index, [source_x, source_y], [x, y], width): (u32, [f64; 2], [f64; 2], f64),
        is_left: bool,
    ) {
        let behind = self.state.windows[index as usize].behind;
        // The far side in the frame of the entry: from c to a, or from b to c.
        let (begin, end) = if is_left { ([x, y], [0.0, 0.0]) } else { ([width, 0.0], [x, y]) };
        let direction = [(end[0] - begin[0]) / far.width, (end[1] - begin[1]) / far.width];
        let offset = [source_x - begin[0], source_y - begin[1]];
        let along = offset[0] * direction[0] + offset[1] * direction[1];
        let above = direction[0] * offset[1] - direction[1] * offset[0];
        // The third corner: its paths to the near end of the interval cross all of these.
        let near = if is_left { interval[1] } else { interval[0] };
        let place = [begin[0] + near * direction[0], begin[1] + near * direction[1]];
        let (third, third_x) = if is_left { (b, width) } else { (a, 0.0) };
        let path = behind + (along - near).hypot(above);
        let other = self.state.distance(third) + (place[0] - third_x).hypot(place[1]);
        if path > other + MARGIN * path {
            return;
        }
        let ahead = Ahead { before: index, origin: NONE, along, above, behind };
        self.send(exit, far, interval, &ahead, false);
    }
}

/// Where paths begin, in the frame of the side that they leave by.
struct Ahead {
    before: u32,
    origin: u32,
    along: f64,
    above: f64,
    behind: f64,
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
    fn local(&self, point: DVec3) -> (f64, f64) {
        let offset = point - self.origin;
        (offset.dot(self.direction), offset.cross(self.direction).length())
    }
}
