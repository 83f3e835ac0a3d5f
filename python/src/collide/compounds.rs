//! Compounds and height fields.
//!
//! A query over compounds finds the pairs of parts in the call itself, so the call runs on a thread of its own.

use std::sync::Arc;

use hullfield::collide::{
    self, Compound, CompoundBody, ContactOptions, DistanceOptions, HeightField as Field, ManifoldOptions,
    NearestOptions, Pairs, Part, PointColumns, PointOptions, Pose, RayOptions, ShapeCastOptions,
    SweepOptions,
};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, matrix, numbers, optional, rows, shaped};
use crate::collide::arena::{Arena, PairsArgument, batch, motions, plain_batch};
use crate::collide::columns::{BodyColumns, ExcludedPairs, RayColumns, ShapeCastColumns, optional_rows};
use crate::collide::rows::{
    Occlusion, PartContact, PartContainment, PartDistance, PartIntersection, PartManifold, PartNearestBody,
    PartPointHit, PartRayHit, PartShapeCastHit, PartSweep, PartsNearestBody, ShapeCastAny,
};
use crate::error::{OrRaise, invalid};
use crate::fork::Owned;
use crate::wait::Pending;

type Floats<'py> = PyReadonlyArrayDyn<'py, f32>;
type Doubles<'py> = PyReadonlyArrayDyn<'py, f64>;
type Indices<'py> = PyReadonlyArrayDyn<'py, u32>;

/// A surface over a grid.
#[pyclass(frozen, from_py_object, module = "hullfield._native")]
#[derive(Clone)]
pub(crate) struct HeightField(Field);

#[pymethods]
impl HeightField {
    #[new]
    fn new(py: Python<'_>, heights: Floats<'_>, spacing: [f32; 2], origin: [f32; 3]) -> PyResult<Self> {
        let &[_, columns] = heights.shape() else {
            return Err(invalid(py, "heights must be (rows, columns)"));
        };
        let Ok(columns) = u32::try_from(columns) else {
            return Err(invalid(
                py,
                &format!("heights has {columns} columns, there must be fewer than 2**32"),
            ));
        };
        let heights = numbers(py, "heights", &heights)?.to_vec();
        py.detach(|| Field::new(columns, heights, spacing)?.at(origin)).map(Self).or_raise(py)
    }

    #[getter]
    fn heights(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        shaped(py, self.0.heights().to_vec(), &[self.0.rows() as usize, self.0.columns() as usize])
    }

    #[getter]
    fn spacing(&self) -> [f32; 2] {
        self.0.spacing()
    }

    #[getter]
    fn origin(&self) -> [f32; 3] {
        self.0.origin()
    }

    #[getter]
    fn part_count(&self) -> u32 {
        self.0.part_count()
    }

    fn triangle(&self, py: Python<'_>, part: u32) -> PyResult<Option<Py<PyAny>>> {
        self.0.triangle(part).map(|corners| matrix(py, corners.to_vec())).transpose()
    }
}

/// What a native [`CompoundColumns`] holds.
pub(crate) struct Columns {
    bodies: Vec<CompoundBody>,
    worlds: Vec<u32>,
    excluded: ExcludedPairs,
}

impl Columns {
    fn columns(&self) -> collide::CompoundColumns<'_> {
        collide::CompoundColumns {
            bodies: &self.bodies,
            worlds: &self.worlds,
            exclusions: self.excluded.exclusions.as_ref(),
        }
    }
}

/// The bodies of a query over compounds. Python code has checked that all columns that are there have the length of `compounds`.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct CompoundColumns(Arc<Columns>);

