//! An arm among obstacles, as a planner asks: postures and paths against parry3d's `Bvh` and `intersection_test`.

use glam::{DQuat, DVec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Exclusions, Hull, JointPath, JointStep, LinkPose, PathCheck, PathOptions,
    PathOutcome, PostureCheck, joint_deviation,
};
use hullfield_oracle::joint_path::{Carried, LinkFrame, gap, tau};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Pose, Shape};

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::PlannerPeer;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave};

/// Joints of the arm; link 0 is the base.
const JOINTS: usize = 7;
const LINKS: usize = JOINTS + 1;
/// From each joint to the next, in metres; the last is the hand's.
const LENGTHS: [f64; LINKS] = [0.33, 0.16, 0.2, 0.2, 0.2, 0.18, 0.1, 0.12];
/// Half of the thickness of the links.
const THICK: f64 = 0.06;
/// How far each joint turns to either side, in radians.
const LIMITS: [f64; JOINTS] = [2.9, 1.8, 2.9, 2.2, 2.9, 2.0, 2.9];
/// Samples of a path.
const SAMPLES: usize = 64;

type Configuration = [f64; JOINTS];

/// The arm, its surroundings, and what is asked of it.
struct Arm {
    hulls: Vec<Hull>,
    shapes: Vec<Shape>,
    bodies: Vec<Body>,
    owners: Vec<u32>,
    exclusions: Exclusions,
    statics: Vec<Body>,
}

impl Arm {
    /// Links are prisms of 32 vertices; obstacles are hulls of so many, on shells around the arm.
    fn new(obstacle_count: usize, vertex_count: usize) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let mut hulls = Vec::new();
        let (mut bodies, mut owners) = (Vec::new(), Vec::new());
        for (link, &length) in LENGTHS.iter().enumerate() {
            let thick = (THICK - 0.004 * link as f64) as f32;
            bodies.push(Body::new(link as u32));
            owners.push(link as u32);
            hulls.push(Hull::cylinder([0.0; 3], [0.0, 0.0, length as f32], thick, 16).map_err(message)?);
        }
        for _ in 0..8 {
            let points: Vec<[f32; 3]> =
                (0..vertex_count).map(|_| (0.06 * random.direction()).as_vec3().to_array()).collect();
            hulls.push(Hull::from_points(&points).map_err(message)?);
        }
        let statics = (0..obstacle_count)
            .map(|at| {
                let flat = DVec3::new(random.normal(), random.normal(), 0.0).normalize();
                let place = flat * random.between(0.35, 1.1) + DVec3::Z * random.between(0.0, 1.3);
                let body = Body::new((LINKS + at % 8) as u32).at(place.as_vec3().to_array());
                body.rotated(random.rotation())
            })
            .collect();
        // Links overlap at their joints, and short ones with the next but one.
        let near = |a: u32| [[a, a + 1], [a, a + 2]];
        let pairs: Vec<[u32; 2]> =
            (0..LINKS as u32).flat_map(near).filter(|pair| pair[1] < LINKS as u32).collect();
        let exclusions = Exclusions::new(&pairs).map_err(message)?;
        let shapes = hulls.iter().map(|hull| Shape::new(hull.vertices())).collect();
        Ok(Self { hulls, shapes, bodies, owners, exclusions, statics })
    }

    fn columns(&self) -> BodyColumns<'_> {
        BodyColumns {
            owners: &self.owners,
            exclusions: Some(&self.exclusions),
            ..BodyColumns::new(&self.bodies)
        }
    }

    /// The oracle's gap and tolerance of a pair in a posture.
    fn gap(&self, pair: [u32; 2], links: &[LinkPose]) -> [f64; 2] {
        let part = |id: u32| {
            let (body, link) = match self.bodies.get(id as usize) {
                Some(body) => {
                    let LinkPose { position, rotation } = links[self.owners[id as usize] as usize];
                    let (position, rotation) = (DVec3::from(position), DQuat::from_array(rotation));
                    (body, LinkFrame { position, rotation })
                }
                None => (&self.statics[id as usize - self.bodies.len()], LinkFrame::WORLD),
            };
            let Body { position, rotation, scale, padding, .. } = *body;
            let pose = Pose { position, rotation, scale, radius: padding };
            (Carried { shape: &self.shapes[body.hull as usize], pose }, link)
        };
        let [(a, at), (b, by)] = pair.map(part);
        [gap([&a, &b], [&at, &by]), tau([&a, &b])]
    }
}

