//! Coherent frames: an arena that starts warm against one that does not, in the same run, frame by frame.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use hullfield::{Arena, Backend, Body, Intersections, Pairs};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Placed, scenes};

use crate::Options;
use crate::collide::{Named, ask, text};
use crate::judge::compare;
use crate::machine::SEED;
use crate::report::{Cell, Report, Table};
use crate::scene::Scene;
use crate::timing::{Samples, time};

/// Bodies on a jittered lattice, each about its own place: it swings and spins.
struct Swarm {
    scene: Scene,
    places: Vec<DVec3>,
    rotations: Vec<DQuat>,
    ways: Vec<DVec3>,
    axes: Vec<DVec3>,
    phases: Vec<f64>,
    /// How far a body swings, world units.
    swing: f64,
    radius: f64,
}

impl Swarm {
    /// `spacing` is the edge of the lattice's cell, in mean bounding radii.
    fn new(body_count: usize, spacing: f64) -> Result<Self, String> {
        let sets = scenes::convex_sets(24, 1.0, SEED);
        let mut scene = Scene::of_hulls(&sets)?;
        let radius = scene.shapes.iter().map(|shape| shape.radius([1.0; 3])).sum::<f64>() / sets.len() as f64;
        let side = (body_count as f64).cbrt().ceil() as usize;
        let mut random = Random::new(SEED);
        let mut swarm = Self {
            places: Vec::new(),
            rotations: Vec::new(),
            ways: Vec::new(),
            axes: Vec::new(),
            phases: Vec::new(),
            swing: 0.15 * radius,
            radius,
            scene: Scene { bodies: Vec::new(), ..scene.clone() },
        };
        for k in 0..body_count {
            let cell = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
            let jitter = DVec3::from([0; 3].map(|_| random.between(-0.1, 0.1)));
            swarm.places.push((cell + jitter) * spacing * radius);
            swarm.rotations.push(random.rotation64());
            swarm.ways.push(random.direction());
            swarm.axes.push(random.direction());
            swarm.phases.push(random.between(0.0, TAU));
            scene.bodies.push(Placed { hull: (k % sets.len()) as u32, pose: Default::default() });
        }
        swarm.scene.bodies = scene.bodies;
        Ok(swarm)
    }

    /// Bodies of a frame, at most `speed` mean radii a frame, and as much by their spin at the rim.
    fn go_to(&mut self, frame: usize, speed: f64) {
        let frame = frame as f64;
        for (k, body) in self.scene.bodies.iter_mut().enumerate() {
            let phase = self.phases[k] + frame * speed * self.radius / self.swing;
            let position = self.places[k] + self.ways[k] * (self.swing * phase.sin());
            let turned = DQuat::from_axis_angle(self.axes[k], 0.5 * speed * frame) * self.rotations[k];
            body.pose.position = position.as_vec3().to_array();
            body.pose.rotation = turned.normalize().as_quat().to_array();
        }
    }

    /// Bodies anywhere, each frame anew.
    fn scatter(&mut self, random: &mut Random) {
        let count = self.places.len();
        for body in &mut self.scene.bodies {
            body.pose.position = self.places[random.below(count)].as_vec3().to_array();
            body.pose.rotation = random.rotation();
        }
    }
}

/// What the frames of one scene took.
#[derive(Default)]
struct Run {
    cold: Samples,
    warm: Samples,
    sums: [f64; 2],
    candidates: u64,
    skipped: u64,
    hits: u64,
}

