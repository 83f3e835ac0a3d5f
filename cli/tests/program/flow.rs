//! `flow`: maps of every format; arrays, reports and pictures; scenarios.

use hullfield_oracle::seed;
use serde_json::{Value, json};

use super::{Folder, assert_no_output, backend, fast_backend, is_long};

/// Two rows of three cells; the middle of the upper row is an obstacle.
const SMALL: &str = "type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n";

/// Distances and next-cell codes of [`SMALL`] with the goal at the upper left.
const DISTANCES: [u32; 6] = [0, u32::MAX, 4, 1, 2, 3];
const NEXT: [u8; 6] = [255, 1, 2, 0, 3, 3];

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// An array as NumPy writes it.
pub(super) fn npy(descr: &str, is_fortran: bool, shape: &str, cells: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(cells);
    bytes
}

/// The header and the cells of an array in a file.
pub(super) fn read_npy(folder: &Folder, name: &str) -> (String, Vec<u8>) {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
    (header.trim_end().to_owned(), bytes[10 + length..].to_vec())
}

fn read_distances(folder: &Folder, name: &str) -> Vec<u32> {
    let (header, cells) = read_npy(folder, name);
    assert!(header.contains("'descr': '<u4'"), "{header}");
    cells.chunks_exact(4).map(|cell| u32::from_le_bytes(cell.try_into().unwrap())).collect()
}

/// A grey picture as PNG.
fn png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
    bytes
}

/// A picture's size and its RGB pixels.
fn read_png(folder: &Folder, name: &str) -> ([u32; 2], Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(folder.path(name)).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    ([frame.width, frame.height], pixels)
}

#[test]
fn every_format_gives_the_same_map() {
    let folder = Folder::new();
    let ros = "image: small.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n";
    folder
        .write("a.map", SMALL)
        .write("b.map", SMALL.replace('\n', "\r\n").replace('@', "W"))
        .write("c.png", png(3, 2, &[255, 0, 200, 128, 255, 255]))
        .write("small.pgm", b"P5\n# by hand\n3 2\n255\n\xfe\x00\xfe\xfe\xfe\xfe")
        .write("e.pgm", "P2 3 2 10 10 0 10 10 9 10")
        .write("f.yaml", ros)
        .write("g.yml", ros.replace("negate: 0", "negate: true").replace("small.pgm", "dark.pgm"))
        .write("dark.pgm", b"P5 3 2 255\n\x01\xfe\x01\x00\x00\x00")
        .write("h.npy", npy("|u1", false, "(2, 3)", &[0, 1, 0, 0, 0, 0]))
        .write("i.npy", npy("|u1", true, "(2, 3)", &[0, 0, 1, 0, 0, 0]));
    for map in ["a.map", "b.map", "c.png", "small.pgm", "e.pgm", "f.yaml", "g.yml", "h.npy", "i.npy"] {
        let line = format!(
            "flow {map} --backend {} --goal 0,0 --connectivity 4 --out d.npy --next n.npy",
            backend()
        );
        folder.run(&line).good();
        assert_eq!(read_distances(&folder, "d.npy"), DISTANCES, "{map}");
        let (header, next) = read_npy(&folder, "n.npy");
        assert_eq!(header, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }");
        assert_eq!(next, NEXT, "{map}");
    }
    let value = parse(&folder.run("flow f.yaml --backend cpu --goal 0,0 --json").good());
    assert_eq!(value["map"]["cell_size"], 0.5);
    assert_eq!(value["map"]["origin"], json!([-1.0, 3.0, 0.0]));
    // A cell between the thresholds is unknown, an obstacle. A shade of 178 is an occupancy of 0.3.
    folder.write("small.pgm", b"P5 3 2 255\n\xfe\xb2\xfe\xfe\xfe\xfe");
    let value = parse(&folder.run("flow f.yaml --backend cpu --goal 0,0 --json").good());
    assert_eq!((&value["counts"]["obstacles"], &value["counts"]["unknown"]), (&1.into(), &1.into()));
    folder.write("loose.yaml", ros.replace("0.196", "0.4"));
    let value = parse(&folder.run("flow loose.yaml --backend cpu --goal 0,0 --json").good());
    assert_eq!((&value["counts"]["obstacles"], &value["counts"]["unknown"]), (&0.into(), &0.into()));
}

