//! Statics on the device.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::scene::packed_body::PackedBody;
use crate::gpu::buffer::Buffer;

/// Statics on the device: their bodies, boxes (without a margin) and tree.
#[derive(Debug)]
pub(crate) struct GpuStatics {
    pub(crate) bodies: Buffer<PackedBody>,
    pub(crate) boxes: Buffer<Aabb>,
    pub(crate) nodes: Buffer<Aabb>,
}

impl GpuStatics {
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }
}
