//! Convex hulls.

use hullfield::collide::{self, Dimension};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{matrix, rows};
use crate::error::OrRaise;

/// A convex hull.
#[pyclass(frozen, from_py_object, module = "hullfield._native")]
#[derive(Clone)]
pub(crate) struct Hull(pub(crate) collide::Hull);

#[pymethods]
impl Hull {
    #[staticmethod]
    fn from_points(py: Python<'_>, points: PyReadonlyArrayDyn<'_, f32>) -> PyResult<Self> {
        let points = rows(py, "points", &points)?;
        py.detach(|| collide::Hull::from_points(points)).map(Self).or_raise(py)
    }

    #[staticmethod]
    fn half_space() -> Self {
        Self(collide::Hull::half_space())
    }

    #[staticmethod]
    fn cuboid(py: Python<'_>, half: [f32; 3]) -> PyResult<Self> {
        collide::Hull::cuboid(half).map(Self).or_raise(py)
    }

    #[staticmethod]
    fn ball(py: Python<'_>, radius: f32) -> PyResult<Self> {
        collide::Hull::ball(radius).map(Self).or_raise(py)
    }

    fn rounded(&self, py: Python<'_>, radius: f32) -> PyResult<Self> {
        self.0.clone().rounded(radius).map(Self).or_raise(py)
    }

    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.0.vertices().to_vec())
    }

    #[getter]
    fn rounding(&self) -> f32 {
        self.0.rounding()
    }

    #[getter]
    fn is_half_space(&self) -> bool {
        self.0.dimension() == Dimension::HalfSpace
    }
}
