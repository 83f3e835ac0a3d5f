//! Bad input of each kind: exit code 2, one line that names the place, and no output file.

use super::{BODIES, Folder, assert_no_output, box_obj, fast_backend};

/// A folder with valid files, for tests that replace one of them.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("bodies.csv", BODIES).write("pairs.csv", "a,b\n0,1\n");
    folder
}

/// The error of `collide` with `extra` flags on the folder's files. Asserts that there is no output.
#[track_caller]
fn error_of(folder: &Folder, extra: &str) -> String {
    let out = folder.path("out.csv");
    let line = format!(
        "collide --backend {} --hulls box.obj --bodies bodies.csv --out out.csv {extra}",
        fast_backend()
    );
    let message = folder.run(&line).bad();
    assert_no_output(folder, &out);
    message
}

#[test]
fn bodies() {
    let cases = [
        ("hull,x,y,z\nbox,0,0,0\nbox,nan,0,0\n", "bodies.csv: line 3, column x: \"nan\" is not finite"),
        ("hull,x,y,z\nbox,0,inf,0\n", "bodies.csv: line 2, column y: \"inf\" is not finite"),
        ("hull,x,y,z\nbox,0,0,\n", "bodies.csv: line 2, column z: \"\" is not a number"),
        ("hull,x,y,z\n,0,0,0\n", "bodies.csv: line 2, column hull: empty"),
        ("hull,x,y,z\nbox,0,0,0 m\n", "bodies.csv: line 2, column z: \"0 m\" is not a number"),
        ("hull,x,y,z,scale\nbox,0,0,0,0\n", "bodies.csv: line 2, column scale: 0 is not above zero"),
        ("hull,x,y,z,scale\nbox,0,0,0,-2\n", "bodies.csv: line 2, column scale: -2 is not above zero"),
        ("hull,x,y,z,sx,sy,sz\nbox,0,0,0,1,1,0\n", "bodies.csv: line 2, column sz: 0 is not above zero"),
        (
            "hull,x,y,z,qx,qy,qz,qw\nbox,0,0,0,0,0,0.5,0.5\n",
            "bodies.csv: line 2, column qx: qx, qy, qz, qw have length 0.707107, it must be 1 to within 0.001",
        ),
        (
            "hull,x,y,z\nball,0,0,0\n",
            "bodies.csv: line 2, column hull: no hull is called \"ball\", there are box",
        ),
        ("hull,x,y,z\nbox,0,0\n", "bodies.csv: line 2, column z: missing: the row has 3 fields, 4 expected"),
        ("hull,x,y,z\nbox,0,0,0,7\n", "bodies.csv: line 2: 5 fields, 4 expected"),
        ("hull,x,y\nbox,0,0\n", "bodies.csv: line 1: column z is missing, the columns are \"hull, x, y\""),
        ("hull,x,y,z,vx\nbox,0,0,0,nan\n", "bodies.csv: line 2, column vx: \"nan\" is not finite"),
        (
            "hull,x,y,z,wz\nbox,0,0,0,1e39\n",
            "bodies.csv: line 2, column wz: 1e39 is too large for a 32-bit float",
        ),
        ("hull,x,y,z,radius\nbox,0,0,0,-0.5\n", "bodies.csv: line 2, column radius: -0.5 is below zero"),
        (
            "hull,x,y,z,group\nbox,0,0,0,1.5\n",
            "bodies.csv: line 2, column group: \"1.5\" is not a whole number from 0 to 4294967295",
        ),
        (
            "hull,x,y,z,mask\nbox,0,0,0,4294967296\n",
            "bodies.csv: line 2, column mask: \"4294967296\" is not a whole number from 0 to 4294967295",
        ),
        ("hull,x,y,z,radius,radius\nbox,0,0,0,1,1\n", "bodies.csv: line 1: column radius is there twice"),
        ("", "bodies.csv: the file is empty"),
        ("\r\n\r\n", "bodies.csv: the file is empty"),
        // Valid numbers beyond the library's limits, as their squares overflow f32. The error names the line.
        (
            "hull,x,y,z\nbox,0,0,0\n\nbox,1e20,0,0\n",
            "bodies.csv: line 4: body 1: position is [1e20, 0.0, 0.0], each must be finite and at most 1e18 in magnitude",
        ),
        (
            "hull,x,y,z,sx,sy,sz\nbox,0,0,0,1,1e30,1\n",
            "bodies.csv: line 2: body 0: scale is [1.0, 1e30, 1.0], each must be above zero and at most 1e18",
        ),
        (
            "hull,x,y,z,radius\nbox,0,0,0,1e30\n",
            "bodies.csv: line 2: body 0: radius is 1e30, it must be from 0 to 1e18",
        ),
        (
            "hull,x,y,z,scale\nbox,0,0,0,1e-19\nbox,1,1,1,1\n",
            "bodies.csv: line 2: body 0: scale is [1e-19, 1e-19, 1e-19], it must leave the hull a radius from 1e-18 to 1e18, and the mean of its vertices \
             within 1e18 of its origin",
        ),
    ];
    let folder = folder();
    for (bodies, expected) in cases {
        folder.write("bodies.csv", bodies);
        assert_eq!(error_of(&folder, ""), expected);
    }
    folder.write("bodies.csv", "hull,x,y,z,colour\nbox,0,0,0,red\n");
    assert!(
        error_of(&folder, "")
            .starts_with("bodies.csv: line 1: unknown column \"colour\", known are hull, x, y")
    );
    folder.write("bodies.csv", b"hull,x,y,z\nbox,0,0,0\n\xff\xfe,0,0,0\n");
    assert_eq!(error_of(&folder, ""), "bodies.csv: line 3, column hull: not valid UTF-8");
    std::fs::remove_file(folder.path("bodies.csv")).unwrap();
    assert!(error_of(&folder, "").starts_with("bodies.csv: cannot be read: "));
}

