//! Worlds, owners and exclusions in shape casts, nearest bodies, hits, counts of hits and deepest contacts: each world equals a query of its own,
//! bit for bit, and hits are the rows of `intersections`.

use hullfield::collide::{
    Arena, Body, BodyColumns, ContactOptions, Exclusions, NearestBody, NearestOptions, Pairs, ShapeCastAny,
    ShapeCastColumns, ShapeCastFirst, ShapeCastHit, ShapeCastOptions,
};
use hullfield::{Error, Location};
use hullfield_oracle::{extent, pick};

use crate::answers::engines;
use crate::shape_casts::scene;
use crate::worlds::worlds;
use crate::worlds_probed::{Named, asked_worlds, same, separate, some, whole};

impl Named for ShapeCastFirst {
    fn query(&mut self) -> &mut u32 {
        &mut self.cast
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        self.hit.iter_mut().map(|hit| &mut hit.body).collect()
    }
}

impl Named for ShapeCastHit {
    fn query(&mut self) -> &mut u32 {
        &mut self.cast
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        vec![&mut self.body]
    }
}

impl Named for ShapeCastAny {
    fn query(&mut self) -> &mut u32 {
        &mut self.cast
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        Vec::new()
    }
}

impl Named for NearestBody {
    fn query(&mut self) -> &mut u32 {
        &mut self.query
    }
    fn bodies(&mut self) -> Vec<&mut u32> {
        vec![&mut self.body]
    }
}

const SHORT: [(usize, usize, &str); 3] = [(60, 5, "in turn"), (160, 60, "in blocks"), (250, 2, "one large")];
const FULL: [(usize, usize, &str); 6] = [
    (60, 5, "in turn"),
    (160, 60, "in blocks"),
    (250, 2, "one large"),
    (1, 1, "in turn"),
    (600, 11, "one large"),
    (1_200, 90, "in turn"),
];

/// Parts of a column, or nothing where it is empty.
fn part<T: Copy>(column: &[T], rows: &[u32]) -> Vec<T> {
    if column.is_empty() { Vec::new() } else { some(column, rows) }
}

