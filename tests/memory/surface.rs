//! The memory of a built surface.

use std::ops::ControlFlow;

use hullfield::navigate::surface::{Model, Options as SurfaceOptions, Place, Surface};
use hullfield_oracle::fuzz::measured;

use crate::models::{moebius, terrain};
use crate::one_at_a_time;

/// The bytes per triangle of a built surface: after the build, and at its peak.
fn bytes_per_triangle(build: impl FnOnce() -> Surface) -> [f64; 2] {
    let (surface, bytes) = measured(build);
    [bytes.kept, bytes.peak].map(|bytes| bytes as f64 / surface.triangles().len() as f64)
}

/// Three sheets of 2 n² triangles each, which share one line.
fn three_sheets(n: u32) -> Model {
    let mut points: Vec<[f64; 3]> = Vec::new();
    let mut triangles = Vec::new();
    for sheet in 0..3 {
        let (sin, cos) = (2.0 * f64::from(sheet)).sin_cos();
        let first = points.len() as u32;
        for x in 0..=n {
            let (x, z) = (f64::from(x) * cos, f64::from(x) * sin);
            points.extend((0..=n).map(|y| [x, f64::from(y), z]));
        }
        for a in (0..n).flat_map(|x| (0..n).map(move |y| first + x * (n + 1) + y)) {
            triangles.extend([[a, a + n + 1, a + 1], [a + 1, a + n + 1, a + n + 2]]);
        }
    }
    Model::triangles(points, &triangles)
}

#[test]
fn a_surface_takes_less_than_200_bytes_per_triangle() {
    let _lock = one_at_a_time();
    // A triangle soup: each triangle has its own three points, and every tenth is there twice.
    let sheet = terrain(90, 5);
    let faces: Vec<&[u32]> = (0..sheet.face_count()).map(|face| sheet.face(face)).collect();
    let soup = faces.iter().chain(faces.iter().step_by(10));
    let soup: Vec<[f64; 3]> =
        soup.flat_map(|face| face.iter().map(|&v| sheet.points()[v as usize])).collect();
    let whole: Vec<[u32; 3]> = (0..soup.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let soup = Model::triangles(soup, &whole);
    for (name, model, interval) in [
        ("sheet", &terrain(150, 4), None),
        ("soup", &soup, None),
        ("three sheets", &three_sheets(100), None),
        ("refined", &moebius(40), Some(0.02)),
    ] {
        let options = SurfaceOptions { interval, ..SurfaceOptions::default() };
        let build =
            || Surface::build(std::slice::from_ref(model), options, |_| ControlFlow::Continue(())).unwrap();
        let [built, peak] = bytes_per_triangle(build);
        // The lower bound is the size of the points, triangles, edges and lengths that the surface gives.
        assert!(built > 100.0 && built < 200.0, "{name}: {built}");
        assert!(peak < 250.0, "{name}: {peak}");
    }
}

/// The most bytes that a call takes for each triangle, on the thread that calls.
fn peak_per_triangle<T>(surface: &Surface, call: impl FnOnce() -> T) -> f64 {
    let (_, bytes) = measured(call);
    bytes.peak as f64 / surface.triangles().len() as f64
}

/// A sheet of 2 n² triangles with hills on it, over which many paths bend.
fn hills(n: u32) -> Model {
    let lift = |[x, y]: [f64; 2]| [x, y, 3.0 * (y / 9.0).sin() * (x / 7.0).cos()];
    let points = (0..(n + 1) * (n + 1)).map(|at| lift([at % (n + 1), at / (n + 1)].map(f64::from))).collect();
    let squares = (0..n).flat_map(|y| (0..n).map(move |x| y * (n + 1) + x));
    let faces: Vec<[u32; 3]> =
        squares.flat_map(|a| [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]).collect();
    Model::triangles(points, &faces)
}

#[test]
fn distances_of_vertices_take_a_tenth_of_a_field() {
    let _lock = one_at_a_time();
    let surface = Surface::new(&[hills(160)], SurfaceOptions::default()).unwrap();
    let field = peak_per_triangle(&surface, || surface.field(Place::Vertex(0)).unwrap().at_vertices());
    let distances = peak_per_triangle(&surface, || surface.distances(Place::Vertex(0)).unwrap());
    assert!(10.0 * distances < field, "{distances} and {field} bytes a triangle");
}
