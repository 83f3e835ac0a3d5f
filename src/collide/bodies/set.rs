//! The set: bodies with ids, the queries over them, and their events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use web_time::Instant;

use crate::collide::bodies::events::{PairEvent, TouchingPairs, slot_pair};
use crate::collide::bodies::id::{BodyId, BodyRef};
use crate::collide::bodies::rows::{Found, QueryNumber, name};
use crate::collide::bodies::slots::{SLOT_LIMIT, Slots};
use crate::collide::hull::record::HullRecord;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Contact, Distance, Intersection, Manifold};
use crate::collide::narrow_phase::settle::milliseconds;
use crate::collide::query::arena::Arena;
use crate::collide::query::options::{ContactOptions, DistanceOptions, ManifoldOptions};
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::pose::is_placed;
use crate::collide::scene::ray_columns::check_f64;
use crate::error::{Error, Location, Result};
use crate::pending::Pending;

/// Numbers the sets of a process.
static SETS: AtomicU64 = AtomicU64::new(0);

/// Bounding radius of the body that stands in an empty slot, in world units, where the hull allows it.
const EMPTY_RADIUS: f32 = 1e-12;

/// Bodies that live from frame to frame: a set with stable ids, and begin, stay and end events of its pairs.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{Arena, Bodies, Body, BodyRef, Hull, Options, Phase};
///
/// let arena = Arena::new(&Engine::auto()?, &[Hull::ball(0.5)?], Options::default())?;
/// let mut bodies = Bodies::new(&arena);
/// let ball = bodies.insert(Body::new(0), "ball")?;
/// let wall = bodies.insert(Body::new(0).at([2.0, 0.0, 0.0]), "wall")?;
///
/// // A frame: move, ask, take the events.
/// let mut frame = |x: f32| {
///     bodies.set(ball, Body::new(0).at([x, 0.0, 0.0]))?;
///     let found = bodies.intersections()?.wait()?;
///     bodies.events(&found)
/// };
/// assert!(frame(0.0)?.is_empty());
/// let events = frame(1.2)?;
/// assert_eq!((events[0].a, events[0].b), (ball, BodyRef::Body(wall)));
/// assert_eq!(events[0].phase, Phase::Begin);
/// assert_eq!(frame(1.3)?[0].phase, Phase::Stay);
/// assert_eq!(frame(0.5)?[0].phase, Phase::End);
/// assert!(frame(0.0)?.is_empty());
/// # Ok::<(), hullfield::Error>(())
/// ```
///
/// `T` is the type of the user data, which the set keeps for each body.
///
/// # Ids
/// A [`BodyId`] is a slot and a generation. A removed body's slot is used again, with the next generation, so an id never names another
/// body than the one it was given for. A slot whose 2³² generations are used up stays empty. An id of another set is not recognised as such.
///
/// # Rows
/// A slot is a row of the queries, so a body keeps its row, and a warm start ([`Options::warm_start`](crate::collide::Options::warm_start))
/// keeps what it knows of it. Errors of queries name bodies by their slot, [`BodyId::index`].
///
/// An empty slot holds a tiny body that meets nothing, placed where some other body was. It costs a query as much as a body that is alone.
/// There are as many slots as there ever were bodies at a time. A slot takes 64 bytes and the user data, a touching pair twice 8 bytes.
///
/// # Events
/// A query changes nothing. [`Bodies::events`] compares its answer with the last one that was handed in, and remembers it. So an answer that
/// is dropped, or that is an error, has no events, and the next answer is compared with the one before.
///
/// The remembered pairs are a list of their own. The warm start can't stand in for it: it is optional, on the CPU engine alone, and it
/// forgets its pairs where bodies move too fast.
#[derive(Debug)]
pub struct Bodies<T = ()> {
    arena: Arena,
    /// The body of each slot.
    rows: Vec<Body>,
    /// The position of each slot's body where it is in f64. It may be shorter than the slots.
    positions: Vec<Option<[f64; 3]>>,
    slots: Slots<T>,
    /// What stands in an empty slot, but for its position; none where the arena has no hull that a body could be of.
    empty: Option<Body>,
    touching: TouchingPairs,
    set: u64,
    /// Queries so far.
    queries: AtomicU64,
    /// The query whose answer the events were last taken of.
    last_query: u64,
}

