//! Coherent frames: an arena with a warm start against one without, in the same run, frame by frame.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use hullfield::Backend;
use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, ManifoldOptions, Pairs, Stats};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Placed, scenes};

use crate::engines::NamedEngine;
use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::scene::Scene;
use crate::timing::{Samples, time};

/// Moving bodies on a jittered lattice. Each rotates, and swings around its place or moves straight.
struct MovingBodies {
    scene: Scene,
    places: Vec<DVec3>,
    rotations: Vec<DQuat>,
    directions: Vec<DVec3>,
    axes: Vec<DVec3>,
    phases: Vec<f64>,
    /// The amplitude of a swing, in world units.
    swing: f64,
    radius: f64,
    is_straight: bool,
}

impl MovingBodies {
    /// Bodies on a lattice. `spacing` is the edge length of its cells, in mean bounding radii.
    fn new(body_count: usize, spacing: f64, is_straight: bool) -> Result<Self, String> {
        let sets = scenes::convex_sets(24, 1.0, SEED);
        let mut scene = Scene::of_hulls(&sets)?;
        let radius = scene.shapes.iter().map(|shape| shape.radius([1.0; 3])).sum::<f64>() / sets.len() as f64;
        let side = (body_count as f64).cbrt().ceil() as usize;
        let mut random = Random::new(SEED);
        let mut moving = Self {
            places: Vec::new(),
            rotations: Vec::new(),
            directions: Vec::new(),
            axes: Vec::new(),
            phases: Vec::new(),
            swing: 0.15 * radius,
            radius,
            is_straight,
            scene: Scene { bodies: Vec::new(), ..scene.clone() },
        };
        for k in 0..body_count {
            let cell = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
            let jitter = DVec3::from([0; 3].map(|_| random.between(-0.1, 0.1)));
            moving.places.push((cell + jitter) * spacing * radius);
            moving.rotations.push(random.rotation64());
            moving.directions.push(random.direction());
            moving.axes.push(random.direction());
            moving.phases.push(random.between(0.0, TAU));
            scene.bodies.push(Placed { hull: (k % sets.len()) as u32, pose: Default::default() });
        }
        moving.scene.bodies = scene.bodies;
        Ok(moving)
    }

    /// Moves the bodies to a frame. They move at most `speed` mean radii per frame, and rotate by half of that in radians.
    fn move_to_frame(&mut self, frame: usize, speed: f64) {
        let frame = frame as f64;
        for (k, body) in self.scene.bodies.iter_mut().enumerate() {
            let phase = self.phases[k] + frame * speed * self.radius / self.swing;
            let distance = if self.is_straight {
                // The mean speed of a swinging body.
                frame * speed * self.radius * std::f64::consts::FRAC_2_PI
            } else {
                self.swing * phase.sin()
            };
            let position = self.places[k] + self.directions[k] * distance;
            let turned = DQuat::from_axis_angle(self.axes[k], 0.5 * speed * frame) * self.rotations[k];
            body.pose.position = position.as_vec3().to_array();
            body.pose.rotation = turned.normalize().as_quat().to_array();
        }
    }

    /// Gives each body a random pose.
    fn scatter(&mut self, random: &mut Random) {
        let count = self.places.len();
        for body in &mut self.scene.bodies {
            body.pose.position = self.places[random.below(count)].as_vec3().to_array();
            body.pose.rotation = random.rotation();
        }
    }
}

/// The query of each frame.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Query {
    Hits,
    /// With a margin, in mean radii, like the next two.
    Distances(f64),
    Contacts(f64),
    Manifolds(f64),
}

impl Query {
    fn name(self) -> &'static str {
        match self {
            Self::Hits => "hits",
            Self::Distances(_) => "distances",
            Self::Contacts(_) => "contacts",
            Self::Manifolds(_) => "manifolds",
        }
    }
}

/// The rows of an answer, to compare.
#[derive(Debug, PartialEq)]
enum Rows {
    Hits(Vec<hullfield::collide::Intersection>),
    Distances(Vec<hullfield::collide::Distance>),
    Contacts(Vec<hullfield::collide::Contact>),
    Manifolds(Vec<hullfield::collide::Manifold>),
}

/// The times and counts of a scene's frames.
#[derive(Default)]
struct Run {
    cold: Samples,
    warm: Samples,
    sums: [f64; 2],
    candidates: u64,
    skipped: u64,
    hits: u64,
}

