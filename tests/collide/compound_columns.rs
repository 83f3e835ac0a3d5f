//! Compounds with worlds and exclusions, and which of them are hit: equal to their parts as bodies of their own.

use std::collections::BTreeSet;

use hullfield::collide::{
    Arena, BodyColumns, CompoundColumns, Compounds, DistanceOptions, Exclusions, Options, Pairs,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compounds::{Expanded, Told, compound, crowd, hulls, one_by_one, statics, told};

/// Compounds over an arena with statics, and bodies of them.
fn scene(engine: &Engine, seed: u64) -> (Compounds, Vec<hullfield::collide::CompoundBody>) {
    let mut random = Random::new(seed);
    let hulls = hulls(&mut random);
    let options = Options { statics: statics(), ..Options::default() };
    let arena = Arena::new(engine, &hulls, options).unwrap();
    let shapes = [1, 5, 17].map(|count| compound(&mut random, count));
    let bodies = crowd(&mut random, 40, 3, 1.0, [0.0; 3], 2.2);
    (Compounds::new(&arena, &shapes).unwrap(), bodies)
}

/// A column with one value for each part, from one with one for each body.
fn spread(parts: &Expanded, column: &[u32]) -> Vec<u32> {
    parts.names[..parts.bodies.len()].iter().map(|&[body, _]| column[body as usize]).collect()
}

/// Sorted by the worlds of the bodies, then as they are.
fn by_world(mut rows: Vec<Told>, worlds: &[u32]) -> Vec<Told> {
    rows.sort_by_key(|row| (worlds.get(row.0[0] as usize).copied(), row.0, row.1));
    rows
}

#[test]
fn worlds_and_exclusions_of_bodies_are_those_of_their_parts() {
    for (name, engine) in engines() {
        let (compounds, bodies) = scene(&engine, 12);
        let count = bodies.len() as u32;
        let parts = Expanded::new(&compounds, &bodies);
        let mixed: Vec<u32> = (0..count).map(|body| [7, u32::MAX, 3][body as usize % 3]).collect();
        let pairs: Vec<[u32; 2]> = (0..count - 1).map(|body| [body + 1, body]).collect();
        let exclusions = Exclusions::new(&pairs).unwrap().with_statics(&[[4, 0], [9, 1]]);
        let owners = spread(&parts, &(0..count).collect::<Vec<_>>());
        let mut seen = BTreeSet::new();
        for worlds in [&[][..], &mixed] {
            for exclusions in [None, Some(&exclusions)] {
                let columns = CompoundColumns { worlds, exclusions, ..CompoundColumns::new(&bodies) };
                let part_worlds = if worlds.is_empty() { Vec::new() } else { spread(&parts, worlds) };
                let expanded =
                    BodyColumns { worlds: &part_worlds, owners: &owners, exclusions, ..parts.columns() };
                let what = format!("{name} {} worlds, {}", worlds.len(), exclusions.is_some());
                let expected =
                    compounds.arena().intersections(expanded, Pairs::BroadPhase).unwrap().wait().unwrap();
                let expected = by_world(one_by_one(&parts, &expected, 0.0), worlds);
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                    let found = compounds.intersections(columns, pairs).unwrap().wait().unwrap();
                    assert_eq!(told(&found), expected, "{what}");
                }
                // An infinite margin finds its pairs another way.
                let options = DistanceOptions::default();
                let all = compounds.body_distances(columns, Pairs::BroadPhase, &options).unwrap();
                let all = told(&all.wait().unwrap());
                let mut touching: Vec<[u32; 2]> = expected.iter().map(|row| row.0).collect();
                touching.dedup();
                let hits = all.iter().filter(|row| row.2.is_hit()).map(|row| row.0).collect::<Vec<_>>();
                assert_eq!(hits, touching, "{what}");
                let found = compounds.body_intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
                let found: Vec<[u32; 2]> = told(&found).iter().map(|row| row.0).collect();
                assert_eq!(found, touching, "{what}");
                assert!(expected.len() > 20, "{what}: {}", expected.len());
                seen.insert((expected.len(), all.len()));

                let counts = compounds.hit_counts(columns).unwrap().wait().unwrap();
                let of = |body: u32| touching.iter().filter(|pair| pair.contains(&body)).count() as u32;
                assert_eq!(counts.rows, (0..count).map(of).collect::<Vec<_>>(), "{what}");
                let hits = compounds.hits(columns).unwrap().wait().unwrap();
                let is_hit: Vec<bool> = counts.rows.iter().map(|&count| count > 0).collect();
                assert_eq!(hits.rows, is_hit, "{what}");
                assert_eq!(hits.stats.hit_count, is_hit.iter().filter(|&&is_hit| is_hit).count() as u64);
            }
        }
        // Each column forbids something.
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}

#[test]
fn each_world_has_the_rows_of_a_query_of_its_own() {
    let (compounds, bodies) = scene(&Engine::cpu(), 5);
    let worlds: Vec<u32> = (0..bodies.len() as u32).map(|body| body * 7 % 3).collect();
    let columns = CompoundColumns { worlds: &worlds, ..CompoundColumns::new(&bodies) };
    let found = told(&compounds.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap());
    let mut all = Vec::new();
    for world in 0..3 {
        let rows: Vec<u32> = (0..).zip(&worlds).filter(|&(_, &w)| w == world).map(|(row, _)| row).collect();
        let own: Vec<_> = rows.iter().map(|&row| bodies[row as usize]).collect();
        let alone = told(&compounds.intersections(&own, Pairs::BroadPhase).unwrap().wait().unwrap());
        let name = |id: u32| match rows.get(id as usize) {
            Some(&row) => row,
            None => id - rows.len() as u32 + bodies.len() as u32,
        };
        all.extend(alone.into_iter().map(|row| (row.0.map(name), row.1, row.2, row.3)));
    }
    assert_eq!(found, all);
    assert!(found.len() > 30);
}

#[test]
fn a_crowd_in_which_all_meet_needs_few_tests() {
    let mut random = Random::new(2);
    let arena = Arena::new(&Engine::cpu(), &hulls(&mut random), Options::default()).unwrap();
    let shapes = [compound(&mut random, 20)];
    let compounds = Compounds::new(&arena, &shapes).unwrap();
    let bodies = crowd(&mut random, 300, 1, 1.0, [0.0; 3], 1.0);
    let hits = compounds.hits(&bodies).unwrap().wait().unwrap();
    let all = compounds.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
    let of_bodies = compounds.body_intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
    assert!(hits.rows.iter().filter(|&&is_hit| is_hit).count() > 280);
    assert!(of_bodies.stats.candidate_count * 2 < all.stats.candidate_count, "{:?}", of_bodies.stats);
    assert!(hits.stats.candidate_count * 50 < all.stats.candidate_count, "{:?}", hits.stats);
}

#[test]
fn bad_columns_are_one_clear_error() {
    let (compounds, bodies) = scene(&Engine::cpu(), 1);
    let ask = |columns: CompoundColumns<'_>| {
        let all = [
            compounds.intersections(columns, Pairs::BroadPhase).map(drop),
            compounds.hits(columns).map(drop),
            compounds.hit_counts(columns).map(drop),
        ];
        let texts = all.map(|found| found.unwrap_err().to_string());
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        texts[0].clone()
    };
    let good = CompoundColumns::new(&bodies);
    let short = ask(CompoundColumns { worlds: &[1, 2], ..good });
    assert!(short.contains("worlds") && short.contains("one for each of the 40 bodies"), "{short}");
    let unknown = Exclusions::new(&[[0, 43]]).unwrap();
    let error = ask(CompoundColumns { exclusions: Some(&unknown), ..good });
    assert_eq!(error, "excluded body 43 does not exist, there are 43");
    let unknown = Exclusions::default().with_statics(&[[0, 3]]);
    let error = ask(CompoundColumns { exclusions: Some(&unknown), ..good });
    assert_eq!(error, "excluded static 3 does not exist, there are 3");
    // Statics count on after the bodies: the last one exists.
    let last = Exclusions::new(&[[0, 42]]).unwrap();
    assert!(compounds.hits(CompoundColumns { exclusions: Some(&last), ..good }).is_ok());
    let error = compounds.hits(CompoundColumns { worlds: &[0], ..good }).map(drop).unwrap_err();
    assert!(
        matches!(error, Error::Count { at: Location::Argument, what: "worlds", given: 1, .. }),
        "{error}"
    );
}
