//! The strip of triangles that a path goes through: A* over triangles, from edge midpoint to edge midpoint.

use glam::DVec3;

use crate::navigate::shared::heap::Heap;
use crate::navigate::surface::mesh::topology::{Mesh, NONE};
use crate::navigate::surface::mesh::walkable::Walkable;

/// A search for a strip, and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct StripSearch {
    heap: Heap,
    triangles: Vec<TriangleState>,
    generation: u32,
}

/// How a triangle was reached.
#[derive(Debug, Clone, Copy, Default)]
struct TriangleState {
    /// The length so far, up to the midpoint of the entered edge.
    length: f64,
    /// The side by which the previous triangle was left, and the side of this one on the same edge.
    sides: [u32; 2],
    /// The search that wrote this state.
    generation: u32,
    is_settled: bool,
}

impl StripSearch {
    /// Finds the strip from a point, which lies on all of `start_triangles`, to another, which lies on all of `goal_triangles`: the
    /// shortest by the midpoints of the edges that it crosses. Returns its first and its last triangle, and writes the sides as
    /// [`Unfolded::lay_out`](crate::navigate::surface::geodesic::unfold::Unfolded::lay_out) takes them. `None` where walkable triangles
    /// don't lead there.
    ///
    /// A* (Hart, Nilsson, Raphael 1968) with the straight distance to the goal as the heuristic.
    pub(crate) fn find(
        &mut self,
        mesh: &Mesh,
        walkable: Walkable<'_>,
        (start_triangles, start): (&[u32], DVec3),
        (goal_triangles, goal): (&[u32], DVec3),
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        sides.clear();
        self.begin(mesh);
        let generation = self.generation;
        let middle = |side: u32| {
            let [a, b] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
            0.5 * (a + b)
        };
        for &first in start_triangles {
            self.triangles[first as usize] =
                TriangleState { length: 0.0, sides: [NONE; 2], generation, is_settled: false };
            self.heap.push(start.distance(goal), first);
        }
        let mut found = None;
        while let Some(entry) = self.heap.pop() {
            let triangle = entry.index;
            let here = &mut self.triangles[triangle as usize];
            if std::mem::replace(&mut here.is_settled, true) {
                continue;
            }
            if goal_triangles.contains(&triangle) {
                found = Some(triangle);
                break;
            }
            let (length, [_, entry]) = (here.length, here.sides);
            let from = if entry == NONE { start } else { middle(entry) };
            for exit in 3 * triangle..3 * triangle + 3 {
                if exit == entry {
                    continue;
                }
                let to = middle(exit);
                let length = length + from.distance(to);
                for side in mesh.twins(exit) {
                    let next = &mut self.triangles[side as usize / 3];
                    let is_no_better =
                        next.generation == generation && (next.is_settled || next.length <= length);
                    if is_no_better || !walkable.holds(side / 3) {
                        continue;
                    }
                    *next = TriangleState { length, sides: [exit, side], generation, is_settled: false };
                    self.heap.push(length + to.distance(goal), side / 3);
                }
            }
        }
        let last = found?;
        let mut first = last;
        loop {
            let pair = self.triangles[first as usize].sides;
            if pair[0] == NONE {
                break;
            }
            sides.push(pair);
            first = pair[0] / 3;
        }
        sides.reverse();
        Some([first, last])
    }

    /// Whether the last search reached a triangle.
    pub(crate) fn has_reached(&self, triangle: u32) -> bool {
        self.triangles[triangle as usize].generation == self.generation
    }

    fn begin(&mut self, mesh: &Mesh) {
        self.heap.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.triangles.len() != mesh.triangle_count() || self.generation == 0 {
            self.triangles.clear();
            self.triangles.resize(mesh.triangle_count(), TriangleState::default());
            self.generation = 1;
        }
    }
}
