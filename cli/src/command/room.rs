//! `hullfield room`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use hullfield::navigate::room::{Method, Options as RoomOptions, Path as RoomPath, Room, Strip};
use serde_json::{Value, json};

use super::{common_json, extend, milliseconds, print_json, status};
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, ReportStream, check_folder, check_outputs, to_file};
use crate::picture::FloorPlan;
use crate::progress::Spinner;
use crate::read::{RoomQuery, Scenario, queries, room, room_point, scenarios};
use crate::table::Table;

/// A path may be longer than its scenario's cost by this share of it, as the cost is rounded.
const SLACK: f64 = 1e-5;

/// The arguments of `room`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("The room is GeoJSON, or a .mesh file of convex polygons (version 2). Of a GeoJSON polygon the first ring is the \
    outline, the others are holes. A MultiPolygon or a collection may have several polygons: the floor is what any of them holds, so those that \
    share a part of an edge are one floor, and no path leads between those apart. Points, lines and geometries that are null are ignored. \
    A --radius below the rounding of the coordinates is as 0. queries.csv has the columns x0,y0,x1,y1. The answer has a row for each query, in order: length \
    (inf where there is no path), status (reached, unreachable, start off the room, goal off the room) and corners, the \
    points the path bends around as x y pairs with semicolons between them.\n\n\
    A .scen file is MovingAI's: of each line the start's x and y, the goal's x and y, and in the last column the length of the \
    best path on the grid. The exit code is 1 where a path is longer than that by more than 1e-5 of it.\n\n\
    --paths writes a GeoJSON FeatureCollection with a LineString for each path found, with its query and length; .geojson or .json. \
    --steps writes one SVG for each step of the method, numbered in order. The report has the room's vertices, cells, islands and \
    area, and what was repaired.\n\n\
    Examples: hullfield room floor.geojson --from 1,5 --to 9,5 --svg room.svg\n  \
    hullfield room floor.geojson --queries q.csv --radius 0.3 --out out.csv\n  \
    hullfield room aurora.mesh --scenarios aurora.scen",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The room: .geojson, .json or .mesh
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the path begins
    #[arg(long, value_name = "x,y", requires = "to", allow_hyphen_values = true)]
    from: Option<String>,
    /// Where it leads
    #[arg(long, value_name = "x,y", requires = "from", allow_hyphen_values = true)]
    to: Option<String>,
    /// Many queries, as CSV (columns below)
    #[arg(long, value_name = "q.csv", conflicts_with = "from")]
    queries: Option<PathBuf>,
    /// Solve every scenario of a file, and compare the lengths
    #[arg(long, value_name = "FILE.scen", conflicts_with_all = ["from", "queries"])]
    scenarios: Option<PathBuf>,
    /// How paths are found [default: optimal; with --steps funnel]
    #[arg(long, value_enum)]
    method: Option<MethodChoice>,
    /// Keep this far from walls, in the room's units; less than 1e61
    #[arg(long, value_name = "R", default_value_t = 0.0, allow_hyphen_values = true, value_parser = radius)]
    radius: f64,
    /// Let paths through single points in which walls touch
    #[arg(long)]
    squeeze: bool,
    /// Write the answers, as .csv
    #[arg(long, value_name = "out.csv")]
    out: Option<PathBuf>,
    /// Write the paths as lines of GeoJSON, .geojson or .json
    #[arg(long, value_name = "paths.geojson")]
    paths: Option<PathBuf>,
    /// Draw walls, cells and paths, as .svg
    #[arg(long, value_name = "room.svg")]
    svg: Option<PathBuf>,
    /// Draw each step of the funnel method into a folder: triangulation, strip, left and right, each move of the funnel
    #[arg(long, value_name = "DIR", requires = "from")]
    steps: Option<PathBuf>,
    /// Print one JSON object; without --out it holds the answers
    #[arg(long)]
    json: bool,
}

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodChoice {
    /// The shortest within one strip of triangles: Dijkstra, then the funnel
    Funnel,
    /// The true shortest path
    Optimal,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let report_stream = check_files(arguments)?;
    let choice = arguments.method.unwrap_or(match arguments.steps {
        Some(_) => MethodChoice::Funnel,
        None => MethodChoice::Optimal,
    });
    if arguments.steps.is_some() && choice == MethodChoice::Optimal {
        return Err(Failure::input("--steps draws the funnel method, not --method optimal"));
    }
    let (queries, scenarios) = read_queries(arguments)?;
    let options = RoomOptions {
        radius: arguments.radius,
        squeeze: arguments.squeeze,
        // The funnel method works on triangles.
        merge: choice == MethodChoice::Optimal,
        ..RoomOptions::default()
    };
    let read_ms = milliseconds(started);
    let build_start = Instant::now();
    let room = {
        let _spinner = Spinner::new(format!("building {}", arguments.file.display()));
        room(&arguments.file, options)?
    };
    let build_ms = milliseconds(build_start);
    let method = match choice {
        MethodChoice::Funnel => Method::Funnel(Strip::Dijkstra),
        MethodChoice::Optimal => Method::Optimal,
    };
    let paths_start = Instant::now();
    let paths = {
        let _spinner = Spinner::new(format!("{} paths", queries.len()));
        room.paths(&queries, &method.into())?.rows
    };
    let paths_ms = milliseconds(paths_start);
    if let Some(out) = &arguments.out {
        to_file(out, |writer| write_rows(writer, &paths))?;
    }
    if let Some(out) = &arguments.paths {
        to_file(out, |writer| {
            serde_json::to_writer(&mut *writer, &paths_json(&paths))?;
            writeln!(writer)
        })?;
    }
    if let Some(out) = &arguments.svg {
        to_file(out, |writer| writer.write_all(picture(&room, &paths).as_bytes()))?;
    }
    if let Some(folder) = &arguments.steps {
        draw_steps(&room, queries[0], folder)?;
    }
    let longer = longer_than_cost(&paths, &scenarios);
    if arguments.json {
        let counts = [
            ("queries", paths.len() as u64),
            ("reached", paths.iter().filter(|path| path.is_reached()).count() as u64),
            ("scenarios", scenarios.len() as u64),
            ("longer", longer.len() as u64),
        ];
        let stages = [("read", read_ms), ("build", build_ms), ("paths", paths_ms)];
        let mut value = common_json(None, started, stages, counts);
        extend(&mut value, summary_json(arguments, &room, &paths, &scenarios, &longer));
        print_json(&value)?;
    } else {
        report_stream.write(|writer| write_summary(writer, arguments, &room, &paths, &scenarios, &longer))?;
    }
    match longer.first() {
        None => Ok(()),
        Some(&first) => Err(Failure::Failed(format!(
            "{} of {} paths are longer than their scenarios' costs, the first in line {}: {} instead of {}",
            longer.len(),
            paths.len(),
            scenarios[first].line,
            paths[first].length,
            scenarios[first].cost,
        ))),
    }
}

