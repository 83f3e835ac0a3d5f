//! One device with everything that outlives a frame: pools, pipelines, faults, the thread that waits for it.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use web_time::Instant;

use super::{buffer::Pool, kernel::Kernel, kernel::Pipeline, line::Line, timing::TimerPool};
use crate::error::{Error, Result};

/// WebGPU's default for the groups of one dimension of a dispatch; larger dispatches become two-dimensional.
pub(crate) const MAX_GROUPS: u32 = 65_535;

/// Locks a mutex; a panic under it elsewhere leaves plain data behind, which stays usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What the engine has made so far: below the high-water mark of earlier frames only `submissions` grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
}

/// Bytes in use against the limit, and the counters; shared by an engine and all that it allocates.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) limit_bytes: AtomicU64,
    /// Of the host's memory, for the rows of one answer.
    pub(crate) answer_limit_bytes: AtomicU64,
    pub(crate) buffer_bytes: AtomicU64,
    pub(crate) buffers_created: AtomicU64,
    pub(crate) staging_created: AtomicU64,
    pub(crate) pipelines_built: AtomicU64,
    pub(crate) submissions: AtomicU64,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            limit_bytes: AtomicU64::new(u64::MAX),
            answer_limit_bytes: AtomicU64::new(u64::MAX),
            buffer_bytes: AtomicU64::new(0),
            buffers_created: AtomicU64::new(0),
            staging_created: AtomicU64::new(0),
            pipelines_built: AtomicU64::new(0),
            submissions: AtomicU64::new(0),
        }
    }
}

impl Account {
    pub(crate) fn counters(&self) -> Counters {
        Counters {
            buffers_created: self.buffers_created.load(Ordering::Relaxed),
            buffer_bytes: self.buffer_bytes.load(Ordering::Relaxed),
            staging_created: self.staging_created.load(Ordering::Relaxed),
            pipelines_built: self.pipelines_built.load(Ordering::Relaxed),
            submissions: self.submissions.load(Ordering::Relaxed),
        }
    }

    /// Takes `bytes` out of what the limit leaves; false, and nothing taken, where they do not fit.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let limit = self.limit_bytes.load(Ordering::Relaxed);
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= limit);
        self.buffer_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    pub(crate) fn give(&self, bytes: u64) {
        self.buffer_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What went wrong outside of any call: read by the next call, or by the pending that it spoils.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    lost: Mutex<Option<String>>,
    uncaptured: Mutex<Option<Error>>,
}

impl Faults {
    /// Keeps an error for the next call. A lost device says so by itself.
    pub(crate) fn note(&self, error: Error) {
        if !matches!(error, Error::DeviceLost { .. }) {
            lock(&self.uncaptured).get_or_insert(error);
        }
    }
}

/// A pipeline once it is built; locked while it is being built.
type Built = Arc<Mutex<Option<Arc<Pipeline>>>>;

/// A device and all that goes with it. Cloning it clones a handle.
#[derive(Clone)]
pub(crate) struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: wgpu::Limits,
    device_type: wgpu::DeviceType,
    binding_limit: AtomicU64,
    account: Arc<Account>,
    faults: Arc<Faults>,
    pool: Arc<Pool>,
    pipelines: Mutex<HashMap<&'static str, Built>>,
    timers: TimerPool,
    line: Arc<Line>,
    /// Whether the caller submits work of its own to the queue.
    is_shared: AtomicBool,
    #[cfg(not(target_arch = "wasm32"))]
    waiter: super::waiter::Waiter,
}

/// Whether the device came from the caller, whose error and loss callbacks are then left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Own,
    Given,
}

