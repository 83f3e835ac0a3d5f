//! `collide` with the columns `world`, `body` and `part`, and `--exclude`.

use serde_json::Value;

use super::{Folder, box_obj, fast_backend};

/// Two bodies of two overlapping boxes each, in no order; part 1 of body 0 overlaps part 3 of body 1.
const PARTS: &str =
    "hull,x,y,z,body,part\nbox,2.6,0,0,1,5\nbox,0,0,0,0,0\nbox,0.9,0,0,0,1\nbox,1.8,0,0,1,3\n";

fn folder(bodies: &str) -> Folder {
    let folder = Folder::new();
    folder.write("bodies.csv", bodies).write("box.obj", box_obj());
    folder
}

fn line(extra: &str) -> String {
    format!("collide --backend {} --hulls box.obj --bodies bodies.csv {extra}", fast_backend())
}

#[test]
fn rows_name_bodies_and_parts() {
    let folder = folder(PARTS);
    let hits = "a,b,status,part_a,part_b\n0,1,penetrating,1,3\n";
    let run = folder.run(&line(""));
    assert!(run.stderr.contains("bodies      2\n"), "{run:?}");
    assert_eq!(run.good(), hits);
    assert_eq!(folder.run(&line("--all-pairs")).good(), hits);
    let json: Value = serde_json::from_str(&folder.run(&line("--json")).good()).unwrap();
    assert_eq!(json["counts"]["bodies"], 2);
    let row = &json["rows"][0];
    assert_eq!((&row["a"], &row["part_a"], &row["part_b"]), (&0.into(), &1.into(), &3.into()));
    // Without the column each row is a body.
    folder.write("bodies.csv", "hull,x,y,z\nbox,0,0,0\nbox,0.9,0,0\n");
    assert_eq!(folder.run(&line("")).good(), "a,b,status\n0,1,penetrating\n");
}

/// Rows came in the order of the parts of `a`: `0,1` after `0,2`.
#[test]
fn rows_of_parts_are_sorted_by_bodies() {
    let bodies = "hull,x,y,z,body,part\nbox,0,0,0,0,0\nbox,0.9,0,0,0,1\nbox,0.5,0.5,0,1,4\nbox,0.25,0.25,0,2,0\nbox,0.75,0,0.5,1,2\n";
    let names = |run: &str| -> Vec<String> {
        let cells = run.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        cells.map(|cells| [&cells[..2], &cells[cells.len() - 2..]].concat().join(",")).collect()
    };
    let of = ["0,1,0,2", "0,1,0,4", "0,1,1,2", "0,1,1,4", "0,2,0,0", "0,2,1,0", "1,2,2,0", "1,2,4,0"];
    let parts = folder(bodies);
    for query in ["", "--all-pairs", "--query contact", "--query distance", "--query distance --margin 9"] {
        assert_eq!(names(&parts.run(&line(query)).good()), of, "{query}");
    }
    // Those of a world come together.
    let in_worlds = |row: &str| match row.split(',').nth(4) {
        Some("body") => format!("{row},world\n"),
        Some("0" | "2") => format!("{row},9\n"),
        _ => format!("{row},3\n"),
    };
    let worlds: String = bodies.lines().map(in_worlds).collect();
    let extra = "box,9,0,0,3,0,3\n";
    let worlds = folder(&(worlds + extra));
    for query in
        ["--query distance", "--query distance --margin 50", "--query distance --margin 50 --all-pairs"]
    {
        let found = names(&worlds.run(&line(query)).good());
        assert_eq!(found, ["1,3,2,0", "1,3,4,0", "0,2,0,0", "0,2,1,0"], "{query}");
    }
}

#[test]
fn given_and_excluded_pairs_are_of_bodies() {
    let folder = folder(PARTS);
    folder.write("pairs.csv", "a,b\n1,0\n");
    let run = folder.run(&line("--query distance --pairs pairs.csv")).good();
    let cells = |row: &str| row.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = run.lines().skip(1).map(cells).collect();
    let named: Vec<String> = rows.iter().map(|row| [&row[..2], &row[13..]].concat().join(",")).collect();
    assert_eq!(named, ["1,0,3,0", "1,0,3,1", "1,0,5,0", "1,0,5,1"], "{run}");
    assert!(rows[2][3].parse::<f64>().is_ok_and(|distance| (distance - 1.6).abs() < 1e-5), "{run}");
    // An infinite margin lists every pair of parts of two bodies.
    let all = folder.run(&line("--query distance")).good();
    assert_eq!((all.lines().count(), all.matches(",penetrating,").count()), (5, 1), "{all}");
    for query in ["", "--query distance", "--all-pairs"] {
        let run = folder.run(&line(&format!("{query} --exclude pairs.csv"))).good();
        assert_eq!(run.lines().count(), 1, "{query}: {run}");
    }
    folder.write("pairs.csv", "a,b\n0,2\n");
    let error = folder.run(&line("--exclude pairs.csv")).bad();
    assert_eq!(error.trim_end(), "pairs.csv: line 2, column b: body 2 does not exist, there are 2");
    assert_eq!(folder.run(&line("--exclude pairs.csv --pairs pairs.csv")).code, Some(2));
}

