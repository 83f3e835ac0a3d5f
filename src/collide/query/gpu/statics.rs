//! Statics on the device.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::query::gpu::tree::TreeBuffers;
use crate::collide::scene::packed_body::PackedBody;
use crate::gpu::buffer::Buffer;

/// Statics on the device.
#[derive(Debug)]
pub(crate) struct GpuStatics {
    pub(crate) bodies: Buffer<PackedBody>,
    /// For a broad phase.
    pub(crate) boxed: Option<StaticBoxes>,
}

/// The boxes of statics, without a margin, and their tree.
#[derive(Debug)]
pub(crate) struct StaticBoxes {
    pub(crate) boxes: Buffer<Aabb>,
    pub(crate) tree: TreeBuffers,
}

impl GpuStatics {
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }
}
