//! Fields over rasters that need not fit into memory. The raster is a function of Python that reads windows.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use hullfield::flow::{
    FrictionOptions, MemoryTiles, Raster, RasterField as LibraryField, RasterOptions, RasterReport,
    RasterSolver, RasterWindow, StepLengths, TileFiles, TileStore, solve_raster_on as solve,
};
use hullfield::{Error, Location, Result};
use numpy::{Element, PyReadonlyArrayDyn};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, shaped};
use crate::engine::Engine;
use crate::error::{OrRaise, invalid};
use crate::flow::cells::{cells, connectivity, coordinates, goal_report};
use crate::flow::friction::{FrictionArguments, cost_rule};
use crate::progress::Progress;
use crate::wait::{Finish, Pending, finish};

/// A raster read by a function of a caller: `read(y0, y1, x0, x1)` gives costs as u32, or friction as f64, (rows, columns), in C order.
pub(crate) struct CalledRaster {
    read: Py<PyAny>,
    size: [u32; 2],
    identity: String,
    /// What the function raised first.
    raised: Mutex<Option<PyErr>>,
}

impl CalledRaster {
    pub(crate) fn new(read: Py<PyAny>, size: [u32; 2], identity: String) -> Self {
        Self { read, size, identity, raised: Mutex::new(None) }
    }

    /// What the function raised first.
    fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn call<N: Element + Copy>(
        &self,
        py: Python<'_>,
        window: RasterWindow,
        numbers: &mut [N],
    ) -> PyResult<()> {
        let RasterWindow { x, y, width, height } = window;
        let read = self.read.bind(py).call1((y, y + height, x, x + width))?;
        let read: PyReadonlyArrayDyn<'_, N> = read.extract()?;
        match read.as_slice() {
            Ok(given) if given.len() == numbers.len() => numbers.copy_from_slice(given),
            _ => return Err(invalid(py, "a window of the raster has another shape than was asked for")),
        }
        Ok(())
    }

    fn read_numbers<N: Element + Copy>(&self, window: RasterWindow, numbers: &mut [N]) -> Result<()> {
        match Python::try_attach(|py| self.call(py, window, numbers)) {
            Some(Ok(())) => Ok(()),
            // The interpreter is ending.
            None => Err(Error::Cancelled),
            Some(Err(raised)) => {
                let message = raised.to_string();
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
                Err(Error::Io { what: "the raster".to_owned(), message })
            }
        }
    }
}

impl Raster for CalledRaster {
    fn size(&self) -> [u32; 2] {
        self.size
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<()> {
        self.read_numbers(window, costs)
    }

    fn read_friction(&self, window: RasterWindow, friction: &mut [f64]) -> Result<()> {
        self.read_numbers(window, friction)
    }
}

/// Where distances are kept.
#[derive(Debug)]
pub(crate) enum Store {
    Memory(MemoryTiles),
    Files(TileFiles),
}

impl TileStore for Store {
    fn begin(&self, job: &str) -> Result<()> {
        match self {
            Self::Memory(store) => store.begin(job),
            Self::Files(store) => store.begin(job),
        }
    }

    fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
        match self {
            Self::Memory(store) => store.read(tile, window, distances),
            Self::Files(store) => store.read(tile, window, distances),
        }
    }

    fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
        match self {
            Self::Memory(store) => store.write(tile, window, distances),
            Self::Files(store) => store.write(tile, window, distances),
        }
    }
}

type StoredField<'a> = LibraryField<'a, Store>;

self_cell::self_cell!(
    /// A field with the store that it borrows.
    struct OwnedField {
        owner: Store,
        #[covariant]
        dependent: StoredField,
    }
);

/// A solved field over a raster, until it is closed.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct RasterField(Mutex<Option<Arc<OwnedField>>>);

impl RasterField {
    fn get(&self, py: Python<'_>) -> PyResult<Arc<OwnedField>> {
        let field = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        field.ok_or_else(|| invalid(py, "the field was closed"))
    }
}

impl RasterField {
    /// The field of a solver that is done.
    pub(crate) fn finished(store: Store, solver: RasterSolver) -> Result<Self> {
        let field = OwnedField::try_new(store, |store| solver.finish(store))?;
        Ok(Self(Mutex::new(Some(Arc::new(field)))))
    }
}

/// The answer, or what the caller's raster raised instead.
pub(crate) fn answer_or_raised<T: Send + 'static>(
    raster: &CalledRaster,
    answer: Result<T>,
    make: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> Result<Finish> {
    match (answer, raster.take_raised()) {
        (Err(_), Some(raised)) => Ok(finish(move |_| Err(raised))),
        (answer, _) => answer.map(|value| finish(move |py| make(py, value))),
    }
}

/// The options of a field by their names: connectivity, corners, memory limit, edge of tiles, largest distance, cost rule, lengths of
/// steps, and those of friction in floats.
#[derive(FromPyObject)]
pub(crate) struct OptionArguments(
    String,
    String,
    Option<u64>,
    Option<u32>,
    Option<u64>,
    String,
    Option<[u32; 3]>,
    Option<FrictionArguments>,
);

