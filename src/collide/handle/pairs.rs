//! Queries of pairs: which pairs of parts an engine measures, and their rows by the bodies of the scene.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::broad_phase::search::TreeSearch;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::compound::body::Placement;
use crate::collide::compound::search::{Placed as PlacedShape, part_pairs};
use crate::collide::handle::fields::FieldPairs;
use crate::collide::handle::kept::{Answer, Keep, Moved, is_few};
use crate::collide::handle::options::RowsPer;
use crate::collide::handle::pair_query::PairQuery;
use crate::collide::handle::rows::{PairRow, SceneRow, reduce};
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::trace::{Trace, trace};
use crate::collide::query::cpu;
use crate::collide::query::gpu;
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::bounds::half;
use crate::collide::scene::pairs::{OwnedPairs, Pairs};
use crate::collide::scene::query_input::Scene as HullSet;
use crate::collide::scene::stored::Stored;
use crate::error::{Error, Location, Result};
use crate::order::sort_pairs;
use crate::parallel::map_chunks;
use crate::pending::Pending;

/// Given pairs of bodies as pairs of places.
struct GivenPlaces {
    pairs: Vec<[u32; 2]>,
    /// The number of the pair of bodies, and whether it is listed whatever its distance.
    of: Vec<(u32, bool)>,
}

/// Parts that moved in one task.
const MOVED_TASK: usize = 64;

/// What a query can reuse of an earlier answer, and where its own is kept.
#[derive(Debug)]
pub(crate) struct Reuse<R> {
    pub(crate) known: Option<Known<R>>,
    pub(crate) keep: Option<Keep>,
}

/// An earlier answer of the same kind, and what moved since.
#[derive(Debug)]
pub(crate) struct Known<R> {
    pub(crate) answer: Arc<Answer<R>>,
    pub(crate) moved: Moved,
}

impl<R> Reuse<R> {
    pub(crate) fn nothing() -> Self {
        Self { known: None, keep: None }
    }
}

/// Rows that stay and new ones, in order. Rows that stay are those of which neither side moved.
fn merged<R: SceneRow>(earlier: &[R], new: Vec<R>, is_moved: impl Fn(u32) -> bool) -> Vec<R> {
    let key = |row: &R| (row.bodies(), row.parts());
    let stays = |row: &&R| !key(row).0.into_iter().any(&is_moved);
    joined(earlier.iter().filter(stays).copied(), new, key)
}

/// Two sorted lists as one.
fn joined<R: Copy, K: Ord>(
    one: impl IntoIterator<Item = R>,
    other: impl IntoIterator<Item = R>,
    key: impl Fn(&R) -> K,
) -> Vec<R> {
    let (one, other) = (one.into_iter(), other.into_iter());
    let mut all = Vec::with_capacity(one.size_hint().0 + other.size_hint().0);
    let mut other = other.peekable();
    for row in one {
        let before = key(&row);
        while let Some(next) = other.next_if(|next| key(next) < before) {
            all.push(next);
        }
        all.push(row);
    }
    all.extend(other);
    all
}

