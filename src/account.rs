//! Limits, counters, and the free memory of the host.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the engine has created and submitted so far. A query that needs no more memory than earlier ones creates nothing: it only adds
/// to `submissions`, `dispatches`, `copies`, `uploaded_bytes` and `read_back_bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Counters {
    /// Device buffers created since the engine started.
    pub buffers_created: u64,
    /// Bytes of device buffers and staging that exist now, those waiting in a pool included.
    pub buffer_bytes: u64,
    /// Staging buffers created since the engine started, for uploads and readbacks.
    pub staging_created: u64,
    /// Compute pipelines built since the engine started.
    pub pipelines_built: u64,
    /// Submissions to the device's queue since the engine started.
    pub submissions: u64,
    /// Dispatches of kernels encoded since the engine started.
    pub dispatches: u64,
    /// Copies and clears of device buffers encoded since the engine started, without uploads and readbacks.
    pub copies: u64,
    /// Bytes that went from the host to the device since the engine started: bodies, pairs, parameters of kernels.
    pub uploaded_bytes: u64,
    /// Bytes that came back from the device since the engine started.
    pub read_back_bytes: u64,
}

/// The result of building pipelines before they are needed: see [`Arena::prepare`](crate::collide::Arena::prepare) and
/// [`Flow::prepare`](crate::flow::Flow::prepare).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Prepared {
    /// Pipelines that the named queries need; 0 on the CPU engine.
    pub pipeline_count: usize,
    /// Milliseconds from the call until all of them were built, those that another call was building included.
    pub compile_ms: f64,
}

/// Bytes in use against the limit, and the counters; shared by an engine and all that it allocates.
#[derive(Debug)]
pub(crate) struct Account {
    /// Most bytes of buffers; `u64::MAX` without a limit.
    pub(crate) limit_bytes: u64,
    /// Most bytes of the host's memory for the rows of one answer; `u64::MAX` without a limit.
    pub(crate) answer_limit_bytes: u64,
    pub(crate) buffer_bytes: AtomicU64,
    pub(crate) buffers_created: AtomicU64,
    pub(crate) staging_created: AtomicU64,
    pub(crate) pipelines_built: AtomicU64,
    pub(crate) submissions: AtomicU64,
    pub(crate) dispatches: AtomicU64,
    pub(crate) copies: AtomicU64,
    pub(crate) uploaded_bytes: AtomicU64,
    pub(crate) read_back_bytes: AtomicU64,
}

impl Account {
    /// Nothing in use yet.
    pub(crate) fn new(memory_limit: Option<u64>, answer_limit: Option<u64>) -> Self {
        Self {
            limit_bytes: memory_limit.unwrap_or(u64::MAX),
            answer_limit_bytes: answer_limit.unwrap_or(u64::MAX),
            buffer_bytes: AtomicU64::new(0),
            buffers_created: AtomicU64::new(0),
            staging_created: AtomicU64::new(0),
            pipelines_built: AtomicU64::new(0),
            submissions: AtomicU64::new(0),
            dispatches: AtomicU64::new(0),
            copies: AtomicU64::new(0),
            uploaded_bytes: AtomicU64::new(0),
            read_back_bytes: AtomicU64::new(0),
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            buffers_created: self.buffers_created.load(Ordering::Relaxed),
            buffer_bytes: self.buffer_bytes.load(Ordering::Relaxed),
            staging_created: self.staging_created.load(Ordering::Relaxed),
            pipelines_built: self.pipelines_built.load(Ordering::Relaxed),
            submissions: self.submissions.load(Ordering::Relaxed),
            dispatches: self.dispatches.load(Ordering::Relaxed),
            copies: self.copies.load(Ordering::Relaxed),
            uploaded_bytes: self.uploaded_bytes.load(Ordering::Relaxed),
            read_back_bytes: self.read_back_bytes.load(Ordering::Relaxed),
        }
    }

    /// Counts `bytes` as used. Where they would pass the limit it counts nothing and returns false.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit_bytes);
        self.buffer_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    pub(crate) fn give(&self, bytes: u64) {
        self.buffer_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes of free memory of the host; `u64::MAX` where the system doesn't say.
pub(crate) fn available_bytes() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
        let field = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
        let of_host = read("/proc/meminfo")
            .and_then(|text| text.lines().find(|line| line.starts_with("MemAvailable:")).and_then(field))
            .map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1024));
        let group = "/sys/fs/cgroup/memory";
        let of_group = match (number(&format!("{group}.max")), number(&format!("{group}.current"))) {
            (Some(most), Some(held)) => most.saturating_sub(held),
            _ => u64::MAX,
        };
        of_host.min(of_group)
    }
    // A module of WebAssembly has at most 4 GiB of memory. It can't tell how much of that is free, so this is an upper bound.
    #[cfg(target_arch = "wasm32")]
    {
        1 << 32
    }
    #[cfg(not(any(target_os = "linux", target_arch = "wasm32")))]
    {
        u64::MAX
    }
}
