//! The input of queries: the hulls, which all queries share, and the bodies and pairs of one query.

use crate::collide::scene::pairs::{OwnedPairs, check};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::faces::FaceTables;
use crate::collide::hull::plane_table::PlaneTables;
use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::aabbs_into;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::{lay_out_about, origin_of};
use crate::collide::scene::frame::Frame;
use crate::collide::scene::layout::{Layout, lay_out_into};
use crate::collide::scene::moving::MovingBoxes;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::placed::Placed;
use crate::collide::scene::placed_bounds::placed_aabbs_into;
use crate::collide::scene::rules::{OrderedRules, PairRules};
use crate::collide::scene::statics::Statics;
use crate::collide::scene::stored::Stored;
use crate::error::{Error, Location, Result};
use crate::lock::lock;
use crate::parallel::map_shares;
use crate::pending::Awaited;

/// Bodies that a thread puts in order at a time, at least.
const ORDER_SHARE: usize = 4096;
/// Most inputs that are kept for their memory.
const SPARE_LIMIT: usize = 4;

/// The hulls of an arena and their layout.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) supports: Supports,
    /// Face tables, for manifolds.
    pub(crate) faces: FaceTables,
    /// Plane tables, for rays and points.
    pub(crate) planes: PlaneTables,
    pub(crate) has_half_space: bool,
    /// Ids of removed hulls: a point takes the place of each, and no body may use it.
    pub(crate) removed: BTreeSet<u32>,
    spare_inputs: Mutex<Vec<QueryInput>>,
}

impl Scene {
    /// Lays out the hulls.
    pub(crate) fn new(hulls: &[Hull]) -> Result<Self> {
        Ok(Self {
            supports: Supports::new(hulls)?,
            has_half_space: hulls.iter().any(|hull| hull.dimension() == Dimension::HalfSpace),
            hulls: hulls.to_vec(),
            faces: FaceTables::new(hulls.len()),
            planes: PlaneTables::new(hulls.len()),
            removed: BTreeSet::new(),
            spare_inputs: Mutex::default(),
        })
    }

    /// Lays out the hulls that are not removed. Ids stay.
    pub(crate) fn with_removed(hulls: &[Hull], removed: &BTreeSet<u32>) -> Result<Self> {
        if removed.is_empty() {
            return Self::new(hulls);
        }
        let kept =
            |(id, hull): (u32, &Hull)| if removed.contains(&id) { Hull::point() } else { hull.clone() };
        let hulls: Vec<Hull> = (0..).zip(hulls).map(kept).collect();
        let mut scene = Self::new(&hulls)?;
        for (id, record) in (0..).zip(&mut scene.supports.records) {
            if removed.contains(&id) {
                *record = record.removed();
            }
        }
        scene.removed.clone_from(removed);
        Ok(scene)
    }

    /// The same hulls once more, for [`replace_after`](Self::replace_after).
    pub(crate) fn copied(&self) -> Self {
        Self {
            hulls: self.hulls.clone(),
            supports: self.supports.clone(),
            faces: FaceTables::new(self.hulls.len()),
            planes: PlaneTables::new(self.hulls.len()),
            has_half_space: self.has_half_space,
            removed: self.removed.clone(),
            spare_inputs: Mutex::default(),
        }
    }

    /// Keeps the first hulls and adds others, none of them a half-space.
    ///
    /// # Errors
    /// [`Error::TooMany`] where the vertices are too many.
    pub(crate) fn replace_after(&mut self, kept: usize, hulls: Vec<Hull>) -> Result<()> {
        self.hulls.truncate(kept);
        self.supports.truncate(kept);
        for hull in &hulls {
            self.supports.push(hull)?;
        }
        self.hulls.extend(hulls);
        self.faces.replace_after(kept, self.hulls.len());
        self.planes.replace_after(kept, self.hulls.len());
        Ok(())
    }

