//! `collide`: a scene with known hits, from every mesh format and with every source of pairs.

use serde_json::Value;

use super::{BODIES, Folder, HITS, TRIANGLES, backend, box_obj, corners};

fn line(hulls: &str, extra: &str) -> String {
    format!("collide --backend {} --hulls {hulls} --bodies bodies.csv {extra}", backend())
}

fn box_csv() -> String {
    corners().iter().fold("hull,x,y,z\n".to_owned(), |text, [x, y, z]| format!("{text}box,{x},{y},{z}\n"))
}

fn box_stl_text() -> String {
    let mut text = "solid box\n".to_owned();
    for triangle in TRIANGLES {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for [x, y, z] in triangle.map(|i| corners()[i]) {
            text.push_str(&format!("vertex {x} {y} {z}\n"));
        }
        text.push_str("endloop\nendfacet\n");
    }
    text + "endsolid box\n"
}

fn box_stl_binary() -> Vec<u8> {
    let mut bytes = b"solid, but binary".to_vec();
    bytes.resize(80, 0);
    bytes.extend((TRIANGLES.len() as u32).to_le_bytes());
    for triangle in TRIANGLES {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flat_map(|&i| corners()[i]).flat_map(f32::to_le_bytes));
        bytes.extend([0; 2]);
    }
    bytes
}

fn box_ply() -> String {
    let mut text =
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n\
        element face 12\nproperty list uchar int vertex_indices\nend_header\n"
            .to_owned();
    for [x, y, z] in corners() {
        text.push_str(&format!("{x} {y} {z}\n"));
    }
    for [a, b, c] in TRIANGLES {
        text.push_str(&format!("3 {a} {b} {c}\n"));
    }
    text
}

/// The box as a glTF scene and its buffer. The mesh is scaled by 2 and translated; the nodes undo this.
fn box_gltf(buffer: &str) -> (String, Vec<u8>) {
    let mut bytes: Vec<u8> =
        corners().into_iter().flatten().map(|value| 2.0 * value + 4.0).flat_map(f32::to_le_bytes).collect();
    bytes.extend(TRIANGLES.iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()));
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"scale":[0.5,0.5,0.5],"children":[1]}},{{"name":"box","mesh":0,"translation":[-4,-4,-4]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":8,"type":"VEC3","min":[3,3,3],"max":[5,5,5]}},
        {{"bufferView":1,"componentType":5123,"count":36,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":96}},{{"buffer":0,"byteOffset":96,"byteLength":72}}],
        "buffers":[{{"byteLength":168{buffer}}}]}}"#
    );
    (json, bytes)
}

fn box_glb() -> Vec<u8> {
    let (mut json, binary) = box_gltf("");
    while json.len() % 4 != 0 {
        json.push(' ');
    }
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((12 + 8 + json.len() as u32 + 8 + binary.len() as u32).to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json.as_bytes());
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}

