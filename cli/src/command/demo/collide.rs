//! The first job: a crowd of bodies. The other engine checks the last frame, and a picture shows it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{Affine3A, Quat, Vec3};
use hullfield::collide::{Arena, Body, ContactOptions, Hull, Intersection, Options, Pairs, Status, Times};
use hullfield::{Backend, Engine, Error};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::command::stages_of;
use crate::failure::{Failure, Result};
use crate::picture::{self, Item, Picture, Solid, View, linear};
use crate::progress::{Bar, Spinner};
use crate::random::Random;
use crate::scene::{Scene, shapes};
use crate::table::Table;

/// File name of the picture.
const PICTURE: &str = "collide.png";
/// Without a second engine, every pair of this many bodies is checked.
const MAX_CHECKED_BODIES: usize = 20_000;
/// Differences between two engines that are printed.
const MAX_PRINTED: usize = 10;

/// The results of the job.
pub(super) struct Collide {
    hull_names: Vec<&'static str>,
    frames: Vec<Frame>,
    median: Median,
    contacts: Contacts,
    check: Check,
    picture: PathBuf,
}

impl Collide {
    pub(super) fn run(arguments: &Arguments, engine: &Engine) -> Result<Self> {
        let shapes = shapes()?;
        let hulls: Vec<Hull> = shapes.iter().map(|shape| shape.hull.clone()).collect();
        let mut arena = Arena::new(engine, &hulls, Options::default())?;
        if arguments.warm {
            arena = arena.with_options(Options { warm_start: true, ..arena.options().clone() })?;
        }
        let mut scene = Scene::new(&shapes, arguments.bodies as usize, arguments.seed);
        let mut frames = Vec::with_capacity(arguments.frames as usize);
        let mut last = Vec::new();
        {
            let mut bar = Bar::new("frames", u64::from(arguments.frames));
            for frame in 0..arguments.frames {
                if frame > 0 {
                    let touching: Vec<[u32; 2]> =
                        last.iter().map(|row: &Intersection| [row.a, row.b]).collect();
                    scene.advance(&touching);
                }
                let started = Instant::now();
                let found = arena.intersections(scene.bodies(), Pairs::BroadPhase)?.wait()?;
                let wall_ms = started.elapsed().as_secs_f64() * 1e3;
                frames.push(Frame {
                    candidate_count: found.stats.candidate_count,
                    skipped_count: found.stats.skipped_count,
                    hit_count: found.stats.hit_count,
                    refined_count: found.stats.refined_count,
                    settled_count: found.stats.settled_count,
                    times: found.stats.times,
                    wall_ms,
                });
                last = found.rows;
                bar.step(1);
            }
        }
        let Some(final_frame) = frames.last() else {
            return Err(Failure::input("--frames: at least one is needed"));
        };
        let contacts = Contacts::of(&arena, scene.bodies())?;
        // Candidates of a warm start cover several frames, so they are not compared.
        let candidate_count = (!arguments.warm).then_some(final_frame.candidate_count);
        let check = check(engine, &hulls, scene.bodies(), &last, candidate_count)?;
        let path = arguments.out.join(PICTURE);
        let picture = {
            let _spinner = Spinner::new("drawing");
            draw(&hulls, &scene, &last, arguments.size)
        };
        picture::write_png(&picture, &path)?;
        let median = Median::of(&frames);
        let hull_names = shapes.iter().map(|shape| shape.name).collect();
        Ok(Self { hull_names, frames, median, contacts, check, picture: path })
    }

    /// The message of a failed check.
    pub(super) fn error(&self) -> Option<String> {
        (!self.check.is_right()).then(|| self.check.summary())
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        write_report(writer, &self.frames, &self.median, &self.contacts, &self.check, &self.picture)
    }

    /// The median times of a frame, by stage.
    pub(super) fn stages(&self) -> Vec<(&'static str, f64)> {
        let mut stages = stages_of(&self.median.times);
        stages.push(("frame", self.median.wall_ms));
        stages
    }

