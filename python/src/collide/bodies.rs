//! A set that keeps bodies from frame to frame.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use hullfield::collide::{
    self, Body, BodyId, Contact, ContactOptions, Distance, DistanceOptions, Intersection, Manifold,
    ManifoldOptions,
};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, numbers, structured};
use crate::collide::arena::{Arena, statistics};
use crate::collide::columns::{BodyColumns, Columns, optional_rows};
use crate::collide::rows::{
    NO_ID, NamedContact, NamedDistance, NamedIntersection, NamedManifold, PairEvent, TouchingPair, id,
};
use crate::error::{OrRaise, invalid};
use crate::fork::Owned;
use crate::wait::{Finish, Pending, finish};

type Ids<'py> = PyReadonlyArrayDyn<'py, u64>;

/// The answer of a query over a set.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Found(Answer);

enum Answer {
    Intersections(collide::Found<Intersection>),
    Distances(collide::Found<Distance>),
    Contacts(collide::Found<Contact>),
    Manifolds(collide::Found<Manifold>),
}

#[pymethods]
impl Found {
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.0 {
            Answer::Intersections(found) => {
                let rows: Vec<NamedIntersection> =
                    py.detach(|| found.rows.iter().map(|&row| row.into()).collect());
                structured(py, rows)
            }
            Answer::Distances(found) => {
                let rows: Vec<NamedDistance> =
                    py.detach(|| found.rows.iter().map(|&row| row.into()).collect());
                structured(py, rows)
            }
            Answer::Contacts(found) => {
                let rows: Vec<NamedContact> =
                    py.detach(|| found.rows.iter().map(|&row| row.into()).collect());
                structured(py, rows)
            }
            Answer::Manifolds(found) => {
                let rows: Vec<NamedManifold> =
                    py.detach(|| found.rows.iter().map(|&row| row.into()).collect());
                structured(py, rows)
            }
        }
    }

    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = match &self.0 {
            Answer::Intersections(found) => found.stats,
            Answer::Distances(found) => found.stats,
            Answer::Contacts(found) => found.stats,
            Answer::Manifolds(found) => found.stats,
        };
        statistics(py, &stats)
    }
}

/// Hands an answer to Python as an object.
fn kept<T: Send + 'static>(
    wrap: fn(collide::Found<T>) -> Answer,
) -> impl FnOnce(collide::Found<T>) -> Finish {
    move |found| finish(move |py| Found(wrap(found)).into_py_any(py))
}

/// Bodies with ids.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Bodies {
    set: Owned<Mutex<collide::Bodies>>,
}

impl Bodies {
    /// The set, for a call that changes it or asks its arena. Waits for other threads without the interpreter's lock.
    fn locked<'a>(&'a self, py: Python<'_>) -> PyResult<MutexGuard<'a, collide::Bodies>> {
        let set: &Mutex<collide::Bodies> = self.set.get(py)?;
        loop {
            match set.try_lock() {
                Ok(bodies) => return Ok(bodies),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                // Whoever has it may need the interpreter's lock to go on.
                Err(TryLockError::WouldBlock) => py.detach(|| std::thread::sleep(Duration::from_micros(50))),
            }
        }
    }
}

/// The body of a number.
fn id_of(bodies: &collide::Bodies, number: u64) -> Option<BodyId> {
    let row = number as u32;
    match bodies.of_row(row)? {
        collide::BodyRef::Body(now) if id(now) == number => Some(now),
        _ => None,
    }
}

/// The bodies of ids.
///
/// # Errors
/// For one that is not in the set, with its row.
fn ids_of(py: Python<'_>, bodies: &collide::Bodies, ids: &Ids<'_>) -> PyResult<Vec<BodyId>> {
    let ids = numbers(py, "ids", ids)?;
    let mut found = Vec::with_capacity(ids.len());
    for (row, &number) in ids.iter().enumerate() {
        let Some(id) = id_of(bodies, number) else {
            let (slot, generation) = (number as u32, number >> 32);
            let message = match number {
                NO_ID => format!("ids[{row}] is no body's id"),
                _ => format!("ids[{row}]: body {slot} of generation {generation} is not in the set"),
            };
            return Err(invalid(py, &message));
        };
        found.push(id);
    }
    Ok(found)
}

