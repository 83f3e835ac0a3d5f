//! The handle.

use std::sync::Arc;

use hullfield::navigate::room::{self, Options, RepairKind};
use hullfield::{Error, Location, Result};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{array, matrix, numbers, rows as rows_of, structured};
use crate::error::invalid;
use crate::room::query::{self, path_options};
use crate::room::rows::{self, NONE, RepairRow};
use crate::room::shared::{Reading, SharedRoom};
use crate::wait::{Pending, finish};

/// A room.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Room {
    room: Arc<SharedRoom>,
}

/// The options of a room: radius, squeeze, merge, repair, and the two ends of each door.
#[derive(FromPyObject)]
pub(crate) struct RoomOptions<'py>(f64, bool, bool, bool, PyReadonlyArrayDyn<'py, f64>);

impl RoomOptions<'_> {
    fn get(&self, py: Python<'_>) -> PyResult<Options> {
        let doors = rows_of::<f64, 4>(py, "doors", &self.4)?;
        let doors = doors.iter().map(|&[x0, y0, x1, y1]| [[x0, y0], [x1, y1]]).collect();
        Ok(Options { radius: self.0, squeeze: self.1, merge: self.2, repair: self.3, doors })
    }
}

impl Room {
    fn read(&self) -> Reading {
        self.room.read()
    }

    /// Builds in the background.
    fn build(make: impl FnOnce() -> Result<room::Room> + Send + 'static) -> Pending {
        Pending::run(move |_| {
            let room = make()?;
            Ok(finish(move |py| Self { room: SharedRoom::new(room) }.into_py_any(py)))
        })
    }
}

/// Lists as slices of one array. Python code has checked the offsets.
fn lists<T: Clone>(all: &[T], offsets: &[i64]) -> Vec<Vec<T>> {
    let list = |ends: &[i64]| {
        let [from, to] = [ends[0], ends[1]].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        all.get(from..to).unwrap_or_default().to_vec()
    };
    offsets.windows(2).map(list).collect()
}

/// A kind as in `hullfield.navigate.room.RepairKind`.
fn kind(kind: RepairKind) -> u32 {
    match kind {
        RepairKind::RepeatedPoint => 0,
        RepairKind::Crossing => 1,
        RepairKind::Touch => 2,
        RepairKind::NoArea => 3,
        RepairKind::HoleOutside => 4,
        _ => NONE,
    }
}

#[pymethods]
impl Room {
    /// Polygons: the points of all rings, where each ring begins and the last ends, and the same of each polygon's rings.
    #[staticmethod]
    fn of_polygons(
        py: Python<'_>,
        points: PyReadonlyArrayDyn<'_, f64>,
        rings: PyReadonlyArrayDyn<'_, i64>,
        polygons: PyReadonlyArrayDyn<'_, i64>,
        options: RoomOptions<'_>,
    ) -> PyResult<Pending> {
        let rings = lists(rows_of::<f64, 2>(py, "points", &points)?, numbers(py, "rings", &rings)?);
        let polygons = lists(&rings, numbers(py, "polygons", &polygons)?);
        let options = options.get(py)?;
        Ok(Self::build(move || room::Room::from_polygons(&polygons, options)))
    }

    #[staticmethod]
    fn of_cells(
        py: Python<'_>,
        vertices: PyReadonlyArrayDyn<'_, f64>,
        corners: PyReadonlyArrayDyn<'_, u32>,
        offsets: PyReadonlyArrayDyn<'_, i64>,
        options: RoomOptions<'_>,
    ) -> PyResult<Pending> {
        let vertices = rows_of::<f64, 2>(py, "vertices", &vertices)?.to_vec();
        let cells = lists(numbers(py, "cells", &corners)?, numbers(py, "offsets", &offsets)?);
        let options = options.get(py)?;
        Ok(Self::build(move || room::Room::from_cells(&vertices, &cells, options)))
    }

