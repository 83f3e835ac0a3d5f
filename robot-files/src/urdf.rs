//! URDF: links, joints and shapes of collision.

use std::collections::HashMap;

use glam::{DQuat, DVec3, EulerRot};
use hullfield_mesh_files::{Result, excerpt};
use roxmltree::Node;

use crate::robot::{Collision, Drive, Frame, Joint, JointKind, Link, Robot, Shape, Variable};
use crate::tree::parents_first;
use crate::xml::{Source, own_children};

/// A joint that mimics another one: the other's name, the factor and the offset.
type Mimic = (String, f64, f64);

/// Reads the bytes of a URDF file. `name` is the file's name in messages.
///
/// # Errors
/// What is wrong with the file: text that is not well-formed XML, links that are no tree, joints of other kinds, numbers that are not finite.
pub fn read_urdf(name: &str, bytes: &[u8]) -> Result<Robot> {
    let source = Source::new(name, bytes)?;
    let document = source.parse()?;
    let root = source.root(&document, "URDF")?;
    refuse_foreign(&source, root)?;
    let mut links = Vec::new();
    let mut link_of: HashMap<&str, usize> = HashMap::new();
    for element in own_children(root).filter(|element| element.tag_name().name() == "link") {
        let name = source.attribute(element, "link", "name")?;
        if link_of.insert(name, links.len()).is_some() {
            return Err(source.error(element, format!("two links have the name {}", excerpt(name))));
        }
        links.push(link(&source, element, name)?);
    }
    let (mut joints, mut limits, mut mimics) = (Vec::new(), Vec::new(), Vec::new());
    let mut joint_of: HashMap<&str, usize> = HashMap::new();
    for element in own_children(root).filter(|element| element.tag_name().name() == "joint") {
        let name = source.attribute(element, "joint", "name")?;
        if joint_of.insert(name, joints.len()).is_some() {
            return Err(source.error(element, format!("two joints have the name {}", excerpt(name))));
        }
        let read = joint(&source, element, name, &link_of)?;
        joints.push(read.joint);
        limits.push(read.limits);
        mimics.push(read.mimic);
    }
    let order = parents_first(&source, &mut links, &joints)?;
    let variables = drive(&source, &mut joints, &limits, &mimics, &joint_of)?;
    let name = root.attribute("name").unwrap_or_default().to_owned();
    Ok(Robot { name, links, joints, order, variables })
}

/// Refuses what other programs make a robot of.
fn refuse_foreign<'a>(source: &Source<'a>, root: Node<'_, 'a>) -> Result<()> {
    let namespace = root.tag_name().namespace();
    for element in root.children().filter(Node::is_element) {
        let (tag, word) = (element.tag_name(), element.tag_name().name());
        if tag.namespace() == namespace {
            if word == "include" {
                return Err(source.error(element, "include is not read: put the robot in one file"));
            }
            continue;
        }
        if tag.namespace().is_some_and(|uri| uri.contains("xacro")) {
            let message = "it is xacro: make URDF of it with xacro FILE > robot.urdf";
            return Err(source.error(element, message));
        }
        if matches!(word, "link" | "joint") {
            let uri = excerpt(tag.namespace().unwrap_or_default());
            return Err(source.error(element, format!("a {word} of the namespace \"{uri}\" is not read")));
        }
    }
    Ok(())
}

fn link<'a>(source: &Source<'a>, element: Node<'_, 'a>, name: &str) -> Result<Link> {
    let mut collisions = Vec::new();
    for child in own_children(element).filter(|child| child.tag_name().name() == "collision") {
        let what = format!("a collision of link {}", excerpt(name));
        let [origin, geometry] = source.children(child, &what, ["origin", "geometry"])?;
        let Some(geometry) = geometry else {
            return Err(source.error(child, format!("{what} has no geometry")));
        };
        let origin = frame(source, origin, &what)?;
        collisions.push(Collision {
            line: source.line(child),
            origin,
            shape: shape(source, geometry, &what)?,
        });
    }
    Ok(Link { name: name.to_owned(), line: source.line(element), joint: None, collisions })
}

