//! `hullfield collide`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hullfield::{Arena, Body, Engine, Hull, Intersections, Pairs, Trace};
use serde_json::{Value, json};

use super::{NamedHull, engine_json, has_extension, named_hulls, print_json};
use crate::BackendChoice;
use crate::failure::{Failure, Result};
use crate::output::{Output, to_file, to_stdout};
use crate::progress::Spinner;
use crate::read::{bodies, pairs};

/// What `collide` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "bodies.csv has the columns hull,x,y,z and optionally qx,qy,qz,qw (a unit quaternion) and scale or \
    sx,sy,sz. Bodies are called by their row numbers, from 0. pairs.csv has the columns a,b. The answer has the columns \
    a,b,status: without --pairs the pairs that touch or penetrate, sorted; with it a row for each pair, in their order.\n\n\
    --trace a,b prints the simplices that GJK goes through for one pair. With --out FILE.obj they are written as OBJ lines \
    on the Minkowski difference a - b. The query runs beside a trace where it is given --pairs, --all-pairs or an --out of \
    another kind; the lines then go beside that file, into the same name with .trace.obj."
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
    /// Print the simplices that GJK goes through for bodies a and b
    #[arg(long, value_name = "a,b")]
    trace: Option<String>,
    /// Write the answer to a file instead of stdout
    #[arg(long, value_name = "out.csv")]
    out: Option<PathBuf>,
    /// What computes
    #[arg(long, value_enum, default_value = "auto")]
    backend: BackendChoice,
    /// Take no more device memory than this, staging included
    #[arg(long, value_name = "BYTES")]
    memory_limit: Option<u64>,
    /// Print one JSON object; without --out it holds the rows
    #[arg(long)]
    json: bool,
    #[arg(long, hide = true, allow_hyphen_values = true)]
    margin: Option<String>,
    #[arg(long, hide = true, allow_hyphen_values = true)]
    duration: Option<String>,
    #[arg(long, hide = true)]
    exact: bool,
}

/// What can be asked of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Query {
    /// Whether they touch
    Intersects,
    #[value(hide = true)]
    Distance,
    #[value(hide = true)]
    Contact,
    #[value(hide = true)]
    Manifold,
    #[value(hide = true)]
    Sweep,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    refuse_not_built(arguments)?;
    let traced = arguments.trace.as_deref().map(traced_pair).transpose()?;
    let named = named_hulls(&arguments.hulls)?;
    let names: Vec<&str> = named.iter().map(|hull| hull.name.as_str()).collect();
    let bodies = bodies(&arguments.bodies, &names)?;
    let given = arguments.pairs.as_ref().map(|path| pairs(path, bodies.len())).transpose()?;
    let traced = traced
        .map(|pair| match pair.into_iter().find(|&body| body as usize >= bodies.len()) {
            Some(body) => Err(Failure::input(format!(
                "--trace: body {body} does not exist, there are {}",
                bodies.len()
            ))),
            None => Ok(pair.map(|body| body as usize)),
        })
        .transpose()?;
    let mut engine = arguments.backend.engine()?;
    if let Some(bytes) = arguments.memory_limit {
        engine = engine.with_memory_limit(bytes);
    }
    let hulls: Vec<Hull> = named.into_iter().map(|NamedHull { hull, .. }| hull).collect();
    let arena = Arena::new(&engine, &hulls)?;
    let trace = match traced {
        Some([a, b]) => {
            let (body_a, body_b) = (&bodies[a], &bodies[b]);
            Some(Traced { a, b, trace: arena.trace(body_a, body_b)? })
        }
        None => None,
    };
    // `--out` takes the rows; with a trace, an .obj takes the trace.
    let (rows_out, trace_out) = match (&arguments.out, &trace) {
        (Some(out), Some(_)) if has_extension(out, "obj") => (None, Some(out.clone())),
        (Some(out), Some(_)) => (Some(out.clone()), Some(out.with_extension("trace.obj"))),
        (out, _) => (out.clone(), None),
    };
    // A trace alone needs no query; one whose pairs or file are named is run.
    if let Some(traced) =
        trace.as_ref().filter(|_| rows_out.is_none() && given.is_none() && !arguments.all_pairs)
    {
        traced.write_obj_to(trace_out.as_deref())?;
        return if arguments.json {
            print_json(&json!({ "trace": traced.json() }))
        } else {
            to_stdout(|writer| traced.write_table(writer))
        };
    }
    let asked = match &given {
        Some(given) => Pairs::Given(given),
        None if arguments.all_pairs => Pairs::Every,
        None => Pairs::Near,
    };
    // Begun before the work, so that a folder that is not there is said at once.
    let output = rows_out.as_deref().map(Output::create).transpose()?;
    let found = {
        let _spinner = Spinner::new(format!("{} bodies on the {}", bodies.len(), engine.backend()));
        arena.intersections(&bodies, asked)?.wait()?
    };
    if let Some(mut output) = output {
        write_rows(&mut output, &found).map_err(|error| output.failed(&error))?;
        output.finish()?;
    }
    if let Some(traced) = &trace {
        traced.write_obj_to(trace_out.as_deref())?;
    }
    let counts = Counts::of(&bodies, &asked, &found);
    match (arguments.json, &rows_out) {
        (true, out) => {
            let mut object = counts.json(&engine, &found);
            if let Value::Object(fields) = &mut object {
                if let Some(traced) = &trace {
                    fields.insert("trace".to_owned(), traced.json());
                }
                match out {
                    Some(out) => {
                        fields.insert("out".to_owned(), json!(out.display().to_string()));
                    }
                    None => {
                        let rows: Vec<Value> = found
                            .rows
                            .iter()
                            .map(|row| json!({ "a": row.a, "b": row.b, "status": row.status.name() }))
                            .collect();
                        fields.insert("rows".to_owned(), Value::Array(rows));
                    }
                }
            }
            print_json(&object)
        }
        (false, Some(_)) => to_stdout(|writer| {
            if let Some(traced) = &trace {
                traced.write_table(writer)?;
            }
            counts.write(writer, &engine, &found)
        }),
        (false, None) => {
            to_stdout(|writer| {
                write_rows(writer, &found)?;
                if let Some(traced) = &trace {
                    writeln!(writer)?;
                    traced.write_table(writer)?;
                }
                Ok(())
            })?;
            let _ = counts.write(&mut io::stderr().lock(), &engine, &found);
            Ok(())
        }
    }
}

