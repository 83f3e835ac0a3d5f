//! Bodies of several hulls: a set of compounds over an arena, and its queries.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::part::Compound;
use crate::collide::compound::rows::{NamedRow, PartPair};
use crate::collide::compound::search::{Placed, near_parts, part_pairs, parts_near_static};
use crate::collide::compound::shape::Shape;
use crate::collide::hull::Dimension;
use crate::collide::narrow_phase::rows::{Batch, Contact, Distance, Intersection, Manifold, Stats};
use crate::collide::query::arena::{Arena, check_margin};
use crate::collide::query::options::{ContactOptions, DistanceOptions, ManifoldOptions, Options};
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::half;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::origin_of;
use crate::collide::scene::pairs::{Pairs, check};
use crate::error::{Error, Location, Result};
use crate::observe::span;
use crate::parallel::{map, map_chunks, map_shares};
use crate::pending::Pending;

/// Pairs of parts that a GPU measures together.
const WINDOW: usize = 1 << 20;
/// The same on the CPU, so that the parts stay in its cache.
const CPU_WINDOW: usize = 1 << 14;
/// Pairs of bodies that one task searches.
const TASK: usize = 64;
/// Pairs of bodies that are searched before their pairs of parts are counted.
const ROUND: usize = 1 << 10;
/// Bodies that a thread takes at least.
const SHARE: usize = 256;

/// Compounds over the hulls of an [`Arena`]: bodies of several hulls.
///
/// A query takes [`CompoundBody`]s and finds pairs of parts of different bodies; parts of one body never meet. Rows name the bodies and
/// the parts. The arena's statics count on after the bodies, as single hulls. A static compound is given to the arena as its
/// [parts](Self::parts).
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
    shapes: Arc<[Shape]>,
}

/// Which rows a query keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// One for each pair of parts.
    Parts,
    /// One for each pair of bodies.
    Bodies,
}

