//! A tile to be solved, by this thread or by another process, and what it then tells its neighbours.

use crate::engine::Engine;
use crate::error::{Error, Location, Result};
use crate::flow::raster::device::TileDevice;
use crate::flow::raster::friction;
use crate::flow::raster::friction::FrictionOptions;
use crate::flow::raster::source::{Raster, RasterWindow};
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};
use crate::flow::raster::tile::TileArrays;
use crate::flow::raster::tiling::{Tiling, ring};
use crate::flow::weighted::rule::MoveCosts;

/// A tile to be solved, with the shorter ways into it that are known. [`RasterSolver::tasks`](crate::flow::RasterSolver::tasks) gives it out.
///
/// Whoever has the raster and the store can solve it: another thread, another process, another machine. With the feature `serde` it can be sent there.
/// Solved twice, as when a worker died in between, it leaves the same tile. Over friction it holds floats: for `serde_json` turn on its feature `float_roundtrip`, which
/// keeps all their bits.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "TaskWire"))]
pub struct TileTask {
    pub(crate) tiling: Tiling,
    pub(crate) number: usize,
    pub(crate) moves: MoveCosts,
    /// Over friction in floats: then distances are the bits of floats.
    pub(crate) friction: Option<FrictionOptions>,
    pub(crate) max_distance: u64,
    /// Distances of cells of the tile's window, by their positions in it. Goals have 0.
    pub(crate) known: Vec<(u32, u64)>,
}

/// What a solved tile tells the others: [`RasterSolver::note`](crate::flow::RasterSolver::note) takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TileAnswer {
    pub(crate) number: usize,
    pub(crate) counts: TileCounts,
    /// The distances along the edge of the tile, and those along edges of others in its halo.
    pub(crate) edge: Vec<([u32; 2], u64)>,
    pub(crate) halo: Vec<([u32; 2], u64)>,
}

/// What is known of the cells of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TileCounts {
    pub(crate) reached: u64,
    pub(crate) farthest: u64,
}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "TileTask")]
struct TaskWire {
    tiling: Tiling,
    number: usize,
    moves: MoveCosts,
    #[serde(default)]
    friction: Option<FrictionOptions>,
    max_distance: u64,
    known: Vec<(u32, u64)>,
}

#[cfg(feature = "serde")]
impl TryFrom<TaskWire> for TileTask {
    type Error = Error;

    fn try_from(wire: TaskWire) -> Result<Self> {
        let TaskWire { tiling, number, moves, friction, max_distance, known } = wire;
        let refuse =
            |message: &str| Err(Error::invalid(Location::Argument, format!("no task of a tile: {message}")));
        if !tiling.is_sound() {
            return refuse("the tiles are none of a raster");
        }
        if number >= tiling.tile_count() {
            return refuse("the tile does not exist");
        }
        let cell_count = tiling.window(number).cell_count();
        if known.iter().any(|&(index, _)| index as usize >= cell_count) {
            return refuse("a cell is outside of the tile");
        }
        moves.lengths.check()?;
        if let Some(options) = &friction {
            options.check(moves.connectivity, tiling.size)?;
            let is_number = |distance: u64| f64::from_bits(distance).is_finite() && distance >> 63 == 0;
            if !is_number(max_distance) || known.iter().any(|&(_, distance)| !is_number(distance)) {
                return refuse("a distance is no number of 0 or more");
            }
        }
        Ok(Self { tiling, number, moves, friction, max_distance, known })
    }
}

impl TileTask {
    /// The column and the row of the tile.
    pub fn tile(&self) -> [u32; 2] {
        self.tiling.tile(self.number)
    }

    /// The cells of the tile and its halo: what is read of the raster, and what the store keeps.
    pub fn window(&self) -> RasterWindow {
        self.tiling.window(self.number)
    }

    /// Reads the tile and its costs, lowers distances until no move within its window lowers any, and writes it.
    ///
    /// # Errors
    /// [`Error::Invalid`] at a cell whose distance does not fit in 64 bits; [`Error::Value`] for a raster of another size, and at a cell whose friction is below 1e-251;
    /// what the raster and the store give.
    pub fn solve(&self, raster: &impl Raster, store: &impl TileStore) -> Result<TileAnswer> {
        self.solve_checked(raster, store, None)
    }

