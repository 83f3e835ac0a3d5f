//! `optimal`: the true shortest path over convex cells.
//!
//! Polyanya (Cui, Harabor, Grastien 2017, "Compromise-free Pathfinding on a Navigation Mesh", IJCAI): a node of the
//! search is a root and what it sees of an edge; its successors are what the root sees of the next cell's edges, and,
//! where the interval ends at a corner that a path can bend around, what that corner sees. Three things differ:
//!
//! - An interval is not kept as two computed points but as the two lines that bound it, each through two vertices. So
//!   every decision is an exact predicate on the input's own coordinates, no tolerance is needed, and the roots are the
//!   path's corners as they stand. Computed points serve the heuristic alone.
//! - Crossings outside of the blocks between start and goal are not tried (`build/blocks.rs`).
//! - A root reached twice at the same length is kept once: had the other way a bend that the first has not, the path
//!   could be made shorter there.

use glam::DVec2;

use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::{Cells, NONE, Side};
use crate::navigate::room::search::path::{Crossing, Path, gate};
use crate::navigate::shared::heap::Heap;
use crate::navigate::shared::predicate::{crossing, orient};

/// A vertex that paths go straight from: the start, or a corner that a path bends around.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    pub(crate) point: DVec2,
    /// The length of the way to it.
    pub(crate) length: f64,
    /// The root before it; [`NONE`] for the start.
    pub(crate) parent: u32,
    /// Its vertex; [`NONE`] for the start.
    pub(crate) vertex: u32,
}

/// Set beside a bounding vertex where the bound goes on straight from the root before, through the root.
const STRAIGHT_ON: u32 = 1 << 31;

/// Set beside the nearer vertex of an edge that lies on a line with the root: nothing is seen through it, but a path can
/// bend around that vertex.
const EDGE_ON: u32 = 1 << 30;

/// What a root sees of an edge: the way into a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The vertex that bounds the view on the left; with [`STRAIGHT_ON`] the line from the root's parent through the
    /// root does. Where it is the root itself nothing bounds it.
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) left_point: DVec2,
    pub(crate) right_point: DVec2,
    pub(crate) root: u32,
    /// The node before it; [`NONE`] at the start.
    pub(crate) parent: u32,
    /// The side of the entered cell that was crossed; [`NONE`] where it was entered through a point, or holds the start.
    pub(crate) side: u32,
    /// The cell entered; the goal's, if it is the last.
    pub(crate) cell: u32,
}

/// What a search keeps from query to query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<Root>,
    open: Heap,
    /// For each vertex the query that reached it last, and the root that it has there.
    reached: Vec<(u32, u32)>,
    /// For each block the query that may pass it.
    marked: Vec<u32>,
    query: u32,
    pub(crate) goal: DVec2,
    goal_cells: Vec<u32>,
    pub(crate) successors: Vec<(f64, Node)>,
    pub(crate) best_final: f64,
}

/// A path that was found: the last node before the goal and the root that sees the goal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The node that entered the goal's cell; [`NONE`] where the start is in it.
    pub(crate) node: u32,
    /// The root that sees the goal.
    pub(crate) root: u32,
    /// The cell that holds start and goal where `node` is [`NONE`], the first cell's index otherwise.
    pub(crate) cell: u32,
}

/// The floor that is searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor<'a> {
    pub(crate) cells: &'a Cells,
    pub(crate) blocks: &'a Blocks,
    pub(crate) squeeze: bool,
}