/// Checks inputs and outputs before any work.
fn check_files(arguments: &Arguments) -> Result<ReportStream> {
    let tables = [("--queries", &arguments.queries), ("--scenarios", &arguments.scenarios)];
    let tables = tables.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = std::iter::once(("FILE", arguments.file.as_path())).chain(tables).collect();
    check_folder("--steps", arguments.steps.as_deref())?;
    let outputs = [
        OutputFlag::text("--out", &arguments.out, &["csv"]),
        OutputFlag::text("--paths", &arguments.paths, &["geojson", "json"]),
        OutputFlag::text("--svg", &arguments.svg, &["svg"]),
    ];
    let report_stream = check_outputs(&outputs, &inputs, arguments.json)?;
    let has_queries =
        arguments.from.is_some() || arguments.queries.is_some() || arguments.scenarios.is_some();
    for (flag, path) in [("--out", &arguments.out), ("--paths", &arguments.paths)] {
        if path.is_some() && !has_queries {
            return Err(Failure::input(format!("{flag} needs --from and --to, --queries or --scenarios")));
        }
    }
    Ok(report_stream)
}

/// A number from 0 up to the largest allowed coordinate.
fn radius(text: &str) -> Result<f64, String> {
    let is_radius = |value: &f64| (0.0..=1e60).contains(value);
    text.trim()
        .parse()
        .ok()
        .filter(is_radius)
        .ok_or_else(|| format!("\"{text}\" is not a number from 0 to 1e60"))
}

