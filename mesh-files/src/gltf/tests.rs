//! Tests of the reader of glTF.

use super::*;

fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    super::read(name, bytes, &|name, _| Err(Error::new(format!("asked for {name}"))))
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
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0].iter().flat_map(|v| v.to_le_bytes()),
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
    // The text is read as f64.
    assert_eq!(model.points()[..3], [[0., 0., 5.], [-0.1, 0., 5.], [-0.9, 9., 14.]]);
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
    assert_eq!(other, format!("a.gltf: {}", extensions::DRACO));
    let other = error_of(text.replace("Required\":[", "Required\":[\"EXT_meshopt_compression\","));
    assert_eq!(other, format!("a.gltf: {}", extensions::MESHOPT));
    let other = error_of(text.replace("Required\":[", "Required\":[\"CESIUM_RTC\","));
    assert_eq!(other, "a.gltf: it requires the extension \"CESIUM_RTC\", which is not read");
    let words = error_of(text.replace("5123", "5125"));
    assert_eq!(
        words,
        "a.gltf: mesh 0, primitive 0: positions are three 32-bit floats, or by KHR_mesh_quantization three integers \
         of 8 or 16 bits; these are Vec3 of U32"
    );
    let past = error_of(text.replace("\"count\":3", "\"count\":4"));
    assert_eq!(
        past,
        "a.gltf: mesh 0, primitive 0: accessor 0: its numbers reach past the end of their buffer, or there are none"
    );
}

#[test]
fn strips_and_fans_become_triangles() {
    let of = |mode, corners: &[u32]| triangles(mode, corners).collect::<Vec<_>>();
    assert_eq!(of(Mode::Strip, &[0, 1, 2, 3]), [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(of(Mode::Fan, &[0, 1, 2, 3]), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(of(Mode::NoFaces, &[0, 1, 2, 3]), [[0; 3]; 0]);
    assert_eq!(of(Mode::Fan, &[]), [[0; 3]; 0]);
}

#[test]
fn errors_name_their_place() {
    let error_of = |text: &str| read("a.gltf", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error_of(&scene(54, [0, 1, 4])),
        "a.gltf: mesh 0, primitive 0: index 4 does not exist, there are 4 positions"
    );
    assert_eq!(
        error_of(&scene(64, [0, 1, 2])),
        "a.gltf: mesh 0, primitive 0: buffer 0 has 54 bytes, 64 expected"
    );
    assert!(error_of("{\n\"asset\": 3 x\n}").contains("line 2"), "{}", error_of("{\n\"asset\": 3 x\n}"));
    let cut = |bytes: &[u8]| read("a.glb", bytes).unwrap_err().to_string();
    let header = b"glTF\x02\0\0\0\x40\x01\0\0";
    assert_eq!(cut(header), "a.glb: a GLB of 320 bytes by its header, this file has 12: it is cut short");
    assert_eq!(cut(&header[..9]), "a.glb: a GLB of 12 bytes by its header, this file has 9: it is cut short");
    let past = scene(54, [0, 1, 2]).replace("\"count\":4", "\"count\":5");
    assert_eq!(
        error_of(&past),
        "a.gltf: mesh 0, primitive 0: accessor 0: its numbers reach past the end of their buffer, or there are none"
    );
}

/// A file under construction: numbers that accessors name.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Builder {
    fn view(&mut self, bytes: impl IntoIterator<Item = u8>) -> usize {
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        let begin = self.bytes.len();
        self.bytes.extend(bytes);
        let length = self.bytes.len() - begin;
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{begin},"byteLength":{length}}}"#));
        self.views.len() - 1
    }

    fn accessor(
        &mut self,
        bytes: impl IntoIterator<Item = u8>,
        component: u32,
        shape: &str,
        count: usize,
    ) -> usize {
        let view = self.view(bytes);
        self.accessors.push(format!(
            r#"{{"bufferView":{view},"componentType":{component},"type":"{shape}","count":{count}}}"#
        ));
        self.accessors.len() - 1
    }

    fn floats(&mut self, shape: &str, count: usize, values: &[f32]) -> usize {
        self.accessor(values.iter().flat_map(|value| value.to_le_bytes()), 5126, shape, count)
    }

    fn file(&self, rest: &str) -> String {
        let (views, accessors, length) = (self.views.join(","), self.accessors.join(","), self.bytes.len());
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"bufferViews":[{views}],"accessors":[{accessors}],
            "buffers":[{{"byteLength":{length},"uri":"data:;base64,{}"}}],{rest}}}"#,
            encoded(&self.bytes)
        )
    }

    fn points(&self, rest: &str) -> Vec<[f64; 3]> {
        read("a.gltf", self.file(rest).as_bytes()).unwrap().points
    }

    fn error(&self, rest: &str) -> String {
        read("a.gltf", self.file(rest).as_bytes()).unwrap_err().to_string()
    }
}

