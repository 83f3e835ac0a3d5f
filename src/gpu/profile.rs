//! The time of every dispatch on its own, by the device's timestamps: for tools. It is off unless a tool asks for it, because each
//! dispatch then has a pass of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// The most timestamps of one query set.
const SET_LENGTH: u32 = wgpu::QUERY_SET_MAX_QUERIES;

/// What dispatches took, by kernel.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "the feature inspect reads it")]
pub(crate) struct Profile {
    /// Dispatches of each kernel, and their milliseconds.
    pub(crate) kernels: BTreeMap<&'static str, (u64, f64)>,
    /// Frames with kernels.
    pub(crate) frame_count: u64,
    /// Milliseconds from the first kernel of a frame to the end of its last, of all frames.
    pub(crate) span_ms: f64,
}

/// Collects the times of the frames that run while it is on.
#[derive(Debug)]
pub(crate) struct Profiler {
    is_on: AtomicBool,
    found: Mutex<Profile>,
    /// None where the device has no timestamps.
    period_ns: Option<f64>,
}

impl Profiler {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let is_supported = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let period_ns = is_supported.then(|| f64::from(queue.get_timestamp_period()));
        Self { is_on: AtomicBool::new(false), found: Mutex::default(), period_ns }
    }

    /// Turns it on or off for frames that begin later. Returns whether the device has timestamps.
    #[allow(dead_code, reason = "the feature inspect calls it")]
    pub(crate) fn turn(&self, is_on: bool) -> bool {
        self.is_on.store(is_on, Ordering::Relaxed);
        self.period_ns.is_some()
    }

    /// What was collected since the last call.
    #[allow(dead_code, reason = "the feature inspect calls it")]
    pub(crate) fn take(&self) -> Profile {
        std::mem::take(&mut *lock(&self.found))
    }

    /// The timestamps of a new frame; none where it is off.
    pub(crate) fn stamps(self: &Arc<Self>) -> Option<FrameStamps> {
        let is_on = self.is_on.load(Ordering::Relaxed) && self.period_ns.is_some();
        is_on.then(|| FrameStamps { profiler: Arc::clone(self), sets: Vec::new(), labels: Vec::new() })
    }

    /// Adds the begin and the end of each dispatch of a frame, in ticks.
    fn add(&self, labels: &[&'static str], ticks: &[u64]) {
        let ms = self.period_ns.unwrap_or(0.0) * 1e-6;
        let mut found = lock(&self.found);
        for (label, stamps) in labels.iter().zip(ticks.chunks_exact(2)) {
            let (count, sum) = found.kernels.entry(label).or_default();
            *count += 1;
            *sum += stamps[1].saturating_sub(stamps[0]) as f64 * ms;
        }
        if let (Some(first), Some(last)) = (ticks.first(), ticks.last()) {
            found.frame_count += 1;
            found.span_ms += last.saturating_sub(*first) as f64 * ms;
        }
    }
}

/// Two timestamps for each dispatch of a frame.
#[derive(Debug)]
pub(crate) struct FrameStamps {
    profiler: Arc<Profiler>,
    sets: Vec<wgpu::QuerySet>,
    /// The kernel of each dispatch.
    labels: Vec<&'static str>,
}

impl FrameStamps {
    /// The timestamps of the next dispatch.
    pub(crate) fn next(
        &mut self,
        device: &wgpu::Device,
        label: &'static str,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let at = 2 * self.labels.len() as u32 % SET_LENGTH;
        if at == 0 {
            self.sets.push(device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("hullfield.profile"),
                ty: wgpu::QueryType::Timestamp,
                count: SET_LENGTH,
            }));
        }
        self.labels.push(label);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: self.sets.last()?,
            beginning_of_pass_write_index: Some(at),
            end_of_pass_write_index: Some(at + 1),
        })
    }

    /// Encodes the readback, after all dispatches. The profiler has the times once the submission is done and polled.
    pub(crate) fn read_back(self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder) {
        let Self { profiler, sets, labels } = self;
        if labels.is_empty() {
            return;
        }
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("hullfield.profile"),
                size: 16 * labels.len() as u64,
                usage,
                mapped_at_creation: false,
            })
        };
        let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let mut start = 0;
        for set in &sets {
            let count = (2 * labels.len() as u32 - start).min(SET_LENGTH);
            encoder.resolve_query_set(set, 0..count, &resolved, u64::from(start) * 8);
            start += count;
        }
        encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, None);
        let mapped = staging.clone();
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |result| {
            if result.is_err() {
                return;
            }
            if let Ok(view) = mapped.get_mapped_range(..) {
                profiler.add(&labels, &bytemuck::pod_collect_to_vec::<u8, u64>(&view));
            }
            mapped.unmap();
        });
    }
}
