//! Pairs of bodies that are never tested.

use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::order::sort_pairs;

/// Pairs of bodies that no query finds, as the links of a robot that always touch: an allowed-collision matrix.
///
/// What the ids of a pair are, bodies or owners, [`BodyColumns`](crate::collide::BodyColumns) says. A copy shares the pairs.
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
    /// A body or an owner and a static each, sorted, none twice.
    statics: Arc<[[u32; 2]]>,
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
        sort_pairs(&mut sorted);
        sorted.dedup();
        Ok(Self { pairs: sorted.into(), statics: Arc::default() })
    }

    /// The same with further pairs `[id, static]`, in any order, also repeated: a body or an owner, and a static of the arena by its row in
    /// [`Arena::statics`](crate::collide::Arena::statics). So the base of a robot may stand on a ground that is a static, however many bodies
    /// there are.
    ///
    /// ```
    /// use hullfield::collide::Exclusions;
    ///
    /// let arm = Exclusions::new(&[[0, 1], [1, 2]])?.with_statics(&[[0, 0]]);
    /// assert!(arm.contains_static(0, 0) && !arm.contains_static(1, 0) && !arm.contains(0, 0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    #[must_use]
    pub fn with_statics(mut self, pairs: &[[u32; 2]]) -> Self {
        let mut sorted = [&self.statics, pairs].concat();
        sort_pairs(&mut sorted);
        sorted.dedup();
        self.statics = sorted.into();
        self
    }

    /// Whether the pair of these bodies is excluded, in either order.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.pairs.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    /// Whether the pair of this body or owner and this static is excluded by [`with_statics`](Self::with_statics).
    pub fn contains_static(&self, id: u32, index: u32) -> bool {
        self.statics.binary_search(&[id, index]).is_ok()
    }

    /// The pairs, each with the lower id first, sorted, none twice.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The pairs `[id, static]` of [`with_statics`](Self::with_statics), sorted, none twice.
    pub fn statics(&self) -> &[[u32; 2]] {
        &self.statics
    }

    /// Whether no pair is excluded.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.statics.is_empty()
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
        let more = exclusions.clone().with_statics(&[[9, 1], [3, 0], [9, 1]]).with_statics(&[[3, 1]]);
        assert_eq!((more.statics(), more.pairs()), (&[[3, 0], [3, 1], [9, 1]][..], exclusions.pairs()));
        assert!(more.contains_static(3, 1) && !more.contains_static(1, 3) && !more.contains(3, 1));
        assert!(!Exclusions::default().with_statics(&[[0, 0]]).is_empty());
    }

    #[test]
    fn a_body_excluded_from_itself_is_an_error() {
        let error = Exclusions::new(&[[0, 1], [3, 3]]).unwrap_err();
        assert!(matches!(error, Error::Invalid { at: Location::Pair(1), .. }), "{error}");
    }
}
