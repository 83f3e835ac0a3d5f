//! Statics, bodies that do not move: checked, laid out and put into a tree once, for all queries.

use std::sync::OnceLock;

use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::hull::Hull;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::aabbs_into;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::layout::{Layout, lay_out};
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::placed::Placed;
use crate::error::Result;

/// The statics of an arena.
#[derive(Debug)]
pub(crate) struct Statics {
    pub(crate) bodies: Vec<Body>,
    pub(crate) placed: Vec<Placed>,
    /// Their boxes and tree for the CPU's broad phase.
    pub(crate) boxes: StaticBoxes,
    /// For rays and points, made when they are first used.
    frames: OnceLock<Vec<Frame>>,
}

impl Statics {
    /// The statics, and their bodies packed for a device.
    ///
    /// # Errors
    /// The error of the first bad body.
    pub(crate) fn new(supports: &Supports, bodies: &[Body]) -> Result<(Self, Vec<PackedBody>)> {
        let layout = Layout { packed: true, placed: true };
        let (mut packed, mut placed, mut copies) = (Vec::<PackedBody>::new(), Vec::new(), Vec::new());
        lay_out(supports, bodies, layout, &mut copies, &mut packed, &mut placed)?;
        let mut boxes = Vec::new();
        aabbs_into(&mut boxes, &packed, &supports.records, 0.0);
        Ok((Self { bodies: copies, placed, boxes: StaticBoxes::new(boxes), frames: OnceLock::new() }, packed))
    }

    /// The frames of the statics.
    pub(crate) fn frames(&self, hulls: &[Hull]) -> &[Frame] {
        // On this thread: one that waits for others here might pick up a query that waits for it.
        let frame = |body: &Body| Frame::new(&hulls[body.hull as usize], body);
        self.frames.get_or_init(|| self.bodies.iter().map(frame).collect())
    }
}
