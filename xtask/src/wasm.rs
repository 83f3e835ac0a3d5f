//! Builds for the browser: finds or installs a compiler with the target `wasm32-unknown-unknown`, and wasm-bindgen.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::install;
use crate::workspace::{cargo, root, target};

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler for browsers, its sources of the standard library, and a linker.
const DEBIAN: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

/// Since 1.92 a panic can abort at once, by an unstable option.
const ABORTS_AT_ONCE: u32 = 92;

/// What a module is optimized with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Optimized {
    /// All crates as one: what is loaded over a network. Code is generated for each module anew.
    Together,
    /// Each crate by itself: for tests. The library's code is generated once for all modules, which are a tenth to a fifth larger with gzip.
    Apart,
}

/// How the crate is compiled for the browser.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Compiler {
    /// The compiler of this workspace, which has the target's standard library.
    Own,
    /// Debian's, which has none: it is built from its sources, with this linker. Where panics can abort at once, their texts are left out.
    Debian { linker: PathBuf, aborts_at_once: bool },
}

impl Compiler {
    /// Finds a compiler, or installs one.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    pub(crate) fn ensure() -> Result<Self, String> {
        if has_target() {
            return Ok(Self::Own);
        }
        if let Some(found) = Self::debian()? {
            return Ok(found);
        }
        if install::has_package("rust-web-src") {
            install::packages(&DEBIAN, "a build for the browser")?;
            if let Some(found) = Self::debian()? {
                return Ok(found);
            }
        }
        if let Some(rustup) = install::program("rustup") {
            eprintln!("xtask: rustup target add {TARGET}");
            let added = Command::new(rustup).current_dir(root()).args(["target", "add", TARGET]).status();
            if added.is_ok_and(|status| status.success()) && has_target() {
                return Ok(Self::Own);
            }
        }
        Err(format!(
            "no compiler here builds for {TARGET}: rustup target add {TARGET} (on Debian: sudo apt-get install {})",
            DEBIAN.join(" ")
        ))
    }

    /// Debian's compiler; none where a part of it is missing.
    fn debian() -> Result<Option<Self>, String> {
        let has = |path: &str| Path::new(path).exists();
        let linker = linker();
        let is_there =
            has("/usr/bin/rustc") && has("/usr/bin/cargo") && has("/usr/lib/rustlib/src/rust/library");
        let Some(linker) = linker.filter(|_| is_there) else { return Ok(None) };
        let version = output(Command::new("/usr/bin/rustc").arg("--version"));
        let needed = manifest_value("rust-version").unwrap_or_default();
        match (minor(&version), minor(&needed)) {
            (Some(found), Some(needed)) if found < needed => Err(format!(
                "/usr/bin/rustc is 1.{found}, hullfield needs 1.{needed}: sudo apt-get update && sudo apt-get install {}",
                DEBIAN.join(" ")
            )),
            (found, _) => {
                let aborts_at_once = found.is_some_and(|found| found >= ABORTS_AT_ONCE);
                Ok(Some(Self::Debian { linker, aborts_at_once }))
            }
        }
    }

    /// Builds libraries for the browser, with features as `package/feature`. Returns the path of the module of each.
    ///
    /// # Errors
    /// That they could not be built.
    pub(crate) fn build<const N: usize>(
        &self,
        packages: [&str; N],
        features: &str,
        optimized: Optimized,
    ) -> Result<[PathBuf; N], String> {
        let folder = target().join("web/cargo");
        // All browsers with WebGPU have it, and all others since 2023.
        let mut flags = "-Ctarget-feature=+simd128".to_owned();
        let mut command = match self {
            Self::Own => cargo(),
            Self::Debian { linker, aborts_at_once } => {
                let mut command = Command::new("/usr/bin/cargo");
                command.current_dir(root());
                // The cargo that runs this program names its own compiler.
                for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_cargo(&name.to_string_lossy()))
                {
                    command.env_remove(name);
                }
                command.env("RUSTC", "/usr/bin/rustc");
                // To build the standard library is an unstable option.
                command.env("RUSTC_BOOTSTRAP", "1");
                command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
                // Small sorts are as fast here, and there are many.
                let standard = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
                command.arg("build").args(standard);
                if *aborts_at_once {
                    // In a browser no one would read the message: the standard library has no stream to write it to.
                    flags.push_str(" -Zunstable-options -Cpanic=immediate-abort");
                }
                command
            }
        };
        if *self == Self::Own {
            command.arg("build");
        }
        // A third of the default: the module is a tenth smaller, and no query is slower.
        flags.push_str(" -Cllvm-args=-inline-threshold=75");
        let arguments = ["--quiet", "--profile", "web", "--target", TARGET, "--lib", "--no-default-features"];
        command.args(arguments).args(["--features", features]);
        for package in packages {
            command.args(["--package", package]);
        }
        command.env("CARGO_TARGET_DIR", &folder);
        if optimized == Optimized::Apart {
            command.env("CARGO_PROFILE_WEB_LTO", "off");
        }
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags);
        let status = command.stdin(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("{} could not be built for {TARGET}", packages.join(" and ")));
        }
        let module = |package: &str| {
            folder.join(TARGET).join("web").join(format!("{}.wasm", package.replace('-', "_")))
        };
        Ok(packages.map(module))
    }
}

fn is_of_cargo(name: &str) -> bool {
    matches!(
        name,
        "RUSTC" | "RUSTDOC" | "CARGO" | "RUSTUP_TOOLCHAIN" | "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS"
    )
}

/// Whether the workspace's compiler has the target's standard library.
fn has_target() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder = output(Command::new(rustc).current_dir(root()).args([
        "--print",
        "target-libdir",
        "--target",
        TARGET,
    ]));
    !folder.trim().is_empty() && Path::new(folder.trim()).is_dir()
}

/// LLVM's linker for wasm; Debian's name has the version.
fn linker() -> Option<PathBuf> {
    let versions = (14..40).rev().map(|version| format!("wasm-ld-{version}"));
    std::iter::once("wasm-ld".to_owned()).chain(versions).find_map(|name| install::program(&name))
}

/// Builds the program that [`bind`] runs, beside the modules: these are optimized as a whole, on one core. An error shows when it is run.
pub(crate) fn begin_binder() -> Option<Child> {
    let mut command = cargo();
    command.args(["build", "--quiet", "--package", "hullfield-bindgen"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

/// Makes the JavaScript of a module, and the module that it loads, in a folder.
///
/// # Errors
/// That it could not be made.
pub(crate) fn bind(module: &Path, folder: &Path) -> Result<(), String> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "hullfield-bindgen", "--"]).arg(module).arg(folder);
    let status = command.stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(format!("the JavaScript of {} could not be made", module.display()))
}

/// A text of the workspace's manifest.
fn manifest_value(name: &str) -> Option<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).ok()?;
    let line = manifest.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))?;
    Some(line.trim().trim_matches('"').to_owned())
}

/// The second number of the first version in a text.
fn minor(text: &str) -> Option<u32> {
    let version =
        text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    version.split('.').nth(1)?.parse().ok()
}

fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        assert_eq!(minor("rustc 1.96.0 (ac68faa20 2026-05-25)"), Some(96));
        assert_eq!(minor("1.89"), Some(89));
        assert_eq!(minor("none"), None);
        assert!(manifest_value("rust-version").is_some_and(|version| version.starts_with("1.")));
    }
}
