//! Hulls of public point sets, of degenerate points, and against an exact brute-force oracle.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hullfield::collide::{Dimension, Hull};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use robust::{Coord, Coord3D, orient2d, orient3d};

type Point = [f32; 3];

// ---------------------------------------------------------------------------------------------- exact arithmetic

/// Positive if `d` is above the plane of `a`, `b`, `c` (counter-clockwise seen from above).
fn above(a: Point, b: Point, c: Point, d: Point) -> f64 {
    let coord = |p: Point| Coord3D { x: p[0], y: p[1], z: p[2] };
    -orient3d(coord(a), coord(b), coord(c), coord(d))
}

fn left(a: Point, b: Point, c: Point, [x, y]: [usize; 2]) -> f64 {
    let coord = |p: Point| Coord { x: p[x], y: p[y] };
    orient2d(coord(a), coord(b), coord(c))
}

fn collinear(a: Point, b: Point, c: Point) -> bool {
    [[0, 1], [1, 2], [2, 0]].iter().all(|&axes| left(a, b, c, axes) == 0.0)
}

/// Bits of a point, with -0 as +0.
fn key(p: Point) -> [u32; 3] {
    p.map(|x| (x + 0.0).to_bits())
}

fn distinct(points: &[Point]) -> Vec<Point> {
    let mut seen = HashSet::new();
    points.iter().map(|p| p.map(|x| x + 0.0)).filter(|&p| seen.insert(key(p))).collect()
}

// -------------------------------------------------------------------------------------------------------- oracle

/// Dimension, extreme points and facets (as sets of extreme points; a solid's only) by trying all planes.
fn brute_force(points: &[Point]) -> (Dimension, BTreeSet<usize>, BTreeSet<BTreeSet<usize>>) {
    let n = points.len();
    let none = BTreeSet::new();
    if n == 1 {
        return (Dimension::Point, [0].into(), none);
    }
    let triples =
        || (0..n).flat_map(move |i| (i + 1..n).flat_map(move |j| (j + 1..n).map(move |k| [i, j, k])));
    let Some([a, b, c]) = triples().find(|t| !collinear(points[t[0]], points[t[1]], points[t[2]])) else {
        let less = |i: &usize, j: &usize| points[*i].partial_cmp(&points[*j]).expect("no NaN");
        let ends = [(0..n).min_by(less).expect("two"), (0..n).max_by(less).expect("two")];
        return (Dimension::Segment, ends.into(), none);
    };
    let in_at_least = |count: usize, sets: &BTreeSet<BTreeSet<usize>>| -> BTreeSet<usize> {
        (0..n).filter(|i| sets.iter().filter(|set| set.contains(i)).count() >= count).collect()
    };
    if (0..n).all(|d| above(points[a], points[b], points[c], points[d]) == 0.0) {
        let axes = [[0, 1], [1, 2], [2, 0]];
        let axes = axes
            .into_iter()
            .find(|&axes| left(points[a], points[b], points[c], axes) != 0.0)
            .expect("a plane");
        let mut lines = BTreeSet::new();
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            let sides: Vec<f64> = (0..n).map(|k| left(points[i], points[j], points[k], axes)).collect();
            if sides.iter().all(|&side| side >= 0.0) {
                lines.insert((0..n).filter(|&k| sides[k] == 0.0).collect());
            }
        }
        return (Dimension::Polygon, in_at_least(2, &lines), none);
    }
    let mut planes = BTreeSet::new();
    for [i, j, k] in triples().filter(|t| !collinear(points[t[0]], points[t[1]], points[t[2]])) {
        let sides: Vec<f64> = (0..n).map(|d| above(points[i], points[j], points[k], points[d])).collect();
        if sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0) {
            planes.insert((0..n).filter(|&d| sides[d] == 0.0).collect());
        }
    }
    let extreme = in_at_least(3, &planes);
    let facets = planes.iter().map(|plane: &BTreeSet<usize>| plane & &extreme).collect();
    (Dimension::Solid, extreme, facets)
}

