//! How bodies move during a sweep.

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