/// What the contract knows and this version does not.
fn refuse_not_built(arguments: &Arguments) -> Result<()> {
    let flag = match arguments.query {
        Query::Intersects if arguments.margin.is_some() => "--margin",
        Query::Intersects if arguments.duration.is_some() => "--duration",
        Query::Intersects if arguments.exact => "--exact",
        Query::Intersects => return Ok(()),
        Query::Distance => "--query distance",
        Query::Contact => "--query contact",
        Query::Manifold => "--query manifold",
        Query::Sweep => "--query sweep",
    };
    Err(Failure::input(format!("{flag} is not built yet")))
}

/// `a,b` as two different body numbers.
fn traced_pair(text: &str) -> Result<[u32; 2]> {
    let pair = text.split_once(',').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    match pair {
        None => Err(Failure::input(format!("--trace: \"{text}\" is not two body numbers a,b"))),
        Some([a, b]) if a == b => Err(Failure::input(format!("--trace: body {a} is paired with itself"))),
        Some(pair) => Ok(pair),
    }
}

/// The answer as CSV.
fn write_rows(writer: &mut dyn Write, found: &Intersections) -> io::Result<()> {
    writeln!(writer, "a,b,status")?;
    let mut text = String::new();
    for rows in found.rows.chunks(1024) {
        use std::fmt::Write as _;
        text.clear();
        for row in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{},{},{}", row.a, row.b, row.status.name());
        }
        writer.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// What a query found, counted.
struct Counts {
    body_count: usize,
    pairs: &'static str,
    separated_count: usize,
    touching_count: usize,
    penetrating_count: usize,
}

impl Counts {
    fn of(bodies: &[Body], pairs: &Pairs<'_>, found: &Intersections) -> Self {
        let count = |name| found.rows.iter().filter(|row| row.status.name() == name).count();
        Self {
            body_count: bodies.len(),
            pairs: match pairs {
                Pairs::Given(_) => "given",
                Pairs::Every => "every",
                _ => "near",
            },
            separated_count: count("separated"),
            touching_count: count("touching"),
            penetrating_count: count("penetrating"),
        }
    }

    fn json(&self, engine: &Engine, found: &Intersections) -> Value {
        let stats = &found.stats;
        let mut object = engine_json(engine);
        let more = json!({
            "bodies": self.body_count,
            "pairs": self.pairs,
            "candidates": stats.candidate_count,
            "hits": stats.hit_count,
            "separated": self.separated_count,
            "touching": self.touching_count,
            "penetrating": self.penetrating_count,
            "refined": stats.refined_count,
            "settled": stats.settled_count,
            "times_ms": super::times_json(&stats.times),
        });
        if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
            object.extend(more);
        }
        object
    }

    fn write(&self, writer: &mut dyn Write, engine: &Engine, found: &Intersections) -> io::Result<()> {
        let (stats, times) = (&found.stats, &found.stats.times);
        writeln!(writer, "engine      {}", engine.reason())?;
        writeln!(writer, "bodies      {}", self.body_count)?;
        writeln!(writer, "candidates  {} ({})", stats.candidate_count, self.pairs)?;
        writeln!(
            writer,
            "hits        {} (touching {}, penetrating {})",
            stats.hit_count, self.touching_count, self.penetrating_count
        )?;
        writeln!(writer, "refined     {}", stats.refined_count)?;
        writeln!(writer, "settled     {} in f64", stats.settled_count)?;
        writeln!(
            writer,
            "time        {:.3} ms (upload {:.3}, kernels {:.3}, readback {:.3}, settle {:.3})",
            times.total_ms, times.upload_ms, times.kernels_ms, times.readback_ms, times.settle_ms
        )
    }
}

