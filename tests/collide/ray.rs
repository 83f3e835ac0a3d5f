//! A ray against one hull: against the oracle for all kinds of hulls, sizes and courses, and of bad input.

use glam::{DQuat, DVec3};
use hullfield::collide::{self, Dimension, Hull, Pose, RayHit};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::ray::{Claim, Course, Ray, check};
use hullfield_oracle::scenes::{Kind, convex_set};
use hullfield_oracle::{Shape, extent, seed};

/// Hulls of every kind, rounded and not, with the oracle's shapes.
pub(crate) fn kinds() -> Vec<(Hull, Shape)> {
    let mut random = Random::new(seed(801));
    let mut cores: Vec<Hull> = vec![
        Hull::cuboid([1.0, 0.5, 0.25]).unwrap(),
        Hull::cuboid([1.0, 1.0, 1e-5]).unwrap(),
        Hull::cuboid([1e-3, 1.0, 1e-3]).unwrap(),
        Hull::triangle([[0.0; 3], [1.0, 0.0, 0.2], [0.3, 0.7, 0.0]]).unwrap(),
        Hull::cuboid([1.0, 0.0, 0.5]).unwrap(),
        Hull::from_points(&[[-1.0, 0.5, 0.0], [1.0, 0.0, 0.25]]).unwrap(),
        Hull::from_points(&[[0.25, -0.5, 1.0]]).unwrap(),
        Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.5, 16).unwrap(),
        Hull::from_points(
            &Hull::cuboid([0.5; 3])
                .unwrap()
                .vertices()
                .iter()
                .map(|v| [v[0] + 40.0, v[1] - 30.0, v[2]])
                .collect::<Vec<_>>(),
        )
        .unwrap(),
    ];
    for (kind, count) in [(Kind::Ball, 8), (Kind::Ball, 40), (Kind::Ball, 150)] {
        cores.push(Hull::from_points(&convex_set(&mut random, kind, count)).unwrap());
    }
    let mut kinds = Vec::new();
    for (at, core) in cores.into_iter().enumerate() {
        for rounding in [0.0, [0.1, 0.5, 1e-3][at % 3]] {
            let shape = Shape::new(core.vertices()).rounded(rounding);
            kinds.push((core.clone().rounded(rounding).unwrap(), shape));
        }
    }
    kinds
}

/// A pose of a size, with the oracle's.
pub(crate) fn pose(random: &mut Random, size: f64, far: f64) -> (Pose, hullfield_oracle::Pose) {
    let even = random.chance(0.5);
    let scale = [0; 3].map(|_| (size * if even { 1.0 } else { random.log_between(0.1, 10.0) }) as f32);
    let scale = if even { [scale[0]; 3] } else { scale };
    let position = (random.direction() * far * random.unit()).as_vec3().to_array();
    let rotation = if random.chance(0.2) { [0.0, 0.0, 0.0, 1.0] } else { random.rotation() };
    (Pose { position, rotation, scale }, hullfield_oracle::Pose { position, rotation, scale, radius: 0.0 })
}

/// Points of a hull that rays aim at, world frame: vertices, points of edges and faces, and its middle.
fn aim(random: &mut Random, hull: &Hull, pose: &Pose) -> DVec3 {
    let vertices = hull.vertices();
    let vertex = |at: u32| DVec3::from(vertices[at as usize].map(f64::from));
    let edges: Vec<[u32; 2]> = hull.edges().collect();
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    let local = match random.below(4) {
        0 => vertex(random.below(vertices.len()) as u32),
        1 if !edges.is_empty() => {
            let [a, b] = edges[random.below(edges.len())].map(vertex);
            a.lerp(b, random.unit())
        }
        2 if !triangles.is_empty() => {
            let [a, b, c] = triangles[random.below(triangles.len())].map(vertex);
            let (u, v) = (random.unit(), random.unit());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            a + (b - a) * u + (c - a) * v
        }
        _ => DVec3::from(hull.mean()),
    };
    let scale = DVec3::from(pose.scale.map(f64::from));
    let rotation = DQuat::from_array(pose.rotation.map(f64::from)).normalize();
    DVec3::from(pose.position.map(f64::from)) + rotation * (scale * local)
}

