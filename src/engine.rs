//! Which machine does the work, and why that one.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use crate::account::Account;
pub use crate::account::Counters;
use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::{Origin, check_limits};

/// What an engine computes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// A GPU, or a software driver that stands in for one.
    Gpu,
    /// The CPU's own threads.
    Cpu,
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
        })
    }
}

/// Where the work is done: a GPU or the CPU. Cloning it clones a handle.
///
/// No call that returns a [`Pending`](crate::Pending) waits for the device; what may take its time all the same is told
/// [there](crate::Pending#when-a-call-blocks).
///
/// Whoever drops the last handle, those inside of arenas and the like included, waits for the work that is in flight on the
/// device (of what nobody awaits any more only for what the device has begun), so that a program may end
/// right after.
///
/// ```
/// let engine = hullfield::Engine::auto()?;
/// println!("{}: {}", engine.backend(), engine.reason());
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    context: Option<Context>,
    info: Option<wgpu::AdapterInfo>,
    reason: String,
    account: Arc<Account>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.close();
        }
    }
}

impl Engine {
    /// A real GPU if there is one (discrete first, then integrated, then virtual), else the CPU.
    ///
    /// It never takes a software rasteriser: the CPU engine is faster. [`reason`](Self::reason) says what was chosen.
    ///
    /// # Errors
    /// None today: without a usable GPU it is the CPU.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn auto() -> Result<Self> {
        pollster::block_on(Self::auto_async())
    }

    /// [`auto`](Self::auto) for callers that may not block.
    ///
    /// # Errors
    /// As there.
    pub async fn auto_async() -> Result<Self> {
        let adapters = found().await;
        let mut refused = Vec::new();
        for adapter in
            adapters.iter().filter(|adapter| rank(&adapter.get_info()).is_some_and(|rank| rank.by_auto))
        {
            match Self::from_adapter(adapter, "the best GPU found").await {
                Ok(engine) => return Ok(engine),
                Err(error) => refused.push(error.to_string()),
            }
        }
        let reason = if !refused.is_empty() {
            format!("the CPU, as no GPU could be used: {}", refused.join("; "))
        } else if adapters.is_empty() {
            "the CPU, as no GPU adapter was found".to_owned()
        } else {
            format!("the CPU, as only software adapters were found: {}", names(&adapters))
        };
        Ok(Self::on_cpu(reason))
    }

    /// The best adapter of any kind, a software rasteriser where there is nothing else.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] where there is none at all, [`Error::NoDevice`] or [`Error::DeviceLimit`] where none
    /// would do.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gpu() -> Result<Self> {
        pollster::block_on(Self::gpu_async())
    }

    /// [`gpu`](Self::gpu) for callers that may not block.
    ///
    /// # Errors
    /// As there.
    pub async fn gpu_async() -> Result<Self> {
        let adapters = found().await;
        let mut first_error = None;
        for adapter in &adapters {
            match Self::from_adapter(adapter, "a GPU was asked for, and this is the best adapter").await {
                Ok(engine) => return Ok(engine),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| Error::NoAdapter {
            reason: format!("looked for {}, found none", backend_names()),
        }))
    }

    /// The CPU: all cores with the feature `threads`, else the calling thread.
    pub fn cpu() -> Self {
        Self::on_cpu("the CPU, as asked".to_owned())
    }

    /// The device of an application that runs wgpu already.
    ///
    /// Its error and device-lost callbacks stay as they are: hullfield catches its own errors in error scopes.
    ///
    /// # Errors
    /// [`Error::DeviceLimit`] where a limit that hullfield's kernels need is below WebGPU's default.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        let account = Arc::new(Account::default());
        let info = device.adapter_info();
        let reason = format!("{}, a device that the caller gave", describe(&info));
        let context = Context::new(device, queue, Arc::clone(&account), Origin::Given)?;
        Ok(Self { shared: Arc::new(Shared { context: Some(context), info: Some(info), reason, account }) })
    }

    fn on_cpu(reason: String) -> Self {
        Self { shared: Arc::new(Shared { context: None, info: None, reason, account: Arc::default() }) }
    }

    async fn from_adapter(adapter: &wgpu::Adapter, why: &str) -> Result<Self> {
        let info = adapter.get_info();
        let available = adapter.limits();
        check_limits(&available)?;
        let required_limits = wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            // Only what kernels use is required: textures and the like may be as small as they come.
            ..wgpu::Limits::default().or_worse_values_from(&available)
        };
        let wanted = wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("hullfield"),
            required_features: adapter.features() & wanted,
            required_limits,
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&descriptor)
            .await
            .map_err(|error| Error::NoDevice { adapter: info.name.clone(), message: error.to_string() })?;
        let account = Arc::new(Account::default());
        let context = Context::new(device, queue, Arc::clone(&account), Origin::Own)?;
        let reason = format!("{}: {why}", describe(&info));
        Ok(Self { shared: Arc::new(Shared { context: Some(context), info: Some(info), reason, account }) })
    }

    /// The same engine with a limit on the memory that it may hold on the device, staging included, in bytes.
    ///
    /// It holds for every clone of this engine. A job past it is [`Error::MemoryLimit`].
    #[must_use]
    pub fn with_memory_limit(self, bytes: u64) -> Self {
        self.shared.account.limit_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// The limit set by [`with_memory_limit`](Self::with_memory_limit), in bytes.
    pub fn memory_limit(&self) -> Option<u64> {
        Some(self.shared.account.limit_bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes != u64::MAX)
    }

    /// The same engine with a limit on the memory of the host that the rows of one answer may take, in bytes, as they are
    /// found; of answers over given pairs, whose size is known before, none.
    ///
    /// It holds for every clone of this engine. An answer past it is [`Error::MemoryLimit`]. Without it, on Linux, so is
    /// an answer that the host has no room for: of a million bodies at one place there are 5e11 rows. What is far too much
    /// is told by a sample of its pairs before they are all examined, on both engines alike.
    #[must_use]
    pub fn with_answer_limit(self, bytes: u64) -> Self {
        self.shared.account.answer_limit_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// The limit set by [`with_answer_limit`](Self::with_answer_limit); `u64::MAX` without one.
    pub(crate) fn answer_limit(&self) -> u64 {
        self.shared.account.answer_limit_bytes.load(Ordering::Relaxed)
    }

    /// Pretends that a storage binding may span no more than that many bytes, so that tests can make small data
    /// span several. Nothing on the CPU engine.
    #[doc(hidden)]
    #[must_use]
    pub fn with_binding_limit(self, bytes: u64) -> Self {
        if let Some(context) = &self.shared.context {
            context.set_binding_limit(bytes);
        }
        self
    }

    /// What it computes on.
    pub fn backend(&self) -> Backend {
        match self.shared.context {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// Which adapter was chosen and why, in one sentence.
    pub fn reason(&self) -> &str {
        &self.shared.reason
    }

    /// The adapter behind it; none on the CPU.
    pub fn adapter_info(&self) -> Option<&wgpu::AdapterInfo> {
        self.shared.info.as_ref()
    }

    /// The device and queue behind it, for an application that wants to share them; none on the CPU.
    pub fn device(&self) -> Option<(&wgpu::Device, &wgpu::Queue)> {
        let context = self.shared.context.as_ref()?;
        context.share();
        Some((context.device(), context.queue()))
    }

    /// What it has made so far.
    pub fn counters(&self) -> Counters {
        self.shared.account.counters()
    }

    /// The GPU floor; none on the CPU.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.shared.context.as_ref()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("backend", &self.backend())
            .field("reason", &self.reason())
            .finish_non_exhaustive()
    }
}

/// One adapter of this machine, as the program's `devices` prints it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdapterReport {
    /// Its name.
    pub name: String,
    /// The API that reaches it: vulkan, metal, dx12 or webgpu.
    pub backend: String,
    /// discrete, integrated, virtual, software or other.
    pub kind: &'static str,
    /// Driver and version.
    pub driver: String,
    /// Largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// Largest part of a buffer that a kernel sees at once, in bytes.
    pub max_binding_bytes: u64,
    /// Storage buffers that one kernel can use.
    pub max_storage_buffers: u32,
    /// Memory that a workgroup shares, in bytes.
    pub max_workgroup_bytes: u32,
    /// Invocations of a workgroup.
    pub max_invocations: u32,
    /// Whether kernels may use subgroup operations.
    pub subgroups: bool,
    /// Whether kernels can be timed on the device.
    pub timestamps: bool,
    /// Whether [`Engine::auto`] would take it.
    pub is_auto: bool,
    /// Why it would, or would not.
    pub why: String,
}

/// All adapters of this machine, best first.
#[cfg(not(target_arch = "wasm32"))]
pub fn adapters() -> Vec<AdapterReport> {
    pollster::block_on(adapters_async())
}

/// [`adapters`] for callers that may not block.
pub async fn adapters_async() -> Vec<AdapterReport> {
    let mut is_taken = false;
    found()
        .await
        .iter()
        .map(|adapter| {
            let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
            let suited = check_limits(&limits);
            let by_auto = rank(&info).is_some_and(|rank| rank.by_auto);
            let is_auto = by_auto && suited.is_ok() && !is_taken;
            let why = match suited {
                Err(error) => error.to_string(),
                Ok(()) if is_auto => "the first of the best kind".to_owned(),
                Ok(()) if by_auto => "a better one comes before it".to_owned(),
                Ok(()) => "a software rasteriser: the CPU engine is faster; `gpu` takes it".to_owned(),
            };
            is_taken |= is_auto;
            AdapterReport {
                kind: kind(&info),
                backend: info.backend.to_str().to_owned(),
                driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
                max_buffer_bytes: limits.max_buffer_size,
                max_binding_bytes: limits.max_storage_buffer_binding_size,
                max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
                max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
                max_invocations: limits.max_compute_invocations_per_workgroup,
                subgroups: features.contains(wgpu::Features::SUBGROUP),
                timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
                name: info.name,
                is_auto,
                why,
            }
        })
        .collect()
}

/// The place of an adapter among others, and whether `auto` may take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rank {
    place: u8,
    by_auto: bool,
}

