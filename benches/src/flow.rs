//! Flow fields of the CPU engine, against a plain queue with the same results and against the crates `pathfinding` and
//! `bracket-pathfinding`; costs, diagonals and volumes; two threads; edits; batches. Agents are in `flow_agents`, the GPU in
//! `flow_device`. Every cell is compared before times are printed.

use std::collections::HashMap;
use std::hint::black_box;

use bracket_pathfinding::prelude::{BaseMap, DijkstraMap, SmallVec};
use hullfield::Engine;
use hullfield::flow::{Cell as At, Connectivity, Corners, Edit, Field, FieldOptions, Flow, Grid};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::flow_agents;
use crate::flow_costs;
use crate::flow_device;
use crate::flow_rasters;
use crate::flow_scenes::{Scene, flat_scenes, noise, stepped_scenes};
use crate::machine;
use crate::options::Options;
use crate::plain;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave, time};

/// Grids with more cells are not given to `pathfinding`, which hashes each cell.
const MAX_PEER_CELLS: usize = 1 << 20;

/// Adds the tables of flow fields.
///
/// # Errors
/// A file that cannot be read, or a field that cannot be solved.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    if options.selects("plain") {
        against_plain(options, report)?;
    }
    if options.selects("steps") {
        steps(options, report)?;
    }
    if options.selects("threads") {
        threads(options, report)?;
    }
    if options.selects("edits") {
        edits(options, report)?;
    }
    if options.selects("batch") {
        batch(options, report)?;
    }
    if options.selects("agents") {
        flow_agents::run(options, report)?;
    }
    if options.selects("rasters") {
        flow_rasters::run(options, report)?;
    }
    if options.selects("costs") {
        flow_costs::run(options, report)?;
    }
    if options.selects("device") {
        flow_device::run(options, report)?;
    }
    // It needs gigabytes, so it runs only by its full name.
    if options.only.as_deref() == Some("huge") {
        huge(options, report)?;
    }
    Ok(())
}

/// A thread pool.
fn pool(thread_count: usize) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(message)
}

fn solve(pool: &rayon::ThreadPool, flow: &Flow, goals: &[At]) -> Result<Field, String> {
    pool.install(|| flow.solve(goals, &FieldOptions::default())?.wait()).map_err(message)
}

/// The first cell in which two fields differ.
fn difference(one: &Field, other: &Field) -> Option<usize> {
    let ((distances, next), (others, other_next)) = (one.host()?, other.host()?);
    (0..distances.len()).find(|&at| distances[at] != others[at] || next[at] != other_next[at])
}

/// The distances of `pathfinding`, by cell. Not reached is [`u32::MAX`].
pub(crate) fn pathfinding_distances(scene: &Scene, grid: &Grid) -> Vec<u32> {
    let reached = pathfinding_reached(scene, grid);
    let mut distances = vec![u32::MAX; scene.blocked.len()];
    reached.into_iter().for_each(|(at, (_, sum))| distances[at as usize] = sum);
    distances[scene.goal] = 0;
    distances
}

/// The cells that `pathfinding` reaches: the one before each, and its distance.
fn pathfinding_reached(scene: &Scene, grid: &Grid) -> HashMap<u32, (u32, u32)> {
    let codes = 0..scene.connectivity.neighbour_count() as u8;
    // Steps back from a cell. A step and its reverse pass the same corners; the cost is that of the entered cell.
    let before = |&at: &u32| {
        let cell = grid.cell(at as usize);
        let cost = grid.cost(cell);
        let near = codes.clone().filter_map(move |code| Some((grid.neighbour(cell, code)?, code)));
        near.filter_map(move |(near, code)| {
            Some((grid.index(near)? as u32, scene.connectivity.step(code) * cost))
        })
    };
    // Four neighbours at unit cost get a faster successor function.
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
    if is_plain {
        pathfinding::prelude::dijkstra_all(&goal, beside)
    } else {
        pathfinding::prelude::dijkstra_all(&goal, before)
    }
}

/// The time of `pathfinding` for all distances in milliseconds, and the first cell whose distance differs.
fn pathfinding(scene: &Scene, grid: &Grid, distances: &[u32]) -> (f64, Option<usize>) {
    let (ms, reached) = time(|| pathfinding_reached(scene, grid));
    let wrong = distances.iter().enumerate().find(|&(at, &distance)| {
        let known = if at == scene.goal { Some(0) } else { reached.get(&(at as u32)).map(|&(_, sum)| sum) };
        known.unwrap_or(u32::MAX) != distance
    });
    (ms, wrong.map(|(at, _)| at))
}

/// A grid for `bracket-pathfinding`: the free neighbours of a cell, as indices.
struct Exits<'a>(&'a Scene);