/// A pair of parts in a window, and the pair of bodies that it is of.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Number of the pair of bodies.
    row: usize,
    bodies: [u32; 2],
    parts: [u32; 2],
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
        let shapes: Result<Vec<Shape>> =
            map(&rows, |&(row, compound)| Shape::new(row, compound, scene)).into_iter().collect();
        Ok(Self { arena: arena.with_options(options)?, shapes: shapes?.into() })
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many compounds there are.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there are no compounds.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The parts of a body as bodies of their own, and their positions in f64.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections), where the body is body 0.
    pub fn parts(&self, body: &CompoundBody) -> Result<(Vec<Body>, Vec<[f64; 3]>)> {
        body.check(0, self.shapes.len())?;
        let placement = body.placement();
        let Shape { parts, turns, .. } = &self.shapes[body.compound as usize];
        let placed = |(part, turn)| placement.part(part, turn, body.group, body.mask);
        Ok(parts.iter().zip(turns).map(placed).unzip())
    }

    /// Finds the pairs of parts that touch or overlap, sorted by bodies and parts: [`Arena::intersections`].
    ///
    /// [`Pairs::Given`] gives pairs of bodies; it has rows for their parts that touch or overlap, in the order of the pairs.
    ///
    /// # Errors
    /// The call itself fails for bad input: [`Error::Missing`] for a compound or a body that does not exist, [`Error::Value`] for a number of a body,
    /// [`Error::Invalid`] for a body paired with itself; as [`Arena::intersections`].
    pub fn intersections(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        span!("hullfield.collide.compounds.intersections", bodies = bodies.len());
        self.query(bodies, pairs, 0.0, Rows::Parts, |arena, columns, pairs| {
            arena.intersections(columns, pairs)
        })
    }

    /// Measures the distances of pairs of parts within a margin: [`Arena::distances`].
    ///
    /// Given pairs of bodies have rows for their parts within the margin. With an infinite margin each part of one body is measured with
    /// each part of the other.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where the margin is negative or NaN.
    pub fn distances(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        span!("hullfield.collide.compounds.distances", bodies = bodies.len());
        let options = *options;
        self.query(bodies, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
            arena.distances(columns, pairs, &options)
        })
    }

    /// Measures the contacts of pairs of parts that overlap or are within a margin: [`Arena::contacts`].
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn contacts(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        span!("hullfield.collide.compounds.contacts", bodies = bodies.len());
        let options = *options;
        self.query(bodies, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
            arena.contacts(columns, pairs, &options)
        })
    }

    /// The same with up to four points of each contact: [`Arena::manifolds`].
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn manifolds(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        options: &ManifoldOptions,
    ) -> Result<Pending<Batch<PartPair<Manifold>>>> {
        span!("hullfield.collide.compounds.manifolds", bodies = bodies.len());
        let options = *options;
        self.query(bodies, pairs, options.margin, Rows::Parts, move |arena, columns, pairs| {
            arena.manifolds(columns, pairs, &options)
        })
    }

    /// Finds the pairs of bodies that touch or overlap: one row a pair of bodies, of two parts that overlap where any do, else touch.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn body_intersections(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
    ) -> Result<Pending<Batch<PartPair<Intersection>>>> {
        span!("hullfield.collide.compounds.body_intersections", bodies = bodies.len());
        self.query(bodies, pairs, 0.0, Rows::Bodies, |arena, columns, pairs| {
            arena.intersections(columns, pairs)
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
    pub fn body_distances(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        options: &DistanceOptions,
    ) -> Result<Pending<Batch<PartPair<Distance>>>> {
        span!("hullfield.collide.compounds.body_distances", bodies = bodies.len());
        let options = *options;
        self.query(bodies, pairs, options.margin, Rows::Bodies, move |arena, columns, pairs| {
            arena.distances(columns, pairs, &options)
        })
    }

    /// Measures the contact of pairs of bodies that overlap or are within a margin: one row a pair of bodies, of the parts that overlap
    /// deepest or are nearest.
    ///
    /// The depth is that of the two parts. To part the bodies it may take more, as other parts may be in the way.
    ///
    /// # Errors
    /// As [`distances`](Self::distances).
    pub fn body_contacts(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<PartPair<Contact>>>> {
        span!("hullfield.collide.compounds.body_contacts", bodies = bodies.len());
        let options = *options;
        self.query(bodies, pairs, options.margin, Rows::Bodies, move |arena, columns, pairs| {
            arena.contacts(columns, pairs, &options)
        })
    }

    fn query<R: NamedRow>(
        &self,
        bodies: &[CompoundBody],
        pairs: Pairs<'_>,
        margin: f32,
        kept: Rows,
        ask: impl Ask<R>,
    ) -> Result<Pending<Batch<PartPair<R>>>> {
        check_margin(margin)?;
        let margin = f64::from(margin);
        for (row, body) in bodies.iter().enumerate() {
            body.check(row, self.shapes.len())?;
            let shape = &self.shapes[body.compound as usize];
            if !shape.fits(f64::from(body.scale), f64::from(body.padding)) {
                let allowed = "it must leave each part a radius from 1e-18 to 1e18, and the mean of its vertices within 1e18 of its origin";
                return Err(Error::value(Location::Body(row), "scale", format!("{:?}", body.scale), allowed));
            }
        }
        let all = bodies.len() as u64 + self.arena.statics().len() as u64;
        let limit = u64::from(u32::MAX);
        if all > limit {
            return Err(Error::TooMany { what: "bodies", count: all, limit });
        }
        let positions: Vec<[f64; 3]> = bodies.iter().map(|body| body.position).collect();
        let hull_of = |body: &CompoundBody| Body::new(self.shapes[body.compound as usize].parts[0].hull);
        let hulls: Vec<Body> = bodies.iter().map(hull_of).collect();
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&hulls) };
        let (arena, origin) = if bodies.is_empty() {
            (self.arena.clone(), DVec3::ZERO)
        } else {
            (self.arena.about_bodies(&columns)?, origin_of(&columns, &self.arena.scene.supports))
        };
        let crowd = Crowd {
            listing: arena.listing(),
            arena,
            origin,
            shapes: Arc::clone(&self.shapes),
            placements: map_shares(bodies, SHARE, CompoundBody::placement),
            bodies: bodies.to_vec(),
            margin,
        };
        let body_pairs = crowd.body_pairs(pairs)?;
        let limit_bytes = self.arena.engine().answer_limit();
        let (rows, stats) = (Vec::new(), Stats::default());
        let job = Job { crowd, body_pairs, next: 0, kept, last: None, rows, stats, limit_bytes };
        job.go_on(ask)
    }
}

/// Asks the arena for rows of given pairs.
trait Ask<R>: Fn(&Arena, BodyColumns<'_>, Pairs<'_>) -> Result<Pending<Batch<R>>> + Send + 'static {}

impl<R, F: Fn(&Arena, BodyColumns<'_>, Pairs<'_>) -> Result<Pending<Batch<R>>> + Send + 'static> Ask<R>
    for F
{
}

/// The bodies of a query.
#[derive(Debug)]
struct Crowd {
    /// With its statics about the origin.
    arena: Arena,
    listing: Arena,
    /// What boxes are relative to.
    origin: DVec3,
    shapes: Arc<[Shape]>,
    bodies: Vec<CompoundBody>,
    placements: Vec<Placement>,
    margin: f64,
}

impl Crowd {
    /// Body `id`, if it is no static.
    fn placed(&self, id: u32) -> Option<Placed<'_>> {
        let body = self.bodies.get(id as usize)?;
        let (shape, placement) = (&self.shapes[body.compound as usize], &self.placements[id as usize]);
        Some(Placed { shape, placement, position: placement.position - self.origin })
    }

    /// The box of a static, relative to the origin.
    fn fixed(&self, id: u32) -> Option<&Aabb> {
        self.arena.statics.as_ref()?.boxes.boxes().get((id as usize).checked_sub(self.bodies.len())?)
    }

    /// The pairs of bodies to search.
    fn body_pairs(&self, pairs: Pairs<'_>) -> Result<Vec<[u32; 2]>> {
        let (count, statics) = (self.bodies.len() as u32, self.arena.statics());
        let all = count + statics.len() as u32;
        if let Pairs::Given(pairs) = pairs {
            let hulls = self.arena.hulls();
            let is_plane = |id: u32| {
                let fixed = id.checked_sub(count).and_then(|at| statics.get(at as usize));
                fixed.is_some_and(|body| hulls[body.hull as usize].dimension() == Dimension::HalfSpace)
            };
            check(pairs, all as usize, self.arena.scene.has_half_space, is_plane)?;
            return Ok(pairs.to_vec());
        }
        let budget = RowBudget::new::<[u32; 2]>(self.arena.engine().answer_limit());
        if self.margin == f64::INFINITY {
            return self.all_pairs(all, &budget);
        }
        let none = StaticBoxes::default();
        let fixed = self.arena.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        let grow = half(self.margin);
        let mut search = BroadPhase::default();
        let rows: Vec<u32> = (0..count).collect();
        search.boxes = map_shares(&rows, SHARE, |&row| {
            let around = self.placed(row).map(|placed| placed.bounds()).unwrap_or_default();
            let body = &self.bodies[row as usize];
            Aabb { group: body.group, mask: body.mask, ..around.grown(f64::from(grow)).rounded() }
        });
        search.begin(fixed, grow);
        let mut found = Vec::new();
        while let Some(pairs) = search.next(fixed, grow) {
            budget.add(pairs.len());
            budget.check()?;
            found.extend_from_slice(pairs);
        }
        Ok(found)
    }

    /// All pairs of bodies, and of bodies and statics, that groups and masks accept.
    fn all_pairs(&self, all: u32, budget: &RowBudget) -> Result<Vec<[u32; 2]>> {
        let statics = self.arena.statics();
        let groups = |id: u32| match self.bodies.get(id as usize) {
            Some(body) => [body.group, body.mask],
            None => {
                let body = &statics[id as usize - self.bodies.len()];
                [body.group, body.mask]
            }
        };
        let mut found = Vec::new();
        for a in 0..self.bodies.len() as u32 {
            let [group, mask] = groups(a);
            let before = found.len();
            found.extend((a + 1..all).map(|b| [a, b]).filter(|&[_, b]| {
                let [other, meets] = groups(b);
                group & meets != 0 && other & mask != 0
            }));
            budget.add(found.len() - before);
            budget.check()?;
        }
        Ok(found)
    }

    /// Appends the pairs of parts of a pair of bodies that may touch or be within a distance.
    fn find_parts(&self, bodies: [u32; 2], within: f64, pairs: &mut Vec<[u32; 2]>) {
        let near_static = |placed: &Placed<'_>, id: u32| {
            let mut parts = Vec::new();
            if let Some(fixed) = self.fixed(id) {
                parts_near_static(placed, fixed, within, &mut parts);
            }
            parts
        };
        match (self.placed(bodies[0]), self.placed(bodies[1])) {
            (Some(a), Some(b)) => part_pairs(&a, &b, within, pairs),
            (Some(a), None) => pairs.extend(near_static(&a, bodies[1]).into_iter().map(|part| [part, 0])),
            (None, Some(b)) => pairs.extend(near_static(&b, bodies[0]).into_iter().map(|part| [0, part])),
            (None, None) => pairs.push([0, 0]),
        }
    }

    /// The pairs of parts of pairs of bodies from number `first` on, in order. `within` has a limit for each pair of bodies, or is empty.
    fn find_all(&self, first: usize, body_pairs: &[[u32; 2]], within: &[f64]) -> Vec<Found> {
        let rows: Vec<(usize, [u32; 2])> = body_pairs.iter().copied().enumerate().collect();
        let tasks = map_chunks(&rows, TASK, |rows| {
            let (mut pairs, mut found) = (Vec::new(), Vec::new());
            for &(row, bodies) in rows {
                let within = within.get(row).map_or(self.margin, |within| within.min(self.margin));
                pairs.clear();
                self.find_parts(bodies, within, &mut pairs);
                found.extend(pairs.iter().map(|&parts| Found { row: first + row, bodies, parts }));
            }
            found
        });
        tasks.concat()
    }

    /// Two parts near one another for each pair of bodies.
    fn near(&self, body_pairs: &[[u32; 2]]) -> Vec<Found> {
        map_shares(body_pairs, TASK, |&bodies| {
            let parts = match (self.placed(bodies[0]), self.placed(bodies[1])) {
                (Some(a), Some(b)) => near_parts(&a, &b),
                _ => [0, 0],
            };
            Found { row: 0, bodies, parts }
        })
    }

    /// The parts of some pairs as bodies of their own, with positions, and the pairs of them.
    fn place(&self, found: &[Found]) -> Instances {
        const NONE: u32 = u32::MAX;
        let mut begins = vec![NONE; self.bodies.len()];
        let mut slots: Vec<u32> = Vec::new();
        let mut used: Vec<[u32; 2]> = Vec::new();
        let mut pairs = Vec::with_capacity(found.len());
        for &Found { bodies, parts, .. } in found {
            let mut pair = bodies;
            for k in 0..2 {
                let id = bodies[k] as usize;
                let Some(body) = self.bodies.get(id) else { continue };
                if begins[id] == NONE {
                    begins[id] = slots.len() as u32;
                    slots.resize(slots.len() + self.shapes[body.compound as usize].parts.len(), NONE);
                }
                let slot = &mut slots[begins[id] as usize + parts[k] as usize];
                if *slot == NONE {
                    *slot = used.len() as u32;
                    used.push([bodies[k], parts[k]]);
                }
                pair[k] = *slot;
            }
            pairs.push(pair);
        }
        // Statics follow the parts.
        let (own, count) = (self.bodies.len() as u32, used.len() as u32);
        for (pair, Found { bodies, .. }) in pairs.iter_mut().zip(found) {
            for (id, body) in pair.iter_mut().zip(bodies) {
                if *body >= own {
                    *id = count + (body - own);
                }
            }
        }
        let (bodies, positions) = map_shares(&used, SHARE, |&[id, part]| {
            let body = &self.bodies[id as usize];
            let (shape, part) = (&self.shapes[body.compound as usize], part as usize);
            self.placements[id as usize].part(&shape.parts[part], &shape.turns[part], body.group, body.mask)
        })
        .into_iter()
        .unzip();
        let names = used.iter().map(|&[body, _]| body).collect();
        Instances { bodies, positions, pairs, names }
    }
}

