//! The method `funnel`: a strip of cells from start to goal, and the shortest path within that strip.
//!
//! The strip has the fewest cells (breadth first), or the shortest polyline over the midpoints of its edges (Dijkstra 1959). The cells'
//! orientation says which end of each edge is left and which is right. The funnel (Lee and Preparata 1984, "Euclidean shortest paths in
//! the presence of rectilinear barriers", §3) is one deque. Each vertex enters and leaves it once, so it takes O(n) for any strip.

use std::collections::VecDeque;

use glam::DVec2;

use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::shared::heap::Heap;
use crate::navigate::shared::predicate::orient;

/// How the strip of [`Method::Funnel`](crate::navigate::room::query::paths::Method::Funnel) is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Strip {
    /// The fewest cells.
    BreadthFirst,
    /// The shortest polyline over the midpoints of the crossed edges.
    #[default]
    Dijkstra,
}

/// The state of the funnel after one edge of the strip.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FunnelMove {
    /// How many edges of the strip the funnel has taken in.
    pub edge_count: usize,
    /// The part of the path that is final: the start, its bends so far, and the apex.
    pub path: Vec<[f64; 2]>,
    /// The left chain of the funnel, outwards from the apex, which is not included.
    pub left: Vec<[f64; 2]>,
    /// The right chain of the funnel, outwards from the apex, which is not included.
    pub right: Vec<[f64; 2]>,
}

/// A search for a strip, and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct StripSearch {
    /// For each cell the last query that reached it, the side by which it was entered, and the length so far.
    reached: Vec<(u32, u32, f64)>,
    generation: u32,
    open: Heap,
    /// For each entry of the open list where it is, and the cell and its entry side; for the goal, [`NONE`] and its cell.
    points: Vec<DVec2>,
    entries: Vec<(u32, u32)>,
    /// The cells of the strip.
    pub(crate) cells: Vec<u32>,
    /// The side by which each cell but the first is entered.
    pub(crate) sides: Vec<u32>,
    funnel: VecDeque<Corner>,
}

/// A vertex of the funnel.
#[derive(Debug, Clone, Copy)]
struct Corner {
    point: DVec2,
    vertex: u32,
}

impl StripSearch {
    /// Finds a strip of cells; false where there is none.
    pub(crate) fn find(
        &mut self,
        cells: &Cells,
        strip: Strip,
        start: DVec2,
        start_cells: &[u32],
        goal: DVec2,
        goal_cells: &[u32],
    ) -> bool {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.reached.clear();
            self.generation = 1;
        }
        self.reached.resize(cells.len(), (0, NONE, 0.0));
        self.open.clear();
        self.points.clear();
        self.entries.clear();
        self.cells.clear();
        self.sides.clear();
        for &cell in start_cells {
            self.relax(cell, NONE, start, 0.0);
        }
        let mut last = NONE;
        while let Some(entry) = self.open.pop() {
            let (cell, side) = self.entries[entry.index as usize];
            let place = self.points[entry.index as usize];
            if cell == NONE {
                last = side;
                break;
            }
            let (_, entry_side, length) = self.reached[cell as usize];
            if entry_side != side || length != entry.key {
                continue;
            }
            let cost = |to: DVec2| match strip {
                Strip::BreadthFirst => 1.0,
                Strip::Dijkstra => place.distance(to),
            };
            if goal_cells.contains(&cell) {
                let index = self.entries.len() as u32;
                self.entries.push((NONE, cell));
                self.points.push(goal);
                self.open.push(
                    length + if strip == Strip::BreadthFirst { 0.0 } else { place.distance(goal) },
                    index,
                );
                if strip == Strip::BreadthFirst {
                    last = cell;
                    break;
                }
            }
            for exit in cells.range(cell) {
                let (twin, neighbour) = (cells.sides[exit].twin, cells.sides[exit].neighbour);
                if twin == NONE || exit as u32 == side {
                    continue;
                }
                let [a, b] = cells.ends(exit);
                let middle = 0.5 * (a + b);
                self.relax(neighbour, twin, middle, length + cost(middle));
            }
        }
        if last == NONE {
            return false;
        }
        let mut cell = last;
        loop {
            self.cells.push(cell);
            let side = self.reached[cell as usize].1;
            if side == NONE {
                break;
            }
            self.sides.push(side);
            cell = cells.sides[side as usize].neighbour;
        }
        self.cells.reverse();
        self.sides.reverse();
        true
    }

    /// Whether the last search reached a cell.
    pub(crate) fn has_reached(&self, cell: u32) -> bool {
        self.reached[cell as usize].0 == self.generation
    }

    fn relax(&mut self, cell: u32, side: u32, place: DVec2, length: f64) {
        let (generation, _, known) = self.reached[cell as usize];
        if generation == self.generation && known <= length {
            return;
        }
        self.reached[cell as usize] = (self.generation, side, length);
        let index = self.entries.len() as u32;
        self.entries.push((cell, side));
        self.points.push(place);
        self.open.push(length, index);
    }

    /// Runs the funnel over the strip: adds the vertices at which the path bends, in order. `on_move` is called with each state.
    pub(crate) fn pull(
        &mut self,
        cells: &Cells,
        start: DVec2,
        goal: DVec2,
        corners: &mut Vec<u32>,
        mut on_move: impl FnMut(usize, &[u32], &Funnel<'_>),
    ) {
        let mut funnel = std::mem::take(&mut self.funnel);
        funnel.clear();
        // Left end first, right end last.
        funnel.push_back(Corner { point: start, vertex: NONE });
        let mut apex = 0;
        for (i, &side) in self.sides.iter().enumerate() {
            let [left, right] = cells
                .end_vertices(side as usize)
                .map(|vertex| Corner { point: cells.points[vertex as usize], vertex });
            if funnel[0].vertex != left.vertex || apex == 0 {
                add_left(&mut funnel, &mut apex, left, corners);
            }
            if funnel[funnel.len() - 1].vertex != right.vertex || apex + 1 == funnel.len() {
                add_right(&mut funnel, &mut apex, right, corners);
            }
            on_move(i + 1, corners, &Funnel { corners: &funnel, apex });
        }
        add_left(&mut funnel, &mut apex, Corner { point: goal, vertex: NONE }, corners);
        // The chain from the apex to the goal is the rest of the path.
        for k in (1..=apex).rev() {
            let vertex = funnel[k].vertex;
            if vertex != NONE {
                corners.push(vertex);
            }
        }
        self.funnel = funnel;
    }
}

