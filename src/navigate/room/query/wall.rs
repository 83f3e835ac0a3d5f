//! The nearest wall of a point.

use glam::DVec2;

use crate::error::Result;
use crate::navigate::room::build::cells::NONE;
use crate::navigate::room::build::check::check_query_point;
use crate::navigate::room::query::room::Room;
use crate::navigate::shared::predicate::nearest_on_segment;

/// The wall nearest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WallDistance {
    /// How far away it is, in the room's units.
    pub distance: f64,
    /// Its nearest point.
    pub point: [f64; 2],
    /// Its two vertices. From the first to the second, the room lies on the left.
    pub wall: [u32; 2],
}

impl Room {
    /// The wall nearest to a point, in a straight line. The point may be on either side of it. `None` where the room has no wall.
    ///
    /// Cost: O(1) near a wall; it grows with the distance to the wall.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let wall = room.distance_to_wall([1.0, 2.0])?.expect("a room has walls");
    /// assert_eq!((wall.distance, wall.point), (1.0, [0.0, 2.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a coordinate that is not finite or larger than 1e60.
    pub fn distance_to_wall(&self, point: [f64; 2]) -> Result<Option<WallDistance>> {
        check_query_point("point", point)?;
        let from = DVec2::from(point);
        let mut best: Option<(f64, DVec2, usize)> = None;
        self.visit_cells_outwards(from, |cell| {
            for side in self.cells.range(cell) {
                if self.cells.sides[side].twin == NONE {
                    let [a, b] = self.cells.ends(side);
                    let nearest = nearest_on_segment(a, b, from);
                    let distance = nearest.distance(from);
                    let is_better = |&(least, _, other): &(f64, DVec2, usize)| {
                        distance < least || (distance == least && side < other)
                    };
                    if best.as_ref().is_none_or(is_better) {
                        best = Some((distance, nearest, side));
                    }
                }
            }
            best.map_or(f64::INFINITY, |best| best.0)
        });
        Ok(best.map(|(distance, nearest, side)| WallDistance {
            distance,
            point: nearest.to_array(),
            wall: self.wall(side),
        }))
    }

    /// The vertices of a side, as the caller knows them.
    pub(crate) fn wall(&self, side: usize) -> [u32; 2] {
        self.cells.end_vertices(side).map(|v| self.cells.original(v))
    }
}
