//! Shader modules without the checks that naga adds: the feature `trusted-shaders`, and the only unsafe code of the library.

#![allow(unsafe_code, reason = "wgpu can't see that a shader is proved")]

/// A shader module of a kernel, of which is proved that its loops end, and that its indices are in bounds. It has the checks that are left.
/// In a browser it has the browser's, whatever is proved.
pub(crate) fn module(
    device: &wgpu::Device,
    descriptor: wgpu::ShaderModuleDescriptor<'_>,
    in_loops: bool,
    in_indices: bool,
) -> wgpu::ShaderModule {
    let mut checks = wgpu::ShaderRuntimeChecks::checked();
    checks.force_loop_bounding = !in_loops;
    checks.bounds_checks = !in_indices;
    // SAFETY: `Pipeline::build` is the only caller. It passes the WGSL of a `Kernel`, a constant of the library, and what the kernel's `Trust`
    // says is proved. The constant gives the reason, ARCHITECTURE ("Trusted shaders") the argument, and src/gpu/audit.rs what it was
    // made for: each loop ends, by a counter that can't jump past its bound, and each index is below the length of its array, or of the
    // part of a buffer that is bound, for every content of the buffers that somebody else may have written. Divisions keep their checks,
    // and so does everything that a compute shader doesn't have.
    unsafe { device.create_shader_module_trusted(descriptor, checks) }
}
