//! Solves a field over a raster, tile by tile, on the threads of this process.

use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::cell::Cell;
use crate::engine::{Backend, Engine};
use crate::error::{Error, Result};
use crate::flow::raster::device::TileDevice;
use crate::flow::raster::field::RasterField;
use crate::flow::raster::options::{RasterOptions, RasterProgress};
use crate::flow::raster::solver::RasterSolver;
use crate::flow::raster::source::Raster;
use crate::flow::raster::store::TileStore;
use crate::flow::raster::task::TileTask;
use crate::flow::raster::tile::TileArrays;
use crate::lock::lock;
use crate::parallel;

/// Solves the field of some goals over a raster that need not fit into memory.
///
/// The distance of a cell is that of [`Flow::solve`](crate::flow::Flow::solve): the least sum of steps to a goal, each times the cost of the cell
/// entered; here in 64 bits. With [friction](RasterOptions::friction) distances are those of [`cost_distance`](crate::flow::cost_distance()), in f64. The field is equal bit for bit to that of one piece, whatever the tiles, the memory limit and the number of threads.
/// This call runs on the CPU; [`solve_raster_on`] takes an engine.
///
/// `on_progress` is called after each round of tiles, and may end the work.
///
/// # Method
/// Tiles wait by the least distance that may change in them. In each round as many as there are threads are read with their halos, relaxed
/// until no move lowers a distance, and written. A neighbour waits again only if a distance along its edge was lowered. Source: the fast iterative
/// method (Jeong and Whitaker 2008), on tiles.
///
/// # Going on after an end
/// What the store holds of an earlier call for the same job is taken up. Each tile is a checkpoint of its own: nothing but the tiles that were
/// being solved is lost, whatever ended the call.
///
/// # Cost
/// A tile is read and written once for each time that a shorter way enters it: over open terrain about once, in mazes more often. Memory: 24 bytes for each cell of a tile
/// (34 with another cost rule or other lengths of steps, 48 with friction in floats), a tile for each thread (fewer tiles at once where the limit asks for it), and 32 bytes for each row of each tile.
///
/// # Errors
/// [`Error::Value`] for a raster without cells, one larger than 2³¹ − 1 along an axis, a connectivity of three dimensions, or an edge of tiles
/// outside its range; [`Error::MemoryLimit`] where the smallest tiles don't fit; [`Error::NoGoals`]; [`Error::Invalid`] at a cell whose distance does not fit
/// in 64 bits; [`Error::Value`] at a cell whose friction is below 1e-251; [`Error::Cancelled`] where `on_progress` said so; what the raster and the store give.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{Connectivity, MemoryRaster, MemoryTiles, RasterOptions, RasterWindow, solve_raster};
///
/// // A wall in the middle, and a costly cell below it.
/// let raster = MemoryRaster::new([3, 2], vec![1, 0, 1, 1, 7, 1])?;
/// let options = RasterOptions { connectivity: Connectivity::Four, ..Default::default() };
/// let tiles = MemoryTiles::default();
/// let field = solve_raster(&raster, &[[2, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
/// let all = RasterWindow { x: 0, y: 0, width: 3, height: 2 };
/// assert_eq!(field.distances(all)?, [10, u64::MAX, 0, 9, 2, 1]);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn solve_raster<'a, S: TileStore>(
    raster: &impl Raster,
    goals: &[Cell],
    store: &'a S,
    options: &RasterOptions,
    mut on_progress: impl FnMut(RasterProgress) -> ControlFlow<()>,
) -> Result<RasterField<'a, S>> {
    solve(None, raster, goals, store, options, &mut on_progress)?.finish(store)
}

