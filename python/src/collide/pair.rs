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

fn pose((position, rotation, scale): Numbers) -> Pose {
    Pose { position, rotation, scale }
}

#[pyfunction]
pub(crate) fn pose_of_half_space(py: Python<'_>, normal: [f32; 3], offset: f32) -> PyResult<Numbers> {
    let Pose { position, rotation, scale } = Pose::of_half_space(normal, offset).or_raise(py)?;
    Ok((position, rotation, scale))
}

#[pyfunction]
pub(crate) fn pair_intersects(
    py: Python<'_>,
    a: Hull,
    pose_a: Numbers,
    b: Hull,
    pose_b: Numbers,
) -> PyResult<bool> {
    py.detach(|| collide::intersects(&a.0, pose(pose_a), &b.0, pose(pose_b))).or_raise(py)
}

#[pyfunction]
pub(crate) fn pair_distance_lower_bound(
    py: Python<'_>,
    a: Hull,
    pose_a: Numbers,
    b: Hull,
    pose_b: Numbers,
) -> PyResult<f64> {
    py.detach(|| collide::distance_lower_bound(&a.0, pose(pose_a), &b.0, pose(pose_b))).or_raise(py)
}

macro_rules! of_pair {
    ($($name:ident: $of:ident, $row:ident;)*) => {$(
        #[pyfunction]
        pub(crate) fn $name(
            py: Python<'_>,
            a: Hull,
            pose_a: Numbers,
            b: Hull,
            pose_b: Numbers,
        ) -> PyResult<Py<PyAny>> {
            let row = py.detach(|| collide::$of(&a.0, pose(pose_a), &b.0, pose(pose_b))).or_raise(py)?;
            scalar(py, $row::from(row))
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
    a: Hull,
    pose_a: Numbers,
    b: Hull,
    pose_b: Numbers,
    margin: f32,
) -> PyResult<Py<PyAny>> {
    let options = ManifoldOptions { margin };
    let row =
        py.detach(|| collide::manifold(&a.0, pose(pose_a), &b.0, pose(pose_b), &options)).or_raise(py)?;
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
    a: Hull,
    pose_a: Numbers,
    motion_a: Velocities,
    b: Hull,
    pose_b: Numbers,
    motion_b: Velocities,
    duration: f32,
) -> PyResult<Py<PyAny>> {
    let options = SweepOptions { duration, witness: true };
    let (motion_a, motion_b) = (motion(motion_a), motion(motion_b));
    let row = py
        .detach(|| collide::sweep(&a.0, pose(pose_a), motion_a, &b.0, pose(pose_b), motion_b, &options))
        .or_raise(py)?;
    scalar(py, Sweep::from(row))
}

#[pyfunction]
pub(crate) fn hull_raycast(
    py: Python<'_>,
    hull: Hull,
    at: Numbers,
    origin: [f32; 3],
    direction: [f32; 3],
    max_distance: f32,
) -> PyResult<Option<Py<PyAny>>> {
    let hit =
        py.detach(|| collide::raycast(&hull.0, pose(at), origin, direction, max_distance)).or_raise(py)?;
    hit.map(|hit| scalar(py, RayHit::from(hit))).transpose()
}

#[pyfunction]
pub(crate) fn hull_nearest_point(
    py: Python<'_>,
    hull: Hull,
    at: Numbers,
    point: [f32; 3],
) -> PyResult<Py<PyAny>> {
    let row = py.detach(|| collide::nearest_point(&hull.0, pose(at), point)).or_raise(py)?;
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
