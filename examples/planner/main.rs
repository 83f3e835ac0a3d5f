//! Planner: ten thousand postures and a thousand paths of an arm of seven joints among shelves, as a robot's planner asks.
//!
//! Paths are straight in the space of the joints. Their samples are poses of the links; between samples joints turn at constant rates, which
//! is not quite what `JointPath` takes links to do. So each step has a bound of the difference, and a path that is called free is free along
//! the arcs of the joints too, not only at its samples. Paths that are left undecided are sampled more finely and asked again.
//!
//! The picture shows the scene, and the arm along the longest of the free paths.
//!
//! `cargo run --release --example planner -- [POSTURES] [PATHS] [FOLDER]`

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use glam::{DQuat, DVec3, Vec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Exclusions, Hull, JointPath, JointStep, LinkPose, Options, PathOptions,
    PathOutcome, Ray, RayOptions, joint_deviation,
};

/// Number of joints. Link 0 is the base, which does not move; link `i` follows joint `i`.
const JOINTS: usize = 7;
const LINKS: usize = JOINTS + 1;

/// From each joint to the next along the arm, in metres: the last is the hand's.
const LENGTHS: [f64; LINKS] = [0.33, 0.16, 0.2, 0.2, 0.2, 0.18, 0.1, 0.12];
/// The axis of each joint in its link: along the arm, and across it in turn.
const AXES: [DVec3; JOINTS] = [DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z];
/// How far each joint turns to either side, in radians.
const LIMITS: [f64; JOINTS] = [2.9, 1.8, 2.9, 2.2, 2.9, 2.0, 2.9];

/// Steps are at most this long: the sum of what all joints turn, in radians.
const STEP: f64 = 0.1;

const SIZE: [usize; 2] = [800, 600];

/// A small generator (Marsaglia 2003, xorshift), uniform in 0 … 1: the same scene at every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn configuration(&mut self) -> [f64; JOINTS] {
        LIMITS.map(|limit| limit * (2.0 * self.next() - 1.0))
    }
}

