//! The propagation of windows from triangle to triangle.
//!
//! The distances of a triangle's corners prune windows that can't hold a shortest path (Xin, Wang 2009, "Improving Chen and Han's
//! algorithm on the discrete geodesic problem", §3). Of two windows that see the same corner through the same edge, only the nearer one
//! goes on to both sides (Chen, Han 1990). Paths bend at boundary vertices, and at vertices with more than a full turn around them: these
//! are pseudo-sources, from which new windows start.
//!
//! A coarse search keeps the best few windows of each side, without the parts where another is nearer. Unfolding the strip that it finds
//! makes up for what it drops. What a window loses is in `prune.rs`.

use std::f64::consts::PI;

use glam::DVec3;

use crate::navigate::surface::geodesic::nodes::OneRingShape;
use crate::navigate::surface::geodesic::side_frame::SideFrame;
use crate::navigate::surface::geodesic::wall_boxes::is_wall;
use crate::navigate::surface::geodesic::window::{
    Arrival, CORNER, NodeState, Predecessor, SLOTS_PER_SIDE, SearchMode, TriangleWindows, WallHit, Window,
    WindowQuery, WindowSearch, length,
};
use crate::navigate::surface::mesh::topology::{ANGLE_ROUNDING, Face, NON_MANIFOLD, NONE, next, previous};

/// Relative to a distance: a window that is longer by less is not dropped, so that rounding drops none.
const ROUNDING_MARGIN: f64 = 1e-12;

/// Relative to an edge's length: a pseudo-source nearer to its line counts as on the line.
const GRAZING: f64 = 1e-13;

/// Relative to an edge's length: of two paths that cross it no further apart, rounding decides which is to the left. Windows overlap by
/// so much.
pub(crate) const OVERLAP: f64 = 1e-6;

/// How many windows a coarse search without landmarks keeps on a side once it is large.
const UNGUIDED_SLOTS: usize = 3;

/// How many propagated windows a search for distances keeps before it recycles them: new ones are compared with the last of their side.
const RECYCLED_AFTER: usize = 4096;

/// A running search. `TO_WALL` says at compile time whether it looks for the nearest wall, so that tests for walls cost other searches
/// nothing.
pub(crate) struct Propagation<'a, 'b, const TO_WALL: bool> {
    pub(crate) query: &'a WindowQuery<'b>,
    pub(crate) nodes: &'b [[u32; 3]],
    pub(crate) search: &'a mut WindowSearch,
    /// Few windows of each side are kept, and the order is that of A*, not of distances.
    is_coarse: bool,
    /// How many windows a coarse search keeps on a side.
    pub(crate) slot_count: usize,
    /// There is a goal or a wall to reach, so bounds of the remaining distance are of use.
    has_goal: bool,
    /// The mesh has edges with three triangles or more.
    is_non_manifold: bool,
    /// The limit of windows.
    limit: u32,
    /// The length of the best path so far.
    best: f64,
    arrival: Arrival,
}

/// The state of a corner's node, as far as windows need it.
#[derive(Clone, Copy)]
struct CornerState {
    distance: f64,
    /// A lower bound of the distance to the goal.
    bound_ahead: f64,
}

impl<'a, 'b, const TO_WALL: bool> Propagation<'a, 'b, TO_WALL> {
    pub(crate) fn new(query: &'a WindowQuery<'b>, search: &'a mut WindowSearch) -> Self {
        let is_coarse = matches!(query.mode, SearchMode::Coarse);
        let has_goal =
            !matches!(query.mode, SearchMode::Paths | SearchMode::Vertices { .. } | SearchMode::Distances);
        let limit = if let SearchMode::Wall { limit, .. } = query.mode { limit } else { CORNER };
        let nodes = query.nodes.of(query.mesh);
        let slot_count = if query.heuristic.is_some() { SLOTS_PER_SIDE } else { UNGUIDED_SLOTS };
        let is_non_manifold = !query.mesh.non_manifold_sides.is_empty();
        let (best, arrival) = (query.bound, Arrival::Nothing);
        Self { query, nodes, search, is_coarse, slot_count, has_goal, is_non_manifold, limit, best, arrival }
    }

