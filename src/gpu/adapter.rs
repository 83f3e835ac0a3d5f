//! The adapters of this machine: their list, the choice of one, and opening its device.

use std::sync::Arc;

use crate::account::Account;
use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::{Origin, check_limits};
use crate::gpu::self_test;
use crate::gpu::subgroup_test::Subgroups;

/// A device that is ready for work, and why it was chosen.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) context: Context,
    pub(crate) reason: String,
}

/// Opens the best real GPU.
///
/// # Errors
/// Why there is none, as a clause.
pub(crate) async fn open_real(account: &Arc<Account>) -> Result<Opened, String> {
    open_real_of(compiled(), account).await
}

async fn open_real_of(backends: wgpu::Backends, account: &Arc<Account>) -> Result<Opened, String> {
    let adapters = found(backends).await;
    let real: Vec<_> = adapters
        .iter()
        .filter(|adapter| rank(&adapter.get_info()).is_some_and(|rank| rank.by_auto))
        .collect();
    if !real.is_empty() {
        return open_first(&real, account).await;
    }
    Err(if adapters.is_empty() {
        why_none(backends)
    } else {
        format!("only software adapters were found: {}", names(&adapters))
    })
}

/// Opens the first of these adapters that can do the work.
///
/// # Errors
/// Why none can, as a clause.
pub(crate) async fn open_first(
    adapters: &[&wgpu::Adapter],
    account: &Arc<Account>,
) -> Result<Opened, String> {
    let mut refused = Vec::new();
    for adapter in adapters {
        match open(adapter, "the best GPU found", account).await {
            Ok(opened) => return Ok(opened),
            Err(error) => refused.push(clause(error)),
        }
    }
    Err(format!("no GPU could be used: {}", refused.join("; ")))
}

/// An error as a part of a sentence that says already that a GPU can't be used.
fn clause(error: Error) -> String {
    match error {
        Error::NoGpu { message } => message,
        error => error.to_string(),
    }
}

/// The adapters that [`open_real`] leaves out.
#[cfg(test)]
pub(crate) async fn software() -> Vec<wgpu::Adapter> {
    let mut adapters = found(compiled()).await;
    adapters.retain(|adapter| rank(&adapter.get_info()).is_some_and(|rank| !rank.by_auto));
    adapters
}

/// Opens the best adapter of any kind.
///
/// # Errors
/// [`Error::NoGpu`] where there is none that can do the work.
pub(crate) async fn open_any(account: &Arc<Account>) -> Result<Opened> {
    open_any_of(compiled(), account).await
}

