//! What a call took.

use web_time::Instant;

/// The rows of a call that answers many questions, and what it took.
pub type Batch<R> = crate::batch::Batch<R, Stats>;

/// What a field, or a call that answers many questions, took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// Of a field: the cells from which a goal is reached, goals included; of several fields their sum. Of paths and distances:
    /// the starts from which a goal is reached. 0 for next cells and directions.
    pub reached_count: usize,
    /// Of a field: the different distances that there are, 0 included, as far as the engine tells them apart; of grids where all
    /// steps are 1 the largest distance and one. Of several fields the most. 0 for what reads a field.
    pub levels: u32,
    /// Of a field: rounds that the engine took, of several fields the most. On the CPU engine as many as levels. On a GPU the
    /// number may differ from run to run for fields whose steps are not all 1 or that have costs; the field does not. 0 for what
    /// reads a field.
    pub rounds: u32,
    /// Milliseconds from the call to the answer. A field of several that were solved together has the time of all.
    pub total_ms: f64,
    /// Milliseconds that the device's kernels took, by its own clock; `None` on the CPU engine and where the device has no
    /// timestamps. A field of several that were solved together has the time of all.
    pub kernels_ms: Option<f64>,
    /// Milliseconds that building pipelines took, where this call was the first to need them, or waiting for pipelines that were
    /// being built: see [`Flow::prepare`](crate::flow::Flow::prepare). A part of `total_ms`; 0 on the CPU engine.
    pub compile_ms: f64,
}

/// Takes the times of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    begin: Instant,
    kernels_ms: Option<f64>,
    compile_ms: f64,
}

impl Stopwatch {
    /// For a call that works on the host.
    pub(crate) fn host() -> Self {
        Self { begin: Instant::now(), kernels_ms: None, compile_ms: 0.0 }
    }

    /// For a call that works on a device.
    pub(crate) fn device() -> Self {
        Self { kernels_ms: Some(0.0), ..Self::host() }
    }

    /// Adds what a frame took on the device.
    pub(crate) fn add(&mut self, kernels_ms: Option<f64>, compile_ms: f64) {
        self.kernels_ms = self.kernels_ms.zip(kernels_ms).map(|(sum, more)| sum + more);
        self.compile_ms += compile_ms;
    }

    /// The times up to now, with this count of starts from which a goal is reached.
    pub(crate) fn stop(&self, reached_count: usize) -> Stats {
        let Self { begin, kernels_ms, compile_ms } = *self;
        let total_ms = begin.elapsed().as_secs_f64() * 1e3;
        Stats { reached_count, total_ms, kernels_ms, compile_ms, ..Stats::default() }
    }
}
