//! Robots of URDF and SRDF files: what is read, and what is refused with its line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hullfield_robot_files::{Drive, JointKind, Shape, read_srdf, read_urdf};

/// A crane: two branches, joints of every kind that is read, one that mimics another that mimics a third.
const CRANE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<robot name="crane" xmlns:xyz="http://example.org/simulator">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <xyz:plugin><joint/></xyz:plugin>
  <link name="hook"><collision><geometry><capsule radius="0.02" length="0.3"/></geometry></collision></link>
  <link name="ground"/>
  <link name="tower">
    <visual><geometry><mesh filename="nowhere.dae"/></geometry></visual>
    <inertial><mass value="heavy"/></inertial>
    <collision name="legs"><origin xyz="0 0 .5" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2. 3"/></geometry></collision>
    <collision><origin quat_xyzw="0 0 2 2"/><geometry><mesh filename="a b.stl" scale="1 -1 2e-3"/></geometry></collision>
  </link>
  <link name="jib"><collision><geometry><cylinder radius="0.2" length="4"/></geometry></collision></link>
  <link name="winch"><collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <joint name="stand" type="fixed"><parent link="ground"/><child link="tower"/><mimic joint="none"/></joint>
  <joint name="slew" type="continuous"><parent link="tower"/><child link="jib"/><axis xyz="0 0 -3"/></joint>
  <joint name="wind" type="revolute"><origin xyz="1 2 3"/><parent link="tower"/><child link="winch"/>
    <limit lower="-1" upper="2.5" effort="1" velocity="1"/><mimic joint="lower" multiplier="2" offset="-1"/></joint>
  <joint name="lower" type="prismatic"><parent link="jib"/><child link="hook"/>
    <limit upper="0.5"/><mimic joint="slew" multiplier="-0.5" offset="0.25"/></joint>
</robot>
"#;

#[test]
fn links_joints_and_shapes_are_read() {
    let robot = read_urdf("crane.urdf", CRANE.as_bytes()).unwrap();
    assert_eq!(robot.name, "crane");
    let names: Vec<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["hook", "ground", "tower", "jib", "winch"]);
    // From the base, each branch down to its end.
    assert_eq!(robot.order, [1, 2, 3, 0, 4]);
    let joints: Vec<(JointKind, usize, usize, Option<usize>)> = robot
        .joints
        .iter()
        .map(|joint| (joint.kind, joint.parent, joint.child, robot.links[joint.child].joint))
        .collect();
    assert_eq!(
        joints,
        [
            (JointKind::Fixed, 1, 2, Some(0)),
            (JointKind::Continuous, 2, 3, Some(1)),
            (JointKind::Revolute, 2, 4, Some(2)),
            (JointKind::Prismatic, 3, 0, Some(3)),
        ]
    );
    assert_eq!((robot.joints[1].axis, robot.joints[3].axis), ([0.0, 0.0, -1.0], [1.0, 0.0, 0.0]));
    assert_eq!(robot.joints[2].origin.position, [1.0, 2.0, 3.0]);
    // The hook is lowered by -slew / 2 + 1/4; the winch turns by twice that, less one.
    let drive = |joint: usize| robot.joints[joint].drive;
    assert_eq!(drive(0), None);
    assert_eq!(drive(1), Some(Drive { variable: 0, factor: 1.0, offset: 0.0 }));
    assert_eq!(drive(3), Some(Drive { variable: 0, factor: -0.5, offset: 0.25 }));
    assert_eq!(drive(2), Some(Drive { variable: 0, factor: -1.0, offset: -0.5 }));
    let [variable] = robot.variables[..] else { panic!("{:?}", robot.variables) };
    assert_eq!((variable.joint, variable.lower, variable.upper), (1, f64::NEG_INFINITY, f64::INFINITY));
    let [legs, mesh] = &robot.links[2].collisions[..] else { panic!("{:?}", robot.links[2]) };
    assert_eq!((legs.line, &legs.shape), (10, &Shape::Box { size: [1.0, 2.0, 3.0] }));
    assert_eq!((legs.origin.position, mesh.origin.position), ([0.0, 0.0, 0.5], [0.0; 3]));
    // A quarter about z, said in both ways.
    let half = 0.5_f64.sqrt();
    for origin in [legs.origin, mesh.origin] {
        let far = origin.rotation.iter().zip([0.0, 0.0, half, half]).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f64::max) < 1e-15, "{origin:?}");
    }
    assert_eq!(mesh.shape, Shape::Mesh { file: "a b.stl".to_owned(), scale: [1.0, -1.0, 2e-3] });
    assert_eq!(robot.links[0].collisions[0].shape, Shape::Capsule { radius: 0.02, length: 0.3 });
    assert_eq!(robot.links[3].collisions[0].shape, Shape::Cylinder { radius: 0.2, length: 4.0 });
    assert_eq!(robot.links[4].collisions[0].shape, Shape::Sphere { radius: 0.25 });
}