    /// Runs the search. Returns how the best path arrives at the goal.
    pub(crate) fn run(mut self) -> Arrival {
        self.seed();
        self.propagate();
        if matches!(self.query.mode, SearchMode::Vertices { .. }) {
            self.release_all();
        }
        self.arrival
    }

    /// The state of a node at a vertex.
    #[inline(always)]
    fn node_state(&mut self, node: u32, vertex: u32) -> &mut NodeState {
        let generation = self.search.state.generation;
        if self.search.state.nodes[node as usize].generation != generation {
            let bound_ahead = self.bound_ahead(vertex);
            self.search.state.nodes[node as usize] = NodeState::new(bound_ahead, generation);
        }
        &mut self.search.state.nodes[node as usize]
    }

    /// The states of the corners of a triangle.
    #[inline]
    fn corner_states(&mut self, triangle: u32) -> [CornerState; 3] {
        let [i, j, k] = self.query.mesh.triangles[triangle as usize];
        let [a, b, c] = self.nodes[triangle as usize];
        [self.corner_state(a, i), self.corner_state(b, j), self.corner_state(c, k)]
    }

    #[inline]
    fn corner_state(&mut self, node: u32, vertex: u32) -> CornerState {
        let state = self.node_state(node, vertex);
        CornerState { distance: state.distance, bound_ahead: state.bound_ahead }
    }

    /// A lower bound of the distance from a vertex to the goal.
    #[inline(never)]
    fn bound_ahead(&self, vertex: u32) -> f64 {
        if !self.has_goal {
            return 0.0;
        }
        let place = self.query.mesh.points[vertex as usize];
        if let SearchMode::Wall { boxes, .. } = self.query.mode {
            return boxes.map_or(0.0, |boxes| boxes.lower_bound(place));
        }
        let straight = place.distance(self.query.goal) * (1.0 - ROUNDING_MARGIN);
        self.query.heuristic.map_or(straight, |heuristic| straight.max(heuristic.estimate(vertex)))
    }

    /// The first windows and corners: those that the start sees.
    fn seed(&mut self) {
        let WindowQuery { mesh, start_triangles, start, goal_triangles, goal, .. } = *self.query;
        for &triangle in goal_triangles {
            let generation = self.search.state.generation;
            let entered = TriangleWindows { is_at_goal: true, ..TriangleWindows::new(generation) };
            self.search.state.triangles[triangle as usize] = entered;
            for k in 0..3 {
                let (node, vertex) = (self.nodes[triangle as usize][k], mesh.triangles[triangle as usize][k]);
                self.node_state(node, vertex).is_at_goal = true;
            }
        }
        for &triangle in start_triangles {
            if goal_triangles.contains(&triangle) {
                self.offer_path(start.distance(goal), Arrival::Straight(triangle));
            }
            for corner in 3 * triangle..3 * triangle + 3 {
                let distance = start.distance(self.place(corner));
                self.reach_corner(corner, distance, NONE, NONE);
            }
        }
        for &triangle in start_triangles {
            let (face, corners) = (&mesh.faces[triangle as usize], self.corner_states(triangle));
            for exit in 3 * triangle..3 * triangle + 3 {
                let frame = SideFrame::new(mesh, exit);
                let (x, height) = frame.local(start);
                let source = PseudoSource { parent: NONE, x, height, base_distance: 0.0 };
                self.emit(exit, face, &corners, [0.0, frame.width], source, true);
            }
        }
    }

    /// Propagates windows and expands vertices, nearest first, until none is left that could be on a shorter path.
    fn propagate(&mut self) {
        while let Some(entry) = self.search.open.pop() {
            if entry.key > self.best {
                continue;
            }
            if entry.index & CORNER != 0 {
                self.expand_vertex(entry.index & !CORNER);
            } else {
                self.cross_triangle(entry.index);
                match self.query.mode {
                    SearchMode::Distances => self.search.free.push_back(entry.index),
                    SearchMode::Vertices { .. } => self.retire(entry),
                    _ => {}
                }
            }
        }
    }

