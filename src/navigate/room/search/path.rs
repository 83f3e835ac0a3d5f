//! A path through a room.

use glam::DVec2;

use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::shared::predicate::{crossing, orient};
use crate::navigate::shared::reach::Reach;

/// A path through a room, or why there is none. It can be reused for query after query, and then keeps its memory.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Whether there is a path.
    pub reach: Reach<[f64; 2]>,
    /// Its length in the room's units; infinite where there is no path.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub length: f64,
    /// The start, each corner at which the path bends, and the goal. The path is straight in between. Empty where there is no path.
    pub points: Vec<[f64; 2]>,
    /// The vertex of each bend, as an index into [`Room::vertices`](crate::navigate::room::query::room::Room::vertices): one for each point
    /// except the first and the last.
    pub corners: Vec<u32>,
    /// The cells that it goes through, in order, as indices for [`Room::cell`](crate::navigate::room::query::room::Room::cell).
    pub cells: Vec<u32>,
    /// The edges that it crosses: one from each of `cells` to the next.
    pub crossings: Vec<Crossing>,
}

/// Where a path goes from one cell to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Crossing {
    /// The edge's vertices, the one on the path's left first. Both are the same where the path squeezes through a point.
    pub edge: [u32; 2],
    /// Where it is crossed: on the edge up to rounding; where that is an end of the edge, exactly there.
    pub point: [f64; 2],
}

/// The place of an agent on its path through a room.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathPlace {
    /// Its position, in the room's frame.
    pub position: [f64; 2],
    /// The unit vector ahead along the path; zero where the path has no length.
    pub tangent: [f64; 2],
    /// The index of the piece that it is on: that from the point of this index to the next.
    pub piece: usize,
}

impl Path {
    /// The place of an agent that has followed the path for `arc_length`, in the room's units. It is the start for less than 0, and the
    /// goal for more than the path's length. At a bend the piece is that after it. `None` where there is no path, or for NaN.
    ///
    /// Cost: O(n) in the number of points, which are few.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 5.0], [0.0, 5.0]];
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&outer, &none, Options::default())?;
    /// let path = room.path([4.0, 1.0], [1.0, 5.0], &PathOptions::default())?;
    /// let place = path.at(4.0).ok_or(hullfield::Error::Cancelled)?;
    /// assert_eq!((place.position, place.tangent, place.piece), ([1.0, 2.0], [0.0, 1.0], 1));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn at(&self, arc_length: f64) -> Option<PathPlace> {
        if arc_length.is_nan() || self.points.len() < 2 {
            return None;
        }
        let mut place = PathPlace { position: self.points[0], tangent: [0.0; 2], piece: 0 };
        let mut begin = 0.0;
        let mut is_first = true;
        for (piece, ends) in self.points.windows(2).enumerate() {
            let [from, to] = [DVec2::from(ends[0]), DVec2::from(ends[1])];
            let length = from.distance(to);
            // The last piece with a length that begins no later, or the first of these.
            if length > 0.0 {
                if begin > arc_length && !is_first {
                    break;
                }
                let part = ((arc_length - begin) / length).clamp(0.0, 1.0);
                let position = if part == 1.0 { to } else { from + (to - from) * part };
                let tangent = ((to - from) / length).to_array();
                place = PathPlace { position: position.to_array(), tangent, piece };
                is_first = false;
            }
            begin += length;
        }
        Some(place)
    }

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
    pub(crate) fn fill_from_corners(&mut self, cells: &Cells, start: DVec2, goal: DVec2) {
        let at = |v: u32| cells.points[v as usize];
        self.points.push(start.to_array());
        self.points.extend(self.corners.iter().map(|&v| at(v).to_array()));
        self.points.push(goal.to_array());
        self.length = self.points.windows(2).map(|pair| DVec2::from(pair[0]).distance(pair[1].into())).sum();
        // `piece` is the piece that crosses edge i. An edge that ends at a bend is crossed at that bend.
        let mut piece = 0;
        for i in 0..self.crossings.len() {
            let is_end = |i: usize, piece: usize| {
                self.corners.get(piece).is_some_and(|corner| self.crossings[i].edge.contains(corner))
            };
            while !is_end(i, piece) && i > 0 && is_end(i - 1, piece) {
                piece += 1;
            }
            let [left, right] = self.crossings[i].edge.map(at);
            let point = if is_end(i, piece) {
                at(self.corners[piece])
            } else {
                let (from, to) = (DVec2::from(self.points[piece]), DVec2::from(self.points[piece + 1]));
                portal_crossing(left, right, from, to)
            };
            self.crossings[i].point = point.to_array();
        }
        // The caller knows original vertices, not the copies of sectors.
        for corner in &mut self.corners {
            *corner = cells.original(*corner);
        }
        for crossing in &mut self.crossings {
            crossing.edge = crossing.edge.map(|v| cells.original(v));
        }
    }
}

/// Where a straight piece of a path crosses an edge.
fn portal_crossing(left: DVec2, right: DVec2, from: DVec2, to: DVec2) -> DVec2 {
    let (height_left, height_right) = (orient(from, to, left), orient(from, to, right));
    if height_left <= 0.0 && height_right >= 0.0 {
        // The piece runs along the edge. It leaves it where the piece or the edge ends, whichever comes first.
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

/// The portal that leads into a cell by one of its sides: the edge's vertices, the left one first.
pub(crate) fn portal(cells: &Cells, side: u32) -> [u32; 2] {
    if side == NONE { [NONE; 2] } else { cells.end_vertices(side as usize) }
}
