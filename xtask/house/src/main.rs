//! Checks the sources against the rules of ARCHITECTURE.md: imports run downward, there are no circles of files, and each
//! shader has a Rust file of its name.
//!
//! It is a package of its own, because it needs a parser and `xtask` has no dependencies.

mod circles;
mod floors;
mod imports;
mod twins;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use imports::Package;

/// The root files of the crates that are checked.
const ROOTS: [&str; 11] = [
    "src/lib.rs",
    "cli/src/main.rs",
    "mesh-files/src/lib.rs",
    "robot-files/src/lib.rs",
    "benches/src/main.rs",
    "tests/oracle/src/lib.rs",
    "xtask/src/main.rs",
    "xtask/house/src/main.rs",
    "xtask/mutants/src/main.rs",
    "web/src/lib.rs",
    "web/readers/src/lib.rs",
];

const HELP: &str = "\
usage: cargo xtask house [--list] [--root DIR]

  --list      print every import between files, and what is imported
  --root DIR  another workspace of the same layout
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(violations) if violations.is_empty() => {
            println!("house: imports run downward, no circles, each shader has a twin or says why not");
            ExitCode::SUCCESS
        }
        Ok(violations) => {
            for violation in &violations {
                eprintln!("house: {violation}");
            }
            eprintln!("house: violations: {}", violations.len());
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("house: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<Vec<String>, String> {
    let mut root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut is_listed = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => is_listed = true,
            "--root" => root = arguments.next().ok_or("--root needs a folder")?.into(),
            "--help" | "-h" => {
                print!("{HELP}");
                std::process::exit(0);
            }
            other => return Err(format!("there is no option `{other}`\n\n{HELP}")),
        }
    }
    check(&root, &ROOTS, is_listed)
}

