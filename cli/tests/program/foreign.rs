//! Files that are not what their names say: every reader says what they are, in one line, before it stumbles over what is inside.

use super::{BODIES, Folder, box_obj};

const ROOM: &str = r#"{"type":"Polygon","coordinates":[[[0,0],[7,0],[7,5],[0,5],[0,0]]]}"#;

/// What downloads, repositories and other systems leave in the place of a file, and what it is called.
fn strangers() -> Vec<(Vec<u8>, &'static str)> {
    let wide: Vec<u8> = "\u{feff}x,y,z\n0,0,0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        (vec![0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 0, 3], "compressed with gzip: unpack it"),
        (b"\x28\xb5\x2f\xfd\x24\x07\x39\0".to_vec(), "compressed with Zstandard: unpack it"),
        (b"PK\x03\x04\x14\0\0\0\0\0\0\0name".to_vec(), "a zip archive: unpack it"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:77aa\nsize 4711\n".to_vec(),
            "a Git LFS pointer, not the file itself: \"git lfs pull\" fetches that",
        ),
        (wide, "text in UTF-16: save it as UTF-8"),
        (
            b"\n<!DOCTYPE html>\n<html><body>You are not signed in</body></html>\n".to_vec(),
            "a page of HTML, perhaps the error of a download",
        ),
    ]
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("box.obj", box_obj())
        .write("bodies.csv", BODIES)
        .write("a.map", "type octile\nheight 2\nwidth 3\nmap\n...\n.@.\n")
        .write("a.raw", [1; 6])
        .write("room.geojson", ROOM);
    folder
}

#[test]
fn every_reader_says_what_a_file_is() {
    let collide = "collide --backend cpu --hulls box.obj --bodies";
    let flow = "flow --backend cpu --goal 0,0";
    let calls = [
        ("own.csv", format!("{collide} own.csv")),
        ("own.csv", format!("{collide} bodies.csv --pairs own.csv")),
        ("own.csv", format!("{collide} bodies.csv --exclude own.csv")),
        ("own.csv", format!("{collide} bodies.csv --rays own.csv")),
        ("own.csv", format!("{collide} bodies.csv --points own.csv")),
        ("own.csv", "hull own.csv".to_owned()),
        ("own.obj", "hull own.obj".to_owned()),
        ("own.map", format!("{flow} own.map")),
        ("own.png", format!("{flow} own.png")),
        ("own.pgm", format!("{flow} own.pgm")),
        ("own.yaml", format!("{flow} own.yaml")),
        ("own.npy", format!("{flow} own.npy")),
        ("own.tif", format!("{flow} own.tif")),
        ("own.asc", format!("{flow} own.asc")),
        ("a.hdr", format!("{flow} a.raw")),
        ("own.npy", format!("{flow} a.map --cost own.npy")),
        ("own.csv", format!("{flow} a.map --edits own.csv")),
        ("own.csv", "flow a.map --goals own.csv".to_owned()),
        ("own.geojson", "flow a.map --goals own.geojson".to_owned()),
        ("own.scen", "flow a.map --scenarios own.scen".to_owned()),
        ("own.geojson", "room own.geojson".to_owned()),
        ("own.mesh", "room own.mesh".to_owned()),
        ("own.csv", "room room.geojson --queries own.csv".to_owned()),
        ("own.scen", "room room.geojson --scenarios own.scen".to_owned()),
        ("own.csv", "path box.obj --queries own.csv".to_owned()),
        ("own.csv", "path box.obj --blocked own.csv".to_owned()),
        ("own.csv", "path box.obj --links own.csv".to_owned()),
        ("own.ply", "path own.ply".to_owned()),
    ];
    for (bytes, kind) in strangers() {
        for (file, call) in &calls {
            let folder = folder();
            folder.write(file, &bytes);
            let error = folder.run(call).bad();
            assert!(error.starts_with(file) && error.ends_with(kind), "{call}: {error}");
        }
    }
}

/// What is beside a raster is XML, or names an encoding of its own: its readers say what is wrong with a page of HTML.
#[test]
fn files_beside_rasters_are_named_too() {
    let grid = "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n3 4\n";
    for (bytes, kind) in strangers() {
        let folder = folder();
        folder.write("a.asc", grid).write("a.asc.aux.xml", &bytes);
        let error = folder.run("flow a.asc --goal 0,0 --backend cpu").bad();
        assert!(error.starts_with("a.asc.aux.xml: "), "{error}");
        assert!(error.ends_with(kind) || kind.contains("HTML"), "{error}");
    }
}

/// Of stdin the first bytes tell what it is too.
#[test]
fn stdin_is_named_too() {
    let folder = folder();
    for (bytes, kind) in strangers() {
        for call in [
            "hull -",
            "flow - --goal 0,0 --backend cpu",
            "flow a.map --goals - --backend cpu",
            "room -",
            "path -",
            "path box.obj --queries -",
        ] {
            let (code, stdout, stderr) = folder.pipe(call, &bytes);
            let error = String::from_utf8(stderr).unwrap();
            assert_eq!((code, stdout.len()), (Some(2), 0), "{call}: {error}");
            assert_eq!(error, format!("hullfield: stdin: it is {kind}\n"), "{call}");
        }
    }
}