impl BaseMap for Exits<'_> {
    fn get_available_exits(&self, at: usize) -> SmallVec<[(usize, f32); 10]> {
        let [width, height, _] = self.0.size;
        let x = at % width;
        let near = [
            (at >= width).then(|| at - width),
            (x + 1 < width).then(|| at + 1),
            (at + width < width * height).then(|| at + width),
            (x > 0).then(|| at - 1),
        ];
        near.into_iter().flatten().filter(|&near| !self.0.blocked[near]).map(|near| (near, 1.0)).collect()
    }
}

/// The distances of `bracket-pathfinding`, by cell. Not reached is [`u32::MAX`].
pub(crate) fn bracket_distances(scene: &Scene) -> Vec<u32> {
    let [width, height, _] = scene.size;
    let map = DijkstraMap::new(width, height, &[scene.goal], &Exits(scene), f32::MAX).map;
    let mut distances: Vec<u32> =
        map.into_iter().map(|x| if x < f32::MAX { x as u32 } else { u32::MAX }).collect();
    // The crate gives the goal a distance of 2.
    distances[scene.goal] = 0;
    distances
}

/// The time of `bracket-pathfinding` for all distances in milliseconds, and the first cell whose distance differs. The goal is
/// not compared: the crate gives it a distance of 2.
fn bracket(scene: &Scene, distances: &[u32]) -> (f64, Option<usize>) {
    let [width, height, _] = scene.size;
    let (ms, map) = time(|| DijkstraMap::new(width, height, &[scene.goal], &Exits(scene), f32::MAX));
    let is_wrong = |&at: &usize| match distances[at] {
        u32::MAX => map.map[at] < f32::MAX,
        distance => f64::from(map.map[at]) != f64::from(distance),
    };
    (ms, (0..distances.len()).filter(|&at| at != scene.goal).find(is_wrong))
}