/// The arm and its surroundings.
struct Scene {
    hulls: Vec<Hull>,
    /// The bodies of links, placed in their links, and the link of each.
    bodies: Vec<Body>,
    owners: Vec<u32>,
    /// The allowed-collision matrix.
    exclusions: Exclusions,
    statics: Vec<Body>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |at: usize, default: usize| match std::env::args().nth(at) {
        Some(text) => text.parse().map_err(|_| format!("not a count: {text}")),
        None => Ok(default),
    };
    let (posture_count, path_count) = (argument(1, 10_000)?, argument(2, 1_000)?);
    let folder = std::env::args().nth(3).unwrap_or_else(|| ".".to_owned());
    let scene = scene()?;
    let options = Options { statics: scene.statics.clone(), ..Default::default() };
    let arena = Arena::new(&Engine::auto()?, &scene.hulls, options)?;
    let links = BodyColumns {
        owners: &scene.owners,
        exclusions: Some(&scene.exclusions),
        ..BodyColumns::new(&scene.bodies)
    };

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let configurations: Vec<[f64; JOINTS]> = (0..posture_count).map(|_| random.configuration()).collect();
    let poses: Vec<LinkPose> = configurations.iter().flat_map(|values| links_at(values).map(pose)).collect();
    let start = Instant::now();
    let found = arena.postures(links, posture_count, &poses)?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{posture_count} postures: {} free, {} hit; {:.1} ms, {:.0} postures a second",
        posture_count as u64 - found.stats.hit_count,
        found.stats.hit_count,
        1e3 * seconds,
        posture_count as f64 / seconds
    );

    // Paths from free postures to free postures, as planners try.
    let free: Vec<&[f64; JOINTS]> =
        found.rows.iter().zip(&configurations).filter(|(row, _)| row.is_free()).map(|(_, q)| q).collect();
    if free.len() < 2 {
        return Err("no two postures are free".into());
    }
    let mut pick = || free[(random.next() * free.len() as f64) as usize];
    let ends: Vec<[&[f64; JOINTS]; 2]> = (0..path_count).map(|_| [pick(), pick()]).collect();
    let mut outcomes = vec![PathOutcome::Undecided; path_count];
    let mut open: Vec<usize> = (0..path_count).collect();
    let (mut step, mut asked, mut seconds) = (STEP, 0, 0.0);
    while !open.is_empty() && step > 1e-3 {
        let courses: Vec<Course> =
            open.iter().map(|&at| Course::new(ends[at][0], ends[at][1], step)).collect();
        let paths: Vec<JointPath<'_>> = courses.iter().map(Course::path).collect();
        let start = Instant::now();
        let found = arena.joint_paths(links, &paths, &PathOptions::default())?.wait()?;
        seconds += start.elapsed().as_secs_f64();
        asked += paths.len();
        let count = |outcome| found.rows.iter().filter(|row| row.outcome == outcome).count();
        println!(
            "{} paths in steps of {step} radians: {} free, {} hit, {} undecided; {:.1} samples a path, {:.2} advanced pairs a sample",
            paths.len(),
            count(PathOutcome::Free),
            count(PathOutcome::Hit),
            count(PathOutcome::Undecided),
            courses.iter().map(|course| course.sample_count as f64).sum::<f64>() / courses.len() as f64,
            found.stats.settled_count as f64
                / courses.iter().map(|course| course.sample_count as f64).sum::<f64>(),
        );
        for (&at, row) in open.iter().zip(&found.rows) {
            outcomes[at] = row.outcome;
        }
        open.retain(|&at| outcomes[at] == PathOutcome::Undecided);
        step *= 0.25;
    }
    println!("{asked} paths in {:.1} ms, {:.0} paths a second", 1e3 * seconds, asked as f64 / seconds);

    let length = |at: &&usize| (0..JOINTS).map(|k| (ends[**at][1][k] - ends[**at][0][k]).abs()).sum::<f64>();
    let is_free: Vec<usize> = (0..path_count).filter(|&at| outcomes[at] == PathOutcome::Free).collect();
    let longest = is_free.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
    let shown = longest.map_or([free[0]; 2], |&at| ends[at]);
    draw(&scene, shown, &Path::new(&folder).join("planner.png"))
}

/// A path: the poses of its samples, and how far joints take the links from the motion between these.
struct Course {
    sample_count: usize,
    poses: Vec<LinkPose>,
    deviations: Vec<f64>,
}

impl Course {
    fn new(from: &[f64; JOINTS], to: &[f64; JOINTS], step: f64) -> Self {
        let total: f64 = from.iter().zip(to).map(|(a, b)| (b - a).abs()).sum();
        let step_count = (total / step).ceil().max(1.0) as usize;
        let at = |sample: usize| {
            let share = sample as f64 / step_count as f64;
            std::array::from_fn::<f64, JOINTS, _>(|k| from[k] + (to[k] - from[k]) * share)
        };
        let poses = (0..=step_count).flat_map(|sample| links_at(&at(sample)).map(pose)).collect();
        // All steps are alike. No point of a link is farther from a joint's axis than the arm is long from there on.
        let deviation = |link: usize| {
            let joint = |joint: usize| JointStep::Revolute {
                angle: (to[joint] - from[joint]) / step_count as f64,
                reach: LENGTHS[joint + 1..=link].iter().sum::<f64>() + RADIUS,
            };
            let joints: Vec<JointStep> = (0..link).map(joint).collect();
            joint_deviation(&joints, LENGTHS[link] + RADIUS)
        };
        let of_step: Vec<f64> = (0..LINKS).map(deviation).collect();
        Self { sample_count: step_count + 1, poses, deviations: of_step.repeat(step_count) }
    }

    fn path(&self) -> JointPath<'_> {
        JointPath::new(self.sample_count, &self.poses).within(&self.deviations)
    }
}

