//! Bodies of several hulls: a set of compounds over an arena, and its queries.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::compound::body::CompoundBody;
use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::crowd::{Ask, Crowd, SHARE, Slots};
use crate::collide::compound::field::Field;
use crate::collide::compound::field_scenes::FieldScenes;
use crate::collide::compound::height_field::HeightField;
use crate::collide::compound::job::{Job, Rows};
use crate::collide::compound::part::Compound;
use crate::collide::compound::rows::{NamedRow, PartPair};
use crate::collide::compound::shape::{PartList, Shape};
use crate::collide::compound::statics::StaticCompounds;
use crate::collide::narrow_phase::rows::{Batch, Contact, Distance, Intersection, Manifold, Stats};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::{Arena, check_margin};
use crate::collide::query::options::{ContactOptions, DistanceOptions, ManifoldOptions, Options};
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
#[cfg(doc)]
use crate::collide::scene::exclusions::Exclusions;
use crate::collide::scene::far::origin_of;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::rules::OrderedRules;
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::parallel::{map, map_shares};
use crate::pending::Pending;

/// Compounds over the hulls of an [`Arena`]: bodies of several hulls.
///
/// A query takes [`CompoundBody`]s, or [`CompoundColumns`] with worlds and exclusions, and finds pairs of parts of different bodies; parts of one
/// body never meet. Rows name the bodies and the parts. The arena's statics count on after the bodies, as single hulls, and then compounds
/// that do not move ([`with_statics`](Self::with_statics)).
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{Arena, Compound, CompoundBody, Compounds, Hull, Options, Pairs, Part};
///
/// let arena = Arena::new(&Engine::auto()?, &[Hull::cuboid([1.0, 0.2, 0.2])?, Hull::ball(0.5)?], Options::default())?;
/// let dumbbell = Compound::new([Part::new(0), Part::new(1).at([-1.0, 0.0, 0.0]), Part::new(1).at([1.0, 0.0, 0.0])]);
/// let compounds = Compounds::new(&arena, &[dumbbell])?;
/// let bodies = [CompoundBody::new(0), CompoundBody::new(0).at([2.9, 0.0, 0.0])];
/// let found = compounds.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
/// // The right ball of the first and the left ball of the second.
/// assert_eq!((found.rows.len(), found.rows[0].part_a, found.rows[0].part_b), (1, 2, 1));
/// # Ok::<(), hullfield::Error>(())
/// ```
///
/// # Where parts are
/// A part of a body is where [`parts`](Self::parts) says. Its position is that of f64, its rotation, scale and padding are rounded to f32. Statuses and
/// tolerances are those of the parts as bodies of their own, so they are the same on every engine.
///
/// # Method
/// Each compound has a tree over the boxes of its parts, in its own frame, made once. A query finds pairs of bodies whose boxes overlap, then
/// pairs of parts, by the tree of one body and the boxes of the other's parts in its frame. Only parts that may meet are placed. The arena's
/// engine measures them as given pairs.
///
/// # What runs where
/// The call itself finds the pairs of parts, on the CPU's threads. The engine of the arena does the rest. A warm start has no effect.
#[derive(Debug, Clone)]
pub struct Compounds {
    /// Without a warm start.
    arena: Arena,
    shapes: Arc<[Arc<Shape>]>,
    /// Where there are height fields.
    fields: Option<Arc<FieldScenes>>,
    statics: Option<Arc<StaticCompounds>>,
}

