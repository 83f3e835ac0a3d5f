//! Warm start for the broad phase's pairs: which of them bounds decide, and which the narrow phase must examine.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::narrow_phase::settle::remove_rows;
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds;
use crate::collide::scene::bounds::half;
use crate::collide::scene::budget::estimated_total;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::warm::bound_requests::{BoundRequest, BoundResult};
use crate::collide::warm::cache::Cache;
use crate::collide::warm::list::{NeighbourList, Travel};
use crate::collide::warm::tasks::{TASK, map_items};
use crate::error::Result;
use crate::order::sort_pairs;
use crate::parallel::each;

/// Least and greatest margin of the mean body's box, as a share of its reach: a wider one costs more pairs, a narrower one more
/// rebuilds.
const WIDENING: std::ops::RangeInclusive<f64> = 0.08..=0.25;
/// Frames of straight motion that the margin should cover, within [`WIDENING`].
const MARGIN_FRAMES: f64 = 12.0;
/// Most frames that the list should last.
const LIST_FRAMES: f64 = 64.0;
/// A list that would last fewer frames is not worth building.
const LEAST_FRAMES: f64 = 3.0;
/// The share of bodies that may leave their boxes, summed over the frames of a list.
const STRAY_SHARE: f64 = 0.06;
/// Most frames without a warm start before the next try, where bodies move too fast.
const COLD_FRAMES: u64 = 32;
/// Frames after which a list that was too long is tried again.
const LONG_LIST_FRAMES: u64 = 256;
/// Most pairs of a list, for each body.
const PAIR_LIMIT: usize = 64;

/// Which near pairs a query lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearQuery {
    /// Pairs that are farther apart are not listed; world units.
    pub(crate) margin: f64,
    /// Whether only hits are listed.
    pub(crate) hits_only: bool,
}

/// The pairs that are left to the narrow phase, and those that are not.
#[derive(Debug, Default)]
pub(crate) struct RemainingPairs {
    /// Pairs to examine, in order.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// Hits of the last frame that still are hits, `[a, entry]`, in order.
    pub(crate) asleep: Vec<[u32; 2]>,
    /// Pairs of the list, and pairs of strays.
    pub(crate) candidate_count: u64,
    /// Pairs that bounds decided.
    pub(crate) skipped_count: u64,
}

/// How much wider than its body a box may be, by its padding and by that of a later box of the same body.
fn box_error(aabb: &Aabb) -> f64 {
    let (mut extent, mut coordinate) = (0.0f64, 0.0f64);
    for (low, high) in aabb.min.into_iter().zip(aabb.max) {
        let (low, high) = (f64::from(low), f64::from(high));
        extent = extent.max(high - low);
        coordinate = coordinate.max(low.abs()).max(high.abs());
    }
    4e-5 * extent + 1e-6 * coordinate
}

/// The most that a margin adds to a box on each side.
fn margin_growth(margin: f64) -> f64 {
    f64::from(half(margin)) * (1.0 + 1e-5)
}

/// How far a body may move before its box, with half of the margin, leaves its widened box; below 0 where it has left.
fn free_travel(actual: &Aabb, wide: &Aabb, margin: f64) -> f64 {
    let mut room = f64::INFINITY;
    for i in 0..3 {
        let below = f64::from(actual.min[i]) - f64::from(wide.min[i]);
        let above = f64::from(wide.max[i]) - f64::from(actual.max[i]);
        room = room.min(below).min(above);
    }
    room - margin_growth(margin) - box_error(actual)
}

/// The world box of a body in this frame.
fn box_of(scene: &Scene, input: &QueryInput, body: u32, grow: f32) -> Result<Aabb> {
    let packed = input.bodies[body as usize].pack(body as usize, &scene.supports)?;
    Ok(bounds::body_aabb(&packed, &scene.supports.records[packed.hull as usize], grow))
}

/// Whether the broad phase of this frame would list a pair. The boxes are equal to the bit to those that it would use.
fn is_candidate(scene: &Scene, input: &QueryInput, [a, b]: [u32; 2], margin: f64) -> Result<bool> {
    let grow = half(margin);
    let is_static = b as usize >= input.mover_count;
    let (theirs, lacking) = if is_static { (0.0, grow) } else { (grow, 0.0) };
    Ok(box_of(scene, input, a, grow)?.meets(&box_of(scene, input, b, theirs)?, lacking))
}

