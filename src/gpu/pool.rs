//! The pool of buffers: taken by role, counted as long as they exist, kept for the next frame.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, atomic::Ordering},
};

use crate::account::Account;
use crate::error::{Error, Result};
use crate::gpu::device::Device;
use crate::lock::lock;
use crate::observe::event;

/// What a buffer is for. The pool never gives a buffer of one use for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// Read and written by kernels, copied from and to.
    Storage,
    /// As storage, and the source of the group counts of an indirect dispatch.
    Indirect,
    /// Parameters of kernels.
    Uniform,
    /// Written by the host, copied to the device.
    Upload,
    /// Copied from the device, read by the host.
    Readback,
}

impl Use {
    pub(crate) fn usages(self) -> wgpu::BufferUsages {
        use wgpu::BufferUsages as U;
        match self {
            Self::Storage => U::STORAGE | U::COPY_SRC | U::COPY_DST,
            Self::Indirect => U::STORAGE | U::COPY_SRC | U::COPY_DST | U::INDIRECT,
            Self::Uniform => U::UNIFORM | U::COPY_DST,
            Self::Upload => U::MAP_WRITE | U::COPY_SRC,
            Self::Readback => U::MAP_READ | U::COPY_DST,
        }
    }

    fn is_staging(self) -> bool {
        matches!(self, Self::Upload | Self::Readback)
    }
}

/// The free buffers, by role. A role is a label and a use. Buffers of one role are interchangeable, and grow to the largest size
/// that was asked for.
#[derive(Debug)]
pub(crate) struct Pool {
    roles: Mutex<HashMap<(&'static str, Use), Role>>,
    account: Arc<Account>,
}

#[derive(Debug, Default)]
struct Role {
    free: Vec<CountedBuffer>,
    largest_bytes: u64,
}

/// One buffer of the device, counted in the account as long as it exists.
#[derive(Debug)]
struct CountedBuffer {
    buffer: wgpu::Buffer,
    bytes: u64,
    account: Arc<Account>,
}

impl Drop for CountedBuffer {
    fn drop(&mut self) {
        self.account.give(self.bytes);
    }
}

/// A buffer taken from the pool: dropping it gives it back.
///
/// It may be given back while submitted work still uses it, as the queue runs submissions in order. Work that is encoded but not
/// submitted must keep its buffers; a [`Frame`](crate::gpu::frame::Frame) does.
#[derive(Debug)]
pub(crate) struct PooledBuffer {
    raw: Option<CountedBuffer>,
    buffer: wgpu::Buffer,
    role: (&'static str, Use),
    pool: Arc<Pool>,
}

impl PooledBuffer {
    /// A buffer of the caller, which never goes to the pool.
    pub(crate) fn given(pool: &Arc<Pool>, label: &'static str, buffer: &wgpu::Buffer) -> Self {
        Self { raw: None, buffer: buffer.clone(), role: (label, Use::Storage), pool: Arc::clone(pool) }
    }

    /// Its label and its use.
    pub(crate) fn role(&self) -> (&'static str, Use) {
        self.role
    }

    pub(crate) fn raw(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.raw.as_ref().map_or(0, |raw| raw.bytes)
    }

    /// Frees the buffer instead of giving it back, for one whose state is unknown.
    pub(crate) fn discard(mut self) {
        self.raw = None;
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            lock(&self.pool.roles).entry(self.role).or_default().free.push(raw);
        }
    }
}

impl Pool {
    pub(crate) fn new(account: Arc<Account>) -> Self {
        Self { roles: Mutex::default(), account }
    }

    /// Frees all free buffers of the pool.
    pub(crate) fn trim(&self) {
        let unused: Vec<CountedBuffer> =
            lock(&self.roles).values_mut().flat_map(|role| role.free.drain(..)).collect();
        drop(unused);
    }

