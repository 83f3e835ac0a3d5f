//! A body as both engines read it: checked, its rotation normalised, its bounding radius known.

use super::body::Body;
use super::layout::PackedBody;
use super::pose::center;
use super::support::Supports;
use crate::error::Result;

/// A squared length this near to 1 is what rounding a unit quaternion to f32 leaves: nothing is gained by dividing.
const NORMALISED: f64 = 1.2e-7;

impl Body {
    /// [`radius`](Self::radius), and the body as the engines read it.
    #[inline]
    pub(crate) fn pack(&self, row: usize, supports: &Supports) -> Result<PackedBody> {
        let radius = self.radius(row, supports)?;
        let squared = self.squared_length();
        let rotation = if (squared - 1.0).abs() <= NORMALISED {
            self.rotation
        } else {
            let inverse = 1.0 / squared.sqrt();
            self.rotation.map(|x| (f64::from(x) * inverse) as f32)
        };
        let center = center(self, &supports.records[self.hull as usize]);
        let position = center.position.as_vec3();
        Ok(PackedBody {
            position: position.to_array(),
            hull: self.hull,
            rotation,
            scale: self.scale,
            radius,
            remainder: (center.position - position.as_dvec3()).as_vec3().to_array(),
            excess: center.excess,
            rounding: self.rounding(&supports.records[self.hull as usize]) as f32,
            group: self.group,
            mask: self.mask,
            padding: 0,
        })
    }
}