impl Cache {
    /// Decides near pairs by their bounds; `None` where a warm start does not pay and the frame must run without it.
    pub(crate) fn near_pairs(
        &mut self,
        scene: &Scene,
        input: &mut QueryInput,
        query: NearQuery,
    ) -> Result<Option<RemainingPairs>> {
        let NearQuery { margin, hits_only } = query;
        let Some(moves) = self.advance(scene, input) else { return Ok(None) };
        let count = input.bodies.len();
        if self.frame < self.cold_until
            || (self.frame < self.long_list_until && margin >= self.long_list_margin)
        {
            return Ok(None);
        }
        let is_built = self.neighbours.limits.len() == count;
        let mut strays = Vec::new();
        let mut is_stale = !is_built || self.neighbours.is_outdated || margin > self.neighbours.margin;
        if !is_stale && moves.left_count > 0 {
            strays = self.strays(scene, input)?;
            self.neighbours.stray_count += strays.len();
            is_stale = self.neighbours.stray_count as f64 > STRAY_SHARE * count as f64 + 8.0;
        }
        let mut pairs = Vec::new();
        if is_stale {
            let is_rebuilt_too_soon = is_built
                && margin <= self.neighbours.margin
                && self.frame < self.built_in + LEAST_FRAMES as u64;
            if is_rebuilt_too_soon {
                self.give_up();
                return Ok(None);
            }
            if !self.rebuild(scene, input, margin)? {
                return Ok(None);
            }
            self.built_in = self.frame;
        } else {
            if self.frame > self.built_in + 2 * LEAST_FRAMES as u64 {
                self.cold_frames = 0;
            }
            pairs = self.stray_pairs(input, &strays);
        }
        self.is_warm = true;
        let stray_count = pairs.len();
        let travel = Travel { odometers: &self.odometers, turns: &self.turns, balls: &self.balls };
        let mut scanned = self.neighbours.scan(&travel, margin, hits_only);
        if !self.neighbours.regrouped.is_empty() {
            let pairs = &self.neighbours.pairs;
            let is_accepted = |&[a, entry]: &[u32; 2]| input.accepts(scene, a, pairs.second(entry));
            scanned.active.retain(is_accepted);
            scanned.asleep.retain(is_accepted);
        }
        let looked_for = (!hits_only).then_some(margin);
        let requests: Vec<BoundRequest> = scanned
            .active
            .iter()
            .map(|&[a, entry]| self.neighbours.pairs.bound_request(a, entry, looked_for))
            .collect();
        self.place(
            scene,
            input,
            requests.iter().map(|request| &request.pair).chain(&pairs).copied().flatten(),
        )?;
        let found = self.find_bounds(scene, input, &requests, margin);
        let mut asleep = scanned.asleep;
        let known_count = asleep.len();
        let mut examined = Vec::new();
        let travel = Travel { odometers: &self.odometers, turns: &self.turns, balls: &self.balls };
        for (&[a, entry], found) in scanned.active.iter().zip(found) {
            match found {
                BoundResult::Separated(bound) => self.neighbours.pairs.set_bound(a, entry, &bound, &travel),
                BoundResult::Penetrating(depth) => {
                    let b = self.neighbours.pairs.second(entry);
                    self.neighbours.pairs.set_deep(entry, travel.limit(a, b, depth));
                    asleep.push([a, entry]);
                }
                BoundResult::NotFound => {
                    pairs.push([a, self.neighbours.pairs.second(entry)]);
                    examined.push([a, entry]);
                }
            }
        }
        if asleep.len() > known_count {
            asleep.sort_unstable();
        }
        if stray_count > 0 {
            sort_pairs(&mut pairs);
        }
        self.neighbours.examined = examined;
        Ok(Some(RemainingPairs {
            pairs,
            asleep,
            candidate_count: (self.neighbours.pairs.len() + stray_count) as u64,
            skipped_count: scanned.skipped + known_count as u64,
        }))
    }

    /// Drops the list and runs without a warm start for some frames.
    fn give_up(&mut self) {
        self.cold_frames = (2 * self.cold_frames).clamp(4, COLD_FRAMES);
        self.cold_until = self.frame + self.cold_frames;
        self.neighbours = NeighbourList::default();
        self.is_warm = false;
    }

