//! The arena: hulls laid out for an engine once, and the queries over bodies that use them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use glam::DVec3;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{
    Batch, Contact, Distance, Gradient, Intersection, Manifold, Precision,
};
use crate::collide::narrow_phase::settle::MeasureRequest;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::narrow_phase::trace::{Trace, trace};
use crate::collide::query::cpu;
use crate::collide::query::estimate::Estimate;
use crate::collide::query::gpu;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::kinds::Query;
use crate::collide::query::options::{
    ContactOptions, DistanceOptions, GradientOptions, ManifoldOptions, Options, SweepOptions,
};
use crate::collide::query::order::{PairRow, named, named_pairs};
use crate::collide::query::warm;
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::origin_of;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::{Pairs, check as check_pairs};
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::rules::OrderedRules;
use crate::collide::scene::statics::Statics;
use crate::collide::scene::stored::Stored;
use crate::collide::sweep::query;
use crate::collide::sweep::query::Moves;
use crate::collide::sweep::rows::Sweep;
use crate::collide::warm::cache::WarmStart;
use crate::engine::Engine;
use crate::error::{Error, Location, Result};
use crate::lock::lock;
use crate::observe::span;
use crate::pending::Pending;

/// The unique hulls of a scene, laid out for an engine once. Queries then take only bodies.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{Arena, Body, Hull, Options, Pairs, Status};
///
/// let engine = Engine::auto()?;
/// let arena = Arena::new(&engine, &[Hull::cuboid([0.5; 3])?], Options::default())?;
/// let bodies = [Body::new(0), Body::new(0).at([0.9, 0.0, 0.0]), Body::new(0).at([3.0, 0.0, 0.0])];
/// let found = arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
/// assert_eq!((found.rows.len(), found.rows[0].a, found.rows[0].b), (1, 0, 1));
/// assert_eq!(found.rows[0].status, Status::Penetrating);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Arena {
    engine: Engine,
    pub(crate) scene: Arc<Scene>,
    /// The hulls on the device; none on the CPU engine.
    pub(crate) gpu: Option<Arc<GpuArena>>,
    options: Arc<Options>,
    /// Bodies that do not move.
    pub(crate) statics: Option<Arc<Statics>>,
    /// The memory of the CPU's broad phase.
    searches: Arc<SearchPool>,
    /// Statics laid out for queries with positions in f64, the last used first.
    far_statics: Arc<Mutex<Vec<(DVec3, PlacedStatics)>>>,
    /// The cache of warm-started queries, shared by clones of this handle.
    warm: Option<Arc<WarmStart>>,
    /// Whether the CPU engine leaves out rows of given pairs that the broad phase would not list.
    is_listing: bool,
    /// Whether the statics are about the origin of the query.
    is_about: bool,
}

/// The statics for the CPU, and the hulls and statics on the device.
type PlacedStatics = (Option<Arc<Statics>>, Option<Arc<GpuArena>>);

/// Most origins that the statics are kept laid out about.
const FAR_STATICS: usize = 4;

impl Arena {
    /// Lays out the hulls and the statics and, on a GPU engine, uploads them.
    ///
    /// # Errors
    /// For a static that can't be used [`Error::Missing`], [`Error::Value`] and [`Error::Invalid`] at its
    /// [`Location::Body`](crate::Location::Body).
    /// [`Error::TooMany`] where the vertices of all hulls exceed 2³² − 1. On a GPU engine [`Error::MemoryLimit`] where
    /// they do not fit in the engine's memory limit, or where not all fit in one storage binding (128 MiB by WebGPU's default: 8
    /// million vertices) and half of a binding does not hold the vertices or the support table of one of them ([`Hull::simplify`] makes
    /// it smaller, and the CPU engine has no such limit); [`Error::OutOfMemory`] and [`Error::DeviceLost`] from the device.
    ///
    /// # Size
    /// Bodies, statics or hulls that do not fit in one binding (1.6 million bodies) are split into blocks of half a binding. Queries run
    /// over pairs of blocks one after the other. The rows stay the same, and the time grows with the square of the number of blocks.
    pub fn new(engine: &Engine, hulls: &[Hull], options: Options) -> Result<Self> {
        Self::of_scene(engine, Scene::new(hulls)?)?.with_options(options)
    }

