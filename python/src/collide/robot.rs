//! Postures and paths of a robot.

use hullfield::collide::{self, JointPath, JointStep, LinkPose, PathOptions};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::{array, numbers, optional, rows};
use crate::collide::arena::{Arena, batch};
use crate::collide::columns::{BodyColumns, optional_rows};
use crate::collide::rows::{PathCheck, PostureCheck};
use crate::error::OrRaise;
use crate::wait::Pending;

type Doubles<'py> = PyReadonlyArrayDyn<'py, f64>;

/// Poses of positions, (n, 3), and rotations, (n, 4).
fn poses(
    py: Python<'_>,
    positions: &Doubles<'_>,
    rotations: Option<&Doubles<'_>>,
) -> PyResult<Vec<LinkPose>> {
    let positions = rows::<f64, 3>(py, "positions", positions)?;
    let rotations = optional_rows::<f64, 4>(py, "rotations", rotations)?;
    let pose = |(row, &position): (usize, &[f64; 3])| {
        let rotation = rotations.get(row).copied().unwrap_or(LinkPose::IDENTITY.rotation);
        LinkPose { position, rotation }
    };
    Ok(positions.iter().enumerate().map(pose).collect())
}

#[pyfunction]
pub(crate) fn postures(
    py: Python<'_>,
    arena: &Arena,
    links: &BodyColumns,
    posture_count: usize,
    positions: Doubles<'_>,
    rotations: Option<Doubles<'_>>,
) -> PyResult<Pending> {
    let (arena, poses) = (arena.get(py)?, poses(py, &positions, rotations.as_ref())?);
    let pending = py.detach(|| arena.postures(links.columns(), posture_count, &poses)).or_raise(py)?;
    Ok(Pending::of(pending, batch::<_, PostureCheck>))
}

/// The number of samples, positions, rotations and deviations of a path.
type PathArrays<'py> = (usize, Doubles<'py>, Option<Doubles<'py>>, Option<Doubles<'py>>);

#[pyfunction]
pub(crate) fn joint_paths(
    py: Python<'_>,
    arena: &Arena,
    links: &BodyColumns,
    paths: Vec<PathArrays<'_>>,
    step_limit: u32,
) -> PyResult<Pending> {
    let (arena, options) = (arena.get(py)?, PathOptions { step_limit });
    let poses: Vec<Vec<LinkPose>> = paths
        .iter()
        .map(|(_, positions, rotations, _)| poses(py, positions, rotations.as_ref()))
        .collect::<PyResult<_>>()?;
    let mut checked = Vec::with_capacity(paths.len());
    for ((count, _, _, deviations), poses) in paths.iter().zip(&poses) {
        checked.push(JointPath::new(*count, poses).within(optional(py, "deviations", deviations.as_ref())?));
    }
    let pending = py.detach(|| arena.joint_paths(links.columns(), &checked, &options)).or_raise(py)?;
    Ok(Pending::of(pending, batch::<_, PathCheck>))
}

/// Each joint is its change and, where it turns, its reach.
#[pyfunction]
pub(crate) fn joint_deviation(joints: Vec<(f64, Option<f64>)>, reach: f64) -> f64 {
    let step = |&(change, reach): &(f64, Option<f64>)| match reach {
        Some(reach) => JointStep::Revolute { angle: change, reach },
        None => JointStep::Prismatic { length: change },
    };
    let joints: Vec<JointStep> = joints.iter().map(step).collect();
    collide::joint_deviation(&joints, reach)
}

/// The deviation of a link in each of some steps. `changes` are those of the joints before it, (steps, joints), and `reaches` their reaches, NaN
/// where a joint slides.
#[pyfunction]
pub(crate) fn joint_deviations(
    py: Python<'_>,
    changes: Doubles<'_>,
    reaches: Doubles<'_>,
    reach: f64,
) -> PyResult<Py<PyAny>> {
    let joint_count = changes.shape().get(1).copied().unwrap_or(0).max(1);
    let (changes, reaches) = (numbers(py, "changes", &changes)?, numbers(py, "reaches", &reaches)?);
    let mut joints = Vec::with_capacity(joint_count);
    let steps = changes.chunks(joint_count).zip(reaches.chunks(joint_count)).map(|(changes, reaches)| {
        joints.clear();
        joints.extend(changes.iter().zip(reaches).map(|(&change, &reach)| match reach.is_nan() {
            true => JointStep::Prismatic { length: change },
            false => JointStep::Revolute { angle: change, reach },
        }));
        collide::joint_deviation(&joints, reach)
    });
    Ok(array(py, steps.collect()))
}