    /// Keeps the memory of a finished query's input for the next one. What it shares with others is left to them.
    pub(crate) fn give_back(&self, mut input: QueryInput) {
        input.release();
        let mut spare_inputs = lock(&self.spare_inputs);
        if spare_inputs.len() < SPARE_LIMIT {
            spare_inputs.push(input);
        }
    }
}

/// A list that queries in flight share.
pub(crate) type Shared<T> = Arc<Vec<T>>;

/// A list for other content: its memory, where nobody else has it.
pub(crate) fn renewed<T: Clone>(list: &mut Shared<T>) -> &mut Vec<T> {
    release(list);
    Arc::make_mut(list)
}

/// Leaves a list to others who have it.
fn release<T>(list: &mut Shared<T>) {
    if Arc::get_mut(list).is_none() {
        *list = Shared::default();
    }
}

/// The checked input of one query. A copy shares its lists.
#[derive(Debug, Clone)]
pub(crate) struct QueryInput {
    /// The movers, then the statics.
    pub(crate) bodies: Shared<Body>,
    /// Number of movers: the bodies that are not statics.
    pub(crate) mover_count: usize,
    pub(crate) statics: Option<Arc<Statics>>,
    /// World position of each body's hull's origin, the statics' too, where positions are in f64; else empty.
    pub(crate) positions: Shared<DVec3>,
    /// The world position of the origin that packed and placed bodies are relative to: 0 where positions are f32.
    pub(crate) origin: DVec3,
    /// One for each mover, or empty: see [`Layout`].
    pub(crate) packed: Shared<PackedBody>,
    /// One for each body, or empty: see [`Layout`].
    pub(crate) placed: Shared<Placed>,
    /// Ids of the half-spaces, statics included, ascending.
    pub(crate) planes: Shared<u32>,
    /// The boxes of the movers and a tree over them, where these are kept from query to query.
    pub(crate) tree: Option<Arc<MovingBoxes>>,
    /// The movers as rays and points read them, where these are kept from query to query.
    pub(crate) frames: Option<Shared<Frame>>,
    pub(crate) pairs: OwnedPairs,
    /// Whether given pairs have rows only where the broad phase would list them.
    pub(crate) is_listing: bool,
    /// Which pairs may meet; all given pairs do.
    pub(crate) rules: Arc<PairRules>,
    /// The caller's row of each mover, where worlds put them into another order; else empty.
    pub(crate) order: Shared<u32>,
    /// Bytes that the rows of the answer may take; `u64::MAX` where the host's memory is the limit.
    pub(crate) answer_limit: u64,
    /// Whether the answer is still wanted.
    pub(crate) awaited: Awaited,
    /// Milliseconds that checking and packing took.
    pub(crate) upload_ms: f64,
}

impl QueryInput {
    /// The same input, for a query that ends where its answer is cancelled.
    pub(crate) fn awaited_by(self, awaited: &Awaited) -> Self {
        Self { awaited: awaited.clone(), ..self }
    }

    /// Leaves the lists to others who have them.
    fn release(&mut self) {
        self.tree = None;
        self.frames = None;
        release(&mut self.bodies);
        release(&mut self.positions);
        release(&mut self.packed);
        release(&mut self.placed);
        release(&mut self.planes);
        release(&mut self.order);
    }

    /// Whether each pair has a row.
    pub(crate) fn keeps_all(&self) -> bool {
        matches!(self.pairs, OwnedPairs::Given(_)) && !self.is_listing
    }

    /// Whether positions are in f64.
    #[inline]
    pub(crate) fn is_far(&self) -> bool {
        !self.positions.is_empty()
    }

    /// Writes the boxes of the movers, from whichever layout there is: they are the same.
    pub(crate) fn boxes_into(&self, boxes: &mut Vec<Aabb>, hulls: &[HullRecord]) {
        if self.packed.len() == self.mover_count {
            return aabbs_into(boxes, &self.packed, hulls, 0.0);
        }
        let movers = 0..self.mover_count;
        placed_aabbs_into(boxes, &self.bodies[movers.clone()], &self.placed[movers], hulls, 0.0);
    }

