//! `hullfield path`.

use std::path::PathBuf;

use crate::{Folder, assert_no_output, box_obj};

/// Queries on the box of half extent 0.5: from one side to the top, within a side, and from a point far from the surface.
const QUERIES: &str = "x0,y0,z0,x1,y1,z1\n0.5,0,0,0,0.5,0\n0.5,-0.25,0,0.5,0.25,0\n9.5,0,0,0.5,0,0.25\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("q.csv", QUERIES);
    folder
}

/// The meshes of the public corpus; empty without it.
fn corpus() -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("HULLFIELD_CORPUS") else {
        eprintln!("HULLFIELD_CORPUS is not set: only built-in meshes are tested");
        return Vec::new();
    };
    let entries = std::fs::read_dir(PathBuf::from(corpus).join("meshes")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_method_finds_the_path_around_an_edge() {
    let folder = folder();
    for method in ["funnel", "geodesic", "exact", "geodesic --tolerance 0", "geodesic --tolerance inf"] {
        folder.run(&format!("path box.obj --queries q.csv --method {method} --out out.csv")).good();
        let out = folder.read("out.csv");
        let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows[0], ["length", "status", "snap0", "snap1", "ambiguous0", "ambiguous1"]);
        assert_eq!(rows[1][1..], ["reached", "0", "0", "0", "0"], "{method}");
        assert_eq!(rows[3][1..], ["reached", "9", "0", "0", "0"], "{method}");
        let expected = [1.0, 0.5, 0.25];
        for (row, length) in rows[1..].iter().zip(expected) {
            assert!((row[0].parse::<f64>().unwrap() - length).abs() < 1e-12, "{method}: {row:?}");
        }
    }
}

