//! The columns of a query's bodies, rays and shape casts, made of numpy's.
//!
//! Python code has checked that all columns that are there have the same length.

use std::sync::Arc;

use hullfield::collide::{self, Body, Exclusions, Pose, Ray, ShapeCast};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, numbers, optional, rows};
use crate::error::{OrRaise, invalid};

type Floats<'py> = PyReadonlyArrayDyn<'py, f32>;
type Doubles<'py> = PyReadonlyArrayDyn<'py, f64>;
type Indices<'py> = PyReadonlyArrayDyn<'py, u32>;

/// Pairs that never meet, as they were given.
#[derive(Default, Clone)]
pub(crate) struct ExcludedPairs {
    pairs: Vec<[u32; 2]>,
    statics: Vec<[u32; 2]>,
    pub(crate) exclusions: Option<Exclusions>,
}

impl ExcludedPairs {
    pub(crate) fn new(
        py: Python<'_>,
        pairs: Option<&Indices<'_>>,
        statics: Option<&Indices<'_>>,
    ) -> PyResult<Self> {
        let pairs = optional_rows::<u32, 2>(py, "exclusions", pairs)?.to_vec();
        let statics = optional_rows::<u32, 2>(py, "static_exclusions", statics)?.to_vec();
        let is_empty = pairs.is_empty() && statics.is_empty();
        let make = || Ok(Exclusions::new(&pairs)?.with_statics(&statics));
        let exclusions = if is_empty { None } else { Some(make().or_raise(py)?) };
        Ok(Self { pairs, statics, exclusions })
    }

    pub(crate) fn put_into(&self, py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        if !self.pairs.is_empty() {
            columns.set_item("exclusions", matrix(py, self.pairs.clone())?)?;
        }
        if !self.statics.is_empty() {
            columns.set_item("static_exclusions", matrix(py, self.statics.clone())?)?;
        }
        Ok(())
    }
}

/// The rows of an array that may be missing: then none.
pub(crate) fn optional_rows<'a, T: numpy::Element + bytemuck::Pod, const N: usize>(
    py: Python<'_>,
    name: &str,
    array: Option<&'a PyReadonlyArrayDyn<'_, T>>,
) -> PyResult<&'a [[T; N]]> {
    array.map_or(Ok(&[]), |array| rows(py, name, array))
}

/// The numbers in f32 where that holds all of them exactly. NaN is for the library to refuse.
fn narrowed(positions: &[[f64; 3]]) -> Option<Vec<[f32; 3]>> {
    let is_exact = |x: &f64| f64::from(*x as f32) == *x;
    positions.iter().flatten().all(is_exact).then(|| positions.iter().map(|p| p.map(|x| x as f32)).collect())
}

/// What a native [`BodyColumns`] holds.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) bodies: Vec<Body>,
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) worlds: Vec<u32>,
    owners: Vec<u32>,
    excluded: ExcludedPairs,
}

impl Columns {
    /// Bodies, and their positions where these are in f64.
    pub(crate) fn new(bodies: Vec<Body>, positions: Vec<[f64; 3]>) -> Self {
        Self { bodies, positions, ..Self::default() }
    }

    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::BodyColumns<'_> {
        collide::BodyColumns {
            positions: &self.positions,
            worlds: &self.worlds,
            owners: &self.owners,
            exclusions: self.excluded.exclusions.as_ref(),
            ..collide::BodyColumns::new(&self.bodies)
        }
    }

    /// The name of a column that says which pairs meet.
    pub(crate) fn rule(&self) -> Option<&'static str> {
        if !self.worlds.is_empty() {
            Some("worlds")
        } else if !self.owners.is_empty() {
            Some("owners")
        } else {
            self.excluded.exclusions.is_some().then_some("exclusions")
        }
    }
}

/// The bodies of a query.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct BodyColumns(pub(crate) Arc<Columns>);

impl BodyColumns {
    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::BodyColumns<'_> {
        self.0.columns()
    }
}

