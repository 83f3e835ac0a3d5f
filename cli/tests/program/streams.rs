//! Stdin and stdout as `-`, extensions, values of flags, completions and manual pages.

use super::{BODIES, Folder, HITS, backend, box_obj, fast_backend};

const MAP: &str = "type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n";
const ROOM: &str = r#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]]]}"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("box.obj", box_obj())
        .write("bodies.csv", BODIES)
        .write("pairs.csv", "a,b\n0,1\n2,3\n")
        .write("a.map", MAP)
        .write("edits.csv", "x,y,what\n1,0,free\n")
        .write("a.scen", "version 1\n0 a.map 3 2 0 0 0 1 1\n")
        .write("room.geojson", ROOM)
        .write("q2.csv", "x0,y0,x1,y1\n1,1,2,1\n")
        .write("q3.csv", "x0,y0,z0,x1,y1,z1\n0.5,0,0,0,0.5,0\n")
        .write("faces.csv", "face\n11\n")
        .write("links.csv", "x0,y0,z0,x1,y1,z1\n0.5,0,0,0,0.5,0\n");
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Every input gives the same answer from stdin as from a file.
#[test]
fn every_input_can_be_stdin() {
    let folder = folder();
    let engine = format!("--backend {}", fast_backend());
    let collide = format!("collide --hulls box.obj --bodies bodies.csv --pairs pairs.csv {engine}");
    let path = "path box.obj --queries q3.csv --blocked faces.csv --links links.csv --out answer.csv";
    // An array of costs: 1 everywhere but 7 in one cell.
    let mut cost =
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
    cost.resize(10 + 0x46 - 1, b' ');
    cost.push(b'\n');
    cost.extend([1, 0, 1, 0, 1, 0, 1, 0, 7, 0, 1, 0]);
    folder.write("cost.npy", &cost);
    let flow = format!("flow a.map --goal 0,0 --cost cost.npy --edits edits.csv --trace 2,0 {engine}");
    let header = "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 2\nNODATA_value -9\n";
    folder
        .write("goals.csv", "x,y\n0,0\n2,1\n")
        .write("goals.geojson", r#"{"type":"MultiPoint","coordinates":[[10.5,23.5],[15,21]]}"#)
        .write("friction.asc", format!("{header}1 2 -9\n4 1.5 1\n"))
        .write("goals.asc", format!("{header}0 0 0\n0 0 7\n"));
    let calls = [
        ("hull box.obj", vec!["box.obj"]),
        (collide.as_str(), vec!["box.obj", "bodies.csv", "pairs.csv"]),
        (flow.as_str(), vec!["a.map", "cost.npy", "edits.csv"]),
        ("flow a.map --backend cpu --scenarios a.scen", vec!["a.scen"]),
        ("room room.geojson --queries q2.csv", vec!["room.geojson", "q2.csv"]),
        ("flow a.map --backend cpu --goals goals.csv --trace 2,1", vec!["goals.csv"]),
        (
            "flow friction.asc --backend cpu --goals goals.geojson --trace 0,1",
            vec!["friction.asc", "goals.geojson"],
        ),
        ("flow friction.asc --backend cpu --goals goals.asc --trace 0,0", vec!["friction.asc", "goals.asc"]),
        (path, vec!["box.obj", "q3.csv", "faces.csv", "links.csv"]),
    ];
    // The file if there is one, else the text: times differ between runs.
    let answer = |call: &str, stdin: &[u8]| {
        let (code, stdout, stderr) = folder.pipe(call, stdin);
        assert_eq!(code, Some(0), "{call}: {}", text(&stderr));
        if call.contains("answer.csv") { folder.read("answer.csv") } else { text(&stdout) }
    };
    for (call, inputs) in calls {
        let expected = answer(call, b"");
        for input in inputs {
            let piped =
                call.split(' ').map(|word| if word == input { "-" } else { word }).collect::<Vec<_>>();
            let bytes = std::fs::read(folder.path(input)).unwrap();
            assert_eq!(answer(&piped.join(" "), &bytes), expected, "{call}: {input}");
        }
    }
}

/// The format of stdin is detected from its first bytes. An unknown one is an error.
#[test]
fn formats_on_stdin_are_detected_from_their_bytes() {
    let folder = folder();
    let mut stl = vec![b's'; 80];
    stl.extend(1u32.to_le_bytes());
    stl.extend([0; 12]);
    stl.extend([0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()));
    stl.extend([0; 2]);
    let ascii = "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
        element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    for (bytes, name) in [(&stl[..], "stdin"), (ascii.as_bytes(), "t"), (ply.as_bytes(), "stdin")] {
        let (code, stdout, stderr) = folder.pipe("hull - --json", bytes);
        assert_eq!(code, Some(0), "{}", text(&stderr));
        let value: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
        assert_eq!((&value["hulls"][0]["name"], &value["hulls"][0]["vertices"]), (&name.into(), &3.into()));
    }
    let (_, stdout, _) = folder.pipe("hull - --json", b"hull,x,y,z\na,0,0,0\na,1,0,0\n");
    assert!(text(&stdout).contains("\"segment\""));
    let bad = |call: &str, bytes: &[u8]| {
        let (code, stdout, stderr) = folder.pipe(call, bytes);
        assert_eq!((code, stdout.len()), (Some(2), 0), "{call}");
        assert_eq!(text(&stderr).lines().count(), 1, "{call}");
        text(&stderr)
    };
    let unknown = bad("hull -", b"what is this\n");
    assert_eq!(
        unknown,
        "hullfield: stdin: unknown format by its first bytes: obj, stl, ply, off, gltf, glb or csv is read\n"
    );
    assert_eq!(bad("hull -", b""), "hullfield: stdin: the file is empty\n");
    assert!(
        bad("flow - --goal 0,0", b"mesh\n2\n").contains("stdin: unknown format by its first bytes: map, png")
    );
    assert!(bad("room -", b"type octile\n").contains("stdin: unknown format by its first bytes: geojson"));
    // An error names its line, even if the library finds it after the file has been read.
    let line = format!("collide --hulls box.obj --bodies - --backend {}", fast_backend());
    assert!(bad(&line, b"hull,x,y,z\nbox,0,0,0\nbox,0,x,0\n").contains("stdin: line 3, column y: "));
    assert!(bad(&line, b"hull,x,y,z\nbox,0,0,0\nbox,1e30,0,0\n").contains("stdin: line 3: body 1: position"));
    assert!(bad("hull - -", b"").contains("MESH and MESH: stdin (-) can be read by one of them"));
    assert!(
        bad("collide --hulls - --bodies -", b"")
            .contains("--hulls and --bodies: stdin (-) can be read by one of them")
    );
}

/// A saved surface can be written to and read from a pipe.
#[test]
fn a_saved_surface_can_be_piped() {
    let folder = folder();
    let (code, saved, stderr) = folder.pipe("path box.obj --save -", b"");
    assert_eq!((code, &saved[..8]), (Some(0), &b"hullsurf"[..]));
    assert!(text(&stderr).starts_with("models "), "{}", text(&stderr));
    let (code, stdout, stderr) = folder.pipe("path - --queries q3.csv --out -", &saved);
    assert_eq!(
        (code, text(&stdout)),
        (Some(0), "length,status,snap0,snap1,ambiguous0,ambiguous1\n1,reached,0,0,0,0\n".to_owned())
    );
    assert!(text(&stderr).contains("1 of 1 goals reached"));
}

/// `--out -` wrote a file of the name `-`.
#[test]
fn an_output_on_stdout_is_not_mixed_with_the_report() {
    let folder = folder();
    let before = folder.names();
    let engine = format!("--backend {}", fast_backend());
    let flow = format!("flow a.map --goal 0,0 --connectivity 4 {engine}");
    let calls: [(&str, &[u8], &str); 9] = [
        ("hull box.obj --out -", b"# convex hulls", "name  "),
        (
            &format!("collide --hulls box.obj --bodies bodies.csv {engine} --out -"),
            HITS.as_bytes(),
            "engine  ",
        ),
        (&format!("{flow} --out -"), b"\x93NUMPY", "farthest  levels"),
        (&format!("{flow} --next -"), b"\x93NUMPY", "farthest  levels"),
        (&format!("{flow} --png -"), b"\x89PNG", "farthest  levels"),
        ("room room.geojson --queries q2.csv --out -", b"length,status,corners\n1,reached,", "vertices  "),
        ("room room.geojson --queries q2.csv --svg -", b"<svg ", "vertices  "),
        ("room room.geojson --queries q2.csv --paths -", b"{\"", "vertices  "),
        ("path box.obj --queries q3.csv --points -", b"query,i,x,y,z,", "models  "),
    ];
    let (_, paths, _) = folder.pipe("room room.geojson --queries q2.csv --paths -", b"");
    let paths: serde_json::Value = serde_json::from_slice(&paths).unwrap();
    assert_eq!(paths["features"].as_array().map(Vec::len), Some(1), "{paths}");
    for (call, begins, report) in calls {
        let (code, stdout, stderr) = folder.pipe(call, b"");
        assert_eq!(code, Some(0), "{call}: {}", text(&stderr));
        assert!(stdout.starts_with(begins), "{call}: {:?}", String::from_utf8_lossy(&stdout));
        assert!(text(&stderr).contains(report), "{call}: {}", text(&stderr));
        assert!(!String::from_utf8_lossy(&stdout).contains(report), "{call}");
    }
    let (_, distances, _) = folder.pipe(&format!("{flow} --out -"), b"");
    assert_eq!(distances[distances.len() - 24..][..4], 0u32.to_le_bytes());
    assert_eq!(distances.len(), 128 + 24);
    // With a trace, stdout has the rows only.
    let (_, stdout, stderr) = folder
        .pipe(&format!("collide --hulls box.obj --bodies bodies.csv {engine} --out - --trace 0,1"), b"");
    assert_eq!(text(&stdout), HITS);
    assert!(text(&stderr).contains("bodies 0 and 1: penetrating"));
    assert_eq!(folder.names(), before);
    for (call, message) in [
        ("flow a.map --goal 0,0 --out - --next -", "--out and --next: stdout (-) can take one of them"),
        ("path box.obj --out - --json", "--json and --out: stdout (-) can take one of them"),
        (
            "room room.geojson --from 1,1 --to 2,2 --steps -",
            "--steps: a folder is written, stdout (-) can't take it",
        ),
        ("demo --out -", "--out: a folder is written, stdout (-) can't take it"),
        ("man --out -", "--out: a folder is written, stdout (-) can't take it"),
    ] {
        assert_eq!(folder.run(call).bad(), message);
    }
    assert_eq!(folder.names(), before);
}

/// `flow --out d.txt` wrote NPY, `collide --out x.json` CSV.
#[test]
fn extensions_that_do_not_fit_are_refused_before_any_work() {
    let folder = folder();
    let before = folder.names();
    // None of the inputs exists, so the extension is checked first.
    let cases = [
        ("flow no.map --goal 0,0", "--out", "d.txt", ".npy or .tif or .tiff"),
        ("flow no.map --goal 0,0", "--next", "n.csv", ".npy"),
        ("flow no.map --goal 0,0", "--png", "p.jpg", ".png"),
        ("collide --hulls no.obj --bodies no.csv", "--out", "x.json", ".csv"),
        ("collide --hulls no.obj --bodies no.csv --trace 0,1", "--out", "x.json", ".csv or .obj"),
        ("collide --hulls no.obj --bodies no.csv", "--out", "x.obj", ".csv"),
        ("hull no.obj", "--out", "h.stl", ".obj"),
        ("room no.mesh --from 1,1 --to 2,2", "--out", "x.txt", ".csv"),
        ("room no.mesh --from 1,1 --to 2,2", "--paths", "x.csv", ".geojson or .json"),
        ("room no.mesh --from 1,1 --to 2,2", "--svg", "x.png", ".svg"),
        ("path no.obj", "--out", "x.json", ".csv"),
        ("path no.obj", "--points", "x.npy", ".csv"),
        ("path no.obj", "--save", "x.obj", ".bin"),
        ("path no.obj", "--png", "x.svg", ".png"),
    ];
    for (call, flag, file, fit) in cases {
        let found = file.split_once('.').unwrap().1;
        assert_eq!(
            folder.run(&format!("{call} {flag} {file}")).bad(),
            format!(
                "{flag}: {file} ends in .{found}, what is written is {fit}: give that, no extension, or - for stdout"
            )
        );
    }
    assert_eq!(folder.names(), before);
    // A name without an extension gets the default format.
    folder.run(&format!("flow a.map --goal 0,0 --backend {} --out distances", fast_backend())).good();
    assert_eq!(std::fs::read(folder.path("distances")).unwrap()[..6], *b"\x93NUMPY");
    let same = folder.run("flow a.map --goal 0,0 --out d.npy --next ./d.npy").bad();
    assert_eq!(same, "--out and --next: both would be written to ./d.npy");
}

/// A header of "solid" with binary data was an unknown format.
#[test]
fn a_truncated_binary_stl_on_stdin_is_reported() {
    let mut stl = b"solid box".to_vec();
    stl.resize(80, b' ');
    stl.extend(2u32.to_le_bytes());
    stl.extend([0; 12]);
    stl.extend([1.5f32; 9].iter().flat_map(|x| x.to_le_bytes()));
    stl.extend([0; 2]);
    let folder = Folder::new();
    for call in ["hull -", "path -"] {
        let (code, _, stderr) = folder.pipe(call, &stl);
        let expected = "hullfield: stdin: a binary STL of 2 triangles has 184 bytes, this file has 134: it is cut short after 1 of \
            them\n";
        assert_eq!((code, text(&stderr).as_str()), (Some(2), expected), "{call}");
    }
}

/// clap's message was misleading: "unexpected argument '-3' found; tip: to pass '-3' as a value, use '-- -3'".
#[test]
fn errors_of_whole_number_flags_give_the_bounds() {
    let folder = folder();
    for (call, message) in [
        (
            "flow a.map --goal 0,0 --max-distance -3",
            "--max-distance: \"-3\" is not a finite number of 0 or more",
        ),
        (
            "flow a.map --goal 0,0 --max-distance inf",
            "--max-distance: \"inf\" is not a finite number of 0 or more",
        ),
        (
            "hull box.obj --max-vertices -1",
            "--max-vertices: \"-1\" is not a whole number from 0 to 4294967295",
        ),
        ("demo --frames 0", "--frames: \"0\" is not a whole number from 1 to 4294967295"),
        ("demo --bodies 1000001", "--bodies: \"1000001\" is not a whole number from 1 to 1000000"),
        ("demo --seed -1", "--seed: \"-1\" is not a whole number from 0 to 18446744073709551615"),
        (
            "demo --memory-limit -1",
            "--memory-limit: \"-1\" is no number of bytes: a whole number, alone or with K, M, G or T (powers of 1024)",
        ),
    ] {
        assert_eq!(folder.run(call).bad(), message);
    }
}

/// The message did not say that a saved surface needs the extension .bin.
#[test]
fn the_error_for_a_surface_without_an_extension_names_bin() {
    let folder = folder();
    folder.run("path box.obj --save saved").good();
    assert_eq!(
        folder.run("path saved").bad(),
        "saved: unknown format by its extension: obj, stl, ply, off, gltf, glb or a saved bin is read as a surface"
    );
}

/// An empty table was written, with exit code 0.
#[test]
fn outputs_without_queries_are_refused() {
    let folder = folder();
    let before = folder.names();
    for (call, message) in [
        ("path box.obj --out a.csv", "--out needs --from and --to, --queries or --field-from"),
        ("path box.obj --points a.csv", "--points needs --from and --to, or --queries"),
        ("path box.obj --field-from 0,0,0.5 --points a.csv", "--points needs --from and --to, or --queries"),
        ("room room.geojson --out a.csv", "--out needs --from and --to, --queries or --scenarios"),
        ("room room.geojson --paths a.json", "--paths needs --from and --to, --queries or --scenarios"),
    ] {
        assert_eq!(folder.run(call).bad(), message);
    }
    assert_eq!(folder.names(), before);
}

/// Control characters in a name could change the terminal.
#[test]
fn control_characters_of_a_name_do_not_reach_the_terminal() {
    let folder = Folder::new();
    folder.write("a.obj", "o red\x1b[31m\x07\nv 0 0 0\nv 1 0 0\n");
    let table = folder.run("hull a.obj").good();
    assert!(table.contains("red?[31m?  "), "{table:?}");
}

/// Help that could not be printed ended with exit code 0.
#[cfg(target_os = "linux")]
#[test]
fn help_to_a_full_disk_is_an_error() {
    use std::process::Command;
    for call in ["--help", "collide --help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_hullfield"));
        let output = program.args(call.split(' ')).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{call}");
        assert!(text(&output.stderr).starts_with("hullfield: stdout: cannot be written: "), "{call}");
    }
}

