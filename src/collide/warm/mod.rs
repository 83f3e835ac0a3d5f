//! Warm start: what one frame learns and the next ones need not find out again.
//!
//! Two things are kept from frame to frame.
//!
//! * **A list of neighbours** (Verlet 1967): the pairs whose boxes overlap when each is made wider by a margin of its
//!   body. While no body has moved further than its margin, every other pair is apart, and there is no broad phase.
//! * **A lower bound of the gap of each pair.** A gap shrinks at most by what both bodies move: each body has an
//!   odometer, an upper bound of how far any of its points has gone, and a pair stores the sum of its two odometers at
//!   which its bound is used up. Until then one comparison is all that the pair costs.
//!
//! A bound is what is left of the gap after the pair's tolerance τ (see [`bound`]), so what it decides is beyond the
//! tolerance, where no engine may come to another verdict. What no bound decides goes through the same narrow phase as
//! without a warm start, from the same numbers, so its rows are the same to the bit.

mod bound;
mod list;
mod motion;

use std::sync::{Mutex, PoisonError};

use web_time::Instant;

use self::bound::{Wanted, bound, depth};
use self::list::{Given, Near, UNKNOWN, is_row};
use super::bounds::Aabb;
use super::cpu::{self, Rows};
use super::layout::PackedBody;
use super::pose::Placed;
use super::query::{Intersection, Intersections, Stats};
use super::scene::{Job, Layout, OwnedPairs, Scene};
use super::status::Status;
use super::support::Supports;
use super::{Body, bounds, broad};
use crate::Result;

/// Bodies, rows of pairs or pairs that one task sees to.
const TASK: usize = 1024;
/// Frames that a bound should last.
const BOUND_FRAMES: f64 = 24.0;
/// Frames that are enough where the axis of an earlier frame shows them.
const SOON_FRAMES: f64 = 4.0;
/// Share of its radius by which a mean body's margin widens its box: wider costs more pairs, narrower more rebuilds.
const WIDENING: f64 = 0.15;
/// Frames that the list should last at most.
const LIST_FRAMES: f64 = 64.0;
/// A list that would last fewer frames than this is not worth its while.
const LEAST_FRAMES: f64 = 3.0;
/// How many boxes are held against those of strayed bodies, for each pair of the list, before it is made anew.
const STRAYS: usize = 2;
/// Frames that are done cold at most before another try, where bodies moved too fast.
const COLD_FRAMES: u64 = 32;
/// A body that moves by more of its radius in a frame was put somewhere else.
const JUMP: f64 = 0.5;

/// The memory of a warm-started arena: shared by its copies.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    /// None while a frame works with it.
    cache: Mutex<Slot>,
}

#[derive(Debug)]
enum Slot {
    Free(Box<Cache>),
    Taken,
}

impl Default for Slot {
    fn default() -> Self {
        Self::Free(Box::default())
    }
}

/// The cache, for as long as one frame works with it. It is not held under a lock: a thread that waits for its part of
/// a frame may begin another frame, and would wait for itself.
struct Lease<'a> {
    of: &'a WarmStart,
    cache: Box<Cache>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // What a panic left half done is forgotten.
        let cache = if std::thread::panicking() { Box::default() } else { std::mem::take(&mut self.cache) };
        *self.of.cache.lock().unwrap_or_else(PoisonError::into_inner) = Slot::Free(cache);
    }
}

impl WarmStart {
    /// The cache, unless another frame is at work with it.
    fn lease(&self) -> Option<Lease<'_>> {
        let mut slot = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Free(cache) => Some(Lease { of: self, cache }),
            Slot::Taken => None,
        }
    }

    /// What the next frame will most likely want of the bodies besides a check.
    pub(crate) fn layout(&self) -> Layout {
        let slot = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let everything = !matches!(&*slot, Slot::Free(cache) if cache.is_warm);
        Layout { packed: everything, placed: everything }
    }
}

/// What earlier frames have learnt.
#[derive(Debug, Default)]
struct Cache {
    /// The bodies of the last frame, and the statics.
    bodies: Vec<Body>,
    /// How many of them are no statics.
    mover_count: usize,
    /// How far each body has gone, all frames together, at most; world units.
    odometers: Vec<f64>,
    /// How far each body goes in a frame, as of late: for guesses only.
    paces: Vec<f64>,
    near: Near,
    given: Given,
    /// Room for [`Job::placed`], of which a warm frame fills in only what it needs.
    placed: Vec<Placed>,
    /// The frame in which each of `placed` was filled in.
    placed_in: Vec<u64>,
    frame: u64,
    /// The frame in which the list was made.
    built: u64,
    /// Frames of the last pause in which everything is done cold, and the end of it.
    cold_frames: u64,
    cold_until: u64,
    /// Whether the last frame used the list.
    is_warm: bool,
}