impl Search {
    /// Writes down the corners, the cells and the edges of a path that was found.
    pub(crate) fn trace(&self, cells: &Cells, found: Found, path: &mut Path) {
        let mut root = &self.roots[found.root as usize];
        while root.parent != NONE {
            path.corners.push(root.vertex);
            root = &self.roots[root.parent as usize];
        }
        path.corners.reverse();
        if found.node == NONE {
            path.cells.push(found.cell);
            return;
        }
        let point = [0.0; 2];
        let mut at = found.node;
        while at != NONE {
            let node = &self.nodes[at as usize];
            path.cells.push(node.cell);
            let before = if node.parent == NONE { NONE } else { self.nodes[node.parent as usize].cell };
            let vertex = self.roots[node.root as usize].vertex;
            if node.side == NONE && node.parent == NONE {
                // The start's own cell.
            } else if node.side == NONE {
                path.crossings.push(Crossing { edge: [vertex; 2], point });
            } else {
                path.crossings.push(Crossing { edge: gate(cells, node.side), point });
                let from = cells.sides[node.side as usize].beyond;
                if from != before {
                    // The first cell, or one that was entered through a point.
                    path.cells.push(from);
                    if before != NONE {
                        path.crossings.push(Crossing { edge: [vertex; 2], point });
                    }
                }
            }
            at = node.parent;
        }
        path.cells.reverse();
        path.crossings.reverse();
    }

    /// The shortest path between two points, each with the cells that hold it; none where there is no way.
    pub(crate) fn run(
        &mut self,
        floor: Floor<'_>,
        start: DVec2,
        start_cells: &[u32],
        goal: DVec2,
        goal_cells: &[u32],
    ) -> Option<Found> {
        self.begin(floor, goal, goal_cells);
        self.roots.push(Root { point: start, length: 0.0, parent: NONE, vertex: NONE });
        if let Some(&cell) = start_cells.iter().find(|cell| goal_cells.contains(cell)) {
            return Some(Found { node: NONE, root: 0, cell });
        }
        let mut is_connected = false;
        for &a in start_cells {
            for &b in goal_cells {
                if floor.blocks.island[a as usize] == floor.blocks.island[b as usize] {
                    is_connected = true;
                    floor.blocks.between(a, b, |block| self.marked[block as usize] = self.query);
                }
            }
        }
        if !is_connected {
            return None;
        }
        for &cell in start_cells {
            self.leave(floor, cell, 0, NONE);
            if floor.squeeze {
                let index = self.nodes.len() as u32;
                self.nodes.push(Node::at_a_point(start, NONE, 0, NONE, cell));
                self.squeeze_out(floor, index, 0, |_| true);
            }
        }
        let mut in_hand = self.keep_best();
        loop {
            let node = match in_hand.take() {
                Some(node) => node,
                None => self.open.pop()?.index,
            };
            let cell = self.nodes[node as usize].cell;
            let root = self.nodes[node as usize].root;
            let vertex = self.roots[root as usize].vertex;
            // A way to the goal counts though its root has been reached by a shorter one since: had that made the whole
            // shorter, it would have come first. Where it is shorter by less than the whole is rounded to, no other came.
            if self.is_goal_cell(cell) {
                return Some(Found { node, root, cell: NONE });
            }
            if vertex != NONE && self.reached[vertex as usize].1 != root {
                continue;
            }
            self.expand(floor, node);
            in_hand = self.keep_best();
        }
    }

    fn begin(&mut self, floor: Floor<'_>, goal: DVec2, goal_cells: &[u32]) {
        self.query = self.query.wrapping_add(1);
        if self.query == 0 {
            self.reached.clear();
            self.marked.clear();
            self.query = 1;
        }
        self.reached.resize(floor.cells.points.len(), (0, NONE));
        self.marked.resize(floor.blocks.len(), 0);
        self.nodes.clear();
        self.roots.clear();
        self.open.clear();
        self.successors.clear();
        self.goal = goal;
        self.goal_cells.clear();
        self.goal_cells.extend_from_slice(goal_cells);
        self.best_final = f64::INFINITY;
    }

    #[inline]
    pub(crate) fn is_goal_cell(&self, cell: u32) -> bool {
        self.goal_cells.contains(&cell)
    }