/// Cold against warm at several speeds, on each engine.
///
/// # Errors
/// What stopped a frame.
pub(crate) fn warm(options: &Options, report: &mut Report, engines: &[Named]) -> Result<(), String> {
    let mut table = Table::new(
        "warm",
        "Frames of a swarm, poses in to hits out: an arena with a warm start against one without, frame by frame",
        &[
            "engine",
            "scene",
            "bodies",
            "speed",
            "candidates",
            "hits",
            "skipped",
            "cold ms",
            "warm ms",
            "of medians",
            "of sums",
            "worst warm ms",
        ],
    );
    for Named { name, engine } in engines {
        let is_slow = engine.backend() == Backend::Gpu && *name != "gpu";
        let body_count = if options.quick || is_slow { 2_000 } else { 10_000 };
        let frame_count = if options.quick || is_slow { 40 } else { 200 };
        let cases = [
            ("apart", 2.0, 0.0005),
            ("apart", 2.0, 0.002),
            ("apart", 2.0, 0.005),
            ("apart", 2.0, 0.01),
            ("apart", 2.0, 0.02),
            ("apart", 2.0, 0.05),
            ("apart", 2.0, 0.1),
            ("crowded", 1.4, 0.005),
            ("still", 2.0, 0.0),
            ("chaos", 2.0, f64::INFINITY),
        ];
        for (scene, spacing, speed) in cases {
            eprintln!("warm: {name}, {scene}, {speed}");
            let mut swarm = Swarm::new(body_count, spacing)?;
            let cold = Arena::new(engine, &swarm.scene.hulls).map_err(text)?;
            let warm = cold.with_warm_start();
            let mut random = Random::new(SEED);
            let mut run = Run::default();
            for frame in 0..frame_count + 3 {
                if speed.is_finite() {
                    swarm.go_to(frame, speed)
                } else {
                    swarm.scatter(&mut random)
                }
                let bodies = swarm.scene.library_bodies();
                one_frame(&mut run, [&cold, &warm], &bodies, frame, &swarm.scene).unwrap_or_else(|problem| {
                    report.fail(format!("warm: {name}, {scene}, speed {speed}, frame {frame}: {problem}"));
                });
            }
            let frames = (frame_count * body_count) as f64;
            table.row([
                (*name).into(),
                scene.into(),
                body_count.into(),
                if speed.is_finite() { Cell::Share(speed, 2) } else { Cell::Empty },
                Cell::Number(run.candidates as f64 / frames, 1),
                Cell::Number(run.hits as f64 / frames, 2),
                Cell::Share(run.skipped as f64 / run.candidates as f64, 1),
                Cell::Number(run.cold.median(), 3),
                Cell::Number(run.warm.median(), 3),
                Cell::Number(run.cold.median() / run.warm.median(), 2),
                Cell::Number(run.sums[0] / run.sums[1], 2),
                Cell::Number(run.warm.worst(), 3),
            ]);
        }
    }
    table.note("speed: how far a body goes in a frame at most, and its rim by spin half as far, in mean bounding radii; chaos: every body anywhere.");
    table.note("candidates (of the warm list), hits: a body and frame; skipped: candidates that an earlier frame's bound decided.");
    table.note("of medians, of sums: cold time over warm time; the sums hold the frames in which the list is made anew, the first two frames apart.");
    report.table(table);
    Ok(())
}

/// One frame on both, in turns.
fn one_frame(
    run: &mut Run,
    arenas: [&Arena; 2],
    bodies: &[Body],
    frame: usize,
    scene: &Scene,
) -> Result<(), String> {
    let mut answers: [Option<(f64, Intersections)>; 2] = [None, None];
    for turn in 0..2 {
        let which = (frame + turn) % 2;
        let (ms, answer) = time(|| ask(arenas[which], bodies, Pairs::Near));
        answers[which] = Some((ms, answer?));
    }
    let [Some((cold_ms, cold)), Some((warm_ms, warm))] = answers else { return Ok(()) };
    if frame >= 3 {
        run.cold.push(cold_ms);
        run.warm.push(warm_ms);
        run.sums[0] += cold_ms;
        run.sums[1] += warm_ms;
        run.candidates += warm.stats.candidate_count;
        run.skipped += warm.stats.skipped_count;
        run.hits += warm.stats.hit_count;
    }
    if cold.rows == warm.rows {
        return Ok(());
    }
    if arenas[0].engine().backend() == Backend::Cpu {
        return Err(format!("{} rows cold, {} warm, and not the same", cold.rows.len(), warm.rows.len()));
    }
    compare(scene, &cold.rows, &warm.rows).passed().map(drop)
}
