//! What a frame submits to the device: how many dispatches, copies and submissions.

use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Hull, Options, Pairs};
use hullfield_oracle::{extent, pick, scenes};

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

/// A discrete GPU's frame: most dispatches of a steady frame, by the number of bodies. `benches/README.md` has the same
/// table, with 100,000 bodies and one dispatch more of them.
#[test]
fn a_steady_frame_has_few_dispatches_and_no_copy() {
    let Some(engine) = common::own_gpu() else { return };
    let engine = engine.with_discrete_steps();
    // The large crowds have one query, another in each run: a software driver takes seconds for each. More than 32,768 bodies are sorted
    // by digits.
    let mut cases: Vec<_> = QUERIES.map(|query| (1000, 8, query)).into();
    cases.extend(pick(51, &QUERIES, 1).into_iter().map(|query| (10_000, 11, query)));
    cases.extend(pick(52, &QUERIES, 1).into_iter().map(|query| (extent(3000, 33_000), 25, query)));
    for (count, most, (name, query)) in cases {
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

/// A floor with the lowest id has more partners than one thread sorts: the first query finds that out and counts again, later
/// ones run its three kernels at once.
#[test]
fn a_floor_adds_three_dispatches_from_the_second_frame_on() {
    let Some(engine) = common::own_gpu() else { return };
    let engine = engine.with_discrete_steps();
    let arena = Arena::new(&engine, &[Hull::cuboid([1.0; 3]).unwrap()], Options::default()).unwrap();
    let boxes = (0..3000).map(|at| Body::new(0).at([(at % 60) as f32 * 3.0, 1.5, (at / 60) as f32 * 3.0]));
    let floor = Body { scale: [500.0, 1.0, 500.0], ..Body::new(0) };
    let bodies: Vec<Body> = std::iter::once(floor).chain(boxes).collect();
    let frame = || {
        let before = engine.counters().dispatches;
        let found = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        assert!(found.rows.iter().map(|row| [row.a, row.b]).eq((1..=3000).map(|b| [0, b])));
        (found.stats.rerun_count, engine.counters().dispatches - before)
    };
    let (rerun_count, _) = frame();
    assert_eq!(rerun_count, 1);
    let (rerun_count, dispatches) = frame();
    assert_eq!((rerun_count, dispatches), (0, 11 + 3));
}
