//! glTF 2.0, `.gltf` and `.glb`.
//!
//! Every node of the scene with a mesh is an object, and so is each instance of `EXT_mesh_gpu_instancing`. Its name is the node's, else the
//! mesh's, else the file's. Transforms of the node and its ancestors are applied. A mesh with a skin is where its joints put it, and morph
//! targets are added by their weights: both as the file's nodes stand, without animations.
//!
//! The crate `gltf` is not used: it reads materials and textures, and so refuses files for extensions that no shape needs; it knows neither
//! skins at rest nor instances; and it makes copies of items that a few bytes of JSON name.

mod accessor;
mod container;
mod extensions;
mod json;
mod nodes;
mod primitive;
mod uri;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use accessor::{Beside, Buffers, Component};
use container::parts;
use glam::DMat4;
use json::{Head, Node, NodeDetails, Root, Shape};
use nodes::{Nodes, placed};
use primitive::{Cost, Reader, Shaped};
use serde::Deserialize;

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::{excerpt, shortened};

/// The memory that the placed meshes of any file may take; a larger file may take [`BYTES_PER_BYTE`] times its size.
const PLACED_BYTES: u64 = 1 << 29;

/// How many bytes placed meshes may take for each byte of the file and its buffers.
const BYTES_PER_BYTE: u64 = 64;

/// The rotations of instances may be integers of 8 bits.
const INSTANCE_ROTATION_TOLERANCE: f64 = 0.02;

/// Reads a file. `beside` gives the bytes of a file beside it, by its path, and no more than it is asked for.
pub(crate) fn read(name: &str, bytes: &[u8], beside: Beside<'_>) -> Result<Mesh> {
    let parts = parts(name, bytes)?;
    check_head(name, parts.json)?;
    let root: Root = parsed(name, parts.json)?;
    let buffers = Buffers::new(name, &root, bytes.len() as u64, parts.binary, beside);
    let scene = match root.scene {
        Some(scene) => root.scenes.get(scene as usize).ok_or_else(|| {
            Error::file(name, format!("scene {scene} does not exist, there are {}", root.scenes.len()))
        })?,
        None => root.scenes.first().ok_or_else(|| Error::file(name, "it has no scene"))?,
    };
    let nodes = Nodes::new(name, &root)?;
    let order = nodes.of_scene(&scene.nodes)?;
    let mut scene = Scene {
        name,
        root: &root,
        buffers: &buffers,
        nodes: &nodes,
        worlds: None,
        skins: HashMap::new(),
        mesh: Mesh::new(stem(name)),
    };
    scene.check_size(&order)?;
    nodes.walk(&order, |node, world| scene.node(node, world))?;
    let mut mesh = scene.mesh;
    mesh.end();
    if mesh.objects.is_empty() && mesh.empty_object_count() == 0 {
        return Err(Error::file(name, "no node of its scene has a mesh"));
    }
    if parts.rest > 0 {
        mesh.note(name, format!("{} bytes follow the end of the GLB, they are not read", parts.rest));
    }
    Ok(mesh)
}

fn parsed<'a, T: Deserialize<'a>>(name: &str, json: &'a [u8]) -> Result<T> {
    // The parser quotes what it did not expect, however long.
    serde_json::from_slice(json).map_err(|error| {
        let message = error.to_string();
        let (what, place) = message.rsplit_once(" at line ").unwrap_or((&message, "1"));
        Error::file(
            name,
            format!("line {}: {}", place.replace(" column ", ", column "), shortened(what, 160)),
        )
    })
}

/// Refuses other versions, and extensions that are needed and not read.
fn check_head(name: &str, json: &[u8]) -> Result<()> {
    let head: Head = parsed(name, json)?;
    let asset = head.asset.ok_or_else(|| Error::file(name, "JSON without \"asset\": it is not glTF 2.0"))?;
    let version = asset.version.text();
    let is_read = version == "2" || version.starts_with("2.");
    // `minVersion` says what a reader must know.
    let needs = asset.min_version.map(|version| version.text()).filter(|version| version != "2.0");
    if let Some(version) = (!is_read).then_some(version).or(needs) {
        return Err(Error::file(name, format!("it is glTF {}, glTF 2.0 is read", excerpt(&version))));
    }
    match head.extensions_required.iter().find_map(|required| extensions::refusal(required)) {
        Some(message) => Err(Error::file(name, message)),
        None => Ok(()),
    }
}