/// How the bodies moved since the last frame.
#[derive(Debug, Clone, Copy, Default)]
struct Moves {
    /// Sum of the steps, each in units of its body's radius and at most [`JUMP`].
    relative: f64,
    /// Bodies that went past the margin of the list.
    left: usize,
    /// Bodies that are other ones now.
    changed: usize,
    /// Bodies of which it is another question whom they may meet.
    regrouped: usize,
}

impl Moves {
    fn plus(self, other: Self) -> Self {
        Self {
            relative: self.relative + other.relative,
            left: self.left + other.left,
            changed: self.changed + other.changed,
            regrouped: self.regrouped + other.regrouped,
        }
    }
}

/// Answers a query about near or given pairs: see [`Arena::with_warm_start`](super::Arena::with_warm_start).
pub(crate) fn intersections(scene: &Scene, mut job: Job, warm: &WarmStart) -> Result<Intersections> {
    let begin = Instant::now();
    if let Some(mut lease) = warm.lease().filter(|_| !job.is_empty()) {
        let upload_ms = job.upload_ms;
        let found = match &job.pairs {
            OwnedPairs::Near => lease.cache.near_rows(scene, &mut job)?,
            OwnedPairs::Given(_) => Some(lease.cache.given_rows(scene, &mut job)?),
            OwnedPairs::Every => None,
        };
        if let Some(Found { rows, mut stats }) = found {
            let late_ms = job.upload_ms - upload_ms;
            stats.times.kernels_ms = (cpu::milliseconds(begin) - late_ms).max(0.0);
            let answer = cpu::finish(scene, &job, rows, stats, begin);
            lease.cache.learn(&job.pairs, &answer.rows);
            lease.cache.give_back(&mut job);
            scene.give_back(job);
            return Ok(answer);
        }
    }
    job.complete(scene, Layout { packed: job.pairs == OwnedPairs::Near, placed: true })?;
    cpu::intersections(scene, job)
}

/// Rows before they are settled, and the counts.
struct Found {
    rows: Rows,
    stats: Stats,
}

impl Cache {
    /// Measures how the bodies moved; forgets everything where it cannot be told.
    fn advance(&mut self, scene: &Scene, job: &Job) -> Option<Moves> {
        let bodies = &job.bodies[..];
        self.frame += 1;
        let count = bodies.len();
        if self.bodies.len() != count || self.mover_count != job.mover_count {
            *self = Self { frame: self.frame, mover_count: job.mover_count, ..Self::default() };
            self.bodies = bodies.to_vec();
            self.odometers = vec![0.0; count];
            self.paces = vec![0.0; count];
            return None;
        }
        let none = Vec::new();
        let limits = if self.near.limits.len() == count { &self.near.limits } else { &none };
        let tasks: Vec<_> = self
            .bodies
            .chunks_mut(TASK)
            .zip(self.odometers.chunks_mut(TASK))
            .zip(self.paces.chunks_mut(TASK))
            .zip(bodies.chunks(TASK))
            .enumerate()
            .map(|(at, (((before, odometers), paces), now))| Advance {
                before,
                odometers,
                paces,
                now,
                limits: limits.get(at * TASK..(at * TASK + now.len())).unwrap_or_default(),
            })
            .collect();
        let parts = each(tasks, |task| task.run(scene));
        let moves = parts.into_iter().fold(Moves::default(), Moves::plus);
        if moves.changed > 0 {
            self.rebase();
        }
        Some(moves)
    }

    /// Sets all odometers to 0.
    fn rebase(&mut self) {
        self.near.pairs.rebase(&self.odometers);
        self.given.pairs.rebase(&self.odometers);
        for (limit, odometer) in self.near.limits.iter_mut().zip(&self.odometers) {
            *limit = if odometer.is_finite() { *limit - odometer } else { f64::NEG_INFINITY };
        }
        for (seen, odometer) in self.near.seen.iter_mut().zip(&self.odometers) {
            *seen = if *seen == *odometer { 0.0 } else { f64::NEG_INFINITY };
        }
        self.odometers.fill(0.0);
    }

