//! Queries over bodies.

use hullfield::collide::{
    self, ContactOptions, DistanceOptions, GradientOptions, ManifoldOptions, Motion, NearestOptions, Options,
    Pairs, PointColumns, PointOptions, Precision, Query, RayOptions, ShapeCastOptions, Stats, SweepOptions,
};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Row, array, matrix, numbers, optional, rows, structured};
use crate::collide::columns::{BodyColumns, Columns, RayColumns, ShapeCastColumns, optional_rows};
use crate::collide::hull::{Hull, owned};
use crate::collide::rows::{
    Contact, Containment, Distance, Gradient, Intersection, Manifold, NearestBody, Occlusion, PointHit,
    RayHit, ShapeCastAny, ShapeCastHit, Sweep, status,
};
use crate::engine::Engine;
use crate::error::{OrRaise, invalid};
use crate::fork::Owned;
use crate::wait::{Finish, Pending, finish};

/// The hulls of a scene, and the queries over bodies made of them.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Arena {
    arena: Owned<collide::Arena>,
}

impl Arena {
    /// The library's arena.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&collide::Arena> {
        Ok(self.arena.get(py)?)
    }

    fn of(arena: collide::Arena) -> Self {
        let engine = arena.engine().clone();
        Self { arena: Owned::new(arena, &engine) }
    }
}