/// Times cold and warm frames at several speeds, on the CPU engine.
///
/// # Errors
/// A query that fails.
pub(crate) fn warm(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let mut table = Table::new(
        "warm",
        "Frames of moving bodies, poses in to rows out, CPU engine: an arena with a warm start against one without, frame by frame",
        &[
            "query",
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
    let Some(NamedEngine { engine, .. }) =
        engines.iter().find(|named| named.engine.backend() == Backend::Cpu)
    else {
        return Ok(());
    };
    let body_count = if options.quick { 2_000 } else { 10_000 };
    let frame_count = if options.quick { 40 } else { 200 };
    let cases = [
        (Query::Hits, "apart", 2.0, 0.0005),
        (Query::Hits, "apart", 2.0, 0.002),
        (Query::Hits, "apart", 2.0, 0.005),
        (Query::Hits, "apart", 2.0, 0.01),
        (Query::Hits, "apart", 2.0, 0.02),
        (Query::Hits, "apart", 2.0, 0.03),
        (Query::Hits, "apart", 2.0, 0.05),
        (Query::Hits, "straight", 2.0, 0.005),
        (Query::Hits, "straight", 2.0, 0.02),
        (Query::Hits, "crowded", 1.4, 0.005),
        (Query::Hits, "still", 2.0, 0.0),
        (Query::Hits, "chaos", 2.0, f64::INFINITY),
        (Query::Distances(0.1), "apart", 2.0, 0.005),
        (Query::Distances(0.1), "apart", 2.0, 0.02),
        (Query::Contacts(0.02), "apart", 2.0, 0.005),
        (Query::Contacts(0.02), "apart", 2.0, 0.02),
        (Query::Contacts(0.02), "crowded", 1.4, 0.005),
        (Query::Manifolds(0.02), "apart", 2.0, 0.005),
    ];
    for (query, scene, spacing, speed) in cases {
        eprintln!("warm: {}, {scene}, {speed}", query.name());
        let mut moving = MovingBodies::new(body_count, spacing, scene == "straight")?;
        let cold = Arena::new(engine, &moving.scene.hulls, hullfield::collide::Options::default())
            .map_err(message)?;
        let warm = cold
            .with_options(hullfield::collide::Options { warm_start: true, ..cold.options().clone() })
            .map_err(message)?;
        let mut random = Random::new(SEED);
        let mut run = Run::default();
        for frame in 0..frame_count + 3 {
            if speed.is_finite() {
                moving.move_to_frame(frame, speed)
            } else {
                moving.scatter(&mut random)
            }
            let bodies = moving.scene.library_bodies();
            let run_on = |arena: &Arena| run_query(arena, &bodies, query, moving.radius);
            one_frame(&mut run, [&cold, &warm], run_on, frame).unwrap_or_else(|problem| {
                report.fail(format!(
                    "warm: {}, {scene}, speed {speed}, frame {frame}: {problem}",
                    query.name()
                ));
            });
        }
        let frames = (frame_count * body_count) as f64;
        table.row([
            query.name().into(),
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
    table.note("apart: each body swings about its place, at most a seventh of a radius; straight: it goes on; chaos: every body anywhere.");
    table.note("speed: how far a body goes in a frame at most, and its rim by spin half as far, in mean bounding radii.");
    table.note("distances within a tenth of a radius, contacts and manifolds within a fiftieth.");
    table.note("candidates (of the warm list), hits: a body and frame; skipped: candidates that an earlier frame's bound decided.");
    table.note("of medians, of sums: cold time over warm time; the sums hold the frames in which the list is made anew, the first two frames apart.");
    report.table(table);
    Ok(())
}

fn run_query(arena: &Arena, bodies: &[Body], query: Query, radius: f64) -> Result<(Rows, Stats), String> {
    let margin = |share: f64| (share * radius) as f32;
    Ok(match query {
        Query::Hits => {
            let found =
                arena.intersections(bodies, Pairs::BroadPhase).map_err(message)?.wait().map_err(message)?;
            (Rows::Hits(found.rows), found.stats)
        }
        Query::Distances(share) => {
            let found = arena
                .distances(bodies, Pairs::BroadPhase, &DistanceOptions { margin: margin(share) })
                .map_err(message)?
                .wait()
                .map_err(message)?;
            (Rows::Distances(found.rows), found.stats)
        }
        Query::Contacts(share) => {
            let found = arena
                .contacts(bodies, Pairs::BroadPhase, &ContactOptions { margin: margin(share) })
                .map_err(message)?
                .wait()
                .map_err(message)?;
            (Rows::Contacts(found.rows), found.stats)
        }
        Query::Manifolds(share) => {
            let found = arena
                .manifolds(bodies, Pairs::BroadPhase, &ManifoldOptions { margin: margin(share) })
                .map_err(message)?
                .wait()
                .map_err(message)?;
            (Rows::Manifolds(found.rows), found.stats)
        }
    })
}

/// Runs a frame on both arenas, in alternating order. Their rows must be bit-identical.
fn one_frame(
    run: &mut Run,
    arenas: [&Arena; 2],
    run_on: impl Fn(&Arena) -> Result<(Rows, Stats), String>,
    frame: usize,
) -> Result<(), String> {
    let mut answers = [None, None];
    for turn in 0..2 {
        let which = (frame + turn) % 2;
        let (ms, answer) = time(|| run_on(arenas[which]));
        answers[which] = Some((ms, answer?));
    }
    let [Some((cold_ms, (cold, _))), Some((warm_ms, (warm, stats)))] = answers else { return Ok(()) };
    if frame >= 3 {
        run.cold.push(cold_ms);
        run.warm.push(warm_ms);
        run.sums[0] += cold_ms;
        run.sums[1] += warm_ms;
        run.candidates += stats.candidate_count;
        run.skipped += stats.skipped_count;
        run.hits += stats.hit_count;
    }
    if cold == warm { Ok(()) } else { Err("the rows are not the same".to_owned()) }
}