/// Gives a body all numbers of a row.
fn set(bodies: &mut collide::Bodies, id: BodyId, columns: &Columns, row: usize) -> hullfield::Result<()> {
    bodies.set(id, columns.bodies[row])?;
    match columns.positions.get(row) {
        Some(&position) => bodies.set_position_f64(id, position),
        None => Ok(()),
    }
}

#[pymethods]
impl Bodies {
    #[new]
    fn new(py: Python<'_>, arena: &Arena) -> PyResult<Self> {
        let arena = arena.get(py)?;
        Ok(Self { set: Owned::new(Mutex::new(collide::Bodies::new(arena)), arena.engine()) })
    }

    fn set_arena(&self, py: Python<'_>, arena: &Arena) -> PyResult<()> {
        let (mut bodies, arena) = (self.locked(py)?, arena.get(py)?);
        if bodies.arena().engine().backend() != arena.engine().backend() {
            let message = "the arena is of another kind of engine, CPU or GPU: make a new set";
            return Err(invalid(py, message));
        }
        bodies.set_arena(arena).or_raise(py)
    }

    fn insert(&self, py: Python<'_>, columns: &BodyColumns) -> PyResult<Py<PyAny>> {
        let columns: &Columns = &columns.0;
        if let Some(rule) = columns.rule() {
            return Err(invalid(py, &format!("bodies have {rule}, which a set has not")));
        }
        let mut bodies = self.locked(py)?;
        let mut ids = Vec::with_capacity(columns.bodies.len());
        for (row, &body) in columns.bodies.iter().enumerate() {
            let inserted = bodies.insert(body, ()).and_then(|id| {
                ids.push(id);
                columns.positions.get(row).map_or(Ok(()), |&position| bodies.set_position_f64(id, position))
            });
            if let Err(error) = inserted {
                // All or none.
                ids.iter().for_each(|&id| _ = bodies.remove(id));
                return Err(invalid(py, &format!("body {row}: {error}")));
            }
        }
        Ok(array(py, ids.into_iter().map(id).collect()))
    }

    fn remove(&self, py: Python<'_>, ids: Ids<'_>) -> PyResult<()> {
        let mut bodies = self.locked(py)?;
        let mut ids = ids_of(py, &bodies, &ids)?;
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < count {
            return Err(invalid(py, "ids names a body twice"));
        }
        ids.into_iter().for_each(|id| _ = bodies.remove(id));
        Ok(())
    }

    fn set(&self, py: Python<'_>, ids: Ids<'_>, columns: &BodyColumns) -> PyResult<()> {
        let columns: &Columns = &columns.0;
        if let Some(rule) = columns.rule() {
            return Err(invalid(py, &format!("bodies have {rule}, which a set has not")));
        }
        let mut bodies = self.locked(py)?;
        let ids = ids_of(py, &bodies, &ids)?;
        self.replace(py, &mut bodies, &ids, columns)
    }

    fn set_poses(
        &self,
        py: Python<'_>,
        ids: Ids<'_>,
        positions_f32: Option<PyReadonlyArrayDyn<'_, f32>>,
        positions_f64: Option<PyReadonlyArrayDyn<'_, f64>>,
        rotations: Option<PyReadonlyArrayDyn<'_, f32>>,
    ) -> PyResult<()> {
        let mut bodies = self.locked(py)?;
        let ids = ids_of(py, &bodies, &ids)?;
        let short = optional_rows::<f32, 3>(py, "positions", positions_f32.as_ref())?;
        let wide = optional_rows::<f64, 3>(py, "positions", positions_f64.as_ref())?;
        let rotations = optional_rows::<f32, 4>(py, "rotations", rotations.as_ref())?;
        let is_narrow = wide.iter().flatten().all(|x| f64::from(*x as f32) == *x);
        let moves = !short.is_empty() || !wide.is_empty();
        let mut columns = Columns::default();
        if !is_narrow {
            columns.positions = wide.to_vec();
        } else if !moves && !bodies.positions().is_empty() {
            columns.positions = ids.iter().filter_map(|&id| bodies.position_f64(id)).collect();
        }
        for (row, body) in ids.iter().filter_map(|&id| bodies.get(id).copied()).enumerate() {
            let narrow = || wide.get(row).map(|position| position.map(|x| x as f32));
            columns.bodies.push(Body {
                position: short.get(row).copied().or_else(narrow).unwrap_or(body.position),
                rotation: rotations.get(row).copied().unwrap_or(body.rotation),
                ..body
            });
        }
        self.replace(py, &mut bodies, &ids, &columns)
    }

