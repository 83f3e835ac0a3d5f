//! Queries with shapes, on all cores.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use web_time::Instant;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::settle::milliseconds;
use crate::collide::ray::query::{check_count, fill_rows, list_rows};
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::ray_columns::{check_column, check_f64};
use crate::collide::scene::shape_cast::{PlacedCast, PlacedShape, ShapeCast, ShapeCastColumns};
use crate::collide::scene::world_ranges::WorldRanges;
use crate::collide::shape::cast::{CastGoal, Counts, all_hits, any_hits, first_hits};
use crate::collide::shape::crowd::Crowd;
use crate::collide::shape::hits::{self, HitFlags};
use crate::collide::shape::nearest::{self, Near, NearGoal, NearPair};
use crate::collide::shape::rows::{NearestBody, ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::error::{Error, Location, Result};
use crate::parallel::map_chunks;

/// Bodies of which one task finds whether they are hit.
const TASK: usize = 128;

/// What bodies are asked about: casts or shapes, laid out, with the movers that each sees.
#[derive(Debug)]
pub(crate) struct Asked<T> {
    placed: Vec<T>,
    worlds: WorldRanges,
}

impl<T> Asked<T> {
    pub(crate) fn new(placed: Vec<T>, worlds: WorldRanges) -> Self {
        Self { placed, worlds }
    }

    pub(crate) fn into_placed(self) -> Vec<T> {
        self.placed
    }
}

/// Checks shape casts and lays them out for a query over some bodies.
///
/// # Errors
/// At the [`Location::Cast`] of the first bad one; [`Error::TooMany`]; as [`WorldRanges::new`].
pub(crate) fn lay_out_casts(
    supports: &Supports,
    columns: &ShapeCastColumns<'_>,
    bodies: &BodyColumns<'_>,
    input: &QueryInput,
) -> Result<Asked<PlacedCast>> {
    let casts = columns.casts;
    check_count("shape casts", casts.len())?;
    columns.check()?;
    let worlds = WorldRanges::new("shape casts", columns.worlds, casts.len(), bodies)?;
    let origin = input.is_far().then_some(input.origin);
    let placed = |(row, cast): (usize, &ShapeCast)| {
        cast.lay_out(row, columns.positions.get(row).copied(), origin, supports)
    };
    Ok(Asked { placed: casts.iter().enumerate().map(placed).collect::<Result<_>>()?, worlds })
}

/// Checks shapes and lays them out for a query over some bodies.
///
/// # Errors
/// At the [`Location::Query`] of the first bad one; [`Error::TooMany`]; as [`WorldRanges::new`];
/// [`Error::Invalid`] where shapes have owners or exclusions.
pub(crate) fn lay_out_shapes(
    supports: &Supports,
    columns: &BodyColumns<'_>,
    bodies: &BodyColumns<'_>,
    input: &QueryInput,
) -> Result<Asked<PlacedShape>> {
    let (shapes, positions) = (columns.bodies, columns.positions);
    check_count("shapes", shapes.len())?;
    if !columns.owners.is_empty() || columns.exclusions.is_some() {
        let message = "shapes are no bodies of the query: leave out their owners and exclusions";
        return Err(Error::invalid(Location::Argument, message));
    }
    check_column("positions", positions.len(), shapes.len(), "shapes")?;
    let worlds = WorldRanges::new("shapes", columns.worlds, shapes.len(), bodies)?;
    let origin = input.is_far().then_some(input.origin);
    let placed = |(row, shape): (usize, &Body)| {
        let (at, position) = (Location::Query(row), positions.get(row).copied());
        if let Some(position) = &position {
            check_f64(at, "position", position)?;
        }
        PlacedShape::new(shape, position, origin, at, supports)
    };
    Ok(Asked { placed: shapes.iter().enumerate().map(placed).collect::<Result<_>>()?, worlds })
}

/// What a query returns: rows, counts of the pairs examined, and the number of hits.
struct Found<R> {
    rows: Vec<R>,
    counts: Counts,
    hit_count: u64,
}

/// The bodies of a query in trees, and a query over them. It gets the boxes of the movers too.
fn with_crowd<R>(
    scene: &Scene,
    mut input: QueryInput,
    pool: &SearchPool,
    work: impl FnOnce(&Crowd<'_>, &[Aabb]) -> Result<Found<R>>,
) -> Result<Batch<R>> {
    let begin = Instant::now();
    let mut search = pool.take();
    match &input.tree {
        Some(tree) => search.movers = Arc::clone(tree),
        None => {
            input.boxes_into(search.boxes(), &scene.supports.records);
            search.build_for_walks(&input.rules, 0);
        }
    }
    let statics = input.statics.take();
    let none = StaticBoxes::default();
    let crowd = Crowd {
        scene,
        input: &input,
        tree: search.movers.tree(),
        boxes: &search.movers.boxes,
        static_boxes: statics.as_ref().map_or(&none, |statics| &statics.boxes),
    };
    let found = work(&crowd, &search.movers.boxes);
    pool.give_back(search);
    input.statics = statics;
    let upload_ms = input.upload_ms;
    scene.give_back(input);
    let Found { rows, counts, hit_count } = found?;
    let mut stats = Stats {
        candidate_count: counts.visited,
        settled_count: counts.settled,
        hit_count,
        ..Stats::default()
    };
    stats.times.upload_ms = upload_ms;
    stats.times.kernels_ms = milliseconds(begin);
    Ok(Batch::new(rows, stats))
}

/// The pairs that tasks settled; the tasks return those that they visited.
#[derive(Default)]
struct Settled(AtomicU64);

impl Settled {
    fn visited(&self, counts: Counts) -> u64 {
        self.0.fetch_add(counts.settled, Relaxed);
        counts.visited
    }

    fn with(self, visited: u64) -> Counts {
        Counts { visited, settled: self.0.into_inner() }
    }
}

/// The first hit of each cast.
pub(crate) fn shape_casts(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    casts: &Asked<PlacedCast>,
    goal: CastGoal,
) -> Result<Batch<ShapeCastFirst>> {
    with_crowd(scene, input, pool, |crowd, _| {
        let settled = Settled::default();
        let empty = ShapeCastFirst { cast: 0, hit: None };
        let (rows, visited) = fill_rows(crowd.input, &casts.placed, empty, |part, first, rows| {
            settled.visited(first_hits(crowd, goal, part, &casts.worlds, first, rows))
        })?;
        let hit_count = rows.iter().filter(|row| row.hit.is_some()).count() as u64;
        Ok(Found { rows, counts: settled.with(visited), hit_count })
    })
}

/// All hits of each cast.
pub(crate) fn shape_casts_all(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    casts: &Asked<PlacedCast>,
    goal: CastGoal,
) -> Result<Batch<ShapeCastHit>> {
    with_crowd(scene, input, pool, |crowd, _| {
        let settled = Settled::default();
        let (rows, visited) = list_rows(crowd.input, &casts.placed, |cast, id, rows| {
            settled.visited(all_hits(crowd, goal, cast, casts.worlds.get(id), id, rows))
        })?;
        let hit_count = rows.len() as u64;
        Ok(Found { rows, counts: settled.with(visited), hit_count })
    })
}

/// Whether each cast hits anything.
pub(crate) fn shape_casts_any(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    casts: &Asked<PlacedCast>,
    goal: CastGoal,
) -> Result<Batch<ShapeCastAny>> {
    with_crowd(scene, input, pool, |crowd, _| {
        let settled = Settled::default();
        let empty = ShapeCastAny { cast: 0, is_hit: false };
        let (rows, visited) = fill_rows(crowd.input, &casts.placed, empty, |part, first, rows| {
            settled.visited(any_hits(crowd, goal, part, &casts.worlds, first, rows))
        })?;
        let hit_count = rows.iter().filter(|row| row.is_hit).count() as u64;
        Ok(Found { rows, counts: settled.with(visited), hit_count })
    })
}

/// The bodies that are asked about, or count, as one: parts of compounds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Groups<'a> {
    /// Where the rows of each of those asked about begin, and where the last ends. Empty where each row is asked about alone.
    pub(crate) starts: &'a [u32],
    /// The owner of each row, statics included. Empty where each body counts for itself.
    pub(crate) owner_of: &'a [u32],
}

/// What the nearest bodies are asked for.
#[derive(Debug)]
pub(crate) enum NearTo {
    /// Each body of the query, or each group.
    All,
    /// These rows of the query.
    Rows(Vec<u32>),
    Shapes(Asked<PlacedShape>),
    /// Shapes of several parts, where the parts of each begin, and where the last end. Worlds are those of the parts.
    Groups(Asked<PlacedShape>, Vec<u32>),
    /// The places of the parts of each body that is asked about.
    Places(Vec<Range<u32>>),
}

/// The nearest bodies of what they are asked for.
pub(crate) fn nearest_bodies(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    asked: &NearTo,
    goal: NearGoal,
) -> Result<Batch<NearestBody>> {
    let Batch { rows, stats, .. } = nearest_pairs(scene, input, pool, asked, Groups::default(), goal)?;
    Ok(Batch::new(rows.into_iter().map(|pair| pair.row).collect(), stats))
}

/// The same for bodies that count as one.
pub(crate) fn nearest_pairs(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    asked: &NearTo,
    groups: Groups<'_>,
    goal: NearGoal,
) -> Result<Batch<NearPair>> {
    let Groups { starts, owner_of } = groups;
    with_crowd(scene, input, pool, |crowd, boxes| {
        let settled = Settled::default();
        let (rows, visited) = match asked {
            NearTo::Shapes(Asked { placed, worlds }) => list_rows(crowd.input, placed, |shape, id, rows| {
                let near = [Near::Shape(shape, worlds.get(id))];
                settled.visited(nearest::nearest(crowd, goal, &near, owner_of, id, rows))
            })?,
            NearTo::Groups(Asked { placed, worlds }, starts) => {
                let groups: Vec<Range<u32>> = starts.windows(2).map(|ends| ends[0]..ends[1]).collect();
                list_rows(crowd.input, &groups, |group, id, rows| {
                    let near = |at: u32| Near::Shape(&placed[at as usize], worlds.get(at));
                    let nears: Vec<Near<'_>> = group.clone().map(near).collect();
                    settled.visited(nearest::nearest(crowd, goal, &nears, owner_of, id, rows))
                })?
            }
            NearTo::Places(bodies) => list_rows(crowd.input, bodies, |places, id, rows| {
                let near = |place: u32| Near::Body(place, crowd.box_of(place));
                let nears: Vec<Near<'_>> = places.clone().map(near).collect();
                settled.visited(nearest::nearest(crowd, goal, &nears, owner_of, id, rows))
            })?,
            NearTo::All | NearTo::Rows(_) => {
                let places = places(&crowd.input.order, boxes.len());
                let all: Vec<&[u32]> = match starts {
                    [] => places.chunks(1).collect(),
                    starts => {
                        starts.windows(2).map(|ends| &places[ends[0] as usize..ends[1] as usize]).collect()
                    }
                };
                let chosen: Vec<(u32, &[u32])> = match asked {
                    NearTo::Rows(rows) => rows.iter().map(|&row| (row, all[row as usize])).collect(),
                    _ => (0..).zip(all).collect(),
                };
                list_rows(crowd.input, &chosen, |&(id, places), _, rows| {
                    let near = |&place: &u32| Near::Body(place, &boxes[place as usize]);
                    let nears: Vec<Near<'_>> = places.iter().map(near).collect();
                    settled.visited(nearest::nearest(crowd, goal, &nears, owner_of, id, rows))
                })?
            }
        };
        let hit_count = rows.iter().filter(|pair| pair.row.status.is_hit()).count() as u64;
        Ok(Found { rows, counts: settled.with(visited), hit_count })
    })
}

/// The place of each row of the bodies, where worlds put these into an order.
fn places(order: &[u32], count: usize) -> Vec<u32> {
    let mut places: Vec<u32> = (0..count as u32).collect();
    (0..).zip(order).for_each(|(place, &row)| places[row as usize] = place);
    places
}

/// What was found for each place, by the rows of the bodies.
fn by_row<T: Copy>(found: Vec<T>, order: &[u32]) -> Vec<T> {
    if order.is_empty() {
        return found;
    }
    places(order, found.len()).into_iter().map(|place| found[place as usize]).collect()
}

/// Whether each body hits another one: movers, and statics where they have rows.
pub(crate) fn hits(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    statics_have_rows: bool,
) -> Result<Batch<bool>> {
    with_crowd(scene, input, pool, |crowd, boxes| {
        let all = if statics_have_rows { crowd.input.bodies.len() } else { boxes.len() };
        let flags = HitFlags::new(all);
        let ids: Vec<u32> = (0..all as u32).collect();
        let (movers, statics) = ids.split_at(boxes.len());
        // Movers tell what most statics hit.
        let mut parts = Vec::new();
        for ids in [movers, statics] {
            parts.extend(map_chunks(ids, TASK, |ids| {
                let mut counts = Counts::default();
                if crowd.input.awaited.is_awaited() {
                    ids.iter().for_each(|&id| hits::find(crowd, id, crowd.box_of(id), &flags, &mut counts));
                }
                counts
            }));
        }
        crowd.input.awaited.check()?;
        let sum = |of: fn(&Counts) -> u64| parts.iter().map(of).sum();
        let counts = Counts { visited: sum(|part| part.visited), settled: sum(|part| part.settled) };
        let rows = by_row(flags.into_rows(), &crowd.input.order);
        let hit_count = rows.iter().filter(|&&is_hit| is_hit).count() as u64;
        Ok(Found { rows, counts, hit_count })
    })
}

/// How many others each body hits: movers, and statics where they have rows.
pub(crate) fn hit_counts(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    statics_have_rows: bool,
) -> Result<Batch<u32>> {
    with_crowd(scene, input, pool, |crowd, boxes| {
        let ids: Vec<u32> = (0..).zip(boxes).map(|(id, _)| id).collect();
        let all = if statics_have_rows { crowd.input.bodies.len() } else { boxes.len() };
        let counters = hits::counters(all);
        let parts = map_chunks(&ids, TASK, |ids| {
            let mut counts = Counts::default();
            ids.iter().for_each(|&id| hits::count(crowd, id, &boxes[id as usize], &counters, &mut counts));
            counts
        });
        crowd.input.awaited.check()?;
        let sum = |of: fn(&Counts) -> u64| parts.iter().map(of).sum();
        let counts = Counts { visited: sum(|part| part.visited), settled: sum(|part| part.settled) };
        let found: Vec<u32> = counters.into_iter().map(|counter| counter.into_inner()).collect();
        let rows = by_row(found, &crowd.input.order);
        let hit_count = rows.iter().filter(|&&count| count > 0).count() as u64;
        Ok(Found { rows, counts, hit_count })
    })
}
