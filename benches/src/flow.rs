//! Flow fields of the CPU engine: against a plain queue that makes the same next cells, and against the crate `pathfinding`;
//! other steps and costs; two threads; edits; batches; and those of the GPU (`flow_device`). Each cell is compared before a time is printed.

use std::hint::black_box;

use hullfield::{Cell as At, Connectivity, Corners, Edit, Engine, Field, FieldOptions, Flow, Grid};
use hullfield_oracle::random::Random;

use crate::Options;
use crate::flow_device;
use crate::flow_scenes::{Scene, flat_scenes, noise, stepped_scenes};
use crate::plain;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave, time};

/// Cells past which `pathfinding`, which hashes each of them, is left out.
const PEER_COUNT: usize = 1 << 20;

/// Adds the tables of flow fields.
///
/// # Errors
/// A file that can't be read, a field that can't be solved.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    if options.wants("plain") {
        against_plain(options, report)?;
    }
    if options.wants("steps") {
        steps(options, report)?;
    }
    if options.wants("threads") {
        threads(options, report)?;
    }
    if options.wants("edits") {
        edits(options, report)?;
    }
    if options.wants("batch") {
        batch(options, report)?;
    }
    if options.wants("device") {
        flow_device::run(options, report)?;
    }
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A pool of that many threads.
fn pool(thread_count: usize) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(text)
}

fn solve(pool: &rayon::ThreadPool, flow: &Flow, goals: &[At]) -> Result<Field, String> {
    pool.install(|| flow.solve(goals, &FieldOptions::default())?.wait()).map_err(text)
}

/// The first cell in which two fields differ.
fn difference(one: &Field, other: &Field) -> Option<usize> {
    let ((distances, next), (others, other_next)) = (one.host()?, other.host()?);
    (0..distances.len()).find(|&at| distances[at] != others[at] || next[at] != other_next[at])
}

/// Milliseconds that `pathfinding` takes for all distances, and the first cell that is not as ours.
fn pathfinding(scene: &Scene, grid: &Grid, distances: &[u32]) -> (f64, Option<usize>) {
    let codes = 0..scene.connectivity.neighbour_count() as u8;
    // Moves back from a cell: a move and its opposite pass the same corners, and what is entered costs.
    let before = |&at: &u32| {
        let cell = grid.cell(at as usize);
        let cost = grid.cost(cell);
        let near = codes.clone().filter_map(move |code| Some((grid.neighbour(cell, code)?, code)));
        near.filter_map(move |(near, code)| {
            Some((grid.index(near)? as u32, scene.connectivity.step(code) * cost))
        })
    };
    // Where it has a quicker way to a cell's neighbours it is given that.
    let [width, height, _] = scene.size.map(|length| length as u32);
    let beside = |&at: &u32| {
        let (x, y) = (at % width, at / width);
        let near = [
            (y > 0).then(|| at - width),
            (x + 1 < width).then(|| at + 1),
            (y + 1 < height).then(|| at + width),
            (x > 0).then(|| at - 1),
        ];
        near.into_iter().flatten().filter(|&near| !scene.blocked[near as usize]).map(|near| (near, 1))
    };
    let goal = scene.goal as u32;
    let is_plain = scene.connectivity == Connectivity::Four && scene.costs.is_empty();
    let (ms, reached) = time(|| {
        if is_plain {
            pathfinding::prelude::dijkstra_all(&goal, beside)
        } else {
            pathfinding::prelude::dijkstra_all(&goal, before)
        }
    });
    let wrong = distances.iter().enumerate().find(|&(at, &distance)| {
        let known = if at == scene.goal { Some(0) } else { reached.get(&(at as u32)).map(|&(_, sum)| sum) };
        known.unwrap_or(u32::MAX) != distance
    });
    (ms, wrong.map(|(at, _)| at))
}

