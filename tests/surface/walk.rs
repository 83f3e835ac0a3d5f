//! Rays, moves along walls, the nearest wall, random points, and agents of several kinds.

use std::ops::ControlFlow;

use hullfield::Error;
use hullfield::navigate::Reach;
use hullfield::navigate::room::{Options as RoomOptions, Room};
use hullfield::navigate::surface::{
    Method as SurfaceMethod, Model, Options as SurfaceOptions, PathOptions, Surface,
};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::models::check::{Point, dot, length, minus};
use crate::models::{cube, moebius, obj, terrain, with_max_snap};

/// The corners of a triangle.
fn corners(surface: &Surface, triangle: u32) -> [Point; 3] {
    let vertices: Vec<Point> = surface.vertices().collect();
    surface.triangles()[triangle as usize].map(|v| vertices[v as usize])
}

/// The distance of a point from a triangle with an area: out of its plane, or beyond its sides.
fn off([a, b, c]: [Point; 3], point: Point) -> f64 {
    let (u, v, w) = (minus(b, a), minus(c, a), minus(point, a));
    let (uu, uv, vv, wu, wv) = (dot(u, u), dot(u, v), dot(v, v), dot(w, u), dot(w, v));
    let area = uu * vv - uv * uv;
    let (s, t) = ((vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area);
    let inside: Point = std::array::from_fn(|i| w[i] - s * u[i] - t * v[i]);
    let beyond = (-s).max(-t).max(s + t - 1.0).max(0.0);
    length(inside) + beyond * uu.max(vv).sqrt()
}

/// A plane of `n` × `n` squares of edge 1, of which those that `is_wall` accepts are not walkable.
fn plane(n: u32, is_wall: impl Fn(u32, u32) -> bool) -> Surface {
    let points: Vec<Point> =
        (0..(n + 1) * (n + 1)).map(|i| [f64::from(i % (n + 1)), f64::from(i / (n + 1)), 0.0]).collect();
    let faces: Vec<[u32; 4]> =
        (0..n * n).map(|i| i / n * (n + 1) + i % n).map(|a| [a, a + 1, a + n + 2, a + n + 1]).collect();
    let mut surface = Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap();
    for triangle in 0..2 * n * n {
        let square = triangle / 2;
        surface.set_walkable(triangle, !is_wall(square % n, square / n)).unwrap();
    }
    surface
}

/// The same in two dimensions: a square with a hole.
fn room() -> Room {
    let square = |a: f64, b: f64| [[a, a], [b, a], [b, b], [a, b]];
    Room::new(&square(0.0, 10.0), &[square(3.0, 7.0)], RoomOptions::default()).unwrap()
}

fn with_hole() -> Surface {
    plane(10, |x, y| (3..7).contains(&x) && (3..7).contains(&y))
}

#[test]
fn rays_in_a_plane_are_those_of_a_room() {
    let (surface, room) = (with_hole(), room());
    let mut random = Random::xorshift(7);
    let (mut walls, mut free) = (0, 0);
    for _ in 0..3000 {
        let start = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
        let [x, y, _] = random.direction().to_array();
        let reach = 6.0 * random.unit();
        let size = x.hypot(y);
        if size < 1e-3 {
            continue;
        }
        let goal = [start[0] + x / size * reach, start[1] + y / size * reach];
        let hit = surface.raycast(start, [x, y, 0.3], reach).unwrap().unwrap();
        let expected = room.raycast([start[0], start[1]], [x, y], reach).unwrap().unwrap();
        let gap = (hit.point[0] - expected.point[0]).hypot(hit.point[1] - expected.point[1]);
        assert!(gap < 1e-9, "{start:?} {goal:?}: {hit:?} {expected:?}");
        assert_eq!(hit.wall.is_some(), expected.wall.is_some());
        assert!(off(corners(&surface, hit.triangle), hit.point) < 1e-12 && surface.is_walkable(hit.triangle));
        assert!((length(minus(hit.point, start)) - hit.distance).abs() < 1e-12);
        *(if hit.wall.is_some() { &mut walls } else { &mut free }) += 1;
    }
    assert!(walls > 300 && free > 300, "{walls} {free}");
}

/// From vertex to vertex, along edges, along walls and past their ends: only walls stop a ray.
#[test]
fn rays_through_vertices_and_along_walls() {
    let surface = with_hole();
    let cast = |start: [f64; 2], way: [f64; 2], reach: f64| {
        let hit = surface.raycast([start[0], start[1], 0.0], [way[0], way[1], 0.0], reach).unwrap().unwrap();
        ([hit.point[0], hit.point[1]], hit.wall.is_some())
    };
    let root = 2.0f64.sqrt();
    for (start, way, reach, end, is_wall) in [
        ([0.0, 1.0], [1.0, 0.0], 5.0, [5.0, 1.0], false),
        ([1.0, 1.0], [-1.0, 0.0], 0.5, [0.5, 1.0], false),
        ([0.0, 0.0], [1.0, 1.0], 2.0 * root, [2.0, 2.0], false),
        ([0.0, 0.0], [1.0, 1.0], 9.0, [3.0, 3.0], true),
        ([2.0, 0.0], [-1.0, 1.0], 9.0, [0.0, 2.0], true),
        ([0.0, 0.0], [1.0, 0.0], 20.0, [10.0, 0.0], true),
        ([0.0, 5.0], [0.0, 1.0], 20.0, [0.0, 10.0], true),
        ([0.0, 3.0], [1.0, 0.0], 20.0, [10.0, 3.0], true), // along the hole and on
        ([7.0, 9.5], [0.0, -1.0], 9.5, [7.0, 0.0], false), // the same on another side of it
        ([3.0, 3.0], [0.0, 1.0], 2.5, [3.0, 5.5], false),
        ([3.0, 5.0], [1.0, 0.0], 2.5, [3.0, 5.0], true), // into the hole from its rim
        ([1.0, 5.0], [1.0, 0.0], 9.0, [3.0, 5.0], true),
        ([2.0, 4.0], [1.0, -1.0], 20.0, [6.0, 0.0], true), // touching the hole's corner
        ([4.0, 2.0], [-1.0, 1.0], 20.0, [0.0, 6.0], true),
        ([0.0, 0.0], [-1.0, -1.0], 1.0, [0.0, 0.0], true),
        ([5.0, 1.5], [1.0, 0.0], 0.0, [5.0, 1.5], false),
    ] {
        let (point, wall) = cast(start, way, reach);
        let gap = (point[0] - end[0]).hypot(point[1] - end[1]);
        assert!(gap < 1e-12 && wall == is_wall, "{start:?} {way:?} {reach}: {point:?} {wall}");
    }
}

/// A ray from a shared corner starts in the triangle that it runs along, even where its projection onto the other triangle is longer.
#[test]
fn a_ray_along_a_wall_starts_in_the_triangle_of_the_wall() {
    // A floor, and an upright triangle on one of its sides.
    let points = vec![[0.0; 3], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 1.0]];
    for (first, is_turned) in (0..3).flat_map(|first| [(first, false), (first, true)]) {
        let mut floor = [0, 1, 2];
        floor.rotate_left(first);
        if is_turned {
            floor.reverse();
        }
        let model = Model::triangles(points.clone(), &[floor, [1, 0, 3]]);
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let cast = |reach: f64| surface.raycast([0.0; 3], [1.0, 0.0, 2.0], reach).unwrap().unwrap();
        let within = cast(0.5);
        assert!(length(minus(within.point, [0.5, 0.0, 0.0])) < 1e-12, "{floor:?}: {within:?}");
        assert_eq!((within.triangle, within.wall), (0, None), "{floor:?}");
        let beyond = cast(5.0);
        assert!(length(minus(beyond.point, [1.0, 0.0, 0.0])) < 1e-12, "{floor:?}: {beyond:?}");
        assert!((beyond.distance - 1.0).abs() < 1e-12 && beyond.wall.is_some(), "{floor:?}: {beyond:?}");
    }
}

