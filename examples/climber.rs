//! A beetle climbs over models: up legs, along ceilings, around edges. It follows the shortest path to each of its posts by arc length,
//! with its feet on the surface and its back along the normal.
//!
//! Two models are made in code: an animal, and a level of halls and pillars, on whose walls and ceilings the beetle walks from inside.
//! Instead it can climb over a given OBJ file. For each model the example writes a picture of the whole path and an animation.
//!
//! `cargo run --release --example climber -- [FOLDER [MODEL.obj]]`

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DVec2, DVec3};
use hullfield::navigate::surface::{
    Model, Options as SurfaceOptions, Path as SurfacePath, PathOptions, PathPlace, Surface,
};

/// The number of frames of an animation, and its size.
const FRAMES: usize = 60;
const SMALL: [usize; 2] = [480, 360];
/// The size of the picture of the whole path.
const LARGE: [usize; 2] = [1200, 900];
/// Samples along one side of a pixel.
const SAMPLES: usize = 2;

/// A model, the beetle's posts on it, and the direction of view.
struct Scene {
    name: String,
    model: Model,
    /// Points on the surface or near it, visited in turn.
    posts: Vec<[f64; 3]>,
    /// From the middle of the model towards the eye.
    eye: DVec3,
    /// The beetle's length.
    size: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/climber".into()));
    std::fs::create_dir_all(&folder)?;
    let scenes = match arguments.next() {
        Some(file) => vec![given(Path::new(&file))?],
        None => vec![animal(), level()],
    };
    for scene in scenes {
        climb(&scene, &folder)?;
    }
    Ok(())
}

/// Walks over one model and writes its pictures.
fn climb(scene: &Scene, folder: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let surface = Surface::new(std::slice::from_ref(&scene.model), SurfaceOptions::default())?;
    let built = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut legs: Vec<SurfacePath> = Vec::new();
    for post in scene.posts.windows(2) {
        let leg = surface.path(post[0], post[1], &PathOptions::default())?;
        if !leg.is_reached() {
            return Err(format!("{}: {:?} is {}", scene.name, post[1], leg.reach.name()).into());
        }
        legs.push(leg);
    }
    let asked = begun.elapsed().as_secs_f64();
    let length: f64 = legs.iter().map(|leg| leg.length).sum();
    println!(
        "{}: {} triangles built in {:.1} ms; {} paths, {length:.2} long, in {:.2} ms",
        scene.name,
        surface.triangles().len(),
        built * 1e3,
        legs.len(),
        asked * 1e3
    );
    // Its place after each part of the whole path.
    let place = |part: f64| -> Option<PathPlace> {
        let mut at = part * length;
        let last = legs.len() - 1;
        for (i, leg) in legs.iter().enumerate() {
            if at <= leg.length || i == last {
                return leg.at(at);
            }
            at -= leg.length;
        }
        None
    };
    let vertices: Vec<DVec3> = surface.vertices().map(DVec3::from).collect();
    let trail: Vec<PathPlace> = (0..=1200).filter_map(|i| place(f64::from(i) / 1200.0)).collect();
    let mut upside_down = 0;
    for pair in trail.windows(2) {
        // Its feet are on the reported triangle, and it never jumps.
        let corners = surface.triangles()[pair[0].triangle as usize].map(|corner| vertices[corner as usize]);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        let height = (DVec3::from(pair[0].position) - corners[0]).dot(normal);
        assert!(
            height.abs() < 1e-9 * scene.eye.length().max(1.0),
            "the beetle is {height} above the surface"
        );
        let step = DVec3::from(pair[0].position).distance(pair[1].position.into());
        assert!(step <= length / 1200.0 * (1.0 + 1e-9), "the beetle has jumped by {step}");
        upside_down += usize::from(pair[0].normal[1] < -0.3);
    }
    println!("  upside down for {:.0} % of the way", 100.0 * upside_down as f64 / trail.len() as f64);

    // The whole path, with the beetle at several places.
    let mut still = Canvas::new(LARGE, &vertices, scene.eye);
    still.model(&surface, &vertices);
    still.trail(&trail, scene.size);
    for i in 0..12_u8 {
        if let Some(place) = place((f64::from(i) + 0.5) / 12.0) {
            still.beetle(&place, scene.size, i.into());
        }
    }
    let file = folder.join(format!("{}.png", scene.name));
    encoder(&file, LARGE)?.write_header()?.write_image_data(&still.finish())?;
    println!("  wrote {}", file.display());

    // The walk, seen from a camera that swings back and forth.
    let file = folder.join(format!("{}-walk.png", scene.name));
    let mut walk = encoder(&file, SMALL)?;
    walk.set_animated(FRAMES as u32, 0)?;
    walk.set_frame_delay(1, 15)?;
    let mut walk = walk.write_header()?;
    for frame in 0..FRAMES {
        let part = frame as f64 / FRAMES as f64;
        let swing = 0.45 * (std::f64::consts::TAU * part).sin();
        let eye = glam::DQuat::from_rotation_y(swing) * scene.eye;
        let mut canvas = Canvas::new(SMALL, &vertices, eye);
        canvas.model(&surface, &vertices);
        let done = trail.len() * frame / FRAMES;
        canvas.trail(&trail[..done.max(1)], scene.size);
        if let Some(place) = place(part) {
            canvas.beetle(&place, 1.4 * scene.size, frame);
        }
        walk.write_image_data(&canvas.finish())?;
    }
    walk.finish()?;
    println!("  wrote {}", file.display());
    Ok(())
}

