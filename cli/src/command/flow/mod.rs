//! `hullfield flow`.

mod arguments;
mod check;
mod cost_distance;
mod distances;
mod report;
mod scenarios;
mod solved;
mod tiled;
mod trace;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Instant;

use hullfield::flow::{
    Border, Cell, Connectivity, Edit, Field, FieldOptions, Flow, Grid, GridOptions, Paths, Raster,
};
use hullfield::{Engine, Error, Location};

pub(crate) use self::arguments::Arguments;
use self::arguments::{PackingChoice, Units};
use self::report::Report;
use self::solved::{Solved, warn_of_cells};
use self::tiled::Method;
use self::trace::Trace;
use super::milliseconds;
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, ReportStream, check_folder, check_outputs};
use crate::progress::Spinner;
use crate::read::{
    Georeference, GoalPlaces, Map, MapRaster, MapValues, cell, costs, edits, excerpt, file_format, friction,
    goals, goals_format, is_raster, map,
};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let report_stream = check_files(arguments)?;
    let cells = |option: &str, texts: &[String]| -> Result<Vec<Cell>> {
        texts.iter().map(|text| cell(option, text)).collect()
    };
    let mut goals = cells("--goal", &arguments.goals)?;
    let places = Places { arguments, place: OnceCell::new() };
    goals.extend(places.cells_at("--goal-at", &arguments.goals_at)?);
    goals.extend(goals_of_file(arguments, &places)?);
    let mut starts = cells("--trace", &arguments.traces)?;
    starts.extend(places.cells_at("--trace-at", &arguments.traces_at)?);
    if let Some(file) = &arguments.check {
        return check::run(arguments, file, &goals, started);
    }
    check_folder("--tiles", arguments.tiles.as_deref())?;
    match tiled::method(arguments)? {
        Method::Field => {}
        Method::CostDistance => {
            return cost_distance::run(arguments, &goals, &starts, started, report_stream);
        }
        Method::Tiles(folder, engine) => {
            return tiled::run(arguments, folder, &engine, &goals, started, report_stream);
        }
    }
    let Content { map, costs, georeference } = read(arguments)?;
    let units = arguments.units(false);
    if units.is_of_map() && map.place().is_none() {
        let (path, name) = (arguments.map.display(), units.name());
        return Err(Failure::input(format!(
            "--units {name}: {path} says no place on a map, so its cells have no size"
        )));
    }
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
    // Whole steps up to a distance are those up to the whole number below it, and no distance is larger than u32 can hold.
    let step = match arguments.units(false) {
        Units::Map | Units::Metres => map.frame.cell_size / f64::from(connectivity.unit()),
        Units::Steps | Units::Cells => 1.0,
    };
    // The factor allows for the rounding of a distance that is exactly the limit.
    let max_distance = arguments.max_distance.map(|distance| (distance / step * (1.0 + 1e-12)) as u32);
    let options = FieldOptions { max_distance, ..FieldOptions::default() };
    let spinner = Spinner::new("solving");
    let solve_start = Instant::now();
    let mut solved = Solved::new(flow.solve(&goals, &options)?.wait()?)?;
    let mut changed_count = None;
    let mut compile_ms = solved.field.stats().compile_ms;
    if arguments.edits.is_some() {
        flow.edit(&changes)?;
        let mut field = solved.field;
        flow.update(&mut field)?.wait()?;
        compile_ms += field.stats().compile_ms;
        let before = std::mem::replace(&mut solved.distances, field.distances()?.wait()?);
        let pairs = before.iter().zip(&solved.distances);
        changed_count = Some(pairs.filter(|(before, now)| before != now).count());
        solved = Solved { next: field.next_codes()?.wait()?, field, distances: solved.distances };
    }
    drop(spinner);
    let solve_ms = (milliseconds(solve_start) - compile_ms).max(0.0);
    let paths = solved.field.paths(&starts)?.wait()?;
    solved.write(arguments, &map, &goals, &paths, georeference.as_ref())?;
    let traces = traces(&solved.field, &starts, &paths, arguments.units(false), &map);
    if let Some(out) = &arguments.paths {
        let place = |cell: Cell| place_of(cell, &map, georeference.as_ref());
        trace::write_geojson(out, &traces, place, |cell| map.coordinates(cell))?;
    }
    Report {
        engine: &engine,
        map: &map,
        arguments,
        connectivity,
        solved: &solved,
        traces: &traces,
        changed_count,
        started,
        stages: [("read", read_ms), ("compile", compile_ms), ("solve", solve_ms)],
        report_stream,
    }
    .print()
}

/// The paths from the cells of `--trace`.
fn traces(field: &Field, starts: &[Cell], paths: &Paths, units: Units, map: &Map) -> Vec<Trace> {
    let grid = field.grid();
    let trace = |(row, &start): (usize, &Cell)| Trace {
        cells: paths.path(row).iter().map(|&cell| grid.cell(cell as usize)).collect(),
        length: report::length(paths.lengths[row], grid.connectivity(), units, map),
        is_blocked: grid.is_obstacle(start),
    };
    starts.iter().enumerate().map(trace).collect()
}