/// A ray back from the end of a ray returns to the start: over closed, open and one-sided surfaces.
#[test]
fn rays_back_return_to_the_start() {
    let mut models = vec![("cube", cube()), ("moebius", moebius(31)), ("terrain", terrain(14, 4))];
    for name in ["spot.obj", "suzanne.obj", "teapot.obj", "stanford-bunny.obj", "undulating.obj"] {
        models.extend(obj(name).map(|(_, model)| (name, model)));
    }
    for (name, model) in models {
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let [low, high] = surface.bounds();
        let size = length(minus(high, low));
        let far = low.iter().chain(&high).fold(0.0f64, |most, at| most.max(at.abs()));
        let points: Vec<Point> = surface.vertices().collect();
        let mut random = Random::xorshift(11);
        let (mut worst, mut back, mut walls) = (0.0f64, 0, 0);
        let mut drift = Vec::new();
        for _ in 0..400 {
            let from = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap();
            let [a, b, c] = surface.triangles()[from.triangle as usize].map(|v| points[v as usize]);
            let longest = length(minus(b, a)).max(length(minus(c, a))).max(length(minus(c, b)));
            let normal = surface.normal(from.triangle).unwrap();
            let reach = size * random.unit();
            let way = random.direction().to_array();
            if length(minus(b, a)) < 1e-3 * longest || dot(way, normal).abs() > 0.9 * length(way) {
                continue;
            }
            let hit = surface.raycast(from.position, way, reach).unwrap().unwrap();
            let own = [a, b, c];
            assert!(off(own, from.position) < 1e-9 * far);
            let end = surface.triangles()[hit.triangle as usize].map(|v| points[v as usize]);
            let there = surface.locate(hit.point).unwrap().unwrap();
            assert!(there.distance <= 1e-12 * far, "{name}: {} off", there.distance);
            assert!((length(hit.direction) - 1.0).abs() < 1e-9);
            let up = surface.normal(hit.triangle).unwrap();
            assert!(dot(up, hit.direction).abs() < 1e-6, "{name}: {hit:?} {end:?}");
            assert!(hit.wall.is_some() || (hit.distance - reach).abs() <= 1e-12 * reach);
            assert!(length(minus(hit.point, from.position)) <= hit.distance * (1.0 + 1e-9) + 1e-12 * far);
            walls += usize::from(hit.wall.is_some());
            let behind = [0, 1, 2].map(|i| -hit.direction[i]);
            let again = surface.raycast(hit.point, behind, hit.distance).unwrap().unwrap();
            let gap = length(minus(again.point, from.position)) / size;
            if gap < 1e-6 {
                back += 1;
                worst = worst.max(gap);
            } else {
                drift.push((gap, hit.distance));
            }
        }
        println!("{name}: {back} back within {worst:.1e}, not {}, {walls} at walls", drift.len());
        // A ray that passes a vertex within rounding may come back on its other side.
        assert!(back >= 300 && drift.len() <= 4, "{name}: {back}, {drift:?}");
    }
}

