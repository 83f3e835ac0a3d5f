//! Tests of the reader of robots.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use glam::{DQuat, DVec3};

use crate::Random;
use crate::robot::{Frame, Robot};

/// Links of spheres below joints of each kind that is read, on two branches, one of them by a joint that mimics another.
const TREE: &str = r#"<robot name="tree">
  <link name="tip"><collision><origin xyz="0.1 0 0.2"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="slide"><collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
  <link name="foot"/>
  <link name="trunk"><collision><geometry><cylinder radius="0.2" length="0.4"/></geometry></collision></link>
  <link name="twin"><collision><geometry><capsule radius="0.02" length="0.3"/></geometry></collision></link>
  <link name="probe"><collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.03"/></geometry></collision></link>
  <joint name="stand" type="fixed"><parent link="foot"/><child link="trunk"/><origin xyz="0 0 0.2" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="turn" type="continuous"><parent link="slide"/><child link="tip"/><origin xyz="0 0.5 0"/><axis xyz="0 3 4"/></joint>
  <joint name="lift" type="prismatic"><parent link="trunk"/><child link="slide"/><origin xyz="1 0 0" rpy="0.3 0.2 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="0.25" effort="1" velocity="1"/></joint>
  <joint name="copy" type="revolute"><parent link="trunk"/><child link="twin"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="turn" multiplier="-2" offset="0.5"/></joint>
  <joint name="probing" type="prismatic"><parent link="twin"/><child link="probe"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="lift" multiplier="2"/></joint>
</robot>"#;

fn parse(text: &str) -> Result<Robot, String> {
    Robot::parse(text, Path::new(".")).map_err(|error| error.to_string())
}

fn point((position, rotation): Frame, point: DVec3) -> DVec3 {
    position + rotation * point
}

#[test]
fn parents_come_first_and_joints_move_their_links() {
    let robot = parse(TREE).unwrap();
    // foot, trunk, then its branches in the order of the file, each down to its end.
    assert_eq!(
        (robot.name.as_str(), robot.links.len(), robot.owners.as_slice()),
        ("tree", 6, &[1, 2, 3, 4, 5][..])
    );
    let limits: Vec<[f64; 2]> = robot.variables.iter().map(|joint| [joint.lower, joint.upper]).collect();
    assert_eq!(limits, [[-0.5, 0.25], [-std::f64::consts::PI, std::f64::consts::PI]]);
    let [lift, turn] = [0.2, 0.7];
    let frames = robot.frames(&[lift, turn]);
    // By rotation matrices, by hand. The trunk is turned by a quarter about z.
    let trunk = |p: DVec3| DVec3::new(-p.y, p.x, p.z + 0.2);
    let [(sr, cr), (sp, cp), (sy, cy)] = [0.3_f64, 0.2, 0.1].map(f64::sin_cos);
    let slide = |p: DVec3| {
        let p = p + DVec3::Z * lift;
        let roll = DVec3::new(p.x, cr * p.y - sr * p.z, sr * p.y + cr * p.z);
        let pitch = DVec3::new(cp * roll.x + sp * roll.z, roll.y, -sp * roll.x + cp * roll.z);
        trunk(DVec3::new(1.0 + cy * pitch.x - sy * pitch.y, sy * pitch.x + cy * pitch.y, pitch.z))
    };
    // Rodrigues' formula.
    let tip = |p: DVec3| {
        let (axis, (sine, cosine)) = (DVec3::new(0.0, 0.6, 0.8), turn.sin_cos());
        let turned = p * cosine + axis.cross(p) * sine + axis * (axis.dot(p) * (1.0 - cosine));
        slide(turned + DVec3::Y * 0.5)
    };
    let (twin_sine, twin_cosine) = (0.5 - 2.0 * turn).sin_cos();
    let twin = |p: DVec3| {
        trunk(DVec3::new(p.x, twin_cosine * p.y - twin_sine * p.z, twin_sine * p.y + twin_cosine * p.z))
    };
    let probe = |p: DVec3| twin(p + DVec3::Y * 2.0 * lift);
    for p in [DVec3::ZERO, DVec3::X, DVec3::new(0.3, -0.4, 2.0)] {
        for (link, expected) in
            [(0, p), (1, trunk(p)), (2, slide(p)), (3, tip(p)), (4, twin(p)), (5, probe(p))]
        {
            let found = point(frames[link], p);
            assert!(found.distance(expected) < 1e-14, "link {link}, {p}: {found} instead of {expected}");
        }
    }
}