/// Reads the queries. With `--scenarios` the scenarios come with them, else none.
fn read_queries(arguments: &Arguments) -> Result<(Vec<RoomQuery>, Vec<Scenario>)> {
    if let (Some(from), Some(to)) = (&arguments.from, &arguments.to) {
        return Ok((vec![[room_point("--from", from)?, room_point("--to", to)?]], Vec::new()));
    }
    if let Some(path) = &arguments.queries {
        return Ok((queries(path)?, Vec::new()));
    }
    if let Some(path) = &arguments.scenarios {
        let scenarios = scenarios(path)?;
        return Ok((scenarios.iter().map(|scenario| scenario.query).collect(), scenarios));
    }
    Ok((Vec::new(), Vec::new()))
}

/// The indices of the paths that are longer than their scenarios' costs.
fn longer_than_cost(paths: &[RoomPath], scenarios: &[Scenario]) -> Vec<usize> {
    let is_longer = |&i: &usize| paths[i].length > scenarios[i].cost * (1.0 + SLACK) + SLACK;
    (0..scenarios.len()).filter(is_longer).collect()
}

fn corners(path: &RoomPath) -> String {
    let bends = path.points.get(1..path.points.len().saturating_sub(1)).unwrap_or_default();
    bends.iter().map(|p| format!("{} {}", p[0], p[1])).collect::<Vec<_>>().join(";")
}

/// The first corners, for people: a path around a round obstacle has many.
fn first_corners(path: &RoomPath) -> String {
    let all = corners(path);
    let list: Vec<&str> = all.split(';').collect();
    match list.get(..MAX_CORNERS) {
        Some(first) if list.len() > MAX_CORNERS => {
            format!("{}; … and {} more", first.join("; "), list.len() - MAX_CORNERS)
        }
        _ => list.join("; "),
    }
}

fn write_rows(writer: &mut dyn Write, paths: &[RoomPath]) -> io::Result<()> {
    writeln!(writer, "length,status,corners")?;
    for path in paths {
        writeln!(writer, "{},{},{}", path.length, status(&path.reach, "room"), corners(path))?;
    }
    Ok(())
}

/// A LineString for each path found.
fn paths_json(paths: &[RoomPath]) -> Value {
    let features: Vec<Value> = paths
        .iter()
        .enumerate()
        .filter(|(_, path)| path.is_reached())
        .map(|(query, path)| {
            json!({
                "type": "Feature",
                "properties": { "query": query, "length": path.length },
                "geometry": { "type": "LineString", "coordinates": path.points },
            })
        })
        .collect();
    json!({ "type": "FeatureCollection", "features": features })
}

fn room_json(room: &Room) -> Value {
    let repairs: Vec<Value> = room
        .repairs()
        .iter()
        .map(|repair| json!({ "ring": repair.ring, "repair": repair.kind.name(), "place": repair.place }))
        .collect();
    json!({
        "vertices": room.vertices().len(),
        "cells": room.cell_count(),
        "islands": room.island_count(),
        "area": room.area(),
        "repairs": repairs,
    })
}

fn summary_json(
    arguments: &Arguments,
    room: &Room,
    paths: &[RoomPath],
    scenarios: &[Scenario],
    longer: &[usize],
) -> Value {
    let mut value = json!({ "room": room_json(room) });
    if !scenarios.is_empty() {
        value["longer"] = json!(longer);
    }
    if arguments.out.is_none() {
        let rows: Vec<Value> = paths
            .iter()
            .map(|path| {
                json!({
                    "length": path.is_reached().then_some(path.length),
                    "status": status(&path.reach, "room"),
                    "points": path.points,
                    "cells": path.cells,
                })
            })
            .collect();
        value["paths"] = json!(rows);
    }
    value
}

/// Answers that are printed for people.
const MAX_PRINTED: usize = 20;

/// Corners printed for each answer.
const MAX_CORNERS: usize = 6;

