//! Worlds in queries with rays and points: each equals a query of its own over the bodies of its world, bit for bit.

use std::fmt::Debug;

use hullfield::collide::{
    Arena, Body, BodyColumns, Containment, Hull, NearestPoint, Occlusion, Options, PointColumns,
    PointOptions, Ray, RayColumns, RayHit, RayOptions, Raycast,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick};

use crate::answers::engines;
use crate::ray_scenes::crowd;
use crate::worlds::{rows_of_worlds, worlds};

/// A row that names bodies, and the row of the query that it belongs to.
pub(crate) trait Named: Debug + Copy {
    fn query(&mut self) -> &mut u32;
    fn bodies(&mut self) -> Vec<&mut u32>;
}

impl Named for Raycast {
    fn query(&mut self) -> &mut u32 {
        &mut self.ray
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        self.hit.iter_mut().map(|hit| &mut hit.body).collect()
    }
}

impl Named for RayHit {
    fn query(&mut self) -> &mut u32 {
        &mut self.ray
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        vec![&mut self.body]
    }
}

impl Named for Occlusion {
    fn query(&mut self) -> &mut u32 {
        &mut self.ray
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        Vec::new()
    }
}

impl Named for NearestPoint {
    fn query(&mut self) -> &mut u32 {
        &mut self.point
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        self.hit.iter_mut().map(|hit| &mut hit.body).collect()
    }
}

impl Named for Containment {
    fn query(&mut self) -> &mut u32 {
        &mut self.point
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        vec![&mut self.body]
    }
}

/// The rows of separate queries, one for each world: `ask` gets the rows of a world's bodies, and those of what is asked about.
pub(crate) fn separate<R: Named>(
    worlds: &[u32],
    asked: &[u32],
    ask: impl Fn(&[u32], &[u32]) -> Vec<R>,
) -> Vec<(u32, String)> {
    let mut ids = asked.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut all = Vec::new();
    for world in ids {
        let rows_of = |worlds: &[u32]| -> Vec<u32> {
            (0..).zip(worlds).filter(|&(_, &other)| other == world).map(|(row, _)| row).collect()
        };
        let (bodies, queries) = (rows_of(worlds), rows_of(asked));
        for mut row in ask(&bodies, &queries) {
            let query = queries[*row.query() as usize];
            for id in row.bodies() {
                let own = bodies.get(*id as usize).copied();
                *id = own.unwrap_or(*id + worlds.len() as u32 - bodies.len() as u32);
            }
            all.push((query, text(row)));
        }
    }
    // Stable: the order of the rows of one stays.
    all.sort_by_key(|&(query, _)| query);
    all
}

/// Every number of a row, which is equal only where each bit is, but the row of the query, and that of what a hit says again.
fn text(mut row: impl Named) -> String {
    *row.query() = 0;
    let text = format!("{row:?}");
    ["Some(RayHit { ray: ", "Some(PointHit { point: ", "Some(ShapeCastHit { cast: "].iter().fold(
        text,
        |text, head| match text.split_once(head) {
            Some((before, after)) => format!("{before}{head}{}", after.trim_start_matches(char::is_numeric)),
            None => text,
        },
    )
}

pub(crate) fn whole<R: Named>(rows: &[R]) -> Vec<(u32, String)> {
    rows.iter().map(|&(mut row)| (*row.query(), text(row))).collect()
}