impl<T> Bodies<T> {
    /// A set without bodies, of the hulls and statics of an arena. It keeps a clone of the handle.
    pub fn new(arena: &Arena) -> Self {
        Self {
            arena: arena.clone(),
            rows: Vec::new(),
            positions: Vec::new(),
            slots: Slots::default(),
            empty: empty_body(arena),
            touching: TouchingPairs::default(),
            set: SETS.fetch_add(1, Relaxed),
            queries: AtomicU64::new(0),
            last_query: 0,
        }
    }

    /// The arena of the queries.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Uses another arena from now on: one with more hulls, other statics or options, or another engine. Bodies, ids and events go on. Statics
    /// are known by their index alone.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, Hull, Options};
    ///
    /// let mut arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let mut bodies = Bodies::new(&arena);
    /// bodies.insert(Body::new(0), ())?;
    /// let added = arena.add_hulls(&[Hull::cuboid([1.0; 3])?])?;
    /// bodies.set_arena(&arena)?;
    /// bodies.insert(Body::new(added.start), ())?;
    /// assert_eq!(bodies.len(), 2);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bodies::set`], at the [`Location::Body`] of the first body that the arena can't place. The set is then unchanged.
    pub fn set_arena(&mut self, arena: &Arena) -> Result<()> {
        for (row, body) in self.rows.iter().enumerate() {
            if self.slots.id_at(row as u32).is_some() {
                body.radius(row, &arena.scene.supports)?;
            }
        }
        self.arena = arena.clone();
        self.empty = empty_body(arena);
        for slot in 0..self.rows.len() {
            if self.slots.id_at(slot as u32).is_none() {
                self.rows[slot] = self.empty_at(self.rows[slot].position);
            }
        }
        Ok(())
    }

    /// Inserts a body with its user data and returns its id.
    ///
    /// # Errors
    /// [`Error::Missing`] for a hull that does not exist, [`Error::Value`] for a number of the body, [`Error::Invalid`] for a removed hull, all
    /// at [`Location::Argument`]; [`Error::TooMany`] for more than 2³¹ slots. The set is then unchanged.
    pub fn insert(&mut self, body: Body, user_data: T) -> Result<BodyId> {
        body.radius(0, &self.arena.scene.supports).map_err(of_argument)?;
        let id = self.slots.insert(user_data)?;
        match self.rows.get_mut(id.index() as usize) {
            Some(row) => *row = body,
            None => self.rows.push(body),
        }
        self.clear_position(id.index() as usize);
        Ok(id)
    }

    /// Removes a body and returns it with its user data; `None` for a stale id. Its touching pairs end with the next events.
    pub fn remove(&mut self, id: BodyId) -> Option<(Body, T)> {
        let user_data = self.slots.remove(id)?;
        self.touching.remove(id);
        let slot = id.index() as usize;
        let body = self.rows[slot];
        // Where another body is or was. Bodies often end in one place, and so many boxes in one place would each be tested with all.
        let other =
            scattered(u64::from(id.index()) << 32 | u64::from(id.generation())) % self.rows.len() as u64;
        self.rows[slot] = self.empty_at(self.rows[other as usize].position);
        let position = self.positions.get(other as usize).copied().flatten();
        if position.is_some() {
            self.positions.resize(self.rows.len(), None);
            self.positions[slot] = position;
        } else {
            self.clear_position(slot);
        }
        Some((body, user_data))
    }

    /// Replaces a body: its pose, its hull, all of it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the id of a removed body, and [`Error::Missing`] for one of a slot that does not exist. Otherwise as
    /// [`Bodies::insert`], at the body's [`Location::Body`]. The body is then unchanged.
    pub fn set(&mut self, id: BodyId, body: Body) -> Result<()> {
        self.check(id)?;
        let row = id.index() as usize;
        body.radius(row, &self.arena.scene.supports)?;
        self.rows[row] = body;
        self.clear_position(row);
        Ok(())
    }

    /// Gives a body a position in f64, in world units, in place of [`Body::position`], until [`Bodies::set`] gives it a whole body: see
    /// [`BodyColumns::positions`].
    ///
    /// While any body has one, queries have no warm start and treat all positions as f64.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, ContactOptions, Hull, Options};
    ///
    /// let mut bodies = Bodies::new(&Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?);
    /// for x in [1e7, 1e7 + 1.001] {
    ///     let id = bodies.insert(Body::new(0), ())?;
    ///     bodies.set_position_f64(id, [x, 0.0, 0.0])?;
    /// }
    /// let found = bodies.contacts(&ContactOptions { margin: 0.01 })?.wait()?;
    /// assert!((found.rows[0].row.separation - 0.001).abs() < 1e-5);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// For the id as [`Bodies::set`]; [`Error::Value`] at the body's [`Location::Body`] where a coordinate is not finite or above 1e18. The body
    /// is then unchanged.
    pub fn set_position_f64(&mut self, id: BodyId, position: [f64; 3]) -> Result<()> {
        self.check(id)?;
        let row = id.index() as usize;
        check_f64(Location::Body(row), "position", &position)?;
        if self.positions.len() <= row {
            self.positions.resize(self.rows.len(), None);
        }
        self.positions[row] = Some(position);
        Ok(())
    }

