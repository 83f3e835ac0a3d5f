//! Grids.

use std::sync::Arc;

use hullfield::flow::{Cell, GridFrame, GridOptions};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arrays::{array, matrix, numbers, optional, rows, shaped};
use crate::flow::cells::{border, cells, connectivity, coordinates, names};
use crate::wait::{Pending, finish};

/// A grid in the host's memory.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Grid(pub(crate) Arc<hullfield::flow::Grid>);

/// The shape of arrays of a grid's cells: layers, rows and columns.
pub(crate) fn shape(grid: &hullfield::flow::Grid) -> Vec<usize> {
    let [width, height, depth] = grid.size().map(|length| length as usize);
    if grid.connectivity().dimension() == 2 { vec![height, width] } else { vec![depth, height, width] }
}

#[pymethods]
impl Grid {
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn build(
        py: Python<'_>,
        size: [u32; 3],
        obstacles: PyReadonlyArrayDyn<'_, bool>,
        connectivity_name: &str,
        corners: &str,
        costs: Option<PyReadonlyArrayDyn<'_, u32>>,
        origin: [f64; 3],
        cell_size: f64,
        axes: [[f64; 3]; 3],
        clearance: f64,
        border_name: &str,
    ) -> PyResult<Pending> {
        let obstacles = numbers(py, "obstacles", &obstacles)?.to_vec();
        let options = GridOptions {
            connectivity: connectivity(py, connectivity_name, corners)?,
            costs: optional(py, "costs", costs.as_ref())?.to_vec(),
            frame: GridFrame { origin, cell_size, axes },
            clearance,
            border: border(py, border_name)?,
        };
        Ok(Pending::run(move |_| {
            let grid = hullfield::flow::Grid::new(size, &obstacles, options)?;
            Ok(finish(move |py| Self(Arc::new(grid)).into_py_any(py)))
        }))
    }

    #[getter]
    fn size(&self) -> [u32; 3] {
        self.0.size()
    }

    #[getter]
    fn dimension(&self) -> u32 {
        self.0.connectivity().dimension()
    }

    #[getter]
    fn connectivity(&self) -> [&'static str; 2] {
        names(self.0.connectivity())
    }

    #[getter]
    fn frame(&self) -> ([f64; 3], f64, [[f64; 3]; 3]) {
        let GridFrame { origin, cell_size, axes } = *self.0.frame();
        (origin, cell_size, axes)
    }

    #[getter]
    fn obstacles(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let grid = Arc::clone(&self.0);
        let obstacles = py.detach(|| grid.obstacles());
        shaped(py, obstacles, &shape(&grid))
    }

    #[getter]
    fn obstacle_count(&self) -> usize {
        self.0.obstacle_count()
    }

    #[getter]
    fn costs(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let costs = self.0.costs();
        if costs.is_empty() {
            return Ok(None);
        }
        shaped(py, costs.to_vec(), &shape(&self.0)).map(Some)
    }

    /// The cells at points, and whether each is in the grid.
    fn locate(
        &self,
        py: Python<'_>,
        points: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        let points = rows::<f64, 3>(py, "points", &points)?;
        let found: Vec<Option<Cell>> =
            py.detach(|| points.iter().map(|&point| self.0.locate(point)).collect());
        let outside = Cell { x: -1, y: -1, z: -1 };
        let all: Vec<Cell> = found.iter().map(|cell| cell.unwrap_or(outside)).collect();
        Ok((coordinates(py, &all)?, array(py, found.iter().map(Option::is_some).collect())))
    }

    fn centres(&self, py: Python<'_>, given: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Py<PyAny>> {
        let given = cells(py, "cells", &given)?;
        matrix(py, py.detach(|| given.into_iter().map(|cell| self.0.centre(cell)).collect()))
    }

    fn clearances(&self, py: Python<'_>, border_name: &str) -> PyResult<Pending> {
        let (grid, border) = (Arc::clone(&self.0), border(py, border_name)?);
        Ok(Pending::run(move |_| {
            let all = grid.clearances(border);
            Ok(finish(move |py| shaped(py, all, &shape(&grid))))
        }))
    }

    /// Whether a line of sight leads from each cell to the other.
    fn sees(
        &self,
        py: Python<'_>,
        from: PyReadonlyArrayDyn<'_, i32>,
        to: PyReadonlyArrayDyn<'_, i32>,
    ) -> PyResult<Py<PyAny>> {
        let (from, to) = (cells(py, "from", &from)?, cells(py, "to", &to)?);
        let seen = py.detach(|| from.iter().zip(&to).map(|(&from, &to)| self.0.sees(from, to)).collect());
        Ok(array(py, seen))
    }

    fn neighbour(&self, cell: [i32; 3], code: u8) -> Option<[i32; 3]> {
        self.0.neighbour(cell.into(), code).map(|cell| [cell.x, cell.y, cell.z])
    }

    /// The offsets and the lengths of the moves.
    #[getter]
    fn moves(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        let connectivity = self.0.connectivity();
        let offsets = connectivity.offsets();
        let steps = (0..offsets.len() as u8).map(|code| connectivity.step(code)).collect();
        Ok((matrix(py, offsets.to_vec())?, array(py, steps)))
    }
}