/// A scene that is being read.
struct Scene<'a> {
    name: &'a str,
    root: &'a Root,
    buffers: &'a Buffers<'a>,
    nodes: &'a Nodes<'a>,
    /// The transforms of all nodes, once a skin asks for them.
    worlds: Option<Vec<DMat4>>,
    /// The transforms of the joints of each skin.
    skins: HashMap<u32, Rc<Vec<DMat4>>>,
    mesh: Mesh,
}

/// How a mesh is placed by a node.
enum Placing {
    /// By these transforms, an object each.
    Nodes(Vec<DMat4>),
    /// By the joints of a skin.
    Joints(Rc<Vec<DMat4>>),
}

impl<'a> Scene<'a> {
    fn failed(&self, message: impl std::fmt::Display) -> Error {
        Error::file(self.name, message)
    }

    fn source(&self, node: &Node) -> Result<Option<(u32, &'a json::Mesh)>> {
        let Some(index) = node.mesh else { return Ok(None) };
        let meshes = &self.root.meshes;
        let found = meshes.get(index as usize);
        let mesh = found
            .ok_or_else(|| self.failed(format!("mesh {index} does not exist, there are {}", meshes.len())))?;
        Ok(Some((index, mesh)))
    }

    /// Refuses meshes that nodes place so often that memory would not be bounded by the bytes of the file.
    fn check_size(&self, order: &[u32]) -> Result<()> {
        // What each mesh takes with so many morph targets.
        let mut costs: HashMap<(u32, u64), Cost> = HashMap::new();
        let (mut corners, mut bytes) = (0u64, 0u64);
        for &index in order {
            let node = &self.root.nodes[index as usize];
            let Some((mesh_index, mesh)) = self.source(node)? else { continue };
            let morph_count = weights(node, mesh).iter().filter(|&&weight| weight != 0.0).count() as u64;
            let cost = match costs.get(&(mesh_index, morph_count)) {
                Some(&cost) => cost,
                None => {
                    let cost = self.cost(mesh_index, mesh, morph_count)?;
                    costs.insert((mesh_index, morph_count), cost);
                    cost
                }
            };
            let count = match instances_of(node) {
                Some(instances) => self.instance_count(index, instances)?,
                None => 1,
            };
            corners = corners.saturating_add(cost.corners.saturating_mul(count));
            // An object takes memory too.
            bytes = bytes.saturating_add(cost.bytes.saturating_add(200).saturating_mul(count));
        }
        let file_bytes = self.buffers.all_bytes();
        let limit = PLACED_BYTES.max(file_bytes.saturating_mul(BYTES_PER_BYTE));
        if bytes > limit || corners > u64::from(u32::MAX) {
            return Err(self.failed(format!(
                "its nodes place meshes of {corners} corners in all, which take {bytes} bytes: a file of {file_bytes} bytes may take {limit}"
            )));
        }
        Ok(())
    }