#[test]
fn shapes_see_their_own_worlds() {
    let mut met = [0; 3];
    // A software GPU tests three crowds: one whose worlds are in turn, one of the others, and the single body.
    let on_gpu = [pick(93, &[60, 1_200], 1), pick(94, &[160, 250, 600], 1), vec![1]].concat();
    let cases = extent(&SHORT[..], &FULL[..]);
    for &(count, world_count, kind) in cases {
        let mut scene = scene(count, extent(100, 200), 2.0, 3.0, 91);
        let squeeze = (world_count as f32).cbrt();
        let closer = |position: [f32; 3]| position.map(|x| x / squeeze);
        scene.crowd.bodies.iter_mut().for_each(|body| body.position = closer(body.position));
        scene.casts.iter_mut().for_each(|cast| cast.body.position = closer(cast.body.position));
        let (bodies, casts) = (&scene.crowd.bodies, &scene.casts);
        let shapes: Vec<Body> = casts.iter().map(|cast| cast.body).collect();
        let ids = worlds(kind, count, world_count);
        let asked = asked_worlds(&ids, casts.len(), 92);
        let wide = |position: [f32; 3]| position.map(f64::from);
        let far: Vec<[f64; 3]> = bodies.iter().map(|body| wide(body.position)).collect();
        let starts: Vec<[f64; 3]> = shapes.iter().map(|shape| wide(shape.position)).collect();
        let near = NearestOptions { count: 3, max_distance: 4.0 };
        for (name, engine) in engines() {
            if name == "gpu" && cases.len() == FULL.len() && !on_gpu.contains(&count) {
                continue;
            }
            let arena = scene.crowd.arena(&engine);
            for is_far in [false, true] {
                let what = format!("{name}: {count} bodies, {world_count} worlds {kind}, f64 {is_far}");
                let (positions, starts) = if is_far { (&far[..], &starts[..]) } else { (&[][..], &[][..]) };
                let columns = BodyColumns { positions, worlds: &ids, ..BodyColumns::new(bodies) };
                let columns_of = |rows: &[u32], run: &mut dyn FnMut(BodyColumns<'_>)| {
                    let (own, positions) = (some(bodies, rows), part(positions, rows));
                    run(BodyColumns { positions: &positions, ..BodyColumns::new(&own) });
                };
                macro_rules! check_casts {
                    ($query:ident) => {{
                        let options = ShapeCastOptions { witness: true, ..Default::default() };
                        let asked_of = ShapeCastColumns { casts, positions: starts, worlds: &asked };
                        let found = arena.$query(columns, asked_of, &options).unwrap().wait().unwrap().rows;
                        let expected = separate(&ids, &asked, |rows, queries| {
                            let (casts, positions) = (some(casts, queries), part(starts, queries));
                            let casts = ShapeCastColumns { positions: &positions, ..(&casts).into() };
                            let mut all = Vec::new();
                            columns_of(rows, &mut |columns| {
                                all = arena.$query(columns, casts, &options).unwrap().wait().unwrap().rows;
                            });
                            all
                        });
                        same(&whole(&found), &expected, &what);
                        found.len()
                    }};
                }
                check_casts!(shape_casts);
                check_casts!(shape_casts_any);
                met[0] += check_casts!(shape_casts_all);
                let asked_of = BodyColumns { positions: starts, worlds: &asked, ..BodyColumns::new(&shapes) };
                let found = arena.nearest_bodies_to(columns, asked_of, &near).unwrap().wait().unwrap().rows;
                let expected = |ids: &[u32]| {
                    separate(ids, &asked, |rows, queries| {
                        let (shapes, positions) = (some(&shapes, queries), part(starts, queries));
                        let shapes = BodyColumns { positions: &positions, ..BodyColumns::new(&shapes) };
                        let mut all = Vec::new();
                        columns_of(rows, &mut |columns| {
                            let found = arena.nearest_bodies_to(columns, shapes, &near);
                            all = found.unwrap().wait().unwrap().rows;
                        });
                        all
                    })
                };
                same(&whole(&found), &expected(&ids), &what);
                met[1] += found.len();
                if world_count > 1 {
                    // Control: with each body in the next world there are other rows.
                    let mut other = ids.clone();
                    other.sort_unstable();
                    other.dedup();
                    let next = |id: &u32| other[(other.binary_search(id).unwrap() + 1) % other.len()];
                    let other: Vec<u32> = ids.iter().map(next).collect();
                    assert!(whole(&found) != expected(&other), "{what}");
                }
                let found = arena.nearest_bodies(columns, &near).unwrap().wait().unwrap().rows;
                let expected = separate(&ids, &ids, |rows, _| {
                    let mut all = Vec::new();
                    columns_of(rows, &mut |columns| {
                        all = arena.nearest_bodies(columns, &near).unwrap().wait().unwrap().rows;
                    });
                    all
                });
                same(&whole(&found), &expected, &what);
                let hits = arena.hits(columns).unwrap().wait().unwrap().rows;
                let counts = arena.hit_counts(columns).unwrap().wait().unwrap().rows;
                met[2] += hits.iter().filter(|&&is_hit| is_hit).count();
                let (mut expected_hits, mut expected_counts) = (vec![false; count], vec![0; count]);
                let mut deepest = Vec::new();
                let mut sorted = ids.clone();
                sorted.sort_unstable();
                sorted.dedup();
                let margin = ContactOptions { margin: 0.2 };
                for world in sorted {
                    let rows: Vec<u32> =
                        (0..).zip(&ids).filter(|&(_, &id)| id == world).map(|(row, _)| row).collect();
                    columns_of(&rows, &mut |columns| {
                        let found = arena.hits(columns).unwrap().wait().unwrap().rows;
                        rows.iter().zip(found).for_each(|(&row, hit)| expected_hits[row as usize] = hit);
                        let found = arena.hit_counts(columns).unwrap().wait().unwrap().rows;
                        rows.iter()
                            .zip(found)
                            .for_each(|(&row, count)| expected_counts[row as usize] = count);
                        let found = arena.deepest_contacts(columns, 1, &margin).unwrap().wait().unwrap().rows;
                        let name = |id: u32| match rows.get(id as usize) {
                            Some(&row) => row,
                            None => id - rows.len() as u32 + count as u32,
                        };
                        deepest.extend(found.into_iter().map(|row| ([name(row.a), name(row.b)], row.status)));
                    });
                }
                assert_eq!((hits, counts), (expected_hits, expected_counts), "{what}");
                let found = arena.deepest_contacts(columns, 1, &margin).unwrap().wait().unwrap().rows;
                let found: Vec<_> = found.iter().map(|row| ([row.a, row.b], row.status)).collect();
                assert_eq!(found, deepest, "{what}");
            }
        }
    }
    assert!(met.iter().all(|&count| count > 300), "{met:?}");
}