/// A ray at a hull: at a point of it, or past that by anything from 1e-9 of its size up.
pub(crate) fn ray_at(random: &mut Random, hull: &Hull, pose: &Pose, size: f64) -> Ray {
    let target = aim(random, hull, pose);
    let reach = size * (hull.radius() + f64::from(hull.rounding()));
    let past = match random.below(3) {
        0 => 0.0,
        1 => reach * random.log_between(1e-9, 1.0),
        _ => reach * random.log_between(1e-6, 1e-5),
    };
    let along = match random.below(6) {
        // Along a face, an edge or an axis of the hull.
        0 => aim(random, hull, pose) - aim(random, hull, pose),
        1 => {
            let rotation = DQuat::from_array(pose.rotation.map(f64::from));
            rotation * [DVec3::X, DVec3::Y, DVec3::NEG_Z][random.below(3)]
        }
        2 => [DVec3::X, DVec3::NEG_Y, DVec3::Z][random.below(3)],
        _ => random.direction(),
    };
    let along = along.try_normalize().unwrap_or(DVec3::X);
    let away = match random.below(6) {
        0 => 0.0,
        1 => reach * random.unit(),
        2 => reach * 1e6,
        _ => reach * random.log_between(1.0, 100.0),
    };
    let origin = target
        + random.direction() * (past + f64::from(hull.rounding()) * size * random.below(2) as f64)
        - along * away;
    let origin = origin.as_vec3();
    // Aimed anew, as the origin was rounded.
    let direction = if random.chance(0.7) && away > 0.0 { target - origin.as_dvec3() } else { along };
    let direction = direction.try_normalize().unwrap_or(DVec3::X) * random.log_between(1e-3, 1e3);
    let max_distance = if random.chance(0.3) { (away * 2.0 * random.unit()) as f32 } else { f32::INFINITY };
    Ray { origin: origin.to_array(), direction: direction.as_vec3().to_array(), max_distance }
}

fn claim(hit: Option<RayHit>) -> Option<Claim> {
    hit.map(|hit| Claim { distance: hit.distance, normal: hit.normal })
}

#[test]
fn hits_are_those_of_the_oracle() {
    let mut random = Random::new(seed(802));
    let kinds = kinds();
    let mut seen = [0; 4];
    for i in 0..extent(12_000, 24_000) {
        let (hull, shape) = &kinds[i % kinds.len()];
        let size = [1.0, 1e-5, 1e5, random.log_between(1e-5, 1e5)][i / kinds.len() % 4];
        let far = [0.0, size, 1e3 * size][random.below(3)];
        let (pose, placed) = pose(&mut random, size, far);
        let ray = ray_at(&mut random, hull, &pose, size);
        if ray.direction == [0.0; 3] {
            continue;
        }
        let hit = collide::raycast(hull, pose, ray.origin, ray.direction, ray.max_distance).unwrap();
        match check(shape, &placed, &ray, claim(hit)) {
            Ok(course) => seen[course as usize] += 1,
            Err(what) => {
                panic!("{what}\n{hit:?}\n{ray:?}\n{pose:?}\n{:?} {:?}", hull.dimension(), hull.vertices())
            }
        }
        if let Some(hit) = hit {
            check_row(hull, &pose, &ray, &hit);
        }
    }
    // Course::Miss, Enter, Graze, Start.
    assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
}

/// Point and face of a row.
fn check_row(hull: &Hull, pose: &Pose, ray: &Ray, hit: &RayHit) {
    assert_eq!((hit.ray, hit.body), (0, 0));
    let [origin, direction] = [ray.origin, ray.direction].map(|v| DVec3::from(v.map(f64::from)));
    let point = origin + direction * (hit.distance / direction.length());
    assert_eq!(hit.point, point.to_array());
    let Some(face) = hit.face else { return };
    let plane = hull.planes().nth(face as usize).expect("the face exists");
    let rotation = DQuat::from_array(pose.rotation.map(f64::from)).normalize();
    let scale = DVec3::from(pose.scale.map(f64::from));
    let normal = (rotation * (DVec3::from(plane.normal) / scale)).normalize();
    let along = normal.dot(DVec3::from(hit.normal.expect("a face has a normal")));
    assert!(along > 1.0 - 1e-9, "{hit:?} {along} {normal} {:?}", hull.vertices());
}