    fn cost(&self, index: u32, mesh: &json::Mesh, morph_count: u64) -> Result<Cost> {
        let mut sum = Cost { corners: 0, bytes: 0 };
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            let cost = Reader::new(self.buffers, index, number, primitive).cost(morph_count)?;
            sum.corners = sum.corners.saturating_add(cost.corners);
            sum.bytes = sum.bytes.saturating_add(cost.bytes);
        }
        Ok(sum)
    }

    /// Adds the objects of a node.
    fn node(&mut self, index: u32, world: &DMat4) -> Result<()> {
        let node = &self.root.nodes[index as usize];
        let Some((mesh_index, mesh)) = self.source(node)? else { return Ok(()) };
        let object = node.name.as_deref().or(mesh.name.as_deref());
        let placing = match (node.skin, instances_of(node)) {
            (Some(_), Some(_)) => {
                return Err(self
                    .failed(format!("node {index}: it has a skin and instances (EXT_mesh_gpu_instancing)")));
            }
            (Some(skin), None) => Placing::Joints(self.joints(skin)?),
            (None, Some(instances)) => Placing::Nodes(self.instances(index, instances, world)?),
            (None, None) => Placing::Nodes(vec![*world]),
        };
        let weights = weights(node, mesh);
        let joints = match &placing {
            Placing::Joints(joints) => Some(joints.as_slice()),
            Placing::Nodes(_) => None,
        };
        let mut shapes = Vec::with_capacity(mesh.primitives.len());
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            let reader = Reader::new(self.buffers, mesh_index, number, primitive);
            shapes.push((faces_of(&reader, primitive.mode)?, reader.read(weights, joints)?, reader));
        }
        let identity = [DMat4::IDENTITY];
        let transforms = match &placing {
            Placing::Nodes(transforms) => transforms.as_slice(),
            Placing::Joints(_) => &identity,
        };
        for transform in transforms {
            self.mesh.begin(object, None);
            for (mode, shaped, reader) in &shapes {
                self.place(object, *mode, shaped, transform, reader)?;
            }
        }
        Ok(())
    }

    /// Adds a primitive that a transform places.
    fn place(
        &mut self,
        object: Option<&str>,
        mode: Mode,
        shaped: &Shaped,
        transform: &DMat4,
        reader: &Reader<'_>,
    ) -> Result<()> {
        let Shaped { points, corners, is_mirrored } = shaped;
        let mesh = &mut self.mesh;
        let base = mesh.points.len() as u32;
        for &point in points {
            let moved = transform.transform_point3(point).to_array();
            if !moved.iter().all(|part| part.is_finite()) {
                let object = object.map_or_else(|| stem(self.name), str::to_owned);
                return Err(Error::file(
                    self.name,
                    format!("object \"{}\": a point is not finite", excerpt(&object)),
                ));
            }
            mesh.points.push(moved);
        }
        if mode == Mode::Triangles && corners.len() % 3 != 0 {
            return Err(reader.invalid(format!("{} corners are no whole number of triangles", corners.len())));
        }
        if mode == Mode::NoFaces || corners.len() < 3 {
            mesh.corners.extend(corners.iter().map(|corner| base + corner));
            return Ok(());
        }
        // A mirroring transform would turn the faces inside out.
        let mirrors = transform.determinant() < 0.0;
        for [a, b, c] in triangles(mode, corners) {
            let is_turned = is_mirrored.as_ref().map_or(mirrors, |each| each[a as usize]);
            let face = if is_turned { [c, b, a] } else { [a, b, c] };
            mesh.face(face.map(|corner| base + corner));
        }
        Ok(())
    }

    /// The transforms of the joints of a skin, from the frame of the mesh to that of the scene.
    fn joints(&mut self, skin: u32) -> Result<Rc<Vec<DMat4>>> {
        if let Some(found) = self.skins.get(&skin) {
            return Ok(Rc::clone(found));
        }
        let skins = &self.root.skins;
        let json::Skin { inverse_bind_matrices, joints } = skins
            .get(skin as usize)
            .ok_or_else(|| self.failed(format!("skin {skin} does not exist, there are {}", skins.len())))?;
        let inverse = match inverse_bind_matrices {
            None => None,
            Some(index) => {
                let values = self.buffers.values(*index)?;
                let is_matrix =
                    self.buffers.accessor(*index)?.shape == Shape::Mat4 && values.kind == Component::F32;
                if !is_matrix || values.count < joints.len() as u64 {
                    return Err(self.failed(format!(
                        "skin {skin}: its inverse bind matrices are not a matrix of floats for each joint"
                    )));
                }
                Some(values)
            }
        };
        let worlds = match self.worlds.take() {
            Some(worlds) => worlds,
            None => self.nodes.all()?,
        };
        let mut transforms = Vec::with_capacity(joints.len());
        for (i, &joint) in joints.iter().enumerate() {
            let world = worlds.get(joint as usize);
            let world =
                world.ok_or_else(|| self.failed(format!("skin {skin}: node {joint} does not exist")))?;
            let bind = inverse.as_ref().map(|inverse| DMat4::from_cols_array(&inverse.numbers(i as u64)));
            transforms.push(bind.map_or(*world, |bind| *world * bind));
        }
        self.worlds = Some(worlds);
        let transforms = Rc::new(transforms);
        self.skins.insert(skin, Rc::clone(&transforms));
        Ok(transforms)
    }

    fn instance_count(&self, node: u32, instances: &BTreeMap<String, u32>) -> Result<u64> {
        let places = ["TRANSLATION", "ROTATION", "SCALE"];
        let mut counts = Vec::new();
        for name in places {
            if let Some(&accessor) = instances.get(name) {
                counts.push(self.buffers.accessor(accessor)?.count);
            }
        }
        match counts.as_slice() {
            [first, rest @ ..] if rest.iter().all(|count| count == first) => Ok(*first),
            [] => {
                Err(self
                    .failed(format!("node {node}: its instances (EXT_mesh_gpu_instancing) have no places")))
            }
            _ => Err(self.failed(format!("node {node}: the places of its instances differ in number"))),
        }
    }

    /// The transforms of the instances of a node.
    fn instances(&self, node: u32, instances: &BTreeMap<String, u32>, world: &DMat4) -> Result<Vec<DMat4>> {
        let count = self.instance_count(node, instances)?;
        let failed = |message: String| self.failed(format!("node {node}: an instance: {message}"));
        let values = |name: &str, shape: Shape| -> Result<Option<accessor::Values>> {
            let Some(&index) = instances.get(name) else { return Ok(None) };
            let values = self.buffers.values(index)?;
            let is_number = values.kind == Component::F32 || (name == "ROTATION" && !values.is_whole());
            if self.buffers.accessor(index)?.shape != shape || !is_number {
                return Err(failed(format!("{name} is {shape:?} of floats")));
            }
            Ok(Some(values))
        };
        let translations = values("TRANSLATION", Shape::Vec3)?;
        let rotations = values("ROTATION", Shape::Vec4)?;
        let scales = values("SCALE", Shape::Vec3)?;
        let mut transforms = Vec::new();
        for i in 0..count {
            let translation = translations.as_ref().map_or([0.0; 3], |values| values.numbers(i));
            let rotation = rotations.as_ref().map_or([0., 0., 0., 1.], |values| values.numbers(i));
            let scale = scales.as_ref().map_or([1.0; 3], |values| values.numbers(i));
            let place = placed(translation, rotation, scale, INSTANCE_ROTATION_TOLERANCE).map_err(failed)?;
            transforms.push(*world * place);
        }
        Ok(transforms)
    }
}

