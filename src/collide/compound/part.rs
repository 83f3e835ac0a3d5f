//! The parts of a compound.

use crate::collide::scene::pose::Pose;

/// A hull of an arena in a compound.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Part {
    /// Index of the hull in the [`Arena`](crate::collide::Arena). It may not be a half-space.
    pub hull: u32,
    /// The pose of the hull in the compound's frame.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pose: Pose,
    /// How much larger the part is than its hull on all sides, in the compound's units, ≥ 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub padding: f32,
}

impl Part {
    /// The hull `hull` at the compound's origin, not rotated, at scale 1.
    pub fn new(hull: u32) -> Self {
        Self { hull, pose: Pose::IDENTITY, padding: 0.0 }
    }

    /// The same part in this pose of the compound's frame.
    #[must_use]
    pub fn posed(self, pose: Pose) -> Self {
        Self { pose, ..self }
    }

    /// The same part at this position of the compound's frame.
    #[must_use]
    pub fn at(self, position: [f32; 3]) -> Self {
        Self { pose: Pose { position, ..self.pose }, ..self }
    }

    /// The same part, larger by `padding` on all sides, in the compound's units.
    #[must_use]
    pub fn padded(self, padding: f32) -> Self {
        Self { padding, ..self }
    }
}

/// The shape of a body of several hulls: a convex decomposition, the links of a gripper, or the triangles of a mesh as a solid's skin.
///
/// Parts may overlap; a compound is their union.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Compound {
    /// The parts, at least one.
    pub parts: Vec<Part>,
}

impl Compound {
    /// A compound of these parts.
    pub fn new(parts: impl Into<Vec<Part>>) -> Self {
        Self { parts: parts.into() }
    }

    /// One part for each hull of a range, all at the compound's origin: for hulls whose vertices are in the compound's frame already, such as
    /// those of [`Hull::triangles_of_mesh`](crate::collide::Hull::triangles_of_mesh) or of a convex decomposition.
    pub fn of_hulls(hulls: impl IntoIterator<Item = u32>) -> Self {
        Self { parts: hulls.into_iter().map(Part::new).collect() }
    }
}
