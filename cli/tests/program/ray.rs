//! `collide --rays` and `collide --points`: hits and nearest points that are computed by hand, and bad input.

use serde_json::Value;

use super::{BODIES, Folder, box_obj};

const RAYS: &str = "ox,oy,oz,dx,dy,dz,max\n-4,0.25,0,2,0,0,inf\n3,5,0,0,-1,0,4.5\n3,5,0,0,-1,0,4.4\n0.1,0,0,0,0,3,1\n0,9,0,0,1,0,7\n";
const HITS: &str =
    "ray,body,part,distance,nx,ny,nz\n0,0,0,3.5,-1,0,0\n1,2,0,4.5,0,1,0\n2,,,,,,\n3,0,0,0,,,\n4,,,,,,\n";

const POINTS: &str = "x,y,z\n10,2,0\n10,0.25,0\n5,0,0\n";
const NEAREST: &str =
    "point,body,part,distance,px,py,pz\n0,4,0,1.5,10,0.5,0\n1,4,0,-0.25,10,0.5,0\n2,3,0,0.5,4.5,0,0\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("bodies.csv", BODIES).write("box.obj", box_obj());
    folder.write("rays.csv", RAYS).write("points.csv", POINTS);
    folder
}

fn line(extra: &str) -> String {
    format!("collide --backend cpu --hulls box.obj --bodies bodies.csv {extra}")
}

#[test]
fn rays_hit_what_is_in_their_way() {
    let folder = folder();
    let run = folder.run(&line("--rays rays.csv"));
    assert!(run.stderr.contains("found       hit 2, inside 1, miss 2"), "{run:?}");
    assert_eq!(run.good(), HITS);
    let summary = folder.run(&line("--rays rays.csv --out hits.csv")).good();
    assert_eq!(folder.read("hits.csv"), HITS);
    assert!(summary.contains("rays        5"), "{summary}");
    let json: Value = serde_json::from_str(&folder.run(&line("--rays rays.csv --json")).good()).unwrap();
    assert_eq!((&json["query"], &json["counts"]["hit"]), (&"rays".into(), &2.into()));
    assert_eq!(json["rows"][0]["normal"][0], -1);
    assert_eq!((&json["rows"][2]["body"], &json["rows"][3]["normal"]), (&Value::Null, &Value::Null));
    let (code, stdout, _) = folder.pipe(&line("--rays -"), RAYS.as_bytes());
    assert_eq!((code, String::from_utf8(stdout).unwrap().replace("\r\n", "\n").as_str()), (Some(0), HITS));
}