impl Compounds {
    /// Lays out compounds of an arena's hulls.
    ///
    /// The handle keeps the arena as it is now.
    ///
    /// # Errors
    /// [`Error::Invalid`] where a compound has no parts; at its [`Location::Part`](crate::Location::Part) where a part is a half-space or of a hull
    /// that was removed.
    /// [`Error::Missing`] for a hull and [`Error::Value`] for a number of a part.
    pub fn new(arena: &Arena, compounds: &[Compound]) -> Result<Self> {
        let options = Options { warm_start: false, ..arena.options().clone() };
        let scene = &*arena.scene;
        let rows: Vec<(usize, &Compound)> = compounds.iter().enumerate().collect();
        let shape = |&(row, compound): &(usize, &Compound)| {
            Ok(Arc::new(Shape::Parts(PartList::new(row, compound, scene)?)))
        };
        let shapes: Result<Vec<Arc<Shape>>> = map(&rows, shape).into_iter().collect();
        let arena = arena.with_options(options)?;
        Ok(Self { arena, shapes: shapes?.into(), fields: None, statics: None })
    }

    /// The same with height fields, numbered on after the compounds: [`CompoundBody::compound`] may name them too.
    ///
    /// All queries but [`sweeps`](Self::sweeps) meet them, [`nearest_bodies`](Self::nearest_bodies) as statics alone. Their parts are
    /// triangles, as [`HeightField`] says; nothing is kept of them but the heights, and the spans of heights of blocks of cells, half a byte
    /// a cell.
    ///
    /// # Method
    /// For each part of another body the cells under its box are looked at, from large blocks to small ones. Those triangles become hulls
    /// while they are measured, and the answer is that of a compound of these hulls. Rows come of single
    /// triangles: a body on the seam of two has a row of each, and beside an edge a normal may be that of the edge.
    ///
    /// # What runs where
    /// On the CPU's threads, for every engine, with equal statuses. Pairs of other bodies run on the arena's engine but where they are
    /// measured together with triangles.
    ///
    /// # Cost
    /// That of the triangles that come near a part of another body, some microseconds each. A field that does not move belongs among the
    /// [statics](Self::with_statics): then it has no pairs with others there, such as a half-space that is a static of the arena.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Compound, CompoundBody, Compounds, ContactOptions, HeightField, Hull, Options, Pairs,
    /// };
    ///
    /// let arena = Arena::new(&Engine::auto()?, &[Hull::ball(1.0)?], Options::default())?;
    /// // A slope of 8 × 8 cells that rises by a half for each unit along x.
    /// let heights: Vec<f32> = (0..81).map(|at| 0.5 * (at % 9) as f32).collect();
    /// let slope = HeightField::new(9, heights, [1.0, 1.0])?;
    /// let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])])?.with_height_fields(&[slope]);
    /// let level = compounds.with_statics(&[CompoundBody::new(1)])?;
    /// let ball = [CompoundBody::new(0).at([3.25, 2.5, 3.25])];
    /// let found = level.body_contacts(&ball, Pairs::BroadPhase, &ContactOptions::default())?.wait()?;
    /// // The triangle below: cell (3, 3) of rows of 8, and its first half.
    /// assert_eq!((found.rows[0].row.b, found.rows[0].part_b), (1, 2 * (3 * 8 + 3)));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    #[must_use]
    pub fn with_height_fields(&self, fields: &[HeightField]) -> Self {
        let laid_out = map(fields, |field| Arc::new(Shape::Field(Field::new(field))));
        let shapes = self.shapes.iter().cloned().chain(laid_out).collect();
        let fields = Some(Arc::new(FieldScenes::new(&self.arena.scene)));
        Self { shapes, fields, ..self.clone() }
    }