/// Forward kinematics: where each link is, and how it is turned.
fn links_at(values: &[f64; JOINTS]) -> [(DVec3, DQuat); LINKS] {
    let mut links = [(DVec3::ZERO, DQuat::IDENTITY); LINKS];
    for joint in 0..JOINTS {
        let (position, rotation) = links[joint];
        let turn = DQuat::from_axis_angle(AXES[joint], values[joint]);
        links[joint + 1] = (position + rotation * DVec3::Z * LENGTHS[joint], (rotation * turn).normalize());
    }
    links
}

fn pose((position, rotation): (DVec3, DQuat)) -> LinkPose {
    LinkPose { position: position.to_array(), rotation: rotation.to_array() }
}

/// Half of the thickness of the links, in metres.
const RADIUS: f64 = 0.07;

/// Links of boxes, capsules and cylinders; two shelves, a table, some balls and boxes on it, and the floor.
fn scene() -> Result<Scene, Box<dyn Error>> {
    let radius = RADIUS as f32;
    let mut hulls = vec![Hull::cylinder([0.0; 3], [0.0, 0.0, 0.28], 0.1, 16)?];
    let mut bodies = vec![Body::new(0)];
    let mut owners = vec![0];
    for (link, length) in (1..).zip(&LENGTHS[1..]) {
        let (length, thin) = (*length as f32, radius - 0.006 * link as f32);
        if link == JOINTS {
            // The hand: a palm and two fingers.
            let parts = [
                ([0.05, 0.03, 0.02], [0.0, 0.0, 0.05]),
                ([0.008, 0.015, 0.03], [0.035, 0.0, 0.1]),
                ([0.008, 0.015, 0.03], [-0.035, 0.0, 0.1]),
            ];
            for (half, at) in parts {
                bodies.push(Body::new(hulls.len() as u32).at(at));
                owners.push(link as u32);
                hulls.push(Hull::cuboid(half)?);
            }
            continue;
        }
        hulls.push(Hull::capsule([0.0; 3], [0.0, 0.0, length], thin)?);
        bodies.push(Body::new(hulls.len() as u32 - 1));
        owners.push(link as u32);
    }
    // Links overlap at their joints, and short ones with the next but one.
    let mut pairs: Vec<[u32; 2]> = (1..LINKS as u32).map(|link| [link - 1, link]).collect();
    pairs.extend([[0, 2], [4, 6], [5, 7]]);
    let first_static = LINKS as u32;
    let boxed = |hulls: &mut Vec<Hull>, half: [f32; 3], at: [f32; 3]| -> Result<Body, hullfield::Error> {
        hulls.push(Hull::cuboid(half)?);
        Ok(Body::new(hulls.len() as u32 - 1).at(at))
    };
    // The floor; the base stands on it.
    let mut statics = vec![boxed(&mut hulls, [2.0, 2.0, 0.05], [0.0, 0.0, -0.05])?];
    pairs.push([0, first_static]);
    for side in [-1.0, 1.0] {
        for level in 0..4 {
            let at = [0.1, side * 0.72, 0.25 + 0.3 * level as f32];
            statics.push(boxed(&mut hulls, [0.5, 0.15, 0.012], at)?);
        }
        for end in [-0.4, 0.1, 0.6] {
            statics.push(boxed(&mut hulls, [0.012, 0.15, 0.6], [end, side * 0.72, 0.6])?);
        }
    }
    statics.push(boxed(&mut hulls, [0.22, 0.35, 0.015], [0.68, 0.0, 0.35])?);
    for [x, y] in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0_f32]] {
        statics.push(boxed(&mut hulls, [0.015, 0.015, 0.17], [0.68 + 0.2 * x, 0.33 * y, 0.17])?);
    }
    let mut random = Random(7);
    hulls.extend([Hull::ball(0.05)?, Hull::cylinder([0.0, 0.0, -0.06], [0.0, 0.0, 0.06], 0.035, 24)?]);
    let [ball, can] = [hulls.len() as u32 - 2, hulls.len() as u32 - 1];
    for thing in 0..36 {
        let x = random.next() as f32;
        let (hull, half) = if thing % 3 == 0 { (ball, 0.05) } else { (can, 0.06) };
        // On the table, or on the shelves.
        let at = match thing % 9 {
            8 => [0.52 + 0.32 * x, 0.6 * random.next() as f32 - 0.3, 0.365 + half],
            level => {
                let side = if level % 2 == 0 { -1.0 } else { 1.0 };
                [
                    -0.3 + 0.8 * x,
                    side * (0.65 + 0.12 * random.next() as f32),
                    0.262 + 0.3 * (level / 2) as f32 + half,
                ]
            }
        };
        statics.push(Body::new(hull).at(at));
    }
    Ok(Scene { hulls, bodies, owners, exclusions: Exclusions::new(&pairs)?, statics })
}

