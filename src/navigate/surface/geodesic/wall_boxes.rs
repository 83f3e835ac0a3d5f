//! The walls that can be reached from somewhere, and roughly how far they are: what keeps a search for the nearest one from looking
//! everywhere.

use glam::DVec3;

use crate::navigate::shared::heap::Heap;
use crate::navigate::surface::mesh::topology::{MANY, Mesh, NONE};

/// Walls are put into two to the power of that many boxes.
const HALVINGS: usize = 6;

/// Of a distance as the crow flies: what rounding may have made of it is left out.
const SURELY: f64 = 1.0 - 1e-9;

/// Whether the walkable triangles end at a side, seen from its own triangle.
#[inline]
pub(crate) fn is_wall(mesh: &Mesh, is_open: impl Fn(u32) -> bool, side: u32) -> bool {
    match mesh.across(side) {
        NONE => true,
        MANY => !mesh.beyond(side).any(|other| is_open(other / 3)),
        other => !is_open(other / 3),
    }
}

/// Walls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rim {
    /// Each has some of the walls, and each wall is in one of them.
    boxes: Vec<[DVec3; 2]>,
}

impl Rim {
    /// The walls of the open triangles that edges connect with these; without any box where there is none.
    pub(crate) fn new(mesh: &Mesh, is_open: impl Fn(u32) -> bool, firsts: &[u32]) -> Self {
        let mut seen = vec![false; mesh.triangle_count()];
        firsts.iter().for_each(|&first| seen[first as usize] = true);
        let mut stack = firsts.to_vec();
        let mut walls = Vec::new();
        while let Some(triangle) = stack.pop() {
            for side in 3 * triangle..3 * triangle + 3 {
                let mut is_wall = true;
                let mut pass = |triangle: u32| {
                    if is_open(triangle) {
                        is_wall = false;
                        if !std::mem::replace(&mut seen[triangle as usize], true) {
                            stack.push(triangle);
                        }
                    }
                };
                match mesh.across(side) {
                    NONE => {}
                    MANY => mesh.beyond(side).for_each(|other| pass(other / 3)),
                    other => pass(other / 3),
                }
                if is_wall {
                    walls.push(side);
                }
            }
        }
        let mut rim = Self::default();
        if !walls.is_empty() {
            rim.part(mesh, &mut walls, HALVINGS);
        }
        rim
    }

    /// Puts walls that are near one another into a box.
    fn part(&mut self, mesh: &Mesh, walls: &mut [u32], halvings: usize) {
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
        self.part(mesh, one, halvings - 1);
        self.part(mesh, other, halvings - 1);
    }

    /// Whether there are no walls.
    pub(crate) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// How far the nearest wall is at least, as the crow flies.
    pub(crate) fn gap(&self, point: DVec3) -> f64 {
        let outside = |[low, high]: &[DVec3; 2]| (*low - point).max(point - *high).max(DVec3::ZERO);
        let nearest = self.boxes.iter().map(|walls| outside(walls).length_squared());
        SURELY * nearest.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// A way to a wall by the middles of edges: how long it is, and the wall, in whose middle it ends. Dijkstra's search, drawn
    /// towards the walls as the crow flies.
    pub(crate) fn way(
        &self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        firsts: &[u32],
        from: DVec3,
    ) -> Option<(f64, u32)> {
        let middle = |side: u32| {
            let [a, b] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
            0.5 * (a + b)
        };
        // For each triangle how far it is up to where it is entered, and by which side.
        let mut reached = vec![(f64::INFINITY, NONE); mesh.triangle_count()];
        let mut heap = Heap::default();
        for &first in firsts {
            reached[first as usize].0 = 0.0;
            heap.push(0.0, first);
        }
        let mut best: Option<(f64, u32)> = None;
        while let Some(entry) = heap.pop() {
            if best.is_some_and(|best| entry.key >= best.0) {
                break;
            }
            let triangle = entry.index;
            // One that was passed with as little is passed for good.
            let (come, entered) = reached[triangle as usize];
            let from = if entered == NONE { from } else { middle(entered) };
            for exit in (3 * triangle..3 * triangle + 3).filter(|&exit| exit != entered) {
                let to = middle(exit);
                let length = come + from.distance(to);
                if is_wall(mesh, &is_open, exit) {
                    if best.is_none_or(|best| length < best.0) {
                        best = Some((length, exit));
                    }
                    continue;
                }
                for other in mesh.beyond(exit).filter(|other| is_open(other / 3)) {
                    let next = &mut reached[other as usize / 3];
                    if length < next.0 {
                        *next = (length, other);
                        heap.push(length + self.gap(to), other / 3);
                    }
                }
            }
        }
        best
    }
}
