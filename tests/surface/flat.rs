//! Triangles without area are removed, and the surface stays the same.

use hullfield::Error;
use hullfield::navigate::surface::{
    Method as SurfaceMethod, Model, ModelFace, Options as SurfaceOptions, PathOptions, Surface,
};
use hullfield_oracle::random::Random;

use crate::models::check::{Point, checked, length, minus};
use crate::models::{OnSurface as _, obj};

fn built(points: &[Point], triangles: &[[u32; 3]]) -> Surface {
    let surface =
        Surface::new(&[Model::triangles(points.to_vec(), triangles)], SurfaceOptions::default()).unwrap();
    let again = Model::triangles(surface.vertices().collect(), surface.triangles());
    assert!(
        Surface::new(&[again], SurfaceOptions::default()).unwrap().report().zero_area.is_empty(),
        "some are left"
    );
    surface
}

/// Twice the area of a triangle.
fn area(a: Point, b: Point, c: Point) -> f64 {
    let (u, v) = (minus(b, a), minus(c, a));
    length([0, 1, 2].map(|k| u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]))
}

fn flat_faces(surface: &Surface) -> Vec<u32> {
    surface.report().zero_area.iter().map(|from| from.face).collect()
}

/// The triangle across the longest side is cut and keeps its source. The order of triangles and corners does not matter.
#[test]
fn a_flat_triangle_between_two_others_is_removed() {
    let points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.7, 0.0, 0.0], [0.5, -1.0, 0.0]];
    for flat in [[0, 3, 1], [3, 1, 0], [1, 0, 3], [1, 3, 0]] {
        let surface = built(&points, &[[0, 1, 2], flat, [4, 3, 0]]);
        assert_eq!(surface.triangles(), [[0, 3, 2], [3, 1, 2], [4, 3, 0]]);
        let from = |face| Some(ModelFace { model: 0, face });
        assert_eq!([0, 1, 2].map(|triangle| surface.source(triangle)), [from(0), from(0), from(2)]);
        assert_eq!(flat_faces(&surface), [1]);
        assert!((surface.area() - 1.35).abs() < 1e-15);
        let report = surface.report();
        assert_eq!((report.island_count, report.boundary_edge_count), (1, 5));
        let path = surface.path([1.0, 0.9, 0.0], [0.5, -0.5, 0.0], &PathOptions::default()).unwrap();
        assert!((checked(&surface, &path, 2.0) - length([0.5, 1.4, 0.0])).abs() < 1e-12);
    }
}

/// A seam between two plates whose edges are cut at different places, filled with triangles without area.
#[test]
fn a_seam_of_flat_triangles_is_removed() {
    // Above the seam cut at 1 and 3, below at 2 and 2.5.
    let line = [0.0, 1.0, 3.0, 4.0, 2.0, 2.5].map(|x| [x, 0.0, 0.0]);
    let points: Vec<Point> = line.into_iter().chain([[2.0, 2.0, 0.0], [2.0, -2.0, 0.0]]).collect();
    let above = [[0, 1, 6], [1, 2, 6], [2, 3, 6]];
    let below = [[4, 0, 7], [5, 4, 7], [3, 5, 7]];
    // Two ways to fill it, and one with a second layer.
    let fills: [&[[u32; 3]]; 3] = [
        &[[0, 4, 1], [1, 4, 2], [4, 5, 2], [5, 3, 2]],
        &[[0, 4, 1], [1, 4, 5], [1, 5, 2], [5, 3, 2]],
        &[[0, 5, 3], [0, 4, 5], [0, 3, 2], [0, 2, 1]],
    ];
    for fill in fills {
        let triangles: Vec<[u32; 3]> = above.iter().chain(&below).chain(fill).copied().collect();
        let surface = built(&points, &triangles);
        let report = surface.report();
        assert_eq!((report.zero_area.len(), report.island_count, report.boundary_edge_count), (4, 1, 4));
        assert_eq!((report.non_manifold_edge_count, report.turned_edge_count), (0, 0));
        assert!((surface.area() - 8.0).abs() < 1e-12);
        let mut random = Random::xorshift(3);
        for _ in 0..100 {
            let (start, goal) = (random.on(&surface), random.on(&surface));
            let path = surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
            // The two plates make a convex square.
            let straight = length(minus(goal, start));
            assert!((checked(&surface, &path, 4.0) - straight).abs() < 1e-12, "{start:?} {goal:?}");
        }
    }
}