#[test]
fn volumes() {
    let folder = Folder::new();
    // Two layers of 1 x 3; the middle of the first is an obstacle.
    folder.write("v.npy", npy("|u1", false, "(2, 1, 3)", &[0, 1, 0, 0, 0, 0]));
    let line =
        format!("flow v.npy --backend {} --goal 0,0,0 --out d.npy --next n.npy --png v.png", backend());
    folder.run(&format!("{line} --connectivity 6")).good();
    assert_eq!(read_distances(&folder, "d.npy"), [0, u32::MAX, 4, 1, 2, 3]);
    assert!(read_npy(&folder, "n.npy").0.contains("(2, 1, 3)"));
    // -x is 2, +x is 3, -z is 4, +z is 5.
    assert_eq!(read_npy(&folder, "n.npy").1, [255, 2, 5, 4, 2, 2]);
    // Diagonals through the layers are the default, and no corner is cut.
    let value = parse(&folder.run(&format!("{line} --json --trace 2,0,0")).good());
    assert_eq!(value["step"], 1183);
    assert_eq!(value["traces"][0]["distance"], 4 * 1183);
    assert_eq!(value["traces"][0]["cells"].as_array().unwrap().len(), 5);
    let value = parse(&folder.run(&format!("{line} --json --trace 2,0,0 --corners one-free")).good());
    assert_eq!(value["traces"][0]["distance"], 2 * 1673);
}

#[test]
fn the_report_as_text_and_as_json() {
    let folder = Folder::new();
    folder.write("a.map", SMALL);
    let run =
        format!("flow a.map --backend {} --goal 0,0 --connectivity 4 --trace 2,0 --trace 1,0", backend());
    let text = folder.run(&run).good();
    assert!(text.contains("(2, 0) to (0, 0): 4 steps, distance 4 (4.00000 cells)"), "{text}");
    assert!(text.contains("  (2, 0) (2, 1) (0, 1) (0, 0)\n"), "{text}");
    assert!(text.contains("out of an obstacle"), "{text}");
    let value = parse(&folder.run(&format!("{run} --json")).good());
    assert_eq!(value["map"]["size"], json!([3, 2, 1]));
    let counts = json!({
        "cells": 6, "obstacles": 1, "unknown": 0, "goals": 1, "levels": 5, "rounds": value["counts"]["rounds"], "reached": 5,
        "unreached": 0,
    });
    assert_eq!(value["counts"], counts);
    assert_eq!((&value["farthest"], &value["units"]), (&4.into(), &"steps".into()));
    assert_eq!(value["goals"], json!({ "blocked": [], "outside": [] }));
    assert_eq!(value["traces"][0]["cells"], json!([[2, 0], [2, 1], [1, 1], [0, 1], [0, 0]]));
    // Out of the obstacle to the first free neighbour, then along the field.
    assert_eq!(value["traces"][1]["cells"].as_array().unwrap()[..2], [json!([1, 0]), json!([2, 0])]);
    assert_eq!(value["traces"][1]["distance"], 4);
}

#[test]
fn costs_limits_and_edits() {
    let folder = Folder::new();
    folder
        .write("a.map", SMALL)
        .write("c.npy", npy("<u2", false, "(2, 3)", &[1, 0, 1, 0, 1, 0, 1, 0, 7, 0, 1, 0]))
        .write("e.csv", "x,y,what,cost\n1,0,free,\n1,1,block,\n2,0,cost,9\n");
    let line = format!("flow a.map --backend {} --goal 0,0 --connectivity 4 --out d.npy", backend());
    let distances = |extra: &str| {
        folder.run(&format!("{line} {extra}")).good();
        read_distances(&folder, "d.npy")
    };
    assert_eq!(distances("--cost c.npy"), [0, u32::MAX, 10, 1, 2, 9]);
    assert_eq!(distances("--max-distance 2"), [0, u32::MAX, u32::MAX, 1, 2, u32::MAX]);
    // The obstacle moves down, and the upper right cell costs 9: the path from the lower right enters it.
    assert_eq!(distances("--edits e.csv"), [0, 1, 2, 1, u32::MAX, 11]);
    let value = parse(&folder.run(&format!("{line} --edits e.csv --json")).good());
    assert_eq!(value["counts"]["changed"], 4);
    // A goal that the edits block is left out of the second field.
    let run = folder.run(&format!("{line} --goal 1,1 --edits e.csv"));
    assert!(run.stderr.contains("warning: 1 of 2 goals on obstacles, left out: (1, 1)"), "{run:?}");
    assert_eq!(run.code, Some(0));
}