/// A wrong claim is found, of each kind.
#[test]
fn the_check_finds_wrong_hits() {
    let shape = Shape::new(Hull::cuboid([1.0; 3]).unwrap().vertices());
    let at = hullfield_oracle::Pose::default();
    let ray = Ray { origin: [-5.0, 0.25, 0.5], direction: [2.0, 0.0, 0.0], max_distance: 10.0 };
    let claim = |distance: f64, normal: [f64; 3]| Some(Claim { distance, normal: Some(normal) });
    let judge = |claim| check(&shape, &at, &ray, claim);
    assert_eq!(judge(claim(4.0, [-1.0, 0.0, 0.0])), Ok(Course::Enter));
    let wrong = [
        None,
        Some(Claim { distance: 0.0, normal: None }),
        claim(4.0 + 1e-8, [-1.0, 0.0, 0.0]),
        claim(4.0 - 1e-8, [-1.0, 0.0, 0.0]),
        claim(6.0, [1.0, 0.0, 0.0]),
        claim(6.0, [-1.0, 0.0, 0.0]),
        claim(4.0, [-1.0, 1e-2, 0.0]),
        claim(4.0, [0.0, 1.0, 0.0]),
    ];
    for claim in wrong {
        assert!(judge(claim).is_err(), "{claim:?}");
    }
    let past = Ray { origin: [-5.0, 1.1, 0.0], ..ray };
    assert_eq!(check(&shape, &at, &past, None), Ok(Course::Miss));
    assert!(check(&shape, &at, &past, claim(4.0, [-1.0, 0.0, 0.0])).is_err());
    let short = Ray { max_distance: 3.9, ..ray };
    assert_eq!(check(&shape, &at, &short, None), Ok(Course::Miss));
}

#[test]
fn well_known_hits_are_exact() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    let cast = |hull: &Hull, origin, direction, most| {
        let hit = collide::raycast(hull, Pose::IDENTITY, origin, direction, most).unwrap();
        hit.map(|hit| (hit.distance, hit.normal))
    };
    let all = f32::INFINITY;
    // In the plane of a face, along an edge, at a corner.
    assert_eq!(cast(&cube, [-3.0, 1.0, 0.0], [4.0, 0.0, 0.0], all), Some((2.0, Some([-1.0, 0.0, 0.0]))));
    assert_eq!(cast(&cube, [-3.0, 1.0, 1.0], [0.5, 0.0, 0.0], all).map(|hit| hit.0), Some(2.0));
    let corner = cast(&cube, [2.0, 2.0, 2.0], [-1.0, -1.0, -1.0], all).unwrap();
    assert!((corner.0 - 3.0_f64.sqrt()).abs() < 1e-15);
    // Inside, on the surface either way, and the end.
    for origin in [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.000_001, 0.0, 0.0]] {
        assert_eq!(cast(&cube, origin, [1.0, 0.0, 0.0], 0.0), Some((0.0, None)), "{origin:?}");
    }
    assert_eq!(cast(&cube, [1.000_01, 0.0, 0.0], [1.0, 0.0, 0.0], all), None);
    assert_eq!(cast(&cube, [3.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 2.0).map(|hit| hit.0), Some(2.0));
    assert_eq!(cast(&cube, [3.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 1.999), None);
    assert_eq!(cast(&cube, [3.0, 0.0, 0.0], [1.0, 0.0, 0.0], all), None);
    // Directions of any length.
    for length in [1e-38, 1e-45, 1e38, f32::MAX] {
        let (distance, _) = cast(&cube, [-3.0, 0.5, 0.5], [length, 0.0, 0.0], all).unwrap();
        assert!((distance - 2.0).abs() < 1e-15, "{length:e}: {distance}");
    }
    let square = Hull::cuboid([1.0, 0.0, 1.0]).unwrap();
    assert_eq!(square.dimension(), Dimension::Polygon);
    assert_eq!(cast(&square, [0.5, 4.0, 0.5], [0.0, -1.0, 0.0], all), Some((4.0, Some([0.0, 1.0, 0.0]))));
    assert_eq!(cast(&square, [0.5, -4.0, 0.5], [0.0, 1.0, 0.0], all), Some((4.0, Some([0.0, -1.0, 0.0]))));
    assert_eq!(cast(&square, [-3.0, 0.0, 0.0], [1.0, 0.0, 0.0], all), Some((2.0, Some([-1.0, 0.0, 0.0]))));
    let ball = Hull::ball(2.0).unwrap();
    assert_eq!(cast(&ball, [0.0, 5.0, 0.0], [0.0, -1.0, 0.0], all), Some((3.0, Some([0.0, 1.0, 0.0]))));
    assert_eq!(cast(&ball, [0.0, 5.0, 3.0], [0.0, -1.0, 0.0], all), None);
    let capsule = Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.5).unwrap();
    assert_eq!(cast(&capsule, [4.0, 0.5, 0.0], [-1.0, 0.0, 0.0], all), Some((3.5, Some([1.0, 0.0, 0.0]))));
    let (distance, normal) = cast(&capsule, [0.0, 4.0, 0.0], [0.0, -1.0, 0.0], all).unwrap();
    assert!((distance - 2.5).abs() < 1e-10 && normal.is_some());
    let ground = Hull::half_space();
    assert_eq!(cast(&ground, [1e6, 3.0, 0.0], [0.0, -2.0, 0.0], all), Some((3.0, Some([0.0, 1.0, 0.0]))));
    assert_eq!(cast(&ground, [0.0, 1e-7, 0.0], [1.0, 0.0, 0.0], all), None);
    assert_eq!(cast(&ground, [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], all), Some((0.0, None)));
    let point = Hull::from_points(&[[0.0; 3]]).unwrap();
    assert_eq!(cast(&point, [0.0, 2.0, 0.0], [0.0, -1.0, 0.0], all).map(|hit| hit.0), Some(2.0));
    assert_eq!(cast(&point, [1e-9, 2.0, 0.0], [0.0, -1.0, 0.0], all), None);
}

