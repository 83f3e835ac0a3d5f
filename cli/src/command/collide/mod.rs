//! `hullfield collide`.

mod arguments;
mod probe;
mod query;
mod report;
mod rows;
mod stream;
mod trace;
mod turning;

use std::path::PathBuf;
use std::time::Instant;

use hullfield::collide::{
    Arena, ContactOptions, DistanceOptions, Exclusions, Hull, ManifoldOptions, Options, Precision,
    SweepOptions,
};
use serde_json::json;

pub(crate) use self::arguments::Arguments;
use self::query::Query;
use self::report::{Report, Stages};
use self::stream::{PairSource, RowWriter, Totals, stream_rows};
use self::trace::{PairTrace, parse_pair};
use self::turning::turn_about_first_parts;
use super::{NamedHull, common_json, extend, has_extension, milliseconds, named_hulls, print_json};
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, ReportStream, Sink, check_outputs, to_stdout, warn};
use crate::read::{Bodies, bodies, is_dash, pairs};

/// From so many pairs on the program warns before it examines each: about an hour on one core.
const MANY_PAIRS: u64 = 1 << 32;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if probe::run(arguments)? {
        return Ok(());
    }
    let started = Instant::now();
    let query = Query::new(arguments)?;
    let traced_pair = arguments.trace.as_deref().map(parse_pair).transpose()?;
    let report_stream = check_files(arguments)?;
    let (named, warnings) = named_hulls(&arguments.hulls)?;
    let names: Vec<&str> = named.iter().map(|hull| hull.name.as_str()).collect();
    let with_motions = matches!(query, Query::Sweep { .. });
    let mut bodies = bodies(&arguments.bodies, &names, with_motions, arguments.positions.is_f64())?;
    let body_count = bodies.body_count();
    let read_pairs = |file: &Option<PathBuf>| file.as_ref().map(|path| pairs(path, body_count)).transpose();
    let given = read_pairs(&arguments.pairs)?.map(|pairs| bodies.rows_of_pairs(pairs));
    bodies.exclusions = read_pairs(&arguments.exclude)?.map(|pairs| Exclusions::new(&pairs)).transpose()?;
    if traced_pair.is_some() && bodies.parts.is_some() {
        return Err(Failure::input("--trace is of two hulls: it can't take bodies with a column body"));
    }
    let traced_pair = traced_pair
        .map(|pair| match pair.into_iter().find(|&body| body as usize >= body_count) {
            Some(body) => {
                Err(Failure::input(format!("--trace: body {body} does not exist, there are {body_count}")))
            }
            None => Ok(pair.map(|body| body as usize)),
        })
        .transpose()?;
    let mut stages = Stages { read_ms: milliseconds(started), ..Stages::default() };

    let arena_start = Instant::now();
    let engine = arguments.engine.open()?;
    let mut hulls: Vec<Hull> = named.into_iter().map(|NamedHull { hull, .. }| hull).collect();
    turn_about_first_parts(&mut bodies, &mut hulls)?;
    let precision = if arguments.exact { Precision::Exact } else { Precision::Fast };
    let arena = Arena::new(&engine, &hulls, Options { precision, ..Default::default() })?;
    stages.arena_ms = milliseconds(arena_start);

    let trace = match traced_pair {
        Some([a, b]) => {
            let trace = arena.trace_pair(bodies.columns(), [a as u32, b as u32]);
            Some(PairTrace { a, b, trace: trace.map_err(|error| bodies.error_at_line(error))? })
        }
        None => None,
    };
    // `--out` names the file of the rows. With a trace, an .obj is the file of the trace.
    let (rows_out, trace_out) = match (&arguments.out, &trace) {
        (Some(out), Some(_)) if has_extension(out, "obj") => (None, Some(out.clone())),
        (Some(out), Some(_)) if is_dash(out) => (Some(out.clone()), None),
        (Some(out), Some(_)) => (Some(out.clone()), Some(out.with_extension("trace.obj"))),
        (out, _) => (out.clone(), None),
    };
    // A trace alone runs no query; with --pairs, --all-pairs or a file for the rows the query runs too.
    if let Some(trace) =
        trace.as_ref().filter(|_| rows_out.is_none() && given.is_none() && !arguments.all_pairs)
    {
        trace.write_obj_to(trace_out.as_deref())?;
        warnings.iter().for_each(warn);
        return if arguments.json {
            let stages = [("read", stages.read_ms), ("arena", stages.arena_ms)];
            let counts = [("bodies", body_count as u64), ("steps", trace.trace.steps.len() as u64)];
            let mut value = common_json(Some(&engine), started, stages, counts);
            extend(&mut value, json!({ "trace": trace.json() }));
            print_json(&value)
        } else {
            to_stdout(|writer| trace.write_table(writer))
        };
    }

    let source = match &given {
        Some(given) => PairSource::Given(given),
        None => PairSource::without_list(&hulls, bodies.columns(), query.margin(), arguments.all_pairs),
    };
    if let Some(count) = source.pair_count(bodies.bodies.len() as u64).filter(|&count| count >= MANY_PAIRS) {
        warn(format_args!(
            "every two of {} bodies are {count} pairs, which take hours: --margin M finds those that are near alone",
            bodies.bodies.len()
        ));
    }
    // Created before the query, so that a missing folder is reported at once.
    let mut sink = Sink::new(rows_out.as_deref())?;
    let as_json = arguments.json && rows_out.is_none();
    // Rows on stdout send the report to stderr.
    let file_out = rows_out.as_deref().filter(|out| !is_dash(out));
    let totals = run_query(&arena, &bodies, source, query, &mut sink, as_json)?;
    let report = Report {
        query,
        query_name: arguments.query.name(),
        precision,
        pairs: if given.is_some() {
            "given"
        } else if arguments.all_pairs {
            "every"
        } else {
            "near"
        },
        body_count,
        totals: &totals,
        stages: Stages { wall_ms: milliseconds(started), ..stages },
        started,
        report_stream,
        trace: trace.as_ref(),
        out: file_out,
    };
    if as_json {
        report.end_json(&engine, &mut sink)?;
    }
    sink.finish()?;
    if let Some(trace) = &trace {
        trace.write_obj_to(trace_out.as_deref())?;
    }
    warnings.iter().for_each(warn);
    report.show(&engine, arguments.json)
}

