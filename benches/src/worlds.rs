//! Thousands of worlds side by side: a whole query against one over the same pairs, given.

use hullfield::collide::{Arena, Body, BodyColumns, ContactOptions, Pairs};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes;

use crate::engines::NamedEngine;
use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::scene::Scene;
use crate::timing::interleave;

/// Bodies of each world.
const BODIES: usize = 16;
/// Partners that a body has at least, on average.
const PARTNERS: f64 = 3.0;

/// Which pairs a query examines, and its hits.
type Query<'a> = dyn Fn(BodyColumns<'_>, Pairs<'_>) -> hullfield::Result<Vec<[u32; 2]>> + 'a;

/// Times queries over worlds on each engine.
///
/// # Errors
/// A query that fails. Rows that differ go into the report.
pub(crate) fn worlds(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let world_count = if options.quick { 128 } else { 4_096 };
    let repetitions = if options.quick { 3 } else { 15 };
    let sets = scenes::convex_sets(32, 1.0, SEED);
    let scene = Scene::of_hulls(&sets)?;
    let mut table = Table::new(
        "worlds",
        format!(
            "{world_count} worlds of {BODIES} bodies, hulls of 4 to 40 vertices, bodies in to rows out: broad phase and narrow phase against the \
             same pairs given, {repetitions} interleaved repetitions"
        ),
        &["engine", "query", "bodies", "candidates", "rows", "whole ms", "±", "given ms", "±", "ratio"],
    );
    for order in ["in order", "in turn"] {
        let world_of = |body: usize| match order {
            "in order" => (body / BODIES) as u32,
            _ => (body % world_count) as u32,
        };
        let worlds: Vec<u32> = (0..world_count * BODIES).map(world_of).collect();
        let bodies = placed(&scene, &worlds)?;
        for NamedEngine { name, engine } in engines {
            let arena = Arena::new(engine, &scene.hulls, Default::default()).map_err(message)?;
            let columns = BodyColumns { worlds: &worlds, ..BodyColumns::new(&bodies) };
            let pairs = arena.candidates(columns).and_then(hullfield::Pending::wait).map_err(message)?;
            let intersections = |columns: BodyColumns<'_>, pairs: Pairs<'_>| {
                let found = arena.intersections(columns, pairs)?.wait()?;
                Ok(found.rows.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b]).collect())
            };
            let contacts = |columns: BodyColumns<'_>, pairs: Pairs<'_>| {
                let found = arena.contacts(columns, pairs, &ContactOptions { margin: 0.0 })?.wait()?;
                Ok(found.rows.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b]).collect())
            };
            let queries: [(&str, &Query<'_>); 2] =
                [("intersections", &intersections), ("contacts", &contacts)];
            for (query, run) in queries {
                eprintln!("worlds: {name}, {query}, {order}");
                let [whole, given] =
                    [Pairs::BroadPhase, Pairs::Given(&pairs)].map(|pairs| run(columns, pairs));
                let (whole, given) = (whole.map_err(message)?, given.map_err(message)?);
                if whole != given {
                    report.fail(format!("worlds, {name}, {query}, {order}: not the hits of the given pairs"));
                }
                let [mine, other] = interleave(
                    repetitions,
                    || run(columns, Pairs::BroadPhase).map(drop).map_err(message),
                    || run(columns, Pairs::Given(&pairs)).map(drop).map_err(message),
                )?;
                let ratio = mine.ratio(&other);
                table.row([
                    (*name).into(),
                    format!("{query}, {order}").into(),
                    bodies.len().into(),
                    pairs.len().into(),
                    whole.len().into(),
                    Cell::Number(mine.median(), 1),
                    Cell::Share(mine.spread(), 0),
                    Cell::Number(other.median(), 1),
                    Cell::Share(other.spread(), 0),
                    Cell::Number(ratio, 2),
                ]);
            }
        }
    }
    table.note("The target for bodies in order is a ratio of 1.3.");
    table.note("in order: the bodies of a world lie together; in turn: those of all worlds take turns, and the query sorts them.");
    report.table(table);
    Ok(())
}

/// Bodies at random places, each world around the origin, so dense that each has its partners.
fn placed(scene: &Scene, worlds: &[u32]) -> Result<Vec<Body>, String> {
    let arena = Arena::new(&hullfield::Engine::cpu(), &scene.hulls, Default::default()).map_err(message)?;
    let mut side = 12.0;
    loop {
        let mut random = Random::new(SEED);
        let mut body = |at: usize| {
            let position = [0; 3].map(|_| random.between(-0.5 * side, 0.5 * side) as f32);
            Body { position, rotation: random.rotation(), ..Body::new((at % scene.hulls.len()) as u32) }
        };
        let bodies: Vec<Body> = (0..worlds.len()).map(&mut body).collect();
        let columns = BodyColumns { worlds, ..BodyColumns::new(&bodies) };
        let pairs = arena.candidates(columns).and_then(hullfield::Pending::wait).map_err(message)?;
        if 2.0 * pairs.len() as f64 >= PARTNERS * bodies.len() as f64 {
            return Ok(bodies);
        }
        side *= 0.97;
    }
}
