//! The time of every kernel of the library by the device's clock, and its share of the frame that it belongs to.

use std::collections::BTreeSet;

use hullfield::Engine;
use hullfield::collide::{
    Arena, Capacity, ContactOptions, DeviceBodies, DeviceMotions, DevicePairs, DistanceOptions,
    ManifoldOptions, Pairs, SweepOptions,
};
use hullfield::flow::{Connectivity, Corners, FieldOptions, Flow, SteerOptions};
use hullfield::inspect::{KernelTimes, time_kernels};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes;

use crate::error::{Trouble, message};
use crate::flow_scenes::{Scene as Map, count_of_fields, noise};
use crate::gpu::kit::Kit;
use crate::machine::SEED;
use crate::report::{Cell, Table};
use crate::scene::Scene;
use crate::sweeps::{self, motions_of};

/// Frames that each job is timed over.
const FRAMES: u64 = 4;

/// Kernels with a smaller share of a frame have no row.
const LEAST_SHARE: f64 = 0.005;

/// Times the kernels of every query.
///
/// # Errors
/// A scene that cannot be built.
pub(crate) fn run(kit: &mut Kit) -> Result<(), Trouble> {
    let mut table = Table::new(
        "kernel_times",
        format!("Every kernel by the device's clock, in passes of their own; means of {FRAMES} frames"),
        &["frame", "kernel", "dispatches", "ms", "share"],
    );
    let mut seen = BTreeSet::new();
    pipelines(kit)?;
    collide(kit, &mut table, &mut seen)?;
    flow(kit, &mut table, &mut seen)?;
    let missing: Vec<&str> = hullfield::inspect::kernels()
        .iter()
        .filter(|kernel| !kernel.has_subgroups)
        .map(|kernel| kernel.label)
        .filter(|label| !seen.contains(label))
        .collect();
    if !missing.is_empty() {
        table.note(format!("did not run in these frames: {}", missing.join(", ").replace("hullfield.", "")));
    }
    table.note("kernels with less than 0.5 % of a frame have no row.");
    table.note("between the kernels: the time from the first to the end of the last in which none ran.");
    kit.table(table);
    Ok(())
}

/// Builds all pipelines.
fn pipelines(kit: &mut Kit) -> Result<(), Trouble> {
    use hullfield::{collide, flow};
    let mut table = Table::new(
        "pipelines",
        "Time to build pipelines on a new device; a driver's cache may shorten it",
        &["for", "pipelines", "ms"],
    );
    let queries: Vec<(collide::Query, Pairs<'_>)> = [
        collide::Query::Candidates,
        collide::Query::Intersections,
        collide::Query::Distances,
        collide::Query::Contacts,
        collide::Query::Manifolds,
        collide::Query::Sweeps,
        collide::Query::EncodedIntersections,
        collide::Query::EncodedManifolds,
        collide::Query::EncodedSweeps,
    ]
    .into_iter()
    .flat_map(|query| [Pairs::BroadPhase, Pairs::Given(&[]), Pairs::Exhaustive].map(|pairs| (query, pairs)))
    .collect();
    let built = kit.job("collide", "pipelines of collide", 1.0, |engine| {
        let arena = Arena::new(engine, &[hullfield::collide::Hull::ball(1.0)?], Default::default())?;
        Ok(arena.prepare(&queries)?.wait()?)
    });
    let queries = [flow::Query::Solve, flow::Query::Step, flow::Query::Paths, flow::Query::DistancesAt];
    let eight = Connectivity::Eight(Corners::BothFree);
    let solved = kit.job("flow", "pipelines of flow", 1.0, |engine| {
        let mut sum = hullfield::Prepared::default();
        for connectivity in [Connectivity::Four, eight] {
            let side = 1024;
            let mut map = Map::flat("", side, side, vec![false; side * side]);
            map.connectivity = connectivity;
            let built = Flow::new(engine, map.grid()?)?.prepare(&queries)?.wait()?;
            sum.pipeline_count += built.pipeline_count;
            sum.compile_ms += built.compile_ms;
        }
        Ok(sum)
    });
    for (name, built) in [("collide, all queries", built), ("flow, steps of 1 and octile", solved)] {
        if let Some(built) = built {
            table.row([name.into(), built.pipeline_count.into(), Cell::Number(built.compile_ms, 1)]);
        }
    }
    kit.table(table);
    Ok(())
}

