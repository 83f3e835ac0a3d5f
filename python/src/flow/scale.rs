//! Whole costs for friction.

use hullfield::flow::{self, CostRule, FrictionValue, RasterWindow};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::{array, numbers, shaped};
use crate::error::{OrRaise, invalid};
use crate::flow::cells::connectivity;

/// A cost rule by its name.
pub(crate) fn cost_rule(py: Python<'_>, name: &str) -> PyResult<CostRule> {
    match name {
        "entry" => Ok(CostRule::Entry),
        "exit" => Ok(CostRule::Exit),
        "mean" => Ok(CostRule::Mean),
        other => Err(invalid(py, &format!("cost_rule is '{other}', it must be 'entry', 'exit' or 'mean'"))),
    }
}

/// A scale.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct FrictionScale(flow::FrictionScale);

/// Friction in one of the types that the library takes.
#[derive(FromPyObject)]
pub(crate) enum Friction<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
}

impl FrictionScale {
    fn scale<F: FrictionValue>(
        &self,
        py: Python<'_>,
        friction: &[F],
        window: RasterWindow,
    ) -> PyResult<Py<PyAny>> {
        let costs = py.detach(|| {
            let mut costs = vec![0; friction.len()];
            self.0.costs(friction, window, &mut costs).map(|()| costs)
        });
        shaped(py, costs.or_raise(py)?, &[window.height as usize, window.width as usize])
    }
}

#[pymethods]
impl FrictionScale {
    #[new]
    fn new(
        py: Python<'_>,
        range: [f64; 2],
        connectivity_name: &str,
        corners: &str,
        rule: &str,
        cell_size: [f64; 2],
    ) -> PyResult<Self> {
        let connectivity = connectivity(py, connectivity_name, corners)?;
        flow::FrictionScale::new(range, connectivity, cost_rule(py, rule)?, cell_size).map(Self).or_raise(py)
    }

    #[getter]
    fn factor(&self) -> f64 {
        self.0.factor()
    }

    #[getter]
    fn step_lengths(&self) -> [u32; 3] {
        let lengths = self.0.step_lengths();
        [lengths.x, lengths.y, lengths.diagonal]
    }

    #[getter]
    fn length_unit(&self) -> f64 {
        self.0.length_unit()
    }

    #[getter]
    fn unit(&self) -> f64 {
        self.0.unit()
    }

    #[getter]
    fn error_bound(&self) -> f64 {
        self.0.error_bound()
    }

    fn whole_distance(&self, distance: f64) -> u64 {
        self.0.whole_distance(distance)
    }

    /// The costs of friction, (height, width), whose first cell is at a place of the raster.
    fn costs(&self, py: Python<'_>, friction: Friction<'_>, x: u32, y: u32) -> PyResult<Py<PyAny>> {
        let shape = match &friction {
            Friction::Single(friction) => friction.shape().to_vec(),
            Friction::Double(friction) => friction.shape().to_vec(),
        };
        let [height, width] = shape[..] else { return Err(invalid(py, "friction must be (height, width)")) };
        let window = RasterWindow { x, y, width: width as u32, height: height as u32 };
        match &friction {
            Friction::Single(friction) => self.scale(py, numbers(py, "friction", friction)?, window),
            Friction::Double(friction) => self.scale(py, numbers(py, "friction", friction)?, window),
        }
    }

    /// Whole distances in the units of the map.
    fn distances(&self, py: Python<'_>, given: PyReadonlyArrayDyn<'_, u64>) -> PyResult<Py<PyAny>> {
        let all = numbers(py, "distances", &given)?;
        Ok(array(py, py.detach(|| all.iter().map(|&distance| self.0.distance(distance)).collect())))
    }
}
