//! Height fields: equal to their triangles as hulls, one by one; seams, borders, holes and bad input.

use glam::{DQuat, DVec3};
use hullfield::collide::{
    Arena, Body, Compound, CompoundBody, CompoundColumns, Compounds, Contact, ContactOptions,
    DistanceOptions, Exclusions, HeightField, Hull, Intersection, ManifoldOptions, Options, Pairs,
    PointColumns, PointOptions, Ray, RayColumns, RayOptions, Status,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compounds::{Expanded, Told, assert_same, compound, crowd, hulls, one_by_one, told};

/// A rough field whose coordinates f32 holds without rounding, with holes.
fn rough(random: &mut Random, columns: u32, rows: u32) -> HeightField {
    let heights: Vec<f32> = (0..columns * rows)
        .map(|at| if at % 23 == 7 { f32::NAN } else { random.between(-0.4, 0.4) as f32 })
        .collect();
    HeightField::new(columns, heights, [0.5, 0.25]).unwrap().at([-2.0, 0.0, -1.5]).unwrap()
}

/// A field without holes, flat at a height.
fn flat(columns: u32, rows: u32, height: f32) -> HeightField {
    HeightField::new(columns, vec![height; (columns * rows) as usize], [1.0, 1.0]).unwrap()
}

/// The parts of a field that exist, and their triangles as hulls.
fn triangles(field: &HeightField) -> (Vec<u32>, Vec<Hull>) {
    let all = (0..field.part_count()).filter_map(|part| Some((part, field.triangle(part)?)));
    all.map(|(part, corners)| (part, Hull::triangle(corners.map(|corner| corner.map(|x| x as f32))).unwrap()))
        .unzip()
}

/// Bodies, a field, and the same field as the hulls of its triangles.
struct Scene {
    compounds: Compounds,
    movers: Vec<CompoundBody>,
    field: CompoundBody,
    parts: Vec<u32>,
    /// An arena with the triangles too.
    arena: Arena,
    first_triangle: u32,
    size: f64,
}

impl Scene {
    fn new(engine: &Engine, seed: u64, size: f32, at: [f64; 3]) -> Self {
        let mut random = Random::new(seed);
        let mut all = hulls(&mut random);
        let shapes = [1, 4, 11].map(|count| compound(&mut random, count));
        let heights = rough(&mut random, 10, 13);
        let arena = Arena::new(engine, &all, Options::default()).unwrap();
        let compounds =
            Compounds::new(&arena, &shapes).unwrap().with_height_fields(std::slice::from_ref(&heights));
        let movers = crowd(&mut random, 40, 3, 0.6 * size, at, 2.0);
        let field = CompoundBody::new(3).at(at).rotated(random.rotation()).scaled(size);
        let (parts, triangles) = triangles(&heights);
        let first_triangle = all.len() as u32;
        all.extend(triangles);
        let arena = Arena::new(engine, &all, Options::default()).unwrap();
        Self { compounds, movers, field, parts, arena, first_triangle, size: f64::from(size) }
    }

    /// The movers, then the field.
    fn all(&self) -> Vec<CompoundBody> {
        self.movers.iter().copied().chain([self.field]).collect()
    }

    /// The parts of the movers, then the triangles of a field, as bodies with their positions.
    fn expanded(&self) -> Expanded {
        let mut all = Expanded::new(&self.compounds, &self.movers);
        for (index, &part) in (0..).zip(&self.parts) {
            all.bodies.push(Body {
                rotation: self.field.rotation,
                scale: [self.field.scale; 3],
                padding: self.field.padding,
                group: self.field.group,
                mask: self.field.mask,
                ..Body::new(self.first_triangle + index)
            });
            all.positions.push(self.field.position);
            all.names.push([self.movers.len() as u32, part]);
        }
        all
    }

    /// The triangles alone.
    fn alone(&self) -> Expanded {
        let all = self.expanded();
        let first = all.bodies.len() - self.parts.len();
        Expanded {
            bodies: all.bodies[first..].to_vec(),
            positions: all.positions[first..].to_vec(),
            names: self.parts.iter().map(|&part| [0, part]).collect(),
        }
    }

    /// All pairs of a part and a triangle, in the order of bodies and parts.
    fn pairs(&self, all: &Expanded) -> Vec<[u32; 2]> {
        let first = (all.bodies.len() - self.parts.len()) as u32;
        let meet = |a: u32| {
            let body = &all.bodies[a as usize];
            body.group & self.field.mask != 0 && self.field.group & body.mask != 0
        };
        let pairs = (0..first).filter(|&a| meet(a));
        pairs.flat_map(|a| (first..all.bodies.len() as u32).map(move |b| [a, b])).collect()
    }

    /// The rows with the field.
    fn with_field(&self, rows: Vec<Told>) -> Vec<Told> {
        let field = self.movers.len() as u32;
        rows.into_iter().filter(|row| row.0[1] == field).collect()
    }
}

const PLACES: [(f32, [f64; 3]); 4] =
    [(1.0, [0.0; 3]), (1e-5, [0.0; 3]), (1e5, [0.0; 3]), (1.0, [1e6, -1e6, 3e5])];

#[test]
fn a_field_is_its_triangles_tested_one_by_one() {
    for (name, engine) in engines() {
        for (size, at) in PLACES {
            let scene = Scene::new(&engine, 5, size, at);
            let parts = scene.expanded();
            let pairs = scene.pairs(&parts);
            let given = Pairs::Given(&pairs);
            let bodies = scene.all();
            let tolerance = 1e-4 * scene.size;
            let what = format!("{name} size {size} at {at:?}");
            let sorted = |mut rows: Vec<Told>| {
                rows.sort_by_key(|row| (row.0, row.1));
                rows
            };

            let expected = scene.arena.intersections(parts.columns(), given).unwrap().wait().unwrap();
            let expected = sorted(one_by_one::<Intersection>(&parts, &expected, 0.0));
            assert!(expected.len() > 60, "{what}: {}", expected.len());
            let found = scene.compounds.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_same(&scene.with_field(told(&found)), &expected, 0.0, &what);
            let mut touching: Vec<[u32; 2]> = expected.iter().map(|row| row.0).collect();
            touching.dedup();
            let found = scene.compounds.body_intersections(&bodies, Pairs::BroadPhase).unwrap();
            let found = scene.with_field(told(&found.wait().unwrap()));
            assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), touching, "{what}");

            // As a static: what is measured is the same, under the same id.
            let level = scene.compounds.with_statics(&[scene.field]).unwrap();
            let found = level.intersections(&scene.movers, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_same(&scene.with_field(told(&found)), &expected, 0.0, &what);
            let is_hit = level.hits(&scene.movers).unwrap().wait().unwrap().rows;
            let of_all = level.hit_counts(&scene.movers).unwrap().wait().unwrap().rows;
            assert!(is_hit.iter().zip(&of_all).all(|(&is_hit, &count)| is_hit == (count > 0)));
            assert!(touching.iter().all(|pair| is_hit[pair[0] as usize]), "{what}");

            for margin in [0.0, 0.2 * size, f32::INFINITY] {
                let what = format!("{what} margin {margin}");
                let (d, c) = (DistanceOptions { margin }, ContactOptions { margin });
                let all = scene.arena.distances(parts.columns(), given, &d).unwrap().wait().unwrap();
                let expected = sorted(one_by_one(&parts, &all, f64::from(margin)));
                let found =
                    scene.compounds.distances(&bodies, Pairs::BroadPhase, &d).unwrap().wait().unwrap();
                assert_same(&scene.with_field(told(&found)), &expected, tolerance, &what);
                let all = scene.arena.contacts(parts.columns(), given, &c).unwrap().wait().unwrap();
                let expected = sorted(one_by_one(&parts, &all, f64::from(margin)));
                let found = scene.compounds.contacts(&bodies, Pairs::BroadPhase, &c).unwrap().wait().unwrap();
                assert_same(&scene.with_field(told(&found)), &expected, tolerance, &what);

                // One row a pair of bodies: the least gap.
                let found = scene.compounds.body_contacts(&bodies, Pairs::BroadPhase, &c).unwrap();
                let found = scene.with_field(told(&found.wait().unwrap()));
                let mut least: Vec<([u32; 2], f64)> = Vec::new();
                for &(pair, _, _, gap) in &expected {
                    let gap = gap.unwrap();
                    match least.last_mut() {
                        Some(last) if last.0 == pair => last.1 = last.1.min(gap),
                        _ => least.push((pair, gap)),
                    }
                }
                assert_eq!(found.len(), least.len(), "{what}");
                for (row, (pair, gap)) in found.iter().zip(least) {
                    assert_eq!(row.0, pair, "{what}");
                    assert!((row.3.unwrap() - gap).abs() <= tolerance, "{what}: {row:?} {gap}");
                }
            }
        }
    }
}