    #[staticmethod]
    fn of_polyanya_mesh(py: Python<'_>, text: String, options: RoomOptions<'_>) -> PyResult<Pending> {
        let options = options.get(py)?;
        Ok(Self::build(move || room::Room::from_polyanya_mesh(&text, options)))
    }

    /// A room of the text of `to_bytes`.
    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> Pending {
        Self::build(move || {
            serde_json::from_slice(&bytes).map_err(|error| Error::Invalid {
                at: Location::Argument,
                message: format!("the bytes are no room: {error}"),
            })
        })
    }

    /// The room as JSON: what it was made of, and its edits.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let room = self.read();
        match py.detach(|| serde_json::to_vec(&*room.get())) {
            Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
            Err(error) => Err(invalid(py, &error.to_string())),
        }
    }

    #[getter]
    fn repairs(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let room = self.read();
        let row = |repair: &room::Repair| RepairRow {
            place: repair.place,
            ring: repair.ring as u32,
            kind: kind(repair.kind),
        };
        let all = room.get().repairs().iter().map(row).collect();
        structured(py, all)
    }

    /// The doors, ends and distances of ends that are on no wall.
    #[getter]
    fn free_door_ends(&self) -> Vec<(u32, [f64; 2], f64)> {
        let room = self.read();
        let room = room.get();
        room.free_door_ends().iter().map(|free| (free.door, free.end, free.distance)).collect()
    }

    #[getter]
    fn counts(&self) -> [usize; 4] {
        let room = self.read();
        let room = room.get();
        [room.vertices().len(), room.cell_count(), room.island_count(), room.door_count()]
    }

    #[getter]
    fn area(&self) -> f64 {
        self.read().get().area()
    }

    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let all = self.read().get().vertices().collect();
        matrix(py, all)
    }

    /// The corners of all cells and their neighbours, as offsets and two lists, and the island of each cell.
    fn cells(&self, py: Python<'_>) -> [Py<PyAny>; 4] {
        let reading = self.read();
        let room = reading.get();
        let (mut offsets, mut corners, mut neighbours) = (vec![0_u64], Vec::new(), Vec::new());
        let mut islands = Vec::new();
        for cell in 0..room.cell_count() as u32 {
            corners.extend(room.cell(cell));
            neighbours.extend(room.neighbours(cell).map(|other| other.unwrap_or(NONE)));
            offsets.push(corners.len() as u64);
            islands.push(room.island(cell).unwrap_or(NONE));
        }
        [array(py, offsets), array(py, corners), array(py, neighbours), array(py, islands)]
    }

    fn add_door(&self, py: Python<'_>, edges: PyReadonlyArrayDyn<'_, u32>) -> PyResult<u32> {
        let edges = rows_of::<u32, 2>(py, "edges", &edges)?;
        self.room.change(py, |room| room.add_door(edges))
    }

    fn add_door_cells(&self, py: Python<'_>, cells: PyReadonlyArrayDyn<'_, u32>) -> PyResult<u32> {
        let cells = numbers(py, "cells", &cells)?;
        self.room.change(py, |room| room.add_door_cells(cells))
    }

    fn set_doors(
        &self,
        py: Python<'_>,
        doors: PyReadonlyArrayDyn<'_, u32>,
        are_open: PyReadonlyArrayDyn<'_, bool>,
    ) -> PyResult<()> {
        let (doors, are_open) = (numbers(py, "doors", &doors)?, numbers(py, "open", &are_open)?);
        let doors: Vec<(u32, bool)> = doors.iter().copied().zip(are_open.iter().copied()).collect();
        self.room.change(py, |room| room.set_doors(&doors))
    }

    fn put_obstacle(&self, py: Python<'_>, ring: PyReadonlyArrayDyn<'_, f64>) -> PyResult<u32> {
        let ring = rows_of::<f64, 2>(py, "ring", &ring)?;
        self.room.change(py, |room| room.put_obstacle(ring))
    }

    fn move_obstacle(
        &self,
        py: Python<'_>,
        obstacle: u32,
        ring: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<()> {
        let ring = rows_of::<f64, 2>(py, "ring", &ring)?;
        self.room.change(py, |room| room.move_obstacle(obstacle, ring))
    }

    fn take_obstacle(&self, py: Python<'_>, obstacle: u32) -> PyResult<()> {
        self.room.change(py, |room| room.take_obstacle(obstacle))
    }

    fn path(&self, start: [f64; 2], goal: [f64; 2], method: &str, strip: &str, to_nearest: bool) -> Pending {
        query::path(self.read(), [start, goal], path_options(method, strip, to_nearest))
    }

    fn paths(
        &self,
        py: Python<'_>,
        starts: PyReadonlyArrayDyn<'_, f64>,
        goals: PyReadonlyArrayDyn<'_, f64>,
        method: &str,
        strip: &str,
        to_nearest: bool,
    ) -> PyResult<Pending> {
        let starts = rows_of::<f64, 2>(py, "starts", &starts)?;
        let goals = rows_of::<f64, 2>(py, "goals", &goals)?;
        let queries = starts.iter().zip(goals).map(|(&start, &goal)| [start, goal]).collect();
        Ok(query::paths(self.read(), queries, path_options(method, strip, to_nearest)))
    }

    fn funnel_steps(&self, start: [f64; 2], goal: [f64; 2], strip: &str) -> Pending {
        query::funnel_steps(self.read(), query::strip(strip), [start, goal])
    }

    fn locations(&self, py: Python<'_>, points: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Pending> {
        let points = rows_of::<f64, 2>(py, "points", &points)?.to_vec();
        Ok(query::rows(self.read(), points.len(), move |room, row| {
            Ok(rows::point(room, room.locate(points[row])?))
        }))
    }

    fn nearest_points(&self, py: Python<'_>, points: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Pending> {
        let points = rows_of::<f64, 2>(py, "points", &points)?.to_vec();
        Ok(query::rows(self.read(), points.len(), move |room, row| {
            Ok(rows::point(room, room.nearest_point(points[row])?))
        }))
    }

    fn raycasts(
        &self,
        py: Python<'_>,
        starts: PyReadonlyArrayDyn<'_, f64>,
        directions: PyReadonlyArrayDyn<'_, f64>,
        max_distances: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<Pending> {
        let starts = rows_of::<f64, 2>(py, "starts", &starts)?.to_vec();
        let directions = rows_of::<f64, 2>(py, "directions", &directions)?.to_vec();
        let max_distances = numbers(py, "max_distances", &max_distances)?.to_vec();
        Ok(query::rows(self.read(), starts.len(), move |room, row| {
            Ok(rows::ray_hit(room, room.raycast(starts[row], directions[row], max_distances[row])?))
        }))
    }

    fn wall_distances(&self, py: Python<'_>, points: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Pending> {
        let points = rows_of::<f64, 2>(py, "points", &points)?.to_vec();
        Ok(query::rows(self.read(), points.len(), move |room, row| {
            room.distance_to_wall(points[row]).map(rows::wall)
        }))
    }

    fn moves(
        &self,
        py: Python<'_>,
        starts: PyReadonlyArrayDyn<'_, f64>,
        displacements: PyReadonlyArrayDyn<'_, f64>,
    ) -> PyResult<Pending> {
        let starts = rows_of::<f64, 2>(py, "starts", &starts)?.to_vec();
        let displacements = rows_of::<f64, 2>(py, "displacements", &displacements)?.to_vec();
        Ok(query::rows(self.read(), starts.len(), move |room, row| {
            Ok(rows::point(room, room.move_along(starts[row], displacements[row])?))
        }))
    }

    fn random_points(&self, py: Python<'_>, uniform: PyReadonlyArrayDyn<'_, f64>) -> PyResult<Pending> {
        let uniform = rows_of::<f64, 3>(py, "uniform", &uniform)?.to_vec();
        Ok(query::rows(self.read(), uniform.len(), move |room, row| {
            Ok(rows::point(room, room.random_point(uniform[row])?))
        }))
    }
}
