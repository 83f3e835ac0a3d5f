//! Robots and meshes from files. Python code (`hullfield/collide/_urdf.py`) finds the files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hullfield_mesh_files as mesh_files;
use hullfield_mesh_files::Format;
use hullfield_robot_files as robot_files;
use hullfield_robot_files::{Frame, Shape};
use pyo3::prelude::*;

use crate::arrays::matrix;
use crate::error::{exception, invalid};

fn invalid_file(py: Python<'_>, error: &mesh_files::Error) -> PyErr {
    invalid(py, &error.to_string())
}

/// A position and a unit quaternion.
type Place = ([f64; 3], [f64; 4]);

fn place(frame: Frame) -> Place {
    (frame.position, frame.rotation)
}

/// The link, the line, the place, the word for the shape, its numbers, and the file of a mesh.
type CollisionParts = (usize, u64, Place, &'static str, Vec<f64>, Option<String>);

/// The name, the kind, the parent and the child, the place, the axis, and the variable, the factor and the offset of what sets it.
type JointParts = (String, &'static str, usize, usize, Place, [f64; 3], Option<(usize, f64, f64)>);

/// The name, the links and their lines, their order, the joints, the joints that are set with their limits, and the shapes of collision.
type RobotParts =
    (String, Vec<String>, Vec<usize>, Vec<JointParts>, Vec<(usize, f64, f64)>, Vec<CollisionParts>);

fn shape(shape: Shape) -> (&'static str, Vec<f64>, Option<String>) {
    match shape {
        Shape::Box { size } => ("box", size.to_vec(), None),
        Shape::Sphere { radius } => ("sphere", vec![radius], None),
        Shape::Cylinder { radius, length } => ("cylinder", vec![radius, length], None),
        Shape::Capsule { radius, length } => ("capsule", vec![radius, length], None),
        Shape::Mesh { file, scale } => ("mesh", scale.to_vec(), Some(file)),
    }
}

/// The parts of a robot of the bytes of a URDF file.
#[pyfunction]
pub(crate) fn read_urdf(py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<RobotParts> {
    let robot =
        py.detach(|| robot_files::read_urdf(name, bytes)).map_err(|error| invalid_file(py, &error))?;
    let mut names = Vec::with_capacity(robot.links.len());
    let mut collisions = Vec::new();
    for (row, link) in robot.links.into_iter().enumerate() {
        names.push(link.name);
        for collision in link.collisions {
            let (word, numbers, file) = shape(collision.shape);
            collisions.push((row, collision.line, place(collision.origin), word, numbers, file));
        }
    }
    let joint = |joint: robot_files::Joint| {
        let drive = joint.drive.map(|drive| (drive.variable, drive.factor, drive.offset));
        let place = place(joint.origin);
        (joint.name, joint.kind.name(), joint.parent, joint.child, place, joint.axis, drive)
    };
    let joints = robot.joints.into_iter().map(joint).collect();
    let limits = |variable: robot_files::Variable| (variable.joint, variable.lower, variable.upper);
    let variables = robot.variables.into_iter().map(limits).collect();
    Ok((robot.name, names, robot.order, joints, variables, collisions))
}

/// Two names and a line.
type NamedPair = (String, String, u64);

/// Pairs, names with their lines, and pairs.
type PairParts = (Vec<NamedPair>, Vec<(String, u64)>, Vec<NamedPair>);

/// The pairs that an SRDF file disables, the links that it sets apart, and the pairs that it enables.
#[pyfunction]
pub(crate) fn read_srdf(py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<PairParts> {
    let found =
        py.detach(|| robot_files::read_srdf(name, bytes)).map_err(|error| invalid_file(py, &error))?;
    let pair = |robot_files::LinkPair { links: [a, b], line }| (a, b, line);
    Ok((
        found.disabled.into_iter().map(pair).collect(),
        found.apart,
        found.enabled.into_iter().map(pair).collect(),
    ))
}

/// The points of a mesh file that its faces use, (n, 3): of all its objects together, or of each; and what of it was not read.
#[pyfunction]
pub(crate) fn read_mesh_points(
    py: Python<'_>,
    path: PathBuf,
    by_object: bool,
) -> PyResult<(Vec<Py<PyAny>>, Vec<String>)> {
    let name = path.display().to_string();
    let (sets, notes) = py.detach(|| mesh_points(&name, &path, by_object)).map_err(|fault| match fault {
        Fault::Unreadable(message) => exception(py, "FileError", &message),
        Fault::Invalid(error) => invalid_file(py, &error),
    })?;
    let sets = sets.into_iter().map(|points| matrix(py, points)).collect::<PyResult<_>>()?;
    Ok((sets, notes))
}

/// Why a mesh can't be had.
enum Fault {
    Unreadable(String),
    Invalid(mesh_files::Error),
}

type Points = Vec<[f64; 3]>;

fn mesh_points(name: &str, path: &Path, by_object: bool) -> Result<(Vec<Points>, Vec<String>), Fault> {
    let invalid = |message: &str| Fault::Invalid(mesh_files::Error::new(format!("{name}: {message}")));
    let format = Format::of_name(name)
        .ok_or_else(|| invalid("unknown format by its extension: obj, stl, ply, off, gltf or glb is read"))?;
    let bytes = read(path, u64::MAX).map_err(|error| Fault::Unreadable(format!("{name}: {error}")))?;
    let beside = |part: &str, most: u64| {
        let path = path.with_file_name(part);
        let unreadable = |error: io::Error| mesh_files::Error::new(format!("{}: {error}", path.display()));
        read(&path, most).map_err(unreadable)
    };
    let mesh = format.read(name, &bytes, &beside).map_err(Fault::Invalid)?;
    let notes = mesh.notes().to_vec();
    let sets: Vec<Points> = mesh.point_sets().into_iter().map(|set| set.points).collect();
    if sets.is_empty() {
        return Err(invalid("it has no points"));
    }
    Ok((if by_object { sets } else { vec![sets.concat()] }, notes))
}

/// The first bytes of a file, at most this many. A device or a pipe is refused: it may have no end.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a file that may be read as a robot, at most this many.
#[pyfunction]
pub(crate) fn read_file(py: Python<'_>, path: PathBuf, most: u64) -> PyResult<Vec<u8>> {
    let read = py.detach(|| read(&path, most));
    read.map_err(|error| exception(py, "FileError", &format!("{}: {error}", path.display())))
}
