//! Queries of pairs: which pairs of parts an engine measures, and their rows by the bodies of the scene.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::compound::body::Placement;
use crate::collide::compound::search::{Placed as PlacedShape, part_pairs};
use crate::collide::handle::fields::FieldPairs;
use crate::collide::handle::options::RowsPer;
use crate::collide::handle::pair_query::PairQuery;
use crate::collide::handle::rows::{SceneRow, reduce};
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::trace::{Trace, trace};
use crate::collide::query::cpu;
use crate::collide::query::gpu;
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::pairs::{OwnedPairs, Pairs};
use crate::collide::scene::query_input::Scene as HullSet;
use crate::collide::scene::stored::Stored;
use crate::error::{Error, Location, Result};
use crate::pending::Pending;

/// Given pairs of bodies as pairs of places.
struct GivenPlaces {
    pairs: Vec<[u32; 2]>,
    /// The number of the pair of bodies, and whether it is listed whatever its distance.
    of: Vec<(u32, bool)>,
}

impl Snapshot {
    /// The rows of a query.
    pub(crate) fn ask<Q: PairQuery>(
        self,
        query: &Q,
        pairs: Pairs<'_>,
        per: RowsPer,
    ) -> Result<Pending<Batch<Q::Row>>> {
        if let Pairs::Given(pairs) = pairs {
            return self.ask_given(query, pairs, per);
        }
        let mut input = self.input.clone();
        input.pairs =
            if pairs == Pairs::Exhaustive { OwnedPairs::Exhaustive } else { OwnedPairs::BroadPhase };
        let found = query.ask((&self.table.hulls, &self.table.searches), self.gpu.as_ref(), input)?;
        if self.parts.field_rows.is_empty() {
            if self.names.are_rows() {
                return Ok(found);
            }
            return Ok(found.map(move |batch| self.named(batch, per)));
        }
        let this = Arc::new(self);
        let fields = FieldPairs::all(&this, query.margin())?.ask(query)?;
        Ok(found.chain(move |batch| {
            let batch = this.named(batch, RowsPer::PairOfParts);
            Ok(fields.map(move |(more, stats)| this.joined(batch, more, &stats, per)))
        }))
    }

    /// The rows of parts and of triangles, sorted by worlds and bodies.
    fn joined<R: SceneRow>(
        &self,
        batch: Batch<R>,
        more: Vec<(u32, R)>,
        extra: &Stats,
        per: RowsPer,
    ) -> Batch<R> {
        let Batch { mut rows, mut stats, .. } = batch;
        rows.extend(more.into_iter().map(|(_, row)| row));
        rows.sort_by_cached_key(|row| {
            let mut row = *row;
            let pair = row.pair_mut().map(|id| *id);
            let world = pair.map(|row| self.bodies[row as usize].world).into_iter().min();
            (world, pair, row.parts_mut().map(|part| *part))
        });
        stats.add(extra);
        let rows = reduce(rows, per, |row, _| row.pair_mut().map(|id| *id));
        let hit_count = rows.iter().filter(|row| row.is_hit()).count() as u64;
        Batch::new(rows, Stats { hit_count, ..stats })
    }

    /// Names the rows of a search, sorted by worlds and bodies.
    fn named<R: SceneRow>(&self, batch: Batch<R>, per: RowsPer) -> Batch<R> {
        let Batch { mut rows, stats, .. } = batch;
        let rules = &self.input.rules;
        let mut is_sorted = true;
        let mut keyed: Vec<(u32, [u32; 2])> = Vec::with_capacity(rows.len());
        for row in &mut rows {
            let places = row.pair_mut().map(|id| *id);
            let world = rules.world_of.get(places[0] as usize).copied().unwrap_or(0);
            let [a, b] = places.map(|place| self.names.leaf(place));
            self.add_pivots(row, places);
            self.names.name(row);
            if a > b {
                *row = row.swapped();
            }
            let key = (world, [a.min(b), a.max(b)]);
            is_sorted &= keyed.last().is_none_or(|last| *last <= key);
            keyed.push(key);
        }
        if !is_sorted {
            let mut order: Vec<u32> = (0..rows.len() as u32).collect();
            order.sort_unstable_by_key(|&at| keyed[at as usize]);
            rows = order.into_iter().map(|at| rows[at as usize]).collect();
        }
        let rows = reduce(rows, per, |row, _| row.pair_mut().map(|id| *id));
        self.counted(rows, stats, per)
    }

    /// Where rows are of pairs of bodies, hits are counted by these.
    fn counted<R: SceneRow>(&self, rows: Vec<R>, stats: Stats, per: RowsPer) -> Batch<R> {
        let hit_count = match per {
            RowsPer::PairOfParts => stats.hit_count,
            RowsPer::PairOfBodies => rows.iter().filter(|row| row.is_hit()).count() as u64,
        };
        Batch::new(rows, Stats { hit_count, ..stats })
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
        let given = self.places_of_given(pairs, query.margin());
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
                        let places = row.pair_mut().map(|id| *id);
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

    /// Whether any body has several parts, or is a height field.
    pub(crate) fn has_parts(&self) -> bool {
        !self.parts.field_rows.is_empty()
            || self
                .bodies
                .iter()
                .enumerate()
                .any(|(row, body)| self.parts.holds(row as u32) && self.table.parts(body.shape).is_some())
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