fn encoder(file: &Path, size: [usize; 2]) -> Result<png::Encoder<'static, BufWriter<File>>, Box<dyn Error>> {
    let [width, height] = size.map(|side| side as u32);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(file)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    Ok(encoder)
}

/// An animal of blended capsules: an isosurface over a grid of tetrahedra.
fn animal() -> Scene {
    let limbs: [([f64; 3], [f64; 3], f64); 11] = [
        ([-0.8, 1.15, 0.0], [0.7, 1.2, 0.0], 0.52),
        ([-0.75, 0.9, 0.32], [-0.8, 0.15, 0.36], 0.2),
        ([-0.75, 0.9, -0.32], [-0.8, 0.15, -0.36], 0.2),
        ([0.65, 0.9, 0.32], [0.7, 0.15, 0.36], 0.2),
        ([0.65, 0.9, -0.32], [0.7, 0.15, -0.36], 0.2),
        ([0.8, 1.35, 0.0], [1.25, 1.85, 0.0], 0.33),
        ([1.25, 1.95, 0.0], [1.7, 1.8, 0.0], 0.3),
        ([1.2, 2.15, 0.2], [1.05, 2.6, 0.38], 0.08),
        ([1.2, 2.15, -0.2], [1.05, 2.6, -0.38], 0.08),
        ([-1.25, 1.35, 0.0], [-1.75, 1.85, 0.0], 0.1),
        ([-1.75, 1.85, 0.0], [-1.95, 1.6, 0.0], 0.1),
    ];
    let outside = |at: DVec3| {
        limbs.iter().fold(f64::INFINITY, |near, &(from, to, radius)| {
            let (from, to) = (DVec3::from(from), DVec3::from(to));
            let part = ((at - from).dot(to - from) / (to - from).length_squared()).clamp(0.0, 1.0);
            let own = at.distance(from.lerp(to, part)) - radius;
            // Points near two capsules blend them.
            let blend = (0.18 - (near - own).abs()).max(0.0) / 0.18;
            near.min(own) - 0.25 * 0.18 * blend * blend
        })
    };
    let (low, step) = (DVec3::new(-2.3, -0.3, -0.9), 0.0613);
    let counts = [77, 56, 30];
    let corner = |cell: [usize; 3]| low + step * DVec3::from(cell.map(|at| at as f64));
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let at = |k: usize| corner([x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)]);
                for [a, b] in [[1, 2], [2, 1], [1, 4], [4, 1], [2, 4], [4, 2]] {
                    let cut = [0, a, a | b, 7].map(|k| (at(k), outside(at(k))));
                    tetrahedron(cut, &mut points, &mut triangles);
                }
            }
        }
    }
    let posts = vec![
        [0.0, 0.55, 0.0],
        [-0.8, 1.75, 0.1],
        [-1.95, 1.5, 0.0],
        [-0.8, 0.1, 0.6],
        [0.6, 1.2, 0.6],
        [1.05, 2.7, 0.38],
        [2.1, 1.8, 0.0],
        [0.7, 0.1, 0.5],
    ];
    let model = Model::triangles(points, &triangles);
    Scene { name: "animal".into(), model, posts, eye: DVec3::new(0.9, 0.42, 2.0), size: 0.2 }
}

