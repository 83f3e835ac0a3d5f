//! The nearest bodies of compounds.

use std::sync::Arc;

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field_nearest::{FieldNear, NearRules};
use crate::collide::compound::field_set::{Askers, Fields};
use crate::collide::compound::rows::{PartPair, PartRow};
use crate::collide::compound::whole::Whole;
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::options::NearestOptions;
use crate::collide::query::shapes::near_goal;
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::shape_cast::PlacedShape;
use crate::collide::shape::rows::NearestBody;
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::pending::Pending;

impl Compounds {
    /// Finds the nearest other bodies of each body, sorted by body, separation and row:
    /// [`Arena::nearest_bodies`](crate::collide::Arena::nearest_bodies).
    ///
    /// A row has the two parts that are nearest to one another: of the body asked about [`PartPair::part_a`], of the other
    /// [`PartPair::part_b`]. The separation is that of the two parts, so minus their depth where they overlap. Numbers are those
    /// of the parts as bodies of their own, where [`parts`](Self::parts) places them, bit for bit. Among pairs of parts at the same separation
    /// that of the least part of the body asked about is named, then that of the least part of the other. Groups and masks, worlds and
    /// exclusions are obeyed.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine.
    ///
    /// # Cost
    /// All parts of all bodies are placed, and put into a tree, in each call. The parts of a body look for others one after the other; each skips
    /// what is farther than what those before found. Each triangle of a static height field that is near a part is measured in f64, some microseconds.
    ///
    /// # Errors
    /// The call itself fails for bad input: for the options as [`Arena::nearest_bodies`](crate::collide::Arena::nearest_bodies); for a body as
    /// [`intersections`](Self::intersections); [`Error::Invalid`] at its [`Location::Body`] where a body is a height field: it can be near to
    /// others as one of the [statics](Self::with_statics) alone. [`Error::TooMany`] and [`Error::MemoryLimit`] for the parts. The pending answer
    /// fails with [`Error::MemoryLimit`] where the rows do not fit.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Compound, CompoundBody, Compounds, Hull, NearestOptions, Options, Part};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [0.0, 5.0, 20.0].map(|x| CompoundBody::new(0).at([x, 0.0, 0.0]));
    /// let found = compounds.nearest_bodies(&bodies, &NearestOptions::default())?.wait()?;
    /// let rows: Vec<_> = found.rows.iter().map(|row| (row.row.query, row.row.body, row.row.separation)).collect();
    /// assert_eq!(rows, [(0, 1, 2.0), (1, 0, 2.0), (2, 1, 12.0)]);
    /// assert_eq!((found.rows[0].part_a, found.rows[0].part_b), (1, 0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_bodies<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<PartPair<NearestBody>>>> {
        self.nearest_bodies_inner(bodies.into(), options)
    }

    fn nearest_bodies_inner(
        &self,
        columns: CompoundColumns<'_>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<PartPair<NearestBody>>>> {
        span!("hullfield.collide.compounds.nearest_bodies", bodies = columns.bodies.len());
        timed_call(|| {
            let goal = near_goal(options)?;
            let whole = Whole::new(self, columns)?;
            if let Some(row) = columns.bodies.iter().position(|body| self.shape(body).field().is_some()) {
                let message = "it is a height field, whose nearest bodies can't be asked for: it may be one of the statics";
                return Err(Error::invalid(Location::Body(row), message));
            }
            let rules = NearRules::new(self.rules(columns)?);
            let (count, worlds) = (columns.bodies.len(), columns.worlds);
            let fields = Fields::of(self, columns, Askers { what: "bodies", count, worlds })?;
            let near = fields.as_ref().map(|fields| {
                let placed = |(body, position): (&Body, [f64; 3])| {
                    let (origin, at) = (Some(fields.origin), Location::Argument);
                    PlacedShape::new(body, Some(position), origin, at, &self.arena().scene.supports)
                };
                let shapes = whole.parts().map(placed).collect::<Result<_>>()?;
                Ok(FieldNear {
                    scene: Arc::clone(&self.arena().scene),
                    shapes,
                    starts: whole.starts(),
                    rules,
                    goal,
                    is_of_scene: true,
                })
            });
            let near: Option<FieldNear> = near.transpose()?;
            let found = whole.nearest(self, None, columns.exclusions, goal)?;
            Ok(match (fields, near) {
                (Some(fields), Some(near)) => fields.nearest(near, found),
                _ => found,
            })
        })
    }

    /// Finds the bodies nearest to each shape, sorted by shape, separation and row:
    /// [`Arena::nearest_bodies_to`](crate::collide::Arena::nearest_bodies_to).
    ///
    /// Shapes are hulls of the arena that are not of the scene. A row has the part of the body that is nearest to the shape, of parts at the same
    /// separation the least. Height fields are bodies as others here. Otherwise as [`nearest_bodies`](Self::nearest_bodies).
    ///
    /// # Errors
    /// For the options and a body as [`nearest_bodies`](Self::nearest_bodies), but that a body may be a height field; for a shape as
    /// [`Arena::nearest_bodies_to`](crate::collide::Arena::nearest_bodies_to).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Body, Compound, CompoundBody, Compounds, HeightField, Hull, NearestOptions, Options, Part,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let ground = HeightField::new(2, vec![0.0; 4], [10.0, 10.0])?;
    /// let compounds = Compounds::new(&arena, &[dumbbell])?.with_height_fields(&[ground]);
    /// let bodies = [CompoundBody::new(0).at([4.0, 8.0, 4.0]), CompoundBody::new(1)];
    /// let shapes = [Body::new(0).at([6.5, 8.0, 4.0])];
    /// let options = NearestOptions { count: 2, ..NearestOptions::default() };
    /// let found = compounds.nearest_bodies_to(&bodies, &shapes, &options)?.wait()?;
    /// let rows: Vec<_> = found.rows.iter().map(|row| (row.row.body, row.part, row.row.separation)).collect();
    /// assert_eq!(rows, [(0, 1, 0.5), (1, 1, 7.5)]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn nearest_bodies_to<'a, 'b>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        shapes: impl Into<BodyColumns<'b>>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<PartRow<NearestBody>>>> {
        self.nearest_bodies_to_inner(bodies.into(), shapes.into(), options)
    }

    fn nearest_bodies_to_inner(
        &self,
        columns: CompoundColumns<'_>,
        shapes: BodyColumns<'_>,
        options: &NearestOptions,
    ) -> Result<Pending<Batch<PartRow<NearestBody>>>> {
        span!(
            "hullfield.collide.compounds.nearest_bodies_to",
            bodies = columns.bodies.len(),
            shapes = shapes.bodies.len()
        );
        timed_call(|| {
            let goal = near_goal(options)?;
            let whole = Whole::new(self, columns)?;
            let askers = Askers { what: "shapes", count: shapes.bodies.len(), worlds: shapes.worlds };
            let fields = Fields::of(self, columns, askers)?;
            let found = whole.nearest(self, Some(shapes), None, goal)?;
            let found = match fields {
                None => found,
                Some(fields) => {
                    let placed = |(row, shape): (usize, &Body)| {
                        let position = shapes.positions.get(row).copied();
                        let at = Location::Query(row);
                        PlacedShape::new(
                            shape,
                            position,
                            Some(fields.origin),
                            at,
                            &self.arena().scene.supports,
                        )
                    };
                    let near = FieldNear {
                        scene: Arc::clone(&self.arena().scene),
                        shapes: shapes.bodies.iter().enumerate().map(placed).collect::<Result<_>>()?,
                        starts: Vec::new(),
                        rules: NearRules::default(),
                        goal,
                        is_of_scene: false,
                    };
                    fields.nearest(near, found)
                }
            };
            Ok(found.chain(|found| {
                let Batch { rows, stats, .. } = found;
                let named = |PartPair { part_b, row, .. }| PartRow { part: part_b, row };
                Ok(Pending::ready(Batch::new(rows.into_iter().map(named).collect(), stats)))
            }))
        })
    }
}