#[test]
fn points_find_the_nearest_body() {
    let folder = folder();
    let run = folder.run(&line("--points points.csv"));
    assert!(run.stderr.contains("found       outside 2, inside 1, none 0"), "{run:?}");
    assert_eq!(run.good(), NEAREST);
    let json: Value = serde_json::from_str(&folder.run(&line("--points points.csv --json")).good()).unwrap();
    assert_eq!(
        (&json["rows"][1]["distance"], &json["rows"][1]["nearest"][1]),
        (&(-0.25).into(), &0.5.into())
    );
    folder.write("bodies.csv", "hull,x,y,z\n").write("points.csv", "x,y,z\n1,2,3\n");
    let none = "point,body,part,distance,px,py,pz\n0,,,,,,\n";
    assert_eq!(folder.run(&line("--points points.csv")).good(), none);
    folder.write("points.csv", "x,y,z\n");
    assert_eq!(folder.run(&line("--points points.csv")).good(), &none[..34]);
    let json: Value = serde_json::from_str(&folder.run(&line("--points points.csv --json")).good()).unwrap();
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_gpu_engine_has_the_same_rows() {
    let folder = folder();
    let line = |extra: &str| line(extra).replace("--backend cpu", &format!("--backend {}", super::backend()));
    assert_eq!(folder.run(&line("--rays rays.csv")).good(), HITS);
    assert_eq!(folder.run(&line("--points points.csv")).good(), NEAREST);
}

#[test]
fn bad_rays_are_errors() {
    let folder = folder();
    let head = "ox,oy,oz,dx,dy,dz";
    let cases = [
        ("0,0,0,0,0,0", "rays.csv: line 3, column dx: dx, dy, dz are 0, a direction has a length"),
        ("0,0,0,nan,0,0", "rays.csv: line 3, column dx: \"nan\" is not finite"),
        (
            "0,2e18,0,1,0,0",
            "rays.csv: line 3: origin is [0.0, 2e18, 0.0], each must be finite and at most 1e18 in magnitude",
        ),
    ];
    for (row, expected) in cases {
        folder.write("rays.csv", format!("{head}\n0,0,0,1,0,0\n{row}\n"));
        assert_eq!(folder.run(&line("--rays rays.csv --out out.csv")).bad(), expected);
        super::assert_no_output(&folder, &folder.path("out.csv"));
    }
    folder.write("rays.csv", format!("{head},body\n0,0,0,1,0,0,1\n"));
    let error = folder.run(&line("--rays rays.csv")).bad();
    assert!(error.contains("unknown column \"body\""), "{error}");
    folder.write("points.csv", "x,y,z\n0,0,-1e19\n");
    let error = folder.run(&line("--points points.csv")).bad();
    assert!(error.starts_with("points.csv: line 2: point is [0.0, 0.0, -1e19], each"), "{error}");
    folder.write("bodies.csv", "hull,x,y,z\nbox,0,0,1e19\n").write("rays.csv", RAYS);
    let error = folder.run(&line("--rays rays.csv")).bad();
    assert!(error.starts_with("bodies.csv: line 2: body 0: position"), "{error}");
    for other in ["--points points.csv", "--query distance", "--exact", "--all-pairs", "--margin 1"] {
        let run = folder.run(&line(&format!("--rays rays.csv {other}")));
        assert_eq!(run.code, Some(2), "{other}: {run:?}");
    }
    assert!(folder.run(&line("--rays bodies.csv --out rays.csv")).code == Some(2));
}

/// Each ray and point sees the bodies of its world. Body 1 is beside body 0, in another world.
#[test]
fn rays_and_points_see_their_worlds() {
    let folder = folder();
    folder.write("bodies.csv", "hull,x,y,z,world\nbox,4,0,0,9\nbox,2,0,0,3\nbox,6,0,0,9\n");
    folder.write(
        "rays.csv",
        "ox,oy,oz,dx,dy,dz,world\n0,0,0,1,0,0,9\n0,0,0,1,0,0,3\n0,0,0,1,0,0,4\n8,0,0,-1,0,0,9\n",
    );
    folder.write("points.csv", "world,x,y,z\n9,2,0,0\n3,6,0,0\n0,2,0,0\n");
    let hits =
        "ray,body,part,distance,nx,ny,nz\n0,0,0,3.5,-1,0,0\n1,1,0,1.5,-1,0,0\n2,,,,,,\n3,2,0,1.5,1,0,0\n";
    let near = "point,body,part,distance,px,py,pz\n0,0,0,1.5,3.5,0,0\n1,1,0,3.5,2.5,0,0\n2,,,,,,\n";
    for positions in ["", "--positions f32"] {
        assert_eq!(folder.run(&line(&format!("--rays rays.csv {positions}"))).good(), hits);
        assert_eq!(folder.run(&line(&format!("--points points.csv {positions}"))).good(), near);
    }
    // With parts the rows name bodies: two parts of one in one world, and one in another.
    folder.write("bodies.csv", "hull,x,y,z,world,body\nbox,4,0,0,9,1\nbox,2,0,0,3,0\nbox,6,0,0,9,1\n");
    let hits = folder.run(&line("--rays rays.csv")).good();
    let named: Vec<&str> = hits.lines().skip(1).map(|row| row.get(..5).unwrap()).collect();
    assert_eq!(named, ["0,1,0", "1,0,0", "2,,,,", "3,1,1"]);
    for bad in ["", "-1", "1.5", "4294967296", "x"] {
        folder.write("rays.csv", format!("ox,oy,oz,dx,dy,dz,world\n0,0,0,1,0,0,9\n0,0,0,1,0,0,{bad}\n"));
        let error = folder.run(&line("--rays rays.csv")).bad();
        assert!(error.starts_with("rays.csv: line 3, column world: "), "{error}");
        folder.write("points.csv", format!("x,y,z,world\n0,0,0,{bad}\n"));
        let error = folder.run(&line("--points points.csv")).bad();
        assert!(error.starts_with("points.csv: line 2, column world: "), "{error}");
    }
    // Worlds on one side alone.
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n").write("points.csv", "x,y,z\n0,0,0\n");
    for (flag, file) in [("--rays", "rays.csv"), ("--points", "points.csv")] {
        let error = folder.run(&line(&format!("{flag} {file} --out out.csv"))).bad();
        assert_eq!(error, format!("{file}: line 1: column world is missing, the bodies have worlds"));
        super::assert_no_output(&folder, &folder.path("out.csv"));
    }
    folder.write("bodies.csv", BODIES);
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz,world\n").write("points.csv", "world,x,y,z\n0,0,0,0\n");
    for (flag, file) in [("--rays", "rays.csv"), ("--points", "points.csv")] {
        let error = folder.run(&line(&format!("{flag} {file}"))).bad();
        let expected = "line 1: column world needs a column world of the bodies, who have none";
        assert_eq!(error, format!("{file}: {expected}"));
    }
    // Of no bodies any worlds are right.
    folder.write("bodies.csv", "hull,x,y,z\n");
    let none = "point,body,part,distance,px,py,pz\n0,,,,,,\n";
    assert_eq!(folder.run(&line("--points points.csv")).good(), none);
}

/// Bodies a millimetre apart, 10⁷ from the origin: f32 has steps of a metre there.
#[test]
fn far_bodies_keep_their_digits() {
    let folder = folder();
    let far = "hull,x,y,z\nbox,10000000,-1e7,3\nbox,10000001.001,-1e7,3\nbox,9999999.25,-1e7,3\n";
    folder.write("bodies.csv", far);
    let run = folder.run(&line("")).good();
    assert_eq!(run, "a,b,status\n0,2,penetrating\n");
    assert_eq!(folder.run(&line("--positions f64")).good(), run);
    // In f32 the second body is moved to 10000001.
    let run = folder.run(&line("--positions f32")).good();
    assert!(run.contains("0,1,touching\n"), "{run}");
    folder.write("pairs.csv", "a,b\n1,0\n");
    for exact in ["", "--exact"] {
        let run = folder.run(&line(&format!("--query distance --pairs pairs.csv {exact}"))).good();
        let cells: Vec<&str> = run.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(cells[..3], ["1", "0", "separated"]);
        let number = |at: usize| -> f64 { cells[at].parse().unwrap() };
        assert!((number(3) - 0.001).abs() < 1e-5 && (number(4) - 10_000_000.501).abs() < 1e-5, "{run}");
        assert!((number(7) - 10_000_000.5).abs() < 1e-5 && number(10) == -1.0, "{run}");
    }
    folder.write(
        "rays.csv",
        "ox,oy,oz,dx,dy,dz\n10000000.5005,-9999999,3,0,-1,0\n10000000.5025,-1e6,3,0,-1,0\n",
    );
    folder.write("points.csv", "x,y,z\n10000000.5005,-10000000.25,3\n");
    let hits = folder.run(&line("--rays rays.csv")).good();
    assert_eq!(hits, "ray,body,part,distance,nx,ny,nz\n0,,,,,,\n1,1,0,8999999.5,0,1,0\n");
    let nearest = folder.run(&line("--points points.csv")).good();
    assert!(
        nearest.contains("\n0,0,0,0.00049999915") && nearest.contains(",10000000.5,-10000000.25,3\n"),
        "{nearest}"
    );
    let traced = folder.run(&line("--trace 0,1")).good();
    assert!(traced.contains("bodies 0 and 1: separated"), "{traced}");
    folder.write("bodies.csv", "hull,x,y,z\nbox,0,0,0\nbox,0,1e19,0\n");
    let error = folder.run(&line("")).bad();
    assert!(
        error.contains("bodies.csv: line 3: body 1: position") && error.contains("at most 1e18"),
        "{error}"
    );
    assert!(folder.run(&line("--positions f16")).bad().contains("f16"));
}