fn against_plain(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_plain",
        "Distances and next cells, steps of 1, four neighbours, one thread: a plain queue that makes the same, and \
         pathfinding 4.16 (dijkstra_all, distances alone)",
        &["grid", "cells", "free", "ms", "Mcells/s", "plain ms", "ratio", "pathfinding ms", "ratio of it"],
    );
    let pool = pool(1)?;
    for scene in flat_scenes(options.quick)? {
        let grid = scene.grid()?;
        let flow = Flow::new(&Engine::cpu(), grid.clone()).map_err(text)?;
        let goals = [grid.cell(scene.goal)];
        let [width, height, _] = scene.size;
        let field = solve(&pool, &flow, &goals)?;
        let known = plain::field(width, height, &scene.blocked, &[scene.goal]);
        if field.host() != Some((&known.distances, &known.next)) {
            report.fail(format!("{}: the field is not that of a plain queue", scene.name));
            continue;
        }
        let count = scene.blocked.len();
        let repetitions = if options.quick {
            1
        } else if count > 1 << 22 {
            5
        } else {
            15
        };
        let [ours, plain] = interleave(
            repetitions,
            || solve(&pool, &flow, &goals).map(|field| drop(black_box(field))),
            || {
                drop(black_box(plain::field(width, height, &scene.blocked, &[scene.goal])));
                Ok(())
            },
        )?;
        let mut peer = [Cell::Empty, Cell::Empty];
        if count <= PEER_COUNT {
            let mut samples = Samples::default();
            for _ in 0..if options.quick { 1 } else { 3 } {
                let (ms, wrong) = pathfinding(&scene, &grid, &known.distances);
                if let Some(wrong) = wrong {
                    report.fail(format!("{}: pathfinding differs at {}", scene.name, grid.cell(wrong)));
                }
                samples.push(ms);
            }
            peer = [Cell::Number(samples.median(), 1), Cell::Number(samples.median() / ours.median(), 1)];
        }
        let row = [
            scene.name.as_str().into(),
            count.into(),
            (count - grid.obstacle_count()).into(),
            Cell::Number(ours.median(), 3),
            Cell::Number(count as f64 / ours.median() / 1e3, 0),
            Cell::Number(plain.median(), 3),
            Cell::Number(plain.ratio(&ours), 2),
        ];
        table.row(row.into_iter().chain(peer));
    }
    table.note(
        "ratio: how many times as long as ours the peer takes; of the plain queue the median side by side",
    );
    report.table(table);
    Ok(())
}

fn steps(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_steps",
        "Costs, diagonals and volumes, one thread: pathfinding 4.16 (dijkstra_all, distances alone)",
        &["grid", "cells", "ms", "Mcells/s", "pathfinding ms", "ratio"],
    );
    let pool = pool(1)?;
    for scene in stepped_scenes(options.quick) {
        let grid = scene.grid()?;
        let flow = Flow::new(&Engine::cpu(), grid.clone()).map_err(text)?;
        let goals = [grid.cell(scene.goal)];
        let field = solve(&pool, &flow, &goals)?;
        let Some((distances, _)) = field.host() else { continue };
        let (mut ours, mut peer) = (Samples::default(), Samples::default());
        for _ in 0..if options.quick { 1 } else { 5 } {
            ours.push(time(|| solve(&pool, &flow, &goals).map(black_box)).0);
            if scene.blocked.len() <= PEER_COUNT && (peer.median().is_nan() || peer.median() < 2e3) {
                let (ms, wrong) = pathfinding(&scene, &grid, distances);
                if let Some(wrong) = wrong {
                    report.fail(format!("{}: pathfinding differs at {}", scene.name, grid.cell(wrong)));
                }
                peer.push(ms);
            }
        }
        let count = scene.blocked.len();
        let is_timed = !peer.median().is_nan();
        table.row([
            scene.name.as_str().into(),
            count.into(),
            Cell::Number(ours.median(), 1),
            Cell::Number(count as f64 / ours.median() / 1e3, 1),
            if is_timed { Cell::Number(peer.median(), 0) } else { Cell::Empty },
            if is_timed { Cell::Number(peer.median() / ours.median(), 1) } else { Cell::Empty },
        ]);
    }
    report.table(table);
    Ok(())
}

fn threads(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_threads",
        "Two threads against one, steps of 1",
        &["grid", "one ms", "two ms", "times one thread"],
    );
    let (one, two) = (pool(1)?, pool(2)?);
    let side = if options.quick { 512 } else { 4096 };
    for (name, share) in [("open", 0.0), ("20 %", 0.2)] {
        let scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 5));
        let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(text)?;
        let goals = [flow.grid().cell(scene.goal)];
        let fields = [solve(&one, &flow, &goals)?, solve(&two, &flow, &goals)?];
        if difference(&fields[0], &fields[1]).is_some() {
            report.fail(format!("{}: two threads give another field than one", scene.name));
        }
        drop(fields);
        let [single, double] = interleave(
            if options.quick { 1 } else { 7 },
            || solve(&one, &flow, &goals).map(|field| drop(black_box(field))),
            || solve(&two, &flow, &goals).map(|field| drop(black_box(field))),
        )?;
        table.row([
            scene.name.as_str().into(),
            Cell::Number(single.median(), 1),
            Cell::Number(double.median(), 1),
            Cell::Number(single.ratio(&double), 2),
        ]);
    }
    report.table(table);
    Ok(())
}