#[test]
fn a_ray_around_a_cube_and_over_three_on_an_edge() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let hit = surface.raycast([0.5, 0.4, 0.0], [1.0, 0.0, 0.0], 4.0).unwrap().unwrap();
    assert!(length(minus(hit.point, [0.5, 0.4, 0.0])) < 1e-12 && hit.wall.is_none());
    // A ray of slope 1/4 comes back after sixteen faces, shifted by one face.
    let hit = surface.raycast([0.5, 0.4, 0.0], [4.0, 1.0, 0.0], 0.5f64.hypot(0.125)).unwrap().unwrap();
    assert!(length(minus(hit.point, [1.0, 0.525, 0.0])) < 1e-12, "{hit:?}");
    let points = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [2.0, 0.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -0.2, 1.0]];
    let fan = Surface::new(
        &[Model::triangles(points, &[[0, 1, 2], [0, 1, 3], [1, 0, 4]])],
        SurfaceOptions::default(),
    )
    .unwrap();
    let hit = fan.raycast([1.0, 0.0, 1.0], [-1.0, 0.0, 0.0], 1.5).unwrap().unwrap();
    assert_eq!((hit.triangle, hit.wall), (2, None)); // the one that turns less
    // Not into blocked triangles.
    let mut fan = fan;
    fan.set_walkable(2, false).unwrap();
    assert_eq!(fan.raycast([1.0, 0.0, 1.0], [-1.0, 0.0, 0.0], 1.5).unwrap().unwrap().triangle, 1);
    fan.set_walkable(1, false).unwrap();
    let hit = fan.raycast([1.0, 0.0, 1.0], [-1.0, 0.0, 0.0], 1.5).unwrap().unwrap();
    assert_eq!((hit.point, hit.wall), ([0.0, 0.0, 1.0], fan.common_edge(0, 1)));
}

