//! The handle. Its walkable triangles and links can change; queries under way keep what was true when they began.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hullfield::navigate::surface::{self, BuildStage, Link, LoadOptions, Model, ModelFace, Options};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{array, matrix, numbers, optional, rows, structured};
use crate::error::{OrRaise, invalid};
use crate::progress::Progress;
use crate::surface::field::{self, Combine};
use crate::surface::places::Places;
use crate::surface::query::{self, path_options};
use crate::surface::rows::{LinkRow, NONE};
use crate::surface::topology;
use crate::wait::Pending;

/// A surface.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Surface {
    surface: Mutex<Arc<surface::Surface>>,
}

impl Surface {
    fn of(surface: surface::Surface) -> Self {
        Self { surface: Mutex::new(Arc::new(surface)) }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<surface::Surface>> {
        self.surface.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library's surface as it is now.
    pub(crate) fn get(&self) -> Arc<surface::Surface> {
        Arc::clone(&self.lock())
    }

    /// Changes the surface. A query that still runs keeps its own copy.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut surface::Surface) -> hullfield::Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| change(Arc::make_mut(&mut self.lock()))).or_raise(py)
    }
}

/// A model of arrays: points, corners, where the corners of each face begin (none: triangles), and a transform (3, 4).
#[derive(FromPyObject)]
pub(crate) struct ModelArrays<'py>(
    PyReadonlyArrayDyn<'py, f64>,
    PyReadonlyArrayDyn<'py, u32>,
    Option<PyReadonlyArrayDyn<'py, i64>>,
    Option<[[f64; 4]; 3]>,
);

impl ModelArrays<'_> {
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        let points = rows(py, "vertices", &self.0)?.to_vec();
        let model = match &self.2 {
            None => Model::triangles(points, rows(py, "faces", &self.1)?),
            Some(starts) => {
                let (corners, starts) = (numbers(py, "corners", &self.1)?, numbers(py, "offsets", starts)?);
                let faces = starts.windows(2).map(|ends| {
                    let [from, to] = [ends[0], ends[1]].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                    corners.get(from..to)
                });
                let faces: Option<Vec<&[u32]>> = faces.collect();
                let Some(faces) = faces else {
                    let message = format!(
                        "offsets must not decrease, and be from 0 to the number of corners, {}",
                        corners.len()
                    );
                    return Err(invalid(py, &message));
                };
                Model::polygons(points, faces)
            }
        };
        Ok(match self.3 {
            Some(transform) => model.with_transform(transform),
            None => model,
        })
    }
}

fn stage_name(stage: BuildStage) -> &'static str {
    match stage {
        BuildStage::Points => "points",
        BuildStage::Weld => "weld",
        BuildStage::Triangles => "triangles",
        BuildStage::Refine => "refine",
        BuildStage::Edges => "edges",
        BuildStage::Index => "index",
        BuildStage::Landmarks => "landmarks",
        _ => "other",
    }
}

#[pymethods]
impl Surface {
    #[staticmethod]
    fn build(
        py: Python<'_>,
        models: Vec<ModelArrays<'_>>,
        weld: f64,
        interval: Option<f64>,
        max_snap: Option<f64>,
        landmarks: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Pending> {
        let models = models.iter().map(|model| model.model(py)).collect::<PyResult<Vec<_>>>()?;
        let options = Options { weld, interval, max_snap, landmarks };
        Ok(Pending::run(move |cancel| {
            let mut progress = Progress::new(progress, cancel);
            let built = surface::Surface::build(&models, options, |at| -> ControlFlow<()> {
                progress.report((stage_name(at.stage), at.done, at.total))
            });
            progress.finished(built.map(Self::of), |py, surface| surface.into_py_any(py))
        }))
    }

    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>, max_snap: Option<f64>, landmarks: bool) -> Pending {
        query::run(
            move || surface::Surface::from_bytes(&bytes, LoadOptions { max_snap, landmarks }).map(Self::of),
            |py, surface| surface.into_py_any(py),
        )
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let surface = self.get();
        let bytes = py.detach(|| surface.to_bytes());
        PyBytes::new(py, &bytes)
    }

