//! The method `optimal`: the true shortest path over convex cells.
//!
//! Polyanya (Cui, Harabor, Grastien 2017, "Compromise-free Pathfinding on a Navigation Mesh", IJCAI). A search node is a root and an
//! interval: the part of an edge that the root sees. Its observable successors are what the root sees of the next cell's edges. Where the
//! interval ends at a corner around which a path can bend, the non-observable successors are what that corner sees. Three things differ:
//!
//! - An interval is not two computed points but the two lines that bound it, each through two vertices. So every decision is an exact
//!   predicate on input coordinates, no tolerance is needed, and the roots are the corners of the path. Only the heuristic uses computed
//!   points.
//! - Edges outside the blocks between start and goal are skipped (`build/blocks.rs`).
//! - A root that is reached twice at the same length is kept once. If the second path to it had a bend that the first has not, it could be
//!   shortened there.

use glam::DVec2;

use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::{Cells, NONE, Side};
use crate::navigate::room::search::path::{Crossing, Path, portal};
use crate::navigate::shared::heap::Heap;

/// The last bend of a path so far: the start, or a corner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    pub(crate) point: DVec2,
    /// The length of the path to it (the paper's g-value).
    pub(crate) length: f64,
    /// The previous root; [`NONE`] for the start.
    pub(crate) parent: u32,
    /// Its vertex; [`NONE`] for the start.
    pub(crate) vertex: u32,
}

/// A flag of a bounding vertex: the bound is the line from the parent of the root through the root.
pub(crate) const PARENT_LINE: u32 = 1 << 31;

/// A flag of the nearer vertex of an edge that is collinear with the root. The root sees nothing through such an edge, but a path can bend
/// around that vertex.
pub(crate) const COLLINEAR: u32 = 1 << 30;

/// A search node: a root, the interval that it sees of an edge, and the cell behind the edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The vertex through which the left bound leads from the root, unless [`PARENT_LINE`] is set. Where it is the root itself, there is
    /// no bound.
    pub(crate) left: u32,
    /// The same on the right.
    pub(crate) right: u32,
    pub(crate) left_point: DVec2,
    pub(crate) right_point: DVec2,
    pub(crate) root: u32,
    /// The previous node; [`NONE`] at the start.
    pub(crate) parent: u32,
    /// The side by which the cell was entered; [`NONE`] where it was entered through a point, or holds the start.
    pub(crate) side: u32,
    /// The cell that was entered.
    pub(crate) cell: u32,
}

/// A search, and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<Root>,
    open: Heap,
    /// For each vertex the last query that reached it, and its root (the root history).
    reached: Vec<(u32, u32)>,
    /// For each block the last query that may cross its edges.
    allowed_block: Vec<u32>,
    generation: u32,
    pub(crate) goal: DVec2,
    goal_cells: Vec<u32>,
    pub(crate) successors: Vec<(f64, Node)>,
    /// The length of the shortest path to the goal so far.
    pub(crate) best_final: f64,
}

/// The end of the path that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FinalNode {
    /// The node that entered the goal's cell; [`NONE`] where the start is in the goal's cell.
    pub(crate) node: u32,
    /// The root that sees the goal.
    pub(crate) root: u32,
    /// The cell that holds both start and goal, where `node` is [`NONE`].
    pub(crate) cell: u32,
}

/// The navigation mesh that is searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NavMesh<'a> {
    pub(crate) cells: &'a Cells,
    pub(crate) blocks: &'a Blocks,
    pub(crate) squeeze: bool,
}

