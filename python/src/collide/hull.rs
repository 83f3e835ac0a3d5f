//! Convex hulls.

use std::sync::Arc;

use hullfield::collide::{self, Dimension};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{array, matrix, rows};
use crate::error::OrRaise;

/// A convex hull. Copies share it.
#[pyclass(frozen, from_py_object, module = "hullfield._native")]
#[derive(Clone)]
pub(crate) struct Hull(pub(crate) Arc<collide::Hull>);

impl From<collide::Hull> for Hull {
    fn from(hull: collide::Hull) -> Self {
        Self(Arc::new(hull))
    }
}

/// The library's hulls of some.
pub(crate) fn owned(hulls: &[Hull]) -> Vec<collide::Hull> {
    hulls.iter().map(|hull| (*hull.0).clone()).collect()
}

#[pymethods]
impl Hull {
    #[staticmethod]
    fn from_points(py: Python<'_>, points: PyReadonlyArrayDyn<'_, f32>) -> PyResult<Self> {
        let points = rows(py, "points", &points)?;
        py.detach(|| collide::Hull::from_points(points)).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn half_space() -> Self {
        collide::Hull::half_space().into()
    }

    #[staticmethod]
    fn cuboid(py: Python<'_>, half: [f32; 3]) -> PyResult<Self> {
        collide::Hull::cuboid(half).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn ball(py: Python<'_>, radius: f32) -> PyResult<Self> {
        collide::Hull::ball(radius).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn capsule(py: Python<'_>, a: [f32; 3], b: [f32; 3], radius: f32) -> PyResult<Self> {
        collide::Hull::capsule(a, b, radius).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn cylinder(py: Python<'_>, a: [f32; 3], b: [f32; 3], radius: f32, sides: u32) -> PyResult<Self> {
        py.detach(|| collide::Hull::cylinder(a, b, radius, sides)).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn cone(py: Python<'_>, base: [f32; 3], tip: [f32; 3], radius: f32, sides: u32) -> PyResult<Self> {
        py.detach(|| collide::Hull::cone(base, tip, radius, sides)).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn triangle(py: Python<'_>, corners: [[f32; 3]; 3]) -> PyResult<Self> {
        collide::Hull::triangle(corners).map(Self::from).or_raise(py)
    }

    #[staticmethod]
    fn triangles_of_mesh(
        py: Python<'_>,
        positions: PyReadonlyArrayDyn<'_, f32>,
        triangles: PyReadonlyArrayDyn<'_, u32>,
    ) -> PyResult<Vec<Self>> {
        let (positions, triangles) = (rows(py, "positions", &positions)?, rows(py, "triangles", &triangles)?);
        let hulls = py.detach(|| collide::Hull::triangles_of_mesh(positions, triangles)).or_raise(py)?;
        Ok(hulls.into_iter().map(Self::from).collect())
    }

    fn rounded(&self, py: Python<'_>, radius: f32) -> PyResult<Self> {
        (*self.0).clone().rounded(radius).map(Self::from).or_raise(py)
    }

    fn simplify(&self, py: Python<'_>, max_vertices: usize) -> PyResult<(Self, f32)> {
        let (hull, distance) = py.detach(|| self.0.simplify(max_vertices)).or_raise(py)?;
        Ok((hull.into(), distance))
    }

    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.0.vertices().to_vec())
    }

    /// Where each face begins in the list of all faces' vertices, and that list.
    #[getter]
    fn faces(&self, py: Python<'_>) -> (Py<PyAny>, Py<PyAny>) {
        let (mut offsets, mut corners) = (vec![0_u64], Vec::new());
        for face in self.0.faces() {
            corners.extend_from_slice(face);
            offsets.push(corners.len() as u64);
        }
        (array(py, offsets), array(py, corners))
    }

    #[getter]
    fn triangles(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.0.triangles().collect())
    }

    #[getter]
    fn edges(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.0.edges().collect())
    }

    fn neighbours(&self, py: Python<'_>, vertex: u32) -> Py<PyAny> {
        array(py, self.0.neighbours(vertex).to_vec())
    }

    /// The normals and the offsets.
    #[getter]
    fn planes(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        let (normals, offsets) = self.0.planes().map(|plane| (plane.normal, plane.offset)).unzip();
        Ok((matrix(py, normals)?, array(py, offsets)))
    }

    #[getter]
    fn mean(&self) -> [f64; 3] {
        self.0.mean()
    }

    #[getter]
    fn radius(&self) -> f64 {
        self.0.radius()
    }

    #[getter]
    fn volume(&self) -> f64 {
        self.0.volume()
    }

    #[getter]
    fn rounding(&self) -> f32 {
        self.0.rounding()
    }

    /// As in `hullfield.collide.Dimension`.
    #[getter]
    fn dimension(&self) -> u32 {
        dimension(self.0.dimension())
    }

    fn equals(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A dimension as in `hullfield.collide.Dimension`.
pub(crate) fn dimension(dimension: Dimension) -> u32 {
    match dimension {
        Dimension::Point => 0,
        Dimension::Segment => 1,
        Dimension::Polygon => 2,
        Dimension::Solid => 3,
        Dimension::HalfSpace => 4,
    }
}