#[test]
fn points_have_normals_and_the_faces_they_lie_on() {
    let folder = folder();
    folder.run("path box.obj --from 0.5,0,0 --to 0,0.5,0 --points points.csv").good();
    let text = folder.read("points.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("query,i,x,y,z,nx,ny,nz,model,face"));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    assert_eq!(rows[0][2..8], [0.5, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(rows[rows.len() - 1][2..8], [0.0, 0.5, 0.0, 0.0, 1.0, 0.0]);
    // The faces of the sides +x and +y, in the order of the file.
    assert!([2.0, 3.0].contains(&rows[0][9]) && [6.0, 7.0].contains(&rows[rows.len() - 1][9]));
    let over = rows.iter().find(|row| row[2] == 0.5 && row[3] == 0.5).unwrap();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert!((over[5] - half).abs() < 1e-12 && (over[6] - half).abs() < 1e-12, "{over:?}");
}

#[test]
fn json_holds_the_surface_and_the_answers() {
    let folder = folder();
    let value = json(&folder.run("path box.obj --queries q.csv --json").good());
    assert_eq!(value["models"], serde_json::json!([{ "file": "box.obj", "faces": 12 }]));
    assert_eq!(value["surface"]["triangles"], 12);
    assert_eq!(value["surface"]["islands"], 1);
    assert_eq!(value["found"]["boundary_edges"], 0);
    assert_eq!(value["counts"]["queries"], 3);
    assert_eq!(value["counts"]["reached"], 3);
    assert_eq!(value["paths"][2]["snaps"], serde_json::json!([9.0, 0.0]));
    let paths = value["paths"].as_array().unwrap();
    for path in paths {
        assert_eq!(path["points"].as_array().unwrap().len(), path["faces"].as_array().unwrap().len());
        assert_eq!(path["points"].as_array().unwrap().len(), path["normals"].as_array().unwrap().len());
    }
    for stage in ["read", "build", "paths"] {
        assert!(value["times_ms"][stage].as_f64().unwrap() >= 0.0);
    }
    let value = json(&folder.run("path box.obj --queries q.csv --json --out out.csv").good());
    assert_eq!(value.get("paths"), None);
}

/// Two faces beside one that is as long as both: nothing goes across, and the report says where.
#[test]
fn vertices_on_edges_that_they_are_not_joined_to_are_reported() {
    let folder = folder();
    let points = "v 0 0 0\nv 3 0 0\nv 3 6 0\nv 0 6 0\nv 3 2.5 0\nv 7 0 0\nv 7 2.5 0\nv 7 6 0\n";
    let faces = "f 1 2 3 4\nf 2 6 7 5\nf 5 7 8 3\n";
    // A stray face far away makes the surface large, and hides nothing.
    let stray = "v 1e7 0 0\nv 1e7 1 0\nv 1e7 0 1\nf 9 10 11\n";
    folder.write("t.obj", format!("{points}{faces}")).write("far.obj", format!("{points}{faces}{stray}"));
    for file in ["t.obj", "far.obj"] {
        let value = json(&folder.run(&format!("path {file} --from 1,1,0 --to 6,1,0 --json")).good());
        let expected = serde_json::json!([{ "vertex": 4, "edge": [1, 2], "distance": 0.0 }]);
        assert_eq!(value["found"]["t_junctions"], expected, "{file}");
        let text = folder.run(&format!("path {file}")).good();
        let line =
            text.lines().find(|line| line.starts_with("vertices on edges that they are not joined to "));
        assert!(line.is_some_and(|line| line.split_whitespace().next_back() == Some("1")), "{text}");
    }
    let value = json(&folder.run("path box.obj --json").good());
    assert_eq!(value["found"]["t_junctions"], serde_json::json!([]));
}

#[test]
fn paths_avoid_triangles_that_are_not_walkable() {
    let folder = folder();
    // From side +x to side +y: without --slope over their edge.
    let ask = |more: &str| {
        let text = folder.run(&format!("path box.obj --from 0.5,0,0 --to 0,0.5,0 --json {more}")).good();
        let path = json(&text)["paths"][0].clone();
        (path["status"].as_str().unwrap().to_owned(), path["length"].as_f64())
    };
    let (status, length) = ask("");
    assert!(status == "reached" && (length.unwrap() - 1.0).abs() < 1e-12);
    // Only the top is flat enough, so the start snaps to its edge.
    let (status, length) = ask("--slope 45");
    assert!(status == "reached" && (length.unwrap() - 0.5).abs() < 1e-12, "{length:?}");
    // With z up, side +z is the top and the only one that is walkable.
    let (status, length) = ask("--slope 45 --up 0,0,1");
    assert!(status == "reached" && (length.unwrap() - 0.5f64.sqrt()).abs() < 1e-12, "{length:?}");
    assert_eq!(ask("--slope 45 --max-snap 0.1").0, "start off the mesh");
    // Every side but +x and +y is blocked.
    folder.write("faces.csv", "face\n0\n1\n4\n5\n8\n9\n10\n11\n");
    let (status, _) = ask("--blocked faces.csv");
    assert_eq!(status, "reached");
    folder.write("all.csv", "model,face\n0,0\n0,1\n0,2\n0,3\n0,4\n0,5\n0,6\n0,7\n0,8\n0,9\n0,10\n0,11\n");
    assert_eq!(ask("--blocked all.csv").0, "start off the mesh");
    let out = folder.run("path box.obj --queries q.csv --blocked all.csv --out out.csv").good();
    assert!(out.contains("0 of 3 goals reached"), "{out}");
    assert!(folder.read("out.csv").contains("inf,start off the mesh,,,,\n"), "{}", folder.read("out.csv"));
}

#[test]
fn several_models_are_one_surface() {
    let folder = folder();
    // A sheet that shares an edge with the box, and one apart.
    folder
        .write("sheet.obj", "v 0.5 -0.5 -0.5\nv 0.5 -0.5 0.5\nv 2.5 -0.5 0.5\nv 2.5 -0.5 -0.5\nf 1 2 3 4\n");
    folder.write("far.obj", "v 9 0 0\nv 10 0 0\nv 9 0 1\nf 1 2 3\n");
    let ask = "--from 0.5,0,0 --to 2.5,-0.5,0 --points p.csv";
    let text = folder.run(&format!("path box.obj sheet.obj far.obj {ask} --json")).good();
    let value = json(&text);
    assert_eq!(value["surface"]["islands"], 2);
    // The shared edge has three triangles.
    assert_eq!(value["found"]["non_manifold_edges"], 1);
    assert!((value["paths"][0]["length"].as_f64().unwrap() - 2.5).abs() < 1e-12);
    assert!(folder.read("p.csv").lines().last().unwrap().ends_with(",1,0"), "{}", folder.read("p.csv"));
    let text = folder.run("path box.obj far.obj --from 0.5,0,0 --to 9.2,0,0.2 --json").good();
    assert_eq!(json(&text)["paths"][0]["status"], "unreachable");
    // Points that are joined by --weld only.
    folder.write("loose.obj", "v 0.5 -0.50001 -0.5\nv 0.5 -0.5 0.5\nv 2.5 -0.5 0.5\nf 1 2 3\n");
    let count = |weld: &str| {
        json(&folder.run(&format!("path box.obj loose.obj --json {weld}")).good())["surface"]["islands"]
            .clone()
    };
    assert_eq!((count(""), count("--weld 1e-4")), (2.into(), 1.into()));
}

#[test]
fn links_lead_off_the_surface() {
    let folder = folder();
    folder.write("far.obj", "v 9 0 0\nv 11 0 0\nv 9 0 2\nf 1 2 3\n");
    let ask = |more: &str| {
        let arguments =
            "path box.obj far.obj --from 9.5,0,0.5 --to 0.5,0,0 --json --png path.png --size 64x64";
        json(&folder.run(&format!("{arguments} {more}")).good())["paths"][0].clone()
    };
    assert_eq!(ask("")["status"], "unreachable");
    // From the far triangle to the side of the box; the other way; and both ways at a cost.
    folder.write("there.csv", "x0,y0,z0,x1,y1,z1\n9,0,0.5,0.5,0,0.5\n");
    let path = ask("--links there.csv");
    assert!((path["length"].as_f64().unwrap() - (0.5 + 8.5 + 0.5)).abs() < 1e-12, "{path}");
    assert_eq!((&path["links"][0]["link"], &path["links"][0]["reversed"]), (&0.into(), &false.into()));
    folder.write("back.csv", "x0,y0,z0,x1,y1,z1\n0.5,0,0.5,9,0,0.5\n");
    assert_eq!(ask("--links back.csv")["status"], "unreachable");
    folder.write("both.csv", "x0,y0,z0,x1,y1,z1,cost,two_way\n0.5,0,0.5,9,0,0.5,2,1\n");
    let path = ask("--links both.csv");
    assert!((path["length"].as_f64().unwrap() - (0.5 + 2.0 + 0.5)).abs() < 1e-12, "{path}");
    assert_eq!(path["links"][0]["reversed"], true);
    for (text, expected) in [
        ("x0,y0,z0,x1,y1\n", "bad.csv: line 1: column z1 is missing"),
        ("x0,y0,z0,x1,y1,z1,cost\n\n1,2,3,4,5,6,-1\n", "bad.csv: line 3: "),
        (
            "x0,y0,z0,x1,y1,z1,two_way\n1,2,3,4,5,6,yes\n",
            "bad.csv: line 2, column two_way: \"yes\" is neither 0 nor 1",
        ),
        ("x0,y0,z0,x1,y1,z1\n1,2,3,4,5,inf\n", "bad.csv: line 2, column z1: \"inf\" is not finite"),
    ] {
        folder.write("bad.csv", text);
        let message = folder.run("path box.obj --links bad.csv").bad();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn one_source_serves_many_goals() {
    let folder = folder();
    folder.write("goals.csv", "x1,y1,z1\n0,0.5,0\n0.5,0.25,0\n-0.5,0,0\n");
    folder
        .run(
            "path box.obj --field-from 0.5,0,0 --queries goals.csv --out out.csv --png path.png --size 64x64",
        )
        .good();
    let text = folder.read("out.csv");
    let lengths: Vec<f64> =
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(lengths.len(), 3);
    for (length, expected) in lengths.iter().zip([1.0, 0.25, 2.0]) {
        assert!((length - expected).abs() < 1e-12, "{length}, not {expected}");
    }
    // Without goals, the distance of each vertex: corners of side +x, and of side -x.
    let text = folder.run("path box.obj --field-from 0.5,0,0 --out all.csv").good();
    assert!(text.contains("exact distances of 8 of 8 vertices"), "{text}");
    let table = folder.read("all.csv");
    assert_eq!(table.lines().next(), Some("x,y,z,distance"));
    for line in table.lines().skip(1) {
        let row: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let expected = if row[0] == 0.5 { 0.5f64.sqrt() } else { (1.5f64 * 1.5 + 0.25).sqrt() };
        assert!((row[3] - expected).abs() < 1e-12, "{row:?}");
    }
    let value = json(&folder.run("path box.obj --field-from 0.5,0,0 --to -0.5,0,0 --json").good());
    assert_eq!(value["field"]["reached_vertices"], 8);
    assert!((value["paths"][0]["length"].as_f64().unwrap() - 2.0).abs() < 1e-12);
    let error_of = |arguments: &str| folder.run(&format!("path box.obj {arguments}")).bad();
    assert!(
        error_of("--field-from 0.5,0,0 --queries q.csv").starts_with("q.csv: line 1: unknown column \"x0\"")
    );
    assert!(error_of("--field-from 0,0,0 --from 1,1,1").contains("--from"));
    assert!(error_of("--field-from 0,0,0 --method funnel").contains("exact"));
    assert!(error_of("--field-from 0,0 --to 1,1,1").contains("--field-from: \"0,0\" is not x,y,z"));
    assert_eq!(error_of("--to 1,1,1"), "--to needs --from or --field-from");
    assert_eq!(
        error_of("--field-from 1,1,1 --to 1,1,1 --queries q.csv"),
        "--to and --queries cannot be used together"
    );
}

#[test]
fn a_saved_surface_gives_the_same_answers() {
    let folder = folder();
    folder
        .write("faces.csv", "face\n4\n")
        .write("links.csv", "x0,y0,z0,x1,y1,z1,cost\n0.5,0,0.1,-0.5,0,0.1,0.1\n");
    let rules = "--slope 120 --blocked faces.csv --links links.csv --max-snap 8";
    folder
        .run(&format!("path box.obj --interval 0.4 {rules} --queries q.csv --out a.csv --save s.bin"))
        .good();
    folder.run("path s.bin --queries q.csv --out b.csv").good();
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    assert!(folder.read("a.csv").contains("start off the mesh"), "{}", folder.read("a.csv"));
    let value = json(&folder.run("path s.bin --json").good());
    assert_eq!(value["models"], serde_json::json!([{ "file": "s.bin", "faces": 12 }]));
    let error_of = |arguments: &str| folder.run(&format!("path {arguments}")).bad();
    assert!(error_of("s.bin box.obj").starts_with("s.bin: a saved surface stands alone"));
    assert!(error_of("s.bin --weld 1").starts_with("s.bin: a saved surface is built"));
    let mut bytes = std::fs::read(folder.path("s.bin")).unwrap();
    bytes[70] ^= 1;
    folder.write("s.bin", &bytes);
    assert!(error_of("s.bin").starts_with("s.bin: byte "), "{}", error_of("s.bin"));
    assert!(error_of("none.bin").starts_with("none.bin: cannot be read"));
}

#[test]
fn edges_are_cut_to_an_interval() {
    let folder = folder();
    let ask = |more: &str| json(&folder.run(&format!("path box.obj --queries q.csv --json {more}")).good());
    let (whole, cut) = (ask(""), ask("--interval 0.3"));
    assert!(cut["surface"]["triangles"].as_u64().unwrap() >= 12 * 16, "{}", cut["surface"]);
    assert_eq!(cut["surface"]["islands"], 1);
    assert!((cut["surface"]["area"].as_f64().unwrap() - 6.0).abs() < 1e-12);
    for (path, expected) in cut["paths"].as_array().unwrap().iter().zip(whole["paths"].as_array().unwrap()) {
        let [length, expected] = [path, expected].map(|path| path["length"].as_f64().unwrap());
        assert!((length - expected).abs() < 1e-12, "{length}, not {expected}");
        // The faces are numbered as in the file.
        assert!(path["faces"].as_array().unwrap().iter().all(|face| face[1].as_u64().unwrap() < 12));
    }
}

/// A tetrahedron in every format gives the same surface.
#[test]
fn each_format_gives_the_same_surface() {
    let folder = Folder::new();
    let points = [[0.0f32, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    // The exact value of an f32, so that text and binary files are equal.
    let exact = |value: f32| f64::from(value).to_string();
    let row = |p: [f32; 3]| p.map(exact).join(" ");
    let mut obj: String = points.iter().map(|&p| format!("v {}\n", row(p))).collect();
    let header = |format: &str, faces: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n{faces}\nend_header\n"
        )
    };
    let list = "element face 4\nproperty list uchar int vertex_indices";
    let mut ply = header("ascii", list) + &points.map(|p| row(p) + "\n").concat();
    let mut binary_ply = header("binary_little_endian", list).into_bytes();
    binary_ply.extend(points.iter().flatten().flat_map(|&v| f64::from(v).to_le_bytes()));
    let mut stl = vec![b' '; 80];
    stl.extend(4u32.to_le_bytes());
    let mut text_stl = "solid tetrahedron\n".to_owned();
    for face in faces {
        obj.push_str(&format!("f {} {} \\\n {}\n", face[0] + 1, face[1] + 1, face[2] + 1));
        ply.push_str(&format!("3 {} {} {}\n", face[0], face[1], face[2]));
        binary_ply.push(3);
        binary_ply.extend(face.iter().flat_map(|&corner| (corner as i32).to_le_bytes()));
        stl.extend([0; 12]);
        stl.extend(face.iter().flat_map(|&corner| points[corner]).flat_map(f32::to_le_bytes));
        stl.extend([0; 2]);
        let corners = face.map(|corner| format!("vertex {}\n", row(points[corner]))).concat();
        text_stl.push_str(&format!("facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"));
    }
    text_stl.push_str("endsolid\n");
    // A strip goes around all four: 0 2 1 3 0 2.
    let strips = "element tristrips 1\nproperty list int int vertex_indices";
    let strip_ply = header("ascii", strips) + &points.map(|p| row(p) + "\n").concat() + "7 0 2 1 3 0 2 -1\n";
    folder.write("a.obj", obj).write("a.ply", ply).write("b.ply", binary_ply).write("c.ply", strip_ply);
    folder.write("a.stl", stl).write("b.stl", text_stl);
    let ask = |file: &str| {
        let value =
            json(&folder.run(&format!("path {file} --from 0.02,0,0.5 --to 0.02,0.5,0 --json")).good());
        assert_eq!(value["surface"]["triangles"], 4, "{file}");
        assert_eq!(value["found"]["turned_edges"], 0, "{file}");
        assert_eq!(value["found"]["boundary_edges"], 0, "{file}");
        value["paths"][0]["length"].as_f64().unwrap()
    };
    let expected = ask("a.obj");
    for file in ["a.ply", "b.ply", "c.ply", "a.stl", "b.stl"] {
        assert!((ask(file) - expected).abs() < 1e-15, "{file}");
    }
}

/// The known meshes have their numbers of triangles, islands and non-manifold edges.
#[test]
fn every_mesh_of_the_corpus_loads_builds_and_answers() {
    let known = [
        ("dungeon.obj", 10133, 9, 138),
        ("fan3.obj", 3, 1, 1),
        ("nav_test.obj", 1612, 42, 0),
        ("spot.obj", 5856, 1, 0),
        ("stanford-bunny.obj", 69451, 1, 0),
    ];
    let folder = Folder::new();
    for file in corpus() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let value = json(&folder.run(&format!("path {} --json", file.display())).good());
        if let Some(&(_, triangles, islands, non_manifold)) = known.iter().find(|(known, ..)| *known == name)
        {
            assert_eq!(value["surface"]["triangles"], triangles, "{name}");
            assert_eq!(value["surface"]["islands"], islands, "{name}");
            assert_eq!(value["found"]["non_manifold_edges"], non_manifold, "{name}");
        }
        // From one corner of the bounds to the other.
        let [low, high] = [0, 1].map(|k: usize| {
            let corner = value["surface"]["bounds"][k].as_array().unwrap();
            corner.iter().map(|part| part.as_f64().unwrap().to_string()).collect::<Vec<_>>().join(",")
        });
        let text = folder.run(&format!("path {} --from {low} --to {high} --json", file.display())).good();
        let path = &json(&text)["paths"][0];
        assert!(["reached", "unreachable"].contains(&path["status"].as_str().unwrap()), "{name}: {path}");
    }
}

/// Lengths that another program computed on a mesh of the corpus. A reader that rounds coordinates would fail.
#[test]
fn exact_lengths_are_those_of_another_program() {
    let Some(corpus) = std::env::var_os("HULLFIELD_CORPUS").map(PathBuf::from) else { return };
    let folder = Folder::new();
    let mesh = corpus.join("meshes/spot.obj");
    let text = std::fs::read_to_string(&mesh).unwrap();
    let points: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("v "))
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(","))
        .collect();
    let known = std::fs::read_to_string(corpus.join("geodesics/spot.csv")).unwrap();
    let known: Vec<(usize, usize, f64)> = known
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[2].parse().unwrap())
        })
        .collect();
    let rows: String = known.iter().map(|&(a, b, _)| format!("{},{}\n", points[a], points[b])).collect();
    folder.write("q.csv", format!("x0,y0,z0,x1,y1,z1\n{rows}"));
    folder.run(&format!("path {} --queries q.csv --method exact --out out.csv", mesh.display())).good();
    let out = folder.read("out.csv");
    assert_eq!(out.lines().count(), known.len() + 1);
    for (line, (a, b, exact)) in out.lines().skip(1).zip(known) {
        let length: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert!((length - exact).abs() <= 1e-9 * exact, "{a} to {b}: {length}, not {exact}");
    }
}

