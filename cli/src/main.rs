//! The program `hullfield`: reads files, shows progress, writes tables and pictures.

mod command;
mod engine;
mod failure;
mod output;
mod picture;
mod progress;
mod random;
mod read;
mod scene;
mod table;
mod threads;
mod tiff_output;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;

/// Who touches whom, which way is the goal, and what is the shortest path: on the GPU or the CPU
#[derive(Debug, Parser)]
#[command(name = "hullfield", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a check or the machine failed, 2 bad input, 130 stopped by Ctrl-C.\n\
    --help of a subcommand tells its formats, columns, units and defaults; hullfield man prints it as a page."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the adapters, their limits, and which one `auto` takes and why
    Devices(command::devices::Arguments),
    /// Run the three jobs on scenes made in code, check each in a second way, and draw them
    Demo(command::demo::Arguments),
    /// Build convex hulls of meshes and point sets
    Hull(command::hull::Arguments),
    /// Find out which bodies touch
    Collide(command::collide::Arguments),
    /// Solve the field of distances to goals over a grid
    Flow(command::flow::Arguments),
    /// Find shortest paths in polygons with holes
    Room(command::room::Arguments),
    /// Find shortest paths over the surface of 3D models
    Path(command::path::Arguments),
    /// Print a script that completes commands and flags in a shell
    Completions(command::manual::CompletionsArguments),
    /// Print a manual page, or write all of them
    Man(command::manual::ManArguments),
}

fn main() -> ExitCode {
    // Before any thread is made.
    if let Err(failure) = threads::check() {
        return exit_code(Err(failure));
    }
    // If no handler can be set, Ctrl-C still ends the process.
    let _ = ctrlc::set_handler(|| output::stop());
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return report_usage(&error),
    };
    let result = match arguments.command {
        Command::Devices(arguments) => command::devices::run(&arguments),
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Hull(arguments) => command::hull::run(&arguments),
        Command::Collide(arguments) => command::collide::run(&arguments),
        Command::Flow(arguments) => command::flow::run(&arguments),
        Command::Room(arguments) => command::room::run(&arguments),
        Command::Path(arguments) => command::path::run(&arguments),
        Command::Completions(arguments) => command::manual::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => command::manual::pages(&arguments, Arguments::command()),
    };
    exit_code(result)
}

/// The exit code of a result. Writes an error to stderr.
fn exit_code(result: failure::Result<()>) -> ExitCode {
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

/// Prints what clap found instead of a command: help and version in clap's layout, an error on one line.
fn report_usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            exit_code(printed.map_err(|error| Failure::unwritable(Path::new("stdout"), &error)))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            let _ = writeln!(std::io::stderr(), "hullfield: {}", usage_message(error));
            ExitCode::from(2)
        }
    }
}

/// clap's error on one line, without usage and tips. A message of our own value parsers follows the flag's name.
fn usage_message(error: &clap::Error) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let (ErrorKind::ValueValidation, Some(ContextValue::String(flag)), Some(ours)) =
        (error.kind(), error.get(ContextKind::InvalidArg), std::error::Error::source(error))
    {
        let flag = flag.split_whitespace().next().unwrap_or(flag);
        return one_line(&format!("{flag}: {ours}"));
    }
    let text = error.render().to_string();
    let ends = ["\n\nUsage:", "\n\nFor more information"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let message = text[..end].strip_prefix("error: ").unwrap_or(&text[..end]);
    let parts: Vec<String> = message.split("\n\n").map(one_line).filter(|part| !part.is_empty()).collect();
    format!("{} (see --help)", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn errors_have_one_line_and_no_usage() {
        let message_of = |line: &str| usage_message(&Arguments::try_parse_from(line.split(' ')).unwrap_err());
        assert_eq!(
            message_of("hullfield collide --hulls a --bodies b --margin nan"),
            "--margin: \"nan\" is not finite"
        );
        let unknown = message_of("hullfield flow a --gaols 1,2");
        assert!(
            unknown.starts_with("unexpected argument '--gaols' found") && unknown.ends_with("(see --help)"),
            "{unknown}"
        );
        for line in [
            "hullfield path a --slope 200",
            "hullfield path",
            "hullfield demo --size 1",
            "hullfield flow a --goal 0,0 --corners x",
        ] {
            let message = message_of(line);
            assert!(!message.contains("For more information") && !message.contains("Usage"), "{message}");
        }
    }
}
