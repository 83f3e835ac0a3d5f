//! The device, its limits and its errors.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::account::Account;
use crate::error::{Error, Location, Result};
use crate::lock::lock;

/// WebGPU's default for the groups of one dimension of a dispatch; larger dispatches become two-dimensional.
pub(crate) const MAX_GROUPS: u32 = 65_535;

/// Errors that the device raised outside of a call. The next call returns them, or the pending whose work they spoil.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    lost: Mutex<Option<String>>,
    uncaptured: Mutex<Option<Error>>,
    /// Why the device must not be used.
    refused: Mutex<Option<Error>>,
}

impl Faults {
    /// Keeps an error for the next call. The loss of the device is kept apart.
    pub(crate) fn note(&self, error: Error) {
        if !matches!(error, Error::DeviceLost { .. }) {
            lock(&self.uncaptured).get_or_insert(error);
        }
    }

    /// Makes this the error of every later call, and of every answer that is not out yet.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn refuse(&self, error: Error) {
        lock(&self.refused).get_or_insert(error);
    }
}

/// Who made the device. The callbacks of a device of the caller are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Own,
    Given,
}

/// Each limit that kernels rely on: its name, the device's value, and the value required, which is WebGPU's default.
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
        Some((limit, actual, required)) => {
            let allowed = format!(
                "the kernels need {required} or more: give an adapter or a device with WebGPU's default limits"
            );
            Err(Error::value(Location::Argument, limit, actual, allowed))
        }
        None => Ok(()),
    }
}

/// The steps of a dispatch on an adapter of this kind: see [`Device::steps_per_dispatch`].
fn steps_of(kind: wgpu::DeviceType) -> u64 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 1_000_000_000,
        wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::VirtualGpu => 200_000_000,
        wgpu::DeviceType::Other => 100_000_000,
        wgpu::DeviceType::Cpu => 10_000_000,
    }
}

/// A device and its queue, with the limits that kernels keep to.
pub(crate) struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: wgpu::Limits,
    info: wgpu::AdapterInfo,
    binding_limit: AtomicU64,
    steps_per_dispatch: AtomicU64,
    account: Arc<Account>,
    faults: Arc<Faults>,
}

impl Device {
    /// Wraps a device.
    ///
    /// # Errors
    /// [`Error::Value`] where it has less than kernels need.
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
        let info = device.adapter_info();
        Ok(Self {
            binding_limit: AtomicU64::new(limits.max_storage_buffer_binding_size),
            steps_per_dispatch: AtomicU64::new(steps_of(info.device_type)),
            info,
            device,
            queue,
            limits,
            account,
            faults,
        })
    }

    /// The adapter of the device.
    pub(crate) fn info(&self) -> &wgpu::AdapterInfo {
        &self.info
    }

    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Whether the adapter is a software rasteriser.
    pub(crate) fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    pub(crate) fn limits(&self) -> &wgpu::Limits {
        &self.limits
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    pub(crate) fn faults(&self) -> &Arc<Faults> {
        &self.faults
    }

    /// The most bytes of one storage binding: the device's limit, or a smaller one set for tests.
    pub(crate) fn binding_limit(&self) -> u64 {
        self.binding_limit.load(Ordering::Relaxed)
    }

    /// Sets a smaller limit, so that a test can make small data span several bindings. Rounded down to 256 bytes.
    pub(crate) fn set_binding_limit(&self, bytes: u64) {
        let bytes = (bytes / 256 * 256).clamp(256, self.limits.max_storage_buffer_binding_size);
        self.binding_limit.store(bytes, Ordering::Relaxed);
    }

    /// How much work one dispatch may do so that it stays well under 100 ms on the slowest adapter of its kind. The unit is a step:
    /// one vertex or one pair of boxes, some 30 operations and one read.
    ///
    /// Drivers reset a device whose dispatch runs for seconds. The figures are guesses on the safe side.
    pub(crate) fn steps_per_dispatch(&self) -> u64 {
        self.steps_per_dispatch.load(Ordering::Relaxed)
    }

    /// Sets the steps of a dispatch to those of a discrete GPU, so that a test can count its dispatches on any adapter.
    pub(crate) fn set_discrete_steps(&self) {
        self.steps_per_dispatch.store(steps_of(wgpu::DeviceType::DiscreteGpu), Ordering::Relaxed);
    }

    /// Cuts `items`, each of `steps_per_item` steps, into ranges, one for each dispatch.
    ///
    /// `granule`: the lengths of all ranges but the last are multiples of it.
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

    /// Fails if the device is lost or refused, or with an error that it raised outside of a call.
    pub(crate) fn check(&self) -> Result<()> {
        let faults = &self.faults;
        if let Some(message) = lock(&faults.lost).clone() {
            return Err(Error::DeviceLost { message });
        }
        if let Some(error) = lock(&faults.refused).clone() {
            return Err(error);
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
                [Internal, OutOfMemory, Validation].map(|filter| self.device.push_error_scope(filter));
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
        let known = lock(&self.faults.lost).clone();
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
        let guard = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
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
        lock(&self.faults.lost).get_or_insert(message);
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
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => {
            Error::internal("wgpu", format!("the GPU refused a command: {message}"))
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Device")
            .field("device_type", &self.info.device_type)
            .field("binding_limit", &self.binding_limit())
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}