/// The weights of the morph targets: the node's, else the mesh's; without any they are zero.
fn weights<'a>(node: &'a Node, mesh: &'a json::Mesh) -> &'a [f64] {
    let own = node.details().and_then(|NodeDetails { weights, .. }| weights.as_ref());
    own.or(mesh.weights.as_ref()).map_or(&[], Vec::as_slice)
}

fn instances_of(node: &Node) -> Option<&BTreeMap<String, u32>> {
    node.details().and_then(|details| details.instances.as_ref())
}

/// How the corners of a primitive are faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Points and lines.
    NoFaces,
    Triangles,
    Strip,
    Fan,
}

fn faces_of(reader: &Reader<'_>, mode: u8) -> Result<Mode> {
    match mode {
        0..=3 => Ok(Mode::NoFaces),
        4 => Ok(Mode::Triangles),
        5 => Ok(Mode::Strip),
        6 => Ok(Mode::Fan),
        _ => Err(reader.invalid(format!("mode {mode} does not exist"))),
    }
}

/// The triangles of corners.
fn triangles(mode: Mode, corners: &[u32]) -> Box<dyn Iterator<Item = [u32; 3]> + '_> {
    let of = |window: &[u32]| [window[0], window[1], window[2]];
    match mode {
        Mode::NoFaces => Box::new(std::iter::empty()),
        Mode::Triangles => Box::new(corners.chunks_exact(3).map(of)),
        Mode::Strip => {
            let oriented = |(i, [a, b, c]): (usize, [u32; 3])| if i % 2 == 0 { [a, b, c] } else { [b, a, c] };
            Box::new(corners.windows(3).map(of).enumerate().map(oriented))
        }
        Mode::Fan => match corners.split_first() {
            Some((&first, rest)) => Box::new(rest.windows(2).map(move |pair| [first, pair[0], pair[1]])),
            None => Box::new(std::iter::empty()),
        },
    }
}

#[cfg(test)]
pub(crate) mod tests;
