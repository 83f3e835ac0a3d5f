//! One frame: the uploads, kernels and readbacks of one submission.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use bytemuck::Pod;
use web_time::Instant;

use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::device::MAX_GROUPS;
use crate::gpu::kernel::{Kernel, Pipeline};
use crate::gpu::pool::{BoundRange, PooledBuffer, Use};
use crate::gpu::profile::FrameStamps;
use crate::gpu::readback::{Read, ReadbackCopy, byte_range};
use crate::gpu::timing::{FrameTimes, TIMER_BYTES, Timer, milliseconds};
use crate::gpu::upload::{StagingBuffers, Uploads};

/// Bytes between two uniforms: WebGPU's default alignment of a uniform binding's offset.
const UNIFORM_STRIDE: usize = 256;
/// Bytes of one buffer of uniforms.
const UNIFORM_BYTES: usize = 64 * UNIFORM_STRIDE;

/// The commands of one submission. See the [module](super) for how it is used.
pub(crate) struct Frame {
    context: Context,
    label: &'static str,
    uploads: Uploads,
    work: wgpu::CommandEncoder,
    kept: Vec<Arc<PooledBuffer>>,
    uniforms: Option<(Arc<PooledBuffer>, Vec<u8>)>,
    reads: Vec<ReadbackCopy>,
    read_bytes: u64,
    timer: Option<Timer>,
    is_timing: bool,
    /// The timestamps of each dispatch, where they are profiled. The frame then has no other timer.
    stamps: Option<FrameStamps>,
    begin: Instant,
    /// The part of the time since `begin` that went into building pipelines.
    compile_ms: f64,
}

