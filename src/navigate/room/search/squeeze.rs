//! Squeezing: paths through points in which walls touch, where [`Options::squeeze`](crate::navigate::room::build::options::Options::squeeze)
//! allows it.

use glam::DVec2;

use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::search::polyanya::{NavMesh, Node, Search};

impl Node {
    /// The node of a cell that is entered through a point, or of the start's own cell.
    pub(crate) fn at_a_point(point: DVec2, vertex: u32, root: u32, parent: u32, cell: u32) -> Self {
        Self {
            left: vertex,
            right: vertex,
            left_point: point,
            right_point: point,
            root,
            parent,
            side: NONE,
            cell,
        }
    }
}

impl Search {
    /// Squeezes through those pinch points of a node's cell that a root sees.
    pub(crate) fn squeeze_through_seen(
        &mut self,
        mesh: NavMesh<'_>,
        index: u32,
        root: u32,
        is_seen: impl Fn(DVec2) -> bool,
    ) {
        for side in mesh.cells.range(self.nodes[index as usize].cell) {
            let corner = mesh.cells.sides[side];
            if mesh.cells.vertex_kinds[corner.vertex as usize].is_pinched && is_seen(corner.point) {
                self.squeeze(mesh, index, root, corner.vertex);
            }
        }
    }

    /// Bends around an end of the entered edge, then squeezes through the pinch points of the cell that are seen only from there.
    pub(crate) fn turn_and_squeeze(
        &mut self,
        mesh: NavMesh<'_>,
        index: u32,
        vertex: u32,
        is_seen: impl Fn(DVec2) -> bool,
    ) {
        let cells = mesh.cells;
        let node = self.nodes[index as usize];
        let is_wanted = |side: usize| {
            let corner = cells.sides[side];
            cells.vertex_kinds[corner.vertex as usize].is_pinched
                && corner.vertex != vertex
                && is_seen(corner.point)
        };
        if !cells.vertex_kinds[vertex as usize].is_corner || !cells.range(node.cell).any(is_wanted) {
            return;
        }
        if let Some(corner) = self.root_at(mesh, node.root, vertex) {
            self.squeeze_through_seen(mesh, index, corner, is_seen);
        }
    }

    /// Squeezes through a pinch point into the cells of its other sectors.
    pub(crate) fn squeeze(&mut self, mesh: NavMesh<'_>, index: u32, from_root: u32, vertex: u32) {
        let cells = mesh.cells;
        let point = cells.points[vertex as usize];
        if !cells.vertex_kinds[vertex as usize].is_pinched || point == self.roots[from_root as usize].point {
            return;
        }
        for &spoke in cells.around(vertex) {
            let own = cells.sides[spoke as usize].vertex;
            if own == vertex {
                continue;
            }
            let Some(root) = self.root_at(mesh, from_root, own) else { continue };
            let cell = cells.cell_of[spoke as usize];
            // A lower bound of the path's length; in a goal cell, the length itself.
            let length = self.roots[root as usize].length + (self.goal - point).length();
            if length < self.best_final {
                if self.is_goal_cell(cell) {
                    self.best_final = length;
                }
                self.successors.push((length, Node::at_a_point(point, own, root, index, cell)));
            }
        }
    }
}