impl OptionArguments {
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<RasterOptions> {
        Ok(RasterOptions {
            connectivity: connectivity(py, &self.0, &self.1)?,
            memory_limit: self.2,
            tile_edge: self.3,
            max_distance: self.4,
            cost_rule: cost_rule(py, &self.5)?,
            step_lengths: self.6.map(|[x, y, diagonal]| StepLengths { x, y, diagonal }),
            friction: self.7.map(FrictionOptions::from),
        })
    }
}

/// `hullfield::flow::solve_raster_on`. `None` for the folder keeps the distances in memory.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the raster is three of them")]
pub(crate) fn solve_raster(
    py: Python<'_>,
    engine: &Engine,
    read: Py<PyAny>,
    size: [u32; 2],
    identity: String,
    goals: PyReadonlyArrayDyn<'_, i32>,
    folder: Option<PathBuf>,
    options: OptionArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<Pending> {
    let (goals, options) = (cells(py, "goals", &goals)?, options.get(py)?);
    let engine = engine.get(py)?.clone();
    Ok(Pending::run(move |cancel| {
        let raster = CalledRaster::new(read, size, identity);
        let store = match folder {
            Some(folder) => Store::Files(TileFiles::open(folder)?),
            None => Store::Memory(MemoryTiles::default()),
        };
        let mut progress = Progress::new(progress, cancel);
        let solved = OwnedField::try_new(store, |store| {
            solve(&engine, &raster, &goals, store, &options, |at| {
                progress.report((at.tile_count, at.solved_count, at.visit_count, at.waiting_count))
            })
        });
        if let (Err(_), Some(raised)) = (&solved, raster.take_raised()) {
            return Ok(finish(move |_| Err(raised)));
        }
        progress.finished(solved, |py, field| RasterField(Mutex::new(Some(Arc::new(field)))).into_py_any(py))
    }))
}

#[pymethods]
impl RasterField {
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let field = self.get(py)?;
        let RasterReport {
            goals,
            reached_count,
            farthest,
            friction,
            tile_edge,
            tile_count,
            visit_count,
            resumed_count,
            ..
        } = field.borrow_dependent().report();
        let all = PyDict::new(py);
        all.set_item("goals", goal_report(py, goals)?)?;
        all.set_item("reached_count", reached_count)?;
        match friction {
            Some(friction) => all.set_item("farthest", friction.farthest)?,
            None => all.set_item("farthest", farthest)?,
        }
        all.set_item("error_bound", friction.map(|friction| friction.error_bound))?;
        all.set_item("tile_edge", tile_edge)?;
        all.set_item("tile_count", tile_count)?;
        all.set_item("visit_count", visit_count)?;
        all.set_item("resumed_count", resumed_count)?;
        Ok(all)
    }

    /// The windows of the tiles, as rows x, y, width, height.
    fn windows(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let field = self.get(py)?;
        let windows = field.borrow_dependent().windows();
        matrix(py, windows.map(|at| [at.x, at.y, at.width, at.height]).collect())
    }

    /// The cells of the paths from some cells, one after the other, and where each begins. The raster is read by a function, as for the solve.
    fn paths(
        &self,
        py: Python<'_>,
        read: Py<PyAny>,
        size: [u32; 2],
        starts: PyReadonlyArrayDyn<'_, i32>,
    ) -> PyResult<Pending> {
        let (field, starts) = (self.get(py)?, cells(py, "cells", &starts)?);
        Ok(Pending::run(move |cancel| {
            let raster = CalledRaster::new(read, size, String::new());
            let (mut all, mut offsets) = (Vec::new(), vec![0_i64]);
            let walk = || {
                for start in starts {
                    if cancel.load(Ordering::Relaxed) {
                        return Err(Error::Cancelled);
                    }
                    all.extend(field.borrow_dependent().path(&raster, start)?);
                    offsets.push(all.len() as i64);
                }
                Ok(())
            };
            let walked = walk();
            answer_or_raised(&raster, walked, move |py, ()| {
                (array(py, offsets), coordinates(py, &all)?).into_py_any(py)
            })
        }))
    }

    fn distances(&self, py: Python<'_>, x: u32, y: u32, width: u32, height: u32) -> PyResult<Pending> {
        let field = self.get(py)?;
        Ok(Pending::run(move |_| {
            let window = RasterWindow { x, y, width, height };
            let (field, shape) = (field.borrow_dependent(), [height as usize, width as usize]);
            if field.report().friction.is_some() {
                let all = field.map_distances(window)?;
                return Ok(finish(move |py| shaped(py, all, &shape)));
            }
            let all = field.distances(window)?;
            Ok(finish(move |py| shaped(py, all, &shape)))
        }))
    }

    /// Lets go of the folder, and removes its tiles where that is wanted. Reads that are under way go on.
    fn close(&self, py: Python<'_>, remove: bool) -> PyResult<()> {
        let field = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| match field.map(Arc::try_unwrap) {
            Some(Ok(field)) => match field.into_owner() {
                Store::Files(files) if remove => files.remove(),
                _ => Ok(()),
            },
            Some(Err(_)) if remove => {
                let message = "the field is being read: its folder was not removed".to_owned();
                Err(Error::Invalid { at: Location::Argument, message })
            }
            _ => Ok(()),
        })
        .or_raise(py)
    }
}