    /// The position of a body in f64, be it stored so or in f32; `None` for a stale id.
    pub fn position_f64(&self, id: BodyId) -> Option<[f64; 3]> {
        let body = self.get(id)?;
        let stored = self.positions.get(id.index() as usize).copied().flatten();
        Some(stored.unwrap_or(body.position.map(f64::from)))
    }

    /// The positions of [`Bodies::rows`] as the queries get them: empty where no body has one in f64, else one for each slot.
    pub fn positions(&self) -> Vec<[f64; 3]> {
        if self.positions.iter().all(Option::is_none) {
            return Vec::new();
        }
        let stored = self.positions.iter().copied().chain(std::iter::repeat(None));
        let each = self.rows.iter().zip(stored);
        each.map(|(body, stored)| stored.unwrap_or(body.position.map(f64::from))).collect()
    }

    /// From now on the body of a slot has a position in f32.
    fn clear_position(&mut self, slot: usize) {
        if let Some(position) = self.positions.get_mut(slot) {
            *position = None;
        }
    }

    /// Fails for a stale id.
    fn check(&self, id: BodyId) -> Result<()> {
        if self.slots.holds(id) {
            return Ok(());
        }
        let (index, count) = (u64::from(id.index()), self.rows.len() as u64);
        if index >= count {
            return Err(Error::Missing { at: Location::Argument, what: "body", index, count });
        }
        let now = match self.slots.id_at(id.index()) {
            Some(now) => format!("its slot holds a body of generation {}", now.generation()),
            None => "its slot is empty".to_owned(),
        };
        Err(Error::invalid(Location::Argument, format!("{id} is not in the set: {now}")))
    }

    /// Whether a body is in the set.
    pub fn contains(&self, id: BodyId) -> bool {
        self.slots.holds(id)
    }

    /// A body; `None` for a stale id.
    pub fn get(&self, id: BodyId) -> Option<&Body> {
        if self.slots.holds(id) { self.rows.get(id.index() as usize) } else { None }
    }

