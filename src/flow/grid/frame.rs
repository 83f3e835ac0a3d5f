//! Where a grid lies in the world.

use crate::cell::Cell;
use crate::error::{Error, Location, Result, shown};

/// Where a grid lies in the world.
///
/// The point `origin` is the outer corner of the cell (0, 0, 0), from which the rows of `axes` lead along its columns, rows
/// and layers: unit vectors at right angles. Cells are cubes of `cell_size`, in the world's units.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "FrameWire"))]
pub struct GridFrame {
    /// The outer corner of the cell (0, 0, 0).
    pub origin: [f64; 3],
    /// Edge of a cell.
    pub cell_size: f64,
    /// The world's directions of growing `x`, `y` and `z` of cells.
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
    /// The cell in which a point of the world lies, which may be beside the grid: a point on the face between two cells is
    /// in the higher one. `None` where a coordinate is not finite or past what a [`Cell`] holds.
    pub fn cell_at(&self, point: [f64; 3]) -> Option<Cell> {
        let place = self.place_of(point);
        let whole = |at: f64| {
            let floor = at.floor();
            (floor >= f64::from(i32::MIN) && floor <= f64::from(i32::MAX)).then_some(floor as i32)
        };
        Some(Cell { x: whole(place[0])?, y: whole(place[1])?, z: whole(place[2])? })
    }

    /// The world's point at the middle of a cell.
    pub fn centre(&self, cell: Cell) -> [f64; 3] {
        self.point_at([cell.x, cell.y, cell.z].map(|at| f64::from(at) + 0.5))
    }

    /// A point of the world in units of cells: the cell `x, y, z` spans from `x, y, z` to `x + 1, y + 1, z + 1`.
    pub fn place_of(&self, point: [f64; 3]) -> [f64; 3] {
        let from: [f64; 3] = std::array::from_fn(|axis| point[axis] - self.origin[axis]);
        self.axes.map(|axis| (axis[0] * from[0] + axis[1] * from[1] + axis[2] * from[2]) / self.cell_size)
    }

    /// The point of the world at a place in units of cells: what [`place_of`](Self::place_of) undoes.
    pub fn point_at(&self, place: [f64; 3]) -> [f64; 3] {
        let along = |axis: usize| (0..3).map(|row| self.axes[row][axis] * place[row]).sum::<f64>();
        std::array::from_fn(|axis| self.origin[axis] + self.cell_size * along(axis))
    }

    /// Whether it can be used.
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
                let wanted = if row == other_row { 1.0 } else { 0.0 };
                if !((dot - wanted).abs() <= 1e-6) {
                    let expected = "they must be unit vectors at right angles, within 1e-6";
                    return refuse("axes", format!("[{}]", self.axes.map(vector).join(", ")), expected);
                }
            }
        }
        Ok(())
    }
}

/// A vector, as errors print it.
pub(crate) fn vector(parts: [f64; 3]) -> String {
    format!("({})", parts.map(shown).join(", "))
}
