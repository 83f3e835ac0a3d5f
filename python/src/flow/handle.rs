//! Grids on an engine, and fields solved over them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hullfield::flow::{self, Edit, FieldOptions, Query};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arrays::{matrix, numbers};
use crate::engine::Engine;
use crate::error::{OrRaise, invalid};
use crate::flow::agents::Agents;
use crate::flow::cells::{cells, lists, statistics};
use crate::flow::field::Field;
use crate::flow::grid::Grid;
use crate::fork::Owned;
use crate::wait::{Pending, finish};

/// A grid on an engine. Calls under way keep the grid that they began with.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Flow {
    engine: Py<Engine>,
    flow: Mutex<Owned<flow::Flow>>,
    /// Held during an edit, so that edits of several threads follow one another.
    editing: Mutex<()>,
}

impl Flow {
    fn lock(&self) -> MutexGuard<'_, Owned<flow::Flow>> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library's handle as it is now.
    fn now(&self, py: Python<'_>) -> PyResult<flow::Flow> {
        Ok(flow::Flow::clone(self.lock().get(py)?))
    }
}

/// A query of `hullfield.flow.Flow.prepare`.
fn query(py: Python<'_>, name: &str) -> PyResult<Query> {
    Ok(match name {
        "solve" => Query::Solve,
        "solve_until" => Query::SolveUntil,
        "update" => Query::Update,
        "step" => Query::Step,
        "paths" => Query::Paths,
        "distances_at" => Query::DistancesAt,
        other => {
            let allowed = "'solve', 'solve_until', 'update', 'step', 'paths' or 'distances_at'";
            return Err(invalid(py, &format!("a query is '{other}', it must be {allowed}")));
        }
    })
}

#[pymethods]
impl Flow {
    #[new]
    fn new(py: Python<'_>, engine: Py<Engine>, grid: &Grid) -> PyResult<Self> {
        let native = engine.get().get(py)?.clone();
        let grid = flow::Grid::clone(&grid.0);
        let flow = py.detach(|| flow::Flow::new(&native, grid)).or_raise(py)?;
        let flow = Mutex::new(Owned::new(flow, &native));
        Ok(Self { engine, flow, editing: Mutex::new(()) })
    }

    #[getter]
    fn grid(&self) -> Grid {
        Grid(std::sync::Arc::new(self.lock().host().grid().clone()))
    }

    fn solve(
        &self,
        py: Python<'_>,
        goals: PyReadonlyArrayDyn<'_, i32>,
        max_distance: Option<u32>,
        until: PyReadonlyArrayDyn<'_, i32>,
    ) -> PyResult<Pending> {
        let goals = cells(py, "goals", &goals)?;
        let options = FieldOptions { max_distance, until: cells(py, "until", &until)?, ..Default::default() };
        let (flow, engine) = (self.now(py)?, self.engine.get().get(py)?.clone());
        let pending = py.detach(|| flow.solve(&goals, &options)).or_raise(py)?;
        Ok(Pending::of(pending, move |field| {
            let field = Field::new(field, &engine);
            finish(move |py| field.into_py_any(py))
        }))
    }

    #[expect(clippy::too_many_arguments, reason = "lists are two arrays each")]
    fn fields(
        &self,
        py: Python<'_>,
        goals: PyReadonlyArrayDyn<'_, i32>,
        goal_offsets: PyReadonlyArrayDyn<'_, i64>,
        max_distance: Option<u32>,
        until: PyReadonlyArrayDyn<'_, i32>,
        until_each: PyReadonlyArrayDyn<'_, i32>,
        until_offsets: PyReadonlyArrayDyn<'_, i64>,
    ) -> PyResult<Pending> {
        let goals = lists(cells(py, "goals", &goals)?, numbers(py, "goal offsets", &goal_offsets)?);
        let until_each =
            lists(cells(py, "until_each", &until_each)?, numbers(py, "until offsets", &until_offsets)?);
        let options = FieldOptions { max_distance, until: cells(py, "until", &until)?, until_each };
        let (flow, engine) = (self.now(py)?, self.engine.get().get(py)?.clone());
        let pending = py.detach(|| flow.fields(&goals, &options)).or_raise(py)?;
        Ok(Pending::of(pending, move |batch| {
            let fields: Vec<Field> = batch.rows.into_iter().map(|field| Field::new(field, &engine)).collect();
            let stats = batch.stats;
            finish(move |py| (fields, statistics(py, &stats)?).into_py_any(py))
        }))
    }