/// A number is near another that was computed in another frame.
fn is_near(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-9 * size + 1e-12 * a.abs()
}

#[test]
fn rays_hit_the_triangles_that_they_hit_alone() {
    for (size, at) in PLACES {
        for padding in [0.0, 0.03] {
            let mut scene = Scene::new(&Engine::cpu(), 9, size, at);
            scene.field = scene.field.padded(padding * size);
            let what = format!("size {size} at {at:?} padding {padding}");
            let mut random = Random::new(4);
            let mut rays = Vec::new();
            let mut origins = Vec::new();
            for index in 0..400 {
                let from = random.direction() * (5.0 * scene.size * random.unit());
                let towards = random.direction() * (1.5 * scene.size * random.unit()) - from;
                let ray = Ray::new([0.0; 3], towards.as_vec3().to_array());
                rays.push(if index % 4 == 1 { ray.up_to(2.0 * size) } else { ray });
                origins.push(std::array::from_fn(|k| at[k] + from[k]));
            }
            let columns = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
            let options = RayOptions::default();
            let parts = scene.alone();
            let expected = scene.arena.raycasts_all(parts.columns(), columns, &options);
            let expected = expected.unwrap().wait().unwrap().rows;
            let found = scene.compounds.raycasts_all(&[scene.field], columns, &options);
            let found = found.unwrap().wait().unwrap().rows;
            assert!(expected.len() > 150, "{what}: {}", expected.len());
            assert_eq!(found.len(), expected.len(), "{what}");
            for (row, other) in found.iter().zip(&expected) {
                assert_eq!((row.row.ray, row.row.body), (other.ray, 0), "{what}");
                // Positions of triangles are rounded to f64, which counts for more along a ray that grazes one.
                let direction = DVec3::from(rays[other.ray as usize].direction.map(f64::from)).normalize();
                let across = other.normal.map_or(1.0, |normal| DVec3::from(normal).dot(direction).abs());
                let rounding = 1e-15 * at.iter().fold(0.0, |most: f64, x| most.max(x.abs())) / across;
                let near = is_near(row.row.distance, other.distance, scene.size + 1e9 * rounding);
                assert!(near, "{what}: {row:?} {other:?}");
                assert_eq!(row.row.normal.is_some(), other.normal.is_some(), "{what}");
            }
            let mut named = found.iter().map(|row| (row.row.ray, row.part)).collect::<Vec<_>>();
            let mut others = expected.iter().map(|row| (row.ray, parts.names[row.body as usize][1]));
            named.sort_unstable();
            let mut of_others = others.by_ref().collect::<Vec<_>>();
            of_others.sort_unstable();
            assert_eq!(named, of_others, "{what}");

            // First and any, among movers too.
            let bodies = scene.all();
            let first = scene.compounds.raycasts(&bodies, columns, &options).unwrap().wait().unwrap();
            let any = scene.compounds.occlusions(&bodies, columns, &options).unwrap().wait().unwrap();
            let all = scene.compounds.raycasts_all(&bodies, columns, &options).unwrap().wait().unwrap();
            for ((ray, row), any) in (0..).zip(&first.rows).zip(&any.rows) {
                let nearest = all.rows.iter().find(|hit| hit.row.ray == ray);
                let found = row.row.hit.map(|hit| (row.part, hit));
                assert_eq!(found, nearest.map(|row| (row.part, row.row)), "{what} ray {ray}");
                assert_eq!(any.occluded, nearest.is_some(), "{what} ray {ray}");
            }
            let count = scene.movers.len() as u32;
            assert!(first.rows.iter().any(|row| row.row.hit.is_some_and(|hit| hit.body == count)));
            assert!(first.rows.iter().any(|row| row.row.hit.is_some_and(|hit| hit.body < count)));
        }
    }
}