/// Pages that share one edge, with points along it: each page is cut at each of them, and distances between pages stay.
#[test]
fn pages_on_one_edge_stay_connected() {
    let (pages, parts) = (5_u32, 4_u32);
    let mut points: Vec<Point> = (0..=parts).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let mut triangles: Vec<[u32; 3]> = (1..parts).map(|i| [0, i, i + 1]).collect();
    for page in 0..pages {
        let turn = f64::from(page);
        points.push([2.0, turn.cos(), turn.sin()]);
        triangles.push([0, parts, points.len() as u32 - 1]);
    }
    let surface = built(&points, &triangles);
    assert_eq!(flat_faces(&surface), [0, 1, 2]);
    assert_eq!(surface.triangles().len() as u32, pages * parts);
    assert_eq!(surface.report().non_manifold_edge_count as u32, parts);
    assert!((surface.area() - 2.0 * f64::from(pages)).abs() < 1e-12);
    for (one, other) in [(0, 1), (1, 4), (2, 3)] {
        let place = |page: f64, x: f64, height: f64| [x, height * page.cos(), height * page.sin()];
        let (start, goal) = (place(f64::from(one), 1.2, 0.5), place(f64::from(other), 2.9, 0.25));
        let path = surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
        assert!((checked(&surface, &path, 4.0) - length([1.7, 0.75, 0.0])).abs() < 1e-12);
    }
    // More triangles than can be numbered can't be tested: so many pages would not fit into memory.
    let (pages, parts) = (300_u32, 300_u32);
    let mut points: Vec<Point> = (0..=parts).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let mut triangles: Vec<[u32; 3]> = (1..parts).map(|i| [0, i, i + 1]).collect();
    for page in 0..pages {
        let turn = 0.01 * f64::from(page);
        points.push([2.0, turn.cos(), turn.sin()]);
        triangles.push([0, parts, points.len() as u32 - 1]);
    }
    assert_eq!(built(&points, &triangles).triangles().len() as u32, pages * parts);
}

/// A flat triangle at a boundary is left out; if nothing else is left, there is no surface. A piece with the corners of another triangle is a
/// duplicate.
#[test]
fn flat_triangles_at_boundaries_and_alone() {
    let points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.7, 0.0, 0.0], [3.0, 0.0, 0.0]];
    // No triangle lies across its longest side.
    let surface = built(&points, &[[0, 1, 2], [0, 4, 1]]);
    assert_eq!((surface.triangles(), surface.report().unused_count), (&[[0, 1, 2]][..], 2));
    let lone = Surface::new(
        &[Model::triangles(points.to_vec(), &[[0, 1, 3], [3, 1, 4]])],
        SurfaceOptions::default(),
    );
    let error = lone.unwrap_err();
    assert!(
        matches!(error, Error::Invalid { .. }) && error.to_string().contains("of 2 faces none"),
        "{error}"
    );
    let surface = built(&points, &[[0, 1, 2], [0, 3, 1], [0, 3, 2]]);
    assert_eq!(surface.triangles(), [[3, 1, 2], [0, 3, 2]]);
    assert_eq!(surface.report().duplicates, [ModelFace { model: 0, face: 0 }]);
}

/// A triangle of which two corners nearly coincide is kept if it connects others.
#[test]
fn corners_that_nearly_coincide_are_kept() {
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0 + 1e-9, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, -1.0, 0.0]];
    let triangles = [[0, 1, 3], [1, 0, 2], [0, 2, 4]];
    let surface = Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
    assert_eq!((surface.triangles(), flat_faces(&surface)), (&triangles[..], vec![1]));
    let path = surface.path([0.5, 0.9, 0.0], [0.5, -0.9, 0.0], &SurfaceMethod::Exact.into()).unwrap();
    assert!((checked(&surface, &path, 2.0) - 1.8).abs() < 1e-9);
}

