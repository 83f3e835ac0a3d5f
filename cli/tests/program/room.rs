//! `room`: answers as a table, JSON, CSV, GeoJSON and pictures; and bad input.

use serde_json::Value;

use super::{Folder, assert_no_output};

/// A square with a pillar in the middle.
const SQUARE: &str = r#"{"type":"Feature","geometry":{"type":"Polygon","coordinates":[
    [[0,0],[10,0],[10,10],[0,10],[0,0]],
    [[4,4],[6,4],[6,6],[4,6],[4,4]]]}}"#;

/// Two cells side by side.
const MESH: &str = "mesh\n2\n6 2\n0 0 1 0\n2 0 2 0 1\n4 0 1 1\n0 1 1 0\n2 1 2 0 1\n4 1 1 1\n\
                    4 0 1 4 3 -1 -1 1 -1\n4 1 2 5 4 0 -1 -1 -1\n";

/// The length around the pillar: two segments of √10 and one of 2.
fn around() -> f64 {
    2.0 * 10f64.sqrt() + 2.0
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("room.geojson", SQUARE).write("room.mesh", MESH);
    folder
}

fn geojson(rings: &str) -> String {
    format!(r#"{{"type":"Polygon","coordinates":{rings}}}"#)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Asserts an SVG with one root, closed tags and finite numbers.
#[track_caller]
fn check_svg(text: &str) {
    assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    for tag in ["g", "svg", "text"] {
        let opened = text.matches(&format!("<{tag} ")).count() + text.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_room_alone_is_described() {
    let folder = folder();
    let text = folder.run("room room.geojson").good();
    assert!(text.contains("vertices") && text.contains("96") && !text.contains("query"), "{text}");
    let value = json(&folder.run("room room.geojson --json").good());
    assert_eq!(value["room"]["area"], 96.0);
    assert_eq!((&value["room"]["vertices"], &value["room"]["islands"]), (&8.into(), &1.into()));
    assert_eq!(value["counts"]["queries"], 0);
    assert_eq!(json(&folder.run("room room.mesh --json").good())["room"]["cells"], 2);
}

#[test]
fn one_path() {
    let folder = folder();
    let text = folder.run("room room.geojson --from 1,5 --to 9,5").good();
    assert!(text.contains("reached") && text.contains("8.3245"), "{text}");
    let value = json(&folder.run("room room.geojson --from 1,5 --to 9,5 --json").good());
    let path = &value["paths"][0];
    assert!((path["length"].as_f64().unwrap() - around()).abs() < 1e-12);
    assert_eq!(path["points"].as_array().unwrap().len(), 4);
    // A value with a minus sign is not taken for a flag.
    let value = json(&folder.run("room room.geojson --from -1,5 --to 9,5 --json").good());
    assert_eq!(value["paths"][0]["status"], "start off the room");
    assert_eq!((&value["paths"][0]["length"], &value["counts"]["reached"]), (&Value::Null, &0.into()));
    let value = json(&folder.run("room room.mesh --from 0,0.5 --to 4,0.5 --json").good());
    assert_eq!(value["paths"][0]["length"], 4.0);
}

#[test]
fn many_paths_as_csv_and_geojson() {
    let folder = folder();
    folder.write("q.csv", "x0,y0,x1,y1\n1,5,9,5\n1,1,1,1\n1,1,5,5\n-1,0,1,1\n1,1,9,1\n");
    let text = folder.run("room room.geojson --queries q.csv --out out.csv --paths paths.geojson").good();
    assert!(text.contains("3 of 5 goals reached"), "{text}");
    let out = folder.read("out.csv");
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(rows[0], "length,status,corners");
    let fields: Vec<&str> = rows[1].split(',').collect();
    assert!((fields[0].parse::<f64>().unwrap() - around()).abs() < 1e-12);
    assert_eq!(fields[1], "reached");
    // Both sides of the pillar are equally long.
    assert!(["4 4;6 4", "4 6;6 6"].contains(&fields[2]), "{}", fields[2]);
    assert_eq!(rows[2..], ["0,reached,", "inf,goal off the room,", "inf,start off the room,", "8,reached,"]);
    let lines = json(&folder.read("paths.geojson"));
    let features = lines["features"].as_array().unwrap();
    let queries: Vec<u64> = features.iter().map(|f| f["properties"]["query"].as_u64().unwrap()).collect();
    assert_eq!(queries, [0, 1, 4]);
    assert_eq!(features[0]["geometry"]["type"], "LineString");
    assert_eq!(features[2]["geometry"]["coordinates"], serde_json::json!([[1.0, 1.0], [9.0, 1.0]]));
    // With --json and --out the answers are only in the file.
    let value = json(&folder.run("room room.geojson --queries q.csv --out out.csv --json").good());
    assert_eq!((&value["counts"]["reached"], &value["paths"]), (&3.into(), &Value::Null));
}

#[test]
fn methods_radius_and_squeeze() {
    let folder = folder();
    let length = |arguments: &str| {
        json(&folder.run(&format!("room {arguments} --json")).good())["paths"][0]["length"].as_f64()
    };
    let optimal = length("room.geojson --from 1,5 --to 9,5 --method optimal").unwrap();
    let funnel = length("room.geojson --from 1,5 --to 9,5 --method funnel").unwrap();
    assert!(funnel >= optimal && (optimal - around()).abs() < 1e-12);
    // An agent of radius 0.5 takes a longer path; one that fits nowhere is an error.
    let wide = length("room.geojson --from 1,5 --to 9,5 --radius 0.5").unwrap();
    assert!(wide > optimal + 0.1 && wide < optimal + 1.0, "{wide}");
    assert_eq!(
        folder.run("room room.geojson --radius 4").bad(),
        "room.geojson: radius is 4, it must be less: no agent of that size fits into the room"
    );
    // Two squares that touch at a corner.
    folder.write("touching.geojson", geojson("[[[0,0],[2,0],[2,2],[4,2],[4,4],[2,4],[2,2],[0,2]]]"));
    assert_eq!(length("touching.geojson --from 1,1 --to 3,3"), None);
    let through = length("touching.geojson --from 1,1 --to 3,3 --squeeze").unwrap();
    assert!((through - 8f64.sqrt()).abs() < 1e-12);
}

#[test]
fn pictures_of_the_room_and_of_each_step() {
    let folder = folder();
    folder.run("room room.geojson --from 1,5 --to 9,5 --svg room.svg --steps steps").good();
    let svg = folder.read("room.svg");
    check_svg(&svg);
    assert!(svg.contains("length 8.3245"), "{svg}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path("steps"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let kinds: Vec<&str> = names.iter().map(|name| &name[5..name.len() - 4]).collect();
    assert_eq!(kinds[..3], ["triangulation", "strip", "left-and-right"]);
    assert_eq!(kinds[kinds.len() - 1], "path");
    // One picture for each edge that the strip crosses.
    let moves = kinds.iter().filter(|&&kind| kind == "funnel").count();
    assert!(moves >= 3 && kinds.len() == moves + 4, "{kinds:?}");
    for name in &names {
        check_svg(&folder.read(&format!("steps/{name}")));
    }
    // Without a path: the triangulation only.
    folder.run("room room.geojson --from 1,5 --to 5,5 --steps none").good();
    assert_eq!(std::fs::read_dir(folder.path("none")).unwrap().count(), 1);
    // A picture of many paths, and one without paths.
    folder.write("q.csv", "x0,y0,x1,y1\n1,5,9,5\n1,1,9,9\n");
    folder.run("room room.geojson --queries q.csv --svg many.svg").good();
    check_svg(&folder.read("many.svg"));
    folder.run("room room.mesh --svg mesh.svg").good();
    check_svg(&folder.read("mesh.svg"));
}

#[test]
fn scenarios() {
    let folder = folder();
    let row = |x1: f64, y1: f64, cost: f64| format!("0\troom\t10\t10\t1\t5\t{x1}\t{y1}\t{cost}\n");
    folder.write("good.scen", format!("version 1\n{}\n{}", row(9.0, 5.0, 9.0), row(1.0, 9.0, 4.0)));
    let text = folder.run("room room.geojson --scenarios good.scen").good();
    assert!(text.contains("longer than their cost"), "{text}");
    // The second cost is less than the straight line.
    folder.write("wrong.scen", format!("version 1\n{}{}", row(9.0, 5.0, 9.0), row(1.0, 9.0, 3.9)));
    let run = folder.run("room room.geojson --scenarios wrong.scen");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(
        run.stderr.trim_end(),
        "hullfield: 1 of 2 paths are longer than their scenarios' costs, the first in line 3: 4 instead of 3.9"
    );
    let run = folder.run("room room.geojson --scenarios wrong.scen --json");
    assert_eq!((run.code, &json(&run.stdout)["longer"]), (Some(1), &serde_json::json!([1])));
    // The scenarios of the corpus, if it is there.
    let Some(corpus) = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty()) else {
        return;
    };
    let mut rooms = std::path::PathBuf::from(corpus).join("rooms");
    if !rooms.exists() {
        rooms = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(rooms);
    }
    let at = |name: &str| rooms.join(name).display().to_string();
    for (mesh, scen) in [("arena-merged.mesh", "arena.scen"), ("aurora-merged.mesh", "aurora.scen")] {
        let value = json(
            &folder.run(&format!("room {} --scenarios {} --json --out o.csv", at(mesh), at(scen))).good(),
        );
        assert_eq!(
            (&value["counts"]["reached"], &value["longer"]),
            (&value["counts"]["queries"], &serde_json::json!([]))
        );
    }
}

#[test]
fn repairs_are_reported() {
    let folder = folder();
    let cases = [
        ("crossing", "[[[0,0],[4,4],[4,0],[0,4],[0,0]]]", "ring 0, at (2, 2): edges that cross were cut"),
        (
            "touching",
            "[[[0,0],[9,0],[9,9],[0,9]],[[0,3],[2,2],[2,4]]]",
            "ring 1, at (0, 3): an edge was cut at a corner that lies on it",
        ),
        (
            "outside",
            "[[[0,0],[9,0],[9,9],[0,9]],[[20,0],[21,0],[21,1]]]",
            "ring 1, at (20, 0): a hole lies outside of the outer ring",
        ),
        (
            "overlapping",
            "[[[0,0],[9,0],[9,9],[0,9]],[[2,2],[5,2],[5,5],[2,5]],[[4,4],[7,4],[7,7],[4,7]]]",
            "ring 2, at (4, 5): edges that cross were cut",
        ),
        (
            "repeated",
            "[[[0,0],[9,0],[9,0],[9,9],[0,9]]]",
            "ring 0, at (9, 0): a repeated point was taken once",
        ),
        (
            "flat",
            "[[[0,0],[9,0],[9,9],[0,9]],[[2,2],[3,3],[4,4]]]",
            "ring 1, at (2, 2): a ring without area was left out",
        ),
    ];
    for (name, rings, expected) in cases {
        folder.write("r.json", geojson(rings));
        let text = folder.run("room r.json").good();
        assert!(text.lines().any(|line| line == expected), "{name}: {text}");
        let value = json(&folder.run("room r.json --json").good());
        assert!(!value["room"]["repairs"].as_array().unwrap().is_empty(), "{name}");
    }
    // An open ring and collinear points need no repair.
    folder.write("r.json", geojson("[[[0,0],[4,0],[9,0],[9,9],[0,9]]]"));
    assert_eq!(json(&folder.run("room r.json --json").good())["room"]["repairs"], serde_json::json!([]));
}

#[test]
fn invalid_rooms_are_refused() {
    let folder = folder();
    for (name, content, expected) in [
        ("a.geojson", "", "a.geojson: the file is empty"),
        ("a.geojson", "{\"type\":\n\"Polygon\",,}", "a.geojson: key must be a string at line 2 column 11"),
        ("a.geojson", "[]", "a.geojson: \"\" is not a type of GeoJSON"),
        ("a.geojson", r#"{"type":"Point","coordinates":[0,0]}"#, "a.geojson: it has no polygon"),
        ("a.geojson", r#"{"type":"Polygon","coordinates":[]}"#, "a.geojson: the polygon has no rings"),
        (
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,"x"]]]}"#,
            "a.geojson: ring 0, point 1 is not two numbers",
        ),
        (
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[1]]]}"#,
            "a.geojson: ring 0, point 1 is not two numbers",
        ),
        (
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0]]]}"#,
            "a.geojson: ring 0: the ring has 2 different points, it needs three",
        ),
        (
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[2,2],[0,0]]]}"#,
            "a.geojson: no room is left: the outer ring less the holes has no area",
        ),
        (
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[1e61,0],[0,1]]]}"#,
            "a.geojson: ring 0, point 1: position is (1e61",
        ),
        ("a.mesh", "grid", "a.mesh: line 1: a mesh file begins with the word mesh"),
        (
            "a.mesh",
            "mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 nan 1 0\n3 0 1 2 -1 -1 -1\n",
            "a.mesh: line 6: vertex 2 has the coordinate NaN, it must be 0 or from 1e-42 to 1e60",
        ),
        (
            "a.mesh",
            "mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 9 -1 -1 -1\n",
            "a.mesh: line 7: polygon 0: vertex 9 does not exist, there are 3",
        ),
        (
            "a.mesh",
            "mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 2 1 -1 -1 -1\n",
            "a.mesh: polygon 0: the corners must run counter-clockwise around some area, at (0, 0)",
        ),
        ("a.obj", "v 0 0 0\n", "a.obj: unknown format by its extension: geojson, json or mesh is read"),
    ] {
        folder.write(name, content);
        let message = folder.run(&format!("room {name} --from 1,1 --to 2,2 --out out.csv")).bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
        assert_no_output(&folder, &folder.path("out.csv"));
    }
    assert!(folder.run("room missing.mesh").bad().starts_with("missing.mesh: "));
    folder.write("binary.geojson", [0xff_u8, 0xfe, 0x00]);
    assert!(folder.run("room binary.geojson").bad().starts_with("binary.geojson: "));
}

