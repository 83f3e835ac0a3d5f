//! Which pairs of bodies a query examines.

use crate::error::{Error, Location, Result};

/// Which pairs of bodies a query examines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Pairs<'a> {
    /// All pairs, found by the broad phase: those whose world boxes overlap are examined.
    BroadPhase,
    /// All pairs. Each is examined, without a broad phase and without a list of them in memory.
    Exhaustive,
    /// The given pairs `[a, b]`: in any order, also repeated, whatever groups, worlds, owners and exclusions say.
    Given(&'a [[u32; 2]]),
}

/// [`Pairs`] that outlive the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedPairs {
    BroadPhase,
    Exhaustive,
    Given(Vec<[u32; 2]>),
}

/// Checks that pairs name bodies that exist, that no body is paired with itself, and that no pair is two half-spaces. Without
/// `has_half_space` no body is one.
pub(crate) fn check(
    pairs: &[[u32; 2]],
    body_count: usize,
    has_half_space: bool,
    is_half_space: impl Fn(u32) -> bool,
) -> Result<()> {
    // Mostly there is nothing to find, and this loop has no branch.
    let wrong = |&[a, b]: &[u32; 2]| (a as usize >= body_count) | (b as usize >= body_count) | (a == b);
    if !has_half_space && !pairs.iter().fold(false, |any, pair| any | wrong(pair)) {
        return Ok(());
    }
    for (pair, &[a, b]) in pairs.iter().enumerate() {
        for body in [a, b] {
            if body as usize >= body_count {
                return Err(Error::Missing {
                    at: Location::Pair(pair),
                    what: "body",
                    index: body.into(),
                    count: body_count as u64,
                });
            }
        }
        if a == b {
            return Err(Error::invalid(Location::Pair(pair), format!("body {a} is paired with itself")));
        }
        if is_half_space(a) && is_half_space(b) {
            let message =
                format!("bodies {a} and {b} are both half-spaces, which have no distance and no depth");
            return Err(Error::invalid(Location::Pair(pair), message));
        }
    }
    Ok(())
}
