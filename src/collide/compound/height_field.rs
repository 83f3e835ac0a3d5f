//! Height fields: a surface over a grid.

use std::sync::Arc;

use crate::error::{Error, Location, Result};

/// Largest magnitude of a height, a spacing and an extent.
const MOST: f32 = 1e18;

/// A surface over a grid of heights: the shape of a body, as the terrain of a level.
///
/// Columns run along x, rows along z, and heights along y. The height in row r and column c is at
/// `origin + [c · spacing[0], height, r · spacing[1]]` in the field's frame.
///
/// # Triangles
/// Each cell between four neighbouring heights is two triangles, which are the parts of a body with this shape: part `2 · cell` has the corners
/// `(r, c)`, `(r + 1, c)` and `(r, c + 1)`, part `2 · cell + 1` has `(r + 1, c)`, `(r + 1, c + 1)` and `(r, c + 1)`; `cell` is
/// `r · (columns − 1) + c`. A height of NaN is a hole: the triangles at it are missing, and their parts are never named.
///
/// # A surface, not a solid
/// As in most engines the field is its triangles alone, each with two sides: nothing is inside, and below the surface is no deeper than
/// above it. A body that has sunk through it hits nothing. The depth of a contact is that of the triangle. A body's
/// [`padding`](crate::collide::CompoundBody::padding) makes the surface as thick on both sides. A solid ground is a half-space, or a
/// compound of prisms.
///
/// ```
/// use hullfield::collide::HeightField;
///
/// // Three columns and two rows, one height is missing.
/// let field = HeightField::new(3, vec![0.0, 1.0, 0.5, 0.0, 2.0, f32::NAN], [10.0, 5.0])?;
/// assert_eq!((field.rows(), field.part_count()), (2, 4));
/// assert_eq!(field.triangle(1), Some([[0.0, 0.0, 5.0], [10.0, 2.0, 5.0], [10.0, 1.0, 0.0]]));
/// assert_eq!(field.triangle(3), None);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "HeightFieldWire", try_from = "HeightFieldWire")
)]
pub struct HeightField {
    columns: u32,
    heights: Arc<[f32]>,
    spacing: [f32; 2],
    origin: [f32; 3],
}

/// A height field as serde writes and reads it: formats that people read have no NaN, so a hole is nothing.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "HeightField", deny_unknown_fields)]
struct HeightFieldWire {
    columns: u32,
    heights: Vec<Option<f32>>,
    spacing: [f32; 2],
    #[serde(default)]
    origin: [f32; 3],
}

