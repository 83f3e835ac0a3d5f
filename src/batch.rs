//! The answer of a batch of queries.

/// The rows of a batch of queries, and its statistics. Each module has an alias of it for its statistics.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Batch<R, S> {
    /// The rows, in the order that the call documents.
    pub rows: Vec<R>,
    /// Statistics of the call: counts, and times in milliseconds.
    pub stats: S,
    /// Which query of a scene it is the answer of; 0 where it is of none.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) query: u64,
}

impl<R, S> Batch<R, S> {
    /// Puts rows and statistics together.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn new(rows: Vec<R>, stats: S) -> Self {
        Self { rows, stats, query: 0 }
    }
}

impl<R, S> IntoIterator for Batch<R, S> {
    type Item = R;
    type IntoIter = std::vec::IntoIter<R>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<'a, R, S> IntoIterator for &'a Batch<R, S> {
    type Item = &'a R;
    type IntoIter = std::slice::Iter<'a, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}