/// Parts as bodies of their own.
#[derive(Debug)]
struct Instances {
    bodies: Vec<Body>,
    positions: Vec<[f64; 3]>,
    pairs: Vec<[u32; 2]>,
    /// The body that each is a part of.
    names: Vec<u32>,
}

impl Instances {
    fn ask<R>(&self, arena: &Arena, ask: &impl Ask<R>) -> Result<Pending<Batch<R>>> {
        let columns = BodyColumns { positions: &self.positions, ..BodyColumns::new(&self.bodies) };
        let name = |at: Location| match at {
            Location::Body(row) => Location::Body(self.names.get(row).map_or(row, |&body| body as usize)),
            at => at,
        };
        ask(arena, columns, Pairs::Given(&self.pairs)).map_err(|error| error.moved(name))
    }
}

/// A query, a window of pairs of parts at a time.
#[derive(Debug)]
struct Job<R> {
    crowd: Crowd,
    body_pairs: Vec<[u32; 2]>,
    /// First pair of bodies that was not searched yet.
    next: usize,
    kept: Rows,
    /// Number of the pair of bodies of the last row.
    last: Option<usize>,
    rows: Vec<PartPair<R>>,
    stats: Stats,
    limit_bytes: u64,
}

impl<R: NamedRow> Job<R> {
    fn window(&self) -> usize {
        if self.crowd.arena.gpu.is_some() { WINDOW } else { CPU_WINDOW }
    }