/// The violations of the rules in the workspace in `root`, a line each.
fn check(root: &Path, entries: &[&str], is_listed: bool) -> Result<Vec<String>, String> {
    let mut violations = Vec::new();
    for entry in entries {
        let package = Package::read(root, entry)?;
        if is_listed {
            for import in package.imports() {
                println!("{} -> {}: {}", package.name(import.from), package.name(import.to), import.names());
            }
        }
        violations.extend(circles::find(&package));
        if *entry == "src/lib.rs" {
            violations.extend(floors::check(&package));
        }
    }
    violations.extend(twins::check(root)?);
    Ok(violations)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A workspace of some files, removed on drop.
    struct Workspace(PathBuf);

    impl Workspace {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("hullfield-house-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            std::fs::create_dir_all(root.join("shaders")).unwrap();
            Self(root)
        }

        fn violations(&self) -> Vec<String> {
            check(&self.0, &["src/lib.rs"], false).unwrap()
        }
    }

    impl Drop for Workspace {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const LIB: (&str, &str) =
        ("src/lib.rs", "mod error; mod gpu; mod collide; mod flow; pub use error::Error;");
    const ERROR: (&str, &str) = ("src/error.rs", "pub struct Error;");

    #[test]
    fn this_workspace_keeps_the_rules() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        assert_eq!(check(root, &ROOTS, false).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn downward_imports_in_any_notation_are_allowed() {
        let workspace = Workspace::new(
            "fine",
            &[
                LIB,
                ERROR,
                ("src/gpu/mod.rs", "mod buffer; pub(crate) use buffer::Buffer; #[cfg(test)] mod tests;"),
                // `mod` lines, re-exports, tests and comments import nothing.
                (
                    "src/gpu/buffer.rs",
                    "use crate::error::Error; /// [`crate::flow::Flow`]\npub struct Buffer(Error);",
                ),
                ("src/gpu/tests.rs", "use crate::flow::Flow;"),
                (
                    "src/flow.rs",
                    "pub struct Flow(crate::gpu::Buffer); #[cfg(test)] mod tests { use crate::collide::A; }",
                ),
                ("src/collide/mod.rs", "mod a; pub use a::A;"),
                ("src/collide/a.rs", "use crate::gpu; pub struct A(gpu::Buffer);"),
            ],
        );
        assert_eq!(workspace.violations(), Vec::<String>::new());
    }

    #[test]
    fn a_path_attribute_gives_the_file_of_a_module() {
        let lib = ("src/lib.rs", "mod error; mod gpu; mod flow;");
        let gpu = ("src/gpu/mod.rs", "#[path = \"../../shared/a.rs\"] mod a;");
        let workspace = Workspace::new("path", &[lib, ERROR, gpu, ("src/flow.rs", ""), ("shared/a.rs", "")]);
        assert_eq!(workspace.violations(), ["shared/a.rs: is on no floor"]);
    }

    #[test]
    fn an_upward_import_is_a_violation_that_lists_the_names() {
        for text in [
            "use crate::flow::Flow; pub struct Buffer(Flow);",
            "pub struct Buffer(crate::flow::Flow);",
            "use crate::flow; pub fn f() { println!(\"{:?}\", flow::Flow); }",
            "pub fn f() { use crate::flow::*; let _ = crate::flow::Flow; }",
        ] {
            let flow = ("src/flow.rs", "pub struct Flow;");
            let workspace = Workspace::new(
                "up",
                &[LIB, ERROR, ("src/gpu.rs", text), flow, ("src/collide.rs", "pub struct A;")],
            );
            assert_eq!(
                workspace.violations(),
                ["src/gpu.rs: imports from upward: Flow of src/flow.rs"],
                "{text}"
            );
        }
    }

    #[test]
    fn an_import_within_a_floor_is_a_violation() {
        let workspace = Workspace::new(
            "beside",
            &[
                LIB,
                ERROR,
                ("src/gpu.rs", ""),
                ("src/flow.rs", "pub struct Flow;"),
                ("src/collide.rs", "use crate::flow::Flow; fn f(_: Flow) {}"),
            ],
        );
        assert_eq!(
            workspace.violations(),
            ["src/collide.rs: imports from its own floor: Flow of src/flow.rs"]
        );
    }

    #[test]
    fn a_circle_is_reported_with_all_its_imports() {
        let workspace = Workspace::new(
            "circle",
            &[
                LIB,
                ERROR,
                ("src/gpu.rs", ""),
                ("src/flow.rs", ""),
                ("src/collide/mod.rs", "mod a; mod b; mod c; use a::A; pub use b::B; pub struct Top(A);"),
                ("src/collide/a.rs", "use super::B; pub struct A(B);"),
                ("src/collide/b.rs", "use super::c::C; pub struct B(C);"),
                ("src/collide/c.rs", "use super::a::A; pub struct C(Box<A>);"),
            ],
        );
        assert_eq!(
            workspace.violations(),
            [
                "a circle of 3 files:\n    src/collide/a.rs -> src/collide/b.rs: B\n    src/collide/b.rs -> src/collide/c.rs: C\n    \
              src/collide/c.rs -> src/collide/a.rs: A"
            ]
        );
    }

    #[test]
    fn a_name_through_the_root_and_a_restricted_crate_are_violations() {
        let workspace = Workspace::new(
            "root",
            &[
                ("src/lib.rs", "mod error; mod navigate; pub use error::Error;"),
                ERROR,
                (
                    "src/navigate.rs",
                    "use crate::Error; use rayon::prelude::*; fn f(_: Error, _: wgpu::Device) {}",
                ),
            ],
        );
        assert_eq!(
            workspace.violations(),
            [
                "src/navigate.rs: imports Error through the crate's root; name the file that defines it",
                "src/navigate.rs: uses the crate rayon",
                "src/navigate.rs: uses the crate wgpu",
            ]
        );
    }

    #[test]
    fn derived_traits_and_functions_named_to_serde_are_imports() {
        let lib = ("src/lib.rs", "mod error; mod gpu; mod flow; mod collide; mod wire;");
        let derive = "#[cfg_attr(feature = \"serde\", derive(serde::Serialize))]";
        let gpu = format!("{derive} pub struct A;");
        let flow = "pub mod number { pub fn serialize() {} } pub struct Other; pub fn three() {}";
        let collide = format!(
            "{derive} #[serde(rename_all = \"snake_case\", try_from = \"Wire\")] pub struct B {{ \
                #[serde(with = \"crate::wire::number\")] a: f64, \
                #[cfg_attr(feature = \"serde\", serde(with = \"crate::flow::number\"))] b: f64, \
                #[serde(default = \"crate::flow::three\")] c: f64 }} \
             #[derive(serde::Deserialize)] struct Wire;"
        );
        let workspace = Workspace::new(
            "derive",
            &[
                lib,
                ERROR,
                ("src/gpu.rs", &gpu),
                ("src/flow.rs", flow),
                ("src/collide.rs", &collide),
                ("src/wire.rs", "pub mod number { pub fn serialize() {} }"),
            ],
        );
        assert_eq!(
            workspace.violations(),
            [
                "src/collide.rs: imports from its own floor: serialize, three of src/flow.rs",
                "src/gpu.rs: uses the crate serde",
            ]
        );
    }

    #[test]
    fn a_shader_without_a_twin_must_say_why() {
        let workspace = Workspace::new(
            "twin",
            &[
                ("src/lib.rs", "mod gpu;"),
                ("src/gpu/mod.rs", "mod scan;"),
                ("src/gpu/scan.rs", ""),
                ("shaders/gpu/scan.wgsl", "// Sums.\nfn f() {}"),
                ("shaders/gpu/block.wgsl", "// Sums.\n// No twin: the CPU needs no blocks.\nfn f() {}"),
                ("shaders/gpu/none.wgsl", "// Sums.\nfn f() {}\n// No twin: too late."),
                ("shaders/gpu/why.wgsl", "// No twin: \nfn f() {}"),
            ],
        );
        let lacks = |name: &str| {
            format!(
                "shaders/gpu/{name}.wgsl: has no twin src/gpu/{name}.rs; name the Rust file so, or say why in the header: \
                 `// No twin: …`"
            )
        };
        assert_eq!(workspace.violations(), [lacks("none"), lacks("why")]);
    }

    #[test]
    fn a_missing_crate_is_an_error() {
        let workspace = Workspace::new("gone", &[("src/lib.rs", "")]);
        let message = check(&workspace.0, &["src/lib.rs", "cli/src/main.rs"], false).unwrap_err();
        assert!(message.starts_with("cli/src/main.rs: "), "{message}");
    }

    #[test]
    fn a_file_that_does_not_parse_is_an_error_with_its_place() {
        let workspace = Workspace::new(
            "broken",
            &[("src/lib.rs", "mod gpu;"), ("src/gpu.rs", "fn f() {\n  let = 3;\n}")],
        );
        let message = check(&workspace.0, &["src/lib.rs"], false).unwrap_err();
        assert!(message.starts_with("src/gpu.rs:2:"), "{message}");
    }
}
