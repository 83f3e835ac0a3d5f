//! Sweeps of compounds: equal to those of pairs of parts alone.

use std::collections::BTreeMap;

use hullfield::collide::{
    Arena, Body, CompoundBody, CompoundColumns, Compounds, Exclusions, Motion, Options, Pairs, PartPair,
    Precision, Sweep, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compound_rays::{PLACES, Scene};
use crate::compounds::{compound, crowd, hulls, statics};

fn motions(random: &mut Random, count: usize, size: f32) -> Vec<Motion> {
    let motion = |index: usize| {
        let speed = if index.is_multiple_of(4) { 0.0 } else { 2.0 * f64::from(size) * random.unit() };
        Motion { velocity: (random.direction() * speed).as_vec3().to_array(), ..Motion::default() }
    };
    (0..count).map(motion).collect()
}

/// A row as tests compare it: bodies, parts, and the rest.
type Told = ([u32; 2], [u32; 2], Sweep);

fn told(rows: &[PartPair<Sweep>]) -> Vec<Told> {
    rows.iter().map(|row| ([row.row.a, row.row.b], [row.part_a, row.part_b], row.row)).collect()
}

/// All pairs of parts of different bodies that meet, swept one by one, sorted by bodies and parts. `meet` says which bodies may.
fn one_by_one(
    scene: &Scene,
    arena: &Arena,
    motions: &[Motion],
    options: &SweepOptions,
    meet: impl Fn(u32, u32) -> bool,
) -> Vec<Told> {
    let parts = &scene.parts;
    let all: Vec<&Body> = parts.bodies.iter().chain(arena.statics()).collect();
    let of_parts: Vec<Motion> =
        parts.names[..parts.bodies.len()].iter().map(|name| motions[name[0] as usize]).collect();
    let mut given = Vec::new();
    for (a, first) in (0..parts.bodies.len()).zip(&all) {
        for (b, second) in (a + 1..).zip(&all[a + 1..]) {
            let [of_a, of_b] = [a, b].map(|id| parts.names[id][0]);
            let groups = first.group & second.mask != 0 && second.group & first.mask != 0;
            if groups && of_a != of_b && meet(of_a, of_b) {
                given.push([a as u32, b as u32]);
            }
        }
    }
    let found = arena.sweeps(parts.columns(), &of_parts, Pairs::Given(&given), options).unwrap();
    let mut rows: Vec<Told> = found
        .wait()
        .unwrap()
        .rows
        .into_iter()
        .filter(|row| row.outcome != SweepOutcome::Miss)
        .map(|mut row| {
            let [a, b] = [row.a, row.b].map(|id| parts.names[id as usize]);
            (row.a, row.b) = (a[0], b[0]);
            ([a[0], b[0]], [a[1], b[1]], row)
        })
        .collect();
    rows.sort_by_key(|row| (row.0, row.1));
    rows
}

/// The first of each pair of bodies.
fn firsts(rows: &[Told]) -> Vec<Told> {
    let mut first: BTreeMap<[u32; 2], Told> = BTreeMap::new();
    for row in rows {
        let held = first.entry(row.0).or_insert(*row);
        if row.2.time < held.2.time {
            *held = *row;
        }
    }
    first.into_values().collect()
}

/// The same pairs and outcomes, and times that are near.
fn assert_same(found: &[Told], expected: &[Told], is_exact: bool, tolerance: f64, what: &str) {
    if is_exact {
        assert!(found == expected, "{what}: {} and {} rows", found.len(), expected.len());
        return;
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, other) in found.iter().zip(expected) {
        assert_eq!((row.0, row.1, row.2.outcome), (other.0, other.1, other.2.outcome), "{what}");
        assert!((row.2.time - other.2.time).abs() <= tolerance, "{what}: {row:?} {other:?}");
    }
}

#[test]
fn parts_meet_when_they_do_alone() {
    for (name, engine) in engines() {
        let mut random = Random::new(61);
        let mut limited_count = 0;
        for (size, at, fixed) in PLACES {
            for precision in [Precision::Fast, Precision::Exact] {
                let what = format!("{name} size {size} at {at:?} {precision:?}");
                let mut scene = Scene::new(&engine, &mut random, size, at, fixed);
                let of_compounds = [1, 4, 13].map(|count| compound(&mut random, count));
                let options = Options { precision, ..scene.compounds.arena().options().clone() };
                let arena = scene.compounds.arena().with_options(options).unwrap();
                scene.compounds = Compounds::new(&arena, &of_compounds).unwrap();
                scene.parts = crate::compounds::Expanded::new(&scene.compounds, &scene.bodies);
                let Scene { compounds, bodies, .. } = &scene;
                let motions = motions(&mut random, bodies.len(), size);
                let is_exact = precision == Precision::Exact;
                let options = SweepOptions { duration: 1.0, witness: true };

                let expected = one_by_one(&scene, &arena, &motions, &options, |_, _| true);
                assert!(expected.len() > 15, "{what}: {}", expected.len());
                let found = compounds.sweeps(bodies, &motions, Pairs::BroadPhase, &options).unwrap();
                let found = told(&found.wait().unwrap().rows);
                assert_same(&found, &expected, is_exact, 1e-3, &what);
                let first = compounds.body_sweeps(bodies, &motions, Pairs::BroadPhase, &options).unwrap();
                let first = first.wait().unwrap();
                assert_eq!(told(&first.rows), firsts(&found), "{what}");
                assert_eq!(first.stats.hit_count, first.rows.len() as u64);
                let outcomes: Vec<_> = first.rows.iter().map(|row| row.row.outcome).collect();
                assert!(outcomes.contains(&SweepOutcome::Hit) && outcomes.contains(&SweepOutcome::Touching));

                // Given pairs of bodies, in any order, also repeated.
                let pairs = [first.rows[3].row, first.rows[0].row].map(|row| [row.a, row.b]);
                let given = [pairs[0], pairs[1], pairs[0]];
                let found = compounds.sweeps(bodies, &motions, Pairs::Given(&given), &options).unwrap();
                let of = |pair| expected.iter().copied().filter(move |row| row.0 == pair);
                let of_given: Vec<Told> = given.into_iter().flat_map(of).collect();
                assert_same(&told(&found.wait().unwrap().rows), &of_given, is_exact, 1e-3, &what);
                let found = compounds.body_sweeps(bodies, &motions, Pairs::Given(&given), &options).unwrap();
                let found: Vec<_> =
                    found.wait().unwrap().rows.iter().map(|row| [row.row.a, row.row.b]).collect();
                assert_eq!(found, given, "{what}");

                let worlds: Vec<u32> = (0..bodies.len() as u32).map(|row| u32::from(row % 3 == 1)).collect();
                let exclusions = Exclusions::new(&[pairs[0]]).unwrap();
                let columns = CompoundColumns {
                    worlds: &worlds,
                    exclusions: Some(&exclusions),
                    ..CompoundColumns::new(bodies)
                };
                let count = bodies.len() as u32;
                let world = |id: u32| worlds.get(id as usize).copied();
                let meet =
                    |a: u32, b: u32| !exclusions.contains(a, b) && (b >= count || world(a) == world(b));
                let mut limited = one_by_one(&scene, &arena, &motions, &options, meet);
                limited.sort_by_key(|row| (world(row.0[0]), row.0, row.1));
                let found = compounds.sweeps(columns, &motions, Pairs::BroadPhase, &options).unwrap();
                assert_same(&told(&found.wait().unwrap().rows), &limited, is_exact, 1e-3, &what);
                assert!(limited.len() < expected.len(), "{what}");
                limited_count += limited.len();
            }
        }
        assert!(limited_count > 50, "{name}: {limited_count}");
    }
}

#[test]
fn statics_are_met_and_bad_input_is_one_clear_error() {
    let mut random = Random::new(62);
    let hulls = hulls(&mut random);
    let options = Options { statics: statics(), ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &hulls, options).unwrap();
    let compounds = Compounds::new(&arena, &[1, 6, 15].map(|count| compound(&mut random, count))).unwrap();
    let all = crowd(&mut random, 30, 3, 1.0, [0.0; 3], 2.5);
    let (movers, still) = all.split_at(20);
    let level = compounds.with_statics(still).unwrap();
    let mut motions = motions(&mut random, 30, 1.0);
    motions[20..].fill(Motion::default());
    let id = |id: u32| match id {
        0..20 => id,
        20..30 => id + 3,
        id => id - 10,
    };
    let options = SweepOptions::default();
    let found = level.sweeps(movers, &motions[..20], Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    let of_all = compounds.sweeps(&all, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    let of_movers = told(&of_all.rows).into_iter().filter(|row| row.0[0] < 20).map(|mut row| {
        row.0 = row.0.map(id);
        [row.2.a, row.2.b] = row.0;
        row
    });
    let mut expected: Vec<Told> = of_movers.collect();
    expected.sort_by_key(|row| (row.0, row.1));
    assert_same(&told(&found.rows), &expected, false, 1e-3, "statics");
    let with_part = expected.iter().find(|row| row.0[1] >= 23 && row.1[1] > 0).unwrap().0;
    let given = [[with_part[1], with_part[0]], [with_part[0], 20]];
    let found = level.body_sweeps(movers, &motions[..20], Pairs::Given(&given), &options).unwrap();
    assert_eq!(found.wait().unwrap().rows[0].row.a, with_part[1]);

    let ask = |level: &Compounds, bodies: &[CompoundBody], motions: &[Motion], pairs: Pairs<'_>| {
        level.sweeps(bodies, motions, pairs, &SweepOptions::default()).map(drop).unwrap_err()
    };
    let error = ask(&level, movers, &motions, Pairs::BroadPhase);
    assert!(matches!(error, Error::Count { what: "motions", given: 30, .. }), "{error}");
    let mut bad = motions[..20].to_vec();
    bad[7].angular_velocity = [0.0, 7e3, 0.0];
    let error = ask(&level, movers, &bad, Pairs::BroadPhase);
    assert!(
        matches!(error, Error::Value { at: Location::Motion(7), field: "angular_velocity", .. }),
        "{error}"
    );
    bad[7] = Motion { velocity: [f32::NAN, 0.0, 0.0], ..Motion::default() };
    let error = ask(&level, movers, &bad, Pairs::BroadPhase);
    assert!(matches!(error, Error::Value { at: Location::Motion(7), field: "velocity", .. }), "{error}");
    for (pair, index) in [([0, 33], 33), ([40, 1], 40)] {
        let error = ask(&level, movers, &motions[..20], Pairs::Given(&[pair]));
        assert!(matches!(error, Error::Missing { at: Location::Pair(0), count: 33, .. }), "{error} {index}");
    }
    let error = ask(&level, movers, &motions[..20], Pairs::Given(&[[3, 3]]));
    assert_eq!(error.to_string(), "pair 0: body 3 is paired with itself");
    let error =
        level.sweeps(movers, &motions[..20], Pairs::BroadPhase, &SweepOptions { duration: -1.0, ..options });
    assert!(matches!(error.map(drop), Err(Error::Value { field: "duration", .. })));
    assert!(level.sweeps(&[], &[], Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows.is_empty());
}