#[pymethods]
impl BodyColumns {
    #[new]
    #[pyo3(signature = (hulls, positions_f32, positions_f64, rotations, scales, paddings, groups, masks, worlds, owners, exclusions, static_exclusions))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn new(
        py: Python<'_>,
        hulls: Indices<'_>,
        positions_f32: Option<Floats<'_>>,
        positions_f64: Option<Doubles<'_>>,
        rotations: Option<Floats<'_>>,
        scales: Option<Floats<'_>>,
        paddings: Option<Floats<'_>>,
        groups: Option<Indices<'_>>,
        masks: Option<Indices<'_>>,
        worlds: Option<Indices<'_>>,
        owners: Option<Indices<'_>>,
        exclusions: Option<Indices<'_>>,
        static_exclusions: Option<Indices<'_>>,
    ) -> PyResult<Self> {
        let hulls = numbers(py, "hulls", &hulls)?;
        let given_f32 = optional_rows::<f32, 3>(py, "positions", positions_f32.as_ref())?;
        let given_f64 = optional_rows::<f64, 3>(py, "positions", positions_f64.as_ref())?;
        let rotations = optional_rows::<f32, 4>(py, "rotations", rotations.as_ref())?;
        let scales = optional_rows::<f32, 3>(py, "scales", scales.as_ref())?;
        let paddings = optional(py, "paddings", paddings.as_ref())?;
        let groups = optional(py, "groups", groups.as_ref())?;
        let masks = optional(py, "masks", masks.as_ref())?;
        let worlds = optional(py, "worlds", worlds.as_ref())?.to_vec();
        let owners = optional(py, "owners", owners.as_ref())?.to_vec();
        let excluded = ExcludedPairs::new(py, exclusions.as_ref(), static_exclusions.as_ref())?;
        let columns = py.detach(|| {
            let narrow = narrowed(given_f64);
            let positions = if narrow.is_some() { Vec::new() } else { given_f64.to_vec() };
            let short = match &narrow {
                Some(narrow) if !given_f64.is_empty() => narrow,
                _ => given_f32,
            };
            let body = |(row, &hull): (usize, &u32)| {
                let plain = Body::new(hull);
                Body {
                    hull,
                    position: short.get(row).copied().unwrap_or(plain.position),
                    rotation: rotations.get(row).copied().unwrap_or(plain.rotation),
                    scale: scales.get(row).copied().unwrap_or(plain.scale),
                    padding: paddings.get(row).copied().unwrap_or(plain.padding),
                    group: groups.get(row).copied().unwrap_or(plain.group),
                    mask: masks.get(row).copied().unwrap_or(plain.mask),
                }
            };
            let bodies = hulls.iter().enumerate().map(body).collect();
            Columns { bodies, positions, worlds, owners, excluded }
        });
        Ok(Self(Arc::new(columns)))
    }

    fn __len__(&self) -> usize {
        self.0.bodies.len()
    }

    #[getter]
    fn is_f64(&self) -> bool {
        !self.0.positions.is_empty()
    }

    /// The columns by their names, without those that have their defaults.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Columns { bodies, positions, worlds, owners, excluded } = &*self.0;
        let (all, plain) = (PyDict::new(py), Body::new(0));
        all.set_item("hulls", array(py, bodies.iter().map(|body| body.hull).collect()))?;
        if positions.is_empty() {
            all.set_item("positions", matrix(py, bodies.iter().map(|body| body.position).collect())?)?;
        } else {
            all.set_item("positions", matrix(py, positions.clone())?)?;
        }
        if bodies.iter().any(|body| body.rotation != plain.rotation) {
            all.set_item("rotations", matrix(py, bodies.iter().map(|body| body.rotation).collect())?)?;
        }
        if bodies.iter().any(|body| body.scale != plain.scale) {
            all.set_item("scales", matrix(py, bodies.iter().map(|body| body.scale).collect())?)?;
        }
        if bodies.iter().any(|body| body.padding != plain.padding) {
            all.set_item("paddings", array(py, bodies.iter().map(|body| body.padding).collect()))?;
        }
        if bodies.iter().any(|body| body.group != plain.group) {
            all.set_item("groups", array(py, bodies.iter().map(|body| body.group).collect()))?;
        }
        if bodies.iter().any(|body| body.mask != plain.mask) {
            all.set_item("masks", array(py, bodies.iter().map(|body| body.mask).collect()))?;
        }
        if !worlds.is_empty() {
            all.set_item("worlds", array(py, worlds.clone()))?;
        }
        if !owners.is_empty() {
            all.set_item("owners", array(py, owners.clone()))?;
        }
        excluded.put_into(py, &all)?;
        Ok(all)
    }
}

/// Rotations, (n, 4), and scales, (n, 3), of matrices of four rows, (n, 4, 4).
#[pyfunction]
pub(crate) fn poses_of_matrices(py: Python<'_>, matrices: Floats<'_>) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let given = numbers(py, "matrices", &matrices)?;
    let mut rotations = Vec::with_capacity(given.len() / 16);
    let mut scales = Vec::with_capacity(given.len() / 16);
    for (row, given) in given.as_chunks::<16>().0.iter().enumerate() {
        let columns = [0, 1, 2, 3].map(|column| [0, 1, 2, 3].map(|k| given[4 * k + column]));
        let pose =
            Pose::from_columns(columns).map_err(|error| invalid(py, &format!("matrices[{row}]: {error}")))?;
        rotations.push(pose.rotation);
        scales.push(pose.scale);
    }
    Ok((matrix(py, rotations)?, matrix(py, scales)?))
}

/// What a native [`RayColumns`] holds.
pub(crate) struct Rays {
    rays: Vec<Ray>,
    origins: Vec<[f64; 3]>,
    worlds: Vec<u32>,
}

impl Rays {
    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::RayColumns<'_> {
        collide::RayColumns { rays: &self.rays, origins: &self.origins, worlds: &self.worlds }
    }
}

/// The rays of a query.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct RayColumns(pub(crate) Arc<Rays>);

