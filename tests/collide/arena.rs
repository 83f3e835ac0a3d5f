//! An arena's hulls and options: added, removed, shared.

use hullfield::collide::{Arena, Body, ContactOptions, Hull, Options, Pairs, Precision, Query, SweepOptions};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::common;

fn shapes() -> Vec<Hull> {
    vec![
        Hull::ball(0.5).unwrap(),
        Hull::cuboid([0.4, 0.5, 0.6]).unwrap(),
        Hull::cylinder([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 0.4, 12).unwrap(),
        Hull::cone([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 0.5, 9).unwrap(),
        Hull::half_space(),
    ]
}

fn crowd(count: u32, hulls: &[u32], seed: u64) -> Vec<Body> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|k| {
            let place = (random.direction() * random.between(0.0, 4.0)).as_vec3().to_array();
            Body::new(hulls[k as usize % hulls.len()]).at(place).rotated(random.rotation())
        })
        .collect()
}

#[test]
fn hulls_added_answer_as_if_they_had_always_been_there() {
    let all = shapes();
    let movers = crowd(200, &[0, 1, 2, 3], 171);
    let statics: Vec<Body> =
        crowd(20, &[0, 1], 172).into_iter().chain([Body::new(0).at([9.0, 0.0, 0.0])]).collect();
    for (name, engine) in engines() {
        for warm_start in [false, true] {
            let options = Options { statics: statics.clone(), warm_start, ..Options::default() };
            let whole = Arena::new(&engine, &all, options.clone()).unwrap();
            let mut grown = Arena::new(&engine, &all[..2], options).unwrap();
            let before = grown.clone();
            let few = crowd(50, &[0, 1], 173);
            let first = grown.intersections(&few, Pairs::BroadPhase).unwrap();
            assert_eq!(grown.add_hulls(&all[2..]).unwrap(), 2..5, "{name}");
            // A pending query and a handle that shared the hulls do not change.
            assert_eq!(
                first.wait().unwrap().rows,
                before.intersections(&few, Pairs::BroadPhase).unwrap().wait().unwrap().rows
            );
            assert_eq!(before.hulls().len(), 2);
            let unknown = before.contacts(&movers, Pairs::BroadPhase, &ContactOptions::default());
            assert!(
                matches!(
                    unknown,
                    Err(Error::Missing { at: Location::Body(2), what: "hull", index: 2, count: 2 })
                ),
                "{name}"
            );
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[[0, 1], [7, 205]])] {
                let rows = |arena: &Arena| arena.intersections(&movers, pairs).unwrap().wait().unwrap().rows;
                assert_eq!(rows(&grown), rows(&whole), "{name}, {pairs:?}");
                let rows = |arena: &Arena| {
                    let options = ContactOptions { margin: 0.1 };
                    arena.contacts(&movers, pairs, &options).unwrap().wait().unwrap().rows
                };
                assert_eq!(rows(&grown), rows(&whole), "{name}, {pairs:?}");
            }
        }
    }
}

#[test]
fn a_removed_hull_is_an_error_and_other_ids_stay() {
    for (name, engine) in engines() {
        let all = shapes();
        let whole = Arena::new(&engine, &all, Options::default()).unwrap();
        let mut arena = whole.clone();
        arena.remove_hulls(&[1, 3]).unwrap();
        let movers = crowd(100, &[0, 2], 174);
        let rows =
            |arena: &Arena| arena.intersections(&movers, Pairs::BroadPhase).unwrap().wait().unwrap().rows;
        assert!(!rows(&whole).is_empty());
        assert_eq!(rows(&arena), rows(&whole), "{name}");
        // Ids are not reused.
        assert_eq!(arena.add_hulls(&all[1..2]).unwrap(), 5..6, "{name}");
        assert_eq!(rows(&arena), rows(&whole), "{name}");
        let bodies = [Body::new(0), Body::new(3)];
        let still = [Default::default(); 2];
        let errors = [
            arena.intersections(&bodies, Pairs::BroadPhase).map(drop).unwrap_err(),
            arena
                .contacts(&bodies, Pairs::Given(&[[0, 1]]), &ContactOptions::default())
                .map(drop)
                .unwrap_err(),
            arena.sweeps(&bodies, &still, Pairs::Exhaustive, &SweepOptions::default()).map(drop).unwrap_err(),
            arena.candidates(&bodies).map(drop).unwrap_err(),
            #[cfg(feature = "gpu")]
            arena.pack(&bodies).map(drop).unwrap_err(),
            arena.trace(&bodies[0], &bodies[1]).map(drop).unwrap_err(),
            arena
                .with_options(Options { statics: vec![Body::new(0), Body::new(3)], ..Options::default() })
                .map(drop)
                .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), "body 1: hull 3 was removed from the arena", "{name}");
        }
        // A handle that shared the hulls still has it.
        assert!(whole.intersections(&bodies, Pairs::BroadPhase).is_ok());
        drop(arena.prepare(&[(Query::Contacts, Pairs::BroadPhase)]).unwrap());
    }
}

