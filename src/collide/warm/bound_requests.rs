//! Which pairs need a new bound, and the search for it.

use crate::collide::hull::support::Supports;
use crate::collide::scene::placed::Placed;
use crate::collide::warm::bound::{Bound, BoundGoal, depth_bound, gap_bound};

/// Frames for which a new bound should hold.
const BOUND_FRAMES: f64 = 24.0;
/// Frames that suffice for a bound along the axis of an earlier frame.
const REUSE_FRAMES: f64 = 2.0;

/// A pair that needs a bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundRequest {
    pub(crate) pair: [u32; 2],
    /// The axis along which a gap was last seen, from the first body to the second; 0 if never.
    pub(crate) axis: [f32; 3],
    pub(crate) previous: PreviousResult,
}

/// The result of a pair in the last frame that examined it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PreviousResult {
    /// It was separated, or there is no result.
    SeparatedOrUnknown,
    /// It was listed, touching or within the margin: no bound is to be expected.
    Listed,
    Penetrating,
}

/// The bound that was found for a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BoundResult {
    /// None: the narrow phase must examine the pair.
    NotFound,
    /// Separated by more than the margin.
    Separated(Bound),
    /// Penetrating by at least this depth, in world units.
    Penetrating(f64),
}

/// Finds bounds for pairs.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn find_bounds(
    supports: &Supports,
    placed: &[Placed],
    paces: &[f64],
    requests: &[BoundRequest],
    margin: f64,
    found: &mut [BoundResult],
) {
    for (request, found) in requests.iter().zip(found) {
        let [a, b] = request.pair.map(|body| body as usize);
        match request.previous {
            PreviousResult::SeparatedOrUnknown => (),
            // The least motion would use a bound up.
            PreviousResult::Listed => continue,
            PreviousResult::Penetrating => {
                if let Some(deep) = depth_bound(supports, &placed[a], &placed[b]) {
                    *found = BoundResult::Penetrating(deep);
                }
                continue;
            }
        }
        let pace = paces[a] + paces[b];
        let goal = BoundGoal {
            least: margin,
            enough_on_known_axis: margin + REUSE_FRAMES * pace,
            enough: margin + BOUND_FRAMES * pace,
        };
        if let Some(bound) = gap_bound(supports, &placed[a], &placed[b], request.axis, goal) {
            *found = BoundResult::Separated(bound);
        }
    }
}
