//! Many dispatches in one pass: kernels are bound once and dispatched many times, over group counts from the host or the device.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use bytemuck::Pod;

use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::{Frame, group_grid};
use crate::gpu::kernel::{Kernel, Pipeline};
use crate::gpu::pool::{BoundRange, Use};

/// Bytes between the uniforms of two dispatches: WebGPU's default alignment of a dynamic offset.
const DYNAMIC_UNIFORM_STRIDE: usize = 256;

/// A kernel with its buffers.
#[derive(Debug)]
pub(crate) struct BoundKernel {
    label: &'static str,
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
}

impl BoundKernel {
    /// The label of the kernel.
    pub(crate) fn label(&self) -> &'static str {
        self.label
    }
}

/// One dispatch of a [`BoundKernel`].
#[derive(Debug)]
pub(crate) struct Dispatch<'a> {
    /// The kernel to run.
    pub(crate) kernel: &'a BoundKernel,
    /// Which of the values of [`Frame::dynamic_uniforms`] its dynamic uniform has; none for a kernel without one.
    pub(crate) uniform: Option<usize>,
    /// How many workgroups.
    pub(crate) groups: Groups<'a>,
}

/// How many workgroups a dispatch has.
#[derive(Debug)]
pub(crate) enum Groups<'a> {
    /// This many, as of [`Frame::dispatch`].
    Count(u64),
    /// Three words on the device (x, y, z), in a buffer made with [`Use::Indirect`], from the given word on.
    At(&'a Buffer<u32>, usize),
}

impl Frame {
    /// A buffer of values for a dynamic uniform, one for each dispatch.
    ///
    /// # Errors
    /// Those of [`Buffer::new`].
    pub(crate) fn dynamic_uniforms<T: Pod>(
        &mut self,
        label: &'static str,
        values: &[T],
    ) -> Result<BoundRange> {
        let mut bytes = vec![0_u8; values.len() * DYNAMIC_UNIFORM_STRIDE];
        for (place, value) in bytes.chunks_mut(DYNAMIC_UNIFORM_STRIDE).zip(values) {
            place[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(value));
        }
        let buffer = Buffer::<u8>::with_use(self.context(), label, bytes.len(), Use::Uniform)?;
        self.upload(&buffer, 0, &bytes)?;
        Ok(BoundRange { bytes: (size_of::<T>() as u64).next_multiple_of(16), ..buffer.bind() })
    }

    /// Binds buffers to a kernel, for [`dispatch_all`](Self::dispatch_all).
    ///
    /// # Errors
    /// As of [`dispatch`](Self::dispatch).
    pub(crate) fn bind_kernel(
        &mut self,
        kernel: &'static Kernel,
        bound: &[BoundRange],
    ) -> Result<BoundKernel> {
        let context: Context = self.context().clone();
        let pipeline = self.pipeline(kernel)?;
        let group = context.scoped(|| pipeline.bind(&context, kernel, bound))??;
        self.keep_buffers(bound.iter().map(|part| Arc::clone(&part.pooled)));
        Ok(BoundKernel { label: kernel.label, pipeline, group })
    }

    /// Runs dispatches one after the other in one pass. Each sees what those before it wrote.
    ///
    /// # Errors
    /// [`Error::TooMany`](crate::Error::TooMany) past 65,535² groups.
    pub(crate) fn dispatch_all(&mut self, label: &'static str, dispatches: &[Dispatch<'_>]) -> Result<()> {
        for dispatch in dispatches {
            if let Groups::At(counts, _) = dispatch.groups {
                self.keep(counts);
            }
        }
        if self.is_profiled() {
            return dispatches.iter().try_for_each(|dispatch| {
                self.dispatch_pass(dispatch.kernel.label, std::slice::from_ref(dispatch))
            });
        }
        self.dispatch_pass(label, dispatches)
    }

    fn dispatch_pass(&mut self, label: &'static str, dispatches: &[Dispatch<'_>]) -> Result<()> {
        self.context().account().dispatches.fetch_add(dispatches.len() as u64, Relaxed);
        let mut pass = self.begin_pass(label);
        for Dispatch { kernel, uniform, groups } in dispatches {
            pass.set_pipeline(&kernel.pipeline.pipeline);
            match uniform {
                Some(index) => {
                    pass.set_bind_group(0, &kernel.group, &[(index * DYNAMIC_UNIFORM_STRIDE) as u32])
                }
                None => pass.set_bind_group(0, &kernel.group, &[]),
            }
            match *groups {
                Groups::Count(0) => {}
                Groups::Count(count) => {
                    let (x, y) = group_grid(count)?;
                    pass.dispatch_workgroups(x, y, 1);
                }
                Groups::At(counts, word) => {
                    pass.dispatch_workgroups_indirect(counts.raw(), counts.offset() + word as u64 * 4)
                }
            }
        }
        Ok(())
    }
}