/// Runs a job and adds the rows of its kernels.
fn add(
    kit: &mut Kit,
    table: &mut Table,
    seen: &mut BTreeSet<&'static str>,
    frame: &str,
    run: impl FnOnce(&Engine) -> Result<Option<KernelTimes>, Trouble>,
) {
    // Nothing is known of one frame from another.
    let Some(times) = kit.job(frame, frame, 1.0, run) else { return };
    let Some(KernelTimes { mut kernels, span_ms, .. }) = times else {
        return kit.skip(frame, "the device has no timestamps");
    };
    seen.extend(kernels.iter().map(|kernel| kernel.label));
    kernels.sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));
    let sum_ms: f64 = kernels.iter().map(|kernel| kernel.milliseconds).sum();
    let share = |ms: f64| Cell::Share(ms / span_ms, 1);
    let each = |ms: f64| Cell::Number(ms / FRAMES as f64, 4);
    let mut dispatch_count = 0;
    for kernel in &kernels {
        dispatch_count += kernel.dispatch_count;
        if kernel.milliseconds >= LEAST_SHARE * span_ms {
            table.row([
                frame.into(),
                kernel.label.trim_start_matches("hullfield.").into(),
                (kernel.dispatch_count / FRAMES).into(),
                each(kernel.milliseconds),
                share(kernel.milliseconds),
            ]);
        }
    }
    let between_ms = (span_ms - sum_ms).max(0.0);
    table.row([frame.into(), "between the kernels".into(), Cell::Empty, each(between_ms), share(between_ms)]);
    table.row([frame.into(), "all".into(), (dispatch_count / FRAMES).into(), each(span_ms), share(span_ms)]);
}

/// Times the kernels of a few runs, after one that builds pipelines and makes buffers.
fn timed<T>(
    engine: &Engine,
    mut run: impl FnMut() -> Result<T, Trouble>,
) -> Result<Option<KernelTimes>, Trouble> {
    run()?;
    let (done, times) = time_kernels(engine, || (0..FRAMES).try_for_each(|_| run().map(drop)));
    done.map(|()| times)
}