fn agrees_with_brute_force(points: &[Point]) {
    let hull = Hull::from_points(points).expect("a hull");
    let points = distinct(points);
    let (dimension, extreme, facets) = brute_force(&points);
    assert_eq!(hull.dimension(), dimension);
    let expected: Vec<Point> = extreme.iter().map(|&i| points[i]).collect();
    assert_eq!(hull.vertices(), expected, "in the order of the input");
    if dimension == Dimension::Solid {
        let number: Vec<usize> = extreme.into_iter().collect();
        let faces: Vec<BTreeSet<usize>> =
            hull.faces().map(|face| face.iter().map(|&v| number[v as usize]).collect()).collect();
        assert_eq!(faces.len(), facets.len());
        assert_eq!(faces.into_iter().collect::<BTreeSet<_>>(), facets);
    }
    check(&hull, &points);
}

// ------------------------------------------------------------------------------------------------------ checkers

/// Every edge is in exactly two faces, in opposite directions, and V − E + F = 2.
fn closed<'a>(vertex_count: usize, faces: impl Iterator<Item = &'a [u32]>) -> Result<(), String> {
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let mut face_count = 0;
    for face in faces {
        face_count += 1;
        for i in 0..face.len() {
            *edges.entry([face[i], face[(i + 1) % face.len()]]).or_default() += 1;
        }
    }
    for (&[a, b], &count) in &edges {
        if count != 1 || edges.get(&[b, a]) != Some(&1) {
            return Err(format!(
                "edge {a} {b} is there {count} times, its twin {:?} times",
                edges.get(&[b, a])
            ));
        }
    }
    if vertex_count + face_count != edges.len() / 2 + 2 {
        return Err(format!("V {vertex_count} − E {} + F {face_count} is not 2", edges.len() / 2));
    }
    Ok(())
}

/// No point lies above any triangle, exactly.
fn contains(
    vertices: &[Point],
    triangles: impl Iterator<Item = [u32; 3]>,
    points: &[Point],
) -> Result<(), String> {
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| vertices[v as usize]);
        if let Some(i) = points.iter().position(|&p| above(a, b, c, p) > 0.0) {
            return Err(format!("point {i} lies above triangle {triangle:?}"));
        }
    }
    Ok(())
}

/// Each face is a strictly convex polygon, and each edge strictly convex: with `closed`, a convex body.
fn locally_convex(hull: &Hull) -> Result<(), String> {
    let at = |v: u32| hull.vertices()[v as usize];
    let mut beside: BTreeMap<[u32; 2], &[u32]> = BTreeMap::new();
    for face in hull.faces() {
        for i in 0..face.len() {
            let [a, b, c] = [0, 1, 2].map(|j| face[(i + j) % face.len()]);
            beside.insert([a, b], face);
            if collinear(at(a), at(b), at(c)) {
                return Err(format!("vertex {b} of {face:?} is no corner"));
            }
            if face.iter().any(|&d| above(at(face[0]), at(face[1]), at(face[2]), at(d)) != 0.0) {
                return Err(format!("{face:?} is not flat"));
            }
        }
    }
    for (&[a, b], face) in &beside {
        let Some(other) = beside.get(&[b, a]) else { return Err(format!("edge {a} {b} has no twin")) };
        let beyond = other.iter().filter(|&&d| d != a && d != b);
        if beyond.into_iter().any(|&d| above(at(face[0]), at(face[1]), at(face[2]), at(d)) >= 0.0) {
            return Err(format!("edge {a} {b} is not convex"));
        }
    }
    Ok(())
}