#[test]
fn moves_in_a_plane_are_those_of_a_room() {
    let (surface, room) = (with_hole(), room());
    let mut random = Random::xorshift(99);
    let mut slid = 0;
    for i in 0..5000 {
        let mut start =
            surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
        if i % 5 == 0 {
            // From a wall.
            start[0] = if i % 2 == 0 { 0.0 } else { start[0] };
            let wall = room.distance_to_wall([start[0], start[1]]).unwrap().unwrap().point;
            start = [wall[0], wall[1], 0.0];
        }
        if [start[0], start[1]].iter().all(|at| [3.0, 7.0].contains(at)) {
            continue; // At a corner with a wall ahead on either side, it may slide along either.
        }
        let [x, y, _] = random.direction().to_array();
        let by = [9.0 * x, 9.0 * y, 1.0];
        let end = surface.move_along(start, by).unwrap().unwrap();
        let goal = [start[0] + by[0], start[1] + by[1]];
        let expected = room.move_along([start[0], start[1]], [by[0], by[1]]).unwrap().unwrap().position;
        let gap = (end.position[0] - expected[0]).hypot(end.position[1] - expected[1]);
        assert!(gap < 1e-9, "{i}: {start:?} by {by:?}: {end:?} {expected:?}");
        assert!(off(corners(&surface, end.triangle), end.position) < 1e-12, "{i}");
        slid += usize::from((end.position[0] - goal[0]).hypot(end.position[1] - goal[1]) > 1e-9);
        assert!(surface.is_walkable(end.triangle));
    }
    assert!(slid > 1000, "{slid}");
}

/// Any move on any surface ends on it, no further away than the displacement is long.
#[test]
fn moves_stay_on_surfaces() {
    let mut models = vec![("moebius", moebius(31)), ("terrain", terrain(14, 4))];
    for name in ["nav_test.obj", "dungeon.obj", "wallhole.obj", "fan3.obj", "suzanne.obj"] {
        models.extend(obj(name).map(|(_, model)| (name, model)));
    }
    for (name, model) in models {
        let mut surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let [low, high] = surface.bounds();
        let size = length(minus(high, low));
        let mut random = Random::xorshift(5);
        for round in 0..2 {
            for _ in 0..500 {
                let from =
                    surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
                let by = random.direction().to_array().map(|part| part * 0.3 * size);
                let end = surface.move_along(from, by).unwrap().unwrap();
                assert!(surface.is_walkable(end.triangle), "{name}");
                let on = surface.locate(end.position).unwrap().unwrap();
                assert!(on.distance <= 1e-12 * size.max(1.0) * 10.0, "{name}: {} off", on.distance);
                assert!(length(minus(end.position, from)) <= length(by) * (1.0 + 1e-9), "{name}");
            }
            if round == 0 {
                surface.set_walkable_where(|triangle, _| triangle % 7 != 0);
            }
        }
    }
}

