//! Rays and points against compounds.

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field_rays::FieldRays;
use crate::collide::compound::field_set::{Askers, Fields};
use crate::collide::compound::rows::PartRow;
use crate::collide::compound::whole::Whole;
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::options::{PointOptions, RayOptions};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::scene::ray_columns::{PointColumns, RayColumns};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::observe::span;
use crate::pending::Pending;

impl Compounds {
    /// Finds the first part that each ray hits: one row a ray, in their order: [`Arena::raycasts`](crate::collide::Arena::raycasts).
    ///
    /// Hits and numbers are those of the parts as bodies of their own, where [`parts`](Self::parts) places them, bit for bit. Among parts
    /// hit at the same distance that of the least body is named, and of its parts the least. Exclusions do not matter.
    ///
    /// # Cost
    /// Each call places all parts of all bodies and builds one tree over them. So many rays in one call cost less
    /// than in several calls. A ray then costs as much as among as many single hulls. The triangles of height fields are not in that tree. A
    /// second tree over the boxes of the fields has those that a ray may meet. It goes through each of them, the nearest first, from large blocks
    /// of cells to small ones, and makes hulls of the triangles that it comes near.
    ///
    /// # Errors
    /// For a body as [`intersections`](Self::intersections); for a ray as [`Arena::raycasts`](crate::collide::Arena::raycasts);
    /// [`Error::TooMany`] and [`Error::MemoryLimit`] for the parts.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Compound, CompoundBody, Compounds, Hull, Options, Part, Ray, RayOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([0.0, -1.0, 0.0]), Part::new(0).at([0.0, 1.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [CompoundBody::new(0).at([5.0, 0.0, 0.0]), CompoundBody::new(0).at([3.0, 0.0, 0.0])];
    /// let rays = [Ray::new([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
    /// let found = compounds.raycasts(&bodies, &rays, &RayOptions::default())?.wait()?;
    /// let hit = found.rows[0].row.hit.ok_or("nothing is hit")?;
    /// assert_eq!((hit.body, found.rows[0].part, hit.distance), (1, 1, 2.5));
    /// assert_eq!(found.rows[1].row.hit, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn raycasts<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        rays: impl Into<RayColumns<'b>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<PartRow<Raycast>>>> {
        self.raycasts_inner(bodies.into(), rays.into(), options)
    }

    fn raycasts_inner(
        &self,
        columns: CompoundColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<PartRow<Raycast>>>> {
        span!("hullfield.collide.compounds.raycasts", bodies = columns.bodies.len(), rays = rays.rays.len());
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "rays", count: rays.rays.len(), worlds: rays.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.ask(self, |arena, parts| arena.raycasts(parts, rays, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => fields.raycasts(FieldRays::new(&rays, !options.skip_start), found),
            })
        })
    }

    /// Finds all parts that each ray hits, sorted by ray, distance, body and part.
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn raycasts_all<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        rays: impl Into<RayColumns<'b>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<PartRow<RayHit>>>> {
        self.raycasts_all_inner(bodies.into(), rays.into(), options)
    }

    fn raycasts_all_inner(
        &self,
        columns: CompoundColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<PartRow<RayHit>>>> {
        span!(
            "hullfield.collide.compounds.raycasts_all",
            bodies = columns.bodies.len(),
            rays = rays.rays.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "rays", count: rays.rays.len(), worlds: rays.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.ask(self, |arena, parts| arena.raycasts_all(parts, rays, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => fields.raycasts_all(FieldRays::new(&rays, !options.skip_start), found),
            })
        })
    }

    /// Finds whether each ray hits anything: one row a ray, in their order: [`Arena::occlusions`](crate::collide::Arena::occlusions).
    ///
    /// # Errors
    /// As [`raycasts`](Self::raycasts).
    pub fn occlusions<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        rays: impl Into<RayColumns<'b>>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Occlusion>>> {
        self.occlusions_inner(bodies.into(), rays.into(), options)
    }

    fn occlusions_inner(
        &self,
        columns: CompoundColumns<'_>,
        rays: RayColumns<'_>,
        options: &RayOptions,
    ) -> Result<Pending<Batch<Occlusion>>> {
        span!(
            "hullfield.collide.compounds.occlusions",
            bodies = columns.bodies.len(),
            rays = rays.rays.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "rays", count: rays.rays.len(), worlds: rays.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.ask_as_is(self, |arena, parts| arena.occlusions(parts, rays, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => fields.occlusions(FieldRays::new(&rays, !options.skip_start), found),
            })
        })
    }

    /// Finds the part that is nearest to each point: one row a point, in their order:
    /// [`Arena::nearest_points`](crate::collide::Arena::nearest_points).
    ///
    /// Distances are those of parts. In several parts of a body that overlap, the depth is the greatest of theirs, which may be less
    /// than the way out of the body.
    ///
    /// # Errors
    /// For a body as [`raycasts`](Self::raycasts), for a point as [`Arena::nearest_points`](crate::collide::Arena::nearest_points).
    pub fn nearest_points<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        points: impl Into<PointColumns<'b>>,
        options: &PointOptions,
    ) -> Result<Pending<Batch<PartRow<NearestPoint>>>> {
        self.nearest_points_inner(bodies.into(), points.into(), options)
    }

    fn nearest_points_inner(
        &self,
        columns: CompoundColumns<'_>,
        points: PointColumns<'_>,
        options: &PointOptions,
    ) -> Result<Pending<Batch<PartRow<NearestPoint>>>> {
        span!(
            "hullfield.collide.compounds.nearest_points",
            bodies = columns.bodies.len(),
            points = points.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "points", count: points.len(), worlds: points.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.ask(self, |arena, parts| arena.nearest_points(parts, points, options))?;
            let max_distance = f64::from(options.max_distance);
            Ok(match fields {
                None => found,
                Some(fields) => fields.nearest_points(points.checked()?, max_distance, found),
            })
        })
    }

    /// Finds all parts that contain each point, sorted by point, body and part: [`Arena::containments`](crate::collide::Arena::containments).
    ///
    /// A body has a row for each of its parts that contains the point.
    ///
    /// # Errors
    /// As [`nearest_points`](Self::nearest_points).
    pub fn containments<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        points: impl Into<PointColumns<'b>>,
    ) -> Result<Pending<Batch<PartRow<Containment>>>> {
        self.containments_inner(bodies.into(), points.into())
    }

    fn containments_inner(
        &self,
        columns: CompoundColumns<'_>,
        points: PointColumns<'_>,
    ) -> Result<Pending<Batch<PartRow<Containment>>>> {
        span!(
            "hullfield.collide.compounds.containments",
            bodies = columns.bodies.len(),
            points = points.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "points", count: points.len(), worlds: points.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.ask(self, |arena, parts| arena.containments(parts, points))?;
            Ok(match fields {
                None => found,
                Some(fields) => fields.containments(points.checked()?, found),
            })
        })
    }
}