/// Compares two lists of rows.
pub(crate) fn same(found: &[(u32, String)], expected: &[(u32, String)], what: &str) {
    let pairs = found.iter().zip(expected);
    if let Some((found, expected)) = pairs.into_iter().find(|(found, expected)| found != expected) {
        panic!("{what}: {found:?} instead of {expected:?}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Some of a list.
pub(crate) fn some<T: Copy>(all: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| all[row as usize]).collect()
}

fn rays_of(arena: &Arena, columns: BodyColumns<'_>, rays: RayColumns<'_>) -> [Vec<(u32, String)>; 3] {
    let options = RayOptions::default();
    [
        whole(&arena.raycasts(columns, rays, &options).unwrap().wait().unwrap().rows),
        whole(&arena.raycasts_all(columns, rays, &options).unwrap().wait().unwrap().rows),
        whole(&arena.occlusions(columns, rays, &options).unwrap().wait().unwrap().rows),
    ]
}

const SHORT: [(usize, usize, &str); 3] = [(60, 5, "in turn"), (200, 90, "in blocks"), (400, 2, "one large")];
const FULL: [(usize, usize, &str); 6] = [
    (60, 5, "in turn"),
    (200, 90, "in blocks"),
    (400, 2, "one large"),
    (1, 1, "in turn"),
    (900, 11, "one large"),
    (1_500, 100, "in turn"),
];

/// Worlds of what is asked about: those of the bodies, in no order, and one without bodies.
pub(crate) fn asked_worlds(worlds: &[u32], count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let world = |random: &mut Random| match random.below(12) {
        0 => 0xffff_fff0,
        _ => worlds[random.below(worlds.len())],
    };
    (0..count).map(|_| world(&mut random)).collect()
}

#[test]
fn rays_and_points_see_their_own_worlds() {
    let mut met = [0; 3];
    // A software GPU tests three crowds: one whose worlds are in turn, one of the others, and the single body.
    let on_gpu = [pick(76, &[60, 1_500], 1), pick(77, &[200, 400, 900], 1), vec![1]].concat();
    let cases = extent(&SHORT[..], &FULL[..]);
    for &(count, world_count, kind) in cases {
        // As close as the bodies of a single world are in the crowd.
        let mut scene = crowd(count, extent(150, 300), 2.0, 3.0, 71);
        let squeeze = (world_count as f32).cbrt();
        scene.bodies.iter_mut().for_each(|body| body.position = body.position.map(|x| x / squeeze));
        scene.rays.iter_mut().for_each(|ray| ray.origin = ray.origin.map(|x| x / squeeze));
        let ids = worlds(kind, count, world_count);
        let asked = asked_worlds(&ids, scene.rays.len(), 72);
        let far: Vec<[f64; 3]> = scene.bodies.iter().map(|body| body.position.map(f64::from)).collect();
        let starts: Vec<[f64; 3]> = scene.rays.iter().map(|ray| ray.origin.map(f64::from)).collect();
        let points: Vec<[f32; 3]> = scene.rays.iter().map(|ray| ray.origin).collect();
        for (name, engine) in engines() {
            if name == "gpu" && cases.len() == FULL.len() && !on_gpu.contains(&count) {
                continue;
            }
            let arena = scene.arena(&engine);
            for is_far in [false, true] {
                let what = format!("{name}: {count} bodies, {world_count} worlds {kind}, f64 {is_far}");
                let positions = if is_far { &far[..] } else { &[] };
                let origins = if is_far { &starts[..] } else { &[] };
                let columns = BodyColumns { worlds: &ids, positions, ..BodyColumns::new(&scene.bodies) };
                let rays = RayColumns { origins, worlds: &asked, ..RayColumns::new(&scene.rays) };
                let found = rays_of(&arena, columns, rays);
                let part =
                    |bodies: &[u32], queries: &[u32], run: &dyn Fn(BodyColumns<'_>, RayColumns<'_>)| {
                        let own = some(&scene.bodies, bodies);
                        let positions = if is_far { some(&far, bodies) } else { Vec::new() };
                        let origins = if is_far { some(&starts, queries) } else { Vec::new() };
                        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&own) };
                        let rays = some(&scene.rays, queries);
                        run(columns, RayColumns { origins: &origins, ..RayColumns::new(&rays) });
                    };
                let options = RayOptions::default();
                macro_rules! expected {
                    ($query:ident, $worlds:expr) => {
                        separate($worlds, &asked, |bodies, queries| {
                            let mut rows = Vec::new();
                            let answer = std::cell::RefCell::new(&mut rows);
                            part(bodies, queries, &|columns, rays| {
                                let found = arena.$query(columns, rays, &options).unwrap().wait().unwrap();
                                answer.borrow_mut().extend(found.rows);
                            });
                            rows
                        })
                    };
                }
                same(&found[0], &expected!(raycasts, &ids), &what);
                let all = expected!(raycasts_all, &ids);
                same(&found[1], &all, &what);
                same(&found[2], &expected!(occlusions, &ids), &what);
                met[0] += all.len();
                if world_count > 1 {
                    // Control: with each body in the next world there are other hits.
                    let mut other = ids.clone();
                    other.sort_unstable();
                    other.dedup();
                    let next = |id: &u32| other[(other.binary_search(id).unwrap() + 1) % other.len()];
                    let other: Vec<u32> = ids.iter().map(next).collect();
                    assert!(found[1] != expected!(raycasts_all, &other), "{what}");
                }
                let near = PointOptions { max_distance: 5.0 };
                let asked_points = PointColumns { worlds: &asked, ..PointColumns::new(&points) };
                let found = arena.nearest_points(columns, asked_points, &near).unwrap().wait().unwrap();
                let expected = separate(&ids, &asked, |bodies, queries| {
                    let (own, points) = (some(&scene.bodies, bodies), some(&points, queries));
                    let positions = if is_far { some(&far, bodies) } else { Vec::new() };
                    let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&own) };
                    arena.nearest_points(columns, &points, &near).unwrap().wait().unwrap().rows
                });
                same(&whole(&found.rows), &expected, &what);
                met[1] += found.rows.iter().filter(|row| row.hit.is_some()).count();
                let found = arena.containments(columns, asked_points).unwrap().wait().unwrap();
                let expected = separate(&ids, &asked, |bodies, queries| {
                    let (own, points) = (some(&scene.bodies, bodies), some(&points, queries));
                    let positions = if is_far { some(&far, bodies) } else { Vec::new() };
                    let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&own) };
                    arena.containments(columns, &points).unwrap().wait().unwrap().rows
                });
                same(&whole(&found.rows), &expected, &what);
                met[2] += found.rows.len();
            }
        }
    }
    assert!(met.iter().all(|&count| count > 300), "{met:?}");
}

