//! Planner: ten thousand postures and a thousand paths of an arm of seven joints among shelves, as a robot's planner asks.
//!
//! Paths are straight in the space of the joints. Their samples are poses of the links; between samples joints turn at constant rates, which
//! is not quite what `JointPath` takes links to do. So each step has a bound of the difference, and a path that is called free is free along
//! the arcs of the joints too, not only at its samples. Paths that are left undecided are sampled more finely and asked again.
//!
//! The picture shows the scene, and the arm along the longest of the free paths.
//!
//! The arm is the file `arm.urdf` beside this one. Another robot may be named: its links, joints, and shapes of collision are read, those of
//! meshes (STL, OBJ, COLLADA) as their convex hulls. Cylinders become prisms around them.
//!
//! `cargo run --release --example planner -- [POSTURES] [PATHS] [FOLDER] [URDF]`

mod robot;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Vec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Exclusions, Hull, JointPath, LinkPose, Options, PathOptions, PathOutcome, Ray,
    RayOptions,
};
use robot::Robot;

/// Steps are at most this long: the sum of what all joints turn or slide, in radians and metres.
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

    fn configuration(&mut self, robot: &Robot) -> Vec<f64> {
        robot.variables.iter().map(|joint| joint.lower + (joint.upper - joint.lower) * self.next()).collect()
    }
}

/// What the robot moves among.
struct Surroundings {
    hulls: Vec<Hull>,
    statics: Vec<Body>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |at: usize, default: usize| match std::env::args().nth(at) {
        Some(text) => text.parse().map_err(|_| format!("not a count: {text}")),
        None => Ok(default),
    };
    let (posture_count, path_count) = (argument(1, 10_000)?, argument(2, 1_000)?);
    let folder = std::env::args().nth(3).unwrap_or_else(|| ".".to_owned());
    let robot = match std::env::args().nth(4) {
        Some(file) => Robot::read(Path::new(&file))?,
        None => Robot::parse(include_str!("arm.urdf"), Path::new("."))?,
    };
    let Surroundings { hulls, statics } = surroundings(&robot.hulls)?;
    let options = Options { statics: statics.clone(), ..Default::default() };
    let arena = Arena::new(&Engine::auto()?, &hulls, options)?;
    // The base stands on the floor, the first static.
    let allowed = robot.allowed_pairs()?;
    let exclusions = Exclusions::new(&allowed)?.with_statics(&[[0, 0]]);
    let links = BodyColumns {
        owners: &robot.owners,
        exclusions: Some(&exclusions),
        ..BodyColumns::new(&robot.bodies)
    };
    println!(
        "{}: {} links of {} hulls, {} joints to plan, {} pairs of links may touch",
        robot.name,
        robot.links.len(),
        robot.bodies.len(),
        robot.variables.len(),
        allowed.len()
    );

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let configurations: Vec<Vec<f64>> = (0..posture_count).map(|_| random.configuration(&robot)).collect();
    let poses: Vec<LinkPose> = configurations.iter().flat_map(|values| robot.poses(values)).collect();
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
    let free: Vec<&[f64]> = found
        .rows
        .iter()
        .zip(&configurations)
        .filter(|(row, _)| row.is_free())
        .map(|(_, q)| q.as_slice())
        .collect();
    if free.len() < 2 {
        return Err("no two postures are free".into());
    }
    let mut pick = || free[(random.next() * free.len() as f64) as usize];
    let ends: Vec<[&[f64]; 2]> = (0..path_count).map(|_| [pick(), pick()]).collect();
    let mut outcomes = vec![PathOutcome::Undecided; path_count];
    let mut open: Vec<usize> = (0..path_count).collect();
    let (mut step, mut asked, mut seconds) = (STEP, 0, 0.0);
    while !open.is_empty() && step > 1e-3 {
        let courses: Vec<Course> = open.iter().map(|&at| Course::new(&robot, ends[at], step)).collect();
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

    let length = |at: &&usize| distance(ends[**at]);
    let is_free: Vec<usize> = (0..path_count).filter(|&at| outcomes[at] == PathOutcome::Free).collect();
    let longest = is_free.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
    let shown = longest.map_or([free[0]; 2], |&at| ends[at]);
    draw(&robot, (hulls, statics), shown, &Path::new(&folder).join("planner.png"))
}

/// How much all joints change, in radians and metres.
fn distance([from, to]: [&[f64]; 2]) -> f64 {
    from.iter().zip(to).map(|(from, to)| (to - from).abs()).sum()
}

/// Between the two, at this share of the way.
fn between([from, to]: [&[f64]; 2], share: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(from, to)| from + (to - from) * share).collect()
}

/// A path: the poses of its samples, and how far joints take the links from the motion between these.
struct Course {
    sample_count: usize,
    poses: Vec<LinkPose>,
    deviations: Vec<f64>,
}

impl Course {
    fn new(robot: &Robot, ends: [&[f64]; 2], step: f64) -> Self {
        let step_count = (distance(ends) / step).ceil().max(1.0) as usize;
        let poses = (0..=step_count)
            .flat_map(|sample| robot.poses(&between(ends, sample as f64 / step_count as f64)))
            .collect();
        // All steps are alike.
        let [from, to] = ends;
        let change: Vec<f64> =
            from.iter().zip(to).map(|(from, to)| (to - from) / step_count as f64).collect();
        let deviations = robot.deviations(&change).repeat(step_count);
        Self { sample_count: step_count + 1, poses, deviations }
    }

    fn path(&self) -> JointPath<'_> {
        JointPath::new(self.sample_count, &self.poses).within(&self.deviations)
    }
}

/// Two shelves, a table, some balls and cans on them, and the floor, which is the first. The hulls come after the `first` ones.
fn surroundings(first: &[Hull]) -> Result<Surroundings, Box<dyn Error>> {
    let mut hulls = first.to_vec();
    let boxed = |hulls: &mut Vec<Hull>, half: [f32; 3], at: [f32; 3]| -> Result<Body, hullfield::Error> {
        hulls.push(Hull::cuboid(half)?);
        Ok(Body::new(hulls.len() as u32 - 1).at(at))
    };
    let mut statics = vec![boxed(&mut hulls, [2.0, 2.0, 0.05], [0.0, 0.0, -0.05])?];
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
    Ok(Surroundings { hulls, statics })
}

/// The scene as a ray through each pixel sees it: the arm at some postures of a path, from blue to red, among the statics in grey.
fn draw(
    robot: &Robot,
    (hulls, statics): (Vec<Hull>, Vec<Body>),
    ends: [&[f64]; 2],
    file: &Path,
) -> Result<(), Box<dyn Error>> {
    const SHOWN: usize = 6;
    let mut bodies = Vec::new();
    let mut colours = Vec::new();
    for at in 0..SHOWN {
        let share = at as f64 / (SHOWN - 1) as f64;
        let placed = robot.placed(&robot.frames(&between(ends, share)));
        let shade = share as f32;
        let colour = Vec3::new(0.2 + 0.75 * shade, 0.45 - 0.15 * shade, 0.95 - 0.75 * shade);
        colours.extend(placed.iter().map(|_| colour));
        bodies.extend(placed);
    }
    let options = Options { statics, ..Default::default() };
    let arena = Arena::new(&Engine::cpu(), &hulls, options)?;
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
