//! A robot from a URDF file: its links, joints and shapes of collision, and its forward kinematics.

use std::collections::HashMap;
use std::error::Error;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

use glam::{DQuat, DVec3, EulerRot};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, ContactOptions, Hull, JointStep, LinkPose, Options, Pairs, joint_deviation,
};
use urdf_rs::{Geometry, JointType};

/// Sides of the prism around a cylinder.
const SIDES: u32 = 32;

/// The position of a link's origin in the world, and the link's rotation.
pub(crate) type Frame = (DVec3, DQuat);

/// A robot. Each link comes after the link that carries it; link 0 is the base.
pub(crate) struct Robot {
    pub(crate) name: String,
    pub(crate) hulls: Vec<Hull>,
    /// Bodies placed in their links.
    pub(crate) bodies: Vec<Body>,
    /// The link of each body.
    pub(crate) owners: Vec<u32>,
    pub(crate) links: Vec<Link>,
    /// Joints that a planner sets: those that move, without those that mimic another.
    pub(crate) variables: Vec<Variable>,
}

/// A link, and the joint that it hangs from.
pub(crate) struct Link {
    joint: Option<Joint>,
    /// The greatest distance of a point of its bodies from its origin.
    reach: f64,
}

/// A value that a planner chooses, in radians or metres, and its limits.
pub(crate) struct Variable {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

struct Joint {
    parent: usize,
    /// The link's frame in the parent's where the joint is at 0.
    origin: Frame,
    axis: DVec3,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Fixed,
    Turning(Drive),
    Sliding(Drive),
}

/// The joint is at `factor` times a variable plus `offset`; the factor is 1 but where it mimics another joint.
#[derive(Clone, Copy)]
struct Drive {
    variable: usize,
    factor: f64,
    offset: f64,
}

impl Drive {
    fn value(&self, values: &[f64]) -> f64 {
        self.factor * values[self.variable] + self.offset
    }
}

impl Robot {
    /// Reads a URDF file. Files of meshes are looked for from its folder.
    pub(crate) fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let within = |error: Box<dyn Error>| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| within(error.into()))?;
        Self::parse(&text, file.parent().unwrap_or(Path::new("."))).map_err(|error| within(error).into())
    }

    /// Takes the text of a URDF file.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let file = urdf_rs::read_from_string(text)?;
        let order = parents_first(&file)?;
        let place: HashMap<&str, usize> =
            order.iter().enumerate().map(|(at, &(link, _))| (file.links[link].name.as_str(), at)).collect();
        let mut robot = Self {
            name: file.name.clone(),
            hulls: Vec::new(),
            bodies: Vec::new(),
            owners: Vec::new(),
            links: Vec::new(),
            variables: Vec::new(),
        };
        let mut variable_of: HashMap<&str, usize> = HashMap::new();
        for joint in order.iter().filter_map(|&(_, joint)| Some(&file.joints[joint?])) {
            if is_moving(joint)? && joint.mimic.is_none() {
                variable_of.insert(&joint.name, robot.variables.len());
                robot.variables.push(limits(joint)?);
            }
        }
        for &(link, joint) in &order {
            let link = &file.links[link];
            let joint = match joint {
                None => None,
                Some(joint) => {
                    let joint = &file.joints[joint];
                    let kind = kind(joint, &variable_of)?;
                    let axis = DVec3::from(joint.axis.xyz.0).normalize_or_zero();
                    if !matches!(kind, Kind::Fixed) && axis == DVec3::ZERO {
                        return Err(format!("joint {}: its axis has no direction", joint.name).into());
                    }
                    let parent = place[joint.parent.link.as_str()];
                    Some(Joint { parent, origin: frame(&joint.origin), axis, kind })
                }
            };
            let owner = robot.links.len() as u32;
            let mut reach = 0.0_f64;
            for collision in &link.collision {
                let (position, rotation) = frame(&collision.origin);
                let hull = hull(&collision.geometry, folder)
                    .map_err(|error| format!("a collision of link {}: {error}", link.name))?;
                let far = DVec3::from(hull.mean()).length() + hull.radius() + f64::from(hull.rounding());
                reach = reach.max(position.length() + far);
                let body = Body::new(robot.hulls.len() as u32);
                let body = body.at(position.as_vec3().to_array()).rotated(rotation.as_quat().to_array());
                robot.bodies.push(body);
                robot.owners.push(owner);
                robot.hulls.push(hull);
            }
            robot.links.push(Link { joint, reach });
        }
        if robot.bodies.is_empty() {
            return Err("no link has a collision".into());
        }
        if robot.variables.is_empty() {
            return Err("no joint moves".into());
        }
        Ok(robot)
    }

    /// Forward kinematics: where each link is, by the values of the variables.
    pub(crate) fn frames(&self, values: &[f64]) -> Vec<Frame> {
        let mut frames: Vec<Frame> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let Some(joint) = &link.joint else {
                frames.push((DVec3::ZERO, DQuat::IDENTITY));
                continue;
            };
            let (position, rotation) = frames[joint.parent];
            let (shift, turn) = joint.origin;
            let (position, rotation) = (position + rotation * shift, (rotation * turn).normalize());
            frames.push(match joint.kind {
                Kind::Fixed => (position, rotation),
                Kind::Turning(drive) => {
                    let turn = DQuat::from_axis_angle(joint.axis, drive.value(values));
                    (position, (rotation * turn).normalize())
                }
                Kind::Sliding(drive) => (position + rotation * joint.axis * drive.value(values), rotation),
            });
        }
        frames
    }

    /// The links up to the last with a body: queries take no poses of those after it.
    fn posed_links(&self) -> usize {
        self.owners.last().map_or(0, |&owner| owner as usize + 1)
    }

    /// The poses of the links, as [`Arena::postures`] and [`Arena::joint_paths`] take them.
    pub(crate) fn poses(&self, values: &[f64]) -> Vec<LinkPose> {
        let pose = |(position, rotation): Frame| LinkPose {
            position: position.to_array(),
            rotation: rotation.to_array(),
        };
        self.frames(values).into_iter().take(self.posed_links()).map(pose).collect()
    }

    /// How far each link may be from the motion between samples, in a step in which the variables change by `steps`.
    pub(crate) fn deviations(&self, steps: &[f64]) -> Vec<f64> {
        (0..self.posed_links()).map(|link| self.deviation(link, steps)).collect()
    }

    fn deviation(&self, link: usize, steps: &[f64]) -> f64 {
        // From the link to the base. No point of the link is farther from a joint's axis than all that lies between is long.
        let (mut joints, mut reach) = (Vec::new(), self.links[link].reach);
        let mut at = link;
        while let Some(joint) = &self.links[at].joint {
            match joint.kind {
                Kind::Fixed => {}
                Kind::Turning(drive) => {
                    joints.push(JointStep::Revolute { angle: drive.factor * steps[drive.variable], reach });
                }
                Kind::Sliding(drive) => {
                    joints.push(JointStep::Prismatic { length: drive.factor * steps[drive.variable] });
                    let Variable { lower, upper } = &self.variables[drive.variable];
                    let length = |value: f64| (drive.factor * value + drive.offset).abs();
                    reach += length(*lower).max(length(*upper));
                }
            }
            reach += joint.origin.0.length();
            at = joint.parent;
        }
        joints.reverse();
        joint_deviation(&joints, self.links[link].reach)
    }

    /// The variables at 0, or at the limit that is next to it.
    pub(crate) fn rest(&self) -> Vec<f64> {
        self.variables.iter().map(|variable| 0.0_f64.clamp(variable.lower, variable.upper)).collect()
    }

    /// Pairs of links that may touch: those of one rigid part, those on both sides of a joint that moves, and those that touch where all joints
    /// are at rest, as their shapes then overlap by design.
    pub(crate) fn allowed_pairs(&self) -> Result<Vec<[u32; 2]>, Box<dyn Error>> {
        // The first link of the rigid part of each link.
        let mut part: Vec<usize> = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            part.push(match &link.joint {
                Some(Joint { parent, kind: Kind::Fixed, .. }) => part[*parent],
                _ => at,
            });
        }
        let parent_part = |first: usize| self.links[first].joint.as_ref().map(|joint| part[joint.parent]);
        let count = self.links.len();
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (a, b) in (0..count).flat_map(|b| (0..b).map(move |a| (a, b))) {
            if part[a] == part[b]
                || parent_part(part[b]) == Some(part[a])
                || parent_part(part[a]) == Some(part[b])
            {
                pairs.push([a as u32, b as u32]);
            }
        }
        let frames = self.frames(&self.rest());
        let bodies = self.placed(&frames);
        let arena = Arena::new(&Engine::cpu(), &self.hulls, Options::default())?;
        let columns = BodyColumns { owners: &self.owners, ..BodyColumns::new(&bodies) };
        let found = arena.contacts(columns, Pairs::BroadPhase, &ContactOptions::default())?.wait()?;
        pairs.extend(found.rows.iter().map(|row| [row.a, row.b].map(|body| self.owners[body as usize])));
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }

    /// The bodies in the world.
    pub(crate) fn placed(&self, frames: &[Frame]) -> Vec<Body> {
        let place = |(body, &link): (&Body, &u32)| {
            let (position, rotation) = frames[link as usize];
            let at = position + rotation * DVec3::from(body.position.map(f64::from));
            let turn = rotation * DQuat::from_array(body.rotation.map(f64::from));
            body.at(at.as_vec3().to_array()).rotated(turn.normalize().as_quat().to_array())
        };
        self.bodies.iter().zip(&self.owners).map(place).collect()
    }
}

