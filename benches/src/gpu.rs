//! The kit for a machine with a GPU: parity, the time of every kernel, frames, given pairs, fields, batches, agents, and what the
//! device can do at best. It keeps to a budget of time, names what it skips, and needs neither network nor compiler.

mod adapter;
mod compare;
mod fields;
mod frames;
mod kernel_times;
mod kit;
mod parity;
mod parity_encoded;
mod roofline;

use std::path::PathBuf;

use clap::Args;

use crate::budget;
use crate::error::Trouble;
use crate::machine;
use crate::report::{self, Report};
use kit::Kit;

pub(crate) use roofline::best;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Writes everything measured as JSON, anew after each part.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The time that the run may take, such as 8m or 90s. What does not fit is skipped and named.
    #[arg(long, value_name = "TIME", default_value = "8m", value_parser = budget::parse_duration)]
    budget: f64,
    /// Runs on the adapter with NAME in its name [default: the best of hardware].
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Runs on a software driver where there is no hardware.
    #[arg(long)]
    software: bool,
    /// Small sizes and few repetitions, for software drivers.
    #[arg(long)]
    reduced: bool,
    /// Runs only the parts whose names begin with NAME: roofline, parity, kernels, frames, given, fields, batches, agents.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// A part of a run.
struct Part {
    name: &'static str,
    /// Its share of the budget, relative to the others'.
    weight: f64,
    run: fn(&mut Kit) -> Result<(), Trouble>,
}

/// The parts, in the order of their worth: a run that is cut short keeps the first.
const PARTS: [Part; 8] = [
    Part { name: "roofline", weight: 1.0, run: roofline::run },
    Part { name: "parity", weight: 4.0, run: parity::run },
    Part { name: "kernels", weight: 4.0, run: kernel_times::run },
    Part { name: "frames", weight: 4.0, run: frames::frames },
    Part { name: "given", weight: 4.0, run: frames::given },
    Part { name: "fields", weight: 4.0, run: fields::fields },
    Part { name: "batches", weight: 2.0, run: fields::batches },
    Part { name: "agents", weight: 1.0, run: fields::agents },
];

/// Runs the kit. Returns false if a check failed.
///
/// # Errors
/// If the options name no part, if the file cannot be written, or if there is no adapter.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let selects =
        |part: &&Part| options.only.as_ref().is_none_or(|only| part.name.starts_with(only.as_str()));
    let parts: Vec<&Part> = PARTS.iter().filter(selects).collect();
    if parts.is_empty() {
        let names = PARTS.map(|part| part.name).join(", ");
        return Err(format!("--only {}: there are the parts {names}", options.only.as_deref().unwrap_or("")));
    }
    if let Some(path) = &options.json {
        report::check_writable("--json", path)?;
    }
    let adapters = hullfield::adapters();
    let chosen = adapter::choose(&adapters, options.adapter.as_deref(), options.software)?;
    let mut header = machine::header("gpu", false);
    header.retain(|(name, _)| *name != "peer");
    let mut report = Report::new(header);
    report.print_header();
    adapter::describe(&mut report, chosen);
    if chosen.kind == "software" {
        report.fact("software", "a software driver: its times say nothing about a GPU".into());
    }
    if options.reduced {
        report.fact("reduced", "small sizes, few repetitions".into());
    }
    let weights = parts.iter().map(|part| part.weight).collect();
    let mut kit =
        Kit::new(report, &chosen.name, options.json.clone(), options.budget, weights, options.reduced);
    for (index, part) in parts.iter().enumerate() {
        kit.part(index, part.name, part.run)?;
    }
    kit.finish()?;
    kit.print_conclusion();
    Ok(kit.report.failures().is_empty())
}