#[test]
fn points_are_near_the_triangles_that_they_are_alone() {
    for (size, at) in PLACES {
        for padding in [0.0, 0.05] {
            let mut scene = Scene::new(&Engine::cpu(), 10, size, at);
            scene.field = scene.field.padded(padding * size);
            let what = format!("size {size} at {at:?} padding {padding}");
            let mut random = Random::new(6);
            let points: Vec<[f64; 3]> = (0..300)
                .map(|index| {
                    let reach = if index % 3 == 0 { 6.0 } else { 1.5 };
                    let off = random.direction() * (reach * scene.size * random.unit());
                    std::array::from_fn(|k| at[k] + off[k])
                })
                .collect();
            let columns = PointColumns::new_f64(&points);
            let parts = scene.alone();
            for max_distance in [f32::INFINITY, 0.3 * size] {
                let options = PointOptions { max_distance };
                let expected = scene.arena.nearest_points(parts.columns(), columns, &options);
                let expected = expected.unwrap().wait().unwrap().rows;
                let found = scene.compounds.nearest_points(&[scene.field], columns, &options);
                let found = found.unwrap().wait().unwrap().rows;
                for (row, other) in found.iter().zip(&expected) {
                    let [distance, of_other] =
                        [row.row.hit, other.hit].map(|hit| hit.map(|hit| hit.distance));
                    match (distance, of_other) {
                        (Some(a), Some(b)) => assert!(is_near(a, b, scene.size), "{what}: {a} {b}"),
                        (a, b) => assert_eq!(a, b, "{what}"),
                    }
                }
                assert!(found.iter().any(|row| row.row.hit.is_some_and(|hit| hit.body == 0)));
            }
            let inside = scene.arena.containments(parts.columns(), columns).unwrap().wait().unwrap().rows;
            let found = scene.compounds.containments(&[scene.field], columns).unwrap().wait().unwrap().rows;
            let named: Vec<_> = found.iter().map(|row| (row.row.point, row.part)).collect();
            let others: Vec<_> =
                inside.iter().map(|row| (row.point, parts.names[row.body as usize][1])).collect();
            assert_eq!(named, others, "{what}");
            assert_eq!(inside.is_empty(), padding == 0.0, "{what}");
        }
    }
}