    fn update(
        &self,
        py: Python<'_>,
        field: &Field,
        goals: Option<PyReadonlyArrayDyn<'_, i32>>,
    ) -> PyResult<Pending> {
        let goals = goals.map(|goals| cells(py, "goals", &goals)).transpose()?;
        let (flow, engine) = (self.now(py)?, self.engine.get().get(py)?.clone());
        // A handle of its own: the caller's keeps the old field, and has it after an error too.
        let mut field = field.library(py)?;
        let pending = py
            .detach(|| match goals {
                Some(goals) => flow.update_goals(&mut field, &goals),
                None => flow.update(&mut field),
            })
            .or_raise(py)?;
        Ok(Pending::of(pending, move |()| {
            let field = Field::new(field, &engine);
            finish(move |py| field.into_py_any(py))
        }))
    }

    /// Edits: what (0 block, 1 free, 2 cost), cells, and costs.
    fn edit(
        &self,
        py: Python<'_>,
        kinds: PyReadonlyArrayDyn<'_, u32>,
        given: PyReadonlyArrayDyn<'_, i32>,
        costs: PyReadonlyArrayDyn<'_, u32>,
    ) -> PyResult<()> {
        let (kinds, given) = (numbers(py, "kinds", &kinds)?, cells(py, "cells", &given)?);
        let costs = numbers(py, "costs", &costs)?;
        let edit = |((&kind, cell), &cost)| match kind {
            0 => Edit::Block(cell),
            1 => Edit::Free(cell),
            _ => Edit::Cost(cell, cost),
        };
        let edits: Vec<Edit> = kinds.iter().zip(given).zip(costs).map(edit).collect();
        let engine = self.engine.get().get(py)?.clone();
        // Refuses the handle of another process.
        self.now(py)?;
        py.detach(|| {
            let _editing = self.editing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut flow = self.lock().host().clone();
            flow.edit(&edits)?;
            *self.lock() = Owned::new(flow, &engine);
            Ok(())
        })
        .or_raise(py)
    }

    fn path_to_nearest(&self, py: Python<'_>, start: [i32; 3], goal: [i32; 3]) -> PyResult<Pending> {
        let flow = self.now(py)?;
        let pending = py.detach(|| flow.path_to_nearest(start.into(), goal.into())).or_raise(py)?;
        Ok(Pending::of(pending, |path| {
            let all = path.cells.iter().map(|cell| [cell.x, cell.y, cell.z]).collect();
            finish(move |py| (matrix(py, all)?, path.length).into_py_any(py))
        }))
    }

    fn prepare(&self, py: Python<'_>, queries: Vec<String>) -> PyResult<Pending> {
        let queries = queries.iter().map(|name| query(py, name)).collect::<PyResult<Vec<_>>>()?;
        let flow = self.now(py)?;
        let pending = py.detach(|| flow.prepare(&queries)).or_raise(py)?;
        Ok(Pending::of(pending, |prepared| finish(move |py| prepared.pipeline_count.into_py_any(py))))
    }

    fn agents(&self, py: Python<'_>, given: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Agents> {
        let (given, flow) = (cells(py, "cells", &given)?, self.now(py)?);
        let engine = self.engine.get().get(py)?;
        let agents = py.detach(|| flow.agents(&given)).or_raise(py)?;
        Ok(Agents::new(agents, engine))
    }
}