    /// The labels and bytes of the free buffers of the device, without staging and uniforms.
    #[cfg(test)]
    pub(crate) fn free_bytes(&self) -> Vec<(&'static str, u64)> {
        let roles = lock(&self.roles);
        let counted = roles.iter().filter(|((_, usage), _)| matches!(usage, Use::Storage | Use::Indirect));
        let mut all: Vec<_> = counted
            .map(|((label, _), role)| (*label, role.free.iter().map(|buffer| buffer.bytes).sum()))
            .collect();
        all.sort_unstable();
        all
    }

    /// A buffer of at least `bytes`: the smallest free one of its role that is large enough, else a new one.
    pub(crate) fn take(
        self: &Arc<Self>,
        device: &Device,
        label: &'static str,
        usage: Use,
        bytes: u64,
    ) -> Result<PooledBuffer> {
        let role_key = (label, usage);
        let needed = bytes.max(16).next_multiple_of(16);
        let largest_allowed = device.limits().max_buffer_size;
        if needed > largest_allowed {
            return Err(Error::MemoryLimit {
                what: label,
                needed_bytes: needed,
                limit_bytes: largest_allowed,
            });
        }
        let (too_small, wanted) = {
            let mut roles = lock(&self.roles);
            let role = roles.entry(role_key).or_default();
            let fit = (0..role.free.len())
                .filter(|&i| role.free[i].bytes >= needed)
                .min_by_key(|&i| role.free[i].bytes);
            if let Some(fit) = fit {
                let raw = role.free.swap_remove(fit);
                return Ok(PooledBuffer {
                    buffer: raw.buffer.clone(),
                    raw: Some(raw),
                    role: role_key,
                    pool: Arc::clone(self),
                });
            }
            // The first buffer of a role has the size that was asked for. A role that grows gets a quarter more, so that it does
            // not grow at every frame. One more frame in flight gets the size of the largest so far.
            let wanted = match role.largest_bytes {
                0 => needed,
                largest if needed <= largest && needed >= largest / 4 => largest,
                _ => (needed + needed / 4).next_multiple_of(16),
            };
            // The free buffers were too small, and would be next time.
            (std::mem::take(&mut role.free), wanted.min(largest_allowed / 16 * 16).max(needed))
        };
        drop(too_small);
        device.check()?;
        let raw = match self.create(device, label, usage, wanted) {
            Ok(raw) => raw,
            Err(Error::MemoryLimit { .. } | Error::OutOfMemory { .. }) => {
                self.trim();
                self.create(device, label, usage, needed)?
            }
            Err(error) => return Err(error),
        };
        let mut roles = lock(&self.roles);
        let role = roles.entry(role_key).or_default();
        role.largest_bytes = role.largest_bytes.max(raw.bytes);
        Ok(PooledBuffer {
            buffer: raw.buffer.clone(),
            raw: Some(raw),
            role: role_key,
            pool: Arc::clone(self),
        })
    }

    fn create(&self, device: &Device, label: &'static str, usage: Use, bytes: u64) -> Result<CountedBuffer> {
        if !self.account.take(bytes) {
            let used = self.account.buffer_bytes.load(Ordering::Relaxed);
            let limit_bytes = self.account.limit_bytes;
            let needed_bytes = used.saturating_add(bytes);
            return Err(Error::MemoryLimit { what: label, needed_bytes, limit_bytes });
        }
        let made = device.scoped(|| {
            device.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: bytes,
                usage: usage.usages(),
                mapped_at_creation: usage == Use::Upload,
            })
        });
        match made {
            Ok(buffer) => {
                let count = if usage.is_staging() {
                    &self.account.staging_created
                } else {
                    &self.account.buffers_created
                };
                count.fetch_add(1, Ordering::Relaxed);
                event!(label, bytes, "a buffer of the device was made");
                Ok(CountedBuffer { buffer, bytes, account: Arc::clone(&self.account) })
            }
            Err(error) => {
                self.account.give(bytes);
                Err(error)
            }
        }
    }
}

/// A range of a buffer that is bound to a kernel.
#[derive(Debug, Clone)]
pub(crate) struct BoundRange {
    pub(crate) pooled: Arc<PooledBuffer>,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}
