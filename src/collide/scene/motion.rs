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
    /// World units a second.
    pub velocity: [f32; 3],
    /// Radians a second about the world's axes, through the body's position.
    pub angular_velocity: [f32; 3],
}

/// How a body moves, as the device reads it; the same struct stands in `shaders/collide/scene/motion.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PackedMotion {
    /// World units a second.
    pub(crate) velocity: [f32; 3],
    pub(crate) padding_0: u32,
    /// Radians a second about the world's axes, through the hull's origin.
    pub(crate) angular_velocity: [f32; 3],
    pub(crate) padding_1: u32,
}