fn against_plain(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_plain",
        "Distances and next cells, steps of 1, four neighbours, one thread: a plain queue that makes the same; \
         pathfinding 4.16 (dijkstra_all) and bracket-pathfinding 0.8.7 (DijkstraMap), distances alone",
        &[
            "grid",
            "cells",
            "free",
            "ms",
            "Mcells/s",
            "plain ms",
            "ratio",
            "pathfinding ms",
            "its ratio",
            "bracket ms",
            "its ratio",
        ],
    );
    let pool = pool(1)?;
    for scene in flat_scenes(options.quick)? {
        let grid = scene.grid()?;
        let flow = Flow::new(&Engine::cpu(), grid.clone()).map_err(message)?;
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
        let mut peers = [const { Cell::Empty }; 4];
        if count <= MAX_PEER_CELLS {
            let mut samples = [Samples::default(), Samples::default()];
            for _ in 0..if options.quick { 1 } else { 3 } {
                let taken = [pathfinding(&scene, &grid, &known.distances), bracket(&scene, &known.distances)];
                for ((samples, (ms, wrong)), name) in
                    samples.iter_mut().zip(taken).zip(["pathfinding", "bracket"])
                {
                    if let Some(wrong) = wrong {
                        report.fail(format!("{}: {name} differs at {}", scene.name, grid.cell(wrong)));
                    }
                    samples.push(ms);
                }
            }
            for (cells, samples) in peers.chunks_mut(2).zip(&samples) {
                cells[0] = Cell::Number(samples.median(), 1);
                cells[1] = Cell::Number(samples.median() / ours.median(), 1);
            }
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
        table.row(row.into_iter().chain(peers));
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
        let flow = Flow::new(&Engine::cpu(), grid.clone()).map_err(message)?;
        let goals = [grid.cell(scene.goal)];
        let field = solve(&pool, &flow, &goals)?;
        let Some((distances, _)) = field.host() else { continue };
        let (mut ours, mut peer) = (Samples::default(), Samples::default());
        for _ in 0..if options.quick { 1 } else { 5 } {
            ours.push(time(|| solve(&pool, &flow, &goals).map(black_box)).0);
            if scene.blocked.len() <= MAX_PEER_CELLS && (peer.median().is_nan() || peer.median() < 2e3) {
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
        let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
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
    let eight = Connectivity::Eight(Corners::BothFree);
    for (name, share, connectivity, side, repetitions) in [
        ("open", 0.0, Connectivity::Four, 4096, 5),
        ("20 %", 0.2, Connectivity::Four, 4096, 5),
        ("20 %, diagonals", 0.2, eight, 2048, 3),
    ] {
        let (side, repetitions) = if options.quick { (512, 1) } else { (side, repetitions) };
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 6));
        scene.connectivity = connectivity;
        let mut flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
        let goals = [flow.grid().cell(scene.goal)];
        let mut field = solve(&pool, &flow, &goals)?;
        for (part, length) in [(75, side / 80), (92, side / 16), (60, side / 2)] {
            let cells = (0..length).map(|at| [side * part / 100, side / 2 - length / 2 + at]);
            let cells: Vec<At> = cells.map(|[x, y]| At::from([x as i32, y as i32])).collect();
            let mut changed_counts = [0; 2];
            // A wall is blocked and freed repeatedly; each update starts from the last field.
            let mut samples = [[Samples::default(), Samples::default()], Default::default()];
            for _ in 0..repetitions {
                for (is_open, [again, afresh]) in samples.iter_mut().enumerate() {
                    let kind = |&cell| if is_open == 1 { Edit::Free(cell) } else { Edit::Block(cell) };
                    flow.edit(&cells.iter().map(kind).collect::<Vec<_>>()).map_err(message)?;
                    let (ms, fresh) = time(|| solve(&pool, &flow, &goals));
                    afresh.push(ms);
                    let fresh = fresh?;
                    changed_counts[is_open] = changed_count(&field, &fresh);
                    let (ms, updated) =
                        time(|| pool.install(|| flow.update(&mut field)?.wait()).map_err(message));
                    again.push(ms);
                    updated?;
                    if let Some(wrong) = difference(&fresh, &field) {
                        let cell = flow.grid().cell(wrong);
                        report.fail(format!("{}: an edit differs at {cell}", scene.name));
                    }
                }
            }
            for ([again, afresh], (count, kind)) in
                samples.iter().zip(changed_counts.iter().zip(["blocked", "freed"]))
            {
                table.row([
                    scene.name.as_str().into(),
                    format!("{length} cells {kind}").into(),
                    (*count).into(),
                    Cell::Share(*count as f64 / (side * side) as f64, 3),
                    Cell::Number(again.median(), 2),
                    Cell::Number(afresh.median(), 1),
                    Cell::Number(afresh.ratio(again), 2),
                ]);
            }
        }
    }
    table.note("ratio: how many times as long as the update a fresh solve takes, median side by side");
    report.table(table);
    Ok(())
}

/// The number of distances that differ.
fn changed_count(one: &Field, other: &Field) -> usize {
    match (one.host(), other.host()) {
        (Some((one, _)), Some((other, _))) => {
            one.iter().zip(other).filter(|(one, other)| one != other).count()
        }
        _ => 0,
    }
}

/// A grid whose arrays exceed 4 GiB, solved once. Each cell is checked against its neighbours.
fn huge(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_huge",
        "One grid of 16384², 20 % obstacles: distances, next cells, exits",
        &["grid", "cells", "threads", "ms", "Mcells/s", "most memory of this program, MiB"],
    );
    let side: usize = if options.quick { 1024 } else { 16384 };
    let blocked = noise(side * side, 0.2, 11);
    let scene = Scene::flat(&format!("20 % {side}²"), side, side, blocked);
    let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
    let goals = [flow.grid().cell(scene.goal)];
    let goal = scene.goal;
    drop(scene);
    let (ms, field) = time(|| flow.solve(&goals, &FieldOptions::default())?.wait());
    let field = field.map_err(message)?;
    let memory =
        machine::peak_memory_bytes().map_or(Cell::Empty, |bytes| Cell::Number(bytes as f64 / 1_048_576.0, 0));
    let is_blocked = |at| field.grid().is_obstacle(field.grid().cell(at));
    let wrong = field.host().and_then(|(cells, _)| plain::first_inconsistent(side, is_blocked, cells, goal));
    if let Some(wrong) = wrong {
        report.fail(format!("{side}²: the distance of {} does not hold", field.grid().cell(wrong)));
    }
    table.row([
        format!("20 % {side}²").into(),
        (side * side).into(),
        rayon::current_num_threads().into(),
        Cell::Number(ms, 0),
        Cell::Number((side * side) as f64 / ms / 1e3, 0),
        memory,
    ]);
    table.note("the field takes 5 bytes a cell, the wave 1.5 more until it is done");
    report.table(table);
    Ok(())
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
        let flow = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
        let free: Vec<usize> = (0..side * side).filter(|&at| !scene.blocked[at]).collect();
        let goals: Vec<[At; 1]> =
            (0..field_count).map(|_| [flow.grid().cell(free[random.below(free.len())])]).collect();
        let lists: Vec<&[At]> = goals.iter().map(|goals| &goals[..]).collect();
        let all = || flow.fields(&lists, &FieldOptions::default())?.wait();
        let each = || -> hullfield::Result<Vec<Field>> {
            goals.iter().map(|goals| flow.solve(goals, &FieldOptions::default())?.wait()).collect()
        };
        let (together, apart) = (all().map_err(message)?, each().map_err(message)?);
        if together.rows.iter().zip(&apart).any(|(one, other)| difference(one, other).is_some()) {
            report.fail(format!("{}: a batch gives other fields", scene.name));
        }
        let [batch, singles] = interleave(
            if options.quick { 1 } else { 5 },
            || all().map(|fields| drop(black_box(fields))).map_err(message),
            || each().map(|fields| drop(black_box(fields))).map_err(message),
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
