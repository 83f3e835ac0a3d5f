//! `flow` over a map that need not fit into memory: solved in tiles from disk.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use hullfield::flow::{
    Cell, CostRule, FrictionOptions, FrictionReport, RASTER_UNREACHABLE, Raster, RasterField, RasterOptions,
    RasterReport, TileFiles, solve_raster_on,
};
use hullfield::{Backend, Engine};
use serde_json::json;

use super::arguments::{Arguments, Units, ZeroFriction};
use super::cost_distance::{GEODESIC_ERROR, warn_of_large};
use super::distances::{DistanceFile, DistanceType, Unit};
use super::solved::{warn_of_cells, warn_of_goals};
use crate::command::{common_json, extend, milliseconds, print_json};
use crate::failure::{Failure, Result};
use crate::output::ReportStream;
use crate::progress::StageBar;
use crate::read::{MapRaster, is_dash, is_raster, raster_size};
use crate::table::Table;

/// Bytes a cell of a map solved in one piece: the file, obstacles, costs, distances, moves and codes.
const BYTES_A_CELL: u64 = 16;
/// Bytes a cell of a map whose cost distance is solved in one piece, at most.
const BYTES_A_CELL_OF_COST_DISTANCE: u64 = 48;
/// The part of the memory limit that decoded strips and tiles of a file may take, and what they take where there is no limit.
const CACHE_SHARE: u64 = 4;
const CACHE_BYTES: u64 = 1 << 28;

/// How a map is solved.
#[derive(Debug)]
pub(super) enum Method {
    /// As a field.
    Field,
    /// In one piece, with costs that fields don't have.
    CostDistance,
    /// In tiles, which are kept in a folder: that of `--tiles`, or one beside the output where one piece would need more memory than `--memory-limit` allows.
    Tiles(PathBuf, Engine),
}

