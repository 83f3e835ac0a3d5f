//! `hullfield demo`: the three jobs on bundled scenes. Ten thousand bodies collide, a field flows, paths crawl over a
//! model; each is checked in a second way, and drawn.

mod collide;
mod field;
mod model;
mod path;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use self::collide::Collide;
use self::field::FlowField;
use self::path::Crawl;
use super::{common_json, extend, print_json};
use crate::EngineArguments;
use crate::failure::{Failure, Result};
use crate::output::{check_folder, to_stdout};

/// What `demo` takes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "Three jobs on scenes made in code: a crowd of bodies that push one another, from poses to hits, whose last frame the other \
    engine answers again; a flow field over a cave, each of whose cells is held against its neighbours; paths over a knot, by each \
    method and from both ends. A difference beyond the tolerance is exit code 1. Pictures: collide.png, flow.png, path.png.\n\n\
    Told of the crowd, a frame: candidates of the broad phase, skipped (by --warm, as nothing changed), hits, refined (looked at \
    again in f32), settled (in f64), and milliseconds by stage; in --json counts are those of the last frame, times_ms medians \
    of all but the first.",
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Frames to run
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Bodies in the scene
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    bodies: u32,
    /// Seed of the scene
    #[arg(long, value_name = "SEED", default_value_t = 2)]
    seed: u64,
    /// Folder for the pictures, made where it is missing
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Pixels of the pictures of bodies and of the model
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000", value_parser = super::size)]
    size: [usize; 2],
    #[command(flatten)]
    engine: EngineArguments,
    /// Reuse what earlier frames found out: the same hits, and faster where bodies move little in a frame (CPU engine)
    #[arg(long)]
    warm: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    check_folder("--out", Some(&arguments.out))?;
    std::fs::create_dir_all(&arguments.out).map_err(|error| Failure::unwritable(&arguments.out, &error))?;
    let engine = arguments.engine.open()?;
    let say = |write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| match arguments.json {
        true => Ok(()),
        false => to_stdout(|writer| write(writer)),
    };
    say(&|writer| {
        let Arguments { bodies, frames, .. } = arguments;
        writeln!(
            writer,
            "engine: {}\n\n1. who touches whom: {bodies} bodies, {frames} frames",
            engine.reason()
        )
    })?;
    let collide = Collide::run(arguments, &engine)?;
    say(&|writer| collide.write(writer))?;
    say(&|writer| writeln!(writer, "\n2. which way is the goal: a field over a cave, and who follows it"))?;
    let field = FlowField::run(arguments, &engine)?;
    say(&|writer| field.write(writer))?;
    say(&|writer| writeln!(writer, "\n3. the shortest way there: paths over a model, all around it"))?;
    let crawl = Crawl::run(arguments)?;
    say(&|writer| crawl.write(writer))?;
    if arguments.json {
        let mut object = common_json(Some(&engine), begun, collide.stages(), collide.counts(arguments));
        extend(&mut object, collide.json(arguments));
        extend(&mut object, json!({ "flow": field.json(), "path": crawl.json() }));
        print_json(&object)?;
    }
    match collide.fault().or(field.fault()).or(crawl.fault()) {
        Some(fault) => Err(Failure::Failed(format!("the check failed: {fault}"))),
        None => Ok(()),
    }
}
