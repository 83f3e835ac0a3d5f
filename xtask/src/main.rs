//! The project's chores: one program, no dependencies, the same on every platform and in CI.

mod adapter;
mod ci;
mod install;
mod test;

use std::process::{Command, ExitCode};

const HELP: &str = "\
usage: cargo xtask <chore>

  test [--] [ARGS…]   make sure of a GPU adapter (installs a software Vulkan driver where there is none),
                      then run every test of the workspace; ARGS go to `cargo test` as they are
  ci                  formatting, lints, documentation, wasm, licences, spelling; each step timed
  adapter             say which adapter the tests would find, and change nothing
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("test") => test::run(&args[1..]),
        Some("ci") => ci::run(&args[1..]),
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

/// Cargo, as the one that started this program, in the workspace's root.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
}

/// True where a variable is set to anything but nothing, `0` or `false`.
fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
