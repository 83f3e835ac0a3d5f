//! Mesh files as strangers write them, and what is written of them.

use serde_json::Value;

use super::Folder;

/// The names, volumes and centres of the hulls that the program sees in a file.
fn hulls(folder: &Folder, file: &str) -> Vec<(String, f64)> {
    let value: Value = serde_json::from_str(&folder.run(&format!("hull {file} --json")).good()).unwrap();
    let hulls = value["hulls"].as_array().unwrap().iter();
    hulls.map(|hull| (hull["name"].as_str().unwrap().to_owned(), hull["volume"].as_f64().unwrap())).collect()
}

/// A tetrahedron of this side as statements of OBJ.
fn tetrahedron(side: f64, end: &str) -> String {
    let lines = [
        "v 0 0 0".to_owned(),
        format!("v {side} 0 0"),
        format!("v 0 {side} 0"),
        format!("v 0 0 {side}"),
        "f -4 -2 -3".to_owned(),
        "f -4 -3 -1".to_owned(),
        "f -4 -1 -2".to_owned(),
        "f -3 -2 -1".to_owned(),
    ];
    lines.map(|line| line + end).concat()
}

/// A scene of nodes with these names, a tetrahedron of side 3 each, whose buffer is `a.bin`.
fn scene(names: &[&str]) -> String {
    let nodes: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(i, name)| serde_json::json!({ "name": name, "mesh": 0, "translation": [7 * i, 0, 0] }))
        .collect();
    let roots: Vec<usize> = (0..names.len()).collect();
    serde_json::json!({
        "asset": { "version": "2.0" }, "scenes": [{ "nodes": roots }], "nodes": nodes,
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 12 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 144 }], "buffers": [{ "byteLength": 144, "uri": "a.bin" }],
    })
    .to_string()
}

/// The buffer of [`scene`].
fn buffer() -> Vec<u8> {
    let corners = [[0.0f32; 3], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]];
    let faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    faces.iter().flat_map(|&corner: &usize| corners[corner]).flat_map(f32::to_le_bytes).collect()
}

/// A file whose lines end with carriage returns was one point.
#[test]
fn carriage_returns_end_lines() {
    let folder = Folder::new();
    for end in ["\r", "\r\n", "\n"] {
        folder.write("a.obj", tetrahedron(3.0, end));
        assert_eq!(hulls(&folder, "a.obj"), [("a".to_owned(), 4.5)], "{end:?}");
    }
}

#[test]
fn groups_are_hulls_where_there_are_no_objects() {
    let folder = Folder::new();
    let text = format!("g near\n{}g far\n{}", tetrahedron(3.0, "\n"), tetrahedron(6.0, "\n"));
    folder.write("a.obj", &text).write("b.obj", format!("o all\n{text}"));
    assert_eq!(hulls(&folder, "a.obj"), [("near".to_owned(), 4.5), ("far".to_owned(), 36.0)]);
    assert_eq!(hulls(&folder, "b.obj"), [("all".to_owned(), 36.0)]);
}

/// Names had line ends that became statements, and backslashes that joined lines.
#[test]
fn written_names_read_back() {
    let folder = Folder::new();
    let names = ["a\nv 9 9 9", "D:\\x\\", " b ", "#c", "", "d\r\no e", "plain"];
    folder.write("a.gltf", scene(&names)).write("a.bin", buffer());
    let read = hulls(&folder, "a.gltf");
    assert_eq!(read, names.map(|name| (name.to_owned(), 4.5)));
    folder.run("hull a.gltf --out out.obj").good();
    assert_eq!(hulls(&folder, "out.obj"), read);
    folder.run("hull out.obj --out again.obj").good();
    assert_eq!(folder.read("again.obj"), folder.read("out.obj"));
}

#[test]
fn a_buffer_is_a_regular_file_beside_its_scene() {
    let folder = Folder::new();
    folder.write("a.bin", [buffer(), vec![9; 1000]].concat());
    folder.write("a.gltf", scene(&["a"]));
    assert_eq!(hulls(&folder, "a.gltf"), [("a".to_owned(), 4.5)]);
    for uri in ["/dev/zero", "../a.bin", "file:///dev/zero", "%2e%2e/a.bin"] {
        folder.write("a.gltf", scene(&["a"]).replace("a.bin", uri));
        let message = folder.run("hull a.gltf").bad();
        assert!(message.ends_with("is not a file beside it"), "{message}");
    }
    folder.write("a.gltf", scene(&["a"]).replace("a.bin", "."));
    folder.run("hull a.gltf").bad();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.write("a.gltf", scene(&["a"]).replace("a.bin", "folder"));
    let message = folder.run("hull a.gltf").bad();
    assert!(message.ends_with("folder: cannot be read: it is no regular file"), "{message}");
    // A pipe would be waited for.
    #[cfg(unix)]
    if std::process::Command::new("mkfifo")
        .arg(folder.path("pipe"))
        .status()
        .is_ok_and(|status| status.success())
    {
        folder.write("a.gltf", scene(&["a"]).replace("a.bin", "pipe"));
        let message = folder.run("hull a.gltf").bad();
        assert!(message.ends_with("pipe: cannot be read: it is no regular file"), "{message}");
    }
}

