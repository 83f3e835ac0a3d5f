//! `flow` over a map that need not fit into memory: solved in tiles from disk.

use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hullfield::flow::{
    Cell, RASTER_UNREACHABLE, Raster, RasterField, RasterOptions, TileFiles, TileStore, UNREACHABLE,
    solve_raster,
};
use hullfield::{Backend, Engine};
use serde_json::json;

use super::arguments::{Arguments, Units};
use super::solved::warn_of_goals;
use crate::command::{common_json, extend, milliseconds, print_json};
use crate::failure::{Failure, Result};
use crate::output::{Output, ReportStream};
use crate::progress::StageBar;
use crate::read::{MapRaster, flat_size, is_dash, npy_header};
use crate::table::Table;

/// Bytes a cell of a map solved in one piece: the file, obstacles, costs, distances, moves and codes.
const BYTES_A_CELL: u64 = 16;

/// The folder of the tiles, where the map is to be solved in tiles: that of `--tiles`, or one beside the output where the CPU engine
/// would need more memory than `--memory-limit` allows.
pub(super) fn folder(arguments: &Arguments) -> Result<Option<PathBuf>> {
    if let Some(folder) = &arguments.tiles {
        return Ok(Some(folder.clone()));
    }
    let Some(limit) = arguments.engine.memory_limit() else { return Ok(None) };
    let Some([width, height]) = flat_size(&arguments.map) else { return Ok(None) };
    if width.saturating_mul(height).saturating_mul(BYTES_A_CELL) <= limit
        || arguments.engine.open()?.backend() != Backend::Cpu
    {
        return Ok(None);
    }
    let flags = [
        ("--next", arguments.next.is_some()),
        ("--png", arguments.png.is_some()),
        ("--trace", !arguments.traces.is_empty()),
        ("--edits", arguments.edits.is_some()),
        ("--clearance", arguments.clearance.is_some()),
        ("--scenarios", arguments.scenarios.is_some()),
    ];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::input(format!(
            "{flag}: --memory-limit is too small for the map in one piece, and in tiles only --out is written"
        )));
    }
    match &arguments.out {
        Some(out) if !is_dash(out) => {
            let mut folder = out.clone().into_os_string();
            folder.push(".tiles");
            Ok(Some(folder.into()))
        }
        _ => Err(Failure::input(
            "--memory-limit is too small for the map in one piece: name a file by --out, or a folder by --tiles, and it is solved in tiles",
        )),
    }
}

/// Solves a map in tiles, and writes its distances.
pub(super) fn run(
    arguments: &Arguments,
    folder: &Path,
    goals: &[Cell],
    started: Instant,
    report_stream: ReportStream,
) -> Result<()> {
    if arguments.out.as_deref().is_some_and(is_dash) {
        return Err(Failure::input(
            "--out -: tiles are written to a file in no order that a pipe could take",
        ));
    }
    let raster = MapRaster::open(&arguments.map, arguments.cost.as_deref())?;
    let options = RasterOptions {
        connectivity: arguments.connectivity(1)?,
        memory_limit: arguments.engine.memory_limit(),
        max_distance: arguments.max_distance.map(u64::from),
        ..RasterOptions::default()
    };
    let store = TileFiles::open(folder)?;
    let mut bar = StageBar::new();
    let solve_start = Instant::now();
    let field = solve_raster(&raster, goals, &store, &options, |progress| {
        bar.at("solving tiles", progress.solved_count as u64, progress.tile_count as u64);
        ControlFlow::Continue(())
    })?;
    let solve_ms = milliseconds(solve_start);
    let write_start = Instant::now();
    let unit = options.connectivity.unit();
    let descr = match arguments.units {
        Units::Cells => "<f4",
        Units::Steps if field.report().farthest < u64::from(UNREACHABLE) => "<u4",
        Units::Steps => "<u8",
    };
    if let Some(out) = &arguments.out {
        write_distances(out, &field, raster.size(), descr, unit, &mut bar)?;
    }
    drop(bar);
    let report = field.report().clone();
    warn_of_goals(&report.goals, goals.len());
    let stages = [("solve", solve_ms), ("write", milliseconds(write_start))];
    let [width, height] = raster.size();
    store.remove()?;
    let in_units = |steps: u64| match arguments.units {
        Units::Steps => json!(steps),
        Units::Cells => json!(steps as f64 / f64::from(unit)),
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
        let mut value = common_json(Some(&Engine::cpu()), started, stages, counts);
        let more = json!({
            "map": { "size": [width, height, 1] },
            "step": unit,
            "units": arguments.units.name(),
            "goals": { "blocked": list(&report.goals.blocked), "outside": list(&report.goals.outside) },
            "farthest": in_units(report.farthest),
            "type": descr,
            "tile_edge": report.tile_edge,
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
        match arguments.units {
            Units::Steps => report.farthest.to_string(),
            Units::Cells => format!("{:.5} cells", report.farthest as f64 / f64::from(unit)),
        },
        report.tile_count.to_string(),
        format!("{0} x {0}", report.tile_edge),
        report.visit_count.to_string(),
        report.resumed_count.to_string(),
    ]);
    report_stream.write(|writer| table.write(writer))
}

/// Writes the distances, tile by tile, each row of a tile at its place in the file.
fn write_distances(
    out: &Path,
    field: &RasterField<'_, impl TileStore>,
    [width, height]: [u32; 2],
    descr: &str,
    unit: u32,
    bar: &mut StageBar,
) -> Result<()> {
    let header = npy_header(descr, &[height as usize, width as usize]);
    let bytes_each = if descr == "<u8" { 8 } else { 4 };
    let mut output = Output::create(out)?;
    let windows: Vec<_> = field.windows().collect();
    output.write_all(&header).map_err(|error| output.failed(&error))?;
    for (done, &window) in windows.iter().enumerate() {
        bar.at("writing distances", done as u64, windows.len() as u64);
        let distances = field.distances(window)?;
        for (row, distances) in distances.chunks(window.width as usize).enumerate() {
            let first = (u64::from(window.y) + row as u64) * u64::from(width) + u64::from(window.x);
            let bytes: Vec<u8> = match descr {
                "<f4" => distances.iter().flat_map(|&steps| in_cells(steps, unit).to_le_bytes()).collect(),
                // What is unreachable in 64 bits is so in 32 too.
                "<u4" => distances.iter().flat_map(|&steps| (steps as u32).to_le_bytes()).collect(),
                _ => distances.iter().flat_map(|steps| steps.to_le_bytes()).collect(),
            };
            let to = SeekFrom::Start(header.len() as u64 + first * bytes_each);
            let written = output.seek(to).and_then(|_| output.write_all(&bytes));
            written.map_err(|error| output.failed(&error))?;
        }
    }
    output.finish()
}

fn in_cells(steps: u64, unit: u32) -> f32 {
    if steps == RASTER_UNREACHABLE { f32::INFINITY } else { (steps as f64 / f64::from(unit)) as f32 }
}