    fn place(&self, corner: u32) -> DVec3 {
        let mesh = self.query.mesh;
        mesh.points[mesh.triangles[corner as usize / 3][corner as usize % 3] as usize]
    }

    /// Takes a path to the goal if it is the best so far.
    fn offer_path(&mut self, length: f64, arrival: Arrival) {
        if length < self.best {
            (self.best, self.arrival) = (length, arrival);
        }
    }

    /// Takes a path to a wall if it is the best so far.
    #[inline(never)]
    fn reach_wall(&mut self, distance: f64, side: u32, point: DVec3) {
        // Of equally near walls the lowest side wins, so that the result does not depend on the order of the search.
        let is_lower =
            matches!(self.arrival, Arrival::Wall(wall) if distance == wall.distance && side < wall.side);
        if distance < self.best || is_lower {
            (self.best, self.arrival) = (distance, Arrival::Wall(WallHit { distance, point, side }));
        }
    }

    /// Takes a path to a corner, and so to its node, if it is the shortest so far.
    #[inline]
    fn reach_corner(&mut self, corner: u32, distance: f64, window: u32, along_edge: u32) {
        if distance > self.best {
            return;
        }
        let (triangle, k) = (corner as usize / 3, corner as usize % 3);
        let next_predecessor = self.search.state.predecessors.len() as u32;
        let node = self.node_state(self.nodes[triangle][k], self.query.mesh.triangles[triangle][k]);
        if !(distance < node.distance) {
            return;
        }
        // The predecessor of a longer path is of no use any more.
        let index = if node.predecessor == NONE { next_predecessor } else { node.predecessor };
        (node.distance, node.predecessor) = (distance, index);
        let bound_ahead = node.bound_ahead;
        let predecessor = Predecessor { corner, window, along_edge, is_expanded: false };
        match self.search.state.predecessors.get_mut(index as usize) {
            Some(old) => *old = predecessor,
            None => self.search.state.predecessors.push(predecessor),
        }
        let key = if self.is_coarse { distance + bound_ahead } else { distance };
        self.search.open.push(key, corner | CORNER);
    }

    /// Expands a vertex: paths follow its edges, and new windows start if paths may bend there.
    fn expand_vertex(&mut self, corner: u32) {
        let WindowQuery { mesh, walkable, goal_triangles, goal, .. } = *self.query;
        let node = self.nodes[corner as usize / 3][corner as usize % 3];
        let NodeState { distance, bound_ahead, predecessor, is_at_goal, .. } =
            self.search.state.nodes[node as usize];
        let was_expanded =
            std::mem::replace(&mut self.search.state.predecessors[predecessor as usize].is_expanded, true);
        if was_expanded || distance + bound_ahead > self.best {
            return;
        }
        let shape = self.search.one_ring.collect(mesh, walkable, corner);
        let around = std::mem::take(&mut self.search.one_ring.corners);
        for &other in around.iter().filter(|&other| is_at_goal && goal_triangles.contains(&(other / 3))) {
            self.offer_path(distance + self.place(other).distance(goal), Arrival::Corner(other));
        }
        if TO_WALL && shape != OneRingShape::Closed {
            let walls = around.iter().flat_map(|&other| [other, previous(other)]);
            if let Some(wall) = walls.filter(|&side| is_wall(mesh, walkable, side)).min() {
                self.search.one_ring.corners = around;
                return self.reach_wall(distance, wall, self.place(corner));
            }
        }
        // `seed` has handled a vertex at the start itself.
        if distance == 0.0 {
            self.search.one_ring.corners = around;
            return;
        }
        // Paths follow every edge, whether they may bend here or not: so whatever a coarse search drops, its path is no longer than the
        // shortest along edges.
        let vertex = mesh.triangles[corner as usize / 3][corner as usize % 3];
        // A shortest path has at least half a turn on both sides of a bend, unless one side is the boundary. Along a straight boundary the
        // edges suffice.
        let may_bend = match shape {
            OneRingShape::Closed => mesh.may_bend[vertex as usize],
            OneRingShape::Open => {
                around.iter().map(|&corner| mesh.measured_angle(corner)).sum::<f64>() > PI + ANGLE_ROUNDING
            }
            OneRingShape::NonManifold => true,
        };
        for &corner in &around {
            let (triangle, k) = (corner / 3, corner as usize % 3);
            let face = &mesh.faces[triangle as usize];
            let (next, previous) = (next(corner), previous(corner));
            self.reach_corner(next, distance + face.lengths[k], NONE, corner);
            // In a closed one-ring, the edge before this corner is the next edge of the neighbour with the same orientation.
            if shape != OneRingShape::Closed || face.opposed >> (previous % 3) & 1 == 0 {
                self.reach_corner(previous, distance + face.lengths[previous as usize % 3], NONE, corner);
            }
            if may_bend {
                let across = next as usize % 3;
                let (x, height) = (face.along[across], face.height(across));
                let source = PseudoSource { parent: corner | CORNER, x, height, base_distance: distance };
                let corners = self.corner_states(triangle);
                self.emit(next, face, &corners, [0.0, face.lengths[across]], source, false);
            }
        }
        self.search.one_ring.corners = around;
    }