fn collide(kit: &mut Kit, table: &mut Table, seen: &mut BTreeSet<&'static str>) -> Result<(), Trouble> {
    let (body_count, every_count) = if kit.is_reduced { (2_500, 200) } else { (10_000, 5_000) };
    let scene = |count: usize| -> Result<Scene, Trouble> {
        let sets = scenes::convex_sets(24, 1.0, SEED);
        let mut scene = Scene::of_hulls(&sets)?;
        scene.bodies = scenes::tumbling(&sets, count, 20.0, SEED).scene.bodies;
        Ok(scene)
    };
    let (many, few) = (scene(body_count)?, scene(every_count)?);
    let (many_bodies, few_bodies) = (many.library_bodies(), few.library_bodies());
    let mut candidates: Vec<[u32; 2]> =
        Arena::new(&Engine::cpu(), &many.hulls, Default::default())?.candidates(&many_bodies)?.wait()?;
    if kit.is_reduced {
        candidates.truncate(5_000);
    }
    let (many_motions, few_motions) = (motions_of(&many), motions_of(&few));
    let sweep = SweepOptions { duration: sweeps::DURATION, ..Default::default() };
    for (way, pairs) in [
        ("all bodies", Pairs::BroadPhase),
        ("given", Pairs::Given(&candidates)),
        ("exhaustive", Pairs::Exhaustive),
    ] {
        let (scene, bodies, motions) = match pairs {
            Pairs::Exhaustive => (&few, &few_bodies, &few_motions),
            _ => (&many, &many_bodies, &many_motions),
        };
        let count = if let Pairs::Given(pairs) = pairs { pairs.len() } else { bodies.len() };
        macro_rules! query {
            ($name:literal, $arena:ident, $call:expr) => {
                add(kit, table, seen, &format!("{}, {way} ({count})", $name), |engine| {
                    let $arena = Arena::new(engine, &scene.hulls, Default::default())?;
                    timed(engine, || Ok($call.wait()?))
                })
            };
        }
        query!("yes or no", arena, arena.intersections(bodies, pairs)?);
        query!("distance", arena, arena.distances(bodies, pairs, &DistanceOptions { margin: 0.0 })?);
        query!("contact", arena, arena.contacts(bodies, pairs, &ContactOptions { margin: 0.0 })?);
        query!("manifold", arena, arena.manifolds(bodies, pairs, &ManifoldOptions { margin: 0.0 })?);
        query!("sweep", arena, arena.sweeps(bodies, motions, pairs, &sweep)?);
    }
    let tiled = scene(1_000)?;
    let tiled_bodies = tiled.library_bodies();
    add(kit, table, seen, "yes or no, all bodies (1000)", |engine| {
        let arena = Arena::new(engine, &tiled.hulls, Default::default())?;
        timed(engine, || Ok(arena.intersections(&tiled_bodies, Pairs::BroadPhase)?.wait()?))
    });
    add(kit, table, seen, &format!("candidates ({body_count})"), |engine| {
        let arena = Arena::new(engine, &many.hulls, Default::default())?;
        timed(engine, || Ok(arena.candidates(&many_bodies)?.wait()?))
    });
    add(kit, table, seen, &format!("encoded yes or no ({body_count})"), |engine| {
        let arena = Arena::new(engine, &many.hulls, Default::default())?;
        let count = 20 * body_count as u32;
        let capacity = Capacity { pairs: count, rows: count };
        timed(engine, || {
            submitted(engine, |encoder| {
                let bodies = DeviceBodies::Host(&many_bodies);
                drop(arena.encode_intersections(encoder, bodies, DevicePairs::BroadPhase, capacity)?);
                Ok(())
            })
        })
    });
    add(kit, table, seen, &format!("encoded manifolds ({body_count})"), |engine| {
        let arena = Arena::new(engine, &many.hulls, Default::default())?;
        let count = 20 * body_count as u32;
        let capacity = Capacity { pairs: count, rows: count };
        timed(engine, || {
            submitted(engine, |encoder| {
                let (bodies, options) = (DeviceBodies::Host(&many_bodies), ManifoldOptions { margin: 0.0 });
                drop(arena.encode_manifolds(encoder, bodies, DevicePairs::BroadPhase, &options, capacity)?);
                Ok(())
            })
        })
    });
    let motions = motions_of(&tiled);
    for (name, pairs) in [("all bodies", DevicePairs::BroadPhase), ("exhaustive", DevicePairs::Exhaustive)] {
        add(kit, table, seen, &format!("encoded sweeps, {name} (1000)"), |engine| {
            let arena = Arena::new(engine, &tiled.hulls, Default::default())?;
            let capacity = Capacity { pairs: 1_000_000, rows: 60_000 };
            timed(engine, || {
                submitted(engine, |encoder| {
                    let (bodies, moves) = (DeviceBodies::Host(&tiled_bodies), DeviceMotions::Host(&motions));
                    let options = SweepOptions { duration: sweeps::DURATION, ..Default::default() };
                    drop(arena.encode_sweeps(encoder, bodies, moves, pairs, &options, capacity)?);
                    Ok(())
                })
            })
        });
    }
    Ok(())
}

/// Submits commands, and waits for them.
fn submitted(
    engine: &Engine,
    encode: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let (device, queue) = engine.device().ok_or("the engine has no device")?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encode(&mut encoder)?;
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).map_err(message)?;
    Ok(())
}

