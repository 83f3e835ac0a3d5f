//! A solved field over a raster.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
#[cfg(doc)]
use crate::flow::grid::moves::Connectivity;
use crate::flow::grid::moves::NEXT_NONE;
use crate::flow::raster::friction;
use crate::flow::raster::friction::FrictionOptions;
use crate::flow::raster::options::RasterReport;
use crate::flow::raster::source::{Raster, RasterWindow};
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};
use crate::flow::raster::surroundings::{Next, Surroundings};
use crate::flow::raster::tiling::Tiling;
use crate::flow::weighted::rule::MoveCosts;
use crate::lock::lock;

/// A solved field over a raster, whose distances are in a store.
pub struct RasterField<'a, S> {
    store: &'a S,
    tiling: Tiling,
    moves: MoveCosts,
    friction: Option<FrictionOptions>,
    /// The tiles that the store has.
    solved: HashSet<usize>,
    report: RasterReport,
    /// The distances of the tile that was last read: memory for the next.
    spare: Mutex<Vec<u64>>,
}

impl<'a, S> RasterField<'a, S> {
    /// A field of which the store has the tiles `solved`; no cell of the others is reached.
    pub(crate) fn new(
        store: &'a S,
        tiling: Tiling,
        moves: MoveCosts,
        friction: Option<FrictionOptions>,
        solved: HashSet<usize>,
        report: RasterReport,
    ) -> Self {
        Self { store, tiling, moves, friction, solved, report, spare: Mutex::default() }
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
    /// was lost since; [`Error::Invalid`] over friction in floats, where [`map_distances`](Self::map_distances) has them.
    pub fn distances(&self, window: RasterWindow) -> Result<Vec<u64>> {
        self.check(window)?;
        self.check_whole()?;
        let mut distances = vec![RASTER_UNREACHABLE; window.cell_count()];
        self.read(window, &mut distances)?;
        Ok(distances)
    }

    /// Writes the distances of a window to `distances`, which has one entry for each of its cells: [`Self::distances`] without new memory.
    ///
    /// # Errors
    /// Those of [`Self::distances`]; [`Error::Count`] where `distances` has another length.
    pub fn read(&self, window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        self.check_whole()?;
        self.read_stored(window, distances)
    }

    /// The distances of a window over friction in floats, row-major, in the units of the map times those of friction; infinite for barriers and where no goal is reached. Rounded to
    /// f32 they are those of [`cost_distance`](crate::flow::cost_distance()), bit for bit.
    ///
    /// Reads all tiles that the window meets.
    ///
    /// # Errors
    /// [`Error::Value`] for a window that is empty or not in the raster; what the store gives; [`Error::Io`] where a tile was lost since; [`Error::Invalid`] where costs were whole.
    pub fn map_distances(&self, window: RasterWindow) -> Result<Vec<f64>> {
        self.check(window)?;
        let mut distances = vec![f64::INFINITY; window.cell_count()];
        self.read_map_distances(window, &mut distances)?;
        Ok(distances)
    }

    /// Writes the distances of a window over friction in floats to `distances`, which has one entry for each of its cells: see [`Self::map_distances`].
    ///
    /// # Errors
    /// Those of [`Self::map_distances`]; [`Error::Count`] where `distances` has another length.
    pub fn read_map_distances(&self, window: RasterWindow, distances: &mut [f64]) -> Result<()> {
        let Some(options) = &self.friction else {
            let message = "the field was solved over whole costs: its distances are whole numbers";
            return Err(Error::invalid(Location::Argument, message));
        };
        self.check(window)?;
        check_count(window, distances.len())?;
        let mut stored = vec![RASTER_UNREACHABLE; window.cell_count()];
        self.read_stored(window, &mut stored)?;
        distances.iter_mut().zip(stored).for_each(|(distance, stored)| *distance = options.to_map(stored));
        Ok(())
    }

    fn check_whole(&self) -> Result<()> {
        if self.friction.is_none() {
            return Ok(());
        }
        let message = "the field was solved over friction in floats: its distances are floats";
        Err(Error::invalid(Location::Argument, message))
    }

    /// Reads distances as tiles hold them.
    fn read_stored(&self, window: RasterWindow, distances: &mut [u64]) -> Result<()> {
        self.check(window)?;
        check_count(window, distances.len())?;
        distances.fill(RASTER_UNREACHABLE);
        let [first, last] =
            [[window.x, window.y], [window.x + window.width - 1, window.y + window.height - 1]]
                .map(|cell| cell.map(|at| at / self.tiling.edge));
        for tile in (first[1]..=last[1]).flat_map(|y| (first[0]..=last[0]).map(move |x| [x, y])) {
            self.read_part(tile, window, distances)?;
        }
        Ok(())
    }

    /// The cells of the shortest path from a cell to a goal, both included; the cell alone where no goal is reached, and where it is one. Of several next
    /// cells that are equally good it takes the first in the order of [`Connectivity::offsets`]. `raster` is the one that was solved over.
    ///
    /// Reads distances and costs around a tile each time that the path enters one, and holds those of one tile: 12 bytes a cell, 16 over friction in floats.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the raster; [`Error::Invalid`] at a cell from which no move leads on, as the raster has changed, or as friction differs so much that
    /// rounding has lost the steps of a whole tile; what the raster and the store give; [`Error::Io`] where a tile was lost since.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use hullfield::flow::{Cell, MemoryRaster, MemoryTiles, RasterOptions, solve_raster};
    ///
    /// // Around a wall.
    /// let raster = MemoryRaster::new([3, 2], vec![1, 0, 1, 1, 1, 1])?;
    /// let (tiles, options) = (MemoryTiles::default(), RasterOptions { tile_edge: Some(2), ..Default::default() });
    /// let field = solve_raster(&raster, &[[2, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
    /// let path = field.path(&raster, [0, 0].into())?;
    /// assert_eq!(path, [[0, 0], [0, 1], [1, 1], [2, 1], [2, 0]].map(Cell::from));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn path(&self, raster: &impl Raster, cell: Cell) -> Result<Vec<Cell>> {
        self.path_over(raster, cell)
    }

