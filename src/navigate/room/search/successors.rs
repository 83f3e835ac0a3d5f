//! The successors of a search node of Polyanya (`polyanya.rs`): observable, non-observable, collinear, and final.

use glam::DVec2;

use crate::navigate::room::build::cells::{NONE, Side};
use crate::navigate::room::search::polyanya::{COLLINEAR, NavMesh, Node, PARENT_LINE, Search};
use crate::navigate::shared::predicate::{crossing, orient};

/// A successor whose f-value is not known yet.
#[derive(Debug, Clone, Copy)]
struct Successor {
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

impl Successor {
    /// A successor whose interval is a whole edge.
    #[inline]
    fn whole_edge(root: u32, parent: u32, from: &Side, to: &Side) -> Self {
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

    /// Whether the interval is the whole edge.
    #[inline]
    fn covers_edge(&self) -> bool {
        self.left_point == self.end_left && self.right_point == self.end_right
    }
}

impl Search {
    /// Successors of a root inside a cell or on its boundary: every edge that it is not on.
    pub(crate) fn push_visible_edges(&mut self, mesh: NavMesh<'_>, cell: u32, root: u32, parent: u32) {
        let point = self.roots[root as usize].point;
        for side in mesh.cells.range(cell) {
            let next = mesh.cells.after(side);
            let (from, to) = (mesh.cells.sides[side], mesh.cells.sides[next]);
            if self.is_impassable(&from) {
                continue;
            }
            // An edge that holds the root is skipped: the cell across it is a start cell too.
            let height = orient(from.point, to.point, point);
            if height > 0.0 || (height == 0.0 && (from.point - point).dot(to.point - point) > 0.0) {
                self.push_successor(mesh, side, Successor::whole_edge(root, parent, &from, &to));
            }
        }
    }

    /// Adds the successors of a node.
    pub(crate) fn expand(&mut self, mesh: NavMesh<'_>, index: u32) {
        let cells = mesh.cells;
        let node = self.nodes[index as usize];
        if node.side == NONE {
            // The node entered its cell through a point.
            self.push_visible_edges(mesh, node.cell, node.root, index);
            self.squeeze_through_seen(mesh, index, node.root, |_| true);
            return;
        }
        if (node.left | node.right) & COLLINEAR != 0 {
            self.expand_collinear(mesh, index);
            return;
        }
        let root = self.roots[node.root as usize];
        let range = cells.range(node.cell);
        let sides = &cells.sides[range.clone()];
        let count = sides.len();
        // The entered edge runs from its left end to its right end. The chain of the cell's corners follows it, from right to left.
        let entry = node.side as usize - range.start;
        let chain_corner = |j: usize| {
            let at = entry + 1 + j;
            if at >= count { at - count } else { at }
        };
        let before = if root.parent == NONE { root.point } else { self.roots[root.parent as usize].point };
        let line = |bound: u32, point: DVec2| {
            if bound & PARENT_LINE != 0 { (before, root.point) } else { (root.point, point) }
        };
        let rightmost = sides[chain_corner(0)];
        let leftmost = sides[entry];
        let is_root_right = rightmost.vertex == root.vertex;
        let is_root_left = leftmost.vertex == root.vertex;
        let (right_from, right_to) = line(node.right, node.right_point);
        let (left_from, left_to) = line(node.left, node.left_point);

        // `j_right` is the first corner strictly left of the right bound. Heights are signed distances to the left of that bound.
        let height_first = if is_root_right || node.right == rightmost.vertex {
            0.0
        } else {
            orient(right_from, right_to, rightmost.point)
        };
        let mut j_right = 1;
        let mut height_before = height_first;
        let mut height_right = 1.0;
        // The first of the corners just before `j_right` that lie on the right bound, if any do.
        let mut j_on_right = if height_first == 0.0 { 0 } else { usize::MAX };
        if !is_root_right {
            loop {
                height_right = orient(right_from, right_to, sides[chain_corner(j_right)].point);
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
        // `j_left` is the first corner from there on that is on the left bound or left of it. Depths are signed distances to the left of
        // that bound.
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
                    orient(left_from, left_to, sides[chain_corner(j_left)].point)
                };
                if depth_left >= 0.0 || j_left == count - 1 {
                    break;
                }
                depth_before = depth_left;
                j_left += 1;
            }
        }