/// A reader that closes the pipe is not an error for binary output either.
#[cfg(unix)]
#[test]
fn a_reader_may_close_the_pipe_of_a_binary_output() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let folder = folder();
    let row = format!("{}\n", ".".repeat(600));
    folder.write("large.map", format!("type octile\nheight 600\nwidth 600\nmap\n{}", row.repeat(600)));
    for output in ["--out", "--png"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hullfield"))
            .args(["flow", "large.map", "--goal", "0,0", "--backend", "cpu", output, "-"])
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before a byte is written.
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{output}");
    }
}

#[test]
fn a_memory_limit_has_units() {
    let folder = folder();
    let line = format!("collide --hulls box.obj --bodies bodies.csv --backend {} --memory-limit", backend());
    for limit in ["512M", "1G", "1GiB", "268435456", "262144K"] {
        assert_eq!(folder.run(&format!("{line} {limit}")).good(), HITS, "{limit}");
    }
    for (bad, message) in [
        (
            "12X",
            "--memory-limit: \"12X\" is no number of bytes: a whole number, alone or with K, M, G or T (powers of 1024)",
        ),
        ("99999999999T", "--memory-limit: 99999999999T is more than 18446744073709551615 bytes"),
    ] {
        assert_eq!(folder.run(&format!("{line} {bad}")).bad(), message);
    }
    if backend() == "gpu" {
        assert!(folder.run(&format!("{line} 1K")).bad().contains("the limit is 1024"));
        let flow = "flow a.map --goal 0,0 --backend gpu --memory-limit";
        assert!(folder.run(&format!("{flow} 0")).bad().contains("the limit is 0"));
        folder.run(&format!("{flow} 256M")).good();
        let demo = folder.run("demo --frames 1 --bodies 20 --backend gpu --memory-limit 1K");
        assert_eq!(demo.code, Some(2), "{demo:?}");
        assert!(demo.stderr.contains("the limit is 1024"), "{demo:?}");
    }
}

