//! A kernel is described once: its WGSL, its workgroup size and its bindings.

use crate::error::{Error, Result};
use crate::gpu::device::Device;
use crate::gpu::form::Form;
use crate::gpu::pool::BoundRange;
#[cfg(feature = "trust-by-call")]
use crate::gpu::trusted;

/// How a kernel sees one of its bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// `var<uniform>`
    Uniform,
    /// `var<uniform>` with a dynamic offset, which each dispatch sets.
    DynamicUniform,
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
}

/// One binding: its access, its name in WGSL, its WGSL type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) access: Access,
    pub(crate) name: &'static str,
    pub(crate) ty: &'static str,
}

/// `var<uniform> name: ty`
pub(crate) const fn uniform(name: &'static str, ty: &'static str) -> Binding {
    Binding { access: Access::Uniform, name, ty }
}

/// `var<uniform> name: ty` with a dynamic offset: see [`Frame::dispatch_all`](crate::gpu::frame::Frame::dispatch_all)
pub(crate) const fn dynamic_uniform(name: &'static str, ty: &'static str) -> Binding {
    Binding { access: Access::DynamicUniform, name, ty }
}

/// `var<storage, read> name: ty`
pub(crate) const fn read(name: &'static str, ty: &'static str) -> Binding {
    Binding { access: Access::Read, name, ty }
}

/// `var<storage, read_write> name: ty`
pub(crate) const fn read_write(name: &'static str, ty: &'static str) -> Binding {
    Binding { access: Access::ReadWrite, name, ty }
}

/// A compute kernel. Everything that Rust and WGSL must agree on is here, and is written into the WGSL from here:
/// `WORKGROUP_SIZE` and the binding declarations (group 0, in the order of the list).
#[derive(Debug)]
pub(crate) struct Kernel {
    /// `hullfield.<domain>.<stage>`
    pub(crate) label: &'static str,
    /// The WGSL files in order, in lists that kernels share. The stage's own file is the last; its entry point is `main`.
    pub(crate) sources: [&'static [&'static str]; PARTS],
    /// Invocations in a workgroup, along x.
    pub(crate) workgroup_size: u32,
    /// What is proved of it.
    pub(crate) trust: Trust,
    /// In the order of their `@binding` numbers, in lists that kernels share.
    pub(crate) bindings: [&'static [Binding]; PARTS],
}