async fn open_any_of(backends: wgpu::Backends, account: &Arc<Account>) -> Result<Opened> {
    let mut first_error = None;
    for adapter in &found(backends).await {
        match open(adapter, "a GPU was asked for, and this is the best adapter", account).await {
            Ok(opened) => return Ok(opened),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(Error::NoGpu { message: first_error.map_or_else(|| why_none(backends), clause) })
}

/// Opens the adapter of this name, the best where several have it.
///
/// # Errors
/// [`Error::NoGpu`] where no adapter has the name, or where it can't do the work.
#[cfg(all(any(feature = "inspect", test), not(target_arch = "wasm32")))]
pub(crate) async fn open_named(name: &str, account: &Arc<Account>) -> Result<Opened> {
    let adapters = found(compiled()).await;
    match adapters.iter().find(|adapter| adapter.get_info().name == name) {
        Some(adapter) => open(adapter, "asked for by its name", account).await,
        None if adapters.is_empty() => Err(Error::NoGpu { message: why_none(compiled()) }),
        None => {
            let message = format!("no adapter is called \"{name}\", there are: {}", names(&adapters));
            Err(Error::NoGpu { message })
        }
    }
}

/// Uses the device of an application, and tests its arithmetic. Natively the verdict is there on return. In a browser, where nothing may
/// wait, the test is the first work of the device's queue: where it fails, every answer after it is the error.
///
/// # Errors
/// [`Error::Value`] where a limit is too small; those of [`self_test::test`].
pub(crate) fn share(device: wgpu::Device, queue: wgpu::Queue, account: &Arc<Account>) -> Result<Opened> {
    let name = describe(&device.adapter_info());
    let context = Context::new(device, queue, Arc::clone(account), Origin::Given)?;
    let reason = format!("{name}, a device that the caller gave");
    #[cfg(not(target_arch = "wasm32"))]
    let reason = {
        let tested = pollster::block_on(self_test::test(context.device(), context.queue()));
        choose_form(&context, tested.map_err(|error| of(&name, error))?, reason)
    };
    #[cfg(target_arch = "wasm32")]
    {
        let (faults, name) = (Arc::clone(context.faults()), name.clone());
        let test = self_test::begin(context.device(), context.queue(), move |verdict| {
            verdict.map_err(|error| faults.refuse(of(&name, error))).or(Ok(()))
        })?;
        context.hold(test.map(|test| test.outcome));
    }
    Ok(Opened { context, reason })
}

/// Chooses the form of the kernels. Where the device has subgroup operations that can't be used, the reason says so.
fn choose_form(context: &Context, subgroups: Subgroups, reason: String) -> String {
    let (form, why) = subgroups.form();
    context.set_form(form);
    match why {
        Some(why) => format!("{reason}; {why}"),
        None => reason,
    }
}

/// The error of an adapter that can't be used, with the adapter's name.
fn of(adapter: &str, error: Error) -> Error {
    match error {
        Error::NoGpu { message } => Error::NoGpu { message: format!("{adapter}: {message}") },
        error => error,
    }
}

async fn open(adapter: &wgpu::Adapter, why: &str, account: &Arc<Account>) -> Result<Opened> {
    let info = adapter.get_info();
    let no_gpu = |message| Error::NoGpu { message: format!("{}: {message}", describe(&info)) };
    let available = adapter.limits();
    check_limits(&available).map_err(|error| no_gpu(error.to_string()))?;
    let required_limits = wgpu::Limits {
        max_buffer_size: available.max_buffer_size,
        max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
        // Only what kernels use is required: limits of textures and the like may be as low as they are.
        ..wgpu::Limits::default().or_worse_values_from(&available)
    };
    let wanted = wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("hullfield"),
        required_features: adapter.features() & wanted,
        required_limits,
        ..Default::default()
    };
    let opened = adapter.request_device(&descriptor).await;
    let (device, queue) = opened.map_err(|error| no_gpu(format!("the adapter gave no device: {error}")))?;
    let context = Context::new(device, queue, Arc::clone(account), Origin::Own)?;
    let tested = self_test::test(context.device(), context.queue()).await;
    let subgroups = tested.map_err(|error| of(&describe(&info), error))?;
    let reason = choose_form(&context, subgroups, format!("{}: {why}", describe(&info)));
    Ok(Opened { context, reason })
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
    /// Whether it offers subgroup operations. Kernels use them if the device passes their test when an engine opens it.
    pub subgroups: bool,
    /// Whether kernels can be timed on the device.
    pub timestamps: bool,
    /// Whether [`Engine::auto`](crate::Engine::auto) would take it if its device passes the self-test. The list opens no device.
    pub is_auto: bool,
    /// Why it would, or would not.
    pub why: String,
}

/// All adapters of this machine, best first.
pub(crate) async fn reports() -> Vec<AdapterReport> {
    reports_of(compiled()).await
}

async fn reports_of(backends: wgpu::Backends) -> Vec<AdapterReport> {
    let mut is_taken = false;
    found(backends)
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

/// The rank of an adapter among others, and whether `auto` may take it.
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

/// The back ends that can run the kernels.
const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// Those of them that were compiled in and that this system can have.
fn compiled() -> wgpu::Backends {
    BACKENDS & wgpu::Instance::enabled_backend_features()
}

/// Why no adapter of these back ends was found, as a clause.
fn why_none(backends: wgpu::Backends) -> String {
    if backends.is_empty() {
        return "hullfield was built without a back end for this system: turn on one of the features vulkan, metal, dx12, webgpu"
            .to_owned();
    }
    if cfg!(target_arch = "wasm32") {
        return "no WebGPU adapter was found: it takes a browser that has WebGPU, and an address with https or localhost"
            .to_owned();
    }
    let names: Vec<_> = backends.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    format!("no GPU adapter was found (looked for {})", names.join(", "))
}

/// The adapters of these back ends, which are compiled in, best first. `WGPU_BACKEND` and wgpu's other environment variables hold.
async fn found(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    // wgpu panics where it has no back end at all.
    if backends.is_empty() {
        return Vec::new();
    }
    // And where JavaScript has neither a window nor a worker's scope, as in Node.
    #[cfg(target_arch = "wasm32")]
    if !wgpu::util::is_browser_webgpu_supported().await {
        return Vec::new();
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    // Kernels of our own write the group counts of indirect dispatches, within every limit. wgpu's check of them would cost one more
    // dispatch for each.
    if std::env::var_os("WGPU_VALIDATION_INDIRECT_CALL").is_none() {
        descriptor.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    }
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = instance.enumerate_adapters(BACKENDS).await;
    adapters.retain(|adapter| rank(&adapter.get_info()).is_some());
    // Stable: adapters of equal rank keep the system's order.
    adapters.sort_by_key(|adapter| rank(&adapter.get_info()).map(|rank| rank.place));
    adapters
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// As in a build with the feature `gpu` and no back end.
    #[test]
    fn without_a_back_end_the_error_names_the_back_ends() {
        let account = Arc::new(Account::new(None, None));
        let none = wgpu::Backends::empty();
        let Error::NoGpu { message } = pollster::block_on(open_any_of(none, &account)).unwrap_err() else {
            panic!("another error")
        };
        assert!(message.contains("without a back end") && message.contains("vulkan"), "{message}");
        let why = pollster::block_on(open_real_of(none, &account)).unwrap_err();
        assert_eq!(why, message);
        assert_eq!(pollster::block_on(reports_of(none)), []);
    }
}