#[test]
fn every_format_gives_the_same_hits() {
    let folder = Folder::new();
    let (gltf, buffer) = box_gltf(r#","uri":"the%20box.bin""#);
    folder
        .write("bodies.csv", BODIES)
        .write("box.obj", box_obj())
        .write("points.csv", box_csv())
        .write("text.stl", box_stl_text())
        .write("box.STL", box_stl_binary())
        .write("box.ply", box_ply())
        .write("scene.gltf", gltf)
        .write("the box.bin", buffer)
        .write("scene.glb", box_glb());
    for hulls in ["box.obj", "points.csv", "text.stl", "box.STL", "box.ply", "scene.gltf", "scene.glb"] {
        assert_eq!(folder.run(&line(hulls, "")).good(), HITS, "{hulls}");
    }
}

#[test]
fn every_pair_gives_the_same_hits_and_given_pairs_keep_their_order() {
    let folder = Folder::new();
    folder
        .write("bodies.csv", BODIES)
        .write("box.obj", box_obj())
        .write("pairs.csv", "b,a\n2,3\n0,4\n0,1\n3,2\n2,3\n");
    assert_eq!(folder.run(&line("box.obj", "--all-pairs")).good(), HITS);
    assert_eq!(
        folder.run(&line("box.obj", "--pairs pairs.csv")).good(),
        "a,b,status\n3,2,touching\n4,0,separated\n1,0,penetrating\n2,3,touching\n3,2,touching\n"
    );
    folder.write("pairs.csv", "a,b\n");
    assert_eq!(folder.run(&line("box.obj", "--pairs pairs.csv")).good(), "a,b,status\n");
}

#[test]
fn rotation_and_scale_are_applied() {
    let folder = Folder::new();
    folder.write("box.obj", box_obj());
    // An edge at 0.707 faces a side at 0.5: separated at 1.21, penetrating at 1.20.
    let quaternion = "0,0,0.38268343,0.9238795";
    let bodies = format!(
        "hull,x,y,z,qx,qy,qz,qw,sx,sy,sz\nbox,0,0,0,{quaternion},1,1,1\nbox,1.21,0,0,0,0,0,1,1,1,1\n\
         box,0,20,0,{quaternion},1,1,1\nbox,1.20,20,0,0,0,0,1,1,1,1\nbox,0,40,0,0,0,0,1,4,1,1\nbox,2.4,40,0,0,0,0,1,1,1,1\n"
    );
    folder.write("bodies.csv", bodies);
    assert_eq!(folder.run(&line("box.obj", "")).good(), "a,b,status\n2,3,penetrating\n4,5,penetrating\n");
}

#[test]
fn with_out_the_rows_go_to_the_file_and_the_summary_to_stdout() {
    let folder = Folder::new();
    folder.write("bodies.csv", BODIES).write("box.obj", box_obj());
    let summary = folder.run(&line("box.obj", "--out out.csv")).good();
    assert_eq!(folder.read("out.csv"), HITS);
    assert!(summary.contains("hits        2 (touching 1, penetrating 1)"), "{summary}");
    let run = folder.run(&line("box.obj", ""));
    assert!(run.stderr.contains("hits        2 (touching 1, penetrating 1)"), "{run:?}");
    assert_eq!(folder.names(), ["bodies.csv", "box.obj", "out.csv"]);
}

#[test]
fn json_is_one_object() {
    let folder = Folder::new();
    folder.write("bodies.csv", BODIES).write("box.obj", box_obj());
    let object: Value = serde_json::from_str(&folder.run(&line("box.obj", "--json")).good()).unwrap();
    assert_eq!(object["engine"]["backend"], backend());
    assert_eq!(object["counts"]["bodies"], 5);
    assert_eq!(object["counts"]["hits"], 2);
    assert_eq!((&object["counts"]["touching"], &object["counts"]["penetrating"]), (&1.into(), &1.into()));
    assert_eq!(object["rows"][1]["status"], "touching");
    assert!(object["times_ms"]["total"].as_f64().unwrap() >= 0.0);
    let object: Value =
        serde_json::from_str(&folder.run(&line("box.obj", "--json --out out.csv")).good()).unwrap();
    assert_eq!((object.get("rows"), &object["out"]), (None, &"out.csv".into()));
    assert_eq!(folder.read("out.csv"), HITS);
}

#[test]
fn a_trace_ends_around_the_origin_or_away_from_it() {
    let folder = Folder::new();
    folder.write("bodies.csv", BODIES).write("box.obj", box_obj());
    let table = folder.run(&line("box.obj", "--trace 0,1 --out trace.obj")).good();
    assert!(table.starts_with("step  corners  corner"), "{table}");
    assert!(table.ends_with("bodies 0 and 1: penetrating\n"), "{table}");
    let obj = folder.read("trace.obj");
    let vertex_count = obj.lines().filter(|line| line.starts_with("v ")).count();
    for line in obj.lines().filter(|line| line.starts_with("l ")) {
        assert!(
            line.split(' ').skip(1).all(|word| (1..=vertex_count).contains(&word.parse().unwrap())),
            "{line}"
        );
    }
    assert!(obj.contains("\no step_0\n"), "{obj}");
    let object: Value =
        serde_json::from_str(&folder.run(&line("box.obj", "--trace 0,2 --json")).good()).unwrap();
    assert_eq!(object["trace"]["status"], "separated");
    assert!(object["trace"]["axis"][0].as_f64().unwrap() > 0.5, "{object}");
    // With a table as output the query runs too, and the trace goes to a file beside it.
    folder.run(&line("box.obj", "--trace 0,2 --out out.csv")).good();
    assert_eq!(folder.read("out.csv"), HITS);
    assert!(folder.read("out.trace.obj").contains("o origin"));
    let both = folder.run(&line("box.obj", "--trace 0,1 --all-pairs")).good();
    assert!(both.starts_with(&format!("{HITS}\nstep  corners")), "{both}");
}

#[test]
fn without_bodies_there_are_no_hits() {
    let folder = Folder::new();
    folder.write("bodies.csv", "hull,x,y,z\n").write("box.obj", box_obj());
    assert_eq!(folder.run(&line("box.obj", "")).good(), "a,b,status\n");
}

#[test]
fn devices_are_listed() {
    let folder = Folder::new();
    assert!(folder.run("devices").good().contains("auto takes "));
    let object: Value = serde_json::from_str(&folder.run("devices --json").good()).unwrap();
    assert!(object["adapters"].is_array());
    assert!(object["engine"]["reason"].is_string());
}

/// Half a million pairs are answered in order.
#[test]
fn half_a_million_rows_are_in_order() {
    use std::fmt::Write as _;
    let folder = Folder::new();
    let (mut bodies, mut pairs) = ("hull,x,y,z\n".to_owned(), "a,b\n".to_owned());
    for i in 0..1000 {
        writeln!(bodies, "box,{},0,0", 0.75 * i as f32).unwrap();
    }
    for i in 0..500_000u32 {
        let a = i % 999;
        writeln!(pairs, "{},{}", a, a + 1 + i / 999 % (999 - a)).unwrap();
    }
    folder.write("bodies.csv", bodies).write("box.obj", box_obj()).write("pairs.csv", pairs);
    folder.run(&line("box.obj", "--pairs pairs.csv --out out.csv")).good();
    let rows = folder.read("out.csv");
    assert_eq!(rows.lines().count(), 500_001);
    for (i, row) in rows.lines().skip(1).enumerate().step_by(997) {
        let a = i as u32 % 999;
        let b = a + 1 + i as u32 / 999 % (999 - a);
        let status = if b == a + 1 { "penetrating" } else { "separated" };
        assert_eq!(row, format!("{a},{b},{status}"));
    }
}

/// Ctrl-C ends the program at once with 130 and removes the unfinished file.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_half_written() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    let mut bodies = "hull,x,y,z\n".to_owned();
    for i in 0..60_000 {
        bodies.push_str(&format!("box,{},{},0\n", 0.9 * (i % 300) as f32, 0.9 * (i / 300) as f32));
    }
    folder.write("bodies.csv", bodies).write("box.obj", box_obj());
    let mut child = Command::new(env!("CARGO_BIN_EXE_hullfield"))
        .args(
            "collide --backend cpu --hulls box.obj --bodies bodies.csv --all-pairs --out out.csv".split(' '),
        )
        .current_dir(folder.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !folder.names().iter().any(|name| name.ends_with(".part")) {
        assert!(started.elapsed() < Duration::from_secs(30), "no file was started");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), ["bodies.csv", "box.obj"]);
}
