//! Small valid files of every format, to be changed.

use hullfield_mesh_files::Format;

/// A valid file.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
}

/// The bytes of the file `a.bin` that scenes name: four points, four triangles, weights, joints, a matrix, places.
pub(crate) static BESIDE: [u8; 328] = beside();

const fn beside() -> [u8; 328] {
    let mut bytes = [0; 328];
    let floats: [(usize, f32); 14] = [
        // Points at 0.
        (3, 1.0),
        (7, 1.0),
        (11, 1.0),
        // Weights at 96, four of one joint each.
        (24, 1.0),
        (28, 1.0),
        (32, 1.0),
        (36, 1.0),
        // A matrix at 160.
        (40, 2.0),
        (45, 2.0),
        (50, 2.0),
        (55, 1.0),
        // Places at 224, rotations at 248.
        (59, 5.0),
        (65, 1.0),
        (69, 1.0),
    ];
    let mut i = 0;
    while i < floats.len() {
        let (at, value) = floats[i];
        let value = value.to_le_bytes();
        let mut k = 0;
        while k < 4 {
            bytes[4 * at + k] = value[k];
            k += 1;
        }
        i += 1;
    }
    // Triangles at 48, joints at 80 are zeros, sparse indices at 280.
    let corners = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let mut i = 0;
    while i < corners.len() {
        bytes[48 + 2 * i] = corners[i];
        i += 1;
    }
    bytes[282] = 2;
    bytes
}

/// A scene with everything that is read: a tree, a skin, morph targets, instances and a sparse accessor.
fn scene(buffer: &str) -> String {
    let accessors = [
        r#"{"bufferView":0,"componentType":5126,"type":"VEC3","count":4}"#,
        r#"{"bufferView":0,"byteOffset":48,"componentType":5123,"type":"SCALAR","count":12}"#,
        r#"{"bufferView":0,"byteOffset":96,"componentType":5126,"type":"VEC4","count":4}"#,
        r#"{"bufferView":0,"byteOffset":80,"componentType":5121,"type":"VEC4","count":4}"#,
        r#"{"bufferView":0,"byteOffset":160,"componentType":5126,"type":"MAT4","count":1}"#,
        r#"{"bufferView":0,"byteOffset":224,"componentType":5126,"type":"VEC3","count":2}"#,
        r#"{"bufferView":0,"byteOffset":248,"componentType":5126,"type":"VEC4","count":2}"#,
        r#"{"componentType":5126,"type":"VEC3","count":4,"sparse":{"count":2,"indices":{"bufferView":0,"byteOffset":280,
            "componentType":5123},"values":{"bufferView":0,"byteOffset":288}}}"#,
    ];
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0,4]}}],"extensionsUsed":["EXT_mesh_gpu_instancing"],
        "nodes":[{{"name":"root","children":[1,2,3],"scale":[1,2,3]}},{{"mesh":0,"translation":[1,2,3],"rotation":[0,0,1,0]}},
        {{"mesh":1,"skin":0}},{{"name":"hip","matrix":[1,0,0,0,0,1,0,0,0,0,1,0,4,5,6,1]}},
        {{"mesh":0,"extensions":{{"EXT_mesh_gpu_instancing":{{"attributes":{{"TRANSLATION":5,"ROTATION":6}}}}}}}}],
        "meshes":[{{"name":"plain","weights":[0.5,0],"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,
        "targets":[{{"POSITION":7}},{{}}]}},{{"attributes":{{"POSITION":7}},"mode":0}}]}},
        {{"primitives":[{{"attributes":{{"POSITION":0,"JOINTS_0":3,"WEIGHTS_0":2}},"indices":1,"mode":5}}]}}],
        "skins":[{{"joints":[3],"inverseBindMatrices":4}}],"accessors":[{}],
        "bufferViews":[{{"buffer":0,"byteLength":328}}],"buffers":[{{"byteLength":328{buffer}}}]}}"#,
        accessors.join(",")
    )
}

fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let json = format!("{json}{}", " ".repeat(json.len().wrapping_neg() % 4));
    let length = 12 + 8 + json.len() + 8 + binary.len();
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((length as u32).to_le_bytes());
    for (kind, content) in [(b"JSON", json.as_bytes()), (b"BIN\0", binary)] {
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(content);
    }
    bytes
}

const OBJ: &str = "# by hand\r\nmtllib a.mtl\no one\nv 0 0 0 1\nv 1 0 0 255 0 0\nv 0 1 0\nv 0 0 1 # c\nvt 0 0\nf 1/1/1 -2//3 \\\n 3\nl 1 2\np 1\n\
    g group\no two\n# hullfield name: \"t\\nwo\"\nv 2 2 2\nf 1 2 3 5\no three\n";
const GROUPS: &str = "v 0 0 0\rv 1 0 0\rv 0 1 0\rg a\rf 1 2 3\rg b c\rv 4 4 4\rp 4\rg a\rl 1 2\r";
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nend loop\nendfacet\nendsolid\nsolid\n\
    endsolid\n";
const OFF: &str = "COFF\n# by hand\n4 3 0\n0 0 0 1 0 0\n1 0 0 1 0 0 1\n0 1 0 0 0 0\n0 0 1 9 9 9\n3 0 1 2\n4 0 1 2 3 0.5 0 0\n2 1 3 7\n";
const PLY: &str = "ply\nformat ascii 1.0\ncomment c\nelement vertex 4\nproperty float x\nproperty double y\nproperty int z\nelement face 2\n\
    property uchar flag\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int a\nelement tristrips 1\nproperty list int int vertex_indices\n\
    end_header\n";

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend([2, 0, 0, 0]);
    for i in 0..2u8 {
        bytes.extend([0; 12]);
        let floats = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, f32::from(i)];
        bytes.extend(floats.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn binary_ply(big: bool) -> Vec<u8> {
    let order = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = PLY.replace("ascii", order).into_bytes();
    let mut put = |number: &[u8]| {
        let number = number.iter().copied();
        if big { bytes.extend(number.rev()) } else { bytes.extend(number) }
    };
    for i in 0..4 {
        put(&(i as f32).to_le_bytes());
        put(&f64::from(i % 2).to_le_bytes());
        put(&(i / 2i32).to_le_bytes());
    }
    for face in [&[0, 1, 2][..], &[0, 1, 2, 3]] {
        put(&[7]);
        put(&[face.len() as u8]);
        face.iter().for_each(|corner: &i32| put(&corner.to_le_bytes()));
    }
    for number in [5i32, 4, 0, 1, 2, -1] {
        put(&number.to_le_bytes());
    }
    bytes
}

/// All files.
pub(crate) fn all() -> Vec<Sample> {
    let sample = |name, format, bytes: &[u8]| Sample { name, format, bytes: bytes.to_vec() };
    let text_ply = format!("{PLY}0 0 0\n1 .5 0\n0 1 0\n2 2 2\n7 3 0 1 2\n7 4 0 1 2 3\n5\n4 0 1 2 -1\n");
    let triangle = r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":
        {"POSITION":0}}]}],"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":3}],"bufferViews":[{"buffer":0,"byteLength":36}],
        "buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}"#;
    vec![
        sample("obj", Format::Obj, OBJ.as_bytes()),
        sample("obj of groups", Format::Obj, GROUPS.as_bytes()),
        sample("text stl", Format::Stl, STL.as_bytes()),
        sample("binary stl", Format::Stl, &binary_stl()),
        sample("text ply", Format::Ply, text_ply.as_bytes()),
        sample("little-endian ply", Format::Ply, &binary_ply(false)),
        sample("big-endian ply", Format::Ply, &binary_ply(true)),
        sample("off", Format::Off, OFF.as_bytes()),
        sample("gltf with data", Format::Gltf, triangle.as_bytes()),
        sample("gltf", Format::Gltf, scene(r#","uri":"a.bin""#).as_bytes()),
        sample("glb", Format::Gltf, &glb(&scene(""), &BESIDE)),
    ]
}

/// A file of so many of its shortest parts.
type Dense = fn(usize) -> Vec<u8>;

/// Files of the shortest parts that formats have.
pub(crate) fn dense() -> Vec<(&'static str, Format, Dense)> {
    vec![
        ("obj objects", Format::Obj, |count| "o\n".repeat(count).into_bytes()),
        ("obj objects of a point", Format::Obj, |count| "o\nv 0 0 0\n".repeat(count).into_bytes()),
        ("obj groups", Format::Obj, |count| format!("v 0 0 0\n{}", "g a\n".repeat(count)).into_bytes()),
        ("obj groups of a point", Format::Obj, |count| {
            let groups: String = (0..count).map(|i| format!("g {i}\np 1\n")).collect();
            format!("v 0 0 0\n{groups}").into_bytes()
        }),
        ("obj corners", Format::Obj, |count| format!("v 0 0 0\np{}\n", " 1".repeat(count)).into_bytes()),
        ("obj faces", Format::Obj, |count| format!("v 0 0 0\n{}", "f 1 1 1\n".repeat(count)).into_bytes()),
        ("obj not utf-8", Format::Obj, |count| [&b"v 0 0 0\n#"[..], &vec![0xff; count]].concat()),
        ("stl solids", Format::Stl, |count| "solid\nendsolid\n".repeat(count).into_bytes()),
        ("ply strips", Format::Ply, |count| {
            let mut bytes = "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty char x\nproperty char y\nproperty char z\n\
                element tristrips 1\nproperty list int uchar vertex_indices\nend_header\n"
            .as_bytes()
            .to_vec();
            bytes.extend([0; 9]);
            bytes.extend((count as u32).to_le_bytes());
            bytes.extend([0u8, 1, 2].iter().cycle().take(count));
            bytes
        }),
        ("ply elements", Format::Ply, |count| {
            let elements: String = (0..count).map(|i| format!("element {i} 0\n")).collect();
            format!("ply\nformat ascii 1.0\n{elements}end_header\n").into_bytes()
        }),
        ("ply properties", Format::Ply, |count| {
            let properties: String = (0..count).map(|i| format!("property char {i}\n")).collect();
            format!("ply\nformat ascii 1.0\nelement vertex 1\n{properties}end_header\n").into_bytes()
        }),
        ("ply points", Format::Ply, |count| {
            let mut bytes = format!(
                "ply\nformat binary_little_endian 1.0\nelement vertex {count}\nproperty char x\nproperty char y\nproperty char z\nend_header\n"
            )
            .into_bytes();
            bytes.extend(vec![0; 3 * count]);
            bytes
        }),
        ("off points", Format::Off, |count| format!("{count} 0\n{}", "0 0 0\n".repeat(count)).into_bytes()),
        ("gltf nodes", Format::Gltf, |count| gltf("0", &vec!["{}"; count].join(","))),
        ("gltf children", Format::Gltf, |count| {
            let children: Vec<String> = (1..count).map(|child| child.to_string()).collect();
            gltf("0", &format!("{{\"children\":[{}]}}{}", children.join(","), ",{}".repeat(count - 1)))
        }),
        ("gltf chain", Format::Gltf, |count| {
            let chain: Vec<String> = (1..count).map(|child| format!("{{\"children\":[{child}]}}")).collect();
            gltf("0", &format!("{},{{}}", chain.join(",")))
        }),
        ("gltf scenes", Format::Gltf, |count| {
            format!(r#"{{"asset":{{"version":"2.0"}},"scenes":[{}]}}"#, vec!["{}"; count].join(","))
                .into_bytes()
        }),
    ]
}

fn gltf(roots: &str, nodes: &str) -> Vec<u8> {
    format!(r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[{roots}]}}],"nodes":[{nodes}]}}"#)
        .into_bytes()
}