/// The options of an arena.
fn options(
    py: Python<'_>,
    is_exact: bool,
    warm_start: bool,
    statics: Option<&Bound<'_, BodyColumns>>,
) -> PyResult<Options> {
    let precision = if is_exact { Precision::Exact } else { Precision::Fast };
    let mut options = Options { precision, warm_start, ..Options::default() };
    if let Some(statics) = statics {
        let columns: &Columns = &statics.get().0;
        if let Some(rule) = columns.rule() {
            return Err(invalid(py, &format!("statics have {rule}, which bodies that do not move have not")));
        }
        options.statics = columns.bodies.clone();
        options.static_positions = columns.positions.clone();
    }
    Ok(options)
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
        statics: Option<&Bound<'_, BodyColumns>>,
    ) -> PyResult<Self> {
        let engine = engine.get(py)?;
        let options = options(py, is_exact, warm_start, statics)?;
        let arena = py.detach(|| collide::Arena::new(engine, &owned(&hulls), options)).or_raise(py)?;
        Ok(Self::of(arena))
    }

    fn with_options(
        &self,
        py: Python<'_>,
        is_exact: bool,
        warm_start: bool,
        statics: Option<&Bound<'_, BodyColumns>>,
    ) -> PyResult<Self> {
        let (arena, options) = (self.get(py)?, options(py, is_exact, warm_start, statics)?);
        py.detach(|| arena.with_options(options)).map(Self::of).or_raise(py)
    }

    /// An arena with more hulls.
    fn with_hulls(&self, py: Python<'_>, hulls: Vec<Hull>) -> PyResult<Self> {
        let mut arena = self.get(py)?.clone();
        py.detach(|| arena.add_hulls(&owned(&hulls))).or_raise(py)?;
        Ok(Self::of(arena))
    }

    /// An arena with fewer hulls.
    fn without_hulls(&self, py: Python<'_>, ids: PyReadonlyArrayDyn<'_, u32>) -> PyResult<Self> {
        let mut arena = self.get(py)?.clone();
        let ids = optional(py, "ids", Some(&ids))?;
        py.detach(|| arena.remove_hulls(ids)).or_raise(py)?;
        Ok(Self::of(arena))
    }

    fn intersections(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
    ) -> PyResult<Pending> {
        let (arena, pairs) = (self.get(py)?, pairs.get(py)?);
        let pending = py.detach(|| arena.intersections(bodies.columns(), pairs)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Intersection>))
    }

    fn distances(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
        margin: f32,
    ) -> PyResult<Pending> {
        let (arena, pairs, options) = (self.get(py)?, pairs.get(py)?, DistanceOptions { margin });
        let pending = py.detach(|| arena.distances(bodies.columns(), pairs, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Distance>))
    }

    fn contacts(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
        margin: f32,
    ) -> PyResult<Pending> {
        let (arena, pairs, options) = (self.get(py)?, pairs.get(py)?, ContactOptions { margin });
        let pending = py.detach(|| arena.contacts(bodies.columns(), pairs, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Contact>))
    }

    fn deepest_contacts(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        count: u32,
        margin: f32,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, ContactOptions { margin });
        let pending = py.detach(|| arena.deepest_contacts(bodies.columns(), count, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Contact>))
    }

    fn manifolds(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
        margin: f32,
    ) -> PyResult<Pending> {
        let (arena, pairs, options) = (self.get(py)?, pairs.get(py)?, ManifoldOptions { margin });
        let pending = py.detach(|| arena.manifolds(bodies.columns(), pairs, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Manifold>))
    }

    fn gradients(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        pairs: PairsArgument<'_>,
        margin: f32,
    ) -> PyResult<Pending> {
        let (arena, pairs, options) = (self.get(py)?, pairs.get(py)?, GradientOptions { margin });
        let pending = py.detach(|| arena.gradients(bodies.columns(), pairs, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Gradient>))
    }

    #[expect(clippy::too_many_arguments, reason = "motions are two columns")]
    fn sweeps(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        velocities: PyReadonlyArrayDyn<'_, f32>,
        angular_velocities: Option<PyReadonlyArrayDyn<'_, f32>>,
        pairs: PairsArgument<'_>,
        duration: f32,
        witness: bool,
    ) -> PyResult<Pending> {
        let motions = motions(py, &velocities, angular_velocities.as_ref())?;
        let (arena, pairs, options) = (self.get(py)?, pairs.get(py)?, SweepOptions { duration, witness });
        let pending = py.detach(|| arena.sweeps(bodies.columns(), &motions, pairs, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Sweep>))
    }

    fn candidates(&self, py: Python<'_>, bodies: &BodyColumns) -> PyResult<Pending> {
        let arena = self.get(py)?;
        let pending = py.detach(|| arena.candidates(bodies.columns())).or_raise(py)?;
        Ok(Pending::of(pending, |pairs| finish(move |py| matrix(py, pairs))))
    }

    fn raycasts(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        rays: &RayColumns,
        skip_start: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, RayOptions { skip_start });
        let pending =
            py.detach(|| arena.raycasts(bodies.columns(), rays.0.columns(), &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, RayHit>))
    }

    fn raycasts_all(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        rays: &RayColumns,
        skip_start: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, RayOptions { skip_start });
        let pending =
            py.detach(|| arena.raycasts_all(bodies.columns(), rays.0.columns(), &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, RayHit>))
    }

    fn occlusions(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        rays: &RayColumns,
        skip_start: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, RayOptions { skip_start });
        let pending =
            py.detach(|| arena.occlusions(bodies.columns(), rays.0.columns(), &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Occlusion>))
    }

    fn nearest_points(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        points: PyReadonlyArrayDyn<'_, f64>,
        worlds: Option<PyReadonlyArrayDyn<'_, u32>>,
        max_distance: f32,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, PointOptions { max_distance });
        let points = point_columns(py, &points, worlds.as_ref())?;
        let pending = py.detach(|| arena.nearest_points(bodies.columns(), points, &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, PointHit>))
    }

    fn containments(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        points: PyReadonlyArrayDyn<'_, f64>,
        worlds: Option<PyReadonlyArrayDyn<'_, u32>>,
    ) -> PyResult<Pending> {
        let (arena, points) = (self.get(py)?, point_columns(py, &points, worlds.as_ref())?);
        let pending = py.detach(|| arena.containments(bodies.columns(), points)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, Containment>))
    }

    fn shape_casts(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        casts: &ShapeCastColumns,
        skip_start: bool,
        witness: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, ShapeCastOptions { skip_start, witness });
        let pending =
            py.detach(|| arena.shape_casts(bodies.columns(), casts.0.columns(), &options)).or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, ShapeCastHit>))
    }

    fn shape_casts_all(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        casts: &ShapeCastColumns,
        skip_start: bool,
        witness: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, ShapeCastOptions { skip_start, witness });
        let pending = py
            .detach(|| arena.shape_casts_all(bodies.columns(), casts.0.columns(), &options))
            .or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, ShapeCastHit>))
    }

    fn shape_casts_any(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        casts: &ShapeCastColumns,
        skip_start: bool,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, ShapeCastOptions { skip_start, witness: false });
        let pending = py
            .detach(|| arena.shape_casts_any(bodies.columns(), casts.0.columns(), &options))
            .or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, ShapeCastAny>))
    }

    fn nearest_bodies(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        of: Option<PyReadonlyArrayDyn<'_, u32>>,
        count: u32,
        max_distance: f32,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, NearestOptions { count, max_distance });
        let rows = of.as_ref().map(|of| numbers(py, "of", of)).transpose()?;
        let pending = py
            .detach(|| match rows {
                Some(rows) => arena.nearest_bodies_of(bodies.columns(), rows, &options),
                None => arena.nearest_bodies(bodies.columns(), &options),
            })
            .or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, NearestBody>))
    }

    fn nearest_bodies_to(
        &self,
        py: Python<'_>,
        bodies: &BodyColumns,
        shapes: &BodyColumns,
        count: u32,
        max_distance: f32,
    ) -> PyResult<Pending> {
        let (arena, options) = (self.get(py)?, NearestOptions { count, max_distance });
        let pending = py
            .detach(|| arena.nearest_bodies_to(bodies.columns(), shapes.columns(), &options))
            .or_raise(py)?;
        Ok(Pending::of(pending, batch::<_, NearestBody>))
    }

    fn hits(&self, py: Python<'_>, bodies: &BodyColumns) -> PyResult<Pending> {
        let arena = self.get(py)?;
        let pending = py.detach(|| arena.hits(bodies.columns())).or_raise(py)?;
        Ok(Pending::of(pending, plain_batch::<bool>))
    }

    fn hit_counts(&self, py: Python<'_>, bodies: &BodyColumns) -> PyResult<Pending> {
        let arena = self.get(py)?;
        let pending = py.detach(|| arena.hit_counts(bodies.columns())).or_raise(py)?;
        Ok(Pending::of(pending, plain_batch::<u32>))
    }

    fn prepare(&self, py: Python<'_>, queries: Vec<(String, String)>) -> PyResult<Pending> {
        let arena = self.get(py)?;
        let queries: Vec<_> = queries
            .iter()
            .map(|(query, pairs)| Ok((query_of(py, query)?, pairs_of(py, pairs)?)))
            .collect::<PyResult<_>>()?;
        let pending = py.detach(|| arena.prepare(&queries)).or_raise(py)?;
        Ok(Pending::of(pending, |prepared| {
            finish(move |py| (prepared.pipeline_count, prepared.compile_ms).into_py_any(py))
        }))
    }

    /// Bytes of the hulls, the bodies, the candidates and staging.
    fn estimate(&self, py: Python<'_>, query: &str, body_count: usize, pairs: &str) -> PyResult<[u64; 4]> {
        let (arena, query, pairs) = (self.get(py)?, query_of(py, query)?, pairs_of(py, pairs)?);
        Ok(sizes(&py.detach(|| arena.estimate(query, body_count, &pairs))))
    }

    fn estimate_columns(
        &self,
        py: Python<'_>,
        query: &str,
        bodies: &BodyColumns,
        pairs: &str,
    ) -> PyResult<[u64; 4]> {
        let (arena, query, pairs) = (self.get(py)?, query_of(py, query)?, pairs_of(py, pairs)?);
        py.detach(|| arena.estimate_columns(query, bodies.columns(), &pairs))
            .map(|estimate| sizes(&estimate))
            .or_raise(py)
    }

    /// The simplices and the points nearest to the origin, the status, and the axis.
    fn trace(&self, py: Python<'_>, bodies: &BodyColumns, pair: [u32; 2]) -> PyResult<Py<PyAny>> {
        let arena = self.get(py)?;
        let trace = py.detach(|| arena.trace_pair(bodies.columns(), pair)).or_raise(py)?;
        let steps: Vec<_> = trace
            .steps
            .into_iter()
            .map(|step| Ok((matrix(py, step.simplex)?, array(py, step.closest.to_vec()))))
            .collect::<PyResult<_>>()?;
        let axis = trace.axis.map(|axis| array(py, axis.to_vec()));
        (steps, status(trace.status), axis).into_py_any(py)
    }
}