/// Where the surface crosses a tetrahedron: corners, and how far outside each is.
fn tetrahedron(corners: [(DVec3, f64); 4], points: &mut Vec<[f64; 3]>, triangles: &mut Vec<[u32; 3]>) {
    let (inner, outer): (Vec<_>, Vec<_>) = corners.into_iter().partition(|corner| corner.1 < 0.0);
    if inner.is_empty() || outer.is_empty() {
        return;
    }
    // From the same end in every tetrahedron, so that equal points are equal bit for bit.
    let cut = |a: (DVec3, f64), b: (DVec3, f64)| a.0 + (b.0 - a.0) * (a.1 / (a.1 - b.1));
    let ring: Vec<DVec3> = match (&inner[..], &outer[..]) {
        (&[a], &[b, c, d]) => vec![cut(a, b), cut(a, c), cut(a, d)],
        (&[a, b], &[c, d]) => vec![cut(a, c), cut(a, d), cut(b, d), cut(b, c)],
        (&[a, b, c], &[d]) => vec![cut(a, d), cut(b, d), cut(c, d)],
        _ => return,
    };
    let normal = (ring[1] - ring[0]).cross(ring[2] - ring[0]);
    let out = outer[0].0 - inner[0].0;
    let first = points.len() as u32;
    points.extend(ring.iter().map(DVec3::to_array));
    for k in 1..ring.len() as u32 - 1 {
        let [a, b, c] = [first, first + k, first + k + 1];
        triangles.push(if normal.dot(out) > 0.0 { [a, b, c] } else { [a, c, b] });
    }
}

/// Halls, a gallery, pillars and a beam, made of cubes. The surface is what the air inside touches.
fn level() -> Scene {
    const SIZE: [i32; 3] = [26, 9, 16];
    let within =
        |at: [i32; 3], low: [i32; 3], high: [i32; 3]| (0..3).all(|k| (low[k]..high[k]).contains(&at[k]));
    let is_air = |at: [i32; 3]| {
        let hall = within(at, [1, 1, 1], [15, 8, 15]);
        let door = within(at, [15, 1, 6], [17, 4, 10]);
        let window = within(at, [15, 5, 2], [17, 7, 5]);
        let court = within(at, [17, 1, 1], [25, 6, 15]);
        let pillar = [[4, 4], [4, 11], [10, 4], [10, 11]]
            .iter()
            .any(|&[x, z]| within(at, [x, 0, z], [x + 1, 9, z + 1]));
        let beam = within(at, [0, 6, 7], [16, 7, 9]);
        let gallery = within(at, [1, 4, 12], [9, 5, 15]);
        let steps = (0..4).any(|k| within(at, [9 + k, 1, 12], [10 + k, 5 - k, 15]));
        let block = within(at, [20, 1, 5], [23, 4, 9]);
        (hall || door || window || court) && !(pillar || beam || gallery || steps || block)
    };
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for z in 0..SIZE[2] {
        for y in 0..SIZE[1] {
            for x in 0..SIZE[0] {
                if !is_air([x, y, z]) {
                    continue;
                }
                for side in 0..6 {
                    let (axis, is_high) = (side / 2, side % 2 == 1);
                    let mut beyond = [x, y, z];
                    beyond[axis] += if is_high { 1 } else { -1 };
                    if is_air(beyond) {
                        continue;
                    }
                    let mut corner = [x, y, z].map(f64::from);
                    corner[axis] += if is_high { 1.0 } else { 0.0 };
                    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
                    let first = points.len() as u32;
                    for [du, dv] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                        let mut point = corner;
                        (point[u], point[v]) = (point[u] + du, point[v] + dv);
                        points.push(point);
                    }
                    // Oriented towards the air.
                    let order = if is_high { [0, 3, 2, 1] } else { [0, 1, 2, 3] };
                    faces.push(order.map(|k| first + k));
                }
            }
        }
    }
    let posts = vec![
        [2.5, 1.0, 9.5],
        [1.0, 4.5, 3.5],
        [6.5, 8.0, 2.5],
        [11.5, 7.0, 8.0],
        [5.5, 5.0, 13.5],
        [13.5, 1.0, 6.5],
        [21.5, 4.0, 7.5],
        [24.5, 6.0, 12.5],
    ];
    let model = Model::polygons(points, faces);
    Scene { name: "level".into(), model, posts, eye: DVec3::new(-4.0, 22.0, 26.0), size: 0.9 }
}