#[test]
fn bad_input_is_named() {
    let folder = folder();
    let error_of = |arguments: &str| folder.run(&format!("path {arguments}")).bad();
    assert!(error_of("").contains("MESH"));
    assert!(error_of("nothing.obj").starts_with("nothing.obj: cannot be read"));
    assert!(error_of("q.csv").starts_with("q.csv: unknown format"));
    assert!(error_of("box.obj --from 0,0,0").contains("--to"));
    assert_eq!(error_of("box.obj --from 0,0 --to 1,1,1"), "--from: \"0,0\" is not x,y,z");
    assert_eq!(error_of("box.obj --from 0,0,x --to 1,1,1"), "--from: \"x\" is not a number");
    assert_eq!(
        error_of("box.obj --from 0,0,0 --to 1,1e400,1"),
        "--to: 1e400 is too large for a 64-bit float"
    );
    assert!(error_of("box.obj --weld -1").contains("-1 is below zero"));
    assert!(error_of("box.obj --interval 0").contains("above 0"));
    assert!(error_of("box.obj --interval -1").contains("-1 is below zero"));
    assert!(error_of("box.obj --interval 1e-9").contains("interval"));
    assert!(error_of("box.obj --slope 181").contains("181 is not from 0 to 180"));
    assert!(error_of("box.obj --slope 5 --up 0,0,0").contains("up"));
    assert!(error_of("box.obj --method best").contains("best"));
    assert!(error_of("box.obj --tolerance -1").contains("-1 is below zero"));
    assert!(error_of("box.obj --tolerance -inf").contains("not finite"));
    assert!(error_of("box.obj --tolerance nan").contains("not a number from 0 to inf"));
    assert!(error_of("box.obj --tolerance small").contains("not a number"));
    for other in ["--method exact", "--method funnel", "--field-from 0,0,0"] {
        let expected = "--tolerance applies to --method geodesic only";
        assert_eq!(error_of(&format!("box.obj --tolerance 0.1 {other}")), expected);
    }
    assert!(error_of("box.obj --queries q.csv --from 0,0,0 --to 1,1,1").contains("cannot be used with"));
    for (text, expected) in [
        ("x0,y0,z0,x1,y1\n", "bad.csv: line 1: column z1 is missing"),
        ("x0,y0,z0,x1,y1,z1\n1,2,3,4,5,six\n", "bad.csv: line 2, column z1: \"six\" is not a number"),
        ("x0,y0,z0,x1,y1,z1\n1,2,nan,4,5,6\n", "bad.csv: line 2, column z0: \"nan\" is not finite"),
        ("x0,y0,z0,x1,y1,z1\n1,2,3\n", "bad.csv: line 2, column x1: missing"),
    ] {
        folder.write("bad.csv", text);
        let message = error_of("box.obj --queries bad.csv --out out.csv");
        assert!(message.starts_with(expected), "{message}");
    }
    for (text, expected) in [
        ("face\n12\n", "bad.csv: line 2, column face: face 12 does not exist, model 0 has 12"),
        ("model,face\n1,0\n", "bad.csv: line 2, column model: model 1 does not exist, there are 1"),
        ("face\n-1\n", "bad.csv: line 2, column face: \"-1\" is not a whole number from 0 to 4294967295"),
        ("triangle\n1\n", "bad.csv: line 1: unknown column \"triangle\""),
    ] {
        folder.write("bad.csv", text);
        let message = error_of("box.obj --blocked bad.csv");
        assert!(message.starts_with(expected), "{message}");
    }
    folder.write("faces.csv", "face\n1\n").write("again.obj", box_obj());
    assert!(error_of("box.obj again.obj --blocked faces.csv").contains("column model is missing"));
    for (name, text, expected) in [
        (
            "a.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
            "a.obj: line 4, column 7: vertex 4 does not exist, there are 3",
        ),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "a.obj: it has no faces"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 2\n", "a.obj: a surface needs at least one triangle"),
        ("a.obj", "v 0 0 0\nv 1e80 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj: point 1: position is (1e80"),
        ("a.obj", "", "a.obj: the file is empty"),
        ("a.stl", "solid a\nendsolid a\n", "a.stl: it has no faces"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n",
            "a.ply: it has no faces",
        ),
    ] {
        folder.write(name, text);
        let message = error_of(name);
        assert!(message.starts_with(expected), "{message}");
    }
    assert_no_output(&folder, &folder.path("out.csv"));
}

