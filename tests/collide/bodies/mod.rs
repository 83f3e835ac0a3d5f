//! Bodies over time: ids, queries over a set, and events.

mod hostile;
mod life;
mod model;
mod warm;

use hullfield::collide::{Arena, Bodies, Body, BodyId, BodyRef, Hull, Options, PairEvent, Phase};
use hullfield::{Engine, Error};

use crate::answers::engines;

/// An arena of a ball of radius 1 and a cube of side 1.
fn arena(engine: &Engine, options: Options) -> Arena {
    Arena::new(engine, &[Hull::ball(1.0).unwrap(), Hull::cuboid([0.5; 3]).unwrap()], options).unwrap()
}

/// A ball at some x.
fn ball(x: f32) -> Body {
    Body::new(0).at([x, 0.0, 0.0])
}

/// The events of the bodies as they are.
fn frame<T>(bodies: &mut Bodies<T>) -> Vec<(BodyId, BodyRef, Phase)> {
    let found = bodies.intersections().unwrap().wait().unwrap();
    plain(&bodies.events(&found).unwrap())
}

fn plain(events: &[PairEvent]) -> Vec<(BodyId, BodyRef, Phase)> {
    events.iter().map(|event| (event.a, event.b, event.phase)).collect()
}

#[test]
fn events_tell_when_a_pair_touches() {
    for (_, engine) in engines() {
        let statics = vec![Body::new(1).at([0.0, -20.0, 0.0]), Body::new(1).at([10.0, 0.0, 0.0])];
        let mut bodies = Bodies::new(&arena(&engine, Options { statics, ..Options::default() }));
        assert!(bodies.is_empty() && frame(&mut bodies).is_empty());
        let [a, b] = [0.0, 1.5].map(|x| bodies.insert(ball(x), x).unwrap());
        assert_eq!((bodies.len(), bodies.user_data(b), bodies.get(a)), (2, Some(&1.5), Some(&ball(0.0))));
        let (pair, wall) = (BodyRef::Body(b), BodyRef::Static(1));
        assert_eq!(frame(&mut bodies), [(a, pair, Phase::Begin)]);
        assert_eq!(frame(&mut bodies), [(a, pair, Phase::Stay)]);
        bodies.set(b, ball(9.0)).unwrap();
        assert_eq!(frame(&mut bodies), [(a, pair, Phase::End), (b, wall, Phase::Begin)]);
        bodies.get_mut(a).unwrap().position[0] = 8.0;
        assert_eq!(frame(&mut bodies), [(a, pair, Phase::Begin), (b, wall, Phase::Stay)]);
        assert_eq!(bodies.touching().collect::<Vec<_>>(), [(a, pair), (b, wall)]);

        // Removed, its pairs end once, under its id; the slot goes on with another.
        *bodies.user_data_mut(b).unwrap() = 7.0;
        assert_eq!(bodies.remove(b), Some((ball(9.0), 7.0)));
        assert_eq!((bodies.remove(b), bodies.get(b), bodies.contains(b)), (None, None, false));
        let c = bodies.insert(ball(7.5), 1.0).unwrap();
        assert_eq!((c.index(), c.generation()), (1, 1));
        assert_eq!(bodies.touching().collect::<Vec<_>>(), [(a, pair), (b, wall)]);
        let reused = BodyRef::Body(c);
        let expected = [(a, pair, Phase::End), (a, reused, Phase::Begin), (b, wall, Phase::End)];
        assert_eq!(frame(&mut bodies), expected);
        assert_eq!(frame(&mut bodies), [(a, reused, Phase::Stay)]);
        let all: Vec<_> = bodies.iter().map(|(id, body, data)| (id, *body, *data)).collect();
        assert_eq!(all, [(a, ball(8.0), 0.0), (c, ball(7.5), 1.0)]);
        bodies.iter_mut().for_each(|(_, body, _)| body.position[1] = 50.0);
        assert_eq!(frame(&mut bodies), [(a, reused, Phase::Stay)]);
        for id in [a, c] {
            bodies.remove(id).unwrap();
        }
        assert_eq!(frame(&mut bodies), [(a, reused, Phase::End)]);
        assert!(frame(&mut bodies).is_empty() && bodies.is_empty() && bodies.touching().len() == 0);
    }
}

/// Queries in flight: an answer is about the bodies at its call, and only answers that are handed in count.
#[test]
fn answers_in_flight_and_dropped_ones() {
    for (_, engine) in engines() {
        let mut bodies = Bodies::new(&arena(&engine, Options::default()));
        let [a, b] = [0.0, 1.0].map(|x| bodies.insert(ball(x), ()).unwrap());
        let pair = BodyRef::Body(b);
        let first = bodies.intersections().unwrap();
        bodies.set(b, ball(5.0)).unwrap();
        let second = bodies.intersections().unwrap();
        bodies.set(b, ball(1.0)).unwrap();
        let third = bodies.intersections().unwrap();
        drop(bodies.intersections().unwrap());
        let last = bodies.intersections().unwrap();
        let [first, second, third, last] = [first, second, third, last].map(|found| found.wait().unwrap());
        assert_eq!([&first, &second, &third].map(|found| found.rows.len()), [1, 0, 1]);
        // The second is left out.
        assert_eq!(plain(&bodies.events(&first).unwrap()), [(a, pair, Phase::Begin)]);
        assert_eq!(plain(&bodies.events(&third).unwrap()), [(a, pair, Phase::Stay)]);
        for late in [&second, &third] {
            let error = bodies.events(late).unwrap_err().to_string();
            assert!(error.contains("in the order of the queries"), "{error}");
        }
        assert_eq!(plain(&bodies.events(&last).unwrap()), [(a, pair, Phase::Stay)]);

        // Bodies that were removed or replaced meanwhile touch nothing.
        let found = bodies.intersections().unwrap().wait().unwrap();
        bodies.remove(b).unwrap();
        let c = bodies.insert(ball(1.0), ()).unwrap();
        assert_eq!((found.rows[0].b, c.index()), (pair, b.index()));
        assert_eq!(plain(&bodies.events(&found).unwrap()), [(a, pair, Phase::End)]);
        let found = bodies.intersections().unwrap().wait().unwrap();
        bodies.remove(a).unwrap();
        assert!(bodies.events(&found).unwrap().is_empty() && frame(&mut bodies).is_empty());
    }
}