fn sizes(estimate: &collide::Estimate) -> [u64; 4] {
    [estimate.hull_bytes, estimate.body_bytes, estimate.candidate_bytes, estimate.staging_bytes]
}

/// The kind of a query by its name.
fn query_of(py: Python<'_>, name: &str) -> PyResult<Query> {
    Ok(match name {
        "candidates" => Query::Candidates,
        "intersections" => Query::Intersections,
        "distances" => Query::Distances,
        "contacts" => Query::Contacts,
        "manifolds" => Query::Manifolds,
        "gradients" => Query::Gradients,
        "sweeps" => Query::Sweeps,
        "raycasts" => Query::Raycasts,
        _ => {
            let message = format!(
                "query is '{name}', it must be 'candidates', 'intersections', 'distances', 'contacts', 'manifolds', \
                 'gradients', 'sweeps' or 'raycasts'"
            );
            return Err(invalid(py, &message));
        }
    })
}

/// The way pairs are found by its name.
fn pairs_of<'a>(py: Python<'_>, name: &str) -> PyResult<Pairs<'a>> {
    match name {
        "broad_phase" => Ok(Pairs::BroadPhase),
        "exhaustive" => Ok(Pairs::Exhaustive),
        "given" => Ok(Pairs::Given(&[])),
        _ => {
            let message = format!("pairs is '{name}', it must be 'broad_phase', 'exhaustive' or 'given'");
            Err(invalid(py, &message))
        }
    }
}

