//! Data on its way from the device to the host.

use std::{borrow::Cow, marker::PhantomData, ops::Range, sync::Arc};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::pool::PooledBuffer;
use crate::gpu::timing::FrameTimes;

/// Names values that a frame reads back; [`Results::get`] exchanges it for them.
#[derive(Debug)]
pub(crate) struct Read<T> {
    offset: u64,
    len: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Pod> Read<T> {
    /// `range` of a buffer, which will lie at `target` in the readback buffer.
    pub(super) fn new(target: u64, range: &Range<usize>) -> Self {
        Self { offset: target, len: range.len(), of: PhantomData }
    }
}

/// A copy to the readback buffer, encoded at the end of the frame.
pub(super) struct ReadbackCopy {
    source: Arc<PooledBuffer>,
    offset: u64,
    bytes: u64,
    target: u64,
}

impl ReadbackCopy {
    /// `range` of a buffer to `target`; none for an empty range.
    pub(super) fn new<T: Pod>(buffer: &Buffer<T>, range: &Range<usize>, target: u64) -> Option<Self> {
        let (offset, bytes) = byte_range::<T>(range);
        let offset = buffer.offset() + offset;
        (bytes > 0).then(|| Self { source: Arc::clone(buffer.pooled()), offset, bytes, target })
    }

    /// Bytes in the readback buffer.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.next_multiple_of(16)
    }

    /// Encodes the copy, and returns the buffer that must outlive it.
    pub(super) fn encode(
        self,
        encoder: &mut wgpu::CommandEncoder,
        readback: &wgpu::Buffer,
    ) -> Arc<PooledBuffer> {
        encoder.copy_buffer_to_buffer(
            self.source.raw(),
            self.offset,
            readback,
            self.target,
            Some(self.bytes),
        );
        self.source
    }
}

/// Offset and size of a range of values, in bytes; the size is a multiple of 4, as copies require.
pub(super) fn byte_range<T>(range: &Range<usize>) -> (u64, u64) {
    let size = size_of::<T>() as u64;
    (range.start as u64 * size, (range.len() as u64 * size).next_multiple_of(4))
}

/// The results of a frame in host memory. Dropping it gives back the frame's buffers.
pub(crate) struct Results {
    view: Option<wgpu::BufferView>,
    readback: Option<PooledBuffer>,
    kept: Vec<Arc<PooledBuffer>>,
    times: FrameTimes,
    context: Context,
}

impl Results {
    /// The mapped readback buffer of a frame, and the buffers that the frame kept.
    pub(super) fn new(
        context: Context,
        readback: PooledBuffer,
        view: wgpu::BufferView,
        kept: Vec<Arc<PooledBuffer>>,
        times: FrameTimes,
    ) -> Self {
        Self { view: Some(view), readback: Some(readback), kept, times, context }
    }

    /// The values that were read back.
    ///
    /// # Errors
    /// [`Error::Internal`] for a read of another frame that is past the end of this one's.
    pub(crate) fn get<T: Pod>(&self, read: &Read<T>) -> Result<Cow<'_, [T]>> {
        let (start, bytes) = (read.offset as usize, read.len * size_of::<T>());
        let view = self.view.as_deref().unwrap_or_default();
        let Some(bytes) = view.get(start..start + bytes) else {
            let len = view.len();
            let message = format!("{bytes} bytes at {start} were not read back, of {len} that were");
            return Err(Error::internal("gpu::readback::Results::get", message));
        };
        Ok(match bytemuck::try_cast_slice(bytes) {
            Ok(values) => Cow::Borrowed(values),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(bytes)),
        })
    }

    /// The first of the values that were read back.
    ///
    /// # Errors
    /// As of [`get`](Self::get); [`Error::Internal`] for a read of none.
    pub(crate) fn first<T: Pod>(&self, read: &Read<T>) -> Result<T> {
        let none = || Error::internal("gpu::readback::Results::first", "the read is of no values");
        self.get(read)?.first().copied().ok_or_else(none)
    }

    pub(crate) fn times(&self) -> FrameTimes {
        self.times
    }

    /// The context of the frame, for one more frame.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        self.view = None;
        self.kept.clear();
        if let Some(readback) = self.readback.take() {
            match self.context.guarded(|| readback.raw().unmap()) {
                Ok(()) => drop(readback),
                Err(_) => readback.discard(),
            }
        }
    }
}

impl std::fmt::Debug for Results {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Results").field("times", &self.times).finish_non_exhaustive()
    }
}