    /// Keeps the best successor if nothing on the heap precedes it; the others go there.
    #[inline]
    fn keep_best(&mut self) -> Option<u32> {
        let mut best = usize::MAX;
        let mut least = self.open.least().map_or(f64::INFINITY, |entry| entry.key);
        for (i, (f, _)) in self.successors.iter().enumerate() {
            if *f < least {
                least = *f;
                best = i;
            }
        }
        let mut in_hand = None;
        for (i, (f, node)) in self.successors.iter().enumerate() {
            let index = self.nodes.len() as u32;
            self.nodes.push(*node);
            if i == best {
                in_hand = Some(index);
            } else {
                self.open.push(*f, index);
            }
        }
        self.successors.clear();
        in_hand
    }

    /// From a root inside of a cell, or on its rim: what it sees of each edge that it is not on.
    fn leave(&mut self, floor: Floor<'_>, cell: u32, root: u32, parent: u32) {
        let point = self.roots[root as usize].point;
        for side in floor.cells.range(cell) {
            let next = floor.cells.after(side);
            let (from, to) = (floor.cells.sides[side], floor.cells.sides[next]);
            if self.is_shut(&from) {
                continue;
            }
            // The neighbour across an edge that holds the root is left by itself.
            let height = orient(from.point, to.point, point);
            if height > 0.0 || (height == 0.0 && (from.point - point).dot(to.point - point) > 0.0) {
                self.propose(floor, side, Proposal::whole(root, parent, &from, &to));
            }
        }
    }

    /// Whether an edge is a wall or leads out of the blocks that matter.
    #[inline]
    fn is_shut(&self, side: &Side) -> bool {
        side.twin == NONE || self.marked[side.block as usize] != self.query
    }

    /// The root at a vertex that is reached from another; none where a way as short is known.
    #[inline]
    pub(crate) fn turn(&mut self, floor: Floor<'_>, root: u32, vertex: u32) -> Option<u32> {
        let from = self.roots[root as usize];
        let point = floor.cells.points[vertex as usize];
        let (query, known) = self.reached[vertex as usize];
        let length = from.length + (point - from.point).length();
        if query == self.query {
            let known_root = &self.roots[known as usize];
            if known_root.parent == root {
                return Some(known);
            }
            if known_root.length <= length {
                return None;
            }
        }
        let new = self.roots.len() as u32;
        self.roots.push(Root { point, length, parent: root, vertex });
        self.reached[vertex as usize] = (self.query, new);
        Some(new)
    }

