//! Paths and postures of a robot among the fixed bodies of a scene.

use glam::DVec3;
use web_time::Instant;

use crate::collide::handle::body::Body;
use crate::collide::handle::id::BodyId;
use crate::collide::handle::scene::{Need, Scene};
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::joint_path::chain::Chain;
use crate::collide::joint_path::query::{self, OwnedPaths};
use crate::collide::joint_path::rows::{PathCheck, PostureCheck};
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::settle::milliseconds;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::joint_paths::relative_to;
use crate::collide::query::options::PathOptions;
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::exclusions::Exclusions;
use crate::collide::scene::joint_path::{JointPath, LinkPose, check_postures};
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

/// A robot: bodies that move with its links. It is none of the scene's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Robot<'a> {
    /// The bodies, hulls or compounds, each placed **in its link**: position and rotation (in URDF the origin of a `collision`) count from the link's
    /// origin. [`Body::owner`] is the number of the link, from 0: the poses of a sample are those of the links in this order. A body without an
    /// owner is of the link of its own row. Links without bodies have poses too where a later link has bodies. Bodies of one link never meet.
    pub bodies: &'a [Body],
    /// Pairs of links that never meet.
    pub excluded_links: &'a [[u32; 2]],
    /// Links and bodies of the scene that never meet.
    pub excluded_bodies: &'a [(u32, BodyId)],
}

impl<'a> Robot<'a> {
    /// A robot of these bodies.
    pub fn new(bodies: &'a [Body]) -> Self {
        Self { bodies, ..Self::default() }
    }
}

/// A robot among fixed bodies, and how its answers name both.
struct Placed {
    chain: Chain,
    /// The body of each part, then the scene's row of each fixed part, after the robot's bodies.
    names: Vec<u32>,
}

impl Scene {
    /// Finds whether a robot may take paths without its links meeting one another or the fixed bodies of the scene: one row a path, in their
    /// order. Bodies that move do not matter. Where the scene has several worlds, the fixed bodies of [every world](Body::EVERY_WORLD) count.
    ///
    /// In rows of answers bodies of the robot are named by their rows, and a body of the scene by its row after as many as the robot has.
    ///
    /// # What is proved
    /// [`JointPath`] says how the links move between samples. With τ the tolerance of [`intersections`](Self::intersections):
    ///
    /// - [`Free`](crate::collide::PathOutcome::Free): each pair is apart by more than ¾ τ at every time of every motion that is the same at the
    ///   samples and within the deviations between.
    /// - [`Hit`](crate::collide::PathOutcome::Hit): at [`PathCheck::time`] the pair is within τ, or overlaps, measured in f64.
    /// - [`Undecided`](crate::collide::PathOutcome::Undecided): the pair may meet at [`PathCheck::free_until`], and no sample shows a hit.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine, in f64: the rows are the same bit for bit on every engine and machine.
    ///
    /// # Errors
    /// The call itself fails for bad input. For a path with its [`Location::JointPath`], and sample and link where these matter
    /// ([`Location::PathSample`]): [`Error::Value`], [`Error::Count`], and [`Error::Invalid`] where a step turns a link by π to within 1e-6. For
    /// the robot as [`Scene::insert`], at its [`Location::Body`]; [`Error::Invalid`] for a half-space or a height field as a link, for a body of the
    /// scene that is excluded and not fixed, and where a fixed body is a height field; [`Error::Missing`] where an excluded link does not exist.
    /// [`Error::Value`] where the limit of steps is 0. The pending answer fails with [`Error::MemoryLimit`] where the rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::next::{Body, Hull, Robot, Scene, SceneOptions, Shapes};
    /// use hullfield::collide::{JointPath, LinkPose, PathOptions, PathOutcome};
    ///
    /// // An arm of one link, 2 long, that turns about z past a post at (1, 1, 0).
    /// let shapes = [Hull::cuboid([1.0, 0.05, 0.05])?.into(), Hull::ball(0.1)?.into()];
    /// let shapes = Shapes::new(&Engine::cpu(), shapes)?;
    /// let post = Body::new(1).at([1.0, 1.0, 0.0]).fixed();
    /// let scene = Scene::new(&shapes, &[post], SceneOptions::default())?;
    /// let links = [Body::new(0).at([1.0, 0.0, 0.0])];
    /// let turned = |angle: f64| {
    ///     let (sin, cos) = (0.5 * angle).sin_cos();
    ///     LinkPose { position: [0.0; 3], rotation: [0.0, 0.0, sin, cos] }
    /// };
    /// let (short, long) = ([turned(0.0), turned(0.5)], [turned(0.0), turned(1.5)]);
    /// let paths = [JointPath::new(2, &short), JointPath::new(2, &long)];
    /// let found = scene.joint_paths(&Robot::new(&links), &paths, &PathOptions::default())?.wait()?;
    /// assert_eq!(found.rows[0].outcome, PathOutcome::Free);
    /// // The samples at 0 and 1.5 radians are free; the step between is not.
    /// assert_eq!((found.rows[1].outcome, found.rows[1].pair), (PathOutcome::Hit, Some([0, 1])));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn joint_paths(
        &self,
        robot: &Robot<'_>,
        paths: &[JointPath<'_>],
        options: &PathOptions,
    ) -> Result<Pending<Batch<PathCheck>>> {
        let begin = Instant::now();
        span!("hullfield.collide.joint_paths", bodies = robot.bodies.len(), paths = paths.len());
        timed_call(|| {
            let step_limit = options.step_limit;
            if step_limit == 0 {
                return Err(Error::value(Location::Argument, "step_limit", 0, "it must be at least 1"));
            }
            let (count, limit) = (paths.len() as u64, u64::from(u32::MAX));
            if count > limit {
                return Err(Error::TooMany { what: "paths", count, limit });
            }
            let Placed { chain, names } = self.place_robot(robot)?;
            let mut paths = OwnedPaths::new(paths, chain.link_count)?;
            relative_to(&mut paths.poses, chain.origin());
            let (answer_limit, upload_ms) = (self.shapes().engine().answer_limit(), milliseconds(begin));
            Ok(Pending::spawn(move |awaited| {
                let mut found = query::joint_paths(&chain, &paths, step_limit, answer_limit, awaited)?;
                found.rows.iter_mut().for_each(|row| name(&mut row.pair, &names));
                found.stats.times.upload_ms = upload_ms;
                Ok(found)
            }))
        })
    }