    /// Strays: bodies that have left their widened boxes or changed their groups, each with its box. A body whose odometer is used up, but
    /// whose box is still inside, gets a new limit instead.
    fn strays(&mut self, scene: &Scene, input: &QueryInput) -> Result<Vec<(u32, Aabb)>> {
        let Self { neighbours: near, odometers, .. } = self;
        let left: Vec<u32> = (0..input.bodies.len() as u32)
            .filter(|&body| !(odometers[body as usize] <= near.limits[body as usize]))
            .collect();
        let boxes = map_items(&left, |&body| box_of(scene, input, body, 0.0));
        let mut strays = Vec::new();
        for (body, actual) in left.into_iter().zip(boxes) {
            let (row, actual) = (body as usize, actual?);
            let wide = near.tree.movers.boxes.get(row).filter(|wide| !wide.is_plane() && !actual.is_plane());
            let room = wide.map_or(-1.0, |wide| free_travel(&actual, wide, near.margin));
            let is_regrouped = near.regrouped.binary_search(&body).is_ok();
            if room >= 0.0 && odometers[row].is_finite() && !is_regrouped {
                near.limits[row] = odometers[row] + room;
            } else {
                let grow = f64::from(half(near.margin));
                let wide = margin_growth(near.margin) + box_error(&actual);
                let aabb = if actual.is_plane() {
                    box_of(scene, input, body, grow as f32)?
                } else {
                    actual.grown((wide as f32).next_up())
                };
                strays.push((body, aabb));
            }
        }
        Ok(strays)
    }

    /// Pairs of strays that are not on the list.
    fn stray_pairs(&mut self, input: &QueryInput, strays: &[(u32, Aabb)]) -> Vec<[u32; 2]> {
        if strays.is_empty() {
            return Vec::new();
        }
        let near = &self.neighbours;
        let is_stray = |body: u32| strays.binary_search_by_key(&body, |stray| stray.0).is_ok();
        let none = StaticBoxes::default();
        let static_boxes = input.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        let grow = half(near.margin);
        let is_new = |[a, b]: [u32; 2]| (a as usize) < input.mover_count && !near.holds([a, b]);
        let found = each(strays.chunks(16).collect(), |strays: &[(u32, Aabb)]| {
            let mut pairs = Vec::new();
            for (stray, aabb) in strays {
                near.tree.for_each_overlap(static_boxes, grow, aabb, &mut |other| {
                    let pair = [*stray.min(&other), *stray.max(&other)];
                    if !is_stray(other) && is_new(pair) {
                        pairs.push(pair);
                    }
                });
            }
            pairs
        });
        let mut pairs = found.concat();
        let search = &mut self.stray_search;
        let boxes = search.boxes();
        boxes.clear();
        boxes.extend(strays.iter().map(|(_, aabb)| *aabb));
        search.begin(&none, 0.0);
        let near = &self.neighbours;
        while let Some(found) = search.next(&none, 0.0) {
            let pair_of = |pair: &[u32; 2]| pair.map(|at| strays[at as usize].0);
            let is_new = |&[a, b]: &[u32; 2]| (a as usize) < input.mover_count && !near.holds([a, b]);
            pairs.extend(found.iter().map(pair_of).filter(is_new));
        }
        pairs
    }

