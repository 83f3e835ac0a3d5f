//! A body: a hull placed in the world.

use super::layout::PackedBody;
use super::support::Supports;
use crate::{Error, Result};

/// Least and largest magnitude of what the engines square in f32: positions, bounding radii.
const MAGNITUDE: std::ops::RangeInclusive<f32> = 1e-18..=1e18;

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
        if !self.position.iter().all(|x| x.is_finite() && x.abs() <= *MAGNITUDE.end()) {
            return refuse("position", &self.position, "each must be finite and at most 1e18 in magnitude");
        }
        let length = self.rotation.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        if !((length - 1.0).abs() <= 1e-3) {
            return refuse("rotation", &self.rotation, "it must be a unit quaternion to within 1e-3");
        }
        if !self.scale.iter().all(|&x| x.is_finite() && x > 0.0) {
            return refuse("scale", &self.scale, "each must be finite and above zero");
        }
        let [x, y, z] = self.scale;
        let radius =
            if x == y && y == z { x * record.radius } else { supports.radius(self.hull, self.scale) };
        // The hull's offset from its own origin is turned and scaled too, so it must stay in range as well.
        let largest = x.max(y).max(z);
        let offset = record.mean.iter().fold(radius, |most, m| most.max(m.abs() * largest));
        let fits = radius == 0.0 && record.radius == 0.0 || MAGNITUDE.contains(&radius);
        if !fits || offset > *MAGNITUDE.end() {
            return refuse("scale", &self.scale, "the scaled hull must be between 1e-18 and 1e18 in size");
        }
        Ok(PackedBody {
            position: self.position,
            hull: self.hull,
            rotation: self.rotation.map(|x| (f64::from(x) / length) as f32),
            scale: self.scale,
            radius,
        })
    }
}
