//! A solved field over a raster.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;

use crate::error::{Error, Location, Result};
#[cfg(doc)]
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::options::RasterReport;
use crate::flow::raster::source::RasterWindow;
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};
use crate::flow::raster::tiling::Tiling;
use crate::lock::lock;

/// A solved field over a raster, whose distances are in a store.
pub struct RasterField<'a, S> {
    store: &'a S,
    tiling: Tiling,
    /// The tiles that the store has.
    solved: HashSet<usize>,
    report: RasterReport,
    /// The distances of the tile that was last read: memory for the next.
    spare: Mutex<Vec<u64>>,
}

impl<'a, S> RasterField<'a, S> {
    /// A field of which the store has the tiles `solved`; no cell of the others is reached.
    pub(crate) fn new(store: &'a S, tiling: Tiling, solved: HashSet<usize>, report: RasterReport) -> Self {
        Self { store, tiling, solved, report, spare: Mutex::default() }
    }
}

impl<S> fmt::Debug for RasterField<'_, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RasterField").field("report", &self.report).finish_non_exhaustive()
    }
}

impl<S: TileStore> RasterField<'_, S> {
    /// What was solved, and how.
    pub fn report(&self) -> &RasterReport {
        &self.report
    }

    /// The windows of the tiles, in the order of their rows: read in this order each tile is read once.
    pub fn windows(&self) -> impl Iterator<Item = RasterWindow> {
        let tiling = self.tiling;
        (0..tiling.tile_count()).map(move |number| tiling.cells(number))
    }

    /// The distances of a window, row-major, in the units of [`Connectivity`]; `u64::MAX` for obstacles and where no goal is reached.
    ///
    /// Reads all tiles that the window meets.
    ///
    /// # Errors
    /// [`Error::Value`] for a window that is empty or not in the raster; what the store gives; [`Error::Io`] where a tile
    /// was lost since.
    pub fn distances(&self, window: RasterWindow) -> Result<Vec<u64>> {
        self.check(window)?;
        let mut distances = vec![RASTER_UNREACHABLE; window.cell_count()];
        self.read(window, &mut distances)?;
        Ok(distances)
    }

    /// Writes the distances of a window to `distances`, which has one entry for each of its cells: [`Self::distances`] without new memory.
    ///
    /// # Errors
    /// Those of [`Self::distances`]; [`Error::Count`] where `distances` has another length.
    pub fn read(&self, window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        self.check(window)?;
        if distances.len() != window.cell_count() {
            let allowed = format!("the window has {} cells", window.cell_count());
            let given = distances.len() as u64;
            return Err(Error::Count { at: Location::Argument, what: "distances", given, allowed });
        }
        distances.fill(RASTER_UNREACHABLE);
        let [first, last] =
            [[window.x, window.y], [window.x + window.width - 1, window.y + window.height - 1]]
                .map(|cell| cell.map(|at| at / self.tiling.edge));
        for tile in (first[1]..=last[1]).flat_map(|y| (first[0]..=last[0]).map(move |x| [x, y])) {
            self.read_part(tile, window, distances)?;
        }
        Ok(())
    }

    fn check(&self, window: RasterWindow) -> Result<()> {
        let [width, height] = self.tiling.size;
        let ends = |start: u32, length: u32, most: u32| {
            length > 0 && start.checked_add(length).is_some_and(|end| end <= most)
        };
        if ends(window.x, window.width, width) && ends(window.y, window.height, height) {
            return Ok(());
        }
        let allowed = format!("it must have cells, all in the raster of {width} x {height}");
        Err(Error::value(Location::Argument, "window", format!("{window:?}"), allowed))
    }

    /// Reads what a tile has of a window.
    fn read_part(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        let number = self.tiling.number(tile);
        let (cells, stored) = (self.tiling.cells(number), self.tiling.window(number));
        if !self.solved.contains(&number) {
            // No cell of it is reached.
            return Ok(());
        }
        let mut tile_distances = std::mem::take(&mut *lock(&self.spare));
        tile_distances.resize(stored.cell_count(), RASTER_UNREACHABLE);
        if !self.store.read(tile, stored, &mut tile_distances)? {
            let [x, y] = tile;
            let message = "it was solved, but the store has lost or damaged it since: solve again".to_owned();
            return Err(Error::Io { what: format!("tile {x}, {y} of the field"), message });
        }
        let columns = cells.x.max(window.x)..(cells.x + cells.width).min(window.x + window.width);
        for y in cells.y.max(window.y)..(cells.y + cells.height).min(window.y + window.height) {
            let start = [columns.start, y];
            if let (Some(from), Some(to)) = (stored.index(start), window.index(start)) {
                distances[to..to + columns.len()]
                    .copy_from_slice(&tile_distances[from..from + columns.len()]);
            }
        }
        *lock(&self.spare) = tile_distances;
        Ok(())
    }
}