/// None for an adapter that computes nothing.
fn rank(info: &wgpu::AdapterInfo) -> Option<Rank> {
    if info.backend == wgpu::Backend::Noop {
        return None;
    }
    let (place, by_auto) = match kind(info) {
        "discrete" => (0, true),
        "integrated" => (1, true),
        "virtual" => (2, true),
        // Browsers do not say what they run on.
        "other" => (3, true),
        _ => (4, false),
    };
    Some(Rank { place, by_auto })
}

fn kind(info: &wgpu::AdapterInfo) -> &'static str {
    // Some software rasterisers call themselves a virtual or another device.
    let name = info.name.to_lowercase();
    let is_software = ["llvmpipe", "lavapipe", "swiftshader", "softpipe", "basic render", "warp"]
        .iter()
        .any(|software| name.contains(software));
    match info.device_type {
        wgpu::DeviceType::Cpu => "software",
        _ if is_software => "software",
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Other => "other",
    }
}

fn describe(info: &wgpu::AdapterInfo) -> String {
    format!("{} ({}, {})", info.name, kind(info), info.backend.to_str())
}

fn names(adapters: &[wgpu::Adapter]) -> String {
    adapters.iter().map(|adapter| describe(&adapter.get_info())).collect::<Vec<_>>().join(", ")
}

const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

fn backend_names() -> String {
    let reachable = BACKENDS & wgpu::Instance::enabled_backend_features();
    reachable.iter_names().map(|(name, _)| name.to_lowercase()).collect::<Vec<_>>().join(", ")
}

/// The adapters of this machine, best first; `WGPU_BACKEND` and its kin are heeded.
async fn found() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    // The group counts of indirect dispatches are made by kernels of our own, within every limit: to have wgpu look at each of them
    // first would cost as many dispatches again.
    if std::env::var_os("WGPU_VALIDATION_INDIRECT_CALL").is_none() {
        descriptor.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    }
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = instance.enumerate_adapters(BACKENDS).await;
    adapters.retain(|adapter| rank(&adapter.get_info()).is_some());
    // Stable: among equals the system's order stays.
    adapters.sort_by_key(|adapter| rank(&adapter.get_info()).map(|rank| rank.place));
    adapters
}
