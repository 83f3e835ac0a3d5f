//! Rays, points, shape casts and nearest bodies among height fields and compounds, with worlds: equal to those of the triangles as single bodies,
//! bit for bit.

use hullfield::collide::{
    Arena, Body, BodyColumns, CompoundBody, CompoundColumns, Compounds, Exclusions, HeightField, Hull,
    NearestOptions, Options, PartRow, PointColumns, PointOptions, Ray, RayColumns, RayOptions, ShapeCast,
    ShapeCastColumns, ShapeCastOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::compound_shapes::{by_contacts, casts, triples};
use crate::compounds::{Expanded, compound, crowd, hulls};

/// The triangles of a field as hulls about the corners of their cells, which is how a query measures them, and those corners.
fn triangles(field: &HeightField) -> Vec<(u32, Hull, [f64; 3])> {
    let all = (0..field.part_count()).filter_map(|part| Some((part, field.triangle(part)?)));
    let [across, along] = field.spacing().map(f64::from);
    let origin = field.origin().map(f64::from);
    all.map(|(part, corners)| {
        let cell = part / 2;
        let [row, column] = [cell / (field.columns() - 1), cell % (field.columns() - 1)].map(f64::from);
        let corner = [origin[0] + column * across, origin[1], origin[2] + row * along];
        let local = corners.map(|point| [0, 1, 2].map(|k| (point[k] - corner[k]) as f32));
        (part, Hull::triangle(local).unwrap(), corner)
    })
    .collect()
}

/// Movers of parts, and fields at places and sizes that f64 adds without rounding.
struct Scene {
    compounds: Compounds,
    bodies: Vec<CompoundBody>,
    worlds: Vec<u32>,
    /// An arena with the triangles too, and all parts as single bodies of it.
    arena: Arena,
    parts: Expanded,
    of_parts: Vec<u32>,
    first_field: u32,
    size: f32,
    at: [f64; 3],
}

impl Scene {
    fn new(engine: &Engine, seed: u64, size: f32, at: [f64; 3]) -> Self {
        let mut random = Random::new(seed);
        let mut all = hulls(&mut random);
        let shapes = [1, 5].map(|count| compound(&mut random, count));
        let count = all.len() as u32;
        let field = |random: &mut Random, columns: u32, rows: u32| {
            let height = |at: u32| if at % 19 == 4 { f32::NAN } else { random.below(64) as f32 / 64.0 - 0.5 };
            let heights: Vec<f32> = (0..columns * rows).map(height).collect();
            HeightField::new(columns, heights, [0.5, 0.25]).unwrap().at([-1.5, 0.25, -1.0]).unwrap()
        };
        let fields = [field(&mut random, 8, 10), field(&mut random, 6, 6)];
        let arena = Arena::new(engine, &all, Options::default()).unwrap();
        let compounds = Compounds::new(&arena, &shapes).unwrap().with_height_fields(&fields);
        let mut bodies = crowd(&mut random, 14, 2, 0.5 * size, at, 3.0);
        let mut parts = Expanded::new(&compounds, &bodies);
        let first_field = bodies.len() as u32;
        let laid_out = fields.each_ref().map(triangles);
        let mut firsts = [0; 2];
        for (first, triangles) in firsts.iter_mut().zip(&laid_out) {
            *first = all.len() as u32;
            all.extend(triangles.iter().map(|(_, hull, _)| hull.clone()));
        }
        assert!(count > 0);
        for index in 0..6_u32 {
            let (shape, id) = (index as usize % 2, bodies.len() as u32);
            let off =
                [f64::from(index) - 2.0, [0.0, 0.5, -0.75][index as usize % 3], 0.25 * f64::from(index)];
            let position = [0, 1, 2].map(|k| at[k] + f64::from(size) * off[k]);
            let body = CompoundBody::new(2 + shape as u32).at(position).scaled(size);
            let body = if index == 3 { body.padded(0.125 * size) } else { body };
            let body = if index == 4 { body.grouped(1, 2) } else { body };
            for (hull, (part, _, corner)) in (firsts[shape]..).zip(&laid_out[shape]) {
                let triangle =
                    Body::new(hull).scaled(size).padded(body.padding).grouped(body.group, body.mask);
                parts.bodies.push(triangle);
                parts.positions.push([0, 1, 2].map(|k| position[k] + f64::from(size) * corner[k]));
                parts.names.push([id, *part]);
            }
            bodies.push(body);
        }
        let worlds: Vec<u32> = (0..bodies.len() as u32).map(|row| [9, 2, 5][row as usize % 3]).collect();
        let of_parts = parts.names.iter().map(|name| worlds[name[0] as usize]).collect();
        let arena = Arena::new(engine, &all, Options::default()).unwrap();
        Self { compounds, bodies, worlds, arena, parts, of_parts, first_field, size, at }
    }

    /// All bodies, in worlds or not, and their parts.
    fn columns(&self, in_worlds: bool) -> (CompoundColumns<'_>, BodyColumns<'_>) {
        let (columns, parts) = (CompoundColumns::new(&self.bodies), self.parts.columns());
        if !in_worlds {
            return (columns, parts);
        }
        let columns = CompoundColumns { worlds: &self.worlds, ..columns };
        (columns, BodyColumns { worlds: &self.of_parts, ..parts })
    }

    fn named<R: Copy>(&self, rows: &[R], body: impl Fn(&mut R) -> Option<&mut u32>) -> Vec<(u32, R)> {
        let named = |&row: &R| {
            let (mut row, mut part) = (row, 0);
            if let Some(id) = body(&mut row) {
                [*id, part] = self.parts.names[*id as usize];
            }
            (part, row)
        };
        rows.iter().map(named).collect()
    }

    /// Places about the fields, and worlds: two of those of bodies, and one that has none.
    fn asked(&self, random: &mut Random, count: usize) -> (Vec<[f64; 3]>, Vec<u32>) {
        let place = |_| {
            let off = random.direction() * (3.0 * f64::from(self.size) * random.unit());
            [0, 1, 2].map(|k| self.at[k] + off[k])
        };
        ((0..count).map(place).collect(), (0..count).map(|at| [2, 9, 4, 9][at % 4]).collect())
    }
}

fn pairs<R: Copy>(rows: &[PartRow<R>]) -> Vec<(u32, R)> {
    rows.iter().map(|row| (row.part, row.row)).collect()
}

const PLACES: [(f32, [f64; 3]); 3] =
    [(1.0, [0.0; 3]), (1.0 / 1024.0, [0.25, -2.0, 1.0]), (1.0, [1_048_576.0, -1024.0, 0.5])];

#[test]
fn rays_and_points_see_the_fields_of_their_worlds() {
    for (size, at) in PLACES {
        for in_worlds in [false, true] {
            let what = format!("size {size} at {at:?} worlds {in_worlds}");
            let scene = Scene::new(&Engine::cpu(), 91, size, at);
            let (bodies, parts) = scene.columns(in_worlds);
            let mut random = Random::new(5);
            let (places, worlds) = scene.asked(&mut random, 300);
            let worlds = if in_worlds { &worlds[..] } else { &[] };
            let ray = |(index, from): (usize, &[f64; 3])| {
                let to = random.direction() * f64::from(size);
                let ray = Ray::new([0.0; 3], [0, 1, 2].map(|k| (at[k] + to[k] - from[k]) as f32));
                if index % 5 == 1 { ray.grouped(2, u32::MAX) } else { ray }
            };
            let rays: Vec<Ray> = places.iter().enumerate().map(ray).collect();
            let rays = RayColumns { origins: &places, worlds, ..RayColumns::new(&rays) };
            let options = RayOptions::default();
            let expected = scene.arena.raycasts_all(parts, rays, &options).unwrap().wait().unwrap();
            let expected = scene.named(&expected.rows, |hit| Some(&mut hit.body));
            let found = scene.compounds.raycasts_all(bodies, rays, &options).unwrap().wait().unwrap();
            assert!(pairs(&found.rows) == expected, "{what}: all hits of rays");
            let of_fields = expected.iter().filter(|(_, hit)| hit.body >= scene.first_field).count();
            assert!(of_fields > 100, "{what}: {of_fields}");
            let first = scene.arena.raycasts(parts, rays, &options).unwrap().wait().unwrap();
            let first = scene.named(&first.rows, |row| row.hit.as_mut().map(|hit| &mut hit.body));
            let found = scene.compounds.raycasts(bodies, rays, &options).unwrap().wait().unwrap();
            assert!(pairs(&found.rows) == first, "{what}: first hits of rays");
            let any = scene.arena.occlusions(parts, rays, &options).unwrap().wait().unwrap().rows;
            assert_eq!(scene.compounds.occlusions(bodies, rays, &options).unwrap().wait().unwrap().rows, any);

            let points = PointColumns { worlds, ..PointColumns::new_f64(&places) };
            for max_distance in [f32::INFINITY, 0.25 * size] {
                let options = PointOptions { max_distance };
                let expected = scene.arena.nearest_points(parts, points, &options).unwrap().wait().unwrap();
                let expected = scene.named(&expected.rows, |row| row.hit.as_mut().map(|hit| &mut hit.body));
                let found = scene.compounds.nearest_points(bodies, points, &options).unwrap();
                assert!(pairs(&found.wait().unwrap().rows) == expected, "{what}: nearest to points");
            }
            let expected = scene.arena.containments(parts, points).unwrap().wait().unwrap();
            let expected = scene.named(&expected.rows, |row| Some(&mut row.body));
            let found = scene.compounds.containments(bodies, points).unwrap().wait().unwrap();
            assert!(pairs(&found.rows) == expected, "{what}: containments");
            assert!(in_worlds || expected.iter().any(|(_, row)| row.body >= scene.first_field), "{what}");
        }
    }
}

#[test]
fn shapes_meet_the_fields_of_their_worlds() {
    for (size, at) in PLACES {
        for in_worlds in [false, true] {
            let what = format!("size {size} at {at:?} worlds {in_worlds}");
            let scene = Scene::new(&Engine::cpu(), 92, size, at);
            let (bodies, parts) = scene.columns(in_worlds);
            let mut random = Random::new(6);
            let (casts, positions) = casts(&mut random, size, at, 120);
            let worlds: Vec<u32> = (0..casts.len()).map(|at| [2, 9, 4, 9][at % 4]).collect();
            let worlds = if in_worlds { &worlds[..] } else { &[] };
            let columns = ShapeCastColumns { positions: &positions, worlds, ..ShapeCastColumns::new(&casts) };
            for (skip_start, witness) in [(false, true), (true, false)] {
                let options = ShapeCastOptions { skip_start, witness };
                let expected = scene.arena.shape_casts_all(parts, columns, &options).unwrap().wait().unwrap();
                let expected = scene.named(&expected.rows, |hit| Some(&mut hit.body));
                let found = scene.compounds.shape_casts_all(bodies, columns, &options).unwrap();
                assert!(pairs(&found.wait().unwrap().rows) == expected, "{what}: all hits");
                let of_fields = expected.iter().filter(|(_, hit)| hit.body >= scene.first_field);
                assert!(of_fields.count() > 100, "{what}");
                let first = scene.arena.shape_casts(parts, columns, &options).unwrap().wait().unwrap();
                let first = scene.named(&first.rows, |row| row.hit.as_mut().map(|hit| &mut hit.body));
                let found = scene.compounds.shape_casts(bodies, columns, &options).unwrap().wait().unwrap();
                assert!(pairs(&found.rows) == first, "{what}: first hits");
                let any = scene.arena.shape_casts_any(parts, columns, &options).unwrap().wait().unwrap().rows;
                let found = scene.compounds.shape_casts_any(bodies, columns, &options).unwrap();
                assert_eq!(found.wait().unwrap().rows, any, "{what}");
            }

            // The nearest of each body, then the nearest of these.
            let (places, worlds) = scene.asked(&mut random, 40);
            let shapes: Vec<Body> =
                (0..40).map(|at| Body::new(at % 7).scaled(0.25 * size).rotated(random.rotation())).collect();
            let worlds = if in_worlds { &worlds[..] } else { &[] };
            let shapes = BodyColumns { positions: &places, worlds, ..BodyColumns::new(&shapes) };
            for (count, max_distance) in [(1, f32::INFINITY), (3, 0.5 * size), (1_000, f32::INFINITY)] {
                let options = NearestOptions { count, max_distance };
                let all = NearestOptions { count: u32::MAX, max_distance };
                let all = scene.arena.nearest_bodies_to(parts, shapes, &all).unwrap().wait().unwrap();
                let mut expected: Vec<(u32, hullfield::collide::NearestBody)> = Vec::new();
                for (part, row) in scene.named(&all.rows, |row| Some(&mut row.body)) {
                    let held = expected.iter().filter(|(_, other)| other.query == row.query);
                    let (mut len, mut is_new) = (0, true);
                    held.for_each(|(_, other)| {
                        len += 1;
                        is_new &= other.body != row.body;
                    });
                    if is_new && len < count {
                        expected.push((part, row));
                    }
                }
                let found = scene.compounds.nearest_bodies_to(bodies, shapes, &options).unwrap();
                assert!(pairs(&found.wait().unwrap().rows) == expected, "{what}: nearest {count}");
                let of_fields = expected.iter().filter(|(_, row)| row.body >= scene.first_field);
                assert!(of_fields.count() > 10, "{what}");
            }
        }
    }
}

#[test]
fn a_cast_meets_a_field_where_the_groups_and_masks_of_both_accept_it() {
    let field = HeightField::new(2, vec![0.0; 4], [1.0, 1.0]).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.25).unwrap()], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[]).unwrap().with_height_fields(&[field]);
    let options = ShapeCastOptions::default();
    for (of_cast, of_field, meets) in [
        ([1, u32::MAX], [2, u32::MAX], true),
        ([1, 2], [2, 1], true),
        // One of the two does not accept the other, or neither does.
        ([1, u32::MAX], [2, 4], false),
        ([1, 4], [2, u32::MAX], false),
        ([1, 4], [2, 4], false),
    ] {
        let what = format!("cast {of_cast:?}, field {of_field:?}");
        let bodies = [CompoundBody::new(0).grouped(of_field[0], of_field[1])];
        let shape = Body::new(0).at([0.25, 2.0, 0.25]).grouped(of_cast[0], of_cast[1]);
        let casts = [ShapeCast::new(shape, [0.0, -1.0, 0.0])];
        let first = compounds.shape_casts(&bodies, &casts, &options).unwrap().wait().unwrap().rows[0];
        let distance = first.row.hit.map(|hit| hit.distance);
        assert_eq!(distance.is_some(), meets, "{what}");
        assert!(distance.is_none_or(|distance| (distance - 1.75).abs() < 1e-5), "{what}: {distance:?}");
        let any = compounds.shape_casts_any(&bodies, &casts, &options).unwrap().wait().unwrap().rows;
        assert_eq!(any[0].is_hit, meets, "{what}");
        let all = compounds.shape_casts_all(&bodies, &casts, &options).unwrap().wait().unwrap().rows;
        assert_eq!(!all.is_empty(), meets, "{what}");
    }
}