    /// Searches and measures the next window; gives the answer after the last.
    fn go_on(mut self, ask: impl Ask<R>) -> Result<Pending<Batch<PartPair<R>>>> {
        if self.kept == Rows::Bodies && self.crowd.margin > 0.0 && self.next < self.body_pairs.len() {
            return self.go_on_within(ask);
        }
        let mut found = Vec::new();
        let window = self.window();
        while self.next < self.body_pairs.len() && found.len() < window {
            let end = self.body_pairs.len().min(self.next + ROUND);
            found.extend(self.crowd.find_all(self.next, &self.body_pairs[self.next..end], &[]));
            self.next = end;
        }
        self.measure(found, ask)
    }

    /// The same for the nearest parts of a pair of bodies: first measures two parts of each, which limit the search for others.
    fn go_on_within(mut self, ask: impl Ask<R>) -> Result<Pending<Batch<PartPair<R>>>> {
        let end = self.body_pairs.len().min(self.next + self.window() / 16);
        let near = self.crowd.near(&self.body_pairs[self.next..end]);
        let pending = self.crowd.place(&near).ask(&self.crowd.arena, &ask)?;
        Ok(pending.chain(move |batch| {
            // A distance is within τ of the truth.
            let limit = |row: &R| {
                let gap = row.gap().unwrap_or_default().max(0.0);
                gap * (1.0 + 1e-5)
            };
            let within: Vec<f64> = batch.rows.iter().map(limit).collect();
            add(&mut self.stats, &batch.stats);
            let found = self.crowd.find_all(self.next, &self.body_pairs[self.next..end], &within);
            self.next = end;
            self.measure(found, ask)
        }))
    }

