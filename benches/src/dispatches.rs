//! What a steady frame submits: dispatches, copies, submissions. Counts, no times, so any adapter has those of a discrete GPU.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Pairs};
use hullfield_oracle::scenes;

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Report, Table};
use crate::scene::Scene;

/// A query over all bodies.
type Query = fn(&Arena, &[Body]) -> hullfield::Result<()>;

const QUERIES: [(&str, Query); 3] = [
    ("intersections", |arena, bodies| arena.intersections(bodies, Pairs::BroadPhase)?.wait().map(drop)),
    ("distances", |arena, bodies| {
        arena.distances(bodies, Pairs::BroadPhase, &DistanceOptions { margin: 0.1 })?.wait().map(drop)
    }),
    ("contacts", |arena, bodies| {
        arena.contacts(bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })?.wait().map(drop)
    }),
];

/// Counts what the second frame of a crowd submits.
///
/// # Errors
/// A query that fails. Without an adapter there is a note instead of rows.
pub(crate) fn of_frames(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "dispatches",
        "A steady frame with the broad phase, as a discrete GPU gets it",
        &["bodies", "query", "dispatches", "copies and clears", "submissions"],
    );
    let sizes: &[usize] = if options.quick { &[1_000, 10_000] } else { &[1_000, 10_000, 100_000] };
    for &count in sizes {
        let sets = scenes::convex_sets(8, 1.0, SEED);
        let mut scene = Scene::of_hulls(&sets)?;
        scene.bodies = scenes::tumbling(&sets, count, 6.0, SEED).scene.bodies;
        let bodies = scene.library_bodies();
        for (name, query) in QUERIES {
            let engine = match Engine::gpu() {
                Ok(engine) => engine.with_discrete_steps(),
                Err(error) => {
                    table.note(error.to_string());
                    report.table(table);
                    return Ok(());
                }
            };
            eprintln!("dispatches: {count} bodies, {name}");
            let arena = Arena::new(&engine, &scene.hulls, Default::default()).map_err(message)?;
            // The first frame finds the numbers of pairs and rows.
            query(&arena, &bodies).map_err(message)?;
            let before = engine.counters();
            query(&arena, &bodies).map_err(message)?;
            let after = engine.counters();
            table.row([
                count.into(),
                name.into(),
                (after.dispatches - before.dispatches).into(),
                (after.copies - before.copies).into(),
                (after.submissions - before.submissions).into(),
            ]);
        }
    }
    table.note("copies and clears: those between kernels, without uploads and readbacks.");
    report.table(table);
    Ok(())
}