fn length(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// Checks all documented properties of a hull, except the containment test, which takes quadratic time.
fn check_structure(hull: &Hull) {
    let vertices = hull.vertices();
    let edges: Vec<[u32; 2]> = hull.edges().collect();
    match hull.dimension() {
        Dimension::HalfSpace => panic!("no half-space is built from points"),
        Dimension::Point => assert_eq!((vertices.len(), edges.len(), hull.faces().len()), (1, 0, 0)),
        Dimension::Segment => assert_eq!((vertices.len(), edges.len(), hull.faces().len()), (2, 1, 0)),
        Dimension::Polygon => {
            assert_eq!((edges.len(), hull.faces().len()), (vertices.len(), 2));
            closed(vertices.len(), hull.faces()).expect("two sides of a polygon");
        }
        Dimension::Solid => {
            closed(vertices.len(), hull.faces()).expect("closed");
            locally_convex(hull).expect("convex");
            assert_eq!(edges.len() + 2, vertices.len() + hull.faces().len());
            assert!(hull.volume() > -1e-14 * hull.radius().powi(3));
        }
    }
    assert!(edges.is_sorted() && edges.iter().all(|[a, b]| a < b));
    let joined: BTreeSet<[u32; 2]> = edges.iter().copied().collect();
    assert_eq!(joined.len(), edges.len());
    let mut count = 0;
    for v in 0..vertices.len() as u32 {
        assert!(hull.neighbours(v).is_sorted());
        for &w in hull.neighbours(v) {
            assert!(joined.contains(&[v.min(w), v.max(w)]));
            count += 1;
        }
    }
    assert_eq!(count, 2 * edges.len());
    assert!(hull.neighbours(vertices.len() as u32).is_empty());
    // The plane of points of very different magnitudes has only a few correct digits.
    let sizes = || vertices.iter().flatten().map(|x| f64::from(x.abs())).filter(|&x| x > 0.0);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let flatness = if least > 1e-6 * most { 1e-12 * most } else { f64::INFINITY };
    for (face, plane) in hull.faces().zip(hull.planes()) {
        assert!((length(plane.normal) - 1.0).abs() < 1e-9);
        for &v in face {
            let p = vertices[v as usize].map(f64::from);
            let height = (0..3).map(|i| plane.normal[i] * p[i]).sum::<f64>() - plane.offset;
            assert!(height <= 0.0 && height >= -flatness, "{height:e}");
        }
    }
    for &v in vertices {
        assert!(length(minus(v.map(f64::from), hull.mean())) <= hull.radius() * (1.0 + 1e-12));
    }
}

fn check(hull: &Hull, points: &[Point]) {
    check_structure(hull);
    contains(hull.vertices(), hull.triangles(), points).expect("all points within");
    let given: HashSet<[u32; 3]> = points.iter().map(|&p| key(p)).collect();
    assert!(hull.vertices().iter().all(|&v| given.contains(&key(v))));
    // The hull of the vertices is the hull: so each of them is needed and is found again.
    assert_eq!(&Hull::from_points(hull.vertices()).expect("the same"), hull);
}

// -------------------------------------------------------------------------------------------------------- clouds

/// Draws in f32.
trait Cloud {
    fn signed(&mut self) -> f32;
    fn in_cube(&mut self) -> Point;
    fn in_ball(&mut self) -> Point;
    fn on_sphere(&mut self) -> Point;
    fn matrix(&mut self) -> [[f32; 3]; 3];
}

impl Cloud for Random {
    /// Uniform in [-1, 1).
    fn signed(&mut self) -> f32 {
        self.between(-1.0, 1.0) as f32
    }

    fn in_cube(&mut self) -> Point {
        [self.signed(), self.signed(), self.signed()]
    }

    fn in_ball(&mut self) -> Point {
        loop {
            let p = self.in_cube();
            if length(p.map(f64::from)) <= 1.0 {
                return p;
            }
        }
    }

    fn on_sphere(&mut self) -> Point {
        let p = self.in_ball().map(f64::from);
        p.map(|x| (x / length(p)) as f32)
    }

    /// A rotation matrix, rounded to f32.
    fn matrix(&mut self) -> [[f32; 3]; 3] {
        let x = self.on_sphere();
        let other = self.on_sphere();
        let cross = |a: Point, b: Point| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let y = cross(x, other);
        let y = y.map(|c| c / length(y.map(f64::from)) as f32);
        [x, y, cross(x, y)]
    }
}

fn turned(points: &[Point], by: [[f32; 3]; 3]) -> Vec<Point> {
    points.iter().map(|p| by.map(|row| row[0] * p[0] + row[1] * p[1] + row[2] * p[2])).collect()
}

fn scaled(points: &[Point], by: Point) -> Vec<Point> {
    points.iter().map(|p| [p[0] * by[0], p[1] * by[1], p[2] * by[2]]).collect()
}

/// A grid from 0, with `n` points along each axis for which `along` is set.
fn grid(n: usize, along: [bool; 3]) -> Vec<Point> {
    let range = |axis: usize| 0..if along[axis] { n } else { 1 };
    let mut points = Vec::new();
    for x in range(0) {
        for y in range(1) {
            points.extend(range(2).map(|z| [x as f32, y as f32, z as f32]));
        }
    }
    points
}

/// Degenerate clouds, by name.
fn degenerate() -> Vec<(&'static str, Vec<Point>)> {
    let mut random = Random::new(7);
    let ball: Vec<Point> = (0..60).map(|_| random.in_ball()).collect();
    let mut twice = ball.clone();
    twice.extend(&ball);
    twice.extend(ball.iter().map(|p| p.map(|x| -0.0 + x)));
    let turn = random.matrix();
    let cube = grid(6, [true; 3]);
    let sphere: Vec<Point> = (0..300).map(|_| random.on_sphere()).collect();
    let circle = |z: f32, n: usize| {
        (0..n).map(move |i| {
            let (s, c) = (i as f32 / n as f32 * std::f32::consts::TAU).sin_cos();
            [c, s, z]
        })
    };
    let mut whole_sphere = Vec::new();
    for x in -9i32..=9 {
        for y in -9i32..=9 {
            for z in -9i32..=9 {
                if x * x + y * y + z * z == 81 {
                    whole_sphere.push([x as f32, y as f32, z as f32]);
                }
            }
        }
    }
    let line: Vec<Point> = (0..50).map(|i| [0.1, 0.2, 0.4].map(|x: f32| x * (i as f32 - 20.0))).collect();
    let mut clusters = ball.clone();
    clusters.extend(ball.iter().map(|p| p.map(|x| x * 1e-6 + 1000.0)));
    let mut near_corners = Vec::new();
    for corner in grid(2, [true; 3]) {
        near_corners.extend(
            (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { corner[k].next_up() } else { corner[k] })),
        );
    }
    vec![
        ("a point", vec![[1.0, 2.0, 3.0]]),
        ("one point often", vec![[1.0, 2.0, 3.0]; 30]),
        ("zeros of both signs", vec![[0.0, -0.0, 0.0], [-0.0, 0.0, 0.0], [0.0; 3]]),
        ("two points", vec![[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]),
        ("collinear", (0..40).map(|i| [i as f32, 2.0 * i as f32, -i as f32]).collect()),
        ("nearly collinear", line),
        ("duplicates", twice),
        ("flat grid", grid(12, [true, false, true])),
        ("flat grid, turned", turned(&grid(12, [true, false, true]), turn)),
        ("grid", cube.clone()),
        ("grid, turned", turned(&cube, turn)),
        ("grid on a plate", scaled(&cube, [1.0, 1.0, 1e-5])),
        ("needle", scaled(&ball, [1.0, 1e-5, 1e-5])),
        ("needle, turned", turned(&scaled(&ball, [1.0, 1e-5, 1e-5]), turn)),
        ("plate", scaled(&ball, [1.0, 1.0, 1e-5])),
        ("plate, turned", turned(&scaled(&ball, [1.0, 1.0, 1e-5]), turn)),
        ("sphere", sphere),
        ("cospherical, exactly", whole_sphere),
        ("prism", circle(0.0, 60).chain(circle(1.0, 60)).collect()),
        ("cone", circle(0.0, 60).chain([[0.0, 0.0, 1.0]]).collect()),
        ("flat circle", circle(0.5, 60).collect()),
        ("two clusters", clusters),
        ("corners one ulp apart", near_corners),
    ]
}

/// The point sets of the public corpus, or as many of the same kinds where it is not there.
fn point_sets() -> Vec<Vec<Point>> {
    let Ok(folder) = std::env::var("HULLFIELD_CORPUS") else {
        println!("HULLFIELD_CORPUS is unset: seeded stand-ins instead of the public point sets");
        return stand_ins(500);
    };
    let path = std::path::Path::new(&folder).join("hulls/point_sets.bin");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let words: Vec<[u8; 4]> =
        bytes.chunks_exact(4).map(|word| word.try_into().expect("four bytes")).collect();
    let mut sets = Vec::new();
    let mut rest = &words[..];
    while let [count, tail @ ..] = rest {
        let count = u32::from_le_bytes(*count) as usize;
        let (set, tail) = tail.split_at(3 * count);
        sets.push(set.chunks_exact(3).map(|p| [0, 1, 2].map(|i| f32::from_le_bytes(p[i]))).collect());
        rest = tail;
    }
    assert_eq!(sets.len(), 3378);
    sets
}

/// Small sets like those of level pieces: boxes, cut balls, some flat, in any position and size.
fn stand_ins(count: usize) -> Vec<Vec<Point>> {
    let mut random = Random::new(11);
    let mut sets = Vec::new();
    for i in 0..count {
        let n = 4 + random.below(40);
        let points: Vec<Point> = match i % 5 {
            0 => (0..n).map(|_| random.in_ball()).collect(),
            1 => (0..n).map(|_| random.on_sphere()).collect(),
            2 => grid(2, [true; 3])
                .into_iter()
                .chain((0..n).map(|_| random.in_cube().map(|x| (x * 2.0).round() * 0.5)))
                .collect(),
            3 => (0..n).map(|_| random.in_cube().map(|x| x.clamp(-0.4, 0.4))).collect(),
            _ => scaled(
                &(0..n).map(|_| random.in_ball()).collect::<Vec<_>>(),
                [1.0, 1.0, if i % 2 == 0 { 0.0 } else { 1e-4 }],
            ),
        };
        let turn = random.matrix();
        let offset = random.in_cube();
        let size = 10f32.powf(3.0 * random.signed());
        let placed = turned(&points, turn).into_iter().map(|p| [0, 1, 2].map(|k| (p[k] + offset[k]) * size));
        sets.push(placed.collect());
    }
    sets
}

// --------------------------------------------------------------------------------------------------------- tests

#[test]
fn every_public_point_set_becomes_a_hull() {
    let sets = point_sets();
    let mut count_by_dimension = [0; 4];
    for points in &sets {
        let hull = Hull::from_points(points).expect("a hull");
        count_by_dimension[hull.dimension() as usize] += 1;
        check(&hull, points);
    }
    println!("{} sets: {count_by_dimension:?} points, segments, polygons, solids", sets.len());
    assert!(count_by_dimension[3] > sets.len() / 2);
}

/// A face that is a line up to f32's rounding. Its normal was accurate only to 1e-11 of the size, because the area was the
/// difference of two rounded products.
#[test]
fn the_plane_of_a_needle_holds_its_corners() {
    let needle: [Point; 3] = [
        [-0.00017195244, -0.0014014659, 0.0022302733],
        [-2.8922343e-6, -0.001680703, 0.0013895549],
        [-0.00045162268, -0.000939534, 0.0036210443],
    ];
    let hull = Hull::from_points(&[needle[0], needle[1], needle[2], [0.002, 0.0, 0.002]]).expect("a hull");
    assert_eq!(hull.faces().len(), 4);
    check_structure(&hull);
}

#[test]
fn public_point_sets_agree_with_brute_force() {
    let sets = point_sets();
    let small = sets.iter().filter(|points| points.len() <= 24);
    for points in small.step_by(sets.len().div_ceil(200)) {
        agrees_with_brute_force(points);
    }
}

#[test]
fn degenerate_clouds() {
    for (name, points) in degenerate() {
        println!("{name}");
        check(&Hull::from_points(&points).expect("a hull"), &points);
    }
}

#[test]
fn degenerate_clouds_at_any_scale() {
    for (name, points) in degenerate() {
        for scale in [1e-30, 1e-5, 1e-3, 1e3, 1e5, 1e30] {
            let points = scaled(&points, [scale; 3]);
            println!("{name} at {scale:e}");
            check(&Hull::from_points(&points).expect("a hull"), &points);
        }
    }
}

#[test]
fn scale_by_two_changes_nothing() {
    for (_, points) in degenerate() {
        let hull = Hull::from_points(&points).expect("a hull");
        let large = Hull::from_points(&scaled(&points, [1024.0; 3])).expect("a hull");
        assert!(hull.faces().eq(large.faces()));
        assert_eq!(scaled(hull.vertices(), [1024.0; 3]), large.vertices());
    }
}

#[test]
fn dimensions_are_exact() {
    let dimension = |points: &[Point]| Hull::from_points(points).expect("a hull").dimension();
    let mut flat = grid(5, [true, true, false]);
    assert_eq!(dimension(&flat), Dimension::Polygon);
    flat[12][2] = 1e-36;
    assert_eq!(dimension(&flat), Dimension::Solid);
    let mut line: Vec<Point> = (0..9).map(|i| [i as f32 * 0.125 + 1.0, 3.0, -7.0]).collect();
    assert_eq!(dimension(&line), Dimension::Segment);
    line[4][1] = 3.0f32.next_up();
    assert_eq!(dimension(&line), Dimension::Polygon);
    assert_eq!(dimension(&[[1.0; 3], [1.0, 1.0, 1.0f32.next_up()]]), Dimension::Segment);
}

#[test]
fn mixed_magnitudes() {
    let large = 1e30;
    let points = [
        [large, 0.0, 0.0],
        [-large, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 1e-30],
        [0.0, 0.0, 1e-40],
        [large, 1e-40, 0.0],
    ];
    agrees_with_brute_force(&points);
    let mut random = Random::new(3);
    for _ in 0..100 {
        let points: Vec<Point> = (0..12)
            .map(|_| random.in_cube().map(|x| x * 10f32.powf(37.0 * ((x * 1e4).fract().abs() * 2.0 - 1.0))))
            .collect();
        agrees_with_brute_force(&points);
    }
}

#[test]
fn a_cuboid() {
    let hull = Hull::cuboid([1.0, 2.0, 3.0]).expect("a box");
    assert_eq!(
        (hull.vertices().len(), hull.faces().len(), hull.edges().count(), hull.triangles().count()),
        (8, 6, 12, 12)
    );
    assert_eq!(hull.vertices()[5], [1.0, -2.0, 3.0]);
    assert_eq!((hull.volume(), hull.mean(), hull.radius()), (48.0, [0.0; 3], 14f64.sqrt()));
    assert_eq!(hull.neighbours(0), [1, 2, 4]);
    for plane in hull.planes() {
        let axis = plane.normal.iter().position(|x| x.abs() == 1.0).expect("along an axis");
        assert_eq!(plane.offset, [1.0, 2.0, 3.0][axis]);
    }
    check(&hull, hull.vertices());
    assert_eq!(Hull::cuboid([1.0, 0.0, 1.0]).expect("flat").dimension(), Dimension::Polygon);
    assert_eq!(Hull::cuboid([0.0; 3]).expect("a point").vertices(), [[0.0; 3]]);
    for half in [[-1.0, 1.0, 1.0], [f32::NAN, 1.0, 1.0], [1.0, f32::INFINITY, 1.0]] {
        assert!(matches!(Hull::cuboid(half), Err(Error::Value { field: "half", .. })));
    }
}

#[test]
fn bad_input_is_one_clear_error() {
    let empty = Hull::from_points(&[]).expect_err("no points");
    assert!(matches!(empty, Error::Count { what: "points", given: 0, .. }), "{empty}");
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = Hull::from_points(&[[0.0; 3], [1.0; 3], [0.0, bad, 2.0]]);
        assert!(matches!(error, Err(Error::Value { at: Location::Point(2), .. })), "{error:?}");
    }
    for size in [f32::MAX, 3e38, 1e-37, 1e-40, f32::from_bits(1)] {
        for points in [
            vec![[size, 0.0, 0.0], [-size, 0.0, 0.0]],
            scaled(&grid(2, [true; 3]), [2.0 * size.min(1.7e38); 3]),
        ] {
            let error = Hull::from_points(&points).expect_err("too large or too small");
            assert!(matches!(error, Error::Value { field: "bounding radius", .. }), "{error:?}");
            assert!(error.to_string().starts_with("bounding radius is "), "{error}");
        }
    }
    for point in [[f32::MAX; 3], [1e-40; 3]] {
        assert_eq!(Hull::from_points(&[point; 3]).expect("a point").vertices(), [point]);
    }
    assert!(Hull::from_points(&scaled(&grid(2, [true; 3]), [1e38; 3])).is_ok());
    assert!(Hull::from_points(&scaled(&grid(2, [true; 3]), [4e-36; 3])).is_ok());
}