    /// Sends the paths of an interval out of a triangle by one of its sides, into all walkable triangles across it.
    #[inline(always)]
    fn emit(
        &mut self,
        exit: u32,
        face: &Face,
        corners: &[CornerState; 3],
        [from, to]: [f64; 2],
        mut source: PseudoSource,
        from_start: bool,
    ) {
        let (k, l) = (exit as usize % 3, next(exit) as usize % 3);
        let width = face.lengths[k];
        if TO_WALL && is_wall(self.query.mesh, self.query.walkable, exit) {
            if to >= from {
                let place = source.x.clamp(from, to);
                let [a, b] = self.query.mesh.ends(exit).map(|vertex| self.query.mesh.points[vertex as usize]);
                self.reach_wall(source.base_distance + source.to(place), exit, a + (b - a) * (place / width));
            }
            return;
        }
        if !(to - from > 1e-15 * width) {
            return;
        }
        // A pseudo-source on the edge's line sees nothing through the edge, unless it lies within the interval, as at the corner of a
        // triangle without area. Then it is moved a little off the line.
        if !(source.height > GRAZING * width) {
            if !(source.x > from && source.x < to) {
                return;
            }
            source.height = GRAZING * width;
        }
        // Xin and Wang's filter: a path over an end of the side may be shorter than any of these.
        let (to_from, to_to) = (source.to(from), source.to(to));
        if is_longer(source.base_distance + to_to, corners[k].distance + to)
            || is_longer(source.base_distance + to_from, corners[l].distance + (width - from))
        {
            return;
        }
        let nearest = source.base_distance + source.to(source.x.clamp(from, to));
        let mut key = nearest;
        if self.has_goal {
            let (at_start, at_end) = (corners[k].bound_ahead, corners[l].bound_ahead);
            // A bound from the midpoint of the interval (Stewart's theorem), less half its length.
            let part = 0.5 * (from + to) / width;
            let middle = at_start * at_start * (1.0 - part) + at_end * at_end * part
                - part * (1.0 - part) * width * width;
            let bound_ahead = middle.max(0.0).sqrt() - 0.5 * (to - from);
            let least = nearest + bound_ahead.max(0.0);
            if least > self.best {
                return;
            }
            if self.is_coarse {
                key = least;
            }
        }
        let twin = face.twins[k];
        if twin < NON_MANIFOLD {
            let is_opposed = face.opposed >> k & 1 == 1;
            self.enter_triangle([exit, twin], is_opposed, width, [from, to], &source, key, from_start);
        } else if twin == NON_MANIFOLD {
            let mesh = self.query.mesh;
            for entry in mesh.twins(exit) {
                let is_opposed = mesh.is_opposed(exit, entry);
                self.enter_triangle([exit, entry], is_opposed, width, [from, to], &source, key, from_start);
            }
        }
    }