/// The user's model, and posts all over it.
fn given(file: &Path) -> Result<Scene, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (mut points, mut faces) = (Vec::<[f64; 3]>::new(), Vec::<Vec<u32>>::new());
    for (line, row) in text.replace("\\\n", " ").lines().zip(1..) {
        let wrong = || format!("{}: statement {row}: \"{line}\" is not understood", file.display());
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let parts: Vec<f64> = words.take(3).map_while(|word| word.parse().ok()).collect();
                points.push(parts.try_into().map_err(|_| wrong())?);
            }
            Some("f") => {
                let corner = |word: &str| {
                    let number: i64 = word.split('/').next()?.parse().ok()?;
                    u32::try_from(if number < 0 { points.len() as i64 + number } else { number - 1 }).ok()
                };
                faces.push(words.map(corner).collect::<Option<_>>().ok_or_else(wrong)?);
            }
            _ => {}
        }
    }
    let model = Model::polygons(points, faces);
    let surface = Surface::new(std::slice::from_ref(&model), SurfaceOptions::default())?;
    let [low, high] = surface.bounds().map(DVec3::from);
    // The corners of its box, each moved to the surface, on the island of the first.
    let corner = |k: usize| DVec3::select(glam::BVec3::new(k & 1 == 1, k & 2 == 2, k & 4 == 4), high, low);
    let mut posts: Vec<[f64; 3]> = Vec::new();
    for k in [0, 7, 2, 5, 1, 6] {
        let post = corner(k).to_array();
        if posts.last().is_none_or(|&last| {
            surface.path(last, post, &PathOptions::default()).is_ok_and(|path| path.is_reached())
        }) {
            posts.push(post);
        }
    }
    let name = file.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned());
    let eye = DVec3::new(0.55, 0.45, 1.0).normalize() * 1.6 * low.distance(high);
    Ok(Scene { name, model, posts, eye, size: 0.045 * low.distance(high) })
}

/// A picture with a depth buffer. Back faces are not drawn, so that rooms are open towards the eye.
struct Canvas {
    size: [usize; 2],
    light: Vec<DVec3>,
    nearness: Vec<f64>,
    eye: DVec3,
    /// Right, up and ahead.
    axes: [DVec3; 3],
    scale: f64,
}

