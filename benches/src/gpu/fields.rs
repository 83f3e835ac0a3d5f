//! Fields from small to huge, batches of small fields, and agents in growing numbers.

use hullfield::flow::{Connectivity, Corners};

use crate::error::Trouble;
use crate::flow_device::{FieldTimes, measure_agents, measure_fields};
use crate::flow_scenes::{Scene, noise};
use crate::gpu::kit::Kit;
use crate::report::{Cell, Table};

const EIGHT: Connectivity = Connectivity::Eight(Corners::BothFree);

/// Fields with so many cells or fewer are compared with the CPU engine's, cell by cell: of steps of 1, and of others, which take a CPU ten
/// times as long.
const COMPARED: [usize; 2] = [16_384 * 16_384, 4096 * 4096];

/// A 2D map, 20 % of it obstacles.
fn map(side: usize, connectivity: Connectivity) -> Scene {
    let mut scene = Scene::flat(&format!("{side}²"), side, side, noise(side * side, 0.2, 5));
    scene.connectivity = connectivity;
    scene
}

/// The cells of a row that follow its name.
fn cells(found: &FieldTimes, cell_count: usize) -> [Cell; 7] {
    let ms = found.kernels_ms().unwrap_or(found.whole.median());
    [
        (found.rounds as usize).into(),
        found.kernels_ms().map_or(Cell::Empty, |ms| Cell::Number(ms, 3)),
        Cell::Number(found.whole.median(), 3),
        Cell::Share(found.whole.spread(), 0),
        Cell::Number(cell_count as f64 / ms * 1e-3, 2),
        match found.is_equal {
            Some(true) => "equal".into(),
            Some(false) => "different".into(),
            None => "not compared".into(),
        },
        found.cpu_ms.map_or(Cell::Empty, |ms| Cell::Number(ms, 2)),
    ]
}

/// Single fields.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn fields(kit: &mut Kit) -> Result<(), Trouble> {
    let (sides, repetitions): (&[usize], usize) =
        if kit.is_reduced { (&[64, 128, 256], 3) } else { (&[256, 512, 1024, 2048, 4096, 8192, 16_384], 7) };
    let mut table = Table::new(
        "fields",
        format!(
            "Fields, 20 % obstacles; distances, next cells and ways out stay on the device; medians of {repetitions}"
        ),
        &[
            "grid",
            "steps",
            "rounds",
            "kernels ms",
            "solve ms",
            "±",
            "Mcells a second",
            "as cpu engine",
            "cpu engine ms",
        ],
    );
    for &side in sides {
        for (steps, connectivity) in [("1", Connectivity::Four), ("octile", EIGHT)] {
            let what = format!("{side}², steps {steps}");
            let is_unit = connectivity == Connectivity::Four;
            let is_compared = side * side <= COMPARED[usize::from(!is_unit)];
            let found = kit.job(steps, &what, (side * side) as f64, |engine| {
                measure_fields(engine, &map(side, connectivity), 1, repetitions, is_compared)
            });
            let Some(found) = found else { continue };
            table.row(
                [Cell::from(format!("{side}²")), steps.into()].into_iter().chain(cells(&found, side * side)),
            );
            if found.is_equal == Some(false) {
                kit.fail(format!("{what}: another field than the CPU engine's"));
            }
            if !is_compared {
                kit.skip(&format!("{what}: comparing it"), "the CPU engine would take too long");
            }
        }
    }
    table.note("solve: from the call to the field on the device; Mcells a second: by the kernels, or by the solve without timestamps; cpu engine ms: one solve, all threads.");
    kit.table(table);
    Ok(())
}

/// Batches of small fields over one grid.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn batches(kit: &mut Kit) -> Result<(), Trouble> {
    let (jobs, repetitions): (&[(usize, usize)], usize) = if kit.is_reduced {
        (&[(64, 4), (64, 16), (96, 16)], 3)
    } else {
        (&[(64, 256), (128, 256), (256, 64), (256, 256), (256, 1024), (512, 64), (512, 256)], 7)
    };
    let mut table = Table::new(
        "batches",
        format!(
            "Batches of fields over one grid, 20 % obstacles, a random goal each; medians of {repetitions}"
        ),
        &[
            "grid",
            "fields",
            "steps",
            "rounds",
            "kernels ms",
            "solve ms",
            "±",
            "Mcells a second",
            "as cpu engine",
            "cpu engine ms",
        ],
    );
    for &(side, field_count) in jobs {
        for (steps, connectivity) in [("1", Connectivity::Four), ("octile", EIGHT)] {
            let what = format!("{field_count} fields of {side}², steps {steps}");
            let cell_count = side * side * field_count;
            let found = kit.job(steps, &what, cell_count as f64, |engine| {
                measure_fields(engine, &map(side, connectivity), field_count, repetitions, true)
            });
            let Some(found) = found else { continue };
            let names = [format!("{side}²").into(), field_count.into(), steps.into()];
            table.row(names.into_iter().chain(cells(&found, cell_count)));
            if found.is_equal == Some(false) {
                kit.fail(format!("{what}: other fields than the CPU engine's"));
            }
        }
    }
    kit.table(table);
    Ok(())
}

/// Agents in growing numbers on one field.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn agents(kit: &mut Kit) -> Result<(), Trouble> {
    let (side, counts, repetitions): (usize, &[usize], [u32; 2]) = if kit.is_reduced {
        (128, &[1_000, 10_000], [4, 3])
    } else {
        (1024, &[10_000, 100_000, 1_000_000, 10_000_000], [32, 9])
    };
    let mut table = Table::new(
        "agents",
        "Agents on the device: one step of all of them, and whole paths of a tenth of them, copied to the host",
        &["grid", "agents", "step device ms", "step ms", "M agents a second", "paths ms"],
    );
    for &count in counts {
        let what = format!("{count} agents");
        let found =
            kit.job("agents", &what, count as f64, |engine| measure_agents(engine, side, count, repetitions));
        let Some(found) = found else { continue };
        let device = Some(found.step_device.median()).filter(|ms| !ms.is_nan());
        let step = found.step.median();
        table.row([
            found.grid.as_str().into(),
            count.into(),
            device.map_or(Cell::Empty, |ms| Cell::Number(ms, 4)),
            Cell::Number(step, 4),
            Cell::Number(count as f64 / device.unwrap_or(step) / 1e3, 1),
            Cell::Number(found.paths.median(), 2),
        ]);
        if let Some(difference) = found.difference {
            kit.fail(format!("{what}: {difference}"));
        }
    }
    table.note(
        "device: by its clock, a step in a row of steps; step ms: with its share of encoding and waiting.",
    );
    kit.table(table);
    Ok(())
}
