//! The benchmark program of hullfield. Each job runs against a named peer on the same inputs in one run. Results are compared
//! before times are printed.

mod accuracy;
mod broad;
mod budget;
mod changes;
mod collide;
mod compounds;
mod dispatches;
mod engines;
mod error;
mod flow;
mod flow_agents;
mod flow_costs;
mod flow_device;
mod flow_rasters;
mod flow_scenes;
mod gpu;
mod growth;
mod heights;
mod hulls;
mod kernels;
mod machine;
mod markers;
mod measures;
mod memory;
mod options;
mod page;
mod path;
mod peer;
mod plain;
mod planner;
mod plot;
mod rays;
mod regimes;
mod report;
mod room;
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../../tests/collide/rows.rs"]
mod rows;
mod scene;
mod shaders;
mod shapes;
mod sweeps;
mod timing;
mod verdicts;
mod warm;
mod watch;
mod wheel;
mod worlds;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use error::Refusal;
use options::Options;
use report::Report;

/// Times hullfield's engines against named peers on the same inputs, after comparing their results.
#[derive(Debug, Parser)]
#[command(name = "hullfield-bench", version)]
struct Cli {
    #[command(subcommand)]
    job: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Collision: pairs against parry3d, frames, every pair of a crowd, a pile, kernel rates.
    Collide(Options),
    /// Accuracy of distances, contacts and verdicts against the f64 oracle, on corpus pairs at five scales.
    Accuracy(Options),
    /// Convex hulls against quickhull and parry3d: failures, vertices, times.
    Hulls(Options),
    /// Flow fields over grids: against a plain queue and two crates; edits, threads, batches.
    Flow(Options),
    /// Shortest paths in a room.
    Room(Options),
    /// Shortest paths over a surface against navmesh: times, lengths; building, memory.
    Path(Options),
    /// What a real GPU's compiler makes of every kernel: registers, scratch memory, waves, code. Needs Mesa's RADV, but no GPU.
    Shaders(shaders::Options),
    /// The kit for a machine with a GPU: parity, every kernel's time, frames, pairs, fields, agents, bandwidth; within a budget of time.
    Gpu(gpu::Options),
    /// What changed between two reports of `all`, beyond their noise. Exit code 1 if something is slower.
    Compare(changes::Options),
    /// The regression watch: instruction counts of small, fixed cases against a baseline file. Exit code 1 if a case needs more than before, 3 if
    /// the counts can't be compared: nothing here counts instructions, or the baseline is of another setup.
    Check(watch::Options),
    /// Writes tables of a report between their markers in README.md and benches/README.md.
    WriteTables(markers::Options),
    /// The Rust side of `python/benches/distances.py`, which starts it.
    Wheel(wheel::Options),
    /// All of collide, hulls, flow, room and path.
    Tables(Options),
    /// The report: how time and memory grow with size in every domain, beside peers; the hardware's limits; named scenes. Within a budget of time.
    All(growth::Options),
}

/// A group of benches. It adds its tables and failed checks to the report.
type Group = fn(&Options, &mut Report) -> Result<(), String>;

fn main() -> ExitCode {
    let (job, groups, options): (_, &[Group], _) = match &Cli::parse().job {
        Job::Collide(options) => ("collide", &[collide::run], options.clone()),
        Job::Accuracy(options) => ("accuracy", &[accuracy::run], options.clone()),
        Job::Hulls(options) => ("hulls", &[hulls::run], options.clone()),
        Job::Flow(options) => ("flow", &[flow::run], options.clone()),
        Job::Room(options) => ("room", &[room::run], options.clone()),
        Job::Path(options) => ("path", &[path::run], options.clone()),
        Job::Shaders(options) => {
            return match shaders::run(options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(message) => refuse(&message),
            };
        }
        Job::Gpu(options) => {
            return match gpu::run(options) {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::from(1),
                Err(message) => refuse(&message),
            };
        }
        Job::Wheel(options) => {
            return match wheel::run(options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(message) => refuse(&message),
            };
        }
        Job::All(options) => return code(growth::run(options)),
        Job::Compare(options) => return code(changes::run(options)),
        Job::Check(options) => {
            return match watch::run(options) {
                Err(Refusal::NotComparable(message)) => refuse_with(3, &message),
                Err(Refusal::Failed(message)) => refuse(&message),
                Ok(is_well) => code(Ok(is_well)),
            };
        }
        Job::WriteTables(options) => return code(markers::run(options)),
        Job::Tables(options) => {
            ("tables", &[hulls::run, collide::run, flow::run, room::run, path::run], options.clone())
        }
    };
    if options.pairs == 0 {
        return refuse("--pairs must be above zero");
    }
    match run(job, groups, &options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => refuse(&message),
    }
}

/// The exit code of a job that says whether all was well.
fn code(done: Result<bool, String>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => refuse(&message),
    }
}

fn refuse(message: &str) -> ExitCode {
    refuse_with(2, message)
}

fn refuse_with(code: u8, message: &str) -> ExitCode {
    eprintln!("hullfield-bench: {message}");
    ExitCode::from(code)
}

/// Runs the groups and writes the report. Returns false if a check failed.
fn run(job: &'static str, groups: &[Group], options: &Options) -> Result<bool, String> {
    if let Some(thread_count) = options.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build_global();
        pool.map_err(|error| format!("--threads {thread_count}: {error}"))?;
    }
    let mut report = Report::new(machine::header(job, options.quick));
    report.print_header();
    for group in groups {
        group(options, &mut report)?;
    }
    report.print_failures();
    if let Some(path) = &options.json {
        report::write(path, &report.to_json())?;
    }
    if let Some(path) = &options.html {
        report::write(path, &report.to_html())?;
    }
    Ok(report.failures().is_empty())
}
