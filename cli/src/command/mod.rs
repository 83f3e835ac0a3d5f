//! The subcommands, a module each.

/// The end of every subcommand's long help.
macro_rules! files_help {
    () => {
        "\n\nFiles: - is stdin for one input and stdout for one output. The first bytes of stdin tell its format. With an output on stdout \
        the report for people goes to stderr. Binary output never goes to a terminal. An output without an extension has the format of \
        its flag's example; a wrong extension is an error before any work, and so is a file that cannot be written. A file appears whole or not at \
        all. One that is replaced keeps its mode; symbolic links are followed, and a file of several names (hard links) is refused."
    };
}

/// The end of the long help of subcommands with `--json`.
macro_rules! answer_help {
    () => {
        "\n\n--json prints one object. Every subcommand's object has engine (backend, adapter, reason), times_ms (milliseconds by stage; \
        wall is the whole run) and counts (whole numbers by name).\n\n\
        Exit codes: 0 done, 1 a check or the machine failed, 2 bad input, 130 stopped by Ctrl-C. An error is one line on stderr."
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

use hullfield::Engine;
use hullfield::collide::{Hull, Times};
use hullfield::navigate::Reach;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};
use crate::output::to_stdout;
use crate::progress::Bar;
use crate::read::{PointSet, PointSets, excerpt, point_sets};

/// A hull and its name.
#[derive(Debug)]
struct NamedHull {
    name: String,
    hull: Hull,
}

/// A hull is refused if rounding to f32 moves a point by more than this share of the hull's extent along an axis.
const MAX_ROUNDING: f64 = 0.1;

/// A warning is given if rounding moves a point by more than this share of the extent.
const WARN_ROUNDING: f64 = 1e-3;

/// An extent below this share of the largest one is not judged: it may be rounding of the file's own numbers.
const MIN_EXTENT: f64 = 1e-6;

/// An extent below which f32 has too few numbers even around the origin.
const SMALL_EXTENT: f64 = 1e-38;

/// Reads files and builds the hull of each point set in f32, in the order of the files. Returns the warnings too, a line each.
fn named_hulls(files: &[PathBuf]) -> Result<(Vec<NamedHull>, Vec<String>)> {
    let PointSets { sets, left_out, renamed } = point_sets(files)?;
    let mut warnings = [left_out, renamed].concat();
    let mut bar = Bar::new("hulls", sets.len() as u64);
    let mut hulls = Vec::with_capacity(sets.len());
    for PointSet { name, points, file, .. } in sets {
        let failure =
            |message: String| Failure::file(&file, format!("hull \"{}\": {message}", excerpt(&name)));
        let rounded: Vec<[f32; 3]> = points.iter().map(|point| point.map(|part| part as f32)).collect();
        if let Some(i) = rounded.iter().position(|point| !point.iter().all(|part| part.is_finite())) {
            let part = points[i].into_iter().find(|part| !(*part as f32).is_finite()).unwrap_or_default();
            return Err(failure(format!("point {i}: {part:e} is too large for a 32-bit float")));
        }
        if let Some(found) = rounding_error(&points, &rounded) {
            let RoundingError { axis, extent, rounded, moved } = found;
            // A different origin does not help a hull that small.
            let advice = if extent < SMALL_EXTENT {
                "give it larger, and the bodies a scale"
            } else {
                "give it about its own origin, and its place to the bodies"
            };
            let message = format!(
                "along {axis} it is {extent:e} long, in f32 {rounded:e}: rounding moves its points by up to {moved:.2e}; {advice}"
            );
            if moved > MAX_ROUNDING * extent {
                return Err(failure(message));
            }
            warnings.push(failure(message).to_string());
        }
        let hull = Hull::from_points(&rounded).map_err(|error| failure(error.to_string()))?;
        hulls.push(NamedHull { name, hull });
        bar.step(1);
    }
    Ok((hulls, warnings))
}

/// What rounding to f32 does to a shape along one axis.
#[derive(Debug, Clone, PartialEq)]
struct RoundingError {
    axis: char,
    /// The extent before rounding.
    extent: f64,
    /// The extent after rounding.
    rounded: f64,
    /// The largest move of a point.
    moved: f64,
}

/// The rounding error of the axis where it is largest relative to the extent, the first of equal axes. None if it is too
/// small for a warning.
fn rounding_error(points: &[[f64; 3]], rounded: &[[f32; 3]]) -> Option<RoundingError> {
    let along = |k: usize| {
        let extent = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (value.min(low), value.max(high))
            });
            high - low
        };
        let pairs = points.iter().zip(rounded);
        RoundingError {
            axis: ['x', 'y', 'z'][k],
            extent: extent(&mut points.iter().map(|point| point[k])),
            rounded: extent(&mut rounded.iter().map(|point| f64::from(point[k]))),
            moved: pairs.map(|(a, b)| (a[k] - f64::from(b[k])).abs()).fold(0.0, f64::max),
        }
    };
    let errors = [0, 1, 2].map(along);
    let longest = errors.iter().fold(0.0, |most: f64, error| most.max(error.extent));
    errors
        .into_iter()
        .rev()
        .filter(|error| error.extent > MIN_EXTENT * longest && error.moved > WARN_ROUNDING * error.extent)
        .max_by(|a, b| (a.moved / a.extent).total_cmp(&(b.moved / b.extent)))
}

