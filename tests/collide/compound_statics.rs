//! Compounds that do not move: the answers are those where they are bodies, but for pairs of them.

use hullfield::collide::{
    Arena, CompoundBody, CompoundColumns, Compounds, ContactOptions, DistanceOptions, Exclusions, Options,
    Pairs, PointOptions, Ray, RayOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compounds::{Told, assert_same, compound, crowd, hulls, statics, told};

struct Scene {
    compounds: Compounds,
    level: Compounds,
    movers: Vec<CompoundBody>,
    /// The movers, then the bodies that the level holds.
    all: Vec<CompoundBody>,
}

impl Scene {
    fn new(engine: &Engine, size: f32, at: [f64; 3], fixed: bool) -> Self {
        let mut random = Random::new(19);
        let hulls = hulls(&mut random);
        let options = Options { statics: if fixed { statics() } else { Vec::new() }, ..Options::default() };
        let arena = Arena::new(engine, &hulls, options).unwrap();
        let shapes = [1, 6, 15].map(|count| compound(&mut random, count));
        let compounds = Compounds::new(&arena, &shapes).unwrap();
        let all = crowd(&mut random, 40, 3, size, at, 2.3);
        let (movers, still) = all.split_at(25);
        let level = compounds.with_statics(still).unwrap();
        assert_eq!(level.statics(), still);
        Self { compounds, level, movers: movers.to_vec(), all }
    }

    /// The id that a body of all has where some are the level's.
    fn id(&self, id: u32) -> u32 {
        let single = self.compounds.arena().statics().len() as u32;
        let (movers, all) = (self.movers.len() as u32, self.all.len() as u32);
        match id {
            id if id < movers => id,
            id if id < all => id + single,
            id => id - all + movers,
        }
    }

    /// The rows of pairs with a mover, sorted by their ids in the level.
    fn of_level(&self, rows: Vec<Told>) -> Vec<Told> {
        let with_mover = rows.into_iter().filter(|row| row.0.iter().any(|&id| id < self.movers.len() as u32));
        let mut rows: Vec<Told> =
            with_mover.map(|row| (row.0.map(|id| self.id(id)), row.1, row.2, row.3)).collect();
        rows.sort_by_key(|row| (row.0, row.1));
        rows
    }
}

#[test]
fn pairs_with_statics_are_those_with_bodies_that_stand_still() {
    for (name, engine) in engines() {
        for (size, at, fixed) in
            [(1.0, [0.0; 3], true), (1.0, [1e6, 3.0, -1e6], false), (1e-4, [0.1; 3], false)]
        {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, size, at, fixed);
            let Scene { compounds, level, movers, all } = &scene;
            // Twice: boxes are kept.
            for _ in 0..2 {
                let found = level.intersections(movers, Pairs::BroadPhase).unwrap().wait().unwrap();
                let expected = compounds.intersections(all, Pairs::BroadPhase).unwrap().wait().unwrap();
                let expected = scene.of_level(told(&expected));
                assert_eq!(told(&found), expected, "{what}");
                assert!(expected.len() > 30, "{what}: {}", expected.len());
            }
            for margin in [0.2 * size, f32::INFINITY] {
                let options = DistanceOptions { margin };
                let found = level.distances(movers, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
                let expected = compounds.distances(all, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
                assert_same(&told(&found), &scene.of_level(told(&expected)), 1e-4 * f64::from(size), &what);
            }
            let hits = level.hits(movers).unwrap().wait().unwrap().rows;
            let counts = level.hit_counts(movers).unwrap().wait().unwrap().rows;
            let of_bodies = compounds.hit_counts(all).unwrap().wait().unwrap().rows;
            assert_eq!(counts, of_bodies[..movers.len()], "{what}");
            assert!(hits.iter().zip(&counts).all(|(&is_hit, &count)| is_hit == (count > 0)));
        }
    }
}

#[test]
fn rays_and_points_meet_statics_with_their_parts() {
    let scene = Scene::new(&Engine::cpu(), 1.0, [0.0; 3], true);
    let Scene { compounds, level, movers, all } = &scene;
    let mut random = Random::new(8);
    let rays: Vec<Ray> = (0..200)
        .map(|_| {
            let from = random.direction() * 5.0;
            let to = random.direction() * 2.0 - from;
            Ray::new(from.as_vec3().to_array(), to.as_vec3().to_array())
        })
        .collect();
    let options = RayOptions::default();
    let found = level.raycasts_all(movers, &rays, &options).unwrap().wait().unwrap();
    let expected = compounds.raycasts_all(all, &rays, &options).unwrap().wait().unwrap();
    let mut expected: Vec<_> = expected
        .rows
        .iter()
        .map(|row| (row.row.ray, row.row.distance, scene.id(row.row.body), row.part, row.row.normal))
        .collect();
    expected.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then((a.2, a.3).cmp(&(b.2, b.3))));
    let found: Vec<_> = found
        .rows
        .iter()
        .map(|row| (row.row.ray, row.row.distance, row.row.body, row.part, row.row.normal))
        .collect();
    assert_eq!(found, expected);
    assert!(found.iter().any(|row| row.2 >= 28 && row.3 > 0) && found.iter().any(|row| row.2 == 25));

    let points: Vec<[f32; 3]> = (0..200).map(|_| (random.direction() * 2.0).as_vec3().to_array()).collect();
    let options = PointOptions::default();
    let found = level.nearest_points(movers, &points, &options).unwrap().wait().unwrap();
    let expected = compounds.nearest_points(all, &points, &options).unwrap().wait().unwrap();
    for (row, other) in found.rows.iter().zip(&expected.rows) {
        let (hit, other_hit) = (row.row.hit.unwrap(), other.row.hit.unwrap());
        assert_eq!(hit.distance, other_hit.distance);
        if hit.body != scene.id(other_hit.body) {
            // Another body at the very same distance.
            assert!(hit.body < scene.id(other_hit.body));
        }
    }
}

#[test]
fn statics_are_named_in_given_pairs_and_exclusions_and_checked() {
    let scene = Scene::new(&Engine::cpu(), 1.0, [0.0; 3], true);
    let Scene { compounds, level, movers, .. } = &scene;
    let options = ContactOptions::default();
    let all = told(&level.contacts(movers, Pairs::BroadPhase, &options).unwrap().wait().unwrap());
    let pair = all.iter().map(|row| row.0).find(|pair| pair[1] >= 28).unwrap();
    let given = [[pair[1], pair[0]], [28, 29]];
    let found = told(&level.contacts(movers, Pairs::Given(&given), &options).unwrap().wait().unwrap());
    let turned = found.iter().filter(|row| row.0 == given[0]).count();
    assert_eq!(turned, all.iter().filter(|row| row.0 == pair).count());
    let by_row = Exclusions::new(&[pair]).unwrap();
    let as_static = Exclusions::default().with_statics(&[[pair[0], pair[1] - 25]]);
    for exclusions in [by_row, as_static] {
        let columns = CompoundColumns { exclusions: Some(&exclusions), ..CompoundColumns::new(movers) };
        let found = told(&level.contacts(columns, Pairs::BroadPhase, &options).unwrap().wait().unwrap());
        let expected: Vec<Told> = all.iter().copied().filter(|row| row.0 != pair).collect();
        assert_eq!(found, expected);
    }
    let error = level.contacts(movers, Pairs::Given(&[[0, 43]]), &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Missing { at: Location::Pair(0), index: 43, count: 43, .. }), "{error}");
    let error = compounds.with_statics(&[movers[0], CompoundBody::new(9)]).unwrap_err();
    assert_eq!(error.to_string(), "body 1: compound 9 does not exist, there are 3");
    // None again.
    assert!(level.with_statics(&[]).unwrap().statics().is_empty());
    assert!(level.intersections(&[], Pairs::BroadPhase).unwrap().wait().unwrap().rows.is_empty());
}