    fn copy(&self) -> Self {
        Self { surface: Mutex::new(self.get()) }
    }

    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        topology::report(py, self.get().report())
    }

    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.get().vertices().collect())
    }

    #[getter]
    fn triangles(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.get().triangles().to_vec())
    }

    #[getter]
    fn edges(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.get().edges().to_vec())
    }

    #[getter]
    fn counts(&self) -> [usize; 3] {
        let surface = self.get();
        [surface.vertices().len(), surface.triangles().len(), surface.edges().len()]
    }

    #[getter]
    fn area(&self) -> f64 {
        self.get().area()
    }

    #[getter]
    fn bounds(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        matrix(py, self.get().bounds().to_vec())
    }

    fn of_triangles(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        topology::of_triangles(py, &self.get(), name)
    }

    fn t_junctions(&self, py: Python<'_>, tolerance: f64) -> PyResult<Py<PyAny>> {
        topology::t_junctions(py, &self.get(), tolerance)
    }

    fn neighbour_lists(&self, py: Python<'_>) -> [Py<PyAny>; 2] {
        topology::neighbours(py, &self.get())
    }

    fn edges_of(&self, triangle: u32) -> Option<[u32; 3]> {
        self.get().edges_of(triangle)
    }

    fn triangles_at(&self, py: Python<'_>, edge: u32) -> Py<PyAny> {
        array(py, self.get().triangles_at(edge).collect())
    }

    fn neighbours(&self, py: Python<'_>, triangle: u32) -> Py<PyAny> {
        array(py, self.get().neighbours(triangle).collect())
    }

    fn common_edge(&self, a: u32, b: u32) -> Option<u32> {
        self.get().common_edge(a, b)
    }

    fn opposite_vertex(&self, triangle: u32, edge: u32) -> Option<u32> {
        self.get().opposite_vertex(triangle, edge)
    }

    fn triangles_of(&self, py: Python<'_>, model: u32, face: u32) -> Py<PyAny> {
        array(py, self.get().triangles_of(ModelFace { model, face }).to_vec())
    }

    /// The vertex of the surface at each of these points, bit for bit; `u32::MAX` where there is none.
    fn vertices_at(&self, py: Python<'_>, points: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Py<PyAny>> {
        let (surface, points) = (self.get(), rows::<f64, 3>(py, "points", &points)?);
        let found = py.detach(|| {
            // Adding 0 turns −0 into 0, as a weld does.
            let key = |point: [f64; 3]| point.map(|part| (part + 0.0).to_bits());
            let known: HashMap<[u64; 3], u32> = surface.vertices().map(key).zip(0..).collect();
            points.iter().map(|&point| known.get(&key(point)).copied().unwrap_or(NONE)).collect()
        });
        Ok(array(py, found))
    }

    fn set_walkable(
        &self,
        py: Python<'_>,
        triangles: PyReadonlyArrayDyn<'_, u32>,
        walkable: bool,
    ) -> PyResult<()> {
        let triangles = numbers(py, "triangles", &triangles)?;
        self.change(py, |surface| {
            let (count, known) =
                (surface.triangles().len(), |at: u32| (at as usize) < surface.triangles().len());
            if let Some(&wrong) = triangles.iter().find(|&&triangle| !known(triangle)) {
                let (at, index) = (hullfield::Location::Argument, u64::from(wrong));
                return Err(hullfield::Error::Missing { at, what: "triangle", index, count: count as u64 });
            }
            triangles.iter().try_for_each(|&triangle| surface.set_walkable(triangle, walkable))
        })
    }

    fn set_walkable_mask(&self, py: Python<'_>, mask: PyReadonlyArrayDyn<'_, bool>) -> PyResult<()> {
        let mask = numbers(py, "mask", &mask)?;
        self.change(py, |surface| {
            if mask.len() != surface.triangles().len() {
                return Err(hullfield::Error::Count {
                    at: hullfield::Location::Argument,
                    what: "flags",
                    given: mask.len() as u64,
                    allowed: format!(
                        "there must be one for each of the {} triangles",
                        surface.triangles().len()
                    ),
                });
            }
            surface.set_walkable_where(|triangle, _| mask[triangle as usize]);
            Ok(())
        })
    }

    fn set_walkable_slope(&self, py: Python<'_>, up: [f64; 3], degrees: f64) -> PyResult<()> {
        self.change(py, |surface| surface.set_walkable_slope(up, degrees))
    }

    fn set_links(
        &self,
        py: Python<'_>,
        from: PyReadonlyArrayDyn<'_, f64>,
        to: PyReadonlyArrayDyn<'_, f64>,
        costs: PyReadonlyArrayDyn<'_, f64>,
        two_way: PyReadonlyArrayDyn<'_, bool>,
    ) -> PyResult<()> {
        let (from, to) = (rows::<f64, 3>(py, "from", &from)?, rows::<f64, 3>(py, "to", &to)?);
        let (costs, two_way) = (numbers(py, "costs", &costs)?, numbers(py, "two_way", &two_way)?);
        let links: Vec<Link> = from
            .iter()
            .zip(to)
            .zip(costs.iter().zip(two_way))
            .map(|((&from, &to), (&cost, &two_way))| Link { from, to, cost, two_way })
            .collect();
        self.change(py, |surface| surface.set_links(&links))
    }

    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        structured(py, self.get().links().iter().map(LinkRow::from).collect())
    }

    fn path(
        &self,
        start: &Places,
        goal: &Places,
        method: &str,
        tolerance: f64,
        to_nearest: bool,
    ) -> PyResult<Pending> {
        let ends = [start.one()?, goal.one()?];
        Ok(query::path(self.get(), ends, path_options(method, tolerance, to_nearest)))
    }

    fn paths(
        &self,
        starts: &Places,
        goals: &Places,
        method: &str,
        tolerance: f64,
        to_nearest: bool,
    ) -> Pending {
        let queries = starts.0.iter().zip(&goals.0).map(|(&start, &goal)| [start, goal]).collect();
        query::paths(self.get(), queries, path_options(method, tolerance, to_nearest))
    }

    fn path_by_costs(
        &self,
        py: Python<'_>,
        start: &Places,
        goal: &Places,
        costs: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<Pending> {
        let costs = optional(py, "costs", Some(&costs))?.to_vec();
        Ok(query::path_by_costs(self.get(), [start.one()?, goal.one()?], costs))
    }

    fn funnel_along(
        &self,
        py: Python<'_>,
        strip: PyReadonlyArrayDyn<'_, u32>,
        start: [f64; 3],
        goal: [f64; 3],
    ) -> PyResult<Pending> {
        let strip = numbers(py, "strip", &strip)?.to_vec();
        Ok(query::funnel_along(self.get(), strip, [start, goal]))
    }

    fn field(&self, source: &Places) -> PyResult<Pending> {
        Ok(field::field(self.get(), source.one()?))
    }

    fn distances(
        &self,
        py: Python<'_>,
        sources: &Places,
        wanted: Option<PyReadonlyArrayDyn<'_, u32>>,
        is_least: bool,
    ) -> PyResult<Pending> {
        let combine = if is_least { Combine::Least } else { Combine::Rows };
        let wanted = match &wanted {
            Some(wanted) => Some(numbers(py, "wanted", wanted)?.to_vec()),
            None => None,
        };
        Ok(field::distances(self.get(), sources.0.clone(), wanted, combine))
    }

    fn points(&self, places: &Places, within_snap: bool) -> Pending {
        query::points(self.get(), places.0.clone(), within_snap)
    }

    fn locate_all(&self, py: Python<'_>, point: [f64; 3]) -> PyResult<Py<PyAny>> {
        let surface = self.get();
        let found = py.detach(|| surface.locate_all(point)).or_raise(py)?;
        let rows = found.into_iter().map(|point| crate::surface::rows::point(&surface, Some(point)));
        structured(py, rows.collect())
    }

    fn raycasts(
        &self,
        py: Python<'_>,
        starts: &Places,
        directions: PyReadonlyArrayDyn<'_, f64>,
        max_distances: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<Pending> {
        let directions = rows(py, "directions", &directions)?.to_vec();
        let max_distances = numbers(py, "max_distances", &max_distances)?.to_vec();
        Ok(query::raycasts(self.get(), starts.0.clone(), directions, max_distances))
    }

    fn moves(
        &self,
        py: Python<'_>,
        starts: &Places,
        displacements: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<Pending> {
        let displacements = rows(py, "displacements", &displacements)?.to_vec();
        Ok(query::moves(self.get(), starts.0.clone(), displacements))
    }

    fn wall_distances(&self, places: &Places) -> Pending {
        query::wall_distances(self.get(), places.0.clone())
    }

    fn random_points(&self, py: Python<'_>, uniform: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Pending> {
        let uniform = rows(py, "uniform", &uniform)?.to_vec();
        Ok(query::random_points(self.get(), uniform))
    }
}
