//! The WGSL and the times of every kernel, for tools that compile, check or measure shaders: the feature `inspect`.
//!
//! Texts and names may change with every version.

use crate::engine::Engine;
#[cfg(doc)]
use crate::error::Error;
use crate::gpu::form::Form;
use crate::gpu::kernel::{Access, Kernel};
use crate::{collide, flow, gpu};

/// A kernel as the library gives it to wgpu.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelSource {
    /// Its name: `hullfield.<domain>.<stage>`.
    pub label: &'static str,
    /// Whether this is its form for devices with subgroup operations. The form without has the same name.
    pub has_subgroups: bool,
    /// Its whole WGSL. The entry point is `main`.
    pub wgsl: String,
    /// The invocations of a workgroup, along x.
    pub workgroup_size: u32,
    /// The kind of each binding of group 0, in the order of their numbers.
    pub bindings: Vec<BindingKind>,
    /// Whether the feature `trusted-shaders` leaves out the bound that naga gives every loop.
    pub has_trusted_loops: bool,
    /// Whether the feature `trusted-shaders` leaves out the checks of indices too.
    pub has_trusted_indices: bool,
}

/// The kind of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BindingKind {
    /// A uniform buffer.
    Uniform,
    /// A uniform buffer with a dynamic offset.
    DynamicUniform,
    /// A storage buffer.
    Storage,
}

/// Every kernel of the library.
pub(crate) fn all() -> Vec<&'static Kernel> {
    let collide = [
        collide::KERNELS,
        collide::BROAD_KERNELS,
        collide::SWEEP_KERNELS,
        collide::RAY_KERNELS,
        collide::POSE_KERNELS,
        collide::EVENT_KERNELS,
    ]
    .concat();
    [
        gpu::self_test::KERNELS,
        gpu::subgroup_test::KERNELS,
        gpu::scan::KERNELS,
        gpu::sort::KERNELS,
        &collide,
        flow::KERNELS,
        flow::AGENT_KERNELS,
    ]
    .concat()
}

/// The sources of every kernel of the library, in all its forms. They are composed anew by each call.
///
/// ```
/// for kernel in hullfield::inspect::kernels() {
///     assert!(kernel.label.starts_with("hullfield.") && kernel.wgsl.contains("fn main("));
/// }
/// ```
pub fn kernels() -> Vec<KernelSource> {
    let kind = |access| match access {
        Access::Uniform => BindingKind::Uniform,
        Access::DynamicUniform => BindingKind::DynamicUniform,
        Access::Read | Access::ReadWrite => BindingKind::Storage,
    };
    let source = |kernel: &Kernel, form: Form| KernelSource {
        label: kernel.label,
        has_subgroups: form == Form::Subgroups,
        wgsl: kernel.wgsl_in(form),
        workgroup_size: kernel.workgroup_size,
        bindings: kernel.bindings().map(|binding| kind(binding.access)).collect(),
        has_trusted_loops: kernel.trust.in_loops(),
        has_trusted_indices: kernel.trust.in_indices(),
    };
    let forms = |kernel: &'static Kernel| kernel.forms().iter().map(move |&form| source(kernel, form));
    all().into_iter().flat_map(forms).collect()
}

/// An engine on the adapter of this name, as [`adapters`](crate::adapters) lists it; the best where several have the name.
///
/// # Errors
/// [`Error::NoGpu`] where no adapter has the name, or where it can't do the work.
///
/// ```
/// for adapter in hullfield::adapters() {
///     let engine = hullfield::inspect::engine_on(&adapter.name)?;
///     assert_eq!(engine.adapter_name(), Some(adapter.name.as_str()));
/// }
/// # Ok::<(), hullfield::Error>(())
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub fn engine_on(adapter: &str) -> crate::error::Result<Engine> {
    Engine::on_adapter(adapter)
}

/// What the dispatches of one kernel took.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel's name.
    pub label: &'static str,
    /// The number of its dispatches.
    pub dispatch_count: u64,
    /// The sum of their times by the device's clock, in milliseconds.
    pub milliseconds: f64,
}

/// What the kernels of some work took.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct KernelTimes {
    /// The kernels that ran, sorted by name.
    pub kernels: Vec<KernelTime>,
    /// The number of submissions with kernels.
    pub frame_count: u64,
    /// The time from the first kernel of a submission to the end of its last by the device's clock, in milliseconds, of all
    /// submissions.
    pub span_ms: f64,
}

/// Runs `work`, and times each dispatch that the engine makes meanwhile by the device's clock. `None` on the CPU engine, and on a
/// device without timestamps.
///
/// Each dispatch then has a pass of its own, so the whole takes longer than without. `work` must wait for its answers: the times
/// of work that is still in flight at its end are left out.
///
/// ```
/// use hullfield::{Engine, collide::{Arena, Body, Hull, Options, Pairs}, inspect::time_kernels};
///
/// let engine = Engine::auto()?;
/// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
/// let bodies = [Body::new(0), Body::new(0).at([1.0, 0.0, 0.0])];
/// let (found, times) = time_kernels(&engine, || arena.intersections(&bodies, Pairs::BroadPhase)?.wait());
/// assert_eq!(found?.rows.len(), 1);
/// for kernel in times.iter().flat_map(|times| &times.kernels) {
///     println!("{}: {} ms", kernel.label, kernel.milliseconds);
/// }
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn time_kernels<T>(engine: &Engine, work: impl FnOnce() -> T) -> (T, Option<KernelTimes>) {
    let Some(profiler) = engine.context().map(|context| context.profiler()) else { return (work(), None) };
    drop(profiler.take());
    let is_supported = profiler.turn(true);
    let made = work();
    profiler.turn(false);
    let found = profiler.take();
    let time = |(label, (dispatch_count, milliseconds))| KernelTime { label, dispatch_count, milliseconds };
    let kernels = found.kernels.into_iter().map(time).collect();
    let times = KernelTimes { kernels, frame_count: found.frame_count, span_ms: found.span_ms };
    (made, is_supported.then_some(times))
}