#[test]
fn order_of_the_input_does_not_matter() {
    let mut random = Random::new(5);
    for (name, mut points) in degenerate() {
        let sorted = |hull: &Hull| {
            let mut vertices: Vec<[u32; 3]> = hull.vertices().iter().map(|&v| key(v)).collect();
            vertices.sort_unstable();
            vertices
        };
        let faces = |hull: &Hull| -> BTreeSet<BTreeSet<[u32; 3]>> {
            hull.faces()
                .map(|face| face.iter().map(|&v| key(hull.vertices()[v as usize])).collect())
                .collect()
        };
        let first = Hull::from_points(&points).expect("a hull");
        assert_eq!(first, Hull::from_points(&points).expect("a hull"), "the same every time");
        for _ in 0..3 {
            for i in (1..points.len()).rev() {
                points.swap(i, random.below(i + 1));
            }
            let hull = Hull::from_points(&points).expect("a hull");
            assert_eq!(sorted(&first), sorted(&hull), "{name}");
            assert_eq!(faces(&first), faces(&hull), "{name}");
            let unique = distinct(&points);
            let place = |v: &Point| unique.iter().position(|p| p == v);
            assert!(hull.vertices().iter().map(place).is_sorted(), "{name}: by first appearance");
        }
    }
}

#[test]
fn many_points() {
    let mut random = Random::new(13);
    let sphere: Vec<Point> = (0..40_000).map(|_| random.on_sphere()).collect();
    let hull = Hull::from_points(&sphere).expect("a hull");
    assert!(hull.vertices().len() > 39_000);
    check_structure(&hull);
    let ball: Vec<Point> = (0..300_000).map(|_| random.in_ball()).collect();
    let hull = Hull::from_points(&ball).expect("a hull");
    check_structure(&hull);
    let planes: Vec<_> = hull.planes().collect();
    for p in ball.iter().step_by(100).map(|p| p.map(f64::from)) {
        assert!(
            planes
                .iter()
                .all(|plane| (0..3).map(|i| plane.normal[i] * p[i]).sum::<f64>() <= plane.offset + 1e-12)
        );
    }
    let cube = grid(40, [true; 3]);
    assert_eq!(Hull::from_points(&cube).expect("a hull").vertices().len(), 8);
}

