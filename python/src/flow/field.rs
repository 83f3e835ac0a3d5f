//! Solved fields.

use std::sync::Arc;

use hullfield::Engine;
use hullfield::flow::{self, Cell, SteerOptions};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, rows, shaped};
use crate::error::OrRaise;
use crate::flow::cells::{cells, goal_report, statistics};
use crate::flow::grid::{Grid, shape};
use crate::fork::Owned;
use crate::wait::{Pending, finish};

/// A field.
#[pyclass(frozen, module = "hullfield._native", name = "FlowField")]
pub(crate) struct Field(Owned<flow::Field>);

impl Field {
    pub(crate) fn new(field: flow::Field, engine: &Engine) -> Self {
        Self(Owned::new(field, engine))
    }

    /// Another handle of the library's field.
    pub(crate) fn library(&self, py: Python<'_>) -> PyResult<flow::Field> {
        Ok(flow::Field::clone(self.0.get(py)?))
    }
}

fn coordinates(cells: &[Cell]) -> Vec<[i32; 3]> {
    cells.iter().map(|cell| [cell.x, cell.y, cell.z]).collect()
}

#[pymethods]
impl Field {
    #[getter]
    fn grid(&self) -> Grid {
        Grid(Arc::new(self.0.host().grid().clone()))
    }

    #[getter]
    fn size(&self) -> [u32; 3] {
        self.0.host().grid().size()
    }

    #[getter]
    fn dimension(&self) -> u32 {
        self.0.host().grid().connectivity().dimension()
    }

    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics(py, self.0.host().stats())
    }

    #[getter]
    fn goals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        goal_report(py, self.0.host().goals())
    }

    fn distances(&self, py: Python<'_>) -> PyResult<Pending> {
        let field = self.0.get(py)?;
        let shape = shape(field.grid());
        let pending = py.detach(|| field.distances()).or_raise(py)?;
        Ok(Pending::of(pending, |all| finish(move |py| shaped(py, all, &shape))))
    }

    fn next_codes(&self, py: Python<'_>) -> PyResult<Pending> {
        let field = self.0.get(py)?;
        let shape = shape(field.grid());
        let pending = py.detach(|| field.next_codes()).or_raise(py)?;
        Ok(Pending::of(pending, |all| finish(move |py| shaped(py, all, &shape))))
    }

    fn next_cells(&self, py: Python<'_>, given: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Pending> {
        let (field, given) = (self.0.get(py)?, cells(py, "cells", &given)?);
        let pending = py.detach(|| field.next_cells(&given)).or_raise(py)?;
        Ok(Pending::of(pending, |batch| {
            let all = coordinates(&batch.rows);
            finish(move |py| matrix(py, all))
        }))
    }

    fn paths(&self, py: Python<'_>, starts: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Pending> {
        let (field, starts) = (self.0.get(py)?, cells(py, "starts", &starts)?);
        let pending = py.detach(|| field.paths(&starts)).or_raise(py)?;
        Ok(Pending::of(pending, |paths| {
            let offsets: Vec<u64> = paths.offsets.iter().map(|&at| at as u64).collect();
            finish(move |py| {
                let stats = statistics(py, &paths.stats)?;
                (array(py, offsets), array(py, paths.cells), array(py, paths.lengths), stats).into_py_any(py)
            })
        }))
    }

    fn distances_at(&self, py: Python<'_>, given: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Pending> {
        let (field, given) = (self.0.get(py)?, cells(py, "cells", &given)?);
        let pending = py.detach(|| field.distances_at(&given)).or_raise(py)?;
        Ok(Pending::of(pending, |batch| finish(move |py| Ok(array(py, batch.rows)))))
    }

    fn directions(
        &self,
        py: Python<'_>,
        positions: PyReadonlyArrayDyn<'_, f64>,
        sight: u32,
    ) -> PyResult<Pending> {
        let (field, positions) = (self.0.get(py)?, rows(py, "positions", &positions)?);
        let options = SteerOptions { sight };
        let pending = py.detach(|| field.directions(positions, &options)).or_raise(py)?;
        Ok(Pending::of(pending, |batch| finish(move |py| matrix(py, batch.rows))))
    }

    fn nearest_reached(&self, py: Python<'_>, cell: [i32; 3]) -> PyResult<Pending> {
        let field = self.0.get(py)?;
        let pending = py.detach(|| field.nearest_reached(cell.into())).or_raise(py)?;
        Ok(Pending::of(pending, |cell| {
            let all = coordinates(&[cell]);
            finish(move |py| matrix(py, all))
        }))
    }
}