/// Where the links are.
fn links(values: &Configuration) -> [LinkPose; LINKS] {
    let (mut position, mut rotation) = (DVec3::ZERO, DQuat::IDENTITY);
    std::array::from_fn(|link| {
        if let Some(joint) = link.checked_sub(1) {
            position += rotation * DVec3::Z * LENGTHS[joint];
            let axis = if joint % 2 == 0 { DVec3::Z } else { DVec3::Y };
            rotation = (rotation * DQuat::from_axis_angle(axis, values[joint])).normalize();
        }
        LinkPose { position: position.to_array(), rotation: rotation.to_array() }
    })
}

fn between(from: &Configuration, to: &Configuration, share: f64) -> Configuration {
    std::array::from_fn(|k| from[k] + (to[k] - from[k]) * share)
}

/// The bounds of the deviations of all steps.
fn deviations(from: &Configuration, to: &Configuration) -> Vec<f64> {
    let of_link = |link: usize| {
        let joint = |joint: usize| JointStep::Revolute {
            angle: (to[joint] - from[joint]) / (SAMPLES - 1) as f64,
            reach: LENGTHS[joint + 1..=link].iter().sum::<f64>() + THICK,
        };
        joint_deviation(&(0..link).map(joint).collect::<Vec<_>>(), LENGTHS[link] + THICK)
    };
    (0..LINKS).map(of_link).collect::<Vec<f64>>().repeat(SAMPLES - 1)
}