fn flow(kit: &mut Kit, table: &mut Table, seen: &mut BTreeSet<&'static str>) -> Result<(), Trouble> {
    let factor = if kit.is_reduced { 1 } else { 8 };
    let eight = Connectivity::Eight(Corners::BothFree);
    let map = |name: &str, side: usize, connectivity, most_cost: usize| {
        let mut map = Map::flat(&format!("{name} {side}²"), side, side, noise(side * side, 0.2, SEED));
        map.connectivity = connectivity;
        if most_cost > 1 {
            let random = &mut Random::new(SEED);
            map.costs = (0..side * side).map(|_| random.below(most_cost) as u32 + 1).collect();
        }
        map
    };
    let side = if kit.is_reduced { 16 } else { 128 };
    let volume =
        Map::volume(&format!("volume {side}³"), side, Connectivity::Six, noise(side.pow(3), 0.2, SEED));
    for (map, field_count) in [
        (map("steps of 1", 256 * factor, Connectivity::Four, 1), 1),
        (map("octile", 64 * factor, eight, 1), 1),
        (map("octile, costs to 9", 64 * factor, eight, 9), 1),
        (volume, 1),
        (map("steps of 1", 64, Connectivity::Four, 1), 8 * factor),
        (map("steps of 1", 128 * factor, Connectivity::Four, 1), 4),
    ] {
        let grid = map.grid()?;
        let free: Vec<usize> = (0..map.blocked.len()).filter(|&at| !map.blocked[at]).collect();
        let random = &mut Random::new(SEED);
        let goals: Vec<_> = (0..field_count).map(|_| [grid.cell(free[random.below(free.len())])]).collect();
        add(kit, table, seen, &format!("{}, {}", count_of_fields(field_count), map.name), |engine| {
            let flow = Flow::new(engine, grid)?;
            timed(engine, || Ok(flow.fields(&goals, &FieldOptions::default())?.wait()?))
        });
    }
    let (side, count) = if kit.is_reduced { (128, 5_000) } else { (1024, 1_000_000) };
    let map = map("agents on", side, Connectivity::Four, 1);
    let grid = map.grid()?;
    let random = &mut Random::new(SEED);
    let starts: Vec<_> = (0..count).map(|_| grid.cell(random.below(side * side))).collect();
    let goal = [grid.cell(map.goal)];
    let until = FieldOptions { until: starts[..3].to_vec(), ..FieldOptions::default() };
    add(kit, table, seen, &format!("a field until 3 cells, {}", map.name), |engine| {
        let flow = Flow::new(engine, grid.clone())?;
        timed(engine, || Ok(flow.solve(&goal, &until)?.wait()?))
    });
    let solved = |engine: &Engine| -> Result<_, Trouble> {
        let flow = Flow::new(engine, grid.clone())?;
        let field = flow.solve(&goal, &FieldOptions::default())?.wait()?;
        Ok((flow, field))
    };
    add(kit, table, seen, &format!("5 steps of {count}, {}", map.name), |engine| {
        let (flow, field) = solved(engine)?;
        let mut agents = flow.agents(&starts)?;
        timed(engine, || submitted(engine, |encoder| Ok(agents.encode_steps(encoder, &field, 5)?)))
    });
    add(kit, table, seen, &format!("paths of {}, {}", count / 10, map.name), |engine| {
        let (_flow, field) = solved(engine)?;
        timed(engine, || Ok(field.paths(&starts[..count / 10])?.wait()?))
    });
    add(kit, table, seen, &format!("next cells and distances of {count}, {}", map.name), |engine| {
        let (_flow, field) = solved(engine)?;
        timed(engine, || {
            drop(field.next_cells(&starts)?.wait()?);
            drop(field.distances_at(&starts)?.wait()?);
            Ok(())
        })
    });
    add(kit, table, seen, &format!("directions of {count}, {}", map.name), |engine| {
        let (_flow, field) = solved(engine)?;
        let (device, queue) = engine.device().ok_or("the engine has no device")?;
        let positions = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16 * count as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bytes: Vec<u8> = starts
            .iter()
            .flat_map(|cell| [cell.x as f32 + 0.3, cell.y as f32 + 0.6, 0.0, 0.0])
            .flat_map(f32::to_le_bytes)
            .collect();
        queue.write_buffer(&positions, 0, &bytes);
        timed(engine, || {
            submitted(engine, |encoder| {
                drop(field.encode_directions(encoder, &positions, count as u32, &SteerOptions::default())?);
                Ok(())
            })
        })
    });
    Ok(())
}