/// Two flat triangles with the same corners make a pocket in a sheet. One is left out as a duplicate, and the other is not a wall, whether or
/// not two of its corners nearly coincide. If it lies between two parts of the sheet, they stay connected.
#[test]
fn a_pocket_is_not_a_wall() {
    for at in [0.3, 1e-3, 1e-8, 1e-10] {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, -1.0, 0.0], [at, 0.0, 0.0]];
        let whole = [[0, 1, 2], [0, 4, 1], [1, 0, 3], [0, 1, 4]];
        let cut = [[0, 4, 2], [4, 1, 2], [0, 4, 1], [4, 0, 3], [1, 4, 3], [0, 1, 4]];
        let between = [[0, 1, 2], [0, 4, 1], [4, 0, 3], [1, 4, 3]];
        for triangles in [&whole[..], &cut[..], &between[..]] {
            let surface =
                Surface::new(&[Model::triangles(points.to_vec(), triangles)], SurfaceOptions::default())
                    .unwrap();
            let boundary = surface.report().boundary_edge_count;
            assert_eq!((boundary, surface.report().island_count), (4, 1), "{at} {triangles:?}");
            let wall = surface.distance_to_wall([0.5, 0.01, 0.0]).unwrap().unwrap();
            // The nearest side of the sheet.
            assert!((wall.distance - 0.99 / 5f64.sqrt()).abs() < 1e-9, "{at}: {}", wall.distance);
            let path = surface.path([0.5, 0.5, 0.0], [0.3, -0.5, 0.0], &SurfaceMethod::Exact.into()).unwrap();
            assert!((checked(&surface, &path, 1.0) - length([0.2, 1.0, 0.0])).abs() < 1e-9, "{at}");
        }
    }
}

/// A small triangle has an area, even where all triangles are as small as possible.
#[test]
fn tiny_triangles_are_kept() {
    for (whole, speck) in [(1e-70, 1e-79), (1.0, 1e-12), (1e75, 1e63)] {
        let points = [[whole, 0.0, 0.0], [0.0; 3], [speck, 0.0, 0.0], [0.0, 0.1 * speck, 0.0]];
        let surface = built(&points, &[[1, 2, 3], [0, 1, 3]]);
        assert_eq!((surface.triangles().len(), flat_faces(&surface)), (2, vec![]), "{whole}");
    }
}

/// Rounded points of a line are not quite collinear: the deviation grows with the distance from the origin.
#[test]
fn flat_triangles_of_any_size_and_place() {
    let mut random = Random::xorshift(7);
    for scale in [1e-60, 1e-5, 1.0, 1e6, 1e60] {
        for far in [0.0, 1.0, 1e3, 1e6] {
            for _ in 0..20 {
                let mut point = || [0; 3].map(|_| scale * (far + random.unit()));
                let (a, b) = (point(), point());
                let (c, d) = (point(), point());
                let part = 0.1 + 0.8 * random.unit();
                let middle = [0, 1, 2].map(|k| a[k] + part * (b[k] - a[k]));
                let points = [a, b, c, d, middle];
                let surface = built(&points, &[[0, 1, 2], [1, 0, 4], [0, 4, 3], [4, 1, 3]]);
                assert_eq!((flat_faces(&surface), surface.triangles().len()), (vec![1], 4));
            }
        }
    }
}

/// Starts on the line of removed triangles: a strip leads along it to a vertex, around that and back.
#[test]
fn paths_around_vertices_and_back() {
    let Some((_, model)) = obj("wallhole.obj") else { return };
    let surface = Surface::new(std::slice::from_ref(&model), SurfaceOptions::default()).unwrap();
    let mut random = Random::xorshift(9);
    let mut count = 0;
    for face in 0..model.face_count() {
        let corners: Vec<Point> = model.face(face).iter().map(|&v| model.points()[v as usize]).collect();
        for i in 1..corners.len() - 1 {
            let [a, b, c] = [corners[0], corners[i], corners[i + 1]];
            if area(a, b, c) > 1e-12 {
                continue;
            }
            for (from, to) in [(a, b), (b, c), (c, a)] {
                for _ in 0..12 {
                    let part = random.unit();
                    let start = [0, 1, 2].map(|k| from[k] + part * (to[k] - from[k]));
                    let goal = random.on(&surface);
                    let field = surface.field(start).unwrap();
                    let distance = field.distance(goal).unwrap().unwrap();
                    let there = surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
                    let back = surface.path(goal, start, &SurfaceMethod::Exact.into()).unwrap();
                    for path in [&there, &back, &field.path(goal).unwrap()] {
                        let length = checked(&surface, path, 15.0);
                        let is_right = (length / distance - 1.0).abs() < 1e-9;
                        assert!(is_right, "{start:?} {goal:?}: {length} {distance}");
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 300, "{count}");
}
