//! Queries of one pair of hulls.

use hullfield::collide::{self, ManifoldOptions, Motion, Pose, SweepOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::scalar;
use crate::collide::hull::{Hull, dimension};
use crate::collide::rows::{
    Contact, Distance, Gradient, Intersection, Manifold, PointHit, RayHit, Sweep, degeneracy, feature,
    path_outcome, phase, status, sweep_outcome,
};
use crate::error::OrRaise;

/// Position, rotation and scale.
type Numbers = ([f32; 3], [f32; 4], [f32; 3]);

/// Hulls of more vertices are asked about without the interpreter's lock: letting go of it takes as long as a query of small hulls, and far longer
/// where other threads wait for it.
const SMALL: usize = 256;

/// A pose. None is the origin's.
#[pyclass(frozen, module = "hullfield._native", name = "Pose")]
pub(crate) struct NativePose(Pose);

#[pymethods]
impl NativePose {
    #[new]
    fn new(position: [f32; 3], rotation: [f32; 4], scale: [f32; 3]) -> Self {
        Self(Pose { position, rotation, scale })
    }
}

type At<'a, 'py> = Option<&'a Bound<'py, NativePose>>;

fn pose(at: At<'_, '_>) -> Pose {
    at.map_or(Pose::IDENTITY, |at| at.get().0)
}

/// Asks about two hulls.
fn ask<T: Send>(
    py: Python<'_>,
    (a, at_a): (&Hull, At<'_, '_>),
    (b, at_b): (&Hull, At<'_, '_>),
    query: impl Fn(&collide::Hull, Pose, &collide::Hull, Pose) -> hullfield::Result<T> + Sync,
) -> PyResult<T> {
    let (at_a, at_b) = (pose(at_a), pose(at_b));
    if a.0.vertices().len() + b.0.vertices().len() <= SMALL {
        query(&a.0, at_a, &b.0, at_b).or_raise(py)
    } else {
        py.detach(|| query(&a.0, at_a, &b.0, at_b)).or_raise(py)
    }
}

#[pyfunction]
pub(crate) fn pose_of_half_space(py: Python<'_>, normal: [f32; 3], offset: f32) -> PyResult<Numbers> {
    let Pose { position, rotation, scale } = Pose::of_half_space(normal, offset).or_raise(py)?;
    Ok((position, rotation, scale))
}

#[pyfunction]
pub(crate) fn pair_intersects(
    py: Python<'_>,
    a: &Hull,
    pose_a: At<'_, '_>,
    b: &Hull,
    pose_b: At<'_, '_>,
) -> PyResult<bool> {
    ask(py, (a, pose_a), (b, pose_b), collide::intersects)
}

#[pyfunction]
pub(crate) fn pair_distance_lower_bound(
    py: Python<'_>,
    a: &Hull,
    pose_a: At<'_, '_>,
    b: &Hull,
    pose_b: At<'_, '_>,
) -> PyResult<f64> {
    ask(py, (a, pose_a), (b, pose_b), collide::distance_lower_bound)
}

macro_rules! of_pair {
    ($($name:ident: $of:ident, $row:ident;)*) => {$(
        #[pyfunction]
        pub(crate) fn $name(
            py: Python<'_>,
            a: &Hull,
            pose_a: At<'_, '_>,
            b: &Hull,
            pose_b: At<'_, '_>,
        ) -> PyResult<Py<PyAny>> {
            scalar(py, $row::from(ask(py, (a, pose_a), (b, pose_b), collide::$of)?))
        }
    )*};
}

of_pair! {
    pair_intersection: intersection, Intersection;
    pair_distance: distance, Distance;
    pair_contact: contact, Contact;
    pair_gradient: gradient, Gradient;
}

#[pyfunction]
pub(crate) fn pair_manifold(
    py: Python<'_>,
    a: &Hull,
    pose_a: At<'_, '_>,
    b: &Hull,
    pose_b: At<'_, '_>,
    margin: f32,
) -> PyResult<Py<PyAny>> {
    let options = ManifoldOptions { margin };
    let row =
        ask(py, (a, pose_a), (b, pose_b), |a, at_a, b, at_b| collide::manifold(a, at_a, b, at_b, &options))?;
    scalar(py, Manifold::from(row))
}

/// Velocity and angular velocity.
type Velocities = ([f32; 3], [f32; 3]);

fn motion((velocity, angular_velocity): Velocities) -> Motion {
    Motion { velocity, angular_velocity }
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "three for each hull")]
pub(crate) fn pair_sweep(
    py: Python<'_>,
    a: &Hull,
    pose_a: At<'_, '_>,
    motion_a: Velocities,
    b: &Hull,
    pose_b: At<'_, '_>,
    motion_b: Velocities,
    duration: f32,
) -> PyResult<Py<PyAny>> {
    let options = SweepOptions { duration, witness: true };
    let (motion_a, motion_b) = (motion(motion_a), motion(motion_b));
    let row = ask(py, (a, pose_a), (b, pose_b), |a, at_a, b, at_b| {
        collide::sweep(a, at_a, motion_a, b, at_b, motion_b, &options)
    })?;
    scalar(py, Sweep::from(row))
}

#[pyfunction]
pub(crate) fn hull_raycast(
    py: Python<'_>,
    hull: &Hull,
    at: At<'_, '_>,
    origin: [f32; 3],
    direction: [f32; 3],
    max_distance: f32,
) -> PyResult<Option<Py<PyAny>>> {
    let at = pose(at);
    let hit = py.detach(|| collide::raycast(&hull.0, at, origin, direction, max_distance)).or_raise(py)?;
    hit.map(|hit| scalar(py, RayHit::from(hit))).transpose()
}

#[pyfunction]
pub(crate) fn hull_nearest_point(
    py: Python<'_>,
    hull: &Hull,
    at: At<'_, '_>,
    point: [f32; 3],
) -> PyResult<Py<PyAny>> {
    let at = pose(at);
    let row = py.detach(|| collide::nearest_point(&hull.0, at, point)).or_raise(py)?;
    scalar(py, PointHit::from(row))
}

/// The names and the codes of all enums of rows, for a test of those in Python.
#[pyfunction]
pub(crate) fn collide_codes(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    use collide::{Degeneracy, Dimension, FeatureId, PathOutcome, Phase, Status, SweepOutcome};
    let all = PyDict::new(py);
    macro_rules! codes {
        ($name:literal, $code:expr, $($variant:expr),*) => {{
            let codes = PyDict::new(py);
            $(codes.set_item(format!("{:?}", $variant), $code($variant))?;)*
            all.set_item($name, codes)?;
        }};
    }
    codes!("Status", status, Status::Separated, Status::Touching, Status::Penetrating);
    codes!("SweepOutcome", sweep_outcome, SweepOutcome::Hit, SweepOutcome::Miss, SweepOutcome::Touching);
    codes!("PathOutcome", path_outcome, PathOutcome::Free, PathOutcome::Hit, PathOutcome::Undecided);
    codes!("Phase", phase, Phase::Begin, Phase::Stay, Phase::End);
    codes!("Degeneracy", degeneracy, Degeneracy::Points, Degeneracy::Normal);
    let kind = |id| feature(id).0;
    codes!("FeatureKind", kind, FeatureId::Vertex(0), FeatureId::Edge([0, 1]), FeatureId::Face(0));
    codes!(
        "Dimension",
        dimension,
        Dimension::Point,
        Dimension::Segment,
        Dimension::Polygon,
        Dimension::Solid,
        Dimension::HalfSpace
    );
    Ok(all)
}
