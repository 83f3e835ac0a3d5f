//! Holds the sources against the rules of ARCHITECTURE.md: imports run downward, there are no circles of files, and each shader
//! has a Rust file of its name.
//!
//! A package of its own, because `xtask` has no dependencies and this needs a parser.

mod circles;
mod floors;
mod imports;
mod twins;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use imports::Package;

/// The crates whose files are held against the rules, by their root files.
const ROOTS: [&str; 6] = [
    "src/lib.rs",
    "cli/src/main.rs",
    "benches/src/main.rs",
    "tests/oracle/src/lib.rs",
    "xtask/src/main.rs",
    "xtask/house/src/main.rs",
];

const HELP: &str = "\
usage: cargo xtask house [--list] [--root DIR]

  --list      print every import between files, and what is imported
  --root DIR  another workspace of the same layout
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(faults) if faults.is_empty() => {
            println!("house: imports run downward, no circles, each shader has its twin or says why not");
            ExitCode::SUCCESS
        }
        Ok(faults) => {
            for fault in &faults {
                eprintln!("house: {fault}");
            }
            eprintln!("house: {} faults", faults.len());
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
    faults(&root, &ROOTS, is_listed)
}

/// Everything that breaks a rule in the workspace in `root`, a line each.
fn faults(root: &Path, entries: &[&str], is_listed: bool) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for entry in entries {
        let package = Package::read(root, entry)?;
        if is_listed {
            for import in package.imports() {
                println!("{} -> {}: {}", package.name(import.from), package.name(import.to), import.names());
            }
        }
        faults.extend(circles::find(&package));
        if *entry == "src/lib.rs" {
            faults.extend(floors::check(&package));
        }
    }
    faults.extend(twins::check(root)?);
    Ok(faults)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A workspace of these files, gone at the end.
    struct House(PathBuf);

    impl House {
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

        fn faults(&self) -> Vec<String> {
            faults(&self.0, &["src/lib.rs"], false).unwrap()
        }
    }

    impl Drop for House {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const LIB: (&str, &str) =
        ("src/lib.rs", "mod error; mod gpu; mod collide; mod flow; pub use error::Error;");
    const ERROR: (&str, &str) = ("src/error.rs", "pub struct Error;");

    #[test]
    fn this_house_keeps_its_rules() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        assert_eq!(faults(root, &ROOTS, false).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn imports_that_run_downward_are_fine_however_they_are_written() {
        let house = House::new(
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
        assert_eq!(house.faults(), Vec::<String>::new());
    }

    #[test]
    fn a_module_lies_where_its_attribute_says() {
        let lib = ("src/lib.rs", "mod error; mod gpu; mod flow;");
        let gpu = ("src/gpu/mod.rs", "#[path = \"../../shared/a.rs\"] mod a;");
        let house = House::new("path", &[lib, ERROR, gpu, ("src/flow.rs", ""), ("shared/a.rs", "")]);
        assert_eq!(house.faults(), ["shared/a.rs: stands on no floor"]);
    }

    #[test]
    fn an_upward_import_is_named_with_what_it_takes() {
        for text in [
            "use crate::flow::Flow; pub struct Buffer(Flow);",
            "pub struct Buffer(crate::flow::Flow);",
            "use crate::flow; pub fn f() { println!(\"{:?}\", flow::Flow); }",
            "pub fn f() { use crate::flow::*; let _ = crate::flow::Flow; }",
        ] {
            let flow = ("src/flow.rs", "pub struct Flow;");
            let house = House::new(
                "up",
                &[LIB, ERROR, ("src/gpu.rs", text), flow, ("src/collide.rs", "pub struct A;")],
            );
            assert_eq!(house.faults(), ["src/gpu.rs: imports from upward: Flow of src/flow.rs"], "{text}");
        }
    }

    #[test]
    fn rooms_side_by_side_do_not_know_one_another() {
        let house = House::new(
            "beside",
            &[
                LIB,
                ERROR,
                ("src/gpu.rs", ""),
                ("src/flow.rs", "pub struct Flow;"),
                ("src/collide.rs", "use crate::flow::Flow; fn f(_: Flow) {}"),
            ],
        );
        assert_eq!(house.faults(), ["src/collide.rs: imports from the room beside it: Flow of src/flow.rs"]);
    }

    #[test]
    fn a_circle_is_named_whole_re_exports_or_not() {
        let house = House::new(
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
            house.faults(),
            [
                "a circle of 3 files:\n    src/collide/a.rs -> src/collide/b.rs: B\n    src/collide/b.rs -> src/collide/c.rs: C\n    \
              src/collide/c.rs -> src/collide/a.rs: A"
            ]
        );
    }

    #[test]
    fn a_name_through_the_root_and_a_crate_that_is_kept() {
        let house = House::new(
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
            house.faults(),
            [
                "src/navigate.rs: takes Error through the crate's root; name the file that defines it",
                "src/navigate.rs: names the crate rayon",
                "src/navigate.rs: names the crate wgpu",
            ]
        );
    }

    #[test]
    fn what_is_derived_and_what_serde_is_told_to_call_are_imports() {
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
        let house = House::new(
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
            house.faults(),
            [
                "src/collide.rs: imports from the room beside it: serialize, three of src/flow.rs",
                "src/gpu.rs: names the crate serde",
            ]
        );
    }

    #[test]
    fn a_shader_has_a_twin_or_says_why_not() {
        let house = House::new(
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
        assert_eq!(house.faults(), [lacks("none"), lacks("why")]);
    }

    #[test]
    fn a_crate_that_is_not_there_is_an_error() {
        let house = House::new("gone", &[("src/lib.rs", "")]);
        let message = faults(&house.0, &["src/lib.rs", "cli/src/main.rs"], false).unwrap_err();
        assert!(message.starts_with("cli/src/main.rs: "), "{message}");
    }

    #[test]
    fn a_file_that_does_not_parse_is_named_with_its_place() {
        let house =
            House::new("broken", &[("src/lib.rs", "mod gpu;"), ("src/gpu.rs", "fn f() {\n  let = 3;\n}")]);
        let message = faults(&house.0, &["src/lib.rs"], false).unwrap_err();
        assert!(message.starts_with("src/gpu.rs:2:"), "{message}");
    }
}
