//! The hulls of a scene, handed to an engine once, and the queries over bodies that use them.

use std::ops::Range;
use std::sync::Arc;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Contact, Distance, Intersection, Manifold, Precision};
use crate::collide::narrow_phase::settle::MeasureRequest;
use crate::collide::narrow_phase::trace::{Trace, trace};
use crate::collide::query::cpu;
use crate::collide::query::estimate::Estimate;
use crate::collide::query::gpu;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::options::{
    ContactOptions, DistanceOptions, ManifoldOptions, Options, SweepOptions,
};
use crate::collide::query::warm;
use crate::collide::scene::body::Body;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::statics::Statics;
use crate::collide::sweep::query;
use crate::collide::sweep::rows::Sweep;
use crate::collide::warm::cache::WarmStart;
use crate::engine::Engine;
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

/// The unique hulls of a scene, laid out for an engine once; a query then takes bodies only.
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
    /// What queries through this handle and its copies have learnt.
    warm: Option<Arc<WarmStart>>,
}

/// Statics for the CPU, and the hulls with them on the device.
type PlacedStatics = (Option<Arc<Statics>>, Option<Arc<GpuArena>>);

impl Arena {
    /// Lays out the hulls and the statics and, on a GPU engine, uploads them.
    ///
    /// # Errors
    /// For a static that can't be used [`Error::Missing`], [`Error::Value`] and [`Error::Invalid`] at its
    /// [`Location::Body`](crate::Location::Body).
    /// [`Error::TooMany`] where the vertices of all hulls exceed 2³² − 1. On a GPU engine [`Error::MemoryLimit`] where
    /// they do not fit in the engine's memory limit, or where not all fit in one storage binding (128 MiB by WebGPU's default: 8
    /// million vertices) and one alone has more vertices than half of it holds, or a larger support table ([`Hull::simplify`]
    /// makes it smaller, the CPU engine has no such limit); [`Error::OutOfMemory`] and [`Error::DeviceLost`] from the device.
    ///
    /// # Size
    /// Bodies, statics or hulls that do not fit in one binding (bodies: 1.6 million) are cut into blocks of half a
    /// binding, and queries go through pairs of blocks one after the other: the rows are the same, the time grows with the
    /// square of the number of blocks.
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
            warm: None,
        })
    }

    /// A handle with the same hulls and other options. Both handles share the hulls, on the device too.
    ///
    /// Statics that stay the same are shared; others are laid out and uploaded. What a warm start keeps is shared where both
    /// handles have one.
    ///
    /// # Errors
    /// As [`Arena::new`].
    pub fn with_options(&self, options: Options) -> Result<Self> {
        let has_same_statics = options.statics == self.options.statics;
        let (statics, gpu) = if has_same_statics {
            (self.statics.clone(), self.gpu.clone())
        } else {
            self.place_statics(&options.statics)?
        };
        let warm = options.warm_start.then(|| self.warm.clone().unwrap_or_default());
        Ok(Self { statics, gpu, warm, options: Arc::new(options), ..self.clone() })
    }

    /// Bodies that do not move, for the CPU and the device.
    fn place_statics(&self, bodies: &[Body]) -> Result<PlacedStatics> {
        let (statics, packed) = Statics::new(&self.scene.supports, bodies)?;
        let gpu = self.gpu.as_ref().map(|gpu| gpu.with_statics(&packed)).transpose()?;
        Ok(((!bodies.is_empty()).then(|| Arc::new(statics)), gpu.map(Arc::new)))
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The bodies that do not move.
    pub fn statics(&self) -> &[Body] {
        &self.options.statics
    }

    /// Adds hulls to this handle and gives the ids under which bodies name them. Ids of other hulls stay the same.
    ///
    /// Other handles, also clones of this one, and queries under way do not see the change.
    ///
    /// # Cost
    /// All hulls of the arena are laid out again and, on a GPU engine, uploaded again, statics too: about as long as
    /// [`Arena::new`] with all of them. So add many at once, between frames. A warm start begins with nothing.
    ///
    /// # Errors
    /// As [`Arena::new`]; the handle then is as it was.
    pub fn add_hulls(&mut self, hulls: &[Hull]) -> Result<Range<u32>> {
        let first = self.scene.hulls.len() as u32;
        let mut all = self.scene.hulls.clone();
        all.extend_from_slice(hulls);
        self.replace_hulls(Scene::with_removed(&all, &self.scene.removed)?)?;
        Ok(first..self.scene.hulls.len() as u32)
    }

    /// Takes hulls out of this handle. Ids of other hulls stay the same, and the removed ids are not given again: a body that
    /// names one is an error.
    ///
    /// Other handles, also clones of this one, and queries under way do not see the change.
    ///
    /// # Cost
    /// As [`Arena::add_hulls`].
    ///
    /// # Errors
    /// [`Error::Missing`] where an id was never given, [`Error::Invalid`] where a hull was removed before or a static still names
    /// it; otherwise as [`Arena::new`]. The handle then is as it was.
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

    /// The same handle with another list of hulls, all of which are laid out and uploaded.
    fn replace_hulls(&mut self, scene: Scene) -> Result<()> {
        let mut next = Self::of_scene(&self.engine, scene)?;
        (next.statics, next.gpu) = next.place_statics(&self.options.statics)?;
        next.warm = self.warm.as_ref().map(|_| Arc::default());
        next.options = Arc::clone(&self.options);
        *self = next;
        Ok(())
    }

    /// The hulls, in the order in which bodies number them. One that was removed stands as a point.
    pub fn hulls(&self) -> &[Hull] {
        &self.scene.hulls
    }

    /// The engine that does the work.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Finds out which bodies touch or overlap.
    ///
    /// The bodies are copied and checked here, and the work is started; the answer comes through the [`Pending`].
    ///
    /// # Tolerance
    /// For a pair let R be the smaller and S the sum of the bounding radii (about the mean of the hull's vertices,
    /// scale included), d the distance, and τ = max(1e-5 R, 4e-6 (S + d)). With the gap the signed distance, negative
    /// where hulls overlap: no verdict is wrong where |gap| > τ; [`Status::Touching`](crate::collide::Status::Touching) is
    /// always given where |gap| ≤ τ / 10, never where |gap| > τ, and either may be given in between. The truth is the
    /// f32 numbers of hulls and bodies exactly as stored.
    ///
    /// # Errors
    /// At once for bad input: [`Error::Missing`] for a hull or a body that does not exist, [`Error::Value`] for a number of a
    /// body, [`Error::Invalid`] for a removed hull, a body paired with itself and a pair of half-spaces;
    /// [`Error::TooMany`], [`Error::MemoryLimit`]. From the pending answer what the device
    /// did: [`Error::DeviceLost`], [`Error::OutOfMemory`].
    pub fn intersections(&self, bodies: &[Body], pairs: Pairs<'_>) -> Result<Pending<Batch<Intersection>>> {
        span!("hullfield.collide.intersections", bodies = bodies.len());
        if self.options.precision == Precision::Exact {
            return self.measures(bodies, pairs, 0.0);
        }
        let gpu = self.gpu.as_ref().filter(|gpu| gpu.can_run(false));
        let on_cpu = gpu.is_none();
        let warm = self.warm.as_ref().filter(|_| on_cpu && pairs != Pairs::Exhaustive);
        let layout = match warm {
            Some(warm) => warm.layout(),
            None => Layout { packed: !on_cpu || pairs == Pairs::BroadPhase, placed: on_cpu },
        };
        let input = self.input(bodies, pairs, layout)?;
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return gpu::verdicts::intersections(gpu, &scene, input);
        }
        if let Some(warm) = warm.cloned() {
            return Ok(Pending::spawn(move |awaited| {
                warm::intersections(&scene, input.awaited_by(awaited), &warm, &searches)
            }));
        }
        Ok(Pending::spawn(move |awaited| cpu::intersections(&scene, input.awaited_by(awaited), &searches)))
    }

    /// Measures how far apart bodies are that are no farther than `margin` apart, and where they are nearest.
    ///
    /// The margin is in world units; for given pairs it does not matter, and infinity asks for every pair.
    ///
    /// # Tolerance
    /// With R, S, d and τ as for [`intersections`](Self::intersections), with the rounding radii part of the bounding
    /// radii: distances are within τ of the truth, 1e-9 S with [`Precision::Exact`]; a pair whose distance is within
    /// that of the margin may be listed or not.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the margin is negative or NaN.
    pub fn distances(
        &self,
        bodies: &[Body],
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<Distance>>> {
        span!("hullfield.collide.distances", bodies = bodies.len());
        self.measures(bodies, pairs, options.margin)
    }

    /// Measures how deep bodies overlap and along which normal, or how far they are apart where that is no more than
    /// `margin`, and where they would touch.
    ///
    /// # Tolerance
    /// As for [`distances`](Self::distances); the depth is the least over all directions, also of a body inside of
    /// another.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn contacts(
        &self,
        bodies: &[Body],
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<Contact>>> {
        span!("hullfield.collide.contacts", bodies = bodies.len());
        self.measures(bodies, pairs, options.margin)
    }

    /// As [`contacts`](Self::contacts), with up to four points that hold a body at rest: where the faces, edges or
    /// vertices that meet along the normal overlap, each with its own depth.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn manifolds(
        &self,
        bodies: &[Body],
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<Manifold>>> {
        span!("hullfield.collide.manifolds", bodies = bodies.len());
        self.measures(bodies, pairs, options.margin)
    }

    /// The checked input of a query, with the limits that hold for its answer.
    fn input(&self, bodies: &[Body], pairs: Pairs<'_>, layout: Layout) -> Result<QueryInput> {
        let input = QueryInput::new(&self.scene, bodies, self.statics.as_ref(), pairs, layout)?;
        Ok(QueryInput { answer_limit: self.engine.answer_limit(), ..input })
    }

    fn measures<R: Row + 'static>(
        &self,
        bodies: &[Body],
        pairs: Pairs<'_>,
        margin: f32,
    ) -> Result<Pending<Batch<R>>> {
        check_margin(margin)?;
        let request = MeasureRequest { margin: f64::from(margin), precision: self.options.precision };
        let pairs =
            if pairs == Pairs::BroadPhase && margin == f32::INFINITY { Pairs::Exhaustive } else { pairs };
        let gpu =
            self.gpu.as_ref().filter(|gpu| self.options.precision == Precision::Fast && gpu.can_run(true));
        let on_cpu = gpu.is_none();
        // What is asked of given pairs is how far apart they are now.
        let warm = self.warm.as_ref().filter(|_| on_cpu && pairs == Pairs::BroadPhase);
        let layout = match warm {
            Some(warm) => warm.layout(),
            None => Layout { packed: !on_cpu || pairs == Pairs::BroadPhase, placed: on_cpu },
        };
        let input = self.input(bodies, pairs, layout)?;
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return gpu::measures::measures(gpu, &scene, input, request);
        }
        if let Some(warm) = warm.cloned() {
            return Ok(Pending::spawn(move |awaited| {
                warm::measures(&scene, input.awaited_by(awaited), request, &warm, &searches)
            }));
        }
        Ok(Pending::spawn(move |awaited| {
            cpu::measures(&scene, input.awaited_by(awaited), request, &searches)
        }))
    }

    /// Finds out when bodies that move for `duration` seconds first meet.
    ///
    /// Body `i` moves as `motions[i]` says: with velocity v and angular velocity ω, at time t its position is
    /// `position + v t` and its rotation exp(ω t) · `rotation`.
    ///
    /// - [`SweepOutcome::Touching`](crate::collide::SweepOutcome::Touching), time 0: the pair touches or overlaps at the start, as
    ///   [`intersections`](Self::intersections) says; the normal is the contact's there. Whether the bodies move apart
    ///   does not matter.
    /// - [`SweepOutcome::Hit`](crate::collide::SweepOutcome::Hit): they first meet at a time of (0, duration]. The normal shows
    ///   it: along it the bodies were apart until then.
    /// - [`SweepOutcome::Miss`](crate::collide::SweepOutcome::Miss): they do not. The time is the duration.
    ///
    /// # Tolerance
    /// With τ as in [`intersections`](Self::intersections), d the distance at the time in question: at a hit's time the
    /// gap is within ±τ, and at no earlier time is it below −τ. A pair whose gap comes no lower than −τ may be a miss,
    /// one whose gap comes to τ or below may be a hit: grazing is either. With [`Precision::Exact`] all that is 1e-9 S.
    /// Ways that are longer than about 1e9 times S (1e5 for `Exact`) are only as exact as f64 holds the time.
    ///
    /// # Method
    /// Bodies that do not turn: GJK-based ray casting (van den Bergen 2004) in f32, in f64 where that can't promise the
    /// answer. Bodies that turn: conservative advancement (Mirtich 1996; Zhang, Lee and Kim 2006) in f64. Both only ever
    /// go on as far as a plane is sure to part the bodies, whatever the speed: nothing tunnels. A pair that turns in all
    /// but contact for more than a million such steps is a hit at the time up to which it is known to be apart; no test
    /// has met one.
    ///
    /// # What runs where
    /// Pairs with a body that turns (a ball about its own origin does not) are cast in f32 too, made thicker by the chord that
    /// turning may take their points along: what misses so is a miss, and what touches at the start is told by the contact
    /// there. The rest of them goes to f64.
    ///
    /// A GPU engine finds the pairs whose boxes around their whole ways overlap, casts them, and measures the contact of
    /// those that may touch at the start. The CPU's threads settle in f64 what is left: the few that f32 can't promise,
    /// those that turn and come near, half-spaces that turn, and half-spaces so far from the body or so tilted that f32
    /// loses the height. [`Stats::settled_count`](crate::collide::Stats::settled_count) counts them. All of it runs on the CPU's threads on a CPU engine, with
    /// [`Precision::Exact`], and for hulls that a software rasteriser's loops can't hold (several hundred vertices).
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), [`Error::Value`] where the duration is negative, NaN or infinite,
    /// [`Error::Count`] where there is not one motion a body, and [`Error::Value`] where a motion is not finite, leads further
    /// than 1e18 or turns the body more than 1,000 times.
    pub fn sweeps(
        &self,
        bodies: &[Body],
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        span!("hullfield.collide.sweeps", bodies = bodies.len());
        let &SweepOptions { duration, witness } = options;
        query::check(bodies.len(), motions, duration)?;
        let gpu =
            self.gpu.as_ref().filter(|gpu| self.options.precision == Precision::Fast && gpu.can_run(true));
        let on_cpu = gpu.is_none();
        let layout = Layout { packed: !on_cpu || pairs == Pairs::BroadPhase, placed: on_cpu };
        let input = self.input(bodies, pairs, layout)?;
        let (scene, motions, precision) = (Arc::clone(&self.scene), motions.to_vec(), self.options.precision);
        if let Some(gpu) = gpu.filter(|_| !input.is_empty()) {
            return gpu::sweeps::sweeps(gpu, &scene, input, motions, duration, witness);
        }
        Ok(Pending::spawn(move |awaited| {
            let input = input.awaited_by(awaited);
            let found = query::sweeps(&scene, &input, &motions, duration, precision, witness);
            scene.give_back(input);
            found
        }))
    }

    /// The pairs `[a, b]`, `a < b`, whose world boxes overlap: what [`Pairs::BroadPhase`] examines. Sorted, and the same
    /// on every engine.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn candidates(&self, bodies: &[Body]) -> Result<Pending<Vec<[u32; 2]>>> {
        span!("hullfield.collide.candidates", bodies = bodies.len());
        let layout = Layout { packed: true, placed: false };
        let input = self.input(bodies, Pairs::BroadPhase, layout)?;
        let (scene, searches) = (Arc::clone(&self.scene), Arc::clone(&self.searches));
        match &self.gpu {
            Some(gpu) if !input.is_empty() => gpu::candidates::candidates(gpu, &scene, input),
            _ => Ok(Pending::spawn(move |awaited| {
                let mut input = input.awaited_by(awaited);
                let found = cpu::candidates(&scene, &mut input, &searches)?;
                scene.give_back(input);
                Ok(found)
            })),
        }
    }

    /// What a query over `body_count` bodies will take on the device; nothing on the CPU engine.
    ///
    /// For [`Pairs::BroadPhase`] the number of candidate pairs is known only once they have been counted: reckoned is what
    /// the engine has room for at first, by earlier queries or else by the number of bodies. More pairs are worked
    /// through in several goes of bounded size, so this is nearly what it takes at most.
    pub fn estimate(&self, body_count: usize, pairs: &Pairs<'_>) -> Estimate {
        self.gpu.as_ref().map(|gpu| gpu.estimate(body_count, pairs)).unwrap_or_default()
    }

    /// The simplices that GJK goes through for one pair, in f64.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), where `a` is body 0 and `b` body 1.
    pub fn trace(&self, a: &Body, b: &Body) -> Result<Trace> {
        a.pack(0, &self.scene.supports)?;
        b.pack(1, &self.scene.supports)?;
        Ok(trace(&self.scene, a, b))
    }
}

/// A margin is zero or more; infinity asks for every pair.
pub(crate) fn check_margin(margin: f32) -> Result<()> {
    if margin >= 0.0 {
        return Ok(());
    }
    Err(Error::value(Location::Argument, "margin", format!("{margin:?}"), "it must be zero or more"))
}