#[test]
fn touching_links_are_allowed_pairs() {
    let robot = parse(TREE).unwrap();
    // The base and the trunk are one part, which all others hang from; the slide carries the tip. The slide and the twin are apart.
    assert_eq!(robot.allowed_pairs().unwrap(), [[0, 1], [0, 2], [0, 4], [1, 2], [1, 4], [2, 3], [4, 5]]);
    let near = TREE.replace(r#"<origin xyz="1 0 0" rpy="0.3 0.2 0.1"/>"#, "");
    assert!(parse(&near).unwrap().allowed_pairs().unwrap().contains(&[2, 4]));
}

/// The motion of the joints is within the deviations of the motion between samples, and not far within them.
#[test]
fn joints_stay_within_the_deviations() {
    let mut random = Random(17);
    for (text, least) in [(TREE, 0.05), (include_str!("arm.urdf"), 0.1)] {
        let robot = parse(text).unwrap();
        let mut largest = vec![0.0_f64; robot.links.len()];
        for _ in 0..200 {
            let from =
                robot.variables.iter().map(|joint| joint.lower + (joint.upper - joint.lower) * random.next());
            let from: Vec<f64> = from.collect();
            let step: Vec<f64> = from.iter().map(|_| 0.2 * random.next() - 0.1).collect();
            let at = |share: f64| -> Vec<f64> {
                from.iter().zip(&step).map(|(x, step)| x + step * share).collect()
            };
            let (first, last, deviations) =
                (robot.frames(&from), robot.frames(&at(1.0)), robot.deviations(&step));
            for share in [0.1, 0.25, 0.5, 0.75, 0.9] {
                let exact = robot.frames(&at(share));
                for ((body, &link), hull) in robot.bodies.iter().zip(&robot.owners).zip(&robot.hulls) {
                    let link = link as usize;
                    let between =
                        (first[link].0.lerp(last[link].0, share), first[link].1.slerp(last[link].1, share));
                    let turn = DQuat::from_array(body.rotation.map(f64::from));
                    for &vertex in hull.vertices() {
                        let vertex = DVec3::from(body.position.map(f64::from))
                            + turn * DVec3::from(vertex.map(f64::from));
                        let apart = point(exact[link], vertex).distance(point(between, vertex));
                        let deviation = deviations[link];
                        assert!(apart <= deviation + 1e-15, "link {link}: {apart:e} above {deviation:e}");
                        if deviation > 1e-12 {
                            largest[link] = largest[link].max(apart / deviation);
                        }
                    }
                }
            }
        }
        let largest = largest.into_iter().fold(0.0, f64::max);
        assert!(largest > least, "the bound is {:.1} times too large", 1.0 / largest);
    }
}

#[test]
fn meshes_become_their_hulls() {
    let folder = std::env::temp_dir().join(format!("hullfield-planner-{}", std::process::id()));
    let (meshes, robots) = (folder.join("pack/meshes"), folder.join("pack/robots"));
    std::fs::create_dir_all(&meshes).unwrap();
    std::fs::create_dir_all(&robots).unwrap();
    let corners =
        "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nv 0.1 0.1 0.1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\nf 1 2 5\n";
    std::fs::write(meshes.join("corner.obj"), corners).unwrap();
    let with = |name: &str, scale: &str| {
        TREE.replace(r#"<box size="0.1 0.2 0.3"/>"#, &format!(r#"<mesh filename="{name}" {scale}/>"#))
    };
    let file = robots.join("tree.urdf");
    for (name, scale, factor) in [
        ("package://pack/meshes/corner.obj", "", 1.0),
        ("../meshes/corner.obj", r#"scale="0.5 0.5 0.5""#, 0.5),
    ] {
        std::fs::write(&file, with(name, scale)).unwrap();
        let robot = Robot::read(&file).unwrap();
        let vertices = robot.hulls[1].vertices();
        assert_eq!((vertices.len(), vertices[1]), (4, [2.0 * factor, 0.0, 0.0]), "{name}");
    }
    std::fs::write(&file, with("package://pack/meshes/none.stl", "")).unwrap();
    let message = Robot::read(&file).err().unwrap().to_string();
    for part in ["tree.urdf", "link slide", "package://pack/meshes/none.stl"] {
        assert!(message.contains(part), "{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_read_is_named() {
    let broken = [
        ("<robot", ""),
        (r#"child link="tip""#, r#"child link="top""#),
        (r#"parent link="foot""#, r#"parent link="twin""#),
        (r#"child link="twin""#, r#"child link="tip""#),
        (r#"link name="twin""#, r#"link name="tip""#),
        (r#"type="continuous""#, r#"type="floating""#),
        (r#"upper="0.25""#, r#"upper="-0.5""#),
        (r#"axis xyz="0 3 4""#, r#"axis xyz="0 0 0""#),
        (r#"mimic joint="turn""#, r#"mimic joint="stand""#),
        (r#"sphere radius="0.05""#, r#"sphere radius="-1""#),
        (r#"<joint name="stand" type="fixed">"#, r#"<joint name="stand">"#),
    ];
    let named = [
        "",
        "joint turn: no link has the name top",
        "link tip hangs from a loop",
        "tip is the child of two joints, turn and copy",
        "two links have the name tip",
        "joint turn: its type is Floating",
        "joint lift: its limits are -0.5 and -0.5",
        "joint turn: its axis has no direction",
        "joint copy mimics stand",
        "a collision of link tip",
        "",
    ];
    for ((old, new), named) in broken.into_iter().zip(named) {
        assert!(TREE.contains(old));
        let message = parse(&TREE.replace(old, new)).err().unwrap();
        assert!(message.contains(named), "{new}: {message}");
    }
    let only = |inside: &str| parse(&format!(r#"<robot name="a">{inside}</robot>"#)).err().unwrap();
    assert!(only(r#"<link name="a"/>"#).contains("no link has a collision"));
    assert!(only(r#"<link name="a"/><link name="b"/>"#).contains("a, b are the child of no joint"));
    let ball = r#"<link name="a"><collision><geometry><sphere radius="1"/></geometry></collision></link>"#;
    assert!(only(ball).contains("no joint moves"));
    assert!(only("").contains("no link is the base"));
}