#[test]
fn bodies_are_near_fields_that_do_not_move() {
    for (size, at) in PLACES {
        let what = format!("size {size} at {at:?}");
        let scene = Scene::new(&Engine::cpu(), 93, size, at);
        let (movers, fields) = scene.bodies.split_at(scene.first_field as usize);
        let level = scene.compounds.with_statics(fields).unwrap();
        let worlds = &scene.worlds[..movers.len()];
        let exclusions = Exclusions::new(&[[1, 14], [2, 3]]).unwrap().with_statics(&[[0, 5]]);
        let is_out = |a: u32, b: u32| [[1, 14], [2, 3], [0, 19]].contains(&[a, b]);
        for (count, max_distance) in [(1, f32::INFINITY), (3, 0.5 * size), (1_000, f32::INFINITY)] {
            let options = NearestOptions { count, max_distance };
            let columns =
                CompoundColumns { worlds, exclusions: Some(&exclusions), ..CompoundColumns::new(movers) };
            let found = level.nearest_bodies(columns, &options).unwrap().wait().unwrap();
            let meet = |a: u32, b: u32| {
                !is_out(a, b) && (b >= scene.first_field || worlds[a as usize] == worlds[b as usize])
            };
            let expected = by_contacts(&scene.arena, &scene.parts, &[], &options, meet);
            let expected: Vec<_> =
                expected.into_iter().filter(|(_, _, row)| row.query < scene.first_field).collect();
            assert!(triples(&found.rows) == expected, "{what}: nearest {count}");
            let of_fields = expected.iter().filter(|(_, _, row)| row.body >= scene.first_field);
            assert!(of_fields.count() > 3, "{what}");
        }
        let error = scene.compounds.nearest_bodies(&scene.bodies, &NearestOptions::default()).map(drop);
        assert!(matches!(error, Err(Error::Invalid { at: Location::Body(14), .. })), "{error:?}");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("body 14: it is a height field"), "{error}");
    }
}

