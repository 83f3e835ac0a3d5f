//! glTF 2.0, `.gltf` and `.glb`.
//!
//! Every node of the scene with a mesh is an object. Its name is the node's, else the mesh's, else the file's. Transforms of
//! the node and its ancestors are applied, so that each instance of a mesh is an object. Skins and morph targets are not
//! applied.

use glam::{DMat4, DVec3};
use gltf::accessor::{DataType, Dimensions};
use gltf::buffer::Source;
use gltf::json::validation::Checked;
use gltf::mesh::{Mode, Primitive, Semantic};
use gltf::{Accessor, Document, Gltf};

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::excerpt;

/// The extension for positions of 8 and 16 bits. The crate `gltf` does not read it.
const QUANTIZATION: &str = "KHR_mesh_quantization";

/// The size of the header of a binary file.
const HEADER_BYTES: u64 = 12;

/// The size of a binary file by its header, or the size of a header if the file is shorter than that.
fn binary_size(bytes: &[u8]) -> Option<u64> {
    if !bytes.starts_with(b"glTF") {
        return None;
    }
    let size = bytes.get(8..12).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
    Some(size.map_or(HEADER_BYTES, u64::from))
}

/// Parses and validates a file. Requiring [`QUANTIZATION`] is no error, as it is read here.
fn parse(name: &str, bytes: &[u8]) -> Result<Gltf> {
    // The crate's errors may have several lines, and each of a list ends in a semicolon.
    let failed = |error: gltf::Error| {
        let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Error::file(name, text.trim_end_matches(';'))
    };
    let Gltf { document, blob } = Gltf::from_slice_without_validation(bytes).map_err(failed)?;
    let mut json = document.into_json();
    json.extensions_required.retain(|name| name != QUANTIZATION);
    // The crate's validation reads the accessors of positions before it checks that they exist (gltf-json 1.4.1), and panics.
    let positions = Checked::Valid(Semantic::Positions);
    let primitives = json.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let mut accessors = primitives.filter_map(|primitive| primitive.attributes.get(&positions));
    if accessors.any(|accessor| accessor.value() >= json.accessors.len()) {
        return Err(Error::file(name, "it refers to an item that does not exist"));
    }
    Ok(Gltf { document: Document::from_json(json).map_err(failed)?, blob })
}

/// Reads a file. `beside` gives the bytes of a file beside it, by its name.
pub(crate) fn read(name: &str, bytes: &[u8], beside: &dyn Fn(&str) -> Result<Vec<u8>>) -> Result<Mesh> {
    let size = binary_size(bytes);
    // The crate subtracts the header's size before it checks.
    if size.is_some_and(|size| size < HEADER_BYTES) {
        return Err(Error::file(name, "a GLB that by its header is shorter than a header"));
    }
    if let Some(size) = size.filter(|&size| size > bytes.len() as u64) {
        let has = bytes.len();
        let message = format!("a GLB of {size} bytes by its header, this file has {has}: it is cut short");
        return Err(Error::file(name, message));
    }
    let Gltf { document, mut blob } = parse(name, bytes)?;
    let mut buffers = Vec::new();
    for buffer in document.buffers() {
        let data = match buffer.source() {
            Source::Bin => blob.take().ok_or_else(|| Error::file(name, "its binary part is missing"))?,
            Source::Uri(uri) => read_uri(name, uri, beside)?,
        };
        if data.len() < buffer.length() {
            return Err(Error::file(
                name,
                format!("buffer {} has {} bytes, {} expected", buffer.index(), data.len(), buffer.length()),
            ));
        }
        buffers.push(data);
    }
    let scene = document
        .default_scene()
        .or_else(|| document.scenes().next())
        .ok_or_else(|| Error::file(name, "it has no scene"))?;
    let mut found = Mesh::new();
    let mut stack: Vec<_> = scene.nodes().map(|node| (node, DMat4::IDENTITY)).collect();
    stack.reverse();
    let node_count = document.nodes().count();
    let mut visited_count = 0;
    while let Some((node, parent)) = stack.pop() {
        // A tree has each node once. More visits mean a cycle or a shared child.
        visited_count += 1;
        if visited_count > node_count {
            return Err(Error::file(name, "its nodes are not a tree"));
        }
        let local = node.transform().matrix().map(|column| column.map(f64::from));
        let world = parent * DMat4::from_cols_array_2d(&local);
        if let Some(mesh) = node.mesh() {
            let object = node.name().or_else(|| mesh.name()).map_or_else(|| stem(name), str::to_owned);
            found.begin(object.clone(), None);
            // A mirroring transform would turn the faces inside out.
            let is_mirrored = world.determinant() < 0.0;
            for primitive in mesh.primitives() {
                let place = format!("mesh {}, primitive {}", mesh.index(), primitive.index());
                let (points, corners) = primitive_points(name, &place, &primitive, &buffers)?;
                let base = found.points.len() as u32;
                for point in points {
                    let moved = world.transform_point3(DVec3::from_array(point)).to_array();
                    if !moved.iter().all(|part| part.is_finite()) {
                        return Err(Error::file(
                            name,
                            format!("object \"{}\": a point is not finite", excerpt(&object)),
                        ));
                    }
                    found.points.push(moved);
                }
                if primitive.mode() == Mode::Triangles && corners.len() % 3 != 0 {
                    let message =
                        format!("{place}: {} corners are no whole number of triangles", corners.len());
                    return Err(Error::file(name, message));
                }
                let faces = triangles(primitive.mode(), &corners);
                for [a, b, c] in &faces {
                    let face = if is_mirrored { [c, b, a] } else { [a, b, c] };
                    found.face(face.map(|corner| base + corner));
                }
                if faces.is_empty() {
                    found.corners.extend(corners.iter().map(|corner| base + corner));
                }
            }
        }
        let first_child = stack.len();
        stack.extend(node.children().map(|child| (child, world)));
        stack[first_child..].reverse();
    }
    if found.objects.is_empty() {
        return Err(Error::file(name, "no node of its scene has a mesh"));
    }
    found.end();
    Ok(found)
}