impl Canvas {
    /// A camera that sees all points, in this direction from their middle.
    fn new(size: [usize; 2], points: &[DVec3], direction: DVec3) -> Self {
        let low = points.iter().fold(DVec3::INFINITY, |low, &at| low.min(at));
        let high = points.iter().fold(DVec3::NEG_INFINITY, |high, &at| high.max(at));
        let middle = 0.5 * (low + high);
        let ahead = -direction.normalize();
        let right = ahead.cross(DVec3::Y).normalize();
        let axes = [right, right.cross(ahead), ahead];
        let size = size.map(|side| side * SAMPLES);
        let slope = 0.24;
        let aspect = size[0] as f64 / size[1] as f64;
        let away = |&at: &DVec3| {
            let [x, y, z] = axes.map(|axis| axis.dot(at - middle));
            (x.abs() / aspect).max(y.abs()) / (0.92 * slope) - z
        };
        let distance = points.iter().map(away).fold(0.0, f64::max);
        let ground = |row: usize| {
            let part = row as f64 / size[1] as f64;
            DVec3::new(0.70, 0.74, 0.79).lerp(DVec3::new(0.86, 0.85, 0.83), part)
        };
        Self {
            size,
            light: (0..size[0] * size[1]).map(|i| ground(i / size[0])).collect(),
            nearness: vec![0.0; size[0] * size[1]],
            eye: middle - ahead * distance,
            axes,
            scale: 0.5 * size[1] as f64 / slope,
        }
    }

    fn project(&self, point: DVec3) -> (DVec2, f64) {
        let [x, y, z] = self.axes.map(|axis| axis.dot(point - self.eye));
        let middle = 0.5 * DVec2::new(self.size[0] as f64, self.size[1] as f64);
        (middle + DVec2::new(x, -y) * (self.scale / z), 1.0 / z)
    }

    fn triangle(&mut self, corners: [DVec3; 3], colour: DVec3) {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        if normal.dot(self.eye - corners[0]) <= 0.0 {
            return;
        }
        let sun = DVec3::new(0.35, 0.8, 0.5).normalize();
        let light = 0.42
            + 0.14 * normal.y
            + 0.44 * normal.dot(sun).max(0.0)
            + 0.10 * normal.dot(-self.axes[2]).max(0.0);
        let seen = corners.map(|corner| self.project(corner));
        let [a, b, c] = seen.map(|(at, _)| at);
        let area = (b - a).perp_dot(c - a);
        if seen.iter().any(|&(_, nearness)| nearness <= 0.0) || area == 0.0 {
            return;
        }
        let span = |low: f64, high: f64, side: usize| {
            (low - 0.5).ceil().max(0.0) as usize..((high + 0.5).floor().max(0.0) as usize).min(side)
        };
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        for y in span(low.y, high.y, self.size[1]) {
            for x in span(low.x, high.x, self.size[0]) {
                let at = DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                let weights = [(c - b).perp_dot(at - b), (a - c).perp_dot(at - c), (b - a).perp_dot(at - a)];
                if weights.iter().all(|weight| weight / area >= 0.0) {
                    let nearness: f64 = (0..3).map(|k| weights[k] / area * seen[k].1).sum();
                    let index = y * self.size[0] + x;
                    if nearness > self.nearness[index] {
                        self.nearness[index] = nearness;
                        self.light[index] = colour * light;
                    }
                }
            }
        }
    }

    fn model(&mut self, surface: &Surface, vertices: &[DVec3]) {
        for (i, triangle) in surface.triangles().iter().enumerate() {
            let face = surface.source(i as u32).map_or(0, |source| source.face);
            let shade = 1.0 - 0.02 * f64::from(face.wrapping_mul(0x9e37_79b9) >> 30);
            self.triangle(
                triangle.map(|corner| vertices[corner as usize]),
                shade * DVec3::new(0.93, 0.94, 0.95),
            );
        }
    }

