//! A body as both engines read it: checked, with a normalised rotation and a bounding radius.
//!
//! `shaders/collide/scene/packed_body.wgsl` has the same struct; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::placed::{Center, center};
use crate::error::Result;

/// A body as both engines read it, 80 bytes: checked, with a rotation normalised in f32 and a bounding radius.
///
/// [`Arena::pack`](crate::collide::query::arena::Arena::pack) makes it; [`DEVICE_WGSL`](crate::collide::DEVICE_WGSL) has the same struct for kernels. A
/// simulation on the device changes `position` and `rotation`, and sets `remainder` to 0 or to what rounding took off the position.
/// Such a body is exactly where the sum of both says. The other fields stay valid as long as scale and shape do; `excess` may then be more
/// than is needed, which at most leaves more pairs unsettled.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PackedBody {
    /// World position of the mean of the hull's vertices, rounded; [`Self::remainder`] has the rest.
    pub position: [f32; 3],
    /// Index of the hull.
    pub hull: u32,
    /// Unit quaternion, x y z w.
    pub rotation: [f32; 4],
    /// Scale along the hull's axes.
    pub scale: [f32; 3],
    /// Bounding radius in world units about the mean of the hull's vertices, scale and rounding included.
    pub radius: f32,
    /// What rounding took off the position, itself rounded: at most half a unit in the last place of it.
    pub remainder: [f32; 3],
    /// Upper bound of how much the rounding of the hull's mean to f32 enlarges τ, and of what the rounding of the position takes off a
    /// gap, in world units.
    pub excess: f32,
    /// Rounding radius in world units: the hull's times the least scale, plus the body's padding.
    pub rounding: f32,
    /// Groups that the body belongs to, one bit each.
    pub group: u32,
    /// Groups that the body meets, one bit each.
    pub mask: u32,
    /// Keeps the size a multiple of 16.
    pub padding: u32,
}

const _: () = assert!(size_of::<PackedBody>() == 80);

/// A squared length this near to 1 comes from rounding a unit quaternion to f32: dividing by the length would gain nothing.
pub(crate) const NORMALISED: f64 = 1.2e-7;

/// Whether a quaternion of this squared length is used as it is.
#[inline(always)]
pub(crate) fn is_normalised(squared: f64) -> bool {
    (squared - 1.0).abs() <= NORMALISED
}

impl Body {
    /// Checks the body as [`radius`](Self::radius) does, and lays it out as the engines read it.
    #[inline]
    pub(crate) fn pack(&self, row: usize, supports: &Supports) -> Result<PackedBody> {
        let radius = self.radius(row, supports)?;
        Ok(self.packed(radius, &center(self, &supports.records[self.hull as usize]), supports))
    }

    /// Its rotation, divided by its length where that is not 1 to within rounding.
    #[inline(always)]
    pub(crate) fn unit_rotation(&self) -> [f32; 4] {
        let squared = self.squared_length();
        if is_normalised(squared) {
            return self.rotation;
        }
        let inverse = 1.0 / squared.sqrt();
        self.rotation.map(|x| (f64::from(x) * inverse) as f32)
    }

    /// Lays out a checked body with its bounding radius and centre.
    #[inline(always)]
    pub(crate) fn packed(&self, radius: f32, center: &Center, supports: &Supports) -> PackedBody {
        let position = center.position.as_vec3();
        PackedBody {
            position: position.to_array(),
            hull: self.hull,
            rotation: self.unit_rotation(),
            scale: self.scale,
            radius,
            remainder: (center.position - position.as_dvec3()).as_vec3().to_array(),
            excess: center.excess,
            rounding: self.rounding(&supports.records[self.hull as usize]) as f32,
            group: self.group,
            mask: self.mask,
            padding: 0,
        }
    }
}