    /// The counts of the last frame.
    pub(super) fn counts(&self, arguments: &Arguments) -> [(&'static str, u64); 7] {
        let count = |of: fn(&Frame) -> u64| self.frames.last().map_or(0, of);
        [
            ("bodies", arguments.bodies.into()),
            ("frames", arguments.frames.into()),
            ("candidates", count(|frame| frame.candidate_count)),
            ("skipped", count(|frame| frame.skipped_count)),
            ("hits", count(|frame| frame.hit_count)),
            ("refined", count(|frame| frame.refined_count)),
            ("settled", count(|frame| frame.settled_count)),
        ]
    }

    pub(super) fn json(&self, arguments: &Arguments) -> Value {
        json!({
            "hulls": self.hull_names,
            "seed": arguments.seed,
            "warm": arguments.warm,
            "contacts": self.contacts.json(),
            "check": self.check.json(),
            "picture": self.picture.display().to_string(),
        })
    }
}

/// The counts and times of one frame.
struct Frame {
    candidate_count: u64,
    skipped_count: u64,
    hit_count: u64,
    refined_count: u64,
    settled_count: u64,
    times: Times,
    wall_ms: f64,
}

/// The median of each time over the frames. The first frame builds what the others reuse, so it counts only if it is alone.
struct Median {
    times: Times,
    wall_ms: f64,
}

impl Median {
    fn of(frames: &[Frame]) -> Self {
        let counted = if frames.len() > 1 { &frames[1..] } else { frames };
        let median = |value: fn(&Frame) -> f64| {
            let mut values: Vec<f64> = counted.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        let mut times = Times::default();
        times.compile_ms = median(|frame| frame.times.compile_ms);
        times.upload_ms = median(|frame| frame.times.upload_ms);
        times.kernels_ms = median(|frame| frame.times.kernels_ms);
        times.readback_ms = median(|frame| frame.times.readback_ms);
        times.settle_ms = median(|frame| frame.times.settle_ms);
        times.total_ms = median(|frame| frame.times.total_ms);
        Self { times, wall_ms: median(|frame| frame.wall_ms) }
    }
}

fn write_report(
    writer: &mut dyn Write,
    frames: &[Frame],
    median: &Median,
    contacts: &Contacts,
    check: &Check,
    picture: &Path,
) -> io::Result<()> {
    let mut table = Table::new(&[
        "frame",
        "candidates",
        "skipped",
        "hits",
        "refined",
        "settled",
        "compile ms",
        "upload ms",
        "kernels ms",
        "readback ms",
        "settle ms",
        "total ms",
    ]);
    let mut row = |name: String, counts: [u64; 5], times: &Times| {
        let mut cells = vec![name];
        cells.extend(counts.iter().map(u64::to_string));
        let times = [
            times.compile_ms,
            times.upload_ms,
            times.kernels_ms,
            times.readback_ms,
            times.settle_ms,
            times.total_ms,
        ];
        cells.extend(times.iter().map(|time| format!("{time:.3}")));
        table.row(cells);
    };
    let every = frames.len().div_ceil(6).max(1);
    for (number, frame) in frames.iter().enumerate() {
        if number % every == 0 || number + 1 == frames.len() {
            let counts = [
                frame.candidate_count,
                frame.skipped_count,
                frame.hit_count,
                frame.refined_count,
                frame.settled_count,
            ];
            row(number.to_string(), counts, &frame.times);
        }
    }
    writeln!(writer)?;
    table.write(writer)?;
    let times = &median.times;
    writeln!(
        writer,
        "\nmedian: {:.3} ms a frame (upload {:.3}, kernels {:.3}, readback {:.3}, settle {:.3})",
        median.wall_ms, times.upload_ms, times.kernels_ms, times.readback_ms, times.settle_ms
    )?;
    writeln!(
        writer,
        "contacts of the last frame: {} in {:.3} ms, {:.4} deep on average, {:.4} at most",
        contacts.count, contacts.total_ms, contacts.mean, contacts.deepest
    )?;
    writeln!(writer, "check:  {}", check.summary())?;
    for difference in check.differences.iter().take(MAX_PRINTED) {
        writeln!(writer, "        {difference}")?;
    }
    if check.differences.len() > MAX_PRINTED {
        writeln!(writer, "        and {} more", check.differences.len() - MAX_PRINTED)?;
    }
    writeln!(writer, "picture: {}", picture.display())
}

/// The depths of overlap in one frame.
#[derive(Debug)]
struct Contacts {
    count: usize,
    /// Mean and largest depth, in world units.
    mean: f64,
    deepest: f64,
    total_ms: f64,
}

impl Contacts {
    fn of(arena: &Arena, bodies: &[Body]) -> Result<Self> {
        let _spinner = Spinner::new("measuring contacts");
        let found = arena.contacts(bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })?.wait()?;
        let depths = || found.rows.iter().map(|row| row.depth().max(0.0));
        Ok(Self {
            count: found.rows.len(),
            mean: depths().sum::<f64>() / found.rows.len().max(1) as f64,
            deepest: depths().fold(0.0, f64::max),
            total_ms: found.stats.times.total_ms,
        })
    }