    /// An ellipsoid, given by three axes.
    fn ball(&mut self, centre: DVec3, axes: [DVec3; 3], colour: DVec3) {
        const DOWN: usize = 8;
        let at = |row: usize, column: usize| {
            let (sin, cos) = (std::f64::consts::PI * row as f64 / DOWN as f64).sin_cos();
            let (y, x) = (std::f64::consts::PI * column as f64 / DOWN as f64).sin_cos();
            centre + axes[0] * (sin * x) + axes[1] * cos + axes[2] * (sin * y)
        };
        for row in 0..DOWN {
            for column in 0..2 * DOWN {
                let [a, b, c, d] =
                    [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)];
                for corners in [[a, b, c], [a, c, d]] {
                    let out =
                        (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(corners[0] - centre)
                            > 0.0;
                    let [a, b, c] = corners;
                    self.triangle(if out { [a, b, c] } else { [a, c, b] }, colour);
                }
            }
        }
    }

    /// A band on the surface.
    fn trail(&mut self, trail: &[PathPlace], size: f64) {
        for pair in trail.windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|place| {
                let (at, normal) = (DVec3::from(place.position), DVec3::from(place.normal));
                let aside = normal.cross(place.tangent.into()).normalize_or_zero() * (0.07 * size);
                let at = at + normal * (0.05 * size);
                [at - aside, at + aside]
            });
            for corners in [[from[0], to[0], to[1]], [from[0], to[1], from[1]]] {
                self.triangle(corners, DVec3::new(0.98, 0.42, 0.12));
                let [a, b, c] = corners;
                self.triangle([a, c, b], DVec3::new(0.98, 0.42, 0.12));
            }
        }
    }

    /// Two wing cases, a head, and six legs that step in turn.
    fn beetle(&mut self, place: &PathPlace, size: f64, step: usize) {
        let up = DVec3::from(place.normal);
        let tangent = DVec3::from(place.tangent);
        let ahead = (tangent - up * up.dot(tangent)).normalize_or(tangent);
        let aside = up.cross(ahead);
        let centre = DVec3::from(place.position) + up * (0.2 * size);
        let [long, wide, high] = [ahead, aside, up].map(|axis| axis * size);
        let (shell, black) = (DVec3::new(0.10, 0.42, 0.86), DVec3::new(0.10, 0.11, 0.14));
        for side in [-1.0, 1.0] {
            self.ball(
                centre - 0.1 * long + 0.13 * side * wide,
                [0.42 * long, 0.17 * high, 0.17 * wide],
                shell,
            );
            self.ball(
                centre + 0.52 * long + 0.1 * side * wide + 0.08 * high,
                [0.05 * long, 0.05 * high, 0.05 * wide],
                DVec3::ONE,
            );
            for leg in -1..=1 {
                let swing = if (step as i32 + leg + (side as i32 + 1) / 2) % 2 == 0 { 0.09 } else { -0.09 };
                let foot = centre + (0.28 * f64::from(leg) + swing) * long + 0.42 * side * wide - 0.14 * high;
                let hip = centre + 0.2 * f64::from(leg) * long + 0.2 * side * wide;
                let along = 0.5 * (foot - hip);
                let (right, out) = along.normalize_or(up).any_orthonormal_pair();
                self.ball(
                    0.5 * (hip + foot),
                    [along * 1.1, right * (0.035 * size), out * (0.035 * size)],
                    black,
                );
            }
        }
        self.ball(centre + 0.4 * long, [0.17 * long, 0.14 * high, 0.17 * wide], black);
    }

    /// The average of each pixel's samples, as bytes.
    fn finish(&self) -> Vec<u8> {
        let [width, height] = self.size.map(|side| side / SAMPLES);
        let mut bytes = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            for x in 0..width {
                let sample = |k: usize| {
                    let (column, row) = (x * SAMPLES + k % SAMPLES, y * SAMPLES + k / SAMPLES);
                    self.light[row * self.size[0] + column]
                };
                let sum: DVec3 = (0..SAMPLES * SAMPLES).map(sample).sum();
                let mean = sum / (SAMPLES * SAMPLES) as f64;
                bytes.extend(mean.to_array().map(|part| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8));
            }
        }
        bytes
    }
}