#[test]
fn the_picture_shows_the_path() {
    let folder = folder();
    let arguments = "path box.obj --from 0.5,0,0 --to 0,0.5,0 --size 96x64 --png";
    folder.run(&format!("{arguments} path.png")).good();
    let bytes = std::fs::read(folder.path("path.png")).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&bytes[16..24], [0, 0, 0, 96, 0, 0, 0, 64]);
    folder.run(&format!("{arguments} again.png")).good();
    assert!(bytes == std::fs::read(folder.path("again.png")).unwrap());
    let message = folder.run(&format!("{arguments} no/where.png")).bad();
    assert!(message.starts_with("no/where.png: cannot be written"), "{message}");
}

/// A U-shaped face, and one that crosses itself.
#[test]
fn a_path_stays_inside_a_concave_face_and_a_self_crossing_face_is_a_warning() {
    let folder = Folder::new();
    let u = "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 2 3 0\nv 2 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nf 1 2 3 4 5 6 7 8\n";
    folder.write("u.obj", u);
    let run = folder.run("path u.obj --from 0.5,3,0 --to 2.5,3,0 --method exact --json");
    assert_eq!(run.stderr, "");
    let json: serde_json::Value = serde_json::from_str(&run.good()).unwrap();
    let length = json["paths"][0]["length"].as_f64().unwrap();
    assert!((length - (1.0 + 2.0 * 4.25f64.sqrt())).abs() < 1e-12, "{length}");
    assert_eq!(json["found"]["not_simple"], serde_json::json!([]));
    let tie = "v 9 0 0\nv 10 1 0\nv 10 0 0\nv 9 1 0\nf 9 10 11 12\n";
    folder.write("tie.obj", format!("{u}{tie}"));
    let warning = |file: &str, face: &str| {
        format!("hullfield: warning: {file}: face {face}: where it crosses itself, a path may leave it\n")
    };
    let run = folder.run("path u.obj tie.obj --from 0.5,3,0 --to 2.5,3,0 --json --save s.bin");
    assert_eq!(run.stderr, warning("tie.obj", "1 is not a simple polygon"));
    let json: serde_json::Value = serde_json::from_str(&run.good()).unwrap();
    assert_eq!(json["found"]["not_simple"], serde_json::json!([[1, 1]]));
    let run = folder.run("path s.bin --from 0.5,3,0 --to 2.5,3,0");
    assert_eq!(run.stderr, warning("s.bin", "1 of model 1 is not a simple polygon"));
    folder.write("ties.obj", format!("{u}{tie}f 10 11 12 9\n"));
    let run = folder.run("path ties.obj --from 0.5,3,0 --to 2.5,3,0");
    assert_eq!(run.stderr, warning("ties.obj", "1 is not a simple polygon (and 1 more face)"));
}

