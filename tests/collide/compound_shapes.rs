//! Shape casts and nearest bodies of compounds: equal to those of each part alone, bit for bit.

use std::collections::BTreeMap;

use hullfield::collide::{
    Arena, Body, BodyColumns, CompoundBody, CompoundColumns, Compounds, Contact, ContactOptions, Exclusions,
    Hull, NearestBody, NearestOptions, Options, Pairs, Part, PartPair, Precision, ShapeCast,
    ShapeCastColumns, ShapeCastHit, ShapeCastOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compound_rays::{PLACES, PartOf, Scene, pairs};
use crate::compounds::{Expanded, compound, crowd, hulls, statics};

/// Shapes about a place, with their positions in f64.
fn shapes(random: &mut Random, size: f32, at: [f64; 3], count: u32) -> (Vec<Body>, Vec<[f64; 3]>) {
    let shape = |index: u32| {
        let off = random.direction() * (3.0 * f64::from(size) * random.unit());
        let body = Body::new(index % 6).rotated(random.rotation()).scaled(0.3 * size);
        let body = if index % 4 == 1 { body.padded(0.05 * size) } else { body };
        let body = if index % 9 == 2 { body.grouped(2, u32::MAX) } else { body };
        (body, std::array::from_fn(|k| at[k] + off[k]))
    };
    (0..count).map(shape).unzip()
}

/// The same on their way.
pub(crate) fn casts(
    random: &mut Random,
    size: f32,
    at: [f64; 3],
    count: u32,
) -> (Vec<ShapeCast>, Vec<[f64; 3]>) {
    let (bodies, positions) = shapes(random, size, at, count);
    let casts = (0..).zip(bodies.iter().zip(&positions)).map(|(index, (&body, position))| {
        let to = random.direction() * f64::from(size);
        let towards = [0, 1, 2].map(|k| (at[k] + to[k] - position[k]) as f32);
        let cast = ShapeCast::new(body, towards);
        if index % 3 == 1 { cast.up_to(size) } else { cast }
    });
    (casts.collect(), positions)
}

#[test]
fn shapes_meet_the_parts_that_they_meet_alone() {
    for (name, engine) in engines() {
        let mut random = Random::new(81);
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, &mut random, size, at, fixed);
            let (casts, positions) = casts(&mut random, size, at, 120);
            let columns = ShapeCastColumns { positions: &positions, ..ShapeCastColumns::new(&casts) };
            for (skip_start, witness) in [(false, true), (true, false)] {
                let options = ShapeCastOptions { skip_start, witness };
                let mut expected: Vec<PartOf<ShapeCastHit>> = scene.one_by_one(
                    |arena, body| {
                        arena.shape_casts_all(body, columns, &options).unwrap().wait().unwrap().rows
                    },
                    |hit| &mut hit.body,
                );
                expected.sort_by(|(p, a), (q, b)| {
                    let by_distance = a.cast.cmp(&b.cast).then(a.distance.total_cmp(&b.distance));
                    by_distance.then(a.body.cmp(&b.body)).then(p.cmp(q))
                });
                let found = scene.compounds.shape_casts_all(&scene.bodies, columns, &options).unwrap();
                assert!(pairs(&found.wait().unwrap().rows) == expected, "{what}: all hits");
                assert!(expected.len() > 100, "{what}: {}", expected.len());
                assert!(expected.iter().any(|(_, hit)| hit.initial_overlap) != skip_start, "{what}");

                let first = scene.compounds.shape_casts(&scene.bodies, columns, &options).unwrap();
                let first = first.wait().unwrap();
                let any = scene.compounds.shape_casts_any(&scene.bodies, columns, &options).unwrap();
                for ((cast, row), any) in (0..).zip(&first.rows).zip(any.wait().unwrap().rows) {
                    let nearest = expected.iter().find(|(_, hit)| hit.cast == cast);
                    let found = row.row.hit.map(|hit| (row.part, hit));
                    assert_eq!(found.as_ref(), nearest, "{what} cast {cast}");
                    assert_eq!((row.row.cast, any.cast, any.is_hit), (cast, cast, nearest.is_some()));
                }
            }
        }
    }
}

#[test]
fn shapes_are_near_the_parts_that_they_are_near_alone() {
    for (name, engine) in engines() {
        let mut random = Random::new(82);
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, &mut random, size, at, fixed);
            let (bodies, positions) = shapes(&mut random, size, at, 60);
            let shapes = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
            for (count, max_distance) in [(1, f32::INFINITY), (3, 0.4 * size), (1_000, f32::INFINITY)] {
                let options = NearestOptions { count, max_distance };
                let all = scene.one_by_one(
                    |arena, body| {
                        arena.nearest_bodies_to(body, shapes, &options).unwrap().wait().unwrap().rows
                    },
                    |row: &mut NearestBody| &mut row.body,
                );
                let found = scene.compounds.nearest_bodies_to(&scene.bodies, shapes, &options).unwrap();
                let found = found.wait().unwrap();
                let expected = nearest_of(all.iter().map(|&(part, row)| (0, part, row)), count);
                let expected: Vec<_> = expected.into_iter().map(|(_, part, row)| (part, row)).collect();
                assert!(pairs(&found.rows) == expected, "{what} count {count}");
                assert!(expected.len() > 50, "{what}: {}", expected.len());
            }
        }
    }
}

