//! One module a command.

/// What the long help of every subcommand ends with.
macro_rules! files_help {
    () => {
        "\n\nFiles: - is stdin as one input, whose kind its first bytes tell, and stdout as one output; the report for people \
        then goes to stderr. No binary output goes to a terminal. An output without an extension has the format that is told \
        beside its flag; an extension that does not fit is refused before any work. A file appears whole or not at all."
    };
}

/// The same of what prints an answer.
macro_rules! answer_help {
    () => {
        "\n\n--json prints one object. In that of every subcommand engine holds backend, adapter and reason; times_ms holds \
        milliseconds by stage, wall the whole run; counts holds whole numbers by name.\n\n\
        Exit codes: 0 done, 1 a check or the machine failed, 2 bad input, 130 stopped by Ctrl-C. A fault is one line on stderr."
    };
}

pub(crate) mod collide;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod flow;
pub(crate) mod hull;
pub(crate) mod manual;
pub(crate) mod path;
pub(crate) mod room;

use std::path::{Path, PathBuf};
use std::time::Instant;

use hullfield::{Engine, Hull, Times};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};
use crate::output::to_stdout;
use crate::progress::Bar;
use crate::read::{PointSet, point_sets};

/// A hull and what it came from.
#[derive(Debug)]
struct NamedHull {
    name: String,
    file: PathBuf,
    point_count: usize,
    hull: Hull,
}

/// Reads files and builds the hull of each point set, in their order.
fn named_hulls(files: &[PathBuf]) -> Result<Vec<NamedHull>> {
    let sets = point_sets(files)?;
    let mut bar = Bar::new("hulls", sets.len() as u64);
    let mut hulls = Vec::with_capacity(sets.len());
    for PointSet { name, points, file } in sets {
        let hull = Hull::from_points(&points)
            .map_err(|error| Failure::file(&file, format!("hull \"{name}\": {error}")))?;
        hulls.push(NamedHull { name, file, point_count: points.len(), hull });
        bar.step(1);
    }
    Ok(hulls)
}

/// Prints one JSON object.
fn print_json(value: &Value) -> Result<()> {
    to_stdout(|writer| {
        serde_json::to_writer_pretty(&mut *writer, value)?;
        writeln!(writer)
    })
}

/// What the answers of all subcommands have alike: `engine` says what computed, `times_ms` where the time went (`wall`, since
/// `begun`, and stages by their names), `counts` how many there were of what.
fn common_json<'a>(
    engine: Option<&Engine>,
    begun: Instant,
    stages: impl IntoIterator<Item = (&'a str, f64)>,
    counts: impl IntoIterator<Item = (&'a str, u64)>,
) -> Value {
    let mut times = Map::from_iter([("wall".to_owned(), json!(milliseconds(begun)))]);
    times.extend(stages.into_iter().map(|(stage, ms)| (stage.to_owned(), json!(ms))));
    let counts = Map::from_iter(counts.into_iter().map(|(what, count)| (what.to_owned(), json!(count))));
    json!({ "engine": engine_json(engine), "times_ms": times, "counts": counts })
}

/// An engine as JSON; none stands for the CPU, where a subcommand knows nothing else.
fn engine_json(engine: Option<&Engine>) -> Value {
    match engine {
        Some(engine) => json!({
            "backend": engine.backend().to_string(),
            "adapter": engine.adapter_info().map(|info| info.name.clone()),
            "reason": engine.reason(),
        }),
        None => {
            json!({ "backend": "cpu", "adapter": null, "reason": "this subcommand runs on the CPU alone" })
        }
    }
}

/// Where the time of a query went, in milliseconds, by the stages' names: what is added to [`Times`] is added here.
fn stages_of(times: &Times) -> Vec<(&'static str, f64)> {
    vec![
        ("upload", times.upload_ms),
        ("kernels", times.kernels_ms),
        ("readback", times.readback_ms),
        ("settle", times.settle_ms),
        ("total", times.total_ms),
    ]
}

/// Puts the fields of one object into another.
fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Whether a path ends in `.extension`, in either case.
fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// `1600x1000` as width and height.
fn size(text: &str) -> Result<[usize; 2], String> {
    let size =
        text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    match size {
        Some(size) if size.iter().all(|side| (16..=8192).contains(side)) => Ok(size),
        Some(_) => Err("each side must be from 16 to 8192".to_owned()),
        None => Err("it must be WIDTHxHEIGHT".to_owned()),
    }
}
