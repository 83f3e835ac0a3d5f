//! `hullfield.cost_distance`.

use std::iter::once;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hullfield::Error;
use hullfield::flow::{
    self, Cell, CostDistanceOptions, CostDistanceReport, FrictionValue, Geographic, Slope,
};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, numbers, optional, rows, shaped};
use crate::batch::map;
use crate::error::{exception, invalid};
use crate::flow::cells::{cells, connectivity, coordinates};
use crate::flow::friction::{Friction, GlobeArguments, cost_rule};
use crate::wait::{Finish, Pending, finish};

/// How many paths a thread walks at a time.
const PATHS_A_THREAD: usize = 16;

/// A solved cost distance. What is asked for again is kept here; the arrays are Python's.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct CostDistance {
    solved: Arc<flow::CostDistance>,
}

#[pymethods]
impl CostDistance {
    /// The cells of the paths from some cells, one after the other, and where each begins.
    fn paths(&self, py: Python<'_>, cells: PyReadonlyArrayDyn<'_, i32>) -> PyResult<Pending> {
        let (solved, starts) = (Arc::clone(&self.solved), self::cells(py, "cells", &cells)?);
        Ok(Pending::run(move |cancel| {
            let paths = map(starts.len(), PATHS_A_THREAD, cancel, |row| solved.path(starts[row]))?;
            let offsets = once(0).chain(paths.iter().map(Vec::len));
            let offsets = offsets.scan(0, |end, len| {
                *end += len as i64;
                Some(*end)
            });
            let (offsets, all): (Vec<i64>, Vec<Cell>) = (offsets.collect(), paths.concat());
            Ok(finish(move |py| (array(py, offsets), coordinates(py, &all)?).into_py_any(py)))
        }))
    }
}

/// Solves. The answer: the distances, the allocation or None, the report, and what paths are read from.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub(crate) fn cost_distance(
    py: Python<'_>,
    friction: Friction<'_>,
    targets: PyReadonlyArrayDyn<'_, i32>,
    neighbours: &str,
    corners: &str,
    rule: &str,
    cell_size: [f64; 2],
    globe: Option<GlobeArguments>,
    max_distance: Option<f64>,
    allocation: bool,
    next: bool,
    elevation: Option<PyReadonlyArrayDyn<'_, f32>>,
    slope_factors: PyReadonlyArrayDyn<'_, f64>,
    is_outward: bool,
) -> PyResult<Pending> {
    let targets = cells(py, "targets", &targets)?;
    let slope = match &elevation {
        Some(elevation) => Some(Slope {
            elevation: optional(py, "elevation", Some(elevation))?.to_vec(),
            factors: rows(py, "slope_factors", &slope_factors)?.to_vec(),
            is_outward,
        }),
        None => None,
    };
    let options = CostDistanceOptions {
        connectivity: connectivity(py, neighbours, corners)?,
        cost_rule: cost_rule(py, rule)?,
        cell_size,
        geographic: globe.map(Geographic::from),
        max_distance,
        allocation,
        next,
        slope,
        ..CostDistanceOptions::default()
    };
    match &friction {
        Friction::Single(friction) => start(py, friction, targets, options),
        Friction::Double(friction) => start(py, friction, targets, options),
    }
}

fn start<F: FrictionValue + numpy::Element>(
    py: Python<'_>,
    friction: &PyReadonlyArrayDyn<'_, F>,
    targets: Vec<Cell>,
    options: CostDistanceOptions,
) -> PyResult<Pending> {
    let &[height, width] = friction.shape() else {
        let message = format!("friction has the shape {:?}, it must be (rows, columns)", friction.shape());
        return Err(invalid(py, &message));
    };
    let size = [width, height].map(|length| u32::try_from(length).unwrap_or(u32::MAX));
    let friction = numbers(py, "friction", friction)?;
    // The caller may change the array while the work runs.
    let friction: Arc<[F]> = py.detach(|| friction.into());
    Ok(Pending::run(move |cancel| {
        let on_progress = |_| {
            if cancel.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match flow::cost_distance(size, &friction, &targets, &options, on_progress) {
            // In the words of this call.
            Err(Error::NoGoals { given_count, blocked_count, outside_count, .. }) => {
                let message = format!(
                    "no target is left: of {given_count} given, {blocked_count} are on barriers, {outside_count} outside of the raster"
                );
                Ok(finish(move |py| Err(exception(py, "NoGoalsError", &message))))
            }
            solved => Ok(answer(solved?, height, width, options.allocation)),
        }
    }))
}

fn answer(mut solved: flow::CostDistance, height: usize, width: usize, has_allocation: bool) -> Finish {
    finish(move |py| {
        let distances = shaped(py, std::mem::take(&mut solved.distances), &[height, width])?;
        let allocation = match has_allocation {
            true => Some(shaped(py, std::mem::take(&mut solved.allocation), &[height, width])?),
            false => None,
        };
        let report = report(py, &solved.report)?;
        (distances, allocation, report, CostDistance { solved: Arc::new(solved) }).into_py_any(py)
    })
}

/// The fields of `hullfield.CostDistanceReport`.
fn report<'py>(py: Python<'py>, report: &CostDistanceReport) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("used_count", report.targets.used_count)?;
    all.set_item("blocked", coordinates(py, &report.targets.blocked)?)?;
    all.set_item("outside", coordinates(py, &report.targets.outside)?)?;
    all.set_item("reached_count", report.reached_count)?;
    all.set_item("farthest", report.farthest)?;
    all.set_item("not_finite_count", report.not_finite_count)?;
    all.set_item("not_positive_count", report.not_positive_count)?;
    all.set_item("error_bound", report.error_bound)?;
    Ok(all)
}

/// Tobler's hiking function, as rows of slope and factor.
#[pyfunction]
pub(crate) fn tobler(py: Python<'_>) -> PyResult<Py<PyAny>> {
    matrix(py, Slope::tobler())
}