#[test]
fn marks_line_ends_and_a_namespace_of_its_own_change_nothing() {
    let plain = read_urdf("a", CRANE.as_bytes()).unwrap();
    let marked = format!("\u{feff}{CRANE}");
    assert_eq!(read_urdf("a", marked.as_bytes()).unwrap(), plain);
    let crossed = CRANE.replace('\n', "\r\n");
    assert_eq!(read_urdf("a", crossed.as_bytes()).unwrap(), plain);
    let spaced = CRANE.replace("<robot ", "<robot xmlns=\"http://example.org/robots\" ");
    assert_eq!(read_urdf("a", spaced.as_bytes()).unwrap(), plain);
}

/// Roll, pitch and yaw turn about fixed axes, x first: against products of matrices.
#[test]
fn roll_pitch_and_yaw_are_about_fixed_axes() {
    let text = CRANE.replace("xyz=\"1 2 3\"", "xyz=\"1 2 3\" rpy=\"0.3 -1.2 2.5\"");
    let robot = read_urdf("a", text.as_bytes()).unwrap();
    let [x, y, z, w] = robot.joints[2].origin.rotation;
    let turn = |v: [f64; 3]| {
        // v + 2 w (q × v) + 2 q × (q × v).
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let once = cross([x, y, z], v);
        let twice = cross([x, y, z], once);
        [0, 1, 2].map(|k| v[k] + 2.0 * (w * once[k] + twice[k]))
    };
    let about = |axis: usize, angle: f64, v: [f64; 3]| {
        let (sine, cosine) = angle.sin_cos();
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut turned = v;
        turned[i] = cosine * v[i] - sine * v[j];
        turned[j] = sine * v[i] + cosine * v[j];
        turned
    };
    for v in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, -0.7, 3.0]] {
        let wanted = about(2, 2.5, about(1, -1.2, about(0, 0.3, v)));
        let far = turn(v).iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-14, "{v:?}: {:?} instead of {wanted:?}", turn(v));
    }
}

