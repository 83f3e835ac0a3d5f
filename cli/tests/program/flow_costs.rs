//! `flow` with friction in floats or in map units, and with other rules of costs, in one piece: against Dijkstra; its paths, allocation, pictures and goals.

use hullfield_oracle::random::Random;
use hullfield_oracle::seed;
use serde_json::Value;
use tiff::encoder::TiffKindStandard;
use tiff::tags::Tag;

use super::Folder;
use super::flow::{npy, read_npy};
use super::flow_rasters::{Form, floats, tiff};

const SIZE: [usize; 2] = [23, 17];
/// North up, cells of 20 by 50.
const PLACE: [(Tag, &[f64]); 2] = [
    (Tag::ModelPixelScaleTag, &[20.0, 50.0, 0.0]),
    (Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, 1000.0, 9000.0, 0.0]),
];
/// Cells of 1 by 1.
const UNITS: [(Tag, &[f64]); 2] = [(Tag::ModelPixelScaleTag, &[1.0, 1.0, 0.0]), PLACE[1]];
/// In the order of codes: N, E, S, W, NE, SE, SW, NW.
const OFFSETS: [[isize; 2]; 8] = [[0, -1], [1, 0], [0, 1], [-1, 0], [1, -1], [1, 1], [-1, 1], [-1, -1]];

