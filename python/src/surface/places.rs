//! Places: where queries begin and end.

use hullfield::navigate::surface::{ModelFace, Place};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{optional, rows};
use crate::error::invalid;

/// Places on a surface, one for each query.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Places(pub(crate) Vec<Place>);

impl Places {
    /// The only place.
    pub(crate) fn one(&self) -> PyResult<Place> {
        match *self.0.as_slice() {
            [place] => Ok(place),
            _ => Err(Python::attach(|py| {
                invalid(py, &format!("one place is needed, {} were given", self.0.len()))
            })),
        }
    }
}

#[pymethods]
impl Places {
    /// Of positions, where `kind` is "near"; else of the numbers of triangles, faces or vertices too.
    #[new]
    fn new(
        py: Python<'_>,
        kind: &str,
        positions: Option<PyReadonlyArrayDyn<'_, f64>>,
        numbers: Option<PyReadonlyArrayDyn<'_, u32>>,
        models: Option<PyReadonlyArrayDyn<'_, u32>>,
    ) -> PyResult<Self> {
        let positions: &[[f64; 3]] = match &positions {
            Some(positions) => rows(py, "positions", positions)?,
            None => &[],
        };
        let numbers = optional(py, "numbers", numbers.as_ref())?;
        let models = optional(py, "models", models.as_ref())?;
        let named = || numbers.iter().zip(positions);
        let (places, count): (Vec<Place>, usize) = match kind {
            "near" => (positions.iter().map(|&position| Place::Near(position)).collect(), positions.len()),
            "vertex" => (numbers.iter().map(|&vertex| Place::Vertex(vertex)).collect(), numbers.len()),
            "triangle" => {
                let place = |(&triangle, &position)| Place::Triangle { triangle, position };
                (named().map(place).collect(), numbers.len().max(positions.len()))
            }
            "face" => {
                let place = |((&face, &position), &model): ((&u32, &[f64; 3]), &u32)| Place::Face {
                    face: ModelFace { model, face },
                    position,
                };
                let count = numbers.len().max(positions.len()).max(models.len());
                (named().zip(models).map(place).collect(), count)
            }
            other => return Err(invalid(py, &format!("there is no kind of place '{other}'"))),
        };
        if places.len() != count {
            return Err(invalid(py, "the columns of the places differ in length"));
        }
        Ok(Self(places))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
