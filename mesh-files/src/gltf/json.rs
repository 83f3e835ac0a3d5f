//! What is read of the JSON of a glTF file. Materials, textures, cameras and animations are not.
//!
//! The items are small, as a file has one for every few of its bytes: what few nodes have is boxed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// What tells whether a file can be read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) asset: Option<Asset>,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: Version,
    pub(super) min_version: Option<Version>,
}

/// A version is a text; early files have numbers.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a version is a text")]
pub(super) enum Version {
    Text(String),
    Number(f64),
}

impl Version {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => format!("{number:.1}"),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct Root {
    pub(super) scene: Option<u32>,
    pub(super) scenes: Vec<Scene>,
    pub(super) nodes: Vec<Node>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) skins: Vec<Skin>,
    pub(super) accessors: Vec<Accessor>,
    pub(super) buffer_views: Vec<BufferView>,
    pub(super) buffers: Vec<Buffer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(from = "FullNode")]
pub(super) struct Node {
    pub(super) name: Option<Box<str>>,
    pub(super) children: Box<[u32]>,
    pub(super) mesh: Option<u32>,
    pub(super) skin: Option<u32>,
    more: Option<Box<NodeDetails>>,
}

/// What many nodes do not have.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NodeDetails {
    pub(super) matrix: Option<[f64; 16]>,
    pub(super) translation: Option<[f64; 3]>,
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) instances: Option<BTreeMap<String, u32>>,
}

impl Node {
    pub(super) fn details(&self) -> Option<&NodeDetails> {
        self.more.as_deref()
    }
}

#[derive(Debug, Deserialize)]
struct FullNode {
    name: Option<Box<str>>,
    #[serde(default)]
    children: Vec<u32>,
    mesh: Option<u32>,
    skin: Option<u32>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    weights: Option<Vec<f64>>,
    extensions: Option<NodeExtensions>,
}

#[derive(Debug, Deserialize)]
struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    instancing: Option<Instancing>,
}

#[derive(Debug, Deserialize)]
struct Instancing {
    attributes: BTreeMap<String, u32>,
}

impl From<FullNode> for Node {
    fn from(node: FullNode) -> Self {
        let FullNode {
            name,
            children,
            mesh,
            skin,
            matrix,
            translation,
            rotation,
            scale,
            weights,
            extensions,
        } = node;
        let instances = extensions.and_then(|all| all.instancing).map(|instancing| instancing.attributes);
        let more = NodeDetails { matrix, translation, rotation, scale, weights, instances };
        let more = (more != NodeDetails::default()).then(|| Box::new(more));
        Self { name, children: children.into_boxed_slice(), mesh, skin, more }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<Box<str>>,
    pub(super) primitives: Vec<Primitive>,
    pub(super) weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: BTreeMap<String, u32>,
    pub(super) indices: Option<u32>,
    #[serde(default = "triangles")]
    pub(super) mode: u8,
    #[serde(default)]
    pub(super) targets: Vec<Target>,
    pub(super) extensions: Option<PrimitiveExtensions>,
}

fn triangles() -> u8 {
    4
}

impl Primitive {
    pub(super) fn is_draco(&self) -> bool {
        self.extensions.as_ref().is_some_and(|extensions| extensions.draco.is_some())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    draco: Option<IgnoredAny>,
}

/// What a morph target adds to positions.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    #[serde(rename = "POSITION")]
    pub(super) positions: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) inverse_bind_matrices: Option<u32>,
    pub(super) joints: Vec<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<u32>,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) shape: Shape,
    pub(super) sparse: Option<Box<Sparse>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub(super) count: u64,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    pub(super) byte_stride: Option<u64>,
    pub(super) extensions: Option<BufferViewExtensions>,
}

impl BufferView {
    pub(super) fn is_meshopt(&self) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|extensions| extensions.ext.is_some() || extensions.khr.is_some())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct BufferViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<IgnoredAny>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    pub(super) byte_length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node may be three bytes of a file, with its comma.
    #[test]
    fn nodes_are_small() {
        assert!(size_of::<Node>() <= 64, "{}", size_of::<Node>());
    }
}