/// Where a ray meets a triangle, by Möller and Trumbore 1997: an independent check away from edges.
fn meets(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, f64)> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let volume = ab.dot(across);
    let from = origin - a;
    let u = from.dot(across) / volume;
    let v = direction.dot(from.cross(ab)) / volume;
    let place = ac.dot(from.cross(ab)) / volume;
    Some((place, u.min(v).min(1.0 - u - v))).filter(|&(place, inside)| place >= 0.0 && inside.is_finite())
}

#[test]
fn rays_hit_what_brute_force_in_f64_says() {
    let mut random = Random::new(31);
    let field = rough(&mut random, 40, 30);
    let ball = Hull::ball(1.0).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[ball], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[]).unwrap().with_height_fields(std::slice::from_ref(&field));
    for (scale, at) in [(1.0, [0.0; 3]), (1e-5, [3.0, 1.0, 2.0]), (1e5, [0.0; 3]), (1.0, [1e6; 3])] {
        let body = CompoundBody::new(0).at(at).scaled(scale).rotated(random.rotation());
        let quaternion = DQuat::from_array(body.rotation.map(f64::from)).normalize();
        let place = |corner: [f64; 3]| quaternion * (f64::from(scale) * DVec3::from(corner));
        let triangles: Vec<[DVec3; 3]> =
            (0..field.part_count()).filter_map(|part| Some(field.triangle(part)?.map(place))).collect();
        let mut rays = Vec::new();
        let mut origins: Vec<[f64; 3]> = Vec::new();
        for _ in 0..300 {
            let aim = place([20.0 * random.unit() - 2.0, 0.0, 7.5 * random.unit() - 1.5]);
            let from = random.direction() * (10.0 * f64::from(scale) * random.unit());
            rays.push(Ray::new([0.0; 3], (aim - from).as_vec3().to_array()));
            origins.push((from + DVec3::from(at)).to_array());
        }
        let columns = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
        let found = compounds.raycasts(&[body], columns, &RayOptions::default()).unwrap().wait().unwrap();
        let (mut hit_count, mut clear_count) = (0, 0);
        for ((ray, origin), row) in rays.iter().zip(&origins).zip(&found.rows) {
            let direction = DVec3::from(ray.direction.map(f64::from));
            let from = DVec3::from(*origin) - DVec3::from(at);
            let all: Vec<(f64, f64)> =
                triangles.iter().filter_map(|&triangle| meets(from, direction, triangle)).collect();
            // Rays that pass an edge by less than the tolerance are another test's.
            if all.iter().any(|&(_, inside)| inside.abs() < 1e-3) {
                continue;
            }
            clear_count += 1;
            let first = all.iter().filter(|(_, inside)| *inside > 0.0).map(|(place, _)| *place);
            let first = first.fold(f64::INFINITY, f64::min);
            let distance = row.row.hit.map_or(f64::INFINITY, |hit| hit.distance);
            let expected = first * direction.length();
            hit_count += usize::from(expected.is_finite());
            let near = (distance - expected).abs() <= 1e-6 * f64::from(scale) || distance == expected;
            assert!(near, "{scale} at {at:?}: {distance} {expected}");
        }
        assert!(clear_count > 100 && hit_count > 50, "{clear_count} {hit_count}");
    }
}

/// Balls and boxes over a field of unit cells.
fn over(engine: &Engine, field: HeightField) -> Compounds {
    let hulls = [Hull::ball(0.5).unwrap(), Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space()];
    let arena = Arena::new(engine, &hulls, Options::default()).unwrap();
    let shapes = [Compound::of_hulls([0]), Compound::of_hulls([1])];
    let compounds = Compounds::new(&arena, &shapes).unwrap().with_height_fields(&[field]);
    compounds.with_statics(&[CompoundBody::new(2)]).unwrap()
}

