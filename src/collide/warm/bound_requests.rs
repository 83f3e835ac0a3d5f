//! A look at a pair: whether a bound of its gap can be had that lasts.

use crate::collide::hull::support::Supports;
use crate::collide::scene::placed::Placed;
use crate::collide::warm::bound::{Bound, BoundGoal, depth_bound, gap_bound};

/// Frames that a bound should last.
const BOUND_FRAMES: f64 = 24.0;
/// Frames that are enough where the axis of an earlier frame shows them.
const REUSE_FRAMES: f64 = 2.0;

/// A pair to be looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundRequest {
    pub(crate) pair: [u32; 2],
    /// Along which a gap was last seen; 0 if never.
    pub(crate) axis: [f32; 3],
    pub(crate) previous: PreviousResult,
}

/// What a pair did when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PreviousResult {
    /// It was apart, or nobody knows.
    SeparatedOrUnknown,
    /// No bound is to be hoped for.
    Listed,
    Penetrating,
}

/// What a look at a pair gave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BoundResult {
    /// Nothing that will last: the narrow phase must say.
    NotFound,
    /// Apart by more than the margin.
    Separated(Bound),
    /// Penetrating, so deep; world units.
    Penetrating(f64),
}

/// Looks for bounds.
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
            // The least motion may end it.
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
