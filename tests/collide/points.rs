//! Points against hulls and scenes: against the oracle, against single bodies, and of bad input.

use glam::DVec3;
use hullfield::collide::{self, Arena, Body, Containment, Hull, Options, PointHit, PointOptions, Pose};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::ray::outside;
use hullfield_oracle::{Shape, extent, seed};

use crate::answers::engines;
use crate::ray::{kinds, pose, ray_at};

/// What is wrong with a nearest point.
fn judge(
    shape: &Shape,
    placed: &hullfield_oracle::Pose,
    point: [f32; 3],
    row: &PointHit,
) -> Result<(), String> {
    let size = shape.radius(placed.scale) + shape.rounding() * placed.scale64().min_element();
    let point = DVec3::from(point.map(f64::from));
    let slack = 1e-9 * size + 1e-15 * (point.length() + placed.position64().length());
    let truth = outside(shape, placed, point.to_array());
    if (row.distance - truth).abs() > slack {
        return Err(format!("a distance of {}, not {truth}", row.distance));
    }
    let normal = DVec3::from(row.normal);
    let nearest = DVec3::from(row.nearest);
    if (normal.length() - 1.0).abs() > 1e-12 {
        return Err(format!("a normal of length {}", normal.length()));
    }
    // From far off, the nearest point changes the distance by less than the slack.
    let astray = (point - normal * row.distance - nearest).length();
    if astray > 1e-15 * point.length() + 2e-9 * size + 4e-15 * row.distance.abs() {
        return Err(format!("the nearest point is {astray:e} off the normal"));
    }
    // The nearest point is on the surface: also where the normal is that of a face.
    let on_surface = outside(shape, placed, row.nearest);
    if on_surface.abs() > 4.0 * slack + 2e-9 * size {
        return Err(format!("the nearest point is {on_surface:e} off the surface"));
    }
    Ok(())
}

#[test]
fn nearest_points_are_those_of_the_oracle() {
    let mut random = Random::new(seed(831));
    let kinds = kinds();
    let mut seen = [0; 2];
    for i in 0..extent(12_000, 50_000) {
        let (hull, shape) = &kinds[i % kinds.len()];
        let size = [1.0, 1e-5, 1e5, random.log_between(1e-5, 1e5)][i / kinds.len() % 4];
        let far = [0.0, size, 1e3 * size][random.below(3)];
        let (pose, placed) = pose(&mut random, size, far);
        let point = ray_at(&mut random, hull, &pose, size).origin;
        let row = collide::nearest_point(hull, pose, point).unwrap();
        if let Err(what) = judge(shape, &placed, point, &row) {
            panic!("{what}\n{row:?}\n{point:?}\n{pose:?}\n{:?}", hull.vertices());
        }
        seen[usize::from(row.distance < 0.0)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 1_000), "{seen:?}");
}

#[test]
fn the_check_finds_wrong_points() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    let shape = Shape::new(cube.vertices());
    let at = hullfield_oracle::Pose::default();
    let point = [0.0, 0.25, 3.0];
    let row = collide::nearest_point(&cube, Pose::IDENTITY, point).unwrap();
    let judged = |row: &PointHit| judge(&shape, &at, point, row);
    assert_eq!(judged(&row), Ok(()));
    let mut wrong = row;
    wrong.distance += 1e-8;
    assert!(judged(&wrong).is_err());
    wrong = row;
    wrong.nearest[0] += 1e-8;
    assert!(judged(&wrong).is_err());
    wrong = row;
    wrong.normal = [1.0, 0.0, 0.0];
    assert!(judged(&wrong).is_err());
}

#[test]
fn a_point_in_a_core_without_inside_has_a_normal() {
    for hull in [
        Hull::ball(2.0).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 2.0).unwrap(),
        Hull::cuboid([1.0, 0.0, 1.0]).unwrap().rounded(2.0).unwrap(),
        Hull::cuboid([1.0, 0.0, 1.0]).unwrap(),
        Hull::from_points(&[[0.0; 3]]).unwrap(),
    ] {
        let row = collide::nearest_point(&hull, Pose::IDENTITY, [0.0; 3]).unwrap();
        assert_eq!(row.distance, -f64::from(hull.rounding()));
        assert!((DVec3::from(row.normal).length() - 1.0).abs() < 1e-12);
        assert!((DVec3::from(row.nearest).length() - f64::from(hull.rounding())).abs() < 1e-12);
    }
    let ground = collide::nearest_point(&Hull::half_space(), Pose::IDENTITY, [3.0, -2.0, 1.0]).unwrap();
    assert_eq!((ground.distance, ground.nearest, ground.normal), (-2.0, [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]));
}