/// The device's kernel knows no worlds. It was asked where the bodies had one world, and rays of others hit them.
#[test]
fn a_ray_sees_nothing_of_the_only_world_if_it_is_in_another() {
    let bodies = [0.0, 4.0, 8.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    let asked = [7, 0, u32::MAX, 7];
    let rays = [Ray::new([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]); 4];
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        let columns = BodyColumns { worlds: &[7; 3], ..BodyColumns::new(&bodies) };
        let rays = RayColumns { worlds: &asked, ..RayColumns::new(&rays) };
        let found = arena.raycasts(columns, rays, &RayOptions::default()).unwrap().wait().unwrap();
        let hits: Vec<_> = found.rows.iter().map(|row| row.hit.map(|hit| (hit.body, hit.distance))).collect();
        assert_eq!(hits, [Some((0, 2.0)), None, None, Some((0, 2.0))], "{name}");
        let any = arena.occlusions(columns, rays, &RayOptions::default()).unwrap().wait().unwrap();
        let any: Vec<bool> = any.rows.iter().map(|row| row.occluded).collect();
        assert_eq!(any, [true, false, false, true], "{name}");
    }
}

/// A ray visits bodies of its own world alone, however many others there are.
#[test]
fn a_ray_costs_what_its_world_costs() {
    let (count, world_count) = (8_192, 512);
    let scene = crowd(count, 400, 1.0, 0.0, 73);
    // All worlds at one place, without half-spaces.
    let bodies: Vec<Body> = (0..count)
        .map(|row| Body { hull: row as u32 % 3, position: scene.bodies[row % 16].position, ..Body::new(0) })
        .collect();
    let ids = worlds("in turn", count, world_count);
    let asked = asked_worlds(&ids, scene.rays.len(), 74);
    let arena = Arena::new(&Engine::cpu(), &scene.hulls, Default::default()).unwrap();
    let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
    let rays = RayColumns { worlds: &asked, ..RayColumns::new(&scene.rays) };
    let found = arena.raycasts_all(columns, rays, &RayOptions::default()).unwrap().wait().unwrap();
    let plain = arena.raycasts_all(&bodies, &scene.rays, &RayOptions::default()).unwrap().wait().unwrap();
    let most = rows_of_worlds(&ids).iter().map(Vec::len).max().unwrap();
    assert!(found.stats.candidate_count <= (most * asked.len()) as u64);
    assert!(100 * found.stats.candidate_count < plain.stats.candidate_count);
}

#[test]
fn wrong_worlds_are_errors() {
    let scene = crowd(20, 3, 1.0, 0.0, 75);
    let ids = [5; 20];
    for (_, engine) in engines() {
        let arena = scene.arena(&engine);
        let plain = BodyColumns::new(&scene.bodies);
        let placed = BodyColumns { worlds: &ids, ..plain };
        let points = [[0.0; 3]; 3];
        let rays = |worlds| RayColumns { worlds, ..RayColumns::new(&scene.rays) };
        let options = RayOptions::default();
        for (columns, worlds) in [(placed, &[][..]), (plain, &[5, 5, 5])] {
            let errors = [
                arena.raycasts(columns, rays(worlds), &options).map(drop).unwrap_err(),
                arena.raycasts_all(columns, rays(worlds), &options).map(drop).unwrap_err(),
                arena.occlusions(columns, rays(worlds), &options).map(drop).unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, Error::Invalid { at: Location::Argument, .. }), "{error}");
                assert!(
                    error.to_string().contains("rays") && error.to_string().contains("bodies"),
                    "{error}"
                );
            }
            let points = PointColumns { worlds, ..PointColumns::new(&points) };
            let near = PointOptions::default();
            let error = arena.nearest_points(columns, points, &near).map(drop).unwrap_err();
            assert!(error.to_string().contains("points"), "{error}");
            assert!(arena.containments(columns, points).is_err());
        }
        let short = arena.raycasts(placed, rays(&[5, 5]), &options).map(drop).unwrap_err();
        assert!(matches!(short, Error::Count { what: "worlds", given: 2, .. }), "{short}");
        let few = BodyColumns { worlds: &ids[..7], ..plain };
        let short = arena.raycasts(few, rays(&[5; 3]), &options).map(drop).unwrap_err();
        assert!(matches!(short, Error::Count { what: "worlds", given: 7, .. }), "{short}");
        // Of no bodies and of no rays any worlds are right.
        let none = BodyColumns::new(&[]);
        let found = arena.raycasts(none, rays(&[1, 2, 3]), &options).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), 3);
        assert!(
            arena.raycasts(placed, RayColumns::default(), &options).unwrap().wait().unwrap().rows.is_empty()
        );
        // A world without bodies has the statics.
        let found = arena.raycasts_all(placed, rays(&[6; 3]), &options).unwrap().wait().unwrap();
        assert!(found.rows.iter().all(|row| row.body >= 20));
    }
}
