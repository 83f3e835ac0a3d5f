//! What a query in a room answers.

use glam::DVec2;

use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::shared::predicate::{crossing, orient};
use crate::navigate::shared::reach::Reach;

/// A path through a room, or why there is none. One can be handed to query after query: its memory is kept.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Path {
    /// Whether there is a path.
    pub reach: Reach<[f64; 2]>,
    /// Its length in the room's units; infinite where there is none.
    pub length: f64,
    /// The start, each corner that the path bends around, and the goal; empty where there is no path. Along each piece
    /// the path is straight.
    pub points: Vec<[f64; 2]>,
    /// The vertex of each bend, as an index into [`Room::vertices`](crate::navigate::room::query::room::Room::vertices): one for each of `points`
    /// but the first and the last.
    pub corners: Vec<u32>,
    /// The cells it goes through, in order, as [`Room::cell`](crate::navigate::room::query::room::Room::cell) has them.
    pub cells: Vec<u32>,
    /// The edges it crosses from each of `cells` to the next.
    pub crossings: Vec<Crossing>,
}

/// Where a path goes from one cell to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Crossing {
    /// The edge's vertices, the one on the path's left first. Both are the same where it squeezes through a point.
    pub edge: [u32; 2],
    /// Where it is crossed: on the edge up to rounding, at one of its ends to the bit.
    pub point: [f64; 2],
}

impl Path {
    /// True where there is a path.
    pub fn is_reached(&self) -> bool {
        self.reach.is_reached()
    }

    pub(crate) fn clear(&mut self) {
        self.reach = Reach::Reached;
        self.length = f64::INFINITY;
        self.points.clear();
        self.corners.clear();
        self.cells.clear();
        self.crossings.clear();
    }

    /// Fills in the points from `corners`, the length, and where each edge of `crossings` is crossed.
    pub(crate) fn string(&mut self, cells: &Cells, start: DVec2, goal: DVec2) {
        let at = |v: u32| cells.points[v as usize];
        self.points.push(start.to_array());
        self.points.extend(self.corners.iter().map(|&v| at(v).to_array()));
        self.points.push(goal.to_array());
        self.length = self.points.windows(2).map(|pair| DVec2::from(pair[0]).distance(pair[1].into())).sum();
        // The piece that crosses edge i: an edge that a bend is on is crossed there.
        let mut piece = 0;
        for i in 0..self.crossings.len() {
            let holds = |i: usize, piece: usize| {
                self.corners.get(piece).is_some_and(|corner| self.crossings[i].edge.contains(corner))
            };
            while !holds(i, piece) && i > 0 && holds(i - 1, piece) {
                piece += 1;
            }
            let [left, right] = self.crossings[i].edge.map(at);
            let point = if holds(i, piece) {
                at(self.corners[piece])
            } else {
                let (from, to) = (DVec2::from(self.points[piece]), DVec2::from(self.points[piece + 1]));
                meet(left, right, from, to)
            };
            self.crossings[i].point = point.to_array();
        }
        // Corners are told by the vertices as they were given.
        for corner in &mut self.corners {
            *corner = cells.original(*corner);
        }
        for crossing in &mut self.crossings {
            crossing.edge = crossing.edge.map(|v| cells.original(v));
        }
    }
}

/// Where a piece of a path meets an edge that it crosses.
fn meet(left: DVec2, right: DVec2, from: DVec2, to: DVec2) -> DVec2 {
    let (height_left, height_right) = (orient(from, to, left), orient(from, to, right));
    if height_left <= 0.0 && height_right >= 0.0 {
        // The piece runs along the edge, and leaves it where the first of the two ends.
        let along = right - left;
        let at = (to - left).dot(along);
        return if at <= 0.0 {
            left
        } else if at >= along.dot(along) {
            right
        } else {
            to
        };
    }
    if height_left <= 0.0 {
        left
    } else if height_right >= 0.0 {
        right
    } else {
        crossing(left, right, height_left, height_right)
    }
}

/// The vertices of the edge that leads into a cell by one of its sides, the left one first.
pub(crate) fn gate(cells: &Cells, side: u32) -> [u32; 2] {
    if side == NONE { [NONE; 2] } else { cells.end_vertices(side as usize) }
}