/// The simplices of one pair.
struct Traced {
    a: usize,
    b: usize,
    trace: Trace,
}

impl Traced {
    fn json(&self) -> Value {
        let steps: Vec<Value> = self
            .trace
            .steps
            .iter()
            .map(|step| json!({ "simplex": step.simplex, "closest": step.closest, "distance": length(step.closest) }))
            .collect();
        json!({
            "a": self.a,
            "b": self.b,
            "status": self.trace.status.name(),
            "axis": self.trace.axis,
            "steps": steps,
        })
    }

    /// One row a corner: the step, how many corners its simplex has, the corner's number and place on the Minkowski
    /// difference, and the distance of the simplex from the origin.
    fn write_table(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut table = crate::table::Table::new(&["step", "corners", "corner", "x", "y", "z", "distance"]);
        for (number, step) in self.trace.steps.iter().enumerate() {
            let distance = format!("{:.6e}", length(step.closest));
            for (corner, point) in step.simplex.iter().enumerate() {
                let mut cells = vec![number.to_string(), step.simplex.len().to_string(), corner.to_string()];
                cells.extend(point.iter().map(|value| format!("{value:.6}")));
                cells.push(distance.clone());
                table.row(cells);
            }
        }
        table.write(writer)?;
        write!(writer, "bodies {} and {}: {}", self.a, self.b, self.trace.status.name())?;
        if let Some([x, y, z]) = self.trace.axis {
            write!(writer, " along {x:.6} {y:.6} {z:.6}")?;
        }
        if self.trace.steps.is_empty() {
            write!(writer, ", before a simplex was needed")?;
        }
        writeln!(writer)
    }

    fn write_obj_to(&self, path: Option<&Path>) -> Result<()> {
        path.map_or(Ok(()), |path| to_file(path, |writer| self.write_obj(writer)))
    }

    /// One object a step: the edges of its simplex, and a line from the origin to the simplex's closest point.
    fn write_obj(&self, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(
            writer,
            "# GJK on the Minkowski difference of bodies {} and {}: {}",
            self.a,
            self.b,
            self.trace.status.name()
        )?;
        writeln!(writer, "o origin\nv 0 0 0\np 1")?;
        let mut base = 2;
        for (number, step) in self.trace.steps.iter().enumerate() {
            writeln!(writer, "o step_{number}")?;
            for [x, y, z] in step.simplex.iter().chain([&step.closest]) {
                writeln!(writer, "v {x} {y} {z}")?;
            }
            let count = step.simplex.len();
            for i in 0..count {
                for j in i + 1..count {
                    writeln!(writer, "l {} {}", base + i, base + j)?;
                }
            }
            writeln!(writer, "l 1 {}", base + count)?;
            base += count + 1;
        }
        Ok(())
    }
}

fn length(point: [f64; 3]) -> f64 {
    glam::DVec3::from_array(point).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_to_trace_are_two_numbers() {
        assert_eq!(traced_pair("3, 12").unwrap(), [3, 12]);
        assert!(traced_pair("3").is_err());
        assert!(traced_pair("3,3").is_err());
        assert!(traced_pair("-1,3").is_err());
    }
}
