//! The bodies of a query, made of numpy's columns.

use hullfield::collide::{self, Body};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{optional, rows};
use crate::error::invalid;

/// The bodies of a query. Python code has checked that all columns that are there have the length of `hulls`.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct BodyColumns {
    bodies: Vec<Body>,
    positions: Vec<[f64; 3]>,
    worlds: Vec<u32>,
    owners: Vec<u32>,
}

impl BodyColumns {
    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::BodyColumns<'_> {
        collide::BodyColumns {
            positions: &self.positions,
            worlds: &self.worlds,
            owners: &self.owners,
            ..collide::BodyColumns::new(&self.bodies)
        }
    }
}

#[pymethods]
impl BodyColumns {
    #[new]
    #[pyo3(signature = (hulls, positions_f32, positions_f64, rotations, scales, paddings, groups, masks, worlds, owners))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn new(
        py: Python<'_>,
        hulls: PyReadonlyArrayDyn<'_, u32>,
        positions_f32: Option<PyReadonlyArrayDyn<'_, f32>>,
        positions_f64: Option<PyReadonlyArrayDyn<'_, f64>>,
        rotations: Option<PyReadonlyArrayDyn<'_, f32>>,
        scales: Option<PyReadonlyArrayDyn<'_, f32>>,
        paddings: Option<PyReadonlyArrayDyn<'_, f32>>,
        groups: Option<PyReadonlyArrayDyn<'_, u32>>,
        masks: Option<PyReadonlyArrayDyn<'_, u32>>,
        worlds: Option<PyReadonlyArrayDyn<'_, u32>>,
        owners: Option<PyReadonlyArrayDyn<'_, u32>>,
    ) -> PyResult<Self> {
        let mut bodies: Vec<Body> =
            optional(py, "hulls", Some(&hulls))?.iter().map(|&hull| Body::new(hull)).collect();
        let count = bodies.len();
        let check = |name: &str, given: usize| match given {
            0 => Ok(()),
            given if given == count => Ok(()),
            given => Err(invalid(py, &format!("{name} has {given} rows, there are {count} hulls"))),
        };
        if let Some(positions) = &positions_f32 {
            let positions = rows::<f32, 3>(py, "positions", positions)?;
            check("positions", positions.len())?;
            bodies.iter_mut().zip(positions).for_each(|(body, &position)| body.position = position);
        }
        if let Some(rotations) = &rotations {
            let rotations = rows::<f32, 4>(py, "rotations", rotations)?;
            check("rotations", rotations.len())?;
            bodies.iter_mut().zip(rotations).for_each(|(body, &rotation)| body.rotation = rotation);
        }
        if let Some(scales) = &scales {
            let scales = rows::<f32, 3>(py, "scales", scales)?;
            check("scales", scales.len())?;
            bodies.iter_mut().zip(scales).for_each(|(body, &scale)| body.scale = scale);
        }
        let paddings = optional(py, "paddings", paddings.as_ref())?;
        check("paddings", paddings.len())?;
        bodies.iter_mut().zip(paddings).for_each(|(body, &padding)| body.padding = padding);
        let groups = optional(py, "groups", groups.as_ref())?;
        check("groups", groups.len())?;
        bodies.iter_mut().zip(groups).for_each(|(body, &group)| body.group = group);
        let masks = optional(py, "masks", masks.as_ref())?;
        check("masks", masks.len())?;
        bodies.iter_mut().zip(masks).for_each(|(body, &mask)| body.mask = mask);
        let positions = match &positions_f64 {
            Some(positions) => rows::<f64, 3>(py, "positions", positions)?.to_vec(),
            None => Vec::new(),
        };
        let worlds = optional(py, "worlds", worlds.as_ref())?.to_vec();
        let owners = optional(py, "owners", owners.as_ref())?.to_vec();
        Ok(Self { bodies, positions, worlds, owners })
    }

    fn __len__(&self) -> usize {
        self.bodies.len()
    }
}
