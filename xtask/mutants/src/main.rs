//! Says what share of mutants the tests kill. One build of a copy of the workspace holds all Rust mutants (mutant schemata), and what
//! composes the kernels' WGSL can replace a file's text; environment variables choose the mutant when a test program runs.
//!
//! It is a package of its own, because it needs a parser and `xtask` has no dependencies.

mod baseline;
mod choose;
mod environment;
mod guard;
mod lines;
mod list;
mod messages;
mod mutant;
mod options;
mod process;
mod programs;
mod report;
mod results;
mod sites;
mod sources;
mod trial;
mod wgsl;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use crate::choose::Choice;
use crate::mutant::{Mutant, order};
use crate::options::Options;
use crate::programs::Program;
use crate::results::{Entry, Refused, Results, Sample, Test, Verdict};
use crate::sources::Sources;
use crate::trial::Active;

fn main() -> ExitCode {
    match run(&Options::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("mutants: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let copy = options.out.join("tree");
    let (sources, tree) = sources::copy(&options.tree, &copy)?;
    let sample = Sample::new(options, tree);
    let path = options.results();
    let mut results = if options.resume && path.exists() {
        let results = Results::read(&path)?;
        if results.sample != sample {
            let (old, new) = (&results.sample, &sample);
            return Err(format!("the results are of another sample or tree\n{old:?}, now\n{new:?}"));
        }
        results
    } else {
        // Hours of work, and what `--compare` may take.
        let _ = std::fs::rename(&path, path.with_file_name("results.old.json"));
        build(options, &copy, &sources, sample)?
    };
    clear(&options.out.join("scratch"))?;
    baseline::run(&mut results, &options.out)?;
    choose_wgsl(&mut results, options, &sources)?;
    control(&mut results, options, &sources)?;
    try_mutants(&mut results, options, &sources)?;
    print!("{}", report::report(&results));
    if let Some(before) = &options.compare {
        print!("{}", report::compare(&Results::read(before)?, &results));
    }
    Ok(())
}

/// Makes an empty folder.
fn clear(folder: &Path) -> Result<(), String> {
    // Where it is missing, there is nothing to remove.
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Builds the copy with Rust mutants, and lists its tests.
fn build(options: &Options, copy: &Path, sources: &Sources, sample: Sample) -> Result<Results, String> {
    let target = options.out.join("build");
    let mut candidates = list::list(&options.tree, sources)?;
    order(&mut candidates, options.seed);
    let mut choice = Choice::new(copy, &target, sources, &candidates);
    let (programs, numbers) = loop {
        let numbers = choice.choose(options.rust)?;
        eprintln!("mutants: cargo test --no-run with {} mutants", numbers.len());
        match programs::build(copy, &target, &options.out.join("scratch"))? {
            Ok(programs) => break (programs, numbers),
            // What a check doesn't find.
            Err(messages) => choice.refuse(&messages)?,
        }
    };
    clear(&options.out.join("scratch"))?;
    let mut results = Results { sample, ..Results::default() };
    results.tests = list_tests(&programs, options.long)?;
    results.programs = programs;
    let last = numbers.last().copied().unwrap_or_default();
    for (&number, reason) in choice.refused.range(..last) {
        results.refused.push(Refused { key: candidates[number].key.clone(), reason: reason.clone() });
    }
    for number in numbers {
        results.mutants.push(entry(number, &candidates[number], sources)?);
    }
    results.write(&options.results())?;
    Ok(results)
}

fn list_tests(programs: &[Program], is_long: bool) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for (program, listed) in programs.iter().enumerate() {
        let names = listed.tests(is_long)?;
        tests.extend(names.into_iter().map(|name| Test { program, name, baseline: None }));
    }
    Ok(tests)
}

fn entry(number: usize, mutant: &Mutant, sources: &Sources) -> Result<Entry, String> {
    let diff = mutant.diff(sources.get(&mutant.file)?);
    Ok(Entry { number, mutant: mutant.clone(), diff, outcome: None })
}

/// Chooses mutants of shaders that some kernel has and that naga takes.
fn choose_wgsl(results: &mut Results, options: &Options, sources: &Sources) -> Result<(), String> {
    if results.has_wgsl || options.wgsl == 0 {
        return Ok(());
    }
    let mut candidates = wgsl::list(sources);
    order(&mut candidates, options.seed);
    let mut chosen = Vec::new();
    for mutant in &candidates {
        if chosen.len() == options.wgsl {
            break;
        }
        let text = sources.get(&mutant.file)?;
        let tests = trial::tests(results, |test| test.shaders.contains(&mutant.file));
        let reason = if tests.is_empty() {
            "no kernel of the tests has its file"
        } else if !trial::is_valid(results, &mutant.file, &wgsl::mutated(mutant, text), &options.out)? {
            "naga refuses it"
        } else {
            chosen.push(entry(0, mutant, sources)?);
            continue;
        };
        results.refused.push(Refused { key: mutant.key.clone(), reason: reason.into() });
    }
    eprintln!("mutants: chose {} mutants of WGSL from {}", chosen.len(), candidates.len());
    results.mutants.extend(chosen);
    results.has_wgsl = true;
    results.write(&options.results())
}

/// Runs all tests with a mutant that changes nothing, a shader's text replaced by itself. They have to pass.
fn control(results: &mut Results, options: &Options, sources: &Sources) -> Result<(), String> {
    if results.control.is_some() {
        return Ok(());
    }
    let tests = trial::tests(results, |_| true);
    let seconds: f64 = tests.iter().map(|(_, seconds)| seconds).sum();
    eprintln!(
        "mutants: all {} tests, {seconds:.0} s one by one, with a mutant that changes nothing",
        tests.len()
    );
    let shaders = results.tests.iter().filter_map(|test| test.baseline.as_ref()).flat_map(|run| &run.shaders);
    let outcome = match shaders.min() {
        Some(file) => {
            let path = options.out.join("mutated.wgsl");
            sources::write(&path, sources.get(file)?.as_bytes())?;
            trial::try_all(results, &tests, Active::Shader(file, &path))?
        }
        None => trial::try_all(results, &tests, Active::Rust(usize::MAX))?,
    };
    if outcome.verdict != Verdict::Survived {
        return Err(format!("tests fail with a mutant that changes nothing: {}", outcome.by));
    }
    results.control = Some(outcome);
    results.write(&options.results())
}

/// Runs the mutants that have no outcome yet.
fn try_mutants(results: &mut Results, options: &Options, sources: &Sources) -> Result<(), String> {
    let start = Instant::now();
    let count = results.mutants.len();
    for index in 0..count {
        if results.mutants[index].outcome.is_some() {
            continue;
        }
        let entry = &results.mutants[index];
        let text = sources.get(&entry.mutant.file)?;
        let outcome = trial::run(results, entry, text, &options.out)?;
        clear(&options.out.join("scratch"))?;
        let place = format!("{}/{count}, {:.0} s", index + 1, start.elapsed().as_secs_f64());
        eprint!("mutants: {place}: {:.1} s, {}", outcome.seconds, report::describe(entry, outcome.verdict));
        if !outcome.by.is_empty() {
            eprintln!("    {}", outcome.by);
        }
        results.mutants[index].outcome = Some(outcome);
        results.write(&options.results())?;
    }
    Ok(())
}