#[test]
fn a_flat_field_is_as_high_as_a_half_space() {
    for (name, engine) in engines() {
        let level = over(&engine, flat(17, 17, 2.0));
        let arena = level.arena().clone();
        let ground = arena
            .with_options(Options { statics: vec![Body::new(2).at([0.0, 2.0, 0.0])], ..Options::default() })
            .unwrap();
        let mut random = Random::new(3);
        let (mut bodies, mut plain) = (Vec::new(), Vec::new());
        for index in 0..60u32 {
            let [x, z] = [0, 1].map(|_| 3.0 + 10.0 * random.unit());
            // Balls sink by less than half, boxes not at all: a triangle may be left sideways too, or downward.
            let least = if index % 2 == 0 { 2.05 } else { 2.9 };
            let at = [x, least + random.unit(), z].map(|x| f64::from(x as f32));
            let turn = if index % 2 == 0 { [0.0, 0.0, 0.0, 1.0] } else { random.rotation() };
            bodies.push(CompoundBody::new(index % 2).at(at).rotated(turn));
            plain.push(Body::new(index % 2).at(at.map(|x| x as f32)).rotated(turn));
        }
        let margin = 5.0;
        let found = level.body_contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin }).unwrap();
        let found = found.wait().unwrap();
        let of_level: Vec<&Contact> =
            found.rows.iter().map(|row| &row.row).filter(|row| row.b == 60).collect();
        let on_ground = ground.contacts(&plain, Pairs::BroadPhase, &ContactOptions { margin }).unwrap();
        let on_ground = on_ground.wait().unwrap();
        let on_ground: Vec<&Contact> = on_ground.rows.iter().filter(|row| row.b == 60).collect();
        assert_eq!((of_level.len(), on_ground.len()), (60, 60), "{name}");
        assert!(on_ground.iter().filter(|row| row.separation < -0.01).count() > 5);
        for (row, other) in of_level.iter().zip(on_ground) {
            assert!((row.separation - other.separation).abs() < 1e-4, "{name}: {row:?} {other:?}");
            if other.separation.abs() > 1e-3 {
                assert!((row.normal[1] - other.normal[1]).abs() < 1e-3, "{name}: {row:?} {other:?}");
            }
        }
    }
}

#[test]
fn seams_borders_and_holes() {
    let mut heights = vec![1.0; 9 * 9];
    // The height in the middle of a second field is a hole of six triangles.
    let whole = HeightField::new(9, heights.clone(), [1.0, 1.0]).unwrap();
    heights[4 * 9 + 4] = f32::NAN;
    let holed = HeightField::new(9, heights, [1.0, 1.0]).unwrap();
    for (name, engine) in engines() {
        let [level, with_hole] = [&whole, &holed].map(|field| over(&engine, field.clone()));
        let hits = |level: &Compounds, at: [f64; 3]| {
            level.hits(&[CompoundBody::new(0).at(at)]).unwrap().wait().unwrap().rows[0]
        };
        // On corners, edges and diagonals, and at the border.
        for (x, z) in [(3.0, 3.0), (3.5, 3.0), (3.5, 3.5), (3.25, 3.75), (0.0, 0.0), (8.0, 5.0), (8.4, 8.0)] {
            assert!(hits(&level, [x, 1.3, z]), "{name} {x} {z}");
            assert!(!hits(&level, [x, 1.6, z]) && !hits(&level, [x, 0.4, z]), "{name} {x} {z}");
            assert!(!hits(&level, [x, 1e9, z]) && !hits(&level, [x, -1e17, z]));
        }
        for (x, z) in [(8.6, 4.0), (-0.6, 4.0), (4.0, 8.6), (4.0, -0.6), (8.4, 8.4), (1e12, 4.0)] {
            assert!(!hits(&level, [x, 1.0, z]), "{name} {x} {z}");
        }
        assert!(hits(&level, [4.0, 1.0, 4.0]) && !hits(&with_hole, [4.0, 1.0, 4.0]), "{name}");
        assert!(hits(&with_hole, [4.0, 1.0, 4.6]) && hits(&with_hole, [4.5, 1.0, 4.9]), "{name}");
        let ball = [CompoundBody::new(0).at([4.0, 1.4, 4.0])];
        let manifolds = level.manifolds(&ball, Pairs::BroadPhase, &ManifoldOptions::default()).unwrap();
        let manifolds = manifolds.wait().unwrap().rows;
        assert_eq!(manifolds.len(), 6, "{name}");
        assert!(manifolds.iter().all(|row| row.row.status == Status::Penetrating));

        // Rays down meet every seam once the height is reached, and the hole nowhere.
        let mut rays = Vec::new();
        for x in 0..=32 {
            for z in 0..=32 {
                rays.push(Ray::new([0.25 * x as f32, 5.0, 0.25 * z as f32], [0.0, -3.0, 0.0]));
            }
        }
        let ask = |level: &Compounds| {
            level.raycasts(&[], &rays, &RayOptions::default()).unwrap().wait().unwrap().rows
        };
        for (ray, row) in rays.iter().zip(ask(&level)) {
            let hit = row.row.hit.unwrap_or_else(|| panic!("{name}: {ray:?} hits nothing"));
            assert!((hit.distance - 4.0).abs() < 1e-12, "{name}: {ray:?} {hit:?}");
            assert!(hit.normal.is_some_and(|normal| normal[1] > 0.999_999), "{name}: {ray:?} {hit:?}");
        }
        let missed = ask(&with_hole).iter().filter(|row| row.row.hit.is_none()).count();
        // What is strictly inside a hexagon of six right triangles of legs of four steps.
        assert_eq!(missed, 3 * 16 / 2 * 2 - 11, "{name}");
        // From below the other side is hit; along the surface its border is.
        let others = [
            Ray::new([2.3, -1.0, 2.2], [0.0, 1.0, 0.0]),
            Ray::new([-2.0, 1.0, 2.2], [1.0, 0.0, 0.0]),
            Ray::new([-2.0, 1.1, 2.2], [1.0, 0.0, 0.0]),
            Ray::new([2.0, 5.0, 2.0], [0.0, -1.0, 0.0]).up_to(3.9),
            Ray::new([2.0, 5.0, 2.0], [0.0, 1.0, 0.0]),
        ];
        let found = level.raycasts(&[], &others, &RayOptions::default()).unwrap().wait().unwrap().rows;
        let distances: Vec<_> = found.iter().map(|row| row.row.hit.map(|hit| hit.distance)).collect();
        assert!(matches!(distances[..], [Some(_), Some(_), None, None, None]), "{name}: {distances:?}");
        assert!((distances[0].unwrap() - 2.0).abs() < 1e-12 && (distances[1].unwrap() - 2.0).abs() < 1e-4);
        assert!(found[0].row.hit.unwrap().normal.unwrap()[1] < -0.999);
    }
}

