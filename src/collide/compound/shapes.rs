//! Shape casts against compounds.

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field_casts::FieldCasts;
use crate::collide::compound::field_set::{Askers, Fields};
use crate::collide::compound::rows::PartRow;
use crate::collide::compound::whole::Whole;
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::options::ShapeCastOptions;
use crate::collide::scene::shape_cast::ShapeCastColumns;
use crate::collide::shape::rows::{ShapeCastAny, ShapeCastFirst, ShapeCastHit};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::observe::span;
use crate::pending::Pending;

impl Compounds {
    /// Finds the first part that each shape meets as it moves along a line: one row a cast, in their order:
    /// [`Arena::shape_casts`](crate::collide::Arena::shape_casts).
    ///
    /// The shape is a hull of the arena. Hits and numbers are those of the parts as bodies of their own, where [`parts`](Self::parts) places
    /// them, bit for bit. Among parts met at the same distance that of the least body is named, and of its parts the least.
    /// Exclusions do not matter. The triangles of height fields are met as well.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine.
    ///
    /// # Cost
    /// Each call places all parts of all bodies and builds one tree over them, so many casts in one call cost less than in several. A cast then
    /// costs as much as among as many single hulls. Each triangle of a height field that comes near the ball around the shape is cast in f64, some
    /// microseconds: a small shape meets few.
    ///
    /// # Errors
    /// For a body as [`intersections`](Self::intersections); for a cast as [`Arena::shape_casts`](crate::collide::Arena::shape_casts);
    /// [`Error::TooMany`] and [`Error::MemoryLimit`] for the parts.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Body, Compound, CompoundBody, Compounds, Hull, Options, Part, ShapeCast, ShapeCastOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([0.0, -1.0, 0.0]), Part::new(0).at([0.0, 1.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [CompoundBody::new(0).at([5.0, 0.0, 0.0]), CompoundBody::new(0).at([3.0, 0.0, 0.0])];
    /// let casts = [
    ///     ShapeCast::new(Body::new(0).at([0.0, 1.0, 0.0]), [1.0, 0.0, 0.0]),
    ///     ShapeCast::new(Body::new(0).at([0.0, 3.0, 0.0]), [1.0, 0.0, 0.0]),
    /// ];
    /// let found = compounds.shape_casts(&bodies, &casts, &ShapeCastOptions::default())?.wait()?;
    /// let hit = found.rows[0].row.hit.ok_or("nothing is hit")?;
    /// assert!((hit.body, found.rows[0].part) == (1, 1) && (hit.distance - 2.0).abs() < 1e-5);
    /// assert_eq!(found.rows[1].row.hit, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape_casts<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'b>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<PartRow<ShapeCastFirst>>>> {
        self.shape_casts_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_inner(
        &self,
        columns: CompoundColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<PartRow<ShapeCastFirst>>>> {
        span!(
            "hullfield.collide.compounds.shape_casts",
            bodies = columns.bodies.len(),
            casts = casts.casts.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let fields = self.fields_of_casts(columns, &casts)?;
            let found = whole.ask(self, |arena, parts| arena.shape_casts(parts, casts, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => {
                    let casts = self.field_casts(&casts, options, &fields)?;
                    fields.shape_casts(casts, found)
                }
            })
        })
    }

    /// Finds all parts that each shape meets as it moves along a line, sorted by cast, distance, body and part.
    ///
    /// Hits and numbers are those of [`shape_casts`](Self::shape_casts).
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts); the pending answer fails with [`Error::MemoryLimit`] where the rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Body, Compound, CompoundBody, Compounds, Hull, Options, Part, ShapeCast, ShapeCastOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [CompoundBody::new(0).at([5.0, 0.0, 0.0])];
    /// let casts = [ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0])];
    /// let found = compounds.shape_casts_all(&bodies, &casts, &ShapeCastOptions::default())?.wait()?;
    /// let hits: Vec<_> = found.rows.iter().map(|row| (row.part, row.row.distance.round())).collect();
    /// assert_eq!(hits, [(0, 3.0), (1, 5.0)]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn shape_casts_all<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'b>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<PartRow<ShapeCastHit>>>> {
        self.shape_casts_all_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_all_inner(
        &self,
        columns: CompoundColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<PartRow<ShapeCastHit>>>> {
        span!(
            "hullfield.collide.compounds.shape_casts_all",
            bodies = columns.bodies.len(),
            casts = casts.casts.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let fields = self.fields_of_casts(columns, &casts)?;
            let found = whole.ask(self, |arena, parts| arena.shape_casts_all(parts, casts, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => {
                    let casts = self.field_casts(&casts, options, &fields)?;
                    fields.shape_casts_all(casts, found)
                }
            })
        })
    }

    /// Finds whether each shape meets anything as it moves along a line: one row a cast, in their order:
    /// [`Arena::shape_casts_any`](crate::collide::Arena::shape_casts_any).
    ///
    /// # Errors
    /// As [`shape_casts`](Self::shape_casts).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Body, Compound, CompoundBody, Compounds, HeightField, Hull, Options, ShapeCast, ShapeCastOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let ground = HeightField::new(2, vec![0.0; 4], [10.0, 10.0])?;
    /// let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])])?.with_height_fields(&[ground]);
    /// let level = compounds.with_statics(&[CompoundBody::new(1)])?;
    /// let fall = ShapeCast::new(Body::new(0).at([5.0, 4.0, 5.0]), [0.0, -1.0, 0.0]);
    /// let found = level.shape_casts_any(&[], &[fall, fall.up_to(3.0)], &ShapeCastOptions::default())?.wait()?;
    /// assert_eq!([found.rows[0].is_hit, found.rows[1].is_hit], [true, false]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn shape_casts_any<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        casts: impl Into<ShapeCastColumns<'b>>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        self.shape_casts_any_inner(bodies.into(), casts.into(), options)
    }

    fn shape_casts_any_inner(
        &self,
        columns: CompoundColumns<'_>,
        casts: ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        span!(
            "hullfield.collide.compounds.shape_casts_any",
            bodies = columns.bodies.len(),
            casts = casts.casts.len()
        );
        timed_call(|| {
            let whole = Whole::new(self, columns)?;
            let fields = self.fields_of_casts(columns, &casts)?;
            let found = whole.ask_as_is(self, |arena, parts| arena.shape_casts_any(parts, casts, options))?;
            Ok(match fields {
                None => found,
                Some(fields) => {
                    let casts = self.field_casts(&casts, options, &fields)?;
                    fields.shape_casts_any(casts, found)
                }
            })
        })
    }

    /// The height fields that casts may meet.
    fn fields_of_casts(
        &self,
        columns: CompoundColumns<'_>,
        casts: &ShapeCastColumns<'_>,
    ) -> Result<Option<Fields>> {
        Fields::of(
            self,
            columns,
            Askers { what: "shape casts", count: casts.casts.len(), worlds: casts.worlds },
        )
    }

    /// Checked casts, for height fields.
    fn field_casts(
        &self,
        casts: &ShapeCastColumns<'_>,
        options: &ShapeCastOptions,
        fields: &Fields,
    ) -> Result<FieldCasts> {
        FieldCasts::new(&self.arena().scene, casts, self.arena().cast_goal(options), fields.origin)
    }
}
