//! The floors of the library, and the rule that imports run downward.

use crate::imports::Package;

/// The floors from the bottom up. Modules of a floor do not import each other. A module is a file or a folder of `src`; if two
/// contain a file, the longer name counts.
const FLOORS: [&[&str]; 10] = [
    &["batch", "cell", "lock", "order", "rounding", "wire"],
    &["error"],
    &["account", "observe", "parallel"],
    &["pending"],
    &["gpu", "navigate"],
    &["no_gpu"],
    &["engine"],
    &["collide", "flow"],
    &["inspect"],
    &["lib"],
];

/// The floors inside a module, from the bottom up. They are for the files of that module only.
const INNER_FLOORS: [(&str, &[&[&str]]); 5] = [
    (
        "collide",
        &[
            &["collide/hull", "collide/bvh"],
            &["collide/scene"],
            &["collide/gjk"],
            &["collide/epa"],
            &["collide/broad_phase"],
            &["collide/narrow_phase"],
            &["collide/ray"],
            &["collide/sweep"],
            &["collide/shape", "collide/joint_path"],
            &["collide/warm"],
            &["collide/query"],
            &["collide/bodies", "collide/compound"],
            &["collide/handle"],
            &["collide"],
        ],
    ),
    (
        "flow",
        &[
            &["flow/grid"],
            &["flow/field"],
            &["flow/weighted"],
            &["flow/agents", "flow/raster"],
            &["flow/cost_distance"],
            &["flow"],
        ],
    ),
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

/// Crates that only some modules may use.
const RESTRICTED: [(&str, &[&str]); 3] = [
    ("wgpu", &["gpu", "engine", "pending", "error", "collide", "flow", "lib"]),
    ("rayon", &["parallel"]),
    // Modules of data that callers store, not those of algorithms.
    ("serde", &["account", "batch", "cell", "engine", "collide", "flow", "navigate", "wire"]),
];

/// The violations of the rule, a line each.
pub(crate) fn check(package: &Package) -> Vec<String> {
    let modules: Vec<Option<(usize, &str)>> =
        (0..package.len()).map(|file| module(package.name(file), &FLOORS)).collect();
    let mut violations = Vec::new();
    for (file, module) in modules.iter().enumerate() {
        if module.is_none() {
            violations.push(format!("{}: is on no floor", package.name(file)));
        }
    }
    check_imports(package, &modules, &mut violations);
    for (outer, floors) in INNER_FLOORS {
        let modules: Vec<Option<(usize, &str)>> = (0..package.len())
            .map(|file| module(package.name(file), &[&[outer]]).and(module(package.name(file), floors)))
            .collect();
        check_imports(package, &modules, &mut violations);
    }
    for (file, name) in package.through_root() {
        let file = package.name(file);
        violations
            .push(format!("{file}: imports {name} through the crate's root; name the file that defines it"));
    }
    for (file, name) in package.externals() {
        let Some((_, module)) = modules[file] else { continue };
        if RESTRICTED.iter().any(|(restricted, modules)| *restricted == name && !modules.contains(&module)) {
            violations.push(format!("{}: uses the crate {name}", package.name(file)));
        }
    }
    violations
}

/// Adds the imports that run upward or within a floor. Files without a module are skipped.
fn check_imports(package: &Package, modules: &[Option<(usize, &str)>], violations: &mut Vec<String>) {
    for import in package.imports() {
        let (Some(from), Some(to)) = (modules[import.from], modules[import.to]) else { continue };
        let what = if from.1 == to.1 || from.0 > to.0 {
            continue;
        } else if from.0 == to.0 {
            "its own floor"
        } else {
            "upward"
        };
        let (names, from, to) = (import.names(), package.name(import.from), package.name(import.to));
        violations.push(format!("{from}: imports from {what}: {names} of {to}"));
    }
}

/// The floor and the module of a file of `src`.
fn module<'a>(file: &str, floors: &[&[&'a str]]) -> Option<(usize, &'a str)> {
    let path = file.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let holds =
        |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let all = floors
        .iter()
        .enumerate()
        .flat_map(|(floor, modules)| modules.iter().map(move |&module| (floor, module)));
    all.filter(|(_, module)| holds(module)).max_by_key(|(_, module)| module.len())
}
