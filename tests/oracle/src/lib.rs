//! Independent f64 oracles, public corpora and seeded scenes for the tests and benches of hullfield.
//!
//! Nothing here imports hullfield: plain data in, plain data out. Every number a body stores (a [`Pose`]'s f32s) is
//! taken exactly as stored, and all arithmetic on it is f64.
//!
//! - [`Shape`]: the convex hull of a point set, built with exact predicates.
//! - [`mod@gap`]: the signed gap of two placed shapes, and the tolerance τ of the pair ([`Truth`]).
//! - [`certify`]: the gap that two placed point sets show along one given axis.
//! - [`corpus`]: real point sets from a physics engine, or seeded stand-ins.
//! - [`scenes`]: seeded scenes with gaps near zero, kissing boxes, piles, debris, tumbling crowds.
//! - [`sweep`]: claimed first times of impact, checked.
//! - [`rooms`]: the shortest way in a polygon with holes, by a visibility graph, and seeded rooms.
//! - [`compare`]: verdicts against the truth, and against one another, by the rule of the tolerance band.
//! - [`extent()`]: how much of a long test runs.
//! - [`mod@measure`]: distances, contacts and manifolds against the truth, each part checked on its own.
//!
//! Frames: a vertex `v` of a hull stands in the world at `position + rotation · (scale ⊙ v)`. A gap is positive
//! (distance) where the hulls are apart and negative (minus the penetration depth) where they overlap; an axis is a
//! unit vector of the world frame that points from the first body to the second.
//!
//! These functions serve tests, and panic on input that makes no sense (an empty point set, a coordinate that is not
//! finite, an index out of range).

mod body64;
pub mod certify;
pub mod compare;
pub mod corpus;
mod extent;
pub mod gap;
pub mod measure;
mod nearest;
mod primitive;
pub mod random;
pub mod rooms;
pub mod scenes;
mod shape;
pub mod sweep;

use glam::{DQuat, DVec3};

pub use compare::Verdict;
pub use extent::extent;
pub use gap::{Gap, Truth, gap, tolerance, truth, truths, whole_truth, whole_truths};
pub use shape::Shape;

/// How a hull stands in the world: scaled along its own axes, then turned, then moved, then rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Quaternion `x, y, z, w`, near unit length; it is divided by its length in f64.
    pub rotation: [f32; 4],
    /// Scale along the hull's own axes, each > 0.
    pub scale: [f32; 3],
    /// Rounding beyond the hull's own, ≥ 0, in world units.
    pub radius: f32,
}

impl Default for Pose {
    /// At the origin, unrotated, at scale 1, not rounded.
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3], radius: 0.0 }
    }
}

impl Pose {
    /// At `position`, in world units, unrotated, at scale 1.
    pub fn at(position: [f32; 3]) -> Self {
        Self { position, ..Self::default() }
    }

    /// The position as f64, exactly.
    pub fn position64(&self) -> DVec3 {
        DVec3::from(self.position.map(f64::from))
    }

    /// The rotation as f64, divided by its length.
    pub fn rotation64(&self) -> DQuat {
        DQuat::from_array(self.rotation.map(f64::from)).normalize()
    }

    /// The scale as f64, exactly.
    pub fn scale64(&self) -> DVec3 {
        DVec3::from(self.scale.map(f64::from))
    }

    /// Where the hull's vertex `v` stands relative to this pose's own position, in world units and axes.
    pub fn offset(&self, v: [f32; 3]) -> DVec3 {
        self.rotation64() * (self.scale64() * DVec3::from(v.map(f64::from)))
    }
}

/// A body of a scene: which hull, and how it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Index of the hull among the scene's point sets.
    pub hull: u32,
    /// How it stands in the world.
    pub pose: Pose,
}