    /// Rows of the near pairs; `None` where a warm start does not pay and the whole frame is to be done cold.
    fn near_rows(&mut self, scene: &Scene, job: &mut Job) -> Result<Option<Found>> {
        let Some(moves) = self.advance(scene, job) else { return Ok(None) };
        let count = job.bodies.len();
        if self.frame < self.cold_until {
            return Ok(None);
        }
        let is_built = self.near.limits.len() == count;
        // The list holds no pair that groups forbade when it was made, and all that they allowed.
        let is_stale = moves.regrouped > 0 || moves.left * count > STRAYS * self.near.pairs.len();
        if !is_built || is_stale {
            let frames = (WIDENING * count as f64 / moves.relative.max(1e-30)).min(LIST_FRAMES);
            let is_hasty = is_built && self.frame < self.built + LEAST_FRAMES as u64;
            if frames < LEAST_FRAMES || is_hasty {
                // Until things calm down.
                self.cold_frames = (2 * self.cold_frames).clamp(4, COLD_FRAMES);
                self.cold_until = self.frame + self.cold_frames;
                self.near = Near::default();
                self.is_warm = false;
                return Ok(None);
            }
            job.complete(scene, Layout { packed: true, placed: true })?;
            if !self.rebuild(scene, job, frames) {
                self.near = Near::default();
                self.is_warm = false;
                return Ok(None);
            }
            self.built = self.frame;
        } else if self.frame > self.built + LEAST_FRAMES as u64 {
            self.cold_frames = 0;
        }
        self.is_warm = true;
        let strays =
            if moves.left > 0 && self.built != self.frame { self.strays(scene, job)? } else { Vec::new() };
        let scanned = self.near.scan(&self.odometers);
        let looks: Vec<Look> =
            scanned.active.iter().map(|&[a, entry]| self.near.pairs.look(a, entry)).collect();
        self.place(scene, job, looks.iter().map(|look| &look.pair).chain(&strays).copied().flatten())?;
        let found = self.look(scene, job, &looks);
        let mut pairs = strays;
        let stray_count = pairs.len();
        let mut asleep = scanned.asleep;
        let mut examined = Vec::new();
        let known = asleep.len() as u64;
        for (&[a, entry], found) in scanned.active.iter().zip(found) {
            match found {
                Learnt::Apart { limit, axis } => self.near.pairs.set(entry, limit, axis),
                Learnt::Deep { limit } => {
                    self.near.pairs.set_deep(entry, limit);
                    asleep.push([a, entry]);
                }
                Learnt::Nothing => {
                    pairs.push([a, self.near.pairs.second(entry)]);
                    examined.push([a, entry]);
                }
            }
        }
        if asleep.len() as u64 > known {
            asleep.sort_unstable();
        }
        if stray_count > 0 {
            pairs.sort_unstable();
        }
        let mut rows = cpu::examine_for_hits(scene, &job.placed, &pairs);
        self.drop_strangers(scene, job, &mut rows)?;
        let asleep: Vec<Intersection> = asleep
            .iter()
            .map(|&[a, entry]| {
                let status = self.near.pairs.status(entry);
                Intersection { a, b: self.near.pairs.second(entry), status, axis: None }
            })
            .collect();
        let stats = Stats {
            candidate_count: (self.near.pairs.len() + stray_count) as u64,
            skipped_count: scanned.skipped + known,
            ..Stats::default()
        };
        self.near.examined = examined;
        self.near.seen.clone_from(&self.odometers);
        Ok(Some(Found { rows: merged(rows, &asleep), stats }))
    }

    /// Pairs that are not on the list, of bodies that have left their widened boxes.
    fn strays(&self, scene: &Scene, job: &Job) -> Result<Vec<[u32; 2]>> {
        let near = &self.near;
        let is_stray = |body: usize| !(self.odometers[body] <= near.limits[body]);
        let strays: Vec<(u32, Aabb)> = (0..job.bodies.len())
            .filter(|&body| is_stray(body))
            .map(|body| Ok((body as u32, box_of(scene, job, body as u32)?)))
            .collect::<Result<_>>()?;
        let found = each(strays.clone(), |(stray, aabb): (u32, Aabb)| {
            let mut pairs = Vec::new();
            let mut meet = |other: u32, other_box: &Aabb| {
                let [a, b] = [stray.min(other), stray.max(other)];
                // Statics never meet one another.
                if other_box.meets(&aabb, 0.0) && (a as usize) < job.mover_count && !near.holds([a, b]) {
                    pairs.push([a, b]);
                }
            };
            for (other, wide) in (0..).zip(&near.boxes) {
                if !is_stray(other as usize) {
                    meet(other, wide);
                }
            }
            for (other, other_box) in strays.iter().filter(|(other, _)| *other > stray) {
                meet(*other, other_box);
            }
            pairs
        });
        Ok(found.concat())
    }

