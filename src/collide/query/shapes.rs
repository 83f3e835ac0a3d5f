//! Shapes against the bodies of an arena: shape casts, nearest bodies, and which bodies are hit.

use std::sync::Arc;

use crate::collide::narrow_phase::rows::{Batch, Precision};
#[cfg(doc)]
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::Arena;
use crate::collide::query::options::{NearestOptions, ShapeCastOptions};
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::QueryInput;
use crate::collide::scene::shape_cast::ShapeCastColumns;
use crate::collide::shape::cast::CastGoal;
use crate::collide::shape::nearest::{NearGoal, NearPair};
use crate::collide::shape::query::{self, Groups, NearTo, lay_out_casts, lay_out_shapes};
use crate::collide::shape::rows::{NearestBody, ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

impl Arena {
    /// Finds the first body that each shape meets as it moves along a line: one row a cast, in their order.
    ///
    /// The bodies stand still. Statics count on after them, and half-spaces are met too. Among bodies met at the same distance the least
    /// row is named. A cast is a [`sweep`](Self::sweeps) of the shape, with the distance in place of the time. Casts may start at positions in
    /// f64, and may have worlds: see [`ShapeCastColumns`]. Owners and exclusions are of bodies, so a cast meets all.
    ///
    /// - A shape that touches or overlaps a body at the start, by the verdict of [`intersections`](Self::intersections), meets it at 0. The
    ///   normal is the contact's there. [`ShapeCastOptions::skip_start`] leaves such bodies out.
    /// - Otherwise the shape and the body are apart along [`normal`](ShapeCastHit::normal) up to [`distance`](ShapeCastHit::distance).
    /// - The end of a cast belongs to it.
    ///
    /// # Tolerance
    /// As [`sweeps`](Self::sweeps): with τ that of the two at a distance of 0, the gap at the hit's distance is within ±τ, and never below −τ
    /// before. A shape whose gap to a body never falls below −τ may miss it, and one whose gap falls to τ or below may hit it. With
    /// [`Precision::Exact`] it is 1e-9 S in place of τ.
    ///
    /// f64 finds each distance from the f32 numbers as stored, with fixed operations: which body is hit, and every number, is the same
    /// bit for bit on every engine and machine and for every number of threads. In f32 bodies are only skipped, where its error bound shows
    /// that f64 would find no hit, or a later one.
    ///
    /// # Method
    /// The tree of the broad phase is walked from near to far, with boxes widened by that of the shape, eight at a time. GJK-based ray casting
    /// (van den Bergen 2004) decides each body.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine.
    ///
    /// # Cost
    /// The bodies are laid out and put into a tree in each call, so many casts in one call cost less than in several. A cast then takes some
    /// microseconds among ten thousand hulls of some dozen vertices, and [`ShapeCastOptions::witness`] some more for each hit.
    ///
    /// # Errors
    /// The call itself fails for bad input: at its [`Location::Cast`] where a direction is 0 or not finite ([`Error::Value`]), a greatest
    /// distance is negative or NaN, the shape's hull does not exist ([`Error::Missing`]) or is a half-space ([`Error::Invalid`]), or a number
    /// of its body can't be used; [`Error::Count`] where there are positions in f64, but not one for each cast; for worlds as
    /// [`raycasts`](Self::raycasts); for a body as [`intersections`](Self::intersections); [`Error::TooMany`]. The pending answer fails with
    /// [`Error::MemoryLimit`] where the rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, Options, ShapeCast, ShapeCastOptions};
    ///
    /// let hulls = [Hull::cuboid([0.5; 3])?, Hull::ball(1.0)?];
    /// let arena = Arena::new(&Engine::cpu(), &hulls, Options::default())?;
    /// let bodies = [Body::new(0).at([9.0, 0.0, 0.0]), Body::new(0).at([4.0, 0.0, 0.0])];
    /// let casts = [ShapeCast::new(Body::new(1), [2.0, 0.0, 0.0]), ShapeCast::new(Body::new(1), [0.0, 1.0, 0.0])];
    /// let found = arena.shape_casts(&bodies, &casts, &ShapeCastOptions::default())?.wait()?;
    /// let hit = found.rows[0].hit.ok_or("nothing is hit")?;
    /// assert!(hit.body == 1 && (hit.distance - 2.5).abs() < 1e-5);
    /// assert_eq!(found.rows[1].hit, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape_casts<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'a>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastFirst>>> {
        self.shape_casts_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_inner(
        &self,
        columns: BodyColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastFirst>>> {
        span!("hullfield.collide.shape_casts", bodies = columns.bodies.len(), casts = casts.casts.len());
        timed_call(|| {
            let (input, goal) = (self.shape_input(columns)?, self.cast_goal(options));
            let casts = lay_out_casts(&self.scene.supports, &casts, &columns, &input)?;
            let (scene, searches) = (Arc::clone(&self.scene), self.searches());
            Ok(Pending::spawn(move |awaited| {
                query::shape_casts(&scene, input.awaited_by(awaited), &searches, &casts, goal)
            }))
        })
    }

    /// Finds all bodies that each shape meets as it moves along a line, sorted by cast, distance and body.
    ///
    /// Hits and numbers are those of [`shape_casts`](Self::shape_casts).
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts).
    pub fn shape_casts_all<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'a>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastHit>>> {
        self.shape_casts_all_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_all_inner(
        &self,
        columns: BodyColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastHit>>> {
        span!("hullfield.collide.shape_casts_all", bodies = columns.bodies.len(), casts = casts.casts.len());
        timed_call(|| {
            let (input, goal) = (self.shape_input(columns)?, self.cast_goal(options));
            let casts = lay_out_casts(&self.scene.supports, &casts, &columns, &input)?;
            let (scene, searches) = (Arc::clone(&self.scene), self.searches());
            Ok(Pending::spawn(move |awaited| {
                query::shape_casts_all(&scene, input.awaited_by(awaited), &searches, &casts, goal)
            }))
        })
    }

    /// Finds whether each shape meets anything as it moves along a line: one row a cast, in their order.
    ///
    /// A shape meets what it meets for [`shape_casts`](Self::shape_casts). The search ends with the first body that it finds, near or far, so it
    /// is faster, and names no body.
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts).
    pub fn shape_casts_any<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'a>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        self.shape_casts_any_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_any_inner(
        &self,
        columns: BodyColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        span!("hullfield.collide.shape_casts_any", bodies = columns.bodies.len(), casts = casts.casts.len());
        timed_call(|| {
            let (input, goal) = (self.shape_input(columns)?, self.cast_goal(options));
            let casts = lay_out_casts(&self.scene.supports, &casts, &columns, &input)?;
            let (scene, searches) = (Arc::clone(&self.scene), self.searches());
            Ok(Pending::spawn(move |awaited| {
                query::shape_casts_any(&scene, input.awaited_by(awaited), &searches, &casts, goal)
            }))
        })
    }

    /// Finds the nearest other bodies of each body, sorted by body, separation and row.
    ///
    /// The separation is signed: where two bodies overlap it is minus the depth, so the deepest comes first. Among others at the same separation
    /// the least row comes first. Statics are among the others, and count on after the bodies; groups and masks, worlds, owners and exclusions are
    /// obeyed. Rows come in the order of the bodies, whatever their worlds. Pairs that touch are listed whatever the greatest distance.
    ///
    /// # Tolerance
    /// Rows are measured in f64, within 1e-9 S, for both precisions: as [`contacts`](Self::contacts) with [`Precision::Exact`], bit for bit. Order and
    /// numbers are the same on every engine and machine and for every number of threads.
    ///
    /// # Method
    /// The tree of the broad phase is walked by the distance of boxes (Roussopoulos, Kelley and Vincent 1995). f32 bounds the separation of each
    /// body reached, and f64 measures those that may be among the nearest.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine.
    ///
    /// # Cost
    /// The bodies are laid out and put into a tree in each call. Then a body takes some microseconds for each row.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Value`] where the count is 0, or the greatest distance negative or NaN; for a body as
    /// [`intersections`](Self::intersections); [`Error::TooMany`]. The pending answer fails with [`Error::MemoryLimit`] where the rows do not
    /// fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, NearestOptions, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
    /// let bodies = [0.0, 3.0, 10.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    /// let found = arena.nearest_bodies(&bodies, &NearestOptions::default())?.wait()?;
    /// let rows: Vec<_> = found.rows.iter().map(|row| (row.query, row.body, row.separation)).collect();
    /// assert_eq!(rows, [(0, 1, 1.0), (1, 0, 1.0), (2, 1, 5.0)]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_bodies<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        self.nearest_bodies_inner(bodies.into(), options)
    }

    fn nearest_bodies_inner(
        &self,
        columns: BodyColumns<'_>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        span!("hullfield.collide.nearest_bodies", bodies = columns.bodies.len());
        timed_call(|| self.nearest(columns, |_| Ok(NearTo::All), options))
    }

    /// Finds the nearest other bodies of some of the bodies, sorted as `rows` are, then by separation and row.
    ///
    /// Otherwise as [`nearest_bodies`](Self::nearest_bodies): a body does not find itself, nor one that it does not meet.
    /// [`NearestBody::query`] is the row of the body that is asked about.
    ///
    /// # Errors
    /// As [`nearest_bodies`](Self::nearest_bodies); [`Error::Missing`] at the [`Location::Query`] of a row that no body has.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, NearestOptions, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let bodies = [0.0, 3.0, 10.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    /// let found = arena.nearest_bodies_of(&bodies, &[2], &NearestOptions::default())?.wait()?;
    /// assert_eq!((found.rows[0].query, found.rows[0].body, found.rows[0].separation), (2, 1, 6.0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_bodies_of<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        rows: &[u32],
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        self.nearest_bodies_of_inner(bodies.into(), rows, options)
    }

    fn nearest_bodies_of_inner(
        &self,
        columns: BodyColumns<'_>,
        rows: &[u32],
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        span!("hullfield.collide.nearest_bodies_of", bodies = columns.bodies.len(), rows = rows.len());
        timed_call(|| {
            let count = columns.bodies.len() as u64;
            if let Some(at) = rows.iter().position(|&row| u64::from(row) >= count) {
                let (index, at) = (rows[at].into(), Location::Query(at));
                return Err(Error::Missing { at, what: "body", index, count });
            }
            self.nearest(columns, |_| Ok(NearTo::Rows(rows.to_vec())), options)
        })
    }

    /// Finds the bodies nearest to each shape, sorted by shape, separation and row.
    ///
    /// Shapes are bodies that are not of the scene, half-spaces too. A shape that stands for a body of the scene finds that body first:
    /// [`nearest_bodies_of`](Self::nearest_bodies_of) asks about bodies of the scene. Otherwise as [`nearest_bodies`](Self::nearest_bodies):
    /// [`NearestBody::query`] is the row of the shape. Shapes may have positions in f64, and worlds where the bodies have them. A shape is no body
    /// of the query, so it has no owner and is not excluded.
    ///
    /// # Errors
    /// As [`nearest_bodies`](Self::nearest_bodies); for a shape as for a body, at its [`Location::Query`]; for worlds as
    /// [`raycasts`](Self::raycasts); [`Error::Invalid`] where shapes have owners or exclusions.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, NearestOptions, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?, Hull::cuboid([2.0; 3])?], Options::default())?;
    /// let bodies = [0.0, 5.0, 10.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    /// let shapes = [Body::new(1).at([9.0, 0.0, 0.0])];
    /// let options = NearestOptions { count: 2, ..NearestOptions::default() };
    /// let found = arena.nearest_bodies_to(&bodies, &shapes, &options)?.wait()?;
    /// let rows: Vec<_> = found.rows.iter().map(|row| (row.query, row.body, row.separation.round())).collect();
    /// assert_eq!(rows, [(0, 2, -2.0), (0, 1, 1.0)]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_bodies_to<'a, 'b>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        shapes: impl Into<BodyColumns<'b>>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        self.nearest_bodies_to_inner(bodies.into(), shapes.into(), options)
    }

    fn nearest_bodies_to_inner(
        &self,
        columns: BodyColumns<'_>,
        shapes: BodyColumns<'_>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        span!(
            "hullfield.collide.nearest_bodies_to",
            bodies = columns.bodies.len(),
            shapes = shapes.bodies.len()
        );
        timed_call(|| {
            let asked = |input: &QueryInput| {
                lay_out_shapes(&self.scene.supports, &shapes, &columns, input).map(NearTo::Shapes)
            };
            self.nearest(columns, asked, options)
        })
    }

    /// Finds whether each body touches or overlaps any other: one row a body, in their order.
    ///
    /// A hit is one of [`intersections`](Self::intersections). Statics count as others, and have no rows. The search for a body ends with its
    /// first hit, so a crowd in which all meet costs little more than one in which few do.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine: the answers are equal, as every [`Status`] is.
    ///
    /// # Cost
    /// At most that of [`intersections`](Self::intersections) twice. The memory is that of the bodies, as no rows of pairs are kept.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
    /// let bodies = [0.0, 1.5, 3.0, 9.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    /// assert_eq!(arena.hits(&bodies)?.wait()?.rows, [true, true, true, false]);
    /// assert_eq!(arena.hit_counts(&bodies)?.wait()?.rows, [1, 2, 1, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn hits<'a>(&self, bodies: impl Into<BodyColumns<'a>>) -> Result<Pending<Batch<bool>>> {
        self.hits_inner(bodies.into())
    }

    fn hits_inner(&self, columns: BodyColumns<'_>) -> Result<Pending<Batch<bool>>> {
        span!("hullfield.collide.hits", bodies = columns.bodies.len());
        timed_call(|| {
            let input = self.shape_input(columns)?;
            let (scene, searches) = (Arc::clone(&self.scene), self.searches());
            Ok(Pending::spawn(move |awaited| {
                query::hits(&scene, input.awaited_by(awaited), &searches, false)
            }))
        })
    }

    /// Counts how many others each body touches or overlaps: one row a body, in their order.
    ///
    /// Hits are those of [`intersections`](Self::intersections). Statics count as others, and have no rows.
    ///
    /// # What runs where
    /// As [`hits`](Self::hits).
    ///
    /// # Cost
    /// The time of [`intersections`](Self::intersections), and the search for pairs a second time. The memory is that of the bodies: a million
    /// bodies at one place, with 5e11 pairs, take long, but no more memory than as many that are apart. Dropping the [`Pending`] ends the work.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn hit_counts<'a>(&self, bodies: impl Into<BodyColumns<'a>>) -> Result<Pending<Batch<u32>>> {
        self.hit_counts_inner(bodies.into())
    }

    fn hit_counts_inner(&self, columns: BodyColumns<'_>) -> Result<Pending<Batch<u32>>> {
        span!("hullfield.collide.hit_counts", bodies = columns.bodies.len());
        timed_call(|| {
            let input = self.shape_input(columns)?;
            let (scene, searches) = (Arc::clone(&self.scene), self.searches());
            Ok(Pending::spawn(move |awaited| {
                query::hit_counts(&scene, input.awaited_by(awaited), &searches, false)
            }))
        })
    }

    fn nearest(
        &self,
        columns: BodyColumns<'_>,
        asked: impl FnOnce(&QueryInput) -> Result<NearTo>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<NearestBody>>> {
        let goal = near_goal(options)?;
        let input = self.shape_input(columns)?;
        let asked = asked(&input)?;
        let (scene, searches) = (Arc::clone(&self.scene), self.searches());
        Ok(Pending::spawn(move |awaited| {
            query::nearest_bodies(&scene, input.awaited_by(awaited), &searches, &asked, goal)
        }))
    }

    /// The nearest bodies where some are asked about, or count, as one: `starts` and `owner_of` are those of [`Groups`].
    pub(crate) fn nearest_pairs(
        &self,
        columns: BodyColumns<'_>,
        shapes: Option<BodyColumns<'_>>,
        [starts, owner_of]: [Vec<u32>; 2],
        goal: NearGoal,
    ) -> Result<Pending<Batch<NearPair>>> {
        let input = self.shape_input(columns)?;
        let asked = match shapes {
            Some(shapes) => NearTo::Shapes(lay_out_shapes(&self.scene.supports, &shapes, &columns, &input)?),
            None => NearTo::All,
        };
        let (scene, searches) = (Arc::clone(&self.scene), self.searches());
        Ok(Pending::spawn(move |awaited| {
            let groups = Groups { starts: &starts, owner_of: &owner_of };
            query::nearest_pairs(&scene, input.awaited_by(awaited), &searches, &asked, groups, goal)
        }))
    }

    pub(crate) fn cast_goal(&self, options: &ShapeCastOptions) -> CastGoal {
        let exact = self.options().precision == Precision::Exact;
        CastGoal { exact, at_start: !options.skip_start, witness: options.witness }
    }

    /// The checked bodies, ready for boxes and for pairs.
    fn shape_input(&self, columns: BodyColumns<'_>) -> Result<QueryInput> {
        let layout = Layout { packed: true, placed: true };
        self.about(&columns)?.input(columns, Pairs::BroadPhase, layout)
    }
}

/// What is asked for.
///
/// # Errors
/// [`Error::Value`] where the count is 0, or the greatest distance negative or NaN.
pub(crate) fn near_goal(options: &NearestOptions) -> Result<NearGoal> {
    let &NearestOptions { count, max_distance } = options;
    if count == 0 {
        return Err(Error::value(Location::Argument, "count", count, "it must be at least 1"));
    }
    if !(max_distance >= 0.0) {
        let (value, allowed) = (format!("{max_distance:?}"), "it must be zero or more");
        return Err(Error::value(Location::Argument, "max_distance", value, allowed));
    }
    Ok(NearGoal { count: count as usize, max_distance: f64::from(max_distance) })
}
