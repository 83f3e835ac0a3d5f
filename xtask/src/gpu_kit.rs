//! `cargo xtask gpu`: packs `hullfield-bench gpu` for a machine with a GPU, but without a network and a compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{cargo, root};

/// The most that the program may have. A machine that is lent takes little more.
const MOST_BYTES: u64 = 40 << 20;

const README: &str = "\
hullfield-bench gpu, for a machine with a GPU (the system and glibc of the machine that built it, or a newer glibc): no network, no compiler, eight minutes.
Bring the GPU's driver, and the Vulkan loader: installed (libvulkan.so.1), or its package beside run.sh (Debian, Ubuntu: apt-get download libvulkan1).
Run `bash run.sh [--budget 8m] [--adapter NAME]`: gpu.txt and gpu.json are written to $OUT, or beside run.sh; exit 1 is a failed check, 2 no adapter or bad input.
";

const RUN: &str = r#"#!/usr/bin/env bash
# Runs the kit. Arguments go to `hullfield-bench gpu`; the table and the JSON go to $OUT, or beside this file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
mkdir -p "$out"
# Packages of the Vulkan loader that lie here are unpacked for this run, not installed.
shopt -s nullglob
for package in "$here"/*.deb; do
    loader=${loader:-$(mktemp -d)}
    dpkg -x "$package" "$loader"
done
for folder in ${loader:+"$loader"/usr/lib/*-linux-gnu}; do
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
"$here/hullfield-bench" gpu --json "$out/gpu.json" "$@" | tee "$out/gpu.txt"
"#;

/// Builds the program in the profile `measure` and packs it into `target/gpu-kit`.
///
/// # Errors
/// What failed: the build, or a file.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("`gpu` takes no arguments, `{arg}` given; the kit's own go to its run.sh"));
    }
    let built = cargo().args(["build", "--profile", "measure", "--package", "hullfield-bench"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("hullfield-bench was not built".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let program = target.join("measure").join(format!("hullfield-bench{}", std::env::consts::EXE_SUFFIX));
    let folder = target.join("gpu-kit");
    let bytes = pack(&program, &folder, &commit())?;
    let mib = bytes as f64 / f64::from(1 << 20);
    if bytes > MOST_BYTES {
        return Err(format!("the program has {mib:.1} MiB, more than 40: install `strip` (binutils)"));
    }
    println!("{}: {mib:.1} MiB. Bring the Vulkan loader, see its README.", folder.display());
    Ok(())
}

/// The commit of the checkout.
fn commit() -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(root())
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => "unknown\n".into(),
    }
}

/// Writes the kit's files. Returns the size of the program.
fn pack(program: &Path, folder: &Path, commit: &str) -> Result<u64, String> {
    let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
    let name = program.file_name().ok_or("the program has no name")?;
    let packed = folder.join(name);
    std::fs::copy(program, &packed).map_err(|error| named(program, error))?;
    // Its symbols are two thirds of it. Without `strip` it only stays larger.
    let _ = Command::new("strip").arg(&packed).output();
    for (name, text) in [("README", README), ("run.sh", RUN), ("commit", commit)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| named(&path, error))?;
    }
    let size = std::fs::metadata(&packed).map_err(|error| named(&packed, error))?;
    Ok(size.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kit_has_its_files() {
        let folder = std::env::temp_dir().join(format!("hullfield-xtask-{}-kit", std::process::id()));
        let program = folder.join("hullfield-bench");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&program, "no program").unwrap();
        let kit = folder.join("kit");
        assert_eq!(pack(&program, &kit, "0123abc\n").unwrap(), 10);
        assert_eq!(std::fs::read_to_string(kit.join("commit")).unwrap(), "0123abc\n");
        assert_eq!(std::fs::read_to_string(kit.join("README")).unwrap().lines().count(), 3);
        assert!(std::fs::read_to_string(kit.join("run.sh")).unwrap().starts_with("#!/usr/bin/env bash"));
        // A second time it replaces them.
        assert_eq!(pack(&program, &kit, "4567def\n").unwrap(), 10);
        assert_eq!(std::fs::read_to_string(kit.join("commit")).unwrap(), "4567def\n");
        std::fs::remove_dir_all(&folder).unwrap();
        let missing = pack(&program, &kit, "").unwrap_err();
        assert!(missing.contains("hullfield-bench"), "{missing}");
    }
}