impl Snapshot {
    /// The rows of a query. What it can reuse of an earlier answer is in `reuse`.
    pub(crate) fn ask<Q: PairQuery>(
        self,
        query: &Q,
        pairs: Pairs<'_>,
        per: RowsPer,
        reuse: Reuse<Q::Row>,
    ) -> Result<Pending<Batch<Q::Row>>> {
        if let Pairs::Given(pairs) = pairs {
            return self.ask_given(query, pairs, per);
        }
        let Reuse { known, keep } = reuse;
        let this = Arc::new(self);
        let known = known.filter(|known| pairs == Pairs::BroadPhase && this.can_reuse(known));
        let mut input = this.input.clone();
        let hulls = (&this.table.hulls, &this.table.searches);
        let found = match &known {
            None => {
                let is_all = pairs == Pairs::Exhaustive;
                input.pairs = if is_all { OwnedPairs::Exhaustive } else { OwnedPairs::BroadPhase };
                query.ask(hulls, this.gpu.as_ref(), input)?
            }
            Some(known) if known.moved.is_empty() => Pending::ready(Batch::new(Vec::new(), Stats::default())),
            Some(known) => {
                input.pairs = OwnedPairs::Given(this.pairs_of_moved(&known.moved, query.margin()));
                input.is_listing = true;
                query.ask(hulls, None, input)?
            }
        };
        let has_fields = !this.parts.field_rows.is_empty();
        if !has_fields && known.is_none() && keep.is_none() && this.names.are_rows() {
            return Ok(found);
        }
        let fields = match has_fields {
            true => {
                let moved = known.as_ref().map(|known| &known.moved);
                FieldPairs::all(&this, query.margin(), moved)?.ask(query)?
            }
            false => Pending::ready((Vec::new(), Stats::default())),
        };
        Ok(found.chain(move |batch| {
            Ok(fields.map(move |(triangles, extra)| {
                let Batch { rows: parts, mut stats, .. } = batch;
                stats.add(&extra);
                let triangles = triangles.into_iter().map(|(_, row)| row).collect();
                let mut answer = Answer { parts, triangles };
                if let Some(Known { answer: earlier, moved }) = known {
                    let new_count = answer.parts.len() + answer.triangles.len();
                    let is_moved = |place: u32| moved.has_place(place);
                    answer.parts = merged(&earlier.parts, answer.parts, is_moved);
                    let is_moved = |row: u32| moved.has_row(row);
                    answer.triangles = merged(&earlier.triangles, answer.triangles, is_moved);
                    stats.skipped_count = (answer.parts.len() + answer.triangles.len() - new_count) as u64;
                }
                let Some(keep) = keep else { return this.all_named(answer, stats, per) };
                let answer = Arc::new(answer);
                keep.put(&answer);
                let Answer { parts, triangles } = &*answer;
                let copy = Answer { parts: parts.clone(), triangles: triangles.clone() };
                this.all_named(copy, stats, per)
            }))
        }))
    }

    /// Whether the kept rows are of use: on a device they are where nothing moved.
    fn can_reuse<R>(&self, known: &Known<R>) -> bool {
        let Known { moved, .. } = known;
        moved.is_empty()
            || self.gpu.is_none()
                && self.input.tree.is_some()
                && is_few(moved.place_count(), self.input.mover_count)
    }

    /// The pairs of places, of which at least one moved, that may be within a margin, sorted.
    fn pairs_of_moved(&self, moved: &Moved, margin: f64) -> Vec<[u32; 2]> {
        let (Some(movers), input) = (&self.input.tree, &self.input) else { return Vec::new() };
        let none = StaticBoxes::default();
        let static_boxes = input.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        let search = TreeSearch {
            boxes: &movers.boxes,
            rules: &input.rules,
            planes: &movers.planes,
            tree: movers.tree(),
            static_boxes,
            grow: 0.0,
            is_limited: true,
        };
        // Both boxes of a pair may be wider by half.
        let grow = 2.0 * half(margin);
        let parts = map_chunks(&moved.places, MOVED_TASK, |places| {
            let mut pairs = Vec::new();
            for &place in places {
                let aabb = movers.boxes[place as usize].grown(grow);
                let world = input.rules.begin_of(place)..input.rules.end_of(place, input.mover_count as u32);
                search.for_each_overlap(&aabb, world, &mut |other| {
                    let is_new = other > place || !moved.has_place(other);
                    if other != place && is_new && input.rules.allows(place, other) {
                        pairs.push([place.min(other), place.max(other)]);
                    }
                });
            }
            pairs
        });
        let mut pairs = parts.concat();
        sort_pairs(&mut pairs);
        pairs
    }

    /// The rows of an answer, named and sorted by worlds and bodies.
    fn all_named<R: SceneRow>(&self, answer: Answer<R>, stats: Stats, per: RowsPer) -> Batch<R> {
        let Answer { parts, triangles } = answer;
        let rows = self.named(parts);
        let key = |row: &R| {
            let worlds = row.bodies().map(|row| self.bodies[row as usize].world);
            (worlds.into_iter().min(), row.bodies())
        };
        let rows = if triangles.is_empty() {
            rows
        } else {
            let mut triangles = triangles;
            if !triangles.is_sorted_by_key(key) {
                triangles.sort_by_key(key);
            }
            joined(rows, triangles, key)
        };
        let rows = reduce(rows, per, |row, _| row.bodies());
        let hit_count = rows.iter().filter(|row| row.is_hit()).count() as u64;
        Batch::new(rows, Stats { hit_count, ..stats })
    }