#[test]
fn errors_of_values_are_one_line_without_usage() {
    let folder = folder();
    let cases = [
        ("collide --hulls box.obj --bodies bodies.csv --margin nan", "--margin: \"nan\" is not finite"),
        ("path box.obj --slope 200", "--slope: 200 is not from 0 to 180"),
        ("path box.obj --size 1x1", "--size: each side must be from 16 to 8192"),
        ("demo --size large", "--size: it must be WIDTHxHEIGHT"),
    ];
    for (call, message) in cases {
        assert_eq!(folder.run(call).bad(), message);
    }
    for call in [
        "flow",
        "flow a.map --goals 0,0",
        "nonsense",
        "hull",
        "flow a.map --goal 0,0 --backend tpu",
        "demo --frames 0",
    ] {
        let message = folder.run(call).bad();
        assert!(
            !message.contains("For more information") && !message.contains("Usage:"),
            "{call}: {message}"
        );
    }
}

#[test]
fn completions_and_manual_pages() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completions {shell}")).good();
        for word in ["collide", "memory-limit", "units"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(
        folder
            .run("completions tcsh")
            .bad()
            .contains("[possible values: bash, elvish, fish, powershell, zsh]")
    );
    let page = folder.run("man").good();
    assert!(page.contains(".TH hullfield 1") && page.contains("hullfield\\-collide(1)"), "{page}");
    let page = folder.run("man flow").good();
    assert!(page.contains(".TH hullfield-flow 1") && page.contains("\\-\\-units"), "{page}");
    assert!(folder.run("man nothing").bad().starts_with("man: \"nothing\" is none of devices, demo, hull,"));
    folder.run("man --out pages/man1").good();
    let mut names: Vec<String> = std::fs::read_dir(folder.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let of = |name: &str| format!("hullfield-{name}.1");
    let mut expected: Vec<String> =
        ["collide", "completions", "demo", "devices", "flow", "hull", "man", "path", "room"].map(of).to_vec();
    expected.push("hullfield.1".to_owned());
    assert_eq!(names, expected);
}
