//! One module a command.

pub(crate) mod collide;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod flow;
pub(crate) mod hull;
pub(crate) mod path;
pub(crate) mod room;

use std::path::{Path, PathBuf};

use hullfield::{Engine, Hull, Times};
use serde_json::{Value, json};

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

/// An engine as JSON.
fn engine_json(engine: &Engine) -> Value {
    json!({
        "backend": engine.backend().to_string(),
        "adapter": engine.adapter_info().map(|info| info.name.clone()),
        "reason": engine.reason(),
    })
}

/// Where the time of a query went, in milliseconds, as JSON.
fn times_json(times: &Times) -> Value {
    json!({
        "upload": times.upload_ms,
        "kernels": times.kernels_ms,
        "readback": times.readback_ms,
        "settle": times.settle_ms,
        "total": times.total_ms,
    })
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
