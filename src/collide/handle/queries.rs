//! The queries of a scene.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::handle::body::Body;
use crate::collide::handle::options::{PairOptions, RowsPer, SweepOptions};
use crate::collide::handle::pair_query::{Intersections, Measures, Sweeps};
use crate::collide::handle::pairs::Reuse;
use crate::collide::handle::probe::{Point, Ray, ShapeCast};
use crate::collide::handle::rows::SceneRow;
use crate::collide::handle::scene::{Need, Scene};
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{
    Batch, Contact, Distance, Gradient, Intersection, Manifold, Precision, Stats,
};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::narrow_phase::trace::Trace;
use crate::collide::query::arena::check_margin;
use crate::collide::query::options::{NearestOptions, PointOptions, RayOptions, ShapeCastOptions};
use crate::collide::query::shapes::near_goal;
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::Pairs;
use crate::collide::shape::cast::CastGoal;
use crate::collide::shape::query as shapes;
use crate::collide::shape::rows::{NearestBody, ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::collide::sweep::query::check;
use crate::collide::sweep::rows::Sweep;
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

impl Scene {
    /// What a query of pairs needs.
    fn need(&self, pairs: Pairs<'_>) -> Need {
        let table = &self.shapes().table;
        // Height fields are searched for on the host.
        let is_searched = pairs == Pairs::BroadPhase && table.gpu.is_none();
        match (is_searched, table.fields.is_some()) {
            (_, true) => Need::Tree,
            (true, false) => Need::Walk,
            (false, false) => Need::Bodies,
        }
    }

    /// Whether any body is a compound or a height field.
    fn has_parts(&self) -> bool {
        let table = &self.shapes().table;
        self.bodies().any(|body| table.parts(body.shape).is_some())
    }

    /// Finds the pairs of parts that touch or overlap.
    ///
    /// The call checks its input and starts the work. The [`Pending`] gives the answer.
    ///
    /// # Tolerance
    /// For a pair let R be the smaller and S the sum of the bounding radii (about the mean of the hull's vertices, scale included), d the
    /// distance, and τ = max(1e-5 R, 4e-6 (S + d)). The gap is the signed distance, negative where hulls overlap. A pair is
    /// [`Status::Touching`](crate::collide::Status::Touching) where |gap| ≤ ¾ τ, else separated or penetrating. The gap is that of the numbers
    /// of hulls and bodies as stored, so the status is the same on every engine and machine.
    ///
    /// # Errors
    /// The call itself fails for given pairs at their [`Location::Pair`]: [`Error::Missing`] for a row that holds no body, [`Error::Invalid`]
    /// for a body paired with itself and for two half-spaces. [`Error::TooMany`], [`Error::MemoryLimit`]. The pending answer fails with errors
    /// of the device, and with [`Error::MemoryLimit`] where it has too many rows.
    pub fn intersections(&self, pairs: Pairs<'_>) -> Result<Pending<Batch<Intersection>>> {
        self.intersections_per(pairs, RowsPer::PairOfParts)
    }

    /// The same with one row for each pair of parts or of bodies. Of two parts of a pair of bodies that overlap any may be named.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn intersections_per(&self, pairs: Pairs<'_>, rows: RowsPer) -> Result<Pending<Batch<Intersection>>> {
        span!("hullfield.collide.intersections", bodies = self.len());
        timed_call(|| {
            let query = Intersections { precision: self.options().precision };
            let snapshot = self.snapshot(self.need(pairs))?;
            let reuse = self.reusable(&snapshot, pairs, 0.0);
            Ok(self.numbered(snapshot.ask(&query, pairs, rows, reuse)?))
        })
    }

    /// What a query can reuse of an earlier one.
    fn reusable<R: SceneRow>(&self, snapshot: &Snapshot, pairs: Pairs<'_>, margin: f32) -> Reuse<R> {
        // The rows of all pairs are too many to keep.
        if pairs != Pairs::BroadPhase || margin == f32::INFINITY {
            return Reuse::nothing();
        }
        self.reuse(snapshot, margin.into())
    }

    /// Measures the distances of pairs within a margin, and their nearest points.
    ///
    /// # Tolerance
    /// With R, S, d and τ as for [`intersections`](Self::intersections): distances are within τ of the truth, or within 1e-9 S with
    /// [`Precision::Exact`]. A pair whose distance is that close to the margin may or may not be listed.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the margin is negative or NaN.
    pub fn distances(&self, pairs: Pairs<'_>, options: &PairOptions) -> Result<Pending<Batch<Distance>>> {
        span!("hullfield.collide.distances", bodies = self.len());
        self.measures(pairs, options)
    }

    /// Measures the contacts of pairs that overlap or are within a margin: the depth or the distance, the normal, and the points.
    ///
    /// # Tolerance
    /// As for [`distances`](Self::distances). The depth is the least over all directions, also for a body inside another. That of a pair of
    /// bodies is that of two of their parts: to part the bodies it may take more.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn contacts(&self, pairs: Pairs<'_>, options: &PairOptions) -> Result<Pending<Batch<Contact>>> {
        span!("hullfield.collide.contacts", bodies = self.len());
        self.measures(pairs, options)
    }

    /// As [`contacts`](Self::contacts), with up to four points that hold a body at rest, each with its own depth.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn manifolds(&self, pairs: Pairs<'_>, options: &PairOptions) -> Result<Pending<Batch<Manifold>>> {
        span!("hullfield.collide.manifolds", bodies = self.len());
        self.measures(pairs, options)
    }

    /// As [`contacts`](Self::contacts), with how the separation changes with the poses of both bodies. Rotations are about the bodies' own
    /// positions.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn gradients(&self, pairs: Pairs<'_>, options: &PairOptions) -> Result<Pending<Batch<Gradient>>> {
        span!("hullfield.collide.gradients", bodies = self.len());
        self.measures(pairs, options)
    }

    fn measures<R: Row + SceneRow>(
        &self,
        pairs: Pairs<'_>,
        options: &PairOptions,
    ) -> Result<Pending<Batch<R>>> {
        timed_call(|| {
            check_margin(options.margin)?;
            let query = Measures::<R>::new(options.margin, self.options().precision);
            let snapshot = self.snapshot(self.need(pairs))?;
            let reuse = self.reusable(&snapshot, pairs, options.margin);
            Ok(self.numbered(snapshot.ask(&query, pairs, options.rows, reuse)?))
        })
    }

    /// Finds whether each body touches or overlaps any other: one row for each row of the scene, in their order; `false` where it holds no body.
    ///
    /// A hit is one of [`intersections`](Self::intersections).
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine, where all bodies are hulls. The search for a body ends with its first hit, so a crowd in which all meet
    /// costs little more than one in which few do.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn hits(&self) -> Result<Pending<Batch<bool>>> {
        span!("hullfield.collide.hits", bodies = self.len());
        timed_call(|| {
            if self.has_parts() {
                return Ok(self.hit_counts()?.map(|found| {
                    Batch::new(found.rows.iter().map(|&count| count > 0).collect(), found.stats)
                }));
            }
            let Snapshot { table, input, names, .. } = self.snapshot(Need::Walk)?;
            let count = self.row_count();
            let found = Pending::spawn(move |awaited| {
                shapes::hits(&table.hulls, input.awaited_by(awaited), &table.searches, true)
            });
            Ok(found.map(move |found| names.of_rows(found, count)))
        })
    }

    /// Counts the other bodies that each body touches or overlaps: one row for each row of the scene, in their order. A body counts once, however
    /// many of its parts are hit.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine, where all bodies are hulls. Then the memory is that of the bodies, however many pairs there are.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn hit_counts(&self) -> Result<Pending<Batch<u32>>> {
        span!("hullfield.collide.hit_counts", bodies = self.len());
        timed_call(|| {
            let count = self.row_count();
            if self.has_parts() {
                let found = self.intersections_per(Pairs::BroadPhase, RowsPer::PairOfBodies)?;
                return Ok(found.map(move |found| {
                    let mut counts = vec![0; count];
                    for row in found.rows.iter().flat_map(|row| [row.a, row.b]) {
                        counts[row as usize] += 1;
                    }
                    let hit_count = counts.iter().filter(|&&count| count > 0).count() as u64;
                    Batch::new(counts, Stats { hit_count, ..found.stats })
                }));
            }
            let Snapshot { table, input, names, .. } = self.snapshot(Need::Walk)?;
            let found = Pending::spawn(move |awaited| {
                shapes::hit_counts(&table.hulls, input.awaited_by(awaited), &table.searches, true)
            });
            Ok(found.map(move |found| names.of_rows(found, count)))
        })
    }

    /// The candidate pairs of bodies `[a, b]`, `a < b`, whose world boxes overlap: those whose parts [`Pairs::BroadPhase`] looks for. They are
    /// sorted, by worlds first, and the same on every engine.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn candidates(&self) -> Result<Pending<Vec<[u32; 2]>>> {
        span!("hullfield.collide.candidates", bodies = self.len());
        self.snapshot(Need::Tree)?.candidates()
    }

    /// The simplices of GJK for two parts of bodies, in f64. `parts` are 0 for hulls.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections) for the given pair `rows`; [`Error::Missing`] where a body has no such part.
    pub fn trace(&self, rows: [u32; 2], parts: [u32; 2]) -> Result<Trace> {
        self.snapshot(Need::Tree)?.trace(rows, parts)
    }

    /// Finds the first time of impact of bodies that move for [`SweepOptions::duration`] seconds.
    ///
    /// `motions` has one for each row: with velocity v and angular velocity ω, at time t the position is `position + v t` and the rotation
    /// exp(ω t) · `rotation`. Motions of rows without a body do not matter, and fixed bodies do not move.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the duration is negative, NaN or infinite; [`Error::Count`] where there
    /// is not a motion for each row; [`Error::Value`] at its [`Location::Motion`] where a motion is not finite, leads further than 1e18, or turns
    /// the body more than 1,000 times; [`Error::Invalid`] where a body is a height field.
    pub fn sweeps(
        &self,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        span!("hullfield.collide.sweeps", bodies = self.len());
        timed_call(|| {
            check(self.row_count(), motions, options.duration)?;
            let snapshot = self.snapshot(self.need(pairs))?;
            let PartMotions { motions, levers } = snapshot.motions_of_places(motions)?;
            let &SweepOptions { duration, witness, rows } = options;
            let query = Sweeps { motions, levers, duration, witness, precision: self.options().precision };
            Ok(self.numbered(snapshot.ask(&query, pairs, rows, Reuse::nothing())?))
        })
    }

    /// Finds the first body that each ray hits, and its part: one row a ray, in their order. Among bodies hit at the same distance the least row
    /// is named, and of its parts the least.
    ///
    /// # What is a hit
    /// Let S be a part's bounding radius (about the mean of the hull's vertices, scale and rounding included). A ray hits the part where it
    /// comes within 3e-6 S of it. A ray that starts in a part, or within the tolerance of it, hits it at 0 and has no normal.
    /// [`RayOptions::skip_start`] leaves such parts out. The end of a ray belongs to it.
    ///
    /// # Tolerance
    /// All is computed in f64 from the numbers as stored: which part is hit, and every number, is the same bit for bit on every engine and
    /// machine and for every number of threads. A hit is exact for a part whose surface is moved by up to 1e-9 S.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Value`] at its [`Location::Ray`] where an origin is not finite or above 1e18, a direction is
    /// 0 or not finite, or a greatest distance negative or NaN; [`Error::TooMany`]. The pending answer fails with [`Error::MemoryLimit`] where
    /// the rows do not fit.
    pub fn raycasts(&self, rays: &[Ray], options: &RayOptions) -> Result<Pending<Batch<Raycast>>> {
        span!("hullfield.collide.raycasts", bodies = self.len(), rays = rays.len());
        timed_call(|| {
            self.snapshot(Need::Frames)?.raycasts(rays, !options.skip_start, self.options().precision)
        })
    }

    /// Finds all parts that each ray hits, sorted by ray, distance, body and part.
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn raycasts_all(&self, rays: &[Ray], options: &RayOptions) -> Result<Pending<Batch<RayHit>>> {
        span!("hullfield.collide.raycasts_all", bodies = self.len(), rays = rays.len());
        timed_call(|| self.snapshot(Need::Frames)?.raycasts_all(rays, !options.skip_start))
    }

    /// Finds whether each ray hits anything: one row a ray, in their order.
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn raycasts_any(&self, rays: &[Ray], options: &RayOptions) -> Result<Pending<Batch<Occlusion>>> {
        span!("hullfield.collide.raycasts_any", bodies = self.len(), rays = rays.len());
        timed_call(|| {
            self.snapshot(Need::Frames)?.raycasts_any(rays, !options.skip_start, self.options().precision)
        })
    }

    /// Finds the body that is nearest to each point, and its part: one row a point, in their order.
    ///
    /// # Errors
    /// [`Error::Value`] at its [`Location::Point`] where a point is not finite or above 1e18, and where the greatest distance is negative or NaN;
    /// [`Error::TooMany`]. The pending answer fails with [`Error::MemoryLimit`] where the rows do not fit.
    pub fn nearest_points(
        &self,
        points: &[Point],
        options: &PointOptions,
    ) -> Result<Pending<Batch<NearestPoint>>> {
        span!("hullfield.collide.nearest_points", bodies = self.len(), points = points.len());
        timed_call(|| {
            let max_distance = f64::from(options.max_distance);
            if !(max_distance >= 0.0) {
                let (value, allowed) = (format!("{:?}", options.max_distance), "it must be zero or more");
                return Err(Error::value(Location::Argument, "max_distance", value, allowed));
            }
            self.snapshot(Need::Frames)?.nearest_points(points, max_distance)
        })
    }

    /// Finds the parts that contain each point, sorted by point, body and part.
    ///
    /// # Errors
    /// As [`nearest_points`](Self::nearest_points).
    pub fn containments(&self, points: &[Point]) -> Result<Pending<Batch<Containment>>> {
        span!("hullfield.collide.containments", bodies = self.len(), points = points.len());
        timed_call(|| self.snapshot(Need::Frames)?.containments(points))
    }

    fn cast_goal(&self, options: &ShapeCastOptions) -> CastGoal {
        let exact = self.options().precision == Precision::Exact;
        CastGoal { exact, at_start: !options.skip_start, witness: options.witness }
    }

    /// Finds the first part that each shape meets as it moves along a line: one row a cast, in their order.
    ///
    /// # Errors
    /// The call itself fails for bad input, at its [`Location::Cast`]: for the shape as [`Scene::insert`]; [`Error::Invalid`] for a half-space
    /// and a height field; [`Error::Value`] where a direction is 0 or not finite, or a greatest distance negative or NaN. [`Error::TooMany`].
    /// The pending answer fails with [`Error::MemoryLimit`] where the rows do not fit.
    pub fn shape_casts(
        &self,
        casts: &[ShapeCast],
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastFirst>>> {
        span!("hullfield.collide.shape_casts", bodies = self.len(), casts = casts.len());
        timed_call(|| self.snapshot(Need::Walk)?.shape_casts(casts, self.cast_goal(options)))
    }

    /// Finds all parts that each shape meets as it moves along a line, sorted by cast, distance, body and part.
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts).
    pub fn shape_casts_all(
        &self,
        casts: &[ShapeCast],
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastHit>>> {
        span!("hullfield.collide.shape_casts_all", bodies = self.len(), casts = casts.len());
        timed_call(|| self.snapshot(Need::Walk)?.shape_casts_all(casts, self.cast_goal(options)))
    }

    /// Finds whether each shape meets anything as it moves along a line: one row a cast, in their order.
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts).
    pub fn shape_casts_any(
        &self,
        casts: &[ShapeCast],
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        span!("hullfield.collide.shape_casts_any", bodies = self.len(), casts = casts.len());
        timed_call(|| self.snapshot(Need::Walk)?.shape_casts_any(casts, self.cast_goal(options)))
    }

    /// Finds the nearest other bodies of each body that is not fixed, sorted by its row, then by separation and row.
    ///
    /// Otherwise as [`nearest_bodies_of`](Self::nearest_bodies_of).
    ///
    /// # Errors
    /// As [`nearest_bodies_of`](Self::nearest_bodies_of).
    pub fn nearest_bodies(&self, options: &NearestOptions) -> Result<Pending<Batch<NearestBody>>> {
        span!("hullfield.collide.nearest_bodies", bodies = self.len());
        timed_call(|| {
            let goal = near_goal(options)?;
            let snapshot = self.snapshot(Need::Walk)?;
            let rows: Vec<u32> =
                self.ids().map(|id| id.row).filter(|&row| !snapshot.bodies[row as usize].fixed).collect();
            snapshot.nearest_of(&rows, goal)
        })
    }

    /// Finds the nearest other bodies of some bodies, sorted as `rows` are, then by separation and row.
    ///
    /// The separation is signed: where two bodies overlap it is minus the depth, so the deepest comes first. A row has the two parts that are
    /// nearest to one another. A body does not find itself, nor one that it does not meet. Pairs that touch are listed whatever the greatest
    /// distance.
    ///
    /// # Tolerance
    /// Rows are measured in f64, within 1e-9 S, as [`contacts`](Self::contacts) with [`Precision::Exact`].
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Value`] where the count is 0, or the greatest distance negative or NaN; at its
    /// [`Location::Query`] [`Error::Missing`] where a row holds no body, and [`Error::Invalid`] where it is a height field. The pending answer
    /// fails with [`Error::MemoryLimit`] where the rows do not fit.
    pub fn nearest_bodies_of(
        &self,
        rows: &[u32],
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        span!("hullfield.collide.nearest_bodies_of", bodies = self.len(), rows = rows.len());
        timed_call(|| {
            let goal = near_goal(options)?;
            self.snapshot(Need::Walk)?.nearest_of(rows, goal)
        })
    }

    /// Finds the bodies nearest to shapes that are none of the scene's, sorted by shape, then by separation and row.
    ///
    /// Otherwise as [`nearest_bodies_of`](Self::nearest_bodies_of). A shape has no owner and is not excluded.
    ///
    /// # Errors
    /// As [`nearest_bodies_of`](Self::nearest_bodies_of); for a shape as [`Scene::insert`], at its [`Location::Query`].
    pub fn nearest_bodies_to(
        &self,
        shapes: &[Body],
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        span!("hullfield.collide.nearest_bodies_to", bodies = self.len(), shapes = shapes.len());
        timed_call(|| {
            let goal = near_goal(options)?;
            self.snapshot(Need::Walk)?.nearest_to(shapes, goal)
        })
    }
}

/// How the parts of bodies move.
struct PartMotions {
    motions: Arc<Vec<Motion>>,
    levers: Arc<Vec<DVec3>>,
}

impl Snapshot {
    /// The motions of the parts of bodies that move, by their places.
    fn motions_of_places(&self, motions: &[Motion]) -> Result<PartMotions> {
        if let Some(&row) = self.parts.field_rows.first() {
            let message = "it is a height field, which sweeps don't meet: cast shapes against it";
            return Err(Error::invalid(Location::Body(row as usize), message));
        }
        let mut of_places = Vec::with_capacity(self.input.mover_count);
        let mut levers = Vec::with_capacity(self.input.mover_count);
        for place in 0..self.input.mover_count {
            let [row, _] = self.names.of(self.names.leaf(place as u32));
            let (body, motion) = (&self.bodies[row as usize], motions[row as usize]);
            let motion = if body.fixed { Motion::default() } else { motion };
            let turns = motion.angular_velocity != [0.0; 3] && self.table.parts(body.shape).is_some();
            let arm = self.input.positions[place] - DVec3::from(body.position);
            levers.push(if turns { arm } else { DVec3::ZERO });
            of_places.push(motion);
        }
        if levers.iter().all(|&lever| lever == DVec3::ZERO) {
            levers.clear();
        }
        Ok(PartMotions { motions: Arc::new(of_places), levers: Arc::new(levers) })
    }
}