fn shape<'a>(source: &Source<'a>, geometry: Node<'_, 'a>, what: &str) -> Result<Shape> {
    let mut shapes = geometry.children().filter(Node::is_element);
    let Some(element) = shapes.next() else {
        return Err(source.error(geometry, format!("{what}: its geometry is empty")));
    };
    if shapes.next().is_some() {
        return Err(source.error(geometry, format!("{what}: its geometry has more than one shape")));
    }
    let word = element.tag_name().name();
    let what = format!("{what}: {}", excerpt(word));
    let missing = |name: &str| source.error(element, format!("{what} has no attribute {name}"));
    let length = |name: &str| -> Result<f64> {
        let value = source.number(element, &what, name)?.ok_or_else(|| missing(name))?;
        if value < 0.0 {
            return Err(source.error(element, format!("{what}: {name} is {value}, it must be 0 or more")));
        }
        Ok(value)
    };
    Ok(match word {
        "box" => {
            let size: [f64; 3] = source.numbers(element, &what, "size")?.ok_or_else(|| missing("size"))?;
            if let Some(side) = size.iter().find(|&&side| side < 0.0) {
                return Err(source.error(element, format!("{what}: size has {side}, each must be 0 or more")));
            }
            Shape::Box { size }
        }
        "sphere" => Shape::Sphere { radius: length("radius")? },
        "cylinder" => Shape::Cylinder { radius: length("radius")?, length: length("length")? },
        "capsule" => Shape::Capsule { radius: length("radius")?, length: length("length")? },
        "mesh" => {
            let file = element.attribute("filename").ok_or_else(|| missing("filename"))?.to_owned();
            Shape::Mesh { file, scale: source.numbers(element, &what, "scale")?.unwrap_or([1.0; 3]) }
        }
        _ => {
            let message = format!("{what} is not read; box, sphere, cylinder, capsule and mesh are");
            return Err(source.error(element, message));
        }
    })
}

/// The frame of an `origin`; that of the element around it where there is none.
fn frame<'a>(source: &Source<'a>, origin: Option<Node<'_, 'a>>, what: &str) -> Result<Frame> {
    let Some(origin) = origin else { return Ok(Frame::IDENTITY) };
    let what = format!("{what}: origin");
    if let Some(other) = origin.attributes().find(|a| !matches!(a.name(), "xyz" | "rpy" | "quat_xyzw")) {
        let name = excerpt(other.name());
        return Err(source.error(origin, format!("{what}: {name} is not read; xyz, rpy and quat_xyzw are")));
    }
    let position = source.numbers(origin, &what, "xyz")?.unwrap_or([0.0; 3]);
    let angles = source.numbers(origin, &what, "rpy")?;
    let rotation = match (angles, source.numbers(origin, &what, "quat_xyzw")?) {
        (Some(_), Some(_)) => {
            return Err(source.error(origin, format!("{what}: it has both rpy and quat_xyzw")));
        }
        (_, Some(quaternion)) => {
            let largest = quaternion.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
            if largest == 0.0 {
                return Err(source.error(origin, format!("{what}: quat_xyzw is 0, which is no rotation")));
            }
            DQuat::from_array(quaternion.map(|part| part / largest)).normalize()
        }
        (angles, None) => {
            let [roll, pitch, yaw] = angles.unwrap_or([0.0; 3]);
            DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll)
        }
    };
    Ok(Frame { position, rotation: rotation.to_array() })
}

/// A joint whose drive is not known yet, and what says it.
struct Read {
    joint: Joint,
    limits: [f64; 2],
    mimic: Option<Mimic>,
}

fn joint<'a>(
    source: &Source<'a>,
    element: Node<'_, 'a>,
    name: &str,
    link_of: &HashMap<&str, usize>,
) -> Result<Read> {
    let what = format!("joint {}", excerpt(name));
    let kind = kind(source, element, &what)?;
    let names = ["parent", "child", "origin", "axis", "limit", "mimic"];
    let [parent, child, origin, axis, limit, mimic] = source.children(element, &what, names)?;
    let end = |node: Option<Node<'_, 'a>>, word: &str| -> Result<usize> {
        let node = node.ok_or_else(|| source.error(element, format!("{what} has no {word}")))?;
        let link = source.attribute(node, &what, "link")?;
        let unknown = || source.error(node, format!("{what}: no link has the name {}", excerpt(link)));
        link_of.get(link).copied().ok_or_else(unknown)
    };
    let (parent, child) = (end(parent, "parent")?, end(child, "child")?);
    let origin = frame(source, origin, &what)?;
    let is_fixed = kind == JointKind::Fixed;
    let axis = if is_fixed { [1.0, 0.0, 0.0] } else { direction(source, axis, &what)? };
    let limits = limits(source, element, kind, limit, &what)?;
    let mimic = match mimic.filter(|_| !is_fixed) {
        None => None,
        Some(node) => {
            let leader = source.attribute(node, &what, "joint")?.to_owned();
            let factor = source.number(node, &what, "multiplier")?.unwrap_or(1.0);
            Some((leader, factor, source.number(node, &what, "offset")?.unwrap_or(0.0)))
        }
    };
    let (name, line) = (name.to_owned(), source.line(element));
    let joint = Joint { name, line, kind, parent, child, origin, axis, drive: None };
    Ok(Read { joint, limits, mimic })
}