    /// The same on an engine: a GPU lowers the distances. The answer and the tile in the store are equal bit for bit, so some workers may have a GPU and others
    /// none. What runs on the CPU all the same is listed at [`solve_raster_on`](crate::flow::solve_raster_on).
    ///
    /// Blocks this thread until the device is done. It takes 26 bytes of device memory for each cell of the [window](Self::window) and 4 MiB, whatever other tasks
    /// take there.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve); of the device [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{MemoryRaster, MemoryTiles, RasterOptions, RasterSolver};
    ///
    /// let engine = Engine::auto()?;
    /// let raster = MemoryRaster::new([4, 1], vec![1, 2, 3, 4])?;
    /// let (tiles, options) = (MemoryTiles::default(), RasterOptions { tile_edge: Some(2), ..Default::default() });
    /// let mut solver = RasterSolver::new(&raster, &[[0, 0].into()], &tiles, &options, 1)?;
    /// while !solver.is_done() {
    ///     for task in solver.tasks(8) {
    ///         solver.note(&task.solve_on(&engine, &raster, &tiles)?)?;
    ///     }
    /// }
    /// assert_eq!(solver.finish(&tiles)?.report().reached_count, 4);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn solve_on(
        &self,
        engine: &Engine,
        raster: &impl Raster,
        store: &impl TileStore,
    ) -> Result<TileAnswer> {
        self.solve_checked(raster, store, TileDevice::new(engine, 1).as_ref())
    }

    fn solve_checked(
        &self,
        raster: &dyn Raster,
        store: &dyn TileStore,
        device: Option<&TileDevice>,
    ) -> Result<TileAnswer> {
        self.check(raster)?;
        self.solve_in(raster, store, &mut TileArrays::default(), device)
    }

    /// # Errors
    /// [`Error::Value`] for a raster of another size.
    fn check(&self, raster: &dyn Raster) -> Result<()> {
        if raster.size() == self.tiling.size {
            return Ok(());
        }
        let [width, height] = self.tiling.size;
        let allowed = format!("the task is for a raster of {width} x {height}");
        Err(Error::value(Location::Argument, "size", format!("{:?}", raster.size()), allowed))
    }

    /// The same in arrays that another tile has left, on the device where there is one.
    pub(crate) fn solve_in(
        &self,
        raster: &dyn Raster,
        store: &dyn TileStore,
        arrays: &mut TileArrays,
        device: Option<&TileDevice>,
    ) -> Result<TileAnswer> {
        let (tile, window) = (self.tile(), self.window());
        if self.friction.is_some() {
            friction::read(raster, window, &mut arrays.friction)?;
        } else {
            arrays.grid.costs.clear();
            arrays.grid.costs.resize(window.cell_count(), 0);
            raster.read(window, &mut arrays.grid.costs)?;
        }
        let TileArrays { distances, seeds, .. } = &mut *arrays;
        distances.clear();
        distances.resize(window.cell_count(), RASTER_UNREACHABLE);
        store.read(tile, window, distances)?;
        seeds.clear();
        for &(index, distance) in &self.known {
            let known = &mut distances[index as usize];
            if distance < *known {
                *known = distance;
                seeds.push(index);
            }
        }
        let (moves, max_distance) = (&self.moves, self.max_distance);
        match &self.friction {
            Some(options) => {
                arrays.solve_over_friction(window, moves, options, self.tiling.size[1], max_distance);
            }
            None => arrays.solve(window, moves, max_distance, device)?,
        }
        store.write(tile, window, &arrays.distances)?;
        Ok(TileAnswer::new(self.tiling, self.number, &arrays.distances))
    }
}

impl TileAnswer {
    /// What a solved tile tells the others, from the distances of its window.
    pub(crate) fn new(tiling: Tiling, number: usize, distances: &[u64]) -> Self {
        let (cells, window) = (tiling.cells(number), tiling.window(number));
        let reached = |cell: [u32; 2]| {
            let distance = distances[window.index(cell)?];
            (distance != RASTER_UNREACHABLE).then_some((cell, distance))
        };
        let mut counts = TileCounts { reached: 0, farthest: 0 };
        for y in cells.y..cells.y + cells.height {
            let Some(start) = window.index([cells.x, y]) else { continue };
            for &distance in &distances[start..start + cells.width as usize] {
                if distance != RASTER_UNREACHABLE {
                    counts.reached += 1;
                    counts.farthest = counts.farthest.max(distance);
                }
            }
        }
        let edge = ring(cells).filter_map(reached).collect();
        let halo = tiling.seen_edges(number).filter_map(reached).collect();
        Self { number, counts, edge, halo }
    }
}