#[test]
fn the_nearest_wall_in_a_plane_is_that_of_a_room() {
    let (surface, room) = (with_hole(), room());
    let mut random = Random::xorshift(3);
    for _ in 0..2000 {
        let at = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
        let wall = surface.distance_to_wall(at).unwrap().unwrap();
        let expected = room.distance_to_wall([at[0], at[1]]).unwrap().unwrap();
        assert!((wall.distance - expected.distance).abs() < 1e-12, "{at:?}: {wall:?} {expected:?}");
        assert!((length(minus(wall.point, at)) - wall.distance).abs() < 1e-12);
        let sides = surface.triangles_at(wall.wall).filter(|&t| surface.is_walkable(t)).count();
        assert_eq!((sides, surface.is_walkable(wall.triangle)), (1, true));
    }
    // On walls and on vertices.
    for at in [[0.0, 0.0, 0.0], [3.0, 4.5, 0.0], [3.0, 3.0, 0.0], [10.0, 2.0, 0.0]] {
        assert_eq!(surface.distance_to_wall(at).unwrap().unwrap().distance, 0.0);
    }
    assert_eq!(surface.distance_to_wall([1.0, 2.0, 0.0]).unwrap().unwrap().distance, 1.0);
}

/// On bent surfaces: the exact path to the nearest wall has the reported length, and none to another place of a wall is shorter.
#[test]
fn the_nearest_wall_is_the_end_of_the_shortest_path() {
    let mut models = vec![("terrain", terrain(9, 4)), ("moebius", moebius(25))];
    for name in ["spot.obj", "suzanne.obj"] {
        models.extend(obj(name).map(|(_, model)| (name, model)));
    }
    let mut bent = 0;
    for (name, model) in models {
        let mut surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let count = surface.triangles().len() as u32;
        if surface.report().boundary_edge_count == 0 {
            for i in 0..3 {
                surface.set_walkable((i * 7919 + 5) % count, false).unwrap();
            }
        }
        let points: Vec<Point> = surface.vertices().collect();
        let mut rim: Vec<Point> = Vec::new();
        for (edge, ends) in surface.edges().iter().enumerate() {
            if surface.triangles_at(edge as u32).filter(|&t| surface.is_walkable(t)).count() == 1 {
                let [a, b] = ends.map(|v| points[v as usize]);
                for part in [0.0, 0.3, 0.6] {
                    rim.push(std::array::from_fn(|i| a[i] + (b[i] - a[i]) * part));
                }
            }
        }
        let step = rim.len().div_ceil(60);
        let mut random = Random::xorshift(17);
        for i in 0..25 {
            let at = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
            let Some(wall) = surface.distance_to_wall(at).unwrap() else {
                assert!(surface.report().island_count > 1, "{name}");
                continue;
            };
            let path = surface.path(at, wall.point, &SurfaceMethod::Exact.into()).unwrap();
            let gap = (path.length - wall.distance).abs();
            assert!(gap <= 1e-9 * wall.distance.max(1e-3), "{name} {i}: {} {wall:?}", path.length);
            bent += usize::from(wall.distance > length(minus(wall.point, at)) * (1.0 + 1e-6));
            for &other in rim.iter().skip(i % step).step_by(step) {
                let path = surface.path(at, other, &SurfaceMethod::Exact.into()).unwrap();
                assert!(path.length >= wall.distance * (1.0 - 1e-9), "{name} {i}: {other:?} {}", path.length);
            }
        }
    }
    assert!(bent > 10, "{bent}");
}

