//! Where costs come from: rasters of the caller's, read a window at a time.

use crate::error::{Error, Location, Result};

/// A rectangle of cells of a raster. `x` is its first column, `y` its first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RasterWindow {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl RasterWindow {
    /// The number of cells.
    pub fn cell_count(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// The position of a cell of the raster in row-major arrays of the window; `None` outside of it.
    pub(crate) fn index(&self, [x, y]: [u32; 2]) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.x)?, y.checked_sub(self.y)?);
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }
}

/// A raster of costs, in two dimensions, which is read a window at a time: from a file, from a database, from memory.
///
/// Several threads read at once. A window may be read more than once, and must have the same costs each time.
pub trait Raster: Sync {
    /// Columns and rows. They do not change.
    fn size(&self) -> [u32; 2];

    /// What tells this raster from others, for a [`TileStore`](crate::flow::TileStore) that outlives the call: a file's name, length and time of change,
    /// say. Distances that were solved over another raster are then not taken for those of this one. By default nothing.
    fn identity(&self) -> String {
        String::new()
    }

    /// Writes the cost of entering each cell of a window, row-major, as a multiple of the step's length; 0 is an obstacle. `costs` has
    /// one entry for each cell of the window, which lies in the raster.
    ///
    /// # Errors
    /// Any. It ends the call that reads, and comes back from it.
    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()>;
}

/// A raster in memory: costs of all cells, row-major, 0 for obstacles.
///
/// ```
/// use hullfield::flow::{MemoryRaster, Raster, RasterWindow};
///
/// let raster = MemoryRaster::new([3, 2], vec![1, 0, 1, 5, 1, 1])?;
/// let mut costs = [9; 2];
/// raster.read(RasterWindow { x: 1, y: 1, width: 2, height: 1 }, &mut costs)?;
/// assert_eq!(costs, [1, 1]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRaster {
    size: [u32; 2],
    costs: Vec<u32>,
}

impl MemoryRaster {
    /// A raster of `size` columns and rows.
    ///
    /// # Errors
    /// [`Error::Count`] unless `costs` has an entry for each cell.
    pub fn new(size: [u32; 2], costs: Vec<u32>) -> Result<Self> {
        let cell_count = u64::from(size[0]) * u64::from(size[1]);
        if costs.len() as u64 != cell_count {
            let allowed = format!("the raster has {cell_count} cells");
            let given = costs.len() as u64;
            return Err(Error::Count { at: Location::Argument, what: "costs", given, allowed });
        }
        Ok(Self { size, costs })
    }
}

impl Raster for MemoryRaster {
    fn size(&self) -> [u32; 2] {
        self.size
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()> {
        let (pitch, width) = (self.size[0] as usize, window.width as usize);
        let first = window.y as usize * pitch + window.x as usize;
        for (row, costs) in costs.chunks_mut(width).enumerate() {
            let at = first + row * pitch;
            costs.copy_from_slice(&self.costs[at..at + width]);
        }
        Ok(())
    }
}
