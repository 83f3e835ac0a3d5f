//! Paths as flat arrays.

use hullfield::navigate::surface::{CostPath, Path, PathLink};
use hullfield::navigate::{PathEnd, Reach};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arrays::{array, matrix, numbers, rows, structured};
use crate::surface::rows::{NONE, PathLinkRow, PathRow, PlaceRow, place};

/// The paths of a batch, one after the other.
#[derive(Default)]
pub(crate) struct FlatPaths {
    rows: Vec<PathRow>,
    offsets: Vec<u64>,
    piece_offsets: Vec<u64>,
    link_offsets: Vec<u64>,
    points: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    arc_lengths: Vec<f64>,
    triangles: Vec<u32>,
    links: Vec<PathLinkRow>,
}

impl FlatPaths {
    /// Without a path.
    pub(crate) fn new() -> Self {
        Self { offsets: vec![0], piece_offsets: vec![0], link_offsets: vec![0], ..Self::default() }
    }

    /// Of one path.
    pub(crate) fn one(path: &Path) -> Self {
        let mut all = Self::new();
        all.push(path, f64::NAN);
        all
    }

    /// Of one path with its cost.
    pub(crate) fn with_cost(found: &CostPath) -> Self {
        let mut all = Self::new();
        all.push(&found.path, found.cost);
        all
    }

    /// Appends paths.
    pub(crate) fn extend(&mut self, paths: &[Path]) {
        paths.iter().for_each(|path| self.push(path, f64::NAN));
    }

    fn push(&mut self, path: &Path, cost: f64) {
        let (reach, nearest, away) = match path.reach {
            Reach::Reached => (0, None, f64::NAN),
            Reach::Unreachable { nearest } => (1, Some(nearest), nearest.distance),
            Reach::Off { end: PathEnd::Start, nearest, distance } => (2, nearest, distance),
            Reach::Off { end: PathEnd::Goal, nearest, distance } => (3, nearest, distance),
            _ => (4, None, f64::NAN),
        };
        self.rows.push(PathRow {
            length: path.length,
            cost,
            snaps: path.snaps,
            nearest: nearest.map_or([f64::NAN; 3], |point| point.position),
            nearest_distance: away,
            reach,
            nearest_triangle: nearest.map_or(NONE, |point| point.triangle),
            ambiguous: path.ambiguous.map(u32::from),
        });
        self.points.extend(&path.points);
        self.normals.extend(&path.normals);
        self.arc_lengths.extend(&path.arc_lengths);
        self.triangles.extend(&path.triangles);
        self.links.extend(path.links.iter().map(|link| PathLinkRow {
            piece: link.piece as u64,
            link: link.link,
            reversed: u32::from(link.reversed),
        }));
        self.offsets.push(self.points.len() as u64);
        self.piece_offsets.push(self.triangles.len() as u64);
        self.link_offsets.push(self.links.len() as u64);
    }

    /// As a tuple of arrays, for `hullfield.navigate.surface.Paths`.
    pub(crate) fn into_arrays(self, py: Python<'_>, total_ms: f64) -> PyResult<Py<PyAny>> {
        (
            structured(py, self.rows)?,
            array(py, self.offsets),
            array(py, self.piece_offsets),
            array(py, self.link_offsets),
            matrix(py, self.points)?,
            matrix(py, self.normals)?,
            array(py, self.arc_lengths),
            array(py, self.triangles),
            structured(py, self.links)?,
            total_ms,
        )
            .into_py_any(py)
    }
}

/// The places of agents that have followed a path for these arc lengths; see `Path::at`. Links are three columns: the piece, the link, and
/// whether it is taken backwards.
#[pyfunction]
pub(crate) fn path_at(
    py: Python<'_>,
    points: PyReadonlyArrayDyn<'_, f64>,
    normals: PyReadonlyArrayDyn<'_, f64>,
    arc_lengths: PyReadonlyArrayDyn<'_, f64>,
    triangles: PyReadonlyArrayDyn<'_, u32>,
    links: (PyReadonlyArrayDyn<'_, u64>, PyReadonlyArrayDyn<'_, u32>, PyReadonlyArrayDyn<'_, u32>),
    wanted: PyReadonlyArrayDyn<'_, f64>,
) -> PyResult<Py<PyAny>> {
    let mut path = Path::default();
    path.points = rows(py, "points", &points)?.to_vec();
    path.normals = rows(py, "normals", &normals)?.to_vec();
    path.arc_lengths = numbers(py, "arc_lengths", &arc_lengths)?.to_vec();
    path.triangles = numbers(py, "triangles", &triangles)?.to_vec();
    let (pieces, taken) = (numbers(py, "links", &links.0)?, numbers(py, "links", &links.1)?);
    for ((&piece, &link), &reversed) in pieces.iter().zip(taken).zip(numbers(py, "links", &links.2)?) {
        let mut taken = PathLink::default();
        (taken.piece, taken.link, taken.reversed) = (piece as usize, link, reversed != 0);
        path.links.push(taken);
    }
    let wanted = numbers(py, "arc_length", &wanted)?;
    let found: Vec<PlaceRow> =
        py.detach(|| wanted.iter().map(|&arc_length| place(path.at(arc_length))).collect());
    structured(py, found)
}
