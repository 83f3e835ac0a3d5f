//! Pairs of bodies that are never tested.

use std::sync::Arc;

use crate::error::{Error, Location, Result};

/// Pairs of bodies that no query finds, as the links of a robot that always touch: an allowed-collision matrix.
///
/// A copy shares the pairs.
///
/// ```
/// use hullfield::collide::Exclusions;
///
/// let neighbours = Exclusions::new(&[[1, 0], [1, 2]])?;
/// assert!(neighbours.contains(0, 1) && neighbours.contains(1, 0) && !neighbours.contains(0, 2));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exclusions {
    /// Each with the lower id first, sorted, none twice.
    pairs: Arc<[[u32; 2]]>,
}

impl Exclusions {
    /// The pairs `[a, b]`, in any order, also repeated. A pair excludes both orders of its bodies.
    ///
    /// # Errors
    /// [`Error::Invalid`] at its [`Location::Pair`] where a body is paired with itself.
    pub fn new(pairs: &[[u32; 2]]) -> Result<Self> {
        if let Some(row) = pairs.iter().position(|[a, b]| a == b) {
            let message = format!("body {} is excluded from itself", pairs[row][0]);
            return Err(Error::invalid(Location::Pair(row), message));
        }
        let mut sorted: Vec<[u32; 2]> = pairs.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Ok(Self { pairs: sorted.into() })
    }

    /// Whether the pair of these bodies is excluded, in either order.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.pairs.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    /// The pairs, each with the lower id first, sorted, none twice.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Whether no pair is excluded.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_and_found_in_either_order() {
        let exclusions = Exclusions::new(&[[5, 2], [0, 9], [2, 5], [9, 0], [1, 0]]).unwrap();
        assert_eq!(exclusions.pairs(), [[0, 1], [0, 9], [2, 5]]);
        for a in 0..12 {
            for b in 0..12 {
                let listed = [[0, 1], [0, 9], [2, 5]].contains(&[a.min(b), a.max(b)]);
                assert_eq!(exclusions.contains(a, b), listed, "{a} {b}");
            }
        }
        assert!(Exclusions::default().is_empty() && !exclusions.is_empty());
    }

    #[test]
    fn a_body_excluded_from_itself_is_an_error() {
        let error = Exclusions::new(&[[0, 1], [3, 3]]).unwrap_err();
        assert!(matches!(error, Error::Invalid { at: Location::Pair(1), .. }), "{error}");
    }
}