    fn path_over(&self, raster: &dyn Raster, cell: Cell) -> Result<Vec<Cell>> {
        let [width, height] = self.tiling.size;
        let inside = |at: i32, length: u32| u32::try_from(at).ok().filter(|&at| at < length);
        let (Some(x), Some(y), 0) = (inside(cell.x, width), inside(cell.y, height), cell.z) else {
            let allowed = format!("it must be in the raster of {width} x {height} cells");
            return Err(Error::value(Location::Argument, "cell", cell, allowed));
        };
        self.check_raster(raster)?;
        let mut path = vec![cell];
        let mut at = [x, y];
        let mut around = Surroundings::default();
        loop {
            let number = self.tiling.tile_of(at);
            if around.tile != Some(number) {
                self.read_surroundings(raster, number, &mut around)?;
            }
            match around.next(at) {
                Next::Move(_, next) => {
                    at = next;
                    path.push(Cell::from(at.map(|at| at as i32)));
                }
                Next::End => return Ok(path),
                Next::Tied => {
                    let way = around.way_over_ties(at).ok_or_else(|| is_tied(at))?;
                    path.extend(way.iter().map(|cell| Cell::from(cell.map(|at| at as i32))));
                    at = way.last().copied().unwrap_or(at);
                }
                Next::Nowhere => return Err(has_changed(at)),
            }
        }
    }