#[test]
fn pairs() {
    let cases = [
        ("a,b\n0,1\n0,5\n", "pairs.csv: line 3, column b: body 5 does not exist, there are 5"),
        ("a,b\n4294967296,1\n", "pairs.csv: line 2, column a: \"4294967296\" is not a row number"),
        ("a,b\n-1,1\n", "pairs.csv: line 2, column a: \"-1\" is not a row number"),
        ("a,b\n2,2\n", "pairs.csv: line 2, column b: body 2 is paired with itself"),
        ("a,b\n0\n", "pairs.csv: line 2, column b: missing: the row has 1 fields, 2 expected"),
        ("a,c\n0,1\n", "pairs.csv: line 1: unknown column \"c\", known are a, b"),
        ("b\n0\n", "pairs.csv: line 1: column a is missing, the columns are \"b\""),
    ];
    let folder = folder();
    for (pairs, expected) in cases {
        folder.write("pairs.csv", pairs);
        assert_eq!(error_of(&folder, "--pairs pairs.csv"), expected);
    }
    assert!(error_of(&folder, "--pairs none.csv").starts_with("none.csv: cannot be read: "));
}

#[test]
fn flags() {
    let folder = folder();
    assert_eq!(error_of(&folder, "--margin 1"), "--margin means nothing to --query intersects");
    assert_eq!(error_of(&folder, "--duration 1"), "--duration means nothing to --query intersects");
    assert_eq!(
        error_of(&folder, "--query sweep --duration 1 --margin 1"),
        "--margin means nothing to --query sweep"
    );
    for query in ["distance", "contact", "manifold"] {
        assert_eq!(
            error_of(&folder, &format!("--query {query} --duration 1")),
            format!("--duration means nothing to --query {query}")
        );
        for (margin, message) in [
            ("-1", "-1 is below zero"),
            ("nan", "\"nan\" is not finite"),
            ("-inf", "\"-inf\" is not finite"),
            ("1e39", "1e39 is too large for a 32-bit float"),
            ("wide", "\"wide\" is not a number"),
        ] {
            let found = error_of(&folder, &format!("--query {query} --margin {margin}"));
            assert!(found.contains("--margin") && found.contains(message), "{found}");
        }
    }
    assert_eq!(
        error_of(&folder, "--query sweep"),
        "--query sweep needs --duration, the seconds that the bodies move"
    );
    for (duration, message) in
        [("-1", "-1 is below zero"), ("nan", "\"nan\" is not finite"), ("inf", "\"inf\" is not finite")]
    {
        let found = error_of(&folder, &format!("--query sweep --duration {duration}"));
        assert!(found.contains("--duration") && found.contains(message), "{found}");
    }
    assert_eq!(error_of(&folder, "--trace 1"), "--trace: \"1\" is not two body numbers a,b");
    assert_eq!(error_of(&folder, "--trace 1,1"), "--trace: body 1 is paired with itself");
    assert_eq!(error_of(&folder, "--trace 0,9"), "--trace: body 9 does not exist, there are 5");
    assert!(error_of(&folder, "--colour red").contains("--colour"));
    assert!(error_of(&folder, "--query touching").contains("touching"));
    assert!(error_of(&folder, "--pairs pairs.csv --all-pairs").contains("--all-pairs"));
    assert!(folder.run("collide --hulls box.obj").bad().contains("--bodies"));
    assert!(folder.run("demo --frames 0").bad().contains("--frames"));
    assert!(folder.run("demo --size 9").bad().contains("--size"));
    assert!(folder.run("dance").bad().contains("dance"));
}