/// A link of the file, and the joint of the file that it hangs from.
type Hanging = (usize, Option<usize>);

/// The links in an order in which parents come first.
fn parents_first(file: &urdf_rs::Robot) -> Result<Vec<Hanging>, Box<dyn Error>> {
    let mut link_of: HashMap<&str, usize> = HashMap::new();
    for (at, link) in file.links.iter().enumerate() {
        if link_of.insert(&link.name, at).is_some() {
            return Err(format!("two links have the name {}", link.name).into());
        }
    }
    let mut above: Vec<Option<usize>> = vec![None; file.links.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); file.links.len()];
    for (at, joint) in file.joints.iter().enumerate() {
        let [parent, child] = [&joint.parent.link, &joint.child.link].map(|name| {
            let unknown = || format!("joint {}: no link has the name {name}", joint.name);
            link_of.get(name.as_str()).copied().ok_or_else(unknown)
        });
        let (parent, child) = (parent?, child?);
        if let Some(other) = above[child].replace(at) {
            let (link, other) = (&file.links[child].name, &file.joints[other].name);
            return Err(format!("link {link} is the child of two joints, {other} and {}", joint.name).into());
        }
        below[parent].push(at);
    }
    let roots: Vec<usize> = (0..file.links.len()).filter(|&link| above[link].is_none()).collect();
    let &[root] = roots.as_slice() else {
        let names: Vec<&str> = roots.iter().map(|&link| file.links[link].name.as_str()).collect();
        return Err(match names.as_slice() {
            [] => "no link is the base: each is the child of a joint".into(),
            names => {
                format!("the links {} are the child of no joint: one must be the base", names.join(", "))
            }
        }
        .into());
    };
    let mut order = Vec::with_capacity(file.links.len());
    let mut stack = vec![root];
    while let Some(link) = stack.pop() {
        order.push((link, above[link]));
        stack.extend(below[link].iter().rev().map(|&joint| link_of[file.joints[joint].child.link.as_str()]));
    }
    match (0..file.links.len()).find(|link| !order.iter().any(|(placed, _)| placed == link)) {
        Some(link) => Err(format!("link {} hangs from a loop of joints", file.links[link].name).into()),
        None => Ok(order),
    }
}