/// Owners and exclusions: hits, their counts, the nearest and the deepest are those of `intersections` and `contacts` with the same columns.
#[test]
fn owners_and_exclusions_are_obeyed() {
    let count = 240;
    let scene = scene(count, 1, 2.0, 0.0, 95);
    let bodies: Vec<Body> =
        scene.crowd.bodies.iter().map(|body| body.at(body.position.map(|x| 0.4 * x))).collect();
    let owners: Vec<u32> = (0..count as u32).map(|row| 7 * (row / 4)).collect();
    let ids: Vec<u32> = (0..count as u32).map(|row| row / 4 % 2).collect();
    let mut pairs: Vec<[u32; 2]> = (0..count as u32 - 40).map(|row| [row, row + 40]).collect();
    let rows = Exclusions::new(&pairs).unwrap().with_statics(&[[3, 2], [5, 7]]);
    pairs.retain(|[a, _]| a % 28 == 0);
    pairs.iter_mut().for_each(|pair| *pair = pair.map(|row| 7 * (row / 4)));
    let owned = Exclusions::new(&pairs).unwrap().with_statics(&[[7, 2]]);
    let plain = BodyColumns::new(&bodies);
    let all = [
        BodyColumns { owners: &owners, ..plain },
        BodyColumns { exclusions: Some(&rows), ..plain },
        BodyColumns { owners: &owners, exclusions: Some(&owned), worlds: &ids, ..plain },
    ];
    for (name, engine) in engines() {
        let arena = scene.crowd.arena(&engine);
        let counts = |columns: BodyColumns<'_>| {
            let mut counts = vec![0; count];
            for row in arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap().rows {
                for body in [row.a, row.b] {
                    counts.get_mut(body as usize).into_iter().for_each(|count| *count += 1);
                }
            }
            counts
        };
        let free = counts(plain);
        for (kind, columns) in all.into_iter().enumerate() {
            let expected = counts(columns);
            assert_ne!(expected, free, "the columns forbid some pairs");
            assert_eq!(arena.hit_counts(columns).unwrap().wait().unwrap().rows, expected, "{name}, {kind}");
            let hits: Vec<bool> = expected.iter().map(|&count| count > 0).collect();
            assert_eq!(arena.hits(columns).unwrap().wait().unwrap().rows, hits, "{name}, {kind}");
            check_nearest(&arena, columns, count, &format!("{name}, {kind}"));
        }
    }
}

/// The nearest of each body are those of all contacts that it may have.
fn check_nearest(arena: &Arena, columns: BodyColumns<'_>, count: usize, what: &str) {
    let far = ContactOptions { margin: f32::INFINITY };
    let exact = hullfield::collide::Options {
        precision: hullfield::collide::Precision::Exact,
        ..arena.options().clone()
    };
    let contacts = arena.with_options(exact).unwrap().contacts(columns, Pairs::BroadPhase, &far);
    let contacts = contacts.unwrap().wait().unwrap().rows;
    let options = NearestOptions { count: 2, ..Default::default() };
    let found = arena.nearest_bodies(columns, &options).unwrap().wait().unwrap().rows;
    let mut listed = found.iter();
    for query in 0..count as u32 {
        let mut others: Vec<(f64, u32)> = contacts
            .iter()
            .filter(|row| row.a == query || row.b == query)
            .map(|row| (row.separation, if row.a == query { row.b } else { row.a }))
            .collect();
        others.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for (separation, body) in others.into_iter().take(2) {
            let row = listed.next().unwrap();
            assert_eq!((row.query, row.body, row.separation), (query, body, separation), "{what}");
        }
    }
    assert!(listed.next().is_none(), "{what}");
}

#[test]
fn wrong_worlds_of_shapes_are_errors() {
    let scene = scene(20, 3, 1.0, 0.0, 97);
    let shapes = [scene.casts[0].body; 3];
    let ids = [5; 20];
    for (_, engine) in engines() {
        let arena = scene.crowd.arena(&engine);
        let plain = BodyColumns::new(&scene.crowd.bodies);
        let placed = BodyColumns { worlds: &ids, ..plain };
        let casts = |worlds| ShapeCastColumns { worlds, ..ShapeCastColumns::new(&scene.casts) };
        let near = |worlds| BodyColumns { worlds, ..BodyColumns::new(&shapes) };
        for (columns, worlds) in [(placed, &[][..]), (plain, &[5, 5, 5])] {
            let options = ShapeCastOptions::default();
            let errors = [
                arena.shape_casts(columns, casts(worlds), &options).map(drop).unwrap_err(),
                arena.shape_casts_all(columns, casts(worlds), &options).map(drop).unwrap_err(),
                arena.shape_casts_any(columns, casts(worlds), &options).map(drop).unwrap_err(),
                arena.nearest_bodies_to(columns, near(worlds), &Default::default()).map(drop).unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, Error::Invalid { at: Location::Argument, .. }), "{error}");
                assert!(error.to_string().contains("shape"), "{error}");
            }
        }
        let short = arena.shape_casts(placed, casts(&[5, 5]), &Default::default()).map(drop).unwrap_err();
        assert!(matches!(short, Error::Count { what: "worlds", given: 2, .. }), "{short}");
        let few = BodyColumns { worlds: &ids[..7], ..plain };
        assert!(matches!(arena.hits(few), Err(Error::Count { what: "worlds", given: 7, .. })));
        // A world without bodies has the statics.
        let found =
            arena.shape_casts_all(placed, casts(&[6; 3]), &Default::default()).unwrap().wait().unwrap();
        assert!(found.rows.iter().all(|row| row.body >= 20));
    }
}