/// The nearest pair of parts of each body, and the nearest of these, a query after another.
fn nearest_of(
    all: impl IntoIterator<Item = (u32, u32, NearestBody)>,
    count: u32,
) -> Vec<(u32, u32, NearestBody)> {
    let key = |&(p, q, row): &(u32, u32, NearestBody)| (row.query, row.body, p, q);
    let mut best: BTreeMap<(u32, u32), (u32, u32, NearestBody)> = BTreeMap::new();
    for found in all {
        let held = best.entry((found.2.query, found.2.body)).or_insert(found);
        let by_gap = found.2.separation.total_cmp(&held.2.separation);
        if by_gap.then(key(&found).cmp(&key(held))).is_lt() {
            *held = found;
        }
    }
    let mut rows: Vec<_> = best.into_values().collect();
    rows.sort_by(|a, b| {
        a.2.query.cmp(&b.2.query).then(a.2.separation.total_cmp(&b.2.separation)).then(key(a).cmp(&key(b)))
    });
    let mut kept = Vec::new();
    for row in rows {
        let of_query = kept
            .iter()
            .rev()
            .take_while(|(_, _, other): &&(u32, u32, NearestBody)| other.query == row.2.query);
        if of_query.count() < count as usize {
            kept.push(row);
        }
    }
    kept
}

/// Some row, as one can't be made from without.
pub(crate) fn any_nearest() -> NearestBody {
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let bodies = [Body::new(0); 2];
    arena.nearest_bodies(&bodies, &NearestOptions::default()).unwrap().wait().unwrap().rows[0]
}

/// The nearest bodies by contacts of all pairs of parts of different bodies, in f64. `meet` says which bodies may.
pub(crate) fn by_contacts(
    arena: &Arena,
    parts: &Expanded,
    fixed: &[Body],
    options: &NearestOptions,
    meet: impl Fn(u32, u32) -> bool,
) -> Vec<(u32, u32, NearestBody)> {
    let exact = Options { precision: Precision::Exact, ..arena.options().clone() };
    let arena = arena.with_options(exact).unwrap();
    let all: Vec<&Body> = parts.bodies.iter().chain(fixed).collect();
    let mut given = Vec::new();
    for (a, first) in (0..parts.bodies.len()).zip(&all) {
        for (b, second) in (0..).zip(&all) {
            let [of_a, of_b] = [a, b].map(|id| parts.names[id][0]);
            let groups = first.group & second.mask != 0 && second.group & first.mask != 0;
            if groups && of_a != of_b && meet(of_a.min(of_b), of_a.max(of_b)) {
                given.push([a as u32, b as u32]);
            }
        }
    }
    let margin = ContactOptions { margin: f32::INFINITY };
    let found = arena.contacts(parts.columns(), Pairs::Given(&given), &margin).unwrap().wait().unwrap().rows;
    let template = any_nearest();
    let row = |contact: &Contact| {
        let [a, b] = [contact.a, contact.b].map(|id| parts.names[id as usize]);
        let mut row = template;
        (row.query, row.body, row.status, row.separation) = (a[0], b[0], contact.status, contact.separation);
        (row.normal, row.points) = (contact.normal, contact.points);
        (a[1], b[1], row)
    };
    let within = |row: &&Contact| row.status.is_hit() || row.separation <= f64::from(options.max_distance);
    nearest_of(found.iter().filter(within).map(row), options.count)
}

pub(crate) fn triples(rows: &[PartPair<NearestBody>]) -> Vec<(u32, u32, NearestBody)> {
    rows.iter().map(|row| (row.part_a, row.part_b, row.row)).collect()
}

