//! Vertices on edges that they are not joined to: walls of bricks, in which their number is known, and every vertex against every edge.

use std::collections::BTreeSet;

use hullfield::navigate::surface::{Model, Options as SurfaceOptions, Surface};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::models::{cube, moebius, terrain};

fn build(model: Model) -> Surface {
    Surface::new(&[model], SurfaceOptions::default()).unwrap()
}

/// A wall of rows of bricks between 0 and `width`, each brick a face. Returns the points at which a row has a joint that the next has not: no joint is
/// nearer than 1 to another. `place` moves the wall.
fn wall(
    random: &mut Random,
    rows: usize,
    width: u32,
    place: impl Fn([f64; 2]) -> [f64; 3],
) -> (Model, usize) {
    let joints: Vec<BTreeSet<u32>> = (0..rows)
        .map(|_| {
            let inner = (1..width).filter(|_| random.below(3) == 0);
            inner.collect::<Vec<_>>().into_iter().chain([0, width]).collect()
        })
        .collect();
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for (row, joints) in joints.iter().enumerate() {
        let joints: Vec<u32> = joints.iter().copied().collect();
        for ends in joints.windows(2) {
            let [from, to] = [ends[0], ends[1]].map(f64::from);
            let [low, high] = [row as f64, row as f64 + 1.0];
            let first = points.len() as u32;
            points.extend([[from, low], [to, low], [to, high], [from, high]].map(&place));
            faces.push([first, first + 1, first + 2, first + 3]);
        }
    }
    let count = joints.windows(2).map(|rows| rows[0].symmetric_difference(&rows[1]).count()).sum();
    (Model::polygons(points, faces), count)
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// How far a point is from a segment.
fn distance_to([a, b]: [[f64; 3]; 2], point: [f64; 3]) -> f64 {
    let along: [f64; 3] = std::array::from_fn(|axis| b[axis] - a[axis]);
    let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    let part = dot(std::array::from_fn(|axis| point[axis] - a[axis]), along) / dot(along, along);
    distance(std::array::from_fn(|axis| a[axis] + part.clamp(0.0, 1.0) * along[axis]), point)
}

/// The vertices on edges, by every pair of both: not at an end, nor at the third corner of a triangle at the edge.
fn expected(surface: &Surface, tolerance: f64) -> Vec<u32> {
    let points: Vec<[f64; 3]> = surface.vertices().collect();
    let mut thirds = vec![Vec::new(); surface.edges().len()];
    for (triangle, corners) in surface.triangles().iter().enumerate() {
        for edge in surface.edges_of(triangle as u32).unwrap() {
            let ends = surface.edges()[edge as usize];
            thirds[edge as usize].extend(corners.iter().copied().filter(|corner| !ends.contains(corner)));
        }
    }
    let is_on = |point: [f64; 3], edge: usize| {
        let corners = surface.edges()[edge].into_iter().chain(thirds[edge].iter().copied());
        corners.into_iter().all(|corner| distance(points[corner as usize], point) > tolerance)
            && distance_to(surface.edges()[edge].map(|end| points[end as usize]), point) <= tolerance
    };
    let vertices = 0..points.len() as u32;
    vertices.filter(|&vertex| (0..thirds.len()).any(|edge| is_on(points[vertex as usize], edge))).collect()
}

fn check(surface: &Surface, tolerance: f64) -> usize {
    let found = surface.t_junctions(tolerance).unwrap();
    assert_eq!(found.iter().map(|at| at.vertex).collect::<Vec<_>>(), expected(surface, tolerance));
    let points: Vec<[f64; 3]> = surface.vertices().collect();
    for at in &found {
        let ends = surface.edges()[at.edge as usize].map(|end| points[end as usize]);
        let off = distance_to(ends, points[at.vertex as usize]);
        assert!((off - at.distance).abs() <= 1e-12 && at.distance <= tolerance, "{at:?} {off}");
    }
    found.len()
}

#[test]
fn the_joints_of_bricks_lie_on_the_edges_of_their_neighbours() {
    let mut random = Random::new(seed(920));
    let mut sum = 0;
    for _ in 0..extent(6, 30) {
        let (rows, width) = (2 + random.below(5), 2 + random.below(12) as u32);
        let (flat, count) = wall(&mut random, rows, width, |[x, y]| [x, y, 0.0]);
        assert_eq!(check(&build(flat), 1e-12), count);
        // On a slope in f32, as files hold it.
        let (model, count) = wall(&mut random, rows, width, |[x, y]| {
            [0.6 * x + 0.3 * y, 0.7 * y - 0.2 * x, 0.1 * x + 5.0].map(|part| f64::from(part as f32))
        });
        let surface = build(model);
        assert_eq!(check(&surface, 1e-6 * f64::from(width)), count);
        sum += count;
        // Two bricks are not joined where a joint lies on an edge only.
        assert!(count == 0 || surface.report().boundary_edge_count > 2 * rows);
    }
    assert!(sum > 0);
}

#[test]
fn surfaces_that_are_joined_have_none() {
    for (name, model) in [("cube", cube()), ("moebius", moebius(30)), ("terrain", terrain(12, 4))] {
        let surface = build(model);
        assert_eq!((surface.t_junctions(0.0).unwrap(), check(&surface, 1e-6)), (vec![], 0), "{name}");
    }
}

/// A step of a hundredth: whether it is a gap is the caller's to say.
#[test]
fn the_tolerance_is_a_distance_from_the_edge() {
    let points =
        [[0., 0.], [4., 0.], [4., 4.], [0., 4.], [4.01, 2.], [8., 0.], [8., 2.], [8., 4.], [4.01, 1.]];
    let model = Model::polygons(
        points.map(|[x, y]| [x, y, 0.0]).to_vec(),
        vec![vec![0, 1, 2, 3], vec![4, 6, 7], vec![8, 5, 6]],
    );
    let surface = build(model);
    assert_eq!(surface.t_junctions(0.009).unwrap(), []);
    let found = surface.t_junctions(0.011).unwrap();
    assert_eq!(found.iter().map(|at| at.vertex).collect::<Vec<_>>(), [4, 8]);
    for at in found {
        assert_eq!(surface.edges()[at.edge as usize], [1, 2]);
        assert!((at.distance - 0.01).abs() < 1e-12);
    }
    assert_eq!(check(&surface, 0.011), 2);
}

/// A point that two vertices share without a joint between them: both are named.
#[test]
fn vertices_at_one_place_are_all_named() {
    let points = [
        [0., 0., 0.],
        [4., 0., 0.],
        [4., 4., 0.],
        [4., 2., 0.],
        [8., 0., 0.],
        [8., 2., 0.],
        [6., 2., 3.],
        [6., 2., 4.],
    ];
    // The two triangles meet in one point, which makes two vertices of it.
    let surface = build(Model::polygons(points.to_vec(), [[0, 1, 2], [3, 4, 5], [3, 6, 7]]));
    let found = surface.t_junctions(1e-9).unwrap();
    let places: Vec<[f64; 3]> = surface.vertices().collect();
    assert!(
        !found.is_empty() && found.iter().all(|at| places[at.vertex as usize] == [4.0, 2.0, 0.0]),
        "{found:?}"
    );
    assert_eq!(found.len(), places.iter().filter(|&&place| place == [4.0, 2.0, 0.0]).count());
    assert_eq!(check(&surface, 1e-9), found.len());
}

#[test]
fn a_tolerance_that_is_no_length_is_an_error() {
    let surface = build(cube());
    for tolerance in [-1.0, f64::NAN, f64::INFINITY, -1e-300] {
        let error = surface.t_junctions(tolerance).unwrap_err();
        assert!(
            matches!(error, Error::Value { at: Location::Argument, field: "tolerance", .. }),
            "{tolerance}: {error}"
        );
    }
}

/// Thousands of sheets at one place: the time may not grow with the square of their number.
#[test]
fn a_tolerance_that_holds_too_much_is_an_error() {
    let count = 6_000;
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let sheet = |at: u32| corners.map(|[x, y]| [x, y, 1e-9 * f64::from(at)]);
    let points: Vec<[f64; 3]> = (0..count).flat_map(sheet).collect();
    let faces: Vec<[u32; 3]> = (0..count).map(|at| [3 * at, 3 * at + 1, 3 * at + 2]).collect();
    let surface = build(Model::triangles(points, &faces));
    let error = surface.t_junctions(1e-3).unwrap_err().to_string();
    assert_eq!(
        error,
        "tolerance is 0.001, it must be smaller: too many triangles are within it of each vertex"
    );
    assert_eq!(surface.t_junctions(1e-10).unwrap(), []);
}