    /// Makes the list of neighbours anew, for so many frames of the bodies' motion; false where it is too long to index.
    fn rebuild(&mut self, scene: &Scene, job: &mut Job, frames: f64) -> bool {
        self.rebase();
        let mean_pace = self.paces.iter().sum::<f64>() / self.paces.len().max(1) as f64;
        let records = &scene.supports.records;
        let margin = |(&pace, body): (&f64, &PackedBody)| {
            if records[body.hull as usize].half_space != 0 {
                return 0.0;
            }
            // What rests may begin to move.
            (frames * pace).max(0.5 * frames * mean_pace).max(1e-3 * f64::from(body.radius)) as f32
        };
        let margins: Vec<f32> = self.paces.iter().zip(&job.packed).map(margin).collect();
        let mut search = std::mem::take(&mut job.broad);
        bounds::aabbs_into(&mut search.boxes, &job.packed, records, 0.0);
        for (aabb, &margin) in search.boxes.iter_mut().zip(&margins) {
            *aabb = aabb.grown(margin);
        }
        let statics = job.statics.clone();
        let none = broad::Still::default();
        let still = statics.as_ref().map_or(&none, |statics| &statics.still);
        let mut boxes = search.boxes.clone();
        boxes.extend_from_slice(still.boxes());
        search.begin(still, 0.0);
        let mut pairs = Vec::new();
        while let Some(found) = search.next(still, 0.0) {
            if pairs.len() + found.len() > u32::MAX as usize {
                job.broad = search;
                return false;
            }
            pairs.extend_from_slice(found);
        }
        job.broad = search;
        let mut limits: Vec<f64> = margins.into_iter().map(f64::from).collect();
        limits.resize(job.bodies.len(), 0.0);
        self.near.renew(&pairs, limits, boxes);
        true
    }

    /// Fills in [`Job::placed`] of some bodies.
    fn place(&mut self, scene: &Scene, job: &mut Job, bodies: impl Iterator<Item = u32>) -> Result<()> {
        let count = job.bodies.len();
        if job.placed.len() == count {
            return Ok(());
        }
        self.placed.resize(count, Placed::default());
        self.placed_in.resize(count, 0);
        let mut needed = Vec::new();
        for body in bodies {
            let seen = &mut self.placed_in[body as usize];
            if *seen != self.frame {
                *seen = self.frame;
                needed.push(body);
            }
        }
        let placed = map(&needed, |&body| {
            let row = body as usize;
            let radius = job.bodies[row].radius(row, &scene.supports)?;
            Ok(Placed::new(&job.bodies[row], radius, &scene.supports))
        });
        for (&body, placed) in needed.iter().zip(placed) {
            self.placed[body as usize] = placed?;
        }
        std::mem::swap(&mut job.placed, &mut self.placed);
        Ok(())
    }

    /// Takes the room of [`Job::placed`] back where it is ours.
    fn give_back(&mut self, job: &mut Job) {
        if self.placed.len() != job.bodies.len() && self.placed_in.len() == job.bodies.len() {
            std::mem::swap(&mut job.placed, &mut self.placed);
        }
    }

    /// Looks for bounds of some pairs.
    fn look(&self, scene: &Scene, job: &Job, looks: &[Look]) -> Vec<Learnt> {
        flat(looks, |looks| {
            let mut found = vec![Learnt::Nothing; looks.len()];
            look(&scene.supports, &job.placed, &self.paces, looks, &mut found);
            for (look, found) in looks.iter().zip(&mut found) {
                if let Learnt::Apart { limit, .. } | Learnt::Deep { limit } = found {
                    let [a, b] = look.pair.map(|body| body as usize);
                    // Less what the sums may be off by, here and where it is compared.
                    *limit = (*limit + self.odometers[a] + self.odometers[b]) * (1.0 - 4.0 * f64::EPSILON);
                }
            }
            found
        })
    }

