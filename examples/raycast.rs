//! Raycast: a depth camera's picture of a scene of ten thousand hulls.
//!
//! A ray goes through each pixel, all in one batch. The picture has the depth along the camera's axis, as depth cameras give it: the nearer, the
//! lighter, black where nothing is. A second one is shaded by the normals of what is hit.
//!
//! `cargo run --release --example raycast -- [BODIES] [FOLDER]`

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Quat, Vec3};
use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull, Options, Ray, RayOptions};

const SIZE: [usize; 2] = [640, 480];
/// Half of the camera's field of view, from left to right.
const HALF_VIEW: f32 = 0.55;
/// How far the camera sees, in metres.
const RANGE: f32 = 130.0;
/// Side of the field on which bodies lie, in metres.
const FIELD: f32 = 120.0;

/// A small generator (Marsaglia 2003, xorshift), uniform in 0 … 1: the same scene at every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / 16_777_216.0
    }

    fn signed(&mut self) -> f32 {
        2.0 * self.next() - 1.0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let body_count: usize = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|_| format!("not a count: {text}"))?,
        None => 10_000,
    };
    let folder = std::env::args().nth(2).unwrap_or_else(|| ".".to_owned());
    let engine = Engine::auto()?;
    println!("engine: {}, {}", engine.backend(), engine.reason());

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let hulls = hulls(&mut random)?;
    let mut bodies = vec![Body::new(hulls.len() as u32 - 1)];
    while bodies.len() < body_count {
        let hull = bodies.len() % (hulls.len() - 1);
        let size = 0.4 + 0.8 * random.next() * random.next();
        // Mounds: the nearer to one of some places, the higher bodies may lie.
        let [x, z] = [FIELD * (random.next() - 0.5), FIELD * (random.next() - 0.5)];
        let mound = (0.11 * x).sin() * (0.13 * z + 1.0).cos();
        let y = size + 9.0 * mound.max(0.0) * random.next();
        let turn = Quat::from_euler(glam::EulerRot::XYZ, random.next(), 6.3 * random.next(), random.next());
        let stretch = [0; 3].map(|_| size * (0.7 + 0.6 * random.next()));
        let body = Body::new(hull as u32).at([x, y, z]).rotated(turn.to_array());
        bodies.push(Body { scale: stretch, ..body });
    }

    let eye = Vec3::new(0.0, 16.0, 0.62 * FIELD);
    let forward = (Vec3::new(0.0, 2.0, 0.0) - eye).normalize();
    let right = forward.cross(Vec3::Y).normalize();
    let up = right.cross(forward);
    let [width, height] = SIZE;
    let tangent = HALF_VIEW.tan();
    let rays: Vec<Ray> = (0..width * height)
        .map(|pixel| {
            let x = ((pixel % width) as f32 + 0.5) / width as f32 * 2.0 - 1.0;
            let y = 1.0 - ((pixel / width) as f32 + 0.5) / height as f32 * 2.0;
            let aim = forward + (right * x + up * y * height as f32 / width as f32) * tangent;
            Ray::new(eye.to_array(), aim.to_array()).up_to(RANGE)
        })
        .collect();

    let arena = Arena::new(&engine, &hulls, Options::default())?;
    let start = Instant::now();
    let found = arena.raycasts(&bodies, &rays, &RayOptions::default())?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} rays among {} bodies: {} hits, {:.1} bodies examined a ray, {:.0} ms, {:.2} million rays a second",
        rays.len(),
        bodies.len(),
        found.stats.hit_count,
        found.stats.candidate_count as f64 / rays.len() as f64,
        1e3 * seconds,
        rays.len() as f64 / seconds / 1e6
    );

    let (mut depths, mut shades) = (Vec::new(), Vec::new());
    let light = DVec3::new(0.5, 0.8, 0.4).normalize();
    for row in &found.rows {
        let Some(hit) = row.hit else {
            depths.push(0);
            shades.push(0);
            continue;
        };
        let depth = (DVec3::from(hit.point) - eye.as_dvec3()).dot(forward.as_dvec3());
        depths.push((255.0 - 235.0 * (depth / f64::from(RANGE)).clamp(0.0, 1.0).sqrt()) as u8);
        let normal = hit.normal.map_or(DVec3::ZERO, DVec3::from);
        shades.push((40.0 + 200.0 * normal.dot(light).max(0.0)) as u8);
    }
    for (name, pixels) in [("raycast.png", depths), ("raycast-normals.png", shades)] {
        let file = Path::new(&folder).join(name);
        let mut encoder =
            png::Encoder::new(BufWriter::new(File::create(&file)?), width as u32, height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header()?.write_image_data(&pixels)?;
        println!("wrote {}", file.display());
    }
    Ok(())
}

/// Stones, boxes, cylinders, balls, capsules, boxes with round edges; the last is the ground.
fn hulls(random: &mut Random) -> Result<Vec<Hull>, Box<dyn Error>> {
    let mut hulls = vec![
        Hull::cuboid([1.0, 0.6, 0.8])?,
        Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.6, 24)?,
        Hull::cone([0.0, -1.0, 0.0], [0.0, 1.2, 0.0], 0.9, 24)?,
        Hull::ball(0.9)?,
        Hull::capsule([-0.7, 0.0, 0.0], [0.7, 0.0, 0.0], 0.45)?,
        Hull::cuboid([0.7, 0.5, 0.6])?.rounded(0.25)?,
    ];
    for _ in 0..10 {
        let point = |random: &mut Random| loop {
            let v = [0; 3].map(|_| random.signed());
            let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            if (0.1..1.0).contains(&length) {
                break v.map(|x| x / length);
            }
        };
        let points: Vec<[f32; 3]> = (0..24).map(|_| point(random)).collect();
        hulls.push(Hull::from_points(&points)?);
    }
    hulls.push(Hull::half_space());
    Ok(hulls)
}