#[test]
fn meshes() {
    let folder = folder();
    let cases: [(&str, &[u8], &str); 13] = [
        ("a.obj", b"v 0 0 0\nv 0 nan 0\n", "a.obj: line 2, column 5: y of a vertex: \"nan\" is not finite"),
        ("a.obj", b"v 0 0 0\nv 0 0\n", "a.obj: line 2, column 1: a vertex needs x, y and z, 2 given"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a.obj: line 2, column 7: vertex 3 does not exist, there are 1"),
        ("a.obj", b"", "a.obj: the file is empty"),
        ("a.obj", b"\x00\x01\x02", "a.obj: line 1, column 1: \"???\" is not a statement of an OBJ file"),
        (
            "a.csv",
            b"hull,x,y,z\nb,0,0,1e999\n",
            "a.csv: line 2, column z: 1e999 is too large for a 64-bit float",
        ),
        ("a.csv", b"hull,x,y,z\nb,0,-inf,0\n", "a.csv: line 2, column y: \"-inf\" is not finite"),
        ("a.csv", b"hull,x,y,z\n", "a.csv: it has no points"),
        ("a.csv", b"hull,x,y,z,w\n", "a.csv: line 1: unknown column \"w\", known are hull, x, y, z"),
        ("a.stl", b"solid a\nvertex 0 0 x\n", "a.stl: line 2, column z: \"x\" is not a number"),
        ("a.stl", b"", "a.stl: the file is empty"),
        (
            "a.xyz",
            b"",
            "a.xyz: unknown format by its extension: obj, stl, ply, off, gltf, glb or csv is read",
        ),
        ("a", b"", "a: unknown format by its extension: obj, stl, ply, off, gltf, glb or csv is read"),
    ];
    for (name, content, expected) in cases {
        folder.write(name, content);
        assert_eq!(folder.run(&format!("hull {name} --out out.obj")).bad(), expected);
        assert_no_output(&folder, &folder.path("out.obj"));
    }
    folder.write("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n");
    assert_eq!(folder.run("hull a.ply").bad(), "a.ply: its element vertex has no property y");
    folder.write("a.gltf", "{ \"asset\": {\n\"version\" 2 }}");
    assert!(folder.run("hull a.gltf").bad().contains("line 2"));
    folder.write("a.glb", b"glTF\x02\0\0\0\x10\0\0\0");
    assert!(folder.run("hull a.glb").bad().starts_with("a.glb: "));
    assert!(folder.run("hull none.obj").bad().starts_with("none.obj: cannot be read: "));
    assert_eq!(
        folder.run("hull box.obj --out a.csv").bad(),
        "--out: a.csv ends in .csv, what is written is .obj: give that, no extension, or - for stdout"
    );
    assert!(
        folder
            .run("hull box.obj --max-vertices 3")
            .bad()
            .starts_with("--max-vertices: hull \"box\": max_vertices is 3, a hull of this dimension needs")
    );
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = folder();
    let message = folder.run("hull box.obj --out none/out.obj").bad();
    assert!(message.starts_with("none/out.obj: cannot be written: "), "{message}");
    let line = format!("collide --backend {} --hulls box.obj --bodies bodies.csv --out", fast_backend());
    let message = folder.run(&format!("{line} none/out.csv")).bad();
    assert!(message.starts_with("none/out.csv: cannot be written: "), "{message}");
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    assert_eq!(
        folder.run(&format!("{line} folder.csv")).bad(),
        "folder.csv: cannot be written: it is a folder"
    );
    let message = folder.run("demo --frames 1 --bodies 2 --backend cpu --out box.obj").bad();
    assert!(message.starts_with("box.obj: cannot be written: "), "{message}");
}

/// Writing the answer would destroy the input.
#[test]
fn an_output_over_an_input_is_refused() {
    let folder = folder();
    let line =
        format!("collide --backend {} --hulls box.obj --bodies bodies.csv --pairs pairs.csv", fast_backend());
    for input in ["box.obj", "bodies.csv", "./bodies.csv", "pairs.csv"] {
        let message = folder.run(&format!("{line} --out {input}")).bad();
        assert_eq!(message, format!("{input}: cannot be written: it is one of the inputs"));
    }
    assert_eq!(folder.read("bodies.csv"), BODIES);
}

#[test]
fn an_error_keeps_the_old_output() {
    let folder = folder();
    folder.write("out.csv", "old").write("bodies.csv", "hull,x,y,z\nbox,0,0,nan\n");
    folder
        .run(&format!(
            "collide --backend {} --hulls box.obj --bodies bodies.csv --out out.csv",
            fast_backend()
        ))
        .bad();
    assert_eq!(folder.read("out.csv"), "old");
}

/// Without the feature no machine can run it, so it is an error of the call: exit code 2.
#[cfg(not(feature = "gpu"))]
#[test]
fn backend_gpu_without_the_feature_is_an_error_of_the_call() {
    let folder = folder();
    let message = folder.run("collide --backend gpu --hulls box.obj --bodies bodies.csv").bad();
    assert!(message.contains("the feature gpu"), "{message}");
}

/// The limit is for device memory, which the CPU engine does not use.
#[cfg(feature = "gpu")]
#[test]
fn a_job_over_the_memory_limit_is_refused() {
    let folder = folder();
    let line = "collide --backend gpu --hulls box.obj --bodies bodies.csv --out out.csv --memory-limit 100";
    let run = folder.run(line);
    if super::backend() != "gpu" && run.code == Some(1) && run.stderr.contains("no GPU adapter") {
        println!("skipped 1 test: no GPU adapter");
        return;
    }
    let message = run.bad();
    assert!(message.contains("the limit is 100"), "{message}");
    assert_no_output(&folder, &folder.path("out.csv"));
}

/// The program makes no thread before it says so, and works with what is allowed.
#[test]
fn a_number_of_threads_that_can_not_be_meant_is_refused() {
    let folder = folder();
    let run = |value: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hullfield"));
        command.args(["collide", "--backend", "cpu", "--hulls", "box.obj", "--bodies", "bodies.csv"]);
        command.current_dir(&folder.0).env("RAYON_NUM_THREADS", value).output().unwrap()
    };
    for value in ["-1", "x", "4097", "100000"] {
        let output = run(value);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{message}");
        let expected = format!("hullfield: RAYON_NUM_THREADS is \"{value}\": a whole number from 0 to 4,096");
        assert!(message.starts_with(&expected) && output.stdout.is_empty(), "{message}");
    }
    for value in ["0", "1", "3"] {
        let output = run(value);
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()),
            (Some(0), super::HITS)
        );
    }
}