impl Frame {
    /// An empty frame. `label` is `hullfield.<domain>.<job>`.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(crate) fn new(context: &Context, label: &'static str) -> Result<Self> {
        let encoder = || {
            context.device().create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
        };
        let (uploads, work) = context.scoped(|| (encoder(), encoder()))?;
        let stamps = context.profiler().stamps();
        let timer = if stamps.is_none() { context.timers().take(context.device()) } else { None };
        Ok(Self {
            context: context.clone(),
            label,
            uploads: Uploads::new(uploads),
            work,
            kept: Vec::new(),
            uniforms: None,
            reads: Vec::new(),
            read_bytes: 0,
            timer,
            is_timing: false,
            stamps,
            begin: Instant::now(),
            compile_ms: 0.0,
        })
    }

    /// Puts the kernels of a frame into an encoder of the caller's, after what it holds so far.
    ///
    /// The frames in the submission queue are submitted now, and after them the uploads of this one, so that both come before
    /// whatever the caller submits. The buffers that the work uses go back to the pool when the device has done it, or when
    /// the encoder is dropped. In a browser they go back when the second part of the answer is dropped; natively that part is
    /// empty. Nothing can be read back.
    ///
    /// # Errors
    /// Those of `work`; the encoder then holds what was encoded before.
    pub(crate) fn encode_into<R>(
        context: &Context,
        label: &'static str,
        encoder: &mut wgpu::CommandEncoder,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(R, Vec<Arc<PooledBuffer>>)> {
        let mut frame = Self::new(context, label)?;
        if let Some(timer) = frame.timer.take() {
            context.timers().give(timer);
        }
        std::mem::swap(&mut frame.work, encoder);
        let made = work(&mut frame).and_then(|made| frame.flush_uniforms().map(|()| made));
        let made = made.and_then(|made| frame.read_stamps_back().map(|()| made));
        std::mem::swap(&mut frame.work, encoder);
        let Self { uploads, kept, .. } = frame;
        // Also where the work failed: the commands encoded so far read these buffers.
        #[cfg(not(target_arch = "wasm32"))]
        let kept = {
            encoder.on_submitted_work_done(move || drop(kept));
            Vec::new()
        };
        let made = made?;
        let (uploads, staging) = context.scoped(|| uploads.finish())?;
        context.submission_queue().flush();
        context.scoped(|| {
            staging.unmap(&uploads);
            context.queue().submit([uploads])
        })?;
        context.account().submissions.fetch_add(1, Relaxed);
        Ok((made, kept))
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Keeps a buffer out of the pool until the frame has finished. Those that a frame's own calls name are kept.
    pub(crate) fn keep<T: Pod>(&mut self, buffer: &Buffer<T>) {
        self.kept.push(Arc::clone(buffer.pooled()));
    }

    /// Writes `values` into `buffer` from its value `start` on.
    ///
    /// All uploads of a frame happen before its first kernel, in the order of the calls.
    ///
    /// # Errors
    /// [`Error::Internal`] past the buffer's end; those of [`Buffer::new`] for the staging memory.
    pub(crate) fn upload<T: Pod>(&mut self, buffer: &Buffer<T>, start: usize, values: &[T]) -> Result<()> {
        if start.checked_add(values.len()).is_none_or(|end| end > buffer.len()) {
            let (count, len) = (values.len(), buffer.len());
            let message = format!("{}: upload of {count} values at {start} into {len}", self.label);
            return Err(Error::internal("gpu::frame::upload", message));
        }
        let pooled = Arc::clone(buffer.pooled());
        self.upload_bytes(
            &pooled,
            buffer.offset() + (start * size_of::<T>()) as u64,
            bytemuck::cast_slice(values),
        )
    }

    fn upload_bytes(&mut self, to: &Arc<PooledBuffer>, offset: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.kept.push(Arc::clone(to));
        self.uploads.write(&self.context, to.raw(), offset, bytes)
    }

    /// Parameters for one dispatch, as a binding.
    ///
    /// # Errors
    /// Those of [`Buffer::new`].
    pub(crate) fn uniform<T: Pod>(&mut self, value: &T) -> Result<BoundRange> {
        let bytes = bytemuck::bytes_of(value);
        if self.uniforms.as_ref().is_some_and(|(_, written)| written.len() + bytes.len() > UNIFORM_BYTES) {
            self.flush_uniforms()?;
        }
        let (pooled, written) = match &mut self.uniforms {
            Some(uniforms) => uniforms,
            none => {
                let (context, size) = (&self.context, UNIFORM_BYTES as u64);
                let pooled = context.pool().take(context, "hullfield.uniforms", Use::Uniform, size)?;
                none.insert((Arc::new(pooled), Vec::new()))
            }
        };
        let offset = written.len() as u64;
        written.extend_from_slice(bytes);
        written.resize(written.len().next_multiple_of(UNIFORM_STRIDE), 0);
        Ok(BoundRange {
            pooled: Arc::clone(pooled),
            offset,
            bytes: (bytes.len() as u64).next_multiple_of(16),
        })
    }

    fn flush_uniforms(&mut self) -> Result<()> {
        match self.uniforms.take() {
            Some((pooled, written)) => self.upload_bytes(&pooled, 0, &written),
            None => Ok(()),
        }
    }

    /// Runs `group_count` groups of a kernel; with none it does nothing. Past 65,535 groups the dispatch becomes
    /// two-dimensional and may hold more groups than asked: kernels take their index from
    /// `shaders/shared/dispatch.wgsl` and compare it with their count.
    ///
    /// # Errors
    /// [`Error::Internal`] for a binding that does not fit; [`Error::TooMany`] past 65,535² groups.
    pub(crate) fn dispatch(
        &mut self,
        kernel: &'static Kernel,
        bound: &[BoundRange],
        group_count: u64,
    ) -> Result<()> {
        if group_count == 0 {
            return Ok(());
        }
        let (x, y) = group_grid(group_count)?;
        self.pass(kernel, bound, |pass| pass.dispatch_workgroups(x, y, 1))
    }

    fn pass(
        &mut self,
        kernel: &'static Kernel,
        bound: &[BoundRange],
        dispatch: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) -> Result<()> {
        let pipeline = self.pipeline(kernel)?;
        let group = self.context.scoped(|| pipeline.bind(&self.context, kernel, bound))??;
        self.kept.extend(bound.iter().map(|part| Arc::clone(&part.pooled)));
        let mut pass = self.begin_pass(kernel.label);
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &group, &[]);
        dispatch(&mut pass);
        drop(pass);
        self.context.account().dispatches.fetch_add(1, Relaxed);
        Ok(())
    }

    /// The pipeline of a kernel; the time that building it takes, or waiting for whoever builds it, is kept apart.
    pub(crate) fn pipeline(&mut self, kernel: &'static Kernel) -> Result<Arc<Pipeline>> {
        let (pipeline, compile_ms) = self.context.pipeline(kernel)?;
        self.compile_ms += compile_ms;
        Ok(pipeline)
    }

    /// Begins a pass; the first one of a frame begins its time.
    pub(super) fn begin_pass(&mut self, label: &'static str) -> wgpu::ComputePass<'_> {
        let is_first = !std::mem::replace(&mut self.is_timing, true);
        let timestamp_writes = match (&mut self.stamps, &self.timer) {
            (Some(stamps), _) => stamps.next(self.context.device(), label),
            (None, Some(timer)) if is_first => Some(wgpu::ComputePassTimestampWrites {
                query_set: &timer.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: None,
            }),
            (None, _) => None,
        };
        self.work.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes })
    }

    /// Whether each dispatch is timed on its own.
    pub(super) fn is_profiled(&self) -> bool {
        self.stamps.is_some()
    }

    /// Encodes the readback of the timestamps of each dispatch, if there are any.
    fn read_stamps_back(&mut self) -> Result<()> {
        let Some(stamps) = self.stamps.take() else { return Ok(()) };
        let Self { context, work, .. } = self;
        context.scoped(|| stamps.read_back(context.device(), work))
    }

    /// Keeps loans out of the pool until the frame has finished.
    pub(super) fn keep_buffers(&mut self, loans: impl IntoIterator<Item = Arc<PooledBuffer>>) {
        self.kept.extend(loans);
    }

    /// Sets all bytes of a buffer to zero, after the kernels so far.
    pub(crate) fn clear<T: Pod>(&mut self, buffer: &Buffer<T>) {
        self.keep(buffer);
        self.context.account().copies.fetch_add(1, Relaxed);
        let bytes = ((buffer.len() * size_of::<T>()) as u64).next_multiple_of(4);
        self.work.clear_buffer(buffer.raw(), buffer.offset(), Some(bytes));
    }

    /// Copies values between two buffers, after the kernels so far.
    ///
    /// # Errors
    /// [`Error::Internal`] past the end of either.
    pub(crate) fn copy<T: Pod>(
        &mut self,
        from: &Buffer<T>,
        range: Range<usize>,
        to: &Buffer<T>,
        start: usize,
    ) -> Result<()> {
        if range.end > from.len() || start + range.len() > to.len() {
            let (from, to) = (from.len(), to.len());
            let message = format!("{}: copy of {range:?} of {from} to {start} of {to}", self.label);
            return Err(Error::internal("gpu::frame::copy", message));
        }
        self.keep(from);
        self.keep(to);
        self.context.account().copies.fetch_add(1, Relaxed);
        let (offset, bytes) = byte_range::<T>(&range);
        let offset = from.offset() + offset;
        let target = to.offset() + (start * size_of::<T>()) as u64;
        self.work.copy_buffer_to_buffer(from.raw(), offset, to.raw(), target, Some(bytes));
        Ok(())
    }

    /// Reads values back once all kernels of the frame have run.
    ///
    /// # Errors
    /// [`Error::Internal`] past the buffer's end.
    pub(crate) fn read<T: Pod>(&mut self, buffer: &Buffer<T>, range: Range<usize>) -> Result<Read<T>> {
        if range.end > buffer.len() {
            let len = buffer.len();
            let message = format!("{}: read of {range:?} of {len}", self.label);
            return Err(Error::internal("gpu::frame::read", message));
        }
        let target = self.read_bytes;
        if let Some(copy) = ReadbackCopy::new(buffer, &range, target) {
            self.context.account().read_back_bytes.fetch_add(copy.bytes(), Relaxed);
            self.read_bytes += copy.bytes();
            self.reads.push(copy);
        }
        Ok(Read::new(target, &range))
    }

    /// Encodes the readback and ends encoding, so that only submitting is left.
    pub(super) fn encode(mut self) -> Result<EncodedFrame> {
        self.flush_uniforms()?;
        self.read_stamps_back()?;
        let timer = self.timer.take().map(|timer| (timer, self.is_timing.then_some(self.read_bytes)));
        let mut mapped_bytes = self.read_bytes;
        if let Some((timer, Some(_))) = &timer {
            // An empty pass takes the second timestamp: a pass does not know that it is the last one of its frame.
            drop(self.work.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("hullfield.timer"),
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &timer.queries,
                    beginning_of_pass_write_index: None,
                    end_of_pass_write_index: Some(1),
                }),
            }));
            self.work.resolve_query_set(&timer.queries, 0..2, &timer.resolved, 0);
            mapped_bytes += TIMER_BYTES;
        }
        let context = &self.context;
        let readback = context.pool().take(context, "hullfield.readback", Use::Readback, mapped_bytes)?;
        for copy in self.reads {
            self.kept.push(copy.encode(&mut self.work, readback.raw()));
        }
        if let Some((timer, Some(target))) = &timer {
            self.work.copy_buffer_to_buffer(&timer.resolved, 0, readback.raw(), *target, Some(TIMER_BYTES));
        }
        let Self { context, uploads, work, kept, compile_ms, begin, .. } = self;
        let ((uploads, staging), work) = context.scoped(|| (uploads.finish(), work.finish()))?;
        let encode_ms = (milliseconds(begin) - compile_ms).max(0.0);
        Ok(EncodedFrame {
            commands: [uploads, work],
            kept,
            staging,
            readback,
            mapped_bytes: mapped_bytes.max(16),
            timer,
            times: FrameTimes { encode_ms, compile_ms, ..FrameTimes::default() },
            context,
        })
    }
}

/// A frame that is fully encoded. Nothing of it has run yet: dropped, it gives all its buffers back as they are.
pub(super) struct EncodedFrame {
    pub(super) context: Context,
    /// Uploads, then work.
    pub(super) commands: [wgpu::CommandBuffer; 2],
    pub(super) kept: Vec<Arc<PooledBuffer>>,
    pub(super) staging: StagingBuffers,
    pub(super) readback: PooledBuffer,
    /// Bytes of the readback buffer to map.
    pub(super) mapped_bytes: u64,
    /// The timer, and where in the readback buffer its timestamps are, if it was used.
    pub(super) timer: Option<(Timer, Option<u64>)>,
    pub(super) times: FrameTimes,
}

/// Groups along x and y that hold at least `group_count`, neither above 65,535.
pub(crate) fn group_grid(group_count: u64) -> Result<(u32, u32)> {
    let limit = u64::from(MAX_GROUPS);
    let y = group_count.div_ceil(limit);
    if y > limit {
        return Err(Error::TooMany {
            what: "groups of one dispatch",
            count: group_count,
            limit: limit * limit,
        });
    }
    Ok((group_count.div_ceil(y.max(1)) as u32, y as u32))
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frame").field("label", &self.label).finish_non_exhaustive()
    }
}
