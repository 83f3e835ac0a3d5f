//! Which bodies are hit, and how many each hits: as the rows of `intersections` say, also where these would not fit; the deepest contacts
//! of each body; and two sets tested only against each other.

use hullfield::collide::{Arena, Body, Contact, ContactOptions, Hull, Options, Pairs};
use hullfield::{BackendChoice, Engine, EngineOptions, Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::ray_scenes::{Crowd, crowd};

fn arena(crowd: &Crowd, engine: &Engine) -> Arena {
    let options = Options { statics: crowd.statics.clone(), ..Options::default() };
    Arena::new(engine, &crowd.hulls, options).unwrap()
}

/// How many rows of `intersections` each body has.
fn partners(arena: &Arena, bodies: &[Body]) -> Vec<u32> {
    let mut counts = vec![0; bodies.len()];
    for row in arena.intersections(bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows {
        for body in [row.a, row.b] {
            if let Some(count) = counts.get_mut(body as usize) {
                *count += 1;
            }
        }
    }
    counts
}

#[test]
fn hits_are_the_rows_of_intersections() {
    let mut seen = [0; 3];
    for (seed, count, spread, far) in [
        (901, 1, 1.0, 0.0),
        (902, 9, 1.0, 0.0),
        (903, 300, 3.0, 10.0),
        (904, 900, 30.0, 1e3),
        (905, 300, 1.0, 1e6),
    ] {
        let crowd = crowd(count, 1, spread, far, seed);
        for (name, engine) in engines() {
            let arena = arena(&crowd, &engine);
            let expected = partners(&arena, &crowd.bodies);
            let counts = arena.hit_counts(&crowd.bodies).unwrap().wait().unwrap();
            assert_eq!(counts.rows, expected, "{name}, {seed}");
            let hits = arena.hits(&crowd.bodies).unwrap().wait().unwrap();
            let flags: Vec<bool> = expected.iter().map(|&count| count > 0).collect();
            assert_eq!(hits.rows, flags, "{name}, {seed}");
            let hit_count = flags.iter().filter(|&&is_hit| is_hit).count();
            assert_eq!((hits.stats.hit_count, counts.stats.hit_count), (hit_count as u64, hit_count as u64));
            assert!(hits.stats.candidate_count <= 2 * counts.stats.candidate_count);
            for &count in &expected {
                seen[count.min(2) as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let crowd = crowd(extent(3_000, 30_000), 1, 2.0, 0.0, 906);
    let arena = arena(&crowd, &Engine::cpu());
    let ask = || {
        let hits = arena.hits(&crowd.bodies).unwrap().wait().unwrap().rows;
        (hits, arena.hit_counts(&crowd.bodies).unwrap().wait().unwrap().rows)
    };
    let many = ask();
    for count in [1, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        assert!(pool.install(ask) == many, "{count} threads");
    }
}

/// Where all meet, `hits` ends with each body's first partner, and neither keeps rows.
#[test]
fn a_crowd_at_one_place_needs_no_memory_for_rows() {
    let hull = Hull::cuboid([0.5; 3]).unwrap();
    let options = EngineOptions {
        backend: BackendChoice::Cpu,
        answer_limit: Some(100_000),
        ..EngineOptions::default()
    };
    let engine = Engine::new(&options).unwrap();
    let arena = Arena::new(&engine, &[hull], Options::default()).unwrap();
    let mut random = Random::new(907);
    let count = 4_000;
    let bodies: Vec<Body> =
        (0..count).map(|_| Body::new(0).at([0; 3].map(|_| 0.1 * random.unit() as f32))).collect();
    let rows = arena.intersections(&bodies, Pairs::BroadPhase).and_then(|rows| rows.wait());
    assert!(matches!(rows, Err(Error::MemoryLimit { .. })), "{rows:?}");
    let hits = arena.hits(&bodies).unwrap().wait().unwrap();
    assert!(hits.rows.iter().all(|&is_hit| is_hit));
    assert!(hits.stats.candidate_count <= 16 * count as u64, "{}", hits.stats.candidate_count);
    let counts = arena.hit_counts(&bodies).unwrap().wait().unwrap();
    assert!(counts.rows.iter().all(|&partners| partners == count as u32 - 1));
}

#[test]
fn nothing_hits_nothing_and_bad_bodies_are_errors() {
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        assert!(arena.hits(&[]).unwrap().wait().unwrap().rows.is_empty());
        assert!(arena.hit_counts(&[]).unwrap().wait().unwrap().rows.is_empty());
        assert_eq!(arena.hits(&[Body::new(0)]).unwrap().wait().unwrap().rows, [false]);
        let bad = [Body::new(0), Body::new(1)];
        let errors = [arena.hits(&bad).map(drop).unwrap_err(), arena.hit_counts(&bad).map(drop).unwrap_err()];
        for error in errors {
            assert!(matches!(error, Error::Missing { at: Location::Body(1), what: "hull", .. }), "{error}");
        }
    }
}

/// Two sets by groups and masks: no pair within a set is a candidate, and the rows are those across.
#[test]
fn two_sets_are_tested_only_against_each_other() {
    let mut random = Random::new(908);
    let hull = Hull::cuboid([0.5; 3]).unwrap();
    let mut bodies: Vec<Body> = (0..extent(300, 3_000))
        .map(|_| Body::new(0).at([0; 3].map(|_| (8.0 * random.unit()) as f32)).rotated(random.rotation()))
        .collect();
    let split = bodies.len() as u32 / 3;
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, std::slice::from_ref(&hull), Options::default()).unwrap();
        let all = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        let across = |pair: [u32; 2]| (pair[0] < split) != (pair[1] < split);
        let expected: Vec<_> = all.rows.iter().filter(|row| across([row.a, row.b])).copied().collect();
        let candidates = arena.candidates(&bodies).unwrap().wait().unwrap();
        let candidate_count = candidates.iter().filter(|&&pair| across(pair)).count() as u64;
        for (id, body) in (0..).zip(&mut bodies) {
            let (group, mask) = if id < split { (1, 2) } else { (2, 1) };
            *body = body.grouped(group, mask);
        }
        let found = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        assert_eq!(found.rows, expected);
        assert_eq!(found.stats.candidate_count, candidate_count);
        assert!(!expected.is_empty() && expected.len() < all.rows.len());
        bodies.iter_mut().for_each(|body| *body = body.grouped(u32::MAX, u32::MAX));
    }
}

/// Whether a row is one of the deepest of a body: fewer than `count` of its rows are deeper, or as deep and before it.
fn is_deepest(rows: &[Contact], row: &Contact, body: u32, count: u32) -> bool {
    let deeper = |other: &&Contact| {
        let is_deeper = other.separation < row.separation
            || other.separation == row.separation && (other.a, other.b) < (row.a, row.b);
        (other.a == body || other.b == body) && is_deeper
    };
    rows.iter().filter(deeper).count() < count as usize
}

#[test]
fn the_deepest_contacts_of_each_body_are_kept() {
    let mut dropped_count = 0;
    for (seed, count, spread) in [(911, 9, 1.0), (912, 300, 3.0)] {
        let crowd = crowd(count, 1, spread, 0.0, seed);
        for (name, engine) in engines() {
            let arena = arena(&crowd, &engine);
            let options = ContactOptions { margin: 0.3 };
            let all = arena.contacts(&crowd.bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
            for count in [1, 2, 5, u32::MAX] {
                let kept = arena.deepest_contacts(&crowd.bodies, count, &options).unwrap().wait().unwrap();
                let is_kept = |row: &&Contact| {
                    [row.a, row.b].iter().any(|&body| is_deepest(&all.rows, row, body, count))
                };
                let expected: Vec<Contact> = all.rows.iter().filter(is_kept).copied().collect();
                assert_eq!(kept.rows, expected, "{name}, {seed}, {count}");
                assert_eq!(kept.stats.hit_count, all.stats.hit_count);
                dropped_count += all.rows.len() - kept.rows.len();
            }
            let none = arena.deepest_contacts(&crowd.bodies, 0, &options).map(drop).unwrap_err();
            assert!(matches!(none, Error::Value { at: Location::Argument, field: "count", .. }), "{none}");
            assert!(arena.deepest_contacts(&[], 3, &options).unwrap().wait().unwrap().rows.is_empty());
        }
    }
    assert!(dropped_count > 200, "{dropped_count}");
}