/// Few walls far away, on a lumpy body of 12,000 triangles: no place of a wall is nearer by the exact path, and the reported place has the
/// reported distance, whatever earlier queries were, on any clone.
#[test]
fn the_nearest_of_few_walls_far_away() {
    let mut model = cube();
    let options = SurfaceOptions { interval: Some(0.05), ..SurfaceOptions::default() };
    let even = Surface::build(&[model], options, |_| ControlFlow::Continue(())).unwrap();
    // Displaced vertices, so that paths bend and some vertices have more than a full turn.
    let pushed = |[x, y, z]: Point| {
        let by = 1.0 + 0.15 * (9.0 * x + 1.0).sin() * (8.0 * y).cos() + 0.1 * (7.0 * z + 4.0 * x).sin();
        [x - 0.5, y - 0.5, z - 0.5].map(|part| part * by)
    };
    model = Model::triangles(even.vertices().map(pushed).collect(), even.triangles());
    let whole = Surface::new(&[model], SurfaceOptions::default()).unwrap();
    assert_eq!((whole.report().boundary_edge_count, whole.triangles().len() > 10_000), (0, true));
    let count = whole.triangles().len() as u32;
    let points: Vec<Point> = whole.vertices().collect();
    let mut random = Random::xorshift(23);
    let mut far = 0;
    for blocked in [vec![17], vec![5, count / 2], vec![count / 3, count / 3 + 1, count - 9]] {
        let mut surface = whole.clone();
        for &triangle in &blocked {
            surface.set_walkable(triangle, false).unwrap();
        }
        let mut wall_places = Vec::new();
        for (edge, ends) in surface.edges().iter().enumerate() {
            if surface.triangles_at(edge as u32).filter(|&t| surface.is_walkable(t)).count() == 1 {
                let [a, b] = ends.map(|v| points[v as usize]);
                wall_places.extend((0..=4).map(|part| -> Point {
                    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * f64::from(part) / 4.0)
                }));
            }
        }
        for query in 0..6 {
            let at = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap().position;
            let wall = surface.distance_to_wall(at).unwrap().unwrap();
            let exact = |to: Point| surface.path(at, to, &SurfaceMethod::Exact.into()).unwrap().length;
            let there = exact(wall.point);
            assert!((there - wall.distance).abs() <= 1e-9 * there, "{blocked:?} {query}: {there} {wall:?}");
            let least = wall_places.iter().map(|&place| exact(place)).fold(f64::INFINITY, f64::min);
            assert!(wall.distance <= least * (1.0 + 1e-12), "{blocked:?} {query}: {least} {wall:?}");
            // Places a quarter of an edge apart.
            assert!(least <= wall.distance + 0.02, "{blocked:?} {query}: {least} {wall:?}");
            far += usize::from(wall.distance > 0.8);
            assert_eq!(surface.distance_to_wall(at).unwrap().unwrap(), wall);
            assert_eq!(whole.distance_to_wall(at).unwrap(), None);
        }
    }
    assert!(far > 5, "{far}");
}

#[test]
fn closed_surfaces_have_no_walls() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    assert_eq!(surface.distance_to_wall([0.5, 0.5, 0.0]).unwrap(), None);
    let mut open = surface.clone();
    open.set_walkable(2, false).unwrap();
    open.set_walkable(3, false).unwrap();
    // From the middle of the bottom straight up a side to the top's boundary.
    let wall = open.distance_to_wall([0.5, 0.4, 0.0]).unwrap().unwrap();
    assert!((wall.distance - 1.4).abs() < 1e-12 && length(minus(wall.point, [0.5, 0.0, 1.0])) < 1e-12);
    assert_eq!(with_max_snap(&open, 0.1).distance_to_wall([0.5, 0.5, 1.0]).unwrap(), None);
}

