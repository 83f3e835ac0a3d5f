//! Paths and postures of a robot among the statics of an arena.

use glam::DVec3;
use web_time::Instant;

use crate::collide::joint_path::chain::Chain;
use crate::collide::joint_path::query::{self, OwnedPaths};
use crate::collide::joint_path::rows::{PathCheck, PostureCheck};
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::Arena;
use crate::collide::query::options::PathOptions;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::joint_path::{JointPath, LinkPose, check_postures};
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

impl Arena {
    /// The robot of some links among the statics.
    fn chain(&self, columns: BodyColumns<'_>) -> Result<Chain> {
        Chain::new(&self.scene, self.statics.as_ref(), columns)
    }

    /// Finds whether a robot may take paths without its links meeting one another or the statics: one row a path, in their order.
    ///
    /// # The robot
    /// `links` are the bodies of the robot's links, each placed **in its link**: [`Body::position`](crate::collide::Body::position) and
    /// `rotation` (in URDF the origin of a `collision`) count from the link's origin. A link is an owner ([`BodyColumns::owners`]), numbered
    /// from 0: the poses of a sample are those of the links in this order. Without owners each body is a link of its own. Links without
    /// bodies have poses too where a later link has bodies. Bodies of one link never meet. Links of
    /// [`BodyColumns::exclusions`] never meet either: there link `i` is `i`, and the static `i` of a robot of `n` links is `n + i`, or `i` in
    /// [`Exclusions::with_statics`](crate::collide::Exclusions::with_statics). Groups and masks count as in all queries. The surroundings are the arena's [statics](crate::collide::Options::statics).
    /// Where these have [positions in f64](crate::collide::Options::static_positions), poses are taken relative to a point amid the statics. So
    /// a robot near them has the same answers at any distance from the world's origin.
    ///
    /// # What is proved
    /// [`JointPath`] says how the links move between samples. With τ the tolerance of [`intersections`](Self::intersections):
    ///
    /// - [`Free`](crate::collide::PathOutcome::Free): each pair is apart by more than ¾ τ at every time of every motion that is the same at the
    ///   samples and within the deviations between. So no sample's pair touches, and nothing is missed between samples: the motion is
    ///   bounded, not sampled.
    /// - [`Hit`](crate::collide::PathOutcome::Hit): at [`PathCheck::time`] the pair is within τ, or overlaps, measured in f64. Where a step has
    ///   deviations only its samples can show that.
    /// - [`Undecided`](crate::collide::PathOutcome::Undecided): the pair may meet at [`PathCheck::free_until`], and no sample shows a hit. More
    ///   samples decide it: deviations fall with the square of the step. Without deviations only a pair is undecided that passes within
    ///   about τ and needs more than [`PathOptions::step_limit`] steps, or that is 1e7 times its size from the origin.
    ///
    /// A path that starts in contact is hit at 0. Exclude pairs that are meant to touch, such as a gripper and what it holds.
    ///
    /// # Method
    /// Conservative advancement (Mirtich 1996; Zhang, Lee and Kim 2006) of thickened pairs in f64, that of [`sweeps`](Self::sweeps). Most
    /// pairs never come to it: a pair is skipped while its gap at an earlier sample exceeds how far its bodies have moved since (Schwarzer,
    /// Saha and Latombe 2005).
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine, in f64 throughout: the rows are the same bit for bit on every engine and machine and for every
    /// number of threads.
    ///
    /// # Cost
    /// The statics' tree is that of the arena. A path ends with its first hit. Pairs of the robot's own bodies are compared one by one in each
    /// step, so some hundred bodies are too many. A path costs about as much as the closeness of its links to one another and to statics asks: a
    /// pair that is advanced takes about a microsecond a step. The paths are copied: 56 bytes a pose.
    ///
    /// # Errors
    /// The call itself fails for bad input. For a path with its [`Location::JointPath`], and sample and link where these matter
    /// ([`Location::PathSample`]): [`Error::Value`] where it has fewer than two samples, a number is not finite or above 1e18, a rotation is
    /// not of unit length, or a deviation is negative; [`Error::Count`] where poses or deviations are not as many as links and samples ask;
    /// [`Error::Invalid`] where a step turns a link by π to within 1e-6. For the robot: as [`intersections`](Self::intersections);
    /// [`Error::Missing`] where an exclusion names neither a link nor a static; [`Error::Invalid`] for a half-space as a link and for
    /// [`BodyColumns::worlds`]; [`Error::Value`] where the limit of steps is 0. The pending answer fails with [`Error::MemoryLimit`] where the
    /// rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, JointPath, LinkPose, Options, PathOptions, PathOutcome};
    ///
    /// // An arm of one link, 2 long, that turns about z past a post at (1, 1, 0).
    /// let hulls = [Hull::cuboid([1.0, 0.05, 0.05])?, Hull::ball(0.1)?];
    /// let statics = vec![Body::new(1).at([1.0, 1.0, 0.0])];
    /// let arena = Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() })?;
    /// let links = [Body::new(0).at([1.0, 0.0, 0.0])];
    /// let turned = |angle: f64| {
    ///     let (sin, cos) = (0.5 * angle).sin_cos();
    ///     LinkPose { position: [0.0; 3], rotation: [0.0, 0.0, sin, cos] }
    /// };
    /// let (short, long) = ([turned(0.0), turned(0.5)], [turned(0.0), turned(1.5)]);
    /// let paths = [JointPath::new(2, &short), JointPath::new(2, &long)];
    /// let found = arena.joint_paths(&links, &paths, &PathOptions::default())?.wait()?;
    /// assert_eq!(found.rows[0].outcome, PathOutcome::Free);
    /// // The samples at 0 and 1.5 radians are free; the step between is not.
    /// assert_eq!((found.rows[1].outcome, found.rows[1].pair), (PathOutcome::Hit, Some([0, 1])));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn joint_paths<'a>(
        &self,
        links: impl Into<BodyColumns<'a>>,
        paths: &[JointPath<'_>],
        options: &PathOptions,
    ) -> Result<Pending<Batch<PathCheck>>> {
        self.joint_paths_inner(links.into(), paths, options)
    }

