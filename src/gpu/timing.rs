//! How long the kernels of a frame took, where the device has timestamps.

use std::sync::Mutex;

use web_time::Instant;

use crate::lock::lock;

/// The free timers.
#[derive(Debug)]
pub(crate) struct TimerPool {
    free: Mutex<Vec<Timer>>,
    supported: bool,
    period_ns: f64,
}

/// Two timestamps, before the first kernel and after the last, and the buffer that they are resolved into.
#[derive(Debug)]
pub(crate) struct Timer {
    pub(crate) queries: wgpu::QuerySet,
    pub(crate) resolved: wgpu::Buffer,
}

/// Bytes of the two resolved timestamps.
pub(crate) const TIMER_BYTES: u64 = 16;

impl TimerPool {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        Self {
            free: Mutex::default(),
            supported: device.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            period_ns: f64::from(queue.get_timestamp_period()),
        }
    }

    /// A timer, or none where the device has no timestamps.
    pub(crate) fn take(&self, device: &wgpu::Device) -> Option<Timer> {
        if !self.supported {
            return None;
        }
        if let Some(timer) = lock(&self.free).pop() {
            return Some(timer);
        }
        Some(Timer {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("hullfield.timer"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("hullfield.timer"),
                size: TIMER_BYTES,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        })
    }

    pub(crate) fn give(&self, timer: Timer) {
        lock(&self.free).push(timer);
    }

    /// Milliseconds between two timestamps; none where the clock went backwards.
    pub(crate) fn milliseconds(&self, begin: u64, end: u64) -> Option<f64> {
        Some(end.checked_sub(begin)? as f64 * self.period_ns * 1e-6)
    }
}

/// Milliseconds since `start`.
pub(crate) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Where the time of one frame went, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct FrameTimes {
    /// Host: from the frame's begin to its end (laying out, uploading to staging, encoding), building pipelines apart.
    pub(crate) encode_ms: f64,
    /// Host: building pipelines, or waiting for those that are being built.
    pub(crate) compile_ms: f64,
    /// Host: from the submission until the results were in host memory. The wait in the submission queue is not part of it.
    pub(crate) round_trip_ms: f64,
    /// Device: from the start of the first kernel to the end of the last; none where the device has no timestamps.
    pub(crate) kernels_ms: Option<f64>,
}