#[test]
fn each_direction_is_climbed_along_edges() {
    let mut random = Random::new(17);
    for (name, points) in degenerate() {
        let hull = Hull::from_points(&points).expect("a hull");
        for _ in 0..50 {
            let direction = random.on_sphere().map(f64::from);
            let height = |v: u32| {
                (0..3).map(|i| direction[i] * f64::from(hull.vertices()[v as usize][i])).sum::<f64>()
            };
            let best = (0..hull.vertices().len() as u32).map(height).fold(f64::NEG_INFINITY, f64::max);
            let mut at = 0;
            while let Some(&next) = hull.neighbours(at).iter().find(|&&next| height(next) > height(at)) {
                at = next;
            }
            assert!(best - height(at) <= 1e-12 * (hull.radius() + length(hull.mean())), "{name}");
        }
    }
}

/// Distance of a point from a convex hull by brute force over faces: from the plane inside, else from the edges.
fn distance(hull: &Hull, p: Point) -> f64 {
    let p = p.map(f64::from);
    let at = |v: u32| hull.vertices()[v as usize].map(f64::from);
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let mut nearest = f64::INFINITY;
    for v in 0..hull.vertices().len() as u32 {
        nearest = nearest.min(length(minus(p, at(v))));
    }
    for [a, b] in hull.edges() {
        let (ab, ap) = (minus(at(b), at(a)), minus(p, at(a)));
        let t = dot(ab, ap) / dot(ab, ab);
        if (0.0..=1.0).contains(&t) {
            nearest = nearest.min(length([0, 1, 2].map(|i| ap[i] - t * ab[i])));
        }
    }
    for (face, plane) in hull.faces().zip(hull.planes()) {
        let height = dot(plane.normal, p) - plane.offset;
        let inside = (0..face.len()).all(|i| {
            let (a, b) = (at(face[i]), at(face[(i + 1) % face.len()]));
            dot(cross(minus(b, a), minus(p, a)), plane.normal) >= 0.0
        });
        if inside && height >= 0.0 {
            nearest = nearest.min(height);
        }
    }
    nearest
}