    /// Rebuilds the neighbour list for pairs within a margin; `false` where it does not pay or would be too long.
    fn rebuild(&mut self, scene: &Scene, input: &QueryInput, margin: f64) -> Result<bool> {
        let count = input.bodies.len();
        let relative = |(pace, ball): (&f64, &crate::collide::warm::motion::BodyBall)| {
            pace / f64::from(ball.reach).max(1e-30)
        };
        let mean: f64 = self.paces.iter().zip(&self.balls).map(relative).sum::<f64>() / count.max(1) as f64;
        let widening = (MARGIN_FRAMES * mean).clamp(*WIDENING.start(), *WIDENING.end());
        let frames = (widening / mean.max(1e-30)).min(LIST_FRAMES);
        if frames < LEAST_FRAMES {
            // Bodies move too fast.
            self.give_up();
            return Ok(false);
        }
        let mean_pace = self.paces.iter().sum::<f64>() / count.max(1) as f64;
        let mut plain = std::mem::take(&mut self.plain);
        boxes(scene, &self.bodies[..input.mover_count], &mut plain)?;
        let none = StaticBoxes::default();
        let statics = input.statics.clone();
        let static_boxes = statics.as_ref().map_or(&none, |statics| &statics.boxes);
        let Self { neighbours: near, paces, odometers, turns, balls, .. } = self;
        let grow = half(margin);
        near.limits.clear();
        near.limits.extend_from_slice(odometers);
        let wide = near.tree.boxes();
        wide.clear();
        for (row, aabb) in plain.iter().enumerate() {
            wide.push(if aabb.is_plane() {
                box_of(scene, input, row as u32, grow)?
            } else {
                // A body at rest may start to move.
                let least = 1e-3 * f64::from(balls[row].reach);
                let room = (frames * paces[row]).max(0.5 * frames * mean_pace).max(least);
                near.limits[row] += room;
                aabb.grown(((room + margin_growth(margin) + box_error(aabb)) as f32).next_up())
            });
        }
        near.margin = margin;
        near.tree.begin(static_boxes, grow);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let limit = (PAIR_LIMIT * count).min(u32::MAX as usize);
        // A sample shows far too many pairs before they are counted.
        let sample = near.tree.sample(static_boxes, grow);
        let counts = sample.map(|rows| rows.iter().map(|row| row.count as f64).collect());
        let mut fits = counts
            .is_none_or(|counts| estimated_total(counts, near.tree.movers.boxes.len()) / 2.0 <= limit as f64);
        if fits {
            while let Some(found) = near.tree.next(static_boxes, grow) {
                fits = pairs.len() + found.len() <= limit;
                if !fits {
                    break;
                }
                pairs.extend_from_slice(found);
            }
        }
        if fits {
            plain.extend_from_slice(static_boxes.boxes());
            near.renew(&pairs, count, &plain, &Travel { odometers, turns, balls });
        } else {
            // The scene is too dense, or the margin too large.
            self.long_list_margin = margin;
            self.long_list_until = self.frame + LONG_LIST_FRAMES;
            self.neighbours = NeighbourList::default();
            self.is_warm = false;
        }
        self.plain = plain;
        self.pairs = pairs;
        Ok(fits)
    }

    /// Indices of rows that the broad phase of this frame would not list: near the margin a pair's distance and its boxes may
    /// disagree by rounding. A row is a pair, its status and its gap.
    pub(crate) fn rows_not_listed(
        &self,
        scene: &Scene,
        input: &QueryInput,
        margin: f64,
        open: &[usize],
        rows: impl Iterator<Item = ([u32; 2], Status, Option<f64>)>,
    ) -> Result<Vec<usize>> {
        let mut not_listed = Vec::new();
        let mut open = open.iter().peekable();
        for (at, (pair, status, gap)) in rows.enumerate() {
            let is_open = open.next_if(|&&index| index == at).is_some();
            let reach: f64 = pair.iter().map(|&body| f64::from(self.balls[body as usize].reach)).sum();
            // Far more than the error of the distance.
            let is_inside = |gap: f64| gap < margin - 1e-4 * (reach + margin);
            if !is_open && (status == Status::Penetrating || gap.is_some_and(is_inside)) {
                continue;
            }
            if !is_candidate(scene, input, pair, margin)? {
                not_listed.push(at);
            }
        }
        Ok(not_listed)
    }
}

/// Removes the rows that [`Cache::rows_not_listed`] found.
pub(crate) fn drop_rows<R: Copy>(rows: &mut Vec<R>, open: &mut Vec<usize>, not_listed: &[usize]) {
    if !not_listed.is_empty() {
        remove_rows(rows, open, not_listed);
    }
}

/// The world boxes of some checked bodies.
fn boxes(scene: &Scene, bodies: &[Body], into: &mut Vec<Aabb>) -> Result<()> {
    into.clear();
    into.resize(bodies.len(), Aabb::new([0.0; 3], [0.0; 3]));
    let tasks = into.chunks_mut(TASK).zip(bodies.chunks(TASK)).enumerate().collect();
    let fill =
        |(task, (boxes, bodies)): (usize, (&mut [Aabb], &[Body]))| fill(scene, bodies, task * TASK, boxes);
    each(tasks, fill).into_iter().collect()
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn fill(scene: &Scene, bodies: &[Body], first: usize, boxes: &mut [Aabb]) -> Result<()> {
    for (at, (aabb, body)) in boxes.iter_mut().zip(bodies).enumerate() {
        let packed = body.pack(first + at, &scene.supports)?;
        *aabb = bounds::body_aabb(&packed, &scene.supports.records[packed.hull as usize], 0.0);
    }
    Ok(())
}
