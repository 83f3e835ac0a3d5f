//! Flow fields on the GPU: what its kernels take by the device's own clock, and the whole solve from goals to a field that stays on
//! the device. Every cell is compared with the CPU engine's before a time is printed.
//!
//! A rasteriser on the CPU is called `software gpu` and gets small grids only: its times say nothing of a GPU's.

use hullfield::{Cell as At, Connectivity, Corners, Engine, Field, FieldOptions, Flow};
use hullfield_oracle::random::Random;

use crate::Options;
use crate::collide::{Named, engines};
use crate::flow_scenes::{Scene, noise};
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, time};

/// A job of the table: a scene, how many fields at once, and the milliseconds that are aimed at on an H200-class GPU.
struct Job {
    scene: Scene,
    field_count: usize,
    aim_ms: Option<f64>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn jobs(is_small: bool) -> Vec<Job> {
    let flat = |name: &str, side: usize, share: f64, connectivity, field_count: usize, aim_ms| {
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 5));
        scene.connectivity = connectivity;
        Job { scene, field_count, aim_ms }
    };
    let eight = Connectivity::Eight(Corners::BothFree);
    let four = Connectivity::Four;
    if is_small {
        return vec![
            flat("20 %", 512, 0.2, four, 1, None),
            flat("20 %, octile", 192, 0.2, eight, 1, None),
            flat("20 %", 96, 0.2, four, 16, None),
        ];
    }
    // Gcells/s that are aimed at, as milliseconds.
    let aim = |side: usize, field_count: usize, gcells: f64| {
        Some((side * side * field_count) as f64 / gcells * 1e-6)
    };
    vec![
        flat("open", 4096, 0.0, four, 1, Some(2.0)),
        flat("20 %", 4096, 0.2, four, 1, Some(2.0)),
        flat("20 %", 1024, 0.2, four, 1, None),
        flat("20 %, octile", 1024, 0.2, eight, 1, Some(2.0)),
        flat("20 %", 512, 0.2, four, 256, aim(512, 256, 20.0)),
        flat("20 %", 256, 0.2, four, 1024, aim(256, 1024, 80.0)),
    ]
}

/// Adds the table of the device.
///
/// # Errors
/// A field that can't be solved.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let Some(Named { name, engine }) = engines(report).into_iter().find(|named| named.name != "cpu") else {
        return Ok(());
    };
    let mut table = Table::new(
        "flow_device",
        "Fields on the GPU: distances, next cells and exits, which stay there",
        &["engine", "grid", "fields", "rounds", "kernels ms", "solve ms", "Gcells/s", "aim ms"],
    );
    let is_small = options.quick || name == "software gpu";
    for job in jobs(is_small) {
        row(&mut table, report, name, &engine, &job, is_small)?;
    }
    table.note(
        "kernels: by the device's clock, from the first kernel to the last; Gcells/s by it, or by the solve where there is none; aim: \
         what is aimed at on an H200-class GPU",
    );
    report.table(table);
    Ok(())
}

fn row(
    table: &mut Table,
    report: &mut Report,
    name: &str,
    engine: &Engine,
    job: &Job,
    is_small: bool,
) -> Result<(), String> {
    let Job { scene, field_count, aim_ms } = job;
    let grid = scene.grid()?;
    let flow = Flow::new(engine, grid.clone()).map_err(text)?;
    let free: Vec<usize> = (0..scene.blocked.len()).filter(|&at| !scene.blocked[at]).collect();
    let random = &mut Random::new(8);
    let goals: Vec<[At; 1]> = match *field_count {
        1 => vec![[grid.cell(scene.goal)]],
        count => (0..count).map(|_| [grid.cell(free[random.below(free.len())])]).collect(),
    };
    let lists: Vec<&[At]> = goals.iter().map(|goals| &goals[..]).collect();
    let solve = || flow.solve_batch(&lists, &FieldOptions::default())?.wait();
    // The first one builds the pipelines and tells how many rounds there are.
    let fields = solve().map_err(text)?;
    let on_cpu = Flow::new(&Engine::cpu(), grid).map_err(text)?;
    let known = on_cpu.solve_batch(&lists, &FieldOptions::default()).map_err(text)?.wait().map_err(text)?;
    for (field, known) in fields.iter().zip(&known) {
        if !is_equal(field, known)? {
            report.fail(format!("{}: {name} gives another field than the CPU engine", scene.name));
            return Ok(());
        }
    }
    drop((fields, known));
    let (mut kernels, mut whole) = (Samples::default(), Samples::default());
    let mut rounds = 0;
    for _ in 0..if is_small { 3 } else { 15 } {
        let (ms, fields) = time(solve);
        let fields = fields.map_err(text)?;
        whole.push(ms);
        if let Some(field) = fields.first() {
            rounds = field.summary().rounds;
            if let Some(ms) = field.kernels_ms() {
                kernels.push(ms);
            }
        }
    }
    let is_timed = !kernels.median().is_nan();
    let ms = if is_timed { kernels.median() } else { whole.median() };
    let cells = scene.blocked.len() * field_count;
    table.row([
        name.into(),
        scene.name.as_str().into(),
        (*field_count).into(),
        (rounds as usize).into(),
        if is_timed { Cell::Number(kernels.median(), 3) } else { Cell::Empty },
        Cell::Number(whole.median(), 3),
        Cell::Number(cells as f64 / ms * 1e-6, 3),
        aim_ms.map_or(Cell::Empty, |ms| Cell::Number(ms, 2)),
    ]);
    Ok(())
}

/// Whether two fields agree in every cell.
fn is_equal(field: &Field, known: &Field) -> Result<bool, String> {
    let Some((distances, next)) = known.host() else { return Ok(false) };
    let ours = field.distances().map_err(text)?.wait().map_err(text)?;
    let codes = field.next_codes().map_err(text)?.wait().map_err(text)?;
    Ok(ours == distances && codes == next)
}