#[pymethods]
impl CompoundColumns {
    #[new]
    #[pyo3(signature = (compounds, positions, rotations, scales, paddings, groups, masks, worlds, exclusions, static_exclusions))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn new(
        py: Python<'_>,
        compounds: Indices<'_>,
        positions: Option<Doubles<'_>>,
        rotations: Option<Floats<'_>>,
        scales: Option<Floats<'_>>,
        paddings: Option<Floats<'_>>,
        groups: Option<Indices<'_>>,
        masks: Option<Indices<'_>>,
        worlds: Option<Indices<'_>>,
        exclusions: Option<Indices<'_>>,
        static_exclusions: Option<Indices<'_>>,
    ) -> PyResult<Self> {
        let compounds = numbers(py, "compounds", &compounds)?;
        let positions = optional_rows::<f64, 3>(py, "positions", positions.as_ref())?;
        let rotations = optional_rows::<f32, 4>(py, "rotations", rotations.as_ref())?;
        let scales = optional(py, "scales", scales.as_ref())?;
        let paddings = optional(py, "paddings", paddings.as_ref())?;
        let groups = optional(py, "groups", groups.as_ref())?;
        let masks = optional(py, "masks", masks.as_ref())?;
        let worlds = optional(py, "worlds", worlds.as_ref())?.to_vec();
        let excluded = ExcludedPairs::new(py, exclusions.as_ref(), static_exclusions.as_ref())?;
        let body = |(row, &compound): (usize, &u32)| {
            let plain = CompoundBody::new(compound);
            CompoundBody {
                compound,
                position: positions.get(row).copied().unwrap_or(plain.position),
                rotation: rotations.get(row).copied().unwrap_or(plain.rotation),
                scale: scales.get(row).copied().unwrap_or(plain.scale),
                padding: paddings.get(row).copied().unwrap_or(plain.padding),
                group: groups.get(row).copied().unwrap_or(plain.group),
                mask: masks.get(row).copied().unwrap_or(plain.mask),
            }
        };
        let bodies = compounds.iter().enumerate().map(body).collect();
        Ok(Self(Arc::new(Columns { bodies, worlds, excluded })))
    }

    fn __len__(&self) -> usize {
        self.0.bodies.len()
    }

    /// The columns by their names.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (bodies, all) = (&self.0.bodies, PyDict::new(py));
        all.set_item("compounds", array(py, bodies.iter().map(|body| body.compound).collect()))?;
        all.set_item("positions", matrix(py, bodies.iter().map(|body| body.position).collect())?)?;
        all.set_item("rotations", matrix(py, bodies.iter().map(|body| body.rotation).collect())?)?;
        all.set_item("scales", array(py, bodies.iter().map(|body| body.scale).collect()))?;
        all.set_item("paddings", array(py, bodies.iter().map(|body| body.padding).collect()))?;
        all.set_item("groups", array(py, bodies.iter().map(|body| body.group).collect()))?;
        all.set_item("masks", array(py, bodies.iter().map(|body| body.mask).collect()))?;
        if !self.0.worlds.is_empty() {
            all.set_item("worlds", array(py, self.0.worlds.clone()))?;
        }
        self.0.excluded.put_into(py, &all)?;
        Ok(all)
    }
}

/// Hulls, positions, rotations, scales and paddings of the parts of a compound.
type PartArrays<'py> = (Indices<'py>, Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>);

fn compound_of(
    py: Python<'_>,
    (hulls, positions, rotations, scales, paddings): &PartArrays<'_>,
) -> PyResult<Compound> {
    let hulls = numbers(py, "hulls", hulls)?;
    let positions = rows::<f32, 3>(py, "positions", positions)?;
    let rotations = rows::<f32, 4>(py, "rotations", rotations)?;
    let scales = rows::<f32, 3>(py, "scales", scales)?;
    let paddings = numbers(py, "paddings", paddings)?;
    let columns = hulls.iter().zip(positions).zip(rotations).zip(scales).zip(paddings);
    let part = |((((&hull, &position), &rotation), &scale), &padding)| Part {
        hull,
        pose: Pose { position, rotation, scale },
        padding,
    };
    Ok(Compound { parts: columns.map(part).collect() })
}

/// Pairs that outlive a call.
enum OwnedPairs {
    BroadPhase,
    Exhaustive,
    Given(Vec<[u32; 2]>),
}

impl OwnedPairs {
    fn of(py: Python<'_>, pairs: &PairsArgument<'_>) -> PyResult<Self> {
        Ok(match pairs.get(py)? {
            Pairs::Exhaustive => Self::Exhaustive,
            Pairs::Given(pairs) => Self::Given(pairs.to_vec()),
            _ => Self::BroadPhase,
        })
    }

    fn get(&self) -> Pairs<'_> {
        match self {
            Self::BroadPhase => Pairs::BroadPhase,
            Self::Exhaustive => Pairs::Exhaustive,
            Self::Given(pairs) => Pairs::Given(pairs),
        }
    }
}

/// Compounds of an arena's hulls, and the queries over bodies made of them.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Compounds {
    compounds: Owned<collide::Compounds>,
}

