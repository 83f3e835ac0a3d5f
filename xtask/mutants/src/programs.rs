//! The test programs of the instrumented copy.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::environment::{cargo, prepare_test};
use crate::messages::{self, Message};
use crate::process::{self, End, Run, limited};

/// The packages and features whose tests CI runs; the benches, the playground, the Python package and the documentation's tests are left out.
const BUILD: &str = "test --no-run --quiet --package hullfield --package hullfield-tests --package hullfield-cli \
    --features hullfield-tests/serde,hullfield-tests/tracing --lib --bins --tests";

/// How often a program is started again after a signal from outside ended it.
const TRIES: usize = 3;

/// A program with tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Program {
    /// Its package's folder and its name.
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
    /// Where cargo would run it.
    pub(crate) folder: PathBuf,
    /// Where its temporary files go: a program that is killed leaves them there.
    pub(crate) scratch: PathBuf,
}

/// The programs, or what the compiler said instead.
pub(crate) type Built = Result<Vec<Program>, Vec<Message>>;

/// Builds the test programs of the copy.
///
/// # Errors
/// Cargo cannot be run.
pub(crate) fn build(copy: &Path, target: &Path, scratch: &Path) -> Result<Built, String> {
    let mut command = cargo(copy);
    command.args(BUILD.split_whitespace()).arg("--target-dir").arg(target).env("CARGO_INCREMENTAL", "0");
    let (messages, has_passed) = messages::run(&mut command)?;
    if !has_passed {
        return Ok(Err(messages));
    }
    let mut programs = Vec::new();
    for message in messages {
        let Message::Artifact(artifact) = message else { continue };
        let Some(executable) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
        let folder = artifact.manifest_path.parent().unwrap_or(copy).to_owned();
        let package = folder.strip_prefix(copy).unwrap_or(&folder).to_string_lossy().into_owned();
        let kind = artifact.target.kind.first().map(String::as_str).unwrap_or_default();
        let place = if package.is_empty() { kind.to_owned() } else { format!("{package}/{kind}") };
        let name = format!("{place}/{}", artifact.target.name);
        programs.push(Program { name, executable, folder, scratch: scratch.to_owned() });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Ok(programs))
}

impl Program {
    /// Its command, in CI's environment.
    pub(crate) fn command(&self, is_long: bool) -> Command {
        let mut command = limited(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        prepare_test(&mut command, &self.scratch, is_long);
        command
    }

    /// The names of its tests, with the long ones or without.
    ///
    /// # Errors
    /// The program does not list them.
    pub(crate) fn tests(&self, is_long: bool) -> Result<Vec<String>, String> {
        let list = |args: &[&str]| -> Result<Vec<String>, String> {
            let mut command = self.command(is_long);
            let output = command.args(["--list", "--format", "terse"]).args(args).output();
            let output = output.map_err(|error| format!("{}: {error}", self.name))?;
            if !output.status.success() {
                return Err(format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr)));
            }
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        };
        let mut tests = list(&[])?;
        if !is_long {
            let ignored = list(&["--ignored"])?;
            tests.retain(|test| !ignored.contains(test));
        }
        Ok(tests)
    }

    /// Runs some of its tests on `threads` threads in a prepared environment; again where a signal from outside ends it.
    ///
    /// # Errors
    /// The program cannot be run, or is ended again and again.
    pub(crate) fn run(
        &self,
        tests: &[&str],
        threads: usize,
        is_long: bool,
        limit: Duration,
        prepare: impl Fn(&mut Command),
    ) -> Result<Run, String> {
        for _ in 0..TRIES {
            let mut command = self.command(is_long);
            command.arg("--exact").args(tests).arg(format!("--test-threads={threads}"));
            if is_long {
                command.arg("--include-ignored");
            }
            prepare(&mut command);
            let run = process::run(&mut command, limit)?;
            if run.end != End::Interrupted {
                return Ok(run);
            }
        }
        Err(format!("{}: ended by a signal from outside, {TRIES} times", self.name))
    }
}