/// Two floors at one height, each a rectangle, without a shared vertex.
fn floors() -> Folder {
    let folder = Folder::new();
    folder.write("a.obj", "v 0 0 0\nv 4 0 0\nv 4 1 0\nv 0 1 0\nf 1 2 3 4\n");
    folder.write("b.obj", "v 0 -1 0\nv 8 -1 0\nv 8 2 0\nv 0 2 0\nf 1 2 3 4\n");
    folder
}

#[test]
fn a_named_face_chooses_the_floor_of_a_query() {
    let folder = floors();
    folder.write(
        "q.csv",
        "x0,y0,z0,x1,y1,z1,model0,face0,model1,face1\n\
         1,0.5,0,6,0.5,0,,,,\n1,0.5,0,6,0.5,0,0,0,,\n1,0.5,0,6,0.5,0,1,0,1,0\n1,0.5,0,3,0.5,0,0,0,,\n",
    );
    folder.run("path a.obj b.obj --queries q.csv --out out.csv").good();
    let expected = "length,status,snap0,snap1,ambiguous0,ambiguous1\n5,reached,0,0,1,0\ninf,unreachable,0,0,0,0\n\
                    5,reached,0,0,0,0\n2,reached,0,0,0,1\n";
    assert_eq!(folder.read("out.csv"), expected);
    let out = json(&folder.run("path a.obj b.obj --from 1,0.5,0 --to 3,0.5,0 --from-face 0,0 --json").good());
    assert_eq!(out["paths"][0]["ambiguous"], serde_json::json!([false, true]));
    // The faces of a field's source and its goals.
    folder.write("g.csv", "x1,y1,z1,face1,model1\n3,0.5,0,0,0\n3,0.5,0,0,1\n3,0.5,0,,\n");
    folder.run("path a.obj b.obj --field-from 1,0.5,0 --from-face 1,0 --queries g.csv --out out.csv").good();
    let expected = "length,status,snap0,snap1,ambiguous0,ambiguous1\ninf,unreachable,0,0,0,0\n2,reached,0,0,0,0\n\
                    2,reached,0,0,0,1\n";
    assert_eq!(folder.read("out.csv"), expected);
    // A start on a named face that is blocked is off the mesh.
    folder.write("blocked.csv", "model,face\n0,0\n");
    folder.write("q.csv", "x0,y0,z0,x1,y1,z1,model0,face0\n1,0.5,0,3,0.5,0,0,0\n");
    folder.run("path a.obj b.obj --queries q.csv --blocked blocked.csv --out out.csv").good();
    let expected = "length,status,snap0,snap1,ambiguous0,ambiguous1\ninf,start off the mesh,,0,,0\n";
    assert_eq!(folder.read("out.csv"), expected);
}

