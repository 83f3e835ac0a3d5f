//! Runs the tests that reach a mutant, the shortest first, until one fails.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::End;
use crate::programs::Program;
use crate::results::{Baseline, Entry, Outcome, Results, Test, Verdict};
use crate::sources::write;
use crate::wgsl::mutated;

/// The limit of a program: seconds of processor time, or this many times what its tests took one by one, whichever is more.
const LIMIT: (f64, f64) = (60.0, 5.0);

/// The seconds of the first batch of tests and of the longest. Each batch is twice as long as the one before.
const BATCH: (f64, f64) = (2.0, 120.0);

/// The tests of a program run at a time.
const THREADS: usize = 2;

/// The unit test that naga's refusal fails.
const VALIDITY: &str = "gpu::tests::every_kernel_is_valid_wgsl";

/// Which mutant a program runs with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Active<'a> {
    /// Of Rust, by its number.
    Rust(usize),
    /// The file of a shader, and where its new text is.
    Shader(&'a str, &'a Path),
}

impl Active<'_> {
    fn prepare(self, command: &mut Command) {
        match self {
            Self::Rust(number) => command.env("HULLFIELD_MUTANT", number.to_string()),
            Self::Shader(file, path) => {
                command.env("HULLFIELD_MUTANT_SHADER", format!("{file}={}", path.display()))
            }
        };
    }
}

/// Runs the tests that reach a mutant.
///
/// # Errors
/// A program cannot be run, or a file cannot be written.
pub(crate) fn run(results: &Results, entry: &Entry, text: &str, out: &Path) -> Result<Outcome, String> {
    let mutant = &entry.mutant;
    let file = out.join("mutated.wgsl");
    if mutant.kind.is_wgsl() {
        write(&file, mutated(mutant, text).as_bytes())?;
        let tests = tests(results, |test| test.shaders.contains(&mutant.file));
        return try_all(results, &tests, Active::Shader(&mutant.file, &file));
    }
    let tests = tests(results, |test| test.mutants.contains(&entry.number));
    try_all(results, &tests, Active::Rust(entry.number))
}

/// The tests that pass without a mutant and of which `is_wanted` is true.
pub(crate) fn tests(results: &Results, is_wanted: impl Fn(&Baseline) -> bool) -> Vec<(&Test, f64)> {
    let known = results.tests.iter().filter_map(|test| Some((test, test.baseline.as_ref()?)));
    let wanted = known.filter(|(_, baseline)| baseline.passes && is_wanted(baseline));
    wanted.map(|(test, baseline)| (test, baseline.seconds)).collect()
}

/// Runs tests, each with its seconds, until one fails.
///
/// # Errors
/// A program cannot be run.
pub(crate) fn try_all(results: &Results, tests: &[(&Test, f64)], active: Active) -> Result<Outcome, String> {
    let start = Instant::now();
    let outcome =
        |verdict: Verdict, by: String| Outcome { verdict, by, seconds: start.elapsed().as_secs_f64() };
    if tests.is_empty() {
        return Ok(outcome(Verdict::Unreached, String::new()));
    }
    for (program, names, seconds) in batches(tests) {
        let program: &Program = &results.programs[program];
        let limit = Duration::from_secs_f64(LIMIT.0.max(LIMIT.1 * seconds));
        let is_long = results.sample.is_long;
        let by = |test: &str| format!("{}: {test}", program.name);
        match program.run(&names, THREADS, is_long, limit, |command| active.prepare(command))?.end {
            End::Passed | End::Interrupted => {}
            End::Failed(test) => return Ok(outcome(Verdict::Killed, by(&test))),
            End::TimedOut => {
                let test = match names[..] {
                    [name] => name.to_owned(),
                    _ => format!("one of {} tests", names.len()),
                };
                return Ok(outcome(Verdict::Timeout, by(&test)));
            }
        }
    }
    Ok(outcome(Verdict::Survived, String::new()))
}

