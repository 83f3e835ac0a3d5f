//! `collide --rays` and `collide --points`: what rays hit, and which bodies are nearest to points.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use hullfield::collide::{Arena, Hull, Options, PointColumns, PointOptions, RayColumns, RayOptions};
use hullfield::{Engine, Error};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::report::Stages;
use super::rows::Row;
use super::stream::{RowWriter, Totals, add};
use crate::command::{NamedHull, common_json, milliseconds, named_hulls, print_json, stages_of};
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, Sink, check_outputs, to_stdout, warn};
use crate::progress::Bar;
use crate::read::{Bodies, Points, Rays, bodies, is_dash, ray_error_at_line, rays, world_points};

/// Rays or points in one query. With their rows they take at most about 300 MB.
const CHUNK: usize = 1 << 20;

/// Which file is asked about.
#[derive(Debug, Clone, Copy)]
enum Probe<'a> {
    Rays(&'a Path),
    Points(&'a Path),
}

/// What was read of it.
enum Probes {
    Rays(Rays),
    Points(Points<f32>),
    /// Points in f64.
    FarPoints(Points<f64>),
}

impl Probes {
    fn worlds(&self) -> Option<&[u32]> {
        match self {
            Self::Rays(Rays { worlds, .. })
            | Self::Points(Points { worlds, .. })
            | Self::FarPoints(Points { worlds, .. }) => worlds.as_deref(),
        }
    }
}

impl<'a> Probe<'a> {
    fn file(self) -> (&'static str, &'a Path) {
        match self {
            Self::Rays(file) => ("--rays", file),
            Self::Points(file) => ("--points", file),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rays(_) => "rays",
            Self::Points(_) => "points",
        }
    }
}

/// Runs a query with rays or points, if the flags ask for one.
pub(super) fn run(arguments: &Arguments) -> Result<bool> {
    let probe = match (&arguments.rays, &arguments.points) {
        (Some(file), _) => Probe::Rays(file),
        (_, Some(file)) => Probe::Points(file),
        _ => return Ok(false),
    };
    let started = Instant::now();
    let hulls = arguments.hulls.iter().map(|hulls| ("--hulls", hulls.as_path()));
    let inputs: Vec<_> = hulls.chain([("--bodies", arguments.bodies.as_path()), probe.file()]).collect();
    check_outputs(&[OutputFlag::text("--out", &arguments.out, &["csv"])], &inputs, arguments.json)?;
    let (named, warnings) = named_hulls(&arguments.hulls)?;
    let names: Vec<&str> = named.iter().map(|hull| hull.name.as_str()).collect();
    let in_f64 = arguments.positions.is_f64();
    let bodies = bodies(&arguments.bodies, &names, false, in_f64)?;
    let probes = match probe {
        Probe::Rays(file) => Probes::Rays(rays(file, in_f64)?),
        Probe::Points(file) if in_f64 => Probes::FarPoints(world_points(file)?),
        Probe::Points(file) => Probes::Points(world_points(file)?),
    };
    check_worlds(probe, &probes, &bodies)?;
    let mut stages = Stages { read_ms: milliseconds(started), ..Stages::default() };

    let arena_start = Instant::now();
    let engine = arguments.engine.open()?;
    let hulls: Vec<Hull> = named.into_iter().map(|NamedHull { hull, .. }| hull).collect();
    let arena = Arena::new(&engine, &hulls, Options::default())?;
    stages.arena_ms = milliseconds(arena_start);

    // Created before the query, so that a missing folder is reported at once.
    let mut sink = Sink::new(arguments.out.as_deref())?;
    let as_json = arguments.json && arguments.out.is_none();
    let mut writer = RowWriter::new(&mut sink, as_json, bodies.parts.as_ref());
    let failed = |first: usize, error: Error| error_at_line(probe, first, &bodies, error);
    let worlds = probes.worlds().unwrap_or_default();
    let nearest = |first: usize, points: PointColumns<'_>| {
        let count = points.points.len().max(points.positions.len());
        let points = PointColumns { worlds: part(worlds, first, count), ..points };
        let found = arena.nearest_points(bodies.columns(), points, &PointOptions::default());
        let mut found = found.and_then(hullfield::Pending::wait).map_err(|error| failed(first, error))?;
        for row in &mut found.rows {
            row.point += first as u32;
        }
        Ok((found.rows, found.stats))
    };
    let totals = match &probes {
        Probes::Rays(Rays { rays, origins, .. }) => stream(rays, &mut writer, |first, rays| {
            let (origins, worlds) = (part(origins, first, rays.len()), part(worlds, first, rays.len()));
            let rays = RayColumns { rays, origins, worlds };
            let found = arena.raycasts(bodies.columns(), rays, &RayOptions::default());
            let mut found = found.and_then(hullfield::Pending::wait).map_err(|error| failed(first, error))?;
            for row in &mut found.rows {
                row.ray += first as u32;
            }
            Ok((found.rows, found.stats))
        })?,
        Probes::Points(Points { points, .. }) => {
            stream(points, &mut writer, |first, points| nearest(first, PointColumns::new(points)))?
        }
        Probes::FarPoints(Points { points, .. }) => {
            stream(points, &mut writer, |first, points| nearest(first, PointColumns::new_f64(points)))?
        }
    };
    stages.wall_ms = milliseconds(started);
    let file_out = arguments.out.as_deref().filter(|out| !is_dash(out));
    let body_count = bodies.body_count();
    let summary = Summary { probe, body_count, totals: &totals, stages, started, out: file_out };
    if as_json {
        let text = format!("{:#}\n", summary.json(&engine));
        sink.put(text.trim_start_matches("{\n").as_bytes())?;
    }
    sink.finish()?;
    warnings.iter().for_each(warn);
    match (arguments.json, file_out) {
        (true, Some(_)) => print_json(&summary.json(&engine))?,
        (true, None) => {}
        (false, Some(_)) => to_stdout(|writer| summary.write(writer, &engine))?,
        (false, None) => {
            let _ = summary.write(&mut io::stderr().lock(), &engine);
        }
    }
    Ok(true)
}