#[test]
fn simplify_says_how_much_it_shrank() {
    let mut random = Random::new(19);
    let mut clouds = degenerate();
    clouds.push(("ball", (0..2000).map(|_| random.in_ball()).collect()));
    for (name, points) in clouds {
        let hull = Hull::from_points(&points).expect("a hull");
        let count = hull.vertices().len();
        for max_vertices in [4, 5, 6, 8, 12, 30, 64, count] {
            let (small, error) = hull.simplify(max_vertices).expect("simpler");
            assert_eq!(small.vertices().len(), max_vertices.min(count), "{name}");
            assert_eq!(small.dimension(), hull.dimension(), "{name}");
            assert!(small.vertices().iter().all(|v| hull.vertices().contains(v)));
            check_structure(&small);
            if max_vertices >= count {
                assert_eq!((&small, error), (&hull, 0.0));
                continue;
            }
            let kept: HashSet<[u32; 3]> = small.vertices().iter().map(|&v| key(v)).collect();
            let dropped = hull.vertices().iter().filter(|&&v| !kept.contains(&key(v)));
            let worst = dropped.map(|&v| distance(&small, v)).fold(0.0, f64::max);
            let error = f64::from(error);
            assert!(error >= worst * (1.0 - 1e-9), "{name} {max_vertices}: said {error:e}, is {worst:e}");
            assert!(
                error <= worst * (1.0 + 1e-6) + 1e-13 * hull.radius(),
                "{name} {max_vertices}: said {error:e}, is {worst:e}"
            );
        }
    }
    let hull = Hull::cuboid([1.0; 3]).expect("a box");
    let error = hull.simplify(3).expect_err("a solid has four");
    assert_eq!(error.to_string(), "max_vertices is 3, a hull of this dimension needs at least 4");
    let square = Hull::cuboid([1.0, 1.0, 0.0]).expect("a square");
    assert_eq!(square.simplify(3).expect("a triangle").1, 2f32.sqrt().next_up().max(2f32.sqrt()));
    assert_eq!(
        square.simplify(2).expect_err("a polygon has three").to_string(),
        "max_vertices is 2, a hull of this dimension needs at least 3"
    );
}

