//! Queries over bodies.

use hullfield::collide::{self, Options, Pairs, Precision, Stats};
use numpy::PyReadonlyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Row, rows, structured};
use crate::collide::columns::BodyColumns;
use crate::collide::hull::Hull;
use crate::collide::rows::Intersection;
use crate::engine::Engine;
use crate::error::OrRaise;
use crate::fork::Owned;
use crate::wait::{Finish, Pending, finish};

/// The hulls of a scene, and the queries over bodies made of them.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Arena {
    arena: Owned<collide::Arena>,
}

#[pymethods]
impl Arena {
    #[new]
    fn new(
        py: Python<'_>,
        engine: &Engine,
        hulls: Vec<Hull>,
        is_exact: bool,
        warm_start: bool,
    ) -> PyResult<Self> {
        let engine = engine.get(py)?;
        let hulls: Vec<_> = hulls.into_iter().map(|hull| hull.0).collect();
        let precision = if is_exact { Precision::Exact } else { Precision::Fast };
        let options = Options { precision, warm_start, ..Options::default() };
        let arena = py.detach(|| collide::Arena::new(engine, &hulls, options)).or_raise(py)?;
        Ok(Self { arena: Owned::new(arena, engine) })
    }

    fn intersections(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
    ) -> PyResult<Pending> {
        let (arena, pairs) = (self.arena.get(py)?, pairs.get(py)?);
        let pending = py.detach(|| arena.intersections(bodies.columns(), pairs)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Intersection>))
    }
}

/// Which pairs a query examines: "broad_phase", "exhaustive", or an array of pairs.
#[derive(FromPyObject)]
pub(crate) enum PairsArgument<'py> {
    Name(String),
    Given(PyReadonlyArrayDyn<'py, u32>),
}

impl PairsArgument<'_> {
    fn get(&self, py: Python<'_>) -> PyResult<Pairs<'_>> {
        Ok(match self {
            Self::Name(name) if name == "exhaustive" => Pairs::Exhaustive,
            Self::Name(_) => Pairs::BroadPhase,
            Self::Given(pairs) => Pairs::Given(rows(py, "pairs", pairs)?),
        })
    }
}

/// Rows and statistics of an answer.
fn batch<T, R: Row + From<T> + 'static>(batch: collide::Batch<T>) -> Finish {
    let rows: Vec<R> = batch.rows.into_iter().map(R::from).collect();
    let stats = batch.stats;
    finish(move |py| (structured(py, rows)?, statistics(py, &stats)?).into_py_any(py))
}

/// The fields of `hullfield.collide.Stats`.
fn statistics<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("candidate_count", stats.candidate_count)?;
    all.set_item("skipped_count", stats.skipped_count)?;
    all.set_item("hit_count", stats.hit_count)?;
    all.set_item("refined_count", stats.refined_count)?;
    all.set_item("settled_count", stats.settled_count)?;
    all.set_item("rerun_count", stats.rerun_count)?;
    let times = &stats.times;
    all.set_item("upload_ms", times.upload_ms)?;
    all.set_item("compile_ms", times.compile_ms)?;
    all.set_item("kernels_ms", times.kernels_ms)?;
    all.set_item("readback_ms", times.readback_ms)?;
    all.set_item("settle_ms", times.settle_ms)?;
    all.set_item("total_ms", times.total_ms)?;
    Ok(all)
}
