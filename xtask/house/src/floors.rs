//! The floors of the library, and what may be imported from where.

use crate::imports::Package;

/// From the ground up; the rooms of a floor do not know one another. A room is a file or a folder of `src`; of two that hold a
/// file the longer name counts.
const FLOORS: [&[&str]; 9] = [
    &["batch", "cell", "wire"],
    &["error"],
    &["account", "lock", "observe", "parallel"],
    &["pending"],
    &["gpu", "navigate"],
    &["no_gpu"],
    &["engine"],
    &["collide", "flow"],
    &["lib"],
];

/// The floors inside a room, from the ground up; only files of the room are held against them.
const INSIDE: [(&str, &[&[&str]]); 5] = [
    (
        "collide",
        &[
            &["collide/hull", "collide/bvh"],
            &["collide/scene"],
            &["collide/gjk"],
            &["collide/epa"],
            &["collide/broad_phase"],
            &["collide/narrow_phase"],
            &["collide/sweep"],
            &["collide/warm"],
            &["collide/query"],
            &["collide"],
        ],
    ),
    ("flow", &[&["flow/grid"], &["flow/field"], &["flow/agents"], &["flow"]]),
    ("navigate", &[&["navigate/shared"], &["navigate/room", "navigate/surface"], &["navigate"]]),
    (
        "navigate/room",
        &[
            &["navigate/room/build"],
            &["navigate/room/search", "navigate/room/edit"],
            &["navigate/room/query"],
            &["navigate/room"],
        ],
    ),
    (
        "navigate/surface",
        &[
            &["navigate/surface/mesh"],
            &["navigate/surface/geodesic"],
            &["navigate/surface/query"],
            &["navigate/surface"],
        ],
    ),
];

/// Crates that only some rooms may name.
const KEPT: [(&str, &[&str]); 3] = [
    ("wgpu", &["gpu", "engine", "pending", "error", "collide", "flow", "lib"]),
    ("rayon", &["parallel"]),
    // What holds data that callers keep; never what works on it.
    ("serde", &["account", "batch", "cell", "engine", "collide", "flow", "navigate", "wire"]),
];

/// What breaks the rule that imports run downward, a line each.
pub(crate) fn check(package: &Package) -> Vec<String> {
    let rooms: Vec<Option<(usize, &str)>> =
        (0..package.len()).map(|file| room(package.name(file), &FLOORS)).collect();
    let mut faults = Vec::new();
    for (file, room) in rooms.iter().enumerate() {
        if room.is_none() {
            faults.push(format!("{}: stands on no floor", package.name(file)));
        }
    }
    check_imports(package, &rooms, &mut faults);
    for (outer, floors) in INSIDE {
        let rooms: Vec<Option<(usize, &str)>> = (0..package.len())
            .map(|file| room(package.name(file), &[&[outer]]).and(room(package.name(file), floors)))
            .collect();
        check_imports(package, &rooms, &mut faults);
    }
    for (file, name) in package.through_root() {
        let file = package.name(file);
        faults.push(format!("{file}: takes {name} through the crate's root; name the file that defines it"));
    }
    for (file, name) in package.externals() {
        let Some((_, room)) = rooms[file] else { continue };
        if KEPT.iter().any(|(kept, rooms)| *kept == name && !rooms.contains(&room)) {
            faults.push(format!("{}: names the crate {name}", package.name(file)));
        }
    }
    faults
}

/// The imports that run upward or to the room beside; files without a room are left out.
fn check_imports(package: &Package, rooms: &[Option<(usize, &str)>], faults: &mut Vec<String>) {
    for import in package.imports() {
        let (Some(from), Some(to)) = (rooms[import.from], rooms[import.to]) else { continue };
        let what = if from.1 == to.1 || from.0 > to.0 {
            continue;
        } else if from.0 == to.0 {
            "the room beside it"
        } else {
            "upward"
        };
        let (names, from, to) = (import.names(), package.name(import.from), package.name(import.to));
        faults.push(format!("{from}: imports from {what}: {names} of {to}"));
    }
}

/// The floor and the room of a file of `src`.
fn room<'a>(file: &str, floors: &[&[&'a str]]) -> Option<(usize, &'a str)> {
    let path = file.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let holds =
        |room: &str| path.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let all =
        floors.iter().enumerate().flat_map(|(floor, rooms)| rooms.iter().map(move |&room| (floor, room)));
    all.filter(|(_, room)| holds(room)).max_by_key(|(_, room)| room.len())
}
