//! Friction, rules of costs, and places on a globe, as Python gives them.

use hullfield::flow::{CostRule, Ellipsoid, FrictionOptions, Geographic};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

use crate::error::invalid;

/// A cost rule by its name.
pub(crate) fn cost_rule(py: Python<'_>, name: &str) -> PyResult<CostRule> {
    match name {
        "entry" => Ok(CostRule::Entry),
        "exit" => Ok(CostRule::Exit),
        "mean" => Ok(CostRule::Mean),
        other => Err(invalid(py, &format!("cost_rule is '{other}', it must be 'entry', 'exit' or 'mean'"))),
    }
}

/// Friction in one of the types that the library takes.
#[derive(FromPyObject)]
pub(crate) enum Friction<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
}

/// The latitudes of the outer edges of the first and the last row, the width of a cell in degrees, and the ellipsoid.
#[derive(FromPyObject, Clone, Copy)]
pub(crate) struct GlobeArguments([f64; 2], f64, [f64; 2]);

impl From<GlobeArguments> for Geographic {
    fn from(GlobeArguments(latitudes, cell_width, [semi_major_axis, flattening]): GlobeArguments) -> Self {
        Self { latitudes, cell_width, ellipsoid: Ellipsoid { semi_major_axis, flattening } }
    }
}

/// The size of cells, their place on a globe, and the largest distance.
#[derive(FromPyObject, Clone, Copy)]
pub(crate) struct FrictionArguments([f64; 2], Option<GlobeArguments>, Option<f64>);

impl From<FrictionArguments> for FrictionOptions {
    fn from(FrictionArguments(cell_size, globe, max_distance): FrictionArguments) -> Self {
        Self { cell_size, geographic: globe.map(Geographic::from), max_distance }
    }
}