#[pymethods]
impl Compounds {
    #[new]
    fn new(
        py: Python<'_>,
        arena: &Arena,
        compounds: Vec<PartArrays<'_>>,
        fields: Vec<HeightField>,
        statics: Option<&CompoundColumns>,
    ) -> PyResult<Self> {
        let arena = arena.get(py)?;
        let compounds: Vec<Compound> =
            compounds.iter().map(|parts| compound_of(py, parts)).collect::<PyResult<_>>()?;
        let fields: Vec<Field> = fields.into_iter().map(|field| field.0).collect();
        let statics = statics.map(|statics| &statics.0);
        if let Some(statics) = statics
            && (!statics.worlds.is_empty() || statics.excluded.exclusions.is_some())
        {
            let message = "statics have worlds or exclusions, which bodies that do not move have not";
            return Err(invalid(py, message));
        }
        let make = || {
            let mut all = collide::Compounds::new(arena, &compounds)?;
            if !fields.is_empty() {
                all = all.with_height_fields(&fields);
            }
            statics.map_or(Ok(all.clone()), |statics| all.with_statics(&statics.bodies))
        };
        let compounds = py.detach(make).or_raise(py)?;
        Ok(Self { compounds: Owned::new(compounds, arena.engine()) })
    }

    fn __len__(&self) -> usize {
        self.compounds.host().len()
    }