#[test]
fn only_the_cells_under_a_body_are_looked_at() {
    let side = 401;
    let heights: Vec<f32> = (0..side * side).map(|at| ((at * 7919) % 97) as f32 * 0.002).collect();
    let field = HeightField::new(side, heights, [1.0, 1.0]).unwrap();
    let level = over(&Engine::cpu(), field);
    let bodies: Vec<_> = (0..100)
        .map(|at| {
            CompoundBody::new(at % 2).at([3.3 + 4.0 * f64::from(at % 97), 0.45, 3.7 + 3.9 * f64::from(at)])
        })
        .collect();
    let found = level.contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 }).unwrap();
    let found = found.wait().unwrap();
    let hit: std::collections::BTreeSet<u32> = found.rows.iter().map(|row| row.row.a).collect();
    assert!(hit.len() > 90, "{}", hit.len());
    assert!(found.stats.candidate_count < 100 * 24, "{:?}", found.stats);
    let rays: Vec<Ray> = bodies
        .iter()
        .map(|body| Ray::new(body.position.map(|x| x as f32 + 4.0), [0.1, -1.0, 0.05]))
        .collect();
    let found = level.raycasts(&[], &rays, &RayOptions::default()).unwrap().wait().unwrap();
    assert!(found.stats.hit_count == 100 && found.stats.candidate_count < 300, "{:?}", found.stats);
    // The least distance of bodies far above.
    let high =
        [CompoundBody::new(0).at([200.25, 50.0, 100.25]), CompoundBody::new(1).at([-30.0, 9.0, 100.0])];
    let found = level.body_distances(&high, Pairs::BroadPhase, &DistanceOptions::default()).unwrap();
    let found = found.wait().unwrap();
    assert_eq!(found.rows.len(), 2 + 1, "{:?}", found.rows);
    let gap = found.rows.iter().find(|row| row.row.b == 2).unwrap().row.separation;
    assert!((49.3..49.5).contains(&gap), "{gap}");
    assert!(found.stats.candidate_count < 2_000, "{:?}", found.stats);
}

