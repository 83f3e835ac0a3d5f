//! `hullfield flow`.

mod arguments;
mod check;
mod distances;
mod report;
mod scenarios;
mod solved;
mod tiled;

use std::time::Instant;

use hullfield::flow::{Border, Cell, Connectivity, Edit, FieldOptions, Flow, Grid, GridOptions};
use hullfield::{Engine, Error, Location};

pub(crate) use self::arguments::Arguments;
use self::arguments::{PackingChoice, Units};
use self::report::Report;
use self::solved::{Solved, warn_of_cells};
use super::milliseconds;
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, ReportStream, check_folder, check_outputs};
use crate::progress::Spinner;
use crate::read::{
    Georeference, Map, MapRaster, MapValues, cell, costs, edits, excerpt, friction, is_raster, map,
};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let report_stream = check_files(arguments)?;
    let cells = |option: &str, texts: &[String]| -> Result<Vec<Cell>> {
        texts.iter().map(|text| cell(option, text)).collect()
    };
    let mut goals = cells("--goal", &arguments.goals)?;
    goals.extend(goals_at(arguments)?);
    let starts = cells("--trace", &arguments.traces)?;
    if let Some(file) = &arguments.check {
        return check::run(arguments, file, &goals, started);
    }
    check_folder("--tiles", arguments.tiles.as_deref())?;
    if let Some(place) = tiled::place(arguments)? {
        if let Some(start) = starts.first() {
            return Err(Failure::input(format!(
                "--trace {start}: no path is traced over a map solved in tiles"
            )));
        }
        return tiled::run(arguments, place, &goals, started, report_stream);
    }
    if arguments.units(false) == Units::Map {
        return Err(Failure::input("--units map: friction must be in floats"));
    }
    let Content { map, costs, georeference } = read(arguments)?;
    warn_of_cells(georeference.as_ref());
    let connectivity = arguments.connectivity(map.size[2])?;
    let map_grid = grid(arguments, &map, costs, connectivity)?;
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
    solved.write(arguments, &map, &goals, &traces, georeference.as_ref())?;
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

/// The content of the map and of the file of costs.
struct Content {
    map: Map,
    /// Empty if all are 1.
    costs: Vec<u32>,
    georeference: Option<Georeference>,
}

/// Reads the map and the costs as a whole.
fn read(arguments: &Arguments) -> Result<Content> {
    let (path, cost, values) = (&arguments.map, arguments.cost.as_deref(), arguments.map_values());
    if is_raster(path) || values == Some(MapValues::Friction) {
        let raster = MapRaster::open(path, cost, values, u64::MAX)?;
        let (map, costs) = raster.whole()?;
        return Ok(Content { map, costs, georeference: raster.georeference().cloned() });
    }
    let mut map = map(path)?;
    let (mut all, mut georeference) = (Vec::new(), None);
    if let Some(file) = cost {
        if is_raster(file) {
            (all, georeference) = friction(file, &mut map)?;
        } else {
            all = costs(file, &map)?;
        }
    }
    Ok(Content { map, costs: all, georeference })
}

/// The cells of the goals in map coordinates.
fn goals_at(arguments: &Arguments) -> Result<Vec<Cell>> {
    if arguments.goals_at.is_empty() {
        return Ok(Vec::new());
    }
    let (path, cost) = (&arguments.map, arguments.cost.as_deref());
    let raster = MapRaster::open(path, cost, arguments.map_values(), u64::MAX)?;
    let place = raster.georeference().cloned().unwrap_or_default();
    let cell = |text: &String| {
        let parts: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        let Some(&[x, y]) = parts.as_deref().filter(|parts| parts.iter().all(|part| part.is_finite())) else {
            return Err(Failure::input(format!("--goal-at: \"{}\" is no X,Y", excerpt(text))));
        };
        let cell = place
            .cell_at([x, y])
            .map_err(|message| Failure::input(format!("--goal-at {text}: {}: {message}", path.display())))?;
        // What is far outside of the map stays outside.
        Ok(Cell::from(cell.map(|part| part.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32)))
    };
    arguments.goals_at.iter().map(cell).collect()
}

/// The grid of a map, with its costs.
fn grid(arguments: &Arguments, map: &Map, costs: Vec<u32>, connectivity: Connectivity) -> Result<Grid> {
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
        OutputFlag::binary("--out", &arguments.out, &["npy", "tif", "tiff"]),
        OutputFlag::binary("--next", &arguments.next, &["npy"]),
        OutputFlag::binary("--png", &arguments.png, &["png"]),
    ];
    let is_packed = arguments.compression != PackingChoice::None;
    if is_packed && !arguments.out.as_deref().is_some_and(distances::is_tiff) {
        return Err(Failure::input("--compression: only a GeoTIFF is packed, name a .tif by --out"));
    }
    check_outputs(&outputs, &inputs, arguments.json)
}
