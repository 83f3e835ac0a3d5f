//! `cargo xtask run-test PROGRAM ARGS…`, which cargo calls in place of a test program: it runs the program so that it tells the time of each
//! test, and records what the program used. A program of many tests runs in several processes, one after the other, because Mesa's software
//! driver keeps some memory of each dispatch until its process ends.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::record::{self, Line};

/// The chore's name. It is no chore for people.
pub(crate) const CHORE: &str = "run-test";

/// What a test program returns if a test failed.
const FAILED_TESTS: i32 = 101;

/// The most tests of one process.
const PART: usize = 50;

/// The prefix of the line that names the program whose results follow.
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
    let Some(name) = test_program(Path::new(program)) else {
        return replace(Command::new(program).args(args));
    };
    let name = format!("{} {name}", std::env::var("CARGO_PKG_NAME").unwrap_or_default());
    let mut parts = parts(program, args);
    if parts.is_empty() {
        parts.push(args.to_vec());
    }
    let begin = Instant::now();
    let mut code = ExitCode::SUCCESS;
    for part in parts {
        println!("{MARK}{name}");
        let mut command = Command::new(program);
        // The option is unstable. The variable is set for the program alone: in a build it would compile everything anew.
        command.args(part).args(["-Z", "unstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
        match command.status() {
            Ok(status) if status.success() => continue,
            // The program has already printed which test failed. A signal prints nothing.
            Ok(status) if status.code() == Some(FAILED_TESTS) => {}
            Ok(status) => eprintln!("xtask: {program}: {status}"),
            Err(error) => eprintln!("xtask: {program}: {error}"),
        }
        code = ExitCode::FAILURE;
    }
    record::append(&Line::Program {
        is_passed: code == ExitCode::SUCCESS,
        usage: record::usage(),
        wall_seconds: begin.elapsed().as_secs_f64(),
        name,
    });
    code
}

/// The arguments of each process that a program's tests are divided among; none where one process runs them as it is called.
fn parts(program: &str, args: &[String]) -> Vec<Vec<String>> {
    let list = ["--list", "--format", "terse"];
    let Some(options) = options(args) else { return Vec::new() };
    // A program that does not list its tests is no harness of Rust's, or its arguments are wrong, which it then says itself.
    let listed = Command::new(program).args(args).args(list).stderr(Stdio::null()).output();
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else { return Vec::new() };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let tests: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    divide(&tests).map(|part| [&options[..], &part].concat()).collect()
}

/// Divides tests into parts of equal size, at most [`PART`] each, and returns the arguments that select each part. Returns nothing where one
/// process can run all tests.
fn divide(tests: &[&str]) -> impl Iterator<Item = Vec<String>> {
    let count = tests.len().div_ceil(PART);
    let size = if count > 1 { tests.len().div_ceil(count) } else { usize::MAX };
    let parts = if count > 1 { tests } else { &[] };
    let exact = || std::iter::once("--exact".to_owned());
    parts.chunks(size).map(move |part| exact().chain(part.iter().map(|&name| name.to_owned())).collect())
}

/// The options without the names of tests and `--skip`; `None` if one of them only lists tests or is not known here.
fn options(args: &[String]) -> Option<Vec<String>> {
    let mut options = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--skip" => drop(args.next()),
            "--test-threads" | "--color" | "--format" | "--logfile" => {
                options.extend([arg.clone(), args.next()?.clone()]);
            }
            "--include-ignored" | "--ignored" | "--nocapture" | "--no-capture" | "--show-output"
            | "--quiet" | "-q" => {
                options.push(arg.clone());
            }
            "--exact" => {}
            _ if arg.starts_with("--skip=") || !arg.starts_with('-') => {}
            _ if arg.starts_with("--test-threads=")
                || arg.starts_with("--color=")
                || arg.starts_with("--format=") =>
            {
                options.push(arg.clone());
            }
            _ => return None,
        }
    }
    Some(options)
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
    fn every_test_is_in_one_part() {
        let names: Vec<String> = (0..2 * PART + 1).map(|k| format!("a::t{k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let parts: Vec<Vec<String>> = divide(&names).collect();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [35, 35, 34]);
        let all: Vec<&String> = parts.iter().flatten().filter(|arg| *arg != "--exact").collect();
        assert_eq!(all, names);
        assert_eq!(divide(&names[..PART]).count(), 0);
        assert_eq!(divide(&[]).count(), 0);
    }

    #[test]
    fn parts_keep_the_options_but_not_the_filters() {
        let options = |text: &str| {
            let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            options(&args).map(|options| options.join(" "))
        };
        assert_eq!(options("hull --skip a --exact --test-threads 2 -q"), Some("--test-threads 2 -q".into()));
        assert_eq!(options("--include-ignored --skip=b c"), Some("--include-ignored".into()));
        assert_eq!(options("--list"), None);
        assert_eq!(options("--shuffle"), None);
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
