//! The pairs of bodies that a query is about.

use crate::error::{Error, Result};

/// Which pairs of bodies a query is about.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Pairs<'a> {
    /// All pairs, found by the broad phase: those whose world boxes overlap are examined.
    Near,
    /// All pairs, every one examined, without a broad phase and without a list of them in memory.
    Every,
    /// The given pairs `[a, b]`, in any order and as often as they are given.
    Given(&'a [[u32; 2]]),
}

/// [`Pairs`] that outlive the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedPairs {
    Near,
    Every,
    Given(Vec<[u32; 2]>),
}

/// Checks that pairs name bodies that exist, and no body twice or two half-spaces.
pub(crate) fn check(
    pairs: &[[u32; 2]],
    body_count: usize,
    is_half_space: impl Fn(u32) -> bool,
) -> Result<()> {
    for (pair, &[a, b]) in pairs.iter().enumerate() {
        for body in [a, b] {
            if body as usize >= body_count {
                return Err(Error::PairOutOfRange { pair, body, body_count });
            }
        }
        if a == b {
            return Err(Error::PairWithItself { pair, body: a });
        }
        if is_half_space(a) && is_half_space(b) {
            return Err(Error::PairOfHalfSpaces { pair, a, b });
        }
    }
    Ok(())
}