/// Without goals there is no column ambiguous0, so there is a warning.
#[test]
fn a_field_with_an_ambiguous_source_is_a_warning() {
    let folder = floors();
    let run = folder.run("path a.obj b.obj --field-from 1,0.5,0 --out -");
    assert!(
        run.stderr.contains("hullfield: warning: --field-from: surfaces that no edge connects"),
        "{run:?}"
    );
    assert!(!run.good().contains("inf"));
    let run = folder.run("path a.obj b.obj --field-from 1,0.5,0 --from-face 0,0 --out -");
    assert!(!run.stderr.contains("warning"), "{run:?}");
    assert!(run.good().contains("inf"));
}

#[test]
fn an_unknown_face_is_an_error_of_its_row_and_column() {
    let folder = floors();
    folder.write("flat.obj", "v 0 0 0\nv 4 0 0\nv 4 1 0\nv 2 0 0\nf 1 2 3\nf 1 4 2\n");
    for (meshes, columns, row, expected) in [
        ("a.obj b.obj", "model0,face0", "2,0", "line 3, column model0: model 2 does not exist, there are 2"),
        ("a.obj b.obj", "model0,face0", "1,7", "line 3, column face0: face 7 does not exist, model 1 has 1"),
        ("a.obj b.obj", "model1,face1", ",0", "line 3, column model1: no model is named, and there are 2"),
        ("a.obj b.obj", "face1", "0", "line 3, column model1: no model is named, and there are 2"),
        ("a.obj b.obj", "model1,face1", "1,", "line 3, column face1: empty, but model 1 is named"),
        ("a.obj", "face0", "-1", "line 3, column face0: \"-1\" is not a whole number from 0 to 4294967295"),
        (
            "a.obj",
            "face0",
            "roof",
            "line 3, column face0: \"roof\" is not a whole number from 0 to 4294967295",
        ),
        (
            "a.obj",
            "face0",
            "99999999999",
            "line 3, column face0: \"99999999999\" is not a whole number from 0 to 4294967295",
        ),
        ("a.obj", "model0", "0", "column face0 is missing"),
        (
            "flat.obj",
            "face1",
            "1",
            "line 3, column face1: face 1 of model 0, which has no area and is left out",
        ),
    ] {
        let blank = ",".repeat(columns.matches(',').count());
        folder
            .write("q.csv", format!("x0,y0,z0,x1,y1,z1,{columns}\n1,0,0,2,0,0,{blank}\n1,0,0,2,0,0,{row}\n"));
        let message = folder.run(&format!("path {meshes} --queries q.csv")).bad();
        assert!(message.contains(expected), "{columns} {row}: {message}");
    }
    for (options, expected) in [
        ("--from 1,0,0 --to 2,0,0 --from-face 0,9", "--from-face: face 9 does not exist, model 0 has 1"),
        ("--from 1,0,0 --to 2,0,0 --to-face 3,0", "--to-face: model 3 does not exist"),
        ("--from 1,0,0 --to 2,0,0 --to-face 0", "--to-face: no model is named, and there are 2"),
        ("--from 1,0,0 --to 2,0,0 --to-face x", "--to-face: \"x\" is not FACE or MODEL,FACE"),
        ("--queries q.csv --from-face 0,0", "--from-face needs --from or --field-from"),
    ] {
        let message = folder.run(&format!("path a.obj b.obj {options}")).bad();
        assert!(message.contains(expected), "{options}: {message}");
    }
}

