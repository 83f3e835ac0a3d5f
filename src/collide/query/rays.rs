//! Rays and points against the bodies of an arena.

use std::sync::Arc;

use crate::collide::narrow_phase::rows::{Batch, Precision};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::Arena;
use crate::collide::query::gpu;
use crate::collide::query::options::{PointOptions, RayOptions};
use crate::collide::ray::query::{self, OwnedRays, RayCodes, RayGoal, checked_points, checked_rays};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::QueryInput;
use crate::collide::scene::ray_columns::{PointColumns, RayColumns};
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

impl Arena {
    /// Finds the first body that each ray hits: one row a ray, in their order.
    ///
    /// Statics count on after the bodies. Half-spaces are hit too. Rays may start at positions in f64, and may have worlds: see [`RayColumns`]. Among bodies hit at the same distance the least row is named.
    ///
    /// # What is a hit
    /// Let S be a body's bounding radius (about the mean of the hull's vertices, scale and rounding included). A ray hits the body where it
    /// comes within 3e-6 S of it: this is ¾ of the tolerance τ of [`intersections`](Self::intersections) for a point. So flat
    /// hulls are hit, a ray in the plane of a face hits it, and no ray slips between two bodies that share an edge. A half-space has no
    /// tolerance, as it has no size, nor has a point without rounding.
    ///
    /// - [`distance`](RayHit::distance) is where the ray enters the body. Where it only comes within the tolerance, it is where it does that.
    /// - A ray that starts in a body, or within the tolerance of it, hits it at 0 and has no normal. [`RayOptions::skip_start`] leaves such
    ///   bodies out.
    /// - The end of a ray belongs to it.
    ///
    /// # Tolerance
    /// All is computed in f64 from the numbers as stored, with fixed operations: which body is hit, and every number, is the same bit for
    /// bit on every engine and machine and for every number of threads. A hit is exact for a body whose surface is moved by up to 1e-9 S.
    /// For distances above 1e5 S f64's rounding of the distance itself, 1e-15 of it, exceeds that.
    ///
    /// # Method
    /// The tree of the broad phase is walked from near to far, eight boxes at a time. Lines are clipped against the planes of sharp hulls
    /// (Cyrus and Beck 1978). Balls and capsules are quadratic equations. Other rounded hulls are ray cast by GJK (van den Bergen 2004).
    ///
    /// # What runs where
    /// On a GPU engine a kernel finds which body a ray hits first, where f32 can tell. The CPU's threads measure that body in f64, and search for
    /// the other rays themselves: [`Stats::settled_count`](crate::collide::Stats::settled_count) has their number. On the CPU engine, with [`Precision::Exact`], where one binding does not hold
    /// the bodies or the planes of all hulls, and where a body is larger than 1e18, the CPU's threads do all. The rows are the same.
    ///
    /// # Cost
    /// The bodies are laid out and put into a tree in each call, so many rays in one call cost less than in several. Then a ray takes about a
    /// microsecond among ten thousand hulls of some dozen faces. All planes of a hull are tested, so a hull of thousands of faces is
    /// slower; see [`Hull::simplify`](crate::collide::Hull::simplify). Among many worlds a ray costs what it costs in its own.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Value`] at its [`Location::Ray`] where an origin is not finite or above 1e18, a
    /// direction is 0 or not finite, or a greatest distance negative or NaN; [`Error::Count`] where there are starts in f64, but not one for
    /// each ray; [`Error::Count`] and [`Error::Invalid`] where bodies have [worlds](BodyColumns::worlds) and not each ray has one, or rays
    /// have worlds and bodies have none; for a body as
    /// [`intersections`](Self::intersections); [`Error::TooMany`]. The pending answer fails with [`Error::MemoryLimit`] where the rows
    /// do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, Options, Ray, RayOptions};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3])?], Options::default())?;
    /// let bodies = [Body::new(0).at([9.0, 0.0, 0.0]), Body::new(0).at([4.0, 0.0, 0.0])];
    /// let rays = [Ray::new([0.0; 3], [2.0, 0.0, 0.0]), Ray::new([0.0; 3], [0.0, 1.0, 0.0])];
    /// let found = arena.raycasts(&bodies, &rays, &RayOptions::default())?.wait()?;
    /// let hit = found.rows[0].hit.ok_or("nothing is hit")?;
    /// assert_eq!((hit.body, hit.distance, hit.normal), (1, 3.5, Some([-1.0, 0.0, 0.0])));
    /// assert_eq!(found.rows[1].hit, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn raycasts<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        rays: impl Into<RayColumns<'a>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Raycast>>> {
        self.raycasts_inner(bodies.into(), rays.into(), options)
    }

    fn raycasts_inner(
        &self,
        columns: BodyColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Raycast>>> {
        span!("hullfield.collide.raycasts", bodies = columns.bodies.len(), rays = rays.rays.len());
        timed_call(|| {
            let rays = Arc::new(checked_rays(&rays, &columns)?);
            let (input, searches) = (self.boxed_input(columns)?, self.searches());
            let scene = Arc::clone(&self.scene);
            let at_start = !options.skip_start;
            let found = self.ray_codes(&columns, &input, &rays, RayGoal { is_any: false, at_start })?;
            Ok(found.chain(move |found| {
                Ok(Pending::spawn(move |awaited| {
                    query::raycasts(&scene, input.awaited_by(awaited), &searches, &rays, at_start, &found)
                }))
            }))
        })
    }

    /// Finds all bodies that each ray hits, sorted by ray, distance and body.
    ///
    /// Hits and numbers are those of [`raycasts`](Self::raycasts). The CPU's threads find them, for every engine.
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn raycasts_all<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        rays: impl Into<RayColumns<'a>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<RayHit>>> {
        self.raycasts_all_inner(bodies.into(), rays.into(), options)
    }

    fn raycasts_all_inner(
        &self,
        columns: BodyColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<RayHit>>> {
        span!("hullfield.collide.raycasts_all", bodies = columns.bodies.len(), rays = rays.rays.len());
        timed_call(|| {
            let rays = checked_rays(&rays, &columns)?;
            let (input, searches) = (self.boxed_input(columns)?, self.searches());
            let scene = Arc::clone(&self.scene);
            let at_start = !options.skip_start;
            Ok(Pending::spawn(move |awaited| {
                query::raycasts_all(&scene, input.awaited_by(awaited), &searches, &rays, at_start)
            }))
        })
    }

    /// Finds whether each ray hits anything: one row a ray, in their order.
    ///
    /// A ray hits what it hits for [`raycasts`](Self::raycasts). The search ends with the first body that it finds, near or far, so it is
    /// faster, and names no body. On a GPU engine the kernel of [`raycasts`](Self::raycasts) decides it, and f64 the rays that f32 can't.
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn occlusions<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        rays: impl Into<RayColumns<'a>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Occlusion>>> {
        self.occlusions_inner(bodies.into(), rays.into(), options)
    }

    fn occlusions_inner(
        &self,
        columns: BodyColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Occlusion>>> {
        span!("hullfield.collide.occlusions", bodies = columns.bodies.len(), rays = rays.rays.len());
        timed_call(|| {
            let rays = Arc::new(checked_rays(&rays, &columns)?);
            let (input, searches) = (self.boxed_input(columns)?, self.searches());
            let scene = Arc::clone(&self.scene);
            let at_start = !options.skip_start;
            let found = self.ray_codes(&columns, &input, &rays, RayGoal { is_any: true, at_start })?;
            Ok(found.chain(move |found| {
                Ok(Pending::spawn(move |awaited| {
                    query::occluded(&scene, input.awaited_by(awaited), &searches, &rays, at_start, &found)
                }))
            }))
        })
    }

    /// Finds the body that is nearest to each point, in world units: one row a point, in their order.
    ///
    /// The distance is signed: inside of a body it is minus the depth. So of several bodies that contain a point the one in which it is
    /// deepest is named. Among bodies at the same distance the least row is named. Statics count on after the bodies, and groups do not
    /// matter. The points may be f64, and may have worlds: see
    /// [`PointColumns`].
    ///
    /// # Tolerance
    /// As [`raycasts`](Self::raycasts): f64 throughout, within 1e-9 S, and the same bit for bit everywhere.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Value`] at its [`Location::Point`] where a coordinate is not finite or above 1e18;
    /// where the greatest distance is negative or NaN; for worlds as [`raycasts`](Self::raycasts); for a body as
    /// [`intersections`](Self::intersections); [`Error::TooMany`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, Options, PointOptions};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3])?], Options::default())?;
    /// let bodies = [Body::new(0), Body::new(0).at([4.0, 0.0, 0.0])];
    /// let points = [[1.0, 0.0, 0.0], [4.0, 0.0, 0.25]];
    /// let found = arena.nearest_points(&bodies, &points, &PointOptions::default())?.wait()?;
    /// let hits: Vec<_> = found.rows.iter().flat_map(|row| row.hit).map(|hit| (hit.body, hit.distance)).collect();
    /// assert_eq!(hits, [(0, 0.5), (1, -0.25)]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_points<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        points: impl Into<PointColumns<'a>>,
        options: &PointOptions,
    ) -> Result<Pending<Batch<NearestPoint>>> {
        self.nearest_points_inner(bodies.into(), points.into(), options)
    }

    fn nearest_points_inner(
        &self,
        columns: BodyColumns<'_>,
        points: PointColumns<'_>,
        options: &PointOptions,
    ) -> Result<Pending<Batch<NearestPoint>>> {
        span!("hullfield.collide.nearest_points", bodies = columns.bodies.len(), points = points.len());
        timed_call(|| {
            let points = checked_points(&points, &columns)?;
            let max_distance = f64::from(options.max_distance);
            if !(max_distance >= 0.0) {
                let (value, allowed) = (format!("{:?}", options.max_distance), "it must be zero or more");
                return Err(Error::value(Location::Argument, "max_distance", value, allowed));
            }
            let (input, searches) = (self.boxed_input(columns)?, self.searches());
            let scene = Arc::clone(&self.scene);
            Ok(Pending::spawn(move |awaited| {
                query::nearest(&scene, input.awaited_by(awaited), &searches, &points, max_distance)
            }))
        })
    }

    /// Finds all bodies that contain each point, sorted by point and body.
    ///
    /// A body contains the points of its surface, and those outside within its tolerance, 3e-6 S: see [`raycasts`](Self::raycasts).
    ///
    /// # Errors
    /// As [`nearest_points`](Self::nearest_points).
    pub fn containments<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        points: impl Into<PointColumns<'a>>,
    ) -> Result<Pending<Batch<Containment>>> {
        self.containments_inner(bodies.into(), points.into())
    }

    fn containments_inner(
        &self,
        columns: BodyColumns<'_>,
        points: PointColumns<'_>,
    ) -> Result<Pending<Batch<Containment>>> {
        span!("hullfield.collide.containments", bodies = columns.bodies.len(), points = points.len());
        timed_call(|| {
            let points = checked_points(&points, &columns)?;
            let (input, searches) = (self.boxed_input(columns)?, self.searches());
            let scene = Arc::clone(&self.scene);
            Ok(Pending::spawn(move |awaited| {
                query::containing(&scene, input.awaited_by(awaited), &searches, &points)
            }))
        })
    }

    /// What the device finds out about rays; nothing where the CPU does all.
    fn ray_codes(
        &self,
        columns: &BodyColumns<'_>,
        input: &QueryInput,
        rays: &Arc<OwnedRays>,
        goal: RayGoal,
    ) -> Result<Pending<RayCodes>> {
        let about = self.about(columns)?;
        let found = match &about.gpu {
            Some(gpu) if self.options().precision == Precision::Fast => {
                gpu::rays::search(gpu, &self.scene, input, rays, goal)?
            }
            _ => None,
        };
        Ok(found.unwrap_or_else(|| Pending::ready(RayCodes::default())))
    }

    /// The checked bodies, ready for boxes.
    fn boxed_input(&self, columns: BodyColumns<'_>) -> Result<QueryInput> {
        let layout = Layout { packed: true, placed: false };
        self.about(&columns)?.input(columns, Pairs::BroadPhase, layout)
    }
}