    /// Names the rows of parts, and sorts them by worlds and bodies.
    fn named<R: SceneRow>(&self, mut rows: Vec<R>) -> Vec<R> {
        if self.names.are_rows() {
            return rows;
        }
        let rules = &self.input.rules;
        let mut is_sorted = true;
        let mut keyed: Vec<(u32, [u32; 2], [u32; 2])> = Vec::with_capacity(rows.len());
        for row in &mut rows {
            let places = row.bodies();
            let world = rules.world_of.get(places[0] as usize).copied().unwrap_or(0);
            let [a, b] = places.map(|place| self.names.leaf(place));
            self.add_pivots(row, places);
            self.names.name(row);
            if a > b {
                *row = row.swapped();
            }
            let key = (world, row.bodies(), row.parts());
            is_sorted &= keyed.last().is_none_or(|last| *last <= key);
            keyed.push(key);
        }
        if is_sorted {
            return rows;
        }
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_unstable_by_key(|&at| keyed[at as usize]);
        order.into_iter().map(|at| rows[at as usize]).collect()
    }

    /// Makes a row that depends on what its bodies turn about one of the bodies, not of their parts.
    fn add_pivots<R: SceneRow>(&self, row: &mut R, places: [u32; 2]) {
        if R::HAS_PIVOTS && !self.names.is_plain {
            row.about(places.map(|place| {
                let [body, _] = self.names.of(self.names.leaf(place));
                self.input.positions[place as usize] - DVec3::from(self.bodies[body as usize].position)
            }));
        }
    }

    /// The rows of given pairs of bodies, in their order.
    fn ask_given<Q: PairQuery>(
        self,
        query: &Q,
        pairs: &[[u32; 2]],
        per: RowsPer,
    ) -> Result<Pending<Batch<Q::Row>>> {
        self.check_given(pairs)?;
        let within = if Q::MOVES { f64::INFINITY } else { query.margin() };
        let given = self.places_of_given(pairs, within);
        let mut input = self.input.clone();
        input.pairs = OwnedPairs::Given(given.pairs);
        let found = query.ask((&self.table.hulls, &self.table.searches), self.gpu.as_ref(), input)?;
        let has_fields = !self.parts.field_rows.is_empty();
        if self.names.are_rows() && !has_fields {
            return Ok(found);
        }
        let (of, margin, this) = (given.of, query.margin(), Arc::new(self));
        let fields = match has_fields {
            true => FieldPairs::given(&this, pairs, margin).ask(query)?,
            false => Pending::ready((Vec::new(), Stats::default())),
        };
        Ok(found.chain(move |batch| {
            Ok(fields.map(move |(more, extra)| {
                let Batch { rows, mut stats, .. } = batch;
                let mut kept = Vec::with_capacity(rows.len() + more.len());
                for (mut row, (number, is_whole)) in rows.into_iter().zip(of) {
                    if is_whole || row.is_listed(margin) {
                        let places = row.bodies();
                        this.add_pivots(&mut row, places);
                        this.names.name(&mut row);
                        kept.push((number, row));
                    }
                }
                kept.extend(more);
                // Both are in order, and have no pair in common.
                kept.sort_by_key(|(number, _)| *number);
                let (numbers, rows): (Vec<u32>, Vec<Q::Row>) = kept.into_iter().unzip();
                let rows = reduce(rows, per, |_, at| numbers[at]);
                let hit_count = rows.iter().filter(|row| row.is_hit()).count() as u64;
                stats.add(&extra);
                Batch::new(rows, Stats { hit_count, ..stats })
            }))
        }))
    }

    /// The pairs of bodies whose parts the broad phase looks for.
    pub(crate) fn candidates(self) -> Result<Pending<Vec<[u32; 2]>>> {
        let mut input = self.input.clone();
        input.pairs = OwnedPairs::BroadPhase;
        let on_device = self.gpu.clone().filter(|_| !input.is_empty());
        let found = match on_device {
            Some(gpu) => gpu::candidates::candidates(&gpu, &self.table.hulls, input)?,
            None => {
                let table = Arc::clone(&self.table);
                Pending::spawn(move |awaited| {
                    let mut input = input.awaited_by(awaited);
                    let found = cpu::candidates(&table.hulls, &mut input, &table.searches)?;
                    table.hulls.give_back(input);
                    Ok(found)
                })
            }
        };
        if self.names.are_rows() && self.parts.field_rows.is_empty() {
            return Ok(found);
        }
        Ok(found.map(move |found| {
            let row = |place: u32| self.names.of(self.names.leaf(place))[0];
            let mut pairs: Vec<[u32; 2]> = found.into_iter().map(|pair| pair.map(row)).collect();
            pairs.extend(self.field_candidates());
            let mut keyed: Vec<(Option<u32>, [u32; 2])> = pairs
                .into_iter()
                .map(|[a, b]| {
                    let worlds = [a, b].map(|row| self.bodies[row as usize].world);
                    (worlds.into_iter().min(), [a.min(b), a.max(b)])
                })
                .collect();
            keyed.sort_unstable();
            keyed.dedup();
            keyed.into_iter().map(|(_, pair)| pair).collect()
        }))
    }