fn write_summary(
    writer: &mut dyn Write,
    arguments: &Arguments,
    room: &Room,
    paths: &[RoomPath],
    scenarios: &[Scenario],
    longer: &[usize],
) -> io::Result<()> {
    let mut table = Table::new(&["vertices", "cells", "islands", "area", "repairs"]);
    table.row(vec![
        room.vertices().len().to_string(),
        room.cell_count().to_string(),
        room.island_count().to_string(),
        room.area().to_string(),
        room.repairs().len().to_string(),
    ]);
    table.write(writer)?;
    for repair in room.repairs().iter().take(MAX_PRINTED) {
        let [x, y] = repair.place;
        writeln!(writer, "ring {}, at ({x}, {y}): {}", repair.ring, repair.kind.name())?;
    }
    if paths.is_empty() {
        return Ok(());
    }
    writeln!(writer)?;
    if !scenarios.is_empty() {
        let mut table = Table::new(&["scenarios", "reached", "longer than their cost"]);
        table.row(vec![
            scenarios.len().to_string(),
            paths.iter().filter(|path| path.is_reached()).count().to_string(),
            longer.len().to_string(),
        ]);
        return table.write(writer);
    }
    if arguments.out.is_some() {
        let reached = paths.iter().filter(|path| path.is_reached()).count();
        return writeln!(writer, "{reached} of {} goals reached", paths.len());
    }
    let mut table = Table::new(&["query", "length", "status", "corners"]);
    for (query, path) in paths.iter().enumerate().take(MAX_PRINTED) {
        table.row(vec![
            query.to_string(),
            path.length.to_string(),
            status(&path.reach, "room"),
            first_corners(path),
        ]);
    }
    table.write(writer)?;
    if paths.len() > MAX_PRINTED {
        writeln!(writer, "… and {} more: --out writes them all", paths.len() - MAX_PRINTED)?;
    }
    Ok(())
}

fn picture(room: &Room, paths: &[RoomPath]) -> String {
    let mut plan = FloorPlan::new(room);
    plan.cells(room, true);
    if let [path] = paths {
        plan.strip(room, &path.cells);
    }
    plan.walls(room);
    for path in paths {
        plan.path(&path.points);
    }
    let reached = paths.iter().filter(|path| path.is_reached()).count();
    let title = match paths {
        [path] => format!("length {}", path.length),
        _ => format!("{} cells, {reached} paths", room.cell_count()),
    };
    plan.finish(&title)
}

/// One SVG for each step of the funnel method.
fn draw_steps(room: &Room, query: RoomQuery, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    let steps = room.funnel_steps(Strip::Dijkstra, query[0], query[1])?;
    let mut count = 0;
    let mut draw = |name: &str, title: &str, strip: &[u32], layers: &dyn Fn(&mut FloorPlan)| {
        let mut plan = FloorPlan::new(room);
        plan.cells(room, true).strip(room, strip).walls(room);
        // These go over the walls, so that lines along walls stay visible.
        layers(&mut plan);
        plan.dots(&[query[0]], "#2b8a3e", 7.0).dots(&[query[1]], "#c92a2a", 7.0);
        let file = folder.join(format!("{count:04}-{name}.svg"));
        count += 1;
        to_file(&file, |writer| writer.write_all(plan.finish(title).as_bytes()))
    };
    draw("triangulation", "the triangulation", &[], &|_| {})?;
    if !steps.path.is_reached() {
        return Ok(());
    }
    let strip = steps.strip.as_slice();
    draw("strip", &format!("the strip: {} triangles", strip.len()), strip, &|_| {})?;
    draw("left-and-right", "left (blue) and right (orange) of each edge that is crossed", strip, &|plan| {
        for (left, right) in steps.left.iter().zip(&steps.right) {
            plan.line(&[*left, *right], "#868e96", 2.0);
        }
        plan.dots(&steps.left, "#1971c2", 6.0).dots(&steps.right, "#e8590c", 6.0);
    })?;
    for funnel_move in &steps.moves {
        let title = format!("the funnel after edge {} of {}", funnel_move.edge_count, steps.moves.len());
        draw("funnel", &title, strip, &|plan| {
            let apex = funnel_move.path[funnel_move.path.len() - 1];
            let mut left = vec![apex];
            left.extend(&funnel_move.left);
            let mut right = vec![apex];
            right.extend(&funnel_move.right);
            let mut all = left.clone();
            all.extend(right.iter().rev());
            plan.area(&all, "#74c0fc").line(&left, "#1971c2", 3.0).line(&right, "#e8590c", 3.0);
            plan.line(&funnel_move.path, "#d6336c", 3.5).dots(&[apex], "#d6336c", 5.5);
        })?;
    }
    draw("path", &format!("the path: length {}", steps.path.length), strip, &|plan| {
        plan.path(&steps.path.points);
    })
}
