//! `cargo xtask ci`: all checks but the tests. Each step is timed, and all run even if one fails.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::record::Step;
use crate::workspace::cargo;

/// Runs every check.
///
/// # Errors
/// The names of the checks that failed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("`ci` takes no arguments, `{arg}` given"));
    }
    let mut failed = Vec::new();
    let mut run_check = |name: &str, check: &mut dyn FnMut() -> bool| {
        eprintln!("xtask: {name}");
        let step = Step::begin(name);
        if !step.end(check()) {
            failed.push(name.to_owned());
        }
    };
    let mut step = |name: &str, command: &mut Command| {
        run_check(name, &mut || command.stdin(Stdio::null()).status().is_ok_and(|status| status.success()));
    };
    step("formatting", cargo().args(["fmt", "--all", "--check"]));
    step(
        "lints",
        cargo()
            .args(["clippy", "--workspace", "--all-targets", "--quiet"])
            .args(OPTIONAL)
            .args(["--", "-D", "warnings"]),
    );
    step(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .args(OPTIONAL)
            .env("RUSTDOCFLAGS", "-D warnings"),
    );
    step(
        "lints of trusted shaders",
        cargo()
            // The tests of trusted shaders are built and run by `cargo xtask test --all`.
            .args(["clippy", "--package", "hullfield", "--lib", "--quiet"])
            .args(["--features", "trusted-shaders", "--", "-D", "warnings"]),
    );
    for features in FEATURE_SETS {
        for package in ["hullfield", "hullfield-tests"] {
            let args = ["check", "--quiet", "--package", package, "--no-default-features", "--all-targets"];
            step(
                &format!("{package}, features \"{features}\""),
                cargo().args(args).args(["--features", features]),
            );
        }
    }
    let args = ["check", "--quiet", "--package", "hullfield-cli", "--no-default-features"];
    step("the program without a GPU engine", cargo().args(args));
    step("house", cargo().args(["run", "--quiet", "--package", "hullfield-house"]));
    if has_target("wasm32-unknown-unknown") {
        for features in ["", "webgpu"] {
            let args = "check --quiet --package hullfield --lib --no-default-features --target wasm32-unknown-unknown";
            let name = format!("wasm, features \"{features}\"");
            step(&name, cargo().args(args.split(' ')).args(["--features", features]));
        }
        for features in ["api", "playground-crowds", "playground-paths"] {
            let args = "check --quiet --package hullfield-web --lib --no-default-features --target wasm32-unknown-unknown";
            let name = format!("the page and the npm package, features \"{features}\"");
            step(&name, cargo().args(args.split(' ')).args(["--features", features]));
        }
    } else {
        eprintln!("xtask: wasm: skipped, `rustup target add wasm32-unknown-unknown` enables it");
    }
    if succeeds(cargo().args(["deny", "--version"])) {
        step("licences and advisories", cargo().args(["deny", "check"]));
    } else {
        eprintln!("xtask: licences and advisories: skipped, `cargo install cargo-deny` enables it");
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    if succeeds(Command::new("typos").arg("--version")) {
        step("spelling", Command::new("typos").current_dir(root));
    } else {
        eprintln!("xtask: spelling: skipped, `cargo install typos-cli` enables it");
    }
    run_check("no wgpu without the feature gpu", &mut is_free_of_wgpu);
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Features that are off by default, so that lints and documentation cover all code.
const OPTIONAL: [&str; 2] =
    ["--features", "hullfield-tests/serde,hullfield-tests/tracing,hullfield-web/playground"];

/// The combinations of the library's features that are checked besides the default, with tests. `gpu` alone has no back end.
const FEATURE_SETS: [&str; 4] = ["", "threads,serde", "gpu", "gpu,vulkan,serde"];

/// Whether the library without the feature `gpu` depends on no crate of wgpu.
fn is_free_of_wgpu() -> bool {
    let args = "tree --package hullfield --no-default-features --edges normal --prefix none";
    let tree = cargo().args(args.split(' ')).stderr(Stdio::inherit()).output();
    tree.is_ok_and(|tree| {
        tree.status.success()
            && !String::from_utf8_lossy(&tree.stdout).lines().any(|line| line.starts_with("wgpu"))
    })
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the standard library for a target is installed.
fn has_target(target: &str) -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    sysroot.is_ok_and(|output| {
        let root = String::from_utf8_lossy(&output.stdout);
        Path::new(root.trim()).join("lib/rustlib").join(target).join("lib").is_dir()
    })
}