    /// An arena with the options' defaults.
    fn of_scene(engine: &Engine, scene: Scene) -> Result<Self> {
        let scene = Arc::new(scene);
        let gpu = match engine.context() {
            Some(context) => Some(Arc::new(GpuArena::new(context, &scene)?)),
            None => None,
        };
        Ok(Self {
            engine: engine.clone(),
            scene,
            gpu,
            options: Arc::default(),
            statics: None,
            searches: Arc::default(),
            far_statics: Arc::default(),
            warm: None,
            is_listing: false,
            is_about: false,
        })
    }

    /// A handle with the same hulls and other options. Both handles share the hulls, on the device too.
    ///
    /// Unchanged statics are shared. Changed ones are laid out and uploaded. The cache of a warm start is shared where both handles have one.
    ///
    /// # Errors
    /// As [`Arena::new`].
    pub fn with_options(&self, options: Options) -> Result<Self> {
        let has_same_statics = options.statics == self.options.statics
            && options.static_positions == self.options.static_positions;
        let (statics, gpu) = if has_same_statics {
            (self.statics.clone(), self.gpu.clone())
        } else {
            self.place_statics(&options)?
        };
        let warm = options.warm_start.then(|| self.warm.clone().unwrap_or_default());
        let far_statics = if has_same_statics { Arc::clone(&self.far_statics) } else { Arc::default() };
        Ok(Self { statics, gpu, far_statics, warm, options: Arc::new(options), ..self.clone() })
    }

    /// Lays out the statics of some options for the CPU and the device.
    fn place_statics(&self, options: &Options) -> Result<PlacedStatics> {
        let columns = static_columns(options)?;
        if !columns.positions.is_empty() {
            return self.place_statics_about(&columns, origin_of(&columns, &self.scene.supports));
        }
        let (statics, packed) = Statics::new(&self.scene.supports, columns.bodies)?;
        let gpu = self.gpu.as_ref().map(|gpu| gpu.with_statics(&packed)).transpose()?;
        Ok(((!columns.bodies.is_empty()).then(|| Arc::new(statics)), gpu.map(Arc::new)))
    }

    /// The same about the origin of a query with positions in f64.
    fn place_statics_about(&self, columns: &BodyColumns<'_>, origin: DVec3) -> Result<PlacedStatics> {
        let (statics, packed) = Statics::about(&self.scene.supports, columns, origin)?;
        let gpu = self.gpu.as_ref().map(|gpu| gpu.with_statics(&packed)).transpose()?;
        Ok((Some(Arc::new(statics)), gpu.map(Arc::new)))
    }

    /// The arena for a query over these bodies: itself where all positions are f32, else with the statics about the query's origin and without
    /// a warm start.
    pub(super) fn about(&self, columns: &BodyColumns<'_>) -> Result<Cow<'_, Self>> {
        let is_plain = columns.positions.is_empty() && self.options.static_positions.is_empty();
        if is_plain || self.is_about {
            return Ok(Cow::Borrowed(self));
        }
        columns.check()?;
        let (statics, gpu) = if self.statics.is_some() {
            self.statics_about(origin_of(columns, &self.scene.supports))?
        } else {
            (None, self.gpu.clone())
        };
        Ok(Cow::Owned(Self { statics, gpu, warm: None, ..self.clone() }))
    }

    /// The arena for several queries about the origin of these bodies.
    pub(crate) fn about_bodies(&self, columns: &BodyColumns<'_>) -> Result<Self> {
        Ok(Self { is_about: true, ..self.about(columns)?.into_owned() })
    }

    /// The arena with its statics about an origin that the caller knows, without a warm start.
    #[cfg(feature = "gpu")]
    pub(super) fn about_point(&self, origin: DVec3) -> Result<Cow<'_, Self>> {
        let is_plain = origin == DVec3::ZERO && self.options.static_positions.is_empty();
        if is_plain || self.statics.is_none() {
            return Ok(Cow::Borrowed(self));
        }
        let (statics, gpu) = self.statics_about(origin)?;
        Ok(Cow::Owned(Self { statics, gpu, warm: None, ..self.clone() }))
    }

