//! `hullfield collide`.

mod ask;
mod report;
mod rows;
mod trace;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use hullfield::{Arena, Hull, Precision};
use serde_json::json;

use self::ask::{Plan, Tally, pour};
use self::report::Report;
use self::trace::{Traced, traced_pair};
use super::{NamedHull, common_json, extend, has_extension, milliseconds, named_hulls, print_json};
use crate::EngineArguments;
use crate::failure::{Failure, Result};
use crate::output::{Reports, Sink, Wanted, check_outputs, to_stdout, warn};
use crate::read::{Bodies, bodies, is_dash, pairs};

/// What `collide` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("bodies.csv has the columns hull,x,y,z and optionally qx,qy,qz,qw (a unit quaternion), scale or \
    sx,sy,sz (1), radius (a rounding radius, 0), vx,vy,vz and wx,wy,wz (velocity and angular velocity about the body's \
    origin, a second and radians a second, 0), group and mask (sets of bits, all of them). Hulls are taken as f32 holds their coordinates: where \
    that is not their shape it is an error, and told where it is coarse. Those that are called alike get a number: Wheels, Wheels.1. \
    A hull of one point with a radius \
    is a ball, of two a capsule. Two bodies are a pair where the group of each has a bit in the mask of the other; given \
    pairs are not asked. Velocities are checked whatever is asked; only a sweep moves by them. Bodies are called by \
    their row numbers, from 0. pairs.csv has the columns a,b.\n\n\
    The answer is CSV, in the world's frame and units; n is a unit vector from a to b; a cell without an answer is empty:\n  \
    intersects  a,b,status\n  \
    distance    a,b,status,distance,ax,ay,az,bx,by,bz,nx,ny,nz\n  \
    contact     a,b,status,depth,nx,ny,nz,ax,ay,az,bx,by,bz\n  \
    manifold    the same, a row for each of up to four points, with the depth there\n  \
    sweep       a,b,status,time,nx,ny,nz\n\
    status is separated, touching or penetrating; of a sweep hit, miss or touching (at the start). A negative depth is a \
    distance. With --pairs each pair has its rows, in their order, whatever the margin; without, only those have rows \
    that touch, penetrate, meet or lie within the margin, sorted by a and b.\n\n\
    --trace a,b prints the simplices that GJK goes through for one pair. With --out FILE.obj they are written as OBJ lines \
    on the Minkowski difference a - b. The query runs beside a trace where it is given --pairs, --all-pairs or an --out of \
    another kind; the lines then go beside that file, into the same name with .trace.obj.\n\n\
    Without --out the rows go to stdout and the summary to stderr: candidates of the broad phase, hits, refined (looked at again \
    in f32), settled (in f64), and milliseconds by stage.\n\n\
    Examples: hullfield collide --hulls robot.glb walls.obj --bodies bodies.csv\n  \
    hullfield collide --hulls hulls.obj --bodies bodies.csv --query distance --margin 0.5 --out near.csv\n  \
    generate | hullfield collide --hulls hulls.obj --bodies - --query sweep --duration 0.1 --backend gpu --memory-limit 512M",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// Files of hulls: OBJ, STL, PLY, glTF, GLB, or CSV `hull,x,y,z`
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    hulls: Vec<PathBuf>,
    /// The bodies
    #[arg(long, value_name = "bodies.csv")]
    bodies: PathBuf,
    /// Ask about these pairs only
    #[arg(long, value_name = "pairs.csv", conflicts_with = "all_pairs")]
    pairs: Option<PathBuf>,
    /// Examine every pair, without a broad phase
    #[arg(long)]
    all_pairs: bool,
    /// What to ask
    #[arg(long, value_enum, default_value = "intersects")]
    query: Query,
    /// distance, contact, manifold: how far apart pairs may be, in world units [default: inf for distance, else 0]
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = margin)]
    margin: Option<f32>,
    /// sweep: for how many seconds the bodies move
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = duration)]
    duration: Option<f32>,
    /// Settle every pair in f64
    #[arg(long)]
    exact: bool,
    /// Print the simplices that GJK goes through for bodies a and b
    #[arg(long, value_name = "a,b")]
    trace: Option<String>,
    /// Write the answer to a file instead of stdout, as .csv; a --trace alone as .obj too
    #[arg(long, value_name = "out.csv")]
    out: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArguments,
    /// Print one JSON object; without --out it holds the rows
    #[arg(long)]
    json: bool,
}

