//! The bodies of a scene as a query sees them.

use std::sync::Arc;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::handle::body::Body;
use crate::collide::handle::parts::Parts;
use crate::collide::handle::rows::Names;
use crate::collide::handle::shapes::ShapeTable;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::scene::query_input::{QueryInput, Shared};

/// The bodies of a query as they were at the call.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) table: Arc<ShapeTable>,
    pub(crate) bodies: Shared<Body>,
    pub(crate) parts: Arc<Parts>,
    pub(crate) input: QueryInput,
    pub(crate) names: Names,
    pub(crate) gpu: Option<Arc<GpuArena>>,
    /// Bytes that the rows of an answer may take.
    pub(crate) answer_limit: u64,
}

/// The box of what is nowhere.
static NOWHERE: Aabb = Aabb { min: [f32::INFINITY; 3], group: 0, max: [f32::NEG_INFINITY; 3], mask: 0 };

impl Snapshot {
    /// The box of a place. There must be a tree.
    pub(crate) fn box_of(&self, place: u32) -> &Aabb {
        let (place, count) = (place as usize, self.input.mover_count);
        match (&self.input.tree, &self.input.statics) {
            (Some(tree), _) if place < count => &tree.boxes[place],
            (_, Some(statics)) if place >= count => &statics.boxes.boxes[place - count],
            _ => &NOWHERE,
        }
    }

    /// The places of the parts of the body in a row.
    pub(crate) fn places_of(&self, row: u32) -> std::ops::Range<u32> {
        self.parts.places_of(row, self.table.part_count(self.bodies[row as usize].shape))
    }
}
