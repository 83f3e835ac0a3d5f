//! A body: a hull placed in the world.

use crate::{Error, Result};

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

    /// Checks every number of the body.
    ///
    /// `row` is the body's row, for the message; `hull_count` how many hulls there are.
    ///
    /// # Errors
    /// [`Error::UnknownHull`], or [`Error::BodyField`] for a number that is not finite, a scale that is not above
    /// zero, or a rotation whose length differs from 1 by more than 1e-3.
    pub fn check(&self, row: usize, hull_count: usize) -> Result<()> {
        if self.hull as usize >= hull_count {
            return Err(Error::UnknownHull { body: row, hull: self.hull, hull_count });
        }
        let refuse = |field, value: &[f32], expected| {
            Err(Error::BodyField { body: row, field, value: format!("{value:?}"), expected })
        };
        if !self.position.iter().all(|x| x.is_finite()) {
            return refuse("position", &self.position, "it must be finite");
        }
        let length = self.rotation.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        if !((length - 1.0).abs() <= 1e-3) {
            return refuse("rotation", &self.rotation, "it must be a unit quaternion to within 1e-3");
        }
        if !self.scale.iter().all(|&x| x.is_finite() && x > 0.0) {
            return refuse("scale", &self.scale, "each must be finite and above zero");
        }
        Ok(())
    }
}