/// What can be asked of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Query {
    /// Whether they touch
    Intersects,
    /// How far apart they are, and where they are nearest
    Distance,
    /// How deep they overlap, along which normal, and where
    Contact,
    /// The same with up to four points
    Manifold,
    /// When they first meet, as they move
    Sweep,
}

impl Query {
    fn name(self) -> &'static str {
        match self {
            Self::Intersects => "intersects",
            Self::Distance => "distance",
            Self::Contact => "contact",
            Self::Manifold => "manifold",
            Self::Sweep => "sweep",
        }
    }
}

/// A query with the number it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Question {
    Intersects,
    Distance { margin: f32 },
    Contact { margin: f32 },
    Manifold { margin: f32 },
    Sweep { duration: f32 },
}

impl Question {
    /// A flag that the query has no use for is a fault, and so is one that is missing.
    fn of(arguments: &Arguments) -> Result<Self> {
        let Arguments { query, margin, duration, .. } = *arguments;
        let takes_margin = matches!(query, Query::Distance | Query::Contact | Query::Manifold);
        let unused = if margin.is_some() && !takes_margin {
            Some("--margin")
        } else if duration.is_some() && query != Query::Sweep {
            Some("--duration")
        } else {
            None
        };
        if let Some(flag) = unused {
            return Err(Failure::input(format!("{flag} means nothing to --query {}", query.name())));
        }
        match query {
            Query::Intersects => Ok(Self::Intersects),
            Query::Distance => Ok(Self::Distance { margin: margin.unwrap_or(f32::INFINITY) }),
            Query::Contact => Ok(Self::Contact { margin: margin.unwrap_or(0.0) }),
            Query::Manifold => Ok(Self::Manifold { margin: margin.unwrap_or(0.0) }),
            Query::Sweep => {
                let missing =
                    || Failure::input("--query sweep needs --duration, the seconds that the bodies move");
                Ok(Self::Sweep { duration: duration.ok_or_else(missing)? })
            }
        }
    }

    /// How far apart pairs may be that have rows.
    fn margin(self) -> Option<f32> {
        match self {
            Self::Distance { margin } | Self::Contact { margin } | Self::Manifold { margin } => Some(margin),
            Self::Intersects | Self::Sweep { .. } => None,
        }
    }
}

/// Milliseconds of the program's own stages; the query's are in its statistics.
#[derive(Debug, Clone, Copy, Default)]
struct Stages {
    /// Reading the files and building the hulls.
    read_ms: f64,
    /// Opening the engine and handing it the hulls.
    arena_ms: f64,
    /// The whole run.
    wall_ms: f64,
}

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
    let arena = Arena::new(&engine, &hulls)?.with_precision(precision);
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
        Question::Distance { margin } => {
            pour(plan, rows, &what, &mut writer, |pairs| arena.distances(rows, pairs, margin))
        }
        Question::Contact { margin } => {
            pour(plan, rows, &what, &mut writer, |pairs| arena.contacts(rows, pairs, margin))
        }
        Question::Manifold { margin } => {
            pour(plan, rows, &what, &mut writer, |pairs| arena.manifolds(rows, pairs, margin))
        }
        Question::Sweep { duration } => {
            pour(plan, rows, &what, &mut writer, |pairs| arena.sweeps(rows, &bodies.motions, pairs, duration))
        }
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

/// A number from 0, infinity among them.
fn margin(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value == f32::INFINITY && !text.bytes().any(|byte| byte.is_ascii_digit()) => Ok(value),
        _ => duration(text),
    }
}

/// A finite number from 0.
fn duration(text: &str) -> Result<f32, String> {
    let value: f32 = crate::read::number(text.trim())?;
    // A negative zero is a zero.
    if value >= 0.0 { Ok(value.abs()) } else { Err(format!("{value} is below zero")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_and_durations_are_numbers_from_zero() {
        assert_eq!(margin("inf"), Ok(f32::INFINITY));
        assert_eq!(margin("1e-3"), Ok(1e-3));
        assert_eq!(margin("-0").map(f32::to_bits), Ok(0));
        assert!(margin("-inf").is_err());
        assert!(margin("nan").is_err());
        assert_eq!(margin("1e39").unwrap_err(), "1e39 is too large for a 32-bit float");
        assert_eq!(margin("-1").unwrap_err(), "-1 is below zero");
        assert_eq!(duration("inf").unwrap_err(), "\"inf\" is not finite");
        assert_eq!(duration("0.5"), Ok(0.5));
        assert_eq!(duration("").unwrap_err(), "\"\" is not a number");
    }
}
