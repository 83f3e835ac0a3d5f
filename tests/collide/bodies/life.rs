//! A long random life of a set, beside a model of it.

use std::collections::{BTreeMap, BTreeSet};

use hullfield::Engine;
use hullfield::collide::{
    Arena, Bodies, Body, BodyId, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Options, PairEvent,
    Phase,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, scenes, seed};

use super::model::Model;
use crate::answers::engines;

/// Side of the cube that the bodies live in, in world units.
const SIZE: f64 = 7.0;

fn hulls() -> Vec<Hull> {
    scenes::convex_sets(5, 1.0, 91).iter().map(|points| Hull::from_points(points).unwrap()).collect()
}

fn statics() -> Vec<Body> {
    (0..4).map(|k| Body::new(k).at([2.0 * k as f32, 0.5, 3.0]).scaled(1.5)).collect()
}

fn anywhere(random: &mut Random) -> Body {
    let position = [0; 3].map(|_| random.between(0.0, SIZE) as f32);
    Body::new(random.below(5) as u32)
        .at(position)
        .rotated(random.rotation())
        .scaled(random.between(0.4, 1.2) as f32)
}

/// What a life tells in the end.
#[derive(Debug, Default, PartialEq)]
struct Told {
    events: Vec<PairEvent>,
    phases: [usize; 3],
    removed_while_touching: usize,
    most_alive: usize,
}

/// Lives for some frames, at random from `seed`. `spoil` may change the events of a frame before they are compared.
fn live(
    engine: &Engine,
    warm_start: bool,
    seed: u64,
    frames: usize,
    mut spoil: impl FnMut(usize, &mut Vec<PairEvent>),
) -> Result<(Told, u64), String> {
    let options = Options { warm_start, statics: statics(), ..Options::default() };
    let arena = Arena::new(engine, &hulls(), options).unwrap();
    let mut bodies = Bodies::new(&arena);
    let mut model = Model::new(&hulls(), &statics());
    let mut alive: BTreeMap<BodyId, Body> = BTreeMap::new();
    let mut serials: BTreeMap<BodyId, usize> = BTreeMap::new();
    let mut gone: BTreeSet<BodyId> = BTreeSet::new();
    let mut random = Random::new(seed);
    let (mut told, mut skipped) = (Told::default(), 0);
    for at in 0..frames {
        // Busy times, and calm ones in which only poses change.
        let is_busy = at % 24 < 8;
        let wanted = if at % 96 < 48 { 40 } else { 12 };
        for _ in 0..if is_busy { 6 } else { 0 } {
            if random.below(2 * wanted) < alive.len() {
                let id = *alive.keys().nth(random.below(alive.len())).unwrap();
                let data = bodies.remove(id);
                assert_eq!(data, Some((alive.remove(&id).unwrap(), serials[&id])));
                gone.insert(id);
                told.removed_while_touching +=
                    bodies.touching().filter(|&(a, b)| a == id || b.body() == Some(id)).count();
            } else {
                let body = anywhere(&mut random);
                let id = bodies.insert(body, serials.len()).unwrap();
                assert!(serials.insert(id, serials.len()).is_none(), "{id} came back");
                alive.insert(id, body);
            }
            told.most_alive = told.most_alive.max(alive.len());
        }
        for (&id, body) in &mut alive {
            let step = if random.chance(0.01) { SIZE } else { 0.03 };
            if at % 5 != 4 || step == SIZE {
                body.position = body.position.map(|x| x + (step * (random.unit() - 0.5)) as f32);
            }
            if random.chance(0.01) {
                *body = anywhere(&mut random);
            }
            bodies.set(id, *body).unwrap();
        }
        // Nothing aliases, and nothing grows.
        assert!(gone.iter().all(|&id| bodies.get(id).is_none() && bodies.user_data(id).is_none()));
        assert!(
            bodies.iter().map(|(id, body, &data)| (id, *body, data)).eq(alive.iter().map(|(&id, body)| (
                id,
                *body,
                serials[&id]
            )))
        );
        assert_eq!(bodies.rows().len(), told.most_alive);
        let (mut events, skipped_here) = match at % 4 {
            0 => {
                let found = bodies.contacts(&ContactOptions { margin: 0.1 }).unwrap().wait().unwrap();
                (bodies.events(&found).unwrap(), found.stats.skipped_count)
            }
            1 if at % 8 == 1 => {
                let found = bodies.manifolds(&ManifoldOptions::default()).unwrap().wait().unwrap();
                (bodies.events(&found).unwrap(), found.stats.skipped_count)
            }
            2 if at % 8 == 2 => {
                let found = bodies.distances(&DistanceOptions { margin: 0.05 }).unwrap().wait().unwrap();
                (bodies.events(&found).unwrap(), found.stats.skipped_count)
            }
            _ => {
                let found = bodies.intersections().unwrap().wait().unwrap();
                (bodies.events(&found).unwrap(), found.stats.skipped_count)
            }
        };
        skipped += skipped_here;
        spoil(at, &mut events);
        let expected = model.advance(&alive);
        model.check(&expected, &events).map_err(|text| format!("frame {at}: {text}"))?;
        let touching: Vec<_> = bodies.touching().collect();
        let told_now = events.iter().filter(|event| event.phase != Phase::End);
        assert_eq!(touching, told_now.map(|event| (event.a, event.b)).collect::<Vec<_>>());
        events.iter().for_each(|event| told.phases[event.phase as usize] += 1);
        told.events.extend(events);
    }
    Ok((told, skipped))
}

