//! What a frame submits to the device: how many dispatches, copies and submissions.

use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Pairs};
use hullfield_oracle::{extent, scenes};

use crate::answers::{arena, bodies};
use crate::common;

type Query = fn(&Arena, &[Body]) -> usize;

/// The queries of a frame. Each returns the number of its rows.
const QUERIES: [(&str, Query); 3] = [
    ("intersections", |arena, bodies| {
        arena.intersections(bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows.len()
    }),
    ("distances", |arena, bodies| {
        let options = DistanceOptions { margin: 0.1 };
        arena.distances(bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows.len()
    }),
    ("contacts", |arena, bodies| {
        let options = ContactOptions { margin: 0.0 };
        arena.contacts(bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows.len()
    }),
];

/// A discrete GPU's frame: most dispatches of a steady frame, by the number of bodies. `benches/README.md` has the same table.
#[test]
fn a_steady_frame_has_few_dispatches_and_no_copy() {
    for (count, most) in [(1000, 8), (10_000, 11), (extent(20_000, 100_000), 26)] {
        for (name, query) in QUERIES {
            let Some(engine) = common::gpu() else { return };
            let engine = engine.with_discrete_steps();
            let crowd = scenes::tumbling(&scenes::convex_sets(8, 1.0, 51), count, 6.0, 52);
            let (arena, bodies) = (arena(&engine, &crowd.scene), bodies(&crowd.scene.bodies));
            // The first frame finds the numbers of pairs and rows.
            assert!(query(&arena, &bodies) > 0);
            let before = engine.counters();
            query(&arena, &bodies);
            let after = engine.counters();
            let [dispatches, copies, submissions] = [
                after.dispatches - before.dispatches,
                after.copies - before.copies,
                after.submissions - before.submissions,
            ];
            println!(
                "{count} bodies, {name}: {dispatches} dispatches, {copies} copies, {submissions} submissions"
            );
            assert!(dispatches > 0 && dispatches <= most, "{count} bodies, {name}: {dispatches} dispatches");
            assert_eq!((copies, submissions), (0, 1), "{count} bodies, {name}");
        }
    }
}
