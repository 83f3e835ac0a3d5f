//! The place of a grid in the world: origin, cell size and axes.

use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};

/// The place of a grid in the world: its origin, cell size and axes.
///
/// `origin` is the outer corner of the cell (0, 0, 0). The three vectors of `axes` are unit vectors at right angles;
/// they point along the rows, columns and layers of the grid. Cells are cubes with edges of length `cell_size`, in the
/// units of the world.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "FrameWire"))]
pub struct GridFrame {
    /// The outer corner of the cell (0, 0, 0), in the world.
    pub origin: [f64; 3],
    /// The length of a cell's edge, in the units of the world.
    pub cell_size: f64,
    /// The directions in the world along which `x`, `y` and `z` of cells grow. Unit vectors at right angles, to within
    /// 1e-6.
    pub axes: [[f64; 3]; 3],
}

impl Default for GridFrame {
    fn default() -> Self {
        Self { origin: [0.0; 3], cell_size: 1.0, axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] }
    }
}

/// A frame as serde reads it, before its numbers are checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "GridFrame", default, deny_unknown_fields)]
struct FrameWire {
    origin: [f64; 3],
    cell_size: f64,
    axes: [[f64; 3]; 3],
}

#[cfg(feature = "serde")]
impl Default for FrameWire {
    fn default() -> Self {
        let GridFrame { origin, cell_size, axes } = GridFrame::default();
        Self { origin, cell_size, axes }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<FrameWire> for GridFrame {
    type Error = Error;

    fn try_from(wire: FrameWire) -> Result<Self> {
        let FrameWire { origin, cell_size, axes } = wire;
        let frame = Self { origin, cell_size, axes };
        frame.check().map(|()| frame)
    }
}

impl GridFrame {
    /// The cell that contains a point of the world; it may lie outside the grid. A point on the face between two cells
    /// belongs to the higher one. `None` if a coordinate is not finite or beyond what a [`Cell`] holds.
    pub fn cell_at(&self, point: [f64; 3]) -> Option<Cell> {
        let place = self.place_of(point);
        let whole = |at: f64| {
            let floor = at.floor();
            (floor >= f64::from(i32::MIN) && floor <= f64::from(i32::MAX)).then_some(floor as i32)
        };
        Some(Cell { x: whole(place[0])?, y: whole(place[1])?, z: whole(place[2])? })
    }

    /// The centre of a cell, in the world.
    pub fn centre(&self, cell: Cell) -> [f64; 3] {
        self.point_at([cell.x, cell.y, cell.z].map(|at| f64::from(at) + 0.5))
    }

    /// Converts a point of the world to cell units, in which the cell `x, y, z` spans from `x, y, z` to `x + 1, y + 1,
    /// z + 1`.
    pub fn place_of(&self, point: [f64; 3]) -> [f64; 3] {
        let from: [f64; 3] = std::array::from_fn(|axis| point[axis] - self.origin[axis]);
        self.axes.map(|axis| (axis[0] * from[0] + axis[1] * from[1] + axis[2] * from[2]) / self.cell_size)
    }

    /// Converts a point in cell units to the world: the inverse of [`place_of`](Self::place_of).
    pub fn point_at(&self, place: [f64; 3]) -> [f64; 3] {
        let along = |axis: usize| (0..3).map(|row| self.axes[row][axis] * place[row]).sum::<f64>();
        std::array::from_fn(|axis| self.origin[axis] + self.cell_size * along(axis))
    }

    /// Checks that the frame is usable.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |field, value: String, allowed: &str| {
            Err(Error::value(Location::Argument, field, value, allowed))
        };
        if self.origin.iter().any(|part| !part.is_finite()) {
            return refuse("origin", vector(self.origin), "it must be finite");
        }
        if !(self.cell_size > 0.0 && self.cell_size.is_finite()) {
            return refuse("cell_size", shown(self.cell_size), "it must be positive and finite");
        }
        for (row, axis) in self.axes.iter().enumerate() {
            for (other_row, other) in self.axes.iter().enumerate() {
                let dot: f64 = (0..3).map(|part| axis[part] * other[part]).sum();
                let expected = if row == other_row { 1.0 } else { 0.0 };
                if !((dot - expected).abs() <= 1e-6) {
                    let allowed = "they must be unit vectors at right angles, within 1e-6";
                    return refuse("axes", format!("[{}]", self.axes.map(vector).join(", ")), allowed);
                }
            }
        }
        Ok(())
    }
}

/// Formats a vector for an error message.
pub(crate) fn vector(parts: [f64; 3]) -> String {
    format!("({})", parts.map(shown).join(", "))
}