    fn json(&self) -> Value {
        json!({
            "count": self.count,
            "mean_depth": self.mean,
            "deepest": self.deepest,
            "total_ms": self.total_ms,
        })
    }
}

/// The comparison of two answers for one frame.
#[derive(Debug)]
struct Check {
    /// The engine of the second answer.
    against: String,
    /// The candidates of both answers, if both had a broad phase.
    candidate_counts: Option<[u64; 2]>,
    hit_counts: [usize; 2],
    differences: Vec<Difference>,
}

/// A pair on which the answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Difference {
    a: u32,
    b: u32,
    statuses: [Status; 2],
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [first, second] = self.statuses.map(Status::name);
        write!(formatter, "bodies {} and {}: {first} here, {second} there", self.a, self.b)
    }
}

impl Check {
    fn is_right(&self) -> bool {
        self.candidate_counts.is_none_or(|[a, b]| a == b) && self.differences.is_empty()
    }

    fn summary(&self) -> String {
        let [here, there] = self.hit_counts;
        let mut text = format!("last frame against {}: {here} hits here, {there} there", self.against);
        if let Some([here, there]) = self.candidate_counts.filter(|[here, there]| here != there) {
            text.push_str(&format!(", {here} candidates here, {there} there"));
        }
        match self.differences.len() {
            0 => text.push_str(", every verdict equal"),
            1 => text.push_str(", 1 verdict differs"),
            count => text.push_str(&format!(", {count} verdicts differ")),
        }
        text
    }

    fn json(&self) -> Value {
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|difference| {
                json!({
                    "a": difference.a,
                    "b": difference.b,
                    "here": difference.statuses[0].name(),
                    "there": difference.statuses[1].name(),
                })
            })
            .collect();
        json!({
            "against": self.against,
            "right": self.is_right(),
            "hits": self.hit_counts,
            "candidates": self.candidate_counts,
            "differences": differences,
        })
    }
}

/// Answers the frame again on the other engine; without one, on the CPU over every pair.
fn check(
    engine: &Engine,
    hulls: &[Hull],
    bodies: &[Body],
    rows: &[Intersection],
    candidate_count: Option<u64>,
) -> Result<Check> {
    let _spinner = Spinner::new("checking the last frame");
    let other = match engine.backend() {
        Backend::Cpu => match Engine::gpu() {
            Ok(gpu) => Some(gpu),
            Err(Error::NoGpu { .. }) => None,
            Err(error) => return Err(error.into()),
        },
        _ => Some(Engine::cpu()),
    };
    let (against, found, has_candidates) = match other {
        Some(other) => {
            let found = Arena::new(&other, hulls, Options::default())?
                .intersections(bodies, Pairs::BroadPhase)?
                .wait()?;
            let against = match other.adapter_name() {
                Some(name) => format!("the GPU engine on {name}"),
                None => "the CPU engine".to_owned(),
            };
            (against, found, true)
        }
        None => {
            // Every pair of a very large crowd would take hours.
            let few = &bodies[..bodies.len().min(MAX_CHECKED_BODIES)];
            let found = Arena::new(engine, hulls, Options::default())?
                .intersections(few, Pairs::Exhaustive)?
                .wait()?;
            let scope = if few.len() < bodies.len() {
                format!(" of the first {MAX_CHECKED_BODIES} bodies")
            } else {
                String::new()
            };
            let against = format!(
                "the CPU engine over every pair{scope} (no broad phase), as there is no GPU engine here"
            );
            (against, found, false)
        }
    };
    let rows: Vec<Intersection> = match has_candidates {
        true => rows.to_vec(),
        false => rows.iter().filter(|row| (row.b as usize) < MAX_CHECKED_BODIES).copied().collect(),
    };
    Ok(Check {
        against,
        candidate_counts: candidate_count
            .filter(|_| has_candidates)
            .map(|count| [count, found.stats.candidate_count]),
        hit_counts: [rows.len(), found.rows.len()],
        differences: differences(&rows, &found.rows),
    })
}

