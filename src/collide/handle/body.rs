//! A body of a scene: plain data, and its check.

use glam::{DQuat, DVec3};

use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::part::Part;
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::pose::{MOST, is_scaled, is_turned};
use crate::error::{Error, Location, Result};

/// A shape placed in the world by scale, then rotation, then translation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Body {
    /// Index of the shape in the [`Shapes`](crate::collide::next::Shapes) of the scene.
    pub shape: u32,
    /// World position of the shape's origin, in world units; each coordinate finite and at most 1e18 in magnitude.
    pub position: [f64; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along the shape's own axes, each > 0. A compound and a height field have the same scale along all axes.
    pub scale: [f32; 3],
    /// How much larger the body is than its shape on all sides, in world units, ≥ 0.
    pub padding: f32,
    /// Groups that the body belongs to, one bit each. Two bodies meet where each is in a group of the other's mask.
    pub group: u32,
    /// Groups that the body meets, one bit each.
    pub mask: u32,
    /// The world of the body: only bodies of one world meet. A fixed body may be in [every world](Self::EVERY_WORLD).
    pub world: u32,
    /// The owner of the body: bodies of one owner never meet, as the links of a robot that are modelled as one. By default each body is alone.
    /// In another world the same number is another owner.
    pub owner: Option<u32>,
    /// Whether the body is a part of the surroundings. Fixed bodies never meet one another, and their trees last longest. They may be moved.
    pub fixed: bool,
}

impl Default for Body {
    /// Shape 0 at the origin, not rotated, at scale 1, meeting all other bodies.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Body {
    /// The world of fixed bodies that bodies of every world meet.
    pub const EVERY_WORLD: u32 = u32::MAX;

    /// The shape `shape` at the origin, not rotated, at scale 1, meeting all other bodies.
    pub fn new(shape: u32) -> Self {
        Self {
            shape,
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
            padding: 0.0,
            group: u32::MAX,
            mask: u32::MAX,
            world: 0,
            owner: None,
            fixed: false,
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
        Self { scale: [scale; 3], ..self }
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

    /// The same body in another world.
    #[must_use]
    pub fn in_world(self, world: u32) -> Self {
        Self { world, ..self }
    }

    /// The same body of this owner.
    #[must_use]
    pub fn owned_by(self, owner: u32) -> Self {
        Self { owner: Some(owner), ..self }
    }

    /// The same body as a part of the surroundings.
    #[must_use]
    pub fn fixed(self) -> Self {
        Self { fixed: true, ..self }
    }

    /// The pose of the body.
    pub fn pose(&self) -> Pose {
        Pose { position: self.position, rotation: self.rotation }
    }

    /// The same body in another pose.
    #[must_use]
    pub fn posed(self, pose: Pose) -> Self {
        Self { position: pose.position, rotation: pose.rotation, ..self }
    }

    /// Checks the numbers that do not depend on the shape.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::Invalid`], at `at`.
    pub(crate) fn check(&self, at: Location) -> Result<()> {
        self.pose().check(at)?;
        if !is_scaled(self.scale) {
            let allowed = "each must be above zero and at most 1e18";
            return Err(Error::value(at, "scale", format!("{:?}", self.scale), allowed));
        }
        if !(self.padding >= 0.0 && self.padding <= MOST) {
            let allowed = "it must be from 0 to 1e18";
            return Err(Error::value(at, "padding", format!("{:?}", self.padding), allowed));
        }
        if self.world == Self::EVERY_WORLD && !self.fixed {
            return Err(Error::invalid(at, "only a fixed body can be in every world"));
        }
        Ok(())
    }

    /// The body as a hull of its own, and its position.
    pub(crate) fn instance(&self, hull: u32) -> (Instance, DVec3) {
        let &Self { rotation, scale, padding, group, mask, .. } = self;
        let instance = Instance { hull, position: [0.0; 3], rotation, scale, padding, group, mask };
        (instance, DVec3::from(self.position))
    }

    /// Where parts of a checked body are.
    pub(crate) fn placement(&self) -> Placement {
        let &Self { position, rotation, scale: [scale, ..], padding, group, mask, .. } = self;
        CompoundBody { compound: 0, position, rotation, scale, padding, group, mask }.placement()
    }

    /// A part of the body, whose rotation is `unit` at length 1, as a hull of its own, and its position.
    pub(crate) fn part(&self, placement: &Placement, part: &Part, unit: &DQuat) -> (Instance, DVec3) {
        let (instance, position) = placement.part(part, unit, self.group, self.mask);
        (Instance { position: [0.0; 3], ..instance }, DVec3::from(position))
    }

    /// The body as height fields know it.
    pub(crate) fn of_field(&self) -> CompoundBody {
        let &Self { shape, position, rotation, scale: [scale, ..], padding, group, mask, .. } = self;
        CompoundBody { compound: shape, position, rotation, scale, padding, group, mask }
    }
}

/// Where a body is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Pose {
    /// World position of the shape's origin, in world units; each coordinate finite and at most 1e18 in magnitude.
    pub position: [f64; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// At the origin, not rotated.
    pub const IDENTITY: Self = Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`Error::Value`] at `at`.
    pub(crate) fn check(&self, at: Location) -> Result<()> {
        // NaN fails every comparison.
        if !self.position.iter().all(|x| x.abs() <= 1e18) {
            let allowed = "each must be finite and at most 1e18 in magnitude";
            return Err(Error::value(at, "position", format!("{:?}", self.position), allowed));
        }
        if !is_turned(self.rotation) {
            let allowed = "it must be a unit quaternion to within 1e-3";
            return Err(Error::value(at, "rotation", format!("{:?}", self.rotation), allowed));
        }
        Ok(())
    }
}