/// The limits that every kernel keeps to (WebGPU's defaults), by name, as a device must at least have them.
fn required(limits: &wgpu::Limits) -> [(&'static str, u64, u64); 9] {
    let default = wgpu::Limits::default();
    let row = |name, of: fn(&wgpu::Limits) -> u64| (name, of(limits), of(&default));
    [
        row("maxStorageBuffersPerShaderStage", |l| l.max_storage_buffers_per_shader_stage.into()),
        row("maxUniformBuffersPerShaderStage", |l| l.max_uniform_buffers_per_shader_stage.into()),
        row("maxStorageBufferBindingSize", |l| l.max_storage_buffer_binding_size),
        row("maxBufferSize", |l| l.max_buffer_size),
        row("maxComputeWorkgroupStorageSize", |l| l.max_compute_workgroup_storage_size.into()),
        row("maxComputeInvocationsPerWorkgroup", |l| l.max_compute_invocations_per_workgroup.into()),
        row("maxComputeWorkgroupSizeX", |l| l.max_compute_workgroup_size_x.into()),
        row("maxComputeWorkgroupsPerDimension", |l| l.max_compute_workgroups_per_dimension.into()),
        row("maxUniformBufferBindingSize", |l| l.max_uniform_buffer_binding_size),
    ]
}

/// The first of those limits that is too small, as an error.
pub(crate) fn check_limits(limits: &wgpu::Limits) -> Result<()> {
    match required(limits).into_iter().find(|&(_, actual, required)| actual < required) {
        Some((limit, actual, required)) => Err(Error::DeviceLimit { limit, actual, required }),
        None => Ok(()),
    }
}

impl Context {
    pub(crate) fn new(
        device: wgpu::Device,
        queue: wgpu::Queue,
        account: Arc<Account>,
        origin: Origin,
    ) -> Result<Self> {
        let limits = device.limits();
        check_limits(&limits)?;
        let faults = Arc::new(Faults::default());
        if origin == Origin::Own {
            let seen = Arc::clone(&faults);
            device.on_uncaptured_error(Arc::new(move |error| {
                seen.note(from_wgpu(&error));
            }));
            let seen = Arc::clone(&faults);
            device.set_device_lost_callback(move |reason, message| {
                lock(&seen.lost).get_or_insert_with(|| describe_loss(reason, &message));
            });
        }
        let shared = Shared {
            #[cfg(not(target_arch = "wasm32"))]
            waiter: super::waiter::Waiter::new()?,
            timers: TimerPool::new(&device, &queue),
            line: Line::new(device.adapter_info().device_type == wgpu::DeviceType::Cpu),
            is_shared: AtomicBool::new(origin == Origin::Given),
            device_type: device.adapter_info().device_type,
            binding_limit: AtomicU64::new(limits.max_storage_buffer_binding_size),
            pool: Arc::new(Pool::new(Arc::clone(&account))),
            pipelines: Mutex::default(),
            device,
            queue,
            limits,
            account,
            faults,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether both are handles of one device.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// Whether the adapter is a software rasteriser.
    pub(crate) fn is_software(&self) -> bool {
        self.shared.device_type == wgpu::DeviceType::Cpu
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.shared.queue
    }

    pub(crate) fn limits(&self) -> &wgpu::Limits {
        &self.shared.limits
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.shared.account
    }

    pub(crate) fn timers(&self) -> &TimerPool {
        &self.shared.timers
    }

    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.shared.line
    }

    pub(super) fn faults(&self) -> &Arc<Faults> {
        &self.shared.faults
    }

    /// From now on the caller may submit work of its own.
    pub(crate) fn share(&self) {
        self.shared.is_shared.store(true, Ordering::Relaxed);
    }

    /// Where the caller submits work of its own that may read what was [sent](super::Frame::send): submits all frames that
    /// wait, so that the queue's order is that of the calls.
    pub(crate) fn flush_for_caller(&self) {
        if self.shared.is_shared.load(Ordering::Relaxed) {
            self.shared.line.flush();
        }
    }

    /// Waits for what is in flight, as the last engine goes: the device is then taken down by whoever drops the last
    /// handle, not by the thread that waits for frames. In a browser nothing may wait, and nothing need.
    pub(crate) fn close(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        self.shared.waiter.drain();
    }

    /// Whether the last engine is gone.
    #[cfg(test)]
    pub(crate) fn is_closing(&self) -> bool {
        self.shared.waiter.is_closing()
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn waiter(&self) -> &super::waiter::Waiter {
        &self.shared.waiter
    }

    /// Most bytes that one storage binding may span: the device's limit, or a smaller one set for tests.
    pub(crate) fn binding_limit(&self) -> u64 {
        self.shared.binding_limit.load(Ordering::Relaxed)
    }

    /// Sets a smaller limit, so that a test can make small data span several bindings. Rounded down to 256 bytes.
    pub(crate) fn set_binding_limit(&self, bytes: u64) {
        let bytes = (bytes / 256 * 256).clamp(256, self.shared.limits.max_storage_buffer_binding_size);
        self.shared.binding_limit.store(bytes, Ordering::Relaxed);
    }

    /// How much work one dispatch may do, in steps (one step: a vertex or a pair of boxes looked at, some 30
    /// operations and one read), so that it stays well under 100 ms on the slowest adapter of its kind.
    ///
    /// Drivers reset a device whose dispatch runs for seconds; the figures are guesses on the safe side.
    pub(crate) fn steps_per_dispatch(&self) -> u64 {
        match self.shared.device_type {
            wgpu::DeviceType::DiscreteGpu => 1_000_000_000,
            wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::VirtualGpu => 200_000_000,
            wgpu::DeviceType::Other => 100_000_000,
            wgpu::DeviceType::Cpu => 10_000_000,
        }
    }

    /// Cuts `items`, each of `steps_per_item` steps, into ranges that one dispatch may do.
    ///
    /// `granule`: pieces are multiples of this many items (the last one apart).
    pub(crate) fn pieces(
        &self,
        items: u64,
        steps_per_item: u64,
        granule: u64,
    ) -> impl Iterator<Item = Range<u64>> + use<> {
        let granule = granule.max(1);
        let piece = (self.steps_per_dispatch() / steps_per_item.max(1) / granule).max(1) * granule;
        (0..items.div_ceil(piece)).map(move |i| i * piece..((i + 1) * piece).min(items))
    }

    /// The pipeline of a kernel, built at its first use, and how many milliseconds that took here: of one that another thread
    /// is building, the wait for it.
    pub(crate) fn pipeline(&self, kernel: &'static Kernel) -> Result<(Arc<Pipeline>, f64)> {
        let place = Arc::clone(lock(&self.shared.pipelines).entry(kernel.label).or_default());
        if let Ok(built) = place.try_lock() {
            if let Some(pipeline) = &*built {
                return Ok((Arc::clone(pipeline), 0.0));
            }
        }
        let begin = Instant::now();
        let mut built = lock(&place);
        let pipeline = match &*built {
            Some(pipeline) => Arc::clone(pipeline),
            None => {
                let pipeline = Arc::new(self.scoped(|| Pipeline::build(&self.shared.device, kernel))?);
                self.shared.account.pipelines_built.fetch_add(1, Ordering::Relaxed);
                *built = Some(Arc::clone(&pipeline));
                pipeline
            }
        };
        Ok((pipeline, begin.elapsed().as_secs_f64() * 1e3))
    }

    /// Fails if the device is lost, or with an error that nobody was there to take.
    pub(crate) fn check(&self) -> Result<()> {
        let faults = &self.shared.faults;
        if let Some(message) = lock(&faults.lost).clone() {
            return Err(Error::DeviceLost { message });
        }
        match lock(&faults.uncaptured).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs `work` on the device and returns what it made, or the error that the device raised meanwhile.
    ///
    /// Natively by error scopes, which belong to this thread and cost two locks each; in a browser, where a scope
    /// answers later, an error goes to the handler instead and comes out of the next call.
    pub(crate) fn scoped<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        self.check()?;
        self.guarded(work)
    }

    /// The same, on a device that may be lost already and without asking for earlier errors: for cleaning up.
    pub(crate) fn guarded<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
            let guards =
                [Internal, OutOfMemory, Validation].map(|filter| self.shared.device.push_error_scope(filter));
            let made = work();
            let mut error = None;
            for guard in guards.into_iter().rev() {
                error = error.or(pollster::block_on(guard.pop()));
            }
            match error {
                Some(error) => Err(self.diagnose(from_wgpu(&error))),
                None => Ok(made),
            }
        }
        #[cfg(target_arch = "wasm32")]
        Ok(work())
    }

    /// What really stands behind an error: on a lost device everything fails, each in its own way.
    pub(crate) fn diagnose(&self, error: Error) -> Error {
        self.probe().err().unwrap_or(error)
    }

    /// Asks the device whether it is still there.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if not.
    pub(crate) fn probe(&self) -> Result<()> {
        let known = lock(&self.shared.faults.lost).clone();
        match known {
            Some(message) => Err(Error::DeviceLost { message }),
            None if self.is_alive() => Ok(()),
            None => {
                self.set_lost("it takes no more work".to_owned());
                self.probe()
            }
        }
    }

    /// Asks the device for a mapped buffer, which a lost one cannot give. A lost device raises no error of its own,
    /// and the loss callback of a given device is the caller's.
    #[cfg(not(target_arch = "wasm32"))]
    fn is_alive(&self) -> bool {
        let guard = self.shared.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let buffer = self.shared.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("hullfield.probe"),
            size: 16,
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::MAP_WRITE,
            mapped_at_creation: true,
        });
        let alive = buffer.get_mapped_range_mut(..).is_ok();
        drop(buffer);
        drop(guard);
        alive
    }

    #[cfg(target_arch = "wasm32")]
    fn is_alive(&self) -> bool {
        true
    }

    /// Marks the device as lost; the first message stays.
    pub(crate) fn set_lost(&self, message: String) {
        lock(&self.shared.faults.lost).get_or_insert(message);
    }
}

fn describe_loss(reason: wgpu::DeviceLostReason, message: &str) -> String {
    match (reason, message) {
        (wgpu::DeviceLostReason::Destroyed, "") => "it was destroyed".to_owned(),
        (_, "") => "the driver gave no reason".to_owned(),
        (_, message) => message.to_owned(),
    }
}

/// wgpu's error in our words.
fn from_wgpu(error: &wgpu::Error) -> Error {
    use std::error::Error as _;
    let message = match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { message },
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => Error::Validation { message },
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Context")
            .field("device_type", &self.shared.device_type)
            .field("binding_limit", &self.binding_limit())
            .field("account", &self.shared.account)
            .finish_non_exhaustive()
    }
}
