//! `hull`: meshes and point sets in; a table, JSON and OBJ out.

use super::{Folder, box_obj, fast_backend};

#[test]
fn the_table_names_each_hull() {
    let folder = Folder::new();
    folder.write("box.obj", box_obj());
    folder.write("flat.csv", "hull,x,y,z\nsquare,0,0,0\nsquare,1,0,0\nneedle,0,0,0\nsquare,1,1,0\nsquare,0,1,0\nneedle,0,0,2\ndot,1,1,1\n");
    let table = folder.run("hull box.obj flat.csv").good();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["name", "points", "vertices", "faces", "dimension", "radius", "volume", "error"]);
    assert_eq!(rows[1], ["box", "8", "8", "6", "solid", "0.866025", "1", "0"]);
    assert_eq!(rows[2][..5], ["square", "4", "4", "2", "polygon"]);
    assert_eq!(rows[3][..5], ["needle", "2", "2", "0", "segment"]);
    assert_eq!(rows[4][..5], ["dot", "1", "1", "0", "point"]);
}

#[test]
fn the_obj_reads_back_with_its_faces_outward() {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("more.csv", "hull,x,y,z\nedge,0,0,0\nedge,1,2,3\ndot,4,4,4\n");
    folder.run("hull box.obj more.csv --out hulls.obj").good();
    let text = folder.read("hulls.obj");
    let mut vertices: Vec<[f32; 3]> = Vec::new();
    let mut face_count = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "v" => vertices.push([1, 2, 3].map(|i| words[i].parse().unwrap())),
            "f" => {
                face_count += 1;
                let corner = |i: usize| vertices[words[i].parse::<usize>().unwrap() - 1];
                let (a, b, c) = (corner(1), corner(2), corner(3));
                let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
                let normal =
                    [0, 1, 2].map(|i| u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]);
                // The box is centred at the origin, so an outward normal points away from it.
                assert!((0..3).map(|i| normal[i] * a[i]).sum::<f32>() > 0.0, "{line}");
            }
            _ => {}
        }
    }
    assert_eq!(face_count, 6);
    let again = folder.run("hull hulls.obj --json").good();
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    let names: Vec<&str> =
        again["hulls"].as_array().unwrap().iter().map(|hull| hull["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["box", "edge", "dot"]);
    assert_eq!(again["hulls"][0]["vertices"], 8);
    assert_eq!(again["hulls"][1]["dimension"], "segment");
}

#[test]
fn a_hull_is_simplified_to_at_most_max_vertices() {
    let folder = Folder::new();
    let mut text = "hull,x,y,z\n".to_owned();
    for i in 0..200 {
        let z = 1.0 - (2 * i + 1) as f64 / 200.0;
        let (sin, cos) = (i as f64 * 2.399_963).sin_cos();
        let around = (1.0 - z * z).sqrt();
        text.push_str(&format!("ball,{},{},{z}\n", around * cos, around * sin));
    }
    folder.write("ball.csv", text);
    let json = folder.run("hull ball.csv --max-vertices 32 --json").good();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let hull = &json["hulls"][0];
    assert_eq!(hull["points"], 200);
    assert!(hull["vertices"].as_u64().unwrap() <= 32, "{hull}");
    let error = hull["error"].as_f64().unwrap();
    assert!(error > 1e-3 && error < 0.5, "{hull}");
}

/// The warnings among the lines of stderr, where `collide` also writes its summary.
fn warnings(stderr: &str) -> Vec<&str> {
    stderr.split_inclusive('\n').filter(|line| line.starts_with("hullfield: warning: ")).collect()
}

/// The corners of a cube as OBJ statements. `of` writes a coordinate.
fn cube_obj(name: &str, of: impl Fn(usize, bool) -> String) -> String {
    let mut text = format!("o {name}\n");
    for i in 0..8 {
        let [x, y, z] = [0, 1, 2].map(|k| of(k, i >> k & 1 == 1));
        text.push_str(&format!("v {x} {y} {z}\n"));
    }
    text
}

/// Coordinates that f32 cannot represent. Each silently became a point, a segment or a wrong box.
#[test]
fn far_tiny_and_huge_shapes_keep_their_coordinates() {
    let cases: [(&str, [&str; 2], f64, f64); 6] = [
        ("far", ["1000000000000", "1000000000001"], 0.75f64.sqrt(), 1.0),
        ("fine", ["1", "1.000000001"], 0.75f64.sqrt() * 1e-9, 1e-27),
        ("tiny", ["-1e-160", "1e-160"], 3f64.sqrt() * 1e-160, f64::NAN),
        ("subnormal", ["0", "1e-310"], f64::NAN, f64::NAN),
        ("huge", ["-1e300", "1e300"], 3f64.sqrt() * 1e300, f64::NAN),
        ("plain", ["-0.1", "0.1"], 3f64.sqrt() * 0.1, 0.008),
    ];
    for (name, [low, high], radius, volume) in cases {
        let folder = Folder::new();
        folder.write("a.obj", cube_obj(name, |_, is_high| (if is_high { high } else { low }).to_owned()));
        let run = folder.run("hull a.obj --json --out hull.obj");
        assert_eq!(run.stderr, "", "{name}");
        let json: serde_json::Value = serde_json::from_str(&run.good()).unwrap();
        let hull = &json["hulls"][0];
        assert_eq!(
            (&hull["vertices"], &hull["faces"], &hull["dimension"]),
            (&8.into(), &6.into(), &"solid".into())
        );
        for (field, expected) in [("radius", radius), ("volume", volume)] {
            match hull[field].as_f64() {
                Some(found) => assert!((found / expected - 1.0).abs() < 1e-6, "{name}: {field} {found:e}"),
                None => assert!(expected.is_nan() && hull[field].is_null(), "{name}: {hull}"),
            }
        }
        // The corners are equal, number by number.
        let corners = |text: &str| {
            let rows = text.lines().filter_map(|line| line.strip_prefix("v "));
            rows.flat_map(|row| row.split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<f64>>())
                .collect::<Vec<f64>>()
        };
        assert_eq!(corners(&folder.read("hull.obj")), corners(&folder.read("a.obj")), "{name}");
        let table = folder.run("hull a.obj").good();
        assert!(!table.contains("inf") && !table.contains("NaN"), "{table}");
    }
}

/// Coordinates are written in full, although the hull is built in f32.
#[test]
fn hulls_are_written_with_the_digits_of_the_file() {
    let folder = Folder::new();
    folder.write("a.obj", "v 0.123456789012345 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1e-7\nv 0.1 0.1 0\n");
    folder.run("hull a.obj --out hull.obj").good();
    let text = folder.read("hull.obj");
    assert!(text.contains("\nv 0.123456789012345 0 0\n") && text.contains("\nv 0 0 1e-7\n"), "{text}");
}

/// `collide` uses hulls in f32, so it refuses such files.
#[test]
fn collide_refuses_a_hull_that_f32_cannot_represent() {
    let folder = Folder::new();
    let line = format!("collide --backend {} --hulls a.obj --bodies bodies.csv", fast_backend());
    folder.write("bodies.csv", "hull,x,y,z\ncube,0,0,0\ncube,0.5,0,0\n");
    let write = |low: &str, high: &str| {
        let of = |k: usize, is_high: bool| match (k, is_high) {
            (1, true) => high.to_owned(),
            (1, false) => low.to_owned(),
            (_, true) => "1".to_owned(),
            (_, false) => "0".to_owned(),
        };
        folder.write("a.obj", cube_obj("cube", of));
    };
    write("1000000000000", "1000000000001");
    assert_eq!(
        folder.run(&line).bad(),
        "a.obj: hull \"cube\": along y it is 1e0 long, in f32 0e0: rounding moves its points by up to 4.10e3; give it about \
         its own origin, and its place to the bodies"
    );
    // A different origin would not help.
    folder
        .write("a.obj", cube_obj("cube", |_, is_high| if is_high { "1e-160" } else { "-1e-160" }.to_owned()));
    assert!(folder.run(&line).bad().ends_with("; give it larger, and the bodies a scale"));
    write("1", "1e39");
    assert_eq!(
        folder.run(&line).bad(),
        "a.obj: hull \"cube\": point 2: 1e39 is too large for a 32-bit float"
    );
    // A partial loss is a warning.
    write("100000.1", "100001.1");
    let run = folder.run(&line);
    assert!(run.stderr.starts_with("hullfield: warning: a.obj: hull \"cube\": along y it is "), "{run:?}");
    assert_eq!(warnings(&run.stderr).len(), 1, "{run:?}");
    assert_eq!(run.good(), "a,b,status\n0,1,penetrating\n");
    for (low, high) in [("0.1", "1.1"), ("1000", "1001"), ("1.1", "1.1")] {
        write(low, high);
        let run = folder.run(&line);
        assert_eq!((warnings(&run.stderr).len(), run.code), (0, Some(0)), "{run:?}");
    }
    // The whole hull is too small; so is its radius, for the library.
    folder.write("a.obj", cube_obj("cube", |_, is_high| (if is_high { "1e-160" } else { "0" }).to_owned()));
    assert!(
        folder.run(&line).bad().starts_with("a.obj: hull \"cube\": along x it is 1e-160 long, in f32 0e0: ")
    );
    folder
        .write("a.obj", cube_obj("cube", |_, is_high| (if is_high { "1e-38" } else { "-1e-38" }).to_owned()));
    let message = folder.run(&line).bad();
    assert!(message.starts_with("a.obj: hull \"cube\": bounding radius is 1.73"), "{message}");
    assert!(message.ends_with("e-38, it must be from 1e-36 to 1e38"), "{message}");
}

#[test]
fn equal_names_are_numbered_and_an_empty_object_is_left_out_with_a_warning() {
    let folder = Folder::new();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    folder.write(
        "car.obj",
        format!("o Wheels\n{tetrahedron}o Wheels\n{tetrahedron}o none\ng x\no Body\n{tetrahedron}"),
    );
    folder.write("more.obj", format!("o Wheels\n{tetrahedron}"));
    let names = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let left_out = "hullfield: warning: car.obj: line 11: object \"none\" has no points, it is left out\n";
    let run = folder.run("hull car.obj more.obj --out hulls.obj");
    assert_eq!(run.stderr, left_out);
    assert_eq!(names(&run.good()), ["Wheels", "Wheels.1", "Body", "Wheels.2"]);
    let again = folder.run("hull hulls.obj");
    assert_eq!(again.stderr, "");
    assert_eq!(names(&again.good()), ["Wheels", "Wheels.1", "Body", "Wheels.2"]);
    // Bodies refer to these names, so renaming is a warning.
    folder.write("bodies.csv", "hull,x,y,z\nWheels.1,0,0,0\nBody,0.1,0,0\n");
    let run = folder
        .run(&format!("collide --backend {} --hulls car.obj more.obj --bodies bodies.csv", fast_backend()));
    let taken = |file: &str, name: &str| {
        format!("hullfield: warning: {file}: the name \"Wheels\" is taken, this one is called \"{name}\"\n")
    };
    assert_eq!(
        warnings(&run.stderr).concat(),
        left_out.to_owned() + &taken("car.obj", "Wheels.1") + &taken("more.obj", "Wheels.2")
    );
    assert_eq!(run.good(), "a,b,status\n0,1,penetrating\n");
    folder.write("none.obj", "v 0 0 0\nf 1 1 1\no none\n");
    assert_eq!(names(&folder.run("hull none.obj").good()), ["none"]);
    folder.write("none.obj", "v 0 0 0\no a\no b\n");
    assert_eq!(folder.run("hull none.obj").bad(), "none.obj: line 2: object \"a\" has no points");
    folder.write("none.stl", "solid a\nendsolid a\nsolid b\nendsolid b\n");
    assert_eq!(folder.run("hull none.stl").bad(), "none.stl: line 1: object \"a\" has no points");
}