fn kind<'a>(source: &Source<'a>, element: Node<'_, 'a>, what: &str) -> Result<JointKind> {
    const READ: &str = "fixed, revolute, continuous and prismatic joints are read";
    let word = source.attribute(element, what, "type")?;
    Ok(match word {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute,
        "continuous" => JointKind::Continuous,
        "prismatic" => JointKind::Prismatic,
        _ => return Err(source.error(element, format!("{what}: its type is {}; {READ}", excerpt(word)))),
    })
}

/// The direction of an axis; x where there is none, as URDF says.
fn direction<'a>(source: &Source<'a>, axis: Option<Node<'_, 'a>>, what: &str) -> Result<[f64; 3]> {
    let Some(node) = axis else { return Ok([1.0, 0.0, 0.0]) };
    let what = format!("{what}: axis");
    let axis: [f64; 3] = source
        .numbers(node, &what, "xyz")?
        .ok_or_else(|| source.error(node, format!("{what} has no attribute xyz")))?;
    let largest = axis.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
    if largest == 0.0 {
        return Err(source.error(node, format!("{what} is 0, which has no direction")));
    }
    Ok(DVec3::from(axis.map(|part| part / largest)).normalize().to_array())
}

fn limits<'a>(
    source: &Source<'a>,
    element: Node<'_, 'a>,
    kind: JointKind,
    limit: Option<Node<'_, 'a>>,
    what: &str,
) -> Result<[f64; 2]> {
    if matches!(kind, JointKind::Fixed | JointKind::Continuous) {
        return Ok([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let Some(node) = limit else {
        return Err(
            source.error(element, format!("{what} has no limit, which a {} joint needs", kind.name()))
        );
    };
    let what = format!("{what}: limit");
    let mut ends = [0.0; 2];
    for (end, name) in ends.iter_mut().zip(["lower", "upper"]) {
        *end = source.number(node, &what, name)?.unwrap_or(0.0);
    }
    let [lower, upper] = ends;
    if lower > upper {
        return Err(source.error(node, format!("{what}: lower is {lower}, above upper, {upper}")));
    }
    Ok(ends)
}

/// Finds the variable that drives each joint. A joint may mimic a joint that mimics another.
fn drive(
    source: &Source<'_>,
    joints: &mut [Joint],
    limits: &[[f64; 2]],
    mimics: &[Option<Mimic>],
    joint_of: &HashMap<&str, usize>,
) -> Result<Vec<Variable>> {
    let mut variables = Vec::new();
    for (at, joint) in joints.iter_mut().enumerate() {
        if joint.kind != JointKind::Fixed && mimics[at].is_none() {
            joint.drive = Some(Drive { variable: variables.len(), factor: 1.0, offset: 0.0 });
            let [lower, upper] = limits[at];
            variables.push(Variable { joint: at, lower, upper });
        }
    }
    for at in 0..joints.len() {
        // From the joint to the first that is known, then back.
        let mut chain = vec![];
        let mut from = at;
        while let Some((leader, ..)) = mimics[from].as_ref().filter(|_| joints[from].drive.is_none()) {
            chain.push(from);
            let error = |message: &str| {
                let [name, leader] = [&joints[from].name, leader].map(|name| excerpt(name));
                let message = format!("joint {name} mimics joint {leader}, {message}");
                source.error_at(joints[from].line, message)
            };
            let next = *joint_of.get(leader.as_str()).ok_or_else(|| error("which does not exist"))?;
            if joints[next].kind == JointKind::Fixed {
                return Err(error("which is fixed"));
            }
            if chain.len() > joints.len() {
                return Err(error("and so on in a loop"));
            }
            from = next;
        }
        while let Some(follower) = chain.pop() {
            let (Some(known), Some((_, factor, offset))) = (joints[from].drive, &mimics[follower]) else {
                break;
            };
            let Drive { variable, .. } = known;
            let (factor, offset) = (factor * known.factor, factor * known.offset + offset);
            if !(factor.is_finite() && offset.is_finite()) {
                let name = excerpt(&joints[follower].name);
                let message = format!("joint {name}: what it mimics overflows");
                return Err(source.error_at(joints[follower].line, message));
            }
            joints[follower].drive = Some(Drive { variable, factor, offset });
            from = follower;
        }
    }
    Ok(variables)
}
