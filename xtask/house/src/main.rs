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
    faults(&root, is_listed)
}

/// Everything that breaks a rule in the workspace in `root`, a line each.
fn faults(root: &Path, is_listed: bool) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for entry in ROOTS.iter().filter(|entry| root.join(entry).is_file()) {
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