    /// Drops the rows that a broad phase of this frame would not list: within the tolerance a pair may be called
    /// touching whose boxes do not meet.
    fn drop_strangers(&self, scene: &Scene, job: &Job, rows: &mut Rows) -> Result<()> {
        let mut strange = Vec::new();
        let mut open = rows.open.iter().peekable();
        for (at, row) in rows.rows.iter().enumerate() {
            let is_open = open.next_if(|&&index| index == at).is_some();
            if !is_open && row.status == Status::Penetrating {
                continue;
            }
            if !box_of(scene, job, row.a)?.meets(&box_of(scene, job, row.b)?, 0.0) {
                strange.push(at);
            }
        }
        if !strange.is_empty() {
            rows.remove(&strange);
        }
        Ok(())
    }

    /// Takes in which pairs became rows.
    fn learn(&mut self, pairs: &OwnedPairs, rows: &[Intersection]) {
        if matches!(pairs, OwnedPairs::Given(_)) {
            return;
        }
        let mut rows = rows.iter().peekable();
        for &[a, entry] in &self.near.examined {
            let pair = (a, self.near.pairs.second(entry));
            while rows.next_if(|row| (row.a, row.b) < pair).is_some() {}
            match rows.next_if(|row| (row.a, row.b) == pair) {
                Some(row) => self.near.pairs.set_row(entry, row.status),
                None if is_row(self.near.pairs.limits[entry as usize]) => {
                    self.near.pairs.set(entry, UNKNOWN, [0.0; 3])
                }
                None => (),
            }
        }
    }

    /// One row for each of the given pairs, in their order.
    fn given_rows(&mut self, scene: &Scene, job: &mut Job) -> Result<Found> {
        self.advance(scene, job);
        let OwnedPairs::Given(pairs) = std::mem::replace(&mut job.pairs, OwnedPairs::Near) else {
            return Ok(Found { rows: Rows::default(), stats: Stats::default() });
        };
        let active = self.given.scan(&pairs, &self.odometers);
        self.place(scene, job, active.iter().flat_map(|&at| pairs[at as usize]))?;
        let looks: Vec<Look> =
            active.iter().map(|&at| self.given.pairs.look(pairs[at as usize][0], at)).collect();
        let mut cold = Vec::new();
        for (&at, found) in active.iter().zip(self.look(scene, job, &looks)) {
            match found {
                Learnt::Apart { limit, axis } => self.given.pairs.set(at, limit, axis),
                Learnt::Deep { limit } => self.given.pairs.set_deep(at, limit),
                Learnt::Nothing => cold.push(at),
            }
        }
        let left: Vec<[u32; 2]> = cold.iter().map(|&at| pairs[at as usize]).collect();
        let examined = cpu::examine_all(scene, &job.placed, &left);
        let mut rows: Vec<Intersection> = pairs
            .iter()
            .zip(&self.given.pairs.axes)
            .zip(&self.given.pairs.limits)
            .map(|((&[a, b], &axis), &limit)| {
                // Those of which no bound says it get their rows below.
                if limit >= 0.0 {
                    Intersection { a, b, status: Status::Separated, axis: Some(axis) }
                } else {
                    Intersection { a, b, status: Status::Penetrating, axis: None }
                }
            })
            .collect();
        for (&at, row) in cold.iter().zip(&examined.rows) {
            rows[at as usize] = *row;
            match row.axis {
                // Not known to last, but where to begin.
                Some(axis) => self.given.pairs.set(at, UNKNOWN, axis),
                None => self.given.pairs.set_row(at, row.status),
            }
        }
        let open = examined.open.iter().map(|&index| cold[index] as usize).collect();
        let stats = Stats {
            candidate_count: pairs.len() as u64,
            skipped_count: (pairs.len() - active.len()) as u64,
            ..Stats::default()
        };
        job.pairs = OwnedPairs::Given(pairs);
        Ok(Found { rows: Rows { rows, open, refined_count: examined.refined_count }, stats })
    }
}

/// A pair to be looked at.
#[derive(Debug, Clone, Copy)]
struct Look {
    pair: [u32; 2],
    /// Along which a gap was last seen; 0 if never.
    axis: [f32; 3],
    last: Last,
}

/// What a pair did when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    /// It was apart, or nobody knows.
    Apart,
    Touching,
    Penetrating,
}

