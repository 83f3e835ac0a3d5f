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

    /// Writes the friction of each cell of a window, row-major: what a step costs for each unit of its length. A cell is a barrier where its friction is not finite, 0
    /// or negative. Friction is read in place of the costs where [`RasterOptions::friction`](crate::flow::RasterOptions::friction) is given. By default the costs of [`read`](Self::read).
    ///
    /// # Errors
    /// Any. It ends the call that reads, and comes back from it.
    fn read_friction(&self, window: RasterWindow, friction: &mut [f64]) -> Result<()> {
        let mut costs = vec![0; friction.len()];
        self.read(window, &mut costs)?;
        friction.iter_mut().zip(costs).for_each(|(friction, cost)| *friction = cost.into());
        Ok(())
    }
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
        check_count(size, "costs", costs.len())?;
        Ok(Self { size, costs })
    }
}

/// # Errors
/// [`Error::Count`] unless there is one for each cell.
fn check_count(size: [u32; 2], what: &'static str, given: usize) -> Result<()> {
    let cell_count = u64::from(size[0]) * u64::from(size[1]);
    if given as u64 == cell_count {
        return Ok(());
    }
    let allowed = format!("the raster has {cell_count} cells");
    Err(Error::Count { at: Location::Argument, what, given: given as u64, allowed })
}

/// Copies a window out of an array of all cells.
fn copy_window<N: Copy>(cells: &[N], size: [u32; 2], window: RasterWindow, copy: &mut [N]) {
    let (pitch, width) = (size[0] as usize, window.width as usize);
    let first = window.y as usize * pitch + window.x as usize;
    for (row, copy) in copy.chunks_mut(width).enumerate() {
        let at = first + row * pitch;
        copy.copy_from_slice(&cells[at..at + width]);
    }
}

impl Raster for MemoryRaster {
    fn size(&self) -> [u32; 2] {
        self.size
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()> {
        copy_window(&self.costs, self.size, window, costs);
        Ok(())
    }
}

/// A raster of friction in memory, row-major: for [`RasterOptions::friction`](crate::flow::RasterOptions::friction).
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{Connectivity, CostRule, FrictionOptions, MemoryFriction, MemoryTiles};
/// use hullfield::flow::{RasterOptions, RasterWindow, solve_raster};
///
/// // Three cells, each 30 m by 30 m.
/// let raster = MemoryFriction::new([3, 1], vec![1.0, 2.0, 0.5])?;
/// let friction = FrictionOptions { cell_size: [30.0, 30.0], ..Default::default() };
/// let options = RasterOptions { friction: Some(friction), cost_rule: CostRule::Mean, ..Default::default() };
/// let tiles = MemoryTiles::default();
/// let field = solve_raster(&raster, &[[0, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
/// assert_eq!(field.map_distances(RasterWindow { x: 0, y: 0, width: 3, height: 1 })?, [0.0, 45.0, 82.5]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryFriction {
    size: [u32; 2],
    friction: Vec<f64>,
}

impl MemoryFriction {
    /// A raster of `size` columns and rows.
    ///
    /// # Errors
    /// [`Error::Count`] unless `friction` has a value for each cell.
    pub fn new(size: [u32; 2], friction: Vec<f64>) -> Result<Self> {
        check_count(size, "values of friction", friction.len())?;
        Ok(Self { size, friction })
    }
}

impl Raster for MemoryFriction {
    fn size(&self) -> [u32; 2] {
        self.size
    }

    /// # Errors
    /// Always [`Error::Invalid`].
    fn read(&self, _: RasterWindow, _: &mut [u32]) -> Result<()> {
        let message = "the raster holds friction in floats, and no whole costs: set the option friction";
        Err(Error::invalid(Location::Argument, message))
    }

    fn read_friction(&self, window: RasterWindow, friction: &mut [f64]) -> Result<()> {
        copy_window(&self.friction, self.size, window, friction);
        Ok(())
    }
}
