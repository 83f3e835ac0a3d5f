//! The statistics of a batch of paths.

use web_time::Instant;

/// The statistics of a batch of paths.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// How many of the queries have a path.
    pub reached_count: usize,
    /// Wall-clock time from the call to its answer, in milliseconds.
    pub total_ms: f64,
}

impl Stats {
    /// The statistics of a batch that began at `begun` and ends now.
    pub(crate) fn since(begun: Instant, reached_count: usize) -> Self {
        Self { reached_count, total_ms: begun.elapsed().as_secs_f64() * 1e3 }
    }
}