/// What a look at a pair gave.
#[derive(Debug, Clone, Copy)]
enum Learnt {
    /// Nothing that will last: the narrow phase must say.
    Nothing,
    /// Apart until the sum of the odometers comes to `limit`; the axis is unit, from `a` to `b`, world frame.
    Apart { limit: f64, axis: [f32; 3] },
    /// Penetrating until then.
    Deep { limit: f64 },
}

/// Looks for bounds: the limits are lengths from here on.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn look(supports: &Supports, placed: &[Placed], paces: &[f64], looks: &[Look], found: &mut [Learnt]) {
    for (look, found) in looks.iter().zip(found) {
        let [a, b] = look.pair.map(|body| body as usize);
        match look.last {
            Last::Apart => (),
            // The least motion may end it.
            Last::Touching => continue,
            Last::Penetrating => {
                if let Some(limit) = depth(supports, &placed[a], &placed[b]) {
                    *found = Learnt::Deep { limit };
                }
                continue;
            }
        }
        let pace = paces[a] + paces[b];
        let wanted = Wanted { least: 0.0, soon: SOON_FRAMES * pace, enough: BOUND_FRAMES * pace };
        if let Some(bound) = bound(supports, &placed[a], &placed[b], look.axis, wanted) {
            *found = Learnt::Apart { limit: bound.gap, axis: bound.axis };
        }
    }
}

/// Some of the bodies, and what is kept of them.
struct Advance<'a> {
    before: &'a mut [Body],
    odometers: &'a mut [f64],
    paces: &'a mut [f64],
    now: &'a [Body],
    limits: &'a [f64],
}

impl Advance<'_> {
    fn run(self, scene: &Scene) -> Moves {
        let mut moves = Moves::default();
        for (at, now) in self.now.iter().enumerate() {
            let before = &mut self.before[at];
            // Where two queries are about one frame there is no motion between them.
            self.paces[at] *= 0.5;
            if before != now {
                // A body that was checked has a radius.
                let radius = now.radius(at, &scene.supports).unwrap_or(f32::INFINITY);
                let step = motion::step(before, now, motion::reach(now, radius, &scene.supports));
                let step = if step.is_nan() { f64::INFINITY } else { step };
                let is_plane = |body: &Body| scene.supports.records[body.hull as usize].half_space != 0;
                let is_regrouped =
                    (before.group, before.mask) != (now.group, now.mask) || is_plane(before) != is_plane(now);
                moves.regrouped += usize::from(is_regrouped);
                *before = *now;
                // Upwards, so that no step is lost beside a large sum.
                self.odometers[at] = (self.odometers[at] + step).next_up();
                moves.changed += usize::from(step == f64::INFINITY);
                if step <= JUMP * f64::from(radius) {
                    self.paces[at] = self.paces[at].max(step);
                }
                moves.relative += (step / f64::from(radius).max(1e-30)).min(JUMP);
            }
            moves.left +=
                usize::from(self.limits.get(at).is_some_and(|&limit| !(self.odometers[at] <= limit)));
        }
        moves
    }
}

/// The world box of a body in this frame.
fn box_of(scene: &Scene, job: &Job, body: u32) -> Result<Aabb> {
    let packed = job.bodies[body as usize].pack(body as usize, &scene.supports)?;
    Ok(bounds::body_aabb(&packed, &scene.supports.records[packed.hull as usize], 0.0))
}

/// Rows with those of pairs at rest among them, in order.
fn merged(rows: Rows, asleep: &[Intersection]) -> Rows {
    if asleep.is_empty() {
        return rows;
    }
    let mut all = Rows { refined_count: rows.refined_count, ..Rows::default() };
    all.rows.reserve_exact(rows.rows.len() + asleep.len());
    let mut asleep = asleep.iter().peekable();
    let mut open = rows.open.iter().peekable();
    for (at, row) in rows.rows.iter().enumerate() {
        while let Some(other) = asleep.next_if(|other| (other.a, other.b) < (row.a, row.b)) {
            all.rows.push(*other);
        }
        if open.next_if(|&&index| index == at).is_some() {
            all.open.push(all.rows.len());
        }
        all.rows.push(*row);
    }
    all.rows.extend(asleep);
    all
}

/// Runs tasks on all cores where there are threads; results in order.
fn each<T: Send, U: Send>(tasks: Vec<T>, run: impl Fn(T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        tasks.into_par_iter().map(run).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        tasks.into_iter().map(run).collect()
    }
}