#[test]
fn nearest_bodies_are_those_of_all_pairs_of_parts() {
    for (name, engine) in engines() {
        let mut random = Random::new(83);
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, &mut random, size, at, fixed);
            let Scene { compounds, bodies, parts } = &scene;
            let arena = compounds.arena();
            let worlds: Vec<u32> = (0..bodies.len() as u32).map(|row| [7, 3, 7][row as usize % 3]).collect();
            let (count, still) = (bodies.len() as u32, arena.statics().len() as u32);
            let mut excluded = vec![[0, 3], [5, 2], [4, 7]];
            if still > 0 {
                excluded.push([1, count + 2]);
            }
            let exclusions = Exclusions::new(&excluded).unwrap();
            let exclusions = if still > 0 { exclusions.with_statics(&[[6, 1]]) } else { exclusions };
            for (wanted, max_distance) in [(1, f32::INFINITY), (4, 0.5 * size), (1_000, f32::INFINITY)] {
                let options = NearestOptions { count: wanted, max_distance };
                let found = compounds.nearest_bodies(bodies, &options).unwrap().wait().unwrap();
                let expected = by_contacts(arena, parts, arena.statics(), &options, |_, _| true);
                assert!(triples(&found.rows) == expected, "{what} count {wanted}");
                assert!(expected.len() >= 15, "{what}: {}", expected.len());

                let columns = CompoundColumns {
                    worlds: &worlds,
                    exclusions: Some(&exclusions),
                    ..CompoundColumns::new(bodies)
                };
                let found = compounds.nearest_bodies(columns, &options).unwrap().wait().unwrap();
                let meet = |a: u32, b: u32| {
                    let is_out = b >= count && exclusions.contains_static(a, b - count);
                    let is_world = b >= count || worlds[a as usize] == worlds[b as usize];
                    is_world && !is_out && !exclusions.contains(a, b)
                };
                let limited = by_contacts(arena, parts, arena.statics(), &options, meet);
                assert!(triples(&found.rows) == limited, "{what} count {wanted} with worlds");
                assert_ne!(limited, expected, "{what}");
            }
        }
    }
}

#[test]
fn statics_of_parts_are_near_and_met() {
    let mut random = Random::new(84);
    let hulls = hulls(&mut random);
    let options = Options { statics: statics(), ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &hulls, options).unwrap();
    let compounds = Compounds::new(&arena, &[1, 6, 15].map(|count| compound(&mut random, count))).unwrap();
    let all = crowd(&mut random, 30, 3, 1.0, [0.0; 3], 2.5);
    let (movers, still) = all.split_at(20);
    let level = compounds.with_statics(still).unwrap();
    let id = |id: u32| match id {
        0..20 => id,
        20..30 => id + 3,
        id => id - 10,
    };
    let options = NearestOptions { count: 100, max_distance: 2.0 };
    let sorted = |mut rows: Vec<(u32, u32, NearestBody)>| {
        rows.sort_by_key(|(_, _, row)| (row.query, row.body));
        rows
    };
    let found = sorted(triples(&level.nearest_bodies(movers, &options).unwrap().wait().unwrap().rows));
    let of_all = triples(&compounds.nearest_bodies(&all, &options).unwrap().wait().unwrap().rows);
    let of_movers = of_all.into_iter().filter(|(_, _, row)| row.query < 20).map(|(p, q, mut row)| {
        row.body = id(row.body);
        (p, q, row)
    });
    assert_eq!(found, sorted(of_movers.collect()));
    assert!(found.iter().any(|(_, part, row)| row.body >= 23 && *part > 0));
    // A static is excluded by either of its ids, with all of its parts.
    let &(_, _, near) = found.iter().find(|(_, part, row)| row.body >= 23 && *part > 0).unwrap();
    let by_row = Exclusions::new(&[[near.query, near.body]]).unwrap();
    let as_static = Exclusions::default().with_statics(&[[near.query, near.body - 20]]);
    for exclusions in [by_row, as_static] {
        let columns = CompoundColumns { exclusions: Some(&exclusions), ..CompoundColumns::new(movers) };
        let fewer = sorted(triples(&level.nearest_bodies(columns, &options).unwrap().wait().unwrap().rows));
        let is_other = |row: &NearestBody| (row.query, row.body) != (near.query, near.body);
        let expected: Vec<_> = found.iter().copied().filter(|(_, _, row)| is_other(row)).collect();
        assert_eq!(fewer, expected);
    }

    let (casts, positions) = casts(&mut random, 1.0, [0.0; 3], 100);
    let columns = ShapeCastColumns { positions: &positions, ..ShapeCastColumns::new(&casts) };
    let options = ShapeCastOptions { witness: true, ..ShapeCastOptions::default() };
    let found = level.shape_casts_all(movers, columns, &options).unwrap().wait().unwrap();
    let of_all = compounds.shape_casts_all(&all, columns, &options).unwrap().wait().unwrap();
    let mut expected = pairs(&of_all.rows);
    expected.iter_mut().for_each(|(_, hit)| hit.body = id(hit.body));
    expected.sort_by(|(p, a), (q, b)| {
        a.cast.cmp(&b.cast).then(a.distance.total_cmp(&b.distance)).then((a.body, p).cmp(&(b.body, q)))
    });
    assert_eq!(pairs(&found.rows), expected);
    assert!(expected.iter().any(|(part, hit)| hit.body >= 23 && *part > 0));
}