    /// Measures pairs of parts, then goes on.
    fn measure(mut self, found: Vec<Found>, ask: impl Ask<R>) -> Result<Pending<Batch<PartPair<R>>>> {
        if found.is_empty() {
            if self.next < self.body_pairs.len() {
                return self.go_on(ask);
            }
            let hit_count = self.rows.iter().filter(|row| row.row.status().is_hit()).count() as u64;
            let stats = Stats { hit_count, ..self.stats };
            return Ok(Pending::ready(Batch::new(self.rows, stats)));
        }
        let instances = self.crowd.place(&found);
        let pending = instances.ask(&self.crowd.listing, &ask)?;
        let pairs = instances.pairs;
        Ok(pending.chain(move |batch| {
            add(&mut self.stats, &batch.stats);
            let budget = RowBudget::new::<PartPair<R>>(self.limit_bytes);
            // Rows come in the order of the pairs; some have none.
            let mut found = pairs.into_iter().zip(found);
            for row in batch.rows {
                let pair = row.pair();
                let Some((_, Found { row: number, bodies, parts: [part_a, part_b] })) =
                    found.find(|(other, _)| *other == pair)
                else {
                    return Err(Error::internal("collide::compound::Job::measure", "a row of no pair"));
                };
                if row.is_listed(self.crowd.margin) {
                    self.keep(number, PartPair { part_a, part_b, row: row.named(bodies) });
                }
            }
            budget.add(self.rows.len());
            budget.check()?;
            self.go_on(ask)
        }))
    }

    /// Keeps a row of a pair of bodies, or the better of it and the last one where both are of the same pair.
    fn keep(&mut self, number: usize, row: PartPair<R>) {
        if self.kept == Rows::Bodies
            && self.last.replace(number) == Some(number)
            && let Some(last) = self.rows.last_mut()
        {
            if row.row.is_before(&last.row) {
                *last = row;
            }
            return;
        }
        self.rows.push(row);
    }
}

/// Adds the counts and times of a window.
fn add(sum: &mut Stats, window: &Stats) {
    sum.candidate_count += window.candidate_count;
    sum.refined_count += window.refined_count;
    sum.settled_count += window.settled_count;
    sum.rerun_count += window.rerun_count;
    let (times, more) = (&mut sum.times, &window.times);
    times.upload_ms += more.upload_ms;
    times.compile_ms += more.compile_ms;
    times.kernels_ms += more.kernels_ms;
    times.readback_ms += more.readback_ms;
    times.settle_ms += more.settle_ms;
    times.total_ms += more.total_ms;
}