    /// Adds the successors of a node.
    fn expand(&mut self, floor: Floor<'_>, index: u32) {
        let cells = floor.cells;
        let node = self.nodes[index as usize];
        if node.side == NONE {
            // It squeezed in.
            self.leave(floor, node.cell, node.root, index);
            self.squeeze_out(floor, index, node.root, |_| true);
            return;
        }
        if (node.left | node.right) & EDGE_ON != 0 {
            self.expand_edge_on(floor, index);
            return;
        }
        let root = self.roots[node.root as usize];
        let range = cells.range(node.cell);
        let sides = &cells.sides[range.clone()];
        let count = sides.len();
        // The entered edge runs from the left end of the interval's edge to its right end; the chain of the other
        // corners, from right to left, follows it.
        let entry = node.side as usize - range.start;
        let local = |j: usize| {
            let at = entry + 1 + j;
            if at >= count { at - count } else { at }
        };
        let before = if root.parent == NONE { root.point } else { self.roots[root.parent as usize].point };
        let line = |bound: u32, point: DVec2| {
            if bound & STRAIGHT_ON != 0 { (before, root.point) } else { (root.point, point) }
        };
        let rightmost = sides[local(0)];
        let leftmost = sides[entry];
        let is_root_right = rightmost.vertex == root.vertex;
        let is_root_left = leftmost.vertex == root.vertex;
        let (right_from, right_to) = line(node.right, node.right_point);
        let (left_from, left_to) = line(node.left, node.left_point);

        // The first corner strictly left of the right bound, and how the ones beside it lie.
        let height_first = if is_root_right || node.right == rightmost.vertex {
            0.0
        } else {
            orient(right_from, right_to, rightmost.point)
        };
        let mut j_right = 1;
        let mut height_before = height_first;
        let mut height_right = 1.0;
        // The first of the corners before it that are on the right bound, if any are.
        let mut j_on_right = if height_first == 0.0 { 0 } else { usize::MAX };
        if !is_root_right {
            loop {
                height_right = orient(right_from, right_to, sides[local(j_right)].point);
                if height_right > 0.0 || j_right == count - 1 {
                    break;
                }
                if height_right < 0.0 {
                    j_on_right = usize::MAX;
                } else if j_on_right == usize::MAX {
                    j_on_right = j_right;
                }
                height_before = height_right;
                j_right += 1;
            }
        }
        // The first corner, from there on, on or left of the left bound.
        let mut j_left = j_right;
        let mut depth_before = -1.0;
        let mut depth_left = 0.0;
        if is_root_left {
            j_left = count - 1;
        } else {
            loop {
                depth_left = if j_left == count - 1 && node.left == leftmost.vertex {
                    0.0
                } else {
                    orient(left_from, left_to, sides[local(j_left)].point)
                };
                if depth_left >= 0.0 || j_left == count - 1 {
                    break;
                }
                depth_before = depth_left;
                j_left += 1;
            }
        }

        // Where the right bound leaves the cell, on the edge before `j_right`; where the left one does.
        let exit_right = if is_root_right || height_before >= 0.0 {
            sides[local(j_right - 1)].point
        } else {
            crossing(
                sides[local(j_right - 1)].point,
                sides[local(j_right)].point,
                height_before,
                height_right.max(0.0),
            )
        };
        let exit_left = if is_root_left || depth_left <= 0.0 {
            sides[local(j_left)].point
        } else {
            if j_left == j_right {
                depth_before = orient(left_from, left_to, sides[local(j_left - 1)].point);
            }
            crossing(
                sides[local(j_left - 1)].point,
                sides[local(j_left)].point,
                depth_before.min(0.0),
                depth_left,
            )
        };

        // What the root itself sees.
        for j in j_right - 1..j_left {
            let (from, to) = (&sides[local(j)], &sides[local(j + 1)]);
            if self.is_shut(from) {
                continue;
            }
            let mut new = Proposal::whole(node.root, index, from, to);
            if j + 1 == j_right && height_before < 0.0 {
                (new.right, new.right_point) = (node.right, node.right_point);
                new.end_right = exit_right;
            }
            if j + 1 == j_left && depth_left > 0.0 {
                (new.left, new.left_point) = (node.left, node.left_point);
                new.end_left = exit_left;
            }
            self.propose(floor, range.start + local(j), new);
        }

        // Edges that lie on the right bound: seen edge on.
        if !is_root_right && j_on_right < j_right - 1 {
            for j in j_on_right..j_right - 1 {
                let (from, to) = (&sides[local(j)], &sides[local(j + 1)]);
                if !self.is_shut(from) {
                    self.propose(floor, range.start + local(j), Proposal::whole(node.root, index, from, to));
                }
            }
        }
        // And on the left bound, which from `j_left` on comes nearer again.
        if !is_root_left && depth_left == 0.0 {
            for j in j_left..count - 1 {
                let (from, to) = (&sides[local(j)], &sides[local(j + 1)]);
                if orient(left_from, left_to, to.point) != 0.0 {
                    break;
                }
                if !self.is_shut(from) {
                    self.propose(floor, range.start + local(j), Proposal::whole(node.root, index, from, to));
                }
            }
        }

        // What the corner at the right end sees, round to the right.
        if !is_root_right && height_first == 0.0 && cells.kinds[rightmost.vertex as usize].turns {
            let last = if height_before < 0.0 { j_right } else { j_right - 1 };
            self.bend(floor, index, rightmost.vertex, 0..last, |corner, from, to, j| {
                let mut new = Proposal::whole(corner, index, from, to);
                if j + 1 == j_right {
                    new.left = rightmost.vertex | STRAIGHT_ON;
                    new.end_left = exit_right;
                }
                new
            });
        }

        // And the one at the left end, round to the left.
        let depth_last = if is_root_left || node.left == leftmost.vertex {
            0.0
        } else if j_left == count - 1 {
            depth_left
        } else {
            orient(left_from, left_to, leftmost.point)
        };
        if !is_root_left && depth_last == 0.0 && cells.kinds[leftmost.vertex as usize].turns {
            let first = if depth_left > 0.0 { j_left - 1 } else { j_left };
            self.bend(floor, index, leftmost.vertex, first..count - 1, |corner, from, to, j| {
                let mut new = Proposal::whole(corner, index, from, to);
                if j + 1 == j_left {
                    new.right = leftmost.vertex | STRAIGHT_ON;
                    new.end_right = exit_left;
                }
                new
            });
        }

        if floor.squeeze {
            let is_left_of_right = |point| is_root_right || orient(right_from, right_to, point) >= 0.0;
            let is_right_of_left = |point| is_root_left || orient(left_from, left_to, point) <= 0.0;
            self.squeeze_out(floor, index, node.root, |point| {
                is_left_of_right(point) && is_right_of_left(point)
            });
            if !is_root_right && height_first == 0.0 {
                self.bend_and_squeeze(floor, index, rightmost.vertex, |point| !is_left_of_right(point));
            }
            if !is_root_left && depth_last == 0.0 {
                self.bend_and_squeeze(floor, index, leftmost.vertex, |point| !is_right_of_left(point));
            }
        }
    }

