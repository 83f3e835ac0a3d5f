//! `hullfield flow`.

mod report;
mod scenarios;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use hullfield::{
    Border, Cell, Connectivity, Corners, Edit, Engine, Field, FieldOptions, Flow, Grid, Paths, UNREACHABLE,
};

use self::report::Report;
use super::milliseconds;
use crate::EngineArguments;
use crate::failure::{Failure, Result};
use crate::output::{Reports, Wanted, check_outputs, to_file};
use crate::picture::{FieldPicture, write_png};
use crate::progress::Spinner;
use crate::read::{Map, cell, costs, edits, map, write_npy};

/// What `flow` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("A map is a MovingAI .map; a .png or .pgm, where pixels darker than middle grey are obstacles; a .yaml of \
    ROS's map_server beside its picture, where all that is not known to be free is an obstacle; or a .npy of bool or whole numbers, \
    [height, width] or [depth, height, width], 0 road and 1 obstacle. x is the column, y the row, z the layer; \
    (0, 0) is top left.\n\n\
    A distance is the least sum of steps to a goal, each times the cost of the cell entered, the goal's included. A step is 1 \
    long with --connectivity 4 or 6; with 8 it is 408 along an axis and 577 across, with 26 1183, 1673 and 2049. --out writes \
    them as .npy of the map's shape, [height, width] or [depth, height, width]: u32, 4294967295 where no goal is reached; with \
    --units cells f32, steps divided by 1, 408 or 1183, inf where none is. --next writes .npy of u8: the next cell is, with 4 and 8, \
    0 N (the row above), 1 E, 2 S, 3 W, 4 NE, 5 SE, 6 SW, 7 NW; with 6 and 26, 0 -y, 1 +y, 2 -x, 3 +x, 4 -z, 5 +z, then \
    the edges 6 -y-x, 7 -y+x, 8 +y-x, 9 +y+x, 10 -y-z, 11 -y+z, 12 +y-z, 13 +y+z, 14 -x-z, 15 -x+z, 16 +x-z, 17 +x+z, then \
    the corners 18 -y-x-z, 19 -y-x+z, 20 -y+x-z, 21 -y+x+z, 22 +y-x-z, 23 +y-x+z, 24 +y+x-z, 25 +y+x+z; 255 is none. \
    Obstacles have no distance but point the shortest way out. With --clearance a cell is an obstacle too where its centre is \
    nearer than that to an obstacle's nearest point or to the border.\n\n\
    cost.npy is u16 or u32 of the map's shape, 1 or more. edits.csv has the columns x,y,what and optionally z and cost; what is \
    block, free or cost. The field is solved, changed and solved again; the second is what is written.\n\n\
    --scenarios solves a field for each goal, which ends where the last of its starts is reached; scenarios with one goal share \
    it. A scenario's last column is the length of the shortest path in cells, with diagonals of the square root of 2: where one \
    differs by more than 1e-5 of it the exit code is 1. A goal on an obstacle or beside the map is left out with a \
    warning; where none is left the exit code is 2.\n\n\
    Told: the map's size, obstacles, goals used, cells reached and unreached, the farthest distance, levels (different distances) \
    and rounds of the engine; of each --trace its distance and where it bends; in --json every cell of it.\n\n\
    Examples: hullfield flow maze.map --goal 3,4 --goal 90,12 --out distance.npy --png field.png\n  \
    hullfield flow floor.yaml --goal 10,20 --clearance 0.3 --trace 50,60 --json\n  \
    hullfield flow maze.map --scenarios maze.map.scen",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The map: .map, .png, .pgm, .yaml or .npy
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// A goal, or several by giving it again
    #[arg(
        long = "goal",
        value_name = "x,y",
        allow_hyphen_values = true,
        required_unless_present = "scenarios"
    )]
    goals: Vec<String>,
    /// Neighbours of a cell [default: 8, of a volume 26]
    #[arg(long, value_name = "4|8|6|26")]
    connectivity: Option<String>,
    /// When a diagonal step may pass between cells [default: both-free]
    #[arg(long, value_enum)]
    corners: Option<CornersChoice>,
    /// What entering each cell costs, times a step
    #[arg(long, value_name = "cost.npy")]
    cost: Option<PathBuf>,
    /// Reach no cells that are farther, in whole steps: a cell along an axis is 1, 408 or 1183 long (see below)
    #[arg(long, value_name = "D")]
    max_distance: Option<u32>,
    /// Keep this far from obstacles and from the map's border, in the map's units: cells, of ROS's maps metres
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    clearance: Option<f64>,
    /// Change the map, and solve again
    #[arg(long, value_name = "edits.csv")]
    edits: Option<PathBuf>,
    /// Write the distances, as .npy
    #[arg(long, value_name = "distance.npy")]
    out: Option<PathBuf>,
    /// Write the codes of the next cells, as .npy
    #[arg(long, value_name = "next.npy")]
    next: Option<PathBuf>,
    /// Draw distances, arrows, goals, obstacles and traces, as .png
    #[arg(long, value_name = "field.png")]
    png: Option<PathBuf>,
    /// Print the path from a cell, and draw it
    #[arg(long = "trace", value_name = "x,y", allow_hyphen_values = true)]
    traces: Vec<String>,
    /// Solve every scenario of a file, and compare
    #[arg(
        long,
        value_name = "FILE.scen",
        conflicts_with_all = ["goals", "max_distance", "edits", "out", "next", "png", "traces"]
    )]
    scenarios: Option<PathBuf>,
    /// What distances are written and told in; --max-distance is in steps all the same
    #[arg(long, value_enum, default_value = "steps")]
    units: Units,
    #[command(flatten)]
    engine: EngineArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What distances are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Units {
    /// Whole steps, exact: u32, 4294967295 where no goal is reached
    Steps,
    /// Sides of a cell: steps divided by the length of one along an axis (1, 408 or 1183), f32, inf where no goal is reached
    Cells,
}

