//! An exact brute-force oracle of hulls, and checkers of their documented properties.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hullfield::collide::{Dimension, Hull};
use robust::{Coord, Coord3D, orient2d, orient3d};

use super::Point;

/// Positive if `d` is above the plane of `a`, `b`, `c` (counter-clockwise seen from above).
pub(super) fn above(a: Point, b: Point, c: Point, d: Point) -> f64 {
    let coord = |p: Point| Coord3D { x: p[0], y: p[1], z: p[2] };
    -orient3d(coord(a), coord(b), coord(c), coord(d))
}

pub(super) fn left(a: Point, b: Point, c: Point, [x, y]: [usize; 2]) -> f64 {
    let coord = |p: Point| Coord { x: p[x], y: p[y] };
    orient2d(coord(a), coord(b), coord(c))
}

pub(super) fn collinear(a: Point, b: Point, c: Point) -> bool {
    [[0, 1], [1, 2], [2, 0]].iter().all(|&axes| left(a, b, c, axes) == 0.0)
}

/// Bits of a point, with -0 as +0.
pub(super) fn key(p: Point) -> [u32; 3] {
    p.map(|x| (x + 0.0).to_bits())
}

pub(super) fn distinct(points: &[Point]) -> Vec<Point> {
    let mut seen = HashSet::new();
    points.iter().map(|p| p.map(|x| x + 0.0)).filter(|&p| seen.insert(key(p))).collect()
}

/// Dimension, extreme points and facets (as sets of extreme points; a solid's only) by trying all planes.
pub(super) fn brute_force(points: &[Point]) -> (Dimension, BTreeSet<usize>, BTreeSet<BTreeSet<usize>>) {
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

pub(super) fn agrees_with_brute_force(points: &[Point]) {
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

/// Every edge is in exactly two faces, in opposite directions, and V − E + F = 2.
pub(super) fn closed<'a>(vertex_count: usize, faces: impl Iterator<Item = &'a [u32]>) -> Result<(), String> {
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
pub(super) fn contains(
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
pub(super) fn locally_convex(hull: &Hull) -> Result<(), String> {
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

pub(super) fn length(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(super) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// Checks all documented properties of a hull, except the containment test, which takes quadratic time.
pub(super) fn check_structure(hull: &Hull) {
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

pub(super) fn check(hull: &Hull, points: &[Point]) {
    check_structure(hull);
    contains(hull.vertices(), hull.triangles(), points).expect("all points within");
    let given: HashSet<[u32; 3]> = points.iter().map(|&p| key(p)).collect();
    assert!(hull.vertices().iter().all(|&v| given.contains(&key(v))));
    // The hull of the vertices is the hull: so each of them is needed and is found again.
    assert_eq!(&Hull::from_points(hull.vertices()).expect("the same"), hull);
}