/// The differences between two lists of hits, both sorted by pair. A missing pair is separated.
fn differences(here: &[Intersection], there: &[Intersection]) -> Vec<Difference> {
    let key = |row: &Intersection| (row.a, row.b);
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < here.len() || j < there.len() {
        let order = match (here.get(i), there.get(j)) {
            (Some(left), Some(right)) => key(left).cmp(&key(right)),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        let left = order.is_le().then(|| here[i]);
        let right = order.is_ge().then(|| there[j]);
        i += usize::from(left.is_some());
        j += usize::from(right.is_some());
        let statuses = [left, right].map(|row| row.map_or(Status::Separated, |row| row.status));
        if let Some(row) = left.or(right).filter(|_| statuses[0] != statuses[1]) {
            found.push(Difference { a: row.a, b: row.b, statuses });
        }
    }
    found
}

/// Draws the scene; bodies that touch have a warm colour.
fn draw(hulls: &[Hull], scene: &Scene, rows: &[Intersection], [width, height]: [usize; 2]) -> Picture {
    // In a very large crowd a body is a few pixels: eight vertices suffice, and the facets fit in memory.
    let max_vertices = match scene.bodies().len() {
        0..=100_000 => usize::MAX,
        _ => 8,
    };
    let solids: Vec<Solid> = hulls
        .iter()
        .map(|hull| hull.simplify(max_vertices).map_or_else(|_| hull.clone(), |(simpler, _)| simpler))
        .map(|hull| Solid {
            vertices: hull.vertices().iter().map(|&vertex| Vec3::from_array(vertex)).collect(),
            faces: hull.faces().map(<[u32]>::to_vec).collect(),
        })
        .collect();
    let mut touched_counts = vec![0usize; scene.bodies().len()];
    for body in rows.iter().flat_map(|row| [row.a, row.b]) {
        touched_counts[body as usize] += 1;
    }
    let free = [0x5f7183, 0x71838f, 0x8a99a3, 0x4f6175, 0x9aa7ad, 0x6d7f85, 0xb3bcc0].map(linear);
    // The more bodies a body touches, the redder it is.
    let warm = [0xe48d4c, 0xe37038, 0xda5227, 0xc73a1f, 0xab281a].map(linear);
    let mut random = Random::new(5);
    let items: Vec<Item> = scene
        .bodies()
        .iter()
        .enumerate()
        .map(|(row, body)| {
            let free = free[random.below(free.len())];
            let touched_count = touched_counts[row].min(warm.len());
            Item {
                solid: body.hull as usize,
                placed: Affine3A::from_scale_rotation_translation(
                    Vec3::from_array(body.scale),
                    Quat::from_array(body.rotation),
                    Vec3::from_array(body.position),
                ),
                colour: touched_count.checked_sub(1).map_or(free, |heat| warm[heat]),
            }
        })
        .collect();
    let reach = scene.ring + scene.tube;
    let target = Vec3::new(0.0, -0.12 * reach, 0.0);
    let view = View {
        eye: target + Vec3::new(0.30, 0.66, 1.0).normalize() * (3.55 * reach),
        target,
        field: 0.50,
        ground: -1.9 * scene.tube,
        extent: 1.35 * reach,
        near_length: 0.8,
    };
    picture::draw(&solids, &items, &view, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(a: u32, b: u32, status: Status) -> Intersection {
        let point = Hull::ball(0.0).unwrap();
        let pose = hullfield::collide::Pose::IDENTITY;
        let mut row = hullfield::collide::intersection(&point, pose, &point, pose).unwrap();
        (row.a, row.b, row.status) = (a, b, status);
        row
    }

    fn check_of(here: &[Intersection], there: &[Intersection]) -> Check {
        Check {
            against: "itself".to_owned(),
            candidate_counts: Some([9, 9]),
            hit_counts: [here.len(), there.len()],
            differences: differences(here, there),
        }
    }

    #[test]
    fn the_check_fails_when_one_hit_is_missing() {
        let here = [
            row(0, 1, Status::Penetrating),
            row(0, 4, Status::Touching),
            row(2, 3, Status::Penetrating),
            row(5, 6, Status::Penetrating),
        ];
        assert!(check_of(&here, &here).is_right());
        assert!(check_of(&here, &here).differences.is_empty());
        for missing in [0, 2, 3] {
            let mut there = here.to_vec();
            there.remove(missing);
            assert!(!check_of(&here, &there).is_right(), "row {missing} missing there");
            assert!(!check_of(&there, &here).is_right(), "row {missing} missing here");
        }
    }

    #[test]
    fn a_difference_is_listed_and_wrong() {
        let here = [row(0, 1, Status::Penetrating), row(0, 4, Status::Touching)];
        let there = [row(0, 1, Status::Touching)];
        let check = check_of(&here, &there);
        assert!(!check.is_right());
        assert_eq!(check.differences.len(), 2);
        let check = check_of(&here, &here);
        assert!(check.is_right());
        assert!(!Check { candidate_counts: Some([9, 8]), ..check }.is_right());
    }
}