    /// A body, to be changed; `None` for a stale id. Its numbers are checked by the next query, as those of [`Arena::intersections`] are.
    pub fn get_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        if self.slots.holds(id) { self.rows.get_mut(id.index() as usize) } else { None }
    }

    /// The user data of a body; `None` for a stale id.
    pub fn user_data(&self, id: BodyId) -> Option<&T> {
        if self.slots.holds(id) { self.slots.user_data().get(id.index() as usize)?.as_ref() } else { None }
    }

    /// The user data of a body, to be changed; `None` for a stale id.
    pub fn user_data_mut(&mut self, id: BodyId) -> Option<&mut T> {
        if !self.slots.holds(id) {
            return None;
        }
        let (_, user_data) = self.slots.user_data_mut();
        user_data.get_mut(id.index() as usize)?.as_mut()
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.slots.count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bodies with their user data, in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, &Body, &T)> {
        let generations = self.slots.generations();
        let rows = self.rows.iter().zip(self.slots.user_data()).enumerate();
        rows.filter_map(move |(slot, (body, user_data))| {
            Some((BodyId::new(slot as u32, generations[slot]), body, user_data.as_ref()?))
        })
    }

    /// All bodies with their user data, to be changed, in the order of their slots. The next query checks the numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (BodyId, &mut Body, &mut T)> {
        let (generations, user_data) = self.slots.user_data_mut();
        let rows = self.rows.iter_mut().zip(user_data).enumerate();
        rows.filter_map(move |(slot, (body, user_data))| {
            Some((BodyId::new(slot as u32, generations[slot]), body, user_data.as_mut()?))
        })
    }

    /// The bodies as the queries get them, one for each slot. So another query of the [arena](Self::arena) can be asked of them: given pairs,
    /// sweeps. An empty slot has a body that meets nothing, unless given pairs name it.
    pub fn rows(&self) -> &[Body] {
        &self.rows
    }

    /// Who a row of such a query is; `None` for an empty slot, and for a row after the last static.
    pub fn of_row(&self, row: u32) -> Option<BodyRef> {
        match row.checked_sub(self.rows.len() as u32) {
            None => self.slots.id_at(row).map(BodyRef::Body),
            Some(at) => ((at as usize) < self.arena.statics().len()).then_some(BodyRef::Static(at)),
        }
    }

    /// Finds the pairs that touch or overlap, among the bodies and with the statics: [`Arena::intersections`].
    ///
    /// Any number of queries may be in flight, and the set may be changed meanwhile: an answer is about the bodies at the time of the call.
    ///
    /// # Errors
    /// As [`Arena::intersections`]; [`Location::Body`] has the slot.
    pub fn intersections(&self) -> Result<Pending<Found<Intersection>>> {
        self.query(|arena, rows| arena.intersections(rows, Pairs::BroadPhase))
    }

    /// Measures the distances of pairs within a margin: [`Arena::distances`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, DistanceOptions, Hull, Options};
    ///
    /// let mut bodies = Bodies::new(&Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?);
    /// let [a, _] = [0.0, 2.5].map(|x| bodies.insert(Body::new(0).at([x, 0.0, 0.0]), ()));
    /// let found = bodies.distances(&DistanceOptions { margin: 1.0 })?.wait()?;
    /// assert_eq!((found.rows[0].a, found.rows[0].row.separation), (a?, 0.5));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Arena::distances`]; [`Location::Body`] has the slot.
    pub fn distances(&self, options: &DistanceOptions) -> Result<Pending<Found<Distance>>> {
        self.query(|arena, rows| arena.distances(rows, Pairs::BroadPhase, options))
    }

    /// Measures the contacts of pairs that overlap or are within a margin: [`Arena::contacts`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, BodyRef, ContactOptions, Hull, Options};
    ///
    /// // On the ground.
    /// let hulls = [Hull::half_space(), Hull::ball(1.0)?];
    /// let options = Options { statics: vec![Body::new(0)], ..Options::default() };
    /// let mut bodies = Bodies::new(&Arena::new(&Engine::cpu(), &hulls, options)?);
    /// let ball = bodies.insert(Body::new(1).at([0.0, 0.75, 0.0]), ())?;
    /// let found = bodies.contacts(&ContactOptions::default())?.wait()?;
    /// assert_eq!((found.rows[0].a, found.rows[0].b), (ball, BodyRef::Static(0)));
    /// assert!((found.rows[0].row.depth() - 0.25).abs() < 1e-5);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Arena::contacts`]; [`Location::Body`] has the slot.
    pub fn contacts(&self, options: &ContactOptions) -> Result<Pending<Found<Contact>>> {
        self.query(|arena, rows| arena.contacts(rows, Pairs::BroadPhase, options))
    }

    /// The same with up to four points of each contact: [`Arena::manifolds`].
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, Hull, ManifoldOptions, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3])?], Options::default())?;
    /// let mut bodies = Bodies::new(&arena);
    /// for height in [0.0, 0.99] {
    ///     bodies.insert(Body::new(0).at([0.0, height, 0.0]), ())?;
    /// }
    /// let found = bodies.manifolds(&ManifoldOptions::default())?.wait()?;
    /// assert_eq!(found.rows[0].row.points().len(), 4);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Arena::manifolds`]; [`Location::Body`] has the slot.
    pub fn manifolds(&self, options: &ManifoldOptions) -> Result<Pending<Found<Manifold>>> {
        self.query(|arena, rows| arena.manifolds(rows, Pairs::BroadPhase, options))
    }

    /// Asks the arena, and names the rows of the answer.
    fn query<R: Row + 'static>(
        &self,
        ask: impl FnOnce(&Arena, BodyColumns<'_>) -> Result<Pending<Batch<R>>>,
    ) -> Result<Pending<Found<R>>> {
        let begin = Instant::now();
        let (statics, limit) = (self.arena.statics().len() as u64, u64::from(SLOT_LIMIT));
        if statics > limit {
            return Err(Error::TooMany { what: "statics", count: statics, limit });
        }
        // Without bodies the arena may have no hull for those of empty slots.
        let rows = if self.is_empty() { &[][..] } else { &self.rows[..] };
        let positions = if rows.is_empty() { Vec::new() } else { self.positions() };
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(rows) };
        let pending = ask(&self.arena, columns)?;
        let query = QueryNumber { set: self.set, query: self.queries.fetch_add(1, Relaxed) + 1 };
        let generations = Arc::clone(self.slots.generations());
        Ok(pending.map(move |batch| {
            let mut found = name(batch, &generations, query);
            found.stats.times.total_ms = milliseconds(begin);
            found
        }))
    }

    /// What became of the touching pairs since the last answer that was handed in, sorted by `(a, b)`.
    ///
    /// A pair that touches or overlaps, of bodies that are in the set now, begins if it did not touch then, else it stays. All other pairs that
    /// touched then end, those of removed bodies too: an `End` is the only event that names a stale id, and it comes once. So over a life the
    /// pairs that began less those that ended are [the pairs that touch](Self::touching). Statuses are equal on every engine and for any number
    /// of threads, and so are events. It does not matter what kind of query it is, nor which margin it has.
    ///
    /// Answers are handed in in the order of their queries; some may be left out.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Bodies, Body, ContactOptions, Hull, Options, Phase};
    ///
    /// let mut bodies = Bodies::new(&Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?);
    /// let ids = [0.0, 1.5].map(|x| bodies.insert(Body::new(0).at([x, 0.0, 0.0]), x));
    /// let found = bodies.contacts(&ContactOptions::default())?.wait()?;
    /// for event in bodies.events(&found)? {
    ///     println!("{:?} {:?} {:?}", bodies.user_data(event.a), event.b, event.phase);
    /// }
    /// bodies.remove(ids[0].clone()?);
    /// let found = bodies.contacts(&ContactOptions::default())?.wait()?;
    /// assert_eq!(bodies.events(&found)?[0].phase, Phase::End);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Cost
    /// Linear in the touching pairs, now and then; and a sort of the events where bodies were removed.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the answer of another set, and for that of an earlier query than the last one handed in. Nothing is changed then.
    pub fn events<R>(&mut self, found: &Found<R>) -> Result<Vec<PairEvent>> {
        let QueryNumber { set, query } = found.query;
        if set != self.set {
            let message = "the answer is that of another set of bodies";
            return Err(Error::invalid(Location::Argument, message));
        }
        if query <= self.last_query {
            let message = format!(
                "the answer is that of query {query}, and events were taken of query {} already: hand each answer in once, in the order of the queries",
                self.last_query
            );
            return Err(Error::invalid(Location::Argument, message));
        }
        self.last_query = query;
        let is_there = |side: BodyRef| side.body().is_none_or(|id| self.slots.holds(id));
        let now = found
            .rows
            .iter()
            .filter(|pair| pair.status.is_hit() && self.slots.holds(pair.a) && is_there(pair.b))
            .map(|pair| slot_pair(pair.a, pair.b));
        Ok(self.touching.advance(now, &self.slots))
    }

    /// The pairs that touched in the answer whose events were taken last, sorted by slots. Those of bodies that were removed since have not ended
    /// yet.
    pub fn touching(&self) -> impl ExactSizeIterator<Item = (BodyId, BodyRef)> {
        self.touching.iter(&self.slots)
    }

    /// The body of an empty slot.
    fn empty_at(&self, position: [f32; 3]) -> Body {
        let position = if is_placed(position) { position } else { [0.0; 3] };
        // Without a hull there are no bodies, and no query gets the rows.
        self.empty.unwrap_or(Body::new(0).grouped(0, 0)).at(position)
    }
}

/// A tiny body that meets nothing.
fn empty_body(arena: &Arena) -> Option<Body> {
    let supports = &arena.scene.supports;
    let scaled = |(hull, record): (u32, &HullRecord)| {
        let radius = record.radius + record.rounding;
        let scale = if radius > 0.0 { (EMPTY_RADIUS / radius).clamp(1e-18, 1e18) } else { 1.0 };
        let body = Body::new(hull).scaled(scale).grouped(0, 0);
        (body.radius(0, supports).is_ok(), record.half_space != 0, body)
    };
    let all = || (0..).zip(&supports.records).map(scaled).filter(|&(is_good, ..)| is_good);
    // Each half-space is tested with every box.
    all().find(|&(_, is_half_space, _)| !is_half_space).or_else(|| all().next()).map(|(.., body)| body)
}

/// An even hash (splitmix64).
fn scattered(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The same error, of the argument of the call.
fn of_argument(mut error: Error) -> Error {
    if let Error::Value { at, .. } | Error::Missing { at, .. } | Error::Invalid { at, .. } = &mut error {
        *at = Location::Argument;
    }
    error
}
