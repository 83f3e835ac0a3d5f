//! `collide --query distance|contact|manifold`: scenes with answers computed by hand.

use serde_json::Value;

use super::{Folder, backend, box_obj};

/// A folder with a unit box, a point and a segment from -1 to 1 along y, and these bodies.
pub(super) fn folder(bodies: &str) -> Folder {
    let folder = Folder::new();
    folder
        .write("box.obj", box_obj())
        .write("round.csv", "hull,x,y,z\ndot,0,0,0\nrod,0,-1,0\nrod,0,1,0\n")
        .write("bodies.csv", bodies);
    folder
}

pub(super) fn line(query: &str, extra: &str) -> String {
    format!(
        "collide --backend {} --hulls box.obj round.csv --bodies bodies.csv --query {query} {extra}",
        backend()
    )
}

/// The cells of each row. Asserts the columns and their number in each row.
#[track_caller]
pub(super) fn rows(text: &str, columns: &str) -> Vec<Vec<String>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(columns), "{text}");
    let count = columns.split(',').count();
    let rows: Vec<Vec<String>> =
        lines.map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(rows.iter().all(|row| row.len() == count), "{text}");
    rows
}

pub(super) fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap_or_else(|_| panic!("\"{cell}\" is no number"))).collect()
}

#[track_caller]
pub(super) fn near(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    let good = found.iter().zip(expected).all(|(x, y)| (x - y).abs() <= within);
    assert!(good, "{found:?}, expected {expected:?} to within {within:e}");
}

const DISTANCE: &str = "a,b,status,distance,ax,ay,az,bx,by,bz,nx,ny,nz";
const CONTACT: &str = "a,b,status,depth,nx,ny,nz,ax,ay,az,bx,by,bz";

/// Above the tolerance of two unit boxes some units apart, which is about 1e-5 of their radius of 0.87.
const TOLERANCE: f64 = 1.2e-5;

#[test]
fn two_boxes_half_a_unit_apart() {
    let folder = folder("hull,x,y,z\nbox,0,0,0\nbox,1.5,0,0\n");
    for extra in
        ["", "--margin 0.6", "--margin inf", "--all-pairs", "--all-pairs --margin 0.6", "--margin 1e30"]
    {
        let found = rows(&folder.run(&line("distance", extra)).good(), DISTANCE);
        assert_eq!(found.len(), 1, "{extra}");
        assert_eq!(found[0][..3], ["0", "1", "separated"]);
        let found = numbers(&found[0][3..]);
        near(&found[..1], &[0.5], TOLERANCE);
        // The points are opposite each other on the facing sides.
        near(&[found[1], found[4]], &[0.5, 1.0], TOLERANCE);
        near(&found[2..4], &found[5..7], TOLERANCE);
        assert!(found[2].abs() <= 0.5 + TOLERANCE && found[3].abs() <= 0.5 + TOLERANCE, "{found:?}");
        near(&found[7..], &[1.0, 0.0, 0.0], TOLERANCE);
    }
    for extra in ["--margin 0.4", "--margin 0", "--all-pairs --margin 0.4"] {
        assert_eq!(rows(&folder.run(&line("distance", extra)).good(), DISTANCE).len(), 0, "{extra}");
    }
    let text = folder.run(&line("distance", "--exact")).good();
    let found = numbers(&rows(&text, DISTANCE)[0][3..]);
    near(&found[..1], &[0.5], 1e-9);
}