/// What is proved of a kernel's WGSL for every input, hostile ones included. With the feature `trusted-shaders` naga adds no checks of what is
/// proved. ARCHITECTURE ("Trusted shaders") has the arguments; the text here is their conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing: naga bounds its loops and restricts its indices.
    Checked,
    /// Every loop ends. Why.
    Loops(&'static str),
    /// Every loop ends, and every index is within its array and its binding. Why.
    LoopsAndIndices(&'static str),
}

#[cfg(any(feature = "trust-by-call", feature = "inspect", test))]
impl Trust {
    /// Whether the loops need no bound.
    pub(crate) fn in_loops(self) -> bool {
        self != Self::Checked
    }

    /// Whether the indices need no limit.
    pub(crate) fn in_indices(self) -> bool {
        matches!(self, Self::LoopsAndIndices(_))
    }
}

/// The most lists that the files or the bindings of a kernel are split into.
pub(crate) const PARTS: usize = 6;

/// One list.
pub(crate) const fn only<T>(list: &'static [T]) -> [&'static [T]; PARTS] {
    parts([list])
}

/// Several lists, one after another.
pub(crate) const fn parts<T, const N: usize>(lists: [&'static [T]; N]) -> [&'static [T]; PARTS] {
    let mut all: [&'static [T]; PARTS] = [&[]; PARTS];
    let mut at = 0;
    while at < N {
        all[at] = lists[at];
        at += 1;
    }
    all
}

impl Kernel {
    /// The whole WGSL of the kernel, without subgroup operations.
    #[cfg(test)]
    pub(crate) fn wgsl(&self) -> String {
        self.wgsl_in(Form::Plain)
    }

    /// Its forms: a second one where it can use subgroup operations.
    #[cfg(any(feature = "inspect", test))]
    pub(crate) fn forms(&self) -> &'static [Form] {
        let is_changed = |source: &&'static str| Form::Subgroups.text(source) != *source;
        let has_second = self.sources.into_iter().flatten().any(is_changed);
        if has_second { &[Form::Plain, Form::Subgroups] } else { &[Form::Plain] }
    }

    /// The whole WGSL of a form of the kernel.
    pub(crate) fn wgsl_in(&self, form: Form) -> String {
        use std::fmt::Write as _;
        let mut wgsl = format!("const WORKGROUP_SIZE: u32 = {}u;\n", self.workgroup_size);
        for (index, Binding { access, name, ty }) in self.bindings().enumerate() {
            let space = match access {
                Access::Uniform | Access::DynamicUniform => "uniform",
                Access::Read => "storage, read",
                Access::ReadWrite => "storage, read_write",
            };
            // Writing to a string does not fail.
            let _ = writeln!(wgsl, "@group(0) @binding({index}) var<{space}> {name}: {ty};");
        }
        for source in self.sources.into_iter().flatten() {
            wgsl.push_str(form.text(source));
            wgsl.push('\n');
        }
        wgsl
    }

    /// All bindings, in the order of their numbers.
    pub(crate) fn bindings(&self) -> impl Iterator<Item = &'static Binding> + use<> {
        self.bindings.into_iter().flatten()
    }

    /// How many workgroups cover `invocations`.
    pub(crate) fn groups(&self, invocations: u64) -> u64 {
        invocations.div_ceil(self.workgroup_size.into())
    }
}

/// A kernel built for one device.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Pipeline {
    /// Builds it in a form, with the checks that `trust` leaves; errors are raised on the device (see [`Device::scoped`]).
    pub(crate) fn build(device: &wgpu::Device, kernel: &Kernel, form: Form, trust: Trust) -> Self {
        let entries: Vec<_> = (0..)
            .zip(kernel.bindings())
            .map(|(binding, described)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match described.access {
                        Access::Uniform | Access::DynamicUniform => wgpu::BufferBindingType::Uniform,
                        Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                        Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                    },
                    has_dynamic_offset: described.access == Access::DynamicUniform,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let label = Some(kernel.label);
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let source = wgpu::ShaderSource::Wgsl(kernel.wgsl_in(form).into());
        let descriptor = wgpu::ShaderModuleDescriptor { label, source };
        let module = match trust {
            #[cfg(feature = "trust-by-call")]
            Trust::Loops(_) | Trust::LoopsAndIndices(_) => {
                trusted::module(device, descriptor, trust.in_loops(), trust.in_indices())
            }
            // Only the feature leaves checks out.
            _ => device.create_shader_module(descriptor),
        };
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            // Kernels write their workgroup memory before they read it, and zeroing it would cost a barrier.
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Self { pipeline, layout }
    }

    /// Binds `bound` to the kernel, in the order of its bindings.
    ///
    /// # Errors
    /// [`Error::Internal`] where the counts differ or a part is larger than one binding may be.
    pub(crate) fn bind(
        &self,
        device: &Device,
        kernel: &Kernel,
        bound: &[BoundRange],
    ) -> Result<wgpu::BindGroup> {
        let has = kernel.bindings().count();
        if bound.len() != has {
            let given = bound.len();
            let message = format!("{}: {given} buffers for {has} bindings", kernel.label);
            return Err(Error::internal("gpu::kernel::bind", message));
        }
        for (Binding { access, name, .. }, part) in kernel.bindings().zip(bound) {
            let limit = match access {
                Access::Uniform | Access::DynamicUniform => device.limits().max_uniform_buffer_binding_size,
                Access::Read | Access::ReadWrite => device.binding_limit(),
            };
            if part.bytes > limit {
                let bytes = part.bytes;
                let message =
                    format!("{}: {name} spans {bytes} bytes, a binding at most {limit}", kernel.label);
                return Err(Error::internal("gpu::kernel::bind", message));
            }
        }
        let entries: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, part)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: part.pooled.raw(),
                    offset: part.offset,
                    size: wgpu::BufferSize::new(part.bytes),
                }),
            })
            .collect();
        Ok(device.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(kernel.label),
            layout: &self.layout,
            entries: &entries,
        }))
    }
}