/// Events are those of the model, on each engine, with and without a warm start.
#[test]
fn a_long_life() {
    let (seed, frames) = (seed(92), extent(400, 1_000));
    let (told, _) = live(&Engine::cpu(), false, seed, frames, |_, _| ()).unwrap();
    println!(
        "{:?} phases, {} alive, {} removed in touch",
        told.phases, told.most_alive, told.removed_while_touching
    );
    assert!(told.phases.iter().all(|&count| count > frames / 2) && told.removed_while_touching > frames / 20);
    let (warm, skipped) = live(&Engine::cpu(), true, seed, frames, |_, _| ()).unwrap();
    assert_eq!(warm, told);
    assert!(skipped > frames as u64, "{skipped} skipped");
    let few = 60;
    let (told, _) = live(&Engine::cpu(), false, seed, few, |_, _| ()).unwrap();
    for (name, engine) in engines() {
        for warm_start in [false, true] {
            assert_eq!(live(&engine, warm_start, seed, few, |_, _| ()).unwrap().0, told, "{name}");
        }
    }
}

/// Any number of threads.
#[cfg(feature = "threads")]
#[test]
fn threads_change_nothing() {
    let told: Vec<Told> = [1, 3]
        .map(|count| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
            pool.install(|| live(&Engine::cpu(), true, 92, 100, |_, _| ()).unwrap().0)
        })
        .into();
    assert_eq!(told[0], told[1]);
}

/// Negative control: each wrong event is found.
#[test]
fn a_wrong_event_is_seen() {
    type Spoil = fn(&mut Vec<PairEvent>);
    let spoils: [(&str, Spoil); 5] = [
        ("one missing", |events| events.truncate(events.len() - 1)),
        ("one twice", |events| events.extend_from_within(..1)),
        ("another phase", |events| {
            events[0].phase = if events[0].phase == Phase::Stay { Phase::Begin } else { Phase::Stay };
        }),
        ("another order", |events| events.swap(0, 1)),
        ("another body", |events| events[0].a = events[1].a.max(events[0].b.body().unwrap_or(events[1].a))),
    ];
    for (what, spoil) in spoils {
        let spoiled = live(&Engine::cpu(), false, 92, 30, |at, events| {
            if at == 25 {
                assert!(events.len() > 2);
                spoil(events);
            }
        });
        let text = spoiled.expect_err(what);
        assert!(text.starts_with("frame 25"), "{what}: {text}");
    }
}
