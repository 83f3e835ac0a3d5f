//! The WGSL of every kernel, for tools that compile or check shaders: the feature `inspect`.
//!
//! The texts may change with every version.

use crate::gpu::kernel::{Access, Kernel};
use crate::{collide, flow, gpu};

/// A kernel as the library gives it to wgpu.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelSource {
    /// Its name: `hullfield.<domain>.<stage>`.
    pub label: &'static str,
    /// Its whole WGSL. The entry point is `main`.
    pub wgsl: String,
    /// The invocations of a workgroup, along x.
    pub workgroup_size: u32,
    /// The kind of each binding of group 0, in the order of their numbers.
    pub bindings: Vec<BindingKind>,
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
    let collide = [collide::KERNELS, collide::BROAD_KERNELS, collide::SWEEP_KERNELS].concat();
    [gpu::scan::KERNELS, gpu::sort::KERNELS, &collide, flow::KERNELS, flow::AGENT_KERNELS].concat()
}

/// The sources of every kernel of the library. They are composed anew by each call.
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
    let source = |kernel: &Kernel| KernelSource {
        label: kernel.label,
        wgsl: kernel.wgsl(),
        workgroup_size: kernel.workgroup_size,
        bindings: kernel.bindings().map(|binding| kind(binding.access)).collect(),
    };
    all().into_iter().map(source).collect()
}