    fn joint_paths_inner(
        &self,
        columns: BodyColumns<'_>,
        paths: &[JointPath<'_>],
        options: &PathOptions,
    ) -> Result<Pending<Batch<PathCheck>>> {
        let begin = Instant::now();
        span!("hullfield.collide.joint_paths", bodies = columns.bodies.len(), paths = paths.len());
        timed_call(|| {
            let step_limit = options.step_limit;
            if step_limit == 0 {
                return Err(Error::value(Location::Argument, "step_limit", 0, "it must be at least 1"));
            }
            let (count, limit) = (paths.len() as u64, u64::from(u32::MAX));
            if count > limit {
                return Err(Error::TooMany { what: "paths", count, limit });
            }
            let chain = self.chain(columns)?;
            let mut paths = OwnedPaths::new(paths, chain.link_count)?;
            relative_to(&mut paths.poses, chain.origin());
            let (answer_limit, upload_ms) =
                (self.engine().answer_limit(), begin.elapsed().as_secs_f64() * 1e3);
            Ok(Pending::spawn(move |awaited| {
                let found = query::joint_paths(&chain, &paths, step_limit, answer_limit, awaited)?;
                Ok(uploaded(found, upload_ms))
            }))
        })
    }

    /// Finds whether a robot in many postures, poses of its links at single times, meets itself or the statics: one row a posture, in
    /// their order, with the first pair that does.
    ///
    /// The robot is that of [`joint_paths`](Self::joint_paths). `poses` are those of all links in the first of `posture_count` postures,
    /// then those of the next: `[posture, link]`, row by row. The search in a posture ends with the first pair that touches or penetrates,
    /// by the verdict of [`intersections`](Self::intersections). That verdict is of the bodies at their poses in the world, which are
    /// computed in f64. A path is free only where all its samples are.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine: f32, and f64 where that can't decide. The rows are the same on every engine and machine.
    ///
    /// # Errors
    /// The call itself fails for bad input. For a posture with its [`Location::Posture`]: [`Error::Value`] where a number is not finite or
    /// above 1e18, or a rotation is not of unit length; [`Error::Count`] where there are not as many poses as links and postures ask;
    /// [`Error::TooMany`]. For the robot as [`joint_paths`](Self::joint_paths). The pending answer fails with [`Error::MemoryLimit`] where the
    /// rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, LinkPose, Options};
    ///
    /// let hulls = [Hull::ball(0.5)?];
    /// let statics = vec![Body::new(0).at([3.0, 0.0, 0.0])];
    /// let arena = Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() })?;
    /// let at = |x: f64| LinkPose { position: [x, 0.0, 0.0], ..LinkPose::IDENTITY };
    /// let found = arena.postures(&[Body::new(0)], 2, &[at(0.0), at(2.5)])?.wait()?;
    /// assert!(found.rows[0].is_free());
    /// assert_eq!(found.rows[1].pair, Some([0, 1]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn postures<'a>(
        &self,
        links: impl Into<BodyColumns<'a>>,
        posture_count: usize,
        poses: &[LinkPose],
    ) -> Result<Pending<Batch<PostureCheck>>> {
        self.postures_inner(links.into(), posture_count, poses)
    }

    fn postures_inner(
        &self,
        columns: BodyColumns<'_>,
        posture_count: usize,
        poses: &[LinkPose],
    ) -> Result<Pending<Batch<PostureCheck>>> {
        let begin = Instant::now();
        span!("hullfield.collide.postures", bodies = columns.bodies.len(), postures = posture_count);
        timed_call(|| {
            let chain = self.chain(columns)?;
            check_postures(posture_count, poses, chain.link_count)?;
            let mut poses = poses.to_vec();
            relative_to(&mut poses, chain.origin());
            let (answer_limit, upload_ms) =
                (self.engine().answer_limit(), begin.elapsed().as_secs_f64() * 1e3);
            Ok(Pending::spawn(move |awaited| {
                let found = query::postures(&chain, posture_count, &poses, answer_limit, awaited)?;
                Ok(uploaded(found, upload_ms))
            }))
        })
    }
}

/// Poses relative to the origin that the statics are laid out about.
pub(crate) fn relative_to(poses: &mut [LinkPose], origin: Option<DVec3>) {
    let Some(origin) = origin else { return };
    for pose in poses {
        pose.position = (DVec3::from(pose.position) - origin).to_array();
    }
}

fn uploaded<R>(mut found: Batch<R>, upload_ms: f64) -> Batch<R> {
    found.stats.times.upload_ms = upload_ms;
    found
}