#[test]
fn clearance() {
    let folder = Folder::new();
    let rows = ["......#", ".......", ".......", "......."].map(|row| row.replace('#', "@"));
    folder.write("a.map", format!("type octile\nheight 4\nwidth 7\nmap\n{}\n", rows.join("\n")));
    folder.write("e.csv", "x,y,what\n3,1,block\n6,0,free\n");
    let line = format!("flow a.map --backend {} --connectivity 4 --out d.npy --goal 1,1", backend());
    let distances = |extra: &str| {
        folder.run(&format!("{line} {extra}")).good();
        let distances = read_distances(&folder, "d.npy");
        distances
            .chunks(7)
            .map(|row| row.iter().map(|&d| if d < 99 { char::from(b'0' + d as u8) } else { '#' }).collect())
            .collect::<Vec<String>>()
    };
    assert_eq!(distances("--clearance 0"), ["212345#", "1012345", "2123456", "3234567"]);
    // The border is half a cell from the centres of the cells beside it. The centre of (5, 1) is 0.7 from the obstacle's corner.
    assert_eq!(distances("--clearance 0.6"), ["#######", "#01234#", "#12345#", "#######"]);
    assert_eq!(distances("--clearance 0.75"), ["#######", "#0123##", "#12345#", "#######"]);
    // An obstacle is added and one is removed. The field is that of the edited map.
    assert_eq!(distances("--clearance 0.6 --edits e.csv"), ["#######", "#0#####", "#12####", "#######"]);
    for (radius, expected) in [
        ("-1", "--clearance is -1, it must be from 0 to 32,767 cells"),
        ("nan", "--clearance is NaN, it must be from 0 to 32,767 cells"),
        ("inf", "--clearance is inf, it must be from 0 to 32,767 cells"),
        ("3", "no goal is left: of 1 given, 1 are on obstacles, 0 off the grid"),
    ] {
        assert_eq!(folder.run(&format!("{line} --clearance {radius}")).bad(), expected);
    }
}

#[test]
fn corners() {
    let folder = Folder::new();
    folder
        .write("a.map", "type octile\nheight 2\nwidth 2\nmap\n.@\n..\n")
        .write("b.map", "type octile\nheight 2\nwidth 2\nmap\n.@\n@.\n");
    let distance = |map: &str, corners: &str| {
        let line = format!("flow {map} --backend {} --goal 0,0 --trace 1,1 --json {corners}", backend());
        parse(&folder.run(&line).good())["traces"][0]["distance"].as_u64()
    };
    for (corners, one, two) in [
        ("", Some(816), None),
        ("--corners both-free", Some(816), None),
        ("--corners one-free", Some(577), None),
        ("--corners any", Some(577), Some(577)),
    ] {
        assert_eq!((distance("a.map", corners), distance("b.map", corners)), (one, two), "{corners}");
    }
}

#[test]
fn goals_that_are_left_out() {
    let folder = Folder::new();
    folder.write("a.map", SMALL);
    let line = format!("flow a.map --backend {} --connectivity 4 --out d.npy", backend());
    let run = folder.run(&format!("{line} --goal 0,0 --goal 1,0 --goal -1,7 --goal 0,0"));
    assert_eq!(
        run.stderr,
        "hullfield: warning: 1 of 4 goals on obstacles, left out: (1, 0)\n\
         hullfield: warning: 1 of 4 goals outside the map, left out: (-1, 7)\n"
    );
    run.good();
    assert_eq!(read_distances(&folder, "d.npy"), DISTANCES);
    std::fs::remove_file(folder.path("d.npy")).unwrap();
    let message = folder.run(&format!("{line} --goal 1,0 --goal 9,9")).bad();
    assert_eq!(message, "no goal is left: of 2 given, 1 are on obstacles, 1 off the grid");
    assert_no_output(&folder, &folder.path("d.npy"));
    assert!(folder.run("flow a.map").bad().contains("--goal"));
}

#[test]
fn pictures() {
    let folder = Folder::new();
    folder.write("a.map", SMALL).write("line.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
    let line = format!("flow a.map --backend {} --goal 0,0 --connectivity 4 --png", backend());
    folder.run(&format!("{line} plain.png")).good();
    folder.run(&format!("{line} trace.png --trace 2,0")).good();
    let (size, plain) = read_png(&folder, "plain.png");
    let (_, traced) = read_png(&folder, "trace.png");
    assert_eq!(size, [144, 96]);
    // Cells of small maps are large enough for arrows. The trace goes through the last cell and not the obstacle.
    let at = |pixels: &[u8], x: usize, y: usize| -> [u8; 3] {
        pixels[(y * 144 + x) * 3..][..3].try_into().unwrap()
    };
    assert_eq!(at(&traced, 120, 24), [255; 3]);
    assert_ne!(at(&plain, 120, 24), [255; 3]);
    assert_eq!(at(&plain, 60, 10), at(&traced, 60, 10));
    let corners = [(5, 5), (60, 10), (101, 5), (5, 53)].map(|(x, y)| at(&plain, x, y));
    assert_eq!(corners.iter().collect::<std::collections::HashSet<_>>().len(), 4, "{corners:?}");
    folder.run("flow line.map --backend cpu --goal 0,0 --png line.png").good();
    assert_eq!(read_png(&folder, "line.png").0, [48, 48]);
}

/// A seeded map with a third of its cells blocked.
fn seeded_map(width: usize, height: usize) -> Vec<bool> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..width * height).map(|_| next() % 3 == 0).collect()
}