    /// The bodies of ids as columns.
    fn get(&self, py: Python<'_>, ids: Ids<'_>) -> PyResult<BodyColumns> {
        let bodies = self.locked(py)?;
        let ids = ids_of(py, &bodies, &ids)?;
        let rows = ids.iter().filter_map(|&id| bodies.get(id).copied()).collect();
        let positions = match bodies.positions().is_empty() {
            true => Vec::new(),
            false => ids.iter().filter_map(|&id| bodies.position_f64(id)).collect(),
        };
        let columns = Columns::new(rows, positions);
        Ok(BodyColumns(columns.into()))
    }

    fn contains(&self, py: Python<'_>, ids: Ids<'_>) -> PyResult<Py<PyAny>> {
        let ids = numbers(py, "ids", &ids)?;
        let bodies = self.locked(py)?;
        Ok(array(py, ids.iter().map(|&id| id_of(&bodies, id).is_some()).collect()))
    }

    fn ids(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(array(py, self.locked(py)?.iter().map(|(of, ..)| id(of)).collect()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.locked(py)?.len())
    }

    fn intersections(&self, py: Python<'_>) -> PyResult<Pending> {
        let bodies = self.locked(py)?;
        Ok(Pending::of(bodies.intersections().or_raise(py)?, kept(Answer::Intersections)))
    }

    fn distances(&self, py: Python<'_>, margin: f32) -> PyResult<Pending> {
        let bodies = self.locked(py)?;
        let pending = bodies.distances(&DistanceOptions { margin }).or_raise(py)?;
        Ok(Pending::of(pending, kept(Answer::Distances)))
    }

    fn contacts(&self, py: Python<'_>, margin: f32) -> PyResult<Pending> {
        let bodies = self.locked(py)?;
        let pending = bodies.contacts(&ContactOptions { margin }).or_raise(py)?;
        Ok(Pending::of(pending, kept(Answer::Contacts)))
    }

    fn manifolds(&self, py: Python<'_>, margin: f32) -> PyResult<Pending> {
        let bodies = self.locked(py)?;
        let pending = bodies.manifolds(&ManifoldOptions { margin }).or_raise(py)?;
        Ok(Pending::of(pending, kept(Answer::Manifolds)))
    }

    fn events(&self, py: Python<'_>, found: &Found) -> PyResult<Py<PyAny>> {
        let mut bodies = self.locked(py)?;
        let events = match &found.0 {
            Answer::Intersections(found) => bodies.events(found),
            Answer::Distances(found) => bodies.events(found),
            Answer::Contacts(found) => bodies.events(found),
            Answer::Manifolds(found) => bodies.events(found),
        };
        structured(py, events.or_raise(py)?.into_iter().map(PairEvent::from).collect())
    }

    fn touching(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        structured(py, self.locked(py)?.touching().map(TouchingPair::from).collect())
    }
}

impl Bodies {
    /// Gives bodies other numbers: all of them or, where one is wrong, none.
    fn replace(
        &self,
        py: Python<'_>,
        bodies: &mut collide::Bodies,
        ids: &[BodyId],
        columns: &Columns,
    ) -> PyResult<()> {
        let is_f64 = !bodies.positions().is_empty();
        let rows = ids.iter().filter_map(|&id| bodies.get(id).copied()).collect();
        let positions = ids.iter().filter(|_| is_f64).filter_map(|&id| bodies.position_f64(id)).collect();
        let before = Columns::new(rows, positions);
        for (row, &id) in ids.iter().enumerate() {
            if let Err(error) = set(bodies, id, columns, row) {
                for (row, &id) in ids.iter().enumerate().take(row + 1).rev() {
                    set(bodies, id, &before, row).or_raise(py)?;
                }
                return Err(invalid(py, &format!("ids[{row}]: {error}")));
            }
        }
        Ok(())
    }
}