/// A view of the funnel.
pub(crate) struct Funnel<'a> {
    corners: &'a VecDeque<Corner>,
    apex: usize,
}

impl Funnel<'_> {
    pub(crate) fn apex(&self) -> DVec2 {
        self.corners[self.apex].point
    }

    pub(crate) fn left(&self) -> Vec<[f64; 2]> {
        self.corners.iter().take(self.apex).rev().map(|corner| corner.point.to_array()).collect()
    }

    pub(crate) fn right(&self) -> Vec<[f64; 2]> {
        self.corners.iter().skip(self.apex + 1).map(|corner| corner.point.to_array()).collect()
    }
}

/// Adds a vertex on the left. It removes the left vertices that it hides. Where it lies to the right of the right chain, the apex moves
/// along that chain.
fn add_left(funnel: &mut VecDeque<Corner>, apex: &mut usize, new: Corner, path: &mut Vec<u32>) {
    while *apex > 0 && orient(funnel[1].point, funnel[0].point, new.point) <= 0.0 {
        funnel.pop_front();
        *apex -= 1;
    }
    if *apex == 0 {
        while funnel.len() > 1 && orient(funnel[0].point, funnel[1].point, new.point) < 0.0 {
            push_bend(funnel.pop_front(), path);
        }
    }
    funnel.push_front(new);
    *apex += 1;
}

/// [`add_left`] on the right.
fn add_right(funnel: &mut VecDeque<Corner>, apex: &mut usize, new: Corner, path: &mut Vec<u32>) {
    while *apex + 1 < funnel.len()
        && orient(funnel[funnel.len() - 2].point, funnel[funnel.len() - 1].point, new.point) >= 0.0
    {
        funnel.pop_back();
    }
    if *apex + 1 == funnel.len() {
        while *apex > 0 && orient(funnel[*apex].point, funnel[*apex - 1].point, new.point) > 0.0 {
            push_bend(funnel.pop_back(), path);
            *apex -= 1;
        }
    }
    funnel.push_back(new);
}

/// Adds the old apex to the path.
fn push_bend(corner: Option<Corner>, path: &mut Vec<u32>) {
    if let Some(Corner { vertex, .. }) = corner
        && vertex != NONE
    {
        path.push(vertex);
    }
}