/// Times the CPU engine on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn against_peer(options: &Options, report: &mut Report) -> Result<(), String> {
    let (posture_count, path_count) = if options.quick { (500, 20) } else { (10_000, 1_000) };
    let repetitions = if options.quick { 3 } else { 9 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let mut table = Table::new(
        "planner",
        format!(
            "An arm of seven joints among obstacles, one thread each, {repetitions} interleaved repetitions"
        ),
        &[
            "obstacles",
            "asked",
            "free",
            "undecided",
            "hullfield a second",
            "±",
            "parry3d a second",
            "parry3d ±",
            "ratio",
            "differ",
        ],
    );
    for (obstacle_count, vertex_count) in [(30, 32), (300, 32), (300, 8)] {
        let arm = Arm::new(obstacle_count, vertex_count)?;
        let settings = hullfield::collide::Options { statics: arm.statics.clone(), ..Default::default() };
        let arena = Arena::new(&Engine::cpu(), &arm.hulls, settings).map_err(message)?;
        let peer = PlannerPeer::new(&arm.hulls, &arm.bodies, &arm.statics, &arm.exclusions)?;
        let mut random = Random::new(SEED);
        let mut configuration = || LIMITS.map(|limit| random.between(-limit, limit));
        let configurations: Vec<Configuration> = (0..posture_count).map(|_| configuration()).collect();
        let poses: Vec<LinkPose> = configurations.iter().flat_map(links).collect();
        let name = format!("{obstacle_count} of {vertex_count} vertices");
        eprintln!("planner: {name}");

        let postures = || -> Result<Vec<PostureCheck>, String> {
            let pending = arena.postures(arm.columns(), posture_count, &poses).map_err(message)?;
            Ok(pending.wait().map_err(message)?.rows)
        };
        let found = one.install(postures)?;
        let their_poses = peer.poses(&poses);
        let theirs: Vec<_> = their_poses.chunks(LINKS).map(|links| peer.first_pair(links)).collect();
        let mut differ_count = 0_usize;
        for ((row, other), links) in found.iter().zip(&theirs).zip(poses.chunks(LINKS)) {
            if row.is_free() == other.is_none() {
                continue;
            }
            differ_count += 1;
            let Some(pair) = row.pair.or(*other) else { continue };
            let [gap, tau] = arm.gap(pair, links);
            if if row.is_free() { gap < 0.7 * tau } else { gap > tau } {
                report.fail(format!("planner, {name}: posture {}: {gap:e} of {pair:?}", row.posture));
            }
        }
        let [mine, other] = interleave(
            repetitions,
            || one.install(postures).map(drop),
            || {
                for links in their_poses.chunks(LINKS) {
                    std::hint::black_box(peer.first_pair(links));
                }
                Ok(())
            },
        )?;
        let rate = |samples: &Samples, count: usize| 1e3 * count as f64 / samples.median();
        let free = found.iter().filter(|row| row.is_free()).count();
        table.row([
            name.clone().into(),
            "postures".into(),
            Cell::Share(free as f64 / posture_count as f64, 0),
            Cell::Empty,
            Cell::Number(rate(&mine, posture_count), 0),
            Cell::Share(mine.spread(), 0),
            Cell::Number(rate(&other, posture_count), 0),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            differ_count.into(),
        ]);

        // Paths between free postures: long ones, and short ones as a tree of a planner grows by.
        let starts: Vec<&Configuration> =
            found.iter().zip(&configurations).filter(|(row, _)| row.is_free()).map(|(_, q)| q).collect();
        if starts.len() < 2 {
            report.fail(format!("planner, {name}: no two postures are free"));
            continue;
        }
        for (kind, share) in [("long paths", 1.0), ("short paths", 0.1)] {
            let ends: Vec<[Configuration; 2]> = (0..path_count)
                .map(|_| {
                    let [from, to] = [0; 2].map(|_| starts[random.below(starts.len())]);
                    [*from, between(from, to, share)]
                })
                .collect();
            let at = |ends: &[Configuration; 2], k: usize| {
                links(&between(&ends[0], &ends[1], k as f64 / (SAMPLES - 1) as f64))
            };
            let poses: Vec<LinkPose> =
                ends.iter().flat_map(|ends| (0..SAMPLES).flat_map(|k| at(ends, k))).collect();
            let bounds: Vec<Vec<f64>> = ends.iter().map(|[from, to]| deviations(from, to)).collect();
            let paths: Vec<JointPath<'_>> = poses
                .chunks(SAMPLES * LINKS)
                .zip(&bounds)
                .map(|(poses, bounds)| JointPath::new(SAMPLES, poses).within(bounds))
                .collect();
            let check = || -> Result<Vec<PathCheck>, String> {
                let pending = arena.joint_paths(arm.columns(), &paths, &PathOptions::default());
                Ok(pending.map_err(message)?.wait().map_err(message)?.rows)
            };
            let found = one.install(check)?;
            let their_poses = peer.poses(&poses);
            let sampled = |path: &[parry3d::math::Pose]| {
                path.chunks(LINKS)
                    .enumerate()
                    .find_map(|(at, links)| peer.first_pair(links).map(|pair| (at, pair)))
            };
            let mut differ_count = 0_usize;
            for (row, (path, poses)) in
                found.iter().zip(their_poses.chunks(SAMPLES * LINKS).zip(poses.chunks(SAMPLES * LINKS)))
            {
                let theirs = sampled(path);
                differ_count += usize::from((row.outcome == PathOutcome::Hit) != theirs.is_some());
                let Some((sample, pair)) = theirs else { continue };
                // Before that the pair is not hit.
                let [gap, tau] = arm.gap(pair, &poses[sample * LINKS..(sample + 1) * LINKS]);
                if row.free_until > sample as f64 && gap < 0.7 * tau {
                    report.fail(format!("planner, {name}: path {}: {gap:e} of {pair:?}", row.path));
                }
            }
            let [mine, other] = interleave(
                repetitions,
                || one.install(check).map(drop),
                || {
                    for path in their_poses.chunks(SAMPLES * LINKS) {
                        std::hint::black_box(sampled(path));
                    }
                    Ok(())
                },
            )?;
            let share = |outcome| {
                found.iter().filter(|row| row.outcome == outcome).count() as f64 / path_count as f64
            };
            table.row([
                name.clone().into(),
                kind.into(),
                Cell::Share(share(PathOutcome::Free), 0),
                Cell::Share(share(PathOutcome::Undecided), 1),
                Cell::Number(rate(&mine, path_count), 0),
                Cell::Share(mine.spread(), 0),
                Cell::Number(rate(&other, path_count), 0),
                Cell::Share(other.spread(), 0),
                Cell::Number(mine.ratio(&other), 3),
                differ_count.into(),
            ]);
        }
    }
    table.note(format!(
        "Paths have {SAMPLES} samples. hullfield proves the motion of the joints between them; parry3d tests the samples alone, until one is hit. Short paths turn the joints a tenth as far.",
    ));
    table.note("ratio: hullfield's time over parry3d's; differ: postures, or paths, of which one says hit and the other does not. The oracle has found hullfield right in all postures, and no path free before a sample that parry3d finds hit.");
    report.table(table);
    Ok(())
}
