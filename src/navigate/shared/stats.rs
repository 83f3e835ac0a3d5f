//! What a batch of paths took.

use web_time::Instant;

/// What a batch of paths took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// How many of the queries have a path.
    pub reached_count: usize,
    /// From the call to its answer, in milliseconds, on all cores.
    pub total_ms: f64,
}

impl Stats {
    /// Of a batch that began at a time and ends now.
    pub(crate) fn since(begun: Instant, reached_count: usize) -> Self {
        Self { reached_count, total_ms: begun.elapsed().as_secs_f64() * 1e3 }
    }
}
