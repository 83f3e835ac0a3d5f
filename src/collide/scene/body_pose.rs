//! A body's pose as kernels of the caller's write it.
//!
//! `shaders/collide/scene/body_pose.wgsl` has the same struct; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

use crate::collide::scene::body::Body;

/// Where a body is, 32 bytes: the position of its hull's origin and its rotation.
///
/// [`DEVICE_WGSL`](crate::collide::DEVICE_WGSL) has the same struct for kernels: a `vec3f` at byte 0 and a `vec4f` at byte 16. An `array<vec4f>`
/// with two elements a body has the same bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyPose {
    /// Position of the hull's origin, in world units, about the origin that the bodies were [laid out](crate::collide::Arena::lay_out) about. At
    /// most 1e18 in magnitude.
    pub position: [f32; 3],
    /// Not read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: f32,
    /// Unit quaternion, x y z w. A length within 1e-3 of 1 is divided out.
    pub rotation: [f32; 4],
}

const _: () = assert!(size_of::<BodyPose>() == 32);

impl From<&Body> for BodyPose {
    fn from(body: &Body) -> Self {
        Self { position: body.position, padding: 0.0, rotation: body.rotation }
    }
}
