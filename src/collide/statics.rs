//! Bodies that do not move: checked, laid out and put into a tree once, and met by the bodies of every query.

use super::Body;
use super::bounds::aabbs_into;
use super::broad::Still;
use super::gpu::GpuArena;
use super::layout::PackedBody;
use super::pose::Placed;
use super::scene::{Layout, Scene, lay_out};
use crate::error::Result;

/// The statics of an arena.
#[derive(Debug)]
pub(crate) struct Statics {
    pub(crate) bodies: Vec<Body>,
    pub(crate) placed: Vec<Placed>,
    /// Their boxes and tree for the CPU's broad phase.
    pub(crate) still: Still,
}

impl Statics {
    /// The bodies, and with a device the arena there that holds them too.
    pub(crate) fn new(
        scene: &Scene,
        gpu: Option<&GpuArena>,
        bodies: &[Body],
    ) -> Result<(Self, Option<GpuArena>)> {
        let layout = Layout { packed: true, placed: true };
        let (mut packed, mut placed, mut copies) = (Vec::<PackedBody>::new(), Vec::new(), Vec::new());
        lay_out(scene, bodies, layout, &mut copies, &mut packed, &mut placed)?;
        let mut boxes = Vec::new();
        aabbs_into(&mut boxes, &packed, &scene.supports.records, 0.0);
        let gpu = gpu.map(|gpu| gpu.with_statics(&packed)).transpose()?;
        Ok((Self { bodies: copies, placed, still: Still::new(boxes) }, gpu))
    }
}