#[test]
fn the_checkers_can_fail() {
    let hull = Hull::cuboid([1.0; 3]).expect("a box");
    let mut faces: Vec<Vec<u32>> = hull.faces().map(<[u32]>::to_vec).collect();
    let verdict = |faces: &[Vec<u32>]| closed(8, faces.iter().map(Vec::as_slice));
    assert_eq!(verdict(&faces), Ok(()));
    assert!(verdict(&faces[1..]).is_err(), "a face is missing");
    assert!(closed(9, faces.iter().map(Vec::as_slice)).is_err(), "a vertex that is in no face");
    faces[2].reverse();
    assert!(verdict(&faces).is_err(), "a face is turned over");
    faces[2].reverse();
    faces.push(faces[0].clone());
    assert!(verdict(&faces).is_err(), "a face is there twice");

    let verdict = |p: Point| contains(hull.vertices(), hull.triangles(), &[p]);
    assert_eq!(verdict([1.0, 1.0, 1.0]), Ok(()));
    assert!(verdict([1.0f32.next_up(), 0.3, 0.2]).is_err(), "one ulp outside");

    // The oracle tells a hull with one vertex too many or too few.
    let mut points = grid(3, [true; 3]);
    let (_, extreme, facets) = brute_force(&points);
    assert_eq!((extreme.len(), facets.len()), (8, 6));
    points.push([1.0, 1.0, 2.0f32.next_up()]);
    assert_eq!(brute_force(&points).1.len(), 9);
}

