//! Tiles on the device of an engine.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Condvar, Mutex, PoisonError};

use crate::engine::Engine;
use crate::error::Result;
use crate::flow::field::cpu::moves::CostRange;
#[cfg(not(target_arch = "wasm32"))]
use crate::flow::field::gpu::improve;
use crate::flow::grid::cells::Grid;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::context::Context;
#[cfg(not(target_arch = "wasm32"))]
use crate::lock::lock;

/// The most tiles on the device at once: it works on one, and what the next one needs is on its way. Others are read and written meanwhile.
pub(crate) const MAX_ON_DEVICE: u64 = 2;
/// Bytes of device memory for a tile, whatever its size: the least staging memory of its frames, parameters and counts of rounds.
const FIXED_BYTES: u64 = 4 << 20;
/// Cells along the edge of the tiles in which the device relaxes a window.
const DEVICE_EDGE: u64 = 32;
/// Bytes for each of these: its words in the queues.
const QUEUE_BYTES: u64 = 20;

/// The bytes of device memory that a window takes while it is solved: costs and distances, 4 bytes a cell each, obstacles, a bit each, and queues; as much for
/// their staging; 4 bytes a cell to read back; and a quarter more, by which the engine's pool grows. Without costs it takes less.
pub(crate) fn device_bytes([width, height]: [u64; 2]) -> u64 {
    let cells = width.saturating_mul(height);
    let obstacles = height.saturating_mul(width.div_ceil(64) * 8);
    let queues = width.div_ceil(DEVICE_EDGE).saturating_mul(height.div_ceil(DEVICE_EDGE) * QUEUE_BYTES);
    let arrays = cells.saturating_mul(8).saturating_add(obstacles).saturating_add(queues);
    let all = arrays.saturating_mul(2).saturating_add(cells.saturating_mul(4));
    all.saturating_add(all / 4).saturating_add(FIXED_BYTES)
}

/// The device of an engine, which lowers the distances of a few tiles at once.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub(crate) struct TileDevice {
    context: Context,
    /// How many more tiles may go there now.
    free_count: Mutex<u64>,
    /// Notified when a tile is done.
    freed: Condvar,
}

/// A tile is on the device as long as this is held.
#[cfg(not(target_arch = "wasm32"))]
struct OnDevice<'a>(&'a TileDevice);

#[cfg(not(target_arch = "wasm32"))]
impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free_count) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl TileDevice {
    /// The device of an engine for up to `count` tiles at once; none of the CPU engine.
    pub(crate) fn new(engine: &Engine, count: u64) -> Option<Self> {
        let (free_count, freed) = (Mutex::new(count), Condvar::new());
        engine.context().map(|context| Self { free_count, freed, context: context.clone() })
    }

    /// Lowers distances as [`improve::improve`] does. Waits for other tiles and for the device, so no thread of the library's pool may call it.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn improve(
        &self,
        grid: &Grid,
        costs: CostRange,
        distances: &mut [u64],
        seeds: &[u32],
        max_distance: u64,
        spare: &mut Vec<u32>,
    ) -> Result<bool> {
        let _on_device = self.enter();
        improve::improve(&self.context, grid, costs, distances, seeds, max_distance, spare)
    }

    fn enter(&self) -> OnDevice<'_> {
        let mut free_count = lock(&self.free_count);
        while *free_count == 0 {
            free_count = self.freed.wait(free_count).unwrap_or_else(PoisonError::into_inner);
        }
        *free_count -= 1;
        OnDevice(self)
    }
}

/// In a browser nothing may wait for a device: there is none.
#[cfg(target_arch = "wasm32")]
#[derive(Debug)]
pub(crate) enum TileDevice {}

#[cfg(target_arch = "wasm32")]
impl TileDevice {
    pub(crate) fn new(_: &Engine, _: u64) -> Option<Self> {
        None
    }

    pub(crate) fn improve(
        &self,
        _: &Grid,
        _: CostRange,
        _: &mut [u64],
        _: &[u32],
        _: u64,
        _: &mut Vec<u32>,
    ) -> Result<bool> {
        match *self {}
    }
}
