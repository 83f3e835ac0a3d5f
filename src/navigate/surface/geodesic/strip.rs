//! Which triangles a path goes through: Dijkstra over triangles, from edge to edge.

use glam::DVec3;

use crate::navigate::shared::heap::Heap;
use crate::navigate::surface::mesh::topology::{Mesh, NONE};

/// A search and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    heap: Heap,
    reached: Vec<Entry>,
    round: u32,
}

/// How a triangle was reached.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// The length so far, up to the middle of the edge that it was entered by.
    length: f64,
    /// The side that the triangle before was left by, and the side of this one that is the same edge.
    sides: [u32; 2],
    /// The search that wrote it.
    round: u32,
    is_settled: bool,
}

impl Search {
    /// Finds the strip from a point, which lies on all of `firsts`, to another, which lies on all of `lasts`: shortest by the
    /// middles of the edges that it crosses. Answers its first and its last triangle. The sides come out as [`Unfolded::lay_out`](crate::navigate::surface::geodesic::unfold::Unfolded::lay_out) takes them; none where
    /// the triangles that `is_open` allows don't lead there.
    ///
    /// Dijkstra's search, drawn towards the goal by the distance as the crow flies (Hart, Nilsson, Raphael 1968), which
    /// changes no answer.
    pub(crate) fn strip(
        &mut self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        (firsts, start): (&[u32], DVec3),
        (lasts, goal): (&[u32], DVec3),
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        sides.clear();
        self.begin(mesh);
        let round = self.round;
        let middle = |side: u32| {
            let [a, b] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
            0.5 * (a + b)
        };
        for &first in firsts {
            self.reached[first as usize] = Entry { length: 0.0, sides: [NONE; 2], round, is_settled: false };
            self.heap.push(start.distance(goal), first);
        }
        let mut found = None;
        while let Some(entry) = self.heap.pop() {
            let triangle = entry.index;
            let here = &mut self.reached[triangle as usize];
            if std::mem::replace(&mut here.is_settled, true) {
                continue;
            }
            if lasts.contains(&triangle) {
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
                for side in mesh.beyond(exit) {
                    let next = &mut self.reached[side as usize / 3];
                    let is_known = next.round == round && (next.is_settled || next.length <= length);
                    if is_known || !is_open(side / 3) {
                        continue;
                    }
                    *next = Entry { length, sides: [exit, side], round, is_settled: false };
                    self.heap.push(length + to.distance(goal), side / 3);
                }
            }
        }
        let last = found?;
        let mut first = last;
        loop {
            let pair = self.reached[first as usize].sides;
            if pair[0] == NONE {
                break;
            }
            sides.push(pair);
            first = pair[0] / 3;
        }
        sides.reverse();
        Some([first, last])
    }

    /// Whether the last search came to a triangle.
    pub(crate) fn has_reached(&self, triangle: u32) -> bool {
        self.reached[triangle as usize].round == self.round
    }

    fn begin(&mut self, mesh: &Mesh) {
        self.heap.clear();
        self.round = self.round.wrapping_add(1);
        if self.reached.len() != mesh.triangle_count() || self.round == 0 {
            self.reached.clear();
            self.reached.resize(mesh.triangle_count(), Entry::default());
            self.round = 1;
        }
    }
}
