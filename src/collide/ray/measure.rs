//! A point against one body, in f64: its signed distance, and the nearest point of the surface.

use glam::DVec3;

use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::ray::cast::{nearest_of_core, nearest_of_segment, reach};
use crate::collide::ray::clip::highest_plane;
use crate::collide::scene::frame::{Core, Frame};

/// A point nearer to a core than this share of the bounding radius gets the normal of a plane, or one across a segment: that of a small difference would be noise.
const CLOSE: f64 = 1e-9;
/// A point no higher above any plane than this share of the bounding radius is in the hull.
const ON_FACE: f64 = 1e-13;

/// A point and a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Negative inside.
    pub(crate) distance: f64,
    /// Outward, world frame.
    pub(crate) normal: DVec3,
    /// Of the surface, world frame.
    pub(crate) nearest: DVec3,
}

/// Measures a point against a body; `None` where the body is farther than `limit`.
// As `cast`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn measure(table: &PlaneTable, frame: &Frame, point: DVec3, limit: f64) -> Option<Measured> {
    if frame.core == Core::HalfSpace {
        let distance = (frame.back * frame.about_position(point)).y - frame.rounding;
        let normal = frame.world_vector(DVec3::Y);
        let found = || Measured { distance, normal, nearest: point - normal * distance };
        return (distance <= limit).then(found);
    }
    let local = frame.back * frame.about_mean(point, DVec3::ZERO);
    // From the signed distance from the core, the normal and the nearest point of the core.
    let found = |length: f64, normal: DVec3, core: DVec3| {
        let distance = length - frame.rounding;
        (distance <= limit).then(|| Measured {
            distance,
            normal: frame.world_vector(normal),
            nearest: frame.position + (frame.offset + frame.world_vector(core + normal * frame.rounding)),
        })
    };
    if frame.core != Core::Planes {
        let scaled = |at: usize| table.vertices.get(at).map_or(DVec3::ZERO, |&v| v * frame.scale);
        let ends = [scaled(0), scaled(1)];
        let core = if frame.core == Core::Segment { nearest_of_segment(ends, local) } else { DVec3::ZERO };
        let length = (local - core).length();
        // In the core every direction across it is a normal, and next to it the difference is rounding, which may point along it.
        let is_off = length > CLOSE * frame.radius;
        let normal = if is_off { (local - core) / length } else { across(ends[1] - ends[0]) };
        return found(length, normal, core);
    }
    let (height, plane) = highest_plane(&table.blocks, local * frame.inverse, frame.inverse);
    let close = CLOSE * frame.radius;
    if height - frame.rounding > limit + close {
        return None;
    }
    let up = (table.normal(plane) * frame.inverse).normalize_or_zero();
    let foot = local - up * height;
    if height <= 0.0 {
        return found(height, up, foot);
    }
    // Where the foot on the highest plane is in the hull, it is in that face.
    let above = highest_plane(&table.blocks, foot * frame.inverse, frame.inverse).0;
    if above <= ON_FACE * frame.radius + 4.0 * f64::EPSILON * height {
        return found(height, up, foot);
    }
    let (length, _, core) = nearest_of_core(table, frame, local);
    if length <= close {
        // The difference has no direction.
        return found(length, up, core);
    }
    found(length, (local - core).normalize_or(up), core)
}

/// Whether a measured point is in a body, or touches it.
pub(crate) fn contains(frame: &Frame, distance: f64) -> bool {
    distance <= reach(frame)
}

/// A unit vector across another.
fn across(axis: DVec3) -> DVec3 {
    let least = axis.abs().min_element();
    let near = if axis.x.abs() == least {
        DVec3::X
    } else if axis.y.abs() == least {
        DVec3::Y
    } else {
        DVec3::Z
    };
    near.reject_from(if axis == DVec3::ZERO { DVec3::Y } else { axis }).normalize_or(DVec3::X)
}