#[test]
fn worlds_of_one_side_alone_are_errors_where_all_bodies_are_fields() {
    let field = HeightField::new(2, vec![0.0; 4], [1.0, 1.0]).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[]).unwrap().with_height_fields(&[field]);
    let bodies = [CompoundBody::new(0); 2];
    let (alone, apart) =
        (CompoundColumns::new(&bodies), CompoundColumns { worlds: &[3, 8], ..CompoundColumns::new(&bodies) });
    let rays = [Ray::new([0.25, 5.0, 0.25], [0.0, -1.0, 0.0]); 3];
    let of_worlds = |columns: CompoundColumns<'_>, worlds: &[u32]| {
        let rays = RayColumns { worlds, ..RayColumns::new(&rays) };
        let found = compounds.raycasts(columns, rays, &RayOptions::default())?.wait()?;
        let found = found.rows.iter().map(|row| row.row.hit.map(|hit| hit.body));
        Ok::<_, Error>(found.collect::<Vec<_>>())
    };
    assert_eq!(of_worlds(apart, &[8, 3, 4]), Ok(vec![Some(1), Some(0), None]));
    assert_eq!(of_worlds(alone, &[]), Ok(vec![Some(0); 3]));
    let text = |columns, worlds: &[u32]| of_worlds(columns, worlds).unwrap_err().to_string();
    assert!(text(apart, &[]).contains("the bodies have worlds, but the rays have none"));
    assert!(text(alone, &[1; 3]).contains("the rays have worlds, but the bodies have none"));
    assert!(matches!(of_worlds(apart, &[1]), Err(Error::Count { what: "worlds", given: 1, .. })));
    let points = PointColumns { worlds: &[8, 1], ..PointColumns::new(&[[0.25, 1.0, 0.25]; 2]) };
    let found = compounds.nearest_points(apart, points, &PointOptions::default()).unwrap().wait().unwrap();
    let found: Vec<_> = found.rows.iter().map(|row| row.row.hit.map(|hit| hit.body)).collect();
    assert_eq!(found, [Some(1), None]);
}