#[test]
fn off_is_read_from_files_and_from_stdin() {
    let folder = Folder::new();
    let text = "OFF\n4 4 6\n0 0 0\n3. 0 0\n0 3 0\n0 0 3\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    folder.write("a.off", text);
    assert_eq!(hulls(&folder, "a.off"), [("a".to_owned(), 4.5)]);
    let (code, stdout, _) = folder.pipe("hull -", text.as_bytes());
    assert_eq!(code, Some(0));
    assert!(String::from_utf8(stdout).unwrap().contains("4.5"));
    folder.run("path a.off --from 0,0,0 --to 3,0,0").good();
}

#[test]
fn what_is_left_unread_is_a_warning() {
    let folder = Folder::new();
    let mut bytes = vec![b' '; 80];
    bytes.extend([1, 0, 0, 0]);
    bytes.extend([0; 12]);
    bytes.extend([0f32, 0., 0., 1., 0., 0., 0., 1., 0.].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([0; 2 + 7]);
    folder.write("a.stl", bytes);
    let run = folder.run("hull a.stl");
    let note = "a.stl: 7 bytes follow the 1 triangles that its header announces, they are not read";
    assert_eq!((run.stderr.as_str(), run.code), (format!("hullfield: warning: {note}\n").as_str(), Some(0)));
}

/// A warning or an error with a name is one line, whatever the name.
#[test]
fn names_do_not_break_messages() {
    let folder = Folder::new();
    let comment = "# hullfield name: \"far\\n\\u001baway\"\n";
    let cube: String = (0..8)
        .map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { "100001.1" } else { "100000.1" }).join(" "))
        .map(|row| format!("v {row}\n"))
        .collect();
    let plain = tetrahedron(3.0, "\n");
    folder.write("a.obj", format!("o x\n{comment}{cube}o x\n{comment}{cube}o plain\n{plain}"));
    folder.write("bodies.csv", "hull,x,y,z\nplain,0,0,0\n");
    let run = folder.run("collide --backend cpu --hulls a.obj --bodies bodies.csv");
    let warnings = run.stderr.matches("hullfield: warning: ").count();
    assert!(warnings == 3 && !run.stderr.contains('\u{1b}'), "{run:?}");
    assert!(
        run.stderr.lines().filter(|line| line.contains("away")).all(|line| line.starts_with("hullfield: ")),
        "{run:?}"
    );
    folder.write("a.obj", format!("o x\n{comment}v 1 1 1\no y\n{comment}"));
    let run = folder.run("hull a.obj");
    assert_eq!(
        run.stderr,
        "hullfield: warning: a.obj: line 4: object \"far??away\" has no points, it is left out\n"
    );
}

/// A replaced file was readable to all.
#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_to_nowhere_is_an_error_before_any_work() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("a.obj", tetrahedron(3.0, "\n")).write("o.obj", "old").write("bad.obj", "v 0 0\n");
    std::fs::set_permissions(folder.path("o.obj"), PermissionsExt::from_mode(0o600)).unwrap();
    folder.run("hull a.obj --out o.obj").good();
    assert_eq!(std::fs::metadata(folder.path("o.obj")).unwrap().permissions().mode() & 0o777, 0o600);
    std::os::unix::fs::symlink("none/x.obj", folder.path("l.obj")).unwrap();
    // The input is bad too, and was not read.
    let message = folder.run("hull bad.obj --out l.obj").bad();
    assert!(message.starts_with("l.obj: cannot be written: "), "{message}");
    assert!(std::fs::symlink_metadata(folder.path("l.obj")).unwrap().is_symlink());
    let long = "x".repeat(300);
    let message = folder.run(&format!("hull bad.obj --out {long}.obj")).bad();
    assert!(message.contains(".obj: cannot be written: "), "{message}");
}