/// What is replaced in the crane, and the error.
const BROKEN: [(&str, &str, &str); 49] = [
    ("<robot", "<robt", "line 21: it is not well-formed XML: expected 'robt' tag, not 'robot' at 21:1"),
    ("<link name=\"ground\"/>", "", "line 15: joint stand: no link has the name ground"),
    (
        "<child link=\"tower\"/>",
        "<child link=\"Tower\"/>",
        "line 15: joint stand: no link has the name Tower",
    ),
    ("<parent link=\"jib\"/>", "", "line 19: joint lower has no parent"),
    ("<child link=\"hook\"/>", "<child/>", "line 19: joint lower: child has no attribute link"),
    ("<link name=\"ground\"/>", "<link/>", "line 6: link has no attribute name"),
    ("<link name=\"ground\"/>", "<link name=\"jib\"/>", "line 13: two links have the name jib"),
    ("joint name=\"slew\"", "joint name=\"wind\"", "line 17: two joints have the name wind"),
    ("joint name=\"slew\"", "joint", "line 16: joint has no attribute name"),
    ("link=\"ground\"/><child", "link=\"hook\"/><child", "line 5: link hook hangs from a loop of joints"),
    (
        "<child link=\"winch\"/>",
        "<child link=\"jib\"/>",
        "line 17: link jib is the child of two joints, slew and wind",
    ),
    (
        "<link name=\"ground\"/>",
        "<link name=\"ground\"/><link name=\"sky\"/>",
        "the links ground and sky are the child of no joint",
    ),
    (
        "type=\"continuous\"",
        "type=\"floating\"",
        "line 16: joint slew: its type is floating; fixed, revolute, continuous and prismatic joints are read",
    ),
    ("type=\"continuous\"", "type=\"planar\"", "its type is planar"),
    ("type=\"continuous\"", "type=\"Revolute\"", "its type is Revolute"),
    ("type=\"continuous\"", "", "line 16: joint slew: joint has no attribute type"),
    ("xyz=\"0 0 -3\"", "xyz=\"0 0 0\"", "line 16: joint slew: axis is 0, which has no direction"),
    ("xyz=\"0 0 -3\"", "xyz=\"0 0 -0.0\"", "axis is 0"),
    ("xyz=\"0 0 -3\"", "xyz=\"0 nan 1\"", "line 16: joint slew: axis: xyz \"nan\" is not finite"),
    ("xyz=\"0 0 -3\"", "", "line 16: joint slew: axis has no attribute xyz"),
    ("xyz=\"1 2 3\"", "xyz=\"1 2\"", "line 17: joint wind: origin: xyz \"1 2\" must be 3 numbers"),
    ("xyz=\"1 2 3\"", "xyz=\"1 2 3 4\"", "must be 3 numbers"),
    ("xyz=\"1 2 3\"", "xyz=\"1, 2, 3\"", "xyz \"1,\" is not a number"),
    ("xyz=\"1 2 3\"", "xyz=\"1 2 1e999\"", "xyz 1e999 is too large for a 64-bit float"),
    ("xyz=\"1 2 3\"", "xyz=\"1 2 ${h}\"", "xyz \"${h}\" is not a number"),
    (
        "xyz=\"1 2 3\"",
        "xyz=\"1 2 3\" rotation=\"1\"",
        "origin: rotation is not read; xyz, rpy and quat_xyzw are",
    ),
    (
        "quat_xyzw=\"0 0 2 2\"",
        "quat_xyzw=\"0 0 0 0\"",
        "line 11: a collision of link tower: origin: quat_xyzw is 0",
    ),
    ("quat_xyzw=\"0 0 2 2\"", "quat_xyzw=\"0 0 2 2\" rpy=\"0 0 0\"", "it has both rpy and quat_xyzw"),
    (
        "<limit lower=\"-1\" upper=\"2.5\" effort=\"1\" velocity=\"1\"/>",
        "",
        "line 17: joint wind has no limit, which a revolute joint needs",
    ),
    ("lower=\"-1\"", "lower=\"3\"", "line 18: joint wind: limit: lower is 3, above upper, 2.5"),
    ("lower=\"-1\"", "lower=\"-inf\"", "limit: lower \"-inf\" is not finite"),
    (
        "<mimic joint=\"lower\"",
        "<mimic joint=\"lift\"",
        "line 17: joint wind mimics joint lift, which does not exist",
    ),
    ("<mimic joint=\"lower\"", "<mimic joint=\"stand\"", "joint wind mimics joint stand, which is fixed"),
    ("<mimic joint=\"slew\"", "<mimic joint=\"wind\"", "and so on in a loop"),
    (
        "<mimic joint=\"slew\"",
        "<mimic joint=\"lower\"",
        "line 19: joint lower mimics joint lower, and so on in a loop",
    ),
    ("multiplier=\"2\"", "multiplier=\"1e308\" offset2=\"\"", ""),
    ("multiplier=\"-0.5\"", "multiplier=\"NaN\"", "joint lower: multiplier \"NaN\" is not finite"),
    (
        "<geometry><sphere radius=\"0.25\"/></geometry>",
        "",
        "line 14: a collision of link winch has no geometry",
    ),
    ("<sphere radius=\"0.25\"/>", "", "a collision of link winch: its geometry is empty"),
    (
        "<sphere radius=\"0.25\"/>",
        "<sphere radius=\"1\"/><box size=\"1 1 1\"/>",
        "its geometry has more than one shape",
    ),
    (
        "<sphere radius=\"0.25\"/>",
        "<xyz:ellipsoid size=\"1 1 1\"/>",
        "a collision of link winch: ellipsoid is not read; box, sphere, cylinder, capsule and mesh are",
    ),
    ("radius=\"0.25\"", "", "sphere has no attribute radius"),
    (
        "radius=\"0.25\"",
        "radius=\"-0.25\"",
        "line 14: a collision of link winch: sphere: radius is -0.25, it must be 0 or more",
    ),
    ("size=\"1 2. 3\"", "size=\"1 -2 3\"", "box: size has -2, each must be 0 or more"),
    ("filename=\"a b.stl\"", "", "mesh has no attribute filename"),
    (
        "<axis xyz=\"0 0 -3\"/>",
        "<axis xyz=\"0 0 -3\"/><axis xyz=\"1 0 0\"/>",
        "line 16: joint slew has more than one axis",
    ),
    (
        "<xyz:plugin><joint/></xyz:plugin>",
        "<xyz:joint/>",
        "line 4: a joint of the namespace \"http://example.org/simulator\" is not read",
    ),
    (
        "http://example.org/simulator\"",
        "http://www.ros.org/wiki/xacro\"",
        "line 4: it is xacro: make URDF of it with xacro",
    ),
    ("<material", "<include filename=\"b.urdf\"/><material", "line 3: include is not read"),
];

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    for (from, to, wanted) in BROKEN {
        assert!(CRANE.contains(from), "{from}");
        let text = CRANE.replacen(from, to, 1);
        let read = read_urdf("crane.urdf", text.as_bytes());
        if wanted.is_empty() {
            assert!(read.is_ok(), "{to}: {read:?}");
            continue;
        }
        let message = read.expect_err(to).to_string();
        assert!(message.starts_with("crane.urdf: ") && message.lines().count() == 1, "{message}");
        assert!(message.contains(wanted), "{message}\ninstead of {wanted}");
    }
}

