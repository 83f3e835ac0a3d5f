//! Data on its way from the host to the device.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::pool::{PooledBuffer, Use};

/// Bytes of one staging buffer, where a single upload does not need more.
const STAGING_BYTES: u64 = 1 << 20;
/// Larger uploads are rare (an arena of hulls) and get a buffer of their own. It is not pooled and, like wgpu's own staging,
/// not counted.
const LARGE_UPLOAD_BYTES: u64 = 1 << 24;

/// The uploads of one frame: an encoder of copies, and the mapped buffers that they read.
pub(super) struct Uploads {
    encoder: wgpu::CommandEncoder,
    buffers: StagingBuffers,
}

/// Mapped buffers that submitted copies will read.
pub(super) struct StagingBuffers {
    pooled: Vec<Staging>,
    /// Each used once.
    large: Vec<wgpu::Buffer>,
}

/// A mapped upload buffer and how much of it is written.
struct Staging {
    buffer: PooledBuffer,
    used: u64,
}

impl Uploads {
    pub(super) fn new(encoder: wgpu::CommandEncoder) -> Self {
        Self { encoder, buffers: StagingBuffers { pooled: Vec::new(), large: Vec::new() } }
    }

    /// Copies `bytes` into staging memory now, and from there to `offset` in `target` when the frame runs. The caller keeps
    /// `target` until then.
    pub(super) fn write(
        &mut self,
        context: &Context,
        target: &wgpu::Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<()> {
        let size = (bytes.len() as u64).next_multiple_of(4);
        context.account().uploaded_bytes.fetch_add(size, Relaxed);
        if size > LARGE_UPLOAD_BYTES {
            let source = context.scoped(|| {
                context.device().create_buffer(&wgpu::BufferDescriptor {
                    label: Some("hullfield.upload.large"),
                    size,
                    usage: Use::Upload.usages(),
                    mapped_at_creation: true,
                })
            })?;
            write_mapped(context, &source, 0..size, bytes)?;
            self.encoder.copy_buffer_to_buffer(&source, 0, target, offset, Some(size));
            self.buffers.large.push(source);
            return Ok(());
        }
        let pooled = &mut self.buffers.pooled;
        let has_space = pooled.last().is_some_and(|staging| staging.used + size <= staging.buffer.bytes());
        if !has_space {
            let wanted = size.max(STAGING_BYTES);
            let buffer = context.pool().take(context, "hullfield.upload", Use::Upload, wanted)?;
            pooled.push(Staging { buffer, used: 0 });
        }
        let Some(staging) = pooled.last_mut() else {
            return Err(Error::internal("gpu::upload::write", "no staging buffer was taken"));
        };
        let source = staging.buffer.raw();
        write_mapped(context, source, staging.used..staging.used + size, bytes)?;
        self.encoder.copy_buffer_to_buffer(source, staging.used, target, offset, Some(size));
        // Mapped ranges start on multiples of 8.
        staging.used += size.next_multiple_of(8);
        Ok(())
    }

    /// Ends encoding. The staging buffers are still mapped.
    pub(super) fn finish(self) -> (wgpu::CommandBuffer, StagingBuffers) {
        (self.encoder.finish(), self.buffers)
    }
}

impl StagingBuffers {
    /// Unmaps the buffers. Once `commands` have run the pooled ones are mapped again and go back to the pool.
    pub(super) fn unmap(self, commands: &wgpu::CommandBuffer) {
        self.large.iter().for_each(wgpu::Buffer::unmap);
        for Staging { buffer, .. } in self.pooled {
            buffer.raw().unmap();
            let raw = buffer.raw().clone();
            // A buffer that can't be mapped again is freed: the device is in trouble.
            commands.map_buffer_on_submit(&raw, wgpu::MapMode::Write, .., move |mapped| match mapped {
                Ok(()) => drop(buffer),
                Err(_) => buffer.discard(),
            });
        }
    }
}

/// Writes `bytes` to a mapped range of a buffer that is as long or up to three bytes longer, and zeros behind them.
fn write_mapped(context: &Context, buffer: &wgpu::Buffer, range: Range<u64>, bytes: &[u8]) -> Result<()> {
    let padding = (range.end - range.start) as usize - bytes.len();
    let mut view = buffer.get_mapped_range_mut(range).map_err(|error| {
        // In a browser only the loss of the device unmaps a buffer, and the browser says so later.
        #[cfg(target_arch = "wasm32")]
        context.set_lost("it takes no more work".to_owned());
        context.diagnose(Error::internal("gpu::upload::write_mapped", error.to_string()))
    })?;
    view.slice(..bytes.len()).copy_from_slice(bytes);
    if padding > 0 {
        view.slice(bytes.len()..).copy_from_slice(&[0; 3][..padding]);
    }
    Ok(())
}
