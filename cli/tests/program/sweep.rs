//! `collide --query sweep`: times of impact that are computed by hand.

use serde_json::Value;

use super::measure::{folder, line, near, numbers, rows};

const SWEEP: &str = "a,b,status,time,nx,ny,nz";

/// A bullet at a kilometre per second and a plate of 0.02. Tested only once per frame of a sixtieth of a second, the bullet would
/// pass through.
const BULLET: &str = "hull,x,y,z,sx,sy,sz,radius,vx\nbox,5,0,0,0.02,2,2,0,0\ndot,0,0.25,0,1,1,1,0.05,1000\n";

#[test]
fn a_bullet_does_not_pass_through_a_plate() {
    let folder = folder(BULLET);
    for extra in ["", "--all-pairs", "--exact"] {
        let text = folder.run(&line("sweep --duration 0.016", extra)).good();
        let found = rows(&text, SWEEP);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0][..3], ["0", "1", "hit"]);
        let found = numbers(&found[0][3..]);
        // The tolerance of 6e-6 is 6 ns of flight.
        near(&found[..1], &[4.94e-3], 1e-8);
        near(&found[1..], &[-1.0, 0.0, 0.0], 1e-5);
    }
    // The time ends before the plate.
    assert_eq!(folder.run(&line("sweep --duration 0.0049", "")).good(), format!("{SWEEP}\n"));
    let json: Value =
        serde_json::from_str(&folder.run(&line("sweep --duration 0.016 --json", "")).good()).unwrap();
    assert_eq!((&json["duration"], &json["counts"]["hit"]), (&0.016.into(), &1.into()));
    assert_eq!(json["rows"][0]["normal"].as_array().unwrap().len(), 3);
}

/// A given pair that misses has a row with empty cells. A pair that touches at the start has time 0.
#[test]
fn given_pairs_hit_miss_and_touch() {
    let bodies = "hull,x,y,z,vx,vy\nbox,0,0,0,1,0\nbox,3,0,0,0,0\nbox,0,5,0,0,1\nbox,0.5,0,0,9,9\n";
    let folder = folder(bodies);
    folder.write("pairs.csv", "a,b\n1,0\n0,2\n0,3\n");
    let found = rows(&folder.run(&line("sweep --duration 4", "--pairs pairs.csv")).good(), SWEEP);
    assert_eq!(found[0][..3], ["1", "0", "hit"]);
    near(&numbers(&found[0][3..]), &[2.0, -1.0, 0.0, 0.0], 2e-5);
    assert_eq!(found[1], ["0", "2", "miss", "", "", "", ""]);
    assert_eq!(found[2][..4], ["0", "3", "touching", "0"]);
    let run = folder.run(&line("sweep --duration 4", "--pairs pairs.csv"));
    assert!(run.stderr.contains("miss        1 of the 3 pairs listed"), "{run:?}");
}

/// A rod rotates onto a point. The cosine of the angle is the rod's thickness over the point's distance.
#[test]
fn a_rotating_rod_hits_a_point() {
    let folder = folder("hull,x,y,z,radius,wz\nrod,0,0,0,0.1,1.5\ndot,0.5,0,0,0,0\n");
    let found = rows(&folder.run(&line("sweep --duration 2", "")).good(), SWEEP);
    assert_eq!(found[0][..3], ["0", "1", "hit"]);
    near(&numbers(&found[0][3..4]), &[0.2f64.acos() / 1.5], 2e-5);
    // Without angular velocity it never hits.
    folder.write("bodies.csv", "hull,x,y,z,radius,vz\nrod,0,0,0,0.1,1.5\ndot,0.5,0,0,0,0\n");
    assert_eq!(folder.run(&line("sweep --duration 2", "")).good(), format!("{SWEEP}\n"));
}

/// With a duration of 0 the sweep finds the pairs that touch now.
#[test]
fn a_duration_of_0_finds_what_touches() {
    let folder = folder("hull,x,y,z,vx\nbox,0,0,0,1\nbox,0.5,0,0,0\nbox,3,0,0,0\n");
    let text = folder.run(&line("sweep --duration 0", "")).good();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().nth(1).unwrap().starts_with("0,1,touching,0,"), "{text}");
}

/// A motion too long for f32 is an error that names the line.
#[test]
fn a_motion_beyond_f32_is_an_error_of_its_line() {
    let folder = folder("hull,x,y,z,vx\nbox,0,0,0,1\n\nbox,5,0,0,1e30\n");
    let message = folder.run(&line("sweep --duration 1", "")).bad();
    assert!(message.starts_with("bodies.csv: line 4: body 1: velocity is [1e30, 0.0, 0.0], "), "{message}");
}