#[test]
fn fields_meet_one_another_and_obey_worlds_and_exclusions() {
    for (name, engine) in engines() {
        let waves: Vec<f32> = (0..81).map(|at| 0.3 * ((at % 9 + at / 9) % 2) as f32).collect();
        let waves = HeightField::new(9, waves, [1.0, 1.0]).unwrap();
        let (parts, of_waves) = triangles(&waves);
        let count = of_waves.len() as u32;
        let mut all = vec![Hull::ball(0.5).unwrap()];
        all.extend(of_waves);
        let arena = Arena::new(&engine, &all, Options::default()).unwrap();
        let shapes = [Compound::of_hulls([0]), Compound::of_hulls(1..count + 1)];
        let compounds = Compounds::new(&arena, &shapes).unwrap().with_height_fields(&[waves]);
        let turned = |compound: u32| CompoundBody::new(compound).at([0.4, 0.2, 0.3]);
        let fields = [CompoundBody::new(2), turned(2)];
        let found = compounds.intersections(&fields, Pairs::BroadPhase).unwrap().wait().unwrap();
        let as_compounds = [CompoundBody::new(1), turned(1)];
        let expected = compounds.intersections(&as_compounds, Pairs::BroadPhase).unwrap().wait().unwrap();
        let expected: Vec<Told> = told(&expected)
            .into_iter()
            .map(|row| (row.0, row.1.map(|part| parts[part as usize]), row.2, row.3))
            .collect();
        assert_same(&told(&found), &expected, 0.0, &format!("{name} two fields"));
        assert!(found.rows.len() > 100);
        // A field on the left, and given pairs.
        let bodies = [fields[0], CompoundBody::new(0).at([3.2, 0.4, 3.4])];
        let left = told(&compounds.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap());
        let right = compounds.intersections(&bodies, Pairs::Given(&[[1, 0]])).unwrap().wait().unwrap();
        let right: Vec<Told> =
            told(&right).into_iter().map(|row| ([0, 1], [row.1[1], row.1[0]], row.2, row.3)).collect();
        assert_same(&left, &right, 0.0, &format!("{name} turned"));
        assert!(!left.is_empty());

        let apart = CompoundColumns { worlds: &[0, 1], ..CompoundColumns::new(&bodies) };
        let exclusions = Exclusions::new(&[[1, 0]]).unwrap();
        let excluded = CompoundColumns { exclusions: Some(&exclusions), ..CompoundColumns::new(&bodies) };
        for columns in [apart, excluded] {
            let found = compounds.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert!(found.rows.is_empty(), "{name}");
        }
        assert_eq!(compounds.hits(&bodies).unwrap().wait().unwrap().rows, [true, true]);
        let rays = [Ray::new([3.2, 5.0, 3.4], [0.0, -1.0, 0.0]).grouped(1, 1)];
        let options = RayOptions::default();
        let of_world = RayColumns { worlds: &[1], ..RayColumns::new(&rays) };
        let found = compounds.raycasts(apart, of_world, &options).unwrap().wait().unwrap();
        assert_eq!(found.rows[0].row.hit.map(|hit| hit.body), Some(1));
        let away = fields[0].grouped(2, 2);
        assert!(
            compounds.raycasts(&[away], &rays, &options).unwrap().wait().unwrap().rows[0].row.hit.is_none()
        );
    }
}

#[test]
fn a_field_that_moves_meets_statics_of_the_arena() {
    for (name, engine) in engines() {
        let mut heights: Vec<f32> = (0..36).map(|at| 0.1 * (at % 5) as f32).collect();
        // The first triangles are missing.
        heights[0] = f32::NAN;
        heights[1] = f32::NAN;
        let field = HeightField::new(6, heights, [1.0, 1.0]).unwrap();
        let (parts, of_field) = triangles(&field);
        let hulls = [Hull::cuboid([1.0; 3]).unwrap(), Hull::half_space()];
        let statics = vec![Body::new(0).at([2.5, 1.6, 2.5]), Body::new(1).at([0.0, -2.0, 0.0])];
        let count = of_field.len() as u32;
        let all: Vec<Hull> = hulls.iter().cloned().chain(of_field).collect();
        let arena = Arena::new(&engine, &all, Options { statics, ..Options::default() }).unwrap();
        let same = Compound::of_hulls(2..count + 2);
        let compounds = Compounds::new(&arena, &[same]).unwrap().with_height_fields(&[field]);
        for (height, margin) in [(0.3, 0.0), (0.3, 0.47), (-1.9, 0.43), (-5.0, f32::INFINITY), (-2.1, 0.0)] {
            let what = format!("{name} {height} {margin}");
            let [as_field, as_parts] =
                [1, 0].map(|compound| [CompoundBody::new(compound).at([0.0, height, 0.0])]);
            let options = ContactOptions { margin };
            let ask = |bodies: &[CompoundBody]| {
                told(&compounds.contacts(bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap())
            };
            let expected: Vec<Told> = ask(&as_parts)
                .into_iter()
                .map(|row| (row.0, [parts[row.1[0] as usize], 0], row.2, row.3))
                .collect();
            assert_same(&ask(&as_field), &expected, 1e-4, &what);
            assert!(!expected.is_empty(), "{what}");
            let ask = |bodies: &[CompoundBody]| {
                let found = compounds.body_contacts(bodies, Pairs::BroadPhase, &options).unwrap();
                let found = told(&found.wait().unwrap());
                found.into_iter().map(|row| (row.0, [0; 2], row.2, row.3)).collect::<Vec<Told>>()
            };
            assert_same(&ask(&as_field), &ask(&as_parts), 1e-4, &what);
            let ask = |bodies: &[CompoundBody]| compounds.hits(bodies).unwrap().wait().unwrap().rows;
            assert_eq!(ask(&as_field), ask(&as_parts), "{what}");
        }
    }
}

#[test]
fn too_many_rows_are_not_begun() {
    let side = 1_501_u32;
    let field = HeightField::new(side, vec![0.0; (side * side) as usize], [1.0, 1.0]).unwrap();
    let ball = Hull::ball(1.0).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[ball], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])]).unwrap().with_height_fields(&[field]);
    let bodies = vec![CompoundBody::new(1); 2_000];
    let error = compounds.distances(&bodies, Pairs::BroadPhase, &DistanceOptions::default()).map(drop);
    assert!(matches!(error, Err(Error::MemoryLimit { .. })), "{error:?}");
}