/// A post without a bottom on a floor, which it shares no vertex with; and a strip around it, slit open by two ulps.
const POST: &str = "v 0 0 0\nv 8 0 0\nv 8 8 0\nv 0 8 0\nv 3 3 0\nv 5 3 0\nv 4 5 0\nv 3 3 2\nv 5 3 2\nv 4 5 2\n\
    f 1 2 3\nf 1 3 4\nf 5 6 9 8\nf 6 7 10 9\nf 7 5 8 10\n";
const SLIT: &str = "v 2 0 0\nv 2 0 1\nv 2 3 0\nv 2 3 1\nv 0 3 0\nv 0 3 1\nv 0 0 0\nv 0 0 1\nv 2.000000000000001 0 0\n\
    v 2.000000000000001 0 1\nf 1 3 4 2\nf 3 5 6 4\nf 5 7 8 6\nf 7 9 10 8\n";

#[test]
fn a_distance_belongs_to_a_vertex_not_to_its_place() {
    let folder = Folder::new();
    folder.write("post.obj", POST).write("slit.obj", SLIT);
    let distances = |command: &str| -> Vec<f64> {
        folder.run(command).good();
        let rows = folder.read("f.csv");
        rows.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    let found = distances("path post.obj --field-from 1,1,0 --from-face 0 --out f.csv");
    assert!(found[..4].iter().all(|distance| distance.is_finite()), "{found:?}");
    assert!(found[4..].iter().all(|distance| distance.is_infinite()), "{found:?}");
    let found = distances("path post.obj --field-from 3,3,2 --out f.csv");
    assert!((found[4] - 2.0).abs() < 1e-12 && (found[5] - 8f64.sqrt()).abs() < 1e-12, "{found:?}");
    assert!(found[0].is_infinite(), "{found:?}");
    // A position that is a vertex is that vertex.
    for source in ["--field-from 2,0,0", "--field-from 2,0,0 --from-face 0"] {
        let found = distances(&format!("path slit.obj {source} --out f.csv"));
        assert!((found[8] - 10.0).abs() < 1e-12 && (found[9] - 101f64.sqrt()).abs() < 1e-12, "{found:?}");
    }
    let source = |command: &str| json(&folder.run(command).good())["field"]["source"].clone();
    let found = source("path slit.obj --field-from 2.000000000000001,0,0 --json");
    assert_eq!(found, serde_json::json!({ "model": 0, "face": 3, "vertex": 8 }));
    let found = source("path slit.obj --field-from 2,1,0.5 --json");
    assert_eq!(found, serde_json::json!({ "model": 0, "face": 0, "vertex": null }));
    let text = folder.run("path slit.obj --field-from 2,0,0").good();
    assert!(text.contains("the source is on face 0, vertex 0"), "{text}");
    let ends = json(&folder.run("path slit.obj --from 2,0,0 --to 1,3,0.5 --json").good());
    assert_eq!(ends["paths"][0]["end_vertices"], serde_json::json!([0, null]));
}