/// Given pairs have a row each, in their order, at any margin. The normal points from a to b.
#[test]
fn given_pairs_have_their_rows_in_order() {
    let folder = folder("hull,x,y,z\nbox,0,0,0\nbox,1.5,0,0\nbox,0,0.25,0\n");
    folder.write("pairs.csv", "a,b\n1,0\n2,0\n0,1\n1,0\n");
    for extra in ["--pairs pairs.csv", "--pairs pairs.csv --margin 0"] {
        let found = rows(&folder.run(&line("distance", extra)).good(), DISTANCE);
        let pairs: Vec<&[String]> = found.iter().map(|row| &row[..2]).collect();
        assert_eq!(pairs, [["1", "0"], ["2", "0"], ["0", "1"], ["1", "0"]]);
        near(&numbers(&found[0][10..]), &[-1.0, 0.0, 0.0], TOLERANCE);
        near(&numbers(&found[2][10..]), &[1.0, 0.0, 0.0], TOLERANCE);
        assert_eq!(found[0], found[3]);
        // A pair that overlaps has distance 0 and empty cells for points and normal.
        assert_eq!(found[1][2..4], ["penetrating", "0"]);
        assert!(found[1][4..].iter().all(String::is_empty), "{:?}", found[1]);
        let found = rows(&folder.run(&line("contact", extra)).good(), CONTACT);
        assert_eq!(found.len(), 4);
        assert_eq!(found[0][2], "separated");
        near(&numbers(&found[0][3..7]), &[-0.5, -1.0, 0.0, 0.0], TOLERANCE);
        assert_eq!(found[1][2], "penetrating");
        // From body 2, which is higher, down to body 0.
        near(&numbers(&found[1][3..7]), &[0.75, 0.0, -1.0, 0.0], TOLERANCE);
    }
}

/// A box on a box, 0.1 deep.
#[test]
fn stacked_boxes_have_four_points() {
    let folder = folder("hull,x,y,z\nbox,0,0,0\nbox,0.2,0.9,0.1\n");
    let found = rows(&folder.run(&line("contact", "")).good(), CONTACT);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0][..3], ["0", "1", "penetrating"]);
    let contact = numbers(&found[0][3..]);
    near(&contact[..4], &[0.1, 0.0, 1.0, 0.0], TOLERANCE);
    // The point on a minus the point on b is the depth times the normal.
    near(&[contact[5], contact[8]], &[0.5, 0.4], TOLERANCE);
    near(&[contact[4], contact[6]], &[contact[7], contact[9]], TOLERANCE);

    let found = rows(&folder.run(&line("manifold", "")).good(), CONTACT);
    assert_eq!(found.len(), 4);
    let mut corners: Vec<[i64; 2]> = Vec::new();
    for row in &found {
        assert_eq!(row[..3], ["0", "1", "penetrating"]);
        let row = numbers(&row[3..]);
        near(&row[..4], &[0.1, 0.0, 1.0, 0.0], TOLERANCE);
        near(&[row[5], row[8]], &[0.5, 0.4], TOLERANCE);
        corners.push([row[4], row[6]].map(|x| (x * 1e3).round() as i64));
    }
    corners.sort_unstable();
    // The overlap of the sides: x from -0.3 to 0.5, z from -0.4 to 0.5.
    assert_eq!(corners, [[-300, -400], [-300, 500], [500, -400], [500, 500]]);

    let json: Value = serde_json::from_str(&folder.run(&line("manifold", "--json")).good()).unwrap();
    assert_eq!(json["rows"][0]["points"].as_array().unwrap().len(), 4);
    assert_eq!((&json["query"], &json["margin"]), (&"manifold".into(), &0.0.into()));
}

/// Only a sweep uses velocities; other queries read and check them.
#[test]
fn velocities_change_no_query_but_a_sweep() {
    let folder = folder("hull,x,y,z,vx,wy\nbox,0,0,0,9,1\nbox,1.5,0,0,-9,1\n");
    let moving = folder.run(&line("distance", "")).good();
    folder.write("bodies.csv", "hull,x,y,z\nbox,0,0,0\nbox,1.5,0,0\n");
    assert_eq!(folder.run(&line("distance", "")).good(), moving);
}