#[test]
fn hulls_that_can_not_be_removed_are_named_and_the_handle_stays() {
    let options = Options { statics: vec![Body::new(0), Body::new(1)], ..Options::default() };
    let mut arena = Arena::new(&Engine::cpu(), &shapes(), options).unwrap();
    let error = arena.remove_hulls(&[4, 9]).unwrap_err();
    assert_eq!(error.to_string(), "hull 9 does not exist, there are 5");
    let error = arena.remove_hulls(&[1]).unwrap_err();
    assert_eq!(error.to_string(), "hull 1 can't be removed, static 1 is of it");
    let error = arena.remove_hulls(&[2, 2]).unwrap_err();
    assert_eq!(error.to_string(), "hull 2 was removed before");
    // The failed calls changed nothing.
    assert!(arena.candidates(&[Body::new(4), Body::new(2)]).is_ok());
    arena.remove_hulls(&[2]).unwrap();
    assert_eq!(arena.remove_hulls(&[2]).unwrap_err().to_string(), "hull 2 was removed before");
}

#[test]
fn other_options_leave_the_handle_that_they_come_from_as_it_is() {
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &shapes(), Options::default()).unwrap();
        let movers = crowd(60, &[0, 1, 2], 175);
        let rows =
            |arena: &Arena| arena.intersections(&movers, Pairs::BroadPhase).unwrap().wait().unwrap().rows;
        let before = rows(&arena);
        let options = Options {
            precision: Precision::Exact,
            statics: vec![Body::new(4)],
            warm_start: true,
            ..Options::default()
        };
        let other = arena.with_options(options.clone()).unwrap();
        assert_eq!(other.options(), &options);
        assert_eq!(arena.options(), &Options::default());
        assert!(rows(&other).iter().any(|row| row.b == 60), "{name}: the ground is met");
        assert_eq!(rows(&arena), before, "{name}");
    }
}

/// The product of their numbers is more than a query has rows for, their sum is not.
#[test]
fn many_bodies_among_many_statics_are_accepted() {
    let count = 66_000;
    let row = |y: f32| (0..count).map(|k| Body::new(0).at([3.0 * k as f32, y, 0.0])).collect::<Vec<_>>();
    let options = Options { statics: row(0.5), ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5).unwrap()], options).unwrap();
    let pairs = [[0, count], [0, count + 1], [count - 1, 2 * count - 1]];
    let found = arena.intersections(&row(0.0), Pairs::Given(&pairs)).unwrap().wait().unwrap();
    let hits: Vec<bool> = found.rows.iter().map(|row| row.status.is_hit()).collect();
    assert_eq!(hits, [true, false, true]);
}

/// Through staging memory go the bodies, the motions of a sweep, the ids of given pairs, and a row for each.
#[test]
fn an_estimate_of_staging_memory_is_a_sum_over_bodies_and_pairs() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &shapes(), Options::default()).unwrap();
    for query in [Query::Intersections, Query::Distances, Query::Contacts, Query::Manifolds, Query::Sweeps] {
        let staging = |bodies: u64, pairs: usize| {
            let pairs = vec![[0, 1]; pairs];
            arena.estimate(query, bodies as usize, &Pairs::Given(&pairs)).staging_bytes
        };
        let body = if query == Query::Sweeps { 80 + 32 } else { 80 };
        assert_eq!(staging(100, 0), 100 * body, "{query:?}");
        let pair = staging(100, 1) - staging(100, 0);
        // Two ids, a verdict, and at most a dozen words.
        assert!((12..=64).contains(&pair), "{query:?}: {pair}");
        assert_eq!(staging(300, 20), 300 * body + 20 * pair, "{query:?}");
    }
    // What stays on the device is not read.
    let staging = |query| arena.estimate(query, 100, &Pairs::Exhaustive).staging_bytes;
    assert_eq!([Query::EncodedIntersections, Query::EncodedSweeps].map(staging), [8_000, 11_200]);
}