#[test]
fn a_scene_is_near_where_its_bodies_are() {
    let mut random = Random::new(seed(832));
    let mut hulls: Vec<Hull> = kinds().into_iter().map(|(hull, _)| hull).collect();
    hulls.push(Hull::half_space());
    let (mut tie_count, mut inside_count) = (0, 0);
    for (count, side, far) in [(1, 2.0, 0.0), (9, 4.0, 1.0), (300, 12.0, 100.0), (300, 12.0, 1e6)] {
        let offset = random.direction() * far;
        let place = |random: &mut Random| {
            (offset + DVec3::new(random.unit(), random.unit(), random.unit()) * side).as_vec3().to_array()
        };
        let mut all: Vec<Body> = (0..count + count / 3)
            .map(|i| {
                // Two half-spaces, if any: far down, so that not all points are inside.
                let hull = if i % 101 == 100 { hulls.len() - 1 } else { i % (hulls.len() - 1) };
                let scale = random.log_between(0.2, 1.5) as f32;
                Body::new(hull as u32).at(place(&mut random)).rotated(random.rotation()).scaled(scale)
            })
            .collect();
        for i in (5..all.len()).step_by(11) {
            all[i] = all[i - 3];
        }
        let (bodies, statics) = all.split_at(count);
        let points: Vec<[f32; 3]> = (0..extent(200, 1_500)).map(|_| place(&mut random)).collect();
        // Each body by itself.
        let mut truths: Vec<Vec<PointHit>> = vec![Vec::new(); points.len()];
        for (body, placed) in (0..).zip(&all) {
            let hull = &hulls[placed.hull as usize];
            let arena = Arena::new(&Engine::cpu(), std::slice::from_ref(hull), Options::default()).unwrap();
            let alone = Body { hull: 0, ..*placed };
            let found = arena.nearest_points(&[alone], &points, &PointOptions::default()).unwrap();
            for (at, row) in found.wait().unwrap().rows.iter().enumerate() {
                let mut row = row.hit.unwrap();
                if (at + body as usize).is_multiple_of(16) {
                    let mut free = collide::nearest_point(hull, placed.pose(), points[at]).unwrap();
                    free.point = at as u32;
                    assert_eq!(free, row, "point {at} at body {body} alone");
                }
                row.body = body;
                truths[at].push(row);
            }
        }
        for (name, engine) in engines() {
            let options = Options { statics: statics.to_vec(), ..Options::default() };
            let arena = Arena::new(&engine, &hulls, options).unwrap();
            let most = if count == 9 { 1.5 } else { f32::INFINITY };
            let options = PointOptions { max_distance: most };
            let nearest = arena.nearest_points(bodies, &points, &options).unwrap().wait().unwrap().rows;
            let inside = arena.containments(bodies, &points).unwrap().wait().unwrap().rows;
            let mut listed = inside.iter();
            assert_eq!(nearest.len(), points.len());
            for ((id, each), row) in (0..).zip(&truths).zip(&nearest) {
                let least = |a: &&PointHit, b: &&PointHit| {
                    a.distance.total_cmp(&b.distance).then(a.body.cmp(&b.body))
                };
                let first = each.iter().min_by(least).filter(|row| row.distance <= f64::from(most));
                assert_eq!((row.point, row.hit.as_ref()), (id, first), "{name}");
                tie_count +=
                    each.iter().filter(|row| Some(row.distance) == first.map(|first| first.distance)).count();
                for row in each {
                    let body = &all[row.body as usize];
                    let hull = &hulls[body.hull as usize];
                    let size = (hull.radius() + f64::from(hull.rounding())) * f64::from(body.scale[0]);
                    if row.distance <= 3e-6 * size {
                        let Some(&Containment { point, body, distance, .. }) = listed.next() else {
                            panic!("{name}: {row:?} is not listed")
                        };
                        assert_eq!((point, body, distance), (row.point, row.body, row.distance), "{name}");
                        inside_count += 1;
                    }
                }
            }
            assert_eq!(listed.next(), None);
        }
    }
    // Each engine adds its own.
    let engine_count = engines().len();
    assert!(
        tie_count > 500 * engine_count && inside_count > 250 * engine_count,
        "{tie_count} {inside_count} of {engine_count} engines"
    );
}

#[test]
fn bad_points_are_errors() {
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let body = [Body::new(0)];
    let options = PointOptions::default();
    for bad in [f32::NAN, f32::INFINITY, -1.1e18] {
        let points = [[0.0; 3], [0.0, bad, 0.0]];
        let is_right =
            |error: &Error| matches!(error, Error::Value { at: Location::Point(1), field: "point", .. });
        assert!(is_right(&arena.nearest_points(&body, &points, &options).map(drop).unwrap_err()));
        assert!(is_right(&arena.containments(&body, &points).map(drop).unwrap_err()));
        let alone = collide::nearest_point(&Hull::ball(1.0).unwrap(), Pose::IDENTITY, points[1]);
        assert!(matches!(alone, Err(Error::Value { at: Location::Argument, field: "point", .. })));
    }
    for max_distance in [-1.0, f32::NAN] {
        let found = arena.nearest_points(&body, &[[0.0; 3]], &PointOptions { max_distance });
        let error = found.map(drop).unwrap_err();
        assert!(
            matches!(error, Error::Value { at: Location::Argument, field: "max_distance", .. }),
            "{error}"
        );
    }
    assert_eq!(arena.nearest_points(&body, &[], &options).unwrap().wait().unwrap().rows, []);
    let none = arena.nearest_points(&[], &[[0.0; 3]], &options).unwrap().wait().unwrap();
    assert_eq!(none.rows[0].hit, None);
    let far = arena.nearest_points(&body, &[[5.0, 0.0, 0.0]], &PointOptions { max_distance: 3.9 });
    assert_eq!(far.unwrap().wait().unwrap().rows[0].hit, None);
}