#[test]
fn bad_fields_are_one_clear_error() {
    let text = |columns: u32, heights: Vec<f32>, spacing: [f32; 2]| {
        HeightField::new(columns, heights, spacing).unwrap_err().to_string()
    };
    let good = vec![0.0; 6];
    let unit = [1.0, 1.0];
    assert!(text(1, good.clone(), unit).contains("at least two"));
    assert!(text(0, Vec::new(), unit).contains("at least two"));
    assert!(text(4, good.clone(), unit).contains("two or more full rows of 4"));
    assert!(text(6, good.clone(), unit).contains("two or more full rows of 6"));
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-19] {
        let error = text(3, good.clone(), [1.0, spacing]);
        assert!(error.contains("spacing") && error.contains("from 1e-18 to 1e18"), "{error}");
    }
    assert!(text(3, good.clone(), [9e17, 1.0]).contains("at most 1e18 long"));
    let mut bad = good.clone();
    bad[4] = f32::INFINITY;
    assert_eq!(
        text(3, bad.clone(), unit),
        "the height in row 1, column 1 is inf, it must be at most 1e18 in magnitude, or NaN for a hole"
    );
    bad[4] = -2e18;
    assert!(text(3, bad, unit).contains("row 1, column 1"));
    assert!(text(2, vec![0.0, f32::NAN, f32::NAN, 0.0], unit).contains("no triangle"));
    let field = HeightField::new(3, good, unit).unwrap();
    assert!(field.clone().at([0.0, f32::NAN, 0.0]).unwrap_err().to_string().contains("origin"));
    assert_eq!((field.triangle(4), field.part_count(), field.rows(), field.columns()), (None, 4, 2, 3));

    let level = over(&Engine::cpu(), field);
    let bodies = [CompoundBody::new(2)];
    let error = level.parts(&bodies[0]).map(drop).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Body(0), .. }), "{error}");
    let error = level.intersections(&[CompoundBody::new(3)], Pairs::BroadPhase).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "body 0: compound 3 does not exist, there are 3");
    let error = level.intersections(&[bodies[0].scaled(1e18)], Pairs::BroadPhase).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("body 0: scale is"), "{error}");
}

/// 1e7 units from the origin f64 moves a triangle by 1e-5 of a cell of 1e-4. The search for the first hit did not know that, and ended with a
/// neighbour of it.
#[test]
fn small_cells_far_out_are_hit_in_their_order() {
    let mut random = Random::new(912);
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let mut seen = 0;
    for flat in [false, true] {
        let height =
            |random: &mut Random| if flat { 0.5 * random.below(3) as f32 } else { random.unit() as f32 };
        let heights: Vec<f32> = (0..900).map(|_| height(&mut random)).collect();
        let field = HeightField::new(30, heights, [0.3, 0.7]).unwrap();
        let fields = Compounds::new(&arena, &[]).unwrap().with_height_fields(&[field]);
        let (place, scale) = (DVec3::new(1e7, -1e7, 5e6), 1e-4_f32);
        let body = [CompoundBody::new(0).at(place.to_array()).scaled(scale)];
        let (mut rays, mut origins) = (Vec::new(), Vec::new());
        for _ in 0..extent(4_000, 40_000) {
            // From one node or middle of a cell to another, along the surface.
            let mut node =
                || DVec3::new(0.15 * random.below(58) as f64, 0.25, 0.35 * random.below(58) as f64);
            let (from, to) = (node(), node());
            if from != to {
                origins.push((place + f64::from(scale) * (from - 3.0 * (to - from))).to_array());
                rays.push(Ray::new([0.0; 3], (to - from).as_vec3().to_array()));
            }
        }
        let asked = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
        let options = RayOptions::default();
        let first = fields.raycasts(&body, asked, &options).unwrap().wait().unwrap().rows;
        let all = fields.raycasts_all(&body, asked, &options).unwrap().wait().unwrap().rows;
        let mut nearest = vec![None; rays.len()];
        all.iter().rev().for_each(|row| nearest[row.row.ray as usize] = Some((row.part, row.row)));
        for (row, nearest) in first.iter().zip(nearest) {
            assert_eq!(row.row.hit.map(|hit| (row.part, hit)), nearest);
        }
        seen += all.len() - first.len();
    }
    assert!(seen > 1_000, "{seen}");
}
