//! Cells by their coordinates.

use std::fmt;

/// A cell of a grid: its column `x`, row `y` and layer `z`, from 0; (0, 0) is top left. In two dimensions `z` is 0.
///
/// Signed, so that it can name a place off the grid: a goal there is counted and reported.
///
/// ```
/// use hullfield::flow::Cell;
///
/// assert_eq!(Cell::from([3, 4]), Cell { x: 3, y: 4, z: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Cell {
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Layer; 0 in two dimensions.
    #[cfg_attr(feature = "serde", serde(default))]
    pub z: i32,
}

impl From<[i32; 2]> for Cell {
    fn from([x, y]: [i32; 2]) -> Self {
        Self { x, y, z: 0 }
    }
}

impl From<[i32; 3]> for Cell {
    fn from([x, y, z]: [i32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, z } = self;
        // A layer of 0 is also what a cell of two dimensions has.
        if *z == 0 { write!(formatter, "({x}, {y})") } else { write!(formatter, "({x}, {y}, {z})") }
    }
}