        // Where the two bounds leave the cell: on the edge before `j_right`, and on the edge before `j_left`.
        let exit_right = if is_root_right || height_before >= 0.0 {
            sides[chain_corner(j_right - 1)].point
        } else {
            crossing(
                sides[chain_corner(j_right - 1)].point,
                sides[chain_corner(j_right)].point,
                height_before,
                height_right.max(0.0),
            )
        };
        let exit_left = if is_root_left || depth_left <= 0.0 {
            sides[chain_corner(j_left)].point
        } else {
            if j_left == j_right {
                depth_before = orient(left_from, left_to, sides[chain_corner(j_left - 1)].point);
            }
            crossing(
                sides[chain_corner(j_left - 1)].point,
                sides[chain_corner(j_left)].point,
                depth_before.min(0.0),
                depth_left,
            )
        };

        // Observable successors.
        for j in j_right - 1..j_left {
            let (from, to) = (&sides[chain_corner(j)], &sides[chain_corner(j + 1)]);
            if self.is_impassable(from) {
                continue;
            }
            let mut new = Successor::whole_edge(node.root, index, from, to);
            if j + 1 == j_right && height_before < 0.0 {
                (new.right, new.right_point) = (node.right, node.right_point);
                new.end_right = exit_right;
            }
            if j + 1 == j_left && depth_left > 0.0 {
                (new.left, new.left_point) = (node.left, node.left_point);
                new.end_left = exit_left;
            }
            self.push_successor(mesh, range.start + chain_corner(j), new);
        }

        // Edges that lie on the right bound, and so are collinear with the root.
        if !is_root_right && j_on_right < j_right - 1 {
            for j in j_on_right..j_right - 1 {
                let (from, to) = (&sides[chain_corner(j)], &sides[chain_corner(j + 1)]);
                if !self.is_impassable(from) {
                    self.push_successor(
                        mesh,
                        range.start + chain_corner(j),
                        Successor::whole_edge(node.root, index, from, to),
                    );
                }
            }
        }
        // Edges that lie on the left bound.
        if !is_root_left && depth_left == 0.0 {
            for j in j_left..count - 1 {
                let (from, to) = (&sides[chain_corner(j)], &sides[chain_corner(j + 1)]);
                if orient(left_from, left_to, to.point) != 0.0 {
                    break;
                }
                if !self.is_impassable(from) {
                    self.push_successor(
                        mesh,
                        range.start + chain_corner(j),
                        Successor::whole_edge(node.root, index, from, to),
                    );
                }
            }
        }

        // Non-observable successors around the corner at the right end.
        if !is_root_right && height_first == 0.0 && cells.vertex_kinds[rightmost.vertex as usize].is_corner {
            let last = if height_before < 0.0 { j_right } else { j_right - 1 };
            self.push_non_observable(mesh, index, rightmost.vertex, 0..last, |corner, from, to, j| {
                let mut new = Successor::whole_edge(corner, index, from, to);
                if j + 1 == j_right {
                    new.left = rightmost.vertex | PARENT_LINE;
                    new.end_left = exit_right;
                }
                new
            });
        }

        // Non-observable successors around the corner at the left end.
        let depth_last = if is_root_left || node.left == leftmost.vertex {
            0.0
        } else if j_left == count - 1 {
            depth_left
        } else {
            orient(left_from, left_to, leftmost.point)
        };
        if !is_root_left && depth_last == 0.0 && cells.vertex_kinds[leftmost.vertex as usize].is_corner {
            let first = if depth_left > 0.0 { j_left - 1 } else { j_left };
            self.push_non_observable(
                mesh,
                index,
                leftmost.vertex,
                first..count - 1,
                |corner, from, to, j| {
                    let mut new = Successor::whole_edge(corner, index, from, to);
                    if j + 1 == j_left {
                        new.right = leftmost.vertex | PARENT_LINE;
                        new.end_right = exit_left;
                    }
                    new
                },
            );
        }

        if mesh.squeeze {
            let is_left_of_right = |point| is_root_right || orient(right_from, right_to, point) >= 0.0;
            let is_right_of_left = |point| is_root_left || orient(left_from, left_to, point) <= 0.0;
            self.squeeze_through_seen(mesh, index, node.root, |point| {
                is_left_of_right(point) && is_right_of_left(point)
            });
            if !is_root_right && height_first == 0.0 {
                self.turn_and_squeeze(mesh, index, rightmost.vertex, |point| !is_left_of_right(point));
            }
            if !is_root_left && depth_last == 0.0 {
                self.turn_and_squeeze(mesh, index, leftmost.vertex, |point| !is_right_of_left(point));
            }
        }
    }