/// Which pairs a query examines: "broad_phase", "exhaustive", or an array of pairs.
#[derive(FromPyObject)]
pub(crate) enum PairsArgument<'py> {
    Name(String),
    Given(PyReadonlyArrayDyn<'py, u32>),
}

impl PairsArgument<'_> {
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Pairs<'_>> {
        match self {
            Self::Name(name) if name == "given" => {
                Err(invalid(py, "pairs is 'given', it must be 'broad_phase', 'exhaustive' or an array"))
            }
            Self::Name(name) => pairs_of(py, name),
            Self::Given(pairs) => Ok(Pairs::Given(rows(py, "pairs", pairs)?)),
        }
    }
}

/// Motions of two columns.
pub(crate) fn motions(
    py: Python<'_>,
    velocities: &PyReadonlyArrayDyn<'_, f32>,
    angular: Option<&PyReadonlyArrayDyn<'_, f32>>,
) -> PyResult<Vec<Motion>> {
    let velocities = rows::<f32, 3>(py, "velocities", velocities)?;
    let angular = optional_rows::<f32, 3>(py, "angular_velocities", angular)?;
    let motion = |(row, &velocity): (usize, &[f32; 3])| {
        let angular_velocity = angular.get(row).copied().unwrap_or([0.0; 3]);
        Motion { velocity, angular_velocity }
    };
    Ok(velocities.iter().enumerate().map(motion).collect())
}

/// Points, and their worlds if they have any.
pub(crate) fn point_columns<'a>(
    py: Python<'_>,
    points: &'a PyReadonlyArrayDyn<'_, f64>,
    worlds: Option<&'a PyReadonlyArrayDyn<'_, u32>>,
) -> PyResult<PointColumns<'a>> {
    let worlds = optional(py, "worlds", worlds)?;
    let points = if points.is_empty() { &[] } else { rows(py, "points", points)? };
    Ok(PointColumns { worlds, ..PointColumns::new_f64(points) })
}

/// Rows and statistics of an answer.
pub(crate) fn batch<T, R: Row + From<T> + 'static>(batch: collide::Batch<T>) -> Finish {
    let rows: Vec<R> = batch.rows.into_iter().map(R::from).collect();
    let stats = batch.stats;
    finish(move |py| (structured(py, rows)?, statistics(py, &stats)?).into_py_any(py))
}

/// The same for rows of one number.
pub(crate) fn plain_batch<T: numpy::Element + 'static>(batch: collide::Batch<T>) -> Finish {
    finish(move |py| (array(py, batch.rows), statistics(py, &batch.stats)?).into_py_any(py))
}

/// The fields of `hullfield.collide.Stats`.
pub(crate) fn statistics<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
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
