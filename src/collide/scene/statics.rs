//! Statics, bodies that do not move: checked, laid out and put into a tree once, for all queries.

use std::sync::OnceLock;

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::hull::Hull;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::aabbs_into;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::lay_out_about;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::layout::{Layout, lay_out};
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::placed::Placed;
use crate::collide::scene::rigid::Rigid;
use crate::collide::scene::stored::Stored;
use crate::error::Result;

/// The statics of an arena.
#[derive(Debug)]
pub(crate) struct Statics {
    pub(crate) bodies: Vec<Body>,
    /// Their positions where these are in f64, or the query's are; else empty.
    pub(crate) positions: Vec<DVec3>,
    /// What they are laid out about, where there are positions in f64.
    pub(crate) origin: Option<DVec3>,
    pub(crate) placed: Vec<Placed>,
    /// Their boxes and tree for the CPU's broad phase.
    pub(crate) boxes: StaticBoxes,
    /// For rays and points, made when they are first used.
    frames: OnceLock<Vec<Frame>>,
    /// For paths, made when they are first used.
    rigids: OnceLock<Vec<Rigid>>,
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
        let (positions, origin) = (Vec::new(), None);
        Ok((Self::of(copies, positions, origin, placed, boxes), packed))
    }

    fn of(
        bodies: Vec<Body>,
        positions: Vec<DVec3>,
        origin: Option<DVec3>,
        placed: Vec<Placed>,
        boxes: Vec<Aabb>,
    ) -> Self {
        let boxes = StaticBoxes::new(boxes);
        let (frames, rigids) = (OnceLock::new(), OnceLock::new());
        Self { bodies, positions, origin, placed, boxes, frames, rigids }
    }

    /// The same about an origin, for queries with positions in f64. The columns are those of the statics, and are checked.
    ///
    /// # Errors
    /// The error of the first bad body.
    pub(crate) fn about(
        supports: &Supports,
        columns: &BodyColumns<'_>,
        origin: DVec3,
    ) -> Result<(Self, Vec<PackedBody>)> {
        let bodies = columns.unplaced();
        let positions: Vec<DVec3> = (0..bodies.len()).map(|row| columns.position(row)).collect();
        let mut packed: Vec<PackedBody> = vec![bytemuck::Zeroable::zeroed(); bodies.len()];
        let mut placed = vec![Placed::default(); bodies.len()];
        lay_out_about(supports, &bodies, &positions, origin, &mut packed, &mut placed)?;
        let mut boxes = Vec::new();
        aabbs_into(&mut boxes, &packed, &supports.records, 0.0);
        Ok((Self::of(bodies, positions, Some(origin), placed, boxes), packed))
    }

    /// The frames of the statics.
    pub(crate) fn frames(&self, hulls: &[Hull]) -> &[Frame] {
        // On this thread: one that waits for others here might pick up a query that waits for it.
        let stored = Stored { bodies: &self.bodies, positions: &self.positions, order: &[] };
        let frame =
            |(id, body): (u32, &Body)| Frame::at(&hulls[body.hull as usize], body, stored.position(id));
        self.frames.get_or_init(|| (0..).zip(&self.bodies).map(frame).collect())
    }

    /// Position of a static's hull's origin, relative to what the statics are laid out about.
    pub(crate) fn position(&self, index: usize) -> DVec3 {
        match self.positions.get(index) {
            Some(position) => position - self.origin.unwrap_or_default(),
            None => DVec3::from(self.bodies[index].position.map(f64::from)),
        }
    }

    /// The statics about their own positions.
    pub(crate) fn rigids(&self, hulls: &[Hull]) -> &[Rigid] {
        // On this thread, as above.
        let rigid = |body: &Body| Rigid::new(&hulls[body.hull as usize], body);
        self.rigids.get_or_init(|| self.bodies.iter().map(rigid).collect())
    }
}