/// A query that fails leaves everything as it was.
#[test]
fn an_error_keeps_the_last_frame() {
    for (_, engine) in engines() {
        let mut bodies = Bodies::new(&arena(&engine, Options::default()));
        let [a, b] = [0.0, 1.0].map(|x| bodies.insert(ball(x), ()).unwrap());
        assert_eq!(frame(&mut bodies), [(a, BodyRef::Body(b), Phase::Begin)]);
        bodies.get_mut(b).unwrap().position[1] = f32::NAN;
        let error = bodies.intersections().unwrap_err();
        assert!(matches!(error, Error::Value { field: "position", .. }), "{error}");
        assert!(error.to_string().starts_with("body 1: position is "), "{error}");
        bodies.get_mut(b).unwrap().position[1] = 0.0;
        assert_eq!(frame(&mut bodies), [(a, BodyRef::Body(b), Phase::Stay)]);
        // A body with a number that can't be used may be removed.
        bodies.get_mut(b).unwrap().position[1] = f32::NAN;
        assert!(bodies.remove(b).unwrap().0.position[1].is_nan());
        assert_eq!(frame(&mut bodies), [(a, BodyRef::Body(b), Phase::End)]);
    }
}

/// Hulls and statics come and go: bodies, ids and events go on.
#[test]
fn another_arena() {
    for (_, engine) in engines() {
        let mut arena = arena(&engine, Options::default());
        let mut bodies = Bodies::new(&arena);
        let [a, b, c] = [0.0, 1.0, 2.0].map(|x| bodies.insert(ball(x).at([x, 0.0, 0.0]), ()).unwrap());
        bodies.remove(c).unwrap();
        assert_eq!(frame(&mut bodies), [(a, BodyRef::Body(b), Phase::Begin)]);
        let cube = arena.add_hulls(&[Hull::cuboid([3.0; 3]).unwrap()]).unwrap().start;
        let without = {
            let mut without = arena.clone();
            without.remove_hulls(&[0]).unwrap();
            without
        };
        bodies.set_arena(&arena).unwrap();
        let error = bodies.set_arena(&without).unwrap_err().to_string();
        assert_eq!(error, "body 0: hull 0 was removed from the arena");
        for id in [a, b] {
            let body = *bodies.get(id).unwrap();
            bodies.set(id, Body { hull: cube, ..body }).unwrap();
        }
        // The empty slot had the hull that is gone now.
        bodies.set_arena(&without).unwrap();
        assert_eq!(frame(&mut bodies), [(a, BodyRef::Body(b), Phase::Stay)]);
        let statics = Options { statics: vec![Body::new(cube)], ..Options::default() };
        bodies.set_arena(&without.with_options(statics).unwrap()).unwrap();
        let expected = [
            (a, BodyRef::Body(b), Phase::Stay),
            (a, BodyRef::Static(0), Phase::Begin),
            (b, BodyRef::Static(0), Phase::Begin),
        ];
        assert_eq!(frame(&mut bodies), expected);
        // An arena of no hulls has place for no body, and for all slots when they are empty.
        let nothing = Arena::new(&engine, &[], Options::default()).unwrap();
        assert!(matches!(bodies.set_arena(&nothing), Err(Error::Missing { what: "hull", .. })));
        for id in [a, b] {
            bodies.remove(id).unwrap();
        }
        bodies.set_arena(&nothing).unwrap();
        assert_eq!(frame(&mut bodies).len(), 3);
        bodies.set_arena(&without).unwrap();
        bodies.insert(Body::new(cube), ()).unwrap();
        assert!(frame(&mut bodies).is_empty());
    }
}

/// The rows go into any query of the arena, and the ids come back.
#[test]
fn rows_and_their_ids() {
    let statics = vec![Body::new(1).at([3.0, 0.0, 0.0])];
    let arena = arena(&Engine::cpu(), Options { statics, ..Options::default() });
    let mut bodies = Bodies::new(&arena);
    let [a, b, c] = [0.0, 10.0, 20.0].map(|x| bodies.insert(ball(x), ()).unwrap());
    bodies.remove(b).unwrap();
    assert_eq!(bodies.rows().len(), 3);
    let ids = [0, 1, 2, 3, 4].map(|row| bodies.of_row(row));
    let [first, third] = [a, c].map(|id| Some(BodyRef::Body(id)));
    assert_eq!(ids, [first, None, third, Some(BodyRef::Static(0)), None]);
    let motions = [[30.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]
        .map(|velocity| hullfield::collide::Motion { velocity, ..Default::default() });
    let options = hullfield::collide::SweepOptions::default();
    let pairs = hullfield::collide::Pairs::BroadPhase;
    let swept = arena.sweeps(bodies.rows(), &motions, pairs, &options).unwrap().wait().unwrap();
    let hits = swept.rows.iter().filter(|row| row.outcome == hullfield::collide::SweepOutcome::Hit);
    let named: Vec<_> = hits.map(|row| [row.a, row.b].map(|row| bodies.of_row(row))).collect();
    assert_eq!(named, [[first, third], [first, Some(BodyRef::Static(0))]]);
}