    /// Successors across an edge that is collinear with the root: only around its nearer vertex.
    fn expand_collinear(&mut self, mesh: NavMesh<'_>, index: u32) {
        let node = self.nodes[index as usize];
        let count = mesh.cells.count[node.cell as usize] as usize;
        let bound = if node.right & COLLINEAR != 0 { node.right } else { node.left };
        let vertex = bound & !COLLINEAR;
        if mesh.cells.vertex_kinds[vertex as usize].is_corner {
            self.push_non_observable(mesh, index, vertex, 0..count - 1, |corner, from, to, _| {
                Successor::whole_edge(corner, index, from, to)
            });
        }
        if mesh.squeeze {
            self.squeeze(mesh, index, node.root, vertex);
            self.turn_and_squeeze(mesh, index, vertex, |_| true);
        }
    }

    /// Pushes the non-observable successors around an end of the entered edge: through some edges of the chain.
    #[inline]
    fn push_non_observable(
        &mut self,
        mesh: NavMesh<'_>,
        index: u32,
        vertex: u32,
        edges: std::ops::Range<usize>,
        successor: impl Fn(u32, &Side, &Side, usize) -> Successor,
    ) {
        let node = self.nodes[index as usize];
        let range = mesh.cells.range(node.cell);
        let sides = &mesh.cells.sides[range.clone()];
        let entry = node.side as usize - range.start;
        let chain_corner = |j: usize| {
            let at = entry + 1 + j;
            if at >= sides.len() { at - sides.len() } else { at }
        };
        let mut corner = NONE;
        for j in edges {
            let (from, to) = (&sides[chain_corner(j)], &sides[chain_corner(j + 1)]);
            if self.is_impassable(from) {
                continue;
            }
            if corner == NONE {
                match self.root_at(mesh, node.root, vertex) {
                    Some(root) => corner = root,
                    None => return,
                }
            }
            self.push_successor(mesh, range.start + chain_corner(j), successor(corner, from, to, j));
        }
    }

    /// Computes the f-value of a successor and pushes it, unless it can't be part of a shortest path.
    #[inline]
    fn push_successor(&mut self, mesh: NavMesh<'_>, side: usize, new: Successor) {
        let from = &mesh.cells.sides[side];
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
            cell: from.neighbour,
        };
        if self.is_goal_cell(from.neighbour) {
            self.push_final_node(mesh, side, node, &new);
            return;
        }
        // An edge is collinear only if the root is not one of its ends.
        if new.left_point != root.point
            && new.right_point != root.point
            && new.covers_edge()
            && orient(root.point, new.right_point, new.left_point) == 0.0
        {
            let (left, right) = (new.left_point - root.point, new.right_point - root.point);
            if left.length_squared() < right.length_squared() {
                node.left |= COLLINEAR;
            } else {
                node.right |= COLLINEAR;
            }
        }
        // The heuristic: to the goal, or to its mirror image where it lies on this side of the edge, through the interval.
        let (left, right) = (new.end_left - root.point, new.end_right - root.point);
        let edge = left - right;
        let mut target = to_goal;
        let beyond = edge.perp_dot(to_goal - right);
        if beyond > 0.0 {
            let scale = 2.0 * beyond / edge.length_squared();
            target += DVec2::new(edge.y, -edge.x) * scale;
        }
        let rest = if left.perp_dot(target) > 0.0 {
            left.length() + (target - left).length()
        } else if right.perp_dot(target) < 0.0 {
            right.length() + (target - right).length()
        } else {
            target.length()
        };
        let f = root.length + rest;
        if f < self.best_final {
            self.successors.push((f, node));
        }
    }

    /// Pushes a final node: the path leads to the goal straight from the root, or bends once more at an end of the interval.
    fn push_final_node(&mut self, mesh: NavMesh<'_>, side: usize, mut node: Node, new: &Successor) {
        let root = self.roots[new.root as usize];
        let before = if root.parent == NONE { root.point } else { self.roots[root.parent as usize].point };
        let (right, left) = (&mesh.cells.sides[side], &mesh.cells.sides[mesh.cells.after(side)]);
        let bend = |end: &Side, bound: u32, point: DVec2, hidden: fn(f64) -> bool| {
            if end.point == root.point {
                return None;
            }
            let (from, to) =
                if bound & PARENT_LINE != 0 { (before, root.point) } else { (root.point, point) };
            let is_end = bound == end.vertex || orient(from, to, end.point) == 0.0;
            hidden(orient(from, to, self.goal)).then_some((end.vertex, is_end))
        };
        let bend = bend(left, new.left, new.left_point, |height| height > 0.0)
            .or_else(|| bend(right, new.right, new.right_point, |height| height < 0.0));
        if let Some((vertex, is_end)) = bend {
            if !is_end || !mesh.cells.vertex_kinds[vertex as usize].is_corner {
                return;
            }
            match self.root_at(mesh, node.root, vertex) {
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