/// An empty file of any format has the same error.
#[test]
fn empty_files_are_refused() {
    let folder = folder();
    let collide = format!("collide --backend {} --hulls box.obj --bodies bodies.csv", fast_backend());
    folder.write("map.map", "type octile\nheight 1\nwidth 2\nmap\n..\n");
    for extension in [
        "obj", "stl", "ply", "gltf", "glb", "csv", "map", "png", "pgm", "yaml", "npy", "geojson", "mesh",
        "scen", "bin",
    ] {
        folder.write(&format!("none.{extension}"), "");
    }
    for (line, name) in [
        ("hull none.obj", "none.obj"),
        ("hull box.obj none.stl", "none.stl"),
        ("hull none.ply", "none.ply"),
        ("hull none.gltf", "none.gltf"),
        ("hull none.glb", "none.glb"),
        ("hull none.csv", "none.csv"),
        ("path none.obj", "none.obj"),
        ("path none.bin", "none.bin"),
        ("path box.obj --queries none.csv", "none.csv"),
        ("flow none.map --goal 0,0", "none.map"),
        ("flow none.png --goal 0,0", "none.png"),
        ("flow none.pgm --goal 0,0", "none.pgm"),
        ("flow none.yaml --goal 0,0", "none.yaml"),
        ("flow none.npy --goal 0,0", "none.npy"),
        ("flow map.map --goal 0,0 --cost none.npy", "none.npy"),
        ("flow map.map --goal 0,0 --edits none.csv", "none.csv"),
        ("flow map.map --scenarios none.scen", "none.scen"),
        ("room none.geojson", "none.geojson"),
        ("room none.mesh", "none.mesh"),
        (&format!("{collide} --pairs none.csv"), "none.csv"),
    ] {
        assert_eq!(folder.run(line).bad(), format!("{name}: the file is empty"), "{line}");
    }
}
