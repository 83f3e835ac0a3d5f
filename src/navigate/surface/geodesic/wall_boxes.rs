//! Boxes around the walls that can be reached: they give a lower bound of the distance to the nearest wall, which prunes the search for
//! it.

use glam::DVec3;

use crate::navigate::shared::heap::Heap;
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD, NONE};
use crate::navigate::surface::mesh::walkable::Walkable;

/// There are at most two to this power boxes.
const HALVINGS: usize = 6;

/// The factor of a straight distance that keeps it a lower bound despite rounding.
const ROUNDING_FACTOR: f64 = 1.0 - 1e-9;

/// Whether a side is a wall: no walkable triangle lies across it.
#[inline]
pub(crate) fn is_wall(mesh: &Mesh, walkable: Walkable<'_>, side: u32) -> bool {
    match mesh.twin(side) {
        NONE => true,
        NON_MANIFOLD => !mesh.twins(side).any(|other| walkable.holds(other / 3)),
        other => !walkable.holds(other / 3),
    }
}

/// Boxes around walls.
#[derive(Debug, Clone, Default)]
pub(crate) struct WallBoxes {
    /// Each wall is in one of the boxes.
    boxes: Vec<[DVec3; 2]>,
}

impl WallBoxes {
    /// The boxes of all walls of the walkable triangles that edges connect with `start_triangles`.
    pub(crate) fn new(mesh: &Mesh, walkable: Walkable<'_>, start_triangles: &[u32]) -> Self {
        let mut seen = vec![false; mesh.triangle_count()];
        start_triangles.iter().for_each(|&first| seen[first as usize] = true);
        let mut stack = start_triangles.to_vec();
        let mut walls = Vec::new();
        while let Some(triangle) = stack.pop() {
            for side in 3 * triangle..3 * triangle + 3 {
                let mut is_wall = true;
                let mut pass = |triangle: u32| {
                    if walkable.holds(triangle) {
                        is_wall = false;
                        if !std::mem::replace(&mut seen[triangle as usize], true) {
                            stack.push(triangle);
                        }
                    }
                };
                match mesh.twin(side) {
                    NONE => {}
                    NON_MANIFOLD => mesh.twins(side).for_each(|other| pass(other / 3)),
                    other => pass(other / 3),
                }
                if is_wall {
                    walls.push(side);
                }
            }
        }
        let mut wall_boxes = Self::default();
        if !walls.is_empty() {
            wall_boxes.split(mesh, &mut walls, HALVINGS);
        }
        wall_boxes
    }

    /// Splits the walls along the longest axis, again and again, and boxes each part.
    fn split(&mut self, mesh: &Mesh, walls: &mut [u32], halvings: usize) {
        let ends = |side: u32| mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let hull = walls.iter().flat_map(|&side| ends(side));
        let hull = hull.fold(none, |[low, high], point| [low.min(point), high.max(point)]);
        if halvings == 0 || walls.len() == 1 {
            return self.boxes.push(hull);
        }
        let axis = (hull[1] - hull[0]).max_position();
        let middle = |side: u32| ends(side).iter().map(|end| 0.5 * end[axis]).sum::<f64>();
        let half = walls.len() / 2;
        walls.select_nth_unstable_by(half, |&a, &b| middle(a).total_cmp(&middle(b)));
        let (one, other) = walls.split_at_mut(half);
        self.split(mesh, one, halvings - 1);
        self.split(mesh, other, halvings - 1);
    }

    /// Whether there are no walls.
    pub(crate) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// A lower bound of the distance to the nearest wall.
    pub(crate) fn lower_bound(&self, point: DVec3) -> f64 {
        let outside = |[low, high]: &[DVec3; 2]| (*low - point).max(point - *high).max(DVec3::ZERO);
        let nearest = self.boxes.iter().map(|walls| outside(walls).length_squared());
        ROUNDING_FACTOR * nearest.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// A path to the midpoint of a wall over the midpoints of edges: its length, and the wall. A* over triangles, with
    /// [`lower_bound`](Self::lower_bound) as the heuristic.
    pub(crate) fn path_to_wall(
        &self,
        mesh: &Mesh,
        walkable: Walkable<'_>,
        start_triangles: &[u32],
        from: DVec3,
    ) -> Option<(f64, u32)> {
        let middle = |side: u32| {
            let [a, b] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
            0.5 * (a + b)
        };
        // For each triangle the length up to where it is entered, and the side by which.
        let mut reached = vec![(f64::INFINITY, NONE); mesh.triangle_count()];
        let mut heap = Heap::default();
        for &first in start_triangles {
            reached[first as usize].0 = 0.0;
            heap.push(0.0, first);
        }
        let mut best: Option<(f64, u32)> = None;
        while let Some(entry) = heap.pop() {
            if best.is_some_and(|best| entry.key >= best.0) {
                break;
            }
            let triangle = entry.index;
            // A triangle that comes up again is expanded again with the same length, which changes nothing.
            let (length_so_far, entry) = reached[triangle as usize];
            let from = if entry == NONE { from } else { middle(entry) };
            for exit in (3 * triangle..3 * triangle + 3).filter(|&exit| exit != entry) {
                let to = middle(exit);
                let length = length_so_far + from.distance(to);
                if is_wall(mesh, walkable, exit) {
                    if best.is_none_or(|best| length < best.0) {
                        best = Some((length, exit));
                    }
                    continue;
                }
                for other in mesh.twins(exit).filter(|other| walkable.holds(other / 3)) {
                    let next = &mut reached[other as usize / 3];
                    if length < next.0 {
                        *next = (length, other);
                        heap.push(length + self.lower_bound(to), other / 3);
                    }
                }
            }
        }
        best
    }
}
