//! The headless benchmark program of hullfield: each job against a named peer on the same inputs, in one run,
//! results compared before a time is printed.

mod accuracy;
mod broad;
mod collide;
mod engines;
mod error;
mod flow;
mod flow_agents;
mod flow_device;
mod flow_scenes;
mod hulls;
mod judge;
mod kernels;
mod machine;
mod measures;
mod memory;
mod options;
mod path;
mod peer;
mod plain;
mod report;
mod room;
#[allow(dead_code, reason = "tests take the rest")]
#[path = "../../tests/collide/rows.rs"]
mod rows;
mod scene;
mod sweeps;
mod timing;
mod warm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use options::Options;
use report::Report;

/// Times hullfield's engines, each against a named peer on the same inputs, results compared first.
#[derive(Debug, Parser)]
#[command(name = "hullfield-bench", version)]
struct Cli {
    #[command(subcommand)]
    job: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Who touches whom: pairs against parry3d, frames, every pair of a crowd, a pile, kernel rates.
    Collide(Options),
    /// How accurate distances, contacts and verdicts are, on corpus pairs at five scales, against the f64 oracle.
    Accuracy(Options),
    /// Convex hulls against quickhull and parry3d: what fails, how many vertices, how long.
    Hulls(Options),
    /// Flow fields over grids: against a plain queue and pathfinding, edits, threads, batches.
    Flow(Options),
    /// Shortest paths in a room.
    Room(Options),
    /// Shortest paths over a surface, against navmesh: how quick, how long; building, memory.
    Path(Options),
    /// Everything that is built.
    All(Options),
}

/// A group of benches: adds its tables, and the checks that failed.
type Room = fn(&Options, &mut Report) -> Result<(), String>;

fn main() -> ExitCode {
    let (rooms, options): (&[Room], _) = match &Cli::parse().job {
        Job::Collide(options) => (&[collide::run], options.clone()),
        Job::Accuracy(options) => (&[accuracy::run], options.clone()),
        Job::Hulls(options) => (&[hulls::run], options.clone()),
        Job::Flow(options) => (&[flow::run], options.clone()),
        Job::Room(options) => (&[room::run], options.clone()),
        Job::Path(options) => (&[path::run], options.clone()),
        Job::All(options) => (&[hulls::run, collide::run, flow::run, room::run, path::run], options.clone()),
    };
    if options.pairs == 0 {
        return refuse("--pairs must be above zero");
    }
    match run(rooms, &options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => refuse(&message),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("hullfield-bench: {message}");
    ExitCode::from(2)
}

/// Runs the jobs and writes the report; false where a check failed.
fn run(rooms: &[Room], options: &Options) -> Result<bool, String> {
    if let Some(thread_count) = options.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build_global();
        pool.map_err(|error| format!("--threads {thread_count}: {error}"))?;
    }
    let mut report = Report::new(machine::header(options.quick));
    report.print_header();
    for room in rooms {
        room(options, &mut report)?;
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