impl Search {
    /// Writes the corners, the cells and the edges of the path that was found.
    pub(crate) fn trace(&self, cells: &Cells, found: FinalNode, path: &mut Path) {
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
                path.crossings.push(Crossing { edge: portal(cells, node.side), point });
                let from = cells.sides[node.side as usize].neighbour;
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

    /// Finds the shortest path between two points, each with the cells that hold it; `None` where there is no path.
    pub(crate) fn find(
        &mut self,
        mesh: NavMesh<'_>,
        start: DVec2,
        start_cells: &[u32],
        goal: DVec2,
        goal_cells: &[u32],
    ) -> Option<FinalNode> {
        self.reset(mesh, goal, goal_cells);
        self.roots.push(Root { point: start, length: 0.0, parent: NONE, vertex: NONE });
        if let Some(&cell) = start_cells.iter().find(|cell| goal_cells.contains(cell)) {
            return Some(FinalNode { node: NONE, root: 0, cell });
        }
        let mut is_connected = false;
        for &a in start_cells {
            for &b in goal_cells {
                if mesh.blocks.island[a as usize] == mesh.blocks.island[b as usize] {
                    is_connected = true;
                    mesh.blocks
                        .visit_between(a, b, |block| self.allowed_block[block as usize] = self.generation);
                }
            }
        }
        if !is_connected {
            return None;
        }
        for &cell in start_cells {
            self.push_visible_edges(mesh, cell, 0, NONE);
            if mesh.squeeze {
                let index = self.nodes.len() as u32;
                self.nodes.push(Node::at_a_point(start, NONE, 0, NONE, cell));
                self.squeeze_through_seen(mesh, index, 0, |_| true);
            }
        }
        let mut best_successor = self.take_best_successor();
        loop {
            let node = match best_successor.take() {
                Some(node) => node,
                None => self.open.pop()?.index,
            };
            let cell = self.nodes[node as usize].cell;
            let root = self.nodes[node as usize].root;
            let vertex = self.roots[root as usize].vertex;
            // A final node counts even if its root has been reached by a shorter path since. If that path made the whole shorter, its
            // final node would have come first. If the gain is lost in the rounding of the whole, there may be no other final node.
            if self.is_goal_cell(cell) {
                return Some(FinalNode { node, root, cell: NONE });
            }
            if vertex != NONE && self.reached[vertex as usize].1 != root {
                continue;
            }
            self.expand(mesh, node);
            best_successor = self.take_best_successor();
        }
    }

    fn reset(&mut self, mesh: NavMesh<'_>, goal: DVec2, goal_cells: &[u32]) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.reached.clear();
            self.allowed_block.clear();
            self.generation = 1;
        }
        self.reached.resize(mesh.cells.points.len(), (0, NONE));
        self.allowed_block.resize(mesh.blocks.len(), 0);
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

    /// Returns the best successor if it precedes all nodes on the heap; pushes the others onto the heap.
    #[inline]
    fn take_best_successor(&mut self) -> Option<u32> {
        let mut best = usize::MAX;
        let mut least = self.open.least().map_or(f64::INFINITY, |entry| entry.key);
        for (i, (f, _)) in self.successors.iter().enumerate() {
            if *f < least {
                least = *f;
                best = i;
            }
        }
        let mut best_index = None;
        for (i, (f, node)) in self.successors.iter().enumerate() {
            let index = self.nodes.len() as u32;
            self.nodes.push(*node);
            if i == best {
                best_index = Some(index);
            } else {
                self.open.push(*f, index);
            }
        }
        self.successors.clear();
        best_index
    }

    /// Whether an edge is a wall, or lies outside the blocks between start and goal.
    #[inline]
    pub(crate) fn is_impassable(&self, side: &Side) -> bool {
        side.twin == NONE || self.allowed_block[side.block as usize] != self.generation
    }

    /// The root at a vertex, reached from another root; `None` where a path at most as long is known.
    #[inline]
    pub(crate) fn root_at(&mut self, mesh: NavMesh<'_>, root: u32, vertex: u32) -> Option<u32> {
        let from = self.roots[root as usize];
        let point = mesh.cells.points[vertex as usize];
        let (generation, known) = self.reached[vertex as usize];
        let length = from.length + (point - from.point).length();
        if generation == self.generation {
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
        self.reached[vertex as usize] = (self.generation, new);
        Some(new)
    }
}