#[test]
fn random_points_are_uniform_by_area() {
    let mut surface = Surface::new(&[terrain(4, 8)], SurfaceOptions::default()).unwrap();
    surface.set_walkable_where(|triangle, _| triangle % 3 != 1);
    let mut random = Random::xorshift(1);
    let (count, mut found) = (60_000, vec![0u32; 32]);
    for _ in 0..count {
        let at = surface.random_point(std::array::from_fn(|_| random.unit())).unwrap().unwrap();
        assert!(off(corners(&surface, at.triangle), at.position) < 1e-12);
        found[at.triangle as usize] += 1;
    }
    let area = |t: u32| {
        let [a, b, c] = corners(&surface, t);
        let (u, v) = (minus(b, a), minus(c, a));
        0.5 * (dot(u, u) * dot(v, v) - dot(u, v).powi(2)).sqrt()
    };
    let whole: f64 = (0..32).filter(|&t| surface.is_walkable(t)).map(area).sum();
    for t in 0..32 {
        let expected = if surface.is_walkable(t) { area(t) / whole * f64::from(count) } else { 0.0 };
        // Six standard deviations.
        assert!((f64::from(found[t as usize]) - expected).abs() <= 6.0 * expected.sqrt(), "{t}");
    }
    // The ends of the range, and a change of walkable triangles.
    let last = surface.random_point([1.0 - f64::EPSILON / 2.0, 0.0, 0.0]).unwrap().unwrap();
    assert_eq!(last.triangle, 30);
    surface.set_walkable_where(|triangle, _| triangle == 4);
    assert_eq!(surface.random_point([0.0; 3]).unwrap().unwrap().triangle, 4);
    surface.set_walkable(4, false).unwrap();
    assert_eq!(surface.random_point([0.5; 3]).unwrap(), None);
}

/// Clones share the triangles but not which are walkable; queries run on both at once.
#[test]
fn agents_of_several_kinds() {
    let climbers = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let mut walkers = climbers.clone();
    walkers.set_walkable_slope([0.0, 0.0, 1.0], 90.0).unwrap();
    let ask = |surface: &Surface| {
        surface.path([0.0, 0.5, 0.1], [1.0, 0.5, 0.1], &PathOptions::default()).unwrap().length
    };
    let (over, around) = std::thread::scope(|scope| {
        let over = scope.spawn(|| ask(&climbers));
        (over.join().unwrap(), ask(&walkers))
    });
    assert!((over - 1.2).abs() < 1e-12 && around > 1.9, "{over} {around}");
    let queries = [[[0.0, 0.5, 0.1], [1.0, 0.5, 0.1]]];
    let found = walkers.paths(&queries, &SurfaceMethod::default().into()).unwrap().rows;
    assert_eq!(found[0].length, around);
    assert_eq!(climbers.vertices().len(), walkers.vertices().len());
}

#[test]
fn paths_to_the_nearest_reachable_point() {
    let surface = plane(10, |x, _| x == 6);
    let path = surface
        .path([1.5, 2.5, 0.0], [9.0, 2.5, 0.0], &PathOptions { to_nearest: true, ..PathOptions::default() })
        .unwrap();
    assert!(path.is_reached() && (path.length - 4.5).abs() < 1e-12, "{}", path.length);
    assert_eq!((path.points.last(), path.snaps), (Some(&[6.0, 2.5, 0.0]), [0.0, 3.0]));
    // Reachable goals are answered as before, and far ends are moved, whatever the surface's `max_snap`.
    let strict = with_max_snap(&surface, 0.5);
    for method in [SurfaceMethod::Funnel, SurfaceMethod::default(), SurfaceMethod::Exact] {
        let near = surface
            .path([1.5, 2.5, 0.0], [5.0, 8.5, 0.0], &PathOptions { method, to_nearest: true })
            .unwrap();
        assert_eq!(near, surface.path([1.5, 2.5, 0.0], [5.0, 8.5, 0.0], &method.into()).unwrap());
        let far = strict
            .path([1.5, 2.5, 4.0], [5.0, 8.5, -2.0], &PathOptions { method, to_nearest: true })
            .unwrap();
        assert_eq!((far.length, far.snaps), (near.length, [4.0, 2.0]));
    }
    // Two islands that touch in a point.
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    let touching =
        Surface::new(&[Model::triangles(points, &[[0, 3, 4], [0, 1, 2]])], SurfaceOptions::default())
            .unwrap();
    let path = touching
        .path(
            [0.25, 0.25, 0.0],
            [-0.25, -0.25, 0.0],
            &PathOptions { to_nearest: true, ..PathOptions::default() },
        )
        .unwrap();
    assert!(path.is_reached() && (path.length - 0.125f64.sqrt()).abs() < 1e-15);
    let mut shut = surface.clone();
    shut.set_walkable_where(|_, _| false);
    let path =
        shut.path([0.0; 3], [1.0; 3], &PathOptions { to_nearest: true, ..PathOptions::default() }).unwrap();
    assert!(matches!(path.reach, Reach::Off { nearest: None, .. }));
}

