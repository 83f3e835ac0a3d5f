//! Runs each test without a mutant, in a program of its own, to learn whether it passes, its time, and which mutants it reaches.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::process::End;
use crate::programs::Program;
use crate::results::{Baseline, Results, Test};

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(3600);

/// How often the results are written.
const INTERVAL: Duration = Duration::from_secs(20);

/// Runs the tests whose results lack a baseline, as many at a time as there are cores.
///
/// # Errors
/// A program cannot be run, or a file cannot be written.
pub(crate) fn run(results: &mut Results, out: &Path) -> Result<(), String> {
    let traces = out.join("traces");
    std::fs::create_dir_all(&traces).map_err(|error| format!("{}: {error}", traces.display()))?;
    let waiting: Vec<(usize, Test)> = results
        .tests
        .iter()
        .enumerate()
        .filter(|(_, test)| test.baseline.is_none())
        .map(|(index, test)| (index, test.clone()))
        .collect();
    eprintln!("mutants: {} tests, one by one, to see which mutants they reach", waiting.len());
    let programs = results.programs.clone();
    let is_long = results.sample.is_long;
    let next = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, waiting, programs, traces) = (&next, &waiting, &programs, &traces);
            scope.spawn(move || {
                while let Some((index, test)) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let trace = traces.join(format!("{index}.txt"));
                    let baseline = baseline(&programs[test.program], &test.name, is_long, &trace);
                    let has_failed = baseline.is_err();
                    if sender.send((*index, baseline)).is_err() || has_failed {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut written = Instant::now();
        for (index, baseline) in done {
            results.tests[index].baseline = Some(baseline?);
            if written.elapsed() > INTERVAL {
                results.write(&out.join("results.json"))?;
                written = Instant::now();
            }
        }
        Ok::<(), String>(())
    })?;
    results.write(&out.join("results.json"))
}

fn baseline(program: &Program, test: &str, is_long: bool, trace: &Path) -> Result<Baseline, String> {
    let run = |is_traced: bool| {
        program.run(&[test], 1, is_long, LIMIT, |command| {
            if is_traced {
                command.env("HULLFIELD_MUTANT_TRACE", trace);
            }
        })
    };
    // Of an earlier run.
    let _ = std::fs::remove_file(trace);
    let mut last = run(true)?;
    if last.end != End::Passed {
        // What writes the trace allocates, which is too much for a test that counts.
        last = run(false)?;
    }
    let (passes, seconds) = (last.end == End::Passed, last.time.as_secs_f64());
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let _ = std::fs::remove_file(trace);
    let (mutants, shaders) = reached(&text);
    Ok(Baseline { passes, seconds, mutants, shaders })
}

/// The mutants and the shaders that a trace names.
fn reached(trace: &str) -> (BTreeSet<usize>, BTreeSet<String>) {
    let mutants = trace.lines().filter_map(|line| line.strip_prefix("rust ")?.parse().ok());
    let shaders = trace.lines().filter_map(|line| line.strip_prefix("wgsl ")).map(str::to_owned);
    (mutants.collect(), shaders.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_names_mutants_and_shaders() {
        let trace = "rust 7\nwgsl shaders/a.wgsl\nrust 3\nrust 7\nwgsl shaders/a.wgsl\nrus";
        assert_eq!(reached(trace), ([3, 7].into(), [String::from("shaders/a.wgsl")].into()));
    }
}