/// Distances by relaxing all moves until none lowers any: no corner is cut.
fn distances(friction: &[f64], goals: &[[usize; 2]], lengths: [f64; 3], rule: &str) -> Vec<f64> {
    let [width, height] = SIZE;
    let at = |x: isize, y: isize| {
        let inside = (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
        inside.then(|| y as usize * width + x as usize).filter(|&index| friction[index] > 0.0)
    };
    let mut distances = vec![f64::INFINITY; friction.len()];
    for &[x, y] in goals {
        distances[y * width + x] = 0.0;
    }
    loop {
        let mut is_lower = false;
        for index in 0..friction.len() {
            let (x, y) = ((index % width) as isize, (index / width) as isize);
            if at(x, y).is_none() {
                continue;
            }
            for [dx, dy] in OFFSETS {
                let Some(next) = at(x + dx, y + dy) else { continue };
                let is_diagonal = dx != 0 && dy != 0;
                if is_diagonal && (at(x + dx, y).is_none() || at(x, y + dy).is_none()) {
                    continue;
                }
                let length = if is_diagonal { lengths[2] } else { lengths[usize::from(dy != 0)] };
                let cost = match rule {
                    "entry" => friction[next],
                    "exit" => friction[index],
                    _ => 0.5 * (friction[index] + friction[next]),
                };
                let lowered = distances[next] + length * cost;
                if lowered < distances[index] * (1.0 - 1e-15) {
                    (distances[index], is_lower) = (lowered, true);
                }
            }
        }
        if !is_lower {
            return distances;
        }
    }
}

fn single(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn whole(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn form() -> Form {
    Form { chunk: SIZE, compression: 1, has_predictor: false }
}

/// Whole friction of 1 to 9, and 0 for obstacles; the goals are free.
fn friction(goals: &[[usize; 2]]) -> Vec<u16> {
    let mut random = Random::new(seed(38));
    let mut cells: Vec<u16> = (0..SIZE[0] * SIZE[1])
        .map(|_| if random.below(4) == 0 { 0 } else { 1 + random.below(9) as u16 })
        .collect();
    for &[x, y] in goals {
        cells[y * SIZE[0] + x] = 3;
    }
    cells
}

const GOALS: [[usize; 2]; 3] = [[2, 3], [20, 14], [11, 8]];

/// Every rule and kind of number: distances, next cells, allocation and paths agree with one another and with Dijkstra.
#[test]
fn costs_in_one_piece() {
    let folder = Folder::new();
    let cells = friction(&GOALS);
    let bytes: Vec<u8> = cells.iter().flat_map(|cost| cost.to_ne_bytes()).collect();
    let exact: Vec<f64> = cells.iter().map(|&cost| f64::from(cost)).collect();
    folder.write("whole.tif", tiff::<TiffKindStandard>(SIZE, form(), &bytes, 2, 1, &PLACE, None)).write(
        "float.tif",
        tiff::<TiffKindStandard>(
            SIZE,
            form(),
            &floats(exact.iter().map(|&cost| cost as f32)),
            4,
            3,
            &PLACE,
            None,
        ),
    );
    let [first, second, third] = GOALS.map(|[x, y]| format!("--goal {x},{y}"));
    for rule in ["entry", "exit", "mean"] {
        for (file, units) in [("whole.tif", "steps"), ("whole.tif", "map"), ("float.tif", "map")] {
            let outputs = "--out d.npy --next n.npy --allocation a.npy --png p.png --paths p.geojson";
            // The second goal is on an obstacle or outside: the numbers of the others stay.
            let report = folder.run(&format!(
                "flow {file} {first} --goal -1,0 {second} {third} --cost-rule {rule} --units {units} {outputs} --trace 0,16 --trace-at 1450,8990 --json"
            ));
            let report: Value = serde_json::from_str(&report.good()).unwrap();
            let name = format!("{file} {rule} {units}");
            let (lengths, scale) = match (units, rule) {
                ("map", _) => ([20.0, 50.0, 20.0_f64.hypot(50.0)], 1.0),
                (_, "mean") => ([408.0, 408.0, 577.0], 2.0),
                _ => ([408.0, 408.0, 577.0], 1.0),
            };
            let wanted = distances(&exact, &GOALS, lengths, rule);
            let (_, bytes) = read_npy(&folder, "d.npy");
            let found: Vec<f64> = if units == "map" {
                single(&bytes).into_iter().map(f64::from).collect()
            } else {
                let steps = |steps: u32| if steps == u32::MAX { f64::INFINITY } else { f64::from(steps) };
                whole(&bytes).into_iter().map(|found| steps(found) / scale).collect()
            };
            for (at, (&wanted, &found)) in wanted.iter().zip(&found).enumerate() {
                assert!(
                    wanted == found || (wanted - found).abs() < 1e-6 * wanted,
                    "{name} {at}: {found} for {wanted}"
                );
            }
            // Next cells lead down to a goal, and the allocation names it.
            let (_, next) = read_npy(&folder, "n.npy");
            let (_, allocation) = read_npy(&folder, "a.npy");
            let numbers = [0, 2, 3];
            for start in 0..found.len() {
                let mut cell = start;
                while let Some([dx, dy]) = OFFSETS.get(usize::from(next[cell])) {
                    let to = (cell as isize + dy * SIZE[0] as isize + dx) as usize;
                    let length = if dx * dy != 0 { lengths[2] } else { lengths[usize::from(*dy != 0)] };
                    let cost = match rule {
                        "entry" => exact[to],
                        "exit" => exact[cell],
                        _ => 0.5 * (exact[cell] + exact[to]),
                    };
                    let error = (found[cell] - found[to] - length * cost).abs();
                    assert!(error <= 1e-6 * found[cell], "{name} {start}: {error}");
                    cell = to;
                }
                let goal =
                    GOALS.iter().position(|&[x, y]| y * SIZE[0] + x == cell && found[start] < f64::INFINITY);
                let number = goal.map_or(u32::MAX, |goal| numbers[goal]);
                assert_eq!(whole(&allocation)[start], number, "{name} {start}");
                assert_eq!(found[start] < f64::INFINITY, goal.is_some(), "{name} {start}");
            }
            // The trace of a place on the map, in the report and as GeoJSON.
            assert_eq!(report["traces"][1]["start"], serde_json::json!([22, 0]), "{name}");
            let paths: Value = serde_json::from_str(&folder.read("p.geojson")).unwrap();
            for (trace, path) in
                report["traces"].as_array().unwrap().iter().zip(paths["features"].as_array().unwrap())
            {
                assert_eq!(trace["status"], path["properties"]["status"]);
                assert_eq!(trace["distance"], path["properties"]["distance"]);
                let line = &path["geometry"]["coordinates"];
                let points = if path["geometry"]["type"] == "Point" {
                    vec![line.clone()]
                } else {
                    line.as_array().unwrap().clone()
                };
                let centres: Vec<Value> = trace["cells"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|cell| {
                        let [x, y] = [&cell[0], &cell[1]].map(|part| part.as_f64().unwrap());
                        serde_json::json!([1000.0 + 20.0 * (x + 0.5), 9000.0 - 50.0 * (y + 0.5)])
                    })
                    .collect();
                assert_eq!(points, centres, "{name}");
            }
            assert_eq!(report["counts"]["goals"], 3);
            assert_eq!(report["goals"]["outside"], serde_json::json!([[-1, 0]]));
            assert!(std::fs::read(folder.path("p.png")).unwrap().starts_with(b"\x89PNG"));
        }
    }
}

/// Goals from tables, points on the map and rasters are those of `--goal`.
#[test]
fn goals_from_files() {
    let folder = Folder::new();
    let cells = friction(&GOALS);
    let bytes: Vec<u8> = cells.iter().flat_map(|cost| cost.to_ne_bytes()).collect();
    folder.write("map.tif", tiff::<TiffKindStandard>(SIZE, form(), &bytes, 2, 1, &PLACE, None));
    let flags = GOALS.map(|[x, y]| format!("--goal {x},{y}")).join(" ");
    folder.run(&format!("flow map.tif {flags} --out wanted.npy")).good();
    let table: String = GOALS.iter().map(|[x, y]| format!("{x},{y}\n")).collect();
    let point = |[x, y]: [usize; 2]| {
        let place = [1000.0 + 20.0 * (x as f64 + 0.3), 9000.0 - 50.0 * (y as f64 + 0.8)];
        serde_json::json!({ "type": "Feature", "properties": null, "geometry": { "type": "Point", "coordinates": place } })
    };
    let mut features = GOALS.map(point).to_vec();
    features.push(serde_json::json!({ "type": "Feature", "properties": null, "geometry": null }));
    let places = serde_json::json!({ "type": "FeatureCollection", "features": features });
    let mut marks = vec![0.0_f32; cells.len()];
    for (number, [x, y]) in GOALS.into_iter().enumerate() {
        marks[y * SIZE[0] + x] = [1.0, -4.5, f32::INFINITY][number];
    }
    let marks: Vec<f32> = marks
        .into_iter()
        .enumerate()
        .map(|(at, mark)| match at % 5 {
            _ if mark != 0.0 => mark,
            0 => f32::NAN,
            1 => -9.0,
            _ => 0.0,
        })
        .collect();
    let shape = format!("({}, {})", SIZE[1], SIZE[0]);
    let bits: Vec<u8> = marks
        .iter()
        .enumerate()
        .map(|(at, _)| u8::from(GOALS.iter().any(|&[x, y]| y * SIZE[0] + x == at)))
        .collect();
    folder
        .write("goals.csv", format!("x,y\n{table}"))
        .write("goals.geojson", places.to_string())
        .write("goals.tif", tiff::<TiffKindStandard>(SIZE, form(), &floats(marks), 4, 3, &PLACE, Some("-9")))
        .write("goals.npy", npy("|b1", false, &shape, &bits))
        .write("none.csv", "x,y\n")
        .write("half.csv", "x,y\n1.5,2\n")
        .write("area.geojson", r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#)
        .write("small.npy", npy("|b1", false, "(1, 1)", &[1]))
        .write("goals.txt", "1,2");
    let wanted = std::fs::read(folder.path("wanted.npy")).unwrap();
    for file in ["goals.csv", "goals.geojson", "goals.tif", "goals.npy"] {
        folder.run(&format!("flow map.tif --goals {file} --out found.npy")).good();
        assert!(std::fs::read(folder.path("found.npy")).unwrap() == wanted, "{file}");
        // Beside goals on the command line, and in tiles.
        folder.run(&format!("flow map.tif --goals {file} --goal 2,3 --out found.npy --tiles work")).good();
        assert!(std::fs::read(folder.path("found.npy")).unwrap() == wanted, "{file}");
    }
    for (file, message) in [
        ("none.csv", "none.csv: it has no goals"),
        ("half.csv", "half.csv: line 2, column x: \"1.5\" is not a whole number"),
        ("area.geojson", "area.geojson: a Polygon is no goal: points are read"),
        ("small.npy", "small.npy: it has 1 x 1 cells, the map 23 x 17"),
        (
            "goals.txt",
            "goals.txt: unknown format by its extension: csv, geojson, json, npy, tif or a raw file with a .hdr is read",
        ),
        ("gone.csv", "gone.csv: cannot be read"),
    ] {
        let error = folder.run(&format!("flow map.tif --goals {file} --out d.npy")).bad();
        assert!(error.contains(message), "{error}");
    }
    let error = folder.run("flow map.tif --goal 2,3 --paths p.geojson").bad();
    assert_eq!(error, "--paths: name the starts of paths by --trace or --trace-at");
    let error = folder.run("flow map.tif --goal 2,3 --max-distance -1").bad();
    assert!(error.contains("\"-1\" is not a finite number of 0 or more"), "{error}");
}

/// A limit is in the unit of the distances; in whole steps a fraction counts for nothing.
#[test]
fn limits_in_fractions() {
    let folder = Folder::new();
    let line = Form { chunk: [6, 1], compression: 1, has_predictor: false };
    let cells: Vec<u8> = [1_u16; 6].iter().flat_map(|cost| cost.to_ne_bytes()).collect();
    folder
        .write("line.tif", tiff::<TiffKindStandard>([6, 1], line, &cells, 2, 1, &UNITS, None))
        .write("half.tif", tiff::<TiffKindStandard>([6, 1], line, &floats([0.5; 6]), 4, 3, &[], None));
    for (arguments, count) in [
        ("line.tif --max-distance 815.9", 2),
        ("line.tif --max-distance 816", 3),
        ("line.tif --max-distance 1e30", 6),
        ("line.tif --max-distance 2.5 --units map", 3),
        ("half.tif --max-distance 0.75", 2),
        ("half.tif --max-distance 0.75 --tiles work", 2),
        ("half.tif --max-distance 1.5", 4),
        ("half.tif --max-distance 0", 1),
    ] {
        let report = folder.run(&format!("flow {arguments} --goal 0,0 --out d.npy --json")).good();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["counts"]["reached"], count, "{arguments}");
    }
}
