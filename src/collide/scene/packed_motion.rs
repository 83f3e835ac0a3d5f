//! The motion of a body as kernels read it.
//!
//! `shaders/collide/scene/packed_motion.wgsl` has the same struct; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

use crate::collide::scene::motion::Motion;

/// The motion of a body as kernels read it, 32 bytes: two vectors of three f32, each padded to 16 bytes.
///
/// [`DEVICE_WGSL`](crate::collide::DEVICE_WGSL) has the same struct for kernels. `PackedMotion::from(motion)` makes one on the host.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
pub struct PackedMotion {
    /// Velocity of the hull's origin, in world units per second.
    pub velocity: [f32; 3],
    /// Not read.
    pub padding_0: u32,
    /// Angular velocity about the hull's origin, in radians per second, world axes.
    pub angular_velocity: [f32; 3],
    /// Not read.
    pub padding_1: u32,
}

const _: () = assert!(size_of::<PackedMotion>() == 32);

impl From<Motion> for PackedMotion {
    fn from(motion: Motion) -> Self {
        let Motion { velocity, angular_velocity } = motion;
        Self { velocity, padding_0: 0, angular_velocity, padding_1: 0 }
    }
}