    /// Makes a window where paths enter a triangle, if it is walkable and the window is not pruned.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn enter_triangle(
        &mut self,
        [exit, entry]: [u32; 2],
        is_opposed: bool,
        width: f64,
        [from, to]: [f64; 2],
        source: &PseudoSource,
        key: f64,
        from_start: bool,
    ) {
        let WindowQuery { mesh, walkable, start_triangles, goal, mode, .. } = *self.query;
        let triangle = entry / 3;
        if !walkable.holds(triangle) || (from_start && start_triangles.contains(&triangle)) {
            return;
        }
        let PseudoSource { parent, x, height, base_distance } = *source;
        // Between triangles of the same orientation, the two sides of an edge run in opposite directions.
        let (from, to, source_x) =
            if is_opposed { (width - to, width - from, width - x) } else { (from, to, x) };
        let reused = match mode {
            SearchMode::Distances if self.search.free.len() > RECYCLED_AFTER => self.search.free.pop_front(),
            SearchMode::Vertices { .. } => {
                self.check_entry(triangle);
                self.search.free.pop_back()
            }
            _ => None,
        };
        let index = reused.unwrap_or(self.search.state.windows.len() as u32);
        if index >= self.limit {
            // Stop the search.
            self.search.is_full = true;
            self.best = f64::NEG_INFINITY;
            return;
        }
        let generation = self.search.state.generation;
        if self.search.state.triangles[triangle as usize].generation != generation {
            self.search.state.triangles[triangle as usize] = TriangleWindows::new(generation);
            if matches!(mode, SearchMode::Vertices { .. }) {
                self.search.entered.push(triangle);
            }
        }
        let (previous_on_side, source_depth) = (NONE, height);
        let mut window =
            Window { entry, exit, parent, previous_on_side, from, to, source_x, source_depth, base_distance };
        let is_kept = if self.is_coarse {
            self.keep_in_slot(&mut window, index, width)
        } else {
            self.trim(&mut window, index, width)
        };
        if !is_kept {
            self.search.free.extend(reused);
            return;
        }
        match reused {
            Some(index) => self.search.state.windows[index as usize] = window,
            None => self.search.state.windows.push(window),
        }
        if self.search.state.triangles[triangle as usize].is_at_goal {
            let (at, height) = SideFrame::new(mesh, entry).local(goal);
            self.offer_path(window.through(at, height), Arrival::Window(index));
        }
        self.search.open.push(key, index);
    }

    /// Propagates a window across the triangle that it entered.
    fn cross_triangle(&mut self, index: u32) {
        let mesh = self.query.mesh;
        let Window { entry, from, to, source_x, source_depth: depth, base_distance: base, .. } =
            self.search.state.windows[index as usize];
        // The frame of the entry: a at 0, b at its end, c above.
        let (a, b, c) = (entry, next(entry), previous(entry));
        let [i, j, k] = [a, b, c].map(|corner| corner as usize % 3);
        let face = &mesh.faces[entry as usize / 3];
        let mut corners = self.corner_states(entry / 3);
        let (width, x, y) = (face.lengths[i], face.along[i], face.height(i));
        let (to_a, to_b) = (corners[i].distance, corners[j].distance);
        // The corners may have been reached on shorter paths since.
        let source = PseudoSource { parent: index, x: source_x, height: depth, base_distance: base };
        if is_longer(base + source.to(to), to_a + to)
            || is_longer(base + source.to(from), to_b + (width - from))
        {
            return;
        }
        // Where the straight path to the opposite corner c crosses the edge.
        let at = source_x + (x - source_x) * (depth / (depth + y));
        let (mut to_left, mut to_right) = (at > from, at < to);
        let sees_corner = to_left && to_right;
        // Paths to the left side cross the edge before that place, and paths to the right side after it.
        let (mut left_to, mut right_from) = if sees_corner { (at, at) } else { (to, from) };
        if sees_corner {
            let distance = base + length(x - source_x, y + depth);
            if !self.is_coarse {
                // Beyond its own straight path to the corner, the nearer window is nearer everywhere. At a non-manifold edge it may come from
                // another triangle than this window, and then it is nearer only between the two paths.
                match self.one_angle_one_split(index, distance, (x, y)) {
                    Some(nearest) if at - nearest < -OVERLAP * width => {
                        right_from = nearest;
                        to_right = self.is_non_manifold && nearest < to;
                    }
                    Some(nearest) if at - nearest > OVERLAP * width => {
                        left_to = nearest;
                        to_left = self.is_non_manifold && nearest > from;
                    }
                    _ => {}
                }
            }
            if distance < corners[k].distance {
                self.reach_corner(c, distance, index, NONE);
                corners[k].distance = distance;
            }
        } else if at > from - OVERLAP * width && at < to + OVERLAP * width {
            // A path straight through a vertex lies at the end of a window on either side, where rounding may hide the corner from both. So a
            // corner just beyond the interval is reached over the interval's end.
            let end = at.clamp(from, to);
            let distance = base + source.to(end) + length(x - end, y);
            if distance < corners[k].distance {
                self.reach_corner(c, distance, index, NONE);
                corners[k].distance = distance;
            }
        }
        // Where the ray through `at` crosses the side from the edge's end at 0 to c, as a fraction of that side.
        let fraction = |at: f64, source_x: f64, x: f64| {
            let fraction = depth * at / (depth * x + (source_x - at) * y);
            if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) }
        };
        if to_left {
            // The side from c to a.
            let side = face.lengths[k];
            let near = fraction(from, source_x, x);
            let far = if left_to == at { 1.0 } else { fraction(left_to, source_x, x) };
            // Xin and Wang's filter by the third corner, b.
            let path = base + length(near * x - source_x, near * y + depth);
            if !is_longer(path, to_b + length(near * x - width, near * y)) {
                let source = PseudoSource {
                    x: (x * (x - source_x) + y * (y + depth)) / side,
                    height: (x * depth + y * source_x) / side,
                    parent: index,
                    base_distance: base,
                };
                let interval = [side * (1.0 - far), side * (1.0 - near)];
                self.emit(c, face, &corners, interval, source, false);
            }
        }
        if to_right {
            // The side from b to c, mirrored. The angle at b comes from its cosine: where c is near b, the difference of two long lengths would
            // be inexact, and paths from far away would go astray.
            let side = face.lengths[j];
            let cosine = face.along[j] / width;
            let (x, source_x) = (cosine * side, width - source_x);
            let near = fraction(width - to, source_x, x);
            let far = if right_from == at { 1.0 } else { fraction(width - right_from, source_x, x) };
            let path = base + length(near * x - source_x, near * y + depth);
            if !is_longer(path, to_a + length(near * x - width, near * y)) {
                let sine = y / side;
                let source = PseudoSource {
                    x: side - (cosine * (x - source_x) + sine * (y + depth)),
                    height: cosine * depth + sine * source_x,
                    parent: index,
                    base_distance: base,
                };
                self.emit(b, face, &corners, [side * near, side * far], source, false);
            }
        }
    }
}

/// Whether a path is longer than another by more than rounding.
#[inline]
pub(crate) fn is_longer(path: f64, other: f64) -> bool {
    path > other + ROUNDING_MARGIN * path
}

/// A pseudo-source, in the frame of the side by which its paths leave a triangle. `parent` is as in [`Window::parent`].
#[derive(Clone, Copy)]
struct PseudoSource {
    parent: u32,
    x: f64,
    height: f64,
    base_distance: f64,
}

impl PseudoSource {
    /// The distance from the pseudo-source to a place on the side.
    #[inline]
    fn to(&self, place: f64) -> f64 {
        length(place - self.x, self.height)
    }
}
