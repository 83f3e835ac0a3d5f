//! What a scene is asked about: rays, points and moving shapes. Plain data.

use crate::collide::handle::body::Body;

/// A ray.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Ray {
    /// Where it starts, in world units; each coordinate finite and at most 1e18 in magnitude.
    pub origin: [f64; 3],
    /// Its direction, finite and not 0, of any length.
    pub direction: [f32; 3],
    /// How far it reaches from its origin, in world units, ≥ 0; infinity by default.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number", default = "everywhere"))]
    pub max_distance: f32,
    /// Groups that the ray belongs to, one bit each. It hits a body where each is in a group of the other's mask.
    #[cfg_attr(feature = "serde", serde(default = "all_groups"))]
    pub group: u32,
    /// Groups that the ray hits, one bit each.
    #[cfg_attr(feature = "serde", serde(default = "all_groups"))]
    pub mask: u32,
    /// The world whose bodies it hits, beside those of every world; 0 by default.
    #[cfg_attr(feature = "serde", serde(default))]
    pub world: u32,
}

#[cfg(feature = "serde")]
fn everywhere() -> f32 {
    f32::INFINITY
}

#[cfg(feature = "serde")]
fn all_groups() -> u32 {
    u32::MAX
}

impl Ray {
    /// An endless ray that hits all bodies of world 0.
    pub fn new(origin: [f64; 3], direction: [f32; 3]) -> Self {
        Self { origin, direction, max_distance: f32::INFINITY, group: u32::MAX, mask: u32::MAX, world: 0 }
    }

    /// The same ray that ends at a distance from its origin, in world units.
    #[must_use]
    pub fn up_to(self, max_distance: f32) -> Self {
        Self { max_distance, ..self }
    }

    /// The same ray in these groups, hitting those of `mask`.
    #[must_use]
    pub fn grouped(self, group: u32, mask: u32) -> Self {
        Self { group, mask, ..self }
    }

    /// The same ray in another world.
    #[must_use]
    pub fn in_world(self, world: u32) -> Self {
        Self { world, ..self }
    }
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Point {
    /// Where it is, in world units; each coordinate finite and at most 1e18 in magnitude.
    pub position: [f64; 3],
    /// The world whose bodies it sees, beside those of every world; 0 by default.
    #[cfg_attr(feature = "serde", serde(default))]
    pub world: u32,
}

impl Point {
    /// A point of world 0.
    pub fn new(position: [f64; 3]) -> Self {
        Self { position, world: 0 }
    }

    /// The same point in another world.
    #[must_use]
    pub fn in_world(self, world: u32) -> Self {
        Self { world, ..self }
    }
}

impl From<[f64; 3]> for Point {
    fn from(position: [f64; 3]) -> Self {
        Self::new(position)
    }
}

/// A body that moves along a line and does not turn.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ShapeCast {
    /// The body where it starts. It is none of the scene's, so its owner and whether it is fixed do not matter.
    pub body: Body,
    /// The direction of its way, finite and not 0, of any length.
    pub direction: [f32; 3],
    /// How far it moves, in world units, ≥ 0; infinity by default.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number", default = "everywhere"))]
    pub max_distance: f32,
}

impl ShapeCast {
    /// An endless cast.
    pub fn new(body: Body, direction: [f32; 3]) -> Self {
        Self { body, direction, max_distance: f32::INFINITY }
    }

    /// The same cast that ends at a distance, in world units.
    #[must_use]
    pub fn up_to(self, max_distance: f32) -> Self {
        Self { max_distance, ..self }
    }
}
