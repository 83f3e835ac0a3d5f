//! The program `hullfield`: reads files, shows progress, writes tables and pictures.

mod command;
mod failure;
mod output;
mod picture;
mod progress;
mod random;
mod read;
mod scene;
mod table;

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use hullfield::Engine;

use crate::failure::{Failure, Result};

/// Who touches whom, for crowds of convex bodies, on the GPU or the CPU
#[derive(Debug, Parser)]
#[command(name = "hullfield", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a check or the machine failed, 2 bad input, 130 stopped by Ctrl-C."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the adapters, their limits, and which one `auto` takes and why
    Devices(command::devices::Arguments),
    /// Run the bundled scene, check its last frame on the other engine, and draw it
    Demo(command::demo::Arguments),
    /// Build convex hulls of meshes and point sets
    Hull(command::hull::Arguments),
    /// Find out which bodies touch
    Collide(command::collide::Arguments),
    /// Solve the field of distances to goals over a grid
    Flow(command::flow::Arguments),
    /// Find shortest paths in a polygon with holes
    Room(command::room::Arguments),
    /// Find shortest paths over the surface of 3D models
    Path(command::path::Arguments),
}

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackendChoice {
    /// A real GPU where there is one, else the CPU
    Auto,
    /// The best adapter of any kind, software ones too
    Gpu,
    /// The CPU's threads
    Cpu,
}

impl BackendChoice {
    /// Opens the engine.
    fn engine(self) -> Result<Engine> {
        Ok(match self {
            Self::Auto => Engine::auto()?,
            Self::Gpu => Engine::gpu()?,
            Self::Cpu => Engine::cpu(),
        })
    }
}

fn main() -> ExitCode {
    // Where no handler can be set, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(|| output::stop());
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let result = match arguments.command {
        Command::Devices(arguments) => command::devices::run(&arguments),
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Hull(arguments) => command::hull::run(&arguments),
        Command::Collide(arguments) => command::collide::run(&arguments),
        Command::Flow(arguments) => command::flow::run(&arguments),
        Command::Room(arguments) => command::room::run(&arguments),
        Command::Path(arguments) => command::path::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::ReaderGone) {
                let _ = writeln!(std::io::stderr(), "hullfield: {}", failure.one_line());
            }
            ExitCode::from(failure.code())
        }
    }
}

/// Help and version as clap prints them; a fault on one line.
fn usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            let fault = text.split("\n\nUsage:").next().unwrap_or_default();
            let fault = fault.strip_prefix("error: ").unwrap_or(fault);
            let line = fault.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(std::io::stderr(), "hullfield: {line} (see --help)");
            ExitCode::from(2)
        }
    }
}