    /// Finds whether a robot in many postures, poses of its links at single times, meets itself or the fixed bodies of the scene: one row a
    /// posture, in their order, with the first pair that does.
    ///
    /// The robot is that of [`joint_paths`](Self::joint_paths). `poses` are those of all links in the first of `posture_count` postures,
    /// then those of the next: `[posture, link]`, row by row. The search in a posture ends with the first pair that touches or penetrates,
    /// by the verdict of [`intersections`](Self::intersections).
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine. The rows are the same on every engine and machine.
    ///
    /// # Errors
    /// As [`joint_paths`](Self::joint_paths); for a posture at its [`Location::Posture`]: [`Error::Value`], and [`Error::Count`] where there are not
    /// as many poses as links and postures ask.
    pub fn postures(
        &self,
        robot: &Robot<'_>,
        posture_count: usize,
        poses: &[LinkPose],
    ) -> Result<Pending<Batch<PostureCheck>>> {
        let begin = Instant::now();
        span!("hullfield.collide.postures", bodies = robot.bodies.len(), postures = posture_count);
        timed_call(|| {
            let Placed { chain, names } = self.place_robot(robot)?;
            check_postures(posture_count, poses, chain.link_count)?;
            let mut poses = poses.to_vec();
            relative_to(&mut poses, chain.origin());
            let (answer_limit, upload_ms) = (self.shapes().engine().answer_limit(), milliseconds(begin));
            Ok(Pending::spawn(move |awaited| {
                let mut found = query::postures(&chain, posture_count, &poses, answer_limit, awaited)?;
                found.rows.iter_mut().for_each(|row| name(&mut row.pair, &names));
                found.stats.times.upload_ms = upload_ms;
                Ok(found)
            }))
        })
    }

    /// The robot among the fixed bodies.
    fn place_robot(&self, robot: &Robot<'_>) -> Result<Placed> {
        let snapshot = self.snapshot(Need::Bodies)?;
        let is_fixed_field = |row: &&u32| snapshot.bodies[**row as usize].fixed;
        if let Some(&row) = snapshot.parts.field_rows.iter().find(is_fixed_field) {
            let message = "it is a height field, which no path of a robot is tested against yet";
            return Err(Error::invalid(Location::Body(row as usize), message));
        }
        let (mut parts, mut positions, mut links, mut names) =
            (Vec::<Instance>::new(), Vec::new(), Vec::new(), Vec::new());
        let mut found: Vec<(Instance, DVec3)> = Vec::new();
        for (row, body) in (0..).zip(robot.bodies) {
            snapshot.parts_of(body, Location::Body(row as usize), &mut found)?;
            for (part, position) in found.drain(..) {
                parts.push(part);
                positions.push(position.to_array());
                links.push(body.owner.unwrap_or(row));
                names.push(row);
            }
        }
        let mut excluded = Vec::new();
        for (at, &(link, id)) in robot.excluded_bodies.iter().enumerate() {
            let fixed = self.fixed_parts(&snapshot, id, Location::Pair(at))?;
            excluded.extend(fixed.map(|index| [link, index]));
        }
        let exclusions = Exclusions::new(robot.excluded_links)?.with_statics(&excluded);
        let columns = BodyColumns {
            positions: &positions,
            owners: &links,
            exclusions: Some(&exclusions),
            ..BodyColumns::new(&parts)
        };
        let statics = snapshot.input.statics.as_ref();
        let name = |at: Location| match at {
            Location::Body(part) => Location::Body(names.get(part).map_or(part, |&row| row as usize)),
            at => at,
        };
        let chain = Chain::new(&snapshot.table.hulls, statics, columns).map_err(|error| error.moved(name))?;
        let fixed = snapshot.input.mover_count as u32..snapshot.input.bodies.len() as u32;
        let count = robot.bodies.len() as u32;
        names.extend(fixed.map(|place| count + snapshot.names.of(snapshot.names.leaf(place))[0]));
        Ok(Placed { chain, names })
    }

    /// The parts of a fixed body among those of all fixed bodies.
    fn fixed_parts(
        &self,
        snapshot: &Snapshot,
        id: BodyId,
        at: Location,
    ) -> Result<impl Iterator<Item = u32> + use<>> {
        self.check_id(id, at)?;
        let (places, count) = (snapshot.places_of(id.row), snapshot.input.mover_count as u32);
        if places.start < count {
            return Err(Error::invalid(at, format!("{id} is none of the fixed bodies that a robot meets")));
        }
        Ok(places.map(move |place| place - count))
    }
}

/// Names the bodies of a pair.
fn name(pair: &mut Option<[u32; 2]>, names: &[u32]) {
    *pair = pair.map(|pair| pair.map(|id| names[id as usize]));
}
