//! A body: a hull placed in the world.

use super::layout::PackedBody;
use super::support::Supports;
use crate::{Error, Result};

/// Least and largest magnitude of what the engines square in f32: positions, bounding radii.
const MAGNITUDE: std::ops::RangeInclusive<f32> = 1e-18..=1e18;

/// Squared lengths that a rotation may have: within 1e-3 of 1, unsquared.
const LENGTHS_SQUARED: std::ops::RangeInclusive<f64> = 0.999 * 0.999..=1.001 * 1.001;

/// A squared length this near to 1 is what rounding a unit quaternion to f32 leaves: nothing is gained by dividing.
const NORMALISED: f64 = 1.2e-7;

/// A hull placed in the world by scale, then rotation, then translation.
///
/// A vertex `v` of the hull stands at `position + rotation · (scale ⊙ v)`. These f32 numbers, exactly as stored
/// (with the quaternion divided by its length), are the truth that every answer is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Index of the hull in the [`Arena`](crate::Arena).
    pub hull: u32,
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along the hull's own axes, each > 0.
    pub scale: [f32; 3],
}

impl Body {
    /// The hull `hull` at the origin, unrotated, at scale 1.
    pub fn new(hull: u32) -> Self {
        Self { hull, position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] }
    }

    /// The same body at another position, in world units.
    #[must_use]
    pub fn at(self, position: [f32; 3]) -> Self {
        Self { position, ..self }
    }

    /// The same body turned by the unit quaternion `x, y, z, w`.
    #[must_use]
    pub fn rotated(self, rotation: [f32; 4]) -> Self {
        Self { rotation, ..self }
    }

    /// The same body scaled equally along all axes.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale: [scale; 3], ..self }
    }

    /// Checks every number of the body and lays it out for the engines.
    ///
    /// `row` is the body's row, for the message.
    pub(crate) fn pack(&self, row: usize, supports: &Supports) -> Result<PackedBody> {
        let hull_count = supports.records.len();
        let Some(record) = supports.records.get(self.hull as usize) else {
            return Err(Error::UnknownHull { body: row, hull: self.hull, hull_count });
        };
        let refuse = |field, value: &[f32], expected| {
            Err(Error::BodyField { body: row, field, value: format!("{value:?}"), expected })
        };
        // NaN fails every comparison; `&` keeps the common case free of branches.
        let inside = |x: f32| x.abs() <= *MAGNITUDE.end();
        let [px, py, pz] = self.position;
        if !(inside(px) & inside(py) & inside(pz)) {
            return refuse("position", &self.position, "each must be finite and at most 1e18 in magnitude");
        }
        let [x, y, z, w] = self.rotation.map(f64::from);
        let squared = x * x + y * y + z * z + w * w;
        if !(LENGTHS_SQUARED.contains(&squared)) {
            return refuse("rotation", &self.rotation, "it must be a unit quaternion to within 1e-3");
        }
        let [x, y, z] = self.scale;
        if !((x > 0.0) & (y > 0.0) & (z > 0.0) & inside(x) & inside(y) & inside(z)) {
            return refuse("scale", &self.scale, "each must be finite and above zero");
        }
        let radius =
            if x == y && y == z { x * record.radius } else { supports.radius(self.hull, self.scale) };
        // The hull's offset from its own origin is turned and scaled too, so it must stay in range as well.
        let [mx, my, mz] = record.mean;
        let fits = MAGNITUDE.contains(&radius) || (radius == 0.0 && record.radius == 0.0);
        if !(fits & inside(mx * x) & inside(my * y) & inside(mz * z)) {
            return refuse("scale", &self.scale, "the scaled hull must be between 1e-18 and 1e18 in size");
        }
        let rotation = if (squared - 1.0).abs() <= NORMALISED {
            self.rotation
        } else {
            let inverse = 1.0 / squared.sqrt();
            self.rotation.map(|x| (f64::from(x) * inverse) as f32)
        };
        Ok(PackedBody { position: self.position, hull: self.hull, rotation, scale: self.scale, radius })
    }
}
