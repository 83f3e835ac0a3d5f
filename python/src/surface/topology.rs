//! The topology and the report of a surface as arrays.

use hullfield::navigate::surface::{ModelFace, Report, Surface, TJunction};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, structured};
use crate::error::OrRaise;
use crate::surface::rows::{NONE, TJunctionRow};

/// The report as a dict: lists of faces as arrays (n, 2) of model and face.
pub(crate) fn report<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let faces = |list: &[ModelFace]| matrix(py, list.iter().map(|at| [at.model, at.face]).collect());
    all.set_item("welded_count", report.welded_count)?;
    all.set_item("unused_count", report.unused_count)?;
    all.set_item("not_simple", faces(&report.not_simple)?)?;
    all.set_item("collapsed", faces(&report.collapsed)?)?;
    all.set_item("duplicates", faces(&report.duplicates)?)?;
    all.set_item("zero_area", faces(&report.zero_area)?)?;
    all.set_item("boundary_edge_count", report.boundary_edge_count)?;
    all.set_item("non_manifold_edge_count", report.non_manifold_edge_count)?;
    all.set_item("turned_edge_count", report.turned_edge_count)?;
    all.set_item("island_count", report.island_count)?;
    Ok(all)
}

/// The vertices that lie on edges they are not joined to.
pub(crate) fn t_junctions(py: Python<'_>, surface: &Surface, tolerance: f64) -> PyResult<Py<PyAny>> {
    let found = py.detach(|| surface.t_junctions(tolerance)).or_raise(py)?;
    let row = |at: TJunction| TJunctionRow { distance: at.distance, vertex: at.vertex, edge: at.edge };
    structured(py, found.into_iter().map(row).collect())
}

/// A property of all triangles.
pub(crate) fn of_triangles(py: Python<'_>, surface: &Surface, name: &str) -> PyResult<Py<PyAny>> {
    let all = 0..surface.triangles().len() as u32;
    match name {
        "edges" => matrix(py, all.map(|at| surface.edges_of(at).unwrap_or([NONE; 3])).collect()),
        "normals" => matrix(py, all.map(|at| surface.normal(at).unwrap_or([f64::NAN; 3])).collect()),
        "sources" => {
            let source = |at| surface.source(at).map_or([NONE; 2], |from| [from.model, from.face]);
            matrix(py, all.map(source).collect())
        }
        "islands" => Ok(array(py, all.map(|at| surface.island(at).unwrap_or(NONE)).collect())),
        _ => Ok(array(py, all.map(|at| surface.is_walkable(at)).collect())),
    }
}

/// The neighbours of all triangles, as offsets and one list.
pub(crate) fn neighbours(py: Python<'_>, surface: &Surface) -> [Py<PyAny>; 2] {
    let mut offsets = vec![0_u64];
    let mut list = Vec::new();
    for triangle in 0..surface.triangles().len() as u32 {
        list.extend(surface.neighbours(triangle));
        offsets.push(list.len() as u64);
    }
    [array(py, offsets), array(py, list)]
}