/// Some of a column; nothing where that is empty.
fn part<T>(column: &[T], first: usize, count: usize) -> &[T] {
    column.get(first..first + count).unwrap_or_default()
}

/// Checks that both or neither of the files have a column `world`. Where there are no bodies it does not matter.
fn check_worlds(probe: Probe<'_>, probes: &Probes, bodies: &Bodies<'_>) -> Result<()> {
    let message = match (probes.worlds().is_some(), bodies.has_worlds()) {
        (true, Some(false)) => "column world needs a column world of the bodies, who have none",
        (false, Some(true)) => "column world is missing, the bodies have worlds",
        _ => return Ok(()),
    };
    Err(Failure::line(probe.file().1, 1, message))
}

/// The library's error as one that names a file and a line.
fn error_at_line(probe: Probe<'_>, first: usize, bodies: &Bodies<'_>, error: Error) -> Failure {
    ray_error_at_line(probe.file().1, first, &error).unwrap_or_else(|| bodies.error_at_line(error))
}

/// Queries in chunks, and writes the rows of each. An empty list is queried too, so that the library checks the bodies.
fn stream<T, R: Row>(
    items: &[T],
    writer: &mut RowWriter<'_>,
    ask: impl Fn(usize, &[T]) -> Result<(Vec<R>, hullfield::collide::Stats)>,
) -> Result<Totals> {
    let mut totals = Totals { verdicts: R::VERDICTS, ..Totals::default() };
    let mut bar = Bar::new("rows", items.len() as u64);
    let none: &[T] = &[];
    for (number, chunk) in items.chunks(CHUNK).chain(items.is_empty().then_some(none)).enumerate() {
        let (rows, stats) = ask(number * CHUNK, chunk)?;
        add(&mut totals.stats, &stats);
        let write_start = Instant::now();
        rows.iter().for_each(|row| totals.counts[row.verdict()] += 1);
        writer.rows(&rows)?;
        totals.write_ms += milliseconds(write_start);
        bar.step(chunk.len() as u64);
    }
    writer.end::<R>()?;
    Ok(totals)
}

/// What the run found and took.
struct Summary<'a> {
    probe: Probe<'a>,
    body_count: usize,
    totals: &'a Totals,
    stages: Stages,
    started: Instant,
    out: Option<&'a Path>,
}

impl Summary<'_> {
    fn json(&self, engine: &Engine) -> Value {
        let (totals, stats) = (self.totals, &self.totals.stats);
        let own =
            [("read", self.stages.read_ms), ("arena", self.stages.arena_ms), ("write", totals.write_ms)];
        let rows = totals.counts.iter().sum();
        let counts = [
            ("bodies", self.body_count as u64),
            (self.probe.name(), rows),
            ("candidates", stats.candidate_count),
            ("rows", rows),
        ];
        let stages = own.into_iter().chain(stages_of(&stats.times));
        let mut object = common_json(Some(engine), self.started, stages, counts);
        for (verdict, count) in totals.verdicts.into_iter().zip(totals.counts) {
            object["counts"][verdict] = json!(count);
        }
        object["query"] = json!(self.probe.name());
        if let Some(out) = self.out {
            object["out"] = json!(out.display().to_string());
        }
        object
    }

    fn write(&self, writer: &mut dyn Write, engine: &Engine) -> io::Result<()> {
        let (totals, times) = (self.totals, &self.totals.stats.times);
        let ([none, first, second], [no_hits, firsts, seconds]) = (totals.verdicts, totals.counts);
        writeln!(writer, "engine      {}, {} on the CPU", engine.reason(), self.probe.name())?;
        writeln!(writer, "bodies      {}", self.body_count)?;
        writeln!(writer, "{:<10}  {}", self.probe.name(), totals.counts.iter().sum::<u64>())?;
        writeln!(writer, "candidates  {}", totals.stats.candidate_count)?;
        writeln!(writer, "found       {first} {firsts}, {second} {seconds}, {none} {no_hits}")?;
        writeln!(
            writer,
            "time        {:.3} ms (upload {:.3}, kernels {:.3})",
            times.total_ms, times.upload_ms, times.kernels_ms
        )?;
        writeln!(
            writer,
            "program     {:.3} ms (read {:.3}, arena {:.3}, write {:.3})",
            self.stages.wall_ms, self.stages.read_ms, self.stages.arena_ms, totals.write_ms
        )
    }
}
