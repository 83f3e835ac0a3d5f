//! Agents on the CPU engine: a million steps and directions at once, against plain loops over the next cells.

use std::hint::black_box;

use hullfield::Engine;
use hullfield::flow::{Cell as At, Connectivity, Corners, Field, FieldOptions, Flow, SteerOptions};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::flow_scenes::{Scene, noise};
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::interleave;

/// Steps in a plain loop over the cells and the next-cell codes.
pub(crate) fn plain_steps(field: &Field, offsets: &[[i32; 3]], cells: &[At]) -> Vec<At> {
    let [width, ..] = field.grid().size();
    let Some((_, next)) = field.host() else { return Vec::new() };
    cells
        .iter()
        .map(|cell| {
            let code = next[cell.y as usize * width as usize + cell.x as usize];
            match offsets.get(usize::from(code)) {
                Some(&[x, y, _]) => At { x: cell.x + x, y: cell.y + y, z: 0 },
                None => *cell,
            }
        })
        .collect()
}

/// Unit vectors to the centres of the next cells. They are not smooth, and they cut corners.
fn plain_directions(field: &Field, offsets: &[[i32; 3]], positions: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let [width, ..] = field.grid().size();
    let Some((_, next)) = field.host() else { return Vec::new() };
    positions
        .iter()
        .map(|&[x, y, _]| {
            let code = next[y as usize * width as usize + x as usize];
            let Some(&[dx, dy, _]) = offsets.get(usize::from(code)) else { return [0.0; 3] };
            let to = [x.floor() + 0.5 + f64::from(dx) - x, y.floor() + 0.5 + f64::from(dy) - y];
            let length = (to[0] * to[0] + to[1] * to[1]).sqrt();
            [to[0] / length, to[1] / length, 0.0]
        })
        .collect()
}

/// Adds the table of agents.
///
/// # Errors
/// An error of the library.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_agents",
        "Agents on the CPU engine, ms for all of them: a step, against a plain loop that does the same; smooth directions, \
         against a plain loop that points at the next cell",
        &["grid", "agents", "threads", "step", "plain", "ratio", "directions", "plain", "ratio"],
    );
    let (side, count): (usize, usize) = if options.quick { (256, 10_000) } else { (2048, 1_000_000) };
    let thread_counts = [1, options.threads.unwrap_or_else(rayon::current_num_threads)];
    for (name, connectivity) in
        [("20 %", Connectivity::Four), ("20 %, diagonals", Connectivity::Eight(Corners::BothFree))]
    {
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, 0.2, 12));
        scene.connectivity = connectivity;
        let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
        let goals = [flow.grid().cell(scene.goal)];
        let field = flow.solve(&goals, &FieldOptions::default()).map_err(message)?.wait().map_err(message)?;
        let random = &mut Random::new(13);
        let cells: Vec<At> = (0..count).map(|_| flow.grid().cell(random.below(side * side))).collect();
        let mut inside = |part: i32| f64::from(part) + random.between(0.01, 0.99);
        let positions: Vec<[f64; 3]> =
            cells.iter().map(|cell| [inside(cell.x), inside(cell.y), 0.0]).collect();
        let offsets = connectivity.offsets();
        let step = || field.next_cells(&cells).map_err(message)?.wait().map_err(message);
        let direct = || {
            field.directions(&positions, &SteerOptions::default()).map_err(message)?.wait().map_err(message)
        };
        if step()?.rows != plain_steps(&field, offsets, &cells) {
            report.fail(format!("{}: steps differ from the plain loop's", scene.name));
        }
        if direct()?.rows.iter().flatten().any(|part| !part.is_finite()) {
            report.fail(format!("{}: a direction is no number", scene.name));
        }
        for (row, &thread_count) in thread_counts.iter().enumerate() {
            if row > 0 && thread_count == thread_counts[0] {
                continue;
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(message)?;
            let repetitions = if options.quick { 1 } else { 11 };
            let steps = interleave(
                repetitions,
                || pool.install(step).map(|cells| drop(black_box(cells))),
                || {
                    drop(black_box(plain_steps(&field, offsets, &cells)));
                    Ok(())
                },
            )?;
            let directions = interleave(
                repetitions,
                || pool.install(direct).map(|directions| drop(black_box(directions))),
                || {
                    drop(black_box(plain_directions(&field, offsets, &positions)));
                    Ok(())
                },
            )?;
            let mut cells: Vec<Cell> = vec![scene.name.as_str().into(), count.into(), thread_count.into()];
            for [ours, plain] in [&steps, &directions] {
                cells.extend([
                    Cell::Number(ours.median(), 2),
                    Cell::Number(plain.median(), 2),
                    Cell::Number(plain.ratio(ours), 2),
                ]);
            }
            table.row(cells);
        }
    }
    table.note("plain loops run on one thread; ratio: how many times as long as ours they take");
    report.table(table);
    Ok(())
}