fn edits(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_edits",
        "A field after an edit, one thread: solved again where it changes, or afresh",
        &["grid", "edit", "cells changed", "share", "ms", "afresh ms", "ratio"],
    );
    let pool = pool(1)?;
    let side = if options.quick { 512 } else { 4096 };
    let eight = Connectivity::Eight(Corners::BothFree);
    for (name, share, connectivity) in [
        ("open", 0.0, Connectivity::Four),
        ("20 %", 0.2, Connectivity::Four),
        ("20 %, diagonals", 0.2, eight),
    ] {
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 6));
        scene.connectivity = connectivity;
        let mut flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(text)?;
        let goals = [flow.grid().cell(scene.goal)];
        let mut field = solve(&pool, &flow, &goals)?;
        let wall = |part: usize, length: usize| {
            let cells = (0..length).map(move |at| [side * part / 100, side / 2 - length / 2 + at]);
            cells.map(|[x, y]| At::from([x as i32, y as i32])).collect::<Vec<_>>()
        };
        let parts = [(75, side / 80), (92, side / 16), (60, side / 2)];
        for (part, length) in parts {
            for is_shut in [true, false] {
                let kind = |cell| if is_shut { Edit::Block(cell) } else { Edit::Free(cell) };
                let edits: Vec<Edit> = wall(part, length).into_iter().map(kind).collect();
                flow.edit(&edits).map_err(text)?;
                let before = field.host().map(|(distances, _)| distances.to_vec()).unwrap_or_default();
                let (mut again, mut afresh) = (Samples::default(), Samples::default());
                let mut changed_count = 0;
                for _ in 0..if options.quick { 1 } else { 5 } {
                    let (ms, fresh) = time(|| solve(&pool, &flow, &goals));
                    afresh.push(ms);
                    let fresh = fresh?;
                    // Each time from a field of its own, so that it may be changed in place.
                    let own = own_copy(&pool, &field)?;
                    let (ms, updated) = time(|| pool.install(|| flow.update(own)?.wait()).map_err(text));
                    again.push(ms);
                    let updated = updated?;
                    if let Some(wrong) = difference(&fresh, &updated) {
                        report.fail(format!(
                            "{}: an edit differs at {}",
                            scene.name,
                            flow.grid().cell(wrong)
                        ));
                    }
                    let distances = fresh.host().map(|(distances, _)| distances).unwrap_or_default();
                    changed_count = distances.iter().zip(&before).filter(|(one, other)| one != other).count();
                }
                table.row([
                    scene.name.as_str().into(),
                    format!("{length} cells {}", if is_shut { "shut" } else { "opened" }).into(),
                    changed_count.into(),
                    Cell::Share(changed_count as f64 / (side * side) as f64, 3),
                    Cell::Number(again.median(), 2),
                    Cell::Number(afresh.median(), 1),
                    Cell::Number(afresh.median() / again.median(), 1),
                ]);
                field = solve(&pool, &flow, &goals)?;
            }
        }
    }
    report.table(table);
    Ok(())
}

/// The same field with arrays of its own.
fn own_copy(pool: &rayon::ThreadPool, field: &Field) -> Result<Field, String> {
    let goals = field.distances().map_err(text)?.wait().map_err(text)?;
    let goals: Vec<At> = goals
        .iter()
        .enumerate()
        .filter(|&(_, &distance)| distance == 0)
        .map(|(at, _)| field.grid().cell(at))
        .collect();
    let flow = Flow::new(&Engine::cpu(), field.grid().clone()).map_err(text)?;
    solve(pool, &flow, &goals)
}

fn batch(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_batch",
        "Many fields over one grid at once, each with a goal of its own, all threads",
        &["grid", "fields", "ms", "Mcells/s", "one after another ms", "ratio"],
    );
    let random = &mut Random::new(8);
    for (side, field_count) in if options.quick { [(64, 8), (128, 4)] } else { [(256, 256), (512, 64)] } {
        let scene = Scene::flat(&format!("20 % {side}²"), side, side, noise(side * side, 0.2, 9));
        let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(text)?;
        let free: Vec<usize> = (0..side * side).filter(|&at| !scene.blocked[at]).collect();
        let goals: Vec<[At; 1]> =
            (0..field_count).map(|_| [flow.grid().cell(free[random.below(free.len())])]).collect();
        let lists: Vec<&[At]> = goals.iter().map(|goals| &goals[..]).collect();
        let all = || flow.solve_batch(&lists, &FieldOptions::default())?.wait();
        let each = || -> hullfield::Result<Vec<Field>> {
            goals.iter().map(|goals| flow.solve(goals, &FieldOptions::default())?.wait()).collect()
        };
        let (together, apart) = (all().map_err(text)?, each().map_err(text)?);
        if together.iter().zip(&apart).any(|(one, other)| difference(one, other).is_some()) {
            report.fail(format!("{}: a batch gives other fields", scene.name));
        }
        let [batch, singles] = interleave(
            if options.quick { 1 } else { 5 },
            || all().map(|fields| drop(black_box(fields))).map_err(text),
            || each().map(|fields| drop(black_box(fields))).map_err(text),
        )?;
        table.row([
            scene.name.as_str().into(),
            field_count.into(),
            Cell::Number(batch.median(), 1),
            Cell::Number((side * side * field_count) as f64 / batch.median() / 1e3, 0),
            Cell::Number(singles.median(), 1),
            Cell::Number(singles.ratio(&batch), 2),
        ]);
    }
    report.table(table);
    Ok(())
}