    /// The parts of a body as bodies of their own: the columns of these.
    fn parts<'py>(
        &self,
        py: Python<'py>,
        bodies: &CompoundColumns,
        row: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(body) = bodies.0.bodies.get(row) else {
            let count = bodies.0.bodies.len();
            return Err(invalid(py, &format!("body {row} does not exist, there are {count}")));
        };
        let (parts, positions) = self.compounds.get(py)?.parts(body).or_raise(py)?;
        let all = PyDict::new(py);
        all.set_item("hulls", array(py, parts.iter().map(|part| part.hull).collect()))?;
        all.set_item("positions", matrix(py, positions)?)?;
        all.set_item("rotations", matrix(py, parts.iter().map(|part| part.rotation).collect())?)?;
        all.set_item("scales", matrix(py, parts.iter().map(|part| part.scale).collect())?)?;
        all.set_item("paddings", array(py, parts.iter().map(|part| part.padding).collect()))?;
        all.set_item("groups", array(py, parts.iter().map(|part| part.group).collect()))?;
        all.set_item("masks", array(py, parts.iter().map(|part| part.mask).collect()))?;
        Ok(all)
    }

    /// The query of a name over pairs; with `is_of_bodies` a row for each pair of bodies.
    fn measures(
        &self,
        py: Python<'_>,
        name: &str,
        bodies: &CompoundColumns,
        pairs: PairsArgument<'_>,
        margin: f32,
        is_of_bodies: bool,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let pairs = OwnedPairs::of(py, &pairs)?;
        Ok(match (name, is_of_bodies) {
            ("intersections", false) => Pending::begin(
                move || all.intersections(bodies.columns(), pairs.get()),
                batch::<_, PartIntersection>,
            ),
            ("intersections", true) => Pending::begin(
                move || all.body_intersections(bodies.columns(), pairs.get()),
                batch::<_, PartIntersection>,
            ),
            ("distances", is_of_bodies) => {
                let options = DistanceOptions { margin };
                let call = move || match is_of_bodies {
                    true => all.body_distances(bodies.columns(), pairs.get(), &options),
                    false => all.distances(bodies.columns(), pairs.get(), &options),
                };
                Pending::begin(call, batch::<_, PartDistance>)
            }
            ("contacts", is_of_bodies) => {
                let options = ContactOptions { margin };
                let call = move || match is_of_bodies {
                    true => all.body_contacts(bodies.columns(), pairs.get(), &options),
                    false => all.contacts(bodies.columns(), pairs.get(), &options),
                };
                Pending::begin(call, batch::<_, PartContact>)
            }
            _ => {
                let options = ManifoldOptions { margin };
                let call = move || all.manifolds(bodies.columns(), pairs.get(), &options);
                Pending::begin(call, batch::<_, PartManifold>)
            }
        })
    }

    #[expect(clippy::too_many_arguments, reason = "motions are two columns")]
    fn sweeps(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        velocities: Floats<'_>,
        angular_velocities: Option<Floats<'_>>,
        pairs: PairsArgument<'_>,
        duration: f32,
        witness: bool,
        is_of_bodies: bool,
    ) -> PyResult<Pending> {
        let motions = motions(py, &velocities, angular_velocities.as_ref())?;
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let (pairs, options) = (OwnedPairs::of(py, &pairs)?, SweepOptions { duration, witness });
        let call = move || match is_of_bodies {
            true => all.body_sweeps(bodies.columns(), &motions, pairs.get(), &options),
            false => all.sweeps(bodies.columns(), &motions, pairs.get(), &options),
        };
        Ok(Pending::begin(call, batch::<_, PartSweep>))
    }

    fn raycasts(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        rays: &RayColumns,
        skip_start: bool,
        is_all: bool,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let (rays, options) = (Arc::clone(&rays.0), RayOptions { skip_start });
        Ok(if is_all {
            let call = move || all.raycasts_all(bodies.columns(), rays.columns(), &options);
            Pending::begin(call, batch::<_, PartRayHit>)
        } else {
            let call = move || all.raycasts(bodies.columns(), rays.columns(), &options);
            Pending::begin(call, batch::<_, PartRayHit>)
        })
    }

    fn occlusions(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        rays: &RayColumns,
        skip_start: bool,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let (rays, options) = (Arc::clone(&rays.0), RayOptions { skip_start });
        let call = move || all.occlusions(bodies.columns(), rays.columns(), &options);
        Ok(Pending::begin(call, batch::<_, Occlusion>))
    }

    /// The nearest bodies of points, or without a greatest distance those that contain them.
    fn points(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        points: Doubles<'_>,
        worlds: Option<Indices<'_>>,
        max_distance: Option<f32>,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let points =
            if points.is_empty() { Vec::new() } else { rows::<f64, 3>(py, "points", &points)?.to_vec() };
        let worlds = optional(py, "worlds", worlds.as_ref())?.to_vec();
        Ok(match max_distance {
            Some(max_distance) => {
                let options = PointOptions { max_distance };
                let call = move || {
                    let asked = PointColumns { worlds: &worlds, ..PointColumns::new_f64(&points) };
                    all.nearest_points(bodies.columns(), asked, &options)
                };
                Pending::begin(call, batch::<_, PartPointHit>)
            }
            None => {
                let call = move || {
                    let asked = PointColumns { worlds: &worlds, ..PointColumns::new_f64(&points) };
                    all.containments(bodies.columns(), asked)
                };
                Pending::begin(call, batch::<_, PartContainment>)
            }
        })
    }

    /// `which` is "first", "all" or "any".
    fn shape_casts(
        &self,
        py: Python<'_>,
        which: &str,
        bodies: &CompoundColumns,
        casts: &ShapeCastColumns,
        skip_start: bool,
        witness: bool,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let (casts, options) = (Arc::clone(&casts.0), ShapeCastOptions { skip_start, witness });
        Ok(match which {
            "first" => {
                let call = move || all.shape_casts(bodies.columns(), casts.columns(), &options);
                Pending::begin(call, batch::<_, PartShapeCastHit>)
            }
            "all" => {
                let call = move || all.shape_casts_all(bodies.columns(), casts.columns(), &options);
                Pending::begin(call, batch::<_, PartShapeCastHit>)
            }
            _ => {
                let call = move || all.shape_casts_any(bodies.columns(), casts.columns(), &options);
                Pending::begin(call, batch::<_, ShapeCastAny>)
            }
        })
    }

    fn nearest_bodies(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        count: u32,
        max_distance: f32,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let options = NearestOptions { count, max_distance };
        let call = move || all.nearest_bodies(bodies.columns(), &options);
        Ok(Pending::begin(call, batch::<_, PartsNearestBody>))
    }

    fn nearest_bodies_to(
        &self,
        py: Python<'_>,
        bodies: &CompoundColumns,
        shapes: &BodyColumns,
        count: u32,
        max_distance: f32,
    ) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        let (shapes, options) = (Arc::clone(&shapes.0), NearestOptions { count, max_distance });
        let call = move || all.nearest_bodies_to(bodies.columns(), shapes.columns(), &options);
        Ok(Pending::begin(call, batch::<_, PartNearestBody>))
    }

    fn hits(&self, py: Python<'_>, bodies: &CompoundColumns) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        Ok(Pending::begin(move || all.hits(bodies.columns()), plain_batch::<bool>))
    }

    fn hit_counts(&self, py: Python<'_>, bodies: &CompoundColumns) -> PyResult<Pending> {
        let (all, bodies) = (Arc::clone(self.compounds.get(py)?), Arc::clone(&bodies.0));
        Ok(Pending::begin(move || all.hit_counts(bodies.columns()), plain_batch::<u32>))
    }
}
