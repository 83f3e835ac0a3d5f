//! Typed device buffers from the pool.

use std::{fmt, marker::PhantomData, ops::Range, sync::Arc};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::pool::{BoundRange, PooledBuffer, Use};

/// A handle of `len` values of `T` on the device. The last handle gives the memory back to the pool.
pub(crate) struct Buffer<T> {
    pooled: Arc<PooledBuffer>,
    /// Where its values begin, in bytes.
    offset: u64,
    len: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { pooled: Arc::clone(&self.pooled), offset: self.offset, len: self.len, of: PhantomData }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, usage) = self.pooled.role();
        formatter
            .debug_struct("Buffer")
            .field("label", &label)
            .field("use", &usage)
            .field("len", &self.len)
            .finish()
    }
}

impl<T: Pod> Buffer<T> {
    /// A buffer of `len` values, of unknown content. `label` is its role, such as `hullfield.collide.pairs`: from frame to frame
    /// buffers of one label are reused for each other.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`](crate::error::Error::MemoryLimit) past the engine's limit or the device's largest buffer, [`Error::OutOfMemory`](crate::error::Error::OutOfMemory),
    /// [`Error::DeviceLost`](crate::error::Error::DeviceLost).
    pub(crate) fn new(context: &Context, label: &'static str, len: usize) -> Result<Self> {
        Self::with_use(context, label, len, Use::Storage)
    }

    /// As [`new`](Self::new), for another use.
    pub(crate) fn with_use(context: &Context, label: &'static str, len: usize, usage: Use) -> Result<Self> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let pooled = context.pool().take(context, label, usage, bytes)?;
        Ok(Self { pooled: Arc::new(pooled), offset: 0, len, of: PhantomData })
    }

    /// A buffer of the caller, of at least `len` values, which never goes to the pool.
    pub(crate) fn given(context: &Context, label: &'static str, buffer: &wgpu::Buffer, len: usize) -> Self {
        let pooled = PooledBuffer::given(context.pool(), label, buffer);
        Self { pooled: Arc::new(pooled), offset: 0, len, of: PhantomData }
    }

    /// `len` values of another type in the same memory, from a byte that is a multiple of 256. For a list that is done with
    /// before this buffer's own values are written: the kernels of a frame run in order, but its uploads come before all of them.
    /// One dispatch can't bind a buffer both to read and to write, nor overlapping parts of one to write.
    ///
    /// # Errors
    /// [`Error::Internal`] past the end, or at another byte.
    pub(crate) fn part<U: Pod>(&self, offset: u64, len: usize) -> Result<Buffer<U>> {
        let bytes = (len as u64).saturating_mul(size_of::<U>() as u64);
        let own = self.len as u64 * size_of::<T>() as u64;
        if !offset.is_multiple_of(256) || offset.checked_add(bytes).is_none_or(|end| end > own) {
            let message = format!("{bytes} bytes at {offset} of {own}");
            return Err(Error::internal("gpu::buffer::part", message));
        }
        let (pooled, offset) = (Arc::clone(&self.pooled), self.offset + offset);
        Ok(Buffer { pooled, offset, len, of: PhantomData })
    }

    /// How many values it holds.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where its values begin in the buffer itself, in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The buffer itself, for copies.
    pub(crate) fn raw(&self) -> &wgpu::Buffer {
        self.pooled.raw()
    }

    pub(crate) fn pooled(&self) -> &Arc<PooledBuffer> {
        &self.pooled
    }

    /// The whole buffer, for a kernel: `arrayLength` there is `len`, or 1 (and the content undefined) where `len` is 0.
    pub(crate) fn bind(&self) -> BoundRange {
        BoundRange {
            pooled: Arc::clone(&self.pooled),
            offset: self.offset,
            bytes: bound_bytes::<T>(self.len),
        }
    }

    /// The whole buffer, for a bind group of the caller.
    pub(crate) fn binding(&self) -> wgpu::BufferBinding<'_> {
        let size = wgpu::BufferSize::new(bound_bytes::<T>(self.len));
        wgpu::BufferBinding { buffer: self.raw(), offset: self.offset, size }
    }

    /// The values in `range`, for a kernel. The first must lie on a multiple of 256 bytes: ranges of
    /// [`chunk_len`] values do.
    pub(crate) fn bind_range(&self, range: Range<usize>) -> BoundRange {
        let offset = self.offset + range.start as u64 * size_of::<T>() as u64;
        BoundRange { pooled: Arc::clone(&self.pooled), offset, bytes: bound_bytes::<T>(range.len()) }
    }
}

/// The size of a binding: a multiple of 4 bytes, and never 0.
fn bound_bytes<T>(len: usize) -> u64 {
    ((len.max(1) * size_of::<T>()) as u64).next_multiple_of(4)
}

/// The most values of `T` in one binding such that the next binding starts on a multiple of 256 bytes.
pub(crate) fn chunk_len<T>(context: &Context) -> usize {
    let size = size_of::<T>().max(1);
    // 256 values start on a multiple of 256 bytes whatever their size; but a size that divides 256 needs fewer.
    let granule = if 256 % size == 0 { 256 / size } else { 256 };
    ((context.binding_limit() / size as u64) as usize / granule * granule).max(granule)
}

/// `0..len` in ranges of `step`.
pub(crate) fn chunks(len: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len.div_ceil(step)).map(move |i| i * step..((i + 1) * step).min(len))
}