/// The triangles of a primitive; points and lines have none.
fn triangles(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    let of = |window: &[u32]| [window[0], window[1], window[2]];
    match mode {
        Mode::Triangles => corners.chunks_exact(3).map(of).collect(),
        Mode::TriangleStrip => {
            let oriented = |(i, [a, b, c]): (usize, [u32; 3])| if i % 2 == 0 { [a, b, c] } else { [b, a, c] };
            corners.windows(3).map(of).enumerate().map(oriented).collect()
        }
        Mode::TriangleFan => match corners.split_first() {
            Some((&first, rest)) => rest.windows(2).map(|pair| [first, pair[0], pair[1]]).collect(),
            None => Vec::new(),
        },
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => Vec::new(),
    }
}

/// The positions that a primitive uses, in the mesh's frame, and its corners as indices into them.
fn primitive_points(
    name: &str,
    place: &str,
    primitive: &Primitive<'_>,
    buffers: &[Vec<u8>],
) -> Result<(Vec<[f64; 3]>, Vec<u32>)> {
    let invalid = |message: String| Error::file(name, format!("{place}: {message}"));
    let positions =
        primitive.get(&Semantic::Positions).ok_or_else(|| invalid("it has no positions".to_owned()))?;
    if positions.data_type() == DataType::U32 || positions.dimensions() != Dimensions::Vec3 {
        return Err(invalid(format!(
            "positions are three 32-bit floats, or by {QUANTIZATION} three integers of 8 or 16 bits; these are {:?} of {:?}",
            positions.dimensions(),
            positions.data_type()
        )));
    }
    if positions.sparse().is_some() {
        return Err(invalid("sparse positions are not supported".to_owned()));
    }
    let fits = |accessor: &Accessor<'_>| {
        let Some(view) = accessor.view() else { return false };
        let bytes = buffers.get(view.buffer().index()).map_or(0, Vec::len);
        let stride = view.stride().unwrap_or_else(|| accessor.size());
        let within = accessor.count().checked_sub(1).and_then(|last| last.checked_mul(stride));
        let end =
            within.and_then(|within| within.checked_add(accessor.offset())?.checked_add(accessor.size()));
        let view_end = view.offset().checked_add(view.length());
        end.is_some_and(|end| end <= view.length()) && view_end.is_some_and(|end| end <= bytes)
    };
    if !fits(&positions) {
        return Err(invalid("its positions reach past the end of their buffer".to_owned()));
    }
    let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
    let points = positions_of(&positions, buffers);
    for (i, point) in points.iter().enumerate() {
        if let Some(axis) = (0..3).find(|&axis| !point[axis].is_finite()) {
            return Err(invalid(format!(
                "position {i}, {}: {} is not finite",
                ["x", "y", "z"][axis],
                point[axis]
            )));
        }
    }
    let Some(accessor) = primitive.indices() else {
        let corners = (0..points.len() as u32).collect();
        return Ok((points, corners));
    };
    let integer = matches!(accessor.data_type(), DataType::U8 | DataType::U16 | DataType::U32);
    if !integer
        || accessor.dimensions() != Dimensions::Scalar
        || accessor.sparse().is_some()
        || !fits(&accessor)
    {
        return Err(invalid(
            "its indices are of no valid kind, or reach past the end of their buffer".to_owned(),
        ));
    }
    let indices: Vec<u32> =
        reader.read_indices().map(|indices| indices.into_u32().collect()).unwrap_or_default();
    if let Some(index) = indices.iter().find(|&&index| index as usize >= points.len()) {
        return Err(invalid(format!("index {index} does not exist, there are {} positions", points.len())));
    }
    // Primitives may share one long list of positions; each keeps only its own.
    let mut used = indices.clone();
    used.sort_unstable();
    used.dedup();
    let points = used.iter().map(|&index| points[index as usize]).collect();
    let corners = indices.iter().map(|index| used.partition_point(|other| other < index) as u32).collect();
    Ok((points, corners))
}

