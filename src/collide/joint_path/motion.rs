//! Where links are at samples, and how they move between them.

use glam::{DMat3, DQuat, DVec3};

use crate::collide::bvh::aabb::Aabb;
use crate::collide::joint_path::chain::Part;
use crate::collide::scene::joint_path::LinkPose;
use crate::collide::scene::placed::turn;

/// A link at a sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkFrame {
    pub(crate) position: DVec3,
    pub(crate) turn: DMat3,
    quaternion: DQuat,
}

impl LinkFrame {
    /// The frame of a checked pose.
    pub(crate) fn new(pose: &LinkPose) -> Self {
        let quaternion = pose.turn();
        Self { position: pose.place(), turn: DMat3::from_quat(quaternion), quaternion }
    }

    /// The link after a share of a step that begins here.
    pub(crate) fn after(&self, step: &LinkStep, time: f64) -> Self {
        let spun =
            if step.angle > 0.0 { turn(step.spin / step.angle, step.angle * time) } else { DMat3::IDENTITY };
        Self { position: self.position + step.velocity * time, turn: spun * self.turn, ..*self }
    }

    /// The world position and rotation of a part's hull.
    pub(crate) fn place(&self, part: &Part) -> (DVec3, DMat3) {
        (self.position + self.turn * part.position, self.turn * part.turn)
    }

    /// The world box of a part, without the tolerance.
    pub(crate) fn part_box(&self, part: &Part) -> Box64 {
        let middle = self.position + self.turn * part.middle;
        let DMat3 { x_axis, y_axis, z_axis } = self.turn;
        let core = x_axis.abs() * part.half.x + y_axis.abs() * part.half.y + z_axis.abs() * part.half.z;
        let half = core + DVec3::splat(part.rigid.rounding);
        Box64 { min: middle - half, max: middle + half }
    }
}

/// How a link moves in a step, from time 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkStep {
    pub(crate) velocity: DVec3,
    /// Angular velocity, world axes.
    pub(crate) spin: DVec3,
    /// Its length.
    pub(crate) angle: f64,
    /// How far the true motion may be from this one.
    pub(crate) deviation: f64,
}

impl LinkStep {
    /// The shorter way around. The arc tangent is that of the crate `libm`: those of platforms differ.
    pub(crate) fn new(from: &LinkFrame, to: &LinkFrame, deviation: f64) -> Self {
        let between = to.quaternion * from.quaternion.conjugate();
        let between = if between.w < 0.0 { -between } else { between };
        let sine = between.xyz().length();
        let angle = 2.0 * libm::atan2(sine, between.w);
        let spin = if sine > 0.0 { between.xyz() * (angle / sine) } else { DVec3::ZERO };
        Self { velocity: to.position - from.position, spin, angle: spin.length(), deviation }
    }

    /// An upper bound of how far any point of a part moves in the step.
    pub(crate) fn travel(&self, part: &Part) -> f64 {
        self.velocity.length() + self.angle * part.rigid.reach
    }

    /// An upper bound of how far a point of a part is from the straight line between its ends, at the same time: the second derivative of
    /// its path is at most the square of the angle times its distance from the axis.
    pub(crate) fn sagitta(&self, part: &Part) -> f64 {
        0.125 * self.angle * self.angle * part.rigid.reach
    }
}

/// A box in f64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Box64 {
    pub(crate) min: DVec3,
    pub(crate) max: DVec3,
}

impl Box64 {
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with `more` on all sides, rounded outwards.
    pub(crate) fn grown(&self, more: f64) -> Self {
        let all = DVec3::splat(more) + 1e-15 * self.min.abs().max(self.max.abs());
        Self { min: self.min - all, max: self.max + all }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The distance of two boxes, rounded.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        (other.min - self.max).max(self.min - other.max).max(DVec3::ZERO).length()
    }

    pub(crate) fn of(aabb: &Aabb) -> Self {
        let corner = |v: [f32; 3]| DVec3::from(v.map(f64::from));
        Self { min: corner(aabb.min), max: corner(aabb.max) }
    }

    /// The box in f32, rounded outwards.
    pub(crate) fn to_aabb(self) -> Aabb {
        let below = |x: f64| {
            let rounded = x as f32;
            if f64::from(rounded) > x { rounded.next_down().max(-f32::MAX) } else { rounded.max(-f32::MAX) }
        };
        let above = |x: f64| -below(-x);
        Aabb::new(self.min.to_array().map(below), self.max.to_array().map(above))
    }
}

/// What a box needs on all sides, together with that of the other body's box, to hold the gap at which bodies touch: see
/// `scene/bounds.rs`.
pub(crate) fn box_pad(part: &Part) -> f64 {
    1e-5 * part.rigid.radius
}
