//! Models that the tests of surfaces share: made by hand, by seed, or read from the corpus.

pub(crate) mod check;

use std::path::PathBuf;

use check::Point;
use hullfield::navigate::surface::{LoadOptions, Model, Surface};
use hullfield_oracle::pick;
use hullfield_oracle::random::Random;

/// Draws that need a surface.
pub(crate) trait OnSurface {
    /// A point of a surface.
    fn on(&mut self, surface: &Surface) -> Point;
}

impl OnSurface for Random {
    fn on(&mut self, surface: &Surface) -> Point {
        let uniform = std::array::from_fn(|_| self.unit());
        surface.random_point(uniform).unwrap().unwrap().position
    }
}

/// The corpus, where `HULLFIELD_CORPUS` names it; else the test says that it was left out.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("HULLFIELD_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("HULLFIELD_CORPUS is not set: seeded stand-ins only");
    }
    folder
}

/// An OBJ file's points and faces; the corpus needs no more of the format.
pub(crate) fn obj(name: &str) -> Option<(Vec<[f64; 3]>, Model)> {
    let text = std::fs::read_to_string(corpus()?.join("meshes").join(name)).unwrap();
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let (mut points, mut faces) = (Vec::new(), Vec::<Vec<u32>>::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let at: Vec<f64> = words.take(3).map(|word| word.parse().unwrap()).collect();
                points.push([at[0], at[1], at[2]]);
            }
            Some("f") => {
                let corner = |word: &str| {
                    let index: i64 = word.split('/').next().unwrap().parse().unwrap();
                    if index > 0 { index as u32 - 1 } else { (points.len() as i64 + index) as u32 }
                };
                faces.push(words.map(corner).collect());
            }
            _ => {}
        }
    }
    Some((points.clone(), Model::polygons(points, faces)))
}

/// A binary STL file's soup of triangles.
pub(crate) fn stl(name: &str) -> Option<Model> {
    let bytes = std::fs::read(corpus()?.join("meshes").join(name)).unwrap();
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for record in bytes[84..].chunks_exact(50) {
        let first = points.len() as u32;
        for corner in record[12..48].chunks_exact(12) {
            let at = |k: usize| f32::from_le_bytes(corner[4 * k..4 * k + 4].try_into().unwrap());
            points.push([0, 1, 2].map(|k| f64::from(at(k))));
        }
        triangles.push([first, first + 1, first + 2]);
    }
    Some(Model::triangles(points, &triangles))
}

/// The meshes of the corpus.
pub(crate) const MESHES: [&str; 11] = [
    "spot.obj",
    "nav_test.obj",
    "dungeon.obj",
    "undulating.obj",
    "moebius.obj",
    "fan3.obj",
    "wallhole.obj",
    "suzanne.obj",
    "teapot.obj",
    "stanford-bunny.obj",
    "featuretype.STL",
];

/// The names of the bunny (69,451 triangles) and of `count` other meshes (at most 10,133 triangles each). Each run picks others.
pub(crate) fn some_meshes(fixed: u64, count: usize) -> Vec<&'static str> {
    let (large, small): (Vec<_>, Vec<_>) = MESHES.into_iter().partition(|name| name.contains("bunny"));
    [pick(fixed, &small, count), large].concat()
}

/// One of them: the points as the file has them (none of an STL), and the model.
pub(crate) fn mesh(name: &str) -> Option<(Vec<[f64; 3]>, Model)> {
    if name.ends_with("STL") { stl(name).map(|model| (Vec::new(), model)) } else { obj(name) }
}

/// Rows of a CSV of pairs of vertices and a length.
pub(crate) fn pairs(name: &str) -> Option<Vec<([usize; 2], f64)>> {
    let text = std::fs::read_to_string(corpus()?.join("geodesics").join(name)).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        ([cells[0].parse().unwrap(), cells[1].parse().unwrap()], cells[2].parse().unwrap())
    };
    Some(text.lines().skip(1).map(row).collect())
}

/// A cube of edge 1 at the origin, as twelve triangles.
pub(crate) fn cube() -> Model {
    let points = (0..8).map(|i| [f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)]).collect();
    let faces: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Model::polygons(points, faces)
}

/// A band of `count` squares of edge 1 around an axis, closed with half a turn: a Möbius band.
pub(crate) fn moebius(count: u32) -> Model {
    use std::f64::consts::TAU;
    let mut points = Vec::new();
    for i in 0..count {
        let turn = TAU * f64::from(i) / f64::from(count);
        for side in [-0.5, 0.5] {
            let (radius, height) = (4.0 + side * (0.5 * turn).cos(), side * (0.5 * turn).sin());
            points.push([radius * turn.cos(), radius * turn.sin(), height]);
        }
    }
    let mut triangles = Vec::new();
    for i in 0..count {
        let (a, b) = (2 * i, 2 * i + 1);
        // The last square joins the first one upside down.
        let (c, d) = if i + 1 == count { (1, 0) } else { (a + 2, b + 2) };
        triangles.extend([[a, b, c], [b, d, c]]);
    }
    Model::triangles(points, &triangles)
}

/// A bumpy terrain of `n` × `n` squares, from a seed.
pub(crate) fn terrain(n: u32, seed: u64) -> Model {
    let mut random = Random::xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut random = || random.unit();
    let mut points = Vec::new();
    for y in 0..=n {
        for x in 0..=n {
            points.push([
                f64::from(x) + 0.4 * (random() - 0.5),
                f64::from(y) + 0.4 * (random() - 0.5),
                1.5 * random(),
            ]);
        }
    }
    let mut triangles = Vec::new();
    for y in 0..n {
        for x in 0..n {
            let a = y * (n + 1) + x;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            if random() < 0.5 {
                triangles.extend([[a, b, d], [a, d, c]]);
            } else {
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    Model::triangles(points, &triangles)
}

/// The same surface, saved and loaded, with landmarks.
pub(crate) fn with_landmarks(surface: &Surface) -> Surface {
    let options = LoadOptions { landmarks: true, ..LoadOptions::default() };
    Surface::from_bytes(&surface.to_bytes(), options).unwrap()
}

/// The same surface, saved and loaded, where what is further than that from it is off the mesh.
pub(crate) fn with_max_snap(surface: &Surface, max_snap: f64) -> Surface {
    let options = LoadOptions { max_snap: Some(max_snap), ..LoadOptions::default() };
    Surface::from_bytes(&surface.to_bytes(), options).unwrap()
}
