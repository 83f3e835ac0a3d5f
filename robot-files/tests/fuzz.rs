//! Readers of robots on files with faults: no panic, no memory without bound, every error in one line.
//!
//! It is a program of its own, because its allocator counts. `HULLFIELD_FUZZ_MINUTES` says how long it goes on; without it the number of
//! inputs is fixed. `HULLFIELD_SEED` makes other inputs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Instant;

use hullfield_oracle::fuzz::{CountingAllocator, measured, minutes, mutate};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};
use hullfield_robot_files::{Error, Robot, read_srdf, read_urdf};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The memory of a reader for each byte of its file, and what it may take besides.
const BYTES_PER_BYTE: i64 = 100;
const FIXED_BYTES: i64 = 1 << 14;

const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm" xmlns:sim="http://example.org/sim">
  <!-- two joints and a finger -->
  <link name="foot"><collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.2" length="0.2"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0 .2" rpy="0 1.5 -0.25"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision></link>
  <link name="lower"><collision><geometry><mesh filename="package://arm/lower.stl" scale="1 1 0.001"/></geometry></collision></link>
  <link name="finger"><collision><geometry><capsule radius="0.01" length="0.05"/></geometry></collision></link>
  <link name="tip"><collision><origin quat_xyzw="0 0 1 1"/><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="a" type="revolute"><parent link="foot"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-2" upper="2.5"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4" rpy="0 0 3.1"/></joint>
  <joint name="c" type="prismatic"><parent link="lower"/><child link="finger"/><axis xyz="1 0 0"/><limit lower="0" upper="0.04"/><mimic joint="a" multiplier="0.5" offset="0.1"/></joint>
  <joint name="d" type="fixed"><parent link="finger"/><child link="tip"/></joint>
</robot>
"#;

const PAIRS: &str = r#"<robot name="arm">
  <disable_collisions link1="foot" link2="lower" reason="Never"/>
  <disable_default_collisions link="tip"/>
  <enable_collisions link1="tip" link2="foot"/>
</robot>
"#;

/// Words of robots that readers may stumble over.
const WORDS: [&str; 12] = [
    "<",
    "/>",
    ">",
    "<a>",
    "</link>",
    "<!--",
    "-->",
    "<!DOCTYPE a>",
    "&amp;",
    "&a;",
    " xmlns:a=\"b\"",
    "0 0 0",
];

/// Checks that the links of a robot form a tree, and that its numbers are finite.
fn check(robot: &Robot) {
    let (count, mut placed) = (robot.links.len(), vec![false; robot.links.len()]);
    assert_eq!((robot.order.len(), robot.joints.len()), (count, count - 1));
    for (row, &link) in robot.order.iter().enumerate() {
        let joint = robot.links[link].joint.map(|joint| &robot.joints[joint]);
        assert_eq!(joint.is_none(), row == 0);
        assert!(joint.is_none_or(|joint| placed[joint.parent] && joint.child == link));
        assert!(!std::mem::replace(&mut placed[link], true));
    }
    for joint in &robot.joints {
        let length: f64 = joint.axis.iter().map(|part| part * part).sum();
        assert!((length - 1.0).abs() < 1e-9, "{joint:?}");
        assert!(joint.drive.is_none_or(|drive| drive.factor.is_finite() && drive.offset.is_finite()));
        assert!(joint.drive.is_none_or(|drive| drive.variable < robot.variables.len()));
    }
    let frames = robot.links.iter().flat_map(|link| &link.collisions).map(|collision| collision.origin);
    for frame in frames.chain(robot.joints.iter().map(|joint| joint.origin)) {
        let length: f64 = frame.rotation.iter().map(|part| part * part).sum();
        assert!(
            (length - 1.0).abs() < 1e-9 && frame.position.iter().all(|part| part.is_finite()),
            "{frame:?}"
        );
    }
    assert!(robot.variables.iter().all(|variable| variable.lower <= variable.upper));
}

/// Reads a file in one of the formats. Returns whether it was read.
fn read(is_urdf: bool, bytes: &[u8]) -> bool {
    let (error, memory): (Option<Error>, _) = measured(|| match is_urdf {
        true => read_urdf("a", bytes).map(|robot| check(&robot)).err(),
        false => read_srdf("a", bytes).err(),
    });
    let (peak, allowed) = (memory.peak, BYTES_PER_BYTE * bytes.len() as i64 + FIXED_BYTES);
    assert!(
        peak <= allowed,
        "{peak} bytes for a file of {}: {:?}",
        bytes.len(),
        String::from_utf8_lossy(bytes)
    );
    let Some(error) = error else { return true };
    let message = error.to_string();
    assert!(
        message.starts_with("a: ") && message.len() < 1000 && !message.contains(char::is_control),
        "{message:?}"
    );
    false
}

#[test]
fn files_with_faults_neither_panic_nor_take_memory_without_bound() {
    assert!(read(true, ARM.as_bytes()) && read(false, PAIRS.as_bytes()));
    let minutes = minutes();
    let (started, seed) = (Instant::now(), seed(31));
    let mut random = Random::new(seed);
    let (mut inputs, mut read_count) = (0_u64, 0_u64);
    loop {
        for _ in 0..extent(20_000, 40_000) {
            let is_urdf = random.below(4) > 0;
            let [mut bytes, other] =
                if is_urdf { [ARM, PAIRS] } else { [PAIRS, ARM] }.map(|text| text.as_bytes().to_vec());
            for _ in 0..1 + random.below(3) * random.below(2) {
                mutate(&mut random, &mut bytes, &other, &WORDS);
            }
            read_count += u64::from(read(is_urdf, &bytes));
            inputs += 1;
        }
        if minutes.is_none_or(|minutes| started.elapsed().as_secs_f64() > 60.0 * minutes) {
            break;
        }
    }
    println!("{inputs} inputs, {read_count} read, seed {seed}");
    assert!(read_count > 0 && read_count < inputs);
}

/// Files whose parts are as short as they can be.
#[test]
fn the_shortest_parts_take_memory_by_the_bytes_of_the_file() {
    let of = |parts: String| format!("<robot>{parts}</robot>");
    for count in [2000_usize, 20_000] {
        let named = |make: fn(usize) -> String| (0..count).map(make).collect::<String>();
        for text in [
            of("<a/>".repeat(count)),
            of(named(|row| format!("<link name=\"{row}\"/>"))),
            of("<link name=\"a\">".to_owned() + &"<collision/>".repeat(count) + "</link>"),
            of("<link name=\"a\">".to_owned()
                + &"<collision><geometry><sphere radius=\"1\"/></geometry></collision>".repeat(count)
                + "</link>"),
            of(format!("<link name=\"a\"{}/>", " b=\"\"".repeat(count))),
            of("<a>".repeat(count) + &"</a>".repeat(count)),
            of("<a xmlns:b=\"c\">".repeat(count)),
            of(named(|row| format!("<a xmlns:b{row}=\"c\">"))),
            of("\n".repeat(count)),
            "<".repeat(count),
            "<!--".repeat(count),
        ] {
            read(true, text.as_bytes());
            read(false, text.as_bytes());
        }
    }
}
