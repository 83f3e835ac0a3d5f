//! `cargo xtask ci`: all checks but the tests. Each step is timed, and all run even if one fails.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::record::Step;
use crate::test::FEATURES;
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
            .args(["clippy", "--workspace", "--all-targets", "--quiet", "--features", FEATURES])
            .args(["--", "-D", "warnings"]),
    );
    step(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--quiet", "--features", FEATURES])
            // The lints have these through development dependencies: here they spare another check of the library.
            .args(["--features", "hullfield/tracing,hullfield/trust-by-call"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    );
    for (name, args) in OTHER_BUILDS {
        let always = ["check", "--quiet", "--all-targets", "--no-default-features"];
        // It has no code; with it the dependencies are those of the lints.
        let same = ["--package", "hullfield-one-build"];
        step(name, cargo().args(always).args(args.split(' ')).args(same));
    }
    step("house", cargo().args(["run", "--quiet", "--package", "hullfield-house"]));
    if has_target("wasm32-unknown-unknown") {
        for (name, args) in WASM_BUILDS {
            let always = "check --quiet --lib --no-default-features --target wasm32-unknown-unknown";
            step(name, cargo().args(always.split(' ')).args(args.split(' ')));
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

/// The lints see all code but that which a missing feature chooses. These two builds see the rest: each feature that has code for its
/// absence is missing in one of them.
const OTHER_BUILDS: [(&str, &str); 2] = [
    // `src/no_gpu.rs` in place of the GPU, in the library, its tests and the program, which has threads. Without serde and tracing.
    ("without the feature gpu", "--package hullfield --package hullfield-tests --package hullfield-cli"),
    // The calling thread in place of rayon; a GPU engine; tests of a build without a back end. The library has no code for one back end.
    (
        "without the feature threads",
        "--package hullfield --package hullfield-tests --features hullfield/gpu,hullfield-tests/gpu",
    ),
];

/// What `cargo xtask test --web` does not build, and in one step what it builds: the page's parts and the package.
const WASM_BUILDS: [(&str, &str); 2] = [
    ("wasm without the feature gpu", "--package hullfield"),
    ("wasm, the page and the package", "--package hullfield-web --features api,playground"),
];

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