#[test]
fn the_summary_has_the_query_its_counts_and_its_times() {
    let folder = folder("hull,x,y,z\nbox,0,0,0\nbox,1.5,0,0\nbox,0,0.25,0\nbox,9,9,9\n");
    let json = folder.run(&line("distance", "--margin 0.6 --exact --json --out out.csv")).good();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["query"], &json["precision"]), (&"distance".into(), &"exact".into()));
    assert_eq!((&json["margin"], &json["counts"]["bodies"]), (&0.6.into(), &4.into()));
    assert_eq!(
        (&json["counts"]["rows"], &json["counts"]["separated"], &json["counts"]["penetrating"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!(json["counts"]["settled"], json["counts"]["candidates"]);
    for stage in
        ["compile", "upload", "kernels", "readback", "settle", "total", "read", "arena", "write", "wall"]
    {
        assert!(json["times_ms"][stage].as_f64().is_some_and(|time| time >= 0.0), "{stage}: {json}");
    }
    assert_eq!(rows(&folder.read("out.csv"), DISTANCE).len(), 3);
    let json: Value = serde_json::from_str(&folder.run(&line("distance", "--json")).good()).unwrap();
    assert_eq!((json["rows"].as_array().unwrap().len(), &json["margin"]), (6, &Value::Null));
    assert_eq!(json["rows"][1]["distance"], 0.0);
    assert_eq!(json["rows"][1]["points"], Value::Null);
    let found: f64 = json["rows"][0]["distance"].as_f64().unwrap();
    near(&[found], &[0.5], TOLERANCE);
    let run = folder.run(&line("contact", "--margin 0.6"));
    assert!(run.stderr.contains("hits        1 (touching 0, penetrating 1)"), "{run:?}");
    assert!(run.stderr.contains("separated   2 of the 3 pairs listed"), "{run:?}");
}

/// A printed number reads back as the same f64.
#[test]
fn printed_numbers_read_back_as_themselves() {
    let folder = folder("hull,x,y,z\ndot,0,0,0\ndot,1,1,1\n");
    let text = folder.run(&line("distance", "--exact")).good();
    let found = rows(&text, DISTANCE);
    let distance: f64 = found[0][3].parse().unwrap();
    near(&[distance], &[3f64.sqrt()], 1e-15);
    assert!(found[0][3].len() >= 16, "{}", found[0][3]);
    assert_eq!(found[0][4..10], ["0", "0", "0", "1", "1", "1"]);
}

/// Every pair of 1,500 bodies takes several chunks. The rows of all chunks are in order and complete.
#[test]
fn chunks_of_a_long_list_make_one_answer() {
    use std::fmt::Write as _;
    let mut bodies = "hull,x,y,z\n".to_owned();
    for i in 0..1500 {
        writeln!(bodies, "dot,{i},0,0").unwrap();
    }
    let folder = folder(&bodies);
    folder.run(&line("distance", "--out out.csv")).good();
    let text = folder.read("out.csv");
    let mut lines = text.lines().skip(1);
    for a in 0..1500 {
        for b in a + 1..1500 {
            let row = lines.next().unwrap();
            assert!(row.starts_with(&format!("{a},{b},separated,")), "{a} {b}: {row}");
        }
    }
    assert_eq!(lines.next(), None);
}

/// Balls and capsules are points and segments with a radius. Distances and depths are between their surfaces.
#[test]
fn balls_and_capsules_have_their_radius() {
    // A ball of radius 0.5, a capsule of radius 0.25 one unit away, a ball inside the capsule, and a ball beyond its end.
    let bodies = "hull,x,y,z,radius,qx,qy,qz,qw\ndot,0,0,0,0.5,0,0,0,1\nrod,1,0,0,0.25,0,0,0,1\ndot,1.1,0.5,0,0.2,0,0,0,1\n\
        dot,1,2,0,0.5,0,0,0,1\n";
    let folder = folder(bodies);
    folder.write("pairs.csv", "a,b\n0,1\n1,2\n1,3\n3,1\n");
    for precision in ["", "--exact"] {
        let extra = format!("--pairs pairs.csv {precision}");
        let found = rows(&folder.run(&line("distance", &extra)).good(), DISTANCE);
        assert_eq!(found[0][2], "separated");
        let first = numbers(&found[0][3..]);
        near(&first, &[0.25, 0.5, 0.0, 0.0, 0.75, 0.0, 0.0, 1.0, 0.0, 0.0], TOLERANCE);
        assert_eq!(found[1][2..4], ["penetrating", "0"]);
        let found = rows(&folder.run(&line("contact", &extra)).good(), CONTACT);
        near(&numbers(&found[0][3..7]), &[-0.25, 1.0, 0.0, 0.0], TOLERANCE);
        assert_eq!(found[1][2], "penetrating");
        near(&numbers(&found[1][3..]), &[0.35, 1.0, 0.0, 0.0, 1.25, 0.5, 0.0, 0.9, 0.5, 0.0], TOLERANCE);
        near(&numbers(&found[2][3..7]), &[-0.25, 0.0, 1.0, 0.0], TOLERANCE);
        near(&numbers(&found[3][3..7]), &[-0.25, 0.0, -1.0, 0.0], TOLERANCE);
    }
    // The broad phase uses the radii too: without them only the boxes of the rod and the ball in it overlap.
    let found = rows(&folder.run(&line("contact", "--margin 0.3")).good(), CONTACT);
    let pairs: Vec<&[String]> = found.iter().map(|row| &row[..2]).collect();
    assert_eq!(pairs, [["0", "1"], ["1", "2"], ["1", "3"]]);
}

/// A non-uniform scale stretches the hull but not the body's radius, which is in world units.
#[test]
fn the_radius_is_in_world_units() {
    let folder = folder("hull,x,y,z,sx,sy,sz,radius\nrod,0,0,0,1,3,1,0.5\ndot,0,5,0,9,9,9,0.25\n");
    let found = rows(&folder.run(&line("distance", "")).good(), DISTANCE);
    near(&numbers(&found[0][3..4]), &[1.25], 2e-5);
}

/// Both masks must accept the other's group, except for given pairs.
#[test]
fn groups_and_masks_choose_the_pairs() {
    // 0 is paired with 1 but not with 2, whose mask excludes it; 3 is in no group.
    let bodies =
        "hull,x,y,z,group,mask\nbox,0,0,0,1,6\nbox,0.5,0,0,2,1\nbox,0,0.5,0,4,2\nbox,0,0,0.5,0,4294967295\n";
    let folder = folder(bodies);
    for query in ["intersects", "distance --margin 0", "contact --margin 0", "manifold --margin 0"] {
        for extra in ["", "--all-pairs", "--exact"] {
            let text = folder.run(&line(query, extra)).good();
            let mut pairs: Vec<String> = text
                .lines()
                .skip(1)
                .map(|row| row.splitn(3, ',').take(2).collect::<Vec<_>>().join(","))
                .collect();
            pairs.dedup();
            assert_eq!(pairs, ["0,1"], "{query} {extra}: {text}");
        }
    }
    folder.write("pairs.csv", "a,b\n0,2\n3,0\n");
    let found = rows(&folder.run(&line("contact", "--pairs pairs.csv")).good(), CONTACT);
    assert!(found.iter().all(|row| row[2] == "penetrating"), "{found:?}");
    near(&numbers(&found[0][3..4]), &[0.5], TOLERANCE);
}

/// Points and segments have no faces. The manifold of points is one point, that of a rod on a box two.
#[test]
fn a_manifold_of_points_is_one_point_and_of_a_rod_two() {
    let folder = folder("hull,x,y,z\ndot,0,0,0\ndot,0,0,0\nbox,0,-0.5,0\ndot,3,0,0\n");
    let found = rows(&folder.run(&line("manifold", "--margin 0")).good(), CONTACT);
    let starts: Vec<&[String]> = found.iter().map(|row| &row[..3]).collect();
    assert_eq!(starts, [["0", "1", "touching"], ["0", "2", "touching"], ["1", "2", "touching"]]);
    for row in &found {
        assert!(row[3..].iter().all(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite)), "{row:?}");
    }
    let rod = "rod,0,0.6,0,0,0,0.70710678,0.70710678,0.25";
    folder.write("bodies.csv", format!("hull,x,y,z,qx,qy,qz,qw,radius\nbox,0,0,0,0,0,0,1,0\n{rod}\n"));
    let found = rows(&folder.run(&line("manifold", "")).good(), CONTACT);
    assert_eq!(found.len(), 2, "{found:?}");
    for row in &found {
        near(&numbers(&row[3..7]), &[0.15, 0.0, 1.0, 0.0], TOLERANCE);
    }
}
