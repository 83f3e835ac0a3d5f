//! Statics, bodies that do not move: checked, laid out and put into a tree once, for all queries.

use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::aabbs_into;
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
        Ok((Self { bodies: copies, placed, boxes: StaticBoxes::new(boxes) }, packed))
    }
}