    /// Whether both handles have the same hulls and options.
    #[cfg(feature = "gpu")]
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.scene, &other.scene) && Arc::ptr_eq(&self.options, &other.options)
    }

    /// The statics laid out about an origin: those of an earlier query where it had the same.
    fn statics_about(&self, origin: DVec3) -> Result<PlacedStatics> {
        let mut kept = lock(&self.far_statics);
        let placed = match kept.iter().position(|(other, _)| *other == origin) {
            Some(at) => kept.remove(at).1,
            None => self.place_statics_about(&static_columns(&self.options)?, origin)?,
        };
        kept.insert(0, (origin, placed.clone()));
        kept.truncate(FAR_STATICS);
        Ok(placed)
    }

    /// The same arena, whose given pairs need no rows where the broad phase would not list them: the CPU engine leaves those out, and need not
    /// measure them to the end.
    pub(crate) fn listing(&self) -> Self {
        Self { is_listing: true, ..self.clone() }
    }

    /// The same arena over more hulls, for the CPU's threads: those of this one keep their ids.
    pub(crate) fn over(&self, scene: Arc<Scene>) -> Self {
        Self { scene, gpu: None, warm: None, ..self.clone() }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The bodies that do not move.
    pub fn statics(&self) -> &[Body] {
        &self.options.statics
    }

    /// Adds hulls to this handle and returns their ids. Ids of other hulls stay the same.
    ///
    /// Other handles, also clones of this one, and running queries do not see the change.
    ///
    /// # Cost
    /// All hulls of the arena are laid out again and, on a GPU engine, uploaded again, statics too: about as long as
    /// [`Arena::new`] with all of them. So add many at once, between frames. A warm start begins anew.
    ///
    /// # Errors
    /// As [`Arena::new`]. The handle is then unchanged.
    pub fn add_hulls(&mut self, hulls: &[Hull]) -> Result<Range<u32>> {
        let first = self.scene.hulls.len() as u32;
        let mut all = self.scene.hulls.clone();
        all.extend_from_slice(hulls);
        self.replace_hulls(Scene::with_removed(&all, &self.scene.removed)?)?;
        Ok(first..self.scene.hulls.len() as u32)
    }

    /// Removes hulls from this handle. Ids of other hulls stay the same. Removed ids are not reused, and a body with one is an error.
    ///
    /// Other handles, also clones of this one, and running queries do not see the change.
    ///
    /// # Cost
    /// As [`Arena::add_hulls`].
    ///
    /// # Errors
    /// [`Error::Missing`] where an id does not exist, [`Error::Invalid`] where a hull was removed before or a static still uses it; otherwise
    /// as [`Arena::new`]. The handle is then unchanged.
    pub fn remove_hulls(&mut self, ids: &[u32]) -> Result<()> {
        let count = self.scene.hulls.len() as u64;
        let mut removed = self.scene.removed.clone();
        for &id in ids {
            if u64::from(id) >= count {
                return Err(Error::Missing { at: Location::Argument, what: "hull", index: id.into(), count });
            }
            if !removed.insert(id) {
                return Err(Error::invalid(Location::Argument, format!("hull {id} was removed before")));
            }
            if let Some(body) = self.statics().iter().position(|body| body.hull == id) {
                let message = format!("hull {id} can't be removed, static {body} is of it");
                return Err(Error::invalid(Location::Argument, message));
            }
        }
        self.replace_hulls(Scene::with_removed(&self.scene.hulls, &removed)?)
    }

    /// Replaces the hulls of the handle: all are laid out and uploaded.
    fn replace_hulls(&mut self, scene: Scene) -> Result<()> {
        let mut next = Self::of_scene(&self.engine, scene)?;
        (next.statics, next.gpu) = next.place_statics(&self.options)?;
        next.warm = self.warm.as_ref().map(|_| Arc::default());
        next.options = Arc::clone(&self.options);
        *self = next;
        Ok(())
    }

    /// The hulls, in the order of their ids. A removed hull is a point.
    pub fn hulls(&self) -> &[Hull] {
        &self.scene.hulls
    }

    /// The engine of the arena.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Finds the pairs of bodies that touch or overlap.
    ///
    /// The call copies and checks the bodies and starts the work. The [`Pending`] gives the answer.
    ///
    /// # Tolerance
    /// For a pair let R be the smaller and S the sum of the bounding radii (about the mean of the hull's vertices,
    /// scale included), d the distance, and τ = max(1e-5 R, 4e-6 (S + d)). The gap is the signed distance, negative where hulls overlap.
    /// A pair is [`Status::Touching`](crate::collide::Status::Touching) where |gap| ≤ ¾ τ, else separated or penetrating. The gap is that of
    /// the f32 numbers of hulls and bodies exactly as stored, so the status is the same on every engine and machine (see
    /// [Determinism](crate#determinism)).
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Missing`] for a hull or a body that does not exist, [`Error::Value`] for a number of a
    /// body, [`Error::Invalid`] for a removed hull, a body paired with itself and a pair of half-spaces;
    /// [`Error::TooMany`], [`Error::MemoryLimit`]. The pending answer fails with errors of the device: [`Error::DeviceLost`],
    /// [`Error::OutOfMemory`]; and with [`Error::MemoryLimit`] where it has too many rows.
    pub fn intersections<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<Intersection>>> {
        self.intersections_inner(bodies.into(), pairs)
    }

    fn intersections_inner(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<Intersection>>> {
        span!("hullfield.collide.intersections", bodies = columns.bodies.len());
        timed_call(|| self.about(&columns)?.intersections_about(columns, pairs))
    }

    fn intersections_about(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<Intersection>>> {
        if self.options.precision == Precision::Exact {
            return self.measures_about(columns, pairs, 0.0);
        }
        let gpu = self.gpu.as_ref().filter(|gpu| gpu.can_run(false));
        let on_cpu = gpu.is_none();
        let warm = self.warm_for(&columns, pairs).filter(|_| on_cpu && pairs != Pairs::Exhaustive);
        let layout = match warm {
            Some(warm) => warm.layout(),
            None => Layout { packed: !on_cpu, placed: on_cpu },
        };
        let mut input = self.input(columns, pairs, layout)?;
        let order = std::mem::take(&mut input.order);
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return Ok(named(gpu::verdicts::intersections(gpu, &scene, input)?, order));
        }
        if let Some(warm) = warm.cloned() {
            return Ok(Pending::spawn(move |awaited| {
                warm::intersections(&scene, input.awaited_by(awaited), &warm, &searches)
            }));
        }
        let found =
            Pending::spawn(move |awaited| cpu::intersections(&scene, input.awaited_by(awaited), &searches));
        Ok(named(found, order))
    }

    /// Measures the distance and the nearest points of pairs of bodies that are at most `margin` apart.
    ///
    /// The margin is in world units. Given pairs ignore it, and infinity lists every pair.
    ///
    /// # Tolerance
    /// With R, S, d and τ as for [`intersections`](Self::intersections), with the rounding radii part of the bounding
    /// radii: distances are within τ of the truth, or within 1e-9 S with [`Precision::Exact`]. A pair whose distance is that close to the
    /// margin may or may not be listed.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the margin is negative or NaN.
    pub fn distances<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<Distance>>> {
        self.distances_inner(bodies.into(), pairs, options)
    }

    fn distances_inner(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<Distance>>> {
        span!("hullfield.collide.distances", bodies = columns.bodies.len());
        timed_call(|| self.measures(columns, pairs, options.margin))
    }

    /// Measures the contacts of pairs that overlap or are at most `margin` apart: the depth or the distance, the normal, and the points.
    ///
    /// # Tolerance
    /// As for [`distances`](Self::distances). The depth is the least over all directions, also for a body inside another.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn contacts<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<Contact>>> {
        self.contacts_inner(bodies.into(), pairs, options)
    }

    fn contacts_inner(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<Contact>>> {
        span!("hullfield.collide.contacts", bodies = columns.bodies.len());
        timed_call(|| self.measures(columns, pairs, options.margin))
    }

    /// As [`contacts`](Self::contacts), with up to four points that hold a body at rest: the corners of the overlap of the two features that
    /// meet along the normal, each with its own depth.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn manifolds<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<Manifold>>> {
        self.manifolds_inner(bodies.into(), pairs, options)
    }

    fn manifolds_inner(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<Manifold>>> {
        span!("hullfield.collide.manifolds", bodies = columns.bodies.len());
        timed_call(|| self.measures(columns, pairs, options.margin))
    }

    /// The memory of the CPU's searches.
    pub(super) fn searches(&self) -> Arc<SearchPool> {
        Arc::clone(&self.searches)
    }

    /// As [`contacts`](Self::contacts), with how the separation changes with the poses of both bodies.
    ///
    /// The engine finds and measures the pairs; those listed are measured again in f64 on the CPU's threads, with
    /// [`Precision::Fast`] too: some microseconds each, twice that where they overlap.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn gradients<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: Pairs<'_>,
        options: &GradientOptions,
    ) -> Result<Pending<Batch<Gradient>>> {
        self.gradients_inner(bodies.into(), pairs, options)
    }

    fn gradients_inner(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        options: &GradientOptions,
    ) -> Result<Pending<Batch<Gradient>>> {
        span!("hullfield.collide.gradients", bodies = columns.bodies.len());
        timed_call(|| self.measures(columns, pairs, options.margin))
    }

    /// The checked input of a query, with the limit of its answer.
    pub(super) fn input(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        layout: Layout,
    ) -> Result<QueryInput> {
        let input = QueryInput::new(&self.scene, columns, self.statics.as_ref(), pairs, layout)?;
        Ok(QueryInput { answer_limit: self.engine.answer_limit(), is_listing: self.is_listing, ..input })
    }

    /// The cache of a warm start for a query over these columns. It knows no worlds, owners and exclusions.
    fn warm_for(&self, columns: &BodyColumns<'_>, pairs: Pairs<'_>) -> Option<&Arc<WarmStart>> {
        let is_limited = columns.has_rules() && !matches!(pairs, Pairs::Given(_));
        self.warm.as_ref().filter(|_| !is_limited)
    }

    fn measures<R: Row + PairRow + 'static>(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        margin: f32,
    ) -> Result<Pending<Batch<R>>> {
        check_margin(margin)?;
        self.about(&columns)?.measures_about(columns, pairs, margin)
    }

    fn measures_about<R: Row + PairRow + 'static>(
        &self,
        columns: BodyColumns<'_>,
        pairs: Pairs<'_>,
        margin: f32,
    ) -> Result<Pending<Batch<R>>> {
        let request = MeasureRequest { margin: f64::from(margin), precision: self.options.precision };
        let pairs =
            if pairs == Pairs::BroadPhase && margin == f32::INFINITY { Pairs::Exhaustive } else { pairs };
        let gpu =
            self.gpu.as_ref().filter(|gpu| self.options.precision == Precision::Fast && gpu.can_run(true));
        let on_cpu = gpu.is_none();
        // Given pairs are always measured, so bounds would not help.
        let warm = self.warm_for(&columns, pairs).filter(|_| on_cpu && pairs == Pairs::BroadPhase);
        let layout = match warm {
            Some(warm) => warm.layout(),
            None => Layout { packed: !on_cpu, placed: on_cpu },
        };
        let mut input = self.input(columns, pairs, layout)?;
        let order = std::mem::take(&mut input.order);
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return Ok(named(gpu::measures::measures(gpu, &scene, input, request)?, order));
        }
        if let Some(warm) = warm.cloned() {
            return Ok(Pending::spawn(move |awaited| {
                warm::measures(&scene, input.awaited_by(awaited), request, &warm, &searches)
            }));
        }
        let found = Pending::spawn(move |awaited| {
            cpu::measures(&scene, input.awaited_by(awaited), request, &searches)
        });
        Ok(named(found, order))
    }

    /// Finds the first time of impact of bodies that move for `duration` seconds.
    ///
    /// Body `i` moves as `motions[i]` says: with velocity v and angular velocity ω, at time t its position is
    /// `position + v t` and its rotation exp(ω t) · `rotation`.
    ///
    /// - [`SweepOutcome::Touching`](crate::collide::SweepOutcome::Touching), time 0: the pair touches or overlaps at the start, by the
    ///   verdict of [`intersections`](Self::intersections). The normal is the contact's there. Whether the bodies move apart does not
    ///   matter.
    /// - [`SweepOutcome::Hit`](crate::collide::SweepOutcome::Hit): they first meet at a time in (0, duration]. The bodies are apart
    ///   along the normal until then.
    /// - [`SweepOutcome::Miss`](crate::collide::SweepOutcome::Miss): they do not meet. The time is the duration.
    ///
    /// # Tolerance
    /// τ is that of [`intersections`](Self::intersections), with d the distance at the time in question. At a hit's time the gap is within
    /// ±τ, and it is never below −τ before. A pair whose gap never falls below −τ may be a miss, and one whose gap falls to τ or below may
    /// be a hit: a grazing pair is either. With [`Precision::Exact`] the error is 1e-9 S instead of τ. For paths longer than about 1e9
    /// times S (1e5 for `Exact`), f64's error of the time exceeds these.
    ///
    /// # Method
    /// Bodies that do not rotate: GJK-based ray casting (van den Bergen 2004) in f32, and in f64 where f32 cannot decide. Bodies that
    /// rotate: conservative advancement (Mirtich 1996; Zhang, Lee and Kim 2006) in f64. Both advance only as far as a plane certainly
    /// separates the bodies, whatever the speed: nothing tunnels. A pair that rotates almost in contact for more than a million steps is
    /// a hit at the time up to which it is known to be apart. No test has met one.
    ///
    /// # What runs where
    /// Pairs with a body that rotates (a ball about its own origin does not) are cast in f32 too, thickened by the chord that rotation may
    /// move their points along. If the thickened bodies do not meet, the pair is a miss. Pairs that may touch at the start are measured
    /// there. The others go to f64.
    ///
    /// A GPU engine finds the pairs whose swept boxes overlap, casts them, and measures the contacts of those that may touch at the start.
    /// The CPU's threads settle the rest in f64: the few pairs that f32 cannot decide, pairs that rotate and come near each other,
    /// half-spaces that rotate, and half-spaces so far from the body or so tilted that f32 loses the height. [`Stats::settled_count`](crate::collide::Stats::settled_count) counts them. All of it runs on the CPU's threads on a CPU engine, with
    /// [`Precision::Exact`], and for hulls with too many vertices for a software rasteriser (several hundred).
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), [`Error::Value`] where the duration is negative, NaN or infinite,
    /// [`Error::Count`] where the number of motions is not that of the bodies, and [`Error::Value`] where a motion is not finite, leads further
    /// than 1e18, or turns the body more than 1,000 times.
    pub fn sweeps<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        self.sweeps_inner(bodies.into(), motions, pairs, options)
    }

    fn sweeps_inner(
        &self,
        columns: BodyColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        span!("hullfield.collide.sweeps", bodies = columns.bodies.len());
        timed_call(|| {
            query::check(columns.bodies.len(), motions, options.duration)?;
            self.about(&columns)?.sweeps_about(columns, Moves::new(motions), pairs, options)
        })
    }

    /// Whether a GPU sweeps bodies that turn about their positions.
    pub(super) fn sweeps_on_gpu(&self) -> bool {
        self.options.precision == Precision::Fast && self.gpu.as_ref().is_some_and(|gpu| gpu.can_run(true))
    }

    /// Levers are for the CPU: no kernel knows them.
    pub(super) fn sweeps_about(
        &self,
        columns: BodyColumns<'_>,
        moves: Moves<'_>,
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        let &SweepOptions { duration, witness } = options;
        let gpu = self.gpu.as_ref().filter(|_| moves.levers.is_empty() && self.sweeps_on_gpu());
        let on_cpu = gpu.is_none();
        let layout = Layout { packed: !on_cpu || pairs == Pairs::BroadPhase, placed: on_cpu };
        let mut input = self.input(columns, pairs, layout)?;
        let order = std::mem::take(&mut input.order);
        let Moves { motions, levers, levers_only } = moves;
        let motions = in_order(motions, &order);
        let levers = if levers.is_empty() { Vec::new() } else { in_order(levers, &order) };
        let (scene, precision) = (Arc::clone(&self.scene), self.options.precision);
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return Ok(named(gpu::sweeps::sweeps(gpu, &scene, input, motions, duration, witness)?, order));
        }
        let found = Pending::spawn(move |awaited| {
            let input = input.awaited_by(awaited);
            let moves = Moves { motions: &motions, levers: &levers, levers_only };
            let found = query::sweeps(&scene, &input, moves, duration, precision, witness);
            scene.give_back(input);
            found
        });
        Ok(named(found, order))
    }

    /// The candidate pairs `[a, b]`, `a < b`, whose world boxes overlap: those that [`Pairs::BroadPhase`] examines. They are sorted, by worlds
    /// first, and the same on every engine.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn candidates<'a>(&self, bodies: impl Into<BodyColumns<'a>>) -> Result<Pending<Vec<[u32; 2]>>> {
        self.candidates_inner(bodies.into())
    }

    fn candidates_inner(&self, columns: BodyColumns<'_>) -> Result<Pending<Vec<[u32; 2]>>> {
        span!("hullfield.collide.candidates", bodies = columns.bodies.len());
        self.about(&columns)?.candidates_about(columns)
    }

    fn candidates_about(&self, columns: BodyColumns<'_>) -> Result<Pending<Vec<[u32; 2]>>> {
        let on_cpu = self.gpu.is_none();
        let layout = Layout { packed: !on_cpu, placed: on_cpu };
        let mut input = self.input(columns, Pairs::BroadPhase, layout)?;
        let order = std::mem::take(&mut input.order);
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        let found = match &self.gpu {
            Some(gpu) if !input.is_empty() => gpu::candidates::candidates(gpu, &scene, input)?,
            _ => Pending::spawn(move |awaited| {
                let mut input = input.awaited_by(awaited);
                let found = cpu::candidates(&scene, &mut input, &searches)?;
                scene.give_back(input);
                Ok(found)
            }),
        };
        Ok(named_pairs(found, order))
    }

    /// The device memory that a query over `body_count` bodies will take, statics apart; 0 on the CPU engine.
    ///
    /// For [`Pairs::BroadPhase`] the number of candidate pairs is known only once they are counted. The estimate uses the capacity that the
    /// engine starts with, from earlier queries or from the number of bodies. More pairs are processed in several windows of bounded
    /// size, so the estimate is close to the most that a query takes. An encoded query takes for its pairs and rows what its
    /// [`Capacity`](crate::collide::Capacity) says, which is not counted here. Rays are counted as one full window, 2²⁰ of them where the memory
    /// limit allows that.
    ///
    /// With the broad phase a body of more than 2,048 takes 128 bytes, or 160 where bodies move, where a query has met a body with more
    /// than 512 partners, or where the query is encoded; 192 where bodies move and one of the others holds too.
    pub fn estimate(&self, query: Query, body_count: usize, pairs: &Pairs<'_>) -> Estimate {
        self.gpu.as_ref().map(|gpu| gpu.estimate(query, body_count, pairs, None)).unwrap_or_default()
    }

    /// The same for bodies whose columns say which pairs meet, with the tables of these columns: four bytes a body for
    /// [`BodyColumns::worlds`], as much for owners and exclusions together, and some for each world, owner and exclusion.
    ///
    /// For [`Pairs::Exhaustive`] the list of the pairs that the columns leave is not counted.
    ///
    /// # Errors
    /// Those of a query for the columns: see [`BodyColumns`].
    pub fn estimate_columns<'a>(
        &self,
        query: Query,
        bodies: impl Into<BodyColumns<'a>>,
        pairs: &Pairs<'_>,
    ) -> Result<Estimate> {
        self.estimate_columns_inner(query, bodies.into(), pairs)
    }

    fn estimate_columns_inner(
        &self,
        query: Query,
        columns: BodyColumns<'_>,
        pairs: &Pairs<'_>,
    ) -> Result<Estimate> {
        columns.check()?;
        let OrderedRules { rules, .. } = OrderedRules::new(&columns, self.statics().len())?;
        let rules = Some(&rules).filter(|rules| !rules.allow_all());
        let estimate = |gpu: &Arc<GpuArena>| gpu.estimate(query, columns.bodies.len(), pairs, rules);
        Ok(self.gpu.as_ref().map(estimate).unwrap_or_default())
    }

    /// The simplices of GJK for one pair, in f64.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), where `a` is body 0 and `b` body 1.
    pub fn trace(&self, a: &Body, b: &Body) -> Result<Trace> {
        self.trace_pair(&[*a, *b], [0, 1])
    }

    /// The simplices of GJK for one pair of some bodies, in f64.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections) over this pair; only its two bodies are checked.
    pub fn trace_pair<'a>(&self, bodies: impl Into<BodyColumns<'a>>, pair: [u32; 2]) -> Result<Trace> {
        self.trace_pair_inner(bodies.into(), pair)
    }

    fn trace_pair_inner(&self, columns: BodyColumns<'_>, pair: [u32; 2]) -> Result<Trace> {
        columns.check()?;
        let half_space = |body: u32| {
            let hull = columns.bodies[body as usize].hull as usize;
            self.scene.hulls.get(hull).is_some_and(|hull| hull.dimension() == Dimension::HalfSpace)
        };
        check_pairs(&[pair], columns.bodies.len(), true, half_space)?;
        let mut bodies = columns.bodies.to_vec();
        for row in pair.map(|row| row as usize) {
            if !columns.positions.is_empty() {
                bodies[row].position = [0.0; 3];
            }
            bodies[row].radius(row, &self.scene.supports)?;
        }
        let positions: Vec<DVec3> = columns.positions.iter().copied().map(DVec3::from).collect();
        Ok(trace(&self.scene, Stored { bodies: &bodies, positions: &positions, order: &[] }, pair))
    }
}

/// The values of the bodies in an order of rows; an empty order is that of the rows.
fn in_order<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
    match order {
        [] => values.to_vec(),
        order => order.iter().map(|&row| values[row as usize]).collect(),
    }
}

/// The statics of some options, with their positions.
fn static_columns(options: &Options) -> Result<BodyColumns<'_>> {
    let Options { statics, static_positions, .. } = options;
    if !static_positions.is_empty() && static_positions.len() != statics.len() {
        return Err(Error::Count {
            at: Location::Argument,
            what: "static_positions",
            given: static_positions.len() as u64,
            allowed: format!("there must be none or one for each of the {} statics", statics.len()),
        });
    }
    let columns = BodyColumns { positions: static_positions, ..BodyColumns::new(statics) };
    columns.check().map(|()| columns)
}

/// A margin is zero or more; infinity asks for every pair.
pub(crate) fn check_margin(margin: f32) -> Result<()> {
    if margin >= 0.0 {
        return Ok(());
    }
    Err(Error::value(Location::Argument, "margin", format!("{margin:?}"), "it must be zero or more"))
}