#[test]
fn bad_rays_and_moves_are_refused() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let on = [0.5, 0.5, 0.0];
    let bad = [f64::NAN, 0.0, 0.0];
    for error in [
        surface.raycast(bad, [1.0; 3], 1.0).unwrap_err(),
        surface.raycast(on, bad, 1.0).unwrap_err(),
        surface.raycast(on, [0.0; 3], 1.0).unwrap_err(),
        surface.raycast(on, [0.0, 0.0, 7.0], 1.0).unwrap_err(),
        surface.raycast(on, [1.0; 3], -1.0).unwrap_err(),
        surface.raycast(on, [1.0; 3], f64::INFINITY).unwrap_err(),
        surface.raycast(on, [1.0; 3], f64::NAN).unwrap_err(),
        surface.move_along(on, [f64::INFINITY, 0.0, 0.0]).unwrap_err(),
        surface.distance_to_wall(bad).unwrap_err(),
        surface.random_point([0.0, 1.0, 0.0]).unwrap_err(),
        surface.random_point([-0.1, 0.0, 0.0]).unwrap_err(),
        surface.random_point([0.0, 0.0, f64::NAN]).unwrap_err(),
        surface.path(on, bad, &PathOptions { to_nearest: true, ..PathOptions::default() }).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Value { .. }), "{error}");
    }
    // A ray over a closed surface crosses 2^24 triangles before it is refused: seconds.
    if extent(false, true) {
        let error = surface.raycast(on, [1.0, 0.1, 0.0], 1e100).unwrap_err();
        assert!(matches!(error, Error::Value { .. }), "{error}");
    }
    let error = surface.move_along(on, [1e100, 1.0, 0.0]).unwrap_err();
    assert!(matches!(error, Error::Value { .. }), "{error}");
    // A displacement along the normal is no move. Without walkable triangles there is no place.
    let still = surface.move_along(on, [0.0, 0.0, 3.0]).unwrap().unwrap();
    assert_eq!((still.position, still.tangent), (on, [0.0; 3]));
    let mut shut = surface.clone();
    shut.set_walkable_where(|_, _| false);
    assert_eq!(shut.raycast(on, [1.0; 3], 1.0).unwrap(), None);
    assert_eq!((shut.move_along(on, [1.0; 3]).unwrap(), shut.distance_to_wall(on).unwrap()), (None, None));
    // Far from everything.
    let near = with_max_snap(&surface, 1.0);
    assert_eq!(near.raycast([9.0; 3], [1.0; 3], 1.0).unwrap(), None);
}

/// A ray that turns around a vertex of nearly degenerate triangles without progress ends.
#[test]
fn a_ray_among_triangles_without_area_ends() {
    for height in [1e-13, 1e-11, 1e-8] {
        let place =
            |i: u32| [f64::from(i) - 3.0, height * f64::from(i * i % 5), height * f64::from(i * i % 3)];
        let points: Vec<Point> = (0..8).map(place).collect();
        let triangles: Vec<[u32; 3]> =
            (0..8).map(|i| [3, (i + 1) % 8, (i + 2) % 8]).filter(|t| t[1] != 3 && t[2] != 3).collect();
        let surface =
            Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
        assert!(surface.report().zero_area.is_empty());
        for start in [[0.0; 3], [0.5, 0.0, 0.0], [-2.0, 0.0, 0.0]] {
            for way in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 2.0, 3.0], [-1.0, 1e-9, 0.0]] {
                if let Ok(Some(hit)) = surface.raycast(start, way, 10.0) {
                    assert!(hit.point.iter().all(|part| part.is_finite()) && hit.distance <= 10.0);
                }
                surface.move_along(start, way).unwrap().unwrap();
                surface.distance_to_wall(start).unwrap();
            }
        }
    }
}
