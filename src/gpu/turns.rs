//! Many dispatches in one pass: kernels bound once and run again and again, over as many groups as the device says.

use std::sync::Arc;

use bytemuck::Pod;

use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::{Frame, group_grid};
use crate::gpu::kernel::{Kernel, Pipeline};
use crate::gpu::pool::{Bound, Use};

/// Bytes between the uniforms of two turns: WebGPU's default alignment of a dynamic offset.
const TURN_BYTES: usize = 256;

/// A kernel with its buffers.
#[derive(Debug)]
pub(crate) struct Turning {
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
}

/// One dispatch of a [`Turning`].
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// What is run.
    pub(crate) turning: &'a Turning,
    /// Which of the uniforms of [`Frame::turn_uniforms`] its binding `turn` sees; none for a kernel without one.
    pub(crate) uniform: Option<usize>,
    /// How many groups.
    pub(crate) groups: Groups<'a>,
}

/// How many groups a dispatch has.
#[derive(Debug)]
pub(crate) enum Groups<'a> {
    /// That many, as of [`Frame::dispatch`].
    Count(u64),
    /// Three words on the device (x, y, z), from that word of a buffer on that was made with [`Use::Indirect`].
    At(&'a Buffer<u32>, usize),
}

impl Frame {
    /// Uniforms for turns, one each.
    ///
    /// # Errors
    /// Those of [`Buffer::new`].
    pub(crate) fn turn_uniforms<T: Pod>(&mut self, label: &'static str, values: &[T]) -> Result<Bound> {
        let mut bytes = vec![0_u8; values.len() * TURN_BYTES];
        for (place, value) in bytes.chunks_mut(TURN_BYTES).zip(values) {
            place[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(value));
        }
        let buffer = Buffer::<u8>::with_use(self.context(), label, bytes.len(), Use::Uniform)?;
        self.upload(&buffer, 0, &bytes)?;
        Ok(Bound { bytes: (size_of::<T>() as u64).next_multiple_of(16), ..buffer.bind() })
    }

    /// Binds buffers to a kernel, for [`turns`](Self::turns).
    ///
    /// # Errors
    /// As of [`dispatch`](Self::dispatch).
    pub(crate) fn turning(&mut self, kernel: &'static Kernel, bound: &[Bound]) -> Result<Turning> {
        let context: Context = self.context().clone();
        let pipeline = self.pipeline(kernel)?;
        let group = context.scoped(|| pipeline.bind(&context, kernel, bound))??;
        self.keep_loans(bound.iter().map(|part| Arc::clone(&part.loan)));
        Ok(Turning { pipeline, group })
    }

    /// Runs kernels one after the other in one pass: each sees what those before it wrote.
    ///
    /// # Errors
    /// [`Error::TooMany`](crate::Error::TooMany) past 65,535² groups.
    pub(crate) fn turns(&mut self, label: &'static str, turns: &[Turn<'_>]) -> Result<()> {
        for turn in turns {
            if let Groups::At(counts, _) = turn.groups {
                self.keep(counts);
            }
        }
        let mut pass = self.begin_pass(label);
        for Turn { turning, uniform, groups } in turns {
            pass.set_pipeline(&turning.pipeline.pipeline);
            match uniform {
                Some(index) => pass.set_bind_group(0, &turning.group, &[(index * TURN_BYTES) as u32]),
                None => pass.set_bind_group(0, &turning.group, &[]),
            }
            match *groups {
                Groups::Count(0) => {}
                Groups::Count(count) => {
                    let (x, y) = group_grid(count)?;
                    pass.dispatch_workgroups(x, y, 1);
                }
                Groups::At(counts, word) => pass.dispatch_workgroups_indirect(counts.raw(), word as u64 * 4),
            }
        }
        Ok(())
    }
}