#[cfg(feature = "serde")]
impl From<HeightField> for HeightFieldWire {
    fn from(field: HeightField) -> Self {
        let heights = field.heights.iter().map(|&height| (!height.is_nan()).then_some(height)).collect();
        Self { columns: field.columns, heights, spacing: field.spacing, origin: field.origin }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<HeightFieldWire> for HeightField {
    type Error = Error;

    fn try_from(wire: HeightFieldWire) -> Result<Self> {
        let HeightFieldWire { columns, heights, spacing, origin } = wire;
        let heights: Vec<f32> = heights.into_iter().map(|height| height.unwrap_or(f32::NAN)).collect();
        Self::new(columns, heights, spacing)?.at(origin)
    }
}

impl HeightField {
    /// The field of these heights, a row of `columns` after another, in the field's units. `spacing` is that of columns and of rows. The first
    /// height is above the field's origin.
    ///
    /// # Errors
    /// [`Error::Count`] where there are fewer than two columns or rows, or the last row is not full; [`Error::Value`] where a spacing is not from
    /// 1e-18 to 1e18, or the field longer than 1e18; [`Error::Invalid`] where a height is neither NaN nor at most 1e18 in magnitude, or no
    /// triangle is left; [`Error::TooMany`] where there are 2³² triangles or more.
    pub fn new(columns: u32, heights: impl Into<Arc<[f32]>>, spacing: [f32; 2]) -> Result<Self> {
        let heights = heights.into();
        let (count, width) = (heights.len(), columns as usize);
        if width < 2 {
            let allowed = "a height field needs at least two".to_owned();
            return Err(Error::Count {
                at: Location::Argument,
                what: "columns",
                given: width as u64,
                allowed,
            });
        }
        if count < 2 * width || count % width != 0 {
            let allowed = format!("there must be two or more full rows of {columns}");
            return Err(Error::Count {
                at: Location::Argument,
                what: "heights",
                given: count as u64,
                allowed,
            });
        }
        let rows = count / width;
        let triangle_count = 2 * (rows as u64 - 1) * (width as u64 - 1);
        if triangle_count > u64::from(u32::MAX) {
            let limit = u64::from(u32::MAX);
            return Err(Error::TooMany { what: "triangles of a height field", count: triangle_count, limit });
        }
        let is_long = |spacing: f32, count: usize| f64::from(spacing) * (count - 1) as f64 <= f64::from(MOST);
        let is_spacing = |x: f32| (1e-18..=MOST).contains(&x);
        if !spacing.iter().all(|&x| is_spacing(x))
            || !is_long(spacing[0], width)
            || !is_long(spacing[1], rows)
        {
            let allowed = "each must be from 1e-18 to 1e18, and the field at most 1e18 long";
            return Err(Error::value(Location::Argument, "spacing", format!("{spacing:?}"), allowed));
        }
        if let Some(at) = heights.iter().position(|height| height.abs() > MOST) {
            let message = format!(
                "the height in row {}, column {} is {:?}, it must be at most 1e18 in magnitude, or NaN for a hole",
                at / width,
                at % width,
                heights[at]
            );
            return Err(Error::invalid(Location::Argument, message));
        }
        let field = Self { columns, heights, spacing, origin: [0.0; 3] };
        if (0..field.part_count()).all(|part| field.corners(part).is_none()) {
            let message = "a height field has no triangle, as each has a height of NaN";
            return Err(Error::invalid(Location::Argument, message));
        }
        Ok(field)
    }

    /// The same field with the first height above another point of the field's frame.
    ///
    /// # Errors
    /// [`Error::Value`] where a coordinate is not finite or above 1e18.
    pub fn at(self, origin: [f32; 3]) -> Result<Self> {
        if !origin.iter().all(|x| x.abs() <= MOST) {
            let allowed = "each must be finite and at most 1e18 in magnitude";
            return Err(Error::value(Location::Argument, "origin", format!("{origin:?}"), allowed));
        }
        Ok(Self { origin, ..self })
    }

    /// How many heights there are along x.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// How many heights there are along z.
    pub fn rows(&self) -> u32 {
        (self.heights.len() / self.columns as usize) as u32
    }

    /// The heights, a row after another.
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// The distances of neighbouring columns and of neighbouring rows, in the field's units.
    pub fn spacing(&self) -> [f32; 2] {
        self.spacing
    }

    /// The point that the first height is above, in the field's frame.
    pub fn origin(&self) -> [f32; 3] {
        self.origin
    }

    /// How many parts a body of this shape has, missing ones included: two for each cell.
    pub fn part_count(&self) -> u32 {
        2 * (self.rows() - 1) * (self.columns - 1)
    }

    /// The corners of a part, in the field's frame, counter-clockwise seen from above; `None` where it is missing.
    pub fn triangle(&self, part: u32) -> Option<[[f64; 3]; 3]> {
        let corners = self.corners(part)?;
        let [across, along] = self.spacing.map(f64::from);
        let origin = self.origin.map(f64::from);
        Some(corners.map(|[row, column]| {
            let height = f64::from(self.height(row, column));
            [origin[0] + f64::from(column) * across, origin[1] + height, origin[2] + f64::from(row) * along]
        }))
    }

    /// The height in a row and a column, which must exist.
    #[inline(always)]
    pub(crate) fn height(&self, row: u32, column: u32) -> f32 {
        self.heights[row as usize * self.columns as usize + column as usize]
    }

    /// Row and column of the cell of a part.
    #[inline(always)]
    pub(crate) fn cell(&self, part: u32) -> [u32; 2] {
        let cell = part / 2;
        [cell / (self.columns - 1), cell % (self.columns - 1)]
    }

    /// Row and column of the corners of a part; `None` where it is missing or there is no such part.
    #[inline(always)]
    pub(crate) fn corners(&self, part: u32) -> Option<[[u32; 2]; 3]> {
        if part >= self.part_count() {
            return None;
        }
        let [row, column] = self.cell(part);
        let corners = if part.is_multiple_of(2) {
            [[row, column], [row + 1, column], [row, column + 1]]
        } else {
            [[row + 1, column], [row + 1, column + 1], [row, column + 1]]
        };
        (!corners.iter().any(|&[row, column]| self.height(row, column).is_nan())).then_some(corners)
    }
}
