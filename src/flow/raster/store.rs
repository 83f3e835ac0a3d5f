//! Where the distances of tiles are kept while a field is solved.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::flow::raster::source::RasterWindow;
use crate::lock::lock;

/// The distance of cells from which no goal is reached, and of obstacles.
pub const RASTER_UNREACHABLE: u64 = u64::MAX;

/// What keeps the distances of tiles: files ([`TileFiles`](crate::flow::TileFiles)), memory ([`MemoryTiles`]), or the caller's own.
///
/// A tile comes with its halo, so the windows of neighbours overlap. Several threads call at once, each for another tile.
pub trait TileStore: Sync {
    /// Called once before all else. `job` names everything that the distances depend on: the raster, the tiles, the goals, the moves. A
    /// store that still holds tiles of another job must refuse or forget them.
    ///
    /// # Errors
    /// Any. It ends the call.
    fn begin(&self, job: &str) -> Result<()> {
        let _ = job;
        Ok(())
    }

    /// Reads the window that was last written for a tile. Returns false, and leaves `distances` as they are, if none was. A window
    /// of which some part is lost must count as one that was never written.
    ///
    /// # Errors
    /// Any. It ends the call that reads, and comes back from it.
    fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool>;

    /// Writes the window of a tile, in place of the one before. Either all of it is written or nothing.
    ///
    /// # Errors
    /// Any. It ends the call that writes, and comes back from it.
    fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()>;
}

/// Tiles in memory, 8 bytes a cell.
#[derive(Debug, Default)]
pub struct MemoryTiles(Mutex<HashMap<[u32; 2], Vec<u64>>>);

impl TileStore for MemoryTiles {
    fn read(&self, tile: [u32; 2], _: RasterWindow, distances: &mut [u64]) -> Result<bool> {
        match lock(&self.0).get(&tile) {
            Some(stored) if stored.len() == distances.len() => {
                distances.copy_from_slice(stored);
                Ok(true)
            }
            Some(stored) => {
                let message =
                    format!("tile {tile:?} has {} cells, {} were asked for", stored.len(), distances.len());
                Err(Error::internal("flow::raster::store::read", message))
            }
            None => Ok(false),
        }
    }

    fn write(&self, tile: [u32; 2], _: RasterWindow, distances: &[u64]) -> Result<()> {
        lock(&self.0).insert(tile, distances.to_vec());
        Ok(())
    }
}
