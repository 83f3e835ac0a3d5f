//! `cargo xtask test`: every test of the workspace, GPU ones included.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

use crate::{cargo, install, is_set};

/// Runs the tests; `args` go to `cargo test` as they are, a leading `--` left out.
///
/// # Errors
/// No adapter and no way to get one, or a test that failed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let found = install::ensure_adapter()?;
    eprintln!("xtask: GPU adapter: {found}");
    let args = cargo_args(args);
    eprintln!("xtask: HULLFIELD_REQUIRE_GPU=1 cargo {}", args.join(" "));
    let start = Instant::now();
    let mut command = cargo();
    // Mesa says so on stderr, once a device, where it is not set.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    let mut child = command
        .args(&args)
        .env("HULLFIELD_REQUIRE_GPU", "1")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let mut sum = Sum::default();
    if let Some(output) = child.stdout.take() {
        // Bytes, not text: what the tests print goes through untouched.
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        let mut stdout = std::io::stdout().lock();
        while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
            sum.count(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let status = child.wait().map_err(|error| format!("cargo was lost: {error}"))?;
    // In CI the last lines are cargo's own.
    if !is_set("CI") {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!(
            "xtask: {} passed, {} failed, {} ignored in {seconds:.0} s",
            sum.passed, sum.failed, sum.ignored
        );
    }
    if status.success() { Ok(()) } else { Err(format!("tests failed ({status})")) }
}

fn cargo_args(args: &[String]) -> Vec<String> {
    let args = args.strip_prefix(&["--".to_string()]).unwrap_or(args);
    let names_packages = args
        .iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "-p" || arg == "--package" || arg.starts_with("--package="));
    let mut all = vec!["test".to_string()];
    if !names_packages {
        all.push("--workspace".into());
    }
    // One failure should not hide the next.
    if !args.iter().any(|arg| arg == "--no-fail-fast") {
        all.push("--no-fail-fast".into());
    }
    all.extend_from_slice(args);
    all
}

/// Totals of the `test result:` lines.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Sum {
    fn count(&mut self, line: &str) {
        if !line.starts_with("test result:") {
            return;
        }
        for (name, total) in
            [("passed", &mut self.passed), ("failed", &mut self.failed), ("ignored", &mut self.ignored)]
        {
            let mut words = line.split([' ', ';', '\n']).filter(|word| !word.is_empty()).peekable();
            while let Some(word) = words.next() {
                if words.peek() == Some(&name) {
                    *total += word.parse::<u64>().unwrap_or(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arguments_go_through_as_they_are() {
        assert_eq!(cargo_args(&[]), strings(&["test", "--workspace", "--no-fail-fast"]));
        assert_eq!(
            cargo_args(&strings(&["--", "gjk", "--", "--nocapture"])),
            strings(&["test", "--workspace", "--no-fail-fast", "gjk", "--", "--nocapture"])
        );
        assert_eq!(
            cargo_args(&strings(&["-p", "hullfield", "--no-fail-fast"])),
            strings(&["test", "-p", "hullfield", "--no-fail-fast"])
        );
        assert_eq!(
            cargo_args(&strings(&["--", "--", "-p"])),
            strings(&["test", "--workspace", "--no-fail-fast", "--", "-p"])
        );
    }

    #[test]
    fn results_add_up() {
        let mut sum = Sum::default();
        sum.count("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n");
        sum.count("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n");
        sum.count("something about 5 passed\n");
        assert_eq!(sum, Sum { passed: 13, failed: 2, ignored: 1 });
    }
}
