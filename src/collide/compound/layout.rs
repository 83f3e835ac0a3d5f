//! What a search asks of a shape of many parts.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::compound::boxes::CenteredBox;

/// The parts of a shape, in the shape's own frame.
pub(crate) trait PartLayout {
    /// The box around all parts.
    fn bounds(&self) -> &CenteredBox;

    /// What rounding may add to the box of a part.
    fn slack(&self) -> f64;

    /// The box of a part.
    fn part_box(&self, part: u32) -> CenteredBox;

    /// A point of a part, and how far the part reaches from it.
    fn ball(&self, part: u32) -> (DVec3, f64);

    /// Whether a ball is known to be apart from a part, beyond what its box and its own ball say.
    fn is_clear(&self, _part: u32, _middle: DVec3, _radius: f64) -> bool {
        false
    }

    /// Calls `found` for each part whose box meets another, in no order.
    fn for_each_part(&self, query: &Aabb, found: impl FnMut(u32));

    /// Calls `found` for each part.
    fn all_parts(&self, found: impl FnMut(u32));

    /// A part near a point.
    fn nearest_part(&self, point: DVec3) -> u32;
}
