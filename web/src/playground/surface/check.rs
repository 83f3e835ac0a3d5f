//! Checks paths and distances: lengths that are known, the methods against each other, and that paths stay on the surface.

use glam::DVec3;
use hullfield::navigate::surface::{Method, Model, Options, Path, PathOptions, Point, Surface};
use serde_json::{Value, json};

use crate::playground::seed::Random;
use crate::playground::surface::second::distances;
use crate::playground::surface::shapes::SHAPES;

/// Paths over each shape.
const PATH_COUNT: usize = 12;
/// Relative to the length of a path, or to the size of a surface: rounding.
const TOLERANCE: f64 = 1e-9;
/// The tolerance of the paths that the page shows, relative to the shortest.
const GEODESIC: f64 = 1e-3;

fn sentence(error: hullfield::Error) -> String {
    format!("{error}.")
}

/// Checks shapes whose lengths are known, and paths over the page's own.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn check() -> Result<Value, String> {
    let known = known_lengths()?;
    let (mut path_count, mut longer_count) = (0, 0);
    let mut random = Random::new(7);
    for (name, shape) in SHAPES {
        let surface = Surface::new(&[shape.model(1500)], Options::default()).map_err(sentence)?;
        let [low, high] = surface.bounds().map(DVec3::from);
        let size = low.distance(high);
        let vertex_count = surface.vertices().len();
        for _ in 0..PATH_COUNT {
            let mut place = || [(); 3].map(|()| random.unit());
            let ends = [place(), place()].map(|at| surface.random_point(at).map_err(sentence));
            let [Ok(Some(start)), Ok(Some(goal))] = ends else {
                return Err(format!("The {name} has no points."));
            };
            let find = |method: Method| {
                let path = surface.path(start, goal, &PathOptions::from(method)).map_err(sentence)?;
                judge(&surface, size, &path)?;
                Ok::<f64, String>(path.length)
            };
            let exact = find(Method::Exact)?;
            let geodesic = find(Method::Geodesic { tolerance: GEODESIC })?;
            let funnel = find(Method::Funnel)?;
            let back = surface.path(goal, start, &PathOptions::from(Method::Exact)).map_err(sentence)?.length;
            let field = surface.field(start).map_err(sentence)?;
            let distance = field.distance(goal).map_err(sentence)?.unwrap_or(f64::INFINITY);
            let is_near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * size;
            if !is_near(exact, back) || !is_near(exact, distance) {
                return Err(format!(
                    "The {name}: the path is {exact} long, back it is {back}, and the distance is {distance}."
                ));
            }
            let least = exact - TOLERANCE * size;
            if geodesic < least || geodesic > (1.0 + GEODESIC) * exact + TOLERANCE * size || funnel < least {
                return Err(format!(
                    "The {name}: the shortest path is {exact} long, the geodesic {geodesic}, the funnel {funnel}."
                ));
            }
            longer_count += usize::from(funnel > exact + TOLERANCE * size);
            path_count += 1;
        }
        // What is drawn at a vertex is the length of the path to it.
        let start = surface.random_point([0.3, 0.6, 0.2]).map_err(sentence)?;
        let start: Point = start.ok_or_else(|| format!("The {name} has no points."))?;
        let drawn = distances(&surface, start).map_err(sentence)?;
        for vertex in (0..vertex_count).step_by(vertex_count / 5) {
            let goal = surface.vertices().nth(vertex).unwrap_or_default();
            let path = surface.path(start, goal, &PathOptions::from(Method::Exact)).map_err(sentence)?;
            let value = drawn.get(vertex).copied().unwrap_or(f32::INFINITY);
            if (f64::from(value) - path.length).abs() > 1e-6 * size {
                return Err(format!(
                    "The {name}: the band at a vertex is {value}, the path {}.",
                    path.length
                ));
            }
        }
    }
    Ok(json!({"known": known, "paths": path_count, "longer": longer_count}))
}

/// Compares paths over faces of a cube and of other shapes with their known lengths. Returns the number of paths.
fn known_lengths() -> Result<usize, String> {
    let cube: Vec<_> = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    let cube = Model::polygons(
        cube,
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]],
    );
    let square = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    // A cylinder of flat sides, without lids: three of its sides, unrolled, are a rectangle.
    const SIDES: u32 = 12;
    let corner = |side: u32, z: f64| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(side) / f64::from(SIDES)).sin_cos();
        [cos, sin, z]
    };
    let rim = (0..SIDES).flat_map(|side| [corner(side, 0.0), corner(side, 2.0)]).collect();
    let sides = (0..SIDES).map(|side| {
        let next = (side + 1) % SIDES;
        [2 * side, 2 * next, 2 * next + 1, 2 * side + 1]
    });
    let side = 2.0 * (std::f64::consts::PI / f64::from(SIDES)).sin();
    let cases: [(&str, Model, [[f64; 3]; 2], f64); 4] = [
        ("a square", Model::polygons(square, [[0, 1, 2, 3]]), [[0.1, 0.2, 0.0], [0.9, 0.8, 0.0]], 1.0),
        // Over one edge, and between the middles of opposite faces.
        ("a cube", cube.clone(), [[0.5, 0.5, 0.0], [1.0, 0.5, 0.5]], 1.0),
        ("a cube", cube, [[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]], 2.0),
        (
            "a cylinder",
            Model::polygons(rim, sides),
            [corner(0, 0.25), corner(3, 1.75)],
            (3.0 * side).hypot(1.5),
        ),
    ];
    let count = cases.len();
    for (name, model, [start, goal], expected) in cases {
        let surface = Surface::new(&[model], Options::default()).map_err(sentence)?;
        for method in [Method::Exact, Method::Geodesic { tolerance: GEODESIC }] {
            let path = surface.path(start, goal, &PathOptions::from(method)).map_err(sentence)?;
            let is_longer = path.length / expected - 1.0;
            let allowed = if method == Method::Exact { TOLERANCE } else { GEODESIC + TOLERANCE };
            if !(-TOLERANCE..=allowed).contains(&is_longer) {
                return Err(format!("A path over {name} has the length {}, not {expected}.", path.length));
            }
            judge(&surface, 2.0, &path)?;
        }
    }
    Ok(count)
}

/// Whether a path lies on the surface, at its points and between them, and its length is that of its pieces.
fn judge(surface: &Surface, size: f64, path: &Path) -> Result<(), String> {
    if path.points.len() < 2 {
        return Err(format!("A path between points of one surface has {} points.", path.points.len()));
    }
    let mut length = 0.0;
    for pair in path.points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(DVec3::from);
        length += from.distance(to);
        for share in [0.0, 0.3, 0.7] {
            let at = from.lerp(to, share).to_array();
            let far =
                surface.nearest_point(at).map_err(sentence)?.map_or(f64::INFINITY, |point| point.distance);
            if far > TOLERANCE * size {
                return Err(format!("A path leaves its surface by {far}."));
            }
        }
    }
    if (length - path.length).abs() > TOLERANCE * size {
        return Err(format!("A path of pieces of {length} says that it is {} long.", path.length));
    }
    Ok(())
}