impl Units {
    fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Cells => "cells",
        }
    }
}

/// When a diagonal move is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CornersChoice {
    /// Where all cells between are free: no corner is cut
    BothFree,
    /// Where one of them is, so that orthogonal steps reach the same place
    OneFree,
    /// Always
    Any,
}

impl CornersChoice {
    fn name(self) -> &'static str {
        match self {
            Self::BothFree => "both-free",
            Self::OneFree => "one-free",
            Self::Any => "any",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    let reports = outputs(arguments)?;
    let cells = |option: &str, texts: &[String]| -> Result<Vec<Cell>> {
        texts.iter().map(|text| cell(option, text)).collect()
    };
    let goals = cells("--goal", &arguments.goals)?;
    let starts = cells("--trace", &arguments.traces)?;
    let map = map(&arguments.map)?;
    let connectivity = connectivity(arguments, &map)?;
    let bare = grid(arguments, &map, connectivity)?;
    let grid = cleared(arguments, &bare)?;
    if let Some(start) = starts.iter().find(|&&start| !grid.contains(start)) {
        return Err(Failure::input(format!("--trace: cell {start} is not on the map")));
    }
    let engine = arguments.engine.open()?;
    let read_ms = milliseconds(begun);
    if let Some(file) = &arguments.scenarios {
        return scenarios::run(file, &Flow::new(&engine, grid)?, arguments.json, [begun, Instant::now()]);
    }
    let changes = match &arguments.edits {
        Some(file) => cleared_edits(arguments, &bare, &grid, edits(file, &grid)?)?,
        None => Vec::new(),
    };
    let mut flow = Flow::new(&engine, grid)?;
    let options = FieldOptions { max_distance: arguments.max_distance, ..FieldOptions::default() };
    let spinner = Spinner::new("solving");
    let solving = Instant::now();
    let mut solved = Solved::new(flow.solve(&goals, &options)?.wait()?)?;
    let mut changed_count = None;
    let mut compile_ms = solved.field.compile_ms();
    if arguments.edits.is_some() {
        flow.edit(&changes)?;
        let field = flow.update(solved.field)?.wait()?;
        compile_ms += field.compile_ms();
        let before = std::mem::replace(&mut solved.distances, field.distances()?.wait()?);
        let pairs = before.iter().zip(&solved.distances);
        changed_count = Some(pairs.filter(|(before, now)| before != now).count());
        solved = Solved { next: field.next_codes()?.wait()?, field, distances: solved.distances };
    }
    drop(spinner);
    let solve_ms = (milliseconds(solving) - compile_ms).max(0.0);
    let traces = solved.field.paths(&starts)?.wait()?;
    solved.write(arguments, &map, &goals, &traces)?;
    Report {
        engine: &engine,
        map: &map,
        arguments,
        connectivity,
        solved: &solved,
        starts,
        traces,
        changed_count,
        begun,
        stages: [("read", read_ms), ("compile", compile_ms), ("solve", solve_ms)],
        reports,
    }
    .print()
}

/// A distance in sides of a cell, of steps that are `unit` long along an axis.
fn in_cells(steps: u32, unit: u32) -> f64 {
    if steps == UNREACHABLE { f64::INFINITY } else { f64::from(steps) / f64::from(unit) }
}

/// A field and its arrays.
#[derive(Debug)]
struct Solved {
    field: Field,
    distances: Vec<u32>,
    next: Vec<u8>,
}

impl Solved {
    fn new(field: Field) -> Result<Self> {
        let (distances, next) = (field.distances()?.wait()?, field.next_codes()?.wait()?);
        Ok(Self { field, distances, next })
    }