fn is_moving(joint: &urdf_rs::Joint) -> Result<bool, Box<dyn Error>> {
    match joint.joint_type {
        JointType::Fixed => Ok(false),
        JointType::Revolute | JointType::Continuous | JointType::Prismatic => Ok(true),
        JointType::Floating | JointType::Planar | JointType::Spherical => Err(format!(
            "joint {}: its type is {:?}; fixed, revolute, continuous and prismatic joints are read",
            joint.name, joint.joint_type
        )
        .into()),
    }
}

fn limits(joint: &urdf_rs::Joint) -> Result<Variable, Box<dyn Error>> {
    let [lower, upper] = match joint.joint_type {
        JointType::Continuous => [-PI, PI],
        _ => [joint.limit.lower, joint.limit.upper],
    };
    if lower.is_finite() && upper.is_finite() && lower < upper {
        return Ok(Variable { lower, upper });
    }
    let message = format!(
        "joint {}: its limits are {lower} and {upper}; they must be finite, the lower below the upper",
        joint.name
    );
    Err(message.into())
}

fn kind(joint: &urdf_rs::Joint, variable_of: &HashMap<&str, usize>) -> Result<Kind, Box<dyn Error>> {
    if !is_moving(joint)? {
        return Ok(Kind::Fixed);
    }
    let (leader, factor, offset) = match &joint.mimic {
        None => (&joint.name, 1.0, 0.0),
        Some(mimic) => (&mimic.joint, mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0)),
    };
    let Some(&variable) = variable_of.get(leader.as_str()) else {
        let message = format!("joint {} mimics {leader}, which is no joint that moves by itself", joint.name);
        return Err(message.into());
    };
    let drive = Drive { variable, factor, offset };
    Ok(if joint.joint_type == JointType::Prismatic { Kind::Sliding(drive) } else { Kind::Turning(drive) })
}

