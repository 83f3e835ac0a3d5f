//! How bodies move during a sweep.

use bytemuck::{Pod, Zeroable};

/// How a body moves during a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Motion {
    /// Velocity of the body's position, in world units per second.
    pub velocity: [f32; 3],
    /// Angular velocity about the body's position, in radians per second, world axes.
    pub angular_velocity: [f32; 3],
}

/// How a body moves, as the device reads it; `shaders/collide/scene/motion.wgsl` has the same struct.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PackedMotion {
    /// World units per second.
    pub(crate) velocity: [f32; 3],
    pub(crate) padding_0: u32,
    /// Radians per second about the hull's origin, world axes.
    pub(crate) angular_velocity: [f32; 3],
    pub(crate) padding_1: u32,
}
