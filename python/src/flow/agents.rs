//! Crowds of agents that the engine keeps.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use hullfield::flow;
use hullfield::{Backend, Engine, Error};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arrays::matrix;
use crate::error::OrRaise;
use crate::flow::field::Field;
use crate::fork::Owned;
use crate::wait::{Pending, finish};

/// How many steps agents on the CPU make until they look whether anybody still waits.
const STEPS_AT_ONCE: u32 = 64;

/// A crowd.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Agents {
    agents: Owned<Mutex<flow::Agents>>,
    count: usize,
    is_on_gpu: bool,
}

impl Agents {
    pub(crate) fn new(agents: flow::Agents, engine: &Engine) -> Self {
        let is_on_gpu = engine.backend() == Backend::Gpu;
        let count = agents.count();
        Self { count, agents: Owned::new(Mutex::new(agents), engine), is_on_gpu }
    }
}

#[pymethods]
impl Agents {
    fn __len__(&self) -> usize {
        self.count
    }

    fn step(&self, py: Python<'_>, field: &Field, step_count: u32) -> PyResult<Pending> {
        let (agents, field) = (Arc::clone(self.agents.get(py)?), field.library(py)?);
        let at_once = if self.is_on_gpu { step_count } else { STEPS_AT_ONCE };
        Ok(Pending::run(move |cancel| {
            let mut agents = agents.lock().unwrap_or_else(PoisonError::into_inner);
            let mut left = step_count;
            loop {
                let count = left.min(at_once);
                agents.step(&field, count)?;
                left -= count;
                if left == 0 {
                    return Ok(finish(|py| py.None().into_py_any(py)));
                }
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
            }
        }))
    }

    fn cells(&self, py: Python<'_>) -> PyResult<Pending> {
        let agents = Arc::clone(self.agents.get(py)?);
        let pending =
            py.detach(|| agents.lock().unwrap_or_else(PoisonError::into_inner).cells()).or_raise(py)?;
        Ok(Pending::of(pending, |cells| {
            let all = cells.iter().map(|cell| [cell.x, cell.y, cell.z]).collect();
            finish(move |py| matrix(py, all))
        }))
    }
}