    /// The codes of the next cells of a window, row-major, in the order of [`Connectivity::offsets`]; [`NEXT_NONE`](crate::flow::NEXT_NONE) at goals, obstacles, and where no
    /// goal is reached. Of several next cells that are equally good it is the first in this order, as in [`path`](Self::path). `raster` is the one that was solved over.
    ///
    /// Reads the distances and the costs of the window and of the cells around it: 12 bytes a cell, 16 over friction in floats.
    ///
    /// # Errors
    /// Those of [`distances`](Self::distances) and [`path`](Self::path), but that rounding may have lost no step.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use hullfield::flow::{MemoryRaster, MemoryTiles, RasterOptions, RasterWindow, solve_raster};
    ///
    /// let raster = MemoryRaster::new([3, 2], vec![1, 0, 1, 1, 1, 1])?;
    /// let (tiles, options) = (MemoryTiles::default(), RasterOptions::default());
    /// let field = solve_raster(&raster, &[[2, 0].into()], &tiles, &options, |_| ControlFlow::Continue(()))?;
    /// let next = field.next_codes(&raster, RasterWindow { x: 0, y: 0, width: 3, height: 2 })?;
    /// assert_eq!(next, [2, 255, 255, 1, 1, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn next_codes(&self, raster: &impl Raster, window: RasterWindow) -> Result<Vec<u8>> {
        self.next_codes_over(raster, window)
    }

    fn next_codes_over(&self, raster: &dyn Raster, window: RasterWindow) -> Result<Vec<u8>> {
        self.check(window)?;
        self.check_raster(raster)?;
        let [width, height] = self.tiling.size;
        let (x, y) = (window.x.saturating_sub(1), window.y.saturating_sub(1));
        let right = width.min(window.x + window.width + 1);
        let below = height.min(window.y + window.height + 1);
        let mut around = Surroundings::default();
        self.read_around(raster, RasterWindow { x, y, width: right - x, height: below - y }, &mut around)?;
        let mut codes = Vec::with_capacity(window.cell_count());
        for y in window.y..window.y + window.height {
            for x in window.x..window.x + window.width {
                codes.push(match around.next([x, y]) {
                    Next::Move(code, _) => code,
                    Next::End => NEXT_NONE,
                    Next::Tied => return Err(is_tied([x, y])),
                    Next::Nowhere => return Err(has_changed([x, y])),
                });
            }
        }
        Ok(codes)
    }

    fn check_raster(&self, raster: &dyn Raster) -> Result<()> {
        if raster.size() == self.tiling.size {
            return Ok(());
        }
        let [width, height] = self.tiling.size;
        let allowed = format!("the field is over a raster of {width} x {height}");
        Err(Error::value(Location::Argument, "size", format!("{:?}", raster.size()), allowed))
    }

    /// Reads distances and costs of a tile and of the cells around it.
    fn read_surroundings(&self, raster: &dyn Raster, tile: usize, around: &mut Surroundings) -> Result<()> {
        let window = Tiling { halo: 1, ..self.tiling }.window(tile);
        self.read_around(raster, window, around)?;
        around.tile = Some(tile);
        Ok(())
    }

    fn read_around(
        &self,
        raster: &dyn Raster,
        window: RasterWindow,
        around: &mut Surroundings,
    ) -> Result<()> {
        around.set(window, &self.moves, self.friction.as_ref(), self.tiling.size[1]);
        let window_cells = window.cell_count();
        if self.friction.is_some() {
            friction::read(raster, window, &mut around.friction)?;
        } else {
            around.costs.clear();
            around.costs.resize(window_cells, 0);
            raster.read(window, &mut around.costs)?;
        }
        around.distances.clear();
        around.distances.resize(window_cells, RASTER_UNREACHABLE);
        self.read_stored(window, &mut around.distances)
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

/// # Errors
/// [`Error::Count`] unless there is one for each cell.
fn check_count(window: RasterWindow, given: usize) -> Result<()> {
    if given == window.cell_count() {
        return Ok(());
    }
    let allowed = format!("the window has {} cells", window.cell_count());
    Err(Error::Count { at: Location::Argument, what: "distances", given: given as u64, allowed })
}

fn has_changed(cell: [u32; 2]) -> Error {
    let message =
        "no move from here has the cost that the field has: the raster has changed since it was solved";
    Error::invalid(Location::Cell(Cell::from(cell.map(|at| at as i32))), message)
}

fn is_tied(cell: [u32; 2]) -> Error {
    let message = "its neighbours are as far as it is, since rounding has lost the steps between them: friction on the way is over 1e15 times that here; make such cells barriers, \
        or solve in one piece";
    Error::invalid(Location::Cell(Cell::from(cell.map(|at| at as i32))), message)
}
