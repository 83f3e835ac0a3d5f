//! The simplices of GJK for one pair, for pictures and for understanding.

use glam::DVec3;

use crate::collide::gjk::pose::ExactRelative;
use crate::collide::narrow_phase::exact::{exact_limits, placements, search, settle};
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::stored::Stored;

/// The steps of GJK for one pair, in f64.
///
/// All points are of the Minkowski difference `A − B`, in world units along the world's axes: the hulls have a point
/// in common exactly if the difference holds the origin.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trace {
    /// Each simplex, in order.
    pub steps: Vec<TraceStep>,
    /// The verdict.
    pub status: Status,
    /// For a separated pair a separating axis: a unit vector from `a` to `b`, world frame.
    pub axis: Option<[f32; 3]>,
}

/// One simplex of a [`Trace`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TraceStep {
    /// One to four points, the newest last.
    pub simplex: Vec<[f64; 3]>,
    /// The point of the simplex closest to the origin; the origin itself where a tetrahedron holds it.
    pub closest: [f64; 3],
}

/// Traces a pair of body ids. Both bodies must have been checked.
pub(crate) fn trace(scene: &Scene, stored: Stored<'_>, [a, b]: [u32; 2]) -> Trace {
    let pair = ExactRelative::of(&placements(&scene.hulls, stored, [a, b]));
    let mut steps = Vec::new();
    let world = |point: DVec3| (point * pair.unit).to_array();
    search(&pair, pair.offset, &exact_limits(&pair), &mut |simplex, closest| {
        steps.push(TraceStep {
            simplex: simplex.points[..simplex.len].iter().map(|&p| world(p)).collect(),
            closest: world(closest),
        });
    });
    let settled = settle(&scene.hulls, stored, [a, b]);
    Trace { steps, status: settled.status, axis: settled.axis }
}