    /// The files that are asked for.
    fn write(&self, arguments: &Arguments, map: &Map, goals: &[Cell], traces: &Paths) -> Result<()> {
        if let Some(out) = &arguments.out {
            let (descr, bytes): (_, Vec<u8>) = match arguments.units {
                Units::Steps => {
                    ("<u4", self.distances.iter().flat_map(|steps| steps.to_le_bytes()).collect())
                }
                Units::Cells => {
                    let unit = self.field.grid().connectivity().unit();
                    let cells = |&steps: &u32| (in_cells(steps, unit) as f32).to_le_bytes();
                    ("<f4", self.distances.iter().flat_map(cells).collect())
                }
            };
            to_file(out, |writer| write_npy(writer, descr, &map.shape(), &bytes))?;
        }
        if let Some(out) = &arguments.next {
            to_file(out, |writer| write_npy(writer, "|u1", &map.shape(), &self.next))?;
        }
        if let Some(out) = &arguments.png {
            let picture = FieldPicture {
                grid: self.field.grid(),
                distances: &self.distances,
                next: &self.next,
                goals,
                traces: (0..traces.count()).map(|row| traces.path(row)).collect(),
            };
            write_png(&picture.draw(), out)?;
        }
        let report = &self.field.summary().goals;
        let warn = |cells: &[Cell], what: &str| {
            let given = goals.len();
            let list: Vec<String> = cells.iter().take(8).map(Cell::to_string).collect();
            let more = if cells.len() > 8 { ", …" } else { "" };
            crate::output::warn(format_args!(
                "{} of {given} goals {what}, left out: {}{more}",
                cells.len(),
                list.join(", ")
            ));
        };
        if !report.blocked.is_empty() {
            warn(&report.blocked, "on obstacles");
        }
        if !report.outside.is_empty() {
            warn(&report.outside, "beside the map");
        }
        Ok(())
    }
}

/// The neighbours that were asked for, or those of the map's kind.
fn connectivity(arguments: &Arguments, map: &Map) -> Result<Connectivity> {
    let corners = match arguments.corners {
        None | Some(CornersChoice::BothFree) => Corners::BothFree,
        Some(CornersChoice::OneFree) => Corners::OneFree,
        Some(CornersChoice::Any) => Corners::Any,
    };
    let is_deep = map.size[2] > 1;
    let name = arguments.connectivity.as_deref().unwrap_or(if is_deep { "26" } else { "8" });
    let connectivity = match name {
        "4" => Connectivity::Four,
        "8" => Connectivity::Eight(corners),
        "6" => Connectivity::Six,
        "26" => Connectivity::TwentySix(corners),
        _ => return Err(Failure::input(format!("--connectivity: \"{name}\" is none of 4, 8, 6 and 26"))),
    };
    if is_deep && connectivity.dimension() == 2 {
        let message = format!("--connectivity {name} is flat, the map has {} layers", map.size[2]);
        return Err(Failure::input(message));
    }
    if let (Connectivity::Four | Connectivity::Six, Some(corners)) = (connectivity, arguments.corners) {
        let message = format!("--corners {} means nothing to --connectivity {name}", corners.name());
        return Err(Failure::input(message));
    }
    Ok(connectivity)
}

/// The grid of a map, with its costs.
fn grid(arguments: &Arguments, map: &Map, connectivity: Connectivity) -> Result<Grid> {
    let wrong = |error: hullfield::Error| Failure::file(&arguments.map, error);
    let grid = map.grid(connectivity).map_err(wrong)?;
    match &arguments.cost {
        Some(file) => {
            let costs = costs(file, map)?;
            grid.with_costs(&costs).map_err(|error| Failure::file(file, error))
        }
        None => Ok(grid),
    }
}

/// The grid for agents of the radius that is asked for.
fn cleared(arguments: &Arguments, bare: &Grid) -> Result<Grid> {
    let Some(radius) = arguments.clearance else { return Ok(bare.clone()) };
    bare.clone()
        .with_clearance(radius, Border::Wall)
        .map_err(|error| Failure::input(format!("--clearance: {error}")))
}

/// The changes of a grid for agents that have a radius, from those of the bare one: a wall keeps them off its neighbours.
fn cleared_edits(arguments: &Arguments, bare: &Grid, grid: &Grid, edits: Vec<Edit>) -> Result<Vec<Edit>> {
    if arguments.clearance.is_none() {
        return Ok(edits);
    }
    let mut flow = Flow::new(&Engine::cpu(), bare.clone())?;
    flow.edit(&edits)?;
    let edited = cleared(arguments, flow.grid())?;
    let mut changes = Vec::new();
    for cell in (0..grid.cell_count()).map(|index| grid.cell(index)) {
        match (grid.is_obstacle(cell), edited.is_obstacle(cell)) {
            (false, true) => changes.push(Edit::Block(cell)),
            (true, false) => changes.push(Edit::Free(cell)),
            _ => {}
        }
        if grid.cost(cell) != edited.cost(cell) {
            changes.push(Edit::Cost(cell, edited.cost(cell)));
        }
    }
    Ok(changes)
}

/// Looks at what is to be read and written before any work is done.
fn outputs(arguments: &Arguments) -> Result<Reports> {
    let files =
        [("--cost", &arguments.cost), ("--edits", &arguments.edits), ("--scenarios", &arguments.scenarios)];
    let files = files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = std::iter::once(("MAP", arguments.map.as_path())).chain(files).collect();
    let wanted = [
        Wanted::binary("--out", &arguments.out, &["npy"]),
        Wanted::binary("--next", &arguments.next, &["npy"]),
        Wanted::binary("--png", &arguments.png, &["png"]),
    ];
    check_outputs(&wanted, &inputs, arguments.json)
}
