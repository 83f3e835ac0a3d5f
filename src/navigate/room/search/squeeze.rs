//! Squeezing: paths through single points in which walls touch, where [`Options`](crate::navigate::room::build::options::Options) allow it.

use glam::DVec2;

use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::search::polyanya::{Floor, Node, Search};

impl Node {
    /// The way into a cell through a point, or, for the start, its own cell.
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
    /// From a root that sees some points of a node's cell: through those in which walls touch.
    pub(crate) fn squeeze_out(
        &mut self,
        floor: Floor<'_>,
        index: u32,
        root: u32,
        is_seen: impl Fn(DVec2) -> bool,
    ) {
        for side in floor.cells.range(self.nodes[index as usize].cell) {
            let corner = floor.cells.sides[side];
            if floor.cells.kinds[corner.vertex as usize].pinched && is_seen(corner.point) {
                self.squeeze(floor, index, root, corner.vertex);
            }
        }
    }

    /// Round an end of the entered edge, then through points of the same cell that are seen from there alone.
    pub(crate) fn bend_and_squeeze(
        &mut self,
        floor: Floor<'_>,
        index: u32,
        vertex: u32,
        is_seen: impl Fn(DVec2) -> bool,
    ) {
        let cells = floor.cells;
        let node = self.nodes[index as usize];
        let is_wanted = |side: usize| {
            let corner = cells.sides[side];
            cells.kinds[corner.vertex as usize].pinched && corner.vertex != vertex && is_seen(corner.point)
        };
        if !cells.kinds[vertex as usize].turns || !cells.range(node.cell).any(is_wanted) {
            return;
        }
        if let Some(corner) = self.turn(floor, node.root, vertex) {
            self.squeeze_out(floor, index, corner, is_seen);
        }
    }

    /// Steps through a point where sectors touch into the cells of the other sectors.
    pub(crate) fn squeeze(&mut self, floor: Floor<'_>, index: u32, from_root: u32, vertex: u32) {
        let cells = floor.cells;
        let point = cells.points[vertex as usize];
        if !cells.kinds[vertex as usize].pinched || point == self.roots[from_root as usize].point {
            return;
        }
        for &spoke in cells.around(vertex) {
            let own = cells.sides[spoke as usize].vertex;
            if own == vertex {
                continue;
            }
            let Some(root) = self.turn(floor, from_root, own) else { continue };
            let cell = cells.cell_of[spoke as usize];
            // The least that it can become; in the goal's cell what it is.
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
