//! Pairs with the triangles of height fields, which are hulls only while they are measured.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DVec3;

use crate::collide::bvh::tree::bodies_within;
use crate::collide::compound::body::Placement;
use crate::collide::compound::field::Field;
use crate::collide::compound::search::{Placed, part_pairs, parts_near_static};
use crate::collide::handle::body::Body;
use crate::collide::handle::kept::Moved;
use crate::collide::handle::pair_query::PairQuery;
use crate::collide::handle::rows::SceneRow;
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::far::lay_out_about;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::placed::Placed as PlacedHull;
use crate::collide::scene::query_input::QueryInput;
use crate::error::{Error, Result};
use crate::parallel::map_shares;
use crate::pending::{Pending, Round};

/// Pairs that are measured together, so that the parts stay in the CPU's cache.
const WINDOW: usize = 1 << 14;
/// Places that a thread takes at least.
const SHARE: usize = 16;

/// A pair of parts, one of them a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldPair {
    /// Its number among given pairs.
    pub(crate) number: u32,
    rows: [u32; 2],
    parts: [u32; 2],
}

/// The pairs of a query.
#[derive(Debug)]
pub(crate) struct FieldPairs {
    snapshot: Arc<Snapshot>,
    pairs: Vec<FieldPair>,
}

/// Rows with the numbers of their pairs, and the statistics of the search.
pub(crate) type FieldRows<R> = (Vec<(u32, R)>, Stats);

/// A height field, where it is.
struct FieldAt<'a> {
    row: u32,
    body: &'a Body,
    placement: Placement,
}

impl<'a> FieldAt<'a> {
    fn new(snapshot: &'a Snapshot, row: u32) -> Self {
        let body = &snapshot.bodies[row as usize];
        Self { row, body, placement: body.placement() }
    }

    /// `None` where the shape is a hull.
    fn placed(&'a self, snapshot: &'a Snapshot) -> Option<Placed<'a>> {
        let shape = snapshot.table.parts(self.body.shape)?;
        let position = self.placement.position - snapshot.input.origin;
        Some(Placed { shape, placement: &self.placement, position })
    }
}

impl FieldPairs {
    /// Those that the broad phase lists within a margin: all, or those with a body that moved.
    pub(crate) fn all(snapshot: &Arc<Snapshot>, margin: f64, moved: Option<&Moved>) -> Result<Self> {
        let budget = RowBudget::new::<FieldPair>(snapshot.answer_limit);
        let mut pairs = Vec::new();
        let fields: Vec<FieldAt<'_>> =
            snapshot.parts.field_rows.iter().map(|&row| FieldAt::new(snapshot, row)).collect();
        for (at, field) in fields.iter().enumerate() {
            let Some(placed) = field.placed(snapshot) else { continue };
            let is_new = |row: u32| moved.is_none_or(|moved| moved.has_row(row));
            let is_whole = is_new(field.row);
            let places = match moved {
                // Each has the box of the field tested against its own.
                Some(moved) if !is_whole => snapshot.near_places(&placed, margin, &moved.places),
                _ => snapshot.places_near(&placed, margin),
            };
            let near = map_shares(&places, SHARE, |&place| {
                let [row, part] = snapshot.names.of(snapshot.names.leaf(place));
                let mut triangles = Vec::new();
                if snapshot.accepts(field.row, row) {
                    parts_near_static(&placed, snapshot.box_of(place), margin, &mut triangles);
                }
                (row, part, triangles)
            });
            for (row, part, triangles) in near {
                budget.add(triangles.len());
                budget.check()?;
                let pair = |triangle| FieldPair::new([field.row, row], [triangle, part]);
                pairs.extend(triangles.into_iter().map(pair));
            }
            let mut found = Vec::new();
            for other in fields[at + 1..]
                .iter()
                .filter(|other| (is_whole || is_new(other.row)) && snapshot.accepts(field.row, other.row))
            {
                let Some(other_placed) = other.placed(snapshot) else { continue };
                found.clear();
                part_pairs(&placed, &other_placed, margin, &mut found);
                budget.add(found.len());
                budget.check()?;
                pairs.extend(found.iter().map(|&parts| FieldPair::new([field.row, other.row], parts)));
            }
        }
        pairs.sort_unstable_by_key(|pair| (pair.rows, pair.parts));
        Ok(Self { snapshot: Arc::clone(snapshot), pairs })
    }

