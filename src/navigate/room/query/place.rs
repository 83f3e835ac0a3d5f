//! Points of a room: located, nearest, random.

use crate::error::{Error, Location, Result, shown};
use crate::navigate::room::build::check::check_query_point;
use crate::navigate::room::query::room::Room;
use crate::navigate::shared::predicate::orient;

/// A point of a room.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Point {
    /// The cell that it lies in; on an edge, one of the cells beside it.
    pub cell: u32,
    /// Where it is, in the room's frame.
    pub position: [f64; 2],
    /// How far that is from the point of the query, in the room's units.
    pub distance: f64,
}

impl Room {
    /// Locates a point: the lowest of the cells that hold it; `None` off the room. Walls belong to the room. The position stays as it
    /// is.
    ///
    /// Tolerance: a point counts as in the room if it is no further from it than 2⁻⁴⁰ of the room's largest coordinate.
    ///
    /// Cost: O(1) in rooms of evenly sized cells (a grid of buckets).
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let outer = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
    /// let room = Room::new(&outer, &[[[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]], Options::default())?;
    /// assert!(room.locate([0.5, 0.5])?.is_some() && room.locate([1.0, 1.0])?.is_some());
    /// assert_eq!(room.locate([1.2, 1.2])?, None); // in the hole
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e60.
    pub fn locate(&self, point: [f64; 2]) -> Result<Option<Point>> {
        check_query_point("point", point)?;
        let mut cells = Vec::new();
        self.cells_at(point.into(), &mut cells);
        Ok(cells.into_iter().min().map(|cell| Point { cell, position: point, distance: 0.0 }))
    }

    /// The point of the room nearest to a point: the point itself where it is in the room. `None` where obstacles leave no room.
    ///
    /// Cost: O(1) near the room; further away it grows with the distance.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let nearest = room.nearest_point([5.0, 2.0])?.expect("a room is never empty");
    /// assert_eq!((nearest.position, nearest.distance), ([4.0, 2.0], 1.0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e60.
    pub fn nearest_point(&self, point: [f64; 2]) -> Result<Option<Point>> {
        check_query_point("point", point)?;
        let (cell, nearest) = self.nearest(point.into(), |_| true, f64::INFINITY);
        let distance = nearest.distance(point.into());
        Ok(distance.is_finite().then_some(Point { cell, position: nearest.to_array(), distance }))
    }

    /// A random point of the room, uniform by area, from three numbers uniform in [0, 1). `None` where obstacles leave no area.
    ///
    /// Cost: O(log n) in the number of cells.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, Options::default())?;
    /// let found = room.random_point([0.3, 0.6, 0.9])?.expect("the room has an area");
    /// assert!(found.position.iter().all(|x| (0.0..=4.0).contains(x)));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a number that is not in [0, 1).
    pub fn random_point(&self, uniform: [f64; 3]) -> Result<Option<Point>> {
        if let Some(value) = uniform.iter().find(|&&u| !(0.0..1.0).contains(&u)) {
            return Err(Error::value(Location::Argument, "uniform", shown(*value), "it must be in [0, 1)"));
        }
        if !(self.area() > 0.0) {
            return Ok(None);
        }
        let target = uniform[0] * self.area();
        let cell = self.area_sums.partition_point(|&sum| sum <= target).min(self.area_sums.len() - 1);
        // The cell is a fan of triangles: pick the one into which the rest of the area falls.
        let sides = self.cells.sides_of(cell as u32);
        let before = if cell == 0 { 0.0 } else { self.area_sums[cell - 1] };
        let mut remaining = 2.0 * (target - before);
        let mut k = 1;
        while k + 2 < sides.len() {
            let area = orient(sides[0].point, sides[k].point, sides[k + 1].point);
            if remaining < area {
                break;
            }
            remaining -= area;
            k += 1;
        }
        let (a, b, c) = (sides[0].point, sides[k].point, sides[k + 1].point);
        let (u, v) = (uniform[1].sqrt(), uniform[2]);
        let position = (a * (1.0 - u) + b * (u * (1.0 - v)) + c * (u * v)).to_array();
        Ok(Some(Point { cell: cell as u32, position, distance: 0.0 }))
    }
}