    /// The simplices of GJK for two parts.
    pub(crate) fn trace(&self, rows: [u32; 2], parts: [u32; 2]) -> Result<Trace> {
        self.check_given(&[rows])?;
        let (mut instances, mut positions, mut hulls) = (Vec::new(), Vec::new(), Vec::new());
        for (row, part) in rows.into_iter().zip(parts) {
            let shape = self.bodies[row as usize].shape;
            let count = match self.table.parts(shape) {
                Some(shape) => shape.part_count(),
                None => 1,
            };
            let is_missing =
                self.table.field(shape).is_some_and(|field| field.heights.corners(part).is_none());
            if u64::from(part) >= count || is_missing {
                let (at, index) = (Location::Body(row as usize), part.into());
                return Err(Error::Missing { at, what: "part", index, count });
            }
            let (hull, instance, position) = self.part(row, part)?;
            instances.push(Instance { hull: hulls.len() as u32, ..instance });
            hulls.push(hull.unwrap_or_else(|| self.table.hulls.hulls[instance.hull as usize].clone()));
            positions.push(position);
        }
        let hulls = HullSet::new(&hulls)?;
        let order = if rows[0] < rows[1] { [0, 1] } else { [1, 0] };
        Ok(trace(&hulls, Stored { bodies: &instances, positions: &positions, order: &order }, [0, 1]))
    }

    /// Checks that given pairs name bodies that exist, that none is paired with itself, and that no pair is two half-spaces.
    fn check_given(&self, pairs: &[[u32; 2]]) -> Result<()> {
        let count = self.bodies.len() as u64;
        for (at, &pair) in pairs.iter().enumerate() {
            let location = Location::Pair(at);
            for row in pair {
                if !self.parts.holds(row) {
                    return Err(Error::Missing { at: location, what: "body", index: row.into(), count });
                }
            }
            if pair[0] == pair[1] {
                return Err(Error::invalid(location, format!("body {} is paired with itself", pair[0])));
            }
            if pair.iter().all(|&row| self.table.is_half_space(self.bodies[row as usize].shape)) {
                let message =
                    format!("bodies {} and {} are half-spaces, which have no distance", pair[0], pair[1]);
                return Err(Error::invalid(location, message));
            }
        }
        Ok(())
    }

    /// The pairs of places of given pairs of bodies, of compounds those that may be within the margin.
    fn places_of_given(&self, pairs: &[[u32; 2]], margin: f64) -> GivenPlaces {
        let mut given =
            GivenPlaces { pairs: Vec::with_capacity(pairs.len()), of: Vec::with_capacity(pairs.len()) };
        let mut found = Vec::new();
        for (number, &[a, b]) in (0..).zip(pairs) {
            let [of_a, of_b] = [self.places_of(a), self.places_of(b)];
            let shapes = [a, b].map(|row| self.table.parts(self.bodies[row as usize].shape));
            let is_whole = shapes.iter().all(Option::is_none);
            match shapes {
                [Some(shape_a), Some(shape_b)] if !of_a.is_empty() && !of_b.is_empty() => {
                    let placements: [Placement; 2] = [a, b].map(|row| self.bodies[row as usize].placement());
                    let [placed_a, placed_b] =
                        [(shape_a, &placements[0]), (shape_b, &placements[1])].map(|(shape, placement)| {
                            PlacedShape { shape, placement, position: placement.position - self.input.origin }
                        });
                    found.clear();
                    part_pairs(&placed_a, &placed_b, margin, &mut found);
                    given.pairs.extend(found.iter().map(|[p, q]| [of_a.start + p, of_b.start + q]));
                }
                _ => {
                    for p in of_a {
                        given.pairs.extend(of_b.clone().map(|q| [p, q]));
                    }
                }
            }
            given.of.resize(given.pairs.len(), (number, is_whole));
        }
        given
    }
}