#[test]
fn bad_input_is_one_clear_error() {
    let mut random = Random::new(1);
    let Scene { compounds, bodies, .. } = Scene::new(&Engine::cpu(), &mut random, 1.0, [0.0; 3], true);
    let (cast, near) = (ShapeCastOptions::default(), NearestOptions::default());
    let good = ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0]);
    let of_casts = |casts: &[ShapeCast]| compounds.shape_casts(&bodies, casts, &cast).map(drop).unwrap_err();
    let error = of_casts(&[good, ShapeCast::new(Body::new(0), [0.0; 3])]);
    assert!(matches!(error, Error::Value { at: Location::Cast(1), field: "direction", .. }), "{error}");
    let error = of_casts(&[ShapeCast::new(Body::new(99), [1.0; 3])]);
    assert!(matches!(error, Error::Missing { at: Location::Cast(0), what: "hull", .. }), "{error}");
    let error = of_casts(&[ShapeCast::new(Body::new(6), [1.0; 3])]);
    assert!(matches!(error, Error::Invalid { at: Location::Cast(0), .. }), "{error}");
    let error = of_casts(&[ShapeCast::new(Body::new(0).at([f32::NAN, 0.0, 0.0]), [1.0; 3])]);
    assert!(matches!(error, Error::Value { at: Location::Cast(0), .. }), "{error}");

    let bad = [bodies[0], CompoundBody::new(3)];
    let error = compounds.shape_casts_any(&bad, &[good], &cast).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "body 1: compound 3 does not exist, there are 3");
    let error = compounds.nearest_bodies(&bad, &near).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "body 1: compound 3 does not exist, there are 3");
    let error = compounds.nearest_bodies(&[bodies[0].at([0.0, f64::NAN, 0.0])], &near).map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Body(0), field: "position", .. }), "{error}");
    let worlds = vec![0; bodies.len()];
    let short = CompoundColumns { worlds: &[1], ..CompoundColumns::new(&bodies) };
    let in_worlds = CompoundColumns { worlds: &worlds, ..CompoundColumns::new(&bodies) };
    for error in [
        compounds.nearest_bodies(short, &near).map(drop).unwrap_err(),
        compounds.shape_casts_all(short, &[good], &cast).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Count { what: "worlds", given: 1, .. }), "{error}");
    }
    let error = compounds.shape_casts(in_worlds, &[good], &cast).map(drop).unwrap_err();
    assert!(error.to_string().contains("the bodies have worlds, but the shape casts have none"), "{error}");
    let error = compounds.nearest_bodies_to(in_worlds, &[Body::new(0)], &near).map(drop).unwrap_err();
    assert!(error.to_string().contains("the bodies have worlds, but the shapes have none"), "{error}");
    for bad in [NearestOptions { count: 0, ..near }, NearestOptions { max_distance: f32::NAN, ..near }] {
        assert!(matches!(compounds.nearest_bodies(&bodies, &bad).map(drop), Err(Error::Value { .. })));
        let error = compounds.nearest_bodies_to(&bodies, &[Body::new(0)], &bad).map(drop);
        assert!(matches!(error, Err(Error::Value { .. })));
    }
    let error = compounds.nearest_bodies_to(&bodies, &[Body::new(0), Body::new(9)], &near).map(drop);
    assert!(matches!(error, Err(Error::Missing { at: Location::Query(1), what: "hull", .. })), "{error:?}");
    let exclusions = Exclusions::new(&[[0, 1_000]]).unwrap();
    let columns = CompoundColumns { exclusions: Some(&exclusions), ..CompoundColumns::new(&bodies) };
    let error = compounds.nearest_bodies(columns, &near).map(drop).unwrap_err();
    assert!(matches!(error, Error::Missing { what: "excluded body", index: 1_000, .. }), "{error}");

    // Nothing to meet, and nothing asked.
    let none = compounds.arena().with_options(Options::default()).unwrap();
    let none = Compounds::new(&none, &[]).unwrap();
    assert_eq!(none.shape_casts(&[], &[good], &cast).unwrap().wait().unwrap().rows[0].row.hit, None);
    assert!(none.nearest_bodies(&[], &near).unwrap().wait().unwrap().rows.is_empty());
    assert!(none.nearest_bodies_to(&[], &[Body::new(0)], &near).unwrap().wait().unwrap().rows.is_empty());
    assert!(compounds.shape_casts_all(&bodies, &[], &cast).unwrap().wait().unwrap().rows.is_empty());
    let alone = [CompoundBody::new(0)];
    let ball = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let ball =
        Compounds::new(&ball, &[hullfield::collide::Compound::new([Part::new(0), Part::new(0)])]).unwrap();
    assert!(ball.nearest_bodies(&alone, &near).unwrap().wait().unwrap().rows.is_empty());
}
