//! The project's chores, as a program that builds in seconds, equal on every platform and in CI.

mod adapter;
mod all;
mod ci;
mod driver;
mod gpu_kit;
mod gpu_tests;
mod harness;
mod install;
mod junit;
mod python;
mod record;
mod serve;
mod test;
mod wasm;
mod web;
mod workspace;

use std::process::ExitCode;

use crate::workspace::{cargo, root};

const HELP: &str = "\
usage: cargo xtask <chore>

  test [--] [ARGS…]   find a GPU adapter (without one, install a software Vulkan driver), then run the tests of the
                      workspace except the long ones (marked #[ignore]), and those of the benches and the wheel. ARGS are passed to `cargo test`. Options before them:
                      --driver swiftshader, --driver lavapipe or --driver PATH.json: run the tests that need an
                        adapter on that Vulkan driver alone; a test that finds another adapter fails. A missing driver
                        is fetched by root and in CI; a person is asked
                      --all    the long ones too, and every sweep in full
                      --benches [ARGS…]  only the tests of the benches, in release, and the instruction counts of a few cases.
                        ARGS are passed to `cargo test`
                      --gpu    only the tests that need an adapter, on any adapter, without the long ones
                      --short  a few of these
                      --if-there  if the driver is missing and cannot be fetched, say so and end with exit code 0
                      --python [ARGS…]  only the tests of the Python package, in a virtual environment below target that it
                        makes and fills with pip; types, style and the pages of its interface too. ARGS are passed to pytest
                      --web [--if-there] [--quick-build] [FILES…]  only the tests of the playground, in headless Chromium, which is installed
                        with node where they are missing; --if-there as above. With --quick-build
                        the modules are not optimized as a whole: the library is compiled once for all. FILES are some of web/tests
  all                 what CI runs: checks, tests, second driver, benches, wheel, browser. At the end a table of stages and test programs
                      (CPU and wall seconds, peak memory of one process), and one of the slowest tests. CI_TIMES=FILE writes the
                      same as JSON.
                      HULLFIELD_SEED is set from the commit where it is not set
  fetch               download what the tests of the wheel, of the browser and of a second driver need
  web                 build the playground into target/web/page, and the npm package into target/web/package. Options:
                      --package       build the package alone
                      --serve [PORT]  then serve the page on this machine, on a free port unless one is given
  ci                  formatting, lints, documentation, house, wasm, licences, spelling; each step timed
  house [--list]      check the sources against the rules of ARCHITECTURE.md: imports run downward, no circles of files,
                      each shader has a Rust file of its name; --list prints all imports between files
  mutants [OPTIONS]   say what share of mutants of `src` and `shaders` the tests kill: of a seeded sample, in one build that holds
                      all of them; takes hours. Needs cargo-mutants. --help lists the options
  gpu                 build hullfield-bench (profile `measure`) and pack it into target/gpu-kit, for a machine with a GPU, but
                      without a network and a compiler
  gpu-tests           list the tests that need an adapter
  adapter             print the adapter that the tests would find; changes nothing
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("test") if args.get(1).is_some_and(|arg| arg == "--python") => python::test(&args[2..]),
        Some("test") if args.get(1).is_some_and(|arg| arg == "--web") => web::test(&args[2..]),
        Some("test") if args.get(1).is_some_and(|arg| arg == "--benches") => test::benches(&args[2..]),
        Some("web") => web::run(&args[1..]),
        Some("all") => all::run(&args[1..]),
        Some("fetch") => fetch(&args[1..]),
        Some(harness::CHORE) => return harness::run(&args[1..]),
        Some("test") => test::run(&args[1..]),
        Some("ci") => ci::run(&args[1..]),
        Some("gpu") => gpu_kit::run(&args[1..]),
        Some("gpu-tests") => gpu_tests::all(root()).map(|tests| {
            for test in tests {
                println!("{} {}{}", test.program, test.name, if test.is_long { " (long)" } else { "" });
            }
        }),
        Some("house") => house(&args[1..]),
        Some("mutants") => mutants(&args[1..]),
        Some("adapter") => {
            println!("{}", adapter::search());
            Ok(())
        }
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(format!("there is no chore `{other}`\n\n{HELP}")),
    };
    if let Some(usage) = record::usage() {
        record::append(&record::Line::Usage(usage));
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Downloads what tests need. Each part that could not be had is a line; the tests that need it try again.
fn fetch(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("`fetch` takes no arguments, `{arg}` given"));
    }
    type Part = fn() -> Result<(), String>;
    let parts: [(&str, Part); 4] = [
        ("a Vulkan driver", || install::ensure_adapter().map(drop)),
        ("the second driver", || driver::find("swiftshader").map(drop)),
        ("programs for the browser", web::fetch),
        ("packages of Python", python::fetch),
    ];
    let mut failed = Vec::new();
    for (name, part) in parts {
        let step = record::Step::begin(name);
        let done = part();
        if let Err(message) = &done {
            eprintln!("xtask: {message}");
            failed.push(name);
        }
        step.end(done.is_ok());
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("could not be had: {}", failed.join(", "))) }
}

/// Runs the package `hullfield-house`.
fn house(args: &[String]) -> Result<(), String> {
    run_package("hullfield-house", args, "the sources break the rules of ARCHITECTURE.md")
}

/// Runs the package `hullfield-mutants`.
fn mutants(args: &[String]) -> Result<(), String> {
    run_package("hullfield-mutants", args, "the mutants could not be run")
}

/// Runs a package of the workspace, which needs a parser and is a package of its own.
fn run_package(package: &str, args: &[String], failure: &str) -> Result<(), String> {
    let status = cargo().args(["run", "--quiet", "--package", package, "--"]).args(args).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failure.to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}