fn cloud() -> impl Strategy<Value = Vec<Point>> {
    let step = (-3i32..=3).prop_map(|i| i as f32);
    let lattice = prop::array::uniform3(step.clone());
    let clustered = (prop::array::uniform3(step), prop::array::uniform3(-2i32..=2)).prop_map(|(p, ulps)| {
        [0, 1, 2].map(|i| f32::from_bits((p[i] + 4.0).to_bits().wrapping_add_signed(ulps[i])))
    });
    let near_zero = prop::array::uniform3(prop_oneof![Just(0.0f32), Just(-0.0), Just(1.0), -1e-20f32..1e-20]);
    let any = prop::array::uniform3(-1.0f32..1.0);
    let wide = prop::array::uniform3((-1.0f32..1.0, -30i32..30).prop_map(|(x, e)| x * 10f32.powi(e)));
    let flat = (any.clone(), 0usize..3).prop_map(|(mut p, axis)| {
        p[axis] = 0.25;
        p
    });
    prop_oneof![
        prop::collection::vec(lattice.clone(), 1..24),
        prop::collection::vec(clustered, 1..20),
        prop::collection::vec(near_zero, 1..16),
        prop::collection::vec(any.clone(), 1..24),
        prop::collection::vec(wide, 1..16),
        prop::collection::vec(flat, 1..16),
        prop::collection::vec(prop_oneof![lattice, any], 1..20),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_brute_force_on_any_cloud(points in cloud()) {
        let size = distinct(&points).iter().flatten().fold(0.0f32, |m, x| m.max(x.abs()));
        prop_assume!(distinct(&points).len() == 1 || size > 1e-30);
        if let Err(error) = Hull::from_points(&points) {
            let is_size = matches!(error, Error::Value { field: "bounding radius", .. });
            prop_assert!(is_size, "{}", error);
        } else {
            agrees_with_brute_force(&points);
        }
    }
}
