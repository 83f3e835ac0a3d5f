//! Paths as flat arrays.

use hullfield::navigate::room::{FunnelSteps, Path};
use hullfield::navigate::{PathEnd, Reach};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, numbers, rows, structured};
use crate::room::rows::{CrossingRow, RoomPathRow, RoomPlaceRow};

/// The paths of a batch, one after the other.
#[derive(Default)]
pub(crate) struct FlatPaths {
    rows: Vec<RoomPathRow>,
    offsets: Vec<u64>,
    corner_offsets: Vec<u64>,
    cell_offsets: Vec<u64>,
    crossing_offsets: Vec<u64>,
    points: Vec<[f64; 2]>,
    corners: Vec<u32>,
    cells: Vec<u32>,
    crossings: Vec<CrossingRow>,
}

impl FlatPaths {
    /// Without a path.
    pub(crate) fn new() -> Self {
        let first = || vec![0];
        Self {
            offsets: first(),
            corner_offsets: first(),
            cell_offsets: first(),
            crossing_offsets: first(),
            ..Self::default()
        }
    }

    /// Appends a path from one point to another.
    pub(crate) fn push(&mut self, path: &Path, goal: [f64; 2]) {
        let (reach, nearest, nearest_distance) = match path.reach {
            Reach::Reached => (0, None, f64::NAN),
            Reach::Unreachable { nearest } => {
                (1, Some(nearest), (nearest[0] - goal[0]).hypot(nearest[1] - goal[1]))
            }
            Reach::Off { end: PathEnd::Start, nearest, distance } => (2, nearest, distance),
            Reach::Off { end: PathEnd::Goal, nearest, distance } => (3, nearest, distance),
            _ => (4, None, f64::NAN),
        };
        self.rows.push(RoomPathRow {
            length: path.length,
            nearest: nearest.unwrap_or([f64::NAN; 2]),
            nearest_distance,
            reach,
            cell_count: path.cells.len() as u32,
        });
        self.points.extend(&path.points);
        self.corners.extend(&path.corners);
        self.cells.extend(&path.cells);
        let crossings = path.crossings.iter();
        self.crossings.extend(crossings.map(|at| CrossingRow { point: at.point, edge: at.edge }));
        self.offsets.push(self.points.len() as u64);
        self.corner_offsets.push(self.corners.len() as u64);
        self.cell_offsets.push(self.cells.len() as u64);
        self.crossing_offsets.push(self.crossings.len() as u64);
    }

    /// As a tuple of arrays, for `hullfield.navigate.room.Paths`.
    pub(crate) fn into_arrays(self, py: Python<'_>, total_ms: f64) -> PyResult<Py<PyAny>> {
        (
            structured(py, self.rows)?,
            array(py, self.offsets),
            array(py, self.corner_offsets),
            array(py, self.cell_offsets),
            array(py, self.crossing_offsets),
            matrix(py, self.points)?,
            array(py, self.corners),
            array(py, self.cells),
            structured(py, self.crossings)?,
            total_ms,
        )
            .into_py_any(py)
    }
}

/// The places of agents that have followed a path for these arc lengths; see `Path::at`.
#[pyfunction]
pub(crate) fn room_path_at(
    py: Python<'_>,
    points: PyReadonlyArrayDyn<'_, f64>,
    wanted: PyReadonlyArrayDyn<'_, f64>,
) -> PyResult<Py<PyAny>> {
    let mut path = Path::default();
    path.points = rows(py, "points", &points)?.to_vec();
    let wanted = numbers(py, "arc_lengths", &wanted)?;
    let place = |&arc_length: &f64| match path.at(arc_length) {
        Some(at) => {
            RoomPlaceRow { position: at.position, tangent: at.tangent, piece: at.piece as u32, found: 1 }
        }
        None => RoomPlaceRow { position: [f64::NAN; 2], tangent: [f64::NAN; 2], piece: 0, found: 0 },
    };
    let found: Vec<RoomPlaceRow> = py.detach(|| wanted.iter().map(place).collect());
    structured(py, found)
}

/// The steps of a funnel as a dict.
pub(crate) fn steps<'py>(
    py: Python<'py>,
    steps: FunnelSteps,
    goal: [f64; 2],
) -> PyResult<Bound<'py, PyDict>> {
    let mut path = FlatPaths::new();
    path.push(&steps.path, goal);
    let moves: Vec<_> = steps
        .moves
        .into_iter()
        .map(|at| Ok((at.edge_count, matrix(py, at.path)?, matrix(py, at.left)?, matrix(py, at.right)?)))
        .collect::<PyResult<_>>()?;
    let all = PyDict::new(py);
    all.set_item("strip", array(py, steps.strip))?;
    all.set_item("left", matrix(py, steps.left)?)?;
    all.set_item("right", matrix(py, steps.right)?)?;
    all.set_item("moves", moves)?;
    all.set_item("path", path.into_arrays(py, 0.0)?)?;
    Ok(all)
}
