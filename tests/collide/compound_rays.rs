//! Rays and points against compounds: equal to those against each part alone.

use hullfield::collide::{
    Arena, BodyColumns, CompoundBody, CompoundColumns, Compounds, Containment, Hull, Options, PartRow,
    PointColumns, PointHit, PointOptions, Ray, RayColumns, RayHit, RayOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compounds::{Expanded, compound, crowd, hulls, statics};

/// Bodies of a size about a place, and the arena's statics.
pub(crate) struct Scene {
    pub(crate) compounds: Compounds,
    pub(crate) bodies: Vec<CompoundBody>,
    pub(crate) parts: Expanded,
}

impl Scene {
    pub(crate) fn new(engine: &Engine, random: &mut Random, size: f32, at: [f64; 3], fixed: bool) -> Self {
        let hulls = hulls(random);
        let options = Options { statics: if fixed { statics() } else { Vec::new() }, ..Options::default() };
        let arena = Arena::new(engine, &hulls, options).unwrap();
        let shapes = [1, 4, 13].map(|count| compound(random, count));
        let compounds = Compounds::new(&arena, &shapes).unwrap();
        let bodies = crowd(random, 18, 3, size, at, 2.5);
        let parts = Expanded::new(&compounds, &bodies);
        Self { compounds, bodies, parts }
    }

    /// Calls `ask` with each part, and each static, alone, and names it in what `ask` returns.
    pub(crate) fn one_by_one<R>(
        &self,
        ask: impl Fn(&Arena, BodyColumns<'_>) -> Vec<R>,
        named: impl Fn(&mut R) -> &mut u32,
    ) -> Vec<PartOf<R>> {
        let without = Options { statics: Vec::new(), ..self.compounds.arena().options().clone() };
        let arena = self.compounds.arena().with_options(without).unwrap();
        let mut all = Vec::new();
        let single = |at: usize| match self.parts.bodies.get(at) {
            Some(body) => (*body, self.parts.positions[at]),
            None => {
                let body = self.compounds.arena().statics()[at - self.parts.bodies.len()];
                (body, body.position.map(f64::from))
            }
        };
        for (at, &[body, part]) in self.parts.names.iter().enumerate() {
            let (hull, position) = single(at);
            let alone = [hull];
            let columns = BodyColumns { positions: &[position], ..BodyColumns::new(&alone) };
            for mut row in ask(&arena, columns) {
                *named(&mut row) = body;
                all.push((part, row));
            }
        }
        all
    }
}

pub(crate) type PartOf<R> = (u32, R);

pub(crate) fn pairs<R: Copy>(rows: &[PartRow<R>]) -> Vec<PartOf<R>> {
    rows.iter().map(|row| (row.part, row.row)).collect()
}

/// Rays towards the bodies, along axes and edges too.
fn rays(random: &mut Random, size: f64, at: [f64; 3], count: usize) -> (Vec<Ray>, Vec<[f64; 3]>) {
    let mut rays = Vec::new();
    let mut origins = Vec::new();
    for index in 0..count {
        let from = random.direction() * (4.0 * size * random.unit());
        let towards = random.direction() * (2.0 * size) - from;
        let mut direction = towards.as_vec3().to_array();
        if index % 5 == 0 {
            direction = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]][index / 5 % 3];
        }
        let ray = Ray::new([0.0; 3], direction);
        let ray = if index % 4 == 1 { ray.up_to(2.0 * size as f32) } else { ray };
        rays.push(if index % 9 == 2 { ray.grouped(2, u32::MAX) } else { ray });
        origins.push(std::array::from_fn(|k| at[k] + from[k]));
    }
    (rays, origins)
}

pub(crate) const PLACES: [(f32, [f64; 3], bool); 5] = [
    (1.0, [0.0; 3], true),
    (1e-5, [0.1, -0.2, 0.3], false),
    (1e5, [0.0; 3], false),
    (1.0, [1e6, -1e6, 1e6], false),
    (0.01, [1e7, 0.0, 0.0], true),
];