#[test]
fn links_must_be_a_tree() {
    let robot = |joints: &[[&str; 2]]| {
        let links: String = ["a", "b", "c", "d"].map(|name| format!("<link name=\"{name}\"/>\n")).concat();
        let joint = |(row, [from, to]): (usize, &[&str; 2])| {
            format!(
                "<joint name=\"{row}\" type=\"fixed\"><parent link=\"{from}\"/><child link=\"{to}\"/></joint>\n"
            )
        };
        let joints: String = joints.iter().enumerate().map(joint).collect();
        read_urdf("r", format!("<robot>\n{links}{joints}</robot>").as_bytes())
    };
    let error_of = |joints: &[[&str; 2]]| robot(joints).unwrap_err().to_string();
    assert_eq!(robot(&[["d", "c"], ["d", "a"], ["a", "b"]]).unwrap().order, [3, 2, 0, 1]);
    assert_eq!(
        error_of(&[["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]),
        "r: no link is the base: each is the child of a joint"
    );
    assert_eq!(
        error_of(&[["a", "b"], ["c", "d"], ["d", "c"]]),
        "r: line 4: link c hangs from a loop of joints"
    );
    assert_eq!(
        error_of(&[["a", "b"], ["b", "c"], ["d", "d"]]),
        "r: line 5: link d hangs from a loop of joints"
    );
    let bases = "r: line 4: the links a and c are the child of no joint: one link must be the base";
    assert_eq!(error_of(&[["a", "b"], ["c", "d"]]), bases);
    assert_eq!(
        error_of(&[["a", "b"], ["a", "c"], ["b", "c"], ["a", "d"]]),
        "r: line 8: link c is the child of two joints, 1 and 2"
    );
    assert_eq!(read_urdf("r", b"<robot name=\"x\"/>").unwrap_err().to_string(), "r: it has no link");
}

#[test]
fn what_is_no_urdf_is_named() {
    let wide: Vec<u8> = CRANE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let laughs = "<!DOCTYPE robot [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>\n<robot name=\"&c;\"/>";
    let attributes: String = (0..300).map(|row| format!(" a{row}=\"\"")).collect();
    let crowded = format!("<robot>\n<!-- {} -->\n<link{attributes}/></robot>", "=".repeat(1000));
    let namespaces: String = (0..1001).map(|row| format!("<a xmlns:n{row}=\"u\">")).collect();
    let long = " ".repeat((1 << 24) + 1);
    let deep = format!("<robot>{}", "<a>".repeat(100_000));
    let cases: [(&[u8], &str); 16] = [
        (&wide, "r: it is text in UTF-16: save it as UTF-8"),
        (b"\x1f\x8b\x08\0", "r: it is compressed with gzip: unpack it"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "r: it is a Git LFS pointer"),
        (b"<robot>\n\n<link name=\"\xe9\"/></robot>", "r: line 3: it is not UTF-8"),
        (b"", "r: it is empty"),
        (b" \n ", "r: it is empty"),
        (b"name: robot", "r: line 1: it is not well-formed XML"),
        (b"<sdf version=\"1.6\"/>", "r: line 1: it is SDF, not URDF"),
        (b"<mujoco/>", "r: line 1: it is MJCF, not URDF"),
        (b"<html/>", "r: line 1: the outermost element is html, that of URDF is robot"),
        (b"<robot><x:link name=\"a\"/></robot>", "r: line 1: it is not well-formed XML"),
        (laughs.as_bytes(), "r: it has a document type (<!DOCTYPE …>), which is not read"),
        (crowded.as_bytes(), "r: line 3: an element has more than 256 attributes"),
        (namespaces.as_bytes(), "r: it declares more than 500 namespaces"),
        (long.as_bytes(), "r: it has more than 16777216 bytes, the most that is read"),
        (deep.as_bytes(), "r: line 1: it is not well-formed XML"),
    ];
    for (bytes, wanted) in cases {
        let message = read_urdf("r", bytes).unwrap_err().to_string();
        assert!(
            message.starts_with(wanted) && message.lines().count() == 1,
            "{message}\ninstead of {wanted}"
        );
    }
}

#[test]
fn a_long_chain_is_read_in_time() {
    use std::fmt::Write;
    let mut text = "<robot><link name=\"0\"/>".to_owned();
    for row in 1..40_000 {
        let mimic = if row > 1 { format!("<mimic joint=\"{}\"/>", row - 1) } else { String::new() };
        let (parent, kind) = (row - 1, "continuous");
        write!(text, "<link name=\"{row}\"/><joint name=\"{row}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{row}\"/>{mimic}</joint>").unwrap();
    }
    text += "</robot>";
    let robot = read_urdf("long", text.as_bytes()).unwrap();
    assert_eq!((robot.order.len(), robot.variables.len()), (40_000, 1));
    assert!(robot.joints.iter().all(|joint| joint.drive.is_some_and(|drive| drive.variable == 0)));
}

#[test]
fn srdf_says_which_pairs_need_no_test() {
    let text = r#"<robot name="crane">
  <group name="all"><link name="jib"/></group>
  <disable_collisions link1="jib" link2="hook" reason="Never"/>
  <disable_default_collisions link="winch"/>
  <enable_collisions link1="winch" link2="jib"/>
</robot>"#;
    let found = read_srdf("a.srdf", text.as_bytes()).unwrap();
    let pairs: Vec<(&str, &str, u64)> = found
        .disabled
        .iter()
        .chain(&found.enabled)
        .map(|pair| (pair.links[0].as_str(), pair.links[1].as_str(), pair.line))
        .collect();
    assert_eq!(pairs, [("jib", "hook", 3), ("winch", "jib", 5)]);
    assert_eq!(found.apart, [("winch".to_owned(), 4)]);
    for (from, to, wanted) in [
        ("link2=\"hook\"", "", "a.srdf: line 3: disable_collisions has no attribute link2"),
        ("link2=\"hook\"", "link2=\"jib\"", "a.srdf: line 3: disable_collisions: both links are jib"),
        (
            "default_collisions link",
            "default_collisions links",
            "a.srdf: line 4: disable_default_collisions has no attribute link",
        ),
        ("</robot>", "", "a.srdf: line 1: it is not well-formed XML"),
    ] {
        let message = read_srdf("a.srdf", text.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with(wanted), "{message}\ninstead of {wanted}");
    }
}