    /// Those of given pairs of rows, in their order.
    pub(crate) fn given(snapshot: &Arc<Snapshot>, given: &[[u32; 2]], margin: f64) -> Self {
        let is_field = |row: u32| snapshot.table.field(snapshot.bodies[row as usize].shape).is_some();
        let mut pairs = Vec::new();
        for (number, &rows) in (0..).zip(given) {
            if !rows.into_iter().any(is_field) {
                continue;
            }
            let [a, b] = rows.map(|row| FieldAt::new(snapshot, row));
            let mut found = Vec::new();
            match (a.placed(snapshot), b.placed(snapshot)) {
                (Some(a), Some(b)) => part_pairs(&a, &b, margin, &mut found),
                (Some(a), None) => {
                    found.extend(snapshot.near_hull(&a, rows[1], margin).map(|part| [part, 0]))
                }
                (None, Some(b)) => {
                    found.extend(snapshot.near_hull(&b, rows[0], margin).map(|part| [0, part]))
                }
                (None, None) => (),
            }
            pairs.extend(found.into_iter().map(|parts| FieldPair { number, rows, parts }));
        }
        Self { snapshot: Arc::clone(snapshot), pairs }
    }

    /// The rows of the pairs, in their order, each with the number of its pair.
    pub(crate) fn ask<Q: PairQuery>(self, query: &Q) -> Result<Pending<FieldRows<Q::Row>>> {
        let job = Job { of: self, next: 0, rows: Vec::new(), stats: Stats::default() };
        let query = query.clone();
        Pending::rounds(job, move |job| {
            if job.next == job.of.pairs.len() {
                return Ok(Round::Done((job.rows, job.stats)));
            }
            job.go_on(&query).map(Round::Next)
        })
    }
}

impl FieldPair {
    /// A pair that was found, with the lower row first.
    fn new(rows: [u32; 2], parts: [u32; 2]) -> Self {
        let ([a, b], [p, q]) = (rows, parts);
        if a < b { Self { number: 0, rows, parts } } else { Self { number: 0, rows: [b, a], parts: [q, p] } }
    }
}

/// A query, a window of pairs at a time.
struct Job<R> {
    of: FieldPairs,
    /// First pair that was not measured yet.
    next: usize,
    rows: Vec<(u32, R)>,
    stats: Stats,
}

impl<R: SceneRow> Job<R> {
    fn go_on<Q: PairQuery<Row = R>>(mut self, query: &Q) -> Result<Pending<Self>> {
        let snapshot = Arc::clone(&self.of.snapshot);
        let Some(scenes) = snapshot.table.fields.clone() else {
            return Err(Error::internal("collide::handle::fields", "a triangle without a field"));
        };
        let end = self.of.pairs.len().min(self.next + WINDOW);
        let window = self.next..end;
        self.next = end;
        let mut places: HashMap<[u32; 2], u32> = HashMap::new();
        let mut used: Vec<[u32; 2]> = Vec::new();
        let mut pairs = Vec::with_capacity(window.len());
        for pair in &self.of.pairs[window.clone()] {
            pairs.push([0, 1].map(|side| {
                let part = [pair.rows[side], pair.parts[side]];
                *places.entry(part).or_insert_with(|| {
                    used.push(part);
                    used.len() as u32 - 1
                })
            }));
        }
        let (mut instances, mut positions, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for &[row, part] in &used {
            let (hull, mut instance, position) = snapshot.part(row, part)?;
            if let Some(hull) = hull {
                instance.hull = (scenes.hull_count() + triangles.len()) as u32;
                triangles.push(hull);
            }
            instances.push(instance);
            positions.push(position);
        }
        let hulls = scenes.with(triangles)?;
        let origin = snapshot.input.origin;
        let mut placed = vec![PlacedHull::default(); instances.len()];
        lay_out_about(&hulls.supports, &instances, &positions, origin, &mut [], &mut placed)?;
        let rows: Vec<u32> = rows_of(&used);
        let positions = Arc::new(positions);
        let input = QueryInput {
            bodies: Arc::new(instances),
            positions: Arc::clone(&positions),
            placed: Arc::new(placed),
            order: Arc::new(rows),
            pairs: OwnedPairs::Given(pairs.clone()),
            is_listing: true,
            answer_limit: snapshot.answer_limit,
            ..QueryInput::of_scene(used.len(), origin, Arc::default())
        };
        let found = query.ask((&hulls, &snapshot.table.searches), None, input)?;
        let margin = query.margin();
        Ok(found.chain(move |batch| {
            let Batch { rows, stats, .. } = batch;
            self.stats.add(&stats);
            let budget = RowBudget::new::<(u32, R)>(snapshot.answer_limit);
            // Rows come in the order of the pairs; some have none.
            let mut found = pairs.into_iter().zip(window);
            for mut row in rows {
                let pair = row.bodies();
                let Some((_, at)) = found.find(|(other, _)| *other == pair) else {
                    return Err(Error::internal("collide::handle::fields", "a row of no pair"));
                };
                if !row.is_listed(margin) {
                    continue;
                }
                let of = self.of.pairs[at];
                if R::HAS_PIVOTS {
                    row.about([0, 1].map(|side| {
                        let body = &snapshot.bodies[of.rows[side] as usize];
                        positions[pair[side] as usize] - DVec3::from(body.position)
                    }));
                }
                row.pair_mut().into_iter().zip(of.rows).for_each(|(id, named)| *id = named);
                row.parts_mut().into_iter().zip(of.parts).for_each(|(part, named)| *part = named);
                self.rows.push((of.number, row));
            }
            scenes.give_back(hulls);
            budget.add(self.rows.len());
            budget.check()?;
            Ok(Pending::ready(self))
        }))
    }
}

/// The order of some parts, by rows and parts.
fn rows_of(used: &[[u32; 2]]) -> Vec<u32> {
    let mut sorted = used.to_vec();
    sorted.sort_unstable();
    used.iter().map(|part| sorted.partition_point(|other| other < part) as u32).collect()
}

impl Snapshot {
    /// Whether two bodies meet.
    fn accepts(&self, a: u32, b: u32) -> bool {
        let [p, q] = [a, b].map(|row| &self.bodies[row as usize]);
        let every = Body::EVERY_WORLD;
        a != b
            && !(p.fixed && q.fixed)
            && (p.world == q.world || p.world == every || q.world == every)
            && p.group & q.mask != 0
            && q.group & p.mask != 0
            && (!self.parts.row_rules.has_filter() || self.parts.row_rules.allows(a, b))
    }

