//! Independent f64 oracles, public corpora and seeded scenes for the tests and benches of hullfield.
//!
//! Nothing here imports hullfield. Inputs and results are plain data. The f32 numbers of a [`Pose`] are taken exactly as stored,
//! and all arithmetic is in f64.
//!
//! - [`Shape`]: the convex hull of a point set, built with exact predicates.
//! - [`mod@gap`]: the signed gap of two placed shapes, and the tolerance τ of the pair ([`Truth`]).
//! - [`certify`]: the separation of two placed point sets along a given axis.
//! - [`corpus`]: real point sets from a physics engine, or seeded replacements.
//! - [`scenes`]: seeded scenes with gaps near zero, boxes in contact, piles, debris, tumbling crowds.
//! - [`sweep`]: checks of claimed times of impact.
//! - [`joint_path`]: gaps of bodies carried by links that move.
//! - [`ray`]: checks of claimed hits of rays, and signed distances of points.
//! - [`grid`]: fields over grids, by a queue or a heap.
//! - [`friction`]: cost distances over friction and hills, by Dijkstra's search.
//! - [`rooms`]: the shortest path in a polygon with holes, by a visibility graph, and seeded rooms.
//! - [`surface`]: checks of a path over a surface, and the distance to the nearest wall by Dijkstra's search over points on edges.
//! - [`compare`]: comparison of verdicts with the truth and with each other, by the rule of the tolerance band.
//! - [`extent()`]: the extent of a long test.
//! - [`fuzz`]: changes of files, and an allocator that counts, for tests of readers.
//! - [`seed()`], [`pick()`]: seeds and cases that differ from run to run.
//! - [`memo`]: hulls built once for all tests of a program.
//! - [`mod@measure`]: checks of distances, contacts and manifolds against the truth, part by part.
//!
//! Frames: the world position of a hull's vertex `v` is `position + rotation · (scale ⊙ v)`. A gap is positive (the distance)
//! for separated hulls and negative (minus the penetration depth) for overlapping ones. An axis is a unit vector of the world
//! frame from the first body to the second.
//!
//! These functions are for tests. They panic on invalid input: an empty point set, a coordinate that is not finite, an index out
//! of range.

mod body64;
pub mod certify;
pub mod compare;
pub mod corpus;
mod extent;
pub mod friction;
pub mod fuzz;
pub mod gap;
pub mod globe;
pub mod grid;
pub mod joint_path;
pub mod measure;
pub mod memo;
mod nearest;
mod primitive;
pub mod random;
pub mod ray;
pub mod rooms;
pub mod scenes;
mod seed;
mod shape;
pub mod surface;
pub mod sweep;

use glam::{DQuat, DVec3};

pub use compare::Verdict;
pub use extent::extent;
pub use gap::{Gap, Truth, gap, tolerance, truth, truths, whole_truth, whole_truths};
pub use seed::{pick, seed};
pub use shape::Shape;

/// The placement of a hull in the world: scaled along its own axes, then rotated, then translated, then rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Quaternion `x, y, z, w` of about unit length; it is normalised in f64.
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

    /// The rotation as f64, normalised.
    pub fn rotation64(&self) -> DQuat {
        DQuat::from_array(self.rotation.map(f64::from)).normalize()
    }

    /// The scale as f64, exactly.
    pub fn scale64(&self) -> DVec3 {
        DVec3::from(self.scale.map(f64::from))
    }

    /// The hull's vertex `v` relative to this pose's position, in world units and axes.
    pub fn offset(&self, v: [f32; 3]) -> DVec3 {
        self.rotation64() * (self.scale64() * DVec3::from(v.map(f64::from)))
    }
}

/// A body of a scene: a hull and its pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Index of the hull among the scene's point sets.
    pub hull: u32,
    /// Its pose in the world.
    pub pose: Pose,
}