    /// From an edge seen edge on: only round its nearer vertex.
    fn expand_edge_on(&mut self, floor: Floor<'_>, index: u32) {
        let node = self.nodes[index as usize];
        let count = floor.cells.count[node.cell as usize] as usize;
        let bound = if node.right & EDGE_ON != 0 { node.right } else { node.left };
        let vertex = bound & !EDGE_ON;
        if floor.cells.kinds[vertex as usize].turns {
            self.bend(floor, index, vertex, 0..count - 1, |corner, from, to, _| {
                Proposal::whole(corner, index, from, to)
            });
        }
        if floor.squeeze {
            self.squeeze(floor, index, node.root, vertex);
            self.bend_and_squeeze(floor, index, vertex, |_| true);
        }
    }

    /// Bends around an end of an entered edge, through some edges of the chain.
    #[inline]
    fn bend(
        &mut self,
        floor: Floor<'_>,
        index: u32,
        vertex: u32,
        edges: std::ops::Range<usize>,
        proposal: impl Fn(u32, &Side, &Side, usize) -> Proposal,
    ) {
        let node = self.nodes[index as usize];
        let range = floor.cells.range(node.cell);
        let sides = &floor.cells.sides[range.clone()];
        let entry = node.side as usize - range.start;
        let local = |j: usize| {
            let at = entry + 1 + j;
            if at >= sides.len() { at - sides.len() } else { at }
        };
        let mut corner = NONE;
        for j in edges {
            let (from, to) = (&sides[local(j)], &sides[local(j + 1)]);
            if self.is_shut(from) {
                continue;
            }
            if corner == NONE {
                match self.turn(floor, node.root, vertex) {
                    Some(root) => corner = root,
                    None => return,
                }
            }
            self.propose(floor, range.start + local(j), proposal(corner, from, to, j));
        }
    }