/// The centre of a cell in map coordinates, or in the frame of the map where it has none.
fn place_of(cell: Cell, map: &Map, georeference: Option<&Georeference>) -> Vec<f64> {
    if let Some(place) = georeference.and_then(|place| place.centre_of([cell.x, cell.y].map(f64::from))) {
        return place.to_vec();
    }
    let centre = map.frame.centre(cell);
    centre[..if map.is_volume { 3 } else { 2 }].to_vec()
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
    let (path, cost, files) = (&arguments.map, arguments.cost.as_deref(), arguments.map_files());
    if is_raster(path) || files.values == Some(MapValues::Friction) {
        let raster = MapRaster::open(&files, u64::MAX)?;
        let (map, costs) = raster.whole()?;
        return Ok(Content { map, costs, georeference: raster.georeference().cloned() });
    }
    if files.band.is_some_and(|band| band != 1) {
        return Err(Failure::input(format!("--band: {} has no bands", path.display())));
    }
    let mut map = map(path)?;
    let (mut all, mut georeference) = (Vec::new(), None);
    if let Some(file) = cost {
        if is_raster(file) {
            (all, georeference) = friction(&files, file, &mut map)?;
        } else {
            all = costs(file, &map)?;
        }
    }
    Ok(Content { map, costs: all, georeference })
}

/// The cells of the goals of a file.
fn goals_of_file(arguments: &Arguments, places: &Places) -> Result<Vec<Cell>> {
    let Some(path) = &arguments.goals_file else { return Ok(Vec::new()) };
    // Cells need no place, and a table may name those of a volume.
    let is_table = goals_format(path)? == "csv";
    let (size, place) = match is_table {
        true => ([0; 2], Georeference::default()),
        false => (places.size()?, places.place()?.clone()),
    };
    match goals(path, size, &place)? {
        GoalPlaces::Cells(cells) => Ok(cells),
        GoalPlaces::Points(points) => {
            points.into_iter().map(|point| places.cell_at("--goals", &format!("{point:?}"), point)).collect()
        }
    }
}

/// The places of the map's cells, read where a flag needs them.
struct Places<'a> {
    arguments: &'a Arguments,
    place: OnceCell<Georeference>,
}

impl Places<'_> {
    /// Where the map lies.
    fn place(&self) -> Result<&Georeference> {
        if let Some(place) = self.place.get() {
            return Ok(place);
        }
        let files = self.arguments.map_files();
        let place = if is_raster(files.map) || file_format(files.map)? == "npy" {
            MapRaster::open(&files, u64::MAX)?.georeference().cloned().unwrap_or_default()
        } else {
            map(files.map)?.place().unwrap_or_default()
        };
        Ok(self.place.get_or_init(|| place))
    }

    /// Columns and rows of the map.
    fn size(&self) -> Result<[u32; 2]> {
        let files = self.arguments.map_files();
        if is_raster(files.map) || file_format(files.map)? == "npy" {
            return Ok(MapRaster::open(&files, u64::MAX)?.size());
        }
        let [width, height, _] = map(&self.arguments.map)?.size;
        Ok([width, height])
    }

    /// The cells of the places in a flag.
    fn cells_at(&self, flag: &str, texts: &[String]) -> Result<Vec<Cell>> {
        let cell = |text: &String| {
            let parts: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
            let Some(&[x, y]) = parts.as_deref().filter(|parts| parts.iter().all(|part| part.is_finite()))
            else {
                return Err(Failure::input(format!("{flag}: \"{}\" is no X,Y", excerpt(text))));
            };
            self.cell_at(flag, text, [x, y])
        };
        texts.iter().map(cell).collect()
    }

    /// The cell at a place of the map; what is far outside stays outside.
    fn cell_at(&self, flag: &str, text: &str, place: [f64; 2]) -> Result<Cell> {
        let cell = self.place()?.cell_at(place).map_err(|message| {
            Failure::input(format!("{flag} {text}: {}: {message}", self.arguments.map.display()))
        })?;
        Ok(Cell::from(cell.map(|part| part.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32)))
    }
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
    let files = [
        ("--cost", &arguments.cost),
        ("--goals", &arguments.goals_file),
        ("--edits", &arguments.edits),
        ("--scenarios", &arguments.scenarios),
    ];
    let files = files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = std::iter::once(("MAP", arguments.map.as_path())).chain(files).collect();
    let outputs = [
        OutputFlag::binary("--out", &arguments.out, &["npy", "tif", "tiff"]),
        OutputFlag::binary("--next", &arguments.next, &["npy"]),
        OutputFlag::binary("--allocation", &arguments.allocation, &["npy", "tif", "tiff"]),
        OutputFlag::text("--paths", &arguments.paths, &["geojson", "json"]),
        OutputFlag::binary("--png", &arguments.png, &["png"]),
    ];
    if arguments.paths.is_some() && arguments.traces.is_empty() && arguments.traces_at.is_empty() {
        return Err(Failure::input("--paths: name the starts of paths by --trace or --trace-at"));
    }
    let is_packed = arguments.compression != PackingChoice::None;
    let is_tiff = |out: &Option<PathBuf>| out.as_deref().is_some_and(distances::is_tiff);
    if is_packed && !is_tiff(&arguments.out) && !is_tiff(&arguments.allocation) {
        return Err(Failure::input("--compression: only a GeoTIFF is packed, name a .tif by --out"));
    }
    check_outputs(&outputs, &inputs, arguments.json)
}
