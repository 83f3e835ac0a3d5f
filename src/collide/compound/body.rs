//! A body whose shape is a compound.

use glam::{DMat3, DQuat, DVec3};

use crate::collide::compound::part::Part;
use crate::collide::scene::body::Body;
use crate::collide::scene::placed::rotation;
use crate::collide::scene::pose::{MOST, is_turned};
use crate::error::{Error, Location, Result};

/// A compound placed in the world by scale, then rotation, then translation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct CompoundBody {
    /// Index of the compound in the [`Compounds`](crate::collide::Compounds), or of a height field, which count on after the compounds.
    pub compound: u32,
    /// World position of the compound's origin, in world units.
    pub position: [f64; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along all axes, > 0.
    pub scale: f32,
    /// How much larger all parts are on all sides, in world units, ≥ 0.
    pub padding: f32,
    /// Groups that the body belongs to, one bit each: see [`Body::group`].
    pub group: u32,
    /// Groups that the body meets, one bit each.
    pub mask: u32,
}

impl CompoundBody {
    /// The compound `compound` at the origin, not rotated, at scale 1, meeting all other bodies.
    pub fn new(compound: u32) -> Self {
        Self {
            compound,
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: 1.0,
            padding: 0.0,
            group: u32::MAX,
            mask: u32::MAX,
        }
    }

    /// The same body at another position, in world units.
    #[must_use]
    pub fn at(self, position: [f64; 3]) -> Self {
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
        Self { scale, ..self }
    }

    /// The same body, larger by `padding` on all sides, in world units.
    #[must_use]
    pub fn padded(self, padding: f32) -> Self {
        Self { padding, ..self }
    }

    /// The same body in these groups, meeting those of `mask`.
    #[must_use]
    pub fn grouped(self, group: u32, mask: u32) -> Self {
        Self { group, mask, ..self }
    }

    /// Checks the numbers of body `row`, of which there are `compound_count` compounds.
    ///
    /// # Errors
    /// [`Error::Missing`] for the compound, [`Error::Value`] for a number.
    pub(crate) fn check(&self, row: usize, compound_count: usize) -> Result<()> {
        let at = Location::Body(row);
        if self.compound as usize >= compound_count {
            let (index, count) = (self.compound.into(), compound_count as u64);
            return Err(Error::Missing { at, what: "compound", index, count });
        }
        if !self.position.iter().all(|x| x.abs() <= 1e18) {
            let allowed = "each must be finite and at most 1e18 in magnitude";
            return Err(Error::value(at, "position", format!("{:?}", self.position), allowed));
        }
        if !is_turned(self.rotation) {
            let allowed = "it must be a unit quaternion to within 1e-3";
            return Err(Error::value(at, "rotation", format!("{:?}", self.rotation), allowed));
        }
        if !(self.scale > 0.0 && self.scale <= MOST) {
            let allowed = "it must be above zero and at most 1e18";
            return Err(Error::value(at, "scale", format!("{:?}", self.scale), allowed));
        }
        if !(self.padding >= 0.0 && self.padding <= MOST) {
            return Err(Error::value(
                at,
                "padding",
                format!("{:?}", self.padding),
                "it must be from 0 to 1e18",
            ));
        }
        Ok(())
    }

    /// The placement of a checked body.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            position: DVec3::from(self.position),
            turn: rotation(self.rotation),
            quaternion: unit(self.rotation),
            scale: f64::from(self.scale),
            padding: f64::from(self.padding),
        }
    }
}

/// Where a compound is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub(crate) position: DVec3,
    pub(crate) turn: DMat3,
    quaternion: DQuat,
    pub(crate) scale: f64,
    pub(crate) padding: f64,
}

impl Placement {
    /// More than f64 rounds off a position of a part, which is a coordinate of the world.
    pub(crate) fn rounding(&self) -> f64 {
        2.0 * f64::EPSILON * self.position.abs().max_element()
    }

    /// A part, whose rotation is `unit` at length 1, as a body of its own, and its position in f64. Rotation, scale and padding are rounded to f32, the position is not.
    pub(crate) fn part(&self, part: &Part, unit: &DQuat, group: u32, mask: u32) -> (Body, [f64; 3]) {
        let offset = DVec3::from(part.pose.position.map(f64::from));
        let position = self.position + self.turn * (self.scale * offset);
        let turn = (self.quaternion * *unit).normalize();
        let body = Body {
            hull: part.hull,
            position: position.as_vec3().to_array(),
            rotation: turn.to_array().map(|x| x as f32),
            scale: part.pose.scale.map(|x| (self.scale * f64::from(x)) as f32),
            padding: (self.padding + self.scale * f64::from(part.padding)) as f32,
            group,
            mask,
        };
        (body, position.to_array())
    }
}

/// The quaternion at length 1.
pub(crate) fn unit(rotation: [f32; 4]) -> DQuat {
    DQuat::from_array(rotation.map(f64::from)).normalize()
}
