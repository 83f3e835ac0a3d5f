//! `hullfield flow`.

mod arguments;
mod report;
mod scenarios;
mod solved;
mod tiled;

use std::time::Instant;

use hullfield::flow::{Border, Cell, Connectivity, Edit, FieldOptions, Flow, Grid, GridOptions};
use hullfield::{Engine, Error, Location};

pub(crate) use self::arguments::Arguments;
use self::report::Report;
use self::solved::Solved;
use super::milliseconds;
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, ReportStream, check_folder, check_outputs};
use crate::progress::Spinner;
use crate::read::{Map, cell, costs, edits, map};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let report_stream = check_files(arguments)?;
    let cells = |option: &str, texts: &[String]| -> Result<Vec<Cell>> {
        texts.iter().map(|text| cell(option, text)).collect()
    };
    let goals = cells("--goal", &arguments.goals)?;
    let starts = cells("--trace", &arguments.traces)?;
    if let Some(folder) = tiled::folder(arguments)? {
        check_folder("--tiles", Some(&folder))?;
        if let Some(start) = starts.first() {
            return Err(Failure::input(format!(
                "--trace {start}: no path is traced over a map solved in tiles"
            )));
        }
        return tiled::run(arguments, &folder, &goals, started, report_stream);
    }
    let map = map(&arguments.map)?;
    let connectivity = arguments.connectivity(map.size[2])?;
    let map_grid = grid(arguments, &map, connectivity)?;
    let grid = with_clearance(arguments, &map_grid)?;
    if let Some(start) = starts.iter().find(|&&start| !grid.contains(start)) {
        return Err(Failure::input(format!("--trace: cell {start} is not on the map")));
    }
    let engine = arguments.engine.open()?;
    let read_ms = milliseconds(started);
    if let Some(file) = &arguments.scenarios {
        return scenarios::run(file, &Flow::new(&engine, grid)?, arguments.json, [started, Instant::now()]);
    }
    let changes = match &arguments.edits {
        Some(file) => edits_with_clearance(arguments, &map_grid, &grid, edits(file, &grid)?)?,
        None => Vec::new(),
    };
    let mut flow = Flow::new(&engine, grid)?;
    let options = FieldOptions { max_distance: arguments.max_distance, ..FieldOptions::default() };
    let spinner = Spinner::new("solving");
    let solve_start = Instant::now();
    let mut solved = Solved::new(flow.solve(&goals, &options)?.wait()?)?;
    let mut changed_count = None;
    let mut compile_ms = solved.field.stats().compile_ms;
    if arguments.edits.is_some() {
        flow.edit(&changes)?;
        let field = flow.update(solved.field)?.wait()?;
        compile_ms += field.stats().compile_ms;
        let before = std::mem::replace(&mut solved.distances, field.distances()?.wait()?);
        let pairs = before.iter().zip(&solved.distances);
        changed_count = Some(pairs.filter(|(before, now)| before != now).count());
        solved = Solved { next: field.next_codes()?.wait()?, field, distances: solved.distances };
    }
    drop(spinner);
    let solve_ms = (milliseconds(solve_start) - compile_ms).max(0.0);
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
        started,
        stages: [("read", read_ms), ("compile", compile_ms), ("solve", solve_ms)],
        report_stream,
    }
    .print()
}

/// The grid of a map, with its costs.
fn grid(arguments: &Arguments, map: &Map, connectivity: Connectivity) -> Result<Grid> {
    let costs = arguments.cost.as_ref().map(|file| costs(file, map)).transpose()?.unwrap_or_default();
    map.grid(connectivity, costs).map_err(|error| match (&error, &arguments.cost) {
        (Error::Value { at: Location::Cell(_), .. }, Some(file)) => Failure::file(file, error),
        _ => Failure::file(&arguments.map, error),
    })
}

/// The grid for agents that keep the clearance.
fn with_clearance(arguments: &Arguments, map_grid: &Grid) -> Result<Grid> {
    let Some(clearance) = arguments.clearance else { return Ok(map_grid.clone()) };
    let (connectivity, costs, frame) =
        (map_grid.connectivity(), map_grid.costs().to_vec(), *map_grid.frame());
    let options = GridOptions { connectivity, costs, frame, clearance, border: Border::Wall };
    Grid::new(map_grid.size(), &map_grid.obstacles(), options).map_err(|error| match error {
        Error::Value { value, allowed, .. } => Failure::input(format!("--clearance is {value}, {allowed}")),
        error => Failure::input(format!("--clearance: {error}")),
    })
}

/// The edits of the grid with clearance, from the edits of the map: a new obstacle also blocks the cells around it.
fn edits_with_clearance(
    arguments: &Arguments,
    map_grid: &Grid,
    grid: &Grid,
    edits: Vec<Edit>,
) -> Result<Vec<Edit>> {
    if arguments.clearance.is_none() {
        return Ok(edits);
    }
    let mut flow = Flow::new(&Engine::cpu(), map_grid.clone())?;
    flow.edit(&edits)?;
    let edited = with_clearance(arguments, flow.grid())?;
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

/// Checks inputs and outputs before any work.
fn check_files(arguments: &Arguments) -> Result<ReportStream> {
    let files =
        [("--cost", &arguments.cost), ("--edits", &arguments.edits), ("--scenarios", &arguments.scenarios)];
    let files = files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = std::iter::once(("MAP", arguments.map.as_path())).chain(files).collect();
    let outputs = [
        OutputFlag::binary("--out", &arguments.out, &["npy"]),
        OutputFlag::binary("--next", &arguments.next, &["npy"]),
        OutputFlag::binary("--png", &arguments.png, &["png"]),
    ];
    check_outputs(&outputs, &inputs, arguments.json)
}