/// A right triangle of side 1 in the plane z = 0.
const TRIANGLE: [f32; 9] = [0., 0., 0., 1., 0., 0., 0., 1., 0.];

/// A file of a triangle and these nodes.
fn with_nodes(nodes: &str) -> (Builder, String) {
    let mut builder = Builder::default();
    builder.floats("VEC3", 3, &TRIANGLE);
    let rest =
        format!(r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{nodes}]"#);
    (builder, rest)
}

#[track_caller]
fn assert_near(found: &[[f64; 3]], expected: &[[f64; 3]]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

/// The armature has scale 0.1, the inverse bind matrices 10; the node's own translation is ignored.
#[test]
fn a_skinned_mesh_is_where_its_joints_put_it() {
    let mut builder = Builder::default();
    builder.floats("VEC3", 3, &TRIANGLE);
    let bind: Vec<f32> = (0..2)
        .flat_map(|_| {
            (0..16).map(|i| {
                if i == 15 {
                    1.
                } else if i % 5 == 0 {
                    10.
                } else {
                    0.
                }
            })
        })
        .collect();
    let bind = builder.floats("MAT4", 2, &bind);
    let joints = builder.accessor([0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0], 5121, "VEC4", 3);
    let weights = builder.floats("VEC4", 3, &[1., 0., 0., 0., 0.5, 0.5, 0., 0., 1., 0., 0., 0.]);
    let file = |primitive: &str, skin: &str| {
        format!(
            r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0{primitive}}}}}]}}],
            "skins":[{{"joints":[2,3]{skin}}}],
            "nodes":[{{"scale":[0.1,0.1,0.1],"children":[1,2]}},{{"mesh":0,"skin":0,"translation":[70,0,0]}},
            {{"name":"hip","children":[3]}},{{"name":"knee","translation":[40,0,0]}}]"#
        )
    };
    let sets = format!(r#","JOINTS_0":{joints},"WEIGHTS_0":{weights}"#);
    let inverse = format!(r#","inverseBindMatrices":{bind}"#);
    let both = file(&sets, &inverse);
    // The knee is 4 from the hip: the second point follows it half, the third wholly.
    assert_near(&builder.points(&both), &[[0., 0., 0.], [3., 0., 0.], [4., 1., 0.]]);
    assert_near(&builder.points(&file(&sets, "")), &[[0., 0., 0.], [2.1, 0., 0.], [4., 0.1, 0.]]);
    // Without the skin the node's transform counts.
    let plain = both.replace(r#""skin":0,"#, "");
    assert_near(&builder.points(&plain), &[[7., 0., 0.], [7.1, 0., 0.], [7., 0.1, 0.]]);
    let at = "a.gltf: mesh 0, primitive 0: ";
    assert_eq!(
        builder.error(&file("", "")),
        format!("{at}its node has a skin, and it has no JOINTS_0 and WEIGHTS_0")
    );
    assert_eq!(
        builder.error(&both.replace(r#""joints":[2,3]"#, r#""joints":[2]"#)),
        format!("{at}vertex 1: joint 1 does not exist, its skin has 1")
    );
    assert_eq!(
        builder.error(&both.replace(r#""joints":[2,3]"#, r#""joints":[2,9]"#)),
        "a.gltf: skin 0: node 9 does not exist"
    );
    let mut wrong = Builder::default();
    wrong.floats("VEC3", 3, &TRIANGLE);
    wrong.floats("MAT4", 2, &[1.; 32]);
    wrong.accessor([0; 12], 5121, "VEC4", 3);
    wrong.floats("VEC4", 3, &[1., 0., 0., 0., 0.25, 0., 0., 0., 1., 0., 0., 0.]);
    assert_eq!(
        wrong.error(&file(&sets, "")),
        format!("{at}vertex 1: the weights of its joints add up to 0.25, they must to 1")
    );
}

/// Only `extensionsUsed` names the extension.
#[test]
fn instances_are_objects() {
    let mut builder = Builder::default();
    builder.floats("VEC3", 3, &TRIANGLE);
    let places = builder.floats("VEC3", 2, &[0., 0., 0., 7., 0., 0.]);
    let half = 0.5f32.sqrt();
    let turns = builder.floats("VEC4", 2, &[0., 0., 0., 1., 0., 0., half, half]);
    let sizes = builder.floats("VEC3", 2, &[1., 1., 1., 2., 2., 2.]);
    let short = builder.accessor([0, 0, 0, 127, 0, 0, 90, 90], 5120, "VEC4", 2);
    builder.accessors[short] = builder.accessors[short].replace("}", r#","normalized":true}"#);
    let file = |attributes: &str| {
        format!(
            r#""extensionsUsed":["EXT_mesh_gpu_instancing"],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "nodes":[{{"mesh":0,"translation":[0,0,1],"extensions":{{"EXT_mesh_gpu_instancing":{{"attributes":{{{attributes}}}}}}}}}]"#
        )
    };
    let plain = [[0., 0., 1.], [1., 0., 1.], [0., 1., 1.]];
    let placed = format!(r#""TRANSLATION":{places},"_ID":9"#);
    let moved = [[7., 0., 1.], [8., 0., 1.], [7., 1., 1.]];
    assert_near(&builder.points(&file(&placed)), &[plain, moved].concat());
    let mesh = read("a.gltf", builder.file(&file(&placed)).as_bytes()).unwrap();
    assert_eq!(mesh.point_sets().len(), 2);
    for turns in [turns, short] {
        let all = format!(r#""TRANSLATION":{places},"ROTATION":{turns},"SCALE":{sizes}"#);
        assert_near(
            &builder.points(&file(&all)),
            &[plain, [[7., 0., 1.], [7., 2., 1.], [5., 0., 1.]]].concat(),
        );
    }
    assert_eq!(
        builder.error(&file(r#""_ID":1"#)),
        "a.gltf: node 0: its instances (EXT_mesh_gpu_instancing) have no places"
    );
    assert_eq!(
        builder.error(&file(&format!(r#""TRANSLATION":{places},"SCALE":0"#))),
        "a.gltf: node 0: the places of its instances differ in number"
    );
    assert_eq!(
        builder.error(&file(&format!(r#""ROTATION":{places}"#))),
        "a.gltf: node 0: an instance: ROTATION is Vec4 of floats"
    );
}

#[test]
fn morph_targets_are_added_by_their_weights() {
    let mut builder = Builder::default();
    builder.floats("VEC3", 3, &TRIANGLE);
    builder.floats("VEC3", 3, &[0., 0., 2., 0., 0., 0., 0., 0., 0.]);
    builder.floats("VEC3", 3, &[0., 0., 0., 8., 0., 0., 0., 0., 0.]);
    let file = |mesh: &str, node: &str| {
        format!(
            r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"targets":[{{"POSITION":1}},{{"POSITION":2}},{{}}]}}]{mesh}}}],
            "nodes":[{{"mesh":0{node}}}]"#
        )
    };
    let of = |a: f64, b: f64| [[0., 0., 2. * a], [1. + 8. * b, 0., 0.], [0., 1., 0.]];
    let weights = r#","weights":[0.5,0,1]"#;
    assert_near(&builder.points(&file("", "")), &of(0., 0.));
    assert_near(&builder.points(&file(weights, "")), &of(0.5, 0.));
    assert_near(&builder.points(&file(weights, r#","weights":[0,-0.25,0]"#)), &of(0., -0.25));
    assert_eq!(
        builder.error(&file(r#","weights":[1,2]"#, "")),
        "a.gltf: mesh 0, primitive 0: 2 weights for 3 morph targets"
    );
}

#[test]
fn a_rotation_has_length_one() {
    let (builder, unit) = with_nodes(r#"{"mesh":0,"rotation":[0,0,0.70710,0.70710]}"#);
    let turned = [[0., 0., 0.], [0., 1., 0.], [-1., 0., 0.]];
    let found = builder.points(&unit);
    assert!(
        found.iter().flatten().zip(turned.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-12),
        "{found:?}"
    );
    for (rotation, length) in
        [("[0,0,1,1]", "1.414214"), ("[0,0,0,0]", "0.000000"), ("[0,0.5,0,0]", "0.500000")]
    {
        let (builder, rest) = with_nodes(&format!(r#"{{"mesh":0,"rotation":{rotation}}}"#));
        let message =
            format!("a.gltf: node 0: its rotation has length {length}, it must be 1 to within 0.001");
        assert_eq!(builder.error(&rest), message);
    }
    let (builder, both) =
        with_nodes(r#"{"mesh":0,"scale":[1,1,1],"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}"#);
    assert_eq!(builder.error(&both), "a.gltf: node 0: it has a matrix, and translation, rotation or scale");
    let (builder, perspective) = with_nodes(r#"{"mesh":0,"matrix":[1,0,0,0.5,0,1,0,0,0,0,1,0,0,0,0,1]}"#);
    assert_eq!(builder.error(&perspective), "a.gltf: node 0: the last row of its matrix is not 0, 0, 0, 1");
}

#[test]
fn nodes_are_trees_of_any_depth() {
    let chain: Vec<String> =
        (1..60_000).map(|child| format!(r#"{{"translation":[0.5,0,0],"children":[{child}]}}"#)).collect();
    let (builder, rest) = with_nodes(&format!("{},{{\"mesh\":0}}", chain.join(",")));
    assert_eq!(builder.points(&rest)[0], [29_999.5, 0.0, 0.0]);
    for (nodes, message) in [
        (
            r#"{"children":[1]},{"children":[0]}"#,
            "its nodes are not a tree: node 0 is in its scene and a child of a node",
        ),
        (
            r#"{"children":[1,2]},{"children":[2]},{"mesh":0}"#,
            "its nodes are not a tree: node 2 is a child twice",
        ),
        (r#"{"children":[1,1]},{"mesh":0}"#, "its nodes are not a tree: node 1 is a child twice"),
        (r#"{"children":[5]},{"mesh":0}"#, "node 5 does not exist, there are 2"),
        (r#"{"mesh":4}"#, "mesh 4 does not exist, there are 1"),
        (r#"{"mesh":0,"skin":0}"#, "skin 0 does not exist, there are 0"),
        (r#"{"children":[1]},{}"#, "no node of its scene has a mesh"),
    ] {
        let (builder, rest) = with_nodes(nodes);
        assert_eq!(builder.error(&rest), format!("a.gltf: {message}"));
    }
    let (builder, rest) = with_nodes(r#"{"mesh":0},{"mesh":0}"#);
    let twice = builder.file(&rest).replace(r#""nodes":[0]"#, r#""nodes":[0,1,0]"#);
    assert_eq!(
        read("a.gltf", twice.as_bytes()).unwrap_err().to_string(),
        "a.gltf: node 0 is in its scene twice"
    );
}

/// A few bytes of JSON name a mesh, or make an accessor of many zeros.
#[test]
fn what_nodes_place_is_bounded_by_the_bytes_of_the_file() {
    let mut builder = Builder::default();
    builder.accessors.push(r#"{"componentType":5126,"type":"VEC3","count":4000000000}"#.to_owned());
    let nodes = r#""meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}]"#;
    let message = builder.error(nodes);
    let what = "a.gltf: mesh 0, primitive 0: accessor 0: 4000000000 zeros that no buffer has: ";
    assert!(message.starts_with(what) && message.ends_with(" bytes may have 65536"), "{message}");
    let mut builder = Builder::default();
    builder.accessors.push(r#"{"componentType":5126,"type":"VEC3","count":60000}"#.to_owned());
    let children: Vec<String> = (1..1000).map(|child| child.to_string()).collect();
    let nodes = format!(
        r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{{"children":[{}]}}{}]"#,
        children.join(","),
        r#",{"mesh":0}"#.repeat(999),
    );
    let message = builder.error(&nodes);
    assert!(message.starts_with("a.gltf: its nodes place meshes of 59940000 corners in all"), "{message}");
    // Zeros are points like others where there are few.
    builder.accessors[0] = builder.accessors[0].replace("60000", "3");
    assert_eq!(builder.points(&nodes).len(), 2997);
}

#[test]
fn sparse_accessors_are_read() {
    let mut builder = Builder::default();
    let plain = builder.view(TRIANGLE.iter().flat_map(|value| value.to_le_bytes()));
    let places = builder.view([0, 2]);
    let values = builder.view([0f32, 0., 4., 0., 3., 0.].iter().flat_map(|value| value.to_le_bytes()));
    let indices = builder.view([0u16, 0, 0].iter().flat_map(|index| index.to_le_bytes()));
    let index_places = builder.view([1u8, 2]);
    let index_values = builder.view([1u16, 2].iter().flat_map(|index| index.to_le_bytes()));
    let sparse = |count: usize, places: usize, values: usize| {
        format!(
            r#""sparse":{{"count":{count},"indices":{{"bufferView":{places},"componentType":5121}},"values":{{"bufferView":{values}}}}}"#
        )
    };
    let positions = |view: &str, sparse: &str| {
        format!(r#"{{{view}"componentType":5126,"type":"VEC3","count":3,{sparse}}}"#)
    };
    let view = format!(r#""bufferView":{plain},"#);
    builder.accessors = vec![
        positions(&view, &sparse(2, places, values)),
        format!(
            r#"{{"bufferView":{indices},"componentType":5123,"type":"SCALAR","count":3,{}}}"#,
            sparse(2, index_places, index_values)
        ),
    ];
    let rest =
        r#""meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],"nodes":[{"mesh":0}]"#;
    let mesh = read("a.gltf", builder.file(rest).as_bytes()).unwrap();
    assert_eq!((mesh.points, mesh.corners), (vec![[0., 0., 4.], [1., 0., 0.], [0., 3., 0.]], vec![0, 1, 2]));
    // Without a buffer the others are zeros.
    builder.accessors[0] = positions("", &sparse(2, places, values));
    assert_eq!(builder.points(rest), [[0., 0., 4.], [0., 0., 0.], [0., 3., 0.]]);
    let reversed = builder.view([2, 0]);
    builder.accessors[0] = positions("", &sparse(2, reversed, values));
    let message = "a.gltf: accessor 0: its sparse indices do not increase, or reach past its count";
    assert_eq!(builder.error(rest), message.replace("accessor", "mesh 0, primitive 0: accessor"));
    builder.accessors[0] = positions("", &sparse(9, places, values));
    assert!(
        builder.error(rest).ends_with("its numbers reach past the end of their buffer, or there are none")
    );
}

#[test]
fn what_no_shape_needs_is_not_read() {
    let (builder, rest) = with_nodes(r#"{"mesh":0,"extensions":{"X_lod":{"ids":[7]}}}"#);
    let plain = builder.points(&rest);
    for more in [
        r#""textures":[{"extensions":{"KHR_texture_basisu":{"source":3}}}],"images":[{"uri":"none.ktx2"}]"#,
        r#""materials":[{"pbrMetallicRoughness":"none"}],"animations":[{}],"cameras":7"#,
        r#""extensionsRequired":["KHR_texture_transform","KHR_materials_unlit","EXT_texture_webp","KHR_lights_punctual"]"#,
        r#""extras":{"deep":[[[[]]]]}"#,
    ] {
        let text = builder.file(&format!("{more},{rest}"));
        assert_eq!(read("a.gltf", text.as_bytes()).unwrap().points, plain, "{more}");
        let marked = format!("\u{feff}{text}");
        assert_eq!(read("a.gltf", marked.as_bytes()).unwrap().points, plain);
        assert_eq!(read("a.glb", &binary(marked.as_bytes())).unwrap().points, plain);
        let longer = [&binary(text.as_bytes())[..], b"more"].concat();
        let longer = read("a.glb", &longer).unwrap();
        assert_eq!(longer.notes(), ["a.glb: 4 bytes follow the end of the GLB, they are not read"]);
    }
    // A buffer that only pictures use is not asked for.
    let text =
        builder.file(&rest).replace(r#""buffers":["#, r#""buffers":[{"byteLength":4,"uri":"none.bin"},"#);
    let text = text.replace(r#""buffer":0"#, r#""buffer":1"#);
    assert_eq!(read("a.gltf", text.as_bytes()).unwrap().points, plain);
}

#[test]
fn other_versions_and_compression_are_named() {
    let error_of = |text: &str| read("a.gltf", text.as_bytes()).unwrap_err().to_string();
    for (text, message) in [
        (r#"{"asset":{"version":"1.0"},"meshes":{"a":{}}}"#, "it is glTF 1.0, glTF 2.0 is read"),
        (r#"{"asset":{"version":1}}"#, "it is glTF 1.0, glTF 2.0 is read"),
        (r#"{"asset":{"version":[]}}"#, "line 1, column 23: a version is a text"),
        (r#"{"asset":{"version":"1.1"}}"#, "it is glTF 1.1, glTF 2.0 is read"),
        (r#"{"asset":{"version":"2.3","minVersion":"2.2"}}"#, "it is glTF 2.2, glTF 2.0 is read"),
        (r#"{"type":"FeatureCollection"}"#, "JSON without \"asset\": it is not glTF 2.0"),
        (r#"{"asset":{"version":"2.0"}}"#, "it has no scene"),
        (r#"{"asset":{"version":"2.0"},"scene":1,"scenes":[{}]}"#, "scene 1 does not exist, there are 1"),
    ] {
        assert_eq!(error_of(text), format!("a.gltf: {message}"));
    }
    let old = [&b"glTF\x01\0\0\0\x14\0\0\0"[..], &[0; 8]].concat();
    assert_eq!(read("a.glb", &old).unwrap_err().to_string(), "a.glb: it is glTF 1.0, glTF 2.0 is read");
    // Positions that only Draco has.
    let mut builder = Builder::default();
    builder.accessors.push(r#"{"componentType":5126,"type":"VEC3","count":3}"#.to_owned());
    let draco = r#""meshes":[{"primitives":[{"attributes":{"POSITION":0},"extensions":{"KHR_draco_mesh_compression":{}}}]}],"nodes":[{"mesh":0}]"#;
    assert_eq!(builder.error(draco), format!("a.gltf: mesh 0, primitive 0: {}", extensions::DRACO));
    builder.accessors.clear();
    builder.floats("VEC3", 3, &TRIANGLE);
    assert_eq!(builder.points(draco).len(), 3);
    // A view whose bytes are elsewhere, and one with a copy that is not compressed.
    let (builder, rest) = with_nodes(r#"{"mesh":0}"#);
    let meshopt = builder
        .file(&rest)
        .replace(r#""byteLength":36}"#, r#""byteLength":36,"extensions":{"EXT_meshopt_compression":{}}}"#);
    assert_eq!(read("a.gltf", meshopt.as_bytes()).unwrap().points.len(), 3);
    let begin = meshopt.find(r#","uri""#).unwrap();
    let end = meshopt[begin..].find('}').unwrap() + begin;
    let without = format!("{}{}", &meshopt[..begin], &meshopt[end..]);
    assert!(error_of(&without).ends_with(extensions::MESHOPT), "{}", error_of(&without));
}

/// One file is read once, and no more of it than the largest buffer claims.
#[test]
fn buffers_beside_the_scene_are_read_once() {
    let (mut builder, rest) = with_nodes(r#"{"mesh":0,"children":[1]},{"mesh":1}"#);
    builder.floats("VEC3", 3, &TRIANGLE);
    let text = builder.file(&rest);
    let begin = text.find(r#""buffers":["#).unwrap();
    let end = text[begin..].find("}]").unwrap() + begin + 2;
    let buffers =
        r#""buffers":[{"byteLength":36,"uri":"part%20s/a.bin"},{"byteLength":72,"uri":"./part s//a.bin"}]"#;
    let text = format!("{}{buffers}{}", &text[..begin], &text[end..]);
    let text = text.replace(r#"{"buffer":0,"byteOffset":36"#, r#"{"buffer":1,"byteOffset":36"#);
    let text =
        text.replace(r#"}]}],"nodes""#, r#"}]},{"primitives":[{"attributes":{"POSITION":1}}]}],"nodes""#);
    let asked = std::cell::RefCell::new(Vec::new());
    let beside = |name: &str, most: u64| {
        asked.borrow_mut().push((name.to_owned(), most));
        Ok(builder.bytes.clone())
    };
    let mesh = super::read("a.gltf", text.as_bytes(), &beside).unwrap();
    assert_eq!(mesh.points.len(), 6);
    assert_eq!(*asked.borrow(), [("part s/a.bin".to_owned(), 72)]);
    let outside = text.replace("part%20s/a.bin", "/dev/zero");
    let found = super::read("a.gltf", outside.as_bytes(), &beside).unwrap_err().to_string();
    assert!(found.ends_with("\"/dev/zero\" is not a file beside it"), "{found}");
}