    /// The bodies as stored.
    #[inline]
    pub(crate) fn stored(&self) -> Stored<'_> {
        Stored { bodies: &self.bodies, positions: &self.positions, order: &self.order }
    }

    /// Position of a body's hull's origin, relative to the query's origin.
    #[inline]
    pub(crate) fn position(&self, id: u32) -> DVec3 {
        match self.positions.get(id as usize) {
            Some(position) => position - self.origin,
            None => DVec3::from(self.bodies[id as usize].position.map(f64::from)),
        }
    }

    /// Whether there is no pair to examine.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.pairs {
            OwnedPairs::BroadPhase | OwnedPairs::Exhaustive => self.mover_count == 0 || self.bodies.len() < 2,
            OwnedPairs::Given(pairs) => pairs.is_empty(),
        }
    }

    /// Number of pairs of movers, and of movers and statics.
    pub(crate) fn pair_total(&self) -> u64 {
        let (movers, all) = (self.mover_count as u64, self.bodies.len() as u64);
        let of_movers = match self.rules.has_worlds() {
            true => self.rules.pair_total_in_worlds(),
            false => movers * movers.saturating_sub(1) / 2,
        };
        of_movers + movers * (all - movers)
    }

    /// The later bodies that mover `a` may meet, as far as worlds decide: movers, then statics.
    pub(crate) fn partners(&self, a: u32) -> [Range<u32>; 2] {
        let (movers, all) = (self.mover_count as u32, self.bodies.len() as u32);
        let end = self.rules.end_of(a, movers);
        [a + 1..end, movers..all]
    }

    /// Whether a pair of one world that was not given is examined: groups and masks, owners and exclusions accept it, not both are
    /// half-spaces, and the first is a mover.
    #[inline]
    pub(crate) fn accepts(&self, scene: &Scene, a: u32, b: u32) -> bool {
        let (a_body, b_body) = (&self.bodies[a as usize], &self.bodies[b as usize]);
        let is_plane = |body: &Body| scene.supports.records[body.hull as usize].half_space != 0;
        (a_body.group & b_body.mask) != 0
            && (b_body.group & a_body.mask) != 0
            && (self.planes.is_empty() || !is_plane(a_body) || !is_plane(b_body))
            && (a as usize) < self.mover_count
            && (!self.rules.has_filter() || self.rules.allows(a, b))
    }

    /// Whether [`accepts`](Self::accepts) holds for every pair whose first body is a mover: there are no groups, no half-spaces, and no owners
    /// or exclusions.
    pub(crate) fn accepts_all(&self) -> bool {
        self.planes.is_empty()
            && !self.rules.has_filter()
            && self.bodies.iter().all(|body| body.group == u32::MAX && body.mask == u32::MAX)
    }

    /// An input without bodies.
    fn empty() -> Self {
        Self {
            bodies: Shared::default(),
            mover_count: 0,
            statics: None,
            positions: Shared::default(),
            origin: DVec3::ZERO,
            packed: Shared::default(),
            planes: Shared::default(),
            tree: None,
            frames: None,
            pairs: OwnedPairs::BroadPhase,
            is_listing: false,
            rules: Arc::default(),
            order: Shared::default(),
            answer_limit: u64::MAX,
            awaited: Awaited::default(),
            placed: Shared::default(),
            upload_ms: 0.0,
        }
    }

    /// The input of a scene, whose lists are filled in later. Positions are in f64.
    pub(crate) fn of_scene(mover_count: usize, origin: DVec3, rules: Arc<PairRules>) -> Self {
        Self { mover_count, origin, rules, ..Self::empty() }
    }

    /// Checks bodies and pairs and lays the bodies out.
    pub(crate) fn new(
        scene: &Scene,
        columns: BodyColumns<'_>,
        statics: Option<&Arc<Statics>>,
        pairs: Pairs<'_>,
        layout: Layout,
    ) -> Result<Self> {
        let begin = web_time::Instant::now();
        columns.check()?;
        let OrderedRules { rules, order } = match columns.has_rules() {
            true => OrderedRules::new(&columns, statics.map_or(0, |statics| statics.bodies.len()))?,
            false => OrderedRules::default(),
        };
        if !order.is_empty() && !matches!(pairs, Pairs::Given(_)) {
            let bodies: Vec<Body> = map_shares(&order, ORDER_SHARE, |&row| columns.bodies[row as usize]);
            let positions: Vec<[f64; 3]> = match columns.positions {
                [] => Vec::new(),
                positions => map_shares(&order, ORDER_SHARE, |&row| positions[row as usize]),
            };
            let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
            let input = Self::of_columns(scene, columns, statics, pairs, layout, begin);
            let row_of = |at: Location| match at {
                Location::Body(place) => Location::Body(order.get(place).map_or(place, |&row| row as usize)),
                at => at,
            };
            let input = input.map_err(|error| error.moved(row_of))?;
            return Ok(Self { rules: Arc::new(rules), order: Arc::new(order), ..input });
        }
        let input = Self::of_columns(scene, columns, statics, pairs, layout, begin)?;
        if rules.allow_all() || matches!(pairs, Pairs::Given(_)) {
            return Ok(input);
        }
        Ok(Self { rules: Arc::new(rules), ..input })
    }

    /// The input without rules.
    fn of_columns(
        scene: &Scene,
        columns: BodyColumns<'_>,
        statics: Option<&Arc<Statics>>,
        pairs: Pairs<'_>,
        layout: Layout,
        begin: web_time::Instant,
    ) -> Result<Self> {
        let bodies = columns.bodies;
        let count = (bodies.len() + statics.map_or(0, |statics| statics.bodies.len())) as u64;
        let limit = u64::from(u32::MAX);
        if count > limit {
            return Err(Error::TooMany { what: "bodies", count, limit });
        }
        let spare_inputs = lock(&scene.spare_inputs).pop();
        let mut input = spare_inputs.unwrap_or_else(Self::empty);
        // The reused input still holds the values of an earlier query.
        input.answer_limit = u64::MAX;
        input.is_listing = false;
        if !input.rules.allow_all() {
            input.rules = Arc::default();
        }
        input.order = Shared::default();
        input.tree = None;
        input.frames = None;
        input.awaited = Awaited::default();
        if columns.positions.is_empty() && statics.is_none_or(|statics| statics.origin.is_none()) {
            renewed(&mut input.positions).clear();
            input.origin = DVec3::ZERO;
            input.fill(scene, bodies, statics, layout)?;
        } else {
            input.fill_about(scene, &columns, statics, layout)?;
        }
        let planes = renewed(&mut input.planes);
        planes.clear();
        if scene.has_half_space {
            let is_plane = |body: &Body| scene.supports.records[body.hull as usize].half_space != 0;
            let bodies = input.bodies.iter();
            planes.extend((0..).zip(bodies).filter(|(_, body)| is_plane(body)).map(|(id, _)| id));
        }
        input.pairs = match pairs {
            Pairs::BroadPhase => OwnedPairs::BroadPhase,
            Pairs::Exhaustive => OwnedPairs::Exhaustive,
            Pairs::Given(pairs) => {
                let records = &scene.supports.records;
                let all = &input.bodies;
                let is_half_space = |body: u32| records[all[body as usize].hull as usize].half_space != 0;
                check(pairs, all.len(), scene.has_half_space, is_half_space)?;
                let mut owned = if let OwnedPairs::Given(owned) = input.pairs { owned } else { Vec::new() };
                owned.clear();
                owned.extend_from_slice(pairs);
                OwnedPairs::Given(owned)
            }
        };
        input.upload_ms = begin.elapsed().as_secs_f64() * 1e3;
        Ok(input)
    }

    /// Makes a layout of the bodies that the input lacks.
    pub(crate) fn complete(&mut self, scene: &Scene, layout: Layout) -> Result<()> {
        let (is_packed, is_placed) =
            (self.packed.len() == self.mover_count, self.placed.len() == self.bodies.len());
        if (is_packed || !layout.packed) && (is_placed || !layout.placed) {
            return Ok(());
        }
        let begin = web_time::Instant::now();
        let bodies = self.bodies[..self.mover_count].to_vec();
        let statics = self.statics.take();
        self.fill(scene, &bodies, statics.as_ref(), layout)?;
        self.upload_ms += begin.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Lays out bodies with positions in f64, followed by the statics, which are laid out about the same origin.
    fn fill_about(
        &mut self,
        scene: &Scene,
        columns: &BodyColumns<'_>,
        statics: Option<&Arc<Statics>>,
        layout: Layout,
    ) -> Result<()> {
        let count = columns.bodies.len();
        self.origin = match statics {
            None => origin_of(columns, &scene.supports),
            Some(statics) => statics.origin.ok_or_else(|| {
                Error::internal("collide::scene::query_input", "statics without the query's origin")
            })?,
        };
        self.bodies = Arc::new(columns.unplaced());
        let positions = renewed(&mut self.positions);
        positions.clear();
        positions.extend((0..count).map(|row| columns.position(row)));
        let (packed, placed) = (renewed(&mut self.packed), renewed(&mut self.placed));
        placed.clear();
        placed.resize(if layout.placed { count } else { 0 }, Placed::default());
        packed.resize(if layout.packed { count } else { 0 }, bytemuck::Zeroable::zeroed());
        // An error leaves a list of statics that is not those of `statics`.
        self.statics = None;
        self.mover_count = count;
        lay_out_about(&scene.supports, &self.bodies, positions, self.origin, packed, placed)?;
        if let Some(statics) = statics {
            renewed(&mut self.bodies).extend_from_slice(&statics.bodies);
            positions.extend_from_slice(&statics.positions);
            if layout.placed {
                placed.extend_from_slice(&statics.placed);
            }
            self.statics = Some(Arc::clone(statics));
        }
        Ok(())
    }

    /// Lays out the bodies, followed by the statics where the spare memory does not hold them already.
    fn fill(
        &mut self,
        scene: &Scene,
        bodies: &[Body],
        statics: Option<&Arc<Statics>>,
        layout: Layout,
    ) -> Result<()> {
        let count = bodies.len();
        let still = statics.map_or(&[][..], |statics| &statics.bodies);
        let all = count + still.len();
        let same = self.mover_count == count
            && match (&self.statics, statics) {
                (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
                (mine, theirs) => mine.is_none() && theirs.is_none(),
            };
        self.mover_count = count;
        self.statics = statics.cloned();
        let copies = renewed(&mut self.bodies);
        let (packed, placed) = (renewed(&mut self.packed), renewed(&mut self.placed));
        // An error below leaves the lists incomplete.
        let (had_bodies, had_placed) = (same && copies.len() == all, same && placed.len() == all);
        copies.resize(all, Body::new(0));
        placed.resize(if layout.placed { all } else { 0 }, Placed::default());
        if let Some(statics) = statics {
            if !had_bodies {
                copies[count..].copy_from_slice(&statics.bodies);
            }
            if layout.placed && !had_placed {
                placed[count..].copy_from_slice(&statics.placed);
            }
        }
        let placed = if layout.placed { &mut placed[..count] } else { &mut [] };
        packed.resize(if layout.packed { count } else { 0 }, bytemuck::Zeroable::zeroed());
        lay_out_into(&scene.supports, bodies, &mut copies[..count], packed, placed)
    }
}