fn frame(pose: &urdf_rs::Pose) -> Frame {
    let [roll, pitch, yaw] = pose.rpy.0;
    (DVec3::from(pose.xyz.0), DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll))
}

/// The hull of a shape. No point of the shape lies outside it.
fn hull(geometry: &Geometry, folder: &Path) -> Result<Hull, Box<dyn Error>> {
    let along = |length: f64| [[0.0, 0.0, (-0.5 * length) as f32], [0.0, 0.0, (0.5 * length) as f32]];
    match geometry {
        Geometry::Box { size } => Ok(Hull::cuboid(size.0.map(|x| (0.5 * x) as f32))?),
        Geometry::Cylinder { radius, length } => {
            let [a, b] = along(*length);
            let around = radius / (PI / f64::from(SIDES)).cos();
            Ok(Hull::cylinder(a, b, around as f32, SIDES)?)
        }
        Geometry::Capsule { radius, length } => {
            let [a, b] = along(*length);
            Ok(Hull::capsule(a, b, *radius as f32)?)
        }
        Geometry::Sphere { radius } => Ok(Hull::ball(*radius as f32)?),
        Geometry::Mesh { filename, scale } => {
            let scale = scale.map_or([1.0; 3], |scale| scale.0);
            let file = find_mesh(filename, folder)?;
            let named = |error: std::io::Error| format!("{}: {error}", file.display());
            let scene = mesh_loader::Loader::default().load(&file).map_err(named)?;
            let vertices = scene.meshes.iter().flat_map(|mesh| &mesh.vertices);
            let scaled = |vertex: &[f32; 3]| [0, 1, 2].map(|k| (f64::from(vertex[k]) * scale[k]) as f32);
            let points: Vec<[f32; 3]> = vertices.map(scaled).collect();
            Hull::from_points(&points).map_err(|error| format!("{}: {error}", file.display()).into())
        }
    }
}

/// The file that `package://NAME/REST` or a path means. `REST` is looked for in the folder of the URDF file and in those above it, with
/// and without the name of the package.
fn find_mesh(name: &str, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let path = name.strip_prefix("file://").unwrap_or(name);
    let Some(path) = path.strip_prefix("package://") else {
        return Ok(folder.join(path));
    };
    let rest = path.split_once('/').map_or(path, |(_, rest)| rest);
    let folder = folder.canonicalize()?;
    let tried = folder.ancestors().flat_map(|folder| [folder.join(path), folder.join(rest)]);
    tried
        .into_iter()
        .find(|file| file.is_file())
        .ok_or_else(|| format!("{name} is neither in {} nor in a folder above it", folder.display()).into())
}
