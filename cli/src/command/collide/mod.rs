//! `hullfield collide`.

mod arguments;
mod ask;
mod question;
mod report;
mod rows;
mod trace;

use std::time::Instant;

use hullfield::collide::{
    Arena, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Options, Precision, SweepOptions,
};
use serde_json::json;

pub(crate) use self::arguments::Arguments;
use self::ask::{Plan, Tally, pour};
use self::question::Question;
use self::report::{Report, Stages};
use self::trace::{Traced, traced_pair};
use super::{NamedHull, common_json, extend, has_extension, milliseconds, named_hulls, print_json};
use crate::failure::{Failure, Result};
use crate::output::{Reports, Sink, Wanted, check_outputs, to_stdout, warn};
use crate::read::{Bodies, bodies, is_dash, pairs};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    let question = Question::of(arguments)?;
    let traced = arguments.trace.as_deref().map(traced_pair).transpose()?;
    let reports = outputs(arguments)?;
    let (named, warnings) = named_hulls(&arguments.hulls)?;
    let names: Vec<&str> = named.iter().map(|hull| hull.name.as_str()).collect();
    let bodies = bodies(&arguments.bodies, &names, matches!(question, Question::Sweep { .. }))?;
    let body_count = bodies.bodies.len();
    let given = arguments.pairs.as_ref().map(|path| pairs(path, body_count)).transpose()?;
    let traced = traced
        .map(|pair| match pair.into_iter().find(|&body| body as usize >= body_count) {
            Some(body) => {
                Err(Failure::input(format!("--trace: body {body} does not exist, there are {body_count}")))
            }
            None => Ok(pair.map(|body| body as usize)),
        })
        .transpose()?;
    let mut stages = Stages { read_ms: milliseconds(begun), ..Stages::default() };

    let opened = Instant::now();
    let engine = arguments.engine.open()?;
    let hulls: Vec<Hull> = named.into_iter().map(|NamedHull { hull, .. }| hull).collect();
    let precision = if arguments.exact { Precision::Exact } else { Precision::Fast };
    let arena = Arena::new(&engine, &hulls, Options { precision, ..Default::default() })?;
    stages.arena_ms = milliseconds(opened);

    let trace = match traced {
        Some([a, b]) => {
            let placed = |error| bodies.placed(error);
            let trace = arena.trace(&bodies.bodies[a], &bodies.bodies[b]).map_err(placed)?;
            Some(Traced { a, b, trace })
        }
        None => None,
    };
    // `--out` takes the rows; with a trace, an .obj takes the trace.
    let (rows_out, trace_out) = match (&arguments.out, &trace) {
        (Some(out), Some(_)) if has_extension(out, "obj") => (None, Some(out.clone())),
        (Some(out), Some(_)) if is_dash(out) => (Some(out.clone()), None),
        (Some(out), Some(_)) => (Some(out.clone()), Some(out.with_extension("trace.obj"))),
        (out, _) => (out.clone(), None),
    };
    // A trace alone needs no query; one whose pairs or file are named is run.
    if let Some(traced) =
        trace.as_ref().filter(|_| rows_out.is_none() && given.is_none() && !arguments.all_pairs)
    {
        traced.write_obj_to(trace_out.as_deref())?;
        warnings.iter().for_each(warn);
        return if arguments.json {
            let stages = [("read", stages.read_ms), ("arena", stages.arena_ms)];
            let counts = [("bodies", body_count as u64), ("steps", traced.trace.steps.len() as u64)];
            let mut value = common_json(Some(&engine), begun, stages, counts);
            extend(&mut value, json!({ "trace": traced.json() }));
            print_json(&value)
        } else {
            to_stdout(|writer| traced.write_table(writer))
        };
    }

    let plan = match &given {
        Some(given) => Plan::Given(given),
        None => Plan::of(&hulls, &bodies.bodies, question.margin(), arguments.all_pairs),
    };
    // Begun before the work, so that a folder that is not there is said at once.
    let mut sink = Sink::new(rows_out.as_deref())?;
    let as_json = arguments.json && rows_out.is_none();
    // Stdout has the rows: the rest goes to stderr.
    let file_out = rows_out.as_deref().filter(|out| !is_dash(out));
    let tally = answer(&arena, &bodies, plan, question, &mut sink, as_json)?;
    let report = Report {
        query: arguments.query.name(),
        question,
        precision,
        pairs: if given.is_some() {
            "given"
        } else if arguments.all_pairs {
            "every"
        } else {
            "near"
        },
        body_count,
        tally: &tally,
        stages: Stages { wall_ms: milliseconds(begun), ..stages },
        begun,
        reports,
        trace: trace.as_ref(),
        out: file_out,
    };
    if as_json {
        report.end_json(&engine, &mut sink)?;
    }
    sink.finish()?;
    if let Some(traced) = &trace {
        traced.write_obj_to(trace_out.as_deref())?;
    }
    warnings.iter().for_each(warn);
    report.show(&engine, arguments.json)
}

/// Asks, and writes the rows.
fn answer(
    arena: &Arena,
    bodies: &Bodies<'_>,
    plan: Plan<'_>,
    question: Question,
    sink: &mut Sink,
    as_json: bool,
) -> Result<Tally> {
    let rows = &bodies.bodies;
    let what = format!("{} bodies on the {}", rows.len(), arena.engine().backend());
    let mut writer = ask::Writer::new(sink, as_json);
    let tally = match question {
        Question::Intersects => {
            pour(plan, rows, &what, &mut writer, |pairs| arena.intersections(rows, pairs))
        }
        Question::Distance { margin } => pour(plan, rows, &what, &mut writer, |pairs| {
            arena.distances(rows, pairs, &DistanceOptions { margin })
        }),
        Question::Contact { margin } => pour(plan, rows, &what, &mut writer, |pairs| {
            arena.contacts(rows, pairs, &ContactOptions { margin })
        }),
        Question::Manifold { margin } => pour(plan, rows, &what, &mut writer, |pairs| {
            arena.manifolds(rows, pairs, &ManifoldOptions { margin })
        }),
        Question::Sweep { duration } => pour(plan, rows, &what, &mut writer, |pairs| {
            arena.sweeps(rows, &bodies.motions, pairs, &SweepOptions { duration, ..Default::default() })
        }),
    };
    tally.map_err(|fault| match fault {
        ask::Fault::Library(error) => bodies.placed(error),
        ask::Fault::Failure(failure) => failure,
    })
}

/// Looks at what is to be read and written before any work is done.
fn outputs(arguments: &Arguments) -> Result<Reports> {
    let hulls = arguments.hulls.iter().map(|hulls| ("--hulls", hulls.as_path()));
    let pairs = arguments.pairs.iter().map(|pairs| ("--pairs", pairs.as_path()));
    let inputs: Vec<_> = hulls.chain([("--bodies", arguments.bodies.as_path())]).chain(pairs).collect();
    // A trace can be an OBJ.
    let extensions: &[&str] = if arguments.trace.is_some() { &["csv", "obj"] } else { &["csv"] };
    check_outputs(&[Wanted::text("--out", &arguments.out, extensions)], &inputs, arguments.json)
}