/// How the map is to be solved.
pub(super) fn method(arguments: &Arguments) -> Result<Method> {
    let raster = match MapRaster::open(&arguments.map_files(), u64::MAX) {
        Err(error) if is_raster(&arguments.map) => return Err(error),
        opened => opened.ok(),
    };
    let is_float = raster.as_ref().is_some_and(MapRaster::is_float);
    let is_weighted = is_float || arguments.cost_rule() != CostRule::Entry;
    // Other rules are the CPU's.
    let engine = || if is_weighted { Ok(Engine::cpu()) } else { arguments.engine.open() };
    if let Some(folder) = &arguments.tiles {
        return Ok(Method::Tiles(folder.clone(), engine()?));
    }
    let flag = match arguments.allocation {
        Some(_) => Some("--allocation"),
        None => (arguments.cost_rule() != CostRule::Entry).then_some("--cost-rule"),
    };
    if let (None, Some(flag)) = (&raster, flag) {
        return Err(Failure::input(format!(
            "{flag}: the map must be a raster (.npy, .tif, .asc, .vrt, or raw with .hdr)"
        )));
    }
    let is_cost_distance = is_weighted || arguments.allocation.is_some();
    let zero_is_free = arguments.zero_friction == ZeroFriction::Free;
    if zero_is_free && !is_float {
        return Err(Failure::input(
            "--zero-friction free: only with distances in map units, of a raster (--units map)",
        ));
    }
    let limit = arguments.engine.memory_limit().filter(|&limit| {
        let Some([width, height]) = raster_size(&arguments.map_files()) else { return false };
        let bytes_a_cell = if is_cost_distance { BYTES_A_CELL_OF_COST_DISTANCE } else { BYTES_A_CELL };
        width.saturating_mul(height).saturating_mul(bytes_a_cell) > limit
    });
    let flag_of =
        |flags: &[(&'static str, bool)]| flags.iter().find(|(_, is_given)| *is_given).map(|&(flag, _)| flag);
    let other_flag = flag_of(&[
        ("--edits", arguments.edits.is_some()),
        ("--clearance", arguments.clearance.is_some()),
        ("--scenarios", arguments.scenarios.is_some()),
    ]);
    if limit.is_none() {
        return match other_flag {
            _ if !is_cost_distance => Ok(Method::Field),
            None => Ok(Method::CostDistance),
            Some(flag) => Err(Failure::input(format!(
                "{flag}: not with friction in floats or in map units, another --cost-rule than entry, or --allocation"
            ))),
        };
    }
    if zero_is_free {
        return Err(Failure::input(
            "--zero-friction free: --memory-limit is too small for the map in one piece",
        ));
    }
    let engine = engine()?;
    let flag = other_flag.or(flag_of(&[
        ("--next", arguments.next.is_some()),
        ("--png", arguments.png.is_some()),
        ("--trace", !arguments.traces.is_empty()),
        ("--trace-at", !arguments.traces_at.is_empty()),
        ("--allocation", arguments.allocation.is_some()),
    ]));
    let out = arguments.out.as_deref().filter(|out| !is_dash(out));
    if engine.backend() == Backend::Gpu && (flag.is_some() || out.is_none()) {
        // One piece may fit into the device's memory all the same. Where it doesn't, the device says so.
        return Ok(Method::Field);
    }
    if let Some(flag) = flag {
        return Err(Failure::input(format!(
            "{flag}: --memory-limit is too small for the map in one piece, and in tiles only --out is written"
        )));
    }
    let Some(out) = out else {
        return Err(Failure::input(
            "--memory-limit is too small for the map in one piece: name a file by --out, or a folder by --tiles, and it is solved in tiles",
        ));
    };
    let mut folder = out.to_owned().into_os_string();
    folder.push(".tiles");
    Ok(Method::Tiles(folder.into(), engine))
}

/// A solved map.
struct Answer {
    report: RasterReport,
    number: DistanceType,
    unit: Unit,
    units: Units,
    size: [u32; 2],
    /// The largest relative error of distances over friction in floats.
    error_bound: Option<f64>,
    stages: [(&'static str, f64); 2],
}

/// Solves a map in tiles, and writes its distances.
pub(super) fn run(
    arguments: &Arguments,
    folder: PathBuf,
    engine: &Engine,
    goals: &[Cell],
    started: Instant,
    report_stream: ReportStream,
) -> Result<()> {
    if arguments.out.as_deref().is_some_and(is_dash) {
        return Err(Failure::input(
            "--out -: tiles are written to a file in no order that a pipe could take",
        ));
    }
    let answer = solve(arguments, engine, goals, folder)?;
    print(arguments, engine, &answer, goals.len(), started, report_stream)
}

/// Solves a map in tiles of a folder, writes its distances, and removes the tiles.
fn solve(arguments: &Arguments, engine: &Engine, goals: &[Cell], folder: PathBuf) -> Result<Answer> {
    let limit = arguments.engine.memory_limit();
    let cache_bytes = limit.map_or(CACHE_BYTES, |limit| limit / CACHE_SHARE);
    let raster = MapRaster::open(&arguments.map_files(), cache_bytes)?;
    let connectivity = arguments.connectivity(1)?;
    let units = arguments.units(raster.is_float());
    if raster.is_float() && !units.is_of_map() {
        let name = units.name();
        return Err(Failure::input(format!(
            "--units {name}: with friction in floats distances are in map units"
        )));
    }
    let mut bar = StageBar::new();
    bar.at("reading friction", 0, 1);
    raster.count_zeros()?;
    let max_distance = arguments.max_distance;
    let friction = raster.is_float().then(|| FrictionOptions {
        cell_size: raster.cell_size(),
        geographic: raster.geographic(),
        max_distance,
    });
    let unit = if friction.is_some() {
        Unit::Map(1.0)
    } else {
        warn_of_cells(raster.georeference());
        // The mean of two costs counts halves.
        Unit::Cells(connectivity.unit() * if arguments.cost_rule() == CostRule::Mean { 2 } else { 1 })
    };
    let options = RasterOptions {
        connectivity,
        cost_rule: arguments.cost_rule(),
        memory_limit: if raster.is_packed() { limit.map(|limit| limit - cache_bytes) } else { limit },
        // Whole steps up to it are those up to the next whole number below.
        max_distance: max_distance.filter(|_| friction.is_none()).map(|distance| distance as u64),
        friction,
        ..RasterOptions::default()
    };
    let store = TileFiles::open(folder)?;
    let solve_start = Instant::now();
    let field = solve_raster_on(engine, &raster, goals, &store, &options, |progress| {
        bar.at("solving tiles", progress.solved_count as u64, progress.tile_count as u64);
        ControlFlow::Continue(())
    })?;
    let solve_ms = milliseconds(solve_start);
    let write_start = Instant::now();
    let report = field.report().clone();
    let number = DistanceType::new(units, report.farthest);
    if let Some(out) = &arguments.out {
        let file = DistanceFile {
            path: out,
            size: raster.size(),
            number,
            unit,
            packing: arguments.compression,
            georeference: raster.georeference(),
        };
        write(&field, &file, &mut bar)?;
    }
    drop(bar);
    raster.warn_of_zeros();
    let of_globe = raster.geographic().map_or(0.0, |_| GEODESIC_ERROR);
    let error_bound = report.friction.map(|friction: FrictionReport| {
        warn_of_large(friction.farthest);
        friction.error_bound + of_globe
    });
    let stages = [("solve", solve_ms), ("write", milliseconds(write_start))];
    store.remove()?;
    Ok(Answer { report, number, unit, units, size: raster.size(), error_bound, stages })
}

/// Writes the distances of a field.
fn write(field: &RasterField<'_, TileFiles>, file: &DistanceFile<'_>, bar: &mut StageBar) -> Result<()> {
    let &RasterReport { tile_edge, tile_count, ref friction, .. } = field.report();
    let mut count = 0;
    let mut tell = || {
        bar.at("writing distances", count, tile_count as u64);
        count += 1;
    };
    if friction.is_none() {
        return file.write(tile_edge, field.windows(), |window, distances| {
            tell();
            distances.resize(window.cell_count(), RASTER_UNREACHABLE);
            Ok(field.read(window, distances)?)
        });
    }
    let mut wide = Vec::new();
    file.write(tile_edge, field.windows(), |window, distances: &mut Vec<f32>| {
        tell();
        wide.resize(window.cell_count(), f64::INFINITY);
        field.read_map_distances(window, &mut wide)?;
        distances.clear();
        distances.extend(wide.iter().map(|&distance| distance as f32));
        Ok(())
    })
}

/// Prints the report.
fn print(
    arguments: &Arguments,
    engine: &Engine,
    answer: &Answer,
    goal_count: usize,
    started: Instant,
    report_stream: ReportStream,
) -> Result<()> {
    let &Answer { ref report, number, unit, units, size: [width, height], error_bound, stages } = answer;
    warn_of_goals(&report.goals, goal_count);
    let farthest = match (units, &report.friction) {
        (_, Some(friction)) => json!(friction.farthest),
        (Units::Steps, _) => json!(report.farthest),
        _ => json!(unit.of(report.farthest)),
    };
    if arguments.json {
        let list = |cells: &[Cell]| cells.iter().map(|cell| [cell.x, cell.y]).collect::<Vec<_>>();
        let counts = [
            ("cells", u64::from(width) * u64::from(height)),
            ("goals", report.goals.used_count as u64),
            ("reached", report.reached_count),
            ("tiles", report.tile_count as u64),
            ("visits", report.visit_count as u64),
            ("resumed", report.resumed_count as u64),
        ];
        let mut value = common_json(Some(engine), started, stages, counts);
        let step = match unit {
            Unit::Cells(count) => json!(count),
            Unit::Map(_) => json!(null),
        };
        let more = json!({
            "map": { "size": [width, height, 1] },
            "step": step,
            "units": units.name(),
            "goals": { "blocked": list(&report.goals.blocked), "outside": list(&report.goals.outside) },
            "farthest": farthest,
            "type": number.descr(),
            "tile_edge": report.tile_edge,
            "cost_rule": arguments.cost_rule.name(),
            "error_bound": error_bound,
        });
        extend(&mut value, more);
        return print_json(&value);
    }
    let mut table =
        Table::new(&["map", "goals", "reached", "farthest", "tiles", "of cells", "solved", "resumed"]);
    table.row(vec![
        format!("{width} x {height}"),
        report.goals.used_count.to_string(),
        report.reached_count.to_string(),
        match units {
            Units::Cells => format!("{:.5} cells", unit.of(report.farthest)),
            Units::Steps | Units::Map | Units::Metres => farthest.to_string(),
        },
        report.tile_count.to_string(),
        format!("{0} x {0}", report.tile_edge),
        report.visit_count.to_string(),
        report.resumed_count.to_string(),
    ]);
    report_stream.write(|writer| {
        table.write(&mut *writer)?;
        match error_bound {
            Some(bound) => writeln!(
                writer,
                "distances in {} times friction, off by at most {bound:.1e} of themselves and the rounding to f32",
                units.word()
            ),
            None => Ok(()),
        }
    })
}