/// Maps in order, a task at a time.
fn map<T: Sync, U: Send>(items: &[T], f: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
    flat(items, |items| items.iter().map(&f).collect())
}

/// Maps a task at a time; results in order, one an item.
fn flat<T: Sync, U: Send>(items: &[T], f: impl Fn(&[T]) -> Vec<U> + Sync + Send) -> Vec<U> {
    if items.len() <= TASK {
        return f(items);
    }
    let parts = each(items.chunks(TASK).collect(), f);
    let mut all = Vec::with_capacity(items.len());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

#[cfg(test)]
mod tests {
    use super::super::Hull;
    use super::super::query::Pairs;
    use super::*;

    fn job(scene: &Scene, bodies: &[Body]) -> Job {
        Job::new(scene, bodies, None, Pairs::Near, Layout { packed: true, placed: true }).unwrap()
    }

    /// A row of cubes that close in on one another.
    fn cubes(gap: f32) -> Vec<Body> {
        (0..50).map(|k| Body::new(0).at([(1.0 + gap) * k as f32, 0.0, 0.0])).collect()
    }

    /// The comparison with a cold frame must see a bound that is not true.
    #[test]
    fn a_poisoned_bound_is_seen() {
        let scene = Scene::new(&[Hull::cuboid([0.5; 3]).unwrap()]).unwrap();
        for is_poisoned in [false, true] {
            let warm = WarmStart::default();
            let mut differs = false;
            for frame in 0..40 {
                let bodies = cubes(0.02 - 0.001 * frame as f32);
                let found = intersections(&scene, job(&scene, &bodies), &warm).unwrap();
                let cold = cpu::intersections(&scene, job(&scene, &bodies)).unwrap();
                differs |= found.rows != cold.rows;
                if is_poisoned && frame == 10 {
                    let mut lease = warm.lease().unwrap();
                    assert!(lease.cache.near.pairs.len() >= 49);
                    lease.cache.near.pairs.limits.fill(1e3);
                }
                assert!(is_poisoned || frame < 4 || found.stats.skipped_count > 0 || frame > 15, "{frame}");
            }
            assert_eq!(differs, is_poisoned);
        }
    }

    #[test]
    fn a_step_is_as_far_as_any_point_goes() {
        let hull = Hull::from_points(&[
            [3.0, 0.0, 0.0],
            [4.0, 1.0, 0.0],
            [3.0, 0.5, 2.0],
            [3.5, -1.0, 0.5],
            [4.5, 0.0, -1.0],
        ])
        .unwrap();
        let scene = Scene::new(std::slice::from_ref(&hull)).unwrap();
        let mut random = bounds::tests::Random(5);
        let mut tightest = f64::INFINITY;
        for _ in 0..20_000 {
            let scale = [0; 3].map(|_| random.log(0.1, 10.0));
            let turn = random.log(1e-7, 3.0);
            let axis = random.rotation();
            let before =
                Body { scale, ..Body::new(0).at([0; 3].map(|_| random.signed())).rotated(random.rotation()) };
            let q = glam::DQuat::from_array(before.rotation.map(f64::from));
            let other = glam::DQuat::from_axis_angle(
                glam::DVec3::from([axis[0], axis[1], axis[2]].map(f64::from)).normalize(),
                f64::from(turn),
            );
            let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
            let now = Body {
                position: before.position.map(|x| x + 0.1 * turn * random.signed()),
                rotation: (other * q * sign).as_quat().to_array(),
                ..before
            };
            let radius = now.radius(0, &scene.supports).unwrap();
            let step = motion::step(&before, &now, motion::reach(&now, radius, &scene.supports));
            let place = |body: &Body, v: [f32; 3]| {
                let q = glam::DQuat::from_array(body.rotation.map(f64::from)).normalize();
                let v = glam::DVec3::from(v.map(f64::from)) * glam::DVec3::from(scale.map(f64::from));
                glam::DVec3::from(body.position.map(f64::from)) + q * v
            };
            let furthest = hull
                .vertices()
                .iter()
                .map(|&v| (place(&now, v) - place(&before, v)).length())
                .fold(0.0, f64::max);
            assert!(furthest <= step, "{before:?} {now:?} {furthest} {step}");
            tightest = tightest.min(step / furthest.max(1e-30));
        }
        // A bound that is always far too large would pass the above.
        assert!(tightest < 1.5, "{tightest}");
    }
}