    /// Reckons what a successor promises and takes it up, unless it can't be on a shortest path.
    #[inline]
    fn propose(&mut self, floor: Floor<'_>, side: usize, new: Proposal) {
        let from = &floor.cells.sides[side];
        let root = self.roots[new.root as usize];
        let to_goal = self.goal - root.point;
        let mut node = Node {
            left: new.left,
            right: new.right,
            left_point: new.left_point,
            right_point: new.right_point,
            root: new.root,
            parent: new.parent,
            side: from.twin,
            cell: from.beyond,
        };
        if self.is_goal_cell(from.beyond) {
            self.arrive(floor, side, node, &new);
            return;
        }
        // An edge on a line with the root; not one that begins or ends there, which the view turns around.
        if new.left_point != root.point
            && new.right_point != root.point
            && new.is_whole()
            && orient(root.point, new.right_point, new.left_point) == 0.0
        {
            let (left, right) = (new.left_point - root.point, new.right_point - root.point);
            if left.length_squared() < right.length_squared() {
                node.left |= EDGE_ON;
            } else {
                node.right |= EDGE_ON;
            }
        }
        // The goal, or its mirror image where it lies on this side of the edge.
        let (left, right) = (new.end_left - root.point, new.end_right - root.point);
        let edge = left - right;
        let mut aim = to_goal;
        let beyond = edge.perp_dot(to_goal - right);
        if beyond > 0.0 {
            let scale = 2.0 * beyond / edge.length_squared();
            aim += DVec2::new(edge.y, -edge.x) * scale;
        }
        let rest = if left.perp_dot(aim) > 0.0 {
            left.length() + (aim - left).length()
        } else if right.perp_dot(aim) < 0.0 {
            right.length() + (aim - right).length()
        } else {
            aim.length()
        };
        let f = root.length + rest;
        if f < self.best_final {
            self.successors.push((f, node));
        }
    }

    /// The end of a path: straight from the root, or bent once more at an end of the interval.
    fn arrive(&mut self, floor: Floor<'_>, side: usize, mut node: Node, new: &Proposal) {
        let root = self.roots[new.root as usize];
        let before = if root.parent == NONE { root.point } else { self.roots[root.parent as usize].point };
        let (right, left) = (&floor.cells.sides[side], &floor.cells.sides[floor.cells.after(side)]);
        let bend = |end: &Side, bound: u32, point: DVec2, hidden: fn(f64) -> bool| {
            if end.point == root.point {
                return None;
            }
            let (from, to) =
                if bound & STRAIGHT_ON != 0 { (before, root.point) } else { (root.point, point) };
            let is_end = bound == end.vertex || orient(from, to, end.point) == 0.0;
            hidden(orient(from, to, self.goal)).then_some((end.vertex, is_end))
        };
        let bend = bend(left, new.left, new.left_point, |height| height > 0.0)
            .or_else(|| bend(right, new.right, new.right_point, |height| height < 0.0));
        if let Some((vertex, is_end)) = bend {
            if !is_end || !floor.cells.kinds[vertex as usize].turns {
                return;
            }
            match self.turn(floor, node.root, vertex) {
                Some(corner) => node.root = corner,
                None => return,
            }
        }
        let root = self.roots[node.root as usize];
        let f = root.length + (self.goal - root.point).length();
        if f < self.best_final {
            self.best_final = f;
            self.successors.push((f, node));
        }
    }
}

/// A successor before it is judged.
#[derive(Debug, Clone, Copy)]
struct Proposal {
    root: u32,
    parent: u32,
    left: u32,
    left_point: DVec2,
    right: u32,
    right_point: DVec2,
    /// The ends of the interval, for the heuristic.
    end_left: DVec2,
    end_right: DVec2,
}

impl Proposal {
    /// All of an edge.
    #[inline]
    fn whole(root: u32, parent: u32, from: &Side, to: &Side) -> Self {
        Self {
            root,
            parent,
            left: to.vertex,
            left_point: to.point,
            right: from.vertex,
            right_point: from.point,
            end_left: to.point,
            end_right: from.point,
        }
    }

    /// Whether neither end is cut off.
    #[inline]
    fn is_whole(&self) -> bool {
        self.left_point == self.end_left && self.right_point == self.end_right
    }
}