/// The scene as a ray through each pixel sees it: the arm at some postures of a path, from blue to red, among the statics in grey.
fn draw(scene: &Scene, ends: [&[f64; JOINTS]; 2], file: &Path) -> Result<(), Box<dyn Error>> {
    const SHOWN: usize = 6;
    let mut bodies = Vec::new();
    let mut colours = Vec::new();
    for at in 0..SHOWN {
        let share = at as f64 / (SHOWN - 1) as f64;
        let values = std::array::from_fn(|k| ends[0][k] + (ends[1][k] - ends[0][k]) * share);
        let links = links_at(&values);
        for (body, &link) in scene.bodies.iter().zip(&scene.owners) {
            let (position, rotation) = links[link as usize];
            let at = position + rotation * DVec3::from(body.position.map(f64::from));
            bodies.push(body.at(at.as_vec3().to_array()).rotated(rotation.as_quat().to_array()));
            let shade = share as f32;
            colours.push(Vec3::new(0.2 + 0.75 * shade, 0.45 - 0.15 * shade, 0.95 - 0.75 * shade));
        }
    }
    let options = Options { statics: scene.statics.clone(), ..Default::default() };
    let arena = Arena::new(&Engine::cpu(), &scene.hulls, options)?;
    let eye = Vec3::new(2.0, -1.05, 1.7);
    let forward = (Vec3::new(0.1, 0.0, 0.6) - eye).normalize();
    let right = forward.cross(Vec3::Z).normalize();
    let up = right.cross(forward);
    let [width, height] = SIZE;
    let rays: Vec<Ray> = (0..width * height)
        .map(|pixel| {
            let x = ((pixel % width) as f32 + 0.5) / width as f32 * 2.0 - 1.0;
            let y = 1.0 - ((pixel / width) as f32 + 0.5) / height as f32 * 2.0;
            let aim = forward + (right * x + up * y * height as f32 / width as f32) * 0.58;
            Ray::new(eye.to_array(), aim.to_array())
        })
        .collect();
    let found = arena.raycasts(&bodies, &rays, &RayOptions::default())?.wait()?;
    let light = Vec3::new(0.5, -0.35, 0.8).normalize();
    let mut pixels = Vec::with_capacity(3 * rays.len());
    for row in &found.rows {
        let colour = match &row.hit {
            None => Vec3::splat(1.0),
            Some(hit) => {
                let normal = hit.normal.map_or(Vec3::ZERO, |normal| DVec3::from(normal).as_vec3());
                let colour = colours.get(hit.body as usize).copied().unwrap_or(Vec3::splat(0.82));
                colour * (0.45 + 0.55 * normal.dot(light).max(0.0))
            }
        };
        pixels.extend(colour.to_array().map(|x| (255.0 * x.clamp(0.0, 1.0).sqrt()) as u8));
    }
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(file)?), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("wrote {}", file.display());
    Ok(())
}