#[test]
fn half_spaces_are_hit_as_the_oracle_says() {
    let mut random = Random::new(seed(803));
    let (mut hit_count, count) = (0, extent(3_000, 40_000));
    for _ in 0..count {
        let size = random.log_between(1e-3, 1e3);
        let (pose, placed) = pose(&mut random, 1.0, size);
        let rounding = if random.chance(0.5) { random.unit() as f32 } else { 0.0 };
        let hull = Hull::half_space().rounded(rounding).unwrap();
        let pose = Pose { scale: [1.0; 3], ..pose };
        let placed = hullfield_oracle::Pose { scale: [1.0; 3], ..placed };
        let origin = (random.direction() * 3.0 * size * random.unit()).as_vec3().to_array();
        let direction = random.direction().as_vec3().to_array();
        let ray = Ray { origin, direction, max_distance: (10.0 * size * random.unit()) as f32 };
        let hit = collide::raycast(&hull, pose, origin, direction, ray.max_distance).unwrap();
        let shape = Shape::half_space().rounded(rounding);
        if let Err(what) = check(&shape, &placed, &ray, claim(hit)) {
            panic!("{what}\n{hit:?}\n{ray:?}\n{pose:?}");
        }
        hit_count += usize::from(hit.is_some());
    }
    assert!(hit_count > count / 4 && hit_count < count * 9 / 10, "{hit_count}");
}

#[test]
fn bad_rays_are_errors() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    let cast = |origin, direction, most| collide::raycast(&cube, Pose::IDENTITY, origin, direction, most);
    let x = [1.0, 0.0, 0.0];
    let bad = [
        (cast([f32::NAN, 0.0, 0.0], x, 1.0), "origin"),
        (cast([0.0, f32::INFINITY, 0.0], x, 1.0), "origin"),
        (cast([0.0, 0.0, 1.1e18], x, 1.0), "origin"),
        (cast([0.0; 3], [0.0; 3], 1.0), "direction"),
        (cast([0.0; 3], [-0.0, 0.0, 0.0], 1.0), "direction"),
        (cast([0.0; 3], [0.0, f32::NAN, 0.0], 1.0), "direction"),
        (cast([0.0; 3], [0.0, f32::NEG_INFINITY, 0.0], 1.0), "direction"),
        (cast([0.0; 3], x, -1.0), "max_distance"),
        (cast([0.0; 3], x, f32::NAN), "max_distance"),
    ];
    for (at, (found, name)) in bad.into_iter().enumerate() {
        let Err(Error::Value { at: Location::Argument, field, .. }) = found else {
            panic!("{at}: {found:?}")
        };
        assert_eq!(field, name);
    }
    let pose = Pose { scale: [0.0; 3], ..Pose::IDENTITY };
    let found = collide::raycast(&cube, pose, [0.0; 3], x, 1.0);
    assert!(matches!(found, Err(Error::Value { at: Location::Body(0), field: "scale", .. })), "{found:?}");
}
