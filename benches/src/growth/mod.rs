//! `hullfield-bench all`: how time and memory grow with size, in every domain, on every engine, beside peers; how far the hardware's limits are;
//! and what named scenes cost. It keeps to a budget of time.

mod bends;
mod bodies;
mod context;
mod explain;
mod fit;
mod grids;
mod kernel_shares;
mod pairs;
mod paths;
mod python;
mod queries;
mod roofline;
mod scaling;
mod scene_picture;
mod scenes;
mod sweep;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::Args;

use crate::budget::{self, Plan};
use crate::engines::engines;
use crate::error::panic_text;
use crate::machine;
use crate::report::{self, Report};
use context::Context;

/// The least budget, in seconds: the first sizes of all sweeps take about as long.
const LEAST_BUDGET_S: f64 = 20.0;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The time that the run may take, such as 10m or 90s. A sweep ends at the size that would take too long, and says so.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = budget::parse_duration)]
    budget: f64,
    /// Writes everything measured as JSON, anew after each part.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the report as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Runs only the parts whose names begin with NAME; `growth` runs them all.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Python with the wheels of peers: scikit-image, scipy, pygeodesic, potpourri3d, coal. What is not there has no rows.
    #[arg(long, value_name = "PROGRAM")]
    python: Option<String>,
    /// The most threads of the CPU engine [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The first three sizes of each sweep, to check that everything runs.
    #[arg(long)]
    quick: bool,
}

/// A part of the run.
struct Part {
    name: &'static str,
    /// Its share of the budget, relative to the others'.
    weight: f64,
    run: fn(&mut Context<'_>) -> Result<(), String>,
}

const PARTS: [Part; 19] = [
    Part { name: "roofline", weight: 1.0, run: roofline::run },
    Part { name: "kernels", weight: 1.0, run: kernel_shares::run },
    Part { name: "bodies", weight: 3.0, run: bodies::crowds },
    Part { name: "pairs", weight: 2.0, run: pairs::intersections },
    Part { name: "contacts", weight: 2.0, run: pairs::contacts },
    Part { name: "vertices", weight: 2.0, run: pairs::vertices },
    Part { name: "hulls", weight: 1.0, run: queries::hulls },
    Part { name: "rays", weight: 2.0, run: queries::rays },
    Part { name: "compounds", weight: 1.0, run: queries::compounds },
    Part { name: "worlds", weight: 2.0, run: bodies::worlds },
    Part { name: "cells", weight: 3.0, run: grids::cells },
    Part { name: "volumes", weight: 2.0, run: grids::volumes },
    Part { name: "batches", weight: 2.0, run: grids::batches },
    Part { name: "costs", weight: 1.0, run: grids::costs },
    Part { name: "rooms", weight: 1.0, run: paths::rooms },
    Part { name: "surfaces", weight: 2.0, run: paths::surfaces },
    Part { name: "fields", weight: 2.0, run: paths::fields },
    Part { name: "builds", weight: 2.0, run: paths::builds },
    Part { name: "scenes", weight: 2.0, run: scenes::run },
];

/// Runs the sweeps. Returns false if a check failed.
///
/// # Errors
/// If the options name no part or cannot be kept, or if a file cannot be written.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let selects =
        |part: &&Part| options.only.as_ref().is_none_or(|only| part.name.starts_with(only.as_str()));
    // The table of exponents needs all sweeps.
    let is_growth = options.only.as_deref() == Some("growth");
    let parts: Vec<&Part> = PARTS.iter().filter(|part| is_growth || selects(part)).collect();
    if parts.is_empty() {
        let names = PARTS.map(|part| part.name).join(", ");
        return Err(format!(
            "--only {}: there are the parts {names}, and growth, which runs them all",
            options.only.as_deref().unwrap_or("")
        ));
    }
    let total: f64 = PARTS.iter().map(|part| part.weight).sum();
    let share = parts.iter().map(|part| part.weight).sum::<f64>() / total;
    if options.budget < LEAST_BUDGET_S * share {
        return Err(format!(
            "--budget {}: too short, as the first sizes take about {}",
            budget::seconds(options.budget),
            budget::seconds((LEAST_BUDGET_S * share).max(1.0))
        ));
    }
    for (option, path) in [("--json", &options.json), ("--html", &options.html)] {
        if let Some(path) = path {
            report::check_writable(option, path)?;
        }
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let most = options.threads.unwrap_or(all);
    if most == 0 {
        return Err("--threads must be above zero".into());
    }
    let mut report = Report::new(machine::header("all", options.quick));
    report.fact_silent("budget", budget::seconds(options.budget));
    report.print_header();
    let python = options.python.as_deref().map(python::Python::start).transpose()?;
    if let Some(python) = &python {
        report.fact("python peers", python.found());
    }
    let engines = engines(&mut report);
    let pools = thread_counts(most).into_iter().map(|count| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        Ok((count, pool.map_err(|error| format!("--threads {most}: {error}"))?))
    });
    let pools = pools.collect::<Result<Vec<_>, String>>()?;
    let weights = parts.iter().map(|part| part.weight).collect();
    let command = options.command();
    let mut context =
        Context::new(&mut report, engines, pools, Plan::new(options.budget, weights), options.quick, command);
    context.python = python;
    for (index, part) in parts.iter().enumerate() {
        context.begin(index);
        eprintln!("all: {}, {} for it", part.name, budget::seconds(context.left_s()));
        // A panic of the library or of a peer fails its part. The other parts run.
        let done = catch_unwind(AssertUnwindSafe(|| (part.run)(&mut context)));
        if let Err(error) = done.unwrap_or_else(|panic| Err(panic_text(&panic))) {
            context.report().fail(format!("{}: {error}", part.name));
        }
        write_json(options, context.report(), false)?;
    }
    if !context.scalings().is_empty() {
        explain::growth(&mut context);
        roofline::shares(&mut context);
        explain::summary(&mut context);
    }
    let took = context.now_s();
    report.fact("took", budget::seconds(took));
    report.print_failures();
    write_json(options, &report, true)?;
    if let Some(path) = &options.html {
        report::write(path, &report.to_html())?;
    }
    Ok(report.failures().is_empty())
}

/// Writes what was measured so far.
fn write_json(options: &Options, report: &Report, is_complete: bool) -> Result<(), String> {
    let Some(path) = &options.json else { return Ok(()) };
    let mut value = report.to_value();
    value["is_complete"] = is_complete.into();
    report::write(path, &format!("{value:#}\n"))
}

impl Options {
    /// The command line, without what does not change the figures.
    fn command(&self) -> String {
        let mut command = format!("hullfield-bench all --budget {}s", self.budget);
        if let Some(threads) = self.threads {
            command += &format!(" --threads {threads}");
        }
        if let Some(python) = &self.python {
            command += &format!(" --python {}", machine::shell_word(python));
        }
        if self.quick {
            command += " --quick";
        }
        command
    }
}

/// 1, 2, 4 … and all.
fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|k| 1 << k).take_while(|&count| count < most).collect();
    counts.push(most);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_of_the_roofline_is_of_a_sweep() {
        for (topic, bytes, operations) in roofline::models() {
            assert!(PARTS.iter().any(|part| part.name == topic), "{topic}");
            assert!(bytes > 0.0 && operations > 0.0);
        }
    }

    #[test]
    fn counts_of_threads_double_and_end_with_all() {
        assert_eq!(
            [1, 2, 3, 8, 12].map(thread_counts),
            [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 12]]
        );
    }
}