/// The positions of an accessor, plain or quantized. It must lie within its buffer.
fn positions_of(accessor: &Accessor<'_>, buffers: &[Vec<u8>]) -> Vec<[f64; 3]> {
    let Some(view) = accessor.view() else { return Vec::new() };
    let bytes = buffers.get(view.buffer().index()).map_or(&[][..], Vec::as_slice);
    let (kind, stride) = (accessor.data_type(), view.stride().unwrap_or_else(|| accessor.size()));
    let begin = view.offset() + accessor.offset();
    // A normalised integer maps to 0..1 or -1..1; the lowest signed one would be below -1.
    let scaled = |value: f64, most: f64| if accessor.normalized() { (value / most).max(-1.0) } else { value };
    let part = |at: usize| -> Option<f64> {
        let word = |at: usize| Some([*bytes.get(at)?, *bytes.get(at + 1)?]);
        Some(match kind {
            DataType::I8 => scaled(f64::from(*bytes.get(at)? as i8), f64::from(i8::MAX)),
            DataType::U8 => scaled(f64::from(*bytes.get(at)?), f64::from(u8::MAX)),
            DataType::I16 => scaled(f64::from(i16::from_le_bytes(word(at)?)), f64::from(i16::MAX)),
            DataType::U16 => scaled(f64::from(u16::from_le_bytes(word(at)?)), f64::from(u16::MAX)),
            DataType::U32 => return None,
            DataType::F32 => {
                f64::from(f32::from_le_bytes(bytes.get(at..at + 4).and_then(|four| four.try_into().ok())?))
            }
        })
    };
    let size = kind.size();
    let point = |i: usize| {
        let at = begin + i * stride;
        Some([part(at)?, part(at + size)?, part(at + 2 * size)?])
    };
    (0..accessor.count()).map_while(point).collect()
}

/// The bytes of a URI: base64 data, or a file beside the scene.
fn read_uri(name: &str, uri: &str, beside: &dyn Fn(&str) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    if let Some(data) = uri.strip_prefix("data:") {
        let text = data.split_once(";base64,").map(|(_, text)| text);
        return text.and_then(base64).ok_or_else(|| Error::file(name, "a data URI is not valid base64"));
    }
    if uri.contains("://") {
        return Err(Error::file(name, format!("\"{}\" is not a file beside it", excerpt(uri))));
    }
    let file = percent_decoded(uri)
        .ok_or_else(|| Error::file(name, format!("\"{}\" is no valid URI", excerpt(uri))))?;
    beside(&file)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bit_count) = (0u32, 0);
    for symbol in text.trim_end_matches('=').bytes() {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((word >> bit_count) as u8);
        }
    }
    Some(bytes)
}

fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = tail.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
        super::read(name, bytes, &|name| Err(Error::new(format!("asked for {name}"))))
    }

    /// Text of glTF as a binary file.
    pub(crate) fn binary(text: &[u8]) -> Vec<u8> {
        let length = text.len() as u32;
        let words = [2, 20 + length, length];
        let mut bytes = b"glTF".to_vec();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(b"JSON");
        bytes.extend(text);
        bytes
    }

    /// Bytes as base64.
    fn encoded(bytes: &[u8]) -> String {
        let symbols = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let of = |chunk: &[u8]| {
            let word =
                chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
            (0..4).map(|i| symbols[(word >> (18 - 6 * i)) as usize & 63] as char).collect::<String>()
        };
        bytes.chunks(3).map(of).collect()
    }

    /// A mesh of one triangle, placed twice: scaled below a translated parent, and untransformed.
    pub(crate) fn scene(buffer_bytes: usize, indices: [u16; 3]) -> String {
        let mut bytes = Vec::new();
        bytes.extend(
            [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0]
                .iter()
                .flat_map(|v| v.to_le_bytes()),
        );
        bytes.extend(indices.iter().flat_map(|v| v.to_le_bytes()));
        let encoded = encoded(&bytes);
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0,2]}}],
            "nodes":[{{"name":"up","translation":[0,0,5],"children":[1]}},{{"name":"left","mesh":0,"scale":[2,2,2]}},{{"mesh":0}}],
            "meshes":[{{"name":"tri","primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[9,9,9]}},
            {{"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}}],
            "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":6}}],
            "buffers":[{{"byteLength":{buffer_bytes},"uri":"data:application/octet-stream;base64,{encoded}"}}]}}"#
        )
    }

    #[test]
    fn each_instance_is_a_hull_with_its_transforms_applied() {
        let file = "a.gltf";
        let mesh = read(file, scene(54, [0, 1, 2]).as_bytes()).unwrap();
        let sets = mesh.point_sets();
        assert_eq!(sets.len(), 2);
        assert_eq!(
            (sets[0].name.as_str(), &sets[0].points[..]),
            ("left", &[[0., 0., 5.], [2., 0., 5.], [0., 2., 5.]][..])
        );
        assert_eq!(
            (sets[1].name.as_str(), &sets[1].points[..]),
            ("tri", &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]][..])
        );
    }

    #[test]
    fn instances_are_faces_of_one_model_and_a_mirrored_one_still_faces_outward() {
        let file = "a.gltf";
        let text = scene(54, [3, 0, 1]).replace("\"scale\":[2,2,2]", "\"scale\":[-0.1,1,1]");
        let model = read(file, text.as_bytes()).unwrap().faces(file).unwrap().model();
        let faces: Vec<_> = (0..model.face_count()).map(|face| model.face(face).to_vec()).collect();
        assert_eq!(faces, [[1, 0, 2], [5, 3, 4]]);
        // -0.1 is an f32 in the file; the product with it is not rounded again.
        let third = f64::from(9.0_f32) * f64::from(-0.1_f32);
        assert_eq!(model.points()[..3], [[0., 0., 5.], [-f64::from(0.1_f32), 0., 5.], [third, 9., 14.]]);
    }

    /// Three points of integers, `stride` bytes apart, under a scaled and translated node.
    fn quantized(component: u32, normalized: bool, stride: usize, bytes: &[u8]) -> String {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
            "extensionsUsed":["KHR_mesh_quantization"],"extensionsRequired":["KHR_mesh_quantization"],
            "nodes":[{{"mesh":0,"scale":[2,2,2],"translation":[10,0,0]}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":{component},"normalized":{normalized},"count":3,"type":"VEC3",
            "min":[0,0,0],"max":[9,9,9]}}],
            "bufferViews":[{{"buffer":0,"byteLength":{length},"byteStride":{stride}}}],
            "buffers":[{{"byteLength":{length},"uri":"data:application/octet-stream;base64,{data}"}}]}}"#,
            length = bytes.len(),
            data = encoded(bytes),
        )
    }

    #[test]
    fn quantized_positions_are_read_as_the_extension_says() {
        let file = "a.gltf";
        let points = |text: String| read(file, text.as_bytes()).unwrap().points;
        let moved = |rows: [[f64; 3]; 3]| rows.map(|[x, y, z]| [2.0 * x + 10.0, 2.0 * y, 2.0 * z]).to_vec();
        let bytes: Vec<u8> = [[0i8, 1, 2], [-128, -127, 127], [5, -6, 64]]
            .iter()
            .flat_map(|[x, y, z]| [*x as u8, *y as u8, *z as u8, 0])
            .collect();
        let rows = [[0.0, 1.0, 2.0], [-128.0, -127.0, 127.0], [5.0, -6.0, 64.0]];
        assert_eq!(points(quantized(5120, false, 4, &bytes)), moved(rows));
        let mut normal = rows.map(|row| row.map(|part: f64| part / 127.0));
        normal[1][0] = -1.0;
        assert_eq!(points(quantized(5120, true, 4, &bytes)), moved(normal));
        let rows = [[0.0, 1.0, 2.0], [128.0, 129.0, 127.0], [5.0, 250.0, 64.0]];
        assert_eq!(points(quantized(5121, false, 4, &bytes)), moved(rows));
        assert_eq!(
            points(quantized(5121, true, 4, &bytes)),
            moved(rows.map(|row| row.map(|part: f64| part / 255.0)))
        );
        let words = [[0i16, 1, 2], [-32768, -32767, 32767], [5, -6, 640]];
        let bytes: Vec<u8> =
            words.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0x55]).flat_map(i16::to_le_bytes).collect();
        let rows = words.map(|row| row.map(f64::from));
        assert_eq!(points(quantized(5122, false, 8, &bytes)), moved(rows));
        let mut normal = rows.map(|row| row.map(|part| part / 32767.0));
        normal[1][0] = -1.0;
        assert_eq!(points(quantized(5122, true, 8, &bytes)), moved(normal));
        let rows = words.map(|row| row.map(|part| f64::from(part as u16)));
        assert_eq!(points(quantized(5123, false, 8, &bytes)), moved(rows));
        assert_eq!(
            points(quantized(5123, true, 8, &bytes)),
            moved(rows.map(|row| row.map(|part| part / 65535.0)))
        );
    }

    #[test]
    fn a_required_extension_that_is_not_read_is_named() {
        let error_of = |text: String| read("a.gltf", text.as_bytes()).unwrap_err().to_string();
        let text = quantized(5123, false, 8, &[0; 24]);
        let other = error_of(text.replace("Required\":[", "Required\":[\"KHR_draco_mesh_compression\","));
        assert!(other.ends_with("= \"KHR_draco_mesh_compression\": Unsupported extension"), "{other}");
        assert!(!other.contains(QUANTIZATION), "{other}");
        let words = error_of(text.replace("5123", "5125"));
        assert_eq!(
            words,
            "a.gltf: mesh 0, primitive 0: positions are three 32-bit floats, or by KHR_mesh_quantization three integers \
             of 8 or 16 bits; these are Vec3 of U32"
        );
        let past = error_of(text.replace("\"count\":3", "\"count\":4"));
        assert_eq!(past, "a.gltf: mesh 0, primitive 0: its positions reach past the end of their buffer");
    }

    #[test]
    fn strips_and_fans_become_triangles() {
        assert_eq!(triangles(Mode::TriangleStrip, &[0, 1, 2, 3]), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(triangles(Mode::TriangleFan, &[0, 1, 2, 3]), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(triangles(Mode::LineStrip, &[0, 1, 2, 3]), [[0; 3]; 0]);
        assert_eq!(triangles(Mode::TriangleFan, &[]), [[0; 3]; 0]);
    }

    #[test]
    fn errors_name_their_place() {
        let error_of = |text: &str| read("a.gltf", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            error_of(&scene(54, [0, 1, 4])),
            "a.gltf: mesh 0, primitive 0: index 4 does not exist, there are 4 positions"
        );
        assert_eq!(error_of(&scene(64, [0, 1, 2])), "a.gltf: buffer 0 has 54 bytes, 64 expected");
        assert!(error_of("{\n\"asset\": 3 x\n}").contains("line 2"), "{}", error_of("{\n\"asset\": 3 x\n}"));
        let cut = |bytes: &[u8]| read("a.glb", bytes).unwrap_err().to_string();
        let header = b"glTF\x02\0\0\0\x40\x01\0\0";
        assert_eq!(cut(header), "a.glb: a GLB of 320 bytes by its header, this file has 12: it is cut short");
        assert_eq!(
            cut(&header[..9]),
            "a.glb: a GLB of 12 bytes by its header, this file has 9: it is cut short"
        );
        let past = scene(54, [0, 1, 2]).replace("\"count\":4", "\"count\":5");
        assert_eq!(
            error_of(&past),
            "a.gltf: mesh 0, primitive 0: its positions reach past the end of their buffer"
        );
    }

    #[test]
    fn uris_decode() {
        assert_eq!(base64("aGk="), Some(b"hi".to_vec()));
        assert_eq!(base64("a*"), None);
        assert_eq!(percent_decoded("a%20b"), Some("a b".to_owned()));
        assert_eq!(percent_decoded("a%2"), None);
    }
}