/// Whether every kernel is valid with a mutant of a shader.
///
/// # Errors
/// The test that says so cannot be run.
pub(crate) fn is_valid(results: &Results, file: &str, text: &str, out: &Path) -> Result<bool, String> {
    let test = results.tests.iter().find(|test| test.name == VALIDITY);
    let test = test.ok_or_else(|| format!("the unit test {VALIDITY} is missing: see trial.rs"))?;
    let path = out.join("mutated.wgsl");
    write(&path, text.as_bytes())?;
    let program = &results.programs[test.program];
    let limit = Duration::from_secs(600);
    let active = Active::Shader(file, &path);
    let run = program.run(&[VALIDITY], 1, false, limit, |command| active.prepare(command))?;
    Ok(run.end == End::Passed)
}

/// Tests of one program, and the seconds that they take one by one.
type Batch<'a> = (usize, Vec<&'a str>, f64);

/// The shortest tests first, in batches of more and more seconds; the tests of a batch together, program by program.
fn batches<'a>(tests: &[(&'a Test, f64)]) -> Vec<Batch<'a>> {
    let mut sorted: Vec<&(&Test, f64)> = tests.iter().collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut batches: Vec<Batch> = Vec::new();
    let (mut first, mut budget, mut left) = (0, BATCH.0, BATCH.0);
    for (test, seconds) in sorted {
        if left <= 0.0 {
            budget = (budget * 2.0).min(BATCH.1);
            (first, left) = (batches.len(), budget);
        }
        left -= seconds;
        match batches[first..].iter_mut().find(|(program, _, _)| *program == test.program) {
            Some((_, names, sum)) => {
                names.push(&test.name);
                *sum += seconds;
            }
            None => batches.push((test.program, vec![&test.name], *seconds)),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(program: usize, name: &str) -> Test {
        Test { program, name: name.into(), baseline: None }
    }

    #[test]
    fn the_shortest_tests_run_first_and_those_of_a_program_together() {
        let tests = [test(0, "a"), test(1, "b"), test(0, "c"), test(0, "d"), test(1, "e")];
        let seconds = [0.5, 0.1, 1.0, 9.0, 0.7];
        let tests: Vec<(&Test, f64)> = tests.iter().zip(seconds).collect();
        let names: Vec<(usize, Vec<&str>)> =
            batches(&tests).into_iter().map(|(program, names, _)| (program, names)).collect();
        assert_eq!(names, [(1, vec!["b", "e"]), (0, vec!["a", "c"]), (0, vec!["d"])]);
    }

    #[cfg(unix)]
    mod programs {
        use super::*;

        /// Results with one program, a script that fails if the mutant 7 is active.
        fn results() -> (Results, std::path::PathBuf) {
            use std::os::unix::fs::PermissionsExt as _;
            static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let folder =
                std::env::temp_dir().join(format!("hullfield-mutants-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let executable = folder.join("program");
            let script =
                "#!/bin/sh\nif [ \"$HULLFIELD_MUTANT\" = 7 ]; then echo 'test a ... FAILED'; exit 101; fi\n";
            std::fs::write(&executable, script).unwrap();
            std::fs::set_permissions(&executable, std::fs::Permissions::from_mode(0o755)).unwrap();
            let program = Program {
                name: "test/p".into(),
                executable,
                folder: folder.clone(),
                scratch: folder.clone(),
            };
            let results =
                Results { programs: vec![program], tests: vec![test(0, "a")], ..Results::default() };
            (results, folder)
        }

        #[test]
        fn a_mutant_that_changes_nothing_survives() {
            let (results, folder) = results();
            let tests = [(&results.tests[0], 0.1)];
            let outcome = |number| try_all(&results, &tests, Active::Rust(number)).unwrap();
            assert_eq!(outcome(8).verdict, Verdict::Survived);
            assert_eq!(outcome(7).verdict, Verdict::Killed);
            assert_eq!(outcome(7).by, "test/p: a");
            assert_eq!(try_all(&results, &[], Active::Rust(7)).unwrap().verdict, Verdict::Unreached);
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}
