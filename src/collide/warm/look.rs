//! A look at a pair: whether a bound of its gap can be had that lasts.

use crate::collide::hull::support::Supports;
use crate::collide::scene::placed::Placed;
use crate::collide::warm::bound::{Bound, Wanted, bound, depth};

/// Frames that a bound should last.
const BOUND_FRAMES: f64 = 24.0;
/// Frames that are enough where the axis of an earlier frame shows them.
const SOON_FRAMES: f64 = 2.0;

/// A pair to be looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundRequest {
    pub(crate) pair: [u32; 2],
    /// Along which a gap was last seen; 0 if never.
    pub(crate) axis: [f32; 3],
    pub(crate) last: Last,
}

/// What a pair did when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Last {
    /// It was apart, or nobody knows.
    Apart,
    /// No bound is to be hoped for.
    Listed,
    Penetrating,
}

/// What a look at a pair gave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LookResult {
    /// Nothing that will last: the narrow phase must say.
    Nothing,
    /// Apart by more than the margin.
    Apart(Bound),
    /// Penetrating, so deep; world units.
    Deep(f64),
}

/// Looks for bounds.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn look(
    supports: &Supports,
    placed: &[Placed],
    paces: &[f64],
    requests: &[BoundRequest],
    margin: f64,
    found: &mut [LookResult],
) {
    for (look, found) in requests.iter().zip(found) {
        let [a, b] = look.pair.map(|body| body as usize);
        match look.last {
            Last::Apart => (),
            // The least motion may end it.
            Last::Listed => continue,
            Last::Penetrating => {
                if let Some(deep) = depth(supports, &placed[a], &placed[b]) {
                    *found = LookResult::Deep(deep);
                }
                continue;
            }
        }
        let pace = paces[a] + paces[b];
        let wanted =
            Wanted { least: margin, soon: margin + SOON_FRAMES * pace, enough: margin + BOUND_FRAMES * pace };
        if let Some(bound) = bound(supports, &placed[a], &placed[b], look.axis, wanted) {
            *found = LookResult::Apart(bound);
        }
    }
}
