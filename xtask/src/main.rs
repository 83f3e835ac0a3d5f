//! The project's chores: one program, no dependencies, the same on every platform and in CI.

mod adapter;
mod ci;
mod driver;
mod gpu_tests;
mod install;
mod test;
mod workspace;

use std::process::ExitCode;

use crate::workspace::{cargo, root};

const HELP: &str = "\
usage: cargo xtask <chore>

  test [--] [ARGS…]   make sure of a GPU adapter (installs a software Vulkan driver where there is none),
                      then run the tests of the workspace, but for the long ones (marked #[ignore]) and those of the
                      benches, whose peers take minutes to build; ARGS go to `cargo test` as they are.
                      In front of them may stand
                      --driver swiftshader, --driver lavapipe or --driver PATH.json: the tests that need an adapter,
                        on that Vulkan driver alone; a test that finds another adapter fails. What is not here is
                        fetched by root and in CI, a person is asked
                      --all    every test, the long ones and those of the benches too
                      --gpu    only the tests that need an adapter, on any, but for the long ones
                      --short  a few of those
                      --if-there  where the driver is not there and can't be fetched say so, and end well
  ci                  formatting, lints, documentation, house, wasm, licences, spelling; each step timed
  house [--list]      hold the sources against the rules of ARCHITECTURE.md: imports run downward, no circles of files,
                      each shader has a Rust file of its name; --list prints all imports between files
  gpu-tests           name the tests that need an adapter
  adapter             say which adapter the tests would find, and change nothing
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("test") => test::run(&args[1..]),
        Some("ci") => ci::run(&args[1..]),
        Some("gpu-tests") => gpu_tests::all(root()).map(|tests| {
            for test in tests {
                println!("{} {}{}", test.program, test.name, if test.is_long { " (long)" } else { "" });
            }
        }),
        Some("house") => house(&args[1..]),
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
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The package that needs a parser, and so is not this one.
fn house(args: &[String]) -> Result<(), String> {
    let status = cargo().args(["run", "--quiet", "--package", "hullfield-house", "--"]).args(args).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the house breaks its rules".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}
