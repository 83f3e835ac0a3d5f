//! `hull`: every format in, a table, JSON and OBJ out.

use super::{Folder, box_obj};

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
                // The box is about the origin: a face looks out where it looks away from it.
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
fn a_hull_shrinks_to_the_vertices_asked_for() {
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