/// [`solve_raster`] on an engine: a GPU relaxes the tiles. The field is equal bit for bit; on the CPU engine it is the same call.
///
/// # What runs on the CPU all the same
/// - everything with friction in floats, another cost rule or other lengths of steps than those of fields;
/// - a tile whose distances differ by nearly 2³² or more, or with a step of more than 2²⁴, costs included;
/// - a tile of which 66 rows, or the obstacles at one bit per cell, don't fit into a binding of the device: see [`Flow::new`](crate::flow::Flow::new). Larger ones than
///   one binding holds are cut into strips;
/// - everything in a browser, where nothing may wait for a device.
///
/// # Memory
/// Up to two tiles are on the device at once, with 26 bytes for each cell and 4 MiB for each tile, staging included. Tiles are chosen so small that they fit into the
/// [`memory_limit`](crate::EngineOptions::memory_limit) of the engine, beside nothing else, and that the rest fits into [`RasterOptions::memory_limit`]. Work that was begun on
/// another engine is taken up where the tiles have the same size: name their [`tile_edge`](RasterOptions::tile_edge) for that.
///
/// # Cost
/// Each visit of a tile sends costs and distances to the device, 8 bytes a cell, and reads 4 back. Tiles are read and written on as many threads as the CPU would
/// solve them with; these are not the library's pool, as they wait for the device.
///
/// # Errors
/// Those of [`solve_raster`]; [`Error::MemoryLimit`] where a tile of the edge given, or one of the smallest, does not fit into the engine's limit; of the device
/// [`Error::MemoryLimit`], where something else holds its memory, [`Error::OutOfMemory`], [`Error::DeviceLost`].
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::Engine;
/// use hullfield::flow::{MemoryRaster, MemoryTiles, RasterOptions, RasterWindow, solve_raster_on};
///
/// let (engine, options, tiles) = (Engine::auto()?, RasterOptions::default(), MemoryTiles::default());
/// let raster = MemoryRaster::new([3, 1], vec![1, 2, 3])?;
/// let field = solve_raster_on(&engine, &raster, &[[0, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
/// assert_eq!(field.distances(RasterWindow { x: 0, y: 0, width: 3, height: 1 })?, [0, 408, 3 * 408]);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn solve_raster_on<'a, S: TileStore>(
    engine: &Engine,
    raster: &impl Raster,
    goals: &[Cell],
    store: &'a S,
    options: &RasterOptions,
    mut on_progress: impl FnMut(RasterProgress) -> ControlFlow<()>,
) -> Result<RasterField<'a, S>> {
    let is_plain = options.friction.is_none() && options.moves().are_plain();
    let has_device = engine.backend() == Backend::Gpu && is_plain && cfg!(not(target_arch = "wasm32"));
    solve(has_device.then_some(engine), raster, goals, store, options, &mut on_progress)?.finish(store)
}

/// Solves the field on the device of an engine, or on the CPU.
fn solve(
    engine: Option<&Engine>,
    raster: &dyn Raster,
    goals: &[Cell],
    store: &dyn TileStore,
    options: &RasterOptions,
    on_progress: &mut dyn FnMut(RasterProgress) -> ControlFlow<()>,
) -> Result<RasterSolver> {
    let thread_count = parallel::in_pool(parallel::thread_count);
    let device_limit = engine.and_then(|engine| engine.options().memory_limit).unwrap_or(u64::MAX);
    let mut solver = RasterSolver::within(raster, goals, store, options, thread_count, device_limit)?;
    let on_device = solver.on_device(device_limit)?;
    let device = engine.and_then(|engine| TileDevice::new(engine, on_device));
    // The arrays of tiles that are not being solved: as many as are solved at once.
    let spare: Mutex<Vec<TileArrays>> = Mutex::default();
    let solve = |task: &TileTask| {
        let mut arrays = lock(&spare).pop().unwrap_or_default();
        let answer = task.solve_in(raster, store, &mut arrays, device.as_ref());
        lock(&spare).push(arrays);
        answer
    };
    loop {
        if on_progress(solver.progress()).is_break() {
            return Err(Error::Cancelled);
        }
        let tasks = solver.tasks(solver.at_once());
        if tasks.is_empty() {
            break;
        }
        let answers = if device.is_some() {
            parallel::map_waiting(&tasks, solve)
        } else {
            parallel::map(&tasks, solve)
        };
        for answer in answers {
            solver.note(&answer?)?;
        }
    }
    Ok(solver)
}