#[test]
fn invalid_queries_are_refused() {
    let folder = folder();
    for (content, expected) in [
        ("", "q.csv: the file is empty"),
        ("x0,y0,x1\n1,1,2\n", "q.csv: line 1: column y1 is missing, the columns are \"x0, y0, x1\""),
        ("x0,y0,x1,y1\n1,1,2\n", "q.csv: line 2, column y1: missing: the row has 3 fields, 4 expected"),
        ("x0,y0,x1,y1\n1,1,2,2\n1,nan,2,2\n", "q.csv: line 3, column y0: \"nan\" is not finite"),
        ("x0,y0,x1,y1\n1,1,2,inf\n", "q.csv: line 2, column y1: \"inf\" is not finite"),
        ("x0,y0,x1,y1\n1,1,two,2\n", "q.csv: line 2, column x1: \"two\" is not a number"),
        ("x0,y0,x1,y1,z\n1,1,2,2,0\n", "q.csv: line 1: unknown column \"z\", known are x0, y0, x1, y1"),
    ] {
        folder.write("q.csv", content);
        let message = folder.run("room room.geojson --queries q.csv --out out.csv").bad();
        assert_eq!(message, expected);
        assert_no_output(&folder, &folder.path("out.csv"));
    }
    for (content, expected) in [
        ("", "s.scen: the file is empty"),
        ("version 1\n0 m 1 1 0 0 1 1\n", "s.scen: line 2: 8 fields, 9 expected"),
        ("version 1\n\n0 m 1 1 0 0 1 x 5\n", "s.scen: line 3, column goal y: \"x\" is not a number"),
        ("version 1\n0 m 1 1 nan 0 1 1 5\n", "s.scen: line 2, column start x: \"nan\" is not finite"),
    ] {
        folder.write("s.scen", content);
        let message = folder.run("room room.geojson --scenarios s.scen").bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
    }
    for (arguments, expected) in [
        ("--from 1 --to 2,2", "--from: \"1\" is not x,y"),
        ("--from 1,2,3 --to 2,2", "--from: \"1,2,3\" is not x,y"),
        ("--from 1,1 --to 2,nan", "--to: \"nan\" is not finite"),
        ("--from 1,1 --to 2,x", "--to: \"x\" is not a number"),
        ("--radius -1", "--radius: \"-1\" is not a number from 0 to 1e60"),
        ("--radius inf", "--radius: \"inf\" is not a number from 0 to 1e60"),
        ("--radius 1e61", "--radius: \"1e61\" is not a number from 0 to 1e60"),
        (
            "--from 1,1 --to 2,2 --steps d --method optimal",
            "--steps draws the funnel method, not --method optimal",
        ),
        ("--from 1,1 --to 2,2 --out no/such/folder/out.csv", "no/such/folder/out.csv"),
    ] {
        let message = folder.run(&format!("room room.geojson {arguments}")).bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
    }
    // Half a query, and flags that conflict.
    for arguments in
        ["--from 1,1", "--to 1,1", "--queries q.csv --from 1,1 --to 2,2", "--steps d", "--method best"]
    {
        let run = folder.run(&format!("room room.geojson {arguments}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}: {run:?}");
    }
}

#[test]
fn rooms_of_several_polygons() {
    let folder = Folder::new();
    let block = |x: f64, y: f64, width: f64, height: f64| {
        let [right, top] = [x + width, y + height];
        format!("[[{x},{y}],[{right},{y}],[{right},{top}],[{x},{top}],[{x},{y}]]")
    };
    let [first, second, third] =
        [block(0.0, 0.0, 4.0, 6.0), block(4.0, 2.0, 5.0, 2.0), block(20.0, 0.0, 3.0, 3.0)];
    let feature = |ring: &str| {
        format!(
            r#"{{"type":"Feature","properties":{{}},"geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}"#
        )
    };
    let features = [&first, &second, &third].map(|ring| feature(ring)).join(",");
    let null = r#"{"type":"Feature","properties":null,"geometry":null}"#;
    folder
        .write("rooms.geojson", format!(r#"{{"type":"FeatureCollection","features":[{null},{features}]}}"#))
        .write(
            "multi.json",
            format!(r#"{{"type":"MultiPolygon","coordinates":[[{first}],[{second}],[{third}]]}}"#),
        )
        .write("q.csv", "x0,y0,x1,y1\n1,3,8,3\n1,3,21,1\n21,1,22,2\n");
    for file in ["rooms.geojson", "multi.json"] {
        let value = json(&folder.run(&format!("room {file} --queries q.csv --json")).good());
        assert_eq!((&value["room"]["islands"], &value["room"]["area"]), (&2.into(), &43.0.into()), "{file}");
        let status = |row: usize| value["paths"][row]["status"].as_str().unwrap().to_owned();
        assert_eq!((status(0).as_str(), status(1).as_str()), ("reached", "unreachable"));
        assert_eq!((&value["paths"][0]["length"], status(2).as_str()), (&7.0.into(), "reached"));
    }
    folder.write("none.geojson", format!(r#"{{"type":"FeatureCollection","features":[{null}]}}"#));
    assert!(folder.run("room none.geojson").bad().contains("it has no polygon"));
}

#[test]
fn a_radius_below_the_rounding_of_the_coordinates_is_as_none() {
    let folder = folder();
    for radius in ["1e-100", "5e-324", "1e-44", "1e-20", "4e-16", "0"] {
        let value = json(
            &folder.run(&format!("room room.geojson --from 1,5 --to 9,5 --radius {radius} --json")).good(),
        );
        assert_eq!(value["room"]["area"], 96.0, "{radius}");
        assert!((value["paths"][0]["length"].as_f64().unwrap() - around()).abs() < 1e-12, "{radius}");
    }
    for radius in ["1e60", "1e300", "nan", "-1", "inf", "5"] {
        let text = folder.run(&format!("room room.geojson --radius {radius}")).bad();
        assert!(!text.contains("fault of hullfield"), "{radius}: {text}");
    }
}
