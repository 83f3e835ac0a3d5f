//! Bodies that do not move, on the device.

use super::super::bounds::Aabb;
use super::super::layout::PackedBody;
use crate::gpu::Buffer;

/// Bodies that do not move, on the device: their records, boxes (without a margin) and tree.
#[derive(Debug)]
pub(crate) struct GpuStatics {
    pub(super) bodies: Buffer<PackedBody>,
    pub(super) boxes: Buffer<Aabb>,
    pub(super) nodes: Buffer<Aabb>,
}

impl GpuStatics {
    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }
}