/// Lengths in cells from a goal, by repeated sweeps over the map. It shares no code with the library.
fn lengths(blocked: &[bool], width: usize, goal: usize) -> Vec<f64> {
    let height = blocked.len() / width;
    let mut lengths = vec![f64::INFINITY; blocked.len()];
    lengths[goal] = 0.0;
    let free = |x: i64, y: i64| {
        (0..width as i64).contains(&x)
            && (0..height as i64).contains(&y)
            && !blocked[y as usize * width + x as usize]
    };
    loop {
        let mut has_changed = false;
        for y in 0..height as i64 {
            for x in 0..width as i64 {
                let at = y as usize * width + x as usize;
                for (dx, dy) in [(0, -1), (1, 0), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, 1), (-1, -1)] {
                    if free(x, y) && free(x + dx, y + dy) && free(x + dx, y) && free(x, y + dy) {
                        let to = (y + dy) as usize * width + (x + dx) as usize;
                        let length = lengths[to] + if dx * dy == 0 { 1.0 } else { std::f64::consts::SQRT_2 };
                        if length < lengths[at] - 1e-9 {
                            (lengths[at], has_changed) = (length, true);
                        }
                    }
                }
            }
        }
        if !has_changed {
            return lengths;
        }
    }
}

#[test]
fn scenarios() {
    let (width, height) = (40, 30);
    let blocked = seeded_map(width, height);
    let mut map = format!("type octile\nheight {height}\nwidth {width}\nmap\n");
    for row in blocked.chunks(width) {
        map.extend(row.iter().map(|&is_blocked| if is_blocked { 'T' } else { '.' }));
        map.push('\n');
    }
    let mut scen = "version 1\n".to_owned();
    let mut count = 0;
    for goal in (0..blocked.len()).step_by(67).filter(|&goal| !blocked[goal]) {
        let lengths = lengths(&blocked, width, goal);
        for start in (0..blocked.len()).step_by(41).filter(|&start| lengths[start].is_finite()) {
            let (x, y, gx, gy) = (start % width, start / width, goal % width, goal / width);
            // Six digits, as in the public scenarios.
            scen.push_str(&format!(
                "0\tm.map\t{width}\t{height}\t{x}\t{y}\t{gx}\t{gy}\t{:.6}\n",
                lengths[start]
            ));
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
    let folder = Folder::new();
    folder.write("m.map", map).write("good.scen", &scen);
    let line = format!("flow m.map --backend {} --scenarios", backend());
    let value = parse(&folder.run(&format!("{line} good.scen --json")).good());
    assert_eq!(
        (&value["counts"]["scenarios"], &value["counts"]["matched"], &value["wrong"]),
        (&count.into(), &count.into(), &json!([]))
    );
    assert!(value["worst_difference"].as_f64().unwrap() < 1e-5);
    // A length that is slightly off is found.
    let mut lines: Vec<String> = scen.lines().map(str::to_owned).collect();
    let fields: Vec<&str> = lines[50].split('\t').collect();
    let longer = fields[8].parse::<f64>().unwrap() * 1.00003;
    lines[50] = format!("{}\t{longer}", fields[..8].join("\t"));
    folder.write("wrong.scen", lines.join("\n"));
    let run = folder.run(&format!("{line} wrong.scen --json"));
    assert_eq!((run.code, &parse(&run.stdout)["wrong"]), (Some(1), &json!([49])));
    assert!(run.stderr.contains("1 of") && run.stderr.contains("the first in line 51: "), "{run:?}");
    let text = folder.run(&format!("{line} good.scen")).good();
    assert!(text.contains("lengths match"), "{text}");
}

/// A field ends when the starts of its scenarios are reached. Near starts on a large map need few of its cells; 40 whole fields
/// would need 40 times the map.
#[test]
fn scenarios_end_when_their_starts_are_settled() {
    let (width, height, count) = (300, 200, 40);
    let row = format!("{}\n", ".".repeat(width));
    let map = format!("type octile\nheight {height}\nwidth {width}\nmap\n{}", row.repeat(height));
    let mut scen = "version 1\n".to_owned();
    for i in 0..count {
        let (x, y) = (10 + 7 * i, 10 + 4 * i);
        // Two scenarios with the same goal share a field.
        scen.push_str(&format!("0 m.map {width} {height} {} {y} {x} {y} 3\n", x - 3));
        scen.push_str(&format!("0 m.map {width} {height} {x} {} {x} {y} 4\n", y + 4));
    }
    let folder = Folder::new();
    folder.write("m.map", map).write("near.scen", &scen);
    let line = format!("flow m.map --backend {} --scenarios near.scen --json", fast_backend());
    let counts = parse(&folder.run(&line).good())["counts"].clone();
    assert_eq!(
        [&counts["scenarios"], &counts["fields"], &counts["matched"]],
        [&json!(80), &json!(40), &json!(80)]
    );
    let settled = counts["reached"].as_u64().unwrap();
    assert!((40 * 20..40 * 200).contains(&settled), "{counts}");
    // An unreachable start needs the whole of its field, and of no other.
    let walled = folder.read("m.map").replacen(&row, &format!("{}@.@\n", ".".repeat(width - 3)), 1);
    let walled = walled.replacen(&row, &format!("{}@@@\n", ".".repeat(width - 3)), 1);
    folder
        .write("w.map", walled)
        .write("w.scen", format!("{scen}0 w.map {width} {height} {} 0 10 10 1\n", width - 2));
    let run = folder.run(&line.replace("m.map", "w.map").replace("near", "w"));
    let value = parse(&run.stdout);
    assert_eq!((run.code, &value["wrong"]), (Some(1), &json!([80])));
    let settled = value["counts"]["reached"].as_u64().unwrap() as usize;
    assert!((width * height..2 * width * height).contains(&settled), "{value}");
}

#[test]
fn distances_in_cells() {
    let folder = Folder::new();
    folder.write("a.map", "type octile\nheight 2\nwidth 4\nmap\n...@\n..@.\n");
    let line = format!("flow a.map --backend {} --goal 0,0 --out d.npy --trace 2,0 --units cells", backend());
    let text = folder.run(&line).good();
    assert!(text.contains("(2, 0) to (0, 0): 2 steps, distance 2.00000 cells"), "{text}");
    assert!(text.contains("2.00000 cells"), "{text}");
    let (header, bytes) = read_npy(&folder, "d.npy");
    assert_eq!(header, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }");
    let cells: Vec<f32> = bytes.chunks(4).map(|cell| f32::from_le_bytes(cell.try_into().unwrap())).collect();
    let diagonal = (577.0_f64 / 408.0) as f32;
    assert_eq!(cells, [0.0, 1.0, 2.0, f32::INFINITY, 1.0, diagonal, f32::INFINITY, f32::INFINITY]);
    let value = parse(&folder.run(&format!("{line} --json")).good());
    assert_eq!((&value["units"], &value["step"]), (&"cells".into(), &408.into()));
    assert_eq!((&value["farthest"], &value["traces"][0]["distance"]), (&2.0.into(), &2.0.into()));
    // With connectivity 4 a step is a cell.
    folder.run(&format!("{line} --connectivity 4")).good();
    let cells: Vec<u8> = read_npy(&folder, "d.npy").1;
    assert_eq!(cells[20..24], 2.0_f32.to_le_bytes());
    // In three dimensions a step along an axis is 1183.
    folder.write("v.npy", npy("|u1", false, "(2, 1, 2)", &[0, 0, 0, 0]));
    let value = parse(&folder.run("flow v.npy --backend cpu --goal 0,0,0 --units cells --json").good());
    assert_eq!(value["farthest"], 1673.0 / 1183.0);
    assert!(
        folder
            .run("flow a.map --goal 0,0 --units feet")
            .bad()
            .contains("[possible values: steps, cells, map, metres]")
    );
}

/// The public scenarios, if the corpus is there.
#[test]
fn scenarios_of_the_corpus() {
    let Some(corpus) = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty()) else {
        eprintln!("HULLFIELD_CORPUS is not set: only seeded scenarios are tested");
        return;
    };
    let mut maps = std::path::PathBuf::from(corpus).join("movingai");
    if !maps.exists() {
        maps = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(maps);
    }
    let folder = Folder::new();
    // About as many fields for the large maps as for the small ones, others in each run. A third of them in a quick run.
    for (name, stride) in [
        ("64room_000", 48),
        ("Archipelago", 48),
        ("arena2", 3),
        ("brc202d", 48),
        ("den520d", 3),
        ("maze512-32-0", 48),
        ("random512-10-0", 48),
    ] {
        let map = maps.join(format!("{name}.map"));
        let all = std::fs::read_to_string(maps.join(format!("{name}.map.scen"))).unwrap();
        let mut lines = all.lines().filter(|line| !line.is_empty());
        let head = lines.next().unwrap();
        let stride = if is_long() { stride } else { 3 * stride };
        let some = lines.skip(seed(0) as usize % stride).step_by(stride);
        let some: Vec<&str> = std::iter::once(head).chain(some).collect();
        let count = some.len() - 1;
        assert!(count >= 10, "{name}: {count}");
        folder.write("some.scen", some.join("\n"));
        let line = format!("flow {} --scenarios some.scen --backend cpu --json", map.display());
        let value = parse(&folder.run(&line).good());
        assert_eq!(
            (&value["counts"]["scenarios"], &value["counts"]["matched"]),
            (&count.into(), &count.into()),
            "{name}"
        );
    }
}

#[test]
fn invalid_maps_are_refused() {
    let folder = Folder::new();
    let cases: [(&str, &[u8], &str); 37] = [
        ("m.map", b"", "m.map: the file is empty"),
        ("m.map", b"\n", "m.map: line 1: \"\", expected was \"type octile\""),
        ("m.map", b"type tile\n", "m.map: line 1: \"type tile\", expected was \"type octile\""),
        ("m.map", b"type octile\n", "m.map: line 2: the file ends before this line"),
        ("m.map", b"type octile\nwidth 3\n", "m.map: line 2: \"width 3\", expected was \"height N\""),
        ("m.map", b"type octile\nheight -2\n", "m.map: line 2: \"height -2\", expected was \"height N\""),
        ("m.map", b"type octile\nheight 0\nwidth 3\nmap\n", "m.map: line 2: the height is 0, it must be 1 or more"),
        ("m.map", b"type octile\nheight 2\nwidth 0\nmap\n\n\n", "m.map: line 3: the width is 0, it must be 1 or more"),
        ("m.map", b"type octile\nheight 2\nwidth 3\n.@.\n", "m.map: line 4: \".@.\", expected was \"map\""),
        ("m.map", b"type octile\nheight 2\nwidth 3\nmap\n.@.\n..\n", "m.map: line 6: row 1 has 2 cells, 3 expected"),
        ("m.map", b"type octile\nheight 2\nwidth 3\nmap\n....\n...\n", "m.map: line 5: row 0 has 4 cells, 3 expected"),
        ("m.map", b"type octile\nheight 2\nwidth 3\nmap\n...\n", "m.map: line 6: row 1 is missing, the height is 2"),
        ("m.map", b"type octile\nheight 1\nwidth 3\nmap\n...\n\n...\n", "m.map: line 7: the map goes on, but its height is 1"),
        ("m.map", b"type octile\nheight 1\nwidth 3\nmap\n.x.\n", "m.map: line 5: cell (1, 0): \"x\" is no terrain, it is one of .GS@OTW"),
        ("m.map", b"type octile\nheight 9999999999\nwidth 9\nmap\n", "m.map: the map is 9999999999 cells long, at most 2147483647 are allowed"),
        ("m.png", b"P7", "m.png: neither a PNG nor a PGM (P2 or P5)"),
        ("m.png", b"\x89PNG\r\n\x1a\n", "m.png: "),
        ("m.pgm", b"P5 3", "m.pgm: its height is not a whole number"),
        ("m.pgm", b"P5 3 0 255\n", "m.pgm: the map is 3 x 0, it has no cells"),
        ("m.pgm", b"P5 3 2 255\n\x00", "m.pgm: it has 1 bytes of pixels, 6 expected"),
        ("m.pgm", b"P2 2 1 10 5 11", "m.pgm: its pixel 1 is 11, the largest value is 10"),
        ("m.pgm", b"P2 2 1 0 0 0", "m.pgm: its largest value is 0, it must be 1 to 65535"),
        ("m.pgm", b"P5 99999999999 99999999999 255\n", "m.pgm: the picture is too large"),
        ("m.yaml", b"a: [", "m.yaml: line "),
        ("m.yaml", b"- 1\n", "m.yaml: it is not a list of fields"),
        ("m.yaml", b"image: a.pgm\n", "m.yaml: field resolution: missing"),
        ("m.yaml", b"image: a.pgm\nscale: 1\n", "m.yaml: field resolution: missing"),
        ("m.yaml", b"image: a.pgm\nresolution: 0\n", "m.yaml: field resolution: 0 is not above zero"),
        ("m.yaml", b"image: a.pgm\nresolution: 1\norigin: [0, 0]\n", "m.yaml: field origin: not three numbers x, y, yaw"),
        ("m.yaml", b"image: a.pgm\nresolution: 1\norigin: [0, .nan, 0]\n", "m.yaml: field origin: not a finite number"),
        ("m.yaml", b"image: a.pgm\nresolution: 1\norigin: [0, 0, 0]\nnegate: often\n", "m.yaml: field negate: neither 0 nor 1"),
        (
            "m.yaml",
            b"image: a.pgm\nresolution: 1\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.1\nfree_thresh: 0.2\n",
            "m.yaml: field free_thresh: 0.2 is above occupied_thresh, 0.1",
        ),
        (
            "m.yaml",
            b"image: none.pgm\nresolution: 1\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.6\nfree_thresh: 0.2\n",
            "none.pgm: cannot be read: ",
        ),
        ("m.npy", b"PK", "m.npy: it is not a .npy file"),
        ("m.npy", b"\x93NUMPY\x01\x00\xff\x00{}", "m.npy: its header is cut short"),
        ("m.txt", b"", "m.txt: unknown format by its extension: map, png, pgm, yaml, yml, npy, tif, tiff, gtiff, asc, vrt, or raw, "),
        ("m", b"", "m: unknown format by its extension: map, png, pgm, yaml, yml, npy, tif, tiff, gtiff, asc, vrt, or raw, "),
    ];
    for (name, content, expected) in cases {
        folder.write(name, content);
        let message = folder.run(&format!("flow {name} --goal 0,0 --backend cpu --out d.npy")).bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
        assert_no_output(&folder, &folder.path("d.npy"));
    }
    assert!(folder.run("flow none.map --goal 0,0").bad().starts_with("none.map: cannot be read: "));
}

#[test]
fn arrays_of_wrong_type_or_shape_are_refused() {
    let folder = Folder::new();
    folder.write("a.map", SMALL);
    let six = [0, 1, 0, 0, 0, 0];
    for (map, expected) in [
        (
            npy("|u1", false, "(6,)", &six),
            "its shape is [6], [height, width] or [depth, height, width] expected",
        ),
        (npy("|u1", false, "(1, 1, 2, 3)", &six), "its shape is [1, 1, 2, 3], [height, width] or"),
        (
            npy("<f4", false, "(2, 3)", &[0; 24]),
            "its cells are <f4, bool or whole numbers expected (|b1, |u1, <i8)",
        ),
        (
            npy("|S1", false, "(2, 3)", &six),
            "its cells are |S1, bool or whole numbers expected (|b1, |u1, <i8)",
        ),
        (npy("|u1", false, "(2, 4)", &six), "it has 6 bytes of cells, which do not fit its shape [2, 4]"),
        (npy("|u1", false, "(2, 2)", &six), "it has 6 bytes of cells, which do not fit its shape [2, 2]"),
        (npy("|u1", false, "(0, 3)", &[]), "the map is 3 x 0, it has no cells"),
        (npy("|u1", false, "(2, 3, 0)", &[]), "the map is 0 x 3 x 2, it has no cells"),
        (
            npy("|u1", false, "(2, 3)", &[0, 0, 0, 0, 0, 2]),
            "cell (2, 1) is 2, it must be 0 (road) or 1 (obstacle)",
        ),
        (
            npy("|u1", true, "(2, 3)", &[0, 0, 0, 7, 0, 0]),
            "cell (1, 1) is 7, it must be 0 (road) or 1 (obstacle)",
        ),
        (npy("|u1", false, "(2, -3)", &six), "shape in its header is (2, -3)"),
        (npy("|u1", false, "(99999999999, 99999999999)", &six), "the map is 99999999999 cells long"),
        (npy("|u1', 'x': '", false, "6", &six), "shape in its header is not a tuple"),
    ] {
        folder.write("m.npy", map);
        let message = folder.run("flow m.npy --goal 0,0 --backend cpu").bad();
        assert!(message.starts_with(&format!("m.npy: {expected}")), "{message}\ninstead of {expected}");
    }
    for (cost, expected) in [
        (npy("|u1", false, "(2, 3)", &[1; 6]), "its cells are |u1, u16 or u32 expected"),
        (npy("<u2", false, "(3, 2)", &[1; 12]), "its shape is [3, 2], the map's is [2, 3]"),
        (npy("<u2", false, "(1, 2, 3)", &[1; 12]), "its shape is [1, 2, 3], the map's is [2, 3]"),
        (
            npy(">u4", false, "(2, 3)", &[[1; 20].as_slice(), &[0; 4]].concat()),
            "cell (2, 1): the cost is 0, it must be 1 or more",
        ),
    ] {
        folder.write("c.npy", cost);
        let message = folder.run("flow a.map --goal 0,0 --backend cpu --cost c.npy").bad();
        assert_eq!(message, format!("c.npy: {expected}"));
    }
}

#[test]
fn invalid_arguments_edits_and_scenarios_are_refused() {
    let folder = Folder::new();
    folder.write("a.map", SMALL).write("v.npy", npy("|u1", false, "(2, 1, 3)", &[0; 6]));
    for (arguments, expected) in [
        ("a.map --goal 1", "--goal: \"1\" is not whole numbers x,y or x,y,z"),
        ("a.map --goal 1,1.5", "--goal: \"1,1.5\" is not whole numbers x,y or x,y,z"),
        ("a.map --goal 1,1,1,1", "--goal: \"1,1,1,1\" is not whole numbers x,y or x,y,z"),
        (
            "a.map --goal 4294967295,0",
            "--goal: \"4294967295,0\" is not whole numbers x,y or x,y,z of at most 2147483647 in magnitude",
        ),
        (
            "a.map --scenarios a.scen --units cells",
            "the argument '--scenarios <FILE.scen>' cannot be used with '--units",
        ),
        ("a.map --goal 0,0 --trace x", "--trace: \"x\" is not whole numbers x,y or x,y,z"),
        ("a.map --goal 0,0 --trace 3,0", "--trace: cell (3, 0) is not on the map"),
        ("a.map --goal 0,0 --connectivity 5", "--connectivity: \"5\" is none of 4, 8, 6 and 26"),
        (
            "a.map --goal 0,0 --connectivity 4 --corners any",
            "--corners any means nothing to --connectivity 4",
        ),
        ("v.npy --goal 0,0 --connectivity 8", "--connectivity 8 is flat, the map has 2 layers"),
        ("a.map --goal 0,0 --out a.map", "a.map: cannot be written: it is one of the inputs"),
        ("a.map --goal 0,0 --out no/such/d.npy", "no/such/d.npy: cannot be written: "),
        ("a.map --goal 0,0 --edits none.csv", "none.csv: cannot be read: "),
    ] {
        let message = folder.run(&format!("flow {arguments} --backend cpu")).bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
    }
    for arguments in [
        "--goal 0,0 --max-distance -1",
        "--goal 0,0 --corners round",
        "--scenarios s.scen --goal 0,0",
        "--colour red",
    ] {
        let run = folder.run(&format!("flow a.map {arguments}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}: {run:?}");
    }
    // A distance overflows 32 bits at a reachable cell, which the error names.
    folder.write("c.npy", npy("<u4", false, "(2, 3)", &[[1, 0, 0, 0].as_slice(), &[0xff; 20]].concat()));
    assert_eq!(
        folder.run("flow a.map --goal 0,0 --cost c.npy --connectivity 4 --backend cpu").bad(),
        "the distance of cell (1, 1), which can be reached, is 2^32 - 1 or more: lower the costs, or set max_distance"
    );
    for (edits, expected) in [
        ("x,y\n1,1\n", "e.csv: line 1: column what is missing"),
        ("x,y,what\n1,1,dig\n", "e.csv: line 2, column what: \"dig\" is none of block, free and cost"),
        ("x,y,what\n1,1,free\n3,1,free\n", "e.csv: line 3, column x: cell (3, 1) is not on the map"),
        ("x,y,what\na,1,free\n", "e.csv: line 2, column x: \"a\" is not a whole number"),
        ("x,y,what\n1,1,cost\n", "e.csv: line 2, column what: cost, but there is no column cost"),
        ("x,y,what,cost\n1,1,cost,0\n", "e.csv: line 2, column cost: \"0\" is not a whole number from 1"),
        ("x,y,what,cost\n1,1,block,4\n", "e.csv: line 2, column cost: \"4\" means nothing to block"),
    ] {
        folder.write("e.csv", edits);
        let message = folder.run("flow a.map --goal 0,0 --backend cpu --edits e.csv").bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
    }
    for (scen, expected) in [
        ("", "s.scen: the file is empty"),
        ("\n", "s.scen: line 1: a scenario file begins with the word version"),
        ("version 1\n0 m 3 2 0 0 1\n", "s.scen: line 2: 7 fields, 9 expected"),
        ("version 1\n0 m 3 3 0 0 2 1 5\n", "s.scen: line 2: its map is 3 x 3, this one is 3 x 2"),
        ("version 1\n0 m 3 2 0 0 2 2 5\n", "s.scen: line 2: its goal (2, 2) is not on the map"),
        ("version 1\n0 m 3 2 -1 0 2 1 5\n", "s.scen: line 2: its start (-1, 0) is not on the map"),
        ("version 1\n0 m 3 2 0 0.5 2 1 5\n", "s.scen: line 2, column start y: \"0.5\" is not a whole number"),
        ("version 1\n0 m 3 2 0 0 2 1 nan\n", "s.scen: line 2, column length: \"nan\" is not a finite number"),
        ("version 1\n0 m 3 2 0 0 1 0 5\n", "s.scen: line 2: no goal is left: of 1 given, 1 are on obstacles"),
    ] {
        folder.write("s.scen", scen);
        let message = folder.run("flow a.map --backend cpu --scenarios s.scen").bad();
        assert!(message.starts_with(expected), "{message}\ninstead of {expected}");
    }
    // If fields are solved in a batch, the error still names the line of the scenario.
    folder.write("s.scen", "version 1\n0 m 3 2 0 0 2 1 3\n0 m 3 2 0 0 1 0 5\n0 m 3 2 0 0 0 1 1\n");
    let message = folder.run(&format!("flow a.map --backend {} --scenarios s.scen", backend())).bad();
    assert!(message.starts_with("s.scen: line 3: no goal is left"), "{message}");
    // An unreachable start is a length that differs.
    folder.write("s.scen", "version 1\n0 m 3 2 1 0 0 0 1\n");
    assert_eq!(folder.run("flow a.map --backend cpu --scenarios s.scen").code, Some(1));
}
