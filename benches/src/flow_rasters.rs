//! Fields over rasters solved in tiles from files, against the same fields in one piece. Every distance is compared.

use std::ops::ControlFlow;
use std::path::PathBuf;

use hullfield::Engine;
use hullfield::flow::{
    Cell as At, Connectivity, Corners, FieldOptions, Flow, MemoryRaster, RASTER_UNREACHABLE, RasterOptions,
    RasterReport, TileFiles, UNREACHABLE, solve_raster,
};

use crate::error::message;
use crate::flow_scenes::{Scene, noise};
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, time};

/// Bytes a cell of a field in one piece: the grid's obstacles and costs, distances, codes, and what the search takes.
const BYTES_A_CELL: usize = 16;
/// The memory of a field in one piece over the memory limit.
const SHARE: usize = 4;

/// Costs that differ by the place like those of hills: 1 to 60.
fn hills(side: usize) -> Vec<u32> {
    let wave = |at: usize, length: f64| (at as f64 / length).sin();
    let height = |x: usize, y: usize| {
        wave(x, 37.0) * wave(y, 53.0) + wave(x + 2 * y, 211.0) + 2.0 * wave(3 * x + y, 907.0)
    };
    let cost = |x: usize, y: usize| (1.0 + (height(x, y) + 4.0) * 59.0 / 8.0) as u32;
    (0..side * side).map(|at| cost(at % side, at / side)).collect()
}

/// A folder that is removed with all that is in it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // It lies below the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Adds the table of rasters.
///
/// # Errors
/// A field that cannot be solved, or a folder that cannot be written.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_rasters",
        "Rasters solved in tiles, in files, within a quarter of the memory of one piece; the CPU engine",
        &[
            "raster",
            "threads",
            "tiles",
            "visits",
            "one piece ms",
            "in tiles ms",
            "ratio",
            "ns a cell in tiles",
        ],
    );
    let eight = Connectivity::Eight(Corners::BothFree);
    for (name, connectivity, has_costs, share) in [
        ("hills, diagonals, 20 %", eight, true, 0.2),
        ("hills, diagonals, open", eight, true, 0.0),
        ("diagonals, 20 %", eight, false, 0.2),
        ("hills, 20 %", Connectivity::Four, true, 0.2),
        ("steps of 1, 20 %", Connectivity::Four, false, 0.2),
        ("steps of 1, thicket of 38 %", Connectivity::Four, false, 0.38),
    ] {
        let (side, repetitions) =
            if options.quick { (512, 1) } else { (8192, options.repetitions.unwrap_or(3)) };
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 6));
        scene.connectivity = connectivity;
        if has_costs {
            scene.costs = hills(side);
        }
        for thread_count in [1, 2] {
            row(&scene, thread_count, repetitions, &mut table, report)?;
        }
    }
    table.note("one piece: with codes of next cells, which tiles don't have; in tiles: with writing and reading the files of the tiles");
    report.table(table);
    Ok(())
}

fn row(
    scene: &Scene,
    thread_count: usize,
    repetitions: usize,
    table: &mut Table,
    report: &mut Report,
) -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(message)?;
    let [width, height, _] = scene.size.map(|length| length as u32);
    let cell_count = scene.blocked.len();
    let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
    let goals = [flow.grid().cell(scene.goal)];
    let cost = |at: usize| if scene.blocked[at] { 0 } else { scene.costs.get(at).map_or(1, |&cost| cost) };
    let raster = MemoryRaster::new([width, height], (0..cell_count).map(cost).collect()).map_err(message)?;
    let raster_options = RasterOptions {
        connectivity: scene.connectivity,
        memory_limit: Some((cell_count * BYTES_A_CELL / SHARE).max(1 << 20) as u64),
        ..RasterOptions::default()
    };
    let mut samples = [Samples::new(), Samples::new()];
    let mut last: Option<RasterReport> = None;
    // The first of each is not counted.
    for repetition in 0..=repetitions {
        let (whole_ms, field) =
            time(|| pool.install(|| flow.solve(&goals, &FieldOptions::default())?.wait()));
        let field = field.map_err(message)?;
        let folder =
            Folder(std::env::temp_dir().join(format!("hullfield-bench-tiles-{}", std::process::id())));
        let store = TileFiles::open(&folder.0).map_err(message)?;
        let go_on = |_| ControlFlow::Continue(());
        let (tiles_ms, tiled) =
            time(|| pool.install(|| solve_raster(&raster, &goals, &store, &raster_options, go_on)));
        let tiled = tiled.map_err(message)?;
        if repetition > 0 {
            samples[0].push(whole_ms);
            samples[1].push(tiles_ms);
        }
        if let Some(cell) = first_difference(&field, &tiled, width)? {
            report.fail(format!("{}: tiles differ at {cell}", scene.name));
        }
        last = Some(tiled.report().clone());
    }
    let Some(last) = last else { return Ok(()) };
    let [whole, tiles] = samples;
    table.row([
        scene.name.as_str().into(),
        thread_count.into(),
        format!("{} of {}²", last.tile_count, last.tile_edge).into(),
        last.visit_count.into(),
        Cell::Number(whole.median(), 0),
        Cell::Number(tiles.median(), 0),
        Cell::Number(tiles.ratio(&whole), 2),
        Cell::Number(tiles.median() * 1e6 / cell_count as f64, 1),
    ]);
    Ok(())
}

/// The first cell whose distances differ.
fn first_difference(
    field: &hullfield::flow::Field,
    tiled: &hullfield::flow::RasterField<'_, TileFiles>,
    width: u32,
) -> Result<Option<At>, String> {
    let whole = field.distances().map_err(message)?.wait().map_err(message)?;
    let narrow = |distance: u64| if distance == RASTER_UNREACHABLE { UNREACHABLE } else { distance as u32 };
    for window in tiled.windows() {
        let distances = tiled.distances(window).map_err(message)?;
        for (row, distances) in distances.chunks(window.width as usize).enumerate() {
            let y = window.y as usize + row;
            let start = y * width as usize + window.x as usize;
            let pairs = distances.iter().zip(&whole[start..]);
            if let Some(x) = pairs.into_iter().position(|(&found, &wanted)| narrow(found) != wanted) {
                return Ok(Some(At::from([window.x as i32 + x as i32, y as i32])));
            }
        }
    }
    Ok(None)
}