/// Prints one JSON object.
fn print_json(value: &Value) -> Result<()> {
    to_stdout(|writer| {
        serde_json::to_writer_pretty(&mut *writer, value)?;
        writeln!(writer)
    })
}

/// The part that the JSON answers of all subcommands share: `engine`; `times_ms`, with `wall` since `started` and the stages;
/// and `counts`.
fn common_json<'a>(
    engine: Option<&Engine>,
    started: Instant,
    stages: impl IntoIterator<Item = (&'a str, f64)>,
    counts: impl IntoIterator<Item = (&'a str, u64)>,
) -> Value {
    let mut times = Map::from_iter([("wall".to_owned(), json!(milliseconds(started)))]);
    times.extend(stages.into_iter().map(|(stage, ms)| (stage.to_owned(), json!(ms))));
    let counts = Map::from_iter(counts.into_iter().map(|(what, count)| (what.to_owned(), json!(count))));
    json!({ "engine": engine_json(engine), "times_ms": times, "counts": counts })
}

/// An engine as JSON; none stands for a subcommand that only runs on the CPU.
fn engine_json(engine: Option<&Engine>) -> Value {
    match engine {
        Some(engine) => json!({
            "backend": engine.backend().to_string(),
            "adapter": engine.adapter_name(),
            "reason": engine.reason(),
        }),
        None => {
            json!({ "backend": "cpu", "adapter": null, "reason": "this subcommand runs on the CPU alone" })
        }
    }
}

/// The times of a query by stage, in milliseconds: every field of [`Times`].
fn stages_of(times: &Times) -> Vec<(&'static str, f64)> {
    vec![
        ("compile", times.compile_ms),
        ("upload", times.upload_ms),
        ("kernels", times.kernels_ms),
        ("readback", times.readback_ms),
        ("settle", times.settle_ms),
        ("total", times.total_ms),
    ]
}

/// Adds the fields of `more` to `object`.
fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Whether a path ends in `.extension`, ignoring case.
fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Reads `1600x1000` as width and height.
fn size(text: &str) -> Result<[usize; 2], String> {
    let size =
        text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    match size {
        Some(size) if size.iter().all(|side| (16..=8192).contains(side)) => Ok(size),
        Some(_) => Err("each side must be from 16 to 8192".to_owned()),
        None => Err("it must be WIDTHxHEIGHT".to_owned()),
    }
}

/// The status of a path in tables: `reached`, `unreachable`, `start off the room`, `goal off the mesh`.
fn status<P>(reach: &Reach<P>, place: &str) -> String {
    match reach {
        Reach::Off { .. } => format!("{} the {place}", reach.name()),
        _ => reach.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(points: &[[f64; 3]]) -> Option<RoundingError> {
        let rounded: Vec<[f32; 3]> = points.iter().map(|point| point.map(|part| part as f32)).collect();
        rounding_error(points, &rounded)
    }

    #[test]
    fn rounding_to_f32_is_measured_along_each_axis() {
        assert_eq!(error_of(&[[0.1, 0.2, 0.3], [1.1, 2.2, 3.3]]), None);
        assert_eq!(error_of(&[[1e12 + 3.0; 3]]), None);
        let far = error_of(&[[0.0, 1e12, 0.0], [1.0, 1e12 + 1.0, 1.0]]).unwrap();
        assert_eq!((far.axis, far.extent, far.rounded), ('y', 1.0, 0.0));
        // A plate whose thickness alone is lost, and one whose thickness is rounding itself.
        let plate =
            |thickness: f64| error_of(&[[0.0, 0.0, 1e5], [9.0, 0.0, 1e5], [0.0, 9.0, 1e5 + thickness]]);
        assert_eq!(plate(1e-3).map(|error| (error.axis, error.rounded)), Some(('z', 0.0)));
        assert_eq!(plate(1e-10), None);
        // A warning, not an error.
        let coarse = error_of(&[[1e5 + 0.1; 3], [1e5 + 1.2; 3]]).unwrap();
        assert!(coarse.moved > WARN_ROUNDING && coarse.moved < MAX_ROUNDING, "{coarse:?}");
    }
}