/// Runs the query and writes its rows.
fn run_query(
    arena: &Arena,
    bodies: &Bodies<'_>,
    source: PairSource<'_>,
    query: Query,
    sink: &mut Sink,
    as_json: bool,
) -> Result<Totals> {
    let rows = bodies.columns();
    let label = format!("{} bodies on the {}", bodies.body_count(), arena.engine().backend());
    let mut writer = RowWriter::new(sink, as_json, bodies.parts.as_ref());
    match query {
        Query::Intersects => {
            stream_rows(source, bodies, &label, &mut writer, |pairs| arena.intersections(rows, pairs))
        }
        Query::Distance { margin } => stream_rows(source, bodies, &label, &mut writer, |pairs| {
            arena.distances(rows, pairs, &DistanceOptions { margin })
        }),
        Query::Contact { margin } => stream_rows(source, bodies, &label, &mut writer, |pairs| {
            arena.contacts(rows, pairs, &ContactOptions { margin })
        }),
        Query::Manifold { margin } => stream_rows(source, bodies, &label, &mut writer, |pairs| {
            arena.manifolds(rows, pairs, &ManifoldOptions { margin })
        }),
        Query::Sweep { duration } => stream_rows(source, bodies, &label, &mut writer, |pairs| {
            arena.sweeps(rows, &bodies.motions, pairs, &SweepOptions { duration, ..Default::default() })
        }),
    }
}

/// Checks inputs and outputs before any work.
fn check_files(arguments: &Arguments) -> Result<ReportStream> {
    let hulls = arguments.hulls.iter().map(|hulls| ("--hulls", hulls.as_path()));
    let pairs = arguments.pairs.iter().map(|pairs| ("--pairs", pairs.as_path()));
    let excluded = arguments.exclude.iter().map(|pairs| ("--exclude", pairs.as_path()));
    let bodies = [("--bodies", arguments.bodies.as_path())];
    let inputs: Vec<_> = hulls.chain(bodies).chain(pairs).chain(excluded).collect();
    // A trace can be written as OBJ.
    let extensions: &[&str] = if arguments.trace.is_some() { &["csv", "obj"] } else { &["csv"] };
    check_outputs(&[OutputFlag::text("--out", &arguments.out, extensions)], &inputs, arguments.json)
}