    /// The same compounds with bodies that do not move, in place of earlier ones.
    ///
    /// Every query meets them, in each world, but not one another. Their ids follow those of the arena's statics, which follow the bodies.
    /// [`Exclusions::with_statics`] counts so too: the arena's statics, then these.
    ///
    /// # Cost
    /// They are placed once, with one tree over their boxes and one over their parts. Both are made again where the bodies of a query are
    /// far from those of the last ones, as [`BodyColumns::positions`] says. On a GPU engine their parts are uploaded.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections) for bodies.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Compound, CompoundBody, Compounds, Hull, Options, Pairs, Part};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3])?], Options::default())?;
    /// let gate = Compound::new([Part::new(0).at([-1.5, 0.0, 0.0]), Part::new(0).at([1.5, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[Compound::of_hulls([0]), gate])?;
    /// let level = compounds.with_statics(&[CompoundBody::new(1)])?;
    /// let bodies = [CompoundBody::new(0), CompoundBody::new(0).at([2.0, 0.0, 0.0])];
    /// let found = level.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
    /// assert_eq!((found.rows.len(), found.rows[0].row.a, found.rows[0].row.b), (1, 1, 2));
    /// assert_eq!(found.rows[0].part_b, 1);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn with_statics(&self, statics: &[CompoundBody]) -> Result<Self> {
        let bare = Self { statics: None, ..self.clone() };
        bare.check(CompoundColumns::new(statics))?;
        let laid_out = match statics {
            [] => None,
            statics => Some(Arc::new(StaticCompounds::new(&self.arena, &self.shapes, statics)?)),
        };
        Ok(Self { statics: laid_out, ..bare })
    }

    /// The bodies that do not move.
    pub fn statics(&self) -> &[CompoundBody] {
        self.statics.as_ref().map_or(&[], |statics| &statics.bodies)
    }

    /// The arena for queries over all parts: with the parts of the statics, and the static and the part of each of these.
    pub(crate) fn spread(&self) -> (&Arena, &[[u32; 2]]) {
        match &self.statics {
            Some(statics) => (&statics.spread, &statics.names),
            None => (&self.arena, &[]),
        }
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many compounds and height fields there are.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there are neither compounds nor height fields.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The parts of a body as bodies of their own, and their positions in f64.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), where the body is body 0; [`Error::Invalid`] where it is a height field.
    pub fn parts(&self, body: &CompoundBody) -> Result<(Vec<Body>, Vec<[f64; 3]>)> {
        body.check(0, self.shapes.len())?;
        let placement = body.placement();
        let Some(PartList { parts, turns, .. }) = self.shape(body).list() else {
            let message = "it is a height field, whose triangles are no hulls of the arena";
            return Err(Error::invalid(Location::Body(0), message));
        };
        let placed = |(part, turn)| placement.part(part, turn, body.group, body.mask);
        Ok(parts.iter().zip(turns).map(placed).unzip())
    }

    /// Finds the pairs of parts that touch or overlap, sorted by bodies and parts: [`Arena::intersections`].
    ///
    /// [`Pairs::Given`] gives pairs of bodies; it has rows for their parts that touch or overlap, in the order of the pairs.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Missing`] for a compound or a body that does not exist, [`Error::Value`] for a number of a body,
    /// [`Error::Invalid`] for a body paired with itself; for worlds and exclusions as [`BodyColumns`]; as [`Arena::intersections`].
    pub fn intersections<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        self.intersections_inner(bodies.into(), pairs)
    }

    fn intersections_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        span!("hullfield.collide.compounds.intersections", bodies = columns.bodies.len());
        timed_call(|| {
            self.query(columns, pairs, 0.0, Rows::Parts, |arena, columns, pairs| {
                arena.intersections(columns, pairs)
            })
        })
    }

    /// Measures the distances of pairs of parts within a margin: [`Arena::distances`].
    ///
    /// Given pairs of bodies have rows for their parts within the margin. With an infinite margin each part of one body is measured with
    /// each part of the other.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the margin is negative or NaN.
    pub fn distances<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        self.distances_inner(bodies.into(), pairs, options)
    }

    fn distances_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        span!("hullfield.collide.compounds.distances", bodies = columns.bodies.len());
        timed_call(|| {
            let options = *options;
            self.query(columns, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
                arena.distances(columns, pairs, &options)
            })
        })
    }

    /// Measures the contacts of pairs of parts that overlap or are within a margin: [`Arena::contacts`].
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn contacts<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        self.contacts_inner(bodies.into(), pairs, options)
    }

    fn contacts_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        span!("hullfield.collide.compounds.contacts", bodies = columns.bodies.len());
        timed_call(|| {
            let options = *options;
            self.query(columns, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
                arena.contacts(columns, pairs, &options)
            })
        })
    }

    /// The same with up to four points of each contact: [`Arena::manifolds`].
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn manifolds<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<PartPair<Manifold>>>> {
        self.manifolds_inner(bodies.into(), pairs, options)
    }

    fn manifolds_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<PartPair<Manifold>>>> {
        span!("hullfield.collide.compounds.manifolds", bodies = columns.bodies.len());
        timed_call(|| {
            let options = *options;
            self.query(columns, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
                arena.manifolds(columns, pairs, &options)
            })
        })
    }

    /// Finds the pairs of bodies that touch or overlap: one row a pair of bodies, of two parts that overlap where any do, else touch.
    ///
    /// # Method
    /// Two parts near one another are tested first. Where they overlap, no others of the two bodies are looked for.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn body_intersections<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        self.body_intersections_inner(bodies.into(), pairs)
    }

    fn body_intersections_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        span!("hullfield.collide.compounds.body_intersections", bodies = columns.bodies.len());
        timed_call(|| {
            self.query(columns, pairs, 0.0, Rows::Bodies, |arena, columns, pairs| {
                arena.intersections(columns, pairs)
            })
        })
    }

    /// Measures the distance of pairs of bodies within a margin: one row a pair of bodies, of its nearest parts.
    ///
    /// Of parts that overlap any may be named, as their distance is 0.
    ///
    /// # Method
    /// With a margin above 0 the distance of two parts near one another limits the search for others.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn body_distances<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        self.body_distances_inner(bodies.into(), pairs, options)
    }

    fn body_distances_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        span!("hullfield.collide.compounds.body_distances", bodies = columns.bodies.len());
        timed_call(|| {
            let options = *options;
            self.query(columns, pairs, options.margin, Rows::Bodies, move |arena, columns, pairs| {
                arena.distances(columns, pairs, &options)
            })
        })
    }

    /// Measures the contact of pairs of bodies that overlap or are within a margin: one row a pair of bodies, of the parts that overlap
    /// deepest or are nearest.
    ///
    /// The depth is that of the two parts. To part the bodies it may take more, as other parts may be in the way.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn body_contacts<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        self.body_contacts_inner(bodies.into(), pairs, options)
    }

    fn body_contacts_inner(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        span!("hullfield.collide.compounds.body_contacts", bodies = columns.bodies.len());
        timed_call(|| {
            let options = *options;
            self.query(columns, pairs, options.margin, Rows::Bodies, move |arena, columns, pairs| {
                arena.contacts(columns, pairs, &options)
            })
        })
    }

    fn query<R: NamedRow>(
        &self,
        columns: CompoundColumns<'_>,
        pairs: Pairs<'_>,
        margin: f32,
        kept: Rows,
        ask: impl Ask<R>,
    ) -> Result<Pending<Batch<PartPair<R>>>> {
        check_margin(margin)?;
        let crowd = self.crowd(columns, f64::from(margin))?;
        let body_pairs = crowd.body_pairs(pairs)?;
        let limit_bytes = self.arena.engine().answer_limit();
        if kept == Rows::Parts && margin == f32::INFINITY {
            // Each pair has a row: too many are not begun.
            let budget = RowBudget::new::<PartPair<R>>(limit_bytes);
            budget.add(usize::try_from(crowd.pair_total(&body_pairs).min(1 << 40)).unwrap_or(usize::MAX));
            budget.check()?;
        }
        let (sure, rows, stats) = (Vec::new(), Vec::new(), Stats::default());
        let job = Job { crowd, body_pairs, next: 0, kept, last: None, sure, rows, stats, limit_bytes };
        job.run(ask)
    }

    /// The shapes of compounds and height fields.
    pub(crate) fn shapes(&self) -> Arc<[Arc<Shape>]> {
        Arc::clone(&self.shapes)
    }

    /// The bodies of a query and those that do not move, with their ids.
    pub(crate) fn all_bodies<'a>(
        &'a self,
        columns: CompoundColumns<'a>,
    ) -> impl Iterator<Item = (u32, &'a CompoundBody)> {
        let first = (columns.bodies.len() + self.arena.statics().len()) as u32;
        (0..).zip(columns.bodies).chain((first..).zip(self.statics()))
    }

    /// The shape of a checked body.
    pub(crate) fn shape(&self, body: &CompoundBody) -> &Shape {
        &self.shapes[body.compound as usize]
    }

    /// Checks the numbers of the bodies, and that there are not too many.
    pub(crate) fn check(&self, columns: CompoundColumns<'_>) -> Result<()> {
        let bodies = columns.bodies;
        for (row, body) in bodies.iter().enumerate() {
            body.check(row, self.shapes.len())?;
            if !self.shape(body).fits(f64::from(body.scale), f64::from(body.padding)) {
                let allowed = "it must leave each part a radius from 1e-18 to 1e18, and the mean of its vertices within 1e18 of its origin";
                return Err(Error::value(Location::Body(row), "scale", format!("{:?}", body.scale), allowed));
            }
        }
        let count = (bodies.len() + self.arena.statics().len() + self.statics().len()) as u64;
        let limit = u64::from(u32::MAX);
        if count > limit {
            return Err(Error::TooMany { what: "bodies", count, limit });
        }
        let (given, count) = (columns.worlds.len(), bodies.len());
        if given != 0 && given != count {
            return Err(Error::Count {
                at: Location::Argument,
                what: "worlds",
                given: given as u64,
                allowed: format!("there must be none or one for each of the {count} bodies"),
            });
        }
        Ok(())
    }

    /// Which of the checked bodies of a query may meet.
    ///
    /// # Errors
    /// As [`OrderedRules::new`].
    pub(crate) fn rules(&self, columns: CompoundColumns<'_>) -> Result<OrderedRules> {
        let CompoundColumns { bodies, worlds, exclusions } = columns;
        let hulls = vec![Body::new(u32::MAX); bodies.len()];
        self.ordered_rules(&BodyColumns { worlds, exclusions, ..BodyColumns::new(&hulls) })
    }

    fn ordered_rules(&self, columns: &BodyColumns<'_>) -> Result<OrderedRules> {
        OrderedRules::new(columns, self.arena.statics().len() + self.statics().len())
    }

    /// The checked bodies of a query.
    pub(crate) fn crowd(&self, columns: CompoundColumns<'_>, margin: f64) -> Result<Crowd> {
        self.check(columns)?;
        let CompoundColumns { bodies, worlds, exclusions } = columns;
        let positions: Vec<[f64; 3]> = bodies.iter().map(|body| body.position).collect();
        // Any hull but a half-space: none of the columns asks which.
        let hulls = vec![Body::new(u32::MAX); bodies.len()];
        let columns = BodyColumns { positions: &positions, worlds, exclusions, ..BodyColumns::new(&hulls) };
        columns.check()?;
        let OrderedRules { rules, order } = self.ordered_rules(&columns)?;
        let (arena, origin) = if bodies.is_empty() {
            (self.arena.clone(), DVec3::ZERO)
        } else {
            (self.arena.about_bodies(&columns)?, origin_of(&columns, &self.arena.scene.supports))
        };
        Ok(Crowd {
            listing: arena.listing(),
            arena,
            origin,
            shapes: Arc::clone(&self.shapes),
            fields: self.fields.clone(),
            placements: map_shares(bodies, SHARE, CompoundBody::placement),
            bodies: bodies.to_vec(),
            statics: self.statics.clone(),
            margin,
            rules: Arc::new(rules),
            order,
            slots: Slots::default(),
        })
    }
}
