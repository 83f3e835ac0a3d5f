//! `cargo xtask run-test PROGRAM ARGS…`, which cargo calls in place of a test program: it runs the program so that it tells the time of each
//! test.

use std::path::Path;
use std::process::{Command, ExitCode};

/// The chore's name. It is no chore for people.
pub(crate) const CHORE: &str = "run-test";

/// How a line begins that names the program whose results follow.
pub(crate) const MARK: &str = "xtask: results of ";

/// The option of cargo that makes it call this chore.
///
/// # Errors
/// That this program has no path.
pub(crate) fn option() -> Result<[String; 2], String> {
    let program = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let program = program.to_str().ok_or("this program's path is no text")?;
    let quoted = program.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(["--config".to_owned(), format!("target.'cfg(all())'.runner=[\"{quoted}\", \"{CHORE}\"]")])
}

/// Runs a test program in place of this one.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let Some((program, args)) = args.split_first() else {
        eprintln!("xtask: {CHORE} needs a program");
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(program);
    command.args(args);
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    if let Some(name) = test_program(Path::new(program)) {
        println!("{MARK}{package} {name}");
        // The option is unstable. The variable is set for the program alone: in a build it would compile everything anew.
        command.args(["-Z", "unstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
    }
    replace(&mut command)
}

/// The name of a test program of cargo's; none for anything else, such as an example of the documentation.
fn test_program(path: &Path) -> Option<&str> {
    let folder = path.parent()?.file_name()?;
    if folder != "deps" && folder != "examples" {
        return None;
    }
    // Behind the last dash is a hash.
    Some(path.file_stem()?.to_str()?.rsplit_once('-')?.0)
}

#[cfg(unix)]
fn replace(command: &mut Command) -> ExitCode {
    use std::os::unix::process::CommandExt as _;
    let error = command.exec();
    eprintln!("xtask: {}: {error}", command.get_program().display());
    ExitCode::FAILURE
}

#[cfg(not(unix))]
fn replace(command: &mut Command) -> ExitCode {
    let code = command.status().ok().and_then(|status| status.code());
    code.map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_those_of_cargo() {
        let name = |path: &str| test_program(Path::new(path)).map(ToOwned::to_owned);
        assert_eq!(name("/target/debug/deps/collide-0123abcd").as_deref(), Some("collide"));
        assert_eq!(name("/target/debug/examples/planner-01").as_deref(), Some("planner"));
        assert_eq!(name("/tmp/rustdoctest1/merged_doctest_2024/rust_out"), None);
    }

    #[test]
    fn cargo_reads_the_option() {
        let [_, value] = option().unwrap();
        assert!(
            value.starts_with("target.'cfg(all())'.runner=[\"") && value.ends_with("\", \"run-test\"]"),
            "{value}"
        );
    }
}