#[pymethods]
impl RayColumns {
    #[new]
    #[pyo3(signature = (directions, origins_f32, origins_f64, max_distances, groups, masks, worlds))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn new(
        py: Python<'_>,
        directions: Floats<'_>,
        origins_f32: Option<Floats<'_>>,
        origins_f64: Option<Doubles<'_>>,
        max_distances: Option<Floats<'_>>,
        groups: Option<Indices<'_>>,
        masks: Option<Indices<'_>>,
        worlds: Option<Indices<'_>>,
    ) -> PyResult<Self> {
        let directions = rows::<f32, 3>(py, "directions", &directions)?;
        let given_f32 = optional_rows::<f32, 3>(py, "origins", origins_f32.as_ref())?;
        let given_f64 = optional_rows::<f64, 3>(py, "origins", origins_f64.as_ref())?;
        let max_distances = optional(py, "max_distances", max_distances.as_ref())?;
        let groups = optional(py, "groups", groups.as_ref())?;
        let masks = optional(py, "masks", masks.as_ref())?;
        let worlds = optional(py, "worlds", worlds.as_ref())?.to_vec();
        let narrow = narrowed(given_f64);
        let origins = if narrow.is_some() { Vec::new() } else { given_f64.to_vec() };
        let short = match &narrow {
            Some(narrow) if !given_f64.is_empty() => narrow,
            _ => given_f32,
        };
        let ray = |(row, &direction): (usize, &[f32; 3])| {
            let plain = Ray::new(short.get(row).copied().unwrap_or([0.0; 3]), direction);
            Ray {
                max_distance: max_distances.get(row).copied().unwrap_or(plain.max_distance),
                group: groups.get(row).copied().unwrap_or(plain.group),
                mask: masks.get(row).copied().unwrap_or(plain.mask),
                ..plain
            }
        };
        let rays = directions.iter().enumerate().map(ray).collect();
        Ok(Self(Arc::new(Rays { rays, origins, worlds })))
    }

    fn __len__(&self) -> usize {
        self.0.rays.len()
    }

    /// The columns by their names.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Rays { rays, origins, worlds } = &*self.0;
        let all = PyDict::new(py);
        if origins.is_empty() {
            all.set_item("origins", matrix(py, rays.iter().map(|ray| ray.origin).collect())?)?;
        } else {
            all.set_item("origins", matrix(py, origins.clone())?)?;
        }
        all.set_item("directions", matrix(py, rays.iter().map(|ray| ray.direction).collect())?)?;
        all.set_item("max_distances", array(py, rays.iter().map(|ray| ray.max_distance).collect()))?;
        all.set_item("groups", array(py, rays.iter().map(|ray| ray.group).collect()))?;
        all.set_item("masks", array(py, rays.iter().map(|ray| ray.mask).collect()))?;
        if !worlds.is_empty() {
            all.set_item("worlds", array(py, worlds.clone()))?;
        }
        Ok(all)
    }
}

/// What a native [`ShapeCastColumns`] holds.
pub(crate) struct Casts {
    casts: Vec<ShapeCast>,
    shapes: Arc<Columns>,
}

impl Casts {
    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::ShapeCastColumns<'_> {
        collide::ShapeCastColumns {
            casts: &self.casts,
            positions: &self.shapes.positions,
            worlds: &self.shapes.worlds,
        }
    }
}

/// The shape casts of a query.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct ShapeCastColumns(pub(crate) Arc<Casts>);

#[pymethods]
impl ShapeCastColumns {
    #[new]
    #[pyo3(signature = (shapes, directions, max_distances))]
    fn new(
        py: Python<'_>,
        shapes: &BodyColumns,
        directions: Floats<'_>,
        max_distances: Option<Floats<'_>>,
    ) -> PyResult<Self> {
        if let Some(rule) = shapes.0.rule().filter(|&rule| rule != "worlds") {
            return Err(invalid(py, &format!("shapes have {rule}, which shape casts have not")));
        }
        let directions = rows::<f32, 3>(py, "directions", &directions)?;
        let max_distances = optional(py, "max_distances", max_distances.as_ref())?;
        let cast = |(row, (&body, &direction)): (usize, (&Body, &[f32; 3]))| {
            let max_distance = max_distances.get(row).copied().unwrap_or(f32::INFINITY);
            ShapeCast { body, direction, max_distance }
        };
        let casts = shapes.0.bodies.iter().zip(directions).enumerate().map(cast).collect();
        Ok(Self(Arc::new(Casts { casts, shapes: Arc::clone(&shapes.0) })))
    }

    fn __len__(&self) -> usize {
        self.0.casts.len()
    }

    /// The columns by their names, but for the shapes.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (all, casts) = (PyDict::new(py), &self.0.casts);
        all.set_item("directions", matrix(py, casts.iter().map(|cast| cast.direction).collect())?)?;
        all.set_item("max_distances", array(py, casts.iter().map(|cast| cast.max_distance).collect()))?;
        Ok(all)
    }
}
