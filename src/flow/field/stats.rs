//! Statistics and times of a call.

use web_time::Instant;

/// The results of a call for many fields, paths or agents, with the statistics of the call.
pub type Batch<R> = crate::batch::Batch<R, Stats>;

/// Statistics and times of a field, or of a call for many fields, paths or agents.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// Of a field: the number of cells from which a goal is reached, goals included. Of several fields: the sum. Of
    /// paths and distances: the number of starts from which a goal is reached. Of next cells and directions: 0.
    pub reached_count: usize,
    /// Of a field: the largest distance divided by the length of a step along an axis, plus 1. If all steps are 1 this
    /// is the number of levels of the wave. Of several fields: the largest. Of calls that only read a field: 0.
    pub levels: u32,
    /// Of a field: the number of rounds that the engine took. Of several fields: the largest. On the CPU engine it
    /// equals `levels`. On a GPU it may differ from run to run unless all steps are 1 and there are no costs, though
    /// the field does not. Of calls that only read a field: 0.
    pub rounds: u32,
    /// Milliseconds from the call to the answer. Fields that were solved together all have the time of the call.
    pub total_ms: f64,
    /// Milliseconds that the kernels took by the device's clock. `None` on the CPU engine and on devices without
    /// timestamps. Fields that were solved together all have the time of the call.
    pub kernels_ms: Option<f64>,
    /// Milliseconds spent on building pipelines that this call was the first to need, or on waiting for pipelines that
    /// were being built: see [`Flow::prepare`](crate::flow::Flow::prepare). A part of `total_ms`; 0 on the CPU engine.
    pub compile_ms: f64,
}

/// Measures the times of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTimer {
    start: Instant,
    kernels_ms: Option<f64>,
    compile_ms: f64,
}

impl CallTimer {
    /// Starts the time of a call that runs on the host.
    pub(crate) fn host() -> Self {
        Self { start: Instant::now(), kernels_ms: None, compile_ms: 0.0 }
    }

    /// Starts the time of a call that runs on a device.
    pub(crate) fn device() -> Self {
        Self { kernels_ms: Some(0.0), ..Self::host() }
    }

    /// Adds the times of a frame that has run on the device.
    pub(crate) fn add_frame(&mut self, kernels_ms: Option<f64>, compile_ms: f64) {
        self.kernels_ms = self.kernels_ms.zip(kernels_ms).map(|(sum, frame)| sum + frame);
        self.compile_ms += compile_ms;
    }

    /// The times so far, with a count of starts from which a goal is reached.
    pub(crate) fn stats(&self, reached_count: usize) -> Stats {
        let Self { start, kernels_ms, compile_ms } = *self;
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        Stats { reached_count, total_ms, kernels_ms, compile_ms, ..Stats::default() }
    }
}
