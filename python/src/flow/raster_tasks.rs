//! Fields over rasters whose tiles are solved by other processes: `hullfield.ray` gives them out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hullfield::flow::{RasterSolver as LibrarySolver, TileAnswer, TileFiles, TileTask};
use hullfield::{Error, Location};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{OrRaise, invalid};
use crate::flow::cells::cells;
use crate::flow::raster::{CalledRaster, OptionArguments, RasterField, Store, answer_or_raised};
use crate::wait::Pending;

/// `hullfield::flow::RasterSolver`, with the folder of its tiles.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct RasterSolver {
    /// `None` once it is finished.
    solver: Mutex<Option<(LibrarySolver, TileFiles)>>,
}

/// Begins, or goes on with what the folder holds. The answer: a [`RasterSolver`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the raster is three of them")]
pub(crate) fn raster_solver(
    py: Python<'_>,
    read: Py<PyAny>,
    size: [u32; 2],
    identity: String,
    goals: PyReadonlyArrayDyn<'_, i32>,
    folder: PathBuf,
    options: OptionArguments,
    threads: usize,
) -> PyResult<Pending> {
    let (goals, options) = (cells(py, "goals", &goals)?, options.get(py)?);
    Ok(Pending::run(move |_| {
        let raster = CalledRaster::new(read, size, identity);
        let files = TileFiles::open(folder)?;
        let solver = LibrarySolver::new(&raster, &goals, &files, &options, threads);
        answer_or_raised(&raster, solver, |py, solver| {
            RasterSolver { solver: Mutex::new(Some((solver, files))) }.into_py_any(py)
        })
    }))
}

impl RasterSolver {
    fn lock(&self) -> MutexGuard<'_, Option<(LibrarySolver, TileFiles)>> {
        self.solver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut LibrarySolver) -> T) -> PyResult<T> {
        match &mut *self.lock() {
            Some((solver, _)) => Ok(work(solver)),
            None => Err(invalid(py, "the solver is finished")),
        }
    }
}

#[pymethods]
impl RasterSolver {
    /// Gives out up to so many tiles, as bytes.
    fn tasks<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let tasks = self.with(py, |solver| solver.tasks(count))?;
        tasks.iter().map(|task| Ok(PyBytes::new(py, &written(task).or_raise(py)?))).collect()
    }

    /// Takes the answer of a task.
    fn note(&self, py: Python<'_>, answer: &[u8]) -> PyResult<()> {
        let answer: TileAnswer = read(answer).or_raise(py)?;
        self.with(py, |solver| solver.note(&answer))?.or_raise(py)
    }

    #[getter]
    fn is_done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |solver| solver.is_done())
    }

    /// Tiles, tiles solved at least once, visits, and tiles that wait.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<[usize; 4]> {
        let at = self.with(py, |solver| solver.progress())?;
        Ok([at.tile_count, at.solved_count, at.visit_count, at.waiting_count])
    }

    /// The field. The solver can't be used afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<RasterField> {
        let taken = self.lock().take();
        let Some((solver, files)) = taken else { return Err(invalid(py, "the solver is finished")) };
        RasterField::finished(Store::Files(files), solver).or_raise(py)
    }
}

/// Solves a task in a folder that another process has open. The answer: bytes.
#[pyfunction]
pub(crate) fn solve_tile(
    py: Python<'_>,
    read: Py<PyAny>,
    size: [u32; 2],
    folder: PathBuf,
    task: &[u8],
) -> PyResult<Pending> {
    let task: TileTask = self::read(task).or_raise(py)?;
    Ok(Pending::run(move |_| {
        let raster = CalledRaster::new(read, size, String::new());
        let answer = TileFiles::join(folder).and_then(|files| task.solve(&raster, &files));
        let answer = answer.and_then(|answer| written(&answer));
        answer_or_raised(&raster, answer, |py, bytes| Ok(PyBytes::new(py, &bytes).into_any().unbind()))
    }))
}

fn written(value: &impl serde::Serialize) -> hullfield::Result<Arc<[u8]>> {
    let bytes = serde_json::to_vec(value);
    bytes.map(Into::into).map_err(|error| Error::Internal {
        place: "python::raster_tasks::written",
        message: error.to_string(),
    })
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> hullfield::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::Invalid {
        at: Location::Argument,
        message: format!("no tile's task: {error}"),
    })
}