#[test]
fn bodies_of_other_worlds_never_meet() {
    let folder = folder("hull,x,y,z,world\nbox,0,0,0,9\nbox,0.5,0,0,4\nbox,0.25,0,0,9\nbox,0.75,0,0,4\n");
    // By worlds, whose numbers are in order.
    let hits = "a,b,status\n1,3,penetrating\n0,2,penetrating\n";
    assert_eq!(folder.run(&line("")).good(), hits);
    let listed = folder.run(&line("--query distance")).good();
    assert_eq!(listed.matches(",penetrating,").count(), 2, "{listed}");
    assert_eq!(listed.lines().count(), 3);
    folder.write(
        "bodies.csv",
        PARTS
            .replace("part\n", "part,world\n")
            .replace(",5\n", ",5,7\n")
            .replace(",3\n", ",3,7\n")
            .replace("0,0\n", "0,0,8\n")
            .replace("0,1\n", "0,1,8\n"),
    );
    assert_eq!(folder.run(&line("")).good(), "a,b,status,part_a,part_b\n");
}

#[test]
fn rays_and_points_name_parts() {
    let folder = folder(PARTS);
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz\n-4,0,0,1,0,0\n9,0,0,-1,0,0\n0,9,0,0,1,0\n");
    folder.write("points.csv", "x,y,z\n4,0,0\n");
    let hits = folder.run(&line("--rays rays.csv")).good();
    let rows: Vec<&str> = hits.lines().collect();
    assert!(rows[1].starts_with("0,0,0,3.5,-1") && rows[2].starts_with("1,1,5,5.9"), "{hits}");
    assert_eq!(rows[3], "2,,,,,,");
    let nearest = folder.run(&line("--points points.csv")).good();
    let row: Vec<&str> = nearest.lines().nth(1).unwrap().split(',').collect();
    let distance: f64 = row[3].parse().unwrap();
    assert!(row[..3] == ["0", "1", "5"] && (distance - 0.9).abs() < 1e-12, "{nearest}");
}

#[test]
fn a_body_turns_about_its_first_part() {
    let turning = "0,0,1.5707963";
    let bodies = |body: &str| {
        let own = |number: &str| if body.is_empty() { String::new() } else { format!(",{number}") };
        format!(
            "hull,x,y,z,wx,wy,wz{body}\nbox,0,0,0,{turning}{}\nbox,3,0,0,{turning}{}\nbox,0,3.2,0,0,0,0{}\n",
            own("0"),
            own("0"),
            own("1")
        )
    };
    let folder = folder(&bodies(",body"));
    let run = folder.run(&line("--query sweep --duration 1")).good();
    let row = run.lines().nth(1).unwrap_or_default();
    let cells: Vec<&str> = row.split(',').collect();
    assert_eq!((&cells[..3], &cells[7..]), (&["0", "1", "hit"][..], &["1", "0"][..]), "{run}");
    // The arm's box first touches that at (0, 3.2) before a quarter of a turn.
    assert!(cells[3].parse::<f64>().is_ok_and(|time| time > 0.5 && time < 0.9), "{run}");
    // Turning about itself it meets nothing.
    folder.write("bodies.csv", bodies(""));
    assert_eq!(folder.run(&line("--query sweep --duration 1")).good().lines().count(), 1);
}

#[test]
fn bad_columns_name_line_and_body() {
    let cases = [
        ("hull,x,y,z,part\nbox,0,0,0,1\n", "bodies.csv: line 1: column part needs column body"),
        (
            "hull,x,y,z,body\nbox,0,0,0,0\nbox,0,0,0,2\n",
            "bodies.csv: line 3: no row is of body 1: bodies are numbered from 0 without gaps",
        ),
        (
            "hull,x,y,z,body\nbox,0,0,0,-1\n",
            "bodies.csv: line 2, column body: \"-1\" is not a whole number from 0 to 4294967295",
        ),
        (
            "hull,x,y,z,body,part\nbox,0,0,0,0,4\nbox,1,0,0,1,4\nbox,2,0,0,0,4\n",
            "bodies.csv: line 4: part 4 of body 0 is there twice",
        ),
        (
            "hull,x,y,z,body,world\nbox,0,0,0,0,1\nbox,1,0,0,0,2\n",
            "bodies.csv: line 3: body 0 has another world than in an earlier row, its parts must agree",
        ),
        (
            "hull,x,y,z,body,mask\nbox,0,0,0,0,1\nbox,1,0,0,0,2\n",
            "bodies.csv: line 3: body 0 has another group or mask than in an earlier row, its parts must agree",
        ),
        (
            "hull,x,y,z,body,vx\nbox,0,0,0,0,1\nbox,1,0,0,0,2\n",
            "bodies.csv: line 3: body 0 has another velocity than in an earlier row, its parts must agree",
        ),
    ];
    for (bodies, expected) in cases {
        assert_eq!(folder(bodies).run(&line("")).bad().trim_end(), expected);
    }
    // The library's errors name the line too, though rows are sorted.
    let error = folder("hull,x,y,z,body\nbox,1,0,0,1\nbox,0,0,1e19,0\n").run(&line("")).bad();
    assert!(error.starts_with("bodies.csv: line 3: body 0, part 0: position"), "{error}");
    let error = folder(PARTS).run(&line("--trace 0,1")).bad();
    assert!(error.contains("--trace is of two hulls"), "{error}");
    let worlds = folder("hull,x,y,z,world\nbox,0,0,0,1\n");
    worlds.write("rays.csv", "ox,oy,oz,dx,dy,dz\n-4,0,0,1,0,0\n");
    let error = worlds.run(&line("--rays rays.csv")).bad();
    assert_eq!(error, "rays.csv: line 1: column world is missing, the bodies have worlds");
}