    /// Pairs of bodies with height fields whose boxes overlap.
    pub(crate) fn field_candidates(&self) -> Vec<[u32; 2]> {
        let fields: Vec<FieldAt<'_>> =
            self.parts.field_rows.iter().map(|&row| FieldAt::new(self, row)).collect();
        let mut pairs = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let Some(placed) = field.placed(self) else { continue };
            let near = self.places_near(&placed, 0.0);
            let around = placed.bounds().rounded();
            let others = fields[at + 1..].iter().filter(|other| {
                other.placed(self).is_some_and(|other| other.bounds().rounded().overlaps(&around))
            });
            let is_met = |&&place: &&u32| {
                let aabb = self.box_of(place);
                !aabb.is_plane() || around.reaches(aabb, 0.0)
            };
            let rows = near.iter().filter(is_met).map(|&place| self.names.of(self.names.leaf(place))[0]);
            let rows = rows.chain(others.map(|other| other.row));
            pairs.extend(rows.filter(|&row| self.accepts(field.row, row)).map(|row| [field.row, row]));
        }
        pairs
    }

    /// The places whose boxes may be within a distance of a body.
    fn places_near(&self, body: &Placed<'_>, within: f64) -> Vec<u32> {
        let all = self.input.bodies.len() as u32;
        let Some(movers) = self.input.tree.as_ref().filter(|_| within < f64::INFINITY) else {
            return (0..all).collect();
        };
        let around = body.bounds().grown(within * (1.0 + 1e-5)).rounded();
        let mut places = Vec::new();
        bodies_within(movers.tree(), &around, &mut places);
        if let Some(statics) = &self.input.statics {
            let mut found = Vec::new();
            bodies_within(&statics.boxes.tree, &around, &mut found);
            places.extend(found.into_iter().map(|id| self.input.mover_count as u32 + id));
        }
        places.extend(self.input.planes.iter());
        places
    }

    /// Those of some places whose boxes may be within a distance of a body.
    fn near_places(&self, body: &Placed<'_>, within: f64, places: &[u32]) -> Vec<u32> {
        let around = body.bounds().grown(within * (1.0 + 1e-5)).rounded();
        let is_near = |&&place: &&u32| {
            let aabb = self.box_of(place);
            aabb.is_plane() || aabb.overlaps(&around)
        };
        places.iter().filter(is_near).copied().collect()
    }

    /// The triangles of a height field that may be within a distance of the body in a row, which is a hull.
    fn near_hull(&self, field: &Placed<'_>, row: u32, within: f64) -> impl Iterator<Item = u32> + use<> {
        let mut triangles = Vec::new();
        for place in self.parts.places_of(row, 1) {
            parts_near_static(field, self.box_of(place), within, &mut triangles);
        }
        triangles.into_iter()
    }

    /// A part of the body in a row as a hull of its own, and its position. Of a triangle the hull itself.
    pub(crate) fn part(&self, row: u32, part: u32) -> Result<(Option<Hull>, Instance, DVec3)> {
        let body = &self.bodies[row as usize];
        let field: Option<&Field> = self.table.field(body.shape);
        match field {
            Some(field) => {
                let (hull, instance, position) = field.part(&body.of_field(), &body.placement(), part, 0)?;
                Ok((Some(hull), Instance { position: [0.0; 3], ..instance }, DVec3::from(position)))
            }
            None => {
                let place =
                    (self.parts.places_of(row, self.table.part_count(body.shape)).start + part) as usize;
                Ok((None, self.input.bodies[place], self.input.positions[place]))
            }
        }
    }
}