#[test]
fn rays_hit_the_parts_that_they_hit_alone() {
    for (name, engine) in engines() {
        let mut random = Random::new(71);
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, &mut random, size, at, fixed);
            let (rays, origins) = rays(&mut random, f64::from(size), at, 300);
            let columns = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
            for skip_start in [false, true] {
                let options = RayOptions { skip_start };
                let mut expected: Vec<PartOf<RayHit>> = scene.one_by_one(
                    |arena, body| arena.raycasts_all(body, columns, &options).unwrap().wait().unwrap().rows,
                    |hit| &mut hit.body,
                );
                expected.sort_by(|(p, a), (q, b)| {
                    let by_distance = a.ray.cmp(&b.ray).then(a.distance.total_cmp(&b.distance));
                    by_distance.then(a.body.cmp(&b.body)).then(p.cmp(q))
                });
                let found = scene.compounds.raycasts_all(&scene.bodies, columns, &options).unwrap();
                let found = found.wait().unwrap();
                assert_eq!(pairs(&found.rows), expected, "{what}");
                assert!(expected.len() > 100, "{what}: {}", expected.len());

                let first = scene.compounds.raycasts(&scene.bodies, columns, &options).unwrap();
                let first = first.wait().unwrap();
                let any = scene.compounds.occlusions(&scene.bodies, columns, &options).unwrap();
                let any = any.wait().unwrap();
                for ((ray, row), any) in (0..).zip(&first.rows).zip(&any.rows) {
                    let nearest = expected.iter().find(|(_, hit)| hit.ray == ray);
                    let found = row.row.hit.map(|hit| (row.part, hit));
                    assert_eq!(found.as_ref(), nearest, "{what} ray {ray}");
                    assert_eq!((row.row.ray, any.ray, any.occluded), (ray, ray, nearest.is_some()));
                }
            }
        }
    }
}

#[test]
fn points_are_near_and_in_the_parts_that_they_are_alone() {
    for (name, engine) in engines() {
        let mut random = Random::new(72);
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Scene::new(&engine, &mut random, size, at, fixed);
            let points: Vec<[f64; 3]> = (0..300)
                .map(|_| {
                    let off = random.direction() * (2.0 * f64::from(size) * random.unit());
                    std::array::from_fn(|k| at[k] + off[k])
                })
                .collect();
            let columns = PointColumns::new_f64(&points);
            let mut inside: Vec<PartOf<Containment>> = scene.one_by_one(
                |arena, body| arena.containments(body, columns).unwrap().wait().unwrap().rows,
                |row| &mut row.body,
            );
            inside.sort_by_key(|(part, row)| (row.point, row.body, *part));
            let found = scene.compounds.containments(&scene.bodies, columns).unwrap().wait().unwrap();
            assert_eq!(pairs(&found.rows), inside, "{what}");
            assert!(inside.len() > 3, "{what}: {}", inside.len());

            let options = PointOptions::default();
            let mut near: Vec<PartOf<PointHit>> = scene.one_by_one(
                |arena, body| {
                    let found = arena.nearest_points(body, columns, &options).unwrap().wait().unwrap();
                    found.rows.iter().filter_map(|row| row.hit).collect()
                },
                |hit| &mut hit.body,
            );
            near.sort_by(|(p, a), (q, b)| {
                let by_distance = a.point.cmp(&b.point).then(a.distance.total_cmp(&b.distance));
                by_distance.then(a.body.cmp(&b.body)).then(p.cmp(q))
            });
            let found = scene.compounds.nearest_points(&scene.bodies, columns, &options).unwrap();
            let found = found.wait().unwrap();
            for (point, row) in (0..).zip(&found.rows) {
                let nearest = near.iter().find(|(_, hit)| hit.point == point);
                let found = row.row.hit.map(|hit| (row.part, hit));
                assert_eq!(found.as_ref(), nearest, "{what} point {point}");
            }
        }
    }
}

#[test]
fn bad_rays_and_bodies_are_one_clear_error() {
    let mut random = Random::new(1);
    let Scene { compounds, bodies, .. } = Scene::new(&Engine::cpu(), &mut random, 1.0, [0.0; 3], true);
    let options = RayOptions::default();
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 2];
    let error = compounds.raycasts(&bodies, &[rays[0], Ray::new([0.0; 3], [0.0; 3])], &options);
    let error = error.map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Ray(1), .. }), "{error}");
    let bad = [bodies[0], CompoundBody::new(3)];
    let error = compounds.raycasts(&bad, &rays, &options).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "body 1: compound 3 does not exist, there are 3");
    let error = compounds.containments(&[bodies[0].scaled(-1.0)], &[[0.0f32; 3]]).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("body 0: scale is -1.0"), "{error}");
    let columns = CompoundColumns { worlds: &[1], ..CompoundColumns::new(&bodies) };
    let error = compounds.occlusions(columns, &rays, &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Count { what: "worlds", .. }), "{error}");
    // Nothing to hit.
    let none = compounds.arena().with_options(Options::default()).unwrap();
    let none = Compounds::new(&none, &[]).unwrap();
    let found = none.raycasts(&[], &rays, &options).unwrap().wait().unwrap();
    assert!(found.rows.len() == 2 && found.rows.iter().all(|row| row.row.hit.is_none() && row.part == 0));
    assert!(none.nearest_points(&[], &[[0.0f32; 3]], &PointOptions::default()).is_ok());
    let ball = Hull::ball(1.0).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[ball], Options::default()).unwrap();
    assert!(Compounds::new(&arena, &[]).unwrap().raycasts(&[], &[], &options).unwrap().wait().is_ok());
}
